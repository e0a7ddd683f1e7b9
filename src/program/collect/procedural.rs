//! Primitives of RTSL classes: what the scene's `Geometry` becomes when it is linked.
//!
//! A primitive is an object without a mesh, under a number behind those of all triangles. Its record is that of an instance, behind whose parameters lie its own ([`BLOCK_VECTORS`]). Rays ask it by an entry, [`intersect_entry`];
//! surface entries ask it for its normal and what else a hit is known by ([`crate::program::synthesise::surface_state`]); its box is computed here.

use crate::abi::{EntryPoint, common_origin_entries, intersect_entry};
use crate::bvh::two_level::instance::world_to_object;
use crate::bvh::two_level::programs::{ProgramBox, Programs, ProgramsError};
use crate::ir::eval::{EmptyWorld, Limits, eval};
use crate::ir::passes::packets::{self, Once};
use crate::ir::{Const, Function, FunctionBuilder, FunctionKind, Module, Op, TargetInfo, Type};
use crate::lang::rtsl::AtHit;
use crate::program::collect::instances::{Instance, bind, unpack};
use crate::program::collect::shader_library::CompiledShader;
use crate::program::layout::memory::{INSTANCE_VECTORS, MemoryImage, ParamBlock, programs};
use crate::program::synthesise::surface_state::of_frame;
use crate::scene::{Object, Scene, ShaderInstance};
use crate::text::diagnostics::Diagnostic;
use glam::Vec3;
use std::sync::Arc;

/// Vectors of a primitive's block before its parameters: the number of its entry with [`SHARE`], and the three rows of the matrix from the world to its own space.
pub const BLOCK_VECTORS: u32 = 4;

/// The word of a block's first vector that tells with which probability the primitive is chosen where a place looks at surfaces that shine, divided by how many times larger volumes are in the world than in its own space.
pub const SHARE: u8 = 1;

/// Parts the entries of all kinds, when they are as short as they get.
pub fn split_by_origin(module: &mut Module, kinds: usize, target: &TargetInfo) {
    for n in 0..kinds {
        let entry = module.function(&intersect_entry(n));
        let once = Once::Numbers(target);
        let parts = entry.and_then(|entry| packets::split(entry, &["orig", "block"], common_origin_entries(n), once));
        let roles = [EntryPoint::IntersectionOrigin(n as u32), EntryPoint::IntersectionRest(n as u32)];
        let parts = parts.into_iter().flat_map(|parts| [parts.shared, parts.rest].into_iter().zip(roles));
        module.functions.extend(parts.map(|(part, role)| Function { kind: FunctionKind::Entry(role), ..part }));
    }
}

/// The cores of a class of primitives with all that it refers to.
#[derive(Clone, Debug)]
pub struct PrimitiveShaders {
    /// Finds hits.
    pub intersect: CompiledShader,
    /// Gives the box.
    pub bounds: CompiledShader,
    /// Chooses a point, where its class does.
    pub sample: Option<CompiledShader>,
    /// What it tells of a hit, where its class does.
    pub at_hit: Vec<(AtHit, CompiledShader)>,
}

/// The cores that entries call; only their signatures matter.
#[derive(Clone, Debug)]
pub struct PrimitiveCores {
    /// Finds hits.
    pub intersect: Arc<Instance>,
    /// Chooses a point, where its class does.
    pub sample: Option<Arc<Instance>>,
    /// What it tells of a hit, where its class does.
    pub at_hit: Vec<(AtHit, Arc<Instance>)>,
}

impl PrimitiveCores {
    /// What answers a question about a hit.
    pub fn at(&self, part: AtHit) -> Option<&Arc<Instance>> {
        self.at_hit.iter().find(|p| p.0 == part).map(|p| &p.1)
    }

    /// Those behind the first.
    pub fn others(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.sample.iter().chain(self.at_hit.iter().map(|p| &p.1))
    }

    /// The names of all cores.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(&self.intersect).chain(self.others()).map(|i| &i.shader.core)
    }
}

/// A primitive whose parameters are bound.
#[derive(Clone, Debug)]
pub struct LinkedPrimitive {
    /// Its cores.
    pub cores: Arc<PrimitiveCores>,
    /// The corners of its box in its own space.
    pub bounds: (Vec3, Vec3),
}

/// How an object is a program: what surface entries must know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramRecord {
    /// Which of the program's kinds of primitives.
    pub kind: u32,
    /// Vectors of the object's parameters before its block.
    pub offset: u32,
}

/// The primitives of a linked program, as those who trace its rays need them.
#[derive(Debug, Default)]
pub struct Primitives {
    /// The tree over their boxes, whose data are the addresses of their blocks.
    pub tree: Programs,
    /// How many kinds there are, each with an entry.
    pub kinds: usize,
}

impl Primitives {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }
}

fn here(given: &ShaderInstance, d: Diagnostic) -> Diagnostic {
    match given.span {
        Some(span) => d.at(span, "this primitive"),
        None => d,
    }
}

