//! Macro expansion as in C: arguments first, then the body, in which the macro itself is not
//! expanded again.

use super::{Frame, MAX_ARGUMENT_DEPTH, Macro, Preprocessor};
use shadewright_base::scan::{RawKind, RawToken};
use std::collections::HashSet;
use std::sync::Arc;

impl Preprocessor<'_> {
    /// Expands macros in `tokens`. `off` names the macros being expanded around; `depth` counts
    /// arguments within arguments.
    pub(super) fn expand(&mut self, tokens: Arc<[RawToken]>, off: &HashSet<Arc<str>>, depth: usize) -> Vec<RawToken> {
        let mut out = Vec::new();
        let mut frames = vec![Frame { tokens, next: 0, macro_name: None }];
        let mut active = off.clone();
        while let Some(mut token) = next(&mut frames, &mut active) {
            if self.stopped {
                break;
            }
            let found = match token.kind {
                RawKind::Word if !token.painted => self.macros.get(&token.text).cloned(),
                _ => None,
            };
            let Some(found) = found else {
                out.push(token);
                continue;
            };
            if active.contains(&token.text) {
                token.painted = true;
                out.push(token);
                continue;
            }
            let body = match &found.params {
                None => found.body.iter().map(|t| RawToken { span: token.span, ..t.clone() }).collect(),
                Some(params) => {
                    if !peek_is_open(&frames) {
                        out.push(token);
                        continue;
                    }
                    match self.arguments(&mut frames, &mut active, &token, params.len(), found.variadic) {
                        Some(args) => self.substitute(&token, &found, params, &args, &active, depth),
                        None => continue,
                    }
                }
            };
            if !self.spend(body.len(), token.span) {
                break;
            }
            // Macros in the body of a macro have its place: the first one is the one that stands
            // there.
            self.out.macro_uses.entry(token.span).or_insert(found.definition);
            active.insert(token.text.clone());
            frames.push(Frame { tokens: body.into(), next: 0, macro_name: Some(token.text.clone()) });
        }
        out
    }

    /// Reads the arguments of a macro call, not expanded.
    fn arguments(
        &mut self,
        frames: &mut Vec<Frame>,
        active: &mut HashSet<Arc<str>>,
        name: &RawToken,
        wanted: usize,
        variadic: bool,
    ) -> Option<Vec<Vec<RawToken>>> {
        next(frames, active);
        let mut args = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let Some(t) = next(frames, active) else {
                let message = format!("unterminated arguments of macro `{}`", name.text);
                self.error(name.span, message, "`)` is missing");
                return None;
            };
            if t.is_punct(")") && depth == 0 {
                break;
            }
            if t.is_punct(",") && depth == 0 && !(variadic && args.len() == wanted) {
                args.push(Vec::new());
                continue;
            }
            depth += t.is_punct("(") as usize;
            depth -= t.is_punct(")") as usize;
            if let Some(last) = args.last_mut() {
                last.push(t);
            }
        }
        if wanted == 0 && args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        if variadic && args.len() + 1 == wanted {
            args.push(Vec::new());
        }
        if args.len() != wanted {
            let message = format!("macro `{}` takes {wanted} arguments, found {}", name.text, args.len());
            self.error(name.span, message, "used here");
            return None;
        }
        Some(args)
    }

    /// The body of a macro with its arguments put in; `#` and `##` take them as written, other
    /// places take them expanded.
    fn substitute(
        &mut self,
        name: &RawToken,
        found: &Macro,
        params: &[Arc<str>],
        args: &[Vec<RawToken>],
        active: &HashSet<Arc<str>>,
        depth: usize,
    ) -> Vec<RawToken> {
        if depth >= MAX_ARGUMENT_DEPTH {
            self.error(name.span, "macro calls nest too deeply in arguments", format!("beyond {MAX_ARGUMENT_DEPTH}"));
            self.stopped = true;
            return Vec::new();
        }
        let mut expanded: Vec<Option<Vec<RawToken>>> = vec![None; args.len()];
        let index = |t: &RawToken| params.iter().position(|p| t.kind == RawKind::Word && *p == t.text);
        let mut body: Vec<RawToken> = Vec::new();
        let mut paste = false;
        let mut at = 0;
        while let Some(t) = found.body.get(at) {
            at += 1;
            if t.is_punct("##") && !body.is_empty() {
                paste = true;
                continue;
            }
            let mut piece = match index(t) {
                _ if t.is_punct("#") && found.body.get(at).and_then(index).is_some() => {
                    let arg = found.body.get(at).and_then(index).map_or(&[][..], |i| &args[i]);
                    at += 1;
                    let words: Vec<&str> = arg.iter().map(|t| &*t.text).collect();
                    if !self.spend_token(words.iter().map(|w| w.len() + 1).sum(), name.span) {
                        return body;
                    }
                    let text = words.join(" ").into();
                    vec![RawToken { kind: RawKind::String, text, span: name.span, spaced: true, painted: false }]
                }
                Some(i) if paste || found.body.get(at).is_some_and(|t| t.is_punct("##")) => args[i].clone(),
                Some(i) => {
                    if expanded[i].is_none() {
                        expanded[i] = Some(self.expand(args[i].as_slice().into(), active, depth + 1));
                    }
                    expanded[i].clone().unwrap_or_default()
                }
                None => vec![RawToken { span: name.span, ..t.clone() }],
            };
            if !self.spend(piece.len(), name.span) {
                return body;
            }
            // `, ## __VA_ARGS__` joins nothing: the comma goes where there are no more arguments.
            let is_rest = found.variadic && index(t) == Some(params.len() - 1);
            if paste && is_rest && body.last().is_some_and(|last| last.is_punct(",")) {
                paste = false;
                if piece.is_empty() {
                    body.pop();
                }
            }
            if std::mem::take(&mut paste) && !piece.is_empty() {
                let second = piece.remove(0);
                let length = body.last().map_or(0, |first| first.text.len()) + second.text.len();
                if !self.spend_token(length, name.span) {
                    return body;
                }
                if let Some(first) = body.last_mut() {
                    let text = format!("{}{}", first.text, second.text);
                    first.text = text.into();
                }
            }
            body.append(&mut piece);
        }
        body
    }
}

/// The next token of the innermost frame that has one; a macro whose frame ends may be expanded
/// again.
fn next(frames: &mut Vec<Frame>, active: &mut HashSet<Arc<str>>) -> Option<RawToken> {
    while let Some(frame) = frames.last_mut() {
        if let Some(t) = frame.tokens.get(frame.next) {
            frame.next += 1;
            return Some(t.clone());
        }
        if let Some(name) = &frame.macro_name {
            active.remove(name);
        }
        frames.pop();
    }
    None
}

/// True if the next token is `(`.
fn peek_is_open(frames: &[Frame]) -> bool {
    let next = frames.iter().rev().find_map(|f| f.tokens.get(f.next));
    next.is_some_and(|t| t.is_punct("("))
}
