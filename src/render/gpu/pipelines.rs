//! A pipeline cache for kernels with one bind group layout.
//!
//! It takes WGSL and gives pipelines. The key is the whole text of a kernel, so that sections,
//! images and scenes with the same kernel share a pipeline.

use super::device::{Gpu, Layout};
use crate::RenderError;
use rayon::prelude::*;
use shadewright_codegen::wgsl::SectionKernel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most pipelines in the cache; an edited shader leaves its old kernels there. With their texts
/// they take about 50 kB each on the software driver (heaptrack, 300 kernels); a scene of 96
/// shaders has 113.
const KEPT: usize = 512;

/// One kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel<'a> {
    /// A name for messages.
    pub name: &'a str,
    /// The WGSL text.
    pub wgsl: &'a str,
    /// The entry point in it.
    pub entry_point: &'a str,
}

impl<'a> From<&'a SectionKernel> for Kernel<'a> {
    fn from(section: &'a SectionKernel) -> Self {
        Self { name: &section.name, wgsl: &section.wgsl, entry_point: &section.entry_point }
    }
}

/// Counts of requested pipelines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineCounts {
    /// Pipelines created.
    pub made: usize,
    /// Pipelines found in the cache.
    pub found: usize,
}

/// Where a pipeline comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Made,
    Found,
}

/// A pipeline that one thread creates while others wait for it.
type Slot = Arc<Mutex<Option<wgpu::ComputePipeline>>>;

/// The pipelines of one bind group layout, by content.
#[derive(Debug)]
pub(super) struct Pipelines {
    layout: Layout,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    slots: HashMap<Key, Used>,
    /// The number of requests so far.
    now: u64,
}

/// Entry point and text.
type Key = (Box<str>, Box<str>);

fn key(kernel: &Kernel<'_>) -> Key {
    (kernel.entry_point.into(), kernel.wgsl.into())
}

#[derive(Debug)]
struct Used {
    slot: Slot,
    /// The number of the last request for it.
    last: u64,
}

impl Pipelines {
    /// An empty cache for kernels with a bind group layout.
    pub fn new(layout: Layout) -> Self {
        Self { layout, known: Mutex::default() }
    }

