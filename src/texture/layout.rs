//! Textures as vectors of the memory image: what the library's `std.texture.*` functions read.
//!
//! | record | vectors | content |
//! |---|---|---|
//! | descriptor | 3 + levels | `width, height, channels, kind` · `s periodic, t periodic` (1 or 0), `number of the last level` (an integer), 0 · the levels, finest first, the last one twice: `width, height, row length in vectors` (an integer), `address of texel (0, 0)` |
//! | of a cube | 8 | `width, height` of the first face, `channels, kind` · `1 / tan(fov / 2)`, 0, 0, 0 · for each face `address of its descriptor, 0, 0, 0` |
//! | of depths | 16 | a descriptor of one level; then rows that, multiplied with a point of the world, give `s·w`, `t·w`, `w` and the depth; then the matrix from the world to the camera, and that to the image ([`DepthMap::to_ndc`]), as values of the language's type |
//! | of points | 6 + channels | those of a texture that is not there, for lookups of images · `points, vectors a point, largest radius`, where the first point is after the descriptor's beginning · `channels`, 0, 0, 0 · for each channel `identifier of its name, 0, 0, 0` |
//! | point | 2 + channels | position, axis along which the children lie on either side (0 to 2) · unit normal, radius · the channels: a number thrice or a triple, 0 |
//! | level | (width + 2) × (height + 2) | a texel a vector: red, green, blue, alpha, linear and premultiplied, rows from the top, with a border of one texel all round that holds what the wrap mode shows there |
//!
//! Numbers are floats unless said otherwise. The border makes every wrap mode the same arithmetic:
//! a lookup reads four texels, whatever the mode.

use super::depth::DepthMap;
use super::pyramid::{Level, Pyramid};
use super::{Wrap, Wraps};
use crate::pointcloud::{PointCloud, tree};
use glam::Vec3;
use shadewright_base::text::string_id::string_id;
use std::sync::Arc;

/// Vectors of a descriptor before its levels.
pub const LEVELS: u32 = 2;

/// Where the faces of a cube's descriptor begin.
pub const FACES: u32 = 2;

/// Where the rows of a depth map's descriptor begin.
pub const PROJECTION: u32 = LEVELS + 2;

/// Where the matrix to the camera begins in a depth map's descriptor.
pub const VIEWING: u32 = PROJECTION + 4;

/// Where the matrix to the image begins there.
pub const NDC: u32 = VIEWING + 4;

/// Vectors of a depth map's descriptor.
const DEPTH_DESCRIPTOR: u32 = NDC + 4;

/// Vectors of a point cloud's descriptor before its channels. Look-ups of images may read the first
/// ones.
const POINTS: u32 = MISSING_VECTORS + 2;

/// Depth beyond everything, which a depth map shows outside.
pub const FARTHEST: f32 = 1e30;

/// The kind of texture that a descriptor describes, as its first vector says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TextureKind {
    /// Nothing: there is no such texture.
    Missing = 0,
    /// An image, flat or of all directions by latitude and longitude.
    Image = 1,
    /// A cube environment map: six faces.
    Cube = 2,
    /// Depths.
    Depth = 3,
    /// A point cloud.
    Points = 4,
}

/// Vectors that a texture takes.
pub fn vectors(pyramid: &Pyramid) -> u64 {
    let level = |l: &Level| (u64::from(l.width) + 2) * (u64::from(l.height) + 2);
    u64::from(LEVELS) + pyramid.levels.len() as u64 + 1 + pyramid.levels.iter().map(level).sum::<u64>()
}

/// The descriptor of a texture that is not there: it has no channels, so that a lookup gives what
/// fills those. It takes [`MISSING_VECTORS`] vectors.
pub fn missing(address: u32) -> [[u32; 4]; MISSING_VECTORS as usize] {
    let one = 1.0f32.to_bits();
    // The one texel is whatever lies there: nobody looks at its channels.
    let level = [one, one, 0, address + 2];
    [[one, one, 0, TextureKind::Missing as u32], [0; 4], level, level]
}

/// Vectors of the descriptor that [`missing`] makes.
pub const MISSING_VECTORS: u32 = 4;

/// Vectors of a cube's descriptor, beside its images.
pub const CUBE_VECTORS: u64 = 8;

/// Vectors that a shadow map takes.
pub fn depth_vectors(map: &DepthMap) -> u64 {
    u64::from(DEPTH_DESCRIPTOR) + (u64::from(map.width) + 2) * (u64::from(map.height) + 2)
}

/// Appends six images of the directions +x, −x, +y, −y, +z, −z, which show `1 / zoom` to each side
/// at a distance of 1; gives the address of the descriptor.
pub fn append_cube(image: &mut Vec<[u32; 4]>, faces: &[Arc<Pyramid>], zoom: f32) -> u32 {
    let addresses: Vec<u32> = faces.iter().map(|face| append(image, face, [Wrap::Clamp; 2])).collect();
    let descriptor = image.len() as u32;
    let channels = faces.iter().map(|f| f.channels).min().unwrap_or(0);
    let first = &faces[0].levels[0];
    image.push(
        [first.width as f32, first.height as f32, channels as f32, TextureKind::Cube as u32 as f32].map(f32::to_bits),
    );
    image.push([zoom.to_bits(), 0, 0, 0]);
    image.extend(addresses.iter().map(|&address| [address, 0, 0, 0]));
    descriptor
}

