//! Columns of a block's register file: their numbers, after the columns of constants and literals.
//!
//! A register has four columns, the stack's are last. [`block`](crate::block) documents where they
//! are in memory.

use crate::isa::{Component, Reg};

/// `I0.x`.
pub(super) const INPUT: u16 = 64;
/// `A.x`.
pub(super) const ADDRESS: u16 = 80;
/// `S.x`.
pub(super) const SPECIAL: u16 = 84;
/// `HIT.x`.
pub(super) const HIT: u16 = 88;
/// `HIT_TRI`.
pub(super) const HIT_TRI: u16 = 92;
/// `HIT_OBJ`.
pub(super) const HIT_OBJ: u16 = 93;
/// Components of a result that cannot be written in place.
pub(super) const RESULT: u16 = 94;
/// A half of a split that is written only after the other half has read.
pub(super) const HALF: u16 = 98;
/// `S0.x` at the bottom of the stack.
pub(super) const STACK: u16 = 102;

/// The column of a register's component; constants have none.
pub(super) fn for_register(reg: Reg, component: Component) -> Option<u16> {
    let c = component.index() as u16;
    match reg {
        _ if !reg.exists() => None,
        Reg::R(n) => Some(4 * u16::from(n) + c),
        Reg::I(n) => Some(INPUT + 4 * u16::from(n) + c),
        Reg::A => Some(ADDRESS + c),
        Reg::Special => Some(SPECIAL + c),
        Reg::Hit => Some(HIT + c),
        Reg::HitTri => Some(HIT_TRI),
        Reg::HitObj => Some(HIT_OBJ),
        Reg::Stack(n) => Some(STACK + 4 * u16::from(n) + c),
        Reg::C(_) => None,
    }
}
