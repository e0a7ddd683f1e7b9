//! Lowers checked functions and shaders to IR.
//!
//! Each definition becomes one function in SSA form. Its parameters are those declared, then the
//! predefined variables that it reads, by name; its results are the function's value, then outputs.
//! One walk over the tree finds types (by [`super::check`]), reports errors and emits code; after
//! an error it continues with the next statement.

use super::ast::*;
use super::check::Checker;
use super::program::Program;
use super::symbols::{Role, Symbols, Variable as NotedVariable};
use crate::FrontEndOptions;
use crate::globals::{self, Global};
use crate::strings::StringExpr;
use crate::types::{OPEN, SourceType, StorageClass};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::Span;
use shadewright_ir::abi::{Input, input, library};
use shadewright_ir::{
    Condition, Const, Control, CountedLoop, FunctionBuilder, FunctionKind, FunctionOrigin, Loc, LocData, LoopExits,
    Module, Op, ParamKind, SlotId, Type, Value, Variable,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

mod arrays;
mod calls;
mod channels;
mod coshaders;
mod expr;
mod gather;
mod inline;
mod lights;
mod pointclouds;
mod printf;
mod queries;
mod resizing;
mod rows;
mod spaces;
mod stmt;
mod strings;

pub use arrays::lengths_without_caller;
pub use pointclouds::FILE_PAIRS;
pub use strings::STRING_FUNCTIONS;

/// The most errors of a file.
const MAX_ERRORS: usize = 100;
/// Most parameters of a shader.
const MAX_PARAMETERS: usize = 8192;

/// The inputs and the results of lowering, for the whole compilation.
pub struct Lowering<'a> {
    /// The functions.
    pub program: &'a Program<'a>,
    /// The module made so far.
    pub module: Module,
    /// Messages.
    pub diags: Diagnostics,
    /// True if assignments to variables leave `debug` instructions.
    pub debug: bool,
    /// True if `"world"` names a coordinate system of the scene.
    pub world_is_named: bool,
    /// True if reads of components in the current space are reported.
    pub current_is_open: bool,
    /// True if the file had syntax errors: names may then be unknown because their declaration
    /// could not be read.
    pub broken: bool,
    /// Functions of the library that are called, and functions that are made for each length of an
    /// array.
    pub needed: BTreeSet<Version>,
    /// True if something calls `printf`.
    pub prints: bool,
    /// How many calls bake points or samples.
    pub bakes: u32,
    /// The symbols that editors ask for; `None` where nobody does.
    pub symbols: Option<Symbols>,
    /// The expressions of the shaders' named inputs `string.0`, `string.1`, …, by the number of the
    /// definition.
    pub strings: HashMap<usize, Vec<StringExpr>>,
    /// Elements of arrays that were copied or passed so far.
    copied: usize,
    locs: HashMap<Span, Loc>,
}

/// A function as it is made for arrays of given lengths: its number, and the lengths of the
/// parameters that leave theirs open, in order.
pub type Version = (usize, Vec<u32>);

/// A variable in scope.
#[derive(Clone, Debug)]
struct Var {
    /// Where its value is; of an array, which is in `slot`, the length where that changes.
    storage: Variable,
    /// For an array, its elements.
    slot: Option<SlotId>,
    ty: SourceType,
    class: StorageClass,
    /// True if it was declared `uniform` in so many words.
    strict: bool,
    /// The string that it holds, where that is known for an instance.
    text: Option<StringExpr>,
    /// Where it was declared; predefined variables have no place.
    declared: Option<Span>,
    /// True if it is an array whose length others decide on: callers, or a scene.
    open: bool,
    /// True if it stands for a predefined variable that this kind of shader does not have.
    absent: bool,
}

/// An error was reported; the statement is given up.
#[derive(Clone, Copy, Debug)]
struct Poison;

type Lower<T> = Result<T, Poison>;

/// A value of an expression.
#[derive(Clone, Copy, Debug)]
struct Typed {
    /// The value; meaningless for `void`.
    value: Value,
    ty: SourceType,
    class: StorageClass,
}

