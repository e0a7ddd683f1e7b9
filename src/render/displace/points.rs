//! Evaluation of displacement shaders at the vertices of meshes.
//!
//! The shaders of a stage, a scene of diced objects, run once at each vertex; vertices at the same
//! position are moved as one, and get their normals from their shader or from the moved surface.
//! Output parameters become primitive variables.

use super::Given;
use super::rate::Dicer;
use super::weld::Weld;
use crate::DEFAULT_BUDGET;
use crate::rpu::{Batch, Hit, run_at_hits};
use glam::Vec3;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::{Primvar, PrimvarKind, PrimvarPlace, PrimvarType, PrimvarValues};
use shadewright_program::{CompiledParam, Program, displacement_entry, left_by_displacement};
use shadewright_scene::{Scene, ShaderId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The meshes of a stage, the objects `given`, as the shaders of its program leave them.
///
/// # Errors
/// When a shader does not end.
pub(super) fn moved(
    mut stage: Scene,
    program: &Program,
    given: &[Given],
    dicer: &Dicer,
    remarks: &mut Vec<Diagnostic>,
) -> Result<Vec<Arc<Mesh>>, Diagnostics> {
    let left: Vec<Vec<PrimvarKind>> = given.iter().map(|g| kinds_left(program, g.shader)).collect();
    let mut results = run(&stage, program, dicer, &left)?;
    let meshes: Vec<Mesh> = stage.objects.drain(..).map(|o| Arc::unwrap_or_clone(o.mesh)).collect();
    let shaders: Vec<u32> = given.iter().map(|g| g.shader.0).collect();
    let weld = Weld::new(&meshes, &shaders);
    let before = || meshes.iter().flat_map(|m| &m.positions);
    let mut lost = 0usize;
    for (point, &before) in results.points.iter_mut().zip(before()) {
        if !point.is_finite() {
            (*point, lost) = (before, lost + 1);
        }
    }
    if lost > 0 {
        let message = format!("displacement shaders move {lost} points to no finite place");
        remarks.push(Diagnostic::warning(message).hint("these points stay where they are"));
    }
    weld.places.average(&mut results.points);
    let from_shader: Vec<bool> = given.iter().map(|g| program.changes(g.shader, "N")).collect();
    let computed = weld.sides.normals(&meshes, &results.points, |mesh| !from_shader[mesh]);
    let mut made = Vec::with_capacity(meshes.len());
    let mut farthest: BTreeMap<ShaderId, (f32, f32)> = BTreeMap::new();
    let mut first = 0;
    for ((mesh, given), from_shader) in meshes.into_iter().zip(given).zip(from_shader) {
        let vertices = first..first + mesh.positions.len();
        first = vertices.end;
        let positions = results.points[vertices.clone()].to_vec();
        let far = positions.iter().zip(&mesh.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // Without a bound there is none to exceed.
        if given.bound > 0.0 {
            let known = farthest.entry(given.shader).or_insert((far, given.bound));
            if far / given.bound > known.0 / known.1 {
                *known = (far, given.bound);
            }
        }
        let normals = if from_shader { &results.normals } else { &computed };
        let normal = |(i, own): (usize, &Vec3)| normals[i].try_normalize().unwrap_or(*own);
        let normals = vertices.zip(&mesh.normals).map(normal).collect();
        let mut mesh = Mesh { positions, normals, ..mesh };
        mesh.primvars.extend(results.left.next().into_iter().flatten());
        made.push(Arc::new(mesh));
    }
    for (shader, (far, bound)) in farthest.into_iter().filter(|(_, (far, bound))| far > bound) {
        let instance = &stage.shader_instances[shader.0 as usize];
        let message = format!(
            "`{}` moves points by up to {far} units of the world, and its displacementbound is {bound}",
            instance.shader
        );
        let d = Diagnostic::warning(message).hint("nothing is cut off here; other renderers need the true bound");
        remarks.push(match instance.span {
            Some(span) => d.at(span, "named here"),
            None => d,
        });
    }
    Ok(made)
}

/// The vertices of all meshes, as the shaders move them.
struct Results {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// For each mesh the primitive variables that they leave.
    left: std::vec::IntoIter<Vec<Primvar>>,
}

/// The primitive variables that hold what a shader leaves in its output parameters.
fn kinds_left(program: &Program, shader: ShaderId) -> Vec<PrimvarKind> {
    let instance = program.instances.get(shader.0 as usize).and_then(Option::as_ref);
    let left = instance.into_iter().flat_map(|i| i.shader.left_over());
    let types = [PrimvarType::Float, PrimvarType::Color, PrimvarType::Point, PrimvarType::Vector, PrimvarType::Normal];
    let kind = |p: &CompiledParam| {
        let ty = types.into_iter().find(|ty| ty.name() == p.type_name).unwrap_or(PrimvarType::Float);
        PrimvarKind { name: left_by_displacement(&p.name).into(), ty, array: None }
    };
    left.map(kind).collect()
}

/// Runs the shaders at all vertices.
fn run(stage: &Scene, program: &Program, dicer: &Dicer, left: &[Vec<PrimvarKind>]) -> Result<Results, Diagnostics> {
    let image = &program.memory;
    let frame = stage.camera_frame();
    let mut first = 0;
    let mut runs = Vec::with_capacity(stage.objects.len());
    for object in &stage.objects {
        let mesh = &*object.mesh;
        let [entry, triangle, record] = image.resolve(first);
        first += mesh.triangles.len() as u32;
        let corners = corner_of_each_vertex(mesh);
        let width_of = f64::from(object.attributes.shading_rate).sqrt();
        let hit = move |i: usize| {
            let point = mesh.positions[i];
            let (number, corner) = corners[i];
            Hit {
                point,
                direction: if frame.orthographic { frame.z } else { point - frame.origin },
                // What a pixel shows, and so what there is between two samples.
                width: (width_of / dicer.pixels(point.as_dvec3(), 1.0)) as f32,
                barycentric: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]][usize::from(corner)],
                triangle: triangle + number,
                object: record,
            }
        };
        runs.push((displacement_entry(entry as usize), mesh.positions.len(), hit));
    }
    let batches: Vec<Batch<'_>> = runs.iter().map(|(entry, count, hit)| Batch { entry, count: *count, hit }).collect();
    let words = run_at_hits(program, &batches, DEFAULT_BUDGET).map_err(|e| Diagnostics::from(e.diagnostic()))?;
    let (mut points, mut normals, mut all_left) = (Vec::new(), Vec::new(), Vec::new());
    for (words, kinds) in words.iter().zip(left) {
        let width = 6 + kinds.iter().map(PrimvarKind::width).sum::<usize>();
        let rows = || words.chunks_exact(width);
        let vector = |row: &[u32], first: usize| Vec3::from_array([0, 1, 2].map(|i| f32::from_bits(row[first + i])));
        points.extend(rows().map(|row| vector(row, 0)));
        normals.extend(rows().map(|row| vector(row, 3)));
        let mut first = 6;
        let variable = |kind: &PrimvarKind| {
            let columns = first..first + kind.width();
            first = columns.end;
            let numbers =
                rows().flat_map(|row| row[columns.clone()].iter().map(|word| f32::from_bits(*word))).collect();
            Primvar { kind: kind.clone(), place: PrimvarPlace::Vertices, values: PrimvarValues::Numbers(numbers) }
        };
        all_left.push(kinds.iter().map(variable).collect::<Vec<_>>());
    }
    Ok(Results { points, normals, left: all_left.into_iter() })
}

/// For each vertex of a mesh, the first triangle that has it, and as which corner.
fn corner_of_each_vertex(mesh: &Mesh) -> Vec<(u32, u8)> {
    let mut corners = vec![(0, 0); mesh.positions.len()];
    for (number, triangle) in mesh.triangles.iter().enumerate().rev() {
        for (corner, &vertex) in (0..).zip(triangle) {
            corners[vertex as usize] = (number as u32, corner);
        }
    }
    corners
}
