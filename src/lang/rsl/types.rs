//! The types of RSL and the conversions between them.

use crate::abi::DataType;
use crate::ir::Type;
use std::fmt;

/// How often a value may differ: RenderMan's storage classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Known when the program is compiled.
    Constant,
    /// One value a shader instance.
    Uniform,
    /// One value a sample.
    Varying,
}

/// Stands for the length of an array that grows and shrinks as the shader runs
/// ([`RslType::Array`]).
pub const RESIZABLE: u32 = u32::MAX;

/// Stands for the length of an array that its caller decides ([`RslType::Array`]).
pub const OPEN: u32 = u32::MAX - 1;

/// Most elements of an array that grows. All of them, used or not, are passed to functions, and
/// stay with a thread while its rays are on their way.
pub const CAPACITY: u32 = 64;

/// A type of the language. `Point`, `Vector`, `Normal` and `Color` become one type of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RslType {
    /// No value.
    Void,
    /// What comparisons give. It cannot be declared.
    Bool,
    /// A number.
    Float,
    /// Three numbers: red, green, blue.
    Color,
    /// A position.
    Point,
    /// A direction.
    Vector,
    /// A direction perpendicular to a surface.
    Normal,
    /// A text.
    String,
    /// A transformation.
    Matrix,
    /// An array: the type of its elements, which is no array itself, and their number: [`OPEN`]
    /// where the declaration leaves it to the caller, [`RESIZABLE`] where it changes.
    Array(&'static RslType, u32),
    /// An array of arrays, which a member that is an array makes of an array of structs: the type
    /// of the elements, the number of arrays, which may be [`OPEN`], and the length of each, which
    /// is known.
    Rows(&'static RslType, u32, u32),
}

impl From<DataType> for RslType {
    fn from(ty: DataType) -> Self {
        match ty {
            DataType::Float => RslType::Float,
            DataType::Color => RslType::Color,
            DataType::Point => RslType::Point,
            DataType::Vector => RslType::Vector,
            DataType::Normal => RslType::Normal,
            DataType::String => RslType::String,
            DataType::Matrix => RslType::Matrix,
        }
    }
}

impl RslType {
    /// The type as names of intrinsics and inputs carry it; `None` for types that no variable has,
    /// and arrays.
    pub fn data_type(self) -> Option<DataType> {
        match self {
            RslType::Float => Some(DataType::Float),
            RslType::Color => Some(DataType::Color),
            RslType::Point => Some(DataType::Point),
            RslType::Vector => Some(DataType::Vector),
            RslType::Normal => Some(DataType::Normal),
            RslType::String => Some(DataType::String),
            RslType::Matrix => Some(DataType::Matrix),
            RslType::Void | RslType::Bool | RslType::Array(..) | RslType::Rows(..) => None,
        }
    }

    /// All types that a variable may have.
    pub const DECLARABLE: [RslType; 7] = [
        RslType::Float,
        RslType::Color,
        RslType::Point,
        RslType::Vector,
        RslType::Normal,
        RslType::String,
        RslType::Matrix,
    ];

    /// The keyword; of an array, that of its elements.
    pub fn name(self) -> &'static str {
        match self {
            RslType::Void => "void",
            RslType::Bool => "boolean",
            RslType::Float => "float",
            RslType::Color => "color",
            RslType::Point => "point",
            RslType::Vector => "vector",
            RslType::Normal => "normal",
            RslType::String => "string",
            RslType::Matrix => "matrix",
            RslType::Array(element, _) | RslType::Rows(element, ..) => element.name(),
        }
    }

    /// The type that a keyword names.
    pub fn from_keyword(word: &str) -> Option<RslType> {
        if word == "void" {
            return Some(RslType::Void);
        }
        Self::DECLARABLE.into_iter().find(|t| t.name() == word)
    }

    /// One letter, for the names of overloaded functions; a capital one for arrays.
    pub fn letter(self) -> char {
        match self {
            RslType::Void => 'x',
            RslType::Bool => 'b',
            RslType::Float => 'f',
            RslType::Color => 'c',
            RslType::Point => 'p',
            RslType::Vector => 'v',
            RslType::Normal => 'n',
            RslType::String => 's',
            RslType::Matrix => 'm',
            RslType::Array(element, _) | RslType::Rows(element, ..) => element.letter().to_ascii_uppercase(),
        }
    }

    /// The letter, then the length of an array that has one.
    pub fn signature(self) -> String {
        match self {
            RslType::Array(_, len) if !self.is_unsized() && !self.is_resizable() => format!("{}{len}", self.letter()),
            RslType::Rows(_, OPEN, each) => format!("{}x{each}", self.letter()),
            RslType::Rows(_, rows, each) => format!("{}{rows}x{each}", self.letter()),
            _ => self.letter().to_string(),
        }
    }

    /// An array of `len` values of this type ([`OPEN`]: as many as the caller has); `None` where
    /// there are no such arrays.
    pub fn array(self, len: u32) -> Option<RslType> {
        if let RslType::Array(element, each) = self {
            return (each < OPEN && len != RESIZABLE).then_some(RslType::Rows(element, len, each));
        }
        const ELEMENTS: &[RslType] = &RslType::DECLARABLE;
        ELEMENTS.iter().find(|t| **t == self).map(|element| RslType::Array(element, len))
    }

    /// The type of an array's elements, of an array of arrays that of theirs; any other type
    /// itself.
    pub fn element(self) -> RslType {
        match self {
            RslType::Array(element, _) | RslType::Rows(element, ..) => *element,
            other => other,
        }
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        matches!(self, RslType::Array(..) | RslType::Rows(..))
    }

    /// Whether it is an array whose length the caller decides.
    pub fn is_unsized(self) -> bool {
        matches!(self, RslType::Array(_, OPEN) | RslType::Rows(_, OPEN, _))
    }

    /// Whether it is an array whose length changes.
    pub fn is_resizable(self) -> bool {
        matches!(self, RslType::Array(_, RESIZABLE))
    }

    /// The number of elements that there is room for in an array.
    pub fn capacity(self) -> u32 {
        match self {
            RslType::Array(_, RESIZABLE) => CAPACITY,
            RslType::Array(_, OPEN) | RslType::Rows(_, OPEN, _) => 0,
            RslType::Array(_, len) => len,
            RslType::Rows(_, rows, each) => rows.saturating_mul(each),
            _ => 0,
        }
    }

    /// What `arraylength` gives for an array whose length is known.
    pub fn length(self) -> u32 {
        match self {
            RslType::Rows(_, rows, _) => rows,
            other => other.capacity(),
        }
    }

    /// What `count` indices after a variable of this type choose: an element of an array, a
    /// component of a triple or (two of them) of a matrix.
    pub fn indexed(self, count: usize) -> Option<RslType> {
        match (self, count) {
            (ty, 0) => Some(ty),
            (RslType::Array(element, _), n) => element.indexed(n - 1),
            (RslType::Rows(element, _, each), 1) => Some(RslType::Array(element, each)),
            (RslType::Rows(element, ..), n) => element.indexed(n - 2),
            (ty, 1) if ty.is_triple() => Some(RslType::Float),
            (RslType::Matrix, 2) => Some(RslType::Float),
            // The name of a texture with a channel.
            (RslType::String, 1) => Some(RslType::String),
            _ => None,
        }
    }

    /// Whether it is a point, vector or normal.
    pub fn is_spatial(self) -> bool {
        matches!(self, RslType::Point | RslType::Vector | RslType::Normal)
    }

    /// Whether it has three components.
    pub fn is_triple(self) -> bool {
        self.is_spatial() || self == RslType::Color
    }

    /// The type in the IR; `None` for `void` and for arrays, which are several values.
    pub fn ir(self) -> Option<Type> {
        Some(match self {
            RslType::Void | RslType::Array(..) | RslType::Rows(..) => return None,
            RslType::Bool => Type::Bool,
            RslType::Float => Type::F32,
            RslType::Color | RslType::Point | RslType::Vector | RslType::Normal => Type::Vec3,
            RslType::String => Type::String,
            RslType::Matrix => Type::Mat4,
        })
    }

    /// The types of the IR's values that stand for one of this type: none for `void`, one for each
    /// element of an array and, where its length changes, a last one for that.
    pub fn values(self) -> impl Iterator<Item = Type> {
        let count = if self.is_array() { self.capacity() as usize } else { 1 };
        let elements = self.element().ir().into_iter().flat_map(move |ty| std::iter::repeat_n(ty, count));
        elements.chain(self.is_resizable().then_some(Type::F32))
    }

    /// Number of conversions (0 or 1) that make a value of this type one of type `to` without a
    /// cast; `None` when there is no way. A float becomes a triple with equal components or a
    /// matrix with that diagonal; points, vectors and normals mix freely.
    pub fn conversion(self, to: RslType) -> Option<u32> {
        match (self, to) {
            (a, b) if a == b => Some(0),
            (RslType::Array(a, _), RslType::Array(b, OPEN)) if a == b => Some(0),
            (RslType::Rows(a, _, each), RslType::Rows(b, OPEN, wanted)) if a == b && each == wanted => Some(0),
            (RslType::Array(a, len), RslType::Array(b, RESIZABLE)) if a == b && len <= CAPACITY => Some(1),
            (RslType::Float, b) if b.is_triple() || b == RslType::Matrix => Some(1),
            (a, b) if a.is_spatial() && b.is_spatial() => Some(1),
            (RslType::Bool, RslType::Float) | (RslType::Float, RslType::Bool) => Some(1),
            _ => None,
        }
    }

    /// Whether a cast may make a value of this type one of type `to`.
    pub fn casts_to(self, to: RslType) -> bool {
        self.conversion(to).is_some() || (self.is_triple() && to.is_triple())
    }
}

impl fmt::Display for RslType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RslType::Array(element, OPEN | RESIZABLE) => write!(f, "{element}[]"),
            RslType::Array(element, len) => write!(f, "{element}[{len}]"),
            RslType::Rows(element, OPEN, each) => write!(f, "{element}[][{each}]"),
            RslType::Rows(element, rows, each) => write!(f, "{element}[{rows}][{each}]"),
            _ => f.write_str(self.name()),
        }
    }
}
