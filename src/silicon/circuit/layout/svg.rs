//! Layouts as images: a self-contained SVG in the colors of Mead and Conway, metal blue and
//! polysilicon red, with the names of the cells.

use super::geometry::{CellBox, Layer, Layout, Rect, Wire};
use std::fmt::Write;

/// λ of the margin around the chip.
const MARGIN: i64 = 40;
/// λ of the legend at the bottom.
const LEGEND: i64 = 70;

/// The layout as an image. A λ is one unit.
pub fn svg(layout: &Layout) -> String {
    let [width, height] = layout.size;
    let (all_width, all_height) = (width + 2 * MARGIN, height + 2 * MARGIN + LEGEND);
    // Small chips are enlarged to what a page shows.
    let scale = (1400.0 / all_width as f64).clamp(0.05, 2.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {all_width} {all_height}\" width=\"{:.0}\" \
         height=\"{:.0}\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>Layout of a bit-serial \
         implementation</title>\n<rect width=\"{all_width}\" height=\"{all_height}\" fill=\"#fff\"/>\n",
        all_width as f64 * scale,
        all_height as f64 * scale
    );
    let supply = |rect: &Rect| matches!(rect.wire, Wire::Power | Wire::Ground | Wire::Clock(_));
    let mut layer = |style: &str, keep: &dyn Fn(&Rect) -> bool| {
        let _ = write!(text, "<path {style} d=\"");
        for rect in layout.rects.iter().filter(|rect| keep(rect)) {
            let [left, bottom, right, top] = rect.edges;
            let (x, y) = (left + MARGIN, height - top + MARGIN);
            let _ = write!(text, "M{x} {y}h{}v{}h{}z", right - left, top - bottom, left - right);
        }
        text.push_str("\"/>\n");
    };
    layer("fill=\"#c3d3ee\"", &|rect| rect.layer == Layer::Metal && supply(rect));
    layer("fill=\"#f0b3a8\"", &|rect| rect.layer == Layer::Poly && supply(rect));
    let mut boxes = String::new();
    for cell in &layout.boxes {
        cell_box(&mut boxes, cell, height);
    }
    layer("fill=\"#d8392b\"", &|rect| rect.layer == Layer::Poly && !supply(rect));
    layer("fill=\"#2f62c9\" fill-opacity=\"0.85\"", &|rect| rect.layer == Layer::Metal && !supply(rect));
    layer("fill=\"#111\"", &|rect| rect.layer == Layer::Cut);
    text.push_str(&boxes);
    legend(&mut text, layout, all_height);
    text.push_str("</svg>\n");
    text
}

/// Text for XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn cell_box(text: &mut String, cell: &CellBox, height: i64) {
    let [left, bottom, right, top] = cell.edges;
    let (x, y) = (left + MARGIN, height - top + MARGIN);
    let (width, tall) = (right - left, top - bottom);
    let name = cell.name.as_deref().map(escape);
    let title = name.as_ref().map_or(format!("{} {}", cell.kind, cell.cell), |name| format!("{} {name}", cell.kind));
    let _ = writeln!(
        text,
        "<g><title>{title}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{tall}\" fill=\"#f5e9c8\" \
         fill-opacity=\"0.8\" stroke=\"#6b5a2a\" stroke-width=\"1.5\"/>"
    );
    let lines: Vec<&str> = [Some(cell.kind), name.as_deref()].into_iter().flatten().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(1);
    let size = (width as f64 * 1.5 / longest as f64).min(tall as f64 / (lines.len() as f64 + 0.8)).clamp(3.0, 26.0);
    let middle = y as f64 + tall as f64 / 2.0 - size * 1.1 * (lines.len() as f64 - 1.0) / 2.0 + size * 0.35;
    for (index, line) in lines.into_iter().enumerate() {
        let (weight, style) = if index == 0 { ("bold", "normal") } else { ("normal", "italic") };
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{:.1}\" font-size=\"{size:.1}\" text-anchor=\"middle\" font-weight=\"{weight}\" \
             font-style=\"{style}\">{line}</text>",
            x + width / 2,
            middle + index as f64 * size * 1.1
        );
    }
    text.push_str("</g>\n");
}

fn legend(text: &mut String, layout: &Layout, all_height: i64) {
    let [width, height] = layout.size;
    let size = (width / 60).clamp(14, 60);
    let y = all_height - LEGEND / 2;
    let mut x = MARGIN;
    for (color, name) in [
        ("#2f62c9", "metal"),
        ("#d8392b", "polysilicon"),
        ("#111", "contact"),
        ("#c3d3ee", "supply and clocks"),
        ("#f5e9c8", "cell"),
    ] {
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{}\" width=\"{size}\" height=\"{}\" fill=\"{color}\" stroke=\"#555\"/><text x=\"{}\" \
             y=\"{y}\" font-size=\"{size}\">{name}</text>",
            y - size * 3 / 4,
            size * 3 / 4,
            x + size * 3 / 2
        );
        x += size * (name.len() as i64 * 6 / 10 + 3);
    }
    let _ = writeln!(text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\">{width} λ × {height} λ</text>");
}
