//! Which surface each pixel sees.
//!
//! The rendering nodes of the hardware rasterize; here the camera's rays at the samples give the
//! same. They are shot by the reference evaluator, up to the call of the surface's shader.

use shadewright_ir::abi::{CAMERA_ENTRY, EntryPoint};
use shadewright_ir::eval::{EvalError, Limits, Observer, eval_observed};
use shadewright_ir::passes::Pipeline;
use shadewright_ir::{Const, Function, FunctionBuilder, FunctionKind, Hit, Loc, Module, Op, ShaderCall, Type, World};
use shadewright_render::{Job, SceneWorld};
use std::sync::Arc;

/// The function that is called in place of each surface.
const PROBE: &str = "@probe";

/// A surface that a ray meets first.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The hit.
    pub hit: Hit,
    /// The arguments of the surface's entry, as words.
    pub args: Vec<u32>,
}

/// The surface that a sample shows, or the background.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The surface, if there is one.
    pub seen: Option<Seen>,
    /// The color and opacity without one.
    pub background: [f32; 4],
}

/// The program of the camera's rays.
#[derive(Clone, Debug)]
pub struct Camera {
    module: Module,
    probe: usize,
    words: usize,
}

impl Camera {
    /// That of a linked module.
    ///
    /// # Errors
    /// Scenes whose light is transported by paths, which the hardware does not follow.
    pub fn new(linked: &Module) -> Result<Self, String> {
        let mut module = linked.clone();
        let insts = linked.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        let calls = insts.filter_map(|i| if let Op::CallShader(call) = i.op { Some(call) } else { None });
        let call = calls.into_iter().next().unwrap_or(ShaderCall::Plain);
        if call == ShaderCall::Path {
            return Err("the scene is path traced, and PixelFlow shades surfaces without tracing rays".to_string());
        }
        for f in &mut module.functions {
            if f.kind.is_entry() && *f.name != *CAMERA_ENTRY {
                f.kind = FunctionKind::Function;
            }
        }
        module.functions.push(probe(call));
        Pipeline::default().run(&mut module, &mut ()).map_err(|e| e.to_string())?;
        let probe = module.functions.iter().position(|f| *f.name == *PROBE).unwrap_or(usize::MAX);
        let words = module.function(CAMERA_ENTRY).map_or(0, |f| f.params.len());
        Ok(Self { module, probe, words })
    }

    /// Finds what the sample with these arguments shows.
    ///
    /// # Errors
    /// A camera that does not end within the job's budget.
    pub fn look(&self, job: &Job, arguments: &[f32]) -> Result<Sample, Loc> {
        let mut world = Looking { scene: SceneWorld::new(&job.program, &job.bvh), hit: None };
        let mut caught = Caught { probe: self.probe, args: None };
        let args: Vec<Const> = arguments.iter().take(self.words).map(|&x| Const::F32(x)).collect();
        let limits = Limits { fuel: u64::from(job.budget), ..Limits::default() };
        let results = eval_observed(&self.module, CAMERA_ENTRY, &args, &mut world, limits, &mut caught);
        let results = results.map_err(|e: EvalError| e.loc().unwrap_or(Loc::NONE))?;
        let mut rgba = results.iter().filter_map(Const::floats).flatten().copied();
        let background = std::array::from_fn(|_| rgba.next().unwrap_or(0.0));
        let seen = world.hit.zip(caught.args).map(|(hit, args)| Seen { hit, args });
        Ok(Sample { seen, background })
    }
}

/// A function that takes what surfaces take, and is black and opaque.
fn probe(call: ShaderCall) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Other);
    for (i, &ty) in call.params().iter().enumerate() {
        b.param(format!("p{i}"), ty);
    }
    b.result("Ci", Type::Vec3);
    b.result("Oi", Type::Vec3);
    let results = [0.0, 1.0].map(|x| b.constant(Const::Vec3([x; 3])));
    b.ret(results.to_vec());
    let mut f = b.finish();
    f.name = Arc::from(PROBE);
    f
}

/// The scene, in which all surfaces are the probe.
struct Looking<'a> {
    scene: SceneWorld<'a>,
    hit: Option<Hit>,
}

impl World for Looking<'_> {
    fn uniform(&mut self, k: u32) -> [f32; 4] {
        self.scene.uniform(k)
    }

    fn load(&mut self, address: u32) -> [u32; 4] {
        self.scene.load(address)
    }

    fn trace(&mut self, origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> Hit {
        self.scene.trace(origin, direction, arg)
    }

    fn shader(&mut self, hit: &Hit) -> Option<Arc<str>> {
        if hit.uvts[2] < 0.0 {
            return None;
        }
        self.hit.get_or_insert(*hit);
        Some(Arc::from(PROBE))
    }
}

/// The arguments of the first call of the probe.
struct Caught {
    probe: usize,
    args: Option<Vec<u32>>,
}

impl Observer for Caught {
    fn enter(&mut self, function: usize, args: &[Const]) {
        if function == self.probe && self.args.is_none() {
            self.args = Some(args.iter().flat_map(Const::bits).collect());
        }
    }
}
