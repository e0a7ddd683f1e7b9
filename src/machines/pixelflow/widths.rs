//! How many bytes an integer takes in pixel memory.
//!
//! PixelFlow allocates and computes with multiples of single bytes (Olano 1998, §4.3.3). The two
//! analyses are those of figure 4.8 on the IR: what a value can be, from its operands, and which of
//! its bits are needed, from its uses. A value is kept in the bytes that both leave.

use super::flow::Flow;
use shadewright_ir::{Const, Function, Op, Type, Value};

/// How a value lies in pixel memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// The number of bytes, 1 to 4.
    pub bytes: u8,
    /// True if loading repeats the uppermost bit.
    pub signed: bool,
}

/// The smallest and the largest number; of a float, what `to_int` can meet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Range {
    Integer(i64, i64),
    Float(f64, f64),
    Any,
}

/// Rounds before a range that still grows is taken for unlimited.
const ROUNDS: usize = 6;

/// The widths of all values of a function.
pub fn widths(f: &Function, flow: &Flow) -> Vec<Width> {
    let ranges = ranges(f, flow);
    let needed = needed_bits(f, flow);
    let of = |i: usize| match f.values[i] {
        Type::Bool => Width { bytes: 1, signed: false },
        Type::I32 | Type::U32 => {
            let (low, high) = integer(ranges[i].unwrap_or(Range::Any), f.values[i]);
            let magnitude = high.max(-(low + 1)).max(0) as u64;
            let bits = 64 - magnitude.leading_zeros() + u32::from(low < 0);
            let bits = bits.min(32 - needed[i].leading_zeros()).max(1);
            Width { bytes: bits.div_ceil(8) as u8, signed: low < 0 }
        }
        _ => Width { bytes: 4, signed: false },
    };
    (0..f.values.len()).map(of).collect()
}

/// The width of any value of a type.
pub fn for_type(ty: Type) -> Width {
    match ty {
        Type::Bool => Width { bytes: 1, signed: false },
        Type::I32 => Width { bytes: 4, signed: true },
        _ => Width { bytes: 4, signed: false },
    }
}

fn full(ty: Type) -> (i64, i64) {
    if ty == Type::I32 { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) }
}

fn integer(range: Range, ty: Type) -> (i64, i64) {
    match range {
        Range::Integer(low, high) => (low, high),
        _ => full(ty),
    }
}

/// The range where it fits the type, as operations that wrap give anything otherwise.
fn fitting(low: i64, high: i64, ty: Type) -> Range {
    let (least, most) = full(ty);
    if low >= least && high <= most { Range::Integer(low, high) } else { Range::Integer(least, most) }
}

fn union(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Integer(a, b), Range::Integer(c, d)) => Range::Integer(a.min(c), b.max(d)),
        (Range::Float(a, b), Range::Float(c, d)) => Range::Float(a.min(c), b.max(d)),
        _ => Range::Any,
    }
}

fn ranges(f: &Function, flow: &Flow) -> Vec<Option<Range>> {
    let mut known: Vec<Option<Range>> = vec![None; f.values.len()];
    f.param_values().iter().for_each(|p| known[p.0 as usize] = Some(Range::Any));
    for round in 0.. {
        let mut changed = false;
        for &id in &flow.order {
            for inst in &f.block(id).insts {
                let args: Option<Vec<Range>> = inst.args.iter().map(|a| known[a.0 as usize]).collect();
                let Some(args) = args else { continue };
                for &r in &inst.results {
                    let new = range_of(&inst.op, &args, inst.args.first().map(|&a| f.ty(a)), f.ty(r));
                    changed |= known[r.0 as usize] != Some(new);
                    known[r.0 as usize] = Some(new);
                }
            }
            for t in f.block(id).term.targets() {
                for (&p, &a) in f.block(t.block).params.iter().zip(&t.args) {
                    let Some(new) = known[a.0 as usize] else { continue };
                    let old = known[p.0 as usize];
                    let mut joined = old.map_or(new, |old| union(old, new));
                    if old != Some(joined) && round >= ROUNDS {
                        joined = Range::Any;
                    }
                    changed |= old != Some(joined);
                    known[p.0 as usize] = Some(joined);
                }
            }
        }
        if !changed {
            break;
        }
    }
    known
}

