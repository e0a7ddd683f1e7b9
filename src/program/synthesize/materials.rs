//! Calls of a material's `emission` and `opacity`.

use crate::collect::instances::Instance;
use crate::records::RecordLayout;
use crate::synthesize::entries::core_arguments;
use crate::synthesize::surface_state::SurfaceState;
use shadewright_ir::{Const, FunctionBuilder, Type, Value};

/// The opacity of a surface at a state: from 0 to 1 in each component.
pub fn opacity_at(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    layout: &RecordLayout,
    opacity: &Instance,
) -> Value {
    let args = core_arguments(b, state, layout, opacity, 0);
    let outputs = opacity.call_with(b, &opacity.shader.core, args);
    let white = b.vec3([1.0; 3]);
    let opacity = outputs.get("opacity").unwrap_or(white);
    b.sat(opacity)
}

/// The radiance that a surface emits at a state.
pub fn emission_at(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    layout: &RecordLayout,
    emission: &Instance,
) -> Value {
    let args = core_arguments(b, state, layout, emission, 0);
    let outputs = emission.call_with(b, &emission.shader.core, args);
    outputs.get("emission").unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)))
}
