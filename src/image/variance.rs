//! The variances of an image's pixels.

/// How much the pixels of an image would vary if it were rendered again with other random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Variance {
    /// For each pixel, row by row from the top, the estimated variance of its red, green and blue: the
    /// square of the standard error of the mean of its samples, in the image's linear units squared.
    pub rgb: Vec<[f32; 3]>,
    /// The number of independent means that it was estimated from, at least 2: it has one degree of
    /// freedom less.
    pub batches: u32,
    /// The samples of each pixel.
    pub samples: u32,
}
