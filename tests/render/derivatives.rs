//! Derivatives in whole images: filtered patterns need no more than one sample a pixel, and
//! surfaces moved along their normals have the normals of calculus.

use crate::common::{repository, shadewright, stderr};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use std::fs;
use std::path::Path;

/// Renders a scene file of a folder on the RPU.
#[track_caller]
fn render(folder: &Path, scene: &str, size: &str, spp: &str) -> Image {
    let args = [scene, "--size", size, "--spp", spp, "--backend", "rpu", "--render", "out.exr"];
    let output = shadewright(folder, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    image_file::read(&folder.join("out.exr")).expect("the image that was written")
}

/// The root of the mean square of the difference, and the largest one, over all pixels and colors.
fn difference(a: &Image, b: &Image) -> (f64, f64) {
    let channels = a.rgba.iter().zip(&b.rgba).flat_map(|(a, b)| (0..3).map(|c| f64::from((a[c] - b[c]).abs())));
    let (mut squares, mut most, mut count) = (0.0, 0.0f64, 0.0);
    for d in channels {
        assert!(d.is_finite(), "a color is not finite");
        (squares, most, count) = (squares + d * d, most.max(d), count + 1.0);
    }
    (f64::sqrt(squares / count), most)
}

/// A plane to the horizon with a shader on it.
fn horizon(shader: &str) -> String {
    format!(
        "Option \"trace\" \"color background\" [0.5 0.5 0.5]\nProjection \"perspective\" \"fov\" [50]\nRotate -8 1 0 0\nRotate 20 0 1 0\nTranslate 0 -1.5 5\nWorldBegin\n{shader}\n\
         Polygon \"P\" [-500 0 -500  500 0 -500  500 0 500  -500 0 500] \"st\" [-500 -500  500 -500  500 500  -500 500]\nWorldEnd\n"
    )
}

#[test]
fn a_filtered_plane_to_the_horizon_needs_one_sample_a_pixel() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(repository("assets/scenes/tiles.sl"), folder.path().join("tiles.sl")).expect("a shader of the repository");
    let jagged = "surface jagged() { float a = step(0.5, mod(s * 0.5, 1)); float b = step(0.5, mod(t * 0.5, 1)); Ci = mix(color (0.08, 0.09, 0.11), color (0.75, 0.73, 0.68), a + b - 2 * a * b); }";
    fs::write(folder.path().join("jagged.sl"), jagged).expect("a writable folder");
    let errors = ["Surface \"tiles\" \"uniform float frequency\" [0.5]", "Surface \"jagged\""].map(|shader| {
        fs::write(folder.path().join("s.rib"), horizon(shader)).expect("a writable folder");
        let [one, many] = ["1", "256"].map(|spp| render(folder.path(), "s.rib", "64x48", spp));
        difference(&one, &many).0
    });
    // The filter is a box of the width of a pixel's footprint along each edge, so edges of its one
    // sample are off by what a pixel's place in it makes; without it a pixel is dark or bright.
    assert!(errors[0] < FILTERED_ERROR && errors[0] < 0.4 * errors[1], "{errors:?}");
}

/// The root-mean-square difference between one sample and 256 of the filtered plane, of colors
/// between 0.08 and 0.75.
const FILTERED_ERROR: f64 = 0.05;

/// A ball of radius 1 with a shader that shows a normal.
#[track_caller]
fn ball(folder: &Path, body: &str) -> Image {
    let source = format!(
        "surface s(float h = 0.02, k = 20) {{ normal n = normalize(N); {body} Ci = 0.5 + 0.5 * color (xcomp(n), ycomp(n), zcomp(n)); }}"
    );
    fs::write(folder.join("s.sl"), source).expect("a writable folder");
    let scene = "Projection \"perspective\" \"fov\" [30]\nTranslate 0 0 4\nWorldBegin\nSurface \"s\"\nRotate -60 1 0 0\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.join("s.rib"), scene).expect("a writable folder");
    render(folder, "s.rib", "64x48", "1")
}

#[test]
fn the_normal_of_the_surface_itself_is_its_shading_normal() {
    let folder = tempfile::tempdir().expect("a folder");
    let [own, calculated] = ["", "n = normalize(calculatenormal(P));"].map(|body| ball(folder.path(), body));
    let (_, most) = difference(&own, &calculated);
    assert!(most < 1e-4, "{most}");
}

#[test]
fn bumps_on_a_ball_have_the_normals_of_calculus_and_no_facets() {
    let folder = tempfile::tempdir().expect("a folder");
    // Waves of height h·sin(k·z) along a ball's normals: its normal leans by the slope of the
    // height along the surface, over the radius there.
    let moved = "float z = ycomp(n); n = normalize(calculatenormal(P + h * sin(k * z) * n));";
    let analytic = "float z = ycomp(n); float height = h * sin(k * z); float slope = h * k * cos(k * z); vector up = vector (0, 1, 0) - z * n; n = normalize(n - slope / (1 + height) * up);";
    let [plain, moved, analytic] = ["", moved, analytic].map(|body| ball(folder.path(), body));
    let (bumps, _) = difference(&plain, &analytic);
    let (error, most) = difference(&moved, &analytic);
    // The ball is made of triangles; their tangents are laid into the plane of the normal, so what
    // is left is of the order of the angle between neighbors.
    assert!(bumps > 0.05 && error < 0.1 * bumps && most < 0.1, "bumps {bumps}, error {error}, at most {most}");
}
