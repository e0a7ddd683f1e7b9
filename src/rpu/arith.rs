//! Arithmetic on blocks: the machine's hot loop.
//!
//! Every operation is written once, for the lanes of a group and for any [`Number`], and compiled for each way to do it: in single precision
//! for the baseline processor, for AVX2 and for AVX-512 (see [`super::simd`]), and in the 24-bit format for the baseline processor. In single
//! precision all give the same bits: nothing is fused, and every step rounds as IEEE single.
//! `bench rpu` measures what the two `unsafe` calls are worth.
//!
//! An operation is a function of one lane, modifiers included, written out for the lanes of a group: this is what LLVM turns into vector
//! instructions. (Chains of loops over groups it did not: `mad` took six times as long that way.) Nothing here may stay a call,
//! such as `map` of an array and adapters of iterators do: it would be compiled for the baseline processor. Two such calls an instruction
//! cost a third of the speed of `assets/scenes/noise.rib`.

use super::decode::{DecodedArith, Modify, Operand, Place, Test, column};
use super::format::{F24, Format, Number};
use super::isa::{Component, Mask, Multiplier, Op, Ranges, SpecialOp};
use super::lanes::{BLOCK, Column, GROUP, GROUPS, Lanes, each_lane};
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Engine, Portable, Simd};
use std::marker::PhantomData;

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

impl<'a> Registers<'a> {
    /// Where components of a source are. Constants and literals are put into the columns for uniform values that belong to `slot` (0 to 2):
    /// a source's `positions` there is all that is valid.
    #[inline(always)]
    fn source(&self, slot: usize, operand: &Operand, positions: Mask) -> Operands<'a> {
        let uniform = column::UNIFORM + 4 * slot as u16;
        match operand.place {
            Place::Columns(columns) => Operands { file: self.file, columns },
            Place::Stack(columns) => Operands { file: &self.file[self.window..], columns },
            Place::Constants(indices) => {
                for c in each(positions) {
                    let bits = self.constants[usize::from(indices[c.index()])];
                    self.file[usize::from(uniform) + c.index()].fill(bits);
                }
                Operands { file: self.file, columns: [uniform, uniform + 1, uniform + 2, uniform + 3] }
            }
            Place::Literal(bits) => {
                self.file[usize::from(uniform)].fill(bits);
                Operands { file: self.file, columns: [uniform; 4] }
            }
        }
    }

    /// A source's component for all lanes: a copy, or a float of the format times its multiplier.
    pub fn read(&self, operand: &Operand, position: Component, format: Format) -> Column {
        let out = Column::zero();
        self.copy(operand, position, format, &out, u64::MAX);
        out
    }

    /// The same, to the lanes in `mask` of a column.
    pub fn copy(&self, operand: &Operand, position: Component, format: Format, to: &Column, mask: u64) {
        let from = self.source(0, operand, position.into()).component(position);
        if operand.multiplier == Multiplier::ONE {
            to.copy_from(from, mask);
            return;
        }
        let Multiplier { negate, scale } = operand.multiplier;
        to.write_masked(|lane| format.scaled(from.get(lane), negate, scale.factor()), mask);
    }

    /// A source's component for all lanes as floats of the format, into an array.
    pub fn read_floats(&self, operand: &Operand, position: Component, format: Format, to: &mut [f32; BLOCK]) {
        let from = self.source(0, operand, position.into()).component(position);
        let Multiplier { negate, scale } = operand.multiplier;
        for (k, to) in to.chunks_exact_mut(GROUP).enumerate() {
            let lanes = from.group(k).map(|bits| format.scaled(bits, negate, scale.factor()));
            to.iter_mut().zip(lanes.0).for_each(|(to, bits)| *to = f32::from_bits(bits));
        }
    }
}

/// How arithmetic is done: in which format, and by which instructions of the processor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// In single precision.
    F32(Engine),
    /// In the 24-bit format, by portable code.
    F24,
}

impl Mode {
    /// The number format.
    pub fn format(self) -> Format {
        match self {
            Mode::F32(_) => Format::F32,
            Mode::F24 => Format::F24,
        }
    }
}

