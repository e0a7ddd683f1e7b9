//! `shadewright farm SCENE --out DIR`: jobs for the schedulers of render farms.

use super::args::{Command, FarmArgs, Frames, RenderArgs, SceneArgs, Scheduler, parse};
use super::failure::Failure;
use super::frames::{self, Sequence};
use super::input::{job_of, open_options, open_project};
use super::pack::packed;
use super::render::shadow_map;
use serde::Serialize;
use serde_json::Value;
use shadewright::disk;
use shadewright::farm::{self, File, FrameSet, Job, Settings, openjd, slurm};
use shadewright::image::file as image_file;
use shadewright::pack;
use shadewright::render::batches::Batches;
use shadewright::render::part::Share;
use shadewright::scene::OpenOptions;
use shadewright::text::shell::word;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder of the scene in the folder of a job.
const SCENE: &str = "scene";
/// The file by which the folder of a job is known: it holds a [`Record`].
const RECORD: &str = "farm.json";

/// A job as it is kept in its folder, for people and scripts.
#[derive(Serialize)]
struct Record<'a> {
    /// The version of the program that wrote it.
    version: &'static str,
    /// The job.
    job: &'a Job,
}

/// Writes the job.
pub fn run(args: &FarmArgs) -> Result<(), Failure> {
    check_options(args)?;
    let render = task_of(args)?;
    let frames = frames_of(&render)?;
    let scene =
        farm::Scene { folder: SCENE.to_string(), file: file_name(&args.scene)?.to_string(), shaders: Vec::new() };
    let job = Job {
        name: scene.file.clone(),
        scene,
        frames,
        grid: args.tiles,
        shares: args.samples,
        chunk: args.chunk,
        image: image_name(args)?,
        program: args.program.clone(),
        cache: args.cache.clone(),
        settings: Settings {
            samples: args.spp,
            size: args.size.size.map(|size| [size.0, size.1]),
            backend: args.backend.name().to_string(),
            options: args.options.clone(),
        },
    };
    // What is wrong with names is found before the scene is read.
    files_of(args, &job)?;
    check_place(&args.out, &args.scene)?;
    check_task(args, &render.scene, job.frames.as_ref())?;
    let job = write(args, &render.scene, job)?;
    report(args, &job);
    Ok(())
}

/// The files of a job, but for its scene.
fn files_of(args: &FarmArgs, job: &Job) -> Result<Vec<File>, Failure> {
    let files = match args.scheduler {
        Scheduler::Openjd => openjd::bundle(job),
        Scheduler::Slurm => {
            slurm::scripts(job, &slurm::SlurmOptions { sbatch: args.slurm_options.clone(), at_once: args.at_once })
        }
    };
    files.map_err(|error| Failure::input(format!("error: {error}")))
}

/// Checks that the folder can be made, and is not in that of the scene, which may be searched for its
/// files.
fn check_place(out: &Path, scene: &Path) -> Result<(), Failure> {
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(place) = fs::canonicalize(parent) else {
        let (out, parent) = (out.display(), parent.display());
        return Err(Failure::input(format!("error: {out}: the folder {parent} does not exist; create it first")));
    };
    let scene = fs::canonicalize(scene).map_err(|error| failed(scene, &error))?;
    match scene.parent() {
        Some(folder) if place.starts_with(folder) => Err(Failure::input(format!(
            "error: {} lies in the scene's folder {}\nhint: name a folder outside of it, for example ../{}",
            out.display(),
            folder.display(),
            out.file_name().unwrap_or_default().display()
        ))),
        _ => Ok(()),
    }
}

/// The failure of refused options after `--`: the problem, and what to do.
fn refused(error: &clap::Error, hint: &str) -> Failure {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or(&text).trim_end();
    Failure::input(format!("{text}\nhint: {hint}"))
}

/// Checks that what follows `--` repeats no option that the scripts may give.
fn check_options(args: &FarmArgs) -> Result<(), Failure> {
    const OF_SCRIPTS: &str =
        "shadewright render scene -o part.exr --reuse --part 1/1 --backend rpu --size 1x1 --spp 1 --frames 1";
    let words = OF_SCRIPTS.split(' ').chain(args.options.iter().map(String::as_str));
    match parse(words) {
        Err(error) if error.kind() == clap::error::ErrorKind::ArgumentConflict => Err(refused(
            &error,
            "tasks have --out, --part and --reuse of their own; --frames, --size, --spp and --backend stand before `--`",
        )),
        // Other mistakes are those of the task itself.
        _ => Ok(()),
    }
}

