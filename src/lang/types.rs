//! The types of values in shader source, as a compiled file states them for parameters, functions
//! and variables.
//!
//! A front end may have other types besides. Those of what the linker and the tools read are among
//! these, which distinguish what becomes one type of the IR: points, vectors, normals and colors.

use shadewright_ir::Type;
use shadewright_ir::abi::DataType;
use std::fmt;
use std::sync::Arc;

/// How often a value may differ: RenderMan's storage classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StorageClass {
    /// Known when the program is compiled.
    Constant,
    /// One value a shader instance.
    Uniform,
    /// One value a sample.
    Varying,
}

/// Stands for the length of an array that grows and shrinks as the shader runs
/// ([`SourceType::Array`]).
pub const RESIZABLE: u32 = u32::MAX;

/// Stands for the length of an array that its caller decides ([`SourceType::Array`]).
pub const OPEN: u32 = u32::MAX - 1;

/// Most elements of an array of a fixed length: what is passed to a function becomes a value each.
pub const MAX_ARRAY: u32 = 1024;

/// Most elements of an array that grows. All of them, used or not, are passed to functions, and
/// stay with a thread while its rays are on their way.
pub const CAPACITY: u32 = 64;

/// A type of a value in shader source. `Point`, `Vector`, `Normal` and `Color` become one type of
/// the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceType {
    /// No value.
    Void,
    /// The result of a comparison. It cannot be declared.
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
    Array(&'static SourceType, u32),
    /// An array of arrays, which a member that is an array makes of an array of structs: the type
    /// of the elements, the number of arrays, which may be [`OPEN`], and the length of each, which
    /// is known.
    Rows(&'static SourceType, u32, u32),
}

impl From<DataType> for SourceType {
    fn from(ty: DataType) -> Self {
        match ty {
            DataType::Float => SourceType::Float,
            DataType::Color => SourceType::Color,
            DataType::Point => SourceType::Point,
            DataType::Vector => SourceType::Vector,
            DataType::Normal => SourceType::Normal,
            DataType::String => SourceType::String,
            DataType::Matrix => SourceType::Matrix,
        }
    }
}

impl SourceType {
    /// The type as names of intrinsics and inputs carry it; `None` for types that no variable has,
    /// and arrays.
    pub fn data_type(self) -> Option<DataType> {
        match self {
            SourceType::Float => Some(DataType::Float),
            SourceType::Color => Some(DataType::Color),
            SourceType::Point => Some(DataType::Point),
            SourceType::Vector => Some(DataType::Vector),
            SourceType::Normal => Some(DataType::Normal),
            SourceType::String => Some(DataType::String),
            SourceType::Matrix => Some(DataType::Matrix),
            SourceType::Void | SourceType::Bool | SourceType::Array(..) | SourceType::Rows(..) => None,
        }
    }

    /// All types that a variable may have.
    pub const DECLARABLE: [SourceType; 7] = [
        SourceType::Float,
        SourceType::Color,
        SourceType::Point,
        SourceType::Vector,
        SourceType::Normal,
        SourceType::String,
        SourceType::Matrix,
    ];

    /// The name, which is RenderMan's; of an array, that of its elements.
    pub fn name(self) -> &'static str {
        match self {
            SourceType::Void => "void",
            SourceType::Bool => "boolean",
            SourceType::Float => "float",
            SourceType::Color => "color",
            SourceType::Point => "point",
            SourceType::Vector => "vector",
            SourceType::Normal => "normal",
            SourceType::String => "string",
            SourceType::Matrix => "matrix",
            SourceType::Array(element, _) | SourceType::Rows(element, ..) => element.name(),
        }
    }

    /// One letter, for the names of overloaded functions; a capital one for arrays.
    pub fn letter(self) -> char {
        match self {
            SourceType::Void => 'x',
            SourceType::Bool => 'b',
            SourceType::Float => 'f',
            SourceType::Color => 'c',
            SourceType::Point => 'p',
            SourceType::Vector => 'v',
            SourceType::Normal => 'n',
            SourceType::String => 's',
            SourceType::Matrix => 'm',
            SourceType::Array(element, _) | SourceType::Rows(element, ..) => element.letter().to_ascii_uppercase(),
        }
    }

    /// The letter, then the length of an array that has one.
    pub fn signature(self) -> String {
        match self {
            SourceType::Array(_, len) if !self.is_unsized() && !self.is_resizable() => {
                format!("{}{len}", self.letter())
            }
            SourceType::Rows(_, OPEN, each) => format!("{}x{each}", self.letter()),
            SourceType::Rows(_, rows, each) => format!("{}{rows}x{each}", self.letter()),
            _ => self.letter().to_string(),
        }
    }

    /// An array of `len` values of this type ([`OPEN`]: as many as the caller has); `None` where
    /// there are no such arrays.
    pub fn array(self, len: u32) -> Option<SourceType> {
        if let SourceType::Array(element, each) = self {
            return (each < OPEN && len != RESIZABLE).then_some(SourceType::Rows(element, len, each));
        }
        const ELEMENTS: &[SourceType] = &SourceType::DECLARABLE;
        ELEMENTS.iter().find(|t| **t == self).map(|element| SourceType::Array(element, len))
    }

    /// The type of an array's elements, of an array of arrays that of theirs; any other type
    /// itself.
    pub fn element(self) -> SourceType {
        match self {
            SourceType::Array(element, _) | SourceType::Rows(element, ..) => *element,
            other => other,
        }
    }

    /// True if it is an array.
    pub fn is_array(self) -> bool {
        matches!(self, SourceType::Array(..) | SourceType::Rows(..))
    }

    /// True if it is an array whose length the caller decides.
    pub fn is_unsized(self) -> bool {
        matches!(self, SourceType::Array(_, OPEN) | SourceType::Rows(_, OPEN, _))
    }

    /// True if it is an array whose length changes.
    pub fn is_resizable(self) -> bool {
        matches!(self, SourceType::Array(_, RESIZABLE))
    }

    /// The number of elements that there is room for in an array.
    pub fn capacity(self) -> u32 {
        match self {
            SourceType::Array(_, RESIZABLE) => CAPACITY,
            SourceType::Array(_, OPEN) | SourceType::Rows(_, OPEN, _) => 0,
            SourceType::Array(_, len) => len,
            SourceType::Rows(_, rows, each) => rows.saturating_mul(each),
            _ => 0,
        }
    }

    /// The result of `arraylength` for an array whose length is known.
    pub fn length(self) -> u32 {
        match self {
            SourceType::Rows(_, rows, _) => rows,
            other => other.capacity(),
        }
    }

    /// True if it is a point, vector or normal.
    pub fn is_spatial(self) -> bool {
        matches!(self, SourceType::Point | SourceType::Vector | SourceType::Normal)
    }

    /// True if it has three components.
    pub fn is_triple(self) -> bool {
        self.is_spatial() || self == SourceType::Color
    }

    /// The type in the IR; `None` for `void` and for arrays, which are several values.
    pub fn ir(self) -> Option<Type> {
        Some(match self {
            SourceType::Void | SourceType::Array(..) | SourceType::Rows(..) => return None,
            SourceType::Bool => Type::Bool,
            SourceType::Float => Type::F32,
            SourceType::Color | SourceType::Point | SourceType::Vector | SourceType::Normal => Type::Vec3,
            SourceType::String => Type::String,
            SourceType::Matrix => Type::Mat4,
        })
    }

    /// The names of the values that stand for a variable: its own or, for the elements of an array,
    /// `a.0`, `a.1`, …, with `a.length` after them if it is resizable.
    pub fn value_names(self, name: &str) -> impl Iterator<Item = Arc<str>> {
        let elements = (0..self.capacity()).map(move |i| format!("{name}.{i}").into());
        let own = (!self.is_array() && self.ir().is_some()).then(|| name.into());
        own.into_iter().chain(elements).chain(self.is_resizable().then(|| format!("{name}.length").into()))
    }

    /// The types of the IR's values that stand for one of this type: none for `void`, one for each
    /// element of an array and, where its length changes, a last one for that.
    pub fn values(self) -> impl Iterator<Item = Type> {
        let count = if self.is_array() { self.capacity() as usize } else { 1 };
        let elements = self.element().ir().into_iter().flat_map(move |ty| std::iter::repeat_n(ty, count));
        elements.chain(self.is_resizable().then_some(Type::F32))
    }
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceType::Array(element, OPEN | RESIZABLE) => write!(f, "{element}[]"),
            SourceType::Array(element, len) => write!(f, "{element}[{len}]"),
            SourceType::Rows(element, OPEN, each) => write!(f, "{element}[][{each}]"),
            SourceType::Rows(element, rows, each) => write!(f, "{element}[{rows}][{each}]"),
            _ => f.write_str(self.name()),
        }
    }
}
