//! Tests of layouts: the geometry is the netlist, and keeps the design rules.

use super::check::{check, extract};
use super::geometry::{Layer, Rect, Wire};
use super::{Layout, LayoutOptions, cif, place_and_route, svg};
use crate::circuit::graph::tests::running_sum;
use crate::circuit::serial::{Netlist, build};

fn example() -> (Netlist, Layout) {
    let netlist = build(&running_sum()).expect("built");
    let layout = place_and_route(&netlist, LayoutOptions::default()).expect("routed");
    (netlist, layout)
}

#[test]
fn the_geometry_connects_what_the_netlist_does() {
    let (netlist, layout) = example();
    assert_eq!(check(&layout, &netlist), Ok(()));
}

#[test]
fn a_wire_that_is_cut_or_too_near_is_found() {
    let (netlist, layout) = example();
    let signal = |rect: &Rect| matches!(rect.wire, Wire::Data(_)) && rect.layer == Layer::Poly;
    let at = layout.rects.iter().position(signal).expect("a wire");
    let mut open = layout.clone();
    open.rects.remove(at);
    assert!(check(&open, &netlist).is_err());
    let mut near = layout.clone();
    let [left, bottom, right, top] = layout.rects[at].edges;
    let wire = layout.rects[at].wire;
    near.rects.push(Rect::new(Layer::Poly, wire, [right + 2, right + 4], [bottom, top]));
    let errors = check(&near, &netlist).expect_err("too near");
    assert!(errors.iter().any(|error| error.ends_with("1 λ apart")), "{errors:?}");
    let mut short = layout;
    short.rects.push(Rect::new(Layer::Metal, Wire::Power, [left - 300, right + 300], [bottom, top + 60]));
    assert!(check(&short, &netlist).is_err());
}

/// The rectangles of the boxes of a CIF text, in λ.
fn boxes(text: &str) -> Vec<Rect> {
    let mut layer = None;
    let mut rects = Vec::new();
    for command in text.split(';') {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["L", name] => {
                layer = [Layer::Metal, Layer::Poly, Layer::Cut].into_iter().find(|layer| layer.cif() == name)
            }
            ["B", length, width, x, y] => {
                let [length, width, x, y] = [length, width, x, y].map(|n| n.parse::<i64>().expect("a number"));
                let edges = [[x - length / 2, x + length / 2], [y - width / 2, y + width / 2]];
                let [x, y] = edges.map(|ends| ends.map(|end| end / 2));
                rects.push(Rect::new(layer.expect("a layer"), Wire::Power, x, y));
            }
            _ => {}
        }
    }
    rects
}

#[test]
fn cif_has_the_same_geometry() {
    let (netlist, layout) = example();
    let text = cif(&layout);
    assert!(text.ends_with("DF;\nC 1;\nE\n"));
    let mut read = boxes(&text);
    let key = |rect: &Rect| (rect.layer, rect.edges);
    let mut drawn = layout.rects.clone();
    read.sort_by_key(key);
    drawn.sort_by_key(key);
    assert!(read.iter().map(key).eq(drawn.iter().map(key)));
    // What the text connects is the netlist too.
    let read = Layout { rects: boxes(&text), ..layout };
    let sets = extract(&read.rects);
    let wires = read.boxes.iter().flat_map(|cell| &cell.pins).map(|pin| pin.wire);
    let wires: std::collections::BTreeSet<Wire> = wires.collect();
    let connected: std::collections::BTreeSet<usize> = sets.into_iter().collect();
    // All wires, two supplies and two clocks.
    assert_eq!(connected.len(), wires.len() + 4);
    assert_eq!(netlist.cells.len(), read.boxes.len());
}

#[test]
fn an_image_names_the_cells() {
    let (_, layout) = example();
    let text = svg(&layout);
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    for name in [">add<", ">hold<", ">sum<", ">port<"] {
        assert!(text.contains(name), "{name}");
    }
}
