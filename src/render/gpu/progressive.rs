//! [`GpuProgressive`]: progressive rendering on the GPU.

use super::executor::PathExecutor;
use super::passes::Drawing;
use super::prepare::Preparation;
use super::program::Program;
use super::renderer::{GpuRenderer, compile, default_path_count, max_depth, setup};
use super::warm_up::{Priority, WarmUpProgress};
use crate::film::Film;
use crate::progressive::{BackgroundCompilation, Pass, Progressive, nothing_loaded};
use crate::report::{Count, KernelTimes, Phase, Report};
use crate::{AdapterInfo, Job, RenderError, Renderer};
use glam::Vec2;
use shadewright_image::Image;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A GPU with a job loaded.
#[derive(Debug)]
pub struct GpuProgressive {
    renderer: GpuRenderer,
    kept: Option<Kept>,
    programs: u64,
    images: u64,
    trees: u64,
    compile: Duration,
}

/// The state that stays loaded between jobs.
#[derive(Debug)]
struct Kept {
    job: Job,
    program: Program,
    executor: Box<dyn PathExecutor>,
    /// True if the executor times its kernels.
    profiled: bool,
}

impl GpuProgressive {
    /// One on the renderer's device, with its schedule and kernels.
    pub fn new(renderer: GpuRenderer) -> Self {
        Self { renderer, kept: None, programs: 0, images: 0, trees: 0, compile: Duration::ZERO }
    }

    fn drawn<T>(
        &mut self,
        stop: &AtomicBool,
        draw: impl FnOnce(&mut Drawing<'_>) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let Some(Kept { job, program, executor, .. }) = &mut self.kept else { return Err(nothing_loaded()) };
        let compute = self.renderer.compute();
        let executor = &mut **executor;
        draw(&mut Drawing { compute, job, program, executor, progress: &|_| {}, stop, done: 0, total: 0 })
    }
}

impl BackgroundCompilation for Preparation {
    fn is_finished(&self) -> bool {
        Preparation::is_finished(self)
    }

    fn progress(&self) -> [usize; 2] {
        Preparation::progress(self)
    }

    fn cancel(&self) {
        Preparation::cancel(self);
    }

    fn wait(self: Box<Self>) -> Result<(), RenderError> {
        Preparation::wait(*self).map(drop)
    }
}

impl Progressive for GpuProgressive {
    fn describe(&self) -> String {
        self.renderer.describe()
    }

    fn adapter(&self) -> Option<AdapterInfo> {
        self.renderer.adapter()
    }

    fn uses_kernels(&self) -> bool {
        true
    }

    fn prepare(&self, job: &Job) -> Option<Box<dyn BackgroundCompilation>> {
        Some(Box::new(self.renderer.prepare(Arc::new(job.clone()))))
    }

    fn load(&mut self, job: &Job) -> Result<(), RenderError> {
        let compute = self.renderer.shared_compute();
        let old = self.kept.take().filter(|old| same_kernels(&old.job, job));
        let (program, loaded) = match old {
            Some(Kept { job, program, executor, profiled }) => (program, Some((job, executor, profiled))),
            None => {
                let start = Instant::now();
                let program = compile(compute.gpu(), job, self.renderer.schedule())?;
                compute.prepare(&program, Priority::Foreground, &WarmUpProgress::default())?;
                self.compile = start.elapsed();
                self.programs += 1;
                (program, None)
            }
        };
        let setup = setup(job, &program, default_path_count(compute.gpu()));
        let profiled = compute.profiling();
        let executor = loaded.and_then(|(old, mut executor, was_profiled)| {
            let new_memory = !Arc::ptr_eq(&old.program.memory, &job.program.memory);
            let same_primitives = Arc::ptr_eq(&old.program.primitives, &job.program.primitives)
                || old.program.primitives.is_empty() && job.program.primitives.is_empty();
            let same = Arc::ptr_eq(&old.bvh, &job.bvh) && same_primitives && was_profiled == profiled;
            let kept = same && executor.replace_data(&setup, new_memory);
            self.images += u64::from(kept && new_memory);
            kept.then_some(executor)
        });
        let executor = match executor {
            Some(executor) => executor,
            None => {
                self.images += 1;
                self.trees += 1;
                program.executor(compute, &setup)?
            }
        };
        self.kept = Some(Kept { job: job.clone(), program, executor, profiled });
        Ok(())
    }

