//! Noise (RISpec 3.2, section 15.1): calls of the functions that [`crate::lang::stdlib::noise`] builds.

use super::{Row, row};
use crate::ir::Type;

/// What is here.
pub(super) const ROWS: &[Row] = &[
    row("noise", "f:f", |b, a| b.call("std.noise.1.1", a.to_vec(), &[Type::F32])),
    row("noise", "c:f", |b, a| b.call("std.noise.1.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "p:f", |b, a| b.call("std.noise.1.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "v:f", |b, a| b.call("std.noise.1.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "f:ff", |b, a| b.call("std.noise.2.1", a.to_vec(), &[Type::F32])),
    row("noise", "c:ff", |b, a| b.call("std.noise.2.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "p:ff", |b, a| b.call("std.noise.2.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "v:ff", |b, a| b.call("std.noise.2.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "f:p", |b, a| b.call("std.noise.3.1", a.to_vec(), &[Type::F32])),
    row("noise", "c:p", |b, a| b.call("std.noise.3.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "p:p", |b, a| b.call("std.noise.3.3", a.to_vec(), &[Type::Vec3])),
    row("noise", "v:p", |b, a| b.call("std.noise.3.3", a.to_vec(), &[Type::Vec3])),
];
