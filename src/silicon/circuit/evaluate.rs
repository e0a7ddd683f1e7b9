//! The results of operations on words: for folding and for simulation.

use super::graph::{Comparison, Op};
use shadewright_base::bits::Bits;
use std::cmp::Ordering;

/// Sizes of a node: of its first two inputs, and of its first output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Of the inputs, in bits.
    pub inputs: [u32; 2],
    /// Of the output, in bits.
    pub output: u32,
}

/// The words that an operation gives for the words of its inputs, at most two; none if it is no
/// function of words. `Add` and `Sub` give the carry, too.
pub fn evaluate(op: &Op, a: &Bits, b: Option<&Bits>, sizes: Sizes) -> Option<(Bits, Option<Bits>)> {
    let [size, low] = sizes.inputs;
    let two = |f: fn(&Bits, &Bits, u32) -> Bits| b.map(|b| (f(a, b, size), None));
    match op {
        Op::Add => b.map(|b| a.add(b, size)).map(|(sum, carry)| (sum, Some(Bits::bit(carry)))),
        Op::Sub => b.map(|b| a.sub(b, size)).map(|(sum, carry)| (sum, Some(Bits::bit(carry)))),
        Op::Mul => two(Bits::mul),
        Op::And => two(Bits::and),
        Op::Or => two(Bits::or),
        Op::Eqv => two(Bits::eqv),
        Op::Not => Some((a.not(size), None)),
        Op::Compare(comparison) => b.map(|b| (Bits::bit(holds(*comparison, a.compare(b, size))), None)),
        Op::Extract { low, .. } => Some((a.extract(*low, sizes.output), None)),
        Op::Resize => Some((a.resize(size, sizes.output), None)),
        Op::Concat => b.map(|b| (a.concat(b, low, sizes.output), None)),
        _ => None,
    }
}

/// True if a comparison holds for numbers in this order.
pub fn holds(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterEqual => order.is_ge(),
    }
}
