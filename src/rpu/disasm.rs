//! Assembly text of instructions and programs: what [`super::asm`] reads.
//!
//! The syntax is that of the listings in Węgrzanowski 2006, chapter 12. Every valid program,
//! printed and assembled again, is the same program.

use crate::isa::{
    Arith, Base, Component, Condition, Control, Dst, DstReg, Instr, Mask, Op, Primary, Program, Ranges, Reg, Scale,
    Src, Swizzle, Waits,
};
use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Display, Write};

/// The prefix of an entry point's label.
pub const ENTRY_PREFIX: &str = "SUBROUTINE_ENTRY_";

/// The ranges a condition can name, with their texts. The order decides nothing: each set is there
/// once.
pub(super) const RANGE_TEXTS: [(u8, &str); 11] = [
    (0b0001, "<0"),
    (0b0010, "=0"),
    (0b0011, "<0 or =0"),
    (0b0110, ">=0 and <1"),
    (0b0111, "<1"),
    (0b1000, ">=1"),
    (0b1001, "<0 or >=1"),
    (0b1010, "=0 or >=1"),
    (0b1011, "<0 or =0 or >=1"),
    (0b1110, ">=0"),
    (0b1111, ">=0 or <1"),
];

/// The whole program as assembly text, one instruction a line; jump targets become labels `L` +
/// code address.
pub fn disassemble(program: &Program) -> String {
    disassemble_with(program, |_| None)
}

/// Like [`disassemble`], with a comment above each instruction for which `comment` gives one (it
/// may have several lines).
pub fn disassemble_with(program: &Program, comment: impl Fn(usize) -> Option<String>) -> String {
    let mut text = declarations(program);
    for CodeLine { address, text: line, is_label } in code_lines(program) {
        if !is_label {
            for line in comment(address).iter().flat_map(|c| c.lines()) {
                push_line(&mut text, format_args!("; {line}"));
            }
        }
        push_line(&mut text, format_args!("{line}"));
    }
    text
}

/// A line of the code of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The code address that it is about.
    pub address: usize,
    /// The text.
    pub text: String,
    /// True if it names the address; else it is the instruction there.
    pub is_label: bool,
}

/// The code as [`disassemble`] writes it, line by line.
pub fn code_lines(program: &Program) -> Vec<CodeLine> {
    let labels = label_names(program);
    let mut lines = Vec::new();
    let mut imports = program.imports.iter().peekable();
    let mut entries: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    program.entries.iter().for_each(|entry| entries.entry(entry.address).or_default().push(&entry.name));
    for (address, instr) in program.code.iter().enumerate() {
        let entries = entries.get(&(address as u32)).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|name| format!("{ENTRY_PREFIX}{name}")).collect();
        names.extend(labels.get(&(address as u32)).filter(|label| !label.starts_with(ENTRY_PREFIX)).cloned());
        lines.extend(names.into_iter().map(|name| CodeLine { address, text: format!("{name}:"), is_label: true }));
        let waits = program.waits.get(address).map_or(String::new(), |waits| format!("{waits} "));
        let import = imports.next_if(|import| import.address as usize == address).map(|import| &*import.name);
        let text = format!("    {waits}{}", Labeled { instr, labels: &labels, import });
        lines.push(CodeLine { address, text, is_label: false });
    }
    lines
}

/// The lines that declare imports, constants and strings.
fn declarations(program: &Program) -> String {
    let mut text = String::new();
    let mut declared = HashSet::new();
    for import in &program.imports {
        if declared.insert(&import.name) {
            push_line(&mut text, format_args!(".extern {}", import.name));
        }
    }
    for (n, constant) in program.constants.iter().enumerate() {
        let [x, y, z, w] = constant.map(|bits| LiteralText { bits, op: Op::Mov });
        push_line(&mut text, format_args!(".const C{n}, {x}, {y}, {z}, {w}"));
    }
    for (id, string) in &program.strings {
        push_line(&mut text, format_args!(".string {id}, {}", Quoted(string)));
    }
    text
}

/// A text in quotes, on one line.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "{}", c.escape_unicode())?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

fn push_line(text: &mut String, line: fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

/// A label for every code address that the code refers to: an entry point's where there is one.
/// Labels `L…` never clash with entry points, whose labels start with [`ENTRY_PREFIX`].
fn label_names(program: &Program) -> BTreeMap<u32, String> {
    let local = |target: u32| {
        let mut label = format!("L{target}");
        while program.imports.iter().any(|import| import.name == label) {
            label.push('_');
        }
        label
    };
    let mut labels: BTreeMap<u32, String> =
        program.code.iter().filter_map(Instr::target).map(|t| (t, local(t))).collect();
    for entry in program.entries.iter().rev() {
        if let Some(label) = labels.get_mut(&entry.address) {
            *label = format!("{ENTRY_PREFIX}{}", entry.name);
        }
    }
    labels
}

/// An instruction with the names of its targets.
struct Labeled<'a> {
    instr: &'a Instr,
    labels: &'a BTreeMap<u32, String>,
    /// The entry point of another program that it calls.
    import: Option<&'a str>,
}

