//! Arithmetic on blocks: the interpreter's hot loop.
//!
//! A [`Step`] names the [`Kernels`] that compute it: functions of the registers, the step and the
//! active lanes, one for any mask and a shorter one for all lanes. Every operation is written once,
//! for the lanes of a group and for any [`Number`], and compiled for each [`KernelTarget`]: in
//! single precision for the baseline CPU, for AVX2 and for AVX-512 (see [`super::simd`]), and in
//! the 24-bit format for the baseline CPU. In single precision all give the same bits: nothing is
//! fused, and every step rounds as IEEE single. Which NaN an instruction gives depends on the order
//! of its operands, which compilers exchange: lanes whose result is NaN are computed again by the
//! rule of [`shadewright_base::nan`].
//!
//! A kernel is one operation with one kind of source modification; only columns and modifiers come
//! from the step. One function for all instructions, with a switch for each, took three times as
//! long (`cargo bench --bench rpu -- shading`). `cargo bench --bench rpu -- engines` measures the
//! instruction sets.
//!
//! An operation is a function of one lane, modifiers included, written out for the lanes of a
//! group: LLVM vectorizes that. (Chains of loops over groups it did not: `mad` took six times as
//! long.) Nothing here may remain a call, such as `map` of an array or iterator adapters: it would
//! be compiled for the baseline CPU. Two such calls an instruction cost a third of the speed of
//! `assets/scenes/noise.rib`.

use crate::format::{F24, Format, Number};
use crate::isa::{Component, Multiplier, Op, Ranges, SpecialOp};
use crate::lanes::{BLOCK, Column, GROUP, GROUPS, Lanes, each_lane, groups_of};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{InstructionSet, Portable, Simd};
use crate::step::{Kernels, Modifier, Modify, Operand, Slot, Step, Steps, Task, Test, Tests};
use shadewright_base::nan::Ruled;
use std::marker::PhantomData;
use std::ops::Range;

/// The registers that an instruction sees.
#[derive(Clone, Copy)]
pub(super) struct Registers<'a> {
    /// All columns of the block.
    pub file: &'a [Column],
    /// The number of columns before the registers: constants and literals.
    pub pool: usize,
    /// Columns between the bottoms of the stack and of the window.
    pub window: usize,
}

impl<'a> Registers<'a> {
    /// A column.
    #[inline(always)]
    fn column(&self, slot: Slot) -> &'a Column {
        &self.file[slot.column(self.pool) + if slot.is_on_stack() { self.window } else { 0 }]
    }

    /// A source's component for all lanes: a copy, or a float of the format times its multiplier.
    pub fn read(&self, operand: &Operand, position: Component, mode: Mode) -> Column {
        let out = Column::zero();
        self.copy(operand, position, mode, &out, u64::MAX);
        out
    }

    /// The same, to the lanes in `mask` of a column.
    pub fn copy(&self, operand: &Operand, position: Component, mode: Mode, to: &Column, mask: u64) {
        let from = self.column(operand.slots[position.index()]);
        if operand.multiplier == Multiplier::ONE {
            mode.copy(std::slice::from_ref(from), std::slice::from_ref(to), mask);
            return;
        }
        let Multiplier { negate, scale } = operand.multiplier;
        to.write_masked(|lane| mode.format().scaled(from.get(lane), negate, scale.factor()), mask);
    }

    /// A source's component as floats of the format, for some lanes of one or of all groups, into
    /// the same lanes of an array.
    pub fn read_floats(
        &self,
        operand: &Operand,
        position: Component,
        format: Format,
        lanes: Range<usize>,
        to: &mut [f32; BLOCK],
    ) {
        let from = self.column(operand.slots[position.index()]);
        let Multiplier { negate, scale } = operand.multiplier;
        for (lane, to) in lanes.clone().zip(&mut to[lanes]) {
            *to = f32::from_bits(format.scaled(from.get(lane), negate, scale.factor()));
        }
    }

    /// The column of an operand's component, if its value is taken as it is.
    pub fn plain(&self, operand: &Operand, position: Component) -> Option<&'a Column> {
        (operand.multiplier == Multiplier::ONE).then(|| self.column(operand.slots[position.index()]))
    }
}

