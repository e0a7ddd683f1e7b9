//! Requests that change the current transform (RISpec 3.2, §4.3).

use super::args::{Args, there_are};
use super::primitives::dicing::{OF_NAME, keep};
use super::reader::Reader;
use glam::{DMat4, DVec3, Mat4, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;

/// The sixteen numbers of a matrix.
///
/// # Errors
///
/// When there are more or fewer.
pub fn matrix(args: &mut Args<'_, '_>) -> Result<Mat4, Diagnostic> {
    Ok(Mat4::from_cols_array(&args.numbers::<16>("a matrix of 16 numbers")?))
}

/// `CoordinateSystem "name"`
pub fn coordinate_system(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the coordinate system's name")?;
    if keep(r, args, OF_NAME + name.len()) {
        r.scene.coordinate_systems.insert(name, r.state.transform);
    }
    Ok(())
}

/// `CoordSysTransform "name"`
pub fn coord_sys_transform(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the coordinate system's name")?;
    match r.scene.coordinate_systems.get(&name) {
        Some(m) => {
            r.state.transform = *m;
            Ok(())
        }
        None => {
            let hint = there_are(r.scene.coordinate_systems.keys(), "name one with CoordinateSystem");
            Err(args.error(format!("no coordinate system is called `{name}`")).hint(hint))
        }
    }
}

/// `Rotate angle x y z`
pub fn rotate(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [angle, x, y, z] = args.numbers("an angle and an axis")?;
    let Some(axis) = Vec3::new(x, y, z).as_dvec3().try_normalize() else {
        return Err(args.error("the axis has no length"));
    };
    r.state.transform *= DMat4::from_axis_angle(axis, f64::from(angle).to_radians()).as_mat4();
    Ok(())
}

/// `Skew angle dx1 dy1 dz1 dx2 dy2 dz2`: a shear along the second axis, which turns the first one
/// towards it by the angle.
pub fn skew(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [angle, numbers @ ..] = args.numbers::<7>("an angle and two axes")?;
    let axis = |at: usize| Vec3::from_slice(&numbers[at..]).as_dvec3().try_normalize();
    let (Some(first), Some(second)) = (axis(0), axis(3)) else {
        return Err(args.error("one of the axes has no length"));
    };
    let between = first.angle_between(second);
    let angle = f64::from(angle).to_radians();
    if !(angle.abs() < between && between < std::f64::consts::PI - 1e-6) {
        let degrees = between.to_degrees();
        return Err(args
            .error("the angle is not smaller than the angle between the axes")
            .hint(format!("that is {degrees:.3} degrees; axes along one line cannot be skewed")));
    }
    // A point moves along the second axis in proportion to its distance from the plane through that
    // axis, across the first: in the plane of both, the first axis lies at `between` to the second
    // one before and at `between - angle` after.
    let across = (first - first.dot(second) * second).normalize();
    let slope = 1.0 / (between - angle).tan() - 1.0 / between.tan();
    let column = |unit: DVec3| (unit + slope * across.dot(unit) * second).extend(0.0);
    let shear = DMat4::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z), glam::DVec4::W);
    r.state.transform *= shear.as_mat4();
    Ok(())
}
