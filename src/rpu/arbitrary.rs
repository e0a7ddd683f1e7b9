//! Random valid programs for property tests.

use super::isa::{
    Arith, Base, Component, Condition, Control, Dst, DstReg, EntryPoint, Instr, MAX_PUSH, Mask, Multiplier, Op,
    Primary, Program, Ranges, Reg, Scale, SpecialOp, Src, Swizzle,
};
use proptest::prelude::*;

fn component() -> impl Strategy<Value = Component> {
    (0u8..4).prop_map(Component::from_index)
}

fn reg() -> impl Strategy<Value = Reg> {
    prop_oneof![
        (0u8..16).prop_map(Reg::R),
        (0u8..32).prop_map(Reg::C),
        (0u8..8).prop_map(Reg::Stack),
        (0u8..4).prop_map(Reg::I),
        prop::sample::select(vec![Reg::Special, Reg::A, Reg::Hit, Reg::HitTri, Reg::HitObj]),
    ]
}

fn src() -> impl Strategy<Value = Src> {
    let multiplier = (any::<bool>(), prop::sample::select(Scale::ALL.to_vec()))
        .prop_map(|(negate, scale)| Multiplier { negate, scale });
    let register = (reg(), any::<u8>().prop_map(Swizzle::from_bits), multiplier)
        .prop_map(|(reg, swizzle, multiplier)| Src::Reg { reg, swizzle, multiplier });
    prop_oneof![4 => register, 1 => any::<u32>().prop_map(Src::Literal), 1 => (-9.0f32..9.0).prop_map(Src::float)]
}

fn mask() -> impl Strategy<Value = Mask> {
    (1u8..16).prop_map(Mask::from_bits)
}

fn arith() -> impl Strategy<Value = Arith> {
    let dst = prop_oneof![(0u8..16).prop_map(DstReg::R), (0u8..8).prop_map(DstReg::Stack), Just(DstReg::A)];
    let special = prop::sample::select(vec![None, Some(SpecialOp::Rcp), Some(SpecialOp::Rsq)]);
    let op = prop::sample::select(Op::ALL.to_vec());
    (op, any::<bool>(), special, dst, mask(), prop::array::uniform3(src())).prop_map(
        |(op, sat, special, reg, mask, src)| {
            let mask = if op.is_scalar() { Mask::W } else { mask };
            let integer = op.writes_integer();
            let special = if integer { None } else { special };
            Arith { sat: sat && !integer, special, ..Arith::new(op, Dst { reg, mask }, &src) }
        },
    )
}

fn base() -> impl Strategy<Value = Base> {
    prop_oneof![component().prop_map(Base::A), Just(Base::HitTri), Just(Base::HitObj)]
}

fn primary() -> impl Strategy<Value = Primary> {
    prop_oneof![
        6 => arith().prop_map(Primary::Arith),
        1 => [src(), src(), src()].prop_map(|[orig, dir, arg]| Primary::Trace { orig, dir, arg }),
        1 => (0u8..4, base(), any::<i16>()).prop_map(|(to, base, offset)| Primary::Load { to, base, offset }),
        1 => (base(), -20i16..20).prop_map(|(base, offset)| Primary::Load4 { base, offset }),
        1 => (base(), -2i16..20, src()).prop_map(|(base, offset, src)| Primary::Store { base, offset, src }),
    ]
}

fn control(len: u32) -> impl Strategy<Value = Control> {
    let push = 0..=MAX_PUSH;
    prop_oneof![
        2 => (0..len).prop_map(Control::Jmp),
        1 => (0..len, push.clone()).prop_map(|(target, push)| Control::Call { target, push }),
        1 => (reg(), component(), push).prop_map(|(reg, component, push)| Control::CallReg { reg, component, push }),
        3 => Just(Control::Return),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let ranges = prop::sample::select((1u8..16).filter_map(Ranges::from_bits).collect::<Vec<_>>());
    (0..5, mask(), ranges).prop_map(|(kind, mask, ranges)| match kind {
        0 => Condition::Always,
        1 | 2 => Condition::Any(mask, ranges),
        _ => Condition::All(mask, ranges),
    })
}

fn instr(len: u32) -> impl Strategy<Value = Instr> {
    prop_oneof![
        3 => primary().prop_map(Instr::Primary),
        1 => control(len).prop_map(Instr::Control),
        2 => (arith(), control(len), condition()).prop_map(|(arith, control, condition)| {
            let scalar = arith.op.is_scalar();
            let condition = match condition {
                Condition::Any(_, ranges) if scalar => Condition::Any(Mask::W, ranges),
                Condition::All(_, ranges) if scalar => Condition::All(Mask::W, ranges),
                other => other,
            };
            Instr::Pair(arith, control, condition)
        }),
    ]
    .prop_map(|instr| if instr.validate().is_ok() { instr } else { Instr::Control(Control::Return) })
}

/// Programs of 1 to 20 instructions. What [`Instr::validate`] refuses becomes `return`.
pub fn any_program() -> impl Strategy<Value = Program> {
    (1u32..20)
        .prop_flat_map(|len| (prop::collection::vec(instr(len), len as usize), prop::collection::vec(0..len, 0..3)))
        .prop_map(|(code, addresses)| {
            let entry = |(i, address): (usize, u32)| EntryPoint { name: format!("f_{i}.x$"), address };
            // The assembler finds entry points in the order of their addresses.
            let mut addresses = addresses;
            addresses.sort_unstable();
            Program { code, entries: addresses.into_iter().enumerate().map(entry).collect(), ..Program::default() }
        })
}
