//! Demetrescu's design (Ullner 1983, §3.2): a processor for each polygon, past which the pixels of
//! the background are streamed in scan-line order; each takes the place of a pixel that is farther
//! away.

use super::super::raster::RasterPolygon;
use super::config::Config;
use glam::Vec3;
use rayon::prelude::*;
use shadewright_image::{Image, SizeError};

/// The cost of an image on Demetrescu's design.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Processors.
    pub processors: u64,
    /// How often the pixels go through them.
    pub passes: u64,
    /// From one pixel to the next, in microseconds.
    pub tick: f64,
    /// Until the last pixel has left, in microseconds.
    pub time: f64,
    /// From a pixel's entry until it leaves, in microseconds.
    pub latency: f64,
    /// Pixels within polygons.
    pub pixels: u64,
    /// Pixels that took the place of another.
    pub replaced: u64,
    /// Bytes from processor to processor.
    pub bytes: u64,
}

/// Runs the design on polygons for an image of so many columns and rows.
///
/// # Errors
/// When the image's size is out of range.
pub fn run(
    polygons: &[RasterPolygon],
    [width, height]: [u32; 2],
    background: Vec3,
    config: &Config,
) -> Result<(Image, Costs), SizeError> {
    let sizes = config.demetrescu;
    let processors = match sizes.processors {
        0 => polygons.len().max(1) as u64,
        count => count.into(),
    };
    let passes = (polygons.len() as u64).div_ceil(processors).max(1);
    let tick = config.link.bit * f64::from(config.link.bits.max(config.depth.bits));
    let bits = (sizes.values - 1) * config.link.bits + config.depth.bits;
    let count = u64::from(width) * u64::from(height);
    let mut costs = Costs {
        processors,
        passes,
        tick,
        // A pass begins when the first pixel of the one before has left and the memory is full.
        time: passes as f64 * (count + processors) as f64 * tick,
        latency: processors as f64 * tick,
        bytes: (passes * processors * count).saturating_mul(bits.into()).div_ceil(8),
        ..Costs::default()
    };
    // The polygons of each row, in the order of their processors.
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); height as usize];
    for (number, polygon) in (0..).zip(polygons) {
        polygon.rows(height).for_each(|y| rows[y as usize].push(number));
    }
    let background = background.extend(1.0).to_array();
    let drawn: Vec<(Vec<[f32; 4]>, u64, u64)> = (0..)
        .zip(&rows)
        .collect::<Vec<(u32, &Vec<u32>)>>()
        .par_iter()
        .map(|&(y, numbers)| {
            let mut stream: Vec<(Option<u32>, [f32; 4])> = vec![(None, background); width as usize];
            let (mut pixels, mut replaced) = (0, 0);
            for &number in numbers {
                let Some(span) = polygons[number as usize].span(y, width) else { continue };
                for x in span.columns() {
                    let (color, depth) = span.at(x);
                    let (depth, pixel) = (config.depth.quantize(depth), &mut stream[x as usize]);
                    pixels += 1;
                    if pixel.0.is_none_or(|other| depth < other) {
                        *pixel = (Some(depth), color.as_vec3().extend(1.0).to_array());
                        replaced += 1;
                    }
                }
            }
            (stream.into_iter().map(|(_, color)| color).collect(), pixels, replaced)
        })
        .collect();
    costs.pixels = drawn.iter().map(|(_, pixels, _)| pixels).sum();
    costs.replaced = drawn.iter().map(|(.., replaced)| replaced).sum();
    let rgba = drawn.into_iter().flat_map(|(row, ..)| row).collect();
    Ok((Image::new(width, height, rgba)?, costs))
}