/// Appends a shadow map with its projection rows; gives the address of the descriptor.
pub fn append_depths(image: &mut Vec<[u32; 4]>, map: &DepthMap) -> u32 {
    let descriptor = image.len() as u32;
    let (width, height) = (map.width, map.height);
    image.push([width as f32, height as f32, 1.0, TextureKind::Depth as u32 as f32].map(f32::to_bits));
    image.push([0; 4]);
    let row = width + 2;
    let texel = descriptor + DEPTH_DESCRIPTOR + row + 1;
    image.extend([[(width as f32).to_bits(), (height as f32).to_bits(), row, texel]; 2]);
    image.extend(map.rows().map(|row| row.map(f32::to_bits)));
    for matrix in [map.to_camera, map.to_ndc] {
        image.extend(matrix.to_cols_array_2d().map(|row| row.map(f32::to_bits)));
    }
    for y in -1..=i64::from(height) {
        image.extend((-1..=i64::from(width)).map(|x| {
            let inside = shown(x, width, Wrap::Black).zip(shown(y, height, Wrap::Black));
            let depth = inside.map_or(FARTHEST, |(x, y)| map.depths[y * width as usize + x]);
            [depth.to_bits(); 4]
        }));
    }
    descriptor
}

/// Vectors that a point cloud takes.
pub fn points_vectors(cloud: &PointCloud) -> u64 {
    let channels = cloud.channels.len() as u64;
    u64::from(POINTS) + channels + cloud.points.len() as u64 * (2 + channels)
}

/// Appends a point cloud, in the order of [`crate::pointcloud::tree`]; gives the address of the
/// descriptor.
pub fn append_points(image: &mut Vec<[u32; 4]>, cloud: &PointCloud) -> u32 {
    let descriptor = image.len() as u32;
    let channels = cloud.channels.len();
    let size = 2 + channels;
    let first = POINTS as usize + channels;
    image.extend(missing(descriptor));
    image[descriptor as usize][3] = (TextureKind::Points as u32 as f32).to_bits();
    let positions: Vec<[f32; 3]> = cloud.points.iter().map(|p| p.position).collect();
    let radii = radii(cloud, &positions);
    let largest = radii.iter().copied().fold(0.0, f32::max);
    let float = |x: usize| (x as f32).to_bits();
    image.push([float(positions.len()), float(size), largest.to_bits(), float(first)]);
    image.push([float(channels), 0, 0, 0]);
    image.extend(cloud.channels.iter().map(|channel| [string_id(&channel.name), 0, 0, 0]));
    for (number, axis) in tree::order(&positions) {
        let point = &cloud.points[number as usize];
        let [x, y, z] = point.position.map(f32::to_bits);
        image.push([x, y, z, f32::from(axis).to_bits()]);
        let [x, y, z] = Vec3::from(point.normal).normalize_or_zero().to_array().map(f32::to_bits);
        image.push([x, y, z, radii[number as usize].to_bits()]);
        let mut values = cloud.values_of(number as usize);
        for channel in &cloud.channels {
            let (own, rest) = values.split_at(channel.ty.floats());
            let [x, y, z] = if let [x, y, z] = *own { [x, y, z] } else { [own[0]; 3] }.map(f32::to_bits);
            image.push([x, y, z, 0]);
            values = rest;
        }
    }
    descriptor
}

/// The radii of a cloud's points. Those that have none get that of a disk whose share of the box
/// around the cloud is one point's.
fn radii(cloud: &PointCloud, positions: &[[f32; 3]]) -> Vec<f32> {
    let points = || positions.iter().map(|&p| Vec3::from(p));
    let low = points().fold(Vec3::INFINITY, Vec3::min);
    let high = points().fold(Vec3::NEG_INFINITY, Vec3::max);
    let [a, b, c] = (high - low).max(Vec3::ZERO).to_array();
    let area = 2.0 * (a * b + b * c + c * a) / positions.len().max(1) as f32;
    let usual = (area / std::f32::consts::PI).sqrt();
    cloud.points.iter().map(|p| if p.radius > 0.0 { p.radius } else { usual }).collect()
}

