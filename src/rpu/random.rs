//! Random programs that run, for comparisons of engines ([`super::agreement`]).
//!
//! They are dense in what engines treat differently: few registers, copies and the loads that
//! overwrite what was copied, jumps that keep values alive, addresses inside and outside of both
//! memories, calls, and all kinds of NaN.

use crate::isa::{
    Arith, Base, Component, Condition, Control, Dst, DstReg, Instr, MAX_PUSH, Mask, Multiplier, Op, Primary, Program,
    Ranges, Reg, Scale, SpecialOp, Split, Src, Swizzle,
};
use crate::limits::SCRATCH_BASE;
use shadewright_base::random::hash;

/// Where a generator's decisions come from: bytes, such as a fuzzer's, and random numbers after
/// them.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: u32,
}

impl<'a> Choices<'a> {
    /// The choices of a seed.
    pub fn from_seed(seed: u32) -> Choices<'a> {
        Choices { bytes: &[], state: hash(seed ^ 0x5eed_0000) }
    }

    /// The choices of bytes, then of a fixed seed.
    pub fn from_bytes(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes, ..Choices::from_seed(0) }
    }

    /// A number below `n`, which is 1 to 256.
    pub fn below(&mut self, n: u32) -> u32 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                u32::from(*byte) % n
            }
            None => self.word() % n,
        }
    }

    fn word(&mut self) -> u32 {
        match self.bytes.split_first_chunk() {
            Some((word, rest)) => {
                self.bytes = rest;
                u32::from_le_bytes(*word)
            }
            None => {
                self.state = self.state.wrapping_add(0x9e37_79b9);
                hash(self.state)
            }
        }
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }

    /// A bit pattern: a NaN, an infinity, a zero, a denormal, an integer, an address or a float.
    pub fn pattern(&mut self) -> u32 {
        let sign = self.below(2) << 31;
        match self.below(8) {
            0 => sign | 0x7fc0_0000 | self.word() >> 10,
            1 => sign | 0x7f80_0001 | self.word() >> 10,
            2 => sign | self.choose(&[0x7f80_0000, 0, 1, 0x007f_ffff, 0x3f80_0000, 0x7f7f_ffff]),
            3 => self.below(48),
            4 => SCRATCH_BASE + self.below(28),
            _ => ((self.word() >> 8) as f32 / 2e6 - 4.0).to_bits(),
        }
    }

    /// An address, most often in the image of 40 vectors or in the 20 of scratch memory that
    /// [`super::agreement`] has, at their ends and in neither.
    pub fn address(&mut self) -> u32 {
        match self.below(8) {
            0..=2 => self.below(40),
            3 => 34 + self.below(8),
            4 | 5 => SCRATCH_BASE + self.below(18),
            6 => SCRATCH_BASE + 15 + self.below(8),
            _ => self.choose(&[100, u32::MAX, SCRATCH_BASE - 2, SCRATCH_BASE + 100, 0x3f80_0000]),
        }
    }
}

fn mask(c: &mut Choices<'_>) -> Mask {
    if c.flag() { Mask::XYZW } else { Mask::from_bits(1 + c.below(15) as u8) }
}

fn component(c: &mut Choices<'_>) -> Component {
    c.choose(&Component::ALL)
}

/// A register that is read, one of few.
fn reg(c: &mut Choices<'_>) -> Reg {
    match c.below(16) {
        0..=5 => Reg::R(c.below(5) as u8),
        6..=9 => Reg::I(c.below(4) as u8),
        10 | 11 => Reg::Stack(c.below(4) as u8),
        12 => Reg::A,
        13 => Reg::C(c.choose(&[0, 1, 31])),
        14 => Reg::Special,
        _ => c.choose(&[Reg::Hit, Reg::HitTri, Reg::HitObj]),
    }
}

fn src(c: &mut Choices<'_>) -> Src {
    if c.below(6) == 0 {
        return Src::Literal(c.pattern());
    }
    let reg = reg(c);
    let swizzle = if c.flag() { Swizzle::IDENTITY } else { Swizzle::from_bits(c.below(256) as u8) };
    let multiplier = match c.below(4) {
        0 => Multiplier { negate: c.flag(), scale: c.choose(&Scale::ALL) },
        1 => Multiplier::MINUS_ONE,
        _ => Multiplier::ONE,
    };
    Src::Reg { reg, swizzle, multiplier }
}

