//! Programs: what they compile to, what they compute, and how their errors read.

mod language;
mod parse;
mod pdp8;
mod printed;
mod programs;
mod random;

use super::compile;
use crate::circuit::functional::{Limits, Outcome, Run, run};
use crate::circuit::graph::Circuit;
use crate::circuit::passes;
use crate::circuit::stimuli::{Radix, Stimuli};
use shadewright_base::text::source::{FileId, SourceMap};

/// Compiles a program without errors.
pub fn circuit(text: &str) -> Circuit {
    let mut sources = SourceMap::new();
    let file = sources.add("t.si", None, text);
    let circuit = compile(&sources, file).unwrap_or_else(|errors| panic!("{}", errors.render(&sources)));
    assert_eq!(circuit.verify_sized(), Ok(()));
    circuit
}

/// The errors of a program.
pub fn errors(text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("t.si", None, text);
    match compile(&sources, file) {
        Ok(circuit) => panic!("compiles to\n{}", circuit.to_text(None)),
        Err(errors) => errors.render(&sources),
    }
}

/// Simulates a circuit with words for its ports, and the same circuit after all passes: both give
/// the same. The outputs, the debug output, and how it ended.
pub fn simulate(mut circuit: Circuit, words: &str) -> (String, Vec<String>, Run) {
    let plain = simulate_once(&circuit, words);
    passes::run(&mut circuit, passes::PassOptions::default());
    let optimized = simulate_once(&circuit, words);
    assert_eq!((&plain.0, &plain.1, plain.2.outcome), (&optimized.0, &optimized.1, optimized.2.outcome));
    optimized
}

/// Simulates a circuit as it is: see [`simulate`].
pub fn simulate_once(circuit: &Circuit, words: &str) -> (String, Vec<String>, Run) {
    let mut stimuli = Stimuli::parse(circuit, FileId(0), words).unwrap_or_else(|errors| panic!("{errors:?}"));
    let result = run(circuit, &mut stimuli, Limits { cycles: 400_000, idle: 2000 });
    (stimuli.report(Radix::Signed), stimuli.prints(Radix::Signed), result)
}

/// The outputs of a program for some inputs.
pub fn outputs(text: &str, words: &str) -> String {
    simulate(circuit(text), words).0
}

/// A line of a port.
pub fn line(name: &str, words: impl IntoIterator<Item = i64>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!(" {word}")).collect();
    format!("{name}:{}\n", words.concat())
}

/// Numbers that look random, from -bound to bound.
pub fn numbers(seed: u64, count: usize, bound: i64) -> Vec<i64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % (2 * bound + 1) - bound
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn a_loop_that_ends_compiles_to_its_figure() {
    // Ullner 1983, figure C-27, with the state of each port.
    let circuit = circuit(include_str!("../../../../assets/silicon/sum.si"));
    let counts = circuit.statistics();
    assert_eq!((counts.count("get"), counts.count("put"), counts.count("loopMerge"), counts.loops), (2, 1, 4, 1));
    assert_eq!((counts.count("add"), counts.count("sub"), counts.count("greater")), (1, 1, 1));
    let (text, _, run) = simulate(circuit, "in: 3 10 20 -5");
    assert_eq!((&*text, run.outcome), ("out: 25\n", Outcome::Complete));
}
