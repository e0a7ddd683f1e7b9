//! Lowers checked functions and shaders to IR.
//!
//! Each becomes one function in SSA form. Its parameters are those declared, then the predefined
//! variables that it reads, by name; its results are the function's value, then outputs. Three
//! floats that lie together in an array are one `vec3`; every other number is a value of its own,
//! fixed-point ones the integers that are stored.

use super::ast::{Modifier, ShaderKind};
use super::globals::{Meaning, Name};
use super::tree::*;
use super::types::{Fixed, Scalar, Type};
use crate::globals;
use crate::types::SourceType;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::Span;
use shadewright_ir::abi::{Input, ShaderSpace, input, library};
use shadewright_ir::{
    self as ir, Const, Control, FunctionBuilder, FunctionKind, FunctionOrigin, Loc, LocData, LoopExits, Module, Op,
    ParamKind, Value, Variable as Storage,
};
use std::collections::HashMap;
use std::sync::Arc;

mod arrays;
mod expressions;
mod fixed;
mod shaders;
mod statements;

pub use shaders::{default_name, source_type};

/// The state of lowering, for all functions of a file.
pub struct Lowering<'a> {
    file: &'a File,
    /// The functions of the standard library that are called.
    library: &'a Module,
    /// True if assignments to variables leave `debug` instructions.
    debug: bool,
    places: Places,
}

/// The module made so far, with the places of its instructions.
#[derive(Default)]
struct Places {
    module: Module,
    locs: HashMap<Span, Loc>,
    /// Functions that are too large, by name, with the place where they became that.
    too_large: Vec<(Arc<str>, Span)>,
}

impl Places {
    fn loc(&mut self, span: Span) -> Loc {
        let module = &mut self.module;
        *self.locs.entry(span).or_insert_with(|| module.add_loc(LocData { span: Some(span), inlined_at: None }))
    }
}

impl<'a> Lowering<'a> {
    /// Nothing lowered yet.
    pub fn new(file: &'a File, library: &'a Module, debug: bool) -> Self {
        Self { file, library, debug, places: Places::default() }
    }

    /// Lowers a function or a shader's core, and for a shader the functions that give the defaults of
    /// its parameters.
    pub fn function(&mut self, number: usize) {
        let f = &self.file.functions[number];
        let Some(body) = &f.body else {
            let params: Vec<ir::Type> = f.declaration.params.iter().flat_map(|p| p.ty.values()).collect();
            let results = f.declaration.result.values();
            let made = f.host.as_ref().map(|h| h.declaration(f.ir_name.clone(), &params, &results));
            self.places.module.functions.extend(made);
            return;
        };
        let kind = f.declaration.shader.map_or(FunctionKind::Function, FunctionKind::Core);
        let mut builder = FunctionBuilder::new(f.ir_name.clone(), kind).with_origin(FunctionOrigin::User);
        builder.loc = self.places.loc(f.declaration.name.span);
        builder.set_function_loc(builder.loc);
        let lowerer = Lowerer {
            file: self.file,
            library: self.library,
            debug: self.debug,
            places: &mut self.places,
            b: builder,
            function: f,
            body,
            variables: Vec::new(),
            textures: HashMap::new(),
            inputs: HashMap::new(),
            loops: Vec::new(),
            old: Vec::new(),
        };
        let made = lowerer.lower();
        self.places.module.functions.push(made);
        if f.declaration.shader.is_some() {
            self.defaults(f, body);
        }
    }

    /// All that was made; functions that are too large are errors.
    pub fn finish(self, diags: &mut Diagnostics) -> Module {
        self.places.too_large.iter().for_each(|(name, place)| diags.push(crate::too_large(name, *place)));
        self.places.module
    }
}

/// Lowers one function.
pub struct Lowerer<'l> {
    file: &'l File,
    library: &'l Module,
    debug: bool,
    places: &'l mut Places,
    /// The function that is built.
    pub b: FunctionBuilder,
    function: &'l Function,
    body: &'l Body,
    /// The values of each variable.
    variables: Vec<Vec<Storage>>,
    /// Identifiers of textures.
    textures: HashMap<VariableId, Value>,
    /// Predefined variables that it takes.
    inputs: HashMap<&'static str, Value>,
    loops: Vec<LoopExits>,
    /// Values of places that are being changed, before, the innermost last.
    old: Vec<Vec<Value>>,
}

impl Control for Lowerer<'_> {
    fn builder(&mut self) -> &mut FunctionBuilder {
        &mut self.b
    }
}
