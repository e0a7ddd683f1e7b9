//! The conventions of the thesis's two example programs (Węgrzanowski 2006, §7.2 and ch. 12), so
//! that their listings can be compared with what this compiler makes.
//!
//! It takes a module of cores as a front end makes it and gives one whose surface shaders are
//! called as the listings are: ray origin in `R0.xyz`, direction in `R1.xyz`, the hit in `HIT` and
//! `HIT_TRI`, the color back in `R0.xyz`, no opacity. `E` is the origin, `N` is flat, `Cs` comes
//! with the triangle. A call of the library's `trace` is a `trace` with the default argument and a
//! call of the hit's shader.

use super::legalize::{goto, split_block};
use shadewright_ir::abi::{EntryPoint, ShaderKind, library};
use shadewright_ir::{
    BlockId, Const, Function, FunctionKind, Inst, Loc, Module, Op, Param, ParamKind, ResultInfo, ShaderCall, Target,
    Terminator, Type, Value,
};
use std::collections::HashSet;
use std::sync::Arc;

/// A named input that the thesis's conventions do not provide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thesis's conventions give a surface shader no `{input}`, which `{shader}` reads")]
pub struct Unbound {
    /// The shader.
    pub shader: Arc<str>,
    /// The name of the input.
    pub input: Arc<str>,
}

/// Gives the surface shaders of a module and the named functions the thesis's conventions and makes
/// them entries; what these do not call is dropped. Run the passes afterwards: inlining must come
/// after.
///
/// # Errors
/// [`Unbound`] for a shader with declared parameters or with an input other than `P E I N Ng Cs Os
/// u v`.
pub fn bind(module: &Module, functions: &[&str]) -> Result<Module, Unbound> {
    let mut bound = module.clone();
    for f in &mut bound.functions {
        if f.kind == FunctionKind::Core(ShaderKind::Surface) {
            bind_surface(f)?;
        }
        expand_traces(f);
    }
    let mut wanted: HashSet<Arc<str>> = HashSet::new();
    for f in bound.functions.iter_mut().filter(|f| functions.contains(&&*f.name)) {
        f.kind = FunctionKind::Entry(EntryPoint::Other);
    }
    let roots = bound.functions.iter().filter(|f| f.kind.is_entry());
    let mut work: Vec<Arc<str>> = roots.map(|f| f.name.clone()).collect();
    while let Some(name) = work.pop() {
        if let Some(f) = bound.function(&name).filter(|_| wanted.insert(name.clone())) {
            let insts = f.blocks.iter().flat_map(|b| &b.insts);
            work.extend(insts.filter_map(|i| if let Op::Call(callee) = &i.op { Some(callee.clone()) } else { None }));
        }
    }
    bound.functions.retain(|f| wanted.contains(&f.name));
    Ok(bound)
}

/// Writes instructions of a function that has no builder any more.
struct Writer<'a> {
    f: &'a mut Function,
    out: Vec<Inst>,
}

impl Writer<'_> {
    fn to(&mut self, result: Value, op: Op, args: &[Value]) {
        self.out.push(Inst { op, args: args.to_vec(), results: vec![result], loc: Loc::NONE });
    }

    fn op(&mut self, ty: Type, op: Op, args: &[Value]) -> Value {
        let v = self.f.new_value(ty);
        self.to(v, op, args);
        v
    }

    /// The first three components of a vector from memory.
    fn xyz(&mut self, quad: Value) -> Value {
        let parts: Vec<Value> = (0..3).map(|k| self.op(Type::F32, Op::Extract(k), &[quad])).collect();
        self.op(Type::Vec3, Op::Compose, &parts)
    }

    /// The vector that component `k` of the triangle's record points at.
    fn record(&mut self, triangle: Value, k: u8) -> Value {
        let bits = self.op(Type::F32, Op::Extract(k), &[triangle]);
        let address = self.op(Type::Ref, Op::Bitcast, &[bits]);
        let quad = self.op(Type::Vec4, Op::Load(0), &[address]);
        self.xyz(quad)
    }

    /// The flat normal of the triangle, of length 1.
    fn normal(&mut self, triangle: Value, result: Value) {
        let [a, b, c] = [0, 1, 2].map(|k| self.record(triangle, k));
        let ab = self.op(Type::Vec3, Op::Sub, &[b, a]);
        let ac = self.op(Type::Vec3, Op::Sub, &[c, a]);
        let n = self.op(Type::Vec3, Op::Cross, &[ab, ac]);
        let square = self.op(Type::F32, Op::Dot, &[n, n]);
        let inverse = self.op(Type::F32, Op::Rsq, &[square]);
        let inverse = self.op(Type::Vec3, Op::Splat, &[inverse]);
        self.to(result, Op::Mul, &[n, inverse]);
    }
}

