//! The function that is made: where the lanes of each value are.
//!
//! Each value of the original function is one or several variables, of which the builder makes SSA
//! form. Code under a mask runs for inactive lanes, too, and leaves anything in them; what an
//! active lane reads, it has written itself. Where lanes leave a loop in different iterations, the
//! values that they take with them are kept apart, and written by active lanes alone.

use super::signature::{is_packed, passed_types};
use super::{MAX_INSTS, Variants, VectorizeError};
use crate::passes::uniformity::FunctionUniformity;
use crate::{
    BlockId, Const, Function, FunctionBuilder, FunctionKind, Inst, Op, Slot, SlotId, Terminator, Type, Value, Variable,
};
use shadewright_base::uniformity::Uniformity;
use std::collections::{BTreeSet, HashMap};

/// The lanes that run some code: all, or those where a value holds.
pub(super) type Mask = Option<Vec<Value>>;

/// A value of the original function in the one that is made.
#[derive(Clone, Debug)]
pub(super) enum Lanes {
    /// That of the first lane; the others follow from the uniformity.
    First(Value),
    /// One for each lane.
    Each(Vec<Value>),
}

/// Where a value is kept.
#[derive(Clone, Debug)]
enum Home {
    First(Variable),
    Each(Vec<Variable>),
}

/// A function that is being made.
pub(super) struct Body<'v, 'm> {
    pub(super) variants: &'v mut Variants<'m>,
    pub(super) func: &'m Function,
    pub(super) uniformity: &'m FunctionUniformity,
    pub(super) width: usize,
    pub(super) b: FunctionBuilder,
    homes: Vec<Option<Home>>,
    /// The values that lanes took with them out of loops that they left in different iterations.
    apart: HashMap<Value, Vec<Variable>>,
    constants: HashMap<Value, Value>,
    /// The arrays that stand for each array.
    pub(super) slots: Vec<Vec<SlotId>>,
    /// The lanes for which the function is called.
    pub(super) entry_mask: Mask,
    pub(super) truth: [Value; 2],
    /// The headers of loops after which their parameters are used.
    pub(super) outlives: BTreeSet<BlockId>,
    /// The lanes of each block that runs under a mask.
    pub(super) masks: HashMap<BlockId, Vec<Variable>>,
    /// The block of the made function for each that runs under no mask.
    pub(super) blocks: HashMap<BlockId, BlockId>,
    /// Lanes of values in the block where `expanded_in` code is, by the first one and the stride.
    expanded: HashMap<(Value, u32), Vec<Value>>,
    expanded_in: BlockId,
    left: usize,
}

impl<'v, 'm> Body<'v, 'm> {
    /// A function for a signature; `masked` says whether it takes a mask, `left` how many
    /// instructions it may have.
    pub(super) fn new(
        variants: &'v mut Variants<'m>,
        uniformity: &'m FunctionUniformity,
        masked: bool,
        left: usize,
    ) -> Result<Self, VectorizeError> {
        let func = &variants.module.functions[uniformity.function];
        let name = variants.name(uniformity, masked);
        let never = || VectorizeError::NeverReturns { function: func.name.clone() };
        let reconvergence = &uniformity.solution().reconvergence;
        let ends = func.reverse_postorder().iter().all(|b| reconvergence[b.0 as usize].is_some());
        ends.then_some(()).ok_or_else(never)?;
        let width = variants.width as usize;
        let mut b = FunctionBuilder::new(name, FunctionKind::Function).with_origin(func.origin);
        b.set_function_loc(func.loc);
        let truth = [false, true].map(|c| b.constant(Const::Bool(c)));
        let mut body = Body {
            variants,
            func,
            uniformity,
            width,
            b,
            homes: vec![None; func.values.len()],
            apart: HashMap::new(),
            constants: HashMap::new(),
            slots: Vec::new(),
            entry_mask: None,
            truth,
            outlives: outlives(func, uniformity),
            masks: HashMap::new(),
            blocks: HashMap::new(),
            expanded: HashMap::new(),
            expanded_in: BlockId(0),
            left: left.min(MAX_INSTS),
        };
        body.declare(masked);
        Ok(body)
    }

    /// Makes the function, which is inlined where the original one is.
    pub(super) fn build(mut self) -> Result<Function, VectorizeError> {
        self.skeleton()?;
        Ok(Function { inlining: self.func.inlining, ..self.b.finish() })
    }

