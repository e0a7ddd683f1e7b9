//! Arithmetic with matrices, as operations on their four rows.
//!
//! Takes and gives values of a function being built: a `mat4` is four rows `vec4`, and points are
//! row vectors, so that `p · M` is the sum of the rows of M, each times a component of p (RenderMan
//! Interface 3.2.1, §2). What the operators and functions of the language mean is RISpec 3.2.1,
//! sections 13.2 and 15.2 and 15.5; which of them there are is not known here.

use crate::types::SourceType;
use shadewright_ir::{FunctionBuilder, Op, Value};

/// The rows of a matrix.
fn rows(b: &mut FunctionBuilder, m: Value) -> [Value; 4] {
    [0, 1, 2, 3].map(|row| b.extract(m, row))
}

/// The components of a vector, of which there are `N`.
fn parts<const N: usize>(b: &mut FunctionBuilder, v: Value) -> [Value; N] {
    std::array::from_fn(|lane| b.extract(v, lane as u8))
}

/// The first three components of a row.
fn triple(b: &mut FunctionBuilder, row: Value) -> Value {
    let parts: [Value; 3] = parts(b, row);
    b.compose(&parts)
}

/// A vector times a number.
fn scaled(b: &mut FunctionBuilder, v: Value, k: Value) -> Value {
    let ty = b.ty(v);
    let k = b.splat(k, ty);
    b.mul(k, v)
}

/// The sum of vectors, each times a number.
fn combination(b: &mut FunctionBuilder, factors: &[Value], vectors: &[Value]) -> Value {
    let mut sum = scaled(b, vectors[0], factors[0]);
    for (&k, &v) in factors.iter().zip(vectors).skip(1) {
        let term = scaled(b, v, k);
        sum = b.add(sum, term);
    }
    sum
}

/// The matrix of sixteen numbers, row by row.
pub fn from_numbers(b: &mut FunctionBuilder, numbers: &[Value]) -> Value {
    let rows: Vec<Value> = numbers.chunks(4).map(|row| b.compose(row)).collect();
    b.compose(&rows)
}

/// A number times the identity.
pub fn diagonal(b: &mut FunctionBuilder, x: Value) -> Value {
    let zero = b.f32(0.0);
    let numbers: [Value; 16] = std::array::from_fn(|i| if i % 5 == 0 { x } else { zero });
    from_numbers(b, &numbers)
}

/// `l · r`: first what `l` does to a row vector, then what `r` does.
pub fn product(b: &mut FunctionBuilder, l: Value, r: Value) -> Value {
    let (left, right) = (rows(b, l), rows(b, r));
    let product = left.map(|row| {
        let factors: [Value; 4] = parts(b, row);
        combination(b, &factors, &right)
    });
    b.compose(&product)
}

/// Every number of a matrix times a number.
pub fn times(b: &mut FunctionBuilder, m: Value, k: Value) -> Value {
    let scaled = rows(b, m).map(|row| scaled(b, row, k));
    b.compose(&scaled)
}

/// An operation on each pair of numbers of two matrices, as a sum is.
pub fn componentwise(b: &mut FunctionBuilder, op: Op, l: Value, r: Value) -> Value {
    let (left, right) = (rows(b, l), rows(b, r));
    let results: [Value; 4] = std::array::from_fn(|row| b.op(op.clone(), &[left[row], right[row]]));
    b.compose(&results)
}

/// True if all numbers are equal.
pub fn equal(b: &mut FunctionBuilder, l: Value, r: Value) -> Value {
    let (left, right) = (rows(b, l), rows(b, r));
    let mut all = None;
    for (l, r) in left.into_iter().zip(right) {
        let (left, right): ([Value; 4], [Value; 4]) = (parts(b, l), parts(b, r));
        for (l, r) in left.into_iter().zip(right) {
            let same = b.eq(l, r);
            all = Some(all.map_or(same, |all| b.and(all, same)));
        }
    }
    all.unwrap_or_else(|| b.constant(shadewright_ir::Const::Bool(true)))
}

/// The parts of the inverse and the determinant of a matrix: the 2×2 determinants of Lengyel,
/// Foundations of Game Engine Development 1 (2016), §1.7.5, for the transposed matrix, whose
/// columns are our rows.
struct Minors {
    /// The rows without their last components.
    row: [Value; 4],
    /// The last components.
    last: [Value; 4],
    s: Value,
    t: Value,
    u: Value,
    v: Value,
}

impl Minors {
    fn new(b: &mut FunctionBuilder, m: Value) -> Self {
        let rows = rows(b, m);
        let row = rows.map(|r| triple(b, r));
        let last = rows.map(|r| b.extract(r, 3));
        let [first, second, third, fourth] = row;
        let s = b.cross(first, second);
        let t = b.cross(third, fourth);
        let mut difference = |a: usize, c: usize| {
            let [left, right] = [scaled(b, row[a], last[c]), scaled(b, row[c], last[a])];
            b.sub(left, right)
        };
        let (u, v) = (difference(0, 1), difference(2, 3));
        Minors { row, last, s, t, u, v }
    }

