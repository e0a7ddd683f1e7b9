//! Divergences that are made on purpose: a machine whose square root is off by one in the last place
//! within one file.

use super::*;
use shadewright_base::text::source::FileId;
use shadewright_ir::emitter::Emitter;
use shadewright_ir::{Const, Module, Op, Type};
use shadewright_program::{LinkOptions, link};
use shadewright_render::samples::{RecordWindow, Recorded};
use shadewright_render::sampling::{CameraSample, Sampling};
use shadewright_render::{DEFAULT_BUDGET, Window, prepare};
use shadewright_scene::{self as scene, OpenOptions};
use std::fs;
use std::sync::Arc;

/// A scene whose files are in memory once it is opened.
pub struct Opened {
    /// The job that the renderers run.
    pub job: Job,
    /// The scene.
    pub scene: Scene,
    /// The program that the evaluator follows.
    pub debug: Program,
}

impl Opened {
    /// The scene of these files, of which the first is the scene itself.
    pub fn new(files: &[(&str, &str)], samples: [u32; 2]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("the folder can be written");
        }
        let mut sources = SourceMap::new();
        let opened = scene::open(&folder.path().join(files[0].0), &OpenOptions::default(), &mut sources);
        let scene = opened.unwrap_or_else(|d| panic!("{}", d.render(&sources))).scene;
        let options = LinkOptions::default();
        let linked = |result: Result<Program, shadewright_program::LinkError>| {
            result.unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)))
        };
        let program = linked(link(&scene, sources.clone(), &options));
        let debug = linked(crate::probe::link(&scene, program.sources.clone(), &options));
        let window = Window::whole(scene.format.width, scene.format.height);
        let sampling = Sampling { strata: samples, seed: 0 };
        let job = prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("a job");
        Self { job, scene, debug }
    }

    /// The file with this ending.
    pub fn file(&self, ending: &str) -> FileId {
        let files = self.job.program.sources.files();
        let number = files.iter().position(|file| file.name.ends_with(ending)).expect("the file was read");
        FileId(number as u32)
    }

    /// Compares two runners at the first pixel but one of each axis.
    pub fn diverge(&self, runners: [&mut dyn SampleRunner; 2]) -> Divergence {
        let debug = Some(&self.debug);
        let subject = Subject { job: &self.job, scene: &self.scene, debug, is_wanted: &|| true, progress: &|_| {} };
        let [a, b] = runners;
        let machines = [("a", a), ("b", b)].map(|(name, runner)| NamedRunner { name: name.to_string(), runner });
        diverge(subject, machines, [1, 1], None).expect("the sample exists")
    }
}

/// The evaluator, whose `sqrt` gives the next larger number in one file.
pub struct Faulty(pub FileId);

impl Faulty {
    fn job(&self, job: &Job) -> Job {
        let mut module: Module = (*job.program.module).clone();
        let locs = module.clone();
        for func in &mut module.functions {
            for block in 0..func.blocks.len() {
                let mut insts = Vec::new();
                for mut inst in std::mem::take(&mut func.blocks[block].insts) {
                    let is_here = inst.op == Op::Sqrt && locs.span(inst.loc).is_some_and(|span| span.file == self.0);
                    let result = inst.results.first().copied().filter(|_| is_here);
                    let Some(result) = result else {
                        insts.push(inst);
                        continue;
                    };
                    let raw = func.new_value(Type::F32);
                    inst.results = vec![raw];
                    let loc = inst.loc;
                    insts.push(inst);
                    let mut e = Emitter::new(func, loc);
                    let bits = e.op(Op::Bitcast, &[raw], Type::U32);
                    let one = e.constant(Const::U32(1));
                    let next = e.op(Op::IAdd, &[bits, one], Type::U32);
                    e.push(Op::Bitcast, &[next], vec![result]);
                    insts.append(&mut e.out);
                }
                func.blocks[block].insts = insts;
            }
        }
        Job { program: Program { module: Arc::new(module), ..job.program.clone() }, ..job.clone() }
    }
}

impl SampleRunner for Faulty {
    fn describe(&self) -> String {
        "a faulty evaluator".to_string()
    }

    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        EvaluatorSamples.colors(&self.job(job), samples)
    }

    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError> {
        EvaluatorSamples.record(&self.job(job), sample, window)
    }
}

/// The sum of two operands that are exact, then a root, then a branch at the root's exact value.
pub const FLIP: &str = "surface flip(float w = 0.25;)
{
    float x = sqrt(w * step(-1000, s));
    color c = (0.1, 0.2, 0.3);
    if (x <= 0.5)
        c = color noise(P * 4);
    Ci = c;
    Oi = 1;
}
";

/// The scene of [`FLIP`].
pub const WALL: &str = "Format 3 3 1
Projection \"perspective\" \"fov\" [60]
WorldBegin
Surface \"flip\"
Polygon \"P\" [-9 -9 5  -9 9 5  9 9 5  9 -9 5]
WorldEnd
";

/// [`WALL`], opened.
pub fn flip() -> Opened {
    Opened::new(&[("scene.rib", WALL), ("flip.sl", FLIP)], [1, 1])
}

/// A branch that is flipped.
pub fn found() -> Divergence {
    let opened = flip();
    opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))])
}