/// Executes an instruction for the lanes in `active`. The result has the bit of each active lane whose condition holds
/// (none without a condition); bits of other lanes are 0.
#[inline]
pub(super) fn execute(mode: Mode, registers: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    match mode {
        Mode::F32(Engine::Portable) => execute_lanes::<f32>(Portable, registers, instr, active),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` exists only where the processor has AVX2.
        Mode::F32(Engine::Avx2(simd)) => unsafe { execute_avx2(simd, registers, instr, active) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` exists only where the processor has these parts of AVX-512.
        Mode::F32(Engine::Avx512(simd)) => unsafe { execute_avx512(simd, registers, instr, active) },
        Mode::F24 => execute_lanes::<F24>(Portable, registers, instr, active),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn execute_avx2(simd: Avx2, registers: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    execute_lanes::<f32>(simd, registers, instr, active)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn execute_avx512(simd: Avx512, registers: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    execute_lanes::<f32>(simd, registers, instr, active)
}

#[inline(always)]
fn execute_lanes<N: Number>(simd: impl Simd, r: Registers<'_>, instr: &DecodedArith, active: u64) -> u64 {
    let dst = usize::from(instr.dst) + if instr.dst_on_stack { r.window } else { 0 };
    let at = Target { simd, r, instr, active, dst, numbers: PhantomData::<N> };
    if !instr.idle {
        compute(at);
        finish(at);
    }
    instr.test.map_or(0, |test| passes(at, test))
}

/// Saturation, the special function, and copies of components that were not computed in their place.
#[inline(always)]
fn finish<N: Number>(at: Target<'_, impl Simd, N>) {
    let instr = at.instr;
    if instr.sat {
        for c in each(instr.needed) {
            let result = at.result(c);
            at.write(result, |k| {
                result.group(k).map_float(|x| if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 })
            });
        }
    }
    match instr.special {
        None => {}
        Some(SpecialOp::Rcp) => special(at, |x| N::ONE / x),
        Some(SpecialOp::Rsq) => special(at, |x| N::ONE / x.sqrt()),
    }
    for c in each(instr.aside.intersection(instr.mask)) {
        let result = at.result(c);
        at.write(at.written(c), |k| result.group(k));
    }
}

/// A function of the result's `w`, to the components of `S` in the write mask.
#[inline(always)]
fn special<N: Number>(at: Target<'_, impl Simd, N>, f: impl Fn(N) -> N) {
    let w = at.result(Component::W);
    for k in 0..GROUPS {
        let bits = at.group(k);
        if bits == 0 {
            continue;
        }
        let value = w.group(k).map(|x| f(N::read(x)).bits());
        for c in each(at.instr.mask) {
            at.write_group(&at.r.file[usize::from(column::SPECIAL) + c.index()], k, value, bits);
        }
    }
}

/// Computes the needed components of the result.
#[inline(always)]
fn compute<N: Number>(at: Target<'_, impl Simd, N>) {
    let order = |less: bool, greater: bool| u32::from(greater).wrapping_sub(u32::from(less));
    match at.instr.op {
        Op::Mov if at.instr.is_copy() => zip1(at, |a| a),
        Op::Mov => floats1(at, |a| a),
        Op::Frac => floats1(at, |a| a - a.floor()),
        Op::Add => floats2(at, |a, b| a + b),
        Op::Mul => floats2(at, |a, b| a * b),
        Op::Mad => floats3(at, |a, b, c| a * b + c),
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
        Op::Icmp => integers2(at, |a, b| order((a as i32) < b as i32, a as i32 > b as i32)),
        Op::Ucmp => integers2(at, |a, b| order(a < b, a > b)),
        Op::Ftoi => conversion(at, |lanes| at.simd.to_signed(lanes)),
        Op::Ftou => conversion(at, |lanes| at.simd.to_unsigned(lanes)),
        Op::Itof => integers1(at, |a| N::from_signed(a as i32).bits()),
        Op::Utof => integers1(at, |a| N::from_unsigned(a).bits()),
    }
}

/// What a computation needs besides its function of one lane.
#[derive(Clone, Copy)]
struct Target<'a, S, N> {
    simd: S,
    r: Registers<'a>,
    instr: &'a DecodedArith,
    active: u64,
    /// The destination's first column.
    dst: usize,
    numbers: PhantomData<N>,
}

/// A source: where its components are.
#[derive(Clone, Copy)]
struct Operands<'a> {
    file: &'a [Column],
    columns: [u16; 4],
}

impl<'a> Operands<'a> {
    #[inline(always)]
    fn component(&self, c: Component) -> &'a Column {
        &self.file[usize::from(self.columns[c.index()])]
    }
}

