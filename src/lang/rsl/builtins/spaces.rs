//! Intrinsics for coordinate systems of the scene that are named when a shader runs.

use super::super::spaces::{self, Axes};
use super::{Row, row};
use crate::types::SourceType;
use shadewright_ir::{FunctionBuilder, Value};

/// The rows of the functions for coordinate systems.
pub(super) const ROWS: &[Row] = &[
    row("__point_from_named", "p:sp", |b, a| by_name(b, a, SourceType::Point, spaces::out_of)),
    row("__point_to_named", "p:sp", |b, a| by_name(b, a, SourceType::Point, spaces::into)),
    row("__vector_from_named", "v:sv", |b, a| by_name(b, a, SourceType::Vector, spaces::out_of)),
    row("__vector_to_named", "v:sv", |b, a| by_name(b, a, SourceType::Vector, spaces::into)),
    row("__normal_from_named", "n:sn", |b, a| by_name(b, a, SourceType::Normal, spaces::out_of)),
    row("__normal_to_named", "n:sn", |b, a| by_name(b, a, SourceType::Normal, spaces::into)),
];

/// Takes a value between the current system and the one of a name.
fn by_name(
    b: &mut FunctionBuilder,
    args: &[Value],
    ty: SourceType,
    apply: fn(&mut FunctionBuilder, Axes, Value, SourceType) -> Value,
) -> Vec<Value> {
    let axes = spaces::named(b, args[0]);
    vec![apply(b, axes, args[1], ty)]
}
