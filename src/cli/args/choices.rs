//! Choices among named values: one value parser, and a table for each choice. Names and descriptions
//! come from the library's tables where it has them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use shadewright::bvh::Quality;
use shadewright::bvh::gpu::kernel::Variant;
use shadewright::bvh::raysets::View;
use shadewright::circuit::stimuli::Radix;
use shadewright::codegen::rpu::{Abi, Convention};
use shadewright::machines::array::mapping::Mapping;
use shadewright::machines::polygons::hidden_lines::{Edges, Hidden};
use shadewright::machines::polygons::of_job::{Colors, Interpolation};
use shadewright::program::Math;
use shadewright::render::call::{RunnerInfo, runners};
use shadewright::render::sampling::Pattern;
use shadewright::render::{Backend, Schedule};
use shadewright::rpu::format::Format;
use shadewright::rpu::{ENGINES, EngineInfo};
use shadewright::scene::{Current, Estimator, Integrator, Shadows};
use shadewright::solid_volume::raster::Axis;
use std::ffi::OsStr;

/// A row of a table: the name on the command line, a description in one line, and the value.
pub type Row<T> = (&'static str, &'static str, T);

/// Parses a value by its name in a table.
#[derive(Clone, Debug)]
pub struct NamedChoice<T>(Vec<(PossibleValue, T)>);

impl<T> NamedChoice<T> {
    /// The choice among the rows of a table, in the order of the help.
    pub fn new(rows: impl IntoIterator<Item = Row<T>>) -> Self {
        Self(rows.into_iter().map(|(name, help, value)| (PossibleValue::new(name).help(help), value)).collect())
    }

    fn possible(&self) -> impl Iterator<Item = PossibleValue> + '_ {
        self.0.iter().map(|(shown, _)| shown.clone())
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NamedChoice<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let name = PossibleValuesParser::new(self.possible()).parse_ref(command, arg, value)?;
        let row = self.0.iter().find(|(shown, _)| shown.matches(&name, arg.is_some_and(Arg::is_ignore_case_set)));
        row.map(|(_, value)| value.clone()).ok_or_else(|| Error::new(ErrorKind::InvalidValue).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.possible()))
    }
}

/// The name of a value in its table.
pub fn name_in<T: PartialEq>(table: &[Row<T>], value: &T) -> &'static str {
    table.iter().find(|row| row.2 == *value).map_or("", |row| row.0)
}

/// The back ends.
pub fn backends() -> NamedChoice<Backend> {
    NamedChoice::new(rows_of_backends(|backend| backend))
}

/// The back ends as values of a choice.
fn rows_of_backends<T>(value: impl Fn(Backend) -> T) -> impl Iterator<Item = Row<T>> {
    Backend::all().map(move |backend| (backend.name(), &*backend.info().description, value(backend)))
}

/// Where shaders run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// A hardware GPU where there is one, else the RPU.
    #[default]
    Auto,
    /// One of the table.
    Named(Backend),
}

/// The back ends, and the choice of one by the program.
pub fn backends_or_auto() -> NamedChoice<BackendChoice> {
    let auto = ("auto", "A hardware GPU if there is one, else the RPU (CPU)", BackendChoice::Auto);
    NamedChoice::new([auto].into_iter().chain(rows_of_backends(BackendChoice::Named)))
}

/// The back ends whose parts of an image fit together on a render farm.
pub const FARM_BACKENDS: [Row<Backend>; 2] = [
    ("rpu", "The RPU: the same bits on all processors", Backend::RPU),
    ("gpu", "The GPU: the nodes need GPUs of one kind", Backend::GPU),
];

/// The engines of the RPU.
pub fn engines() -> NamedChoice<&'static EngineInfo> {
    NamedChoice::new(ENGINES.iter().rev().map(|engine| (engine.name, engine.description, *engine)))
}

/// Vector instructions of the CPU, each with the name that the library has for them.
pub const INSTRUCTION_SETS: [Row<&str>; 3] = [
    ("portable", "Those that every CPU of its kind has; there is no native engine then", "portable"),
    ("avx2", "AVX2", "AVX2"),
    ("avx512", "AVX-512", "AVX-512"),
];

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

