//! `shadewright diff A B`: two image files.

use super::args::DiffArgs;
use super::failure::Failure;
use super::judgment::{Judgment, check_judgment, conclude, read};

/// Compares the files and prints the report.
pub fn run(args: &DiffArgs) -> Result<(), Failure> {
    check_judgment(&args.judge)?;
    let (a, b) = (read(&args.a, &args.judge, args.limit)?, read(&args.b, &args.judge, args.limit)?);
    conclude(&Judgment::new(a.side(), b.side(), &args.judge, args.out.as_deref())?, args.json)
}