impl<'a, S: Simd, N: Number> Target<'a, S, N> {
    /// A source of the instruction.
    #[inline(always)]
    fn source(&self, slot: usize, positions: Mask) -> Operands<'a> {
        self.r.source(slot, &self.instr.src[slot], positions)
    }

    /// Where a component of the result is computed.
    #[inline(always)]
    fn result(&self, c: Component) -> &'a Column {
        let first = if self.instr.aside.contains(c) { usize::from(column::RESULT) } else { self.dst };
        &self.r.file[first + c.index()]
    }

    /// Where a component of the result goes in the end.
    #[inline(always)]
    fn written(&self, c: Component) -> &'a Column {
        &self.r.file[self.dst + c.index()]
    }

    #[inline(always)]
    fn modifier(&self, slot: usize) -> Modifier {
        let Multiplier { negate, scale } = self.instr.src[slot].multiplier;
        Modifier { sign: u32::from(negate) << 31, factor: scale.factor(), minus: u32::from(negate) }
    }

    /// The active lanes of a group.
    #[inline(always)]
    fn group(&self, k: usize) -> u16 {
        (self.active >> (GROUP * k)) as u16
    }

    /// Writes what `f` gives for each group to a column, for the active lanes.
    #[inline(always)]
    fn write(&self, to: &Column, f: impl Fn(usize) -> Lanes) {
        // One call of `f`: with two, LLVM leaves some functions out of line, compiled for the baseline processor.
        for k in 0..GROUPS {
            let bits = self.group(k);
            if bits != 0 {
                self.write_group(to, k, f(k), bits);
            }
        }
    }

    #[inline(always)]
    fn write_group(&self, to: &Column, k: usize, lanes: Lanes, bits: u16) {
        to.set_group(k, self.simd.select(bits, lanes, to.group(k)));
    }
}

