//! Splits functions at their suspend points, so that a back end without a stack or threads of its
//! own can run them piece by piece.
//!
//! It takes a module and entry functions, and gives [`Sections`]: for each function that can
//! suspend, the section that starts it and one section after each suspend point. A section is a
//! function in SSA form: its parameters are the values live where it starts (its *frame*), followed
//! by what it waited for, and it returns the number of an [`Exit`] followed by the values that the
//! exit takes. Loops around a suspend point are split; a section that resumes inside a loop may
//! enter the rest of it at a second place ([`super::reducible`] gives it one entry).
//!
//! Values that are cheap to compute from constants are recomputed rather than kept in the frame,
//! and with [`Again::All`] all that can be. Array slots that a later section loads from are kept
//! element by element. Shaders with equal first sections can share them ([`share`]).

mod build;
mod cut;
mod dump;
mod share;

pub use share::share;

use super::{calls, dce, renumber, slots, speculate};
use crate::{Function, Loc, Module, Op, TargetInfo, Type};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Words of the result area: no function that suspends, and no entry, may return more.
pub const RESULT_WORDS: u32 = 16;

/// The values that a section computes again when it resumes, rather than to find them in its frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// Values that take a few operations on constants and on the memory image at known places.
    #[default]
    Constants,
    /// All that pure operations and calls of pure functions give. A section then starts with what
    /// its rays need and leaves the rest to the one after them, so that shaders that differ in
    /// their patterns alone start alike; the operations that both need are done twice.
    All,
}

impl Again {
    /// The choice for a program of so many shaders: from [`TargetInfo::sharing_shaders`] on, what
    /// they can share is worth computing twice.
    pub fn for_target(shaders: usize, target: &TargetInfo) -> Self {
        if shaders < target.sharing_shaders { Self::Constants } else { Self::All }
    }
}

/// A module cut into sections.
#[derive(Clone, Debug, PartialEq)]
pub struct Sections {
    /// The sections; a section's number is its index.
    pub sections: Vec<Section>,
    /// The section that starts each function that was cut, by name.
    pub entries: BTreeMap<Arc<str>, u32>,
    /// Where each shader whose first section is [`Section::shared`] continues after it, by name.
    pub resumes: BTreeMap<Arc<str>, Resumption>,
}

/// Where a shader continues after a section that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The section.
    pub section: u32,
    /// The instruction of this shader that suspends, for messages.
    pub loc: Loc,
}

/// A piece of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// A name for people: the function, and what the section waited for.
    pub name: String,
    /// The function that it is a piece of.
    pub function: Arc<str>,
    /// The code: parameters are the frame's values, then those of [`Section::resume`]. It returns a
    /// constant `u32`, the exit's index, and the exit's values.
    pub body: Function,
    /// Types of the values in the frame, word after word.
    pub frame: Vec<Type>,
    /// The event that it waited for.
    pub resume: Resume,
    /// How it may end.
    pub exits: Vec<Exit>,
    /// True if several shaders start with it. The sections that its exits name as resuming then
    /// stand for those of the current hit's shader ([`Sections::resumes`]).
    pub shared: bool,
}

/// The event that a section waits for, and so which parameters follow those of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Nothing: it starts the function, and the frame holds the parameters.
    Entry,
    /// The current hit; no parameter.
    Trace,
    /// A shadow ray; one `bool` parameter.
    Occluded,
    /// Up to this many shadow rays; one `u32` parameter.
    Visible(u32),
    /// A call; a parameter for each of these results.
    Call(Vec<Type>),
}

/// One way in which a section ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// The kind of exit.
    pub kind: ExitKind,
    /// The instruction that suspends, for messages.
    pub loc: Loc,
}

/// The event at the end of a section, and the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitKind {
    /// The function is done: its results.
    Return,
    /// Rays are shot: the values of the frame of `resume`, then the operands of the operation
    /// (`trace`, `occluded`, `visible`); for `visible` then as many elements of its slot as it may
    /// shoot rays.
    Wait {
        /// The rays that are shot.
        rays: Rays,
        /// The section that continues.
        resume: u32,
    },
    /// A function is called: the values of the frame of `resume`, then the arguments.
    Call {
        /// Who is called.
        callee: Callee,
        /// The section that continues.
        resume: u32,
    },
}

/// The rays that a waiting section shoots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rays {
    /// One ray that sets the current hit.
    Trace,
    /// One shadow ray.
    Occluded,
    /// Up to this many shadow rays.
    Visible(u32),
}

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function, by its first section.
    Section(u32),
    /// The shader of the current hit.
    Shader,
}

/// Why a module cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectionsError {
    /// An entry or a callee is not in the module.
    #[error("there is no function `{name}`")]
    NoFunction {
        /// The name of the missing function.
        name: Arc<str>,
    },
    /// The results do not fit the result area.
    #[error("`{name}` returns {words} words, more than {RESULT_WORDS}")]
    ManyResults {
        /// The function.
        name: Arc<str>,
        /// Words of its results.
        words: u32,
    },
}

impl Section {
    /// Words of the frame.
    pub fn frame_words(&self) -> u32 {
        self.frame.iter().map(|t| t.words()).sum()
    }

    /// Words by which the stack pointer must be lowered when the section starts: a call leaves it
    /// above the frame and the return address.
    pub fn pop_words(&self) -> u32 {
        if matches!(self.resume, Resume::Call(_)) { self.frame_words() + 1 } else { 0 }
    }
}

