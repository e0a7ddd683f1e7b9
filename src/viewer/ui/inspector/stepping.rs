//! The shaders of a sample step by step: ways to go, the source, the calls, the variables.

use super::source::SourceView;
use super::values;
use egui::{Grid, Key, Modifiers, RichText, ScrollArea, Ui};
use shadewright_project::probe::recording::Call;
use shadewright_project::probe::{Moment, Probe, Reach, Recording};

/// Where one stands.
#[derive(Default)]
pub struct Stepping {
    step: usize,
    reach: Reach,
    source: SourceView,
    ways: Option<Ways>,
}

/// The targets of the buttons at a step, found once for all frames that show it.
struct Ways {
    step: usize,
    reach: Reach,
    /// In the order of [`WAYS`].
    targets: [Option<usize>; WAYS.len()],
    /// For each variable that is shown, where it got its value and where it gets the next.
    changes: Vec<[Option<usize>; 2]>,
}

impl Ways {
    fn from(moment: &Moment<'_>, recording: &Recording, reach: Reach) -> Self {
        let step = moment.step;
        let ends = |variable| [recording.change_before(step, variable), recording.next_change(step, variable)];
        Self {
            step,
            reach,
            targets: WAYS.map(|(way, ..)| way.from(step, recording, reach)),
            changes: moment.variables.iter().map(|v| ends(v.variable)).collect(),
        }
    }
}

/// Most callers that are named.
const MOST_CALLERS: usize = 5;

/// A way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    First,
    Back,
    Next,
    Last,
    BackInto,
    Into,
    Out,
    RayBefore,
    NextRay,
}

/// The ways with their buttons, in order.
const WAYS: [(Way, &str, &str); 9] = [
    (Way::First, "|◀", "The first step"),
    (Way::Back, "◀", "The statement before, in this call or its caller (Shift+F10)"),
    (Way::Next, "▶", "The next statement, without going into calls (F10)"),
    (Way::Last, "▶|", "The last step"),
    (Way::BackInto, "↖", "The statement before, back into calls (Shift+F11)"),
    (Way::Into, "↘", "The next statement, into calls and shaders of rays (F11)"),
    (Way::Out, "↗", "The next statement of the caller (F12)"),
    (Way::RayBefore, "◀ ray", "The ray before"),
    (Way::NextRay, "ray ▶", "The next ray"),
];

/// The keys of ways, those with modifiers first.
const KEYS: [(Modifiers, Key, Way); 5] = [
    (Modifiers::SHIFT, Key::F10, Way::Back),
    (Modifiers::SHIFT, Key::F11, Way::BackInto),
    (Modifiers::NONE, Key::F10, Way::Next),
    (Modifiers::NONE, Key::F11, Way::Into),
    (Modifiers::NONE, Key::F12, Way::Out),
];

impl Way {
    fn from(self, step: usize, recording: &Recording, reach: Reach) -> Option<usize> {
        match self {
            Way::First => recording.first(reach).filter(|&s| s != step),
            Way::Back => recording.back(step, reach),
            Way::Next => recording.next(step, reach),
            Way::Last => recording.last(reach).filter(|&s| s != step),
            Way::BackInto => recording.back_into(step, reach),
            Way::Into => recording.into(step, reach),
            Way::Out => recording.out(step, reach),
            Way::RayBefore => recording.ray_before(step),
            Way::NextRay => recording.next_ray(step),
        }
    }
}

impl Stepping {
    /// Another recording. Where one stood stays, if the one before had the same statement there.
    pub fn begin(&mut self, recording: &Recording, before: Option<&Recording>) {
        let place = |r: &Recording, step: usize| r.place(step).map(|(file, line)| (file.name.clone(), line));
        let is_same =
            before.is_some_and(|b| place(b, self.step).is_some() && place(b, self.step) == place(recording, self.step));
        if !is_same {
            self.step = recording.first(self.reach).or(recording.first(Reach::Library)).unwrap_or(0);
        }
        self.source.begin(recording);
        self.ways = None;
    }

    /// Goes to a step.
    pub fn go_to(&mut self, step: usize) {
        self.step = step;
    }

