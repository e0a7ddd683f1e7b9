//! Textures from files to images: every format, what lies outside, what is missing, and what the
//! back ends make of it.

use glam::{Mat4, Vec3};
use image::{ImageFormat, Rgb, Rgb32FImage, RgbImage};
use shadewright::image::color::decode_srgb8;
use shadewright::ir::Const;
use shadewright::ir::eval::{Limits, eval};
use shadewright::program::{CAMERA_ENTRY, LinkOptions, link};
use shadewright::project::{Outcome, Project, ProjectOptions, Source};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, SceneWorld, Window, prepare};
use shadewright::scene::{CameraFrame, OpenOptions, Opened, open};
use shadewright::text::diagnostics::Diagnostics;
use shadewright::text::source::SourceMap;
use shadewright::texture::DepthMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Side of the images that are drawn.
const SIDE: u32 = 8;

/// A folder with a scene that shows what the function `look` gives for each place `(x, y)` of the
/// image.
fn folder(body: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "Format {SIDE} {SIDE} 1\nPixelSamples 1 1\nProjection \"look.sl:look\"\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"
    );
    fs::write(folder.path().join("scene.rib"), text).expect("a writable folder");
    let look = format!("color look(point p) {{ float x = xcomp(p); float y = ycomp(p); {body} }}");
    fs::write(folder.path().join("look.sl"), look).expect("a writable folder");
    folder
}

