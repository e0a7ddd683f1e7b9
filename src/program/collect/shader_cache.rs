//! Compiled shader files, and images, kept from one linking of a scene to the next: a file is compiled again when it or one that it includes has changed.

use crate::lang::rsl::Lengths;
use crate::program::collect::shader_library::CompiledFile;
use crate::program::layout::textures::Images;
use crate::text::diagnostics::Diagnostics;
use crate::text::log::FileLog;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What is compiled: the file of the shader of that name, with these lengths of arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::program) struct Key {
    /// The file's name, without what it ends with.
    pub file: String,
    /// The lengths of parameters that are not those of the defaults.
    pub lengths: Lengths,
}

impl Key {
    /// The file as it stands.
    pub(in crate::program) fn plain(file: &str) -> Self {
        Self { file: file.to_string(), lengths: Lengths::new() }
    }
}

/// Compiled files.
#[derive(Debug, Default)]
pub struct ShaderCache {
    manner: Manner,
    units: HashMap<Key, Unit>,
    /// Decoded images.
    pub(in crate::program) images: Images,
}

/// What decides, beside the files, how a file compiles.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::program) struct Manner {
    /// Folders of shaders and included files.
    pub folders: Vec<PathBuf>,
    /// Macros.
    pub defines: Vec<(String, String)>,
    /// Whether variables leave records.
    pub debug: bool,
}

/// A compiled file.
#[derive(Clone, Debug)]
pub(in crate::program) struct Unit {
    /// What it defines, or its errors.
    pub file: Result<Arc<CompiledFile>, Diagnostics>,
    /// What there was to remark on.
    pub warnings: Diagnostics,
    /// The files that it was made of.
    pub files: FileLog,
    /// Whether the scene being linked uses it.
    pub used: bool,
}

impl ShaderCache {
    /// Forgets what was compiled in another manner, and what the scene before did not use.
    pub(in crate::program) fn begin(&mut self, manner: Manner) {
        if self.manner != manner {
            (self.manner, self.units) = (manner, HashMap::new());
        }
        self.units.retain(|_, unit| std::mem::take(&mut unit.used));
    }

    /// How files are compiled.
    pub(in crate::program) fn manner(&self) -> &Manner {
        &self.manner
    }

    /// The compiled file, if it is still what the disk holds.
    pub(in crate::program) fn get(&mut self, key: &Key) -> Option<Unit> {
        let unit = self.units.get_mut(key)?;
        if !unit.files.changed().is_empty() {
            return None;
        }
        unit.used = true;
        Some(unit.clone())
    }

    /// Keeps a compiled file.
    pub(in crate::program) fn insert(&mut self, key: Key, unit: Unit) {
        self.units.insert(key, unit);
    }

    /// Forgets what was compiled of a file.
    pub(in crate::program) fn forget(&mut self, name: &str) {
        self.units.retain(|key, _| key.file != name);
    }
}
