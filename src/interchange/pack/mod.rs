//! Packing: everything that a scene reads, copied into one folder that renders alone, wherever it is
//! moved.
//!
//! [`pack`] reads the scene as renderers do, frame after frame ([`reading`]); follows its RIB files
//! through parts that no frame reads ([`walk`], over what [`rib`] finds in one file); finds the files
//! of all names, gives them places and decides which names change (`gather`, with `places`,
//! [`lookup`], [`shaders`], [`gltf`], [`wavefront`]); and writes the folder ([`folder`], [`replace`],
//! [`manifest`]). Then it reads the packed scene, which may read nothing else, and compares.
//!
//! Nothing here prints, and nothing is rendered.

mod folder;
mod gather;
mod gltf;
mod lookup;
pub mod manifest;
mod places;
mod reading;
mod replace;
mod rib;
mod sha256;
mod shaders;
mod walk;
mod wavefront;

use flate2::Compression;
use flate2::write::GzEncoder;
use folder::Target;
use gather::{Change, Form, Gathered, gather};
use manifest::{Manifest, shown};
use places::absolute;
use reading::{Reading, read};
use replace::{Decoding, replaced};
use shadewright_base::disk;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, Severity};
use shadewright_base::text::source::SourceMap;
use shadewright_scene::{OpenOptions, read_file, rib_text};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The name of a pack's manifest.
pub const MANIFEST: &str = "shadewright-pack.json";

/// Most bytes of a text that is rewritten, as the reader of scenes has it.
const MAX_BYTES: u64 = 2 << 30;

/// The magic bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How a scene is packed.
#[derive(Clone, Debug, Default)]
pub struct PackOptions {
    /// How the scene is read: as for a render that uses the pack.
    pub open: OpenOptions,
    /// Folders that are searched for shaders before the scene's own.
    pub shader_paths: Vec<PathBuf>,
    /// The first frame and the last that are read; all by default. Files that other frames name are
    /// packed, too, as far as their names are known without reading them.
    pub frames: Option<[i32; 2]>,
    /// True if nothing is written.
    pub dry_run: bool,
}

/// The step that packing has reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Reads the scene.
    Reading {
        /// Frames that were read.
        done: usize,
        /// All frames.
        of: usize,
    },
    /// Copies files.
    Copying {
        /// Files that were copied.
        done: usize,
        /// All files.
        of: usize,
    },
    /// Reads the packed scene.
    Verifying {
        /// Frames that were read.
        done: usize,
        /// All frames.
        of: usize,
    },
}

/// A function that is called before each step; a break ends packing with
/// [`PackError::Interrupted`].
#[derive(Clone, Copy)]
pub struct Watch<'a>(pub &'a dyn Fn(Step) -> ControlFlow<()>);

impl Watch<'_> {
    /// One that lets everything be done.
    pub const NONE: Watch<'static> = Watch(&|_| ControlFlow::Continue(()));

    fn step(self, step: Step) -> Result<(), PackError> {
        match (self.0)(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(PackError::Interrupted),
        }
    }
}

/// A limit of what a scene may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Files of RIB.
    Archives(usize),
    /// Bytes of RIB.
    Bytes(u64),
    /// Requests, those of an archive each time that it is read.
    Requests(usize),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Archives(n) => write!(f, "{n} archives"),
            Limit::Bytes(n) => write!(f, "{n} bytes of archives"),
            Limit::Requests(n) => write!(f, "{n} requests that name files"),
        }
    }
}

/// Why a scene cannot be packed.
#[derive(Debug, Error)]
pub enum PackError {
    /// A renderer refuses the scene, or [`OpenOptions::strict`] does for what is not complete.
    #[error("the scene has errors")]
    Scene {
        /// All messages.
        diagnostics: Box<Diagnostics>,
        /// The sources that they point into.
        sources: Box<SourceMap>,
    },
    /// The scene has more than is packed.
    #[error("the scene has more than {0}")]
    TooMuch(Limit),
    /// The folder lies where the scene does.
    #[error("{} lies in the scene's folder {}; choose a folder outside of it, such as ../packed", .out.display(), .folder.display())]
    Inside {
        /// The folder to write.
        out: PathBuf,
        /// The scene's.
        folder: PathBuf,
    },
    /// The folder's parent is no folder.
    #[error("{}: the folder {} does not exist; create it first", .out.display(), .parent.display())]
    NoParent {
        /// The folder to write.
        out: PathBuf,
        /// The parent of that folder.
        parent: PathBuf,
    },
    /// The path is a file.
    #[error("{} is a file; name a folder", .out.display())]
    NoFolder {
        /// The path.
        out: PathBuf,
    },
    /// The folder holds something else.
    #[error("{} is not empty, and no pack; choose a folder that is new or empty", .out.display())]
    NoPack {
        /// The folder.
        out: PathBuf,
    },
    /// The folder holds the pack of another scene.
    #[error("{} is a pack of {original}; choose another folder, or remove it", .out.display())]
    OtherPack {
        /// The folder.
        out: PathBuf,
        /// The scene that is packed there.
        original: String,
    },
    /// The scene reads a file of the folder that would be replaced.
    #[error("the scene reads {}, which lies in the folder to write; choose another folder", .path.display())]
    Source {
        /// The file.
        path: PathBuf,
    },
    /// A file that was not packed is where a packed one goes.
    #[error("{} was not packed, and a packed file goes there; move it", .path.display())]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// The scene has none of the frames that are asked for.
    #[error("the scene has no frame from {first} to {last}")]
    NoFrame {
        /// The first.
        first: i32,
        /// The last.
        last: i32,
    },
    /// The system refuses to read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refuses to write.
    #[error("{}: cannot be written: {source}; check the folder's permissions and free space", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be copied.
    #[error("{}: cannot be copied to {}: {source}", .path.display(), .to.display())]
    Copy {
        /// The file.
        path: PathBuf,
        /// The copy.
        to: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The caller asked to stop.
    #[error("interrupted; nothing is written")]
    Interrupted,
}

/// An archive that a scene names and that is nowhere, or may not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name.
    pub name: String,
    /// The file that names it.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// Why it is not packed.
    pub why: String,
}

