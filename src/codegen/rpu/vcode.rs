//! Machine code before it is final: RPU instructions on virtual registers, in a graph of basic
//! blocks.
//!
//! Selection makes it, the passes of this folder change it, and output turns it into
//! [`shadewright_rpu::isa`] instructions. It says which components an instruction reads and writes, for
//! liveness, allocation and scheduling alike; it knows nothing of the IR but source locations.

use super::conventions::Clobbers;
use shadewright_ir::Loc;
use shadewright_rpu::isa::{Base, Component, Condition, Mask, Multiplier, Op, Reg, SpecialOp, SplitKind, Swizzle};

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(pub u32);

/// The registers that a virtual register can be allocated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterClass {
    /// One word. It is written as component `w`, and may be allocated to any component of a
    /// register.
    Scalar,
    /// One word that an integer operation writes: `w` of a register.
    ScalarW,
    /// Up to four words that keep their components.
    Wide,
    /// One word that arrives in `S`. It is written as component `w`, and may be allocated to any
    /// component of `S`.
    Special,
}

/// Where an operand lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterOperand {
    /// A virtual register.
    V(VReg),
    /// A register of the RPU.
    P(Reg),
}

/// The junk register: what is written to it is never read.
pub const JUNK: RegisterOperand = RegisterOperand::P(Reg::R(15));

/// Number of the general registers that hold values.
pub const ALLOCATABLE: u8 = 15;

/// Number of nodes in front of the virtual registers in the numbering of [`RegisterOperand::node`].
pub const PHYSICAL_NODES: usize = 31;

impl RegisterOperand {
    /// The register, if it is the RPU's.
    pub fn register(self) -> Option<Reg> {
        match self {
            RegisterOperand::P(reg) => Some(reg),
            RegisterOperand::V(_) => None,
        }
    }

    /// A dense number for each place that is written, the virtual registers last; `None` for the
    /// junk register and for what does not change (`C`). `HIT`, `HIT_TRI` and `HIT_OBJ` are one
    /// node, as they change together.
    pub fn node(self) -> Option<usize> {
        Some(match self {
            RegisterOperand::V(v) => PHYSICAL_NODES + v.0 as usize,
            RegisterOperand::P(Reg::R(n)) if n < ALLOCATABLE => n as usize,
            RegisterOperand::P(Reg::R(_) | Reg::C(_)) => return None,
            RegisterOperand::P(Reg::I(n)) => 16 + n as usize,
            RegisterOperand::P(Reg::Special) => 20,
            RegisterOperand::P(Reg::A) => 21,
            RegisterOperand::P(Reg::Hit | Reg::HitTri | Reg::HitObj) => 22,
            RegisterOperand::P(Reg::Stack(n)) => 23 + n as usize,
        })
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MSrc {
    /// A place, swizzled, then multiplied.
    Reg {
        /// Where.
        place: RegisterOperand,
        /// Which component goes where.
        swizzle: Swizzle,
        /// The factor.
        mult: Multiplier,
    },
    /// A bit pattern in all components.
    Lit(u32),
}

impl MSrc {
    /// A place as it is.
    pub fn place(place: RegisterOperand) -> MSrc {
        MSrc::Reg { place, swizzle: Swizzle::IDENTITY, mult: Multiplier::ONE }
    }

    /// One component of a place.
    pub fn component(place: RegisterOperand, c: Component) -> MSrc {
        MSrc::Reg { place, swizzle: Swizzle::splat(c), mult: Multiplier::ONE }
    }

    /// A float.
    pub fn float(x: f32) -> MSrc {
        MSrc::Lit(x.to_bits())
    }

    /// The operand with its sign flipped, as a float.
    pub fn negated(self) -> MSrc {
        match self {
            MSrc::Lit(bits) => MSrc::Lit(bits ^ 0x8000_0000),
            MSrc::Reg { place, swizzle, mut mult } => {
                mult.negate = !mult.negate;
                MSrc::Reg { place, swizzle, mult }
            }
        }
    }

    /// The operand with its components rearranged once more.
    pub fn swizzled(self, by: Swizzle) -> MSrc {
        match self {
            MSrc::Reg { place, swizzle, mult } => {
                MSrc::Reg { place, swizzle: Swizzle(by.0.map(|c| swizzle.0[c.index()])), mult }
            }
            lit => lit,
        }
    }

    /// The place, if it is not a literal.
    pub fn as_place(self) -> Option<RegisterOperand> {
        match self {
            MSrc::Reg { place, .. } => Some(place),
            MSrc::Lit(_) => None,
        }
    }

    /// The bit pattern, if it is a literal.
    pub fn literal(self) -> Option<u32> {
        match self {
            MSrc::Reg { .. } => None,
            MSrc::Lit(bits) => Some(bits),
        }
    }

    /// The components of the place that are read when the given positions matter.
    pub fn read_mask(self, positions: Mask) -> Mask {
        match self {
            MSrc::Reg { swizzle, .. } => {
                positions.components().fold(Mask::NONE, |m, p| m.union(Mask::from(swizzle.0[p.index()])))
            }
            MSrc::Lit(_) => Mask::NONE,
        }
    }
}

/// The value that an instruction puts into `S`: a function of component `w` of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Special {
    /// The function.
    pub op: SpecialOp,
    /// A register of [`Class::Special`], or `S` once it is allocated.
    pub dst: RegisterOperand,
    /// The components that are written: of a virtual register `w`; of `S` those of the
    /// instruction's write mask.
    pub mask: Mask,
}

impl Special {
    /// A function whose value goes to a register of [`Class::Special`].
    pub fn new(op: SpecialOp, dst: VReg) -> Special {
        Special { op, dst: RegisterOperand::V(dst), mask: Mask::W }
    }
}

/// An arithmetic instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MArith {
    /// The operation.
    pub op: Op,
    /// True if the result is clamped to [0, 1].
    pub sat: bool,
    /// The value that goes to `S`.
    pub special: Option<Special>,
    /// Where the result goes.
    pub dst: RegisterOperand,
    /// The components that are written.
    pub mask: Mask,
    /// The sources, as many as the operation has.
    pub src: Vec<MSrc>,
}

