//! Finds the files of a scene, gives them their places, and decides which strings must change.
//!
//! Files that frames read come from [`super::reading`]. Files that nothing has read yet, of other
//! parts of conditions for example, come from the strings of RIB files ([`super::walk`]) and shaders.
//! A string changes only where it would lead elsewhere in the pack ([`rewriting`]).

mod rewriting;

use super::lookup;
use super::places::Places;
use super::reading::{Frame, Reading};
use super::replace::Edits;
use super::rib::{self, Name, NameKind};
use super::shaders::{self, Include};
use super::walk::{ArchiveUse, Walk, walk};
use super::{Missing, PackError, PackOptions, gltf, wavefront};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_lang::{Naming, ShaderRef, registry};
use shadewright_scene::rib_text::folder_and_name;
use shadewright_scene::{self as scene, FileAccess, FileError, Scene, SearchPaths, is_gltf, is_mesh};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most bytes of a scene's file.
const MAX_BYTES: u64 = 2 << 30;

/// How a file's text is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RIB, text or binary.
    Rib,
    /// The text of a shader or a header.
    Shader,
    /// A glTF document, within its container.
    Gltf,
    /// Lines of an OBJ file or of its materials.
    Lines,
}

/// New strings in a file.
#[derive(Clone, Debug)]
pub struct Change {
    /// The form of the file.
    pub form: Form,
    /// The strings.
    pub edits: Edits,
}

/// The files of a scene.
#[derive(Debug)]
pub struct Gathered {
    /// The files with their places, the scene itself first.
    pub places: Places,
    /// New strings, by the numbers of files.
    pub changes: BTreeMap<usize, Change>,
    /// Archives that are nowhere.
    pub missing: Vec<Missing>,
    /// Programs that the scene runs.
    pub programs: usize,
    /// Folders of the pack that must be searched for shaders first, where the scene cannot say so.
    pub shader_folders: Vec<String>,
    /// The places of functions that make strings, in shaders.
    pub string_functions: Vec<Span>,
}

/// Gathers the files of a scene that was read. Warnings are added to the reading's.
///
/// # Errors
/// More than a scene may have.
pub fn gather(path: &Path, options: &PackOptions, reading: &mut Reading) -> Result<Gathered, PackError> {
    let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let access = FileAccess { base: Some(base.clone()), allowed: options.open.allow_read.clone() };
    let shader_access = access.with_allowed(&options.shader_paths);
    let others: Vec<PathBuf> = access.allowed.iter().chain(&options.shader_paths).cloned().collect();
    let mut places = Places::new(&base, &others);
    let main = places.add_exact(path);
    debug_assert!(main.is_none_or(|main| main == 0), "the scene is the first file");
    let mut gatherer = Gatherer {
        options,
        access,
        shader_access,
        base,
        places,
        changes: BTreeMap::new(),
        lists: Vec::new(),
        of_frames: BTreeMap::new(),
        textures: HashMap::new(),
        folders: HashMap::new(),
        renamed: BTreeMap::new(),
        found: Vec::new(),
        explained: HashSet::new(),
        missing: Vec::new(),
        shader_folders: Vec::new(),
        string_functions: Vec::new(),
    };
    for Frame { number, lists, .. } in &reading.frames {
        let list = gatherer.list(lists);
        gatherer.of_frames.insert(*number, list);
    }
    gatherer.explain(path);
    let is_rib = !is_mesh(path) && !is_gltf(path);
    let mut walked = Walk::default();
    if is_rib && let Some(id) = id_of(&reading.sources, path) {
        walked = walk(path, id, &gatherer.access, &mut reading.sources)?;
    }
    gatherer.archives(&walked, reading);
    let mut shaders = gatherer.strings(&walked);
    if !is_rib {
        gatherer.main_file(path);
    }
    gatherer.shaders(&walked, &mut shaders, &mut reading.sources);
    gatherer.computed(&reading.frames);
    gatherer.rename_textures(&mut reading.diagnostics);
    gatherer.change_rib(&walked);
    gatherer.change_shaders(&shaders);
    gatherer.change_main_file(path);
    gatherer.add_shader_folders(is_rib.then_some(&walked));
    let programs = walked.programs.len();
    for program in &walked.programs {
        let message = format!("what the program `{}` makes is not in the pack", program.value);
        let d = Diagnostic::warning(message).at(program.span, "it runs when the scene is rendered");
        reading.diagnostics.push(d.hint("rendering the packed scene needs --allow-run, and the program"));
    }
    for (first, second) in gatherer.places.alike() {
        let message = format!("`{}` and `{}` differ in case only", first.path, second.path);
        reading.diagnostics.push(Diagnostic::warning(message).hint("systems that take no notice of case mix them up"));
    }
    for file in gatherer.places.foreign() {
        let d = Diagnostic::warning(format!("some systems have no file named `{}`", file.path));
        reading.diagnostics.push(d.hint("its name is computed, so that it is not changed"));
    }
    let Gatherer { places, changes, missing, shader_folders, string_functions, .. } = gatherer;
    Ok(Gathered { places, changes, missing, programs, shader_folders, string_functions })
}

