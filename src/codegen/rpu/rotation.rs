//! Which of the few short-lived registers (`I0`–`I3`, the components of `A`) takes the next value.
//!
//! The thesis goes round (Węgrzanowski 2006, §9.2); here a register whose value is not needed any
//! more in the block goes first, then the one that waited longest. What is overwritten too early is
//! read from its copy in a general register.

use shadewright_ir::{Block, Function, Op, Value};
use std::collections::{HashMap, HashSet};

/// Where in a block each value is read last, directly or through values that are only views of it.
#[derive(Clone, Debug, Default)]
pub struct LastUses(HashMap<Value, usize>);

impl LastUses {
    /// Looks through a block. `folded` are values that their user computes.
    pub fn for_block(f: &Function, block: &Block, folded: &HashSet<Value>) -> LastUses {
        let mut last: HashMap<Value, usize> = HashMap::new();
        let mut see = |v: Value, at: usize| {
            let l = last.entry(v).or_default();
            *l = (*l).max(at);
        };
        let end = block.insts.len();
        block.term.for_each_arg(|v| see(v, end));
        for (i, inst) in block.insts.iter().enumerate().rev() {
            let passes_on = matches!(inst.op, Op::Neg | Op::Extract(_) | Op::Splat | Op::Bitcast | Op::Compose);
            let through = inst.results.iter().any(|r| passes_on || folded.contains(r));
            let at = if through { inst.results.iter().filter_map(|r| last.get(r)).max().copied() } else { Some(i) };
            if let Some(at) = at {
                for &a in &inst.args {
                    let l = last.entry(a).or_default();
                    *l = (*l).max(at);
                }
            }
        }
        debug_assert!(last.keys().all(|v| (v.0 as usize) < f.values.len()));
        LastUses(last)
    }

    fn needed_after(&self, v: Value, position: usize) -> bool {
        self.0.get(&v).is_some_and(|&l| l > position)
    }
}

/// The contents of `N` registers and when each was filled.
#[derive(Clone, Debug)]
pub struct Rotation<K, const N: usize> {
    slots: [Option<(K, u32)>; N],
    clock: u32,
}

impl<K: Copy + PartialEq, const N: usize> Rotation<K, N> {
    /// All empty.
    pub fn new() -> Self {
        Rotation { slots: [None; N], clock: 0 }
    }

    /// Forgets what the registers hold.
    pub fn clear(&mut self) {
        self.slots = [None; N];
    }

    fn fill(&mut self, n: usize, key: K) {
        self.clock += 1;
        self.slots[n] = Some((key, self.clock));
    }

    /// The register that holds `key`, or the one that was used longest ago, which now does; and
    /// whether it held it before.
    pub fn find_or_take(&mut self, key: K) -> (usize, bool) {
        let found = self.slots.iter().position(|s| s.is_some_and(|(k, _)| k == key));
        let n = found.unwrap_or_else(|| self.oldest(N, |_| false));
        self.fill(n, key);
        (n, found.is_some())
    }

    fn oldest(&self, limit: usize, busy: impl Fn(K) -> bool) -> usize {
        (0..limit).min_by_key(|&n| self.slots[n].map_or((false, 0), |(k, t)| (busy(k), t))).unwrap_or(0)
    }
}

impl<const N: usize> Rotation<Value, N> {
    /// The register, among the first `limit`, that takes a value made at `position` of a block.
    pub fn take(&mut self, value: Value, position: usize, limit: usize, uses: &LastUses) -> usize {
        let n = self.oldest(limit.min(N), |v| uses.needed_after(v, position));
        self.fill(n, value);
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_whose_value_is_dead_goes_before_an_older_one_that_is_needed() {
        let uses = LastUses(HashMap::from([(Value(1), 9), (Value(2), 3)]));
        let mut r: Rotation<Value, 2> = Rotation::new();
        assert_eq!(r.take(Value(1), 0, 2, &uses), 0);
        assert_eq!(r.take(Value(2), 1, 2, &uses), 1);
        assert_eq!(r.take(Value(3), 5, 2, &uses), 1);
    }

    #[test]
    fn an_address_is_found_again_until_two_others_push_it_out() {
        let mut r: Rotation<u8, 2> = Rotation::new();
        assert_eq!(r.find_or_take(7), (0, false));
        assert_eq!(r.find_or_take(8), (1, false));
        assert_eq!(r.find_or_take(7), (0, true));
        assert_eq!(r.find_or_take(9), (1, false));
        assert_eq!(r.find_or_take(8), (0, false));
    }
}
