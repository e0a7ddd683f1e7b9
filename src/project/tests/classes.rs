//! Scenes of RTSL's classes.

use super::*;
use crate::rib::instance_rib;
use shadewright_lang::rtsl;

const SCENE: &str = "\
Format 16 12 1
Projection \"own.rtsl:Pinhole\" \"float zoom\" [2]
Integrator \"path\" \"p\"
WorldBegin
LightSource \"own.rtsl:Lamp\" \"key\" \"point from\" [0 3 -4]
Translate 0 0 5
Rotate 90 0 0 1
Shader \"own.rtsl:Plain\" \"red\" \"color tint\" [0.5 0 0]
Shader \"own.rtsl:Plain\" \"blue\" \"color tint\" [0 0 0.5]
Shader \"own.rtsl:Checks\" \"checks\" \"string[2] of\" [\"red\" \"blue\"] \"float[2] size\" [3 4]
Surface \"own.rtsl:Paint\" \"string pattern\" [\"checks\"] \"int power\" [40] \"float mirrors\" [1] \"point middle\" [0 0.25 0]
Sphere 1 -1 1 360
WorldEnd
";

const CLASSES: &str = "\
class Pinhole : rt_Camera;
private float zoom;
void constructor(float zoom) { this.zoom = zoom; }
void generateRay() { rt_RayOrigin = vec3(0.); rt_RayDirection = normalize(vec3(rt_ScreenCoord, zoom)); }

class Lamp : rt_Light;
public vec3 from = vec3(0.);
void illumination() {
    rt_LightDirection = normalize(from - rt_HitPoint);
    rt_LightDistance = length(from - rt_HitPoint);
    rt_LightColor = color(1., 1., 1.);
}

class Plain : rt_Texture;
public color tint = color(1., 1., 1.);
void lookup() { rt_TextureColor = tint; }

class Checks : rt_Texture;
private rt_Texture of[2];
private vec2 size;
void constructor(rt_Texture of[2], vec2 size) { this.of = of; this.size = size; }
void lookup() {
    vec2 field = floor(size * rt_TextureUV);
    if (mod(field.x + field.y, 2.) < 1.) of[0].lookup(); else of[1].lookup();
}

class Paint : rt_Material;
private rt_Texture pattern;
private int power;
private bool mirrors;
private vec3 middle;
void constructor(rt_Texture pattern, int power, bool mirrors, vec3 middle) {
    this.pattern = pattern; this.power = power; this.mirrors = mirrors; this.middle = middle;
}
void BSDF() {
    pattern.lookup();
    float gloss = mirrors ? pow(0.5, power) : length(rt_HitPoint - middle);
    rt_BSDFValue = (rt_TextureColor + gloss) / PI;
}
";

fn folder() -> Folder {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("scene.rib"), SCENE).unwrap();
    fs::write(dir.path().join("own.rtsl"), CLASSES).unwrap();
    let project = Project::new(Source::File(dir.path().join("scene.rib")), ProjectOptions::default());
    Folder { dir, project }
}

fn instance<'a>(state: &'a ProjectState, class: &str) -> &'a Instance {
    let name = format!("own.rtsl:{class}");
    state.parameters.instances.iter().find(|i| i.shader == *name).expect("the scene has one")
}

fn parameter<'a>(state: &'a ProjectState, class: &str, name: &str) -> &'a Parameter {
    let found = instance(state, class).params.iter().find(|p| p.name == name);
    found.unwrap_or_else(|| panic!("{class} has no {name}: {:?}", instance(state, class).params))
}

fn color(r: f32, g: f32, b: f32) -> ParamValue {
    ParamValue::Color(vec![glam::Vec3::new(r, g, b)])
}