/// The arguments of `render` that a task has, but for its part. They are parsed so that a mistake is
/// found here, and not by each task.
fn task_of(args: &FarmArgs) -> Result<RenderArgs, Failure> {
    let mut words = vec!["shadewright".into(), "render".into(), args.scene.clone().into_os_string()];
    let mut push = |option: &str, value: String| words.extend([option.into(), value.into()]);
    push("--out", "part.exr".to_string());
    push("--part", "1/1".to_string());
    push("--backend", args.backend.name().to_string());
    if let Some(size) = args.size.size {
        push("--size", format!("{}x{}", size.0, size.1));
    }
    if let Some(spp) = args.spp {
        push("--spp", spp.to_string());
    }
    if let Some(Frames { first, last }) = args.frames {
        push("--frames", format!("{first}..{last}"));
    }
    words.extend(args.options.iter().map(Into::into));
    let cli = parse(words).map_err(|error| refused(&error, "what follows `--` are options of `shadewright render`"))?;
    let Some(Command::Render(mut render)) = cli.command else {
        return Err(Failure::input("error: what follows `--` are no options of `shadewright render`"));
    };
    Failure::for_options(
        &[
            (!render.scene.shaders.shader_paths.is_empty(), "--shader-path (-I)"),
            (!render.scene.file.access.allow_read.is_empty(), "--allow-read"),
        ],
        |option| format!("error: {option} stands before `--`: `farm` looks for the files, and the nodes need not"),
    )?;
    render.scene.shaders.clone_from(&args.shaders);
    render.scene.file.access.allow_read.clone_from(&args.allow_read);
    Ok(*render)
}

/// The frames of the job; `None` for a still. Tasks render the shadow maps of earlier frames for
/// themselves.
fn frames_of(render: &RenderArgs) -> Result<Option<FrameSet>, Failure> {
    let Sequence { mut frames, depth_frames, .. } = frames::sequence(&render.scene, false)?;
    if frames.is_empty() {
        return Ok(render.scene.moment.frames.and_then(|range| FrameSet::new(vec![range.first])));
    }
    frames.retain(|frame| !depth_frames.contains(frame));
    let set = FrameSet::new(frames);
    set.map(Some).ok_or_else(|| Failure::input("error: --frames: all of these frames are shadow maps"))
}

/// Reads and links the first frame, as the tasks will, and checks that the image can be divided.
fn check_task(args: &FarmArgs, scene: &SceneArgs, frames: Option<&FrameSet>) -> Result<(), Failure> {
    let first = frames.and_then(|set| set.numbers().first());
    let mut scene = scene.clone();
    scene.moment.frames = first.map(|&first| Frames { first, last: first });
    let (_, state) = open_project(&scene)?;
    if shadow_map(&state).is_some() && first.is_some() {
        return Err(Failure::input("error: --frames: this frame is a shadow map"));
    }
    let job = job_of(&scene, &state)?;
    let share = Share { tiles: args.tiles, of_samples: args.samples, ..Share::WHOLE };
    let divided = share.split(job.window, Batches::new(job.sampling.count()));
    divided.map(drop).map_err(|error| Failure::input(format!("error: --tiles, --samples: {error}")))
}

/// Packs the scene into the folder of a job, which then has its name and its folders of shaders.
fn pack_scene(folder: &Path, scene: &SceneArgs, path: &Path, job: &mut Job) -> Result<(), Failure> {
    let options = pack::PackOptions {
        open: OpenOptions { frame: None, ..open_options(scene) },
        shader_paths: scene.shaders.shader_paths.clone(),
        frames: scene.moment.frames.map(|Frames { first, last }| [first, last]),
        dry_run: false,
    };
    let packed = packed(path, &folder.join(SCENE), &options)?;
    let missing = packed.manifest.missing.len();
    if missing > 0 {
        eprint!("{}", packed.diagnostics.render(&packed.sources));
        eprintln!("warning: {missing} files of the scene are nowhere: the images will lack them");
    }
    job.scene.file = packed.manifest.scene;
    let mut options = packed.manifest.options.into_iter();
    // The other one, --allow-run, is with the options of the tasks.
    while let Some(option) = options.next() {
        if option == "-I" {
            job.scene.shaders.extend(options.next());
        }
    }
    Ok(())
}

fn image_name(args: &FarmArgs) -> Result<String, Failure> {
    let name = match &args.image {
        Some(name) => name.clone(),
        None => {
            let stem = args.scene.file_stem().map(Path::new).unwrap_or(Path::new("image"));
            format!("{}.exr", text(stem)?)
        }
    };
    image_file::Format::from_path(Path::new(&name))?;
    Ok(name)
}

