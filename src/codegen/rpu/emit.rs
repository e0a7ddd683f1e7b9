//! Output: the graph of blocks becomes a sequence of machine instructions (Węgrzanowski 2006, ch. 10).
//!
//! Blocks are laid out in an order that keeps loops together and puts joins behind what they join, because the machine lets the threads at the lowest address run
//! first. A jump, call or return rides on the arithmetic in front of it; jumps to jumps and to returns are shortened.

use super::Error;
use super::lower::{self, NotLowered};
use super::vcode::{Callee, MFunc, MInst, MOp, MTerm};
use crate::ir::Loc;
use crate::rpu::isa::{Arith, Component, Condition, Control, Dst, DstReg, Instr, Mask, Op, Primary, Reg, Src};
use std::collections::HashMap;

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// To a block of the function.
    Block(usize),
    /// To a function of the module.
    Function(usize),
}

/// An instruction whose code address is not known yet.
#[derive(Clone, Debug)]
pub struct Unplaced {
    /// The instruction, with address 0 in place of the label.
    pub instr: Instr,
    /// The label that its control operation goes to.
    pub label: Option<Label>,
    /// Where it comes from.
    pub loc: Loc,
}

/// The code of one function.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The instructions.
    pub instrs: Vec<Unplaced>,
    /// Start of each block, as an index into `instrs`.
    pub blocks: HashMap<usize, usize>,
}

/// Emits a function; `pair` lets control ride on arithmetic.
///
/// # Errors
/// [`Error::FrameTooLarge`] when a frame offset does not fit an instruction, or a virtual register is left.
pub fn emit(f: &MFunc, pair: bool, name: &str) -> Result<Code, Error> {
    let order = layout(f);
    let mut e = Emitter { f, pair, code: Code::default(), block_start: 0, name };
    for (k, &b) in order.iter().enumerate() {
        e.block_start = e.code.instrs.len();
        e.code.blocks.insert(b, e.block_start);
        for inst in &f.blocks[b].insts {
            e.inst(inst)?;
        }
        e.terminator(b, order.get(k + 1).copied());
    }
    Ok(e.code)
}

/// Follows empty blocks that only jump.
fn thread(f: &MFunc, mut b: usize) -> usize {
    for _ in 0..f.blocks.len() {
        match f.blocks[b].term {
            MTerm::Jump(t) if f.blocks[b].insts.is_empty() && t != b => b = t,
            _ => return b,
        }
    }
    b
}

/// The order of blocks: reverse postorder, visiting what leaves a loop first so that it comes last; `otherwise` comes directly behind its branch.
fn layout(f: &MFunc) -> Vec<usize> {
    let loops = super::loops::loops(f.blocks.len(), |b| f.blocks[b].term.successors().collect());
    let next = |b: usize| -> Vec<usize> {
        let mut targets: Vec<usize> = f.blocks[b].term.successors().map(|s| thread(f, s)).collect();
        // `then` is visited first, so `otherwise` follows the branch, unless it leaves a loop that `then` stays in.
        let leaves = |t: usize, u: usize| {
            loops.iter().filter(|(_, body)| body.contains(&b)).any(|(_, body)| !body.contains(&t) && body.contains(&u))
        };
        if let [t, o] = targets[..]
            && leaves(o, t)
        {
            targets = vec![o, t];
        }
        targets
    };
    let start = thread(f, 0);
    let mut seen = vec![false; f.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(start, next(start), 0usize)];
    seen[start] = true;
    while let Some((b, targets, i)) = stack.last_mut() {
        match targets.get(*i) {
            None => {
                order.push(*b);
                stack.pop();
            }
            Some(&t) => {
                *i += 1;
                if !std::mem::replace(&mut seen[t], true) {
                    stack.push((t, next(t), 0));
                }
            }
        }
    }
    order.reverse();
    // Who would go to a block that only returns returns itself.
    order.retain(|&b| b == start || !only_returns(f, b));
    order
}

/// Whether a block does nothing but return.
fn only_returns(f: &MFunc, b: usize) -> bool {
    f.blocks[b].insts.is_empty() && matches!(f.blocks[b].term, MTerm::Return(_))
}

