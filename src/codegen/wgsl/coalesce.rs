//! Which values share a local variable.
//!
//! A block parameter has a variable, which every jump to its block stores into, and so has a value
//! that is used where its definition is not seen. Where a jump passes one of them to another and the
//! two are never needed at once, one variable does for both and nothing is stored. Drivers that run
//! lanes together under a mask execute such copies at every loop's end, in every iteration: without
//! them generated traversal traces 6 to 8 % more rays on Mesa's software driver
//! (docs/internals/generators.md).

use shadewright_ir::{Function, Value};
use std::collections::HashMap;

/// Beyond so many values none is shared: the table of those that are needed at once has a bit for
/// each pair.
const MOST: usize = 1 << 13;

/// A set of values, by their numbers in the list of those that have variables.
type Set = Vec<u64>;

fn insert(set: &mut Set, i: usize) {
    set[i / 64] |= 1 << (i % 64);
}

fn remove(set: &mut Set, i: usize) {
    set[i / 64] &= !(1 << (i % 64));
}

/// Adds a set to another; whether that changed it.
fn extend(set: &mut Set, other: &Set) -> bool {
    set.iter_mut().zip(other).fold(false, |changed, (to, from)| {
        let before = *to;
        *to |= from;
        changed | (*to != before)
    })
}

/// For each of `held`, the values that have variables, the one whose variable it takes.
pub(super) fn shared_variables(func: &Function, held: &[Value]) -> HashMap<Value, Value> {
    if held.len() > MOST {
        return held.iter().map(|&v| (v, v)).collect();
    }
    let mut classes = Classes::new(func, held);
    // Inner loops come later, and matter most.
    for block in func.blocks.iter().rev() {
        for target in block.term.targets() {
            let params = &func.block(target.block).params;
            params.iter().zip(&target.args).for_each(|(&param, &arg)| classes.share(func, param, arg));
        }
    }
    (0..held.len()).map(|i| (held[i], held[classes.first(i)])).collect()
}

struct Classes {
    number: HashMap<Value, usize>,
    /// The first value of a value's class, or one nearer to it.
    parent: Vec<usize>,
    /// Of each class, by its first value: its values, and those that are needed together with one.
    members: Vec<Set>,
    conflicts: Vec<Set>,
}

impl Classes {
    fn new(func: &Function, held: &[Value]) -> Self {
        let number: HashMap<Value, usize> = held.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        let empty: Set = vec![0; held.len().div_ceil(64)];
        let mut members = vec![empty.clone(); held.len()];
        (0..held.len()).for_each(|i| insert(&mut members[i], i));
        let conflicts = conflicts(func, &number, &empty);
        Self { number, parent: (0..held.len()).collect(), members, conflicts }
    }

    fn first(&self, mut i: usize) -> usize {
        while self.parent[i] != i {
            i = self.parent[i];
        }
        i
    }

    /// Lets two values share a variable, if they can.
    fn share(&mut self, func: &Function, a: Value, b: Value) {
        let (Some(&a_number), Some(&b_number)) = (self.number.get(&a), self.number.get(&b)) else { return };
        let (to, from) = (self.first(a_number), self.first(b_number));
        let apart = |one: &Set, other: &Set| one.iter().zip(other).all(|(x, y)| x & y == 0);
        if to == from || func.ty(a) != func.ty(b) || !apart(&self.conflicts[to], &self.members[from]) {
            return;
        }
        self.parent[from] = to;
        let [members, conflicts] = [&mut self.members, &mut self.conflicts].map(|sets| std::mem::take(&mut sets[from]));
        extend(&mut self.members[to], &members);
        extend(&mut self.conflicts[to], &conflicts);
    }
}

