//! Arithmetic on blocks: the machine's hot loop.
//!
//! Every operation is written once, for eight lanes, and compiled twice: for the baseline processor and for AVX2. Both give the
//! same bits: nothing is fused, and every step rounds as IEEE single. AVX2 is worth its one `unsafe` call: straight-line shading (the arithmetic
//! of §12.2's listing, repeated) takes 58 ns an instruction for 64 lanes with it and 70 ns without, CPU time on one core of a busy Xeon.
//!
//! An operation is a function of one lane, modifiers included, written out for the lanes of a group: this is what LLVM turns into vector
//! instructions. (Chains of loops over groups it did not: `mad` took six times as long that way.)

use super::decode::{DecodedArith, Modify, Operand, Place, Test, column};
use super::isa::{Component, Multiplier, Op, Ranges, SpecialOp};
use super::lanes::{BLOCK, Column, GROUP, GROUPS, Lanes, each_lane};

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

    /// The same as floats, into an array.
    pub fn read_floats(&self, operand: &Operand, position: usize, to: &mut [f32; BLOCK]) {
        let (from, wrap) = self.source(0, operand, position);
        for (k, to) in to.chunks_exact_mut(GROUP).enumerate() {
            let lanes = from.group(k, wrap);
            to.iter_mut().zip(lanes.0).for_each(|(to, bits)| *to = f32::from_bits(multiply(bits, operand.multiplier)));
        }
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
        (false, true) => &r.file[usize::from(column::SUM)],
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
        for c in Component::ALL {
            if instr.needed.contains(c) {
                write(result(c), active, |k| {
                    let lanes = result(c).group(k, GROUPS - 1);
                    lanes.map_float(|x| if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 })
                });
            }
        }
    }
    if let Some(special) = instr.special {
        let w = result(Component::W);
        let value = &r.file[usize::from(column::FUNCTION)];
        match special {
            SpecialOp::Rcp => write(value, active, |k| w.group(k, GROUPS - 1).map_float(|x| 1.0 / x)),
            SpecialOp::Rsq => write(value, active, |k| w.group(k, GROUPS - 1).map_float(|x| 1.0 / x.sqrt())),
        }
        for c in Component::ALL {
            if instr.mask.contains(c) {
                let to = &r.file[usize::from(column::SPECIAL) + c.index()];
                write(to, active, |k| value.group(k, GROUPS - 1));
            }
        }
    }
    for c in Component::ALL {
        if instr.mask.contains(c) {
            write(&r.file[dst + c.index()], active, |k| result(c).group(k, GROUPS - 1));
        }
    }
}

/// Computes the needed components of the result, for the destination or the result columns.
#[inline(always)]
fn compute(r: Registers<'_>, instr: &DecodedArith, active: u64, dst: usize) {
    let float = f32::from_bits;
    let order = |ordering: std::cmp::Ordering| ordering as i32 as u32;
    let at = Target { r, instr, active, first: if instr.direct { dst } else { usize::from(column::RESULT) } };
    match instr.op {
        Op::Mov => floats1(at, |a| a),
        Op::Frac => floats1(at, |a| (float(a) - float(a).floor()).to_bits()),
        Op::Add => floats2(at, |a, b| (float(a) + float(b)).to_bits()),
        Op::Mul => floats2(at, |a, b| (float(a) * float(b)).to_bits()),
        Op::Mad => floats3(at, |a, b, c| (float(a) * float(b) + float(c)).to_bits()),
        Op::Dp2h => dot!(at, [0 X a, 1 X b, 0 Y c, 1 Y d, 0 Z e], a * b + c * d + e),
        Op::Dp3 => dot!(at, [0 X a, 1 X b, 0 Y c, 1 Y d, 0 Z e, 1 Z f], a * b + c * d + e * f),
        Op::Dp3h => dot!(at, [0 X a, 1 X b, 0 Y c, 1 Y d, 0 Z e, 1 Z f, 0 W g], a * b + c * d + e * f + g),
        Op::Dp4 => {
            dot!(at, [0 X a, 1 X b, 0 Y c, 1 Y d, 0 Z e, 1 Z f, 0 W g, 1 W h], a * b + c * d + e * f + g * h);
        }
        Op::Iadd => integers2(at, u32::wrapping_add),
        Op::Imul => integers2(at, u32::wrapping_mul),
        Op::Iand => integers2(at, |a, b| a & b),
        Op::Ior => integers2(at, |a, b| a | b),
        Op::Ixor => integers2(at, |a, b| a ^ b),
        Op::Ishl => integers2(at, |a, b| a << (b & 31)),
        Op::Ishr => integers2(at, |a, b| a >> (b & 31)),
        Op::Iasr => integers2(at, |a, b| (a as i32 >> (b & 31)) as u32),
        Op::Icmp => integers2(at, |a, b| order((a as i32).cmp(&(b as i32)))),
        Op::Ucmp => integers2(at, |a, b| order(a.cmp(&b))),
        Op::Ftoi => floats1(at, |a| float(a) as i32 as u32),
        Op::Ftou => floats1(at, |a| float(a) as u32),
        Op::Itof => integers1(at, |a| (a as i32 as f32).to_bits()),
        Op::Utof => integers1(at, |a| (a as f32).to_bits()),
    }
}

