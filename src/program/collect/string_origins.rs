//! Which strings of a module may reach an argument of a function: backwards from its calls, through
//! block parameters, selects, arrays and calls, to constants and to parameters of functions that
//! the module does not call.

use crate::collect::Collected;
use crate::collect::instances::{Instance, string_input};
use crate::records::textures::Names;
use shadewright_base::text::source::Span;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{Const, Function, Module, Op, SlotId, Terminator, Value};
use shadewright_scene::{Scene, ShaderId, ShaderInstance};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Where the strings come from.
#[derive(Debug, Default)]
struct Origins {
    /// Constants, each with a source span.
    pub constants: BTreeMap<Arc<str>, Option<Span>>,
    /// Parameters, as function and number.
    pub params: HashSet<(Arc<str>, usize)>,
}

/// A source of values that flow to the sought argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    /// A value of a function, by the function's number.
    Value(usize, Value),
    /// The elements of an array.
    Slot(usize, SlotId),
}

/// The origins of argument `argument` of all calls of `callee`.
fn origins(module: &Module, callee: &str, argument: usize) -> Origins {
    let index = module.index();
    let definitions: Vec<Definitions<'_>> = module.functions.iter().map(Definitions::new).collect();
    let mut found = Origins::default();
    let mut work = Vec::new();
    let mut visited = HashSet::new();
    let callers = callers(module);
    let arguments = |name: &str, number: usize| {
        let calls = callers.get(name).into_iter().flatten();
        calls.filter_map(|&(f, args)| Some(Source::Value(f, *args.get(number)?))).collect::<Vec<_>>()
    };
    work.extend(arguments(callee, argument));
    while let Some(source) = work.pop() {
        if !visited.insert(source.clone()) {
            continue;
        }
        let (f, value) = match source {
            Source::Value(f, value) => (f, value),
            Source::Slot(f, slot) => {
                let stored = definitions[f].stores.iter().filter(|(s, _)| *s == slot);
                work.extend(stored.map(|&(_, v)| Source::Value(f, v)));
                continue;
            }
        };
        let function = &module.functions[f];
        if let Some(number) = function.block(shadewright_ir::BlockId(0)).params.iter().position(|&p| p == value) {
            found.params.insert((function.name.clone(), number));
            work.extend(arguments(&function.name, number));
        }
        if let Some(passed) = definitions[f].passed.get(&value) {
            work.extend(passed.iter().map(|&v| Source::Value(f, v)));
        }
        let Some(&inst) = definitions[f].insts.get(&value) else { continue };
        match &inst.op {
            Op::Const(Const::String(name)) => {
                let span = module.span(inst.loc);
                let known = found.constants.entry(name.clone()).or_insert(span);
                *known = known.or(span);
            }
            Op::Select => work.extend(inst.args[1..].iter().map(|&v| Source::Value(f, v))),
            Op::SlotLoad(slot) => work.push(Source::Slot(f, *slot)),
            Op::Call(name) => {
                let Some(&callee) = index.get(name) else { continue };
                let Some(number) = inst.results.iter().position(|&r| r == value) else { continue };
                let blocks = module.functions[callee].blocks.iter();
                work.extend(blocks.filter_map(|b| match &b.term {
                    Terminator::Return(values) => Some(Source::Value(callee, *values.get(number)?)),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    found
}

/// The calls of each function: the caller's number, and the arguments.
fn callers(module: &Module) -> HashMap<&str, Vec<(usize, &[Value])>> {
    let mut callers: HashMap<&str, Vec<(usize, &[Value])>> = HashMap::new();
    for (i, f) in module.functions.iter().enumerate() {
        for inst in f.blocks.iter().flat_map(|b| &b.insts) {
            if let Op::Call(name) = &inst.op {
                callers.entry(&**name).or_default().push((i, &inst.args));
            }
        }
    }
    callers
}

/// The definitions of the values of a function.
struct Definitions<'a> {
    insts: HashMap<Value, &'a shadewright_ir::Inst>,
    /// The values that jumps pass to parameters of blocks.
    passed: HashMap<Value, Vec<Value>>,
    stores: Vec<(SlotId, Value)>,
}

impl<'a> Definitions<'a> {
    fn new(function: &'a Function) -> Self {
        let mut definitions = Self { insts: HashMap::new(), passed: HashMap::new(), stores: Vec::new() };
        for block in &function.blocks {
            for inst in &block.insts {
                definitions.insts.extend(inst.results.iter().map(|&r| (r, inst)));
                if let (Op::SlotStore(slot), [_, value]) = (&inst.op, inst.args.as_slice()) {
                    definitions.stores.push((*slot, *value));
                }
            }
            for target in block.term.targets() {
                let params = &function.block(target.block).params;
                params.iter().zip(&target.args).for_each(|(p, a)| definitions.passed.entry(*p).or_default().push(*a));
            }
        }
        definitions
    }
}

/// True if a module's shaders look up textures.
pub fn looks_for_textures(module: &Module) -> bool {
    let mut insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    insts.any(|i| matches!(&i.op, Op::Call(name) if Intrinsic::TextureFind.is(name)))
}

/// The names of textures that a module's shaders may look up; `None` for a module that looks up
/// none. `instances` are all uses of its shaders, with what the scene says of them; `variables` the
/// texts of primitive variables, by their names.
pub fn names<'a>(
    module: &Module,
    instances: impl IntoIterator<Item = (&'a Instance, &'a ShaderInstance)>,
    variables: &BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
) -> Option<Names> {
    looks_for_textures(module).then(|| strings_to(module, &Intrinsic::TextureFind, instances, variables))
}

/// All uses of a scene's shaders, with what the scene says of them.
pub fn instances<'a>(
    scene: &'a Scene,
    collected: &'a Collected,
) -> impl Iterator<Item = (&'a Instance, &'a ShaderInstance)> {
    scene.shader_instances.iter().zip(0..).flat_map(|(given, id)| {
        let cores = collected.shaders.cores_of(ShaderId(id));
        cores.map(move |core| (&**core, given))
    })
}

/// The strings that may reach the first argument of the calls of a function, but the empty one;
/// the other arguments are those of [`names`].
pub fn strings_to<'a>(
    module: &Module,
    callee: &Intrinsic,
    instances: impl IntoIterator<Item = (&'a Instance, &'a ShaderInstance)>,
    variables: &BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
) -> Names {
    let origins = origins(module, &callee.name(), 0);
    let mut all = origins.constants;
    for (bound, given) in instances {
        let mut first = 0;
        for param in &bound.shader.params {
            let numbers = first..first + param.values();
            first = numbers.end;
            let core = &bound.shader.core;
            if !numbers.into_iter().any(|number| origins.params.contains(&(core.clone(), number))) {
                continue;
            }
            let strings =
                bound.strings.iter().filter(|(name, _)| *name == param.name).map(|(_, string)| string.clone());
            let of_primitives = variables.get(param.name.as_str()).into_iter().flatten().cloned();
            strings.chain(of_primitives).for_each(|string| {
                all.entry(string).or_insert(given.span);
            });
        }
        for (number, input) in bound.shader.core_params.iter().enumerate() {
            let made = string_input(&input.name).and_then(|which| bound.made.get(which)).cloned().and_then(string);
            if origins.params.contains(&(bound.shader.core.clone(), number)) {
                all.extend(made.map(|string| (string, given.span)));
            }
        }
    }
    all.remove("");
    all
}

fn string(value: Const) -> Option<Arc<str>> {
    if let Const::String(string) = value { Some(string) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::SourceMap;
    use shadewright_ir::FunctionOrigin;
    use shadewright_ir::abi::Intrinsic;
    use shadewright_lang::FrontEndOptions;
    use shadewright_lang::rsl::compile;

    fn new(text: &str) -> (Vec<String>, Vec<String>) {
        let mut sources = SourceMap::new();
        let file = sources.add("f.sl", None, text);
        let unit = compile(&mut sources, file, &FrontEndOptions::default())
            .unwrap_or_else(|d| panic!("{}", d.render(&sources)));
        let origins = origins(&unit.module, &Intrinsic::TextureFind.name(), 0);
        let own = |(f, n): &(Arc<str>, usize)| {
            let function = unit.module.function(f).filter(|f| f.origin != FunctionOrigin::Library);
            function.map(|_| format!("{f} {n}"))
        };
        let mut params: Vec<String> = origins.params.iter().filter_map(own).collect();
        params.sort();
        (origins.constants.keys().map(|k| k.to_string()).collect(), params)
    }

    #[test]
    fn names_are_found_through_selects_functions_and_variables_and_other_strings_are_not() {
        let (names, params) = new("
            float look(string label; string map) { return texture(map, 0, 0); }
            surface s(float k = 0; string mine = \"default\"; string other = \"\";) {
                string name = \"first\";
                if (k > 1) name = \"second\";
                Ci = look(\"label\", name) + texture(k > 2 ? \"third\" : mine, 0, 0);
                if (other == \"word\") Ci = 0;
            }");
        assert_eq!(names, ["first", "second", "third"]);
        assert_eq!(params, ["look 1", "s 1"]);
    }
}
