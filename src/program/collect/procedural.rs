//! Procedural primitives: objects of RTSL primitive classes, bound to their parameters, with their
//! bounds.
//!
//! A procedural primitive has an intersection shader in place of a mesh. What both back ends read of
//! it is [`crate::layout::procedural`]'s; the entry that rays call is
//! [`crate::synthesize::intersection`]'s.

use crate::collect::instances::{Instance, bind};
use crate::collect::shader_library::{CompiledShader, ShaderLibrary};
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_ir::Const;
use shadewright_ir::abi::input;
use shadewright_ir::eval::{EmptyWorld, Limits, eval};
use shadewright_lang::rtsl::AtHit;
use shadewright_scene::{Scene, ShaderInstance};
use std::sync::Arc;

/// The compiled cores of an object of a primitive class.
#[derive(Clone, Debug)]
pub struct PrimitiveShaders {
    /// Intersects a ray.
    pub intersect: CompiledShader,
    /// Computes the bounds.
    pub bounds: CompiledShader,
    /// Samples a point, where its class does.
    pub sample: Option<CompiledShader>,
    /// Compute parts of the surface state at a hit, where its class does.
    pub at_hit: Vec<(AtHit, CompiledShader)>,
}

impl PrimitiveShaders {
    /// The cores without their uniform code.
    pub(crate) fn split(self, shaders: &mut ShaderLibrary) -> Self {
        Self {
            intersect: shaders.split(self.intersect),
            // It runs once an instance anyway.
            bounds: self.bounds,
            sample: self.sample.map(|sample| shaders.split(sample)),
            at_hit: self.at_hit.into_iter().map(|(at, shader)| (at, shaders.split(shader))).collect(),
        }
    }
}

/// The bound cores of a kind of procedural primitives, as entries call them: only their signatures
/// matter.
#[derive(Clone, Debug)]
pub struct PrimitiveCores {
    /// Intersects a ray.
    pub intersect: Arc<Instance>,
    /// Samples a point, where its class does.
    pub sample: Option<Arc<Instance>>,
    /// Compute parts of the surface state at a hit, where its class does.
    pub at_hit: Vec<(AtHit, Arc<Instance>)>,
}

impl PrimitiveCores {
    /// The core that computes a part of the surface state.
    pub fn at(&self, part: AtHit) -> Option<&Arc<Instance>> {
        self.at_hit.iter().find(|p| p.0 == part).map(|p| &p.1)
    }

    /// All but the one that intersects.
    pub fn others(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.sample.iter().chain(self.at_hit.iter().map(|p| &p.1))
    }

    /// The names of all cores.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(&self.intersect).chain(self.others()).map(|i| &i.shader.core)
    }
}

/// A procedural primitive with its parameters bound.
#[derive(Clone, Debug)]
pub struct BoundPrimitive {
    /// The cores of the primitive.
    pub cores: Arc<PrimitiveCores>,
    /// The corners of its bounding box in its own space.
    pub bounds: (Vec3, Vec3),
}

impl BoundPrimitive {
    /// Binds a primitive's parameters and computes its bounds.
    ///
    /// # Errors
    ///
    /// Bounds that are empty or non-finite, or cannot be computed.
    pub fn new(
        shaders: PrimitiveShaders,
        given: &ShaderInstance,
        scene: &Scene,
        remarks: &mut Vec<Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let intersect = Arc::new(bind(Arc::new(shaders.intersect), given, scene, remarks));
        let bounds = bounds(&shaders.bounds, &intersect, scene.film.shutter_share()).map_err(|problem| {
            let d = Diagnostic::error(format!("the box of `{}` {problem}", given.shader));
            let d = given.span.into_iter().fold(d, |d, span| d.at(span, "this primitive"));
            d.hint("`computeBounds` sets the corners rt_BoundMin and rt_BoundMax, in the space where the primitive is declared")
        })?;
        let parts = shaders.sample.iter().chain(shaders.at_hit.iter().map(|(_, shader)| shader));
        let parts = parts.map(|shader| intersect.for_method(shader.clone()));
        let (intersect, parts) = (*intersect).clone().with_methods(parts.collect());
        let (intersect, mut parts) = (Arc::new(intersect), parts.into_iter().map(Arc::new));
        let sample = shaders.sample.and_then(|_| parts.next());
        let at_hit = shaders.at_hit.into_iter().map(|(at, _)| at).zip(parts).collect();
        Ok(Self { cores: Arc::new(PrimitiveCores { intersect, sample, at_hit }), bounds })
    }
}

/// The corners that `computeBounds` gives at a fraction of the shutter interval, with the
/// parameters of an instance of another core of the same object.
fn bounds(shader: &CompiledShader, instance: &Instance, time: f32) -> Result<(Vec3, Vec3), String> {
    let mut args: Vec<Const> = instance.values.clone();
    let inputs = shader.core_params.iter().skip(args.len());
    args.extend(inputs.map(|p| if &*p.name == input::RAY_TIME { Const::F32(time) } else { Const::zero(p.ty) }));
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
