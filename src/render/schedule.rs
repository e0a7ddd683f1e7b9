//! How a GPU runs the sections of a program. It is not part of `gpu`, as the command line needs it
//! in builds without a GPU.

use shadewright_base::named::{Named, Row};

/// The order in which the sections of all paths run. It changes the time of an image and none of
/// its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// The one that is usually faster.
    #[default]
    Auto,
    /// One kernel for each section: paths are sorted by their next section, and rays are traced in
    /// one dispatch.
    Wavefront,
    /// One kernel with all sections and the traversal, one invocation for each path.
    Megakernel,
}

impl Named for Schedule {
    const TABLE: &'static [Row<Self>] = &[
        ("auto", "The order that is usually faster", Self::Auto),
        (
            "wavefront",
            "One kernel per shader section, over the paths queued for it; rays are traced in batches",
            Self::Wavefront,
        ),
        (
            "megakernel",
            "One kernel with all sections and the traversal: fast with few shaders, slow to compile with many",
            Self::Megakernel,
        ),
    ];
}
