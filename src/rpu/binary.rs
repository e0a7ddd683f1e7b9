//! The binary form of programs: 32-bit words, little-endian in files.
//!
//! Decoding checks everything, so that a corrupt or hostile file gives an error that names the
//! instruction, and a decoded program is valid.
//!
//! # Layout
//!
//! | words | content |
//! |---|---|
//! | 1 | magic: the bytes `RPU` and 0x1a |
//! | 1 | version, 2 |
//! | 1 | number of instructions |
//! | 1 | number of entry points |
//! | 1 | number of constant registers that the program sets, from `C0` on |
//! | 1 | number of strings |
//! | 1 | number of imports |
//! | … | the instructions, of varying length |
//! | … | the entry points: code address (1 word), length of the name in bytes (1 word), the name in UTF-8, padded with zeros to a whole word |
//! | … | the constants: four words each |
//! | … | the strings: identifier (1 word), length and text as for a name |
//! | … | the imports: code address of the call (1 word), length and name of the entry point |
//!
//! An instruction is a head, a dependency word if its head says so, a control word if it jumps or
//! calls, and its operands, in this order. A code address is the number of an instruction, not of a
//! word.
//!
//! ## Head
//!
//! | bits | field | meaning |
//! |---|---|---|
//! | 0–5 | opcode | 0 control alone · 1 `trace` · 2 `load` · 3 `load4` · 4 `store` · 5 `texload` · 6 `texstore` · 7 split · 8–15 reserved · 16 + n operation n of [`Op::ALL`] |
//! | 6 | sat | `_sat` |
//! | 7–8 | special | 0 none · 1 `_rcp` · 2 `_rsq` |
//! | 9–13 | destination | 0–15 `R` · 16–23 `S0`–`S7` · 24 `A`; of `load` and `texload`: 0–3 `I` |
//! | 14–17 | write mask | `x` lowest |
//! | 18–20 | control | 0 none · 1 `jmp` · 2 `call` label · 3 `call` register · 4 `return` |
//! | 21–22 | condition | 0 none · 1 always · 2 or · 3 and |
//! | 23–26 | condition's components | `x` lowest |
//! | 27–30 | condition's ranges | elementary ranges as in [`Ranges`] |
//! | 31 | waits | a dependency word follows: the bits of [`Waits`] (0–14 the instruction 1–15 slots earlier, 15 all older ones; 16–31 are 0). All instructions of a program have one, or none |
//!
//! Fields without a meaning for an instruction are 0.
//!
//! ## Control word (`jmp`, `call`)
//!
//! | bits | field | meaning |
//! |---|---|---|
//! | 0–23 | target | code address; for a register: its code (0–6) and component (7–8) |
//! | 24–27 | push | shift of the window |
//! | 28–31 | | 0 |
//!
//! ## Operands
//!
//! The operands of a split are two heads of arithmetic (bits 18–31 are 0), then the sources of the
//! first half, then those of the second; its own head has the control fields alone. `texload` and
//! `texstore` start with a word that holds the number of the texture (0–255).
//!
//! A source is a word, followed by the pattern if it is a literal. The base and offset of `load`,
//! `load4` and `store` are a word: bits 0–2 the base (0–3 `A.x`–`A.w`, 4 `HIT_TRI`, 5 `HIT_OBJ`),
//! bits 16–31 the offset in two's complement, others 0.
//!
//! | bits | field | meaning |
//! |---|---|---|
//! | 0–6 | register | 0–15 `R` · 16–47 `C` · 48–55 `S0`–`S7` · 56 `S` · 57–60 `I` · 61 `A` · 62 `HIT` · 63 `HIT_TRI` · 64 `HIT_OBJ` · 65 literal (other fields 0) |
//! | 7–14 | swizzle | two bits a position, `x`'s lowest |
//! | 15 | negate | the sign flips |
//! | 16–17 | scale | 0 ×1 · 1 ×2 · 2 ×4 · 3 ×½ |
//! | 18–31 | | 0 |

use crate::isa::{
    Arith, Base, Component, Condition, Control, Dst, DstReg, EntryPoint, Import, Instr, IsaError, MAX_CODE, Mask,
    Multiplier, Op, Primary, Program, Ranges, Reg, Scale, SpecialOp, Split, Src, Swizzle, Waits,
};
use thiserror::Error;

