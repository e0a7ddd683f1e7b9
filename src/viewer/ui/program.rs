//! The compiled forms of a shader: source, IR, RPU assembly and WGSL side by side, and the cost of
//! each source line.
//!
//! A line under the pointer lights up whatever comes from the same source line in all columns; a
//! click keeps it lit and brings it into sight everywhere. Only the rows in sight are laid out.

use crate::model::{Action, Model};
use egui::{Color32, ComboBox, FontId, Rect, RichText, Role, ScrollArea, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};
use shadewright_ir::Module;
use shadewright_project::inspect::{Cost, Inspection, Listing, Row, SourceLine};
use shadewright_project::{Instance, InstanceId, ProjectState};
use shadewright_scene::ShaderRole;
use std::sync::Arc;

/// A column of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Column {
    Source,
    Ir,
    Rpu,
    Native,
    Wgsl,
}

impl Column {
    const ALL: [Column; 5] = [Column::Source, Column::Ir, Column::Rpu, Column::Native, Column::Wgsl];

    fn name(self) -> &'static str {
        match self {
            Column::Source => "Source",
            Column::Ir => "IR",
            Column::Rpu => "RPU",
            Column::Native => "Native",
            Column::Wgsl => "WGSL",
        }
    }

    /// The listing that the column shows, or why it shows none.
    fn listing(self, inspection: &Inspection, stage: usize) -> Result<&Listing, &str> {
        let listings = &inspection.listings;
        match self {
            Column::Source => Ok(&listings.source),
            Column::Ir => listings.stages.get(stage).map(|stage| &stage.listing).ok_or("There is no IR."),
            Column::Rpu => listings.rpu.as_ref().map_err(String::as_str),
            Column::Native => listings.native.as_ref().map_err(String::as_str),
            Column::Wgsl => listings.wgsl.as_ref().map_err(String::as_str),
        }
    }
}

/// The panel.
pub struct ProgramPanel {
    /// The chosen instance.
    instance: Option<InstanceId>,
    /// The last request: an instance, and the code of the scene then.
    asked: Option<(InstanceId, Arc<Module>)>,
    /// True if each column is shown.
    columns: [bool; 5],
    /// The chosen stage of the IR; `None` for the last.
    stage: Option<String>,
    /// The source line that stays lit.
    pinned: Option<SourceLine>,
    /// The source line under the pointer, in whatever column, a frame ago.
    pointed: Option<SourceLine>,
    /// Rows that columns shall bring into sight.
    wanted: [Option<usize>; 5],
}

impl Default for ProgramPanel {
    fn default() -> Self {
        Self {
            instance: None,
            asked: None,
            // Code of the CPU is long, and for few: it is shown when asked for.
            columns: Column::ALL.map(|column| column != Column::Native),
            stage: None,
            pinned: None,
            pointed: None,
            wanted: [None; 5],
        }
    }
}

/// Rows above the one that is brought into sight.
const ROWS_ABOVE: usize = 4;
/// Columns of characters for the cost before a source line.
const COST_CHARACTERS: f32 = 8.0;

impl ProgramPanel {
    /// Shows it.
    pub fn show(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        ui.add_space(4.0);
        let Some(state) = &model.state else {
            ui.weak("The compiled shaders appear here once the scene is loaded.");
            return;
        };
        let used = |i: &&Instance| state.program.instances.get(i.id.0 as usize).is_some_and(Option::is_some);
        let instances: Vec<&Instance> = state.parameters.instances.iter().filter(used).collect();
        let chosen = instances.iter().find(|i| Some(i.id) == self.instance);
        let surface = || instances.iter().find(|i| i.kind == ShaderRole::Surface);
        let chosen = chosen.or_else(surface).or(instances.first());
        let Some(chosen) = chosen else {
            ui.weak("The scene names no shader. Give an object a Surface to see its compiled code.");
            return;
        };
        self.choose(chosen.id);
        self.ask(state, chosen.id, actions);
        let found = model.inspected.found.as_ref().filter(|found| found.instance == chosen.id);
        ui.horizontal_wrapped(|ui| {
            let label = ui.label("Shader");
            let combo = ComboBox::from_id_salt("shader").width(180.0).selected_text(name_of(chosen));
            let shown = combo.show_ui(ui, |ui| {
                for instance in &instances {
                    if ui.selectable_label(instance.id == chosen.id, name_of(instance)).clicked() {
                        self.choose(instance.id);
                    }
                }
            });
            shown.response.labelled_by(label.id);
            if let Some(found) = found {
                self.choose_stage(ui, found);
            }
            for (column, is_shown) in Column::ALL.into_iter().zip(&mut self.columns) {
                ui.toggle_value(is_shown, column.name());
            }
            if let Some(found) = found {
                cost(ui, found, actions);
            }
            if model.inspected.asked.is_some() {
                ui.spinner();
                ui.weak("compiling");
            }
        });
        if let Some(failure) = &model.inspected.failure {
            ui.label(RichText::new(failure).color(super::error_color(ui)));
        }
        if let Some(found) = found {
            self.listings(ui, found);
        }
    }

