//! Splits vectors: a pixel processor works on one number at a time, so each component is a value of
//! its own with a lifetime of its own.
//!
//! The vectors that are left are the results of `load`, `uniform` and `hit`, which only `extract`
//! instructions read.

use shadewright_ir::{
    Block, Const, Function, Inst, Loc, Module, Op, Param, ResultInfo, Slot, SlotId, Target, Terminator, Type, Value,
};
use std::sync::Arc;

/// The names of components, as they follow the name of a vector.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Splits the vectors of all functions. The module must hold no matrices.
pub fn split_vectors(module: &mut Module) {
    for function in &mut module.functions {
        let split = Splitter::new(function).run();
        *function = split;
    }
}

/// The types of a value's components.
pub fn component_types(ty: Type) -> Vec<Type> {
    match ty.lanes() {
        Some(lanes) if lanes > 1 => vec![Type::F32; lanes as usize],
        _ => vec![ty],
    }
}

fn component_name(name: &str, ty: Type, i: usize) -> Arc<str> {
    if ty.words() > 1 { format!("{name}.{}", COMPONENTS[i.min(3)]).into() } else { name.into() }
}

struct Splitter<'a> {
    from: &'a Function,
    to: Function,
    /// The components of each value.
    parts: Vec<Vec<Value>>,
    /// The first of the slots that an array became.
    slots: Vec<u32>,
    insts: Vec<Inst>,
    loc: Loc,
}

impl<'a> Splitter<'a> {
    fn new(from: &'a Function) -> Self {
        let mut to = Function::new(from.name.clone(), from.kind);
        (to.origin, to.inlining, to.loc) = (from.origin, from.inlining, from.loc);
        for p in &from.params {
            for (i, ty) in component_types(p.ty).into_iter().enumerate() {
                to.params.push(Param { name: component_name(&p.name, p.ty, i), ty, kind: p.kind });
            }
        }
        for r in &from.results {
            for (i, ty) in component_types(r.ty).into_iter().enumerate() {
                to.results.push(ResultInfo { name: component_name(&r.name, r.ty, i), ty });
            }
        }
        let mut slots = Vec::new();
        for slot in &from.slots {
            slots.push(to.slots.len() as u32);
            for (i, ty) in component_types(slot.ty).into_iter().enumerate() {
                to.slots.push(Slot { name: component_name(&slot.name, slot.ty, i), ty, len: slot.len });
            }
        }
        Self { from, to, parts: vec![Vec::new(); from.values.len()], slots, insts: Vec::new(), loc: Loc::NONE }
    }

    fn run(mut self) -> Function {
        // Dominators come before what they dominate in this order, so operands are known.
        let order = self.from.reverse_postorder();
        for _ in &self.from.blocks {
            let block = self.to.new_block();
            debug_assert!(self.to.block(block).insts.is_empty());
        }
        for block in &self.from.blocks {
            for &p in &block.params {
                self.parts[p.0 as usize] =
                    component_types(self.from.ty(p)).into_iter().map(|ty| self.to.new_value(ty)).collect();
            }
        }
        for id in order {
            let block = self.from.block(id);
            let params = block.params.iter().flat_map(|p| self.parts[p.0 as usize].clone()).collect();
            for inst in &block.insts {
                self.loc = inst.loc;
                self.inst(inst);
            }
            let term = self.terminator(&block.term);
            let insts = std::mem::take(&mut self.insts);
            *self.to.block_mut(id) = Block { params, insts, term, term_loc: block.term_loc };
        }
        self.to
    }

    fn flat(&self, values: &[Value]) -> Vec<Value> {
        values.iter().flat_map(|v| self.parts[v.0 as usize].iter().copied()).collect()
    }

    fn terminator(&self, term: &Terminator) -> Terminator {
        let target = |t: &Target| Target { block: t.block, args: self.flat(&t.args) };
        match term {
            Terminator::Jump(t) => Terminator::Jump(target(t)),
            Terminator::Branch(c, a, b) => Terminator::Branch(self.parts[c.0 as usize][0], target(a), target(b)),
            Terminator::Return(values) => Terminator::Return(self.flat(values)),
        }
    }

    fn emit(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let result = self.to.new_value(ty);
        self.insts.push(Inst { op, args, results: vec![result], loc: self.loc });
        result
    }

    fn pair(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.emit(op, vec![a, b], Type::F32)
    }

