//! Lowers a method of an object to IR: one function in which the object and those that it refers to
//! are constructed and all calls are resolved.
//!
//! One walk over the tree finds types, reports errors and emits code; after an error it continues
//! with the next statement. Functions are inlined: there is no recursion (GLSL 1.20, §6.1), and
//! references are resolved at compile time. A handle is the index of an object in the tree, mostly
//! a constant, so a call through it is a call of that object's method, or a switch over the objects
//! that it may be. All objects share the renderer's state, the variables whose names begin with
//! `rt_`.

use super::ast::{self, ExprId, ExprKind, Ident, Qualifier};
use super::classes::{File, FunctionId};
use super::state::{self, Interface, Method};
use super::types::{Reference, Type, values};
use crate::stdlib;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::Span;
use shadewright_ir::abi::{Input, ShaderKind, referred_parameter};
use shadewright_ir::{
    self as ir, Condition, Const, Control, FunctionBuilder, FunctionKind, Loc, LocData, LoopExits, Module, Op,
    ParamKind, SlotId, Value, Variable,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

mod calls;
mod expr;
mod images;
mod lights;
mod lvalues;
mod operators;
mod state_inputs;
mod stmt;
mod values;

use lvalues::Local;
pub(super) use values::Typed;

/// How deep calls may nest.
const MAX_CALLS: usize = 64;

/// How deep expressions and statements may nest, those of callers and of the functions that become
/// part of them together.
const MAX_DEPTH: usize = 160;

/// How many values the code of one method may have.
const MAX_VALUES: usize = 100_000;

/// How many elements an array may have.
const MAX_ELEMENTS: u32 = 4096;

/// An object of a scene, with those that it refers to.
#[derive(Clone, Debug)]
pub struct Object {
    /// The file of its class.
    pub file: Arc<File>,
    /// The class.
    pub class: usize,
    /// The constructor that makes it; none of a class without, whose public variables are its
    /// parameters.
    pub constructor: Option<FunctionId>,
    /// The targets of the parameters that are references, or arrays of them: an object or nothing
    /// for each. Those that are not given are null.
    pub references: Vec<(Arc<str>, Vec<Option<Object>>)>,
    /// Public variables that are strings and keep their declared values, so that code for other
    /// values is removed: a material that names no image does no lookup.
    pub fixed: Vec<Arc<str>>,
    /// Public variables that are strings and are given, none of them empty, so that code for empty
    /// ones is removed.
    pub written: Vec<Arc<str>>,
    /// The values that its `scratch` variables, and those of all that it refers to, hold when a
    /// method of its material begins.
    pub scratch: Scratch,
}

/// The values of `scratch` variables when a method of a material begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scratch {
    /// The values in their declarations.
    #[default]
    Declared,
    /// The values that `intersect` has left at the hit: the object is primitive and material in
    /// one. They are inputs of the core, which [`super::AtHit::Scratch`] computes.
    OfHit,
}

impl Object {
    /// An object of a class that refers to nothing, made by the first of its constructors.
    pub fn alone(file: &Arc<File>, class: usize) -> Self {
        let constructor = file.constructors(class).first().copied();
        Self {
            file: file.clone(),
            class,
            constructor,
            references: Vec::new(),
            fixed: Vec::new(),
            written: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// True if its methods, or those of an object that it refers to, leave something for each
    /// other.
    pub(super) fn has_scratch(&self) -> bool {
        let count = self.file.classes[self.class].variables.len();
        (0..count).any(|i| self.file.variable(self.class, i).qualifier == Qualifier::Scratch)
            || self.references.iter().flat_map(|r| &r.1).flatten().any(Object::has_scratch)
    }

    /// True if a name occurs in its class or in a base class.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let ast = &self.file.ast;
        let is_named = |e: &&ast::Expr| matches!(&e.kind, ExprKind::Name(n) if **n == *name);
        // All up to the next class belongs to a class.
        let class_of = |place: u32| ast.classes.iter().rposition(|c| c.name.span.start < place);
        let named: Vec<usize> = ast.exprs.iter().filter(is_named).filter_map(|e| class_of(e.span.start)).collect();
        self.file.lineage(self.class).any(|class| named.contains(&class))
    }
}

/// A core that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The core, and the functions that give defaults of parameters.
    pub module: Module,
    /// The core's name.
    pub core: Arc<str>,
    /// The parameters that the scene gives: the core's first parameters.
    pub params: Vec<BuiltParam>,
    /// The names of the parameters that refer to objects, and are none of the core's.
    pub references: Vec<String>,
}

