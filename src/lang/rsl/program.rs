//! The functions of a compilation, as their callers see them: types, hidden inputs, names in the
//! IR.

use super::ast::{Ast, Definition, ExprId, ExprKind, Stmt, StmtKind};
use super::builtins::{self, Builtin, NamedOption};
use super::effects::{self, Effects};
use super::lower::STRING_FUNCTIONS;
use super::queries;
use crate::types::SourceType;
use shadewright_ir::abi::library;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A function or shader with what the compiler has found out about it.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name in the IR.
    pub ir_name: Arc<str>,
    /// Predefined variables that it touches.
    pub effects: Effects,
    /// True if it belongs to the standard library.
    pub library: bool,
}

/// All functions and shaders of a compilation.
#[derive(Debug)]
pub struct Program<'a> {
    /// The user's definitions, then the library's.
    pub ast: &'a Ast,
    /// One a definition, in the same order.
    pub functions: Vec<Function>,
    /// True if calls of functions that nothing defines are 0 with a warning.
    pub missing_are_zero: bool,
    by_name: HashMap<Arc<str>, Vec<usize>>,
    /// Functions of the user whose calls in shaders become their statements.
    inlined: HashSet<usize>,
}

/// Something that a call may mean.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// A function, by index in [`Program::functions`].
    Function(usize),
    /// A built-in function.
    Builtin(&'static Builtin),
}

/// How a callee takes the arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The first arguments: their types, and whether each is an output. The arguments after them
    /// are pairs of a name, which is a string literal, and the value of that option.
    pub positional: Vec<(SourceType, bool)>,
    /// The options that the callee knows.
    pub options: &'static [NamedOption],
}

/// The names that statements call. Messages of the light of an `illuminance` are asked for where it
/// is.
fn called<'a>(ast: &'a Ast, body: &'a [Stmt]) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    let mut statements: Vec<(&Stmt, bool)> = body.iter().map(|s| (s, false)).collect();
    while let Some((s, in_light)) = statements.pop() {
        let in_light = in_light || matches!(s.kind, StmtKind::Illuminance(..));
        statements.extend(s.children().into_iter().map(|s| (s, in_light)));
        let mut exprs = s.exprs();
        while let Some(e) = exprs.pop() {
            let kind = &ast.expr(e).kind;
            kind.for_each_child(|c| exprs.push(c));
            if let ExprKind::Call(f, _) = kind
                && !(in_light && &*f.name == "lightsource")
            {
                names.insert(&*f.name);
            }
        }
    }
    names
}

impl<'a> Program<'a> {
    /// Collects the definitions of `ast`, of which the first `own` are the user's.
    pub fn new(ast: &'a Ast, own: usize) -> Self {
        let effects = effects::definition_effects(ast);
        let mut by_name: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
        for (i, d) in ast.definitions.iter().enumerate().filter(|(_, d)| d.shader.is_none()) {
            by_name.entry(d.name.name.clone()).or_default().push(i);
        }
        let functions = effects.into_iter().enumerate().map(|(i, effects)| {
            let d = &ast.definitions[i];
            let library = i >= own;
            let alike = by_name.get(&d.name.name).map_or(0, |l| l.iter().filter(|o| (**o >= own) == library).count());
            let mut name = if library { library::name(&d.name.name) } else { d.name.name.to_string() };
            if let Some(kind) = d.shader
                && ast.definitions[..i].iter().any(|o| o.shader.is_some() && o.name.name == d.name.name)
            {
                // Shaders of one class.
                name += &format!(".as.{}", kind.name());
            }
            // A shader may have the name of a function.
            if d.shader.is_none()
                && !library
                && ast.definitions.iter().any(|o| o.shader.is_some() && o.name.name == d.name.name)
            {
                name += ".function";
            }
            if d.shader.is_none() && alike > 1 {
                let letters: String = d.params.iter().map(|p| p.ty.signature()).collect();
                name += &format!(".{letters}.{}", d.result.letter());
            }
            Function { ir_name: name.into(), effects, library }
        });
        let functions = functions.collect();
        let mut program = Self { ast, functions, missing_are_zero: false, by_name, inlined: HashSet::new() };
        program.find_inlined(own);
        program
    }

