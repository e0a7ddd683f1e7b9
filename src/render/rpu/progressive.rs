//! [`RpuProgressive`]: progressive rendering on the RPU.

use super::loaded::Data;
use super::passes::Drawing;
use super::{Loaded, RpuRenderer, SceneTracer, cause};
use crate::film::Film;
use crate::progressive::{BackgroundCompilation, Pass, Progressive, nothing_loaded};
use crate::report::{Count, Phase, Report};
use crate::{Job, RenderError, Renderer};
use glam::Vec2;
use shadewright_image::Image;
use shadewright_ir::Module;
use shadewright_program::Program;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The RPU with a job loaded. It renders on the threads of the current rayon pool, or on its own.
#[derive(Debug, Default)]
pub struct RpuProgressive {
    renderer: RpuRenderer,
    pool: Option<rayon::ThreadPool>,
    kept: Option<Kept>,
    /// The code that was loaded before, for a caller that goes back to it: from a program that is
    /// specialized for a scene to the general one.
    before: Option<KeptCode>,
    /// The code that a thread compiled ahead.
    ahead: Arc<Mutex<Option<KeptCode>>>,
    programs: u64,
    images: u64,
    compile: Duration,
}

/// The state that stays loaded between jobs.
#[derive(Debug)]
struct Kept {
    job: Job,
    code: Loaded,
    constants: [[u32; 4]; 32],
    /// The memory image followed by the program's own constants, where it has some there.
    memory: Option<Vec<[u32; 4]>>,
}

/// A program that was compiled.
#[derive(Debug)]
struct KeptCode {
    module: Arc<Module>,
    surface_entries: usize,
    code: Loaded,
}

impl KeptCode {
    fn is_of(&self, program: &Program) -> bool {
        Arc::ptr_eq(&self.module, &program.module) && self.surface_entries == program.surface_entries
    }
}

/// The thread that compiles ahead. It has no way to stop early.
struct Ahead(JoinHandle<Result<(), RenderError>>);

impl BackgroundCompilation for Ahead {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn progress(&self) -> [usize; 2] {
        [0; 2]
    }

    fn cancel(&self) {}

    fn wait(self: Box<Self>) -> Result<(), RenderError> {
        let ended = self.0.join();
        ended.unwrap_or_else(|_| Err(RenderError::Device("an internal error ended the RPU's compiler".into())))
    }
}

