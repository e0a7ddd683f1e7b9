//! Textures as vectors of the memory image: what the library's `std.texture.*` functions read.
//!
//! | record | vectors | content |
//! |---|---|---|
//! | descriptor | 3 + levels | `width, height, channels, kind` · `s periodic, t periodic` (1 or 0), `number of the last level` (an integer), 0 · the levels, finest first, the last one twice: `width, height, row length in vectors` (an integer), `address of texel (0, 0)` |
//! | level | (width + 2) × (height + 2) | a texel a vector: red, green, blue, alpha, linear and premultiplied, rows from the top, with a border of one texel all round that holds what the wrap mode shows there |
//!
//! Numbers are floats unless said otherwise. The border makes every wrap mode the same arithmetic: a lookup reads four texels, whatever the mode.

use super::pyramid::{Level, Pyramid};
use super::{Wrap, Wraps};

/// Vectors of a descriptor before its levels.
pub const LEVELS: u32 = 2;

/// What a descriptor describes, as its first vector says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Nothing: there is no such texture.
    Missing = 0,
    /// A picture, flat or of all directions by latitude and longitude.
    Picture = 1,
}

/// Vectors that a texture takes.
pub fn vectors(pyramid: &Pyramid) -> u64 {
    let level = |l: &Level| (u64::from(l.width) + 2) * (u64::from(l.height) + 2);
    u64::from(LEVELS) + pyramid.levels.len() as u64 + 1 + pyramid.levels.iter().map(level).sum::<u64>()
}

/// The descriptor of a texture that is not there: it has no channels, so that a lookup gives what fills those. It takes [`MISSING_VECTORS`] vectors.
pub fn missing(address: u32) -> [[u32; 4]; MISSING_VECTORS as usize] {
    let one = 1.0f32.to_bits();
    // The one texel is whatever lies there: nobody looks at its channels.
    let level = [one, one, 0, address + 2];
    [[one, one, 0, Kind::Missing as u32], [0; 4], level, level]
}

/// Vectors of the descriptor that [`missing`] makes.
pub const MISSING_VECTORS: u32 = 4;

/// Appends a texture to the image; gives the address of its descriptor.
pub fn append(image: &mut Vec<[u32; 4]>, pyramid: &Pyramid, wraps: Wraps) -> u32 {
    let descriptor = image.len() as u32;
    let float = |x: u32| (x as f32).to_bits();
    let finest = &pyramid.levels[0];
    let periodic = wraps.map(|w| float(u32::from(w == Wrap::Periodic)));
    image.push([float(finest.width), float(finest.height), float(pyramid.channels), float(Kind::Picture as u32)]);
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
    use crate::render::film::{Channels, Picture};

    /// Two texels, 1 and 2, in a row.
    fn two() -> Pyramid {
        let rgba = vec![[1.0; 4], [2.0; 4]];
        Pyramid::new(Picture { width: 2, height: 1, rgba, channels: Channels::Rgba })
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
