//! A breakdown of a simulation's cycles by operation, function and source line, and an explanation
//! of low utilization.
//!
//! Takes the timed simulator's statistics for each code address and the compiled program's source
//! locations; prints nothing.

use shadewright_base::text::source::{SourceMap, Span};
use shadewright_codegen::rpu::RpuProgram;
use shadewright_ir::Module;
use shadewright_rpu::isa::{Instr, Program};
use shadewright_rpu::timed::{AtPc, Cause, Stats};
use std::collections::BTreeMap;

/// Utilization from which on nothing needs an explanation.
pub const GOOD_UTILIZATION: f64 = 0.9;

/// Name of code without a source line.
const NO_SOURCE: &str = "(no source line)";

/// The counts of code addresses that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The name of the code: a mnemonic, a function, or a file and line.
    pub name: String,
    /// Their counts.
    pub at: AtPc,
}

/// The counts of a run, in three ways. Each list has those with the most cycles first, and adds up
/// to the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakdown {
    /// By operation; an operation that carries another (`add + jmp`) or shares its slot
    /// (`mul | add`) is one of its own.
    pub operations: Vec<Row>,
    /// By machine function.
    pub functions: Vec<Row>,
    /// By source line, `file:line`. Inlined code counts for its own line.
    pub lines: Vec<Row>,
}

/// The operation, function and source line of each of a program's code addresses.
#[derive(Debug, Clone)]
pub struct Places {
    operations: Vec<String>,
    functions: Vec<String>,
    lines: Vec<String>,
}

impl Places {
    /// The places of a program that was compiled from `module`, which was made from `sources`.
    pub fn from_compiled(program: &RpuProgram, module: &Module, sources: &SourceMap) -> Places {
        let span = |pc: usize| program.locs.get(pc).and_then(|&loc| module.span(loc));
        Places::new(&program.program, span, sources)
    }

    /// The source locations of a program; `span` is that of the instruction at a code address,
    /// where there is one.
    pub fn new(program: &Program, span: impl Fn(usize) -> Option<Span>, sources: &SourceMap) -> Places {
        let line = |pc: usize| {
            let span = span(pc)?;
            Some(format!("{}:{}", sources.get(span.file)?.name, sources.position(span)?.line))
        };
        let mut entries: Vec<_> = program.entries.iter().map(|e| (e.address as usize, &e.name)).collect();
        entries.sort_by_key(|&(address, _)| address);
        let function = |pc: usize| {
            let after = entries.partition_point(|&(address, _)| address <= pc);
            after.checked_sub(1).map_or("(before the first entry)".to_string(), |i| entries[i].1.clone())
        };
        Places {
            operations: program.code.iter().map(mnemonic).collect(),
            functions: (0..program.code.len()).map(function).collect(),
            lines: (0..program.code.len()).map(|pc| line(pc).unwrap_or(NO_SOURCE.to_string())).collect(),
        }
    }
}

impl Breakdown {
    /// Sorts the counts of a run by place.
    pub fn new(stats: &Stats, places: &Places) -> Breakdown {
        let by = |names: &[String]| {
            let mut rows: BTreeMap<&str, AtPc> = BTreeMap::new();
            for (name, at) in names.iter().zip(&stats.at) {
                *rows.entry(name).or_default() += *at;
            }
            let mut rows: Vec<Row> = rows
                .into_iter()
                .filter(|(_, at)| at.cycles() > 0)
                .map(|(name, at)| Row { name: name.to_string(), at })
                .collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.at.cycles()));
            rows
        };
        Breakdown { operations: by(&places.operations), functions: by(&places.functions), lines: by(&places.lines) }
    }
}

/// Why less than [`GOOD_UTILIZATION`] of the issue slots were used, a sentence for each cause that
/// matters; none where that much was used.
pub fn explain(stats: &Stats, places: &Places) -> Vec<String> {
    if stats.utilization() >= GOOD_UTILIZATION || stats.processor_cycles == 0 {
        return Vec::new();
    }
    let share = |cycles: u64, of: u64| 100.0 * cycles as f64 / of.max(1) as f64;
    let mut sentences = Vec::new();
    for (cause, cycles) in stats.stalls.ranked() {
        let lost = share(cycles, stats.processor_cycles);
        if lost < 1.0 && !sentences.is_empty() {
            break;
        }
        let worst = (0..stats.at.len()).max_by_key(|&pc| (stats.at[pc].stalls.cycles(cause), std::cmp::Reverse(pc)));
        let place = worst.map_or(String::new(), |pc| {
            let part = share(stats.at[pc].stalls.cycles(cause), cycles);
            format!(
                "; {part:.0} % of them before the `{}` at {pc} in `{}`, {}",
                places.operations[pc], places.functions[pc], places.lines[pc]
            )
        });
        sentences.push(format!("{lost:.1} % of the cycles: {}{place}.", reason(cause, stats)));
    }
    sentences
}

