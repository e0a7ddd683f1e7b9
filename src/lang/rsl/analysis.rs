//! Analysis of a file for editors: its messages, and what each name in it means.
//!
//! [`analyze`] runs the front end as [`super::compile`] does and keeps what lowering learns, also
//! of a file with errors: variables with their scopes, the overload that each call takes, macros,
//! included files. It knows no editor and no protocol.

use super::ast::{Decl, Definition, ShaderKind};
use super::builtins::{self, parse_signature};
use super::check::SPECIAL;
use super::coshader_calls;
use super::lower::Lowering;
use super::program::{Callee, Program};
use super::queries;
use super::symbols::Symbols;
use super::{FrontEndOptions, library_ast, lower, read};
use crate::globals::GLOBALS;
use crate::preprocess::{Include, MacroDefinition, Preprocessed};
use crate::types::{SourceType, StorageClass};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_ir::abi::{Input, input};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

pub use super::builtins::{NamedOption, OptionDefault};
pub use super::lexer::KEYWORDS;
pub use super::parser::{SHADER_WORDS, shader_kind};
pub use super::symbols::{Role, Variable};

/// A file as the compiler sees it.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All errors and warnings.
    pub diagnostics: Diagnostics,
    /// The shaders and functions of the file and of what it includes, as far as they could be read.
    pub definitions: Vec<Definition>,
    /// Variables, each after those that it shadows.
    pub variables: Vec<Variable>,
    /// The signatures that calls mean, by the place of the function's name. Calls with errors are
    /// missing.
    pub calls: HashMap<Span, Signature>,
    /// All functions that the file may call, by name.
    pub functions: BTreeMap<Arc<str>, Vec<Signature>>,
    /// Every definition of a macro, in order.
    pub macros: Vec<MacroDefinition>,
    /// Which macro is used at a span.
    pub macro_uses: HashMap<Span, usize>,
    /// The files that were included.
    pub includes: Vec<Include>,
}

/// A function as its caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The name.
    pub name: Arc<str>,
    /// The type of the value.
    pub result: SourceType,
    /// The parameters.
    pub params: Vec<Parameter>,
    /// True if the last parameter may be repeated.
    pub variadic: bool,
    /// The options that a call may give by name after the parameters.
    pub options: &'static [NamedOption],
    /// The place of the name in its definition; `None` for functions that are built in.
    pub declared: Option<Span>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name; functions that are operations of the compiler have none.
    pub name: Option<Arc<str>>,
    /// The type.
    pub ty: SourceType,
    /// True if it is written.
    pub output: bool,
}

/// A predefined variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predefined {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub ty: SourceType,
}

