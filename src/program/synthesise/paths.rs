//! Surfaces in programs that trace paths: what they send along a ray, and how the path goes on.
//!
//! There `ray.z` tells a surface entry how densely directions like the ray's are chosen, times the number of choices among lights that the place before it had (0 where light takes the direction only exactly), and a fifth parameter, `numbers`, four numbers
//! at random: two by which it looks at a light, two that choose the next direction. It gives `(sent, counts, next)`: the light that leaves the surface against the ray, by how much light that arrives from
//! `next.xyz` counts, and the density of that direction in `next.w`, or one of the words of `lang/stdlib/path.sl`. What a surface that only shades does is [`crate::program::synthesise::entries::surface`]'s, under another name: light goes straight on behind it
//! as far as it is not opaque.
//!
//! Estimators are those of Veach 1997, "Robust Monte Carlo Methods for Light Transport Simulation", chapter 9.

use crate::abi::EntryPoint;
use crate::ir::passes::Pipeline;
use crate::ir::{Const, Function, FunctionBuilder, FunctionKind, Module, Op, ShaderCall, Terminator, Type, Value};
use crate::lang::stdlib::OPEN_FUNCTION;
use crate::program::collect::instances::Instance;
use crate::program::layout::memory::RecordLayout;
use crate::program::synthesise::area_lights::{AreaLights, Spread};
use crate::program::synthesise::entries::{self, Light, SurfaceVariant, at_a_hit};
use crate::program::synthesise::gather_outputs::Questions;
use crate::program::synthesise::lights::{DIRECT, DIRECT_RESULTS};
use crate::program::synthesise::surface_state::{SurfaceInputs, SurfaceState, normalize, scale};
use crate::program::synthesise::visibility::{self, TRANSMISSION};
use crate::scene::Estimator;
use std::sync::Arc;

/// The density of a ray that goes on as it was (`lang/stdlib/path.sl`).
const STRAIGHT_ON: f32 = -1.0;
/// The density of a path that ends.
const NOWHERE: f32 = -2.0;

/// What a class says of a surface beside how it is shaded.
#[derive(Clone, Debug, Default)]
pub struct Methods {
    /// How it scatters light.
    pub scattering: Option<Scattering>,
    /// `emission`.
    pub emission: Option<Arc<Instance>>,
    /// `opacity`.
    pub opacity: Option<Arc<Instance>>,
}

/// The methods of a material by which paths go on.
#[derive(Clone, Debug)]
pub struct Scattering {
    /// `BSDF`.
    pub value: Arc<Instance>,
    /// `sampleBSDF`.
    pub sample: Arc<Instance>,
    /// `evaluatePDF`.
    pub density: Arc<Instance>,
}

impl Methods {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.of_scattering().chain(&self.emission).chain(&self.opacity)
    }

    /// Those that are asked again and again at one place.
    pub fn at_one_place(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.of_scattering().chain(self.opacity.iter().filter(|_| self.scattering.is_some()))
    }

    fn of_scattering(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.scattering.iter().flat_map(|s| [&s.value, &s.sample, &s.density])
    }
}

/// Whether an `emission` gives nothing anywhere, as that of a base class may: what its parameters are is known.
pub fn is_black(emission: &Instance) -> bool {
    is_always(emission, "emission", Const::zero(Type::Vec3))
}

/// Whether an `opacity` lets no light through anywhere.
pub fn is_opaque(opacity: &Instance) -> bool {
    is_always(opacity, "opacity", Const::Vec3([1.0; 3]))
}

/// Whether a method gives one colour everywhere.
fn is_always(method: &Instance, output: &str, color: Const) -> bool {
    let shader = &method.shader;
    let mut b = FunctionBuilder::new("method", FunctionKind::Entry(EntryPoint::Other));
    b.result("color", Type::Vec3);
    let outputs = method.call(&mut b, &shader.core, |b, slot, param| match slot {
        Some(slot) => entries::constant_parameter(b, method, slot, param.ty),
        None => b.param(param.name.clone(), param.ty),
    });
    let Some(found) = outputs.get(output) else { return true };
    b.ret(vec![found]);
    let mut module = shader.unit().clone();
    module.functions.push(b.finish());
    if Pipeline::default().run(&mut module, &mut ()).is_err() {
        return false;
    }
    let Some(entry) = module.function("method") else { return false };
    let constants = entry.blocks.iter().flat_map(|block| &block.insts);
    let same: Vec<Value> =
        constants.filter(|i| i.op == Op::Const(color.clone())).filter_map(|i| i.results.first().copied()).collect();
    entry.blocks.iter().all(|block| match &block.term {
        Terminator::Return(values) => values.iter().all(|v| same.contains(v)),
        _ => true,
    })
}

