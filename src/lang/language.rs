//! What the rest of the program asks of a shading language, without knowing which one it is.
//!
//! A language is a folder beside this file with an implementation of [`Language`], and a line in
//! [`super::registry`]. It compiles a file to a [`Unit`] of one of two forms: shaders, each a core
//! that is called by name, or classes, whose methods become cores once a scene's objects are known.

use super::editor::Document;
use super::preprocess::Options as PreprocessOptions;
use super::rsl::{self, ShaderKind};
use super::rtsl::{self, Object, state::Method};
use super::shader_ref::ShaderRef;
use crate::ir::Module;
use crate::text::diagnostics::Diagnostics;
use crate::text::source::{FileId, SourceMap};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Numbers of elements by the names of a shader, or of a class of shaders, and of its parameter.
pub type Lengths = BTreeMap<(Arc<str>, Arc<str>), u32>;

/// How a file is compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For the preprocessor: folders, macros.
    pub preprocess: PreprocessOptions,
    /// Whether assignments to variables emit `debug` instructions, and the unit has outlines.
    /// Nothing else depends on it.
    pub debug: bool,
    /// Lengths of shader parameters that are arrays declared without one; others are as long as
    /// their defaults.
    pub lengths: Lengths,
}

/// How a scene names a shader of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By the shader's own name, which is that of its file: `plastic` is in `plastic.sl`.
    Bare,
    /// By its file and its own name: `glass.rtsl:Glass`, or `glass.rtsl` where that is clear.
    Qualified,
}

/// A shading language.
pub trait Language: fmt::Debug + Send + Sync {
    /// Its name: `RSL`.
    fn name(&self) -> &'static str;

    /// The identifier that editors have for it, and Markdown: `rsl`.
    fn id(&self) -> &'static str;

    /// The extensions of its files without the dot, in lower case. The first is that of files
    /// searched by a shader's name.
    fn extensions(&self) -> &'static [&'static str];

    /// How a scene names its shaders.
    fn naming(&self) -> Naming;

    /// The text of a file that is part of the program.
    fn built_in(&self, file: &str) -> Option<&'static str>;

    /// The syntax tree of a file as text.
    ///
    /// # Errors
    /// All errors of the preprocessor and the parser, with warnings between them.
    fn dump(&self, sources: &mut SourceMap, file: FileId, options: &Options) -> Result<String, Diagnostics>;

    /// Parses, checks and, where no scene is needed, lowers a file. Files that it includes join
    /// `sources`.
    ///
    /// # Errors
    /// All errors of the file, with warnings between them.
    fn compile(&self, sources: &mut SourceMap, file: FileId, options: &Options) -> Result<Unit, Diagnostics>;

    /// Analyses a text for an editor, as far as it can be read.
    fn analyse(&self, sources: &mut SourceMap, file: FileId, options: &Options) -> Arc<dyn Document>;
}

impl dyn Language {
    /// The name of the file in which a shader of this name is searched: `plastic.sl`.
    pub fn file_name(&self, shader: &str) -> String {
        format!("{shader}.{}", self.extensions()[0])
    }

    /// Whether this is the extension of its files, in any case.
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

/// A compiled file.
#[derive(Clone, Debug)]
pub enum Unit {
    /// Shaders, each lowered to a core.
    Shaders(rsl::Unit),
    /// Classes, checked. [`rtsl::build`] lowers a method of an object.
    Classes(rtsl::Unit),
}

/// The cores of a file, compiled for no scene.
#[derive(Clone, Debug)]
pub struct Cores {
    /// The functions.
    pub module: Module,
    /// The first shader that an object, a volume or an imager can use, and its kind; none in a file
    /// of lights or functions.
    pub shader: Option<(ShaderRef, ShaderKind)>,
}

impl Unit {
    /// The warnings.
    pub fn warnings(&self) -> &Diagnostics {
        match self {
            Unit::Shaders(unit) => &unit.warnings,
            Unit::Classes(unit) => &unit.warnings,
        }
    }

    /// The kinds of its shaders or the interfaces of its classes, one for each.
    pub fn kinds(&self) -> Vec<&'static str> {
        match self {
            Unit::Shaders(unit) => {
                let mut kinds: Vec<&str> = unit.shaders.iter().map(|s| s.kind.name()).collect();
                // A class that is no shader by itself is a co-shader.
                let is_shader = |class: &str| unit.shaders.iter().any(|s| *s.name == *class);
                let classes = unit.methods.iter().filter(|m| m.name.is_empty() && !is_shader(&m.class));
                kinds.extend(classes.map(|_| "co-shader"));
                kinds
            }
            Unit::Classes(unit) => {
                unit.file.classes.iter().flat_map(|class| &class.interfaces).map(|i| i.name()).collect()
            }
        }
    }

    /// The cores of all shaders, or of all methods of classes whose objects refer to no others.
    /// `file` is the name by which a scene finds the file.
    ///
    /// # Errors
    /// Classes of which a method cannot be lowered.
    pub fn into_cores(self, file: &str) -> Result<Cores, Diagnostics> {
        match self {
            Unit::Shaders(unit) => {
                let shader = unit.shaders.iter().find(|s| s.kind != ShaderKind::Light);
                let shader = shader.map(|s| (ShaderRef::new(&s.name), s.kind));
                Ok(Cores { module: unit.module, shader })
            }
            Unit::Classes(unit) => class_cores(&unit, file),
        }
    }
}

fn class_cores(unit: &rtsl::Unit, file: &str) -> Result<Cores, Diagnostics> {
    let mut cores = Cores { module: Module::new(), shader: None };
    let mut errors = Diagnostics::new();
    for (class, info) in unit.file.classes.iter().enumerate() {
        let object = Object::alone(&unit.file, class);
        for method in info.interfaces.iter().flat_map(|i| i.methods()) {
            if unit.file.method(class, method).is_none() {
                continue;
            }
            match rtsl::build(&object, method, &unit.library, &format!("{}.{}", info.name.name, method.name())) {
                Ok(built) => {
                    cores.module.absorb(built.module);
                }
                Err(diags) => errors.extend(diags),
            }
            if method == Method::Shade && cores.shader.is_none() {
                cores.shader = Some((ShaderRef::new(&format!("{file}:{}", info.name.name)), ShaderKind::Surface));
            }
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(cores) }
}