    /// The bind group layout of the kernels.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The pipelines of these kernels, in their order; missing ones are created in parallel.
    ///
    /// # Errors
    /// When the device does not take a kernel.
    pub fn get<'a, K>(
        &self,
        gpu: &Gpu,
        kernels: &'a [K],
    ) -> Result<(Vec<wgpu::ComputePipeline>, PipelineCounts), RenderError>
    where
        K: Sync,
        Kernel<'a>: From<&'a K>,
    {
        let (pipelines, made) = self.and_new_ones(gpu, kernels)?;
        let counts = PipelineCounts { made: made.len(), found: pipelines.len() - made.len() };
        Ok((pipelines, counts))
    }

    /// The same, and the indices of the kernels that were missing.
    ///
    /// # Errors
    /// When the device does not take a kernel.
    pub fn and_new_ones<'a, K>(
        &self,
        gpu: &Gpu,
        kernels: &'a [K],
    ) -> Result<(Vec<wgpu::ComputePipeline>, Vec<usize>), RenderError>
    where
        K: Sync,
        Kernel<'a>: From<&'a K>,
    {
        let results: Vec<_> =
            kernels.par_iter().map(|kernel| self.find_or_make(gpu, kernel.into())).collect::<Result<_, _>>()?;
        let made = (0..results.len()).filter(|&i| results[i].1 == Source::Made).collect();
        Ok((results.into_iter().map(|(pipeline, _)| pipeline).collect(), made))
    }

    /// The pipeline of a kernel.
    ///
    /// # Errors
    /// When the device does not take it.
    pub fn one(&self, gpu: &Gpu, kernel: Kernel<'_>) -> Result<wgpu::ComputePipeline, RenderError> {
        self.find_or_make(gpu, kernel).map(|(pipeline, _)| pipeline)
    }

    /// Drops the pipelines of these kernels.
    pub fn forget<'a>(&self, kernels: impl IntoIterator<Item = Kernel<'a>>) {
        let mut known = self.lock();
        for kernel in kernels {
            known.slots.remove(&key(&kernel));
        }
    }

    fn find_or_make(&self, gpu: &Gpu, kernel: Kernel<'_>) -> Result<(wgpu::ComputePipeline, Source), RenderError> {
        let slot = self.slot(&kernel);
        // Other threads that request the same kernel wait here until it is created.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = &*slot {
            return Ok((pipeline.clone(), Source::Found));
        }
        let [made] = gpu.pipelines(kernel.name, kernel.wgsl, &self.layout.pipeline, [kernel.entry_point])?;
        *slot = Some(made.clone());
        Ok((made, Source::Made))
    }

    /// The cache entry of a kernel. The least recently requested ones are evicted.
    fn slot(&self, kernel: &Kernel<'_>) -> Slot {
        let mut known = self.lock();
        known.now += 1;
        let now = known.now;
        let used = known.slots.entry(key(kernel)).or_insert_with(|| Used { slot: Slot::default(), last: now });
        used.last = now;
        let slot = used.slot.clone();
        if known.slots.len() > KEPT {
            known.slots.retain(|_, used| used.last + (KEPT as u64) / 2 > now);
        }
        slot
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel that binds nothing and is like no other of another number.
    struct Numbered(String);

    impl<'a> From<&'a Numbered> for Kernel<'a> {
        fn from(kernel: &'a Numbered) -> Self {
            Self { name: "test", wgsl: &kernel.0, entry_point: "main" }
        }
    }

    fn numbered<const N: usize>(numbers: [u32; N]) -> [Numbered; N] {
        numbers.map(|n| Numbered(format!("@compute @workgroup_size(1) fn main() {{ var x = {n}u; x += 1u; }}")))
    }

    fn empty() -> (Gpu, Pipelines) {
        let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
        let layout = gpu.layout("none", &[]);
        (gpu, Pipelines::new(layout))
    }

    #[test]
    fn a_kernel_of_known_text_is_not_made_again() {
        let (gpu, pipelines) = empty();
        let (first, made) = pipelines.and_new_ones(&gpu, &numbered([1, 2, 1])).unwrap();
        assert_eq!(made.len(), 2);
        assert!(first[0] == first[2] && first[0] != first[1]);
        let (second, made) = pipelines.and_new_ones(&gpu, &numbered([2, 3])).unwrap();
        assert_eq!(made, [1]);
        assert!(second[0] == first[1]);
    }

    #[test]
    fn threads_that_want_the_same_kernel_share_one() {
        let (gpu, pipelines) = empty();
        let made = || pipelines.get(&gpu, &numbered([4])).unwrap().1.made;
        let made: usize = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(made));
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(made, 1);
    }

    #[test]
    fn a_kernel_that_is_refused_is_refused_again_and_does_no_harm() {
        let (gpu, pipelines) = empty();
        for _ in 0..2 {
            assert!(pipelines.get(&gpu, &[Numbered("fn main() { return 1; }".to_string())]).is_err());
        }
        assert_eq!(pipelines.get(&gpu, &numbered([5])).unwrap().1, PipelineCounts { made: 1, found: 0 });
    }

    #[test]
    fn kernels_that_were_not_asked_for_long_make_room() {
        let (_, pipelines) = empty();
        for n in 0..3 * KEPT {
            pipelines.slot(&Kernel { name: "test", wgsl: &n.to_string(), entry_point: "main" });
        }
        let known = pipelines.lock();
        assert!(known.slots.len() <= KEPT);
        let newest = ("main".into(), (3 * KEPT - 1).to_string().into());
        assert!(known.slots.contains_key(&newest));
    }
}
