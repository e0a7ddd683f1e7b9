//! Strength reduction: a product of an induction variable and a constant becomes an induction
//! variable of its own.
//!
//! Only integers: their arithmetic wraps, so sums and products agree to the bit, which rounded sums
//! of floats would not. (A float times a power of two needs no reduction, as back ends scale
//! operands in place, and a quotient by a constant is a product already when its reciprocal is
//! folded.) It gains where an integer product costs more than a sum.

use super::natural_loops::{MAX_BLOCKS, NaturalLoop, natural_loops, preheader};
use super::replace::Replacements;
use crate::dominators::Dominators;
use crate::fold::eval_op;
use crate::{BlockId, Const, Function, Inst, Loc, Op, TargetInfo, Value};
use std::collections::{HashMap, HashSet};

/// Runs the pass; returns the number of products that became variables.
pub fn run(func: &mut Function, target: &TargetInfo) -> usize {
    let tree = Dominators::new(func);
    let preds = func.predecessors();
    let loops = natural_loops(func, &tree, &preds, MAX_BLOCKS);
    if loops.is_empty() {
        return 0;
    }
    let definitions = Definitions::new(func);
    let mut replaced = Replacements::new(func);
    // Blocks whose neighbors or variables changed: loops around them wait for the next round.
    let mut changed: HashSet<BlockId> = HashSet::new();
    let mut reduced = 0;
    for found in loops.iter().rev() {
        if found.blocks.iter().any(|b| changed.contains(b)) {
            continue;
        }
        let mut products = definitions.products(func, &tree, found);
        products.truncate(target.induction_variables);
        if products.is_empty() {
            continue;
        }
        let (ahead, _) = preheader(func, found, &preds);
        changed.extend(&found.blocks);
        let gone: HashSet<Value> = products.iter().map(|p| p.result).collect();
        for product in products {
            let variable = add_variable(func, found, ahead, &product);
            replaced.set(product.result, variable);
            reduced += 1;
        }
        for &block in &found.blocks {
            func.block_mut(block).insts.retain(|i| i.results.first().is_none_or(|r| !gone.contains(r)));
        }
    }
    replaced.apply(func);
    reduced
}

/// A product of a loop's induction variable and a constant, which every iteration computes.
struct Product {
    result: Value,
    /// The counter's place among the header's parameters.
    counter: usize,
    factor: Const,
    /// By how much the product rises, for each jump back.
    steps: Vec<(BlockId, Const)>,
    loc: Loc,
}

/// The integer constants and sums of a function.
struct Definitions {
    constants: HashMap<Value, Const>,
    /// `a + b` and, as `a + −b`, `a − b`.
    sums: HashMap<Value, (Op, [Value; 2])>,
}

impl Definitions {
    fn new(func: &Function) -> Self {
        let (mut constants, mut sums) = (HashMap::new(), HashMap::new());
        for inst in func.blocks.iter().flat_map(|b| &b.insts) {
            match (&inst.op, &inst.args[..], &inst.results[..]) {
                (Op::Const(c @ (Const::I32(_) | Const::U32(_))), _, &[r]) => drop(constants.insert(r, c.clone())),
                (op @ (Op::IAdd | Op::ISub), &[a, b], &[r]) => drop(sums.insert(r, (op.clone(), [a, b]))),
                _ => {}
            }
        }
        Self { constants, sums }
    }

    fn products(&self, func: &Function, tree: &Dominators, found: &NaturalLoop) -> Vec<Product> {
        let header = func.block(found.header());
        let is_each_turn = |b: BlockId| found.latches.iter().all(|&l| tree.dominates(b, l));
        let mut products = Vec::new();
        for &block in found.blocks.iter().filter(|b| is_each_turn(**b)) {
            for inst in func.block(block).insts.iter().filter(|i| i.op == Op::IMul) {
                let &[a, b] = &inst.args[..] else { continue };
                let place = |v: Value| header.params.iter().position(|&p| p == v);
                let (counter, factor) = match (place(a), self.constants.get(&b), place(b), self.constants.get(&a)) {
                    (Some(counter), Some(factor), ..) | (_, _, Some(counter), Some(factor)) => (counter, factor),
                    _ => continue,
                };
                if let Some(steps) = self.steps(func, found, counter, factor) {
                    let factor = factor.clone();
                    products.push(Product { result: inst.results[0], counter, factor, steps, loc: inst.loc });
                }
            }
        }
        products
    }

    /// By how much `factor` times a counter rises with each jump back; `None` when it is no
    /// counter.
    fn steps(
        &self,
        func: &Function,
        found: &NaturalLoop,
        counter: usize,
        factor: &Const,
    ) -> Option<Vec<(BlockId, Const)>> {
        let param = func.block(found.header()).params[counter];
        let mut latches = found.latches.clone();
        latches.dedup();
        let mut steps = Vec::new();
        for latch in latches {
            let mut targets = func.block(latch).term.targets().filter(|t| t.block == found.header());
            let next = targets.next()?.args[counter];
            if targets.next().is_some() {
                return None;
            }
            let by = match self.sums.get(&next)? {
                (Op::IAdd, [a, b]) if *a == param => self.constants.get(b)?.clone(),
                (Op::IAdd, [a, b]) if *b == param => self.constants.get(a)?.clone(),
                (Op::ISub, [a, b]) if *a == param => {
                    let by = self.constants.get(b)?;
                    eval_op(&Op::ISub, &[&Const::zero(by.ty()), by], by.ty())?
                }
                _ => return None,
            };
            steps.push((latch, eval_op(&Op::IMul, &[&by, factor], by.ty())?));
        }
        Some(steps)
    }
}

