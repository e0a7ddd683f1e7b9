//! The meaning of operations between lanes ([`LaneIntrinsic`]) in code that runs for one sample:
//! there is one lane, whose number is 0.

use crate::abi::{LaneIntrinsic, Reduction};
use crate::{Function, FunctionBuilder, Module, Op, Type};
use std::collections::BTreeSet;

/// Defines the operations between lanes that a module calls and does not define, for one lane.
/// Returns how many there were.
pub fn define(module: &mut Module) -> usize {
    let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    let called = insts.filter_map(|i| match &i.op {
        Op::Call(name) => LaneIntrinsic::parse(name).map(|(intrinsic, ty)| (name.clone(), intrinsic, ty)),
        _ => None,
    });
    let mut wanted = BTreeSet::new();
    let mut made = Vec::new();
    for (name, intrinsic, ty) in called {
        if let Some(function) = one_lane(intrinsic, ty)
            && module.function(&name).is_none()
            && wanted.insert(name.clone())
        {
            made.push(function);
        }
    }
    let count = made.len();
    module.functions.extend(made);
    count
}

/// The operation on one lane; `ty` is the type that its name ends with. `None` where it has no
/// meaning for that.
fn one_lane(intrinsic: LaneIntrinsic, ty: &str) -> Option<Function> {
    let operand = match intrinsic {
        LaneIntrinsic::Index | LaneIntrinsic::Count => None,
        LaneIntrinsic::Any | LaneIntrinsic::All | LaneIntrinsic::Ballot => Some(Type::Bool),
        LaneIntrinsic::Shuffle | LaneIntrinsic::Extract => Some(Type::from_name(ty)?),
        LaneIntrinsic::Reduce(Reduction::Add | Reduction::Min | Reduction::Max) => {
            let has_order = |t: &Type| t.is_integer() || t.lanes().is_some();
            Some(Type::from_name(ty).filter(has_order)?)
        }
    };
    let mut b = FunctionBuilder::library(intrinsic.name(ty));
    let value = operand.map(|ty| b.param("value", ty));
    if intrinsic.has_second() {
        b.param("by", Type::U32);
    }
    let result = match (intrinsic, value) {
        (LaneIntrinsic::Ballot, Some(holds)) => {
            let (one, zero) = (b.u32(1), b.u32(0));
            b.op(Op::Select, &[holds, one, zero])
        }
        (_, Some(value)) => value,
        (LaneIntrinsic::Count, None) => b.u32(1),
        (_, None) => b.u32(0),
    };
    let ty = b.ty(result);
    b.result("return", ty);
    b.ret(vec![result]);
    Some(b.finish())
}

#[cfg(test)]
mod tests {
    use crate::passes::testing::module;
    use crate::{Const, EmptyWorld, Limits, eval, verify};

    #[test]
    fn one_lane_gives_its_operand_and_has_number_zero() {
        let text = "fn f(v0 x: f32, v1 c: bool) -> (i: u32, n: u32, a: bool, b: u32, s: f32, e: f32, r: f32) {
b0:
  v2: u32 = call lanes.index()
  v3: u32 = call lanes.count()
  v4: bool = call lanes.any(v1)
  v5: u32 = call lanes.ballot(v1)
  v6: f32 = call lanes.shuffle.f32(v0, v3)
  v7: f32 = call lanes.extract.f32(v6, v3)
  v8: f32 = call lanes.add.f32(v7)
  ret v2, v3, v4, v5, v6, v7, v8
}";
        let mut m = module(text);
        assert_eq!(super::define(&mut m), 7);
        assert_eq!(super::define(&mut m), 0);
        assert_eq!(verify(&m), Ok(()));
        let results = eval(&m, "f", &[Const::F32(2.5), Const::Bool(true)], &mut EmptyWorld, Limits::default());
        let (x, one) = (Const::F32(2.5), Const::U32(1));
        let expected = [Const::U32(0), one.clone(), Const::Bool(true), one, x.clone(), x.clone(), x];
        assert_eq!(results.as_deref(), Ok(&expected[..]));
    }
}
