//! The calls that ask the renderer for something by its name: message passing between shaders
//! (RISpec 3.2, §15.8), attributes, options, the renderer, the ray.
//!
//! They take the name as a constant and a variable that gets the value if there is one of the
//! variable's type; they give 1 then and 0 otherwise. What shaders of other kinds and the scene
//! know arrives as *named inputs* of a shader's core, see [`value_input`]; what a light knows is
//! asked by [`Intrinsic::LightMessage`](shadewright_ir::abi::Intrinsic::LightMessage).

use crate::types::SourceType;
use shadewright_ir::abi::{DataType, Input, Query, QuerySource, input};

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The light of the `illuminance` around the call.
    Light,
    /// The ray that is being shaded.
    Ray,
    /// Somebody whose answer is a named input.
    Input(QuerySource),
}

/// The words, each with who is asked.
pub const QUERIES: [(&str, Source); 10] = [
    ("lightsource", Source::Light),
    ("surface", Source::Input(QuerySource::Surface)),
    ("displacement", Source::Input(QuerySource::Displacement)),
    ("atmosphere", Source::Input(QuerySource::Atmosphere)),
    ("incident", Source::Input(QuerySource::Incident)),
    ("opposite", Source::Input(QuerySource::Opposite)),
    ("attribute", Source::Input(QuerySource::Attribute)),
    ("option", Source::Input(QuerySource::Option)),
    ("rendererinfo", Source::Input(QuerySource::RendererInfo)),
    ("rayinfo", Source::Ray),
];

/// Who is asked by a word.
pub fn source(word: &str) -> Option<Source> {
    QUERIES.iter().find(|q| q.0 == word).map(|q| q.1)
}

/// The predefined variables that `rayinfo` looks at.
pub const RAY_INPUTS: [&str; 4] = [input::RAY_DIRECTION, input::RAY_KIND, input::RAY_ORIGIN, "raydepth"];

/// The name of the input that holds what is asked of `source`: the value, of type `ty`; of an array
/// that of one element.
pub fn value_input(source: QuerySource, ty: SourceType, name: &str, element: u32) -> String {
    input_name(source, ty, name, element, false)
}

/// The name of the input that is 1 where there is such a value, and 0 elsewhere.
pub fn found_input(source: QuerySource, ty: SourceType, name: &str) -> String {
    input_name(source, ty, name, 0, true)
}

fn input_name(source: QuerySource, ty: SourceType, name: &str, element: u32, found: bool) -> String {
    let element = if let SourceType::Array(_, len) = ty { Some((element, len)) } else { None };
    let ty = ty.element().data_type().unwrap_or(DataType::Float);
    Input::Query(Query { source, ty, name, element, found }).to_string()
}
