//! Decoding: programs checked, and their registers resolved to columns of a block.

use crate::arith::Mode;
use crate::column;
use crate::format::Format;
use crate::isa::{Base, Condition, Control, EntryPoint, Instr, IsaError, Primary, Program, Src};
use crate::recorder::Recorder;
use crate::step::{Operand, Steps, Tests};
use std::collections::BTreeMap;
use std::ops::Range;

/// A checked and decoded program: what the interpreter runs, what the timing model schedules, and
/// what other engines translate.
#[derive(Debug, Clone)]
pub struct DecodedProgram {
    /// The instructions, by code address.
    pub(super) code: Vec<DecodedInstr>,
    /// The arithmetic of all instructions, in their order.
    pub(super) steps: Steps,
    pub(super) mode: Mode,
    /// The functions that are entry points, by code address: the first name of each.
    pub(super) entries: BTreeMap<u32, String>,
}

impl DecodedProgram {
    /// Checks and decodes a program that has no imports.
    ///
    /// # Errors
    /// When the program is not valid, has an import, or is too large.
    pub(super) fn new(program: &Program, mode: Mode) -> Result<DecodedProgram, IsaError> {
        program.validate()?;
        if let Some(import) = program.imports.first() {
            return Err(IsaError::Unresolved(import.name.clone()));
        }
        let mut recorder = Recorder::new(mode);
        let mut code = Vec::with_capacity(program.code.len());
        for instr in &program.code {
            code.push(decode(instr, &mut recorder));
            recorder.check_size()?;
        }
        let mut run = 0;
        for instr in code.iter_mut().rev() {
            let plain = matches!(instr.work, Work::Arith { .. }) && matches!(instr.flow, Flow::Next);
            run = if plain { run + 1 } else { 0 };
            instr.run = run;
        }
        let mut entries = BTreeMap::new();
        for EntryPoint { name, address } in &program.entries {
            entries.entry(*address).or_insert_with(|| name.clone());
        }
        Ok(DecodedProgram { code, steps: recorder.finish(), mode, entries })
    }

    /// The number format that it computes in.
    pub fn format(&self) -> Format {
        self.mode.format()
    }

    /// The name of the function at a code address: that of its first entry point, where it has one.
    pub(super) fn function_name(&self, pc: u32) -> String {
        self.entries.get(&pc).cloned().unwrap_or_else(|| format!("function_{pc}"))
    }

    /// Computes in another mode from now on.
    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.steps.set_kernels(|task, modify| mode.kernels(task, modify));
        self.mode = mode;
    }
}

/// One instruction.
#[derive(Debug, Clone)]
pub(super) struct DecodedInstr {
    pub work: Work,
    pub flow: Flow,
    /// How many instructions from this one on do arithmetic and nothing else.
    pub run: u32,
}

/// The work of an instruction besides control.
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

/// Where execution continues.
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

impl Flow {
    /// The control operation, whether all lanes take it or some.
    pub fn control(self) -> Option<DecodedControl> {
        match self {
            Flow::Next => None,
            Flow::Always(control) | Flow::If(control) => Some(control),
        }
    }

    /// Where it jumps to within its function.
    pub fn jump_target(self) -> Option<u32> {
        match self.control() {
            Some(DecodedControl::Jmp(target)) => Some(target),
            _ => None,
        }
    }

    /// True if it never continues at the next address, not even after a call.
    pub fn never_falls_through(self) -> bool {
        matches!(self, Flow::Always(DecodedControl::Jmp(_) | DecodedControl::Return))
    }
}

fn decode(instr: &Instr, recorder: &mut Recorder) -> DecodedInstr {
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
    DecodedInstr { work, flow, run: 0 }
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
