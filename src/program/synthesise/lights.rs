//! The lights of a scene as functions that surfaces call: `lights.count`, `lights.sample`, `lights.ambient`, `lights.category` and `lights.message.…`.
//!
//! Which lights shine depends on the object (`Illuminate`), so there is one set of functions for each distinct set of lights, told apart by a suffix.

use crate::ir::{Const, Function, FunctionBuilder, Module, Op, Type, Value};
use crate::lang::rsl::{
    LIGHTS_AMBIENT, LIGHTS_CATEGORY, LIGHTS_COUNT, LIGHTS_HAVE_AMBIENT, LIGHTS_MESSAGE, LIGHTS_SAMPLE, LightKind,
    RslType,
};
use crate::lang::stdlib::OPEN_FUNCTION;
use crate::lang::stdlib::sampling::RANDOM_FUNCTION;
use crate::program::collect::instances::{Instance, Outputs, unpack};
use crate::program::layout::area_light_points::POINTS;
use crate::program::layout::memory::ParamBlock;
use crate::program::synthesise::environments;
use crate::program::synthesise::surface_state::{normalize, of_frame};
use crate::program::synthesise::visibility::TRANSMISSION;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What surfaces do to a light on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadows {
    /// Nothing.
    None,
    /// They block it: the caller shoots a ray.
    Opaque,
    /// Each lets through what it does: the light's colour is dimmed already.
    Dimming,
}

/// A light, ready to be called.
#[derive(Clone, Debug)]
pub struct LinkedLight {
    /// Its shader with its parameters.
    pub instance: Arc<Instance>,
    /// How surfaces shadow it.
    pub shadows: Shadows,
    /// Address of its block: its parameters, then the points of [`crate::program::layout::area_light_points`], if it is an area light.
    pub address: u32,
    /// Those points, as vectors of memory.
    pub points: Vec<[u32; 4]>,
    /// Its number among [`crate::program::synthesise::environments`], if it is one that shines.
    pub environment: Option<usize>,
}

impl LinkedLight {
    /// Whether its light comes from somewhere.
    pub fn is_shining(&self) -> bool {
        self.environment.is_some() || self.has_direction()
    }

    /// Whether its shader says where from.
    pub fn has_direction(&self) -> bool {
        self.instance.shader.light != LightKind::Ambient
    }

    /// Whether it says how bright each direction is far away.
    pub fn is_environment(&self) -> bool {
        !self.has_direction() && self.categories().contains(&ENVIRONMENT)
    }

    /// The categories of its shader.
    fn categories(&self) -> BTreeSet<&str> {
        let text = self.instance.texts.iter().find(|(name, _)| name == CATEGORY).map_or("", |(_, text)| text);
        text.split(',').map(str::trim).filter(|c| !c.is_empty()).collect()
    }

    /// Its block.
    pub fn block(&self) -> ParamBlock {
        [&self.instance.block[..], &self.points].concat()
    }
}

/// The names by which cores call lights, before the linker adds the set's suffix; those of [`LightQuestions::messages`] beside them.
pub const LIGHT_FUNCTIONS: [&str; 4] = [LIGHTS_COUNT, LIGHTS_SAMPLE, LIGHTS_AMBIENT, LIGHTS_CATEGORY];

/// The name of the function that looks at a point of a surface that shines ([`crate::program::synthesise::area_lights`]).
pub const AREA: &str = "lights.area";

/// The name of the function that looks at one light, chosen at random ([`crate::program::synthesise::area_lights`]).
pub const DIRECT: &str = "lights.direct";

/// The types of what [`DIRECT`] gives: the direction, what arrives, how far a shadow ray goes, the density.
pub const DIRECT_RESULTS: [Type; 4] = [Type::Vec3, Type::Vec3, Type::F32, Type::F32];

/// The name of the function that tells among how many lights [`DIRECT`] chooses.
pub const CHOICES: &str = "lights.choices";

/// The parameter of a light that names its categories, with commas between them (PRMan).
const CATEGORY: &str = "__category";

/// The category of lights that are environments.
const ENVIRONMENT: &str = "environment";

/// What the shaders of a program ask of lights beside their light.
#[derive(Debug, Default)]
pub struct LightQuestions {
    /// The functions that give a parameter of a light, by their names, with the type of the value.
    pub messages: BTreeMap<Arc<str>, Type>,
    /// Texts that begin with a minus, without it: what a category that is not meant may be called.
    excluded: BTreeSet<Arc<str>>,
}

