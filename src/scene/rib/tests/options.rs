//! The camera's and the film's options, and what is read without effect.

use super::{errors, scene, warnings, world};
use crate::{Display, Exposure, FilterKind, Lens, PixelFilter, Scene};
use glam::Vec3;
use shadewright_image::Quantize;

const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

fn with_options(requests: &str) -> Scene {
    scene(&format!("{requests}\nWorldBegin {TRIANGLE} WorldEnd"))
}

#[test]
fn a_lens_is_half_the_focal_length_over_the_f_stop() {
    let lens = |requests: &str| with_options(requests).camera.lens;
    assert_eq!(lens("DepthOfField 2.8 0.56 10"), Some(Lens { radius: 0.1, focus: 10.0 }));
    assert_eq!(lens(""), None);
    assert_eq!(lens("DepthOfField 2 1 10 DepthOfField"), None);
    assert_eq!(lens("DepthOfField 1e38 1 1"), None);
    let shown = errors(&format!("DepthOfField 0 1 1 WorldBegin {TRIANGLE} WorldEnd"));
    assert!(shown.contains("DepthOfField: the f-stop and the distance must be above 0"), "{shown}");
}

#[test]
fn the_film_is_described_by_filter_exposure_crop_and_shutter() {
    let film = with_options(
        "PixelFilter \"gaussian\" 2 3 Exposure 1.5 1 CropWindow 0.25 0.5 0 1 Shutter 0 0.5\n\
         Quantize \"rgba\" 255 0 255 0.5 PixelVariance 0.01 Hider \"raytrace\" \"int jitter\" [1]",
    )
    .film;
    assert_eq!(film.filter, PixelFilter { kind: FilterKind::Gaussian, width: [2.0, 3.0] });
    assert_eq!(film.exposure, Exposure { gain: 1.5, gamma: 1.0 });
    assert_eq!((film.crop, film.shutter), (Some([0.25, 0.5, 0.0, 1.0]), [0.0, 0.5]));
    assert_eq!(with_options("CropWindow 0 1 0 1").film, Scene::empty("").film);
}

#[test]
fn a_scene_says_what_numbers_a_file_holds() {
    let quantize = |requests: &str| with_options(requests).film.quantize;
    let deep = Quantize { one: 65535.0, min: 0.0, max: 65535.0, dither: 0.5 };
    assert_eq!(quantize("Quantize \"rgba\" 65535 0 65535 0.5"), Some(deep));
    assert_eq!(quantize("Quantize \"z\" 65535 0 65535 0"), None, "depths go into files of floats");
    assert_eq!(quantize("Quantize \"rgba\" 255 0 255 0 Quantize \"rgba\" 0 0 0 0"), None, "0 asks for floats");
    let shown = errors(&format!("Quantize \"rgba\" 255 0 65536 0 WorldBegin {TRIANGLE} WorldEnd"));
    assert!(shown.contains("values cannot be quantized to numbers from 0 to 65536"), "{shown}");
}

#[test]
fn impossible_films_are_refused() {
    let refused = |request: &str| errors(&format!("{request} WorldBegin {TRIANGLE} WorldEnd"));
    assert!(refused("PixelFilter \"lanzos\" 2 2").contains("there is no filter `lanzos`"));
    assert!(refused("PixelFilter \"box\" 0 2").contains("must be above 0"));
    assert!(refused("CropWindow 0.5 0.5 0 1").contains("the window is empty"));
    assert!(refused("CropWindow 0 2 0 1").contains("not inside the image"));
    assert!(refused("Shutter 1 0").contains("opens at 1, after it closes at 0"));
    assert!(refused("Exposure 1 0").contains("the gamma must be above 0"));
}

#[test]
fn a_gamma_is_warned_about_as_files_are_encoded_too() {
    let shown = warnings(&format!("Exposure 1 2.2 WorldBegin {TRIANGLE} WorldEnd"));
    assert!(shown.contains("a gamma meant for the screen is one too many"), "{shown}");
}

#[test]
fn a_display_takes_the_place_of_those_before_unless_it_is_added() {
    let film = with_options(
        "Display \"old\" \"file\" \"rgb\" Display \"main\" \"file\" \"rgba\" Display \"+n.exr\" \"openexr\" \"N\" \"int merge\" [1]",
    )
    .film;
    let names: Vec<_> = film.displays.iter().map(|Display { name, mode, .. }| (name.as_str(), mode.as_str())).collect();
    assert_eq!(names, [("main", "rgba"), ("n.exr", "N")]);
}