/// The components of a set.
#[inline(always)]
fn each(mask: Mask) -> impl Iterator<Item = Component> {
    let mut rest = mask.bits();
    std::iter::from_fn(move || {
        let c = *Component::ALL.get(rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(c)
    })
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
    fn flip<N: Number>(self, bits: u32) -> N {
        N::read(bits ^ self.sign)
    }

    #[inline(always)]
    fn scale<N: Number>(self, bits: u32) -> N {
        self.flip::<N>(bits).scale(self.factor)
    }

    /// Two's complement: −x is the inverse of x, plus 1.
    #[inline(always)]
    fn negate(self, bits: u32) -> u32 {
        (bits ^ 0u32.wrapping_sub(self.minus)).wrapping_add(self.minus)
    }
}

#[inline(always)]
fn floats1<N: Number>(at: Target<'_, impl Simd, N>, f: impl Fn(N) -> N) {
    let m = at.modifier(0);
    match at.instr.modify {
        Modify::Sign => zip1(at, |a| f(m.flip(a)).bits()),
        Modify::Scale => zip1(at, |a| f(m.scale(a)).bits()),
        Modify::Nothing | Modify::Negate => zip1(at, |a| f(N::read(a)).bits()),
    }
}

#[inline(always)]
fn floats2<N: Number>(at: Target<'_, impl Simd, N>, f: impl Fn(N, N) -> N) {
    let (m, n) = (at.modifier(0), at.modifier(1));
    match at.instr.modify {
        Modify::Sign => zip2(at, |a, b| f(m.flip(a), n.flip(b)).bits()),
        Modify::Scale => zip2(at, |a, b| f(m.scale(a), n.scale(b)).bits()),
        Modify::Nothing | Modify::Negate => zip2(at, |a, b| f(N::read(a), N::read(b)).bits()),
    }
}

#[inline(always)]
fn floats3<N: Number>(at: Target<'_, impl Simd, N>, f: impl Fn(N, N, N) -> N) {
    let (m, n, o) = (at.modifier(0), at.modifier(1), at.modifier(2));
    match at.instr.modify {
        Modify::Sign => zip3(at, |a, b, c| f(m.flip(a), n.flip(b), o.flip(c)).bits()),
        Modify::Scale => zip3(at, |a, b, c| f(m.scale(a), n.scale(b), o.scale(c)).bits()),
        Modify::Nothing | Modify::Negate => zip3(at, |a, b, c| f(N::read(a), N::read(b), N::read(c)).bits()),
    }
}

#[inline(always)]
fn integers1(at: Target<'_, impl Simd, impl Number>, f: impl Fn(u32) -> u32) {
    let m = at.modifier(0);
    zip1(at, |a| f(m.negate(a)));
}

#[inline(always)]
fn integers2(at: Target<'_, impl Simd, impl Number>, f: impl Fn(u32, u32) -> u32) {
    let (m, n) = (at.modifier(0), at.modifier(1));
    zip2(at, |a, b| f(m.negate(a), n.negate(b)));
}

/// Floats to integers, a group at a time.
#[inline(always)]
fn conversion<N: Number>(at: Target<'_, impl Simd, N>, f: impl Fn(Lanes) -> Lanes) {
    let m = at.modifier(0);
    let a = at.source(0, at.instr.needed);
    for component in each(at.instr.needed) {
        let a = a.component(component);
        at.write(at.result(component), |k| f(a.group(k).map(|bits| m.scale::<N>(bits).bits())));
    }
}

/// Each needed component of the result from the same component of one source.
#[inline(always)]
fn zip1(at: Target<'_, impl Simd, impl Number>, f: impl Fn(u32) -> u32) {
    let a = at.source(0, at.instr.needed);
    for component in each(at.instr.needed) {
        let a = a.component(component);
        at.write(at.result(component), |k| a.group(k).map(&f));
    }
}

/// The same with two sources.
#[inline(always)]
fn zip2(at: Target<'_, impl Simd, impl Number>, f: impl Fn(u32, u32) -> u32) {
    let (a, b) = (at.source(0, at.instr.needed), at.source(1, at.instr.needed));
    for component in each(at.instr.needed) {
        let (a, b) = (a.component(component), b.component(component));
        at.write(at.result(component), |k| {
            let (a, b) = (a.group(k), b.group(k));
            each_lane!(i => f(a.0[i], b.0[i]))
        });
    }
}

/// The same with three sources.
#[inline(always)]
fn zip3(at: Target<'_, impl Simd, impl Number>, f: impl Fn(u32, u32, u32) -> u32) {
    let needed = at.instr.needed;
    let (a, b, c) = (at.source(0, needed), at.source(1, needed), at.source(2, needed));
    for component in each(at.instr.needed) {
        let a = a.component(component);
        let b = b.component(component);
        let c = c.component(component);
        at.write(at.result(component), |k| {
            let (a, b, c) = (a.group(k), b.group(k), c.group(k));
            each_lane!(i => f(a.0[i], b.0[i], c.0[i]))
        });
    }
}

/// A dot product: an expression of components of the two sources, into every needed component of the result.
macro_rules! dot {
    ($at:expr, [$($slot:literal $component:ident $name:ident),*], $sum:expr) => {{
        let at = $at;
        let sources = [at.source(0, Mask::XYZW), at.source(1, Mask::XYZW)];
        $(let $name = sources[$slot].component(Component::$component);)*
        let modifiers = [at.modifier(0), at.modifier(1)];
        let plain = at.instr.modify == Modify::Nothing;
        for k in 0..GROUPS {
            let bits = at.group(k);
            if bits == 0 {
                continue;
            }
            $(let $name = $name.group(k);)*
            let sum = if plain {
                each_lane!(i => { $(let $name = N::read($name.0[i]);)* ($sum).bits() })
            } else {
                each_lane!(i => {
                    $(let $name = modifiers[$slot].scale::<N>($name.0[i]);)*
                    ($sum).bits()
                })
            };
            for c in each(at.instr.needed) {
                at.write_group(at.result(c), k, sum, bits);
            }
        }
    }};
}
use dot;

/// The active lanes for which a condition holds.
#[inline(always)]
fn passes(at: Target<'_, impl Simd, impl Number>, test: Test) -> u64 {
    let mut passed = if test.all { at.active } else { 0 };
    for c in each(test.mask) {
        let column = at.result(c);
        let part = |range: u8| test.ranges & range != 0;
        let (negative, zero, middle, high) = (part(1), part(2), part(4), part(8));
        let inside = if test.integer {
            bits_where(at, column, |bits| {
                let x = bits as i32;
                (negative & (x < 0)) | (zero & (x == 0)) | (high & (x > 0))
            })
        } else if test.ranges == Ranges::NOT_NEGATIVE.bits() {
            floats_where(at, column, |x| x >= 0.0)
        } else if test.ranges == Ranges::NEGATIVE.bits() {
            floats_where(at, column, |x| x < 0.0)
        } else if test.ranges == Ranges::ANY_NUMBER.bits() {
            floats_where(at, column, |x| !x.is_nan())
        } else {
            floats_where(at, column, |x| {
                (negative & (x < 0.0)) | (zero & (x == 0.0)) | (middle & (x > 0.0) & (x < 1.0)) | (high & (x >= 1.0))
            })
        };
        passed = if test.all { passed & inside } else { passed | inside };
    }
    passed & at.active
}

#[inline(always)]
fn floats_where(at: Target<'_, impl Simd, impl Number>, column: &Column, f: impl Fn(f32) -> bool) -> u64 {
    bits_where(at, column, |bits| f(f32::from_bits(bits)))
}

#[inline(always)]
fn bits_where(at: Target<'_, impl Simd, impl Number>, column: &Column, f: impl Fn(u32) -> bool) -> u64 {
    let mut all = 0;
    for k in 0..GROUPS {
        if at.group(k) == 0 {
            continue;
        }
        let inside = column.group(k).map(|bits| 0u32.wrapping_sub(u32::from(f(bits))));
        all |= u64::from(at.simd.highest(inside)) << (GROUP * k);
    }
    all
}
