//! Integrators: the loop over the surfaces that a ray meets, and what a [`Tracer`] does at each
//! event of it (Pérard-Gayot, "Generating Renderers", 2021, §3.2.6).
//!
//! | event | thesis | here |
//! |---|---|---|
//! | a ray starts | `on_emit` | [`Tracer::on_emit`] |
//! | it hits a surface | `on_hit` | [`Tracer::on_hit`], which calls the surface's entry; that has the emission |
//! | it hits nothing | | [`Tracer::on_miss`] |
//! | light is sampled | `on_shadow` | in the surface's entry (`program::synthesize::paths`) |
//! | the path continues | `on_bounce` | [`Tracer::on_bounce`] |
//!
//! The tracer and what a scene lacks are static. Which surface a hit calls is the back end's to find: the
//! RPU calls the address in the object's record, the GPU's scheduler sorts paths by it.

use super::stage::{Flag, Idiom, KernelBuilder};
use shadewright_ir::abi::frame::{Slot, slots};
use shadewright_ir::abi::{Intrinsic, library};
use shadewright_ir::{Function, FunctionBuilder, Op, ShaderCall, Type, Value, Variable};

/// A transmittance that is treated as 0: it is lost in eight bits.
const OPAQUE: f32 = 0.001;
/// Surfaces that a ray passes through at most.
const MAX_LAYERS: f32 = 64.0;
/// The random numbers of a vertex after so many layers are those of another vertex.
const LAYERS_APART: f32 = 1024.0;
/// Russian roulette starts at this bounce.
const ROULETTE_BOUNCE: f32 = 3.0;
/// The greatest probability of survival.
const MAX_SURVIVAL: f32 = 0.95;
/// The least value of `std.__extent` for a non-finite input.
const INFINITE: f32 = 1.5;
/// The kinds of rays that continue a path.
const SPECULAR_RAY: f32 = 1.0;
const DIFFUSE_RAY: f32 = 2.0;
/// In place of a pdf: a direction without one.
const DELTA: f32 = 0.0;
/// In place of a pdf: the path passes through the surface.
pub const PASS_THROUGH: f32 = -1.0;
/// In place of a pdf: the path ends.
pub const END: f32 = -2.0;
/// `Ci` of a matte object for camera rays: a hole in the image as opaque as its `Oi`.
pub const MATTE: f32 = -f32::MAX;

/// The result that is looked for along a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// The colors of surfaces, composited front to back by their opacity.
    Compositing,
    /// The light that paths transport (Kajiya 1986, "The Rendering Equation").
    Paths,
}

/// The parameters that an integrator is generated for. The default holds for every scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The quantity that is looked for.
    pub kind: TransportKind,
    /// True if there are matte objects.
    pub has_mattes: bool,
}

impl Transport {
    /// For every scene.
    pub const fn new(kind: TransportKind) -> Self {
        Self { kind, has_mattes: true }
    }

    /// The function [`library::RADIANCE`]: `(vec3 o, vec3 d, f32 depth, f32 width, f32 spread, f32
    /// kind, f32 start, f32 end, f32 mattes, f32 pixel, f32 index) → (vec3 return, vec3
    /// transmittance, f32 first)`.
    ///
    /// The radiance that arrives at `o` from direction `d`, and the transmittance of everything in
    /// front of the background. Only surfaces between `start` and `end` count; `first` is the
    /// distance of the first one, [`f32::MAX`] if there is none. The ray is a cone (Akenine-Möller
    /// et al. 2019) of diameter `width` at the origin, which grows by `spread` in a unit of length;
    /// `kind` is the kind of the ray. Where `mattes` is 1, matte surfaces hide what is behind them
    /// by their opacity, and add no coverage. `pixel` and `index` identify the sample.
    pub fn function(&self) -> Function {
        let mut b = FunctionBuilder::library(library::RADIANCE);
        let [origin, direction] = ["o", "d"].map(|name| b.param(name, Type::Vec3));
        let floats = ["depth", "width", "spread", "kind", "start", "end", "mattes", "pixel", "index"];
        let [depth, width, spread, kind, start, end, mattes, pixel, index] =
            floats.map(|name| b.param(name, Type::F32));
        b.result("return", Type::Vec3);
        b.result("transmittance", Type::Vec3);
        b.result("first", Type::F32);
        let mut s = KernelBuilder::new(b, Idiom::Select);
        let mattes = match self.has_mattes {
            true => {
                let zero = s.b.f32(0.0);
                let none = s.equal(mattes, zero);
                s.not(none)
            }
            false => Flag::Known(false),
        };
        let given = Given { origin, direction, depth, width, spread, kind, start, end, mattes, pixel, index };
        let results = match self.kind {
            TransportKind::Compositing => radiance(&mut s, &Compositing, &given),
            TransportKind::Paths => radiance(&mut s, &Paths, &given),
        };
        let mut builder = s.into_builder();
        builder.ret(results.to_vec());
        builder.finish()
    }
}

