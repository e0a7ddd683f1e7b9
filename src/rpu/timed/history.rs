//! When the instructions that a thread has issued finish: dependency flags look up their distances
//! here.

use super::stats::Cause;

/// Distances that a flag can name one by one.
const NAMED: usize = 15;

/// A point in time, and the cause of a stall until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until {
    pub cycle: u64,
    pub cause: Cause,
}

impl Until {
    /// Now: nothing to wait for.
    pub const START: Until = Until { cycle: 0, cause: Cause::Control };

    /// The later of two; the first of equals.
    pub fn max(self, other: Until) -> Until {
        if other.cycle > self.cycle { other } else { self }
    }
}

/// When the instructions of one subchunk finish.
#[derive(Debug, Clone, Copy)]
pub(super) struct History {
    /// A ring; `next` is where the next instruction goes, and the one of distance d is d before it.
    finish: [Until; NAMED + 1],
    next: usize,
    /// The last of those beyond the named distances.
    older: Until,
}

impl History {
    /// Nothing was issued before, or all that was has finished by `until`.
    pub fn after(until: Until) -> History {
        History { finish: [Until::START; NAMED + 1], next: 0, older: until }
    }

    /// Records the instruction that issues now.
    pub fn push(&mut self, finish: Until) {
        self.older = self.older.max(self.finish[(self.next + 1) % (NAMED + 1)]);
        self.finish[self.next] = finish;
        self.next = (self.next + 1) % (NAMED + 1);
    }

    /// When the instructions that flags name have finished: bit k is distance k + 1, bit 15
    /// everything older.
    pub fn wait(&self, mut flags: u16) -> Until {
        let mut until = if flags >> NAMED != 0 { self.older } else { Until::START };
        flags &= (1 << NAMED) - 1;
        while flags != 0 {
            let distance = flags.trailing_zeros() as usize + 1;
            flags &= flags - 1;
            until = until.max(self.finish[(self.next + NAMED + 1 - distance) % (NAMED + 1)]);
        }
        until
    }

    /// When everything has finished.
    pub fn all(&self) -> Until {
        self.wait(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycle: u64) -> Until {
        Until { cycle, cause: Cause::Load }
    }

    #[test]
    fn a_flag_finds_the_instruction_at_its_distance() {
        let mut history = History::after(Until::START);
        for n in 1..=40 {
            history.push(at(100 * n));
        }
        assert_eq!(history.wait(0).cycle, 0);
        for distance in 1..=15 {
            assert_eq!(history.wait(1 << (distance - 1)).cycle, 100 * (41 - distance));
        }
        assert_eq!(history.wait(1 << 15).cycle, 100 * (40 - 15));
        assert_eq!(history.wait(0b101).cycle, 4000);
    }

    #[test]
    fn old_instructions_are_remembered_by_the_last_of_them() {
        let mut history = History::after(Until::START);
        history.push(at(9000));
        for n in 1..=20 {
            history.push(at(n));
        }
        assert_eq!(history.wait(0x7fff).cycle, 20);
        assert_eq!(history.wait(0x8000), at(9000));
        assert_eq!(history.all(), at(9000));
        assert_eq!(History::after(at(7)).wait(0x8000), at(7));
    }
}
