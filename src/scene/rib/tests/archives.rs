//! Scenes in several files, compressed files, meshes.

use super::{STRICT, errors_after};
use crate::{OpenOptions, Scene, open, open_builtin};
use glam::Vec3;
use shadewright_base::text::source::SourceMap;
use std::io::Write;
use std::path::{Path, PathBuf};

const BALL: &str = "Sphere 1 -1 1 360";
const PYRAMID: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

fn try_open(path: &Path, options: &OpenOptions) -> Result<Scene, String> {
    let mut sources = SourceMap::new();
    open(path, options, &mut sources).map(|o| o.scene).map_err(|e| e.render(&sources))
}

fn opened(path: &Path) -> Scene {
    try_open(path, &OpenOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn error(path: &Path) -> String {
    try_open(path, &STRICT).map(|_| ()).unwrap_err()
}

#[test]
fn archives_are_read_in_place_from_beside_the_file_or_the_search_path() {
    let dir = folder(&[
        (
            "main.rib",
            "Option \"searchpath\" \"archive\" [\"lib\"] WorldBegin ReadArchive \"parts/a.rib\" ReadArchive \"b.rib\" WorldEnd",
        ),
        ("parts/a.rib", "Translate 1 0 0 ReadArchive \"c.rib\""),
        ("parts/c.rib", BALL),
        ("lib/b.rib", BALL),
    ]);
    let scene = opened(&dir.path().join("main.rib"));
    assert_eq!(scene.objects.len(), 2);
    assert!(scene.objects.iter().all(|o| o.mesh.bounds().unwrap().1.x > 1.9));
}

#[test]
fn an_archive_may_be_read_many_times_and_is_kept_once() {
    let dir = folder(&[
        ("main.rib", "WorldBegin ReadArchive \"a.rib\" Translate 3 0 0 ReadArchive \"a.rib\" WorldEnd"),
        ("a.rib", BALL),
    ]);
    let mut sources = SourceMap::new();
    let scene = open(&dir.path().join("main.rib"), &OpenOptions::default(), &mut sources).unwrap().scene;
    assert_eq!((scene.objects.len(), sources.files().len()), (2, 2));
}

#[test]
fn a_missing_archive_says_where_it_was_looked_for() {
    let dir = folder(&[(
        "main.rib",
        "Option \"searchpath\" \"archive\" [\"lib\"]\nWorldBegin\nReadArchive \"no.rib\"\nWorldEnd",
    )]);
    let shown = error(&dir.path().join("main.rib"));
    assert!(shown.starts_with("error: ReadArchive: cannot find `no.rib`"), "{shown}");
    assert!(shown.contains("main.rib:3:1"), "{shown}");
    assert!(shown.contains(&format!("hint: looked in {}\n", dir.path().display())), "{shown}");
    assert!(shown.contains(&format!("looked in {}\n", dir.path().join("lib").display())), "{shown}");
}

#[test]
fn cycles_of_archives_are_errors() {
    let dir = folder(&[
        ("main.rib", "WorldBegin ReadArchive \"a.rib\" WorldEnd"),
        ("a.rib", "ReadArchive \"./b.rib\""),
        ("b.rib", "ReadArchive \"a.rib\""),
    ]);
    let shown = error(&dir.path().join("main.rib"));
    assert!(shown.contains("a.rib` reads itself, directly or through others"), "{shown}");
}

#[test]
fn a_long_chain_of_archives_is_an_error() {
    let chain: Vec<(String, String)> =
        (0..40).map(|i| (format!("{i}.rib"), format!("ReadArchive \"{}.rib\"", i + 1))).collect();
    let mut files: Vec<(&str, &str)> = chain.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    files.push(("main.rib", "WorldBegin ReadArchive \"0.rib\" WorldEnd"));
    let shown = error(&folder(&files).path().join("main.rib"));
    assert!(shown.contains("archives are nested more than 32 deep"), "{shown}");
}

#[test]
fn archives_that_multiply_end_in_an_error() {
    let many = |to: &str| format!("ReadArchive \"{to}\"\n").repeat(30);
    let dir = folder(&[
        ("main.rib", &format!("WorldBegin {} WorldEnd", many("a.rib"))),
        ("a.rib", &many("b.rib")),
        ("b.rib", &many("c.rib")),
        ("c.rib", "Color 1 1 1"),
    ]);
    let shown = error(&dir.path().join("main.rib"));
    assert!(shown.contains("more than 10000 archives in one scene"), "{shown}");
}

#[test]
fn archives_have_at_most_4_gibibytes_each_time_counted() {
    let archive = "ArchiveBegin \"a\" Sphere 1 -1 1 360 ArchiveEnd";
    let text = format!("WorldBegin {archive} ReadArchive \"a\" ReadArchive \"a\" WorldEnd");
    let shown = errors_after(|r| r.archives.bytes = (4 << 30) - 30, &text);
    assert!(shown.contains("archives of more than 4294967296 bytes in one scene"), "{shown}");
}

#[test]
fn an_archive_is_read_as_if_it_stood_in_place() {
    let dir = folder(&[
        (
            "main.rib",
            "ReadArchive \"camera.rib\" ReadArchive \"lights.rib\" Sphere 1 -1 1 360 AttributeEnd ReadArchive \"end.rib\"",
        ),
        ("camera.rib", "Translate 0 0 5 WorldBegin"),
        ("lights.rib", "AttributeBegin IfBegin \"1\" Color 1 0 0"),
        ("end.rib", "IfEnd WorldEnd"),
    ]);
    let scene = try_open(&dir.path().join("main.rib"), &OpenOptions::default()).unwrap();
    assert_eq!((scene.objects[0].color, scene.camera.world_to_camera.w_axis.z), (Vec3::X, 5.0));
}

#[test]
fn what_an_archive_opens_must_be_closed_somewhere() {
    let dir = folder(&[
        ("main.rib", "WorldBegin ReadArchive \"a.rib\" Sphere 1 -1 1 360 WorldEnd"),
        ("a.rib", "Color 1 0 0\nAttributeBegin"),
    ]);
    let shown = error(&dir.path().join("main.rib"));
    assert!(shown.contains("`WorldEnd` cannot close `AttributeBegin`"), "{shown}");
    assert!(shown.contains("a.rib:2:1"), "{shown}");
}

#[test]
fn files_elsewhere_need_permission() {
    let dir =
        folder(&[("scene/main.rib", "WorldBegin ReadArchive \"../other/b.rib\" WorldEnd"), ("other/b.rib", BALL)]);
    let path = dir.path().join("scene/main.rib");
    let shown = error(&path);
    assert!(shown.contains("access to `"), "{shown}");
    assert!(shown.contains("to allow it: --allow-read "), "{shown}");
    let options = OpenOptions { allow_read: vec![dir.path().join("other")], ..STRICT };
    assert_eq!(try_open(&path, &options).unwrap().objects.len(), 1);
}

#[test]
fn gzipped_scenes_and_archives_are_read_whatever_they_are_called() {
    let dir = folder(&[("main.rib", "WorldBegin ReadArchive \"ball.rib.gz\" WorldEnd")]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(BALL.as_bytes()).unwrap();
    std::fs::write(dir.path().join("ball.rib.gz"), encoder.finish().unwrap()).unwrap();
    assert_eq!(opened(&dir.path().join("main.rib")).objects.len(), 1);
}

#[test]
fn meshes_are_objects_with_the_current_attributes() {
    let dir = folder(&[
        ("main.rib", "WorldBegin Color 1 0 0 Surface \"matte\" Translate 5 0 0 ReadArchive \"m.obj\" WorldEnd"),
        ("m.obj", PYRAMID),
    ]);
    let scene = opened(&dir.path().join("main.rib"));
    let object = &scene.objects[0];
    assert_eq!((&*object.name, object.color), ("m.obj", glam::Vec3::X));
    assert!(object.surface.is_some());
    assert_eq!(object.mesh.triangles.len(), 4);
    assert_eq!(object.mesh.bounds().unwrap().0.x, 5.0);
}

#[test]
fn a_bare_mesh_is_framed_lit_and_shaded() {
    let dir = folder(&[("m.obj", PYRAMID)]);
    let scene = opened(&dir.path().join("m.obj"));
    assert_eq!((scene.objects.len(), scene.triangle_count(), scene.lights.len()), (1, 4, 3));
    assert_eq!(scene.objects[0].lights.len(), 3);
    assert!(scene.shader_instances.iter().any(|s| s.shader == "plastic"));
}

#[test]
fn the_size_of_the_command_line_wins_and_is_checked() {
    let dir = folder(&[("s.rib", "Format 64 64 1 WorldBegin Sphere 1 -1 1 360 WorldEnd"), ("m.obj", PYRAMID)]);
    for name in ["s.rib", "m.obj"] {
        let path = dir.path().join(name);
        let sized = |size| try_open(&path, &OpenOptions { size: Some(size), ..STRICT });
        let scene = sized((100, 50)).unwrap();
        assert_eq!((scene.format.width, scene.format.height), (100, 50));
        assert!(sized((0, 50)).unwrap_err().contains("each side must be 1 to 16384 pixels"));
        assert!(sized((100_000, 100_000)).is_err());
    }
}

#[test]
fn what_is_no_scene_file_is_a_clear_error() {
    let dir = folder(&[
        ("empty.rib", ""),
        ("empty.ply", ""),
        ("blank.rib", "\n"),
        ("text.ply", "hello\n"),
        ("no.obj", "# nothing\n"),
        ("other.glb", "glTF"),
        ("within.rib", "WorldBegin ReadArchive \"other.glb\" WorldEnd"),
    ]);
    let message = |name: &str| error(&dir.path().join(name));
    assert!(message("none.rib").starts_with("error: cannot find `"), "{}", message("none.rib"));
    assert!(message("none.rib").contains("hint: looked in "));
    assert!(message("").contains("is a folder, not a file"));
    assert!(message("empty.rib").contains("empty.rib` is empty"));
    assert!(message("empty.ply").contains("empty.ply` is empty"));
    assert!(message("blank.rib").contains("holds no RIB request"));
    assert!(message("text.ply").contains("does not start with the line `ply`"));
    assert!(message("no.obj").contains("holds no faces"));
    assert!(message("within.rib").contains("`other.glb` is a glTF scene, which cannot stand within another"));
}

#[test]
fn built_in_scenes_read_no_files_and_unknown_ones_list_the_known() {
    let mut sources = SourceMap::new();
    let shown = open_builtin("nothing", &OpenOptions::default(), &mut sources).unwrap_err().render(&sources);
    assert!(shown.contains("there are: showcase, "), "{shown}");
    assert!(
        super::errors("WorldBegin ReadArchive \"/etc/hostname\" WorldEnd").contains("a built-in scene reads no files")
    );
}

/// A scanned mesh, which stays outside the repository.
///
/// # Panics
/// When it is not there; `tests/all.sh` leaves out tests with `stanford_bunny` in their name then,
/// and says so.
fn scan(name: &str) -> PathBuf {
    let folder = std::env::var_os("SHADEWRIGHT_MESHES").map_or_else(
        || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared/meshes"),
        PathBuf::from,
    );
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing; set SHADEWRIGHT_MESHES to the folder that holds {name}", path.display());
    path
}

#[test]
fn the_stanford_bunny_opens_whole_with_a_smooth_normal_at_every_vertex() {
    let scene = opened(&scan("bunny.ply"));
    let mesh = &scene.objects[0].mesh;
    assert_eq!(mesh.triangles.len(), 69_451);
    assert_eq!(mesh.normals.len(), mesh.positions.len());
    assert!(mesh.positions.len() < 45_000, "{}", mesh.positions.len());
    assert!(mesh.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-4));
}

#[test]
fn texts_of_other_systems_are_read() {
    let text = "\u{feff}##RenderMan RIB\rWorldBegin # a comment\rPolygon \"P\" [0 0 0 1 0 0 0 1 0]\rWorldEnd\r\u{1a}";
    assert_eq!(super::scene(text).triangle_count(), 1);
}
