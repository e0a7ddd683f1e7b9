//! Co-shaders (RSL 2.0): shaders that others call by a handle. Scenes have none, so a handle is always null, and what asks for one is answered here.

use super::*;

/// What a call about co-shaders gives where there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// `null`
    Null,
    /// An empty array.
    Nobody,
    /// 0
    No,
}

/// The calls that ask for co-shaders, or something of one.
const CALLS: [(&str, Answer); 6] = [
    ("getshader", Answer::Null),
    ("getshaders", Answer::Nobody),
    ("getlights", Answer::Nobody),
    ("getvar", Answer::No),
    ("hasmethod", Answer::No),
    ("iscoshader", Answer::No),
];

/// The word for a handle of no shader.
const NULL: &str = "null";

/// Whether an expression is about co-shaders, unless the file gives its name another meaning.
pub(super) fn is_about_coshaders(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Name(name) => **name == *NULL,
        ExprKind::Call(f, _) => CALLS.iter().any(|c| *c.0 == *f.name),
        _ => false,
    }
}

impl Flattening<'_> {
    /// What an expression about co-shaders gives; `None` when it is not about them.
    pub(super) fn without_coshaders(&mut self, kind: &ExprKind, span: Span) -> Option<ExprKind> {
        let answer = match kind {
            ExprKind::Name(name) if **name == *NULL && self.lookup(name).is_none() => Answer::Null,
            ExprKind::Call(f, _) if !self.defined.contains(&f.name) => {
                let (name, answer) = CALLS.iter().find(|c| *c.0 == *f.name)?;
                if *answer != Answer::No {
                    let given = if *answer == Answer::Null { "null" } else { "an empty array" };
                    let d = Diagnostic::warning(format!("scenes have no co-shaders: `{name}` gives {given}"));
                    self.diags.push(d.at(span, "asks for co-shaders"));
                }
                *answer
            }
            _ => return None,
        };
        Some(match answer {
            Answer::Null => ExprKind::String("".into()),
            Answer::Nobody => ExprKind::Array(Vec::new()),
            Answer::No => ExprKind::Number(0.0),
        })
    }
}
