//! The pixel inspector: the visible surface, the ray tree, and stepping through its shaders.
//!
//! Shows the probe of the picked pixel; requests another sample, or the same again. The current
//! step is the panel's own state.

mod divergence;
mod source;
mod stepping;
mod values;

use crate::model::{Action, Model, Picked};
use crate::workers::Probed;
use egui::{CollapsingHeader, DragValue, Grid, RichText, ScrollArea, Ui};
use shadewright_project::probe::value::number;
use shadewright_project::probe::{Probe, RayKind, RayRecord, RayTree, SurfacePoint};
use std::sync::Arc;
use stepping::Stepping;

/// The panel.
#[derive(Default)]
pub struct InspectorPanel {
    tab: Tab,
    /// The samples that are shown: when the model knows others, one starts at the first step again.
    of: Option<Arc<Probed>>,
    /// The tree of its rays.
    tree: RayTree,
    /// The ray that was chosen.
    ray: Option<u32>,
    stepping: Stepping,
    /// The pixel for which it was shown last where the back ends differ.
    diverging: Option<[u32; 2]>,
}

/// Rays up to which all are unfolded at first, and most that are listed of one hit.
const FEW_RAYS: usize = 100;

/// Height in points of what the shaders print, above which it scrolls.
const PRINTED_HEIGHT: f32 = 96.0;

/// Rays that follow each other and are listed.
const MOST_DEPTH: usize = 40;

/// A part of the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    /// The surface that the chosen ray hits.
    #[default]
    Surface,
    /// The tree of rays.
    Rays,
    /// The shaders, step by step.
    Steps,
    /// Where the back ends differ.
    Divergence,
}