/// A parameter that a scene may give: of a constructor, or a public variable.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltParam {
    /// The name; of an object that another one refers to, after that parameter's name and a dot.
    pub name: String,
    /// The type in the IR; of an array, that of an element.
    pub ty: ir::Type,
    /// The number of elements of an array.
    pub array: Option<u32>,
    /// The type in the language.
    pub type_name: &'static str,
    /// The function of [`Built::module`] that gives its value where the scene gives none; zero if
    /// there is no such function.
    pub default: Arc<str>,
}

/// The role of the code of a function, which decides what it may read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Making an object.
    Constructor,
    /// A method that the renderer calls.
    Method(Method),
    /// A function that is checked by itself.
    Any,
}

/// An object as the core has it.
struct Live<'a> {
    file: &'a File,
    class: usize,
    /// The prefix of the names of its parameters.
    path: String,
    /// The variables, in the order of [`super::classes::Class::variables`].
    fields: Vec<Local>,
}

/// A function that is being lowered.
struct Frame<'a> {
    file: &'a File,
    class: Option<usize>,
    /// The number of the object whose method it is.
    object: Option<usize>,
    function: Option<FunctionId>,
    role: Role,
    scopes: Vec<HashMap<Arc<str>, Local>>,
    loops: Vec<LoopExits>,
    result: Type,
    /// Where its value goes, and where the caller continues.
    returned: Option<(Local, ir::BlockId)>,
}

/// An error was reported; the statement is given up.
#[derive(Clone, Copy, Debug)]
struct Poison;

type Lower<T> = Result<T, Poison>;

/// Lowers one core.
pub(super) struct Body<'a> {
    pub(super) b: FunctionBuilder,
    module: Module,
    diags: &'a mut Diagnostics,
    library: &'a Module,
    /// The root first.
    objects: Vec<Live<'a>>,
    frames: Vec<Frame<'a>>,
    /// The renderer's state that somebody mentions.
    state: BTreeMap<&'static str, Local>,
    /// The state of random numbers, once a place gives a seed.
    random: Option<Variable>,
    /// Random numbers that are drawn before those of the sequence.
    ahead: Vec<Variable>,
    /// Inputs after the parameters, by their names.
    inputs: HashMap<Arc<str>, Value>,
    /// The method that is made; none where classes are only checked.
    method: Option<Method>,
    /// True if references may refer to what is not known.
    is_open: bool,
    /// Constants that are handles of objects.
    handles: HashMap<Value, u32>,
    /// Strings that are not empty, and those that are.
    written: HashSet<Value>,
    empty: HashSet<Value>,
    params: Vec<BuiltParam>,
    references: Vec<String>,
    locs: HashMap<Span, Loc>,
    /// True if the code has more than [`MAX_VALUES`].
    is_too_large: bool,
    /// How deep the current expression or statement lies.
    depth: usize,
}

