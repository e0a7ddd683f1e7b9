//! Checks a file: resolves names, finds the type of every expression, and makes conversions
//! explicit.
//!
//! After an error it continues with the next statement, so that one run finds all of them.

use super::ast::{self, Ast, BinaryOp, ExprId, ExprKind, Ident, ShaderKind, Stmt, StmtKind, UnaryOp};
use super::globals::{self, Meaning, Name};
use super::tree::*;
use super::types::{Fixed, Scalar, Type};
use crate::types::StorageClass;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::Span;
use shadewright_ir::HostFunctions;
use shadewright_ir::abi::ShaderSpace;
use std::collections::HashMap;
use std::sync::Arc;

mod calls;
mod expressions;
mod sizing;

/// The most errors of a file.
const MAX_ERRORS: usize = 100;
/// Most parameters of a function or a shader.
const MAX_PARAMETERS: usize = 1024;

/// An error was reported; the statement is given up.
#[derive(Clone, Copy, Debug)]
struct Poison;

type Checked<T> = Result<T, Poison>;

/// Checks a file. Errors and warnings go to `diags`; `broken` says that the file had syntax errors.
///
/// Functions of the `host` that the file declares may be called.
pub fn check(ast: &Ast, host: &HostFunctions, broken: bool, diags: &mut Diagnostics) -> File {
    let mut functions = declared(ast, diags);
    functions.iter_mut().for_each(|f| bind_to_host(f, host, diags));
    let mut file = File { functions };
    for number in 0..file.functions.len() {
        let declaration = &file.functions[number].declaration;
        if declaration.body.is_none() {
            continue;
        }
        let mut body = Check::new(ast, &file, declaration, broken, diags);
        body.function();
        let body = body.body;
        file.functions[number].body = Some(body);
    }
    spread_reads(&mut file);
    file
}

/// The functions of a file: definitions, and prototypes of what the file does not define.
fn declared(ast: &Ast, diags: &mut Diagnostics) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let same_params = |a: &ast::Function, b: &ast::Function| {
        let key = |f: &ast::Function| -> Vec<(Type, bool)> {
            f.params.iter().map(|p| (p.ty.clone(), p.class == Some(StorageClass::Uniform))).collect()
        };
        a.shader.is_some() == b.shader.is_some() && key(a) == key(b)
    };
    for f in &ast.functions {
        if f.params.len() > MAX_PARAMETERS {
            let d = Diagnostic::error(format!("`{}` has more than {MAX_PARAMETERS} parameters", f.name.name));
            diags.push(d.at(f.name.span, "too many"));
            continue;
        }
        let alike = functions.iter_mut().find(|k| {
            let known = &k.declaration;
            known.name.name == f.name.name
                && if f.shader.is_some() { known.shader.is_some() } else { same_params(known, f) }
        });
        let Some(known) = alike else {
            functions.push(Function { declaration: f.clone(), ir_name: "".into(), host: None, body: None });
            continue;
        };
        let first = &known.declaration;
        if first.result != f.result {
            let message = format!("`{}` differs from its other declaration in its result only", f.name.name);
            let d =
                Diagnostic::error(message).at(f.name.span, "declared again").also(first.name.span, "declared first");
            diags.push(d.hint("functions are distinguished by their parameters"));
        } else if f.body.is_some() && first.body.is_some() {
            let d = Diagnostic::error(format!("`{}` is defined twice", f.name.name));
            diags.push(d.at(f.name.span, "defined again").also(first.name.span, "defined first"));
        } else if f.body.is_some() {
            known.declaration = f.clone();
        }
    }
    name_functions(&mut functions);
    functions
}

