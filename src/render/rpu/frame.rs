//! Distributes the samples of an image over the timed simulator's processors, a chunk of 2×2 pixels
//! at a time.
//!
//! Takes the arguments of each pixel's sample and outputs its results in the order of samples,
//! whatever the order in which chunks end. It does not know the function that is called.

use super::calls::Calls;
use super::{Stoppable, in_parallel};
use crate::Progress;
use shadewright_rpu::timed::{CHUNK, Stats};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Width and height of a chunk in pixels: "groups of four neighboring pixels are assigned to the
/// same chunk" (Węgrzanowski 2006, §2.1).
const QUAD: u32 = 2;
/// Width and height of a tile in chunks. Tiles go to the processors round-robin.
const TILE: u32 = 4;

/// The arguments of a pixel's sample.
pub(super) type Input<'a> = &'a (dyn Fn(u32, u32, u32) -> Vec<u32> + Sync);
/// Takes what a pixel's sample gives, and its share of issue slots; of one pixel in the order of
/// samples.
pub(super) type Output<'a> = &'a mut (dyn FnMut(u32, u32, [f32; 4], u64) + Send);

/// An image whose pixels are computed by calls.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub width: u32,
    pub height: u32,
    /// Samples a pixel.
    pub samples: u32,
    pub processors: u32,
    pub progress: Progress<'a>,
}

impl Frame<'_> {
    /// Calls a function for each sample of each pixel: `processor` runs one processor on the calls
    /// that it is given. An error sets `stop`.
    pub fn run<E: Stoppable + Send>(
        self,
        stop: &AtomicBool,
        input: Input<'_>,
        output: Output<'_>,
        processor: impl Fn(&mut dyn Calls) -> Result<Stats, E> + Sync,
    ) -> Result<Stats, E> {
        let (done, output) = (AtomicU64::new(0), Mutex::new(output));
        let numbers: Vec<u32> = (0..self.processors).collect();
        let run = |_: &mut (), &number: &u32| {
            let (output, done) = (&output, &done);
            let started = VecDeque::new();
            processor(&mut Share { frame: self, processor: number, next: 0, input, output, first: 0, started, done })
        };
        let mut total = Stats::default();
        in_parallel(&numbers, stop, || (), run)?.iter().for_each(|stats| total.beside(stats));
        Ok(total)
    }

    /// Tiles in a row and in all.
    fn tiles(&self) -> (u64, u64) {
        let across = |size: u32| u64::from(size.div_ceil(QUAD * TILE));
        (across(self.width), across(self.width) * across(self.height))
    }

    /// The corner and the sample of a processor's chunk; `None` after the last.
    fn chunk_at(&self, processor: u32, number: u64) -> Option<(u32, u32, u32)> {
        let per_tile = u64::from(TILE * TILE);
        let (quads, sample) = (number / u64::from(self.samples), number % u64::from(self.samples));
        let tile = quads / per_tile * u64::from(self.processors) + u64::from(processor);
        let (row, tiles) = self.tiles();
        let quad = (quads % per_tile) as u32;
        let at = |tile: u64, quad: u32| QUAD * (TILE * tile as u32 + quad);
        (tile < tiles).then(|| (at(tile % row, quad % TILE), at(tile / row, quad / TILE), sample as u32))
    }
}

/// One processor's share of an image.
struct Share<'a, 'o> {
    frame: Frame<'a>,
    processor: u32,
    /// The number of its next chunk, those outside the image included.
    next: u64,
    input: Input<'a>,
    output: &'a Mutex<Output<'o>>,
    /// The number of the first chunk in `started`.
    first: u64,
    /// Chunks whose results are not output yet, as those of an earlier one are missing.
    started: VecDeque<Started>,
    /// Chunks done on all processors.
    done: &'a AtomicU64,
}

/// A chunk that was started: its pixels, and its results when available.
struct Started {
    pixels: Vec<(u32, u32)>,
    results: Option<(Vec<Vec<u32>>, [u64; CHUNK])>,
}

impl Calls for Share<'_, '_> {
    fn next(&mut self) -> Option<Vec<Vec<u32>>> {
        let (x, y, sample) = self.frame.chunk_at(self.processor, self.next)?;
        self.next += 1;
        let Frame { width, height, .. } = self.frame;
        let pixels = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
        let pixels: Vec<_> = pixels.into_iter().filter(|&(x, y)| x < width && y < height).collect();
        let threads = pixels.iter().map(|&(x, y)| (self.input)(x, y, sample)).collect();
        if !pixels.is_empty() {
            self.started.push_back(Started { pixels, results: None });
        }
        Some(threads)
    }

    fn done(&mut self, number: u64, results: Vec<Vec<u32>>, cost: [u64; CHUNK]) {
        if let Some(started) = self.started.get_mut((number - self.first) as usize) {
            started.results = Some((results, cost));
        }
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Started { pixels, results: Some((results, cost)) }) =
            self.started.pop_front_if(|started| started.results.is_some())
        {
            self.first += 1;
            for (((x, y), words), slots) in pixels.into_iter().zip(&results).zip(cost) {
                let rgba = std::array::from_fn(|i| f32::from_bits(words.get(i).copied().unwrap_or(0)));
                output(x, y, rgba, slots);
            }
        }
        drop(output);
        let (_, tiles) = self.frame.tiles();
        let total = tiles * u64::from(TILE * TILE) * u64::from(self.frame.samples);
        (self.frame.progress)((self.done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / total.max(1) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_of_every_chunk_belongs_to_one_processor_in_order() {
        let frame = Frame { width: 19, height: 9, samples: 3, processors: 4, progress: &|_| {} };
        let mut samples = std::collections::BTreeMap::<_, Vec<u32>>::new();
        for processor in 0..4 {
            let places = (0..).map_while(|number| frame.chunk_at(processor, number));
            places.for_each(|(x, y, sample)| samples.entry((x, y)).or_default().push(sample));
        }
        assert!(samples.values().all(|s| *s == [0, 1, 2]));
        let inside = samples.keys().filter(|&&(x, y)| x < 19 && y < 9);
        assert_eq!(inside.count(), 10 * 5);
        assert!(samples.keys().all(|(x, y)| x % 2 == 0 && y % 2 == 0));
    }

    #[test]
    fn results_go_out_in_the_order_of_samples_whoever_ends_first() {
        let frame = Frame { width: 2, height: 1, samples: 3, processors: 1, progress: &|_| {} };
        let mut seen = Vec::new();
        let call = |calls: &mut dyn Calls| -> Result<Stats, crate::RenderError> {
            let chunks: Vec<_> = std::iter::from_fn(|| calls.next()).filter(|c| !c.is_empty()).collect();
            for number in [2, 0, 1] {
                calls.done(number, chunks[number as usize].clone(), [number, 9, 9, 9]);
            }
            Ok(Stats::default())
        };
        let input = |x: u32, _: u32, sample: u32| vec![x as f32, sample as f32].into_iter().map(f32::to_bits).collect();
        let mut output = |x: u32, _: u32, rgba: [f32; 4], cost: u64| seen.push((x, rgba[1], cost));
        frame.run(&AtomicBool::new(false), &input, &mut output, call).expect("runs");
        let expected = [(0, 0.0, 0), (1, 0.0, 9), (0, 1.0, 1), (1, 1.0, 9), (0, 2.0, 2), (1, 2.0, 9)];
        assert_eq!(seen, expected);
    }
}
