//! Volume shaders: the atmosphere between a surface and the camera, and the interior and exterior
//! of a surface that traces rays.
//!
//! A volume shader (RISpec 3.2, §11, table 11.4) gets the light that leaves the far end `P` of a
//! ray segment in `Ci` and `Oi` and changes it into what arrives at the near end `E`; `I` leads
//! from `E` to `P`. As in PRMan, an object's atmosphere acts on camera rays, and its interior and
//! exterior on rays that its own shaders trace: the interior where the ray starts against the
//! geometric normal. Rays that hit nothing are unchanged.

use crate::collect::instances::unpack;
use crate::layout::blocks::LinkedVolume;
use crate::synthesize::surface_state::frame_value;
use shadewright_ir::abi::{Intrinsic, Query, QuerySource};
use shadewright_ir::{Const, Control, Function, FunctionBuilder, Type, Value};
use std::sync::Arc;

/// Light that passes through a volume.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// The origin of the ray, where the light arrives.
    pub origin: Value,
    /// From there to where the light comes from.
    pub to_end: Value,
    /// How many rays led to this one.
    pub depth: Value,
    /// The light's color and opacity.
    pub light: [Value; 2],
}

impl LinkedVolume {
    /// Returns the volume's parameter of a name and type.
    pub fn parameter(&self, b: &mut FunctionBuilder, asked: &Query<'_>) -> Option<Value> {
        let (i, param) = self.instance.shader.asked(asked.ty.into(), asked.name)?;
        let slot = self.instance.slot(i)?;
        let block = b.constant(Const::Ref(self.address));
        Some(unpack(b, param.ty, |b, k| b.load(block, slot + k)))
    }

    /// Calls the core, or the copy of it named `core`; returns the changed color and opacity.
    /// `message` returns what the surface shader answers to messages.
    pub fn call(
        &self,
        b: &mut FunctionBuilder,
        core: &Arc<str>,
        passage: Passage,
        message: impl Fn(&Query<'_>) -> Option<Value>,
    ) -> [Value; 2] {
        let block = b.constant(Const::Ref(self.address));
        let outputs = self.instance.call(b, core, |b, slot, param| match (slot, &*param.name) {
            (Some(slot), _) => unpack(b, param.ty, |b, k| b.load(block, slot + k)),
            (None, "P") => b.add(passage.origin, passage.to_end),
            (None, "E") => passage.origin,
            (None, "I") => passage.to_end,
            (None, "Ci") => passage.light[0],
            (None, "Oi") => passage.light[1],
            (None, "raydepth") => passage.depth,
            (None, name) => {
                match Query::parse(name)
                    .filter(|a| a.source == QuerySource::Surface)
                    .and_then(|a| Some((a, message(&a)?)))
                {
                    Some((asked, _)) if asked.found => b.f32(1.0),
                    Some((_, value)) => value,
                    None => frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
                }
            }
        });
        [outputs.get("Ci").unwrap_or(passage.light[0]), outputs.get("Oi").unwrap_or(passage.light[1])]
    }
}

/// The volumes on the two sides of a surface, each with the name of its core.
pub type SideVolumes<'a> = [Option<(&'a LinkedVolume, Arc<str>)>; 2];

/// `volumes.any() -> f32`: whether there is a volume on either side.
pub fn any(suffix: &str, sides: &SideVolumes<'_>) -> Function {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::VolumeAny));
    b.result("return", Type::F32);
    let any = b.f32(if sides.iter().any(Option::is_some) { 1.0 } else { 0.0 });
    b.ret(vec![any]);
    b.finish()
}

/// `volumes.pass(inside, E, I, depth, Ci, Oi) -> (Ci, Oi)`: calls the interior (where `inside` is
/// not 0) or the exterior.
pub fn pass(suffix: &str, [interior, exterior]: &SideVolumes<'_>) -> Function {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::VolumePass));
    b.result("Ci", Type::Vec3);
    b.result("Oi", Type::Vec3);
    let mut param = |name: &str, ty| b.param(name, ty);
    let inside = param("inside", Type::F32);
    let (origin, to_end, depth) = (param("E", Type::Vec3), param("I", Type::Vec3), param("depth", Type::F32));
    let light = [param("Ci", Type::Vec3), param("Oi", Type::Vec3)];
    let passage = Passage { origin, to_end, depth, light };
    if interior.is_none() && exterior.is_none() {
        b.ret(light.to_vec());
        return b.finish();
    }
    let zero = b.f32(0.0);
    let is_inside = b.ne(inside, zero);
    let results = |b: &mut FunctionBuilder, volume: &Option<(&LinkedVolume, Arc<str>)>| {
        let results = match volume {
            Some((volume, core)) => volume.call(b, core, passage, |_| None),
            None => light,
        };
        b.ret(results.to_vec());
    };
    b.leave_if(is_inside, |b| results(b, interior));
    results(&mut b, exterior);
    b.finish()
}
