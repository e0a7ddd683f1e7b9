//! Choices among names, each for an enumeration of the library.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use shadewright::bvh::Quality;
use shadewright::bvh::raysets::View;
use shadewright::render::Backend;
use shadewright::render::call::{RunnerInfo, runners};
use shadewright::render::sampling::Pattern;
use shadewright::rpu::format::Format;
use shadewright::rpu::simd::InstructionSet;
use shadewright::rpu::{ENGINES, EngineInfo};
use shadewright::scene;
use std::sync::LazyLock;

/// Where shaders run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// A hardware GPU where there is one, else the RPU.
    #[default]
    Auto,
    /// One of the table.
    Named(Backend),
}

impl ValueEnum for BackendChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<BackendChoice>> = LazyLock::new(|| {
            [BackendChoice::Auto].into_iter().chain(Backend::all().map(BackendChoice::Named)).collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            BackendChoice::Auto => {
                PossibleValue::new("auto").help("A hardware GPU if there is one, else the RPU (CPU)")
            }
            BackendChoice::Named(backend) => PossibleValue::new(backend.name()).help(&*backend.info().description),
        })
    }
}

/// An engine of the RPU.
#[derive(Clone, Copy, Debug)]
pub struct EngineChoice(pub &'static EngineInfo);

impl ValueEnum for EngineChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<EngineChoice>> =
            LazyLock::new(|| ENGINES.iter().rev().map(|engine| EngineChoice(engine)).collect());
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.description))
    }
}

/// Vector instructions of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Instructions {
    /// Those that every CPU of its kind has; there is no native engine then
    Portable,
    /// AVX2
    Avx2,
    /// AVX-512
    Avx512,
}

impl Instructions {
    /// The instruction set, if this CPU has it.
    pub fn set(self) -> Option<InstructionSet> {
        let name = match self {
            Instructions::Portable => "portable",
            Instructions::Avx2 => "AVX2",
            Instructions::Avx512 => "AVX-512",
        };
        InstructionSet::all().into_iter().find(|set| set.name() == name)
    }
}

/// Where single functions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunOn {
    /// The default runners, and whether they agree.
    #[default]
    All,
    /// The one of this name.
    Runner(&'static str),
}

impl RunOn {
    /// The runners that it stands for.
    pub fn runners(self) -> Vec<RunnerInfo> {
        let is_meant = |row: &RunnerInfo| match self {
            RunOn::All => row.is_default,
            RunOn::Runner(name) => row.name == name,
        };
        runners().into_iter().filter(is_meant).collect()
    }
}

impl ValueEnum for RunOn {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<RunOn>> = LazyLock::new(|| {
            [RunOn::All].into_iter().chain(runners().into_iter().map(|row| RunOn::Runner(row.name))).collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match *self {
            RunOn::All => {
                PossibleValue::new("all").help("The evaluator, the RPU and the GPU, with a comparison of their bits")
            }
            RunOn::Runner(name) => {
                let row = runners().into_iter().find(|row| row.name == name);
                PossibleValue::new(name).help(row.map_or("", |row| row.description))
            }
        })
    }
}

/// Sample patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SamplePattern {
    /// One sample in each stratum of the pixel
    #[default]
    Stratified,
    /// A scrambled Sobol sequence, best with a power of two samples
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

/// Samplers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SamplerChoice {
    /// The same number of samples in every pixel
    #[default]
    Uniform,
    /// The corners of pixels, and more where they differ or small objects lie between them (Whitted 1980)
    Adaptive,
}

/// Floating-point formats of the RPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FloatFormat {
    /// IEEE single precision
    #[default]
    F32,
    /// The hardware's 24-bit float: 7 exponent bits, 16 fraction bits
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

/// How the GPU orders the sections of shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// The order that is usually faster
    #[default]
    Auto,
    /// One kernel per shader section, over the paths queued for it; rays are traced in batches
    Wavefront,
    /// One kernel with all sections and the traversal: fast with few shaders, slow to compile with
    /// many
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

