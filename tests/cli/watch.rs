//! `--render OUT --watch`: an image that follows its files, as an editor or a person uses it.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const SCENE: &str = "\
Format 16 12 1
PixelSamples 1 1
Projection \"perspective\" \"fov\" [40]
WorldBegin
Translate 0 0 3
Surface \"plain\"
Sphere 1 -1 1 360
WorldEnd
";

const SHADER: &str = "surface plain(color tint = color(1, 0, 0);) { Ci = tint; Oi = 1; }\n";

/// How long a test waits for what must come.
const LONG: Duration = Duration::from_secs(120);

/// A program that watches a scene in a folder of its own.
struct Watching {
    folder: tempfile::TempDir,
    program: Child,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Watching {
    fn start(extra: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("scene.rib"), SCENE).expect("a scene");
        fs::write(folder.path().join("plain.sl"), SHADER).expect("a shader");
        let mut program = Command::new(env!("CARGO_BIN_EXE_shadewright"))
            .current_dir(folder.path())
            .args(["scene.rib", "--render", "out.png", "--watch", "--backend", "rpu"])
            .args(extra)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = lines_of(program.stdout.take().expect("its output"));
        let errors = lines_of(program.stderr.take().expect("its messages"));
        Self { folder, program, lines, errors }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(LONG).expect("a line of output")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).expect("a line is a JSON object")
    }

    /// Red, green and blue in the middle of the image.
    fn color(&self) -> [f32; 3] {
        let image = shadewright::image::file::read(&self.path("out.png")).expect("an image");
        let [r, g, b, _] = image.rgba[(6 * image.width + 8) as usize];
        [r, g, b]
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The lines of a stream, as they come.
fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.contains(from), "{text}");
    // As editors save: another file, renamed over the old one.
    let beside = path.with_extension("new");
    fs::write(&beside, text.replace(from, to)).expect("a file is written");
    fs::rename(&beside, path).expect("a file is renamed");
}

#[test]
fn every_saved_change_makes_a_image_and_a_line() {
    let watching = Watching::start(&[]);
    let first = watching.line();
    assert!(first.starts_with("out.png: 16x12, 1 sample, ") && first.ends_with(" s"), "{first}");
    assert_eq!(watching.color(), [1.0, 0.0, 0.0]);
    replace(&watching.path("plain.sl"), "color(1, 0, 0)", "color(0, 1, 0)");
    let second = watching.line();
    assert!(second.ends_with(" s (plain.sl changed)"), "{second}");
    assert_eq!(watching.color(), [0.0, 1.0, 0.0]);
    replace(&watching.path("scene.rib"), "16 12", "32 24");
    let third = watching.line();
    assert!(third.starts_with("out.png: 32x24") && third.ends_with("(scene.rib changed)"), "{third}");
}

#[test]
fn errors_leave_the_image_and_are_told_as_excerpts() {
    let watching = Watching::start(&[]);
    watching.line();
    replace(&watching.path("plain.sl"), "Ci = tint", "Ci = tnit");
    let mut text = String::new();
    while !text.contains("tnit") || !text.contains('^') {
        text += &watching.errors.recv_timeout(LONG).expect("a message");
        text.push('\n');
    }
    assert!(text.contains("plain.sl:1:"), "{text}");
    assert_eq!(watching.color(), [1.0, 0.0, 0.0]);
    replace(&watching.path("plain.sl"), "Ci = tnit", "Ci = 1 - tint");
    watching.line();
    assert_eq!(watching.color(), [0.0, 1.0, 1.0]);
}

#[test]
fn editors_get_one_json_object_a_line_with_the_messages_that_hold() {
    let watching = Watching::start(&["--json"]);
    let first = watching.json();
    let fields = ["event", "image"].map(|field| first[field].as_str().expect("a text"));
    assert_eq!(fields, ["image", "out.png"]);
    assert_eq!((first["width"].as_u64(), first["samples"].as_u64()), (Some(16), Some(1)));
    assert_eq!((&first["diagnostics"], &first["changed"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    replace(&watching.path("plain.sl"), "Ci = tint; Oi = 1;", "\n  Ci = tnit;\n  Oi = one;\n");
    let broken = watching.json();
    assert_eq!(broken["event"], "errors");
    let list = broken["diagnostics"].as_array().expect("a list");
    let place = |d: &Value| ["line", "column", "end_column"].map(|field| d[field].as_u64().expect("a number"));
    assert_eq!(list.len(), 2, "{broken}");
    assert_eq!((place(&list[0]), place(&list[1])), ([2, 8, 12], [3, 8, 11]));
    assert!(
        list.iter().all(|d| d["severity"] == "error" && d["file"].as_str().is_some_and(|f| f.ends_with("plain.sl")))
    );
    assert!(list[0]["message"].as_str().is_some_and(|text| text.contains("tnit")), "{broken}");
    assert!(list[0]["hints"][0].as_str().is_some_and(|hint| hint.contains("tint")), "{broken}");
    replace(&watching.path("plain.sl"), "tnit", "tint");
    assert_eq!(watching.json()["diagnostics"].as_array().map(Vec::len), Some(1));
    replace(&watching.path("plain.sl"), "one", "1");
    let fixed = watching.json();
    assert_eq!((&fixed["event"], &fixed["changed"][0]), (&"image".into(), &"plain.sl".into()));
}

#[test]
fn a_scene_that_is_not_there_yet_is_waited_for() {
    let watching = Watching::start(&["--json"]);
    watching.line();
    fs::remove_file(watching.path("scene.rib")).expect("the scene is removed");
    let gone = watching.json();
    assert!(gone["diagnostics"][0]["message"].as_str().is_some_and(|text| text.contains("cannot find")), "{gone}");
    fs::write(watching.path("scene.rib"), SCENE.replace("16 12", "8 6")).expect("a scene");
    assert_eq!(watching.json()["width"].as_u64(), Some(8));
}

#[test]
fn what_ends_after_one_image_cannot_be_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    for other in [["--stats"].as_slice(), &["--compare", "b.png"], &["--preview", "b.png"]] {
        let output = crate::common::shadewright(folder.path(), &[&["--render", "a.png", "--watch"], other].concat());
        assert_eq!(output.status.code(), Some(2), "{}", crate::common::stderr(&output));
    }
}
