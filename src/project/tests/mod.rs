mod classes;

use super::*;
use shadewright_scene::ParamValue;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const SCENE: &str = "\
Format 32 24 1
Projection \"perspective\" \"fov\" [40]
WorldBegin
LightSource \"pointlight\" \"key\" \"float intensity\" [20] \"point from\" [0 3 -4]
Translate 0 0 5
Surface \"dull\" \"float Kd\" [0.5]
Sphere 1 -1 1 360
WorldEnd
";

const SHADER: &str = "\
#include \"shared.h\"
surface dull(float Kd = 0.8; color tint = color(1, 0.5, 0.25);) {
    Ci = Cs * (tint * shade(Kd));
    Oi = 1;
}
";

const HEADER: &str = "float shade(float k) { return k * 0.5; }\n";

/// A scene of its own in a folder.
struct Folder {
    dir: TempDir,
    project: Project,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("scene.rib", SCENE), ("dull.sl", SHADER), ("shared.h", HEADER)] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let open = OpenOptions { strict: true, ..OpenOptions::default() };
        let options = ProjectOptions { open, ..ProjectOptions::default() };
        let project = Project::new(Source::File(dir.path().join("scene.rib")), options);
        Self { dir, project }
    }

    /// One whose errors do not refuse the scene.
    fn lenient() -> Self {
        let folder = Self::new();
        let project = Project::new(Source::File(folder.path("scene.rib")), ProjectOptions::default());
        Self { project, ..folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Replaces text in a file.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.path(name), text.replace(from, to)).unwrap();
    }

    fn ready(&mut self) -> Arc<ProjectState> {
        match self.project.refresh() {
            Outcome::Ready(state) => state,
            Outcome::Broken(failure) => panic!("{}", failure.render()),
            Outcome::Unchanged => panic!("nothing has changed"),
        }
    }

    fn broken(&mut self) -> String {
        match self.project.refresh() {
            Outcome::Broken(failure) => failure.render(),
            Outcome::Ready(_) => panic!("there is a new state"),
            Outcome::Unchanged => panic!("nothing has changed"),
        }
    }

    fn is_unchanged(&mut self) -> bool {
        matches!(self.project.refresh(), Outcome::Unchanged)
    }
}

/// True if two states have in common: code, shading data, tree.
fn shared(a: &ProjectState, b: &ProjectState) -> [bool; 3] {
    [
        Arc::ptr_eq(&a.program.module, &b.program.module),
        Arc::ptr_eq(&a.program.memory, &b.program.memory),
        Arc::ptr_eq(&a.bvh, &b.bvh),
    ]
}

#[test]
fn a_project_whose_files_stay_the_same_stays_the_same() {
    let mut folder = Folder::new();
    let state = folder.ready();
    assert_eq!((state.version, state.redone.tree, state.redone.code), (1, true, true));
    assert!(folder.is_unchanged());
    let name = |p: &PathBuf| p.file_name().unwrap().to_string_lossy().into_owned();
    let names: Vec<_> = folder.project.files().iter().map(name).collect();
    assert_eq!(names, ["dull.sl", "pointlight.sl", "scene.rib", "shared.h"]);
}

#[test]
fn a_shader_that_is_wrong_is_replaced_until_it_is_right() {
    let mut folder = Folder::lenient();
    folder.edit("dull.sl", "tint * shade", "* shade");
    let first = folder.ready();
    assert_eq!(first.diagnostics.error_count(), 1);
    assert!(first.scene.shader_instances.iter().any(|i| i.shader.name() == "missingsurface"));
    folder.edit("dull.sl", "* shade", "tint * shade");
    let second = folder.ready();
    assert!(second.diagnostics.is_empty());
    assert!(second.scene.shader_instances.iter().any(|i| i.shader.name() == "dull"));
    folder.edit("dull.sl", "tint * shade", "* shade");
    assert!(folder.broken().contains("error:"), "the last image stays while a shader is edited");
}

