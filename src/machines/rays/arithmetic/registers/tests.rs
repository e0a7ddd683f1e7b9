use super::*;

fn load(x: f32) -> Registers {
    Registers::load(x).unwrap()
}

fn sum(a: f32, b: f32) -> f32 {
    add(load(a), load(b)).store()
}

/// The last of the 24 bits of one.
const ULP: f32 = f32::EPSILON;

#[test]
fn numbers_keep_their_bits_in_registers() {
    for x in [1.0, -1.5, 0.0, 2e-38, f32::MAX, -f32::MIN_POSITIVE, 0.1] {
        assert_eq!(load(x).store(), x);
    }
    assert_eq!(Registers::load(f32::INFINITY), None);
    assert_eq!(Registers::load(f32::NAN), None);
}

#[test]
fn the_programs_compute_what_they_should() {
    assert_eq!(multiply(load(1.5), load(-2.5)).store(), -3.75);
    assert_eq!(sum(1.5, -2.25), -0.75);
    assert_eq!(sum(1.0, ULP), 1.0 + ULP);
    assert_eq!(sum(3.0, -3.0), 0.0);
    assert_eq!(divide(load(7.0), load(-2.0)).unwrap().store(), -3.5);
    assert_eq!(divide(load(1.0), load(0.0)), None);
    assert_eq!(root(load(6.25)).unwrap().store(), 2.5);
    assert_eq!(root(load(0.125)).unwrap().store(), 0.353_553_38);
    assert_eq!(root(load(-1.0)), None);
    assert_eq!(root(load(0.0)).unwrap().store(), 0.0);
}

#[test]
fn products_and_quotients_that_are_normalized_lose_their_last_bit() {
    // 1.01…·1.01… is less than 2: the product of fractions is less than 1/2.
    let a = 1.0 + 3.0 * ULP;
    assert_eq!(multiply(load(a), load(1.0)).store(), 1.0 + 2.0 * ULP);
    // 1.1·1.1…1 is not, and keeps it.
    let b = 1.5 + ULP;
    assert_eq!(multiply(load(1.5), load(b)).fraction, 0x90_0000);
    assert_eq!(multiply(load(1.5), load(1.5 + 2.0 * ULP)).fraction, 0x90_0001);
    assert_eq!(divide(load(a), load(1.0)).unwrap().store(), a);
    // 5/7 = 0.101101101…: the 24th bit is a one, and lost.
    assert_eq!(divide(load(1.25), load(1.75)).unwrap().fraction, 0xb6_db6c);
}

#[test]
fn overflow_makes_a_number_invalid_and_underflow_zero() {
    assert!(multiply(load(f32::MAX), load(2.0)).store().is_nan());
    assert_eq!(multiply(load(f32::MIN_POSITIVE), load(0.5)).store(), 0.0);
    assert!(sum(f32::MAX, f32::MAX).is_nan());
}

/// Fig. A-1 as printed: its last line is missing.
fn printed_multiply(a: Registers, b: Registers) -> Registers {
    let product = multiply(a, b);
    match product.fraction {
        0 => Registers { exponent: a.exponent + b.exponent - 1, ..product },
        _ => product,
    }
}

#[test]
fn a_zero_of_the_printed_multiplication_shifts_the_other_addend_out() {
    let (big, one) = (load(2f32.powi(100)), load(1.0));
    let zero = |multiply: fn(Registers, Registers) -> Registers| multiply(multiply(load(0.0), big), big);
    assert_eq!(add(zero(multiply), one).store(), 1.0);
    assert_eq!(add(zero(printed_multiply), one).store(), 0.0);
}

/// Fig. A-2 as printed, in the registers that it asks for. `None` where the loop does not end.
fn printed_add(a: Registers, b: Registers) -> Option<Registers> {
    let (mut f_a, mut f_b) = (u64::from(a.fraction), u64::from(b.fraction));
    let mut exponent = 0;
    if a.exponent > b.exponent {
        f_b >>= (a.exponent - b.exponent).max(24);
        exponent = a.exponent + 1;
    } else if a.exponent < b.exponent {
        f_a >>= (b.exponent - a.exponent).max(24);
        exponent = b.exponent + 1;
    }
    let mut f_s = f_a + f_b;
    let i = 0;
    let mut iterations = 0;
    while bit::<25>(f_s, 1) == 0 && i < 24 {
        f_s = left::<25>(f_s);
        exponent -= 1;
        iterations += 1;
        if iterations > 1000 {
            return None;
        }
    }
    Some(Registers { negative: false, exponent, fraction: (f_s >> 1) as u32 })
}

