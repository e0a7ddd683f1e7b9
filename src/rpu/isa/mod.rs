//! The instruction set: registers, operands, operations, conditions and whole programs, as plain
//! data.
//!
//! This is tables 2.1 to 2.3 of Węgrzanowski 2006 with the integer operations in `w` that the
//! thesis omits. It is what the assembler makes, the code generator makes, the binary form stores
//! and the RPU decodes; what is *valid* is decided in one place, by [`Instr::validate`] and
//! [`Program::validate`]. It knows neither text, nor bits, nor how an instruction runs.
//!
//! # What an instruction does
//!
//! 1. Each source register is read; a literal fills all four components.
//! 2. The components are swizzled, then multiplied by ±½, ±1, ±2 or ±4. A factor of +1 copies bit
//!    patterns exactly; a negative factor flips the sign bit. (The sources of integer operations
//!    may only be negated, in two's complement.)
//! 3. The result is computed. `mad` and the dot products round after every operation, from left to
//!    right. A dot product's result is the same in all four components.
//! 4. `_sat` clamps the result to [0, 1]; NaN and −0 become +0.
//! 5. The components in the write mask go to the destination.
//! 6. `_rcp` computes 1/w, `_rsq` 1/√w, of the (saturated) result's `w`, written or not, each
//!    operation rounded as IEEE single, and writes it to the components of `S` in the write mask.
//! 7. The condition, if any, tests the result's components, written or not, and decides whether the
//!    paired control operation happens.
//!
//! A [`Split`] does steps 1 to 4 for both of its operations, each on its own components, then 5 and
//! 6 for both, then 7 on the joint result: `x`, `y` (and `z`) of the first, `w` (and `z`) of the
//! second.

mod program;
mod validate;

pub use program::{EntryPoint, Import, Program, Waits, is_label, is_label_char};
pub use validate::IsaError;

/// Number of general registers `R0`–`R15`.
pub const GENERAL_REGISTERS: u8 = 16;
/// Number of constant registers `C0`–`C31`.
pub const CONSTANT_REGISTERS: u8 = 32;
/// Number of stack registers `S0`–`S7`: the visible window on the data stack.
pub const STACK_WINDOW: u8 = 8;
/// Number of memory input registers `I0`–`I3`.
pub const INPUT_REGISTERS: u8 = 4;
/// Largest shift of the stack window in one call: the whole window.
pub const MAX_PUSH: u8 = STACK_WINDOW;
/// Different registers, the stack's aside, that the two halves of a split can read: the register
/// file has three read ports.
pub const MAX_SPLIT_READS: usize = 3;
/// Largest number of instructions in a program (a code address has 24 bits in the binary form).
pub const MAX_CODE: usize = 1 << 24;

/// One of the four components of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
    /// The fourth, which scalars and integers live in.
    W,
}

impl Component {
    /// All four, in order.
    pub const ALL: [Component; 4] = [Component::X, Component::Y, Component::Z, Component::W];

    /// The component of an index from 0 to 3 (higher bits are ignored).
    pub fn from_index(index: u8) -> Component {
        Component::ALL[usize::from(index & 3)]
    }

    /// 0 for `x` to 3 for `w`.
    #[inline(always)]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The letter in assembly.
    pub fn letter(self) -> char {
        ['x', 'y', 'z', 'w'][self.index()]
    }

    /// The component of a letter.
    pub fn from_letter(letter: char) -> Option<Component> {
        Component::ALL.into_iter().find(|c| c.letter() == letter)
    }
}

/// A set of components: a write mask or the components that a condition tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mask(u8);

impl Mask {
    /// No component.
    pub const NONE: Mask = Mask(0);
    /// `x`, `y` and `z`.
    pub const XYZ: Mask = Mask(0b0111);
    /// All four.
    pub const XYZW: Mask = Mask(0b1111);
    /// Only `w`.
    pub const W: Mask = Mask(0b1000);

    /// The set with bit 0 for `x` to bit 3 for `w`; higher bits are ignored.
    pub fn from_bits(bits: u8) -> Mask {
        Mask(bits & 15)
    }

    /// Bit 0 for `x` to bit 3 for `w`.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// True if it contains `component`.
    #[inline(always)]
    pub fn contains(self, component: Component) -> bool {
        self.0 >> component.index() & 1 != 0
    }

    /// True if it contains nothing.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of components.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// True if every component is in `other` too.
    pub fn is_within(self, other: Mask) -> bool {
        self.0 & !other.0 == 0
    }

