//! The scene's named coordinate systems as a function that shaders call.

use glam::Mat4;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{Const, Function, FunctionBuilder, Module, Op, Type, Value};
use shadewright_scene::Scene;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Names of the current space, which are no coordinate systems of the scene. World space is the
/// current one unless the scene has it as a coordinate system of its own.
const CURRENT: [&str; 2] = ["", "current"];

/// `spaces.named(string name) -> (x, y, z, origin)`: the axes and the origin of the named
/// coordinate system, in the current space; those of the current space where there is none.
pub fn named(systems: &BTreeMap<String, Mat4>) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::SpaceNamed);
    let name = b.param("name", Type::String);
    ["x", "y", "z", "o"].into_iter().for_each(|part| b.result(part, Type::Vec3));
    let columns = |b: &mut FunctionBuilder, m: &Mat4| {
        [m.x_axis, m.y_axis, m.z_axis, m.w_axis].map(|axis| b.vec3(axis.truncate().to_array()))
    };
    let mut chosen: [Value; 4] = columns(&mut b, &Mat4::IDENTITY);
    let is_other = |(name, matrix): &(&String, &Mat4)| {
        let is_world = *name == "world" && **matrix == Mat4::IDENTITY;
        !(is_world || CURRENT.contains(&name.as_str()))
    };
    for (system, matrix) in systems.iter().filter(is_other) {
        let system = b.constant(Const::String(system.as_str().into()));
        let is_it = b.ieq(name, system);
        let columns = columns(&mut b, matrix);
        chosen = std::array::from_fn(|i| b.select(is_it, columns[i], chosen[i]));
    }
    b.ret(chosen.to_vec());
    b.finish()
}

/// Warns of every constant name for which the scene has no system.
pub fn check(module: &Module, scene: &Scene, diagnostics: &mut Diagnostics) {
    for f in &module.functions {
        let insts = || f.blocks.iter().flat_map(|b| &b.insts);
        let strings: HashMap<Value, &Arc<str>> = insts()
            .filter_map(|i| match (&i.op, &i.results[..]) {
                (Op::Const(Const::String(string)), [result]) => Some((*result, string)),
                _ => None,
            })
            .collect();
        for call in insts().filter(|i| matches!(&i.op, Op::Call(callee) if Intrinsic::SpaceNamed.is(callee))) {
            let Some(&name) = call.args.first().and_then(|name| strings.get(name)) else { continue };
            if CURRENT.contains(&&**name) || scene.coordinate_systems.contains_key(&**name) {
                continue;
            }
            let message = format!("the scene has no coordinate system \"{name}\"; the world's is used");
            let mut d = Diagnostic::warning(message);
            if let Some(span) = module.span(call.loc) {
                d = d.at(span, "named here");
            }
            if let Some(guess) = closest(name, scene.coordinate_systems.keys().map(String::as_str)) {
                d = d.hint(format!("did you mean \"{guess}\"?"));
            }
            diagnostics.push(d.hint("`CoordinateSystem` names one"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};

    #[test]
    fn a_name_gives_the_axes_of_its_system_and_an_unknown_one_those_of_the_world() {
        let lamp = Mat4::from_scale_rotation_translation(Vec3::splat(2.0), glam::Quat::IDENTITY, Vec3::X * 5.0);
        let systems = BTreeMap::from([("world".to_string(), Mat4::IDENTITY), ("lamp".to_string(), lamp)]);
        let mut module = Module::new();
        module.functions.push(named(&systems));
        let of = |name: &str| {
            let args = [Const::String(name.into())];
            eval(&module, &Intrinsic::SpaceNamed.name(), &args, &mut EmptyWorld, Limits::default())
                .expect("four triples")
        };
        let vec3 = |v: [f32; 3]| Const::Vec3(v);
        let world = [vec3([1.0, 0.0, 0.0]), vec3([0.0, 1.0, 0.0]), vec3([0.0, 0.0, 1.0]), vec3([0.0; 3])];
        assert_eq!(
            of("lamp"),
            [vec3([2.0, 0.0, 0.0]), vec3([0.0, 2.0, 0.0]), vec3([0.0, 0.0, 2.0]), vec3([5.0, 0.0, 0.0])]
        );
        assert_eq!(of("nowhere"), world);
        assert_eq!(of("world"), world);
    }
}
