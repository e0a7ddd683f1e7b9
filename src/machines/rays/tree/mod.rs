//! The rays of an image as the ray tracing array makes them: each with its color, the most that it
//! can add to its pixel (Ullner 1983, §2.5.1).
//!
//! The array returns nothing to the shader that asks. Where a ray hits, the surface's own light,
//! scaled by the ray's color, goes to the pixel at once, and so do the rays that it sends, each
//! with a color of its own; a shadow ray that arrives has its color added. That is what a shader
//! computes as far as its result is an affine function of what its rays bring. [`grow`] runs the
//! scene's own shaders on the RPU, finds that function at each hit, and makes the tree level by
//! level. Hits at which the function is not affine are counted: their part of the image is wrong.
//!
//! A surface that is not opaque lets the ray through: a ray of its own with the same origin, whose
//! color is what the surface leaves. What a shadow ray passes likewise dims it.
//!
//! | module | about |
//! |---|---|
//! | [`probe`] | the program with a surface that stands for all others |
//! | [`asking`] | what lanes ask for, and the answers |
//! | [`exploring`] | a surface as a function of the answers |
//! | [`lookups`] | the program with texture lookups that the tracer sees |
//! | [`growing`] | from the hits of a level to the rays of the next |

pub mod asking;
pub mod exploring;
mod growing;
pub mod lookups;
pub mod probe;

pub use growing::grow;

#[cfg(test)]
mod tests;

use self::exploring::Affinity;
use self::lookups::Lookup;
use super::ray::{ModelHit, Request};
use super::recording::Work;
use shadewright_image::Image;
use shadewright_render::rpu::Loaded;
use shadewright_render::rpu::traced::{SampleNumber, Samples};
use shadewright_render::{Job, RenderError};
use std::ops::Range;

/// Most bytes of a tree.
const MOST_BYTES: u64 = 4 << 30;

/// The name of the hardware model in messages.
const BACKEND: &str = "the ray tracing array";

/// In place of the number of a ray: there is none.
pub const NO_RAY: u32 = u32::MAX;

/// The purpose of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayPurpose {
    /// It brings the color of what it hits: a camera's, or one for reflection or refraction.
    Vision,
    /// It continues a vision ray behind a surface that is not opaque.
    Through,
    /// It brings the light of a source, if it arrives; also one that continues behind a surface
    /// that dims it.
    Shadow,
}

/// A ray of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Ray {
    /// The ray. One that continues another starts just behind the surface.
    pub request: Request,
    /// The purpose of the ray.
    pub kind: RayPurpose,
    /// The ray at whose hit it starts, or [`NO_RAY`].
    pub parent: u32,
    /// Index of its sample.
    pub sample: u32,
    /// The shader's ray depth: 0 for the camera's. A shadow ray has that of its parent.
    pub depth: u32,
    /// `c`: by how much what it brings counts; of a shadow ray, what it adds if it arrives.
    pub color: [f32; 3],
    /// The hit, in terms of `request`.
    pub hit: Option<ModelHit>,
    /// The work of finding the hit.
    pub work: Work,
    /// The result that is sent to the pixel: color, and the share of the pixel's alpha. At a hit
    /// of a vision ray it is the surface's own light; for a shadow ray that arrives its color; for
    /// a vision ray that leaves the scene the environment's.
    pub direct: [f32; 4],
    /// The rays that start at its hit.
    pub children: Range<u32>,
    /// The lookups in maps of the shader that ran at its hit, among those of the tree.
    pub lookups: Range<u32>,
}

/// A sample and its part of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The sample.
    pub number: SampleNumber,
    /// The camera ray, or [`NO_RAY`].
    pub root: u32,
    /// The color and alpha without any ray.
    pub direct: [f32; 4],
}

/// Sums over a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Vision rays, of the camera and others.
    pub vision: u64,
    /// Rays that continue behind a surface.
    pub through: u64,
    /// Shadow rays.
    pub shadow: u64,
    /// Hits of vision rays, at which a shader ran.
    pub shaded: u64,
    /// Results with a color that is not black.
    pub results: u64,
    /// Rays that were not made because they were too dark, those of color 0 included.
    pub dark: u64,
    /// The sum of their colors' absolute values.
    pub lost: [f64; 3],
    /// Hits at which the shader's result is not an affine function of the answers.
    pub nonaffine: u64,
    /// Hits at which it is one only of gray answers, because the shader mixes their channels.
    pub mixing: u64,
    /// Rays of shaders for a distance, which the scene's own BVH answered.
    pub queries: u64,
}

impl Totals {
    fn count(&mut self, affinity: Affinity) {
        self.nonaffine += u64::from(affinity == Affinity::None);
        self.mixing += u64::from(affinity == Affinity::Mixing);
    }
}

/// The rays of an image.
#[derive(Clone, Debug, Default)]
pub struct RayTree {
    /// The samples, in the order in which they are rendered.
    pub samples: Vec<Sample>,
    /// The rays, level by level; those of a level in the order of their parents.
    pub rays: Vec<Ray>,
    /// The lookups in maps, in the order of their rays.
    pub lookups: Vec<Lookup>,
    /// The first ray of each level, and the number of rays.
    pub levels: Vec<u32>,
    /// Sums.
    pub totals: Totals,
}

/// How a tree is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// A ray none of whose components is above this is not made (§2.5.1).
    pub threshold: f32,
}

impl RayTree {
    /// The color and alpha of each sample: the sum of its results.
    pub fn colors(&self) -> Vec<[f32; 4]> {
        let mut colors: Vec<[f32; 4]> = self.samples.iter().map(|sample| sample.direct).collect();
        for ray in &self.rays {
            let color = &mut colors[ray.sample as usize];
            color.iter_mut().zip(ray.direct).for_each(|(sum, part)| *sum += part);
        }
        colors
    }

    /// The image of the job that the tree was made for. `loaded` is its program.
    ///
    /// # Errors
    /// As rendering.
    pub fn image(&self, job: &Job, loaded: &Loaded) -> Result<Image, RenderError> {
        let samples = Samples::new(job);
        let mut film = samples.film()?;
        for (sample, color) in self.samples.iter().zip(self.colors()) {
            samples.expose(&mut film, sample.number, color);
        }
        samples.develop(&film, loaded)
    }
}
