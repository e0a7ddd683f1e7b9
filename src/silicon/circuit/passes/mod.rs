//! Passes over a circuit (Ullner 1983, C.10, C.11 and C.13).
//!
//! | pass | effect |
//! |---|---|
//! | [`dead`] | removes nodes that no port and no debug output depends on |
//! | [`sizes`] | infers sizes; the only pass that reports errors, and the only one that a circuit needs |
//! | [`fold`] | computes what is known, removes conditionals that change nothing or are decided |
//! | [`bypass`] | values that a loop does not change go around it |
//! | [`cse`] | merges nodes that compute the same |
//!
//! Passes keep what a simulation shows: words at ports, and debug output.

pub mod bypass;
pub mod cse;
pub mod dead;
pub mod fold;
pub mod sizes;
mod substitute;

#[cfg(test)]
mod tests;

use super::graph::Circuit;
use super::statistics::Statistics;

/// Which passes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOptions {
    /// Keep debug output. A circuit for a chip has none.
    pub prints: bool,
    /// Fold, bypass loops, and merge common subexpressions.
    pub optimize: bool,
}

impl Default for PassOptions {
    fn default() -> Self {
        Self { prints: true, optimize: true }
    }
}

/// The result of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The pass.
    pub pass: &'static str,
    /// The circuit after it.
    pub after: Statistics,
}

/// A pass; whether it changed anything.
type Pass = fn(&mut Circuit) -> bool;

/// Rounds of all passes at most: each removes nodes, so that few are needed.
const MAX_ROUNDS: usize = 16;

/// Runs the passes until nothing changes any more; each pass that changed something. The sizes of
/// the circuit are known.
pub fn run(circuit: &mut Circuit, options: PassOptions) -> Vec<Step> {
    let mut steps = Vec::new();
    if !options.prints {
        dead::remove_prints(circuit);
    }
    let passes: &[(&'static str, Pass)] = match options.optimize {
        true => {
            &[("dead", dead::run), ("fold", fold::run), ("bypass", bypass::run), ("cse", cse::run), ("dead", dead::run)]
        }
        false => &[("dead", dead::run)],
    };
    for _ in 0..MAX_ROUNDS {
        let before = steps.len();
        for (name, pass) in passes {
            if pass(circuit) {
                debug_assert_eq!(circuit.verify_sized(), Ok(()), "after {name}");
                steps.push(Step { pass: name, after: circuit.statistics() });
            }
        }
        if steps.len() == before {
            break;
        }
    }
    steps
}
