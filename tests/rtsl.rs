//! Classes of RTSL from the command line: scenes that look alike on both machines, and what the program says of files and objects that are wrong.

mod common;

use common::{repository, shadewright, stderr};
use std::fs;
use std::path::Path;

fn compared(scene: &str, size: &str) {
    let folder = tempfile::tempdir().expect("a folder for the picture of differences");
    let scene = repository(scene).display().to_string();
    let output = shadewright(folder.path(), &["compare", &scene, "--size", size, "--spp", "1"]);
    assert!(output.status.success(), "{scene}: {}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
}

#[test]
fn five_materials_look_alike_on_both_machines() {
    compared("assets/rtsl/materials.rib", "60x24");
}

#[test]
fn textures_of_textures_mixed_and_bent_materials_a_film_light_and_a_lens_look_alike_on_both_machines() {
    compared("assets/rtsl/textures.rib", "40x20");
}

#[test]
fn all_classes_of_the_assets_compile_for_both_machines() {
    for file in ["materials", "pbr", "textures", "lights", "cameras"] {
        let path = repository(&format!("assets/rtsl/{file}.rtsl")).display().to_string();
        for emit in ["ir", "rpu", "wgsl", "sections", "ast"] {
            let output = shadewright(Path::new("."), &["compile", &path, "--emit", emit]);
            assert!(output.status.success() && !output.stdout.is_empty(), "{file} {emit}: {}", stderr(&output));
        }
    }
}

/// What the program says of a scene with one sphere, whose attributes these are; files lie beside the scene.
fn said(attributes: &str, files: &[(&str, &str)]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder can be written");
    }
    let scene = format!(
        "Format 8 8 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\nLightSource \"distantlight\" 1\n{attributes}\nSphere 1 -1 1 360\nWorldEnd\n"
    );
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    let output = shadewright(folder.path(), &["scene.rib", "--render", "out.png", "--backend", "rpu"]);
    (output.status.success(), stderr(&output))
}

const CLASSES: &str = "
class Grey : rt_Texture; public float value = 0.5; void lookup() { rt_TextureColor = color(value); }
class Paint : rt_Material;
private color tint; private rt_Texture by;
void constructor(color c) { tint = c; }
void constructor(color c, rt_Texture t) { tint = c; by = t; }
void shade() { rt_SampleColor = tint; if (by != null) { by.lookup(); rt_SampleColor *= rt_TextureColor; } }
";

#[test]
fn mistakes_in_scenes_are_told_with_what_would_be_right() {
    let files =
        [("a.rtsl", CLASSES), ("broken.rtsl", "class A : rt_Material; void shade() { rt_SampleColour = color(1.); }")];
    for (attributes, expected) in [
        ("Surface \"a.rtsl:Paint\"", &["the constructor of `Paint` needs: c", "its parameters are: c"][..]),
        ("Surface \"a.rtsl\"", &["`a.rtsl` has several classes", "it has: Grey, Paint"]),
        ("Surface \"a.rtsl:Pain\"", &["`a.rtsl` has no class `Pain`"]),
        ("Surface \"b.rtsl:Paint\"", &["there is no file `b.rtsl`", "looked for"]),
        ("Surface \"a.rtsl:Grey\"", &["the class `Grey` has no method `shade`", "the scene asks for it here"]),
        (
            "Surface \"a.rtsl:Paint\" \"color c\" [1 1 1] \"string t\" [\"x\"]",
            &["there is no object `x` for the parameter `t`", "Shader \"FILE.rtsl:Class\" \"handle\""],
        ),
        (
            "Shader \"a.rtsl:Paint\" \"x\" \"color c\" [1 1 1]\nSurface \"a.rtsl:Paint\" \"color c\" [1 1 1] \"string t\" [\"x\"]",
            &["the parameter `t` refers to a `rt_Texture`, which `x` is not", "`x` is a `Paint`"],
        ),
        ("Displacement \"a.rtsl:Paint\" \"color c\" [1 1 1]", &["a class of RTSL cannot be a displacement shader"]),
        (
            "Surface \"broken.rtsl\"",
            &["unknown variable `rt_SampleColour`", "did you mean `rt_SampleColor`?", "broken.rtsl:1"],
        ),
    ] {
        let (is_good, text) = said(attributes, &files);
        assert!(!is_good, "{attributes}");
        for part in expected {
            assert!(text.contains(part), "{attributes}: {text}");
        }
    }
}

#[test]
fn scenes_give_constructors_their_values_and_variables_their_own() {
    let files = [("a.rtsl", CLASSES)];
    for attributes in [
        "Surface \"a.rtsl:Paint\" \"color c\" [1 0 0]",
        "Shader \"a.rtsl:Grey\" \"x\"\nSurface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"string t\" [\"x\"]",
        "Shader \"a.rtsl:Grey\" \"x\" \"float value\" [1]\nSurface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"string t\" [\"x\"]",
    ] {
        let (is_good, text) = said(attributes, &files);
        assert!(is_good && !text.contains("warning"), "{attributes}: {text}");
    }
    let (is_good, text) = said("Surface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"float d\" [1]", &files);
    assert!(is_good && text.contains("has no parameter `d`; it is ignored"), "{text}");
}
