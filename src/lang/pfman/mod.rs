//! pfman, the shading language of PixelFlow (Olano 1998, "A Programmable Pipeline for Graphics
//! Hardware", chapter 4): C with arrays as vectors and matrices, fixed-point numbers of any size,
//! and surfaces and lights.
//!
//! A file passes [`crate::preprocess`] → [`lexer`] → [`parser`] → [`ast`] → [`check`], which
//! makes a typed [`tree`], → `lower`, which emits IR. The functions of the standard library that a
//! file calls are compiled with it.

pub mod ast;
mod builtins;
mod check;
mod editor;
mod globals;
mod language;
pub mod lexer;
mod lower;
mod outlines;
pub mod parser;
mod sizes;
pub mod tree;
pub mod types;

#[cfg(test)]
mod tests;

pub use language::Pfman;

use crate::language::FrontEndOptions;
use crate::preprocess::{Preprocessed, preprocess};
use crate::types::SourceType;
use crate::unit::{FunctionInfo, LightKind, ShaderInfo, ShaderParam, ShaderUnit};
use crate::{recursion, stdlib};
use ast::Ast;
use lower::{Lowering, default_name, source_type};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_ir::abi::ShaderKind;
use shadewright_ir::{HostFunctions, Module};
use std::collections::BTreeSet;
use tree::{File, Function, Origin, VariableId};

/// The headers that come with the language: what they define is known without them, too.
pub const HEADERS: [(&str, &str); 3] = [
    ("pfman.h", include_str!("headers/pfman.h")),
    ("pftypes.h", include_str!("headers/pftypes.h")),
    ("pfman_types.h", include_str!("headers/pftypes.h")),
];

/// Reads a file into its syntax tree, with what the preprocessor did.
fn read(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> (Preprocessed, Ast, Diagnostics) {
    let mut diags = Diagnostics::new();
    let mut options = options.preprocess.clone();
    options.built_in = &HEADERS;
    let preprocessed = preprocess(sources, file, &options, &mut diags);
    let tokens = lexer::lex(file, &preprocessed.tokens);
    let ast = parser::parse(&tokens, &mut diags);
    (preprocessed, ast, diags)
}

/// Reads a file into its syntax tree, as far as it can be read.
pub fn parse(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> (Ast, Diagnostics) {
    let (_, ast, diags) = read(sources, file, options);
    (ast, diags)
}

/// The name of a predefined variable that cores take, where that is one.
fn input_name(name: &str) -> Option<&'static str> {
    crate::globals::find(name).map(|global| global.name)
}

/// Checks a file's tree, with what the functions of the library that it calls need.
///
/// # Errors
/// When the standard library cannot be compiled.
fn checked(
    sources: &mut SourceMap,
    ast: &Ast,
    host: &HostFunctions,
    broken: bool,
    diags: &mut Diagnostics,
) -> Result<(File, Module), Diagnostics> {
    let mut file = check::check(ast, host, broken, diags);
    let bodies = file.functions.iter().filter_map(|f| f.body.as_ref());
    let names: BTreeSet<&'static str> = bodies.flat_map(|b| &b.library).copied().collect();
    let of_source: Vec<&str> = names.into_iter().filter(|name| !is_built(name)).collect();
    let library = match of_source.is_empty() {
        true => Module::new(),
        false => stdlib::compile(sources, &of_source, &FrontEndOptions::default())?.module,
    };
    check::add_library_inputs(&mut file, |name| library_inputs(&library, name));
    Ok((file, library))
}

/// The predefined variables that functions of the library take after their arguments.
fn library_inputs(library: &Module, name: &str) -> Vec<&'static str> {
    let base = shadewright_ir::abi::library::name(name);
    let arguments = |f: &shadewright_ir::Function| {
        let rest = f.name.strip_prefix(&*base)?;
        match rest.strip_prefix('.') {
            // Overloads have a letter for each argument in their names.
            Some(letters) => letters.split('.').next().map(str::len),
            None => rest.is_empty().then(|| builtins::argument_count(name)),
        }
    };
    let functions = library.functions.iter().filter_map(|f| Some((f, arguments(f)?)));
    functions.flat_map(|(f, count)| f.params.iter().skip(count)).filter_map(|p| input_name(&p.name)).collect()
}

