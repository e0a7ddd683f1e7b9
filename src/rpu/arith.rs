//! Arithmetic on blocks: the machine's hot loop.
//!
//! Every operation is written once, for eight lanes, and compiled twice: for the baseline processor and for AVX2. Both give the
//! same bits: nothing is fused, and every step rounds as IEEE single.

use super::decode::{DecodedArith, Modify, Operand, Place, Test, column};
use super::isa::{Component, Mask, Multiplier, Op, Ranges, SpecialOp};
use super::lanes::{Column, GROUP, GROUPS, Lanes, groups_of};
use std::array;

/// The registers that an instruction sees.
#[derive(Clone, Copy)]
pub(super) struct Registers<'a> {
    /// All columns of the block.
    pub file: &'a [Column],
    /// `C0.x` to `C31.w`.
    pub constants: &'a [u32; 128],
    /// Columns between the bottoms of the stack and of the window.
    pub window: usize,
}

/// A column to read, and the wrap of its group number (see [`Column::group`]).
type Source<'a> = (&'a Column, usize);

impl<'a> Registers<'a> {
    /// The column that a position of a source takes. Constants and literals are put into the column for uniform values
    /// that belongs to `slot` (0 to 2) and the position.
    #[inline(always)]
    pub fn source(&self, slot: usize, operand: &Operand, position: usize) -> Source<'a> {
        match operand.place {
            Place::Columns(columns) => (&self.file[usize::from(columns[position])], GROUPS - 1),
            Place::Stack(columns) => (&self.file[usize::from(columns[position]) + self.window], GROUPS - 1),
            Place::Constants(indices) => self.uniform(slot, position, self.constants[usize::from(indices[position])]),
            Place::Literal(bits) => self.uniform(slot, position, bits),
        }
    }

    #[inline(always)]
    fn uniform(&self, slot: usize, position: usize, bits: u32) -> Source<'a> {
        let column = &self.file[usize::from(column::UNIFORM) + 4 * slot + position];
        column.set_group(0, Lanes::splat(bits));
        (column, 0)
    }

    /// A source's component for all lanes, its multiplier applied to it as a float.
    pub fn read(&self, operand: &Operand, position: usize) -> Column {
        let (from, wrap) = self.source(0, operand, position);
        let out = Column::zero();
        for k in 0..GROUPS {
            out.set_group(k, from.group(k, wrap).map(|bits| multiply(bits, operand.multiplier)));
        }
        out
    }
}

/// A bit pattern as a float times a factor; ±1 touch at most the sign bit.
#[inline(always)]
fn multiply(bits: u32, multiplier: Multiplier) -> u32 {
    let bits = bits ^ sign(multiplier);
    if multiplier.scale.factor() == 1.0 { bits } else { (f32::from_bits(bits) * multiplier.scale.factor()).to_bits() }
}

#[inline(always)]
fn sign(multiplier: Multiplier) -> u32 {
    u32::from(multiplier.negate) << 31
}

/// Which instructions of the processor to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Simd {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Simd {
    /// The best that this processor has.
    pub fn detect() -> Simd {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Simd::Avx2;
        }
        Simd::Baseline
    }
}