/// For each value, those that are needed at once with it: one is live where the other is defined,
/// or both are parameters of a block.
fn conflicts(func: &Function, number: &HashMap<Value, usize>, empty: &Set) -> Vec<Set> {
    let live_in = live_in(func, number, empty);
    let mut conflicts = vec![empty.clone(); number.len()];
    let mut meet = |a: usize, live: &Set| {
        extend(&mut conflicts[a], live);
        remove(&mut conflicts[a], a);
        for (word, &bits) in live.iter().enumerate() {
            let mut rest = bits;
            while rest != 0 {
                let b = 64 * word + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if b != a {
                    insert(&mut conflicts[b], a);
                }
            }
        }
    };
    for (id, block) in func.block_ids().zip(&func.blocks) {
        let mut live = live_out(func, id, &live_in, number, empty);
        for inst in block.insts.iter().rev() {
            for &result in inst.results.iter().filter_map(|r| number.get(r)) {
                remove(&mut live, result);
                meet(result, &live);
            }
            inst.args.iter().filter_map(|a| number.get(a)).for_each(|&a| insert(&mut live, a));
        }
        let params: Vec<usize> = block.params.iter().filter_map(|p| number.get(p)).copied().collect();
        params.iter().for_each(|&p| insert(&mut live, p));
        params.iter().for_each(|&p| meet(p, &live));
    }
    conflicts
}

/// The values that are live at the end of a block, those that its jump passes on included.
fn live_out(
    func: &Function,
    id: shadewright_ir::BlockId,
    live_in: &[Set],
    number: &HashMap<Value, usize>,
    empty: &Set,
) -> Set {
    let mut live = empty.clone();
    let term = &func.block(id).term;
    for target in term.targets() {
        extend(&mut live, &live_in[target.block.0 as usize]);
    }
    term.for_each_arg(|arg| {
        if let Some(&arg) = number.get(&arg) {
            insert(&mut live, arg);
        }
    });
    live
}

/// The values that are live at the start of each block, without its parameters.
fn live_in(func: &Function, number: &HashMap<Value, usize>, empty: &Set) -> Vec<Set> {
    let mut live_in = vec![empty.clone(); func.blocks.len()];
    let order = func.reverse_postorder();
    let mut changed = true;
    while changed {
        changed = false;
        for &id in order.iter().rev() {
            let mut live = live_out(func, id, &live_in, number, empty);
            let block = func.block(id);
            for inst in block.insts.iter().rev() {
                inst.results.iter().filter_map(|r| number.get(r)).for_each(|&r| remove(&mut live, r));
                inst.args.iter().filter_map(|a| number.get(a)).for_each(|&a| insert(&mut live, a));
            }
            block.params.iter().filter_map(|p| number.get(p)).for_each(|&p| remove(&mut live, p));
            changed |= extend(&mut live_in[id.0 as usize], &live);
        }
    }
    live_in
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::parse;

    /// The numbers of the values that take the variable of each of these.
    fn shared(text: &str, held: &[u32]) -> Vec<u32> {
        let module = parse(text, FileId(0)).expect("the text form is right");
        let held: Vec<Value> = held.iter().map(|&v| Value(v)).collect();
        let shared = shared_variables(&module.functions[0], &held);
        held.iter().map(|v| shared[v].0).collect()
    }

    #[test]
    fn what_is_passed_on_and_not_needed_any_more_keeps_its_variable() {
        let text =
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {\nb0:\n jump b1(v0)\nb1(v2: f32):\n v3: f32 = add v2, v0
             br v1, b1(v3), b2(v3)\nb2(v4: f32):\n ret v4\n}";
        let of = shared(text, &[2, 3, 4]);
        assert!(of[0] == of[1] && of[1] == of[2], "{of:?}");
    }

    #[test]
    fn values_that_are_needed_at_once_have_variables_of_their_own() {
        let swap =
            "fn f(v0 x: f32, v1 y: f32, v2 c: bool) -> (return: f32) {\nb0:\n jump b1(v0, v1)\nb1(v3: f32, v4: f32):
             br v2, b1(v4, v3), b2(v3)\nb2(v5: f32):\n v6: f32 = add v5, v4\n ret v6\n}";
        let of = shared(swap, &[3, 4, 5]);
        assert!(of[0] != of[1] && of[2] != of[1], "{of:?}");
        let both =
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {\nb0:\n jump b1(v0)\nb1(v2: f32):\n v3: f32 = add v2, v0
             br v1, b1(v3), b2(v3)\nb2(v4: f32):\n v5: f32 = add v4, v2\n ret v5\n}";
        let of = shared(both, &[2, 3, 4]);
        assert!(of[0] != of[1] && of[0] != of[2], "{of:?}");
    }
}