    /// The components in either.
    pub fn union(self, other: Mask) -> Mask {
        Mask(self.0 | other.0)
    }

    /// The components in both.
    pub fn intersection(self, other: Mask) -> Mask {
        Mask(self.0 & other.0)
    }

    /// The components that are not in the other.
    pub fn without(self, other: Mask) -> Mask {
        Mask(self.0 & !other.0)
    }

    /// The components in order.
    pub fn components(self) -> impl Iterator<Item = Component> {
        Component::ALL.into_iter().filter(move |&c| self.contains(c))
    }
}

impl From<Component> for Mask {
    fn from(component: Component) -> Mask {
        Mask(1 << component.index())
    }
}

/// Which source component each of the four positions takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle(pub [Component; 4]);

impl Swizzle {
    /// `xyzw`: no rearrangement.
    pub const IDENTITY: Swizzle = Swizzle(Component::ALL);

    /// One component in all four positions.
    pub fn splat(component: Component) -> Swizzle {
        Swizzle([component; 4])
    }

    /// One to four components, the last filling the positions that are left; `None` for any other
    /// number.
    pub fn from_components(components: &[Component]) -> Option<Swizzle> {
        let last = *components.last()?;
        (components.len() <= 4).then(|| Swizzle(std::array::from_fn(|i| components.get(i).copied().unwrap_or(last))))
    }

    /// Two bits a position, `x`'s lowest.
    pub fn bits(self) -> u8 {
        (0..4).fold(0, |bits, i| bits | (self.0[i] as u8) << (2 * i))
    }

    /// The inverse of [`Swizzle::bits`].
    pub fn from_bits(bits: u8) -> Swizzle {
        Swizzle(std::array::from_fn(|i| Component::from_index(bits >> (2 * i))))
    }
}

/// The magnitude of a source multiplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scale {
    /// ×1
    One,
    /// ×2
    Two,
    /// ×4
    Four,
    /// ×½
    Half,
}

impl Scale {
    /// All four, in the order of their codes in the binary form.
    pub const ALL: [Scale; 4] = [Scale::One, Scale::Two, Scale::Four, Scale::Half];

    /// The factor.
    #[inline(always)]
    pub fn factor(self) -> f32 {
        match self {
            Scale::One => 1.0,
            Scale::Two => 2.0,
            Scale::Four => 4.0,
            Scale::Half => 0.5,
        }
    }
}

/// The multiplier of a source after swizzling: one factor for all components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Multiplier {
    /// True if the sign is flipped (integers: two's complement negation).
    pub negate: bool,
    /// The magnitude.
    pub scale: Scale,
}

impl Multiplier {
    /// +1: bit patterns pass unchanged.
    pub const ONE: Multiplier = Multiplier { negate: false, scale: Scale::One };
    /// −1.
    pub const MINUS_ONE: Multiplier = Multiplier { negate: true, scale: Scale::One };

    /// The multiplier of a factor, if the RPU has it.
    pub fn from_factor(factor: f32) -> Option<Multiplier> {
        let scale = Scale::ALL.into_iter().find(|s| s.factor() == factor.abs())?;
        Some(Multiplier { negate: factor < 0.0, scale })
    }

    /// The factor.
    pub fn factor(self) -> f32 {
        if self.negate { -self.scale.factor() } else { self.scale.factor() }
    }
}

/// A register that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reg {
    /// General register `R0`–`R15`.
    R(u8),
    /// Constant register `C0`–`C31`.
    C(u8),
    /// Stack register `S0`–`S7` of the current window.
    Stack(u8),
    /// The special register `S`, which `_rcp` and `_rsq` write.
    Special,
    /// Memory input register `I0`–`I3`.
    I(u8),
    /// The address register `A`.
    A,
    /// `(u, v, t, shader's code address)` of the last hit; t < 0 for a miss.
    Hit,
    /// Address of the hit triangle's record, the same in all four components.
    HitTri,
    /// Address of the hit object's record, the same in all four components.
    HitObj,
}

impl Reg {
    /// True if the register's number exists.
    pub fn exists(self) -> bool {
        match self {
            Reg::R(n) => n < GENERAL_REGISTERS,
            Reg::C(n) => n < CONSTANT_REGISTERS,
            Reg::Stack(n) => n < STACK_WINDOW,
            Reg::I(n) => n < INPUT_REGISTERS,
            Reg::Special | Reg::A | Reg::Hit | Reg::HitTri | Reg::HitObj => true,
        }
    }
}

