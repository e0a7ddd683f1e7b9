//! Pass scheduling: coarse passes until all pixels are covered, then samples, each sized by the
//! time of earlier passes. Pure decisions: nothing here draws or waits.

use shadewright_render::Window;
use shadewright_render::progressive::Pass;
use std::time::Duration;

/// Widths of the blocks of coarse passes, as powers of two: 2⁵ at most.
const STEP_POWERS: usize = 6;

/// Target time of the first pass of a view. With the frame that shows it, and the pass that was
/// under way, it stays well within a tenth of a second.
const FIRST: Duration = Duration::from_millis(35);

/// Target time of a later pass: long enough to improve the image visibly, short enough to end soon
/// when it is superseded.
const LATER: Duration = Duration::from_millis(150);

/// Pixels of the first pass of a program of whose speed nothing is known: 30 ms at a slow 0.3
/// million samples a second.
const UNKNOWN_PIXELS: u64 = 10_000;

/// Weight of a new measurement in the exponential moving average.
const NEW_SHARE: f64 = 0.5;

/// How long a sample takes in passes of each step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speed {
    /// Seconds a sample, by the power of the step; coarse passes are slower by what every pass
    /// takes.
    seconds: [Option<f64>; STEP_POWERS],
}

impl Speed {
    /// How long a pass of so many samples in all will take, judged by passes of the same step, or
    /// of that nearest to it.
    fn expect(&self, power: usize, samples: u64) -> Option<Duration> {
        let known = (0..STEP_POWERS).filter_map(|p| self.seconds[p].map(|seconds| (p.abs_diff(power), seconds)));
        let (_, seconds) = known.min_by_key(|&(distance, _)| distance)?;
        Some(Duration::from_secs_f64((seconds * samples as f64).min(1e6)))
    }

    /// Learns from a pass that took so long.
    pub fn learn(&mut self, pass: Pass, window: Window, time: Duration) {
        let new = seconds_a_sample(pass, window, time);
        let slot = &mut self.seconds[pass.step.ilog2() as usize];
        *slot = Some(slot.map_or(new, |old| old + (new - old) * NEW_SHARE));
    }

    /// Learns from a pass that was stopped after so long.
    pub fn learn_at_least(&mut self, pass: Pass, window: Window, time: Duration) {
        let least = seconds_a_sample(pass, window, time);
        let slot = &mut self.seconds[pass.step.ilog2() as usize];
        *slot = slot.map(|known| known.max(least)).or((time > FIRST).then_some(least));
    }
}

fn seconds_a_sample(pass: Pass, window: Window, time: Duration) -> f64 {
    time.as_secs_f64() / samples(pass, window).max(1) as f64
}

/// The samples of a pass, of all pixels.
fn samples(pass: Pass, window: Window) -> u64 {
    let [width, height] = pass.size(window).map(u64::from);
    width * height * u64::from(pass.count)
}

/// How far a view is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    window: Window,
    wanted: u32,
    /// The power of the finest step so far; none before the first pass.
    power: Option<usize>,
    /// Samples of every pixel so far.
    samples: u32,
}

impl Plan {
    /// A view of which nothing is drawn, and `wanted` samples a pixel shall be.
    pub fn new(window: Window, wanted: u32) -> Self {
        Self { window, wanted, power: None, samples: 0 }
    }

    /// The same, where the image that is shown meanwhile is better than a coarse one.
    #[must_use]
    pub fn without_coarse_passes(self) -> Self {
        Self { power: Some(0), ..self }
    }

    /// True if nothing is drawn.
    pub fn is_new(&self) -> bool {
        self.power.is_none()
    }

    /// Samples of every pixel so far.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// True if the next pass begins a film of its own.
    pub fn begins_film(&self) -> bool {
        self.samples == 0
    }

    /// The next pass; `None` when all is drawn.
    pub fn next(&self, speed: &Speed) -> Option<Pass> {
        if self.samples >= self.wanted {
            return None;
        }
        let time = if self.is_new() { FIRST } else { LATER };
        let fits = |power: usize| {
            let count = samples(Pass::coarse(1 << power), self.window);
            speed.expect(power, count).map_or(count <= UNKNOWN_PIXELS, |expected| expected <= time)
        };
        // The finest that fits; else one finer than the last, so that every pass is worth its time.
        let coarsest = self.power.map_or(STEP_POWERS - 1, |power| power.saturating_sub(1));
        let power = (0..coarsest).find(|&power| fits(power)).unwrap_or(coarsest);
        if power > 0 {
            return Some(Pass::coarse(1 << power));
        }
        let each = samples(Pass { step: 1, first: 0, count: 1 }, self.window);
        let fitting = speed.expect(0, each).map_or(1.0, |one| time.as_secs_f64() / one.as_secs_f64().max(1e-9));
        Some(Pass { step: 1, first: self.samples, count: (fitting as u32).clamp(1, self.wanted - self.samples) })
    }

