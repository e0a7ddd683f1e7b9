//! The scene's program with one more surface, which stands for every surface that a ray hits: the
//! color it returns is the tracer's answer.
//!
//! Shaders are compiled as they are. A ray that asks for a color calls the surface that it hits,
//! by the number that the tracer gives; a tracer that gives the number of the probe gives the
//! color itself. The probe first sends the tracer what it was called with, as a ray with a
//! distance that no other has, so that the tracer knows what the ray before it was for.

use super::{BACKEND, lookups};
use glam::Vec3;
use shadewright_ir::abi::EntryPoint;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::{Const, Function, FunctionBuilder, Module, ShaderCall, Type};
use shadewright_program::surface_entry;
use shadewright_render::rpu::Loaded;
use shadewright_render::{Job, RenderError};
use shadewright_rpu::engine::default_engine;

/// The distance at which the probe's own rays start.
const MARK: f32 = -6.5e33;
/// The words of an object's record for rays of `transmission` and of `occlusion`, where its surface
/// is asked for the opacity: see `program::synthesize::visibility`.
const SHADED: f32 = 2.0;
/// The kind of rays of `occlusion`.
const OCCLUSION: f32 = 5.0;

/// A program with the probe.
#[derive(Debug)]
pub struct Probe {
    /// The functions of the program.
    pub module: Module,
    /// The same, compiled.
    pub loaded: Loaded,
    /// The shading data, with the records of the probe's objects.
    pub vectors: Vec<[u32; 4]>,
    /// The number of the probe among the surface entries.
    pub surface: u32,
    /// The addresses of the records of two objects, which every ray sees: one that nothing is seen
    /// through, and one that is not seen itself.
    pub objects: [u32; 2],
    /// The greatest depth of rays that ask for a color; shadow rays that ask a surface for its
    /// opacity are one deeper.
    pub deepest: f32,
}

/// The data of the ray that a surface was called with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Called {
    /// The depth of the ray.
    pub depth: f32,
    /// The diameter of its cone at the origin, and by how much that grows in a unit of length.
    pub cone: [f32; 2],
    /// The kind of the ray.
    pub kind: f32,
}

impl Called {
    /// The data that the probe was called with, if a ray is its own.
    pub fn by(ray: &shadewright_bvh::Ray) -> Option<Self> {
        (ray.t_min == MARK).then_some(Self { depth: ray.origin.x, cone: [ray.origin.y, ray.origin.z], kind: ray.dir.y })
    }
}

impl Probe {
    /// That of a job.
    ///
    /// # Errors
    /// When the program cannot be compiled for the RPU, or traces paths: where a path goes depends
    /// on what it has found.
    pub fn new(job: &Job) -> Result<Self, RenderError> {
        let program = &job.program;
        let surface = program.surface_entries;
        let first = program.module.function(&surface_entry(0));
        let call = match first.map_or(ShaderCall::RAY + 1, |f| f.params.len()) {
            n if n <= ShaderCall::RAY => ShaderCall::Plain,
            n if n == ShaderCall::RAY + 1 => ShaderCall::Ray,
            _ => {
                let reason = "the path integrator's next ray depends on the result of the last".to_string();
                return Err(RenderError::Unsupported { backend: BACKEND, reason });
            }
        };
        let mut module = (*program.module).clone();
        lookups::mark(&mut module);
        module.functions.push(entry(surface as u32, call));
        let loaded = Loaded::new(&module, program.constants.vectors(), surface + 1)?.on_engine(default_engine())?;
        let mut vectors = program.memory.vectors.clone();
        let objects = [1.0f32, 0.0].map(|opacity| {
            vectors.push([opacity.to_bits(), SHADED.to_bits(), 0, SHADED.to_bits()]);
            vectors.len() as u32 - 1
        });
        let deepest = program.constants.max_depth;
        Ok(Self { module, loaded, vectors, surface: surface as u32, objects, deepest })
    }

    /// How opaque an object is to shadow rays of a kind, by its record.
    pub fn transmission(&self, object: u32, kind: f32) -> Transmission {
        let record = self.vectors.get(object as usize).copied().unwrap_or_default();
        match f32::from_bits(record[if kind == OCCLUSION { 3 } else { 1 }]) {
            0.0 => Transmission::Opaque,
            1.0 => Transmission::Clear,
            _ => Transmission::Shaded,
        }
    }
}

/// How an object transmits shadow rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// It blocks them.
    Opaque,
    /// They pass.
    Clear,
    /// As its surface says.
    Shaded,
}

/// The arguments of a surface entry, word by word.
pub fn surface_arguments(origin: Vec3, direction: Vec3, called: &Called) -> [u32; 11] {
    let ([ox, oy, oz], [dx, dy, dz], [width, spread]) = (origin.to_array(), direction.to_array(), called.cone);
    [ox, oy, oz, dx, dy, dz, called.depth, width, spread, 0.0, called.kind].map(f32::to_bits)
}

/// The probe's surface entry. The answer is in the registers of the hit: two components in the
/// weights of the vertices, one in the place of the triangle's address; the opacity is in the
/// object's record. A shadow ray gets an opacity of 1 less the answer.
fn entry(number: u32, call: ShaderCall) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Surface(number));
    let names = ["orig", "dir", "depth", "ray"];
    let params: Vec<_> = names.iter().zip(call.params()).map(|(name, &ty)| b.param(*name, ty)).collect();
    b.result("Ci", Type::Vec3);
    b.result("Oi", Type::Vec3);
    let hit = b.hit();
    let triangle = b.hit_tri();
    let third = b.bitcast(triangle, Type::F32);
    let [first, second] = [0, 1].map(|i| b.extract(hit, i));
    let answer = b.compose(&[first, second, third]);
    let object = b.hit_obj();
    let record = b.load(object, 0);
    let given = b.extract(record, 0);
    let given = b.splat(given, Type::Vec3);
    let depth = params[2];
    let zero = b.f32(0.0);
    let [width, spread, pdf, kind] = match params.get(ShaderCall::RAY) {
        Some(&ray) => [0, 1, 2, 3].map(|i| b.extract(ray, i)),
        None => [zero; 4],
    };
    let (origin, direction) = (b.compose(&[depth, width, spread]), b.compose(&[pdf, kind, zero]));
    let (mark, far) = (b.f32(MARK), b.f32(f32::MAX));
    let range = b.compose(&[mark, far, zero, zero]);
    b.trace(origin, direction, range);
    let deepest = b.frame(slots::MAX_DEPTH);
    let is_shadow = b.lt(deepest, depth);
    let (black, white) = (b.constant(Const::zero(Type::Vec3)), b.constant(Const::Vec3([1.0; 3])));
    let rest = b.sub(white, answer);
    let color = b.select(is_shadow, black, answer);
    let opacity = b.select(is_shadow, rest, given);
    b.ret(vec![color, opacity]);
    b.finish()
}
