//! `shadewright farm SCENE --out DIR`: jobs for the engines of render farms.

use super::args::{Cli, Command, FarmArgs, FarmEngine, Frames, RenderArgs};
use super::failure::Failure;
use super::frames::{self, Sequence};
use super::input::{job_of, open_project};
use clap::Parser;
use serde::{Deserialize, Serialize};
use shadewright::farm::{self, File, FrameSet, Job, JobError, Settings, openjd, slurm};
use shadewright::image::file as image_file;
use shadewright::render::batches::Batches;
use shadewright::render::part::Share;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The file that tells a folder of a job: what [`Record`] holds.
const RECORD: &str = "farm.json";
/// Most bytes of that file that are read.
const MAX_RECORD: u64 = 64 << 20;

/// A job as it is kept in its folder.
#[derive(Deserialize, PartialEq, Serialize)]
struct Record {
    /// The version of the program that wrote it.
    version: String,
    /// The job.
    job: Job,
}

/// Writes the job.
pub fn run(args: &FarmArgs) -> Result<(), Failure> {
    let render = task_of(args)?;
    let frames = frames_of(&render)?;
    check_task(args, render, frames.as_ref())?;
    let job = Job {
        name: file_name(&args.scene)?.to_string(),
        scene: scene_of(args)?,
        frames,
        grid: args.tiles,
        shares: args.samples,
        chunk: args.chunk,
        image: image_name(args)?,
        program: args.program.clone(),
        cache: args.cache.clone(),
        settings: Settings {
            samples: args.spp,
            size: args.size.map(|size| [size.0, size.1]),
            backend: args.backend.name().to_string(),
            options: options_of(args)?,
        },
    };
    let files = match args.engine {
        FarmEngine::Openjd => openjd::bundle(&job),
        FarmEngine::Slurm => {
            let options = slurm::Options { sbatch: args.slurm_options.clone(), at_once: args.at_once };
            slurm::scripts(&job, &options)
        }
    };
    let files = files.map_err(|error| refused(&error))?;
    let record = Record { version: env!("CARGO_PKG_VERSION").to_string(), job };
    write(&args.out, &record, &files)?;
    report(args, &record.job);
    Ok(())
}

/// The arguments of `render` that a task has, but for its part. They are parsed so that a mistake is
/// found here, and not by each task.
fn task_of(args: &FarmArgs) -> Result<RenderArgs, Failure> {
    let mut words = vec!["shadewright".into(), "render".into(), args.scene.clone().into_os_string()];
    let mut push = |option: &str, value: String| words.extend([option.into(), value.into()]);
    push("--out", "part.exr".to_string());
    push("--part", "1/1".to_string());
    push("--backend", args.backend.name().to_string());
    if let Some(size) = args.size {
        push("--size", format!("{}x{}", size.0, size.1));
    }
    if let Some(spp) = args.spp {
        push("--spp", spp.to_string());
    }
    if let Some(Frames { first, last }) = args.frames {
        push("--frames", format!("{first}..{last}"));
    }
    words.extend(args.options.iter().map(Into::into));
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        let text = text.split("\n\nUsage:").next().unwrap_or(&text).trim_end().to_string();
        Failure::input(format!("{text}\nhint: what follows `--` are options of `shadewright render`"))
    })?;
    let Some(Command::Render(mut render)) = cli.command else {
        return Err(Failure::input("error: what follows `--` are no options of `shadewright render`"));
    };
    Failure::of_options(
        &[
            (!render.scene.shader_paths.is_empty(), "--shader-path (-I)"),
            (!render.scene.allow_read.is_empty(), "--allow-read"),
        ],
        |option| format!("error: {option} stands before `--`: `farm` looks for the files, and the nodes need not"),
    )?;
    render.scene.shader_paths.clone_from(&args.shader_paths);
    render.scene.allow_read.clone_from(&args.allow_read);
    Ok(*render)
}

/// The frames of the job; `None` for a still.
fn frames_of(render: &RenderArgs) -> Result<Option<FrameSet>, Failure> {
    let Sequence { frames, .. } = frames::sequence(&render.scene, false)?;
    let single = render.scene.frames.map(|range| range.first).filter(|_| frames.is_empty());
    Ok(FrameSet::new(frames.into_iter().chain(single).collect()))
}

/// Reads and links the first frame, as the tasks will, and checks that the image can be divided.
fn check_task(args: &FarmArgs, render: RenderArgs, frames: Option<&FrameSet>) -> Result<(), Failure> {
    let mut scene = render.scene;
    scene.frames = frames.and_then(|set| set.numbers().first()).map(|&first| Frames { first, last: first });
    let (_, state) = open_project(&scene)?;
    let job = job_of(&scene, &state)?;
    let share = Share { tiles: args.tiles, of_samples: args.samples, ..Share::WHOLE };
    let divided = share.of(job.window, Batches::of(job.sampling.count()));
    divided.map(drop).map_err(|error| Failure::input(format!("error: --tiles, --samples: {error}")))
}

