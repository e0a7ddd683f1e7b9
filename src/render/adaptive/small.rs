//! Small objects: those that may lie between the corners of a pixel and touch none of them.
//!
//! Whitted gave objects bounding spheres, so that a ray that passes near a small one has the pixel
//! divided (Whitted 1980; Ullner 1983, §2.1: "Whitted solved the problem by forcing a subdivision").
//! Here bounds are projected to the raster instead. An object is small where the least width of its
//! projection is below √2 pixels: a disk of a larger diameter holds a corner of some pixel. So thin
//! lines are small, too, in whatever direction they lie. Squares over a small object are divided down
//! to the size at which a disk as wide as the object holds a corner.
//!
//! An object is what the scene declares as one: the parts of a mesh are not looked for, and neither
//! are reflections, or lines that are curved.

use glam::{Mat4, Vec2, Vec3, Vec4Swizzles};
use rayon::prelude::*;
use shadewright_bvh::two_level::procedural::ProceduralBvh;
use shadewright_scene::{MeshSpace, Object, Scene};
use std::f32::consts::SQRT_2;

/// Margin around projections for rounding, in pixels.
const ROUNDING: f32 = 1e-3;

/// Directions in which projections are measured before their hulls are made.
const DIRECTIONS: usize = 8;

/// The projection of a small object: a rectangle, cut to a strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Upper left and lower right corner, in pixels.
    rectangle: [Vec2; 2],
    /// The unit vector across the strip.
    across: Vec2,
    /// Where the strip begins and ends along it.
    strip: [f32; 2],
}

impl Region {
    /// The width of the strip: the least width of the projection.
    pub fn width(&self) -> f32 {
        self.strip[1] - self.strip[0]
    }

    /// The region of points of the raster, if that is small.
    pub fn from_points(points: &[Vec2]) -> Option<Self> {
        let extents: [f32; DIRECTIONS] = std::array::from_fn(|i| {
            let direction = Vec2::from_angle(std::f32::consts::PI * i as f32 / DIRECTIONS as f32);
            let [low, high] = range(points.iter().map(|point| point.dot(direction)));
            high - low
        });
        let [least, most] = range(extents.into_iter());
        // One of these is at most π/16 from the direction of the least width: of a hull of width w and
        // length l, it measures at most w + l sin(π/16), and l < 1.02 times the most.
        let slack = 1.02 * (std::f32::consts::PI / 16.0).sin();
        if !least.is_finite() || !most.is_finite() || least - slack * most >= SQRT_2 {
            return None;
        }
        let hull = hull(points.to_vec());
        let sides = hull.iter().zip(hull.iter().cycle().skip(1));
        let normals = sides.filter_map(|(a, b)| (b - a).perp().try_normalize()).chain([Vec2::X]);
        let strips = normals.map(|across| (across, range(hull.iter().map(|point| point.dot(across)))));
        // The least width is across a side of the hull.
        let (across, strip) = strips.min_by(|(_, a), (_, b)| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))?;
        let [left, right] = range(hull.iter().map(|point| point.x));
        let [top, bottom] = range(hull.iter().map(|point| point.y));
        let region = Self { rectangle: [Vec2::new(left, top), Vec2::new(right, bottom)], across, strip };
        (region.width() < SQRT_2).then_some(region)
    }

    /// True if it reaches into a rectangle.
    fn meets(&self, [low, high]: [Vec2; 2]) -> bool {
        let [from, to] = self.rectangle;
        if (low - ROUNDING).cmpgt(to).any() || (high + ROUNDING).cmplt(from).any() {
            return false;
        }
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (at, reach) = (middle.dot(self.across), half.dot(self.across.abs()) + ROUNDING);
        at - reach <= self.strip[1] && at + reach >= self.strip[0]
    }

    /// The columns of the pixels of a row that it reaches into.
    fn columns(&self, row: i64) -> [i64; 2] {
        let [from, to] = self.rectangle;
        let (mut left, mut right) = (from.x, to.x);
        if self.across.x.abs() > 1e-4 {
            let rows = [(row as f32).max(from.y), (row as f32 + 1.0).min(to.y)];
            let ends = rows.into_iter().flat_map(|y| self.strip.map(|c| (c - self.across.y * y) / self.across.x));
            let [first, last] = range(ends);
            (left, right) = (left.max(first), right.min(last));
        }
        [(left - ROUNDING).floor() as i64, (right + ROUNDING).floor() as i64]
    }
}

