//! `shadewright render [SCENE] -o OUT --watch`: renders again whenever a file of the scene changes.
//!
//! Prints a line on standard output for each image, and diagnostics on standard error. With
//! `--json` it prints a JSON object per line on standard output, for each image and for each change
//! with errors, with all current diagnostics.

use super::args::{BackendChoice, RenderArgs};
use super::backend::{progressive, rpu_renderer};
use super::failure::Failure;
use super::input::{job_of, project_options, source_of};
use super::messages::messages;
use super::output::print_json_text;
use serde_json::{Value, json};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::kernels;
use shadewright::project::{self, Outcome, Project, ProjectState, Watcher};
use shadewright::render::film::Film;
use shadewright::render::progressive::{Pass, Progressive};
use shadewright::render::{Job, RenderError};
use shadewright::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright::text::source::SourceMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Messages to the main loop.
enum Message {
    /// Files may have changed.
    Look,
    /// Rendering has ended.
    Drawn,
}

/// Renders the scene to a file, and again on every change, until the process ends.
pub fn run(args: &RenderArgs, out: &Path) -> Result<(), Failure> {
    let kernels = match args.backend {
        BackendChoice::Auto => true,
        BackendChoice::Named(backend) => backend.info().uses_gpu,
    };
    let options = project::ProjectOptions { kernels, ..project_options(&args.scene)? };
    let mut project = Project::new(source_of(&args.scene), options);
    let rpu = rpu_renderer(&args.scene).in_format(args.format);
    let open = || progressive(args.backend, args.devices(), rpu.clone()).map(|(renderer, _)| renderer);
    let (mut renderer, mut kernels) = (open()?, kernels::version());
    let (sender, messages) = channel();
    let wake = sender.clone();
    let watcher = Watcher::new(move || {
        // The receiver lives as long as the process.
        let _ = wake.send(Message::Look);
    });
    let mut reporter = Reporter { out, json: args.json };
    let mut drawing = Drawing { sender: &sender, messages: &messages, watcher: &watcher };
    let mut next = look(&mut project, &watcher, &mut reporter);
    loop {
        next = match next.take() {
            // Changed kernels need a new device.
            Some((state, _)) if state.kernels != kernels => {
                kernels = state.kernels;
                match open() {
                    Ok(opened) => renderer = opened,
                    Err(failure) => reporter.failed(&failure),
                }
                Some((state, Instant::now()))
            }
            Some((state, noticed)) => match job_of(&args.scene, &state) {
                Ok(job) => drawing.draw(&mut *renderer, &job, &state, noticed, &mut project, &mut reporter),
                Err(failure) => {
                    reporter.failed(&failure);
                    None
                }
            },
            None => match messages.recv() {
                Ok(Message::Look) => look(&mut project, &watcher, &mut reporter),
                Ok(Message::Drawn) => None,
                // The watcher holds a sender, so its thread has panicked.
                Err(_) => return Err(Failure::input("error: watching the files failed")),
            },
        }
    }
}

/// A state to render, and the time at which its files were read.
type Order = (Arc<ProjectState>, Instant);

/// Reads the files again if they have changed, and reports errors.
fn look(project: &mut Project, watcher: &Watcher, reporter: &mut Reporter<'_>) -> Option<Order> {
    let start = Instant::now();
    let outcome = project.refresh();
    watcher.watch(project.files());
    match outcome {
        Outcome::Ready(state) => Some((state, start)),
        Outcome::Broken(failure) => {
            reporter.broken(&failure.diagnostics, &failure.sources);
            None
        }
        Outcome::Unchanged => None,
    }
}

/// A render that new states interrupt.
struct Drawing<'a> {
    sender: &'a Sender<Message>,
    messages: &'a Receiver<Message>,
    watcher: &'a Watcher,
}

