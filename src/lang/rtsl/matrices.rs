//! Matrices as lists of columns (GLSL 1.20, §5.10 and §8.5), and the inverses that RTSL adds
//! (§3.2).

use super::types::{BasicType, Scalar};
use shadewright_ir::{FunctionBuilder, Value};

/// A product in the sense of linear algebra: of two matrices, or of a matrix and a vector; `None`
/// where it is none of these.
pub fn product(
    b: &mut FunctionBuilder,
    left: (BasicType, &[Value]),
    right: (BasicType, &[Value]),
) -> Option<(BasicType, Vec<Value>)> {
    use BasicType::{Matrix, Vector};
    match (left.0, right.0) {
        (Matrix(inner, rows), Matrix(columns, height)) if inner == height => {
            let list = right.1.iter().map(|&column| times(b, left.1, column)).collect();
            Some((Matrix(columns, rows), list))
        }
        (Matrix(columns, rows), Vector(Scalar::Float, n)) if columns == n => {
            Some((Vector(Scalar::Float, rows), vec![times(b, left.1, right.1[0])]))
        }
        // A row: its product with each column.
        (Vector(Scalar::Float, n), Matrix(columns, rows)) if rows == n => {
            let sums: Vec<Value> = right.1.iter().map(|&column| b.dot(left.1[0], column)).collect();
            Some((Vector(Scalar::Float, columns), vec![b.compose(&sums)]))
        }
        _ => None,
    }
}

/// The sum of columns, each times a component of a vector.
fn times(b: &mut FunctionBuilder, columns: &[Value], v: Value) -> Value {
    let mut sum = None;
    for (i, &column) in columns.iter().enumerate() {
        let x = b.extract(v, i as u8);
        let ty = b.ty(column);
        let wide = b.splat(x, ty);
        let part = b.mul(column, wide);
        sum = Some(sum.map_or(part, |sum| b.add(sum, part)));
    }
    sum.unwrap_or(v)
}

/// The elements, column by column.
fn elements(b: &mut FunctionBuilder, columns: &[Value]) -> Vec<Vec<Value>> {
    let rows = columns.first().and_then(|&c| b.ty(c).lanes()).unwrap_or(0) as u8;
    columns.iter().map(|&c| (0..rows).map(|i| b.extract(c, i)).collect()).collect()
}

/// The matrix whose columns are the rows of another one.
pub fn transpose(b: &mut FunctionBuilder, columns: &[Value]) -> Vec<Value> {
    let all = elements(b, columns);
    let rows = all.first().map_or(0, Vec::len);
    (0..rows)
        .map(|r| {
            let row: Vec<Value> = all.iter().map(|column| column[r]).collect();
            b.compose(&row)
        })
        .collect()
}

/// The determinant of a square matrix of elements, by its first column.
fn determinant_of(b: &mut FunctionBuilder, m: &[Vec<Value>]) -> Value {
    if let [only] = m {
        return only[0];
    }
    let mut sum: Option<Value> = None;
    for r in 0..m.len() {
        let minor = determinant_of(b, &without(m, 0, r));
        let part = b.mul(m[0][r], minor);
        sum = Some(match sum {
            None => part,
            Some(sum) if r % 2 == 1 => b.sub(sum, part),
            Some(sum) => b.add(sum, part),
        });
    }
    sum.unwrap_or_else(|| b.f32(1.0))
}

/// The matrix without a column and a row.
fn without(m: &[Vec<Value>], column: usize, row: usize) -> Vec<Vec<Value>> {
    let keep = |list: &[Value]| list.iter().enumerate().filter(|(r, _)| *r != row).map(|(_, &v)| v).collect();
    m.iter().enumerate().filter(|(c, _)| *c != column).map(|(_, list)| keep(list)).collect()
}

/// The determinant of a square matrix.
pub fn determinant(b: &mut FunctionBuilder, columns: &[Value]) -> Value {
    let m = elements(b, columns);
    determinant_of(b, &m)
}

/// The inverse of a square matrix: its cofactors over its determinant.
pub fn inverse(b: &mut FunctionBuilder, columns: &[Value]) -> Vec<Value> {
    let m = elements(b, columns);
    let n = m.len();
    let whole = determinant_of(b, &m);
    let over = b.rcp(whole);
    let cofactor = |b: &mut FunctionBuilder, c: usize, r: usize| {
        let minor = determinant_of(b, &without(&m, c, r));
        let scaled = b.mul(minor, over);
        if (c + r) % 2 == 1 { b.neg(scaled) } else { scaled }
    };
    (0..n)
        .map(|r| {
            // Column r of the inverse is made of the cofactors of row r.
            let column: Vec<Value> = (0..n).map(|c| cofactor(b, c, r)).collect();
            b.compose(&column)
        })
        .collect()
}

/// The inverse of an affine transformation: a matrix of one more column than it has rows, the last
/// one the translation (RTSL §3.2 names 2x3 and 3x4, by rows and columns).
pub fn affine_inverse(b: &mut FunctionBuilder, columns: &[Value]) -> Vec<Value> {
    let Some((&moved, linear)) = columns.split_last() else { return Vec::new() };
    let mut list = inverse(b, linear);
    let back = times(b, &list, moved);
    list.push(b.neg(back));
    list
}

/// The columns of the product of a column and a row.
pub fn outer_product(b: &mut FunctionBuilder, column: Value, row: Value) -> Vec<Value> {
    let n = b.ty(row).lanes().unwrap_or(1) as u8;
    let ty = b.ty(column);
    (0..n)
        .map(|i| {
            let x = b.extract(row, i);
            let wide = b.splat(x, ty);
            b.mul(column, wide)
        })
        .collect()
}

/// A diagonal matrix with so many columns and rows.
pub fn diagonal(b: &mut FunctionBuilder, x: Value, columns: u8, rows: u8) -> Vec<Value> {
    let zero = b.f32(0.0);
    (0..columns)
        .map(|c| {
            let column: Vec<Value> = (0..rows).map(|r| if r == c { x } else { zero }).collect();
            b.compose(&column)
        })
        .collect()
}

/// A matrix made of the upper left part of another one; what that has not is as in the identity.
pub fn resized(b: &mut FunctionBuilder, from: &[Value], columns: u8, rows: u8) -> Vec<Value> {
    let m = elements(b, from);
    let (zero, one) = (b.f32(0.0), b.f32(1.0));
    let at = |c: usize, r: usize| m.get(c).and_then(|column| column.get(r)).copied();
    (0..columns as usize)
        .map(|c| {
            let column = (0..rows as usize).map(|r| at(c, r).unwrap_or(if r == c { one } else { zero }));
            let column: Vec<Value> = column.collect();
            b.compose(&column)
        })
        .collect()
}
