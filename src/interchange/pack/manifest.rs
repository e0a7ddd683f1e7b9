//! The manifest of a pack: what is in it, and where that comes from.

use super::MANIFEST;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The value of [`Manifest::format`].
const FORMAT: &str = "shadewright-pack";
/// The version of what is written here.
const VERSION: u32 = 1;
/// Most bytes of a manifest that is read.
const MAX_BYTES: u64 = 256 << 20;

/// The manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the file's format.
    pub format: String,
    /// The version of its format.
    pub version: u32,
    /// The scene, relative to the packed folder.
    pub scene: String,
    /// The scene that was packed.
    pub original: String,
    /// Options that rendering the packed scene needs; their paths are relative to the packed folder.
    pub options: Vec<String>,
    /// The files, the scene first.
    pub files: Vec<File>,
    /// Archives that are nowhere.
    pub missing: Vec<Missing>,
    /// All messages, a line each.
    pub messages: Vec<String>,
}

/// A packed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The path, relative to the packed folder.
    pub path: String,
    /// The file that was copied.
    pub original: String,
    /// The length in bytes.
    pub bytes: u64,
    /// The hash of its bytes.
    pub sha256: String,
    /// True if paths in it were rewritten.
    pub rewritten: bool,
}

/// An archive that is nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The name.
    pub name: String,
    /// The file that names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Why it is not packed.
    pub why: String,
}

impl Manifest {
    /// The manifest of a pack of a scene, without files yet.
    pub fn new(scene: &str, original: &Path) -> Self {
        Self {
            format: FORMAT.to_string(),
            version: VERSION,
            scene: scene.to_string(),
            original: shown(original),
            options: Vec::new(),
            files: Vec::new(),
            missing: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// Reads the manifest of a folder; `None` where the folder is no pack.
    pub fn read(folder: &Path) -> Option<Self> {
        let bytes = shadewright_scene::read_file(&folder.join(MANIFEST), MAX_BYTES).ok()?;
        let manifest: Self = serde_json::from_slice(&bytes).ok()?;
        (manifest.format == FORMAT).then_some(manifest)
    }

    /// The bytes of its file.
    pub fn encode(&self) -> Vec<u8> {
        // Plain structures of strings and numbers: nothing of them fails to be written.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The bytes of all files, without the manifest.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// A path for people.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}
