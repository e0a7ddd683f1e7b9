//! Tests of the bit-serial implementation.

use super::align::{Aligner, Value};
use super::cells::CellKind;
use super::netlist::Netlist;
use super::timing::Time;
use super::{Limits, build, simulate, statistics};
use crate::circuit::graph::PortId;
use crate::circuit::graph::tests::running_sum;
use crate::circuit::stimuli::Stimuli;
use shadewright_base::bits::Bits;
use shadewright_base::text::source::Span;

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

/// Words of 8 bits that begin so many cycles after an event of their own, or the first one's.
fn inputs(aligner: &mut Aligner, offsets: &[u32], one_event: bool) -> Vec<Value> {
    let first = aligner.anchors.after(&[]);
    let place = Span::default();
    let mut values = Vec::new();
    for &offset in offsets {
        let anchor = if one_event { first } else { aligner.anchors.after(&[]) };
        let time = Time { anchor, offset };
        values.push(aligner.cell(CellKind::Not, &[], time, &[(8, 0)], place)[0]);
    }
    values
}

fn added(netlist: &Netlist, inputs: usize) -> Vec<&'static str> {
    netlist.cells[inputs..].iter().map(|cell| cell.kind.name()).collect()
}

#[test]
fn a_known_difference_is_a_shift_register_that_is_shared() {
    let mut aligner = Aligner::default();
    let values = inputs(&mut aligner, &[3, 5, 4], true);
    let place = Span::default();
    let aligned = aligner.align(&values, place);
    assert!(aligned.iter().all(|value| value.time == values[1].time));
    assert_eq!(added(&aligner.netlist, 3), ["shift", "shift"]);
    assert_eq!(aligner.align(&values, place), aligned);
    // A longer delay extends a shorter one.
    let later = aligner.delay(values[0], 6, place);
    assert_eq!(aligner.netlist.cells[5].kind, CellKind::Shift { length: 4 });
    assert_eq!((later.time.offset, aligner.netlist.cells.len()), (9, 6));
    // A long one is a register that stops.
    let far = inputs(&mut aligner, &[0, 100], true);
    aligner.align(&far, place);
    assert_eq!(added(&aligner.netlist, 8), ["hold", "shift"]);
}

#[test]
fn what_follows_releases_what_it_follows() {
    let mut aligner = Aligner::default();
    let early = inputs(&mut aligner, &[2], true)[0];
    let place = Span::default();
    // It comes 4 cycles after the other one, which takes 8 to be in its register.
    let anchor = aligner.anchors.after(&[early.time.later(4)]);
    let late = aligner.cell(CellKind::Not, &[], Time { anchor, offset: 0 }, &[(1, 0)], place)[0];
    let aligned = aligner.align(&[early, late], place);
    assert_eq!(aligned[0].time, Time { anchor, offset: 5 });
    assert_eq!(aligned[0].time, aligned[1].time);
    assert_eq!(added(&aligner.netlist, 2), ["shift", "hold", "shift"]);
    assert_eq!(aligner.netlist.cells[2].kind, CellKind::Shift { length: 4 });
}

#[test]
fn two_that_are_not_comparable_release_one_another_and_more_have_a_last_of() {
    let mut aligner = Aligner::default();
    let values = inputs(&mut aligner, &[0, 0], false);
    let place = Span::default();
    let aligned = aligner.align(&values, place);
    assert_eq!(aligned[0].time, aligned[1].time);
    assert_eq!(added(&aligner.netlist, 2), ["hold", "hold"]);
    let [a, b] = [2, 3].map(|cell| &aligner.netlist.cells[cell]);
    assert_eq!((a.inputs[1], b.inputs[1]), (b.outputs[1], a.outputs[1]));
    let values = inputs(&mut aligner, &[0, 0, 0], false);
    aligner.align(&values, place);
    assert_eq!(added(&aligner.netlist, 7), ["hold", "hold", "hold", "last_of"]);
}

#[test]
fn the_report_counts_cells_and_times() {
    let circuit = running_sum();
    let netlist = build(&circuit).expect("built");
    let mut stimuli = Stimuli::new(&circuit);
    words(&[1, 2, 3], 16).into_iter().for_each(|word| stimuli.push(PortId(0), word));
    let run = simulate(&netlist, &mut stimuli, Limits::default()).expect("no fault");
    let report = statistics::report(&netlist, Some(&run));
    for part in ["hold            ", "bits of storage", "o: a word in ", "µs at 12 MHz"] {
        assert!(report.contains(part), "{report}");
    }
}