impl InspectorPanel {
    /// Shows it.
    pub fn show(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        ui.add_space(4.0);
        let Some(picked) = &model.picked else {
            ui.weak("Click a pixel of the image to see its surface, its rays and its shaders step by step.");
            return;
        };
        heading(ui, picked, actions);
        // A pixel that was asked for begins with its answer; without one there is no such tab.
        let asked = model.divergence.asked;
        if self.diverging != asked {
            self.tab = if asked.is_some() { Tab::Divergence } else { Tab::default() };
            self.diverging = asked;
        }
        if self.tab == Tab::Divergence {
            self.tabs(ui, None);
            divergence::show(ui, model, picked, actions);
            return;
        }
        let Some(known) = &picked.known else { return };
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, known)) {
            self.take(known);
        }
        if model.view().is_some_and(|view| view.camera != known.view.camera) && !picked.waiting {
            ui.horizontal(|ui| {
                ui.weak("The view has changed since.");
                if ui.small_button("Look again").clicked()
                    && let Some(pixel) = model.picked_pixel()
                {
                    actions.push(Action::Pick(pixel, picked.sample));
                }
            });
        }
        match &known.result {
            Err(message) => {
                ui.label(RichText::new(message).color(super::error_color(ui)));
            }
            Ok(probe) => self.probe(ui, probe),
        }
    }

    /// Begins with another sample. The place in the steps stays when the new one has it too: after
    /// an edit the user keeps looking at the same line.
    fn take(&mut self, known: &Arc<Probed>) {
        let is_same = self.of.as_ref().is_some_and(|of| (of.pixel, of.sample) == (known.pixel, known.sample));
        if let Ok(probe) = &known.result {
            let before = self.of.as_ref().and_then(|of| of.result.as_ref().ok()).filter(|_| is_same);
            self.stepping.begin(&probe.recording, before.map(|p| &p.recording));
            self.tree = RayTree::new(&probe.rays);
            self.ray = self.ray.filter(|r| is_same && (*r as usize) < probe.rays.len());
        }
        self.of = Some(known.clone());
    }

    fn probe(&mut self, ui: &mut Ui, probe: &Probe) {
        ui.horizontal(|ui| {
            values::swatch(ui, probe.color);
            ui.monospace(values::triple(probe.color)).on_hover_text("linear red, green and blue of this sample");
            ui.weak(format!("alpha {}", number(probe.alpha)));
        });
        if let Some((color, alpha)) = probe.imaged {
            ui.horizontal(|ui| {
                values::swatch(ui, color);
                ui.monospace(values::triple(color)).on_hover_text("what the imager makes of this sample alone");
                ui.weak(format!("alpha {}, after the imager", number(alpha)));
            });
        }
        if let Some(stopped) = &probe.failure {
            ui.label(RichText::new(stopped.describe(&probe.recording)).color(super::error_color(ui)));
        }
        if !probe.printed.is_empty() {
            ui.weak("printed").on_hover_text("what the shaders print for this sample");
            ScrollArea::vertical().id_salt("printed").max_height(PRINTED_HEIGHT).show(ui, |ui| {
                ui.monospace(probe.printed.concat().trim_end());
            });
        }
        self.tabs(ui, Some(probe.rays.len()));
        match self.tab {
            Tab::Rays => self.rays(ui, probe),
            Tab::Steps => self.stepping.show(ui, probe),
            Tab::Surface | Tab::Divergence => self.surface(ui, probe),
        }
    }

    /// The parts to choose from; `rays` is the number of rays, if the sample is known.
    fn tabs(&mut self, ui: &mut Ui, rays: Option<usize>) {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut self.tab, Tab::Surface, "Surface");
            let rays = rays.map_or("Rays".to_string(), |rays| format!("Rays ({rays})"));
            ui.selectable_value(&mut self.tab, Tab::Rays, rays);
            ui.selectable_value(&mut self.tab, Tab::Steps, "Steps");
            if self.diverging.is_some() {
                let hint = "the first value that differs between the back ends";
                ui.selectable_value(&mut self.tab, Tab::Divergence, "Divergence").on_hover_text(hint);
            }
        });
        ui.separator();
    }

    /// Shows the surface that the chosen ray hits, or the camera's first.
    fn surface(&mut self, ui: &mut Ui, probe: &Probe) {
        let index = self.ray.unwrap_or(0);
        let Some(ray) = probe.rays.get(index as usize) else {
            ui.weak("This sample traces no ray.");
            return;
        };
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.label(RichText::new(ray_title(ray)).strong());
            // Above the variables, which may fill more than the panel.
            if let Some(step) = ray.shader_step
                && ui.button("Step through its shader").clicked()
            {
                self.go_to(step as usize);
            }
            match &ray.hit {
                None => {
                    ui.weak(ray.outcome());
                }
                Some(hit) => surface(ui, hit),
            }
            ui.add_space(4.0);
            Grid::new("ray").num_columns(2).min_col_width(values::NAMES).striped(true).show(ui, |ui| {
                let row = |ui: &mut Ui, name: &str, value: String| {
                    ui.label(name);
                    ui.monospace(value);
                    ui.end_row();
                };
                row(ui, "from", values::triple(ray.origin));
                row(ui, "towards", values::triple(ray.direction));
                if let Some(returned) = &ray.returned {
                    ui.label("color");
                    values::color(ui, returned.color);
                    ui.end_row();
                    ui.label("opacity");
                    values::color(ui, returned.opacity);
                    ui.end_row();
                }
            });
        });
    }

    fn go_to(&mut self, step: usize) {
        self.stepping.go_to(step);
        self.tab = Tab::Steps;
    }

    fn rays(&mut self, ui: &mut Ui, probe: &Probe) {
        ui.weak("Click a ray for its surface, double click for its shader.");
        ScrollArea::both().auto_shrink(false).show(ui, |ui| {
            let tree = std::mem::take(&mut self.tree);
            tree.roots.iter().for_each(|&ray| self.ray_row(ui, probe, &tree, ray, 0));
            self.tree = tree;
            if probe.rays_truncated {
                ui.weak("… and more, which are not recorded");
            }
        });
    }

    /// A ray and those that were shot at its hit, as far as they are unfolded.
    fn ray_row(&mut self, ui: &mut Ui, probe: &Probe, tree: &RayTree, index: u32, depth: usize) {
        let ray = &probe.rays[index as usize];
        let children = &tree.children[index as usize];
        if children.is_empty() || depth >= MOST_DEPTH {
            ui.horizontal(|ui| {
                ui.add_space(ui.spacing().indent);
                self.ray_label(ui, ray, index);
                if !children.is_empty() {
                    ui.weak("…").on_hover_text("Rays deeper than this are not listed");
                }
            });
            return;
        }
        let id = ui.make_persistent_id(("ray", index));
        let open = depth < 2 || probe.rays.len() <= FEW_RAYS;
        egui::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, open)
            .show_header(ui, |ui| self.ray_label(ui, ray, index))
            .body(|ui| {
                children.iter().take(FEW_RAYS).for_each(|&child| self.ray_row(ui, probe, tree, child, depth + 1));
                if let Some(more) = children.len().checked_sub(FEW_RAYS).filter(|more| *more > 0) {
                    ui.weak(format!("… and {more} more"));
                }
            });
    }

    fn ray_label(&mut self, ui: &mut Ui, ray: &RayRecord, index: u32) {
        if let Some(returned) = &ray.returned {
            values::swatch(ui, returned.color);
        }
        let text = format!("{}: {}", ray_title(ray), ray.outcome());
        let color = match (ray.kind, ray.is_free()) {
            (RayKind::Shadow, true) => ui.visuals().warn_fg_color,
            (RayKind::Shadow, false) => ui.visuals().weak_text_color(),
            _ => ui.visuals().text_color(),
        };
        let label = ui.selectable_label(self.ray == Some(index), RichText::new(text).color(color));
        if label.clicked() {
            self.ray = Some(index);
        }
        if label.double_clicked() {
            match ray.shader_step.or(ray.step) {
                Some(step) => self.go_to(step as usize),
                None => self.tab = Tab::Surface,
            }
        }
    }
}

