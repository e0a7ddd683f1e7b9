//! From the linked program to the functions that the hardware runs.
//!
//! The linker's module still has the cores of shaders as functions of their own (it was linked
//! without passes). Here they stay functions: what a surface's entry does around the call of its
//! core is the work of the rendering nodes, and the core is what a shading node runs. The functions
//! of the library that the hardware has as operations ([`is_operation`]) stay calls, too, and so do
//! those whose execution shaders share ([`is_shared`], [`is_lookup`]). Everything else is inlined.
//!
//! The hardware shoots no rays: light reaches every surface, and what a shader traces is black.

use super::scalar::split_vectors;
use shadewright_ir::abi::{EntryPoint, Intrinsic, ShaderKind, generic_name, library, underived_name};
use shadewright_ir::passes::{InlinePolicy, Pipeline};
use shadewright_ir::{Const, Function, FunctionKind, Inlining, Inst, Module, Op, SlotId, Type, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The passes that neither copy code nor lengthen lifetimes for the sake of speed.
const PASSES: &str = "copy,fold,sccp,ranges,gvn,cfg,slots,dce,calls,inline,strip";

/// Instructions of a function, at most: beyond them calls stay calls.
const MAX_SIZE: usize = 60_000;

/// Functions of the library, by the start of their names, that are operations of the hardware
/// (Olano 1998, figures 4.14 and 4.17) or as large as these.
const OPERATIONS: [&str; 30] = [
    "noise.",
    "__fixed_noise.",
    "pnoise.",
    "cellnoise.",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "exp",
    "exp2",
    "log",
    "log2",
    "pow",
    "fastsin",
    "fastcos",
    "fasttan",
    "fastasin",
    "fastacos",
    "fastatan",
    "fastexp",
    "fastexp2",
    "fastlog",
    "fastlog2",
    "fastpow",
    "texture.",
    "environment.",
    "shadow.",
    "__filterstep",
];

/// Functions of the library with a loop over the lights that many shaders call: the shared Phong
/// phase (§4.5.4).
const SHARED: [&str; 3] = ["diffuse.", "specular.", "phong."];

/// A place of a texture, filtered: what every function that samples an image calls with the address
/// of the image, which stands for the thesis's texture ID.
const FILTER: [&str; 1] = ["texture.filter"];

/// A place of a shadow map, compared with a depth.
const COMPARE: [&str; 1] = ["texture.compare"];

/// The name of a function of the library in its language, without the types of its parameters.
fn is_one_of(function: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let full = library::name(name);
        function
            .strip_prefix(&*full)
            .is_some_and(|rest| name.ends_with('.') || rest.is_empty() || rest.starts_with(['.', '@']))
    })
}

/// True if the hardware has the function as an operation.
pub fn is_operation(function: &str) -> bool {
    is_one_of(function, &OPERATIONS)
}

/// True if a function is one that the linker supplies, or a copy of it that computes derivatives:
/// lights that look up textures ask for derivatives of the point that they light.
fn is_or_derives(function: &str, intrinsic: &Intrinsic) -> bool {
    intrinsic.is(underived_name(generic_name(function)))
}

/// True if it is one of the lights' functions: what runs in the light phases.
pub fn is_light(function: &str) -> bool {
    is_sample(function) || is_or_derives(function, &Intrinsic::LightAmbient)
}

/// True if it samples a light.
fn is_sample(function: &str) -> bool {
    is_or_derives(function, &Intrinsic::LightSample)
}

/// True if shaders that call the function share one execution: lights, and the Phong phase.
pub fn is_shared(function: &str) -> bool {
    is_light(function) || is_one_of(function, &SHARED)
}

/// True if it reads texture memory at a place: what runs in the texture phases.
pub fn is_lookup(function: &str) -> bool {
    is_one_of(function, &FILTER) || is_compare(function)
}

/// True if it looks up a shadow map.
pub fn is_compare(function: &str) -> bool {
    is_one_of(function, &COMPARE)
}

/// True if a call runs in a phase of the region, if an argument `varies` or none does. A lookup at
/// one place for all pixels is the microprocessor's work.
pub fn is_phase(function: &str, varies: bool) -> bool {
    is_shared(function) || varies && is_lookup(function)
}

/// The program as the hardware runs it.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The functions, of scalars only.
    pub module: Module,
    /// The functions that trace rays, themselves or in what they call. These rays hit nothing.
    pub rays: HashSet<Arc<str>>,
}