/// The arguments that an integrator is called with.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Where the ray starts, `vec3`.
    pub origin: Value,
    /// The direction of the ray, a `vec3` of length 1.
    pub direction: Value,
    /// The depth of the ray, `f32`.
    pub depth: Value,
    /// The diameter of its cone at the origin, `f32`.
    pub width: Value,
    /// By how much that grows in a unit of length, `f32`.
    pub spread: Value,
    /// The kind of the ray, `f32`.
    pub kind: Value,
    /// Where surfaces begin to count, `f32`.
    pub start: Value,
    /// Where they end, `f32`.
    pub end: Value,
    /// True if matte surfaces hide what is behind them.
    pub mattes: Flag,
    /// The pixel, a whole `f32`.
    pub pixel: Value,
    /// The sample's number there, a whole `f32`.
    pub index: Value,
}

/// The state that every integrator keeps between two rays.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The light so far, `vec3`.
    pub sum: Variable,
    /// By how much light from beyond counts, `vec3`.
    pub throughput: Variable,
    /// The part of the background that is left, `vec3`.
    pub transmittance: Variable,
    /// The distance of the first surface, `f32`.
    pub first: Variable,
    /// The distance beyond which the next surface is looked for, `f32`.
    pub nearest: Variable,
    /// Surfaces passed through, `f32`.
    pub layers: Variable,
    /// True if there is a next ray, `bool`.
    pub continues: Variable,
}

impl Path {
    /// Ends the path.
    pub fn end(&self, s: &mut KernelBuilder) {
        let no = s.b.bool(false);
        s.b.write(self.continues, no);
    }

    fn add(&self, s: &mut KernelBuilder, light: Value) {
        let sum = s.b.read(self.sum);
        let sum = s.b.add(sum, light);
        s.b.write(self.sum, sum);
    }

    /// Continues behind the surface at distance `t`.
    fn pass(&self, s: &mut KernelBuilder, t: Value) {
        s.b.write(self.nearest, t);
        let (layers, one) = (s.b.read(self.layers), s.b.f32(1.0));
        let layers = s.b.add(layers, one);
        s.b.write(self.layers, layers);
    }

    /// Ends the path after [`MAX_LAYERS`], or where `is_dark`.
    fn end_if_dark(&self, s: &mut KernelBuilder, is_dark: Flag) {
        let (layers, most) = (s.b.read(self.layers), s.b.f32(MAX_LAYERS));
        let too_many = s.at_most(most, layers);
        let ends = s.or(is_dark, too_many);
        s.when(ends, |s| self.end(s));
    }
}

/// The actions at the events of a path.
pub trait Tracer {
    /// The state that the tracer keeps between two rays, beside [`Path`].
    type State;
    /// The data that the tracer knows of a ray.
    type Ray;

    /// Starts a path.
    fn start(&self, s: &mut KernelBuilder, given: &Given) -> Self::State;

    /// The parameters of the next ray: origin, direction, and the distance at which it ends. What a
    /// surface needs is computed here, because a call discards the hit, and all paths have
    /// reconverged.
    fn on_emit(&self, s: &mut KernelBuilder, path: &Path, state: &Self::State) -> (Self::Ray, [Value; 3]);

    /// The ray hits nothing.
    fn on_miss(&self, s: &mut KernelBuilder, path: &Path, state: &Self::State, ray: &Self::Ray);

    /// The ray hits a surface at distance `t`.
    fn on_hit(&self, s: &mut KernelBuilder, path: &Path, state: &Self::State, ray: &Self::Ray, t: Value);

    /// After both: whether the path continues, and where.
    fn on_bounce(&self, s: &mut KernelBuilder, path: &Path, state: &Self::State, ray: &Self::Ray, t: Value);

    /// The path has ended.
    fn on_end(&self, s: &mut KernelBuilder, path: &Path, state: &Self::State);
}

