//! Which share of an image a part is: a tile, and some of the batches of its samples.

use super::super::Window;
use super::super::batches::{Batches, MAX_BATCHES};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// Most tiles across, and down.
const MAX_TILES: u32 = 4096;

/// The division of an image into tiles of equal size, or differing by a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// Tiles across.
    pub columns: u32,
    /// Tiles down.
    pub rows: u32,
}

impl Grid {
    /// One tile.
    pub const WHOLE: Grid = Grid { columns: 1, rows: 1 };

    /// The number of tiles.
    #[must_use]
    pub fn count(self) -> u32 {
        self.columns * self.rows
    }

    /// Tile `number` of a window, counted from 0 row by row from the upper left.
    #[must_use]
    pub fn window(self, number: u32, whole: Window) -> Window {
        let side = |of: u32, place: u32, count: u32| {
            let edge = |place: u32| (u64::from(place) * u64::from(of) / u64::from(count)) as u32;
            (edge(place), edge(place + 1) - edge(place))
        };
        let (x, width) = side(whole.width, number % self.columns, self.columns);
        let (y, height) = side(whole.height, number / self.columns, self.rows);
        Window { x: whole.x + x, y: whole.y + y, width, height }
    }
}

impl FromStr for Grid {
    type Err = String;

    /// `4x4`, or a number of tiles, which are arranged as square as its factors allow.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no number of tiles: write columns and rows as in 4x4, or their number");
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| (1..=MAX_TILES).contains(n));
        let grid = match text.split_once(['x', 'X']) {
            Some((columns, rows)) => number(columns).zip(number(rows)).map(|(columns, rows)| Grid { columns, rows }),
            None => number(text).map(|count| {
                let [columns, rows] = super::super::sampling::Sampling::strata_of(count);
                Grid { columns, rows }
            }),
        };
        grid.ok_or_else(wrong)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

/// A share of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The tile, counted from 1.
    pub tile: u32,
    /// How the image is divided.
    pub tiles: Grid,
    /// The share of the samples, counted from 1.
    pub samples: u32,
    /// The number of shares of the samples.
    pub of_samples: u32,
}

/// A share that an image does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShareError {
    /// There are fewer pixels than tiles.
    #[error("the image of {width}x{height} pixels cannot be divided into {tiles} tiles")]
    Tiles {
        /// Columns of the image.
        width: u32,
        /// Rows of the image.
        height: u32,
        /// The tiles.
        tiles: Grid,
    },
    /// There are fewer batches than shares.
    #[error(
        "{samples} samples per pixel cannot be divided into {shares} shares: {most} at most; divide the image into more tiles instead"
    )]
    Samples {
        /// Samples for each pixel.
        samples: u32,
        /// Shares.
        shares: u32,
        /// Most shares.
        most: u32,
    },
}

impl Share {
    /// The whole image.
    pub const WHOLE: Share = Share { tile: 1, tiles: Grid::WHOLE, samples: 1, of_samples: 1 };

    /// True if it has all samples of its pixels.
    #[must_use]
    pub fn has_all_samples(self) -> bool {
        self.of_samples == 1
    }

    /// True if it has the first samples of its pixels.
    #[must_use]
    pub fn has_first_samples(self) -> bool {
        self.samples == 1
    }

    /// The place among the shares of the image, from 0: those of one tile follow each other.
    #[must_use]
    pub fn place(self) -> usize {
        (self.tile as usize - 1) * self.of_samples as usize + self.samples as usize - 1
    }

    /// The share at a place of the same image.
    #[must_use]
    pub fn at_place(self, place: usize) -> Self {
        let of_samples = self.of_samples as usize;
        Self { tile: (place / of_samples) as u32 + 1, samples: (place % of_samples) as u32 + 1, ..self }
    }

    /// The number of shares of the image.
    #[must_use]
    pub fn count(self) -> usize {
        self.tiles.count() as usize * self.of_samples as usize
    }

    /// The share's pixels of a window, and its batches.
    ///
    /// # Errors
    /// When the image has fewer pixels than tiles, or fewer batches of samples than shares.
    pub fn split(self, whole: Window, batches: Batches) -> Result<(Window, Range<u32>), ShareError> {
        let Window { width, height, .. } = whole;
        if self.tiles.columns > width || self.tiles.rows > height {
            return Err(ShareError::Tiles { width, height, tiles: self.tiles });
        }
        if self.of_samples > batches.count() {
            let (samples, most) = (batches.samples(), batches.count());
            return Err(ShareError::Samples { samples, shares: self.of_samples, most });
        }
        let window = self.tiles.window(self.tile - 1, whole);
        Ok((window, batches.share(self.samples - 1, self.of_samples)))
    }

    /// True if its numbers are possible.
    #[must_use]
    pub fn is_valid(self) -> bool {
        let Grid { columns, rows } = self.tiles;
        let sides = 1..=MAX_TILES;
        sides.contains(&columns)
            && sides.contains(&rows)
            && (1..=MAX_BATCHES).contains(&self.of_samples)
            && (1..=self.tiles.count()).contains(&self.tile)
            && (1..=self.of_samples).contains(&self.samples)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile, tiles, samples, of_samples } = self;
        match (*tiles != Grid::WHOLE, *of_samples != 1) {
            (true, true) => write!(f, "tile {tile} of {tiles}, samples {samples} of {of_samples}"),
            (false, true) => write!(f, "samples {samples} of {of_samples}"),
            _ => write!(f, "tile {tile} of {tiles}"),
        }
    }
}

