//! The savings of a packet of rays in the intersection with a primitive (Parker et al., "RTSL: a
//! Ray Tracing Shading Language", 2007, §4.3.2): work that all of its rays share is done once a
//! packet, and directions of length 1 make squares of lengths and divisions by them vanish.
//!
//! [`operations`] takes the core of an `intersect` method, with the ray as named inputs, and
//! returns how many operations on floats one ray costs; [`split()`] parts a function into what the
//! rays of a packet, or other calls of it, share, and the rest. Both know no language.

mod split;

pub use split::{Once, Split, split};

use super::{copy, dce, fold, gvn, simplify_cfg};
use crate::abi::input;
use crate::{BlockId, Const, Function, Op, TargetInfo, Value};

/// The input that holds where the ray starts.
const ORIGIN: &str = input::RAY_ORIGIN;
/// The input that holds its direction.
const DIRECTION: &str = input::RAY_DIRECTION;
/// Inputs that differ from ray to ray, but for the origin, which may not.
const OF_A_RAY: [&str; 4] = [DIRECTION, input::RAY_T, input::RAY_T_MIN, input::RAY_TIME];

/// The properties that the rays of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// All start at one point, as those of a pinhole camera do.
    pub common_origin: bool,
    /// Their directions have length 1.
    pub unit_directions: bool,
}

impl Packet {
    /// All kinds, with what they are called.
    pub const ALL: [(&str, Packet); 4] = [
        ("general", Packet { common_origin: false, unit_directions: false }),
        ("common origin", Packet { common_origin: true, unit_directions: false }),
        ("unit directions", Packet { common_origin: false, unit_directions: true }),
        ("both", Packet { common_origin: true, unit_directions: true }),
    ];
}

/// Operations on floats that one ray takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Operations {
    /// On the longest way through the function: sums, differences, products, quotients, roots,
    /// negations and comparisons, each component one.
    pub longest: u32,
    /// Quotients and roots on all ways together.
    pub expensive: u32,
}

/// The cost of a function for each ray of a packet.
pub fn operations(func: &Function, packet: Packet) -> Operations {
    let mut func = func.clone();
    if packet.unit_directions {
        unit_directions(&mut func);
    }
    shorten(&mut func);
    count(&func, &shared(&func, |name| is_common(name, packet.common_origin)))
}

/// Leaves out what is not needed, and computes what is the same once. No pass chooses between
/// instructions, so that what is written can be counted.
pub fn shorten(func: &mut Function) {
    let passes: [fn(&mut Function) -> usize; 5] = [copy::run, fold::run, gvn::run, simplify_cfg::run, dce::run];
    while passes.iter().map(|pass| pass(func)).sum::<usize>() > 0 {}
}

/// True if an input of a core is the same for all rays of a packet.
fn is_common(input: &str, common_origin: bool) -> bool {
    !OF_A_RAY.contains(&input) && (input != ORIGIN || common_origin)
}

/// The count of the numbers that the core of an `intersect` method can work out once for a packet
/// with a common origin; 0 where it is not worth parting it.
pub fn shared_numbers(func: &Function, target: &TargetInfo) -> u32 {
    let common: Vec<&str> = func.params.iter().map(|p| &*p.name).filter(|name| is_common(name, true)).collect();
    let parts = split(func, &common, ["shared".to_string(), "rest".to_string()], Once::Numbers(target));
    parts.map_or(0, |parts| parts.shared.results.iter().map(|r| r.ty.words()).sum())
}

/// The squared length of a direction of length 1 is 1; simplification follows that through the
/// function.
fn unit_directions(func: &mut Function) {
    let is_direction = func.params.iter().position(|p| &*p.name == DIRECTION);
    let Some(direction) = is_direction.map(|i| func.param_values()[i]) else { return };
    for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if inst.op == Op::Dot && inst.args == [direction, direction] {
            (inst.op, inst.args) = (Op::Const(Const::F32(1.0)), Vec::new());
        }
    }
}

