//! The table of back ends: what can render a [`Job`](super::Job), and how each is opened.
//!
//! The command line, `compare` and the viewer read this table; a back end that has a row is a value
//! of `--backend`, `--between` and, where it runs functions, of `run --on`. Each engine of the RPU
//! has a row: the default one is `rpu`.

use super::call::{Agreement, FunctionRunner, GpuRunner, Rpu};
use super::gpu::{self, Compute, GpuProgressive, GpuRenderer, GpuSamples, has_hardware_adapter};
use super::progressive::Progressive;
use super::rpu::{RpuProgressive, RpuRenderer, RpuSamples};
use super::samples::SampleRunner;
use super::{Job, RenderError, Renderer, Schedule};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shadewright_bvh::gpu::kernel::Variant;
use shadewright_rpu::engine::{self, EngineInfo};
use shadewright_rpu::format::Format;
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// The options that back ends are opened with; each reads what concerns it.
#[derive(Clone, Debug, Default)]
pub struct BackendOptions {
    /// Part of the name of a GPU adapter; `None` for the best one.
    pub adapter: Option<String>,
    /// The order in which a GPU runs sections.
    pub schedule: Schedule,
    /// The traversal kernel of a GPU.
    pub traversal: Variant,
    /// How the RPU's programs are compiled. The row chooses its engine and number format.
    pub rpu: RpuRenderer,
    /// How many threads of its own a back end on the CPU renders passes on; `None` for the current
    /// rayon pool.
    pub own_threads: Option<usize>,
}

/// A back end that is opened for something, such as rendering.
type Open<T> = fn(&BackendInfo, &BackendOptions) -> Result<Box<T>, RenderError>;

/// A row of the table.
pub struct BackendInfo {
    /// The name on the command line and in names of files.
    pub name: Cow<'static, str>,
    /// The name in running text.
    pub title: Cow<'static, str>,
    /// The name where a user chooses a device.
    pub label: Cow<'static, str>,
    /// A description in one line.
    pub description: Cow<'static, str>,
    /// True if it uses a GPU, and the options that are about one.
    pub uses_gpu: bool,
    /// The number format that shaders compute in.
    pub format: Format,
    /// How closely the functions that it runs agree with the evaluator; `None` where it runs none.
    pub agreement: Option<Agreement>,
    engine: Option<&'static EngineInfo>,
    check: fn(&BackendInfo, &BackendOptions, &Job) -> Result<(), RenderError>,
    open_renderer: Open<dyn Renderer>,
    open_progressive: Open<dyn Progressive>,
    open_runner: Open<dyn FunctionRunner>,
    open_samples: Open<dyn SampleRunner>,
}

impl fmt::Debug for BackendInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The rows. Those of [`Backend`]'s constants are the first, in their order.
static BACKENDS: LazyLock<Vec<BackendInfo>> = LazyLock::new(|| {
    let default = engine::default_engine();
    let gpu = BackendInfo {
        name: "gpu".into(),
        title: "GPU".into(),
        label: "GPU".into(),
        description: "Compute shaders on the GPU or on a software driver, through wgpu".into(),
        uses_gpu: true,
        format: Format::F32,
        agreement: Some(Agreement::Wgsl),
        engine: None,
        check: |_, _, job| gpu::check(job),
        open_renderer: |_, options| Ok(Box::new(gpu_renderer(options)?)),
        open_progressive: |_, options| Ok(Box::new(GpuProgressive::new(gpu_renderer(options)?))),
        open_runner: |_, options| {
            let compute = Compute::new(options.adapter.as_deref()).map_err(|e| RenderError::Device(e.to_string()))?;
            Ok(Box::new(GpuRunner { compute, schedule: Schedule::Wavefront }))
        },
        open_samples: |_, options| Ok(Box::new(GpuSamples::new(gpu_renderer(options)?))),
    };
    let rpu = on_rpu(default, Format::F32, "rpu".into(), "The software ray processing unit, on the CPU".into());
    let f24 = BackendInfo {
        title: "RPU with 24-bit floats".into(),
        label: "RPU (CPU), 24-bit floats".into(),
        agreement: None,
        ..on_rpu(default, Format::F24, "rpu-f24".into(), "The RPU with the 24-bit floats of its hardware".into())
    };
    let others = engine::available().filter(|engine| engine.name != default.name).map(|engine| {
        let (name, description) = (format!("rpu-{}", engine.name), format!("The RPU on its {}", engine.name));
        BackendInfo {
            title: format!("RPU's {}", engine.name).into(),
            label: format!("RPU (CPU), {}", engine.name).into(),
            ..on_rpu(engine, Format::F32, name.into(), description.into())
        }
    });
    [gpu, rpu, f24].into_iter().chain(others).collect()
});

/// A row of the RPU.
fn on_rpu(
    engine: &'static EngineInfo,
    format: Format,
    name: Cow<'static, str>,
    description: Cow<'static, str>,
) -> BackendInfo {
    BackendInfo {
        name,
        title: "RPU".into(),
        label: "RPU (CPU)".into(),
        description,
        uses_gpu: false,
        format,
        agreement: Some(Agreement::Bits),
        engine: Some(engine),
        check: |row, options, job| row.rpu_renderer(options).load(job).map(drop),
        open_renderer: |row, options| Ok(Box::new(row.rpu_renderer(options))),
        open_progressive: |row, options| {
            let rpu = RpuProgressive::new(row.rpu_renderer(options));
            Ok(Box::new(match options.own_threads {
                Some(threads) => rpu.on_own_threads(threads)?,
                None => rpu,
            }))
        },
        open_runner: |row, options| {
            let engine = row.engine.unwrap_or_else(engine::default_engine);
            Ok(Box::new(Rpu { engine, options: options.rpu.options().clone(), ..Rpu::default() }))
        },
        open_samples: |row, options| Ok(Box::new(RpuSamples::new(row.rpu_renderer(options)))),
    }
}

