//! The structural similarity index (Wang, Bovik, Sheikh & Simoncelli 2004).
//!
//! Takes two images in display space and gives their mean SSIM on luma: 1 for equal images, less
//! for others, −1 at the least. Window, σ and constants are the paper's (§III.B and III.C): an 11 ×
//! 11 Gaussian with σ = 1.5, K₁ = 0.01, K₂ = 0.03, a dynamic range of 1. Every pixel has a window;
//! at the borders it is cut and its weights sum to 1 again, so images smaller than the window have
//! a value too (the paper's program leaves the border out).

use rayon::prelude::*;

use super::display::{DisplayImage, Strip};

const RADIUS: usize = 5;
const SIGMA: f64 = 1.5;
const C1: f64 = 0.01 * 0.01;
const C2: f64 = 0.03 * 0.03;

/// Weighted sums over a window, in this order: x, y, x², y², xy.
type Moments = [f64; 5];

/// The sums of the SSIM of each row of a strip.
#[must_use]
pub fn rows(strip: &Strip) -> Vec<f64> {
    let (width, height) = (strip.first.width as usize, strip.first.height as usize);
    let (x, y) = (luma(&strip.first), luma(&strip.second));
    let weights = gaussian();
    let row_sum = |row| {
        let columns: Vec<Moments> = (0..width)
            .map(|column| {
                windowed(&weights, row, height, |row| {
                    let index = row * width + column;
                    let (x, y) = (f64::from(x[index]), f64::from(y[index]));
                    [x, y, x * x, y * y, x * y]
                })
            })
            .collect();
        let moments = |column| windowed(&weights, column, width, |column| columns[column]);
        (0..width).map(|column| index(moments(column))).sum()
    };
    strip.measured.clone().into_par_iter().map(row_sum).collect()
}

/// The mean of the SSIM of all pixels, from the sums of all rows. They are added in order, so that
/// the result does not depend on the number of threads.
#[must_use]
pub fn mean(rows: &[f64], width: u32) -> f64 {
    rows.iter().sum::<f64>() / (width as usize * rows.len()) as f64
}

/// SSIM of one window: Eq. (13), Wang et al. 2004.
fn index([mean_x, mean_y, mean_xx, mean_yy, mean_xy]: Moments) -> f64 {
    let variance_x = mean_xx - mean_x * mean_x;
    let variance_y = mean_yy - mean_y * mean_y;
    let covariance = mean_xy - mean_x * mean_y;
    let luminance = (2.0 * mean_x * mean_y + C1) / (mean_x * mean_x + mean_y * mean_y + C1);
    let structure = (2.0 * covariance + C2) / (variance_x + variance_y + C2);
    luminance * structure
}

/// The weighted mean of `moments_at` around `center`, over the part of the window inside
/// `0..length`.
fn windowed(
    weights: &[f64; 2 * RADIUS + 1],
    center: usize,
    length: usize,
    moments_at: impl Fn(usize) -> Moments,
) -> Moments {
    let mut sums = [0.0; 5];
    let mut total = 0.0;
    for position in center.saturating_sub(RADIUS)..(center + RADIUS + 1).min(length) {
        let weight = weights[position + RADIUS - center];
        total += weight;
        for (sum, moment) in sums.iter_mut().zip(moments_at(position)) {
            *sum += weight * moment;
        }
    }
    sums.map(|sum| sum / total)
}

fn gaussian() -> [f64; 2 * RADIUS + 1] {
    std::array::from_fn(|i| {
        let distance = i as f64 - RADIUS as f64;
        (-distance * distance / (2.0 * SIGMA * SIGMA)).exp()
    })
}

/// Luma by the weights of the primaries that sRGB shares with ITU-R BT.709, on encoded values.
fn luma(image: &DisplayImage) -> Vec<f32> {
    let pixels = image.rgba.iter();
    pixels.map(|[r, g, b, _]| 0.2126 * r + 0.7152 * g + 0.0722 * b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::{flat, textured};
    use shadewright_image::Image;

    fn ssim(a: &Image, b: &Image) -> f64 {
        let sums: Vec<f64> = Strip::all(a, b).flat_map(|strip| rows(&strip)).collect();
        mean(&sums, a.width)
    }

    #[test]
    fn two_flat_images_differ_in_luminance_only() {
        // Without variance the formula leaves (2ab + C1) / (a² + b² + C1), here with a = 0.2 and b
        // = 0.4.
        let expected = (0.16 + 0.0001) / (0.04 + 0.16 + 0.0001);
        for size in [1, 7, 30] {
            let value = ssim(&flat(size, size, 51), &flat(size, size, 102));
            assert!((value - expected).abs() < 1e-5, "{size}: {value}");
        }
    }

    #[test]
    fn a_window_of_two_pixels_gives_the_value_worked_out_by_hand() {
        // x = (0, 1) and y = (1, 0). With w the weight of the neighbor over the sum of both, the window of either pixel has
        // means w and 1 - w, both variances w(1 - w) and covariance -w(1 - w).
        let mut x = flat(2, 1, 0);
        x.rgba[1] = [1.0; 4];
        let mut y = x.clone();
        y.rgba.swap(0, 1);
        let neighbor = (-1.0_f64 / 4.5).exp();
        let w = neighbor / (1.0 + neighbor);
        let product = w * (1.0 - w);
        let expected =
            (2.0 * product + C1) / (w * w + (1.0 - w) * (1.0 - w) + C1) * ((C2 - 2.0 * product) / (C2 + 2.0 * product));
        assert!((ssim(&x, &y) - expected).abs() < 1e-6);
        assert!(expected < -0.9);
    }

    #[test]
    fn more_noise_is_less_similar() {
        let original = textured(40, 30);
        let noisy = |amount: f32| {
            let mut image = original.clone();
            for (i, rgba) in image.rgba.iter_mut().enumerate() {
                let noise = if i * 7919 % 13 < 6 { amount } else { -amount };
                rgba[1] = (rgba[1] + noise).clamp(0.0, 1.0);
            }
            ssim(&original, &image)
        };
        let (little, much) = (noisy(0.05), noisy(0.3));
        assert!(1.0 > little && little > much, "{little} {much}");
    }
}
