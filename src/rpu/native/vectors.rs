//! The interface to an instruction set's vector instructions: one small file each implements it.
//!
//! A *vector register* holds a 32-bit word for each lane of a vector. The active lanes are the bits
//! of [`fixed::MASK`]; an instruction set keeps them in a form of its own as well, from
//! [`Vectors::activate`] on.

use super::assembler::{Assembler, Label, VectorOperand};
use super::context::constant;
use iced_x86::Register;

/// Operations on two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Mul,
    Div,
    /// The second source where one is NaN or both are zeros.
    Min,
    /// As `Min`.
    Max,
    And,
    Or,
    Xor,
    IntegerAdd,
    IntegerSub,
    IntegerMul,
    /// Shifts of each lane by the other's lane, below 32.
    ShiftLeft,
    ShiftRight,
    ShiftSignRight,
    /// Bytes of the first source, chosen by those of the second within 16 bytes.
    Shuffle,
}

/// Operations on one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Sqrt,
    Floor,
    FromSigned,
}

/// Shifts by a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
    SignRight,
}

/// Comparisons. With NaN they are false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Neither is NaN; of floats alone.
    Ordered,
}

/// The kind of the numbers that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Float,
    Signed,
    Unsigned,
}

/// The constants that generated code reads, by their place in the context.
pub(super) fn constant_place(number: usize) -> VectorOperand {
    VectorOperand::Memory(super::assembler::fixed::CONTEXT, constant::offset(number))
}

/// A set of vector instructions.
pub(super) trait Vectors: Sync + std::fmt::Debug {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// Lanes of a vector: a power of two, up to 16.
    fn lanes(&self) -> usize;

    /// The registers that hold values. The others are for the instruction set's own use.
    fn registers(&self) -> &'static [Register];

    /// `to = a op b`.
    fn binary(&self, a: &mut Assembler, op: Binary, to: Register, x: Register, y: VectorOperand);

    /// `to = op x`.
    fn unary(&self, a: &mut Assembler, op: Unary, to: Register, x: VectorOperand);

    /// `to = x` shifted by a constant below 32.
    fn shift(&self, a: &mut Assembler, shift: Shift, to: Register, x: Register, by: u8);

    /// Loads a vector.
    fn load(&self, a: &mut Assembler, to: Register, from: VectorOperand);

    /// Loads a word into all lanes.
    fn broadcast(&self, a: &mut Assembler, to: Register, base: Register, at: i32);

    /// Sets all lanes to a 32-bit register.
    fn splat(&self, a: &mut Assembler, to: Register, from: Register);

    /// Stores all lanes.
    fn store(&self, a: &mut Assembler, base: Register, at: i32, from: Register);

    /// Stores the active lanes.
    fn store_active(&self, a: &mut Assembler, base: Register, at: i32, from: Register);

    /// Makes the lanes whose bits are set in a 32-bit register the active ones.
    fn activate(&self, a: &mut Assembler, bits: Register);

    /// Sets the bits of a 32-bit register for the active lanes where a comparison holds.
    fn compare(&self, a: &mut Assembler, to: Register, kind: NumberKind, order: Order, x: Register, y: VectorOperand);

    /// `to` = −1, 0 or 1 for x below, equal to, or above y.
    fn order(&self, a: &mut Assembler, kind: NumberKind, to: Register, x: Register, y: VectorOperand);

    /// Truncates floats to signed integers; out of range saturates, NaN gives 0. `to` is not `x`.
    fn to_signed(&self, a: &mut Assembler, to: Register, x: Register);

    /// Truncates floats to unsigned integers likewise. `to` is not `x`.
    fn to_unsigned(&self, a: &mut Assembler, to: Register, x: Register);

    /// Unsigned integers to floats. `to` is not `x`.
    fn unsigned_to_float(&self, a: &mut Assembler, to: Register, x: Register);

    /// Adds 1 to the words of the active lanes at the address in a register, and jumps to a label
    /// where one is then more than the context's budget. Changes the register.
    fn spend(&self, a: &mut Assembler, words: Register, above: Label);

    /// The word of the first active lane of `x`, in a 32-bit register; another one is for use.
    fn first_active(&self, a: &mut Assembler, to: Register, x: Register, scratch: Register);

    /// Prepares [`Vectors::gather`] for the vectors with these indices: below 2³¹, and valid in the
    /// inactive lanes, too. Changes the register.
    fn scatter_indices(&self, a: &mut Assembler, index: Register);

    /// Loads each lane's vector of four words from `image` (a register with an address) plus
    /// `offset` bytes, transposed to four registers. Changes `rax`.
    fn gather(&self, a: &mut Assembler, to: [Register; 4], image: Register, offset: i32);

    /// Sets the inactive lanes to zero.
    fn zero_inactive(&self, a: &mut Assembler, to: Register, from: Register);
}