/// What a computation needs besides its function of one lane.
#[derive(Clone, Copy)]
struct Target<'a> {
    r: Registers<'a>,
    instr: &'a DecodedArith,
    active: u64,
    /// The first column that the result goes to.
    first: usize,
}

impl<'a> Target<'a> {
    #[inline(always)]
    fn source(&self, slot: usize, c: Component) -> Source<'a> {
        self.r.source(slot, &self.instr.src[slot], c.index())
    }

    /// The result's column for a component.
    #[inline(always)]
    fn result(&self, c: Component) -> &'a Column {
        &self.r.file[self.first + c.index()]
    }

    #[inline(always)]
    fn modifier(&self, slot: usize) -> Modifier {
        let Multiplier { negate, scale } = self.instr.src[slot].multiplier;
        Modifier { sign: u32::from(negate) << 31, factor: scale.factor(), minus: u32::from(negate) }
    }

    /// Writes what `f` gives for each group to a column, for the active lanes.
    #[inline(always)]
    fn write(&self, to: &Column, f: impl Fn(usize) -> Lanes) {
        write(to, self.active, f);
    }
}

/// Writes what `f` gives for each group to a column, for the active lanes.
#[inline(always)]
fn write(to: &Column, active: u64, f: impl Fn(usize) -> Lanes) {
    // One call of `f`: with two, LLVM leaves some functions out of line, compiled for the baseline processor.
    for k in 0..GROUPS {
        let bits = (active >> (GROUP * k)) as u8;
        if bits != 0 {
            to.write_group(k, f(k), bits);
        }
    }
}

/// A source's multiplier in the form in which it is applied.
#[derive(Clone, Copy)]
struct Modifier {
    sign: u32,
    factor: f32,
    /// 1 to negate an integer.
    minus: u32,
}

impl Modifier {
    #[inline(always)]
    fn flip(self, bits: u32) -> u32 {
        bits ^ self.sign
    }

    #[inline(always)]
    fn scale(self, bits: u32) -> u32 {
        (f32::from_bits(bits ^ self.sign) * self.factor).to_bits()
    }

    /// Two's complement: −x is the inverse of x, plus 1.
    #[inline(always)]
    fn negate(self, bits: u32) -> u32 {
        (bits ^ 0u32.wrapping_sub(self.minus)).wrapping_add(self.minus)
    }
}

#[inline(always)]
fn floats1(at: Target<'_>, f: impl Fn(u32) -> u32) {
    let m = at.modifier(0);
    match at.instr.modify {
        Modify::Sign => zip1(at, |a| f(m.flip(a))),
        Modify::Scale => zip1(at, |a| f(m.scale(a))),
        Modify::Nothing | Modify::Negate => zip1(at, f),
    }
}

#[inline(always)]
fn floats2(at: Target<'_>, f: impl Fn(u32, u32) -> u32) {
    let (m, n) = (at.modifier(0), at.modifier(1));
    match at.instr.modify {
        Modify::Sign => zip2(at, |a, b| f(m.flip(a), n.flip(b))),
        Modify::Scale => zip2(at, |a, b| f(m.scale(a), n.scale(b))),
        Modify::Nothing | Modify::Negate => zip2(at, f),
    }
}