#[test]
fn parameters_of_objects_are_those_of_constructors_and_of_what_they_refer_to() {
    let state = folder().ready();
    let values: Vec<_> =
        instance(&state, "Paint").params.iter().map(|p| (p.name.as_str(), p.value().clone())).collect();
    let expected = [
        ("pattern.of.0.tint", color(0.5, 0.0, 0.0)),
        ("pattern.of.1.tint", color(0.0, 0.0, 0.5)),
        ("pattern.size", ParamValue::Float(vec![3.0, 4.0])),
        ("power", ParamValue::Integer(vec![40])),
        ("mirrors", ParamValue::Integer(vec![1])),
        ("middle", ParamValue::Point(vec![glam::Vec3::new(-0.25, 0.0, 5.0)])),
    ];
    let near = |(name, value): &(&str, ParamValue)| match value {
        ParamValue::Point(v) => {
            (name.to_string(), ParamValue::Point(v.iter().map(|p| (p * 1e4).round() / 1e4).collect()))
        }
        other => (name.to_string(), other.clone()),
    };
    let (values, expected): (Vec<_>, Vec<_>) = (values.iter().map(near).collect(), expected.iter().map(near).collect());
    assert_eq!(values, expected);
    assert_eq!(instance(&state, "Paint").references, [("pattern".to_string(), vec!["checks".to_string()])]);
    assert!(state.parameters.instances.iter().flat_map(|i| &i.params).all(|p| !p.dynamic), "all of them link again");
    assert!(parameter(&state, "Paint", "pattern.size").scene.is_none(), "the surface's request does not say it");
}

#[test]
fn requests_that_are_copied_make_the_same_objects() {
    let mut folder = folder();
    let first = folder.ready();
    let camera = instance_rib(instance(&first, "Pinhole"));
    assert_eq!(camera, "Projection \"own.rtsl:Pinhole\" \"float zoom\" [2]\n");
    for (class, begin) in [("Paint", "Surface \""), ("Lamp", "LightSource \"")] {
        let old = SCENE.lines().find(|line| line.starts_with(begin)).unwrap();
        let new = instance_rib(instance(&first, class));
        fs::write(folder.path("scene.rib"), SCENE.replace(old, new.trim_end())).unwrap();
        let again = folder.ready();
        assert!(again.diagnostics.is_empty(), "{new}: {}", again.diagnostics.render(&again.program.sources));
        let values = |state: &ProjectState| {
            let numbers = |p: &Parameter| format!("{:.4?}", p.value());
            instance(state, class).params.iter().map(numbers).collect::<Vec<_>>()
        };
        assert_eq!(values(&first), values(&again), "{new}");
        assert_eq!(first.program.module, again.program.module, "{new}");
    }
    let id = instance(&first, "Paint").id;
    let state = edited(&mut folder.project, id, "pattern.of.1.tint", Some(color(0.0, 1.0, 0.0)));
    let rib = instance_rib(instance(&state, "Paint"));
    assert!(rib.starts_with("Surface \"own.rtsl:Paint\" \"string pattern\" [\"checks\"]"), "{rib}");
    assert!(rib.contains("\"color pattern.of.1.tint\" [0 1 0]") && !rib.contains("of.0"), "{rib}");
}

#[test]
fn edits_of_objects_change_data_outlive_saves_and_go_back() {
    let mut folder = folder();
    let first = folder.ready();
    let id = instance(&first, "Paint").id;
    for (name, value) in [
        ("pattern.of.0.tint", color(0.0, 1.0, 0.0)),
        ("pattern.size", ParamValue::Float(vec![7.0, 8.0])),
        ("power", ParamValue::Integer(vec![3])),
        ("mirrors", ParamValue::Integer(vec![0])),
    ] {
        let before = folder.project.state().cloned().expect("it was read");
        let state = edited(&mut folder.project, id, name, Some(value.clone()));
        assert_eq!(parameter(&state, "Paint", name).value(), &value);
        assert_eq!(shared(&before, &state), [true, false, true], "{name}");
        folder.edit("own.rtsl", "/ PI", "* 0.5 / PI");
        let saved = folder.ready();
        assert_eq!(parameter(&saved, "Paint", name).value(), &value);
        assert_eq!(shared(&state, &saved), [false, true, true], "{name}");
        folder.edit("own.rtsl", "* 0.5 / PI", "/ PI");
        folder.ready();
        let back = edited(&mut folder.project, id, name, None);
        assert_eq!(parameter(&back, "Paint", name).value(), parameter(&first, "Paint", name).value());
        assert_eq!(back.program.memory, first.program.memory, "{name}");
    }
}

