//! Shader output of `printf`: it leaves its values in `debug` instructions, and the evaluator's
//! observers format the strings.
//!
//! Back ends do not print. The strings of an image come from running its samples on the evaluator,
//! in pixel order, for any back end and thread count.

use super::record::strings;
use super::{MAX_DEPTH, Subject};
use rayon::prelude::*;
use shadewright_ir::eval::{Observer, eval_observed};
use shadewright_ir::{Const, Limits, Loc};
use shadewright_lang::strings::format;
use shadewright_lang::unit::{PRINTF, PRINTF_VALUE};
use shadewright_program::CAMERA_ENTRY;
use shadewright_render::film::FilmSettings;
use shadewright_render::sampling::Sampling;
use shadewright_render::{SceneWorld, Window};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of strings per sample.
pub const MAX_OUTPUTS: usize = 10_000;

/// Formats the strings of `printf`.
#[derive(Debug, Default)]
pub struct Printer {
    values: Vec<Const>,
    /// Rows of an incomplete matrix.
    rows: Vec<f32>,
    /// The strings so far.
    pub outputs: Vec<String>,
}

impl Printer {
    /// Processes a `debug` instruction; `text` maps identifiers to strings. Returns whether it
    /// belongs to a `printf`.
    pub fn observe(&mut self, name: &str, value: &Const, text: impl Fn(u32) -> Option<String>) -> bool {
        let known = |c: &Const| match c {
            Const::U32(id) => Const::String(text(*id).unwrap_or_else(|| std::format!("string #{id:08x}")).into()),
            other => other.clone(),
        };
        if name == PRINTF {
            if let Const::String(pattern) = known(value)
                && self.outputs.len() < MAX_OUTPUTS
            {
                self.outputs.push(format(&pattern, &self.values));
            }
            self.values.clear();
            return true;
        }
        let Some(kind) = name.strip_prefix(PRINTF_VALUE) else { return false };
        match kind.split_once('.') {
            // The rows of a matrix come one by one.
            Some(_) => {
                self.rows.extend(value.floats().unwrap_or_default());
                if let Ok(rows) = <[f32; 16]>::try_from(self.rows.as_slice()) {
                    self.rows.clear();
                    self.values.push(Const::Mat4(Box::new(rows)));
                }
            }
            None if kind == "s" => self.values.push(known(value)),
            None => self.values.push(value.clone()),
        }
        true
    }
}

/// Observes one sample.
struct Listener<'a> {
    printer: Printer,
    strings: &'a HashMap<u32, String>,
}

impl Observer for Listener<'_> {
    fn variable(&mut self, name: &Arc<str>, value: &Const, _loc: Loc) {
        self.printer.observe(name, value, |id| self.strings.get(&id).cloned());
    }
}

/// The printed strings of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The strings, ordered by pixel, row by row, and by sample.
    pub outputs: Vec<String>,
    /// True if there are more.
    pub truncated: bool,
}

/// Samples evaluated at a time.
const BATCH: usize = 1024;

/// The first `most` strings printed by the shaders of a part of an image. A sample that exceeds
/// `budget` prints nothing further.
pub fn printed(subject: &Subject<'_>, window: Window, sampling: Sampling, budget: u32, most: usize) -> Printed {
    let strings = strings(&subject.program.module, subject.scene);
    let samples = sampling.count() as usize;
    let film = FilmSettings::new(&subject.scene.film, subject.program);
    let count = window.width as usize * window.height as usize * samples;
    let mut printed = Printed::default();
    for first in (0..count).step_by(BATCH) {
        let batch: Vec<Vec<String>> = (first..count.min(first + BATCH))
            .into_par_iter()
            .map(|i| {
                let (pixel, number) = (i / samples, (i % samples) as u32);
                let [x, y] = [pixel % window.width as usize, pixel / window.width as usize].map(|p| p as u32);
                let shot = sampling.sample(&film, window.x + x, window.y + y, number);
                texts_of_sample(subject, &shot.arguments().map(Const::F32), budget, &strings)
            })
            .collect();
        printed.outputs.extend(batch.into_iter().flatten());
        if printed.outputs.len() > most {
            printed.outputs.truncate(most);
            printed.truncated = true;
            break;
        }
    }
    printed
}

fn texts_of_sample(
    subject: &Subject<'_>,
    arguments: &[Const],
    budget: u32,
    strings: &HashMap<u32, String>,
) -> Vec<String> {
    let program = subject.program;
    let mut world = SceneWorld::new(program, subject.bvh);
    let limits = Limits { fuel: u64::from(budget), depth: MAX_DEPTH };
    let mut listener = Listener { printer: Printer::default(), strings };
    // Errors are reported by the renderer of the image.
    let arguments = &arguments[..program.camera_arguments()];
    let _ = eval_observed(&program.module, CAMERA_ENTRY, arguments, &mut world, limits, &mut listener);
    listener.printer.outputs
}
