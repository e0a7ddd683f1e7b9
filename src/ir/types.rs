//! Types and constants of the IR.

use shadewright_base::text::string_id::string_id;
use std::fmt;
use std::sync::Arc;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A truth value.
    Bool,
    /// A signed 32-bit integer.
    I32,
    /// An unsigned 32-bit integer.
    U32,
    /// An IEEE single.
    F32,
    /// Two singles.
    Vec2,
    /// Three singles: colors, points, vectors and normals of the front ends.
    Vec3,
    /// Four singles, or four 32-bit patterns as read from memory.
    Vec4,
    /// A 4×4 matrix of singles, row by row, for row vectors: an aggregate of four `vec4` that can
    /// be composed, taken apart, chosen and passed on. The passes and back ends never see one (see
    /// [`super::passes::matrices`]).
    Mat4,
    /// A string, known by a 32-bit hash of its characters (see [`string_id`]).
    String,
    /// An address in the memory image, counted in 16-byte vectors.
    Ref,
}

impl Type {
    /// Number of 32-bit words a value takes in a frame or in memory.
    pub fn words(self) -> u32 {
        match self {
            Type::Vec2 => 2,
            Type::Vec3 => 3,
            Type::Vec4 => 4,
            Type::Mat4 => 16,
            _ => 1,
        }
    }

    /// Number of float components, when the type is `f32` or a vector of it.
    pub fn lanes(self) -> Option<u32> {
        match self {
            Type::F32 => Some(1),
            Type::Vec2 => Some(2),
            Type::Vec3 => Some(3),
            Type::Vec4 => Some(4),
            _ => None,
        }
    }

    /// The vector type of `n` floats (1 gives `f32`).
    pub fn float_vector(n: u32) -> Option<Type> {
        [Type::F32, Type::Vec2, Type::Vec3, Type::Vec4].get(n.checked_sub(1)? as usize).copied()
    }

    /// True if the type is `i32` or `u32`.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::I32 | Type::U32)
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::I32 => "i32",
            Type::U32 => "u32",
            Type::F32 => "f32",
            Type::Vec2 => "vec2",
            Type::Vec3 => "vec3",
            Type::Vec4 => "vec4",
            Type::Mat4 => "mat4",
            Type::String => "string",
            Type::Ref => "ref",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Type> {
        use Type::*;
        [Bool, I32, U32, F32, Vec2, Vec3, Vec4, Mat4, String, Ref].into_iter().find(|t| t.name() == name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A constant of any type. Equality is by bits, so that NaN equals itself and 0 differs from −0.
#[derive(Clone, Debug)]
pub enum Const {
    /// `bool`
    Bool(bool),
    /// `i32`
    I32(i32),
    /// `u32`
    U32(u32),
    /// `f32`
    F32(f32),
    /// `vec2`
    Vec2([f32; 2]),
    /// `vec3`
    Vec3([f32; 3]),
    /// `vec4`
    Vec4([f32; 4]),
    /// `mat4`
    Mat4(Box<[f32; 16]>),
    /// `string`
    String(Arc<str>),
    /// `ref`
    Ref(u32),
}

impl Const {
    /// The type.
    pub fn ty(&self) -> Type {
        match self {
            Const::Bool(_) => Type::Bool,
            Const::I32(_) => Type::I32,
            Const::U32(_) => Type::U32,
            Const::F32(_) => Type::F32,
            Const::Vec2(_) => Type::Vec2,
            Const::Vec3(_) => Type::Vec3,
            Const::Vec4(_) => Type::Vec4,
            Const::Mat4(_) => Type::Mat4,
            Const::String(_) => Type::String,
            Const::Ref(_) => Type::Ref,
        }
    }

    /// The zero of a type: what an unassigned variable holds (the empty string for `string`).
    pub fn zero(ty: Type) -> Const {
        match ty {
            Type::Bool => Const::Bool(false),
            Type::I32 => Const::I32(0),
            Type::U32 => Const::U32(0),
            Type::F32 => Const::F32(0.0),
            Type::Vec2 => Const::Vec2([0.0; 2]),
            Type::Vec3 => Const::Vec3([0.0; 3]),
            Type::Vec4 => Const::Vec4([0.0; 4]),
            Type::Mat4 => Const::Mat4(Box::new([0.0; 16])),
            Type::String => Const::String(Arc::from("")),
            Type::Ref => Const::Ref(0),
        }
    }

    /// The float components of `f32`, `vec2`, `vec3`, `vec4` and `mat4` constants.
    pub fn floats(&self) -> Option<&[f32]> {
        match self {
            Const::F32(x) => Some(std::slice::from_ref(x)),
            Const::Vec2(v) => Some(v),
            Const::Vec3(v) => Some(v),
            Const::Vec4(v) => Some(v),
            Const::Mat4(m) => Some(&m[..]),
            _ => None,
        }
    }

    /// A float constant of 1 to 4 components (16 for `mat4`); `None` for other lengths.
    pub fn from_floats(values: &[f32]) -> Option<Const> {
        Some(match values {
            [x] => Const::F32(*x),
            [x, y] => Const::Vec2([*x, *y]),
            [x, y, z] => Const::Vec3([*x, *y, *z]),
            [x, y, z, w] => Const::Vec4([*x, *y, *z, *w]),
            _ => Const::Mat4(Box::new(values.try_into().ok()?)),
        })
    }

    /// The constant of a type that these 32-bit patterns represent; what is missing is zero.
    /// Identifiers of strings, which do not determine them, give the empty string.
    pub fn from_bits(ty: Type, bits: &[u32]) -> Const {
        let word = |i: usize| bits.get(i).copied().unwrap_or(0);
        match ty {
            Type::Bool => Const::Bool(word(0) != 0),
            Type::I32 => Const::I32(word(0) as i32),
            Type::U32 => Const::U32(word(0)),
            Type::Ref => Const::Ref(word(0)),
            Type::String => Const::zero(ty),
            _ => {
                let floats: Vec<f32> = (0..ty.words() as usize).map(|i| f32::from_bits(word(i))).collect();
                Const::from_floats(&floats).unwrap_or_else(|| Const::zero(ty))
            }
        }
    }

    /// The 32-bit patterns that represent the value in registers and memory, [`Type::words`] of
    /// them.
    pub fn bits(&self) -> Vec<u32> {
        match self {
            Const::Bool(b) => vec![*b as u32],
            Const::I32(i) => vec![*i as u32],
            Const::U32(u) | Const::Ref(u) => vec![*u],
            Const::String(s) => vec![string_id(s)],
            _ => self.floats().unwrap_or(&[]).iter().map(|x| x.to_bits()).collect(),
        }
    }
}

impl PartialEq for Const {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Const::String(a), Const::String(b)) => a == b,
            _ => self.ty() == other.ty() && self.bits() == other.bits(),
        }
    }
}

impl Eq for Const {}

impl std::hash::Hash for Const {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.ty().hash(state);
        self.bits().hash(state);
    }
}
