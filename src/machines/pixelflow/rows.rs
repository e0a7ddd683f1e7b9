//! Operations on many pixels: what [`shadewright_ir::fold::eval_op`] does to one value, on rows of
//! 32-bit words.

use shadewright_ir::{Const, Op, Type};

/// The results of a pure scalar operation on operands of these types, a word a pixel. `None` for
/// operations that the hardware does not have.
pub fn apply(op: &Op, args: &[Vec<u32>], operand: Type, result: Type) -> Option<Vec<u32>> {
    let one = |f: &dyn Fn(f32) -> f32| args[0].iter().map(|&a| f(f32::from_bits(a)).to_bits()).collect();
    let floats = |f: fn(f32, f32) -> f32| {
        args[0].iter().zip(&args[1]).map(|(&a, &b)| f(f32::from_bits(a), f32::from_bits(b)).to_bits()).collect()
    };
    let tests = |f: fn(f32, f32) -> bool| {
        args[0].iter().zip(&args[1]).map(|(&a, &b)| u32::from(f(f32::from_bits(a), f32::from_bits(b)))).collect()
    };
    let words = |f: fn(u32, u32) -> u32| args[0].iter().zip(&args[1]).map(|(&a, &b)| f(a, b)).collect();
    let each = |f: fn(u32) -> u32| args[0].iter().map(|&a| f(a)).collect();
    let signed = operand == Type::I32;
    Some(match op {
        Op::Neg => one(&|a| -a),
        Op::Abs => one(&f32::abs),
        Op::Add => floats(|a, b| a + b),
        Op::Sub => floats(|a, b| a - b),
        Op::Mul => floats(|a, b| a * b),
        Op::Rcp => one(&rcp),
        Op::Rsq => one(&rsq),
        Op::Sqrt => one(&|a| if a == 0.0 { 0.0 } else { rcp(rsq(a)) }),
        Op::Frac => one(&|a| a - a.floor()),
        Op::Floor => one(&|a| a - (a - a.floor())),
        Op::Min => floats(|a, b| if b < a { b } else { a }),
        Op::Max => floats(|a, b| if a < b { b } else { a }),
        Op::Sat => one(&|a| if a > 0.0 { if a < 1.0 { a } else { 1.0 } } else { 0.0 }),
        Op::Lt => tests(|a, b| a - b < 0.0),
        Op::Le => tests(|a, b| b - a >= 0.0),
        Op::Eq => tests(|a, b| a - b == 0.0),
        Op::Ne => tests(|a, b| a - b != 0.0),
        Op::IAdd => words(u32::wrapping_add),
        Op::ISub => words(u32::wrapping_sub),
        Op::IMul => words(u32::wrapping_mul),
        Op::IAnd => words(|a, b| a & b),
        Op::IOr => words(|a, b| a | b),
        Op::IXor => words(|a, b| a ^ b),
        Op::IShl => words(u32::wrapping_shl),
        Op::IShr if signed => words(|a, b| (a as i32).wrapping_shr(b) as u32),
        Op::IShr => words(u32::wrapping_shr),
        Op::IReverse => each(u32::reverse_bits),
        Op::ILt if signed => words(|a, b| u32::from((a as i32) < b as i32)),
        Op::ILt => words(|a, b| u32::from(a < b)),
        Op::IEq => words(|a, b| u32::from(a == b)),
        Op::Not => each(|a| a ^ 1),
        Op::And => words(|a, b| a & b),
        Op::Or => words(|a, b| a | b),
        Op::Select => {
            let pairs = args[1].iter().zip(&args[2]);
            args[0].iter().zip(pairs).map(|(&c, (&a, &b))| if c != 0 { a } else { b }).collect()
        }
        Op::ToInt if result == Type::U32 => each(|a| f32::from_bits(a) as u32),
        Op::ToInt => each(|a| f32::from_bits(a) as i32 as u32),
        Op::ToFloat if signed => each(|a| (a as i32 as f32).to_bits()),
        Op::ToFloat => each(|a| (a as f32).to_bits()),
        Op::Bitcast | Op::Seed => args[0].clone(),
        Op::Du | Op::Dv => vec![0; args[0].len()],
        _ => return None,
    })
}

fn rcp(x: f32) -> f32 {
    1.0 / x
}

fn rsq(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// The word of a constant of one word.
pub fn word(c: &Const) -> u32 {
    c.bits().first().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::fold::eval_op;
    use shadewright_ir::random::Random;

    #[test]
    fn rows_hold_what_the_evaluator_computes() {
        let floats = [Op::Neg, Op::Abs, Op::Rcp, Op::Rsq, Op::Sqrt, Op::Frac, Op::Floor, Op::Sat];
        let float_pairs = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max];
        let tests = [Op::Lt, Op::Le, Op::Eq, Op::Ne];
        let integers = [Op::IAdd, Op::ISub, Op::IMul, Op::IAnd, Op::IOr, Op::IXor, Op::IShl, Op::IShr];
        let (f, i, u, b) = (Type::F32, Type::I32, Type::U32, Type::Bool);
        let mut cases: Vec<(Op, Vec<Type>, Type)> = Vec::new();
        cases.extend(floats.map(|op| (op, vec![f], f)));
        cases.extend(float_pairs.map(|op| (op, vec![f; 2], f)));
        cases.extend(tests.map(|op| (op, vec![f; 2], b)));
        for ty in [i, u] {
            cases.extend(integers.clone().map(|op| (op, vec![ty; 2], ty)));
            cases.extend([Op::ILt, Op::IEq].map(|op| (op, vec![ty; 2], b)));
            cases.extend([(Op::IReverse, vec![ty], ty), (Op::ToInt, vec![f], ty), (Op::ToFloat, vec![ty], f)]);
            cases.push((Op::Select, vec![b, ty, ty], ty));
        }
        cases.extend([(Op::And, vec![b; 2], b), (Op::Or, vec![b; 2], b), (Op::Not, vec![b], b)]);
        let mut random = Random::new(3);
        let mut constant = |ty: Type| match ty {
            Type::Bool => Const::Bool(random.below(2) == 1),
            Type::I32 => Const::I32(random.bits() as i32 >> random.below(32)),
            Type::U32 => Const::U32(random.bits() as u32 >> random.below(32)),
            _ => match random.below(8) {
                0 => Const::F32([0.0, -0.0, f32::INFINITY, f32::NAN, f32::MAX][random.below(5)]),
                1 => Const::F32(f32::from_bits(random.bits() as u32)),
                _ => Const::F32(random.float()),
            },
        };
        for (op, types, result) in cases {
            for _ in 0..200 {
                let args: Vec<Const> = types.iter().map(|&ty| constant(ty)).collect();
                let rows: Vec<Vec<u32>> = args.iter().map(|c| vec![word(c)]).collect();
                let operand = types[usize::from(types.len() == 3)];
                let got = apply(&op, &rows, operand, result).expect("an operation of the hardware")[0];
                let expected = eval_op(&op, &args.iter().collect::<Vec<_>>(), result).expect("a value");
                let is_nan = matches!(expected, Const::F32(x) if x.is_nan()) && f32::from_bits(got).is_nan();
                assert!(is_nan || got == word(&expected), "{op:?} {args:?}: {got:x} for {expected:?}");
            }
        }
    }
}
