//! Programs in the form in which the machine runs them: registers resolved to columns, checks done.

use super::arith::Mode;
use super::format::Format;
use super::isa::{
    Arith, Base, Condition, Control, DstReg, Instr, IsaError, Mask, Multiplier, Op, OpClass, Primary, Program, Reg,
    Scale, SpecialOp, Split, Src, Swizzle,
};
use super::simd::Engine;

/// The columns of a block's register file: four to a register, the stack last.
pub(super) mod column {
    /// `I0.x`.
    pub const INPUT: u16 = 64;
    /// `A.x`.
    pub const ADDRESS: u16 = 80;
    /// `S.x`.
    pub const SPECIAL: u16 = 84;
    /// `HIT.x`.
    pub const HIT: u16 = 88;
    /// `HIT_TRI`.
    pub const HIT_TRI: u16 = 92;
    /// `HIT_OBJ`.
    pub const HIT_OBJ: u16 = 93;
    /// Components of a result that cannot be computed in their place.
    pub const RESULT: u16 = 94;
    /// Values of constants and literals, one for each component of three sources.
    pub const UNIFORM: u16 = 98;
    /// What a half of a split writes only after the other has read.
    pub const HALF: u16 = 110;
    /// `S0.x` at the bottom of the stack.
    pub const STACK: u16 = 114;
}

/// A program ready to run. Holds no state of a run.
#[derive(Debug, Clone)]
pub struct Executable {
    pub(super) code: Vec<Decoded>,
    pub(super) mode: Mode,
}

impl Executable {
    /// Checks and decodes a program that has no imports, for single precision and the best instructions that this processor has.
    pub fn new(program: &Program) -> Result<Executable, IsaError> {
        program.validate()?;
        if let Some(import) = program.imports.first() {
            return Err(IsaError::Unresolved(import.name.clone()));
        }
        Ok(Executable { code: program.code.iter().map(decode).collect(), mode: Mode::F32(Engine::detect()) })
    }

    /// The same, computing in a number format.
    #[must_use]
    pub fn in_format(self, format: Format) -> Executable {
        let mode = match format {
            Format::F32 => Mode::F32(Engine::detect()),
            Format::F24 => Mode::F24,
        };
        Executable { mode, ..self }
    }

    /// The same in single precision, with certain instructions of the processor.
    #[must_use]
    pub fn on_engine(self, engine: Engine) -> Executable {
        Executable { mode: Mode::F32(engine), ..self }
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether there are no instructions.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }
}

/// One instruction.
#[derive(Debug, Clone)]
pub(super) struct Decoded {
    pub work: Work,
    pub flow: Flow,
}

/// What it does besides control.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Nothing,
    Arith(DecodedArith),
    /// Boxed, for it is large and rare.
    Split(Box<DecodedSplit>),
    Trace([Operand; 3]),
    /// Loads `count` vectors into the columns from `to` on.
    Load {
        to: u16,
        count: u16,
        base: u16,
        offset: i16,
    },
    Store {
        base: u16,
        offset: i16,
        src: Operand,
    },
    TexLoad {
        to: u16,
        texture: u8,
        coord: Operand,
    },
    TexStore {
        texture: u8,
        coord: Operand,
        src: Operand,
    },
}

/// The two operations of a split as a row of operations that gives the same: an order in which neither half writes what the
/// other has yet to read, by way of a hidden register where there is none.
#[derive(Debug, Clone)]
pub(super) struct DecodedSplit {
    pub steps: Vec<DecodedArith>,
    /// Whether the tests of all steps must hold, not one.
    pub all: bool,
}

/// Where execution goes on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flow {
    Next,
    Always(DecodedControl),
    /// Where the arithmetic's condition holds.
    If(DecodedControl),
}

/// A control operation.
#[derive(Debug, Clone, Copy)]
pub(super) enum DecodedControl {
    Jmp(u32),
    Call { target: u32, push: u8 },
    CallReg { address: Operand, push: u8 },
    Return,
}

/// A source: for each position, the column or the constant that it takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub place: Place,
    pub multiplier: Multiplier,
}

/// Where a source's components are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Columns([u16; 4]),
    /// Relative to the window's bottom.
    Stack([u16; 4]),
    /// Components of constant registers.
    Constants([u8; 4]),
    Literal(u32),
}

/// What modifiers an instruction's sources need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modify {
    Nothing,
    /// Flip signs.
    Sign,
    /// Flip signs and scale.
    Scale,
    /// Negate integers.
    Negate,
}