/// The integrator of a tracer: radiance, transmittance and the distance of the first surface.
pub fn radiance<T: Tracer>(s: &mut KernelBuilder, tracer: &T, given: &Given) -> [Value; 3] {
    let (black, white) = (s.b.vec3([0.0; 3]), s.b.vec3([1.0; 3]));
    let (far, zero, yes) = (s.b.f32(f32::MAX), s.b.f32(0.0), s.b.bool(true));
    let path = Path {
        sum: s.b.variable_with(black),
        throughput: s.b.variable_with(white),
        transmittance: s.b.variable_with(black),
        first: s.b.variable_with(far),
        nearest: s.b.variable_with(given.start),
        layers: s.b.variable_with(zero),
        continues: s.b.variable_with(yes),
    };
    let state = tracer.start(s, given);
    s.repeat(|s| {
        let (ray, [origin, direction, end]) = tracer.on_emit(s, &path, &state);
        let start = s.b.read(path.nearest);
        let t = trace(s, [origin, direction], [start, end]);
        let zero = s.b.f32(0.0);
        let missed = s.less(t, zero);
        s.choose(missed, |s| tracer.on_miss(s, &path, &state, &ray), |s| tracer.on_hit(s, &path, &state, &ray, t));
        tracer.on_bounce(s, &path, &state, &ray, t);
        Flag::Bool(s.b.read(path.continues))
    });
    tracer.on_end(s, &path, &state);
    [path.sum, path.transmittance, path.first].map(|variable| s.b.read(variable))
}

/// The distance of the closest hit, −1 on a miss.
fn trace(s: &mut KernelBuilder, [origin, direction]: [Value; 2], [start, end]: [Value; 2]) -> Value {
    let zero = s.b.f32(0.0);
    let range = s.b.compose(&[start, end, zero, zero]);
    s.b.trace(origin, direction, range);
    let hit = s.b.hit();
    let t = s.b.extract(hit, 2);
    let (missed, none) = (s.less(t, zero), s.b.f32(-1.0));
    s.select(missed, none, t)
}

/// Calls the surface that was hit.
fn shade(s: &mut KernelBuilder, call: ShaderCall, args: &[Value]) -> Vec<Value> {
    s.b.inst(Op::CallShader(call), args.to_vec(), call.results())
}

/// By how much the background counts: 1 less the coverage of environments.
fn far_transmittance(s: &mut KernelBuilder) -> Value {
    let coverage = s.b.call(Intrinsic::LightFarCoverage, Vec::new(), &[Type::F32])[0];
    let one = s.b.f32(1.0);
    let rest = s.b.sub(one, coverage);
    s.b.splat(rest, Type::Vec3)
}

/// The radiance of environments along a ray that hits nothing.
fn far_light(s: &mut KernelBuilder, direction: Value, pdf: Value) -> Value {
    s.b.call(Intrinsic::LightFar, vec![direction, pdf], &[Type::Vec3])[0]
}

/// A component of a program constant.
fn constant(s: &mut KernelBuilder, slot: Slot) -> Value {
    s.b.frame(slot)
}

/// The largest component of a color.
fn largest(s: &mut KernelBuilder, color: Value) -> Value {
    let [r, g, b] = s.b.first_components(color);
    let most = s.b.max(r, g);
    s.b.max(most, b)
}

fn scaled(s: &mut KernelBuilder, color: Value, by: Value) -> Value {
    s.b.scale(color, by)
}

/// True if a surface is matte, by the color that it gives.
fn is_matte(s: &mut KernelBuilder, given: Flag, color: Value) -> Flag {
    if given == Flag::Known(false) {
        return given;
    }
    let (red, reserved) = (s.b.extract(color, 0), s.b.f32(MATTE));
    let is_reserved = s.equal(red, reserved);
    s.and(given, is_reserved)
}

/// Front to back, from one origin: each surface as far as those before it let it through.
struct Compositing;

/// The state of [`Compositing`].
struct Composited {
    given: Given,
    /// The part that matte surfaces hide, `vec3`.
    matte: Variable,
    /// True if some objects are hidden from some rays.
    is_selective: Flag,
}

impl Tracer for Compositing {
    type State = Composited;
    type Ray = ();

    fn start(&self, s: &mut KernelBuilder, given: &Given) -> Composited {
        let black = s.b.vec3([0.0; 3]);
        let selective = s.b.call(Intrinsic::RaySelective, Vec::new(), &[Type::F32])[0];
        let zero = s.b.f32(0.0);
        Composited { given: *given, matte: s.b.variable_with(black), is_selective: s.less(zero, selective) }
    }

    fn on_emit(&self, _: &mut KernelBuilder, _: &Path, state: &Composited) -> ((), [Value; 3]) {
        let Given { origin, direction, end, .. } = state.given;
        ((), [origin, direction, end])
    }