    fn determinant(&self, b: &mut FunctionBuilder) -> Value {
        let [sv, tu] = [(self.s, self.v), (self.t, self.u)].map(|(x, y)| b.dot(x, y));
        b.add(sv, tu)
    }
}

/// The determinant.
pub fn determinant(b: &mut FunctionBuilder, m: Value) -> Value {
    Minors::new(b, m).determinant(b)
}

/// The inverse; of a matrix that has none, not finite.
pub fn inverse(b: &mut FunctionBuilder, m: Value) -> Value {
    let minors = Minors::new(b, m);
    let determinant = minors.determinant(b);
    let factor = b.rcp(determinant);
    let [s, t, u, v] = [minors.s, minors.t, minors.u, minors.v].map(|x| scaled(b, x, factor));
    let ([r0, r1, r2, r3], [x, y, z, w]) = (minors.row, minors.last);
    // Columns of the inverse: a cross product and a multiple of a minor each, the last row by dot
    // products.
    let mut column = |p: Value, q: Value, minor: Value, k: Value, op: Op| {
        let cross = b.cross(p, q);
        let more = scaled(b, minor, k);
        let column = b.op(op, &[cross, more]);
        parts::<3>(b, column)
    };
    let columns = [
        column(r1, v, t, y, Op::Add),
        column(v, r0, t, x, Op::Sub),
        column(r3, u, s, w, Op::Add),
        column(u, r2, s, z, Op::Sub),
    ];
    let last = [(r1, t, true), (r0, t, false), (r3, s, true), (r2, s, false)].map(|(p, q, negative)| {
        let dot = b.dot(p, q);
        if negative { b.neg(dot) } else { dot }
    });
    let mut numbers: Vec<Value> = Vec::with_capacity(16);
    for lane in 0..3 {
        numbers.extend(columns.iter().map(|column| column[lane]));
    }
    numbers.extend(last);
    from_numbers(b, &numbers)
}

/// A point, vector or normal transformed: a point is divided by its fourth coordinate, a vector
/// takes no translation, a normal the inverse transpose.
pub fn transform(b: &mut FunctionBuilder, m: Value, v: Value, ty: SourceType) -> Value {
    let rows = rows(b, m);
    if ty == SourceType::Normal {
        let axes = [0, 1, 2].map(|i| triple(b, rows[i]));
        return normal(b, axes, v);
    }
    let factors: [Value; 3] = parts(b, v);
    let sum = combination(b, &factors, &rows[..3]);
    if ty != SourceType::Point {
        return triple(b, sum);
    }
    let sum = b.add(sum, rows[3]);
    let w = b.extract(sum, 3);
    let inverse = b.rcp(w);
    let place = triple(b, sum);
    scaled(b, place, inverse)
}

/// A normal that is given along three axes: cofactors over the determinant, which is the inverse
/// transpose.
pub fn normal(b: &mut FunctionBuilder, [x, y, z]: [Value; 3], v: Value) -> Value {
    let cofactors = [(y, z), (z, x), (x, y)].map(|(a, c)| b.cross(a, c));
    let determinant = b.dot(x, cofactors[0]);
    let inverse = b.rcp(determinant);
    let factors: [Value; 3] = parts(b, v);
    let sum = combination(b, &factors, &cofactors);
    scaled(b, sum, inverse)
}

/// `translate(m, t)`: the translation, then `m`.
pub fn translate(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let [x, y, z, origin] = rows(b, args[0]);
    let factors: [Value; 3] = parts(b, args[1]);
    let moved = combination(b, &factors, &[x, y, z]);
    let moved = b.add(moved, origin);
    vec![b.compose(&[x, y, z, moved])]
}

/// `scale(m, s)`: the scaling, then `m`.
pub fn scale(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let mut rows = rows(b, args[0]);
    let factors: [Value; 3] = parts(b, args[1]);
    for (row, k) in rows.iter_mut().zip(factors) {
        *row = scaled(b, *row, k);
    }
    vec![b.compose(&rows)]
}

/// The choice among four values by an index: below 1 the first, from 3 on the last.
fn choose(b: &mut FunctionBuilder, index: Value, values: [Value; 4]) -> Value {
    let mut chosen = values[3];
    for limit in [3, 2, 1] {
        let bound = b.f32(limit as f32);
        let below = b.lt(index, bound);
        chosen = b.select(below, values[limit - 1], chosen);
    }
    chosen
}

/// `comp(m, row, column)`.
pub fn component(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let rows = rows(b, args[0]);
    let row = choose(b, args[1], rows);
    let lanes: [Value; 4] = parts(b, row);
    vec![choose(b, args[2], lanes)]
}

/// `setcomp(m, row, column, value)`: the changed matrix.
pub fn set_component(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let rows = rows(b, args[0]);
    let changed = rows.map(|row| {
        let versions = [0, 1, 2, 3].map(|lane| b.insert(row, args[3], lane));
        choose(b, args[2], versions)
    });
    let matrices = [0, 1, 2, 3].map(|i| {
        let mut rows = rows;
        rows[i] = changed[i];
        b.compose(&rows)
    });
    vec![choose(b, args[1], matrices)]
}
