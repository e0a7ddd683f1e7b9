//! The variables of the source that values of an optimized program stand for.
//!
//! They come from the same scene linked once more for a debugger, without passes: where a variable
//! gets the result of an instruction there, the instruction's place and operation name the variable
//! in the optimized program, too. Passes keep or drop places and never invent them.

use shadewright_base::text::source::Span;
use shadewright_ir::{Function, Inst, Module, Op, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The name that calls are known by.
const CALL: &str = "call";

/// Values that are looked at from one on its way to a variable.
const MAX_VALUES: usize = 256;

/// The variables that instructions give their values, by the text that these stand for and what
/// they do.
#[derive(Clone, Debug, Default)]
pub struct Names {
    of: HashMap<(Span, &'static str), Arc<str>>,
}

/// The variable of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    /// It has this value.
    Is(Arc<str>),
    /// The value is computed from this variable.
    From(Arc<str>),
}

impl Names {
    /// The names of a module that was linked with debug information and without passes.
    pub fn new(debug: &Module) -> Self {
        let mut of = HashMap::new();
        for func in &debug.functions {
            let insts = || func.blocks.iter().flat_map(|b| &b.insts);
            let defined: HashMap<Value, &Inst> = insts().flat_map(|i| i.results.iter().map(move |&r| (r, i))).collect();
            for inst in insts().filter(|i| !i.op.is_printed()) {
                if let (Op::Debug(name), [value]) = (&inst.op, &inst.args[..])
                    && let Some(def) = defined.get(value).filter(|def| !matches!(def.op, Op::Const(_)))
                    && let Some(span) = debug.span(def.loc)
                {
                    of.entry((span, def.op.name())).or_insert_with(|| name.clone());
                }
            }
        }
        Self { of }
    }

    /// The variable that gets the result of an instruction.
    pub fn result(&self, module: &Module, inst: &Inst) -> Option<Arc<str>> {
        self.of.get(&(module.span(inst.loc)?, inst.op.name())).cloned()
    }

    /// The variable that gets what a function returns of which an instruction is a part: the
    /// function was inlined where the variable is given its value.
    fn call(&self, module: &Module, inst: &Inst) -> Option<Arc<str>> {
        let chain = std::iter::successors(Some(inst.loc), |loc| module.locs[loc.0 as usize].inlined_at);
        let spans = chain.filter_map(|loc| module.locs[loc.0 as usize].span);
        spans.filter_map(|span| self.of.get(&(span, CALL))).next().cloned()
    }

    /// The variable that gets a value of a function, or else the nearest one that is computed from
    /// it.
    pub fn nearest(&self, module: &Module, func: &Function, value: Value) -> Option<Variable> {
        let mut defined: HashMap<Value, &Inst> = HashMap::new();
        let mut users: HashMap<Value, Vec<Value>> = HashMap::new();
        for block in &func.blocks {
            for inst in &block.insts {
                defined.extend(inst.results.iter().map(|&r| (r, inst)));
                inst.args.iter().for_each(|&a| users.entry(a).or_default().extend(&inst.results));
            }
            for target in block.term.targets() {
                let params = &func.block(target.block).params;
                target.args.iter().zip(params).for_each(|(&a, &p)| users.entry(a).or_default().push(p));
            }
        }
        // Breadth first: the nearest comes first.
        let mut seen = vec![value];
        let mut next = 0;
        while let Some(&at) = seen.get(next).filter(|_| next < MAX_VALUES) {
            if let Some(inst) = defined.get(&at) {
                match self.result(module, inst) {
                    Some(name) if next == 0 => return Some(Variable::Is(name)),
                    Some(name) => return Some(Variable::From(name)),
                    None => {}
                }
                if let Some(name) = self.call(module, inst) {
                    return Some(Variable::From(name));
                }
            }
            next += 1;
            for &user in users.get(&at).into_iter().flatten() {
                if !seen.contains(&user) {
                    seen.push(user);
                }
            }
        }
        None
    }
}

/// The variable to which the text around a range of bytes assigns: with the whole text after the
/// `=`, or a part of it. For languages whose compilers leave no `debug` instructions.
pub fn assigned(text: &str, start: usize, end: usize) -> Option<Variable> {
    let (before, after) = (text.get(..start)?, text.get(end..)?);
    let statement = &before[before.rfind([';', '{', '}']).map_or(0, |at| at + 1)..];
    let bytes = statement.as_bytes();
    // Of parentheses: below zero, the part is inside of some.
    let mut depth = 0i32;
    for (at, byte) in bytes.iter().enumerate().rev() {
        match byte {
            b')' | b']' => depth += 1,
            b'(' | b'[' => depth -= 1,
            b'=' if depth <= 0 => {
                // No comparison, but `+=` and its like.
                let around = [at.checked_sub(1).map(|i| bytes[i]), bytes.get(at + 1).copied()];
                if around[1] == Some(b'=') || matches!(around[0], Some(b'=' | b'<' | b'>' | b'!')) {
                    continue;
                }
                let target = statement[..at].trim_end_matches(['+', '-', '*', '/']).trim_end();
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let name = &target[target.rfind(|c| !is_part(c)).map_or(0, |i| i + 1)..];
                if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                    return None;
                }
                let is_whole = around[0].is_some_and(|c| !b"+-*/".contains(&c))
                    && statement[at + 1..].trim().is_empty()
                    && after.trim_start().starts_with([';', ',']);
                return Some(if is_whole { Variable::Is(name.into()) } else { Variable::From(name.into()) });
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::parse;

    fn module(text: &str) -> Module {
        parse(text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"))
    }

    /// Two statements of a shader: `length = sqrt(x * x); half = length * 0.5`.
    const DEBUG: &str = "fn f(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = mul v0, v0 @0:14..19
  v2: f32 = sqrt v1 @0:9..20
  debug length, v2 @0:0..20
  v3: f32 = const 0.5
  v4: f32 = mul v2, v3 @0:29..41
  debug half, v4 @0:22..41
  ret v4
}";

    #[test]
    fn a_value_has_the_name_of_its_variable_or_of_the_next_one_that_is_computed_from_it() {
        // As if inlined and optimized: other numbers, no `debug`.
        let rendered = module(
            "fn g(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = const 0.5
  v5: f32 = mul v0, v0 @0:14..19 in @0:80..90
  v6: f32 = sqrt v5 @0:9..20 in @0:80..90
  v7: f32 = mul v6, v1 @0:29..41 in @0:80..90
  v8: f32 = add v7, v0 @0:99..101
  ret v8
}",
        );
        let names = Names::new(&module(DEBUG));
        let nearest = |value| names.nearest(&rendered, &rendered.functions[0], Value(value));
        assert_eq!(nearest(6), Some(Variable::Is("length".into())));
        assert_eq!(nearest(5), Some(Variable::From("length".into())));
        assert_eq!(nearest(7), Some(Variable::Is("half".into())));
        assert_eq!(nearest(8), None);
    }

    #[test]
    fn code_of_a_function_that_was_inlined_leads_to_the_variable_that_gets_its_result() {
        let debug = module(
            "fn root(v0 x: f32) -> (r: f32) {\nb0:\n  ret v0\n}
fn f(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = call root(v0) @0:10..20
  debug y, v1 @0:5..20
  ret v1
}",
        );
        let rendered = module("fn g(v0 x: f32) -> (r: f32) {\nb0:\n  v1: f32 = sqrt v0 @? in @0:10..20\n  ret v1\n}");
        let found = Names::new(&debug).nearest(&rendered, &rendered.functions[0], Value(1));
        assert_eq!(found, Some(Variable::From("y".into())));
    }

    #[test]
    fn the_text_of_an_assignment_names_its_variable() {
        let of = |text: &str, part: &str| {
            let start = text.find(part).expect("a part");
            assigned(text, start, start + part.len())
        };
        let text =
            "a = 1; vec3 Y = cross(x); float radius = sqrt(u.x), two = 2. * b; s.x += f(a <= b, 3);\nif (c == d) {";
        assert_eq!(of(text, "sqrt(u.x)"), Some(Variable::Is("radius".into())));
        assert_eq!(of(text, "u.x"), Some(Variable::From("radius".into())));
        assert_eq!(of(text, "b;"), Some(Variable::From("two".into())));
        assert_eq!(of(text, "f(a"), Some(Variable::From("s.x".into())));
        assert_eq!(of(text, "d)"), None);
        assert_eq!(of(text, "cross(x)"), Some(Variable::Is("Y".into())));
    }

    #[test]
    fn an_operation_of_another_kind_at_the_same_place_has_no_name() {
        let rendered = module("fn g(v0 x: f32) -> (r: f32) {\nb0:\n  v1: f32 = rsq v0 @0:9..20\n  ret v1\n}");
        assert_eq!(Names::new(&module(DEBUG)).nearest(&rendered, &rendered.functions[0], Value(1)), None);
    }
}
