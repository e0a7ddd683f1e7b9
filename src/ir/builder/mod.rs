//! Builds functions in SSA form while their source is walked once.
//!
//! Variables are read and written by handle; block parameters appear where several definitions meet
//! (Braun, Buchwald, Hack, Leißa, Mallon, Zwinkau: "Simple and Efficient Construction of Static
//! Single Assignment Form", 2013). A block is *sealed* once all jumps to it exist; reading a
//! variable in an unsealed block makes a parameter that sealing fills in.
//!
//! Operations have methods under their names ([`FunctionBuilder::add`] and the like), sequences of
//! them that many need, too ([`FunctionBuilder::length`]); conditionals and loops are [`Control`].

mod control;
mod operations;
mod sequences;

pub use control::{Condition, Control, CountedLoop, LoopExits};
pub use sequences::normalized;

use super::{
    BlockId, Const, Function, FunctionKind, FunctionOrigin, Inst, Loc, Op, Param, ParamKind, ResultInfo, Slot, SlotId,
    Target, Terminator, Type, Value,
};
use crate::abi::EntryPoint;
use std::collections::HashMap;
use std::sync::Arc;

/// A variable of the source, before SSA form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(u32);

/// The most that a function of a program's source may become: instructions, and a quarter of the
/// places where variables are known. A compiler of 10 MB of source would take all memory otherwise.
pub const MAX_SIZE: usize = 1 << 19;

/// Builds one function. Instructions go to the current block.
///
/// Code beyond [`MAX_SIZE`] is left out. The function is no use then: who builds it from a source
/// asks [`FunctionBuilder::too_large`].
#[derive(Debug)]
pub struct FunctionBuilder {
    func: Function,
    current: BlockId,
    /// Location given to new instructions.
    pub loc: Loc,
    variables: Vec<Type>,
    definitions: HashMap<(Variable, BlockId), Value>,
    sealed: Vec<bool>,
    terminated: Vec<bool>,
    incomplete: HashMap<BlockId, Vec<(Variable, Value)>>,
    predecessors: Vec<Vec<BlockId>>,
    /// Number of instructions.
    count: usize,
    /// The place of the first instruction that was left out.
    too_large: Option<Loc>,
}

impl FunctionBuilder {
    /// Starts a function; the current block is the sealed entry.
    pub fn new(name: impl Into<Arc<str>>, kind: FunctionKind) -> Self {
        let mut func = Function::new(name, kind);
        let entry = func.new_block();
        Self {
            func,
            current: entry,
            loc: Loc::NONE,
            variables: Vec::new(),
            definitions: HashMap::new(),
            sealed: vec![true],
            terminated: vec![false],
            incomplete: HashMap::new(),
            predecessors: vec![Vec::new()],
            count: 0,
            too_large: None,
        }
    }

    /// The place of the first instruction that was left out because the function is too large.
    pub fn too_large(&self) -> Option<Loc> {
        self.too_large
    }

    /// True if there is room for more; notes where there is none.
    fn has_room(&mut self) -> bool {
        let has_room = self.count + self.definitions.len() / 4 < MAX_SIZE;
        if !has_room {
            self.too_large.get_or_insert(self.loc);
        }
        has_room
    }

    /// Starts an ordinary function of the standard library.
    pub fn library(name: impl Into<Arc<str>>) -> Self {
        Self::new(name, FunctionKind::Function).with_origin(FunctionOrigin::Library)
    }

    /// Starts an ordinary function of the linker.
    pub fn linker(name: impl Into<Arc<str>>) -> Self {
        Self::new(name, FunctionKind::Function).with_origin(FunctionOrigin::Linker)
    }

    /// Starts an entry point of the linker, under its name.
    pub fn entry(role: EntryPoint) -> Self {
        Self::new(role.name().unwrap_or_default(), FunctionKind::Entry(role)).with_origin(FunctionOrigin::Linker)
    }

    /// Sets who makes the function.
    pub fn with_origin(mut self, origin: FunctionOrigin) -> Self {
        self.func.origin = origin;
        self
    }

