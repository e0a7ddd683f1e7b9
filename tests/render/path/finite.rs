//! Materials that give infinities and NaNs: images of paths have neither.

use super::by_the_program;
use shadewright::image::Image;
use std::fs;
use tempfile::TempDir;

/// A method of each that paths ask for gives no number, or an infinity. The divisor is known to be
/// 0 in the scene alone.
const BAD: &str = "class Bsdf : rt_Material;
public float zero = 0.;
void BSDF() { rt_BSDFValue = color(zero / zero); }
class Exact : rt_Material;
public float zero = 0.;
void sampleBSDF() {
    rt_LightDirection = rt_ShadingNormal;
    rt_BSDFValue = color(1. / zero);
}
class Shine : rt_Material;
public float zero = 0.;
void BSDF() { rt_BSDFValue = color(0.1); }
void emission() { rt_EmissionColor = color(1., -1. / zero, 1.); }
class Shade : rt_Material;
public float zero = 0.;
void shade() { rt_SampleColor = color(zero / zero); }
class Veil : rt_Material;
public float zero = 0.;
void BSDF() { rt_BSDFValue = color(0.1); }
void opacity() { rt_SampleOpacity = color(zero / zero); }
";

/// A row of squares in front of the camera, one a material, lit by a point light and the
/// background; a second row stands behind.
fn scene(materials: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let squares = materials.iter().enumerate().map(|(i, material)| {
        let (left, right) = (i as f32, i as f32 + 1.0);
        let square = format!("Polygon \"P\" [{left} 0 1  {left} 1 1  {right} 1 1  {right} 0 1]");
        format!("AttributeBegin\nSurface {material}\n{square}\nAttributeEnd\n")
    });
    let count = materials.len();
    let text = format!(
        "Format {} 4 1
PixelFilter \"gaussian\" 2 2
Projection \"orthographic\"
ScreenWindow 0 {count} 0 1
Integrator \"path\" \"p\" \"int maxPathLength\" [2]
Option \"trace\" \"color background\" [0.2 0.2 0.2]
WorldBegin
LightSource \"pointlight\" 1 \"point from\" [0.5 0.5 0] \"float intensity\" [2]
{}Surface \"pbr.rtsl:Lambert\"
Polygon \"P\" [-9 -9 3  -9 9 3  99 9 3  99 -9 3]
WorldEnd
",
        4 * count,
        squares.collect::<String>()
    );
    fs::write(folder.path().join("scene.rib"), text).expect("the folder can be written");
    fs::write(folder.path().join("bad.rtsl"), BAD).expect("the folder can be written");
    folder
}

/// The image by a back end, of which all is finite.
fn finite(folder: &TempDir, more: &[&str]) -> Image {
    let image = by_the_program(folder, &[&["--spp", "4"], more].concat());
    for (i, pixel) in image.rgba.iter().enumerate() {
        assert!(pixel.iter().all(|x| x.is_finite()), "{more:?}: pixel {i} is {pixel:?}");
    }
    image
}

#[test]
fn what_is_no_number_counts_for_nothing() {
    let folder = scene(&[
        "\"bad.rtsl:Bsdf\"",
        "\"bad.rtsl:Exact\"",
        "\"bad.rtsl:Shine\"",
        "\"bad.rtsl:Shade\"",
        "\"bad.rtsl:Veil\"",
    ]);
    for more in [&["--backend", "rpu"][..], &["--backend", "rpu", "--clamp", "5"], &["--backend", "gpu"]] {
        let image = finite(&folder, more);
        // The middle of the squares whose own light is all that they send.
        for square in [0, 1] {
            let [row, column] = [image.width as usize, 4 * square + 1];
            assert_eq!(image.rgba[row + column], [0.0, 0.0, 0.0, 1.0], "{more:?}: square {square}");
        }
    }
}

#[test]
fn parameters_at_their_ends_make_finite_images() {
    let folder = scene(&[
        "\"pbr.rtsl:OrenNayar\" \"float roughness\" [-4]",
        "\"pbr.rtsl:Phong\" \"float power\" [-1]",
        "\"pbr.rtsl:Ward\" \"float roughness_x\" [0]",
        "\"pbr.rtsl:Velvet\" \"float falloff\" [-1]",
        "\"pbr.rtsl:Velvet\" \"color sheen\" [1 1 1] \"float falloff\" [-2]",
        "\"pbr.rtsl:Conductor\" \"color eta\" [0 0 0] \"color k\" [0 0 0]",
        "\"pbr.rtsl:Glass\" \"float ior\" [0]",
        "\"materials.rtsl:Ward\" \"color diffuse\" [0.2 0.2 0.2] \"color specular\" [1 1 1] \"float roughness_x\" [0] \"float roughness_y\" [0.1]",
    ]);
    for more in [
        &["--backend", "rpu"][..],
        &["--backend", "rpu", "--integrator", "whitted"],
        &["--backend", "rpu", "--format", "f24"],
    ] {
        finite(&folder, more);
    }
}
