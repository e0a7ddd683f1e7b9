//! Render jobs, the [`Renderer`] trait and its errors.

use super::AdapterInfo;
use super::film::{Film, FilmSettings};
use super::report::Report;
use super::sampling::Sampling;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_bvh::{BuildOptions, Quality, TwoLevel, TwoLevelError};
use shadewright_image::{Image, SizeError, check_size};
use shadewright_program::{Program, memory::build_tree};
use shadewright_scene::Scene;
use std::collections::HashSet;
use std::sync::Arc;
use thiserror::Error;

/// Everything a renderer needs for one image. A clone shares large data.
#[derive(Clone, Debug)]
pub struct Job {
    /// The linked program with its memory image and constants.
    pub program: Program,
    /// The acceleration structure of triangles and instances; primitive indices are those of the
    /// memory image.
    pub bvh: Arc<TwoLevel>,
    /// The part of the image to render.
    pub window: Window,
    /// Samples a pixel.
    pub sampling: Sampling,
    /// How samples become the image.
    pub film: FilmSettings,
    /// Back edges and calls that one sample may take.
    pub budget: u32,
}

/// The default of [`Job::budget`].
pub const DEFAULT_BUDGET: u32 = 1_000_000;

/// A job could not be made.
#[derive(Debug, Error)]
pub enum JobError {
    /// The image's size.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The acceleration structure could not be built.
    #[error(transparent)]
    Bvh(#[from] TwoLevelError),
}

/// Makes the job of rendering `program`, which was linked from `scene`, with a BVH of
/// [`default_quality`].
///
/// # Errors
/// When the image's size is out of range or the scene has too many triangles.
pub fn prepare(
    program: Program,
    scene: &Scene,
    window: Window,
    sampling: Sampling,
    budget: u32,
) -> Result<Job, JobError> {
    prepare_with_quality(program, scene, window, sampling, budget, None)
}

/// [`prepare`] with a BVH of a given quality. The image is the same with any.
///
/// # Errors
/// The errors of [`prepare`].
pub fn prepare_with_quality(
    program: Program,
    scene: &Scene,
    window: Window,
    sampling: Sampling,
    budget: u32,
    quality: Option<Quality>,
) -> Result<Job, JobError> {
    check_size(window.width, window.height)?;
    let samples = u64::from(window.width) * u64::from(window.height) * u64::from(sampling.count());
    let quality = quality.unwrap_or_else(|| default_quality(triangles_to_build(scene), samples));
    let bvh = build_tree(scene, &BuildOptions { quality, ..BuildOptions::default() })?;
    let film = FilmSettings::new(&scene.film, &program);
    Ok(Job { program, bvh: bvh.into(), window, sampling, film, budget })
}

/// The number of triangles that a scene's BVHs are built from: instances of one object count once.
pub fn triangles_to_build(scene: &Scene) -> usize {
    let mut known = HashSet::new();
    let meshes = scene.objects.iter().map(|object| &object.mesh);
    meshes.filter(|mesh| known.insert(Arc::as_ptr(mesh))).map(|mesh| mesh.triangles.len()).sum()
}

/// Samples for each triangle from which spatial splits are worth their build time. They take a core
/// 0.7 to 1.1 µs more for each triangle (`cargo bench --bench bvh -- builders`); rays then visit
/// 30 % fewer nodes in Sponza and 0 to 3 % fewer in the bunny and the dragon, and a sample is about
/// three rays of 0.2 µs.
const MANY_SAMPLES: u64 = 32;

/// Samples for each triangle below which the fast builder is best: it takes a core 0.3 to 0.4 µs
/// less for each triangle, and rays visit about 10 % more nodes.
const FEW_SAMPLES: u64 = 4;

/// The BVH quality with which an image of this many samples is done soonest, the build included.
pub fn default_quality(triangles: usize, samples: u64) -> Quality {
    let triangles = triangles as u64;
    if samples >= triangles.saturating_mul(MANY_SAMPLES) {
        Quality::Spatial
    } else if samples < triangles.saturating_mul(FEW_SAMPLES) {
        Quality::Fast
    } else {
        Quality::Sah
    }
}

/// A rectangle of the image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Window {
    /// A whole image.
    pub fn whole(width: u32, height: u32) -> Self {
        Self { x: 0, y: 0, width, height }
    }

    /// The part of a `width`×`height` image from `(x0, y0)` up to but not including `(x1, y1)`.
    ///
    /// # Errors
    /// When that reaches outside the image.
    pub fn cropped([x0, y0, x1, y1]: [u32; 4], width: u32, height: u32) -> Result<Self, CropError> {
        if x0 >= x1 || y0 >= y1 || x1 > width || y1 > height {
            return Err(CropError { window: [x0, y0, x1, y1], width, height });
        }
        Ok(Self { x: x0, y: y0, width: x1 - x0, height: y1 - y0 })
    }
}