fn range_of(op: &Op, args: &[Range], operand: Option<Type>, ty: Type) -> Range {
    use Range::{Any, Float, Integer};
    let int = |i: usize| integer(args[i], operand.unwrap_or(ty));
    match op {
        Op::Const(Const::I32(i)) => Integer(i64::from(*i), i64::from(*i)),
        Op::Const(Const::U32(u)) => Integer(i64::from(*u), i64::from(*u)),
        Op::Const(Const::F32(x)) if x.is_finite() => Float(f64::from(*x), f64::from(*x)),
        Op::Max => match (args[0], args[1]) {
            (Float(a, b), Float(c, d)) => Float(a.max(c), b.max(d)),
            // Of a NaN as the first operand too: the comparison with it is false, so it stays, and
            // `to_int` makes 0 of it, which `ToInt` adds.
            (Float(low, _), Any) | (Any, Float(low, _)) => Float(low, f64::INFINITY),
            _ => Any,
        },
        Op::Min => match (args[0], args[1]) {
            (Float(a, b), Float(c, d)) => Float(a.min(c), b.min(d)),
            (Float(_, high), Any) | (Any, Float(_, high)) => Float(f64::NEG_INFINITY, high),
            _ => Any,
        },
        Op::Sat | Op::Frac => Float(0.0, 1.0),
        Op::Select => union(args[1], args[2]),
        Op::ToInt => match args[0] {
            Float(low, high) => {
                let (least, most) = full(ty);
                let cut = |x: f64| (x.clamp(least as f64, most as f64).trunc() as i64).clamp(least, most);
                Integer(cut(low).min(0), cut(high).max(0))
            }
            _ => Integer(full(ty).0, full(ty).1),
        },
        Op::ToFloat => {
            let (low, high) = int(0);
            // The conversion rounds.
            Float((low as f32).into(), (high as f32).into())
        }
        Op::Mul => match (args[0], args[1]) {
            (Float(a, b), Float(c, d)) => {
                let all = [a * c, a * d, b * c, b * d];
                match all.iter().all(|x| x.is_finite()) {
                    true => {
                        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
                        Float((low as f32).into(), (high as f32).into())
                    }
                    false => Any,
                }
            }
            _ => Any,
        },
        _ if !ty.is_integer() => Any,
        Op::IAdd => fitting(int(0).0 + int(1).0, int(0).1 + int(1).1, ty),
        Op::ISub => fitting(int(0).0 - int(1).1, int(0).1 - int(1).0, ty),
        Op::IMul => {
            let ((a, b), (c, d)) = (int(0), int(1));
            let all = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y): (i64, i64)| x.saturating_mul(y));
            fitting(all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0), ty)
        }
        Op::IAnd => {
            let bounds = [int(0), int(1)];
            let positive = bounds.iter().filter(|(low, _)| *low >= 0).map(|(_, high)| *high).min();
            positive.map_or(fitting(full(ty).0, full(ty).1, ty), |high| Integer(0, high))
        }
        Op::IOr | Op::IXor => {
            let bounds = [int(0), int(1)];
            let least = |(low, high): (i64, i64)| high.max(-(low + 1)).max(0) as u64;
            let bits = 64 - bounds.map(least).into_iter().max().unwrap_or(0).leading_zeros();
            let most = (1i64 << bits) - 1;
            let low = if bounds.iter().any(|(low, _)| *low < 0) { -most - 1 } else { 0 };
            fitting(low, most, ty)
        }
        Op::IShl => match int(1) {
            (by, to) if by == to && (0..32).contains(&by) => {
                fitting(int(0).0.saturating_mul(1 << by), int(0).1.saturating_mul(1 << by), ty)
            }
            _ => fitting(full(ty).0, full(ty).1, ty),
        },
        Op::IShr => match int(1) {
            (by, to) if by == to && (0..32).contains(&by) => Integer(int(0).0 >> by, int(0).1 >> by),
            _ => {
                let (low, high) = int(0);
                Integer(low.min(0), high.max(0))
            }
        },
        Op::Bitcast if operand.is_some_and(Type::is_integer) => {
            let (low, high) = int(0);
            fitting(low, high, ty)
        }
        _ => Integer(full(ty).0, full(ty).1),
    }
}

/// All bits up to the uppermost one.
fn low_bits(mask: u32) -> u32 {
    if mask == 0 { 0 } else { u32::MAX >> mask.leading_zeros() }
}

