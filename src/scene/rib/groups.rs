//! What options and attributes have in common: a group's name, and parameters that belong to it.
//!
//! Groups that other renderers know and that cannot change a picture here are passed over in silence ([`Group`]); what nobody knows is warned about.

use super::args::Args;
use super::params::{Param, read_params};
use super::reader::Reader;
use crate::lang::diag::Diagnostic;

/// A group of options or attributes, and which of its parameters are passed over.
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// Names of parameters, with blanks between them; `*` for all.
    pub passed_over: &'static str,
}

impl Group {
    fn passes_over(&self, parameter: &str) -> bool {
        self.passed_over.split(' ').any(|name| name == "*" || name == parameter)
    }
}

/// The parameters of an option or attribute as `f` takes them by name. A name that neither `f` nor the list of what is passed over knows is warned about.
///
/// # Errors
///
/// Those of the parameter list, and those of `f`.
pub fn for_each_param(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    known: &[Group],
    group: &str,
    mut f: impl FnMut(&mut Reader<'_>, &Param) -> Result<bool, Diagnostic>,
) -> Result<(), Diagnostic> {
    let known = known.iter().find(|g| g.name == group);
    for p in read_params(args, &r.declarations)? {
        if !f(r, &p)? && !known.is_some_and(|g| g.passes_over(&p.name)) {
            r.warn_once(
                &format!("{} {group} {}", args.request, p.name),
                Diagnostic::warning(format!("{} \"{group}\" \"{}\" is not supported", args.request, p.name))
                    .at(p.name_span, "skipped"),
            );
        }
    }
    Ok(())
}

/// A group none of whose parameters does anything here: passed over in silence where it is known, else warned about. Its parameters need no declarations.
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