/// Adds the variable that holds a product: its first value is computed ahead of the loop, and each
/// jump back raises it.
fn add_variable(func: &mut Function, found: &NaturalLoop, ahead: BlockId, product: &Product) -> Value {
    let header = found.header();
    let ty = func.ty(product.result);
    let variable = func.new_value(ty);
    let start = func.block(ahead).term.targets().next().map_or(variable, |t| t.args[product.counter]);
    let factor = append(func, ahead, Op::Const(product.factor.clone()), vec![], product);
    let first = append(func, ahead, Op::IMul, vec![start, factor], product);
    pass_on(func, ahead, header, first);
    for (latch, step) in &product.steps {
        let step = append(func, *latch, Op::Const(step.clone()), vec![], product);
        let next = append(func, *latch, Op::IAdd, vec![variable, step], product);
        pass_on(func, *latch, header, next);
    }
    func.block_mut(header).params.push(variable);
    variable
}

fn append(func: &mut Function, block: BlockId, op: Op, args: Vec<Value>, product: &Product) -> Value {
    let result = func.new_value(func.ty(product.result));
    func.block_mut(block).insts.push(Inst { op, args, results: vec![result], loc: product.loc });
    result
}

/// Adds an argument to the jumps from one block to another.
fn pass_on(func: &mut Function, from: BlockId, to: BlockId, value: Value) {
    func.block_mut(from).term.targets_mut().filter(|t| t.block == to).for_each(|t| t.args.push(value));
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, module};
    use crate::TargetInfo;
    use crate::{Const, EmptyWorld, eval};

    #[test]
    fn a_product_of_the_counter_runs_along_as_a_sum() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = const 2
  v2: i32 = const 12
  v3: i32 = const 5
  jump b1(v1, v1)
b1(v4: i32, v5: i32):
  v6: bool = ilt v4, v0
  br v6, b2, b3
b2:
  v7: i32 = imul v2, v4
  v8: i32 = ixor v5, v7
  v9: i32 = iadd v3, v4
  jump b1(v9, v8)
b3:
  ret v5
}",
            "fn f(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = const 2
  v2: i32 = const 12
  v3: i32 = const 5
  v11: i32 = const 12
  v12: i32 = imul v1, v11
  jump b1(v1, v1, v12)
b1(v4: i32, v5: i32, v10: i32):
  v6: bool = ilt v4, v0
  br v6, b2, b3
b2:
  v8: i32 = ixor v5, v10
  v9: i32 = iadd v3, v4
  v13: i32 = const 60
  v14: i32 = iadd v10, v13
  jump b1(v9, v8, v14)
b3:
  ret v5
}",
        );
    }

    #[test]
    fn a_product_of_anything_else_or_of_some_turns_stays() {
        let text = "fn f(v0 n: i32, v1 c: bool) -> (return: i32) {
b0:
  v2: i32 = const 2
  jump b1(v2, v2)
b1(v3: i32, v4: i32):
  v5: i32 = imul v4, v2
  v6: bool = ilt v3, v0
  br v6, b2, b5
b2:
  br v1, b3, b4(v4)
b3:
  v7: i32 = imul v3, v2
  jump b4(v7)
b4(v8: i32):
  v9: i32 = iadd v3, v2
  v10: i32 = ixor v8, v5
  jump b1(v9, v10)
b5:
  ret v4
}";
        check(|f| super::run(f, &TargetInfo::DEFAULT), text, text);
    }

    #[test]
    fn two_ways_back_may_count_differently() {
        let text = "fn f(v0 n: u32) -> (return: u32) {
b0:
  v1: u32 = const 1
  v2: u32 = const 3
  v3: u32 = const 4000000000
  v4: u32 = const 0
  jump b1(v4, v4)
b1(v5: u32, v6: u32):
  v7: u32 = imul v5, v3
  v8: u32 = ixor v6, v7
  v9: bool = ilt v8, v0
  br v9, b2, b3
b2:
  v10: u32 = isub v5, v1
  jump b1(v10, v8)
b3:
  v11: u32 = iadd v5, v2
  v12: u32 = const 20
  v13: bool = ilt v11, v12
  br v13, b1(v11, v8), b4
b4:
  ret v8
}";
        let original = module(text);
        let mut m = original.clone();
        assert_eq!(super::run(&mut m.functions[0], &TargetInfo::DEFAULT), 1);
        crate::verify(&m).expect("the pass keeps the rules");
        for n in [0, 7, 1 << 20, 1 << 31] {
            let value = |m| eval(m, "f", &[Const::U32(n)], &mut EmptyWorld, Default::default());
            assert_eq!(value(&m), value(&original));
        }
    }
}