fn gpu_renderer(options: &BackendOptions) -> Result<GpuRenderer, RenderError> {
    let renderer = GpuRenderer::new(options.adapter.as_deref());
    let mut renderer = renderer.map_err(|e| RenderError::Device(e.to_string()))?;
    renderer.set_schedule(options.schedule);
    renderer.set_traversal(options.traversal);
    Ok(renderer)
}

impl BackendInfo {
    /// Returns the name of what the RPU runs with on this CPU, such as the instruction set; empty
    /// for a GPU.
    pub fn runs_with(&self) -> &'static str {
        self.engine.map_or("", |engine| (engine.runs_with)())
    }

    fn rpu_renderer(&self, options: &BackendOptions) -> RpuRenderer {
        let renderer = options.rpu.clone().in_format(self.format);
        self.engine.map_or(renderer.clone(), |engine| renderer.on_engine(engine))
    }
}

/// A back end: a row of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Backend(usize);

impl Backend {
    /// Compute shaders.
    pub const GPU: Backend = Backend(0);
    /// The software ray processing unit on its default engine.
    pub const RPU: Backend = Backend(1);
    /// The RPU with 24-bit floats.
    pub const RPU_F24: Backend = Backend(2);

    /// The RPU on an engine, in single precision, if that runs on this CPU.
    pub fn from_engine(engine: &EngineInfo) -> Option<Backend> {
        let is_meant = |row: &BackendInfo| {
            row.format == Format::F32 && row.engine.is_some_and(|of_row| of_row.name == engine.name)
        };
        BACKENDS.iter().position(is_meant).map(Backend)
    }

    /// The back ends that the viewer shows, in the order of its toolbar. [`Backend::index`] of each
    /// is its place here.
    pub const INTERACTIVE: [Backend; 2] = [Backend::GPU, Backend::RPU];

    /// All back ends.
    pub fn all() -> impl ExactSizeIterator<Item = Backend> {
        (0..BACKENDS.len()).map(Backend)
    }

    /// The back end of a name, whatever the case.
    pub fn named(name: &str) -> Option<Backend> {
        Backend::all().find(|backend| backend.info().name.eq_ignore_ascii_case(name))
    }

    /// The one that renders where none is named: a GPU where there is a hardware adapter or
    /// `adapter` names one, else the RPU.
    pub fn automatic(adapter: Option<&str>) -> Backend {
        if adapter.is_some() || has_hardware_adapter() { Backend::GPU } else { Backend::RPU }
    }

    /// Compiles a job's program for the back end. Needs no device.
    ///
    /// # Errors
    /// When the program has something that the back end cannot do.
    pub fn check(self, job: &Job, options: &BackendOptions) -> Result<(), RenderError> {
        let row = self.info();
        (row.check)(row, options, job)
    }

    /// The back end's row of the table.
    pub fn info(self) -> &'static BackendInfo {
        &BACKENDS[self.0]
    }

    /// The back end's place in the table.
    pub fn index(self) -> usize {
        self.0
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        &self.info().name
    }

    /// The name in running text.
    pub fn title(self) -> &'static str {
        &self.info().title
    }

    /// The name where a user chooses a device.
    pub fn label(self) -> &'static str {
        &self.info().label
    }

    /// Opens it to render whole images.
    ///
    /// # Errors
    /// When there is no such device, or it fails.
    pub fn renderer(self, options: &BackendOptions) -> Result<Box<dyn Renderer>, RenderError> {
        (self.info().open_renderer)(self.info(), options)
    }

    /// Opens it to render in passes.
    ///
    /// # Errors
    /// When there is no such device, or it fails.
    pub fn progressive(self, options: &BackendOptions) -> Result<Box<dyn Progressive>, RenderError> {
        (self.info().open_progressive)(self.info(), options)
    }

    /// Opens it to run functions.
    ///
    /// # Errors
    /// When there is no such device, or it fails.
    pub fn runner(self, options: &BackendOptions) -> Result<Box<dyn FunctionRunner>, RenderError> {
        (self.info().open_runner)(self.info(), options)
    }

    /// Opens it to run single samples.
    ///
    /// # Errors
    /// When there is no such device, or it fails.
    pub fn samples(self, options: &BackendOptions) -> Result<Box<dyn SampleRunner>, RenderError> {
        (self.info().open_samples)(self.info(), options)
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Backend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Backend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Backend, D::Error> {
        let name = String::deserialize(deserializer)?;
        Backend::named(&name).ok_or_else(|| serde::de::Error::custom(format!("no back end is named `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_constants_are_the_first_rows_and_names_are_distinct() {
        let constants = [Backend::GPU, Backend::RPU, Backend::RPU_F24];
        assert_eq!(constants.map(Backend::name), ["gpu", "rpu", "rpu-f24"]);
        let names: HashSet<_> = Backend::all().map(Backend::name).collect();
        assert_eq!(names.len(), Backend::all().len());
        assert!(Backend::INTERACTIVE.into_iter().enumerate().all(|(i, backend)| backend.index() == i));
        assert!(Backend::all().all(|backend| Backend::named(backend.name()) == Some(backend)));
    }

    #[test]
    fn a_back_end_is_stored_by_name() {
        let stored = serde_json::to_string(&Backend::RPU).expect("a string");
        assert_eq!(stored, "\"rpu\"");
        assert_eq!(serde_json::from_str::<Backend>("\"Gpu\"").ok(), Some(Backend::GPU));
        assert!(serde_json::from_str::<Backend>("\"abacus\"").is_err());
    }
}
