//! The modules of the library use only modules of the layers below their own.
//!
//! `docs/architecture.md` states the layers in a block with the tag `layers`: one layer a line, the
//! lowest first, the modules of one layer separated by spaces. Modules of one layer do not use each
//! other. The test reads the sources and finds every path that begins with `crate::`, outside
//! comments and strings.
//!
//! Of the shading languages, only the code of `NAMES_A_LANGUAGE` knows one by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Uses of a higher layer in code that only tests compile: a lower module whose tests need
/// programs, scenes or images that higher modules make.
const OF_TESTS: &[(&str, &str)] = &[("lang", "render"), ("texture", "scene")];

/// Files outside of a language's folder that name the language, and why. Everything else reads what
/// a language compiles a file to from `lang::unit` and the modules beside it.
const NAMES_A_LANGUAGE: &[(&str, &str, &str)] = &[
    ("lang/mod", "pfman", "declares the module"),
    ("lang/mod", "rsl", "declares the module"),
    ("lang/mod", "rtsl", "declares the module"),
    ("lang/registry", "pfman", "lists the languages"),
    ("lang/registry", "rsl", "lists the languages"),
    ("lang/registry", "rtsl", "lists the languages"),
    ("lang/stdlib/mod", "rsl", "the standard library is written in RSL"),
    ("lang/unit", "rtsl", "the form of files of classes, whose methods are lowered for objects"),
    ("program/collect/binding", "rtsl", "the methods of classes that an entry calls"),
    ("program/collect/procedural", "rtsl", "the methods of classes that an entry calls"),
    ("program/collect/rtsl_objects", "rtsl", "lowers the methods of the scene's objects"),
    ("program/collect/shader_cache", "rtsl", "keeps files of classes and lowered methods of objects"),
    ("program/collect/shader_library", "rtsl", "compiles files of classes and absorbs lowered methods"),
    ("program/synthesise/surface_state/procedural", "rtsl", "the methods of classes that an entry calls"),
    ("cli/compile/packets", "rtsl", "the method of classes that packets are measured with"),
    ("cli/args/shaders", "rtsl", "the option of the command that prints the reference"),
    ("cli/reference", "rsl", "prints the language's reference"),
    ("cli/reference", "rtsl", "prints the language's reference"),
];

/// What opens a file by its name to read it, and where another place than `disk` may.
const OPENS: (&[&str], &[&str]) = (
    &["File::open", "File::options", "fs::read(", "fs::read_to_string(", "OpenOptions::new().read"],
    // A cache and the state of golden images give the options to `disk`.
    &["disk"],
);

/// What reads a file without asking whether a scene may, and who does.
const OF_USERS: (&[&str], &[&str]) = (
    &["read_file", "read_noting", "read_shader("],
    &[
        "cli",
        // The functions themselves.
        "scene/files",
        "program/mod",
        "program/collect/shader_library",
        // The scene that the user names.
        "scene/mod",
        // Files that were found through the gate, and the pack's own.
        "pack/mod",
        "pack/manifest",
    ],
);

/// The modules from the lowest layer to the highest.
struct Layers(Vec<Vec<String>>);

impl Layers {
    /// Those of `docs/architecture.md`.
    fn read() -> Self {
        let page = fs::read_to_string(repository("docs/architecture.md")).expect("the page is part of the repository");
        let (_, rest) = page.split_once("```layers\n").expect("the page has a block with the tag `layers`");
        let (block, _) = rest.split_once("```").expect("the block ends");
        Self(block.lines().map(|line| line.split_whitespace().map(String::from).collect()).collect())
    }

    fn of(&self, module: &str) -> Option<usize> {
        self.0.iter().position(|layer| layer.iter().any(|name| name == module))
    }

    fn allows(&self, edge: &Edge) -> bool {
        edge.from == edge.to || self.of(&edge.to) < self.of(&edge.from)
    }
}

