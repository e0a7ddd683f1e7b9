//! The strings of packed files that must change, and what they become.

use super::super::gltf;
use super::super::lookup::{self, PackedPath};
use super::super::replace::Edits;
use super::super::rib::{self, Event, Name, NameKind, SearchPath};
use super::super::walk::{ArchiveUse, Walk};
use super::{Change, Form, FoundTexture, Gatherer, Reference, Shaders};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::Span;
use shadewright_lang::{Naming, ShaderRef, registry};
use shadewright_scene::rib_text::folder_and_name;
use shadewright_scene::{is_gltf, is_mesh};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Gatherer<'_> {
    fn edit(&mut self, file: usize, form: Form, (start, end): (usize, usize), text: String) {
        let change = self.changes.entry(file).or_insert_with(|| Change { form, edits: Edits::new() });
        change.edits.insert((start, end), text);
    }

    /// Folders of the pack in the order in which a name is looked for.
    fn packed<'f>(&self, folders: impl IntoIterator<Item = &'f PathBuf>) -> Vec<String> {
        folders.into_iter().filter_map(|folder| self.places.mirror(folder)).collect()
    }

    fn looks_for(&self, name: &str, folders: &[String]) -> PackedPath {
        let is_file = |path: &str| self.places.at(path).is_some();
        lookup::find(name, folders.iter().map(String::as_str), is_file, |folder| self.places.has_folder(folder))
    }

    /// Renames the textures whose names lead elsewhere in the pack.
    pub(super) fn rename_textures(&mut self, diagnostics: &mut Diagnostics) {
        let of_list = |list: usize| {
            let own = std::iter::once(String::new());
            own.chain(self.packed(&self.lists[list].0.texture)).collect::<Vec<String>>()
        };
        let folders: Vec<Vec<String>> = (0..self.lists.len()).map(of_list).collect();
        let mut files: HashMap<&Arc<str>, BTreeSet<usize>> = HashMap::new();
        let mut renamed: BTreeMap<Arc<str>, String> = BTreeMap::new();
        for FoundTexture { name, list, found_as, file } in &self.found {
            files.entry(name).or_default().insert(*file);
            let path = &self.places.get(*file).path;
            if self.looks_for(found_as, &folders[*list]) != PackedPath::File(path.clone()) {
                renamed.entry(name.clone()).or_insert_with(|| path.clone());
            }
        }
        for (name, new) in renamed.iter().filter(|(name, _)| files[name].len() > 1) {
            let d = Diagnostic::warning(format!("the texture `{name}` is another file in other frames"));
            let d = d.hint(format!("in the pack it is `{new}` in all of them"));
            diagnostics.push(d.hint("give the files names of their own"));
        }
        self.renamed = renamed;
    }

    /// Changes the strings of RIB files.
    pub(super) fn change_rib(&mut self, walked: &Walk) {
        let mut of_shaders: HashMap<Arc<str>, Option<String>> = HashMap::new();
        for file in &walked.files {
            let Some(number) = self.places.add_exact(&file.path) else { continue };
            for Name { kind, quoted } in &file.contents.names {
                let new = match kind {
                    NameKind::Texture | NameKind::Tiles => self.renamed.get(&quoted.value).cloned(),
                    NameKind::Display => self.new_display(&quoted.value),
                    NameKind::Condition => self.new_condition(&quoted.value),
                    NameKind::Shader => {
                        let new = || self.new_shader(&quoted.value);
                        of_shaders.entry(quoted.value.clone()).or_insert_with(new).clone()
                    }
                };
                if let Some(new) = new {
                    self.edit(number, Form::Rib, place(quoted.span), rib::quote(&new));
                }
            }
            for (_, event) in &file.contents.events {
                if let Event::Search(path, quoted) = event
                    && let Some(new) = self.new_search_path(*path, &quoted.value)
                {
                    self.edit(number, Form::Rib, place(quoted.span), rib::quote(&new));
                }
            }
        }
        for ArchiveUse { file, name, folders, found, .. } in &walked.archives {
            let Ok(found) = found else { continue };
            let target = if is_mesh(found) { self.places.add(found) } else { self.places.add_exact(found) };
            let own = self.places.add_exact(&walked.files[*file].path);
            let (Some(target), Some(own)) = (target, own) else { continue };
            let target = self.places.get(target).path.clone();
            let beside = lookup::folder_of(&self.places.get(own).path).to_string();
            let packed = self.packed(folders.iter());
            let searched: Vec<String> = [beside.clone(), String::new()].into_iter().chain(packed).collect();
            if self.looks_for(&name.value, &searched) != PackedPath::File(target.clone()) {
                self.edit(own, Form::Rib, place(name.span), rib::quote(&lookup::relative(&beside, &target)));
            }
        }
    }

    /// A display whose image shaders name.
    fn new_display(&self, name: &str) -> Option<String> {
        let (plus, name) = name.strip_prefix('+').map_or(("", name), |name| ("+", name));
        self.renamed.get(name).map(|new| format!("{plus}{new}"))
    }

    /// A condition that compares names of textures.
    fn new_condition(&self, condition: &str) -> Option<String> {
        let quoted = |name: &str| format!("'{name}'");
        let mut names = self.renamed.iter().filter(|(name, _)| condition.contains(&quoted(name))).peekable();
        names.peek()?;
        Some(names.fold(condition.to_string(), |text, (name, new)| text.replace(&quoted(name), &quoted(new))))
    }

    /// The name of a shader whose file a path names that leads elsewhere in the pack.
    fn new_shader(&mut self, name: &str) -> Option<String> {
        let shader = ShaderRef::new(name);
        let is_function = shader.language.naming() == Naming::Bare && registry::qualified(name).is_some();
        if shader.language.naming() == Naming::Bare {
            let (folder, stem) = folder_and_name(name).filter(|_| !is_function)?;
            let slashed = name.replace('\\', "/");
            let folder = folder?;
            if !lookup::is_absolute(name) && self.is_mirrored(&folder) {
                return None;
            }
            let found = self.base.join(&folder);
            let packed = self.places.mirror(&found).filter(|_| !self.access.forbids_folder(&found));
            // Without a folder the shader is looked for along the search path, as before.
            let file = slashed.rsplit('/').next().unwrap_or(&stem).to_string();
            return Some(match packed.filter(|packed| !packed.is_empty()) {
                Some(packed) => format!("{packed}/{file}"),
                None => file,
            });
        }
        if !shader.file.contains(['/', '\\']) {
            return None;
        }
        let found: Vec<PathBuf> = (0..self.lists.len()).filter_map(|list| self.shader_file(list, name)).collect();
        let list = (0..self.lists.len()).find(|list| self.shader_file(*list, name).is_some())?;
        let number = self.places.add_exact(found.first()?)?;
        let path = self.places.get(number).path.clone();
        let own = std::iter::once(String::new());
        let folders: Vec<String> = own.chain(self.packed(&self.shader_search(list))).collect();
        if self.looks_for(&shader.file, &folders) == PackedPath::File(path.clone()) {
            return None;
        }
        // A name without folders is looked for along the search path.
        let path = if path.contains('/') { path } else { format!("./{path}") };
        Some(path + name.strip_prefix(&*shader.file).unwrap_or_default())
    }

    /// True if a relative folder of the scene is at the same path in the pack.
    fn is_mirrored(&self, folder: &str) -> bool {
        let Some(plain) = lookup::plain_folder(folder) else { return false };
        self.places.mirror(&self.base.join(folder)).is_none_or(|mirrored| mirrored == plain)
    }

    /// A list of folders that are those of the pack.
    fn new_search_path(&self, path: SearchPath, value: &str) -> Option<String> {
        let mut words: Vec<String> = match path {
            SearchPath::Shader => self.shader_paths_of_pack(),
            _ => Vec::new(),
        };
        for word in value.split(':').filter(|word| !word.is_empty()) {
            if matches!(word, "&" | "@" | ".") || self.is_mirrored(word) {
                words.push(word.to_string());
                continue;
            }
            let folder = self.base.join(word);
            if let Some(packed) = self.places.mirror(&folder).filter(|_| !self.access.forbids_folder(&folder)) {
                words.push(if packed.is_empty() { ".".to_string() } else { packed });
            }
        }
        let mut known: HashSet<String> = HashSet::new();
        words.retain(|word| known.insert(word.clone()));
        let new = words.join(":");
        (new != value).then_some(new)
    }

    /// The folders of `-I` from which files come, in the pack.
    fn shader_paths_of_pack(&self) -> Vec<String> {
        let holds = |folder: &String| match folder.as_str() {
            "" => self
                .places
                .files()
                .iter()
                .any(|file| !file.path.contains('/') && registry::for_path(Path::new(&file.path)).is_some()),
            folder => self.places.files().iter().any(|file| file.path.starts_with(&format!("{folder}/"))),
        };
        let folders = self.options.shader_paths.iter().filter_map(|folder| self.places.mirror(folder)).filter(holds);
        folders.map(|folder| if folder.is_empty() { ".".to_string() } else { folder }).collect()
    }

    /// Makes the packed scene search the folders of `-I`.
    pub(super) fn add_shader_folders(&mut self, walked: Option<&Walk>) {
        let folders = self.shader_paths_of_pack();
        let first = walked.and_then(|walked| walked.files.first()?.contents.first);
        match first {
            _ if folders.is_empty() => {}
            Some(first) => {
                let value = rib::quote(&format!("{}:&", folders.join(":")));
                let text = format!("Option \"searchpath\" \"string shader\" [{value}]\n");
                self.edit(0, Form::Rib, (first.start as usize, first.start as usize), text);
            }
            None => self.shader_folders = folders,
        }
    }

    /// Changes the headers and textures that shaders name.
    pub(super) fn change_shaders(&mut self, shaders: &Shaders) {
        for (include, list) in &shaders.includes {
            let files = [&include.from, &include.main, &include.found].map(|path| self.places.add_exact(path));
            let [Some(from), Some(main), Some(found)] = files else { continue };
            let [from_folder, main_folder] =
                [from, main].map(|file| lookup::folder_of(&self.places.get(file).path).to_string());
            let target = self.places.get(found).path.clone();
            let paths = self.packed(&self.include_paths(*list));
            let folders: Vec<String> = match include.beside_first {
                true => std::iter::once(from_folder.clone()).chain(paths).chain([main_folder]).collect(),
                false => paths.into_iter().chain([from_folder.clone(), main_folder]).collect(),
            };
            let is_found = include.name.as_ref().is_some_and(|name| {
                // Backslashes are no separators for the preprocessor.
                !name.contains('\\') && self.looks_for(name, &folders) == PackedPath::File(target.clone())
            });
            if !is_found {
                let text = rib::quote(&lookup::relative(&from_folder, &target));
                self.edit(from, Form::Shader, place(include.span), text);
            }
        }
        for (path, span, value) in &shaders.literals {
            let new = self.renamed.get(value).cloned();
            if let (Some(new), Some(file)) = (new, self.places.add_exact(path)) {
                self.edit(file, Form::Shader, place(*span), rib::quote(&new));
            }
        }
    }

    /// Changes the names in a scene that is no RIB.
    pub(super) fn change_main_file(&mut self, path: &Path) {
        if is_gltf(path) {
            for reference in self.references(path) {
                if let Some(new) = self.new_name(&reference) {
                    self.edit(0, Form::Gltf, reference.place, rib::quote(&gltf::to_uri(&new)));
                }
            }
        } else if is_mesh(path) {
            for library in self.references(path) {
                if let Some(new) = self.new_name(&library) {
                    self.edit(0, Form::Lines, library.place, new);
                }
                let Some(number) = self.places.add(&library.found) else { continue };
                for texture in self.references_of_library(&library.found) {
                    if let Some(new) = self.new_name(&texture) {
                        self.edit(number, Form::Lines, texture.place, new);
                    }
                }
            }
        }
    }

    /// The name of a file that its own leads elsewhere in the pack.
    fn new_name(&mut self, reference: &Reference) -> Option<String> {
        let number = self.places.add(&reference.found)?;
        let path = self.places.get(number).path.clone();
        (self.looks_for(&reference.name, &[String::new()]) != PackedPath::File(path.clone())).then_some(path)
    }
}

fn place(span: Span) -> (usize, usize) {
    (span.start as usize, span.end as usize)
}
