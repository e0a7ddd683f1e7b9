//! Follows the requests of a scene's RIB files in their order, through all archives: those of every
//! frame, of both parts of every condition, of every level of detail. It keeps the search paths as
//! the reader of scenes does, and makes no geometry.

use super::rib::{self, Contents, Event, Quoted, SearchPath};
use super::{Limit, PackError};
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_scene::{FileAccess, FileError, MAX_FOLDERS, SearchPaths, is_gltf, is_mesh, rib_text};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Deepest nest of archives, as the reader of scenes has it.
const MAX_DEPTH: usize = 32;
/// Most files of RIB.
const MAX_FILES: usize = 10_000;
/// Most bytes of RIB.
const MAX_BYTES: u64 = 4 << 30;
/// Most requests that are followed, each time counted: archives that read the next one twice ask for
/// 2ⁿ.
const MAX_STEPS: usize = 50_000_000;

/// Which images a part of a file is for: those of a frame, or of every one.
pub type Scope = Option<i32>;

/// A file of RIB.
#[derive(Debug)]
pub struct RibFile {
    /// The path, as it was found.
    pub path: PathBuf,
    /// The text of the file.
    pub id: FileId,
    /// The requests and strings of the file.
    pub contents: Contents,
}

/// A request that reads an archive.
#[derive(Debug)]
pub struct ArchiveUse {
    /// The file that has it, by its number.
    pub file: usize,
    /// The place of the request's name.
    pub request: Span,
    /// The archive's name.
    pub name: Quoted,
    /// The folders that are searched.
    pub folders: Arc<[PathBuf]>,
    /// The file that is read.
    pub found: Result<PathBuf, FileError>,
}

/// A part of a file that is read for some images: the file, the first byte and the last, the images.
pub type Piece = (usize, u32, u32, Scope);

/// The result of the walk.
#[derive(Debug, Default)]
pub struct Walk {
    /// The files, the scene itself first.
    pub files: Vec<RibFile>,
    /// The archives that they read.
    pub archives: Vec<ArchiveUse>,
    /// The parts that are read.
    pub pieces: BTreeSet<Piece>,
    /// The search paths at the end of each frame, and of the file.
    pub lists: BTreeMap<Scope, SearchPaths>,
    /// Programs that the scene runs.
    pub programs: Vec<Quoted>,
}

/// The search paths, and the archives within files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ReaderState {
    lists: [Arc<[PathBuf]>; 3],
    inline: BTreeMap<Arc<str>, Part>,
}

/// Events of a file, and their place in its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    file: usize,
    events: Range<usize>,
    text: Range<u32>,
}

struct Walker<'a> {
    access: &'a FileAccess,
    sources: &'a mut SourceMap,
    out: Walk,
    by_path: HashMap<PathBuf, Option<usize>>,
    states: Vec<ReaderState>,
    numbers: HashMap<ReaderState, usize>,
    /// Where a part ends that was followed before, in the same state and for the same images.
    known: HashMap<(Part, usize, Scope), usize>,
    uses: BTreeSet<(Span, usize)>,
    /// Files being read, without links.
    open: Vec<PathBuf>,
    scope: Scope,
    /// States and images before the frames that are open.
    frames: Vec<(usize, Scope)>,
    /// Where a file has several worlds and no frames, the number of the last world.
    world: Option<i32>,
    bytes: u64,
    steps: usize,
}