impl MArith {
    /// An instruction without modifiers.
    pub fn new(op: Op, dst: RegisterOperand, mask: Mask, src: &[MSrc]) -> MArith {
        MArith { op, sat: false, special: None, dst, mask, src: src.to_vec() }
    }

    /// True if it only copies bits.
    pub fn is_copy(&self) -> bool {
        self.op == Op::Mov
            && !self.sat
            && self.special.is_none()
            && !matches!(self.src[0], MSrc::Reg { mult, .. } if mult != Multiplier::ONE)
    }

    /// The positions of source `i` that influence what is written, put into `S`, or tested by a
    /// condition on `tested`.
    pub fn positions(&self, i: usize, tested: Mask) -> Mask {
        let special = if self.special.is_some() { Mask::W } else { Mask::NONE };
        self.op.positions(i, self.mask.union(special).union(tested))
    }
}

/// Two operations in one slot, each on its half of the components. All sources are read before
/// anything is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MSplit {
    /// Where the halves meet.
    pub kind: SplitKind,
    /// The operation on the first components.
    pub first: MArith,
    /// The operation on the others.
    pub second: MArith,
}

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// The function of that index in the module.
    Function(usize),
    /// The shader of the current hit.
    HitShader,
}

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MOp {
    /// Arithmetic.
    Arith(MArith),
    /// Arithmetic on two halves; scheduling makes it.
    Split(MSplit),
    /// Shoots a ray.
    Trace {
        /// Origin, direction and argument.
        src: [MSrc; 3],
    },
    /// Reads a vector from memory.
    Load {
        /// The input register.
        to: u8,
        /// The base address.
        base: Base,
        /// Vectors after the base.
        offset: i32,
        /// True if the address is in scratch memory, which stores change.
        scratch: bool,
    },
    /// Writes a vector to scratch memory.
    Store {
        /// The base address.
        base: Base,
        /// Vectors after the base.
        offset: i32,
        /// The value that is written.
        src: MSrc,
        /// The positions that matter.
        mask: Mask,
    },
    /// Appends a vector to the record of the thread.
    Record {
        /// The value that is appended.
        src: MSrc,
        /// The positions that matter.
        mask: Mask,
    },
    /// Calls a function.
    Call {
        /// The function.
        callee: Callee,
        /// Parts of general registers that hold arguments.
        args: Vec<(u8, Mask)>,
        /// The registers that the call may change; `A.w` is not among them.
        clobbers: Clobbers,
        /// How far the stack window moves; set by register allocation.
        push: u8,
    },
}

