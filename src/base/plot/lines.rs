//! Lines through points.

use super::color;
use super::scale::{Axis, Scale, number};
use super::svg::{Anchor, Svg, width_of};

/// Width and height of the part with lines, in pixels.
const SIZE: [f64; 2] = [480.0, 240.0];

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// The points, in order.
    pub points: Vec<[f64; 2]>,
}

/// A chart of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub curves: Vec<Curve>,
}

impl Lines {
    /// The chart as SVG. Points that an axis cannot show are left out.
    pub fn svg(&self) -> String {
        let all = || self.curves.iter().flat_map(|c| c.points.iter().copied());
        let across = Scale::for_values(all().map(|p| p[0]), self.x.logarithmic);
        let up = Scale::for_values(all().map(|p| p[1]), self.y.logarithmic);
        let (columns, rows) = (across.ticks(), up.ticks());
        let left = 34.0 + rows.iter().map(|t| width_of(&t.1)).fold(0.0, f64::max);
        let names = || self.curves.iter().map(|c| c.name.as_str());
        let [width, height] = SIZE;
        let top = 42.0 + 18.0 * Svg::legend_rows(width, names()) as f64;
        let bottom = top + height;
        let mut svg = Svg::new(left + width + 24.0, bottom + 44.0, &self.title);
        svg.legend([left, 32.0], width, names());
        let place = |[x, y]: [f64; 2]| {
            [left + width * across.place(x).clamp(0.0, 1.0), bottom - height * up.place(y).clamp(0.0, 1.0)]
        };
        for (value, label) in &rows {
            let y = bottom - height * up.place(*value);
            svg.line("grid", [left, y], [left + width, y]);
            svg.label(Anchor::End, [left - 6.0, y + 4.0], label);
        }
        for (value, label) in &columns {
            let x = left + width * across.place(*value);
            svg.line("grid", [x, top], [x, bottom]);
            svg.label(Anchor::Middle, [x, bottom + 17.0], label);
        }
        svg.line("axis", [left, top], [left, bottom]);
        svg.line("axis", [left, bottom], [left + width, bottom]);
        svg.label(Anchor::Middle, [left + 0.5 * width, bottom + 36.0], &self.x.label);
        svg.upwards([13.0, top + 0.5 * height], &self.y.label);
        for (i, curve) in self.curves.iter().enumerate() {
            let shown: Vec<[f64; 2]> =
                curve.points.iter().copied().filter(|p| across.shows(p[0]) && up.shows(p[1])).collect();
            let places: Vec<[f64; 2]> = shown.iter().map(|p| place(*p)).collect();
            svg.polyline(color(i), &places);
            for (&[x, y], at) in shown.iter().zip(&places) {
                svg.dot(color(i), *at, &format!("{}: {}, {}", curve.name, number(x), number(y)));
            }
        }
        svg.finish()
    }
}