/// An instruction that also does a control operation, if it can carry one.
fn with_control(instr: Instr, control: Control, condition: Condition) -> Option<Instr> {
    match instr {
        Instr::Primary(Primary::Arith(a)) => Some(Instr::Pair(a, control, condition)),
        Instr::Split(split, None) => Some(Instr::Split(split, Some((control, condition)))),
        _ => None,
    }
}

struct Emitter<'a> {
    f: &'a MFunc,
    pair: bool,
    code: Code,
    /// First instruction of the block: what stands before belongs to another and cannot carry this one's control.
    block_start: usize,
    name: &'a str,
}

impl Emitter<'_> {
    fn push(&mut self, instr: Instr, label: Option<Label>, loc: Loc) {
        self.code.instrs.push(Unplaced { instr, label, loc });
    }

    /// Adds an unconditional control operation, riding on the instruction before if that is arithmetic.
    fn control(&mut self, control: Control, label: Option<Label>, loc: Loc) {
        let last = self.code.instrs.len().checked_sub(1).filter(|&i| self.pair && i >= self.block_start);
        if let Some(i) = last
            && let Some(instr) = with_control(self.code.instrs[i].instr, control, Condition::Always)
        {
            self.code.instrs[i].instr = instr;
            self.code.instrs[i].label = label;
            return;
        }
        self.push(Instr::Control(control), label, loc);
    }

    fn inst(&mut self, inst: &MInst) -> Result<(), Error> {
        if let MOp::Call { callee, push, .. } = inst.op {
            self.call(callee, push, inst.loc);
            return Ok(());
        }
        let function = || self.name.into();
        let instr = lower::instr(inst).map_err(|e| match e {
            NotLowered::Offset => Error::FrameTooLarge { function: function() },
            NotLowered::Virtual | NotLowered::Call => Error::Unallocated { function: function() },
        })?;
        self.push(instr, None, inst.loc);
        Ok(())
    }

    /// Moves the base of scratch memory by a frame.
    fn advance(&mut self, by: i32, loc: Loc) {
        if by != 0 {
            let w = Src::component(Reg::A, Component::W);
            let dst = Dst { reg: DstReg::A, mask: Mask::W };
            let arith = Arith::new(Op::Iadd, dst, &[w, Src::Literal(by as u32)]);
            self.push(Instr::Primary(Primary::Arith(arith)), None, loc);
        }
    }

    fn call(&mut self, callee: Callee, push: u8, loc: Loc) {
        let frame = self.f.frame as i32;
        self.advance(frame, loc);
        match callee {
            Callee::Function(n) => self.control(Control::Call { target: 0, push }, Some(Label::Function(n)), loc),
            Callee::HitShader => {
                self.control(Control::CallReg { reg: Reg::Hit, component: Component::W, push }, None, loc)
            }
        }
        self.advance(-frame, loc);
    }

    /// The control operation that goes to a block: a return when the block only returns.
    fn goto(&self, b: usize) -> (Control, Option<Label>) {
        let b = thread(self.f, b);
        if only_returns(self.f, b) { (Control::Return, None) } else { (Control::Jmp(0), Some(Label::Block(b))) }
    }

    fn terminator(&mut self, b: usize, next: Option<usize>) {
        let block = &self.f.blocks[b];
        let loc = block.term_loc;
        let falls = |t: usize| next == Some(thread(self.f, t));
        match &block.term {
            MTerm::Return(_) => self.control(Control::Return, None, loc),
            MTerm::Jump(t) => {
                if !falls(*t) {
                    let (control, label) = self.goto(*t);
                    self.control(control, label, loc);
                }
            }
            MTerm::Branch { cond, then, otherwise, inverse } => {
                let turned = inverse.filter(|_| falls(*then) && !falls(*otherwise));
                let (cond, then, otherwise) = match turned {
                    Some(inverse) => (inverse, *otherwise, *then),
                    None => (*cond, *then, *otherwise),
                };
                let (control, label) = self.goto(then);
                if let Some(last) = self.code.instrs.last_mut()
                    && let Some(instr) = with_control(last.instr, control, cond)
                {
                    last.instr = instr;
                    last.label = label;
                }
                if next != Some(thread(self.f, otherwise)) {
                    let (control, label) = self.goto(otherwise);
                    self.push(Instr::Control(control), label, loc);
                }
            }
        }
    }
}
