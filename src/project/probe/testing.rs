//! Small scenes whose samples tests follow.

use super::*;
use shadewright_bvh::BuildOptions;
use shadewright_program::memory::build_tree;
use shadewright_scene::{self as scene, OpenOptions};
use std::fs;

/// Follows the middle pixel of a scene, whose shaders are given as name and text.
pub fn follow_with(rib: &str, shaders: &[(&str, &str)], budget: u32) -> Probe {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scene.rib");
    fs::write(&path, format!("Format 9 9 1\nPixelSamples 1 1\nProjection \"perspective\" \"fov\" [60]\n{rib}"))
        .unwrap();
    let mut sources = SourceMap::new();
    let opened = scene::open(&path, &OpenOptions::default(), &mut sources);
    let scene = opened.unwrap_or_else(|d| panic!("{}", d.render(&sources))).scene;
    let give = |(name, text): &(&str, &str)| (name.to_string(), sources.add(format!("{name}.sl"), None, *text));
    let given = shaders.iter().map(give).collect();
    let options = LinkOptions { given, ..LinkOptions::default() };
    let program = link(&scene, sources, &options).unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    let bvh = build_tree(&scene, &BuildOptions::default()).expect("a tree");
    let subject = Subject { scene: &scene, program: &program, bvh: &bvh };
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    probe(&subject, &Sample { pixel: [4, 4], number: 0, sampling, budget }).expect("the sample exists")
}

/// Follows the middle pixel without a bound that a test reaches.
pub fn follow(rib: &str, shaders: &[(&str, &str)]) -> Probe {
    follow_with(rib, shaders, 1_000_000)
}

/// A square across the view at a depth, that faces the camera.
pub fn wall(name: &str, depth: f32, attributes: &str) -> String {
    format!(
        "AttributeBegin\nAttribute \"identifier\" \"name\" [\"{name}\"]\n{attributes}\n\
         Polygon \"P\" [-9 -9 {depth}  -9 9 {depth}  9 9 {depth}  9 -9 {depth}]\nAttributeEnd\n"
    )
}

/// A surface of one color.
pub const PLAIN: (&str, &str) = ("plain", "surface plain(float gain = 0.5; color tint = 1) { Ci = gain * tint; }");

/// A mirror before the camera, that sees a wall behind the camera, which a light shines on past a
/// ball.
pub fn mirror_room(light: &str, ball: &str) -> Probe {
    let back = "AttributeBegin\nAttribute \"identifier\" \"name\" [\"back\"]\nSurface \"lit\"\nPolygon \"P\" [-9 -9 -5  9 -9 -5  9 9 -5  -9 9 -5]\nAttributeEnd\n";
    let rib = format!("WorldBegin\n{light}{}{back}{ball}WorldEnd\n", wall("glass", 5.0, "Surface \"shiny\""));
    let shiny = "surface shiny() { Ci = 0.5 * trace(P, reflect(normalize(I), normalize(N))); }";
    let lit = "surface lit() { Ci = diffuse(faceforward(normalize(N), I)); }";
    follow(&rib, &[("shiny", shiny), ("lit", lit)])
}

/// The sample of a wall seen in a mirror: a camera ray, a reflected one, a shadow ray.
pub fn mirror() -> Probe {
    mirror_room(LIGHTS, "")
}

/// The lights of [`mirror`].
pub const LIGHTS: &str = "LightSource \"ambientlight\" 1 \"intensity\" [0.1]\nLightSource \"pointlight\" 2 \"from\" [0 4 -3] \"intensity\" [10]\n";

/// The shader of [`stepped`].
pub const STEPPED: &str = "float twice(float x) {
    float y = 2 * x;
    return y; }
surface stepped(float k = 3; string word = \"none\")
{
    float sum = 0, i;
    for (i = 0; i < 2; i += 1) {
        float x = twice(i);
        if (x > 1 && k > 1)
            sum += x;
    }
    matrix m = 2;
    Ci = sum;
}
";

/// The sample of a wall whose shader has a loop, a branch and a call.
pub fn stepped() -> Probe {
    let surface = "Surface \"stepped\" \"string word\" [\"hello\"]";
    follow(&format!("WorldBegin\n{}WorldEnd\n", wall("wall", 5.0, surface)), &[("stepped", STEPPED)])
}
