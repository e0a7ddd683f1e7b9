//! Functions as text, with the uniformity of their values.

use super::{FunctionUniformity, ModuleUniformity};
use crate::print::function_lines;
use crate::{BlockId, Function, Inst, Module, Op, Terminator, Value};
use shadewright_base::uniformity::Uniformity;
use std::fmt::Write as _;

/// The column at which comments begin, where lines are shorter.
const COLUMN: usize = 56;

/// The functions of a module that an analysis saw, in the text form of the IR. A comment after each
/// line has the uniformity of the values that it defines, and says which branches diverge, which
/// blocks run under a mask, and how lanes load.
pub fn listing(module: &Module, uniformity: &ModuleUniformity) -> String {
    let mut text = String::new();
    for (number, variant) in uniformity.all().iter().enumerate() {
        let func = &module.functions[variant.function];
        if number > 0 {
            text.push('\n');
        }
        let _ = writeln!(text, "; {}({}) -> ({})", func.name, list(&variant.params), list(&variant.results()));
        let mut lines = Vec::new();
        function_lines(func, |line, _, end| lines.push(format!("{line}{end}")));
        let notes = notes(func, variant);
        for (line, note) in lines.iter().zip(notes) {
            match note.is_empty() {
                true => _ = writeln!(text, "{line}"),
                false => _ = writeln!(text, "{line:<COLUMN$} ; {note}"),
            }
        }
    }
    text
}

fn list(uniformities: &[Uniformity]) -> String {
    uniformities.iter().map(Uniformity::to_string).collect::<Vec<_>>().join(", ")
}

/// A comment for each line of a function's text.
fn notes(func: &Function, uniformity: &FunctionUniformity) -> Vec<String> {
    let of = |values: &[Value]| list(&values.iter().map(|v| uniformity.get(*v)).collect::<Vec<_>>());
    let mut notes = vec![String::new()];
    notes.extend((0..func.slots.len()).map(|s| uniformity.slot(crate::SlotId(s as u32)).to_string()));
    let headers: Vec<u32> = uniformity.solution().loops.all.iter().map(|l| l.header).collect();
    for id in func.block_ids() {
        let block = func.block(id);
        let params = if id.0 == 0 { &[][..] } else { &block.params[..] };
        let mut parts = vec![of(params)];
        parts.extend(uniformity.is_masked(id).then(|| "masked".to_string()));
        let apart = headers.iter().position(|h| *h == id.0).filter(|l| uniformity.solution().leaves_apart[*l]);
        parts.extend(apart.map(|_| "a loop that lanes leave in different iterations".to_string()));
        parts.retain(|p| !p.is_empty());
        notes.push(parts.join("; "));
        notes.extend(block.insts.iter().map(|inst| [of(&inst.results), access(inst, id, uniformity)].concat()));
        notes.push(match block.term {
            Terminator::Branch(..) if uniformity.diverges(id) => "divergent".to_string(),
            Terminator::Branch(..) => "uniform".to_string(),
            _ => String::new(),
        });
    }
    notes.push(String::new());
    notes
}

/// How lanes load or store.
fn access(inst: &Inst, block: BlockId, uniformity: &FunctionUniformity) -> String {
    let (Op::Load(_) | Op::SlotLoad(_) | Op::SlotStore(_), Some(address)) = (&inst.op, inst.args.first()) else {
        return String::new();
    };
    let kind = match (uniformity.at(*address, block).stride(), &inst.op) {
        (Some(0), _) => "one address",
        (Some(1), _) => "consecutive",
        (Some(_), _) => "strided",
        (None, Op::SlotStore(_)) => "scatter",
        (None, _) => "gather",
    };
    format!("{}{kind}", if inst.results.is_empty() { "" } else { "; " })
}
