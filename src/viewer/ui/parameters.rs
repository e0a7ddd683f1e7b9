//! The parameters of every shader and light, and the scene's options, with a widget for each by its
//! declared type.
//!
//! A change is an action at once; what was edited can be copied as RIB or reset. Names are those of
//! the source.

use crate::model::{Action, Model};
use egui::{CollapsingHeader, ComboBox, DragValue, Grid, Id, RichText, ScrollArea, Slider, TextEdit, Ui};
use glam::Vec3;
use shadewright_ir::abi::referred_parameter;
use shadewright_project::rib::{instance_rib, options_rib};
use shadewright_project::{Hint, Instance, OptionEdits, Parameter, Parameters};
use shadewright_scene::{ParamValue, ShaderRole};

/// The panel. It keeps what is being typed.
#[derive(Default)]
pub struct ParametersPanel {
    filter: String,
}

impl ParametersPanel {
    /// Shows it.
    pub fn show(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        ui.add_space(4.0);
        let Some(state) = &model.state else {
            ui.weak("The parameters of the scene's shaders appear here once it is loaded.");
            return;
        };
        ui.add(TextEdit::singleline(&mut self.filter).hint_text("filter by name").desired_width(f32::INFINITY));
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            options(ui, &state.parameters, actions);
            for kind in ShaderRole::ALL {
                let heading = match kind {
                    ShaderRole::Surface => "Surfaces",
                    ShaderRole::Displacement => "Displacements",
                    ShaderRole::Volume => "Volumes",
                    ShaderRole::Light => "Lights",
                    ShaderRole::Imager => "Imager",
                    ShaderRole::Camera => "Camera",
                    ShaderRole::Primitive => "Primitives",
                    ShaderRole::CoShader => "Co-shaders",
                };
                let wanted: Vec<&Instance> =
                    state.parameters.instances.iter().filter(|i| i.kind == kind && self.wants(i)).collect();
                if !wanted.is_empty() {
                    ui.add_space(6.0);
                    ui.strong(heading);
                }
                wanted.into_iter().for_each(|i| self.instance(ui, i, actions));
            }
        });
    }

    /// True if an instance has anything that the filter asks for.
    fn wants(&self, instance: &Instance) -> bool {
        let has = |text: &str| text.to_lowercase().contains(&self.filter.to_lowercase());
        has(instance.shader.as_str())
            || instance.used_by.iter().any(|name| has(name))
            || instance.params.iter().any(|p| has(&p.name))
    }

    fn instance(&self, ui: &mut Ui, instance: &Instance, actions: &mut Vec<Action>) {
        let users = match (&instance.handle, instance.used_by.as_slice()) {
            (Some(handle), _) => format!(" {handle}"),
            (None, []) => String::new(),
            (None, [one]) => format!(" on {one}"),
            (None, [first, rest @ ..]) => format!(" on {first} and {} more", rest.len()),
        };
        let edited = instance.params.iter().any(|p| p.edited.is_some());
        let mark = if edited { " •" } else { "" };
        let header = CollapsingHeader::new(format!("{}{users}{mark}", instance.shader))
            .id_salt(("instance", instance.id))
            .default_open(instance.params.len() <= 12);
        let shown = header.show(ui, |ui| {
            if instance.kind == ShaderRole::CoShader && instance.shader.is_class() {
                ui.weak("Its parameters are shown with the objects that refer to it.");
                return;
            }
            if instance.params.is_empty() && instance.references.is_empty() {
                ui.weak("It has no parameters.");
                return;
            }
            Grid::new(("parameters", instance.id)).num_columns(3).spacing([8.0, 4.0]).show(ui, |ui| {
                for (name, handles) in &instance.references {
                    ui.label(name).on_hover_text("the object that it refers to, by its handle");
                    ui.weak(handles.join(", "));
                    ui.end_row();
                }
                for parameter in &instance.params {
                    row(ui, instance, parameter, actions);
                    ui.end_row();
                }
            });
            ui.horizontal(|ui| {
                if ui.small_button("Copy as RIB").clicked() {
                    actions.push(Action::Copy(instance_rib(instance), format!("copied {} as RIB", instance.shader)));
                }
                if edited && ui.small_button("Reset all").clicked() {
                    for p in instance.params.iter().filter(|p| p.edited.is_some()) {
                        actions.push(Action::SetParameter(instance.id, p.name.clone(), None));
                    }
                }
            });
        });
        if !instance.used_by.is_empty() {
            shown.header_response.on_hover_text(instance.used_by.join("\n"));
        }
    }
}

