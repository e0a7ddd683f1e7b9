//! Pipeline warm-up: kernels are compiled before they are needed.
//!
//! Hardware drivers compile a kernel when its pipeline is created, so it is enough to create
//! pipelines in parallel. Mesa's software driver compiles at the *first dispatch*, on the queue's
//! thread, and caches the result on disk. There, further devices, one for each core, dispatch a
//! share of the kernels without work each, and the rendering device then finds them in the cache.
//! Where that cache is off, only the rendering device compiles.
//!
//! Warm-up only saves time: where another device fails, the render continues without it.

use super::device::{Gpu, Layout, OpenError};
use super::pipelines::{Kernel, PipelineCounts, Pipelines};
use crate::RenderError;
use shadewright_codegen::wgsl::{SectionKernel, binding};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wgpu::BufferUsages;

/// The most devices that compile, the rendering device included. Each takes some 50 MiB.
const MAX_DEVICES: usize = 8;

/// Kernels for which another device is worth opening, which takes about as long as compiling one.
const KERNELS_EACH: usize = 2;

/// Bytes of each buffer of an empty dispatch.
const NOTHING_BYTES: u64 = 256;

/// True if somebody waits for the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The caller waits for them: the rendering device compiles too.
    Foreground,
    /// Nobody waits yet: the rendering device is left free as long as others can compile.
    Background,
}

/// The progress of a warm-up, and its cancellation; shared with the thread that waits for it.
#[derive(Debug, Default)]
pub(super) struct WarmUpProgress {
    canceled: Arc<AtomicBool>,
    done: AtomicUsize,
    of: AtomicUsize,
}

impl WarmUpProgress {
    /// Of a warm-up that is canceled while this is true.
    pub fn canceled_by(stop: &Arc<AtomicBool>) -> Self {
        Self { canceled: stop.clone(), ..Self::default() }
    }

    /// Cancels the warm-up.
    pub fn cancel(&self) {
        self.canceled.store(true, Ordering::Relaxed);
    }

    fn is_canceled(&self) -> bool {
        self.canceled.load(Ordering::Relaxed)
    }

    /// Kernels that the driver has compiled, and all that it compiles; 0 of 0 until that is known,
    /// or where drivers compile at creation.
    pub fn progress(&self) -> [usize; 2] {
        [self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed)]
    }
}

/// Statistics of a warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WarmUp {
    /// Pipelines created and reused.
    pub kernels: PipelineCounts,
    /// Kernels that other devices than the rendering device compiled.
    pub elsewhere: usize,
    /// The time of the warm-up.
    pub time: Duration,
}

/// Creates the pipelines of these kernels and has the driver compile those that are new; on the
/// rendering device, `common` runs first.
///
/// # Errors
/// When the device does not take a kernel, or fails; [`RenderError::Stopped`] when it was canceled
/// meanwhile.
pub(super) fn warm_up(
    gpu: &Gpu,
    sections: &Pipelines,
    kernels: &[SectionKernel],
    priority: Priority,
    course: &WarmUpProgress,
    common: &dyn Fn() -> Result<(), RenderError>,
) -> Result<WarmUp, RenderError> {
    let most = if gpu.quirks().compiles_at_first_dispatch && keeps_compiled_kernels() { MAX_DEVICES - 1 } else { 0 };
    let others = OtherDevices { most, open: &|| gpu.another() };
    warm_up_with(gpu, sections, kernels, priority, course, common, others)
}

/// Devices that compile beside the rendering device.
struct OtherDevices<'a> {
    /// The most of them.
    most: usize,
    /// Opens one.
    open: &'a (dyn Fn() -> Result<Gpu, OpenError> + Sync),
}

