//! Which file of the search path defines a shader, where no file has its name.
//!
//! Old folders have files with several shaders, and files with a version in their name. This reads
//! the files of the folders, and finds definitions by their first words; it compiles nothing, so it
//! misses those that macros expand to.

use crate::collect::shader_library::read_shader_of;
use shadewright_base::scan::{RawKind, scan};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use shadewright_lang::Language;
use shadewright_scene::{FileAccess, ShaderRole};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Most files that are read.
const MAX_FILES: usize = 2000;

/// Most bytes of text that are read.
const MAX_BYTES: usize = 16 << 20;

/// The files of the search path.
#[derive(Debug)]
pub struct SearchedFiles {
    /// Names without extension, and texts: folders in the order of the path, files in that of their
    /// names.
    files: Vec<(String, Arc<str>)>,
}

impl SearchedFiles {
    /// Reads the files of a language, as many as the limits allow, and logs them. A file is skipped
    /// where an earlier folder has one of that name, or it cannot or may not be read.
    pub fn read(folders: &[PathBuf], language: &dyn Language, access: &FileAccess, sources: &mut SourceMap) -> Self {
        let mut files: Vec<(String, Arc<str>)> = Vec::new();
        let mut names: HashSet<String> = HashSet::new();
        let mut bytes = 0;
        if sources.is_open() {
            folders.iter().for_each(|folder| sources.log().note_listing(folder, language.extensions()[0]));
        }
        for path in folders.iter().flat_map(|folder| sources.list(folder, language.extensions()[0])).collect::<Vec<_>>()
        {
            let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
            if !names.insert(name.to_string()) {
                continue;
            }
            if files.len() == MAX_FILES || bytes >= MAX_BYTES {
                break;
            }
            let held = sources.held(&path).and_then(|file| sources.get(file)).map(|file| file.text.clone());
            let text = held.or_else(|| {
                let text = sources.is_open().then(|| read_shader_of(access, &path, sources.log()))?;
                text.ok().map(Arc::from)
            });
            if let Some(text) = text {
                bytes += text.len();
                files.push((name.to_string(), text));
            }
        }
        Self { files }
    }

    /// The names of the files that define a shader, in order.
    pub fn defining(&self, kind: ShaderRole, name: &str) -> Vec<&str> {
        let defining = self.files.iter().filter(|(_, text)| text.contains(name) && defines(text, kind, name));
        defining.map(|(file, _)| &**file).collect()
    }
}

/// True if a text holds `kind name(`, comments aside.
fn defines(text: &str, kind: ShaderRole, name: &str) -> bool {
    let mut tokens = scan(FileId::default(), text, &mut Diagnostics::new());
    tokens.retain(|t| t.kind != RawKind::Newline);
    let is_word = |i: usize, word: &str| tokens[i].kind == RawKind::Word && &*tokens[i].text == word;
    (2..tokens.len()).any(|i| tokens[i].is_punct("(") && is_word(i - 1, name) && is_word(i - 2, kind.keyword()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_lang::registry;
    use std::fs;

    #[test]
    fn a_definition_is_distinguished_from_a_mention() {
        let text = "/* surface no(1) */ float wood(float x) { return x; }\n\
            surface\n/* the\nname */ oak (float k = 1;) { Ci = wood(k); }\nlight beech() {}\nclass elm(float x = 1;) {}";
        let found = |kind, name| defines(text, kind, name);
        assert!(found(ShaderRole::Surface, "oak") && found(ShaderRole::Light, "beech"));
        assert!(found(ShaderRole::CoShader, "elm"));
        assert!(!found(ShaderRole::Surface, "no") && !found(ShaderRole::Surface, "wood"));
        assert!(!found(ShaderRole::Light, "oak") && !found(ShaderRole::Surface, "oa"));
    }

    #[test]
    fn files_come_in_the_order_of_folders_and_names_and_hide_each_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let folders = ["second", "first"].map(|name| dir.path().join(name));
        for (folder, name) in [(0, "b.sl"), (0, "a.sl"), (0, "c.txt"), (1, "a.sl"), (1, "d.sl")] {
            fs::create_dir_all(&folders[folder]).expect("a folder");
            fs::write(folders[folder].join(name), "surface oak() {}").expect("a file");
        }
        fs::write(folders[1].join("broken.sl"), b"").expect("a file");
        let mut sources = SourceMap::new();
        let access = FileAccess { base: None, allowed: folders.to_vec() };
        let searched = SearchedFiles::read(&folders, registry::DEFAULT, &access, &mut sources);
        assert_eq!(searched.defining(ShaderRole::Surface, "oak"), ["a", "b", "d"]);
        assert_eq!(searched.defining(ShaderRole::Volume, "oak"), [""; 0]);
        assert!(sources.log().was_read(&folders[1].join("d.sl")), "a change of any of them is seen");
    }
}
