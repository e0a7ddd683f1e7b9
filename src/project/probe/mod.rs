//! Probes one sample of an image: its hits, its ray tree, and a recording of its shaders that can
//! be stepped forwards and backwards.
//!
//! Takes a scene, its program linked with debug information ([`link`]), its BVH, and a sample of a
//! pixel; runs it on the reference evaluator and gives a [`Probe`], which is plain data. Its color
//! is bit-identical to the sample's in the image. Nothing here knows a back end, a window or how a
//! scene is opened.
//!
//! | file | holds |
//! |---|---|
//! | [`rays`] | the ray tree |
//! | [`recording`] | steps, variables, and the debugger's view of each step |
//! | `navigate` | navigation between steps |
//! | [`printf`] | what shaders print |
//! | `record` | the evaluator's observer that records both |
//! | [`value`] | values with the types of the source |
//! | [`report`] | the probe as text and as JSON |
//! | [`diverge`] | the first value at which two back ends differ |

pub mod diverge;
mod navigate;
pub mod printf;
pub mod rays;
mod record;
pub mod recording;
pub mod report;
pub mod value;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use navigate::Reach;
pub use rays::{RayKind, RayRecord, RayTree, SurfacePoint};
pub use recording::{Moment, Recording};
pub use value::{Named, Value};

use record::Recorder;
use shadewright_base::text::source::{SourceMap, Span};
use shadewright_bvh::TwoLevel;
use shadewright_ir::eval::{EvalError, eval_observed};
use shadewright_ir::{Const, Limits};
use shadewright_program::{self as program, CAMERA_ENTRY, IMAGER_ENTRY, LinkError, LinkOptions, Program};
use shadewright_render::SceneWorld;
use shadewright_render::film::FilmSettings;
use shadewright_render::sampling::Sampling;
use shadewright_scene::Scene;
use thiserror::Error;

/// Maximum call depth of a sample: far more than the RPU's stack allows.
const MAX_DEPTH: usize = 1 << 16;

/// An image whose samples can be probed.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The scene's program with debug information: see [`link`] and [`with_data_of`].
    pub program: &'a Program,
    /// The scene's BVH.
    pub bvh: &'a TwoLevel,
}

/// A sample of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Column and row of the pixel, from the upper left.
    pub pixel: [u32; 2],
    /// The number among the samples of the pixel, from 0.
    pub number: u32,
    /// The samples of the image.
    pub sampling: Sampling,
    /// Back edges and calls that the sample may take.
    pub budget: u32,
}

/// The result of probing a sample.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The sample.
    pub sample: Sample,
    /// The position on the image in pixels.
    pub raster: [f32; 2],
    /// The linear color, before any imager; zero if the sample did not end.
    pub color: [f32; 3],
    /// The coverage of the sample.
    pub alpha: f32,
    /// Color and coverage after the scene's imager, applied to this sample alone. In an image the
    /// imager acts on the mean of all samples of a pixel.
    pub imaged: Option<([f32; 3], f32)>,
    /// Why it did not end; the recording stops there.
    pub failure: Option<Stopped>,
    /// The rays that it traced, in order: parents before their children.
    pub rays: Vec<RayRecord>,
    /// True if it traced more rays than are recorded.
    pub rays_truncated: bool,
    /// The lines that the sample's shaders printed.
    pub printed: Vec<String>,
    /// The steps of the sample.
    pub recording: Recording,
}

/// Why a sample did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// A message on what happened.
    pub message: String,
    /// The loop or call that exceeded the limit.
    pub place: Option<Span>,
}

/// A part of an image that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AbsentSample {
    /// The pixel.
    #[error("pixel {x},{y} is outside the image of {width}x{height} pixels; columns and rows count from 0")]
    Pixel {
        /// Column.
        x: u32,
        /// Row.
        y: u32,
        /// Columns of the image.
        width: u32,
        /// Rows of the image.
        height: u32,
    },
    /// The sample.
    #[error("there is no sample {number}: the image has {count} a pixel, numbered from 0")]
    Sample {
        /// The number asked for.
        number: u32,
        /// Samples a pixel.
        count: u32,
    },
}

impl AbsentSample {
    /// Checks that an image of this size has the pixel, and the sample where one is named, of `count`
    /// in each pixel.
    fn check([x, y]: [u32; 2], [width, height]: [u32; 2], sample: Option<u32>, count: u32) -> Result<(), AbsentSample> {
        if x >= width || y >= height {
            return Err(AbsentSample::Pixel { x, y, width, height });
        }
        match sample {
            Some(number) if number >= count => Err(AbsentSample::Sample { number, count }),
            _ => Ok(()),
        }
    }
}

