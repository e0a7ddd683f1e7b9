//! The regions in which two images differ: the blocks that a test of significance names, joined
//! where they touch.
//!
//! Takes the blocks of all scales and gives rectangles with numbers, the least probable first. A
//! block is named where it differs without its smaller blocks that do: so a region is as small as
//! the noise allows.

use super::significance::{Named, Tested};
use super::verdict::Probability;
use serde::Serialize;
use shadewright_image::{Image, is_finite};
use std::fmt;

/// The most regions that are kept.
pub const MOST: usize = 1000;

/// Names of channels.
const CHANNELS: [&str; 3] = ["red", "green", "blue"];

/// A region in which two images differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Region {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns of the rectangle around it.
    pub width: u32,
    /// Rows of the rectangle around it.
    pub height: u32,
    /// The number of pixels.
    pub pixels: u64,
    /// Means of red, green and blue of the first image over its pixels, linear.
    pub first: [f64; 3],
    /// The means of the second image.
    pub second: [f64; 3],
    /// The channel in which its worst block differs most.
    pub channel: &'static str,
    /// The difference of that channel's means in percent of the first image's; `None` where that is 0.
    pub percent: Option<f64>,
    /// Side of its worst block, in pixels.
    pub block: u32,
    /// That block's difference over its standard error, positive where the second image is brighter.
    pub z: f64,
    /// The probability of such a difference in images with the same means, corrected for the number
    /// of tests.
    pub p: f64,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channel = CHANNELS.iter().position(|name| *name == self.channel).unwrap_or(0);
        let (first, second) = (self.first[channel], self.second[channel]);
        write!(f, "x {}..{}, y {}..{}: ", self.x, self.x + self.width, self.y, self.y + self.height)?;
        write!(f, "{} {} → {}", self.channel, Digits(first), Digits(second))?;
        if let Some(percent) = self.percent {
            write!(f, " ({percent:+.3} %)")?;
        }
        let block = self.block;
        write!(f, ", z {:.2} in a block of {block} × {block}, p {}", self.z, Probability(self.p))
    }
}

/// A number with five significant digits.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.abs() {
            x if x == 0.0 || (1e-4..1e5).contains(&x) => {
                let decimals = if x == 0.0 { 0 } else { (4 - x.log10().floor() as i32).max(0) };
                write!(f, "{:.*}", decimals as usize, self.0)
            }
            _ => write!(f, "{:.4e}", self.0),
        }
    }
}

/// For each pixel, the ratio of the block that it was named for to its critical value; where there is
/// none, the largest of all its blocks.
pub(super) fn map(scales: &[Tested], width: usize, height: usize) -> Vec<f32> {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let of_pixel = |(x, y)| {
        let mut most = 0.0_f32;
        for scale in scales {
            let ratio = scale.ratios[scale.number(x, y)];
            if ratio.abs() > most.abs() {
                most = ratio;
            }
            if ratio.abs() >= 1.0 {
                break;
            }
        }
        most
    };
    pixels.map(of_pixel).collect()
}

impl Tested {
    /// The number of the block that has a pixel.
    fn number(&self, x: usize, y: usize) -> usize {
        y / self.side * self.columns + x / self.side
    }
}

/// A block that is named, and its scale.
type NamedBlock<'a> = (&'a Tested, &'a Named);

/// For each pixel, the number of the block that it is named for, counted from 1; 0 where there is none.
fn labels(scales: &[Tested], width: usize, height: usize) -> Vec<u32> {
    let mut labels = vec![0; width * height];
    let mut label = 0;
    for scale in scales {
        for &(number, _) in &scale.named {
            label += 1;
            let [x, y] = [number % scale.columns, number / scale.columns].map(|at| at * scale.side);
            for row in y..(y + scale.side).min(height) {
                let row = &mut labels[row * width..(row + 1) * width];
                let free = row[x..(x + scale.side).min(width)].iter_mut().filter(|label| **label == 0);
                free.for_each(|pixel| *pixel = label);
            }
        }
    }
    labels
}

