//! Layouts as Caltech Intermediate Form 2.0 (Sproull and Lyon, in Mead and Conway, §4.5).
//!
//! Symbol 1 is the chip. Each size of cell is a symbol of its own, with its outline on a layer of
//! its own, `XB`, that no process has: what is inside the cells is not drawn. Names are user
//! extension 9 for symbols and 94 for labels.

use super::geometry::{Layer, Layout, Wire};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Hundredths of a micrometer of half a λ: a λ of 2 µm.
const HALF_LAMBDA: i64 = 100;

/// The layout in CIF. Coordinates are in half λ, so that the middle of every box is a whole number.
pub fn cif(layout: &Layout) -> String {
    let mut text = String::from("(bit-serial implementation; lambda is 2 micrometers);\n");
    let mut symbols: BTreeMap<(&str, i64, i64), usize> = BTreeMap::new();
    for cell in &layout.boxes {
        let [left, bottom, right, top] = cell.edges;
        let next = symbols.len() + 2;
        symbols.entry((cell.kind, right - left, top - bottom)).or_insert(next);
    }
    for (&(kind, width, height), symbol) in &symbols {
        let (x, y) = (2 * width, 2 * height);
        let _ = writeln!(text, "DS {symbol} {HALF_LAMBDA} 1;\n9 {kind}_{width}_{height};");
        let _ = writeln!(text, "L XB;\nW 2 0 0 {x} 0 {x} {y} 0 {y} 0 0;\nDF;");
    }
    let _ = writeln!(text, "DS 1 {HALF_LAMBDA} 1;\n9 chip;");
    for layer in [Layer::Metal, Layer::Poly, Layer::Cut] {
        let _ = writeln!(text, "L {};", layer.cif());
        for rect in layout.rects.iter().filter(|rect| rect.layer == layer) {
            let [left, bottom, right, top] = rect.edges;
            let _ =
                writeln!(text, "B {} {} {} {};", 2 * (right - left), 2 * (top - bottom), left + right, bottom + top);
        }
    }
    for cell in &layout.boxes {
        let [left, bottom, right, top] = cell.edges;
        if let Some(symbol) = symbols.get(&(cell.kind, right - left, top - bottom)) {
            let _ = writeln!(text, "C {symbol} T {} {};", 2 * left, 2 * bottom);
        }
        for pin in &cell.pins {
            let name = match pin.wire {
                Wire::Data(net) => format!("n{net}_d"),
                Wire::Control(net) => format!("n{net}_c"),
                _ => continue,
            };
            let _ = writeln!(text, "94 {name} {} {} NM;", 2 * pin.at[0], 2 * pin.at[1]);
        }
    }
    text.push_str("DF;\nC 1;\nE\n");
    text
}
