//! Where the back ends' images differ: false colors, and the metrics and the verdict of
//! [`shadewright_golden::compare`].
//!
//! FLIP and SSIM take long, so they are computed on a thread of their own, of the latest pair of
//! images that can be compared, and while images still arrive no more than half of the time: a
//! megapixel takes 0.6 s of one core (`time shadewright diff A.exr B.exr`, 1280×820).

use super::displayed::{Texture, image};
use super::labels::{is_current, why_nothing};
use super::worker::BackgroundWorker;
use crate::develop::Look;
use crate::model::Model;
use crate::workers::Shown;
use egui::{Color32, ColorImage, Context, Frame, Grid, Painter, Pos2, Rect, RichText, Ui, Vec2, vec2};
use shadewright_golden::compare::{Report, Tolerance, compare};
use shadewright_render::Backend;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The widest that the metrics may be, in points.
const METRICS_WIDTH: f32 = 260.0;

/// The space from which all metrics are shown, in points.
const METRICS_SPACE: Vec2 = vec2(280.0, 200.0);

/// The GPU's and the RPU's image.
type Pair = [Arc<Shown>; 2];

/// The comparison that is shown.
#[derive(Default)]
pub struct Difference {
    worker: Option<BackgroundWorker<Pair, Compared>>,
    latest: Option<Compared>,
    texture: Option<Texture>,
}

/// The result of a comparison.
struct Compared {
    pair: Pair,
    took: Duration,
    ended: Instant,
    /// The metrics, and the false colors until they are in the texture; or why the images cannot
    /// be compared.
    result: Result<(Report, Option<Arc<ColorImage>>), String>,
}

impl Compared {
    fn new(pair: Pair) -> Self {
        let start = Instant::now();
        let [gpu, rpu] = &pair;
        let result = match compare(&gpu.image, &rpu.image) {
            Ok(report) => {
                let colors = image(&report.difference_image(), Look::default(), 1);
                Ok((report, Some(colors)))
            }
            Err(error) => Err(error.to_string()),
        };
        let ended = Instant::now();
        Self { pair, took: ended - start, ended, result }
    }
}

impl Difference {
    /// Has the latest images compared, and takes the last that were. Gives what there is to wait
    /// for as long as there is nothing to show.
    pub fn update(&mut self, context: &Context, model: &Model, sharp: bool) -> Result<(), String> {
        let worker = self.worker.get_or_insert_with(|| BackgroundWorker::open(context.clone(), Compared::new));
        if let Some(mut compared) = worker.answer() {
            if let Ok((_, colors)) = &mut compared.result
                && let Some(colors) = colors.take()
            {
                Texture::put(&mut self.texture, context, "difference", colors);
            }
            self.latest = Some(compared);
        }
        let pair = comparable(model)?;
        if worker.is_free()
            && let Some(wait) = self.latest.as_ref().map_or(Some(Duration::ZERO), |latest| latest.wait(&pair))
        {
            if wait.is_zero() {
                worker.ask(pair);
            } else {
                context.request_repaint_after(wait);
            }
        }
        if let Some(texture) = &mut self.texture {
            texture.set_sharp(sharp);
        }
        match &self.latest {
            Some(latest) if latest.pair.iter().all(|shown| is_current(model, shown)) => {
                latest.result.as_ref().map(|_| ()).map_err(String::clone)
            }
            _ => Err("Comparing…".to_string()),
        }
    }

    /// Forgets what was compared.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Paints the false colors over a place on the screen.
    pub fn paint(&self, painter: &Painter, place: Rect) {
        if let Some(texture) = &self.texture {
            texture.paint(painter, place, Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0)), Color32::WHITE);
        }
    }

    /// The FLIP error of a pixel, 0 to 1.
    pub fn flip_at(&self, [x, y]: [u32; 2]) -> Option<f32> {
        let (report, _) = self.latest.as_ref()?.result.as_ref().ok()?;
        let inside = x < report.width && y < report.height;
        report.flip_map.get(y as usize * report.width as usize + x as usize).copied().filter(|_| inside)
    }

    /// Shows the metrics in a corner of a place on the screen.
    pub fn metrics(&self, ui: &mut Ui, place: Rect) {
        let Some(Compared { pair: [gpu, rpu], result: Ok((report, _)), .. }) = &self.latest else { return };
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place.shrink(6.0)));
        child.set_clip_rect(place.intersect(ui.clip_rect()));
        Frame::popup(child.style()).show(&mut child, |ui| {
            let verdict = Tolerance::default().judge(report);
            ui.set_max_width(METRICS_WIDTH);
            let text = RichText::new(headline(verdict.passed, gpu, rpu)).strong();
            ui.label(match (gpu.samples == rpu.samples, verdict.passed) {
                (false, _) => text,
                (true, true) => text.color(pass_color(ui)),
                (true, false) => text.color(super::super::error_color(ui)),
            });
            // A small window keeps the image.
            let small = place.width() < METRICS_SPACE.x || place.height() < METRICS_SPACE.y;
            Grid::new("metrics").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
                for (name, value) in lines(report).into_iter().take(if small { 1 } else { usize::MAX }) {
                    ui.label(name);
                    ui.monospace(value);
                    ui.end_row();
                }
            });
            if !small {
                ui.weak(tolerance());
            }
        });
    }
}

