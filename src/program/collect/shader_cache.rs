//! Compiled shader files, lowered methods of objects and images, kept from one linking of a scene
//! to the next.
//!
//! A file is compiled again when it or one that it includes has changed, and a method of an object
//! is lowered again when a file of one of its classes was compiled again.

use crate::collect::shader_library::{CompiledFile, CompiledShader};
use crate::records::textures::Images;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::log::FileLog;
use shadewright_ir::HostFunctions;
use shadewright_ir::passes::Pipeline;
use shadewright_lang::rtsl::{self, File, Object};
use shadewright_lang::{Language, Lengths, registry};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The key of a compiled unit: a file of shaders, with these lengths of arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The language.
    pub language: &'static dyn Language,
    /// The file's name, as the search path has it: `plastic.sl`.
    pub file: String,
    /// The lengths of parameters that are not those of the defaults.
    pub lengths: Lengths,
}

impl Key {
    /// The file of the default language that has this name without its extension, as it stands.
    pub(crate) fn plain(name: &str) -> Self {
        let language = registry::DEFAULT;
        Self { language, file: language.file_name(name), lengths: Lengths::new() }
    }

    /// The file's name without its extension.
    pub(crate) fn name(&self) -> &str {
        self.file.rsplit_once('.').map_or(&*self.file, |(name, _)| name)
    }
}

/// Compiled files.
#[derive(Debug, Default)]
pub struct ShaderCache {
    options: CompileOptions,
    units: HashMap<Key, Unit<CompiledFile>>,
    /// Files of classes, by the names by which scenes name them.
    classes: HashMap<String, Unit<rtsl::Unit>>,
    /// Lowered methods of objects, by what distinguishes their code.
    cores: HashMap<String, ObjectCore>,
    /// Decoded images.
    pub(crate) images: Images,
}

/// The options that change how a file compiles.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileOptions {
    /// Folders of shaders and included files.
    pub folders: Vec<PathBuf>,
    /// Folders of included files alone.
    pub headers: Vec<PathBuf>,
    /// Macros.
    pub defines: Vec<(String, String)>,
    /// True if variables leave records.
    pub debug: bool,
    /// True if `"world"` names a coordinate system of the scene.
    pub world_is_named: bool,
    /// True if functions that nothing defines are 0.
    pub missing_are_zero: bool,
    /// True if nothing says which space is current.
    pub current_is_open: bool,
    /// Functions of the host.
    pub host: HostFunctions,
    /// The passes that prepare shaders to be split, and the target.
    pub pipeline: Pipeline,
}

/// A compiled file.
#[derive(Debug)]
pub(crate) struct Unit<T> {
    /// The compiled content of the file, or its errors.
    pub file: Result<Arc<T>, Diagnostics>,
    /// Warnings.
    pub warnings: Diagnostics,
    /// The files that it was compiled from.
    pub files: FileLog,
    /// True if the scene being linked uses it.
    pub used: bool,
}

impl<T> Clone for Unit<T> {
    fn clone(&self) -> Self {
        let Unit { file, warnings, files, used } = self;
        Unit { file: file.clone(), warnings: warnings.clone(), files: files.clone(), used: *used }
    }
}

impl<T> Unit<T> {
    /// The unit, which the scene being linked uses then, if the files on disk are those that it was
    /// made of.
    fn unchanged(&mut self) -> Option<Self> {
        if !self.files.changed().is_empty() {
            return None;
        }
        self.used = true;
        Some(self.clone())
    }
}

/// A lowered method of an object.
#[derive(Debug)]
struct ObjectCore {
    /// The files of the object's class and of those that it refers to, in order.
    files: Vec<Arc<File>>,
    shader: CompiledShader,
    used: bool,
}

impl ShaderCache {
    /// Drops what was compiled with other options, and what the last scene did not use.
    pub(crate) fn begin(&mut self, options: CompileOptions) {
        if self.options != options {
            self.options = options;
            self.units.clear();
            self.classes.clear();
            self.cores.clear();
        }
        self.units.retain(|_, unit| std::mem::take(&mut unit.used));
        self.classes.retain(|_, unit| std::mem::take(&mut unit.used));
        self.cores.retain(|_, core| std::mem::take(&mut core.used));
    }

    /// The options.
    pub(crate) fn options(&self) -> &CompileOptions {
        &self.options
    }

    /// The compiled file, if its sources have not changed.
    pub(crate) fn get(&mut self, key: &Key) -> Option<Unit<CompiledFile>> {
        self.units.get_mut(key)?.unchanged()
    }

    /// The compiled file of classes, if it is still what the disk holds.
    pub(crate) fn class(&mut self, file: &str) -> Option<Unit<rtsl::Unit>> {
        self.classes.get_mut(file)?.unchanged()
    }

    /// Keeps a compiled file of classes.
    pub(crate) fn insert_class(&mut self, file: &str, unit: Unit<rtsl::Unit>) {
        self.classes.insert(file.to_string(), unit);
    }

    /// A lowered method of an object whose classes are those of these files.
    pub(crate) fn core(&mut self, key: &str, object: &Object) -> Option<CompiledShader> {
        let core = self.cores.get_mut(key)?;
        let files = files_of(object);
        if core.files.len() != files.len() || core.files.iter().zip(files).any(|(a, b)| !Arc::ptr_eq(a, b)) {
            self.cores.remove(key);
            return None;
        }
        core.used = true;
        Some(core.shader.clone())
    }

    /// Keeps a lowered method of an object.
    pub(crate) fn insert_core(&mut self, key: String, object: &Object, shader: CompiledShader) {
        let files = files_of(object).into_iter().cloned().collect();
        self.cores.insert(key, ObjectCore { files, shader, used: true });
    }

    /// True if a method that is kept has this name.
    pub(crate) fn has_core(&self, name: &str) -> bool {
        self.cores.values().any(|core| *core.shader.core == *name)
    }

    /// Keeps a compiled file.
    pub(crate) fn insert(&mut self, key: Key, unit: Unit<CompiledFile>) {
        self.units.insert(key, unit);
    }

    /// Drops what was compiled from a file of the default language, by its name without extension.
    pub(crate) fn forget(&mut self, name: &str) {
        let file = registry::DEFAULT.file_name(name);
        self.units.retain(|key, _| key.file != file);
    }
}

/// The file of an object's class, then those of the objects that it refers to.
fn files_of(object: &Object) -> Vec<&Arc<File>> {
    let below = object.references.iter().flat_map(|(_, objects)| objects).flatten();
    std::iter::once(&object.file).chain(below.flat_map(files_of)).collect()
}