const MAGIC: u32 = u32::from_le_bytes([b'R', b'P', b'U', 0x1a]);
const VERSION: u32 = 2;
const LITERAL: u32 = 65;

/// Opcodes of what is not arithmetic, and of the first arithmetic operation.
mod opcode {
    pub const CONTROL: u32 = 0;
    pub const TRACE: u32 = 1;
    pub const LOAD: u32 = 2;
    pub const LOAD4: u32 = 3;
    pub const STORE: u32 = 4;
    pub const TEXLOAD: u32 = 5;
    pub const TEXSTORE: u32 = 6;
    pub const SPLIT: u32 = 7;
    pub const ARITH: u32 = 16;
}

/// Why a binary program cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BinaryError {
    /// Not a whole number of words, or no magic number.
    #[error("this is not a binary RPU program")]
    NotAProgram,
    /// Made by another version.
    #[error("the program has version {0} of the binary form; this reads version {VERSION}")]
    Version(u32),
    /// The words end too early.
    #[error("the program is cut off in {0}")]
    Truncated(BinaryLocation),
    /// Something follows the last entry point.
    #[error("{0} words follow the end of the program")]
    TrailingWords(usize),
    /// A field holds a value without meaning.
    #[error("{place} has an invalid {field}: {value}")]
    BadField {
        /// Where.
        place: BinaryLocation,
        /// Which.
        field: &'static str,
        /// The value.
        value: u32,
    },
    /// A larger count in the header than the words can hold.
    #[error("the header promises {0} instructions, entry points or other parts, more than the program can hold")]
    BadCount(u32),
    /// The fields are right, but the program is not.
    #[error(transparent)]
    Invalid(#[from] IsaError),
}

/// A place in a binary program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryLocation {
    /// The header.
    Header,
    /// The instruction with this code address.
    Instruction(usize),
    /// The entry point with this number.
    Entry(usize),
    /// The contents of the constant register with this number.
    Constant(usize),
    /// The string with this number.
    String(usize),
    /// The import with this number.
    Import(usize),
}

impl std::fmt::Display for BinaryLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BinaryLocation::Header => f.write_str("its header"),
            BinaryLocation::Instruction(n) => write!(f, "instruction {n}"),
            BinaryLocation::Entry(n) => write!(f, "entry point {n}"),
            BinaryLocation::Constant(n) => write!(f, "constant {n}"),
            BinaryLocation::String(n) => write!(f, "string {n}"),
            BinaryLocation::Import(n) => write!(f, "import {n}"),
        }
    }
}

/// A valid program as words.
///
/// # Errors
/// The errors of [`Program::validate`].
pub fn encode(program: &Program) -> Result<Vec<u32>, IsaError> {
    program.validate()?;
    let Program { code, waits, entries, imports, constants, strings } = program;
    let mut words = vec![MAGIC, VERSION];
    words.extend([code.len(), entries.len(), constants.len(), strings.len(), imports.len()].map(|count| count as u32));
    for (address, instr) in code.iter().enumerate() {
        encode_instr(instr, waits.get(address).copied(), &mut words);
    }
    for entry in entries {
        encode_named(entry.address, &entry.name, &mut words);
    }
    words.extend(constants.iter().flatten());
    for (id, text) in strings {
        encode_named(*id, text, &mut words);
    }
    for import in imports {
        encode_named(import.address, &import.name, &mut words);
    }
    Ok(words)
}

/// A number, and a text with its length.
fn encode_named(number: u32, text: &str, words: &mut Vec<u32>) {
    words.extend([number, text.len() as u32]);
    for chunk in text.as_bytes().chunks(4) {
        let mut bytes = [0; 4];
        bytes[..chunk.len()].copy_from_slice(chunk);
        words.push(u32::from_le_bytes(bytes));
    }
}

/// A valid program as the bytes of a file.
///
/// # Errors
/// The errors of [`Program::validate`].
pub fn to_bytes(program: &Program) -> Result<Vec<u8>, IsaError> {
    Ok(encode(program)?.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// The program in the bytes of a file.
///
/// # Errors
/// As [`decode`]; also when the length is not a multiple of four bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Program, BinaryError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(BinaryError::NotAProgram);
    }
    decode(&chunks.iter().map(|&c| u32::from_le_bytes(c)).collect::<Vec<_>>())
}