/// Checks all classes and functions of a file.
pub fn check(file: &Arc<File>, library: &Module, diags: &mut Diagnostics) {
    let functions = (0..file.ast.functions.len()).map(FunctionId::Free);
    for id in functions {
        let mut body = Body::new("check", FunctionKind::Function, library, diags, None);
        body.whole(file, None, id, Role::Any);
        if body.is_too_large {
            // So is what calls it, which would take as long to find.
            return;
        }
    }
    for class in 0..file.classes.len() {
        let object = Object::alone(file, class);
        let methods = (0..file.ast.classes[class].methods.len()).map(|i| FunctionId::Method(class, i));
        let constructors = file.constructors(class);
        let interfaces = &file.classes[class].interfaces;
        let inherited = interfaces.iter().flat_map(|i| i.methods()).filter_map(|m| file.method(class, m));
        let mut all: Vec<FunctionId> = methods.collect();
        all.extend(inherited);
        let mut seen = HashSet::new();
        for id in all.into_iter().filter(|id| seen.insert(*id) && file.function(*id).body.is_some()) {
            let name = &file.function(id).name.name;
            let known = Method::named(name).filter(|m| interfaces.contains(&m.interface()));
            let role = match known {
                Some(method) => Role::Method(method),
                None if constructors.contains(&id) => Role::Constructor,
                None => Role::Any,
            };
            let mut body = Body::new("check", FunctionKind::Function, library, diags, known);
            body.is_open = true;
            body.begin_state(&HashSet::new());
            body.unmade(&object);
            body.whole(file, Some(class), id, role);
            if body.is_too_large {
                return;
            }
        }
        let mut body = Body::new("check", FunctionKind::Function, library, diags, None);
        body.is_open = true;
        body.unmade(&object);
        body.initialize(0);
    }
}

/// Makes the core of a method of an object, with the standard library's functions that its classes
/// were compiled with.
///
/// # Errors
/// The errors that only the scene shows: a class that lacks the method, code that is too large.
pub fn build(object: &Object, method: Method, library: &Module, name: &str) -> Result<Built, Diagnostics> {
    build_of_several(object, &[method], Results::State(state_inputs::outputs(method)), library, name)
}

/// The results of a core.
#[derive(Clone, Copy, Debug)]
pub(super) enum Results {
    /// Results by their names, and the state that they are.
    State(&'static [(&'static str, &'static str)]),
    /// The `scratch` variables of all objects, by the names of their inputs.
    Scratch,
}

impl Results {
    /// The state among them.
    fn state(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Results::State(state) => state,
            Results::Scratch => &[],
        }
    }
}

/// Makes one core of methods that run one after the other on an object and the same state.
pub(super) fn build_of_several(
    object: &Object,
    methods: &[Method],
    results: Results,
    library: &Module,
    name: &str,
) -> Result<Built, Diagnostics> {
    super::count(0, 1);
    let mut diags = Diagnostics::new();
    let last = methods.last().copied();
    let kind = match last {
        Some(Method::Shade) => FunctionKind::Core(ShaderKind::Surface),
        Some(Method::Illumination) => FunctionKind::Core(ShaderKind::Light),
        _ => FunctionKind::Function,
    };
    let class = &object.file.classes[object.class].name;
    let mut found = Vec::new();
    for &method in methods {
        let Some(id) = object.file.method(object.class, method) else {
            let message = format!("the class `{}` has no method `{}`", class.name, method.name());
            let d = Diagnostic::error(message).at(class.span, "this class");
            let d = d.hint(format!("this use needs `void {}()`", method.name()));
            return Err(match method {
                Method::Shade => d.hint("it is derived for materials with `BSDF`, `sampleBSDF` or `emission`"),
                _ => d,
            }
            .into());
        };
        found.push((method, id));
    }
    let mut body = Body::new(name, kind, library, &mut diags, last);
    let root = body.object(object, "");
    let mut mentioned = HashSet::new();
    mentions(object, &mut mentioned);
    let state = results.state();
    mentioned.extend(state.iter().map(|r| r.1));
    mentioned.extend(methods.iter().flat_map(|m| state_inputs::needed(*m)));
    body.begin_state(&mentioned);
    if object.scratch == Scratch::OfHit && last.is_some_and(|m| m.interface() == Interface::Material) {
        body.take_scratch();
    }
    // Who does not ask for the distance knows it: `intersect` then finds the same hit again.
    let is_again = !state.iter().any(|r| r.1 == "rt_HitDistance");
    if is_again && methods.contains(&Method::Intersect) {
        body.forget_hit();
    }
    for name in state {
        let ty = body.state.get(name.1).map(|local| local.ty.clone());
        let types = ty.as_ref().and_then(Type::basic).map(values).unwrap_or_default();
        types.into_iter().for_each(|ty| body.b.result(name.0, ty));
    }
    let file = body.objects[root].file;
    for (method, id) in found {
        let _ = body.call(file, id, Some(root), Role::Method(method), Vec::new(), class.span);
        if method == Method::Intersect && is_again {
            body.settle_hit();
        }
    }
    body.finish_core(results);
    let Body { b, mut module, params, references, .. } = body;
    let declared = params.iter().map(|p| p.array.unwrap_or(1) as usize).sum();
    let mut core = b.finish();
    core.drop_unused_params(declared);
    let core_name = core.name.clone();
    module.functions.push(core);
    add_called(&mut module, library);
    match diags.has_errors() {
        true => Err(diags),
        false => Ok(Built { module, core: core_name, params, references }),
    }
}

