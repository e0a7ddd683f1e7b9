//! The files that OBJ meshes and their material libraries name, with the places of the names.

use std::ops::Range;

/// Statements of a library whose textures are read.
const MAPS: [&str; 5] = ["map_kd", "map_ke", "map_d", "map_opacity", "norm"];

/// Most words of a statement that are taken for the start of a name.
const MAX_WORDS: usize = 64;

/// A name and its place in the file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, with slashes.
    pub name: String,
    /// The place in the file's bytes.
    pub place: Range<usize>,
}

/// The material libraries of a mesh: of each statement the names that it may mean, the first of which
/// is all of it, and the others its words.
pub fn libraries(obj: &[u8]) -> Vec<Vec<Named>> {
    let statements = statements(obj).filter(|(key, _)| key.eq_ignore_ascii_case("mtllib"));
    statements
        .map(|(_, rest)| {
            let words = suffixes(&rest).into_iter().map(|suffix| {
                let length = suffix.name.split_whitespace().next().map_or(0, str::len);
                Named {
                    name: suffix.name[..length].to_string(),
                    place: suffix.place.start..suffix.place.start + length,
                }
            });
            std::iter::once(rest.clone()).chain(words).collect()
        })
        .collect()
}

/// The textures of a library: of each statement the names that it may mean, the longest first, as
/// options may stand before a name that has spaces.
pub fn maps(mtl: &[u8]) -> Vec<Vec<Named>> {
    let is_map = |key: &str| MAPS.contains(&&*key.to_ascii_lowercase());
    statements(mtl).filter(|(key, _)| is_map(key)).map(|(_, rest)| suffixes(&rest)).collect()
}

/// The statements of a file: the first word of each line, and the rest of the line.
fn statements(bytes: &[u8]) -> impl Iterator<Item = (String, Named)> + '_ {
    let mut at = 0;
    bytes.split(|b| *b == b'\n' || *b == b'\r').filter_map(move |line| {
        let start = at;
        at += line.len() + 1;
        let first = line.iter().position(|b| !b.is_ascii_whitespace())?;
        let key = line[first..].iter().position(u8::is_ascii_whitespace)? + first;
        let word = std::str::from_utf8(&line[first..key]).ok().filter(|word| !word.starts_with('#'))?.to_string();
        // Names may have the sign within.
        let comment = line.windows(2).position(|pair| pair == b" #").unwrap_or(line.len());
        let rest = line.get(key..comment)?;
        let before = rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let rest = rest.trim_ascii();
        let place = start + key + before..start + key + before + rest.len();
        Some((word, Named { name: std::str::from_utf8(rest).ok()?.replace('\\', "/"), place }))
    })
}

/// A name, and what is left of it without its first words.
fn suffixes(named: &Named) -> Vec<Named> {
    let mut out = vec![named.clone()];
    let mut at = 0;
    while let Some(space) = named.name[at..].find(char::is_whitespace).filter(|_| out.len() < MAX_WORDS) {
        let rest = named.name[at + space..].trim_start();
        at = named.name.len() - rest.len();
        out.push(Named { name: rest.to_string(), place: named.place.start + at..named.place.end });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[Vec<Named>]) -> Vec<Vec<&str>> {
        found.iter().map(|names| names.iter().map(|named| &*named.name).collect()).collect()
    }

    #[test]
    fn a_statement_names_one_library_with_spaces_or_several() {
        let obj = b"v 1 2 3\n  mtllib my parts.mtl \r\n# mtllib no.mtl\nMTLLIB a\\b.mtl #c";
        let found = libraries(obj);
        assert_eq!(names(&found), [vec!["my parts.mtl", "my", "parts.mtl"], vec!["a/b.mtl", "a/b.mtl"]]);
        assert_eq!(&obj[found[0][0].place.clone()], b"my parts.mtl");
        assert_eq!(&obj[found[0][2].place.clone()], b"parts.mtl");
    }

    #[test]
    fn textures_come_after_options_and_may_have_spaces() {
        let mtl = b"newmtl x\nmap_Kd -s 2 2 2 old wood.png\nnorm n.png\nbump b.png\nmap_Kd\n";
        let found = maps(mtl);
        assert!(names(&found)[0].contains(&"old wood.png") && names(&found)[0].contains(&"wood.png"));
        assert_eq!(names(&found)[1], ["n.png"]);
        assert_eq!(found.len(), 2);
        let named = found[0].iter().find(|named| named.name == "old wood.png").expect("the name");
        assert_eq!(&mtl[named.place.clone()], b"old wood.png");
    }
}
