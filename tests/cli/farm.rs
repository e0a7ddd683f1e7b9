//! `shadewright farm`: jobs that real engines run. Open Job Description's own command line validates a
//! bundle and runs it; a Slurm of one node runs the scripts, while a program is killed and the node is
//! lost. The images have the bits of a render at once.
//!
//! The tests need `openjd` (`pip install openjd-cli`; `SHADEWRIGHT_OPENJD` names it where it is not in
//! `PATH`), and Debian's packages slurmctld, slurmd, slurm-client and munge. `tests/all.sh` installs
//! both.

use crate::common::{repository, shadewright, stderr};
use shadewright::image::file as image_file;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_shadewright");

/// Two frames of a sphere in the light of a lamp.
const SCENE: &str = "Projection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\n\
    FrameBegin 1\nWorldBegin\nLightSource \"pointlight\" 1 \"intensity\" [20] \"point from\" [-3 3 -3]\n\
    Sphere 1 -1 1 360\nWorldEnd\nFrameEnd\n\
    FrameBegin 2\nWorldBegin\nLightSource \"pointlight\" 1 \"intensity\" [20] \"point from\" [-3 3 -3]\n\
    Sphere 0.8 -0.8 0.8 360\nWorldEnd\nFrameEnd\n";

/// A folder whose name has a space and a quote, with a scene.
fn folder() -> (TempDir, PathBuf) {
    let holder = tempfile::tempdir().expect("a folder");
    let folder = holder.path().join("it's here");
    fs::create_dir(&folder).expect("the folder can be written");
    fs::create_dir(folder.join("scene")).expect("the folder can be written");
    fs::write(folder.join("scene/ball.rib"), SCENE).expect("the folder can be written");
    (holder, folder)
}

/// The arguments of a job: 2 frames, 2 tiles, 2 shares of 4 samples.
fn job<'a>(engine: &'a str, program: &'a str) -> Vec<&'a str> {
    let division = ["--tiles", "2x1", "--samples", "2", "--size", "16x12", "--spp", "4"];
    [&["farm", "scene/ball.rib", "--out", "job", "--scheduler", engine, "--program", program][..], &division].concat()
}

