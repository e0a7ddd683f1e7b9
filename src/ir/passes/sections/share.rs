//! Shaders that start alike start with one section.
//!
//! It takes a cut module and gives fewer sections. What a shader does before it waits for the first
//! time is often the same in many: to find the position and the normal, and to send shadow rays to
//! the lights. The section that does it then continues at the one of the shader that was hit, which
//! [`Sections::resumes`] lists.

use super::super::renumber;
use super::{Callee, Exit, ExitKind, Resume, Resumption, Section, Sections};
use crate::{Function, Inst, Loc, Terminator, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Shaders whose first sections do the same.
struct Alike {
    /// The section that they have in common, as [`comparable`] gives it.
    section: Section,
    /// Their names and first sections.
    members: Vec<(Arc<str>, u32)>,
}

/// Makes one of the first sections of `shaders` that do the same, and gives the sections that are
/// left new numbers. Functions in `others` keep their own: something else than a hit may start
/// them.
pub fn share(sections: &mut Sections, shaders: &[&str], others: &[&str]) {
    let mut replaced = equal_ends(sections);
    let called: HashSet<u32> = sections.sections.iter().flat_map(|s| &s.exits).filter_map(callee_of).collect();
    let mut alike: Vec<Alike> = Vec::new();
    let names: BTreeMap<&str, u32> = shaders.iter().filter_map(|&s| Some((s, *sections.entries.get(s)?))).collect();
    for (name, number) in names {
        if called.contains(&number) || others.contains(&name) {
            continue;
        }
        let section = &sections.sections[number as usize];
        let [Exit { kind: ExitKind::Wait { .. }, .. }] = section.exits[..] else { continue };
        let Some(section) = comparable(section) else { continue };
        match alike.iter_mut().find(|known| known.section == section) {
            Some(known) => known.members.push((name.into(), number)),
            None => alike.push(Alike { section, members: vec![(name.into(), number)] }),
        }
    }
    for Alike { mut section, members } in alike {
        let (Some(&(_, first)), true) = (members.first(), members.len() > 1) else { continue };
        for (name, number) in members {
            let own = &sections.sections[number as usize];
            let waits = own.exits.iter().find_map(|exit| Some(Resumption { section: resume_of(exit)?, loc: exit.loc }));
            sections.resumes.extend(waits.map(|resumption| (name, resumption)));
            if number != first {
                replaced.insert(number, first);
            }
        }
        let own = &mut sections.sections[first as usize];
        // What was made comparable is what runs, but for the names of the exits.
        section.name = format!("{} and others", own.name);
        section.function = own.function.clone();
        section.exits = std::mem::take(&mut own.exits);
        section.shared = true;
        *own = section;
    }
    remove(sections, &replaced);
}

/// Of the sections that end their functions and do the same, each with the first of them.
fn equal_ends(sections: &Sections) -> HashMap<u32, u32> {
    let mut ends: Vec<(u32, Section)> = Vec::new();
    let mut replaced = HashMap::new();
    for (number, section) in (0..).zip(&sections.sections) {
        if section.resume == Resume::Entry || section.exits.iter().any(|exit| exit.kind != ExitKind::Return) {
            continue;
        }
        let Some(section) = comparable(section) else { continue };
        match ends.iter().find(|(_, first)| *first == section) {
            Some(&(first, _)) => {
                replaced.insert(number, first);
            }
            None => ends.push((number, section)),
        }
    }
    replaced
}

/// The section that an exit calls.
fn callee_of(exit: &Exit) -> Option<u32> {
    match exit.kind {
        ExitKind::Call { callee: Callee::Section(n), .. } => Some(n),
        _ => None,
    }
}

/// The section that resumes after an exit.
fn resume_of(exit: &Exit) -> Option<u32> {
    match exit.kind {
        ExitKind::Return => None,
        ExitKind::Wait { resume, .. } | ExitKind::Call { resume, .. } => Some(resume),
    }
}

/// The section without what may differ between those that are shared: names, places in the source,
/// and the section that resumes. `None` where it has a loop, which may spend the budget at a place
/// that only one shader has.
fn comparable(section: &Section) -> Option<Section> {
    let body = match &section.body.blocks[..] {
        [_] => in_order_of_need(&section.body).unwrap_or_else(|| section.body.clone()),
        _ => section.body.clone(),
    };
    let components = body.components();
    if body.block_ids().any(|b| components.is_cyclic(b.0 as usize)) {
        return None;
    }
    let kind = |kind: &ExitKind| match *kind {
        ExitKind::Return => ExitKind::Return,
        ExitKind::Wait { rays, .. } => ExitKind::Wait { rays, resume: 0 },
        ExitKind::Call { callee, .. } => ExitKind::Call { callee, resume: 0 },
    };
    let exits = section.exits.iter().map(|exit| Exit { kind: kind(&exit.kind), loc: Loc::NONE }).collect();
    let (name, function) = (String::new(), "".into());
    Some(Section { name, function, body: without_names(body), exits, ..section.clone() })
}

/// A function without names and places in the source.
fn without_names(mut func: Function) -> Function {
    func.name = "".into();
    func.loc = Loc::NONE;
    func.params.iter_mut().for_each(|p| p.name = "".into());
    func.slots.iter_mut().for_each(|s| s.name = "".into());
    for block in &mut func.blocks {
        block.insts.iter_mut().for_each(|inst| inst.loc = Loc::NONE);
        block.term_loc = Loc::NONE;
    }
    renumber::renumber(&mut func);
    func
}

/// A function of one block with its instructions in the order in which its results need them,
/// whatever order they had. `None` where the order matters.
fn in_order_of_need(func: &Function) -> Option<Function> {
    let block = &func.blocks[0];
    let Terminator::Return(results) = &block.term else { return None };
    let movable = |inst: &Inst| inst.op.is_removable() && !inst.op.suspends();
    let mut origin: HashMap<Value, &Inst> = HashMap::new();
    for inst in &block.insts {
        let ([result], true) = (&inst.results[..], movable(inst)) else { return None };
        origin.insert(*result, inst);
    }
    let mut ordered: Vec<Inst> = Vec::new();
    let mut done: HashSet<Value> = HashSet::new();
    let mut work: Vec<Value> = results.iter().rev().copied().collect();
    while let Some(&next) = work.last() {
        let before = work.len();
        if let Some(inst) = origin.get(&next).filter(|_| !done.contains(&next)) {
            work.extend(inst.args.iter().rev().filter(|a| !done.contains(a) && origin.contains_key(a)));
            if work.len() > before {
                continue;
            }
            done.insert(next);
            ordered.push((*inst).clone());
        }
        work.pop();
    }
    let mut func = func.clone();
    func.blocks[0].insts = ordered;
    Some(func)
}

/// Removes the sections that others replace, and renumbers the others.
fn remove(sections: &mut Sections, replaced: &HashMap<u32, u32>) {
    let mut new: Vec<u32> = Vec::new();
    let mut left = 0;
    for number in 0..sections.sections.len() as u32 {
        new.push(left);
        left += u32::from(!replaced.contains_key(&number));
    }
    let number = |n: &mut u32| *n = new[*replaced.get(n).unwrap_or(n) as usize];
    let mut old = 0;
    sections.sections.retain(|_| {
        old += 1;
        !replaced.contains_key(&(old - 1))
    });
    for exit in sections.sections.iter_mut().flat_map(|s| &mut s.exits) {
        match &mut exit.kind {
            ExitKind::Return => {}
            ExitKind::Wait { resume, .. } | ExitKind::Call { callee: Callee::Shader, resume } => number(resume),
            ExitKind::Call { callee: Callee::Section(callee), resume } => {
                number(callee);
                number(resume);
            }
        }
    }
    sections.entries.values_mut().for_each(number);
    sections.resumes.values_mut().for_each(|resumption| number(&mut resumption.section));
}