/// Traversal kernels of the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Traversal {
    /// All threads descend the BVH until each has a leaf, then all test triangles
    #[default]
    WhileWhile,
    /// Each iteration of one loop is a node or a triangle
    IfIf,
    /// While-while with persistent threads, which fetch new rays when done
    Persistent,
    /// While-while with speculative traversal: threads postpone a leaf until others have one
    Speculative,
    /// An 8-wide BVH with compressed nodes, which takes less memory
    Wide,
    /// While-while, generated as IR
    GeneratedWhileWhile,
    /// If-if, generated as IR
    GeneratedIfIf,
}

impl From<Traversal> for shadewright::bvh::gpu::kernel::Variant {
    fn from(traversal: Traversal) -> Self {
        match traversal {
            Traversal::WhileWhile => Self::WhileWhile,
            Traversal::IfIf => Self::IfIf,
            Traversal::Persistent => Self::Persistent,
            Traversal::Speculative => Self::Speculative,
            Traversal::Wide => Self::Wide,
            Traversal::GeneratedWhileWhile => Self::GeneratedWhileWhile,
            Traversal::GeneratedIfIf => Self::GeneratedIfIf,
        }
    }
}

/// Calling conventions of the RPU: which registers are saved across calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Convention {
    /// Caller-saved registers only
    #[default]
    Simple,
    /// Some registers are callee-saved
    Mixed,
    /// Callers save only registers that the callee changes
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

/// Transcendental functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Math {
    /// Errors of a few units in the last place, the same bits on the GPU and on the RPU
    #[default]
    Exact,
    /// Errors below 10 %: visually accurate and about 1.7 times as fast on the RPU; the same bits on
    /// both
    Fast,
    /// The GPU's own, as exact as its driver makes them; on the RPU the exact ones
    Native,
}

impl From<Math> for shadewright::program::Math {
    fn from(math: Math) -> Self {
        match math {
            Math::Exact => Self::Exact,
            Math::Fast => Self::Fast,
            Math::Native => Self::Native,
        }
    }
}

/// Camera of the measured primary rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CameraView {
    /// In front of the mesh
    #[default]
    Outside,
    /// Inside the mesh, looking along its longer side
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

/// Integrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Integrator {
    /// Recursive ray tracing: surface shaders loop over lights and trace rays
    Whitted,
    /// Path tracing with multiple importance sampling
    Path,
    /// Ambient occlusion
    Ao,
    /// Shading normals as colors
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

/// Which lights cast ray-traced shadows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Shadows {
    /// All but those with Attribute "light" "shadows" "off"
    #[default]
    On,
    /// None
    Off,
    /// Those with Attribute "light" "shadows" "on"
    Asked,
}

impl From<Shadows> for scene::Shadows {
    fn from(shadows: Shadows) -> scene::Shadows {
        match shadows {
            Shadows::On => scene::Shadows::On,
            Shadows::Off => scene::Shadows::Off,
            Shadows::Asked => scene::Shadows::Asked,
        }
    }
}

/// Spaces in which shaders compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Current {
    /// World space
    World,
    /// Camera space: the z of P is the depth
    Camera,
}

impl From<Current> for scene::Current {
    fn from(current: Current) -> scene::Current {
        match current {
            Current::World => scene::Current::World,
            Current::Camera => scene::Current::Camera,
        }
    }
}

/// Estimators of direct light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Estimator {
    /// Multiple importance sampling with the power heuristic
    Power,
    /// Multiple importance sampling with the balance heuristic
    Balance,
    /// Light sampling only
    Lights,
    /// BSDF sampling only
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

/// BVH builders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeQuality {
    /// Fast build, for geometry that changes
    Fast,
    /// Surface area heuristic (SAH)
    Sah,
    /// SAH with spatial splits: slower to build, faster to trace
    Spatial,
}

impl TreeQuality {
    /// Returns the name on the command line.
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