/// Analyzes a file. Included files join `sources`. A file without any definition is nothing to
/// complain of here: it may be there to be included.
pub fn analyze(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Analysis {
    let (Preprocessed { macros, macro_uses, includes, .. }, mut ast, mut diags) = read(sources, file, options);
    let own = ast.definitions.len();
    match library_ast(sources) {
        Ok(library) => ast.append(library),
        Err(wrong) => diags.extend(wrong),
    }
    let mut analysis = Analysis { macros, macro_uses, includes, ..Analysis::default() };
    {
        let broken = diags.has_errors();
        let program = Program::new(&ast, own);
        let mut lowering = Lowering::new(&program, &FrontEndOptions::default(), broken);
        lowering.symbols = Some(Symbols::default());
        let (unit, symbols) = lower(lowering, own, &HashSet::new(), diags);
        analysis.diagnostics = unit.map_or_else(|errors| errors, |unit| unit.warnings);
        let symbols = symbols.unwrap_or_default();
        analysis.variables = symbols.variables;
        analysis.calls = symbols.calls.iter().map(|(place, c)| (*place, Signature::for_callee(&program, *c))).collect();
        analysis.functions = functions(&program);
    }
    ast.definitions.truncate(own);
    analysis.definitions = ast.definitions;
    analysis
}

fn functions(program: &Program<'_>) -> BTreeMap<Arc<str>, Vec<Signature>> {
    let overloads = |name: &str| -> Vec<Signature> {
        program.callees(name, false).into_iter().map(|c| Signature::for_callee(program, c)).collect()
    };
    let mut all: BTreeMap<Arc<str>, Vec<Signature>> =
        program.callable_names().into_iter().map(|name| (name.into(), overloads(name))).collect();
    for (name, signature) in SPECIAL.into_iter().chain(coshader_calls::SIGNATURES) {
        all.entry(name.into()).or_default().push(Signature::from_table(name, parse_signature(signature), &[]));
    }
    for (name, _) in queries::QUERIES {
        for ty in SourceType::DECLARABLE {
            let params = vec![(SourceType::String, false), (ty, true)];
            let row = builtins::Signature { result: SourceType::Float, params, variadic: false };
            all.entry(name.into()).or_default().push(Signature::from_table(name, row, &[]));
        }
    }
    // What takes any values after the first: a statement that is called like a function, and a
    // function.
    for (name, signature) in [("gather", "x:spvff"), ("printf", "x:sf")] {
        let row = builtins::Signature { variadic: true, ..parse_signature(signature) };
        all.entry(name.into()).or_default().push(Signature::from_table(name, row, &[]));
    }
    for signature in ["s:", "s:s"] {
        let name = "shadername";
        all.entry(name.into()).or_default().push(Signature::from_table(name, parse_signature(signature), &[]));
    }
    all
}

impl Signature {
    fn for_callee(program: &Program<'_>, callee: Callee) -> Self {
        match callee {
            Callee::Function(i) => {
                let definition @ Definition { name, result, .. } = program.definition(i);
                let declared = (!program.functions[i].library).then_some(name.span);
                let param = |p: &Decl| Parameter { name: Some(p.name.name.clone()), ty: p.ty, output: p.output };
                let params = definition.declared().iter().map(param).collect();
                Self { name: name.name.clone(), result: *result, params, variadic: false, options: &[], declared }
            }
            Callee::Builtin(b) => {
                let row = builtins::Signature { result: b.result, params: b.params.clone(), variadic: b.variadic };
                Self::from_table(b.name, row, b.options)
            }
        }
    }

    fn from_table(name: &str, row: builtins::Signature, options: &'static [NamedOption]) -> Self {
        let params = row.params.into_iter().map(|(ty, output)| Parameter { name: None, ty, output }).collect();
        Self { name: name.into(), result: row.result, params, variadic: row.variadic, options, declared: None }
    }
}

impl Analysis {
    /// The variables that are visible at a byte of a file, innermost first; of several with a name,
    /// only the one that the name means.
    pub fn visible(&self, file: FileId, offset: u32) -> Vec<&Variable> {
        let at = |v: &&Variable| v.visible.file == file && (v.visible.start..=v.visible.end).contains(&offset);
        let declared = self.variables.iter().rev().filter(|v| v.role != Role::Light);
        let of_lights = self.variables.iter().rev().filter(|v| v.role == Role::Light);
        let mut seen = HashSet::new();
        declared.chain(of_lights).filter(at).filter(|v| seen.insert(&v.name)).collect()
    }

    /// The variable that `name` means at a byte of a file, or that is declared there.
    pub fn variable(&self, file: FileId, offset: u32, name: &str) -> Option<&Variable> {
        let here = |s: &Span| s.file == file && (s.start..=s.end).contains(&offset);
        let declared = self.variables.iter().rev().find(|v| &*v.name == name && v.declared.as_ref().is_some_and(here));
        declared.or_else(|| self.visible(file, offset).into_iter().find(|v| &*v.name == name))
    }

    /// The definition in whose text a byte of a file lies.
    pub fn definition(&self, file: FileId, offset: u32) -> Option<&Definition> {
        self.definitions.iter().find(|d| d.span.file == file && (d.span.start..=d.span.end).contains(&offset))
    }
}

/// The predefined variables of a kind of shader, and the constant `PI`; those of all kinds for
/// functions.
pub fn predefined(kind: Option<ShaderKind>) -> impl Iterator<Item = Predefined> {
    let visible = GLOBALS.iter().filter(move |g| {
        Input::parse(g.name).is_predefined() && !input::INTERNAL.contains(&g.name) && kind.is_none_or(|k| g.in_kind(k))
    });
    let pi = Predefined { name: "PI", ty: SourceType::Float };
    visible.map(|g| Predefined { name: g.name, ty: g.ty }).chain([pi])
}

/// The predefined variable of that name, where a shader of that kind has it.
pub fn find_predefined(name: &str, kind: Option<ShaderKind>) -> Option<Predefined> {
    predefined(kind).find(|p| p.name == name)
}

/// How a class is written.
pub fn storage_class(class: StorageClass) -> &'static str {
    match class {
        StorageClass::Constant | StorageClass::Uniform => "uniform",
        StorageClass::Varying => "varying",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyzed(text: &str) -> (Analysis, SourceMap) {
        let mut sources = SourceMap::new();
        let file = sources.add("t.sl", None, text);
        (analyze(&mut sources, file, &FrontEndOptions::default()), sources)
    }

    /// Analyzes text with a `|`, and says what variable the name after it means: its type and the
    /// line that declares it.
    fn meaning(text: &str) -> Option<(SourceType, Option<u32>)> {
        let offset = text.find('|').expect("a mark");
        let text = text.replacen('|', "", 1);
        let name: String = text[offset..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let (analysis, sources) = analyzed(&text);
        let variable = analysis.variable(FileId(0), offset as u32, &name)?;
        Some((variable.ty, variable.declared.and_then(|d| sources.position(d)).map(|p| p.line)))
    }

    #[test]
    fn a_name_means_the_innermost_variable_that_is_declared_before_it() {
        let body = |rest: &str| {
            format!("surface s(float x = 1) {{\n color a = x;\n {{\n point x = P;\n {rest} }}\n Oi = x;\n}}")
        };
        assert_eq!(meaning(&body("P = |x;")), Some((SourceType::Point, Some(4))));
        assert_eq!(meaning(&body("Ci = |a;")), Some((SourceType::Color, Some(2))));
        assert_eq!(meaning("surface s(float x = 1) {\n { point x = |x; }\n}"), Some((SourceType::Float, Some(1))));
        assert_eq!(meaning("surface s() {\n { point x = P; }\n Ci = |x;\n}"), None);
        assert_eq!(
            meaning("surface s() {\n for (float i = 0; i < 3; i += 1)\n Ci += |i;\n}"),
            Some((SourceType::Float, Some(2)))
        );
        assert_eq!(meaning("surface s() {\n illuminance (P, N, 1)\n Ci += |Cl;\n}"), Some((SourceType::Color, None)));
        assert_eq!(
            meaning("surface s(float L = 1) {\n illuminance (P, N, 1)\n Ci += |L;\n}"),
            Some((SourceType::Float, Some(1))),
            "a declared variable hides what the light says"
        );
    }

    #[test]
    fn names_mean_something_in_text_with_errors() {
        assert_eq!(
            meaning("surface s() {\n float x = 1;\n Ci = x *;\n Ci = |x * nowhere;\n"),
            Some((SourceType::Float, Some(2)))
        );
        assert_eq!(meaning("surface s() {\n float x = 1;\n Ci = |x"), Some((SourceType::Float, Some(2))));
    }

    #[test]
    fn calls_mean_the_overload_that_the_compiler_takes() {
        let (analysis, _) = analyzed(
            "color f(float x) { return x; }\nfloat f(color c) { return 1; }\nsurface s() { Ci = f(Cs) + f(2); }",
        );
        assert!(analysis.diagnostics.is_empty(), "{:?}", analysis.diagnostics);
        let mut calls: Vec<_> = analysis.calls.iter().map(|(place, s)| (place.start, s.result)).collect();
        calls.sort();
        assert_eq!(calls.iter().map(|c| c.1).collect::<Vec<_>>(), [SourceType::Float, SourceType::Color]);
    }

    #[test]
    fn the_messages_are_those_of_the_compiler() {
        for text in ["surface s() { Ci = x; }", "surface s() { Ci = ; }", "surface s() { 1; Ci = Cs; }", "#if 1\n"] {
            let mut sources = SourceMap::new();
            let file = sources.add("t.sl", None, text);
            let compiled = super::super::compile(&mut sources, file, &FrontEndOptions::default());
            let compiled = compiled.map_or_else(|errors| errors, |unit| unit.warnings);
            let analyzed = analyzed(text).0.diagnostics;
            assert!(compiled.iter().eq(analyzed.iter()), "{text}: {compiled:?} {analyzed:?}");
            assert!(!analyzed.is_empty(), "{text}");
        }
    }

    #[test]
    fn functions_of_the_user_hide_those_of_the_library() {
        let (analysis, _) = analyzed("color mix(float x) { return x; }\nsurface s() { Ci = mix(2); }");
        let mix = &analysis.functions["mix"];
        assert!(mix.len() == 1 && mix[0].declared.is_some(), "{mix:?}");
        assert!(analysis.functions["noise"].iter().all(|s| s.declared.is_none()));
        assert!(analysis.functions.contains_key("transform"));
        assert!(!analysis.functions.keys().any(|n| n.starts_with("__")));
    }

    #[test]
    fn every_special_call_has_the_type_that_the_checker_gives_it() {
        for (name, signature) in SPECIAL {
            assert_eq!(super::super::check::special_result(name), Some(parse_signature(signature).result), "{name}");
        }
    }
}