    fn set_profiling(&mut self, on: bool) {
        self.renderer.set_profiling(on);
    }

    fn draw(&mut self, pass: Pass, film: &mut Film, stop: &AtomicBool) -> Result<(), RenderError> {
        self.drawn(stop, |drawing| {
            drawing.executor.restart_times();
            drawing.draw(pass, film)
        })
    }

    fn colors(&mut self, positions: &[Vec2], stop: &AtomicBool) -> Result<Vec<[f32; 4]>, RenderError> {
        self.drawn(stop, |drawing| drawing.colors(positions))
    }

    fn finish(&mut self, film: &Film, step: u32, stop: &AtomicBool) -> Result<Image, RenderError> {
        self.drawn(stop, |drawing| drawing.finish(film, step))
    }

    fn report(&self) -> Report {
        let mut counts = vec![
            ("programs loaded", self.programs),
            ("memory images loaded", self.images),
            ("trees loaded", self.trees),
        ];
        let mut kernels = KernelTimes::None;
        if let Some(Kept { executor, .. }) = &self.kept {
            let stats = executor.stats();
            counts.extend([
                ("sections", u64::from(stats.sections)),
                ("paths in flight", u64::from(stats.paths)),
                ("rounds", stats.rounds),
                ("submissions", stats.submissions),
            ]);
            kernels = executor.times();
        }
        Report {
            phases: vec![Phase { name: "kernels", time: self.compile }],
            counts: counts.into_iter().map(|(name, count)| Count { name, count }).collect(),
            kernels,
        }
    }
}

/// True if two jobs run the same kernels.
fn same_kernels(a: &Job, b: &Job) -> bool {
    Arc::ptr_eq(&a.program.module, &b.program.module)
        && a.program.surface_entries == b.program.surface_entries
        && a.bvh.has_instances() == b.bvh.has_instances()
        && a.program.memory.placed.is_empty() == b.program.memory.placed.is_empty()
        && max_depth(a) == max_depth(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progressive::checks;

    fn renderer() -> GpuRenderer {
        GpuRenderer::new(None).expect("these tests need a GPU adapter; the software driver of Mesa will do")
    }

    fn progressive() -> GpuProgressive {
        GpuProgressive::new(renderer())
    }

    #[test]
    fn passes_in_order_make_the_render() {
        checks::passes_in_order_make_the_render(&mut progressive(), &mut renderer());
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
        checks::what_is_the_same_stays_loaded(&mut progressive(), &mut renderer(), 3);
    }

    #[test]
    fn a_pass_that_is_stopped_ends_soon() {
        checks::a_pass_that_is_stopped_ends_soon(&mut progressive());
    }

    #[test]
    fn kernels_are_timed_pass_by_pass_when_asked_for() {
        let job = checks::job_of("sepia", 40, 30, [1, 1]);
        let mut progressive = progressive();
        let dispatches = |progressive: &mut GpuProgressive| {
            progressive.load(&job).unwrap();
            checks::drawn(progressive, &job, &[Pass::whole(job.sampling)]);
            match progressive.report().kernels {
                KernelTimes::Measured { kernels, .. } => kernels.iter().map(|kernel| kernel.dispatches).sum(),
                _ => 0,
            }
        };
        assert_eq!(dispatches(&mut progressive), 0);
        progressive.set_profiling(true);
        let first: u64 = dispatches(&mut progressive);
        let rounds = |progressive: &GpuProgressive| progressive.kept.as_ref().map(|kept| kept.executor.stats().rounds);
        let (before, second) = (rounds(&progressive), dispatches(&mut progressive));
        assert!(first > 0 && second > 0 && before < rounds(&progressive));
        assert!(second < 3 * first, "{first} and then {second}: the times of one pass");
        progressive.set_profiling(false);
        assert_eq!(dispatches(&mut progressive), 0);
    }

    #[test]
    fn nothing_is_drawn_before_a_job_is_loaded() {
        checks::nothing_is_drawn_before_a_job_is_loaded(&mut progressive());
    }
}
