//! The surface entries of programs that trace paths: the radiance that leaves a path vertex, and
//! how the path continues.
//!
//! `@surface.N(orig, dir, depth, ray, numbers) -> (radiance, weight, next)` returns the radiance that
//! leaves the surface against the ray, the BSDF weight f·cosθ/pdf of the sampled direction
//! `next.xyz`, and the pdf of that direction in `next.w`, or one of the
//! constants of [`shadewright_generators::transport`]. `ray.z` is the pdf of the ray's direction by solid angle, times the
//! number of lights among which the previous vertex chose; 0 where that vertex scattered
//! specularly. `numbers` are four random numbers: two for light sampling, two for BSDF sampling. A
//! surface without a BSDF is shaded by [`crate::synthesize::entries::surface`], under
//! another name, and the path passes through it as far as it is transparent.
//!
//! The estimators are those of Veach 1997, "Robust Monte Carlo Methods for Light Transport
//! Simulation", chapter 9.

use crate::collect::instances::Instance;
use crate::collect::materials::Scattering;
use crate::layout::area_lights::{AreaLights, PointSampling};
use crate::records::visibility::TRANSMISSION;
use crate::records::visibility::{CAMERA, DIFFUSE};
use crate::synthesize::entries::{self, Light, SurfaceVariant, at_a_hit};
use crate::synthesize::gather_outputs::GatherOutputs;
use crate::synthesize::lights::DIRECT_RESULTS;
use crate::synthesize::materials::{emission_at, opacity_at};
use crate::synthesize::surface_state::{SurfaceInputs, SurfaceState};
use crate::synthesize::visibility::{self};
use shadewright_generators::transport::{END, PASS_THROUGH};
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{EntryPoint, Intrinsic, input, library};
use shadewright_ir::{Const, Control, Function, FunctionBuilder, FunctionKind, Module, Op, ShaderCall, Type, Value};
use shadewright_scene::Estimator;

/// How a program estimates the light that paths transport.
#[derive(Clone, Copy, Debug)]
pub struct Paths<'a> {
    /// Which of light sampling and BSDF sampling are used, and how they are weighted.
    pub estimator: Estimator,
    /// The emissive surfaces.
    pub area_lights: &'a AreaLights,
    /// True if shadow rays compute transmittance.
    pub is_selective: bool,
}

/// The name of the function that runs a surface's shaders.
fn shading_name(number: usize) -> String {
    format!("shade.{number}")
}

/// Adds the operand `numbers`, as zeros, to every `call_shader` without it: those of shadow rays.
pub fn widen_calls(module: &mut Module) {
    for f in &mut module.functions {
        for block in 0..f.blocks.len() {
            let insts = std::mem::take(&mut f.blocks[block].insts);
            let mut out = Vec::with_capacity(insts.len());
            for mut inst in insts {
                if inst.op == Op::CallShader(ShaderCall::Ray) {
                    inst.op = Op::CallShader(ShaderCall::Path);
                    let zeros = f.new_value(Type::Vec4);
                    let op = Op::Const(Const::zero(Type::Vec4));
                    out.push(shadewright_ir::Inst { op, args: Vec::new(), results: vec![zeros], loc: inst.loc });
                    inst.args.push(zeros);
                    inst.results.push(f.new_value(Type::Vec4));
                }
                out.push(inst);
            }
            f.blocks[block].insts = out;
        }
    }
}

/// A surface entry of a program that traces paths.
pub struct PathSurface<'a> {
    /// The cores.
    pub variant: &'a SurfaceVariant,
    /// The end of the names of functions for the object's specialization key.
    pub suffix: &'a str,
    /// The output variables of `gather`.
    pub outputs: &'a GatherOutputs,
    /// True if the state carries derivatives.
    pub differentiated: bool,
    /// How paths are estimated.
    pub paths: Paths<'a>,
}

