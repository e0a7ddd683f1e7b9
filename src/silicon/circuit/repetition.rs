//! Simulations that repeat themselves: a circuit in a state that it was in before, to which nothing
//! comes from outside, does the same again for ever.
//!
//! A silence says nothing: a circuit may compute for millions of cycles before its next word. The state
//! is compared with one that is kept for twice as long each time (Brent, "An improved Monte Carlo
//! factorization algorithm", 1980), so that a period of any length is found.

/// Looks for a state that comes again.
#[derive(Debug)]
pub struct Repetition<S> {
    kept: Option<S>,
    age: u64,
    keep: u64,
}

impl<S> Default for Repetition<S> {
    fn default() -> Self {
        Self { kept: None, age: 0, keep: 1 }
    }
}

impl<S> Repetition<S> {
    /// Forgets what was: something came from outside.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// True if the present state is `same` as the one that is kept; `state` gives it to be kept.
    pub fn again(&mut self, same: impl FnOnce(&S) -> bool, state: impl FnOnce() -> S) -> bool {
        if self.kept.as_ref().is_some_and(same) {
            return true;
        }
        self.age += 1;
        if self.kept.is_none() || self.age >= self.keep {
            self.kept = Some(state());
            self.age = 0;
            self.keep = self.keep.saturating_mul(2);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many steps the sequence is known to repeat.
    fn found(next: impl Fn(u64) -> u64) -> Option<usize> {
        let (mut repetition, mut state) = (Repetition::default(), 0);
        (0..10_000).position(|_| {
            let again = repetition.again(|kept| *kept == state, || state);
            state = next(state);
            again
        })
    }

    #[test]
    fn a_period_is_found_whatever_comes_before_it() {
        for (before, period) in [(0, 1), (0, 7), (100, 1), (100, 300), (1000, 1000)] {
            let steps = found(|x| if x + 1 == before + period { before } else { x + 1 });
            assert!(
                steps.is_some_and(|steps| steps as u64 <= 4 * (before + period) + 4),
                "{before}, {period}: {steps:?}"
            );
        }
        assert_eq!(found(|x| x + 1), None);
    }
}
