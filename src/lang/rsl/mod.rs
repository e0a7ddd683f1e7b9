//! The RenderMan Shading Language (RenderMan Interface 3.2.1, part II): source text in, one IR
//! module of cores out.
//!
//! A file passes [`crate::preprocess`] → [`lexer`] → [`parser`] → [`ast`]. `objects` flattens
//! structs and classes, [`effects`] finds hidden inputs, [`check`] types expressions and resolves
//! overloads, `lower` emits IR, and [`recursion`] rejects calls that never return.
//! The standard library is parsed with every file; of it only what is called becomes part of the
//! module. Editors use [`analysis`] instead of [`compile`], and [`mod@reference`] for the meaning
//! of words.
//!
//! This front end knows no back end, no scene and no light: a linker supplies
//! [`LightCount`](shadewright_ir::abi::Intrinsic::LightCount),
//! [`LightSample`](shadewright_ir::abi::Intrinsic::LightSample),
//! [`LightAmbient`](shadewright_ir::abi::Intrinsic::LightAmbient) and the named inputs of the cores.

pub mod analysis;
pub mod ast;
mod builtins;
mod check;
pub mod coshader_calls;
pub mod dump;
mod editor;
mod effects;
mod language;
mod lengths;
pub mod lexer;
mod lower;
mod matrices;
mod objects;
mod outlines;
pub mod parser;
mod program;
pub mod queries;
pub mod reference;
mod spaces;
mod symbols;
mod types;

pub use language::Rsl;

use crate::coshaders;
use crate::language::FrontEndOptions;
use crate::preprocess::{Preprocessed, preprocess};
use crate::recursion;
use crate::stdlib;
use crate::strings::StringExpr;
use crate::types::StorageClass;
use crate::unit::{FunctionInfo, LightKind, MethodInfo, ShaderInfo, ShaderParam, ShaderUnit};
use ast::{Ast, Definition, Stmt, StmtKind};
use lower::{Lowering, Version};
use outlines::outline;
use program::Program;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_ir::abi::ShaderKind;
use shadewright_ir::abi::frame;
use shadewright_ir::colliding_strings;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use symbols::Symbols;

