//! Judges how far apart two images are.
//!
//! Takes two finished [`Image`]s of one size and gives a [`Report`] of metrics, from which a
//! [`Tolerance`] or a single [`Metric`] makes a [`Verdict`] and [`Report::difference_image`] a
//! false-color image. It knows nothing of renderers, scenes or files, and prints nothing.
//!
//! Where the variances of the pixels are known, [`significance`] tests whether two noisy images have
//! the same means, and [`regions`] names where they have not.
//!
//! All metrics but one are computed in *display space* ([`display`]): premultiplied color, that is
//! the image over black, clamped to 0..=1 and sRGB encoded, because that is what people look at and
//! what 8-bit files hold. The exception is the largest linear difference, which sees what lies
//! beyond white.
//!
//! Every metric is symmetric in its two images (FLIP up to float rounding) and independent of the
//! thread count.

pub mod difference;
pub mod display;
pub mod false_color;
pub mod flip;
pub mod regions;
pub mod report;
pub mod significance;
pub mod ssim;
mod student;
pub mod verdict;

use thiserror::Error;

use difference::Difference;
use display::Strip;
pub use report::Report;
use shadewright_image::{Channels, Image, SizeError, check_size};
pub use significance::Significance;
pub use verdict::{Metric, Tolerance, Verdict};

/// Why two images cannot be compared at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CompareError {
    /// Their sizes differ.
    #[error(
        "the images differ in size: the first is {} x {} pixels, the second {} x {}; render both at one size",
        first.0, first.1, second.0, second.1
    )]
    SizeMismatch {
        /// Width and height of the first image.
        first: (u32, u32),
        /// Width and height of the second image.
        second: (u32, u32),
    },
    /// One has channels that the other has not.
    #[error("the images differ in channels: the first is {first}, the second {second}; convert one of them")]
    ChannelMismatch {
        /// Channels of the first image.
        first: Channels,
        /// Channels of the second image.
        second: Channels,
    },
    /// Their size is one that no image may have.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// Compares two images by every metric. The order matters for nothing but the wording of errors.
///
/// An alpha channel that is 1 everywhere says nothing and counts as none, so an opaque render
/// compares with an RGB file. A pixel with a NaN or an infinity in either image is counted in the
/// report and enters every metric as black against white, the largest difference there is.
///
/// # Errors
/// When sizes or channels differ, or the size is outside what an image may have.
pub fn compare(first: &Image, second: &Image) -> Result<Report, CompareError> {
    let (width, height) = (first.width, first.height);
    if (width, height) != (second.width, second.height) {
        return Err(CompareError::SizeMismatch { first: (width, height), second: (second.width, second.height) });
    }
    check_size(width, height)?;
    let channels = telling_channels(first);
    if channels != telling_channels(second) {
        return Err(CompareError::ChannelMismatch { first: channels, second: telling_channels(second) });
    }

    let (mut rows, mut similarities, mut flip_map) = (Vec::new(), Vec::new(), Vec::new());
    for strip in Strip::all(first, second) {
        rows.extend(difference::rows(&strip, channels.has_alpha()));
        similarities.extend(ssim::rows(&strip));
        flip_map.extend(flip::errors(&strip));
    }
    Ok(Report {
        width,
        height,
        channels,
        non_finite: [first, second].map(|image| image.count_non_finite() as u64),
        flip_mean: flip::mean(&flip_map),
        ssim: ssim::mean(&similarities, width),
        max_linear: difference::max_linear(first, second),
        difference: Difference::from_rows(&rows, width, channels.has_alpha()),
        flip_map,
        significance: None,
    })
}

/// The channels that say something: those of the image's source, less an alpha that is 1
/// everywhere.
fn telling_channels(image: &Image) -> Channels {
    match image.channels {
        Channels::GrayAlpha if image.is_opaque() => Channels::Gray,
        Channels::Rgba if image.is_opaque() => Channels::Rgb,
        channels => channels,
    }
}

#[cfg(test)]
pub(crate) mod test_images {
    //! Small images that several metrics' tests share.

    use shadewright_image::Image;
    use shadewright_image::color::decode_srgb8;

