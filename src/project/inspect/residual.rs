//! The *residual program*, which specialization leaves of a program, beside the program that serves
//! every scene: how much code each has, and which source lines have none any more.

use shadewright_base::text::source::SourceMap;
use shadewright_ir::{Module, Op, Terminator};
use std::collections::BTreeMap;

/// How much code a module has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSize {
    /// Functions.
    pub functions: usize,
    /// Instructions, without constants and records of variables.
    pub instructions: usize,
    /// Conditional branches.
    pub branches: usize,
    /// Loops: back edges in the control-flow graphs.
    pub loops: usize,
    /// Loads from the memory image and of program constants.
    pub loads: usize,
    /// Calls of functions.
    pub calls: usize,
    /// Places that trace rays.
    pub rays: usize,
}

impl CodeSize {
    /// That of a module.
    pub fn new(module: &Module) -> Self {
        let mut size = Self { functions: module.functions.len(), ..Self::default() };
        for func in &module.functions {
            let order = func.reverse_postorder();
            let mut place = vec![usize::MAX; func.blocks.len()];
            order.iter().enumerate().for_each(|(i, block)| place[block.0 as usize] = i);
            for block in &order {
                let term = &func.block(*block).term;
                size.branches += usize::from(matches!(term, Terminator::Branch(..)));
                let is_back = |to: usize| place[to] <= place[block.0 as usize];
                size.loops += term.targets().filter(|t| is_back(t.block.0 as usize)).count();
                for inst in &func.block(*block).insts {
                    size.instructions += usize::from(!matches!(inst.op, Op::Const(_) | Op::Debug(_)));
                    size.loads += usize::from(matches!(inst.op, Op::Load(_) | Op::Uniform(_)));
                    size.calls += usize::from(matches!(inst.op, Op::Call(_)));
                    size.rays += usize::from(matches!(inst.op, Op::Trace | Op::Occluded | Op::Visible(_)));
                }
            }
        }
        size
    }

    /// The numbers with what they count.
    pub fn rows(&self) -> [(&'static str, usize); 7] {
        [
            ("functions", self.functions),
            ("instructions", self.instructions),
            ("branches", self.branches),
            ("loops", self.loops),
            ("loads", self.loads),
            ("calls", self.calls),
            ("rays", self.rays),
        ]
    }
}

/// A source line of which specialization left nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneLine {
    /// The file.
    pub file: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The text of the line, without the space around it.
    pub text: String,
    /// How many instructions it had.
    pub instructions: usize,
}

/// A residual program beside the program that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residual {
    /// The code of the program that serves every scene.
    pub before: CodeSize,
    /// The code that is left.
    pub after: CodeSize,
    /// The source lines of the user's files that had code and have none, in the order of files and
    /// lines.
    pub gone: Vec<GoneLine>,
    /// How many lines of built-in functions are gone, too.
    pub gone_built_in: usize,
    /// How many source lines had code.
    pub lines: usize,
}

impl Residual {
    /// Compares a program, with the sources that it was compiled from, and what is left of it, with
    /// its own.
    pub fn new((before, sources): (&Module, &SourceMap), (after, own_sources): (&Module, &SourceMap)) -> Self {
        let (had, has) = (lines(before, sources), lines(after, own_sources));
        let gone = had.iter().filter(|(line, _)| !has.contains_key(line));
        let (built_in, own): (Vec<_>, Vec<_>) = gone.partition(|((file, _), _)| file.starts_with(BUILT_IN));
        let gone = own.into_iter().map(|((file, line), instructions)| GoneLine {
            file: file.clone(),
            line: *line,
            text: text_of(sources, file, *line),
            instructions: *instructions,
        });
        Self {
            before: CodeSize::new(before),
            after: CodeSize::new(after),
            gone: gone.collect(),
            gone_built_in: built_in.len(),
            lines: had.len(),
        }
    }
}

/// How the names of built-in files begin.
const BUILT_IN: &str = "<built-in ";

fn text_of(sources: &SourceMap, file: &str, line: u32) -> String {
    let file = sources.files().iter().find(|f| f.name == file);
    let text = file.and_then(|f| f.text.lines().nth(line as usize - 1)).unwrap_or_default();
    text.trim().to_string()
}

/// How many instructions each source line has, by file and number.
fn lines(module: &Module, sources: &SourceMap) -> BTreeMap<(String, u32), usize> {
    let mut lines = BTreeMap::new();
    let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    for inst in insts.filter(|inst| !matches!(inst.op, Op::Const(_) | Op::Debug(_))) {
        let Some(span) = module.span(inst.loc) else { continue };
        let (Some(file), Some(position)) = (sources.get(span.file), sources.position(span)) else { continue };
        *lines.entry((file.name.clone(), position.line)).or_default() += 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::parse;

    #[test]
    fn lines_without_code_are_gone_and_code_is_counted() {
        let mut sources = SourceMap::new();
        sources.add("a.sl", None, "x = 2 * y;\nif (x > 1)\n  x = 0;\n");
        let module = |text: &str| parse(text, FileId(0)).expect("a module");
        let before = module(
            "fn f(v0 y: f32) -> (x: f32) {
b0:
  v1: f32 = const 2.0
  v2: f32 = mul v0, v1 @0:0..10
  v3: f32 = const 1.0
  v4: bool = lt v3, v2 @0:11..21
  br v4, b1, b2
b1:
  v5: f32 = sub v2, v2 @0:24..30
  jump b2
b2:
  ret v2
}",
        );
        let after = module("fn f(v0 y: f32) -> (x: f32) {\nb0:\n  v1: f32 = add v0, v0 @0:0..10\n  ret v1\n}");
        let residual = Residual::new((&before, &sources), (&after, &sources));
        let gone: Vec<_> = residual.gone.iter().map(|g| (g.line, g.text.as_str(), g.instructions)).collect();
        assert_eq!(gone, [(2, "if (x > 1)", 1), (3, "x = 0;", 1)]);
        assert_eq!(residual.lines, 3);
        assert_eq!((residual.before.instructions, residual.before.branches), (3, 1));
        assert_eq!((residual.after.instructions, residual.after.branches), (1, 0));
    }

    #[test]
    fn back_edges_are_loops() {
        let text = "fn f(v0 c: bool) {\nb0:\n  jump b1\nb1:\n  br v0, b1, b2\nb2:\n  ret\n}";
        assert_eq!(CodeSize::new(&parse(text, FileId(0)).expect("a module")).loops, 1);
    }
}
