//! Tests of the bit-serial implementation.

use super::{Limits, Stimuli, build, simulate};
use crate::circuit::Bits;
use crate::circuit::graph::tests::running_sum;

fn words(values: &[u128], width: u32) -> Vec<Bits> {
    values.iter().map(|value| Bits::from_u128(*value, width)).collect()
}

#[test]
fn a_running_sum_gives_its_sums() {
    let netlist = build(&running_sum()).expect("built");
    let stimuli = Stimuli::from([("i".into(), words(&[1, 2, 3, 65535, 40000], 16))]);
    let run = simulate(&netlist, &stimuli, Limits::default()).expect("no fault");
    let sums: Vec<Bits> = run.outputs["o"].iter().map(|(_, word)| word.clone()).collect();
    assert_eq!(sums, words(&[1, 3, 6, 5, 40005], 16));
    assert!(run.ended);
}
