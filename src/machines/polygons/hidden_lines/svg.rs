//! A drawing as an SVG image: one element that needs nothing else, with a group for each object.

use super::config::Background;
use super::drawing::{Drawing, Group};
use glam::DVec2;
use shadewright_base::plot::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A dash and the gap after it, in widths of the line.
pub const DASHES: [f64; 2] = [3.0, 3.0];

/// The width of dashed lines, in widths of the others.
pub const DASHED_WIDTH: f64 = 0.6;

/// The drawing as SVG, in pixels of the image with two decimals, with this title.
///
/// Each object has a group with its name as `id` and `title`; the visible lines are one path, the
/// dashed ones another, with a line of text for each stroke.
pub fn svg(drawing: &Drawing, title: &str) -> String {
    let [width, height] = drawing.size;
    let stroke = Number(drawing.stroke_width);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n",
        escaped(title)
    );
    if drawing.background == Background::White {
        text.push_str("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    }
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "<g fill=\"none\" stroke-width=\"{stroke}\" stroke-linecap=\"round\" stroke-linejoin=\"round\">"
    );
    let mut ids = BTreeSet::new();
    for group in &drawing.groups {
        add_group(&mut text, group, drawing.stroke_width, &mut ids);
    }
    text.push_str("</g>\n</svg>\n");
    text
}

/// Appends the lines of an object.
fn add_group(text: &mut String, group: &Group, stroke_width: f64, ids: &mut BTreeSet<String>) {
    let [r, g, b] = group.color;
    let id = id(group, ids);
    let _ = writeln!(text, "<g id=\"{id}\" stroke=\"#{r:02x}{g:02x}{b:02x}\">");
    if let Some(name) = &group.name {
        let _ = writeln!(text, "<title>{}</title>", escaped(name));
    }
    if !group.hidden.is_empty() {
        let [dash, gap] = DASHES.map(|part| Number(part * stroke_width));
        let width = Number(DASHED_WIDTH * stroke_width);
        let _ = write!(text, "<path stroke-width=\"{width}\" stroke-dasharray=\"{dash} {gap}\" d=\"");
        add_lines(text, &group.hidden);
    }
    if !group.visible.is_empty() {
        text.push_str("<path d=\"");
        add_lines(text, &group.visible);
    }
    text.push_str("</g>\n");
}

/// Appends lines as the data of a path.
fn add_lines(text: &mut String, lines: &[Vec<DVec2>]) {
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        for (k, point) in line.iter().enumerate() {
            let command = if k == 0 { 'M' } else { 'L' };
            let _ = write!(text, "{command}{} {}", Number(point.x), Number(point.y));
        }
    }
    text.push_str("\"/>\n");
}

/// An identifier for an object: its name, as far as that is one, and different from all others.
fn id(group: &Group, ids: &mut BTreeSet<String>) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = group.name.as_deref().unwrap_or("");
    let mut id: String = name.chars().map(|c| if is_part(c) { c } else { '-' }).collect();
    if !id.starts_with(|c: char| c.is_ascii_alphabetic()) {
        id = format!("object-{}", group.object);
    }
    while !ids.insert(id.clone()) {
        id = format!("{id}-{}", group.object);
    }
    id
}

/// A coordinate with two decimals at most.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Adding 0 makes a positive zero of a negative one.
        write!(f, "{}", (self.0 * 100.0).round() / 100.0 + 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing() -> Drawing {
        let line = |points: &[[f64; 2]]| points.iter().map(|&p| p.into()).collect();
        let group = |object: u32, name: Option<&str>| Group {
            object,
            name: name.map(String::from),
            color: [0, 128, 255],
            visible: vec![line(&[[0.0, 1.0], [2.126, 3.0], [4.0, -0.001]]), line(&[[5.0, 5.0], [6.0, 6.0]])],
            hidden: if object == 1 { vec![line(&[[7.0, 7.0], [8.0, 8.0]])] } else { vec![] },
        };
        let groups = vec![group(0, None), group(1, Some("a <cube>")), group(2, Some("a <cube>"))];
        Drawing { size: [20, 10], groups, stroke_width: 1.5, background: Background::White }
    }

    #[test]
    fn an_image_has_a_group_for_each_object() {
        let expected = "\
<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\" viewBox=\"0 0 20 10\" role=\"img\">
<title>two &amp; more</title>
<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>
<g fill=\"none\" stroke-width=\"1.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\">
<g id=\"object-0\" stroke=\"#0080ff\">
<path d=\"M0 1L2.13 3L4 0
M5 5L6 6\"/>
</g>
<g id=\"a--cube-\" stroke=\"#0080ff\">
<title>a &lt;cube&gt;</title>
<path stroke-width=\"0.9\" stroke-dasharray=\"4.5 4.5\" d=\"M7 7L8 8\"/>
<path d=\"M0 1L2.13 3L4 0
M5 5L6 6\"/>
</g>
<g id=\"a--cube--2\" stroke=\"#0080ff\">
<title>a &lt;cube&gt;</title>
<path d=\"M0 1L2.13 3L4 0
M5 5L6 6\"/>
</g>
</g>
</svg>
";
        assert_eq!(svg(&drawing(), "two & more"), expected);
    }

    #[test]
    fn a_transparent_image_has_no_background() {
        let drawing = Drawing { background: Background::None, ..drawing() };
        assert!(!svg(&drawing, "").contains("<rect"));
    }
}