    /// Takes down that a pass is drawn.
    pub fn drew(&mut self, pass: Pass) {
        self.power = Some(pass.step.ilog2() as usize);
        if pass.step == 1 {
            self.samples += pass.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { x: 0, y: 0, width: 640, height: 480 };

    /// All passes of a view on a back end that takes so many microseconds a pass, and nanoseconds a
    /// sample.
    fn passes(speed: &mut Speed, mut plan: Plan, pass_us: u64, sample_ns: u64) -> Vec<(Pass, Duration)> {
        let mut passes = Vec::new();
        while let Some(pass) = plan.next(speed) {
            let time = Duration::from_micros(pass_us) + Duration::from_nanos(sample_ns * samples(pass, plan.window));
            speed.learn(pass, plan.window, time);
            plan.drew(pass);
            passes.push((pass, time));
            assert!(passes.len() < 1000, "{passes:?}");
        }
        passes
    }

    fn steps(passes: &[(Pass, Duration)]) -> Vec<u32> {
        passes.iter().map(|(pass, _)| pass.step).collect()
    }

    #[test]
    fn every_sample_comes_once_and_in_order_however_fast_the_back_end_is() {
        for sample_ns in [1, 100, 10_000, 1_000_000] {
            let mut speed = Speed::default();
            for _ in 0..3 {
                let passes = passes(&mut speed, Plan::new(WINDOW, 24), 100, sample_ns);
                let mut next = 0;
                for (pass, _) in passes.iter().filter(|(pass, _)| pass.step == 1) {
                    assert_eq!(pass.first, next);
                    next += pass.count;
                }
                assert_eq!(next, 24);
                assert!(steps(&passes).is_sorted_by(|a, b| a >= b), "{passes:?}");
                let coarse: Vec<_> = steps(&passes).into_iter().filter(|&step| step > 1).collect();
                assert!(coarse.is_sorted_by(|a, b| a > b), "{passes:?}");
            }
        }
    }

    #[test]
    fn the_first_pass_of_a_known_program_is_as_fine_as_its_time_allows() {
        let first = |sample_ns: u64| {
            let mut speed = Speed::default();
            passes(&mut speed, Plan::new(WINDOW, 4), 100, sample_ns);
            passes(&mut speed, Plan::new(WINDOW, 4), 100, sample_ns).remove(0)
        };
        assert_eq!(first(1).0, Pass { step: 1, first: 0, count: 4 });
        assert_eq!(first(100).0, Pass { step: 1, first: 0, count: 1 });
        for sample_ns in [1000, 10_000, 50_000] {
            let (pass, time) = first(sample_ns);
            assert!(pass.step > 1 && time < FIRST * 2, "{pass:?} {time:?}");
        }
    }

    #[test]
    fn an_unknown_program_begins_with_few_pixels_at_any_size() {
        for (width, height) in [(16, 16), (640, 480), (4096, 4096)] {
            let pass = Plan::new(Window::whole(width, height), 1).next(&Speed::default()).unwrap();
            let count = samples(pass, Window::whole(width, height));
            assert!(count <= UNKNOWN_PIXELS || pass.step == 32, "{pass:?}");
            assert!(width > 16 || pass.step == 1);
        }
    }

    #[test]
    fn what_every_pass_takes_does_not_hide_how_fast_large_ones_are() {
        let mut speed = Speed::default();
        for _ in 0..4 {
            passes(&mut speed, Plan::new(WINDOW, 1), 20_000, 40);
        }
        assert_eq!(steps(&passes(&mut speed, Plan::new(WINDOW, 1), 20_000, 40)).last(), Some(&1));
        assert!(passes(&mut speed, Plan::new(WINDOW, 1), 20_000, 40).len() <= 2);
    }

    #[test]
    fn a_pass_that_was_stopped_never_makes_a_back_end_look_faster() {
        let pass = Pass::coarse(4);
        let mut speed = Speed::default();
        speed.learn_at_least(pass, WINDOW, Duration::from_micros(1));
        assert_eq!(speed, Speed::default());
        speed.learn(pass, WINDOW, Duration::from_millis(20));
        let known = speed.clone();
        speed.learn_at_least(pass, WINDOW, Duration::from_millis(1));
        assert_eq!(speed, known);
        speed.learn_at_least(pass, WINDOW, Duration::from_millis(200));
        assert!(Plan::new(WINDOW, 1).next(&speed).unwrap().step > 4);
    }

    #[test]
    fn more_samples_of_a_image_that_is_there_need_no_coarse_passes() {
        let slow = passes(&mut Speed::default(), Plan::new(WINDOW, 4).without_coarse_passes(), 100, 10_000);
        assert_eq!(steps(&slow), [1; 4]);
    }
}
