//! Depth buffers that share the pixels out: Fuchs's design, Parke's and the hybrid of both (Ullner
//! 1983, §3.2).
//!
//! A tree of splitters of some levels leads polygons to blocks of the image; the processors of a
//! block share its pixels out in a pattern and all take each of its polygons. Fuchs's design is the
//! one with no level, and Parke's the one with a processor to a block. A part of a polygon keeps the
//! edges of the whole, so that cutting moves none of them.

use super::super::raster::RasterPolygon;
use super::config::{Config, Pattern, Processor};
use glam::{DVec2, Vec3};
use rayon::prelude::*;
use shadewright_image::{Image, SizeError};
use std::ops::Range;

/// The share of a pixel by which a block is larger for the splitters: vertices are rounded to 1/256.
const MARGIN: f64 = 1.0 / 64.0;

/// A design: how its processors are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// Levels of the tree: there are 2 to the power of this blocks.
    pub levels: u32,
    /// Processors of a block, a power of two.
    pub processors: u32,
    /// How they share its pixels out.
    pub pattern: Pattern,
}

/// The work of the processors, and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Until the last processor is done, in microseconds.
    pub time: f64,
    /// The sum of the times in which processors work, in microseconds.
    pub busy: f64,
    /// The most of a processor.
    pub busiest: f64,
    /// The sum of the times in which splitters work, in microseconds.
    pub splitting: f64,
    /// The most of a splitter.
    pub busiest_splitter: f64,
    /// The most polygons that wait before a splitter or a block.
    pub queue: usize,
    /// Polygons, or parts of them, that blocks took.
    pub parts: u64,
    /// Pixels within polygons.
    pub pixels: u64,
    /// Pixels among them where the polygon is visible so far.
    pub shaded: u64,
    /// Bytes over buses, to splitters and blocks.
    pub bytes: u64,
}

/// A rectangle of pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    columns: Range<u32>,
    rows: Range<u32>,
}

impl Block {
    /// Cut in two: columns at even levels, rows at odd ones.
    fn halves(&self, level: u32) -> [Self; 2] {
        let cut = |range: &Range<u32>| {
            let middle = range.start + (range.end - range.start) / 2;
            [range.start..middle, middle..range.end]
        };
        match level % 2 {
            0 => cut(&self.columns).map(|columns| Self { columns, rows: self.rows.clone() }),
            _ => cut(&self.rows).map(|rows| Self { columns: self.columns.clone(), rows }),
        }
    }

    /// The part of a polygon, as vertices, that lies in it.
    fn part(&self, vertices: &[DVec2]) -> Vec<DVec2> {
        let [left, right] = [self.columns.start, self.columns.end].map(f64::from);
        let [top, bottom] = [self.rows.start, self.rows.end].map(f64::from);
        let sides: [(DVec2, f64); 4] = [
            (DVec2::X, MARGIN - left),
            (DVec2::NEG_X, MARGIN + right),
            (DVec2::Y, MARGIN - top),
            (DVec2::NEG_Y, MARGIN + bottom),
        ];
        sides.iter().fold(vertices.to_vec(), |vertices, &(normal, offset)| {
            let mut kept = Vec::with_capacity(vertices.len() + 1);
            for (&from, &to) in vertices.iter().zip(vertices.iter().cycle().skip(1)) {
                let [inside, next] = [from, to].map(|at| normal.dot(at) + offset);
                if inside >= 0.0 {
                    kept.push(from);
                }
                if (inside >= 0.0) != (next >= 0.0) {
                    kept.push(from.lerp(to, inside / (inside - next)));
                }
            }
            kept
        })
    }
}

/// A polygon, or a part of it, on its way.
struct Part {
    polygon: u32,
    vertices: Vec<DVec2>,
    /// When it arrives, in microseconds.
    arrival: f64,
}

/// How a queue in front of a processor goes: parts arrive in order, and are taken in order.
#[derive(Default)]
struct Server {
    free: f64,
    /// When those that may still wait are taken.
    taken: std::collections::VecDeque<f64>,
    queue: usize,
}

impl Server {
    /// When a part that arrives is done, after a service of so long.
    fn serve(&mut self, arrival: f64, service: f64) -> f64 {
        while self.taken.front().is_some_and(|&time| time <= arrival) {
            self.taken.pop_front();
        }
        let start = self.free.max(arrival);
        if start > arrival {
            self.taken.push_back(start);
            self.queue = self.queue.max(self.taken.len());
        }
        self.free = start + service;
        self.free
    }
}

