//! Values as people read them: numbers in columns, colors with a swatch.

use egui::{Color32, Grid, RichText, Sense, Stroke, StrokeKind, Ui, Vec2};
use shadewright_image::color::encode_srgb8;
use shadewright_lang::types::SourceType;
use shadewright_project::probe::value::number;
use shadewright_project::probe::{Named, Value};

/// Width of a column of names, so that tables below each other agree.
pub const NAMES: f32 = 72.0;

/// A small field of a linear color.
pub fn swatch(ui: &mut Ui, color: [f32; 3]) {
    let side = ui.text_style_height(&egui::TextStyle::Body) - 2.0;
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    let [r, g, b] = color.map(encode_srgb8);
    let line = Stroke::new(1.0, ui.visuals().widgets.noninteractive.bg_stroke.color);
    ui.painter().rect(rect, 2.0, Color32::from_rgb(r, g, b), line, StrokeKind::Inside);
}

/// Three numbers.
pub fn triple(v: [f32; 3]) -> String {
    v.map(number).join("  ")
}

/// A color: its swatch and its numbers.
pub fn color(ui: &mut Ui, value: [f32; 3]) {
    ui.horizontal(|ui| {
        swatch(ui, value);
        ui.monospace(triple(value));
    });
}

/// A value, strong where it is new.
pub fn show(ui: &mut Ui, ty: SourceType, value: &Value, is_new: bool) {
    let text = match value {
        Value::Triple(v) => triple(*v),
        Value::Matrix(m) => m
            .chunks(4)
            .map(|row| row.iter().map(|x| number(*x)).collect::<Vec<_>>().join("  "))
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    };
    let text = RichText::new(text).monospace();
    let text = if is_new { text.color(ui.visuals().strong_text_color()) } else { text };
    ui.horizontal(|ui| {
        if let (SourceType::Color, Value::Triple(v)) = (ty, value) {
            swatch(ui, *v);
        }
        ui.label(text);
    });
}

/// Names and values.
pub fn table(ui: &mut Ui, id: &str, list: &[Named]) {
    Grid::new(id).num_columns(2).min_col_width(NAMES).striped(true).show(ui, |ui| {
        for named in list {
            ui.label(&named.name).on_hover_text(named.ty.name());
            show(ui, named.ty, &named.value, false);
            ui.end_row();
        }
    });
}