    fn on_miss(&self, s: &mut KernelBuilder, path: &Path, state: &Composited, (): &()) {
        let (throughput, unsampled) = (s.b.read(path.throughput), s.b.f32(DELTA));
        let light = far_light(s, state.given.direction, unsampled);
        let light = s.b.mul(throughput, light);
        path.add(s, light);
        let rest = far_transmittance(s);
        let throughput = s.b.mul(throughput, rest);
        s.b.write(path.throughput, throughput);
        path.end(s);
    }

    fn on_hit(&self, s: &mut KernelBuilder, path: &Path, state: &Composited, (): &(), t: Value) {
        let Given { origin, direction, depth, width, spread, kind, mattes, .. } = state.given;
        // Before the surface is called: the call discards the hit.
        let is_hidden = hit_is_hidden(s, kind);
        let is_hidden = s.and(state.is_selective, is_hidden);
        let no_pdf = s.b.f32(0.0);
        let cone = s.b.compose(&[width, spread, no_pdf, kind]);
        let shaded = shade(s, ShaderCall::Ray, &[origin, direction, depth, cone]);
        let (color, opacity) = (s.b.variable_with(shaded[0]), shaded[1]);
        let throughput = s.b.read(path.throughput);
        let matte = is_matte(s, mattes, shaded[0]);
        s.when(matte, |s| {
            let (black, hidden) = (s.b.vec3([0.0; 3]), s.b.mul(throughput, opacity));
            s.b.write(color, black);
            let sum = s.b.read(state.matte);
            let sum = s.b.add(sum, hidden);
            s.b.write(state.matte, sum);
        });
        let color = s.b.read(color);
        let seen = s.b.mul(throughput, color);
        path.add(s, seen);
        let white = s.b.vec3([1.0; 3]);
        let rest = s.b.sub(white, opacity);
        let throughput = s.b.mul(throughput, rest);
        s.b.write(path.throughput, throughput);
        path.pass(s, t);
        let is_seen = s.not(is_hidden);
        s.when(is_seen, |s| {
            let first = s.b.read(path.first);
            let first = s.b.min(first, t);
            s.b.write(path.first, first);
        });
        let (most, least) = (largest(s, throughput), s.b.f32(OPAQUE));
        let is_opaque = s.less(most, least);
        s.when(is_opaque, |s| {
            let black = s.b.vec3([0.0; 3]);
            s.b.write(path.throughput, black);
        });
        path.end_if_dark(s, is_opaque);
    }

    fn on_bounce(&self, _: &mut KernelBuilder, _: &Path, _: &Composited, (): &(), _: Value) {}

    fn on_end(&self, s: &mut KernelBuilder, path: &Path, state: &Composited) {
        let (throughput, matte) = (s.b.read(path.throughput), s.b.read(state.matte));
        let left = s.b.add(throughput, matte);
        s.b.write(path.transmittance, left);
    }
}

/// True if rays of a kind do not see the object that was hit.
fn hit_is_hidden(s: &mut KernelBuilder, kind: Value) -> Flag {
    let object = s.b.hit_obj();
    let record = s.b.load(object, 0);
    let [specular, diffuse] = [2, 3].map(|i| s.b.extract(record, i));
    let (diffuse_ray, one) = (s.b.f32(DIFFUSE_RAY), s.b.f32(1.0));
    let is_diffuse = s.equal(kind, diffuse_ray);
    let word = s.select(is_diffuse, diffuse, specular);
    s.equal(word, one)
}

/// The path tracer: a surface is called once at each vertex, for the radiance that leaves it against
/// the ray, which is its emission and the reflection of one sampled light (next-event estimation),
/// and for the sampled direction in which the path continues.
struct Paths;

/// The state of [`Paths`].
struct Traced {
    given: Given,
    from: Variable,
    direction: Variable,
    farthest: Variable,
    bounces: Variable,
    /// The pdf of the direction, or one of the constants in its place.
    pdf: Variable,
    footprint: Variable,
    ray_kind: Variable,
    /// True if there was no bounce, `bool`.
    is_unscattered: Variable,
    /// The last vertex: radiance, weight, next direction and its pdf.
    radiance: Variable,
    weight: Variable,
    next_direction: Variable,
    next_pdf: Variable,
}

impl Tracer for Paths {
    type State = Traced;
    /// Random numbers: two for light sampling, two for BSDF sampling.
    type Ray = [Value; 4];