/// How a program's paths are estimated.
#[derive(Clone, Copy, Debug)]
pub struct Paths<'a> {
    /// Which directions count how much.
    pub estimator: Estimator,
    /// The surfaces that shine.
    pub area_lights: &'a AreaLights,
    /// Whether rays ask surfaces how much light they let through.
    pub selective: bool,
}

/// What the surface's own code is called where paths are traced.
fn shading_name(number: usize) -> String {
    format!("shade.{number}")
}

/// Makes every `call_shader` that passes no numbers pass some that tell nothing: rays that ask surfaces for their opacity.
pub fn widen_calls(module: &mut Module) {
    for f in &mut module.functions {
        for block in 0..f.blocks.len() {
            let insts = std::mem::take(&mut f.blocks[block].insts);
            let mut out = Vec::with_capacity(insts.len());
            for mut inst in insts {
                if inst.op == Op::CallShader(ShaderCall::Ray) {
                    inst.op = Op::CallShader(ShaderCall::Path);
                    let nothing = f.new_value(Type::Vec4);
                    let op = Op::Const(Const::zero(Type::Vec4));
                    out.push(crate::ir::Inst { op, args: Vec::new(), results: vec![nothing], loc: inst.loc });
                    inst.args.push(nothing);
                    inst.results.push(f.new_value(Type::Vec4));
                }
                out.push(inst);
            }
            f.blocks[block].insts = out;
        }
    }
}

/// `@surface.N(orig, dir, depth, ray, numbers) -> (sent, counts, next)` and the function that it calls to be shaded.
pub fn surface(
    number: usize,
    variant: &SurfaceVariant,
    set: &str,
    questions: &Questions,
    differentiated: bool,
    paths: Paths<'_>,
) -> Vec<Function> {
    let is_only_asked = variant.methods.scattering.is_some() && questions.is_empty();
    let light = if is_only_asked { Light::Nothing } else { Light::Reflected };
    let mut shading = entries::surface_with(number, variant, questions, differentiated, light);
    shading.name = shading_name(number).into();
    shading.kind = FunctionKind::Function;
    let (mut b, given) = at_a_hit(EntryPoint::Surface(number as u32), variant, differentiated);
    let numbers = b.param("numbers", Type::Vec4);
    b.result("sent", Type::Vec3);
    b.result("counts", Type::Vec3);
    b.result("next", Type::Vec4);
    let mut place = Place { b: &mut b, given, numbers, number, variant, set, paths };
    place.pass_unseen();
    match &variant.methods.scattering {
        Some(scattering) => {
            if paths.selective || !questions.is_empty() {
                place.answer_questions();
            }
            place.scatter(scattering);
        }
        None => place.shade(),
    }
    vec![shading, b.finish()]
}

/// An entry that is being written.
struct Place<'a> {
    b: &'a mut FunctionBuilder,
    given: SurfaceInputs,
    numbers: Value,
    number: usize,
    variant: &'a SurfaceVariant,
    /// What names of functions for the object's surroundings end with.
    set: &'a str,
    paths: Paths<'a>,
}

