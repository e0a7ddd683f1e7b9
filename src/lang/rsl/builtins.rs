//! Functions that the compiler emits as IR operations: those that single operations express, those with any number of arguments, and the
//! intrinsics (names starting with `__`) out of which the standard library is written.

use super::matrices;
use super::types::RslType;
use crate::ir::{Const, FunctionBuilder, Op, Type, Value};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A function that becomes operations.
#[derive(Debug)]
pub struct Builtin {
    /// The name.
    pub name: &'static str,
    /// The type of its value.
    pub result: RslType,
    /// Types of the parameters, and whether each is an output.
    pub params: Vec<(RslType, bool)>,
    /// Whether the last parameter may be repeated.
    pub variadic: bool,
    /// Emits the operations; gives the value (unless `void`) and then the outputs.
    pub emit: Emit,
}

/// Emits a built-in function's operations for its arguments' values.
pub type Emit = fn(&mut FunctionBuilder, &[Value]) -> Vec<Value>;

/// Name, signature (`result:parameters` in [`RslType::letter`]s, `&` before an output, `*` after a last parameter that repeats), emitter.
type Row = (&'static str, &'static str, Emit);

const TABLE: &[Row] = &[
    ("abs", "f:f", |b, a| vec![b.op(Op::Abs, a)]),
    ("floor", "f:f", |b, a| vec![b.op(Op::Floor, a)]),
    ("sqrt", "f:f", |b, a| vec![b.op(Op::Sqrt, a)]),
    ("inversesqrt", "f:f", |b, a| vec![b.op(Op::Rsq, a)]),
    ("min", "f:ff*", |b, a| fold(b, Op::Min, a)),
    ("min", "c:cc*", |b, a| fold(b, Op::Min, a)),
    ("min", "p:pp*", |b, a| fold(b, Op::Min, a)),
    ("min", "v:vv*", |b, a| fold(b, Op::Min, a)),
    ("min", "n:nn*", |b, a| fold(b, Op::Min, a)),
    ("max", "f:ff*", |b, a| fold(b, Op::Max, a)),
    ("max", "c:cc*", |b, a| fold(b, Op::Max, a)),
    ("max", "p:pp*", |b, a| fold(b, Op::Max, a)),
    ("max", "v:vv*", |b, a| fold(b, Op::Max, a)),
    ("max", "n:nn*", |b, a| fold(b, Op::Max, a)),
    ("spline", "f:fffff*", spline),
    ("spline", "c:fcccc*", spline),
    ("spline", "p:fpppp*", spline),
    ("spline", "v:fvvvv*", spline),
    ("xcomp", "f:v", |b, a| vec![b.op(Op::Extract(0), a)]),
    ("ycomp", "f:v", |b, a| vec![b.op(Op::Extract(1), a)]),
    ("zcomp", "f:v", |b, a| vec![b.op(Op::Extract(2), a)]),
    ("comp", "f:cf", comp),
    ("comp", "f:vf", comp),
    ("setxcomp", "x:&pf", |b, a| vec![b.op(Op::Insert(0), a)]),
    ("setxcomp", "x:&vf", |b, a| vec![b.op(Op::Insert(0), a)]),
    ("setxcomp", "x:&nf", |b, a| vec![b.op(Op::Insert(0), a)]),
    ("setycomp", "x:&pf", |b, a| vec![b.op(Op::Insert(1), a)]),
    ("setycomp", "x:&vf", |b, a| vec![b.op(Op::Insert(1), a)]),
    ("setycomp", "x:&nf", |b, a| vec![b.op(Op::Insert(1), a)]),
    ("setzcomp", "x:&pf", |b, a| vec![b.op(Op::Insert(2), a)]),
    ("setzcomp", "x:&vf", |b, a| vec![b.op(Op::Insert(2), a)]),
    ("setzcomp", "x:&nf", |b, a| vec![b.op(Op::Insert(2), a)]),
    ("setcomp", "x:&cff", setcomp),
    ("setcomp", "x:&pff", setcomp),
    ("setcomp", "x:&vff", setcomp),
    ("setcomp", "x:&nff", setcomp),
    ("comp", "f:mff", matrices::component),
    ("setcomp", "x:&mfff", matrices::set_component),
    ("determinant", "f:m", |b, a| vec![matrices::determinant(b, a[0])]),
    ("translate", "m:mv", matrices::translate),
    ("scale", "m:mv", matrices::scale),
    ("length", "f:v", |b, a| vec![length(b, a[0])]),
    ("distance", "f:pp", |b, a| {
        let d = b.op(Op::Sub, a);
        vec![length(b, d)]
    }),
    ("normalize", "v:v", |b, a| vec![normalize(b, a[0])]),
    ("noise", "f:f", |b, a| b.call("std.noise.1.1", a.to_vec(), &[Type::F32])),
    ("noise", "c:f", |b, a| b.call("std.noise.1.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "p:f", |b, a| b.call("std.noise.1.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "v:f", |b, a| b.call("std.noise.1.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "f:ff", |b, a| b.call("std.noise.2.1", a.to_vec(), &[Type::F32])),
    ("noise", "c:ff", |b, a| b.call("std.noise.2.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "p:ff", |b, a| b.call("std.noise.2.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "v:ff", |b, a| b.call("std.noise.2.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "f:p", |b, a| b.call("std.noise.3.1", a.to_vec(), &[Type::F32])),
    ("noise", "c:p", |b, a| b.call("std.noise.3.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "p:p", |b, a| b.call("std.noise.3.3", a.to_vec(), &[Type::Vec3])),
    ("noise", "v:p", |b, a| b.call("std.noise.3.3", a.to_vec(), &[Type::Vec3])),
    ("__sat", "f:f", |b, a| vec![b.op(Op::Sat, a)]),
    ("__frac", "f:f", |b, a| vec![b.op(Op::Frac, a)]),
    ("__exp2i", "f:f", |b, a| b.call("std.__exp2i", a.to_vec(), &[Type::F32])),
    ("__exponent", "f:f", |b, a| b.call("std.__exponent", a.to_vec(), &[Type::F32])),
    ("__mantissa", "f:f", |b, a| b.call("std.__mantissa", a.to_vec(), &[Type::F32])),
    ("__trace", "f:pvff", trace),
    ("__hit_u", "f:", |b, _| hit(b, 0)),
    ("__hit_v", "f:", |b, _| hit(b, 1)),
    ("__hit_t", "f:", |b, _| hit(b, 2)),
    ("__occluded", "f:pvff", occluded),
    ("__shade", "x:pvf&c&c", |b, a| b.inst(Op::CallShader, a[..3].to_vec(), &[Type::Vec3, Type::Vec3])),
    ("__lights_ambient", "c:pn", |b, a| b.call(super::LIGHTS_AMBIENT, a.to_vec(), &[Type::Vec3])),
];

/// Built-in functions by name.
pub fn by_name(name: &str) -> &'static [Builtin] {
    static MAP: OnceLock<HashMap<&'static str, Vec<Builtin>>> = OnceLock::new();
    let map = MAP.get_or_init(|| {
        let mut map: HashMap<&'static str, Vec<Builtin>> = HashMap::new();
        for &(name, signature, emit) in TABLE {
            map.entry(name).or_default().push(parse_row(name, signature, emit));
        }
        map
    });
    map.get(name).map_or(&[], Vec::as_slice)
}

/// Names of all built-in functions that shaders may call.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|r| r.0).filter(|n| !n.starts_with("__"))
}

/// Whether a built-in function of that name changes an argument.
pub fn has_outputs(name: &str) -> bool {
    by_name(name).iter().any(|b| b.params.iter().any(|p| p.1))
}

/// A signature as written in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The type of the value.
    pub result: RslType,
    /// Types of the parameters, and whether each is an output.
    pub params: Vec<(RslType, bool)>,
    /// Whether the last parameter may be repeated.
    pub variadic: bool,
}

fn parse_row(name: &'static str, signature: &str, emit: Emit) -> Builtin {
    let Signature { result, params, variadic } = parse_signature(signature);
    Builtin { name, result, params, variadic, emit }
}

/// Reads a signature of the table.
pub fn parse_signature(signature: &str) -> Signature {
    let letter = |c: char| {
        let all = RslType::DECLARABLE.into_iter().chain([RslType::Bool]);
        all.into_iter().find(|t| t.letter() == c).unwrap_or(RslType::Void)
    };
    let (result, rest) = signature.split_once(':').unwrap_or(("x", signature));
    let (mut params, mut output, mut variadic) = (Vec::new(), false, false);
    for c in rest.chars() {
        match c {
            '&' => output = true,
            '*' => variadic = true,
            c => params.push((letter(c), std::mem::take(&mut output))),
        }
    }
    Signature { result: letter(result.chars().next().unwrap_or('x')), params, variadic }
}

fn fold(b: &mut FunctionBuilder, op: Op, args: &[Value]) -> Vec<Value> {
    let mut value = args[0];
    for &next in &args[1..] {
        value = b.op(op.clone(), &[value, next]);
    }
    vec![value]
}

/// The length of a vector.
pub fn length(b: &mut FunctionBuilder, v: Value) -> Value {
    let square = b.op(Op::Dot, &[v, v]);
    b.op(Op::Sqrt, &[square])
}

/// A vector of length 1 in the same direction; the zero vector stays.
pub fn normalize(b: &mut FunctionBuilder, v: Value) -> Value {
    let square = b.op(Op::Dot, &[v, v]);
    let zero = b.f32(0.0);
    let is_zero = b.op(Op::Eq, &[square, zero]);
    let inverse = b.op(Op::Rsq, &[square]);
    let inverse = b.op_as(Op::Splat, &[inverse], Type::Vec3);
    let unit = b.op(Op::Mul, &[v, inverse]);
    b.op(Op::Select, &[is_zero, v, unit])
}

/// Component `i` of a triple: below 1 the first, from 2 on the last.
fn comp(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let parts = [0, 1, 2].map(|i| b.op(Op::Extract(i), &args[..1]));
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let below_one = b.op(Op::Lt, &[args[1], one]);
    let below_two = b.op(Op::Lt, &[args[1], two]);
    let last = b.op(Op::Select, &[below_two, parts[1], parts[2]]);
    vec![b.op(Op::Select, &[below_one, parts[0], last])]
}

fn setcomp(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let changed = [0, 1, 2].map(|i| b.op(Op::Insert(i), &[args[0], args[2]]));
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let below_one = b.op(Op::Lt, &[args[1], one]);
    let below_two = b.op(Op::Lt, &[args[1], two]);
    let last = b.op(Op::Select, &[below_two, changed[1], changed[2]]);
    vec![b.op(Op::Select, &[below_one, changed[0], last])]
}

/// Catmull–Rom interpolation (Catmull & Rom 1974): `value` in 0..1 runs from the second control value to the last but one.
fn spline(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let (value, control) = (args[0], &args[1..]);
    let ty = b.ty(control[0]);
    let slot = b.slot("spline", ty, control.len() as u32);
    for (i, &c) in control.iter().enumerate() {
        let index = b.u32(i as u32);
        b.effect(Op::SlotStore(slot), &[index, c]);
    }
    let spans = control.len() - 3;
    let count = b.f32(spans as f32);
    let last = b.f32((spans - 1) as f32);
    let inside = b.op(Op::Sat, &[value]);
    let x = b.op(Op::Mul, &[inside, count]);
    let floor = b.op(Op::Floor, &[x]);
    let span = b.op(Op::Min, &[floor, last]);
    let t = b.op(Op::Sub, &[x, span]);
    let first = b.op_as(Op::ToInt, &[span], Type::U32);
    let p: Vec<Value> = (0..4)
        .map(|i| {
            let offset = b.u32(i);
            let index = b.op(Op::IAdd, &[first, offset]);
            b.op_as(Op::SlotLoad(slot), &[index], ty)
        })
        .collect();
    // p1 + t/2·((p2−p0) + t·((2p0 − 5p1 + 4p2 − p3) + t·(3(p1−p2) + p3 − p0)))
    let widen = |b: &mut FunctionBuilder, v: Value| if ty == Type::F32 { v } else { b.op_as(Op::Splat, &[v], ty) };
    let constant = |b: &mut FunctionBuilder, x: f32| {
        let c = b.f32(x);
        widen(b, c)
    };
    let t = widen(b, t);
    let scaled = |b: &mut FunctionBuilder, k: f32, v: Value| {
        let k = constant(b, k);
        b.op(Op::Mul, &[k, v])
    };
    let slope = b.op(Op::Sub, &[p[2], p[0]]);
    let two_p0 = scaled(b, 2.0, p[0]);
    let five_p1 = scaled(b, 5.0, p[1]);
    let four_p2 = scaled(b, 4.0, p[2]);
    let q = b.op(Op::Sub, &[two_p0, five_p1]);
    let q = b.op(Op::Add, &[q, four_p2]);
    let quadratic = b.op(Op::Sub, &[q, p[3]]);
    let middle = b.op(Op::Sub, &[p[1], p[2]]);
    let c = scaled(b, 3.0, middle);
    let c = b.op(Op::Add, &[c, p[3]]);
    let cubic = b.op(Op::Sub, &[c, p[0]]);
    let sum = b.op(Op::Mul, &[t, cubic]);
    let sum = b.op(Op::Add, &[quadratic, sum]);
    let sum = b.op(Op::Mul, &[t, sum]);
    let sum = b.op(Op::Add, &[slope, sum]);
    let half = scaled(b, 0.5, t);
    let sum = b.op(Op::Mul, &[half, sum]);
    vec![b.op(Op::Add, &[p[1], sum])]
}

/// Composes the argument `(t_min, t_max, 0, 0)` of a ray operation.
fn ray_argument(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let zero = b.constant(Const::F32(0.0));
    let arg = b.op(Op::Compose, &[args[2], args[3], zero, zero]);
    vec![args[0], args[1], arg]
}

/// Shoots a ray; the distance of the hit, −1 on a miss.
fn trace(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let args = ray_argument(b, args);
    b.effect(Op::Trace, &args);
    let t = hit(b, 2)[0];
    let (zero, minus_one) = (b.f32(0.0), b.f32(-1.0));
    let missed = b.op(Op::Lt, &[t, zero]);
    vec![b.op(Op::Select, &[missed, minus_one, t])]
}

fn hit(b: &mut FunctionBuilder, lane: u8) -> Vec<Value> {
    let hit = b.op(Op::Hit, &[]);
    vec![b.op(Op::Extract(lane), &[hit])]
}

fn occluded(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let args = ray_argument(b, args);
    let blocked = b.op(Op::Occluded, &args);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    vec![b.op(Op::Select, &[blocked, one, zero])]
}
