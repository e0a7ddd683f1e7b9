//! The window, in a program that was built without it.

use super::args::RenderArgs;
use super::exit::Failure;

/// Says that there is none.
pub fn run(_: &RenderArgs) -> Result<(), Failure> {
    Err(Failure::input(
        "error: this program was built without its window\nhint: name an image to render with `--render OUT.png`, or build with the feature `viewer`",
    ))
}
