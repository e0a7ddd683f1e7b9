//! A recording of a sample, step by step, with random access to every step.
//!
//! A step is a statement about to run in one activation of a function. A recording holds the order
//! of steps and every change of a variable; [`Recording::at`] assembles what a debugger shows. It
//! is plain data of bounded size: see [`MAX_STEPS`].

use super::value::Value;
use shadewright_base::text::source::{FileId, SourceFile, SourceMap};
use shadewright_lang::outline::{Outline, Statement, StatementKind, holds};
use shadewright_lang::types::SourceType;
use std::sync::Arc;

/// Maximum number of recorded steps, and of variable changes: the first ones. A step takes 20
/// bytes, a change about 60.
pub const MAX_STEPS: usize = 200_000;

/// A run of one sample.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The files that spans refer to.
    pub sources: SourceMap,
    /// The functions and shaders of the program.
    pub outlines: Arc<[Outline]>,
    /// Calls of functions, in the order in which they began.
    pub activations: Vec<Activation>,
    /// Statements, in the order in which they ran.
    pub steps: Vec<Step>,
    /// Variables that some change names.
    pub variables: Vec<Variable>,
    /// Changes of variables, in order.
    pub changes: Vec<Change>,
    /// For each ray, in order, the step that traced it.
    pub ray_steps: Vec<u32>,
    /// True if the recording was truncated.
    pub truncated: bool,
}

/// One call of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Activation {
    /// The function: an index into [`Recording::outlines`].
    pub outline: u32,
    /// The activation that called it, if any; including calls through the renderer (a shader at a
    /// hit).
    pub caller: Option<u32>,
    /// The caller's step that made the call.
    pub called_at: Option<u32>,
    /// Number of callers.
    pub depth: u32,
    /// The ray whose hit is being shaded: an index into the probe's rays.
    pub ray: Option<u32>,
    /// The variables of the call, in the order in which they got their first values.
    pub tracks: Vec<Track>,
}

/// The values that a variable got in one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Index into [`Recording::variables`].
    pub variable: u32,
    /// Indices into [`Recording::changes`], ascending.
    pub changes: Vec<u32>,
}

/// A statement about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// In which call.
    pub activation: u32,
    /// Index into the statements of the function's outline.
    pub statement: u32,
    /// The step before of the same call.
    pub before: Option<u32>,
    /// For a condition or a light loop: whether it entered its body.
    pub taken: Option<bool>,
}

/// A variable of one function.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name in the source; `return` for a function's value.
    pub name: Arc<str>,
    /// The type in the source.
    pub ty: SourceType,
    /// Where the text declares it: an index into the outline's variables; `None` for predefined
    /// variables.
    pub declared: Option<u32>,
}

/// A variable gets a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Number of steps that had begun.
    pub after: u32,
    /// The step of the variable's call that made the change; none for initial values.
    pub step: Option<u32>,
    /// The value.
    pub value: Value,
}

/// The state of a sample at a step, as a debugger shows it.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The step.
    pub step: usize,
    /// The function that runs.
    pub outline: &'a Outline,
    /// The statement about to run.
    pub statement: Statement,
    /// For a conditional statement, whether it enters its body.
    pub taken: Option<bool>,
    /// The ray whose hit is being shaded.
    pub ray: Option<u32>,
    /// The call stack, the innermost call first.
    pub stack: Vec<Call<'a>>,
    /// The variables in scope that have a value.
    pub variables: Vec<Shown<'a>>,
}

/// A call on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function.
    pub outline: &'a Outline,
    /// The current step of the call.
    pub step: usize,
    /// The line of that step, from 1.
    pub line: u32,
}

/// A variable as a debugger shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown<'a> {
    /// The variable: an index into [`Recording::variables`].
    pub variable: u32,
    /// The variable's name.
    pub name: &'a str,
    /// The variable's type.
    pub ty: SourceType,
    /// The variable's value at the step.
    pub value: &'a Value,
    /// True if it changed since the previous step of the same call.
    pub changed: bool,
}

