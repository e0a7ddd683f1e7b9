//! Segments: the parts of polygons on one scan line (§3.3.2).
//!
//! A segment covers the steps from its left to its right end, both included. A step is the 4096th
//! part of the screen's width, or of a strip's where the root is split.

/// Steps across the screen, or a strip.
pub const STEPS: i32 = 4096;
/// Fields of an end beside x and z.
pub const FIELDS: usize = 5;

/// An end of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The step: 0 to 4095.
    pub x: u16,
    /// The depth; smaller is nearer.
    pub z: u16,
    /// Red, green and blue, or a normal; then texture coordinates: 0 to 4095 each.
    pub fields: [u16; FIELDS],
}

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The scan line, from the top.
    pub y: u16,
    /// The left end.
    pub left: End,
    /// The right end, not left of the left one.
    pub right: End,
    /// The polygon that it is part of: no hardware sends it, but for normals in the stream, whose
    /// pixel converters look up a reflectance.
    pub source: u32,
}

/// The size of a segment's transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Numbers: y, and those of both ends.
    pub count: u32,
    /// Bits of a number.
    pub bits: u32,
}

impl Words {
    /// The words of segments whose ends have so many fields, and perhaps a material number.
    pub fn new(fields: u32, material: bool) -> Self {
        Self { count: 1 + 2 * (2 + fields) + u32::from(material), bits: 12 }
    }

    /// All bits; each number has a wire of its own, so a transfer takes the time of one.
    pub fn total(self) -> u32 {
        self.count * self.bits
    }
}

impl Segment {
    /// The end that breaking it at a step gives, as the hardware computes it: the parameter is a
    /// quotient with `bits` fraction bits, and each product is rounded.
    pub fn end_at(&self, x: i32, bits: u32) -> End {
        let [left, right] = [i32::from(self.left.x), i32::from(self.right.x)];
        if x <= left {
            return End { x: clamped(x), ..self.left };
        }
        if x >= right {
            return End { x: clamped(x), ..self.right };
        }
        let span = i64::from(right - left);
        let t = ((i64::from(x - left) << bits) + span / 2) / span;
        let half = 1i64 << bits >> 1;
        let between = |from: u16, to: u16| {
            let product = (i64::from(to) - i64::from(from)) * t;
            (i64::from(from) + ((product + half) >> bits)) as u16
        };
        let fields = std::array::from_fn(|k| between(self.left.fields[k], self.right.fields[k]));
        End { x: clamped(x), z: between(self.left.z, self.right.z), fields }
    }

    /// The part up to a step.
    pub fn up_to(&self, x: i32, bits: u32) -> Self {
        Self { right: self.end_at(x, bits), ..*self }
    }

    /// The part from a step.
    pub fn from(&self, x: i32, bits: u32) -> Self {
        Self { left: self.end_at(x, bits), ..*self }
    }
}

fn clamped(x: i32) -> u16 {
    x.clamp(0, STEPS - 1) as u16
}

#[cfg(test)]
pub mod tests {
    //! A segment for tests of whoever takes segments.

    use super::*;

    /// A segment with depths at its ends and the same color everywhere.
    pub fn segment(y: u16, [x0, x1]: [u16; 2], [z0, z1]: [u16; 2], source: u32) -> Segment {
        let end = |x, z| End { x, z, fields: [(source % 4096) as u16; FIELDS] };
        Segment { y, left: end(x0, z0), right: end(x1, z1), source }
    }

    #[test]
    fn a_segment_has_132_bits() {
        assert_eq!(Words::new(3, false).total(), 132);
        assert_eq!(Words::new(5, false).count, 15);
    }

    #[test]
    fn a_break_interpolates_within_a_unit() {
        let whole = segment(0, [100, 1100], [0, 4000], 7);
        for x in [100, 101, 350, 600, 1099, 1100] {
            let z = i32::from(whole.end_at(x, 12).z);
            assert!((z - 4 * (x - 100)).abs() <= 1, "{x}: {z}");
        }
        assert_eq!(whole.up_to(1100, 12), whole);
        assert_eq!(whole.from(100, 12), whole);
    }
}
