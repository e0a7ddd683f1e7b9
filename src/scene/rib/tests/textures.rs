//! Textures that requests make.

use super::{errors, scene};
use crate::TextureSource;
use shadewright_image::Reading;
use shadewright_texture::Wrap;

const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

#[test]
fn a_texture_stands_for_its_image_with_the_wrap_modes_that_it_was_made_with() {
    for (request, wraps) in [
        ("MakeTexture \"a.png\" \"a.tex\" \"periodic\" \"black\" \"box\" 1 1", [Wrap::Periodic, Wrap::Black]),
        ("MakeBump \"a.png\" \"a.tex\" \"clamp\" \"periodic\" \"gaussian\" 2 2", [Wrap::Clamp, Wrap::Periodic]),
        // Longitudes go round, latitudes end at the poles.
        ("MakeLatLongEnvironment \"a.png\" \"a.tex\" \"box\" 1 1", [Wrap::Periodic, Wrap::Clamp]),
    ] {
        let scene = scene(&format!("{request} WorldBegin {TRIANGLE} WorldEnd"));
        let expected = TextureSource::Image { file: "a.png".to_string(), wraps, reading: Reading::Color };
        assert_eq!(scene.textures["a.tex"], expected, "{request}");
    }
}

#[test]
fn a_wrap_mode_that_does_not_exist_is_an_error() {
    let shown = errors("MakeTexture \"a.png\" \"a.tex\" \"mirror\" \"black\" \"box\" 1 1 WorldBegin WorldEnd");
    assert!(shown.contains("mirror"), "{shown}");
}