#[test]
fn a_class_that_is_broken_keeps_the_last_state_until_it_is_mended() {
    let mut folder = folder();
    let first = folder.ready();
    folder.edit("own.rtsl", "pattern.lookup();\n    float", "pattern.look();\n    float");
    let said = folder.broken();
    assert!(said.contains("own.rtsl:") && said.contains("`look`"), "{said}");
    assert!(folder.project.state().is_some_and(|state| Arc::ptr_eq(state, &first)));
    folder.edit("own.rtsl", "pattern.look();", "pattern.lookup();");
    assert_eq!(shared(&first, &folder.ready()), [true; 3]);
}

/// Counts the work of a step in RTSL: the files parsed and the methods lowered.
fn work(step: impl FnOnce()) -> [usize; 2] {
    let before = rtsl::WORK.get();
    step();
    let after = rtsl::WORK.get();
    [after[0] - before[0], after[1] - before[1]]
}

#[test]
fn classes_compile_again_only_where_their_files_change() {
    let mut folder = folder();
    let scene = SCENE
        .replace("WorldEnd", "Surface \"dull\" Sphere 2 -2 2 360 Surface \"own.rtsl:Glow\" Sphere 3 -3 3 360 WorldEnd");
    fs::write(folder.path("scene.rib"), scene).unwrap();
    fs::write(folder.path("dull.sl"), "surface dull() { Ci = 1; Oi = 1; }").unwrap();
    fs::write(folder.path("light.h"), "color sent() { return color(0.25); }\n").unwrap();
    let glow = "\nclass Glow : rt_Material;\nvoid emission() { rt_EmissionColor = sent(); }\n";
    fs::write(folder.path("own.rtsl"), format!("#include \"light.h\"\n{CLASSES}{glow}")).unwrap();
    let mut first = None;
    let all = work(|| first = Some(folder.ready()));
    let first = first.expect("a state");
    assert!(all[0] == 1 && all[1] > 5, "{all:?}");
    let saved = work(|| {
        folder.edit("dull.sl", "Ci = 1", "Ci = 0.5");
        folder.ready();
    });
    assert_eq!(saved, [0, 0], "an unrelated shader was saved");
    let scene = work(|| {
        folder.edit("scene.rib", "Format 16 12", "Format 12 8");
        folder.ready();
    });
    assert_eq!(scene, [0, 0], "the scene was saved");
    let id = instance(&first, "Paint").id;
    let parameter = work(|| {
        edited(&mut folder.project, id, "power", Some(ParamValue::Integer(vec![3])));
    });
    assert_eq!(parameter, [0, 0], "a parameter was edited");
    let class = work(|| {
        folder.edit("own.rtsl", "/ PI", "* 0.5 / PI");
        folder.ready();
    });
    assert_eq!(class, all, "the file of the classes was saved");
    let included = work(|| {
        folder.edit("light.h", "0.25", "0.5");
        folder.ready();
    });
    assert_eq!(included, all, "a file that it includes was saved");
    let broken = work(|| {
        folder.edit("own.rtsl", "pattern.lookup();\n    float", "pattern.look();\n    float");
        folder.broken();
        folder.edit("dull.sl", "Ci = 0.5", "Ci = 0.25");
        folder.broken();
    });
    assert_eq!(broken, [1, 0], "errors are kept, too");
}
