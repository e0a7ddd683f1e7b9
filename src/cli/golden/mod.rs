//! `shadewright golden FOLDER`: renders the scenes of a folder or a list, compares each with its
//! reference, and writes a report.
//!
//! Each image is rendered by a process of its own ([`child`]); images are compared in this one. What
//! has not changed since the last run is not rendered again.

mod child;
mod options;
mod outputs;
mod print;
mod renders;

use super::args::{Annotations, GoldenArgs};
use super::failure::Failure;
use super::interrupt;
use renders::{Devices, Finished, Refusal, Runner};
use shadewright::golden::glob::Pattern;
use shadewright::golden::list::{Case, Context, List, leftover};
use shadewright::golden::outcome::{Cause, Entry, Status, ids};
use shadewright::golden::page::{self, Header};
use shadewright::golden::state::{Contents, PreviousState, REPORT, StateError, Store};
use shadewright::golden::{annotations, clock, junit};
use shadewright::image::file as image_file;
use shadewright::render::Backend;
use shadewright::scene;
use shadewright::text::diagnostics::closest;
use shadewright::text::source::SourceMap;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

/// Most bytes of a scene that is searched for archives.
const MAX_SCENE: u64 = 1 << 30;

/// Renders, compares and reports.
pub fn run(args: &GoldenArgs) -> Result<(), Failure> {
    let (begin, started) = (Instant::now(), clock::iso(SystemTime::now()));
    let list = open(args)?;
    let selected = select(&list, &args.only)?;
    let mut store = Store::open(&args.out, list.file.as_deref().unwrap_or(&list.folder)).map_err(state_failure)?;
    let report = args.report.clone().unwrap_or_else(|| args.out.join(REPORT));
    outputs::check(args, &report, &list, &store)?;
    let mut notes = notes(args, &list, &selected, &store);
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    let left = if args.backends.is_empty() { leftover(&list) } else { Vec::new() };
    let stop = interrupt::watched()?;

    let header = |notes| Header {
        source: args.path.display().to_string(),
        started: started.clone(),
        seconds: begin.elapsed().as_secs_f64(),
        program: format!("shadewright {}", env!("CARGO_PKG_VERSION")),
        folder: list.folder.display().to_string(),
        notes,
    };

    let all_ids = ids(&list.cases);
    let names: HashSet<&str> = list.cases.iter().map(|case| case.name.as_str()).collect();
    store.retain(|name| names.contains(name));
    let cases: Vec<(Case, String)> = selected.iter().map(|&i| (list.cases[i].clone(), all_ids[i].clone())).collect();
    let runner = Runner::new(args, &list, cases, &store, Devices::for_list(&list, &selected, stop)?, stop)?;
    let printer = print::Printer::new(args, &runner.cases);
    let mut finished = runner.run(&mut store, &printer)?;
    if stop.load(Ordering::Relaxed) {
        store.save().map_err(state_failure)?;
        let entries: Vec<Entry> = finished.iter().flatten().map(|one| one.entry.clone()).collect();
        let done = entries.len();
        printer.interrupted(&entries, &left, &header(notes))?;
        return Err(Failure::interrupted(format!(
            "interrupted: {done} of {} images are done, and kept for the next run; no report was written",
            finished.len()
        )));
    }
    let mut finished: Vec<Finished> = finished.drain(..).flatten().collect();
    if args.bless {
        bless(&runner, &mut store, &mut finished, &printer);
    }
    store.save().map_err(state_failure)?;

    let mut entries: Vec<Entry> = finished.iter().map(|one| one.entry.clone()).collect();
    // The worst first; within a status the order of the list.
    entries.sort_by_key(|entry| entry.outcome.status);
    for file in &left {
        let file = list.folder.join(file);
        let note = format!("`{}` is the reference of no image; delete it if its scene is gone", file.display());
        eprintln!("warning: {note}");
        notes.push(note);
    }
    let header = header(notes);
    let page = page::document(&header, &entries, &mut |entry| runner.shown(entry));
    image_file::write_bytes(&report, page.as_bytes())?;
    if let Some(file) = &args.junit {
        image_file::write_bytes(file, junit::document(&header.source, &format!("{started}Z"), &entries).as_bytes())?;
    }
    if is_github(args) {
        let folder = from_workspace(&list.folder);
        annotations::github(&folder, &entries).iter().for_each(|line| eprintln!("{line}"));
    }
    printer.end(&entries, &left, &report, &header)?;
    outcome(&entries)
}

/// True if annotations of GitHub are wanted.
fn is_github(args: &GoldenArgs) -> bool {
    match args.annotations {
        Some(Annotations::Github) => true,
        Some(Annotations::None) => false,
        None => std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
    }
}

/// A folder relative to the repository, if that is known.
fn from_workspace(folder: &Path) -> PathBuf {
    let inside = || {
        let workspace = PathBuf::from(std::env::var_os("GITHUB_WORKSPACE")?).canonicalize().ok()?;
        Some(folder.canonicalize().ok()?.strip_prefix(workspace).ok()?.to_path_buf())
    };
    inside().unwrap_or_else(|| folder.to_path_buf())
}

