//! Counts of a circuit's nodes, to hold them against those of the thesis (Ullner 1983, §2.3, appendix A).

use crate::rays::arithmetic::StageCounts;
use shadewright_silicon::circuit::{Circuit, Op, ValueId};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bits of a fraction. Shorter additions are those of exponents and counters, which the thesis does not
/// count.
const FRACTION: u32 = 24;

/// The parts of a circuit of [shift-and-add arithmetic](super::programs::Arithmetic::Unrolled).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Custom {
    /// Additions and subtractions of fractions.
    pub additions: usize,
    /// Shifts of fractions, by one place or in a root by two: bits taken by a macro called `shift…`.
    pub shifts: usize,
    /// Products of fractions.
    pub multiplications: usize,
}

impl Custom {
    /// Counts the parts of a circuit that was made from that program text.
    pub fn new(circuit: &Circuit, text: &str) -> Custom {
        let shifts = macros(text).into_iter().filter(|(name, _)| name.starts_with("shift"));
        let shifts: Vec<Range<usize>> = shifts.map(|(_, range)| range).collect();
        let mut counts = Custom::default();
        for (_, node) in circuit.nodes() {
            let long = node.outputs.first().and_then(|&output| circuit.value(output).size) > Some(FRACTION);
            match node.op {
                Op::Add | Op::Sub if long => counts.additions += 1,
                Op::Mul if long => counts.multiplications += 1,
                Op::Extract { .. } if shifts.iter().any(|range| range.contains(&(node.span.start as usize))) => {
                    counts.shifts += 1;
                }
                _ => {}
            }
        }
        counts
    }
}

/// How many nodes of each kind there are, by the names of operations.
pub fn by_operation(circuit: &Circuit) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for (_, node) in circuit.nodes() {
        *counts.entry(node.op.name()).or_default() += 1;
    }
    counts
}

/// The macros of a program text with the bytes of their definitions, in order.
fn macros(text: &str) -> Vec<(&str, Range<usize>)> {
    let starts: Vec<usize> = text.match_indices("MACRO ").map(|(start, _)| start).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let name = |start: usize| {
        let after = text.get(start + "MACRO ".len()..).unwrap_or("");
        after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("")
    };
    starts.iter().zip(ends).map(|(&start, end)| (name(start), start..end)).collect()
}

/// Arithmetic in which each operation is one node, to count them and to measure the pipeline. What it
/// computes is of no use: a product is a product of words, a long division their equivalence, a short one
/// their conjunction, and a root a complement.
pub const OUTLINE: &str = "\
MACRO number(word)=>(x) x:= word;
MACRO negated(a)=>(b) b:= a;
MACRO fmul(a, b)=>(p) p:= a * b;
MACRO fadd(a, b)=>(s) s:= a + b;
MACRO fsub(a, b)=>(d) d:= a - b;
MACRO fdiv(a, b, table)=>(q) q:= a EQV b;
MACRO fdivShort(a, b, table)=>(q) q:= a AND b;
MACRO fsqrt(a, table)=>(r) r:= NOT a;
MACRO reciprocalTable=>(table) table:= 0;
MACRO rootTable=>(table) table:= 0;
";

/// Stages of a node in a circuit of the [`OUTLINE`].
pub fn stages(op: &Op, stages: &StageCounts) -> u32 {
    match op {
        Op::Mul => stages.mul,
        Op::Add | Op::Sub => stages.add,
        Op::Eqv => stages.long_division,
        Op::And => stages.short_division,
        Op::Not => stages.root,
        _ => 0,
    }
}

/// The greatest sum of weights on a path to what is put into each port, by the port's name. Paths begin at
/// the heads of loops and where ports are read.
pub fn depths(circuit: &Circuit, weight: impl Fn(&Op) -> u32) -> BTreeMap<String, u32> {
    let mut depths = vec![0; circuit.values().len()];
    let mut puts = BTreeMap::new();
    for id in in_order(circuit) {
        let node = &circuit.node(circuit.value(id).node);
        let before = match node.op {
            Op::LoopMerge(_) | Op::Get(_) => 0,
            // The state of the port, its other input, depends on earlier words.
            Op::Put(_) => node.inputs.get(1).map_or(0, |input| depths[input.0 as usize]),
            _ => node.inputs.iter().map(|input| depths[input.0 as usize]).max().unwrap_or(0),
        };
        depths[id.0 as usize] = before + weight(&node.op);
        if let Op::Put(port) = node.op {
            puts.insert(circuit.port(port).name.to_string(), depths[id.0 as usize]);
        }
    }
    puts
}

/// All values, each after those it depends on, but for the heads of loops.
fn in_order(circuit: &Circuit) -> Vec<ValueId> {
    let mut order = Vec::new();
    let mut seen = vec![false; circuit.values().len()];
    for (first, _) in circuit.values() {
        let mut stack = vec![(first, false)];
        while let Some((id, entered)) = stack.pop() {
            if entered {
                order.push(id);
            } else if !std::mem::replace(&mut seen[id.0 as usize], true) {
                stack.push((id, true));
                let node = circuit.node(circuit.value(id).node);
                if !matches!(node.op, Op::LoopMerge(_)) {
                    stack.extend(node.inputs.iter().map(|&input| (input, false)));
                }
            }
        }
    }
    order
}