/// Binds a function that is declared as the host's, and not defined, to the host's one of its name.
fn bind_to_host(f: &mut Function, host: &HostFunctions, diags: &mut Diagnostics) {
    let declaration = &mut f.declaration;
    let is_host = declaration.linkage.is_some_and(|(l, _)| l.host) && declaration.body.is_none();
    let Some(function) = host.get(&declaration.name.name).filter(|_| is_host) else { return };
    let floats = |ty: &Type| (ty.scalar() == Scalar::Float && ty.dims().len() <= 1).then(|| ty.count() as u32);
    let params: Option<Vec<u32>> = declaration.params.iter().map(|p| floats(&p.ty).filter(|_| !p.output)).collect();
    if params.as_ref() != Some(&function.params) || floats(&declaration.result) != Some(function.result) {
        let shown = |n: u32| if n == 1 { "float".to_string() } else { format!("float[{n}]") };
        let params: Vec<String> = function.params.iter().map(|&n| shown(n)).collect();
        let (name, result) = (&declaration.name, shown(function.result));
        let message = format!("the host's function is {result} {}({})", name.name, params.join(", "));
        diags.push(Diagnostic::error(message).at(name.span, "declared otherwise"));
    }
    if let Some(p) = declaration.params.iter().find(|p| p.class == Some(StorageClass::Varying)) {
        diags.push(varying_for_host(p));
    }
    declaration.params.iter_mut().for_each(|p| p.class = Some(StorageClass::Uniform));
    f.host = Some(function.clone());
}

/// The error that a function of the host has a varying parameter.
fn varying_for_host(p: &ast::Variable) -> Diagnostic {
    let d = Diagnostic::error("a function of the host takes uniform values only");
    d.at(p.name.span, "a varying parameter")
}

/// Gives each function a name in the IR: its own, with its number where several share it.
fn name_functions(functions: &mut [Function]) {
    let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
    for f in functions.iter_mut() {
        let name = &f.declaration.name.name;
        let count = counts.entry(name.clone()).or_default();
        f.ir_name = match (*count, f.declaration.shader) {
            (0, _) => name.clone(),
            (n, _) => format!("{name}.{n}").into(),
        };
        *count += 1;
    }
}

