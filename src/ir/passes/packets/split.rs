//! A function in two, where some of its arguments are the same for several of its calls, as for all
//! rays of a packet: what only these decide is worked out once, the rest for each call.
//!
//! Every operation stays what it was, on the same values, so the bits of results do not change.

use super::shared_with;
use crate::passes::{dce, renumber};
use crate::{Block, Function, Inst, Loc, Op, Param, ParamKind, ResultInfo, TargetInfo, Terminator, Type, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// The values that are worked out once.
#[derive(Clone, Copy, Debug)]
pub enum Once<'a> {
    /// All numbers that cost something, if the target's registers hold them
    /// ([`TargetInfo::split_vectors`], [`TargetInfo::split_scalars`]).
    Numbers(&'a TargetInfo),
    /// The results of calls of these functions, which do nothing but give results.
    Calls(&'a HashSet<Arc<str>>),
}

/// The two parts of a function. Both have its parameters.
#[derive(Clone, Debug)]
pub struct Split {
    /// The values that only the common arguments decide, as results.
    pub shared: Function,
    /// The function, with the results of the other part after its parameters.
    pub rest: Function,
}

/// Parts a function, where the parameters of these names have common arguments; `names` are those
/// of the parts. Nothing, where all arguments together decide all that could be worked out once, or
/// registers do not hold it.
pub fn split(func: &Function, common: &[&str], names: [String; 2], once: Once<'_>) -> Option<Split> {
    let is_pure = |op: &Op| match (op, once) {
        (Op::Call(callee), Once::Calls(calls)) => calls.contains(callee),
        _ => op.is_pure(),
    };
    let is_shared = shared_with(func, |name| common.contains(&name), is_pure);
    // What costs nothing, or does not pass as a number, is computed where it is used.
    let is_wanted = |op: &Op| match once {
        Once::Numbers(_) => !matches!(op, Op::Const(_) | Op::Uniform(_) | Op::Splat),
        Once::Calls(_) => matches!(op, Op::Call(_)),
    };
    let moves = |inst: &Inst| match inst.results[..] {
        [result] => {
            is_shared[result.0 as usize]
                && matches!(func.ty(result), Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4)
                && is_wanted(&inst.op)
        }
        _ => false,
    };
    let moved: HashSet<Value> =
        func.blocks.iter().flat_map(|b| &b.insts).filter(|i| moves(i)).map(|i| i.results[0]).collect();
    let [shared_name, rest_name] = names;
    let mut rest = Function { name: rest_name.into(), ..func.clone() };
    for block in &mut rest.blocks {
        block.insts.retain(|i| !i.results.iter().any(|r| moved.contains(r)));
        if matches!(once, Once::Numbers(_)) {
            block.insts.retain(|i| !matches!(i.op, Op::Debug(_)));
        }
    }
    let own = rest.params.len();
    // Values that were computed become parameters, those that nothing uses are dropped again.
    let mut passed: Vec<Value> = moved.into_iter().collect();
    passed.sort();
    for &value in &passed {
        let name = format!("shared.{}", value.0).into();
        rest.params.push(Param { name, ty: func.ty(value), kind: ParamKind::Implicit });
        rest.blocks[0].params.push(value);
    }
    dce::run(&mut rest);
    rest.drop_unused_params(own);
    let passed: Vec<Value> = rest.param_values()[own..].to_vec();
    let vectors = passed.iter().filter(|v| func.ty(**v) != Type::F32).count();
    let fits = match once {
        Once::Numbers(target) => vectors <= target.split_vectors && passed.len() - vectors <= target.split_scalars,
        Once::Calls(_) => true,
    };
    if passed.is_empty() || !fits {
        return None;
    }
    let order = func.reverse_postorder();
    let all = order.iter().flat_map(|id| &func.block(*id).insts);
    let insts = all.filter(|i| is_pure(&i.op) && i.results.iter().all(|r| is_shared[r.0 as usize])).cloned();
    let body = Block {
        params: func.param_values().to_vec(),
        insts: insts.collect(),
        term: Terminator::Return(passed.clone()),
        term_loc: Loc::NONE,
    };
    let result = |v: &Value| ResultInfo { name: format!("shared.{}", v.0).into(), ty: func.ty(*v) };
    let results = passed.iter().map(result).collect();
    let mut shared =
        Function { name: shared_name.into(), results, slots: Vec::new(), blocks: vec![body], ..func.clone() };
    dce::run(&mut shared);
    renumber::renumber(&mut shared);
    renumber::renumber(&mut rest);
    Some(Split { shared, rest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Const;
    use crate::eval::{EmptyWorld, Limits, eval};
    use crate::passes::testing::module;
    use crate::verify::verify;

    const DISTANCE: &str = "entry f(v0 origin: vec3, v1 way: vec3) -> (return: f32) {
b0:
  v2: vec3 = const (1.0, 2.0, 3.0)
  v3: vec3 = sub v0, v2
  v4: f32 = dot v3, v3
  v5: f32 = const 4.0
  v6: bool = lt v4, v5
  br v6, b1, b2
b1:
  v7: f32 = mul v4, v4
  v8: f32 = dot v3, v1
  v9: f32 = sub v8, v7
  ret v9
b2:
  v10: f32 = dot v1, v1
  ret v10
}";

    #[test]
    fn what_common_arguments_decide_is_computed_apart_to_the_same_bits() {
        let mut m = module(DISTANCE);
        let split = split(&m.functions[0], &["origin"], ["a".into(), "b".into()], Once::Numbers(&TargetInfo::DEFAULT))
            .expect("the origin decides something");
        assert_eq!(
            split.rest.params.iter().map(|p| p.ty).collect::<Vec<_>>(),
            [Type::Vec3, Type::Vec3, Type::Vec3, Type::F32, Type::F32]
        );
        m.functions.extend([split.shared, split.rest]);
        verify(&m).expect("both parts keep the rules");
        for origin in [[1.5, 2.0, 2.0], [5.0, -2.0, 0.3]] {
            let args = vec![Const::Vec3(origin), Const::Vec3([0.3, 0.7, -0.1])];
            let run =
                |name: &str, args: &[Const]| eval(&m, name, args, &mut EmptyWorld, Limits::default()).expect("it ends");
            let shared = run("a", &args);
            assert_eq!(run("b", &[args.clone(), shared].concat()), run("f", &args));
        }
    }

    #[test]
    fn a_function_of_its_own_arguments_alone_stays_whole() {
        let m =
            module("entry f(v0 origin: f32, v1 x: f32) -> (return: f32) {\nb0:\n  v2: f32 = mul v0, v1\n  ret v2\n}");
        assert!(
            split(&m.functions[0], &["origin"], ["a".into(), "b".into()], Once::Numbers(&TargetInfo::DEFAULT))
                .is_none()
        );
    }
}
