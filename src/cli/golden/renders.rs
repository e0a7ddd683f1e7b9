//! Renders images, each in a process of its own, and compares them with their references.

use super::super::args::GoldenArgs;
use super::super::failure::Failure;
use super::child::{self, End, Ended};
use super::print::Printer;
use rayon::prelude::*;
use serde_json::{Value, json};
use shadewright::cache::KeyHasher;
use shadewright::disk;
use shadewright::golden::images::{self, Shown};
use shadewright::golden::list::{Case, LIST_NAME, List};
use shadewright::golden::outcome::{Cause, Entry, Outcome, Render, Status};
use shadewright::golden::state::{Contents, Output, Record, Stamp, Store, content};
use shadewright::golden::tolerance::{Comparison, Incomparable, Side};
use shadewright::image::Image;
use shadewright::image::channels::Header;
use shadewright::image::file::{self as image_file, Format, ImageFileError, MAX_READ_PIXELS};
use shadewright::image::rendering::{self, Rendering};
use shadewright::render::Backend;
use shadewright::text::shell;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Renders at the same time where the user does not say how many.
const MAX_JOBS: usize = 4;

/// How long the list of adapters may take.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(60);

/// Time between writes of the state.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);

/// Time without a finished image after which a line says what is rendered.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The files that an image depends on, each with a hash of its content where it is there.
type Files = Vec<(String, Option<String>)>;

/// The devices of this machine.
pub struct Devices {
    /// The GPU adapters, as `shadewright devices --json` lists them; `None` if nobody asked for a GPU,
    /// or the list failed.
    adapters: Option<Value>,
}

impl Devices {
    /// Asks another process for the adapters, where images are rendered on a GPU: drivers can crash.
    pub fn for_list(list: &List, selected: &[usize], stop: &AtomicBool) -> Result<Self, Failure> {
        let uses_gpu = selected.iter().any(|&i| uses_gpu(&list.cases[i].backend));
        if !uses_gpu {
            return Ok(Self { adapters: None });
        }
        let words = ["devices", "--json"].map(OsString::from);
        let ended = child::run(Path::new("."), &words, DEVICES_TIMEOUT, stop);
        let document: Option<Value> = serde_json::from_slice(&ended.output).ok();
        Ok(Self { adapters: document.and_then(|mut document| document.get_mut("adapters").map(Value::take)) })
    }

    /// A text that tells the device of a back end from others.
    fn describe(&self, backend: &str) -> String {
        match (uses_gpu(backend), &self.adapters) {
            (true, Some(adapters)) => adapters.to_string(),
            (true, None) => String::new(),
            (false, _) => Backend::named(backend).map_or("", |backend| backend.info().runs_with()).to_string(),
        }
    }

    /// True if it is known that no adapter is there.
    fn has_no_adapter(&self) -> bool {
        matches!(&self.adapters, Some(Value::Array(adapters)) if adapters.is_empty())
    }
}

fn uses_gpu(backend: &str) -> bool {
    Backend::named(backend).is_some_and(|backend| backend.info().uses_gpu)
}

/// An image that is rendered and judged, or that was kept.
pub struct Finished {
    /// For the report.
    pub entry: Entry,
    /// For the next run; `None` where there is no render.
    pub record: Option<Record>,
}

/// The state that all renders share.
pub struct Runner<'a> {
    /// The list's folder, in which renders run.
    pub folder: PathBuf,
    /// The images with the names of their folders.
    pub cases: Vec<(Case, String)>,
    output: Output,
    /// The records of images that have not changed.
    kept: Vec<Option<Record>>,
    contents: Contents,
    devices: Devices,
    program: String,
    jobs: usize,
    timeout: Duration,
    stop: &'a AtomicBool,
}

