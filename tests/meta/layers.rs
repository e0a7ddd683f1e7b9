//! Rules of the structure that Cargo cannot express: the page about it lists each crate with those
//! it uses, only listed files name a shading language, only one module of the renderer knows wgpu,
//! and files are opened in one place.
//!
//! `docs/architecture.md` has the crates in a block with the tag `crates`. The other tests read the
//! sources outside of comments and strings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files outside of a language's folder that name the language, and why. Everything else reads what
/// a language compiles a file to from `lang::unit` and the modules beside it.
const NAMES_A_LANGUAGE: &[(&str, &str, &str)] = &[
    ("lang/lib", "pfman", "declares the module"),
    ("lang/lib", "rsl", "declares the module"),
    ("lang/lib", "rtsl", "declares the module"),
    ("lang/registry/mod", "pfman", "lists the languages"),
    ("lang/registry/mod", "rsl", "lists the languages"),
    ("lang/registry/mod", "rtsl", "lists the languages"),
    ("lang/stdlib/mod", "rsl", "the standard library is written in RSL"),
    ("lang/unit", "rtsl", "the form of files of classes, whose methods are lowered for objects"),
    ("program/collect/binding", "rtsl", "the methods of classes that an entry calls"),
    ("program/collect/procedural", "rtsl", "the methods of classes that an entry calls"),
    ("program/collect/rtsl_objects", "rtsl", "lowers the methods of the scene's objects"),
    ("program/collect/shader_cache", "rtsl", "keeps files of classes and lowered methods of objects"),
    ("program/collect/shader_library", "rtsl", "compiles files of classes and absorbs lowered methods"),
    ("program/synthesize/surface_state/procedural", "rtsl", "the methods of classes that an entry calls"),
    ("cli/compile/packets", "rtsl", "the method of classes that packets are measured with"),
    ("cli/args/shaders", "rtsl", "the option of the command that prints the reference"),
    ("cli/reference", "rsl", "prints the language's reference"),
    ("cli/reference", "rtsl", "prints the language's reference"),
];

/// The calls that open a file by its name to read it, and the places other than `disk` that may.
const OPENS: (&[&str], &[&str]) = (
    &["File::open", "File::options", "fs::read(", "fs::read_to_string(", "OpenOptions::new().read"],
    // A cache and the state of golden images give the options to `disk`.
    &["base/disk"],
);

/// The calls that read a file without asking whether a scene may, and the places that make them.
const OF_USERS: (&[&str], &[&str]) = (
    &["read_file", "read_noting", "read_shader("],
    &[
        "cli",
        // The functions themselves.
        "scene/files",
        "program/lib",
        "program/collect/shader_library",
        // The scene that the user names.
        "scene/lib",
        // Files that were found through the gate, and the pack's own.
        "interchange/pack/mod",
        "interchange/pack/manifest",
    ],
);

/// The places that may name wgpu: the GPU back end of the renderer, and the window.
const OF_WGPU: &[&str] = &["render/gpu", "viewer"];

/// The modules of crates in order, where a module imports those of its row and of earlier rows.
const PHASES: &[(&str, &[&[&str]])] = &[
    // The linker: what all phases share, the phases, their result, their driver.
    (
        "program",
        &[
            &["math", "records", "specialize"],
            &["options"],
            &["collect"],
            &["layout"],
            &["synthesize"],
            &["optimize"],
            &["linked"],
            &["link"],
        ],
    ),
    (
        "rpu",
        &[
            // The instruction set, and the forms of programs.
            &["isa"],
            &["asm", "binary", "disasm", "link"],
            // Numbers, lanes, and what programs meet.
            &["format", "lanes", "simd"],
            &["texture", "tracing"],
            &["limits"],
            // The decoded program and its arithmetic.
            &["column"],
            &["step"],
            &["arith", "moves"],
            &["recorder"],
            &["decode"],
            // The interface of engines, and the engines.
            &["block"],
            &["launch"],
            &["interface"],
            &["executor"],
            &["interpreter"],
            &["native"],
            &["auto"],
            // The choice of an engine, and what runs on the one that is chosen.
            &["engine"],
            &["executable"],
            &["execution"],
            // The timing model.
            &["latencies"],
            &["depend"],
            &["timed"],
            // Comparisons of engines.
            &["random"],
            &["agreement"],
        ],
    ),
];

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

/// A file of the library or the program.
struct Source {
    /// The path below `src`, without the extension.
    path: PathBuf,
    /// The masked text.
    text: Vec<u8>,
    /// The parts that only tests compile.
    parts_of_tests: Vec<std::ops::Range<usize>>,
    /// True if only tests compile it.
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
        is_of_tests: path.ends_with("tests.rs")
            || path.with_extension("").ancestors().any(|folder| of_tests.contains(folder)),
        text,
    };
    paths.iter().zip(texts).map(source).collect()
}

/// Each crate of the library without the project's name, with those that it uses in the same form.
type Crates = BTreeMap<String, BTreeSet<String>>;

