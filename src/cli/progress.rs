//! Progress of long work on standard error: a bar on a terminal, elsewhere a line every few
//! seconds.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Steps of the bar.
const STEPS: u64 = 1000;
/// Time between lines where there is no terminal; shorter work prints none.
const INTERVAL: Duration = Duration::from_secs(5);
/// Time between redraws of the bar while no progress is reported, so that the elapsed time stays
/// current.
const TICK: Duration = Duration::from_millis(500);

/// The work that is in progress.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The name of the work, for example `rendering`.
    pub what: &'a str,
    /// Samples per pixel that there are to take, where the work is a render.
    pub samples: Option<u32>,
}

/// Runs `work` with a callback that takes the part that is done, from 0 to 1, and shows it.
pub fn with_progress<T>(shown: Work<'_>, work: impl FnOnce(&(dyn Fn(f32) + Sync)) -> T) -> T {
    let meter = Meter { samples: shown.samples, first: Arc::default() };
    if !std::io::stderr().is_terminal() {
        let begin = Instant::now();
        let last = Mutex::new(begin);
        return work(&|part| {
            meter.first.get_or_init(|| part);
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() >= INTERVAL && part < 1.0 {
                *last = Instant::now();
                eprintln!("{}: {}", shown.what, meter.status(part, begin.elapsed()));
            }
        });
    }
    let bar = ProgressBar::new(STEPS);
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {status}") {
        let meter = meter.clone();
        let status = move |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = out.write_str(&meter.status(state.fraction(), state.elapsed()));
        };
        bar.set_style(style.progress_chars("=> ").with_key("status", status));
    }
    bar.set_prefix(shown.what.to_string());
    bar.enable_steady_tick(TICK);
    let result = work(&|part| {
        meter.first.get_or_init(|| part);
        bar.set_position((part * STEPS as f32) as u64);
    });
    bar.finish_and_clear();
    result
}

/// Estimates how long work takes from how long its parts took.
#[derive(Clone)]
struct Meter {
    samples: Option<u32>,
    /// The part that was done at the first report: a render that is resumed does not begin at 0.
    first: Arc<OnceLock<f32>>,
}

impl Meter {
    /// `24 of 64 samples, 12 s elapsed, 20 s remaining`
    fn status(&self, part: f32, elapsed: Duration) -> String {
        let amount = match self.samples {
            // Rounded down, but for what the part's own rounding took away.
            Some(all) => format!("{} of {all} samples", (f64::from(part) * f64::from(all) + 0.01) as u32),
            None => format!("{:.0} %", part * 100.0),
        };
        let since = part - self.first.get().copied().unwrap_or(0.0);
        let remaining = if since > 0.0 && part < 1.0 {
            let time = elapsed.mul_f64(f64::from((1.0 - part) / since));
            format!(", {} remaining", Seconds(time))
        } else {
            String::new()
        };
        format!("{amount}, {} elapsed{remaining}", Seconds(elapsed))
    }
}

/// A duration for people, in whole seconds.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.as_secs_f64().round() as u64;
        match (all / 3600, all / 60 % 60, all % 60) {
            (0, 0, seconds) => write!(f, "{seconds} s"),
            (0, minutes, seconds) => write!(f, "{minutes} min {seconds:02} s"),
            (hours, minutes, _) => write!(f, "{hours} h {minutes:02} min"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(samples: Option<u32>, first: f32, part: f32, seconds: u64) -> String {
        let meter = Meter { samples, first: Arc::new(first.into()) };
        meter.status(part, Duration::from_secs(seconds))
    }

    #[test]
    fn the_status_has_samples_and_times() {
        assert_eq!(status(Some(64), 0.0, 0.375, 12), "24 of 64 samples, 12 s elapsed, 20 s remaining");
        assert_eq!(status(None, 0.0, 0.25, 60), "25 %, 1 min 00 s elapsed, 3 min 00 s remaining");
        assert_eq!(status(Some(8), 0.0, 0.0, 4000), "0 of 8 samples, 1 h 06 min elapsed");
    }

    #[test]
    fn a_resumed_render_is_timed_from_where_it_began() {
        assert_eq!(status(Some(4), 0.5, 0.75, 10), "3 of 4 samples, 10 s elapsed, 10 s remaining");
    }
}