/// A window that is empty or not inside its image.
#[derive(Debug, Error)]
#[error("the window {window:?} is not inside the image of {width}x{height} pixels")]
pub struct CropError {
    window: [u32; 4],
    width: u32,
    height: u32,
}

/// Called with the share of the work that is done, from 0 to 1, from any thread.
pub type Progress<'a> = &'a (dyn Fn(f32) + Sync);

/// An image could not be rendered.
#[derive(Debug, Error)]
pub enum RenderError {
    /// A sample took more back edges and calls than its budget.
    #[error("a shader did not end within {budget} loop iterations and calls")]
    Budget {
        /// The budget.
        budget: u32,
        /// The loop or call where the first sample ran out, where known.
        span: Option<Span>,
    },
    /// Calls went deeper than the stack.
    #[error("a shader's calls went deeper than the stack of {limit} words")]
    StackOverflow {
        /// The limit.
        limit: u32,
        /// The call, where known.
        span: Option<Span>,
    },
    /// Calls were nested too deeply.
    #[error("a shader's calls were nested more than {limit} deep")]
    CallDepth {
        /// The limit.
        limit: u32,
        /// The call, where known.
        span: Option<Span>,
    },
    /// The stop flag was set, or another part of the image failed first.
    #[error("the render was stopped")]
    Stopped,
    /// The program cannot be compiled for this back end.
    #[error("the program cannot be compiled for {backend}: {reason}")]
    Unsupported {
        /// The back end.
        backend: &'static str,
        /// Why.
        reason: String,
    },
    /// A model of hardware cannot render the scene with its configuration.
    #[error("{model} cannot render this: {reason}")]
    Model {
        /// The name of the model.
        model: &'static str,
        /// Why.
        reason: String,
    },
    /// The scene or the image exceeds what the device can hold.
    #[error("{what} needs {needed} bytes; this device allows {limit}")]
    TooLarge {
        /// The name of the data that is too large.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes available.
        limit: u64,
    },
    /// No device, or it failed.
    #[error("{0}")]
    Device(String),
    /// The size of the image.
    #[error(transparent)]
    Size(#[from] SizeError),
}

impl RenderError {
    /// The source the error points to.
    pub fn span(&self) -> Option<Span> {
        match self {
            RenderError::Budget { span, .. }
            | RenderError::StackOverflow { span, .. }
            | RenderError::CallDepth { span, .. } => *span,
            _ => None,
        }
    }

    /// The message to the user, with the source line where there is one, and with what to do.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = Diagnostic::error(self.to_string());
        if let RenderError::TooLarge { .. } = self {
            return message
                .hint("`--backend rpu` draws it, in main memory")
                .hint("a larger ShadingRate makes fewer triangles of curved and displaced surfaces");
        }
        let Some(span) = self.span() else { return message };
        message.at(span, "loop budget exceeded here").hint(match self {
            RenderError::Budget { .. } => "end the loop or recursion sooner, or allow more with --budget N",
            _ => "end the recursion sooner, or write it as a loop",
        })
    }
}

/// A back end that renders jobs.
pub trait Renderer {
    /// The back end and its device, for messages.
    fn describe(&self) -> String;

    /// The GPU adapter that it runs on; `None` for the RPU.
    fn adapter(&self) -> Option<AdapterInfo> {
        None
    }

    /// Renders an image; the imager has run on it.
    ///
    /// # Errors
    /// When a shader does not end, the job does not fit, or the device fails.
    fn render(&mut self, job: &Job, progress: Progress<'_>) -> Result<Image, RenderError> {
        let mut film = Film::with_samples(job.window.width, job.window.height, job.sampling.count())?;
        self.render_into(job, &mut film, progress)
    }

    /// [`Renderer::render`] with an empty film of the job's window and samples, which holds the sums
    /// afterwards.
    ///
    /// # Errors
    /// The errors of [`Renderer::render`].
    fn render_into(&mut self, job: &Job, film: &mut Film, progress: Progress<'_>) -> Result<Image, RenderError>;

    /// True if [`Renderer::report`] has the time of every kernel, from the next image on. Off by
    /// default, at no cost.
    fn set_profiling(&mut self, _on: bool) {}

    /// The timing of the last image.
    fn report(&self) -> Report;
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::diagnostics;
    use shadewright_base::text::source::SourceMap;

    #[test]
    fn a_scene_that_a_device_cannot_hold_is_reported_with_the_limit_and_a_hint() {
        let error = RenderError::TooLarge { what: "the scene's shading data", needed: 150_000_000, limit: 134_217_728 };
        assert_eq!(
            diagnostics::render(&error.diagnostic(), &SourceMap::new()).trim_end(),
            "error: the scene's shading data needs 150000000 bytes; this device allows 134217728\n\
             \x20= hint: `--backend rpu` draws it, in main memory\n\
             \x20= hint: a larger ShadingRate makes fewer triangles of curved and displaced surfaces"
        );
    }
}
