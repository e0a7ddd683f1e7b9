//! The text that shows how a program was cut.

use super::{Callee, ExitKind, Resume, Section, Sections};
use crate::{Module, Op, print};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

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
        let names = if section.resume == Resume::Entry { HashMap::new() } else { variables(section, module) };
        let frame = section.body.params.iter().zip(&section.frame).map(|(p, t)| match names.get(&*p.name) {
            Some(names) => format!("{} ({}): {t}", names.join(", "), p.name),
            None => format!("{}: {t}", p.name),
        });
        let frame: Vec<String> = frame.collect();
        let _ = writeln!(out, "  live ({} words): {}", section.frame_words(), frame.join(", "));
        for (i, exit) in section.exits.iter().enumerate() {
            let what = match &exit.kind {
                ExitKind::Return => "return".to_string(),
                ExitKind::Wait { rays, resume } => format!("shoot {rays:?}, resume {resume}"),
                ExitKind::Call { callee: Callee::Section(n), resume } => {
                    let callee = &sections.sections[*n as usize].function;
                    format!("call section {n} of {callee}, resume {resume}")
                }
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

/// The variables of the source, by the names of the frame's values that they are, as far as the
/// function notes them.
fn variables(section: &Section, module: &Module) -> HashMap<String, Vec<Arc<str>>> {
    let mut names: HashMap<String, Vec<Arc<str>>> = HashMap::new();
    let func = module.function(&section.function);
    for inst in func.into_iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
        if let (Op::Debug(name), [value]) = (&inst.op, &inst.args[..]) {
            let known = names.entry(format!("v{}", value.0)).or_default();
            if !known.contains(name) {
                known.push(name.clone());
            }
        }
    }
    names
}