/// A pack.
#[derive(Debug)]
pub struct Packed {
    /// The packed folder.
    pub folder: PathBuf,
    /// The packed scene.
    pub scene: PathBuf,
    /// The manifest of the pack. Of a dry run the hashes are empty.
    pub manifest: Manifest,
    /// Files that the earlier pack had already.
    pub kept: usize,
    /// Messages of renderers about the scene, and about what is not in the pack.
    pub diagnostics: Diagnostics,
    /// The sources that the diagnostics point into.
    pub sources: SourceMap,
}

/// Packs a scene into a folder: a new one, an empty one, or an earlier pack of the same scene.
///
/// # Errors
/// A scene that renderers refuse, a folder that is not to be written, and what the system refuses. The
/// folder is as it was then.
pub fn pack(scene: &Path, out: &Path, options: &PackOptions, watch: Watch<'_>) -> Result<Packed, PackError> {
    let target = Target::new(out, scene)?;
    let mut reading = read(scene, options, |done, of| Step::Reading { done, of }, watch)?;
    let gathered = gather(scene, options, &mut reading)?;
    if let Some(file) = gathered.places.files().iter().find(|file| target.holds(&file.real)) {
        return Err(PackError::Source { path: file.source.clone() });
    }
    let name = gathered.places.files().first().map(|file| file.path.clone()).unwrap_or_default();
    let mut manifest = Manifest::new(&name, &absolute(scene));
    manifest.options = needed(&gathered, options);
    manifest.missing = gathered.missing.iter().map(listed).collect();
    let is_incomplete = !gathered.missing.is_empty() || gathered.programs > 0;
    if options.open.strict && is_incomplete {
        return Err(refused(reading));
    }
    if options.dry_run {
        for (number, file) in gathered.places.files().iter().enumerate() {
            let change = gathered.changes.get(&number);
            let bytes = match change {
                Some(change) => changed(&file.real, change)?.len() as u64,
                None => std::fs::metadata(&file.real).map_or(0, |meta| meta.len()),
            };
            manifest.files.push(entry(file, bytes, String::new(), change.is_some()));
        }
        manifest.messages = lines(&reading);
        let Reading { diagnostics, sources, .. } = reading;
        return Ok(Packed { folder: out.into(), scene: out.join(&name), manifest, kept: 0, diagnostics, sources });
    }
    let stage = target.stage()?;
    let count = gathered.places.files().len();
    let mut kept = 0;
    for (number, file) in gathered.places.files().iter().enumerate() {
        watch.step(Step::Copying { done: number, of: count })?;
        let change = gathered.changes.get(&number);
        let written = match change {
            Some(change) => stage.write(&file.path, &changed(&file.real, change)?)?,
            None => stage.copy(&file.path, &file.real)?,
        };
        kept += usize::from(written.kept);
        manifest.files.push(entry(file, written.bytes, written.sha256, change.is_some()));
    }
    let is_same = verify(stage.folder(), &name, &gathered, options, &mut reading, watch)?;
    if options.open.strict && !is_same {
        return Err(refused(reading));
    }
    manifest.messages = lines(&reading);
    stage.finish(&manifest)?;
    let Reading { diagnostics, sources, .. } = reading;
    Ok(Packed { folder: out.into(), scene: out.join(&name), manifest, kept, diagnostics, sources })
}

fn refused(mut reading: Reading) -> PackError {
    if !reading.diagnostics.has_errors() {
        let d = Diagnostic::error("the pack would not be complete, and nothing is written");
        reading.diagnostics.push(d.hint("--strict asks for that"));
    }
    PackError::Scene { diagnostics: reading.diagnostics.into(), sources: reading.sources.into() }
}

