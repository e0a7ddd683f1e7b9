//! Every room is made of the same bytes each time, links without a message, and has the materials
//! that it claims.

use super::*;
use crate::{OpenOptions, open};
use shadewright_base::text::source::SourceMap;
use std::collections::BTreeMap;
use std::fs;

/// Most triangles of a room.
const MOST_TRIANGLES: usize = 60_000;

/// All files below a folder, with their bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn rooms_have_as_many_materials_as_the_table_says() {
    for interior in INTERIORS {
        let room = (interior.build)();
        assert_eq!(room.materials.len(), interior.materials, "{}", interior.name);
        let used: std::collections::BTreeSet<_> = room.parts.iter().map(|part| part.material).collect();
        assert_eq!(used.len(), interior.materials, "{}: a material without a part", interior.name);
        let distinct: std::collections::BTreeSet<_> = room.materials.iter().map(Material::to_string).collect();
        assert_eq!(distinct.len(), interior.materials, "{}: two materials are the same", interior.name);
    }
}

#[test]
fn a_room_has_the_same_bytes_every_time() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&first, &second] {
        write(named("dining-room").unwrap(), folder.path()).unwrap();
    }
    let relative = |folder: &tempfile::TempDir| -> Vec<(PathBuf, Vec<u8>)> {
        let all = files(folder.path()).into_iter();
        all.map(|(path, bytes)| (path.strip_prefix(folder.path()).unwrap().to_path_buf(), bytes)).collect()
    };
    let (first, second) = (relative(&first), relative(&second));
    assert!(first.len() > 5);
    assert!(first == second);
}

#[test]
fn rooms_read_without_a_message_and_have_few_triangles() {
    let folder = tempfile::tempdir().unwrap();
    for interior in INTERIORS {
        let path = write(interior, folder.path()).unwrap();
        let mut sources = SourceMap::new();
        let opened = open(&path, &OpenOptions::default(), &mut sources)
            .unwrap_or_else(|e| panic!("{}: {}", interior.name, e.render(&sources)));
        assert!(opened.diagnostics.is_empty(), "{}: {}", interior.name, opened.diagnostics.render(&sources));
        let triangles = opened.scene.triangle_count();
        assert!((1_000..MOST_TRIANGLES).contains(&triangles), "{}: {triangles}", interior.name);
    }
}

#[test]
fn every_image_is_read_by_some_room() {
    let rooms: Vec<Room> = INTERIORS.iter().map(|interior| (interior.build)()).collect();
    let read: Vec<&str> = rooms.iter().flat_map(|room| room.materials.iter().flat_map(Material::images)).collect();
    for texture in textures::TEXTURES {
        assert!(read.contains(&texture.name), "{}", texture.name);
    }
}
