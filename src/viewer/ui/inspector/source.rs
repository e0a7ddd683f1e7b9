//! The text of a shader with the place where it stands: the statement about to run, lines that ran,
//! branches that were taken.

use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Color32, FontId, ScrollArea, Sense, TextStyle, Ui};
use shadewright_base::text::source::{FileId, SourceFile, Span};
use shadewright_lang::outline::StatementKind;
use shadewright_project::probe::{Moment, Recording};
use std::collections::{HashMap, HashSet};

/// The view of a file.
#[derive(Default)]
pub struct SourceView {
    /// The lines at which some statement of the whole sample starts.
    ran: HashSet<(FileId, u32)>,
    /// The file that was shown and the line that was in view.
    seen: Option<(FileId, u32)>,
    /// The decisions shown at a step.
    decided: Option<(usize, Decisions)>,
}

impl SourceView {
    /// Another sample.
    pub fn begin(&mut self, recording: &Recording) {
        self.seen = None;
        self.decided = None;
        self.ran = recording.lines().collect();
    }

    /// Shows the file of a moment. Gives the line whose number was clicked.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        recording: &Recording,
        moment: &Moment<'_>,
        height: f32,
    ) -> Option<(FileId, u32)> {
        let span = moment.statement.span;
        let file = recording.sources.get(span.file)?;
        let lines: Vec<&str> = file.text.split('\n').collect();
        let current = file.position(span.start).line;
        let known = self.decided.take().filter(|(step, _)| *step == moment.step);
        let (_, decided) =
            self.decided.insert(known.unwrap_or_else(|| (moment.step, decisions(recording, moment, file))));
        let row = ui.text_style_height(&TextStyle::Monospace);
        let mut area = ScrollArea::both().id_salt("source").max_height(height).auto_shrink(false);
        if self.seen != Some((span.file, current)) {
            // A new place is brought into the upper half.
            let line_height = row + ui.spacing().item_spacing.y;
            let above = ((height / line_height) * 0.4).floor();
            let top = (current as f32 - 1.0 - above).max(0.0) * line_height;
            let is_far =
                self.seen.is_none_or(|(f, line)| f != span.file || line.abs_diff(current) as f32 > above * 0.5);
            if is_far {
                area = area.vertical_scroll_offset(top);
                self.seen = Some((span.file, current));
            }
        }
        let mut clicked = None;
        area.show_rows(ui, row, lines.len(), |ui, rows| {
            let mut start = lines[..rows.start].iter().map(|l| l.len() + 1).sum::<usize>();
            for index in rows {
                let number = index as u32 + 1;
                let text = lines[index];
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 4.0;
                    let ran = self.ran.contains(&(span.file, number));
                    if gutter(ui, number, ran, number == current) {
                        clicked = Some((span.file, number));
                    }
                    let branch = decided.get(&number).copied();
                    decision(ui, branch);
                    let job = line(ui, text, start, span, branch);
                    ui.label(job);
                });
                start += text.len() + 1;
            }
        });
        clicked
    }
}

/// The decisions of conditions, by their lines.
type Decisions = HashMap<u32, (StatementKind, bool)>;

/// The latest decision of each line in the call of this moment, that of the statement about to run
/// included.
fn decisions(recording: &Recording, moment: &Moment<'_>, file: &SourceFile) -> Decisions {
    let steps = std::iter::successors(Some(moment.step), |&s| recording.steps[s].before.map(|b| b as usize));
    let mut decided = HashMap::new();
    for step in steps {
        if let (Some(taken), Some(statement)) = (recording.steps[step].taken, recording.statement(step)) {
            let line = file.position(statement.span.start).line;
            decided.entry(line).or_insert((statement.kind, taken));
        }
    }
    decided
}

/// The number of a line; whether it was clicked.
fn gutter(ui: &mut Ui, number: u32, ran: bool, is_current: bool) -> bool {
    let mark = if is_current { "▶" } else { " " };
    let color = match (is_current, ran) {
        (true, _) => ui.visuals().selection.stroke.color,
        (false, true) => ui.visuals().text_color(),
        (false, false) => ui.visuals().weak_text_color().gamma_multiply(0.6),
    };
    let text = egui::RichText::new(format!("{mark}{number:>4}")).monospace().color(color);
    let label = ui.add(egui::Label::new(text).sense(Sense::click()).selectable(false));
    ran && label.on_hover_text("Click: jump to the next run of this line; after the last one, to the first").clicked()
}

/// The word for a decision, and its color.
fn verdict((kind, taken): (StatementKind, bool)) -> (&'static str, Color32) {
    let word = match (kind, taken) {
        (StatementKind::Lights, true) => "lit",
        (StatementKind::Lights, false) => "no more light",
        (_, true) => "true",
        (_, false) => "false",
    };
    (word, if taken { Color32::from_rgb(60, 160, 60) } else { Color32::from_rgb(200, 90, 60) })
}

/// The sign of what a line decided, where it is seen however long the line is.
fn decision(ui: &mut Ui, branch: Option<(StatementKind, bool)>) {
    let (word, color) = branch.map_or(("", Color32::TRANSPARENT), verdict);
    let sign = if branch.is_some_and(|(_, taken)| taken) { "●" } else { "○" };
    let label = ui.label(egui::RichText::new(sign).monospace().color(color));
    if branch.is_some() {
        label.on_hover_text(format!("went this way last: {word}"));
    }
}

/// A line, which starts at an offset of its file, with the part of the statement in it marked.
fn line(ui: &Ui, text: &str, start: usize, statement: Span, branch: Option<(StatementKind, bool)>) -> LayoutJob {
    let font = FontId::monospace(ui.text_style_height(&TextStyle::Monospace) * 0.85);
    let plain = TextFormat {
        font_id: font.clone(),
        color: ui.visuals().text_color(),
        valign: Align::Center,
        ..TextFormat::default()
    };
    let marked = TextFormat {
        background: ui.visuals().selection.bg_fill.gamma_multiply(0.7),
        color: ui.visuals().strong_text_color(),
        ..plain.clone()
    };
    let mut job = LayoutJob::default();
    let place = |at: u32| (at as usize).saturating_sub(start).min(text.len());
    // A statement that continues from the line above is marked from the first letter.
    let indent = text.len() - text.trim_start().len();
    let begin = place(statement.start).max(indent);
    let end = place(statement.end).max(begin);
    let end = begin + text.get(begin..end).unwrap_or_default().trim_end().len();
    let mut append = |part: Option<&str>, format: &TextFormat| {
        let part = part.unwrap_or_default().replace('\t', "    ").replace('\r', "");
        if !part.is_empty() {
            job.append(&part, 0.0, format.clone());
        }
    };
    append(text.get(..begin), &plain);
    append(text.get(begin..end), &marked);
    append(text.get(end..), &plain);
    if let Some((word, color)) = branch.map(verdict) {
        job.append(&format!("→ {word}"), 10.0, TextFormat { color, ..plain });
    }
    job
}
