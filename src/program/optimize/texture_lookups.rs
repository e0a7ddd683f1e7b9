//! Texture lookups shared between the methods of a material: each texture is sampled once per
//! shading point, where every method that uses its color would sample it, and those that are
//! evaluated for two directions twice.
//!
//! Before a linked module is optimized, each method is split into the lookups that do not depend on
//! directions, and the rest ([`packets::split`]). Calls with the same arguments become one, as all
//! pure calls do. A texture may then be sampled where a method's control flow would skip it.

use shadewright_ir::abi::{input, library};
use shadewright_ir::passes::calls::pure_names;
use shadewright_ir::passes::packets::{self, Once, Split};
use shadewright_ir::{Function, Inst, Module, Op};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The inputs that differ between calls of a method at one shading point.
const DIRECTIONS: [&str; 3] = [input::LIGHT_DIRECTION, input::SEED_X, input::SEED_Y];

/// Splits the texture lookups from the functions of these names.
pub fn share_lookups(module: &mut Module, methods: &HashSet<Arc<str>>) {
    let mut lookups = pure_names(module);
    lookups.retain(|name| library::is_texture_lookup(name));
    let samples = |f: &Function| f.blocks.iter().flat_map(|b| &b.insts).any(|i| is_call_of(i, &lookups));
    let mut split: BTreeMap<Arc<str>, Function> = BTreeMap::new();
    for func in module.functions.iter_mut().filter(|f| methods.contains(&f.name) && samples(f)) {
        let mut short = func.clone();
        packets::shorten(&mut short);
        let params: Vec<Arc<str>> = short.params.iter().map(|p| p.name.clone()).collect();
        let common: Vec<&str> = params.iter().map(|name| &**name).filter(|name| !DIRECTIONS.contains(name)).collect();
        let names = [format!("{}.images", func.name), func.name.to_string()];
        if let Some(Split { shared, rest }) = packets::split(&short, &common, names, Once::Calls(&lookups)) {
            split.insert(func.name.clone(), shared);
            *func = rest;
        }
    }
    for func in &mut module.functions {
        for block in 0..func.blocks.len() {
            let mut insts = Vec::with_capacity(func.blocks[block].insts.len());
            for mut inst in std::mem::take(&mut func.blocks[block].insts) {
                if let Op::Call(name) = &inst.op
                    && let Some(shared) = split.get(name)
                {
                    let results: Vec<_> = shared.results.iter().map(|r| func.new_value(r.ty)).collect();
                    let args = inst.args.clone();
                    inst.args.extend(&results);
                    insts.push(Inst { op: Op::Call(shared.name.clone()), args, results, loc: inst.loc });
                }
                insts.push(inst);
            }
            func.blocks[block].insts = insts;
        }
    }
    module.functions.extend(split.into_values());
}

fn is_call_of(inst: &Inst, functions: &HashSet<Arc<str>>) -> bool {
    matches!(&inst.op, Op::Call(name) if functions.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    use shadewright_ir::passes::{calls, dead_arguments};
    use shadewright_ir::{Const, parse, verify};

    const MATERIAL: &str = "library fn std.texture.color(v0 at: vec3) -> (return: vec3) {
b0:
  v1: vec3 = mul v0, v0
  ret v1
}

fn BSDF(v0 light.direction: implicit vec3, v1 at: vec3) -> (value: vec3) {
b0:
  v2: f32 = extract.x v0
  v3: f32 = const 0.0
  v4: bool = lt v3, v2
  br v4, b1, b2
b1:
  v5: vec3 = add v1, v1
  v6: vec3 = call std.texture.color(v5)
  v7: vec3 = mul v6, v0
  ret v7
b2:
  v8: vec3 = const (0.0, 0.0, 0.0)
  ret v8
}

fn evaluatePDF(v0 light.direction: implicit vec3, v1 at: vec3) -> (pdf: f32) {
b0:
  v2: vec3 = call std.texture.color(v1)
  v3: vec3 = call std.texture.color(v0)
  v4: vec3 = add v2, v3
  v5: f32 = dot v4, v0
  ret v5
}

entry surface(v0 one: vec3, v1 other: vec3, v2 at: vec3) -> (a: vec3, b: f32, c: vec3, d: f32) {
b0:
  v3: vec3 = call BSDF(v0, v2)
  v4: f32 = call evaluatePDF(v0, v2)
  v5: vec3 = call BSDF(v1, v2)
  v6: f32 = call evaluatePDF(v1, v2)
  ret v3, v4, v5, v6
}";

    fn calls_of(module: &Module, caller: &str, callee: &str) -> usize {
        let caller = module.function(caller).expect("it is there");
        let insts = caller.blocks.iter().flat_map(|b| &b.insts);
        insts.filter(|i| matches!(&i.op, Op::Call(name) if **name == *callee)).count()
    }

    #[test]
    fn textures_are_sampled_once_for_all_directions_and_results_keep_their_bits() {
        let original = parse(MATERIAL, FileId(0)).expect("it is well written");
        let mut module = original.clone();
        share_lookups(&mut module, &["BSDF", "evaluatePDF"].map(Arc::from).into());
        dead_arguments::eliminate_dead_arguments(&mut module);
        calls::run(&mut module);
        verify(&module).expect("it keeps the rules");
        for method in ["BSDF", "evaluatePDF"] {
            assert_eq!(calls_of(&module, "surface", &format!("{method}.images")), 1, "{module}");
            assert_eq!(calls_of(&module, "surface", method), 2);
        }
        // Lookups by direction stay in the method.
        assert_eq!(["BSDF", "evaluatePDF"].map(|method| calls_of(&module, method, "std.texture.color")), [0, 1]);
        for one in [[0.5, 0.25, -1.0], [-0.5, 0.3, 2.0]] {
            let args = [one, [0.1, 0.2, 0.3], [3.0, 5.0, 7.0]].map(Const::Vec3);
            let run = |module: &Module| eval(module, "surface", &args, &mut EmptyWorld, Limits::default());
            assert_eq!(run(&module).expect("it ends"), run(&original).expect("it ends"));
        }
    }
}
