//! Times of frames, for the plot and the statistics.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A stopwatch that can pause.
#[derive(Debug)]
pub struct Stopwatch {
    /// Time before the last start.
    passed: Duration,
    running_since: Option<Instant>,
}

impl Stopwatch {
    /// Starts at zero.
    pub fn start() -> Self {
        Self { passed: Duration::ZERO, running_since: Some(Instant::now()) }
    }

    /// Pauses.
    pub fn pause(&mut self) {
        self.passed += self.running_since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// Resumes.
    pub fn go_on(&mut self) {
        self.running_since.get_or_insert_with(Instant::now);
    }

    /// The accumulated running time.
    pub fn time(&self) -> Duration {
        self.passed + self.running_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// A ring buffer of recent times.
#[derive(Clone, Debug)]
pub struct History {
    times: VecDeque<Duration>,
    most: usize,
}

impl History {
    /// Keeps up to `most` times.
    pub fn with_capacity(most: usize) -> Self {
        Self { times: VecDeque::new(), most }
    }

    /// Adds the latest.
    pub fn push(&mut self, time: Duration) {
        if self.times.len() >= self.most {
            self.times.pop_front();
        }
        self.times.push_back(time);
    }

    /// The times, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Duration> + '_ {
        self.times.iter().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// A quantile of the times (0.5 is the median); zero if empty.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted: Vec<Duration> = self.iter().collect();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((share.clamp(0.0, 1.0) * last as f64).round() as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopwatch_counts_only_while_it_runs() {
        let mut watch = Stopwatch::start();
        watch.pause();
        let stopped = watch.time();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(watch.time(), stopped);
        watch.go_on();
        std::thread::sleep(Duration::from_millis(2));
        assert!(watch.time() >= stopped + Duration::from_millis(2));
    }

    #[test]
    fn a_history_keeps_the_latest_and_knows_its_quantiles() {
        let mut history = History::with_capacity(5);
        assert_eq!(history.quantile(0.5), Duration::ZERO);
        (0..10).for_each(|i| history.push(Duration::from_millis(i)));
        assert_eq!(history.len(), 5);
        assert_eq!(history.quantile(0.0), Duration::from_millis(5));
        assert_eq!(history.quantile(0.5), Duration::from_millis(7));
        assert_eq!(history.quantile(1.0), Duration::from_millis(9));
    }
}
