//! Reading the pictures that a scene's shaders name, and keeping them from one linking to the next.

use super::{MAX_TEXTURE_VECTORS, Names, Texture, Textures};
use crate::lang::diag::{Diagnostic, Diagnostics};
use crate::lang::files::FileLog;
use crate::lang::source::Span;
use crate::scene::{FileError, Scene, TextureSource, read_file_noting};
use crate::texture::{Pyramid, Wraps, decode, layout};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest picture file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The pictures of the last linking, by path: one is decoded again when its file has changed.
#[derive(Debug, Default)]
pub struct Pictures {
    kept: HashMap<PathBuf, Picture>,
}

/// A picture file.
#[derive(Clone, Debug)]
struct Picture {
    pyramid: Result<Arc<Pyramid>, String>,
    files: FileLog,
}

/// A texture that is looked for: its name, where it stands, its file, and what it shows outside.
type Found = (Arc<str>, Option<Span>, Option<PathBuf>, Wraps);

/// What reading gives.
#[derive(Debug)]
pub struct Read {
    /// The textures, in the order of their names.
    pub textures: Textures,
    /// What is wrong: a missing picture is a warning, a damaged one an error.
    pub remarks: Diagnostics,
}

impl Pictures {
    /// Reads the pictures of these names. Files are noted in `log`.
    pub fn read(&mut self, scene: &Scene, names: Names, log: &mut FileLog) -> Read {
        let mut remarks = Diagnostics::new();
        let mut found: Vec<Found> = Vec::with_capacity(names.len());
        for (name, span) in names {
            let TextureSource::Picture { file, wraps } = scene.texture(&name);
            let place = |d: Diagnostic| span.into_iter().fold(d, |d, s| d.at(s, "named here"));
            let path = match scene.find_picture(&file, log) {
                Ok(path) => Some(path),
                Err(error) => {
                    let missing = matches!(error, FileError::Missing { .. });
                    let d = match missing {
                        true => Diagnostic::warning(format!("there is no texture `{file}`: it is black")),
                        false => Diagnostic::error(format!("the texture `{file}`: {error}")),
                    };
                    remarks.push(error.hints().into_iter().fold(place(d), Diagnostic::hint));
                    None
                }
            };
            found.push((name, span, path, wraps));
        }
        self.refresh(found.iter().filter_map(|f| f.2.as_deref()));
        let mut list = Vec::with_capacity(found.len());
        for (name, span, path, wraps) in found {
            let picture = path.as_ref().map(|path| &self.kept[path]);
            picture.iter().for_each(|p| log.extend(&p.files));
            let texture = match picture.map(|p| &p.pyramid) {
                Some(Ok(pyramid)) => Some(Texture { pyramid: pyramid.clone(), wraps }),
                Some(Err(reason)) => {
                    let d = Diagnostic::error(format!("the texture `{name}` cannot be read: {reason}"));
                    remarks.push(span.into_iter().fold(d, |d, s| d.at(s, "named here")));
                    None
                }
                None => None,
            };
            list.push((name, texture));
        }
        fit(&mut list, MAX_TEXTURE_VECTORS, &mut remarks);
        Read { textures: Textures::new(list), remarks }
    }

    /// Decodes the files that are new or have changed, and forgets those that are not asked for.
    fn refresh<'a>(&mut self, paths: impl Iterator<Item = &'a Path>) {
        let mut kept = HashMap::new();
        let mut new: Vec<&Path> = Vec::new();
        for path in paths {
            let known = self.kept.remove_entry(path);
            let unchanged = known.filter(|(_, picture)| picture.files.clone().changed().is_empty());
            if let Some((path, picture)) = unchanged {
                kept.insert(path, picture);
            } else if !kept.contains_key(path) && !new.contains(&path) {
                new.push(path);
            }
        }
        kept.par_extend(new.into_par_iter().map(|path| (path.to_path_buf(), Picture::read(path))));
        self.kept = kept;
    }
}

impl Picture {
    fn read(path: &Path) -> Self {
        let mut files = FileLog::default();
        let pyramid = read_file_noting(path, MAX_FILE_BYTES, &mut files)
            .map_err(|e| e.to_string())
            .and_then(|bytes| decode(&bytes).map_err(|e| format!("`{}`: {e}", path.display())))
            .map(|picture| Arc::new(Pyramid::new(picture)));
        Self { pyramid, files }
    }
}

/// Takes the finest level from the largest texture until all fit into `limit` vectors, and says so.
fn fit(list: &mut [(Arc<str>, Option<Texture>)], limit: u64, remarks: &mut Diagnostics) {
    let size = |t: &Texture| layout::vectors(&t.pyramid);
    let mut coarser: BTreeMap<Arc<str>, Arc<Pyramid>> = BTreeMap::new();
    loop {
        // Textures that share a picture are laid out once.
        let mut sizes: Vec<(*const Pyramid, u64)> = Vec::new();
        for texture in list.iter().filter_map(|(_, t)| t.as_ref()) {
            let pointer = Arc::as_ptr(&texture.pyramid);
            if !sizes.iter().any(|s| s.0 == pointer) {
                sizes.push((pointer, size(texture)));
            }
        }
        if sizes.iter().map(|s| s.1).sum::<u64>() <= limit {
            break;
        }
        let Some(&(largest, _)) = sizes.iter().rev().max_by_key(|s| s.1) else { break };
        let mut smaller = None;
        for (name, texture) in list.iter_mut().filter_map(|(n, t)| t.as_mut().map(|t| (n, t))) {
            if Arc::as_ptr(&texture.pyramid) == largest {
                let next = smaller.get_or_insert_with(|| texture.pyramid.without_finest().map(Arc::new)).clone();
                let Some(next) = next else { return };
                texture.pyramid = next.clone();
                coarser.insert(name.clone(), next);
            }
        }
    }
    for (name, pyramid) in coarser {
        let level = &pyramid.levels[0];
        let d = Diagnostic::warning(format!(
            "the texture `{name}` is used at {} x {}: all textures together are too large",
            level.width, level.height
        ));
        remarks.push(d.hint(format!("textures may take {} MiB, at 16 bytes a texel", (limit * 16) >> 20)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::film::{Channels, Picture as Film};
    use crate::texture::DEFAULT_WRAPS;

    fn flat(side: u32) -> Option<Texture> {
        let rgba = vec![[1.0; 4]; (side * side) as usize];
        let pyramid = Pyramid::new(Film { width: side, height: side, rgba, channels: Channels::Rgb });
        Some(Texture { pyramid: Arc::new(pyramid), wraps: DEFAULT_WRAPS })
    }

    #[test]
    fn the_largest_textures_lose_levels_until_all_fit_and_that_is_said() {
        let small = flat(8);
        let mut list: Vec<(Arc<str>, _)> =
            vec![("a".into(), flat(64)), ("b".into(), small.clone()), ("c".into(), None)];
        let limit = layout::vectors(&flat(32).unwrap().pyramid) + layout::vectors(&small.unwrap().pyramid);
        let mut remarks = Diagnostics::new();
        fit(&mut list, limit, &mut remarks);
        let side = |i: usize| list[i].1.as_ref().map(|t| t.pyramid.levels[0].width);
        assert_eq!([side(0), side(1), side(2)], [Some(32), Some(8), None]);
        let said: Vec<_> = remarks.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(said, ["the texture `a` is used at 32 x 32: all textures together are too large"]);
    }
}
