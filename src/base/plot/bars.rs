//! Grouped bars: a group for each thing, and a bar in it for each series.

use super::color;
use super::scale::{Axis, Scale, number};
use super::svg::{Anchor, Svg, width_of};

/// Height of the part with bars, in pixels.
const HEIGHT: f64 = 220.0;
/// Least width of a bar, in pixels.
const BAR: f64 = 13.0;
/// Space between groups, in pixels.
const GAP: f64 = 18.0;
/// Least width of the whole, in pixels.
const LEAST: f64 = 360.0;

/// One bar in each group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// A value for each group; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// A chart of grouped bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// The axis of values.
    pub axis: Axis,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The bars.
    pub series: Vec<Series>,
    /// A value with a line through all groups, such as a ratio of 1.
    pub mark: Option<f64>,
}

impl Bars {
    /// The chart as SVG. Values that are not finite have no bar.
    pub fn svg(&self) -> String {
        let values = self.series.iter().flat_map(|s| s.values.iter().flatten().copied());
        let scale = Scale::for_values(values.chain(self.mark), self.axis.logarithmic);
        let ticks = scale.ticks();
        let left = 34.0 + ticks.iter().map(|t| width_of(&t.1)).fold(0.0, f64::max);
        let widest = self.groups.iter().map(|g| width_of(g)).fold(0.0, f64::max);
        let own = (self.series.len().max(1) as f64 * BAR).max(widest);
        let width = (self.groups.len() as f64 * (own + GAP)).max(LEAST - left);
        let names = || self.series.iter().map(|s| s.name.as_str());
        let rows = Svg::legend_rows(width, names()) as f64;
        let top = 34.0 + 18.0 * rows + 8.0;
        let bottom = top + HEIGHT;
        let mut svg = Svg::new(left + width + 12.0, bottom + 30.0, &self.title);
        svg.legend([left, 32.0], width, names());
        let y = |value: f64| bottom - HEIGHT * scale.place(value).clamp(0.0, 1.0);
        for (value, label) in &ticks {
            svg.line("grid", [left, y(*value)], [left + width, y(*value)]);
            svg.label(Anchor::End, [left - 6.0, y(*value) + 4.0], label);
        }
        svg.upwards([13.0, top + 0.5 * HEIGHT], &self.axis.label);
        let base = if self.axis.logarithmic { bottom } else { y(0.0) };
        let step = width / self.groups.len().max(1) as f64;
        let bar = (step - GAP) / self.series.len().max(1) as f64;
        for (g, group) in self.groups.iter().enumerate() {
            let x = left + step * g as f64 + 0.5 * GAP;
            for (s, series) in self.series.iter().enumerate() {
                let Some(value) = series.values.get(g).copied().flatten().filter(|v| scale.shows(*v)) else { continue };
                let (from, to) = (y(value).min(base), y(value).max(base));
                let hint = format!("{group}, {}: {}", series.name, number(value));
                svg.rectangle(color(s), [x + bar * s as f64, from, bar - 1.0, to - from], &hint);
            }
            svg.label(Anchor::Middle, [x + 0.5 * (step - GAP), bottom + 18.0], group);
        }
        svg.line("axis", [left, base], [left + width, base]);
        if let Some(mark) = self.mark.filter(|mark| scale.shows(*mark)) {
            svg.line("mark", [left, y(mark)], [left + width, y(mark)]);
        }
        svg.finish()
    }
}