/// Where the nodes find the scene: beside its own file, which they have to see under the same path.
fn scene_of(args: &FarmArgs) -> Result<farm::Scene, Failure> {
    let path = fs::canonicalize(&args.scene).map_err(|e| failed(&args.scene, &e))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    Ok(farm::Scene { folder: text(folder)?.to_string(), file: file_name(&path)?.to_string() })
}

/// The options of `render` for all tasks. Folders are absolute: tasks run elsewhere.
fn options_of(args: &FarmArgs) -> Result<Vec<String>, Failure> {
    let mut options = Vec::new();
    for (option, folders) in [("-I", &args.shader_paths), ("--allow-read", &args.allow_read)] {
        for folder in folders {
            let path = fs::canonicalize(folder).map_err(|e| failed(folder, &e))?;
            options.extend([option.to_string(), text(&path)?.to_string()]);
        }
    }
    options.extend(args.options.iter().cloned());
    Ok(options)
}

fn image_name(args: &FarmArgs) -> Result<String, Failure> {
    let name = match &args.image {
        Some(name) => name.clone(),
        None => {
            let stem = args.scene.file_stem().map(Path::new).unwrap_or(Path::new("image"));
            format!("{}.exr", text(stem)?)
        }
    };
    image_file::check_writable(Path::new(&name))?;
    Ok(name)
}

/// Writes the files of a job. A new folder appears when it is complete; in a folder of the same job
/// they are replaced.
fn write(out: &Path, record: &Record, files: &[File]) -> Result<(), Failure> {
    let mut content = serde_json::to_string_pretty(record).map_err(anyhow::Error::from)?;
    content.push('\n');
    let entries = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return write_new(out, &content, files);
        }
        Err(error) => return Err(failed(out, &error)),
    };
    if entries {
        check_same(out, record)?;
    }
    write_files(out, &content, files)
}

/// Writes a folder beside `out`, and gives it that name.
fn write_new(out: &Path, record: &str, files: &[File]) -> Result<(), Failure> {
    let name =
        out.file_name().ok_or_else(|| Failure::input(format!("error: {}: not a name of a folder", out.display())))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let folder = out.with_file_name(hidden);
    fs::create_dir(&folder).map_err(|error| failed(out, &error))?;
    let written = write_files(&folder, record, files);
    let written = written.and_then(|()| fs::rename(&folder, out).map_err(|error| failed(out, &error)));
    if written.is_err() {
        // The error is what counts; a folder that cannot be removed is hidden.
        let _ = fs::remove_dir_all(&folder);
    }
    written
}

fn write_files(folder: &Path, record: &str, files: &[File]) -> Result<(), Failure> {
    image_file::write_bytes(&folder.join(RECORD), record.as_bytes())?;
    for file in files {
        let path = folder.join(file.name);
        image_file::write_bytes(&path, file.text.as_bytes())?;
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

/// Checks that a folder that has files has those of the same job, by either engine.
fn check_same(out: &Path, record: &Record) -> Result<(), Failure> {
    let path = out.join(RECORD);
    let size = match fs::metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(_) => {
            return Err(Failure::input(format!(
                "error: {}: the folder is not empty, and was not written by `shadewright farm`\n\
                 hint: name a new folder",
                out.display()
            )));
        }
    };
    let read = || (size <= MAX_RECORD).then(|| fs::read(&path).ok()).flatten();
    let there: Option<Record> = read().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if there.as_ref().is_some_and(|there| there.job == record.job) {
        return Ok(());
    }
    let has_parts = fs::read_dir(out.join("parts")).is_ok_and(|mut entries| entries.next().is_some());
    if has_parts {
        return Err(Failure::input(format!(
            "error: {}: the folder has parts of another job\n\
             hint: name a new folder, or remove `parts` there",
            out.display()
        )));
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
    let shown: PathBuf = args.out.join(match args.engine {
        FarmEngine::Openjd => openjd::TEMPLATE,
        FarmEngine::Slurm => slurm::SUBMIT,
    });
    let shown = shown.display();
    match args.engine {
        FarmEngine::Openjd => {
            eprintln!("to run it here: openjd run {shown}");
            eprintln!("to submit it to AWS Deadline Cloud: deadline bundle submit {out}");
        }
        FarmEngine::Slurm => eprintln!("to submit it: {shown} [OPTIONS OF SBATCH]"),
    }
    eprintln!("images: {}", args.out.join("images").join(&job.image).display());
}

fn file_name(path: &Path) -> Result<&str, Failure> {
    text(path.file_name().map(Path::new).unwrap_or(path))
}

/// A path as a string, which files of jobs hold.
fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::input(format!("error: {}: the name is not UTF-8", path.display())))
}

fn refused(error: &JobError) -> Failure {
    Failure::input(format!("error: {error}"))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("error: {}: {error}", path.display()))
}
