//! The meaning of the colors, and how many messages of each kind there are.

use crate::array::{ArrayRun, ArrayState};
use egui::{Color32, Grid, RichText, ScrollArea, Ui};
use shadewright_machines::array::message::MessageKind;
use shadewright_machines::array::statistics::Ending;

/// The kinds, in words.
fn name(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::New => "new",
        MessageKind::Vision => "vision",
        MessageKind::Shadow => "shadow",
        MessageKind::Result => "result",
        MessageKind::MapRequest => "map request",
        MessageKind::MapReply => "map reply",
        MessageKind::Copy => "copy",
    }
}

/// The color of a kind of message: those of Okabe and Ito (2008), which the color-blind can tell
/// apart, and black or white.
pub fn color(ui: &Ui, kind: MessageKind) -> Color32 {
    match kind {
        MessageKind::New => ui.visuals().strong_text_color(),
        MessageKind::Vision => Color32::from_rgb(0x56, 0xb4, 0xe9),
        MessageKind::Shadow => Color32::from_rgb(0xe6, 0x9f, 0x00),
        MessageKind::Result => Color32::from_rgb(0x00, 0x9e, 0x73),
        MessageKind::MapRequest => Color32::from_rgb(0xcc, 0x79, 0xa7),
        MessageKind::MapReply => Color32::from_rgb(0x00, 0x72, 0xb2),
        MessageKind::Copy => Color32::from_rgb(0xf0, 0xe4, 0x42),
    }
}

/// Counts of kinds, in words; empty where there are none.
pub fn counts(counts: &[u32; MessageKind::ALL.len()]) -> String {
    let parts = MessageKind::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0);
    parts.map(|(kind, count)| format!("{count} {}", name(kind))).collect::<Vec<_>>().join(", ")
}

/// Shows the kinds that the simulation has.
pub fn show(ui: &mut Ui, run: &ArrayRun, state: &ArrayState) {
    let (links, nodes) = (state.on_links(), state.waiting());
    ScrollArea::vertical().show(ui, |ui| {
        Grid::new("kinds").num_columns(3).striped(true).show(ui, |ui| {
            ui.label("");
            ui.weak("on links");
            ui.weak("in nodes");
            ui.end_row();
            for kind in MessageKind::ALL {
                let is_usual = !matches!(kind, MessageKind::MapRequest | MessageKind::MapReply | MessageKind::Copy);
                if !is_usual && run.statistics.kind(kind).made == 0 {
                    continue;
                }
                ui.horizontal(|ui| {
                    ui.label(RichText::new("●").monospace().color(color(ui, kind)));
                    ui.label(name(kind));
                });
                ui.monospace(links[kind as usize].to_string());
                ui.monospace(nodes.iter().map(|node| node[kind as usize]).sum::<u32>().to_string());
                ui.end_row();
            }
        });
        let statistics = &run.statistics;
        ui.label(format!("{} rays in {:.0} µs", statistics.rays, statistics.total));
        ui.label(format!("nodes busy {:.0} % of it on average", 100.0 * statistics.busy()));
        ui.label(match statistics.ending {
            Ending::Announced => format!("the end was announced after {} rounds", statistics.rounds),
            Ending::Deadlock => "the nodes wait for each other's buffers".to_string(),
            Ending::Unnoticed => "the end was not noticed".to_string(),
        });
    });
}
