//! The images that a report shows of one comparison: PNG files in display space, reduced where they
//! are large.

use super::base64;
use super::tolerance::{Comparison, differ};
use crate::compare::false_color;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shadewright_image::color::{encode_srgb, quantize8};
use shadewright_image::{Image, is_finite};

/// Longest side of an image that is shown, in pixels; larger ones are reduced by a whole number.
pub const MAX_SIDE: u32 = 1024;

/// By how much differences are amplified.
pub const AMPLIFICATIONS: [u32; 3] = [1, 10, 100];

/// The contents of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageKind {
    /// The reference.
    Reference,
    /// The render.
    Render,
    /// The absolute differences of the channels in display space, amplified; magenta where a pixel
    /// is not finite.
    Difference(u32),
    /// White where the bits are not the same.
    Bits,
    /// The FLIP error in false colors.
    Flip,
    /// Where the means of noisy images differ significantly, in false colors.
    Significance,
}

/// An image as a PNG file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The contents.
    pub kind: ImageKind,
    /// Width and height in pixels, as shown.
    pub size: [u32; 2],
    /// How many pixels of the render a pixel is, on each axis.
    pub scale: u32,
    /// The file as a `data:` address.
    pub address: String,
}

/// The images of a render without a reference, or with one of another size.
pub fn shown_renders(reference: Option<&Image>, render: Option<&Image>) -> Vec<Shown> {
    let both = [(ImageKind::Reference, reference), (ImageKind::Render, render)];
    both.into_iter().filter_map(|(kind, image)| Some(shown(kind, image?))).collect()
}

/// The images of a render, as it was compared, and its reference.
pub fn shown_comparison(reference: &Image, render: &Image, comparison: &Comparison) -> Vec<Shown> {
    let render = comparison.stored.as_ref().unwrap_or(render);
    let mut images = shown_renders(Some(reference), Some(render));
    let size = [render.width, render.height];
    let pairs = || reference.rgba.par_iter().zip(&render.rgba);
    let differences: Vec<[f32; 3]> = pairs().map(|(a, b)| difference(a, b)).collect();
    for by in AMPLIFICATIONS {
        let amplify = |d: [f32; 3]| if d[0].is_nan() { MAGENTA } else { d.map(|x| quantize8(x * by as f32)) };
        images.push(reduced(ImageKind::Difference(by), size, &differences, larger, amplify));
    }
    let bits: Vec<bool> = pairs().map(|(a, b)| differ(a, b)).collect();
    images.push(reduced(ImageKind::Bits, size, &bits, |a, b| a | b, |differs| [u8::from(differs) * 255; 3]));
    let colored = |error: f32| false_color::color(error).map(|x| quantize8(encode_srgb(x)));
    images.push(reduced(ImageKind::Flip, size, &comparison.report.flip_map, f32::max, colored));
    images.extend(comparison.report.significance_image().map(|image| shown(ImageKind::Significance, &image)));
    images
}

/// The color of differences to pixels that are not finite.
const MAGENTA: [u8; 3] = [255, 0, 255];

/// The absolute difference of each color channel in display space, or that of alpha where it is
/// larger; NaN where one pixel is not finite and the other has other bits.
fn difference(a: &[f32; 4], b: &[f32; 4]) -> [f32; 3] {
    if !is_finite(a) || !is_finite(b) {
        return if differ(a, b) { [f32::NAN; 3] } else { [0.0; 3] };
    }
    let alpha = (a[3].clamp(0.0, 1.0) - b[3].clamp(0.0, 1.0)).abs();
    std::array::from_fn(|i| (encode_srgb(a[i]) - encode_srgb(b[i])).abs().max(alpha))
}

fn larger(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    if a[0].is_nan() || b[0].is_nan() {
        return [f32::NAN; 3];
    }
    std::array::from_fn(|i| a[i].max(b[i]))
}

/// By how much a size is reduced.
fn scale(size: [u32; 2]) -> u32 {
    size[0].max(size[1]).div_ceil(MAX_SIDE).max(1)
}

/// An image over black, each pixel the mean of those that it stands for.
fn shown(kind: ImageKind, image: &Image) -> Shown {
    let finite = |pixel: &[f32; 4]| -> [f32; 3] {
        if is_finite(pixel) { [pixel[0], pixel[1], pixel[2]] } else { [f32::NAN; 3] }
    };
    let values: Vec<[f32; 4]> = image
        .rgba
        .par_iter()
        .map(|pixel| {
            let [r, g, b] = finite(pixel);
            [r, g, b, 1.0]
        })
        .collect();
    let sum = |a: [f32; 4], b: [f32; 4]| std::array::from_fn(|i| a[i] + b[i]);
    let mean = |sum: [f32; 4]| match sum[0].is_nan() {
        true => MAGENTA,
        false => [0, 1, 2].map(|i| quantize8(encode_srgb(sum[i] / sum[3]))),
    };
    reduced(kind, [image.width, image.height], &values, sum, mean)
}