    fn start(&self, s: &mut KernelBuilder, given: &Given) -> Traced {
        let (delta, end, black, yes) = (s.b.f32(DELTA), s.b.f32(END), s.b.vec3([0.0; 3]), s.b.bool(true));
        Traced {
            given: *given,
            from: s.b.variable_with(given.origin),
            direction: s.b.variable_with(given.direction),
            farthest: s.b.variable_with(given.end),
            bounces: s.b.variable_with(given.depth),
            pdf: s.b.variable_with(delta),
            footprint: s.b.variable_with(given.width),
            ray_kind: s.b.variable_with(given.kind),
            is_unscattered: s.b.variable_with(yes),
            radiance: s.b.variable_with(black),
            weight: s.b.variable_with(black),
            next_direction: s.b.variable_with(black),
            next_pdf: s.b.variable_with(end),
        }
    }

    fn on_emit(&self, s: &mut KernelBuilder, path: &Path, state: &Traced) -> ([Value; 4], [Value; 3]) {
        let (layers, apart, bounces) = (s.b.read(path.layers), s.b.f32(LAYERS_APART), s.b.read(state.bounces));
        let skipped = s.b.mul(apart, layers);
        let vertex = s.b.add(bounces, skipped);
        let Given { pixel, index, .. } = state.given;
        let numbers = s.b.call(library::SOBOL, vec![index, pixel, vertex], &[Type::Vec4])[0];
        let numbers = [0, 1, 2, 3].map(|i| s.b.extract(numbers, i));
        let (black, end) = (s.b.vec3([0.0; 3]), s.b.f32(END));
        s.b.write(state.weight, black);
        s.b.write(state.next_direction, black);
        s.b.write(state.next_pdf, end);
        (numbers, [state.from, state.direction, state.farthest].map(|variable| s.b.read(variable)))
    }

    fn on_miss(&self, s: &mut KernelBuilder, path: &Path, state: &Traced, _: &[Value; 4]) {
        let (direction, pdf) = (s.b.read(state.direction), s.b.read(state.pdf));
        let light = far_light(s, direction, pdf);
        s.b.write(state.radiance, light);
        let is_unscattered = Flag::Bool(s.b.read(state.is_unscattered));
        s.when(is_unscattered, |s| {
            let (throughput, rest) = (s.b.read(path.throughput), far_transmittance(s));
            let left = s.b.mul(throughput, rest);
            s.b.write(path.transmittance, left);
        });
    }

    fn on_hit(&self, s: &mut KernelBuilder, path: &Path, state: &Traced, numbers: &[Value; 4], t: Value) {
        let (layers, zero) = (s.b.read(path.layers), s.b.f32(0.0));
        let (is_nearest, unscattered) = (s.equal(layers, zero), Flag::Bool(s.b.read(state.is_unscattered)));
        let is_first = s.and(unscattered, is_nearest);
        s.when(is_first, |s| s.b.write(path.first, t));
        let [from, direction, bounces, footprint, kind, pdf] =
            [state.from, state.direction, state.bounces, state.footprint, state.ray_kind, state.pdf]
                .map(|v| s.b.read(v));
        let cone = s.b.compose(&[footprint, state.given.spread, pdf, kind]);
        let numbers = s.b.compose(numbers);
        let vertex = shade(s, ShaderCall::Path, &[from, direction, bounces, cone, numbers]);
        let next: [Value; 4] = [0, 1, 2, 3].map(|i| s.b.extract(vertex[2], i));
        let direction = s.b.compose(&[next[0], next[1], next[2]]);
        s.b.write(state.radiance, vertex[0]);
        s.b.write(state.weight, vertex[1]);
        s.b.write(state.next_direction, direction);
        s.b.write(state.next_pdf, next[3]);
        let matte = is_matte(s, state.given.mattes, vertex[0]);
        s.when(matte, |s| {
            let (throughput, black, end) = (s.b.read(path.throughput), s.b.vec3([0.0; 3]), s.b.f32(END));
            s.b.write(path.transmittance, throughput);
            s.b.write(state.radiance, black);
            s.b.write(state.next_pdf, end);
        });
    }