impl Place<'_> {
    fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.b.op(op, args)
    }

    fn black(&mut self) -> Value {
        self.b.constant(Const::zero(Type::Vec3))
    }

    fn largest(&mut self, color: Value) -> Value {
        let [r, g, b] = [0, 1, 2].map(|i| self.b.op(Op::Extract(i), &[color]));
        let most = self.op(Op::Max, &[r, g]);
        self.op(Op::Max, &[most, b])
    }

    /// `next`: a direction and its density.
    fn next(&mut self, direction: Value, density: Value) -> Value {
        let [x, y, z] = [0, 1, 2].map(|i| self.b.op(Op::Extract(i), &[direction]));
        self.op(Op::Compose, &[x, y, z, density])
    }

    /// Goes on where a condition holds; else the entry returns what `otherwise` gives.
    fn unless(&mut self, condition: Value, otherwise: impl FnOnce(&mut Self) -> Vec<Value>) {
        let (go_on, end) = (self.b.block(), self.b.block());
        self.b.branch(condition, end, go_on);
        self.b.seal(end);
        self.b.seal(go_on);
        self.b.switch_to(end);
        let results = otherwise(self);
        self.b.ret(results);
        self.b.switch_to(go_on);
    }

    /// Returns `sent` and lets light go straight on.
    fn straight_on(&mut self, sent: Value, counts: Value) -> Vec<Value> {
        let density = self.b.f32(STRAIGHT_ON);
        let next = self.next(self.given.direction, density);
        vec![sent, counts, next]
    }

    /// Rays that do not see the object go on.
    fn pass_unseen(&mut self) {
        let seen = self.variant.seen;
        for (kind, is_seen) in (visibility::CAMERA..).zip([seen.camera, seen.specular, seen.diffuse]) {
            if !is_seen {
                let is_kind = visibility::is_of_kind(self.b, self.given.ray, kind);
                self.unless(is_kind, |place| {
                    let (sent, counts) = (place.black(), place.b.constant(Const::Vec3([1.0; 3])));
                    place.straight_on(sent, counts)
                });
            }
        }
    }

    /// What the object's own code gives.
    fn shaded(&mut self) -> [Value; 2] {
        let SurfaceInputs { origin, direction, depth, ray, .. } = self.given;
        let results =
            self.b.call(shading_name(self.number), vec![origin, direction, depth, ray], &[Type::Vec3, Type::Vec3]);
        [results[0], results[1]]
    }

    /// Rays of kinds behind those that bring light ask how much there is of the surface: they get what the object's own code answers, its opacity in the place of what counts.
    fn answer_questions(&mut self) {
        let kind = self.op(Op::Extract(3), &[self.given.ray]);
        let last = self.b.f32(f32::from(visibility::DIFFUSE));
        let asks = self.op(Op::Lt, &[last, kind]);
        self.unless(asks, |place| {
            let [sent, opacity] = place.shaded();
            vec![sent, opacity, place.b.constant(Const::zero(Type::Vec4))]
        });
    }

    /// A surface without a BSDF: what its shader gives, and its own light.
    fn shade(&mut self) {
        let mut state = SurfaceState::new(self.b, self.given.clone());
        let mut own = self.emitted(&mut state);
        if let (Some(light), Some(opacity)) = (own, &self.variant.methods.opacity) {
            let opacity = opacity_at(self.b, &mut state, &self.variant.layout, opacity);
            own = Some(self.op(Op::Mul, &[light, opacity]));
        }
        let [sent, opacity] = self.shaded();
        let one = self.b.constant(Const::Vec3([1.0; 3]));
        let open = self.op(Op::Sub, &[one, opacity]);
        let sent = match own {
            Some(own) => self.op(Op::Add, &[own, sent]),
            None => sent,
        };
        let results = self.straight_on(sent, open);
        self.b.ret(results);
    }

    /// The light that the surface sends itself, as far as the ray that found it counts for it.
    fn emitted(&mut self, state: &mut SurfaceState) -> Option<Value> {
        let emission = self.variant.methods.emission.as_ref()?;
        let own = emission_at(self.b, state, &self.variant.layout, emission);
        let Some(spread) = self.paths.area_lights.spread(self.number) else { return Some(own) };
        let density = self.op(Op::Extract(2), &[self.given.ray]);
        let zero = self.b.f32(0.0);
        let exact = self.op(Op::Le, &[density, zero]);
        let weight = match self.paths.estimator {
            Estimator::Scattering => return Some(own),
            Estimator::Lights => zero,
            Estimator::Power | Estimator::Balance => {
                let of_light = match spread {
                    Spread::Even(area) => {
                        let t = state.global(self.b, "ray.t")?;
                        let normal = state.global(self.b, "Ng")?;
                        self.density_of_light(t, normal, area)
                    }
                    Spread::OfProgram => state.density_of_points(self.b)?,
                };
                weight(self.b, self.paths.estimator, density, of_light)
            }
        };
        let one = self.b.f32(1.0);
        let weight = self.op(Op::Select, &[exact, one, weight]);
        Some(scale(self.b, own, weight))
    }

    /// How densely points of area lights lie in the direction of a point that is `t` away: `t² / (|cos| · area)`.
    fn density_of_light(&mut self, t: Value, normal: Value, area: f32) -> Value {
        let cosine = self.op(Op::Dot, &[self.given.direction, normal]);
        let cosine = self.op(Op::Abs, &[cosine]);
        let area = self.b.f32(area);
        let seen = self.op(Op::Mul, &[cosine, area]);
        let least = self.b.f32(f32::MIN_POSITIVE);
        let seen = self.op(Op::Max, &[seen, least]);
        let reciprocal = self.op(Op::Rcp, &[seen]);
        let square = self.op(Op::Mul, &[t, t]);
        self.op(Op::Mul, &[square, reciprocal])
    }

    /// A surface with a BSDF.
    fn scatter(&mut self, scattering: &Scattering) {
        let mut state = SurfaceState::new(self.b, self.given.clone());
        let own = match self.emitted(&mut state) {
            Some(own) => own,
            None => self.black(),
        };
        let mut numbers = [0, 1, 2, 3].map(|i| self.b.op(Op::Extract(i), &[self.numbers]));
        let covers = self.covers(&mut state, &mut numbers[2]);
        let own = self.covered(own, covers);
        let options = self.op(Op::Uniform(6), &[]);
        let limit = self.op(Op::Extract(3), &[options]);
        let is_last = self.op(Op::Le, &[limit, self.given.depth]);
        let [position, normal] = ["P", "N"].map(|name| {
            let value = state.global(self.b, name);
            value.unwrap_or_else(|| self.b.constant(Const::zero(Type::Vec3)))
        });
        // All that the methods read is read here: a ray loses the hit.
        let value = self.arguments(&mut state, &scattering.value);
        let density = self.arguments(&mut state, &scattering.density);
        let sample = self.arguments(&mut state, &scattering.sample);
        let around = Around { value, density };
        if let Some(Covers { is_passed, open, .. }) = covers {
            self.unless(is_passed, |place| {
                let nothing = place.black();
                place.straight_on(nothing, open)
            });
        }
        self.unless(is_last, |place| {
            let nothing = place.black();
            let nowhere = place.b.f32(NOWHERE);
            let next = place.next(nothing, nowhere);
            vec![own, nothing, next]
        });
        let choices = self.b.call(
            format!("{}{}", crate::program::synthesise::lights::CHOICES, self.set),
            Vec::new(),
            &[Type::F32],
        )[0];
        let direct = self.direct(scattering, &around, [position, normal], &numbers, choices);

        let (counts, next) = self.sampled(scattering, &around, sample, &numbers, choices);

        let open = self.open(position, &direct);
        let lit = self.op(Op::Mul, &[direct.light, open]);
        let lit = self.covered(lit, covers);
        let counts = self.covered(counts, covers);
        let sent = self.op(Op::Add, &[own, lit]);
        self.b.ret(vec![sent, counts, next]);
    }

    /// Chance decides by how much a surface covers whether the ray passes it, if its class says how much that is: by a number at random, of which what lies below the chance becomes one again.
    fn covers(&mut self, state: &mut SurfaceState, number: &mut Value) -> Option<Covers> {
        let opacity = self.variant.methods.opacity.as_ref()?;
        let opacity = opacity_at(self.b, state, &self.variant.layout, opacity);
        let chance = self.largest(opacity);
        let is_met = self.op(Op::Lt, &[*number, chance]);
        let is_passed = self.op(Op::Not, &[is_met]);
        let reciprocal = self.op(Op::Rcp, &[chance]);
        let (rest, last) = (self.op(Op::Mul, &[*number, reciprocal]), self.b.f32(1.0f32.next_down()));
        *number = self.op(Op::Min, &[rest, last]);
        let share = scale(self.b, opacity, reciprocal);
        let (one, white) = (self.b.f32(1.0), self.b.constant(Const::Vec3([1.0; 3])));
        let open = self.op(Op::Sub, &[white, opacity]);
        let rest = self.op(Op::Sub, &[one, chance]);
        let reciprocal = self.op(Op::Rcp, &[rest]);
        let open = scale(self.b, open, reciprocal);
        Some(Covers { is_passed, share, open })
    }

    /// Light of a surface, as far as that covers what lies behind it.
    fn covered(&mut self, light: Value, covers: Option<Covers>) -> Value {
        match covers {
            Some(Covers { share, .. }) => self.op(Op::Mul, &[light, share]),
            None => light,
        }
    }

    /// The arguments of a method's core at the hit; those that are not known there are zero.
    fn arguments(&mut self, state: &mut SurfaceState, instance: &Instance) -> Vec<Value> {
        entries::inputs(self.b, state, &self.variant.layout, instance, 0)
    }

    /// What the BSDF and its density are for a direction: the BSDF times the cosine, and the density.
    fn evaluate(&mut self, scattering: &Scattering, around: &Around, direction: Value) -> [Value; 2] {
        let with = |instance: &Instance, args: &[Value]| with_input(instance, args, "light.direction", direction);
        let args = with(&scattering.value, &around.value);
        let outputs = scattering.value.call_with(self.b, &scattering.value.shader.core, args);
        let nothing = self.b.constant(Const::zero(Type::Vec3));
        let [value, normal] = ["value", "normal"].map(|name| outputs.get(name).unwrap_or(nothing));
        let args = with(&scattering.density, &around.density);
        let outputs = scattering.density.call_with(self.b, &scattering.density.shader.core, args);
        let density = outputs.get("pdf").unwrap_or_else(|| self.b.f32(0.0));
        let normal = normalize(self.b, normal);
        let cosine = self.op(Op::Dot, &[normal, direction]);
        let cosine = self.op(Op::Abs, &[cosine]);
        [scale(self.b, value, cosine), density]
    }

    /// Looks at one of the lights.
    fn direct(
        &mut self,
        scattering: &Scattering,
        around: &Around,
        [position, normal]: [Value; 2],
        numbers: &[Value; 4],
        choices: Value,
    ) -> Direct {
        let args = vec![position, normal, numbers[0], numbers[1]];
        let found = self.b.call(format!("{DIRECT}{}", self.set), args, &DIRECT_RESULTS);
        let [direction, light, reach, density] = [found[0], found[1], found[2], found[3]];
        let [value, of_material] = self.evaluate(scattering, around, direction);
        let zero = self.b.f32(0.0);
        let is_point = self.op(Op::Le, &[density, zero]);
        let weight = match self.paths.estimator {
            Estimator::Lights => self.b.f32(1.0),
            Estimator::Scattering => zero,
            Estimator::Power | Estimator::Balance => {
                let other = self.op(Op::Mul, &[of_material, choices]);
                weight(self.b, self.paths.estimator, density, other)
            }
        };
        let one = self.b.f32(1.0);
        let weight = self.op(Op::Select, &[is_point, one, weight]);
        let light = self.op(Op::Mul, &[value, light]);
        Direct { direction, reach, light: scale(self.b, light, weight) }
    }

    /// Draws the direction in which the path goes on: by how much it counts, and `next`.
    fn sampled(
        &mut self,
        scattering: &Scattering,
        around: &Around,
        args: Vec<Value>,
        numbers: &[Value; 4],
        choices: Value,
    ) -> (Value, Value) {
        let args = with_input(&scattering.sample, &args, "seed.x", numbers[2]);
        let args = with_input(&scattering.sample, &args, "seed.y", numbers[3]);
        let outputs = scattering.sample.call_with(self.b, &scattering.sample.shader.core, args);
        let nothing = self.black();
        let [direction, exactly] = ["direction", "value"].map(|name| outputs.get(name).unwrap_or(nothing));
        // A direction of no length is none: the path ends.
        let square = self.op(Op::Dot, &[direction, direction]);
        let zero = self.b.f32(0.0);
        let is_direction = self.op(Op::Lt, &[zero, square]);
        let direction = normalize(self.b, direction);
        let [value, density] = self.evaluate(scattering, around, direction);
        let is_possible = self.op(Op::Lt, &[zero, density]);
        let is_possible = self.op(Op::And, &[is_possible, is_direction]);
        let reciprocal = self.op(Op::Rcp, &[density]);
        let counts = scale(self.b, value, reciprocal);
        let counts = self.op(Op::Select, &[is_possible, counts, nothing]);
        let brightest = self.largest(exactly);
        let is_exact = self.op(Op::Lt, &[zero, brightest]);
        let counts = self.op(Op::Select, &[is_exact, exactly, counts]);
        let density = self.op(Op::Mul, &[density, choices]);
        let nowhere = self.b.f32(NOWHERE);
        let density = self.op(Op::Select, &[is_possible, density, nowhere]);
        let density = self.op(Op::Select, &[is_exact, zero, density]);
        let next = self.next(direction, density);
        (counts, next)
    }

    /// How much of a light arrives.
    fn open(&mut self, position: Value, direct: &Direct) -> Value {
        let one = self.b.constant(Const::Vec3([1.0; 3]));
        let open = self.b.variable(Type::Vec3);
        self.b.write(open, one);
        let zero = self.b.f32(0.0);
        let brightest = self.largest(direct.light);
        let is_bright = self.op(Op::Lt, &[zero, brightest]);
        let is_far = self.op(Op::Lt, &[zero, direct.reach]);
        let asks = self.op(Op::And, &[is_bright, is_far]);
        let (shoot, end) = (self.b.block(), self.b.block());
        self.b.branch(asks, shoot, end);
        self.b.seal(shoot);
        self.b.switch_to(shoot);
        let default = self.op(Op::Uniform(0), &[]);
        let bias = self.op(Op::Extract(0), &[default]);
        let arrives = if self.paths.selective {
            let kind = self.b.f32(TRANSMISSION.into());
            let args = vec![position, direct.direction, bias, direct.reach, kind];
            self.b.call(OPEN_FUNCTION, args, &[Type::Vec3])[0]
        } else {
            let ray = self.op(Op::Compose, &[bias, direct.reach, zero, zero]);
            let blocked = self.op(Op::Occluded, &[position, direct.direction, ray]);
            let black = self.black();
            self.op(Op::Select, &[blocked, black, one])
        };
        self.b.write(open, arrives);
        self.b.jump(end, Vec::new());
        self.b.seal(end);
        self.b.switch_to(end);
        self.b.read(open)
    }
}