/// Runs a design on polygons for an image of so many columns and rows.
///
/// # Errors
/// When the image's size is out of range.
pub fn run(
    polygons: &[RasterPolygon],
    [width, height]: [u32; 2],
    background: Vec3,
    arrangement: &Arrangement,
    config: &Config,
) -> Result<(Image, Costs), SizeError> {
    let whole = Block { columns: 0..width, rows: 0..height };
    let mut host = 0.0;
    let mut costs = Costs {
        time: 0.0,
        busy: 0.0,
        busiest: 0.0,
        splitting: 0.0,
        busiest_splitter: 0.0,
        queue: 0,
        parts: 0,
        pixels: 0,
        shaded: 0,
        bytes: 0,
    };
    let sent = (0..).zip(polygons).map(|(number, polygon)| {
        host += config.sending(polygon.len());
        costs.bytes += config.bytes(polygon.len());
        Part { polygon: number, vertices: polygon.vertices().map(|(at, _)| at).collect(), arrival: host }
    });
    let sent: Vec<Part> = sent.collect();
    let mut blocks = vec![(whole, sent)];
    for level in 0..arrangement.levels {
        blocks =
            blocks.into_iter().flat_map(|(block, parts)| split(&block, parts, level, config, &mut costs)).collect();
    }
    let done: Vec<Done> = blocks
        .par_iter()
        .map(|(block, parts)| draw(block, parts, polygons, [width, height], arrangement, config))
        .collect();
    let mut rgba = vec![background.extend(1.0).to_array(); width as usize * height as usize];
    for ((block, _), done) in blocks.iter().zip(&done) {
        costs.time = costs.time.max(done.time);
        costs.busy += done.busy.iter().sum::<f64>();
        costs.busiest = done.busy.iter().copied().fold(costs.busiest, f64::max);
        costs.queue = costs.queue.max(done.queue);
        costs.parts += done.parts;
        costs.pixels += done.pixels;
        costs.shaded += done.shaded;
        let colors = done.colors.iter();
        let places = block.rows.clone().flat_map(|y| block.columns.clone().map(move |x| (y as usize, x as usize)));
        for ((y, x), color) in places.zip(colors) {
            if let Some(color) = color {
                rgba[y * width as usize + x] = color.extend(1.0).to_array();
            }
        }
    }
    Ok((Image::new(width, height, rgba)?, costs))
}

/// A splitter: what its two halves take.
fn split(block: &Block, parts: Vec<Part>, level: u32, config: &Config, costs: &mut Costs) -> [(Block, Vec<Part>); 2] {
    let mut halves = block.halves(level).map(|half| (half, Vec::new()));
    let (mut server, mut busy) = (Server::default(), 0.0);
    for part in parts {
        let service = config.parke.split + config.parke.split_vertex * part.vertices.len() as f64;
        busy += service;
        let done = server.serve(part.arrival, service);
        for (half, taken) in &mut halves {
            let vertices = half.part(&part.vertices);
            if vertices.is_empty() {
                continue;
            }
            costs.bytes += config.bytes(vertices.len());
            let arrival = done + config.sending(vertices.len());
            taken.push(Part { polygon: part.polygon, vertices, arrival });
        }
    }
    costs.splitting += busy;
    costs.busiest_splitter = costs.busiest_splitter.max(busy);
    costs.queue = costs.queue.max(server.queue);
    halves
}

/// The results of a block's processors.
struct Done {
    colors: Vec<Option<Vec3>>,
    time: f64,
    busy: Vec<f64>,
    queue: usize,
    parts: u64,
    pixels: u64,
    shaded: u64,
}

/// Counts of a processor for a polygon.
#[derive(Clone, Copy, Default)]
struct Count {
    rows: u32,
    pixels: u32,
    shaded: u32,
}

impl Count {
    fn time(self, processor: &Processor) -> f64 {
        processor.setup
            + processor.row * f64::from(self.rows)
            + processor.pixel * f64::from(self.pixels)
            + processor.shade * f64::from(self.shaded)
    }
}

