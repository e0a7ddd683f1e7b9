//! Instruction selection: a legal IR function becomes machine code on virtual registers.
//!
//! Values that are only another way to read a register (a component, a sign, a factor, a constant)
//! take no instruction: they become swizzles, multipliers and literals of their users
//! ([`Operand`]). A product used once becomes part of its sum (`mad`), an operation used once part
//! of the clamp or reciprocal that follows it. Values from registers that are soon overwritten
//! (`I`, `HIT`) are copied at once; forwarding removes the copies that turn out useless.

use super::calls::{self, lanes};
use super::compare::Bit;
use super::constant_pool::Layout;
use super::conventions::Plan;
use super::legalize::{is_comparison, is_connective};
use super::rotation::{LastUses, Rotation};
use super::vcode::{
    Callee, JUNK, MArith, MBlock, MFunc, MInst, MOp, MSrc, MTerm, RegisterClass, RegisterOperand, Special, VReg,
};
use super::{Abi, Error, Passes};
use shadewright_ir::{BlockId, Const, Function, Inst, Loc, Op, SlotId, Terminator, Type, Value};
use shadewright_rpu::isa::{self, Base, Component, Mask, Multiplier, Reg, SpecialOp, Swizzle};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The form of a value for its users.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A source that any instruction can have.
    Src(MSrc),
    /// A vector constant with different components and no register.
    Parts(Vec<u32>),
}

/// The data that selection needs besides the function.
#[derive(Debug)]
pub struct Context<'a> {
    /// Function indices by name.
    pub index: &'a HashMap<Arc<str>, usize>,
    /// Conventions for shaders.
    pub abi: Abi,
    /// The plan, which knows what calls may change.
    pub plan: &'a Plan,
    /// Which passes run.
    pub passes: &'a Passes,
    /// Number of input registers that selection may use; spill code takes the rest.
    pub inputs: u8,
    /// The registers that hold constants.
    pub layout: &'a Layout,
}

/// Selects instructions for a function.
///
/// # Errors
/// See [`Error`]: too many arguments, an unknown function, a constant register or frame out of
/// range.
pub fn select(f: &Function, context: Context) -> Result<MFunc, Error> {
    let mut frame = 0u64;
    let mut slots = Vec::new();
    for slot in &f.slots {
        slots.push(frame);
        frame += u64::from(slot.len);
    }
    if frame > isa_offset_max() {
        return Err(Error::FrameTooLarge { function: f.name.clone() });
    }
    let mut s = Selector {
        f,
        context,
        slots: slots.into_iter().map(|n| n as i32).collect(),
        operands: vec![None; f.values.len()],
        vregs: HashMap::new(),
        defs: f.blocks.iter().flat_map(|b| &b.insts).flat_map(|i| i.results.iter().map(move |&r| (r, i))).collect(),
        folded: HashSet::new(),
        out: MFunc { blocks: Vec::new(), vregs: Vec::new(), params: Vec::new(), frame: frame as u32 },
        code: Vec::new(),
        loc: Loc::NONE,
        last_uses: LastUses::default(),
        position: 0,
        inputs: Rotation::new(),
        addresses: Rotation::new(),
    };
    s.run()?;
    Ok(s.out)
}

/// Largest offset of a load or store.
fn isa_offset_max() -> u64 {
    i16::MAX as u64
}

struct Selector<'a> {
    f: &'a Function,
    context: Context<'a>,
    /// First frame vector of each array.
    slots: Vec<i32>,
    operands: Vec<Option<Operand>>,
    vregs: HashMap<Value, VReg>,
    defs: HashMap<Value, &'a Inst>,
    /// Values computed by their only user.
    folded: HashSet<Value>,
    out: MFunc,
    code: Vec<MInst>,
    loc: Loc,
    last_uses: LastUses,
    position: usize,
    inputs: Rotation<Value, 4>,
    addresses: Rotation<MSrc, 3>,
}