impl<'a> Runner<'a> {
    /// Finds out which images have not changed.
    ///
    /// # Errors
    /// When the working folder is gone.
    pub fn new(
        args: &GoldenArgs,
        list: &List,
        cases: Vec<(Case, String)>,
        store: &Store,
        devices: Devices,
        stop: &'a AtomicBool,
    ) -> Result<Self, Failure> {
        // Renders run in another folder.
        let absolute = |path: &Path| std::path::absolute(path).map_err(|e| Failure::input(format!("error: {e}")));
        let program = std::env::current_exe().ok().and_then(|program| content(&program)).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut runner = Self {
            folder: list.folder.clone(),
            output: Output::new(&absolute(&args.out)?),
            kept: Vec::new(),
            contents: Contents::default(),
            devices,
            program,
            jobs: args.jobs.map_or(cores.min(MAX_JOBS), usize::from),
            timeout: Duration::from_secs(args.timeout.into()),
            stop,
            cases,
        };
        if !args.force {
            let kept = |(case, id): &(Case, String)| {
                let is_repeatable = !case.facts.runs_programs;
                let subject = runner.subject(case);
                store.kept(id, &subject, &runner.folder, &runner.contents).filter(|_| is_repeatable).cloned()
            };
            runner.kept = runner.cases.par_iter().map(kept).collect();
        }
        runner.kept.resize(runner.cases.len(), None);
        Ok(runner)
    }

