//! The effect of each pass on small graphs.

use super::{PassOptions, bypass, cse, dead, fold, run, sizes};
use crate::circuit::graph::{Circuit, Comparison, Constant, Op, PortId, ValueId};
use crate::circuit::ports::{Port, PortKind};
use shadewright_base::bits::Bits;
use shadewright_base::text::source::Span;

/// A circuit with an input and an output of 8 bits: the circuit, their tokens, and a word of the
/// input.
struct Small {
    c: Circuit,
    reset: ValueId,
    word: ValueId,
}

const AT: Span = Span { file: shadewright_base::text::source::FileId(0), start: 0, end: 0 };

impl Small {
    fn new() -> Self {
        let mut c = Circuit::new("small");
        let port = |name: &str, kind| Port { name: name.into(), kind, width: 8, span: AT };
        let i = c.add_port(port("i", PortKind::AsyncSerIn { buffer: 0 }));
        c.add_port(port("o", PortKind::AsyncSerOut { buffer: 0 }));
        let reset = c.add_value(Op::Reset, &[], AT);
        let token = c.add_value(Op::Open(i), &[reset], AT);
        let word = c.add_value(Op::Get(i), &[token], AT);
        Self { c, reset, word }
    }

    fn constant(&mut self, number: i128) -> ValueId {
        self.c.add_value(Op::Constant(Constant::Number(number)), &[self.reset], AT)
    }

    fn op(&mut self, op: Op, inputs: &[ValueId]) -> ValueId {
        self.c.add_value(op, inputs, AT)
    }

    /// Puts a word to the output.
    fn put(&mut self, word: ValueId) {
        let token = self.c.add_value(Op::Open(PortId(1)), &[self.reset], AT);
        self.c.add_value(Op::Put(PortId(1)), &[token, word], AT);
    }

    /// The circuit with its sizes.
    fn sized(mut self) -> Circuit {
        dead::run(&mut self.c);
        sizes::infer(&mut self.c).expect("sizes");
        assert_eq!(self.c.verify_sized(), Ok(()));
        self.c
    }
}

/// The value that is put to the output.
fn put(c: &Circuit) -> ValueId {
    c.nodes().find(|(_, node)| matches!(node.op, Op::Put(_))).expect("a put").1.inputs[1]
}

#[test]
fn what_no_port_depends_on_is_dead() {
    let mut s = Small::new();
    let square = s.op(Op::Mul, &[s.word, s.word]);
    s.op(Op::Not, &[square]);
    s.put(s.word);
    let c = s.sized();
    assert_eq!((c.statistics().count("mul"), c.statistics().count("not")), (0, 0));
}

#[test]
fn sizes_flow_both_ways_and_add_up() {
    let mut s = Small::new();
    let (three, one) = (s.constant(3), s.constant(1));
    let sum = s.op(Op::Add, &[one, s.word]);
    let [high, low] = [(7, 5), (4, 0)].map(|(high, low)| Op::Extract { high, low });
    let (high, low) = (s.op(high, &[sum]), s.op(low, &[sum]));
    let both = s.op(Op::Concat, &[low, three]);
    s.put(both);
    s.op(Op::Not, &[high]);
    let c = s.sized();
    let constants: Vec<Option<u32>> =
        c.values().filter(|(_, v)| matches!(c.node(v.node).op, Op::Constant(_))).map(|(_, v)| v.size).collect();
    // 8 bits less the 5 of the other half; and the 8 of the sum.
    assert_eq!(constants, [Some(3), Some(8)]);
}

#[test]
fn contradicting_sizes_are_an_error_at_each_place() {
    let mut s = Small::new();
    let part = s.op(Op::Extract { high: 3, low: 0 }, &[s.word]);
    s.put(part);
    let errors = sizes::infer(&mut s.c).expect_err("4 bits are not 8");
    assert_eq!(errors.error_count(), 1);
}

#[test]
fn constants_fold() {
    let mut s = Small::new();
    let (a, b) = (s.constant(200), s.constant(100));
    let sum = s.c.add(Op::Add, &[a, b], AT);
    let [sum, carry] = [0, 1].map(|i| s.c.node(sum).outputs[i]);
    let chosen = s.op(Op::IfYes, &[carry, sum]);
    s.put(chosen);
    let mut c = s.sized();
    run(&mut c, PassOptions::default());
    let word = c.source(put(&c)).op.clone();
    assert_eq!(word, Op::Constant(Constant::Word(Bits::from_u128(44, 8))));
    assert_eq!(c.statistics().count("ifYes"), 0);
}

#[test]
fn a_value_that_no_branch_changes_goes_around_the_conditional() {
    // Ullner 1983, figure C-20.
    let mut s = Small::new();
    let zero = s.constant(0);
    let condition = s.op(Op::Compare(Comparison::Less), &[s.word, zero]);
    let yes = s.op(Op::IfYes, &[condition, s.word]);
    let no = s.op(Op::IfNo, &[condition, s.word]);
    let merged = s.op(Op::Merge, &[no, yes]);
    s.put(merged);
    let mut c = s.sized();
    run(&mut c, PassOptions::default());
    assert!(matches!(c.source(put(&c)).op, Op::Get(_)));
    assert_eq!(c.statistics().count("less"), 0);
}