/// The same with other devices than those of this adapter.
fn warm_up_with(
    gpu: &Gpu,
    sections: &Pipelines,
    kernels: &[SectionKernel],
    priority: Priority,
    course: &WarmUpProgress,
    common: &dyn Fn() -> Result<(), RenderError>,
    others: OtherDevices<'_>,
) -> Result<WarmUp, RenderError> {
    let start = Instant::now();
    let stopped = || if course.is_canceled() { Err(RenderError::Stopped) } else { Ok(()) };
    let (pipelines, fresh) = sections.and_new_ones(gpu, kernels)?;
    let counts = PipelineCounts { made: fresh.len(), found: kernels.len() - fresh.len() };
    if !gpu.quirks().compiles_at_first_dispatch || fresh.is_empty() {
        return Ok(WarmUp { kernels: counts, elsewhere: 0, time: start.elapsed() });
    }
    // Large kernels first, so that all devices end at about the same time.
    course.of.store(fresh.len(), Ordering::Relaxed);
    let mut queue = fresh.clone();
    queue.sort_by_key(|&i| std::cmp::Reverse(kernels[i].wgsl.len()));
    let next = AtomicUsize::new(0);
    let take = || queue.get(next.fetch_add(1, Ordering::Relaxed)).copied().filter(|_| !course.is_canceled());
    let elsewhere = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = match priority {
        Priority::Foreground => cores - 1,
        Priority::Background => (cores - 1).max(1),
    };
    let threads = threads.min(others.most).min(queue.len().div_ceil(KERNELS_EACH));
    let result = std::thread::scope(|scope| {
        let compile_elsewhere = || {
            let Ok(other) = (others.open)() else { return };
            let pipelines = Pipelines::new(section_layout(&other));
            let Ok(nothing) = EmptyDispatch::new(&other, pipelines.layout()) else { return };
            while let Some(i) = take() {
                let made = pipelines.one(&other, Kernel::from(&kernels[i]));
                if made.and_then(|pipeline| nothing.dispatch(&other, [&pipeline])).is_err() {
                    return;
                }
                elsewhere.fetch_add(1, Ordering::Relaxed);
                course.done.fetch_add(1, Ordering::Relaxed);
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(compile_elsewhere)).collect();
        let nothing = common().and_then(|()| EmptyDispatch::new(gpu, sections.layout()));
        if let (Priority::Foreground, Ok(nothing)) = (priority, &nothing) {
            while let Some(i) = take() {
                // Its failure is that of the last dispatch, too.
                if nothing.dispatch(gpu, [&pipelines[i]]).is_err() {
                    break;
                }
                course.done.fetch_add(1, Ordering::Relaxed);
            }
        }
        for thread in threads {
            // A thread that panicked has left kernels to be compiled below.
            let _ = thread.join();
        }
        stopped()?;
        nothing?.dispatch(gpu, fresh.iter().map(|&i| &pipelines[i]))
    });
    if let Err(error) = result {
        // A later request creates them again.
        sections.forget(fresh.iter().map(|&i| Kernel::from(&kernels[i])));
        return Err(error);
    }
    Ok(WarmUp { kernels: counts, elsewhere: elsewhere.into_inner(), time: start.elapsed() })
}

/// The bindings of section kernels: state, frames, rays, hits, memory, ray queue, trap, queue
/// (`codegen::wgsl::binding`).
pub(super) fn section_layout(gpu: &Gpu) -> Layout {
    gpu.layout("sections", &[false, false, false, false, true, false, false, true])
}

/// True if Mesa caches compiled kernels on disk, by its environment variables.
fn keeps_compiled_kernels() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let switched_off = |name: &str| {
        let value = std::env::var(name).unwrap_or_default().to_lowercase();
        matches!(value.as_str(), "1" | "true" | "t" | "yes" | "y")
    };
    let off = ["MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE"].into_iter().any(switched_off);
    !off && ["MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "XDG_CACHE_HOME", "HOME"].into_iter().any(set)
}

/// Buffers of zeros for section kernels: their queues are empty, so a dispatch has no effect but
/// compilation.
struct EmptyDispatch {
    bound: wgpu::BindGroup,
}

impl EmptyDispatch {
    fn new(gpu: &Gpu, layout: &Layout) -> Result<Self, RenderError> {
        let buffers = (binding::PARAMS..=binding::QUEUE).map(|at| {
            let usage = if at == binding::PARAMS { BufferUsages::UNIFORM } else { BufferUsages::STORAGE };
            gpu.buffer("nothing", NOTHING_BYTES.max(size_of::<shadewright_codegen::wgsl::Params>() as u64), usage)
        });
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { bound: gpu.bind(layout, &buffers.iter().collect::<Vec<_>>()) })
    }

    /// Dispatches the kernels and waits for the driver.
    fn dispatch<'p>(
        &self,
        gpu: &Gpu,
        pipelines: impl IntoIterator<Item = &'p wgpu::ComputePipeline>,
    ) -> Result<(), RenderError> {
        gpu.run_pass(|pass| {
            pass.set_bind_group(0, &self.bound, &[]);
            for pipeline in pipelines {
                pass.set_pipeline(pipeline);
                pass.dispatch_workgroups(1, 1, 1);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    static GPU: LazyLock<Gpu> =
        LazyLock::new(|| Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do"));

    /// Kernels that are unlike those of other tests and runs, so that no cache has them.
    fn kernels(count: usize) -> Vec<SectionKernel> {
        static TESTS: AtomicUsize = AtomicUsize::new(0);
        let unique = (u64::from(std::process::id()) << 8) + TESTS.fetch_add(1, Ordering::Relaxed) as u64;
        let kernel = |n: usize| {
            let wgsl = format!(
                "@group(0) @binding(1) var<storage, read_write> state: array<u32>;
                @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                    if state[0] == {}u {{ state[id.x] = {n}u; }}
                }}",
                unique as u32 | 1
            );
            SectionKernel {
                name: format!("test {n}"),
                entry_point: "main".to_string(),
                module: super::super::layouts::parsed(&wgsl),
                wgsl,
                frame_words: 0,
            }
        };
        (0..count).map(kernel).collect()
    }

    struct Bench {
        sections: Pipelines,
        course: WarmUpProgress,
    }

    impl Bench {
        fn new() -> Self {
            Self { sections: Pipelines::new(section_layout(&GPU)), course: WarmUpProgress::default() }
        }

        fn warm_up(
            &self,
            kernels: &[SectionKernel],
            priority: Priority,
            most: usize,
            open: &(dyn Fn() -> Result<Gpu, OpenError> + Sync),
        ) -> Result<WarmUp, RenderError> {
            let others = OtherDevices { most, open };
            warm_up_with(&GPU, &self.sections, kernels, priority, &self.course, &|| Ok(()), others)
        }
    }

    fn another() -> Result<Gpu, OpenError> {
        GPU.another()
    }

    #[test]
    fn background_kernels_are_left_to_other_devices() {
        let done = Bench::new().warm_up(&kernels(3), Priority::Background, 1, &another).unwrap();
        assert_eq!(done.kernels, PipelineCounts { made: 3, found: 0 });
        assert_eq!(done.elsewhere, if GPU.quirks().compiles_at_first_dispatch { 3 } else { 0 });
    }

    #[test]
    fn kernels_that_were_made_ready_are_not_again() {
        let (bench, kernels) = (Bench::new(), kernels(4));
        bench.warm_up(&kernels[..3], Priority::Foreground, 1, &another).unwrap();
        let done = bench.warm_up(&kernels, Priority::Foreground, 1, &another).unwrap();
        assert_eq!(done.kernels, PipelineCounts { made: 1, found: 3 });
    }

    #[test]
    fn a_device_that_cannot_be_opened_or_is_lost_costs_nothing_but_time() {
        let refused = || Err(OpenError::None);
        let lost = || panic!("the driver is gone");
        let opens: [&(dyn Fn() -> Result<Gpu, OpenError> + Sync); 2] = [&refused, &lost];
        for open in opens {
            let done = Bench::new().warm_up(&kernels(3), Priority::Background, 1, open).unwrap();
            assert_eq!((done.kernels.made, done.elsewhere), (3, 0));
        }
    }

    #[test]
    fn without_other_devices_the_rendering_device_compiles() {
        let done = Bench::new().warm_up(&kernels(2), Priority::Foreground, 0, &another).unwrap();
        assert_eq!((done.kernels.made, done.elsewhere), (2, 0));
    }

    #[test]
    fn canceled_kernels_are_not_ready() {
        let (bench, kernels) = (Bench::new(), kernels(2));
        bench.course.cancel();
        let stopped = bench.warm_up(&kernels, Priority::Background, 1, &another);
        if GPU.quirks().compiles_at_first_dispatch {
            assert!(matches!(stopped, Err(RenderError::Stopped)));
            let bench = Bench { course: WarmUpProgress::default(), ..bench };
            assert_eq!(bench.warm_up(&kernels, Priority::Background, 1, &another).unwrap().kernels.made, 2);
            assert_eq!(bench.course.progress(), [2, 2]);
        }
    }

    #[test]
    fn a_kernel_that_is_wrong_is_an_error() {
        let mut kernels = kernels(2);
        kernels[1].wgsl = "fn main() { return 1; }".to_string();
        assert!(matches!(
            Bench::new().warm_up(&kernels, Priority::Foreground, 1, &another),
            Err(RenderError::Device(_))
        ));
    }
}
