//! Which IR instructions each line of a kernel's WGSL comes from.
//!
//! Takes a [`SectionKernel`] and gives the text of its generated functions, line by line with
//! source locations. The lowering leaves the location of each expression and statement in the naga
//! module; naga's writer prints the statements in order, so that they are gone through here beside
//! the text. Where the two do not match, lines have no locations. Nothing is added to the kernels
//! for it: what is shown is what runs.

use super::code::{Expr, loc_of, operands};
use super::program::SectionKernel;
use naga::{Block, Statement, SwitchValue};
use shadewright_ir::Loc;
use std::collections::HashSet;

/// A line of WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// The text.
    pub text: String,
    /// The locations of the instructions that it computes, each once.
    pub locs: Vec<Loc>,
}

/// The functions of a kernel that were made from IR, the entry point last. Those that all kernels
/// share are left out.
pub fn functions(kernel: &SectionKernel) -> Vec<Vec<KernelLine>> {
    let lines: Vec<&str> = kernel.wgsl.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with("fn ")).collect();
    let module = &kernel.module;
    let functions = module.functions.iter().map(|(_, f)| f).chain(module.entry_points.iter().map(|e| &e.function));
    let last = starts.len().saturating_sub(1);
    let mut found = Vec::new();
    for (i, (&start, function)) in starts.iter().zip(functions).enumerate() {
        let Some(length) = lines[start..].iter().position(|&line| line == "}") else { continue };
        let text = &lines[start..=start + length];
        let mut walk = Walk { function, text, next: 1, locs: vec![Vec::new(); text.len()], named: HashSet::new() };
        walk.skip_variables();
        // Where the text is not what was expected, the rest of the function has no locations.
        let _ = walk.block(&function.body);
        let locs = walk.locs;
        if i == last || locs.iter().any(|locs| !locs.is_empty()) {
            let line = |(text, locs): (&&str, Vec<Loc>)| KernelLine { text: (*text).to_string(), locs };
            found.push(text.iter().zip(locs).map(line).collect());
        }
    }
    found
}

/// A walk through the statements of a function and its text.
struct Walk<'a> {
    function: &'a naga::Function,
    text: &'a [&'a str],
    /// The line that comes next.
    next: usize,
    locs: Vec<Vec<Loc>>,
    /// Expressions that have a line of their own.
    named: HashSet<Expr>,
}

impl Walk<'_> {
    fn line(&self) -> Option<&str> {
        self.text.get(self.next).map(|line| line.trim_start())
    }

    /// The local variables, which come first.
    fn skip_variables(&mut self) {
        while self.line().is_some_and(|line| line.is_empty() || line.starts_with("var ")) {
            self.next += 1;
        }
    }

    /// Goes over one line, if it starts so.
    fn pass(&mut self, start: &str, locs: Vec<Loc>) -> Option<()> {
        self.line()?.starts_with(start).then_some(())?;
        self.locs[self.next] = locs;
        self.next += 1;
        Some(())
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        block.span_iter().try_for_each(|(statement, span)| self.statement(statement, loc_of(*span)))
    }

    fn statement(&mut self, statement: &Statement, loc: Loc) -> Option<()> {
        match statement {
            Statement::Emit(range) => {
                for expr in range.clone() {
                    let has_name = self.function.named_expressions.contains_key(&expr);
                    let start = format!("let _e{}", expr.index());
                    let is_next =
                        |line: &str| line.strip_prefix(&start).is_some_and(|rest| rest.starts_with([':', ' ']));
                    if has_name || self.line().is_some_and(is_next) {
                        let locs = self.locations(&[expr], Loc::NONE);
                        self.pass("let ", locs)?;
                        self.named.insert(expr);
                    }
                }
                Some(())
            }
            Statement::If { condition, accept, reject } => {
                self.pass("if ", self.locations(&[*condition], loc))?;
                self.block(accept)?;
                if !reject.is_empty() {
                    self.pass("} else {", Vec::new())?;
                    self.block(reject)?;
                }
                self.pass("}", Vec::new())
            }
            Statement::Switch { selector, cases } => {
                self.pass("switch ", self.locations(&[*selector], loc))?;
                for case in cases {
                    let start = if case.value == SwitchValue::Default { "default" } else { "case " };
                    self.pass(start, Vec::new())?;
                    self.block(&case.body)?;
                    self.pass("}", Vec::new())?;
                }
                self.pass("}", Vec::new())
            }
            Statement::Loop { body, .. } => {
                self.pass("loop {", Vec::new())?;
                self.block(body)?;
                self.pass("}", Vec::new())
            }
            Statement::Break => self.pass("break;", vec_of(loc)),
            Statement::Continue => self.pass("continue;", vec_of(loc)),
            Statement::Return { value } => self.pass("return", self.locations(value.as_slice(), loc)),
            Statement::Store { pointer, value } => self.pass("", self.locations(&[*value, *pointer], loc)),
            Statement::Call { arguments, result, .. } => {
                self.pass("", self.locations(arguments, loc))?;
                self.named.extend(result);
                Some(())
            }
            _ => None,
        }
    }

    /// The location of a statement, and those of the expressions within it as far as they have no
    /// line of their own.
    fn locations(&self, exprs: &[Expr], loc: Loc) -> Vec<Loc> {
        let mut locs = vec_of(loc);
        let mut left = exprs.to_vec();
        while let Some(expr) = left.pop() {
            if self.named.contains(&expr) {
                continue;
            }
            let loc = loc_of(self.function.expressions.get_span(expr));
            if loc != Loc::NONE && !locs.contains(&loc) {
                locs.push(loc);
            }
            left.extend(operands(&self.function.expressions[expr]));
        }
        locs
    }
}

