//! The result of each pure operation: the one definition of the IR's arithmetic on the host, used
//! by the evaluator and by the constant folder. A result that is NaN has the bits of [`Ruled`], so
//! that both give the same ones each time.

use super::{Const, Op, Type, string_id};
use shadewright_base::nan::Ruled;

/// The result of a pure operation on constants; `result` is the type of its result.
///
/// `None` for operations that are not pure or read the world (`uniform`, `load`), for operands that
/// the verifier would refuse, and for a `bitcast` to `string` of anything but zero, as an
/// identifier does not determine its string.
pub fn eval_op(op: &Op, args: &[&Const], result: Type) -> Option<Const> {
    use Const::*;
    Some(match (op, args) {
        (Op::Const(c), []) => c.clone(),

        (Op::Neg, [a]) => each(a, |x| f32::from_bits(x.to_bits() ^ 0x8000_0000))?,
        (Op::Abs, [a]) => each(a, |x| f32::from_bits(x.to_bits() & 0x7fff_ffff))?,
        (Op::Add, [a, b]) => each_pair(a, b, |x, y| (Ruled(x) + Ruled(y)).0)?,
        (Op::Sub, [a, b]) => each_pair(a, b, |x, y| (Ruled(x) - Ruled(y)).0)?,
        (Op::Mul, [a, b]) => each_pair(a, b, |x, y| (Ruled(x) * Ruled(y)).0)?,
        (Op::Rcp, [a]) => each(a, rcp)?,
        (Op::Rsq, [a]) => each(a, rsq)?,
        (Op::Sqrt, [a]) => each(a, |x| if x == 0.0 { 0.0 } else { rcp(rsq(x)) })?,
        (Op::Frac, [a]) => each(a, |x| frac(Ruled(x)).0)?,
        (Op::Floor, [a]) => each(a, |x| (Ruled(x) - frac(Ruled(x))).0)?,
        (Op::Min, [a, b]) => each_pair(a, b, |x, y| if y < x { y } else { x })?,
        (Op::Max, [a, b]) => each_pair(a, b, |x, y| if x < y { y } else { x })?,
        (Op::Sat, [a]) => each(a, sat)?,

        // One sample alone knows of no change.
        (Op::Du | Op::Dv, [a]) => each(a, |_| 0.0)?,
        (Op::Seed, [a, ..]) => (*a).clone(),

        (Op::Dot, [a, b]) => {
            let products = a.floats()?.iter().zip(b.floats()?).map(|(x, y)| Ruled(*x) * Ruled(*y));
            F32(products.reduce(|sum, p| sum + p)?.0)
        }
        (Op::Cross, [Vec3(a), Vec3(b)]) => {
            let (a, b) = (a.map(Ruled), b.map(Ruled));
            let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            Vec3(cross.map(|x| x.0))
        }
        (Op::Compose, [Vec4(a), Vec4(b), Vec4(c), Vec4(d)]) => Const::from_floats(&[*a, *b, *c, *d].concat())?,
        (Op::Compose, _) => {
            let mut parts = [0.0; 4];
            for (part, arg) in parts.iter_mut().zip(args) {
                let F32(x) = arg else { return None };
                *part = *x;
            }
            Const::from_floats(parts.get(..args.len())?)?
        }
        (Op::Splat, [F32(x)]) => Const::from_floats(&[*x; 4][..result.lanes()? as usize])?,
        (Op::Extract(row), [Mat4(m)]) => Const::from_floats(m.chunks_exact(4).nth(*row as usize)?)?,
        (Op::Extract(c), [v]) => F32(*v.floats()?.get(*c as usize)?),
        (Op::Insert(c), [v, F32(x)]) => {
            let mut parts = v.floats()?.to_vec();
            *parts.get_mut(*c as usize)? = *x;
            Const::from_floats(&parts)?
        }

        (Op::Lt, [F32(a), F32(b)]) => Bool(a - b < 0.0),
        (Op::Le, [F32(a), F32(b)]) => Bool(b - a >= 0.0),
        (Op::Eq, [F32(a), F32(b)]) => Bool(a - b == 0.0),
        (Op::Ne, [F32(a), F32(b)]) => Bool(a - b != 0.0),

        (Op::IAdd, [a, b]) => each_integer(a, b, i32::wrapping_add)?,
        (Op::ISub, [a, b]) => each_integer(a, b, i32::wrapping_sub)?,
        (Op::IMul, [a, b]) => each_integer(a, b, i32::wrapping_mul)?,
        (Op::IAnd, [a, b]) => each_integer(a, b, |x, y| x & y)?,
        (Op::IOr, [a, b]) => each_integer(a, b, |x, y| x | y)?,
        (Op::IXor, [a, b]) => each_integer(a, b, |x, y| x ^ y)?,
        (Op::IShl, [a, b]) => each_integer(a, b, |x, y| x.wrapping_shl(y as u32))?,
        (Op::IShr, [I32(a), I32(b)]) => I32(a.wrapping_shr(*b as u32)),
        (Op::IShr, [U32(a), U32(b)]) => U32(a.wrapping_shr(*b)),
        (Op::IReverse, [I32(a)]) => I32(a.reverse_bits()),
        (Op::IReverse, [U32(a)]) => U32(a.reverse_bits()),
        (Op::ILt, [I32(a), I32(b)]) => Bool(a < b),
        (Op::ILt, [U32(a), U32(b)]) => Bool(a < b),
        (Op::IEq, [a, b]) => Bool(one_word(a)? == one_word(b)?),

        (Op::Not, [Bool(a)]) => Bool(!a),
        (Op::And, [Bool(a), Bool(b)]) => Bool(*a && *b),
        (Op::Or, [Bool(a), Bool(b)]) => Bool(*a || *b),
        (Op::Select, [Bool(c), a, b]) => {
            if *c {
                (*a).clone()
            } else {
                (*b).clone()
            }
        }

        (Op::ToInt, [F32(x)]) if result == Type::U32 => U32(*x as u32),
        (Op::ToInt, [F32(x)]) => I32(*x as i32),
        (Op::ToFloat, [I32(i)]) => F32(*i as f32),
        (Op::ToFloat, [U32(u)]) => F32(*u as f32),
        (Op::Bitcast, [a]) => from_word(one_word(a)?, result)?,
        _ => return None,
    })
}