impl LightQuestions {
    /// Those of a module, whose shaders have these string parameters.
    pub fn of<'a>(module: &Module, texts: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let mut questions = Self::default();
        let mut exclude = |text: &str| questions.excluded.extend(text.strip_prefix('-').map(Arc::from));
        texts.for_each(|text| exclude(text));
        for (f, inst) in
            module.functions.iter().flat_map(|f| f.blocks.iter().flat_map(|b| &b.insts).map(move |i| (f, i)))
        {
            match &inst.op {
                Op::Const(Const::String(text)) => exclude(text),
                Op::Call(name) if name.starts_with(LIGHTS_MESSAGE) => {
                    questions.messages.insert(name.clone(), f.ty(inst.results[1]));
                }
                _ => {}
            }
        }
        questions
    }
}

/// `lights.ambient.there() -> f32`: whether ambient light stands for light that no path brings.
pub fn ambient_there(traces_paths: bool) -> Function {
    let mut b = FunctionBuilder::linker(LIGHTS_HAVE_AMBIENT);
    b.result("return", Type::F32);
    let there = b.f32(if traces_paths { 0.0 } else { 1.0 });
    b.ret(vec![there]);
    b.finish()
}

/// Something that shines from somewhere.
#[derive(Clone, Copy)]
enum Shining<'a> {
    Light(&'a LinkedLight),
    /// All surfaces that shine together, and how surfaces shadow them.
    Area(Shadows),
}

impl<'a> Shining<'a> {
    fn light(self) -> Option<&'a LinkedLight> {
        if let Shining::Light(light) = self { Some(light) } else { None }
    }
}

/// The functions for one set of lights. `area` tells how surfaces that shine are shadowed, if there are any: they come behind the lights.
pub fn light_functions(
    suffix: &str,
    lights: &[&LinkedLight],
    area: Option<Shadows>,
    questions: &LightQuestions,
) -> Vec<Function> {
    let (ambient, shining): (Vec<_>, Vec<_>) = lights.iter().copied().partition(|l| !l.is_shining());
    // Environments come behind those that `lights.direct` asks this function for.
    let (environments, shining): (Vec<_>, Vec<_>) = shining.into_iter().partition(|l| l.environment.is_some());
    let shining = shining.into_iter().chain(environments).map(Shining::Light);
    let shining: Vec<Shining<'_>> = shining.chain(area.map(Shining::Area)).collect();
    let mut functions = vec![
        count(suffix, shining.len()),
        sample(suffix, &shining),
        ambient_sum(suffix, &ambient),
        category(suffix, &shining, &questions.excluded),
    ];
    functions.extend(questions.messages.iter().map(|(name, &ty)| message(suffix, &shining, name, ty)));
    functions
}

fn count(suffix: &str, lights: usize) -> Function {
    let mut b = FunctionBuilder::linker(format!("{LIGHTS_COUNT}{suffix}"));
    b.result("return", Type::U32);
    let n = b.u32(lights as u32);
    b.ret(vec![n]);
    b.finish()
}

fn surface_params(b: &mut FunctionBuilder) -> Place {
    let position = b.param("Ps", Type::Vec3);
    let normal = b.param("Ns", Type::Vec3);
    Place { position, normal }
}

/// Where a light shines on.
#[derive(Clone, Copy)]
struct Place {
    position: Value,
    normal: Value,
}