    /// Parameters, results, arrays, constants, and what lanes take out of loops.
    fn declare(&mut self, masked: bool) {
        let (func, width) = (self.func, self.width as u32);
        for (param, &value) in func.params.iter().zip(func.param_values()) {
            let types = passed_types(param.ty, self.uniformity.get(value), width);
            let name =
                |n: usize| if types.len() == 1 { param.name.clone() } else { format!("{}.{n}", param.name).into() };
            let passed = types.iter().enumerate().map(|(n, ty)| self.b.param_of(name(n), *ty, param.kind)).collect();
            let lanes = self.unpacked(passed, param.ty, self.uniformity.get(value));
            self.keep(value, lanes);
        }
        if masked {
            let types = passed_types(Type::Bool, Uniformity::Varying, width);
            let passed = types.iter().enumerate().map(|(n, ty)| self.b.implicit_param(format!("mask.{n}"), *ty));
            let passed = passed.collect();
            if let Lanes::Each(mask) = self.unpacked(passed, Type::Bool, Uniformity::Varying) {
                self.entry_mask = Some(mask);
            }
        }
        for (result, uniformity) in func.results.iter().zip(self.uniformity.results()) {
            let types = passed_types(result.ty, uniformity, width);
            let name =
                |n: usize| if types.len() == 1 { result.name.clone() } else { format!("{}.{n}", result.name).into() };
            types.iter().enumerate().for_each(|(n, ty)| self.b.result(name(n), *ty));
        }
        for (Slot { name, ty, len }, number) in func.slots.iter().zip(0..) {
            let count = if self.uniformity.slot(SlotId(number)).is_uniform() { 1 } else { self.width };
            let one = |n: usize| if count == 1 { name.clone() } else { format!("{name}.{n}").into() };
            let slots = (0..count).map(|n| self.b.slot(one(n), *ty, *len)).collect();
            self.slots.push(slots);
        }
        for inst in func.blocks.iter().flat_map(|b| &b.insts) {
            if let (Op::Const(c), [r]) = (&inst.op, &inst.results[..]) {
                let constant = self.b.constant(c.clone());
                self.constants.insert(*r, constant);
            }
        }
        for value in self.left_apart() {
            let ty = func.ty(value);
            let variables = (0..self.width).map(|_| self.b.variable(ty)).collect();
            self.apart.insert(value, variables);
        }
    }

    /// The values that instructions use after loops that lanes leave in different iterations.
    fn left_apart(&self) -> BTreeSet<Value> {
        let mut found = BTreeSet::new();
        for id in self.func.block_ids() {
            let block = self.func.block(id);
            let mut used = |v: Value| {
                if !self.constants.contains_key(&v) && self.uniformity.is_left_apart(v, id) {
                    found.insert(v);
                }
            };
            block.insts.iter().flat_map(|i| &i.args).for_each(|v| used(*v));
            block.term.for_each_arg(&mut used);
        }
        found
    }

    /// An error about an instruction.
    pub(super) fn refuse(&self, inst: &Inst, reason: &'static str) -> VectorizeError {
        VectorizeError::Instruction {
            function: self.func.name.clone(),
            what: crate::print::inst_text(self.func, inst),
            reason,
            loc: inst.loc,
        }
    }

    /// Counts instructions that are about to be made.
    pub(super) fn spend(&mut self, count: usize) -> Result<(), VectorizeError> {
        let too_large = || VectorizeError::TooLarge { function: self.func.name.clone(), width: self.width as u32 };
        self.left = self.left.checked_sub(count).ok_or_else(too_large)?;
        Ok(())
    }

    // --- values ---

    /// The uniformity of a value where a block uses it.
    pub(super) fn uniformity(&self, value: Value, block: BlockId) -> Uniformity {
        self.uniformity.at(value, block)
    }

    /// A value where a block uses it: its first lane when it is uniform or affine there.
    pub(super) fn get(&mut self, value: Value, block: BlockId) -> Lanes {
        if let Some(&constant) = self.constants.get(&value) {
            return Lanes::First(constant);
        }
        if self.uniformity.is_left_apart(value, block)
            && let Some(variables) = self.apart.get(&value)
        {
            return Lanes::Each(variables.clone().into_iter().map(|v| self.b.read(v)).collect());
        }
        match self.home(value) {
            Home::First(variable) => Lanes::First(self.b.read(variable)),
            Home::Each(variables) => Lanes::Each(variables.into_iter().map(|v| self.b.read(v)).collect()),
        }
    }

    /// A value that is uniform or affine where a block uses it: that of the first lane.
    pub(super) fn first(&mut self, value: Value, block: BlockId) -> Value {
        match self.get(value, block) {
            Lanes::First(first) => first,
            Lanes::Each(lanes) => lanes[0],
        }
    }

    /// Each lane of a value where a block uses it.
    pub(super) fn each(&mut self, value: Value, block: BlockId) -> Vec<Value> {
        let lanes = self.get(value, block);
        self.expand(lanes, self.uniformity.get(value))
    }

