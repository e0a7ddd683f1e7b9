//! The co-shaders of objects as functions that cores call (`lang::coshaders`).
//!
//! Which co-shaders there are depends on the object (`Shader`), so there is one set of functions
//! for each specialization key, whose suffix their names end with. A function compares the handle
//! with those of the key's list and calls the method of the co-shader that it names. A method's
//! core constructs its class again, so members that a method changes are reset at the next call.
//!
//! Co-shaders may call each other, so these functions may be recursive, and are not inlined then.
//! To keep calls small, there is one function for each method of each co-shader, which knows the
//! address of its parameters: of its arguments, all but the method's own parameters are removed
//! where they are not used.

use crate::collect::copied_functions::callers_of;
use crate::collect::instances::unpack;
use crate::collect::shader_library::CompiledParam;
use crate::layout::blocks::{CoShaders, LinkedCoShader, LinkedCore};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_ir::abi::ShaderKind;
use shadewright_ir::passes::InlinePolicy;
use shadewright_ir::passes::inline::{self, InlinePhase};
use shadewright_ir::{
    Const, Control, Function, FunctionBuilder, FunctionKind, FunctionOrigin, Inlining, Module, ResultInfo, TargetInfo,
    Type, Value,
};
use shadewright_lang::coshaders::{ARROW, CoShaderCall, CoShaderQuery, inputs, is_core};
use shadewright_lang::types::SourceType;
use shadewright_scene::CoShader;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The parameter that names the categories of a co-shader, separated by commas (PRMan).
const CATEGORY: &str = "__category";

impl LinkedCoShader {
    fn core(&self, name: &str) -> Option<&LinkedCore> {
        self.cores.iter().find(|c| *c.name == *name)
    }

    fn categories(&self) -> BTreeSet<&str> {
        let strings = self.core("").into_iter().flat_map(|c| &c.instance.strings);
        strings.filter(|(name, _)| name == CATEGORY).flat_map(|(_, string)| string.split(',').map(str::trim)).collect()
    }
}

/// Adds the functions that are called of the scene's co-shaders to a module, and removes the cores
/// that they are made of.
pub fn add_methods(module: &mut Module, calls: &BTreeSet<Arc<str>>, coshaders: &CoShaders, target: &TargetInfo) {
    let mut methods = BTreeMap::new();
    for asked in calls.iter().filter_map(|name| CoShaderCall::parse(name)) {
        for fit in coshaders.values().filter_map(|c| Match::new(&asked, c.core(asked.core()?)?)) {
            if let Some(name) = fit.function_name() {
                methods.entry(name).or_insert_with_key(|name| fit.function(name));
            }
        }
    }
    if !methods.is_empty() {
        let mut callers = callers_of(&module.functions, calls.iter().cloned().collect());
        callers.extend(module.functions.iter().map(|f| &f.name).filter(|name| is_core(name)).cloned());
        module.functions.extend(methods.into_values());
        let set_inlining = |module: &mut Module, inlining: Inlining| {
            let callers = module.functions.iter_mut().filter(|f| callers.contains(&f.name));
            callers.for_each(|f| f.inlining = inlining);
        };
        set_inlining(module, Inlining::Always);
        inline::run(module, &InlinePolicy::default(), target, InlinePhase::Early);
        set_inlining(module, Inlining::Automatic);
    }
    module.functions.retain(|f| !is_core(&f.name));
}

/// Warnings of calls that match no co-shader's method of that name in parameters and return type.
pub fn mismatched_calls(calls: &BTreeSet<Arc<str>>, coshaders: &CoShaders) -> Vec<Diagnostic> {
    let mut remarks = Vec::new();
    for asked in calls.iter().filter_map(|name| CoShaderCall::parse(name)) {
        if !matches!(asked.question, CoShaderQuery::Method | CoShaderQuery::Run) {
            continue;
        }
        let named: Vec<&LinkedCore> = coshaders.values().filter_map(|c| c.core(&asked.name)).collect();
        if named.iter().any(|core| Match::new(&asked, core).is_some()) {
            continue;
        }
        if let Some(core) = named.first() {
            let types: Vec<String> = asked.args.iter().map(|(ty, _)| ty.to_string()).collect();
            let own: Vec<String> = call_params(core).map(declared).collect();
            let value =
                if asked.result == SourceType::Void { String::new() } else { format!(" for a {}", asked.result) };
            let message = format!(
                "no co-shader's method `{}` takes ({}){value}: the call does nothing",
                asked.name,
                types.join(", ")
            );
            remarks.push(Diagnostic::warning(message).hint(format!("there is {}({})", asked.name, own.join(", "))));
        }
    }
    remarks
}