    fn on_bounce(&self, s: &mut KernelBuilder, path: &Path, state: &Traced, numbers: &[Value; 4], t: Value) {
        let [throughput, radiance, weight] = [path.throughput, state.radiance, state.weight].map(|v| s.b.read(v));
        let contribution = s.b.mul(throughput, radiance);
        let contribution = s.b.variable_with(contribution);
        let weighted = s.b.mul(throughput, weight);
        s.b.write(path.throughput, weighted);
        discard_non_finite(s, contribution, path.throughput);
        Self::clamp(s, state, contribution);
        let contribution = s.b.read(contribution);
        path.add(s, contribution);
        let throughput = s.b.read(path.throughput);
        let most = largest(s, throughput);
        let next_pdf = s.b.read(state.next_pdf);
        let through = s.b.f32(PASS_THROUGH);
        let passes = s.equal(next_pdf, through);
        let scatters = s.not(passes);
        Self::roulette(s, path, state, scatters, most, numbers[0]);
        s.choose(
            passes,
            |s| {
                path.pass(s, t);
                let least = s.b.f32(OPAQUE);
                let is_opaque = s.less(most, least);
                path.end_if_dark(s, is_opaque);
            },
            |s| {
                let (end, zero) = (s.b.f32(END), s.b.f32(0.0));
                let (ends, is_lit) = (s.equal(next_pdf, end), s.less(zero, most));
                let is_dark = s.not(is_lit);
                let ends = s.or(ends, is_dark);
                s.choose(ends, |s| path.end(s), |s| scatter(s, path, state, t));
            },
        );
    }

    fn on_end(&self, _: &mut KernelBuilder, _: &Path, _: &Traced) {}
}

impl Paths {
    /// The limit of contributions after the first vertex.
    fn clamp(s: &mut KernelBuilder, state: &Traced, contribution: Variable) {
        let (limit, zero) = (constant(s, slots::CLAMP), s.b.f32(0.0));
        let (has_limit, unscattered) = (s.less(zero, limit), Flag::Bool(s.b.read(state.is_unscattered)));
        let is_scattered = s.not(unscattered);
        let is_clamped = s.and(has_limit, is_scattered);
        s.when(is_clamped, |s| {
            let light = s.b.read(contribution);
            let brightest = largest(s, light);
            let exceeds = s.less(limit, brightest);
            s.when(exceeds, |s| {
                let reciprocal = s.b.rcp(brightest);
                let factor = s.b.mul(limit, reciprocal);
                let dimmed = scaled(s, light, factor);
                s.b.write(contribution, dimmed);
            });
        });
    }

    /// Russian roulette by throughput (Arvo & Kirk 1990).
    fn roulette(s: &mut KernelBuilder, path: &Path, state: &Traced, scatters: Flag, most: Value, number: Value) {
        let (first, bounces) = (s.b.f32(ROULETTE_BOUNCE), s.b.read(state.bounces));
        let is_long = s.at_most(first, bounces);
        let plays = s.and(scatters, is_long);
        s.when(plays, |s| {
            let limit = s.b.f32(MAX_SURVIVAL);
            let survival = s.b.min(most, limit);
            let survives = s.less(number, survival);
            s.choose(
                survives,
                |s| {
                    let reciprocal = s.b.rcp(survival);
                    let throughput = s.b.read(path.throughput);
                    let throughput = scaled(s, throughput, reciprocal);
                    s.b.write(path.throughput, throughput);
                },
                |s| path.end(s),
            );
        });
    }
}

/// One non-finite contribution would fill its pixel and the footprint of the filter: it is
/// discarded. A non-finite throughput ends the path.
fn discard_non_finite(s: &mut KernelBuilder, contribution: Variable, throughput: Variable) {
    let limit = s.b.f32(INFINITE);
    let is_infinite = |s: &mut KernelBuilder, a: Value, b: Value| {
        let extent = s.b.call(library::name("__extent"), vec![a, b], &[Type::F32])[0];
        s.at_most(limit, extent)
    };
    let both = [contribution, throughput].map(|variable| s.b.read(variable));
    let one_is = is_infinite(s, both[0], both[1]);
    s.when(one_is, |s| {
        for variable in [contribution, throughput] {
            let (value, white) = (s.b.read(variable), s.b.vec3([1.0; 3]));
            let is_it = is_infinite(s, value, white);
            s.when(is_it, |s| {
                let black = s.b.vec3([0.0; 3]);
                s.b.write(variable, black);
            });
        }
    });
}

