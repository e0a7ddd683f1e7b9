//! A probe as text for a terminal, and as JSON.

use super::navigate::Reach;
use super::rays::{RayKind, RayRecord, RayTree, SurfacePoint};
use super::recording::{Moment, Recording};
use super::value::{Value, number};
use super::{Named, Probe, Stopped};
use serde_json::{Value as Json, json};
use shadewright_lang::outline::StatementKind;
use std::fmt::{self, Write as _};

/// Indentation per level of the ray tree or call stack.
const INDENT: usize = 2;

impl Stopped {
    /// The error, with its location if known.
    pub fn describe(&self, recording: &Recording) -> String {
        match self.place {
            Some(place) => format!("{}: {}", recording.sources.describe(place), self.message),
            None => self.message.clone(),
        }
    }
}

impl Probe {
    /// The sample, what it hit, and the tree of its rays.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write_summary(&mut out);
        out
    }

    fn write_summary(&self, out: &mut String) -> fmt::Result {
        let ([x, y], [across, down]) = (self.sample.pixel, self.raster);
        let (number_of, count) = (self.sample.number, self.sample.sampling.count());
        writeln!(out, "pixel   {x},{y}, sample {number_of} of {count}, at ({across}, {down})")?;
        match &self.failure {
            Some(stopped) => writeln!(out, "stopped: {}", stopped.describe(&self.recording))?,
            None => writeln!(out, "color   {}, alpha {}", Value::Triple(self.color), number(self.alpha))?,
        }
        if let Some((color, alpha)) = self.imaged {
            writeln!(out, "imager  {}, alpha {}", Value::Triple(color), number(alpha))?;
        }
        match self.first_hit() {
            Some(hit) => write_hit(out, hit)?,
            None => writeln!(out, "hit     nothing")?,
        }
        if !self.printed.is_empty() {
            writeln!(out, "printed")?;
            for line in self.printed.concat().lines() {
                writeln!(out, "{:INDENT$}{line}", "")?;
            }
        }
        writeln!(out, "rays")?;
        // Depth first, children in order.
        let tree = RayTree::new(&self.rays);
        let mut work: Vec<(u32, usize)> = tree.roots.iter().rev().map(|&i| (i, 1)).collect();
        while let Some((index, depth)) = work.pop() {
            let ray = &self.rays[index as usize];
            writeln!(out, "{:indent$}{}", "", describe(ray), indent = depth * INDENT)?;
            work.extend(tree.children[index as usize].iter().rev().map(|&i| (i, depth + 1)));
        }
        if self.rays_truncated {
            writeln!(out, "  … and more, not recorded")?;
        }
        Ok(())
    }

    /// The steps with the values that changed before each.
    pub fn trace(&self, reach: Reach) -> String {
        let mut out = String::new();
        for moment in moments(&self.recording, reach) {
            // Writing to a string does not fail.
            let _ = write_step(&mut out, &self.recording, &moment);
        }
        if self.recording.truncated {
            let _ = writeln!(out, "… and more: {} steps are recorded", self.recording.len());
        }
        out
    }

    /// The sample, its rays and, where `steps` says so, its steps, as JSON.
    pub fn json(&self, steps: Option<Reach>) -> Json {
        let mut json = json!({
            "pixel": self.sample.pixel,
            "sample": self.sample.number,
            "samples": self.sample.sampling.count(),
            "raster": self.raster,
            "color": self.color,
            "alpha": self.alpha,
            "imaged": self.imaged.map(|(color, alpha)| json!({ "color": color, "alpha": alpha })),
            "stopped": self.failure.as_ref().map(|f| f.describe(&self.recording)),
            "printed": self.printed,
            "rays": self.rays,
            "rays_truncated": self.rays_truncated,
        });
        if let Some(reach) = steps {
            let steps = moments(&self.recording, reach).map(|m| step_json(&self.recording, &m));
            json["steps"] = steps.collect();
            json["steps_truncated"] = self.recording.truncated.into();
        }
        json
    }
}

