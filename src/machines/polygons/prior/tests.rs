use super::blocks::Arrangement;
use super::*;
use crate::polygons::model::{Polygon, View};
use glam::{DVec3, Mat4, Vec3};
use shadewright_base::random::{hash, unit};
use shadewright_image::Image;

const SIZE: [u32; 2] = [45, 31];

/// A model in screen space: the view is the identity.
fn model(polygons: Vec<Polygon>) -> Model {
    Model {
        polygons,
        ambient: Vec3::ZERO,
        lights: Vec::new(),
        view: View { to_clip: Mat4::IDENTITY, eye: Vec3::NEG_Z, size: SIZE },
        background: Vec3::new(0.1, 0.2, 0.3),
        left_out: Vec::new(),
    }
}

/// Random quadrilaterals and triangles: large and tiny, thin, partly outside, some at one depth.
fn random_model(seed: u32, count: u32) -> Model {
    let mut n = seed.wrapping_mul(0x9e37_79b9);
    let mut random = move || {
        n = n.wrapping_add(1);
        unit(hash(n))
    };
    let polygons = (0..count).map(|number| {
        let size = [0.02, 0.2, 0.7, 1.5][(random() * 4.0) as usize % 4];
        let middle = Vec3::new(random() * 2.4 - 1.2, random() * 2.4 - 1.2, random());
        let along = Vec3::new(random() - 0.5, random() - 0.5, (random() - 0.5) * 0.3) * size;
        let thin = if number % 5 == 0 { 0.01 } else { 1.0 };
        let across = Vec3::new(-along.y, along.x, (random() - 0.5) * 0.3 * size) * thin;
        let mut corners = [middle - along, middle - across, middle + along, middle + across];
        if number % 7 == 0 {
            corners.iter_mut().for_each(|corner| corner.z = 0.5);
        }
        let count = if number % 3 == 0 { 3 } else { 4 };
        corners[3] = corners[count - 1];
        let color = Vec3::new(random(), random(), random());
        let colors = [color, color * 0.5, color * 0.25, Vec3::ONE - color];
        Polygon { corners, count, normals: [Vec3::NEG_Z; 4], reflectance: color, colors, object: 0 }
    });
    model(polygons.collect())
}

/// A depth buffer, pixel by pixel: the nearest polygon over the middle of each, the first of equals.
fn reference(model: &Model, config: &Config) -> Image {
    let screen = screen_polygons(model, |polygon, corner| polygon.colors[corner]);
    let polygons: Vec<RasterPolygon> = screen.iter().map(|polygon| RasterPolygon::new(polygon, SIZE)).collect();
    let mut rgba = Vec::new();
    for y in 0..SIZE[1] {
        for x in 0..SIZE[0] {
            let over = polygons.iter().filter_map(|polygon| polygon.span(y, SIZE[0]));
            let over = over.filter(|span| span.columns().contains(&x)).map(|span| span.at(x));
            let nearest = over.min_by_key(|&(_, depth)| config.depth.quantize(depth));
            let color = nearest.map_or(model.background, |(color, _)| color.as_vec3());
            rgba.push(color.extend(1.0).to_array());
        }
    }
    Image::new(SIZE[0], SIZE[1], rgba).expect("a small image")
}

#[test]
fn designs_with_depth_buffers_have_the_same_bits() {
    for seed in 0..12 {
        let model = random_model(seed, 40);
        for (processors, levels, pattern) in [(1, 0, "grid"), (8, 2, "lattice"), (64, 3, "transposed"), (4, 2, "grid")]
        {
            let text = format!(
                "[fuchs]\nprocessors = {processors}\npattern = \"{pattern}\"\n[parke]\nprocessors = {processors}\nlevels = {levels}"
            );
            let config = Config::parse(&text).expect("a configuration");
            let expected = reference(&model, &config);
            for kind in [PriorModel::Fuchs, PriorModel::Parke, PriorModel::Hybrid, PriorModel::Demetrescu] {
                let simulation = simulate(&model, kind, &config).expect("a small image");
                assert_eq!(simulation.image.rgba, expected.rgba, "seed {seed}, {kind:?} {processors}");
            }
        }
    }
}