/// An instruction and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MInst {
    /// The operation.
    pub op: MOp,
    /// The place in the source.
    pub loc: Loc,
}

impl MInst {
    /// The arithmetic, if it is that.
    pub fn arith(&self) -> Option<&MArith> {
        match &self.op {
            MOp::Arith(a) => Some(a),
            _ => None,
        }
    }

    /// The arithmetic, if it is that, to be changed.
    pub fn arith_mut(&mut self) -> Option<&mut MArith> {
        match &mut self.op {
            MOp::Arith(a) => Some(a),
            _ => None,
        }
    }

    /// Calls `f` with each source operand, in the order of [`MInst::sources`].
    pub fn for_each_source_mut(&mut self, f: impl FnMut(&mut MSrc)) {
        match &mut self.op {
            MOp::Arith(a) => a.src.iter_mut().for_each(f),
            MOp::Trace { src } => src.iter_mut().for_each(f),
            MOp::Store { src, .. } | MOp::Record { src, .. } => [src].into_iter().for_each(f),
            MOp::Split(MSplit { first, second, .. }) => first.src.iter_mut().chain(&mut second.src).for_each(f),
            MOp::Load { .. } | MOp::Call { .. } => {}
        }
    }

    /// The source operands with the positions that matter; `tested` are the positions that a paired
    /// condition looks at.
    pub fn sources(&self, tested: Mask) -> Vec<(MSrc, Mask)> {
        let of = |a: &MArith, tested: Mask| -> Vec<(MSrc, Mask)> {
            a.src.iter().enumerate().map(|(i, &s)| (s, a.positions(i, tested))).collect()
        };
        match &self.op {
            MOp::Arith(a) => of(a, tested),
            MOp::Split(MSplit { kind, first, second }) => {
                let half = kind.first().bits();
                let mut sources = of(first, Mask::from_bits(tested.bits() & half));
                sources.extend(of(second, Mask::from_bits(tested.bits() & !half)));
                sources
            }
            MOp::Trace { src } => src.iter().copied().zip([Mask::XYZ, Mask::XYZ, Mask::XYZW]).collect(),
            MOp::Store { src, mask, .. } | MOp::Record { src, mask } => vec![(*src, *mask)],
            MOp::Load { .. } | MOp::Call { .. } => Vec::new(),
        }
    }

    /// Calls `f` with each place read and the components read; `tested` are the positions that a
    /// paired condition looks at.
    pub fn for_each_use(&self, tested: Mask, mut f: impl FnMut(RegisterOperand, Mask)) {
        for (s, positions) in self.sources(tested) {
            let mask = s.read_mask(positions);
            if let Some(place) = s.as_place().filter(|_| !mask.is_empty()) {
                f(place, mask);
            }
        }
        match &self.op {
            MOp::Arith(_) | MOp::Split(_) | MOp::Trace { .. } | MOp::Record { .. } => {}
            MOp::Load { base, .. } | MOp::Store { base, .. } => base_use(*base, &mut f),
            MOp::Call { callee, args, .. } => {
                for &(r, mask) in args {
                    f(RegisterOperand::P(Reg::R(r)), mask);
                }
                if *callee == Callee::HitShader {
                    f(RegisterOperand::P(Reg::Hit), Mask::XYZW);
                }
                f(RegisterOperand::P(Reg::A), Mask::W);
            }
        }
    }

    /// Calls `f` with each place written and its components.
    pub fn for_each_def(&self, mut f: impl FnMut(RegisterOperand, Mask)) {
        let mut arith = |a: &MArith| {
            f(a.dst, a.mask);
            if let Some(s) = a.special {
                f(s.dst, s.mask);
            }
        };
        match &self.op {
            MOp::Arith(a) => arith(a),
            MOp::Split(MSplit { first, second, .. }) => {
                arith(first);
                arith(second);
            }
            MOp::Trace { .. } => f(RegisterOperand::P(Reg::Hit), Mask::XYZW),
            MOp::Load { to, .. } => f(RegisterOperand::P(Reg::I(*to)), Mask::XYZW),
            MOp::Store { .. } | MOp::Record { .. } => {}
            MOp::Call { clobbers, .. } => clobbers.for_each(f),
        }
    }

