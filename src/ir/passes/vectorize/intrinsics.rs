//! Operations between lanes ([`LaneIntrinsic`]).

use super::VectorizeError;
use super::body::{Body, Lanes, Mask};
use crate::abi::{LaneIntrinsic, Reduction};
use crate::{BlockId, Const, Inst, Op, Type, Value};
use shadewright_base::uniformity::Uniformity;

impl Body<'_, '_> {
    pub(super) fn between_lanes(
        &mut self,
        block: BlockId,
        inst: &Inst,
        intrinsic: LaneIntrinsic,
        mask: &Mask,
    ) -> Result<(), VectorizeError> {
        let takes = match intrinsic {
            LaneIntrinsic::Index | LaneIntrinsic::Count => 0,
            _ => 1 + usize::from(intrinsic.has_second()),
        };
        let ([result], true) = (&inst.results[..], inst.args.len() == takes) else {
            return Err(self.refuse(inst, "has other operands than its name says"));
        };
        let second = inst.args.get(1).copied();
        if second.is_some_and(|v| !self.uniformity(v, block).is_uniform()) {
            return Err(self.refuse(inst, "needs a uniform number of lanes"));
        }
        let lanes = match inst.args.first() {
            Some(&operand) => self.each(operand, block),
            None => Vec::new(),
        };
        let active = mask.clone().unwrap_or_else(|| vec![self.truth[1]; self.width]);
        let value = match intrinsic {
            LaneIntrinsic::Index => self.b.u32(0),
            LaneIntrinsic::Count => self.b.u32(self.width as u32),
            LaneIntrinsic::Any => {
                let held: Vec<Value> = active.iter().zip(&lanes).map(|(m, x)| self.and(*m, *x)).collect();
                self.any(&held)
            }
            LaneIntrinsic::All => {
                let mut all = self.truth[1];
                for (m, x) in active.into_iter().zip(lanes) {
                    let idle = self.not(m);
                    let held = self.or(idle, x);
                    all = self.and(all, held);
                }
                all
            }
            LaneIntrinsic::Ballot => self.ballot(&active, &lanes),
            LaneIntrinsic::Shuffle => {
                let by = second.map(|by| self.first(by, block));
                let lanes = self.rotated(lanes, by, second);
                let uniformity = self.uniformity.get(*result);
                let lanes = if uniformity.is_uniform() { Lanes::First(lanes[0]) } else { Lanes::Each(lanes) };
                self.keep(*result, lanes);
                return Ok(());
            }
            LaneIntrinsic::Extract => {
                let by = second.map(|by| self.first(by, block));
                self.rotated(lanes, by, second)[0]
            }
            LaneIntrinsic::Reduce(reduction) => self.reduced(&active, &lanes, reduction),
        };
        let lanes = match self.uniformity.get(*result) {
            Uniformity::Varying => Lanes::Each(vec![value; self.width]),
            Uniformity::Affine { .. } => Lanes::First(value),
        };
        self.keep(*result, lanes);
        Ok(())
    }

    fn ballot(&mut self, active: &[Value], lanes: &[Value]) -> Value {
        let zero = self.b.u32(0);
        let mut bits = zero;
        for (l, (m, x)) in active.iter().zip(lanes).enumerate() {
            let held = self.and(*m, *x);
            let bit = self.b.u32(1 << l);
            let bit = self.chosen(Some(held), bit, zero);
            bits = if l == 0 { bit } else { self.b.op(Op::IOr, &[bits, bit]) };
        }
        bits
    }

    /// Lanes moved by a number, lane `l + by` to lane `l`: at once by a constant, else bit by bit.
    fn rotated(&mut self, mut lanes: Vec<Value>, by: Option<Value>, original: Option<Value>) -> Vec<Value> {
        if let Some(Const::U32(by)) = original.and_then(|v| self.constant(v)) {
            lanes.rotate_left(by as usize % self.width);
            return lanes;
        }
        let Some(by) = by else { return lanes };
        let (zero, width) = (self.b.u32(0), self.width);
        for bit in (0..u32::BITS).map(|k| 1usize << k).take_while(|bit| *bit < width) {
            let wanted = self.b.u32(bit as u32);
            let set = self.b.op(Op::IAnd, &[by, wanted]);
            let is_clear = self.b.op(Op::IEq, &[set, zero]);
            let mut moved = lanes.clone();
            moved.rotate_left(bit);
            lanes = lanes.into_iter().zip(moved).map(|(l, m)| self.chosen(Some(is_clear), l, m)).collect();
        }
        lanes
    }

    /// The constant that a value of the original function is.
    fn constant(&self, value: Value) -> Option<Const> {
        let insts = self.func.blocks.iter().flat_map(|b| &b.insts);
        insts.filter(|i| i.results.contains(&value)).find_map(|i| match &i.op {
            Op::Const(c) => Some(c.clone()),
            _ => None,
        })
    }

    /// Active lanes combined from the first to the last.
    fn reduced(&mut self, active: &[Value], lanes: &[Value], reduction: Reduction) -> Value {
        let (mut sum, mut has) = (lanes[0], active[0]);
        for (&lane, &is_active) in lanes.iter().zip(active).skip(1) {
            let both = self.combined(sum, lane, reduction);
            let with = self.chosen_or(has, both, lane);
            sum = self.chosen_or(is_active, with, sum);
            has = self.or(has, is_active);
        }
        sum
    }

    /// [`Body::chosen`] by a condition that may be known to fail.
    fn chosen_or(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        if condition == self.truth[0] { otherwise } else { self.chosen(Some(condition), then, otherwise) }
    }

    fn combined(&mut self, a: Value, b: Value, reduction: Reduction) -> Value {
        let is_integer = matches!(self.b.ty(a), Type::I32 | Type::U32);
        match (reduction, is_integer) {
            (Reduction::Add, false) => self.b.op(Op::Add, &[a, b]),
            (Reduction::Min, false) => self.b.op(Op::Min, &[a, b]),
            (Reduction::Max, false) => self.b.op(Op::Max, &[a, b]),
            (Reduction::Add, true) => self.b.op(Op::IAdd, &[a, b]),
            (Reduction::Min, true) => {
                let is_less = self.b.op(Op::ILt, &[b, a]);
                self.b.op(Op::Select, &[is_less, b, a])
            }
            (Reduction::Max, true) => {
                let is_less = self.b.op(Op::ILt, &[a, b]);
                self.b.op(Op::Select, &[is_less, b, a])
            }
        }
    }
}