/// Pixel-planes rounds edges to 2⁻¹⁴ of a pixel and colors to 12 bits, where the others round vertices
/// to 2⁻⁸ of a pixel: few pixels at edges differ.
#[test]
fn pixel_planes_has_the_image_but_for_edges_and_the_bits_of_its_colors() {
    let (mut edges, mut all) = (0, 0);
    for seed in 0..12 {
        let mut model = random_model(seed, 40);
        // Triangles are linear in every component.
        model.polygons.retain(|polygon| polygon.count == 3);
        let config = Config::default();
        let expected = reference(&model, &config);
        let simulation = simulate(&model, PriorModel::PixelPlanes, &config).expect("a small image");
        for (a, b) in simulation.image.rgba.iter().zip(&expected.rgba) {
            let difference = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
            edges += usize::from(difference > 1.01 / 4095.0);
            all += 1;
        }
    }
    assert!(edges * 200 < all, "{edges} of {all} pixels");
}

#[test]
fn colors_that_are_not_linear_are_cut_into_triangles() {
    let mut model = random_model(3, 2);
    model.polygons.truncate(0);
    let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[x, y]| Vec3::new(x, y, 0.5));
    let quad = |colors: [Vec3; 4]| Polygon {
        corners,
        count: 4,
        normals: [Vec3::NEG_Z; 4],
        reflectance: Vec3::ONE,
        colors,
        object: 0,
    };
    model.polygons.push(quad([Vec3::X, Vec3::X, Vec3::Y, Vec3::Y]));
    model.polygons.push(quad([Vec3::X, Vec3::Y, Vec3::X, Vec3::Y]));
    let simulation = simulate(&model, PriorModel::PixelPlanes, &Config::default()).expect("a small image");
    let Costs::PixelPlanes(costs) = simulation.costs else { panic!("of another design") };
    assert_eq!((costs.polygons, costs.edges), (3, 10));
    assert_eq!(
        pixel_planes::rounded(DVec3::splat(0.5), &Config::default().pixel_planes),
        DVec3::splat(2048.0 / 4095.0)
    );
}

#[test]
fn pixel_planes_shows_thirty_thousand_polygons_a_second_on_512_chips() {
    let planes = Config::default().pixel_planes;
    let rate = 1e6 / (pixel_planes::cycles(4, &planes) as f64 * planes.cycle);
    assert!((29_000.0..32_000.0).contains(&rate), "{rate}");
    assert_eq!(pixel_planes::chips([512; 2], &planes), 512);
}

/// Where every processor has as much to do, more of them are as much faster; where all polygons are
/// in a corner, Parke's blocks are not.
#[test]
fn sharing_pixels_balances_and_blocks_do_not() {
    let mut crowded = random_model(1, 200);
    for polygon in &mut crowded.polygons {
        polygon
            .corners
            .iter_mut()
            .for_each(|corner| *corner = (*corner * Vec3::new(0.2, 0.2, 1.0)) + Vec3::new(-0.7, 0.7, 0.0));
    }
    let config = Config::parse(
        "[fuchs]\nprocessors = 16\n[parke]\nprocessors = 16\nlevels = 2\n[processor]\nsetup = 0.0\nrow = 0.0\n[link]\nbit = 1e-6",
    )
    .expect("a configuration");
    let time = |kind| match simulate(&crowded, kind, &config).expect("a small image").costs {
        Costs::Blocks(_, costs) => costs.time,
        _ => f64::NAN,
    };
    let [fuchs, parke, hybrid] = [PriorModel::Fuchs, PriorModel::Parke, PriorModel::Hybrid].map(time);
    assert!(fuchs < hybrid && hybrid < parke, "{fuchs} {hybrid} {parke}");
}

#[test]
fn every_design_has_a_report_and_the_sweep_goes_to_1024_processors() {
    let (model, config) = (random_model(5, 30), Config::default());
    for kind in PriorModel::all() {
        let text = report(&simulate(&model, kind, &config).expect("a small image"), &model, &config).text();
        assert!(text.contains("images a second") && text.contains(kind.name()), "{text}");
    }
    let swept = sweep(&model, &config).expect("a small image");
    assert!(swept.text().contains("1024"));
    assert_eq!(swept.charts.len(), 1);
    assert!(comparison(&model, &config).expect("a small image").text().contains("Demetrescu"));
    let empty = Model { polygons: Vec::new(), ..model };
    for kind in PriorModel::all() {
        let simulation = simulate(&empty, kind, &config).expect("a small image");
        assert!(simulation.image.rgba.iter().all(|pixel| *pixel == [0.1, 0.2, 0.3, 1.0]));
    }
    let one = Arrangement { levels: 0, processors: 1, pattern: Pattern::Grid };
    assert_eq!(
        PriorModel::Parke.arrangement(&Config::parse("[parke]\nprocessors = 1\nlevels = 0").expect("numbers")),
        Some(one)
    );
}