/// How a surface covers what lies behind it.
#[derive(Clone, Copy)]
struct Covers {
    /// Whether the ray goes on as if nothing was there.
    is_passed: Value,
    /// By how much the surface's light counts where it does not.
    share: Value,
    /// By how much light from behind counts where it does.
    open: Value,
}

/// The arguments of a material's methods at a place, but for directions.
struct Around {
    value: Vec<Value>,
    density: Vec<Value>,
}

/// A light that was looked at.
struct Direct {
    /// Towards it.
    direction: Value,
    /// How far a shadow ray goes.
    reach: Value,
    /// What the surface makes of its light if nothing stands in the way.
    light: Value,
}

/// How much a sample counts that was drawn with the first density and could have been drawn with the other.
pub fn weight(b: &mut FunctionBuilder, estimator: Estimator, own: Value, other: Value) -> Value {
    let zero = b.f32(0.0);
    let own_is_none = b.op(Op::Le, &[own, zero]);
    // The quotient first: squares of densities may leave the range of numbers.
    let reciprocal = b.op(Op::Rcp, &[own]);
    let mut quotient = b.op(Op::Mul, &[other, reciprocal]);
    if estimator == Estimator::Power {
        quotient = b.op(Op::Mul, &[quotient, quotient]);
    }
    let one = b.f32(1.0);
    let sum = b.op(Op::Add, &[one, quotient]);
    let weight = b.op(Op::Rcp, &[sum]);
    b.op(Op::Select, &[own_is_none, zero, weight])
}

/// The arguments with another value for the input of that name, if the core has it.
fn with_input(instance: &Instance, args: &[Value], name: &str, value: Value) -> Vec<Value> {
    let params = &instance.shader.core_params;
    args.iter().zip(params).map(|(&arg, param)| if *param.name == *name { value } else { arg }).collect()
}

/// How much a surface covers of what lies behind it, at a state: from 0 to 1 in each colour.
pub fn opacity_at(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    layout: &RecordLayout,
    opacity: &Instance,
) -> Value {
    let args = entries::inputs(b, state, layout, opacity, 0);
    let outputs = opacity.call_with(b, &opacity.shader.core, args);
    let white = b.constant(Const::Vec3([1.0; 3]));
    let opacity = outputs.get("opacity").unwrap_or(white);
    b.op(Op::Sat, &[opacity])
}

/// The light that a surface sends itself, at a state.
pub fn emission_at(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    layout: &RecordLayout,
    emission: &Instance,
) -> Value {
    let args = entries::inputs(b, state, layout, emission, 0);
    let outputs = emission.call_with(b, &emission.shader.core, args);
    outputs.get("emission").unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)))
}
