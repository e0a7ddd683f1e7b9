//! The distribution by which the directions of an environment map are importance-sampled: a grid on
//! the octahedron (Engelhardt and Dachsbacher 2008, "Octahedron Environment Maps"), whose cells are
//! chosen in proportion to luminance.
//!
//! A unit direction maps to the point `d / (|x| + |y| + |z|)` of the octahedron, of which the lower
//! half is unfolded around the upper; seen from above it fills the square from −1 to 1. An area of
//! the square has the solid angle `dx dy / r³`, where `r` is the distance of the point from the
//! origin. The only transcendental function in that is a square root, so both back ends agree on
//! cells.

use crate::layout::alias_table::aliases;
use crate::records::textures::Texture;
use glam::{DVec2, DVec3, dvec3};
use rayon::prelude::*;
use shadewright_texture::pyramid::Level;
use std::f64::consts::{PI, TAU};

/// The fraction of directions that are sampled uniformly, so that no pdf is zero.
const UNIFORM_FRACTION: f64 = 0.01;

/// Most texels of the mip level that is read.
const MAX_TEXELS: u64 = 1 << 19;

/// The fewest and the most cells along a side.
const SIDES: [u32; 2] = [16, 512];

/// The cells of an environment map.
#[derive(Debug)]
pub struct SamplingGrid {
    /// Cells along a side: a power of two.
    pub side: u32,
    /// An alias table `(probability, alias, 0, 0)` of the rows, then one `(probability, alias, pdf,
    /// the alias's pdf)` of the cells of each row; pdfs are by area of the square.
    pub records: Vec<[u32; 4]>,
}

impl SamplingGrid {
    /// Of a texture; uniform where there is none.
    pub fn new(texture: Option<&Texture>) -> Self {
        let image = texture.and_then(Image::new);
        let texels = image.as_ref().map_or(0, Image::texels) as f64;
        let side = (texels.sqrt() as u32).clamp(SIDES[0], SIDES[1]).next_power_of_two().min(SIDES[1]);
        // Samples within a cell are at most half a texel apart.
        let within = ((2.1 * texels.sqrt()) / f64::from(side)).ceil().max(1.0) as u32;
        let row = |y: u32| (0..side).map(|x| cell(image.as_ref(), side, [x, y], within)).collect::<Vec<[f64; 2]>>();
        let cells: Vec<Vec<[f64; 2]>> = (0..side).into_par_iter().map(row).collect();
        let [light, angle] = [0, 1].map(|k| cells.iter().flatten().map(|c| c[k]).sum::<f64>());
        let probability = |&[own, solid]: &[f64; 2]| match light > 0.0 {
            true => (1.0 - UNIFORM_FRACTION) * own / light + UNIFORM_FRACTION * solid / angle,
            false => solid / angle,
        };
        let probabilities: Vec<Vec<f64>> = cells.iter().map(|row| row.iter().map(probability).collect()).collect();
        let by_row: Vec<f64> = probabilities.iter().map(|row| row.iter().sum()).collect();
        let rows = aliases(&by_row).into_iter().map(|(own, other)| [own.to_bits(), other, 0, 0]);
        let per_area = f64::from(side * side) / 4.0;
        let of_row = |row: &Vec<f64>| {
            let pdf = |cell: usize| ((row[cell] * per_area) as f32).to_bits();
            let list = aliases(row).into_iter().enumerate();
            list.map(|(i, (own, other))| [own.to_bits(), other, pdf(i), pdf(other as usize)]).collect::<Vec<_>>()
        };
        let records = rows.chain(probabilities.iter().flat_map(of_row)).collect();
        Self { side, records }
    }
}

/// The luminance of a cell times its solid angle, and the solid angle.
fn cell(image: Option<&Image<'_>>, side: u32, [x, y]: [u32; 2], within: u32) -> [f64; 2] {
    let mut sums = [0.0; 2];
    let at =
        |cell: u32, i: u32| (f64::from(cell) + (f64::from(i) + 0.5) / f64::from(within)) * 2.0 / f64::from(side) - 1.0;
    for (i, j) in (0..within).flat_map(|j| (0..within).map(move |i| (i, j))) {
        let p = unfolded(DVec2::new(at(x, i), at(y, j)));
        let solid = 4.0 / (f64::from(side * within).powi(2) * p.length().powi(3));
        sums[0] += image.map_or(0.0, |image| image.brightness(p.normalize())) * solid;
        sums[1] += solid;
    }
    sums
}

/// The point of the octahedron for one of the square.
fn unfolded(p: DVec2) -> DVec3 {
    let z = 1.0 - p.x.abs() - p.y.abs();
    match z < 0.0 {
        true => dvec3((1.0 - p.y.abs()).copysign(p.x), (1.0 - p.x.abs()).copysign(p.y), z),
        false => p.extend(z),
    }
}

