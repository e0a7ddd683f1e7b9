//! Instructions for several lanes.

use super::VectorizeError;
use super::body::{Body, Lanes, Mask};
use crate::abi::LaneIntrinsic;
use crate::passes::uniformity::is_opaque;
use crate::{BlockId, Inst, Op, SlotId, Type, Value};
use shadewright_base::uniformity::Uniformity;
use std::sync::Arc;

impl Body<'_, '_> {
    /// True if an instruction is an operation between lanes.
    pub(super) fn is_between_lanes(&self, inst: &Inst) -> bool {
        matches!(&inst.op, Op::Call(name) if LaneIntrinsic::parse(name).is_some())
    }

    /// The instructions of a block, for the lanes of a mask.
    pub(super) fn instructions(&mut self, block: BlockId, mask: &Mask) -> Result<(), VectorizeError> {
        let func = self.func;
        if block.0 > 0 {
            func.block(block).params.iter().for_each(|p| self.keep_apart(*p, block, mask));
        }
        for inst in &func.block(block).insts {
            self.b.loc = inst.loc;
            self.spend(self.width)?;
            self.instruction(block, inst, mask)?;
            inst.results.iter().for_each(|r| self.keep_apart(*r, block, mask));
        }
        Ok(())
    }

    fn instruction(&mut self, block: BlockId, inst: &Inst, mask: &Mask) -> Result<(), VectorizeError> {
        match &inst.op {
            // They are in the entry.
            Op::Const(_) => {}
            Op::Call(name) => match LaneIntrinsic::parse(name) {
                Some((intrinsic, _)) => self.between_lanes(block, inst, intrinsic, mask)?,
                None => self.call(block, inst, name, mask)?,
            },
            Op::SlotLoad(slot) => self.slot_load(block, inst, *slot),
            Op::SlotStore(slot) => self.slot_store(block, inst, *slot, mask),
            Op::Debug(_) => self.debug(block, inst, mask),
            Op::Hit | Op::HitTri | Op::HitObj => {
                return Err(self.refuse(inst, "reads the current hit, of which a thread has one"));
            }
            op if op.suspends() => return Err(self.refuse(inst, "may suspend the thread")),
            Op::Du | Op::Dv | Op::Seed => {
                return Err(self.refuse(inst, "is a derivative, which the passes expand before"));
            }
            _ => self.pure(block, inst),
        }
        Ok(())
    }

    /// An operation on each lane, or on the first alone.
    fn pure(&mut self, block: BlockId, inst: &Inst) {
        let [result] = inst.results[..] else { return };
        let ty = self.func.ty(result);
        if self.uniformity.get(result) != Uniformity::Varying {
            let args: Vec<Value> = inst.args.iter().map(|a| self.first(*a, block)).collect();
            let first = self.b.op_as(inst.op.clone(), &args, ty);
            return self.keep(result, Lanes::First(first));
        }
        let args: Vec<Vec<Value>> = inst.args.iter().map(|a| self.each(*a, block)).collect();
        let lane = |l: usize| args.iter().map(|lanes| lanes[l]).collect::<Vec<Value>>();
        let lanes = (0..self.width).map(|l| self.b.op_as(inst.op.clone(), &lane(l), ty)).collect();
        self.keep(result, Lanes::Each(lanes));
    }

    fn slot_load(&mut self, block: BlockId, inst: &Inst, slot: SlotId) {
        let ([index], [result]) = (&inst.args[..], &inst.results[..]) else { return };
        let ty = self.func.ty(*result);
        let slots = self.slots[slot.0 as usize].clone();
        let (index, result) = (*index, *result);
        if self.uniformity.get(result) != Uniformity::Varying {
            let index = self.first(index, block);
            let first = self.b.op_as(Op::SlotLoad(slots[0]), &[index], ty);
            return self.keep(result, Lanes::First(first));
        }
        let index = self.each(index, block);
        let lane = |l: usize| slots[l % slots.len()];
        let lanes = (0..self.width).map(|l| self.b.op_as(Op::SlotLoad(lane(l)), &[index[l]], ty)).collect();
        self.keep(result, Lanes::Each(lanes));
    }

