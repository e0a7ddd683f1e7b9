//! Generated code as text.

use super::{NATIVE, NO_VECTORS, best, translate};
use crate::rpu::arith::Mode;
use crate::rpu::decode::DecodedProgram;
use crate::rpu::disasm;
use crate::rpu::isa::{IsaError, Program};
use crate::rpu::simd::InstructionSet;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
use std::collections::BTreeMap;
use std::fmt::Write as _;
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

/// The code that the native engine generates for a program on this CPU: for each instruction of the
/// program a comment, then a line for each instruction of the CPU, with its offset.
///
/// # Errors
/// When the program is not valid or has an import, or there is no translator.
pub fn listing(program: &Program) -> Result<String, ListingError> {
    let decoded = DecodedProgram::new(program, Mode::F32(InstructionSet::detect()))?;
    let vectors = best().ok_or(ListingError::Unsupported { engine: NATIVE.name, reason: NO_VECTORS })?;
    let translation = translate::translate(&decoded, vectors);
    let names: BTreeMap<u32, &str> = program.entries.iter().map(|entry| (entry.address, &*entry.name)).collect();
    let functions: BTreeMap<usize, u32> = translation.entries.iter().map(|(&pc, &at)| (at, pc)).collect();
    let lines: BTreeMap<usize, u32> = translation.lines.iter().copied().collect();
    let texts: Vec<_> = disasm::code_lines(program).into_iter().filter(|line| !line.is_label).collect();
    let mut text = format!("; {}, {} bytes\n", vectors.name(), translation.bytes.len());
    let mut formatter = IntelFormatter::new();
    let mut line = String::new();
    for instruction in Decoder::new(64, &translation.bytes, DecoderOptions::NONE) {
        let at = instruction.ip() as usize;
        if let Some(pc) = functions.get(&at) {
            let name = names.get(pc).map_or_else(|| format!("function_{pc}"), |name| (*name).to_string());
            let _ = writeln!(text, "\n{name}:");
        }
        if let Some(&pc) = lines.get(&at)
            && let Some(code) = texts.get(pc as usize)
        {
            let _ = writeln!(text, "; {pc:>6}  {}", code.text.trim());
        }
        line.clear();
        formatter.format(&instruction, &mut line);
        let _ = writeln!(text, "{at:>8x}  {line}");
    }
    Ok(text)
}
