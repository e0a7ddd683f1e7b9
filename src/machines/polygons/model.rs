//! A scene as the hosts of the hardware store it (§3.1): planar convex quadrilaterals and triangles
//! in world space, with a normal and a color at each corner.

use glam::{Mat4, Vec3, Vec4};

/// A polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    /// The corners in order around the polygon, in world space; the last of a triangle repeats the
    /// third.
    pub corners: [Vec3; 4],
    /// How many corners it has: 3 or 4.
    pub count: usize,
    /// Unit normals at the corners, for shading. They face the eye where both sides are visible.
    pub normals: [Vec3; 4],
    /// The reflectance `R` of hardware lighting: linear red, green and blue.
    pub reflectance: Vec3,
    /// Linear colors at the corners, which the scene's shaders computed on the host; with flat
    /// shading all the same.
    pub colors: [Vec3; 4],
    /// Index of its object in the scene.
    pub object: u32,
}

impl Polygon {
    /// The corners, 3 or 4.
    pub fn corners(&self) -> &[Vec3] {
        &self.corners[..self.count.min(4)]
    }
}

/// A light of hardware lighting, `I = (I_a + Σ I_p max(0, n·p)) R` (§3.3.1, figure 3-11).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// The direction to the light in world space, a unit vector.
    pub direction: Vec3,
    /// `I_p`: linear red, green and blue.
    pub color: Vec3,
}

/// How the scene is viewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The viewing and the perspective transformation in one, for column vectors: world space to
    /// `[x y z w]`, where what is visible has `−w ≤ x, y ≤ w` and `0 ≤ z ≤ w`; x to the right, y up,
    /// z away from the eye.
    pub to_clip: Mat4,
    /// The eye; for a parallel projection, a point far away against the direction of view.
    pub eye: Vec3,
    /// Columns and rows of the image.
    pub size: [u32; 2],
}

impl View {
    /// A point of the world in homogeneous screen coordinates.
    pub fn transform(&self, point: Vec3) -> Vec4 {
        self.to_clip * point.extend(1.0)
    }
}

/// A scene in the hardware's form.
#[derive(Clone, Debug)]
pub struct Model {
    /// The polygons, in the order of the scene's objects.
    pub polygons: Vec<Polygon>,
    /// `I_a`: linear red, green and blue.
    pub ambient: Vec3,
    /// The lights with a direction.
    pub lights: Vec<Light>,
    /// The view.
    pub view: View,
    /// The color where no polygon is, linear.
    pub background: Vec3,
    /// Sentences about what the hardware does not show.
    pub left_out: Vec<String>,
}