impl Selector<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let f = self.f;
        let params = calls::assign(f.params.iter().map(|p| p.ty), &f.name)?;
        self.out.params = params.clone();
        self.fold_single_uses();
        let empty = |depth| MBlock { insts: vec![], term: MTerm::Jump(0), term_loc: Loc::NONE, depth };
        let depths =
            super::loops::depths(f.blocks.len(), |b| f.blocks[b].term.targets().map(|t| t.block.0 as usize).collect());
        self.out.blocks = depths.into_iter().map(empty).collect();
        for id in f.reverse_postorder() {
            let block = f.block(id);
            self.last_uses = LastUses::for_block(f, block, &self.folded);
            self.inputs.clear();
            self.addresses.clear();
            if id == BlockId(0) {
                for (&v, &(r, mask)) in block.params.iter().zip(&params) {
                    self.copy_from_register(v, r, mask);
                }
            }
            for (i, inst) in block.insts.iter().enumerate() {
                self.position = i;
                self.loc = inst.loc;
                self.inst(inst)?;
            }
            self.position = block.insts.len();
            self.loc = block.term_loc;
            let term = self.terminator(&block.term)?;
            let out = &mut self.out.blocks[id.0 as usize];
            out.insts = std::mem::take(&mut self.code);
            out.term = term;
            out.term_loc = block.term_loc;
        }
        Ok(())
    }

    // --- what takes no instruction ---

    /// `a · c` with a constant factor that a source can have: the operand and the factor.
    fn scaled(&self, inst: &Inst) -> Option<(Value, Multiplier)> {
        if !self.context.passes.forward {
            return None;
        }
        let factor = |v: Value| match &self.defs.get(&v)?.op {
            Op::Const(c) => match c.floats()? {
                [x, rest @ ..] if rest.iter().all(|r| r.to_bits() == x.to_bits()) => {
                    Multiplier::from_factor(*x).filter(|m| m.scale != isa::Scale::One)
                }
                _ => None,
            },
            Op::Splat => match self.defs.get(&self.defs[&v].args[0])?.op {
                Op::Const(Const::F32(x)) => Multiplier::from_factor(x).filter(|m| m.scale != isa::Scale::One),
                _ => None,
            },
            _ => None,
        };
        let (a, b) = (inst.args[0], inst.args[1]);
        let (value, by) = factor(b).map(|m| (a, m)).or_else(|| factor(a).map(|m| (b, m)))?;
        // A factor on a factor would round differently than the two products.
        match self.operands[value.0 as usize] {
            Some(Operand::Src(MSrc::Reg { mult, .. })) if mult.scale == isa::Scale::One => Some((value, by)),
            _ => None,
        }
    }

    /// One source whose components are the given scalars, if they lie in one register with one
    /// factor, or are all constants.
    fn same_register(&self, scalars: &[Value]) -> Option<Operand> {
        let mut common = None;
        let mut components = Vec::new();
        let mut bits = Vec::new();
        for s in scalars {
            match self.operands[s.0 as usize].as_ref()? {
                Operand::Src(MSrc::Reg { place, swizzle, mult }) => {
                    if *common.get_or_insert((*place, *mult)) != (*place, *mult) {
                        return None;
                    }
                    components.push(swizzle.0[0]);
                }
                Operand::Src(MSrc::Lit(b)) => bits.push(*b),
                Operand::Parts(_) => return None,
            }
        }
        if components.is_empty() {
            return Some(Operand::Parts(bits));
        }
        let (place, mult) = common.filter(|_| bits.is_empty())?;
        Some(Operand::Src(MSrc::Reg { place, swizzle: Swizzle::from_components(&components)?, mult }))
    }

    /// Finds operations whose only user can compute them on the way.
    fn fold_single_uses(&mut self) {
        let mut uses: HashMap<Value, usize> = HashMap::new();
        for b in &self.f.blocks {
            b.insts.iter().flat_map(|i| &i.args).for_each(|&a| *uses.entry(a).or_default() += 1);
            b.term.for_each_arg(|a| *uses.entry(a).or_default() += 1);
        }
        for b in &self.f.blocks {
            let here: HashSet<Value> = b.insts.iter().flat_map(|i| i.results.iter().copied()).collect();
            for inst in &b.insts {
                let passes = self.context.passes;
                let folds = |v: &&Value| {
                    let Some(def) = self.defs.get(*v).filter(|_| uses[*v] == 1 && here.contains(*v)) else {
                        return false;
                    };
                    match inst.op {
                        Op::Add | Op::Sub => passes.mad && def.op == Op::Mul,
                        Op::Sat => is_foldable(&def.op),
                        Op::Rcp | Op::Rsq => passes.merge && (is_foldable(&def.op) || def.op == Op::Sat),
                        _ => false,
                    }
                };
                if let Some(&v) = inst.args.iter().find(folds) {
                    self.folded.insert(v);
                }
            }
        }
    }

    fn operand(&self, v: Value) -> Operand {
        // Definitions come before uses in reverse postorder, so the operand exists.
        self.operands[v.0 as usize].clone().unwrap_or(Operand::Src(MSrc::Lit(0)))
    }

    // --- making code ---

    fn push(&mut self, op: MOp) {
        self.code.push(MInst { op, loc: self.loc });
    }

    fn arith(&mut self, op: isa::Op, dst: RegisterOperand, mask: Mask, src: &[MSrc]) {
        self.push(MOp::Arith(MArith::new(op, dst, mask, src)));
    }

    fn class_of(&self, ty: Type) -> RegisterClass {
        if matches!(ty, Type::Vec2 | Type::Vec3 | Type::Vec4) { RegisterClass::Wide } else { RegisterClass::Scalar }
    }

    /// The register of a value that has one, which then is its operand.
    fn vreg(&mut self, v: Value) -> RegisterOperand {
        let ty = self.f.ty(v);
        let class = self.class_of(ty);
        let r = match self.vregs.get(&v) {
            Some(&r) => r,
            None => {
                let r = self.out.new_vreg(class);
                self.vregs.insert(v, r);
                r
            }
        };
        let place = RegisterOperand::V(r);
        let src = if class == RegisterClass::Wide { MSrc::place(place) } else { MSrc::component(place, Component::W) };
        self.operands[v.0 as usize] = Some(Operand::Src(src));
        place
    }

    /// The register of a value that an integer operation computes.
    fn vreg_w(&mut self, v: Value) -> RegisterOperand {
        let place = self.vreg(v);
        if let RegisterOperand::V(r) = place {
            self.out.vregs[r.0 as usize] = RegisterClass::ScalarW;
        }
        place
    }

    fn copy_from_register(&mut self, v: Value, r: u8, mask: Mask) {
        let dst = self.vreg(v);
        let from = RegisterOperand::P(Reg::R(r));
        let src = if mask == Mask::W { MSrc::component(from, Component::W) } else { MSrc::place(from) };
        self.arith(isa::Op::Mov, dst, mask, &[src]);
    }

    /// An operation on every component of `mask`; vector constants without a register split it by
    /// their components.
    fn componentwise(&mut self, a: MArith, args: &[Operand]) {
        let columns = |c: Component| -> Vec<u32> {
            args.iter()
                .map(|o| match o {
                    Operand::Parts(bits) => bits.get(c.index()).copied().unwrap_or(0),
                    Operand::Src(_) => 0,
                })
                .collect()
        };
        let mut groups: Vec<(Vec<u32>, Mask)> = Vec::new();
        for c in a.mask.components() {
            let key = columns(c);
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, mask)) => *mask = mask.union(c.into()),
                None => groups.push((key, c.into())),
            }
        }
        for (key, mask) in groups {
            let src: Vec<MSrc> = args
                .iter()
                .zip(key)
                .map(|(o, bits)| match o {
                    Operand::Src(s) => *s,
                    Operand::Parts(_) => MSrc::Lit(bits),
                })
                .collect();
            let arith = MArith { mask, src, ..a.clone() };
            self.push(MOp::Arith(super::simplify::simplify(arith)));
        }
    }

    /// An operand as a source, through a register if need be.
    fn source(&mut self, v: Value) -> MSrc {
        match self.operand(v) {
            Operand::Src(s) => s,
            parts => {
                let mask = lanes(self.f.ty(v));
                let dst = RegisterOperand::V(self.out.new_vreg(RegisterClass::Wide));
                self.componentwise(MArith::new(isa::Op::Mov, dst, mask, &[]), &[parts]);
                MSrc::place(dst)
            }
        }
    }

    /// An operand that is a bit pattern as it stands, without a factor.
    fn bits(&mut self, v: Value) -> MSrc {
        match self.source(v) {
            s @ MSrc::Reg { mult, .. } if mult != Multiplier::ONE => {
                let dst = RegisterOperand::V(self.out.new_vreg(RegisterClass::Scalar));
                self.arith(isa::Op::Mov, dst, Mask::W, &[s]);
                MSrc::component(dst, Component::W)
            }
            s => s,
        }
    }

    /// The arithmetic that computes a value, folded operations included, with its operands in
    /// order.
    fn formula(&self, inst: &Inst) -> (isa::Op, Vec<Operand>, bool) {
        let product = |v: Value| self.defs.get(&v).filter(|_| self.folded.contains(&v)).map(|i| &i.args);
        let get = |v: Value| self.operand(v);
        let minus = |v: Value| negated(self.operand(v));
        let args = &inst.args;
        match inst.op {
            Op::Add => match (product(args[0]), product(args[1])) {
                (Some(p), _) => (isa::Op::Mad, vec![get(p[0]), get(p[1]), get(args[1])], false),
                (None, Some(p)) => (isa::Op::Mad, vec![get(p[0]), get(p[1]), get(args[0])], false),
                (None, None) => (isa::Op::Add, vec![get(args[0]), get(args[1])], false),
            },
            Op::Sub => match (product(args[0]), product(args[1])) {
                (Some(p), _) => (isa::Op::Mad, vec![get(p[0]), get(p[1]), minus(args[1])], false),
                (None, Some(p)) => (isa::Op::Mad, vec![minus(p[0]), get(p[1]), get(args[0])], false),
                (None, None) => (isa::Op::Add, vec![get(args[0]), minus(args[1])], false),
            },
            Op::Mul => (isa::Op::Mul, vec![get(args[0]), get(args[1])], false),
            Op::Frac => (isa::Op::Frac, vec![get(args[0])], false),
            Op::Dot => {
                let op = if self.f.ty(args[0]) == Type::Vec4 { isa::Op::Dp4 } else { isa::Op::Dp3 };
                (op, vec![get(args[0]), get(args[1])], false)
            }
            Op::Sat => match self.folded_def(args[0]) {
                Some(def) => {
                    let (op, operands, _) = self.formula(def);
                    (op, operands, true)
                }
                None => (isa::Op::Mov, vec![get(args[0])], true),
            },
            _ => (isa::Op::Mov, inst.results.first().map(|&r| get(r)).into_iter().collect(), false),
        }
    }

    fn folded_def(&self, v: Value) -> Option<&Inst> {
        self.defs.get(&v).copied().filter(|_| self.folded.contains(&v))
    }

    /// Emits a formula; dot products get their constants in registers.
    fn emit(
        &mut self,
        formula: (isa::Op, Vec<Operand>, bool),
        dst: RegisterOperand,
        mask: Mask,
        special: Option<Special>,
    ) {
        let (op, mut operands, sat) = formula;
        if op.class() == isa::OpClass::Dot {
            for o in &mut operands {
                if let Operand::Parts(bits) = o {
                    let t = RegisterOperand::V(self.out.new_vreg(RegisterClass::Wide));
                    let parts = Mask::from_bits(((1u16 << bits.len()) - 1) as u8);
                    let o_taken = std::mem::replace(o, Operand::Src(MSrc::place(t)));
                    self.componentwise(MArith::new(isa::Op::Mov, t, parts, &[]), &[o_taken]);
                }
            }
        }
        let a = MArith { op, sat, special, dst, mask, src: vec![] };
        self.componentwise(a, &operands);
    }

    /// `rcp` or `rsq`: a register that lives in `S`.
    fn special(&mut self, inst: &Inst, op: SpecialOp) {
        let formula = match self.folded_def(inst.args[0]) {
            Some(def) => self.formula(def),
            None => (isa::Op::Mov, vec![self.operand(inst.args[0])], false),
        };
        let result = self.out.new_vreg(RegisterClass::Special);
        self.emit(formula, JUNK, Mask::W, Some(Special::new(op, result)));
        self.operands[inst.results[0].0 as usize] =
            Some(Operand::Src(MSrc::component(RegisterOperand::V(result), Component::W)));
    }

    /// Puts an address into a component of `A`, unless it is in one.
    fn address(&mut self, src: MSrc) -> Component {
        let (n, present) = self.addresses.find_or_take(src);
        let c = Component::from_index(n as u8);
        if !present {
            self.arith(isa::Op::Mov, RegisterOperand::P(Reg::A), c.into(), &[src]);
        }
        c
    }

    /// Loads a vector and copies what the value's type takes of it.
    fn load(&mut self, result: Value, base: Base, offset: i32, scratch: bool) {
        let limit = usize::from(self.context.inputs);
        let to = self.inputs.take(result, self.position, limit, &self.last_uses) as u8;
        self.push(MOp::Load { to, base, offset, scratch });
        let dst = self.vreg(result);
        let from = RegisterOperand::P(Reg::I(to));
        let mask = lanes(self.f.ty(result));
        let src = if mask == Mask::W { MSrc::component(from, Component::W) } else { MSrc::place(from) };
        self.arith(isa::Op::Mov, dst, mask, &[src]);
    }

    /// Base and offset of an element of an array.
    fn element(&mut self, slot: SlotId, index: Value) -> (Base, i32) {
        let first = self.slots[slot.0 as usize];
        match self.bits(index) {
            // A store beyond the array's end is after a test that never lets it run; its
            // offset has to fit all the same.
            MSrc::Lit(i) => {
                let most = i32::from(i16::MAX);
                (Base::A(Component::W), first.saturating_add_unsigned(i).min(most))
            }
            index => {
                let t = RegisterOperand::V(self.out.new_vreg(RegisterClass::ScalarW));
                let frame = MSrc::component(RegisterOperand::P(Reg::A), Component::W);
                self.arith(isa::Op::Iadd, t, Mask::W, &[frame, index]);
                (Base::A(self.address(MSrc::component(t, Component::W))), first)
            }
        }
    }

    fn integer(&mut self, op: isa::Op, inst: &Inst) {
        let src: Vec<MSrc> = inst.args.iter().map(|&a| self.bits(a)).collect();
        let dst = self.vreg_w(inst.results[0]);
        self.arith(op, dst, Mask::W, &src);
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Error> {
        let args = &inst.args;
        if let [result] = inst.results[..] {
            if self.folded.contains(&result) || is_comparison(&inst.op) {
                return Ok(());
            }
            if let Some(operand) = self.view(inst) {
                self.operands[result.0 as usize] = Some(operand);
                return Ok(());
            }
        }
        let result = inst.results.first().copied().unwrap_or(Value(0));
        match &inst.op {
            Op::Add | Op::Sub | Op::Mul | Op::Frac | Op::Dot | Op::Sat => {
                let formula = self.formula(inst);
                let mask = lanes(self.f.ty(result));
                let dst = self.vreg(result);
                self.emit(formula, dst, mask, None);
            }
            Op::Rcp => self.special(inst, SpecialOp::Rcp),
            Op::Rsq => self.special(inst, SpecialOp::Rsq),
            Op::Cross => {
                let (a, b) = (self.source(args[0]), self.source(args[1]));
                let [x, y, z, _] = Component::ALL;
                let (yzx, zxy) = (Swizzle([y, z, x, x]), Swizzle([z, x, y, y]));
                let t = RegisterOperand::V(self.out.new_vreg(RegisterClass::Wide));
                self.arith(isa::Op::Mul, t, Mask::XYZ, &[a.swizzled(yzx), b.swizzled(zxy)]);
                let dst = self.vreg(result);
                let src = [a.swizzled(zxy).negated(), b.swizzled(yzx), MSrc::place(t)];
                self.arith(isa::Op::Mad, dst, Mask::XYZ, &src);
            }
            Op::Compose => {
                let dst = self.vreg(result);
                let parts: Vec<Operand> = args.iter().map(|&a| self.operand(a)).collect();
                self.compose(dst, &parts);
            }
            Op::Insert(k) => {
                let (from, with) = (self.operand(args[0]), self.operand(args[1]));
                let dst = self.vreg(result);
                let one = Mask::from(Component::from_index(*k));
                let rest = Mask::from_bits(lanes(self.f.ty(result)).bits() & !one.bits());
                self.componentwise(MArith::new(isa::Op::Mov, dst, rest, &[]), &[from]);
                self.componentwise(MArith::new(isa::Op::Mov, dst, one, &[]), &[with]);
            }
            Op::IAdd => self.integer(isa::Op::Iadd, inst),
            Op::ISub => {
                let (a, b) = (self.bits(args[0]), self.bits(args[1]));
                let dst = self.vreg_w(result);
                self.arith(isa::Op::Iadd, dst, Mask::W, &[a, integer_negated(b)]);
            }
            Op::IMul => self.integer(isa::Op::Imul, inst),
            Op::IAnd | Op::And => self.integer(isa::Op::Iand, inst),
            Op::IOr | Op::Or => self.integer(isa::Op::Ior, inst),
            Op::IXor => self.integer(isa::Op::Ixor, inst),
            Op::IShl => self.integer(isa::Op::Ishl, inst),
            Op::IShr if self.f.ty(result) == Type::I32 => self.integer(isa::Op::Iasr, inst),
            Op::IShr => self.integer(isa::Op::Ishr, inst),
            Op::IReverse => self.integer(isa::Op::Irev, inst),
            Op::Not => {
                let a = self.bits(args[0]);
                let dst = self.vreg_w(result);
                self.arith(isa::Op::Ixor, dst, Mask::W, &[a, MSrc::Lit(1)]);
            }
            Op::ToInt => {
                let op = if self.f.ty(result) == Type::I32 { isa::Op::Ftoi } else { isa::Op::Ftou };
                let src = self.source(args[0]);
                let dst = self.vreg_w(result);
                self.arith(op, dst, Mask::W, &[src]);
            }
            Op::ToFloat if self.f.ty(args[0]) == Type::I32 => self.integer(isa::Op::Itof, inst),
            Op::ToFloat => self.integer(isa::Op::Utof, inst),
            Op::SlotLoad(slot) => {
                let (base, offset) = self.element(*slot, args[0]);
                self.load(result, base, offset, true);
            }
            Op::SlotStore(slot) => {
                let (base, offset) = self.element(*slot, args[0]);
                let src = self.source(args[1]);
                let mask = lanes(self.f.ty(args[1]));
                self.push(MOp::Store { base, offset, src, mask });
            }
            Op::Record => {
                for words in args.chunks(4) {
                    let t = RegisterOperand::V(self.out.new_vreg(RegisterClass::Wide));
                    let parts: Vec<Operand> = words.iter().map(|&w| Operand::Src(self.bits(w))).collect();
                    self.compose(t, &parts);
                    let mask = Mask::from_bits(((1u16 << words.len()) - 1) as u8);
                    self.push(MOp::Record { src: MSrc::place(t), mask });
                }
            }
            Op::Load(k) => self.load_vector(result, args[0], *k),
            Op::Hit | Op::HitTri | Op::HitObj => {
                let reg = match inst.op {
                    Op::Hit => Reg::Hit,
                    Op::HitTri => Reg::HitTri,
                    _ => Reg::HitObj,
                };
                let dst = self.vreg(result);
                let mask = lanes(self.f.ty(result));
                let from = RegisterOperand::P(reg);
                let src = if mask == Mask::W { MSrc::component(from, Component::W) } else { MSrc::place(from) };
                self.arith(isa::Op::Mov, dst, mask, &[src]);
            }
            Op::Trace => {
                let src = [self.source(args[0]), self.source(args[1]), self.source(args[2])];
                self.push(MOp::Trace { src });
            }
            Op::CallShader(_) => self.call(Callee::HitShader, inst)?,
            Op::Call(name) => {
                let &n = self
                    .context
                    .index
                    .get(name)
                    .ok_or_else(|| Error::UnknownFunction { function: self.f.name.clone(), callee: name.clone() })?;
                self.call(Callee::Function(n), inst)?;
            }
            Op::Uniform(k) => return Err(Error::UniformOutOfRange { index: *k }),
            other => {
                debug_assert!(is_connective(other), "{} is not legal here", other.name());
            }
        }
        Ok(())
    }

    /// The operand of a value that takes no instruction.
    fn view(&mut self, inst: &Inst) -> Option<Operand> {
        let first = inst.args.first().map(|&a| self.operand(a));
        Some(match (&inst.op, first) {
            (Op::Const(c), _) => {
                let bits = c.bits();
                if bits.iter().all(|b| *b == bits[0]) {
                    Operand::Src(MSrc::Lit(bits[0]))
                } else {
                    self.context.layout.source(&bits).map_or(Operand::Parts(bits), Operand::Src)
                }
            }
            (Op::Uniform(k), _) if *k < 31 => Operand::Src(MSrc::place(RegisterOperand::P(Reg::C(31 - *k as u8)))),
            (Op::Neg, Some(a)) => negated(a),
            (Op::Extract(k), Some(Operand::Src(s))) => {
                Operand::Src(s.swizzled(Swizzle::splat(Component::from_index(*k))))
            }
            (Op::Extract(k), Some(Operand::Parts(bits))) => {
                Operand::Src(MSrc::Lit(bits.get(usize::from(*k)).copied().unwrap_or(0)))
            }
            (Op::Splat | Op::Bitcast, Some(a)) => self.without_factor(inst, a),
            (Op::Compose, _) => self.same_register(&inst.args)?,
            (Op::Mul, _) => {
                let (value, by) = self.scaled(inst)?;
                let Operand::Src(MSrc::Reg { place, swizzle, mult }) = self.operand(value) else { return None };
                let mult = Multiplier { negate: mult.negate != by.negate, scale: by.scale };
                Operand::Src(MSrc::Reg { place, swizzle, mult })
            }
            _ => return None,
        })
    }

    /// A bit cast cannot keep a factor, which would mean something else to an integer operation.
    fn without_factor(&mut self, inst: &Inst, a: Operand) -> Operand {
        match (&inst.op, a) {
            (Op::Bitcast, Operand::Src(_)) => Operand::Src(self.bits(inst.args[0])),
            (_, a) => a,
        }
    }

    fn load_vector(&mut self, result: Value, base: Value, offset: u32) {
        let mut src = self.bits(base);
        let mut offset = offset;
        if u64::from(offset) > isa_offset_max() {
            let t = RegisterOperand::V(self.out.new_vreg(RegisterClass::ScalarW));
            self.arith(isa::Op::Iadd, t, Mask::W, &[src, MSrc::Lit(offset)]);
            src = MSrc::component(t, Component::W);
            offset = 0;
        }
        let c = self.address(src);
        self.load(result, Base::A(c), offset as i32, false);
    }

    fn call(&mut self, callee: Callee, inst: &Inst) -> Result<(), Error> {
        // The thesis's shaders take a ray and give a color; they know neither depth nor opacity.
        let bare = self.context.abi == Abi::Thesis && callee == Callee::HitShader;
        let args = if bare { &inst.args[..2] } else { &inst.args[..] };
        let places = calls::assign(args.iter().map(|&a| self.f.ty(a)), &self.f.name)?;
        for (&arg, &(r, mask)) in args.iter().zip(&places) {
            let operand = self.operand(arg);
            self.componentwise(MArith::new(isa::Op::Mov, RegisterOperand::P(Reg::R(r)), mask, &[]), &[operand]);
        }
        let clobbers = self.context.plan.clobbers(callee);
        self.push(MOp::Call { callee, args: places, clobbers, push: 0 });
        self.inputs.clear();
        self.addresses.clear();
        let results = if bare { &inst.results[..1] } else { &inst.results[..] };
        if bare {
            self.operands[inst.results[1].0 as usize] = Some(Operand::Src(MSrc::float(1.0)));
        }
        let places = calls::assign(results.iter().map(|&r| self.f.ty(r)), &self.f.name)?;
        for (&v, (r, mask)) in results.iter().zip(places) {
            self.copy_from_register(v, r, mask);
        }
        Ok(())
    }

    /// Writes components one by one, those from one place together.
    fn compose(&mut self, dst: RegisterOperand, parts: &[Operand]) {
        let mut done = vec![false; parts.len()];
        for i in 0..parts.len() {
            if done[i] {
                continue;
            }
            let Operand::Src(first) = parts[i] else { continue };
            let mut mask = Mask::NONE;
            let mut swizzle = [Component::X; 4];
            for (j, part) in parts.iter().enumerate() {
                let together = match (first, part) {
                    (MSrc::Lit(a), Operand::Src(MSrc::Lit(b))) => a == *b,
                    (MSrc::Reg { place, mult, .. }, Operand::Src(MSrc::Reg { place: p, mult: m, swizzle: s })) => {
                        swizzle[j] = s.0[0];
                        place == *p && mult == *m
                    }
                    _ => false,
                };
                if together {
                    mask = mask.union(Component::from_index(j as u8).into());
                    done[j] = true;
                }
            }
            let src = match first {
                MSrc::Reg { place, mult, swizzle: own } => {
                    let swizzle = std::array::from_fn(|j| {
                        if mask.contains(Component::from_index(j as u8)) { swizzle[j] } else { own.0[0] }
                    });
                    MSrc::Reg { place, mult, swizzle: Swizzle(swizzle) }
                }
                lit => lit,
            };
            self.arith(isa::Op::Mov, dst, mask, &[src]);
        }
    }

    // --- ends of blocks ---

    fn terminator(&mut self, term: &Terminator) -> Result<MTerm, Error> {
        Ok(match term {
            Terminator::Jump(target) => {
                self.pass_arguments(&target.args, &self.f.block(target.block).params);
                MTerm::Jump(target.block.0 as usize)
            }
            Terminator::Return(values) => {
                let places = calls::assign(values.iter().map(|&v| self.f.ty(v)), &self.f.name)?;
                for (&v, &(r, mask)) in values.iter().zip(&places) {
                    let operand = self.operand(v);
                    self.componentwise(MArith::new(isa::Op::Mov, RegisterOperand::P(Reg::R(r)), mask, &[]), &[operand]);
                }
                MTerm::Return(places)
            }
            Terminator::Branch(c, then, otherwise) => {
                let (then, otherwise) = (then.block.0 as usize, otherwise.block.0 as usize);
                let test = super::compare::test(&Comparands { selector: self, condition: *c });
                let (then, otherwise) = if test.swap { (otherwise, then) } else { (then, otherwise) };
                self.push(MOp::Arith(test.arith));
                MTerm::Branch { cond: test.cond, then, otherwise, inverse: test.inverse }
            }
        })
    }

    /// Gives block parameters their values all at once.
    fn pass_arguments(&mut self, args: &[Value], params: &[Value]) {
        let mut pending: Vec<(RegisterOperand, Mask, Operand)> = Vec::new();
        for (&a, &p) in args.iter().zip(params) {
            let (operand, dst, mask) = (self.operand(a), self.vreg(p), lanes(self.f.ty(p)));
            if operand != self.operand(p) {
                pending.push((dst, mask, operand));
            }
        }
        let reads = |o: &Operand, dst: RegisterOperand| matches!(o, Operand::Src(s) if s.as_place() == Some(dst));
        while !pending.is_empty() {
            let free =
                (0..pending.len()).find(|&i| (0..pending.len()).all(|j| i == j || !reads(&pending[j].2, pending[i].0)));
            if let Some(i) = free {
                let (dst, mask, operand) = pending.remove(i);
                self.componentwise(MArith::new(isa::Op::Mov, dst, mask, &[]), &[operand]);
                continue;
            }
            // Every register waits to be read: a copy of the first breaks the cycle.
            let (dst, mask, _) = pending[0];
            let class = if mask == Mask::W { RegisterClass::Scalar } else { RegisterClass::Wide };
            let t = RegisterOperand::V(self.out.new_vreg(class));
            let src = if mask == Mask::W { MSrc::component(dst, Component::W) } else { MSrc::place(dst) };
            self.arith(isa::Op::Mov, t, mask, &[src]);
            for (_, _, o) in &mut pending {
                if let Operand::Src(MSrc::Reg { place, .. }) = o
                    && *place == dst
                {
                    *place = t;
                }
            }
        }
    }
}

