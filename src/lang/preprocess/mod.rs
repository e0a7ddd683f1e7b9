//! The C preprocessor that shading languages share.
//!
//! Takes a file of a [`SourceMap`] and gives its raw tokens with directives executed and macros
//! expanded. Included files join the source map. A token from a macro's body has the span of the
//! macro's use; a token of an argument keeps its own. It knows no language's keywords. Work is
//! bounded: tokens produced, files nested, arguments nested.

use shadewright_base::disk;
use shadewright_base::scan::{self, RawKind, RawToken, scan};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap, Span, decode};
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod condition;
mod expand;

/// Most tokens that expansion may make: a small text can ask for 2ⁿ.
const MAX_TOKENS: usize = 1_000_000;
/// Most bytes of a token that `#` or `##` makes: it may double with each macro.
const MAX_TOKEN: usize = 64 << 10;
/// Bytes of such tokens that count as one token more.
const BYTES_PER_TOKEN: usize = 16;
/// Most inclusions of files: headers that include the next one twice ask for 2ⁿ.
const MAX_INCLUSIONS: usize = 10_000;
/// Most files open at once.
const MAX_INCLUDES: usize = 64;
/// Most macro calls within arguments of macro calls.
const MAX_ARGUMENT_DEPTH: usize = 64;
/// Longest file that `#include` reads, in bytes.
pub const MAX_FILE: u64 = 16 << 20;

/// The directives that have a meaning, and the one that is passed over by intention.
pub const DIRECTIVES: [&str; 11] =
    ["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "pragma"];

/// Macros that are defined at the start, before those of the options: this program, and PRMan,
/// whose language and extensions these are. Other compilers define their own (`AQSIS`, `BMRT`,
/// `DELIGHT`, `PIXIE`), and files then leave out what PRMan has.
const PREDEFINED: [(&str, &str); 2] = [("SHADEWRIGHT", "1"), ("PRMAN", "1")];

/// The files that the text may reach and the names that it starts with.
#[derive(Clone, Debug, Default)]
pub struct PreprocessOptions {
    /// Folders that `#include` looks in, in order: for `"…"` after the folder of the file that
    /// asks, for `<…>` before it.
    pub include_paths: Vec<PathBuf>,
    /// Macros defined at the start: name and replacement text.
    pub defines: Vec<(String, String)>,
    /// Folders, besides those above, that an included file may lie in. A file elsewhere
    /// (`../../secret`) is refused.
    pub allowed_roots: Vec<PathBuf>,
    /// Files by their names, for includes that no folder has. They lie in one of the folders above.
    pub headers: HashMap<String, PathBuf>,
    /// Headers that come with the language, for includes that no folder has.
    pub built_in: &'static [(&'static str, &'static str)],
    /// Texts that stand in for files, by canonical path: what an editor has not saved yet.
    pub unsaved: HashMap<PathBuf, Arc<str>>,
}

/// A macro for [`PreprocessOptions::defines`], written `NAME` (which means 1) or `NAME=VALUE`.
pub fn define(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    (name.to_string(), value.to_string())
}

/// A preprocessed file, with what the text itself no longer shows.
#[derive(Clone, Debug, Default)]
pub struct Preprocessed {
    /// The tokens, with directives carried out and macros expanded.
    pub tokens: Vec<RawToken>,
    /// Every definition of a macro, in order.
    pub macros: Vec<MacroDefinition>,
    /// Where macros are used: the place of the name, and the definition that held there, by index
    /// in `macros`.
    pub macro_uses: HashMap<Span, usize>,
    /// The files that were included, in order.
    pub includes: Vec<Include>,
}

/// A definition of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroDefinition {
    /// The name.
    pub name: Arc<str>,
    /// The place of the name; `None` for a macro that the options define.
    pub place: Option<Span>,
    /// Name, parameters and replacement text, as written.
    pub text: String,
}

/// An `#include` that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The place of the file's name.
    pub place: Span,
    /// The file that was read.
    pub file: FileId,
}

/// A macro.
#[derive(Clone, Debug)]
struct Macro {
    /// Names of the parameters; `None` for a macro without parentheses.
    params: Option<Vec<Arc<str>>>,
    /// True if the last parameter takes all arguments that are left, with the commas between them.
    variadic: bool,
    body: Arc<[RawToken]>,
    span: Span,
    /// Which of [`Preprocessed::macros`] it is.
    definition: usize,
}

