//! A cost model of operations for passes that move code: whether a back end computes them at all.

use crate::{Op, Type};

/// True if an operation is worth a register that keeps its result longer, or a move between
/// registers.
///
/// It is not for constants, program constants and choices of components or signs, which both
/// back ends read in place, nor for truth values, which they test where they are computed.
pub(super) fn is_worth_keeping(op: &Op, ty: Type) -> bool {
    let is_in_place = matches!(
        op,
        Op::Const(_)
            | Op::Uniform(_)
            | Op::Neg
            | Op::Abs
            | Op::Extract(_)
            | Op::Splat
            | Op::Compose
            | Op::Insert(_)
            | Op::Bitcast
    );
    op.is_pure() && !is_in_place && ty != Type::Bool
}