fn entry(file: &places::Placed, bytes: u64, sha256: String, rewritten: bool) -> manifest::File {
    manifest::File { path: file.path.clone(), original: shown(&file.real), bytes, sha256, rewritten }
}

fn listed(missing: &Missing) -> manifest::Missing {
    let Missing { name, file, line, why } = missing.clone();
    manifest::Missing { name, file: shown(&file), line, why }
}

/// The options that rendering the packed scene needs.
fn needed(gathered: &Gathered, options: &PackOptions) -> Vec<String> {
    let run = (gathered.programs > 0 && options.open.allow_run).then(|| "--allow-run".to_string());
    let folders = gathered.shader_folders.iter().flat_map(|folder| ["-I".to_string(), folder.clone()]);
    run.into_iter().chain(folders).collect()
}

/// The messages, a line each.
fn lines(reading: &Reading) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let word = if d.severity == Severity::Error { "error" } else { "warning" };
        let place = d.labels.iter().find(|label| label.primary).map(|label| reading.sources.describe(label.span));
        place.map_or_else(|| format!("{word}: {}", d.message), |place| format!("{place}: {word}: {}", d.message))
    };
    reading.diagnostics.iter().map(line).collect()
}

/// The bytes of a file with its new strings, compressed if it is.
fn changed(path: &Path, change: &Change) -> Result<Vec<u8>, PackError> {
    let failed = |source: io::Error| PackError::Read { path: path.to_path_buf(), source };
    let bytes = read_file(path, MAX_BYTES).map_err(|error| failed(io::Error::other(error.to_string())))?;
    let edits = &change.edits;
    let new = match change.form {
        Form::Rib if rib_text::is_binary(&bytes) => {
            let text = rib_text::to_text(&bytes, MAX_BYTES as usize).map_err(|e| failed(io::Error::other(e)))?;
            replaced(text.as_bytes(), Decoding::Bytes, edits)
        }
        Form::Rib => replaced(&bytes, Decoding::Replaced, edits),
        Form::Shader => replaced(&bytes, Decoding::OrLatin1, edits),
        Form::Gltf => gltf::with_uris(&bytes, edits),
        Form::Lines => replaced(&bytes, Decoding::Bytes, edits),
    };
    if !disk::start(path, GZIP.len() as u64).is_ok_and(|head| head == GZIP) {
        return Ok(new);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&new).and_then(|()| encoder.finish()).map_err(failed)
}

/// Reads the packed scene with nothing else in reach, and compares the files that it reads with those
/// that the scene reads. Differences are reported; whether there are none.
fn verify(
    folder: &Path,
    name: &str,
    gathered: &Gathered,
    options: &PackOptions,
    reading: &mut Reading,
    watch: Watch<'_>,
) -> Result<bool, PackError> {
    let shader_paths = gathered.shader_folders.iter().map(|path| folder.join(path)).collect();
    let open = OpenOptions { allow_read: Vec::new(), strict: false, ..options.open.clone() };
    let options = PackOptions { open, shader_paths, ..options.clone() };
    let step = |done, of| Step::Verifying { done, of };
    let packed = match read(&folder.join(name), &options, step, watch) {
        Ok(packed) => packed,
        Err(PackError::Scene { diagnostics, .. }) => {
            let why = diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.clone()).unwrap_or_default();
            reading.diagnostics.push(Diagnostic::error(format!("the packed scene cannot be read: {why}")));
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let by_path: BTreeMap<PathBuf, &Path> =
        gathered.places.files().iter().map(|file| (absolute(&folder.join(&file.path)), file.real.as_path())).collect();
    let mut lost: BTreeSet<PathBuf> = BTreeSet::new();
    let mut last = None;
    for (before, after) in reading.frames.iter().zip(&packed.frames) {
        let pair = (Arc::as_ptr(&before.read), Arc::as_ptr(&after.read));
        if last.replace(pair) == Some(pair) {
            continue;
        }
        let found: BTreeSet<&Path> =
            after.read.iter().filter_map(|path| by_path.get(&absolute(path)).copied()).collect();
        let read = before.read.iter().filter_map(|path| path.canonicalize().ok());
        lost.extend(read.filter(|path| !found.contains(path.as_path())));
    }
    for path in &lost {
        let d = Diagnostic::error(format!("the packed scene does not find `{}`", path.display()));
        let d = d.hint("its name is made by a shader or a program, or is another file's in other frames");
        let places = gathered.string_functions.iter().take(MAX_PLACES);
        let d = places.fold(d, |d, span| d.also(*span, "a string is made here"));
        reading
            .diagnostics
            .push(d.hint("name it by a path from the scene's folder, or from a folder of a search path"));
    }
    Ok(lost.is_empty())
}

/// Most places where strings are made that a message shows.
const MAX_PLACES: usize = 4;