/// A condition's test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub all: bool,
    pub mask: Mask,
    pub ranges: u8,
    pub integer: bool,
}

/// An arithmetic instruction.
#[derive(Debug, Clone)]
pub(super) struct DecodedArith {
    pub op: Op,
    pub modify: Modify,
    /// The destination's columns, relative to the window's bottom if it is on the stack.
    pub dst: u16,
    pub dst_on_stack: bool,
    pub mask: Mask,
    /// Components of the result that anyone looks at.
    pub needed: Mask,
    /// Those of them that are computed in the result columns, and copied to the destination afterwards if they are written there: components
    /// that are only looked at, or all, where one that is written is a source of another.
    pub aside: Mask,
    /// Whether the result is what the destination already holds.
    pub idle: bool,
    pub sat: bool,
    pub special: Option<SpecialOp>,
    pub test: Option<Test>,
    pub src: [Operand; 3],
}

impl DecodedArith {
    /// Whether it copies patterns, whatever the number format.
    #[inline(always)]
    pub fn is_copy(&self) -> bool {
        self.op == Op::Mov && self.modify == Modify::Nothing && !self.sat && self.special.is_none()
    }
}

fn decode(instr: &Instr) -> Decoded {
    let work = match instr {
        Instr::Primary(Primary::Arith(arith)) => Work::Arith(decode_arith(arith, None)),
        Instr::Pair(arith, _, condition) => Work::Arith(decode_arith(arith, test(*condition, arith, Mask::XYZW))),
        Instr::Split(split, paired) => {
            Work::Split(Box::new(decode_split(split, paired.map(|(_, condition)| condition))))
        }
        Instr::Control(_) => Work::Nothing,
        Instr::Primary(Primary::Trace { orig, dir, arg }) => Work::Trace([*orig, *dir, *arg].map(|s| operand(&s))),
        Instr::Primary(Primary::Load { to, base, offset }) => {
            Work::Load { to: column::INPUT + 4 * u16::from(*to), count: 1, base: base_column(*base), offset: *offset }
        }
        Instr::Primary(Primary::Load4 { base, offset }) => {
            Work::Load { to: column::INPUT, count: 4, base: base_column(*base), offset: *offset }
        }
        Instr::Primary(Primary::Store { base, offset, src }) => {
            Work::Store { base: base_column(*base), offset: *offset, src: operand(src) }
        }
        Instr::Primary(Primary::TexLoad { to, texture, coord }) => {
            Work::TexLoad { to: column::INPUT + 4 * u16::from(*to), texture: *texture, coord: operand(coord) }
        }
        Instr::Primary(Primary::TexStore { texture, coord, src }) => {
            Work::TexStore { texture: *texture, coord: operand(coord), src: operand(src) }
        }
    };
    let flow = match (instr.condition(), instr.control().map(decode_control)) {
        (_, None) => Flow::Next,
        (Some(Condition::Any(..) | Condition::All(..)), Some(control)) => Flow::If(control),
        (Some(Condition::Always) | None, Some(control)) => Flow::Always(control),
    };
    Decoded { work, flow }
}

fn decode_control(control: Control) -> DecodedControl {
    match control {
        Control::Jmp(target) => DecodedControl::Jmp(target),
        Control::Call { target, push } => DecodedControl::Call { target, push },
        Control::CallReg { reg, component, push } => {
            DecodedControl::CallReg { address: operand(&Src::component(reg, component)), push }
        }
        Control::Return => DecodedControl::Return,
    }
}

/// The test that a condition makes of the components of an operation's result that are in `own`.
fn test(condition: Condition, arith: &Arith, own: Mask) -> Option<Test> {
    let (all, mask, ranges) = match condition {
        Condition::Always => return None,
        Condition::Any(mask, ranges) => (false, mask, ranges.bits()),
        Condition::All(mask, ranges) => (true, mask, ranges.bits()),
    };
    let mask = mask.intersection(own);
    (!mask.is_empty()).then(|| Test { all, mask, ranges, integer: arith.op.writes_integer() })
}