    /// Adds a parameter that the source declares, and returns its value.
    pub fn param(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Value {
        self.param_of(name, ty, ParamKind::Declared)
    }

    /// Adds a parameter that the source does not have, and returns its value.
    pub fn implicit_param(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Value {
        self.param_of(name, ty, ParamKind::Implicit)
    }

    /// Adds a parameter and returns its value.
    pub fn param_of(&mut self, name: impl Into<Arc<str>>, ty: Type, kind: ParamKind) -> Value {
        self.func.params.push(Param { name: name.into(), ty, kind });
        let v = self.func.new_value(ty);
        self.func.blocks[0].params.push(v);
        v
    }

    /// Declares a result; [`FunctionBuilder::ret`] must pass one value for each.
    pub fn result(&mut self, name: impl Into<Arc<str>>, ty: Type) {
        self.func.results.push(ResultInfo { name: name.into(), ty });
    }

    /// Adds an array slot.
    pub fn slot(&mut self, name: impl Into<Arc<str>>, ty: Type, len: u32) -> SlotId {
        self.func.slots.push(Slot { name: name.into(), ty, len });
        SlotId(self.func.slots.len() as u32 - 1)
    }

    /// The function as built so far.
    pub fn function(&self) -> &Function {
        &self.func
    }

    /// Sets the place of the declaration.
    pub fn set_function_loc(&mut self, loc: Loc) {
        self.func.loc = loc;
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    // --- blocks ---

    /// Makes a block, not sealed.
    pub fn block(&mut self) -> BlockId {
        let b = self.func.new_block();
        self.sealed.push(false);
        self.terminated.push(false);
        self.predecessors.push(Vec::new());
        b
    }

    /// Adds a parameter to a block that no jump leads to yet (apart from those of variables).
    pub fn block_param(&mut self, block: BlockId, ty: Type) -> Value {
        let v = self.func.new_value(ty);
        self.func.block_mut(block).params.push(v);
        v
    }

    /// Continues at the end of `block`.
    pub fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    /// The current block.
    pub fn current(&self) -> BlockId {
        self.current
    }

    /// True if the current block has its terminator already.
    pub fn is_terminated(&self) -> bool {
        self.terminated[self.current.0 as usize]
    }

    /// Declares that no further jump to `block` will be made.
    pub fn seal(&mut self, block: BlockId) {
        if std::mem::replace(&mut self.sealed[block.0 as usize], true) {
            return;
        }
        for (variable, param) in self.incomplete.remove(&block).unwrap_or_default() {
            let mut pending = vec![(block, param)];
            while let Some((join, param)) = pending.pop() {
                self.fill_param(variable, join, param, &mut pending);
            }
        }
    }

    fn terminate(&mut self, term: Terminator) {
        debug_assert!(!self.is_terminated(), "a block ends once");
        for t in term.targets() {
            debug_assert!(!self.sealed[t.block.0 as usize], "a jump to a sealed block");
            self.predecessors[t.block.0 as usize].push(self.current);
        }
        let loc = self.loc;
        let block = self.func.block_mut(self.current);
        block.term = term;
        block.term_loc = loc;
        self.terminated[self.current.0 as usize] = true;
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, block: BlockId, args: Vec<Value>) {
        self.terminate(Terminator::Jump(Target { block, args }));
    }

    /// Ends the block with a branch without arguments. Both targets may not be the same block.
    pub fn branch(&mut self, condition: Value, then: BlockId, otherwise: BlockId) {
        let target = |block| Target { block, args: Vec::new() };
        self.terminate(Terminator::Branch(condition, target(then), target(otherwise)));
    }

    /// Ends the block with a return.
    pub fn ret(&mut self, values: Vec<Value>) {
        self.terminate(Terminator::Return(values));
    }

    // --- variables ---

    /// Declares a variable; unwritten, it reads as zero.
    pub fn variable(&mut self, ty: Type) -> Variable {
        self.variables.push(ty);
        Variable(self.variables.len() as u32 - 1)
    }

    /// Gives the variable a value from here on.
    pub fn write(&mut self, variable: Variable, value: Value) {
        debug_assert_eq!(self.variables[variable.0 as usize], self.func.ty(value));
        self.definitions.insert((variable, self.current), value);
    }

    /// The variable's value here.
    pub fn read(&mut self, variable: Variable) -> Value {
        self.read_in(variable, self.current)
    }

    fn read_in(&mut self, variable: Variable, block: BlockId) -> Value {
        // Joins that still need their arguments wait in a list: source with 100,000 conditionals in
        // a row is legal, and recursion would need a stack frame for each.
        let mut pending = Vec::new();
        let value = self.find(variable, block, &mut pending);
        while let Some((join, param)) = pending.pop() {
            self.fill_param(variable, join, param, &mut pending);
        }
        value
    }

    fn find(&mut self, variable: Variable, block: BlockId, pending: &mut Vec<(BlockId, Value)>) -> Value {
        let ty = self.variables[variable.0 as usize];
        if !self.has_room() {
            return self.func.new_value(ty);
        }
        let mut chain = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(&v) = self.definitions.get(&(variable, at)) {
                break v;
            }
            chain.push(at);
            if !self.sealed[at.0 as usize] {
                let v = self.block_param(at, ty);
                self.incomplete.entry(at).or_default().push((variable, v));
                break v;
            }
            match self.predecessors[at.0 as usize].as_slice() {
                [] => break self.zero(ty, at),
                // More steps than blocks: an unreachable loop without a way in.
                [_] if chain.len() > self.func.blocks.len() => break self.zero(ty, at),
                [one] => at = *one,
                _ => {
                    let v = self.block_param(at, ty);
                    pending.push((at, v));
                    break v;
                }
            }
        };
        for b in chain {
            self.definitions.insert((variable, b), value);
        }
        value
    }

    /// The zero of an unwritten variable, made at the start of a block without predecessors.
    fn zero(&mut self, ty: Type, block: BlockId) -> Value {
        let v = self.func.new_value(ty);
        let inst = Inst { op: Op::Const(Const::zero(ty)), args: vec![], results: vec![v], loc: Loc::NONE };
        self.func.block_mut(block).insts.insert(0, inst);
        v
    }

    /// Gives every jump to `block` an argument for `param`, the value of `variable` there.
    fn fill_param(&mut self, variable: Variable, block: BlockId, param: Value, pending: &mut Vec<(BlockId, Value)>) {
        let position = self.func.block(block).params.iter().position(|&p| p == param).unwrap_or(0);
        for p in self.predecessors[block.0 as usize].clone() {
            let v = self.find(variable, p, pending);
            for t in self.func.block_mut(p).term.targets_mut().filter(|t| t.block == block) {
                if t.args.len() == position {
                    t.args.push(v);
                }
            }
        }
    }

    // --- instructions ---

    /// Appends an instruction whose result types are given; returns its results.
    pub fn inst(&mut self, op: Op, args: Vec<Value>, result_types: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = result_types.iter().map(|&t| self.func.new_value(t)).collect();
        let inst = Inst { op, args, results: results.clone(), loc: self.loc };
        debug_assert!(!self.is_terminated(), "an instruction after the end of its block");
        if self.has_room() {
            self.count += 1;
            self.func.block_mut(self.current).insts.push(inst);
        }
        results
    }

    /// Appends an instruction with one result whose type the operands determine.
    ///
    /// # Panics
    /// If [`Op::result_types`] does not give exactly one type: an error of the caller, not of user
    /// input.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let operands: Vec<Type> = args.iter().map(|&a| self.func.ty(a)).collect();
        let types = op.result_types(&operands).filter(|t| t.len() == 1).expect("an operation with one inferred result");
        self.inst(op, args.to_vec(), &types)[0]
    }

    /// Appends an instruction with one result of the given type (`splat`, `to_int`, `bitcast`,
    /// `slot_load`).
    pub fn op_as(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.inst(op, args.to_vec(), &[ty])[0]
    }

    /// Appends an instruction without results.
    pub fn effect(&mut self, op: Op, args: &[Value]) {
        self.inst(op, args.to_vec(), &[]);
    }

    /// A constant.
    pub fn constant(&mut self, c: Const) -> Value {
        self.op(Op::Const(c), &[])
    }

    /// An `f32` constant.
    pub fn f32(&mut self, x: f32) -> Value {
        self.constant(Const::F32(x))
    }

    /// A `u32` constant.
    pub fn u32(&mut self, x: u32) -> Value {
        self.constant(Const::U32(x))
    }

    /// A `bool` constant.
    pub fn bool(&mut self, x: bool) -> Value {
        self.constant(Const::Bool(x))
    }

    /// An `i32` constant.
    pub fn i32(&mut self, x: i32) -> Value {
        self.constant(Const::I32(x))
    }

    /// A `vec3` constant.
    pub fn vec3(&mut self, x: [f32; 3]) -> Value {
        self.constant(Const::Vec3(x))
    }

    /// A call.
    pub fn call(&mut self, name: impl Into<Arc<str>>, args: Vec<Value>, result_types: &[Type]) -> Vec<Value> {
        self.inst(Op::Call(name.into()), args, result_types)
    }

    /// Ends building: seals what is unsealed, makes blocks that never got a terminator return
    /// zeros, and drops block parameters that all jumps agree on.
    pub fn finish(mut self) -> Function {
        for b in self.func.block_ids() {
            self.seal(b);
        }
        for b in self.func.block_ids() {
            if !self.terminated[b.0 as usize] {
                self.switch_to(b);
                let types: Vec<Type> = self.func.results.iter().map(|r| r.ty).collect();
                let zeros = types.into_iter().map(|t| self.constant(Const::zero(t))).collect();
                self.ret(zeros);
            }
        }
        super::passes::block_params::remove_redundant_block_params(&mut self.func);
        self.func
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PrintOptions, print_function};

    /// The lines of the function of some parameters whose result `make` builds, from the first
    /// instruction on.
    pub(super) fn body(params: &[Type], make: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Value) -> Vec<String> {
        let mut b = FunctionBuilder::new("f", FunctionKind::Function);
        let params: Vec<Value> = params.iter().map(|&ty| b.param("x", ty)).collect();
        let result = make(&mut b, &params);
        b.result("return", b.ty(result));
        b.ret(vec![result]);
        let text = print_function(&b.finish(), &[], PrintOptions::default());
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
        let first = lines.iter().position(|line| line == "b0:").unwrap_or(0);
        lines[first + 1..lines.len() - 1].to_vec()
    }

    #[test]
    fn a_variable_written_on_both_sides_of_a_branch_joins_in_a_block_parameter() {
        let mut b = FunctionBuilder::new("f", FunctionKind::Function);
        b.result("return", Type::F32);
        let x = b.param("x", Type::F32);
        let v = b.variable(Type::F32);
        let (yes, no, join) = (b.block(), b.block(), b.block());
        let zero = b.f32(0.0);
        let c = b.lt(x, zero);
        b.branch(c, yes, no);
        for (block, value) in [(yes, 1.0), (no, 2.0)] {
            b.seal(block);
            b.switch_to(block);
            let value = b.f32(value);
            b.write(v, value);
            b.jump(join, vec![]);
        }
        b.seal(join);
        b.switch_to(join);
        let r = b.read(v);
        b.ret(vec![r]);
        let f = b.finish();
        assert_eq!(f.block(join).params, vec![r]);
    }

    #[test]
    fn a_variable_that_a_loop_only_reads_needs_no_parameter() {
        let mut b = FunctionBuilder::new("f", FunctionKind::Function);
        b.result("return", Type::F32);
        let x = b.param("x", Type::F32);
        let v = b.variable(Type::F32);
        b.write(v, x);
        let (head, body, exit) = (b.block(), b.block(), b.block());
        b.jump(head, vec![]);
        b.switch_to(head);
        let now = b.read(v);
        let c = b.lt(now, now);
        b.branch(c, body, exit);
        b.seal(body);
        b.switch_to(body);
        b.jump(head, vec![]);
        b.seal(head);
        b.seal(exit);
        b.switch_to(exit);
        let r = b.read(v);
        b.ret(vec![r]);
        let f = b.finish();
        assert!(f.block(head).params.is_empty());
        assert_eq!(f.block(exit).term, Terminator::Return(vec![x]));
    }

    #[test]
    fn what_is_beyond_the_largest_size_is_left_out_and_its_place_is_known() {
        let mut b = FunctionBuilder::new("f", FunctionKind::Function);
        b.loc = Loc(7);
        for _ in 0..MAX_SIZE {
            b.f32(1.0);
        }
        assert_eq!(b.too_large(), None);
        b.loc = Loc(8);
        b.f32(2.0);
        b.loc = Loc(9);
        b.f32(3.0);
        assert_eq!(b.too_large(), Some(Loc(8)));
        assert_eq!(b.function().inst_count(), MAX_SIZE);
    }

    #[test]
    fn many_conditionals_in_a_row_do_not_exhaust_the_stack() {
        let mut b = FunctionBuilder::new("f", FunctionKind::Function);
        b.result("return", Type::F32);
        let x = b.param("x", Type::F32);
        let v = b.variable(Type::F32);
        b.write(v, x);
        let zero = b.f32(0.0);
        let c = b.lt(x, zero);
        for _ in 0..50_000 {
            let (yes, join) = (b.block(), b.block());
            b.branch(c, yes, join);
            b.seal(yes);
            b.switch_to(yes);
            b.jump(join, vec![]);
            b.seal(join);
            b.switch_to(join);
        }
        let r = b.read(v);
        b.ret(vec![r]);
        let f = b.finish();
        assert_eq!(f.blocks.last().map(|b| b.term.clone()), Some(Terminator::Return(vec![x])));
    }
}