/// Executes an instruction for the lanes in `active`. The result has the bit of each active lane whose condition holds
/// (none without a condition); bits of other lanes are 0.
#[inline]
pub(super) fn execute(simd: Simd, registers: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    match simd {
        Simd::Baseline => execute_lanes(registers, instr, active),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Simd::Avx2` is made by `Simd::detect` only, where the processor has AVX2.
        Simd::Avx2 => unsafe { execute_avx2(registers, instr, active) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn execute_avx2(registers: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    execute_lanes(registers, instr, active)
}

#[inline(always)]
fn execute_lanes(r: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    let dst = usize::from(instr.dst) + if instr.dst_on_stack { r.window } else { 0 };
    let is_dot = matches!(instr.op, Op::Dp2h | Op::Dp3 | Op::Dp3h | Op::Dp4);
    let result = |c: Component| match (instr.direct, is_dot) {
        (true, _) => &r.file[dst + c.index()],
        (false, true) => &r.file[usize::from(column::RESULT)],
        (false, false) => &r.file[usize::from(column::RESULT) + c.index()],
    };
    if !instr.idle {
        compute(r, instr, active, dst);
        if !instr.direct {
            finish(r, instr, active, dst, result);
        }
    }
    instr.test.map_or(0, |test| passes(test, active, result))
}

/// Modifiers and write-back of a result that did not go straight to its destination.
#[inline(always)]
fn finish<'a>(
    r: Registers<'a>,
    instr: &DecodedArith,
    active: u64,
    dst: usize,
    result: impl Fn(Component) -> &'a Column,
) {
    if instr.sat {
        // A dot product's one column is clamped again for each component, which changes nothing.
        for c in instr.needed.components() {
            for (k, _) in groups_of(active) {
                let lanes = result(c).group(k, GROUPS - 1);
                result(c).set_group(k, lanes.map_float(|x| if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }));
            }
        }
    }
    if let Some(special) = instr.special {
        let w = result(Component::W);
        for (k, bits) in groups_of(active) {
            let lanes = w.group(k, GROUPS - 1);
            let value = match special {
                SpecialOp::Rcp => lanes.map_float(|x| 1.0 / x),
                SpecialOp::Rsq => lanes.map_float(|x| 1.0 / x.sqrt()),
            };
            for c in instr.mask.components() {
                r.file[usize::from(column::SPECIAL) + c.index()].write_group(k, value, bits);
            }
        }
    }
    for c in instr.mask.components() {
        r.file[dst + c.index()].copy_from(result(c), active);
    }
}

/// Computes the needed components of the result, for the destination or the result columns.
#[inline(always)]
fn compute(r: Registers<'_>, instr: &DecodedArith, active: u64, dst: usize) {
    use std::cmp::Ordering;
    let order = |ordering: Ordering| ordering as i32 as u32;
    match instr.op {
        Op::Mov => floats(r, instr, active, dst, |[a]| a),
        Op::Frac => floats(r, instr, active, dst, |[a]| float1(a, |a| a - a.floor())),
        Op::Add => floats(r, instr, active, dst, |[a, b]| float2(a, b, |a, b| a + b)),
        Op::Mul => floats(r, instr, active, dst, |[a, b]| float2(a, b, |a, b| a * b)),
        Op::Mad => floats(r, instr, active, dst, |[a, b, c]| float2(float2(a, b, |a, b| a * b), c, |p, c| p + c)),
        Op::Dp2h => dot(r, instr, active, dst, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]),
        Op::Dp3 => dot(r, instr, active, dst, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]),
        Op::Dp3h => dot(r, instr, active, dst, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3)]),
        Op::Dp4 => dot(r, instr, active, dst, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]),
        Op::Iadd => integers(r, instr, active, dst, |a, b| a.wrapping_add(b)),
        Op::Imul => integers(r, instr, active, dst, |a, b| a.wrapping_mul(b)),
        Op::Iand => integers(r, instr, active, dst, |a, b| a & b),
        Op::Ior => integers(r, instr, active, dst, |a, b| a | b),
        Op::Ixor => integers(r, instr, active, dst, |a, b| a ^ b),
        Op::Ishl => integers(r, instr, active, dst, |a, b| a << (b & 31)),
        Op::Ishr => integers(r, instr, active, dst, |a, b| a >> (b & 31)),
        Op::Iasr => integers(r, instr, active, dst, |a, b| (a as i32 >> (b & 31)) as u32),
        Op::Icmp => integers(r, instr, active, dst, |a, b| order((a as i32).cmp(&(b as i32)))),
        Op::Ucmp => integers(r, instr, active, dst, |a, b| order(a.cmp(&b))),
        Op::Ftoi => floats(r, instr, active, dst, |[a]| a.map(|bits| f32::from_bits(bits) as i32 as u32)),
        Op::Ftou => floats(r, instr, active, dst, |[a]| a.map(|bits| f32::from_bits(bits) as u32)),
        Op::Itof => integer1(r, instr, active, dst, |bits| (bits as i32 as f32).to_bits()),
        Op::Utof => integer1(r, instr, active, dst, |bits| (bits as f32).to_bits()),
    }
}

#[inline(always)]
fn float1(a: Lanes, f: impl Fn(f32) -> f32) -> Lanes {
    a.map_float(f)
}

#[inline(always)]
fn float2(a: Lanes, b: Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    Lanes(array::from_fn(|i| f(f32::from_bits(a.0[i]), f32::from_bits(b.0[i])).to_bits()))
}

/// Component by component, the multipliers applied to floats.
#[inline(always)]
fn floats<const A: usize>(
    r: Registers<'_>,
    instr: &DecodedArith,
    active: u64,
    dst: usize,
    f: impl Fn([Lanes; A]) -> Lanes + Copy,
) {
    let signs: [u32; A] = array::from_fn(|a| sign(instr.src[a].multiplier));
    match instr.modify {
        Modify::Nothing | Modify::Negate => by_count(r, instr, active, dst, f),
        Modify::Sign => {
            by_count(r, instr, active, dst, |args: [Lanes; A]| {
                f(array::from_fn(|a| args[a].map(|bits| bits ^ signs[a])))
            });
        }
        Modify::Scale => {
            let factors: [f32; A] = array::from_fn(|a| instr.src[a].multiplier.scale.factor());
            by_count(r, instr, active, dst, |args: [Lanes; A]| {
                f(array::from_fn(|a| args[a].map(|bits| bits ^ signs[a]).map_float(|x| x * factors[a])))
            });
        }
    }
}

/// An operation on two integers in `w`, which may be negated.
#[inline(always)]
fn integers(r: Registers<'_>, instr: &DecodedArith, active: u64, dst: usize, f: impl Fn(u32, u32) -> u32 + Copy) {
    let zip = |a: Lanes, b: Lanes| Lanes(array::from_fn(|i| f(a.0[i], b.0[i])));
    match instr.modify {
        Modify::Negate => {
            let [a, b] = [0, 1].map(|s| instr.src[s].multiplier.negate);
            by_positions(r, instr, active, dst, [3], |[x, y]| zip(negate(x, a), negate(y, b)));
        }
        _ => by_positions(r, instr, active, dst, [3], |[x, y]| zip(x, y)),
    }
}

/// An operation on one integer in `w`, which may be negated.
#[inline(always)]
fn integer1(r: Registers<'_>, instr: &DecodedArith, active: u64, dst: usize, f: impl Fn(u32) -> u32 + Copy) {
    let minus = instr.src[0].multiplier.negate;
    by_positions(r, instr, active, dst, [3], |[x]| negate(x, minus).map(f));
}

#[inline(always)]
fn negate(x: Lanes, minus: bool) -> Lanes {
    if minus { x.map(u32::wrapping_neg) } else { x }
}

#[inline(always)]
fn by_count<const A: usize>(
    r: Registers<'_>,
    instr: &DecodedArith,
    active: u64,
    dst: usize,
    f: impl Fn([Lanes; A]) -> Lanes,
) {
    match instr.needed.bits() {
        0b0001 => by_positions(r, instr, active, dst, [0], f),
        0b0010 => by_positions(r, instr, active, dst, [1], f),
        0b0100 => by_positions(r, instr, active, dst, [2], f),
        0b1000 => by_positions(r, instr, active, dst, [3], f),
        0b0111 => by_positions(r, instr, active, dst, [0, 1, 2], f),
        0b1111 => by_positions(r, instr, active, dst, [0, 1, 2, 3], f),
        _ => {
            let needed = instr.needed;
            let mut positions = needed.components().map(Component::index);
            let mut next = || positions.next().unwrap_or(0);
            match needed.len() {
                2 => by_positions(r, instr, active, dst, [next(), next()], f),
                _ => by_positions(r, instr, active, dst, [next(), next(), next()], f),
            }
        }
    }
}

/// Computes the components at the given positions, each from the sources' components there.
#[inline(always)]
fn by_positions<const A: usize, const N: usize>(
    r: Registers<'_>,
    instr: &DecodedArith,
    active: u64,
    dst: usize,
    positions: [usize; N],
    f: impl Fn([Lanes; A]) -> Lanes,
) {
    let sources: [[Source<'_>; A]; N] = positions.map(|p| array::from_fn(|a| r.source(a, &instr.src[a], p)));
    let first = if instr.direct { dst } else { usize::from(column::RESULT) };
    let targets: [&Column; N] = positions.map(|p| &r.file[first + p]);
    for k in 0..GROUPS {
        let bits = (active >> (GROUP * k)) as u8;
        if bits == 0 {
            continue;
        }
        // All of a group is read before any is written: source and destination may be the same register.
        let results: [Lanes; N] = array::from_fn(|n| f(array::from_fn(|a| sources[n][a].0.group(k, sources[n][a].1))));
        for n in 0..N {
            targets[n].write_group(k, results[n], bits);
        }
    }
}

/// A dot product. `factors` lists (source, component) in the order of the products; a last one without a partner is added.
#[inline(always)]
fn dot<const F: usize>(r: Registers<'_>, instr: &DecodedArith, active: u64, dst: usize, factors: [(usize, usize); F]) {
    let sources: [Source<'_>; F] = factors.map(|(s, p)| r.source(s, &instr.src[s], p));
    let signs = factors.map(|(s, _)| sign(instr.src[s].multiplier));
    let scales = factors.map(|(s, _)| instr.src[s].multiplier.scale.factor());
    let plain = instr.modify == Modify::Nothing;
    let mask = if instr.direct { instr.mask } else { Mask::from_bits(1) };
    let first = if instr.direct { dst } else { usize::from(column::RESULT) };
    for (k, bits) in groups_of(active) {
        let args: [Lanes; F] = array::from_fn(|i| {
            let lanes = sources[i].0.group(k, sources[i].1);
            if plain { lanes } else { lanes.map(|bits| bits ^ signs[i]).map_float(|x| x * scales[i]) }
        });
        let mut sum = float2(args[0], args[1], |a, b| a * b);
        for pair in args[2..].chunks(2) {
            sum = match *pair {
                [a, b] => float2(sum, float2(a, b, |a, b| a * b), |s, p| s + p),
                [a] => float2(sum, a, |s, a| s + a),
                _ => sum,
            };
        }
        for c in mask.components() {
            r.file[first + c.index()].write_group(k, sum, bits);
        }
    }
}

/// The active lanes for which a condition holds.
#[inline(always)]
fn passes<'a>(test: Test, active: u64, result: impl Fn(Component) -> &'a Column) -> u64 {
    let mut passed = if test.all { active } else { 0 };
    for c in test.mask.components() {
        let column = result(c);
        let inside = if test.integer {
            integers_in(column, test.ranges)
        } else if test.ranges == Ranges::NOT_NEGATIVE.bits() {
            floats_where(column, |x| x >= 0.0)
        } else if test.ranges == Ranges::NEGATIVE.bits() {
            floats_where(column, |x| x < 0.0)
        } else if test.ranges == Ranges::ANY_NUMBER.bits() {
            floats_where(column, |x| !x.is_nan())
        } else {
            let part = |bit: u8| test.ranges & bit != 0;
            let [negative, zero, middle, high] = [part(1), part(2), part(4), part(8)];
            floats_where(column, |x| {
                (negative & (x < 0.0)) | (zero & (x == 0.0)) | (middle & (x > 0.0) & (x < 1.0)) | (high & (x >= 1.0))
            })
        };
        passed = if test.all { passed & inside } else { passed | inside };
    }
    passed & active
}

#[inline(always)]
fn floats_where(column: &Column, f: impl Fn(f32) -> bool) -> u64 {
    bits_where(column, |bits| f(f32::from_bits(bits)))
}

#[inline(always)]
fn integers_in(column: &Column, ranges: u8) -> u64 {
    let [negative, zero, high] = [1, 2, 8].map(|bit| ranges & bit != 0);
    bits_where(column, |bits| {
        let x = bits as i32;
        (negative & (x < 0)) | (zero & (x == 0)) | (high & (x > 0))
    })
}

#[inline(always)]
fn bits_where(column: &Column, f: impl Fn(u32) -> bool) -> u64 {
    (0..GROUPS).fold(0, |all, k| {
        let inside = column.group(k, GROUPS - 1).map(|bits| u32::from(f(bits)));
        all | u64::from(inside.nonzero()) << (GROUP * k)
    })
}