    /// Each lane of a value of a uniformity.
    pub(super) fn expand(&mut self, lanes: Lanes, uniformity: Uniformity) -> Vec<Value> {
        let (first, stride) = match lanes {
            Lanes::Each(lanes) => return lanes,
            Lanes::First(first) => (first, uniformity.stride().unwrap_or(0)),
        };
        if stride == 0 {
            return vec![first; self.width];
        }
        if self.b.current() != self.expanded_in {
            self.expanded.clear();
            self.expanded_in = self.b.current();
        }
        if let Some(known) = self.expanded.get(&(first, stride)) {
            return known.clone();
        }
        let ty = self.b.ty(first);
        let base = if ty == Type::Ref { self.b.op_as(Op::Bitcast, &[first], Type::U32) } else { first };
        let lane = |body: &mut Self, lane: u32| {
            let by = stride.wrapping_mul(lane);
            let by = if ty == Type::I32 { Const::I32(by as i32) } else { Const::U32(by) };
            let by = body.b.constant(by);
            let sum = body.b.op(Op::IAdd, &[base, by]);
            if ty == Type::Ref { body.b.op_as(Op::Bitcast, &[sum], ty) } else { sum }
        };
        let rest: Vec<Value> = (1..self.width as u32).map(|l| lane(self, l)).collect();
        let all: Vec<Value> = std::iter::once(first).chain(rest).collect();
        self.expanded.insert((first, stride), all.clone());
        all
    }

    fn home(&mut self, value: Value) -> Home {
        if let Some(home) = &self.homes[value.0 as usize] {
            return home.clone();
        }
        let ty = self.func.ty(value);
        let home = match self.uniformity.get(value) {
            Uniformity::Affine { .. } => Home::First(self.b.variable(ty)),
            Uniformity::Varying => Home::Each((0..self.width).map(|_| self.b.variable(ty)).collect()),
        };
        self.homes[value.0 as usize] = Some(home.clone());
        home
    }

    /// Keeps a value that has been computed.
    pub(super) fn keep(&mut self, value: Value, lanes: Lanes) {
        match (self.home(value), lanes) {
            (Home::First(variable), Lanes::First(first)) => self.b.write(variable, first),
            (Home::First(variable), Lanes::Each(lanes)) => self.b.write(variable, lanes[0]),
            (Home::Each(variables), lanes) => {
                let lanes = self.expand(lanes, Uniformity::UNIFORM);
                variables.into_iter().zip(lanes).for_each(|(v, lane)| self.b.write(v, lane));
            }
        }
    }

    /// Keeps a value as it is in its block, for lanes that will leave the loop around it.
    pub(super) fn keep_apart(&mut self, value: Value, block: BlockId, mask: &Mask) {
        let Some(variables) = self.apart.get(&value).cloned() else { return };
        let new = self.each(value, block);
        for (lane, variable) in variables.into_iter().enumerate() {
            let old = self.b.read(variable);
            let kept = self.chosen(mask.as_ref().map(|m| m[lane]), new[lane], old);
            self.b.write(variable, kept);
        }
    }

    /// Gives values to the parameters of a block that lanes go to, all at once: where the mask
    /// holds, when they must keep what they have elsewhere.
    pub(super) fn pass(&mut self, from: BlockId, to: BlockId, args: &[Value], mask: &Mask) {
        let params = &self.func.block(to).params;
        let given: Vec<Lanes> = args.iter().map(|arg| self.get(*arg, from)).collect();
        let uniformities: Vec<Uniformity> = args.iter().map(|arg| self.uniformity.get(*arg)).collect();
        let any = mask.as_ref().filter(|_| params.iter().any(|p| self.uniformity.get(*p) != Uniformity::Varying));
        let any = any.map(|mask| self.any(mask));
        let mut new = Vec::new();
        for ((&param, lanes), uniformity) in params.iter().zip(given).zip(uniformities) {
            match self.home(param) {
                Home::First(variable) => {
                    let Lanes::First(first) = lanes else { continue };
                    let old = self.b.read(variable);
                    new.push((variable, self.chosen(any, first, old)));
                }
                Home::Each(variables) => {
                    let lanes = self.expand(lanes, uniformity);
                    for (n, (variable, lane)) in variables.into_iter().zip(lanes).enumerate() {
                        let old = mask.as_ref().map_or(lane, |_| self.b.read(variable));
                        new.push((variable, self.chosen(mask.as_ref().map(|m| m[n]), lane, old)));
                    }
                }
            }
        }
        new.into_iter().for_each(|(variable, value)| self.b.write(variable, value));
    }