    /// Shows it.
    pub fn show(&mut self, ui: &mut Ui, probe: &Probe) {
        let recording = &probe.recording;
        if recording.is_empty() {
            ui.weak("No shader ran for this sample: its ray hits nothing.");
            return;
        }
        let Some(moment) = recording.at(self.step) else { return };
        let known = self.ways.take().filter(|w| (w.step, w.reach) == (self.step, self.reach));
        let ways = known.unwrap_or_else(|| Ways::from(&moment, recording, self.reach));
        self.buttons(ui, recording, &ways);
        for (modifiers, key, way) in KEYS {
            let target = WAYS.iter().position(|w| w.0 == way).and_then(|i| ways.targets[i]);
            if ui.input_mut(|input| input.consume_key(modifiers, key)) {
                self.step = target.unwrap_or(self.step);
            }
        }
        if let Some(step) = calls(ui, &moment) {
            self.step = step;
        }
        if let Some(ray) = moment.ray.and_then(|r| probe.rays.get(r as usize)) {
            ui.weak(format!("for the {} ray that {}", ray.kind.name(), ray.outcome()));
        }
        let height = (ui.available_height() * 0.55).max(80.0);
        if let Some((file, line)) = self.source.show(ui, recording, &moment, height) {
            let again = recording.to_line(self.step, file, line, true);
            let first = || recording.to_line(0, file, line, true).or(Some(0).filter(|_| at_line(recording, line)));
            self.step = again.or_else(first).unwrap_or(self.step);
        }
        ui.separator();
        if let Some(step) = variables(ui, &moment, &ways) {
            self.step = step;
        }
        self.ways = Some(ways);
    }

    fn buttons(&mut self, ui: &mut Ui, recording: &Recording, ways: &Ways) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for ((_, sign, what), target) in WAYS.into_iter().zip(ways.targets) {
                let button = ui.add_enabled(
                    target.is_some(),
                    egui::Button::new(RichText::new(sign).monospace()).min_size([24.0, 0.0].into()),
                );
                if button.on_hover_text(what).clicked() {
                    self.step = target.unwrap_or(self.step);
                }
            }
            ui.add_space(6.0);
            let mut library = self.reach == Reach::Library;
            if ui
                .checkbox(&mut library, "library")
                .on_hover_text("Stop in the standard library's functions too")
                .changed()
            {
                self.reach = if library { Reach::Library } else { Reach::Own };
            }
        });
        ui.horizontal(|ui| {
            let mut step = self.step;
            let label = ui.label("step");
            ui.spacing_mut().slider_width = (ui.available_width() - 90.0).max(40.0);
            let slider = ui.add(egui::Slider::new(&mut step, 0..=recording.len() - 1)).labelled_by(label.id);
            if slider.on_hover_text("Of all statements that ran").changed() {
                self.step = step;
            }
        });
        if recording.truncated {
            ui.weak(format!("The first {} steps were kept.", recording.len()));
        }
    }
}

/// True if the first step stands at a line.
fn at_line(recording: &Recording, line: u32) -> bool {
    recording.place(0).is_some_and(|(_, l)| l == line)
}

/// The calls that led here, the outermost first; gives the step of the one that was chosen.
fn calls(ui: &mut Ui, moment: &Moment<'_>) -> Option<usize> {
    let name = |call: &Call<'_>| format!("{}, line {}", call.outline.title(), call.line);
    let [own, callers @ ..] = moment.stack.as_slice() else { return None };
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        if callers.len() > MOST_CALLERS {
            ui.weak(format!("{} more callers ›", callers.len() - MOST_CALLERS));
        }
        for call in callers.iter().take(MOST_CALLERS).rev() {
            if ui.link(name(call)).on_hover_text("Go to this call").clicked() {
                chosen = Some(call.step);
            }
            ui.weak("›");
        }
        ui.strong(name(own));
    });
    chosen
}

/// The variables; gives the step of a change that was asked for.
fn variables(ui: &mut Ui, moment: &Moment<'_>, ways: &Ways) -> Option<usize> {
    let mut wanted = None;
    ScrollArea::both().id_salt("variables").auto_shrink(false).show(ui, |ui| {
        if moment.variables.is_empty() {
            ui.weak("No variable has a value here yet.");
        }
        Grid::new("variables").num_columns(3).striped(true).show(ui, |ui| {
            for (shown, [before, next]) in moment.variables.iter().zip(&ways.changes) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 1.0;
                    let mut go = |ui: &mut Ui, sign: &str, what: &str, to: Option<usize>| {
                        let button = ui.add_enabled(
                            to.is_some(),
                            egui::Button::new(RichText::new(sign).monospace()).small().frame(false),
                        );
                        if button.on_hover_text(what).clicked() {
                            wanted = to;
                        }
                    };
                    go(ui, "‹", "Where it got this value", *before);
                    go(ui, "›", "Where it gets its next value", *next);
                });
                let name = RichText::new(shown.name);
                let name = if shown.changed { name.strong() } else { name };
                ui.label(name).on_hover_text(format!("{} {}", shown.ty.name(), shown.name));
                values::show(ui, shown.ty, shown.value, shown.changed);
                ui.end_row();
            }
        });
    });
    wanted
}
