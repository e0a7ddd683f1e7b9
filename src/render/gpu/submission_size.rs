//! The size of a submission: its rounds, and the paths that a round runs. Drivers reset a device
//! whose dispatch runs for seconds, and the host reports progress; so the first submissions are
//! small, and later ones as large as the measured time allows. The size changes no bit of an image.

use shadewright_codegen::wgsl::WORKGROUP_SIZE;
use std::time::Duration;

/// Paths that the first rounds of an executor run.
const FIRST_TAKE: u32 = 1 << 14;

/// The time that a round, and so each of its dispatches, should not exceed. Drivers give up after 2
/// s and more.
const ROUND: Duration = Duration::from_millis(200);

/// The time of one submission: short enough that the end and failures show soon, long enough that
/// the host always submits the next in time.
const SUBMISSION: Duration = Duration::from_millis(20);

/// The most rounds of a submission. Rounds after the end of a batch do nothing and cost a few
/// microseconds for each section.
const MAX_ROUNDS: u32 = 16;

/// The size of the next submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubmissionSize {
    paths: u32,
    take: u32,
    rounds: u32,
    /// True if a submission was measured. Some drivers compile kernels in the first, so its time is
    /// ignored.
    is_warmed_up: bool,
}

impl SubmissionSize {
    /// For `paths` paths.
    pub fn new(paths: u32) -> Self {
        Self { paths, take: paths.min(FIRST_TAKE), rounds: 2, is_warmed_up: false }
    }

    /// The most paths that a round should run.
    pub fn take(&self) -> u32 {
        self.take
    }

    /// Rounds that a submission should have.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Adapts to a submission of `rounds` rounds that ran up to `take` paths each, took `time` and
    /// left `live` paths.
    pub fn adapt(&mut self, rounds: u32, take: u32, time: Duration, live: u32) {
        if !self.is_warmed_up {
            self.is_warmed_up = true;
            return;
        }
        let round = (time / rounds.max(1)).max(Duration::from_micros(1));
        let fitting = |span: Duration| span.as_secs_f64() / round.as_secs_f64();
        self.rounds = (fitting(SUBMISSION) as u32).clamp(1, MAX_ROUNDS);
        if round > ROUND {
            let fewer = (f64::from(take) * fitting(ROUND)) as u32;
            self.take = self.take.min(fewer.max(WORKGROUP_SIZE));
        } else if take == self.take && live >= take && round < ROUND / 4 {
            self.take = (take * 2).min(self.paths);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Duration {
        Duration::from_millis(x)
    }

    #[test]
    fn the_first_submission_is_small_and_its_time_does_not_count() {
        let mut size = SubmissionSize::new(1 << 18);
        assert_eq!((size.take(), size.rounds()), (FIRST_TAKE, 2));
        size.adapt(2, FIRST_TAKE, ms(60_000), 1 << 18);
        assert_eq!((size.take(), size.rounds()), (FIRST_TAKE, 2));
    }

    #[test]
    fn fast_rounds_take_more_paths_until_all_run() {
        let mut size = SubmissionSize::new(100_000);
        for _ in 0..10 {
            size.adapt(size.rounds(), size.take(), ms(5) * size.rounds(), 100_000);
        }
        assert_eq!((size.take(), size.rounds()), (100_000, 4));
    }

    #[test]
    fn slow_rounds_take_fewer_and_no_fewer_than_a_workgroup() {
        let mut size = SubmissionSize::new(FIRST_TAKE);
        size.adapt(1, FIRST_TAKE, ms(1), FIRST_TAKE);
        size.adapt(1, FIRST_TAKE, ms(800), FIRST_TAKE);
        assert_eq!((size.take(), size.rounds()), (FIRST_TAKE / 4, 1));
        for _ in 0..10 {
            size.adapt(1, size.take(), ms(5000), FIRST_TAKE);
        }
        assert_eq!(size.take(), WORKGROUP_SIZE);
    }

    #[test]
    fn a_late_report_of_larger_rounds_does_not_shrink_twice() {
        let mut size = SubmissionSize::new(FIRST_TAKE);
        size.adapt(1, FIRST_TAKE, ms(1), FIRST_TAKE);
        size.adapt(1, FIRST_TAKE, ms(800), FIRST_TAKE);
        size.adapt(1, FIRST_TAKE, ms(800), FIRST_TAKE);
        assert_eq!(size.take(), FIRST_TAKE / 4);
    }

    #[test]
    fn rounds_of_few_live_paths_do_not_change_the_size() {
        let mut size = SubmissionSize::new(1 << 18);
        for _ in 0..10 {
            size.adapt(4, FIRST_TAKE, ms(1), 10);
        }
        assert_eq!((size.take(), size.rounds()), (FIRST_TAKE, MAX_ROUNDS));
    }
}
