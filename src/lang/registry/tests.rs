use super::*;
use crate::Naming;
use crate::shader_ref::ShaderRef;
use std::fs;
use std::path::PathBuf;

#[test]
fn languages_have_names_and_extensions_of_their_own() {
    for (i, language) in LANGUAGES.iter().enumerate() {
        assert!(!language.extensions().is_empty(), "{}", language.name());
        for extension in language.extensions() {
            assert_eq!(extension.to_lowercase(), *extension);
            assert_eq!(for_path(Path::new(&format!("a.{}", extension.to_uppercase()))), Some(*language));
        }
        assert!(LANGUAGES[..i].iter().all(|other| other != language && other.name() != language.name()));
    }
    assert_eq!(DEFAULT.naming(), Naming::Bare);
    assert_eq!(for_path(Path::new("a.h")), None);
}

#[test]
fn names_of_shaders_are_read_once() {
    let parts = |text: &str| {
        let shader = ShaderRef::new(text);
        assert_eq!(shader.to_string(), text);
        (shader.language.id(), shader.file.clone(), shader.given.clone())
    };
    let name = |name: &str| Some(name.to_string());
    assert_eq!(parts("plastic"), ("rsl", "plastic.sl".to_string(), name("plastic")));
    assert_eq!(parts("glass.rtsl:Glass"), ("rtsl", "glass.rtsl".to_string(), name("Glass")));
    assert_eq!(parts("a/glass.rtsl"), ("rtsl", "a/glass.rtsl".to_string(), None));
    assert_eq!(ShaderRef::new("a/glass.rtsl").name(), "glass");
    assert_eq!(parts("brick.pfman:brick"), ("pfman", "brick.pfman".to_string(), name("brick")));
    assert_eq!(parts("odd:name").0, "rsl", "a colon alone names no file");
    assert_eq!(parts("odd.sl:name").0, "rsl");
}

/// Front ends share modules of `lang`, and none is made of another.
#[test]
fn no_front_end_imports_another() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src/lang");
    for own in LANGUAGES {
        let mut files = Vec::new();
        sources(&root.join(own.id()), &mut files);
        assert!(files.len() > 3, "{}", own.id());
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            for other in LANGUAGES.iter().filter(|other| *other != own) {
                assert!(!text.contains(&format!("crate::{}", other.id())), "{}", file.display());
            }
        }
    }
}

/// Rust files below a folder, but for those of tests.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests" || name == "testing");
        if path.is_dir() && !is_test {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") && !is_test {
            all.push(path);
        }
    }
}

/// The registry is the only place that knows extensions: elsewhere no literal is one, begins with
/// one or is made with one. Benchmarks and built-in scenes name files of their own.
#[test]
fn no_code_outside_the_front_ends_compares_extensions() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 300, "{}", files.len());
    let extensions: Vec<&str> = LANGUAGES.iter().flat_map(|l| l.extensions()).copied().collect();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("a file below src").to_string_lossy().replace('\\', "/");
        if ["lang/", "cli/bench/", "cli/args/", "scene/builtin.rs"].iter().any(|own| name.starts_with(own)) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let is_asked = |e: &&str| {
                [format!("\"{e}\""), format!("\".{e}"), format!("}}.{e}")].iter().any(|form| line.contains(form))
            };
            if extensions.iter().any(is_asked) {
                found.push(format!("src/{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "ask lang::registry instead:\n{}", found.join("\n"));
}
