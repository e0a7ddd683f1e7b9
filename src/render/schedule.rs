//! How a GPU runs the sections of a program. It is here, and not with the GPU, because the command line has it in every build.

/// The order in which the sections of all paths run. It changes time, and no bit of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// What is faster as a rule.
    #[default]
    Auto,
    /// One kernel a section: paths are sorted by the section that they wait for, and rays are traced all at once.
    Wavefront,
    /// One kernel of all sections with the traversal in it, one invocation a path.
    Megakernel,
}
