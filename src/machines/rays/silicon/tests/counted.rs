//! The counts of the thesis.

use super::*;
use crate::rays::arithmetic::{Adder, StageCounts, Steps};
use crate::rays::graph::{Device, Graph};
use shadewright_silicon::circuit::Op;

fn custom(text: &str) -> counts::Custom {
    counts::Custom::new(&compiled(text), text)
}

/// Appendix A.2: "twenty-four integer additions and twenty-five shifts", "forty-eight shifts, but only a
/// single integer addition".
#[test]
fn operations_take_the_additions_and_shifts_of_the_appendix() {
    for operation in Operation::ALL {
        let counts = custom(&programs::operation(Arithmetic::Unrolled, operation));
        let steps = if matches!(operation, Operation::Add | Operation::Sub) { Steps::SUM } else { Steps::PRODUCT };
        // The first shift of a root's result moves zeros, and the last of its operand moves what is not used.
        let idle = usize::from(operation == Operation::Sqrt);
        let (additions, shifts) = (steps.additions as usize, steps.shifts as usize - idle);
        assert_eq!(counts, counts::Custom { additions, shifts, multiplications: 0 }, "{operation:?}");
    }
}

/// The first addition of a product is one to zero.
#[test]
fn passes_remove_the_additions_and_shifts_that_do_nothing() {
    let counts = Operation::ALL.map(|operation| {
        let text = programs::operation(Arithmetic::Unrolled, operation);
        let counts = counts::Custom::new(&run::optimized(compiled(&text)), &text);
        [counts.additions, counts.shifts]
    });
    assert_eq!(counts, [[23, 25], [1, 48], [1, 48], [24, 25], [24, 25], [24, 23]]);
}

#[test]
fn a_loop_has_one_adder() {
    for operation in Operation::ALL {
        let counts = custom(&programs::operation(Arithmetic::Registers, operation));
        assert_eq!((counts.additions, counts.multiplications), (1, 0), "{operation:?}");
    }
}

/// Appendix A.1: a long division multiplies three times and subtracts once, a short one and a root
/// multiply once. Of the two tables of a root the one for exponents is a choice of two words.
#[test]
fn commercial_operations_have_the_multipliers_adders_and_tables_of_the_appendix() {
    let counted = [Operation::Mul, Operation::Add, Operation::Divide, Operation::DivideShort, Operation::Sqrt];
    let parts = counted.map(|operation| {
        let text = programs::operation(Arithmetic::Commercial, operation);
        let (circuit, counts) = (compiled(&text), custom(&text));
        [counts.multiplications, counts.additions, circuit.memories.len()]
    });
    assert_eq!(parts, [[1, 0, 0], [0, 1, 0], [3, 1, 1], [1, 0, 1], [1, 0, 1]]);
}

fn outline() -> Circuit {
    compiled(&programs::operations(counts::OUTLINE, 32))
}

/// §2.3.4: "23 multiplications, 26 additions, 3 divisions, and 2 square roots".
#[test]
fn the_intersector_has_54_operations() {
    let found = counts::by_operation(&outline());
    let count = |name: &str| found.get(name).copied().unwrap_or(0);
    let additions = count("add") + count("sub");
    let divisions = count("eqv") + count("and");
    assert_eq!([count("mul"), additions, divisions, count("not")], [23, 26, 3, 2]);
    assert_eq!(count("mul") + additions + divisions + count("not"), 54);
    // As in the graph that is recorded from the simulators' code.
    let graph = Graph::intersector();
    assert_eq!(count("mul"), graph.count(Device::Multiplier));
    assert_eq!(additions, graph.count(Device::Adder));
    assert_eq!([count("eqv"), count("and")], [Device::LongDivider, Device::ShortDivider].map(|d| graph.count(d)));
    assert_eq!(count("not"), graph.count(Device::Root));
}

/// §2.3.2: four stages for `t`, two for the point, seven for `u` beside `v`; §2.3.4: 17 or 33 in the
/// pipeline.
#[test]
fn the_intersector_has_13_logical_stages_and_a_pipeline_of_17_or_33() {
    let circuit = outline();
    let one = StageCounts { mul: 1, add: 1, long_division: 1, short_division: 1, root: 1 };
    let depths = |counts: StageCounts| counts::depths(&circuit, move |op| counts::stages(op, &counts));
    let logical = depths(one);
    let at = |ports: [usize; 3]| ports.map(|i| logical[&format!("out{i}")]);
    assert_eq!(logical["out0"], 4);
    assert_eq!(at([2, 3, 4]), [6, 6, 6]);
    // The quotient is ready two operations before the roots are.
    assert_eq!(at([5, 6, 7]), [10, 13, 13]);
    assert_eq!(at([8, 9, 10]), [10, 13, 13]);
    let stages = |adder| depths(StageCounts::commercial(adder)).into_values().max().unwrap();
    assert_eq!([stages(Adder::BarrelShifter), stages(Adder::Multiplier)], [17, 33]);
}

/// All of its 28 products, quotients and roots, and its 26 sums, but for the idle shifts of its two roots.
#[test]
fn the_intersector_in_adders_has_the_steps_of_its_operations() {
    let counts = custom(&programs::operations_in(Arithmetic::Unrolled));
    assert_eq!(counts, counts::Custom { additions: 28 * 24 + 26, shifts: 28 * 25 + 26 * 48 - 2, multiplications: 0 });
}

/// It multiplies 23 times, three times in its long division, and once in each short one and in each root.
#[test]
fn the_intersector_in_multipliers_has_the_devices_of_its_operations() {
    let text = programs::operations_in(Arithmetic::Commercial);
    let circuit = compiled(&text);
    let counts = counts::Custom::new(&circuit, &text);
    assert_eq!((counts.multiplications, counts.additions), (23 + 3 + 2 + 2, 26 + 1));
    assert_eq!(circuit.memories.len(), 3 + 2);
}

/// 20 words of a polygon, 6 of a ray, the best distance and three presets come in.
#[test]
fn the_chip_has_the_ports_of_the_peripheral() {
    let circuit = compiled(programs::INTERSECTOR);
    let gets = circuit.nodes().filter(|(_, node)| matches!(node.op, Op::Get(_))).count();
    let puts = circuit.nodes().filter(|(_, node)| matches!(node.op, Op::Put(_))).count();
    assert_eq!((gets, puts), (20 + 6 + 1 + 3, 1 + 3 + 2 + 1));
    let bits: u32 = circuit.ports.iter().filter(|port| port.kind.has_get() && port.width == 32).map(|p| p.width).sum();
    assert_eq!(bits, 640 + 6 * 32 + 32);
}
