//! Scenes of many shaders, through the binary: shaders that are lit alike share sections on the
//! GPU, and no image shows it.

use crate::common::{shadewright, stderr};
use shadewright::image::file as image_file;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The operations of the shaders on their color `c` at the position `p`: operations, a branch, a
/// loop, and calls.
const PATTERNS: [&str; 6] = [
    "c *= mod(floor(3 * xcomp(p)) + floor(3 * ycomp(p)), 2);",
    "if (mod(4 * s, 1) > 0.5) c = color(v, 1, v);",
    "float i; for (i = 1; i < 4; i += 1) { c += 0.1 * sin(i * ycomp(p)); }",
    "c *= 1 - pow(abs(normalize(N) . normalize(I)), 2);",
    "c = mix(c, color(0, 0, 1), 0.5 + 0.5 * sin(8 * xcomp(p)));",
    "if (t > 0.5) { c = c * t; } else if (s > 0.5) { c = Os; }",
];

/// How they are lit.
const LIGHTING: [&str; 3] = [
    "Ci = Os * c * (ambient() + diffuse(Nf));",
    "Ci = c * (ambient() + diffuse(Nf)) + 0.3 * specular(Nf, -normalize(I), 0.2);",
    "color sum = 0; illuminance (P, Nf, PI / 2) { sum += Cl * (normalize(L) . Nf); } Ci = c * sum;",
];

/// Writes `made.rib` and its shaders, and gives how many there are.
fn write_scene(folder: &Path) -> usize {
    let mut rib = "Projection \"perspective\" \"fov\" [40]\nTranslate 0 0 7\nWorldBegin\n\
        LightSource \"ambientlight\" 1 \"intensity\" [0.2]\n\
        Attribute \"light\" \"string shadows\" [\"on\"]\n\
        LightSource \"pointlight\" 2 \"from\" [-6 8 -12] \"intensity\" [200]\n\
        LightSource \"spotlight\" 3 \"from\" [3 3 -9] \"to\" [0 0 0] \"intensity\" [90] \"coneangle\" [0.4]\n"
        .to_string();
    let combinations = PATTERNS.iter().flat_map(|pattern| LIGHTING.iter().map(move |lighting| (pattern, lighting)));
    let mut count = 0;
    for (n, (pattern, lighting)) in combinations.enumerate() {
        let text = format!(
            "surface made{n}(color tint = color(1, 0.8, 0.5))\n{{\n    point p = P;\n    normal Nf = faceforward(normalize(N), I);\n    \
             color c = tint;\n    {pattern}\n    Oi = Os;\n    {lighting}\n}}\n"
        );
        fs::write(folder.join(format!("made{n}.sl")), text).unwrap();
        let (x, y) = ((n % 6) as f32 - 2.5, 1.0 - (n / 6) as f32);
        writeln!(
            rib,
            "AttributeBegin\nTranslate {x} {y} 0\nSurface \"made{n}\"\nSphere 0.6 -0.6 0.6 360\nAttributeEnd"
        )
        .unwrap();
        count += 1;
    }
    rib.push_str("WorldEnd\n");
    fs::write(folder.join("made.rib"), rib).unwrap();
    count
}

#[test]
fn both_back_ends_draw_a_scene_of_many_shaders_alike() {
    let folder = tempfile::tempdir().unwrap();
    let shaders = write_scene(folder.path());
    let render = |backend: &str| {
        let file = format!("{backend}.exr");
        let args = ["made.rib", "--size", "48x24", "--spp", "1", "--stats", "--json", "--backend", backend];
        let output = shadewright(folder.path(), &[&args[..], &["--render", &file]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (image_file::read(&folder.path().join(file)).unwrap(), report)
    };
    let ((rpu, _), (gpu, report)) = (render("rpu"), render("gpu"));
    let counts = report["stats"]["render"]["counts"].as_array().unwrap();
    let sections = counts.iter().find(|count| count["name"] == "sections").unwrap()["count"].as_u64().unwrap();
    // Without sharing there would be two of each shader's, and three of the camera's.
    assert!(sections < 2 * shaders as u64, "{sections} sections of {shaders} shaders");
    // A GPU that fuses operations is a little off; Mesa's software driver is not.
    let is_close = |(a, b): &(&[f32; 4], &[f32; 4])| (0..4).all(|c| (a[c] - b[c]).abs() <= 1e-3);
    let differs = rpu.rgba.len() - rpu.rgba.iter().zip(&gpu.rgba).filter(is_close).count();
    assert!(differs * 100 <= rpu.rgba.len(), "{differs} of {} pixels differ", rpu.rgba.len());
}