/// A source operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Src {
    /// A register, swizzled, then multiplied.
    Reg {
        /// The register.
        reg: Reg,
        /// Which component goes where.
        swizzle: Swizzle,
        /// The factor.
        multiplier: Multiplier,
    },
    /// A literal bit pattern in all four components: an `f32`, or an integer.
    Literal(u32),
}

impl Src {
    /// A register as it is.
    pub fn reg(reg: Reg) -> Src {
        Src::Reg { reg, swizzle: Swizzle::IDENTITY, multiplier: Multiplier::ONE }
    }

    /// One component of a register, in all positions.
    pub fn component(reg: Reg, component: Component) -> Src {
        Src::Reg { reg, swizzle: Swizzle::splat(component), multiplier: Multiplier::ONE }
    }

    /// A floating-point literal.
    pub fn float(value: f32) -> Src {
        Src::Literal(value.to_bits())
    }
}

/// The function whose value `_rcp` or `_rsq` puts into `S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpecialOp {
    /// 1/w.
    Rcp,
    /// 1/√w: the square root is rounded, then the quotient.
    Rsq,
}

/// How an operation treats its components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpClass {
    /// Floats, each component on its own.
    Componentwise,
    /// Floats; one sum of products, in all components.
    Dot,
    /// 32-bit integers in `w`.
    Integer,
    /// A float in `w` to an integer in `w`.
    ToInteger,
    /// An integer in `w` to a float in `w`.
    FromInteger,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident $name:literal $arity:literal $class:ident,)*) => {
        /// The arithmetic operations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Op { $($(#[$doc])* $variant,)* }

        impl Op {
            /// Every operation, in the order of the codes in the binary form.
            pub const ALL: &'static [Op] = &[$(Op::$variant,)*];

            /// The name in assembly.
            pub fn name(self) -> &'static str {
                match self { $(Op::$variant => $name,)* }
            }

            /// The number of sources, 1 to 3.
            pub fn arity(self) -> usize {
                match self { $(Op::$variant => $arity,)* }
            }

            /// How it treats its components.
            pub fn class(self) -> OpClass {
                match self { $(Op::$variant => OpClass::$class,)* }
            }
        }
    };
}

operations! {
    /// Copy; with factor 1, bit for bit.
    Mov "mov" 1 Componentwise,
    /// `a - floor(a)`.
    Frac "frac" 1 Componentwise,
    /// `a + b`.
    Add "add" 2 Componentwise,
    /// `a * b`.
    Mul "mul" 2 Componentwise,
    /// `a * b + c`, the product rounded first.
    Mad "mad" 3 Componentwise,
    /// `a.x*b.x + a.y*b.y + a.z`.
    Dp2h "dp2h" 2 Dot,
    /// `a.x*b.x + a.y*b.y + a.z*b.z`.
    Dp3 "dp3" 2 Dot,
    /// `a.x*b.x + a.y*b.y + a.z*b.z + a.w`.
    Dp3h "dp3h" 2 Dot,
    /// `a.x*b.x + a.y*b.y + a.z*b.z + a.w*b.w`.
    Dp4 "dp4" 2 Dot,
    /// Wrapping sum.
    Iadd "iadd" 2 Integer,
    /// Low 32 bits of the product.
    Imul "imul" 2 Integer,
    /// Bitwise and.
    Iand "iand" 2 Integer,
    /// Bitwise or.
    Ior "ior" 2 Integer,
    /// Bitwise exclusive or.
    Ixor "ixor" 2 Integer,
    /// Shift left by the low five bits of `b`.
    Ishl "ishl" 2 Integer,
    /// Shift right by the low five bits of `b`, zeros coming in.
    Ishr "ishr" 2 Integer,
    /// Shift right by the low five bits of `b`, the sign coming in.
    Iasr "iasr" 2 Integer,
    /// −1, 0 or 1 as `a` is less than, equal to or greater than `b`, both signed.
    Icmp "icmp" 2 Integer,
    /// −1, 0 or 1 as `a` is less than, equal to or greater than `b`, both unsigned.
    Ucmp "ucmp" 2 Integer,
    /// Truncate to a signed integer; out of range saturates, NaN gives 0.
    Ftoi "ftoi" 1 ToInteger,
    /// Truncate to an unsigned integer; out of range saturates, NaN gives 0.
    Ftou "ftou" 1 ToInteger,
    /// Nearest float of a signed integer, ties to even.
    Itof "itof" 1 FromInteger,
    /// Nearest float of an unsigned integer, ties to even.
    Utof "utof" 1 FromInteger,
    /// The bits in reverse order.
    Irev "irev" 1 Integer,
}

