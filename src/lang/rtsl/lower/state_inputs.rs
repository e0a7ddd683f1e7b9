//! The named inputs that the renderer's state comes from, and the results of a core that it
//! becomes.

use super::super::state::VARIABLES;
use super::*;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{input, library};

/// A light without a distance is distant, and no light is farther away: squares of this, 2³¹, are
/// numbers of either float format.
pub const FARTHEST: f32 = 2_147_483_648.0;

/// The results of the core that the renderer takes, with the state variables that they are.
pub(super) fn outputs(method: Method) -> &'static [(&'static str, &'static str)] {
    match method {
        Method::GenerateRay => &[("origin", "rt_RayOrigin"), ("direction", "rt_RayDirection"), ("t", "rt_HitDistance")],
        Method::Intersect => &[("t", "rt_HitDistance")],
        Method::ComputeBounds => &[("min", "rt_BoundMin"), ("max", "rt_BoundMax")],
        Method::ComputeNormal => &[("Ng", "rt_GeometricNormal"), ("N", "rt_ShadingNormal")],
        Method::ComputeTextureCoordinates => &[("uv", "rt_TextureUV"), ("uvw", "rt_TextureUVW")],
        Method::ComputeDerivatives => &[("dPdu", "rt_dPdu"), ("dPdv", "rt_dPdv")],
        Method::GenerateSample => &[("P", "rt_HitPoint")],
        Method::SamplePdf | Method::EvaluatePdf => &[("pdf", "rt_PDF")],
        Method::Lookup => &[("color", "rt_TextureColor"), ("value", "rt_FloatTextureValue")],
        Method::Shade => &[("Ci", "rt_SampleColor")],
        Method::Bsdf => &[("value", "rt_BSDFValue"), ("normal", "rt_ShadingNormal")],
        Method::SampleBsdf => &[("direction", "rt_LightDirection"), ("value", "rt_BSDFValue")],
        Method::Emission => &[("emission", "rt_EmissionColor")],
        Method::Opacity => &[("opacity", "rt_SampleOpacity")],
        Method::Illumination => {
            &[("L", "rt_LightDirection"), ("Cl", "rt_LightColor"), (input::LIGHT_DISTANCE, "rt_LightDistance")]
        }
    }
}

/// The result of a method of a material that the class does not define: no emission, and an opacity
/// of 1.
pub(super) fn without(method: Method) -> Option<(&'static str, Const)> {
    match method {
        Method::Emission => Some(("rt_EmissionColor", Const::zero(ir::Type::Vec3))),
        Method::Opacity => Some(("rt_SampleOpacity", Const::Vec3([1.0; 3]))),
        _ => None,
    }
}

/// The state variables that a method needs whether its class mentions them or not.
pub(super) fn needed(method: Method) -> &'static [&'static str] {
    match method {
        Method::Intersect => &["rt_HitDistance", "rt_RayOrigin", "rt_RayDirection"],
        // `trace` starts there, and bending one normal bends the other.
        Method::Shade => &["rt_HitPoint", "rt_ShadingNormal"],
        _ => &[],
    }
}

