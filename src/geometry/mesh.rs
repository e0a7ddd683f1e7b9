//! The triangle mesh that every primitive becomes.

use super::primvar::Primvar;
use glam::{Vec2, Vec3};

/// Triangles with their vertices, in the space that its holder says.
///
/// Per-vertex arrays are as long as `positions`, or empty where the mesh brings no such data;
/// per-triangle arrays are as long as `triangles`, or empty. The geometric normal of a triangle is
/// `(B - A) × (C - A)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions, finite.
    pub positions: Vec<Vec3>,
    /// Unit shading normals; present for every vertex of a mesh in a scene.
    pub normals: Vec<Vec3>,
    /// Texture coordinates `s, t`; where empty they equal `u, v`.
    pub st: Vec<Vec2>,
    /// Surface parameters `u, v`; zero where empty.
    pub uv: Vec<Vec2>,
    /// `Cs` at vertices; wins over the object's color.
    pub vertex_colors: Vec<Vec3>,
    /// `Os` at vertices; wins over the object's opacity.
    pub vertex_opacities: Vec<Vec3>,
    /// `Cs` of triangles; never present together with `vertex_colors`.
    pub triangle_colors: Vec<Vec3>,
    /// `Os` of triangles; never present together with `vertex_opacities`.
    pub triangle_opacities: Vec<Vec3>,
    /// Vertex indices, all in range; no triangle has zero area.
    pub triangles: Vec<[u32; 3]>,
    /// The variables that it brings for the parameters of its shader; no name twice.
    pub primvars: Vec<Primvar>,
    /// True if it stands for flat ribbons that face whoever looks at them: it is tubes around
    /// these, as wide as they are, whose triangles and normals face outwards. `v` runs along them
    /// and `u` around; where across the ribbon a ray meets it depends on the ray.
    pub ribbons: bool,
}

impl Mesh {
    /// `u, v` of a vertex.
    pub fn uv_at(&self, vertex: u32) -> Vec2 {
        self.uv.get(vertex as usize).copied().unwrap_or(Vec2::ZERO)
    }

    /// `s, t` of a vertex, which default to `u, v`.
    pub fn st_at(&self, vertex: u32) -> Vec2 {
        self.st.get(vertex as usize).copied().unwrap_or_else(|| self.uv_at(vertex))
    }

    /// The corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|i| self.positions[i as usize])
    }

    /// Twice the area of a triangle along its geometric normal.
    pub fn scaled_normal(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a)
    }

    /// The corners of the smallest axis-aligned box around all vertices; `None` without vertices.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }

    /// Gives it other vertices, each a copy of one that it has; the triangles' indices are left as
    /// they are.
    pub fn gather_vertices(&mut self, sources: &[u32]) {
        fn pick<T: Copy>(values: &mut Vec<T>, sources: &[u32]) {
            if !values.is_empty() {
                *values = sources.iter().map(|&i| values[i as usize]).collect();
            }
        }
        pick(&mut self.positions, sources);
        pick(&mut self.normals, sources);
        pick(&mut self.st, sources);
        pick(&mut self.uv, sources);
        pick(&mut self.vertex_colors, sources);
        pick(&mut self.vertex_opacities, sources);
        self.primvars.iter_mut().for_each(|v| v.gather_vertices(sources));
    }

    /// Sum of the triangles' areas.
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| 0.5 * f64::from(self.scaled_normal(t).length())).sum()
    }
}