    /// True if it does something besides writing registers.
    pub fn has_effect(&self) -> bool {
        matches!(self.op, MOp::Trace { .. } | MOp::Store { .. } | MOp::Record { .. } | MOp::Call { .. })
    }
}

fn base_use(base: Base, f: &mut impl FnMut(RegisterOperand, Mask)) {
    match base {
        Base::A(c) => f(RegisterOperand::P(Reg::A), Mask::from(c)),
        Base::HitTri | Base::HitObj => f(RegisterOperand::P(Reg::Hit), Mask::XYZW),
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MTerm {
    /// Continues at a block.
    Jump(usize),
    /// Goes to `then` when the result of the block's last instruction satisfies the condition, else
    /// to `otherwise`.
    Branch {
        /// The condition.
        cond: Condition,
        /// Where to go when it holds.
        then: usize,
        /// Where to go when it does not.
        otherwise: usize,
        /// The condition that holds exactly when `cond` does not, if the RPU has one.
        inverse: Option<Condition>,
    },
    /// Leaves the function; parts of general registers hold the results.
    Return(Vec<(u8, Mask)>),
}

impl MTerm {
    /// The blocks that may follow.
    pub fn successors(&self) -> impl Iterator<Item = usize> + use<> {
        let (a, b) = match self {
            MTerm::Jump(t) => (Some(*t), None),
            MTerm::Branch { then, otherwise, .. } => (Some(*then), Some(*otherwise)),
            MTerm::Return(_) => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The positions of the last instruction's result that are tested.
    pub fn tested(&self) -> Mask {
        match self {
            MTerm::Branch { cond, .. } => cond.mask(),
            _ => Mask::NONE,
        }
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MBlock {
    /// Instructions, in order.
    pub insts: Vec<MInst>,
    /// The end.
    pub term: MTerm,
    /// Where the end comes from.
    pub term_loc: Loc,
    /// Number of loops around the block.
    pub depth: u32,
}

impl MBlock {
    /// The positions of instruction `i`'s result that the block's condition tests.
    pub fn tested(&self, i: usize) -> Mask {
        if i + 1 == self.insts.len() { self.term.tested() } else { Mask::NONE }
    }
}

/// A function.
#[derive(Clone, Debug)]
pub struct MFunc {
    /// Blocks; the first is the entry.
    pub blocks: Vec<MBlock>,
    /// The class of each virtual register.
    pub vregs: Vec<RegisterClass>,
    /// Parts of general registers that hold the parameters at the start.
    pub params: Vec<(u8, Mask)>,
    /// Vectors of scratch memory that one activation takes.
    pub frame: u32,
}

impl MFunc {
    /// Makes a virtual register.
    pub fn new_vreg(&mut self, class: RegisterClass) -> VReg {
        self.vregs.push(class);
        VReg(self.vregs.len() as u32 - 1)
    }

    /// For each block, the blocks that may come before it.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut preds = vec![Vec::new(); self.blocks.len()];
        for (i, b) in self.blocks.iter().enumerate() {
            for s in b.term.successors() {
                preds[s].push(i);
            }
        }
        preds
    }

    /// The blocks that can be reached, each after its predecessors except around loops.
    pub fn reverse_postorder(&self) -> Vec<usize> {
        let successors = |b: usize| self.blocks[b].term.successors().collect::<Vec<_>>();
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::new();
        let mut stack = vec![(0usize, successors(0))];
        seen[0] = true;
        while let Some((b, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(s) if !std::mem::replace(&mut seen[s], true) => stack.push((s, successors(s))),
                Some(_) => {}
                None => {
                    order.push(*b);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Number of places that liveness distinguishes.
    pub fn nodes(&self) -> usize {
        PHYSICAL_NODES + self.vregs.len()
    }
}
