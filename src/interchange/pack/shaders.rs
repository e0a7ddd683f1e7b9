//! References of a shader's text to other files: the headers that it includes, and its strings.

use shadewright_base::scan::{RawKind, RawToken, scan};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_lang::preprocess::{PreprocessOptions, preprocess};
use shadewright_program::read_shader_of;
use shadewright_scene::FileAccess;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Functions that make strings.
const STRING_FUNCTIONS: [&str; 2] = ["concat", "format"];

/// A header that a file includes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Include {
    /// The file that includes it, and the shader's file.
    pub from: PathBuf,
    /// The shader's file.
    pub main: PathBuf,
    /// The place of the name with its quotes or brackets.
    pub span: Span,
    /// The name; `None` where a macro gives it.
    pub name: Option<String>,
    /// True if the folder of the file comes before the search path: a name in quotes.
    pub beside_first: bool,
    /// The header.
    pub found: PathBuf,
}

/// A shader's file with its headers.
#[derive(Debug, Default)]
pub struct ShaderFiles {
    /// All files, the shader's own first.
    pub files: Vec<(PathBuf, FileId)>,
    /// The headers.
    pub includes: Vec<Include>,
}

/// Reads a shader's file with the headers that it includes; texts are added to `sources`. `None` where
/// it cannot be read.
pub fn read(
    path: &Path,
    include_paths: &[PathBuf],
    access: &FileAccess,
    sources: &mut SourceMap,
) -> Option<ShaderFiles> {
    let known = sources.files().iter().position(|file| file.path.as_deref() == Some(path));
    let id = match known {
        Some(known) => FileId(known as u32),
        None => {
            let text = read_shader_of(access, path, &mut FileLog::default()).ok()?;
            sources.add(path.display().to_string(), Some(path), text)
        }
    };
    let (include_paths, allowed_roots) = (include_paths.to_vec(), access.allowed.clone());
    let options = PreprocessOptions { include_paths, allowed_roots, ..PreprocessOptions::default() };
    // Who compiles the shader reports what is wrong with it.
    let read = preprocess(sources, id, &options, &mut Diagnostics::new());
    let mut out = ShaderFiles { files: vec![(path.to_path_buf(), id)], includes: Vec::new() };
    for include in read.includes {
        let from = sources.get(include.place.file);
        let found = sources.get(include.file).and_then(|file| file.path.clone());
        let (Some(from), Some(found)) = (from, found) else { continue };
        let Some(from_path) = from.path.clone() else { continue };
        let text = from.text.get(include.place.start as usize..include.place.end as usize).unwrap_or_default();
        let (name, beside_first) = named(text);
        let (main, span) = (path.to_path_buf(), include.place);
        out.includes.push(Include { from: from_path, main, span, name, beside_first, found: found.clone() });
        if out.files.iter().all(|(known, _)| *known != found) {
            out.files.push((found, include.file));
        }
    }
    Some(out)
}

/// The name of a header as it is written, and whether it is in quotes.
fn named(text: &str) -> (Option<String>, bool) {
    if let Some(rest) = text.strip_prefix('<') {
        let name = rest.split('>').next().unwrap_or_default();
        return (Some(name.split_whitespace().collect()), false);
    }
    let tokens = scan(FileId::default(), text, &mut Diagnostics::new());
    let string = tokens.first().filter(|token| token.kind == RawKind::String);
    (string.map(|token| token.text.to_string()), true)
}

/// The strings of a text.
#[derive(Debug, Default)]
pub struct Strings {
    /// Strings with their places, but the names of headers.
    pub literals: Vec<(Span, Arc<str>)>,
    /// Calls of functions that make strings.
    pub functions: Vec<Span>,
}

/// Finds the strings of a shader's text.
pub fn strings(file: FileId, text: &str) -> Strings {
    let mut out = Strings::default();
    let tokens = scan(file, text, &mut Diagnostics::new());
    for line in tokens.split(|token| token.kind == RawKind::Newline) {
        if let [hash, word, ..] = line
            && hash.is_punct("#")
            && &*word.text == "include"
        {
            continue;
        }
        for (i, token) in line.iter().enumerate() {
            if token.kind == RawKind::String && is_whole(text, token) && !token.text.is_empty() {
                out.literals.push((token.span, token.text.clone()));
            }
            let is_call = || line.get(i + 1).is_some_and(|next| next.is_punct("("));
            if token.kind == RawKind::Word && STRING_FUNCTIONS.contains(&&*token.text) && is_call() {
                out.functions.push(token.span);
            }
        }
    }
    out
}

/// True if a string has both its quotes.
fn is_whole(text: &str, token: &RawToken) -> bool {
    let written = text.get(token.span.start as usize..token.span.end as usize).unwrap_or_default();
    written.len() > 1 && written.ends_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn headers_of_headers_are_found_with_their_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("inc/deep")).expect("folders");
        let files = [
            (
                "a.sl",
                "#include \"inc/b.h\"\n#include < deep/c.h >\n#ifdef AQSIS\n#include \"no.h\"\n#endif\n#include \"none.h\"",
            ),
            ("inc/b.h", "#define HEADER \"../d.h\"\n#include HEADER\n"),
            ("inc/deep/c.h", ""),
            ("d.h", ""),
            ("no.h", ""),
        ];
        for (name, text) in files {
            fs::write(at(name), format!("{text}\n")).expect("a file");
        }
        let mut sources = SourceMap::new();
        let access = FileAccess { base: Some(dir.path().to_path_buf()), allowed: Vec::new() };
        let found = read(&at("a.sl"), &[at("inc")], &access, &mut sources).expect("a shader");
        let paths: Vec<PathBuf> = found.files.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(paths, [at("a.sl"), at("inc/b.h"), at("inc/../d.h"), at("inc/deep/c.h")]);
        let names: Vec<_> = found.includes.iter().map(|i| (i.name.as_deref(), i.beside_first)).collect();
        assert_eq!(names, [(Some("inc/b.h"), true), (None, true), (Some("deep/c.h"), false)]);
    }

    #[test]
    fn strings_are_found_but_those_of_headers_and_comments() {
        let text = "#include \"no.h\"\n#define MAP \"a.tx\"\nCi = texture(MAP) * texture(\"b\\\"c.tx\"); // \"no\"\n\
            string s = concat(\"d\", \"\"); float format = 1;\nstring open = \"e";
        let found = strings(FileId(0), text);
        let literals: Vec<&str> = found.literals.iter().map(|(_, value)| &**value).collect();
        assert_eq!(literals, ["a.tx", "b\"c.tx", "d"]);
        assert_eq!(found.functions.len(), 1);
    }
}
