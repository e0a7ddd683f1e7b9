//! The properties that hold for any text: the body of a fuzz target.

use super::{Limits, compile_within};
use crate::circuit::functional;
use crate::circuit::graph::PortId;
use crate::circuit::passes;
use crate::circuit::stimuli::Stimuli;
use shadewright_base::bits::Bits;
use shadewright_base::text::source::SourceMap;

/// Limits of [`fuzz`], low enough for hundreds of runs a second.
const FUZZED: Limits = Limits { steps: 20_000, depth: 400, nodes: 20_000 };

/// Compiles any text; what compiles passes the verifier before and after all passes, and is
/// simulated for some cycles with words for all inputs. Errors can be rendered with their source.
///
/// # Panics
/// If one of these does not hold: a fault of this crate.
pub fn fuzz(text: &str) {
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.si", None, text);
    let mut circuit = match compile_within(&sources, file, FUZZED) {
        Ok(circuit) => circuit,
        Err(errors) => {
            assert!(errors.has_errors());
            errors.render(&sources);
            return;
        }
    };
    let limits = functional::Limits { cycles: 2000, idle: 200 };
    for _ in 0..2 {
        assert_eq!(circuit.verify_sized(), Ok(()));
        let mut stimuli = Stimuli::new(&circuit);
        for (i, port) in circuit.ports.iter().enumerate().filter(|(_, port)| port.kind.has_get()) {
            (0..8).for_each(|word| stimuli.push(PortId(i as u32), Bits::from_i128(3 - word, port.width)));
        }
        functional::run(&circuit, &mut stimuli, limits);
        circuit.to_text(Some(&sources));
        passes::run(&mut circuit, passes::PassOptions::default());
    }
}