/// How arithmetic is done: the number format and the instruction set.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// In single precision.
    F32(InstructionSet),
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

    /// The kernels of a task.
    pub fn kernels(self, task: Task, modify: Modify) -> Kernels {
        match self {
            Mode::F32(InstructionSet::Portable) => kernels::<InF32>(task, modify),
            #[cfg(target_arch = "x86_64")]
            Mode::F32(InstructionSet::Avx2(_)) => kernels::<InAvx2>(task, modify),
            #[cfg(target_arch = "x86_64")]
            Mode::F32(InstructionSet::Avx512(_)) => kernels::<InAvx512>(task, modify),
            Mode::F24 => kernels::<InF24>(task, modify),
        }
    }

    /// The lanes in `active` for which a condition holds.
    pub fn passes(self, registers: &Registers<'_>, tests: &Tests, active: u64) -> u64 {
        match self {
            Mode::F32(InstructionSet::Portable) | Mode::F24 => passes(Portable, registers, tests, active),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only where the CPU has AVX2.
            Mode::F32(InstructionSet::Avx2(simd)) => unsafe { passes_avx2(simd, registers, tests, active) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only where the CPU has AVX-512 F and DQ.
            Mode::F32(InstructionSet::Avx512(simd)) => unsafe { passes_avx512(simd, registers, tests, active) },
        }
    }
}

/// Computes some of a program's steps for the lanes in `active`.
///
/// # Panics
/// When the block was not prepared for the program.
#[inline]
pub(super) fn execute(registers: &Registers<'_>, steps: &Steps, range: Range<usize>, active: u64) {
    let Registers { file, window, .. } = *registers;
    assert!(file.len() >= steps.reach(window), "a block of another program");
    let file = file.as_ptr();
    let compute = |step: &Step| {
        let kernel = if active == u64::MAX { step.kernels.all } else { step.kernels.some };
        // SAFETY: the file has all columns up to the reach of the steps for this window, and so
        // those of this step, moved for it. A mode has kernels for an extended instruction set only
        // with a value that proves that the CPU has it.
        unsafe { kernel(file, step, active) }
    };
    match steps.moved(window) {
        Some(list) => list[range].iter().for_each(compute),
        None => steps.list[range].iter().for_each(|step| compute(&step.moved(window))),
    }
}

/// The target that kernels are compiled for: a number format and an instruction set.
trait KernelTarget {
    fn kernels<O: Operation>() -> Kernels;
}

struct InF32;
struct InF24;
#[cfg(target_arch = "x86_64")]
struct InAvx2;
#[cfg(target_arch = "x86_64")]
struct InAvx512;

impl KernelTarget for InF32 {
    fn kernels<O: Operation>() -> Kernels {
        Kernels { some: portable::<f32, O, false>, all: portable::<f32, O, true> }
    }
}

impl KernelTarget for InF24 {
    fn kernels<O: Operation>() -> Kernels {
        Kernels { some: portable::<F24, O, false>, all: portable::<F24, O, true> }
    }
}

#[cfg(target_arch = "x86_64")]
impl KernelTarget for InAvx2 {
    fn kernels<O: Operation>() -> Kernels {
        Kernels { some: avx2::<O, false>, all: avx2::<O, true> }
    }
}

#[cfg(target_arch = "x86_64")]
impl KernelTarget for InAvx512 {
    fn kernels<O: Operation>() -> Kernels {
        Kernels { some: avx512::<O, false>, all: avx512::<O, true> }
    }
}

