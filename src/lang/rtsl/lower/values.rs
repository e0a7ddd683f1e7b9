//! Values: what expressions give, and their conversions.

use super::super::types::{BasicType, Scalar};
use super::*;

/// A value of an expression.
#[derive(Clone, Debug)]
pub(in super::super) struct Typed {
    /// The type.
    pub ty: Type,
    /// The IR's values that it is made of: those of arrays and structs in order, all of a member of
    /// a struct for all elements of an array together.
    pub parts: Vec<Value>,
    /// The value of an `int`, where the compiler knows it.
    pub known: Option<i32>,
}

/// One stretch of values of the same IR type in a value's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The type of each.
    pub ty: ir::Type,
    /// How many there are.
    pub count: u32,
    /// True if they are elements of an array.
    pub is_array: bool,
}

/// The type in the IR of what a scene gives for a value of this type: integers and truth values
/// arrive as floats, as RIB has them.
pub(super) fn given_as(ty: BasicType) -> Option<ir::Type> {
    match ty {
        BasicType::Scalar(_) => Some(ir::Type::F32),
        BasicType::Vector(_, n) => ir::Type::float_vector(n.into()),
        BasicType::Matrix(4, 4) => Some(ir::Type::Mat4),
        BasicType::Color | BasicType::String => values(ty).first().copied(),
        BasicType::Matrix(..) | BasicType::Void => None,
    }
}

/// The parts of a value that a scene has given.
pub(super) fn from_given(b: &mut FunctionBuilder, ty: BasicType, value: Value) -> Vec<Value> {
    let component = |b: &mut FunctionBuilder, i: u8| match ty {
        BasicType::Scalar(_) => value,
        _ => b.extract(value, i),
    };
    match ty.scalar() {
        Some(Scalar::Int) => (0..ty.components())
            .map(|i| {
                let x = component(b, i);
                b.to_int(x, ir::Type::I32)
            })
            .collect(),
        Some(Scalar::Bool) => (0..ty.components())
            .map(|i| {
                let (x, zero) = (component(b, i), b.f32(0.0));
                b.ne(x, zero)
            })
            .collect(),
        // RenderMan's matrices are for row vectors: their rows are the columns here.
        _ if matches!(ty, BasicType::Matrix(..)) => (0..4).map(|i| b.extract(value, i)).collect(),
        _ => vec![value],
    }
}

/// The inverse of [`from_given`].
pub(super) fn to_given(b: &mut FunctionBuilder, parts: &[Value]) -> Value {
    let float = |b: &mut FunctionBuilder, x: Value| match b.ty(x) {
        ir::Type::I32 => b.to_float(x),
        ir::Type::Bool => {
            let (one, zero) = (b.f32(1.0), b.f32(0.0));
            b.select(x, one, zero)
        }
        _ => x,
    };
    let floats: Vec<Value> = parts.iter().map(|&x| float(b, x)).collect();
    match floats[..] {
        [one] => one,
        _ => b.compose(&floats),
    }
}

impl<'a> Body<'a> {
    /// The leaves that a value of a type is made of.
    pub(super) fn leaves(&mut self, ty: &Type) -> Vec<Leaf> {
        match ty {
            Type::Basic(basic) => values(*basic).into_iter().map(|ty| Leaf { ty, count: 1, is_array: false }).collect(),
            Type::Object(_) => vec![Leaf { ty: ir::Type::U32, count: 1, is_array: false }],
            Type::Array(element, n) => {
                let own = self.leaves(element);
                own.into_iter().map(|leaf| Leaf { count: leaf.count * n, is_array: true, ..leaf }).collect()
            }
            Type::Struct(id) => self.members(*id).into_iter().flat_map(|(_, ty)| self.leaves(&ty)).collect(),
        }
    }

    /// The members of a struct with their types.
    pub(super) fn members(&mut self, id: usize) -> Vec<(Arc<str>, Type)> {
        let members = &self.file().structure(id).members;
        members.iter().filter_map(|m| Some((m.name.name.clone(), self.type_of_name(&m.ty).ok()?))).collect()
    }

    /// The zero of a type.
    pub(super) fn zero(&mut self, ty: &Type) -> Typed {
        if let Type::Object(_) = ty {
            return self.handle(None, ty);
        }
        let leaves = self.leaves(ty);
        let mut parts = Vec::new();
        for leaf in leaves {
            for _ in 0..leaf.count {
                parts.push(self.b.constant(Const::zero(leaf.ty)));
            }
        }
        Typed { ty: ty.clone(), parts, known: (*ty == Type::INT).then_some(0) }
    }