/// Writes the folder of a job. A new one appears when it is complete; in that of a job files are
/// replaced. Parts stay: a task that finds one of another image renders it again.
fn write(args: &FarmArgs, scene: &SceneArgs, mut job: Job) -> Result<Job, Failure> {
    let out = &args.out;
    let expected = serde_json::to_value(&job).map_err(anyhow::Error::from)?;
    let mut fill = |folder: &Path| {
        pack_scene(folder, scene, &args.scene, &mut job)?;
        let files = files_of(args, &job)?;
        let record = Record { version: env!("CARGO_PKG_VERSION"), job: &job };
        write_files(folder, &record, &files)
    };
    match fs::read_dir(out) {
        Ok(_) => {
            let _lock = disk::lock_folder(out).map_err(|error| match error.kind() {
                ErrorKind::WouldBlock => {
                    Failure::input(format!("error: {}: another `shadewright farm` writes this folder", out.display()))
                }
                _ => failed(out, &error),
            })?;
            let has_files = fs::read_dir(out).map_err(|error| failed(out, &error))?.next().is_some();
            if has_files {
                check_ours(out, &expected)?;
            }
            fill(out)?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => write_new(out, fill)?,
        Err(error) => return Err(failed(out, &error)),
    }
    Ok(job)
}

/// Writes a folder beside `out`, and gives it that name.
fn write_new(out: &Path, fill: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let name =
        out.file_name().ok_or_else(|| Failure::input(format!("error: {}: not a name of a folder", out.display())))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let folder = out.with_file_name(hidden);
    fs::create_dir(&folder).map_err(|error| failed(out, &error))?;
    let written = fill(&folder).and_then(|()| fs::rename(&folder, out).map_err(|error| failed(out, &error)));
    if written.is_err() {
        // The error is what counts; a folder that cannot be removed is hidden.
        let _ = fs::remove_dir_all(&folder);
    }
    written
}

fn write_files(folder: &Path, record: &Record, files: &[File]) -> Result<(), Failure> {
    let mut content = serde_json::to_string_pretty(record).map_err(anyhow::Error::from)?;
    content.push('\n');
    image_file::replace_bytes(&folder.join(RECORD), content.as_bytes())?;
    for file in files {
        let path = folder.join(file.name);
        image_file::replace_bytes(&path, file.text.as_bytes())?;
        #[cfg(unix)]
        if file.is_executable {
            use std::os::unix::fs::PermissionsExt;
            let mut permissions = fs::metadata(&path).map_err(|error| failed(&path, &error))?.permissions();
            // Whoever may read it may run it.
            let mode = permissions.mode();
            permissions.set_mode(mode | (mode & 0o444) >> 2);
            fs::set_permissions(&path, permissions).map_err(|error| failed(&path, &error))?;
        }
    }
    Ok(())
}

/// Most bytes of a record: each frame takes a line.
const MAX_RECORD: u64 = 64 << 20;

/// Checks that a folder that has files is that of a job with the same images: those of another would
/// have the same names.
fn check_ours(out: &Path, job: &Value) -> Result<(), Failure> {
    let bytes = disk::read_own(&out.join(RECORD), MAX_RECORD).ok();
    let record = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(earlier) = record.as_ref().and_then(|record| record.get("job")) else {
        return Err(Failure::input(format!(
            "error: {}: the folder is not empty, and was not written by `shadewright farm`\n\
             hint: name a new folder",
            out.display()
        )));
    };
    let of_images = [
        ("/name", "another scene"),
        ("/image", "images of another name"),
        ("/settings/samples", "another --spp"),
        ("/settings/size", "another --size"),
        ("/settings/backend", "another --backend"),
        ("/settings/options", "other options of `render`"),
    ];
    let differs = |pointer: &str| earlier.pointer(pointer) != job.pointer(pointer);
    if let Some((_, what)) = of_images.iter().find(|(pointer, _)| differs(pointer)) {
        let out = out.display();
        return Err(Failure::input(format!("error: {out}: the folder has a job with {what}\nhint: name a new folder")));
    }
    let of_tasks = [("/frames", "frames"), ("/grid", "tiles"), ("/shares", "shares of samples")];
    let changed: Vec<&str> = of_tasks.iter().filter(|(pointer, _)| differs(pointer)).map(|(_, what)| *what).collect();
    if !changed.is_empty() {
        eprintln!(
            "note: {}: the job that was there is replaced; it had other {}",
            out.display(),
            changed.join(" and ")
        );
    }
    Ok(())
}

/// Says what was written, and what to do with it.
fn report(args: &FarmArgs, job: &Job) {
    let out = args.out.display();
    let plural = |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    let (images, tasks) = (job.images(), job.tasks());
    eprintln!(
        "wrote {out}, {}, {} each, in {}",
        plural(images, "image"),
        plural(job.parts_of_image(), "part"),
        plural(tasks, "task")
    );
    let shown: PathBuf = args.out.join(match args.scheduler {
        Scheduler::Openjd => openjd::TEMPLATE,
        Scheduler::Slurm => slurm::SUBMIT,
    });
    let quoted = |path: &Path| word(&path.to_string_lossy());
    let shown = quoted(&shown);
    match args.scheduler {
        Scheduler::Openjd => {
            eprintln!("to run it here: openjd run {shown}");
            eprintln!("to submit it to AWS Deadline Cloud: deadline bundle submit {}", quoted(&args.out));
        }
        Scheduler::Slurm => eprintln!("to submit it: {shown} [OPTIONS OF SBATCH]"),
    }
    let image = Path::new(&job.image);
    let name = match &job.frames {
        // As the scripts name it.
        Some(_) => {
            let [stem, extension] = [image.file_stem(), image.extension()].map(|s| s.unwrap_or_default().display());
            format!("{stem}.####.{extension}")
        }
        None => job.image.clone(),
    };
    eprintln!("images: {}", args.out.join("images").join(name).display());
}

fn file_name(path: &Path) -> Result<&str, Failure> {
    text(path.file_name().map(Path::new).unwrap_or(path))
}

/// A path as a string, which files of jobs hold.
fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::input(format!("error: {}: the name is not UTF-8", path.display())))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("error: {}: {error}", path.display()))
}
