//! Sequences of instructions that several stages emit, and writing instructions into a function
//! that has no builder any more: passes that expand operations use that.

use super::{Const, Function, FunctionBuilder, Inst, Loc, Op, Type, Value};

/// `v / |v|`, and `v` where that is 0: `select(v·v = 0, v, v · rsq(v·v))`. Of a float or a vector
/// of any width.
pub fn normalize(b: &mut FunctionBuilder, v: Value) -> Value {
    let ty = b.ty(v);
    let square = b.op(if ty == Type::F32 { Op::Mul } else { Op::Dot }, &[v, v]);
    let zero = b.f32(0.0);
    let is_zero = b.op(Op::Eq, &[square, zero]);
    let inverse = b.op(Op::Rsq, &[square]);
    let inverse = if ty == Type::F32 { inverse } else { b.op_as(Op::Splat, &[inverse], ty) };
    let unit = b.op(Op::Mul, &[v, inverse]);
    b.op(Op::Select, &[is_zero, v, unit])
}

/// The value that an instruction normalises, if that is the last one of what [`normalize`] emits.
/// `def` gives the instruction that defines a value.
pub fn normalized<'a>(inst: &Inst, def: impl Fn(Value) -> Option<&'a Inst>) -> Option<Value> {
    let (Op::Select, &[test, v, unit]) = (&inst.op, &inst.args[..]) else { return None };
    let args = |value: Value, op: Op| def(value).filter(|i| i.op == op).map(|i| &i.args[..]);
    let is_square = |x: Value| [Op::Dot, Op::Mul].into_iter().any(|op| args(x, op) == Some(&[v, v][..]));
    let is_zero = |x: Value| matches!(def(x).map(|i| &i.op), Some(Op::Const(Const::F32(c))) if *c == 0.0);
    let is_root = |x: Value| matches!(args(x, Op::Rsq), Some(&[square]) if is_square(square));
    let is_inverse = |x: Value| is_root(x) || matches!(args(x, Op::Splat), Some(&[root]) if is_root(root));
    let tests_zero = matches!(args(test, Op::Eq), Some(&[square, zero]) if is_square(square) && is_zero(zero));
    let is_unit = matches!(args(unit, Op::Mul), Some(&[a, inverse]) if a == v && is_inverse(inverse));
    (tests_zero && is_unit).then_some(v)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FunctionKind;

    #[test]
    fn what_normalize_emits_is_found_again() {
        for ty in [Type::F32, Type::Vec2, Type::Vec3, Type::Vec4] {
            let mut b = FunctionBuilder::new("f", FunctionKind::Function);
            b.result("return", ty);
            let v = b.param("v", ty);
            let unit = normalize(&mut b, v);
            b.ret(vec![unit]);
            let f = b.finish();
            let insts = || f.blocks.iter().flat_map(|block| &block.insts);
            let def = |value: Value| insts().find(|i| i.results.contains(&value));
            let found: Vec<Value> = insts().filter_map(|i| normalized(i, def)).collect();
            assert_eq!(found, [v], "{ty}");
        }
    }
}