#[test]
fn a_light_or_a_displacement_that_is_missing_is_left_out() {
    let mut folder = Folder::lenient();
    folder.edit("scene.rib", "\"pointlight\"", "\"nowhere\"");
    let first = folder.ready();
    assert_eq!(first.diagnostics.error_count(), 1);
    folder.edit("scene.rib", "\"nowhere\"", "\"pointlight\"");
    folder.edit("scene.rib", "Surface \"dull\"", "Displacement \"nobumps\" Surface \"dull\"");
    let second = folder.project.refresh();
    assert!(matches!(second, Outcome::Broken(_)), "it was not missing before");
    let mut folder = Folder { project: folder.project.replaced_by(Source::File(folder.path("scene.rib"))), ..folder };
    let third = folder.ready();
    assert_eq!(third.diagnostics.error_count(), 1);
    assert!(third.scene.objects.iter().all(|o| o.attributes.displacement.is_none()));
}

#[test]
fn a_changed_shader_or_include_changes_the_code_or_what_uniform_code_gives() {
    let mut folder = Folder::new();
    let first = folder.ready();
    folder.edit("dull.sl", "Cs *", "2 * Cs *");
    let second = folder.ready();
    assert_eq!(shared(&first, &second), [false, true, true]);
    assert_eq!((second.version, &second.redone.files), (2, &vec![folder.path("dull.sl")]));
    assert!(!second.redone.scene && second.redone.code && !second.redone.memory && !second.redone.tree);
    // The product with the color is computed once an instance.
    folder.edit("shared.h", "0.5", "0.7");
    assert_eq!(shared(&second, &folder.ready()), [true, false, true]);
}

#[test]
fn a_shader_is_found_in_a_file_of_another_name() {
    let mut folder = Folder::new();
    folder.edit(
        "scene.rib",
        "Sphere",
        "Surface \"marble\" Sphere 1 -1 1 360 Surface \"dull\" Displacement \"dented\" Sphere",
    );
    // `marble` comes with the program, but the folder has one of its own.
    let more = "surface marble() { Ci = Cs; Oi = 1; }\ndisplacement dented(float depth = 0.5;) { N += depth * Ng; }";
    fs::rename(folder.path("dull.sl"), folder.path("version2.sl")).unwrap();
    folder.edit("version2.sl", "surface dull", &format!("{more}\nsurface dull"));
    let first = folder.ready();
    assert!(first.program.diagnostics.is_empty(), "{}", first.program.diagnostics.render(&first.program.sources));
    let built_in = |state: &ProjectState| state.program.sources.files().iter().any(|f| f.name.contains("marble.sl"));
    assert!(!built_in(&first));
    folder.edit("version2.sl", "Cs * (tint", "2 * Cs * (tint");
    let second = folder.ready();
    assert_eq!(shared(&first, &second), [false, true, true]);
    let again = second.link_again(second.link_options(), &mut ()).expect("the files are known");
    assert_eq!(again.module.to_string(), second.program.module.to_string());
    // Another file comes to define it: the first in order is taken, and a warning is reported.
    fs::write(folder.path("other.sl"), "surface none() {}").unwrap();
    folder.edit("version2.sl", "2 * Cs * (tint", "3 * Cs * (tint");
    folder.ready();
    folder.edit("other.sl", "none() {", "dull(float Kd = 1;) { Ci = Kd;");
    let third = folder.ready();
    let warnings = third.program.diagnostics.render(&third.program.sources);
    assert!(warnings.contains("the surface `dull` is defined in `other.sl`, `version2.sl`"), "{warnings}");
    assert!(
        warnings.contains("the one in `other.sl` is used") && warnings.matches("warning").count() == 1,
        "{warnings}"
    );
    // A file of its name comes before all others.
    fs::write(folder.path("dull.sl"), "surface dull(float Kd = 1;) { Ci = 2 * Kd; }").unwrap();
    assert!(folder.ready().program.diagnostics.is_empty());
    fs::remove_file(folder.path("dull.sl")).unwrap();
    fs::remove_file(folder.path("other.sl")).unwrap();
    folder.edit("version2.sl", "surface dull", "light dull");
    assert!(folder.broken().contains("no other `.sl` file there defines it"));
}