impl Drawing<'_> {
    /// Renders a state and writes the image, unless a new state arrives first, which it returns.
    fn draw(
        &mut self,
        renderer: &mut dyn Progressive,
        job: &Job,
        state: &ProjectState,
        noticed: Instant,
        project: &mut Project,
        reporter: &mut Reporter<'_>,
    ) -> Option<Order> {
        let (stop, sender) = (&AtomicBool::new(false), self.sender);
        let mut next = None;
        let drawn = std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let _end = End(sender);
                image(renderer, job, stop)
            });
            while let Ok(Message::Look) = self.messages.recv() {
                let newer = look(project, self.watcher, reporter);
                if newer.is_some() {
                    stop.store(true, Ordering::Relaxed);
                    next = newer;
                }
            }
            thread.join()
        });
        match drawn {
            _ if next.is_some() => {}
            Ok(Ok(image)) => reporter.drawn(&image, job, state, noticed),
            Ok(Err(error)) => reporter.broken(&error.diagnostic().into(), &job.program.sources),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        next
    }
}

/// Signals the end of rendering when dropped, also after a panic.
struct End<'a>(&'a Sender<Message>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // The main loop holds the receiver.
        let _ = self.0.send(Message::Drawn);
    }
}

/// The whole image.
fn image(renderer: &mut dyn Progressive, job: &Job, stop: &AtomicBool) -> Result<Image, RenderError> {
    let pass = Pass::whole(job.sampling);
    let [width, height] = pass.size(job.window);
    let mut film = Film::with_samples(width, height, job.sampling.count())?;
    renderer.load(job)?;
    renderer.draw(pass, &mut film, stop)?;
    renderer.finish(&film, pass.step, stop)
}

/// Reports images and errors.
struct Reporter<'a> {
    out: &'a Path,
    json: bool,
}

impl Reporter<'_> {
    /// Writes an image and reports it.
    fn drawn(&mut self, image: &Image, job: &Job, state: &ProjectState, noticed: Instant) {
        if let Err(error) = image_file::write_quantized(self.out, image, state.scene.film.quantize) {
            self.failed(&error.into());
            return;
        }
        let took = noticed.elapsed();
        let changed: Vec<String> = state.redone.files.iter().map(|path| file_name(path)).collect();
        let (samples, sources) = (job.sampling.count(), &job.program.sources);
        if self.json {
            self.print(json!({
                "event": "image",
                "image": self.out.display().to_string(),
                "width": image.width,
                "height": image.height,
                "samples": samples,
                "seconds": seconds(took),
                "changed": if state.version > 1 { changed } else { Vec::new() },
                "diagnostics": messages(&state.diagnostics, sources),
            }));
            return;
        }
        eprint!("{}", state.diagnostics.render(sources));
        let why = if state.version > 1 { because(&changed) } else { String::new() };
        let (out, plural) = (self.out.display(), if samples == 1 { "" } else { "s" });
        let size = format!("{}x{}", image.width, image.height);
        println!("{out}: {size}, {samples} sample{plural}, {:.2} s{why}", took.as_secs_f64());
    }

    /// Reports errors in the files. The image file is unchanged.
    fn broken(&mut self, diagnostics: &Diagnostics, sources: &SourceMap) {
        if self.json {
            self.print(json!({ "event": "errors", "diagnostics": messages(diagnostics, sources) }));
        } else {
            Failure::diagnostics(diagnostics, sources).report();
        }
    }

    /// Reports a failure without a source location.
    fn failed(&mut self, failure: &Failure) {
        if self.json {
            let message = failure.to_string();
            let message = message.trim().trim_start_matches("error: ");
            self.print(json!({ "event": "errors", "diagnostics": messages(&Diagnostic::error(message).into(), &SourceMap::new()) }));
        } else {
            failure.report();
        }
    }

    fn print(&self, line: Value) {
        print_json_text(&line.to_string());
    }
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Greatest number of files that a line names.
const MOST_NAMED: usize = 3;

/// ` (a.sl changed)`
fn because(changed: &[String]) -> String {
    match changed.len() {
        0 => String::new(),
        n if n > MOST_NAMED => format!(" ({} and {} more changed)", changed[..MOST_NAMED].join(", "), n - MOST_NAMED),
        _ => format!(" ({} changed)", changed.join(", ")),
    }
}
