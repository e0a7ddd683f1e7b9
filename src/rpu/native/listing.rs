//! Generated code as text.

use super::liveness::Liveness;
use super::translate::{self, Translation};
use super::uniformity::Known;
use super::{NATIVE, NO_VECTORS, best};
use crate::arith::Mode;
use crate::decode::DecodedProgram;
use crate::disasm;
use crate::isa::{IsaError, Program};
use crate::simd::InstructionSet;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why there is no listing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ListingError {
    /// The program is not valid, or has an import.
    #[error(transparent)]
    Program(#[from] IsaError),
    /// There is no translator for this CPU.
    #[error("the {engine} engine: {reason}")]
    Unsupported {
        /// The engine's name.
        engine: &'static str,
        /// Why.
        reason: &'static str,
    },
}

/// The code that the native engine generates for a program.
#[derive(Debug, Clone)]
pub struct NativeCode {
    /// The engine and the instruction set.
    pub vectors: &'static str,
    /// Bytes of code.
    pub bytes: usize,
    /// The code, line by line; the first million lines.
    pub lines: Vec<NativeLine>,
}

/// A line of generated code.
#[derive(Debug, Clone)]
pub struct NativeLine {
    /// The kind of the line.
    pub kind: NativeLineKind,
    /// The address of the program's instruction that it belongs to; code behind a function, for
    /// what seldom happens, belongs to none.
    pub address: Option<u32>,
    /// The text.
    pub text: String,
}

/// The kind of a line of generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeLineKind {
    /// The name of a function.
    Label,
    /// An instruction of the program.
    Program,
    /// An instruction of the CPU, with its offset.
    Cpu,
}

/// The note on an instruction at an address of a function.
fn note(known: &Known, pc: u32) -> &'static str {
    match (known.addresses.contains(&pc), known.branches.contains(&pc)) {
        (true, _) => "  ; uniform address",
        (false, true) => "  ; uniform branch",
        (false, false) => "",
    }
}

/// The most lines of [`code`]: others are left out. [`write_listing`] has all of them.
const MOST_LINES: usize = 1 << 20;

/// The code that the native engine generates for a program on this CPU: each instruction of the
/// program, then those of the CPU for it. Loads and stores whose address all lanes have in common,
/// and branches that they take together, whatever the program is given, are marked.
///
/// # Errors
/// When the program is not valid or has an import, or there is no translator.
pub fn code(program: &Program) -> Result<NativeCode, ListingError> {
    let translated = Translated::new(program)?;
    let mut lines = Vec::new();
    translated.for_each_line(program, |line| {
        if lines.len() < MOST_LINES {
            lines.push(line);
        }
    });
    Ok(NativeCode { vectors: translated.vectors, bytes: translated.translation.bytes.len(), lines })
}

/// A program and what the engine makes of it.
struct Translated {
    decoded: DecodedProgram,
    vectors: &'static str,
    translation: Translation,
}

impl Translated {
    fn new(program: &Program) -> Result<Translated, ListingError> {
        let decoded = DecodedProgram::new(program, Mode::F32(InstructionSet::detect()))?;
        let vectors = best().ok_or(ListingError::Unsupported { engine: NATIVE.name, reason: NO_VECTORS })?;
        let translation = translate::translate(&decoded, vectors);
        Ok(Translated { decoded, vectors: vectors.name(), translation })
    }

    /// Gives each line in its order. One program has some millions of them, so none is kept.
    fn for_each_line(&self, program: &Program, mut give: impl FnMut(NativeLine)) {
        let Translated { decoded, translation, .. } = self;
        let functions: BTreeMap<usize, u32> = translation.entries.iter().map(|(&pc, &at)| (at, pc)).collect();
        let known = translation.functions.iter().map(|translated| {
            let function = &translated.function;
            (function.entry, Known::new(decoded, function, &Liveness::new(decoded, function)))
        });
        let known: BTreeMap<u32, Known> = known.collect();
        let mut here = None;
        let mut starts = translation.lines.iter().copied().peekable();
        let texts: Vec<_> = disasm::code_lines(program).into_iter().filter(|line| !line.is_label).collect();
        let mut formatter = IntelFormatter::new();
        let mut address = None;
        for instruction in Decoder::new(64, &translation.bytes, DecoderOptions::NONE) {
            let at = instruction.ip() as usize;
            if let Some(&pc) = functions.get(&at) {
                here = known.get(&pc);
                let text = decoded.function_name(pc);
                give(NativeLine { kind: NativeLineKind::Label, address: Some(pc), text });
            }
            // Instructions without code of their own, such as copies, begin where the next one
            // does.
            while let Some((_, start)) = starts.next_if(|&(start, _)| start <= at) {
                address = start;
                if let Some(text) = start.and_then(|pc| texts.get(pc as usize)) {
                    let note = start.zip(here).map_or("", |(pc, known)| note(known, pc));
                    let text = format!("{}{note}", text.text.trim());
                    give(NativeLine { kind: NativeLineKind::Program, address, text });
                }
            }
            let mut text = format!("{at:>8x}  ");
            formatter.format(&instruction, &mut text);
            give(NativeLine { kind: NativeLineKind::Cpu, address, text });
        }
    }
}

/// The generated code as text, with a comment for each instruction of the program. `source` gives
/// the source line of an instruction by its address, as it is to be shown where another one begins.
///
/// # Errors
/// As [`code`].
pub fn listing(program: &Program, source: impl Fn(u32) -> Option<String>) -> Result<String, ListingError> {
    let mut text = String::new();
    write_listing(program, source, |line| {
        text.push_str(line);
        text.push('\n');
    })?;
    Ok(text)
}

/// As [`listing`], line by line: `write` gets each without its end.
///
/// # Errors
/// As [`code`].
pub fn write_listing(
    program: &Program,
    source: impl Fn(u32) -> Option<String>,
    mut write: impl FnMut(&str),
) -> Result<(), ListingError> {
    let translated = Translated::new(program)?;
    write(&format!("; {}, {} bytes", translated.vectors, translated.translation.bytes.len()));
    let mut shown = None;
    translated.for_each_line(program, |NativeLine { kind, address, text: line }| match kind {
        NativeLineKind::Label => {
            shown = None;
            write("");
            write(&format!("{line}:"));
        }
        NativeLineKind::Program => {
            let place = address.and_then(&source);
            if place.is_some() && place != shown {
                write(&format!("; {}", place.as_deref().unwrap_or_default()));
                shown = place;
            }
            write(&format!("; {:>6}  {line}", address.unwrap_or_default()));
        }
        NativeLineKind::Cpu => write(&line),
    });
    for &pc in &translated.translation.left_out {
        write("");
        write(&format!("{}:", translated.decoded.function_name(pc)));
        write("; too much code: the interpreter runs it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_more_loads_than_are_translated_is_named_and_left_to_the_interpreter() {
        // More than are translated with any instruction set, however short the code of a load is.
        let text = format!("SUBROUTINE_ENTRY_main:\n{}return\n", "load4 A.x, 0\n".repeat(1 << 19));
        let assembly = crate::asm::assemble(&text, shadewright_base::text::source::FileId(0)).expect("assembles");
        let Ok(listing) = listing(&assembly.program, |_| None) else { return };
        assert!(listing.ends_with("\nmain:\n; too much code: the interpreter runs it\n"), "{}", listing.len());
    }
}