/// Appends a texture to the image; gives the address of its descriptor.
pub fn append(image: &mut Vec<[u32; 4]>, pyramid: &Pyramid, wraps: Wraps) -> u32 {
    let descriptor = image.len() as u32;
    let float = |x: u32| (x as f32).to_bits();
    let finest = &pyramid.levels[0];
    let periodic = wraps.map(|w| float(u32::from(w == Wrap::Periodic)));
    image.push([float(finest.width), float(finest.height), float(pyramid.channels), float(TextureKind::Image as u32)]);
    image.push([periodic[0], periodic[1], pyramid.levels.len() as u32 - 1, 0]);
    let count = pyramid.levels.len() as u32;
    let mut next = descriptor + LEVELS + count + 1;
    for i in 0..=pyramid.levels.len() {
        let level = &pyramid.levels[i.min(pyramid.levels.len() - 1)];
        let row = level.width + 2;
        if i == pyramid.levels.len() {
            let last = image[image.len() - 1];
            image.push(last);
            break;
        }
        image.push([float(level.width), float(level.height), row, next + row + 1]);
        next += row * (level.height + 2);
    }
    pyramid.levels.iter().for_each(|level| push_level(image, level, wraps));
    descriptor
}

/// Vectors of the descriptor at an address, whatever it describes; the faces of a cube have
/// descriptors of their own.
pub fn descriptor_vectors(image: &[[u32; 4]], address: u32) -> u32 {
    let [head, second] = [0, 1].map(|k| image.get((address + k) as usize).copied().unwrap_or_default());
    let is = |kind: TextureKind| f32::from_bits(head[3]) == kind as u32 as f32;
    if is(TextureKind::Image) {
        LEVELS + second[2] + 2
    } else if is(TextureKind::Cube) {
        CUBE_VECTORS as u32
    } else if is(TextureKind::Depth) {
        DEPTH_DESCRIPTOR
    } else {
        MISSING_VECTORS
    }
}

/// The addresses of a texture's descriptors: its own, then those of a cube's faces.
pub fn descriptors(image: &[[u32; 4]], address: u32) -> Vec<u32> {
    let is_cube = |head: &[u32; 4]| f32::from_bits(head[3]) == TextureKind::Cube as u32 as f32;
    let faces = if image.get(address as usize).is_some_and(is_cube) { FACES..FACES + 6 } else { 0..0 };
    let face = |k: u32| image.get((address + k) as usize).map(|entry| entry[0]);
    std::iter::once(address).chain(faces.filter_map(face)).collect()
}

/// Pushes the texels of a level with their border.
fn push_level(image: &mut Vec<[u32; 4]>, level: &Level, wraps: Wraps) {
    let columns: Vec<Option<usize>> = (-1..=i64::from(level.width)).map(|x| shown(x, level.width, wraps[0])).collect();
    for y in -1..=i64::from(level.height) {
        let row = shown(y, level.height, wraps[1]);
        image.extend(columns.iter().map(|&x| {
            let texel = row.zip(x).map(|(y, x)| level.texels[y * level.width as usize + x]);
            texel.unwrap_or_default().map(f32::to_bits)
        }));
    }
}

/// The texel that stands at place `i` of an axis with `n` texels; `None` for black.
fn shown(i: i64, n: u32, wrap: Wrap) -> Option<usize> {
    let n = i64::from(n);
    let inside = match wrap {
        Wrap::Periodic => i.rem_euclid(n),
        Wrap::Clamp => i.clamp(0, n - 1),
        Wrap::Black if (0..n).contains(&i) => i,
        Wrap::Black => return None,
    };
    Some(inside as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_image::{Channels, Image};

    /// Two texels, 1 and 2, in a row.
    fn two() -> Pyramid {
        let rgba = vec![[1.0; 4], [2.0; 4]];
        Pyramid::new(Image { width: 2, height: 1, rgba, channels: Channels::Rgba })
    }

    fn finest(wraps: Wraps) -> Vec<f32> {
        let mut image = vec![[0; 4]; 7];
        let descriptor = append(&mut image, &two(), wraps) as usize;
        assert_eq!(image.len() as u64, 7 + vectors(&two()));
        let [.., row, texel] = image[descriptor + LEVELS as usize];
        assert_eq!(row, 4);
        let start = (texel - row - 1) as usize;
        image[start..start + 12].iter().map(|t| f32::from_bits(t[0])).collect()
    }

    #[test]
    fn the_border_holds_what_the_wrap_mode_shows() {
        let periodic = [2.0, 1.0, 2.0, 1.0];
        assert_eq!(finest([Wrap::Periodic; 2]), [periodic; 3].concat());
        let clamped = [1.0, 1.0, 2.0, 2.0];
        assert_eq!(finest([Wrap::Clamp; 2]), [clamped; 3].concat());
        let (black, middle) = ([0.0; 4], [0.0, 1.0, 2.0, 0.0]);
        assert_eq!(finest([Wrap::Black; 2]), [black, middle, black].concat());
        assert_eq!(finest([Wrap::Periodic, Wrap::Black]), [black, periodic, black].concat());
    }

    #[test]
    fn the_last_level_is_listed_twice() {
        let mut image = Vec::new();
        append(&mut image, &two(), [Wrap::Clamp; 2]);
        assert_eq!(image[1][2], 1, "the number of the last level");
        assert_eq!(image[3], image[4]);
        let texel = image[image[3][3] as usize].map(f32::from_bits);
        assert_eq!(texel, [1.5; 4]);
    }
}
