//! Two operations in one issue slot (Węgrzanowski 2006, §9.3): takes two independent arithmetic
//! instructions and finds the split that holds both.
//!
//! Which splits exist is the RPU's to say: [`shadewright_rpu::isa`] judges each one that is tried
//! here. An instruction of this compiler carries one literal, and so does a pair.

use super::lower;
use super::vcode::{MArith, MSplit};
use shadewright_rpu::isa::{Instr, Mask, SplitKind};

/// The split that does both, if one fits; neither may need the other's result. With each comes the
/// part of its result that a condition tests.
pub fn join(a: (&MArith, Mask), b: (&MArith, Mask)) -> Option<MSplit> {
    let literals = |a: &MArith| a.src.iter().filter_map(|s| s.literal()).collect::<Vec<_>>();
    let shared = literals(a.0).iter().all(|x| literals(b.0).iter().all(|y| x == y));
    if !shared {
        return None;
    }
    let within = |(a, tested): (&MArith, Mask), half: Mask| a.mask.union(tested).is_within(half);
    [SplitKind::ThreeOne, SplitKind::TwoTwo].into_iter().find_map(|kind| {
        let (first, second) = if within(a, kind.first()) { (a, b) } else { (b, a) };
        if !within(first, kind.first()) || !within(second, kind.second()) {
            return None;
        }
        let split = MSplit { kind, first: first.0.clone(), second: second.0.clone() };
        Instr::Split(lower::split(&split).ok()?, None).validate().ok()?;
        Some(split)
    })
}