/// The program in words; valid.
///
/// # Errors
/// When the words are no program, of another version of the format, cut short or invalid.
pub fn decode(words: &[u32]) -> Result<Program, BinaryError> {
    let mut reader = Reader { words, place: BinaryLocation::Header };
    if words.first() != Some(&MAGIC) {
        return Err(BinaryError::NotAProgram);
    }
    reader.next()?;
    match reader.next()? {
        VERSION => {}
        other => return Err(BinaryError::Version(other)),
    }
    let mut counts = [0; 5];
    for count in &mut counts {
        *count = reader.next()?;
    }
    // Each thing takes at least one word, so neither allocates more than the input is long.
    if let Some(&count) = counts.iter().find(|&&count| count as usize > reader.words.len().min(MAX_CODE)) {
        return Err(BinaryError::BadCount(count));
    }
    let [instructions, entries, constants, strings, imports] = counts.map(|count| count as usize);
    let mut program = Program::default();
    for address in 0..instructions {
        reader.place = BinaryLocation::Instruction(address);
        let (instr, waits) = reader.instr()?;
        program.code.push(instr);
        program.waits.extend(waits);
    }
    for number in 0..entries {
        reader.place = BinaryLocation::Entry(number);
        let (address, name) = reader.named()?;
        program.entries.push(EntryPoint { name, address });
    }
    for number in 0..constants {
        reader.place = BinaryLocation::Constant(number);
        program.constants.push([reader.next()?, reader.next()?, reader.next()?, reader.next()?]);
    }
    for number in 0..strings {
        reader.place = BinaryLocation::String(number);
        program.strings.push(reader.named()?);
    }
    for number in 0..imports {
        reader.place = BinaryLocation::Import(number);
        let (address, name) = reader.named()?;
        program.imports.push(Import { address, name });
    }
    if !reader.words.is_empty() {
        return Err(BinaryError::TrailingWords(reader.words.len()));
    }
    program.validate()?;
    Ok(program)
}

fn encode_instr(instr: &Instr, waits: Option<Waits>, words: &mut Vec<u32>) {
    let primary = instr.primary();
    let mut head = match &primary {
        None if matches!(instr, Instr::Split(..)) => opcode::SPLIT,
        None => opcode::CONTROL,
        Some(Primary::Trace { .. }) => opcode::TRACE,
        Some(Primary::Load { to, .. }) => opcode::LOAD | u32::from(*to) << 9,
        Some(Primary::Load4 { .. }) => opcode::LOAD4,
        Some(Primary::Store { .. }) => opcode::STORE,
        Some(Primary::TexLoad { to, .. }) => opcode::TEXLOAD | u32::from(*to) << 9,
        Some(Primary::TexStore { .. }) => opcode::TEXSTORE,
        Some(Primary::Arith(arith)) => arith_head(arith),
    };
    let control = instr.control();
    head |= match control {
        None => 0,
        Some(Control::Jmp(_)) => 1,
        Some(Control::Call { .. }) => 2,
        Some(Control::CallReg { .. }) => 3,
        Some(Control::Return) => 4,
    } << 18;
    let test = |mode: u32, mask: Mask, ranges: Ranges| {
        mode << 21 | u32::from(mask.bits()) << 23 | u32::from(ranges.bits()) << 27
    };
    head |= match instr.condition() {
        None => 0,
        Some(Condition::Always) => 1 << 21,
        Some(Condition::Any(mask, ranges)) => test(2, mask, ranges),
        Some(Condition::All(mask, ranges)) => test(3, mask, ranges),
    };
    words.push(head | u32::from(waits.is_some()) << 31);
    words.extend(waits.map(|waits| u32::from(waits.0)));
    match control {
        None | Some(Control::Return) => {}
        Some(Control::Jmp(target)) => words.push(target),
        Some(Control::Call { target, push }) => words.push(target | u32::from(push) << 24),
        Some(Control::CallReg { reg, component, push }) => {
            words.push(reg_code(reg) | (component.index() as u32) << 7 | u32::from(push) << 24);
        }
    }
    if let Instr::Split(split, _) = instr {
        words.extend(split.halves().map(arith_head));
        split.halves().into_iter().flat_map(Arith::sources).for_each(|src| encode_src(src, words));
    }
    let Some(primary) = primary else { return };
    match primary {
        Primary::Load { base, offset, .. } | Primary::Load4 { base, offset } | Primary::Store { base, offset, .. } => {
            words.push(address_word(base, offset));
        }
        Primary::TexLoad { texture, .. } | Primary::TexStore { texture, .. } => words.push(texture.into()),
        Primary::Arith(_) | Primary::Trace { .. } => {}
    }
    primary.sources().for_each(|src| encode_src(&src, words));
}

