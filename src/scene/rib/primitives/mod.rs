//! Geometry requests: their arguments, their primitive variables ([`variables`]), and the way of a
//! shape into the scene ([`add_object`]).

pub mod blobby;
pub mod curves;
pub mod detail;
pub mod dicing;
pub mod geometry;
pub mod patches;
pub mod polygons;
pub mod quadrics;
pub mod subdivision;
pub mod trimming;
mod variables;

use super::super::{MAX_TRIANGLES, MeshSpace, Object};
use super::args::Args;
use super::light_sets;
use super::reader::Reader;
use glam::{Mat4, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::assemble::assemble;
use shadewright_geometry::{Channel, Faces, NormalMap};
use std::sync::Arc;

/// Where rays find triangles for certain, along each axis: products of three lengths, as an
/// intersection has them, stay below the largest number. A triangulated sphere of 10¹³ is still
/// seen, one of 10¹⁵ is not.
const FARTHEST: f32 = 1e12;

/// Where an object comes from.
pub struct Source<'a> {
    /// The name of the object, unless an attribute gives one.
    pub name: &'a str,
    /// True if its normals are the surface's own, which follow the orientation, and not given by
    /// the scene.
    pub computed_normals: bool,
}

/// Takes faces from object space to the scene, with the current attributes; or to the retained
/// object that is being defined.
pub fn add_object(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    source: Source<'_>,
    mut faces: Faces,
) -> Result<(), Diagnostic> {
    if !r.state.attributes.detail.is_shown(r.relative_detail) {
        return Ok(());
    }
    let m = r.state.transform;
    let mirrored = m.determinant() < 0.0;
    let left_handed = r.is_left_handed(m);
    let attributes = r.state.attributes.clone();
    // What faces whoever looks at it has no inside.
    let inside = !faces.ribbons && attributes.orientation.is_inside(left_handed);
    for p in &mut faces.points {
        *p = m.transform_point3(*p);
    }
    if let Some(bad) = faces.points.iter().position(|p| !p.is_finite()) {
        return Err(args
            .error(format!("point {bad} has no finite place in the world"))
            .hint("the transform around it overflows"));
    }
    if let Some(far) = faces.points.iter().position(|p| p.abs().max_element() > FARTHEST) {
        let d = Diagnostic::warning(format!("point {far} is so far away that rays may miss it"));
        let d = d.at(args.whole_span(), format!("beyond {FARTHEST:e}"));
        r.warn_once("far away", d.hint("products of three coordinates have to be single-precision numbers"));
    }
    if mirrored != inside {
        reverse(&mut faces);
    }
    let outside_map = NormalMap::new(m);
    let normal_map = if inside && source.computed_normals { outside_map.reversed() } else { outside_map };
    faces.unit_normals = attributes.extensions.unit_normals && m == Mat4::IDENTITY && !inside;
    faces.ribbons |= attributes.extensions.ribbons;
    let is_unit = faces.unit_normals;
    let world_normal = |n: &mut Vec3| *n = if is_unit { *n } else { normal_map.apply(*n) };
    match &mut faces.normals {
        Channel::Absent => {}
        Channel::Constant(n) => world_normal(n),
        Channel::PerTriangle(v) | Channel::PerPoint(v) | Channel::PerCorner { values: v, .. } => {
            v.iter_mut().for_each(world_normal);
        }
    }
    faces.variables.iter_mut().for_each(|v| v.transform(m));
    let computed_normals = source.computed_normals || faces.normals == Channel::Absent;
    let color = take_constant(&mut faces.colors);
    let opacity = take_constant(&mut faces.opacities);
    r.triangles += faces.triangles.len();
    if r.triangles > MAX_TRIANGLES {
        r.fatal(args.error(format!("the scene has more than {MAX_TRIANGLES} triangles")));
        return Ok(());
    }
    let made = assemble(faces, attributes.crease_angle);
    if made.dropped > 0 {
        let (count, span) = r.zero_area.unwrap_or((0, args.whole_span()));
        r.zero_area = Some((count + made.dropped, span));
    }
    let mut mesh = made.mesh;
    if mesh.triangles.is_empty() {
        return Ok(());
    }
    if r.retained.is_open() {
        // An instance has a color of its own: what the primitive brings stays with its triangles.
        let everywhere = |v: Option<Vec3>| v.map_or_else(Vec::new, |v| vec![v; mesh.triangles.len()]);
        let (colors, opacities) = (everywhere(color), everywhere(opacity));
        mesh.triangle_colors.extend(colors);
        mesh.triangle_opacities.extend(opacities);
        r.retained.add(mesh, computed_normals);
        return Ok(());
    }
    let Some(lights) = light_sets::object_lights(r, args) else { return Ok(()) };
    r.scene.objects.push(Object {
        name: attributes.name.unwrap_or_else(|| source.name.into()),
        surface: attributes.surface,
        attributes: attributes.own,
        lights,
        sides: attributes.sides,
        color: color.unwrap_or(attributes.color),
        opacity: opacity.unwrap_or(attributes.opacity),
        mesh: Arc::new(mesh),
        mesh_space: MeshSpace::World,
        procedural: None,
        solid: None,
        object_to_world: attributes.extensions.space.unwrap_or_else(|| own_space(m)),
        span: Some(args.whole_span()),
    });
    Ok(())
}

/// Where a primitive was declared, as far as that can be undone.
fn own_space(to_world: Mat4) -> Mat4 {
    let is_space = to_world.is_finite() && to_world.inverse().is_finite();
    if is_space { to_world } else { Mat4::IDENTITY }
}

/// Turns every triangle around.
fn reverse(faces: &mut Faces) {
    fn corners<T>(channel: &mut Channel<T>) {
        if let Channel::PerCorner { indices, .. } = channel {
            indices.iter_mut().for_each(|t| t.swap(1, 2));
        }
    }
    faces.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    corners(&mut faces.normals);
    corners(&mut faces.st);
    corners(&mut faces.uv);
    corners(&mut faces.colors);
    corners(&mut faces.opacities);
    faces.variables.iter_mut().for_each(|v| corners(&mut v.at));
}

fn take_constant(channel: &mut Channel<Vec3>) -> Option<Vec3> {
    match channel {
        Channel::Constant(v) => {
            let v = *v;
            *channel = Channel::Absent;
            Some(v)
        }
        _ => None,
    }
}
