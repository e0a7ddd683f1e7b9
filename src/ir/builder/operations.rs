//! Named operations: each appends one instruction and returns its result, under the name that the
//! text form gives the operation.
//!
//! Operands precede immediates and result types, as in `extract(v, 0)` and `splat(x, Type::Vec3)`.

use super::FunctionBuilder;
use crate::{Op, SlotId, Type, Value};
use std::sync::Arc;

/// Methods whose operands are values and determine the type of the result.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),*) = $op:ident;)*) => {
        impl FunctionBuilder {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, $($operand: Value),*) -> Value {
                    self.op(Op::$op, &[$($operand),*])
                }
            )*
        }
    };
}

operations! {
    /// `−a`, of a float or of each component of a vector.
    neg(a) = Neg;
    /// `|a|`, of a float or of each component of a vector.
    abs(a) = Abs;
    /// `a + b`, of floats, or of vectors component by component.
    add(a, b) = Add;
    /// `a − b`, of floats, or of vectors component by component.
    sub(a, b) = Sub;
    /// `a · b`, of floats, or of vectors component by component.
    mul(a, b) = Mul;
    /// `1 / a`, of a float or of each component of a vector.
    rcp(a) = Rcp;
    /// `1 / √a`, of a float or of each component of a vector.
    rsq(a) = Rsq;
    /// `√a`, of a float or of each component of a vector.
    sqrt(a) = Sqrt;
    /// `a − ⌊a⌋`, of a float or of each component of a vector.
    frac(a) = Frac;
    /// `⌊a⌋`, of a float or of each component of a vector.
    floor(a) = Floor;
    /// `b < a ? b : a`, of floats, or of vectors component by component.
    min(a, b) = Min;
    /// `a < b ? b : a`, of floats, or of vectors component by component.
    max(a, b) = Max;
    /// `a` clamped to `[0, 1]`, of a float or of each component of a vector.
    sat(a) = Sat;

    /// The cross product of two `vec3`.
    cross(a, b) = Cross;

    /// `a < b`, a `bool`, of two `f32`.
    lt(a, b) = Lt;
    /// `a ≤ b`, a `bool`, of two `f32`.
    le(a, b) = Le;
    /// `a = b`, a `bool`, of two `f32`.
    eq(a, b) = Eq;
    /// `a ≠ b`, a `bool`, of two `f32`.
    ne(a, b) = Ne;

    /// `a + b`, of integers of 32 bits, wrapping.
    iadd(a, b) = IAdd;
    /// `a − b`, of integers of 32 bits, wrapping.
    isub(a, b) = ISub;
    /// `a · b`, of integers of 32 bits, wrapping.
    imul(a, b) = IMul;
    /// The bitwise conjunction of two integers.
    iand(a, b) = IAnd;
    /// The bitwise disjunction of two integers.
    ior(a, b) = IOr;
    /// The bitwise exclusive disjunction of two integers.
    ixor(a, b) = IXor;
    /// `a << (b & 31)`, of integers.
    ishl(a, b) = IShl;
    /// `a >> (b & 31)`, of integers: arithmetic for `i32`, logical for `u32`.
    ishr(a, b) = IShr;
    /// The bits of an integer in reverse order.
    ireverse(a) = IReverse;
    /// `a < b`, a `bool`, of integers in their signedness.
    ilt(a, b) = ILt;
    /// `a = b`, a `bool`, of integers, strings, references or truth values.
    ieq(a, b) = IEq;

    /// The opposite of a `bool`.
    not(a) = Not;
    /// The conjunction of two `bool`.
    and(a, b) = And;
    /// The disjunction of two `bool`.
    or(a, b) = Or;
    /// `a` where the `bool` is true, else `b`; both of one type, which the result has.
    select(condition, a, b) = Select;

    /// An integer as an `f32`, rounded to the nearest even one.
    to_float(a) = ToFloat;

    /// The current hit, a `vec4`: `(u, v, t, shader bits)`.
    hit() = Hit;
    /// The address of the triangle record of the current hit, a `ref`.
    hit_tri() = HitTri;
    /// The address of the object record of the current hit, a `ref`.
    hit_obj() = HitObj;
    /// True if anything lies on a ray: of origin and direction, each a `vec3`, and the argument, a
    /// `vec4`.
    occluded(origin, direction, argument) = Occluded;

    /// The derivative of an `f32` or a vector by the surface's parameter u.
    du(a) = Du;
    /// The derivative of an `f32` or a vector by the surface's parameter v.
    dv(a) = Dv;
    /// `a`, whose derivatives by u and v are `by_u` and `by_v`.
    seed(a, by_u, by_v) = Seed;
}

impl FunctionBuilder {
    /// The dot product of two vectors, an `f32`; the product of two floats.
    pub fn dot(&mut self, a: Value, b: Value) -> Value {
        let op = if self.ty(a) == Type::F32 { Op::Mul } else { Op::Dot };
        self.op(op, &[a, b])
    }