fn arith_head(arith: &Arith) -> u32 {
    let dst = match arith.dst.reg {
        DstReg::R(n) => n,
        DstReg::Stack(n) => 16 + n,
        DstReg::A => 24,
    };
    let special = match arith.special {
        None => 0,
        Some(SpecialOp::Rcp) => 1,
        Some(SpecialOp::Rsq) => 2,
    };
    let mask = u32::from(arith.dst.mask.bits());
    (opcode::ARITH + arith.op as u32) | u32::from(arith.sat) << 6 | special << 7 | u32::from(dst) << 9 | mask << 14
}

fn reg_code(reg: Reg) -> u32 {
    match reg {
        Reg::R(n) => u32::from(n),
        Reg::C(n) => 16 + u32::from(n),
        Reg::Stack(n) => 48 + u32::from(n),
        Reg::Special => 56,
        Reg::I(n) => 57 + u32::from(n),
        Reg::A => 61,
        Reg::Hit => 62,
        Reg::HitTri => 63,
        Reg::HitObj => 64,
    }
}

fn encode_src(src: &Src, words: &mut Vec<u32>) {
    match *src {
        Src::Literal(bits) => words.extend([LITERAL, bits]),
        Src::Reg { reg, swizzle, multiplier } => {
            let scale = match multiplier.scale {
                Scale::One => 0,
                Scale::Two => 1,
                Scale::Four => 2,
                Scale::Half => 3,
            };
            let swizzle = u32::from(swizzle.bits());
            words.push(reg_code(reg) | swizzle << 7 | u32::from(multiplier.negate) << 15 | scale << 16);
        }
    }
}

fn address_word(base: Base, offset: i16) -> u32 {
    let base = match base {
        Base::A(component) => component.index() as u32,
        Base::HitTri => 4,
        Base::HitObj => 5,
    };
    base | u32::from(offset as u16) << 16
}

/// The words that are left to read, and the part of the file that they belong to.
struct Reader<'a> {
    words: &'a [u32],
    place: BinaryLocation,
}

/// `width` bits of a word from bit `low`.
fn field(word: u32, low: u32, width: u32) -> u32 {
    word >> low & ((1 << width) - 1)
}