/// The innermost name of a variable decides.
#[derive(Default)]
struct Scopes {
    /// Declared variables, innermost scope last.
    declared: Vec<HashMap<Arc<str>, Var>>,
    /// Predefined variables.
    globals: BTreeMap<&'static str, Var>,
}

impl Scopes {
    fn find(&self, name: &str) -> Option<&Var> {
        let declared = self.declared.iter().rev().find_map(|s| s.get(name));
        declared.or_else(|| self.globals.get(name).filter(|_| Input::parse(name).is_predefined()))
    }

    /// The declared variable of that name, to change what is known of it.
    fn find_mut(&mut self, name: &str) -> Option<&mut Var> {
        self.declared.iter_mut().rev().find_map(|scope| scope.get_mut(name))
    }
}

impl super::check::Names for Scopes {
    fn type_of_name(&self, name: &str) -> Option<SourceType> {
        match self.find(name) {
            Some(v) => Some(v.ty),
            None => (name == "PI").then_some(SourceType::Float),
        }
    }
}

/// Lowers one definition.
struct Body<'c, 'a> {
    cx: &'c mut Lowering<'a>,
    b: FunctionBuilder,
    checker: Checker<'a>,
    scopes: Scopes,
    loops: Vec<LoopExits>,
    /// The kind of shader, if it is one.
    shader: Option<ShaderKind>,
    result: SourceType,
    /// The light of the `illuminance` around the current statement.
    light: Option<queries::CurrentLight>,
    /// Inputs after the declared ones, by their names.
    named: HashMap<Arc<str>, Value>,
    /// Variables whose values are returned after the function's own value.
    outputs: Vec<Var>,
    /// True if it belongs to the standard library.
    in_library: bool,
    /// Variables that it changes.
    changed: BTreeSet<Arc<str>>,
    /// Texts that the linker works out, with the inputs that they arrive as.
    strings: Vec<(StringExpr, Value)>,
    /// True if a read of a component in the current space is still to be reported.
    warns_of_components: bool,
    /// The functions whose statements are being lowered in place of calls, the innermost last.
    inlined: Vec<inline::Inlined>,
    /// How many calls were replaced so far.
    inlined_calls: usize,
    /// True if it is a function that shaders have in place of calls: what it asks for is found
    /// there.
    is_inlined: bool,
}

impl<'a> Lowering<'a> {
    /// Nothing lowered yet.
    pub fn new(program: &'a Program<'a>, options: &FrontEndOptions, broken: bool) -> Self {
        Self {
            program,
            module: Module::new(),
            diags: Diagnostics::new(),
            debug: options.debug,
            world_is_named: options.world_is_named,
            current_is_open: options.current_is_open,
            broken,
            needed: BTreeSet::new(),
            prints: false,
            bakes: 0,
            symbols: None,
            strings: HashMap::new(),
            copied: 0,
            locs: HashMap::new(),
        }
    }

    fn loc(&mut self, span: Span) -> Loc {
        let module = &mut self.module;
        *self.locs.entry(span).or_insert_with(|| module.add_loc(LocData { span: Some(span), inlined_at: None }))
    }

    fn note(&mut self, f: impl FnOnce(&mut Symbols)) {
        if let Some(notes) = &mut self.symbols {
            f(notes);
        }
    }

    /// Symbols a variable that is visible from its declaration to the end of the innermost scope.
    fn note_variable(&mut self, d: &Decl, class: StorageClass, role: Role) {
        let ast = self.program.ast;
        self.note(|notes| {
            let init = d.init.map(|e| ast.expr(e).span);
            notes.declare(NotedVariable {
                name: d.name.name.clone(),
                ty: if d.open { d.ty.element().array(OPEN).unwrap_or(d.ty) } else { d.ty },
                class,
                role,
                declared: Some(d.name.span),
                init,
                visible: init.unwrap_or(d.name.span),
            });
        });
    }

    /// Reports something once: code of a class is part of each of its shaders.
    fn report(&mut self, d: Diagnostic) {
        if self.diags.error_count() < MAX_ERRORS && !self.diags.iter().any(|known| *known == d) {
            self.diags.push(d);
        }
    }

    fn error<T>(&mut self, d: Diagnostic) -> Lower<T> {
        self.report(d);
        Err(Poison)
    }

