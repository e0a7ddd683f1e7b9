//! Jump threading on IR: jumps skip blocks that only test a Boolean argument.
//!
//! `a && b` of a source becomes a block whose parameter is `false` on one way and `b` on the other,
//! and which does nothing but branch on it. Where the parameter's value is known on an edge, or
//! decides the edge's own branch, the edge can go straight to where the test would send it; a jump
//! becomes the branch itself.

use super::legalize::{definitions, remove_unreachable};
use shadewright_ir::{BlockId, Const, Function, Op, Target, Terminator, Value};
use std::collections::HashMap;

/// Runs the whole of this module on a function.
pub fn thread_tests(f: &mut Function) {
    let defs = definitions(f);
    let truth = |v: Value| match defs.get(&v).map(|i| &i.op) {
        Some(Op::Const(Const::Bool(b))) => Some(*b),
        _ => None,
    };
    let mut any = false;
    let mut uses = Uses::new(f);
    let mut preds = f.predecessors();
    for b in f.block_ids().skip(1) {
        let Some(test) = Test::find(f, b, &uses) else { continue };
        let mut from = std::mem::take(&mut preds[b.0 as usize]);
        from.sort();
        from.dedup();
        for p in from.into_iter().filter(|&p| p != b) {
            let term = match f.block(p).term.clone() {
                Terminator::Jump(t) if t.block == b => {
                    let (then, otherwise) = (test.way(true, &t.args), test.way(false, &t.args));
                    let condition = t.args[test.position];
                    match truth(condition) {
                        Some(known) => Terminator::Jump(if known { then } else { otherwise }),
                        None => Terminator::Branch(condition, then, otherwise),
                    }
                }
                Terminator::Branch(c, mut then, mut otherwise) if then.block == b || otherwise.block == b => {
                    for (target, decided) in [(&mut then, true), (&mut otherwise, false)] {
                        if target.block == b {
                            let given = target.args[test.position];
                            let known = if given == c { Some(decided) } else { truth(given) };
                            if let Some(known) = known {
                                *target = test.way(known, &target.args);
                            }
                        }
                    }
                    Terminator::Branch(c, then, otherwise)
                }
                _ => continue,
            };
            if term == f.block(p).term {
                continue;
            }
            any = true;
            uses.count(&f.block(p).term, -1);
            uses.count(&term, 1);
            // Later tests are asked for those that lead to them.
            term.targets().for_each(|t| preds[t.block.0 as usize].push(p));
            f.block_mut(p).term = term;
        }
    }
    if any {
        remove_unreachable(f);
    }
}

/// How often each value is used.
struct Uses(Vec<isize>);

impl Uses {
    fn new(f: &Function) -> Uses {
        let mut uses = Uses(vec![0; f.values.len()]);
        for block in &f.blocks {
            block.insts.iter().flat_map(|i| &i.args).for_each(|a| uses.0[a.0 as usize] += 1);
            uses.count(&block.term, 1);
        }
        uses
    }

    fn count(&mut self, term: &Terminator, by: isize) {
        term.for_each_arg(|v| self.0[v.0 as usize] += by);
    }

    fn number(&self, v: Value) -> isize {
        self.0[v.0 as usize]
    }
}

/// A block that does nothing but test one of its parameters.
struct Test {
    params: Vec<Value>,
    /// Which parameter is tested.
    position: usize,
    then: Target,
    otherwise: Target,
}

impl Test {
    /// The block `b` as a test, if it is one and its parameters are used nowhere else.
    fn find(f: &Function, b: BlockId, uses: &Uses) -> Option<Test> {
        let block = f.block(b);
        let Terminator::Branch(condition, then, otherwise) = &block.term else { return None };
        let position = block.params.iter().position(|p| p == condition).filter(|_| block.insts.is_empty())?;
        // A test that goes round in a circle with itself stays.
        if then.block == b || otherwise.block == b {
            return None;
        }
        // All uses of its parameters are its own end's.
        let mut own: HashMap<Value, isize> = block.params.iter().map(|&p| (p, 0)).collect();
        block.term.for_each_arg(|v| {
            if let Some(n) = own.get_mut(&v) {
                *n += 1;
            }
        });
        let stays_inside = own.iter().all(|(&v, &n)| n == uses.number(v));
        let (then, otherwise) = (then.clone(), otherwise.clone());
        stays_inside.then(|| Test { params: block.params.clone(), position, then, otherwise })
    }

    /// Where the test sends control that comes with `args`.
    fn way(&self, truth: bool, args: &[Value]) -> Target {
        let mut target = if truth { self.then.clone() } else { self.otherwise.clone() };
        let given: HashMap<Value, Value> = self.params.iter().copied().zip(args.iter().copied()).collect();
        for a in &mut target.args {
            *a = given.get(a).copied().unwrap_or(*a);
        }
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;

    #[test]
    fn a_conjunction_of_tests_becomes_two_branches() {
        let text = "fn f(v0 x: f32, v1 y: f32) -> (r: f32) {
b0:
  v2: f32 = const 0.0
  v3: bool = lt v0, v2
  br v3, b1, b2(v3, v0)
b1:
  v4: bool = lt v1, v2
  jump b2(v4, v1)
b2(v5: bool, v6: f32):
  br v5, b3(v6), b4
b3(v7: f32):
  ret v7
b4:
  ret v2
}
";
        let mut module = shadewright_ir::parse(text, FileId(0)).expect("the text form is right");
        thread_tests(&mut module.functions[0]);
        shadewright_ir::verify(&module).expect("it keeps the rules");
        let after = "fn f(v0 x: f32, v1 y: f32) -> (r: f32) {
b0:
  v2: f32 = const 0.0
  v3: bool = lt v0, v2
  br v3, b1, b3
b1:
  v4: bool = lt v1, v2
  br v4, b2(v1), b3
b2(v7: f32):
  ret v7
b3:
  ret v2
}
";
        assert_eq!(module.to_string(), after);
    }
}
