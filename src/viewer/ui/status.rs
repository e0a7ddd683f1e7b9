//! The status line: progress of the back ends, the pixel under the pointer, the last message.

use crate::model::{BackendState, Model};
use egui::{Align, Layout, RichText};
use shadewright_render::Backend;

/// The pixel under the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointed {
    /// Column and row.
    pub pixel: [u32; 2],
    /// The pixel's linear value on the back ends that are looked at, in the order of
    /// [`Backend::INTERACTIVE`].
    pub values: [Option<[f32; 4]>; Backend::INTERACTIVE.len()],
    /// The pixel's FLIP error, where the back ends' images are compared.
    pub flip: Option<f32>,
}

impl Pointed {
    /// In words: of one back end with alpha, of several with their names.
    fn describe(&self) -> String {
        let Pointed { pixel: [x, y], values, flip } = self;
        let mut text = format!("{x}, {y}");
        let known =
            Backend::INTERACTIVE.into_iter().zip(values).filter_map(|(backend, value)| Some((backend, (*value)?)));
        match known.collect::<Vec<_>>().as_slice() {
            [(_, [r, g, b, a])] => text += &format!("   {r:.4} {g:.4} {b:.4}  α {a:.2}"),
            several => {
                for (backend, [r, g, b, _]) in several {
                    text += &format!("   {} {r:.4} {g:.4} {b:.4}", backend.title());
                }
            }
        }
        if let Some(flip) = flip {
            text += &format!("   FLIP {flip:.4}");
        }
        text
    }
}

/// Shows it.
pub fn show(ui: &mut egui::Ui, model: &Model, pointed: Option<Pointed>) {
    ui.horizontal(|ui| {
        if let Some(busy) = &model.busy {
            ui.spinner();
            ui.label(busy);
        }
        for backend in Backend::INTERACTIVE {
            let text = describe(backend, model.backend(backend));
            ui.label(text).on_hover_text(explain(backend, model.backend(backend)));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(pointed) = pointed {
                let text = pointed.describe();
                let label = egui::Label::new(RichText::new(&text).monospace()).truncate();
                ui.add(label).on_hover_text(text);
            } else if let Some(notice) = model.notices.last() {
                let text = RichText::new(&notice.text);
                let text = if notice.is_error { text.color(super::error_color(ui)) } else { text.weak() };
                ui.add(egui::Label::new(text).truncate()).on_hover_text(&notice.text);
            }
        });
    });
}

/// How far a back end is, in a few words; nothing of one that has drawn nothing.
fn describe(backend: Backend, is: &BackendState) -> String {
    let name = backend.title();
    match (&is.failure, is.preparing, &is.shown) {
        (Some(_), ..) => format!("{name}: failed"),
        (None, true, _) => match is.kernels {
            [_, 0] => format!("{name}: compiling…"),
            [done, of] => format!("{name}: compiling {done}/{of} kernels"),
        },
        (None, false, None) => String::new(),
        (None, false, Some(shown)) => {
            let [width, height] = [shown.view.format.width, shown.view.format.height];
            let progress = if shown.step > 1 {
                format!("1/{}", shown.step)
            } else {
                format!("{}/{} spp", shown.samples, shown.wanted)
            };
            let specialized = if shown.specialized { ", specialized" } else { "" };
            format!("{name}: {width}×{height}, {progress}{specialized}")
        }
    }
}

fn explain(backend: Backend, is: &BackendState) -> String {
    match (&is.failure, &is.shown) {
        (Some(failure), _) => failure.clone(),
        (None, Some(shown)) => {
            let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1e3;
            format!(
                "{}\nlast pass {:.1} ms, {:.0} ms after the change",
                shown.described,
                milliseconds(shown.pass),
                milliseconds(shown.since_change)
            )
        }
        (None, None) => format!("the {} has rendered nothing yet", backend.title()),
    }
}
