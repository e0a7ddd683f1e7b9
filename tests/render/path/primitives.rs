//! Procedural primitives as area lights: those that can sample points are sampled.

use super::{agree, compared, drawn, means, variance};
use crate::common::{repository, shadewright, stderr};
use shadewright::scene::Estimator;
use std::fs;
use tempfile::TempDir;

/// A floor and a block on it, under what shines.
fn scene(lights: &str) -> String {
    format!(
        "Format 8 8 1
PixelFilter \"box\" 1 1
Projection \"perspective\" \"fov\" [40]
Integrator \"path\" \"p\" \"int maxPathLength\" [1]
Translate 0 0 6
Rotate -50 1 0 0
WorldBegin
AttributeBegin
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [6 4 3]
{lights}
AttributeEnd
Surface \"pbr.rtsl:Lambert\" \"color diffuse\" [0.6 0.5 0.4]
Polygon \"P\" [-5 0 -5 -5 0 5 5 0 5 5 0 -5]
PointsPolygons [4 4 4 4 4] [0 1 2 3 4 5 6 7 0 4 5 1 1 5 6 2 2 6 7 3] \"P\" [-1 0 -0.5 1 0 -0.5 1 0.8 -0.5 -1 0.8 -0.5 -1 0 0.5 1 0 0.5 1 0.8 0.5 -1 0.8 0.5]
WorldEnd
"
    )
}

const SPHERE: &str = "Translate 0.4 1.6 -0.3 Geometry \"primitives.rtsl:Sphere\" \"float radius\" [0.6]";

/// A sphere that is pressed flat and turned inside out, a ring, a bent patch, and a polygon.
const MANY: &str = "TransformBegin
Translate -1.2 1.6 0
Rotate 40 1 0 1
Scale 0.8 -0.3 0.5
Geometry \"primitives.rtsl:Sphere\" \"float radius\" [1]
TransformEnd
TransformBegin
Translate 1 1.6 0.3
Rotate 60 1 0 0
Geometry \"primitives.rtsl:Torus\" \"float major\" [0.7] \"float minor\" [0.25]
TransformEnd
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [1 3 5] \"float one_sided\" [0]
Geometry \"primitives.rtsl:BilinearPatch\" \"point a\" [-1 2.6 -1] \"point b\" [1 2.2 -1] \"point c\" [-0.5 2.2 0.5] \"point d\" [0.3 2.9 1]
Polygon \"P\" [-2 1 1.5  -1 1 1.5  -1 2 1.5  -2 2 1.5]";

fn folder(scene: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    folder
}

fn estimated(folder: &TempDir, estimator: Estimator, samples: u32) -> [(f64, f64); 3] {
    means(&drawn(folder.path(), Some(estimator), samples, 0..6))
}

fn all_estimators_agree(lights: &str, rough: u32) {
    let folder = folder(&scene(lights));
    let power = estimated(&folder, Estimator::Power, 16);
    agree("balance", power, estimated(&folder, Estimator::Balance, 16));
    agree("lights", power, estimated(&folder, Estimator::Lights, rough));
    agree("scattering", power, estimated(&folder, Estimator::Scattering, 36));
}

#[test]
fn light_of_a_sphere_is_the_same_however_it_is_found() {
    all_estimators_agree(SPHERE, 16);
}

#[test]
fn light_of_rings_and_patches_and_what_is_scaled_is_the_same_however_it_is_found() {
    all_estimators_agree(MANY, 64);
}

/// A speck of a white wall, and what lights it, to its side.
fn speck(integrator: &str, surface: &str, light: &str) -> TempDir {
    folder(&format!(
        "Format 4 4 1
PixelFilter \"box\" 1 1
Projection \"perspective\" \"fov\" [0.1]
Integrator \"{integrator}\" \"i\"
WorldBegin
AttributeBegin
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [6 4 3]
Translate 1 0.3 1.5
{light}
AttributeEnd
Surface {surface}
Polygon \"P\" [-9 -9 3 -9 9 3 9 9 3 9 -9 3]
WorldEnd
"
    ))
}

const WHITE: &str = "\"pbr.rtsl:Lambert\" \"color diffuse\" [1 1 1]";
const BALL: &str = "Geometry \"primitives.rtsl:Sphere\" \"float radius\" [0.5]";

/// The light of the ball that a white wall sends back: a disk of its size that faces the place
/// would send as much, `L r² cos θ / d²`.
fn exactly() -> [(f64, f64); 3] {
    let square = 1.0 + 0.3f64.powi(2) + 1.5f64.powi(2);
    [6.0, 4.0, 3.0].map(|radiance| (radiance * 0.25 / square * 1.5 / square.sqrt(), 0.0))
}