/// One `#if` that is open.
struct Conditional {
    span: Span,
    /// True if tokens pass now.
    active: bool,
    /// True if a branch was taken already, or none may be as the outer text is skipped.
    done: bool,
    seen_else: bool,
}

/// Tokens that wait to be expanded; those of a macro's body name the macro, which stays off while
/// they are read.
struct Frame {
    tokens: Arc<[RawToken]>,
    next: usize,
    macro_name: Option<Arc<str>>,
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    options: &'a PreprocessOptions,
    roots: Vec<PathBuf>,
    /// The folder of the file that is preprocessed.
    main: Option<PathBuf>,
    macros: HashMap<Arc<str>, Macro>,
    open_files: Vec<PathBuf>,
    made: usize,
    inclusions: usize,
    stopped: bool,
    out: Preprocessed,
    diags: &'a mut Diagnostics,
}

/// Preprocesses `file`. Errors go to `diags`; the tokens are usable all the same.
pub fn preprocess(
    sources: &mut SourceMap,
    file: FileId,
    options: &PreprocessOptions,
    diags: &mut Diagnostics,
) -> Preprocessed {
    let path = sources.get(file).and_then(|f| f.path.clone());
    let own = path.as_deref().map(folder);
    let folders = own.iter().chain(&options.include_paths).chain(&options.allowed_roots);
    let roots = folders.filter_map(|p| p.canonicalize().ok()).collect();
    let mut pp = Preprocessor {
        sources,
        options,
        roots,
        main: own,
        macros: HashMap::new(),
        open_files: path.iter().filter_map(|p| p.canonicalize().ok()).collect(),
        made: 0,
        inclusions: 0,
        stopped: false,
        out: Preprocessed::default(),
        diags,
    };
    let predefined = PREDEFINED.iter().map(|(name, body)| (name.to_string(), body.to_string()));
    for (name, body) in &predefined.chain(options.defines.iter().cloned()).collect::<Vec<_>>() {
        let text = format!("{name} {body}");
        let body: Vec<RawToken> = scan(file, body, &mut Diagnostics::new());
        let body = body.into_iter().filter(|t| t.kind != RawKind::Newline).collect();
        let definition = pp.out.macros.len();
        pp.out.macros.push(MacroDefinition { name: name.as_str().into(), place: None, text });
        pp.macros.insert(
            name.as_str().into(),
            Macro { params: None, variadic: false, body, span: Span::new(file, 0, 0), definition },
        );
    }
    pp.file(file);
    pp.out
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

impl Preprocessor<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>, label: impl Into<String>) {
        self.report(Diagnostic::error(message).at(span, label));
    }

    fn report(&mut self, d: Diagnostic) {
        if self.diags.error_count() < 100 {
            self.diags.push(d);
        }
    }

    /// Counts `n` more tokens; says once when there are too many.
    fn spend(&mut self, n: usize, span: Span) -> bool {
        self.made += n;
        if self.made > MAX_TOKENS && !self.stopped {
            self.stopped = true;
            let d = Diagnostic::error(format!("macros expand to more than {MAX_TOKENS} tokens"))
                .at(span, "expanding this goes over the limit")
                .hint("macros that use each other twice grow as powers of two");
            self.report(d);
        }
        !self.stopped
    }

    /// Counts a token of `length` bytes that `#` or `##` makes; says once when it is too long.
    fn spend_token(&mut self, length: usize, span: Span) -> bool {
        if length > MAX_TOKEN && !self.stopped {
            self.stopped = true;
            let d = Diagnostic::error(format!("a macro makes a token of more than {} KiB", MAX_TOKEN >> 10))
                .at(span, "expanding this goes over the limit")
                .hint("macros that join their argument to itself grow as powers of two");
            self.report(d);
        }
        self.spend(length / BYTES_PER_TOKEN, span)
    }

    fn file(&mut self, file: FileId) {
        let Some(text) = self.sources.get(file).map(|f| f.text.clone()) else { return };
        let mut slips = Diagnostics::new();
        let tokens = scan(file, &text, &mut slips);
        let mut skipped: Vec<Span> = Vec::new();
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut pending: Vec<RawToken> = Vec::new();
        let mut at = 0;
        while at < tokens.len() && !self.stopped {
            let end = tokens[at..].iter().position(|t| t.kind == RawKind::Newline).map_or(tokens.len(), |n| at + n);
            let line = &tokens[at..end];
            at = end + 1;
            if line.first().is_some_and(|t| t.is_punct("#")) {
                self.flush(&mut pending);
                self.directive(file, line, &mut conditionals);
            } else if conditionals.last().is_none_or(|c| c.active) {
                pending.extend_from_slice(line);
            } else if let Some(first) = line.first() {
                skipped.push(first.span.to(line[line.len() - 1].span));
            }
        }
        self.flush(&mut pending);
        // Skipped text need not be valid: people keep notes there.
        let counts = |d: &&Diagnostic| {
            !d.labels
                .iter()
                .any(|l| skipped.iter().any(|s| s.file == l.span.file && (s.start..s.end).contains(&l.span.start)))
        };
        let slips: Vec<Diagnostic> = slips.iter().filter(counts).cloned().collect();
        slips.into_iter().for_each(|d| self.report(d));
        for c in conditionals {
            self.error(c.span, "unterminated conditional", "`#endif` is missing");
        }
    }

    fn flush(&mut self, pending: &mut Vec<RawToken>) {
        let Some(last) = pending.last() else { return };
        // A header may be included ten thousand times.
        if self.out.tokens.len() + pending.len() > scan::MAX_TOKENS {
            let place = last.span;
            if !std::mem::replace(&mut self.stopped, true) {
                self.error(place, scan::too_many_tokens(), "with what is included");
            }
            return;
        }
        let tokens: Arc<[RawToken]> = std::mem::take(pending).into();
        let expanded = self.expand(tokens, &HashSet::new(), 0);
        self.out.tokens.extend(expanded);
    }

    // --- directives ---

    fn directive(&mut self, file: FileId, line: &[RawToken], conditionals: &mut Vec<Conditional>) {
        let Some(name) = line.get(1) else { return };
        let rest = &line[2..];
        let skipping = conditionals.last().is_some_and(|c| !c.active);
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let active = !skipping && self.test(name, rest);
                conditionals.push(Conditional { span: name.span, active, done: skipping || active, seen_else: false });
            }
            "elif" | "else" | "endif" => self.continue_conditional(name, rest, conditionals),
            _ if skipping => {}
            "define" => self.define(name, rest),
            "undef" => match rest.first() {
                Some(t) if t.kind == RawKind::Word => {
                    self.macros.remove(&t.text);
                }
                _ => self.error(name.span, "`#undef` needs a name", "no name follows"),
            },
            "include" => self.include(file, name, rest),
            "error" => {
                let text: Vec<&str> = rest.iter().map(|t| &*t.text).collect();
                self.error(name.span, format!("#error {}", text.join(" ")), "asked for here");
            }
            // A line number or a hint for another compiler: places stay those of the text as it was
            // given.
            "line" | "pragma" | "ident" | "warning" => {}
            _ if name.kind == RawKind::Number => {}
            other => {
                let message = format!("unknown directive `#{other}`");
                let mut d = Diagnostic::error(message).at(name.span, "not a directive");
                if let Some(k) = shadewright_base::text::diagnostics::closest(other, DIRECTIVES.iter().copied()) {
                    d = d.hint(format!("did you mean `#{k}`?"));
                }
                self.report(d);
            }
        }
    }

    fn continue_conditional(&mut self, name: &RawToken, rest: &[RawToken], conditionals: &mut Vec<Conditional>) {
        let Some(mut c) = conditionals.pop() else {
            let message = format!("`#{}` without `#if`", name.text);
            self.error(name.span, message, "no open condition");
            return;
        };
        if &*name.text == "endif" {
            return;
        }
        if c.seen_else {
            self.error(name.span, format!("`#{}` after `#else`", name.text), "the last branch is already open");
        }
        c.active = !c.done && (&*name.text == "else" || self.test(name, rest));
        c.done |= c.active;
        c.seen_else |= &*name.text == "else";
        conditionals.push(c);
    }

    /// True if the condition of `#if`, `#ifdef`, `#ifndef` or `#elif` holds.
    fn test(&mut self, name: &RawToken, rest: &[RawToken]) -> bool {
        if matches!(&*name.text, "ifdef" | "ifndef") {
            let Some(t) = rest.first().filter(|t| t.kind == RawKind::Word) else {
                self.error(name.span, format!("`#{}` needs a name", name.text), "no name follows");
                return false;
            };
            return self.macros.contains_key(&t.text) == (&*name.text == "ifdef");
        }
        let known = |n: &str| self.macros.contains_key(n);
        let tokens: Arc<[RawToken]> = condition::replace_defined(rest, known).into();
        let tokens = self.expand(tokens, &HashSet::new(), 0);
        match condition::evaluate(&tokens, name.span) {
            Ok(value) => value != 0,
            Err(d) => {
                self.report(d);
                false
            }
        }
    }

    fn define(&mut self, directive: &RawToken, rest: &[RawToken]) {
        let Some(name) = rest.first().filter(|t| t.kind == RawKind::Word && &*t.text != "defined") else {
            self.error(directive.span, "`#define` needs a name", "no name follows");
            return;
        };
        let mut params = None;
        let mut variadic = false;
        let mut body = &rest[1..];
        if body.first().is_some_and(|t| t.is_punct("(") && !t.spaced) {
            let Some(close) = body.iter().position(|t| t.is_punct(")")) else {
                self.error(name.span, "unterminated parameters of a macro", "`)` is missing");
                return;
            };
            let mut listed = &body[1..close];
            let mut rest_name = None;
            if let [before @ .., a, b, c] = listed
                && [a, b, c].iter().all(|t| t.is_punct("."))
            {
                variadic = true;
                listed = before;
                // `name...` calls the arguments that are left by that name, `...` by the one that C
                // gives them.
                if before.last().is_none_or(|t| t.is_punct(",")) {
                    rest_name = Some(Arc::from("__VA_ARGS__"));
                    listed = before.split_last().map_or(before, |(_, names)| names);
                }
            }
            let names: Vec<&RawToken> = listed.iter().collect();
            let well_formed = names.iter().enumerate().all(|(i, t)| match i % 2 {
                0 => t.kind == RawKind::Word,
                _ => t.is_punct(","),
            }) && (names.is_empty() || names.len() % 2 == 1);
            if !well_formed {
                self.error(name.span, "the parameters of this macro are not a list of names", "in this definition");
                return;
            }
            params = Some(names.iter().step_by(2).map(|t| t.text.clone()).chain(rest_name).collect());
            body = &body[close + 1..];
        }
        let definition = self.out.macros.len();
        let whole = name.span.to(rest[rest.len() - 1].span);
        let text = self.sources.get(whole.file).and_then(|f| f.text.get(whole.start as usize..whole.end as usize));
        let text = text.unwrap_or_default().to_string();
        self.out.macros.push(MacroDefinition { name: name.text.clone(), place: Some(name.span), text });
        let new = Macro { params, variadic, body: body.into(), span: name.span, definition };
        if let Some(old) = self.macros.get(&name.text) {
            let same = old.params == new.params
                && old.variadic == new.variadic
                && old.body.len() == new.body.len()
                && old.body.iter().zip(new.body.iter()).all(|(a, b)| a.text == b.text && a.kind == b.kind);
            if !same {
                let d = Diagnostic::warning(format!("macro `{}` is redefined", name.text))
                    .at(name.span, "this definition applies from here on")
                    .also(old.span, "first defined here");
                self.report(d);
            }
        }
        self.macros.insert(name.text.clone(), new);
    }

    // --- include ---

    fn include(&mut self, from: FileId, directive: &RawToken, rest: &[RawToken]) {
        let expanded;
        let rest = match rest.first() {
            Some(t) if t.kind == RawKind::Word => {
                expanded = self.expand(rest.into(), &HashSet::new(), 0);
                &expanded[..]
            }
            _ => rest,
        };
        let (name, beside, span) = match rest.first() {
            Some(t) if t.kind == RawKind::String => (t.text.to_string(), true, t.span),
            Some(t) if t.is_punct("<") => {
                let parts: Vec<&str> = rest[1..].iter().take_while(|t| !t.is_punct(">")).map(|t| &*t.text).collect();
                (parts.concat(), false, t.span.to(rest.last().unwrap_or(t).span))
            }
            _ => {
                self.error(directive.span, "`#include` needs a file", "write `#include \"name\"` or `#include <name>`");
                return;
            }
        };
        // Old archives write `<…>` for files beside the one that asks, too.
        let own = self.sources.get(from).and_then(|f| f.path.as_deref()).map(folder);
        let (first, last) = if beside { (own, None) } else { (None, own) };
        // So do headers in folders of their own for files beside the shader.
        let main = self.main.clone();
        let folders: Vec<PathBuf> =
            first.into_iter().chain(self.options.include_paths.iter().cloned()).chain(last).chain(main).collect();
        let found = folders.iter().map(|f| f.join(&name)).find(|p| self.sources.has_file(p));
        let by_name = || self.options.headers.get(Path::new(&name).file_name()?.to_str()?).cloned();
        let found = found.or_else(by_name);
        let Some(path) = found else {
            if let Some((_, text)) = self.options.built_in.iter().find(|(header, _)| *header == name) {
                self.inclusions += 1;
                let shown = format!("<built-in {name}>");
                let file = self.sources.add(shown.clone(), None, *text);
                self.run(file, PathBuf::from(shown));
                return;
            }
            let mut d = Diagnostic::warning(format!("cannot find the included file `{name}`: it is left out"))
                .at(span, "included here");
            for (_, f) in folders.iter().enumerate().filter(|(i, f)| !folders[..*i].contains(f)) {
                d = d.hint(format!("looked in {}", f.display()));
            }
            d = d.hint("`-I FOLDER` adds a folder");
            self.report(d);
            return;
        };
        if let Err(message) = self.open(&path, span) {
            self.error(span, message, "included here");
        }
    }

    /// Reads and preprocesses an included file.
    fn open(&mut self, path: &Path, span: Span) -> Result<(), String> {
        self.inclusions += 1;
        if self.inclusions > MAX_INCLUSIONS {
            self.stopped = true;
            return Err(format!("files are included more than {MAX_INCLUSIONS} times"));
        }
        if let Some(held) = self.sources.held(path) {
            // It was read before, when it was seen to be permitted.
            self.run(held, path.to_path_buf());
            return Ok(());
        }
        let shown = path.display();
        let canonical = path.canonicalize().map_err(|e| format!("cannot open `{shown}`: {e}"))?;
        if !self.roots.iter().any(|r| canonical.starts_with(r)) {
            return Err(format!("`{shown}` lies outside the folders that this shader may read"));
        }
        if self.open_files.contains(&canonical) {
            return Err(format!("`{shown}` includes itself"));
        }
        if self.open_files.len() >= MAX_INCLUDES {
            return Err(format!("more than {MAX_INCLUDES} files include each other"));
        }
        let text = match self.options.unsaved.get(&canonical) {
            Some(text) => text.clone(),
            None => self.read(&canonical, path)?.into(),
        };
        // A file included again and again costs as much as a macro.
        if !self.spend(text.len() / 64 + 1, span) {
            return Ok(());
        }
        let id = self.sources.add(shown.to_string(), Some(path), text);
        self.out.includes.push(Include { place: span, file: id });
        self.run(id, canonical);
        Ok(())
    }

    fn run(&mut self, file: FileId, path: PathBuf) {
        self.open_files.push(path);
        self.file(file);
        self.open_files.pop();
    }

    /// The text of a file of acceptable size, noted under the path by which it was found.
    fn read(&mut self, file: &Path, path: &Path) -> Result<String, String> {
        let shown = path.display();
        let bytes = disk::read(file, MAX_FILE).map_err(|e| {
            self.sources.log().note_missing(path);
            match e.kind() {
                ErrorKind::FileTooLarge => format!("`{shown}` is larger than {} MiB", MAX_FILE >> 20),
                _ => format!("cannot read `{shown}`: {e}"),
            }
        })?;
        self.sources.log().note(path, &bytes);
        Ok(decode(&bytes))
    }
}

#[cfg(test)]
mod tests;
