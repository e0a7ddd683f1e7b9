//! The nodes as squares, colored by how busy they are, and the messages on the links between them.

use super::legend::{color, counts};
use crate::array::{ArrayRun, ArrayState, MessageLocation};
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, lerp, vec2};
use shadewright_machines::array::mapping::{Direction, Layout};
use shadewright_machines::array::message::MessageKind;
use shadewright_machines::rays::events::Picoseconds;

/// Part of the distance between two nodes that the square of a node takes.
const SQUARE: f32 = 0.56;

/// Distance in points between two nodes from which numbers stand in them.
const READABLE: f32 = 24.0;

/// The recent time is this part of all.
const RECENT: u64 = 50;

/// The color of a node that is always busy.
const BUSY: Color32 = Color32::from_rgb(0xd5, 0x4e, 0x1a);

/// Over which time it is shown how busy nodes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heat {
    /// The last [`RECENT`]th of the whole.
    #[default]
    Recent,
    /// From the start.
    SoFar,
}

/// The choice of the time.
pub fn heat(ui: &mut Ui, heat: &mut Heat) {
    ui.horizontal(|ui| {
        ui.label("Busy");
        ui.selectable_value(heat, Heat::Recent, "now").on_hover_text("In the last fiftieth of the whole time");
        ui.selectable_value(heat, Heat::SoFar, "so far").on_hover_text("Since the start");
    });
}

/// Shows the nodes in a square of so many points, and the numbers of the one under the pointer.
pub fn show(ui: &mut Ui, side: f32, run: &ArrayRun, state: &ArrayState, time: Picoseconds, heat: Heat) {
    let layout = run.playback.layout();
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    let mesh = Mesh::new(rect, layout);
    let painter = ui.painter_at(rect);
    let visuals = ui.visuals();
    mesh.links(&painter, Stroke::new(1.0, visuals.weak_text_color()));
    let recent = time.saturating_sub(run.playback.end() / RECENT);
    let since = if heat == Heat::Recent { recent } else { 0 };
    let waiting = state.waiting();
    for node in 0..layout.nodes() as u16 {
        let share = run.playback.busy().share(node, since, time);
        let fill = mix(visuals.extreme_bg_color, BUSY, share);
        let square = mesh.square(node);
        painter.rect(square, 2.0, fill, Stroke::new(1.0, visuals.text_color()), StrokeKind::Inside);
        let count: u32 = waiting[usize::from(node)].iter().sum();
        if count > 0 && mesh.distance >= READABLE {
            let font = FontId::proportional((0.3 * mesh.distance).min(14.0));
            painter.text(square.center(), Align2::CENTER_CENTER, count, font, visuals.strong_text_color());
        }
    }
    let radius = (0.07 * mesh.distance).clamp(1.5, 5.0);
    for message in &state.messages {
        if let MessageLocation::Link { from, direction, done } = message.place {
            painter.circle_filled(mesh.on_link(from, direction, done), radius, color(ui, message.kind));
        }
    }
    let pointed = response.hover_pos().and_then(|at| mesh.node_at(at));
    if let Some(node) = pointed {
        response.on_hover_ui_at_pointer(|ui| numbers(ui, run, state, &waiting[usize::from(node)], node, time));
    }
}

/// The numbers of a node: at this time, and of the whole simulation.
pub fn numbers(
    ui: &mut Ui,
    run: &ArrayRun,
    state: &ArrayState,
    waiting: &[u32; MessageKind::ALL.len()],
    node: u16,
    time: Picoseconds,
) {
    let playback = &run.playback;
    let [column, row] = playback.layout().position(node);
    let (now, all) = (state.nodes[usize::from(node)], &run.statistics.nodes[usize::from(node)]);
    let percent = |share: f32| format!("{:.0} %", 100.0 * share);
    let recent = time.saturating_sub(playback.end() / RECENT);
    ui.strong(format!("Node {column}, {row}"));
    egui::Grid::new("node").num_columns(3).striped(true).show(ui, |ui| {
        let mut line = |what: &str, now: String, all: String| {
            ui.label(what);
            ui.monospace(now);
            ui.monospace(all);
            ui.end_row();
        };
        line("", "so far".into(), "in all".into());
        let busy = playback.busy();
        line("intersection unit busy, recently", percent(busy.share(node, recent, time)), String::new());
        line("intersection unit busy", percent(busy.share(node, 0, time)), {
            let [both, unit] = [all.time.both, all.time.unit];
            percent(((both + unit) / run.statistics.total.max(f64::MIN_POSITIVE)) as f32)
        });
        line("processor or unit busy", String::new(), percent(all.time.busy() as f32));
        line("rays emitted", now.emitted.to_string(), String::new());
        line("visits of rays", now.tested.to_string(), all.rays.to_string());
        line("polygons tested", String::new(), all.tests.to_string());
        line("hits", now.hits.to_string(), all.hits.to_string());
        line("results added", now.shown.to_string(), String::new());
        line("messages sent", now.left.to_string(), String::new());
        line("messages received", now.arrived.to_string(), String::new());
        let peak = format!("at most {} of {} buffers", all.buffers_peak, run.statistics.buffers);
        line("messages here", waiting.iter().sum::<u32>().to_string(), peak);
    });
    let here = counts(waiting);
    if !here.is_empty() {
        ui.label(here);
    }
}