#[test]
fn a_case_that_changes_nothing_goes_too() {
    let mut s = Small::new();
    let bit = s.op(Op::Extract { high: 0, low: 0 }, &[s.word]);
    let case = s.c.add(Op::Case(vec![Constant::Number(0), Constant::Number(1)]), &[bit], AT);
    let arms: Vec<ValueId> = s.c.node(case).outputs.clone();
    let passed: Vec<ValueId> = arms[..2].iter().map(|arm| s.op(Op::IfYes, &[*arm, s.word])).collect();
    let merged = s.op(Op::Merge, &passed);
    s.put(merged);
    let mut c = s.sized();
    run(&mut c, PassOptions::default());
    assert!(matches!(c.source(put(&c)).op, Op::Get(_)));
}

#[test]
fn undefined_spreads_except_through_merges() {
    // Ullner 1983, figure C-24.
    let mut s = Small::new();
    let yes = s.constant(1);
    let two = s.constant(2);
    let (then, gated) = (s.op(Op::IfYes, &[yes, s.word]), s.op(Op::IfYes, &[yes, two]));
    let double = s.op(Op::Mul, &[then, gated]);
    let otherwise = s.op(Op::IfNo, &[yes, s.word]);
    let otherwise = s.op(Op::Not, &[otherwise]);
    let merged = s.op(Op::Merge, &[double, otherwise]);
    s.put(merged);
    let mut c = s.sized();
    run(&mut c, PassOptions::default());
    assert!(matches!(c.source(put(&c)).op, Op::Mul));
    assert_eq!(
        c.statistics().nodes.keys().copied().collect::<Vec<_>>(),
        ["constant", "get", "mul", "open", "put", "reset"]
    );
}

#[test]
fn bits_of_words_put_together_come_from_their_parts() {
    let mut s = Small::new();
    let low = s.op(Op::Extract { high: 3, low: 0 }, &[s.word]);
    let high = s.op(Op::Extract { high: 7, low: 4 }, &[s.word]);
    let turned = s.op(Op::Concat, &[low, high]);
    let part = s.op(Op::Extract { high: 6, low: 5 }, &[turned]);
    let part = s.op(Op::Resize, &[part]);
    s.c.set_size(part, 8);
    s.put(part);
    let mut c = s.sized();
    run(&mut c, PassOptions::default());
    let resized = c.source(put(&c)).inputs[0];
    assert_eq!(c.source(resized).op, Op::Extract { high: 2, low: 1 });
    assert_eq!(c.statistics().count("concat"), 0);
}

#[test]
fn what_a_loop_does_not_change_goes_around_it() {
    // Ullner 1983, figure C-21: `WHILE n ~= 0 DO n:= n - 1; o.put(kept)`, with a kept word.
    let mut s = Small::new();
    let round = s.c.add_loop(AT, None);
    let nodes = [s.word, s.word, s.reset].map(|first| s.c.add(Op::LoopMerge(round), &[first], AT));
    let [n, kept, reset] = nodes.map(|node| s.c.node(node).outputs[0]);
    let constant = |s: &mut Small, number, trigger| s.op(Op::Constant(Constant::Number(number)), &[trigger]);
    let zero = constant(&mut s, 0, reset);
    let goes_on = s.op(Op::Compare(Comparison::NotEqual), &[n, zero]);
    let [n, again, reset] = [n, kept, reset].map(|value| s.op(Op::IfYes, &[goes_on, value]));
    let one = constant(&mut s, 1, reset);
    let less = s.op(Op::Sub, &[n, one]);
    nodes.into_iter().zip([less, again, reset]).for_each(|(node, next)| s.c.set_input(node, 1, next));
    let left = s.op(Op::IfNo, &[goes_on, kept]);
    s.put(left);
    let mut c = s.sized();
    assert_eq!(c.loops.len(), 1);
    assert!(bypass::run(&mut c));
    dead::run(&mut c);
    assert!(matches!(c.source(put(&c)).op, Op::Get(_)));
    assert_eq!(c.loops.len(), 0, "nothing leaves the loop any more");
}

#[test]
fn equal_computations_are_one() {
    // Ullner 1983, C.13: `(a + 1) * (1 + a)`.
    let mut s = Small::new();
    let (one, other) = (s.constant(1), s.constant(1));
    let (a, b) = (s.op(Op::Add, &[s.word, one]), s.op(Op::Add, &[other, s.word]));
    let product = s.op(Op::Mul, &[a, b]);
    s.put(product);
    let mut c = s.sized();
    assert!(cse::run(&mut c) && dead::run(&mut c));
    assert_eq!((c.statistics().count("add"), c.statistics().count("constant")), (1, 1));
    assert!(!cse::run(&mut c) && !fold::run(&mut c));
}