#[test]
fn a_changed_default_changes_the_data_alone() {
    let mut folder = Folder::new();
    let first = folder.ready();
    folder.edit("dull.sl", "0.25", "0.75");
    assert_eq!(shared(&first, &folder.ready()), [true, false, true]);
}

#[test]
fn a_changed_camera_keeps_code_data_and_tree() {
    let mut folder = Folder::new();
    let first = folder.ready();
    folder.edit("scene.rib", "[40]", "[50]");
    let second = folder.ready();
    assert_eq!(shared(&first, &second), [true; 3]);
    assert_ne!(first.program.constants, second.program.constants);
    assert!(Arc::ptr_eq(&first.scene.objects[0].mesh, &second.scene.objects[0].mesh));
    folder.edit("scene.rib", "Sphere 1 -1 1", "Sphere 2 -2 2");
    assert_eq!(shared(&second, &folder.ready()), [true, false, false]);
}

#[test]
fn a_broken_shader_or_scene_says_so_once_and_recovers() {
    let mut folder = Folder::new();
    let first = folder.ready();
    folder.edit("dull.sl", "shade(Kd)", "shdae(Kd) + nothing");
    let text = folder.broken();
    assert!(text.contains("shdae") && text.contains("nothing") && text.contains("dull.sl:3"), "{text}");
    assert!(folder.is_unchanged() && folder.project.failure().is_some());
    assert!(Arc::ptr_eq(folder.project.state().unwrap(), &first));
    folder.edit("dull.sl", "shdae(Kd) + nothing", "shade(Kd)");
    assert_eq!(shared(&first, &folder.ready()), [true; 3]);
    folder.edit("scene.rib", "WorldBegin", "WorldBegun");
    assert!(folder.broken().contains("WorldBegun"));
    folder.edit("scene.rib", "WorldBegun", "WorldBegin");
    assert_eq!(shared(&first, &folder.ready()), [true; 3]);
    assert!(folder.project.failure().is_none());
}

#[test]
fn a_missing_file_counts_once_it_is_made() {
    let mut folder = Folder::new();
    fs::remove_file(folder.path("dull.sl")).unwrap();
    assert!(folder.broken().contains("there is no surface shader `dull`"));
    fs::write(folder.path("dull.sl"), SHADER).unwrap();
    folder.ready();
    // A file that hides a shader that comes with the program counts too.
    let light = "light pointlight(float intensity = 1; point from = 0;) { illuminate(from) Cl = intensity; }";
    fs::write(folder.path("pointlight.sl"), light).unwrap();
    assert!(folder.ready().redone.code);
}

#[test]
fn a_shader_counts_once_its_missing_folder_is_made() {
    let mut folder = Folder::new();
    fs::remove_file(folder.path("dull.sl")).unwrap();
    folder.edit("scene.rib", "\"dull\"", "\"later/dull\"");
    assert!(folder.broken().contains("there is no surface shader `dull`"));
    assert!(folder.project.files().contains(&folder.path("later")), "a change of it is noticed");
    fs::create_dir(folder.path("later")).unwrap();
    fs::write(folder.path("later/dull.sl"), SHADER).unwrap();
    folder.ready();
}

#[test]
fn saves_leave_no_more_text_than_one() {
    let mut folder = Folder::new();
    let files = folder.ready().program.sources.files().len();
    for i in 0..200 {
        let text = SHADER.replace("tint *", &format!("{i} * tint *"));
        let text = if i % 10 == 9 { text.replace("Oi", "Oj") } else { text };
        fs::write(folder.path("dull.sl"), text).unwrap();
        let broken = matches!(folder.project.refresh(), Outcome::Broken(_));
        assert_eq!(broken, i % 10 == 9, "save {i}");
        assert_eq!(folder.project.sources.files().len(), files);
    }
}

fn kd(value: f32) -> Option<ParamValue> {
    Some(ParamValue::Float(vec![value]))
}

