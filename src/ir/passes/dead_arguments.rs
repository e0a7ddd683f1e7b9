//! Dead-argument elimination: removes parameters that no result and no effect depends on, across
//! calls and around cycles of the call graph.
//!
//! It takes a linked module, before any pass. Its main purpose is the ray that `call_shader_ray`
//! passes: in a program whose shaders do not read the ray's cone, time and kind, these cost
//! nothing. Implicit parameters and all parameters of library functions may be removed. Declared
//! ones stay, as debuggers show them, and so do those of entry points, except the `ray` of
//! surfaces: that is removed from all of them and from each `call_shader_ray`, or from none.

use super::value_def::{ValueDef, value_defs};
use crate::abi::EntryPoint;
use crate::{
    BlockId, Const, Function, FunctionKind, FunctionOrigin, Inst, Loc, Module, Op, ParamKind, ShaderCall, Terminator,
    Value,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Drops the parameters that nothing needs. Returns how many they were.
pub fn eliminate_dead_arguments(module: &mut Module) -> usize {
    let needed = Needed::new(module);
    let ray = needed.ray;
    let goes = |f: usize, i: usize| {
        let func = &module.functions[f];
        let may_go = match func.kind {
            FunctionKind::Entry(_) => takes_ray(func) && i == ShaderCall::RAY && !ray,
            FunctionKind::Function if func.origin == FunctionOrigin::Library => true,
            _ => func.params[i].kind == ParamKind::Implicit,
        };
        may_go && !needed.params[f][i]
    };
    let gone: Vec<Vec<bool>> = (0..module.functions.len())
        .map(|f| (0..module.functions[f].params.len()).map(|i| goes(f, i)).collect())
        .collect();
    let index = module.index();
    for (func, own) in module.functions.iter_mut().zip(&gone) {
        for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
            match &inst.op {
                Op::Call(name) => {
                    if let Some(&callee) = index.get(name) {
                        retain(&mut inst.args, &gone[callee]);
                    }
                }
                Op::CallShader(ShaderCall::Ray) if !ray => {
                    inst.op = Op::CallShader(ShaderCall::Plain);
                    inst.args.remove(ShaderCall::RAY);
                }
                _ => {}
            }
        }
        let zero = |(i, gone): (usize, &bool)| gone.then(|| Const::zero(func.params[i].ty));
        let zeros: Vec<Option<Const>> = own.iter().enumerate().map(zero).collect();
        fix_params(func, &zeros);
    }
    gone.iter().flatten().filter(|g| **g).count()
}

/// True if the function is an entry point that is called for a hit by [`ShaderCall::Ray`], or like
/// that.
fn takes_ray(f: &Function) -> bool {
    matches!(f.kind, FunctionKind::Entry(EntryPoint::Surface(_) | EntryPoint::Displacement(_)))
        && f.params.iter().map(|p| p.ty).eq(ShaderCall::Ray.params().iter().copied())
        && f.results.iter().map(|r| r.ty).eq(ShaderCall::Ray.results().iter().copied())
}

fn retain<T>(list: &mut Vec<T>, gone: &[bool]) {
    let mut gone = gone.iter();
    list.retain(|_| gone.next().is_none_or(|g| !g));
}

/// Removes the parameters that have a value here, and defines that in their place.
pub(super) fn fix_params(func: &mut Function, values: &[Option<Const>]) {
    let gone: Vec<bool> = values.iter().map(Option::is_some).collect();
    let constant = |(&v, value): (&Value, &Option<Const>)| {
        let op = Op::Const(value.clone()?);
        Some(Inst { op, args: Vec::new(), results: vec![v], loc: Loc::NONE })
    };
    let constants: Vec<Inst> = func.param_values().iter().zip(values).filter_map(constant).collect();
    retain(&mut func.params, &gone);
    let entry = func.block_mut(BlockId(0));
    retain(&mut entry.params, &gone);
    entry.insts.splice(0..0, constants);
}

/// The parameters, and the ray, that results and effects depend on, across calls.
struct Needed {
    /// For each function and parameter, whether it is needed.
    params: Vec<Vec<bool>>,
    /// True if some surface needs the ray.
    ray: bool,
}

/// A value of a function of the module.
type FunctionValue = (usize, Value);