    fn choose(&mut self, instance: InstanceId) {
        if self.instance != Some(instance) {
            (self.instance, self.pinned, self.pointed) = (Some(instance), None, None);
        }
    }

    /// Asks for what is not known of today's code.
    fn ask(&mut self, state: &ProjectState, instance: InstanceId, actions: &mut Vec<Action>) {
        let code = &state.program.module;
        if !self.asked.as_ref().is_some_and(|(of, then)| *of == instance && Arc::ptr_eq(then, code)) {
            self.asked = Some((instance, code.clone()));
            actions.push(Action::Inspect(instance));
        }
    }

    /// The number of the stage that is shown.
    fn stage(&self, inspection: &Inspection) -> usize {
        let stages = &inspection.listings.stages;
        let named = self.stage.as_ref().and_then(|name| stages.iter().position(|stage| stage.name == *name));
        named.unwrap_or(stages.len().saturating_sub(1))
    }

    fn choose_stage(&mut self, ui: &mut Ui, inspection: &Inspection) {
        let stages = &inspection.listings.stages;
        let mut now = self.stage(inspection);
        let before = now;
        let step = |ui: &mut Ui, enabled: bool, sign: &str, name: &str| {
            let button = ui.add_enabled(enabled, egui::Button::new(sign).small());
            button.on_hover_text(name).accessible_name(name).clicked()
        };
        let label = ui.label("IR");
        if step(ui, now > 0, "<", "previous pass") {
            now -= 1;
        }
        let text = stages.get(now).map_or("", |stage| stage.name.as_str());
        let shown = ComboBox::from_id_salt("stage").width(150.0).selected_text(text).show_ui(ui, |ui| {
            for (i, stage) in stages.iter().enumerate() {
                ui.selectable_value(&mut now, i, &stage.name);
            }
        });
        shown.response.labelled_by(label.id);
        if step(ui, now + 1 < stages.len(), ">", "next pass") {
            now += 1;
        }
        if now != before {
            self.stage = stages.get(now).map(|stage| stage.name.clone());
        }
    }

    fn listings(&mut self, ui: &mut Ui, inspection: &Inspection) {
        let shown: Vec<Column> =
            Column::ALL.into_iter().zip(self.columns).filter(|(_, on)| *on).map(|(column, _)| column).collect();
        let Some((last, others)) = shown.split_last() else {
            ui.weak("Choose a column to show.");
            return;
        };
        let width = ui.available_width() / shown.len() as f32;
        let frame = egui::Frame::NONE.inner_margin(egui::Margin::symmetric(4, 0));
        let mut touched = Touched::default();
        for &column in others {
            let panel = egui::Panel::left(("program", column.name())).resizable(true);
            let panel = panel.frame(frame).default_size(width).min_size(60.0);
            panel.show(ui, |ui| self.column(ui, column, inspection, &mut touched));
        }
        egui::CentralPanel::no_frame().frame(frame).show(ui, |ui| self.column(ui, *last, inspection, &mut touched));
        if let Some((column, place)) = touched.clicked {
            self.pinned = Some(place).filter(|_| self.pinned != Some(place));
            let stage = self.stage(inspection);
            for (other, wanted) in Column::ALL.into_iter().zip(&mut self.wanted) {
                let listing = other.listing(inspection, stage).ok().filter(|_| other != column);
                *wanted = listing.and_then(|listing| listing.first_of(place)).or(*wanted);
            }
        }
        if touched.pointed != self.pointed || touched.clicked.is_some() {
            self.pointed = touched.pointed;
            ui.ctx().request_repaint();
        }
    }

