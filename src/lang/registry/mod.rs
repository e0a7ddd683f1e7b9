//! The shading languages, and which of them a file is in.
//!
//! The only list of languages: everything above asks it, or carries the language that it gave. No
//! other code compares names with a language's extension.

use super::language::{Form, Language};
use super::pfman::Pfman;
use super::rsl::Rsl;
use super::rtsl::Rtsl;
use std::path::Path;

/// All languages.
pub static LANGUAGES: &[&dyn Language] = &[&Rsl, &Rtsl, &Pfman];

/// The language of shaders that a scene names without a file, and of files without a known
/// extension.
pub static DEFAULT: &dyn Language = &Rsl;

/// The language of a file, by its extension.
pub fn for_path(path: &Path) -> Option<&'static dyn Language> {
    let extension = path.extension()?.to_str()?;
    LANGUAGES.iter().copied().find(|language| language.has_extension(extension))
}

/// A name of the form `FILE.EXT:NAME`, or `FILE.EXT`: its language, its file and the name in it.
/// Extensions are in lower case here.
pub fn qualified(text: &str) -> Option<(&'static dyn Language, &str, Option<&str>)> {
    let language = |file: &str| {
        let (_, extension) = file.rsplit_once('.')?;
        LANGUAGES.iter().copied().find(|language| language.extensions().contains(&extension))
    };
    if let Some(language) = language(text) {
        return Some((language, text, None));
    }
    let (file, name) = text.rsplit_once(':')?;
    Some((language(file)?, file, Some(name)))
}

/// The extensions of all languages with their dots, for messages: `.sl, .rtsl or .pfman`.
pub fn extensions() -> String {
    let all: Vec<String> = LANGUAGES.iter().flat_map(|l| l.extensions()).map(|e| format!(".{e}")).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

/// How a scene names a class by its file, for messages: `FILE.rtsl:Class`.
pub fn qualified_form() -> String {
    let named = LANGUAGES.iter().filter(|language| language.form() == Form::Classes);
    let forms: Vec<String> = named.map(|language| format!("\"FILE.{}:Class\"", language.extensions()[0])).collect();
    forms.join(" or ")
}

#[cfg(test)]
mod tests;