/// Follows a scene's RIB file, whose text `sources` has; archives are added to it.
///
/// # Errors
/// More files, bytes or requests than a scene may have.
pub fn walk(path: &Path, id: FileId, access: &FileAccess, sources: &mut SourceMap) -> Result<Walk, PackError> {
    let own: Arc<[PathBuf]> = access.base.iter().cloned().collect();
    let first = ReaderState { lists: [own.clone(), own.clone(), own], inline: BTreeMap::new() };
    let mut walker = Walker {
        access,
        sources,
        out: Walk::default(),
        by_path: HashMap::new(),
        states: vec![first.clone()],
        numbers: [(first, 0)].into(),
        known: HashMap::new(),
        uses: BTreeSet::new(),
        open: path.canonicalize().into_iter().collect(),
        scope: None,
        frames: Vec::new(),
        world: None,
        bytes: 0,
        steps: 0,
    };
    let text = walker.sources.get(id).map(|file| file.text.clone()).unwrap_or_default();
    let main = walker.add(path, id, &text);
    let contents = &walker.out.files[main].contents;
    // As the reader of scenes decides.
    if !text.contains("FrameBegin") && contents.worlds > 1 {
        walker.world = Some(0);
    }
    let part = Part { file: main, events: 0..contents.events.len(), text: 0..text.len() as u32 };
    let end = walker.run(&part, 0)?;
    walker.keep_lists(end);
    Ok(walker.out)
}