/// The runners of single functions, and all that run by default.
pub fn runners_or_all() -> NamedChoice<RunOn> {
    let all = ("all", "The evaluator, the RPU and the GPU, with a comparison of their bits", RunOn::All);
    let named = runners().into_iter().map(|row| (row.name, row.description, RunOn::Runner(row.name)));
    NamedChoice::new([all].into_iter().chain(named))
}

/// Sample patterns.
pub const PATTERNS: [Row<Pattern>; 2] = [
    ("stratified", "One sample in each stratum of the pixel", Pattern::Stratified),
    ("sobol", "A scrambled Sobol sequence, best with a power of two samples", Pattern::Sobol),
];

/// Floating-point formats of the RPU.
pub const FORMATS: [Row<Format>; 2] = [
    ("f32", "IEEE single precision", Format::F32),
    ("f24", "The hardware's 24-bit float: 7 exponent bits, 16 fraction bits", Format::F24),
];

/// Orders in which the GPU runs the sections of shaders.
pub const SCHEDULES: [Row<Schedule>; 3] = [
    ("auto", "The order that is usually faster", Schedule::Auto),
    (
        "wavefront",
        "One kernel per shader section, over the paths queued for it; rays are traced in batches",
        Schedule::Wavefront,
    ),
    (
        "megakernel",
        "One kernel with all sections and the traversal: fast with few shaders, slow to compile with many",
        Schedule::Megakernel,
    ),
];

/// Traversal kernels of the GPU.
pub fn traversals() -> NamedChoice<Variant> {
    let help = |variant| match variant {
        Variant::WhileWhile => "All threads descend the BVH until each has a leaf, then all test triangles",
        Variant::IfIf => "Each iteration of one loop is a node or a triangle",
        Variant::Persistent => "While-while with persistent threads, which fetch new rays when done",
        Variant::Speculative => "While-while with speculative traversal: threads postpone a leaf until others have one",
        Variant::Wide => "An 8-wide BVH with compressed nodes, which takes less memory",
        Variant::GeneratedWhileWhile => "While-while, generated as IR",
        Variant::GeneratedIfIf => "If-if, generated as IR",
    };
    NamedChoice::new(Variant::ALL.map(|variant| (variant.name(), help(variant), variant)))
}

/// Calling conventions of the RPU.
pub const CONVENTIONS: [Row<Convention>; 3] = [
    ("simple", "Caller-saved registers only", Convention::Simple),
    ("mixed", "Some registers are callee-saved", Convention::Mixed),
    ("interprocedural", "Callers save only registers that the callee changes", Convention::Interprocedural),
];

/// ABIs of the RPU.
pub const ABIS: [Row<Abi>; 2] = [
    ("native", "The renderer's", Abi::Native),
    ("thesis", "That of Węgrzanowski 2006: E = 0, flat normals, no opacity", Abi::Thesis),
];

/// Transcendental functions.
pub const MATH: [Row<Math>; 3] = [
    ("exact", "Errors of a few units in the last place, the same bits on the GPU and on the RPU", Math::Exact),
    (
        "fast",
        "Errors below 10 %: visually accurate and about 1.7 times as fast on the RPU; the same bits on both",
        Math::Fast,
    ),
    ("native", "The GPU's own, as exact as its driver makes them; on the RPU the exact ones", Math::Native),
];

/// Integrators.
pub fn integrators() -> NamedChoice<Integrator> {
    let help = |integrator| match integrator {
        Integrator::Whitted => "Recursive ray tracing: surface shaders loop over lights and trace rays",
        Integrator::Path => "Path tracing with multiple importance sampling",
        Integrator::AmbientOcclusion => "Ambient occlusion",
        Integrator::Normals => "Shading normals as colors",
    };
    NamedChoice::new(Integrator::ALL.map(|integrator| (integrator.name(), help(integrator), integrator)))
}

/// Estimators of direct light.
pub fn estimators() -> NamedChoice<Estimator> {
    let help = |estimator| match estimator {
        Estimator::Power => "Multiple importance sampling with the power heuristic",
        Estimator::Balance => "Multiple importance sampling with the balance heuristic",
        Estimator::Lights => "Light sampling only",
        Estimator::Scattering => "BSDF sampling only",
    };
    NamedChoice::new(Estimator::ALL.map(|estimator| (estimator.name(), help(estimator), estimator)))
}