/// A parameter's name, its widget, and the way back.
fn row(ui: &mut Ui, instance: &Instance, parameter: &Parameter, actions: &mut Vec<Action>) {
    let name = RichText::new(&parameter.name);
    let name = if parameter.edited.is_some() { name.strong() } else { name };
    let from = match parameter.scene {
        Some(_) => "given by the scene",
        None if referred_parameter(&parameter.name).is_some() => "that of the object",
        None => "the shader's default",
    };
    let relinks = if parameter.dynamic { "" } else { "\nchanging it relinks the program" };
    let label = ui.label(name).on_hover_text(format!("{} {}, {from}{relinks}", parameter.type_name, parameter.name));
    let mut value = parameter.value().clone();
    if editor(ui, label.id, parameter, &mut value) {
        actions.push(Action::SetParameter(instance.id, parameter.name.clone(), Some(value)));
    }
    let reset = ui.add_visible(parameter.edited.is_some(), egui::Button::new("Reset").small());
    if reset.on_hover_text("As the scene has it").clicked() {
        actions.push(Action::SetParameter(instance.id, parameter.name.clone(), None));
    }
}

/// The widget for a value; whether it changed.
fn editor(ui: &mut Ui, label: Id, parameter: &Parameter, value: &mut ParamValue) -> bool {
    match value {
        ParamValue::Numbers(values) | ParamValue::Float(values) => match (values.as_mut_slice(), &parameter.hint) {
            ([x], Hint::Range { low, high }) => {
                let slider = Slider::new(x, *low..=*high).clamping(egui::SliderClamping::Never);
                ui.add(slider).labelled_by(label).changed()
            }
            (values, _) => numbers(ui, label, values, speed_of(parameter)),
        },
        ParamValue::Integer(values) if parameter.type_name == "bool" => {
            let add = |ui: &mut Ui, x: &mut i32| {
                let mut is_on = *x != 0;
                let changed = ui.checkbox(&mut is_on, "").labelled_by(label).changed();
                *x = is_on.into();
                changed
            };
            ui.horizontal(|ui| values.iter_mut().fold(false, |any, x| add(ui, x) | any)).inner
        }
        ParamValue::Integer(values) => {
            let add = |ui: &mut Ui, x| ui.add(DragValue::new(x)).labelled_by(label).changed();
            ui.horizontal(|ui| values.iter_mut().fold(false, |any, x| add(ui, x) | any)).inner
        }
        ParamValue::Color(values) => {
            ui.horizontal(|ui| values.iter_mut().fold(false, |any, c| color(ui, label, c) | any)).inner
        }
        ParamValue::Point(values) | ParamValue::Vector(values) | ParamValue::Normal(values) => {
            let speed = speed_of(parameter);
            ui.vertical(|ui| values.iter_mut().fold(false, |any, v| numbers(ui, label, v.as_mut(), speed) | any)).inner
        }
        ParamValue::String(values) => {
            let hint = &parameter.hint;
            ui.vertical(|ui| values.iter_mut().fold(false, |any, text| string(ui, label, text, hint) | any)).inner
        }
        ParamValue::Matrix(values) => {
            ui.vertical(|ui| {
                values.iter_mut().fold(false, |any, m| {
                    let mut rows = m.to_cols_array_2d();
                    let changed = rows.iter_mut().fold(false, |any, row| numbers(ui, label, row, 0.01) | any);
                    *m = glam::Mat4::from_cols_array_2d(&rows);
                    changed | any
                })
            })
            .inner
        }
    }
}

