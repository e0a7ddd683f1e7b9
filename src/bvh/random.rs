//! A small random generator (Marsaglia's xorshift, 2003), and the geometry that tests make with it.

use super::{Ray, Triangle};
use glam::Vec3;

/// The generator, with its state, which must not be zero.
pub struct Random(pub u64);

impl Random {
    /// A number from 0 up to but not including 1.
    pub fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// A point of the cube from −1 to 1.
    pub fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// A triangle in about that cube, its corners up to `size` from a middle on each axis.
    pub fn triangle(&mut self, size: f32) -> Triangle {
        let center = self.point();
        Triangle::new(center + self.point() * size, center + self.point() * size, center + self.point() * size)
    }

    /// Such triangles.
    pub fn soup(&mut self, count: usize, size: f32) -> Vec<Triangle> {
        (0..count).map(|_| self.triangle(size)).collect()
    }

    /// A ray from about the cube, in any direction.
    pub fn ray(&mut self) -> Ray {
        Ray::new(self.point() * 1.5, self.point())
    }
}
