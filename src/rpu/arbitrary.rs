//! Random valid programs for property tests.

use crate::isa::{
    Arith, Base, Component, Condition, Control, Dst, DstReg, EntryPoint, Import, Instr, MAX_PUSH, Mask, Multiplier, Op,
    OpClass, Primary, Program, Ranges, Reg, Scale, SpecialOp, Split, Src, Swizzle, Waits,
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

/// Two halves of a split; which of its rules they keep is left to [`Instr::validate`].
fn split() -> impl Strategy<Value = Split> {
    let mask = |bits: &'static [u8]| prop::sample::select(bits).prop_map(Mask::from_bits);
    let three_one = (arith(), mask(&[1, 2, 3, 4, 5, 6, 7]), arith(), mask(&[8]));
    let two_two = (arith(), mask(&[1, 2, 3]), arith(), mask(&[4, 12]));
    (prop_oneof![2 => three_one.boxed(), 1 => two_two.boxed()], any::<bool>()).prop_map(
        |((mut first, first_mask, mut second, second_mask), share)| {
            if share {
                second.src[0] = first.src[0];
            }
            let first_fits = first.op.class() == OpClass::Componentwise
                || (second_mask == Mask::W && matches!(first.op, Op::Dp2h | Op::Dp3));
            if !first_fits {
                first = Arith::new(Op::Mul, first.dst, &first.src);
            }
            if second.op.class() == OpClass::Dot || (second_mask != Mask::W && second.op.is_scalar()) {
                second = Arith { special: second.special, ..Arith::new(Op::Add, second.dst, &second.src) };
            }
            first.special = None;
            first.dst.mask = first_mask;
            second.dst.mask = second_mask;
            Split::new(first, second)
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
        1 => (0u8..4, 0u8..3, src()).prop_map(|(to, texture, coord)| Primary::TexLoad { to, texture, coord }),
        1 => (any::<u8>(), src(), src())
            .prop_map(|(texture, coord, src)| Primary::TexStore { texture, coord, src }),
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
        2 => (split(), prop::option::of((control(len), condition()))).prop_map(|(split, paired)| {
            let integer = split.second.op.writes_integer();
            let paired = paired.map(|(control, condition)| match condition {
                Condition::Any(_, ranges) if integer => (control, Condition::Any(Mask::W, ranges)),
                Condition::All(_, ranges) if integer => (control, Condition::All(Mask::XYZ, ranges)),
                other => (control, other),
            });
            Instr::Split(split, paired)
        }),
    ]
    .prop_map(|instr| if instr.validate().is_ok() { instr } else { Instr::Control(Control::Return) })
}

/// Some of the things that a program holds besides code and entry points.
fn tables(len: usize) -> impl Strategy<Value = Program> {
    let waits = prop_oneof![Just(Vec::new()), prop::collection::vec(any::<u16>().prop_map(Waits), len)];
    let constants = prop::collection::vec(any::<[u32; 4]>(), 0..4);
    let strings = prop::collection::btree_map(any::<u32>(), ".{0,9}", 0..3);
    (waits, constants, strings).prop_map(|(waits, constants, strings)| Program {
        waits,
        constants,
        strings: strings.into_iter().collect(),
        ..Program::default()
    })
}

/// An instruction whose operations read other registers.
pub fn reading(mut instr: Instr, other: impl Fn(Reg) -> Reg) -> Instr {
    let read = |a: &mut Arith| {
        for src in &mut a.src {
            if let Src::Reg { reg, .. } = src {
                *reg = other(*reg);
            }
        }
    };
    match &mut instr {
        Instr::Primary(Primary::Arith(a)) | Instr::Pair(a, ..) => read(a),
        Instr::Split(split, _) => [&mut split.first, &mut split.second].into_iter().for_each(read),
        Instr::Primary(_) | Instr::Control(_) => {}
    }
    instr
}

/// One or two operations on `R0` to `R2` and `S`, alone or with a jump.
pub fn any_arithmetic() -> impl Strategy<Value = Instr> {
    let few = |mut a: Arith, n: u8| {
        a.dst.reg = DstReg::R(n);
        a
    };
    let paired = || prop::option::of(condition());
    let one = (arith(), 0u8..3, paired()).prop_map(move |(a, n, condition)| match condition {
        Some(condition) => Instr::Pair(few(a, n), Control::Jmp(0), condition),
        None => Instr::Primary(Primary::Arith(few(a, n))),
    });
    let two = (split(), 0u8..3, 0u8..3, paired()).prop_map(move |(s, m, n, condition)| {
        let split = Split { first: few(s.first, m), second: few(s.second, n), ..s };
        Instr::Split(split, condition.map(|condition| (Control::Jmp(0), condition)))
    });
    prop_oneof![one, two]
        .prop_map(|instr| {
            reading(instr, |reg| match reg {
                Reg::R(n) | Reg::Stack(n) | Reg::C(n) | Reg::I(n) => Reg::R(n % 3),
                Reg::A | Reg::Special | Reg::Hit | Reg::HitTri | Reg::HitObj => Reg::Special,
            })
        })
        .prop_filter("the RPU has no such instruction", |instr| instr.validate().is_ok())
}

/// Programs of 1 to 20 instructions that can run. What [`Instr::validate`] refuses becomes
/// `return`.
pub fn any_program() -> impl Strategy<Value = Program> {
    (1u32..20)
        .prop_flat_map(|len| {
            let len_usize = len as usize;
            (prop::collection::vec(instr(len), len_usize), prop::collection::vec(0..len, 0..3), tables(len_usize))
        })
        .prop_map(|(code, mut addresses, tables)| {
            let entry = |(i, address): (usize, u32)| EntryPoint { name: format!("f_{i}.x$"), address };
            // The assembler finds entry points in the order of their addresses.
            addresses.sort_unstable();
            Program { code, entries: addresses.into_iter().enumerate().map(entry).collect(), ..tables }
        })
}

/// Programs some of whose calls go to other programs.
pub fn any_object() -> impl Strategy<Value = Program> {
    (any_program(), any::<u32>()).prop_map(|(mut program, chosen)| {
        for (address, instr) in program.code.iter_mut().enumerate() {
            if matches!(instr.control(), Some(Control::Call { .. })) && chosen >> (address % 32) & 1 != 0 {
                *instr = instr.with_target(0);
                let name = ["S", "L1", "g_0.x$"][address % 3].to_string();
                program.imports.push(Import { address: address as u32, name });
            }
        }
        program
    })
}

mod tests {
    use super::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    use std::collections::HashSet;
    use std::mem::discriminant;

    #[test]
    fn every_operation_and_every_kind_of_instruction_is_met() {
        let mut runner = TestRunner::deterministic();
        let (mut ops, mut primaries, mut controls, mut kinds) =
            (HashSet::new(), HashSet::new(), HashSet::new(), HashSet::new());
        let mut halves = [HashSet::new(), HashSet::new()];
        for _ in 0..1000 {
            let program = any_program().new_tree(&mut runner).expect("a program").current();
            for instr in &program.code {
                kinds.insert((discriminant(instr), instr.control().is_some()));
                ops.extend(instr.ariths().map(|a| (a.op, a.sat, a.special)));
                primaries.extend(instr.primary().map(|p| discriminant(&p)));
                controls
                    .extend(instr.control().map(|c| (discriminant(&c), instr.condition().map(|c| discriminant(&c)))));
                if let Instr::Split(split, _) = instr {
                    halves[0].insert((split.kind, split.first.op));
                    halves[1].insert((split.kind, split.second.op));
                }
            }
        }
        let expected = Op::ALL.iter().map(|op| if op.writes_integer() { 1 } else { 6 }).sum::<usize>();
        assert_eq!(ops.len(), expected, "operations with their modifiers");
        assert_eq!(primaries.len(), 7, "arithmetic, trace, load, load4, store, texload, texstore");
        assert_eq!(controls.len(), 4 * 4, "each control operation alone and with each condition");
        assert_eq!(kinds.len(), 5, "primary, control, pair, split, split with a control operation");
        let componentwise = Op::ALL.iter().filter(|op| op.class() == OpClass::Componentwise).count();
        let scalar = Op::ALL.iter().filter(|op| op.is_scalar()).count();
        let halves = halves.map(|met| met.len());
        assert_eq!(halves, [2 * componentwise + 2, 2 * componentwise + scalar], "operations in the halves of splits");
    }
}
