//! Checks of passes as text in, text out.

use crate::{Function, Module, parse, verify};
use shadewright_base::text::source::FileId;

/// Parses and verifies.
pub(crate) fn module(text: &str) -> Module {
    let module = parse(text, FileId(0)).unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    if let Err(errors) = verify(&module) {
        panic!("{errors:?}\n{text}");
    }
    module
}

/// Asserts that a pass turns the functions of one text into those of another.
#[track_caller]
pub(crate) fn check(pass: fn(&mut Function) -> usize, before: &str, after: &str) {
    check_module(|m| m.functions.iter_mut().map(pass).sum(), before, after);
}

/// Asserts that a pass over modules turns one text into another, and reports that it changed
/// something exactly when it did.
#[track_caller]
pub(crate) fn check_module(pass: impl Fn(&mut Module) -> usize, before: &str, after: &str) {
    let original = module(before);
    let mut module = original.clone();
    let changes = pass(&mut module);
    assert_eq!(module.to_string().trim(), after.trim());
    assert_eq!(changes > 0, module != original, "{changes} changes");
    if let Err(errors) = verify(&module) {
        panic!("{errors:?}\n{module}");
    }
}
