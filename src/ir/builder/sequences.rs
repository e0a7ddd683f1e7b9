//! Sequences of instructions that many builders of functions append, and finding them again.

use super::FunctionBuilder;
use crate::abi::frame;
use crate::{Const, Inst, Op, Type, Value};

impl FunctionBuilder {
    /// A component of the program constants.
    pub fn frame(&mut self, slot: frame::Slot) -> Value {
        let vector = self.frame_vector(slot);
        self.extract(vector, slot.lane)
    }

    /// The program constant of four components that a field is part of.
    pub fn frame_vector(&mut self, slot: frame::Slot) -> Value {
        self.uniform(slot.vector)
    }

    /// The first three components of a program constant.
    pub fn frame_xyz(&mut self, slot: frame::Slot) -> Value {
        let vector = self.frame_vector(slot);
        self.xyz(vector)
    }

    /// The first three components of a `vec4`, as a `vec3`.
    pub fn xyz(&mut self, v: Value) -> Value {
        let parts = self.first_components::<3>(v);
        self.compose(&parts)
    }

    /// The first `N` components of a vector, or rows of a matrix.
    pub fn first_components<const N: usize>(&mut self, v: Value) -> [Value; N] {
        std::array::from_fn(|index| self.extract(v, index as u8))
    }

    /// The components of a vector; a float is its own.
    pub fn components(&mut self, v: Value) -> Vec<Value> {
        match self.ty(v).lanes() {
            Some(n) if n > 1 => (0..n as u8).map(|index| self.extract(v, index)).collect(),
            _ => vec![v],
        }
    }

    /// A float as wide as a value of a type: itself for `f32`, else a vector of equal components.
    pub fn widen(&mut self, x: Value, ty: Type) -> Value {
        if ty == Type::F32 { x } else { self.splat(x, ty) }
    }

    /// A float or a vector times a float.
    pub fn scale(&mut self, v: Value, by: Value) -> Value {
        let ty = self.ty(v);
        let by = self.widen(by, ty);
        self.mul(v, by)
    }

    /// The length of a vector, `√(v·v)`; the absolute value of a float.
    pub fn length(&mut self, v: Value) -> Value {
        if self.ty(v) == Type::F32 {
            return self.abs(v);
        }
        let square = self.dot(v, v);
        self.sqrt(square)
    }

    /// The distance between two points, an `f32`: the length of `a − b`.
    pub fn distance(&mut self, a: Value, b: Value) -> Value {
        let way = self.sub(a, b);
        self.length(way)
    }

    /// `v / |v|`, and `v` where that is 0: `select(v·v = 0, v, v · rsq(v·v))`. Of a float or a
    /// vector of any width.
    pub fn normalize(&mut self, v: Value) -> Value {
        let square = self.dot(v, v);
        let zero = self.f32(0.0);
        let is_zero = self.eq(square, zero);
        let inverse = self.rsq(square);
        let unit = self.scale(v, inverse);
        self.select(is_zero, v, unit)
    }
}

/// The value that an instruction normalizes, if that is the last one of what
/// [`FunctionBuilder::normalize`] appends. `def` gives the instruction that defines a value.
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

#[cfg(test)]
mod tests {
    use super::super::tests::body;
    use super::*;
    use crate::FunctionKind;

    #[test]
    fn the_length_of_a_vector_is_a_root_and_that_of_a_float_its_absolute_value() {
        let of_vector = body(&[Type::Vec2, Type::Vec2], |b, p| b.distance(p[0], p[1]));
        let expected = ["v2: vec2 = sub v0, v1", "v3: f32 = dot v2, v2", "v4: f32 = sqrt v3", "ret v4"];
        assert_eq!(of_vector, expected);
        let of_float = body(&[Type::F32], |b, p| b.length(p[0]));
        assert_eq!(of_float, ["v1: f32 = abs v0", "ret v1"]);
    }

    #[test]
    fn a_float_is_as_wide_as_what_it_scales() {
        let of_vector = body(&[Type::Vec4, Type::F32], |b, p| b.scale(p[0], p[1]));
        assert_eq!(of_vector, ["v2: vec4 = splat v1", "v3: vec4 = mul v0, v2", "ret v3"]);
        let of_float = body(&[Type::F32, Type::F32], |b, p| b.scale(p[0], p[1]));
        assert_eq!(of_float, ["v2: f32 = mul v0, v1", "ret v2"]);
    }

    #[test]
    fn components_are_extracted_in_order() {
        let text = body(&[Type::Vec4], |b, p| b.xyz(p[0]));
        let expected = [
            "v1: f32 = extract.x v0",
            "v2: f32 = extract.y v0",
            "v3: f32 = extract.z v0",
            "v4: vec3 = compose v1, v2, v3",
            "ret v4",
        ];
        assert_eq!(text, expected);
        let of_float = body(&[Type::F32], |b, p| b.components(p[0])[0]);
        assert_eq!(of_float, ["ret v0"]);
    }

    #[test]
    fn what_normalize_appends_is_found_again() {
        for ty in [Type::F32, Type::Vec2, Type::Vec3, Type::Vec4] {
            let mut b = FunctionBuilder::new("f", FunctionKind::Function);
            b.result("return", ty);
            let v = b.param("v", ty);
            let unit = b.normalize(v);
            b.ret(vec![unit]);
            let f = b.finish();
            let insts = || f.blocks.iter().flat_map(|block| &block.insts);
            let def = |value: Value| insts().find(|i| i.results.contains(&value));
            let found: Vec<Value> = insts().filter_map(|i| normalized(i, def)).collect();
            assert_eq!(found, [v], "{ty}");
        }
    }
}
