//! The form that options and attributes share: a group's name, and parameters that belong to it.
//!
//! Known groups of other renderers that cannot change an image here are ignored silently
//! ([`Group`]); unknown ones give a warning.

use super::args::Args;
use super::params::{Param, ParamList, Undeclared, read_param_list};
use super::reader::Reader;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;

/// A group of options or attributes, and which of its parameters are passed over.
pub struct Group {
    /// The name of the group.
    pub name: &'static str,
    /// Names of parameters, with blanks between them; `*` for all.
    pub passed_over: &'static str,
}

impl Group {
    fn passes_over(&self, parameter: &str) -> bool {
        self.passed_over.split(' ').any(|name| name == "*" || name == parameter)
    }
}

/// The parameters of an option or attribute as `f` takes them by name. A name that neither `f` nor
/// the list of what is passed over knows is warned about.
///
/// # Errors
///
/// The errors of the parameter list. Those of `f` are reported, and cost their parameter alone.
pub fn for_each_param(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    known: &[Group],
    group: &str,
    mut f: impl FnMut(&mut Reader<'_>, &Param) -> Result<bool, Diagnostic>,
) -> Result<(), Diagnostic> {
    let known = known.iter().find(|g| g.name == group);
    let ParamList { declared, undeclared } = read_param_list(r, args)?;
    for p in declared.into_iter().chain(undeclared.into_iter().map(Undeclared::into_param)) {
        let taken = f(r, &p).unwrap_or_else(|d| {
            r.error(d);
            true
        });
        if !taken && !known.is_some_and(|g| g.passes_over(&p.name)) {
            not_supported(r, args, group, &p.name, p.name_span);
        }
    }
    Ok(())
}

/// A parameter as it is written, whatever its declaration.
pub struct Word {
    /// The name of the parameter, without the declaration before it.
    pub name: String,
    values: Vec<String>,
    /// Where the values stand.
    pub span: Span,
}

impl Word {
    /// Returns the only value.
    ///
    /// # Errors
    ///
    /// When there are none, or more.
    pub fn one(&self) -> Result<&str, Diagnostic> {
        match self.values.as_slice() {
            [value] => Ok(value),
            values => Err(Diagnostic::error(format!("`{}` needs one value, not {}", self.name, values.len()))
                .at(self.span, "expected one value")),
        }
    }

    /// The error for a value that the parameter cannot have.
    pub fn wrong(&self, expected: &str) -> Diagnostic {
        Diagnostic::error(format!("`{}` cannot be {}", self.name, self.values.join(" ")))
            .at(self.span, format!("expected {expected}"))
    }
}

/// [`for_each_param`] for parameters that need no declaration, as renderers know them: numbers and
/// words.
///
/// # Errors
///
/// The errors of the parameter list. Those of `f` are reported, and cost their parameter alone.
pub fn for_each_word(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    known: &[Group],
    group: &str,
    mut f: impl FnMut(&mut Reader<'_>, &Word) -> Result<bool, Diagnostic>,
) -> Result<(), Diagnostic> {
    let known = known.iter().find(|g| g.name == group);
    while let Some((token, at)) = args.parameter_name()? {
        let name = token.split_whitespace().next_back().unwrap_or_default().to_string();
        let (values, span) = args.word_values()?;
        let word = Word { name, values, span };
        let taken = f(r, &word).unwrap_or_else(|d| {
            r.error(d);
            true
        });
        if !taken && !known.is_some_and(|g| g.passes_over(&word.name)) {
            not_supported(r, args, group, &word.name, at);
        }
    }
    Ok(())
}

fn not_supported(r: &mut Reader<'_>, args: &Args<'_, '_>, group: &str, name: &str, at: Span) {
    r.warn_once(
        &format!("{} {group} {name}", args.request),
        Diagnostic::warning(format!("{} \"{group}\" \"{name}\" is not supported", args.request)).at(at, "skipped"),
    );
}

/// A group none of whose parameters does anything here: passed over in silence where it is known,
/// else warned about. Its parameters need no declarations.
///
/// # Errors
///
/// When the arguments are no parameter list.
pub fn other_group(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    known: &[Group],
    group: &str,
) -> Result<(), Diagnostic> {
    if !known.iter().any(|g| g.name == group) {
        r.warn_once(
            &format!("{} {group}", args.request),
            Diagnostic::warning(format!("{} \"{group}\" is not supported", args.request))
                .at(args.whole_span(), "skipped"),
        );
    }
    args.skip()
}

/// A parameter that must be one number.
///
/// # Errors
///
/// When it is not.
pub fn one_float(p: &Param) -> Result<f32, Diagnostic> {
    p.expect(1, "one value")?;
    p.float()
        .ok_or_else(|| Diagnostic::error(format!("`{}` must be a number", p.name)).at(p.value_span, "not a number"))
}

/// A parameter that must be one string.
///
/// # Errors
///
/// When it is not.
pub fn one_string(p: &Param) -> Result<&str, Diagnostic> {
    p.expect(1, "one value")?;
    let wrong = || Diagnostic::error(format!("`{}` must be a string", p.name)).at(p.value_span, "not a string");
    p.strings().first().map(String::as_str).ok_or_else(wrong)
}
