//! Meshes as `PointsPolygons`.

use super::Writer;
use super::text::{Flattened, number, quoted};
use glam::Vec2;
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::{Primvar, PrimvarPlace, PrimvarValues};

impl Writer<'_> {
    /// Writes a mesh, whose triangles and vertices keep their order.
    pub(super) fn mesh(&mut self, mesh: &Mesh) {
        let text = &mut self.text;
        text.line("PointsPolygons");
        text.list("", mesh.triangles.iter().map(|_| "3"));
        text.list("", mesh.triangles.as_flattened().iter().map(u32::to_string));
        let numbers = |values: &[f32]| values.iter().map(|&x| number(x)).collect::<Vec<_>>();
        text.variable("P", numbers(mesh.positions.as_slice().as_flattened_numbers()));
        let triples = [
            ("N", &mesh.normals),
            ("varying color Cs", &mesh.vertex_colors),
            ("varying color Os", &mesh.vertex_opacities),
            ("uniform color Cs", &mesh.triangle_colors),
            ("uniform color Os", &mesh.triangle_opacities),
        ];
        for (declaration, values) in triples.into_iter().filter(|(_, values)| !values.is_empty()) {
            text.variable(declaration, numbers(values.as_slice().as_flattened_numbers()));
        }
        if !mesh.st.is_empty() {
            text.variable("st", numbers(mesh.st.as_slice().as_flattened_numbers()));
        }
        // Polygons without u and v have the coordinates of their points there.
        let component =
            |part: fn(Vec2) -> f32| (0..mesh.positions.len() as u32).map(move |i| number(part(mesh.uv_at(i))));
        text.variable("u", component(|uv| uv.x));
        text.variable("v", component(|uv| uv.y));
        for variable in &mesh.primvars {
            self.primvar(variable);
        }
    }

    fn primvar(&mut self, variable: &Primvar) {
        let class = match variable.place {
            PrimvarPlace::Constant => "constant",
            PrimvarPlace::Triangles => "uniform",
            PrimvarPlace::Vertices => "varying",
        };
        let array = variable.kind.array.map_or_else(String::new, |length| format!("[{length}]"));
        let declaration = format!("{class} {}{array} {}", variable.kind.ty.name(), variable.kind.name);
        match &variable.values {
            PrimvarValues::Numbers(v) => self.text.variable(&declaration, v.iter().map(|&x| number(x))),
            PrimvarValues::Strings(v) => self.text.variable(&declaration, v.iter().map(|text| quoted(text))),
        }
    }
}