/// Pixels that are noted at most, those of several objects several times: 192 MiB. Objects after that
/// are left out.
const MOST_COVERED: usize = 1 << 24;

/// The small objects of an image, by the pixels that they reach into.
#[derive(Clone, Debug, Default)]
pub struct SmallObjects {
    regions: Vec<Region>,
    /// Row and column of a pixel, and a region that reaches into it, in order.
    covered: Vec<([i32; 2], u32)>,
}

/// Pixels outside of the image, to each side, for which regions are noted: filters reach as far.
const BEYOND: i64 = 32;

impl SmallObjects {
    /// The small objects of a scene, in its image, of which `procedural` are the procedural
    /// primitives. None where a shader replaces the camera: no bounds can be projected.
    pub fn for_scene(scene: &Scene, procedural: &ProceduralBvh) -> Self {
        if scene.ray_function.is_some() || scene.camera_shader.is_some() {
            return Self::default();
        }
        let raster = Raster::for_scene(scene);
        let visible = scene.objects.par_iter().filter(|object| object.attributes.visibility.camera);
        let mut regions: Vec<_> = visible.filter_map(|object| raster.region(object)).collect();
        regions.extend(procedural.boxes().filter_map(|(low, high)| raster.region_of(corners(low, high))));
        Self::new(regions, [scene.format.width, scene.format.height])
    }

    /// Small objects with these regions, in an image of this size.
    pub fn new(regions: Vec<Region>, size: [u32; 2]) -> Self {
        let [width, height] = size.map(i64::from);
        let clamped = |at: i64, size: i64| at.clamp(-BEYOND, size + BEYOND);
        let mut covered = Vec::new();
        for (region, number) in regions.iter().zip(0..) {
            let [top, bottom] = region.rectangle.map(|corner| corner.y);
            let [top, bottom] = [(top - ROUNDING).floor() as i64, (bottom + ROUNDING).floor() as i64];
            for row in clamped(top, height)..=clamped(bottom, height) {
                let [first, last] = region.columns(row);
                if last >= -BEYOND && first <= width + BEYOND {
                    let columns = clamped(first, width)..=clamped(last, width);
                    let pixels = columns.map(|column| ([row as i32, column as i32], number));
                    covered.extend(pixels.take(MOST_COVERED - covered.len()));
                }
            }
        }
        covered.sort_unstable();
        Self { regions, covered }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.covered.is_empty()
    }

    /// True if a square of a pixel, in raster coordinates, is to be divided: a small object reaches
    /// into it, and may lie between its corners.
    pub fn force(&self, [x, y]: [i64; 2], square: [Vec2; 2]) -> bool {
        let pixel = [y as i32, x as i32];
        let first = self.covered.partition_point(|(at, _)| *at < pixel);
        let here = self.covered[first..].iter().take_while(|(at, _)| *at == pixel);
        let side = square[1].x - square[0].x;
        let mut regions = here.map(|(_, number)| &self.regions[*number as usize]);
        regions.any(|region| region.width() < SQRT_2 * side && region.meets(square))
    }
}

/// The projection of a scene's space to the raster.
struct Raster {
    to_ndc: Mat4,
    size: Vec2,
    near: f32,
}

impl Raster {
    fn for_scene(scene: &Scene) -> Self {
        let near = scene.camera.near.max(f32::MIN_POSITIVE);
        let size = Vec2::new(scene.format.width as f32, scene.format.height as f32);
        Self { to_ndc: scene.camera_frame().to_ndc([0.0, f32::INFINITY]), size, near }
    }

    /// The position of a point in pixels; `None` behind the near clipping plane.
    fn project(&self, point: Vec3) -> Option<Vec2> {
        let at = self.to_ndc * point.extend(1.0);
        // The depth, for either projection.
        if at.z < self.near || at.w <= 0.0 {
            return None;
        }
        let screen = at.xy() / at.w;
        let raster = Vec2::new(0.5 + 0.5 * screen.x, 0.5 - 0.5 * screen.y) * self.size;
        raster.is_finite().then_some(raster)
    }

    /// The region of an object, if that is small. Those that reach behind the camera are not.
    fn region(&self, object: &Object) -> Option<Region> {
        if object.mesh_space == MeshSpace::World {
            return self.region_of(object.mesh.positions.iter().copied());
        }
        // Other instances share the mesh: its box is projected, not each of its points.
        let (low, high) = object.mesh.bounds()?;
        self.region_of(corners(low, high).map(|corner| object.object_to_world.transform_point3(corner)))
    }

