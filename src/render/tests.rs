//! The camera's lens and clipping planes and the film's filters, by values worked out by hand; the
//! GPU gives what the RPU gives.

use super::rpu::RpuRenderer;
use super::sampling::Sampling;
use super::{DEFAULT_BUDGET, Job, Renderer, Window, motion, prepare};
use shadewright_base::text::source::SourceMap;
use shadewright_image::Image;
use shadewright_program::{LinkOptions, Output, link};
use shadewright_scene::{OpenOptions, open};

/// A job of a scene of white things on black, seen along z from the origin. A pixel is 0.01 wide at
/// distance 1.
fn job(options: &str, world: &str, size: u32, samples: u32) -> Job {
    job_of(options, world, size, samples, &OpenOptions::default(), &LinkOptions::default())
}

fn job_of(options: &str, world: &str, size: u32, samples: u32, opening: &OpenOptions, linking: &LinkOptions) -> Job {
    let half = 0.005 * size as f32;
    let text = format!(
        "Format {size} {size} 1 Projection \"perspective\" \"fov\" 90 ScreenWindow {} {half} {} {half}\n{options}\n\
         WorldBegin Surface \"constant\"\n{world}\nWorldEnd",
        -half, -half
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("film.rib");
    std::fs::write(&path, text).unwrap();
    let mut sources = SourceMap::new();
    let opened = open(&path, opening, &mut sources);
    let scene = opened.unwrap_or_else(|errors| panic!("{}", errors.render(&sources))).scene;
    let program = link(&scene, sources, linking).expect("the standard shaders compile");
    let sampling = Sampling { strata: Sampling::strata_of(samples), seed: 5 };
    prepare(program, &scene, Window::whole(size, size), sampling, DEFAULT_BUDGET).expect("it fits")
}

/// A rectangle across z at this depth.
fn quad(depth: f32, [left, right, bottom, top]: [f32; 4]) -> String {
    format!(
        "Polygon \"P\" [{left} {bottom} {depth} {left} {top} {depth} {right} {top} {depth} {right} {bottom} {depth}]"
    )
}

fn draw(job: &Job) -> Image {
    let image = RpuRenderer::new().render(job, &|_| {}).expect("it renders");
    assert_same_on_the_gpu(job, &image);
    image
}

#[cfg(feature = "gpu")]
fn assert_same_on_the_gpu(job: &Job, expected: &Image) {
    use super::gpu::GpuRenderer;
    let mut renderer =
        GpuRenderer::new(None).expect("this test needs a GPU adapter; the software driver of Mesa will do");
    let found = renderer.render(job, &|_| {}).expect("it renders");
    // Fused multiplications may move a sample over an edge.
    let is_close = |(a, b): &(&[f32; 4], &[f32; 4])| a.iter().zip(*b).all(|(a, b)| (a - b).abs() <= 1e-3);
    let wrong = expected.rgba.len() - found.rgba.iter().zip(&expected.rgba).filter(is_close).count();
    assert!(wrong * 50 <= expected.rgba.len(), "{wrong} of {} pixels differ", expected.rgba.len());
}

#[cfg(not(feature = "gpu"))]
fn assert_same_on_the_gpu(_: &Job, _: &Image) {}

/// The variance across x of where an image's light is, in pixels.
fn spread(image: &Image) -> f64 {
    let mut moments = [0.0; 3];
    for (i, pixel) in image.rgba.iter().enumerate() {
        let x = f64::from(i as u32 % image.width) + 0.5;
        for (k, moment) in moments.iter_mut().enumerate() {
            *moment += f64::from(pixel[0]) * x.powi(k as i32);
        }
    }
    moments[2] / moments[0] - (moments[1] / moments[0]).powi(2)
}

#[test]
fn what_is_out_of_focus_becomes_a_disk() {
    // At depth z a lens of radius r focused at f spreads a point over a disk of radius r·(1/f −
    // 1/z) on the screen: here 0.05, 5 pixels. The variance across a disk of radius R is R²/4,
    // across a square of 4 pixels 4²/12; a pixel adds 1/12.
    let small = quad(10.0, [-0.2, 0.2, -0.2, 0.2]);
    let blurred = draw(&job("DepthOfField 1 1 5", &small, 24, 144));
    let expected = 25.0 / 4.0 + 16.0 / 12.0 + 1.0 / 12.0;
    let found = spread(&blurred);
    assert!((found / expected - 1.0).abs() < 0.06, "{found} is not {expected}");
    // In focus, and through a pinhole, it is sharp.
    for options in ["DepthOfField 1 1 10", ""] {
        let sharp = spread(&draw(&job(options, &small, 24, 16)));
        assert!((sharp - 15.0 / 12.0).abs() < 0.05, "four columns of pixels: {sharp}");
    }
}

#[test]
fn clipping_planes_hide_what_is_before_and_behind_them() {
    let world = format!(
        "Color 1 0 0 {} Color 0 1 0 {} Color 0 0 1 {}",
        quad(2.0, [-1.0, 0.02, -1.0, 1.0]),
        quad(4.0, [-1.0, 0.04, -1.0, 1.0]),
        quad(6.0, [-1.0, 2.0, -1.0, 1.0])
    );
    let colors = |options: &str| {
        let image = draw(&job(options, &world, 4, 1));
        [0, 3].map(|x| image.rgba[4 + x])
    };
    assert_eq!(colors(""), [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
    assert_eq!(colors("Clipping 3 5"), [[0.0, 1.0, 0.0, 1.0], [0.0; 4]]);
    assert_eq!(colors("Clipping 0.001 1e20"), [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
}

#[test]
fn an_edge_shows_the_filter() {
    // White right of the middle: a pixel whose middle is d left of the edge has what the filter
    // holds beyond d.
    let half = quad(1.0, [0.0, 1.0, -1.0, 1.0]);
    let row = |filter: &str| {
        let image = draw(&job(&format!("PixelFilter {filter}"), &half, 8, 256));
        // The mean of the rows, left to right.
        (0..8).map(|x| (0..8).map(|y| f64::from(image.rgba[y * 8 + x][0])).sum::<f64>() / 8.0).collect::<Vec<_>>()
    };
    let close = |found: &[f64], expected: &[f64], tolerance: f64| {
        let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < tolerance);
        assert!(near, "{found:?} is not {expected:?}");
    };
    close(&row("\"box\" 1 1"), &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], 1e-6);
    close(&row("\"box\" 2 2"), &[0.0, 0.0, 0.0, 0.25, 0.75, 1.0, 1.0, 1.0], 0.01);
    // Beyond d of a triangle of half-width 2: (1 − d/2)²/2.
    close(&row("\"triangle\" 4 4"), &[0.0, 0.0, 0.03125, 0.28125, 0.71875, 0.96875, 1.0, 1.0], 0.01);
    // Mitchell & Netravali's cubic over 4 pixels rings: beyond d it holds ∫ from d to 2, which is
    // 0.1207 at d = 0.5 and −0.0078 at 1.5.
    let mitchell = row("\"mitchell\" 4 4");
    assert!(mitchell[2] < 0.0 && mitchell[5] > 1.0, "{mitchell:?}");
    close(&mitchell[3..5], &[0.1207, 0.8793], 0.03);
}

#[test]
fn a_filter_with_negative_lobes_leaves_a_plain_surface_as_it_is() {
    let plane = quad(1.0, [-1.0, 1.0, -1.0, 1.0]);
    for filter in ["catmull-rom", "sinc", "mitchell", "bessel", "gaussian", "blackman-harris"] {
        let image = draw(&job(&format!("PixelFilter \"{filter}\" 4 4"), &plane, 4, 16));
        assert!(image.rgba.iter().flatten().all(|c| *c == 1.0), "{filter}: {:?}", image.rgba);
    }
}

#[test]
fn what_moves_is_smeared_over_its_way() {
    // A square of 4 pixels that goes 8 pixels to the right while the shutter is open: each column
    // of its way is seen for a part of the time. The variance of where its light is, is that of the
    // square and that of its way, 4²/12 + 8²/12, and of a pixel, 1/12.
    let world = format!(
        "MotionBegin [0 1] Translate -0.04 0 0 Translate 0.04 0 0 MotionEnd {}",
        quad(1.0, [-0.02, 0.02, -0.02, 0.02])
    );
    let mut progressive = super::rpu::RpuProgressive::new(RpuRenderer::new());
    let at = |time| {
        let opening = OpenOptions { time, ..OpenOptions::default() };
        Ok::<_, super::RenderError>(job_of("Shutter 0 1", &world, 24, 16, &opening, &LinkOptions::default()))
    };
    let image = motion::draw(&mut progressive, motion::time_samples(16), at, &|_| {}).unwrap();
    let expected = (16.0 + 64.0 + 1.0) / 12.0;
    let found = spread(&image);
    assert!((found / expected - 1.0).abs() < 0.02, "{found} is not {expected}");
    let light: f32 = image.rgba.iter().map(|pixel| pixel[0]).sum();
    assert!((light - 16.0).abs() < 0.5, "as much light as when it stands: {light}");
}

#[test]
fn the_time_of_a_slice_reaches_shaders_of_every_kind() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("clock", "surface clock() { Ci = ambient() + color (time, 0, dtime); Oi = 1; }"),
        ("sun", "light sun() { Cl = color (0, time * dtime, 0); }"),
        ("haze", "volume haze() { Ci += color (time, dtime, 0); }"),
        ("stamp", "imager stamp() { Ci += color (0, 0, time + dtime); }"),
    ] {
        std::fs::write(dir.path().join(format!("{name}.sl")), text).unwrap();
    }
    let square = quad(1.0, [-1.0, 1.0, -1.0, 1.0]);
    let plane = format!("LightSource \"sun\" 1 Surface \"clock\" Atmosphere \"haze\" {square}");
    let linking = LinkOptions { shader_paths: vec![dir.path().to_path_buf()], ..LinkOptions::default() };
    let opening = OpenOptions { time: 0.25, ..OpenOptions::default() };
    let image = draw(&job_of("Shutter 2 4 Imager \"stamp\"", &plane, 2, 1, &opening, &linking));
    // The time is 2.5, and the shutter is open for 2.
    assert_eq!(image.rgba[0], [2.5 + 2.5, 2.5 * 2.0 + 2.0, 2.0 + 2.5 + 2.0, 1.0]);
}

#[test]
fn variables_take_the_place_of_colors() {
    let dir = tempfile::tempdir().unwrap();
    let shader = "surface lit(output varying float half = 0; output varying color seen = 0;)\n\
        { half = 0.5; seen = Cs * color(1, 0.5, 0.25); Ci = 0; Oi = 1; }";
    std::fs::write(dir.path().join("lit.sl"), shader).unwrap();
    let world = format!("Surface \"lit\" Color 1 0.5 1 {}", quad(3.0, [-1.0, 0.0, -1.0, 1.0]));
    let shown = |name: &str| {
        let output = Output::named(name);
        let linking = LinkOptions {
            shader_paths: vec![dir.path().to_path_buf()],
            output: Some(output.clone()),
            ..LinkOptions::default()
        };
        let job =
            job_of("Option \"trace\" \"color background\" [1 1 1]", &world, 4, 1, &OpenOptions::default(), &linking);
        let channels = job.program.output_channels(&output).map(|names| names.concat());
        let image = draw(&job);
        assert_eq!(image.rgba[3], [0.0; 4], "nothing is behind the scene: {name}");
        (channels.unwrap_or_default(), image.rgba[0].map(|x| (x * 1000.0).round() / 1000.0))
    };
    assert_eq!(shown("z"), ("Z".to_string(), [3.0, 3.0, 3.0, 1.0]));
    assert_eq!(shown("shaderid"), ("Y".to_string(), [1.0; 4]));
    assert_eq!(shown("albedo"), ("RGB".to_string(), [1.0, 0.5, 1.0, 1.0]));
    // The polygon goes clockwise as the camera sees it, whose space is left-handed: its normal
    // points to the camera.
    assert_eq!(shown("N"), ("XYZ".to_string(), [0.0, 0.0, -1.0, 1.0]));
    assert_eq!(shown("half"), ("Y".to_string(), [0.5, 0.5, 0.5, 1.0]));
    assert_eq!(shown("seen"), ("RGB".to_string(), [1.0, 0.25, 0.25, 1.0]));
    assert_eq!(shown("missing"), (String::new(), [0.0, 0.0, 0.0, 1.0]));
}
