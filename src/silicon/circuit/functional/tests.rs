//! Small circuits, simulated.

use super::{Limits, Outcome, run};
use crate::circuit::graph::tests::running_sum;
use crate::circuit::stimuli::{Radix, Stimuli};
use shadewright_base::text::source::FileId;

#[test]
fn a_running_sum_gives_a_word_for_each_word_and_then_waits() {
    let circuit = running_sum();
    let mut stimuli = Stimuli::parse(&circuit, FileId(0), "i: 1 2 3 -10\no: 1 3 6 -4").expect("stimuli");
    let result = run(&circuit, &mut stimuli, Limits::default());
    assert_eq!(result.outcome, Outcome::Starved);
    assert_eq!(stimuli.report(Radix::Signed), "o: 1 3 6 -4\n");
    assert_eq!(stimuli.mismatches(Radix::Signed), [""; 0]);
    assert_eq!(result.waits.len(), 1);
    assert_eq!(result.waits[0].what, "`i.get` waits for a word");
}

#[test]
fn words_come_when_they_are_due() {
    let circuit = running_sum();
    let mut stimuli = Stimuli::parse(&circuit, FileId(0), "i: 1 @1000 2").expect("stimuli");
    let result = run(&circuit, &mut stimuli, Limits::default());
    assert!(result.last_word > 1000 && result.cycles < 1100, "{result:?}");
    let mut stimuli = Stimuli::parse(&circuit, FileId(0), "i: 1 ...").expect("stimuli");
    let result = run(&circuit, &mut stimuli, Limits { cycles: 100, idle: 50 });
    assert_eq!(result.outcome, Outcome::Limit);
}
