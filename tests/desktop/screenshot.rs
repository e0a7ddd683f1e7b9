//! Screenshots of a window, and questions about them.

use std::collections::BTreeSet;
use std::path::Path;

/// A part of a window, as shares of its width and height from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// The left and the right border, from 0 to 1.
    pub x: [f32; 2],
    /// The upper and the lower border, from 0 to 1.
    pub y: [f32; 2],
}

impl Region {
    /// All of it.
    pub const WHOLE: Region = Region { x: [0.0, 1.0], y: [0.0, 1.0] };
}

/// The pixels of a window at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screenshot {
    /// Pixels a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue, row by row from above.
    pub pixels: Vec<[u8; 3]>,
}

impl Screenshot {
    fn part(&self, region: Region) -> impl Iterator<Item = [u8; 3]> + '_ {
        let range = |[low, high]: [f32; 2], side: usize| {
            let at = |share: f32| ((share * side as f32).round() as usize).min(side);
            at(low)..at(high).max(at(low) + 1).min(side)
        };
        let (columns, rows) = (range(region.x, self.width), range(region.y, self.height));
        rows.flat_map(move |y| self.pixels[y * self.width..][columns.clone()].iter().copied())
    }

    /// The mean color of a part.
    pub fn mean(&self, region: Region) -> [f32; 3] {
        let (mut sum, mut count) = ([0.0_f64; 3], 0.0);
        for pixel in self.part(region) {
            sum.iter_mut().zip(pixel).for_each(|(sum, code)| *sum += f64::from(code));
            count += 1.0;
        }
        sum.map(|sum| (sum / f64::max(count, 1.0)) as f32)
    }

    /// True if a part has this color, as a whole and within a few codes.
    pub fn shows(&self, region: Region, color: [u8; 3]) -> bool {
        self.mean(region).into_iter().zip(color).all(|(is, wanted)| (is - f32::from(wanted)).abs() < 12.0)
    }

    /// The share of a part's pixels of which this is true.
    pub fn share(&self, region: Region, is_so: impl Fn([u8; 3]) -> bool) -> f32 {
        let (mut found, mut count) = (0_usize, 0_usize);
        for pixel in self.part(region) {
            found += usize::from(is_so(pixel));
            count += 1;
        }
        found as f32 / count.max(1) as f32
    }

    /// How many colors a part has.
    pub fn colors(&self, region: Region) -> usize {
        self.part(region).collect::<BTreeSet<_>>().len()
    }

    /// The share of a part's pixels that look different in another screenshot; all of them if the
    /// window had another size.
    pub fn changed(&self, other: &Screenshot, region: Region) -> f32 {
        if (self.width, self.height) != (other.width, other.height) {
            return 1.0;
        }
        let (mut changed, mut count) = (0_usize, 0_usize);
        for (is, was) in self.part(region).zip(other.part(region)) {
            changed += usize::from(is.into_iter().zip(was).any(|(a, b)| a.abs_diff(b) > 24));
            count += 1;
        }
        changed as f32 / count.max(1) as f32
    }

    /// Writes a PNG file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, file: &Path) {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).expect("a folder for screenshots");
        }
        let bytes = self.pixels.concat();
        image::save_buffer(file, &bytes, self.width as u32, self.height as u32, image::ColorType::Rgb8)
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
}
