use super::programs::{self, Arithmetic, Operation};
use super::words::{number, same, word};
use super::*;
use crate::rays::arithmetic::{Commercial, Custom, Operations, Unit, flushed};
use shadewright_base::random::hash;
use shadewright_silicon::circuit::Circuit;

mod counted;
mod intersected;
mod printed;
mod serial;

/// The circuit of a program that has no errors.
fn compiled(text: &str) -> Circuit {
    run::compiled(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The circuit after all passes.
fn optimized(text: &str) -> Circuit {
    run::optimized(compiled(text))
}

/// The results of the chip of an operation for operands.
fn compute(circuit: &Circuit, operation: Operation, pairs: &[(f32, f32)]) -> Vec<f32> {
    let outputs = run::simulated(circuit, &streams(operation, pairs)).unwrap();
    let [(port, words)] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!(port, "c");
    words.iter().copied().map(number).collect()
}

fn streams(operation: Operation, pairs: &[(f32, f32)]) -> run::Streams {
    let mut streams = vec![("a".to_string(), pairs.iter().map(|&(a, _)| word(a)).collect())];
    if operation != Operation::Sqrt {
        streams.push(("b".to_string(), pairs.iter().map(|&(_, b)| word(b)).collect()));
    }
    streams
}

/// Pairs of numbers with random bits: of all magnitudes, near one, zero, not valid, at the ends of the
/// range, and pairs that almost cancel.
fn pairs(count: u32, seed: u32) -> Vec<(f32, f32)> {
    let pick = |i: u32, seed: u32| {
        let bits = hash(i.wrapping_mul(0x9e37_79b9) ^ hash(seed));
        let chosen = hash(bits ^ seed);
        let with_exponent = |exponent: u32| f32::from_bits(bits & 0x807f_ffff | exponent << 23);
        match chosen % 32 {
            0 | 1 => 0.0,
            2 => f32::NAN,
            3 => f32::from_bits(bits & 0x8000_0000 | 0x0080_0000),
            4 => f32::from_bits(bits & 0x8000_0000 | 0x7f7f_ffff),
            5 => f32::from_bits(with_exponent(1 + (chosen >> 8) % 254).to_bits() | 0x7f_ffff),
            6 => f32::from_bits(with_exponent(1 + (chosen >> 8) % 254).to_bits() & 0xff80_0000),
            7..=18 => with_exponent(111 + (chosen >> 8) % 32),
            _ => with_exponent(1 + (chosen >> 8) % 254),
        }
    };
    let pair = |i: u32| {
        let (a, b) = (pick(i, seed), pick(i, seed ^ 0x55));
        let near = f32::from_bits((a.to_bits() & 0xff80_0000 | b.to_bits() & 0x7f_ffff) ^ 0x8000_0000);
        (a, if i % 4 == 3 { flushed(near * [1.0, 0.5, 0.25, 2.0][i as usize / 4 % 4]) } else { b })
    };
    (0..count).map(pair).collect()
}

/// The result in the arithmetic of the hardware models.
fn expected(unit: Unit, operation: Operation, a: f32, b: f32) -> f32 {
    fn by(ops: impl Operations, operation: Operation, a: f32, b: f32) -> f32 {
        match operation {
            Operation::Mul => ops.mul(a, b),
            Operation::Add => ops.add(a, b),
            Operation::Sub => ops.sub(a, b),
            Operation::Divide => ops.divide(a, b),
            Operation::DivideShort => ops.divide_short(a, b),
            Operation::Sqrt => ops.sqrt(a),
        }
    }
    match unit {
        Unit::Commercial => by(Commercial, operation, a, b),
        Unit::Custom | Unit::Ieee => by(Custom, operation, a, b),
    }
}

/// Checks all operations of an arithmetic on so many pairs each.
fn check(arithmetic: Arithmetic, count: u32) {
    for (seed, operation) in Operation::ALL.into_iter().enumerate() {
        let circuit = optimized(&programs::operation(arithmetic, operation));
        let pairs = pairs(count, seed as u32);
        let computed = compute(&circuit, operation, &pairs);
        assert_eq!(computed.len(), pairs.len());
        for (&(a, b), got) in pairs.iter().zip(computed) {
            let wanted = expected(arithmetic.unit(), operation, a, b);
            assert!(same(got, wanted), "{operation:?} {arithmetic:?} {a:e} {b:e}: {got:e}, not {wanted:e}");
        }
    }
}

#[test]
fn unrolled_macros_compute_the_bits_of_the_custom_unit() {
    check(Arithmetic::Unrolled, 500);
}

#[test]
fn loops_compute_the_bits_of_the_custom_unit() {
    check(Arithmetic::Registers, 125);
}

#[test]
fn multipliers_shifters_and_tables_compute_the_bits_of_the_commercial_unit() {
    check(Arithmetic::Commercial, 2000);
}