impl Display for Labeled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |target: u32| match (self.import, self.labels.get(&target)) {
            (Some(name), _) => format!("{ENTRY_PREFIX}{name}"),
            (None, Some(label)) => label.clone(),
            (None, None) => format!("L{target}"),
        };
        let control = |f: &mut fmt::Formatter<'_>, control: Control| match control {
            Control::Jmp(target) => write!(f, "jmp {}", label(target)),
            Control::Call { target, push } => write!(f, "call {} push {push}", label(target)),
            Control::CallReg { reg, component, push } => write!(f, "call {reg}.{} push {push}", component.letter()),
            Control::Return => f.write_str("return"),
        };
        match self.instr {
            Instr::Primary(primary) => write!(f, "{primary}"),
            Instr::Control(c) => control(f, *c),
            Instr::Pair(arith, ..) => write!(f, "{arith}"),
            Instr::Split(split, _) => write!(f, "{} | {}", split.first, split.second),
        }?;
        let (Some(c), Some(condition)) = (self.instr.control(), self.instr.condition()) else { return Ok(()) };
        f.write_str(" + ")?;
        control(f, c)?;
        let comma = matches!(c, Control::Jmp(_) | Control::Call { .. } | Control::CallReg { .. });
        write!(f, "{}{condition}", if comma { ", " } else { " " })
    }
}

/// One line of assembly; targets are written as `L` + code address.
impl Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Labeled { instr: self, labels: &BTreeMap::new(), import: None }.fmt(f)
    }
}

impl Display for Primary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Primary::Arith(arith) => write!(f, "{arith}"),
            Primary::Trace { orig, dir, arg } => write!(f, "trace {orig}, {dir}, {arg}"),
            Primary::Load { to, base, offset } => write!(f, "load I{to}, {base}, {offset}"),
            Primary::Load4 { base, offset } => write!(f, "load4 {base}, {offset}"),
            Primary::Store { base, offset, src } => write!(f, "store {base}, {offset}, {src}"),
            Primary::TexLoad { to, texture, coord } => write!(f, "texload I{to}, {texture}, {coord}"),
            Primary::TexStore { texture, coord, src } => write!(f, "texstore {texture}, {coord}, {src}"),
        }
    }
}

impl Display for Arith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op.name())?;
        if self.sat {
            f.write_str("_sat")?;
        }
        match self.special {
            Some(crate::isa::SpecialOp::Rcp) => f.write_str("_rcp")?,
            Some(crate::isa::SpecialOp::Rsq) => f.write_str("_rsq")?,
            None => {}
        }
        write!(f, " {}", self.dst)?;
        for src in self.sources() {
            match *src {
                Src::Literal(bits) => write!(f, ", {}", LiteralText { bits, op: self.op })?,
                Src::Reg { .. } => write!(f, ", {src}")?,
            }
        }
        Ok(())
    }
}

impl Display for Dst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reg)?;
        if self.mask != Mask::XYZW { write!(f, ".{}", self.mask) } else { Ok(()) }
    }
}

impl Display for DstReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Reg::from(*self).fmt(f)
    }
}

impl Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reg::R(n) => write!(f, "R{n}"),
            Reg::C(n) => write!(f, "C{n}"),
            Reg::Stack(n) => write!(f, "S{n}"),
            Reg::Special => f.write_str("S"),
            Reg::I(n) => write!(f, "I{n}"),
            Reg::A => f.write_str("A"),
            Reg::Hit => f.write_str("HIT"),
            Reg::HitTri => f.write_str("HIT_TRI"),
            Reg::HitObj => f.write_str("HIT_OBJ"),
        }
    }
}

impl Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::A(component) => write!(f, "A.{}", component.letter()),
            Base::HitTri => f.write_str("HIT_TRI"),
            Base::HitObj => f.write_str("HIT_OBJ"),
        }
    }
}

impl Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.components().try_for_each(|c| f.write_char(c.letter()))
    }
}

/// As short as the rule "the last letter repeats" allows; nothing for the identity.
impl Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.0[3];
        let len = self.0.iter().rposition(|&c| c != last).map_or(1, |i| i + 2);
        self.0[..len].iter().try_for_each(|c| f.write_char(c.letter()))
    }
}

impl Display for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Src::Literal(bits) => write!(f, "{}", LiteralText { bits, op: Op::Mov }),
            Src::Reg { reg, swizzle, multiplier } => {
                if multiplier.negate {
                    f.write_char('-')?;
                }
                if multiplier.scale != Scale::One {
                    write!(f, "{}*", multiplier.scale.factor())?;
                }
                write!(f, "{reg}")?;
                if swizzle != Swizzle::IDENTITY { write!(f, ".{swizzle}") } else { Ok(()) }
            }
        }
    }
}

/// A literal, as a float where it is an ordinary one, otherwise as `#` and its bit pattern.
struct LiteralText {
    bits: u32,
    op: Op,
}

impl Display for LiteralText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.op.reads_integers() {
            match self.bits as i32 {
                small @ -4096..=65535 => write!(f, "#{small}"),
                _ => write!(f, "#{:#x}", self.bits),
            }
        } else {
            f.write_str(&word(self.bits))
        }
    }
}

/// A bit pattern as a float where it is an ordinary one, otherwise as `#` and the pattern.
pub fn word(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value == 0.0 || value.is_normal() { format!("{value:?}") } else { format!("#{bits:#x}") }
}

impl Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = RANGE_TEXTS.iter().find(|(bits, _)| *bits == self.bits());
        f.write_str(text.map_or("", |(_, text)| text))
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Always => f.write_str("always"),
            Condition::Any(mask, ranges) if mask.len() == 1 => write!(f, "{mask} ({ranges})"),
            Condition::Any(mask, ranges) => write!(f, "or {mask} ({ranges})"),
            Condition::All(mask, ranges) => write!(f, "and {mask} ({ranges})"),
        }
    }
}

/// As the prefix of an instruction: distances, and `*` for all that are older.
impl Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distances = self.distances().map(|distance| distance.to_string());
        let all: Vec<String> = distances.chain(self.older().then(|| "*".to_string())).collect();
        write!(f, "[{}]", all.join(" "))
    }
}

impl Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(self.letter())
    }
}