/// `@surface.N(orig, dir, depth, ray, numbers) -> (radiance, weight, next)`, and the function by which
/// it runs the shaders.
pub fn surface(surface: PathSurface<'_>) -> Vec<Function> {
    let PathSurface { variant, suffix, outputs, differentiated, paths } = surface;
    let is_only_queried = variant.methods.scattering.is_some() && outputs.is_empty();
    let light = if is_only_queried { Light::Nothing } else { Light::Reflected };
    let mut shading = entries::surface_with(variant, outputs, differentiated, light);
    shading.name = shading_name(variant.number).into();
    shading.kind = FunctionKind::Function;
    let (mut b, given) = at_a_hit(EntryPoint::Surface(variant.number as u32), variant, differentiated);
    let numbers = b.param("numbers", Type::Vec4);
    b.result("radiance", Type::Vec3);
    b.result("weight", Type::Vec3);
    b.result("next", Type::Vec4);
    let mut vertex = PathVertex { b: &mut b, given, numbers, variant, suffix, paths };
    vertex.pass_invisible();
    match &variant.methods.scattering {
        Some(scattering) => {
            if paths.is_selective || !outputs.is_empty() {
                vertex.return_to_shadow_rays();
            }
            vertex.scatter(scattering);
        }
        None => vertex.shade(),
    }
    vec![shading, b.finish()]
}

/// The code of a surface entry that is being written: what happens at a vertex of a path.
struct PathVertex<'a> {
    b: &'a mut FunctionBuilder,
    given: SurfaceInputs,
    numbers: Value,
    variant: &'a SurfaceVariant,
    /// The end of the names of functions for the object's specialization key.
    suffix: &'a str,
    paths: Paths<'a>,
}

impl Control for PathVertex<'_> {
    fn builder(&mut self) -> &mut FunctionBuilder {
        self.b
    }
}