/// Adds what functions that are called read to what their callers do.
fn spread_reads(file: &mut File) {
    loop {
        let mut changed = false;
        for number in 0..file.functions.len() {
            let Some(body) = &file.functions[number].body else { continue };
            let called = body.calls.iter().filter_map(|&c| file.functions[c].body.as_ref());
            let more: Vec<&'static str> =
                called.flat_map(|b| &b.reads).filter(|name| !body.reads.contains(*name)).copied().collect();
            if let Some(body) = file.functions[number].body.as_mut().filter(|_| !more.is_empty()) {
                body.reads.extend(more);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Adds the inputs of functions of the library to what the functions that call them read.
/// `inputs` gives those of a function of its source.
pub fn add_library_inputs(file: &mut File, inputs: impl Fn(&str) -> Vec<&'static str>) {
    for body in file.functions.iter_mut().filter_map(|f| f.body.as_mut()) {
        let more: Vec<&'static str> = body.library.iter().flat_map(|name| inputs(name)).collect();
        body.reads.extend(more);
    }
    spread_reads(file);
}

/// Checks one function.
struct Check<'c> {
    ast: &'c Ast,
    file: &'c File,
    declaration: &'c ast::Function,
    /// True if the file had syntax errors: names may then be unknown because their declaration could
    /// not be read.
    broken: bool,
    diags: &'c mut Diagnostics,
    body: Body,
    /// Declared variables, innermost scope last.
    scopes: Vec<HashMap<Arc<str>, VariableId>>,
    /// Variables of the renderer that were named so far.
    implicit: HashMap<&'static str, VariableId>,
    /// The spans of the scopes.
    places: Vec<Span>,
    /// Loops around the current statement.
    loops: usize,
    /// True if the current statement runs for some samples only.
    diverges: bool,
    /// True if it is in the body of `illuminance`.
    in_light: bool,
}

impl<'c> Check<'c> {
    fn new(
        ast: &'c Ast,
        file: &'c File,
        declaration: &'c ast::Function,
        broken: bool,
        diags: &'c mut Diagnostics,
    ) -> Self {
        Self {
            ast,
            file,
            declaration,
            broken,
            diags,
            body: Body::default(),
            scopes: Vec::new(),
            implicit: HashMap::new(),
            places: Vec::new(),
            loops: 0,
            diverges: false,
            in_light: false,
        }
    }

    fn report(&mut self, d: Diagnostic) {
        if self.diags.error_count() < MAX_ERRORS {
            self.diags.push(d);
        }
    }

    fn error<T>(&mut self, d: Diagnostic) -> Checked<T> {
        self.report(d);
        Err(Poison)
    }

    fn shader(&self) -> Option<ShaderKind> {
        self.declaration.shader
    }

    fn function(&mut self) {
        let declaration = self.declaration;
        self.scopes.push(HashMap::new());
        self.places.push(declaration.span);
        for (number, p) in declaration.params.iter().enumerate() {
            self.parameter(number, p);
        }
        for p in &declaration.params {
            let default = p.init.and_then(|e| self.default(e, &p.ty).ok());
            self.body.defaults.push(default);
        }
        if declaration.linkage.is_some_and(|(l, _)| l.host) {
            self.check_host();
        }
        self.scopes.push(HashMap::new());
        self.body.statements = self.statements(declaration.body.as_deref().unwrap_or_default());
    }

    /// Refuses varying values in functions of the host.
    fn check_host(&mut self) {
        let declaration = self.declaration;
        let varying = declaration.params.iter().find(|p| p.class == Some(StorageClass::Varying));
        if let Some(p) = varying {
            self.report(varying_for_host(p));
        }
    }

    fn parameter(&mut self, number: usize, p: &ast::Variable) {
        let of_shader = self.shader().is_some();
        let renderer = self.shader().and_then(|kind| globals::find(&p.name.name, Some(kind)));
        let fits = |name: &&'static Name| match name.meaning {
            // RenderMan's names are names like any other where they do not fit.
            Meaning::Predefined => p.init.is_none() && p.ty.dims() == name.ty().dims(),
            _ => p.init.is_none(),
        };
        let origin = match renderer.filter(fits) {
            Some(name) => {
                if p.ty.dims() != name.ty().dims() {
                    let message = format!("`{}` is of type {}", name.name, name.ty());
                    let d = Diagnostic::error(message).at(p.name.span, format!("declared as {}", p.ty));
                    self.report(d.hint("its numbers may be of any type"));
                }
                self.note_use(name);
                Origin::Renderer(name)
            }
            None => Origin::Parameter(number),
        };
        self.check_modifiers(p);
        let host = self.declaration.linkage.is_some_and(|(l, _)| l.host);
        let class = match (&origin, p.class) {
            (Origin::Renderer(_), _) => StorageClass::Varying,
            (_, Some(class)) => class,
            _ if p.output => StorageClass::Varying,
            _ if of_shader || host => StorageClass::Uniform,
            _ => StorageClass::Varying,
        };
        let scope = self.declaration.span;
        let variable = Variable {
            name: p.name.name.clone(),
            ty: p.ty.clone(),
            class,
            origin,
            declared: Some(p.name.span),
            modifiers: p.modifiers.clone(),
            scope,
        };
        let id = self.add_variable(variable);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(p.name.name.clone(), id);
        }
    }

    /// Refuses transformations of what cannot be transformed so.
    fn check_modifiers(&mut self, p: &ast::Variable) {
        for modifier in &p.modifiers {
            if !matches!(modifier, ast::Modifier::Unit | ast::Modifier::Texture) {
                self.body.reads.extend(ShaderSpace::Shader.inputs());
            }
            let lengths: &[u32] = match modifier {
                ast::Modifier::Unit => &[2, 3, 4],
                ast::Modifier::Point => &[3, 4],
                ast::Modifier::Plane => &[4],
                ast::Modifier::Vector | ast::Modifier::Normal => &[3],
                ast::Modifier::Texture => &[2, 3, 4],
            };
            if !matches!(p.ty.dims(), [n] if lengths.contains(n)) {
                let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
                let d = Diagnostic::error(format!("`{}` is not for {}", modifier.word(), p.ty));
                let d = d.at(p.name.span, "this parameter");
                self.report(d.hint(format!("it is for arrays of {} numbers", lengths.join(" or "))));
            }
        }
    }

    fn add_variable(&mut self, variable: Variable) -> VariableId {
        self.body.variables.push(variable);
        VariableId(self.body.variables.len() as u32 - 1)
    }

    /// Notes that the renderer has to supply a variable.
    fn note_use(&mut self, name: &'static Name) {
        let is_own_output = name.is_output && self.shader().is_some();
        let is_of_loop = self.shader() == Some(ShaderKind::Surface) && matches!(name.reads, ["L"] | ["Cl"]);
        if !is_own_output && !is_of_loop {
            self.body.reads.extend(name.reads);
        }
        match name.meaning {
            Meaning::Diffuse => self.body.library.extend(["diffuse"]),
            Meaning::Specular => self.body.library.extend(["specular"]),
            _ => {}
        }
    }

    /// The constant numbers of a default.
    fn default(&mut self, e: ExprId, ty: &Type) -> Checked<Vec<f64>> {
        let node = self.expr(e)?;
        let node = self.converted(node, ty)?;
        match &self.body.node(node).kind {
            NodeKind::Constant(values) => Ok(values.clone()),
            _ => {
                let d = Diagnostic::error("the default of a parameter is a constant");
                let span = self.ast.expr(e).span;
                self.error(d.at(span, "not known when the shader is compiled"))
            }
        }
    }

    // --- names ---

    /// The variable that a name means.
    fn find(&mut self, name: &str, span: Span) -> Checked<VariableId> {
        if let Some(id) = self.scopes.iter().rev().find_map(|s| s.get(name)) {
            return Ok(*id);
        }
        let found = match self.in_light.then(|| globals::light_name(name)).flatten() {
            Some(found) => Some(found),
            None => globals::find(name, self.shader()),
        };
        let Some(found) = found else { return self.unknown_name(name, span) };
        if matches!(found.reads, ["L"] | ["Cl"]) && self.shader() != Some(ShaderKind::Light) && !self.in_light {
            let d = Diagnostic::error(format!("`{name}` is known within `illuminance` only"));
            return self.error(d.at(span, "outside of the loop over the lights"));
        }
        if found.is_output && self.shader().is_none() {
            let d = Diagnostic::error(format!("`{name}` belongs to shaders: a function returns its value"));
            return self.error(d.at(span, "not in a function"));
        }
        if let Some(&id) = self.implicit.get(found.name) {
            return Ok(id);
        }
        self.note_use(found);
        let id = self.add_variable(Variable {
            name: found.name.into(),
            ty: found.ty(),
            class: if found.reads == ["E"] { StorageClass::Uniform } else { StorageClass::Varying },
            origin: Origin::Renderer(found),
            declared: None,
            modifiers: Vec::new(),
            scope: self.declaration.span,
        });
        self.implicit.insert(found.name, id);
        Ok(id)
    }

    fn unknown_name<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        if self.broken {
            return Err(Poison);
        }
        let mut d = Diagnostic::error(format!("unknown variable `{name}`")).at(span, "not declared");
        let declared: Vec<&str> = self.scopes.iter().flat_map(|s| s.keys()).map(|n| &**n).collect();
        let kind = self.shader();
        let system = globals::all().filter(|n| kind.is_none_or(|kind| n.in_kind(kind))).map(|n| n.name);
        if let Some(other) = globals::find(name, None).filter(|_| kind.is_some()) {
            let kind = kind.map_or("these", ShaderKind::name);
            d = Diagnostic::error(format!("{kind} shaders have no `{}`", other.name)).at(span, "not here");
        } else if let Some(guess) = closest(name, declared.into_iter().chain(system)) {
            d = d.hint(format!("did you mean `{guess}`?"));
        }
        self.error(d)
    }

    // --- statements ---

    fn statements(&mut self, list: &[Stmt]) -> Vec<Statement> {
        let mut made = Vec::new();
        for s in list {
            // The error was reported; the next statement may have another.
            let _: Checked<()> = self.statement(s, &mut made);
        }
        made
    }

    /// A statement in a scope of its own.
    fn inner(&mut self, s: &Stmt) -> Statement {
        Statement { kind: StatementKind::Block(self.scoped(std::slice::from_ref(s), s.span)), span: s.span }
    }

    fn scoped(&mut self, list: &[Stmt], place: Span) -> Vec<Statement> {
        self.scopes.push(HashMap::new());
        self.places.push(place);
        let made = self.statements(list);
        self.places.pop();
        self.scopes.pop();
        made
    }

    /// An expression whose value nobody needs in a type of its own.
    fn whole(&mut self, e: ExprId) -> Checked<NodeId> {
        let node = self.expr(e)?;
        self.cap(node);
        Ok(node)
    }

    /// A condition: any number, which is true unless it is 0.
    fn condition(&mut self, e: ExprId) -> Checked<NodeId> {
        let node = self.expr(e)?;
        self.truth(node)
    }

    fn statement(&mut self, s: &Stmt, made: &mut Vec<Statement>) -> Checked<()> {
        let span = s.span;
        let kind = match &s.kind {
            StmtKind::Declare(list) => {
                for variable in list {
                    if let Ok(kind) = self.declare(variable) {
                        made.push(Statement { kind, span });
                    }
                }
                return Ok(());
            }
            StmtKind::Expr(e) => StatementKind::Expr(self.whole(*e)?),
            StmtKind::Block(list) => StatementKind::Block(self.scoped(list, span)),
            StmtKind::If(arms, last) => self.conditional(arms, last.as_deref()),
            StmtKind::While(condition, body) => self.repeated(Some(*condition), false, false, None, body),
            StmtKind::Do { body, condition, until } => self.repeated(Some(*condition), *until, true, None, body),
            StmtKind::For { init, condition, step, body } => {
                self.scopes.push(HashMap::new());
                self.places.push(span);
                let mut list = Vec::new();
                if let Some(init) = init {
                    let _: Checked<()> = self.statement(init, &mut list);
                }
                let kind = self.repeated(*condition, false, false, *step, body);
                list.push(Statement { kind, span });
                self.places.pop();
                self.scopes.pop();
                StatementKind::Block(list)
            }
            StmtKind::Break | StmtKind::Continue => {
                let is_break = s.kind == StmtKind::Break;
                if self.loops == 0 {
                    let word = if is_break { "break" } else { "continue" };
                    let d = Diagnostic::error(format!("`{word}` outside of a loop")).at(span, "no such loop");
                    return self.error(d);
                }
                if is_break { StatementKind::Break } else { StatementKind::Continue }
            }
            StmtKind::Return(value) => self.returned(*value, span)?,
            StmtKind::Illuminance(args, body) => self.illuminance(args, body, span)?,
        };
        made.push(Statement { kind, span });
        Ok(())
    }

    fn declare(&mut self, v: &ast::Variable) -> Checked<StatementKind> {
        let init = v.init.map(|e| self.expr(e).and_then(|node| self.converted(node, &v.ty)));
        if let Some(first) = self.scopes.last().and_then(|s| s.get(&v.name.name)) {
            let d = Diagnostic::error(format!("`{}` is declared twice", v.name.name)).at(v.name.span, "declared again");
            let first = self.body.variable(*first).declared;
            self.report(first.into_iter().fold(d, |d, first| d.also(first, "declared first")));
        }
        let class = v.class.unwrap_or(StorageClass::Varying);
        let id = self.add_variable(Variable {
            name: v.name.name.clone(),
            ty: v.ty.clone(),
            class,
            origin: Origin::Local,
            declared: Some(v.name.span),
            modifiers: Vec::new(),
            scope: self.places.last().copied().unwrap_or(self.declaration.span),
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(v.name.name.clone(), id);
        }
        let init = init.transpose()?;
        if let Some(init) = init {
            self.check_class(id, init, v.name.span)?;
        }
        Ok(StatementKind::Declare(id, init))
    }

    /// Refuses a varying value for a uniform variable.
    fn check_class(&mut self, variable: VariableId, value: NodeId, span: Span) -> Checked<()> {
        let known = self.body.variable(variable);
        if known.class == StorageClass::Varying {
            return Ok(());
        }
        let (name, declared) = (known.name.clone(), known.declared);
        let is_parameter_of_function = matches!(known.origin, Origin::Parameter(_)) && self.shader().is_none();
        let value = self.body.node(value);
        let d = if value.class == StorageClass::Varying {
            let d = Diagnostic::error(format!("the uniform variable `{name}` is given a varying value"));
            d.at(value.span, "may differ from sample to sample")
        } else if self.diverges && !is_parameter_of_function {
            let d = Diagnostic::error(format!("the uniform variable `{name}` is changed where a condition varies"));
            d.at(span, "runs for some samples only")
        } else {
            return Ok(());
        };
        let d = declared.into_iter().fold(d, |d, place| d.also(place, "declared uniform"));
        self.error(d.hint("declare it varying"))
    }

    fn conditional(&mut self, arms: &[(ExprId, Stmt)], last: Option<&Stmt>) -> StatementKind {
        let outer = self.diverges;
        let mut made = Vec::new();
        for (condition, s) in arms {
            let condition = self.condition(*condition);
            let class = condition.map_or(StorageClass::Varying, |c| self.body.node(c).class);
            self.diverges |= class == StorageClass::Varying;
            let then = self.inner(s);
            made.extend(condition.map(|condition| (condition, then)));
        }
        let last = last.map(|s| Box::new(self.inner(s)));
        self.diverges = outer;
        StatementKind::If(made, last)
    }

    fn repeated(
        &mut self,
        condition: Option<ExprId>,
        until: bool,
        runs_once: bool,
        step: Option<ExprId>,
        body: &Stmt,
    ) -> StatementKind {
        let condition = condition.and_then(|e| self.condition(e).ok());
        let class = condition.map_or(StorageClass::Uniform, |c| self.body.node(c).class);
        let outer = self.diverges;
        self.diverges |= class == StorageClass::Varying;
        self.loops += 1;
        let body = Box::new(self.inner(body));
        self.loops -= 1;
        let step = step.and_then(|e| self.whole(e).ok());
        self.diverges = outer;
        StatementKind::Loop { condition, until, runs_once, step, body }
    }

    fn returned(&mut self, value: Option<ExprId>, span: Span) -> Checked<StatementKind> {
        let declaration = self.declaration;
        let result = &declaration.result;
        let Some(e) = value else {
            if *result == Type::Void {
                return Ok(StatementKind::Return(None));
            }
            let d = Diagnostic::error(format!("`return` needs a value of type {result}")).at(span, "no value");
            return self.error(d);
        };
        if *result == Type::Void {
            let what = if self.shader().is_some() { "a shader" } else { "a `void` function" };
            let d = Diagnostic::error(format!("{what} returns no value"));
            return self.error(d.at(self.ast.expr(e).span, "unexpected value"));
        }
        let node = self.expr(e)?;
        let node = self.converted(node, result)?;
        if declaration.class == Some(StorageClass::Uniform) && self.body.node(node).class == StorageClass::Varying {
            let d =
                Diagnostic::error(format!("the uniform function `{}` returns a varying value", declaration.name.name));
            return self.error(d.at(self.body.node(node).span, "may differ from sample to sample"));
        }
        Ok(StatementKind::Return(Some(node)))
    }

    fn illuminance(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Checked<StatementKind> {
        if self.shader() == Some(ShaderKind::Light) {
            let d = Diagnostic::error("`illuminance` is for surfaces and functions that they call");
            return self.error(d.at(span, "not in a light"));
        }
        if !matches!(args.len(), 0 | 1 | 3) {
            let d =
                Diagnostic::error("`illuminance` takes no arguments, a position, or a position, an axis and an angle");
            return self.error(d.at(span, format!("{} given", args.len())));
        }
        let types = [Type::floats(3), Type::floats(3), Type::FLOAT];
        let mut nodes = Vec::new();
        for (e, ty) in args.iter().zip(&types) {
            let node = self.expr(*e)?;
            nodes.push(self.converted(node, ty)?);
        }
        self.body.reads.extend(["P", "N"]);
        if nodes.len() == 3 {
            self.body.library.insert("cos");
        }
        let outer = std::mem::replace(&mut self.in_light, true);
        self.loops += 1;
        let body = Box::new(self.inner(body));
        self.loops -= 1;
        self.in_light = outer;
        let cone = if nodes.len() == 3 { Some((nodes[1], nodes[2])) } else { None };
        Ok(StatementKind::Illuminance { position: nodes.first().copied(), cone, body })
    }
}
