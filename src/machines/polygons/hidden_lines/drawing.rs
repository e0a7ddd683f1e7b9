//! The drawing: what the display draws of the lines that come out of the pipeline.

use super::config::{Background, Color, Config, Hidden, Style};
use super::host::Host;
use super::join::join;
use super::visibility::{Part, visible};
use crate::polygons::model::{Model, Polygon};
use glam::{DVec2, DVec3, Vec3};
use shadewright_image::color::encode_srgb8;
use std::collections::BTreeMap;

/// A line drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Columns and rows of the image.
    pub size: [u32; 2],
    /// The lines of each object, in the order of the objects; objects without lines are not there.
    pub groups: Vec<Group>,
    /// Width of lines, in pixels.
    pub stroke_width: f64,
    /// The background behind the lines.
    pub background: Background,
}

/// The lines of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The object's index in the scene.
    pub object: u32,
    /// The name of the object, where it has one.
    pub name: Option<String>,
    /// The color of its lines, as sRGB codes.
    pub color: [u8; 3],
    /// Lines that are visible, each through points in pixels, from the left and from the top.
    pub visible: Vec<Vec<DVec2>>,
    /// Lines that are hidden, where those are drawn.
    pub hidden: Vec<Vec<DVec2>>,
}

/// Counts of what was drawn and what was not, in parts of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Visible parts.
    pub visible: usize,
    /// Hidden ones.
    pub hidden: usize,
    /// Parts that are too short to be drawn.
    pub short: usize,
    /// Lines of which all is hidden.
    pub hidden_lines: usize,
    /// Polylines that the parts make.
    pub polylines: usize,
}

/// The drawing of a scene whose lines have these hidden parts. `names` are those of the objects.
pub fn draw(
    host: &Host,
    hidden: &[Vec<Part>],
    model: &Model,
    names: &[Option<String>],
    config: &Config,
) -> (Drawing, Parts) {
    let mut parts = Parts::default();
    let size = model.view.size;
    let extent = DVec2::from(size.map(f64::from));
    let pixels = |place: DVec3| {
        let [x, y] = host.space.on_screen(place);
        DVec2::new(x + 1.0, 1.0 - y) * 0.5 * extent
    };
    let colors = colors(model, config.drawing.color);
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for ((line, segment), hidden) in host.lines.iter().zip(&host.segments).zip(hidden) {
        let [from, to] = [segment.from, segment.to].map(pixels);
        let piece = |[begin, end]: Part| vec![from.lerp(to, begin), from.lerp(to, end)];
        let is_long = |piece: &Vec<DVec2>| piece[0].distance(piece[1]) >= config.drawing.shortest.max(1e-6);
        let seen: Vec<Part> = visible(hidden).collect();
        let group = groups.entry(line.object).or_insert_with(|| {
            let name = names.get(line.object as usize).cloned().flatten();
            let color = colors.get(&line.object).copied().unwrap_or_default();
            Group { object: line.object, name, color, visible: vec![], hidden: vec![] }
        });
        let before = group.visible.len();
        group.visible.extend(seen.iter().copied().map(piece).filter(is_long));
        let drawn = group.visible.len() - before;
        parts.visible += drawn;
        parts.short += seen.len() - drawn;
        parts.hidden_lines += usize::from(seen.is_empty());
        parts.hidden += hidden.len();
        if config.drawing.hidden == Hidden::Dashed {
            group.hidden.extend(hidden.iter().copied().map(piece).filter(is_long));
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    for group in &mut groups {
        for lines in [&mut group.visible, &mut group.hidden] {
            *lines = join(std::mem::take(lines));
            parts.polylines += lines.len();
        }
    }
    groups.retain(|group| !(group.visible.is_empty() && group.hidden.is_empty()));
    let Style { stroke_width, background, .. } = config.drawing;
    (Drawing { size, groups, stroke_width, background }, parts)
}

/// The colors of the objects' lines, where they are not black.
fn colors(model: &Model, color: Color) -> BTreeMap<u32, [u8; 3]> {
    let mut sums: BTreeMap<u32, (Vec3, f32)> = BTreeMap::new();
    let colored: &[Polygon] = if color == Color::Object { &model.polygons } else { &[] };
    for polygon in colored {
        let (sum, count) = sums.entry(polygon.object).or_default();
        *sum += polygon.colors.iter().sum::<Vec3>() / 4.0;
        *count += 1.0;
    }
    let mean = |(sum, count): (Vec3, f32)| (sum / count).to_array().map(encode_srgb8);
    sums.into_iter().map(|(object, sum)| (object, mean(sum))).collect()
}
