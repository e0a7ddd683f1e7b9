//! Programs in the form in which the machine runs them: registers resolved to columns, checks done.

use super::arith::Mode;
use super::format::Format;
use super::isa::{Base, Condition, Control, Instr, IsaError, Primary, Program, Src};
use super::simd::Engine;
use super::step::{Operand, Recorder, Steps, Tests, column};
use std::ops::Range;

/// A program ready to run. Holds no state of a run.
#[derive(Debug, Clone)]
pub struct Executable {
    pub(super) code: Vec<Decoded>,
    /// The arithmetic of all instructions, in their order.
    pub(super) steps: Steps,
    pub(super) mode: Mode,
}

impl Executable {
    /// Checks and decodes a program that has no imports, for single precision and the best instructions that this processor has.
    ///
    /// # Errors
    /// Those of [`Program::validate`], and [`IsaError::Unresolved`] when the program has imports.
    pub fn new(program: &Program) -> Result<Executable, IsaError> {
        program.validate()?;
        if let Some(import) = program.imports.first() {
            return Err(IsaError::Unresolved(import.name.clone()));
        }
        let mode = Mode::F32(Engine::detect());
        let mut recorder = Recorder::default();
        let mut code: Vec<Decoded> = program.code.iter().map(|instr| decode(instr, &mut recorder)).collect();
        let mut run = 0;
        for instr in code.iter_mut().rev() {
            let plain = matches!(instr.work, Work::Arith { .. }) && matches!(instr.flow, Flow::Next);
            run = if plain { run + 1 } else { 0 };
            instr.run = run;
        }
        Ok(Executable { code, steps: recorder.finish(mode), mode })
    }

    /// The same, computing in a number format.
    #[must_use]
    pub fn in_format(self, format: Format) -> Executable {
        let mode = match format {
            Format::F32 => Mode::F32(Engine::detect()),
            Format::F24 => Mode::F24,
        };
        self.in_mode(mode)
    }

    /// The same in single precision, with certain instructions of the processor.
    #[must_use]
    pub fn on_engine(self, engine: Engine) -> Executable {
        self.in_mode(Mode::F32(engine))
    }

    fn in_mode(mut self, mode: Mode) -> Executable {
        self.steps.set_mode(mode);
        Executable { mode, ..self }
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
    /// From this one on, instructions in a row that do arithmetic and nothing else.
    pub run: u32,
}

/// What it does besides control.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Nothing,
    /// Arithmetic: which of the program's steps, and the condition on their results.
    Arith {
        steps: Range<u32>,
        tests: Option<Box<Tests>>,
    },
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

fn decode(instr: &Instr, recorder: &mut Recorder) -> Decoded {
    let work = match instr {
        Instr::Primary(Primary::Arith(arith)) => arithmetic(recorder.arith(arith, None)),
        Instr::Pair(arith, _, condition) => arithmetic(recorder.arith(arith, Some(*condition))),
        Instr::Split(split, paired) => arithmetic(recorder.split(split, paired.map(|(_, condition)| condition))),
        Instr::Control(_) => Work::Nothing,
        Instr::Primary(Primary::Trace { orig, dir, arg }) => {
            Work::Trace([*orig, *dir, *arg].map(|s| recorder.operand(&s)))
        }
        Instr::Primary(Primary::Load { to, base, offset }) => {
            Work::Load { to: column::INPUT + 4 * u16::from(*to), count: 1, base: base_column(*base), offset: *offset }
        }
        Instr::Primary(Primary::Load4 { base, offset }) => {
            Work::Load { to: column::INPUT, count: 4, base: base_column(*base), offset: *offset }
        }
        Instr::Primary(Primary::Store { base, offset, src }) => {
            Work::Store { base: base_column(*base), offset: *offset, src: recorder.operand(src) }
        }
        Instr::Primary(Primary::TexLoad { to, texture, coord }) => {
            Work::TexLoad { to: column::INPUT + 4 * u16::from(*to), texture: *texture, coord: recorder.operand(coord) }
        }
        Instr::Primary(Primary::TexStore { texture, coord, src }) => {
            Work::TexStore { texture: *texture, coord: recorder.operand(coord), src: recorder.operand(src) }
        }
    };
    let flow = match (instr.condition(), instr.control().map(|control| decode_control(control, recorder))) {
        (_, None) => Flow::Next,
        (Some(Condition::Any(..) | Condition::All(..)), Some(control)) => Flow::If(control),
        (Some(Condition::Always) | None, Some(control)) => Flow::Always(control),
    };
    Decoded { work, flow, run: 0 }
}

fn arithmetic((steps, tests): (Range<u32>, Option<Box<Tests>>)) -> Work {
    Work::Arith { steps, tests }
}

fn decode_control(control: Control, recorder: &mut Recorder) -> DecodedControl {
    match control {
        Control::Jmp(target) => DecodedControl::Jmp(target),
        Control::Call { target, push } => DecodedControl::Call { target, push },
        Control::CallReg { reg, component, push } => {
            DecodedControl::CallReg { address: recorder.operand(&Src::component(reg, component)), push }
        }
        Control::Return => DecodedControl::Return,
    }
}

fn base_column(base: Base) -> u16 {
    match base {
        Base::A(component) => column::ADDRESS + component.index() as u16,
        Base::HitTri => column::HIT_TRI,
        Base::HitObj => column::HIT_OBJ,
    }
}