/// The part of the selector that comparing needs.
pub struct Comparands<'a, 'b> {
    selector: &'a Selector<'b>,
    condition: Value,
}

impl Comparands<'_, '_> {
    /// The comparison that computes the condition: its operation and operands; `None` for a truth
    /// value in a register.
    pub fn comparison(&self) -> Option<(&Op, Type, MSrc, MSrc)> {
        let def = self.selector.defs.get(&self.condition).filter(|d| is_comparison(&d.op))?;
        Some((&def.op, self.selector.f.ty(def.args[0]), self.scalar(def.args[0]), self.scalar(def.args[1])))
    }

    /// The condition as a question for a bit: `m >> k & 1 = 1` and its like.
    pub fn bit(&self) -> Option<Bit> {
        let defs = &self.selector.defs;
        let constant = |v: Value| match &defs.get(&v)?.op {
            Op::Const(c @ (Const::U32(_) | Const::I32(_))) => Some(c.bits()[0]),
            _ => None,
        };
        let equality = defs.get(&self.condition).filter(|d| d.op == Op::IEq)?;
        let and = defs.get(&equality.args[0]).filter(|d| d.op == Op::IAnd)?;
        let (of, mask) = (and.args[0], constant(and.args[1]).filter(|m| m.is_power_of_two())?);
        let is_set = match constant(equality.args[1])? {
            0 => false,
            bits if bits == mask => true,
            _ => return None,
        };
        let shifted = defs.get(&of).filter(|d| d.op == Op::IShr && self.selector.f.ty(of) == Type::U32);
        let (of, mask) = shifted
            .and_then(|d| Some((d.args[0], constant(d.args[1]).filter(|&k| k <= mask.leading_zeros())?)))
            .map_or((of, mask), |(inner, k)| (inner, mask << k));
        match self.selector.operand(of) {
            Operand::Src(of @ MSrc::Reg { mult, .. }) if mult == Multiplier::ONE => Some(Bit { of, mask, is_set }),
            _ => None,
        }
    }

    /// The truth value itself.
    pub fn value(&self) -> MSrc {
        self.scalar(self.condition)
    }

    fn scalar(&self, v: Value) -> MSrc {
        match self.selector.operand(v) {
            Operand::Src(s) => s,
            Operand::Parts(bits) => MSrc::Lit(bits[0]),
        }
    }
}

/// True if an operation can be done on the way to a clamp or reciprocal.
fn is_foldable(op: &Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Frac | Op::Dot)
}

fn negated(o: Operand) -> Operand {
    match o {
        Operand::Src(s) => Operand::Src(s.negated()),
        Operand::Parts(bits) => Operand::Parts(bits.into_iter().map(|b| b ^ 0x8000_0000).collect()),
    }
}

/// The operand of an integer operation with its sign changed.
pub fn integer_negated(s: MSrc) -> MSrc {
    match s {
        MSrc::Lit(bits) => MSrc::Lit(bits.wrapping_neg()),
        reg => reg.negated(),
    }
}
