//! Calls of co-shaders (RSL 2.0): their signatures, and their names in the flat tree.
//!
//! The name of a call in the flat tree states what it does ([`Call`]); `lower` makes calls of the
//! functions that [`crate::coshaders`] names.

use crate::coshaders::{CoShaderQuery, PREFIX};
use crate::types::SourceType;
use std::sync::Arc;

/// The word of [`Call::Variable`].
const VARIABLE: &str = "variable";

/// The calls that shaders write, with their signatures as in the table of built-in functions.
pub const SIGNATURES: [(&str, &str); 13] = [
    ("getshader", "s:s"),
    ("getshaders", "S:"),
    ("getshaders", "S:ss"),
    ("getvar", "f:ss"),
    ("getvar", "f:ss&f"),
    ("getvar", "f:ss&c"),
    ("getvar", "f:ss&p"),
    ("getvar", "f:ss&v"),
    ("getvar", "f:ss&n"),
    ("getvar", "f:ss&s"),
    ("getvar", "f:ss&m"),
    ("hasmethod", "f:ss"),
    ("iscoshader", "f:"),
];

/// A call in the flat tree that asks other shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Asks for the answer to a question.
    For(CoShaderQuery),
    /// `getvar(s, "name", variable)`: asks for a member, stores it in the variable, and returns
    /// whether there is one.
    Variable,
}

impl Call {
    /// The name of the call that asks for something called `name`.
    pub fn named(self, name: &str) -> Arc<str> {
        let word = match self {
            Self::For(question) => question.word(),
            Self::Variable => VARIABLE,
        };
        format!("{PREFIX}{word}.{name}").into()
    }

    /// The call of that name, and the name that it asks for.
    pub fn parse(call: &str) -> Option<(Self, &str)> {
        let (word, name) = call.strip_prefix(PREFIX)?.split_once('.')?;
        let call = if word == VARIABLE { Self::Variable } else { Self::For(CoShaderQuery::from_word(word)?) };
        Some((call, name))
    }

    /// The type of the value, where `wanted` is wanted.
    pub fn result(self, wanted: Option<SourceType>) -> SourceType {
        match self {
            Self::For(question) => question.result(wanted),
            Self::Variable => SourceType::Float,
        }
    }

    /// True if the type of the value is what its place wants.
    pub fn is_open(self) -> bool {
        matches!(self, Self::For(CoShaderQuery::Member | CoShaderQuery::Method))
    }

    /// True if it may change variables among the arguments.
    pub fn writes(self) -> bool {
        matches!(self, Self::Variable | Self::For(CoShaderQuery::Method | CoShaderQuery::Run))
    }

    /// True if the shader that is asked runs, so that it is given
    /// [`inputs`](crate::coshaders::inputs).
    pub fn runs(self) -> bool {
        match self {
            Self::For(question) => question.runs(),
            Self::Variable => true,
        }
    }
}
