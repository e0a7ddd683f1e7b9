//! `Sphere`, `Cone`, `Cylinder`, `Disk`, `Hyperboloid`, `Paraboloid` and `Torus` (RISpec 3.2,
//! §5.4).

use super::super::super::Projection;
use super::super::args::Args;
use super::super::reader::Reader;
use super::dicing::count;
use super::variables::{Blend, ClassMap, Spread, Variables};
use super::{Source, add_object};
use glam::{Vec2, Vec3, Vec4};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::Channel;
use shadewright_geometry::quadric::{Quadric, segments_for};

/// `Sphere radius zmin zmax thetamax`
pub fn sphere(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [radius, z_min, z_max, theta_max] = args.numbers("radius, zmin, zmax and thetamax")?;
    quadric(r, args, Quadric::Sphere { radius, z_min, z_max, theta_max })
}

/// `Cylinder radius zmin zmax thetamax`
pub fn cylinder(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [radius, z_min, z_max, theta_max] = args.numbers("radius, zmin, zmax and thetamax")?;
    quadric(r, args, Quadric::Cylinder { radius, z_min, z_max, theta_max })
}

/// `Cone height radius thetamax`
pub fn cone(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [height, radius, theta_max] = args.numbers("height, radius and thetamax")?;
    quadric(r, args, Quadric::Cone { height, radius, theta_max })
}

/// `Disk height radius thetamax`
pub fn disk(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [height, radius, theta_max] = args.numbers("height, radius and thetamax")?;
    quadric(r, args, Quadric::Disk { height, radius, theta_max })
}

/// `Hyperboloid x1 y1 z1 x2 y2 z2 thetamax`, the points in brackets of their own or not.
pub fn hyperboloid(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let mut numbers = Vec::new();
    while numbers.len() < 7 {
        let (values, _) = args.float_values()?;
        numbers.extend(values);
    }
    let Ok([x1, y1, z1, x2, y2, z2, theta_max]) = <[f32; 7]>::try_from(numbers) else {
        return Err(args.error("expected two points and thetamax, 7 numbers"));
    };
    quadric(r, args, Quadric::Hyperboloid { from: Vec3::new(x1, y1, z1), to: Vec3::new(x2, y2, z2), theta_max })
}

/// `Paraboloid rmax zmin zmax thetamax`
pub fn paraboloid(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [radius, z_min, z_max, theta_max] = args.numbers("rmax, zmin, zmax and thetamax")?;
    if z_max == 0.0 || z_min / z_max < 0.0 {
        return Err(args.error(format!("from {z_min} to {z_max} there is no paraboloid: its apex is in the origin")));
    }
    quadric(r, args, Quadric::Paraboloid { radius, z_min, z_max, theta_max })
}

/// `Torus major minor phimin phimax thetamax`
pub fn torus(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [major, minor, phi_min, phi_max, theta_max] = args.numbers("two radii, phimin, phimax and thetamax")?;
    quadric(r, args, Quadric::Torus { major, minor, phi_min, phi_max, theta_max })
}

fn quadric(r: &mut Reader<'_>, args: &mut Args<'_, '_>, quadric: Quadric) -> Result<(), Diagnostic> {
    let vars = Variables::read(r, args)?;
    r.admit_geometry(args.span);
    if quadric.radius() == 0.0 {
        return Err(args.error("the radius must not be 0"));
    }
    let segments = r.budget.halve(segments(r, quadric));
    if !count(r, args, quadric.triangles(segments), &vars) {
        return Ok(());
    }
    let mut faces = quadric.tessellate(segments);
    let uv = match &faces.uv {
        Channel::PerPoint(uv) => uv.clone(),
        _ => Vec::new(),
    };
    if let Some(corners) = r.state.attributes.surfaces.texture_coordinates {
        faces.st = texture_corners(&corners, &uv);
    }
    let computed_normals = !vars.has_normals();
    vars.lay(r, &over_square(&uv), &mut faces);
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}

/// Where values belong on a primitive of one face whose points have these `u, v`: those of all
/// classes but uniform at the corners (0,0), (1,0), (0,1), (1,1), and blended between them.
pub fn over_square(uv: &[Vec2]) -> Spread<'_> {
    let corners = || {
        let blend: Blend<'_> =
            Box::new(|values, width| uv.iter().flat_map(|uv| bilinear(values, width, *uv)).collect());
        let at = Channel::PerPoint((0..uv.len() as u32).collect());
        ClassMap { count: 4, meaning: "one value a corner", blend: Some(blend), at }
    };
    Spread {
        uniform: ClassMap { count: 1, meaning: "one value for the primitive", blend: None, at: Channel::Constant(0) },
        varying: corners(),
        vertex: corners(),
        face_varying: corners(),
        face_vertex: corners(),
    }
}

/// `s, t` at these `u, v` between those of the corners of the unit square (RISpec 3.2, §4.2.3).
pub fn texture_corners(corners: &[Vec2; 4], uv: &[Vec2]) -> Channel<Vec2> {
    let numbers = corners.map(|c| c.to_array());
    let at = |uv: &Vec2| {
        let mut st = bilinear(numbers.as_flattened(), 2, *uv);
        Vec2::from_array(std::array::from_fn(|_| st.next().unwrap_or(0.0)))
    };
    Channel::PerPoint(uv.iter().map(at).collect())
}

/// Interpolates at `u, v` between four values of `width` numbers each.
fn bilinear(values: &[f32], width: usize, uv: Vec2) -> impl Iterator<Item = f32> {
    (0..width).map(move |k| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|corner| values[corner * width + k]);
        let low = a * (1.0 - uv.x) + b * uv.x;
        let high = c * (1.0 - uv.x) + d * uv.x;
        low * (1.0 - uv.y) + high * uv.y
    })
}

/// The screen-space radius that quadrics of a retained object are diced for, whose instances may
/// have any size: a sixth of the image's height.
const RETAINED_RADIUS: f32 = 1.0 / 6.0;

/// The screen-space radius that all quadrics of solids are diced for, so that their rims meet: as
/// much as the image shows of a circle around its middle, half its height.
const SOLID_RADIUS: f32 = 0.5;

/// The tessellation rate of a quadric, from its screen-space size.
fn segments(r: &Reader<'_>, quadric: Quadric) -> u32 {
    if r.solids.is_open() {
        return segments_for(SOLID_RADIUS * r.scene.format.height as f32);
    }
    if r.retained.is_open() {
        return segments_for(RETAINED_RADIUS * r.scene.format.height as f32);
    }
    let m = r.state.transform;
    let scale = [m.x_axis, m.y_axis, m.z_axis].map(Vec4::truncate).map(Vec3::length).into_iter().fold(0.0, f32::max);
    let (center, bound) = quadric.bounding_sphere();
    let depth = r.scene.camera.world_to_camera.transform_point3(m.transform_point3(center)).z;
    let nearest = match r.scene.camera.projection {
        Projection::Orthographic => 1.0,
        // A shape around or behind the camera may still be seen in a mirror: its own size stands
        // for its distance.
        Projection::Perspective { .. } => (depth - bound * scale).max(0.25 * bound * scale),
    };
    let pixels_per_unit = 0.5 * r.scene.format.height as f32 / (r.frame.half_height * nearest);
    segments_for(quadric.radius() * scale * pixels_per_unit)
}