/// The regions, the least probable first and at most [`MOST`], and how many there are.
pub(super) fn regions<'s>(scales: &'s [Tested], first: &Image, second: &Image) -> (Vec<Region>, u64) {
    let of_scale = |scale: &'s Tested| scale.named.iter().map(move |(_, named)| (scale, named));
    let blocks: Vec<NamedBlock<'_>> = scales.iter().flat_map(of_scale).collect();
    if blocks.is_empty() {
        return (Vec::new(), 0);
    }
    let (width, height) = (first.width as usize, first.height as usize);
    // A pixel of a region that was found has label 0.
    let mut labels = labels(scales, width, height);
    let (mut regions, mut count) = (Vec::new(), 0);
    let mut open = Vec::new();
    for start in 0..labels.len() {
        let Some(block) = block_of(&blocks, labels[start]) else { continue };
        let mut growing = Growing::new(block);
        open.push((start, block));
        labels[start] = 0;
        while let Some((at, block)) = open.pop() {
            let (x, y) = (at % width, at / width);
            growing.add([x, y], block, [first.rgba[at], second.rgba[at]]);
            let beside = [
                (x > 0).then(|| at - 1),
                (x + 1 < width).then(|| at + 1),
                (y > 0).then(|| at - width),
                (y + 1 < height).then(|| at + width),
            ];
            for next in beside.into_iter().flatten() {
                let same = |other: &NamedBlock<'_>| other.1.is_brighter == block.1.is_brighter;
                if let Some(other) = block_of(&blocks, labels[next]).filter(same) {
                    open.push((next, other));
                    labels[next] = 0;
                }
            }
        }
        count += 1;
        regions.push(growing.done());
        // Bounded, whatever the number of regions.
        if regions.len() >= 2 * MOST {
            keep_worst(&mut regions);
        }
    }
    keep_worst(&mut regions);
    (regions, count)
}

/// The block of a label.
fn block_of<'a>(blocks: &[NamedBlock<'a>], label: u32) -> Option<NamedBlock<'a>> {
    label.checked_sub(1).map(|number| blocks[number as usize])
}

/// Sorts by probability, by the statistic where that is the same, and by place.
fn keep_worst(regions: &mut Vec<Region>) {
    let order = |a: &Region, b: &Region| {
        let by_z = b.z.abs().total_cmp(&a.z.abs());
        a.p.total_cmp(&b.p).then(by_z).then((a.y, a.x).cmp(&(b.y, b.x)))
    };
    regions.sort_by(order);
    regions.truncate(MOST);
}

/// A region that pixels are added to.
struct Growing<'a> {
    /// The first column and row, and the last.
    bounds: [[usize; 2]; 2],
    pixels: u64,
    sums: [[f64; 3]; 2],
    /// Pixels in the sums.
    summed: u64,
    worst: NamedBlock<'a>,
}

impl<'a> Growing<'a> {
    fn new(block: NamedBlock<'a>) -> Self {
        Self { bounds: [[usize::MAX; 2], [0; 2]], pixels: 0, sums: [[0.0; 3]; 2], summed: 0, worst: block }
    }

    fn add(&mut self, at: [usize; 2], block: NamedBlock<'a>, rgba: [[f32; 4]; 2]) {
        let [first, last] = &mut self.bounds;
        for ((first, last), at) in first.iter_mut().zip(last).zip(at) {
            (*first, *last) = ((*first).min(at), (*last).max(at));
        }
        self.pixels += 1;
        if rgba.iter().all(is_finite) {
            self.summed += 1;
            for (sums, rgba) in self.sums.iter_mut().zip(rgba) {
                sums.iter_mut().zip(rgba).for_each(|(sum, x)| *sum += f64::from(x));
            }
        }
        if block.1.statistic.ratio.abs() > self.worst.1.statistic.ratio.abs() {
            self.worst = block;
        }
    }

    fn done(self) -> Region {
        let [[x, y], [last_x, last_y]] = self.bounds;
        let [first, second] = self.sums.map(|sums| sums.map(|sum| sum / self.summed.max(1) as f64));
        let (scale, Named { statistic, .. }) = self.worst;
        let channel = statistic.channel;
        let change = second[channel] - first[channel];
        Region {
            x: x as u32,
            y: y as u32,
            width: (last_x + 1 - x) as u32,
            height: (last_y + 1 - y) as u32,
            pixels: self.pixels,
            first,
            second,
            channel: CHANNELS[channel],
            percent: (first[channel] != 0.0).then(|| 100.0 * change / first[channel].abs()),
            block: scale.side as u32,
            z: statistic.t,
            p: scale.corrected_p(statistic),
        }
    }
}