/// Prepares a module that was linked without passes, with the functions in `keep` as functions of
/// their own.
///
/// # Errors
/// A pass that leaves the module invalid, which is an internal error.
pub fn prepare(mut module: Module, keep: &[&str]) -> Result<Prepared, String> {
    let mut rays: HashSet<Arc<str>> = HashSet::new();
    for function in &mut module.functions {
        let keeps_hit = matches!(function.kind, FunctionKind::Entry(EntryPoint::Surface(_)));
        forward_light_samples(function);
        if drop_rays(function, keeps_hit) > 0 {
            rays.insert(function.name.clone());
        }
        function.kind = match function.kind {
            FunctionKind::Core(kind) if kind != ShaderKind::Light => FunctionKind::Entry(EntryPoint::Other),
            kind if is_operation(&function.name) || is_shared(&function.name) || keep.contains(&&*function.name) => {
                match kind {
                    FunctionKind::Entry(_) => kind,
                    _ => FunctionKind::Entry(EntryPoint::Other),
                }
            }
            // The camera's rays stand for rasterization, and no other entry runs here.
            FunctionKind::Entry(_) if !keeps_hit => FunctionKind::Function,
            kind => kind,
        };
        function.inlining = Inlining::Always;
    }
    add_callers(&module, &mut rays);
    let inline = InlinePolicy { small: 0, medium: 0, max_size: MAX_SIZE, ..InlinePolicy::default() };
    let mut passes = Pipeline::parse(PASSES).map_err(|e| e.to_string())?;
    passes.inline = inline;
    passes.run(&mut module, &mut ()).map_err(|e| e.to_string())?;
    split_vectors(&mut module);
    passes.run(&mut module, &mut ()).map_err(|e| e.to_string())?;
    merge_shared(&mut module);
    Ok(Prepared { module, rays })
}

/// Lets calls of equal shared functions call one of them. The linker copies the lights' functions
/// for each set of lights, volumes and the like, which may differ in nothing that lights need.
fn merge_shared(module: &mut Module) {
    // Functions that call lights are equal once these are.
    for is_wanted in [is_light as fn(&str) -> bool, is_shared] {
        let mut first: HashMap<String, Arc<str>> = HashMap::new();
        let mut renamed: HashMap<Arc<str>, Arc<str>> = HashMap::new();
        for f in module.functions.iter().filter(|f| is_wanted(&f.name)) {
            let mut body = f.clone();
            body.name = generic_name(&f.name).into();
            body.blocks.iter_mut().for_each(|b| b.insts.retain(|i| !matches!(i.op, Op::Debug(_))));
            let kept = first.entry(format!("{body:?}")).or_insert_with(|| f.name.clone());
            if *kept != f.name {
                renamed.insert(f.name.clone(), kept.clone());
            }
        }
        for inst in module.functions.iter_mut().flat_map(|f| &mut f.blocks).flat_map(|b| &mut b.insts) {
            if let Op::Call(callee) = &mut inst.op
                && let Some(kept) = renamed.get(callee)
            {
                *callee = kept.clone();
            }
        }
    }
}

/// Adds the functions that call those in a set, directly or not.
fn add_callers(module: &Module, set: &mut HashSet<Arc<str>>) {
    loop {
        let before = set.len();
        for f in &module.functions {
            let mut insts = f.blocks.iter().flat_map(|b| &b.insts);
            if insts.any(|i| matches!(&i.op, Op::Call(callee) if set.contains(callee))) {
                set.insert(f.name.clone());
            }
        }
        if set.len() == before {
            return;
        }
    }
}

/// True if it is a function that shades what a ray hits.
fn is_camera(function: &str) -> bool {
    [library::CAMERA, library::CAMERA_RAY, library::RADIANCE].contains(&generic_name(function))
}

/// Replaces what asks for rays: nothing blocks light, and nothing is hit. With `keeps_hit` the hit
/// that the function starts with stays. Returns the number of instructions replaced that would give
/// something else on hardware with rays, shadow rays aside.
fn drop_rays(function: &mut Function, keeps_hit: bool) -> usize {
    let mut dropped = 0;
    let mut values = std::mem::take(&mut function.values);
    for block in &mut function.blocks {
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in std::mem::take(&mut block.insts) {
            let constant =
                |c: Const, v: Value| Inst { op: Op::Const(c), args: vec![], results: vec![v], loc: inst.loc };
            match &inst.op {
                Op::Visible(_) => insts.push(constant(Const::U32(u32::MAX), inst.results[0])),
                Op::Occluded => {
                    dropped += 1;
                    insts.push(constant(Const::Bool(false), inst.results[0]));
                }
                Op::Trace => dropped += 1,
                Op::CallShader(_) => {
                    let zero = |v: &Value| constant(Const::zero(values[v.0 as usize]), *v);
                    insts.extend(inst.results.iter().map(zero));
                }
                Op::Call(name) if is_camera(name) => {
                    dropped += 1;
                    let zero = |v: &Value| constant(Const::zero(values[v.0 as usize]), *v);
                    insts.extend(inst.results.iter().map(zero));
                }
                Op::Hit if !keeps_hit => {
                    insts.push(constant(Const::Vec4([0.0, 0.0, -1.0, 0.0]), inst.results[0]));
                }
                Op::HitTri | Op::HitObj if !keeps_hit => insts.push(constant(Const::Ref(0), inst.results[0])),
                _ => insts.push(inst),
            }
        }
        block.insts = insts;
    }
    std::mem::swap(&mut function.values, &mut values);
    dropped
}

