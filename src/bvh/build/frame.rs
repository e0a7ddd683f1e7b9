//! The scale of a build: what its arithmetic is measured by.

use super::super::node::{Child, Link};
use super::bounds::Aabb;

/// Measures of a scene.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Multiplies lengths so that the longest side of the scene's box is about 1: areas then
    /// neither overflow nor vanish.
    pub scale: f32,
    /// The largest coordinate.
    pub largest: f32,
    /// Widens every box, by about one unit in the last place of the scene's largest coordinate: a
    /// ray in the plane of a box's side is then inside it, and a hit whose `t` was rounded outwards
    /// is still reached.
    pad: f32,
}

impl Frame {
    /// The measures of a scene with this box.
    pub fn new(bounds: &Aabb) -> Self {
        let longest = (bounds.max - bounds.min).truncate().max_element();
        let largest = bounds.min.abs().max(bounds.max.abs()).truncate().max_element();
        Self {
            scale: if longest > f32::MIN_POSITIVE { 1.0 / longest } else { 1.0 },
            largest,
            pad: (largest * f32::EPSILON).max(f32::MIN_POSITIVE),
        }
    }

    /// The corners of a node's box, which is a little larger than that of its triangles.
    pub fn padded(&self, bounds: &Aabb) -> [[f32; 3]; 2] {
        [bounds.min - self.pad, bounds.max + self.pad].map(|corner| corner.truncate().to_array())
    }

    /// A child with the padded box of its triangles.
    pub fn child(&self, bounds: &Aabb, link: Link) -> Child {
        let [min, max] = self.padded(bounds);
        Child { min, link: link.encode(), max, pad: 0 }
    }
}