fn lock(ahead: &Mutex<Option<KeptCode>>) -> MutexGuard<'_, Option<KeptCode>> {
    ahead.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RpuProgressive {
    /// One that compiles and computes as `renderer` does.
    pub fn new(renderer: RpuRenderer) -> Self {
        Self { renderer, ..Self::default() }
    }

    /// The same on `threads` threads of its own.
    ///
    /// # Errors
    /// When the system has no more threads.
    pub fn on_own_threads(self, threads: usize) -> Result<Self, RenderError> {
        let named = |number| format!("RPU {number}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(named).build();
        let pool = pool.map_err(|e| RenderError::Device(format!("the RPU cannot start its threads: {e}")))?;
        Ok(Self { pool: Some(pool), ..self })
    }

    fn drawn<T: Send>(
        &self,
        stop: &AtomicBool,
        draw: impl FnOnce(&Drawing<'_>) -> Result<T, RenderError> + Send,
    ) -> Result<T, RenderError> {
        let Some(Kept { job, code, constants, memory }) = &self.kept else { return Err(nothing_loaded()) };
        let data = Data::from_parts(*constants, memory.as_deref(), &job.program.memory.vectors);
        let tracer = SceneTracer::for_job(job, code, &data, stop)?;
        let context = code.execution_context(&data, &tracer, job.budget, stop);
        let drawing = Drawing { job, sampling: job.sampling, loaded: code, context: &context };
        let drawn = match &self.pool {
            Some(pool) => pool.install(|| draw(&drawing)),
            None => draw(&drawing),
        };
        cause(drawn, &tracer, code, job)
    }
}

impl Progressive for RpuProgressive {
    fn describe(&self) -> String {
        match &self.pool {
            Some(pool) => pool.install(|| self.renderer.describe()),
            None => self.renderer.describe(),
        }
    }

    /// 50 materials take a quarter of a second.
    fn compile_ahead(&self, job: &Job) -> Option<Box<dyn BackgroundCompilation>> {
        let (renderer, job, ahead) = (self.renderer.clone(), job.clone(), self.ahead.clone());
        let compile = move || {
            let code = renderer.load(&job)?;
            let (module, surface_entries) = (job.program.module, job.program.surface_entries);
            *lock(&ahead) = Some(KeptCode { module, surface_entries, code });
            Ok(())
        };
        let thread = std::thread::Builder::new().name("RPU compiler".into()).spawn(compile);
        Some(Box::new(Ahead(thread.ok()?)))
    }

    fn load(&mut self, job: &Job) -> Result<(), RenderError> {
        let (new, old) = (&job.program, self.kept.take());
        let same_code =
            |old: &Program| Arc::ptr_eq(&old.module, &new.module) && old.surface_entries == new.surface_entries;
        let (code, image) = match old {
            Some(Kept { job, code, constants, memory }) if same_code(&job.program) => {
                (code, Arc::ptr_eq(&job.program.memory, &new.memory).then_some((constants, memory)))
            }
            old => {
                let is_meant = |code: &mut KeptCode| code.is_of(new);
                let ahead = lock(&self.ahead).take_if(is_meant);
                self.programs += u64::from(ahead.is_some());
                let known = ahead.or_else(|| self.before.take_if(is_meant));
                if let Some(Kept { job, code, .. }) = old {
                    let (module, surface_entries) = (job.program.module, job.program.surface_entries);
                    self.before = Some(KeptCode { module, surface_entries, code });
                }
                match known {
                    Some(known) => (known.code, None),
                    None => {
                        let start = Instant::now();
                        let code = self.renderer.load(job)?;
                        self.compile = start.elapsed();
                        self.programs += 1;
                        (code, None)
                    }
                }
            }
        };
        let data = match &image {
            Some((constants, memory)) => Data::from_parts(*constants, memory.as_deref(), &new.memory.vectors),
            None => code.data(&new.memory.vectors),
        };
        let (constants, placed) = data.with_uniforms(new.constants.vectors()).into_own_parts();
        self.images += u64::from(image.is_none());
        let memory = image.map_or(placed, |(_, memory)| memory);
        self.kept = Some(Kept { job: job.clone(), code, constants, memory });
        Ok(())
    }

    fn draw(&mut self, pass: Pass, film: &mut Film, stop: &AtomicBool) -> Result<(), RenderError> {
        self.drawn(stop, |drawing| drawing.draw(pass, film, &|_| {}))
    }

    fn colors(&mut self, positions: &[Vec2], stop: &AtomicBool) -> Result<Vec<[f32; 4]>, RenderError> {
        self.drawn(stop, |drawing| drawing.colors(positions))
    }

    fn finish(&mut self, film: &Film, step: u32, stop: &AtomicBool) -> Result<Image, RenderError> {
        self.drawn(stop, |drawing| drawing.finish(film, step))
    }

    fn report(&self) -> Report {
        let counts = [("programs loaded", self.programs), ("memory images loaded", self.images)];
        Report {
            phases: vec![Phase { name: "code", time: self.compile }],
            counts: counts.map(|(name, count)| Count { name, count }).into(),
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progressive::checks;

    fn progressive() -> RpuProgressive {
        RpuProgressive::new(RpuRenderer::new())
    }

    #[test]
    fn passes_in_order_make_the_render() {
        checks::passes_in_order_make_the_render(&mut progressive(), &mut RpuRenderer::new());
        checks::passes_in_order_make_the_render(&mut progressive().on_own_threads(3).unwrap(), &mut RpuRenderer::new());
    }

    #[test]
    fn a_coarse_pass_samples_the_middle_of_its_blocks() {
        checks::a_coarse_pass_samples_the_middle_of_its_blocks(&mut progressive());
    }

    #[test]
    fn colors_are_those_of_samples_in_the_same_positions() {
        checks::colors_are_those_of_samples_in_the_same_positions(&mut progressive());
    }

    #[test]
    fn what_is_the_same_stays_loaded() {
        checks::what_is_the_same_stays_loaded(&mut progressive(), &mut RpuRenderer::new(), 2);
    }

    #[test]
    fn what_was_compiled_ahead_is_loaded_without_compiling() {
        let mut rpu = progressive();
        rpu.load(&checks::job_of("sepia", 9, 7, [1, 1])).unwrap();
        let job = checks::job_of("showcase", 19, 13, [1, 1]);
        rpu.compile_ahead(&job).expect("a thread").wait().unwrap();
        assert!(lock(&rpu.ahead).is_some());
        let compile = rpu.compile;
        rpu.load(&job).unwrap();
        assert!(lock(&rpu.ahead).is_none() && rpu.compile == compile && rpu.programs == 2);
        let pass = Pass { step: 1, first: 0, count: 1 };
        let expected = RpuRenderer::new().render(&job, &|_| {}).unwrap();
        assert!(checks::drawn(&mut rpu, &job, &[pass]).rgba == expected.rgba);
    }

    #[test]
    fn a_pass_that_is_stopped_ends_soon() {
        checks::a_pass_that_is_stopped_ends_soon(&mut progressive());
    }

    #[test]
    fn nothing_is_drawn_before_a_job_is_loaded() {
        checks::nothing_is_drawn_before_a_job_is_loaded(&mut progressive());
    }
}