/// A color between two.
fn mix(from: Color32, to: Color32, share: f32) -> Color32 {
    let share = share.clamp(0.0, 1.0);
    let channel = |a: u8, b: u8| lerp(f32::from(a)..=f32::from(b), share) as u8;
    Color32::from_rgb(channel(from.r(), to.r()), channel(from.g(), to.g()), channel(from.b(), to.b()))
}

/// Where the nodes are on the screen.
pub struct Mesh<'a> {
    layout: &'a Layout,
    /// The upper left corner of the first node's place.
    start: Pos2,
    /// Between two nodes, in points.
    distance: f32,
}

impl<'a> Mesh<'a> {
    /// The nodes in a part of the screen.
    pub fn new(rect: Rect, layout: &'a Layout) -> Self {
        let [columns, rows] = layout.sides.map(|side| f32::from(side.max(1)));
        let distance = (rect.width() / columns).min(rect.height() / rows);
        Self { layout, start: rect.min, distance }
    }

    fn center(&self, node: u16) -> Pos2 {
        let [column, row] = self.layout.position(node).map(|place| f32::from(place) + 0.5);
        self.start + vec2(column, row) * self.distance
    }

    fn square(&self, node: u16) -> Rect {
        Rect::from_center_size(self.center(node), Vec2::splat(SQUARE * self.distance))
    }

    /// The node whose place a point is in.
    pub fn node_at(&self, at: Pos2) -> Option<u16> {
        let [columns, rows] = self.layout.sides;
        let place = (at - self.start) / self.distance;
        let inside = place.x >= 0.0 && place.y >= 0.0 && place.x < f32::from(columns) && place.y < f32::from(rows);
        inside.then(|| self.layout.at([place.x as u16, place.y as u16]))
    }

    /// The point at a part of a link. The two directions run beside each other, and a link between
    /// opposite edges leaves the array at one and enters it at the other.
    pub fn on_link(&self, from: u16, direction: Direction, done: f32) -> Pos2 {
        let way = way(direction);
        let beside = vec2(-way.y, way.x) * (0.1 * self.distance);
        let start = self.center(from);
        let wraps = |to: u16| (self.center(to) - start - way * self.distance).length() > 0.5 * self.distance;
        let point = match self.layout.neighbor(from, direction) {
            Some(to) if wraps(to) && done > 0.5 => self.center(to) - way * ((1.0 - done) * self.distance),
            _ => start + way * (done * self.distance),
        };
        point + beside
    }

    /// Draws the links, each half from its own end: those between edges end there.
    fn links(&self, painter: &Painter, stroke: Stroke) {
        for node in 0..self.layout.nodes() as u16 {
            for direction in Direction::ALL {
                if self.layout.neighbor(node, direction).is_some() {
                    let start = self.center(node);
                    painter.line_segment([start, start + way(direction) * (0.5 * self.distance)], stroke);
                }
            }
        }
    }
}

/// A step in a direction.
fn way(direction: Direction) -> Vec2 {
    match direction {
        Direction::East => vec2(1.0, 0.0),
        Direction::West => vec2(-1.0, 0.0),
        Direction::South => vec2(0.0, 1.0),
        Direction::North => vec2(0.0, -1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;
    use shadewright_machines::array::mapping::Mapping;

    const PLACE: Rect = Rect { min: pos2(10.0, 20.0), max: pos2(410.0, 420.0) };

    #[test]
    fn the_node_under_the_pointer_is_the_one_that_is_drawn_there() {
        let layout = Layout { mapping: Mapping::Plain, sides: [4, 4], cells: [4; 3] };
        let mesh = Mesh::new(PLACE, &layout);
        for node in 0..16 {
            assert_eq!(mesh.node_at(mesh.center(node)), Some(node));
        }
        assert_eq!([pos2(9.0, 30.0), pos2(30.0, 421.0)].map(|at| mesh.node_at(at)), [None; 2]);
    }

    #[test]
    fn a_message_on_a_link_between_edges_leaves_at_one_and_comes_in_at_the_other() {
        let layout = Layout { mapping: Mapping::Torus, sides: [4, 4], cells: [4; 3] };
        let mesh = Mesh::new(PLACE, &layout);
        let right = [0.0, 0.4, 0.6, 1.0].map(|done| mesh.on_link(3, Direction::East, done).x);
        let close = |found: &[f32], expected: &[f32]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(close(&right, &[360.0, 400.0, 20.0, 60.0]), "{right:?}");
        let down = [0.0, 0.5, 1.0].map(|done| mesh.on_link(0, Direction::South, done).y);
        assert!(close(&down, &[70.0, 120.0, 170.0]), "{down:?}");
    }
}