impl Reader<'_> {
    fn next(&mut self) -> Result<u32, BinaryError> {
        let (&word, rest) = self.words.split_first().ok_or(BinaryError::Truncated(self.place))?;
        self.words = rest;
        Ok(word)
    }

    fn bad<T>(&self, field: &'static str, value: u32) -> Result<T, BinaryError> {
        Err(BinaryError::BadField { place: self.place, field, value })
    }

    /// Refuses bits that have no meaning here.
    fn zero(&self, name: &'static str, value: u32) -> Result<(), BinaryError> {
        if value == 0 { Ok(()) } else { self.bad(name, value) }
    }

    fn instr(&mut self) -> Result<(Instr, Option<Waits>), BinaryError> {
        let head = self.next()?;
        let waits = match field(head, 31, 1) {
            0 => None,
            _ => {
                let word = self.next()?;
                self.zero("dependency word", field(word, 16, 16))?;
                Some(Waits(word as u16))
            }
        };
        let control = match field(head, 18, 3) {
            0 => None,
            1 => {
                let word = self.next()?;
                self.zero("push in a jump", field(word, 24, 8))?;
                Some(Control::Jmp(word))
            }
            2 => {
                let word = self.next()?;
                self.zero("control word", field(word, 28, 4))?;
                Some(Control::Call { target: field(word, 0, 24), push: field(word, 24, 4) as u8 })
            }
            3 => {
                let word = self.next()?;
                self.zero("control word", field(word, 28, 4) | field(word, 9, 15))?;
                let (reg, push) = (self.reg(field(word, 0, 7))?, field(word, 24, 4) as u8);
                Some(Control::CallReg { reg, component: Component::from_index(field(word, 7, 2) as u8), push })
            }
            4 => Some(Control::Return),
            other => return self.bad("control operation", other),
        };
        let condition = self.condition(head)?;
        if field(head, 0, 6) == opcode::SPLIT {
            self.zero("modifier or mask", field(head, 6, 12))?;
            let split = self.split()?;
            return match (control, condition) {
                (None, None) => Ok((Instr::Split(split, None), waits)),
                (Some(control), Some(condition)) => Ok((Instr::Split(split, Some((control, condition))), waits)),
                _ => self.bad("combination of operation, control and condition", head),
            };
        }
        let primary = match field(head, 0, 6) {
            opcode::CONTROL => None,
            code if code < opcode::ARITH => Some(self.primary(code, head)?),
            code => Some(Primary::Arith(self.arith(code - opcode::ARITH, head)?)),
        };
        if !matches!(primary, Some(Primary::Arith(_))) {
            let load = matches!(field(head, 0, 6), opcode::LOAD | opcode::TEXLOAD);
            self.zero("modifier or mask", head >> 6 & 0xfff & if load { !0xf8 } else { !0 })?;
        }
        let instr = match (primary, control, condition) {
            (Some(primary), None, None) => Instr::Primary(primary),
            (None, Some(control), None) => Instr::Control(control),
            (Some(Primary::Arith(arith)), Some(control), Some(condition)) => Instr::Pair(arith, control, condition),
            _ => return self.bad("combination of operation, control and condition", head),
        };
        Ok((instr, waits))
    }

    fn split(&mut self) -> Result<Split, BinaryError> {
        let heads = [self.next()?, self.next()?];
        let mut halves = [Arith::new(Op::Mov, Dst { reg: DstReg::A, mask: Mask::NONE }, &[]); 2];
        for (half, head) in halves.iter_mut().zip(heads) {
            self.zero("head of a half", field(head, 18, 14))?;
            let Some(code) = field(head, 0, 6).checked_sub(opcode::ARITH) else {
                return self.bad("opcode of a half", field(head, 0, 6));
            };
            *half = self.arith(code, head)?;
        }
        let [first, second] = halves;
        Ok(Split::new(first, second))
    }

    fn condition(&self, head: u32) -> Result<Option<Condition>, BinaryError> {
        let mask = Mask::from_bits(field(head, 23, 4) as u8);
        let ranges = field(head, 27, 4);
        match field(head, 21, 2) {
            mode @ (0 | 1) => {
                self.zero("condition", field(head, 23, 8))?;
                Ok((mode == 1).then_some(Condition::Always))
            }
            mode => {
                let Some(ranges) = Ranges::from_bits(ranges as u8) else { return self.bad("set of ranges", ranges) };
                Ok(Some(if mode == 2 { Condition::Any(mask, ranges) } else { Condition::All(mask, ranges) }))
            }
        }
    }

    fn primary(&mut self, code: u32, head: u32) -> Result<Primary, BinaryError> {
        match code {
            opcode::TRACE => Ok(Primary::Trace { orig: self.src()?, dir: self.src()?, arg: self.src()? }),
            opcode::LOAD => {
                let (base, offset) = self.address()?;
                Ok(Primary::Load { to: field(head, 9, 5) as u8, base, offset })
            }
            opcode::LOAD4 => {
                let (base, offset) = self.address()?;
                Ok(Primary::Load4 { base, offset })
            }
            opcode::STORE => {
                let (base, offset) = self.address()?;
                Ok(Primary::Store { base, offset, src: self.src()? })
            }
            opcode::TEXLOAD => {
                Ok(Primary::TexLoad { to: field(head, 9, 5) as u8, texture: self.texture()?, coord: self.src()? })
            }
            opcode::TEXSTORE => {
                Ok(Primary::TexStore { texture: self.texture()?, coord: self.src()?, src: self.src()? })
            }
            other => self.bad("opcode", other),
        }
    }

    fn texture(&mut self) -> Result<u8, BinaryError> {
        let word = self.next()?;
        u8::try_from(word).or_else(|_| self.bad("texture", word))
    }

    /// Operation `code` of [`Op::ALL`], with the modifiers and the destination in its head.
    fn arith(&mut self, code: u32, head: u32) -> Result<Arith, BinaryError> {
        let Some(&op) = Op::ALL.get(code as usize) else { return self.bad("opcode", code + opcode::ARITH) };
        let special = match field(head, 7, 2) {
            0 => None,
            1 => Some(SpecialOp::Rcp),
            2 => Some(SpecialOp::Rsq),
            other => return self.bad("modifier", other),
        };
        let reg = match field(head, 9, 5) as u8 {
            n @ 0..16 => DstReg::R(n),
            n @ 16..24 => DstReg::Stack(n - 16),
            24 => DstReg::A,
            other => return self.bad("destination", u32::from(other)),
        };
        let mut sources = Vec::new();
        for _ in 0..op.arity() {
            sources.push(self.src()?);
        }
        let dst = Dst { reg, mask: Mask::from_bits(field(head, 14, 4) as u8) };
        Ok(Arith { sat: field(head, 6, 1) == 1, special, ..Arith::new(op, dst, &sources) })
    }

    fn reg(&self, code: u32) -> Result<Reg, BinaryError> {
        Ok(match code as u8 {
            n @ 0..16 => Reg::R(n),
            n @ 16..48 => Reg::C(n - 16),
            n @ 48..56 => Reg::Stack(n - 48),
            56 => Reg::Special,
            n @ 57..61 => Reg::I(n - 57),
            61 => Reg::A,
            62 => Reg::Hit,
            63 => Reg::HitTri,
            64 => Reg::HitObj,
            other => return self.bad("register", u32::from(other)),
        })
    }

    fn src(&mut self) -> Result<Src, BinaryError> {
        let word = self.next()?;
        if word == LITERAL {
            return Ok(Src::Literal(self.next()?));
        }
        self.zero("source", field(word, 18, 14))?;
        let reg = self.reg(field(word, 0, 7))?;
        let multiplier = Multiplier { negate: field(word, 15, 1) == 1, scale: Scale::ALL[field(word, 16, 2) as usize] };
        Ok(Src::Reg { reg, swizzle: Swizzle::from_bits(field(word, 7, 8) as u8), multiplier })
    }

    fn address(&mut self) -> Result<(Base, i16), BinaryError> {
        let word = self.next()?;
        self.zero("address", field(word, 3, 13))?;
        let base = match field(word, 0, 3) {
            n @ 0..4 => Base::A(Component::from_index(n as u8)),
            4 => Base::HitTri,
            5 => Base::HitObj,
            other => return self.bad("base address", other),
        };
        Ok((base, field(word, 16, 16) as u16 as i16))
    }

    /// A number, and a text with its length.
    fn named(&mut self) -> Result<(u32, String), BinaryError> {
        let (number, len) = (self.next()?, self.next()?);
        if len.div_ceil(4) as usize > self.words.len() {
            return self.bad("length of its text", len);
        }
        let mut bytes = Vec::new();
        for _ in 0..len.div_ceil(4) {
            bytes.extend(self.next()?.to_le_bytes());
        }
        let padding = bytes.split_off(len as usize);
        match String::from_utf8(bytes) {
            Ok(text) if padding.iter().all(|&b| b == 0) => Ok((number, text)),
            _ => self.bad("text", len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary::{any_object, any_program};
    use crate::asm::assemble;
    use crate::block::Block;
    use crate::disasm::disassemble;
    use crate::executable::Executable;
    use crate::execution::{ExecutionContext, Limits};
    use crate::texture::Texture;
    use crate::tracing::EmptyScene;
    use proptest::prelude::*;
    use shadewright_base::text::source::FileId;
    use std::sync::atomic::AtomicBool;

    /// Runs anything; only that it ends matters.
    fn run(program: &Program) {
        if !program.imports.is_empty() {
            return;
        }
        let executable = Executable::new(program).expect("valid");
        let stop = AtomicBool::new(false);
        let context = ExecutionContext {
            program: &executable,
            constants: &[[0x3f00_0000; 4]; 32],
            memory: &[[1, 2, 3, 4]; 10],
            textures: &[Texture { base: 2, width: 2, height: 3 }],
            shaders: &[0],
            tracer: &EmptyScene,
            limits: Limits { budget: 50, call_depth: 20, scratch: 16 },
            stop: &stop,
        };
        // An error is as good an end as any.
        let _ = context.run(&mut Block::new(), 0, 0x1234_5678_9abc_def1);
    }

    proptest! {
        #[test]
        fn assembly_binary_and_assembly_again_are_the_same_program(program in any_object()) {
            let words = encode(&program).expect("valid");
            prop_assert_eq!(&decode(&words).expect("decodes"), &program);
            let text = disassemble(&program);
            let again = assemble(&text, FileId(0));
            prop_assert!(again.is_ok(), "{}\n{:?}", text, again.err());
            let again = again.expect("checked").program;
            prop_assert_eq!(&again, &program, "{}", text);
            prop_assert_eq!(disassemble(&again), text);
        }

        #[test]
        fn any_valid_program_runs_to_an_end(program in any_program()) {
            run(&program);
        }

        #[test]
        fn random_words_never_panic(words in prop::collection::vec(any::<u32>(), 0..40), count in 0u32..20) {
            let _ = decode(&words);
            let mut program = vec![MAGIC, VERSION, count, 0, 0, 0, 0];
            program.extend(words);
            if let Ok(program) = decode(&program) {
                run(&program);
            }
        }

        #[test]
        fn a_flipped_bit_gives_an_error_or_another_valid_program(program in any_program(), bit in any::<prop::sample::Index>()) {
            let mut bytes = to_bytes(&program).expect("valid");
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(other) = from_bytes(&bytes) {
                prop_assert_ne!(&other, &program);
                run(&other);
            }
        }

        #[test]
        fn a_truncated_program_is_refused(program in any_object(), keep in any::<prop::sample::Index>()) {
            let bytes = to_bytes(&program).expect("valid");
            prop_assert!(from_bytes(&bytes[..keep.index(bytes.len())]).is_err());
        }
    }

    #[test]
    fn a_program_has_at_most_16777216_instructions() {
        let mut words = vec![0; 7 + 16_777_217];
        words[..3].copy_from_slice(&[MAGIC, VERSION, 16_777_217]);
        assert_eq!(decode(&words), Err(BinaryError::BadCount(16_777_217)));
    }

    #[test]
    fn errors_name_the_instruction() {
        let program =
            assemble("SUBROUTINE_ENTRY_f: mov R0, R1\njmp SUBROUTINE_ENTRY_f", FileId(0)).expect("right").program;
        let words = encode(&program).expect("valid");
        assert_eq!(words.len(), 7 + 2 + 2 + 3);
        let error = |at: usize, word: u32| {
            let mut words = words.clone();
            words[at] = word;
            decode(&words).expect_err("damaged").to_string()
        };
        assert_eq!(error(0, 1), "this is not a binary RPU program");
        assert_eq!(error(1, 9), "the program has version 9 of the binary form; this reads version 2");
        assert_eq!(
            error(2, u32::MAX),
            "the header promises 4294967295 instructions, entry points or other parts, more than the program can hold"
        );
        assert_eq!(error(7, 63), "instruction 0 has an invalid opcode: 63");
        assert_eq!(error(8, 99), "instruction 0 has an invalid register: 99");
        assert_eq!(error(10, 2), "instruction 1: code address 2 is outside the program, which has 2 instructions");
        assert_eq!(error(11, 5), "code address 5 is outside the program, which has 2 instructions");
        assert_eq!(error(12, u32::MAX), "entry point 0 has an invalid length of its text: 4294967295");
        assert_eq!(decode(&words[..10]).expect_err("cut").to_string(), "the program is cut off in instruction 1");
        let longer: Vec<u32> = words.iter().copied().chain([0]).collect();
        assert_eq!(decode(&longer), Err(BinaryError::TrailingWords(1)));
        assert_eq!(from_bytes(&[1, 2, 3]), Err(BinaryError::NotAProgram));
    }
}