impl Walker<'_> {
    fn add(&mut self, path: &Path, id: FileId, text: &str) -> usize {
        let number = self.out.files.len();
        self.out.files.push(RibFile { path: path.to_path_buf(), id, contents: rib::read(id, text) });
        self.by_path.insert(path.to_path_buf(), Some(number));
        number
    }

    /// The file of an archive, read once; `None` where it is no RIB.
    fn file(&mut self, path: &Path) -> Result<Option<usize>, PackError> {
        if let Some(known) = self.by_path.get(path) {
            return Ok(*known);
        }
        if is_mesh(path) || is_gltf(path) {
            return Ok(None);
        }
        if self.out.files.len() >= MAX_FILES {
            return Err(PackError::TooMuch(Limit::Archives(MAX_FILES)));
        }
        let known = self.sources.files().iter().position(|file| file.path.as_deref() == Some(path));
        let id = match known {
            Some(known) => Some(FileId(known as u32)),
            // What cannot be read is reported where it is read, if it is.
            None => self.access.read(path, MAX_BYTES - self.bytes, &mut FileLog::default()).ok().and_then(|bytes| {
                let shown = path.display().to_string();
                let text = rib_text::decode(bytes, &shown).ok()?;
                Some(self.sources.add(shown, Some(path), text))
            }),
        };
        let text = id.and_then(|id| self.sources.get(id)).map(|file| file.text.clone());
        self.bytes += text.as_ref().map_or(0, |text| text.len() as u64);
        if self.bytes > MAX_BYTES {
            return Err(PackError::TooMuch(Limit::Bytes(MAX_BYTES)));
        }
        let number = id.zip(text).map(|(id, text)| self.add(path, id, &text));
        self.by_path.insert(path.to_path_buf(), number);
        Ok(number)
    }

    fn number_of(&mut self, state: ReaderState) -> usize {
        if let Some(&known) = self.numbers.get(&state) {
            return known;
        }
        self.states.push(state.clone());
        self.numbers.insert(state, self.states.len() - 1);
        self.states.len() - 1
    }

    fn keep_lists(&mut self, state: usize) {
        let [shader, texture, archive] = self.states[state].lists.clone().map(|list| list.to_vec());
        self.out.lists.insert(self.scope, SearchPaths { shader, texture, archive });
    }

    /// Follows a part of a file; gives the state at its end.
    fn run(&mut self, part: &Part, state: usize) -> Result<usize, PackError> {
        let key = (part.clone(), state, self.scope);
        if let Some(&end) = self.known.get(&key) {
            return Ok(end);
        }
        let outer_frames = self.frames.len();
        let (mut state, mut piece) = (state, part.text.start);
        let mut next = part.events.start;
        while next < part.events.end {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(PackError::TooMuch(Limit::Requests(MAX_STEPS)));
            }
            let (at, event) = self.out.files[part.file].contents.events[next].clone();
            next += 1;
            match event {
                Event::Archive(name) => state = self.archive(part.file, at, name, state)?,
                Event::Search(path, value) => state = self.search(path, &value.value, state),
                Event::ShaderFolder(folder) => state = self.add_folder(&folder, state),
                Event::Inline(name, events, text) => {
                    next = events.end.max(next);
                    let mut new = self.states[state].clone();
                    new.inline.insert(name, Part { file: part.file, events, text });
                    state = self.number_of(new);
                }
                Event::Program(program) => {
                    if !self.out.programs.contains(&program) {
                        self.out.programs.push(program);
                    }
                }
                Event::FrameBegin(_) | Event::FrameEnd | Event::WorldBegin | Event::WorldEnd => {
                    let scope = self.scope;
                    let after = self.block(&event, state);
                    if self.scope != scope {
                        self.out.pieces.insert((part.file, piece, at.start, scope));
                        piece = at.start;
                    }
                    state = after;
                }
            }
        }
        self.out.pieces.insert((part.file, piece, part.text.end, self.scope));
        if self.frames.len() == outer_frames {
            self.known.insert(key, state);
        }
        Ok(state)
    }

    /// Enters and leaves frames: the state after them is the one before.
    fn block(&mut self, event: &Event, state: usize) -> usize {
        let entered = match (event, self.world) {
            (Event::FrameBegin(number), _) => Some(*number),
            (Event::WorldBegin, Some(last)) => {
                self.world = Some(last + 1);
                Some(last + 1)
            }
            _ => None,
        };
        if let Some(number) = entered {
            self.frames.push((state, self.scope));
            self.scope = Some(number);
            return state;
        }
        let leaves = matches!(event, Event::FrameEnd) || matches!(event, Event::WorldEnd) && self.world.is_some();
        match self.frames.pop_if(|_| leaves) {
            Some((before, scope)) => {
                self.keep_lists(state);
                self.scope = scope;
                before
            }
            None => state,
        }
    }

    fn search(&mut self, path: SearchPath, value: &str, state: usize) -> usize {
        let base = self.access.base.clone().unwrap_or_default();
        let mut new = self.states[state].clone();
        let list = match path {
            SearchPath::Shader => &mut new.lists[0],
            SearchPath::Texture => &mut new.lists[1],
            SearchPath::Archive => &mut new.lists[2],
        };
        let (folders, _) = rib_text::search_path(value, list, &base);
        *list = folders.into_iter().filter(|folder| !self.access.forbids_folder(folder)).collect();
        self.number_of(new)
    }

    fn add_folder(&mut self, folder: &str, state: usize) -> usize {
        let Some(folder) = self.access.base.as_ref().map(|base| base.join(folder)) else { return state };
        let known = &self.states[state].lists[0];
        if known.contains(&folder) || known.len() >= MAX_FOLDERS || self.access.forbids_folder(&folder) {
            return state;
        }
        let mut new = self.states[state].clone();
        new.lists[0] = new.lists[0].iter().cloned().chain([folder]).collect();
        self.number_of(new)
    }

    fn archive(&mut self, file: usize, request: Span, name: Quoted, state: usize) -> Result<usize, PackError> {
        if self.open.len() > MAX_DEPTH {
            return Ok(state);
        }
        if let Some(part) = self.states[state].inline.get(&name.value).cloned() {
            self.open.push(PathBuf::new());
            let end = self.run(&part, state);
            self.open.pop();
            return end;
        }
        let folders = self.states[state].lists[2].clone();
        let beside = self.out.files[file].path.parent().map(Path::to_path_buf).unwrap_or_default();
        let found = self.access.find(&name.value, Some(&beside), &folders, &mut FileLog::default());
        let target = found.as_ref().ok().filter(|path| path.is_file()).cloned();
        if self.uses.insert((name.span, state)) {
            self.out.archives.push(ArchiveUse { file, request, name, folders, found });
        }
        let Some(target) = target else { return Ok(state) };
        let Some(number) = self.file(&target)? else { return Ok(state) };
        let real = target.canonicalize().unwrap_or(target);
        // What reads itself is refused where it is read.
        if self.open.contains(&real) {
            return Ok(state);
        }
        let RibFile { id, contents, .. } = &self.out.files[number];
        let length = self.sources.get(*id).map_or(0, |file| file.text.len() as u32);
        let part = Part { file: number, events: 0..contents.events.len(), text: 0..length };
        self.open.push(real);
        let end = self.run(&part, state);
        self.open.pop();
        end
    }
}
