//! Writes instructions into a function that has no builder any more: passes that expand operations
//! use that.

use super::{Const, Function, Inst, Loc, Op, Type, Value};

/// Appends instructions to a list while making values of a function.
pub struct Emitter<'a> {
    f: &'a mut Function,
    /// The instructions so far.
    pub out: Vec<Inst>,
    loc: Loc,
}

impl<'a> Emitter<'a> {
    /// Appends to nothing.
    pub fn new(f: &'a mut Function, loc: Loc) -> Emitter<'a> {
        Emitter { f, out: Vec::new(), loc }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        self.f
    }

    /// An instruction with the given results.
    pub fn push(&mut self, op: Op, args: &[Value], results: Vec<Value>) {
        self.out.push(Inst { op, args: args.to_vec(), results, loc: self.loc });
    }

    /// An operation with one result of the given type.
    pub fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let v = self.f.new_value(ty);
        self.push(op, args, vec![v]);
        v
    }

    /// A constant.
    pub fn constant(&mut self, c: Const) -> Value {
        let ty = c.ty();
        self.op(Op::Const(c), &[], ty)
    }

    /// A value of a type, which nothing defines yet.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.f.new_value(ty)
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.f.ty(v)
    }

    /// The components of a value; itself when it has one.
    pub fn components(&mut self, v: Value) -> Vec<Value> {
        match self.ty(v).lanes() {
            Some(n) if n > 1 => (0..n as u8).map(|k| self.op(Op::Extract(k), &[v], Type::F32)).collect(),
            _ => vec![v],
        }
    }

    /// Applies `each` to the components of the arguments and puts the results together as `result`.
    pub fn componentwise(&mut self, args: &[Value], result: Value, each: impl Fn(&mut Self, &[Value], Option<Value>)) {
        let columns: Vec<Vec<Value>> = args.iter().map(|&a| self.components(a)).collect();
        let lanes = columns[0].len();
        if lanes == 1 {
            return each(self, args, Some(result));
        }
        let mut parts = Vec::new();
        for k in 0..lanes {
            let row: Vec<Value> = columns.iter().map(|c| c[k]).collect();
            each(self, &row, None);
            parts.push(self.out.last().and_then(|i| i.results.first().copied()).unwrap_or(row[0]));
        }
        self.push(Op::Compose, &parts, vec![result]);
    }

    /// An `f32` operation whose result is `into`, or a new value.
    pub fn scalar(&mut self, op: Op, args: &[Value], into: Option<Value>) {
        let result = into.unwrap_or_else(|| self.f.new_value(Type::F32));
        self.push(op, args, vec![result]);
    }
}