#[test]
fn a_sphere_sends_the_light_of_a_sphere() {
    let of = |light: &str| means(&drawn(speck("path", WHITE, light).path(), None, 64, 0..6));
    agree("a program", of(BALL), exactly());
    agree("triangles", of("Attribute \"dice\" \"float edgelength\" [0.01] Sphere 0.5 -0.5 0.5 360"), exactly());
}

#[test]
fn surfaces_that_shade_themselves_get_the_same_light() {
    let of = |integrator, surface| means(&drawn(speck(integrator, surface, BALL).path(), None, 100, 0..6));
    agree("a shader in RSL", of("whitted", "\"matte\""), exactly());
    agree("a shader in RSL behind a path", of("path", "\"matte\""), exactly());
    agree("a BSDF without paths", of("whitted", WHITE), exactly());
}

#[test]
fn points_of_a_small_sphere_are_looked_at() {
    // The camera does not see its edge.
    let hidden = "Attribute \"visibility\" \"integer camera\" [0]\n";
    let folder = folder(&scene(&format!("{hidden}{}", SPHERE.replace("[0.6]", "[0.1]"))));
    let of = |estimator| variance(&drawn(folder.path(), Some(estimator), 16, 0..6));
    let (both, without) = (of(Estimator::Power), of(Estimator::Scattering));
    assert!(both * 30.0 < without, "{both} with the sphere looked at, {without} without");
}

/// A sphere that chooses no points, one that draws random numbers until they please it, and two
/// that cannot be lights.
const OWN: &str = "class StandaloneProgram : rt_Primitive;
public float radius = 1.;

void intersect() {
    float A = dot(rt_RayDirection, rt_RayDirection);
    float B = dot(rt_RayOrigin, rt_RayDirection);
    float disc = B * B - A * (dot(rt_RayOrigin, rt_RayOrigin) - radius * radius);
    if (disc > 0. && !hit(-(B + sqrt(disc)) / A))
        hit((sqrt(disc) - B) / A);
}

void computeBounds() { rt_BoundMin = -vec3(radius); rt_BoundMax = vec3(radius); }

void computeNormal() { rt_GeometricNormal = rt_HitPoint / radius; }

class Whole : StandaloneProgram;

// Any point of the sphere, also those behind it (von Neumann 1951).
void generateSample() {
    vec3 p = vec3(0.);
    for (int i = 0; i < 20 && (dot(p, p) > 1. || dot(p, p) < 0.01); i++)
        p = 2. * vec3(rand(), rand(), rand()) - 1.;
    rt_HitPoint = radius * normalize(p);
}

void samplePDF() { rt_PDF = 1. / (4. * PI * radius * radius); }

class Half : StandaloneProgram;
void generateSample() { rt_HitPoint = vec3(radius, 0., 0.); }

class OtherHalf : StandaloneProgram;
void samplePDF() { rt_PDF = 1.; }
";

fn with_own(folder: TempDir) -> TempDir {
    fs::write(folder.path().join("own.rtsl"), OWN).expect("the folder can be written");
    folder
}

#[test]
fn classes_choose_points_by_as_many_random_numbers_as_they_like_or_none_at_all() {
    let of = |class: &str, estimator, samples| {
        let ball = format!("Geometry \"own.rtsl:{class}\" \"float radius\" [0.5]");
        means(&drawn(with_own(speck("path", WHITE, &ball)).path(), Some(estimator), samples, 0..6))
    };
    agree("points of all of it", of("Whole", Estimator::Lights, 100), exactly());
    // Rays alone find the light of the other, under every estimator.
    agree("no points, by lights", of("StandaloneProgram", Estimator::Lights, 400), exactly());
    agree("no points", of("StandaloneProgram", Estimator::Power, 400), exactly());
}

#[test]
fn one_method_without_the_other_is_told() {
    for (class, said) in [
        ("Half", ["the class `Half` has `generateSample` and no `samplePDF`", "`void samplePDF()` sets rt_PDF"]),
        (
            "OtherHalf",
            ["the class `OtherHalf` has `samplePDF` and no `generateSample`", "`void generateSample()` sets"],
        ),
    ] {
        let folder = with_own(speck("path", WHITE, &format!("Geometry \"own.rtsl:{class}\"")));
        let classes = repository("assets/rtsl").display().to_string();
        let args = ["scene.rib", "-I", &classes, "--backend", "rpu", "--spp", "1", "--render", "out.png", "--strict"];
        let output = shadewright(folder.path(), &args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(said.iter().all(|text| message.contains(text)), "{message}");
        assert!(message.contains("own.rtsl:") && message.contains("scene.rib:9"), "{message}");
    }
}

#[test]
fn both_back_ends_choose_the_same_points() {
    let folder = folder(&scene(MANY));
    compared(&folder.path().join("scene.rib"), &[]);
}
