//! A divergence as text for a terminal, and as JSON.

use super::explain::{Decision, Effect, Operand, Operation, Parted, SourceLocation};
use super::values::Shown;
use super::{Difference, Divergence, EVALUATOR, RUNNERS};
use serde_json::{Value as Json, json};
use shadewright_base::text::diagnostics::{Diagnostic, render};
use shadewright_base::text::source::SourceMap;
use std::fmt::Write as _;

/// A color and coverage.
pub fn rgba([r, g, b, a]: &[f32; 4]) -> String {
    format!("({r}, {g}, {b}), alpha {a}")
}

impl Divergence {
    /// All of it, in lines.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let [x, y] = self.pixel;
        let [a, b, _] = &self.runners;
        let _ = writeln!(out, "pixel {x},{y}, sample {} of {}: {}", self.sample, self.samples, self.verdict());
        let width = self.name_width();
        for (name, color) in self.runners.iter().zip(&self.colors) {
            let _ = writeln!(out, "  {name:width$}  {}  {}", color.hex.join(" "), rgba(&color.rgba));
        }
        let [first, second] = &self.means;
        if self.differing_samples > 0 {
            let _ = writeln!(out, "pixel on {a}: {}", rgba(&first.rgba));
            let _ = writeln!(out, "pixel on {b}: {}", rgba(&second.rgba));
            let share =
                self.share.map(|share| format!("; this one is {:.0} % of the pixel's difference", 100.0 * share));
            let (differing, samples) = (self.differing_samples, self.samples);
            let _ = writeln!(out, "{differing} of {samples} samples differ{}", share.unwrap_or_default());
        }
        if let Some(difference) = &self.difference {
            let [a, b] = &difference.between;
            let total = self.records.iter().max().unwrap_or(&0);
            let _ = writeln!(out, "\nfirst difference of {a} and {b}: record {} of {total}", difference.record);
            match &difference.value {
                Some(value) => self.write_operation(&mut out, value, difference.pair, "this value differs"),
                None => _ = writeln!(out, "  no value differs before control flow does"),
            }
            if let Some(decision) = &difference.decision {
                self.write_decision(&mut out, decision, "why it matters: ", difference);
            }
            if let Some(parted) = &difference.parted {
                self.write_parted(&mut out, parted, difference);
            }
            if difference.decision.is_none() && difference.parted.is_none() {
                let _ = writeln!(out, "\nno condition, index or hit differs: the difference is one of numbers only");
            }
        }
        let _ = writeln!(out);
        for (name, text) in self.runners.iter().zip(&self.evaluator) {
            let _ = writeln!(out, "{name}: {text}");
        }
        for note in &self.notes {
            let _ = writeln!(out, "\nnote: {note}");
        }
        out
    }

    /// The result in a few words.
    pub fn verdict(&self) -> String {
        let [a, b, evaluator] = &self.runners;
        let pair = self.difference.as_ref().map(|difference| difference.pair);
        let differ = |pair: [usize; 2]| self.colors_differ(pair);
        match pair {
            Some([0, 1]) => format!("{a} and {b} differ"),
            // Recording values made them equal.
            _ if differ([0, 1]) => format!("{a} and {b} give this sample other colors, but no recorded value differs"),
            Some(_) => format!("{a} and {b} agree, but not with the {evaluator}"),
            None if self.differing_samples > 0 => {
                format!("{a} and {b} compute the same values; other samples of the pixel differ")
            }
            None if differ([0, EVALUATOR]) || differ([1, EVALUATOR]) => {
                format!("{a} and {b} agree, but not with the {evaluator}, though no recorded value differs")
            }
            None => format!("{a}, {b} and the {evaluator} compute the same values"),
        }
    }

    /// All of it for programs.
    pub fn json(&self) -> Json {
        let mut json = json!(self);
        json["equal"] = self.is_equal().into();
        json["verdict"] = self.verdict().into();
        json
    }

    fn name_width(&self) -> usize {
        self.runners.iter().map(String::len).max().unwrap_or(0)
    }

    fn write_operation(&self, out: &mut String, operation: &Operation, pair: [usize; 2], label: &str) {
        write_place(out, &operation.place, &self.sources, label);
        let Operation { name, meaning, .. } = operation;
        match (&operation.variable, &operation.leads_to) {
            (Some(variable), _) => _ = writeln!(out, "  variable   {variable}"),
            (None, Some(variable)) => _ = writeln!(out, "  variable   on the way to {variable}"),
            (None, None) => {}
        }
        let _ = writeln!(out, "  operation  {name}: {meaning}");
        if !operation.instruction.is_empty() {
            let _ = writeln!(out, "  in the IR  {}", operation.instruction);
        }
        for (number, operand) in operation.operands.iter().enumerate() {
            self.write_operand(out, &letters(number), operand, pair);
        }
        let _ = writeln!(out, "  result");
        self.write_values(out, &operation.results, pair, operation.ulps);
        for call in &operation.calls {
            let _ = writeln!(out, "  in {call}");
        }
    }

    fn write_operand(&self, out: &mut String, letters: &str, operand: &Operand, pair: [usize; 2]) {
        let name = &operand.name;
        match &operand.values {
            None => _ = writeln!(out, "  {letters:<9}  {name}"),
            Some(values) if values.iter().all(|value| *value == values[0]) => {
                let _ =
                    writeln!(out, "  {letters:<9}  {name} = {}  {}, equal", values[0].text, values[0].hex.join(" "));
            }
            Some(values) => {
                let [a, b] = pair.map(|runner| &self.runners[runner]);
                let differs = if operand.differs { "differs" } else { &format!("is equal on {a} and {b}") };
                let _ = writeln!(out, "  {letters:<9}  {name} {differs}");
                self.write_values(out, values, pair, operand.ulps);
            }
        }
    }

    /// A value on all runners. The distance stands at the second one of the pair that differs.
    fn write_values(&self, out: &mut String, values: &[Shown; RUNNERS], pair: [usize; 2], ulps: Option<u64>) {
        let width = self.name_width();
        let hex_width = values.iter().map(|v| v.hex.join(" ").len()).max().unwrap_or(0);
        for (runner, (name, value)) in self.runners.iter().zip(values).enumerate() {
            let equal = values[..runner].iter().position(|other| other == value).map(|n| &self.runners[n]);
            let remark = match (ulps, equal) {
                (Some(ulps), _) if runner == pair[1] => format!("  {ulps} ulp apart"),
                (_, Some(other)) => format!("  as {other}"),
                (_, None) => String::new(),
            };
            let hex = value.hex.join(" ");
            let _ = writeln!(out, "    {name:width$}  {hex:hex_width$}  {}{remark}", value.text);
        }
    }

    fn write_parted(&self, out: &mut String, parted: &Parted, difference: &Difference) {
        // The first decision may be the one at which they part.
        let is_known = parted.decision.as_ref().zip(difference.decision.as_ref()).is_some_and(|(a, b)| a == b);
        if let Some(decision) = parted.decision.as_ref().filter(|_| !is_known) {
            self.write_decision(out, decision, "then ", difference);
        }
        let after = parted.record.map_or(String::new(), |record| format!(" after record {record}"));
        let _ = writeln!(out, "\nthe back ends execute different code{after}");
        let width = self.name_width();
        for (name, place) in difference.between.iter().zip(&parted.to) {
            match place {
                Some(place @ SourceLocation { shader, function, block, .. }) => {
                    let holder = shader.as_ref().map_or(String::new(), |shader| format!(" in {shader}"));
                    let _ = writeln!(out, "    {name:width$}  goes on {place}{holder} (block {block} of {function})");
                }
                None => _ = writeln!(out, "    {name:width$}  has ended the sample"),
            }
        }
    }

    fn write_decision(&self, out: &mut String, decision: &Decision, title: &str, difference: &Difference) {
        let what = match &decision.effect {
            Effect::Branch { ends_loop_at: Some(_), .. } => "a loop ends at another iteration",
            Effect::Branch { .. } => "a branch goes another way",
            Effect::Select => "another value is chosen",
            Effect::Hit { .. } => "a ray hits something else",
            Effect::Shadow => "a shadow ray is blocked on one back end",
            Effect::Number => "an integer or condition is another",
        };
        let after = match decision.record.saturating_sub(difference.record) {
            0 => "in the same record".to_string(),
            1 => "one record later".to_string(),
            n => format!("{n} records later"),
        };
        let _ = writeln!(out, "\n{title}{after}, {what}");
        self.write_operation(out, &decision.operation, difference.pair, "this decides");
        let width = self.name_width();
        if let Some(margins) = &decision.margins {
            let _ = writeln!(out, "  a − b");
            for (name, margin) in self.runners.iter().zip(margins) {
                let text = if *margin == 0.0 { "0".to_string() } else { format!("{margin:e}") };
                let _ = writeln!(out, "    {name:width$}  {text}");
            }
        }
        match &decision.effect {
            Effect::Hit { objects } => {
                let _ = writeln!(out, "  hit");
                for (name, object) in self.runners.iter().zip(objects) {
                    let _ = writeln!(out, "    {name:width$}  {object}");
                }
            }
            Effect::Branch { ways, ends_loop_at } => {
                for (holds, way) in [true, false].into_iter().zip(ways) {
                    let Some(way) = way else { continue };
                    let end = if *ends_loop_at == Some(holds) { ", out of the loop" } else { "" };
                    let _ = writeln!(out, "  {holds} goes on {way}{end}");
                }
            }
            Effect::Select | Effect::Shadow | Effect::Number => {}
        }
    }
}

/// The name of an operand: `a` to `z`, then `aa`, `ab`, …
fn letters(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    let before = (number / 26).checked_sub(1).map(letters);
    format!("{}{last}", before.unwrap_or_default())
}

/// The place with its source text.
fn write_place(out: &mut String, place: &SourceLocation, sources: &SourceMap, label: &str) {
    let holder = place.shader.clone().unwrap_or_else(|| format!("function {}", place.function));
    let near = if place.is_near { ", in code without a line of its own, near this" } else { "" };
    let _ = writeln!(out, "  in {holder}{near}");
    if let Some(span) = place.span {
        // The excerpt without the line of the message.
        let label = if place.is_near { "near this" } else { label };
        let excerpt = render(&Diagnostic::warning("").at(span, label), sources);
        excerpt.lines().skip(1).filter(|line| !line.is_empty()).for_each(|line| _ = writeln!(out, "{line}"));
    }
    for position in &place.inlined_at {
        let _ = writeln!(out, "  inlined at {position}");
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn operands_have_letters_beyond_z() {
        assert_eq!([0, 1, 25, 26, 27, 52, 702].map(letters), ["a", "b", "z", "aa", "ab", "ba", "aaa"]);
    }
}
