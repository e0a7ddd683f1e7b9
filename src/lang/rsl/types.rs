//! The types of RSL and the conversions between them.

use crate::ir::Type;
use std::fmt;

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
}

impl RslType {
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

    /// The keyword.
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
        }
    }

    /// The type that a keyword names.
    pub fn from_keyword(word: &str) -> Option<RslType> {
        if word == "void" {
            return Some(RslType::Void);
        }
        Self::DECLARABLE.into_iter().find(|t| t.name() == word)
    }

    /// One letter, for the names of overloaded functions.
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

    /// The type in the IR; `None` for `void`.
    pub fn ir(self) -> Option<Type> {
        Some(match self {
            RslType::Void => return None,
            RslType::Bool => Type::Bool,
            RslType::Float => Type::F32,
            RslType::Color | RslType::Point | RslType::Vector | RslType::Normal => Type::Vec3,
            RslType::String => Type::String,
            RslType::Matrix => Type::Mat4,
        })
    }

    /// Number of conversions (0 or 1) that make a value of this type one of type `to` without a cast; `None` when there is no way.
    /// A float becomes a triple with equal components or a matrix with that diagonal; points, vectors and normals mix freely.
    pub fn conversion(self, to: RslType) -> Option<u32> {
        match (self, to) {
            (a, b) if a == b => Some(0),
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
        f.write_str(self.name())
    }
}