/// Which lights cast ray-traced shadows.
pub const SHADOWS: [Row<Shadows>; 3] = [
    ("on", "All but those with Attribute \"light\" \"shadows\" \"off\"", Shadows::On),
    ("off", "None", Shadows::Off),
    ("asked", "Those with Attribute \"light\" \"shadows\" \"on\"", Shadows::Asked),
];

/// Spaces in which shaders compute.
pub const SPACES: [Row<Current>; 2] =
    [("world", "World space", Current::World), ("camera", "Camera space: the z of P is the depth", Current::Camera)];

/// BVH builders.
pub const BUILDERS: [Row<Quality>; 3] = [
    ("fast", "Fast build, for geometry that changes", Quality::Fast),
    ("sah", "Surface area heuristic (SAH)", Quality::Sah),
    ("spatial", "SAH with spatial splits: slower to build, faster to trace", Quality::Spatial),
];

/// Cameras of measured primary rays.
pub const VIEWS: [Row<View>; 2] = [
    ("outside", "In front of the mesh", View::Outside),
    ("inside", "Inside the mesh, looking along its longer side", View::Inside),
];

/// Edges that a line drawing shows.
pub const EDGES: [Row<Edges>; 2] = [
    ("all", "All but those between polygons in one plane", Edges::All),
    ("features", "Silhouettes, creases, and edges of one polygon alone", Edges::Features),
];

/// How a line drawing shows hidden lines.
pub const HIDDEN_LINES: [Row<Hidden>; 2] =
    [("none", "They are left out", Hidden::None), ("dashed", "They are dashed", Hidden::Dashed)];

/// Sources of the colors of polygon hardware.
pub const COLOR_SOURCES: [Row<Colors>; 2] = [
    ("shaders", "The scene's shaders, which the host runs at the corners", Colors::Shaders),
    ("machine", "The hardware's own lighting: ambient and distant lights on matte surfaces", Colors::Hardware),
];

/// How polygon hardware interpolates colors.
pub const INTERPOLATIONS: [Row<Interpolation>; 2] = [
    ("constant", "Each polygon has one color", Interpolation::Constant),
    ("smooth", "The colors of the corners are interpolated (Gouraud)", Interpolation::Smooth),
];

/// Mappings of space to the nodes of an array.
pub const MAPPINGS: [Row<Mapping>; 3] = [
    ("plain", "A node has the cells behind one another", Mapping::Plain),
    ("skew", "Each layer is shifted to the left by one node", Mapping::Skew),
    ("torus", "Layers are shifted to the left and down alternately", Mapping::Torus),
];

/// Directions of the rays that measure a volume.
pub const RAY_DIRECTIONS: [Row<&[Axis]>; 4] = [
    ("x", "Along the x axis", &[Axis::X]),
    ("y", "Along the y axis", &[Axis::Y]),
    ("z", "Along the z axis", &[Axis::Z]),
    ("all", "Three rasters, one along each axis", &Axis::ALL),
];

/// How the words of a circuit are written.
pub const RADIXES: [Row<Radix>; 3] = [
    ("signed", "Decimal numbers with a sign", Radix::Signed),
    ("unsigned", "Decimal numbers without a sign", Radix::Unsigned),
    ("hexadecimal", "Hexadecimal numbers", Radix::Hexadecimal),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_gives_the_value_of_its_row_and_refuses_other_names() {
        let parser = NamedChoice::new(PATTERNS);
        let command = Command::new("test");
        let parse = |name: &str| parser.parse_ref(&command, None, OsStr::new(name));
        assert_eq!(parse("sobol").ok(), Some(Pattern::Sobol));
        let error = parse("random").expect_err("no such pattern");
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert_eq!(parser.possible_values().map(Iterator::count), Some(2));
    }

    #[test]
    fn a_value_has_the_name_of_its_row() {
        assert_eq!(name_in(&SCHEDULES, &Schedule::Megakernel), "megakernel");
        assert_eq!(name_in(&BUILDERS, &Quality::Sah), "sah");
    }
}