/// The instance of the shader `dull`.
fn dull(state: &ProjectState) -> &Instance {
    state.parameters.instances.iter().find(|i| i.shader == "dull").unwrap()
}

fn edited(project: &mut Project, id: InstanceId, name: &str, value: Option<ParamValue>) -> Arc<ProjectState> {
    match project.set_parameter(id, name, value) {
        Ok(Outcome::Ready(state)) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_edited_parameter_changes_data_only_and_outlives_a_reload() {
    let mut folder = Folder::new();
    let first = folder.ready();
    let id = dull(&first).id;
    let [k, tint] = &dull(&first).params[..] else { panic!("{:?}", dull(&first)) };
    assert_eq!(
        (k.name.as_str(), k.type_name, Some(&k.default), k.scene.clone()),
        ("Kd", "float", kd(0.8).as_ref(), kd(0.5))
    );
    assert_eq!((tint.type_name, &tint.scene), ("color", &None));
    let second = edited(&mut folder.project, id, "Kd", kd(0.125));
    assert_eq!(shared(&first, &second), [true, false, true]);
    assert_eq!(dull(&second).params[0].edited, kd(0.125));
    folder.edit("dull.sl", "Cs *", "2 * Cs *");
    let third = folder.ready();
    assert_eq!(shared(&second, &third), [false, true, true]);
    assert_eq!(dull(&third).params[0].value(), &kd(0.125).unwrap());
    let back = edited(&mut folder.project, id, "Kd", None);
    assert_eq!(back.program.memory, first.program.memory);
    folder.edit("dull.sl", "Kd", "Ke");
    folder.ready();
    folder.edit("dull.sl", "Ke", "Kd");
    assert_eq!(dull(&folder.ready()).params[0].edited, None, "an edit of a parameter that is gone is forgotten");
}

#[test]
fn wrong_edits_are_refused() {
    let mut folder = Folder::new();
    assert_eq!(folder.project.set_parameter(InstanceId(0), "Kd", kd(1.0)).unwrap_err(), EditError::NoScene);
    let id = dull(&folder.ready()).id;
    let refused = |project: &mut Project, id, name, value| project.set_parameter(id, name, value).unwrap_err();
    let text = Some(ParamValue::String(vec!["x".to_string()]));
    assert!(matches!(refused(&mut folder.project, id, "Kd", text), EditError::WrongType { expected: "float", .. }));
    assert!(matches!(refused(&mut folder.project, id, "Kx", kd(1.0)), EditError::UnknownParameter { .. }));
    assert!(matches!(refused(&mut folder.project, InstanceId(99), "Kd", kd(1.0)), EditError::UnknownInstance(99)));
    let size = OptionEdits { size: Some([0, 1]), ..OptionEdits::default() };
    assert!(folder.project.set_options(size).is_err());
}

#[test]
fn edited_options_change_no_code_and_no_data() {
    let mut folder = Folder::new();
    let first = folder.ready();
    let edits = OptionEdits { max_depth: Some(2), size: Some([64, 48]), ..OptionEdits::default() };
    let Ok(Outcome::Ready(second)) = folder.project.set_options(edits) else { panic!() };
    assert_eq!(shared(&first, &second), [true; 3]);
    assert_eq!((second.program.constants.max_depth, second.program.constants.width), (2.0, 64.0));
    assert_eq!((second.view().format.width, second.parameters.options.size), (64, [32, 24]));
}

#[test]
fn a_job_of_another_view_shares_all_but_the_constants() {
    use shadewright_render::{DEFAULT_BUDGET, sampling::Sampling};
    let state = Folder::new().ready();
    let mut view = state.view();
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let own = state.job(&view, sampling, DEFAULT_BUDGET);
    assert_eq!(own.program.constants, state.program.constants);
    (view.format.width, view.camera.world_to_camera.w_axis.x) = (99, 3.0);
    let other = state.job(&view, sampling, DEFAULT_BUDGET);
    assert!(Arc::ptr_eq(&own.program.module, &other.program.module) && Arc::ptr_eq(&own.bvh, &other.bvh));
    assert_eq!((other.window.width, other.program.constants.camera_origin[0]), (99, -3.0));
}

#[test]
fn edits_written_as_rib_make_the_same_scene_without_them() {
    let mut folder = Folder::new();
    // A rotated light, whose points are not those of the world.
    folder.edit("scene.rib", "LightSource", "Rotate 30 0 1 0 Translate 1 2 3 LightSource");
    folder.edit("scene.rib", "Translate 0 0 5", "Identity Translate 0 0 5");
    let first = folder.ready();
    let light = first.parameters.instances.iter().find(|i| i.shader == "pointlight").unwrap().id;
    edited(&mut folder.project, light, "from", Some(ParamValue::Point(vec![glam::Vec3::new(1.0, 4.0, -2.0)])));
    let id = dull(&first).id;
    let state = edited(&mut folder.project, id, "Kd", kd(0.3));
    let requests: Vec<String> = [light, id].map(|id| rib::instance_rib(state.parameters.instance(id).unwrap())).into();
    assert!(requests[1].starts_with("Surface \"dull\" \"float Kd\" [0.3]"), "{}", requests[1]);
    let text = fs::read_to_string(folder.path("scene.rib")).unwrap();
    let line = |start: &str| text.lines().find(|l| l.contains(start)).unwrap().split_once(start).unwrap();
    let light_line = line("LightSource");
    let text = text.replace(&format!("LightSource{}", light_line.1), requests[0].trim_end());
    let text = text.replace(&format!("Surface{}", line("Surface").1), requests[1].trim_end());
    let text = text.replace("Projection \"perspective\" \"fov\" [40]", &rib::camera_rib(&state.view()));
    fs::write(folder.path("scene.rib"), text).unwrap();
    let again = Folder {
        project: Project::new(Source::File(folder.path("scene.rib")), ProjectOptions::default()),
        dir: folder.dir,
    };
    let mut again = again;
    let read = again.ready();
    let value = |state: &ProjectState, id: InstanceId, name: &str| {
        state.parameters.instance(id).unwrap().params.iter().find(|p| p.name == name).unwrap().value().clone()
    };
    assert_eq!(value(&read, id, "Kd"), kd(0.3).unwrap());
    let ParamValue::Point(from) = value(&read, light, "from") else { panic!() };
    assert!(from[0].distance(glam::Vec3::new(1.0, 4.0, -2.0)) < 1e-5, "{from:?}");
    assert_eq!(read.view(), state.view());
}

#[test]
fn a_project_of_no_file_is_broken_until_there_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let path: &Path = &dir.path().join("scene.rib");
    let mut project = Project::new(Source::File(path.to_path_buf()), ProjectOptions::default());
    assert!(matches!(project.refresh(), Outcome::Broken(_)));
    assert!(matches!(project.refresh(), Outcome::Unchanged));
    assert_eq!(project.files(), [path]);
    fs::write(path, SCENE.replace("dull", "matte")).unwrap();
    assert!(matches!(project.refresh(), Outcome::Ready(_)));
}

#[test]
fn linking_again_takes_the_texts_of_the_state_not_of_the_disk() {
    let mut folder = Folder::new();
    let state = folder.ready();
    folder.edit("dull.sl", "shade", "shdae");
    fs::remove_file(folder.path("shared.h")).unwrap();
    let again = state.link_again(state.link_options(), &mut ()).unwrap_or_else(|f| panic!("{}", f.render()));
    assert!(again.module == state.program.module && again.memory == state.program.memory);
    let pipeline = state.link_options().pipeline.clone().only_of_linker();
    let debug = shadewright_program::LinkOptions { debug: true, pipeline, ..state.link_options().clone() };
    let with_records = state.link_again(&debug, &mut ()).unwrap_or_else(|f| panic!("{}", f.render()));
    assert!(with_records.memory == state.program.memory);
    let insts = with_records.module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    assert!(insts.into_iter().any(|i| matches!(&i.op, shadewright_ir::Op::Debug(name) if &**name == "Ci")));
}