/// A texture's name, where it is looked for, and the file that it finds.
struct FoundTexture {
    name: Arc<str>,
    list: usize,
    /// The name with the ending that was found.
    found_as: String,
    file: usize,
}

/// The shader files of a scene.
#[derive(Default)]
struct Shaders {
    /// Files that define shaders, with the lists of folders that led to them.
    mains: BTreeSet<(PathBuf, usize)>,
    /// All files with their texts, headers too.
    texts: BTreeMap<PathBuf, FileId>,
    /// Headers, with the lists of folders.
    includes: Vec<(Include, usize)>,
    /// Strings of the texts.
    literals: Vec<(PathBuf, Span, Arc<str>)>,
}

struct Gatherer<'a> {
    options: &'a PackOptions,
    access: FileAccess,
    /// The same for shaders, which may lie in folders of the user, too.
    shader_access: FileAccess,
    base: PathBuf,
    places: Places,
    changes: BTreeMap<usize, Change>,
    /// Search paths that differ, each with a scene that looks for images along it.
    lists: Vec<(SearchPaths, Scene)>,
    /// The numbers of frames' lists.
    of_frames: BTreeMap<Option<i32>, usize>,
    /// Files of textures, by list and name.
    textures: HashMap<(usize, Arc<str>), Option<PathBuf>>,
    /// True if folders in names of textures are there.
    folders: HashMap<(usize, String), bool>,
    /// New names of textures.
    renamed: BTreeMap<Arc<str>, String>,
    found: Vec<FoundTexture>,
    /// Files whose names are known.
    explained: HashSet<PathBuf>,
    missing: Vec<Missing>,
    shader_folders: Vec<String>,
    string_functions: Vec<Span>,
}