fn decode_split(split: &Split, condition: Option<Condition>) -> DecodedSplit {
    let [first, second] = split.halves();
    let decoded = |half: &Arith, own| decode_arith(half, condition.and_then(|condition| test(condition, half, own)));
    let [one, two] = [decoded(first, split.kind.first()), decoded(second, split.kind.second())];
    let steps = if !reads(second, first) {
        vec![one, two]
    } else if !reads(first, second) {
        vec![two, one]
    } else {
        let copy = Arith::new(Op::Mov, first.dst, &[Src::reg(Reg::from(first.dst.reg))]);
        let place = Place::Columns([0, 1, 2, 3].map(|c| column::HALF + c));
        let hidden = Operand { place, multiplier: Multiplier::ONE };
        let copy = DecodedArith { idle: false, src: [hidden; 3], ..decode_arith(&copy, None) };
        vec![DecodedArith { dst: column::HALF, dst_on_stack: false, idle: false, ..one }, two, copy]
    };
    DecodedSplit { steps, all: matches!(condition, Some(Condition::All(..))) }
}

/// Whether an operation reads a register that another one writes.
fn reads(arith: &Arith, writer: &Arith) -> bool {
    arith.sources().iter().any(|src| match *src {
        Src::Reg { reg, .. } => reg == Reg::from(writer.dst.reg) || (reg == Reg::Special && writer.special.is_some()),
        Src::Literal(_) => false,
    })
}

fn decode_arith(arith: &Arith, test: Option<Test>) -> DecodedArith {
    let (dst, dst_on_stack) = match arith.dst.reg {
        DstReg::R(n) => (4 * u16::from(n), false),
        DstReg::Stack(n) => (column::STACK + 4 * u16::from(n), true),
        DstReg::A => (column::ADDRESS, false),
    };
    let mask = arith.dst.mask;
    let special = if arith.special.is_some() { Mask::W } else { Mask::NONE };
    let needed = mask.union(special).union(test.map_or(Mask::NONE, |t| t.mask));
    let aside = if reads_written(arith) { needed } else { needed.without(mask) };
    let direct = !arith.sat && arith.special.is_none() && aside.is_empty();
    let itself = Src::Reg { reg: Reg::from(arith.dst.reg), swizzle: Swizzle::IDENTITY, multiplier: Multiplier::ONE };
    let idle = arith.op == Op::Mov && direct && arith.src[0] == itself;
    let src = arith.src.map(|s| operand(&s));
    let used = &src[..arith.op.arity()];
    let modify = if used.iter().all(|s| s.multiplier == Multiplier::ONE) {
        Modify::Nothing
    } else if arith.op.reads_integers() {
        Modify::Negate
    } else if used.iter().all(|s| s.multiplier.scale == Scale::One) {
        Modify::Sign
    } else {
        Modify::Scale
    };
    let (op, sat) = (arith.op, arith.sat);
    DecodedArith { op, modify, dst, dst_on_stack, mask, needed, aside, idle, sat, special: arith.special, test, src }
}

/// Whether a component of the result comes from a component of the destination that is written before it.
fn reads_written(arith: &Arith) -> bool {
    let dst = Reg::from(arith.dst.reg);
    arith.op.class() != OpClass::Dot
        && arith.sources().iter().any(|src| match src {
            Src::Reg { reg, swizzle, .. } if *reg == dst => arith.dst.mask.components().any(|c| {
                let from = swizzle.0[c.index()];
                from < c && arith.dst.mask.contains(from)
            }),
            Src::Reg { .. } | Src::Literal(_) => false,
        })
}

fn base_column(base: Base) -> u16 {
    match base {
        Base::A(component) => column::ADDRESS + component.index() as u16,
        Base::HitTri => column::HIT_TRI,
        Base::HitObj => column::HIT_OBJ,
    }
}

fn operand(src: &Src) -> Operand {
    let (reg, swizzle, multiplier) = match *src {
        Src::Literal(bits) => return Operand { place: Place::Literal(bits), multiplier: Multiplier::ONE },
        Src::Reg { reg, swizzle, multiplier } => (reg, swizzle, multiplier),
    };
    let from = |first: u16| swizzle.0.map(|c| first + c.index() as u16);
    let place = match reg {
        Reg::R(n) => Place::Columns(from(4 * u16::from(n))),
        Reg::I(n) => Place::Columns(from(column::INPUT + 4 * u16::from(n))),
        Reg::Special => Place::Columns(from(column::SPECIAL)),
        Reg::A => Place::Columns(from(column::ADDRESS)),
        Reg::Hit => Place::Columns(from(column::HIT)),
        Reg::HitTri => Place::Columns([column::HIT_TRI; 4]),
        Reg::HitObj => Place::Columns([column::HIT_OBJ; 4]),
        Reg::Stack(n) => Place::Stack(from(column::STACK + 4 * u16::from(n))),
        Reg::C(n) => Place::Constants(swizzle.0.map(|c| 4 * n + c.index() as u8)),
    };
    Operand { place, multiplier }
}