    fn column(&mut self, ui: &mut Ui, column: Column, inspection: &Inspection, touched: &mut Touched) {
        ui.spacing_mut().item_spacing.y = 0.0;
        let stage = self.stage(inspection);
        let listing = match column.listing(inspection, stage) {
            Ok(listing) => listing,
            Err(why) => {
                ui.strong(format!("{}, nothing", column.name()));
                ui.label(why);
                return;
            }
        };
        let changed = listing.rows.iter().filter(|row| row.changed).count();
        let title = match (column, changed) {
            (Column::Ir, 1..) => format!("IR, {} lines, {changed} changed", listing.rows.len()),
            _ => format!("{}, {} lines", column.name(), listing.rows.len()),
        };
        ui.strong(title);
        if listing.rows.is_empty() {
            ui.weak("No code of this shader is left here.");
            return;
        }
        let cost = inspection.cost.as_ref().and_then(|cost| cost.as_deref().ok()).filter(|_| column == Column::Source);
        let look = Look::new(ui, cost);
        let mut area = ScrollArea::both().id_salt(("listing", column.name())).auto_shrink(false);
        if let Some(row) = self.wanted[column as usize].take() {
            area = area.vertical_scroll_offset(row.saturating_sub(ROWS_ABOVE) as f32 * look.height);
        }
        let lit = self.pointed.or(self.pinned);
        area.show_rows(ui, look.height, listing.rows.len(), |ui, range| {
            let width = (look.gutter() + (listing.width + 1) as f32 * look.character).max(ui.available_width());
            for row in &listing.rows[range] {
                let response = look.row(ui, row, width, lit);
                if let Some(&place) = row.line.places.first() {
                    if response.hovered() {
                        touched.pointed = Some(place);
                    }
                    if response.clicked() {
                        touched.clicked = Some((column, place));
                    }
                }
            }
        });
    }
}

/// The places that the pointer touched in a frame.
#[derive(Default)]
struct Touched {
    pointed: Option<SourceLine>,
    clicked: Option<(Column, SourceLine)>,
}

/// How rows of a column look.
struct Look<'a> {
    font: FontId,
    height: f32,
    /// Width of a character.
    character: f32,
    cost: Option<&'a Cost>,
}

impl<'a> Look<'a> {
    fn new(ui: &Ui, cost: Option<&'a Cost>) -> Self {
        let font = TextStyle::Monospace.resolve(ui.style());
        let sample = ui.painter().layout_no_wrap("0".repeat(16), font.clone(), Color32::WHITE);
        Self { font, height: ui.text_style_height(&TextStyle::Monospace), character: sample.size().x / 16.0, cost }
    }

    /// Width of the gutter before the text.
    fn gutter(&self) -> f32 {
        if self.cost.is_some() { COST_CHARACTERS * self.character } else { 0.0 }
    }