impl Gatherer<'_> {
    fn list(&mut self, lists: &SearchPaths) -> usize {
        // Archives are searched for as the file is read.
        let key = SearchPaths { archive: Vec::new(), ..lists.clone() };
        if let Some(known) = self.lists.iter().position(|(known, _)| *known == key) {
            return known;
        }
        let mut scene = Scene::empty("");
        (scene.access, scene.search_paths) = (self.access.clone(), key.clone());
        self.lists.push((key, scene));
        self.lists.len() - 1
    }

    fn explain(&mut self, path: &Path) {
        if !self.explained.contains(path) {
            self.explained.insert(path.to_path_buf());
        }
    }

    /// Places the archives of a walk, and reports those that are nowhere.
    fn archives(&mut self, walked: &Walk, reading: &mut Reading) {
        for file in &walked.files {
            self.places.add_exact(&file.path);
            self.explain(&file.path);
        }
        for ArchiveUse { file, request, name, found, .. } in &walked.archives {
            let error = match found {
                Ok(path) => {
                    self.explain(path);
                    match is_mesh(path) {
                        true => self.places.add(path),
                        false => self.places.add_exact(path),
                    };
                    continue;
                }
                Err(error) => error,
            };
            let path = &walked.files[*file].path;
            let line = reading.sources.position(*request).map_or(0, |at| at.line);
            let why = error.to_string();
            self.missing.push(Missing { name: name.value.to_string(), file: path.clone(), line, why: why.clone() });
            if !reading.diagnostics.iter().any(|d| d.message.contains(&why)) {
                let d = Diagnostic::warning(format!("the archive `{}` is not packed: {why}", name.value));
                let d = d.at(name.span, "no frame that was read needs it");
                reading.diagnostics.push(error.hints().into_iter().fold(d, Diagnostic::hint));
            }
        }
    }

    /// The images for which a part of a file is read, as the numbers of their lists.
    fn lists_of(&mut self, walked: &Walk, scope: Option<i32>) -> BTreeSet<usize> {
        if let Some(list) = self.of_frames.get(&scope) {
            return [*list].into();
        }
        // What stands outside of frames is for all of them.
        let unread = |number: &Option<i32>| match scope {
            Some(_) => *number == scope,
            None => number.is_some() && !self.of_frames.contains_key(number),
        };
        let unread: Vec<SearchPaths> =
            walked.lists.iter().filter(|(number, _)| unread(number)).map(|(_, lists)| lists.clone()).collect();
        let mut lists: BTreeSet<usize> = unread.iter().map(|lists| self.list(lists)).collect();
        if scope.is_none() {
            lists.extend(self.of_frames.values());
        }
        lists
    }

    /// Finds what the strings of RIB files name; gives the files of shaders.
    fn strings(&mut self, walked: &Walk) -> Shaders {
        let mut parts: BTreeSet<(usize, u32, u32, usize)> = BTreeSet::new();
        for &(file, start, end, scope) in &walked.pieces {
            let lists = self.lists_of(walked, scope);
            parts.extend(lists.into_iter().map(|list| (file, start, end, list)));
        }
        let mut shaders = Shaders::default();
        let mut known: HashSet<(usize, NameKind, Arc<str>)> = HashSet::new();
        for (file, start, end, list) in parts {
            let names = &walked.files[file].contents.names;
            let first = names.partition_point(|name| name.quoted.span.start < start);
            for Name { kind, quoted } in names[first..].iter().take_while(|name| name.quoted.span.start < end) {
                if !known.insert((list, *kind, quoted.value.clone())) {
                    continue;
                }
                match kind {
                    NameKind::Texture | NameKind::Tiles => self.texture(list, &quoted.value, *kind),
                    NameKind::Shader => {
                        if let Some(path) = self.shader_file(list, &quoted.value) {
                            shaders.mains.insert((path, list));
                        }
                    }
                    NameKind::Display | NameKind::Condition => {}
                }
            }
        }
        shaders
    }

    /// Finds the file of a texture, and places it.
    fn texture(&mut self, list: usize, name: &Arc<str>, kind: NameKind) {
        let key = (list, name.clone());
        if self.textures.contains_key(&key) {
            return;
        }
        let first = rib::first_tile(name);
        let looked_for = if kind == NameKind::Tiles { &*first } else { &**name };
        let path = match self.has_folder_of(list, looked_for) {
            true => {
                self.lists[list].1.find_image(looked_for, &mut FileLog::default()).ok().filter(|path| path.is_file())
            }
            false => None,
        };
        if let Some(path) = &path {
            self.explain(path);
            // A texture may have another ending than its name.
            let slashed = looked_for.replace('\\', "/");
            let folder = slashed.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let file_name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            if let Some(file) = self.places.add(path) {
                let found_as = format!("{folder}{file_name}");
                self.found.push(FoundTexture { name: name.clone(), list, found_as, file });
            }
        }
        self.textures.insert(key, path);
    }

    /// True if the folder in a name may be there. A scene may have many strings that name no file, and
    /// each is looked for with all endings that images have.
    fn has_folder_of(&mut self, list: usize, name: &str) -> bool {
        let Some((folder, _)) = name.rsplit_once('/').filter(|_| !lookup::is_absolute(name) && !name.contains('\\'))
        else {
            return true;
        };
        if let Some(known) = self.folders.get(&(list, folder.to_string())) {
            return *known;
        }
        let searched = std::iter::once(&self.base).chain(&self.lists[list].0.texture);
        let is_there = searched.map(|searched| searched.join(folder)).any(|folder| folder.is_dir());
        self.folders.insert((list, folder.to_string()), is_there);
        is_there
    }

    /// The folders in which shaders are looked for.
    fn shader_search(&self, list: usize) -> Vec<PathBuf> {
        self.options.shader_paths.iter().chain(&self.lists[list].0.shader).cloned().collect()
    }

    /// The file of a shader as a scene names it; `None` of one that is built in or missing, or that a
    /// file of another name defines.
    fn shader_file(&mut self, list: usize, name: &str) -> Option<PathBuf> {
        let folders = self.shader_search(list);
        let file = file_of_shader(name);
        let found = match file.contains(['/', '\\']) {
            false => folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()),
            true => {
                let access = &self.shader_access;
                access.find(&file, None, &folders, &mut FileLog::default()).ok().filter(|path| path.is_file())
            }
        };
        let found = found.and_then(|path| self.shader_access.permit(path).ok());
        found.inspect(|path| self.explain(path))
    }

    /// Places shader files with their headers, and finds the textures that they name.
    fn shaders(&mut self, walked: &Walk, shaders: &mut Shaders, sources: &mut SourceMap) {
        let rib: HashSet<&Path> = walked.files.iter().map(|file| file.path.as_path()).collect();
        let scene = self.places.files().first().map(|file| file.source.clone());
        let mut mains: Vec<(PathBuf, usize)> = shaders.mains.iter().cloned().collect();
        let mut known: HashSet<Include> = HashSet::new();
        for round in 0..2 {
            for (main, list) in &mains {
                let include_paths = self.include_paths(*list);
                let Some(found) = shaders::read(main, &include_paths, &self.shader_access, sources) else { continue };
                for (path, id) in found.files {
                    self.explain(&path);
                    self.places.add_exact(&path);
                    shaders.texts.insert(path, id);
                }
                let is_new = |include: &Include| known.insert(include.clone());
                shaders.includes.extend(found.includes.into_iter().filter(is_new).map(|include| (include, *list)));
            }
            if round == 0 {
                // Files that were compiled though no shader has their name.
                let compiled = sources.files().iter().filter_map(|file| file.path.clone());
                let is_other = |path: &PathBuf| {
                    !rib.contains(path.as_path()) && !shaders.texts.contains_key(path) && Some(path) != scene.as_ref()
                };
                let others: Vec<PathBuf> = compiled.filter(is_other).collect();
                let lists = 0..self.lists.len();
                mains =
                    others.into_iter().flat_map(|path| lists.clone().map(move |list| (path.clone(), list))).collect();
            }
        }
        for (path, id) in &shaders.texts {
            let Some(file) = sources.get(*id) else { continue };
            let strings = shaders::strings(*id, &file.text);
            self.string_functions.extend(strings.functions);
            for (span, value) in strings.literals {
                for list in 0..self.lists.len() {
                    self.texture(list, &value, NameKind::Texture);
                }
                shaders.literals.push((path.clone(), span, value));
            }
        }
    }

    /// The folders in which headers are looked for.
    fn include_paths(&self, list: usize) -> Vec<PathBuf> {
        let mut folders = self.shader_search(list);
        if !folders.contains(&self.base) {
            folders.push(self.base.clone());
        }
        folders
    }

    /// Finds what a scene names that is no RIB.
    fn main_file(&mut self, path: &Path) {
        for reference in self.references(path) {
            self.explain(&reference.found);
            self.places.add(&reference.found);
            if reference.is_library {
                for texture in self.references_of_library(&reference.found) {
                    self.explain(&texture.found);
                    self.places.add(&texture.found);
                }
            }
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        self.access.read(path, MAX_BYTES, &mut FileLog::default())
    }

    /// The files that a glTF document or an OBJ mesh names.
    fn references(&self, path: &Path) -> Vec<Reference> {
        let Ok(bytes) = self.read(path) else { return Vec::new() };
        if is_gltf(path) {
            let mut scene = Scene::empty("");
            (scene.access, scene.search_paths.texture) = (self.access.clone(), vec![self.base.clone()]);
            let files = gltf::uris(&bytes).into_iter().filter_map(|uri| {
                let name = scene::file_of_uri(&uri.value)?;
                let found = scene.find_image(&name, &mut FileLog::default()).ok().filter(|path| path.is_file())?;
                Some(Reference { name, place: uri.place, found, is_library: false })
            });
            return files.collect();
        }
        let statements = wavefront::libraries(&bytes);
        let mut out = Vec::new();
        for names in statements {
            let mut files = names.iter().map(|named| self.beside(named, true));
            match files.next().flatten() {
                Some(whole) => out.push(whole),
                None => out.extend(files.flatten()),
            }
        }
        out
    }

    /// The textures that a library of materials names.
    fn references_of_library(&self, path: &Path) -> Vec<Reference> {
        let Ok(bytes) = self.read(path) else { return Vec::new() };
        let statements = wavefront::maps(&bytes);
        statements.iter().filter_map(|names| names.iter().find_map(|named| self.beside(named, false))).collect()
    }

    /// A file that an OBJ mesh or its library names, as the reader of scenes finds it.
    fn beside(&self, named: &wavefront::Named, is_library: bool) -> Option<Reference> {
        let find = |name: &str| self.access.find(name, None, &[], &mut FileLog::default()).ok();
        let alone = || find(Path::new(&named.name).file_name()?.to_str()?);
        let found = find(&named.name).or_else(alone).filter(|path| path.is_file())?;
        let place = (named.place.start, named.place.end);
        Some(Reference { name: named.name.clone(), place, found, is_library })
    }

    /// Places the files that were read by names that no text has: they keep their names.
    fn computed(&mut self, frames: &[Frame]) {
        for path in frames.iter().flat_map(|frame| &*frame.read) {
            if !self.explained.contains(path) {
                self.places.add_as_named(path);
                self.explain(path);
            }
        }
    }
}

/// A file that a scene names which is no RIB.
struct Reference {
    name: String,
    place: (usize, usize),
    found: PathBuf,
    /// True if it is a library of materials, which names textures itself.
    is_library: bool,
}

/// The file in which a shader is looked for.
fn file_of_shader(name: &str) -> String {
    let shader = ShaderRef::new(name);
    if shader.language.naming() == Naming::Qualified {
        return shader.file;
    }
    match (registry::qualified(name), folder_and_name(name)) {
        // A function that replaces the camera.
        (Some((_, file, Some(_))), _) => file.to_string(),
        (_, Some((_, stem))) => ShaderRef::new(&stem).file,
        _ => shader.file,
    }
}

fn id_of(sources: &SourceMap, path: &Path) -> Option<FileId> {
    sources.files().iter().position(|file| file.path.as_deref() == Some(path)).map(|i| FileId(i as u32))
}