impl Op {
    /// True if its sources are integers.
    pub fn reads_integers(self) -> bool {
        matches!(self.class(), OpClass::Integer | OpClass::FromInteger)
    }

    /// True if its result is an integer, which the condition then tests as a signed one.
    pub fn writes_integer(self) -> bool {
        matches!(self.class(), OpClass::Integer | OpClass::ToInteger)
    }

    /// True if it works in `w` only.
    pub fn is_scalar(self) -> bool {
        matches!(self.class(), OpClass::Integer | OpClass::ToInteger | OpClass::FromInteger)
    }

    /// The positions of source `i`, after swizzling, that influence the components `needed` of the
    /// result.
    pub fn positions(self, i: usize, needed: Mask) -> Mask {
        match self.class() {
            OpClass::Componentwise => needed,
            OpClass::Dot => match (self, i) {
                (Op::Dp2h, 1) => Mask::from_bits(0b0011),
                (Op::Dp3, _) | (Op::Dp2h, _) | (Op::Dp3h, 1) => Mask::XYZ,
                _ => Mask::XYZW,
            },
            OpClass::Integer | OpClass::ToInteger | OpClass::FromInteger => Mask::W,
        }
    }
}

/// A register that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DstReg {
    /// General register.
    R(u8),
    /// Stack register of the current window.
    Stack(u8),
    /// The address register.
    A,
}

impl From<DstReg> for Reg {
    fn from(dst: DstReg) -> Reg {
        match dst {
            DstReg::R(n) => Reg::R(n),
            DstReg::Stack(n) => Reg::Stack(n),
            DstReg::A => Reg::A,
        }
    }
}

/// A destination: a register and its write mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dst {
    /// The register.
    pub reg: DstReg,
    /// The components that are written; not empty.
    pub mask: Mask,
}

/// An arithmetic instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arith {
    /// The operation.
    pub op: Op,
    /// True if the result is clamped to [0, 1].
    pub sat: bool,
    /// The function whose value is put into `S`.
    pub special: Option<SpecialOp>,
    /// Where the result goes.
    pub dst: Dst,
    /// The sources; those beyond the operation's arity are `Src::Literal(0)`.
    pub src: [Src; 3],
}

impl Arith {
    /// An instruction without modifiers. `sources` beyond the operation's arity are dropped,
    /// missing ones are 0.
    pub fn new(op: Op, dst: Dst, sources: &[Src]) -> Arith {
        let mut src = [Src::Literal(0); 3];
        for (slot, source) in src.iter_mut().zip(sources.iter().take(op.arity())) {
            *slot = *source;
        }
        Arith { op, sat: false, special: None, dst, src }
    }

    /// The sources that the operation reads.
    pub fn sources(&self) -> &[Src] {
        &self.src[..self.op.arity()]
    }
}

/// The source of the base address of a load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// A component of `A`.
    A(Component),
    /// The hit triangle's record.
    HitTri,
    /// The hit object's record.
    HitObj,
}

/// The work of an instruction besides control. Memory is addressed in vectors of four words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primary {
    /// Arithmetic; the only kind that may carry a conditional control operation.
    Arith(Arith),
    /// `trace orig, dir, arg` with `arg = (t_min, t_max, any, time)`: sets `HIT`, `HIT_TRI` and
    /// `HIT_OBJ`.
    Trace {
        /// Where the ray starts (xyz).
        orig: Src,
        /// The direction (xyz), of any length; t counts in units of it.
        dir: Src,
        /// `t_min`, `t_max`, 1 for any hit or 0 for the closest, time.
        arg: Src,
    },
    /// `load Ii, base, n`: the vector at base + n into `Ii`.
    Load {
        /// The number of the input register.
        to: u8,
        /// The base address.
        base: Base,
        /// n.
        offset: i16,
    },
    /// `load4 base, n`: the four vectors from base + n into `I0`–`I3`.
    Load4 {
        /// The base address.
        base: Base,
        /// n.
        offset: i16,
    },
    /// `store base, n, src`: the source's four words to base + n, which must lie in the thread's
    /// scratch memory.
    Store {
        /// The base address.
        base: Base,
        /// n.
        offset: i16,
        /// The value that is stored.
        src: Src,
    },
    /// `texload Ii, n, coord`: the texel of texture n at (x, y) of the source, truncated, into
    /// `Ii`; zeros outside it.
    TexLoad {
        /// The number of the input register.
        to: u8,
        /// The number of the texture.
        texture: u8,
        /// The texel's column and row, in texels, as floats (xy).
        coord: Src,
    },
    /// `texstore n, coord, src`: the source's four words into the texel, after the run; nothing
    /// outside the texture.
    TexStore {
        /// The number of the texture.
        texture: u8,
        /// The texel's column and row, in texels, as floats (xy).
        coord: Src,
        /// The value that is stored.
        src: Src,
    },
}

