//! A program compiled for one of the two executors.

use super::device::Gpu;
use super::executor::{PathExecutor, Setup};
use super::megakernel::{MegakernelExecutor, max_private_words, traversal};
use super::wavefront::{Compute, WavefrontExecutor};
use crate::{RenderError, Schedule};
use shadewright_bvh::gpu::kernel::{Leaves, Levels};
use shadewright_codegen::wgsl::{self, GpuProgram, Interface, Megakernel, MegakernelOptions, WgslOptions};
use shadewright_ir::Module;
use std::fmt::Debug;
use std::ops::Deref;

/// A program's kernels.
#[derive(Clone, Debug)]
pub(super) enum Program {
    /// A kernel for each section, for the wavefront executor.
    Sections(GpuProgram),
    /// One kernel with all sections.
    Megakernel(Box<Megakernel>),
}

impl Program {
    /// Compiles what `entries` and the shaders reach, for this device. Rays are nested up to
    /// `depth` deep; `levels` are those of the BVH.
    ///
    /// # Errors
    /// When the program has something that a GPU cannot do.
    pub fn compile(
        gpu: &Gpu,
        module: &Module,
        entries: &[&str],
        options: &WgslOptions,
        levels: Levels,
        depth: u32,
        schedule: Schedule,
    ) -> Result<Self, RenderError> {
        let compiled = match schedule {
            Schedule::Auto | Schedule::Wavefront => return Self::sections(module, entries, options),
            Schedule::Megakernel => {
                let leaves = if options.intersections.is_empty() { Leaves::Triangles } else { Leaves::Procedural };
                let max_private_words = max_private_words(gpu);
                let own = MegakernelOptions { depth, max_private_words, traversal: &traversal(levels, leaves) };
                wgsl::compile_megakernel(module, entries, options, &own)
                    .map(|kernel| Program::Megakernel(Box::new(kernel)))
            }
        };
        compiled.map_err(unsupported)
    }

    /// A kernel for each section of what `entries` and the shaders reach.
    ///
    /// # Errors
    /// When the program has something that a GPU cannot do.
    pub fn sections(module: &Module, entries: &[&str], options: &WgslOptions) -> Result<Self, RenderError> {
        wgsl::compile(module, entries, options).map(Program::Sections).map_err(unsupported)
    }

    /// The program's interface to the executor.
    pub fn interface(&self) -> &Interface {
        match self {
            Program::Sections(program) => &program.interface,
            Program::Megakernel(kernel) => &kernel.interface,
        }
    }

    /// The section that an entry starts with.
    ///
    /// # Errors
    /// When there is no such entry.
    pub fn entry(&self, name: &str) -> Result<u32, RenderError> {
        let reason = || format!("it has no entry {name}");
        let entry = self.interface().entry_section.get(name).copied();
        entry.ok_or_else(|| RenderError::Unsupported { backend: "the GPU", reason: reason() })
    }

    /// The executor of the program on a borrowed or shared device.
    ///
    /// # Errors
    /// When something does not fit the device, or the device fails.
    pub fn executor<'c, C>(&self, compute: C, setup: &Setup<'_>) -> Result<Box<dyn PathExecutor + 'c>, RenderError>
    where
        C: Deref<Target = Compute> + Debug + Send + 'c,
    {
        Ok(match self {
            Program::Sections(program) => {
                let intersections = program.intersections.clone();
                Box::new(WavefrontExecutor::with_procedural(compute, &program.sections, intersections, setup)?)
            }
            Program::Megakernel(kernel) => Box::new(MegakernelExecutor::new(compute, kernel, setup)?),
        })
    }
}

fn unsupported(error: wgsl::Error) -> RenderError {
    RenderError::Unsupported { backend: "the GPU", reason: error.to_string() }
}
