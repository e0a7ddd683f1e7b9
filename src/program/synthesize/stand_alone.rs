//! Functions compiled for no scene: what they call of the linker as it is in an empty scene.

use crate::synthesize::coordinate_systems;
use crate::synthesize::texture_lookup;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{Const, Function, FunctionBuilder, Module, Op, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Defines every function that a module calls and does not have: textures are not found, names of
/// coordinate systems mean the world, and all others return zeros, so that there are no lights,
/// volumes or co-shaders.
pub fn stand_alone(module: &mut Module) {
    texture_lookup::supply_none(module);
    let mut missing: BTreeMap<Arc<str>, Function> = BTreeMap::new();
    for f in &module.functions {
        for inst in f.blocks.iter().flat_map(|b| &b.insts) {
            let Op::Call(callee) = &inst.op else { continue };
            if missing.contains_key(callee) || module.function(callee).is_some() {
                continue;
            }
            let function = match Intrinsic::SpaceNamed.is(callee) {
                true => coordinate_systems::named(&BTreeMap::new()),
                false => zeros(callee, inst.args.iter().map(|a| f.ty(*a)), inst.results.iter().map(|r| f.ty(*r))),
            };
            missing.insert(callee.clone(), function);
        }
    }
    module.functions.extend(missing.into_values());
}

/// A function that returns zeros.
fn zeros(name: &Arc<str>, params: impl Iterator<Item = Type>, results: impl Iterator<Item = Type>) -> Function {
    let mut b = FunctionBuilder::linker(name.clone());
    for (i, ty) in params.enumerate() {
        b.param(format!("p{i}"), ty);
    }
    let mut values = Vec::new();
    for (i, ty) in results.enumerate() {
        b.result(format!("r{i}"), ty);
        values.push(b.constant(Const::zero(ty)));
    }
    b.ret(values);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::SourceMap;
    use shadewright_ir::passes::Pipeline;
    use shadewright_lang::{FrontEndOptions, Unit, registry};

    #[test]
    fn functions_that_ask_the_linker_are_complete_without_it() {
        let mut sources = SourceMap::new();
        let text = "point f(point p) { return transform(\"lamp\", p); }\n\
            color g(point p; normal n) { color c = 0; illuminance (p, n, 1) c += Cl; return c + ambient(); }\n\
            color h(point p; vector v) { return trace(p, v) + texture(\"a.tx\"); }";
        let file = sources.add("t.sl", None, text);
        let Ok(Unit::Shaders(unit)) = registry::DEFAULT.compile(&mut sources, file, &FrontEndOptions::default()) else {
            panic!("it compiles")
        };
        let mut module = unit.module;
        stand_alone(&mut module);
        Pipeline::default().run(&mut module, &mut ()).expect("a valid module");
        let calls = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        for inst in calls {
            if let Op::Call(callee) = &inst.op {
                assert!(module.function(callee).is_some(), "{callee}");
            }
        }
    }
}