impl LinkedPrimitive {
    /// Binds a primitive's parameters and asks it for its box.
    ///
    /// # Errors
    /// A box that is none.
    pub fn new(
        shaders: PrimitiveShaders,
        given: &ShaderInstance,
        scene: &Scene,
        remarks: &mut Vec<Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let intersect = Arc::new(bind(Arc::new(shaders.intersect), given, scene, remarks));
        let bounds = bounds(&shaders.bounds, &intersect, scene.film.shutter_share()).map_err(|problem| {
            let d = here(given, Diagnostic::error(format!("the box of `{}` {problem}", given.name)));
            d.hint("`computeBounds` sets the corners rt_BoundMin and rt_BoundMax, in the space where the primitive is declared")
        })?;
        let part = |shader| Arc::new(Instance { shader: Arc::new(shader), ..(*intersect).clone() });
        let sample = shaders.sample.map(part);
        let at_hit = shaders.at_hit.into_iter().map(|(at, shader)| (at, part(shader))).collect();
        Ok(Self { cores: Arc::new(PrimitiveCores { intersect, sample, at_hit }), bounds })
    }

    /// What lies behind the other parameters of an object's record; its [`SHARE`] is not known yet.
    pub fn block(&self, kind: u32, object: &Object) -> ParamBlock {
        let mut block = vec![[kind, 0, 0, 0]];
        block.extend(world_to_object(object.object_to_world).map(|row| row.map(f32::to_bits)));
        block.extend(&self.cores.intersect.block);
        block
    }
}

/// The corners that `computeBounds` gives at a share of the shutter's opening, with the parameters of an instance of another core of the same object.
fn bounds(shader: &CompiledShader, instance: &Instance, time: f32) -> Result<(Vec3, Vec3), String> {
    let mut args: Vec<Const> = instance.values.clone();
    let inputs = shader.core_params.iter().skip(args.len());
    args.extend(inputs.map(|p| if &*p.name == "ray.time" { Const::F32(time) } else { Const::zero(p.ty) }));
    let results = eval(shader.unit(), &shader.core, &args, &mut EmptyWorld, Limits::default())
        .map_err(|e| format!("cannot be computed: {e}"))?;
    let [Const::Vec3(low), Const::Vec3(high)] = results[..] else { return Err("is none".to_string()) };
    let (low, high) = (Vec3::from(low), Vec3::from(high));
    if !(low.is_finite() && high.is_finite()) {
        return Err(format!("is not finite: from {low} to {high}"));
    }
    if !low.cmple(high).all() {
        return Err(format!("is inside out: from {low} to {high}"));
    }
    Ok((low, high))
}

/// `@intersect.N(orig, dir, t_min, t_max, block) -> (t)`.
pub fn intersect(number: usize, cores: &PrimitiveCores) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Intersection(number as u32));
    let [origin, direction] = ["orig", "dir"].map(|name| b.param(name, Type::Vec3));
    let [t_min, t_max] = ["t_min", "t_max"].map(|name| b.param(name, Type::F32));
    let block = b.param("block", Type::Ref);
    b.result("t", Type::F32);
    let core = &cores.intersect;
    let outputs = core.call(&mut b, &core.shader.core, |b, slot, param| match (slot, &*param.name) {
        (Some(slot), _) => unpack(b, param.ty, |b, k| b.op(Op::Load(BLOCK_VECTORS + slot + k), &[block])),
        (None, "ray.origin") => origin,
        (None, "ray.direction") => direction,
        (None, "ray.t_min") => t_min,
        (None, "ray.t") => t_max,
        (None, name) => of_frame(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
    });
    let t = outputs.get("t").unwrap_or(t_max);
    let is_hit = b.op(Op::Lt, &[t, t_max]);
    let miss = b.f32(-1.0);
    let t = b.op(Op::Select, &[is_hit, t, miss]);
    b.ret(vec![t]);
    b.finish()
}

/// The tree over the primitives of a scene, in the order of the scene's objects: each with its object, the place of its block among the object's parameters, and its box.
///
/// # Errors
/// A primitive without a finite place.
pub fn tree(
    scene: &Scene,
    memory: &MemoryImage,
    linked: &[(usize, ProgramRecord, (Vec3, Vec3))],
) -> Result<Programs, Diagnostic> {
    let boxes = linked.iter().map(|&(object, record, bounds)| ProgramBox {
        bounds,
        object_to_world: scene.objects[object].object_to_world,
        number: memory.first_primitive(memory.objects[object]),
        data: memory.objects[object] + 1 + INSTANCE_VECTORS + record.offset,
    });
    debug_assert_eq!(programs(scene).count(), linked.len());
    Programs::build(&boxes.collect::<Vec<_>>()).map_err(|error| {
        let ProgramsError::Misplaced { index } = error else { return Diagnostic::error(error.to_string()) };
        let object = &scene.objects[linked[index].0];
        let d = Diagnostic::error("a primitive has no finite place in the world");
        let d = match object.span {
            Some(span) => d.at(span, "this primitive"),
            None => d,
        };
        d.hint("its box, or the transform around it, is too large")
    })
}
