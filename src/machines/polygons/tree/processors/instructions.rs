//! The instruction set of the transformation and clipping processors, which the thesis leaves open:
//! a floating-point accumulator, index registers, and addresses of eight bits that one of them may
//! modify (§3.3.1).
//!
//! There are no jumps. A loop is its body, broadcast as often as its static bound says.

use std::ops::Range;

/// An index register: 0 to 3. Each holds 8 bits.
pub type Index = u8;

/// A place in the memory of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The address.
    pub base: u8,
    /// The index register that is added to it.
    pub index: Option<Index>,
}

/// A word at a fixed address.
pub const fn at(base: u8) -> Operand {
    Operand { base, index: None }
}

/// An element of an array, which an index register chooses.
pub const fn operand(base: u8, index: Index) -> Operand {
    Operand { base, index: Some(index) }
}

/// The condition of a comparison of the accumulator with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Below zero.
    Negative,
    /// Zero or below.
    NotPositive,
    /// Zero.
    Zero,
    /// Anything but zero.
    NotZero,
    /// Zero or above.
    NotNegative,
}

impl Condition {
    /// True if it holds for a number.
    pub fn holds(self, a: f32) -> bool {
        match self {
            Self::Negative => a < 0.0,
            Self::NotPositive => a <= 0.0,
            Self::Zero => a == 0.0,
            Self::NotZero => a != 0.0,
            Self::NotNegative => a >= 0.0,
        }
    }
}

/// The numbers that `Quantize` makes fixed-point numbers of (§3.3.1: "after suitably
/// denormalizing").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// −1 to 1 as steps across the screen.
    Across,
    /// −1 to 1 as scan lines.
    Line,
    /// 0 to 1 as depths.
    Depth,
    /// 0 to 1 as a field: a color component, or a texture coordinate.
    Field,
}

/// An instruction. `A` is the accumulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// `A :=` a number that comes with the instruction.
    Literal(f32),
    /// `A := M`.
    Load(Operand),
    /// `M := A`.
    Store(Operand),
    /// `A := A + M`.
    Add(Operand),
    /// `A := A − M`.
    Subtract(Operand),
    /// `A := A · M`.
    Multiply(Operand),
    /// `A := A / M`.
    Divide(Operand),
    /// `A := −A`.
    Negate,
    /// `A := max(0, A)`.
    Positive,
    /// `A := A − X`.
    SubtractIndex(Index),
    /// Ignores all instructions up to the next `Reset` if the accumulator meets a condition.
    Shutdown(Condition),
    /// Wakes all processors.
    Reset,
    /// `X :=` a number that comes with the instruction.
    SetIndex(Index, u8),
    /// `X := M`.
    LoadIndex(Index, Operand),
    /// `M := X`.
    StoreIndex(Index, Operand),
    /// `X := X + 1`.
    Increment(Index),
    /// `X := X − 1`.
    Decrement(Index),
    /// Makes the accumulator a fixed-point number.
    Quantize(Scale),
    /// Sends the accumulator to the scan converter.
    Send,
    /// Sends the accumulator to the scan converter with the fraction bits of a slope.
    SendSlope,
}

/// The phases of figure 3-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Vertex transformation.
    Transform,
    /// Color computation.
    Color,
    /// Clipping.
    Clip,
    /// Perspective division.
    Divide,
    /// Scan conversion preprocessing.
    Preprocess,
}

impl Phase {
    /// All, in the order in which they run.
    pub const ALL: [Self; 5] = [Self::Transform, Self::Color, Self::Clip, Self::Divide, Self::Preprocess];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transform => "vertex transformation",
            Self::Color => "color computation",
            Self::Clip => "clipping",
            Self::Divide => "perspective division",
            Self::Preprocess => "scan conversion preprocessing",
        }
    }

    /// The instructions that figure 3-16 counts for it.
    pub fn published(self) -> u32 {
        match self {
            Self::Transform => 272,
            Self::Color => 153,
            Self::Clip => 1904,
            Self::Divide => 152,
            Self::Preprocess => 1171,
        }
    }
}

/// The instructions that are broadcast in a frame, by phase.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The instructions, in order.
    pub instructions: Vec<Instruction>,
    /// The range of each phase, in the order of [`Phase::ALL`].
    pub phases: [Range<usize>; 5],
}

impl Program {
    /// Appends a phase, which [`Phase::ALL`] has in this order.
    pub fn push(&mut self, phase: Phase, body: Vec<Instruction>) {
        let start = self.instructions.len();
        self.instructions.extend(body);
        self.phases[phase as usize] = start..self.instructions.len();
    }

    /// The instructions that a phase broadcasts.
    pub fn count(&self, phase: Phase) -> u32 {
        self.phases[phase as usize].len() as u32
    }

    /// All instructions of a frame.
    pub fn len(&self) -> u32 {
        self.instructions.len() as u32
    }

    /// True if nothing is broadcast.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }
}