    /// Renders what has changed and compares all of it, in the order of the cases as far as printing
    /// goes. Images that were not begun before an interruption are `None`.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn run(&self, store: &mut Store, printer: &Printer<'_>) -> Result<Vec<Option<Finished>>, Failure> {
        let count = self.cases.len();
        let mut finished: Vec<Option<Finished>> = (0..count).map(|_| None).collect();
        let (next, gpu) = (AtomicUsize::new(0), Mutex::new(()));
        let running = Mutex::new(vec![None; count]);
        let (sender, results) = channel();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(count) {
                let sender = sender.clone();
                let (next, gpu, running) = (&next, &gpu, &running);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count || self.stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let begun = |time| running.lock().unwrap_or_else(PoisonError::into_inner)[number] = time;
                        begun(Some(Instant::now()));
                        let one = self.one(number, gpu);
                        begun(None);
                        // The receiver lives as long as the scope.
                        let _ = sender.send((number, one));
                    }
                });
            }
            drop(sender);
            let (mut saved, mut printed) = (Instant::now(), 0);
            loop {
                let (number, one) = match results.recv_timeout(REPORT_INTERVAL) {
                    Ok(result) => result,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        let done = finished.iter().flatten().count();
                        printer.waiting(&running.lock().unwrap_or_else(PoisonError::into_inner), done);
                        continue;
                    }
                };
                if let Some(one) = &one {
                    store.put(&one.entry.id, one.record.clone());
                }
                finished[number] = one;
                while let Some(Some(one)) = finished.get(printed) {
                    printer.finished(&one.entry);
                    printed += 1;
                }
                if saved.elapsed() > SAVE_INTERVAL {
                    store.save().map_err(super::state_failure)?;
                    saved = Instant::now();
                }
            }
            Ok(finished)
        })
    }

    /// Renders one image if it has changed, and compares it; `None` if it was interrupted.
    fn one(&self, number: usize, gpu: &Mutex<()>) -> Option<Finished> {
        let (case, id) = &self.cases[number];
        let entry = |outcome: Outcome, unchanged| Entry {
            case: case.clone(),
            id: id.clone(),
            outcome,
            unchanged,
            command: self.command(case),
        };
        if let Some(record) = &self.kept[number] {
            let outcome = record.outcome.clone();
            let mut one = Finished { entry: entry(outcome, true), record: Some(record.clone()) };
            self.judge(&mut one, &self.contents);
            return Some(one);
        }
        if let Some(fault) = &case.fault {
            let outcome = Outcome::error(Cause::Scene, fault.clone(), "", 0.0);
            return Some(Finished { entry: entry(outcome, false), record: None });
        }
        let rendered = {
            let _one_at_a_time = uses_gpu(&case.backend).then(|| gpu.lock().unwrap_or_else(PoisonError::into_inner));
            self.render(case, id)?
        };
        Some(match rendered {
            Ok((outcome, files)) => {
                let render = self.output.render_of(id);
                let record = Stamp::read(&render).zip(content(&render)).map(|(stamp, content)| Record {
                    name: case.name.clone(),
                    subject: self.subject(case),
                    files,
                    stamp,
                    content,
                    judged: String::new(),
                    outcome: outcome.clone(),
                });
                let mut one = Finished { entry: entry(outcome, false), record };
                self.judge(&mut one, &self.contents);
                one
            }
            Err(outcome) => Finished { entry: entry(outcome, false), record: None },
        })
    }

    /// The words after the name of the program that render an image into a file.
    fn words(case: &Case, out: &OsString) -> Vec<OsString> {
        let mut scene = case.scene.clone().into_os_string();
        if scene.to_string_lossy().starts_with('-') {
            scene = Path::new(".").join(scene).into_os_string();
        }
        let mut words: Vec<OsString> = vec!["render".into(), scene, "-o".into(), out.clone()];
        words.extend(case.options.iter().map(OsString::from));
        words.extend(["--backend".into(), OsString::from(&case.backend)]);
        if let Some(frame) = case.frame {
            words.push(format!("--frames={frame}").into());
        }
        if !case.facts.is_lenient {
            words.push("--strict".into());
        }
        words
    }

    /// The command that renders an image again, for people.
    fn command(&self, case: &Case) -> String {
        let name = case.name.rsplit('/').next().unwrap_or_default();
        let words = Self::words(case, &format!("{name}.exr").into());
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        shell::words(std::iter::once("shadewright").chain(words.iter().map(String::as_str)))
    }

    /// A hash of what a render depends on beside files.
    fn subject(&self, case: &Case) -> String {
        let mut hasher = KeyHasher::new("golden render");
        hasher.text(&self.program);
        hasher.text(&self.devices.describe(&case.backend));
        for word in Self::words(case, &OsString::new()) {
            hasher.bytes(word.as_encoded_bytes());
        }
        hasher.finish().to_string()
    }

    /// Renders an image: its outcome, and the files that it depends on. `None` if it was interrupted.
    fn render(&self, case: &Case, id: &str) -> Option<Result<(Outcome, Files), Outcome>> {
        if uses_gpu(&case.backend) && self.devices.has_no_adapter() {
            let reason = "there is no GPU adapter; install a Vulkan driver, or leave this backend out: --backend rpu";
            return Some(Err(Outcome::error(Cause::Device, reason, "", 0.0)));
        }
        if let Err(error) = self.output.clear(id) {
            return Some(Err(Outcome::error(Cause::Crash, error.to_string(), "", 0.0)));
        }
        let out = self.output.render_of(id);
        let mut words = Self::words(case, &out.clone().into_os_string());
        words.push("--json".into());
        let Ended { end, output, messages, time } = child::run(&self.folder, &words, self.timeout, self.stop);
        let seconds = (time.as_secs_f64() * 1e3).round() / 1e3;
        let failed = |cause, reason: String| Some(Err(Outcome::error(cause, reason, messages.clone(), seconds)));
        let status = match end {
            End::Interrupted => return None,
            End::NotStarted(error) => return failed(Cause::Crash, format!("the renderer cannot be started: {error}")),
            End::TimedOut => {
                let limit = self.timeout.as_secs();
                return failed(Cause::Timeout, format!("it took longer than {limit} s (--timeout)"));
            }
            End::Exited(status) => status,
        };
        match status.code() {
            Some(0) => {}
            Some(2) => return failed(Cause::Scene, first_error(&messages, "the scene has errors")),
            Some(3) => return failed(Cause::Device, first_error(&messages, "the device failed")),
            _ => return failed(Cause::Crash, format!("the renderer crashed: {status}")),
        }
        if let Some(reason) = no_image(case, &out) {
            return failed(Cause::Scene, reason);
        }
        // One object for each image.
        let mut documents = serde_json::Deserializer::from_slice(&output).into_iter::<Value>();
        let document = documents.next().and_then(Result::ok).unwrap_or_default();
        let text = |key: &str| document[key].as_str().map(str::to_string);
        let size = ["width", "height"].map(|side| document[side].as_u64().unwrap_or(0) as u32);
        let device = match (text("adapter"), text("engine")) {
            (Some(adapter), _) => format!("GPU ({adapter})"),
            (None, Some(engine)) => format!("RPU (CPU, {engine})"),
            (None, None) => String::new(),
        };
        let file = |file: &Value| {
            let content = file["content"].as_str().map(str::to_string);
            Some((file["path"].as_str()?.to_string(), content))
        };
        let files = document["files"].as_array().into_iter().flatten().filter_map(file).collect();
        let render = Render { size, spp: document["spp"].clone(), device, seconds };
        Some(Ok((Outcome::rendered(render, messages), files)))
    }

    /// A hash of the input of a comparison.
    fn judged(&self, case: &Case, record: &Record, contents: &Contents) -> String {
        let reference = contents.digest(&self.folder.join(&case.reference));
        let of = (&record.content, reference, case.criterion.to_string(), &case.reference);
        let mut hasher = KeyHasher::new("golden comparison");
        hasher.text(&format!("{of:?}"));
        hasher.finish().to_string()
    }

    /// Compares an image with its reference, unless that is done already.
    fn judge(&self, one: &mut Finished, contents: &Contents) {
        let case = &one.entry.case;
        let judged = one.record.as_ref().map(|record| self.judged(case, record, contents)).unwrap_or_default();
        if one.record.as_ref().is_some_and(|record| record.judged == judged) {
            return;
        }
        self.output.remove_shown(&one.entry.id);
        let (outcome, shown) = self.compare(case, &one.entry.id, &one.entry.outcome);
        if !outcome.status.is_good() {
            self.output.put_shown(&one.entry.id, &shown());
        }
        one.entry.outcome = outcome;
        if let Some(record) = &mut one.record {
            (record.judged, record.outcome) = (judged, one.entry.outcome.clone());
        }
        // A render that cannot be read is made again.
        if one.entry.outcome.render.is_none() {
            one.record = None;
        }
    }

    /// The same after the reference was replaced.
    pub fn judge_again(&self, one: &mut Finished, contents: &Contents) {
        if one.record.is_some() {
            self.judge(one, contents);
        }
    }

    /// Compares an image with its reference: the outcome, and what makes the images of the report.
    fn compare(&self, case: &Case, id: &str, outcome: &Outcome) -> (Outcome, Box<dyn FnOnce() -> Vec<Shown>>) {
        let reference = self.folder.join(&case.reference);
        let read = |path: &Path| read(case, path);
        let render = match read(&self.output.render_of(id)) {
            Ok(render) => render,
            Err(error) => {
                let outcome = Outcome::error(Cause::Scene, error.to_string(), "", outcome.seconds());
                return (outcome, Box::new(Vec::new));
            }
        };
        if !reference.exists() {
            let reason = format!("there is no reference yet: `{}`", case.reference.display());
            let outcome = outcome.not_compared(Status::New, None, reason);
            return (outcome, Box::new(move || images::shown_renders(None, Some(&render.image))));
        }
        let found = Format::from_path(&reference).and_then(|format| Ok((format, read(&reference)?)));
        let (format, expected) = match found {
            Ok(read) => read,
            Err(error) => {
                let reason = format!("the reference cannot be read: {error}");
                let outcome = outcome.not_compared(Status::Error, Some(Cause::Reference), reason);
                return (outcome, Box::new(move || images::shown_renders(None, Some(&render.image))));
            }
        };
        match Comparison::new(&render, &expected, format, case.criterion) {
            Ok(comparison) => {
                let outcome = outcome.compared(&comparison);
                (outcome, Box::new(move || images::shown_comparison(&expected.image, &render.image, &comparison)))
            }
            Err(error) => {
                // Another reference would not help.
                let (status, cause) = match error {
                    Incomparable::NoVariances(Side::Render) => (Status::Error, Some(Cause::Scene)),
                    _ => (Status::Failed, None),
                };
                let reason = sizes_message(&expected.image, &render.image, &error.to_string());
                let outcome = outcome.not_compared(status, cause, reason);
                (outcome, Box::new(move || images::shown_renders(Some(&expected.image), Some(&render.image))))
            }
        }
    }

    /// The images that the report shows of an image.
    pub fn shown(&self, entry: &Entry) -> Option<Vec<Shown>> {
        if let Some(shown) = self.output.shown(&entry.id) {
            return Some(shown);
        }
        entry.outcome.render.as_ref()?;
        let (_, shown) = self.compare(&entry.case, &entry.id, &entry.outcome);
        let shown = shown();
        self.output.put_shown(&entry.id, &shown);
        Some(shown)
    }

    /// The folder outside of the list's where a reference would be written because of a link: the list
    /// itself does not say so.
    fn outside(&self, reference: &Path) -> Option<PathBuf> {
        let leaves = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
        if reference.components().any(leaves) {
            return None;
        }
        let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_path_buf() };
        let own = here(&self.folder).canonicalize().ok()?;
        let folder = self.folder.join(reference);
        let there = folder.ancestors().skip(1).find_map(|folder| here(folder).canonicalize().ok())?;
        (!there.starts_with(own)).then_some(there)
    }

    /// Makes the render of an image its reference, if the image would pass then.
    ///
    /// # Errors
    /// Why it is not made the reference; what was there is untouched.
    pub fn bless(&self, entry: &Entry) -> Result<(), Refusal> {
        let case = &entry.case;
        if entry.outcome.render.is_none() {
            return Err(Refusal::Render("it was not rendered".to_string()));
        }
        let path = self.output.render_of(&entry.id);
        let render = read(case, &path).map_err(|e| Refusal::Render(e.to_string()))?;
        let bad = render.image.count_non_finite();
        if bad > 0 {
            let why = format!("{bad} pixels of the render are NaN or infinite, which fails every comparison");
            return Err(Refusal::Render(why));
        }
        let reference = self.folder.join(&case.reference);
        let of_reference = |why: String| Refusal::Reference(why);
        let of_file = |e: ImageFileError| of_reference(e.to_string());
        let format = Format::from_path(&reference).map_err(of_file)?;
        let bytes = match format {
            // With its record and its variances.
            Format::Exr => {
                disk::read_own(&path, u64::MAX).map_err(|e| of_reference(format!("{}: {e}", path.display())))?
            }
            _ => image_file::to_bytes(&render.image, format).map_err(of_file)?,
        };
        // What the next run finds.
        let decoded = match format {
            Format::Exr => None,
            _ => Some(Rendering::from(
                image_file::decode_bytes(&bytes, format).map_err(|e| of_reference(e.to_string()))?,
            )),
        };
        let expected = decoded.as_ref().unwrap_or(&render);
        let why = match Comparison::new(&render, expected, format, case.criterion) {
            Ok(comparison) if comparison.verdict.passed => None,
            Ok(comparison) => Some(comparison.reason()),
            Err(error) => Some(sizes_message(&expected.image, &render.image, &error.to_string())),
        };
        if let Some(why) = why {
            let advice = match format {
                Format::Exr => "",
                _ => "; make the reference an .exr file, which holds all of a render",
            };
            let (shown, why) = (case.reference.display(), why.trim_end_matches("; convert one of them"));
            return Err(of_reference(format!("it would fail against itself as `{shown}`: {why}{advice}")));
        }
        let folder = image_file::folder_of(&reference);
        if let Some(outside) = self.outside(&case.reference) {
            let (folder, outside) = (folder.display(), outside.display());
            return Err(of_reference(format!(
                "a link leads from `{folder}` to `{outside}`, outside of the list's folder"
            )));
        }
        std::fs::create_dir_all(folder).map_err(|e| of_reference(format!("{}: {e}", folder.display())))?;
        image_file::replace_bytes(&reference, &bytes).map_err(of_file)
    }
}