fn moments(recording: &Recording, reach: Reach) -> impl Iterator<Item = Moment<'_>> {
    std::iter::successors(recording.first(reach), move |&s| recording.into(s, reach)).filter_map(|s| recording.at(s))
}

fn write_hit(out: &mut String, hit: &SurfacePoint) -> fmt::Result {
    writeln!(out, "hit     {}, at a distance of {}", hit.subject(), number(hit.distance))?;
    writeln!(out, "shader  {}", hit.shader)?;
    let list = |out: &mut String, title: &str, named: &[Named]| -> fmt::Result {
        if !named.is_empty() {
            writeln!(out, "{title}")?;
        }
        named.iter().try_for_each(|n| writeln!(out, "  {:6} {} = {}", n.ty.name(), n.name, n.value))
    };
    list(out, "parameters", &hit.parameters)?;
    list(out, "variables", &hit.globals)
}

/// A ray in one line.
fn describe(ray: &RayRecord) -> String {
    let mut text = ray.kind.name().to_string();
    if let Some(light) = &ray.light {
        text += &format!(" ray to light {} ({})", light.number, light.shader);
    }
    if ray.layer > 0 {
        text += &format!(", behind surface {}", ray.layer);
    }
    text += &format!(": {}", ray.outcome());
    if let Some(hit) = ray.hit.as_ref().filter(|_| ray.kind != RayKind::Shadow) {
        text += &format!(" ({}) at a distance of {}", hit.shader, number(hit.distance));
    }
    if let Some(returned) = &ray.returned {
        text += &format!("; color {}", Value::Triple(returned.color));
        if returned.opacity != [1.0; 3] {
            text += &format!(", opacity {}", Value::Triple(returned.opacity));
        }
    }
    text
}

/// The text of a step's statement on one line.
pub fn statement_text(recording: &Recording, step: usize) -> String {
    let span = recording.statement(step).map(|s| s.span).unwrap_or_default();
    let file = recording.sources.get(span.file);
    let text = file.and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write_step(out: &mut String, recording: &Recording, moment: &Moment<'_>) -> fmt::Result {
    let indent = INDENT * (moment.stack.len() - 1);
    let is_first = recording.steps[moment.step].before.is_none();
    if is_first {
        writeln!(out, "{:indent$}{}", "", moment.outline.title())?;
    }
    for v in moment.variables.iter().filter(|v| is_first || v.changed) {
        writeln!(out, "{:indent$}        {} {} = {}", "", v.ty.name(), v.name, v.value)?;
    }
    let Some((file, line)) = recording.place(moment.step) else { return Ok(()) };
    let text = statement_text(recording, moment.step);
    let taken = match (moment.statement.kind, moment.taken) {
        (StatementKind::Condition, Some(true)) => "  → true",
        (StatementKind::Condition, Some(false)) => "  → false",
        (StatementKind::Lights, Some(true)) => "  → lit",
        (StatementKind::Lights, Some(false)) => "  → no more light",
        _ => "",
    };
    writeln!(out, "{:indent$}    {}:{line}  {text}{taken}", "", file.name)
}

fn step_json(recording: &Recording, moment: &Moment<'_>) -> Json {
    let span = moment.statement.span;
    let file = recording.sources.get(span.file);
    let position = file.map(|f| f.position(span.start));
    let variables: Vec<Json> = moment
        .variables
        .iter()
        .map(|v| json!({ "name": v.name, "type": v.ty.name(), "value": v.value, "changed": v.changed }))
        .collect();
    json!({
        "step": moment.step,
        "function": &*moment.outline.name,
        "depth": moment.stack.len() - 1,
        "file": file.map(|f| f.name.as_str()),
        "line": position.map(|p| p.line),
        "column": position.map(|p| p.column),
        "text": statement_text(recording, moment.step),
        "taken": moment.taken,
        "ray": moment.ray,
        "variables": variables,
    })
}
