//! The text that shows how a program was cut.

use super::{Callee, ExitKind, Resume, Sections};
use crate::ir::{Module, print};
use std::fmt::Write;

/// Each section with what it waits for, its frame, its exits and its code.
pub(super) fn dump(sections: &Sections, module: &Module) -> String {
    let mut out = String::new();
    for (number, section) in sections.sections.iter().enumerate() {
        let waits = match &section.resume {
            Resume::Entry => "starts the function".to_string(),
            Resume::Trace => "waits for a ray".to_string(),
            Resume::Occluded => "waits for a shadow ray".to_string(),
            Resume::Visible(n) => format!("waits for up to {n} shadow rays"),
            Resume::Call(results) => format!("waits for a call with {} results", results.len()),
        };
        // Writing to a string cannot fail.
        let shared = if section.shared { ", in several shaders" } else { "" };
        let _ = writeln!(out, "section {number} \"{}\": {waits}{shared}", section.name);
        let frame: Vec<String> =
            section.body.params.iter().zip(&section.frame).map(|(p, t)| format!("{}: {t}", p.name)).collect();
        let _ = writeln!(out, "  live ({} words): {}", section.frame_words(), frame.join(", "));
        for (i, exit) in section.exits.iter().enumerate() {
            let what = match &exit.kind {
                ExitKind::Return => "return".to_string(),
                ExitKind::Wait { rays, resume } => format!("shoot {rays:?}, resume {resume}"),
                ExitKind::Call { callee: Callee::Section(n), resume } => format!("call section {n}, resume {resume}"),
                ExitKind::Call { callee: Callee::Shader, resume } => format!("call the shader, resume {resume}"),
            };
            let _ = writeln!(out, "  exit {i}: {what}");
        }
        let code = print::print_function(&section.body, &module.locs, print::PrintOptions::default());
        for line in code.lines() {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
    out
}