/// The job of drawing the scene, and what there was to remark on.
fn job(folder: &Path) -> (Job, Diagnostics) {
    let mut sources = SourceMap::new();
    let opened = open(&folder.join("scene.rib"), &OpenOptions::default(), &mut sources);
    let Opened { scene, .. } = opened.unwrap_or_else(|errors| panic!("{}", errors.render(&sources)));
    let program = link(&scene, sources, &LinkOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    let remarks = program.diagnostics.clone();
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    (prepare(program, &scene, Window::whole(SIDE, SIDE), sampling, DEFAULT_BUDGET).expect("a small scene"), remarks)
}

/// The colors of the pixels, rows from the top: on the RPU, which must give the evaluator's bits.
fn pixels(folder: &Path) -> Vec<[f32; 3]> {
    let job = job(folder).0;
    let drawn = RpuRenderer::new().render(&job, &|_| {}).expect("an image");
    let pixels: Vec<[f32; 3]> = drawn.rgba.iter().map(|p| [p[0], p[1], p[2]]).collect();
    let program = &job.program;
    for (i, pixel) in pixels.iter().enumerate() {
        let at = [i as u32 % SIDE, i as u32 / SIDE].map(|k| Const::F32(k as f32 + 0.5));
        let mut world = SceneWorld::new(program, &job.bvh);
        let results = eval(&program.module, CAMERA_ENTRY, &at, &mut world, Limits::default()).expect("it ends");
        let expected: Vec<u32> = results[0].bits();
        assert_eq!(pixel.map(f32::to_bits).as_slice(), expected, "pixel {i}");
    }
    pixels
}

/// The colors of the test image, as 8-bit codes: texel `(i, j)` of 4 × 4 is `(60 i, 60 j, 128)`.
fn code(i: u32, j: u32) -> [u8; 3] {
    [60 * i as u8, 60 * j as u8, 128]
}

fn write_codes(path: &Path) {
    RgbImage::from_fn(4, 4, |i, j| Rgb(code(i, j))).save(path).expect("a writable folder");
}

#[track_caller]
fn assert_close(got: [f32; 3], expected: [f32; 3], tolerance: f32) {
    let close = got.iter().zip(&expected).all(|(g, e)| (g - e).abs() <= tolerance);
    assert!(close, "{got:?}, expected {expected:?}");
}

#[test]
fn the_middle_of_a_texel_shows_that_texel_in_every_format() {
    // JPEG keeps values only roughly; HDR keeps eight bits of the largest.
    for (name, tolerance) in
        [("a.png", 1e-6), ("a.tif", 1e-6), ("a.ppm", 1e-6), ("a.exr", 1e-6), ("a.hdr", 0.01), ("a.jpg", 0.05)]
    {
        let folder =
            folder(&format!("return texture(\"{name}\", (floor(4 * x) + 0.5) / 4, (floor(4 * y) + 0.5) / 4);"));
        let path = folder.path().join(name);
        if name.ends_with("exr") || name.ends_with("hdr") {
            let image = Rgb32FImage::from_fn(4, 4, |i, j| Rgb(code(i, j).map(decode_srgb8)));
            image.save(&path).expect("a writable folder");
        } else if name.ends_with("jpg") {
            // In blocks of 16, so that its own filter does not mix them.
            let image = RgbImage::from_fn(64, 64, |i, j| Rgb(code(i / 16, j / 16)));
            image.save_with_format(&path, ImageFormat::Jpeg).expect("a writable folder");
        } else {
            write_codes(&path);
        }
        let pixels = pixels(folder.path());
        for j in 0..4 {
            for i in 0..4 {
                let shown = pixels[(2 * j * SIDE + 2 * i) as usize];
                assert_close(shown, code(i, j).map(decode_srgb8), tolerance);
            }
        }
    }
}

#[test]
fn between_texels_lies_their_mixture_and_beyond_the_image_it_repeats() {
    // Halfway between texels 3 and 0: the first row, at s = 0 and at whole numbers far away on both
    // sides.
    let folder = folder("return texture(\"a.png\", floor(8 * x) - 4, 0.125);");
    write_codes(&folder.path().join("a.png"));
    let mixed = (decode_srgb8(180) + decode_srgb8(0)) / 2.0;
    for pixel in pixels(folder.path()) {
        assert_close(pixel, [mixed, 0.0, decode_srgb8(128)], 1e-6);
    }
}

#[test]
fn places_far_away_and_no_places_at_all_stay_inside_the_image() {
    let folder = folder("return texture(\"a.png\", (x - 0.5) * 1e30, y < 0.5 ? 1 / (x - x) : -1e-30);");
    RgbImage::from_pixel(4, 4, Rgb([255, 0, 255])).save(folder.path().join("a.png")).unwrap();
    for pixel in pixels(folder.path()) {
        assert_close(pixel, [1.0, 0.0, 1.0], 0.0);
    }
}

#[test]
fn a_missing_texture_is_black_and_warned_of_once() {
    let folder = folder(
        "string n = x < 0.5 ? \"no.png\" : \"no.png\"; return texture(\"no.png\", x, y) + texture(n, y, x) + texture(\"\", x, y);",
    );
    assert!(pixels(folder.path()).iter().all(|p| *p == [0.0; 3]));
    let remarks = job(folder.path()).1;
    let texts: Vec<_> = remarks.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(texts, ["there is no texture `no.png`: it is black"]);
    assert!(remarks.iter().all(|d| !d.labels.is_empty() && d.hints[0].starts_with("looked in")));
}

#[test]
fn a_scene_reads_no_texture_outside_of_its_folders() {
    let folder = folder("return texture(\"../secret.png\", x, y);");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    for file in ["scene.rib", "look.sl"] {
        fs::rename(folder.path().join(file), inner.join(file)).unwrap();
    }
    write_codes(&folder.path().join("secret.png"));
    let mut sources = SourceMap::new();
    let read = |allow_read, sources: &mut SourceMap| {
        let opened = open(&inner.join("scene.rib"), &OpenOptions { allow_read, ..OpenOptions::default() }, sources);
        let scene = opened.unwrap().scene;
        let options = LinkOptions { strict: true, ..LinkOptions::default() };
        link(&scene, sources.clone(), &options).map_err(|e| e.diagnostics.render(&e.sources))
    };
    let refused = read(vec![], &mut sources).unwrap_err();
    assert!(refused.contains("is not allowed") && refused.contains("--allow-read"), "{refused}");
    assert!(read(vec![folder.path().to_path_buf()], &mut sources).is_ok());
}

#[test]
fn a_image_that_changes_is_read_again_and_changes_no_code() {
    let folder = folder("return texture(\"a.png\", x, y);");
    let path = folder.path().join("a.png");
    let mut project = Project::new(Source::File(folder.path().join("scene.rib")), ProjectOptions::default());
    let mut ready = || match project.refresh() {
        Outcome::Ready(state) => state,
        Outcome::Broken(failure) => panic!("{}", failure.render()),
        Outcome::Unchanged => panic!("nothing has changed"),
    };
    let first = ready();
    assert_eq!(first.diagnostics.iter().count(), 1, "it is not there yet");
    write_codes(&path);
    let second = ready();
    assert!(second.diagnostics.is_empty());
    RgbImage::from_pixel(16, 8, Rgb([255, 0, 0])).save(&path).unwrap();
    let third = ready();
    for (old, new) in [(&first, &second), (&second, &third)] {
        assert!(new.redone.memory && !new.redone.code && !new.redone.tree && !new.redone.scene);
        assert_ne!(old.program.memory, new.program.memory);
    }
    assert_eq!(third.redone.files, [path]);
}

#[test]
fn make_texture_gives_a_image_another_name_and_its_wrap_modes() {
    let folder = folder("return texture(\"a.tx\", x < 0.5 ? -0.5 : 0.5, y < 0.5 ? -0.5 : 0.875);");
    let scene = fs::read_to_string(folder.path().join("scene.rib")).unwrap();
    let make = "MakeTexture \"a.png\" \"a.tx\" \"black\" \"clamp\" \"gaussian\" 2 2\nWorldBegin";
    fs::write(folder.path().join("scene.rib"), scene.replace("WorldBegin", make)).unwrap();
    write_codes(&folder.path().join("a.png"));
    let pixels = pixels(folder.path());
    let at = |x: u32, y: u32| pixels[(y * SIDE + x) as usize];
    assert_eq!(at(0, 0), [0.0; 3], "left of it is black");
    assert_eq!(at(0, 7), [0.0; 3], "left of it is black");
    // At s = 0.5 lies the middle between texels 1 and 2.
    let mixed = (decode_srgb8(60) + decode_srgb8(120)) / 2.0;
    assert_close(at(7, 0), [mixed, 0.0, decode_srgb8(128)], 1e-6);
    assert_close(at(7, 7), [mixed, decode_srgb8(180), decode_srgb8(128)], 1e-6);
}

/// Adds requests before the world.
fn request(folder: &Path, requests: &str) {
    let path = folder.join("scene.rib");
    let scene = fs::read_to_string(&path).unwrap();
    fs::write(path, scene.replace("WorldBegin", &format!("{requests}\nWorldBegin"))).unwrap();
}

/// The mean of the test image's red, which is that of its green.
fn mean() -> f32 {
    (0..4).map(|i| decode_srgb8(60 * i)).sum::<f32>() / 4.0
}

#[test]
fn a_channel_is_chosen_behind_the_name_and_filled_where_there_is_none() {
    let folder = folder(
        "string n = \"a.png\"; string list[2] = { \"\", \"a.png\" };
         float r = texture(\"a.png\"[0], 0.375, 0.625);
         float g = texture(n[1], 0.375, 0.625);
         float b = texture(list[1][2], 0.375, 0.625);
         float none = texture(\"a.png\"[3], x, y, \"fill\", 0.25);
         color behind = texture(n[1], 0.375, 0.625, \"fill\", 0.5);
         return x < 0.5 ? (y < 0.5 ? color(r, g, b) : color(none)) : behind;",
    );
    write_codes(&folder.path().join("a.png"));
    let pixels = pixels(folder.path());
    let [r, g, b] = code(1, 2).map(decode_srgb8);
    assert_close(pixels[0], [r, g, b], 1e-6);
    assert_close(pixels[63], [g, b, 0.5], 1e-6);
    assert_close(pixels[56], [0.25; 3], 0.0);
}

#[test]
fn an_area_shows_the_mean_over_it_in_whatever_order_its_corners_come() {
    let areas = [
        "0, 0, 1, 0, 0, 1, 1, 1",
        "0, 0, 1, 0, 1, 1, 0, 1",
        "0.5, 0.5, \"blur\", 1",
        "0.5, 0.5, \"sblur\", 1, \"tblur\", 1",
    ];
    for area in areas {
        let folder = folder(&format!("return texture(\"a.png\", {area});"));
        write_codes(&folder.path().join("a.png"));
        assert_close(pixels(folder.path())[0], [mean(), mean(), decode_srgb8(128)], 1e-6);
    }
}

#[test]
fn a_long_thin_area_is_averaged_along_and_not_across() {
    // The first row of texels, from one side to the other; the third column.
    let row = "texture(\"a.png\", 0, 0.125, 1, 0.125, 0, 0.125, 1, 0.125)";
    let column = "texture(\"a.png\", 0.625, 0, 0.625, 1, 0.625, 0, 0.625, 1)";
    let folder = folder(&format!("color a = {row}; color b = {column}; return x < 0.5 ? a : b;"));
    write_codes(&folder.path().join("a.png"));
    let pixels = pixels(folder.path());
    assert_close(pixels[0], [mean(), 0.0, decode_srgb8(128)], 1e-5);
    assert_close(pixels[7], [decode_srgb8(120), mean(), decode_srgb8(128)], 1e-5);
}

#[test]
fn an_environment_by_latitude_and_longitude_goes_round_the_z_axis() {
    let folder = folder(
        "float a = (floor(4 * x) + 0.5) * PI / 2;
         vector d = -3 * vector (cos(a), sin(a), 0);
         if (y < 0.5) d = vector (0, 0, -2);
         if (y < 0.25) d = vector (0, 0, 1);
         return environment(\"e.env\", d);",
    );
    request(folder.path(), "MakeLatLongEnvironment \"e.png\" \"e.env\" \"gaussian\" 1 1");
    // Rows: white, the codes of the longitudes, black.
    let image = RgbImage::from_fn(4, 3, |i, j| Rgb([[255; 3], code(i, 0), [0; 3]][j as usize]));
    image.save(folder.path().join("e.png")).unwrap();
    let pixels = pixels(folder.path());
    assert_close(pixels[0], [1.0; 3], 1e-6);
    assert_close(pixels[16], [0.0; 3], 1e-6);
    for i in 0..4 {
        assert_close(pixels[(56 + 2 * i) as usize], code(i, 0).map(decode_srgb8), 1e-4);
    }
}

#[test]
fn the_faces_of_a_cube_show_their_directions_the_right_way_up() {
    // Each face is its number in the blue; its upper right quarter is white. Above, the direction
    // of that quarter's middle; below, of the opposite one's.
    let folder = folder(
        "float face = floor(6 * x);
         float k = y < 0.5 ? 0.5 : -0.5;
         vector d = vector (1, k, -k);
         if (face == 1) d = vector (-1, k, k);
         if (face == 2) d = vector (k, 1, -k);
         if (face == 3) d = vector (k, -1, k);
         if (face == 4) d = vector (k, k, 1);
         if (face == 5) d = vector (-k, k, -1);
         return environment(\"cube\", d);",
    );
    let names: Vec<String> = (0..6).map(|i| format!("\"{i}.png\"")).collect();
    request(folder.path(), &format!("MakeCubeFaceEnvironment {} \"cube\" 90 \"box\" 1 1", names.join(" ")));
    for face in 0..6 {
        let image = RgbImage::from_fn(2, 2, |i, j| Rgb(if (i, j) == (1, 0) { [255; 3] } else { [0, 0, 40 * face] }));
        image.save(folder.path().join(format!("{face}.png"))).unwrap();
    }
    let pixels = pixels(folder.path());
    for x in 0..8 {
        let face = (6.0 * (x as f32 + 0.5) / 8.0).floor() as u8;
        assert_close(pixels[x], [1.0; 3], 1e-5);
        assert_close(pixels[56 + x], [0.0, 0.0, decode_srgb8(40 * face)], 1e-5);
    }
}

#[test]
fn a_shadow_lies_on_what_is_farther_than_the_map_shows_by_more_than_the_bias() {
    // The camera stands at (0, 0, -5) and looks along z; it sees something at depth 4 in the left
    // half.
    let origin = Vec3::new(0.0, 0.0, -5.0);
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    let frame = CameraFrame { x, y, z, origin, half_width: 1.0, half_height: 1.0, orthographic: false };
    let depths = (0..16).map(|i| if i % 4 < 2 { 4.0 } else { 1e30 }).collect();
    let to_camera = Mat4::from_translation(-origin);
    let map = DepthMap { width: 4, height: 4, depths, to_camera, to_ndc: frame.to_ndc([1.0, 9.0]) };
    let folder = folder(
        "point p = point (8 * x - 4, 0, y < 0.5 ? 0 : -0.9);
         if (x > 0.8) p = point (-10, 0, 0);
         return shadow(\"m.shd\", p, \"bias\", 0.2);",
    );
    request(folder.path(), "MakeShadow \"m.exr\" \"m.shd\"");
    fs::write(folder.path().join("m.exr"), map.encode().unwrap()).unwrap();
    let pixels = pixels(folder.path());
    // Depth 5 is behind depth 4, depth 4.1 is within the bias of it.
    assert_eq!([pixels[0], pixels[1]], [[1.0; 3]; 2]);
    assert_eq!([pixels[6], pixels[7]], [[0.0; 3]; 2], "nothing is in the way, and nothing is known outside of the map");
    assert!(pixels[56..].iter().all(|p| *p == [0.0; 3]));
}

#[test]
fn what_is_known_of_a_texture_goes_to_the_variable() {
    let folder = folder(
        "float size[2]; float n = 0; string type = \"\"; float there = 1;
         float known = textureinfo(\"a.png\", \"resolution\", size);
         known += textureinfo(\"a.png\", \"channels\", n) + textureinfo(\"a.png\", \"type\", type);
         textureinfo(\"no.png\", \"exists\", there);
         float is_texture = type == \"texture\" ? 1 : 0;
         return y < 0.5 ? color(size[0], size[1], n) : color(known, is_texture, there);",
    );
    RgbImage::new(6, 3).save(folder.path().join("a.png")).unwrap();
    let pixels = pixels(folder.path());
    assert_eq!(pixels[0], [6.0, 3.0, 3.0]);
    assert_eq!(pixels[63], [3.0, 1.0, 0.0]);
}

#[test]
fn a_map_of_depths_tells_its_matrices() {
    // The camera stands at (1, 2, -5), looks along z, and sees half a unit to each side at distance
    // 1, between depths 1 and 9.
    let origin = Vec3::new(1.0, 2.0, -5.0);
    let frame = CameraFrame {
        x: Vec3::X,
        y: Vec3::Y,
        z: Vec3::Z,
        origin,
        half_width: 0.5,
        half_height: 0.5,
        orthographic: false,
    };
    let (to_camera, to_ndc) = (Mat4::from_translation(-origin), frame.to_ndc([1.0, 9.0]));
    let map = DepthMap { width: 2, height: 2, depths: vec![4.0; 4], to_camera, to_ndc };
    let folder = folder(
        "matrix view = 0, image = 0; float numbers[16]; float size[2]; string type = \"\";
         float known = textureinfo(\"m.shd\", \"viewingmatrix\", view) + textureinfo(\"m.shd\", \"projectionmatrix\", image)
             + textureinfo(\"m.shd\", \"viewingmatrix\", numbers) + textureinfo(\"a.png\", \"viewingmatrix\", view)
             + textureinfo(\"m.shd\", \"resolution\", size) + textureinfo(\"m.shd\", \"type\", type);
         point p = point (2, 1, -2);
         if (x > 0.8) return color (numbers[12], numbers[14], known) + size[0] + (type == \"shadow\" ? 1 : 0);
         return y < 0.5 ? color transform(view, p) : color transform(image, p);",
    );
    request(folder.path(), "MakeShadow \"m.exr\" \"m.shd\"");
    RgbImage::new(2, 2).save(folder.path().join("a.png")).unwrap();
    fs::write(folder.path().join("m.exr"), map.encode().unwrap()).unwrap();
    let pixels = pixels(folder.path());
    assert_close(pixels[0], [1.0, -1.0, 3.0], 1e-6);
    // At depth 3 the image is 1.5 wide to each side; (3 - 1) / 8 of the way between the planes is
    // 9/8 of that over 3 (perspective).
    assert_close(pixels[56], [1.0 / 1.5, -1.0 / 1.5, 9.0 / 8.0 * 2.0 / 3.0], 1e-6);
    assert_close(pixels[7], [-1.0 + 3.0, 5.0 + 3.0, 5.0 + 3.0], 1e-6);
}

#[test]
fn a_bump_leans_away_from_where_the_texture_rises() {
    let folder = folder(
        "vector b = bump(\"ramp.exr\", normal (0, 0, 1), vector (1, 0, 0), vector (0, 1, 0), x, y); return color (-xcomp(b), abs(ycomp(b)), abs(zcomp(b)));",
    );
    let ramp = Rgb32FImage::from_fn(SIDE, SIDE, |i, _| Rgb([i as f32 / 4.0; 3]));
    ramp.save(folder.path().join("ramp.exr")).expect("a writable folder");
    // The height grows by a quarter in an eighth of s: a slope of 2, and (0, 0, 1) × (0, 1, 0) is
    // (-1, 0, 0).
    assert_close(pixels(folder.path())[(3 * SIDE + 3) as usize], [2.0, 0.0, 0.0], 1e-5);
}