/// Adds the functions of the standard library that are called, from its module.
fn add_called(module: &mut Module, library: &Module) {
    let calls = |f: &ir::Function| {
        let insts = f.blocks.iter().flat_map(|b| &b.insts);
        insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(name.clone()) } else { None }).collect::<Vec<_>>()
    };
    let mut work: Vec<Arc<str>> = module.functions.iter().flat_map(calls).collect();
    let mut needed: HashSet<Arc<str>> = HashSet::new();
    while let Some(name) = work.pop() {
        if let Some(f) = library.function(&name)
            && needed.insert(name)
        {
            work.extend(calls(f));
        }
    }
    if !needed.is_empty() {
        let functions = library.functions.iter().filter(|f| needed.contains(&f.name)).cloned().collect();
        module.absorb(Module { functions, locs: library.locs.clone() });
    }
    stdlib::add_built_functions(module);
}

/// The names in the files of an object and all that it refers to.
fn mentions<'o>(object: &'o Object, names: &mut HashSet<&'o str>) {
    for e in &object.file.ast.exprs {
        match &e.kind {
            ExprKind::Name(name) => names.insert(name),
            ExprKind::Call(f, _) => names.insert(&f.name),
            _ => continue,
        };
    }
    object.references.iter().flat_map(|r| &r.1).flatten().for_each(|child| mentions(child, names));
}

impl Control for Body<'_> {
    fn builder(&mut self) -> &mut ir::FunctionBuilder {
        &mut self.b
    }
}

impl<'a> Body<'a> {
    fn new(
        name: &str,
        kind: FunctionKind,
        library: &'a Module,
        diags: &'a mut Diagnostics,
        method: Option<Method>,
    ) -> Self {
        Self {
            b: FunctionBuilder::new(name, kind),
            module: Module::new(),
            diags,
            library,
            objects: Vec::new(),
            frames: Vec::new(),
            state: BTreeMap::new(),
            random: None,
            ahead: Vec::new(),
            inputs: HashMap::new(),
            method,
            is_open: false,
            handles: HashMap::new(),
            written: HashSet::new(),
            empty: HashSet::new(),
            params: Vec::new(),
            references: Vec::new(),
            locs: HashMap::new(),
            is_too_large: false,
            depth: 0,
        }
    }

    /// Checks a function by itself, with any arguments.
    fn whole(&mut self, file: &'a File, class: Option<usize>, id: FunctionId, role: Role) {
        let f = file.function(id);
        self.frames.push(self.frame(file, class, class.map(|_| 0), None, role));
        let mut args = Vec::new();
        for p in &f.params {
            let Ok(ty) = self.type_of_name(&p.ty) else { return };
            args.push(self.zero(&ty));
        }
        let _ = self.call(file, id, class.map(|_| 0), role, args, f.name.span);
    }