/// The pixel, and which of its samples.
fn heading(ui: &mut Ui, picked: &Picked, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let [x, y] = picked.pixel;
        ui.strong(format!("Pixel {x}, {y}"));
        let count = picked.known.as_ref().and_then(|k| k.result.as_ref().ok()).map(|p| p.sample.sampling.count());
        let mut sample = picked.sample;
        let label = ui.label("sample");
        let most = count.unwrap_or(1).saturating_sub(1).max(sample);
        if ui.add(DragValue::new(&mut sample).range(0..=most)).labelled_by(label.id).changed() {
            actions.push(Action::Pick(picked.pixel, sample));
        }
        if let Some(count) = count {
            ui.weak(format!("of {count}"));
        }
        if picked.waiting {
            ui.spinner();
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.small_button("×").on_hover_text("Clear the pixel (Esc)").clicked() {
                actions.push(Action::Unpick);
            }
        });
    });
}

fn ray_title(ray: &RayRecord) -> String {
    let layer = if ray.layer > 0 { format!(", behind {}", ray.layer) } else { String::new() };
    match &ray.light {
        Some(light) => format!("{} to {} {}", ray.kind.name(), light.shader, light.number),
        None => format!("{}{layer}", ray.kind.name()),
    }
}

/// A point of a surface.
fn surface(ui: &mut Ui, hit: &SurfacePoint) {
    Grid::new("hit").num_columns(2).min_col_width(values::NAMES).striped(true).show(ui, |ui| {
        let row = |ui: &mut Ui, name: &str, value: String| {
            ui.label(name);
            ui.monospace(value);
            ui.end_row();
        };
        row(ui, "object", format!("{} (#{})", hit.name, hit.object));
        row(ui, "triangle", format!("{} of it, {} of all", hit.triangle, hit.primitive));
        row(ui, "shader", hit.shader.clone());
        row(ui, "distance", number(hit.distance));
    });
    if !hit.parameters.is_empty() {
        ui.add_space(4.0);
        ui.label("Parameters");
        values::table(ui, "parameters", &hit.parameters);
    }
    ui.add_space(4.0);
    CollapsingHeader::new("Variables at the hit").default_open(true).show(ui, |ui| {
        values::table(ui, "globals", &hit.globals);
    });
}

#[cfg(test)]
mod tests;
