//! The programs of figures as they are printed, and the list of steps of the text.

use super::*;
use crate::rays::silicon::programs::section;
use shadewright_silicon::circuit::functional::Outcome as End;

/// The operation on two numbers with a change to the numbers' and the arithmetic's macros.
fn changed(from: &str, to: &str, operation: Operation, a: f32, b: f32) -> f32 {
    let text = [section("Numbers"), section("Arithmetic"), &operation.chip()].concat();
    assert!(text.contains(from), "{from}");
    compute(&compiled(&text.replace(from, to)), operation, &[(a, b)])[0]
}

fn right(operation: Operation, a: f32, b: f32) -> f32 {
    let circuit = compiled(&programs::operation(Arithmetic::Unrolled, operation));
    compute(&circuit, operation, &[(a, b)])[0]
}

/// Fig. A-1 leaves the exponent of a product of zero as it is. With a first bit that is not stored, such
/// a zero is a power of two.
#[test]
fn the_printed_multiplication_has_a_zero_with_an_exponent() {
    assert_eq!(right(Operation::Mul, 0.0, 8.0), 0.0);
    assert_ne!(changed(" OR (NOT fraction[23])", "", Operation::Mul, 0.0, 8.0), 0.0);
}

/// Fig. A-2 shifts `max(…, 24)` times.
#[test]
fn the_printed_addition_drops_the_smaller_addend() {
    let counted = "exponent, f:= exponent + 1#8, shiftRight(f)";
    assert_eq!(right(Operation::Add, 2.0, 1.0), 3.0);
    assert_eq!(changed(counted, "f:= shiftRight(f)", Operation::Add, 2.0, 1.0), 2.0);
}

/// The sum register of the printed addition has 24 bits.
#[test]
fn a_sum_of_24_bits_loses_the_last_bits_of_the_addends() {
    let whole = "[25:1];\n    exponent, sum";
    let halved = "[25:2]'0#1;\n    exponent, sum";
    let (a, b) = (1.0 + f32::EPSILON, 0.0);
    assert_eq!(right(Operation::Add, a, b), a);
    assert_eq!(changed(whole, halved, Operation::Add, a, b), 1.0);
}

/// The loop of the printed addition that normalizes does not count, and goes on for a sum of zero.
#[test]
fn the_printed_addition_of_zeros_does_not_end() {
    let counted = "sum, exponent, i:= shiftLeft(sum), exponent - 1#10, i - 1#6";
    let text = programs::operation(Arithmetic::Registers, Operation::Add);
    assert!(text.contains(counted));
    let printed = text.replace(counted, "sum, exponent:= shiftLeft(sum), exponent - 1#10");
    assert_eq!(compute(&compiled(&text), Operation::Add, &[(1.0, -1.0)]), [0.0]);
    let endless = run::simulated(&compiled(&printed), &streams(Operation::Add, &[(1.0, -1.0)]));
    assert!(matches!(endless, Err(End::Idle | End::Limit)), "{endless:?}");
}

/// Fig. A-3 shifts the divisor to the right, until only its first bits are left.
#[test]
fn the_printed_division_shifts_the_divisor_out_of_its_register() {
    let (a, b) = (5.0, 1.7f32);
    let error = |quotient: f32| (f64::from(quotient) - 5.0 / f64::from(b)).abs();
    let last_bit = 2.0 * f64::from(f32::EPSILON);
    assert!(error(right(Operation::Divide, a, b)) < 3.0 * last_bit);
    let printed = changed("quotient, a[23:0]'0#1, b)", "quotient, a, 0#1'b[23:1])", Operation::Divide, a, b);
    assert!(error(printed) > 5.0 * last_bit, "{printed}");
}

/// It normalizes the divisor, so that the quotient stays as it is.
#[test]
fn the_printed_division_does_not_normalize_the_quotient() {
    let normalized = "exponent, quotient:= exponent - 1#10, shiftLeft(quotient)";
    assert!((right(Operation::Divide, 4.0, 7.0) - 4.0 / 7.0).abs() <= f32::EPSILON);
    assert_eq!(changed(normalized, "exponent:= exponent - 1#10", Operation::Divide, 4.0, 7.0), 0.0);
}

/// Fig. A-4 makes the exponent even, and leaves it so.
#[test]
fn the_printed_root_does_not_halve_the_exponent() {
    let halved = "(0#2'exponent[8:1]) + 63#10";
    assert_eq!(right(Operation::Sqrt, 4.0, 0.0), 2.0);
    assert_eq!(changed(halved, "0#1'exponent", Operation::Sqrt, 4.0, 0.0), 8.0);
}

/// The text beside it subtracts if the operand is larger: not if it is equal.
#[test]
fn the_root_of_a_square_needs_the_comparison_of_the_figure_and_not_of_the_text() {
    let subtracts = "    difference:= (0#1'operand[48:23]) - (0#1'root'1#2);";
    let larger = "    difference:= (0#1'operand[48:23]) - (0#1'root'1#2);
    IF difference = 0#27 THEN difference:= 67108864#27;";
    assert_eq!(right(Operation::Sqrt, 2.25, 0.0), 1.5);
    assert!(changed(subtracts, larger, Operation::Sqrt, 2.25, 0.0) < 1.5);
}
