//! The interface of a shading language to the rest of the program, which does not know the
//! language.
//!
//! A language is a folder beside this file with an implementation of [`Language`], and a line in
//! [`super::registry`]. It compiles a file to a [`Unit`].

use super::editor::Document;
use super::preprocess::PreprocessOptions;
use super::unit::Unit;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use shadewright_ir::HostFunctions;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Numbers of elements by the names of a shader, or of a class of shaders, and of its parameter.
pub type Lengths = BTreeMap<(Arc<str>, Arc<str>), u32>;

/// How a file is compiled.
#[derive(Clone, Debug, Default)]
pub struct FrontEndOptions {
    /// For the preprocessor: folders, macros.
    pub preprocess: PreprocessOptions,
    /// True if assignments to variables emit `debug` instructions, and the unit has outlines.
    /// Nothing else depends on it.
    pub debug: bool,
    /// True if world space is not the space that shaders compute in, so that `"world"` names a
    /// coordinate system of the scene.
    pub world_is_named: bool,
    /// True if calls of functions that nothing defines, such as those of shared libraries, are 0
    /// with a warning. Otherwise they are errors.
    pub missing_are_zero: bool,
    /// True if nothing says which space is current: reads of components of `P`, `N` and `I` are then
    /// reported, once a function.
    pub current_is_open: bool,
    /// Lengths of shader parameters that are arrays declared without one; others are as long as
    /// their defaults.
    pub lengths: Lengths,
    /// Functions of the host that files may declare and call.
    pub host: HostFunctions,
}

/// How a scene names a shader of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By the shader's own name, which is that of its file: `plastic` is in `plastic.sl`.
    Bare,
    /// By its file and its own name: `glass.rtsl:Glass`, or `glass.rtsl` where that is clear.
    Qualified,
}

/// The kind of definitions in the files of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Shaders: a file compiles to [`Unit::Shaders`].
    Shaders,
    /// Classes of objects that may refer to each other: a file compiles to [`Unit::Classes`].
    Classes,
}

/// A shading language.
pub trait Language: fmt::Debug + Send + Sync {
    /// The name of the language: `RSL`.
    fn name(&self) -> &'static str;

    /// The identifier that editors have for it, and Markdown: `rsl`.
    fn id(&self) -> &'static str;

    /// The extensions of its files without the dot, in lower case. The first is that of files
    /// searched by a shader's name.
    fn extensions(&self) -> &'static [&'static str];

    /// How a scene names its shaders.
    fn naming(&self) -> Naming;

    /// The kind of definitions in its files.
    fn form(&self) -> Form;

    /// The text of a file that is part of the program.
    fn built_in(&self, file: &str) -> Option<&'static str>;

    /// The syntax tree of a file as text.
    ///
    /// # Errors
    /// All errors of the preprocessor and the parser, with warnings between them.
    fn dump(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<String, Diagnostics>;

    /// Parses, checks and, where no scene is needed, lowers a file. Files that it includes join
    /// `sources`.
    ///
    /// # Errors
    /// All errors of the file, with warnings between them.
    fn compile(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<Unit, Diagnostics>;

    /// The types of intermediate results of a file as text; `None` of a language in which they need
    /// no analysis.
    ///
    /// # Errors
    /// As [`Language::compile`].
    fn types(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        options: &FrontEndOptions,
    ) -> Option<Result<String, Diagnostics>> {
        let _ = (sources, file, options);
        None
    }

    /// Analyzes a text for an editor, as far as it can be read.
    fn analyze(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Arc<dyn Document>;
}

impl dyn Language {
    /// The name of the file in which a shader of this name is searched: `plastic.sl`.
    pub fn file_name(&self, shader: &str) -> String {
        format!("{shader}.{}", self.extensions()[0])
    }

    /// True if this is the extension of its files, in any case.
    pub fn has_extension(&self, extension: &str) -> bool {
        self.extensions().iter().any(|own| own.eq_ignore_ascii_case(extension))
    }
}

impl PartialEq for dyn Language {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for dyn Language {}

impl Hash for dyn Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}