impl Needed {
    fn new(module: &Module) -> Self {
        let index = module.index();
        let mut callers: HashMap<Arc<str>, Vec<(usize, &[Value])>> = HashMap::new();
        let mut shooters: Vec<FunctionValue> = Vec::new();
        let mut work: Vec<FunctionValue> = Vec::new();
        for (f, func) in module.functions.iter().enumerate() {
            for block in &func.blocks {
                for inst in &block.insts {
                    match &inst.op {
                        Op::Call(name) if index.contains_key(name) => {
                            callers.entry(name.clone()).or_default().push((f, &inst.args));
                        }
                        Op::CallShader(ShaderCall::Ray) => {
                            shooters.push((f, inst.args[ShaderCall::RAY]));
                            work.extend(inst.args.iter().take(ShaderCall::RAY).map(|&v| (f, v)));
                        }
                        // A path needs all of its ray.
                        Op::CallShader(_) => work.extend(inst.args.iter().map(|&v| (f, v))),
                        op if op.is_printed() => work.extend(inst.args.iter().map(|&v| (f, v))),
                        Op::Debug(_) => {}
                        op if op.is_removable() => {}
                        _ => work.extend(inst.args.iter().map(|&v| (f, v))),
                    }
                }
                match &block.term {
                    Terminator::Branch(c, ..) => work.push((f, *c)),
                    Terminator::Return(values) => work.extend(values.iter().map(|&v| (f, v))),
                    Terminator::Jump(_) => {}
                }
            }
        }
        let ways: Vec<_> = module.functions.iter().map(|f| (value_defs(f), f.predecessors())).collect();
        let mut live: Vec<Vec<bool>> = module.functions.iter().map(|f| vec![false; f.values.len()]).collect();
        let mut needed =
            Needed { params: module.functions.iter().map(|f| vec![false; f.params.len()]).collect(), ray: false };
        while let Some((f, value)) = work.pop() {
            if std::mem::replace(&mut live[f][value.0 as usize], true) {
                continue;
            }
            let func = &module.functions[f];
            let (defs, predecessors) = &ways[f];
            match defs[value.0 as usize] {
                ValueDef::Undefined => {}
                ValueDef::Param(BlockId(0), i) => {
                    needed.params[f][i as usize] = true;
                    let calls = callers.get(&func.name).into_iter().flatten();
                    work.extend(calls.filter_map(|(caller, args)| Some((*caller, *args.get(i as usize)?))));
                    if i as usize == ShaderCall::RAY && takes_ray(func) {
                        needed.ray = true;
                        work.append(&mut shooters);
                    }
                }
                ValueDef::Param(block, i) => {
                    for &p in &predecessors[block.0 as usize] {
                        let targets = func.block(p).term.targets().filter(|t| t.block == block);
                        work.extend(targets.map(|t| (f, t.args[i as usize])));
                    }
                }
                ValueDef::Inst(block, i) => {
                    let inst = &func.block(block).insts[i as usize];
                    if !matches!(inst.op, Op::Call(_) | Op::CallShader(_)) {
                        work.extend(inst.args.iter().map(|&v| (f, v)));
                    }
                }
            }
        }
        needed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_module;
    use super::eliminate_dead_arguments;

    /// A camera whose ray goes around through a surface; `USE` is what the surface does with its
    /// width.
    const RENDERER: &str = "library fn std.radiance(v0 o: vec3, v1 depth: f32, v2 ray: vec4) -> (return: vec3) {
b0:
  trace v0, v0, v2
  v3: vec3, v4: vec3 = call_shader_ray v0, v0, v1, v2
  ret v3
}
entry(surface 0) @surface.0(v0 o: vec3, v1 d: vec3, v2 depth: f32, v3 ray: vec4) -> (Ci: vec3, Oi: vec3) {
b0:
  v4: f32 = extract.x v3
  v5: vec4 = insert.y v3, v4
  v6: vec3 = call std.radiance(v0, v2, v5)
  v7: vec3 = splat USE
  ret v6, v7
}
";

    fn renderer(used: &str) -> String {
        RENDERER.replace("trace v0, v0, v2", "v9: vec4 = uniform 0\n  trace v0, v0, v9").replace("USE", used)
    }

    #[test]
    fn a_ray_that_is_only_handed_on_is_not_passed() {
        check_module(
            eliminate_dead_arguments,
            &renderer("v2"),
            "library fn std.radiance(v0 o: vec3, v1 depth: f32) -> (return: vec3) {
b0:
  v2: vec4 = const (0.0, 0.0, 0.0, 0.0)
  v9: vec4 = uniform 0
  trace v0, v0, v9
  v3: vec3, v4: vec3 = call_shader v0, v0, v1
  ret v3
}

entry(surface 0) @surface.0(v0 o: vec3, v1 d: vec3, v2 depth: f32) -> (Ci: vec3, Oi: vec3) {
b0:
  v3: vec4 = const (0.0, 0.0, 0.0, 0.0)
  v4: f32 = extract.x v3
  v5: vec4 = insert.y v3, v4
  v6: vec3 = call std.radiance(v0, v2)
  v7: vec3 = splat v2
  ret v6, v7
}",
        );
    }

    #[test]
    fn a_ray_that_one_surface_looks_at_is_passed_everywhere() {
        let text = renderer("v4");
        let module = super::super::testing::module(&text);
        check_module(eliminate_dead_arguments, &text, &module.to_string());
    }
}