/// The bits of each value on which something depends. They always reach down to the lowest.
fn needed_bits(f: &Function, flow: &Flow) -> Vec<u32> {
    let constants = constants(f);
    let known = |v: Value| constants[v.0 as usize];
    let mut needed = vec![0u32; f.values.len()];
    loop {
        let mut changed = false;
        let mut need = |needed: &mut Vec<u32>, v: Value, bits: u32| {
            let old = needed[v.0 as usize];
            needed[v.0 as usize] |= low_bits(bits);
            changed |= old != needed[v.0 as usize];
        };
        for &id in flow.order.iter().rev() {
            let block = f.block(id);
            for t in block.term.targets() {
                for (&p, &a) in f.block(t.block).params.iter().zip(&t.args) {
                    let bits = needed[p.0 as usize];
                    need(&mut needed, a, bits);
                }
            }
            match &block.term {
                shadewright_ir::Terminator::Branch(c, ..) => need(&mut needed, *c, u32::MAX),
                shadewright_ir::Terminator::Return(values) => {
                    values.iter().for_each(|&v| need(&mut needed, v, u32::MAX));
                }
                shadewright_ir::Terminator::Jump(_) => {}
            }
            for inst in block.insts.iter().rev() {
                let of_result = inst.results.first().map_or(u32::MAX, |r| needed[r.0 as usize]);
                let is_integer = inst.results.first().is_some_and(|&r| f.ty(r).is_integer());
                match (&inst.op, &inst.args[..]) {
                    (Op::IAdd | Op::ISub | Op::IMul | Op::IOr | Op::IXor, &[a, b]) => {
                        need(&mut needed, a, of_result);
                        need(&mut needed, b, of_result);
                    }
                    (Op::IAnd, &[a, b]) => {
                        need(&mut needed, a, of_result & known(b).unwrap_or(u32::MAX));
                        need(&mut needed, b, of_result & known(a).unwrap_or(u32::MAX));
                    }
                    (Op::IShl | Op::IShr, &[a, b]) => {
                        need(&mut needed, b, u32::MAX);
                        let bits = match known(b).map(|by| by & 31) {
                            Some(by) if inst.op == Op::IShl => of_result >> by,
                            // The sign comes in from above.
                            Some(by) if of_result.leading_zeros() >= by => of_result << by,
                            _ if of_result == 0 => 0,
                            _ => u32::MAX,
                        };
                        need(&mut needed, a, bits);
                    }
                    (Op::Select, &[c, a, b]) => {
                        need(&mut needed, c, u32::MAX);
                        need(&mut needed, a, of_result);
                        need(&mut needed, b, of_result);
                    }
                    (Op::Bitcast, &[a]) if is_integer && f.ty(a).is_integer() => need(&mut needed, a, of_result),
                    _ => inst.args.iter().for_each(|&a| need(&mut needed, a, u32::MAX)),
                }
            }
        }
        if !changed {
            return needed;
        }
    }
}

fn constants(f: &Function) -> Vec<Option<u32>> {
    let mut constants = vec![None; f.values.len()];
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        if let (Op::Const(c), [r]) = (&inst.op, &inst.results[..]) {
            constants[r.0 as usize] = c.bits().first().copied().filter(|_| c.ty().words() == 1);
        }
    }
    constants
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::parse;

    fn bytes_and_signs(text: &str) -> Vec<(u8, bool)> {
        let f = parse(text, FileId(0)).expect("IR").functions.remove(0);
        widths(&f, &Flow::new(&f)).into_iter().map(|w| (w.bytes, w.signed)).collect()
    }

    #[test]
    fn numbers_that_were_clamped_or_cut_take_their_bytes() {
        let found = bytes_and_signs(
            "fn f(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = const 0.0
  v2: f32 = const 255.0
  v3: f32 = max v0, v1
  v4: f32 = min v3, v2
  v5: u32 = to_int v4
  v6: u32 = iadd v5, v5
  v7: i32 = bitcast v6
  v8: i32 = const 24
  v9: i32 = ishl v7, v8
  v10: i32 = ishr v9, v8
  v11: f32 = to_float v10
  ret v11
}",
        );
        // A byte; of the sum the lower eight bits are needed, which are a number with a sign.
        assert_eq!(found[5], (1, false));
        assert_eq!((found[6], found[7].0), ((1, false), 1));
        assert_eq!(found[10], (1, true));
    }

    #[test]
    fn only_bits_that_are_used_are_kept() {
        let found = bytes_and_signs(
            "fn f(v0 x: u32, v1 y: u32) -> (r: u32) {
b0:
  v2: u32 = imul v0, v1
  v3: u32 = const 255
  v4: u32 = iand v2, v3
  ret v4
}",
        );
        assert_eq!((found[2].0, found[4].0, found[0].0), (1, 1, 1));
    }

    #[test]
    fn a_counter_without_a_bound_takes_all_bytes() {
        let found = bytes_and_signs(
            "fn f(v0 n: u32) -> (r: u32) {
b0:
  v1: u32 = const 0
  v2: u32 = const 1
  jump b1(v1)
b1(v3: u32):
  v4: u32 = iadd v3, v2
  v5: bool = ilt v4, v0
  br v5, b1(v4), b2
b2:
  ret v4
}",
        );
        assert_eq!(found[3].0, 4);
    }
}
