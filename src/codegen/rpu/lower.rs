//! One machine instruction of [`super::vcode`] as an instruction of the RPU: for output, for
//! latencies and to ask whether two fit one issue slot.

use super::RECORD_TEXTURE;
use super::vcode::{MArith, MInst, MOp, MSplit, MSrc, RegisterOperand};
use shadewright_rpu::isa::{Arith, Dst, DstReg, Instr, Primary, Reg, Split, Src};

/// Why an instruction is not one of the RPU's yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotLowered {
    /// It has a virtual register, or writes what cannot be written.
    Virtual,
    /// The offset does not fit.
    Offset,
    /// It is more than one instruction.
    Call,
}

/// A source.
fn source(s: MSrc) -> Result<Src, NotLowered> {
    match s {
        MSrc::Lit(bits) => Ok(Src::Literal(bits)),
        MSrc::Reg { place: RegisterOperand::P(reg), swizzle, mult } => Ok(Src::Reg { reg, swizzle, multiplier: mult }),
        MSrc::Reg { place: RegisterOperand::V(_), .. } => Err(NotLowered::Virtual),
    }
}

/// Arithmetic.
fn arith(a: &MArith) -> Result<Arith, NotLowered> {
    let reg = match a.dst {
        RegisterOperand::P(Reg::R(n)) => DstReg::R(n),
        RegisterOperand::P(Reg::Stack(n)) => DstReg::Stack(n),
        RegisterOperand::P(Reg::A) => DstReg::A,
        _ => return Err(NotLowered::Virtual),
    };
    let mut sources = [Src::Literal(0); 3];
    for (to, &from) in sources.iter_mut().zip(&a.src) {
        *to = source(from)?;
    }
    let mut arith = Arith::new(a.op, Dst { reg, mask: a.mask }, &sources);
    arith.sat = a.sat;
    arith.special = a.special.map(|s| s.op);
    Ok(arith)
}

/// Two operations in one issue slot.
pub fn split(s: &MSplit) -> Result<Split, NotLowered> {
    Ok(Split { kind: s.kind, first: arith(&s.first)?, second: arith(&s.second)? })
}

/// An instruction without control.
pub fn instr(inst: &MInst) -> Result<Instr, NotLowered> {
    let offset = |offset: i32| i16::try_from(offset).map_err(|_| NotLowered::Offset);
    let primary = match &inst.op {
        MOp::Arith(a) => Primary::Arith(arith(a)?),
        MOp::Split(s) => return Ok(Instr::Split(split(s)?, None)),
        MOp::Trace { src: [orig, dir, arg] } => {
            Primary::Trace { orig: source(*orig)?, dir: source(*dir)?, arg: source(*arg)? }
        }
        MOp::Load { to, base, offset: o, .. } => Primary::Load { to: *to, base: *base, offset: offset(*o)? },
        MOp::Store { base, offset: o, src, .. } => {
            Primary::Store { base: *base, offset: offset(*o)?, src: source(*src)? }
        }
        MOp::Record { src, .. } => {
            Primary::TexStore { texture: RECORD_TEXTURE, coord: Src::Literal(0), src: source(*src)? }
        }
        MOp::Call { .. } => return Err(NotLowered::Call),
    };
    Ok(Instr::Primary(primary))
}