#[test]
fn the_printed_addition_drops_the_smaller_addend() {
    assert_eq!(printed_add(load(2.0), load(1.0)).unwrap().store(), 2.0);
    assert_eq!(sum(2.0, 1.0), 3.0);
}

#[test]
fn the_printed_addition_leaves_the_exponent_of_equal_ones_unset() {
    assert_ne!(printed_add(load(3.0), load(2.5)).unwrap().store(), 5.5);
    assert_eq!(sum(3.0, 2.5), 5.5);
}

#[test]
fn the_printed_addition_of_zeros_does_not_end() {
    assert_eq!(printed_add(load(0.0), load(0.0)), None);
    assert_eq!(sum(0.0, 0.0), 0.0);
}

#[test]
fn a_sum_register_of_24_bits_would_lose_the_last_bits_of_the_addends() {
    let (a, b) = (load(1.0 + ULP), load(0.0));
    let halves = (a.fraction >> 1) + (b.fraction >> 1);
    assert_eq!(left::<24>(halves.into()), 1 << 23);
    assert_eq!(add(a, b).fraction, 1 << 23 | 1);
}

/// Fig. A-3 as printed.
fn printed_divide(a: Registers, b: Registers) -> Registers {
    let mut exponent = a.exponent - b.exponent + 1;
    let (mut f_a, mut f_b, mut f_q) = (u64::from(a.fraction), u64::from(b.fraction), 0);
    for _ in 0..24 {
        if f_a >= f_b {
            f_q |= 1;
            f_a -= f_b;
        }
        f_q = left::<25>(f_q);
        f_b >>= 1;
    }
    if bit::<25>(f_q, 1) == 0 {
        exponent -= 1;
    }
    Registers { negative: a.negative != b.negative, exponent, fraction: (f_q >> 1) as u32 }
}

#[test]
fn the_printed_division_shifts_the_divisor_out_of_its_register() {
    // 8/7 = 1.001001…, but the divisor's bits are gone before the quotient is complete.
    let right = divide(load(8.0), load(7.0)).unwrap().store();
    let printed = printed_divide(load(8.0), load(7.0)).store();
    assert!((right - 8.0 / 7.0).abs() <= ULP);
    assert!((printed - right).abs() > 100.0 * ULP, "{printed}");
}

#[test]
fn the_printed_division_does_not_normalize_the_quotient() {
    let right = divide(load(4.0), load(7.0)).unwrap();
    let printed = printed_divide(load(4.0), load(7.0));
    assert_eq!(bit::<24>(right.fraction.into(), 1), 1);
    assert_eq!(bit::<24>(printed.fraction.into(), 1), 0);
}

/// Fig. A-4 with the comparison of choice.
fn root_by(a: Registers, takes: fn(u64, u64) -> bool) -> u32 {
    let mut f_o = u64::from(a.fraction) << 1 >> (a.exponent & 1);
    let mut f_r = 0b01;
    for _ in 0..24 {
        let next = u64::from(takes(f_o >> 23, f_r));
        f_o -= next * (f_r << 23);
        f_o = left::<49>(left::<49>(f_o));
        f_r = left::<24>(f_r >> 2) << 2 | next << 2 | 0b01;
    }
    (f_r >> 2) as u32
}

#[test]
fn the_printed_root_does_not_halve_the_exponent() {
    let four = load(4.0);
    let printed = Registers { exponent: four.exponent + (four.exponent & 1), ..root(four).unwrap() };
    assert_eq!(root(four).unwrap().store(), 2.0);
    assert_eq!(printed.store(), 8.0);
}

#[test]
fn the_root_of_a_square_needs_the_comparison_of_the_figure_and_not_of_the_text() {
    let square = load(2.25);
    assert_eq!(root_by(square, |operand, result| operand >= result), root(square).unwrap().fraction);
    let text = Registers { fraction: root_by(square, |operand, result| operand > result), ..load(1.5) };
    assert_eq!(root(square).unwrap().store(), 1.5);
    assert!(text.store() < 1.5);
}
