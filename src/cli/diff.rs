//! `shadewright diff A B`: two image files.

use super::args::DiffArgs;
use super::failure::Failure;
use super::judgement::judge;
use shadewright::image::file as image_file;

/// Compares the files and prints the report.
pub fn run(args: &DiffArgs) -> Result<(), Failure> {
    let [a, b] = [&args.a, &args.b].map(|path| image_file::read_within(path, args.judge.max_pixels));
    let (a, b) = (a?, b?);
    judge(&a, &b, &args.judge, args.out.as_deref())
}
