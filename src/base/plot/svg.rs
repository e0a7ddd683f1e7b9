//! The text of SVG elements.

use std::fmt::{Display, Write};

/// Width of a character of the labels, in pixels: a bound for the digits and most letters of
/// sans-serif fonts of 12 pixels.
const CHARACTER: f64 = 6.8;

/// Colors of text and axes, in both color schemes.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#24292f}\
.title{font-size:14px;font-weight:600}\
.axis{stroke:#57606a;stroke-width:1;fill:none}\
.grid{stroke:#8c959f;stroke-opacity:.35;stroke-width:1}\
.mark{stroke:#57606a;stroke-width:1.5;stroke-dasharray:5 3}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.axis,.mark{stroke:#9ea7b3}}";

/// The text with the characters of markup escaped, and without those that XML does not allow.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// How much wider a title is than a label of the same text.
const TITLE: f64 = 1.3;

/// An estimate of the width of a label, in pixels.
pub fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Where a label is relative to its position.
#[derive(Clone, Copy)]
pub enum Anchor {
    /// To the right.
    Start,
    /// On both sides.
    Middle,
    /// To the left.
    End,
}

/// An image while it is written.
pub struct Svg {
    text: String,
}

/// A coordinate in pixels, with two decimals; 0 where it is not a number.
struct Px(f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = if self.0.is_finite() { (self.0 * 100.0).round() / 100.0 } else { 0.0 };
        write!(f, "{value}")
    }
}

impl Svg {
    /// An empty image of this size in pixels, or as wide as its title.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let (w, h) = (Px(width.max(16.0 + TITLE * width_of(title))), Px(height));
        let title = escaped(title);
        let mut svg = Self { text: String::new() };
        svg.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n<text class=\"title\" x=\"8\" y=\"20\">{title}</text>"
        ));
        svg
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{element}");
    }

    /// A line of a class of [`STYLE`].
    pub fn line(&mut self, class: &str, [x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) {
        let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(Px);
        self.add(format_args!("<line class=\"{class}\" x1=\"{x0}\" y1=\"{y0}\" x2=\"{x1}\" y2=\"{y1}\"/>"));
    }

    /// A line through points.
    pub fn polyline(&mut self, color: &str, points: &[[f64; 2]]) {
        let points: Vec<String> = points.iter().map(|&[x, y]| format!("{},{}", Px(x), Px(y))).collect();
        let points = points.join(" ");
        self.add(format_args!("<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" points=\"{points}\"/>"));
    }

    /// A dot, with text that a reader sees on top of it.
    pub fn dot(&mut self, color: &str, [x, y]: [f64; 2], hint: &str) {
        let ([x, y], hint) = ([x, y].map(Px), escaped(hint));
        self.add(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\" fill=\"{color}\"><title>{hint}</title></circle>"
        ));
    }

    /// A rectangle by its corner, width and height, with text that a reader sees on top of it.
    pub fn rectangle(&mut self, color: &str, [x, y, width, height]: [f64; 4], hint: &str) {
        let ([x, y, w, h], hint) = ([x, y, width.max(0.0), height.max(0.0)].map(Px), escaped(hint));
        self.add(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{color}\"><title>{hint}</title></rect>"
        ));
    }

    /// A label.
    pub fn label(&mut self, anchor: Anchor, [x, y]: [f64; 2], text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let ([x, y], text) = ([x, y].map(Px), escaped(text));
        self.add(format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"));
    }

    /// A label that reads upwards, centered at its position.
    pub fn upwards(&mut self, [x, y]: [f64; 2], text: &str) {
        let ([x, y], text) = ([x, y].map(Px), escaped(text));
        self.add(format_args!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\">{text}</text>"
        ));
    }

    /// A row of names with their colors, from a corner; breaks where it is wider than `width`.
    pub fn legend<'a>(&mut self, [left, top]: [f64; 2], width: f64, names: impl Iterator<Item = &'a str>) {
        let (mut x, mut y) = (left, top);
        for (i, name) in names.enumerate() {
            let own = 30.0 + width_of(name);
            if x > left && x + own > left + width {
                (x, y) = (left, y + 18.0);
            }
            self.rectangle(super::color(i), [x, y, 12.0, 12.0], name);
            self.label(Anchor::Start, [x + 17.0, y + 10.5], name);
            x += own;
        }
    }

    /// The rows that [`Svg::legend`] takes.
    pub fn legend_rows<'a>(width: f64, names: impl Iterator<Item = &'a str>) -> usize {
        let (mut x, mut rows) = (0.0, 1);
        for name in names {
            let own = 30.0 + width_of(name);
            if x > 0.0 && x + own > width {
                (x, rows) = (0.0, rows + 1);
            }
            x += own;
        }
        rows
    }

    /// The image.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}