/// The loop of `illuminance` samples a batch of lights into arrays before its shadow rays. Without
/// shadow rays a light can be sampled where its result is used, which needs no arrays: that is the
/// interleaving of lights and surfaces (§4.5.4).
fn forward_light_samples(function: &mut Function) {
    let mut samples: HashMap<SlotId, (Inst, usize, Value)> = HashMap::new();
    let mut stores: HashMap<SlotId, usize> = HashMap::new();
    for block in &function.blocks {
        for inst in &block.insts {
            if let Op::SlotStore(slot) = inst.op {
                *stores.entry(slot).or_default() += 1;
            }
        }
        let calls = block.insts.iter().filter(|i| matches!(&i.op, Op::Call(n) if is_sample(n)));
        for call in calls {
            for store in &block.insts {
                let Op::SlotStore(slot) = store.op else { continue };
                let Some(result) = call.results.iter().position(|r| store.args.get(1) == Some(r)) else { continue };
                // The number of the light is the number of the batch's first and the index.
                let number = call.args[0];
                let sum = block.insts.iter().find(|i| i.results.contains(&number) && i.op == Op::IAdd);
                let first = sum.and_then(|sum| match sum.args[..] {
                    [first, index] if index == store.args[0] => Some(first),
                    _ => None,
                });
                if let Some(first) = first {
                    samples.insert(slot, (call.clone(), result, first));
                }
            }
        }
    }
    samples.retain(|slot, _| stores.get(slot) == Some(&1));
    if samples.is_empty() {
        return;
    }
    for id in function.block_ids() {
        let mut made: Vec<(Value, Value, Vec<Value>)> = Vec::new();
        let mut insts = Vec::new();
        for mut inst in std::mem::take(&mut function.block_mut(id).insts) {
            let sample = match inst.op {
                Op::SlotLoad(slot) => samples.get(&slot),
                Op::SlotStore(slot) if samples.contains_key(&slot) => continue,
                _ => None,
            };
            if let Some((call, result, first)) = sample {
                let (index, call_number) = (inst.args[0], call.args[0]);
                let known = made.iter().find(|(i, n, _)| (*i, *n) == (index, call_number)).map(|m| m.2.clone());
                let results = known.unwrap_or_else(|| {
                    let number = function.new_value(Type::U32);
                    let add = Inst { op: Op::IAdd, args: vec![*first, index], results: vec![number], loc: inst.loc };
                    let results: Vec<Value> = call
                        .results
                        .iter()
                        .map(|&r| function.ty(r))
                        .collect::<Vec<_>>()
                        .into_iter()
                        .map(|ty| function.new_value(ty))
                        .collect();
                    let mut args = call.args.clone();
                    args[0] = number;
                    insts.push(add);
                    insts.push(Inst { op: call.op.clone(), args, results: results.clone(), loc: inst.loc });
                    made.push((index, call_number, results.clone()));
                    results
                });
                // A copy: `min v, v` is v for every number.
                let (from, ty) = (results[*result], function.ty(inst.results[0]));
                let yes = function.new_value(Type::Bool);
                insts.push(Inst { op: Op::Const(Const::Bool(true)), args: vec![], results: vec![yes], loc: inst.loc });
                debug_assert_eq!(function.ty(from), ty);
                (inst.op, inst.args) = (Op::Select, vec![yes, from, from]);
            }
            insts.push(inst);
        }
        function.block_mut(id).insts = insts;
    }
    // The calls that filled the arrays: nothing but the rays reads what is left of them.
    remove_unused_samples(function);
}

/// Removes samples of lights whose results only shadow rays read.
fn remove_unused_samples(function: &mut Function) {
    let rays: Vec<SlotId> = function
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| if let Op::Visible(slot) = i.op { Some(slot) } else { None })
        .collect();
    for block in &mut function.blocks {
        block.insts.retain(|i| !matches!(i.op, Op::SlotStore(slot) if rays.contains(&slot)));
    }
    loop {
        let mut used = vec![false; function.values.len()];
        for block in &function.blocks {
            let insts = block.insts.iter().filter(|i| !matches!(i.op, Op::Debug(_)));
            insts.flat_map(|i| &i.args).for_each(|v| used[v.0 as usize] = true);
            block.term.for_each_arg(|v| used[v.0 as usize] = true);
        }
        let mut removed = false;
        for block in &mut function.blocks {
            block.insts.retain(|i| {
                let is_sample = matches!(&i.op, Op::Call(n) if is_sample(n) || Intrinsic::LightCategory.is(n));
                let goes = (i.op.is_pure() || is_sample) && i.results.iter().all(|r| !used[r.0 as usize]);
                removed |= goes;
                !goes
            });
        }
        if !removed {
            break;
        }
    }
    let mut defined = vec![false; function.values.len()];
    for block in &function.blocks {
        let values = block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results));
        values.for_each(|v| defined[v.0 as usize] = true);
    }
    for block in &mut function.blocks {
        block.insts.retain(|i| !matches!(i.op, Op::Debug(_)) || i.args.iter().all(|v| defined[v.0 as usize]));
    }
}
