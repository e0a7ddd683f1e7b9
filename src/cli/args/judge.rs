//! Groups of options about the comparison of images.

use super::*;
use clap::Args;
use shadewright::compare::Metric;
use shadewright::image::file::MAX_READ_PIXELS;

/// How a difference is judged.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::COMPARISON)]
pub struct JudgeArgs {
    /// Judge by this metric alone instead of the default tolerances
    #[arg(long, value_enum, hide_short_help = true)]
    pub metric: Option<Metric>,
    /// Greatest accepted value of the metric (psnr, ssim: smallest; z: smallest, the significance, 0.01
    /// by default)
    #[arg(long, value_name = "X", requires = "metric", hide_short_help = true)]
    pub threshold: Option<f64>,
}

/// The limit of image files that are compared.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = heading::COMPARISON)]
pub struct PixelLimit {
    /// Most pixels of an image file that is compared
    #[arg(long, value_name = "N", default_value_t = MAX_READ_PIXELS, hide_short_help = true)]
    pub max_pixels: u64,
}
