//! The services of a language for a text that is being edited: messages, outline, hover,
//! completion, signatures and definitions, as plain data.
//!
//! [`super::Language::analyze`] makes a [`Document`]. It knows no protocol and no editor: offsets
//! are bytes, places are [`Span`]s.

use super::preprocess::Include;
use shadewright_base::scan::{RawKind, RawToken, scan};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use std::fmt;
use std::sync::Arc;

/// Longest declaration or comment that is shown, in characters.
const MAX_SHOWN: usize = 2000;

/// A text with the files that it includes.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text and all files that it includes.
    pub sources: SourceMap,
    /// The text, in `sources`.
    pub file: FileId,
    /// The text's tokens before preprocessing.
    pub tokens: Vec<RawToken>,
    text: Arc<str>,
}

impl Text {
    /// The text that is `file` in `sources`.
    pub fn new(sources: SourceMap, file: FileId) -> Self {
        let text = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
        let tokens = scan(file, &text, &mut Diagnostics::new());
        Self { sources, file, tokens, text }
    }

    /// The same without its tokens: nothing in it has a meaning.
    pub fn opaque(sources: SourceMap, file: FileId) -> Self {
        let text = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
        Self { sources, file, tokens: Vec::new(), text }
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source text of a span.
    pub fn source(&self, span: Span) -> &str {
        let file = self.sources.get(span.file);
        file.and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or_default()
    }

    /// The word at an offset, or directly before it.
    pub fn word_at(&self, offset: usize) -> Option<&RawToken> {
        let here = |s: Span| (s.start as usize..=s.end as usize).contains(&offset);
        self.tokens.iter().rev().find(|t| t.kind == RawKind::Word && here(t.span))
    }

    /// The comment directly before a span.
    pub fn comment_above(&self, span: Span) -> String {
        let Some(file) = self.sources.get(span.file) else { return String::new() };
        let Some(above) = file.text.get(..span.start as usize) else { return String::new() };
        let above = above.trim_end();
        let lines: Vec<&str> = match above.strip_suffix("*/") {
            Some(inside) => match inside.rfind("/*") {
                Some(start) => inside[start + 2..].lines().collect(),
                None => Vec::new(),
            },
            None => {
                let comments = above.lines().rev().map_while(|l| l.trim_start().strip_prefix("//"));
                let mut lines: Vec<&str> = comments.collect();
                lines.reverse();
                lines
            }
        };
        let lines: Vec<&str> = lines.iter().map(|l| l.trim().trim_start_matches('*').trim()).collect();
        shortened(lines.join("\n").trim())
    }
}

/// A text of no more than [`MAX_SHOWN`] characters.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// An analyzed text. `text` is the one that it was made from, `offset` a byte of it.
pub trait Document: fmt::Debug + Send + Sync {
    /// All errors and warnings.
    fn diagnostics(&self) -> &Diagnostics;

    /// The files that were included.
    fn includes(&self) -> &[Include];

    /// The symbols that the text defines, in its order.
    fn outline(&self, text: &Text) -> Vec<Symbol>;

    /// The meaning of the name at an offset.
    fn hover(&self, text: &Text, offset: usize) -> Option<Hover>;

    /// Where the thing at an offset is defined. Definitions in the standard library are left out,
    /// since they are in no file.
    fn definition(&self, text: &Text, offset: usize) -> Vec<Span> {
        let _ = (text, offset);
        Vec::new()
    }

    /// The completions at an offset, in no order.
    fn completion(&self, text: &Text, offset: usize) -> Vec<Completion> {
        let _ = (text, offset);
        Vec::new()
    }

    /// The signatures of the innermost call around an offset.
    fn signatures(&self, text: &Text, offset: usize) -> Option<Signatures> {
        let _ = (text, offset);
        None
    }
}

/// The kind of a symbol of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A shader or a class.
    Class,
    /// A function.
    Function,
    /// A method of a class.
    Method,
    /// A parameter of a shader or function.
    Parameter,
    /// A variable of a class.
    Field,
    /// A macro.
    Macro,
}

/// A symbol of an outline.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The type or kind; may be empty.
    pub detail: String,
    /// The kind of symbol.
    pub kind: SymbolKind,
    /// All of its definition.
    pub whole: Span,
    /// The place of the name in the definition.
    pub place: Span,
    /// The symbols that it contains.
    pub children: Vec<Symbol>,
}

/// A declaration and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// Declarations, as they are written in the language; may be empty.
    pub code: String,
    /// Sentences; may be empty.
    pub text: String,
    /// The name that it is about.
    pub span: Span,
}

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A reserved word.
    Keyword,
    /// A parameter of the shader or function.
    Parameter,
    /// A local variable.
    Variable,
    /// A predefined variable or a macro.
    Constant,
    /// A function.
    Function,
}

/// Something that may be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The text that is inserted, where an editor takes no snippet.
    pub name: String,
    /// The kind of completion.
    pub kind: CompletionKind,
    /// The declaration in a line, where that says more than the name.
    pub detail: Option<String>,
    /// Sentences; may be empty.
    pub text: String,
    /// The place in the list: lower ones come first, then names decide.
    pub rank: u8,
    /// The text that is inserted, with places to fill in as the Language Server Protocol writes
    /// them.
    pub snippet: Option<String>,
}

/// The signatures that a call may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Signatures {
    /// The overloads.
    pub list: Vec<Signature>,
    /// The argument that is being written, from 0.
    pub argument: usize,
}

/// A signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// As it is written; types and names are ASCII.
    pub label: String,
    /// The bytes of each parameter in `label`.
    pub places: Vec<[u32; 2]>,
    /// True if the last parameter may be repeated.
    pub variadic: bool,
    /// Sentences; may be empty.
    pub text: String,
}
