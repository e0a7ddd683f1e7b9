//! Tiles of the screen with the polygons that hide something in each: what a line passes near.
//!
//! The pipeline compares each line with each plane. A program that evaluates what the pipeline does
//! leaves out the polygons whose bounds a line does not meet, which cannot hide a part of it.

use super::planes::{Occluder, Planes, Segment};
use glam::{DVec2, Vec3Swizzles};

/// The most entries of all tiles together: large polygons make the tiles larger.
const MOST_ENTRIES: u64 = 1 << 25;

/// The most tiles on a side.
const MOST_TILES: u32 = 1024;

/// The tiles of a screen.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// Tiles on a side.
    side: u32,
    /// The coordinate at the screen's right and upper side.
    reach: f64,
    /// Where each tile's entries begin, and the end of the last.
    starts: Vec<u32>,
    /// Indices of polygons, tile by tile.
    entries: Vec<u32>,
}

/// The memory of a search for polygons, so that it finds each of them once.
#[derive(Clone, Debug)]
pub struct Search {
    seen: Vec<u32>,
    round: u32,
}

impl Search {
    /// A search among so many polygons.
    pub fn new(polygons: usize) -> Self {
        Self { seen: vec![0; polygons], round: 0 }
    }

    /// Forgets what was found.
    fn restart(&mut self) {
        if self.round == u32::MAX {
            self.seen.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    /// True if a polygon is found for the first time.
    fn is_new(&mut self, polygon: u32) -> bool {
        let seen = self.seen.get_mut(polygon as usize);
        seen.is_some_and(|seen| std::mem::replace(seen, self.round) != self.round)
    }
}

impl Tiles {
    /// The tiles of these polygons, whose coordinates go up to `reach`.
    pub fn new(planes: &Planes, reach: f64) -> Self {
        let polygons = planes.occluders.len();
        // About two polygons a tile, were they evenly spread.
        let mut side = ((polygons as f64 / 2.0).sqrt() as u32).clamp(1, MOST_TILES);
        let mut tiles = Self { side, reach, starts: Vec::new(), entries: Vec::new() };
        while side > 1 && tiles.count(planes) > MOST_ENTRIES {
            side /= 2;
            tiles.side = side;
        }
        let mut counts = vec![0u32; (side * side) as usize + 1];
        for occluder in &planes.occluders {
            tiles.each(occluder, |tile| counts[tile + 1] += 1);
        }
        for tile in 1..counts.len() {
            counts[tile] += counts[tile - 1];
        }
        let mut entries = vec![0; counts.last().map_or(0, |&n| n as usize)];
        let mut ends = counts.clone();
        for (number, occluder) in (0..).zip(&planes.occluders) {
            tiles.each(occluder, |tile| {
                entries[ends[tile] as usize] = number;
                ends[tile] += 1;
            });
        }
        Self { starts: counts, entries, ..tiles }
    }

    /// The column or row of a coordinate.
    fn tile(&self, coordinate: f64) -> u32 {
        let place = (coordinate / self.reach + 1.0) * 0.5 * f64::from(self.side);
        // The cast makes 0 of what is before the first.
        (place as u32).min(self.side - 1)
    }

    /// The columns and rows of a box.
    fn range(&self, low: DVec2, high: DVec2) -> [std::ops::RangeInclusive<u32>; 2] {
        [self.tile(low.x)..=self.tile(high.x), self.tile(low.y)..=self.tile(high.y)]
    }

    /// How many entries the polygons make.
    fn count(&self, planes: &Planes) -> u64 {
        let of = |occluder: &Occluder| {
            let [columns, rows] = self.range(occluder.low, occluder.high);
            u64::from(columns.end() - columns.start() + 1) * u64::from(rows.end() - rows.start() + 1)
        };
        planes.occluders.iter().map(of).sum()
    }

    /// The tiles of a polygon's bounds.
    fn each(&self, occluder: &Occluder, mut visit: impl FnMut(usize)) {
        let [columns, rows] = self.range(occluder.low, occluder.high);
        for row in rows {
            for column in columns.clone() {
                visit((row * self.side + column) as usize);
            }
        }
    }

    /// Visits the polygons whose bounds a segment may meet, in no order, until `visit` returns false.
    pub fn near(&self, segment: &Segment, planes: &Planes, search: &mut Search, mut visit: impl FnMut(u32) -> bool) {
        search.restart();
        let (from, to) = (segment.from.xy(), segment.to.xy());
        let (low, high, deepest) = (from.min(to), from.max(to), segment.from.z.max(segment.to.z));
        let [_, rows] = self.range(low, high);
        for row in rows {
            let [left, right] = self.within_row(from, to, row);
            for column in self.tile(left)..=self.tile(right) {
                let tile = (row * self.side + column) as usize;
                let ends = [tile, tile + 1].map(|k| self.starts.get(k).map_or(0, |&n| n as usize));
                for &number in self.entries.get(ends[0]..ends[1]).unwrap_or(&[]) {
                    let Some(occluder) = planes.occluders.get(number as usize) else { continue };
                    let apart = occluder.low.cmpgt(high).any() || occluder.high.cmplt(low).any();
                    if apart || occluder.nearest > deepest || !search.is_new(number) {
                        continue;
                    }
                    if !visit(number) {
                        return;
                    }
                }
            }
        }
    }

    /// The least and the greatest x of a segment in a row, and a little more.
    fn within_row(&self, from: DVec2, to: DVec2, row: u32) -> [f64; 2] {
        let height = 2.0 * self.reach / f64::from(self.side);
        let margin = 1e-3 * height;
        let bottom = f64::from(row) * height - self.reach;
        let rise = to.y - from.y;
        let both = [from.x.min(to.x), from.x.max(to.x)];
        if rise.abs() < margin {
            return both;
        }
        let at = |y: f64| from.x + (to.x - from.x) * ((y - from.y) / rise);
        let ends = [at(bottom - margin), at(bottom + height + margin)];
        [ends[0].min(ends[1]).max(both[0]), ends[0].max(ends[1]).min(both[1])]
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::host::Host;
    use super::super::scenes::{Random, cubes, loose, model};
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_segment_finds_each_polygon_whose_bounds_it_meets_once() {
        let mut quads = cubes(40, 1.0, 3);
        quads.extend(loose(40, 6.0, 4));
        let host = Host::new(&model(&quads), &Config::default()).expect("a small scene");
        let tiles = Tiles::new(&host.planes, 1.0);
        assert!(tiles.side > 4);
        let mut search = Search::new(host.planes.occluders.len());
        let mut random = Random(9);
        for _ in 0..200 {
            let mut place = || DVec3::new(0.0, 0.0, 1.0).map(|z| f64::from(random.within(-1.0, 1.0)).max(z));
            let segment = Segment { from: place(), to: place() };
            let mut found = Vec::new();
            tiles.near(&segment, &host.planes, &mut search, |number| {
                found.push(number);
                true
            });
            found.sort_unstable();
            let met = |occluder: &Occluder| {
                (0..=1000).any(|k| {
                    let p = segment.from.lerp(segment.to, f64::from(k) / 1000.0).xy();
                    p.cmpge(occluder.low).all() && p.cmple(occluder.high).all()
                })
            };
            let expected = (0u32..).zip(&host.planes.occluders).filter(|(_, occluder)| met(occluder));
            for (number, _) in expected {
                assert!(found.contains(&number), "{segment:?} {number}");
            }
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
        }
    }
}