/// `1 / x`, rounded once.
fn rcp(x: f32) -> f32 {
    (Ruled(1.0) / Ruled(x)).0
}

/// `1 / √x`: the root is rounded, then the quotient.
fn rsq(x: f32) -> f32 {
    (Ruled(1.0) / Ruled(x).sqrt()).0
}

/// The difference of a number and the largest integer not above it.
fn frac(x: Ruled) -> Ruled {
    x - x.floor()
}

/// Clamps to `[0, 1]`; NaN and −0 give 0.
fn sat(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

fn each(a: &Const, f: impl Fn(f32) -> f32) -> Option<Const> {
    match a {
        Const::F32(x) => Some(Const::F32(f(*x))),
        Const::Vec2(v) => Some(Const::Vec2(v.map(f))),
        Const::Vec3(v) => Some(Const::Vec3(v.map(f))),
        Const::Vec4(v) => Some(Const::Vec4(v.map(f))),
        _ => None,
    }
}

fn each_pair(a: &Const, b: &Const, f: impl Fn(f32, f32) -> f32) -> Option<Const> {
    match (a, b) {
        (Const::F32(x), Const::F32(y)) => Some(Const::F32(f(*x, *y))),
        (Const::Vec2(a), Const::Vec2(b)) => Some(Const::Vec2(std::array::from_fn(|i| f(a[i], b[i])))),
        (Const::Vec3(a), Const::Vec3(b)) => Some(Const::Vec3(std::array::from_fn(|i| f(a[i], b[i])))),
        (Const::Vec4(a), Const::Vec4(b)) => Some(Const::Vec4(std::array::from_fn(|i| f(a[i], b[i])))),
        _ => None,
    }
}

/// Operations that treat both signednesses alike.
fn each_integer(a: &Const, b: &Const, f: impl Fn(i32, i32) -> i32) -> Option<Const> {
    match (a, b) {
        (Const::I32(a), Const::I32(b)) => Some(Const::I32(f(*a, *b))),
        (Const::U32(a), Const::U32(b)) => Some(Const::U32(f(*a as i32, *b as i32) as u32)),
        _ => None,
    }
}

/// The 32 bits of a value of one word.
fn one_word(c: &Const) -> Option<u32> {
    Some(match c {
        Const::Bool(b) => *b as u32,
        Const::I32(i) => *i as u32,
        Const::U32(u) | Const::Ref(u) => *u,
        Const::F32(x) => x.to_bits(),
        Const::String(s) => string_id(s),
        _ => return None,
    })
}

fn from_word(word: u32, ty: Type) -> Option<Const> {
    Some(match ty {
        Type::I32 => Const::I32(word as i32),
        Type::U32 => Const::U32(word),
        Type::F32 => Const::F32(f32::from_bits(word)),
        Type::Ref => Const::Ref(word),
        Type::String if word == 0 => Const::zero(Type::String),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Const::*;

    fn float(op: Op, args: &[f32]) -> f32 {
        let args: Vec<Const> = args.iter().map(|&x| F32(x)).collect();
        match eval_op(&op, &args.iter().collect::<Vec<_>>(), Type::F32) {
            Some(F32(x)) => x,
            other => panic!("{op:?} gives {other:?}"),
        }
    }

    fn truth(op: Op, a: f32, b: f32) -> bool {
        eval_op(&op, &[&F32(a), &F32(b)], Type::Bool) == Some(Bool(true))
    }

    #[test]
    fn the_square_root_is_the_reciprocal_of_the_reciprocal_root_and_zero_at_zero() {
        assert_eq!(float(Op::Sqrt, &[2.0]).to_bits(), (1.0 / (1.0 / 2.0f32.sqrt())).to_bits());
        assert_eq!(float(Op::Sqrt, &[-0.0]).to_bits(), 0);
        assert_eq!(float(Op::Sqrt, &[f32::INFINITY]), f32::INFINITY);
        assert!(float(Op::Sqrt, &[-1.0]).is_nan());
    }

    #[test]
    fn saturation_gives_zero_for_nan_and_negative_zero() {
        assert_eq!(float(Op::Sat, &[f32::NAN]).to_bits(), 0);
        assert_eq!(float(Op::Sat, &[-0.0]).to_bits(), 0);
        assert_eq!(float(Op::Sat, &[f32::INFINITY]), 1.0);
        assert_eq!(float(Op::Sat, &[0.25]), 0.25);
    }

    #[test]
    fn minimum_and_maximum_prefer_the_first_operand() {
        assert_eq!(float(Op::Min, &[0.0, -0.0]).to_bits(), 0);
        assert_eq!(float(Op::Max, &[-0.0, 0.0]).to_bits(), 0x8000_0000);
        assert!(float(Op::Min, &[f32::NAN, 1.0]).is_nan());
        assert_eq!(float(Op::Max, &[1.0, f32::NAN]), 1.0);
    }

    #[test]
    fn comparisons_test_the_difference() {
        let inf = f32::INFINITY;
        assert!(truth(Op::Lt, 1.0, 2.0) && !truth(Op::Lt, 2.0, 2.0));
        assert!(truth(Op::Le, 2.0, 2.0) && !truth(Op::Le, 3.0, 2.0));
        assert!(!truth(Op::Eq, inf, inf) && truth(Op::Ne, inf, inf) && !truth(Op::Le, inf, inf));
        assert!(!truth(Op::Lt, f32::NAN, 1.0) && !truth(Op::Eq, f32::NAN, f32::NAN) && truth(Op::Ne, f32::NAN, 1.0));
    }

    #[test]
    fn conversions_to_integers_saturate() {
        let int = |x, ty| eval_op(&Op::ToInt, &[&F32(x)], ty);
        assert_eq!(int(-1.9, Type::I32), Some(I32(-1)));
        assert_eq!(int(-1.9, Type::U32), Some(U32(0)));
        assert_eq!(int(1e10, Type::I32), Some(I32(i32::MAX)));
        assert_eq!(int(f32::NAN, Type::U32), Some(U32(0)));
    }

    #[test]
    fn shifts_take_their_count_modulo_32_and_wrap_and_differ_by_sign() {
        assert_eq!(eval_op(&Op::IShl, &[&U32(1), &U32(33)], Type::U32), Some(U32(2)));
        assert_eq!(eval_op(&Op::IShr, &[&I32(-8), &I32(1)], Type::I32), Some(I32(-4)));
        assert_eq!(eval_op(&Op::IShr, &[&U32(0x8000_0000), &U32(31)], Type::U32), Some(U32(1)));
        assert_eq!(eval_op(&Op::IMul, &[&U32(u32::MAX), &U32(2)], Type::U32), Some(U32(u32::MAX - 1)));
    }

    #[test]
    fn vectors_compose_and_come_apart() {
        let v = eval_op(&Op::Compose, &[&F32(1.0), &F32(2.0), &F32(3.0)], Type::Vec3).expect("a vec3");
        assert_eq!(v, Vec3([1.0, 2.0, 3.0]));
        assert_eq!(eval_op(&Op::Extract(2), &[&v], Type::F32), Some(F32(3.0)));
        assert_eq!(eval_op(&Op::Insert(0), &[&v, &F32(9.0)], Type::Vec3), Some(Vec3([9.0, 2.0, 3.0])));
        assert_eq!(eval_op(&Op::Cross, &[&v, &Vec3([0.0, 1.0, 0.0])], Type::Vec3), Some(Vec3([-3.0, 0.0, 1.0])));
        assert_eq!(eval_op(&Op::Dot, &[&v, &v], Type::F32), Some(F32(14.0)));
    }

    #[test]
    fn matrices_compose_of_rows_and_come_apart() {
        let rows: Vec<Const> = [1.0, 2.0, 3.0, 4.0].map(|x| Vec4([x, 0.0, -x, 0.5])).into();
        let m = eval_op(&Op::Compose, &rows.iter().collect::<Vec<_>>(), Type::Mat4).expect("a matrix");
        assert_eq!(m.floats().map(|f| f[4..8].to_vec()), Some(vec![2.0, 0.0, -2.0, 0.5]));
        for (k, row) in rows.iter().enumerate() {
            assert_eq!(eval_op(&Op::Extract(k as u8), &[&m], Type::Vec4).as_ref(), Some(row));
        }
    }

    #[test]
    fn strings_are_known_by_their_identifiers() {
        let (a, b) = (String("a".into()), String("b".into()));
        assert_eq!(eval_op(&Op::IEq, &[&a, &a.clone()], Type::Bool), Some(Bool(true)));
        assert_eq!(eval_op(&Op::IEq, &[&a, &b], Type::Bool), Some(Bool(false)));
        assert_eq!(eval_op(&Op::Bitcast, &[&a], Type::U32), Some(U32(string_id("a"))));
        assert_eq!(eval_op(&Op::Bitcast, &[&U32(7)], Type::String), None);
    }
}
