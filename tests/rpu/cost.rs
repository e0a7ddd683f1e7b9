//! Generated code judged by what it costs on the timed simulator, always with the evaluator's
//! results: the examples of Węgrzanowski 2006, and pairs of functions of which one should cost no
//! more than the other.

use crate::common::{Cost, cost};
use shadewright::ir::Const;

/// The cost of one call with as many vectors as there are parameters.
#[track_caller]
fn vector_cost(source: &str, parameters: usize) -> Cost {
    let vectors = [[1.0, 2.0, -3.0], [0.5, -4.0, 2.0]];
    cost(source, &[vectors[..parameters].iter().map(|v| Const::Vec3(*v)).collect()], &[])
}

/// One call for each number.
fn calls(numbers: &[f32]) -> Vec<Vec<Const>> {
    numbers.iter().map(|x| vec![Const::F32(*x)]).collect()
}

/// The cost of one call with a number.
#[track_caller]
fn float_cost(source: &str) -> Cost {
    cost(source, &calls(&[0.75]), &[])
}

#[track_caller]
fn at_most(cost: &Cost, instructions: usize, cycles: u64) {
    let Cost { instructions: i, cycles: c, .. } = cost;
    assert!(*i <= instructions && *c <= cycles, "{i} instructions, {c} cycles; expected {instructions} and {cycles}");
}

#[test]
fn a_cross_product_is_two_instructions_the_second_of_which_waits_for_the_first() {
    at_most(&vector_cost("vector f(vector a, b) { return a ^ b; }", 2), 2, 6);
}

#[test]
fn the_sum_of_multiples_is_one_instruction() {
    at_most(&vector_cost("vector f(vector a, b) { return 2 * a + 4 * b; }", 2), 1, 1);
}

#[test]
fn a_vector_is_normalized_in_three_instructions_with_one_root() {
    at_most(&vector_cost("vector f(vector a) { return normalize(a); }", 1), 3, 14);
}

#[test]
fn what_is_normalized_is_not_normalized_again() {
    let once = vector_cost("vector f(vector a) { return normalize(a); }", 1);
    let twice = vector_cost("vector f(vector a) { return normalize(normalize(a)); }", 1);
    assert_eq!(once, twice);
}

#[test]
fn a_vector_times_a_length_takes_the_three_instructions_of_section_7_6() {
    at_most(&vector_cost("vector f(vector a, b) { return b * length(a); }", 2), 3, 17);
}

#[test]
fn two_assignments_of_one_value_are_a_constant() {
    let chosen = float_cost("float f(float x) { float y; if (x > 0) y = 2; else y = 2; return y; }");
    at_most(&chosen, 1, 1);
}

#[test]
fn a_clamp_to_the_unit_interval_costs_no_more_than_a_copy() {
    at_most(&float_cost("float f(float x) { return clamp(x, 0, 1); }"), 1, 1);
    at_most(&float_cost("float f(float x) { return clamp(clamp(x, 0, 1), 0, 1); }"), 1, 1);
}

#[test]
fn a_root_is_taken_once() {
    let one = float_cost("float f(float x) { return sqrt(x); }");
    let two = float_cost("float f(float x) { return sqrt(x) + sqrt(x); }");
    assert!(two.instructions <= one.instructions + 1, "{two:?}");
}

#[test]
fn a_small_function_costs_nothing_beyond_its_body() {
    let called = float_cost("float g(float x) { return x * x + 1; } float f(float x) { return g(x) * g(x); }");
    let written = float_cost("float f(float x) { float y = x * x + 1; return y * y; }");
    assert_eq!(called, written);
}

#[test]
fn what_a_loop_computes_alike_in_every_turn_is_computed_once() {
    let source = "float f(float x) { float i, s = 0; for (i = 0; i < 40; i += 1) s += x * x * x; return s; }";
    let (moved, kept) = (float_cost(source), cost(source, &calls(&[0.75]), &["licm"]));
    assert!(moved.issued <= kept.issued && moved.cycles < kept.cycles, "{moved:?} {kept:?}");
}