/// How fast a number changes when it is dragged: a hundredth of its usual size a point.
fn speed_of(parameter: &Parameter) -> f64 {
    let largest = match &parameter.default {
        ParamValue::Float(v) => v.iter().fold(0.0, |most: f32, x| most.max(x.abs())),
        ParamValue::Point(v) | ParamValue::Vector(v) | ParamValue::Normal(v) => {
            v.iter().fold(0.0, |most: f32, v| most.max(v.abs().max_element()))
        }
        _ => 1.0,
    };
    f64::from(if largest > 0.0 && largest.is_finite() { 0.01 * largest } else { 0.01 })
}

fn numbers(ui: &mut Ui, label: Id, values: &mut [f32], speed: f64) -> bool {
    let add =
        |ui: &mut Ui, x: &mut f32| ui.add(DragValue::new(x).speed(speed).max_decimals(4)).labelled_by(label).changed();
    ui.horizontal(|ui| values.iter_mut().fold(false, |any, x| add(ui, x) | any)).inner
}

/// A linear color. What the display cannot show is typed.
fn color(ui: &mut Ui, label: Id, linear: &mut Vec3) -> bool {
    // The button rounds what it is given.
    let mut shown = linear.to_array();
    let changed = ui.color_edit_button_rgb(&mut shown).labelled_by(label).changed();
    if changed {
        *linear = Vec3::from_array(shown);
    }
    numbers(ui, label, linear.as_mut(), 0.005) | changed
}

fn string(ui: &mut Ui, label: Id, text: &mut String, hint: &Hint) -> bool {
    let Hint::Choices(choices) = hint else {
        return ui.add(TextEdit::singleline(text).desired_width(120.0)).labelled_by(label).changed();
    };
    let before = text.clone();
    let shown = ComboBox::from_id_salt(("string", label)).selected_text(before.as_str()).show_ui(ui, |ui| {
        for choice in choices {
            ui.selectable_value(text, choice.clone(), choice);
        }
    });
    shown.response.labelled_by(label);
    *text != before
}

/// The options of the scene.
fn options(ui: &mut Ui, parameters: &Parameters, actions: &mut Vec<Action>) {
    let edits = parameters.option_edits;
    let mut values = edits.over(parameters.options);
    let before = values;
    CollapsingHeader::new("Options").default_open(false).show(ui, |ui| {
        Grid::new("options").num_columns(2).spacing([8.0, 4.0]).show(ui, |ui| {
            whole_numbers(ui, "PixelSamples", "Samples per pixel in x and y", &mut values.pixel_samples, 1..=256);
            ui.end_row();
            let depth = std::slice::from_mut(&mut values.max_depth);
            whole_numbers(ui, "maxdepth", "Maximum ray depth", depth, 0..=1000);
            ui.end_row();
            let label = ui.label("background").on_hover_text("What rays that hit nothing see");
            let [r, g, b, _] = values.background;
            let mut rgb = Vec3::new(r, g, b);
            ui.horizontal(|ui| {
                if color(ui, label.id, &mut rgb) {
                    // A background that has a color is opaque.
                    values.background = [rgb.x, rgb.y, rgb.z, 1.0];
                }
            });
            ui.end_row();
            whole_numbers(ui, "Format", "Width and height of the scene's image", &mut values.size, 1..=16384);
            ui.end_row();
        });
        ui.horizontal(|ui| {
            if edits != OptionEdits::default() {
                if ui.small_button("Copy as RIB").clicked() {
                    actions.push(Action::Copy(options_rib(&edits), "copied the options as RIB".to_string()));
                }
                if ui.small_button("Reset all").clicked() {
                    actions.push(Action::SetOptions(OptionEdits::default()));
                }
            }
        });
    });
    if values != before {
        actions.push(Action::SetOptions(OptionEdits::between(parameters.options, values)));
    }
}

/// An option of whole numbers.
fn whole_numbers(ui: &mut Ui, name: &str, what: &str, values: &mut [u32], range: std::ops::RangeInclusive<u32>) {
    let label = ui.label(name).on_hover_text(what);
    ui.horizontal(|ui| {
        for value in values {
            ui.add(DragValue::new(value).range(range.clone())).labelled_by(label.id);
        }
    });
}