impl Recording {
    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// True if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The call that a step belongs to.
    pub fn activation(&self, step: usize) -> Option<&Activation> {
        self.activations.get(self.steps.get(step)?.activation as usize)
    }

    /// The function that a step belongs to.
    pub fn outline(&self, step: usize) -> Option<&Outline> {
        self.outlines.get(self.activation(step)?.outline as usize)
    }

    /// The statement of a step.
    pub fn statement(&self, step: usize) -> Option<Statement> {
        self.outline(step)?.statements.get(self.steps[step].statement as usize).copied()
    }

    /// The file of a step and the line at which its statement starts, from 1.
    pub fn place(&self, step: usize) -> Option<(&SourceFile, u32)> {
        let span = self.statement(step)?.span;
        let file = self.sources.get(span.file)?;
        Some((file, file.position(span.start).line))
    }

    /// The lines, each with its file, at which the statements that ran start.
    pub fn lines(&self) -> impl Iterator<Item = (FileId, u32)> {
        let mut ran: Vec<Vec<bool>> = self.outlines.iter().map(|o| vec![false; o.statements.len()]).collect();
        for step in &self.steps {
            ran[self.activations[step.activation as usize].outline as usize][step.statement as usize] = true;
        }
        let outlines = self.outlines.iter().zip(ran);
        let statements = outlines.flat_map(|(o, ran)| o.statements.iter().zip(ran).filter(|(_, ran)| *ran));
        statements.filter_map(|(s, _)| Some((s.span.file, self.sources.position(s.span)?.line)))
    }

    /// The debugger's view before a step's statement runs; `None` after the last step.
    pub fn at(&self, step: usize) -> Option<Moment<'_>> {
        let statement = self.statement(step)?;
        let activation = self.activation(step)?;
        let mut stack = Vec::new();
        let mut next = Some(step);
        while let Some(at) = next {
            let (_, line) = self.place(at)?;
            stack.push(Call { outline: self.outline(at)?, step: at, line });
            next = self.activation(at)?.called_at.map(|s| s as usize);
        }
        Some(Moment {
            step,
            outline: self.outline(step)?,
            statement,
            taken: self.steps[step].taken,
            ray: activation.ray,
            stack,
            variables: self.variables_at(step, statement, activation),
        })
    }

    fn variables_at(&self, step: usize, statement: Statement, activation: &Activation) -> Vec<Shown<'_>> {
        let before = self.steps[step].before;
        let outline = &self.outlines[activation.outline as usize];
        let values = activation.tracks.iter().filter_map(|track| {
            let change = self.change_at(track, step)?;
            let variable = &self.variables[track.variable as usize];
            let changed = before.is_some_and(|b| change.after > b);
            Some(Shown {
                variable: track.variable,
                name: &variable.name,
                ty: variable.ty,
                value: &change.value,
                changed,
            })
        });
        let mut list: Vec<Shown<'_>> = values.collect();
        let at = statement.span;
        list.retain(|shown| match self.variables[shown.variable as usize].declared {
            None => outline.variable_at(shown.name, at).is_none(),
            Some(d) => {
                let declared = &outline.variables[d as usize];
                let is_param = (d as usize) < outline.params;
                let is_declared = is_param || declared.place.start < at.start;
                is_declared && holds(declared.scope, at) && outline.variable_at(shown.name, at) == Some(d as usize)
            }
        });
        list
    }

    /// The change that gave a variable the value that it has before a step.
    pub(super) fn change_at(&self, track: &Track, step: usize) -> Option<&Change> {
        let count = track.changes.partition_point(|&c| self.changes[c as usize].after as usize <= step);
        track.changes.get(count.checked_sub(1)?).map(|&c| &self.changes[c as usize])
    }

    /// True if a step is in the standard library.
    pub fn is_library(&self, step: usize) -> bool {
        self.outline(step).is_some_and(|o| o.library)
    }

    /// True if a step is the end of its function.
    pub fn is_end(&self, step: usize) -> bool {
        self.statement(step).is_some_and(|s| s.kind == StatementKind::End)
    }
}
