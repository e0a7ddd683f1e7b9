//! Shaders as a scene names them: the language, the file and the name, read once.

use super::language::{Form, Language, Naming};
use super::registry;
use std::fmt;

/// The name of a shader or of a class, with its language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShaderRef {
    /// The language.
    pub language: &'static dyn Language,
    /// The file, searched for on the search path: `plastic.sl`, `glass.rtsl`.
    pub file: String,
    /// The name within the file. Where a scene names a file alone, it means the file's only class or
    /// shader of the kind, or the one that has the file's name.
    pub given: Option<String>,
    /// As the scene writes it.
    text: String,
}

impl ShaderRef {
    /// The shader that a scene means by a name: `FILE.EXT:NAME` or `FILE.EXT` of a language whose
    /// shaders are named so, else the name of a shader in a file of its own name.
    pub fn new(text: &str) -> Self {
        let bare = (registry::DEFAULT, registry::DEFAULT.file_name(text), Some(text));
        let qualified = registry::qualified(text).filter(|(language, ..)| language.naming() == Naming::Qualified);
        let (language, file, name) =
            qualified.map_or(bare, |(language, file, name)| (language, file.to_string(), name));
        Self { language, file, given: name.map(str::to_string), text: text.to_string() }
    }

    /// As the scene writes it: `plastic`, `glass.rtsl:Glass`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name within the file; that of the file where a scene names no other.
    pub fn name(&self) -> &str {
        self.given.as_deref().unwrap_or_else(|| self.stem())
    }

    /// The name of the file without folders and extension.
    pub fn stem(&self) -> &str {
        let file = self.file.rsplit('/').next().unwrap_or(&self.file);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
    }

    /// True if it names a class of objects that may refer to each other, rather than a shader.
    pub fn is_class(&self) -> bool {
        self.language.form() == Form::Classes
    }
}

impl PartialEq<str> for ShaderRef {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<&str> for ShaderRef {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl fmt::Display for ShaderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