/// An image of values, those that fall into one pixel joined by `join`.
fn reduced<T: Copy + Send + Sync>(
    kind: ImageKind,
    [width, height]: [u32; 2],
    values: &[T],
    join: impl Fn(T, T) -> T + Sync,
    color: impl Fn(T) -> [u8; 3] + Sync,
) -> Shown {
    let by = scale([width, height]);
    let size = [width, height].map(|side| side.div_ceil(by));
    let (columns, by_pixels) = (width as usize, by as usize);
    let rows = (0..size[1] as usize).into_par_iter();
    let samples: Vec<u8> = rows
        .flat_map_iter(|y| {
            let lines = y * by_pixels..((y + 1) * by_pixels).min(height as usize);
            let (join, color) = (&join, &color);
            (0..size[0] as usize).flat_map(move |x| {
                let line = x * by_pixels..((x + 1) * by_pixels).min(columns);
                let block = lines.clone().flat_map(|row| values[row * columns..][line.clone()].iter().copied());
                block.reduce(join).map_or([0; 3], color)
            })
        })
        .collect();
    Shown { kind, size, scale: by, address: png(&samples, size) }
}

/// A PNG file as a `data:` address; empty where it cannot be encoded.
fn png(samples: &[u8], [width, height]: [u32; 2]) -> String {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    match encoder.write_image(samples, width, height, ExtendedColorType::Rgb8) {
        Ok(()) => format!("data:image/png;base64,{}", base64::encode(&bytes)),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::{flat, textured};
    use crate::tolerance::Criterion;
    use shadewright_image::file::{self, Format};

    fn decoded(image: &Shown) -> Image {
        let (_, text) = image.address.split_once("base64,").expect("a data address");
        let bytes = base64::decode(text).expect("base64");
        file::decode_bytes(&bytes, Format::Png).expect("a PNG file")
    }

    fn codes(image: &Shown) -> Vec<[u8; 3]> {
        let pixels = decoded(image).rgba;
        pixels.iter().map(|p| [p[0], p[1], p[2]].map(shadewright_image::color::encode_srgb8)).collect()
    }

    fn images(reference: &Image, render: &Image) -> Vec<Shown> {
        let [one, other] = [render, reference].map(|image| image.clone().into());
        let comparison = Comparison::new(&one, &other, Format::Exr, Criterion::Exact).expect("one size");
        shown_comparison(reference, render, &comparison)
    }

    #[test]
    fn a_difference_is_amplified_and_one_bit_can_be_seen() {
        let reference = flat(4, 2, 100);
        let mut render = reference.clone();
        render.rgba[0] = flat(1, 1, 103).rgba[0];
        render.rgba[1][2] = f32::from_bits(render.rgba[1][2].to_bits() + 1);
        render.rgba[2][0] = f32::NAN;
        let all = images(&reference, &render);
        let of = |kind| codes(all.iter().find(|p| p.kind == kind).expect("it is there"));
        assert_eq!(of(ImageKind::Difference(1))[..4], [[3; 3], [0; 3], MAGENTA, [0; 3]]);
        assert_eq!(of(ImageKind::Difference(10))[0], [30; 3]);
        assert_eq!(of(ImageKind::Difference(100))[0], [255; 3]);
        assert_eq!(of(ImageKind::Bits)[..4], [[255; 3], [255; 3], [255; 3], [0; 3]]);
        assert_eq!(
            (of(ImageKind::Reference)[0], of(ImageKind::Render)[0], of(ImageKind::Render)[2]),
            ([100; 3], [103; 3], MAGENTA)
        );
        assert!(of(ImageKind::Flip)[0][0] > 0);
    }

    #[test]
    fn large_images_are_reduced_and_single_pixels_stay_visible_in_differences() {
        let reference = flat(2500, 3, 100);
        let mut render = reference.clone();
        render.rgba[2499 + 2500] = [1.0; 4];
        let all = images(&reference, &render);
        assert!(all.iter().all(|p| p.size == [834, 1] && p.scale == 3), "{:?}", all[0].size);
        let difference = all.iter().find(|p| p.kind == ImageKind::Difference(1)).expect("it is there");
        assert_eq!(codes(difference)[833], [155; 3]);
        assert_eq!(codes(difference)[832], [0; 3]);
    }

    #[test]
    fn images_are_shown_as_they_are() {
        let image = textured(20, 10);
        let all = shown_renders(None, Some(&image));
        assert_eq!((all.len(), all[0].kind, all[0].size), (1, ImageKind::Render, [20, 10]));
        assert!(decoded(&all[0]).rgba.iter().zip(&image.rgba).all(|(a, b)| (a[0] - b[0]).abs() < 1e-6));
    }
}
