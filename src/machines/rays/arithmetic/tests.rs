use super::registers::Registers;
use super::*;
use shadewright_base::random::hash;

/// Numbers with random bits: mostly of all magnitudes, some within a factor of 2^32 of one, some
/// zero.
fn numbers(seed: u32) -> impl Iterator<Item = f32> {
    (0u32..).map(move |i| {
        let bits = hash(i.wrapping_mul(0x9e37_79b9) ^ hash(seed));
        let chosen = hash(bits ^ seed);
        match chosen % 16 {
            0 => 0.0,
            1..=9 => f32::from_bits(bits & 0x807f_ffff | (111 + (chosen >> 8) % 32) << 23),
            _ => f32::from_bits(bits & 0x807f_ffff | (1 + (chosen >> 8) % 254) << 23),
        }
    })
}

fn pairs(count: usize) -> impl Iterator<Item = (f32, f32)> {
    numbers(1).zip(numbers(2)).take(count)
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn the_custom_unit_computes_the_bits_of_the_register_programs() {
    for (a, b) in pairs(300_000) {
        let (x, y) = (Registers::load(a).unwrap(), Registers::load(b).unwrap());
        let check = |fast: f32, slow: f32, operation: &str| {
            assert!(same(fast, slow), "{operation} of {a:e} and {b:e}: {fast:e}, {slow:e}");
        };
        check(Custom.mul(a, b), registers::multiply(x, y).store(), "product");
        check(Custom.add(a, b), registers::add(x, y).store(), "sum");
        check(Custom.sub(a, b), registers::add(x, Registers::load(Custom.neg(b)).unwrap()).store(), "difference");
        check(Custom.divide(a, b), registers::divide(x, y).map_or(f32::NAN, Registers::store), "quotient");
        check(Custom.divide_short(a, b), Custom.divide(a, b), "short quotient");
        check(Custom.sqrt(a), registers::root(x).map_or(f32::NAN, Registers::store), "root");
    }
}

#[test]
fn the_number_below_the_smallest_one_is_zero() {
    // A fraction of 24 ones, and the exponent before the first.
    let twice = f32::from_bits(0x00ff_ffff);
    let quotient = registers::divide(Registers::load(twice).unwrap(), Registers::load(2.0).unwrap());
    assert_eq!(quotient.unwrap().store(), 0.0);
    assert_eq!(Custom.divide(twice, 2.0), 0.0);
    assert_eq!(Commercial.mul(twice, 0.5), 0.0);
    assert_eq!(Commercial.half(twice), 0.0);
}

#[test]
fn sums_of_addends_that_almost_cancel_have_the_bits_of_the_registers() {
    for (a, b) in pairs(100_000) {
        // Equal exponents, or neighboring ones.
        let near = f32::from_bits(a.to_bits() & 0xff80_0000 | b.to_bits() & 0x7f_ffff);
        for b in [-near, -near * 0.5, -near * 0.25, near] {
            let b = flushed(b);
            let slow = registers::add(Registers::load(a).unwrap(), Registers::load(b).unwrap()).store();
            assert!(same(Custom.add(a, b), slow), "{a:e} + {b:e}");
            assert!(same(Commercial.add(a, b), slow), "{a:e} + {b:e}");
        }
    }
}

/// The largest relative error over operands of moderate size.
fn worst(mut measure: impl FnMut(f32, f32) -> (f32, f64)) -> f64 {
    let moderate = |x: f32| f32::from_bits(x.to_bits() & 0x007f_ffff | (120 + (x.to_bits() >> 23) % 16) << 23);
    let mut worst = 0.0f64;
    for (a, b) in pairs(400_000) {
        let (got, exact) = measure(moderate(a), moderate(b));
        worst = worst.max(((f64::from(got) - exact) / exact).abs());
    }
    worst
}

#[test]
fn commercial_operations_are_as_precise_as_stated() {
    let unit = Commercial;
    let exact = |x: f32| f64::from(x);
    let product = worst(|a, b| (unit.mul(a, b), exact(a) * exact(b)));
    let sum = worst(|a, b| (unit.add(a, b), exact(a) + exact(b)));
    let quotient = worst(|a, b| (unit.divide(a, b), exact(a) / exact(b)));
    let short = worst(|a, b| (unit.divide_short(a, b), exact(a) / exact(b)));
    let root = worst(|a, _| (unit.sqrt(a), exact(a).sqrt()));
    let bits = |error: f64| -error.log2();
    assert!(bits(product) > 23.0, "{}", bits(product));
    assert!(bits(sum) > 22.0, "{}", bits(sum));
    assert!(bits(quotient) > 21.0 && bits(quotient) < 22.5, "{}", bits(quotient));
    assert!(bits(short) > 12.0 && bits(short) < 13.0, "{}", bits(short));
    assert!(bits(root) > 12.0 && bits(root) < 13.5, "{}", bits(root));
}

#[test]
fn custom_operations_have_23_bits_and_roots_24() {
    let exact = |x: f32| f64::from(x);
    let product = worst(|a, b| (Custom.mul(a, b), exact(a) * exact(b)));
    let quotient = worst(|a, b| (Custom.divide(a, b), exact(a) / exact(b)));
    let root = worst(|a, _| (Custom.sqrt(a), exact(a).sqrt()));
    let bits = |error: f64| -error.log2();
    assert!(bits(product) > 22.0 && bits(product) < 23.0, "{}", bits(product));
    assert!(bits(quotient) > 22.0 && bits(quotient) < 23.0, "{}", bits(quotient));
    assert!(bits(root) > 23.0, "{}", bits(root));
}

#[test]
fn commercial_products_keep_the_bit_that_the_normalizing_shift_brings_in() {
    let a = 1.0 + 3.0 * f32::EPSILON;
    assert_eq!(Commercial.mul(a, 1.0), a);
    assert!(Custom.mul(a, 1.0) < a);
}

#[test]
fn a_table_of_12_bits_gives_first_guesses_good_to_12_bits() {
    let mut worst = 0.0f64;
    for step in 0..1 << 16 {
        let b = 1.0 + step as f32 / 65536.0;
        worst = worst.max((f64::from(reciprocal_guess(b)) * f64::from(b) - 1.0).abs());
    }
    assert!(worst < 0.75 / 4096.0, "{worst}");
}

#[test]
fn roots_of_all_exponents_are_good_to_12_bits() {
    for exponent in -126..128 {
        for step in 0..512 {
            let a = 2f32.powi(exponent) * (1.0 + step as f32 / 512.0);
            let exact = f64::from(a).sqrt();
            let error = (f64::from(Commercial.sqrt(a)) - exact) / exact;
            assert!(error.abs() < 0.625 / 4096.0, "{a:e}: {error}");
        }
    }
}

fn invalid_results<O: Operations>(unit: O) {
    let nan = f32::NAN;
    for x in [
        unit.divide(1.0, 0.0),
        unit.divide(0.0, 0.0),
        unit.divide_short(-1.0, 0.0),
        unit.sqrt(-1.0),
        unit.mul(f32::MAX, 2.0),
        unit.mul(-1e30, 1e30),
        unit.add(f32::MAX, f32::MAX),
        unit.sub(-f32::MAX, f32::MAX),
        unit.divide(1e30, 1e-30),
        unit.divide_short(1e30, 1e-30),
        unit.mul(nan, 0.0),
        unit.mul(1.0, nan),
        unit.add(nan, 1.0),
        unit.add(0.0, nan),
        unit.sub(nan, nan),
        unit.neg(nan),
        unit.divide(nan, 1.0),
        unit.divide(1.0, nan),
        unit.divide_short(1.0, nan),
        unit.divide_short(nan, 1.0),
        unit.sqrt(nan),
    ] {
        assert!(x.is_nan(), "{x}");
    }
}

#[test]
fn invalid_operations_make_invalid_numbers_and_these_stay_so() {
    invalid_results(Commercial);
    invalid_results(Custom);
    invalid_results(Ieee);
}

fn exact_results<O: Operations>(unit: O) {
    assert_eq!(unit.mul(1.5, -2.0), -3.0);
    assert_eq!(unit.add(1.5, -2.0), -0.5);
    assert_eq!(unit.sub(1.5, -2.0), 3.5);
    assert_eq!(unit.neg(1.5), -1.5);
    assert_eq!(unit.add(5.0, 0.0), 5.0);
    assert_eq!(unit.sub(0.0, 5.0), -5.0);
    assert_eq!(unit.mul(0.0, -5.0), 0.0);
    assert_eq!(unit.divide(0.0, -5.0), 0.0);
    assert_eq!(unit.sqrt(0.0), 0.0);
    assert!((unit.divide(-6.0, 2.0) + 3.0).abs() < 3e-6);
    assert!((unit.sqrt(9.0) - 3.0).abs() < 1e-3);
}

#[test]
fn small_numbers_come_out_right_in_every_unit() {
    exact_results(Commercial);
    exact_results(Custom);
    exact_results(Ieee);
}

#[test]
fn results_too_small_are_zero() {
    assert_eq!(Commercial.mul(1e-30, 1e-30).to_bits(), 0);
    assert_eq!(Custom.mul(-1e-30, 1e-30).to_bits(), 0);
    assert_eq!(Custom.sub(1.5 * f32::MIN_POSITIVE, f32::MIN_POSITIVE).to_bits(), 0);
    assert_eq!(Commercial.divide(1.0, f32::MAX).to_bits(), 0);
    assert_eq!(flushed(-1e-40).to_bits(), 0);
}

#[test]
fn the_stages_are_those_of_fig_2_17() {
    let shifters = StageCounts::commercial(Adder::BarrelShifter);
    let multipliers = StageCounts::commercial(Adder::Multiplier);
    assert_eq!(shifters, StageCounts { mul: 1, add: 1, long_division: 4, short_division: 2, root: 2 });
    assert_eq!(multipliers, StageCounts { add: 3, long_division: 6, ..shifters });
}

#[test]
fn a_custom_operation_takes_about_5_microseconds() {
    assert_eq!(Steps::PRODUCT.microseconds(200.0), 4.9);
    assert_eq!(Steps::SUM.microseconds(200.0), 4.9);
    assert_eq!(Steps::PRODUCT.microseconds(100.0), 2.45);
    assert_eq!(Steps::PRODUCT.serial_microseconds(100.0), 3.65);
    assert_eq!(Steps::SUM.serial_microseconds(200.0), 5.0);
}

#[test]
fn units_have_names_in_kebab_case() {
    for (unit, name) in [(Unit::Commercial, "commercial"), (Unit::Custom, "custom"), (Unit::Ieee, "ieee")] {
        assert_eq!(serde_json::to_value(unit).unwrap(), name);
    }
    assert_eq!(Unit::default(), Unit::Commercial);
}
