//! The image as the distributed frame buffer has it while it is made.
//!
//! Each sample begins with what it is without any ray, and every result adds its color. Where rays
//! return to the node of their pixel, which shades them, a sample is there when its last ray is. A
//! pixel is the mean of its samples; the filter of pixels and the imager are left out.

use shadewright_image::{Channels, Image};
use shadewright_machines::array::message::MessageKind;
use shadewright_machines::array::trace::{Happening, TraceEvent};
use shadewright_machines::array::workload::{Way, Workload};

/// The color that a result adds to the frame buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Contribution {
    /// The number of the event.
    event: u32,
    /// Index of the sample.
    sample: u32,
    color: [f32; 4],
}

/// Everything that comes into the frame buffer, in the order of time.
#[derive(Clone, Debug)]
pub struct Contributions {
    /// Pixels across and down.
    size: [u32; 2],
    /// The pixel of each sample, and what the sample is without any ray.
    samples: Vec<([u32; 2], [f32; 4])>,
    results: Vec<Contribution>,
}

impl Contributions {
    /// The contributions of a simulation. `image` is the finished one, for samples whose shading is
    /// not known from their rays.
    pub fn new(workload: &Workload, events: &[TraceEvent], image: &Image) -> Self {
        let samples = workload.samples.iter().map(|sample| (sample.pixel, sample.direct)).collect();
        let is_result = |event: &TraceEvent| event.happening == Happening::Shown && event.kind == MessageKind::Result;
        let results = events.iter().enumerate().filter(|(_, event)| is_result(event));
        let results = results.filter_map(|(number, event)| {
            let ray = workload.rays.get(event.ray as usize)?;
            let sample = workload.samples.get(ray.sample as usize)?;
            let is_last = || sample.root.is_some_and(|root| event.ray + 1 == root + sample.rays);
            let color = match workload.way {
                Way::Results => ray.direct,
                Way::Answers if is_last() => pixel(image, sample.pixel),
                Way::Answers => return None,
            };
            Some(Contribution { event: number as u32, sample: ray.sample, color })
        });
        Self { size: workload.size, samples, results: results.collect() }
    }

    /// The number of results that are there after so many events.
    fn until(&self, position: usize) -> usize {
        self.results.partition_point(|result| (result.event as usize) < position)
    }
}

fn pixel(image: &Image, [x, y]: [u32; 2]) -> [f32; 4] {
    let inside = x < image.width && y < image.height;
    let index = y as usize * image.width as usize + x as usize;
    image.rgba.get(index).copied().filter(|_| inside).unwrap_or_default()
}

/// The frame buffer at a position of the simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameBuffer {
    /// Results that are there.
    results: usize,
    /// The sum of each sample's.
    sums: Vec<[f32; 4]>,
}

impl FrameBuffer {
    /// Goes to the state after so many events. True if it is another. The sums are always made in
    /// the order of time, so they do not depend on the way here.
    pub fn seek(&mut self, contributions: &Contributions, position: usize) -> bool {
        let results = contributions.until(position);
        let is_new = self.sums.len() != contributions.samples.len();
        if results == self.results && !is_new {
            return false;
        }
        if results < self.results || is_new {
            self.sums = contributions.samples.iter().map(|(_, direct)| *direct).collect();
            self.results = 0;
        }
        for result in &contributions.results[self.results..results] {
            let sum = &mut self.sums[result.sample as usize];
            sum.iter_mut().zip(result.color).for_each(|(sum, part)| *sum += part);
        }
        self.results = results;
        true
    }

    /// The results that are there.
    pub fn results(&self) -> usize {
        self.results
    }

    /// The image: the mean of each pixel's samples.
    pub fn image(&self, contributions: &Contributions) -> Image {
        let [width, height] = contributions.size;
        let mut sums = vec![([0.0f32; 4], 0u32); width as usize * height as usize];
        for (([x, y], _), sample) in contributions.samples.iter().zip(&self.sums) {
            if let Some((sum, count)) = sums.get_mut(*y as usize * width as usize + *x as usize) {
                sum.iter_mut().zip(sample).for_each(|(sum, part)| *sum += part);
                *count += 1;
            }
        }
        let mean = |(sum, count): ([f32; 4], u32)| sum.map(|x| x / count.max(1) as f32);
        let rgba = sums.into_iter().map(mean).collect();
        Image { width, height, rgba, channels: Channels::Rgba }
    }
}
