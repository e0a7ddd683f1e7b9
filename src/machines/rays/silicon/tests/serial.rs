//! The circuits bit by bit.

use super::*;
use crate::rays::polygon::tests::Random;
use crate::rays::silicon::tests::intersected::{bits, polygons, tests, wanted};
use shadewright_base::text::source::FileId;
use shadewright_silicon::circuit::functional;
use shadewright_silicon::circuit::serial::{Limits, build, simulate};
use shadewright_silicon::circuit::stimuli::{Radix, Stimuli};

/// The words that the bit-serial implementation of a circuit gives.
fn serially(circuit: &Circuit, streams: &run::Streams) -> run::Streams {
    let netlist = build(circuit).unwrap();
    let mut stimuli = run::stimuli(circuit, streams);
    let limits = Limits { cycles: 1 << 32, ..Limits::default() };
    assert!(simulate(&netlist, &mut stimuli, limits).unwrap().ended);
    run::outputs(circuit, &stimuli)
}

#[test]
fn bit_serial_operations_give_the_same_bits() {
    for arithmetic in Arithmetic::ALL {
        for (seed, operation) in Operation::ALL.into_iter().enumerate() {
            let circuit = optimized(&programs::operation(arithmetic, operation));
            let pairs = pairs(8, seed as u32 + 10);
            let outputs = serially(&circuit, &streams(operation, &pairs));
            assert_eq!(outputs[0].1.len(), pairs.len());
            for (&(a, b), &word) in pairs.iter().zip(&outputs[0].1) {
                let wanted = expected(arithmetic.unit(), operation, a, b);
                assert!(same(number(word), wanted), "{operation:?} {arithmetic:?} {a:e} {b:e}: not {wanted:e}");
            }
        }
    }
}

#[test]
fn the_bit_serial_intersector_gives_the_same_bits() {
    let mut random = Random(9);
    let polygons = polygons(2, &mut random);
    let tests = tests(&polygons, &mut random);
    let circuit = optimized(&programs::intersector(Arithmetic::Commercial));
    let found = run::found(&serially(&circuit, &run::streams(&tests)));
    assert_eq!(found.len(), tests.len());
    for (test, found) in tests.iter().zip(&found) {
        assert_eq!(bits(found), bits(&wanted(Commercial, test).0), "{test:?}");
    }
}

/// `assets/silicon/intersector.words`, which the documentation runs.
#[test]
fn the_words_of_the_example_have_the_results_that_they_list() {
    let words = include_str!("../../../../../assets/silicon/intersector.words");
    let circuit = optimized(programs::INTERSECTOR);
    let mut stimuli = Stimuli::parse(&circuit, FileId(0), words).unwrap();
    functional::run(&circuit, &mut stimuli, functional::Limits::default());
    assert_eq!(stimuli.mismatches(Radix::Hexadecimal), [""; 0]);
    assert_eq!(run::found(&run::outputs(&circuit, &stimuli)).len(), 3);
}