    /// A vector of two to four floats, or a `mat4` of four rows.
    pub fn compose(&mut self, parts: &[Value]) -> Value {
        self.op(Op::Compose, parts)
    }

    /// A vector of a type whose components are all equal to a float.
    pub fn splat(&mut self, x: Value, ty: Type) -> Value {
        self.op_as(Op::Splat, &[x], ty)
    }

    /// Component `index` of a vector, an `f32`; row `index` of a `mat4`, a `vec4`.
    pub fn extract(&mut self, v: Value, index: u8) -> Value {
        self.op(Op::Extract(index), &[v])
    }

    /// The vector with `x` as its component `index`.
    pub fn insert(&mut self, v: Value, x: Value, index: u8) -> Value {
        self.op(Op::Insert(index), &[v, x])
    }

    /// An `f32` as an integer of a type, truncated; out of range it saturates.
    pub fn to_int(&mut self, x: Value, ty: Type) -> Value {
        self.op_as(Op::ToInt, &[x], ty)
    }

    /// The same 32 bits as a value of another type.
    pub fn bitcast(&mut self, x: Value, ty: Type) -> Value {
        self.op_as(Op::Bitcast, &[x], ty)
    }

    /// Element `index`, a `u32`, of an array slot.
    pub fn slot_load(&mut self, slot: SlotId, index: Value) -> Value {
        let ty = self.function().slots[slot.0 as usize].ty;
        self.op_as(Op::SlotLoad(slot), &[index], ty)
    }

    /// Gives element `index`, a `u32`, of an array slot a value.
    pub fn slot_store(&mut self, slot: SlotId, index: Value, value: Value) {
        self.effect(Op::SlotStore(slot), &[index, value]);
    }

    /// Program constant `index`, a `vec4`.
    pub fn uniform(&mut self, index: u32) -> Value {
        self.op(Op::Uniform(index), &[])
    }

    /// The memory vector at an address, a `ref`, plus an offset in vectors: a `vec4`.
    pub fn load(&mut self, address: Value, offset: u32) -> Value {
        self.op(Op::Load(offset), &[address])
    }

    /// Shoots a ray and sets the current hit: of origin and direction, each a `vec3`, and the
    /// argument, a `vec4`.
    pub fn trace(&mut self, origin: Value, direction: Value, argument: Value) {
        self.effect(Op::Trace, &[origin, direction, argument]);
    }

    /// A `u32` with a bit for each of `count` shadow rays from `origin`, 1 where the ray of that
    /// element of the slot is not blocked.
    pub fn visible(&mut self, rays: SlotId, origin: Value, count: Value) -> Value {
        self.op(Op::Visible(rays), &[origin, count])
    }

    /// Says that from here on the source variable of that name has this value.
    pub fn debug(&mut self, name: impl Into<Arc<str>>, value: Value) {
        self.effect(Op::Debug(name.into()), &[value]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::body;
    use super::*;

    #[test]
    fn a_named_operation_is_one_instruction() {
        let text = body(&[Type::Vec3, Type::F32, Type::Bool], |b, p| {
            let sum = b.add(p[0], p[0]);
            let wide = b.splat(p[1], Type::Vec3);
            let chosen = b.select(p[2], sum, wide);
            let dot = b.dot(chosen, p[0]);
            let square = b.dot(p[1], p[1]);
            let whole = b.to_int(dot, Type::I32);
            let shifted = b.ishl(whole, whole);
            let number = b.bitcast(shifted, Type::F32);
            let v = b.compose(&[number, square]);
            b.insert(v, p[1], 1)
        });
        let expected = [
            "v3: vec3 = add v0, v0",
            "v4: vec3 = splat v1",
            "v5: vec3 = select v2, v3, v4",
            "v6: f32 = dot v5, v0",
            "v7: f32 = mul v1, v1",
            "v8: i32 = to_int v6",
            "v9: i32 = ishl v8, v8",
            "v10: f32 = bitcast v9",
            "v11: vec2 = compose v10, v7",
            "v12: vec2 = insert.y v11, v1",
            "ret v12",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn a_slot_gives_the_type_of_its_elements() {
        let text = body(&[Type::U32, Type::Ref], |b, p| {
            let slot = b.slot("kept", Type::Vec4, 2);
            let loaded = b.load(p[1], 3);
            b.slot_store(slot, p[0], loaded);
            let element = b.slot_load(slot, p[0]);
            b.debug("x", element);
            b.extract(element, 2)
        });
        let expected = [
            "v2: vec4 = load v1, 3",
            "slot_store s0, v0, v2",
            "v3: vec4 = slot_load s0, v0",
            "debug x, v3",
            "v4: f32 = extract.z v3",
            "ret v4",
        ];
        assert_eq!(text, expected);
    }
}
