//! Compares two images of the same size, and prints how they differ.
//!
//! `cargo run --release --example compare_images -- a.png b.exr`

use anyhow::{Context, Result};
use shadewright::compare::compare;
use shadewright::image::file;
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (first, second) = args.next().zip(args.next()).context("usage: compare_images FIRST SECOND")?;

    let report = compare(&file::read(&first)?, &file::read(&second)?)?;
    println!("FLIP (0 is equal)            {:.6}", report.flip_mean);
    println!("SSIM (1 is equal)            {:.6}", report.ssim);
    println!("RMSE of displayed values     {:.6}", report.difference.rmse);
    println!("largest linear difference    {:.6}", report.max_linear);
    Ok(())
}