impl FromStr for Share {
    type Err = String;

    /// `K/N` or `tiles:K/N` is a tile, `samples:K/N` a share of the samples; both with a comma.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut share = Share::WHOLE;
        let (mut tiles, mut samples) = (false, false);
        for part in text.split(',') {
            let (of, numbers) = part.split_once(':').unwrap_or(("tiles", part));
            let (number, count) = numbers.split_once('/').ok_or("write it as K/N, for example 3/16 or samples:2/4")?;
            let number = |count: u32| {
                let n = number.trim().parse::<u32>().map_err(|_| format!("`{number}` is no number of a share"))?;
                let is_one = (1..=count).contains(&n);
                is_one.then_some(n).ok_or_else(|| format!("the shares are numbered from 1 to {count}: there is no {n}"))
            };
            match of.trim() {
                "tiles" if !std::mem::replace(&mut tiles, true) => {
                    share.tiles = count.parse()?;
                    share.tile = number(share.tiles.count())?;
                }
                "samples" if !std::mem::replace(&mut samples, true) => {
                    let shares = count.trim().parse().ok().filter(|n| (1..=MAX_BATCHES).contains(n));
                    let wrong = || format!("samples can be divided into 1 to {MAX_BATCHES} shares, not `{count}`");
                    share.of_samples = shares.ok_or_else(wrong)?;
                    share.samples = number(share.of_samples)?;
                }
                "tiles" | "samples" => return Err(format!("`{of}` is given twice")),
                other => return Err(format!("`{other}` is neither `tiles` nor `samples`")),
            }
        }
        Ok(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_as_tiles_and_samples() {
        let share = |tile, columns, rows, samples, of_samples| {
            Ok(Share { tile, tiles: Grid { columns, rows }, samples, of_samples })
        };
        for (text, expected) in [
            ("3/16", share(3, 4, 4, 1, 1)),
            ("tiles:7/7", share(7, 7, 1, 1, 1)),
            ("tiles:5/3x2", share(5, 3, 2, 1, 1)),
            ("samples:2/4", share(1, 1, 1, 2, 4)),
            ("tiles:3/4x4,samples:16/16", share(3, 4, 4, 16, 16)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        for (text, reason) in [
            ("0/4", "the shares are numbered from 1 to 4: there is no 0"),
            ("5/4", "the shares are numbered from 1 to 4: there is no 5"),
            ("samples:1/17", "samples can be divided into 1 to 16 shares, not `17`"),
            ("3", "write it as K/N, for example 3/16 or samples:2/4"),
            ("rays:1/2", "`rays` is neither `tiles` nor `samples`"),
            ("1/2,3/4", "`tiles` is given twice"),
            ("1/0", "`0` is no number of tiles: write columns and rows as in 4x4, or their number"),
            ("x/4", "`x` is no number of a share"),
        ] {
            assert_eq!(text.parse::<Share>(), Err(reason.to_string()), "{text}");
        }
    }

    #[test]
    fn tiles_cover_every_pixel_once() {
        let whole = Window { x: 3, y: 5, width: 37, height: 11 };
        for tiles in ["1", "7", "4x3", "37x11"].map(|text| text.parse::<Grid>().unwrap()) {
            let mut seen = vec![0; 37 * 11];
            for number in 0..tiles.count() {
                let Window { x, y, width, height } = tiles.window(number, whole);
                assert!(width > 0 && height > 0);
                for (x, y) in (y..y + height).flat_map(|y| (x..x + width).map(move |x| (x, y))) {
                    seen[((y - 5) * 37 + x - 3) as usize] += 1;
                }
            }
            assert!(seen.iter().all(|&n| n == 1), "{tiles}");
        }
    }

    #[test]
    fn an_image_has_no_more_tiles_than_pixels_and_no_more_shares_than_samples() {
        let share = |text: &str| text.parse::<Share>().unwrap().split(Window::whole(3, 8), Batches::new(4));
        assert_eq!(share("2/3x2,samples:4/4"), Ok((Window { x: 1, y: 0, width: 1, height: 4 }, 3..4)));
        assert_eq!(share("1/4x1").unwrap_err().to_string(), "the image of 3x8 pixels cannot be divided into 4x1 tiles");
        assert_eq!(
            share("samples:1/5").unwrap_err().to_string(),
            "4 samples per pixel cannot be divided into 5 shares: 4 at most; divide the image into more tiles instead"
        );
    }

    #[test]
    fn shares_have_places_in_order() {
        let share: Share = "tiles:2/2x2,samples:3/4".parse().unwrap();
        assert_eq!((share.place(), share.count()), (6, 16));
        assert!((0..16).all(|place| share.at_place(place).place() == place && share.at_place(place).is_valid()));
        assert_eq!(share.to_string(), "tile 2 of 2x2, samples 3 of 4");
    }
}