impl Primary {
    /// The sources that it reads, without the base address of a load or store.
    pub fn sources(&self) -> impl Iterator<Item = Src> {
        let (src, len) = match self {
            Primary::Arith(arith) => (arith.src, arith.op.arity()),
            Primary::Trace { orig, dir, arg } => ([*orig, *dir, *arg], 3),
            Primary::Load { .. } | Primary::Load4 { .. } => ([Src::Literal(0); 3], 0),
            Primary::Store { src, .. } => ([*src; 3], 1),
            Primary::TexLoad { coord, .. } => ([*coord; 3], 1),
            Primary::TexStore { coord, src, .. } => ([*coord, *src, *src], 2),
        };
        src.into_iter().take(len)
    }
}

/// A control operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Control {
    /// Continue at a code address.
    Jmp(u32),
    /// Call the function at a code address, shifting the stack window.
    Call {
        /// The function's first instruction.
        target: u32,
        /// The shift, at most [`MAX_PUSH`].
        push: u8,
    },
    /// Call the function whose code address is a bit pattern in a register's component.
    CallReg {
        /// The register.
        reg: Reg,
        /// The component of the register.
        component: Component,
        /// The shift, at most [`MAX_PUSH`].
        push: u8,
    },
    /// Return from the function; from an entry point's function, end the thread.
    Return,
}

/// A set of ranges of a number: any union or intersection of `<0`, `>=0`, `=0`, `<1` and `>=1`.
///
/// Kept as the set of four elementary ranges, bit 0 `(-∞, 0)`, bit 1 `{0}`, bit 2 `(0, 1)`, bit 3
/// `[1, ∞)`. No range contains NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ranges(u8);

impl Ranges {
    /// `<0`
    pub const NEGATIVE: Ranges = Ranges(0b0001);
    /// `>=0`
    pub const NOT_NEGATIVE: Ranges = Ranges(0b1110);
    /// `=0`
    pub const ZERO: Ranges = Ranges(0b0010);
    /// `<1`
    pub const BELOW_ONE: Ranges = Ranges(0b0111);
    /// `>=1`
    pub const NOT_BELOW_ONE: Ranges = Ranges(0b1000);
    /// `>=0 or <1`: every number, so everything but NaN.
    pub const ANY_NUMBER: Ranges = Ranges(0b1111);

    /// The set of elementary ranges, if it is not empty and the five ranges can make it: (0, 1)
    /// comes only with 0.
    pub fn from_bits(bits: u8) -> Option<Ranges> {
        let expressible = bits != 0 && bits < 16 && (bits & 0b0100 == 0 || bits & 0b0010 != 0);
        expressible.then_some(Ranges(bits))
    }

    /// The elementary ranges.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// In either.
    pub fn or(self, other: Ranges) -> Ranges {
        Ranges(self.0 | other.0)
    }

    /// In both; `None` when nothing is.
    pub fn and(self, other: Ranges) -> Option<Ranges> {
        Ranges::from_bits(self.0 & other.0)
    }

    /// True if a float is in one of the ranges. NaN never is.
    pub fn contains(self, value: f32) -> bool {
        let bit = if value < 0.0 {
            1
        } else if value == 0.0 {
            2
        } else if value < 1.0 {
            4
        } else if value >= 1.0 {
            8
        } else {
            0
        };
        self.0 & bit != 0
    }
}

/// When a paired control operation happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Unconditionally, even for NaN.
    Always,
    /// When any of the components is in the ranges (`or`; also the form for one component).
    Any(Mask, Ranges),
    /// When all of the components are in the ranges (`and`).
    All(Mask, Ranges),
}