impl Compared {
    /// How long to wait before another pair is compared; `None` for one that was.
    fn wait(&self, pair: &Pair) -> Option<Duration> {
        let same = self.pair.iter().zip(pair).all(|(old, new)| Arc::ptr_eq(old, new));
        let last = pair.iter().all(|shown| shown.is_finished());
        match (same, last) {
            (true, _) => None,
            (false, true) => Some(Duration::ZERO),
            (false, false) => Some(self.took.saturating_sub(self.ended.elapsed())),
        }
    }
}

/// The images, when they can be compared: both whole, of the latest scene and from one place.
/// Otherwise what is missing.
fn comparable(model: &Model) -> Result<Pair, String> {
    let whole = |backend: Backend| {
        let (is, name) = (model.backend(backend), backend.title());
        let missing = || why_nothing(model, backend);
        let shown = is.shown.as_ref().filter(|_| is.failure.is_none()).ok_or_else(missing)?;
        if !is_current(model, shown) {
            return Err(missing());
        }
        if shown.step > 1 {
            return Err(format!("Waiting for the {name}'s image in full resolution…"));
        }
        Ok(shown.clone())
    };
    Ok([whole(Backend::GPU)?, whole(Backend::RPU)?])
}

/// The verdict in words. Images that differ in samples have none: their noise differs, whatever the
/// back ends do.
fn headline(passed: bool, gpu: &Shown, rpu: &Shown) -> String {
    if gpu.samples != rpu.samples {
        return format!("No verdict yet: {} samples on the GPU, {} on the RPU", gpu.samples, rpu.samples);
    }
    let verdict = if passed { "The images agree" } else { "The images differ" };
    if gpu.is_finished() && rpu.is_finished() {
        verdict.to_string()
    } else {
        format!("{verdict} so far ({} of {} samples)", gpu.samples, gpu.wanted)
    }
}

/// The metrics by name.
fn lines(report: &Report) -> Vec<(String, String)> {
    let levels = Tolerance::default().levels;
    let share = report.share_over(levels);
    let pixels = (share * report.pixels() as f64).round();
    let max = report.difference.max;
    let mut lines = vec![
        ("FLIP mean".to_string(), format!("{:.5}", report.flip_mean)),
        ("SSIM".to_string(), format!("{:.5}", report.ssim)),
        ("largest difference".to_string(), format!("{max:.4} ({:.0}/255)", max * 255.0)),
        (format!("pixels over {levels}/255"), format!("{pixels} ({:.3} %)", share * 100.0)),
    ];
    let [gpu, rpu] = report.non_finite;
    if gpu + rpu > 0 {
        lines.push(("NaN or infinite".to_string(), format!("GPU {gpu}, RPU {rpu}")));
    }
    lines
}

/// Describes the tolerance within which images agree.
fn tolerance() -> String {
    let Tolerance { flip_mean, levels, over_threshold_share } = Tolerance::default();
    let share = over_threshold_share * 100.0;
    format!(
        "They agree when FLIP's mean is below {flip_mean} and fewer than {share} % of pixels are over {levels}/255."
    )
}

fn pass_color(ui: &Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_rgb(110, 200, 120) } else { Color32::from_rgb(20, 120, 40) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::{loaded, shown};
    use shadewright_image::Image;

    #[test]
    fn the_metrics_are_those_of_the_harness() {
        let first = Image::new(20, 10, vec![[0.2, 0.2, 0.2, 1.0]; 200]).unwrap();
        let mut second = first.clone();
        second.rgba[3] = [f32::NAN, 0.2, 0.2, 1.0];
        let report = compare(&first, &second).unwrap();
        let lines = lines(&report);
        assert!(lines.contains(&("pixels over 4/255".into(), "1 (0.500 %)".into())), "{lines:?}");
        assert!(lines.contains(&("largest difference".into(), "1.0000 (255/255)".into())), "{lines:?}");
        assert!(lines.contains(&("NaN or infinite".into(), "GPU 0, RPU 1".into())), "{lines:?}");
    }

    /// An image of so many of 4 samples.
    fn at(backend: Backend, samples: u32) -> Arc<Shown> {
        Arc::new(Shown { samples, ..(*shown(&loaded(), backend, 1)).clone() })
    }

    #[test]
    fn a_verdict_says_which_images_it_is_about() {
        let said = |gpu, rpu| headline(true, &at(Backend::GPU, gpu), &at(Backend::RPU, rpu));
        assert_eq!(said(4, 4), "The images agree");
        assert_eq!(said(2, 2), "The images agree so far (2 of 4 samples)");
        assert_eq!(said(4, 1), "No verdict yet: 4 samples on the GPU, 1 on the RPU");
    }

    #[test]
    fn a_pair_is_compared_once_and_unfinished_ones_no_more_than_half_of_the_time() {
        let pair = |samples| Backend::INTERACTIVE.map(|backend| at(backend, samples));
        let (unfinished, finished) = (pair(2), pair(4));
        let mut compared = Compared::new(pair(1));
        assert!(compared.result.is_ok());
        compared.took = Duration::from_secs(1000);
        assert_eq!(compared.wait(&compared.pair), None);
        assert!(compared.wait(&unfinished).is_some_and(|wait| wait > Duration::from_secs(500)));
        assert_eq!(compared.wait(&finished), Some(Duration::ZERO));
    }
}