    fn frame(
        &self,
        file: &'a File,
        class: Option<usize>,
        object: Option<usize>,
        function: Option<FunctionId>,
        role: Role,
    ) -> Frame<'a> {
        Frame {
            file,
            class,
            object,
            function,
            role,
            scopes: vec![HashMap::new()],
            loops: Vec::new(),
            result: Type::VOID,
            returned: None,
        }
    }

    fn top(&self) -> &Frame<'a> {
        self.frames.last().expect("code stands in functions")
    }

    fn file(&self) -> &'a File {
        self.top().file
    }

    fn loc(&mut self, span: Span) -> Loc {
        let module = &mut self.module;
        *self.locs.entry(span).or_insert_with(|| module.add_loc(LocData { span: Some(span), inlined_at: None }))
    }

    fn at(&mut self, span: Span) {
        self.b.loc = self.loc(span);
    }

    fn error<T>(&mut self, d: Diagnostic) -> Lower<T> {
        self.diags.push(d);
        Err(Poison)
    }

    /// Goes one level deeper, as far as levels go.
    fn deeper<T>(&mut self, span: Span, f: impl FnOnce(&mut Self) -> Lower<T>) -> Lower<T> {
        if self.depth >= MAX_DEPTH {
            let d = Diagnostic::error(format!("nested more than {MAX_DEPTH} levels deep, inlined functions included"));
            return self.error(d.at(span, "one level too many").hint("move inner parts to variables"));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// The value of an input of the core.
    fn input(&mut self, name: &str, ty: ir::Type) -> Value {
        if let Some(&known) = self.inputs.get(name) {
            return known;
        }
        let is_shown = Input::parse(name).is_predefined();
        let kind = if is_shown { ParamKind::Declared } else { ParamKind::Implicit };
        let value = self.b.param_of(name, ty, kind);
        self.inputs.insert(name.into(), value);
        value
    }

    /// An object whose variables are zero.
    fn unmade(&mut self, object: &'a Object) -> usize {
        let file: &'a File = &object.file;
        let number = self.objects.len();
        self.frames.push(self.frame(file, Some(object.class), None, None, Role::Constructor));
        let mut fields = Vec::new();
        for i in 0..file.classes[object.class].variables.len() {
            let v = file.variable(object.class, i);
            let ty = self.type_of_name(&v.ty).unwrap_or(Type::VOID);
            let mut local = self.new_local(ty, v.name.span);
            local.qualifier = v.qualifier;
            self.set_unit(&mut local, v.unit);
            fields.push(local);
        }
        self.frames.pop();
        self.objects.push(Live { file, class: object.class, path: String::new(), fields });
        number
    }

    /// Gives an object's variables the values that their declarations say.
    fn initialize(&mut self, number: usize) {
        let (file, class) = (self.objects[number].file, self.objects[number].class);
        self.frames.push(self.frame(file, Some(class), Some(number), None, Role::Constructor));
        for i in 0..file.classes[class].variables.len() {
            let v = file.variable(class, i);
            let field = self.objects[number].fields[i].clone();
            if let Some(init) = v.init {
                let value = self.value_as(init, &field.ty);
                if let Ok(value) = value {
                    if v.qualifier == Qualifier::Const {
                        self.objects[number].fields[i].known = value.known;
                    }
                    self.write_local(&field, value);
                }
            } else if v.qualifier == Qualifier::Const {
                let d = Diagnostic::error(format!("the constant `{}` has no initial value", v.name.name));
                self.diags.push(d.at(v.name.span, "a `const` variable is initialized where it is declared"));
            }
        }
        self.frames.pop();
    }

    /// Constructs an object and all that it refers to; `path` is the prefix of the names of its
    /// parameters.
    fn object(&mut self, object: &'a Object, path: &str) -> usize {
        let number = self.unmade(object);
        self.objects[number].path = path.to_string();
        self.initialize(number);
        let (file, class): (&'a File, _) = (&object.file, object.class);
        let Some(id) = object.constructor else {
            self.public_parameters(number, object, path);
            return number;
        };
        let f = file.function(id);
        self.frames.push(self.frame(file, Some(class), Some(number), None, Role::Constructor));
        let mut args = Vec::new();
        for p in &f.params {
            let Ok(ty) = self.type_of_name(&p.ty) else { continue };
            let name = p.name.as_ref().map_or("", |n| &*n.name);
            args.push(match self.referred(object, name, &ty, p.ty.span, path) {
                Some(references) => references,
                None => self.parameter(&format!("{path}{name}"), &ty, p.ty.span, None),
            });
        }
        self.frames.pop();
        let _ = self.call(file, id, Some(number), Role::Constructor, args, f.name.span);
        number
    }

    /// The objects that a parameter refers to, if it is a reference or an array of them.
    fn referred(&mut self, object: &'a Object, name: &str, ty: &Type, span: Span, path: &str) -> Option<Typed> {
        let given = object.references.iter().find(|r| *r.0 == *name).map(|r| &r.1);
        let targets = given.map_or(&[][..], |given| given);
        let target = |i: usize| targets.get(i).and_then(Option::as_ref);
        let element = if let Type::Array(element, _) = ty { element } else { ty };
        if matches!(element, Type::Object(_)) {
            self.references.push(format!("{path}{name}"));
        }
        let count = match ty {
            Type::Array(_, n) => *n as usize,
            _ => 1,
        };
        if given.is_some_and(|given| given.len() != count) {
            let (found, plural) = (targets.len(), if count == 1 { "" } else { "s" });
            let d = Diagnostic::error(format!("`{path}{name}` needs {count} handle{plural} here, but has {found}"));
            let d = d.at(span, format!("`{}`", self.file_of_parameter().describe(ty)));
            self.diags.push(d.hint("the empty handle \"\" means no object"));
        }
        match ty {
            Type::Object(_) => {
                let child = target(0).map(|child| self.object(child, &format!("{path}{name}.")));
                Some(self.handle(child, ty))
            }
            Type::Array(element, n) if matches!(**element, Type::Object(_)) => {
                let mut parts = Vec::new();
                for i in 0..*n as usize {
                    let child = target(i).map(|child| self.object(child, &format!("{path}{name}.{i}.")));
                    parts.extend(self.handle(child, element).parts);
                }
                Some(Typed { ty: ty.clone(), parts, known: None })
            }
            _ => None,
        }
    }

    /// The parameters of an object whose class has no constructor: its public variables.
    fn public_parameters(&mut self, number: usize, object: &'a Object, path: &str) {
        let (file, class) = (self.objects[number].file, self.objects[number].class);
        for i in 0..file.classes[class].variables.len() {
            let v = file.variable(class, i);
            let field = self.objects[number].fields[i].clone();
            if v.qualifier == Qualifier::Public {
                let value = match self.referred(object, &v.name.name, &field.ty, v.ty.span, path) {
                    Some(references) => references,
                    None => {
                        let name = format!("{path}{}", v.name.name);
                        self.parameter(&name, &field.ty, v.ty.span, v.init.map(|e| (number, e)))
                    }
                };
                if object.fixed.contains(&v.name.name) {
                    continue;
                }
                if object.written.contains(&v.name.name) {
                    self.written.extend(&value.parts);
                }
                self.write_local(&field, value);
            }
        }
    }

    /// A value that the scene gives.
    fn parameter(&mut self, name: &str, ty: &Type, span: Span, init: Option<(usize, ExprId)>) -> Typed {
        let (element, array) = match ty {
            Type::Array(element, n) => (&**element, Some(*n)),
            other => (other, None),
        };
        let given = element.basic().and_then(|basic| Some((basic, values::given_as(basic)?)));
        let Some((basic, given)) = given else {
            let text = format!("a scene cannot give a value of the type `{}`", self.file_of_parameter().describe(ty));
            self.diags.push(Diagnostic::error(text).at(span, "the type of a parameter"));
            return self.zero(ty);
        };
        let default: Arc<str> = format!("{}.default.{name}", self.b.function().name).into();
        if let Some((number, e)) = init {
            self.default_function(&default, number, e, ty);
        }
        let built = BuiltParam { name: name.to_string(), ty: given, array, type_name: basic.name(), default };
        self.params.push(built);
        let mut parts = Vec::new();
        for i in 0..array.unwrap_or(1) {
            let name = if array.is_some() { format!("{name}.{i}") } else { name.to_string() };
            let is_own = array.is_none() && referred_parameter(&name).is_none();
            let kind = if is_own { ParamKind::Declared } else { ParamKind::Implicit };
            let value = self.b.param_of(name, given, kind);
            parts.extend(values::from_given(&mut self.b, basic, value));
        }
        Typed { ty: ty.clone(), parts, known: None }
    }

    fn file_of_parameter(&self) -> &'a File {
        self.frames.last().map_or_else(|| self.objects[0].file, |f| f.file)
    }

    /// Makes the function that gives a public variable the value of its declaration.
    fn default_function(&mut self, name: &str, number: usize, init: ExprId, ty: &Type) {
        let (file, class) = (self.objects[number].file, self.objects[number].class);
        let mut body = Body::new(name, FunctionKind::Function, self.library, self.diags, None);
        body.is_open = true;
        body.frames.push(body.frame(file, Some(class), None, None, Role::Constructor));
        if let Ok(value) = body.value_as(init, ty) {
            let element = if let Type::Array(element, _) = ty { element } else { ty };
            let Some(basic) = element.basic() else { return };
            let per_value = values(basic).len().max(1);
            let given: Vec<Value> =
                value.parts.chunks(per_value).map(|parts| values::to_given(&mut body.b, parts)).collect();
            for value in &given {
                let ty = body.b.ty(*value);
                body.b.result("return", ty);
            }
            body.b.ret(given);
            let function = body.b.finish();
            self.module.functions.push(function);
        }
    }

    /// The handle of an object: its number from 1 on, or 0.
    fn handle(&mut self, object: Option<usize>, ty: &Type) -> Typed {
        let number = object.map_or(0, |n| n as u32 + 1);
        let value = self.b.u32(number);
        self.handles.insert(value, number);
        Typed { ty: ty.clone(), parts: vec![value], known: None }
    }

    /// Ends a core: its results are what the renderer wants of the state.
    fn finish_core(&mut self, results: Results) {
        if self.b.is_terminated() {
            return;
        }
        let values = match results {
            Results::State(state) => self.results(state),
            Results::Scratch => self.leave_scratch(),
        };
        self.b.ret(values);
    }

    /// The `scratch` variables of all objects, each with the name of an input that has its value.
    fn scratch_variables(&self) -> Vec<(String, Local)> {
        let of_object = |live: &Live<'a>| {
            let variables = live.fields.iter().enumerate().filter(|(_, field)| field.qualifier == Qualifier::Scratch);
            let named = variables.map(|(i, field)| {
                let name = &live.file.variable(live.class, i).name.name;
                (Input::Scratch(&format!("{}{name}", live.path)).to_string(), field.clone())
            });
            named.collect::<Vec<_>>()
        };
        self.objects.iter().flat_map(of_object).collect()
    }

    /// Gives `scratch` variables the values that `intersect` has left at the hit.
    fn take_scratch(&mut self) {
        for (name, local) in self.scratch_variables() {
            let local = Local { is_unit: false, ..local };
            let declared = self.read_local(&local);
            let types: Vec<ir::Type> = declared.parts.iter().map(|&part| self.b.ty(part)).collect();
            let parts = types.into_iter().enumerate().map(|(i, ty)| self.input(&format!("{name}.{i}"), ty)).collect();
            self.write_local(&local, Typed { parts, ..declared });
        }
    }

    /// The values of `scratch` variables, as results by the names of their inputs.
    fn leave_scratch(&mut self) -> Vec<Value> {
        let mut values = Vec::new();
        for (name, local) in self.scratch_variables() {
            let local = Local { is_unit: false, ..local };
            for (i, part) in self.read_local(&local).parts.into_iter().enumerate() {
                let ty = self.b.ty(part);
                self.b.result(format!("{name}.{i}"), ty);
                values.push(part);
            }
        }
        values
    }

    /// Runs code where a condition holds, and other code where it does not.
    fn branches(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Lower<()>,
        otherwise: impl FnOnce(&mut Self) -> Lower<()>,
    ) -> Lower<()> {
        let (mut first, mut second) = (Ok(()), Ok(()));
        self.if_else(condition, |b| first = then(b), |b| second = otherwise(b));
        first.and(second)
    }
}