unsafe fn portable<N: Number, O: Operation, const ALL: bool>(file: *const Column, step: &Step, active: u64) {
    O::run(Target::<_, N, ALL> { simd: Portable, file, step, active, of: PhantomData });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<O: Operation, const ALL: bool>(file: *const Column, step: &Step, active: u64) {
    // SAFETY: the caller of a kernel guarantees the instruction set.
    let simd = unsafe { Avx2::assume() };
    O::run(Target::<_, f32, ALL> { simd, file, step, active, of: PhantomData });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn avx512<O: Operation, const ALL: bool>(file: *const Column, step: &Step, active: u64) {
    // SAFETY: the caller of a kernel guarantees the instruction set.
    let simd = unsafe { Avx512::assume() };
    O::run(Target::<_, f32, ALL> { simd, file, step, active, of: PhantomData });
}

/// The kernels of a task.
fn kernels<W: KernelTarget>(task: Task, modify: Modify) -> Kernels {
    macro_rules! floats {
        ($operation:ident) => {
            match modify {
                Modify::Sign => W::kernels::<$operation<Signed>>(),
                Modify::Scale => W::kernels::<$operation<Scaled>>(),
                Modify::Nothing | Modify::Negate => W::kernels::<$operation<Plain>>(),
            }
        };
    }
    macro_rules! integers {
        ($operation:ident) => {
            match modify {
                Modify::Negate => W::kernels::<$operation<Negated>>(),
                Modify::Nothing | Modify::Sign | Modify::Scale => W::kernels::<$operation<Plain>>(),
            }
        };
    }
    match task {
        Task::Copy => W::kernels::<Copied>(),
        Task::Saturate => W::kernels::<Saturated>(),
        Task::Special(SpecialOp::Rcp) => W::kernels::<Reciprocal<Plain>>(),
        Task::Special(SpecialOp::Rsq) => W::kernels::<ReciprocalRoot<Plain>>(),
        Task::Op(Op::Mov) => floats!(Moved),
        Task::Op(Op::Frac) => floats!(Fraction),
        Task::Op(Op::Add) => floats!(Sum),
        Task::Op(Op::Mul) => floats!(Product),
        Task::Op(Op::Mad) => floats!(ProductAndSum),
        Task::Op(Op::Dp2h) => floats!(Dp2h),
        Task::Op(Op::Dp3) => floats!(Dp3),
        Task::Op(Op::Dp3h) => floats!(Dp3h),
        Task::Op(Op::Dp4) => floats!(Dp4),
        Task::Op(Op::Iadd) => integers!(IntegerSum),
        Task::Op(Op::Imul) => integers!(IntegerProduct),
        Task::Op(Op::Iand) => integers!(And),
        Task::Op(Op::Ior) => integers!(Or),
        Task::Op(Op::Ixor) => integers!(ExclusiveOr),
        Task::Op(Op::Ishl) => integers!(ShiftLeft),
        Task::Op(Op::Ishr) => integers!(ShiftRight),
        Task::Op(Op::Irev) => integers!(Reversed),
        Task::Op(Op::Iasr) => integers!(ShiftSignRight),
        Task::Op(Op::Icmp) => integers!(SignedOrder),
        Task::Op(Op::Ucmp) => integers!(UnsignedOrder),
        Task::Op(Op::Ftoi) => floats!(ToSigned),
        Task::Op(Op::Ftou) => floats!(ToUnsigned),
        Task::Op(Op::Itof) => integers!(FromSigned),
        Task::Op(Op::Utof) => integers!(FromUnsigned),
    }
}

/// The operation of a kernel.
trait Operation {
    fn run<S: Simd, N: Number, const ALL: bool>(at: Target<'_, S, N, ALL>);
}

/// The arguments of a kernel; with `ALL`, all lanes are active.
#[derive(Clone, Copy)]
struct Target<'a, S, N, const ALL: bool> {
    simd: S,
    file: *const Column,
    step: &'a Step,
    active: u64,
    of: PhantomData<(N, &'a Column)>,
}

impl<'a, S: Simd, N: Number, const ALL: bool> Target<'a, S, N, ALL> {
    #[inline(always)]
    fn source(&self, number: usize) -> &'a Column {
        // SAFETY: the caller of a kernel gives it a file with the step's columns. Bounds checks
        // (with a test of the column's kind) take 1.4 times as long.
        unsafe { &*self.file.add(self.step.from(number)) }
    }

    /// Writes what `f` gives for each group to the active lanes.
    #[inline(always)]
    fn write(&self, f: impl Fn(usize) -> Lanes) {
        self.write_checked(f, |_, made, _| made);
    }

    /// The same for an operation on floats in single precision.
    #[inline(always)]
    fn write_ruled<O: FloatOperation>(&self, f: impl Fn(usize) -> Lanes) {
        self.write_checked(f, |k, made, active| {
            let nans = if O::ROUNDS { self.simd.nans(made) & active } else { 0 };
            if nans == 0 { made } else { with_ruled_nans::<O>(self.file, self.step, k, made, nans) }
        });
    }

    /// Writes what `check` makes of what `f` gives for each group; it also takes the active lanes.
    #[inline(always)]
    fn write_checked(&self, f: impl Fn(usize) -> Lanes, check: impl Fn(usize, Lanes, u16) -> Lanes) {
        // SAFETY: as for sources.
        let to = unsafe { &*self.file.add(self.step.to()) };
        // One call of `f`: with two, LLVM leaves some functions out of line, compiled for the
        // baseline processor.
        for k in 0..GROUPS {
            let bits = if ALL { u16::MAX } else { (self.active >> (GROUP * k)) as u16 };
            if bits != 0 {
                let lanes = check(k, f(k), bits);
                to.set_group(k, if ALL { lanes } else { self.simd.select(bits, lanes, to.group(k)) });
            }
        }
    }
}

/// A kind of source modification. Modifiers that it ignores have no effect.
trait Modification {
    /// True if it multiplies.
    const SCALES: bool = false;

    /// A float.
    fn number<N: Number>(bits: u32, by: Modifier) -> N;

    /// An integer.
    fn integer(bits: u32, by: Modifier) -> u32;
}

/// None.
struct Plain;
/// Floats by their signs.
struct Signed;
/// Floats by their signs and a factor.
struct Scaled;
/// Integers by their signs.
struct Negated;

impl Modification for Plain {
    #[inline(always)]
    fn number<N: Number>(bits: u32, _: Modifier) -> N {
        N::read(bits)
    }

    #[inline(always)]
    fn integer(bits: u32, _: Modifier) -> u32 {
        bits
    }
}

impl Modification for Signed {
    #[inline(always)]
    fn number<N: Number>(bits: u32, by: Modifier) -> N {
        N::read(bits ^ by.sign)
    }

    #[inline(always)]
    fn integer(bits: u32, by: Modifier) -> u32 {
        Negated::integer(bits, by)
    }
}

impl Modification for Scaled {
    const SCALES: bool = true;

    #[inline(always)]
    fn number<N: Number>(bits: u32, by: Modifier) -> N {
        Signed::number::<N>(bits, by).scale(by.factor)
    }

    #[inline(always)]
    fn integer(bits: u32, by: Modifier) -> u32 {
        Negated::integer(bits, by)
    }
}

impl Modification for Negated {
    #[inline(always)]
    fn number<N: Number>(bits: u32, by: Modifier) -> N {
        Signed::number(bits, by)
    }

    /// Two's complement: −x is the inverse of x, plus 1.
    #[inline(always)]
    fn integer(bits: u32, by: Modifier) -> u32 {
        let minus = by.sign >> 31;
        (bits ^ 0u32.wrapping_sub(minus)).wrapping_add(minus)
    }
}

/// Writes a function of a lane of each of the named sources, by their numbers.
macro_rules! write_lanes {
    ($at:ident, $write:ident $(::<$of:ty>)?, $($x:ident $number:literal),* => $result:expr) => {{
        $(let $x = $at.source($number);)*
        $at.$write$(::<$of>)?(|k| {
            $(let $x = $x.group(k);)*
            each_lane!(i => { $(let $x = $x.0[i];)* $result })
        });
    }};
}

/// The same for floats. A format without vector instructions has a loop: written out 16 times,
/// its kernels take a sixth of the library's code and gain nothing.
macro_rules! write_numbers {
    ($at:ident, $write:ident $(::<$of:ty>)?, $number:ident, $($x:ident $source:literal),* => $result:expr) => {{
        if $number::IN_HARDWARE {
            write_lanes!($at, $write$(::<$of>)?, $($x $source),* => $result);
        } else {
            $(let $x = $at.source($source);)*
            $at.write(|k| {
                $(let $x = $x.group(k);)*
                let mut lanes = [0; GROUP];
                for (i, lane) in lanes.iter_mut().enumerate() {
                    $(let $x = $x.0[i];)*
                    *lane = $result;
                }
                Lanes(lanes)
            });
        }
    }};
}

/// An operation on floats, of one lane.
trait FloatOperation {
    /// True if its result can be another NaN than what it copies.
    const ROUNDS: bool;

    /// The result's pattern, from those of the sources and their modifiers.
    fn lane<N: Number>(source: impl Fn(usize) -> u32, by: &[Modifier; 3]) -> u32;
}

/// The results of a group, with the bits that the rule of NaN defines in the lanes whose bits are
/// set: NaNs are rare, and all else has the same bits whatever the compiler makes of it. `lanes` is
/// what it made.
#[cold]
#[inline(never)]
fn with_ruled_nans<O: FloatOperation>(file: *const Column, step: &Step, k: usize, lanes: Lanes, nans: u16) -> Lanes {
    let mut lanes = lanes;
    for lane in (0..GROUP).filter(|lane| nans >> lane & 1 != 0) {
        // SAFETY: as for the sources of the kernel that calls this.
        let source = |number: usize| unsafe { &*file.add(step.from(number)) }.group(k).0[lane];
        lanes.0[lane] = O::lane::<Ruled>(source, &step.modifiers);
    }
    lanes
}

/// Operations on floats: a name, the sources' names and numbers with the numbers of the modifiers,
/// whether they round, and the result.
macro_rules! float_operations {
    ($($name:ident($($x:ident $number:literal $slot:literal),*) $rounds:expr => $result:expr;)*) => {$(
        struct $name<M>(PhantomData<M>);

        impl<M: Modification> FloatOperation for $name<M> {
            const ROUNDS: bool = $rounds;

            #[inline(always)]
            fn lane<N: Number>(source: impl Fn(usize) -> u32, by: &[Modifier; 3]) -> u32 {
                $(let $x = M::number::<N>(source($number), by[$slot]);)*
                ($result).bits()
            }
        }

        impl<M: Modification> Operation for $name<M> {
            #[inline(always)]
            fn run<S: Simd, N: Number, const ALL: bool>(at: Target<'_, S, N, ALL>) {
                let by = at.step.modifiers;
                write_numbers!(at, write_ruled::<Self>, N, $($x $number),* => {
                    $(let $x = M::number::<N>($x, by[$slot]);)*
                    ($result).bits()
                });
            }
        }
    )*};
}

float_operations! {
    Moved(a 0 0) M::SCALES => a;
    Fraction(a 0 0) true => a - a.floor();
    Sum(a 0 0, b 1 1) true => a + b;
    Product(a 0 0, b 1 1) true => a * b;
    ProductAndSum(a 0 0, b 1 1, c 2 2) true => a * b + c;
    Dp2h(a 0 0, b 1 1, c 2 0, d 3 1, e 4 0) true => a * b + c * d + e;
    Dp3(a 0 0, b 1 1, c 2 0, d 3 1, e 4 0, f 5 1) true => a * b + c * d + e * f;
    Dp3h(a 0 0, b 1 1, c 2 0, d 3 1, e 4 0, f 5 1, g 6 0) true => a * b + c * d + e * f + g;
    Dp4(a 0 0, b 1 1, c 2 0, d 3 1, e 4 0, f 5 1, g 6 0, h 7 1) true => a * b + c * d + e * f + g * h;
    Reciprocal(a 0 0) true => N::ONE / a;
    ReciprocalRoot(a 0 0) true => N::ONE / a.sqrt();
}

/// Operations on integers, likewise; `N` is the format of floats.
macro_rules! integer_operations {
    ($($name:ident($($x:ident $slot:literal),*) $result:expr;)*) => {$(
        struct $name<M>(PhantomData<M>);

        impl<M: Modification> Operation for $name<M> {
            #[inline(always)]
            fn run<S: Simd, N: Number, const ALL: bool>(at: Target<'_, S, N, ALL>) {
                let by = at.step.modifiers;
                write_numbers!(at, write, N, $($x $slot),* => {
                    $(let $x = M::integer($x, by[$slot]);)*
                    $result
                });
            }
        }
    )*};
}

integer_operations! {
    IntegerSum(a 0, b 1) a.wrapping_add(b);
    IntegerProduct(a 0, b 1) a.wrapping_mul(b);
    And(a 0, b 1) a & b;
    Or(a 0, b 1) a | b;
    ExclusiveOr(a 0, b 1) a ^ b;
    ShiftLeft(a 0, b 1) a << (b & 31);
    ShiftRight(a 0, b 1) a >> (b & 31);
    ShiftSignRight(a 0, b 1) (a as i32 >> (b & 31)) as u32;
    Reversed(a 0) a.reverse_bits();
    SignedOrder(a 0, b 1) order((a as i32) < b as i32, a as i32 > b as i32);
    UnsignedOrder(a 0, b 1) order(a < b, a > b);
    FromSigned(a 0) N::from_signed(a as i32).bits();
    FromUnsigned(a 0) N::from_unsigned(a).bits();
}

/// −1, 0 or 1.
#[inline(always)]
fn order(less: bool, greater: bool) -> u32 {
    u32::from(greater).wrapping_sub(u32::from(less))
}

/// Conversions of floats to integers, a group at a time: a name, and how.
macro_rules! conversions {
    ($($name:ident $convert:ident;)*) => {$(
        struct $name<M>(PhantomData<M>);

        impl<M: Modification> Operation for $name<M> {
            #[inline(always)]
            fn run<S: Simd, N: Number, const ALL: bool>(at: Target<'_, S, N, ALL>) {
                let (from, by) = (at.source(0), at.step.modifiers[0]);
                at.write(|k| at.simd.$convert(from.group(k).map(|bits| M::number::<N>(bits, by).bits())));
            }
        }
    )*};
}

conversions! {
    ToSigned to_signed;
    ToUnsigned to_unsigned;
}

/// Functions of one source without modifiers: a name, the source's pattern, and the result's.
macro_rules! functions {
    ($($name:ident($x:ident) $result:expr;)*) => {$(
        struct $name;

        impl Operation for $name {
            #[inline(always)]
            fn run<S: Simd, N: Number, const ALL: bool>(at: Target<'_, S, N, ALL>) {
                write_numbers!(at, write, N, $x 0 => $result);
            }
        }
    )*};
}

functions! {
    Copied(a) a;
    Saturated(a) saturated(f32::from_bits(a)).to_bits();
}

/// NaN and −0 become +0.
#[inline(always)]
fn saturated(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn passes_avx2(simd: Avx2, registers: &Registers<'_>, tests: &Tests, active: u64) -> u64 {
    passes(simd, registers, tests, active)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn passes_avx512(simd: Avx512, registers: &Registers<'_>, tests: &Tests, active: u64) -> u64 {
    passes(simd, registers, tests, active)
}

/// The active lanes for which a condition holds.
#[inline(always)]
fn passes(simd: impl Simd, registers: &Registers<'_>, tests: &Tests, active: u64) -> u64 {
    let mut passed = if tests.all { active } else { 0 };
    for test in &tests.each {
        let inside = inside(simd, registers.column(test.slot), *test, active);
        passed = if tests.all { passed & inside } else { passed | inside };
    }
    passed & active
}

/// The active lanes whose value lies in the ranges of a test.
#[inline(always)]
fn inside(simd: impl Simd, column: &Column, test: Test, active: u64) -> u64 {
    let part = |range: u8| test.ranges.bits() & range != 0;
    let (negative, zero, middle, high) = (part(1), part(2), part(4), part(8));
    if test.integer {
        return lanes_where(simd, column, active, |bits| {
            let x = bits as i32;
            (negative & (x < 0)) | (zero & (x == 0)) | (high & (x > 0))
        });
    }
    match test.ranges {
        Ranges::NOT_NEGATIVE => floats_where(simd, column, active, |x| x >= 0.0),
        Ranges::NEGATIVE => floats_where(simd, column, active, |x| x < 0.0),
        Ranges::ANY_NUMBER => floats_where(simd, column, active, |x| !x.is_nan()),
        _ => floats_where(simd, column, active, |x| {
            (negative & (x < 0.0)) | (zero & (x == 0.0)) | (middle & (x > 0.0) & (x < 1.0)) | (high & (x >= 1.0))
        }),
    }
}

#[inline(always)]
fn floats_where(simd: impl Simd, column: &Column, active: u64, f: impl Fn(f32) -> bool) -> u64 {
    lanes_where(simd, column, active, |bits| f(f32::from_bits(bits)))
}

/// The active lanes for whose pattern `f` holds.
#[inline(always)]
pub(super) fn lanes_where(simd: impl Simd, column: &Column, active: u64, f: impl Fn(u32) -> bool) -> u64 {
    let mut all = 0;
    for (k, _) in groups_of(active) {
        let inside = column.group(k).map(|bits| 0u32.wrapping_sub(u32::from(f(bits))));
        all |= u64::from(simd.highest(inside)) << (GROUP * k);
    }
    all & active
}
