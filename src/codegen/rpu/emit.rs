//! Output: the graph of blocks becomes a sequence of machine instructions (Węgrzanowski 2006, ch.
//! 10).
//!
//! Blocks are laid out in an order that keeps loops together and puts joins after what they join,
//! because the RPU lets the threads at the lowest address run first. For the same reason a loop
//! has one way back. A jump, call or return rides on the arithmetic in front of it; jumps to jumps
//! and to returns are shortened.

use super::Error;
use super::lower::{self, NotLowered};
use super::vcode::{Callee, MBlock, MFunc, MInst, MOp, MTerm};
use shadewright_ir::Loc;
use shadewright_rpu::isa::{Arith, Component, Condition, Control, Dst, DstReg, Instr, Mask, Op, Primary, Reg, Src};
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
/// [`Error::FrameTooLarge`] when a frame offset does not fit an instruction, or a virtual register
/// is left.
pub fn emit(f: MFunc, pair: bool, name: &str) -> Result<Code, Error> {
    let graph = Graph::new(f);
    let order = layout(&graph);
    let mut e = Emitter { graph: &graph, pair, code: Code::default(), block_start: 0, name };
    for (k, &b) in order.iter().enumerate() {
        e.block_start = e.code.instrs.len();
        e.code.blocks.insert(b, e.block_start);
        for inst in &graph.f.blocks[b].insts {
            e.inst(inst)?;
        }
        e.terminator(b, order.get(k + 1).copied());
    }
    Ok(e.code)
}

/// A function's blocks as they are put out.
struct Graph {
    f: MFunc,
    /// The blocks from here on are ways back that several blocks of a loop share.
    ways_back: usize,
}

impl Graph {
    /// The blocks of a function, where every loop with several ways back to where it begins has one
    /// block that all of these lead to. It comes after the rest of the loop, so threads wait there
    /// for those that are still inside. Otherwise those that go one of the ways can do so again and
    /// again before the others: paths of light that ended kept their lanes until the last path of
    /// their block did.
    fn new(f: MFunc) -> Graph {
        let ways_back = f.blocks.len();
        let loops = super::loops::loops(ways_back, |b| f.blocks[b].term.successors().collect());
        let mut graph = Graph { f, ways_back };
        for (head, body) in loops {
            let goes_back = |&b: &usize| {
                let term = &graph.f.blocks[b].term;
                let passes_through = graph.f.blocks[b].insts.is_empty() && matches!(term, MTerm::Jump(_));
                body.contains(&b) && !passes_through && term.successors().any(|t| graph.thread(t) == head)
            };
            let mut ways: Vec<usize> = body.iter().copied().filter(|&b| b < ways_back).filter(goes_back).collect();
            ways.sort_unstable();
            if ways.len() > 1 {
                graph.join(&ways, head);
            }
        }
        graph
    }

    /// Leads blocks that go to `head` to a new block that goes there.
    fn join(&mut self, ways: &[usize], head: usize) {
        let joined = self.f.blocks.len();
        for &way in ways {
            let mut term = self.f.blocks[way].term.clone();
            let to = |t: usize| if self.thread(t) == head { joined } else { t };
            match &mut term {
                MTerm::Jump(t) => *t = to(*t),
                MTerm::Branch { then, otherwise, .. } => (*then, *otherwise) = (to(*then), to(*otherwise)),
                MTerm::Return(_) => {}
            }
            self.f.blocks[way].term = term;
        }
        let MBlock { term_loc, depth, .. } = self.f.blocks[head];
        self.f.blocks.push(MBlock { insts: Vec::new(), term: MTerm::Jump(head), term_loc, depth });
    }

    /// Follows empty blocks that only jump.
    fn thread(&self, mut b: usize) -> usize {
        let blocks = &self.f.blocks[..self.ways_back];
        for _ in blocks {
            match blocks.get(b).map(|block| (&block.term, block.insts.is_empty())) {
                Some((MTerm::Jump(t), true)) if *t != b => b = *t,
                _ => return b,
            }
        }
        b
    }

    /// True if a block does nothing but return.
    fn only_returns(&self, b: usize) -> bool {
        self.f.blocks[b].insts.is_empty() && matches!(self.f.blocks[b].term, MTerm::Return(_))
    }
}

/// The order of blocks: reverse postorder, visiting what leaves a loop first so that it comes last;
/// `otherwise` comes directly after its branch.
fn layout(graph: &Graph) -> Vec<usize> {
    let f = &graph.f;
    let loops = super::loops::loops(f.blocks.len(), |b| f.blocks[b].term.successors().collect());
    // The loops around each block.
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); f.blocks.len()];
    for (number, (_, body)) in loops.iter().enumerate() {
        body.iter().for_each(|&b| around[b].push(number));
    }
    let next = |b: usize| -> Vec<usize> {
        let mut targets: Vec<usize> = f.blocks[b].term.successors().map(|s| graph.thread(s)).collect();
        // `then` is visited first, so `otherwise` follows the branch, unless it leaves a loop that
        // `then` stays in.
        let leaves = |t: usize, u: usize| {
            around[b].iter().map(|&number| &loops[number].1).any(|body| !body.contains(&t) && body.contains(&u))
        };
        if let [t, o] = targets[..]
            && leaves(o, t)
        {
            targets = vec![o, t];
        }
        targets
    };
    let start = graph.thread(0);
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
    order.retain(|&b| b == start || !graph.only_returns(b));
    order
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
    graph: &'a Graph,
    pair: bool,
    code: Code,
    /// First instruction of the block: an earlier one belongs to another and cannot carry this
    /// one's control.
    block_start: usize,
    name: &'a str,
}

impl Emitter<'_> {
    fn push(&mut self, instr: Instr, label: Option<Label>, loc: Loc) {
        self.code.instrs.push(Unplaced { instr, label, loc });
    }

    /// Adds an unconditional control operation, riding on the instruction before if that is
    /// arithmetic.
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
        let frame = self.graph.f.frame as i32;
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
        let b = self.graph.thread(b);
        if self.graph.only_returns(b) { (Control::Return, None) } else { (Control::Jmp(0), Some(Label::Block(b))) }
    }

    fn terminator(&mut self, b: usize, next: Option<usize>) {
        let block = &self.graph.f.blocks[b];
        let loc = block.term_loc;
        let falls = |t: usize| next == Some(self.graph.thread(t));
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
                if next != Some(self.graph.thread(otherwise)) {
                    let (control, label) = self.goto(otherwise);
                    self.push(Instr::Control(control), label, loc);
                }
            }
        }
    }
}