#[track_caller]
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = shadewright(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

#[track_caller]
fn is_refused(folder: &Path, args: &[&str], expected: &str) {
    let output = shadewright(folder, args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains(expected), "`{expected}` is not in: {said}");
}

/// Asserts that the job's images are those of a render at once.
#[track_caller]
fn has_images(folder: &Path) {
    for frame in ["1", "2"] {
        let whole =
            ["render", "scene/ball.rib", "-o", "whole.exr", "--size", "16x12", "--spp", "4", "--backend", "rpu"];
        succeeds(folder, &[&whole[..], &["--frames", frame]].concat());
        let bits = |path: &Path| {
            let image = image_file::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            image.rgba.iter().map(|pixel| pixel.map(f32::to_bits)).collect::<Vec<_>>()
        };
        let joined = folder.join(format!("job/images/ball.000{frame}.exr"));
        assert!(bits(&joined) == bits(&folder.join("whole.exr")), "frame {frame} differs");
    }
}

/// Runs the command line of Open Job Description in the job's folder.
fn openjd(folder: &Path, args: &[&str]) -> Output {
    let program = std::env::var_os("SHADEWRIGHT_OPENJD").unwrap_or_else(|| "openjd".into());
    let output = Command::new(&program)
        .args(args)
        .env("SHADEWRIGHT_CACHE", "")
        .current_dir(folder.join("job"))
        .stderr(Stdio::piped())
        .output();
    output.unwrap_or_else(|error| {
        panic!("{}: {error}; install it with `pip install openjd-cli`, and set SHADEWRIGHT_OPENJD", program.display())
    })
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn open_job_description_validates_and_runs_a_bundle() {
    let (_holder, folder) = folder();
    let said = succeeds(&folder, &[&job("openjd", PROGRAM)[..], &["--chunk", "2"]].concat());
    assert!(said.contains("wrote job, 2 images, 4 parts each, in 4 tasks"), "{said}");

    let check = openjd(&folder, &["check", "--extensions", "TASK_CHUNKING", "template.yaml"]);
    assert!(check.status.success() && stdout(&check).contains("passes validation checks"), "{}", stdout(&check));

    let run = openjd(&folder, &["run", "--extensions", "TASK_CHUNKING", "template.yaml"]);
    let said = stdout(&run);
    assert!(run.status.success(), "{said}{}", stderr(&run));
    // A chunk of both frames for each tile and share, and one that merges both.
    assert!(said.contains("Chunks run: 5"), "{said}");
    assert!(said.contains("openjd_status: frame 2, tile 2 of 2x1, share 1 of 2 of the samples"), "{said}");
    assert!(said.contains("openjd_progress: 50") && said.contains("openjd_progress: 100"), "{said}");
    assert!(!said.contains("openjd_fail"), "{said}");
    has_images(&folder);

    // The next run keeps the parts.
    let part = folder.join("job/parts/2x1-2/0001/tile-1.share-1.exr");
    let written = || fs::metadata(&part).and_then(|metadata| metadata.modified()).expect("a part");
    let before = written();
    let run = openjd(&folder, &["run", "--step", "Render", "template.yaml"]);
    assert!(run.status.success(), "{}", stdout(&run));
    assert_eq!(written(), before);

    // A part that was cut short is rendered again.
    let bytes = fs::read(&part).expect("a part");
    fs::write(&part, &bytes[..bytes.len() / 2]).expect("the part can be written");
    let merge = openjd(&folder, &["run", "--step", "Merge", "--no-run-dependencies", "template.yaml"]);
    let said = stdout(&merge);
    assert!(!merge.status.success(), "{said}");
    assert!(said.contains("openjd_fail: merging frame 1: error: ") && said.contains("tile-1.share-1.exr"), "{said}");
    let run = openjd(&folder, &["run", "--step", "Merge", "--run-dependencies", "template.yaml"]);
    assert!(run.status.success(), "{}", stdout(&run));
    has_images(&folder);

    // All that is missing is named at once.
    for name in ["tile-1.share-2.exr", "tile-2.share-1.exr"] {
        fs::remove_file(folder.join("job/parts/2x1-2/0001").join(name)).expect("a part");
    }
    let said = stdout(&openjd(&folder, &["run", "--step", "Merge", "--no-run-dependencies", "template.yaml"]));
    let line = said.lines().find(|line| line.contains("openjd_fail: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("tile 1 of 2x1, samples 2 of 2") && line.contains("tile 2 of 2x1, samples 1 of 2"), "{line}");
}

#[test]
fn a_task_of_open_job_description_reports_why_it_fails() {
    let (_holder, folder) = folder();
    succeeds(&folder, &job("openjd", PROGRAM));
    // One sample cannot be divided into two shares.
    let run = openjd(&folder, &["run", "template.yaml", "-p", "Samples=1", "-p", "Frames=2"]);
    let said = stdout(&run);
    assert!(!run.status.success(), "{said}");
    let line = said.lines().find(|line| line.contains("openjd_fail: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("frame 2, tile 1 of 2x1, share 1 of 2 of the samples: error: "), "{line}");
    assert!(line.contains("cannot be divided into 2 shares"), "{line}");
}

#[test]
fn a_still_is_divided_into_chunks_of_tiles() {
    let (_holder, folder) = folder();
    let still = SCENE.replace("FrameBegin 2\nWorldBegin", "").replace("WorldEnd\nFrameEnd\nLightSource", "LightSource");
    let still = still.replace("FrameBegin 1\n", "").replace("FrameEnd\n", "");
    fs::write(folder.join("scene/ball.rib"), still).expect("the folder can be written");
    let args = ["--out", "job", "--scheduler", "openjd", "--program", PROGRAM, "--tiles", "3x2", "--chunk", "2"];
    let said = succeeds(&folder, &[&["farm", "scene/ball.rib", "--size", "16x12", "--spp", "1"][..], &args].concat());
    assert!(said.contains("wrote job, 1 image, 6 parts each, in 4 tasks"), "{said}");
    let run = openjd(&folder, &["run", "template.yaml"]);
    assert!(run.status.success(), "{}", stdout(&run));
    succeeds(
        &folder,
        &["render", "scene/ball.rib", "-o", "whole.exr", "--size", "16x12", "--spp", "1", "--backend", "rpu"],
    );
    let [joined, whole] = ["job/images/ball.exr", "whole.exr"].map(|name| image_file::read(&folder.join(name)));
    assert!(joined.expect("an image").rgba == whole.expect("an image").rgba);
}

/// A Slurm of one node, which ends with the value.
struct Slurm {
    folder: TempDir,
}

impl Slurm {
    fn start() -> Self {
        let slurm = Self { folder: tempfile::tempdir().expect("a folder") };
        let output = slurm.script("start");
        assert!(output.status.success(), "{}", stderr(&output));
        slurm
    }

    fn script(&self, verb: &str) -> Output {
        let script = repository("tests/slurm/one-node.sh");
        // No pipe for its errors: the daemons would keep it open.
        let errors = self.folder.path().join("errors");
        let file = fs::File::create(&errors).expect("the folder can be written");
        let output = Command::new(script).arg(verb).arg(self.folder.path()).stderr(file).output();
        let output = output.expect("there is bash");
        Output { stderr: fs::read(&errors).unwrap_or_default(), ..output }
    }

    /// Runs a command of Slurm.
    #[track_caller]
    fn run<S: AsRef<std::ffi::OsStr>>(&self, program: S, args: &[&str]) -> String {
        let output = Command::new(&program)
            .args(args)
            .env("SLURM_CONF", self.folder.path().join("slurm.conf"))
            .env("SHADEWRIGHT_CACHE", "")
            .current_dir("/")
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display()));
        assert!(output.status.success(), "{}: {}", program.as_ref().display(), stderr(&output));
        stdout(&output)
    }

    /// Waits until something of the queue holds.
    #[track_caller]
    fn wait(&self, what: &str, mut holds: impl FnMut(&str) -> bool) {
        let begin = Instant::now();
        loop {
            let queue = self.run("squeue", &["--noheader", "--array", "--format=%i %T %r"]);
            if holds(&queue) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "{what}: {queue}");
            sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.script("stop");
    }
}

/// A program that runs Shadewright; when it renders tile 1 for the first time, that is killed; when it
/// renders tile 2 for the first time, it waits until its node is lost.
fn unreliable(folder: &Path) -> PathBuf {
    let path = folder.join("unreliable");
    let text = format!(
        "#!/bin/bash
case \"$*\" in
    *tiles:1/*--frames\\ 1*) [ -e '{here}/killed' ] || kills=1 ;;
    *tiles:2/*--frames\\ 1*) mkdir '{here}/waits' 2>/dev/null && sleep 100 ;;
esac
[ -n \"$kills\" ] || exec '{PROGRAM}' \"$@\"
touch '{here}/killed'
'{PROGRAM}' \"$@\" &
kill -KILL $!
wait $!
",
        here = folder.display().to_string().replace('\'', "'\\''")
    );
    fs::write(&path, text).expect("the folder can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

#[test]
fn slurm_runs_a_job_whose_tasks_are_killed_and_whose_node_is_lost() {
    let (_holder, folder) = folder();
    let program = unreliable(&folder);
    let program = program.to_str().expect("the name is UTF-8");
    succeeds(&folder, &[&job("slurm", program)[..], &["--slurm-option=--comment=a b", "--at-once", "3"]].concat());
    let slurm = Slurm::start();
    let submit = folder.join("job/submit.sh");
    let said = slurm.run(&submit, &["--nice=1"]);
    assert!(said.contains("array 1: render 1, merge 2, logs in "), "{said}");

    slurm.wait("a task waits for its node to be lost", |_| folder.join("waits").exists());
    let node = slurm.run("sinfo", &["--noheader", "--format=%n"]);
    let node = format!("NodeName={}", node.trim());
    slurm.run("scontrol", &["update", &node, "State=DOWN", "Reason=lost"]);
    // Not before what ran there has ended.
    slurm.wait("the node is down", |_| slurm.run("sinfo", &["--noheader", "--format=%T"]).trim() == "down");
    slurm.run("scontrol", &["update", &node, "State=RESUME"]);
    slurm.wait("the job ends", str::is_empty);

    assert!(folder.join("killed").exists(), "no task was killed");
    let logs = folder.join("job/logs/0001");
    let all =
        fs::read_dir(&logs).expect("logs").map(|log| fs::read_to_string(log.expect("a log").path()).expect("text"));
    let all: String = all.collect();
    assert!(all.contains("failed with status 137") && all.contains("queued again"), "{all}");
    assert!(all.contains("DUE TO NODE FAILURE"), "{all}");
    has_images(&folder);

    // Again with a part that is cut short, from another folder: it alone is rendered.
    let part = |name: &str| folder.join("job/parts/2x1-2/0002").join(name);
    let [cut, kept] = ["tile-2.share-1.exr", "tile-2.share-2.exr"].map(part);
    let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).expect("a part");
    let before = written(&kept);
    fs::write(&cut, "").expect("the part can be written");
    fs::remove_dir_all(folder.join("job/images")).expect("there are images");
    slurm.run(&submit, &[]);
    slurm.wait("the job ends", str::is_empty);
    assert_eq!(written(&kept), before);
    has_images(&folder);
}

#[test]
fn a_job_too_large_for_slurm_is_refused_by_its_script() {
    let (_holder, folder) = folder();
    succeeds(&folder, &job("slurm", PROGRAM));
    // A cluster that holds 8 jobs; there are 8 tasks and 2 merges.
    let commands = folder.join("commands");
    fs::create_dir(&commands).expect("the folder can be written");
    for (name, text) in [("scontrol", "echo 'MaxJobCount = 8'"), ("sbatch", "touch submitted; echo 1")] {
        let path = commands.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let path = format!("{}:{}", commands.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new(folder.join("job/submit.sh")).env("PATH", path).output().expect("there is bash");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("these are 10 jobs, and Slurm holds 8"), "{}", stderr(&output));
    assert!(!folder.join("job/submitted").exists());
}

#[test]
fn large_jobs_are_arrays_of_whole_frames_with_a_merge_each() {
    let (_holder, folder) = folder();
    succeeds(&folder, &job("slurm", PROGRAM));
    let commands = folder.join("commands");
    fs::create_dir(&commands).expect("the folder can be written");
    let sbatch = "echo \"$*\" >>sbatch.log; wc -l <sbatch.log";
    // An array holds 6 tasks: those of one frame are 4; or 3, so that a frame takes two arrays.
    for (most, arrays) in [(6, vec!["0-3", "0-0", "0-3", "0-0"]), (3, vec!["0-2", "0-0", "0-0", "0-2", "0-0", "0-0"])] {
        for (name, text) in [("scontrol", format!("echo 'MaxArraySize = {most}'")), ("sbatch", sbatch.to_string())] {
            let path = commands.join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        let path = format!("{}:{}", commands.display(), std::env::var("PATH").unwrap_or_default());
        let log = folder.join("job/sbatch.log");
        let _ = fs::remove_file(&log);
        let output = Command::new(folder.join("job/submit.sh")).env("PATH", path).output().expect("there is bash");
        assert!(output.status.success(), "{}", stderr(&output));
        let log = fs::read_to_string(log).expect("a log");
        let found = log.lines().map(|line| {
            let (_, rest) = line.split_once("--array=").expect("each is an array");
            rest.split(' ').next().unwrap_or_default()
        });
        assert_eq!(found.collect::<Vec<_>>(), arrays, "{log}");
        let merges = log.lines().filter(|line| line.contains("--dependency=afterany:")).count();
        assert_eq!(merges, 2, "{log}");
    }
}

#[test]
fn a_job_that_cannot_be_rendered_is_refused() {
    let (_holder, folder) = folder();
    let with = |more: &[&str]| [&job("openjd", PROGRAM)[..], more].concat().into_iter().map(String::from).collect();
    for (args, expected) in [
        (with(&["--frames", "3..9"]), "the scene has no frame from 3 to 9: its frames lie between 1 and 2"),
        (with(&["--image", "ball"]), "ball"),
        (with(&["--image", "a/ball.exr"]), "is a path"),
        (with(&["--", "--wrong"]), "what follows `--` are options of `shadewright render`"),
        (with(&["--", "-o", "x.exr"]), "cannot be used multiple times"),
        (with(&["--", "--reuse"]), "tasks have --out, --part and --reuse of their own"),
        (with(&["--", "--frames", "2"]), "--frames, --size, --spp and --backend stand before `--`"),
        (with(&["--program", ""]), "--program"),
        (with(&["--at-once", "3"]), "--slurm-option and --at-once are for --scheduler slurm"),
        (with(&["--slurm-option=--x"]), "--slurm-option and --at-once are for --scheduler slurm"),
        (with(&["--", "-I", "shaders"]), "-I"),
        (with(&["--", "--watch"]), "'--watch'"),
        (with(&["--", "--resume", "film"]), "'--resume <FILE>'"),
        (with(&["--", "--clamp", "{{x}}"]), "{{x}}"),
    ] as [(Vec<String>, &str); 14]
    {
        is_refused(&folder, &args.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        assert!(!folder.join("job").exists(), "{args:?}");
    }
    let small = ["farm", "scene/ball.rib", "-o", "job", "--scheduler", "slurm", "--size", "16x12"];
    is_refused(&folder, &[&small[..], &["--spp", "1", "--samples", "2"]].concat(), "cannot be divided into 2 shares");
    is_refused(&folder, &[&small[..], &["--tiles", "17x1"]].concat(), "cannot be divided into 17x1 tiles");
    is_refused(&folder.join("scene"), &["farm", "ball.rib", "-o", "job", "--scheduler", "slurm"], "for example ../job");
    is_refused(
        &folder,
        &[&small[..], &["--", "--sampler", "adaptive"]].concat(),
        "--sampler adaptive does not support",
    );
    let place = ["farm", "scene/ball.rib", "-o", "no/job", "--scheduler", "slurm"];
    is_refused(&folder, &place, "no/job: the folder no does not exist; create it first");
    is_refused(&folder, &["farm", "no.rib", "-o", "job", "--scheduler", "slurm"], "no file `no.rib`");
    let entries = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(entries, 1, "the folder of the scene alone");
}

#[test]
fn a_folder_keeps_its_job() {
    let (_holder, folder) = folder();
    fs::create_dir(folder.join("job")).expect("the folder can be written");
    fs::write(folder.join("job/notes"), "mine").expect("the folder can be written");
    is_refused(&folder, &job("slurm", PROGRAM), "was not written by `shadewright farm`");
    fs::remove_file(folder.join("job/notes")).expect("it is there");

    // The same job, for both engines, and again.
    succeeds(&folder, &job("slurm", PROGRAM));
    succeeds(&folder, &job("openjd", PROGRAM));
    succeeds(&folder, &[&job("slurm", PROGRAM)[..], &["--chunk", "2"]].concat());
    let names = ["farm.json", "scene", "settings.sh", "submit.sh", "task.sh", "template.yaml"];
    let mut found: Vec<_> =
        fs::read_dir(folder.join("job")).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
    found.sort();
    assert_eq!(found, names);
}
