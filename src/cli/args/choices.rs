//! Choices among names that stand for what other modules offer.

use clap::ValueEnum;
use shadewright::bvh::Quality;
use shadewright::bvh::raysets::View;
use shadewright::render::sampling::Pattern;
use shadewright::rpu::format::Format;
use shadewright::scene;

/// Which machine renders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A hardware GPU where there is one, else the RPU
    #[default]
    Auto,
    /// Compute shaders through wgpu, on a software driver too
    Gpu,
    /// The software ray processing unit
    Rpu,
}

/// How samples are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SamplePattern {
    /// One in each of the pixel's strata
    #[default]
    Stratified,
    /// A scrambled Sobol sequence, best where their number is a power of two
    Sobol,
}

impl From<SamplePattern> for Pattern {
    fn from(pattern: SamplePattern) -> Self {
        match pattern {
            SamplePattern::Stratified => Pattern::Stratified,
            SamplePattern::Sobol => Pattern::Sobol,
        }
    }
}

/// What the RPU's floats are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FloatFormat {
    /// IEEE single precision
    #[default]
    F32,
    /// The hardware's 24-bit float: 7 bits of exponent, 16 of fraction
    F24,
}

impl From<FloatFormat> for Format {
    fn from(format: FloatFormat) -> Self {
        match format {
            FloatFormat::F32 => Format::F32,
            FloatFormat::F24 => Format::F24,
        }
    }
}

/// How a GPU runs the sections of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// What is faster as a rule
    #[default]
    Auto,
    /// A kernel for each part, over the paths that wait for it; rays traced together
    Wavefront,
    /// One kernel of all parts and the traversal: quick to run for few shaders, slow to compile for many
    Megakernel,
}

impl From<Schedule> for shadewright::render::Schedule {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Auto => Self::Auto,
            Schedule::Wavefront => Self::Wavefront,
            Schedule::Megakernel => Self::Megakernel,
        }
    }
}

/// How a GPU traces rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Traversal {
    /// All threads go down the tree until each has a leaf, then all test triangles
    #[default]
    WhileWhile,
    /// Each turn of one loop is a step down or a triangle
    IfIf,
    /// While-while whose threads take more rays when they are done
    Persistent,
    /// While-while whose threads keep a leaf for later while others look for theirs
    Speculative,
    /// Through a tree of eight children a node, in compressed nodes that take less memory
    Wide,
}

impl From<Traversal> for shadewright::bvh::gpu::kernel::Variant {
    fn from(traversal: Traversal) -> Self {
        match traversal {
            Traversal::WhileWhile => Self::WhileWhile,
            Traversal::IfIf => Self::IfIf,
            Traversal::Persistent => Self::Persistent,
            Traversal::Speculative => Self::Speculative,
            Traversal::Wide => Self::Wide,
        }
    }
}

/// Who keeps registers across calls on the RPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Convention {
    /// The caller keeps everything
    #[default]
    Simple,
    /// The called function leaves some registers as they were
    Mixed,
    /// Callers know which registers a function changes
    Interprocedural,
}

impl From<Convention> for shadewright::codegen::rpu::Convention {
    fn from(c: Convention) -> Self {
        match c {
            Convention::Simple => Self::Simple,
            Convention::Mixed => Self::Mixed,
            Convention::Interprocedural => Self::Interprocedural,
        }
    }
}

/// Where the camera of measured rays is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CameraView {
    /// In front of the mesh
    #[default]
    Outside,
    /// In the mesh, looking along its longer side
    Inside,
}

impl From<CameraView> for View {
    fn from(view: CameraView) -> View {
        match view {
            CameraView::Outside => View::Outside,
            CameraView::Inside => View::Inside,
        }
    }
}

/// How the light along a ray is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Integrator {
    /// Recursive ray tracing: surfaces shade themselves by lights and by the rays that they send
    Whitted,
    /// Path tracing: light is followed from surface to surface
    Path,
    /// How open the sky is over each place
    Ao,
    /// Shading normals as colours
    Normals,
}

impl From<Integrator> for scene::Integrator {
    fn from(integrator: Integrator) -> scene::Integrator {
        match integrator {
            Integrator::Whitted => scene::Integrator::Whitted,
            Integrator::Path => scene::Integrator::Path,
            Integrator::Ao => scene::Integrator::AmbientOcclusion,
            Integrator::Normals => scene::Integrator::Normals,
        }
    }
}

/// How paths look at lights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Estimator {
    /// By both, weighted by the squares of their densities
    Power,
    /// By both, weighted by their densities
    Balance,
    /// By points of lights alone
    Lights,
    /// By directions of materials alone
    Scattering,
}

impl From<Estimator> for scene::Estimator {
    fn from(estimator: Estimator) -> scene::Estimator {
        match estimator {
            Estimator::Power => scene::Estimator::Power,
            Estimator::Balance => scene::Estimator::Balance,
            Estimator::Lights => scene::Estimator::Lights,
            Estimator::Scattering => scene::Estimator::Scattering,
        }
    }
}

/// How a tree is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeQuality {
    /// Quickly, for geometry that changes
    Fast,
    /// By the surface area heuristic
    Sah,
    /// With spatial splits as well: slower to build, faster to trace
    Spatial,
}

impl TreeQuality {
    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            TreeQuality::Fast => "fast",
            TreeQuality::Sah => "sah",
            TreeQuality::Spatial => "spatial",
        }
    }
}

impl From<Quality> for TreeQuality {
    fn from(quality: Quality) -> TreeQuality {
        match quality {
            Quality::Fast => TreeQuality::Fast,
            Quality::Sah => TreeQuality::Sah,
            Quality::Spatial => TreeQuality::Spatial,
        }
    }
}

impl From<TreeQuality> for Quality {
    fn from(tree: TreeQuality) -> Quality {
        match tree {
            TreeQuality::Fast => Quality::Fast,
            TreeQuality::Sah => Quality::Sah,
            TreeQuality::Spatial => Quality::Spatial,
        }
    }
}
