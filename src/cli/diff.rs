//! `shadewright diff A B`: two image files.

use super::args::DiffArgs;
use super::failure::Failure;
use super::judgement::judge;
use shadewright::image::file as image_file;

/// Compares the files and prints the report.
pub fn run(args: &DiffArgs) -> Result<(), Failure> {
    let a = image_file::read(&args.a)?;
    let b = image_file::read(&args.b)?;
    judge(&a, &b, &args.judge, args.out.as_deref())
}