    /// Lowers a function or a shader's core. `lengths` are those of the parameters that are arrays
    /// of any length.
    pub fn definition(&mut self, index: usize, lengths: &[u32]) {
        let program = self.program;
        let d = program.definition(index);
        let info = &program.functions[index];
        let params = arrays::sized(&d.params, lengths);
        let kind = match d.shader {
            None => FunctionKind::Function,
            Some(kind) => FunctionKind::Core(kind),
        };
        if let Some(first) = d.params.get(MAX_PARAMETERS).filter(|_| d.shader.is_some()) {
            let what = Diagnostic::error(format!("a shader has more than {MAX_PARAMETERS} parameters"));
            return self.report(what.at(first.name.span, "one too many"));
        }
        let name = arrays::version_name(&info.ir_name, lengths);
        let mut body = Body::new(self, name, kind, d.name.span, info.library);
        body.shader = d.shader;
        body.result = d.result;
        body.is_inlined = program.is_inlined(index);
        body.changed = strings::changed(program, &d.body);
        if let Some(ty) = d.result.ir() {
            body.b.result("return", ty);
        }
        body.cx.note(|notes| notes.enter(d.block()));
        body.params(&params, d.shader.is_some());
        let outputs: Vec<&'static str> = match d.shader {
            Some(kind) => {
                let bakes = kind == ShaderKind::Surface && info.effects.writes.contains(input::BAKED);
                let own = globals::outputs(kind).iter().copied();
                own.chain(bakes.then_some(input::BAKED)).collect()
            }
            None => info.effects.writes.iter().copied().collect(),
        };
        body.inputs(&info.effects.inputs(), &outputs);
        body.declare_outputs(&outputs, &params);
        body.scopes.declared.push(HashMap::new());
        body.statements(&d.body);
        body.cx.note(Symbols::leave);
        let strings = body.strings.drain(..).map(|(text, _)| text).collect::<Vec<_>>();
        body.finish(d);
        if !strings.is_empty() {
            self.strings.insert(index, strings);
        }
    }

    /// Lowers the functions that give the defaults of a shader's parameters.
    pub fn default_values(&mut self, index: usize) {
        let names = default_names(&self.program.functions[index].ir_name, &self.program.definition(index).params);
        names.into_iter().enumerate().for_each(|(number, name)| self.default_value(index, number, name));
    }

    fn default_value(&mut self, index: usize, number: usize, name: Arc<str>) {
        let program = self.program;
        let params = &program.definition(index).params;
        let param = &params[number];
        let mut body = Body::new(self, name, FunctionKind::Function, param.name.span, false);
        body.result = param.ty;
        body.results("return", param.ty);
        // A default may be made of the parameters before it. Those that it does not name would make
        // the defaults of n parameters take n² steps.
        let named = param.init.map(|e| names_in(program.ast, e)).unwrap_or_default();
        let before = match named.is_empty() {
            true => Vec::new(),
            false => params[..number].iter().filter(|p| named.contains(&p.name.name)).cloned().collect::<Vec<Decl>>(),
        };
        let effects = param.init.map(|e| super::effects::default_effects(program.ast, &before, e)).unwrap_or_default();
        let earlier = before.iter().map(|p| (p.name.name.clone(), body.param(p, StorageClass::Uniform)));
        let earlier = earlier.collect();
        body.scopes.declared.push(earlier);
        body.inputs(&effects.inputs(), &[]);
        let values = match param.init {
            Some(e) => body.values_as(e, param.ty).map(|v| v.0),
            None => Ok(body.zeros(param.ty)),
        };
        if let Ok(values) = values {
            body.b.ret(values);
        }
        let mut function = body.b.finish();
        function.drop_unused_params(0);
        self.module.functions.push(function);
    }
}

/// The names of variables in an expression.
fn names_in(ast: &Ast, expr: ExprId) -> HashSet<Arc<str>> {
    let (mut names, mut rest) = (HashSet::new(), vec![expr]);
    while let Some(e) = rest.pop() {
        let kind = &ast.expr(e).kind;
        match kind {
            ExprKind::Name(name) => {
                names.insert(name.clone());
            }
            ExprKind::Assign(_, place, _) | ExprKind::Index(place) | ExprKind::Method(place, ..) => {
                names.insert(place.name.name.clone());
            }
            _ => {}
        }
        kind.for_each_child(|child| rest.push(child));
    }
    names
}