#[inline(always)]
fn floats3(at: Target<'_>, f: impl Fn(u32, u32, u32) -> u32) {
    let (m, n, o) = (at.modifier(0), at.modifier(1), at.modifier(2));
    match at.instr.modify {
        Modify::Sign => zip3(at, |a, b, c| f(m.flip(a), n.flip(b), o.flip(c))),
        Modify::Scale => zip3(at, |a, b, c| f(m.scale(a), n.scale(b), o.scale(c))),
        Modify::Nothing | Modify::Negate => zip3(at, f),
    }
}

#[inline(always)]
fn integers1(at: Target<'_>, f: impl Fn(u32) -> u32) {
    let m = at.modifier(0);
    zip1(at, |a| f(m.negate(a)));
}

#[inline(always)]
fn integers2(at: Target<'_>, f: impl Fn(u32, u32) -> u32) {
    let (m, n) = (at.modifier(0), at.modifier(1));
    zip2(at, |a, b| f(m.negate(a), n.negate(b)));
}

/// Each needed component of the result from the same component of one source.
#[inline(always)]
fn zip1(at: Target<'_>, f: impl Fn(u32) -> u32) {
    for c in Component::ALL {
        if !at.instr.needed.contains(c) {
            continue;
        }
        let (a, wrap) = at.source(0, c);
        at.write(at.result(c), |k| a.group(k, wrap).map(&f));
    }
}

/// The same with two sources.
#[inline(always)]
fn zip2(at: Target<'_>, f: impl Fn(u32, u32) -> u32) {
    for c in Component::ALL {
        if !at.instr.needed.contains(c) {
            continue;
        }
        let ((a, wrap_a), (b, wrap_b)) = (at.source(0, c), at.source(1, c));
        at.write(at.result(c), |k| {
            let (a, b) = (a.group(k, wrap_a), b.group(k, wrap_b));
            each_lane!(i => f(a.0[i], b.0[i]))
        });
    }
}

/// The same with three sources.
#[inline(always)]
fn zip3(at: Target<'_>, f: impl Fn(u32, u32, u32) -> u32) {
    for component in Component::ALL {
        if !at.instr.needed.contains(component) {
            continue;
        }
        let (a, wrap_a) = at.source(0, component);
        let (b, wrap_b) = at.source(1, component);
        let (c, wrap_c) = at.source(2, component);
        at.write(at.result(component), |k| {
            let (a, b, c) = (a.group(k, wrap_a), b.group(k, wrap_b), c.group(k, wrap_c));
            each_lane!(i => f(a.0[i], b.0[i], c.0[i]))
        });
    }
}

/// A dot product: an expression of components of the two sources, into the column for sums, and from there to the destination.
macro_rules! dot {
    ($at:expr, [$($slot:literal $component:ident $name:ident),*], $sum:expr) => {{
        let at: Target<'_> = $at;
        $(let $name = at.source($slot, Component::$component);)*
        let to = &at.r.file[usize::from(column::SUM)];
        if at.instr.modify == Modify::Nothing {
            at.write(to, |k| {
                $(let $name = $name.0.group(k, $name.1);)*
                each_lane!(i => { $(let $name = f32::from_bits($name.0[i]);)* f32::to_bits($sum) })
            });
        } else {
            let modifiers = [at.modifier(0), at.modifier(1)];
            at.write(to, |k| {
                $(let $name = $name.0.group(k, $name.1);)*
                each_lane!(i => {
                    $(let $name = f32::from_bits(modifiers[$slot].scale($name.0[i]));)*
                    f32::to_bits($sum)
                })
            });
        }
        if at.instr.direct {
            for c in Component::ALL {
                if at.instr.mask.contains(c) {
                    at.write(at.result(c), |k| to.group(k, GROUPS - 1));
                }
            }
        }
    }};
}
use dot;

/// The active lanes for which a condition holds.
#[inline(always)]
fn passes<'a>(test: Test, active: u64, result: impl Fn(Component) -> &'a Column) -> u64 {
    let mut passed = if test.all { active } else { 0 };
    for c in Component::ALL {
        if !test.mask.contains(c) {
            continue;
        }
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
    let mut all = 0;
    for k in 0..GROUPS {
        let inside = column.group(k, GROUPS - 1).map(|bits| u32::from(f(bits)));
        all |= u64::from(inside.nonzero()) << (GROUP * k);
    }
    all
}