impl Sections {
    /// Words that one activation of the function needs, its return addresses included but not its
    /// callees' frames.
    pub fn activation_words(&self, function: &str) -> u32 {
        let own = self.sections.iter().filter(|s| &*s.function == function);
        own.map(|s| s.pop_words().max(s.frame_words())).max().unwrap_or(0)
    }

    /// The text form: sections with their frames and exits.
    pub fn dump(&self, module: &Module) -> String {
        dump::dump(self, module)
    }
}

/// Cuts the functions that `entries` reach. Entries are cut even if they never suspend; shaders
/// that `call_shader` may reach must be among them.
///
/// # Errors
/// A function is missing, or returns too much.
pub fn cut(module: &Module, entries: &[&str], again: Again, target: &TargetInfo) -> Result<Sections, SectionsError> {
    let calls = CallGraph::new(module, entries)?;
    let suspending = calls.suspending(module);
    let mut functions: Vec<usize> = calls.reachable.clone();
    functions.retain(|&f| suspending.contains(&f) || entries.contains(&&*module.functions[f].name));
    for &f in &functions {
        let func = &module.functions[f];
        let words: u32 = func.results.iter().map(|r| r.ty.words()).sum();
        if words > RESULT_WORDS {
            return Err(SectionsError::ManyResults { name: func.name.clone(), words });
        }
    }
    let names: HashSet<&str> = suspending.iter().map(|&f| &*module.functions[f].name).collect();
    let suspends = |op: &Op| op.suspends() || matches!(op, Op::Call(name) if names.contains(&**name));
    // Numbers are given before code is made, as exits name sections.
    let pure = match again {
        Again::Constants => None,
        Again::All => Some(calls::pure_names(module)),
    };
    let mut functions: Vec<Function> = functions.iter().map(|&f| module.functions[f].clone()).collect();
    if again == Again::All {
        functions.iter_mut().for_each(|func| _ = speculate::run(func, target.speculated_operations));
    }
    let cuts: Vec<cut::Cut> =
        functions.iter().map(|func| cut::Cut::new(func, &suspends, pure.as_ref(), target)).collect();
    let mut first = functions.len() as u32;
    let mut numbering = Vec::new();
    let mut entry_numbers = BTreeMap::new();
    for (i, cut) in cuts.iter().enumerate() {
        entry_numbers.insert(cut.func.name.clone(), i as u32);
        numbering.push(first);
        first += cut.points.len() as u32;
    }
    let mut sections: Vec<Section> =
        cuts.iter().zip(&numbering).map(|(cut, &first)| build::section(cut, None, &entry_numbers, first)).collect();
    for (cut, &first) in cuts.iter().zip(&numbering) {
        sections.extend((0..cut.points.len()).map(|p| build::section(cut, Some(p), &entry_numbers, first)));
    }
    if let Some(pure) = &pure {
        sections.iter_mut().for_each(|section| clean(&mut section.body, pure, target));
    }
    Ok(Sections { sections, entries: entry_numbers, resumes: BTreeMap::new() })
}

/// Removes from a section what only the section after it needs.
fn clean(body: &mut Function, pure: &HashSet<Arc<str>>, target: &TargetInfo) {
    slots::run(body, target);
    while calls::remove_unused(body, pure) + dce::run(body) > 0 {}
    renumber::renumber(body);
}

/// Who calls whom.
struct CallGraph {
    callees: HashMap<usize, Vec<usize>>,
    /// Functions that the entries reach, in the module's order.
    reachable: Vec<usize>,
}

impl CallGraph {
    fn new(module: &Module, entries: &[&str]) -> Result<Self, SectionsError> {
        let index = module.index();
        let find = |name: &str| index.get(name).copied().ok_or_else(|| SectionsError::NoFunction { name: name.into() });
        let mut work = entries.iter().map(|e| find(e)).collect::<Result<Vec<_>, _>>()?;
        let mut callees: HashMap<usize, Vec<usize>> = HashMap::new();
        while let Some(f) = work.pop() {
            if callees.contains_key(&f) {
                continue;
            }
            let insts = module.functions[f].blocks.iter().flat_map(|b| &b.insts);
            let names = insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(name) } else { None });
            let mut found = names.map(|n| find(n)).collect::<Result<Vec<_>, _>>()?;
            found.sort_unstable();
            found.dedup();
            work.extend(&found);
            callees.insert(f, found);
        }
        let mut reachable: Vec<usize> = callees.keys().copied().collect();
        reachable.sort_unstable();
        Ok(Self { callees, reachable })
    }

    /// Functions that hold a suspending operation, lie on a cycle of calls, or call such a
    /// function.
    fn suspending(&self, module: &Module) -> HashSet<usize> {
        let holds = |&f: &usize| module.functions[f].blocks.iter().flat_map(|b| &b.insts).any(|i| i.op.suspends());
        let mut found: HashSet<usize> =
            self.reachable.iter().copied().filter(|f| holds(f) || self.reaches(*f, *f)).collect();
        loop {
            let calls = |f: &usize| self.callees[f].iter().any(|c| found.contains(c));
            let more: Vec<usize> = self.reachable.iter().copied().filter(|f| !found.contains(f) && calls(f)).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut work) = (HashSet::new(), self.callees[&from].clone());
        while let Some(f) = work.pop() {
            if f == to {
                return true;
            }
            if seen.insert(f) {
                work.extend(&self.callees[&f]);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