/// One module uses another.
struct Edge {
    from: String,
    to: String,
    /// File and line.
    place: String,
    /// Whether only tests compile it.
    is_of_tests: bool,
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// All files of Rust below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are part of the repository") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The text with a space in place of each byte of comments and of string and character literals;
/// lines stay lines.
fn masked(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let is_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            comment(rest)
        } else if rest[0] == b'"' {
            literal(rest, 1, b'"')
        } else if !is_word && (rest[0] == b'r' || rest.starts_with(b"br")) {
            raw(rest)
        } else if rest[0] == b'\'' {
            character(rest)
        } else {
            0
        };
        out[at..at + length].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        at += length.max(1);
    }
    out
}

/// The length of a block comment, with those inside it.
fn comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text[at..text.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return at + 2,
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// The length of a literal with escapes, whose text begins at `from` and ends with `end`.
fn literal(text: &[u8], from: usize, end: u8) -> usize {
    let mut at = from;
    while at < text.len() && text[at] != end {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    text.len().min(at + 1)
}

/// The length of a raw string; 0 for what begins like one and is none.
fn raw(text: &[u8]) -> usize {
    let prefix = if text[0] == b'b' { 2 } else { 1 };
    let hashes = text[prefix..].iter().take_while(|b| **b == b'#').count();
    let open = prefix + hashes;
    if text.get(open) != Some(&b'"') {
        return 0;
    }
    let end = [&b"\""[..], &vec![b'#'; hashes]].concat();
    let body = &text[open + 1..];
    body.windows(end.len()).position(|w| w == end).map_or(text.len(), |n| open + 1 + n + end.len())
}

/// The length of a character; 0 for a lifetime.
fn character(text: &[u8]) -> usize {
    match text.get(1) {
        Some(b'\\') => literal(text, 1, b'\''),
        Some(first) => {
            let length = match first {
                0x00..=0x7f => 1,
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            if text.get(1 + length) == Some(&b'\'') { length + 2 } else { 0 }
        }
        None => 0,
    }
}

/// The end of the bracket that opens at `from`, behind it.
fn closed(text: &[u8], from: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in text.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// The parts of a masked text that only tests compile, and the names of the modules in other files
/// that are among them.
fn parts_of_tests(text: &[u8]) -> (Vec<std::ops::Range<usize>>, Vec<String>) {
    let (mut parts, mut modules) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(found) = position(text, at, b"#[cfg(") {
        let mut end = closed(text, found + 1);
        let condition = String::from_utf8_lossy(&text[found..end]).into_owned();
        at = end;
        let is_test = condition.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "test");
        if !is_test || condition.contains("not(") {
            continue;
        }
        // Other attributes may stand between the condition and its item, which ends with `;` or a
        // block.
        let item = end;
        while end < text.len() && text[end] != b';' && text[end] != b'{' {
            end = if text[end] == b'(' || text[end] == b'[' { closed(text, end) } else { end + 1 };
        }
        let words = String::from_utf8_lossy(&text[item..end]).into_owned();
        let mut words = words.split_whitespace().rev();
        match (text.get(end), words.next(), words.next()) {
            (Some(b';'), Some(name), Some("mod")) => modules.push(name.to_string()),
            (Some(b'{'), ..) => end = closed(text, end),
            _ => {}
        }
        parts.push(found..end);
        at = end;
    }
    (parts, modules)
}

fn position(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text[from..].windows(what.len()).position(|w| w == what).map(|n| n + from)
}

/// The modules of the top that a masked text names behind `crate::`, or `shadewright::` in the
/// binary, and where.
fn named(text: &[u8], root: &str) -> Vec<(String, usize)> {
    let word = |from: usize| {
        let end = text[from..].iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        String::from_utf8_lossy(&text[from..end.map_or(text.len(), |n| from + n)]).into_owned()
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = position(text, at, root.as_bytes()) {
        at = start + root.len();
        if start > 0 && (text[start - 1].is_ascii_alphanumeric() || text[start - 1] == b'_') {
            continue;
        }
        if text.get(at) != Some(&b'{') {
            found.push((word(at), start));
            continue;
        }
        let (end, mut depth, mut begins) = (closed(text, at), 0, false);
        for (place, byte) in text.iter().enumerate().take(end).skip(at) {
            match byte {
                b'{' => (depth, begins) = (depth + 1, true),
                b'}' => depth -= 1,
                b',' => begins = true,
                byte if !byte.is_ascii_whitespace() => {
                    if begins && depth == 1 {
                        found.push((word(place), place));
                    }
                    begins = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// A file of the library or the program.
struct Source {
    /// Its path below `src`, without the extension.
    path: PathBuf,
    /// Its masked text.
    text: Vec<u8>,
    /// The parts that only tests compile.
    parts_of_tests: Vec<std::ops::Range<usize>>,
    /// Whether only tests compile it.
    is_of_tests: bool,
}

impl Source {
    fn is_of_tests(&self, place: usize) -> bool {
        self.is_of_tests || self.parts_of_tests.iter().any(|part| part.contains(&place))
    }

    /// File and line.
    fn place(&self, place: usize) -> String {
        let line = 1 + self.text[..place].iter().filter(|b| **b == b'\n').count();
        format!("src/{}.rs:{line}", self.path.display())
    }
}

/// All files, by their paths.
fn files() -> Vec<Source> {
    let src = repository("src");
    let mut paths = Vec::new();
    sources(&src, &mut paths);
    paths.sort();
    let texts: Vec<Vec<u8>> = paths.iter().map(|p| masked(&fs::read_to_string(p).expect("a text"))).collect();
    // Files that only tests compile: modules without `.rs`, with all below them.
    let mut of_tests = BTreeSet::new();
    for (path, text) in paths.iter().zip(&texts) {
        let is_folder = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| path.ends_with(name));
        let folder = if is_folder { path.with_file_name("") } else { path.with_extension("") };
        of_tests.extend(parts_of_tests(text).1.into_iter().map(|name| folder.join(name)));
    }
    let source = |(path, text): (&PathBuf, Vec<u8>)| Source {
        path: path.strip_prefix(&src).expect("it lies there").with_extension(""),
        parts_of_tests: parts_of_tests(&text).0,
        is_of_tests: path.with_extension("").ancestors().any(|folder| of_tests.contains(folder)),
        text,
    };
    paths.iter().zip(texts).map(source).collect()
}

/// All uses of one module by another.
fn edges() -> Vec<Edge> {
    let mut edges = Vec::new();
    for source in files() {
        let first = source.path.iter().next().expect("a name").to_string_lossy().into_owned();
        let (from, root) = match first.as_str() {
            "lib" => continue,
            "main" | "cli" => ("cli".to_string(), "shadewright::"),
            _ => (first, "crate::"),
        };
        for (to, place) in named(&source.text, root) {
            let is_of_tests = source.is_of_tests(place);
            edges.push(Edge { from: from.clone(), to, place: source.place(place), is_of_tests });
        }
    }
    assert!(edges.len() > 500, "only {} uses of modules were found", edges.len());
    edges
}

#[test]
fn every_module_of_the_library_is_in_one_layer() {
    let layers = Layers::read();
    let listed: Vec<&String> = layers.0.iter().flatten().collect();
    let modules: BTreeSet<String> = fs::read_dir(repository("src"))
        .expect("the sources are part of the repository")
        .map(|e| e.expect("a readable folder").path().with_extension(""))
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .filter(|name| name != "lib" && name != "main")
        .collect();
    assert_eq!(listed.iter().map(|name| (*name).clone()).collect::<BTreeSet<_>>(), modules);
    assert_eq!(listed.len(), modules.len(), "a module is in two layers");
}

#[test]
fn modules_use_only_modules_of_lower_layers() {
    let layers = Layers::read();
    let mut wrong = BTreeMap::<_, Vec<String>>::new();
    for edge in edges().into_iter().filter(|edge| !edge.is_of_tests && !layers.allows(edge)) {
        wrong.entry((edge.from, edge.to)).or_default().push(edge.place);
    }
    let list: Vec<String> =
        wrong.iter().map(|((from, to), at)| format!("{from} uses {to}: {}", at.join(" "))).collect();
    assert!(list.is_empty(), "\n{}", list.join("\n"));
}

#[test]
fn tests_use_higher_layers_only_where_it_is_listed() {
    let layers = Layers::read();
    let mut upward = BTreeMap::<_, Vec<String>>::new();
    for edge in edges().into_iter().filter(|edge| edge.is_of_tests && !layers.allows(edge)) {
        upward.entry((edge.from, edge.to)).or_default().push(edge.place);
    }
    let is_listed = |from: &str, to: &str| OF_TESTS.contains(&(from, to));
    let unlisted = upward.iter().filter(|((from, to), _)| !is_listed(from, to));
    let list: Vec<String> = unlisted.map(|((from, to), at)| format!("{from} uses {to}: {}", at.join(" "))).collect();
    assert!(list.is_empty(), "\n{}", list.join("\n"));
    for (from, to) in OF_TESTS {
        assert!(upward.contains_key(&(from.to_string(), to.to_string())), "no test of {from} uses {to} any more");
    }
}

#[test]
fn only_listed_files_name_a_language() {
    let folders = fs::read_dir(repository("src/lang")).expect("the sources are part of the repository");
    let languages: Vec<String> = folders
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|folder| folder.join("language.rs").is_file())
        .map(|folder| folder.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert!(languages.len() >= 2, "{languages:?}");
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let (mut wrong, mut listed) = (Vec::new(), BTreeSet::new());
    for source in files() {
        for language in languages.iter().filter(|name| !source.path.starts_with(Path::new("lang").join(name))) {
            let mut at = 0;
            while let Some(found) = position(&source.text, at, language.as_bytes()) {
                at = found + language.len();
                let is_part = is_word(found.checked_sub(1).map(|before| &source.text[before]));
                if is_part || is_word(source.text.get(at)) || source.is_of_tests(found) {
                    continue;
                }
                let is_it = |(file, name, _): &&(&str, &str, &str)| source.path == Path::new(file) && name == language;
                match NAMES_A_LANGUAGE.iter().find(is_it) {
                    Some(entry) => drop(listed.insert(entry)),
                    None => wrong.push(format!("{} names `{language}`", source.place(found))),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let stale: Vec<_> = NAMES_A_LANGUAGE.iter().filter(|entry| !listed.contains(entry)).collect();
    assert!(stale.is_empty(), "these files name the language no more: {stale:?}");
}

#[test]
fn files_are_opened_in_one_place_and_those_that_scenes_name_through_one_gate() {
    let mut wrong = Vec::new();
    for source in files() {
        for (words, places) in [OPENS, OF_USERS] {
            if places.iter().any(|place| source.path.starts_with(place)) {
                continue;
            }
            for word in words {
                let mut at = 0;
                while let Some(found) = position(&source.text, at, word.as_bytes()) {
                    at = found + word.len();
                    if !source.is_of_tests(found) {
                        wrong.push(format!("{} has `{word}`", source.place(found)));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn comments_strings_and_tests_are_no_uses() {
    let text = r##"
use crate::{a::{b, c}, d};
// use crate::no;
/* crate::no /* */ crate::no */
fn f<'a>(x: &'a str) -> char { let _ = ("crate::no", r#"crate::"no"#, '"'); crate::e::f('\'') }
#[cfg(all(test, unix))]
#[allow(x)]
mod tests { use crate::g; }
#[cfg(test)]
mod others;
"##;
    let text = masked(text);
    let (parts, modules) = parts_of_tests(&text);
    let outside = |(_, place): &(String, usize)| !parts.iter().any(|part| part.contains(place));
    let (uses, of_tests): (Vec<_>, Vec<_>) = named(&text, "crate::").into_iter().partition(outside);
    let names = |found: Vec<(String, usize)>| found.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(uses), ["a", "d", "e"]);
    assert_eq!(names(of_tests), ["g"]);
    assert_eq!(modules, ["others"]);
}
