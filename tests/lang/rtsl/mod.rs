//! Classes of RTSL from the command line: scenes that look alike on both back ends, and what the
//! program says of files and objects that are wrong.

mod surfaces;

use crate::common::{compare_backends, repository, shadewright, stderr};
use std::fs;
use std::path::Path;

/// The most by which a software driver may differ from the RPU. Procedural primitives and patterns
/// amplify the rounding of directions.
///
/// Measured at 80×60 with 4 samples a pixel on lavapipe: `primitives` 1.9e-4, `lamps` 6.0e-5,
/// `textures` 2.7e-5, `cornell` 1.9e-5, `materials` 1.4e-6; on SwiftShader `lamps` and `cornell`
/// the same, `materials` 2.4e-7. At other sizes single pixels of `materials` differ by up to 9.2e-6,
/// where its glass shows the noise of the parquet.
const BOUND: f32 = 4e-4;

/// How small scenes are compared: by the most by which a channel, as displayed, differs. Measured on
/// lavapipe: less than 5e-7.
const COMPARE: [&str; 8] = ["compare", "scene.rib", "--spp", "1", "--metric", "max", "--threshold", "1e-6"];

fn compared(scene: &str, size: &str, bound: f32) {
    let folder = tempfile::tempdir().expect("a folder for the images");
    let scene = repository(scene).display().to_string();
    compare_backends(folder.path(), &[&scene, "--size", size, "--spp", "1"], bound).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn five_materials_look_alike_on_both_back_ends() {
    compared("assets/rtsl/materials.rib", "80x60", 4e-6);
}

#[test]
fn textures_of_textures_mixed_and_bent_materials_a_film_light_and_a_lens_look_alike_on_both_back_ends() {
    compared("assets/rtsl/textures.rib", "40x20", BOUND);
}

#[test]
fn primitives_with_materials_of_both_languages_and_their_reflections_look_alike_on_both_back_ends() {
    compared("assets/rtsl/primitives.rib", "40x20", BOUND);
}

#[test]
fn all_classes_of_the_assets_compile_for_both_back_ends() {
    for file in ["materials", "pbr", "textures", "lights", "cameras"] {
        let path = repository(&format!("assets/rtsl/{file}.rtsl")).display().to_string();
        for emit in ["ir", "rpu", "wgsl", "sections", "ast"] {
            let output = shadewright(Path::new("."), &["compile", &path, "--emit", emit]);
            assert!(output.status.success() && !output.stdout.is_empty(), "{file} {emit}: {}", stderr(&output));
        }
    }
}

/// The paper's comments in its listing 5: section 0 leads to the rays, 1 and 2 shoot one each, 3
/// joins what they bring.
#[test]
fn listing_5_falls_into_the_papers_sections() {
    let folder = tempfile::tempdir().expect("a folder for the class");
    fs::write(folder.path().join("d.rtsl"), include_str!("../../../src/lang/rtsl/tests/dielectric.rtsl"))
        .expect("it can be written");
    let output = shadewright(folder.path(), &["compile", "d.rtsl", "--emit", "sections"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let sections: Vec<&str> = text.split("\n\n").filter(|s| s.starts_with("section ")).collect();
    let lines = |name: &str| -> Vec<&str> {
        let title = format!(" \"SchlickDielectric.shade{name}\": ");
        let found: Vec<&&str> =
            sections.iter().filter(|s| s.lines().next().is_some_and(|l| l.contains(&title))).collect();
        assert_eq!(found.len(), 1, "{title} in:\n{text}");
        found[0].lines().map(str::trim).collect()
    };
    let shade =
        sections[0].split('"').nth(1).expect("a name").trim_start_matches("SchlickDielectric.shade").to_string();
    let [first, between, last] =
        [lines(&shade), lines(&format!("{shade} after call 0")), lines(&format!("{shade} after call 1"))];
    let number = |section: &[&str]| section[0].split(' ').nth(1).expect("a number").to_string();
    let waits_for = |section: &[&str], next: &[&str]| {
        let exit = section[2];
        assert!(
            exit.contains("of std.__trace_color, ") && exit.ends_with(&format!("resume {}", number(next))),
            "{exit}"
        );
    };
    waits_for(&first, &between);
    waits_for(&between, &last);
    assert_eq!(last[2], "exit 0: return");
    // What crosses, by the names of the listing; between the rays nothing is computed.
    for (section, names) in
        [(&between, &["P", "T", "atten", "Fr", "Ft"][..]), (&last, &["atten", "Fr", "Ft", "refl_result"])]
    {
        for name in names {
            assert!(section[1].contains(&format!(" {name} (v")), "{name} is none of {}", section[1]);
        }
    }
    assert!(last[1].starts_with("live (8 words): "), "{}", last[1]);
    let computes = |section: &[&str]| section.iter().filter(|l| l.starts_with('v') && !l.contains("= const")).count();
    assert_eq!([computes(&between) > 0, computes(&first) > 20, computes(&last) > 3], [false, true, true], "{text}");
}

/// The success and the messages of the program for a scene with one sphere, whose attributes these
/// are; files lie beside the scene.
fn said(attributes: &str, files: &[(&str, &str)]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder can be written");
    }
    let scene = format!(
        "Format 8 8 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\nLightSource \"distantlight\" 1\n{attributes}\nSphere 1 -1 1 360\nWorldEnd\n"
    );
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    let output = shadewright(folder.path(), &["scene.rib", "--render", "out.png", "--backend", "rpu", "--strict"]);
    (output.status.success(), stderr(&output))
}

const CLASSES: &str = "
class Gray : rt_Texture; public float value = 0.5; void lookup() { rt_TextureColor = color(value); }
class Paint : rt_Material;
private color tint; private rt_Texture by;
void constructor(color c) { tint = c; }
void constructor(color c, rt_Texture t) { tint = c; by = t; }
void shade() { rt_SampleColor = tint; if (by != null) { by.lookup(); rt_SampleColor *= rt_TextureColor; } }
";

#[test]
fn mistakes_in_scenes_are_told_with_what_would_be_right() {
    let files =
        [("a.rtsl", CLASSES), ("broken.rtsl", "class A : rt_Material; void shade() { rt_SampleColr = color(1.); }")];
    for (attributes, expected) in [
        ("Surface \"a.rtsl:Paint\"", &["the constructor of `Paint` needs: c", "its parameters are: c"][..]),
        ("Surface \"a.rtsl\"", &["`a.rtsl` has several classes", "it has: Gray, Paint"]),
        ("Surface \"a.rtsl:Pain\"", &["`a.rtsl` has no class `Pain`", "did you mean `Paint`?"]),
        ("Surface \"b.rtsl:Paint\"", &["there is no file `b.rtsl`", "looked for"]),
        (
            "Surface \"a.rtsl:Gray\"",
            &[
                "`Gray` is no material",
                "class Gray : rt_Material;",
                "it is a texture, which `Shader` names",
                "scene.rib:6",
            ],
        ),
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
            &["unknown variable `rt_SampleColr`", "did you mean `rt_SampleColor`?", "broken.rtsl:1"],
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
        "Shader \"a.rtsl:Gray\" \"x\"\nSurface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"string t\" [\"x\"]",
        "Shader \"a.rtsl:Gray\" \"x\" \"float value\" [1]\nSurface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"string t\" [\"x\"]",
    ] {
        let (is_good, text) = said(attributes, &files);
        assert!(is_good && !text.contains("warning"), "{attributes}: {text}");
    }
    let (is_good, text) = said("Surface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"float d\" [1]", &files);
    assert!(is_good && text.contains("has no parameter `d`; it is ignored"), "{text}");
    let plane =
        "class Plane : rt_Material; public vec2 size = vec2(1.); void shade() { rt_SampleColor = color(size.x); }";
    let (is_good, text) = said("Surface \"p.rtsl\" \"float[3] size\" [1 1 1] \"float siez\" [1]", &[("p.rtsl", plane)]);
    assert!(is_good && text.contains("is a vec2, not a float[3]") && text.contains("given as `float[2]`"), "{text}");
    assert!(text.contains("did you mean `size`?"), "{text}");
    let (is_good, text) = said("Surface \"p.rtsl\" \"float[4] size\" [1 1 1 1]", &[("p.rtsl", plane)]);
    assert!(is_good && text.contains("is a vec2, not a float[4]"), "{text}");
    let (is_good, text) = said(
        "Shader \"a.rtsl:Gray\" \"x\" \"float[2] value\" [1 1]\nSurface \"a.rtsl:Paint\" \"color c\" [1 0 0] \"string t\" [\"x\"]",
        &files,
    );
    assert!(is_good && text.contains("is a float, not a float[2]"), "{text}");
}

const SEVERAL: &str = "
class Gray : rt_Texture; public float value = 0.5; void lookup() { rt_TextureColor = color(value); }
class Layers : rt_Material;
public rt_Texture layers[3];
public rt_Texture mask;
void shade() {
    rt_SampleColor = color(0.);
    for (int i = 0; i < 3; i++) {
        if (layers[i] != null) {
            layers[i].lookup();
            rt_SampleColor += rt_TextureColor;
        }
    }
}
class Veil : rt_Material; void opacity() { rt_SampleOpacity = color(0.5); }
";

#[test]
fn references_take_as_many_objects_as_they_are() {
    let files = [("a.rtsl", SEVERAL)];
    let with = |parameters: &str| {
        let objects = "Shader \"a.rtsl:Gray\" \"x\"\nShader \"a.rtsl:Gray\" \"y\"";
        said(&format!("{objects}\nSurface \"a.rtsl:Layers\" {parameters}"), &files)
    };
    for (parameters, message) in [
        ("\"string[2] layers\" [\"x\" \"y\"]", "`layers` needs 3 handles here, but has 2"),
        ("\"string[4] layers\" [\"x\" \"y\" \"x\" \"\"]", "`layers` needs 3 handles here, but has 4"),
        ("\"string layers\" [\"\"]", "`layers` needs 3 handles here, but has 1"),
        ("\"string[2] mask\" [\"x\" \"y\"]", "`mask` needs 1 handle here, but has 2"),
    ] {
        let (is_good, text) = with(parameters);
        assert!(!is_good && text.contains(message) && text.contains("scene.rib:8"), "{parameters}: {text}");
        assert!(text.contains("a.rtsl:") && text.contains("the empty handle"), "{parameters}: {text}");
    }
    // Parameters of the third are found by its number, whatever is left out before it.
    let (is_good, text) = with("\"string[3] layers\" [\"x\" \"\" \"y\"] \"float layers.2.value\" [0.1]");
    assert!(is_good && !text.contains("warning"), "{text}");
    let (is_good, text) = with("\"string layer\" [\"x\"]");
    assert!(is_good && text.contains("did you mean `layers`? `a.rtsl:Layers` has: layers, mask"), "{text}");
    let (is_good, text) = said("Surface \"a.rtsl:Veil\"", &files);
    assert!(!is_good && text.contains("it is derived for materials with `BSDF`, `sampleBSDF` or `emission`"), "{text}");
}

#[test]
fn lights_afar_shine_in_either_float_format() {
    let light = "LightSource \"lights.rtsl:DistantLight\" 1 \"point from\" [0 1 -2] \"point to\" [0 0 0] \"color intensity\" [1 1 1]";
    let folder = scene(&format!("{light}\nSphere 1 -1 1 360"), "");
    fs::copy(repository("assets/rtsl/lights.rtsl"), folder.path().join("lights.rtsl")).expect("an asset");
    for integrator in ["whitted", "path"] {
        let args = ["scene.rib", "--backend", "rpu", "--integrator", integrator];
        for (format, out) in [("f32", "f32.png"), ("f24", "f24.png")] {
            let (drawn, text) = run(folder.path(), &[&args[..], &["--format", format, "--render", out]].concat());
            assert!(drawn, "{text}");
        }
        let (alike, text) =
            run(folder.path(), &["diff", "f32.png", "f24.png", "--metric", "psnr", "--threshold", "40"]);
        assert!(alike, "{integrator}: {text}");
    }
}

/// A scene in a folder of its own: the requests between `WorldBegin` and `WorldEnd`, with classes
/// beside it and those of the assets.
fn scene(world: &str, classes: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("the folder can be written");
    for name in ["primitives", "materials", "textures"] {
        let text = fs::read_to_string(repository(&format!("assets/rtsl/{name}.rtsl"))).expect("an asset");
        write(&format!("{name}.rtsl"), &text);
    }
    write("a.rtsl", classes);
    let camera = "Format 40 30 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 5";
    write("scene.rib", &format!("{camera}\nWorldBegin\n{world}\nWorldEnd\n"));
    folder
}

/// Runs the program in the folder of a scene; gives what it says.
fn run(folder: &Path, args: &[&str]) -> (bool, String) {
    let output = shadewright(folder, args);
    (output.status.success(), stderr(&output) + &String::from_utf8_lossy(&output.stdout))
}

/// Primitives among instances, in the shadow of each other, moved, mirrored and sheared; one knows
/// its texture by `scratch` variables, one sets its normal in `intersect`.
const AMONG_OTHERS: &str = "
LightSource \"distantlight\" 1 \"point from\" [1 3 -2] \"point to\" [0 0 0]
LightSource \"ambientlight\" 2 \"float intensity\" [0.1]
ObjectBegin 1 Sphere 0.5 -0.5 0.5 360 ObjectEnd
AttributeBegin Translate -1.5 0.9 0 Scale 0.7 1.2 0.7 ObjectInstance 1 AttributeEnd
AttributeBegin Translate 1.5 0.9 0 ObjectInstance 1 AttributeEnd
Shader \"textures.rtsl:Constant\" \"light\" \"color tint\" [0.9 0.9 0.8]
Shader \"textures.rtsl:Constant\" \"dark\" \"color tint\" [0.2 0.3 0.5]
Shader \"textures.rtsl:Checker\" \"squares\" \"string first\" [\"light\"] \"string second\" [\"dark\"] \"float[2] count\" [6 6]
AttributeBegin
  Surface \"materials.rtsl:Lambertian\" \"color diffuse\" [1 1 1] \"string texture\" [\"squares\"]
  Geometry \"primitives.rtsl:BilinearPatch\" \"point a\" [-2 -1 -1] \"point b\" [2 -0.6 -1] \"point c\" [-2 -0.5 1.5] \"point d\" [2 -1 1.5]
AttributeEnd
AttributeBegin
  Surface \"plastic\" Color [0.8 0.2 0.1]
  Scale -1 1 1
  Skew 20 0 1 0 1 0 0
  Translate -0.3 0.3 0.4
  Rotate 30 1 1 0
  Geometry \"primitives.rtsl:Box\" \"point from\" [-0.5 -0.5 -0.5] \"point to\" [0.4 0.5 0.6]
AttributeEnd
AttributeBegin
  Surface \"materials.rtsl:Phong\" \"color diffuse\" [0.1 0.1 0.1] \"color specular\" [0.8 0.8 0.8] \"int power\" [50]
          \"float reflection\" [0.9] \"string texture\" [\"light\"]
  Translate -0.8 0.1 -0.4
  Geometry \"a.rtsl:Disk\" \"float radius\" [0.6]
AttributeEnd
";

const DISK: &str = "
class Disk : rt_Primitive;
public float radius = 1.;
void intersect() {
    float t = -rt_RayOrigin.z / rt_RayDirection.z;
    vec3 p = rt_RayOrigin + t * rt_RayDirection;
    if (dot(p.xy, p.xy) < radius * radius && hit(t)) rt_GeometricNormal = vec3(0., 0., 1.);
}
void computeBounds() { rt_BoundMin = vec3(-radius, -radius, -0.001); rt_BoundMax = -rt_BoundMin; }
";

#[test]
fn primitives_among_instances_look_alike_on_both_back_ends_in_either_schedule() {
    let folder = scene(AMONG_OTHERS, DISK);
    for schedule in ["wavefront", "megakernel"] {
        let (alike, text) = run(folder.path(), &[&COMPARE[..], &["--schedule", schedule]].concat());
        assert!(alike, "{schedule}: {text}");
    }
}

#[test]
fn a_sphere_that_is_a_program_looks_like_one_of_triangles() {
    let light = "LightSource \"distantlight\" 1 \"point from\" [1 3 -2] \"point to\" [0 0 0]\nSurface \"plastic\"\nTranslate 0.2 0.1 0\nScale 1 1.3 0.8\n";
    let folders = ["Geometry \"primitives.rtsl:Sphere\" \"float radius\" [1]", "Sphere 1 -1 1 360"].map(|shape| {
        let folder = scene(&format!("{light}{shape}"), DISK);
        let (drawn, text) = run(
            folder.path(),
            &["scene.rib", "--render", "out.png", "--backend", "rpu", "--spp", "4", "--size", "80x60"],
        );
        assert!(drawn && !text.contains("warning"), "{text}");
        folder
    });
    let images = folders.each_ref().map(|folder| folder.path().join("out.png").display().to_string());
    // Silhouettes differ by less than a pixel.
    let (alike, text) =
        run(folders[0].path(), &["diff", &images[0], &images[1], "--metric", "ssim", "--threshold", "0.98"]);
    assert!(alike, "{text}");
}

#[test]
fn a_primitive_whose_program_does_not_end_is_told_on_both_back_ends() {
    let classes = "class Endless : rt_Primitive;
        void intersect() { float t = 1.; while (t > 0.) { t += 1e-9 * rt_RayDirection.z; } hit(t); }
        void computeNormal() { rt_GeometricNormal = vec3(0., 0., 1.); }
        void computeBounds() { rt_BoundMin = vec3(-1.); rt_BoundMax = vec3(1.); }";
    let folder = scene("Geometry \"a.rtsl:Endless\"", classes);
    for backend in ["rpu", "gpu"] {
        let (drawn, text) = run(
            folder.path(),
            &["scene.rib", "--render", "out.png", "--backend", backend, "--spp", "1", "--size", "4x4"],
        );
        assert!(!drawn && text.contains("did not end within") && text.contains("a.rtsl:2"), "{backend}: {text}");
    }
}

#[test]
fn mistakes_in_primitives_are_told_at_the_scenes_line() {
    let classes = "
class Paint : rt_Material; void shade() { rt_SampleColor = color(1.); }
class Open : rt_Primitive;
void intersect() { hit(1.); }
void computeNormal() { rt_GeometricNormal = vec3(0., 0., 1.); }
void computeBounds() { rt_BoundMin = vec3(-1.); rt_BoundMax = vec3(1.) / (rt_Epsilon * 0.); }
class Inverted : Open; void computeBounds() { rt_BoundMin = vec3(1.); rt_BoundMax = vec3(-1.); }
class Blank : rt_Primitive; void intersect() { hit(1.); } void computeBounds() { rt_BoundMin = vec3(-1.); rt_BoundMax = vec3(1.); }
class StandaloneProgram : rt_Primitive; void intersect() { hit(1.); } void computeNormal() { rt_GeometricNormal = vec3(1.); }
";
    let sphere = "Geometry \"primitives.rtsl:Sphere\" \"float radius\" [1]";
    let solid = format!("SolidBegin \"primitive\" {sphere} SolidEnd");
    let flat = format!("Scale 1 0 1 {sphere}");
    for (world, expected) in [
        ("Geometry \"a.rtsl:Paint\"", &["`Paint` is no primitive", "class Paint : rt_Primitive;", "scene.rib:5"][..]),
        ("Geometry \"a.rtsl:None\"", &["`a.rtsl` has no class `None`", "scene.rib:5"]),
        ("Geometry \"none.rtsl:None\"", &["there is no file `none.rtsl`", "scene.rib:5"]),
        ("Geometry \"primitives.rtsl:Sphere\"", &["the constructor of `Sphere` needs: radius", "scene.rib:5"]),
        (
            "Geometry \"a.rtsl:Open\"",
            &["the box of `a.rtsl:Open` is not finite", "scene.rib:5", "`computeBounds` sets"],
        ),
        ("Geometry \"a.rtsl:Inverted\"", &["the box of `a.rtsl:Inverted` is inside out", "scene.rib:5"]),
        ("Geometry \"a.rtsl:Blank\"", &["the class `Blank` sets no normal", "scene.rib:5"]),
        ("Geometry \"a.rtsl:StandaloneProgram\"", &["has no method `computeBounds`", "scene.rib:5"]),
        (&solid, &["a primitive of a class cannot stand in a solid"]),
        (&flat, &["the transform cannot be inverted", "Scale by 0"]),
    ] {
        let folder = scene(world, classes);
        let (drawn, text) = run(folder.path(), &["scene.rib", "--render", "out.png", "--backend", "rpu", "--spp", "1"]);
        assert!(!drawn, "{world}");
        for part in expected {
            assert!(text.contains(part), "{world}: {text}");
        }
    }
}

#[test]
fn what_a_primitive_cannot_do_is_warned_of() {
    let sphere = "Geometry \"primitives.rtsl:Sphere\" \"float radius\" [1]";
    for (world, expected) in [
        (format!("Displacement \"dented\" {sphere}"), "a primitive of a class cannot be displaced"),
        (format!("AreaLightSource \"pointlight\" 1 {sphere}"), "a primitive of a class cannot shine for an area light"),
        (format!("Geometry \"kettle\" {sphere}"), "there is no geometry `kettle`"),
    ] {
        let folder = scene(&world, DISK);
        let (drawn, text) = run(
            folder.path(),
            &["scene.rib", "--render", "out.png", "--backend", "rpu", "--spp", "1", "--size", "8x6"],
        );
        assert!(drawn && text.contains(expected), "{world}: {text}");
    }
}

/// Stripes of the colors red, green and blue, four texels each, with the last stripe a quarter
/// open.
fn stripes(folder: &Path) {
    let stripe = |x: u32, _| match x / 4 {
        0 => image::Rgba([255, 0, 0, 255]),
        1 => image::Rgba([0, 255, 0, 255]),
        _ => image::Rgba([0, 0, 255, 64]),
    };
    image::RgbaImage::from_fn(12, 4, stripe).save(folder.join("stripes.png")).expect("the folder can be written");
}

/// A square that fills the image, with what its attributes say.
fn square(integrator: &str, attributes: &str, classes: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    stripes(folder.path());
    fs::write(folder.path().join("own.rtsl"), classes).expect("the folder can be written");
    let scene = format!(
        "Format 12 4 1\nIntegrator \"{integrator}\" \"i\"\nProjection \"orthographic\"\nScreenWindow -1 1 -1 1\nWorldBegin\n{attributes}\nPatch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n"
    );
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    folder
}

/// The colors in the middles of the stripes.
fn seen(folder: &Path) -> [[u8; 3]; 3] {
    let classes = repository("assets/rtsl").display().to_string();
    let args = ["scene.rib", "-I", &classes, "--render", "out.png", "--backend", "rpu", "--spp", "1"];
    let (drawn, said) = run(folder, &args);
    assert!(drawn, "{said}");
    let image = image::open(folder.join("out.png")).expect("an image was written").to_rgb8();
    [2, 6, 10].map(|x| image.get_pixel(x, 2).0)
}

const IMAGE: &str = "Shader \"textures.rtsl:Image\" \"stripes\" \"string file\" [\"stripes.png\"]\n";

#[test]
fn materials_take_images_by_references_under_every_integrator() {
    // The last stripe counts as far as it is open.
    let expected = [[255, 0, 0], [0, 255, 0], [0, 0, 137]];
    let emitter = format!("{IMAGE}Surface \"pbr.rtsl:Emitter\" \"string texture\" [\"stripes\"]");
    for integrator in ["whitted", "path"] {
        let colors = seen(square(integrator, &emitter, "").path());
        for (color, wanted) in colors.into_iter().zip(expected) {
            assert!(color.iter().zip(wanted).all(|(c, w)| c.abs_diff(w) <= 1), "{integrator}: {colors:?}");
        }
    }
    let lambert = format!(
        "LightSource \"distantlight\" 1\n{IMAGE}Surface \"pbr.rtsl:Lambert\" \"color diffuse\" [1 1 1] \"string texture\" [\"stripes\"]"
    );
    assert_eq!(seen(square("whitted", &lambert, "").path()), seen(square("path", &lambert, "").path()));
}

#[test]
fn classes_name_images_themselves_and_ask_for_channels() {
    let classes = "class Look : rt_Material;
public string other = \"none.png\";
void shade() {
    string name = other == \"none.png\" ? \"stripes.png\" : other;
    float open = textureImage(name, rt_TextureUV, 3);
    rt_SampleColor = color(open, open, textureImage(name, rt_TextureUV, 1));
}";
    let colors = seen(square("whitted", "Surface \"own.rtsl:Look\"", classes).path());
    assert_eq!(colors, [[255, 255, 0], [255, 255, 255], [137, 137, 0]]);
    let folder = square("whitted", "Surface \"own.rtsl:Look\" \"string other\" [\"gone.png\"]", classes);
    let (_, said) = run(folder.path(), &["scene.rib", "--render", "out.png", "--backend", "rpu"]);
    assert!(said.contains("gone.png") && said.contains("scene.rib"), "{said}");
}

/// Code is made for declared values where nobody gives others: here everybody who may give one does
/// alternately.
#[test]
fn strings_are_what_the_scene_says_whoever_says_it_and_else_what_the_class_says() {
    let classes = "
class Word : rt_Material;
public string word = \"black\";
void shade() { rt_SampleColor = word == \"white\" ? color(1.) : word == \"black\" ? color(0.) : color(0., 1., 0.); }
class Quotes : rt_Material;
public rt_Material other;
void shade() { other.shade(); }
";
    let said = "Shader \"own.rtsl:Word\" \"said\" \"string word\" [\"white\"]\n";
    let silent = "Shader \"own.rtsl:Word\" \"silent\"\n";
    let near = "Patch \"bilinear\" \"P\" [-1 1 0.5 1 1 0.5 -1 -1 0.5 1 -1 0.5] \"constant string word\" [\"white\"]";
    let quotes =
        |handle: &str, more: &str| format!("Surface \"own.rtsl:Quotes\" \"string other\" [\"{handle}\"] {more}");
    for (attributes, white) in [
        ("Surface \"own.rtsl:Word\"".to_string(), false),
        ("Surface \"own.rtsl:Word\" \"string word\" [\"white\"]".to_string(), true),
        (format!("Surface \"own.rtsl:Word\"\n{near}"), true),
        (format!("{silent}{}", quotes("silent", "")), false),
        (format!("{said}{}", quotes("said", "")), true),
        (format!("{silent}{}", quotes("silent", "\"string other.word\" [\"white\"]")), true),
        (format!("{said}{}", quotes("said", "\"string other.word\" [\"black\"]")), false),
    ] {
        let folder = square("whitted", &attributes, classes);
        assert_eq!(seen(folder.path()), [[if white { 255 } else { 0 }; 3]; 3], "{attributes}");
    }
}

/// Code for empty strings is left out where somebody gives another: here another gives an empty one
/// alternately.
#[test]
fn strings_that_are_given_are_empty_only_where_the_scene_says_so() {
    let classes = "
class Word : rt_Material;
public string word;
void shade() { rt_SampleColor = color(word == \"\" ? 0. : 0.5) + color(\"\" != word ? 0.5 : 0.); }
class Quotes : rt_Material;
public rt_Material other;
void shade() { other.shade(); }
";
    let own = |word: &str| format!("Surface \"own.rtsl:Word\" \"string word\" [\"{word}\"]");
    let patch = |word: &str| {
        format!("Patch \"bilinear\" \"P\" [-1 1 0.5 1 1 0.5 -1 -1 0.5 1 -1 0.5] \"constant string word\" [\"{word}\"]")
    };
    let said = |word: &str| format!("Shader \"own.rtsl:Word\" \"said\" \"string word\" [\"{word}\"]\n");
    let quotes = "Surface \"own.rtsl:Quotes\" \"string other\" [\"said\"]";
    for (attributes, is_written) in [
        ("Surface \"own.rtsl:Word\"".to_string(), false),
        (own("x"), true),
        (own(""), false),
        (format!("{}\n{}", own("x"), patch("")), false),
        (format!("{}\n{}", own(""), patch("x")), true),
        (format!("{}{quotes}", said("x")), true),
        (format!("{}{quotes}", said("")), false),
        (format!("{}{quotes} \"string other.word\" [\"\"]", said("x")), false),
        (format!("{}{quotes} \"string other.word\" [\"x\"]", said("")), true),
    ] {
        let folder = square("whitted", &attributes, classes);
        assert_eq!(seen(folder.path()), [[if is_written { 255 } else { 0 }; 3]; 3], "{attributes}");
    }
}

#[test]
fn images_far_away_are_averaged_by_both_back_ends() {
    let attributes = format!(
        "Translate 0 0 6\nRotate 60 1 0 0\nScale 9 9 1\nLightSource \"distantlight\" 1\n{IMAGE}Surface \"pbr.rtsl:Lambert\" \"string texture\" [\"stripes\"] \"float[2] texture.repeat\" [40 40]"
    );
    for integrator in ["whitted", "path"] {
        let folder = square(integrator, &attributes, "");
        let classes = repository("assets/rtsl").display().to_string();
        let (same, said) = run(folder.path(), &[&COMPARE[..], &["-I", &classes]].concat());
        assert!(same, "{integrator}: {said}");
        // All stripes in a pixel: no color is left alone.
        let colors = seen(folder.path());
        assert!(colors.iter().all(|c| c[0] > 0 && c[1] > 0), "{integrator}: {colors:?}");
    }
}

#[test]
fn ambient_light_has_another_part_where_paths_are_traced() {
    let classes = "class Look : rt_Material;
void shade() { ambient(rt_HitPoint) rt_SampleColor = color(1., 0., 0.); else rt_SampleColor = color(0., 1., 0.); }";
    for (integrator, color) in [("whitted", [255, 0, 0]), ("path", [0, 255, 0])] {
        let folder = square(integrator, "Surface \"own.rtsl:Look\"", classes);
        assert_eq!(seen(folder.path()), [color; 3], "{integrator}");
    }
}

/// Light from 0 to 1 in each column of an image that is drawn with 16 samples.
fn columns(folder: &Path, backend: &str) -> Vec<f32> {
    let args = ["scene.rib", "--render", "out.png", "--backend", backend, "--spp", "16"];
    let (drawn, said) = run(folder, &args);
    assert!(drawn, "{said}");
    let image = image::open(folder.join("out.png")).expect("an image was written").to_rgb8();
    let linear = |code: u8| (f32::from(code) / 255.0 + 0.055).powf(2.4) / 1.055_f32.powf(2.4);
    let mean = |x| (0..image.height()).map(|y| linear(image.get_pixel(x, y).0[0])).sum::<f32>();
    (0..image.width()).map(|x| mean(x) / image.height() as f32).collect()
}

/// A shape whose edge goes from the left to the right side of the image, one that a camera makes
/// seem to do so, and surfaces that grow brighter.
const AT_ITS_TIME: &str = "
class Blind : rt_Primitive;
void intersect() {
    vec3 p = rt_RayOrigin + (1. - rt_RayOrigin.z) / rt_RayDirection.z * rt_RayDirection;
    if (p.x > 2. * rt_TimeSeed - 1. && hit((1. - rt_RayOrigin.z) / rt_RayDirection.z)) rt_GeometricNormal = vec3(0., 0., -1.);
}
void computeBounds() { rt_BoundMin = vec3(2. * rt_TimeSeed - 1.01, -1., 0.99); rt_BoundMax = vec3(1., 1., 1.01); }
class Sideways : rt_Camera;
void generateRay() {
    rt_RayOrigin = vec3(2. * (rt_ScreenCoord.x - rt_TimeSeed), rt_ScreenCoord.y - 0.5, 0.);
    rt_RayDirection = vec3(0., 0., 1.);
}
class Dawn : rt_Material;
void shade() { rt_SampleColor = color(rt_TimeSeed); }
class Glow : rt_Material;
void emission() { rt_EmissionColor = color(rt_TimeSeed); }
";

#[test]
fn classes_that_ask_for_the_time_are_seen_at_all_times_at_which_the_shutter_is_open() {
    let wall = "Patch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]";
    let blind = "Surface \"constant\" Geometry \"own.rtsl:Blind\"";
    let beside = "Surface \"constant\" Patch \"bilinear\" \"P\" [0 1 1 3 1 1 0 -1 1 3 -1 1]";
    let drawn = |before: &str, world: &str, backend: &str| {
        let folder = tempfile::tempdir().expect("a folder for the scene");
        fs::write(folder.path().join("own.rtsl"), AT_ITS_TIME).expect("the folder can be written");
        let scene = format!(
            "Format 8 4 1\nImager \"background\" \"color background\" [0 0 0]\nProjection \"orthographic\"\nScreenWindow -1 1 -1 1\n{before}\nWorldBegin\n{world}\nWorldEnd\n"
        );
        fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
        columns(folder.path(), backend)
    };
    let [dawn, glow] = ["Dawn", "Glow"].map(|class| format!("Surface \"own.rtsl:{class}\" {wall}"));
    let opened = "Shutter 2 3";
    let path = format!("{opened}\nIntegrator \"path\" \"paths\"");
    let camera = format!("{opened}\nProjection \"own.rtsl:Sideways\"");
    for backend in ["rpu", "gpu"] {
        for (before, world) in [(opened, &dawn), (opened, &glow), (&*path, &dawn), (&*path, &glow)] {
            let seen = drawn(before, world, backend);
            assert!(seen.iter().all(|light| (light - 0.5).abs() < 0.01), "{backend} {before} {world}: {seen:?}");
        }
        for (before, world) in [(opened, blind), (&*camera, beside)] {
            let seen = drawn(before, world, backend);
            let is_right = |(x, light): (usize, &f32)| (light - (x as f32 + 0.5) / 8.0).abs() < 0.08;
            assert!(seen.iter().enumerate().all(is_right), "{backend} {world}: {seen:?}");
        }
    }
    let still = drawn("", &dawn, "rpu");
    assert!(still.iter().all(|light| *light < 0.01), "the shutter does not open: {still:?}");
}

/// A disk that paints itself by what its `intersect` has found.
const PAINTED_DISK: &str = "
class PaintedDisk : rt_Primitive, rt_Material;
public float radius = 1.;
public color tint = color(0.2, 0.9, 0.4);
scratch vec2 at;
scratch int column;
scratch bool is_odd;
scratch float steps[2];
void intersect() {
    float t = -rt_RayOrigin.z / rt_RayDirection.z;
    vec3 p = rt_RayOrigin + t * rt_RayDirection;
    if (dot(p.xy, p.xy) < radius * radius && hit(t)) {
        rt_GeometricNormal = vec3(0., 0., -1.);
        at = 0.5 * p.xy / radius + vec2(0.5);
        column = int(floor(at.x * 4.));
        is_odd = mod(floor(at.y * 4.), 2.) > 0.5;
        steps[column > 1 ? 1 : 0] = 1.;
    }
}
void computeBounds() { rt_BoundMin = vec3(-radius, -radius, -0.001); rt_BoundMax = -rt_BoundMin; }
color paint() { return tint * color(at.x, at.y, is_odd ? 1. : 0.3) * (float(column) / 8. + 0.5) + color(0.1 * steps[0]); }
void emission() { rt_EmissionColor = paint(); }
void shade() { rt_SampleColor = 0.5 * paint(); }
void BSDF() { rt_BSDFValue = paint() / PI; }
";

#[test]
fn a_primitive_that_is_a_material_shades_itself_by_what_it_found() {
    // The same, with the material's own way to the point that was hit.
    let apart = PAINTED_DISK.replace(
        "color paint() {",
        "color paint() {
            at = 0.5 * rt_HitPoint.xy / radius + vec2(0.5);
            column = int(floor(at.x * 4.));
            is_odd = mod(floor(at.y * 4.), 2.) > 0.5;
            steps[column > 1 ? 1 : 0] = 1.;",
    );
    let drawn = |before: &str, world: &str, classes: &str, name: &str| {
        let folder = scene(world, classes);
        let path = folder.path().join("scene.rib");
        let text = fs::read_to_string(&path).expect("the scene");
        fs::write(&path, format!("{before}\n{text}")).expect("the folder can be written");
        let (alike, text) = run(folder.path(), &[&COMPARE[..], &["--images", "out.exr"]].concat());
        assert!(alike, "{before} {name}: {text}");
        folder
    };
    let light = "LightSource \"distantlight\" 1 \"point from\" [1 3 -2] \"point to\" [0 0 0]\n";
    let disk = "Geometry \"a.rtsl:PaintedDisk\"";
    for integrator in ["", "Integrator \"path\" \"paths\""] {
        let own = drawn(integrator, &format!("{light}{disk}"), PAINTED_DISK, "own");
        let surface = "Surface \"a.rtsl:PaintedDisk\"\n";
        for (name, world, classes) in [
            ("named twice", format!("{light}{surface}{disk}"), PAINTED_DISK),
            ("from the point", format!("{light}{disk}"), &apart),
        ] {
            let other = drawn(integrator, &world, classes, name);
            let images = [&own, &other].map(|f| f.path().join("out-rpu.exr").display().to_string());
            let args = ["diff", &images[0], &images[1], "--metric", "psnr", "--threshold", "30"];
            let (alike, text) = run(own.path(), &args);
            assert!(alike, "{integrator} {name}: {text}");
        }
        let plain = drawn(integrator, &format!("{light}Surface \"constant\" {disk}"), PAINTED_DISK, "another surface");
        let images = [&own, &plain].map(|f| f.path().join("out-rpu.exr").display().to_string());
        let args = ["diff", &images[0], &images[1], "--metric", "psnr", "--threshold", "30"];
        let (alike, text) = run(own.path(), &args);
        assert!(!alike, "{integrator}: a surface that the scene names is used: {text}");
    }
}

#[test]
fn instances_of_procedural_primitives_are_those_primitives_at_their_places() {
    let disk = |tint: &str| format!("Geometry \"a.rtsl:PaintedDisk\" \"float radius\" [0.4] {tint}");
    let (plain, white) = (disk(""), disk("\"color tint\" [1 1 1]"));
    let pair = format!("{plain} Translate 0.9 0 0 Rotate 45 0 0 1 {white}");
    let retained = format!(
        "ObjectBegin \"pair\" {pair} Sphere 0.2 -0.2 0.2 360 ObjectEnd ObjectBegin \"moved\" Rotate 30 0 0 1 ObjectInstance \"pair\" ObjectEnd\n"
    );
    let at = |what: &str, surface: &str, x: f32, y: f32| {
        format!("AttributeBegin {surface} Translate {x} {y} 0 Scale 1 1.2 1 {what} AttributeEnd\n")
    };
    let shown = |first: &str, second: &str| {
        let plastic = "Surface \"plastic\" Color [1 0.5 0]";
        at(first, "", -0.8, 0.7) + &at(second, plastic, -0.8, -0.7)
    };
    let written = format!("{pair} Sphere 0.2 -0.2 0.2 360");
    let turned = format!("Rotate 30 0 0 1 {pair} Sphere 0.2 -0.2 0.2 360");
    let light = "LightSource \"distantlight\" 1\n";
    let worlds = [
        format!("{light}{retained}{}", shown("ObjectInstance \"pair\"", "ObjectInstance \"moved\"")),
        format!("{light}{}", shown(&written, &turned)),
    ];
    let folders = worlds.map(|world| {
        let folder = scene(&world, PAINTED_DISK);
        let (alike, text) = run(folder.path(), &[&COMPARE[..], &["--images", "out.exr"]].concat());
        assert!(alike && !text.contains("warning"), "{text}");
        folder
    });
    let images = folders.each_ref().map(|folder| folder.path().join("out-rpu.exr").display().to_string());
    let (alike, text) =
        run(folders[0].path(), &["diff", &images[0], &images[1], "--metric", "psnr", "--threshold", "40"]);
    assert!(alike, "{text}");
}

/// The state of cameras, of table 1 of the paper.
const CAMERAS: &str = "
class Near : rt_Camera;
void generateRay() {
    rt_RayOrigin = vec3(2. * rt_ScreenCoord.x - 1., rt_ScreenCoord.y - 0.5, 0.);
    rt_RayDirection = vec3(0., 0., 2.);
    rt_HitDistance = rt_ScreenCoord.x < 0.5 ? 0.4 : 0.6;
}
class Inverse : rt_Camera;
void generateRay() {
    rt_RayDirection = vec3(0.5, 1., 2.);
    rt_RayDirection.z = 4.;
    bool is_right = rt_InverseRayDirection == vec3(2., 1., 0.25);
    rt_RayOrigin = vec3(is_right && rt_ScreenCoord.x > 0.5 ? 0. : 9., 0., 0.);
    rt_RayDirection = vec3(0., 0., 1.);
}
class Steps : rt_Camera;
void generateRay() {
    vec2 pixel = rt_ScreenCoord / vec2(rt_du, rt_dv);
    rt_RayOrigin = vec3(abs(pixel.x - 4.) < 4. && abs(pixel.y - 2.) < 2. && pixel.x > 4. ? 0. : 9., 0., 0.);
    rt_RayDirection = vec3(0., 0., 1.);
}
";

#[test]
fn cameras_have_the_state_that_the_paper_gives_them() {
    for class in ["Near", "Inverse", "Steps"] {
        let folder = tempfile::tempdir().expect("a folder for the scene");
        fs::write(folder.path().join("own.rtsl"), CAMERAS).expect("the folder can be written");
        let scene = format!(
            "Format 8 4 1\nImager \"background\" \"color background\" [0 0 0]\nProjection \"own.rtsl:{class}\"\nWorldBegin\nSurface \"constant\" Patch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n"
        );
        fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
        for backend in ["rpu", "gpu"] {
            let seen = columns(folder.path(), backend);
            let is_right = |(x, light): (usize, &f32)| (light - if x < 4 { 0.0 } else { 1.0 }).abs() < 0.01;
            assert!(seen.iter().enumerate().all(is_right), "{class} {backend}: {seen:?}");
        }
    }
}

#[test]
fn files_of_classes_are_read_where_the_scene_may_read() {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    for name in ["scene/classes", "elsewhere"] {
        let own = folder.path().join(name);
        fs::create_dir_all(&own).expect("a folder");
        fs::write(own.join("own.rtsl"), "class Paint : rt_Material; void BSDF() { rt_BSDFValue = color(0.2); }")
            .expect("the folder can be written");
    }
    let outside = folder.path().join("elsewhere/own.rtsl").display().to_string();
    let drawn = |file: &str, args: &[&str]| {
        // A mix of materials without `emission`.
        let scene = format!(
            "Format 8 6 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\nShader \"{file}:Paint\" \"paint\"\nShader \"pbr.rtsl:Relief\" \"bumps\" \"string material\" [\"paint\"]\nSurface \"pbr.rtsl:Mix\" \"string first\" [\"bumps\"] \"string second\" [\"paint\"]\nSphere 1 -1 1 360\nWorldEnd\n"
        );
        fs::write(folder.path().join("scene/scene.rib"), scene).expect("the folder can be written");
        let all = [&["scene.rib", "--render", "out.png", "--backend", "rpu", "--spp", "1", "--strict"], args].concat();
        run(&folder.path().join("scene"), &all)
    };
    for (file, args) in [("classes/own.rtsl", &[][..]), ("../elsewhere/own.rtsl", &["--allow-read", "../elsewhere"])] {
        let (is_drawn, text) = drawn(file, args);
        assert!(is_drawn, "{file}: {text}");
    }
    for file in ["../elsewhere/own.rtsl", &outside] {
        let (is_drawn, text) = drawn(file, &[]);
        let expected = format!("the file `{file}` may not be read");
        assert!(!is_drawn && text.contains(&expected) && text.contains("to allow it: --allow-read "), "{text}");
    }
    let (is_drawn, text) = drawn("../elsewhere/none.rtsl", &[]);
    assert!(!is_drawn && text.contains("there is no file `../elsewhere/none.rtsl`"), "{text}");
}

/// Materials whose color is the sum of a square and of what `normalize` changes.
const UNIT: &str = "
class Declared : rt_Material;
public vec3 given = vec3(0., 2., 0.);
void shade() {
    unit vec3 n = given;
    vec3 copied = -n;
    rt_SampleColor = color(dot(n, n), dot(copied, copied), length(n)) * 0.25 + color(normalize(copied) + given);
}
class Computed : rt_Material;
public vec3 given = vec3(0., 2., 0.);
void shade() {
    vec3 n = given;
    rt_SampleColor = color(dot(n, n), 0., length(normalize(n)));
}
";

#[test]
fn vectors_that_are_declared_unit_are_not_normalized_and_their_squares_are_one() {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    fs::write(folder.path().join("own.rtsl"), UNIT).expect("the folder can be written");
    let output = shadewright(folder.path(), &["compile", "own.rtsl", "--emit", "ir"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let body = |class: &str| {
        let from = text.find(&format!("{class}.shade(")).unwrap_or_else(|| panic!("no {class} in {text}"));
        text[from..].split("\n}").next().unwrap_or_default().to_string()
    };
    let (declared, computed) = (body("Declared"), body("Computed"));
    assert!(!declared.contains("= dot") && !declared.contains("rsq"), "{declared}");
    assert!(computed.contains("= dot") && computed.contains("rsq"), "{computed}");

    let scene = "Format 4 4 1\nProjection \"orthographic\"\nWorldBegin\nSurface \"own.rtsl:Declared\"\nPatch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n";
    for (given, is_wrong) in [("", true), (" \"vector given\" [0 0.6 -0.8]", false)] {
        let scene = scene.replace("Declared\"", &format!("Declared\"{given}"));
        fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
        let (is_done, said) = run(folder.path(), &["probe", "scene.rib", "2,2"]);
        let told = said.contains("this vector is declared `unit`, and its length is 2") && said.contains("own.rtsl:6");
        assert!(is_done && told == is_wrong, "{given}: {said}");
    }
    fs::write(folder.path().join("own.rtsl"), "class A : rt_Texture; unit float x; void lookup() {}")
        .expect("the folder can be written");
    let output = shadewright(folder.path(), &["compile", "own.rtsl"]);
    assert!(stderr(&output).contains("a `float` cannot be `unit`"), "{}", stderr(&output));
}