/// Reads a file into its syntax tree, as far as it can be read.
pub fn parse(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> (Ast, Diagnostics) {
    let (_, ast, diags) = read(sources, file, options);
    (ast, diags)
}

/// Reads a file into its syntax tree, with what the preprocessor did.
fn read(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> (Preprocessed, Ast, Diagnostics) {
    let mut diags = Diagnostics::new();
    let preprocessed = preprocess(sources, file, &options.preprocess, &mut diags);
    let tokens = lexer::lex(file, &preprocessed.tokens);
    let mut ast = parser::parse(&tokens, &mut diags);
    lengths::settle(&mut ast, &options.lengths, &mut diags);
    objects::flatten(&mut ast, &mut diags);
    keep_last_definitions(&mut ast, &mut diags);
    (preprocessed, ast, diags)
}

/// Of functions with the same name, parameters and result, and of shaders with the same name and
/// kind, keeps the last, with a warning.
fn keep_last_definitions(ast: &mut Ast, diags: &mut Diagnostics) {
    let mut last: HashMap<_, Span> = HashMap::new();
    let mut repeated: HashMap<Span, Span> = HashMap::new();
    for d in &ast.definitions {
        let types: Vec<_> = d.params.iter().map(|p| p.ty).filter(|_| d.shader.is_none()).collect();
        let known = last.insert((d.name.name.clone(), types, d.result, d.shader), d.name.span);
        repeated.extend(known.filter(|first| *first != d.name.span).map(|first| (first, d.name.span)));
    }
    let mut warnings = Vec::new();
    ast.definitions.retain(|d| match repeated.get(&d.name.span) {
        Some(&again) => {
            let name = d.name.name.rsplit('.').next().unwrap_or(&d.name.name);
            let message = format!("`{name}` is defined twice: the later definition is used");
            warnings.push(Diagnostic::warning(message).at(again, "defined again").also(d.name.span, "defined first"));
            false
        }
        None => true,
    });
    warnings.into_iter().for_each(|d| diags.push(d));
}

/// The error of a file without definitions.
pub fn nothing_defined(file: FileId) -> Diagnostic {
    let place = shadewright_base::text::source::Span::new(file, 0, 0);
    Diagnostic::error("this file defines no shader and no function").at(place, "nothing here")
}

/// Compiles a file. Files that it includes and those of the standard library join `sources`.
///
/// # Errors
/// All errors of the file, with warnings between them.
pub fn compile(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<ShaderUnit, Diagnostics> {
    let (mut ast, diags) = parse(sources, file, options);
    let own = ast.definitions.len();
    if own == 0 && !diags.has_errors() {
        return Err(nothing_defined(file).into());
    }
    ast.append(library_ast(sources)?);
    let broken = diags.has_errors();
    let mut program = Program::new(&ast, own);
    program.missing_are_zero = options.missing_are_zero;
    let lowering = Lowering::new(&program, options, broken);
    let mut unit = lower(lowering, own, &HashSet::new(), diags).0?;
    let functions = program.functions[..own].iter().zip(&ast.definitions).filter(|(_, d)| d.shader.is_none());
    unit.functions = functions
        .map(|(f, d)| FunctionInfo {
            name: d.name.name.clone(),
            ir_name: f.ir_name.clone(),
            params: d.declared().iter().map(|p| (p.name.name.clone(), p.ty, p.output)).collect(),
            result: d.result,
        })
        .collect();
    Ok(unit)
}

/// Compiles functions of the standard library by their names in its source (`__camera`), with all
/// that they call.
///
/// # Errors
/// None, unless the library itself is wrong.
pub fn compile_library(
    sources: &mut SourceMap,
    names: &[&str],
    options: &FrontEndOptions,
) -> Result<ShaderUnit, Diagnostics> {
    let ast = library_ast(sources)?;
    let program = Program::new(&ast, 0);
    let lowering = Lowering::new(&program, options, false);
    lower(lowering, 0, &names.iter().copied().collect(), Diagnostics::new()).0
}

/// Trees of the library's files, by the numbers that these have: most compilations have the same,
/// and the files never change.
static LIBRARIES: Mutex<Vec<(Vec<FileId>, Arc<Ast>)>> = Mutex::new(Vec::new());

/// How many are kept.
const MAX_LIBRARIES: usize = 8;

/// The syntax trees of the library's files.
fn library_ast(sources: &mut SourceMap) -> Result<Ast, Diagnostics> {
    let files: Vec<FileId> = stdlib::SOURCES.iter().map(|(name, text)| library_file(sources, name, text)).collect();
    let known = |list: &[(Vec<FileId>, Arc<Ast>)]| list.iter().find(|(f, _)| *f == files).map(|(_, ast)| ast.clone());
    if let Some(ast) = known(&LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner)) {
        return Ok((*ast).clone());
    }
    let mut options = FrontEndOptions::default();
    options.preprocess.defines = frame::macros();
    let mut ast = Ast::default();
    for &file in &files {
        let (part, diags) = parse(sources, file, &options);
        if diags.has_errors() {
            return Err(diags);
        }
        ast.append(part);
    }
    let mut list = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    if list.len() >= MAX_LIBRARIES {
        list.remove(0);
    }
    list.push((files, Arc::new(ast.clone())));
    Ok(ast)
}

/// A file of the library, which joins the sources once.
fn library_file(sources: &mut SourceMap, name: &str, text: &str) -> FileId {
    let name = format!("<built-in {name}>");
    let known = sources.files().iter().position(|f| f.name == name && f.path.is_none());
    match known {
        Some(i) => FileId(i as u32),
        None => sources.add(name, None, text),
    }
}

/// Lowers the user's definitions, those of the library that `roots` names, and all of the library
/// that they call. Gives back the notes on the user's definitions, where notes were asked for.
fn lower(
    mut lowering: Lowering<'_>,
    own: usize,
    roots: &HashSet<&str>,
    mut diags: Diagnostics,
) -> (Result<ShaderUnit, Diagnostics>, Option<Symbols>) {
    let program = lowering.program;
    for (i, d) in program.ast.definitions.iter().enumerate() {
        let is_made_on_demand = d.params.iter().any(|p| p.ty.is_unsized()) && d.shader.is_none();
        if (i < own && !is_made_on_demand) || roots.contains(&*d.name.name) {
            lowering.definition(i, &[]);
        }
        if i < own && d.shader.is_some() {
            lowering.default_values(i);
        }
    }
    let symbols = lowering.symbols.take();
    let rooted = (0..program.functions.len()).filter(|i| roots.contains(&*program.definition(*i).name.name));
    let mut done: HashSet<Version> = rooted.map(|i| (i, Vec::new())).collect();
    loop {
        while let Some(next) = lowering.needed.pop_first() {
            if !done.contains(&next) {
                lowering.definition(next.0, &next.1);
                done.insert(next);
            }
        }
        // What nobody calls is checked too, with arrays of one element.
        let open = |i: usize| program.definition(i).params.iter().filter(|p| p.ty.is_unsized()).count();
        let made = |i: usize| program.definition(i).shader.is_some() || done.iter().any(|v| v.0 == i);
        let Some(uncalled) = (0..own).find(|&i| open(i) > 0 && !made(i)) else { break };
        let lengths = lower::lengths_without_caller(program.ast, program.definition(uncalled));
        lowering.needed.insert((uncalled, lengths));
    }
    let done: HashSet<usize> = done.into_iter().map(|(i, _)| i).collect();
    let mut outlines = Vec::new();
    if lowering.debug {
        let kept = (0..program.functions.len()).filter(|i| *i < own || done.contains(i));
        outlines.extend(kept.map(|i| outline(program.ast, program.definition(i), i >= own)));
    }
    diags.extend(std::mem::take(&mut lowering.diags));
    let mut strings = std::mem::take(&mut lowering.strings);
    let info = |i: usize| shader_info(program, i, strings.remove(&i).unwrap_or_default());
    let (mut shaders, mut methods) = (Vec::new(), Vec::new());
    for core in (0..own).filter_map(info) {
        match coshaders::class_and_method(&core.name) {
            Some((class, name)) => {
                let (class, name) = (class.into(), name.into());
                methods.push(MethodInfo { class, name, core });
            }
            None => shaders.push(core),
        }
    }
    let prints = lowering.prints;
    let mut module = lowering.module;
    stdlib::add_built_functions(&mut module);
    if !diags.has_errors() {
        recursion::report(&module, &mut diags);
        if let Some((first, second)) = colliding_strings(module.strings().map(|s| &**s)) {
            diags.push(Diagnostic::colliding_strings(first, second));
        }
    }
    let unit = match diags.has_errors() {
        true => Err(diags),
        false => Ok(ShaderUnit { module, shaders, methods, functions: Vec::new(), warnings: diags, prints, outlines }),
    };
    (unit, symbols)
}

fn shader_info(program: &Program<'_>, index: usize, strings: Vec<StringExpr>) -> Option<ShaderInfo> {
    let d = program.definition(index);
    let core = program.functions[index].ir_name.clone();
    let kind = d.shader?;
    let params: Vec<ShaderParam> = d
        .params
        .iter()
        .zip(lower::default_names(&core, &d.params))
        .map(|(p, default)| ShaderParam {
            name: p.name.name.clone(),
            ty: p.ty,
            class: p.class.unwrap_or(StorageClass::Uniform),
            output: p.output,
            open: p.open,
            default,
        })
        .collect();
    Some(ShaderInfo { name: d.name.name.clone(), core, kind, params, light: light_kind(d), strings })
}

/// How a light shines. One with both statements counts as positional.
fn light_kind(d: &Definition) -> Option<LightKind> {
    if d.shader != Some(ShaderKind::Light) || d.light.is_some() {
        return d.light;
    }
    let mut list: Vec<&Stmt> = d.body.iter().collect();
    let mut kind = LightKind::Ambient;
    while let Some(s) = list.pop() {
        match &s.kind {
            StmtKind::Illuminate(..) => kind = LightKind::Positional,
            StmtKind::Solar(..) if kind == LightKind::Ambient => kind = LightKind::Directional,
            _ => {}
        }
        list.extend(s.children());
    }
    Some(kind)
}

#[cfg(test)]
mod tests;