    /// A float.
    pub(super) fn float(&mut self, x: f32) -> Typed {
        Typed { ty: Type::FLOAT, parts: vec![self.b.f32(x)], known: None }
    }

    /// A float that the IR has.
    pub(super) fn float_value(&self, value: Value) -> Typed {
        Typed { ty: Type::FLOAT, parts: vec![value], known: None }
    }

    /// How many conversions lead from one type to another; `None` when none does.
    pub(in super::super) fn conversion(&self, from: &Type, to: &Type) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        match (from, to) {
            (Type::Basic(from), Type::Basic(to)) => {
                let floats = to.scalar() == Some(Scalar::Float) && from.scalar() == Some(Scalar::Int);
                let alike = match (from, to) {
                    (BasicType::Scalar(_), BasicType::Scalar(_)) => true,
                    (BasicType::Vector(_, m), BasicType::Vector(_, n)) => m == n,
                    _ => false,
                };
                (floats && alike).then_some(1)
            }
            (Type::Object(from), Type::Object(to)) => self.file().refers(*to, *from).then_some(1),
            _ => None,
        }
    }

    /// The value as one of another type, if it becomes that by itself.
    pub(in super::super) fn converted(&mut self, value: Typed, to: &Type) -> Option<Typed> {
        self.conversion(&value.ty, to)?;
        if value.ty == *to {
            return Some(value);
        }
        if let Type::Object(_) = to {
            return Some(Typed { ty: to.clone(), ..value });
        }
        let floats: Vec<Value> = value.parts.iter().map(|&x| self.b.to_float(x)).collect();
        let parts = match floats[..] {
            [one] => vec![one],
            _ => vec![self.b.compose(&floats)],
        };
        Some(Typed { ty: to.clone(), parts, known: None })
    }

    /// The components of a scalar, a vector or a color's channels, or those of a matrix, column by
    /// column.
    pub(in super::super) fn components(&mut self, value: &Typed) -> Vec<Value> {
        let mut all = Vec::new();
        for &part in &value.parts {
            match self.b.ty(part).lanes() {
                Some(n) if n > 1 => all.extend((0..n as u8).map(|i| self.b.extract(part, i))),
                _ => all.push(part),
            }
        }
        all
    }

    /// A value of a basic type from its components.
    pub(super) fn composed(&mut self, ty: BasicType, components: &[Value]) -> Typed {
        let mut parts = Vec::new();
        let mut rest = components;
        for leaf in values(ty) {
            match leaf.lanes() {
                Some(n) if n > 1 => {
                    let (own, others) = rest.split_at(n as usize);
                    parts.push(self.b.compose(own));
                    rest = others;
                }
                _ => {
                    parts.push(rest[0]);
                    rest = &rest[1..];
                }
            }
        }
        Typed { ty: Type::Basic(ty), parts, known: None }
    }

    /// A number as another scalar: GLSL's constructors `int(x)`, `float(x)`, `bool(x)`.
    pub(super) fn scalar_as(&mut self, x: Value, to: Scalar) -> Value {
        match (self.b.ty(x), to) {
            (ir::Type::F32, Scalar::Int) => self.b.to_int(x, ir::Type::I32),
            (ir::Type::F32, Scalar::Bool) => {
                let zero = self.b.f32(0.0);
                self.b.ne(x, zero)
            }
            (ir::Type::I32, Scalar::Float) => self.b.to_float(x),
            (ir::Type::I32, Scalar::Bool) => {
                let zero = self.b.i32(0);
                let is_zero = self.b.ieq(x, zero);
                self.b.not(is_zero)
            }
            (ir::Type::Bool, Scalar::Float) => {
                let (one, zero) = (self.b.f32(1.0), self.b.f32(0.0));
                self.b.select(x, one, zero)
            }
            (ir::Type::Bool, Scalar::Int) => {
                let [one, zero] = [1, 0].map(|n| self.b.i32(n));
                self.b.select(x, one, zero)
            }
            _ => x,
        }
    }

    /// How a message writes a value's type.
    pub(in super::super) fn describe(&self, ty: &Type) -> String {
        self.file().describe(ty)
    }
}
