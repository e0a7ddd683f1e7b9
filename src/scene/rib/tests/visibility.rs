//! Attributes that say who sees an object.

use super::{errors, scene, warnings};
use crate::{HitMode, Visibility};

const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

/// How the triangle after these requests is seen.
fn seen(requests: &str) -> Visibility {
    scene(&format!("WorldBegin AttributeBegin {requests} {TRIANGLE} AttributeEnd {TRIANGLE} WorldEnd")).objects[0]
        .attributes
        .visibility
}

#[test]
fn kinds_of_rays_are_named_with_or_without_a_declaration() {
    let all = Visibility::default();
    for (requests, expected) in [
        ("", all),
        ("Attribute \"visibility\" \"int camera\" [0]", Visibility { camera: false, ..all }),
        ("Attribute \"visibility\" \"uniform integer specular\" 0", Visibility { specular: false, ..all }),
        ("Attribute \"visibility\" \"trace\" 0", Visibility { specular: false, diffuse: false, ..all }),
        (
            "Attribute \"visibility\" \"trace\" 0 \"int diffuse\" [1] \"int photon\" [0]",
            Visibility { specular: false, ..all },
        ),
        ("Attribute \"visibility\" \"int transmission\" [0]", Visibility { transmission: false, ..all }),
        ("Attribute \"visibility\" \"transmission\" [\"transparent\"]", Visibility { transmission: false, ..all }),
        (
            "Attribute \"visibility\" \"string transmission\" [\"Os\"]",
            Visibility { hit_mode: Some(HitMode::Color), ..all },
        ),
        ("Attribute \"visibility\" \"transmission\" \"shader\"", Visibility { hit_mode: Some(HitMode::Shader), ..all }),
        (
            "Attribute \"visibility\" \"transmission\" \"Os\" Attribute \"visibility\" \"transmission\" \"opaque\"",
            Visibility { hit_mode: Some(HitMode::Opaque), ..all },
        ),
        (
            "Attribute \"shade\" \"string transmissionhitmode\" [\"primitive\"]",
            Visibility { hit_mode: Some(HitMode::Color), ..all },
        ),
        (
            "Attribute \"shade\" \"string diffusehitmode\" [\"shader\"]",
            Visibility { diffuse_hit_mode: Some(HitMode::Shader), ..all },
        ),
        ("Matte 1", Visibility { matte: true, ..all }),
        ("Matte 1 Matte 0", all),
    ] {
        assert_eq!(seen(requests), expected, "{requests}");
    }
}

#[test]
fn rays_of_an_object_have_a_depth_and_those_of_a_scene_a_bias() {
    let s = scene(&format!(
        "Attribute \"trace\" \"bias\" 0.25 \"int samplemotion\" [1] WorldBegin Attribute \"trace\" \"int maxdiffusedepth\" [1] {TRIANGLE} WorldEnd"
    ));
    assert_eq!((s.ray_bias, s.objects[0].attributes.ray_depths), (Some(0.25), [None, Some(1)]));
}

#[test]
fn visibility_ends_with_its_block() {
    let s = scene(&format!(
        "WorldBegin AttributeBegin Matte 1 Attribute \"visibility\" \"camera\" 0 {TRIANGLE} AttributeEnd {TRIANGLE} WorldEnd"
    ));
    assert_eq!(s.objects[1].attributes.visibility, Visibility::default());
}

#[test]
fn wrong_visibilities_are_told() {
    let shown = |request: &str| errors(&format!("WorldBegin\n{request} {TRIANGLE} WorldEnd"));
    let text = shown("Attribute \"visibility\" \"int camera\" [2]");
    assert!(text.contains("`camera` cannot be 2") && text.contains("scene.rib:2:"), "{text}");
    assert!(shown("Attribute \"visibility\" \"transmission\" [\"glass\"]").contains("`transmission` cannot be glass"));
    assert!(shown("Attribute \"visibility\" \"camera\" [1 0]").contains("`camera` needs one value, not 2"));
    let text = shown("Attribute \"shade\" \"string transmissionhitmode\" [\"both\"]");
    assert!(text.contains("there is no hit mode \"both\""), "{text}");
    assert!(shown("Attribute \"trace\" \"bias\" -1").contains("`bias` cannot be -1"));
    assert!(shown("Attribute \"trace\" \"int maxdiffusedepth\" [0.5]").contains("`maxdiffusedepth` cannot be 0.5"));
    let text = warnings(&format!(
        "Attribute \"trace\" \"bias\" 1 WorldBegin Attribute \"trace\" \"bias\" 2 {TRIANGLE} WorldEnd"
    ));
    assert!(text.contains("a scene has one bias for all rays"), "{text}");
    let text = warnings(&format!("WorldBegin Attribute \"visibility\" \"int smell\" [1] {TRIANGLE} WorldEnd"));
    assert!(text.contains("Attribute \"visibility\" \"smell\" is not supported"), "{text}");
}
