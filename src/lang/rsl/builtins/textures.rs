//! Textures: the intrinsics that look into them ([`crate::lang::stdlib::texture`]); the functions of RISpec 3.2, section 15.7, are the library's `texture.sl`.

use super::{Row, row};
use crate::ir::Type;

pub(super) const ROWS: &[Row] = &[
    row("__texture_float", "f:sfffffff", |b, a| b.call("std.texture.float", a.to_vec(), &[Type::F32])),
    row("__texture_color", "c:sfffffff", |b, a| b.call("std.texture.color", a.to_vec(), &[Type::Vec3])),
];
