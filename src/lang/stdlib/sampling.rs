//! Random numbers of a shading point, for rays that shaders trace: integer hashing, so that every
//! back end draws the same.

use shadewright_ir::abi::library;
use shadewright_ir::{Function, FunctionBuilder, Op, Type, Value};

/// Low bits of a coordinate that do not count, half of them rounded: back ends that differ in the
/// last bits of a position, as GPUs that fuse multiplications and additions do, then still draw the
/// same numbers but for about one position in a hundred.
const DROPPED: u32 = 0xff;

/// `std.__random(p: vec3) → vec3`: three numbers in [0, 1), by the hash `pcg3d` (Jarzynski & Olano,
/// "Hash Functions for GPU Rendering", 2020) of the coordinates' bits.
pub fn functions() -> Vec<Function> {
    let mut b = FunctionBuilder::library(library::RANDOM);
    b.result("return", Type::Vec3);
    let p = b.param("p", Type::Vec3);
    let mut v = [0, 1, 2].map(|i| {
        let x = b.extract(p, i);
        let bits = b.bitcast(x, Type::U32);
        let rounded = with(&mut b, Op::IAdd, bits, DROPPED.div_ceil(2));
        let kept = with(&mut b, Op::IAnd, rounded, !DROPPED);
        let scaled = with(&mut b, Op::IMul, kept, 1_664_525);
        with(&mut b, Op::IAdd, scaled, 1_013_904_223)
    });
    mix(&mut b, &mut v);
    v = v.map(|x| {
        let high = with(&mut b, Op::IShr, x, 16);
        b.ixor(x, high)
    });
    mix(&mut b, &mut v);
    let numbers = v.map(|x| {
        let high = with(&mut b, Op::IShr, x, 8);
        let number = b.to_float(high);
        let unit = b.f32(1.0 / 16_777_216.0);
        b.mul(number, unit)
    });
    let result = b.compose(&numbers);
    b.ret(vec![result]);
    vec![b.finish()]
}

fn with(b: &mut FunctionBuilder, op: Op, x: Value, constant: u32) -> Value {
    let constant = b.u32(constant);
    b.op(op, &[x, constant])
}

/// Adds to each coordinate the product of the two others.
fn mix(b: &mut FunctionBuilder, v: &mut [Value; 3]) {
    for i in 0..3 {
        let product = b.imul(v[(i + 1) % 3], v[(i + 2) % 3]);
        v[i] = b.iadd(v[i], product);
    }
}

#[cfg(test)]
mod tests {
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    use shadewright_ir::{Const, Module};

    fn random(p: [f32; 3]) -> [f32; 3] {
        let module = Module { functions: super::functions(), ..Module::default() };
        match eval(&module, shadewright_ir::abi::library::RANDOM, &[Const::Vec3(p)], &mut EmptyWorld, Limits::default())
            .as_deref()
        {
            Ok([Const::Vec3(v)]) => *v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_numbers_are_spread_evenly_and_do_not_hang_together() {
        let points = (0..4096).map(|i| [0.01 * i as f32, 2.0 - 0.003 * i as f32, 1.0]);
        let drawn: Vec<[f32; 3]> = points.map(random).collect();
        let mean = |f: &dyn Fn(&[f32; 3]) -> f32| drawn.iter().map(f).sum::<f32>() / drawn.len() as f32;
        for i in 0..3 {
            assert!((mean(&|v| v[i]) - 0.5).abs() < 0.02);
            assert!((mean(&|v| v[i] * v[i]) - 1.0 / 3.0).abs() < 0.02);
            assert!((mean(&|v| v[i] * v[(i + 1) % 3]) - 0.25).abs() < 0.02);
        }
        assert!(drawn.iter().flatten().all(|x| (0.0..1.0).contains(x)));
    }

    #[test]
    fn the_last_bits_of_a_position_rarely_count() {
        let near = |x: f32| f32::from_bits(x.to_bits() + 1);
        let points: Vec<[f32; 3]> = (0..1000).map(|i| [0.1 * i as f32, 1.0 + 0.7 * i as f32, 3.0]).collect();
        let same = points.iter().filter(|p| random(**p) == random(p.map(near))).count();
        assert!(same > 970, "{same} of 1000");
    }
}
