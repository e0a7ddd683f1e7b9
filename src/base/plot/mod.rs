//! Plots as SVG: grouped bars and lines, for pages that show measurements.
//!
//! A plot is plain data, and [`Bars::svg`] or [`Lines::svg`] its image: one standalone XML element
//! with fonts of the system. Text and axes take the color scheme of the reader (light or dark);
//! series have the colors of Okabe and Ito (2008), which people who are color-blind distinguish,
//! each bright enough for dark and dark enough for light backgrounds. The module knows numbers and
//! names, and not what they measure.

mod bars;
mod lines;
mod scale;
mod svg;

pub use bars::{Bars, Series};
pub use lines::{Curve, Lines};
pub use scale::Axis;
pub use svg::escaped;

/// The colors of series, in order; more series repeat them.
const COLORS: [&str; 7] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f8f8f"];

/// The color of a series.
fn color(series: usize) -> &'static str {
    COLORS[series % COLORS.len()]
}

#[cfg(test)]
mod tests;