/// True if a function of the library is built as IR, and is in no source.
fn is_built(name: &str) -> bool {
    matches!(name, "noise" | "cellnoise" | "texture")
}

/// Compiles a file. Files that it includes and those of the standard library join `sources`.
///
/// # Errors
/// All errors of the file, with warnings between them.
pub fn compile(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<ShaderUnit, Diagnostics> {
    let (_, ast, mut diags) = read(sources, file, options);
    if ast.functions.iter().all(|f| f.body.is_none()) && !diags.has_errors() {
        let place = Span::new(file, 0, 0);
        return Err(Diagnostic::error("this file defines no shader and no function").at(place, "nothing here").into());
    }
    let (tree, library) = checked(sources, &ast, &options.host, diags.has_errors(), &mut diags)?;
    if diags.has_errors() {
        return Err(diags);
    }
    let mut lowering = Lowering::new(&tree, &library, options.debug);
    (0..tree.functions.len()).for_each(|number| lowering.function(number));
    let mut module = lowering.finish(&mut diags);
    if !diags.has_errors() {
        recursion::report(&module, &mut diags);
    }
    if diags.has_errors() {
        return Err(diags);
    }
    module.absorb(library);
    stdlib::add_built_functions(&mut module);
    let defined = || tree.functions.iter().filter(|f| f.body.is_some());
    let outlines = if options.debug { defined().filter_map(outlines::outline).collect() } else { Vec::new() };
    Ok(ShaderUnit {
        shaders: defined().filter_map(shader_info).collect(),
        functions: defined().filter_map(function_info).collect(),
        module,
        methods: Vec::new(),
        warnings: diags,
        prints: false,
        outlines,
    })
}

fn shader_info(f: &Function) -> Option<ShaderInfo> {
    let (declaration, body) = (&f.declaration, f.body.as_ref()?);
    let kind = declaration.shader?;
    let numbered = body.variables.iter().enumerate();
    let params = numbered.filter_map(|(number, v)| {
        let Origin::Parameter(param) = v.origin else { return None };
        Some(ShaderParam {
            name: v.name.clone(),
            ty: source_type(body, VariableId(number as u32)),
            class: v.class,
            output: declaration.params[param].output,
            open: false,
            default: default_name(&f.ir_name, &v.name).into(),
        })
    });
    Some(ShaderInfo {
        name: declaration.name.name.clone(),
        core: f.ir_name.clone(),
        kind,
        params: params.collect(),
        light: light_kind(f),
        strings: Vec::new(),
    })
}

/// How a light shines: from a place where what it does depends on the point that is lit, else from
/// far away; one that has no direction everywhere alike.
fn light_kind(f: &Function) -> Option<LightKind> {
    let body = f.body.as_ref().filter(|_| f.declaration.shader == Some(ShaderKind::Light))?;
    Some(if !body.writes.contains("L") {
        LightKind::Ambient
    } else if body.reads.contains("Ps") {
        LightKind::Positional
    } else {
        LightKind::Directional
    })
}

/// The description for tools of a function whose values are numbers or triples of floats.
fn function_info(f: &Function) -> Option<FunctionInfo> {
    let declaration = &f.declaration;
    if declaration.shader.is_some() {
        return None;
    }
    let source = |ty: &types::Type| match (ty, ty.dims()) {
        (types::Type::Void, _) => Some(SourceType::Void),
        (_, []) if ty.scalar() == types::Scalar::Float => Some(SourceType::Float),
        (_, [3]) if ty.scalar() == types::Scalar::Float => Some(SourceType::Vector),
        _ => None,
    };
    let params: Option<Vec<_>> =
        declaration.params.iter().map(|p| Some((p.name.name.clone(), source(&p.ty)?, p.output))).collect();
    Some(FunctionInfo {
        name: declaration.name.name.clone(),
        ir_name: f.ir_name.clone(),
        params: params?,
        result: source(&declaration.result)?,
    })
}