/// A parameter as its method declares it.
fn declared(p: &CompiledParam) -> String {
    let length = p.array.map(|n| format!("[{n}]")).unwrap_or_default();
    format!("{} {}{length}", p.type_name, p.name.trim_start_matches(ARROW))
}

/// The functions for one list of co-shaders.
pub fn functions(suffix: &str, calls: &BTreeSet<Arc<str>>, list: &[CoShader], coshaders: &CoShaders) -> Vec<Function> {
    let known: Vec<Known<'_>> = list
        .iter()
        .filter_map(|c| Some(Known { handle: c.handle.clone(), shader: coshaders.get(&c.shader)? }))
        .collect();
    calls.iter().filter_map(|name| Some(function(name, suffix, &CoShaderCall::parse(name)?, &known))).collect()
}

/// A co-shader that an object knows.
struct Known<'a> {
    handle: Arc<str>,
    shader: &'a LinkedCoShader,
}

fn function(name: &str, suffix: &str, asked: &CoShaderCall, known: &[Known<'_>]) -> Function {
    let mut b = FunctionBuilder::linker(format!("{name}{suffix}"));
    match asked.question {
        CoShaderQuery::Find => {
            let handle = string_param(&mut b, "handle");
            b.result("return", Type::String);
            let null = b.constant(Const::String("".into()));
            let found = chosen(&mut b, handle, known, null, |b, k| Some(b.constant(Const::String(k.handle.clone()))));
            b.ret(vec![found]);
        }
        CoShaderQuery::Has => {
            let handle = string_param(&mut b, "handle");
            b.result("return", Type::F32);
            let no = b.f32(0.0);
            let has = chosen(&mut b, handle, known, no, |b, k| k.shader.core(&asked.name).map(|_| b.f32(1.0)));
            b.ret(vec![has]);
        }
        CoShaderQuery::Count | CoShaderQuery::At => listed(&mut b, asked.question, known),
        CoShaderQuery::Member | CoShaderQuery::Method | CoShaderQuery::Run => {
            called(&mut b, suffix, asked, known);
        }
    }
    b.finish()
}

fn string_param(b: &mut FunctionBuilder, name: &str) -> Value {
    b.param(name, Type::String)
}

/// The result of `value` for the co-shader of a handle, else `other`.
fn chosen(
    b: &mut FunctionBuilder,
    handle: Value,
    known: &[Known<'_>],
    other: Value,
    value: impl Fn(&mut FunctionBuilder, &Known<'_>) -> Option<Value>,
) -> Value {
    known.iter().fold(other, |other, k| match value(b, k) {
        Some(value) => {
            let own = b.constant(Const::String(k.handle.clone()));
            let is = b.ieq(handle, own);
            b.select(is, value, other)
        }
        None => other,
    })
}

/// `Count` and `At`: those of a category, or all where that is empty, in the order in which the
/// scene names them.
fn listed(b: &mut FunctionBuilder, question: CoShaderQuery, known: &[Known<'_>]) {
    let number = (question == CoShaderQuery::At).then(|| b.param("i", Type::F32));
    let category = string_param(b, "category");
    b.result("return", if number.is_some() { Type::String } else { Type::F32 });
    let (mut count, one) = (b.f32(0.0), b.f32(1.0));
    let mut handle = b.constant(Const::String("".into()));
    for k in known {
        let mut is_included = b.bool(false);
        for own in std::iter::once("").chain(k.shader.categories()) {
            let own = b.constant(Const::String(own.into()));
            let is = b.ieq(category, own);
            is_included = b.or(is_included, is);
        }
        if let Some(number) = number {
            let is_next = b.eq(count, number);
            let is_at = b.and(is_included, is_next);
            let own = b.constant(Const::String(k.handle.clone()));
            handle = b.select(is_at, own, handle);
        }
        let more = b.add(count, one);
        count = b.select(is_included, more, count);
    }
    b.ret(vec![if number.is_some() { handle } else { count }]);
}

/// The values that a caller passes to a core.
struct Passed {
    /// The values of the arguments, one after the other.
    args: Vec<Value>,
    /// The predefined variables, in the order of [`inputs`].
    globals: Vec<Value>,
}

/// `Member`, `Method` and `Run`: calls the co-shader of a handle.
fn called(b: &mut FunctionBuilder, suffix: &str, asked: &CoShaderCall, known: &[Known<'_>]) {
    let is_member = asked.question == CoShaderQuery::Member;
    let handle = string_param(b, "handle");
    let values = asked.args.iter().flat_map(|(ty, _)| ty.values()).enumerate();
    let args = values.map(|(i, ty)| b.implicit_param(format!("given.{i}"), ty)).collect();
    let globals = typed_inputs().map(|(name, ty)| b.implicit_param(format!("given.{name}"), ty)).collect();
    let given = Passed { args, globals };
    let found = is_member.then_some(("found", Type::F32));
    let value = asked.result.ir().map(|ty| ("return", ty));
    for (name, ty) in found.into_iter().chain(value) {
        b.result(name, ty);
    }
    for (i, ty) in asked.args.iter().filter(|a| a.1).flat_map(|a| a.0.values()).enumerate() {
        b.result(format!("changed.{i}"), ty);
    }
    for k in known {
        let fit = asked.core().and_then(|name| k.shader.core(name)).and_then(|core| Match::new(asked, core));
        let Some(fit) = fit else { continue };
        let own = b.constant(Const::String(k.handle.clone()));
        let is = b.ieq(handle, own);
        b.leave_if(is, |b| {
            let mut results: Vec<Value> = is_member.then(|| b.f32(1.0)).into_iter().collect();
            results.extend(fit.call(b, asked, &given, suffix));
            b.ret(results);
        });
    }
    let mut results: Vec<Value> = is_member.then(|| b.f32(0.0)).into_iter().collect();
    results.extend(asked.result.ir().map(|ty| b.constant(Const::zero(ty))));
    results.extend(given.unchanged(asked));
    b.ret(results);
}

impl Passed {
    /// The values of each argument.
    fn each<'a>(&'a self, asked: &'a CoShaderCall) -> impl Iterator<Item = (&'a [Value], bool)> {
        let mut rest = &self.args[..];
        asked.args.iter().map(move |(ty, variable)| {
            let (own, after) = rest.split_at(ty.values().count());
            rest = after;
            (own, *variable)
        })
    }

    /// The values of the arguments that a method may change.
    fn unchanged(&self, asked: &CoShaderCall) -> Vec<Value> {
        self.each(asked).filter(|a| a.1).flat_map(|a| a.0).copied().collect()
    }
}

/// The parameters of a method that its caller passes.
fn call_params(core: &LinkedCore) -> impl Iterator<Item = &CompiledParam> {
    let is_given = |p: &&CompiledParam| !core.name.is_empty() && p.name.len() > ARROW.len() && p.is_of_call();
    core.instance.shader.params.iter().filter(is_given)
}

/// How a core provides what is called.
enum Match<'a> {
    /// By a parameter at that offset of its block.
    Parameter(&'a LinkedCore, u32, Type),
    /// By its output of that name.
    Output(&'a LinkedCore, String),
    /// By running, without a value.
    Nothing(&'a LinkedCore),
}

/// True if a value of a type converts to another: a float to a triple.
fn converts(from: Type, to: Type) -> bool {
    from == to || (from, to) == (Type::F32, Type::Vec3)
}

fn converted(b: &mut FunctionBuilder, value: Value, to: Type) -> Value {
    if b.ty(value) == to { value } else { b.splat(value, to) }
}

impl<'a> Match<'a> {
    fn new(asked: &CoShaderCall, core: &'a LinkedCore) -> Option<Self> {
        let shader = &core.instance.shader;
        let output = |name: &str| shader.core_results.iter().find(|r| *r.name == *name).map(|r| r.ty);
        let fits = |ty: Type| asked.result.ir().is_none_or(|expected| converts(ty, expected));
        if core.name.is_empty() {
            let before = |i: usize| shader.params[..i].iter().map(CompiledParam::values).sum();
            if let Some(i) = shader.params.iter().position(|p| *p.name == *asked.name) {
                let p = &shader.params[i];
                let slot = core.instance.slot(before(i))?;
                return (p.array.is_none() && fits(p.ty)).then_some(Self::Parameter(core, slot, p.ty));
            }
            let name = format!("{ARROW}{}", asked.name);
            return output(&name).filter(|ty| fits(*ty)).map(|_| Self::Output(core, name));
        }
        let params: Vec<&CompiledParam> = call_params(core).collect();
        let takes = |p: &CompiledParam, ty: SourceType| match (p.array, ty) {
            (Some(len), SourceType::Array(element, given)) => len == given && element.ir() == Some(p.ty),
            (None, ty) => ty.ir().is_some_and(|ty| converts(ty, p.ty)),
            _ => false,
        };
        if params.len() != asked.args.len() || !params.iter().zip(&asked.args).all(|(p, (ty, _))| takes(p, *ty)) {
            return None;
        }
        match (asked.result.ir(), output(ARROW)) {
            (None, _) => Some(Self::Nothing(core)),
            (Some(_), Some(ty)) if fits(ty) => Some(Self::Output(core, ARROW.to_string())),
            _ => None,
        }
    }

    /// The core that runs.
    fn core(&self) -> Option<&'a LinkedCore> {
        match self {
            Self::Parameter(..) => None,
            Self::Output(core, _) | Self::Nothing(core) => Some(core),
        }
    }

    /// The name of the function that runs the core, before the set's suffix.
    fn function_name(&self) -> Option<Arc<str>> {
        let core = self.core()?;
        let member = match self {
            Self::Output(_, name) if core.name.is_empty() => name.trim_start_matches(ARROW),
            _ => "",
        };
        Some(format!("{}.{}.{member}", core.instance.shader.core, core.id.0).into())
    }

    /// The core's results that the function gives.
    fn results(&self) -> Vec<&'a ResultInfo> {
        let Some(core) = self.core() else { return Vec::new() };
        let is_given = |r: &&ResultInfo| match self {
            Self::Output(_, name) if core.name.is_empty() => *r.name == **name,
            _ => r.name.starts_with(ARROW),
        };
        core.instance.shader.core_results.iter().filter(is_given).collect()
    }

    /// That function: it takes the method's parameters and [`inputs`].
    fn function(&self, name: &Arc<str>) -> Function {
        let mut b = FunctionBuilder::new(name.clone(), FunctionKind::Core(ShaderKind::Surface))
            .with_origin(FunctionOrigin::Linker);
        for result in self.results() {
            b.result(result.name.clone(), result.ty);
        }
        let Some(core) = self.core() else { return b.finish() };
        let mut given: BTreeMap<String, Value> = BTreeMap::new();
        for p in call_params(core) {
            for name in value_names(p) {
                let value = b.param(name.clone(), p.ty);
                given.insert(name, value);
            }
        }
        for (name, ty) in typed_inputs() {
            let value = b.implicit_param(format!("given.{name}"), ty);
            given.insert(name.to_string(), value);
        }
        let block = b.constant(Const::Ref(core.address));
        // Globals come from the caller, parameters from the co-shader.
        let outputs = core.instance.call(&mut b, &core.instance.shader.core, |b, slot, param| {
            match (given.get(&*param.name), slot) {
                (Some(&value), _) => value,
                (None, Some(slot)) => unpack(b, param.ty, |b, k| b.load(block, slot + k)),
                (None, None) => b.constant(Const::zero(param.ty)),
            }
        });
        let results = self.results().into_iter().filter_map(|r| outputs.get(&r.name)).collect();
        b.ret(results);
        b.finish()
    }

    /// The value, then the new values of the arguments that are variables.
    fn call(&self, b: &mut FunctionBuilder, asked: &CoShaderCall, given: &Passed, suffix: &str) -> Vec<Value> {
        let expected = asked.result.ir();
        if let Self::Parameter(core, slot, ty) = self {
            let block = b.constant(Const::Ref(core.address));
            let value = unpack(b, *ty, |b, k| b.load(block, slot + k));
            return expected.map(|expected| converted(b, value, expected)).into_iter().collect();
        }
        let (Some(core), Some(name)) = (self.core(), self.function_name()) else { return Vec::new() };
        let mut args = Vec::new();
        for (p, (values, _)) in call_params(core).zip(given.each(asked)) {
            args.extend(values.iter().map(|&v| converted(b, v, p.ty)));
        }
        args.extend(given.globals.iter().copied());
        let results = self.results();
        let types: Vec<Type> = results.iter().map(|r| r.ty).collect();
        let values = b.call(format!("{name}{suffix}"), args, &types);
        let output = |name: &str| results.iter().position(|r| *r.name == *name).map(|i| values[i]);
        let mut list = Vec::new();
        if let (Self::Output(_, name), Some(expected)) = (self, expected) {
            list.extend(output(name).map(|value| converted(b, value, expected)));
        }
        // The values of output parameters, and of others the old values.
        for (p, (values, variable)) in call_params(core).zip(given.each(asked)) {
            let new = value_names(p).into_iter().map(|name| output(&name));
            let new = new.zip(values).map(|(new, &old)| new.filter(|v| b.ty(*v) == b.ty(old)).unwrap_or(old));
            if variable {
                list.extend(new);
            }
        }
        list
    }
}

/// The names of the values that stand for a parameter, as its core has them.
fn value_names(p: &CompiledParam) -> Vec<String> {
    p.array.map_or(vec![p.name.clone()], |len| (0..len).map(|i| format!("{}.{i}", p.name)).collect())
}

/// The predefined variables that a caller passes on, with their types.
fn typed_inputs() -> impl Iterator<Item = (&'static str, Type)> {
    inputs().filter_map(|g| Some((g.name, g.ty.ir()?)))
}
