//! The rules of RSL for its types: keywords, indices, conversions and casts.

use crate::types::{CAPACITY, OPEN, RESIZABLE, SourceType};

impl SourceType {
    /// The type that a keyword names.
    pub(in crate::rsl) fn from_keyword(word: &str) -> Option<SourceType> {
        if word == "void" {
            return Some(SourceType::Void);
        }
        Self::DECLARABLE.into_iter().find(|t| t.name() == word)
    }

    /// The type that `count` indices after a variable of this type choose: an element of an array,
    /// a component of a triple or (two of them) of a matrix.
    pub(in crate::rsl) fn indexed(self, count: usize) -> Option<SourceType> {
        match (self, count) {
            (ty, 0) => Some(ty),
            (SourceType::Array(element, _), n) => element.indexed(n - 1),
            (SourceType::Rows(element, _, each), 1) => Some(SourceType::Array(element, each)),
            (SourceType::Rows(element, ..), n) => element.indexed(n - 2),
            (ty, 1) if ty.is_triple() => Some(SourceType::Float),
            (SourceType::Matrix, 2) => Some(SourceType::Float),
            // The name of a texture with a channel.
            (SourceType::String, 1) => Some(SourceType::String),
            _ => None,
        }
    }

    /// Number of conversions (0 or 1) that make a value of this type one of type `to` without a
    /// cast; `None` when there is no way. A float becomes a triple with equal components or a
    /// matrix with that diagonal; points, vectors and normals mix freely.
    pub(in crate::rsl) fn conversion(self, to: SourceType) -> Option<u32> {
        match (self, to) {
            (a, b) if a == b => Some(0),
            (SourceType::Array(a, _), SourceType::Array(b, OPEN)) if a == b => Some(0),
            (SourceType::Rows(a, _, each), SourceType::Rows(b, OPEN, wanted)) if a == b && each == wanted => Some(0),
            (SourceType::Array(a, len), SourceType::Array(b, RESIZABLE)) if a == b && len <= CAPACITY => Some(1),
            (SourceType::Float, b) if b.is_triple() || b == SourceType::Matrix => Some(1),
            (a, b) if a.is_spatial() && b.is_spatial() => Some(1),
            (SourceType::Bool, SourceType::Float) | (SourceType::Float, SourceType::Bool) => Some(1),
            _ => None,
        }
    }

    /// True if a cast may make a value of this type one of type `to`.
    pub(in crate::rsl) fn casts_to(self, to: SourceType) -> bool {
        self.conversion(to).is_some() || (self.is_triple() && to.is_triple())
    }
}
