//! Which procedural primitives of a scene are polygons or surfaces of the hardware.
//!
//! A procedural primitive is an RTSL class, whose intersection shader can be anything. The hardware
//! has intersectors for the classes of `assets/rtsl/polygons.rtsl` and `quadrics.rtsl`, and for
//! `Sphere` and `Box` of `primitives.rtsl`. A class is known by the names of its file and of itself
//! and by its parameters; whoever places it in the hardware's memory compares the two
//! ([`Model`](super::super::model::Model::from_job)).

use super::general::{General, MOST_CORNERS};
use super::net::{MOST, Net};
use super::placement::{Placement, corners};
use super::quadric::{Quadric, WORDS};
use super::{Shape, Surface};
use crate::rays::volumes::outline::Extent;
use glam::{DAffine3, DMat4, DVec3, Mat4, Vec3};
use shadewright_scene::{ParamValue, ShaderInstance};

/// A procedural primitive as the hardware holds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// Quadrilaterals, with their corners in order around them, in the world.
    Polygons(Vec<[Vec3; 4]>),
    /// A surface, with the body around it.
    Surface(Surface, Extent),
}

/// A primitive as the hardware may hold it, with the map from its own space to the world; `None`
/// where no intersector is for its class, or its numbers make none.
pub fn held(shader: &ShaderInstance, object_to_world: Mat4) -> Option<Held> {
    class(shader)?(&Given { params: &shader.params, to_world: to_world(object_to_world)? })
}

/// True if there is an intersector for a primitive's class.
pub fn has_intersector(shader: &ShaderInstance) -> bool {
    class(shader).is_some()
}

/// The function that makes a primitive of its parameters, where its class has an intersector.
fn class<'a>(shader: &ShaderInstance) -> Option<fn(&Given<'a>) -> Option<Held>> {
    Some(match (shader.shader.stem(), shader.shader.name()) {
        ("polygons", "Quadrilateral") => Given::quadrilateral,
        ("polygons", "Polygon") => Given::polygon,
        ("quadrics", "Quadric") => Given::quadric,
        ("quadrics", "NetVolume") => Given::net,
        ("primitives", "Sphere") => Given::sphere,
        ("primitives", "Box") => Given::box_faces,
        _ => return None,
    })
}

/// An affine map with an inverse.
fn to_world(matrix: Mat4) -> Option<DAffine3> {
    let map = DAffine3::from_mat4(DMat4::from_cols_array(&matrix.to_cols_array().map(f64::from)));
    (map.is_finite() && map.matrix3.determinant() != 0.0).then_some(map)
}

/// The parameters of a primitive.
struct Given<'a> {
    params: &'a [(String, ParamValue)],
    to_world: DAffine3,
}

