//! Replacement of values throughout a function.

use crate::{Function, Value};

/// A set of replacements, collected while a pass looks at the function and applied at its end.
pub(super) struct Replacements {
    /// The replacement of each value; the value itself when it stays.
    by: Vec<Value>,
    count: usize,
}

impl Replacements {
    /// None yet.
    pub(super) fn new(func: &Function) -> Self {
        Self { by: (0..func.values.len() as u32).map(Value).collect(), count: 0 }
    }

    /// Replaces `from`, which was not replaced before, by `to`. (Replacing a value by itself,
    /// directly or in a ring, does nothing.)
    pub(super) fn set(&mut self, from: Value, to: Value) {
        let to = self.get(to);
        if to != from {
            self.by[from.0 as usize] = to;
            self.count += 1;
        }
    }

    /// The value that stands for `value` now. Chains get shorter as they are followed. Values newer
    /// than the set stand for themselves.
    pub(super) fn get(&mut self, value: Value) -> Value {
        let Some(&parent) = self.by.get(value.0 as usize) else { return value };
        let mut root = parent;
        while let Some(&next) = self.by.get(root.0 as usize).filter(|&&n| n != root) {
            root = next;
        }
        let mut at = value;
        while at != root {
            at = std::mem::replace(&mut self.by[at.0 as usize], root);
        }
        root
    }

    /// Rewrites every operand of the function.
    pub(super) fn apply(mut self, func: &mut Function) -> usize {
        if self.count > 0 {
            for block in &mut func.blocks {
                block.insts.iter_mut().flat_map(|i| &mut i.args).for_each(|a| *a = self.get(*a));
                block.term.for_each_arg_mut(|a| *a = self.get(*a));
            }
        }
        self.count
    }
}
