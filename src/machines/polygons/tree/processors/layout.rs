//! Where a processor's memory of 256 words holds what (§3.3.1).

use std::ops::Range;

/// Words of a processor's memory.
pub const WORDS: usize = 256;
/// Vertices: 4 before clipping, and two more for each of six planes.
pub const VERTICES: u8 = 16;
/// Vertices of a clipped polygon, at most.
pub const CLIPPED: u8 = 10;
/// Fields of a vertex beside its position: red, green and blue, and the texture coordinates.
pub const FIELDS: usize = 5;

/// The corners: x, y and z of each.
pub const CORNERS: u8 = 0;
/// The normals, or the colors that the host computed: three components for each corner.
pub const NORMALS: u8 = 12;
/// The reflectance.
pub const REFLECTANCE: u8 = 24;
/// The number of corners.
pub const COUNT: u8 = 27;
/// The number of the object.
pub const OBJECT: u8 = 28;
/// The words of a polygon, which is loaded when the scene changes.
pub const POLYGON: Range<usize> = 0..29;

/// Homogeneous coordinates of the vertices: an array for each of x, y, z and w.
pub const X: u8 = 29;
/// See [`X`].
pub const Y: u8 = X + VERTICES;
/// See [`X`].
pub const Z: u8 = Y + VERTICES;
/// See [`X`].
pub const W: u8 = Z + VERTICES;
/// The fields of the vertices: an array for each.
pub const FIELD: u8 = W + VERTICES;

/// The array of a field.
pub const fn field(number: usize) -> u8 {
    FIELD + VERTICES * number as u8
}

/// Two lists of vertices: clipping reads one and writes the other.
pub const LISTS: [u8; 2] = [field(FIELDS), field(FIELDS) + CLIPPED];
/// The edges that cross a plane: their ends, and the vertex where they do.
pub const CROSSING: [u8; 3] = [LISTS[1] + CLIPPED, LISTS[1] + CLIPPED + 2, LISTS[1] + CLIPPED + 4];

/// Twenty words for what comes and goes: a matrix and a vertex, a light, or counters.
pub const WORK: u8 = CROSSING[2] + 2;
/// The number one.
pub const ONE: u8 = WORK + 20;
/// Vertices in the input list of clipping, and afterwards those of the polygon.
pub const INPUTS: u8 = ONE + 1;
/// Vertices in the output list of clipping.
pub const OUTPUTS: u8 = INPUTS + 1;
/// Vertices that exist.
pub const MADE: u8 = OUTPUTS + 1;
/// Edges that cross the plane.
pub const CROSSINGS: u8 = MADE + 1;
/// The end of what is in use.
pub const END: u8 = CROSSINGS + 1;

/// Words that programs of so many fields use.
pub const fn words(fields: usize) -> usize {
    END as usize - VERTICES as usize * (FIELDS - fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_texture_use_as_many_words_as_the_thesis_estimates() {
        // 27 for the polygon, 112 for the vertices, and "perhaps a couple dozen" (§3.3.1).
        assert!((27 + 112 + 24..=WORDS).contains(&words(3)), "{}", words(3));
        assert!(words(5) <= WORDS);
    }
}
