//! The shading of samples by pixel conversion processors: colors, lit normals, textures (§3.3.4,
//! §3.3.6).

use super::config::{Config, Texture};
use super::film::Color;
use super::pixels::Sample;
use crate::polygons::model::Model;
use glam::Vec3;

/// Squares of the checker along an edge of the unit square.
const SQUARES: f32 = 8.0;

/// Operations of a pixel conversion processor for a pixel within a segment: an addition for each
/// field; for normals also their normalization, and for each light a cosine and a sum, all times the
/// reflectance; for a texture three products.
pub fn operations(config: &Config, lights: u64) -> u64 {
    let fields = u64::from(config.fields());
    let lit = if config.segments.normals { 9 + 11 * lights + 3 } else { 0 };
    fields + lit + if config.segments.texture == Texture::None { 0 } else { 3 }
}

/// Turns samples into colors.
#[derive(Debug)]
pub struct Shader<'a> {
    model: &'a Model,
    normals: bool,
    texture: Texture,
    white: f32,
    /// The color where no segment is.
    pub background: Color,
}

impl<'a> Shader<'a> {
    /// A shader of a scene's samples; `white` is the linear value of the largest field.
    pub fn new(model: &'a Model, config: &Config, white: f32) -> Self {
        let [red, green, blue] = model.background.to_array();
        Self {
            model,
            normals: config.segments.normals,
            texture: config.segments.texture,
            white,
            background: [red, green, blue, 1.0],
        }
    }

    /// The color of a sample.
    pub fn color(&self, sample: &Sample) -> Color {
        let [a, b, c, u, v] = sample.fields.map(|field| f32::from(field) / 4095.0);
        let color = match self.normals {
            true => self.lit(2.0 * Vec3::new(a, b, c) - 1.0, sample.source),
            false => self.white * Vec3::new(a, b, c),
        };
        let color = match self.texture {
            Texture::None => color,
            Texture::Checker if ((u * SQUARES).floor() + (v * SQUARES).floor()) % 2.0 != 0.0 => 0.25 * color,
            Texture::Checker => color,
            Texture::Ramp => 0.5 * (u + v) * color,
        };
        [color.x, color.y, color.z, 1.0]
    }

    /// The lighting of an interpolated normal (Phong shading), with the polygon's reflectance.
    fn lit(&self, normal: Vec3, source: u32) -> Vec3 {
        let n = normal.normalize_or_zero();
        let lights = self.model.lights.iter();
        let light = lights.fold(self.model.ambient, |sum, l| sum + l.color * n.dot(l.direction).max(0.0));
        light * self.model.polygons.get(source as usize).map_or(Vec3::ONE, |polygon| polygon.reflectance)
    }
}