fn target(c: &mut Choices<'_>) -> DstReg {
    match c.below(8) {
        0 => DstReg::Stack(c.below(4) as u8),
        1 if c.below(4) == 0 => DstReg::A,
        _ => DstReg::R(c.below(5) as u8),
    }
}

fn arith(c: &mut Choices<'_>) -> Arith {
    let op =
        if c.flag() { c.choose(&[Op::Mov, Op::Add, Op::Mul, Op::Mad, Op::Dp2h, Op::Iadd]) } else { c.choose(Op::ALL) };
    let dst = Dst { reg: target(c), mask: if op.is_scalar() { Mask::W } else { mask(c) } };
    let mut arith = Arith::new(op, dst, &[src(c), src(c), src(c)]);
    if !op.writes_integer() {
        arith.sat = c.below(8) == 0;
        arith.special = c.choose(&[None, None, None, None, None, None, Some(SpecialOp::Rcp), Some(SpecialOp::Rsq)]);
    }
    arith
}

/// A move that takes no instruction of a CPU.
fn copy(c: &mut Choices<'_>) -> Arith {
    let from = Src::reg(if c.flag() { Reg::I(c.below(2) as u8) } else { reg(c) });
    Arith::new(Op::Mov, Dst { reg: target(c), mask: mask(c) }, &[from])
}

/// An instruction that sets a component of `A`: to an address that all lanes have in common, or one
/// of each.
fn set_address(c: &mut Choices<'_>) -> Arith {
    let mask = Mask::from_bits(1 << c.below(4));
    let dst = Dst { reg: DstReg::A, mask };
    match c.below(3) {
        0 => Arith::new(Op::Mov, dst, &[Src::component(Reg::R(c.below(5) as u8), component(c))]),
        1 => Arith::new(
            Op::Iadd,
            Dst { mask: Mask::W, ..dst },
            &[Src::component(Reg::A, component(c)), Src::Literal(c.below(6).wrapping_sub(2))],
        ),
        _ => Arith::new(Op::Mov, dst, &[Src::Literal(c.address())]),
    }
}

fn base(c: &mut Choices<'_>) -> Base {
    match c.below(8) {
        0 => Base::HitTri,
        1 => Base::HitObj,
        _ => Base::A(component(c)),
    }
}

fn offset(c: &mut Choices<'_>) -> i16 {
    c.choose(&[0, 0, 0, 1, 2, 3, 5, -1, -3, 18, 36, 100, i16::MIN, i16::MAX])
}

/// A store to scratch memory, at an address that all lanes have in common or at one of each.
fn store(c: &mut Choices<'_>) -> [Instr; 3] {
    let w =
        |reg, op, sources: &[Src]| Instr::Primary(Primary::Arith(Arith::new(op, Dst { reg, mask: Mask::W }, sources)));
    let index =
        if c.flag() { Src::Literal(c.below(16)) } else { Src::component(Reg::R(c.below(5) as u8), component(c)) };
    [
        w(DstReg::R(15), Op::Iand, &[index, Src::Literal(15)]),
        w(DstReg::A, Op::Ior, &[Src::component(Reg::R(15), Component::W), Src::Literal(SCRATCH_BASE)]),
        Instr::Primary(Primary::Store { base: Base::A(Component::W), offset: c.choose(&[0, 0, 1, 4]), src: src(c) }),
    ]
}

fn condition(c: &mut Choices<'_>, arith: &[&Arith]) -> Condition {
    let integer = arith.iter().any(|a| a.op.is_scalar());
    let mask = if integer { Mask::W } else { mask(c) };
    let ranges = Ranges::from_bits(1 + c.below(15) as u8).unwrap_or(Ranges::ANY_NUMBER);
    match c.below(8) {
        0 => Condition::Always,
        1..=4 => Condition::Any(mask, ranges),
        _ => Condition::All(mask, ranges),
    }
}