/// The IR functions that compute the defaults of the parameters of the shader with this core. Of
/// parameters with one name, the last has the plain one.
pub fn default_names(core: &str, params: &[Decl]) -> Vec<Arc<str>> {
    let mut last: HashMap<&str, usize> = HashMap::new();
    last.extend(params.iter().enumerate().map(|(number, p)| (&*p.name.name, number)));
    let name = |(number, p): (usize, &Decl)| match last[&*p.name.name] == number {
        true => format!("{core}.default.{}", p.name.name).into(),
        false => format!("{core}.default.{}.{number}", p.name.name).into(),
    };
    params.iter().enumerate().map(name).collect()
}

impl Control for Body<'_, '_> {
    fn builder(&mut self) -> &mut FunctionBuilder {
        &mut self.b
    }
}

impl<'c, 'a> Body<'c, 'a> {
    fn new(cx: &'c mut Lowering<'a>, name: Arc<str>, kind: FunctionKind, span: Span, library: bool) -> Self {
        let origin = if library { FunctionOrigin::Library } else { FunctionOrigin::User };
        let mut b = FunctionBuilder::new(name, kind).with_origin(origin);
        b.loc = cx.loc(span);
        b.set_function_loc(b.loc);
        let checker = Checker::new(cx.program, library);
        let warns_of_components = cx.current_is_open;
        Self {
            cx,
            b,
            checker,
            scopes: Scopes::default(),
            loops: Vec::new(),
            shader: None,
            result: SourceType::Void,
            light: None,
            named: HashMap::new(),
            outputs: Vec::new(),
            in_library: library,
            changed: BTreeSet::new(),
            strings: Vec::new(),
            warns_of_components,
            inlined: Vec::new(),
            inlined_calls: 0,
            is_inlined: false,
        }
    }

    fn params(&mut self, params: &[Decl], of_shader: bool) {
        let mut scope: HashMap<Arc<str>, Var> = HashMap::new();
        let usual = if of_shader { StorageClass::Uniform } else { StorageClass::Varying };
        for p in params {
            let class = p.class.unwrap_or(usual);
            self.cx.note_variable(p, class, if p.output { Role::Output } else { Role::Parameter });
            // Without a word, a function's parameter is what the caller gives: it may go to uniform
            // variables.
            let known = if of_shader { class } else { p.class.unwrap_or(StorageClass::Uniform) };
            let mut var = self.param(p, known);
            var.strict = p.class == Some(StorageClass::Uniform);
            let is_known = of_shader && class != StorageClass::Varying && !self.changed.contains(&p.name.name);
            if is_known && matches!(p.ty, SourceType::String | SourceType::Float) {
                var.text = Some(StringExpr::Parameter(p.name.name.clone()));
            }
            if let Some(old) = scope.get(&p.name.name) {
                let message = format!("parameter `{}` is declared twice: the later one hides the first", p.name.name);
                let mut d = Diagnostic::warning(message).at(p.name.span, "declared again");
                if let Some(first) = old.declared {
                    d = d.also(first, "declared first");
                }
                self.cx.report(d);
            }
            scope.insert(p.name.name.clone(), var);
        }
        self.scopes.declared.push(scope);
    }

    /// Makes the function take a parameter, whose values are those of a variable of class `known`
    /// then.
    fn param(&mut self, p: &Decl, known: StorageClass) -> Var {
        let names = p.ty.value_names(&p.name.name);
        let kind = if p.ty.is_array() { ParamKind::Implicit } else { ParamKind::Declared };
        let values: Vec<Value> = names.zip(p.ty.values()).map(|(name, ty)| self.b.param_of(name, ty, kind)).collect();
        let var = Var { open: p.open, ..self.declared_var(p.ty, known, &p.name) };
        self.assign_all(&p.name.name, &var, &values);
        var
    }

    fn new_var(&mut self, ty: SourceType, class: StorageClass, declared: Option<Span>, ir: Type) -> Var {
        Var {
            storage: self.b.variable(ir),
            slot: None,
            ty,
            class,
            strict: false,
            text: None,
            declared,
            open: false,
            absent: false,
        }
    }

