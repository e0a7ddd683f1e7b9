//! The substitute for the window in builds without the feature `viewer`.

use super::args::RenderArgs;
use super::failure::Failure;

/// Not in this build.
pub fn run(_: &RenderArgs) -> Result<(), Failure> {
    Err(Failure::input(
        "error: this program was built without its window\nhint: render to a file with `-o OUT.png`, or build with the feature `viewer`",
    ))
}