#[test]
fn colors_of_other_samples_become_red_green_and_blue() {
    let s = scene(&format!("ColorSamples [0.25 0.5 1] [1 1 1] WorldBegin Color [0.5] Opacity 1 {TRIANGLE} WorldEnd"));
    assert_eq!((s.objects[0].color, s.objects[0].opacity), (Vec3::new(0.125, 0.25, 0.5), Vec3::new(0.25, 0.5, 1.0)));
    let shown = errors(&format!("ColorSamples [1 1 1] [1 1 1] WorldBegin Color [1 1 1] {TRIANGLE} WorldEnd"));
    assert!(shown.contains("expected a color of 1 numbers, found 3"), "{shown}");
}

#[test]
fn a_skew_turns_the_first_axis_towards_the_second() {
    let at = |requests: &str| world(requests).objects[0].mesh.positions[2];
    assert!(at("Skew 45 0 1 0 1 0 0").distance(Vec3::new(1.0, 1.0, 0.0)) < 1e-6);
    assert!(at("Skew -45 0 1 0 1 0 0").distance(Vec3::new(-1.0, 1.0, 0.0)) < 1e-6);
    // Axes at 60 degrees: the image of the first lies 30 degrees from the second.
    let image = at("Skew 30 0 1 0 0.8660254 0.5 0");
    let angle = image.angle_between(Vec3::new(0.866_025_4, 0.5, 0.0)).to_degrees();
    assert!((angle - 30.0).abs() < 1e-3, "{angle}");
    let shown = errors(&format!("WorldBegin Skew 90 0 1 0 1 0 0 {TRIANGLE} WorldEnd"));
    assert!(shown.contains("the angle is not smaller than the angle between the axes"), "{shown}");
}

#[test]
fn what_cannot_change_a_image_is_passed_over_in_silence() {
    let s = world(
        "ShadingRate 0.25 ShadingInterpolation \"smooth\" GeometricApproximation \"flatness\" 0.5 Matte 0\n\
         GeometricRepresentation \"primitive\" RelativeDetail 1 Bound [-1 1 -1 1 -1 1] ErrorHandler \"print\" ArchiveRecord \"comment\" \"x\"\n\
         Attribute \"visibility\" \"int camera\" [1] Attribute \"trace\" \"float bias\" [0.01]\n\
         Attribute \"displacementbound\" \"sphere\" [0.1] Attribute \"dice\" \"int binary\" [1]\n\
         Attribute \"grouping\" \"string membership\" [\"a\"] Attribute \"user\" \"float x\" [1]\n\
         Option \"limits\" \"bucketsize\" [16 16] Option \"statistics\" \"endofframe\" [1]",
    );
    assert_eq!(s.objects.len(), 1);
}

#[test]
fn a_displacement_bound_in_a_space_without_lengths_is_one_in_the_current_space() {
    let attribute =
        |system: &str| format!("Attribute \"displacementbound\" \"sphere\" [2] \"coordinatesystem\" [\"{system}\"]");
    let shown = warnings(&format!("WorldBegin {} {TRIANGLE} WorldEnd", attribute("raster")));
    assert!(shown.contains("lengths in the coordinate system `raster` are not known here"), "{shown}");
    let shown = errors(&format!("WorldBegin Attribute \"displacementbound\" \"sphere\" [-2] {TRIANGLE} WorldEnd"));
    assert!(shown.contains("a displacement bound is 0 or more"), "{shown}");
    let s = world(&format!("Scale 3 3 3 {} {TRIANGLE}", attribute("object")));
    assert_eq!(s.objects[0].attributes.displacement_bound, 6.0);
}

#[test]
fn what_would_change_a_image_and_is_missing_is_warned_about() {
    let shown =
        warnings(&format!("WorldBegin Perspective 40 Deformation \"bend\" \"float angle\" 1 {TRIANGLE} WorldEnd"));
    for name in ["Deformation", "Perspective"] {
        assert!(shown.contains(&format!("the request `{name}` is not supported")), "{shown}");
    }
    let shown = warnings(&format!("Attribute \"ownstuff\" \"x\" 1 WorldBegin {TRIANGLE} WorldEnd"));
    assert!(shown.contains("Attribute \"ownstuff\" is not supported"), "{shown}");
}