    fn row(&self, ui: &mut Ui, row: &Row, width: f32, lit: Option<SourceLine>) -> egui::Response {
        let (rect, response) = ui.allocate_exact_size(vec2(width, self.height), Sense::click());
        let line = &row.line;
        let is_lit = lit.is_some_and(|place| line.places.contains(&place));
        let visuals = ui.visuals();
        if is_lit {
            ui.painter().rect_filled(rect, 0.0, visuals.selection.bg_fill.gamma_multiply(0.6));
        } else if row.changed {
            ui.painter().rect_filled(rect, 0.0, visuals.warn_fg_color.gamma_multiply(0.15));
        }
        if let (Some(cost), Some(&place)) = (self.cost, line.places.first()) {
            self.heat(ui, rect, cost, place);
        }
        let color = if line.places.is_empty() { visuals.weak_text_color() } else { visuals.text_color() };
        let at = rect.left_top() + vec2(self.gutter(), 0.0);
        ui.painter().text(at, egui::Align2::LEFT_TOP, &line.text, self.font.clone(), color);
        response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, ui.is_enabled(), is_lit, &line.text));
        response
    }

    /// The share of a source line in the cycles, as a bar and in percent.
    fn heat(&self, ui: &Ui, row: Rect, cost: &Cost, place: SourceLine) {
        let share = cost.share(place);
        if share < 0.0005 {
            return;
        }
        let part = (share / cost.largest_share()) as f32;
        let width = (self.gutter() - self.character) * part.max(0.02);
        let bar = Rect::from_min_size(row.left_top(), vec2(width, self.height));
        let hot = ui.visuals().error_fg_color.gamma_multiply(0.25 + 0.45 * part);
        ui.painter().rect_filled(bar, 2.0, hot);
        let at = pos2(row.left() + self.gutter() - self.character, row.top());
        let text = format!("{:.1}%", 100.0 * share);
        ui.painter().text(at, egui::Align2::RIGHT_TOP, text, self.font.clone(), ui.visuals().strong_text_color());
    }
}

/// Shows the cost of the shader as a whole.
fn cost(ui: &mut Ui, inspection: &Inspection, actions: &mut Vec<Action>) {
    match &inspection.cost {
        None => {
            ui.spinner();
            ui.weak("measuring on the RPU");
        }
        Some(Err(why)) => {
            ui.label(RichText::new(format!("The cost is unknown: {why}")).color(super::error_color(ui)));
        }
        Some(Ok(cost)) if cost.total == 0 => {
            ui.weak("It displaced the mesh before rendering started and costs nothing per pixel.");
        }
        Some(Ok(cost)) => {
            let [width, height] = cost.size;
            let text = format!(
                "{:.1} % of {:.0} RPU cycles a pixel in this shader's lines",
                100.0 * cost.shader_share(),
                cost.per_pixel()
            );
            ui.label(text).on_hover_text(format!(
                "An image of {width} x {height} pixels from this view, one sample each, on the timed RPU. The rest went to other shaders, to the camera, to functions that are \
                 called, and to code without a source line."
            ));
            if ui.small_button("Measure again").on_hover_text("for the current view").clicked() {
                actions.push(Action::Inspect(inspection.instance));
            }
        }
    }
}

