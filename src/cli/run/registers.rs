//! The RPU's registers before and after a run, as a table.

use super::Output;
use crate::cli::args::RunArgs;
use serde_json::{Map, json};
use shadewright::render::rpu::registers;
use shadewright::rpu::Block;
use shadewright::rpu::disasm::word;
use shadewright::rpu::isa::{CONSTANT_REGISTERS, Component, Reg};

/// Gives out the registers of lane 0 in the blocks before and after a run: those that changed, or
/// all with `--all-registers`. A component is a float where it is a plain one, otherwise `#` and
/// its bit pattern.
pub fn print(blocks: &[Block; 2], constants: &[[u32; 4]; 32], args: &RunArgs, output: &mut Output) {
    let rows = rows(blocks, constants, args.all_registers);
    let record: Map<_, _> = rows
        .iter()
        .map(|(reg, [before, after])| {
            (reg.to_string(), json!({ "before": before.map(show), "after": after.map(show) }))
        })
        .collect();
    output.part("registers", record.into(), &table(&rows));
}

/// Registers as lines of text.
fn table(rows: &[(Reg, [[u32; 4]; 2])]) -> String {
    if rows.is_empty() {
        return "no register changed".to_string();
    }
    let text = |words: &[u32; 4]| words.map(show).join(", ");
    let mut lines = vec![["register", "before", "after"].map(String::from)];
    lines.extend(rows.iter().map(|(reg, [before, after])| [reg.to_string(), text(before), text(after)]));
    let width = |i: usize| lines.iter().map(|line| line[i].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line = |[reg, before, after]: &[String; 3]| format!("{reg:<first$}  {before:<second$}  {after}");
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Registers with their components before and after.
fn rows(blocks: &[Block; 2], constants: &[[u32; 4]; 32], all: bool) -> Vec<(Reg, [[u32; 4]; 2])> {
    let read = |reg: Reg| (reg, [0, 1].map(|i| Component::ALL.map(|c| blocks[i].get(reg, c, 0))));
    let constant = |n: u8| (Reg::C(n), [constants[usize::from(n)]; 2]);
    let rows = registers().map(read).chain((0..CONSTANT_REGISTERS).map(constant));
    rows.filter(|(_, [before, after])| all || before != after).collect()
}

/// A component; the pattern of −0 is that of the first scratch address, so it is no plain float.
fn show(bits: u32) -> String {
    if bits == 1 << 31 { format!("#{bits:#x}") } else { word(bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registers_that_changed_are_listed_unless_all_are_asked_for() {
        let blocks = [Block::new(), Block::new()];
        blocks_differ(&blocks, &[]);
        let mut changed = Block::new();
        changed.set(Reg::R(3), Component::Y, 0, 7);
        changed.set(Reg::I(1), Component::W, 0, 1f32.to_bits());
        let blocks = [Block::new(), changed];
        blocks_differ(&blocks, &[Reg::R(3), Reg::I(1)]);
        assert_eq!(rows(&blocks, &[[0; 4]; 32], true).len(), 16 + 1 + 8 + 4 + 4 + 32);
    }

    fn blocks_differ(blocks: &[Block; 2], expected: &[Reg]) {
        let listed: Vec<Reg> = rows(blocks, &[[0; 4]; 32], false).into_iter().map(|(reg, _)| reg).collect();
        assert_eq!(listed, expected);
    }

    #[test]
    fn numbers_are_floats_and_everything_else_its_bit_pattern() {
        let shown = [1.5f32.to_bits(), 0, 5, 1 << 31, f32::NAN.to_bits()].map(show);
        assert_eq!(shown, ["1.5", "0.0", "#0x5", "#0x80000000", "#0x7fc00000"]);
    }
}
