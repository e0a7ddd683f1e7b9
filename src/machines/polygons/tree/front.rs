//! Transformation and clipping of a scene: its polygons in the processors' memories, and the edge
//! lists that come out (§3.3.1), whichever kind of front end the hardware has.

use super::config::{Config, Cull, FrontKind, Interpolation, Shading, Texture};
use super::leaves::Covered;
use super::processors::array::{Activity, Executable, Format};
use super::processors::color::Fields;
use super::processors::instructions::Program;
use super::processors::{Frame, memory};
use super::scan::Edges;
use crate::polygons::model::{Light, Model, Polygon};
use glam::{Mat4, Vec3};

/// Polygons that are transformed at once.
const AT_ONCE: usize = 1 << 14;

/// A front end with the program of a frame.
#[derive(Debug)]
pub struct FrontEnd<'a> {
    model: &'a Model,
    config: &'a Config,
    format: Format,
    /// The program that it broadcasts.
    pub program: Program,
    /// The linear value of the largest field.
    pub white: f32,
}

impl<'a> FrontEnd<'a> {
    /// A front end for a scene, shown on so many scan lines.
    pub fn new(model: &'a Model, config: &'a Config, lines: u32) -> Self {
        let white = match config.image.white {
            0.0 => largest(model, config),
            white => white,
        };
        let lights: Vec<Light> =
            model.lights.iter().map(|light| Light { color: light.color / white, ..*light }).collect();
        let moving: Vec<(u32, Mat4)> =
            (0..config.front.moving_objects).map(|object| (object, model.view.to_clip)).collect();
        let frame = Frame {
            to_clip: model.view.to_clip,
            moving: &moving,
            fields: match (config.image.shading, config.segments.normals) {
                (_, true) => Fields::Normals,
                (Shading::Shader, _) => Fields::Host,
                (Shading::Hardware, _) => Fields::Lit { ambient: model.ambient / white, lights: &lights },
            },
            texture: config.segments.texture != Texture::None,
        };
        let format =
            Format { lines, depths: (1 << config.segments.depth_bits) - 1, slope_bits: config.segments.slope_bits };
        Self { model, config, format, program: frame.program(), white }
    }

    /// The vectors that a polygon has at its corners: normals, or colors from 0 to 1.
    fn vectors(&self, polygon: &Polygon) -> [Vec3; 4] {
        let flat = self.config.image.interpolation == Interpolation::Flat;
        let corners = || polygon.corners().len() as f32;
        match self.config.image.shading {
            Shading::Shader => {
                let mean = || polygon.colors[..polygon.corners().len()].iter().sum::<Vec3>() / corners();
                let colors = if flat { [mean(); 4] } else { polygon.colors };
                colors.map(|color| color / self.white)
            }
            Shading::Hardware if flat => {
                [polygon.normals[..polygon.corners().len()].iter().sum::<Vec3>().normalize_or_zero(); 4]
            }
            Shading::Hardware => polygon.normals,
        }
    }

    /// Transforms polygons; gives the edge lists of those that cover a scan line, beside their
    /// places in `numbers`, and what the processors did.
    pub fn transform(&self, numbers: &[u32]) -> (Vec<Option<Edges>>, Activity) {
        let executable = Executable::new(&self.program, self.format);
        let fields = self.config.fields() as usize;
        let mut all = Vec::with_capacity(numbers.len());
        let mut activity = Activity::default();
        let polygon = |number: u32| self.model.polygons.get(number as usize);
        for numbers in numbers.chunks(AT_ONCE) {
            let load = |k: usize| polygon(numbers[k]).map_or([0.0; 256], |p| memory(p, &self.vectors(p)));
            let (sent, of_chunk) = executable.run(numbers.len(), load);
            activity.add(&of_chunk);
            all.extend(sent.iter().zip(numbers).map(|(words, &number)| Edges::received(words, fields, number)));
        }
        (all, activity)
    }

    /// The polygons that are assigned to leaves: with the array all, as the leaves keep theirs from
    /// frame to frame; with the pipeline those that are visible and not culled.
    pub fn choose(&self) -> Vec<Covered> {
        let numbers: Vec<u32> = (0..self.model.polygons.len() as u32).collect();
        if self.config.front.kind == FrontKind::Array {
            return numbers.into_iter().map(|polygon| Covered { polygon, lines: [0; 2] }).collect();
        }
        let mut chosen = Vec::new();
        for numbers in numbers.chunks(AT_ONCE) {
            let (edges, _) = self.transform(numbers);
            let visible = edges.iter().zip(numbers).filter_map(|(edges, &polygon)| {
                let lines = edges.as_ref()?.lines();
                (!self.culled(polygon)).then_some(Covered { polygon, lines })
            });
            chosen.extend(visible);
        }
        chosen
    }

    /// True if a polygon's corners go around in the direction that is left out, as the eye sees
    /// them.
    fn culled(&self, polygon: u32) -> bool {
        let Some(polygon) = self.model.polygons.get(polygon as usize) else { return true };
        // The volume of the eye and three corners in homogeneous coordinates: its sign is that of the
        // area on the screen, behind the eye too.
        let [a, b, c] = [0, 1, 2].map(|k| {
            let p = self.model.view.transform(polygon.corners[k]).as_dvec4();
            glam::DVec3::new(p.x, p.y, p.w)
        });
        let area = a.dot(b.cross(c));
        match self.config.front.cull {
            Cull::None => false,
            Cull::Clockwise => area < 0.0,
            Cull::CounterClockwise => area > 0.0,
        }
    }
}

/// The largest color component at a corner.
fn largest(model: &Model, config: &Config) -> f32 {
    let lit = |polygon: &Polygon, normal: Vec3| {
        let of_light = |l: &Light| l.color * normal.dot(l.direction).max(0.0);
        model.lights.iter().fold(model.ambient, |sum, l| sum + of_light(l)) * polygon.reflectance
    };
    let of_polygon = |polygon: &Polygon| match config.image.shading {
        Shading::Shader => polygon.colors.iter().map(|c| c.max_element()).fold(0.0, f32::max),
        Shading::Hardware => polygon.normals.iter().map(|&n| lit(polygon, n).max_element()).fold(0.0, f32::max),
    };
    let largest = model.polygons.iter().map(of_polygon).filter(|c| c.is_finite()).fold(0.0, f32::max);
    if largest > 0.0 { largest } else { 1.0 }
}
