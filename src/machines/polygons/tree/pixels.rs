//! Pixel conversion processors (§3.3.4): from the segments of a root to samples.
//!
//! A table has the reciprocals of segments' lengths, three multipliers the increments per step, and
//! adders the colors. As printed, the loop adds an increment before it shows the first pixel; here
//! it shows first.

use super::segment::{FIELDS, Segment};

/// Fraction bits of the adders.
const FRACTION: u32 = 12;

/// The table of reciprocals. An entry is a mantissa of 12 bits and an exponent: a fraction of 12 bits
/// has one or two significant bits for lengths of half a screen.
#[derive(Clone, Debug)]
pub struct Reciprocals {
    /// `1/d` is `mantissa · 2^−(11 + exponent)`.
    entries: Vec<(u16, u8)>,
}

impl Default for Reciprocals {
    fn default() -> Self {
        let entry = |d: u32| {
            let exponent = d.next_power_of_two().trailing_zeros();
            let scaled = 1u64 << (11 + exponent);
            (((scaled + u64::from(d) / 2) / u64::from(d)) as u16, exponent as u8)
        };
        Self { entries: (0..4096).map(|d: u32| if d == 0 { (0, 0) } else { entry(d) }).collect() }
    }
}

impl Reciprocals {
    /// A difference divided by a length, with [`FRACTION`] bits.
    fn increment(&self, difference: i32, length: i32) -> i64 {
        let (mantissa, exponent) = self.entries.get(length.max(0) as usize).copied().unwrap_or_default();
        let product = (i64::from(difference) * i64::from(mantissa)) << FRACTION;
        (product + (1 << (10 + exponent))) >> (11 + exponent)
    }
}

/// The fields and the polygon that a sample shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The fields there.
    pub fields: [u16; FIELDS],
    /// The polygon.
    pub source: u32,
}

/// Samples of a line: those of a strip, at these steps in order. `show` gets the number of a sample
/// and what it shows; samples that no segment covers show the background.
pub fn convert(
    segments: &[Segment],
    steps: impl Iterator<Item = (usize, i32)>,
    table: &Reciprocals,
    mut show: impl FnMut(usize, Sample),
) {
    let mut rest = segments.iter().peekable();
    // The colors of the current segment at a step, and their increments.
    let mut current: Option<(&Segment, i32, [i64; FIELDS], [i64; FIELDS])> = None;
    for (number, step) in steps {
        while rest.next_if(|s| i32::from(s.right.x) < step).is_some() {}
        let Some(&segment) = rest.peek().filter(|s| i32::from(s.left.x) <= step) else { continue };
        let (_, at, values, increments) = match &mut current {
            Some(current) if std::ptr::eq(current.0, segment) => current,
            _ => current.insert(begin(segment, table)),
        };
        let ahead = i64::from(step - *at);
        values.iter_mut().zip(&*increments).for_each(|(value, increment)| *value += ahead * increment);
        *at = step;
        let half = 1 << (FRACTION - 1);
        let fields = values.map(|value| ((value + half) >> FRACTION).clamp(0, 4095) as u16);
        show(number, Sample { fields, source: segment.source });
    }
}

/// The colors at the left end, and their increments per step.
fn begin<'a>(segment: &'a Segment, table: &Reciprocals) -> (&'a Segment, i32, [i64; FIELDS], [i64; FIELDS]) {
    let (left, right) = (&segment.left, &segment.right);
    let length = i32::from(right.x) - i32::from(left.x);
    let values = left.fields.map(|value| i64::from(value) << FRACTION);
    let difference = |k: usize| i32::from(right.fields[k]) - i32::from(left.fields[k]);
    let increments = std::array::from_fn(|k| table.increment(difference(k), length));
    (segment, i32::from(left.x), values, increments)
}

#[cfg(test)]
mod tests {
    use super::super::segment::End;
    use super::*;

    fn ramp(x: [u16; 2], values: [u16; 2]) -> Segment {
        let end = |k: usize| End { x: x[k], z: 0, fields: [values[k]; FIELDS] };
        Segment { y: 0, left: end(0), right: end(1), source: 1 }
    }

    fn reds(segments: &[Segment], steps: &[i32]) -> Vec<Option<u16>> {
        let mut found = vec![None; steps.len()];
        let table = Reciprocals::default();
        convert(segments, steps.iter().copied().enumerate(), &table, |k, sample| found[k] = Some(sample.fields[0]));
        found
    }

    #[test]
    fn colors_are_interpolated_within_a_unit_and_holes_show_nothing() {
        let segments = [ramp([10, 1000], [0, 4095]), ramp([2000, 4095], [4095, 7])];
        let steps: Vec<i32> = (0..4096).collect();
        for (x, red) in reds(&segments, &steps).into_iter().enumerate() {
            let exact = match x {
                10..=1000 => Some((x - 10) as f64 / 990.0 * 4095.0),
                2000..=4095 => Some(4095.0 - (x - 2000) as f64 / 2095.0 * 4088.0),
                _ => None,
            };
            assert_eq!(red.is_some(), exact.is_some(), "{x}");
            let error = red.zip(exact).map_or(0.0, |(red, exact)| (f64::from(red) - exact).abs());
            assert!(error <= 2.0, "{x}: {error}");
        }
        assert_eq!(reds(&[ramp([5, 5], [9, 77])], &[4, 5, 6]), [None, Some(9), None]);
    }

    #[test]
    fn the_printed_loop_is_off_by_one() {
        // It adds before it shows: the left end is never shown, and the right end is overshot.
        let (left, right) = (100, 140);
        let increment = (right - left) / 4;
        let printed: Vec<i32> = (1..=5).map(|k| left + k * increment).collect();
        assert_eq!(printed, [110, 120, 130, 140, 150]);
        let here = reds(&[ramp([0, 4], [100, 140])], &[0, 1, 2, 3, 4]);
        assert_eq!(here, [Some(100), Some(110), Some(120), Some(130), Some(140)]);
    }

    #[test]
    fn a_fraction_of_twelve_bits_is_no_reciprocal_of_a_long_segment() {
        let length = 3000.0;
        let fraction = (4096.0_f64 / length).round() / 4096.0;
        assert!((fraction * length - 1.0).abs() > 0.25);
        let table = Reciprocals::default();
        let worst = (1..4096).map(|d| {
            let (mantissa, exponent) = table.entries[d];
            (f64::from(mantissa) / f64::from(1u32 << (11 + exponent)) * d as f64 - 1.0).abs()
        });
        assert!(worst.fold(0.0, f64::max) < 1.0 / 4096.0);
    }
}