/// The values that are the same for all rays of a packet: they are computed once.
fn shared(func: &Function, is_common: impl Fn(&str) -> bool) -> Vec<bool> {
    shared_with(func, is_common, Op::is_pure)
}

/// The same, where operations that do nothing but give results are those that `is_pure` says.
fn shared_with(func: &Function, is_common: impl Fn(&str) -> bool, is_pure: impl Fn(&Op) -> bool) -> Vec<bool> {
    let mut shared = vec![false; func.values.len()];
    for (param, value) in func.params.iter().zip(func.param_values()) {
        shared[value.0 as usize] = is_common(&param.name);
    }
    for id in func.reverse_postorder() {
        for inst in &func.block(id).insts {
            let all = is_pure(&inst.op) && inst.args.iter().all(|a| shared[a.0 as usize]);
            inst.results.iter().for_each(|r| shared[r.0 as usize] = all);
        }
    }
    shared
}

/// The operations that are not shared, loops taken once.
fn count(func: &Function, shared: &[bool]) -> Operations {
    let inverses = inverses(func);
    let is_inverse = |v: &Value| inverses[v.0 as usize];
    // How many there are on the longest way to each block.
    let mut before: Vec<Option<u32>> = vec![None; func.blocks.len()];
    before[0] = Some(0);
    let mut counted = Operations::default();
    for id in func.reverse_postorder() {
        let Some(mut cost) = before[id.0 as usize] else { continue };
        let block = func.block(id);
        for inst in &block.insts {
            let &[result] = &inst.results[..] else { continue };
            if shared[result.0 as usize] {
                continue;
            }
            let lanes = |v: Value| func.ty(v).lanes().unwrap_or(1);
            let (all, expensive) = match &inst.op {
                // A quotient is a product with an inverse, which counts nothing by itself.
                Op::Rcp if is_inverse(&result) => (0, 0),
                Op::Mul if inst.args.iter().any(is_inverse) => (lanes(result), lanes(result)),
                Op::Neg | Op::Add | Op::Sub | Op::Mul => (lanes(result), 0),
                Op::Rcp | Op::Sqrt => (lanes(result), lanes(result)),
                // A root and a quotient.
                Op::Rsq => (2 * lanes(result), 2 * lanes(result)),
                Op::Dot => (2 * lanes(inst.args[0]) - 1, 0),
                Op::Cross => (9, 0),
                Op::Lt | Op::Le | Op::Eq | Op::Ne => (1, 0),
                _ => (0, 0),
            };
            cost += all;
            counted.expensive += expensive;
        }
        counted.longest = counted.longest.max(cost);
        for target in block.term.targets() {
            let next: BlockId = target.block;
            let known = &mut before[next.0 as usize];
            *known = Some(known.map_or(cost, |known| known.max(cost)));
        }
    }
    counted
}

/// Inverses that products alone use: with those they are quotients.
fn inverses(func: &Function) -> Vec<bool> {
    let mut is_inverse = vec![false; func.values.len()];
    let insts = || func.blocks.iter().flat_map(|b| &b.insts);
    insts().filter(|i| i.op == Op::Rcp).for_each(|i| is_inverse[i.results[0].0 as usize] = true);
    for inst in insts().filter(|i| i.op != Op::Mul && i.op != Op::Splat) {
        inst.args.iter().for_each(|a| is_inverse[a.0 as usize] = false);
    }
    func.blocks.iter().for_each(|b| b.term.for_each_arg(|v| is_inverse[v.0 as usize] = false));
    // One as wide as a vector.
    let wide: Vec<(Value, Value)> = insts().filter(|i| i.op == Op::Splat).map(|i| (i.args[0], i.results[0])).collect();
    for (x, result) in wide {
        is_inverse[result.0 as usize] = is_inverse[x.0 as usize];
    }
    is_inverse
}