/// `lights.sample(i, Ps, Ns) -> (L, Cl, t_max)`: a binary search for the light.
fn sample(suffix: &str, lights: &[Shining<'_>]) -> Function {
    let mut b = FunctionBuilder::linker(format!("{LIGHTS_SAMPLE}{suffix}"));
    for (name, ty) in [("L", Type::Vec3), ("Cl", Type::Vec3), ("t_max", Type::F32)] {
        b.result(name, ty);
    }
    let index = b.param("i", Type::U32);
    let place = surface_params(&mut b);
    if lights.is_empty() {
        let zero = b.constant(Const::zero(Type::Vec3));
        let none = b.f32(-1.0);
        b.ret(vec![zero, zero, none]);
    } else {
        for_each_light(&mut b, index, lights.len(), |b, i| match lights[i] {
            Shining::Light(light) => match light.environment {
                Some(number) => sample_environment(b, number, light.shadows, place),
                None => sample_one(b, light, place),
            },
            Shining::Area(shadows) => sample_area(b, shadows, place),
        });
    }
    b.finish()
}

/// Finds light `index` of `count` by a binary search, and returns what `leaf` gives for it.
pub(in crate::program) fn for_each_light(
    b: &mut FunctionBuilder,
    index: Value,
    count: usize,
    mut leaf: impl FnMut(&mut FunctionBuilder, usize) -> Vec<Value>,
) {
    // Ranges still to be told apart, each with the block that does it.
    let mut work = vec![(0, count, b.current())];
    while let Some((low, high, block)) = work.pop() {
        b.switch_to(block);
        if high - low == 1 {
            let results = leaf(b, low);
            b.ret(results);
            continue;
        }
        let middle = low + (high - low) / 2;
        let bound = b.u32(middle as u32);
        let below = b.op(Op::ILt, &[index, bound]);
        let (lower, upper) = (b.block(), b.block());
        b.branch(below, lower, upper);
        b.seal(lower);
        b.seal(upper);
        work.push((middle, high, upper));
        work.push((low, middle, lower));
    }
}

/// `lights.category(i, name) -> bool`: whether `illuminance (name, …)` means light `i`.
fn category(suffix: &str, lights: &[Shining<'_>], excluded: &BTreeSet<Arc<str>>) -> Function {
    let mut b = FunctionBuilder::linker(format!("{LIGHTS_CATEGORY}{suffix}"));
    b.result("return", Type::Bool);
    let index = b.param("i", Type::U32);
    let wanted = b.param("name", Type::String);
    if lights.is_empty() {
        let no = b.constant(Const::Bool(false));
        b.ret(vec![no]);
        return b.finish();
    }
    for_each_light(&mut b, index, lights.len(), |b, i| {
        let own = lights[i].light().map(LinkedLight::categories).unwrap_or_default();
        let others = excluded.iter().filter(|c| !own.contains(&***c)).map(|c| format!("-{c}"));
        let meant = own.iter().map(|c| (*c).to_string()).chain(others);
        let mut result = None;
        for text in std::iter::once(String::new()).chain(meant) {
            let text = b.constant(Const::String(text.into()));
            let equal = b.op(Op::IEq, &[wanted, text]);
            result = Some(result.map_or(equal, |r| b.op(Op::Or, &[r, equal])));
        }
        result.into_iter().collect()
    });
    b.finish()
}

/// `lights.message.T.NAME(i, Ps, Ns) -> (found, value)`: a light's output or parameter of that name and type.
fn message(suffix: &str, lights: &[Shining<'_>], name: &Arc<str>, ty: Type) -> Function {
    let mut b = FunctionBuilder::linker(format!("{name}{suffix}"));
    b.result("found", Type::F32);
    b.result("value", ty);
    let index = b.param("i", Type::U32);
    let place = surface_params(&mut b);
    let question = name.strip_prefix(LIGHTS_MESSAGE).and_then(|rest| rest.split_once('.'));
    let answers: Vec<Option<Answer<'_>>> =
        lights.iter().map(|l| question.and_then(|(letter, name)| Answer::of(l.light()?, letter, name))).collect();
    if answers.iter().all(Option::is_none) {
        let results = vec![b.f32(0.0), b.constant(Const::zero(ty))];
        b.ret(results);
        return b.finish();
    }
    for_each_light(&mut b, index, lights.len(), |b, i| {
        let value = match lights[i].light().zip(answers[i]) {
            Some((light, Answer::Output(name))) => call_for(b, light, place, name),
            Some((light, Answer::Parameter(slot))) => {
                let block = b.constant(Const::Ref(light.address));
                Some(unpack(b, ty, |b, k| b.op(Op::Load(slot + k), &[block])))
            }
            None => None,
        };
        let found = b.f32(if value.is_some() { 1.0 } else { 0.0 });
        vec![found, value.unwrap_or_else(|| b.constant(Const::zero(ty)))]
    });
    b.finish()
}

/// Where a light has the answer to a question.
#[derive(Clone, Copy, Debug)]
enum Answer<'a> {
    /// In the output of that name.
    Output(&'a str),
    /// In the parameter at that place of its block.
    Parameter(u32),
}

impl<'a> Answer<'a> {
    fn of(light: &LinkedLight, letter: &str, name: &'a str) -> Option<Self> {
        let shader = &light.instance.shader;
        let has_output = shader.core_results.iter().any(|r| &*r.name == name);
        // `Ol` is no parameter, and a colour.
        if name == "Ol" {
            return (letter == "c" && has_output).then_some(Answer::Output(name));
        }
        let ty = RslType::DECLARABLE.into_iter().find(|t| letter.chars().eq([t.letter()]))?;
        let (i, _) = shader.asked(ty, name)?;
        if has_output {
            return Some(Answer::Output(name));
        }
        light.instance.slot(i).map(Answer::Parameter)
    }
}

/// Calls one light: `L` towards it, its colour, and how far a shadow ray goes.
fn sample_one(b: &mut FunctionBuilder, light: &LinkedLight, place: Place) -> Vec<Value> {
    let outputs = call(b, light, place);
    let (from_light, color) = (outputs.direction, outputs.color);
    let towards = b.op(Op::Neg, &[from_light]);
    let t_max = match (light.shadows, light.instance.shader.light) {
        (Shadows::None, _) | (_, LightKind::Ambient) => b.f32(-1.0),
        (_, LightKind::Directional) => b.f32(f32::MAX),
        (_, LightKind::Positional) => {
            let length = outputs.distance.unwrap_or_else(|| {
                let square = b.op(Op::Dot, &[towards, towards]);
                b.op(Op::Sqrt, &[square])
            });
            let default = b.op(Op::Uniform(0), &[]);
            let bias = b.op(Op::Extract(0), &[default]);
            b.op(Op::Sub, &[length, bias])
        }
    };
    // Where no light arrives there is nothing to shadow.
    let zero = b.f32(0.0);
    let square = b.op(Op::Dot, &[color, color]);
    let dark = b.op(Op::Eq, &[square, zero]);
    let none = b.f32(-1.0);
    let t_max = b.op(Op::Select, &[dark, none, t_max]);
    if light.shadows != Shadows::Dimming {
        return vec![towards, color, t_max];
    }
    let direction = normalize(b, towards);
    vec![towards, dimmed(b, place, direction, color, t_max), none]
}

/// What is left of a light's colour by what lies on its way, in scenes where surfaces are asked for that.
fn dimmed(b: &mut FunctionBuilder, place: Place, direction: Value, color: Value, t_max: Value) -> Value {
    let default = b.op(Op::Uniform(0), &[]);
    let bias = b.op(Op::Extract(0), &[default]);
    let kind = b.f32(TRANSMISSION.into());
    let through = b.call(OPEN_FUNCTION, vec![place.position, direction, bias, t_max, kind], &[Type::Vec3])[0];
    b.op(Op::Mul, &[color, through])
}

/// Looks at a surface that shines, at a point that the place lit decides on.
fn sample_area(b: &mut FunctionBuilder, shadows: Shadows, place: Place) -> Vec<Value> {
    let random = b.call(RANDOM_FUNCTION, vec![place.position], &[Type::Vec3])[0];
    let [u, v] = [0, 1].map(|i| b.op(Op::Extract(i), &[random]));
    let found = b.call(AREA, vec![place.position, u, v], &DIRECT_RESULTS);
    seen_as_light(b, &found, shadows, place)
}

/// Looks at an environment, in a direction that the place lit decides on.
fn sample_environment(b: &mut FunctionBuilder, number: usize, shadows: Shadows, place: Place) -> Vec<Value> {
    let random = b.call(RANDOM_FUNCTION, vec![place.position], &[Type::Vec3])[0];
    let [u, v] = [1, 2].map(|i| b.op(Op::Extract(i), &[random]));
    let found = b.call(environments::function_name(number), vec![u, v], &DIRECT_RESULTS);
    seen_as_light(b, &found, shadows, place)
}

/// What functions that look at light by solid angle give, as a light gives it.
fn seen_as_light(b: &mut FunctionBuilder, found: &[Value], shadows: Shadows, place: Place) -> Vec<Value> {
    // A white diffuse surface that faces it has its irradiance over π.
    let share = b.f32(std::f32::consts::FRAC_1_PI);
    let color = crate::program::synthesise::surface_state::scale(b, found[1], share);
    let square = b.op(Op::Dot, &[color, color]);
    let (zero, none) = (b.f32(0.0), b.f32(-1.0));
    let dark = b.op(Op::Eq, &[square, zero]);
    let t_max = b.op(Op::Select, &[dark, none, found[2]]);
    match shadows {
        Shadows::Dimming => vec![found[0], dimmed(b, place, found[0], color, t_max), none],
        Shadows::Opaque => vec![found[0], color, t_max],
        Shadows::None => vec![found[0], color, none],
    }
}

/// `lights.ambient(Ps, Ns) -> vec3`: the sum of the lights without a direction.
fn ambient_sum(suffix: &str, lights: &[&LinkedLight]) -> Function {
    let mut b = FunctionBuilder::linker(format!("{LIGHTS_AMBIENT}{suffix}"));
    b.result("return", Type::Vec3);
    let place = surface_params(&mut b);
    let mut sum = None;
    for light in lights {
        let color = call(&mut b, light, place).color;
        sum = Some(sum.map_or(color, |s| b.op(Op::Add, &[s, color])));
    }
    let sum = sum.unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)));
    b.ret(vec![sum]);
    b.finish()
}