    fn inst(&mut self, inst: &Inst) {
        let part = |s: &Self, i: usize, k: usize| {
            let parts = &s.parts[inst.args[i].0 as usize];
            parts[k.min(parts.len() - 1)]
        };
        let lanes = |s: &Self, i: usize| s.parts[inst.args[i].0 as usize].len();
        let result_type = inst.results.first().map(|&r| self.from.ty(r));
        let parts: Vec<Value> = match &inst.op {
            Op::Const(c) => match c.floats() {
                Some(floats) => {
                    floats.iter().map(|&x| self.emit(Op::Const(Const::F32(x)), Vec::new(), Type::F32)).collect()
                }
                None => vec![self.emit(inst.op.clone(), Vec::new(), c.ty())],
            },
            Op::Dot => {
                let mut sum = None;
                for k in 0..lanes(self, 0) {
                    let (a, b) = (part(self, 0, k), part(self, 1, k));
                    let product = self.pair(Op::Mul, a, b);
                    sum = Some(sum.map_or(product, |sum| self.pair(Op::Add, sum, product)));
                }
                sum.into_iter().collect()
            }
            Op::Cross => (0..3)
                .map(|k| {
                    let (y, z) = ((k + 1) % 3, (k + 2) % 3);
                    let (ay, bz, az, by) = (part(self, 0, y), part(self, 1, z), part(self, 0, z), part(self, 1, y));
                    let first = self.pair(Op::Mul, ay, bz);
                    let second = self.pair(Op::Mul, az, by);
                    self.pair(Op::Sub, first, second)
                })
                .collect(),
            Op::Compose => self.flat(&inst.args),
            Op::Splat => {
                let lanes = result_type.map_or(1, |ty| component_types(ty).len());
                vec![part(self, 0, 0); lanes]
            }
            Op::Extract(k) => vec![part(self, 0, *k as usize)],
            Op::Insert(k) => {
                let mut parts = self.parts[inst.args[0].0 as usize].clone();
                let new = part(self, 1, 0);
                if let Some(old) = parts.get_mut(*k as usize) {
                    *old = new;
                }
                parts
            }
            Op::Uniform(_) | Op::Load(_) | Op::Hit => {
                let args = self.flat(&inst.args);
                let vector = self.emit(inst.op.clone(), args, Type::Vec4);
                (0..4).map(|k| self.emit(Op::Extract(k), vec![vector], Type::F32)).collect()
            }
            Op::SlotLoad(slot) => {
                let index = part(self, 0, 0);
                let first = self.slots[slot.0 as usize];
                let types = result_type.map(component_types).unwrap_or_default();
                let load = |(k, ty)| self.emit(Op::SlotLoad(SlotId(first + k as u32)), vec![index], ty);
                types.into_iter().enumerate().map(load).collect()
            }
            Op::SlotStore(slot) => {
                let index = part(self, 0, 0);
                let first = self.slots[slot.0 as usize];
                for k in 0..lanes(self, 1) {
                    let args = vec![index, part(self, 1, k)];
                    let op = Op::SlotStore(SlotId(first + k as u32));
                    self.insts.push(Inst { op, args, results: Vec::new(), loc: self.loc });
                }
                Vec::new()
            }
            Op::Debug(name) => {
                let ty = self.from.ty(inst.args[0]);
                for k in 0..lanes(self, 0) {
                    let args = vec![part(self, 0, k)];
                    let op = Op::Debug(component_name(name, ty, k));
                    self.insts.push(Inst { op, args, results: Vec::new(), loc: self.loc });
                }
                Vec::new()
            }
            Op::Neg
            | Op::Abs
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Rcp
            | Op::Rsq
            | Op::Sqrt
            | Op::Frac
            | Op::Floor
            | Op::Min
            | Op::Max
            | Op::Sat => (0..lanes(self, 0))
                .map(|k| {
                    let args = (0..inst.args.len()).map(|i| part(self, i, k)).collect();
                    self.emit(inst.op.clone(), args, Type::F32)
                })
                .collect(),
            Op::Select => {
                let types = result_type.map(component_types).unwrap_or_default();
                let choose = |(k, ty)| {
                    let args = vec![part(self, 0, 0), part(self, 1, k), part(self, 2, k)];
                    self.emit(Op::Select, args, ty)
                };
                types.into_iter().enumerate().map(choose).collect()
            }
            // What takes and gives whole lists of numbers.
            _ => {
                let args = self.flat(&inst.args);
                let mut results = Vec::new();
                for &r in &inst.results {
                    let parts: Vec<Value> =
                        component_types(self.from.ty(r)).into_iter().map(|ty| self.to.new_value(ty)).collect();
                    results.extend(&parts);
                    self.parts[r.0 as usize] = parts;
                }
                self.insts.push(Inst { op: inst.op.clone(), args, results, loc: self.loc });
                return;
            }
        };
        if let Some(&r) = inst.results.first() {
            self.parts[r.0 as usize] = parts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    use shadewright_ir::random::{self, Random, Shape};
    use shadewright_ir::verify;

    /// The components of constants.
    fn flat(constants: &[Const]) -> Vec<Const> {
        constants
            .iter()
            .flat_map(|c| match c.floats() {
                Some(floats) => floats.iter().map(|&x| Const::F32(x)).collect(),
                None => vec![c.clone()],
            })
            .collect()
    }

    #[test]
    fn programs_without_vectors_compute_the_same() {
        let mut random = Random::new(11);
        for _ in 0..60 {
            let module = random::module(&mut random, Shape::default());
            let mut split = module.clone();
            split_vectors(&mut split);
            verify(&split).expect("valid IR");
            let args = random::arguments(&mut random);
            let expected = eval(&module, "f", &args, &mut EmptyWorld, Limits::default()).expect("it ends");
            let got = eval(&split, "f", &flat(&args), &mut EmptyWorld, Limits::default()).expect("it ends");
            assert_eq!(flat(&expected), got, "{module}");
        }
    }
}