/// Why a render does not become a reference.
pub enum Refusal {
    /// It is none, or a bad one.
    Render(String),
    /// The file cannot be written, or no render would pass against it.
    Reference(String),
}

/// Reads an image of a case, with its variances where they are judged.
fn read(case: &Case, path: &Path) -> Result<Rendering, ImageFileError> {
    match case.criterion.needs_variances() {
        true => rendering::read(path, MAX_READ_PIXELS),
        false => image_file::read(path).map(Rendering::from),
    }
}

/// Why a render that ended well left no image of the case in the file `out`; `None` if it did.
fn no_image(case: &Case, out: &Path) -> Option<String> {
    if !out.is_file() {
        // The renderer numbers the files of several frames.
        let files = std::fs::read_dir(image_file::folder_of(out)).into_iter().flatten().flatten();
        let mut names = files.map(|file| file.file_name());
        let is_several = names.any(|name| name.to_string_lossy().starts_with("render."));
        return Some(match is_several {
            true => format!("the scene has several frames: choose with `frames` in a {LIST_NAME}"),
            false => "the scene renders no image, but a shadow map".to_string(),
        });
    }
    let file = disk::open(out).ok()?;
    // A file that is no OpenEXR is an error where it is read.
    let header = Header::read(&mut std::io::BufReader::new(file)).ok()?;
    if header.channels.iter().any(|channel| channel != "Z") {
        return None;
    }
    Some(match case.frame {
        Some(frame) => format!("frame {frame} is a shadow map; leave it out of `frames`"),
        None => "the scene renders no image, but a shadow map".to_string(),
    })
}