/// Why a sample cannot be probed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProbeError {
    /// The image does not have it.
    #[error(transparent)]
    Absent(#[from] AbsentSample),
    /// The program has no debug information.
    #[error("the program has no debug information: {0}")]
    Program(EvalError),
}

/// Links a scene for [`probe`]: with debug instructions, and without optimization passes.
///
/// # Errors
/// The errors of [`program::link`].
pub fn link(scene: &Scene, sources: SourceMap, options: &LinkOptions) -> Result<Program, LinkError> {
    program::link(scene, sources, &link_options(options))
}

/// The options of [`link`], derived from the `options` of the rendered program.
pub fn link_options(options: &LinkOptions) -> LinkOptions {
    LinkOptions { debug: true, pipeline: options.pipeline.clone().only_of_linker(), ..options.clone() }
}

/// A program linked by [`link`] with the shading data and the constants of the program that an
/// image was drawn with, linked from the same scene: parameters may have been edited, and the
/// camera moved, since.
pub fn with_data_of(debug: &Program, image: &Program) -> Program {
    Program { memory: image.memory.clone(), constants: image.constants, ..debug.clone() }
}

/// Probes a sample.
///
/// # Errors
/// When the pixel or sample does not exist, or the program was not linked by [`link`].
pub fn probe(subject: &Subject<'_>, sample: &Sample) -> Result<Probe, ProbeError> {
    let program = subject.program;
    let size = program.constants.format();
    let [x, y] = sample.pixel;
    AbsentSample::check(sample.pixel, size, Some(sample.number), sample.sampling.count())?;
    let film = FilmSettings::new(&subject.scene.film, subject.program);
    let shot = sample.sampling.sample(&film, x, y, sample.number);
    let raster = shot.raster.to_array();
    let arguments = shot.arguments().map(Const::F32);
    let mut world = SceneWorld::new(program, subject.bvh);
    let mut recorder = Recorder::new(subject.scene, program, world);
    let limits = Limits { fuel: u64::from(sample.budget), depth: MAX_DEPTH };
    let mut run = |entry: &str, args: &[Const]| -> Result<([f32; 3], f32), EvalError> {
        let values = eval_observed(&program.module, entry, args, &mut world, limits, &mut recorder)?;
        match values.as_slice() {
            [Const::Vec3(color), Const::F32(alpha)] => Ok((*color, *alpha)),
            _ => Ok(([0.0; 3], 0.0)),
        }
    };
    let mut imaged = None;
    let result = run(CAMERA_ENTRY, &arguments[..program.camera_arguments()]).and_then(|(color, alpha)| {
        // The entry multiplies by the filter weight, which is 1 or −1.
        let (color, alpha) = (color.map(|c| c * shot.weight), alpha * shot.weight);
        if program.has_imager {
            let middle = [x, y].map(|side| Const::F32(side as f32 + 0.5));
            let args = [&middle[..], &[Const::Vec3(color), Const::F32(alpha)]].concat();
            imaged = Some(run(IMAGER_ENTRY, &args)?);
        }
        Ok((color, alpha))
    });
    let (color, alpha, failure) = match result {
        Ok((color, alpha)) => (color, alpha, None),
        Err(error @ (EvalError::Fuel { .. } | EvalError::Depth { .. })) => {
            let message = match error {
                EvalError::Fuel { .. } => {
                    format!("a shader did not end within {} loop iterations and calls", sample.budget)
                }
                _ => format!("a shader's calls were nested more than {MAX_DEPTH} deep"),
            };
            let place = record::place_of(&program.module, &error);
            ([0.0; 3], 0.0, Some(Stopped { message, place }))
        }
        Err(error) => return Err(ProbeError::Program(error)),
    };
    let Recorder { recording, rays, rays_truncated, printer, .. } = recorder;
    let printed = printer.outputs;
    Ok(Probe { sample: *sample, raster, color, alpha, imaged, failure, rays, rays_truncated, printed, recording })
}

impl Probe {
    /// The first hit of the camera ray.
    pub fn first_hit(&self) -> Option<&SurfacePoint> {
        self.rays.first().and_then(|r| r.hit.as_ref())
    }
}