impl Body<'_> {
    /// Makes the state that is mentioned, with what the renderer knows; all of it where no method
    /// is made.
    pub(super) fn begin_state(&mut self, mentioned: &HashSet<&str>) {
        let method = self.method.filter(|_| !self.is_open);
        for variable in &VARIABLES {
            if method.is_some() && !mentioned.contains(variable.name) {
                continue;
            }
            let local = self.new_local(Type::Basic(variable.ty), Span::default());
            if let Some(value) = method.and_then(|m| self.first_value(m, variable.name)) {
                let value = Typed { ty: local.ty.clone(), parts: vec![value], known: None };
                self.write_local(&local, value);
            }
            self.state.insert(variable.name, local);
        }
        if mentioned.contains("rand") && method == Some(Method::GenerateSample) {
            self.begin_sample();
        } else if mentioned.contains("rand") {
            let place = match method {
                Some(Method::Illumination) => self.input("Ps", ir::Type::Vec3),
                Some(Method::GenerateRay) => {
                    let parts =
                        [input::SCREEN_X, input::SCREEN_Y, input::RAY_TIME].map(|name| self.input(name, ir::Type::F32));
                    self.b.compose(&parts)
                }
                Some(Method::ComputeBounds) => self.b.constant(Const::zero(ir::Type::Vec3)),
                // The same numbers where a hit is looked for and where it is found.
                Some(method) if method.interface() == Interface::Primitive => {
                    let [origin, way] =
                        [input::RAY_ORIGIN, input::RAY_DIRECTION].map(|name| self.input(name, ir::Type::Vec3));
                    self.b.add(origin, way)
                }
                _ => self.input("P", ir::Type::Vec3),
            };
            let seed = self.b.call(library::SEED, vec![place], &[ir::Type::F32])[0];
            let random = self.b.variable(ir::Type::F32);
            self.b.write(random, seed);
            self.random = Some(random);
        }
    }

    /// The random numbers by which a point is chosen: two that the renderer gives, which are spread
    /// better than any at random, and a sequence that they are the seed of.
    fn begin_sample(&mut self) {
        let given = [input::SEED_X, input::SEED_Y].map(|name| self.input(name, ir::Type::F32));
        let zero = self.b.f32(0.0);
        let place = self.b.compose(&[given[0], given[1], zero]);
        let random = self.b.call(library::RANDOM, vec![place], &[ir::Type::Vec3])[0];
        let number = self.b.extract(random, 0);
        let count = self.b.f32(16_777_216.0);
        let seed = self.b.mul(number, count);
        let [first, second, behind] = [given[0], given[1], seed].map(|value| {
            let variable = self.b.variable(ir::Type::F32);
            self.b.write(variable, value);
            variable
        });
        (self.ahead, self.random) = (vec![first, second], Some(behind));
    }

    /// The value of a variable when a method begins.
    fn first_value(&mut self, method: Method, name: &str) -> Option<Value> {
        use ir::Type::{F32, Vec3};
        match name {
            "rt_Epsilon" => {
                return Some(self.b.frame(slots::RAY_BIAS));
            }
            "rt_TimeSeed" => return Some(self.input(input::RAY_TIME, F32)),
            _ => {}
        }
        match method {
            Method::GenerateRay => match name {
                "rt_ScreenCoord" => {
                    let parts = [input::SCREEN_X, input::SCREEN_Y].map(|name| self.input(name, F32));
                    Some(self.b.compose(&parts))
                }
                "rt_LensCoord" => {
                    let parts = [input::LENS_X, input::LENS_Y].map(|name| self.input(name, F32));
                    Some(self.b.compose(&parts))
                }
                "rt_HitDistance" => Some(self.b.f32(f32::MAX)),
                "rt_du" | "rt_dv" => {
                    let slot = if name == "rt_du" { slots::INVERSE_WIDTH } else { slots::INVERSE_HEIGHT };
                    Some(self.b.frame(slot))
                }
                _ => None,
            },
            Method::Illumination => match name {
                "rt_HitPoint" => Some(self.input("Ps", Vec3)),
                "rt_GeometricNormal" | "rt_ShadingNormal" => Some(self.input("Ns", Vec3)),
                "rt_LightDistance" => Some(self.b.f32(FARTHEST)),
                _ => None,
            },
            Method::ComputeBounds => None,
            _ if method.interface() == Interface::Primitive
                && let Some(value) = self.first_of_primitive(name) =>
            {
                Some(value)
            }
            _ => match name {
                "rt_RayOrigin" => Some(self.input(input::RAY_ORIGIN, Vec3)),
                "rt_RayDirection" => Some(self.input(input::RAY_DIRECTION, Vec3)),
                "rt_InverseRayDirection" => {
                    let direction = self.input(input::RAY_DIRECTION, Vec3);
                    Some(self.b.rcp(direction))
                }
                "rt_HitDistance" => Some(self.input(input::RAY_T, F32)),
                "rt_HitPoint" => Some(self.input("P", Vec3)),
                "rt_TextureUVW" => Some(self.input("uvw", Vec3)),
                "rt_SurfaceColor" => Some(self.input("Cs", Vec3)),
                "rt_SurfaceOpacity" => Some(self.input("Os", Vec3)),
                "rt_GeometricNormal" => Some(self.input("Ng", Vec3)),
                "rt_ShadingNormal" => Some(self.input("N", Vec3)),
                "rt_TextureUV" => {
                    let parts = ["s", "t"].map(|name| self.input(name, F32));
                    Some(self.b.compose(&parts))
                }
                "rt_dPdu" => Some(self.input("dPdu", Vec3)),
                "rt_dPdv" => Some(self.input("dPdv", Vec3)),
                "rt_dsdu" | "rt_dsdv" | "rt_dtdu" | "rt_dtdv" => {
                    let x = self.input(&name[4..5], F32);
                    let by = if name.ends_with('u') { Op::Du } else { Op::Dv };
                    Some(self.b.op(by, &[x]))
                }
                "rt_LightDirection" if matches!(method, Method::Bsdf | Method::EvaluatePdf) => {
                    Some(self.input(input::LIGHT_DIRECTION, Vec3))
                }
                "rt_BSDFSeed" if method == Method::SampleBsdf => {
                    let parts = [input::SEED_X, input::SEED_Y].map(|name| self.input(name, F32));
                    Some(self.b.compose(&parts))
                }
                "rt_BSDFSeed" => {
                    let place = self.input("P", Vec3);
                    let random = self.b.call(library::RANDOM, vec![place], &[Vec3])[0];
                    let parts = [0, 1].map(|i| self.b.extract(random, i));
                    Some(self.b.compose(&parts))
                }
                "rt_du" => Some(self.input("du", F32)),
                "rt_dv" => Some(self.input("dv", F32)),
                _ => None,
            },
        }
    }

    /// The value of a variable when a method of a primitive begins, where that is not what other
    /// methods find: texture coordinates are those of the point in the world, and follow the
    /// surface parameters.
    fn first_of_primitive(&mut self, name: &str) -> Option<Value> {
        Some(match name {
            "rt_TextureUV" => {
                let place = self.input("uvw", ir::Type::Vec3);
                let parts = [0, 1].map(|i| self.b.extract(place, i));
                self.b.compose(&parts)
            }
            "rt_dsdu" | "rt_dtdv" => self.b.f32(1.0),
            "rt_dsdv" | "rt_dtdu" => self.b.f32(0.0),
            "rt_dPdu" | "rt_dPdv" => self.b.constant(Const::zero(ir::Type::Vec3)),
            _ => return None,
        })
    }

    /// Nothing is hit so far, although a hit is known.
    pub(super) fn forget_hit(&mut self) {
        let nothing = self.b.f32(f32::MAX);
        self.set_hit_distance(nothing);
    }

    /// Where a hit was found again, its distance is what it was when it was found first.
    pub(super) fn settle_hit(&mut self) {
        let known = self.input(input::RAY_T, ir::Type::F32);
        self.set_hit_distance(known);
    }

    fn set_hit_distance(&mut self, distance: Value) {
        if let Some(local) = self.state.get("rt_HitDistance").cloned() {
            let distance = self.float_value(distance);
            self.write_local(&local, distance);
        }
    }

    /// The results of a core, from the state in the end.
    pub(super) fn results(&mut self, wanted: &[(&'static str, &'static str)]) -> Vec<Value> {
        let mut results = Vec::new();
        for (_, name) in wanted {
            if let Some(local) = self.state.get(name).cloned() {
                results.extend(self.read_local(&local).parts);
            }
        }
        if let (Some(Method::Illumination), &[direction, _, distance]) = (self.method, &results[..]) {
            // RSL's lights give the way from them: its length is how far they are.
            let farthest = self.b.f32(FARTHEST);
            let distance = self.b.min(distance, farthest);
            let towards = self.b.normalize(direction);
            let from = self.b.neg(towards);
            let wide = self.b.splat(distance, ir::Type::Vec3);
            results[0] = self.b.mul(from, wide);
        }
        results
    }
}