/// What a light gives: the way from it, its colour, and how far it is away where that is not the length of the way.
struct Emission {
    direction: Value,
    color: Value,
    distance: Option<Value>,
}

/// Calls a light for one of its outputs.
fn call_for(b: &mut FunctionBuilder, light: &LinkedLight, place: Place, output: &str) -> Option<Value> {
    outputs(b, light, place).get(output)
}

/// Calls a light's core with its parameters from memory and the globals of RISpec 3.2, table 12.2.
fn outputs<'l>(b: &mut FunctionBuilder, light: &'l LinkedLight, place: Place) -> Outputs<'l> {
    let instance = &light.instance;
    let block = b.constant(Const::Ref(light.address));
    instance.call(b, &instance.shader.core, |b, slot, param| match slot {
        Some(slot) => unpack(b, param.ty, |b, k| b.op(Op::Load(slot + k), &[block])),
        None => global(b, light, place, &param.name, param.ty),
    })
}

/// What an environment shows in a direction of length 1.
pub(in crate::program) fn comes_from(b: &mut FunctionBuilder, light: &LinkedLight, direction: Value) -> Value {
    let position = b.constant(Const::zero(Type::Vec3));
    call(b, light, Place { position, normal: direction }).color
}

/// Calls a light for its light.
fn call(b: &mut FunctionBuilder, light: &LinkedLight, place: Place) -> Emission {
    let outputs = outputs(b, light, place);
    let zero = b.constant(Const::zero(Type::Vec3));
    let [direction, color] = ["L", "Cl"].map(|name| outputs.get(name).unwrap_or(zero));
    Emission { direction, color, distance: outputs.get("light.distance") }
}