    /// `condition ? new : old`; `new` without a condition.
    pub(super) fn chosen(&mut self, condition: Option<Value>, new: Value, old: Value) -> Value {
        match condition {
            Some(c) if c != self.truth[1] && new != old => self.b.op(Op::Select, &[c, new, old]),
            _ => new,
        }
    }

    // --- masks ---

    pub(super) fn and(&mut self, a: Value, b: Value) -> Value {
        let [no, yes] = self.truth;
        match (a, b) {
            _ if a == no || b == no => no,
            _ if a == yes || a == b => b,
            _ if b == yes => a,
            _ => self.b.op(Op::And, &[a, b]),
        }
    }

    pub(super) fn or(&mut self, a: Value, b: Value) -> Value {
        let [no, yes] = self.truth;
        match (a, b) {
            _ if a == yes || b == yes => yes,
            _ if a == no || a == b => b,
            _ if b == no => a,
            _ => self.b.op(Op::Or, &[a, b]),
        }
    }

    pub(super) fn not(&mut self, a: Value) -> Value {
        let [no, yes] = self.truth;
        match a {
            _ if a == no => yes,
            _ if a == yes => no,
            _ => self.b.op(Op::Not, &[a]),
        }
    }

    /// True if a lane is active.
    pub(super) fn any(&mut self, mask: &[Value]) -> Value {
        mask.iter().fold(self.truth[0], |any, lane| self.or(any, *lane))
    }

    // --- what is passed ---

    /// The values that stand for lanes of a type and uniformity where functions are called.
    pub(super) fn packed(&mut self, lanes: Lanes, own: Uniformity, ty: Type, uniformity: Uniformity) -> Vec<Value> {
        if uniformity != Uniformity::Varying {
            return match lanes {
                Lanes::First(first) => vec![first],
                Lanes::Each(lanes) => vec![lanes[0]],
            };
        }
        let lanes = self.expand(lanes, own);
        if !is_packed(ty) || self.width == 1 {
            return lanes;
        }
        let word =
            |body: &mut Self, v: Value| if ty == Type::F32 { v } else { body.b.op_as(Op::Bitcast, &[v], Type::F32) };
        let words: Vec<Value> = lanes.into_iter().map(|v| word(self, v)).collect();
        words.chunks(4).map(|four| self.b.op(Op::Compose, four)).collect()
    }

    /// The lanes that values stand for.
    pub(super) fn unpacked(&mut self, passed: Vec<Value>, ty: Type, uniformity: Uniformity) -> Lanes {
        if uniformity != Uniformity::Varying {
            return Lanes::First(passed[0]);
        }
        if !is_packed(ty) || self.width == 1 {
            return Lanes::Each(passed);
        }
        let mut lanes = Vec::with_capacity(self.width);
        for four in passed {
            for k in 0..self.width.min(4) as u8 {
                let word = self.b.op(Op::Extract(k), &[four]);
                lanes.push(match ty {
                    Type::F32 => word,
                    Type::Bool => {
                        let bits = self.b.op_as(Op::Bitcast, &[word], Type::U32);
                        let zero = self.b.u32(0);
                        let is_zero = self.b.op(Op::IEq, &[bits, zero]);
                        self.b.op(Op::Not, &[is_zero])
                    }
                    ty => self.b.op_as(Op::Bitcast, &[word], ty),
                });
            }
        }
        Lanes::Each(lanes)
    }

    /// Ends the function with its results.
    pub(super) fn give(&mut self, block: BlockId) {
        let Terminator::Return(values) = &self.func.block(block).term else { return };
        let mut results = Vec::new();
        for ((&value, result), uniformity) in values.iter().zip(&self.func.results).zip(self.uniformity.results()) {
            let lanes = self.get(value, block);
            results.extend(self.packed(lanes, self.uniformity.get(value), result.ty, uniformity));
        }
        self.b.ret(results);
    }
}

/// The headers of loops after which their parameters are used.
fn outlives(func: &Function, uniformity: &FunctionUniformity) -> BTreeSet<BlockId> {
    let loops = &uniformity.solution().loops;
    let headers = loops.all.iter().enumerate();
    let params = headers.flat_map(|(l, one)| {
        let header = BlockId(one.header);
        func.block(header).params.iter().map(move |p| (*p, (l as u32, header)))
    });
    let params: HashMap<Value, (u32, BlockId)> = params.collect();
    let mut found = BTreeSet::new();
    for id in func.block_ids() {
        let mut used = |v: Value| {
            if let Some((l, header)) = params.get(&v)
                && !loops.holds(*l, id.0)
            {
                found.insert(*header);
            }
        };
        let block = func.block(id);
        block.insts.iter().flat_map(|i| &i.args).for_each(|v| used(*v));
        block.term.for_each_arg(&mut used);
    }
    found
}