    /// Finds the functions that make strings or ask for what belongs to a shader, and those that
    /// call such.
    fn find_inlined(&mut self, own: usize) {
        let mut calls: Vec<(usize, HashSet<&str>)> = Vec::new();
        for (i, d) in self.ast.definitions[..own].iter().enumerate() {
            let is_function = d.shader.is_none() && !d.params.iter().any(|p| p.ty.is_unsized());
            calls.extend(is_function.then(|| (i, called(self.ast, &d.body))));
        }
        let asks = |f: &&str| {
            let is_question = STRING_FUNCTIONS.contains(f) || queries::source(f).is_some() || *f == "shadername";
            is_question && *f != "rayinfo" && !self.defines(f)
        };
        let mut inlined: HashSet<usize> = HashSet::new();
        let mut before = usize::MAX;
        while before != inlined.len() {
            before = inlined.len();
            let names: HashSet<&str> = inlined.iter().map(|&i| &*self.definition(i).name.name).collect();
            let more = calls.iter().filter(|(_, fs)| fs.iter().any(|f| asks(f) || names.contains(f)));
            inlined = more.map(|(i, _)| *i).collect();
        }
        self.inlined = inlined;
    }

    /// True if a call of the function in a shader is replaced by its statements.
    pub fn is_inlined(&self, function: usize) -> bool {
        self.inlined.contains(&function)
    }

    /// The definition of a function.
    pub fn definition(&self, function: usize) -> &'a Definition {
        &self.ast.definitions[function]
    }

    /// The functions that a call of `name` may mean. A user's functions hide those of the library.
    /// Names that start with `__` mean something in the library only.
    pub fn callees(&self, name: &str, in_library: bool) -> Vec<Callee> {
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let own: Vec<usize> = all.iter().copied().filter(|&i| !self.functions[i].library).collect();
        if !own.is_empty() && !in_library {
            return own.into_iter().map(Callee::Function).collect();
        }
        if name.starts_with("__") && !in_library {
            return Vec::new();
        }
        let library = all.iter().copied().filter(|&i| self.functions[i].library).map(Callee::Function);
        builtins::by_name(name).iter().map(Callee::Builtin).chain(library).collect()
    }

    /// True if the user defines a function of that name.
    pub fn defines(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|all| all.iter().any(|&i| !self.functions[i].library))
    }

    /// True if a callee has outputs among its arguments.
    pub fn writes_arguments(&self, callee: Callee) -> bool {
        match callee {
            Callee::Function(i) => self.definition(i).declared().iter().any(|p| p.output),
            Callee::Builtin(b) => b.params.iter().any(|p| p.1) || b.options.iter().any(NamedOption::is_output),
        }
    }

    /// Names of all functions that a user may call.
    pub fn callable_names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        for name in self.by_name.keys().filter(|n| !n.starts_with("__")) {
            names.insert(&**name);
        }
        for name in builtins::names() {
            names.insert(name);
        }
        names
    }

    /// Types of the parameters a callee wants for `count` arguments, with whether each is an
    /// output; `None` when it cannot take so many.
    pub fn params(&self, callee: Callee, count: usize) -> Option<Vec<(SourceType, bool)>> {
        match callee {
            Callee::Function(i) => {
                let params = self.definition(i).declared();
                (params.len() == count).then(|| params.iter().map(|p| (p.ty, p.output)).collect())
            }
            Callee::Builtin(b) => b.params_of(count),
        }
    }

    /// How a callee takes these arguments; `None` when it cannot.
    pub fn arguments(&self, callee: Callee, args: &[ExprId]) -> Option<Arguments> {
        Some(match callee {
            Callee::Builtin(b) => {
                Arguments { positional: b.positional(args.len(), self.ast.named_pairs(args))?, options: b.options }
            }
            Callee::Function(_) => Arguments { positional: self.params(callee, args.len())?, options: &[] },
        })
    }

    /// The function of the standard library that implements a built-in one.
    pub fn library_function(&self, builtin: &Builtin) -> Option<usize> {
        let (name, count) = builtin.library()?;
        let fits = |i: &usize| self.functions[*i].library && self.definition(*i).params.len() == count;
        self.by_name.get(name)?.iter().copied().find(fits)
    }

    /// The type of a callee's value.
    pub fn result(&self, callee: Callee) -> SourceType {
        match callee {
            Callee::Function(i) => self.definition(i).result,
            Callee::Builtin(b) => b.result,
        }
    }

    /// How a message writes a callee.
    pub fn describe(&self, callee: Callee) -> String {
        let list = |types: &mut dyn Iterator<Item = (SourceType, bool)>| {
            let words: Vec<String> =
                types.map(|(t, output)| if output { format!("output {t}") } else { t.to_string() }).collect();
            words.join(", ")
        };
        match callee {
            Callee::Function(i) => {
                let d = self.definition(i);
                let params = list(&mut d.declared().iter().map(|p| (p.ty, p.output)));
                format!("{} {}({params})", d.result, d.name.name)
            }
            Callee::Builtin(b) => {
                let mut more = if b.variadic { ", …" } else { "" }.to_string();
                b.options.iter().for_each(|o| more += &format!(", {o}"));
                format!("{} {}({}{more})", b.result, b.name, list(&mut b.params.iter().copied()))
            }
        }
    }
}