/// A cause in words.
fn reason(cause: Cause, stats: &Stats) -> String {
    let per = |n: u64, of: u64| n as f64 / of.max(1) as f64;
    let between = |n: u64| per(stats.issued, n);
    match cause {
        Cause::Arithmetic => "every chunk waits for a result of arithmetic at the same time".to_string(),
        Cause::Special => "every chunk waits for a reciprocal or a root".to_string(),
        Cause::Load => "every chunk waits for a vector from memory".to_string(),
        Cause::Texture => "every chunk waits for a texel".to_string(),
        Cause::Trace => format!(
            "every chunk waits for a hit; only {:.0} instructions are issued for each trace",
            between(stats.traces)
        ),
        Cause::Control => "every chunk waits for the condition of a branch".to_string(),
        Cause::Stack => {
            format!("calls are up to {} deep, and {} stack vectors went to memory", stats.call_depth, stats.spilled)
        }
        Cause::SpecialBusy => "the unit for reciprocals and roots is busy".to_string(),
        Cause::MemoryBusy => "memory is busy".to_string(),
        Cause::TextureBusy => "the texture unit is busy".to_string(),
        Cause::TraceBusy => format!(
            "the tracing unit is busy: there is a ray for every {:.1} cycles of a processor",
            per(stats.processor_cycles, stats.rays)
        ),
        Cause::Drain => format!(
            "the image runs out of chunks ({} on {} processors): the last ones have no others to switch to",
            stats.chunks, stats.processors
        ),
    }
}

/// The operations of an instruction, without operands. In assembly each comes first, and ` | ` and
/// ` + ` separate them.
fn mnemonic(instr: &Instr) -> String {
    let operation = |part: &str| part.split_whitespace().next().unwrap_or_default().to_string();
    let halves = |part: &str| part.split(" | ").map(operation).collect::<Vec<_>>().join(" | ");
    instr.to_string().split(" + ").map(halves).collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_rpu::asm::assemble;

    fn places(text: &str) -> Places {
        let mut sources = SourceMap::new();
        let file = sources.add("a.rpuasm", None, text);
        let assembly = assemble(text, file).expect("valid");
        Places::new(&assembly.program, |pc| assembly.spans.get(pc).copied(), &sources)
    }

    /// Statistics from the issue slots, and the stalls for hits, at each code address.
    fn stats(counts: &[(u64, u64)]) -> Stats {
        let mut stats = Stats { processors: 1, traces: 1, ..Stats::default() };
        for &(issued, waiting) in counts {
            let mut at = AtPc { issued, threads: 4 * issued, ..AtPc::default() };
            at.stalls.add(Cause::Trace, waiting);
            stats.issued += issued;
            stats.processor_cycles += issued + waiting;
            stats.stalls += at.stalls;
            stats.at.push(at);
        }
        stats.cycles = stats.processor_cycles;
        stats
    }

    const TEXT: &str = "SUBROUTINE_ENTRY_f:\ntrace R0, R1, R2\nadd R0, R1, R2 + return or x (<0)\n\
        SUBROUTINE_ENTRY_g:\nmad_rsq R0.w, R1, R2, R3\nreturn";

    #[test]
    fn counts_are_sorted_by_operation_function_and_line() {
        let breakdown = Breakdown::new(&stats(&[(5, 0), (5, 20), (7, 0), (0, 0)]), &places(TEXT));
        let names = |rows: &[Row]| rows.iter().map(|r| (r.name.clone(), r.at.cycles())).collect::<Vec<_>>();
        let expected = |list: &[(&str, u64)]| list.iter().map(|(n, c)| (n.to_string(), *c)).collect::<Vec<_>>();
        assert_eq!(names(&breakdown.operations), expected(&[("add + return", 25), ("mad_rsq", 7), ("trace", 5)]));
        assert_eq!(names(&breakdown.functions), expected(&[("f", 30), ("g", 7)]));
        assert_eq!(names(&breakdown.lines), expected(&[("a.rpuasm:3", 25), ("a.rpuasm:5", 7), ("a.rpuasm:2", 5)]));
    }

    #[test]
    fn low_utilization_is_explained_with_cause_and_place() {
        let places = places(TEXT);
        let sentences = explain(&stats(&[(5, 10), (5, 70), (5, 0), (5, 0)]), &places);
        let [sentence] = &sentences[..] else { panic!("{sentences:?}") };
        for part in
            ["80.0 % of the cycles", "hit", "20 instructions", "88 % of them", "`add + return`", "`f`", "a.rpuasm:3"]
        {
            assert!(sentence.contains(part), "no `{part}` in `{sentence}`");
        }
        assert_eq!(explain(&stats(&[(95, 5), (0, 0), (0, 0), (0, 0)]), &places), Vec::<String>::new());
    }

    #[test]
    fn every_cause_has_words_of_its_own() {
        let stats = stats(&[(1, 1)]);
        let words: std::collections::HashSet<_> = Cause::ALL.iter().map(|&c| reason(c, &stats)).collect();
        assert_eq!(words.len(), Cause::ALL.len());
    }
}
