//! Who looks on while the evaluator runs.

use super::Hit;
use crate::{Const, Inst, Loc};
use std::sync::Arc;

/// A ray that a program shoots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where `t` is 0.
    pub origin: [f32; 3],
    /// The direction, of any length.
    pub direction: [f32; 3],
    /// The open interval of `t` that it looks at.
    pub interval: [f32; 2],
}

impl Ray {
    /// The ray of `trace` or `occluded` with argument `(t_min, t_max, any, time)`.
    pub fn new(origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> Self {
        Self { origin, direction, interval: [arg[0], arg[1]] }
    }
}

/// The answer that an observer gets for a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// Of `trace`: what it hit, or [`Hit::MISS`].
    Hit(Hit),
    /// Of `occluded` and `visible`.
    Shadow {
        /// True if anything lies on it.
        blocked: bool,
        /// The number among the rays of one `visible`.
        number: u32,
    },
}

/// Observes an evaluation, in order. By default it looks at nothing, and then costs nothing.
pub trait Observer {
    /// An instruction of the function entered last and not yet left is about to run.
    fn instruction(&mut self, _inst: &Inst) {}
    /// A `debug` instruction: the variable of that name has a value.
    fn variable(&mut self, _name: &Arc<str>, _value: &Const, _loc: Loc) {}
    /// A branch goes to its first target, as its condition holds, or to its second.
    fn branch(&mut self, _holds: bool, _loc: Loc) {}
    /// Function number `function` of the module starts with these arguments.
    fn enter(&mut self, _function: usize, _args: &[Const]) {}
    /// The function entered last and not yet left ends at a `ret` with these results.
    fn leave(&mut self, _results: &[Const], _loc: Loc) {}
    /// A `record` instruction appends words to the record of the sample.
    fn record(&mut self, _words: &[u32]) {}
    /// A ray was shot and answered.
    fn ray(&mut self, _ray: &Ray, _answer: &Answer) {}
}

/// Looks at nothing.
impl Observer for () {}