fn vec_of(loc: Loc) -> Vec<Loc> {
    Some(loc).filter(|&loc| loc != Loc::NONE).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::{WgslOptions, compile};
    use super::*;
    use shadewright_base::text::source::FileId;

    const PROGRAM: &str = "
fn help(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = sqrt v0 @0:90..91
  ret v1 @0:95..96
}
entry main(v0 n: u32, v1 x: f32) -> (r: f32) {
b0:
  v2: u32 = const 0 @0:10..11
  v3: u32 = const 1 @0:10..11
  jump b1(v2, v1) @0:10..11
b1(v4: u32, v5: f32):
  v6: bool = ilt v4, v0 @0:20..21
  br v6, b2, b3 @0:20..21
b2:
  v7: f32 = mul v5, v5 @0:30..31
  v8: f32 = add v7, v1 @0:40..41
  v9: f32 = mul v8, v8 @0:50..51
  v10: f32 = call help(v9) @0:60..61
  v11: u32 = iadd v4, v3 @0:70..71
  jump b1(v11, v10) @0:80..81
b3:
  ret v5
}";

    #[test]
    fn lines_have_the_places_of_all_that_they_compute() {
        let module = shadewright_ir::parse(PROGRAM, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"));
        let program = compile(&module, &["main"], &WgslOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let functions = functions(&program.sections[0]);
        assert_eq!(functions.len(), 2, "the helper and the entry point, but nothing that is shared: {functions:?}");
        let starts = |line: &KernelLine| -> Vec<u32> {
            let mut starts: Vec<u32> = line.locs.iter().filter_map(|&loc| Some(module.span(loc)?.start)).collect();
            starts.sort_unstable();
            starts
        };
        let all: Vec<(Vec<u32>, &str)> = functions.iter().flatten().map(|line| (starts(line), &*line.text)).collect();
        let with = |part: &str| {
            let found = all.iter().find(|(_, text)| text.contains(part));
            found.unwrap_or_else(|| panic!("no `{part}` in {all:#?}")).0.clone()
        };
        assert_eq!(with("sqrt("), [90, 95]);
        // One line computes what nothing else needs with its user: the product with the sum, the
        // square with the call.
        assert_eq!(with("= ((_e19 * _e19) + "), [30, 40]);
        assert_eq!(with("= help((_e23 * _e23))"), [50, 60]);
        assert_eq!(with("if !((_e18 < _e11))"), [20]);
        assert_eq!(with("v4_held = (_e18 + 1u)"), [70, 80]);
        assert_eq!(with("let _e18 = v4_held"), [0; 0]);
        let stores: Vec<_> = all.iter().filter(|(at, text)| text.contains("_held = ") && at.contains(&80)).collect();
        assert_eq!(stores.len(), 2, "{all:#?}");
    }
}
