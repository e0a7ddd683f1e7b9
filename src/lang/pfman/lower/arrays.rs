//! Arrays as lists of values, and the algebra of them.

use super::*;

/// The numbers of a `vec3` or of another value.
fn lanes(l: &mut Lowerer<'_>, v: Value) -> Vec<Value> {
    match l.b.ty(v) {
        ir::Type::Vec3 => (0..3).map(|lane| l.b.extract(v, lane)).collect(),
        _ => vec![v],
    }
}

impl Lowerer<'_> {
    /// The numbers of a value, in order.
    pub(super) fn numbers(&mut self, values: &[Value]) -> Vec<Value> {
        values.iter().flat_map(|&v| lanes(self, v)).collect()
    }

    /// The values that stand for numbers of a type.
    pub(super) fn packed(&mut self, numbers: &[Value], ty: &Type) -> Vec<Value> {
        match ty.values().first() {
            Some(ir::Type::Vec3) => numbers.chunks(3).map(|three| self.b.compose(three)).collect(),
            _ => numbers.to_vec(),
        }
    }

    /// An operation on values with the same types, one by one.
    pub fn each(&mut self, args: &[Vec<Value>], op: Op) -> Vec<Value> {
        (0..args[0].len())
            .map(|i| {
                let args: Vec<Value> = args.iter().map(|a| a[i]).collect();
                self.b.op(op.clone(), &args)
            })
            .collect()
    }

    /// A number for each of some values, as wide as they are.
    pub(super) fn spread(&mut self, x: Value, like: &[Value]) -> Vec<Value> {
        let types: Vec<ir::Type> = like.iter().map(|&v| self.b.ty(v)).collect();
        types.into_iter().map(|ty| if ty == ir::Type::Vec3 { self.b.splat(x, ty) } else { x }).collect()
    }

    /// The dot product of two vectors of floats.
    pub fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let mut sum = None;
        for (&x, &y) in a.iter().zip(b) {
            let part = self.b.dot(x, y);
            sum = Some(sum.map_or(part, |sum| self.b.add(sum, part)));
        }
        sum.unwrap_or_else(|| self.b.f32(0.0))
    }

    /// The length of a vector of floats.
    pub fn length(&mut self, a: &[Value]) -> Value {
        let square = self.dot(a, a);
        self.b.sqrt(square)
    }

    /// The vector of length 1; a vector of length 0 as it is.
    pub fn unit(&mut self, a: &[Value]) -> Vec<Value> {
        if let [v] = a {
            return vec![self.b.normalize(*v)];
        }
        let square = self.dot(a, a);
        let zero = self.b.f32(0.0);
        let is_zero = self.b.eq(square, zero);
        let inverse = self.b.rsq(square);
        a.iter()
            .map(|&x| {
                let unit = self.b.mul(x, inverse);
                self.b.select(is_zero, x, unit)
            })
            .collect()
    }

    /// The contraction of the last index of `a`, which runs over `n` values, with the first of `b`.
    pub(super) fn contracted(&mut self, a: &[Value], b: &[Value], n: usize, ty: &Type) -> Vec<Value> {
        // Rows of three floats with a vector are dot products.
        let is_row = |l: &Self, v: &[Value]| v.iter().all(|&v| l.b.ty(v) == ir::Type::Vec3);
        if n == 3 && b.len() == 1 && is_row(self, a) && is_row(self, b) {
            let sums: Vec<Value> = a.iter().map(|&row| self.b.dot(row, b[0])).collect();
            return self.packed(&sums, ty);
        }
        let factors = self.numbers(a);
        // Each value of the last index chooses a block of the second array.
        let blocks: Vec<&[Value]> = b.chunks((b.len() / n).max(1)).collect();
        let is_vector = b.len() < n;
        let scalars = if is_vector { self.numbers(b) } else { Vec::new() };
        let mut result = Vec::new();
        for row in factors.chunks(n) {
            let mut sum: Option<Vec<Value>> = None;
            for (k, &factor) in row.iter().enumerate() {
                let block: Vec<Value> = if is_vector { vec![scalars[k]] } else { blocks[k].to_vec() };
                let wide = self.spread(factor, &block);
                let part = self.each(&[wide, block], Op::Mul);
                sum = Some(match sum {
                    None => part,
                    Some(sum) => self.each(&[sum, part], Op::Add),
                });
            }
            result.extend(sum.unwrap_or_default());
        }
        let is_packed = result.len() == ty.values().len();
        if is_packed { result } else { self.packed(&result, ty) }
    }

    /// The inverse of a square matrix of `n` rows, by elimination: at each step the row with the
    /// largest element in the column comes first (Golub and Van Loan 2013, §3.4).
    pub(super) fn inverse(&mut self, m: &[Value], n: usize, ty: &Type) -> Vec<Value> {
        let numbers = self.numbers(m);
        let (zero, one) = (self.b.f32(0.0), self.b.f32(1.0));
        let mut rows: Vec<Vec<Value>> = (0..n)
            .map(|r| {
                let own = numbers[r * n..(r + 1) * n].iter().copied();
                own.chain((0..n).map(|c| if r == c { one } else { zero })).collect()
            })
            .collect();
        for pivot in 0..n {
            for other in pivot + 1..n {
                let [a, b] = [pivot, other].map(|r| self.b.abs(rows[r][pivot]));
                let is_larger = self.b.lt(a, b);
                let pairs: Vec<(Value, Value)> = rows[pivot].iter().copied().zip(rows[other].iter().copied()).collect();
                let mut chosen = |x: Value, y: Value| self.b.select(is_larger, y, x);
                rows[pivot] = pairs.iter().map(|&(x, y)| chosen(x, y)).collect();
                rows[other] = pairs.iter().map(|&(x, y)| chosen(y, x)).collect();
            }
            let factor = self.b.rcp(rows[pivot][pivot]);
            let scaled: Vec<Value> = rows[pivot].iter().map(|&x| self.b.mul(x, factor)).collect();
            for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != pivot) {
                let factor = row[pivot];
                for (x, &y) in row.iter_mut().zip(&scaled) {
                    let part = self.b.mul(factor, y);
                    *x = self.b.sub(*x, part);
                }
            }
            rows[pivot] = scaled;
        }
        let numbers: Vec<Value> = rows.iter().flat_map(|row| row[n..].iter().copied()).collect();
        self.packed(&numbers, ty)
    }

    /// `a ^ b` of two vectors.
    pub(super) fn wedge(&mut self, a: &[Value], b: &[Value], ty: &Type) -> Vec<Value> {
        if let ([x], [y]) = (a, b) {
            return vec![self.b.cross(*x, *y)];
        }
        let mut area = |i: usize, j: usize| {
            let [x, y] = [(a[i], b[j]), (a[j], b[i])].map(|(x, y)| self.b.mul(x, y));
            self.b.sub(x, y)
        };
        if a.len() == 2 {
            return vec![area(0, 1)];
        }
        let numbers: Vec<Value> = (0..a.len() * a.len()).map(|k| area(k / a.len(), k % a.len())).collect();
        self.packed(&numbers, ty)
    }
}