/// The crates that the page about the structure lists.
fn listed_crates() -> Crates {
    let page = fs::read_to_string(repository("docs/architecture.md")).expect("the page is part of the repository");
    let (_, rest) = page.split_once("```crates\n").expect("the page has a block with the tag `crates`");
    let (block, _) = rest.split_once("```").expect("the block ends");
    let row = |line: &str| {
        let (name, used) = line.split_once(':').expect("a name, `:` and what it uses");
        (name.trim().to_string(), used.split_whitespace().map(String::from).collect())
    };
    block.lines().map(row).collect()
}

/// The crates of the workspace, without the package of the program.
fn crates() -> Crates {
    let folders = fs::read_dir(repository("src")).expect("the sources are part of the repository");
    let manifests = folders.map(|entry| entry.expect("a readable folder").path().join("Cargo.toml"));
    let one = |path: PathBuf| {
        let folder = path.parent()?.file_name()?.to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).ok()?;
        let (_, used) = text.split_once("\n[dependencies]\n").expect("dependencies");
        let used = used.split("\n[").next().unwrap_or_default();
        let names = used.lines().filter_map(|line| line.strip_prefix("shadewright-"));
        Some((folder, names.map(|line| line.split(['.', ' ']).next().unwrap_or_default().replace('-', "_")).collect()))
    };
    manifests.filter_map(one).collect()
}

#[test]
fn the_page_about_the_structure_lists_each_crate_with_those_it_uses() {
    let (listed, found) = (listed_crates(), crates());
    assert!(found.len() > 15, "{found:?}");
    for (name, used) in &found {
        let list: Vec<_> = used.iter().map(String::as_str).collect();
        assert_eq!(listed.get(name), Some(used), "the page should have the line `{name}: {}`", list.join(" "));
    }
    assert_eq!(listed.len(), found.len(), "the page lists a crate that does not exist");
}

#[test]
fn only_the_gpu_back_end_and_the_window_name_wgpu() {
    let mut wrong = Vec::new();
    for source in files().iter().filter(|source| !OF_WGPU.iter().any(|place| source.path.starts_with(place))) {
        let mut at = 0;
        while let Some(found) = position(&source.text, at, b"wgpu::") {
            at = found + 1;
            wrong.push(source.place(found));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
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
fn modules_of_crates_with_phases_import_only_earlier_ones() {
    let files = files();
    for (name, phases) in PHASES {
        let phase = |module: &str| phases.iter().position(|modules| modules.contains(&module));
        let (mut wrong, mut imports) = (Vec::new(), 0);
        for source in files.iter().filter(|source| source.path.starts_with(name) && !source.is_of_tests) {
            let module = source.path.iter().nth(1).expect("a module").to_string_lossy().into_owned();
            if module == "lib" {
                continue;
            }
            let own = phase(&module).unwrap_or_else(|| panic!("the list of phases of `{name}` has no `{module}`"));
            let mut at = 0;
            while let Some(found) = position(&source.text, at, b"crate::") {
                at = found + b"crate::".len();
                let rest = String::from_utf8_lossy(&source.text[at..]);
                let used = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                imports += 1;
                if phase(used).is_none_or(|other| other > own) && !source.is_of_tests(found) {
                    wrong.push(format!("{} uses `{used}`", source.place(found)));
                }
            }
            // The crate's root is `crate`: an import by another name would not be seen.
            let is_at_root = source.path.iter().count() == 2 || source.path.ends_with(format!("{module}/mod"));
            if is_at_root && let Some(found) = position(&source.text, 0, b"\nuse super::") {
                wrong.push(format!("{} has `super` for `crate`", source.place(found + 1)));
            }
        }
        assert!(imports > 100, "only {imports} imports were found in `{name}`");
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
}

#[test]
fn a_module_with_modules_of_its_own_is_a_folder_with_mod_rs() {
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches", "examples", "fuzz"] {
        sources(&repository(folder), &mut paths);
    }
    let beside: Vec<_> = paths.iter().filter(|path| path.with_extension("").is_dir()).collect();
    assert!(paths.len() > 1000 && beside.is_empty(), "these lie beside a folder of the same name: {beside:?}");
}

#[test]
fn comments_strings_and_tests_are_found() {
    let text = r##"
use a;
// one
/* two /* */ three */
fn f<'a>(x: &'a str) -> char { let _ = ("four", r#"five"six"#, '"'); seven('\'') }
#[cfg(all(test, unix))]
#[allow(x)]
mod tests { eight }
#[cfg(test)]
mod others;
"##;
    let text = masked(text);
    let (parts, modules) = parts_of_tests(&text);
    let place = |word: &str| position(&text, 0, word.as_bytes());
    for hidden in ["one", "two", "three", "four", "five", "six"] {
        assert_eq!(place(hidden), None, "{hidden}");
    }
    let is_of_tests = |word: &str| place(word).map(|at| parts.iter().any(|part| part.contains(&at)));
    assert_eq!(["use", "seven", "eight"].map(is_of_tests), [Some(false), Some(false), Some(true)]);
    assert_eq!(modules, ["others"]);
}
