//! Materials that cover only a share of what lies behind them.

use super::{agree, by_the_program, compared_on, drawn, means};
use shadewright::scene::Estimator;
use std::fs;
use tempfile::TempDir;

/// It scatters nothing, so that what passes is all that there is to see.
const VEIL: &str = "class Veil : rt_Material;
public color covers = color(0., 0., 0.);
public color shines = color(0., 0., 0.);
void BSDF() { rt_BSDFValue = color(0., 0., 0.); }
void emission() { rt_EmissionColor = shines; }
void opacity() { rt_SampleOpacity = covers; }
";

/// A folder with a scene whose camera sees the speck where the z axis meets the plane z = 3.
fn folder(world: &str, more: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let scene = format!(
        "Format 4 4 1
PixelFilter \"box\" 1 1
Projection \"perspective\" \"fov\" [0.1]
Integrator \"path\" \"i\" \"int maxPathLength\" [1]
{more}
WorldBegin
{world}
WorldEnd
"
    );
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    fs::write(folder.path().join("veil.rtsl"), VEIL).expect("the folder can be written");
    folder
}

/// A white wall, and a veil of three shares beside the camera's rays.
const WALL: &str = "Surface \"pbr.rtsl:Lambert\" \"color diffuse\" [1 1 1]
Polygon \"P\" [-9 -9 3 -9 9 3 9 9 3 9 -9 3]";
const SIDE: &str = "Surface \"veil.rtsl:Veil\" \"color covers\" [0.25 0.5 0.75]
Polygon \"P\" [1 -1 1  1 1 1  1 1 3  1 -1 3]";
/// Another, so close to the first that no place is between them.
const NEXT: &str = "Polygon \"P\" [1.2 -1 1  1.2 1 1  1.2 1 3  1.2 -1 3]";
/// From the side, by 45°.
const SUN: &str = "LightSource \"distantlight\" 1 \"point from\" [1 0 -1] \"point to\" [0 0 0]";
const LETS_THROUGH: &str = "Attribute \"shade\" \"string transmissionhitmode\" [\"shader\"]";
const BLOCKS: &str = "Attribute \"visibility\" \"string transmission\" [\"opaque\"]";

#[test]
fn light_that_is_looked_at_passes_in_the_share_that_is_open() {
    let cosine = 0.5f32.sqrt();
    for (world, open) in [
        (format!("{SUN} {LETS_THROUGH} {SIDE} {WALL}"), [0.75, 0.5, 0.25]),
        (format!("{SUN} {LETS_THROUGH} {SIDE} {NEXT} {WALL}"), [0.5625, 0.25, 0.0625]),
        (format!("{SUN} {SIDE} {WALL}"), [0.75, 0.5, 0.25]),
        (format!("{SUN} {BLOCKS} {SIDE} {WALL}"), [0.0; 3]),
    ] {
        let folder = folder(&world, "");
        for backend in ["rpu", "gpu"] {
            for pixel in by_the_program(&folder, &["--backend", backend, "--spp", "1"]).rgba {
                let expected = open.map(|open| open * cosine);
                assert!(
                    (0..3).all(|i| (pixel[i] - expected[i]).abs() < 1e-5),
                    "{backend}: {pixel:?}, not {expected:?}"
                );
                assert_eq!(pixel[3], 1.0, "{backend}: the wall covers all");
            }
        }
    }
}

#[test]
fn what_a_class_covers_is_seen_of_it_and_the_rest_of_what_is_behind() {
    let veil = |covers: &str| {
        format!(
            "Surface \"veil.rtsl:Veil\" \"color covers\" [{covers}] \"color shines\" [1 2 4]
Polygon \"P\" [-9 -9 2 -9 9 2 9 9 2 9 -9 2]"
        )
    };
    let white = "Option \"trace\" \"color background\" [1 1 1]";
    // Colors and coverage, which is the mean of the three shares, and the standard deviation of
    // each: a path meets the veil with the probability 0.5, half of its largest and smallest share.
    for (covers, option, expected, scatter) in [
        ("0.25 0.5 0.75", "", [0.25, 1.0, 3.0, 0.5], [0.25, 1.0, 3.0, 0.5]),
        ("0.25 0.5 0.75", white, [1.0, 1.5, 3.25, 1.0], [0.5, 0.5, 2.75, 0.0]),
        // One channel passes whole, and another not at all.
        ("1 0.5 0", white, [1.0, 1.5, 1.0, 1.0], [1.0, 0.5, 1.0, 0.0]),
    ] {
        let folder = folder(&veil(covers), option);
        for backend in ["rpu", "gpu"] {
            let image = by_the_program(&folder, &["--backend", backend, "--spp", "400"]);
            let count = image.rgba.len() as f64;
            let mean = [0, 1, 2, 3].map(|i| image.rgba.iter().map(|p| f64::from(p[i])).sum::<f64>() / count);
            for ((found, expected), scatter) in mean.into_iter().zip(expected).zip(scatter) {
                let error = scatter / (count * 400.0).sqrt();
                assert!((found - expected).abs() <= 4.0 * error + 1e-6, "{backend}: {mean:?}, not {expected}");
            }
        }
    }
}

#[test]
fn the_light_of_a_lamp_behind_a_veil_is_the_same_however_it_is_found() {
    let lamp = "AttributeBegin
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [6 4 3]
Translate 1 0.3 1.5
Geometry \"primitives.rtsl:Sphere\" \"float radius\" [0.7]
AttributeEnd";
    let veil = "Surface \"veil.rtsl:Veil\" \"color covers\" [0.2 0.4 0.5]
Polygon \"P\" [0.2 -9 -9  0.2 9 -9  0.2 9 3  0.2 -9 3]";
    let folder = folder(&format!("{LETS_THROUGH} {lamp} {veil} {WALL}"), "");
    // A disk of its size that faces the place would send as much.
    let square = 1.0f64 + 0.3 * 0.3 + 1.5 * 1.5;
    let whole = 0.7 * 0.7 / square * 1.5 / square.sqrt();
    let exactly = [6.0 * 0.8, 4.0 * 0.6, 3.0 * 0.5].map(|light| (light * whole, 0.0));
    for (estimator, samples) in
        [(Estimator::Power, 144), (Estimator::Balance, 144), (Estimator::Lights, 144), (Estimator::Scattering, 900)]
    {
        let found = means(&drawn(folder.path(), Some(estimator), samples, 0..6));
        agree(&format!("{estimator:?}"), found, exactly);
    }
}

/// Chance is the path's own, and not made of a place, which each back end rounds in its way.
#[test]
fn rays_pass_the_same_layers_on_both_back_ends() {
    let layer = |z: f32, share: f32| {
        format!(
            "Surface \"veil.rtsl:Veil\" \"color covers\" [{share} {share} {share}] \"color shines\" [{z} 0.5 {share}]\nPolygon \"P\" [-2 -1 {z} -1 1.1 2.9 1.7 1.3 {z} 1 -0.9 2.3]\n"
        )
    };
    let folder = folder(&format!("{SUN} {}{}{}{WALL}", layer(1.1, 0.5), layer(1.6, 0.3), layer(2.1, 0.7)), "");
    let scene = folder.path().join("scene.rib");
    let text = fs::read_to_string(&scene).expect("it was written").replace("\"fov\" [0.1]", "\"fov\" [40]");
    fs::write(&scene, text).expect("the folder can be written");
    compared_on("wavefront", &scene, &["--integrator", "path"]);
}