impl Condition {
    /// The components that are tested.
    pub fn mask(self) -> Mask {
        match self {
            Condition::Always => Mask::NONE,
            Condition::Any(mask, _) | Condition::All(mask, _) => mask,
        }
    }
}

/// How a split divides the four components between its halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SplitKind {
    /// `xyz` and `w`.
    ThreeOne,
    /// `xy` and `zw`.
    TwoTwo,
}

impl SplitKind {
    /// The components of the first half.
    pub fn first(self) -> Mask {
        match self {
            SplitKind::ThreeOne => Mask::XYZ,
            SplitKind::TwoTwo => Mask(0b0011),
        }
    }

    /// The components of the second half.
    pub fn second(self) -> Mask {
        Mask(!self.first().0 & 15)
    }
}

/// Two independent operations in one issue slot, each on its own components. All sources of both
/// are read before either writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Split {
    /// How the components are divided; 3/1 exactly when the second half writes `w` alone.
    pub kind: SplitKind,
    /// The operation on `xyz`, or `xy`: componentwise, or in 3/1 a dot product of at most three
    /// products.
    pub first: Arith,
    /// The operation on `w`, or `zw`: componentwise, or in 3/1 one on integers. Only it may have
    /// `_rcp` or `_rsq`.
    pub second: Arith,
}

impl Split {
    /// The split of two operations: 3/1 if the second writes `w` alone, else 2/2. Whether the
    /// RPU has it, [`Split::validate`] checks.
    pub fn new(first: Arith, second: Arith) -> Split {
        let kind = if second.dst.mask == Mask::W { SplitKind::ThreeOne } else { SplitKind::TwoTwo };
        Split { kind, first, second }
    }

    /// Both halves, the first first.
    pub fn halves(&self) -> [&Arith; 2] {
        [&self.first, &self.second]
    }
}

/// An instruction: one issue slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instr {
    /// A primary operation alone.
    Primary(Primary),
    /// A control operation alone: it always happens.
    Control(Control),
    /// Arithmetic with a control operation that depends on its result.
    Pair(Arith, Control, Condition),
    /// Two operations on disjoint components, perhaps with a control operation that depends on
    /// their joint result.
    Split(Split, Option<(Control, Condition)>),
}

impl Instr {
    /// The control operation, if any.
    pub fn control(&self) -> Option<Control> {
        match self {
            Instr::Primary(_) | Instr::Split(_, None) => None,
            Instr::Control(control) | Instr::Pair(_, control, _) | Instr::Split(_, Some((control, _))) => {
                Some(*control)
            }
        }
    }

    /// The condition of the control operation; a control operation alone has none and always
    /// happens.
    pub fn condition(&self) -> Option<Condition> {
        match self {
            Instr::Primary(_) | Instr::Control(_) | Instr::Split(_, None) => None,
            Instr::Pair(_, _, condition) | Instr::Split(_, Some((_, condition))) => Some(*condition),
        }
    }

    /// The primary operation, if it has exactly one: the two of a split are among its
    /// [`Instr::ariths`].
    pub fn primary(&self) -> Option<Primary> {
        match self {
            Instr::Primary(primary) => Some(*primary),
            Instr::Control(_) | Instr::Split(..) => None,
            Instr::Pair(arith, _, _) => Some(Primary::Arith(*arith)),
        }
    }

    /// The arithmetic operations: none, one, or the two halves of a split.
    pub fn ariths(&self) -> impl Iterator<Item = &Arith> {
        let [first, second] = match self {
            Instr::Primary(Primary::Arith(arith)) | Instr::Pair(arith, _, _) => [Some(arith), None],
            Instr::Split(split, _) => [Some(&split.first), Some(&split.second)],
            Instr::Primary(_) | Instr::Control(_) => [None, None],
        };
        first.into_iter().chain(second)
    }

    /// The code address it may jump to or call, if that is fixed.
    pub fn target(&self) -> Option<u32> {
        match self.control()? {
            Control::Jmp(target) | Control::Call { target, .. } => Some(target),
            Control::CallReg { .. } | Control::Return => None,
        }
    }

    /// The same instruction with another fixed target; unchanged when it has none.
    pub fn with_target(mut self, new: u32) -> Instr {
        if let Instr::Control(control) | Instr::Pair(_, control, _) | Instr::Split(_, Some((control, _))) = &mut self {
            match control {
                Control::Jmp(target) | Control::Call { target, .. } => *target = new,
                Control::CallReg { .. } | Control::Return => {}
            }
        }
        self
    }
}