    /// An opaque gray image of one 8-bit code.
    pub fn flat(width: u32, height: u32, code: u8) -> Image {
        let x = decode_srgb8(code);
        let pixels = width as usize * height as usize;
        Image::new(width, height, vec![[x, x, x, 1.0]; pixels]).unwrap()
    }

    /// An opaque image with structure in all channels, the same on every call.
    pub fn textured(width: u32, height: u32) -> Image {
        let pixel = |i: u32| {
            let code = |factor: u32| decode_srgb8((i.wrapping_mul(factor) >> 8) as u8);
            [code(40_503), code(30_011), code(20_021), 1.0]
        };
        Image::new(width, height, (0..width * height).map(pixel).collect()).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::test_images::{flat, textured};
    use super::*;

    /// The metrics that need no variances.
    const OF_IMAGES: [Metric; 6] = [Metric::Flip, Metric::Rmse, Metric::Psnr, Metric::Ssim, Metric::Max, Metric::Mean];

    #[test]
    fn a_image_equals_itself_by_every_metric() {
        let image = textured(32, 20);
        let report = compare(&image, &image).unwrap();
        assert_eq!(Metric::Flip.value(&report), 0.0);
        assert_eq!(Metric::Mean.value(&report), 0.0);
        assert_eq!(Metric::Max.value(&report), 0.0);
        assert_eq!(Metric::Rmse.value(&report), 0.0);
        assert_eq!(Metric::Psnr.value(&report), f64::INFINITY);
        assert!((Metric::Ssim.value(&report) - 1.0).abs() < 1e-12);
        assert_eq!(report.share_over(0), 0.0);
        assert_eq!(report.max_linear, 0.0);
        assert!(Tolerance::default().judge(&report).passed);
    }

    #[test]
    fn every_metric_is_symmetric() {
        let (a, mut b) = (textured(24, 24), textured(24, 24));
        b.rgba.rotate_left(5);
        let (ab, ba) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
        for metric in OF_IMAGES {
            let (ab, ba) = (metric.value(&ab), metric.value(&ba));
            assert!((ab - ba).abs() < 1e-6, "{metric}: {ab} and {ba}");
            assert_ne!(ab, metric.value(&compare(&a, &a).unwrap()), "{metric}");
        }
    }

    #[test]
    fn a_size_mismatch_tells_both_sizes() {
        let error = compare(&flat(4, 3, 0), &flat(3, 4, 0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the images differ in size: the first is 4 x 3 pixels, the second 3 x 4; render both at one size"
        );
    }

    #[test]
    fn a_channel_mismatch_tells_both_channels() {
        let (gray, rgb) = (Image { channels: Channels::Gray, ..flat(2, 2, 9) }, flat(2, 2, 9));
        assert_eq!(
            compare(&gray, &rgb).unwrap_err().to_string(),
            "the images differ in channels: the first is gray, the second RGB; convert one of them"
        );
    }

    #[test]
    fn alpha_counts_only_where_it_is_not_1_everywhere() {
        let rgb = Image { channels: Channels::Rgb, ..flat(2, 2, 9) };
        let mut rgba = flat(2, 2, 9);
        assert!(compare(&rgb, &rgba).is_ok());
        rgba.rgba[0][3] = 0.5;
        assert!(matches!(compare(&rgb, &rgba), Err(CompareError::ChannelMismatch { .. })));
    }

    #[test]
    fn one_pixel_that_is_not_finite_fails_the_comparison_even_against_itself() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut image = flat(100, 100, 9);
            image.rgba[0][1] = bad;
            let report = compare(&image, &image).unwrap();
            assert_eq!(report.non_finite, [1, 1]);
            assert_eq!(Metric::Max.value(&report), 1.0);
            for metric in OF_IMAGES {
                assert!(!metric.value(&report).is_nan(), "{metric}");
                assert!(!metric.judge(&report, metric.value(&report)).passed);
            }
            assert!(!Tolerance::default().judge(&report).passed);
        }
    }

    #[test]
    fn a_image_of_one_pixel_can_be_compared() {
        let report = compare(&flat(1, 1, 0), &flat(1, 1, 255)).unwrap();
        assert_eq!(Metric::Max.value(&report), 1.0);
        assert!(report.flip_mean > 0.5);
    }
}
