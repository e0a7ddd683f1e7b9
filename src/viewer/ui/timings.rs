//! Where the time goes: the latest passes and frames as a plot, the parts of the last pass and of
//! the last reading of the scene as tables.

use crate::model::Model;
use crate::timing::History;
use egui::{Grid, ScrollArea, Ui};
use egui_plot::{Corner, Legend, Line, Plot, PlotPoints};
use shadewright_render::Backend;
use shadewright_render::report::KernelTimes;
use std::time::Duration;

/// The panel.
#[derive(Default)]
pub struct TimingsPanel;

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl TimingsPanel {
    /// Shows it.
    pub fn show(&mut self, ui: &mut Ui, model: &Model) {
        ui.add_space(4.0);
        ui.horizontal_top(|ui| {
            let width = (ui.available_width() * 0.4).clamp(120.0, 420.0);
            plot(ui, model, width);
            ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    reading(ui, model);
                    Backend::INTERACTIVE.into_iter().for_each(|backend| pass(ui, model, backend));
                });
            });
        });
    }
}

/// The latest times, the newest at the right.
fn plot(ui: &mut Ui, model: &Model, width: f32) {
    let line = |name: &'static str, history: &History| {
        let start = history.len() as f64;
        let points: PlotPoints<'_> =
            history.iter().enumerate().map(|(i, time)| [i as f64 - start, milliseconds(time)]).collect();
        Line::new(name, points)
    };
    Plot::new("times")
        .width(width)
        .height((ui.available_height() - 4.0).max(60.0))
        .legend(Legend::default().position(Corner::LeftTop))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .show_x(false)
        .include_y(0.0)
        .y_axis_label("ms")
        .show(ui, |plot| {
            plot.line(line("interface", &model.frames));
            for backend in Backend::INTERACTIVE {
                plot.line(line(backend.label(), &model.backend(backend).passes));
            }
        });
}

/// A table of names and milliseconds.
fn table(ui: &mut Ui, name: &str, rows: impl Iterator<Item = (String, f64)>) {
    ui.vertical(|ui| {
        ui.strong(name);
        Grid::new(name.to_string()).num_columns(2).striped(true).show(ui, |ui| {
            for (what, time) in rows {
                ui.label(what);
                ui.monospace(format!("{time:8.2} ms"));
                ui.end_row();
            }
        });
    });
}

/// The last reading of the scene.
fn reading(ui: &mut Ui, model: &Model) {
    let Some(state) = &model.state else { return };
    let times = state.times;
    let parts = [
        ("read the scene", times.open),
        ("displace", times.displace),
        ("compile and link", times.link),
        ("build the BVH", times.tree),
    ];
    let specialized = model.specialized_in.map(|time| ("specialize, in the background", time));
    let frames = [
        ("interface frame, median", model.frames.quantile(0.5)),
        ("interface frame, 99 %", model.frames.quantile(0.99)),
    ];
    ui.vertical(|ui| {
        table(
            ui,
            "Scene",
            parts
                .into_iter()
                .chain(specialized)
                .chain(frames)
                .map(|(what, time)| (what.to_string(), milliseconds(time))),
        );
        ui.label(format!("uniform code: {}", state.program.uniform));
    });
}

/// The parts of a back end's last pass, and its kernels where they are timed.
fn pass(ui: &mut Ui, model: &Model, backend: Backend) {
    let is = model.backend(backend);
    let Some(shown) = &is.shown else { return };
    let latest =
        [("last pass", shown.pass), ("since the change", shown.since_change), ("median pass", is.passes.quantile(0.5))];
    let latest = latest.into_iter().map(|(what, time)| (what.to_string(), milliseconds(time)));
    let phases = shown.report.phases.iter().map(|phase| (phase.name.to_string(), milliseconds(phase.time)));
    table(ui, backend.label(), latest.chain(phases));
    if let KernelTimes::Measured { kernels, .. } = &shown.report.kernels {
        let rows = kernels.iter().map(|kernel| (kernel.name.clone(), milliseconds(kernel.time)));
        table(ui, "GPU kernels", rows);
    }
}
