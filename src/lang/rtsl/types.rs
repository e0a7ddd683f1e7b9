//! Types: GLSL's, colors, structs, arrays, and references to objects.

use super::state::Interface;
use shadewright_ir as ir;
use std::fmt;

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
}

/// A type that the language itself names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BasicType {
    /// No value.
    Void,
    /// One number.
    Scalar(Scalar),
    /// `vec2` to `vec4`, `ivec…`, `bvec…`: so many numbers.
    Vector(Scalar, u8),
    /// `matCxR`: columns and rows, 2 to 4.
    Matrix(u8, u8),
    /// A color, of however many channels the renderer has (RTSL §3.2). Its channels have no
    /// numbers.
    Color,
    /// A text, such as the name of an image. RTSL has none: its scenes hand over textures.
    String,
}

/// The names of all basic types. A square matrix has two: `mat3` and `mat3x3`.
pub const NAMES: [(&str, BasicType); 27] = {
    use BasicType::{Color, Matrix, String, Vector, Void};
    use Scalar::{Bool, Float, Int};
    [
        ("void", Void),
        ("bool", BasicType::Scalar(Bool)),
        ("int", BasicType::Scalar(Int)),
        ("float", BasicType::Scalar(Float)),
        ("vec2", Vector(Float, 2)),
        ("vec3", Vector(Float, 3)),
        ("vec4", Vector(Float, 4)),
        ("ivec2", Vector(Int, 2)),
        ("ivec3", Vector(Int, 3)),
        ("ivec4", Vector(Int, 4)),
        ("bvec2", Vector(Bool, 2)),
        ("bvec3", Vector(Bool, 3)),
        ("bvec4", Vector(Bool, 4)),
        ("mat2", Matrix(2, 2)),
        ("mat3", Matrix(3, 3)),
        ("mat4", Matrix(4, 4)),
        ("mat2x2", Matrix(2, 2)),
        ("mat2x3", Matrix(2, 3)),
        ("mat2x4", Matrix(2, 4)),
        ("mat3x2", Matrix(3, 2)),
        ("mat3x3", Matrix(3, 3)),
        ("mat3x4", Matrix(3, 4)),
        ("mat4x2", Matrix(4, 2)),
        ("mat4x3", Matrix(4, 3)),
        ("mat4x4", Matrix(4, 4)),
        ("color", Color),
        ("string", String),
    ]
};

impl BasicType {
    /// The type of that name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, ty)| *ty)
    }

    /// The name; of a square matrix the short one.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, ty)| *ty == self).map_or("void", |(name, _)| name)
    }

    /// The kind of the components; a matrix's and a color's are floats.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            BasicType::Void | BasicType::String => None,
            BasicType::Scalar(s) | BasicType::Vector(s, _) => Some(s),
            BasicType::Matrix(..) | BasicType::Color => Some(Scalar::Float),
        }
    }

    /// The number of its components that have numbers: none of a color's, nor of a text's.
    pub fn components(self) -> u8 {
        match self {
            BasicType::Void | BasicType::Color | BasicType::String => 0,
            BasicType::Scalar(_) => 1,
            BasicType::Vector(_, n) => n,
            BasicType::Matrix(columns, rows) => columns * rows,
        }
    }
}

impl fmt::Display for BasicType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of object that a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// No object: the type of `null`.
    Null,
    /// An object of any class with this interface.
    Interface(Interface),
    /// An object of this class of the file, or of one derived from it.
    Class(usize),
}

/// The type of a value. Structs and classes are numbers in their file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A type of the language.
    Basic(BasicType),
    /// So many elements.
    Array(Box<Type>, u32),
    /// A struct.
    Struct(usize),
    /// A reference to an object.
    Object(Reference),
}

impl Type {
    /// `void`
    pub const VOID: Type = Type::Basic(BasicType::Void);
    /// `bool`
    pub const BOOL: Type = Type::Basic(BasicType::Scalar(Scalar::Bool));
    /// `int`
    pub const INT: Type = Type::Basic(BasicType::Scalar(Scalar::Int));
    /// `float`
    pub const FLOAT: Type = Type::Basic(BasicType::Scalar(Scalar::Float));
    /// `string`
    pub const STRING: Type = Type::Basic(BasicType::String);
    /// `color`
    pub const COLOR: Type = Type::Basic(BasicType::Color);

    /// A vector of so many floats; one is `float`.
    pub fn floats(n: u8) -> Type {
        Type::Basic(if n == 1 { BasicType::Scalar(Scalar::Float) } else { BasicType::Vector(Scalar::Float, n) })
    }

    /// A vector of so many numbers of a kind; one is that kind.
    pub fn vector(scalar: Scalar, n: u8) -> Type {
        Type::Basic(if n == 1 { BasicType::Scalar(scalar) } else { BasicType::Vector(scalar, n) })
    }

    /// The type of the language, if it is one.
    pub fn basic(&self) -> Option<BasicType> {
        if let Type::Basic(basic) = self { Some(*basic) } else { None }
    }
}

/// The IR's values that a value of a basic type is made of: float vectors and colors are one,
/// matrices one for each column, other vectors one for each component. Here alone a color has a
/// number of channels.
pub fn values(ty: BasicType) -> Vec<ir::Type> {
    let scalar = |s: Scalar| match s {
        Scalar::Bool => ir::Type::Bool,
        Scalar::Int => ir::Type::I32,
        Scalar::Float => ir::Type::F32,
    };
    let floats = |n: u8| ir::Type::float_vector(n.into()).unwrap_or(ir::Type::F32);
    match ty {
        BasicType::Void => Vec::new(),
        BasicType::Scalar(s) => vec![scalar(s)],
        BasicType::Vector(Scalar::Float, n) => vec![floats(n)],
        BasicType::Vector(s, n) => vec![scalar(s); n.into()],
        BasicType::Matrix(columns, rows) => vec![floats(rows); columns.into()],
        BasicType::Color => vec![ir::Type::Vec3],
        BasicType::String => vec![ir::Type::String],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_belong_together() {
        for (name, ty) in NAMES {
            assert_eq!(BasicType::named(name), Some(ty), "{name}");
        }
        assert_eq!(BasicType::Matrix(3, 3).to_string(), "mat3");
        assert_eq!(BasicType::Matrix(2, 4).to_string(), "mat2x4");
        assert_eq!((BasicType::Vector(Scalar::Int, 3).components(), BasicType::Color.components()), (3, 0));
        assert_eq!(BasicType::named("vec5"), None);
    }
}
