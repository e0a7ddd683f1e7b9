//! Makes a program's texture lookups visible: the functions that filter textures first send the
//! tracer where they look, as a ray with a distance that no other has.
//!
//! The tracer answers with the hit that the lane has, so that nothing is lost. Lookups in functions
//! that the optimizer made part of their callers are not seen.

use shadewright_bvh::Ray;
use shadewright_ir::abi::library;
use shadewright_ir::{Const, Function, Inst, Loc, Module, Op, Type, Value};

/// The distance at which such rays start.
const LOOKUP: f32 = -3.5e33;

/// A lookup in a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookup {
    /// Which map: the address of its descriptor in the shading data, or the number of its name; 0
    /// where it is a constant of the code.
    pub map: u32,
    /// The texture coordinates, `s` and `t`; 0 to 1 over the map, which may repeat.
    pub st: [f32; 2],
    /// The area that is averaged: the second moments `ss`, `st` and `tt`.
    pub area: [f32; 3],
}

impl Lookup {
    /// The lookup that a ray stands for.
    pub fn by(ray: &Ray) -> Option<Self> {
        let ([s, t, map], area) = (ray.origin.to_array(), ray.dir.to_array());
        (ray.t_min == LOOKUP).then_some(Self { map: map.to_bits(), st: [s, t], area })
    }
}

/// Marks the lookups of a module; the number of functions that have some.
pub fn mark(module: &mut Module) -> usize {
    // A function that calls another one with a place of its own would be seen twice.
    let places: Vec<_> = module.functions.iter().filter(|f| place_of(f).is_some()).map(|f| f.name.clone()).collect();
    let calls = |f: &Function| {
        let insts = f.blocks.iter().flat_map(|b| &b.insts);
        insts.into_iter().any(|i| matches!(&i.op, Op::Call(name) if places.contains(name)))
    };
    let marked: Vec<usize> = module
        .functions
        .iter()
        .enumerate()
        .filter(|(_, f)| place_of(f).is_some() && !calls(f))
        .map(|(number, _)| number)
        .collect();
    marked.iter().for_each(|&number| mark_function(&mut module.functions[number]));
    marked.len()
}

/// The parameters that say where a function looks: one vector, or two numbers.
fn place_of(f: &Function) -> Option<Vec<Value>> {
    if !library::is_texture_lookup(&f.name) {
        return None;
    }
    let one = parameter(f, "place").map(|place| vec![place]);
    one.or_else(|| Some(vec![parameter(f, "s")?, parameter(f, "t")?]))
}

fn parameter(f: &Function, name: &str) -> Option<Value> {
    let at = f.params.iter().position(|p| &*p.name == name)?;
    f.param_values().get(at).copied()
}

fn mark_function(f: &mut Function) {
    let Some(place) = place_of(f) else { return };
    let map = parameter(f, "descriptor").or_else(|| parameter(f, "name"));
    let area = parameter(f, "area");
    let mut insts = Vec::new();
    let mut op = |f: &mut Function, op: Op, args: &[Value], ty: Type| {
        let result = f.new_value(ty);
        insts.push(Inst { op, args: args.to_vec(), results: vec![result], loc: Loc::NONE });
        result
    };
    let [s, t] = match place[..] {
        [s, t] => [s, t],
        _ => [0, 1].map(|i| op(f, Op::Extract(i), &place, Type::F32)),
    };
    let zero = op(f, Op::Const(Const::F32(0.0)), &[], Type::F32);
    let map = map.map_or(zero, |map| op(f, Op::Bitcast, &[map], Type::F32));
    let area = area.unwrap_or_else(|| op(f, Op::Const(Const::Vec3([0.0; 3])), &[], Type::Vec3));
    let from = op(f, Op::Compose, &[s, t, map], Type::Vec3);
    let [start, end] = [LOOKUP, f32::MAX].map(|x| op(f, Op::Const(Const::F32(x)), &[], Type::F32));
    let range = op(f, Op::Compose, &[start, end, zero, zero], Type::Vec4);
    insts.push(Inst { op: Op::Trace, args: vec![from, area, range], results: Vec::new(), loc: Loc::NONE });
    f.blocks[0].insts.splice(0..0, insts);
}