/// The processors of a block: each polygon is done when the slowest of them is.
fn draw(
    block: &Block,
    parts: &[Part],
    polygons: &[RasterPolygon],
    size: [u32; 2],
    arrangement: &Arrangement,
    config: &Config,
) -> Done {
    let columns = (block.columns.end - block.columns.start) as usize;
    let rows = (block.rows.end - block.rows.start) as usize;
    let count = arrangement.processors as usize;
    let mut depths = vec![u32::MAX; columns * rows];
    let mut done = Done {
        colors: vec![None; columns * rows],
        time: 0.0,
        busy: vec![0.0; count],
        queue: 0,
        parts: parts.len() as u64,
        pixels: 0,
        shaded: 0,
    };
    let sharing = Sharing::new(arrangement);
    let mut server = Server::default();
    let mut counts = vec![Count::default(); count];
    for part in parts {
        let polygon = &polygons[part.polygon as usize];
        counts.fill(Count::default());
        let all = polygon.rows(size[1]);
        for y in all.start.max(block.rows.start)..all.end.min(block.rows.end) {
            let Some(span) = polygon.span(y, size[0]).and_then(|span| span.within(&block.columns)) else { continue };
            let row = y - block.rows.start;
            // Processors that have no pixel of the row do not look at it.
            for x in span.columns().take(sharing.columns as usize) {
                counts[sharing.processor(x - block.columns.start, row)].rows += 1;
            }
            for x in span.columns() {
                let (color, depth) = span.at(x);
                let column = x - block.columns.start;
                let own = &mut counts[sharing.processor(column, row)];
                own.pixels += 1;
                let place = row as usize * columns + column as usize;
                let depth = config.depth.quantize(depth);
                // The background is as far as the farthest depth, and behind it.
                if depth < depths[place] || done.colors[place].is_none() {
                    depths[place] = depth;
                    done.colors[place] = Some(color.as_vec3());
                    own.shaded += 1;
                }
            }
        }
        let mut slowest: f64 = 0.0;
        for (busy, own) in done.busy.iter_mut().zip(&counts) {
            let time = own.time(&config.processor);
            *busy += time;
            slowest = slowest.max(time);
            done.pixels += u64::from(own.pixels);
            done.shaded += u64::from(own.shaded);
        }
        done.time = server.serve(part.arrival, slowest);
    }
    done.queue = server.queue;
    done
}

/// Which processor of a block has a pixel.
#[derive(Clone, Copy)]
struct Sharing {
    /// Columns and rows of the pattern.
    columns: u32,
    rows: u32,
    /// By how many processors a row is shifted from the one above.
    shift: u32,
}

impl Sharing {
    fn new(arrangement: &Arrangement) -> Self {
        let count = arrangement.processors;
        let rows = 1 << (count.ilog2() / 2);
        match arrangement.pattern {
            Pattern::Grid => Self { columns: count / rows, rows, shift: 0 },
            Pattern::Transposed => Self { columns: rows, rows: count / rows, shift: 0 },
            // The odd number nearest to the golden section of the count spreads a column's pixels best.
            Pattern::Lattice => Self { columns: count, rows: 1, shift: (f64::from(count) * 0.618) as u32 | 1 },
        }
    }

    /// The processor of a pixel, from the block's upper left corner.
    fn processor(self, x: u32, y: u32) -> usize {
        let column = (u64::from(x) + u64::from(self.shift) * u64::from(y)) % u64::from(self.columns);
        (column + u64::from(self.columns) * u64::from(y % self.rows)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sharing(processors: u32, pattern: Pattern) -> Sharing {
        Sharing::new(&Arrangement { levels: 0, processors, pattern })
    }

    #[test]
    fn two_processors_of_a_lattice_have_a_checkerboard() {
        let of = |x, y| sharing(2, Pattern::Lattice).processor(x, y);
        assert_eq!([of(0, 0), of(1, 0), of(0, 1), of(1, 1)], [0, 1, 1, 0]);
    }

    #[test]
    fn every_pattern_gives_each_processor_the_same_number_of_pixels() {
        for pattern in [Pattern::Grid, Pattern::Transposed, Pattern::Lattice] {
            for processors in [1, 2, 4, 8, 64] {
                let mut counts = vec![0; processors as usize];
                let pixels = (0..64).flat_map(|y| (0..64).map(move |x| (x, y)));
                pixels.for_each(|(x, y)| counts[sharing(processors, pattern).processor(x, y)] += 1);
                assert!(counts.iter().all(|&n| n == 4096 / processors), "{pattern:?} {processors}");
            }
        }
    }

    #[test]
    fn a_server_takes_one_after_the_other() {
        let mut server = Server::default();
        assert_eq!([server.serve(1.0, 5.0), server.serve(2.0, 5.0), server.serve(3.0, 5.0)], [6.0, 11.0, 16.0]);
        assert_eq!((server.queue, server.serve(20.0, 1.0)), (2, 21.0));
    }

    #[test]
    fn halves_are_the_whole_and_a_part_keeps_to_its_half() {
        let block = Block { columns: 0..7, rows: 2..9 };
        let [left, right] = block.halves(0);
        assert_eq!((left.columns.clone(), right.columns), (0..3, 3..7));
        let [top, bottom] = block.halves(1);
        assert_eq!((top.rows, bottom.rows), (2..5, 5..9));
        let square = [[1.0, 3.0], [6.0, 3.0], [6.0, 6.0], [1.0, 6.0]].map(DVec2::from);
        let part = left.part(&square);
        assert_eq!(part.len(), 4);
        assert!(part.iter().all(|at| at.x <= 3.0 + MARGIN));
        assert!(left.part(&square.map(|at| at + 6.0)).is_empty());
    }
}
