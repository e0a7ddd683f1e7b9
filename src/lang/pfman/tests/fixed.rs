//! Fixed-point arithmetic against exact arithmetic.

use super::*;

/// The part of an exact value that a type keeps: digits beyond the last are cut off, and so is the
/// upper part of what is too large.
fn cut(ty: Fixed, exact: i128, exponent: i32) -> i64 {
    let places = exponent - ty.exponent;
    let stored = if places >= 0 { exact >> places.min(127) } else { exact << -places };
    wrapped(ty, stored)
}

fn wrapped(ty: Fixed, stored: i128) -> i64 {
    let modulus = 1i128 << ty.bits();
    let low = stored.rem_euclid(modulus);
    (if ty.signed && low >= modulus / 2 { low - modulus } else { low }) as i64
}

fn any_type() -> impl Strategy<Value = Fixed> {
    (any::<bool>(), 1u32..=31, -8i32..40).prop_map(|(signed, size, exponent)| Fixed { signed, size, exponent })
}

fn constant(ty: Fixed, bits: u32) -> (Const, i128) {
    let stored = wrapped(ty, i128::from(bits));
    let value = if ty.signed { Const::I32(stored as i32) } else { Const::U32(stored as u32) };
    (value, i128::from(stored))
}

fn source(op: &str, a: Fixed, b: Fixed, result: Fixed) -> String {
    format!("{result} f({a} a, {b} b) {{ return a {op} b; }}")
}

proptest! {
    #[test]
    fn products_are_exact_up_to_what_is_kept(a in any_type(), b in any_type(), r in any_type(), x: u32, y: u32) {
        let ((x, exact_x), (y, exact_y)) = (constant(a, x), constant(b, y));
        let (got, exact) = (run(&source("*", a, b, r), &[x, y]), exact_x * exact_y);
        // The operators' own result is cut first; digits that it lacks are 0.
        let kept = a.product(b).limited(r).in_register();
        let kept_value = cut(kept, exact, a.exponent + b.exponent);
        let is_narrowed = [a, b].iter().any(|t| !t.signed && t.size == 32);
        prop_assume!(!is_narrowed);
        prop_assert_eq!(got[0], cut(r, i128::from(kept_value), kept.exponent) as f64);
    }

    #[test]
    fn sums_are_exact_up_to_what_is_kept(a in any_type(), b in any_type(), r in any_type(), x: u32, y: u32) {
        let ((x, exact_x), (y, exact_y)) = (constant(a, x), constant(b, y));
        for (op, sign, ty) in [("+", 1, a.sum(b)), ("-", -1, a.difference(b))] {
            let got = run(&source(op, a, b, r), &[x.clone(), y.clone()]);
            let kept = ty.limited(r).in_register();
            // Operands are brought to the digits of the sum.
            let digits = |exact: i128, exponent: i32| {
                let places = exponent - kept.exponent;
                if places >= 0 { exact >> places } else { exact << -places }
            };
            let sum = digits(exact_x, a.exponent) + sign * digits(exact_y, b.exponent);
            let sum = wrapped(kept, sum);
            prop_assert_eq!(got[0], cut(r, i128::from(sum), kept.exponent) as f64, "{}", op);
        }
    }

    #[test]
    fn quotients_are_cut_towards_zero(a in any_type(), b in any_type(), x: u32, y: u32) {
        let ((x, exact_x), (y, exact_y)) = (constant(a, x), constant(b, y));
        let kept = a.quotient(b).in_register();
        let got = run(&source("/", a, b, kept), &[x, y]);
        let zeros = kept.exponent - a.exponent + b.exponent;
        let magnitude = match exact_y.unsigned_abs() {
            0 => 0,
            y if zeros >= 0 => (exact_x.unsigned_abs() << zeros) / y,
            y => (exact_x.unsigned_abs() >> -zeros) / y,
        } as i128;
        let is_negative = (exact_x < 0) != (exact_y < 0);
        prop_assert_eq!(got[0], wrapped(kept, if is_negative { -magnitude } else { magnitude }) as f64);
    }

    #[test]
    fn floats_become_the_nearest_number_towards_zero_that_the_type_holds(ty in any_type(), x in -1e6f32..1e6) {
        let source = format!("{ty} f(float a) {{ return a; }}");
        let got = run(&source, &[Const::F32(x)])[0];
        let scaled = x * 2f32.powi(ty.exponent);
        let limit = 2f64.powi(ty.size as i32);
        let nearest = f64::from(scaled).trunc().clamp(if ty.signed { -limit } else { 0.0 }, limit - 1.0);
        // The largest numbers of more than 24 bits are none of single precision.
        prop_assert!((got - nearest).abs() <= limit * 2f64.powi(-24) && (ty.size > 24 || got == nearest));
    }
}

#[test]
fn functions_of_fixed_point_stay_in_it() {
    let f = |code: &str| {
        run(&format!("float f() {{ fixed<12,8> x = -2.25; unsigned fixed<8,4> y = 6.25; return {code}; }}"), &[])[0]
    };
    assert_eq!(f("abs(x)"), 2.25);
    assert_eq!(f("sign(x)"), -1.0);
    assert_eq!(f("floor(x)"), -3.0);
    assert_eq!(f("ceil(x)"), -2.0);
    assert_eq!(f("sqrt(y)"), 2.5);
    assert_eq!(f("min(x, y) + max(x, y)"), 4.0);
    assert_eq!(f("clamp(y, 0, 5)"), 5.0);
    assert_eq!(f("x % 2"), -0.25);
    assert_eq!(f("y >> 1"), 3.125);
    let ty = unit("float f() { unsigned fixed<8,4> y = 2; return sqrt(y); }");
    assert!(!ty.module.functions.iter().any(|f| f.blocks.iter().flat_map(|b| &b.insts).any(|i| i.op == ir::Op::Sqrt)));
}

#[test]
fn quotients_have_as_many_digits_as_their_result() {
    let f = |code: &str| run(&format!("float f() {{ {code} }}"), &[])[0];
    assert!((f("fixed<8,0> a = 1, b = 3; return a / b;") - 1.0 / 3.0).abs() < 1e-7);
    assert!((f("fixed<8,0> a = 1, b = 3; fixed<15,14> q = a / b; return q;") - 1.0 / 3.0).abs() < 1e-4);
    assert_eq!(f("return 1 / 4;"), 0.25);
    assert_eq!(f("fixed<8,0> a = 7, half = a / 2; return half;") as i32, 3);
}

#[test]
fn constants_keep_more_digits_than_floats() {
    let ty = Type::number(Scalar::Fixed(Fixed { signed: true, size: 31, exponent: 28 }));
    let source = format!("{ty} f() {{ return -0.743643887037151; }}");
    assert_eq!(run(&source, &[])[0], (-0.743643887037151f64 * 2f64.powi(28)).trunc());
}