/// Reads the list or the folder.
fn open(args: &GoldenArgs) -> Result<List, Failure> {
    let path = &args.path;
    let shown = path.display();
    if !path.exists() {
        return Err(super::usage::no_folder(path));
    }
    if path.is_file() && !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Err(Failure::input(format!(
            "error: `{shown}` is no folder and no list (.toml)\nhint: for one scene of a folder: shadewright golden {} --only {}",
            image_file::folder_of(path).display(),
            path.file_stem().unwrap_or_default().display()
        )));
    }
    let backends: Vec<&str> = Backend::all().map(Backend::name).collect();
    let context = Context {
        backends: &backends,
        check_options: &options::check,
        read_scene: &|path| scene::read_file(path, MAX_SCENE).ok(),
    };
    let mut asked: Vec<String> = args.backends.iter().map(|backend| backend.name().to_string()).collect();
    let mut seen = HashSet::new();
    asked.retain(|backend| seen.insert(backend.clone()));
    let mut sources = SourceMap::new();
    let list = List::open(path, &asked, &context, &mut sources).map_err(|d| Failure::diagnostics(&d, &sources))?;
    if list.cases.is_empty() {
        let what = match &list.file {
            Some(file) => format!("error: `{}` has no scenes", file.display()),
            None => format!("error: there are no scenes in `{shown}`"),
        };
        return Err(Failure::input(format!(
            "{what}\nhint: scenes are .rib .gltf .glb .obj .ply files in the folder itself, or those that a golden.toml there names"
        )));
    }
    Ok(list)
}

/// The images that `--only` asks for, by their positions.
fn select(list: &List, only: &[String]) -> Result<Vec<usize>, Failure> {
    if only.is_empty() {
        return Ok((0..list.cases.len()).collect());
    }
    let mut selected = vec![false; list.cases.len()];
    for text in only {
        let pattern = Pattern::new(text).map_err(|e| Failure::input(format!("error: --only: {e}")))?;
        let mut any = false;
        for (case, selected) in list.cases.iter().zip(&mut selected) {
            let matches = pattern.matches(&case.name);
            *selected |= matches;
            any |= matches;
        }
        if !any {
            let names = list.cases.iter().flat_map(|case| [case.name.as_str(), last_part(&case.name)]);
            let hint = match closest(text, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("for example `{}`; * stands for any characters", list.cases[0].name),
            };
            return Err(Failure::input(format!("error: --only: no image matches `{text}`\nhint: {hint}")));
        }
    }
    Ok((0..list.cases.len()).filter(|&i| selected[i]).collect())
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Remarks on the run, for people.
fn notes(args: &GoldenArgs, list: &List, selected: &[usize], store: &Store) -> Vec<String> {
    let mut notes = Vec::new();
    if selected.len() < list.cases.len() {
        let patterns: Vec<String> = args.only.iter().map(|text| format!("`{text}`")).collect();
        let (some, all) = (selected.len(), list.cases.len());
        notes.push(format!("{some} of {all} images: those that match {}", patterns.join(" or ")));
    }
    if !list.archives.is_empty() {
        let archives: Vec<String> = list.archives.iter().map(|(file, of)| format!("{file} (of {of})")).collect();
        notes.push(format!("not rendered, because other scenes read them: {}", archives.join(", ")));
    }
    match store.found() {
        PreviousState::Damaged => {
            notes.push("the state of the last run is damaged: everything is rendered again".to_string())
        }
        PreviousState::Other(other) => {
            notes.push(format!("`{}` had the report of `{other}`, which is replaced", args.out.display()))
        }
        PreviousState::Nothing | PreviousState::Last => {}
    }
    notes
}

/// Makes renders the references of their images, and compares the other back ends' with these.
fn bless(runner: &Runner<'_>, store: &mut Store, finished: &mut [Finished], printer: &print::Printer<'_>) {
    let mut groups: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    for (i, one) in finished.iter().enumerate().filter(|(_, one)| one.entry.case.fault.is_none()) {
        groups.entry(one.entry.case.reference.clone()).or_default().push(i);
    }
    for (reference, members) in groups {
        let Some((&first, others)) = members.split_first() else { continue };
        let was = finished[first].entry.outcome.clone();
        if was.status == Status::Passed {
            continue;
        }
        if let Err(refusal) = runner.bless(&finished[first].entry) {
            let entry = &mut finished[first].entry;
            match refusal {
                Refusal::Render(why) => printer.refused(entry, &why),
                Refusal::Reference(why) => {
                    let outcome = &mut entry.outcome;
                    let reason = format!("not blessed: {why}");
                    (outcome.status, outcome.reason, outcome.cause) = (Status::Error, reason, Some(Cause::Reference));
                }
            }
            continue;
        }
        let file = runner.folder.join(&reference).display().to_string();
        let how = match was.status {
            Status::New => format!("wrote `{file}`"),
            _ => format!("replaced `{file}`; before, {}", was.reason),
        };
        let outcome = &mut finished[first].entry.outcome;
        (outcome.status, outcome.reason, outcome.cause) = (Status::Blessed, how, None);
        for &other in others {
            runner.judge_again(&mut finished[other], &Contents::default());
            store.put(&finished[other].entry.id, finished[other].record.clone());
        }
    }
    finished.iter().for_each(|one| printer.line(&one.entry));
}

fn state_failure(error: StateError) -> Failure {
    Failure::input(format!("error: {error}"))
}

/// The exit status: that of the worst cause.
fn outcome(entries: &[Entry]) -> Result<(), Failure> {
    let causes = entries.iter().filter(|entry| entry.outcome.status == Status::Error).map(|entry| entry.outcome.cause);
    let worst = causes.map(|cause| cause.map_or(2, |cause| cause.exit_status())).max();
    match worst {
        Some(3) => Err(Failure::device("")),
        Some(_) => Err(Failure::input("")),
        None if entries.iter().all(|entry| entry.outcome.status.is_good()) => Ok(()),
        None => Err(Failure::different("")),
    }
}