    /// A store: inactive lanes write back what is there.
    fn slot_store(&mut self, block: BlockId, inst: &Inst, slot: SlotId, mask: &Mask) {
        let &[index, element] = &inst.args[..] else { return };
        let slots = self.slots[slot.0 as usize].clone();
        if let [one] = slots[..]
            && self.uniformity.slot(slot).is_uniform()
        {
            let (index, element) = (self.first(index, block), self.first(element, block));
            return self.b.effect(Op::SlotStore(one), &[index, element]);
        }
        let ty = self.func.ty(element);
        let (index, element) = (self.each(index, block), self.each(element, block));
        let is_masked = self.uniformity.is_masked(block);
        for (l, &slot) in slots.iter().enumerate() {
            let new = match mask.as_ref().filter(|_| is_masked) {
                Some(mask) if mask[l] != self.truth[1] => {
                    let old = self.b.op_as(Op::SlotLoad(slot), &[index[l]], ty);
                    self.chosen(Some(mask[l]), element[l], old)
                }
                _ => element[l],
            };
            self.b.effect(Op::SlotStore(slot), &[index[l], new]);
        }
    }

    /// Emits an instruction that prints, for each active lane; nothing else is shown of a vector.
    fn debug(&mut self, block: BlockId, inst: &Inst, mask: &Mask) {
        if !inst.op.is_printed() {
            return;
        }
        for l in 0..self.width {
            let condition = mask.as_ref().map(|m| m[l]).filter(|c| *c != self.truth[1]);
            let next = condition.map(|condition| {
                let (print, next) = (self.b.block(), self.b.block());
                self.b.branch(condition, print, next);
                self.b.seal(print);
                self.b.switch_to(print);
                next
            });
            let value = self.each(inst.args[0], block)[l];
            self.b.effect(inst.op.clone(), &[value]);
            if let Some(next) = next {
                self.b.jump(next, vec![]);
                self.b.seal(next);
                self.b.switch_to(next);
            }
        }
    }

    /// A call of a function: of the one for the uniformity of the arguments.
    fn call(&mut self, block: BlockId, inst: &Inst, name: &Arc<str>, mask: &Mask) -> Result<(), VectorizeError> {
        let module = self.variants.module;
        let Some(number) = module.functions.iter().position(|f| f.name == *name) else {
            return Err(self.refuse(inst, "calls a function that is not there"));
        };
        let callee = &module.functions[number];
        if is_opaque(callee) {
            self.call_each(block, inst);
            return Ok(());
        }
        let uniformities: Vec<Uniformity> = inst.args.iter().map(|a| self.uniformity(*a, block)).collect();
        let Some(called) = self.variants.uniformity.called(number, &uniformities) else {
            return Err(self.refuse(inst, "calls a function of which nothing is known"));
        };
        let name = self.variants.name(called, mask.is_some());
        let mut args = Vec::new();
        for ((&arg, own), (uniformity, param)) in
            inst.args.iter().zip(uniformities).zip(called.params.iter().zip(&callee.params))
        {
            let lanes = self.get(arg, block);
            args.extend(self.packed(lanes, own, param.ty, *uniformity));
        }
        if let Some(mask) = mask {
            let lanes = Lanes::Each(mask.clone());
            args.extend(self.packed(lanes, Uniformity::Varying, Type::Bool, Uniformity::Varying));
        }
        let results = called.results();
        let width = self.width as u32;
        let passed = |(r, uniformity): (&crate::ResultInfo, &Uniformity)| {
            super::signature::passed_types(r.ty, *uniformity, width)
        };
        let types: Vec<Vec<Type>> = callee.results.iter().zip(&results).map(passed).collect();
        let mut values = self.b.call(name, args, &types.concat()).into_iter();
        for (((&result, own), uniformity), types) in inst.results.iter().zip(&callee.results).zip(results).zip(types) {
            let values = values.by_ref().take(types.len()).collect();
            let lanes = self.unpacked(values, own.ty, uniformity);
            let lanes = match self.uniformity.get(result) {
                Uniformity::Varying => Lanes::Each(self.expand(lanes, uniformity)),
                Uniformity::Affine { .. } => lanes,
            };
            self.keep(result, lanes);
        }
        Ok(())
    }

    /// A call of a function that has no other form: one for each lane.
    fn call_each(&mut self, block: BlockId, inst: &Inst) {
        let types: Vec<Type> = inst.results.iter().map(|r| self.func.ty(*r)).collect();
        let is_varying = inst.results.iter().any(|r| self.uniformity.get(*r) == Uniformity::Varying);
        let args: Vec<Vec<Value>> = inst.args.iter().map(|a| self.each(*a, block)).collect();
        let count = if is_varying { self.width } else { 1 };
        let call = |l: usize| {
            let args = args.iter().map(|lanes| lanes[l]).collect();
            self.b.inst(inst.op.clone(), args, &types)
        };
        let calls: Vec<Vec<Value>> = (0..count).map(call).collect();
        for (n, &result) in inst.results.iter().enumerate() {
            let lanes: Vec<Value> = calls.iter().map(|results| results[n]).collect();
            self.keep(result, if is_varying { Lanes::Each(lanes) } else { Lanes::First(lanes[0]) });
        }
    }
}
