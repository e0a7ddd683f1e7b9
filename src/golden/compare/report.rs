//! The report of a comparison: every metric of two images, as data, as JSON, as text and as an
//! image.
//!
//! Filled by [`crate::compare::compare`]. It holds numbers and does not judge them.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::difference::Difference;
use super::false_color;
use super::significance::Significance;
use super::verdict::Tolerance;
use shadewright_image::{Channels, Image};

/// Every metric of two images of one size.
///
/// `Display` gives one metric a line, aligned. Serialized, it is a flat record; infinite PSNR
/// becomes null in JSON.
#[derive(Debug, Clone)]
pub struct Report {
    /// Width of both images in pixels.
    pub width: u32,
    /// Height of both images in pixels.
    pub height: u32,
    /// The channels that were compared.
    pub channels: Channels,
    /// Pixels with a NaN or an infinity, in the first and in the second image. Any at all fails
    /// every verdict.
    pub non_finite: [u64; 2],
    /// Mean of the FLIP errors, 0..=1.
    pub flip_mean: f64,
    /// Mean structural similarity of the lumas, −1..=1.
    pub ssim: f64,
    /// Mean, largest and root mean square difference in display space, and the histogram of levels.
    pub difference: Difference,
    /// Largest difference of any linear value, clamped nowhere, so also beyond white.
    pub max_linear: f64,
    /// FLIP error of every pixel, 0..=1, row by row from the top.
    pub flip_map: Vec<f32>,
    /// The test whether the images have the same means, where it was made.
    pub significance: Option<Significance>,
}

impl Report {
    /// The share (0..=1) of pixels with some channel differing by more than `levels` of the 255
    /// steps of an 8-bit file.
    #[must_use]
    pub fn share_over(&self, levels: u8) -> f64 {
        let by_levels = &self.difference.pixels_by_levels;
        let over: u64 = by_levels[usize::from(levels) + 1..].iter().sum();
        over as f64 / self.pixels() as f64
    }

    /// The number of pixels of each image.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// [`Significance::image`] of the test, where it was made.
    #[must_use]
    pub fn significance_image(&self) -> Option<Image> {
        self.significance.as_ref().map(|significance| significance.image(self.width, self.height))
    }

    /// The FLIP error of every pixel in false colors: black is no error, then violet, red, orange,
    /// and pale yellow for an error of 1. The scale is the square root: 0.01 is a tenth of the way,
    /// 0.25 half of it.
    #[must_use]
    pub fn difference_image(&self) -> Image {
        let colored = |&error: &f32| {
            let [r, g, b] = false_color::color(error);
            [r, g, b, 1.0]
        };
        Image {
            width: self.width,
            height: self.height,
            rgba: self.flip_map.iter().map(colored).collect(),
            channels: Channels::Rgb,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = Tolerance::default().levels;
        let share = self.share_over(levels);
        let over = (share * self.pixels() as f64).round();
        let [first, second] = self.non_finite;
        writeln!(f, "size          {} x {}, {}", self.width, self.height, self.channels)?;
        writeln!(f, "FLIP mean     {:.6}", self.flip_mean)?;
        writeln!(f, "SSIM          {:.6}", self.ssim)?;
        writeln!(f, "PSNR          {:.3} dB", self.difference.psnr())?;
        writeln!(f, "RMSE          {:.6}", self.difference.rmse)?;
        writeln!(f, "mean error    {:.6}", self.difference.mean)?;
        writeln!(f, "max error     {:.6}", self.difference.max)?;
        writeln!(f, "max linear    {:.6}", self.max_linear)?;
        writeln!(f, "over {levels}/255    {:.4} % of pixels ({over})", share * 100.0)?;
        write!(f, "not finite    {first} pixels in the first, {second} in the second")?;
        self.significance.iter().try_for_each(|significance| write!(f, "\n{significance}"))
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let levels = Tolerance::default().levels;
        let fields = 13 + usize::from(self.significance.is_some());
        let mut record = serializer.serialize_struct("Report", fields)?;
        record.serialize_field("width", &self.width)?;
        record.serialize_field("height", &self.height)?;
        record.serialize_field("channels", &self.channels)?;
        record.serialize_field("flip_mean", &self.flip_mean)?;
        record.serialize_field("ssim", &self.ssim)?;
        record.serialize_field("psnr", &self.difference.psnr())?;
        record.serialize_field("rmse", &self.difference.rmse)?;
        record.serialize_field("mean", &self.difference.mean)?;
        record.serialize_field("max", &self.difference.max)?;
        record.serialize_field("max_linear", &self.max_linear)?;
        record.serialize_field("levels", &levels)?;
        record.serialize_field("share_over_levels", &self.share_over(levels))?;
        record.serialize_field("non_finite", &self.non_finite)?;
        if let Some(significance) = &self.significance {
            record.serialize_field("significance", significance)?;
        }
        record.end()
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::compare;
    use crate::compare::test_images::flat;

    #[test]
    fn the_share_counts_pixels_strictly_over_the_levels() {
        let (a, mut b) = (flat(10, 10, 100), flat(10, 10, 104));
        for pixel in 0..3 {
            b.rgba[pixel] = flat(1, 1, 105).rgba[0];
        }
        let report = compare(&a, &b).unwrap();
        assert_eq!(report.share_over(3), 1.0);
        assert_eq!(report.share_over(4), 0.03);
        assert_eq!(report.share_over(5), 0.0);
        assert_eq!(report.share_over(255), 0.0);
    }

    #[test]
    fn the_text_has_one_aligned_line_a_metric() {
        let report = compare(&flat(40, 20, 0), &flat(40, 20, 0)).unwrap();
        assert_eq!(
            report.to_string(),
            "size          40 x 20, RGB\n\
             FLIP mean     0.000000\n\
             SSIM          1.000000\n\
             PSNR          inf dB\n\
             RMSE          0.000000\n\
             mean error    0.000000\n\
             max error     0.000000\n\
             max linear    0.000000\n\
             over 4/255    0.0000 % of pixels (0)\n\
             not finite    0 pixels in the first, 0 in the second"
        );
    }

    #[test]
    fn the_json_is_flat_and_has_null_for_infinity() {
        let report = compare(&flat(2, 1, 0), &flat(2, 1, 0)).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["psnr"], serde_json::Value::Null);
        assert_eq!(json["flip_mean"], 0.0);
        assert_eq!(json["channels"], "rgb");
        assert_eq!(json.as_object().unwrap().len(), 13);
    }

    #[test]
    fn the_difference_image_is_black_where_equal_and_bright_where_not() {
        let (a, mut b) = (flat(64, 64, 90), flat(64, 64, 90));
        for pixel in &mut b.rgba[..64 * 8] {
            *pixel = [1.0; 4];
        }
        let image = compare(&a, &b).unwrap().difference_image();
        assert_eq!((image.width, image.height), (64, 64));
        assert!(image.is_opaque());
        assert!(image.rgba[64 * 3 + 30][0] > 0.4);
        assert_eq!(image.rgba[64 * 60 + 30], [0.0, 0.0, 0.0, 1.0]);
    }
}