impl PathVertex<'_> {
    fn black(&mut self) -> Value {
        self.b.constant(Const::zero(Type::Vec3))
    }

    fn largest(&mut self, color: Value) -> Value {
        let [r, g, b] = [0, 1, 2].map(|i| self.b.extract(color, i));
        let most = self.b.max(r, g);
        self.b.max(most, b)
    }

    fn smallest(&mut self, color: Value) -> Value {
        let [r, g, b] = [0, 1, 2].map(|i| self.b.extract(color, i));
        let least = self.b.min(r, g);
        self.b.min(least, b)
    }

    /// `next`: a direction and its pdf.
    fn next(&mut self, direction: Value, pdf: Value) -> Value {
        let [x, y, z] = [0, 1, 2].map(|i| self.b.extract(direction, i));
        self.b.compose(&[x, y, z, pdf])
    }

    /// Where a condition holds the entry returns what `otherwise` gives; the builder continues
    /// elsewhere.
    fn return_if(&mut self, condition: Value, otherwise: impl FnOnce(&mut Self) -> Vec<Value>) {
        let (continuation, end) = (self.b.block(), self.b.block());
        self.b.branch(condition, end, continuation);
        self.b.enter(end);
        let results = otherwise(self);
        self.b.ret(results);
        self.b.enter(continuation);
    }

    /// The results where the path passes through the surface with a weight.
    fn pass_through(&mut self, radiance: Value, weight: Value) -> Vec<Value> {
        let pdf = self.b.f32(PASS_THROUGH);
        let next = self.next(self.given.direction, pdf);
        vec![radiance, weight, next]
    }

    /// Rays for which the object is invisible pass through it.
    fn pass_invisible(&mut self) {
        let visible = self.variant.visibility;
        for (kind, is_visible) in (CAMERA..).zip([visible.camera, visible.specular, visible.diffuse]) {
            if !is_visible {
                let is_kind = visibility::is_of_kind(self.b, self.given.ray, kind);
                self.return_if(is_kind, |vertex| {
                    let (radiance, weight) = (vertex.black(), vertex.b.vec3([1.0; 3]));
                    vertex.pass_through(radiance, weight)
                });
            }
        }
    }

    /// Runs the object's shaders: their color and opacity.
    fn shaded(&mut self) -> [Value; 2] {
        let SurfaceInputs { origin, direction, depth, ray, .. } = self.given;
        let results = self.b.call(
            shading_name(self.variant.number),
            vec![origin, direction, depth, ray],
            &[Type::Vec3, Type::Vec3],
        );
        [results[0], results[1]]
    }

    /// Rays of the kinds after diffuse transport no light: they get the color and opacity that the
    /// object's shaders compute.
    fn return_to_shadow_rays(&mut self) {
        let kind = self.b.extract(self.given.ray, 3);
        let last = self.b.f32(f32::from(DIFFUSE));
        let is_query = self.b.lt(last, kind);
        self.return_if(is_query, |vertex| {
            let [radiance, opacity] = vertex.shaded();
            vec![radiance, opacity, vertex.b.constant(Const::zero(Type::Vec4))]
        });
    }

    /// A surface without a BSDF: the color of its shader, and its emission.
    fn shade(&mut self) {
        let mut state = SurfaceState::new(self.b, self.given.clone());
        let mut emitted = self.emitted(&mut state);
        if let (Some(light), Some(opacity)) = (emitted, &self.variant.methods.opacity) {
            let opacity = opacity_at(self.b, &mut state, &self.variant.layout, opacity);
            emitted = Some(self.b.mul(light, opacity));
        }
        let [radiance, opacity] = self.shaded();
        let one = self.b.vec3([1.0; 3]);
        let transmitted = self.b.sub(one, opacity);
        let radiance = match emitted {
            Some(emitted) => self.b.add(emitted, radiance),
            None => radiance,
        };
        let results = self.pass_through(radiance, transmitted);
        self.b.ret(results);
    }

    /// The radiance that the surface emits, with the multiple importance sampling weight of the ray
    /// that hit it.
    fn emitted(&mut self, state: &mut SurfaceState) -> Option<Value> {
        let emission = self.variant.methods.emission.as_ref()?;
        let emitted = emission_at(self.b, state, &self.variant.layout, emission);
        let Some(sampling) = self.paths.area_lights.point_sampling(self.variant.number) else { return Some(emitted) };
        let pdf = self.b.extract(self.given.ray, 2);
        let zero = self.b.f32(0.0);
        let is_specular = self.b.le(pdf, zero);
        let weight = match self.paths.estimator {
            Estimator::Scattering => return Some(emitted),
            Estimator::Lights => zero,
            Estimator::Power | Estimator::Balance => {
                let light_pdf = match sampling {
                    PointSampling::Uniform(area) => {
                        let t = state.global(self.b, input::RAY_T)?;
                        let normal = state.global(self.b, "Ng")?;
                        self.uniform_pdf(t, normal, area)
                    }
                    PointSampling::Procedural => state.pdf_of_sampled_points(self.b)?,
                };
                mis_weight(self.b, self.paths.estimator, pdf, light_pdf)
            }
        };
        let one = self.b.f32(1.0);
        let weight = self.b.select(is_specular, one, weight);
        Some(self.b.scale(emitted, weight))
    }

    /// The pdf by solid angle of points sampled uniformly over an area, in the direction of one at
    /// distance `t`: `t² / (|cosθ| · area)`.
    fn uniform_pdf(&mut self, t: Value, normal: Value, area: f32) -> Value {
        let cosine = self.b.dot(self.given.direction, normal);
        let cosine = self.b.abs(cosine);
        let area = self.b.f32(area);
        let projected = self.b.mul(cosine, area);
        let least = self.b.f32(f32::MIN_POSITIVE);
        let projected = self.b.max(projected, least);
        let reciprocal = self.b.rcp(projected);
        let square = self.b.mul(t, t);
        self.b.mul(square, reciprocal)
    }

    /// A surface with a BSDF.
    fn scatter(&mut self, scattering: &Scattering) {
        let mut state = SurfaceState::new(self.b, self.given.clone());
        let emitted = match self.emitted(&mut state) {
            Some(emitted) => emitted,
            None => self.black(),
        };
        let mut numbers = [0, 1, 2, 3].map(|i| self.b.extract(self.numbers, i));
        let coverage = self.coverage(&mut state, &mut numbers[2]);
        let emitted = self.covered(emitted, coverage);
        let limit = self.b.frame(slots::MAX_DEPTH);
        let is_last = self.b.le(limit, self.given.depth);
        let [position, normal] = ["P", "N"].map(|name| {
            let value = state.global(self.b, name);
            value.unwrap_or_else(|| self.b.constant(Const::zero(Type::Vec3)))
        });
        // Everything that the methods read is read here: tracing a ray overwrites the hit.
        let bsdf = self.arguments(&mut state, &scattering.bsdf);
        let pdf = self.arguments(&mut state, &scattering.pdf);
        let sample = self.arguments(&mut state, &scattering.sample);
        let arguments = MethodArguments { bsdf, pdf };
        if let Some(Coverage { is_passed, transmitted, .. }) = coverage {
            self.return_if(is_passed, |vertex| {
                let black = vertex.black();
                vertex.pass_through(black, transmitted)
            });
        }
        self.return_if(is_last, |vertex| {
            let black = vertex.black();
            let end = vertex.b.f32(END);
            let next = vertex.next(black, end);
            vec![emitted, black, next]
        });
        let choices = self.b.call(format!("{}{}", Intrinsic::LightChoices, self.suffix), Vec::new(), &[Type::F32])[0];
        let direct = self.sample_light(scattering, &arguments, [position, normal], &numbers, choices);
        let (weight, next) = self.sample_bsdf(scattering, &arguments, sample, &numbers, choices);
        let transmittance = self.transmittance(position, &direct);
        let reflected = self.b.mul(direct.light, transmittance);
        let reflected = self.covered(reflected, coverage);
        let weight = self.covered(weight, coverage);
        let radiance = self.b.add(emitted, reflected);
        self.b.ret(vec![radiance, weight, next]);
    }

    /// Where the material has an `opacity`, the surface is hit with the probability of the mean of
    /// its largest and smallest component: that is 1 or 0 only where all of them are. The random
    /// number that decides is stretched to a new one where the path does not pass.
    fn coverage(&mut self, state: &mut SurfaceState, number: &mut Value) -> Option<Coverage> {
        let opacity = self.variant.methods.opacity.as_ref()?;
        let opacity = opacity_at(self.b, state, &self.variant.layout, opacity);
        let (largest, smallest) = (self.largest(opacity), self.smallest(opacity));
        let both = self.b.add(largest, smallest);
        let half = self.b.f32(0.5);
        let probability = self.b.mul(half, both);
        let is_hit = self.b.lt(*number, probability);
        let is_passed = self.b.not(is_hit);
        let reciprocal = self.b.rcp(probability);
        let (rest, last) = (self.b.mul(*number, reciprocal), self.b.f32(1.0f32.next_down()));
        *number = self.b.min(rest, last);
        let reflected = self.b.scale(opacity, reciprocal);
        let (one, white) = (self.b.f32(1.0), self.b.vec3([1.0; 3]));
        let transmitted = self.b.sub(white, opacity);
        let rest = self.b.sub(one, probability);
        let reciprocal = self.b.rcp(rest);
        let transmitted = self.b.scale(transmitted, reciprocal);
        Some(Coverage { is_passed, reflected, transmitted })
    }

    /// Light of a surface, weighted where the path did not pass through it.
    fn covered(&mut self, light: Value, coverage: Option<Coverage>) -> Value {
        match coverage {
            Some(Coverage { reflected, .. }) => self.b.mul(light, reflected),
            None => light,
        }
    }

    /// The arguments of a method's core at the hit; inputs that a surface does not have are zero.
    fn arguments(&mut self, state: &mut SurfaceState, instance: &Instance) -> Vec<Value> {
        entries::core_arguments(self.b, state, &self.variant.layout, instance, 0)
    }

    /// The BSDF times the cosine, f·cosθ, and the pdf of BSDF sampling, for a direction.
    fn evaluate(&mut self, scattering: &Scattering, arguments: &MethodArguments, direction: Value) -> [Value; 2] {
        let with = |instance: &Instance, args: &[Value]| with_input(instance, args, input::LIGHT_DIRECTION, direction);
        let args = with(&scattering.bsdf, &arguments.bsdf);
        let outputs = scattering.bsdf.call_with(self.b, &scattering.bsdf.shader.core, args);
        let zero = self.b.constant(Const::zero(Type::Vec3));
        let [value, normal] = ["value", "normal"].map(|name| outputs.get(name).unwrap_or(zero));
        let args = with(&scattering.pdf, &arguments.pdf);
        let outputs = scattering.pdf.call_with(self.b, &scattering.pdf.shader.core, args);
        let pdf = outputs.get("pdf").unwrap_or_else(|| self.b.f32(0.0));
        let normal = self.b.normalize(normal);
        let cosine = self.b.dot(normal, direction);
        let cosine = self.b.abs(cosine);
        [self.b.scale(value, cosine), pdf]
    }

    /// Samples one of the lights (next-event estimation).
    fn sample_light(
        &mut self,
        scattering: &Scattering,
        arguments: &MethodArguments,
        [position, normal]: [Value; 2],
        numbers: &[Value; 4],
        choices: Value,
    ) -> LightSample {
        let args = vec![position, normal, numbers[0], numbers[1]];
        let found = self.b.call(format!("{}{}", Intrinsic::LightDirect, self.suffix), args, &DIRECT_RESULTS);
        let [direction, light, t_max, pdf] = [found[0], found[1], found[2], found[3]];
        let [value, bsdf_pdf] = self.evaluate(scattering, arguments, direction);
        let zero = self.b.f32(0.0);
        let is_delta = self.b.le(pdf, zero);
        let weight = match self.paths.estimator {
            Estimator::Lights => self.b.f32(1.0),
            Estimator::Scattering => zero,
            Estimator::Power | Estimator::Balance => {
                let other = self.b.mul(bsdf_pdf, choices);
                mis_weight(self.b, self.paths.estimator, pdf, other)
            }
        };
        let one = self.b.f32(1.0);
        let weight = self.b.select(is_delta, one, weight);
        let light = self.b.mul(value, light);
        LightSample { direction, t_max, light: self.b.scale(light, weight) }
    }

    /// Samples the direction in which the path continues: the BSDF weight f·cosθ/pdf, and `next`.
    fn sample_bsdf(
        &mut self,
        scattering: &Scattering,
        arguments: &MethodArguments,
        args: Vec<Value>,
        numbers: &[Value; 4],
        choices: Value,
    ) -> (Value, Value) {
        let args = with_input(&scattering.sample, &args, input::SEED_X, numbers[2]);
        let args = with_input(&scattering.sample, &args, input::SEED_Y, numbers[3]);
        let outputs = scattering.sample.call_with(self.b, &scattering.sample.shader.core, args);
        let black = self.black();
        let [direction, specular] = ["direction", "value"].map(|name| outputs.get(name).unwrap_or(black));
        // The zero vector ends the path.
        let square = self.b.dot(direction, direction);
        let zero = self.b.f32(0.0);
        let is_direction = self.b.lt(zero, square);
        let direction = self.b.normalize(direction);
        let [value, pdf] = self.evaluate(scattering, arguments, direction);
        let is_possible = self.b.lt(zero, pdf);
        let is_possible = self.b.and(is_possible, is_direction);
        let reciprocal = self.b.rcp(pdf);
        let weight = self.b.scale(value, reciprocal);
        let weight = self.b.select(is_possible, weight, black);
        let largest = self.largest(specular);
        let is_specular = self.b.lt(zero, largest);
        let weight = self.b.select(is_specular, specular, weight);
        let pdf = self.b.mul(pdf, choices);
        let end = self.b.f32(END);
        let pdf = self.b.select(is_possible, pdf, end);
        let pdf = self.b.select(is_specular, zero, pdf);
        let next = self.next(direction, pdf);
        (weight, next)
    }

    /// The transmittance between a surface and a sampled light.
    fn transmittance(&mut self, position: Value, direct: &LightSample) -> Value {
        let one = self.b.vec3([1.0; 3]);
        let transmittance = self.b.variable_with(one);
        let zero = self.b.f32(0.0);
        let largest = self.largest(direct.light);
        let is_bright = self.b.lt(zero, largest);
        let is_far = self.b.lt(zero, direct.t_max);
        let needs_ray = self.b.and(is_bright, is_far);
        self.if_then(needs_ray, |vertex| {
            let traced = vertex.traced_transmittance(position, direct, [zero, one]);
            vertex.b.write(transmittance, traced);
        });
        self.b.read(transmittance)
    }

    /// The result of a shadow ray to a sampled light, by the constants 0, an `f32`, and 1, a `vec3`.
    fn traced_transmittance(&mut self, position: Value, direct: &LightSample, [zero, one]: [Value; 2]) -> Value {
        let bias = self.b.frame(slots::RAY_BIAS);
        if self.paths.is_selective {
            let kind = self.b.f32(TRANSMISSION.into());
            let args = vec![position, direct.direction, bias, direct.t_max, kind];
            return self.b.call(library::TRANSMITTANCE, args, &[Type::Vec3])[0];
        }
        let ray = self.b.compose(&[bias, direct.t_max, zero, zero]);
        let blocked = self.b.occluded(position, direct.direction, ray);
        let black = self.black();
        self.b.select(blocked, black, one)
    }
}