/// An instance's name.
fn name_of(instance: &Instance) -> String {
    let user = instance.handle.as_deref().or(instance.used_by.first().map(|name| &**name));
    match user {
        Some(user) => format!("{} {} ({user})", instance.kind.keyword(), instance.shader),
        None => format!("{} {}", instance.kind.keyword(), instance.shader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::{SPHERE, loaded, state};
    use crate::workers::Event;
    use egui::accesskit::Toggled;
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT, Queryable};
    use shadewright_base::text::source::FileId;
    use shadewright_project::inspect::{Line, Listings, PassListing};

    fn listing(lines: &[(&str, u32)]) -> Listing {
        let places = |line: u32| (line > 0).then_some(SourceLine { file: FileId(7), line }).into_iter().collect();
        let line = |&(text, line): &(&str, u32)| Arc::new(Line { text: text.to_string(), places: places(line) });
        Listing::new(lines.iter().map(line).collect())
    }

    /// An inspection of a shader of two lines.
    fn inspection(model: &Model) -> Inspection {
        let state = model.state.as_ref().unwrap();
        let stage = |name: &str, listing| PassListing { name: name.to_string(), listing };
        let listings = Listings {
            source: listing(&[("Ci = Cs * 2;", 1), ("Oi = 1;", 2)]),
            stages: vec![
                stage("before the first pass", listing(&[("v1 = add v0, v0", 1), ("v9 = const 1", 2)])),
                stage("in the end", listing(&[("v1 = mul v0, 2", 1), ("v2 = const 1", 2)])),
            ],
            rpu: Ok(listing(&[("entry:", 0), ("mul R0, R1, 2", 1), ("mov R2, 1", 2)])),
            native: Ok(listing(&[("vmulps zmm0,zmm1,zmm2", 1), ("vmovaps zmm3,zmm4", 2)])),
            wgsl: Err("a reason".to_string()),
        };
        let cost = Cost { lines: [(SourceLine { file: FileId(7), line: 1 }, 30)].into(), total: 120, size: [4, 2] };
        let instance = state.parameters.instances.iter().find(|i| i.shader == "plastic").unwrap().id;
        Inspection {
            instance,
            code: state.program.module.clone(),
            listings: Arc::new(listings),
            cost: Some(Ok(Arc::new(cost))),
        }
    }

    struct Stand {
        panel: ProgramPanel,
        model: Model,
        asked: Vec<Action>,
    }

    fn stand(model: Model) -> Harness<'static, Stand> {
        let stand = Stand { panel: ProgramPanel::default(), model, asked: Vec::new() };
        Harness::builder().with_size([1200.0, 400.0]).build_ui_state(
            |ui, stand: &mut Stand| {
                let mut actions = Vec::new();
                stand.panel.show(ui, &stand.model, &mut actions);
                for action in actions {
                    stand.model.apply(action.clone());
                    stand.asked.push(action);
                }
            },
            stand,
        )
    }

    /// The panel with the shader [`inspection`] is of.
    fn answered() -> Harness<'static, Stand> {
        let model = loaded();
        let found = inspection(&model);
        let mut harness = stand(model);
        harness.state_mut().panel.instance = Some(found.instance);
        harness.step();
        harness.state_mut().model.handle(Event::Inspected(Arc::new(found)));
        harness.run();
        harness
    }

    fn is_lit(harness: &Harness<'_, Stand>, text: &str) -> bool {
        harness.get_by_label(text).accesskit_node().toggled() == Some(Toggled::True)
    }

    #[test]
    fn a_shader_is_asked_for_once_and_again_when_the_code_is_another() {
        let mut harness = answered();
        let instance = harness.state().panel.instance.unwrap();
        assert_eq!(harness.state().asked, [Action::Inspect(instance)]);
        harness.state_mut().model.handle(Event::Loaded(state(SPHERE)));
        harness.step();
        assert_eq!(harness.state().asked, [Action::Inspect(instance), Action::Inspect(instance)]);
    }

    #[test]
    fn native_code_is_shown_when_asked_for() {
        let mut harness = answered();
        assert!(harness.query_by_label("vmulps zmm0,zmm1,zmm2").is_none());
        harness.get_by_label("Native").click();
        harness.run();
        harness.get_by_label("vmulps zmm0,zmm1,zmm2").click();
        harness.run();
        assert!(is_lit(&harness, "mul R0, R1, 2") && !is_lit(&harness, "mov R2, 1"));
    }

    #[test]
    fn a_click_on_an_instruction_lights_what_comes_from_its_source_line_everywhere() {
        let mut harness = answered();
        harness.get_by_label("mul R0, R1, 2").click();
        harness.run();
        for text in ["Ci = Cs * 2;", "v1 = mul v0, 2", "mul R0, R1, 2"] {
            assert!(is_lit(&harness, text), "{text}");
        }
        for text in ["Oi = 1;", "v2 = const 1", "entry:", "mov R2, 1"] {
            assert!(!is_lit(&harness, text), "{text}");
        }
    }

    #[test]
    fn the_ir_is_shown_pass_by_pass() {
        let mut harness = answered();
        assert!(harness.query_by_label("v1 = add v0, v0").is_none());
        harness.get_by_label("previous pass").click();
        harness.run();
        assert!(harness.query_by_label("v1 = add v0, v0").is_some());
        assert!(harness.query_by_label("v1 = mul v0, 2").is_none());
    }

    #[test]
    fn columns_say_why_they_are_empty_and_can_be_hidden() {
        let mut harness = answered();
        assert!(harness.query_by_label("a reason").is_some());
        assert!(harness.query_by_label_contains("25.0 % of 15 RPU cycles a pixel").is_some());
        harness.get_by_label("WGSL").click();
        harness.run();
        assert!(harness.query_by_label("a reason").is_none());
    }

    #[test]
    fn a_failure_says_why() {
        let mut harness = stand(loaded());
        harness.step();
        harness.state_mut().model.handle(Event::InspectFailed("nothing uses it".to_string()));
        harness.run();
        assert!(harness.query_by_label("nothing uses it").is_some());
    }
}