#[test]
fn control_rides_on_arithmetic_and_saves_its_slot() {
    let source = "float f(float x) { float i, s = 0; for (i = 0; i < 40; i += 1) s += x; return s; }";
    let (paired, alone) = (float_cost(source), cost(source, &calls(&[0.75]), &["pair"]));
    assert!(paired.issued < alone.issued, "{paired:?} {alone:?}");
}

/// A cheap and a dear way.
const BRANCHY: &str = "float f(float x) { if (x > 0) return sqrt(x); return sin(x); }";

#[test]
fn four_threads_of_one_mind_cost_as_much_as_one() {
    let (one, four) = (cost(BRANCHY, &calls(&[0.5]), &[]), cost(BRANCHY, &calls(&[0.5, 0.6, 0.7, 0.8]), &[]));
    assert_eq!((one.issued, one.cycles), (four.issued, four.cycles));
}

#[test]
fn threads_that_part_cost_both_ways_but_what_they_share() {
    let slots = |numbers: &[f32]| cost(BRANCHY, &calls(numbers), &[]).issued;
    let (left, right) = (slots(&[0.5, 0.6, 0.7, 0.8]), slots(&[-0.5, -0.6, -0.7, -0.8]));
    let both = slots(&[0.5, -0.6, 0.7, -0.8]);
    assert!(both > left.max(right) && both < left + right, "{left} and {right}, both {both}");
}

#[test]
fn many_chunks_hide_each_others_latency() {
    let vectors: Vec<Vec<Const>> = (1..=64).map(|i| vec![Const::Vec3([i as f32, 1.0, -2.0])]).collect();
    let source = "vector f(vector a) { return normalize(a); }";
    let (one, all) = (cost(source, &vectors[..4], &[]), cost(source, &vectors, &[]));
    assert_eq!(all.issued, 16 * one.issued);
    assert!(all.cycles < all.issued + one.cycles, "{} slots in {} cycles", all.issued, all.cycles);
}

#[test]
fn a_matrix_moves_a_point_in_the_time_of_its_four_rows() {
    let moved = vector_cost(
        "point f(point a; point b) { return transform(translate(scale(matrix 1, vector (2, 2, 2)), b), a); }",
        2,
    );
    let written = vector_cost("point f(point a; point b) { return 2 * (a + b); }", 2);
    assert!(moved.instructions <= 12 + written.instructions, "{moved:?}, written out {written:?}");
}

/// Asserts that a function costs less with passes than without them, on a processor that is busy:
/// one chunk alone may do more in the time that it waits.
#[track_caller]
fn pays_off(passes: &[&str], source: &str) {
    let many = calls(&[0.75; 64]);
    let (with, without) = (cost(source, &many, &[]), cost(source, &many, passes));
    assert!(with.issued < without.issued && with.cycles < without.cycles, "{with:?}, without {passes:?} {without:?}");
}

#[test]
fn a_variable_that_only_seems_to_change_is_a_constant() {
    pays_off(
        &["sccp"],
        "float f(float x) { float i, scale = 1, s = 0; for (i = 0; i < 40; i += 1) { if (scale != 1) scale = 3; s += x / scale; } return s; }",
    );
}

#[test]
fn variables_that_run_alike_around_a_loop_are_one() {
    pays_off(
        // The back end numbers values once more for its own expansions.
        &["gvn", "share"],
        "float f(float x) { float i = 0, s = 0, t = 0; while (i < 40) { s += x; t += x; i += 1; } return s * t; }",
    );
}

#[test]
fn what_one_way_has_computed_is_not_computed_again_behind_it() {
    // Węgrzanowski 2006, Figure 6.1: h = b*c, which e or f holds.
    pays_off(
        &["pre"],
        "float f(float x) { float b = x + 2, c = x + 3, e; if (x > 0) e = 1 / (b * c); else e = sqrt(b * c + 1); return e * (b * c); }",
    );
}

#[test]
fn a_clamp_of_what_lies_within_its_bounds_is_free() {
    pays_off(&["ranges"], "float f(float x) { float s = clamp(x, 0, 1); return sqrt(max(0, abs(s * s + x * x))); }");
}