/// The next ray leaves the surface in the sampled direction.
fn scatter(s: &mut KernelBuilder, path: &Path, state: &Traced, t: Value) {
    let [from, direction, footprint, bounces] =
        [state.from, state.direction, state.footprint, state.bounces].map(|variable| s.b.read(variable));
    let wider = s.b.mul(state.given.spread, t);
    let footprint = s.b.add(footprint, wider);
    s.b.write(state.footprint, footprint);
    let length = s.b.splat(t, Type::Vec3);
    let way = s.b.mul(length, direction);
    let from = s.b.add(from, way);
    s.b.write(state.from, from);
    let [next_direction, next_pdf] = [state.next_direction, state.next_pdf].map(|variable| s.b.read(variable));
    s.b.write(state.direction, next_direction);
    s.b.write(state.pdf, next_pdf);
    let (delta, specular, diffuse) = (s.b.f32(DELTA), s.b.f32(SPECULAR_RAY), s.b.f32(DIFFUSE_RAY));
    let is_delta = s.equal(next_pdf, delta);
    let kind = s.select(is_delta, specular, diffuse);
    s.b.write(state.ray_kind, kind);
    let (bias, far, one) = (constant(s, slots::RAY_BIAS), s.b.f32(f32::MAX), s.b.f32(1.0));
    s.b.write(path.nearest, bias);
    s.b.write(state.farthest, far);
    let bounces = s.b.add(bounces, one);
    s.b.write(state.bounces, bounces);
    let no = s.b.bool(false);
    s.b.write(state.is_unscattered, no);
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::abi::EntryPoint;
    use shadewright_ir::eval::{Hit, Limits, World, eval};
    use shadewright_ir::passes::Pipeline;
    use shadewright_ir::{Const, FunctionKind, Module, verify};
    use std::sync::Arc;

    const SURFACE: &str = "surface";

    /// Surfaces at distances 1, 2, … on every ray; `rays` of them hit one, and the others nothing.
    struct Layers {
        rays: u32,
        clamp: f32,
    }

    impl World for Layers {
        fn uniform(&mut self, k: u32) -> [f32; 4] {
            if k == slots::CLAMP.vector { [self.clamp, 0.0, 0.0, 0.0] } else { [0.25, 0.0, 0.0, 0.0] }
        }

        fn trace(&mut self, _: [f32; 3], _: [f32; 3], [start, ..]: [f32; 4]) -> Hit {
            if self.rays == 0 {
                return Hit::MISS;
            }
            self.rays -= 1;
            Hit { uvts: [0.0, 0.0, start.floor() + 1.0, 0.0], ..Hit::MISS }
        }

        fn shader(&mut self, _: &Hit) -> Option<Arc<str>> {
            Some(SURFACE.into())
        }
    }

    /// A function that gives constants.
    fn gives(name: &str, params: &[Type], results: &[Const]) -> Function {
        let mut b = FunctionBuilder::library(name);
        for (i, &ty) in params.iter().enumerate() {
            b.param(format!("p{i}"), ty);
        }
        results.iter().for_each(|r| b.result("r", r.ty()));
        let values = results.iter().map(|r| b.constant(r.clone())).collect();
        b.ret(values);
        b.finish()
    }

    fn gray(x: f32) -> Const {
        Const::Vec3([x; 3])
    }

    /// An integrator with a surface that gives these results, an environment of radiance 2 and
    /// coverage 0.25, and the random number `random`; optimized.
    fn module(transport: Transport, surface: &[Const], random: f32) -> Module {
        use Type::{F32, Vec3, Vec4};
        let takes: &[Type] = match transport.kind {
            TransportKind::Compositing => &[Vec3, Vec3, F32, Vec4],
            TransportKind::Paths => &[Vec3, Vec3, F32, Vec4, Vec4],
        };
        let functions = vec![
            transport.function(),
            gives(SURFACE, takes, surface),
            gives(&Intrinsic::LightFar.name(), &[Vec3, F32], &[gray(2.0)]),
            gives(&Intrinsic::LightFarCoverage.name(), &[], &[Const::F32(0.25)]),
            gives(&Intrinsic::RaySelective.name(), &[], &[Const::F32(0.0)]),
            gives(library::SOBOL, &[F32; 3], &[Const::Vec4([random; 4])]),
            gives(&library::name("__extent"), &[Vec3; 2], &[Const::F32(0.0)]),
        ];
        let mut module = Module { functions, ..Module::new() };
        verify(&module).expect("the rules of the IR hold");
        // The integrator and the surface, which are called by name.
        for function in &mut module.functions[..2] {
            function.kind = FunctionKind::Entry(EntryPoint::Other);
        }
        Pipeline::default().run(&mut module, &mut ()).expect("the passes keep the rules");
        module
    }

    /// Radiance and transmittance, in gray, and the distance of the first surface.
    fn run(module: &Module, rays: u32, clamp: f32, mattes: f32) -> [f32; 3] {
        let floats = [0.0, 0.0, 0.0, 0.0, 0.0, f32::MAX, mattes, 0.0, 0.0];
        let mut args = vec![gray(0.0), Const::Vec3([0.0, 0.0, 1.0])];
        args.extend(floats.map(Const::F32));
        let mut world = Layers { rays, clamp };
        let results = eval(module, library::RADIANCE, &args, &mut world, Limits::default()).expect("it ends");
        [0, 1, 2].map(|i| f32::from_bits(results[i].bits()[0]))
    }

    #[test]
    fn surfaces_are_composited_front_to_back() {
        let transport = Transport::new(TransportKind::Compositing);
        let half = module(transport, &[gray(0.5), gray(0.5)], 0.0);
        let left = 0.125;
        assert_eq!(run(&half, 3, 0.0, 0.0), [0.5 + 0.25 + 0.125 + 2.0 * left, left * 0.75, 1.0]);
        assert_eq!(run(&half, 0, 0.0, 0.0), [2.0, 0.75, f32::MAX]);
        let opaque = module(transport, &[gray(0.5), gray(1.0)], 0.0);
        assert_eq!(run(&opaque, 9, 0.0, 0.0), [0.5, 0.0, 1.0]);
    }

    #[test]
    fn matte_surfaces_hide_and_have_no_coverage() {
        for (kind, surface) in [
            (TransportKind::Compositing, vec![gray(MATTE), gray(1.0)]),
            (TransportKind::Paths, vec![gray(MATTE), gray(1.0), Const::Vec4([0.0, 0.0, 1.0, 1.0])]),
        ] {
            let module = module(Transport::new(kind), &surface, 0.0);
            assert_eq!(run(&module, 1, 0.0, 1.0), [0.0, 1.0, 1.0], "{kind:?}");
        }
    }

    #[test]
    fn a_path_gathers_light_until_it_leaves_or_loses_at_roulette() {
        let scatters = [gray(1.0), gray(0.5), Const::Vec4([0.0, 0.0, 1.0, 1.0])];
        let survives = module(Transport::new(TransportKind::Paths), &scatters, 0.0);
        // From the fourth vertex on, survivors have throughput 1.
        let sum = 1.0 + 0.5 + 0.25 + 0.125 + 1.0;
        assert_eq!(run(&survives, 5, 0.0, 0.0), [sum + 2.0, 0.0, 1.0]);
        let clamped = 1.0 + 0.5 + 0.25 + 0.125 + 0.75 + 0.75;
        assert_eq!(run(&survives, 5, 0.75, 0.0), [clamped, 0.0, 1.0]);
        let loses = module(Transport::new(TransportKind::Paths), &scatters, 0.99);
        assert_eq!(run(&loses, 9, 0.0, 0.0), [1.0 + 0.5 + 0.25 + 0.125, 0.0, 1.0]);
    }

    #[test]
    fn a_path_ends_where_the_surface_says_so_and_passes_through_others() {
        let ends = [gray(1.0), gray(0.0), Const::Vec4([0.0, 0.0, 0.0, END])];
        assert_eq!(run(&module(Transport::new(TransportKind::Paths), &ends, 0.0), 9, 0.0, 0.0), [1.0, 0.0, 1.0]);
        let passes = [gray(0.0), gray(0.5), Const::Vec4([0.0, 0.0, 1.0, PASS_THROUGH])];
        let module = module(Transport::new(TransportKind::Paths), &passes, 0.0);
        assert_eq!(run(&module, 2, 0.0, 0.0), [0.5, 0.25 * 0.75, 1.0]);
        // After so many layers nothing is seen.
        assert_eq!(run(&module, 99, 0.0, 0.0), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn what_a_scene_lacks_leaves_no_code() {
        for (kind, surface) in [
            (TransportKind::Compositing, vec![gray(0.5), gray(0.5)]),
            (TransportKind::Paths, vec![gray(1.0), gray(0.5), Const::Vec4([0.0, 0.0, 1.0, 1.0])]),
        ] {
            let constants = |has_mattes| {
                let function = Transport { kind, has_mattes }.function();
                let insts = function.blocks.into_iter().flat_map(|b| b.insts);
                insts.filter(|inst| inst.op == Op::Const(Const::F32(MATTE))).count()
            };
            assert_eq!((constants(true), constants(false)), (1, 0));
            let [with, without] = [true, false]
                .map(|has_mattes| run(&module(Transport { kind, has_mattes }, &surface, 0.0), 3, 0.0, 0.0));
            assert_eq!(with, without);
        }
    }
}