fn bind_surface(f: &mut Function) -> Result<(), Unbound> {
    let inputs: Vec<(Param, Value)> = f.params.drain(..).zip(f.blocks[0].params.drain(..)).collect();
    let shader = f.name.clone();
    let (orig, dir) = (f.new_value(Type::Vec3), f.new_value(Type::Vec3));
    for (name, v) in [("orig", orig), ("dir", dir)] {
        f.params.push(Param { name: name.into(), ty: Type::Vec3, kind: ParamKind::Declared });
        f.blocks[0].params.push(v);
    }
    let mut w = Writer { f, out: Vec::new() };
    let hit = w.op(Type::Vec4, Op::Hit, &[]);
    let record = w.op(Type::Ref, Op::HitTri, &[]);
    let triangle = w.op(Type::Vec4, Op::Load(0), &[record]);
    for (param, v) in inputs {
        match &*param.name {
            "P" => {
                let t = w.op(Type::F32, Op::Extract(2), &[hit]);
                let t = w.op(Type::Vec3, Op::Splat, &[t]);
                let way = w.op(Type::Vec3, Op::Mul, &[dir, t]);
                w.to(v, Op::Add, &[orig, way]);
            }
            "E" => w.to(v, Op::Const(Const::Vec3([0.0; 3])), &[]),
            "Os" => w.to(v, Op::Const(Const::Vec3([1.0; 3])), &[]),
            "I" => {
                // The incident ray is the ray: a copy, as two values cannot be one.
                let parts: Vec<Value> = (0..3).map(|k| w.op(Type::F32, Op::Extract(k), &[dir])).collect();
                w.to(v, Op::Compose, &parts);
            }
            "u" => w.to(v, Op::Extract(0), &[hit]),
            "v" => w.to(v, Op::Extract(1), &[hit]),
            "N" | "Ng" => w.normal(triangle, v),
            "Cs" => {
                let data = w.record(triangle, 3);
                let parts: Vec<Value> = (0..3).map(|k| w.op(Type::F32, Op::Extract(k), &[data])).collect();
                w.to(v, Op::Compose, &parts);
            }
            _ => return Err(Unbound { shader, input: param.name }),
        }
    }
    let mut insts = w.out;
    insts.append(&mut f.blocks[0].insts);
    f.blocks[0].insts = insts;
    let color = f.results.iter().position(|r| &*r.name == "Ci").unwrap_or(0);
    f.results = vec![ResultInfo { name: "Ci".into(), ty: Type::Vec3 }];
    for b in &mut f.blocks {
        if let Terminator::Return(values) = &mut b.term {
            *values = values.get(color).copied().into_iter().collect();
        }
    }
    f.kind = FunctionKind::Entry(EntryPoint::Other);
    Ok(())
}

/// Makes each call of the library's `trace` a `trace`, a test for a hit, and a call of its shader;
/// black on a miss.
fn expand_traces(f: &mut Function) {
    let mut b = 0;
    while b < f.blocks.len() {
        let here = BlockId(b as u32);
        b += 1;
        let is_trace = |i: &Inst| matches!(&i.op, Op::Call(name) if &**name == library::TRACE) && i.args.len() >= 2;
        let Some(at) = f.block(here).insts.iter().position(is_trace) else { continue };
        let tail = split_block(f, here, at + 1);
        let Some(call) = f.block_mut(here).insts.pop() else { continue };
        let (orig, dir) = (call.args[0], call.args[1]);
        let mut w = Writer { f, out: Vec::new() };
        let arg = w.op(Type::Vec4, Op::Uniform(0), &[]);
        w.out.push(Inst { op: Op::Trace, args: vec![orig, dir, arg], results: vec![], loc: call.loc });
        let hit = w.op(Type::Vec4, Op::Hit, &[]);
        let t = w.op(Type::F32, Op::Extract(2), &[hit]);
        let zero = w.op(Type::F32, Op::Const(Const::F32(0.0)), &[]);
        let found = w.op(Type::Bool, Op::Le, &[zero, t]);
        let mut test = std::mem::take(&mut w.out);
        let black = w.op(Type::Vec3, Op::Const(Const::Vec3([0.0; 3])), &[]);
        let missing = std::mem::take(&mut w.out);
        let depth = w.op(Type::F32, Op::Const(Const::F32(0.0)), &[]);
        let (ci, oi) = (w.f.new_value(Type::Vec3), w.f.new_value(Type::Vec3));
        w.out.push(Inst {
            op: Op::CallShader(ShaderCall::Plain),
            args: vec![orig, dir, depth],
            results: vec![ci, oi],
            loc: call.loc,
        });
        let shading = w.out;
        let (shade, miss) = (f.new_block(), f.new_block());
        f.block_mut(here).insts.append(&mut test);
        f.block_mut(here).term = Terminator::Branch(found, goto(shade), goto(miss));
        for (block, insts, value) in [(shade, shading, ci), (miss, missing, black)] {
            f.block_mut(block).insts = insts;
            f.block_mut(block).term = Terminator::Jump(Target { block: tail, args: vec![value] });
        }
        f.block_mut(tail).params = call.results;
    }
}