fn split(c: &mut Choices<'_>) -> Split {
    let (mut first, mut second) = (arith(c), arith(c));
    let three_one = c.flag();
    first.special = None;
    first.dst.mask = Mask::from_bits(if three_one { 1 + c.below(7) } else { 1 + c.below(3) } as u8);
    second.dst.mask = if three_one { Mask::W } else { Mask::from_bits(c.choose(&[4, 12])) };
    Split::new(first, second)
}

/// The instructions of one step: one, but for a store or a call of a register, whose address is set
/// before.
fn step(c: &mut Choices<'_>, pc: u32, len: u32) -> Vec<Instr> {
    let forward = |c: &mut Choices<'_>| (pc + 1 + c.below(6)).min(len - 1);
    let pair = |c: &mut Choices<'_>, control| {
        let arith = arith(c);
        Instr::Pair(arith, control, condition(c, &[&arith]))
    };
    let primary = |primary| vec![Instr::Primary(primary)];
    match c.below(32) {
        0..=4 => primary(Primary::Arith(arith(c))),
        5..=8 => primary(Primary::Arith(copy(c))),
        9..=14 => {
            let to = c.choose(&[0, 0, 0, 1, 1, 3]);
            primary(Primary::Load { to, base: base(c), offset: offset(c) })
        }
        15 | 16 => primary(Primary::Load4 { base: base(c), offset: offset(c) }),
        17 | 18 => store(c).into(),
        19 | 20 => primary(Primary::Arith(set_address(c))),
        21..=24 => {
            let to = forward(c);
            vec![pair(c, Control::Jmp(to))]
        }
        25 => {
            let split = split(c);
            let to = forward(c);
            let jumps = c.flag();
            let condition = condition(c, &split.halves());
            vec![Instr::Split(split, jumps.then_some((Control::Jmp(to), condition)))]
        }
        26 => {
            let back = c.below(pc + 1).max(pc.saturating_sub(8));
            vec![pair(c, Control::Jmp(back))]
        }
        27 => {
            let call = Control::Call { target: forward(c), push: c.below(u32::from(MAX_PUSH) + 1) as u8 };
            if c.flag() { vec![pair(c, call)] } else { vec![Instr::Control(call)] }
        }
        28 => {
            let target = if c.below(4) == 0 { c.below(pc + 1) } else { forward(c) };
            let push = c.below(u32::from(MAX_PUSH) + 1) as u8;
            vec![pair(c, Control::Call { target, push })]
        }
        29 => {
            // Lanes call different functions where their conditions differ.
            let dst = Dst { reg: DstReg::R(15), mask: Mask::W };
            let address = Arith::new(Op::Mov, dst, &[Src::Literal((pc + 2 + c.below(8)).min(len - 1))]);
            let push = c.below(4) as u8;
            let call = Control::CallReg { reg: Reg::R(15), component: Component::W, push };
            vec![Instr::Primary(Primary::Arith(address)), if c.flag() { pair(c, call) } else { Instr::Control(call) }]
        }
        30 => match c.below(3) {
            0 => primary(Primary::Trace { orig: src(c), dir: src(c), arg: src(c) }),
            1 => primary(Primary::TexLoad { to: c.below(2) as u8, texture: c.below(2) as u8, coord: src(c) }),
            _ => primary(Primary::TexStore { texture: 0, coord: src(c), src: src(c) }),
        },
        _ => vec![pair(c, Control::Return)],
    }
}

/// A program of up to 50 instructions, which is run from its first.
pub fn program(c: &mut Choices<'_>) -> Program {
    let len = 8 + c.below(40);
    let mut code = Vec::new();
    while (code.len() as u32) < len - 1 {
        let instructions = step(c, code.len() as u32, len);
        code.extend(instructions.into_iter().filter(|instr| instr.validate().is_ok()));
    }
    code.truncate(len as usize - 1);
    code.push(Instr::Control(Control::Return));
    let constants = (0..2).map(|_| [(); 4].map(|()| c.pattern())).collect();
    Program { code, constants, ..Program::default() }
}