/// A light's global. `P` is the origin of its shader space and `N` its z axis, as for a light without a surface of its own; those of an area light are a point of its surface and the normal there.
fn global(b: &mut FunctionBuilder, light: &LinkedLight, place: Place, name: &str, ty: Type) -> Value {
    let to_world = light.instance.to_world;
    match name {
        "Ps" => place.position,
        "Ns" => place.normal,
        "P" | "N" | "Ng" if !light.points.is_empty() => emitter(b, light, place, name != "P"),
        "P" => b.constant(Const::Vec3(to_world.w_axis.truncate().to_array())),
        "N" | "Ng" => {
            let axis = b.constant(Const::Vec3(to_world.z_axis.truncate().to_array()));
            normalize(b, axis)
        }
        "E" => {
            let origin = b.op(Op::Uniform(5), &[]);
            crate::program::synthesise::surface_state::xyz(b, origin)
        }
        _ => of_frame(b, name).unwrap_or_else(|| b.constant(Const::zero(ty))),
    }
}

/// The point of an area light's surface that stands for it where it shines on a place, or the normal there: one of its points, at random by the place.
fn emitter(b: &mut FunctionBuilder, light: &LinkedLight, place: Place, normal: bool) -> Value {
    let random = b.call(RANDOM_FUNCTION, vec![place.position], &[Type::Vec3])[0];
    let share = b.op(Op::Extract(0), &[random]);
    let count = b.f32(POINTS as f32);
    let number = b.op(Op::Mul, &[share, count]);
    let number = b.op_as(Op::ToInt, &[number], Type::U32);
    let offset = b.op(Op::IAdd, &[number, number]);
    let first = b.u32(light.address + light.instance.block.len() as u32);
    let address = b.op(Op::IAdd, &[first, offset]);
    let address = b.op_as(Op::Bitcast, &[address], Type::Ref);
    let vector = b.op(Op::Load(u32::from(normal)), &[address]);
    crate::program::synthesise::surface_state::xyz(b, vector)
}
