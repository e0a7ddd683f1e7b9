//! Export: a scene in, the files of another format out.
//!
//! [`export`] takes a [`Scene`] as a reader gave it and makes the bytes of a RIB file ([`rib`]) or of
//! a glTF file ([`mod@gltf`]), with the images and shaders that it names ([`assets`]) in folders beside
//! it. What the format cannot hold is reported as a warning and left out. Nothing is written until
//! [`Exported::write`], and every file is either whole or not there.
//!
//! Nothing here renders an image; whether two scenes look alike is the caller's question.

mod assets;
mod gltf;
mod losses;
pub mod rib;

use losses::Losses;
use shadewright_base::disk;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::SourceMap;
use shadewright_image::file::{ImageFileError, folder_of, write_bytes};
use shadewright_scene::Scene;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A format that scenes are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RIB text (`.rib`), with images and shaders in folders beside it.
    Rib,
    /// glTF (`.gltf`), with a buffer and images beside it.
    Gltf,
    /// Binary glTF (`.glb`), one file with everything in it.
    Glb,
}

impl Format {
    /// The format that a file's extension names, in any case.
    ///
    /// # Errors
    /// [`ExportError::UnknownExtension`] for any other.
    pub fn from_path(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("rib") => Ok(Self::Rib),
            Some("gltf") => Ok(Self::Gltf),
            Some("glb") => Ok(Self::Glb),
            _ => Err(ExportError::UnknownExtension { path: path.to_path_buf() }),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rib => "RIB",
            Self::Gltf => "glTF",
            Self::Glb => "binary glTF",
        })
    }
}

/// Why a scene cannot be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The extension names no format that is written.
    #[error("{}: no scene format has this extension; use one of .rib .gltf .glb", path.display())]
    UnknownExtension {
        /// The file.
        path: PathBuf,
    },
    /// A folder for images or shaders cannot be made.
    #[error("{}: the folder cannot be made: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] ImageFileError),
    /// A file that the scene is made of would be replaced.
    #[error("{}: the scene reads this file, which would be replaced; choose another name", path.display())]
    Input {
        /// The file.
        path: PathBuf,
    },
    /// The file would be longer than the format can say.
    #[error("{}: the scene takes {bytes} bytes; a binary glTF file holds {} at most", path.display(), u32::MAX)]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The bytes.
        bytes: u64,
    },
}

/// How a scene is exported.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Folders that were searched for shaders before the scene's own.
    pub shader_paths: Vec<PathBuf>,
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

/// A scene in another format, in memory.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The files, the scene itself last.
    pub files: Vec<OutputFile>,
    /// Warnings about parts that are lost or only similar, with the name of the object or shader;
    /// and the messages of the shaders' compiler. They point into [`Exported::sources`].
    pub diagnostics: Diagnostics,
    /// How many of these are losses.
    pub losses: usize,
    /// The scene's files and those of its shaders.
    pub sources: SourceMap,
}

/// Exports a scene to a file of this path, in the format that its extension names. `sources` has the
/// scene's own files. Reads the shaders and images that the scene names.
///
/// # Errors
/// An extension that names no format, and a scene that is too large for it.
pub fn export(scene: &Scene, sources: SourceMap, out: &Path, options: &ExportOptions) -> Result<Exported, ExportError> {
    let format = Format::from_path(out)?;
    let mut losses = Losses::default();
    let (assets, mut sources) = assets::gather(scene, sources, out, format, options, &mut losses);
    let files = match format {
        Format::Rib => rib::files(scene, &assets, out, &mut losses),
        Format::Gltf | Format::Glb => gltf::files(scene, &assets, out, format, &mut losses)?,
    };
    check_targets(&files, sources.log())?;
    let Losses { diagnostics, count, .. } = losses;
    Ok(Exported { files, diagnostics, losses: count, sources })
}

/// Refuses to replace files that the scene was read from, unless they stay as they are.
fn check_targets(files: &[OutputFile], log: &FileLog) -> Result<(), ExportError> {
    let read: BTreeSet<PathBuf> = log.paths().filter_map(|path| path.canonicalize().ok()).collect();
    let is_input = |file: &&OutputFile| file.path.canonicalize().is_ok_and(|path| read.contains(&path));
    let changes = |file: &&OutputFile| disk::read(&file.path, u64::MAX).is_ok_and(|bytes| bytes != file.bytes);
    match files.iter().filter(is_input).find(changes) {
        Some(file) => Err(ExportError::Input { path: file.path.clone() }),
        None => Ok(()),
    }
}

impl Exported {
    /// Writes the files, the scene itself last: where one cannot be written, the scene is as it was.
    ///
    /// # Errors
    /// The first file or folder that cannot be written.
    pub fn write(&self) -> Result<(), ExportError> {
        for file in &self.files {
            // The folder of the scene itself must be there, as for every output.
            if file.path.parent() != self.files.last().and_then(|last| last.path.parent()) {
                let folder = folder_of(&file.path);
                std::fs::create_dir_all(folder)
                    .map_err(|source| ExportError::Folder { path: folder.to_path_buf(), source })?;
            }
            write_bytes(&file.path, &file.bytes)?;
        }
        Ok(())
    }
}
