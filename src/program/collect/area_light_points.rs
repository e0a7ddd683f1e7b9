//! Points on the geometry of RenderMan area lights: for each shading point, a light is sampled at
//! one of them.

use glam::{Mat4, Vec3};
use shadewright_scene::{MeshSpace, Scene};

/// Points of an area light: as many as there are steps in eight bits, so that a penumbra shows no
/// bands.
pub const POINTS: u32 = 256;

/// Points on the geometry of a light, uniform by area, with the geometric normals there: two
/// vectors of memory each. Empty where the light has no geometry.
pub fn points(scene: &Scene, light: u32) -> Vec<[u32; 4]> {
    // Instances may have very many: none is kept.
    let triangles = || {
        scene.objects.iter().filter(|o| o.attributes.emits == Some(light)).flat_map(|object| {
            let to_world = if object.mesh_space == MeshSpace::Object { object.object_to_world } else { Mat4::IDENTITY };
            let to_world = move |p| to_world.transform_point3(p);
            (0..object.mesh.triangles.len()).map(move |t| object.mesh.corners(t).map(to_world))
        })
    };
    let normal = |[a, b, c]: [Vec3; 3]| (b - a).cross(c - a);
    let area = |triangle| f64::from(normal(triangle).length());
    let total: f64 = triangles().fold(0.0, |sum, triangle| sum + area(triangle));
    if total <= 0.0 {
        return Vec::new();
    }
    // The triangle that is reached, and the sum of the areas up to it.
    let mut rest = triangles();
    let mut at = rest.next().map(|first| (first, area(first)));
    let vector = |v: Vec3| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), 0];
    (0..POINTS)
        .flat_map(|i| {
            let wanted = (f64::from(i) + 0.5) / f64::from(POINTS) * total;
            while let Some((_, sum)) = at.filter(|(_, sum)| *sum < wanted)
                && let Some(next) = rest.next()
            {
                at = Some((next, sum + area(next)));
            }
            let triangle @ [a, b, c] = at.map_or([Vec3::ZERO; 3], |(triangle, _)| triangle);
            // The R2 sequence (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences",
            // 2018), warped to the triangle.
            let [r, s] = [0.754_877_666_246_693, 0.569_840_290_998_053].map(|step| (f64::from(i + 1) * step).fract());
            let root = r.sqrt();
            let [u, v] = [root * (1.0 - s), root * s].map(|x| x as f32);
            [vector(a + u * (b - a) + v * (c - a)), vector(normal(triangle).normalize_or_zero())]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_geometry::Mesh;
    use shadewright_scene::{Object, ObjectAttributes};
    use std::sync::Arc;

    #[test]
    fn points_lie_on_the_geometry_of_the_light_in_proportion_to_area() {
        let mesh = |x: f32, side: f32| {
            let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
            let positions = corners.map(|[u, v]| Vec3::new(x + side * u, side * v, 0.0)).to_vec();
            let normals = vec![Vec3::Z; 4];
            Arc::new(Mesh { positions, normals, triangles: vec![[0, 1, 2], [0, 2, 3]], ..Mesh::default() })
        };
        let object = |mesh, emits| Object {
            name: "".into(),
            surface: None,
            attributes: Arc::new(ObjectAttributes { emits, ..Default::default() }),
            lights: Arc::new([]),
            sides: 2,
            color: Vec3::ONE,
            opacity: Vec3::ONE,
            mesh,
            mesh_space: MeshSpace::World,
            procedural: None,
            solid: None,
            object_to_world: Mat4::IDENTITY,
            span: None,
        };
        let mut scene = Scene::empty("two squares of a light and one that is not");
        scene.objects =
            vec![object(mesh(0.0, 1.0), Some(3)), object(mesh(10.0, 3.0), None), object(mesh(20.0, 2.0), Some(3))];
        let made = points(&scene, 3);
        assert_eq!(made.len(), 2 * POINTS as usize);
        let at = |v: &[u32; 4]| Vec3::from_array([v[0], v[1], v[2]].map(f32::from_bits));
        let places: Vec<Vec3> = made.iter().step_by(2).map(at).collect();
        let first = places.iter().filter(|p| (0.0..=1.0).contains(&p.x) && (0.0..=1.0).contains(&p.y)).count();
        let second = places.iter().filter(|p| (20.0..=22.0).contains(&p.x) && (0.0..=2.0).contains(&p.y)).count();
        // The second square has four times the area of the first.
        assert!((first as f32 - 51.2).abs() <= 1.0 && first + second == POINTS as usize, "{first} and {second}");
        assert!(made.iter().skip(1).step_by(2).all(|n| at(n) == Vec3::Z));
        let mean = places.iter().filter(|p| p.x >= 20.0).sum::<Vec3>() / second as f32;
        assert!((mean - Vec3::new(21.0, 1.0, 0.0)).length() < 0.05, "{mean}");
        assert!(points(&scene, 2).is_empty());
    }
}
