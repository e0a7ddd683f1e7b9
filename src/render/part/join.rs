//! Joins the parts of an image.

use super::super::batches::Batches;
use super::super::film::Film;
use super::{Content, PartFile, PartRecord, Plan};
use crate::Window;
use shadewright_image::aov::Aov;
use shadewright_image::{Channels, Image, SizeError, Variance, check_size};

/// A joined image.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The means of the pixels, before exposure and imager.
    pub means: Image,
    /// Their variances, where they are known.
    pub variance: Option<Variance>,
    /// The arbitrary output variables.
    pub aovs: Vec<Aov>,
}

/// Joins parts, which `read` reads by their numbers: one after the other, each once.
///
/// # Errors
/// The errors of `read`, and of an image of impossible size.
pub fn join<E: From<SizeError>>(
    plan: &Plan,
    first: &PartRecord,
    mut read: impl FnMut(usize) -> Result<PartFile, E>,
) -> Result<Joined, E> {
    let whole = first.whole();
    let (batches, share) = (first.division(), first.part.share);
    let mut canvas = Canvas::new(whole, batches)?;
    for parts in plan.order.chunks(share.of_samples as usize) {
        let mut tile: Option<Film> = None;
        let mut window = whole;
        for &number in parts {
            let part = read(number)?;
            window = part.record.window();
            if part.record.part.share.has_first_samples() {
                canvas.put_aovs(window, part.aovs);
            }
            match part.content {
                Content::Means { rgba, variance } => canvas.put(window, &rgba, variance.as_deref()),
                Content::Batches(sums) => {
                    let film = match &mut tile {
                        Some(film) => film,
                        none => none.insert(
                            Film::with_samples(window.width, window.height, batches.samples())?.with_variance(),
                        ),
                    };
                    for (batch, sums) in part.record.batches().zip(sums) {
                        film.add_batch(batch, &sums);
                    }
                }
            }
        }
        if let Some(film) = tile {
            let variance = film.variance(batches.samples()).filter(|_| !first.part.imager);
            canvas.put(window, &film.resolve().rgba, variance.map(|variance| variance.rgb).as_deref());
        }
    }
    Ok(canvas.finish(batches))
}

/// The image that tiles are copied to.
struct Canvas {
    whole: Window,
    means: Image,
    variance: Vec<[f32; 3]>,
    /// True if every tile has variances.
    varies: bool,
    aovs: Vec<Aov>,
}

impl Canvas {
    fn new(whole: Window, batches: Batches) -> Result<Self, SizeError> {
        let pixels = check_size(whole.width, whole.height)?;
        let varies = batches.count() > 1;
        Ok(Self {
            whole,
            means: blank(whole),
            variance: vec![[0.0; 3]; if varies { pixels } else { 0 }],
            varies,
            aovs: Vec::new(),
        })
    }

    fn put(&mut self, window: Window, rgba: &[[f32; 4]], variance: Option<&[[f32; 3]]>) {
        copy(&mut self.means.rgba, self.whole, rgba, window);
        match variance {
            Some(variance) if self.varies => copy(&mut self.variance, self.whole, variance, window),
            _ => self.varies = false,
        }
    }

    fn put_aovs(&mut self, window: Window, aovs: Vec<Aov>) {
        for aov in aovs {
            let target = match self.aovs.iter_mut().find(|known| known.name == aov.name) {
                Some(known) => known,
                None => {
                    let empty = Aov { name: aov.name, channels: aov.channels, image: blank(self.whole) };
                    self.aovs.push(empty);
                    let last = self.aovs.len() - 1;
                    &mut self.aovs[last]
                }
            };
            copy(&mut target.image.rgba, self.whole, &aov.image.rgba, window);
        }
    }

    fn finish(self, batches: Batches) -> Joined {
        let (count, samples) = (batches.count(), batches.samples());
        let variance = self.varies.then_some(Variance { rgb: self.variance, batches: count, samples });
        Joined { means: self.means, variance, aovs: self.aovs }
    }
}

/// An image of zeros.
fn blank(Window { width, height, .. }: Window) -> Image {
    Image { width, height, rgba: vec![[0.0; 4]; width as usize * height as usize], channels: Channels::Rgba }
}

/// Copies the pixels of a window into those of the whole image.
fn copy<T: Copy>(to: &mut [T], whole: Window, from: &[T], window: Window) {
    let (left, top) = ((window.x - whole.x) as usize, (window.y - whole.y) as usize);
    let rows = to.chunks_exact_mut(whole.width as usize).skip(top);
    for (row, pixels) in rows.zip(from.chunks_exact(window.width as usize)) {
        row[left..][..pixels.len()].copy_from_slice(pixels);
    }
}
