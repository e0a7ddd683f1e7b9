//! `shadewright run FILE FUNCTION ARGS…`: a shader function, or an entry point of a program of the RPU, once or once a pixel.

mod function;
mod program;
mod registers;

use super::args::RunArgs;
use super::common::set_threads;
use super::exit::Failure;
use crate::render::image_file;
use std::path::Path;

/// Runs what the file holds: a program of the RPU where its name ends in `.rpuasm` or `.rpubin`, else functions of the shading language.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        image_file::check_writable(out)?;
    }
    set_threads(&args.machine)?;
    let path = Path::new(&args.file);
    match path.extension().and_then(|e| e.to_str()) {
        Some("rpuasm") => program::run(args, path, program::Form::Text),
        Some("rpubin") => program::run(args, path, program::Form::Binary),
        _ => function::run(args),
    }
}