/// How a path meets a surface that is not opaque.
#[derive(Clone, Copy)]
struct Coverage {
    /// True if the path passes through the surface.
    is_passed: Value,
    /// The weight of the surface's light where it does not.
    reflected: Value,
    /// The weight of the light beyond the surface where it does.
    transmitted: Value,
}

/// The arguments of a material's methods at a path vertex, except for directions.
struct MethodArguments {
    bsdf: Vec<Value>,
    pdf: Vec<Value>,
}

/// A light that was sampled.
struct LightSample {
    /// Towards the light.
    direction: Value,
    /// The length of the shadow ray.
    t_max: Value,
    /// The radiance that the surface reflects of an unoccluded light.
    light: Value,
}

/// The multiple importance sampling weight of a sample from the first of two distributions with
/// these pdfs.
pub fn mis_weight(b: &mut FunctionBuilder, estimator: Estimator, own: Value, other: Value) -> Value {
    let zero = b.f32(0.0);
    let is_impossible = b.le(own, zero);
    // The quotient first: squares of pdfs may overflow.
    let reciprocal = b.rcp(own);
    let mut quotient = b.mul(other, reciprocal);
    if estimator == Estimator::Power {
        quotient = b.mul(quotient, quotient);
    }
    let one = b.f32(1.0);
    let sum = b.add(one, quotient);
    let weight = b.rcp(sum);
    b.select(is_impossible, zero, weight)
}

/// The arguments with another value for the named input, if the core has it.
fn with_input(instance: &Instance, args: &[Value], name: &str, value: Value) -> Vec<Value> {
    let params = &instance.shader.core_params;
    args.iter().zip(params).map(|(&arg, param)| if *param.name == *name { value } else { arg }).collect()
}