/// Why two images cannot be compared.
fn sizes_message(reference: &Image, render: &Image, error: &str) -> String {
    if (reference.width, reference.height) == (render.width, render.height) {
        return error.replace("the first is", "the reference is").replace("the second", "the render");
    }
    format!(
        "the reference has {} × {} pixels, the render {} × {}",
        reference.width, reference.height, render.width, render.height
    )
}

/// The first error of what a process printed, with its place.
fn first_error(messages: &str, otherwise: &str) -> String {
    let mut lines = messages.lines();
    let Some(error) = lines.find(|line| line.starts_with("error")) else {
        return messages.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(otherwise).trim().to_string();
    };
    let message = error.trim_start_matches("error").trim_start_matches(':').trim();
    match lines.next().and_then(|line| line.trim_start().strip_prefix("--> ")) {
        Some(place) => format!("{message} ({})", place.trim()),
        None => message.to_string(),
    }
}

/// The results for programs.
pub fn json(entry: &Entry, output: &Output) -> Value {
    let Entry { case, id, outcome, unchanged, command } = entry;
    let render = outcome.render.as_ref();
    json!({
        "name": case.name,
        "backend": case.backend,
        "status": outcome.status,
        "reason": outcome.reason,
        "cause": outcome.cause,
        "unchanged": unchanged,
        "scene": case.scene.display().to_string(),
        "frame": case.frame,
        "reference": case.fault.is_none().then(|| case.reference.display().to_string()),
        "render": render.map(|_| output.render_of(id).display().to_string()),
        "tolerance": case.criterion.to_string(),
        "width": render.map(|render| render.size[0]),
        "height": render.map(|render| render.size[1]),
        "spp": render.map(|render| render.spp.clone()),
        "seed": case.facts.seed,
        "device": render.map(|render| render.device.clone()),
        "seconds": outcome.seconds(),
        "command": command,
        "messages": outcome.messages,
        "report": outcome.comparison.get("report"),
        "verdict": outcome.comparison.get("verdict"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_has_its_place() {
        let messages = "warning: x\nerror: unknown variable `y`\n  --> a.sl:3:4\n  |\n3 | y\n";
        assert_eq!(first_error(messages, "-"), "unknown variable `y` (a.sl:3:4)");
        assert_eq!(first_error("error: no adapter\n", "-"), "no adapter");
        assert_eq!(first_error("thread panicked\nnote: x\n\n", "-"), "note: x");
        assert_eq!(first_error("", "the device failed"), "the device failed");
    }
}