/// A mip level of an environment map that is not too large.
enum Image<'a> {
    /// A latitude-longitude map.
    LatLong(&'a Level),
    /// The faces of a cube map, and 1 over the extent of each to either side at a distance of 1.
    Cube([&'a Level; 6], f64),
}

impl<'a> Image<'a> {
    fn new(texture: &'a Texture) -> Option<Self> {
        let pyramids = texture.pyramids();
        let count = pyramids.len() as u64;
        let level = |i: usize| {
            let fits = |l: &&Level| u64::from(l.width) * u64::from(l.height) * count <= MAX_TEXELS;
            pyramids.get(i)?.levels.iter().find(fits)
        };
        match texture {
            Texture::Image { .. } => level(0).map(Image::LatLong),
            Texture::Cube { zoom, .. } => {
                let faces: Option<Vec<&Level>> = (0..6).map(level).collect();
                Some(Image::Cube(faces?.try_into().ok()?, f64::from(*zoom)))
            }
            Texture::Depths(_) | Texture::Points(_) => None,
        }
    }

    /// How many texels it has.
    fn texels(&self) -> u64 {
        let levels = match self {
            Image::LatLong(level) => std::slice::from_ref(level),
            Image::Cube(levels, _) => levels,
        };
        levels.iter().map(|l| u64::from(l.width) * u64::from(l.height)).sum()
    }

    /// The luminance in a direction, with the texture coordinates of `lang/stdlib/texture.sl`.
    fn brightness(&self, d: DVec3) -> f64 {
        match self {
            Image::LatLong(level) => {
                bilinear(level, 0.5 + d.y.atan2(d.x) / TAU, d.z.clamp(-1.0, 1.0).acos() / PI, true)
            }
            Image::Cube(faces, zoom) => {
                let by_axis = d.abs();
                let axis = (1..3).fold(0, |most, axis| if by_axis[axis] > by_axis[most] { axis } else { most });
                let side = if d[axis] < 0.0 { -1.0 } else { 1.0 };
                let (right, down) = match axis {
                    0 => (-side * d.z, -d.y),
                    1 => (d.x, side * d.z),
                    _ => (side * d.x, -d.y),
                };
                let face = 2 * axis + usize::from(side < 0.0);
                let [s, t] = [right, down].map(|x| 0.5 + 0.5 * zoom * x / by_axis[axis]);
                bilinear(faces[face], s, t, false)
            }
        }
    }
}

/// The luminance of a level at a point, bilinearly interpolated.
fn bilinear(level: &Level, s: f64, t: f64, repeats: bool) -> f64 {
    let [x, y] = [(s, level.width), (t, level.height)].map(|(at, n)| at * f64::from(n) - 0.5);
    let texel = |i: i64, j: i64| {
        let (w, h) = (i64::from(level.width), i64::from(level.height));
        let i = if repeats { i.rem_euclid(w) } else { i.clamp(0, w - 1) };
        let [r, g, b, _] = level.texels[(j.clamp(0, h - 1) * w + i) as usize].map(|c| f64::from(c.max(0.0)));
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (i, j) = (x.floor() as i64, y.floor() as i64);
    let (u, v) = (x - x.floor(), y - y.floor());
    let [top, bottom] = [j, j + 1].map(|j| texel(i, j) * (1.0 - u) + texel(i + 1, j) * u);
    top * (1.0 - v) + bottom * v
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_image::{Channels, Image as Film};
    use shadewright_texture::{Pyramid, Wrap};

    /// A latitude-longitude map that is black except for one texel.
    fn sun(width: u32, height: u32, texel: usize) -> Texture {
        let mut rgba = vec![[0.0, 0.0, 0.0, 1.0]; (width * height) as usize];
        rgba[texel] = [1.0; 4];
        let film = Film { width, height, rgba, channels: Channels::Rgba };
        Texture::Image { pyramid: Pyramid::new(film).into(), wraps: [Wrap::Periodic; 2] }
    }

    /// The pdf of each cell by area of the square.
    fn pdfs(table: &SamplingGrid) -> Vec<f64> {
        let cells = &table.records[table.side as usize..];
        cells.iter().map(|record| f64::from(f32::from_bits(record[2]))).collect()
    }

    #[test]
    fn pdfs_integrate_to_one_and_are_nowhere_zero() {
        for texture in [None, Some(sun(64, 32, 300)), Some(sun(2048, 1024, 700_000))] {
            let table = SamplingGrid::new(texture.as_ref());
            let pdfs = pdfs(&table);
            let sum = pdfs.iter().sum::<f64>() * 4.0 / f64::from(table.side * table.side);
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
            assert!(pdfs.iter().all(|&p| p > 0.0));
        }
    }

    #[test]
    fn directions_are_sampled_where_the_light_is() {
        // Row 10 of 32 and column 12 of 64.
        let table = SamplingGrid::new(Some(&sun(64, 32, 10 * 64 + 12)));
        let (longitude, latitude) = ((12.5 / 64.0 - 0.5) * TAU, 10.5 / 32.0 * PI);
        let towards = dvec3(latitude.sin() * longitude.cos(), latitude.sin() * longitude.sin(), latitude.cos());
        let pdfs = pdfs(&table);
        let mut near = 0.0;
        for (i, pdf) in pdfs.iter().enumerate() {
            let at = |k: u32| (f64::from(k) + 0.5) * 2.0 / f64::from(table.side) - 1.0;
            let d = unfolded(DVec2::new(at(i as u32 % table.side), at(i as u32 / table.side))).normalize();
            // A texel and those beside it, between which the image falls to black.
            if d.dot(towards) > (2.0 * PI / 32.0).cos() {
                near += pdf * 4.0 / f64::from(table.side * table.side);
            }
        }
        assert!(near > 0.98, "{near}");
    }

    #[test]
    fn without_an_image_sampling_is_uniform() {
        let table = SamplingGrid::new(None);
        for (i, pdf) in pdfs(&table).iter().enumerate() {
            let at = |k: u32| (f64::from(k) + 0.5) * 2.0 / f64::from(table.side) - 1.0;
            let p = unfolded(DVec2::new(at(i as u32 % table.side), at(i as u32 / table.side)));
            let by_angle = pdf * p.length().powi(3);
            assert!((by_angle * 4.0 * PI - 1.0).abs() < 0.01, "{by_angle}");
        }
    }
}