    fn region_of(&self, points: impl IntoIterator<Item = Vec3>) -> Option<Region> {
        let points: Vec<_> = points.into_iter().map(|point| self.project(point)).collect::<Option<_>>()?;
        Region::from_points(&points)
    }
}

/// The corners of a box.
fn corners(low: Vec3, high: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|i| Vec3::from_array([0, 1, 2].map(|axis| if i >> axis & 1 == 0 { low } else { high }[axis])))
}

/// The least and the greatest of some numbers.
fn range(numbers: impl Iterator<Item = f32>) -> [f32; 2] {
    numbers.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

/// The convex hull of points, in order around it (Andrew 1979).
fn hull(mut points: Vec<Vec2>) -> Vec<Vec2> {
    points.sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    let half = |points: &mut dyn Iterator<Item = Vec2>| {
        let mut chain: Vec<Vec2> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(point - b) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut around = half(&mut points.iter().copied());
    around.extend(half(&mut points.iter().rev().copied()));
    if around.is_empty() { points } else { around }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk of points.
    fn disk(middle: Vec2, radius: f32) -> Vec<Vec2> {
        (0..32).map(|i| middle + radius * Vec2::from_angle(i as f32 / 32.0 * std::f32::consts::TAU)).collect()
    }

    /// The corners of a line of a width.
    fn line(from: Vec2, to: Vec2, width: f32) -> Vec<Vec2> {
        let across = 0.5 * width * (to - from).perp().normalize();
        vec![from - across, from + across, to - across, to + across]
    }

    #[test]
    fn disks_are_small_below_the_diagonal_of_a_pixel() {
        assert!(Region::from_points(&disk(Vec2::new(7.3, 4.1), 0.69)).is_some());
        assert!(Region::from_points(&disk(Vec2::new(7.3, 4.1), 0.75)).is_none());
        assert!(Region::from_points(&[]).is_none());
    }

    #[test]
    fn lines_are_as_small_as_they_are_wide_in_every_direction() {
        for degrees in 0..180 {
            let to = 300.0 * Vec2::from_angle((degrees as f32).to_radians());
            let region = Region::from_points(&line(Vec2::ZERO, to, 0.2)).expect("a thin line");
            assert!((region.width() - 0.2).abs() < 1e-3, "{degrees}: {}", region.width());
            assert_eq!(Region::from_points(&line(Vec2::ZERO, to, 1.5)), None, "{degrees}");
        }
    }

    #[test]
    fn points_on_one_line_have_no_width() {
        for points in [vec![Vec2::splat(3.5)], vec![Vec2::ZERO, Vec2::new(9.0, 6.0), Vec2::new(3.0, 2.0)]] {
            let region = Region::from_points(&points).expect("a small region");
            assert!(region.width() < 1e-5, "{region:?}");
        }
    }

    #[test]
    fn squares_over_an_object_are_divided_until_its_width_holds_a_corner() {
        let region = Region::from_points(&disk(Vec2::new(3.3, 5.4), 0.1)).expect("a small region");
        let small = SmallObjects::new(vec![region], [8, 8]);
        let force =
            |pixel: [i64; 2], low: [f32; 2], side: f32| small.force(pixel, [low.into(), Vec2::from(low) + side]);
        assert!(force([3, 5], [3.0, 5.0], 1.0));
        assert!(force([3, 5], [3.25, 5.25], 0.25), "0.2 is below 0.25 · √2");
        assert!(!force([3, 5], [3.25, 5.25], 0.125), "a disk of 0.2 holds a corner of a lattice of 0.125");
        assert!(!force([3, 5], [3.5, 5.0], 0.25), "beside it");
        assert!(!force([4, 5], [4.0, 5.0], 1.0));
    }

    #[test]
    fn a_line_is_noted_in_the_pixels_along_it() {
        let region = Region::from_points(&line(Vec2::new(0.5, 0.25), Vec2::new(7.5, 3.75), 0.1)).expect("a thin line");
        let small = SmallObjects::new(vec![region], [8, 8]);
        let force = |x: i64, y: i64| {
            small.force([x, y], [Vec2::new(x as f32, y as f32), Vec2::new(x as f32 + 1.0, y as f32 + 1.0)])
        };
        for x in 0..8 {
            assert!(force(x, x / 2), "{x}");
            assert!(!force(x, x / 2 + 2) && !force(x, 7), "{x}");
        }
        assert!(small.covered.len() < 20, "{}", small.covered.len());
    }
}