impl Given<'_> {
    fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        match &self.params.iter().find(|(own, _)| own == name)?.1 {
            ParamValue::Numbers(v) | ParamValue::Float(v) => Some(v.iter().copied().map(f64::from).collect()),
            ParamValue::Integer(v) => Some(v.iter().copied().map(f64::from).collect()),
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.numbers(name).filter(|values| values.len() == 1).map(|values| values[0])
    }

    fn points(&self, name: &str) -> Option<Vec<DVec3>> {
        match &self.params.iter().find(|(own, _)| own == name)?.1 {
            ParamValue::Point(v) | ParamValue::Vector(v) => Some(v.iter().map(|p| p.as_dvec3()).collect()),
            ParamValue::Numbers(v) | ParamValue::Float(v) if v.len() % 3 == 0 => {
                Some(v.chunks_exact(3).map(|p| Vec3::from_slice(p).as_dvec3()).collect())
            }
            _ => None,
        }
    }

    fn point(&self, name: &str) -> Option<DVec3> {
        self.points(name).filter(|values| values.len() == 1).map(|values| values[0])
    }

    /// Only parameters of these names may be given: a class has constructors for others.
    fn only(&self, names: &[&str]) -> Option<()> {
        self.params.iter().all(|(name, _)| names.contains(&name.as_str())).then_some(())
    }

    /// The box between two corners, as a map from the cube from −1 to 1 to the primitive's space.
    fn cube(from: DVec3, to: DVec3) -> Option<DAffine3> {
        let (low, high) = (from.min(to), from.max(to));
        let half = 0.5 * (high - low);
        half.cmpgt(DVec3::ZERO)
            .all()
            .then(|| DAffine3::from_scale_rotation_translation(half, Default::default(), 0.5 * (low + high)))
    }

    /// A surface in a box.
    fn surface(&self, cube: DAffine3, shape: Shape) -> Option<Held> {
        let cube_to_world = self.to_world * cube;
        let (placement, corners) = (Placement::new(cube_to_world)?, corners(cube_to_world));
        let are_finite = corners.iter().all(|corner| corner.is_finite());
        are_finite.then_some(Held::Surface(Surface { placement, shape }, Extent::Solid(corners)))
    }

    fn quadrilaterals(&self, faces: &[[DVec3; 4]]) -> Held {
        let face = |face: &[DVec3; 4]| face.map(|corner| self.to_world.transform_point3(corner).as_vec3());
        Held::Polygons(faces.iter().map(face).collect())
    }

    fn quadrilateral(&self) -> Option<Held> {
        let [a, b, c, d] = ["p00", "p10", "p11", "p01"].map(|name| self.point(name));
        Some(self.quadrilaterals(&[[a?, b?, c?, d?]]))
    }

    fn box_faces(&self) -> Option<Held> {
        self.only(&["from", "to"])?;
        let (from, to) = (self.point("from")?, self.point("to")?);
        let (low, high) = (from.min(to), from.max(to));
        let corner = |number: usize| {
            DVec3::from_array(std::array::from_fn(|axis| if number >> axis & 1 == 0 { low } else { high }[axis]))
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Some(self.quadrilaterals(&faces.map(|face| face.map(corner))))
    }

    fn polygon(&self) -> Option<Held> {
        let (count, points) = (self.number("count")?, self.points("corners")?);
        let own = points.get(..count as usize).filter(|own| (3..=MOST_CORNERS).contains(&own.len()))?;
        let low = own.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = own.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        // Of one size on all axes: that of a planar polygon is 0 on some.
        let half = 0.5 * (high - low).max_element();
        let middle = 0.5 * (low + high);
        let cube = Self::cube(middle - half, middle + half)?;
        let corner = |&point: &DVec3| ((point - middle) / half).as_vec3().to_array();
        self.surface(cube, Shape::General(General { corners: own.iter().map(corner).collect() }))
    }

    fn sphere(&self) -> Option<Held> {
        self.only(&["center", "radius"])?;
        let (radius, center) = (self.number("radius")?, self.point("center").unwrap_or_default());
        let [x, y, z] = (-2.0 * center).to_array();
        let value = center.length_squared() - radius * radius;
        let cube = Self::cube(center - radius, center + radius)?;
        let quadric = Quadric::new([1.0, 0.0, 0.0, x, 1.0, 0.0, y, 1.0, z, value], cube)?;
        self.surface(cube, Shape::Quadric(quadric))
    }

    fn quadric(&self) -> Option<Held> {
        let cube = Self::cube(self.point("from")?, self.point("to")?)?;
        let coefficients: [f64; WORDS] = self.numbers("coefficients")?.try_into().ok()?;
        self.surface(cube, Shape::Quadric(Quadric::new(coefficients, cube)?))
    }

    fn net(&self) -> Option<Held> {
        let cube = Self::cube(self.point("from")?, self.point("to")?)?;
        let (count, signs) = (self.number("count")?, self.numbers("signs")?);
        let coefficients = self.numbers("coefficients")?;
        let terms = coefficients.chunks_exact(WORDS).zip(signs).take(count as usize).map(|(own, sign)| {
            let own: [f64; WORDS] = own.try_into().ok()?;
            Some((Quadric::new(own, cube)?, sign as f32))
        });
        let terms: Vec<_> = terms.collect::<Option<_>>()?;
        let is_whole = terms.len() == count as usize && (1..=MOST).contains(&terms.len());
        is_whole.then(|| self.surface(cube, Shape::Net(Net { terms })))?
    }
}
