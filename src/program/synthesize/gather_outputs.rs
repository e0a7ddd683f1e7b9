//! The output variables of `gather`, beside color and opacity: `gather (…, "surface:N", n)`.
//!
//! Each output variable of a program is a ray kind of its own, after those of all programs
//! ([`crate::synthesize::visibility`]). For such a ray a surface entry returns the
//! variable in place of `Ci`, and 1 in place of `Oi`; both are 0 where the surface has no such
//! variable. Shaders read the kind from functions of the linker ([`Intrinsic::GatherOutput`]).
//! Programs whose shaders use none have no code for it.

use crate::collect::instances::{Instance, Outputs};
use crate::records::visibility::OCCLUSION;
use crate::synthesize::outputs::triple;
use crate::synthesize::surface_state::{SurfaceInputs, SurfaceState};
use crate::synthesize::visibility::{for_rays_of_kinds, is_of_kind};
use shadewright_ir::abi::{DataType, Intrinsic};
use shadewright_ir::{Const, Function, FunctionBuilder, Module, Op, Type, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The output variables of a program, in the order of their ray kinds.
#[derive(Clone, Debug, Default)]
pub struct GatherOutputs(Vec<GatherOutput>);

#[derive(Clone, Debug)]
struct GatherOutput {
    /// The linker's function that returns its ray kind.
    function: Arc<str>,
    /// The type of the value: a float, or any triple.
    ty: Type,
    /// True if it is the state before the shader runs (`primitive:`).
    of_primitive: bool,
    /// The name of a predefined variable or a parameter.
    name: Arc<str>,
}

/// The ray kind of output variable `i`.
fn kind(i: usize) -> u16 {
    u16::from(OCCLUSION) + 1 + i as u16
}

impl GatherOutput {
    fn parse(function: &Arc<str>) -> Option<Self> {
        let Some(Intrinsic::GatherOutput { ty, of_primitive, name }) = Intrinsic::parse(function) else { return None };
        let ty = if ty == DataType::Float { Type::F32 } else { Type::Vec3 };
        Some(Self { function: function.clone(), ty, of_primitive, name })
    }
}

impl GatherOutputs {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The outputs that the functions of a module use.
    pub fn new(module: &Module) -> Self {
        let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        let called: BTreeSet<&Arc<str>> =
            insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(name) } else { None }).collect();
        Self(called.into_iter().filter_map(GatherOutput::parse).collect())
    }

    /// The functions that return the ray kinds.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.0.iter().enumerate().map(|(i, output)| {
            let mut b = FunctionBuilder::linker(output.function.clone());
            b.result("return", Type::F32);
            let kind = b.f32(kind(i).into());
            b.ret(vec![kind]);
            b.finish()
        })
    }

    /// Code that returns the variables of the state before the shader runs; the builder continues
    /// with other rays.
    pub fn return_at_hit(&self, b: &mut FunctionBuilder, given: &SurfaceInputs) {
        for (i, output) in self.0.iter().enumerate().filter(|(_, q)| q.of_primitive) {
            for_rays_of_kinds(b, given.ray, &[kind(i)], |b| {
                let value = SurfaceState::new(b, given.clone()).global(b, &output.name);
                let is_known = if value.is_some() { 1.0 } else { 0.0 };
                let results = [value.unwrap_or_else(|| b.f32(0.0)), b.f32(is_known)].map(|v| triple(b, v));
                b.ret(results.to_vec());
            });
        }
    }

    /// The output variables at a surface whose state is `state`, for a ray.
    pub fn at(&self, b: &mut FunctionBuilder, state: &mut SurfaceState, ray: Value) -> HitOutputs<'_> {
        let before = self.0.iter().map(|q| if q.of_primitive { None } else { state.global(b, &q.name) }).collect();
        HitOutputs { variables: self, ray, before }
    }
}

/// The output variables at a hit, which the surface shader computes.
#[derive(Debug)]
pub struct HitOutputs<'a> {
    variables: &'a GatherOutputs,
    ray: Value,
    /// The value of each that is a predefined variable, before the surface shader runs.
    before: Vec<Option<Value>>,
}

impl HitOutputs<'_> {
    /// Takes the predefined variables that the displacement shader changed.
    pub fn displace(&mut self, moved: &Outputs<'_>) {
        for (output, before) in self.variables.0.iter().zip(&mut self.before).filter(|(q, _)| !q.of_primitive) {
            *before = moved.get(&output.name).or(*before);
        }
    }

    /// The `Ci` and `Oi` that a ray gets, where a surface shader with these parameters returned
    /// `outputs`, and `shaded` for those two: these, or its output variable.
    pub fn select(
        &self,
        b: &mut FunctionBuilder,
        instance: &Instance,
        params: &[Value],
        outputs: &Outputs<'_>,
        shaded: [Value; 2],
    ) -> [Value; 2] {
        if self.variables.0.iter().all(|q| q.of_primitive) {
            return shaded;
        }
        let (zero, one) = (b.constant(Const::zero(Type::Vec3)), b.vec3([1.0; 3]));
        let (kind_of_ray, last) = (b.extract(self.ray, 3), b.f32(OCCLUSION.into()));
        let is_output = b.lt(last, kind_of_ray);
        let mut results = shaded.map(|value| b.select(is_output, zero, value));
        let shader = &instance.shader;
        let declared = || shader.core_params.iter().take(shader.declared()).zip(params);
        for (i, (output, before)) in self.variables.0.iter().zip(&self.before).enumerate() {
            let parameter = || declared().find(|(p, _)| p.name == output.name).map(|(_, &value)| value);
            let value = outputs.get(&output.name).or_else(parameter).or(*before);
            if let Some(value) = value.filter(|v| b.ty(*v) == output.ty && !output.of_primitive) {
                let is_this = is_of_kind(b, self.ray, kind(i));
                let own = [triple(b, value), one];
                results = std::array::from_fn(|k| b.select(is_this, own[k], results[k]));
            }
        }
        results
    }
}