    /// Makes the predefined variables: parameters for those read, start values for outputs that are
    /// no inputs.
    fn inputs(&mut self, reads: &BTreeSet<&'static str>, outputs: &[&'static str]) {
        // `Os` is what an opacity that nobody sets is taken from.
        let mut names = reads.clone();
        if self.shader == Some(ShaderKind::Surface) {
            names.insert("Os");
        }
        if self.shader == Some(ShaderKind::Light) && names.contains("I") {
            names.extend(["Ps", "E"]);
        }
        if names.contains(input::RANDOM_STATE) {
            names.extend(self.shader.map(globals::position));
        }
        names.extend(outputs);
        // Outputs that start from inputs come after those.
        let (inputs, started): (Vec<_>, Vec<_>) = names.into_iter().partition(|n| !self.starts_itself(n));
        for name in inputs.into_iter().chain(started) {
            let Some(global) = globals::find(name) else { continue };
            let visible = self.shader.is_none_or(|kind| global.in_kind(kind));
            let Some(ty) = global.ty.ir() else { continue };
            let class = if global.is_uniform() { StorageClass::Uniform } else { StorageClass::Varying };
            if !visible {
                if Input::parse(name).is_predefined() {
                    let var = Var { absent: true, ..self.new_var(global.ty, class, None, ty) };
                    let zero = self.b.constant(Const::zero(ty));
                    self.b.write(var.storage, zero);
                    self.scopes.globals.insert(global.name, var);
                }
                continue;
            }
            let var = self.new_var(global.ty, class, None, ty);
            let value = match self.starts_itself(name) {
                true if name == input::RANDOM_STATE => self.seed(),
                true => self.start_value(global),
                false if Input::parse(name).is_predefined() => self.b.param(name, ty),
                false => self.b.implicit_param(name, ty),
            };
            self.assign(name, var.storage, value);
            self.scopes.globals.insert(global.name, var);
        }
    }

    /// True if the variable is an output of the shader that is no input.
    fn starts_itself(&self, name: &str) -> bool {
        matches!(
            (self.shader, name),
            (Some(ShaderKind::Surface), "Ci" | "Oi" | input::BAKED)
                | (Some(ShaderKind::Light), "L" | "Cl" | "Ol" | "I")
                | (Some(_), input::RANDOM_STATE)
        )
    }

    /// Where a shader's random numbers start.
    fn seed(&mut self) -> Value {
        let position = self.shader.and_then(|kind| self.scopes.globals.get(globals::position(kind))).map(|v| v.storage);
        match position {
            Some(position) => {
                let position = self.b.read(position);
                self.b.call(library::SEED, vec![position], &[Type::F32])[0]
            }
            None => self.b.f32(0.0),
        }
    }

    /// The value of such an output before it is written: black, and for the opacity the surface's
    /// own. The incident ray of a light is that from the eye to the point that it lights.
    fn start_value(&mut self, global: &Global) -> Value {
        let mut given = |name: &str| self.scopes.globals.get(name).map(|v| v.storage).map(|v| self.b.read(v));
        if global.name == "I"
            && let (Some(lit), Some(eye)) = (given("Ps"), given("E"))
        {
            return self.b.sub(lit, eye);
        }
        match self.scopes.globals.get("Os").map(|v| v.storage) {
            Some(os) if global.name == "Oi" => self.b.read(os),
            _ => self.b.vec3([0.0; 3]),
        }
    }

    fn declare_outputs(&mut self, globals: &[&'static str], params: &[Decl]) {
        let of_params: Vec<(Arc<str>, Var)> = {
            let written = params.iter().filter(|p| p.output);
            written
                .filter_map(|p| Some((p.name.name.clone(), self.scopes.declared[0].get(&p.name.name)?.clone())))
                .collect()
        };
        let of_globals: Vec<(Arc<str>, Var)> =
            globals.iter().filter_map(|g| Some((Arc::from(*g), self.scopes.globals.get(g)?.clone()))).collect();
        // A core's own outputs come first; a function's output parameters come before what it
        // writes outside.
        let order = if self.shader.is_some() { [of_globals, of_params] } else { [of_params, of_globals] };
        for (name, var) in order.into_iter().flatten() {
            self.results(&name, var.ty);
            self.outputs.push(var);
        }
    }

    /// Leaves the function with `value`.
    fn return_value(&mut self, value: Option<Value>) {
        let outputs = self.outputs.clone();
        let mut values: Vec<Value> = value.into_iter().collect();
        outputs.iter().for_each(|var| values.extend(self.read_all(var)));
        self.b.ret(values);
    }

    fn finish(mut self, d: &Definition) {
        self.b.loc = self.cx.loc(d.name.span);
        if !self.b.is_terminated() {
            // A function without `return` gives zero.
            let zero = d.result.ir().map(|ty| self.b.constant(Const::zero(ty)));
            self.return_value(zero);
        }
        if let Some(loc) = self.b.too_large() {
            let place = self.cx.module.span(loc).unwrap_or(d.name.span);
            let _: Lower<()> = self.cx.error(crate::too_large(&d.name.name, place));
            return;
        }
        let mut function = self.b.finish();
        if d.shader.is_some() {
            let declared = d.params.iter().map(|p| p.ty.values().count()).sum();
            function.drop_unused_params(declared);
        }
        self.cx.module.functions.push(function);
    }

    // --- code that several kinds of statements need ---

    fn error<T>(&mut self, d: Diagnostic) -> Lower<T> {
        self.cx.error(d)
    }

    fn at(&mut self, span: Span) {
        self.b.loc = self.cx.loc(span);
    }

    fn assign(&mut self, name: &str, storage: Variable, value: Value) {
        self.b.write(storage, value);
        // Named inputs for spaces have a point in their names.
        if self.cx.debug && Input::parse(name).is_predefined() && !input::INTERNAL.contains(&name) {
            self.b.debug(name, value);
        }
    }

    /// Warns once of a predefined variable that this kind of shader does not have: others accept it.
    fn warn_of_absent(&mut self, name: &str, span: Span) {
        let kind = self.shader.map_or("these", ShaderKind::name);
        let mut d = Diagnostic::warning(format!("{kind} shaders have no `{name}`: it is 0")).at(span, "used here");
        if matches!(name, "L" | "Cl" | "Ol") && self.shader == Some(ShaderKind::Surface) {
            d = d.hint(format!("in surface shaders `{name}` is available inside `illuminance` only"));
        }
        if let Some(var) = self.scopes.globals.get_mut(name) {
            var.absent = false;
            self.cx.report(d);
        }
    }

    /// Warns of a function that reads a component of a predefined point, vector or normal: other
    /// renderers have the camera's space where this one has the world's.
    fn warn_of_component(&mut self, name: &str, span: Span) {
        let is_predefined = matches!(name, "P" | "N" | "Ng" | "I" | "E" | "Ps" | "L")
            && self.scopes.find(name).is_some_and(|var| var.declared.is_none());
        let in_space = !matches!(self.shader, Some(ShaderKind::Imager));
        if !is_predefined || !in_space || self.in_library || !std::mem::take(&mut self.warns_of_components) {
            return;
        }
        let message = format!("a component of `{name}` is read in the current space, which is world space here");
        let d = Diagnostic::warning(message).at(span, "other renderers have a component in camera space");
        self.cx.report(d.hint(
            "`transform` to a named space gives the same everywhere; `--current camera` or `--current world` chooses",
        ));
    }

    /// Reports that no variable has that name.
    fn unknown_name<T>(&mut self, name: &str, span: Span) -> Lower<T> {
        if self.cx.broken {
            return Err(Poison);
        }
        let mut d = Diagnostic::error(format!("unknown variable `{name}`")).at(span, "not declared");
        let declared = self.scopes.declared.iter().flat_map(|s| s.keys()).map(|n| &**n);
        let globals = self.scopes.globals.keys().copied();
        let guess = closest(name, declared.chain(globals).collect::<BTreeSet<_>>());
        if let Some(guess) = guess.or_else(|| closest(name, globals::GLOBALS.iter().map(|g| g.name))) {
            d = d.hint(format!("did you mean `{guess}`?"));
        }
        self.error(d)
    }
}
