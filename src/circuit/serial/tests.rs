//! Tests of the bit-serial implementation.

use super::{Limits, build, simulate};
use crate::circuit::Bits;
use crate::circuit::graph::PortId;
use crate::circuit::graph::tests::running_sum;
use crate::circuit::stimuli::Stimuli;

fn words(values: &[u128], width: u32) -> Vec<Bits> {
    values.iter().map(|value| Bits::from_u128(*value, width)).collect()
}

#[test]
fn a_running_sum_gives_its_sums() {
    let circuit = running_sum();
    let netlist = build(&circuit).expect("built");
    let mut stimuli = Stimuli::new(&circuit);
    words(&[1, 2, 3, 65535, 40000], 16).into_iter().for_each(|word| stimuli.push(PortId(0), word));
    let run = simulate(&netlist, &mut stimuli, Limits::default()).expect("no fault");
    assert_eq!(stimuli.outputs(PortId(1)), words(&[1, 3, 6, 5, 40005], 16));
    assert!(run.ended);
}
