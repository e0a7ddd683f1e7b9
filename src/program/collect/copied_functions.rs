//! The functions of a module that depend on the specialization key of an object: they are copied for
//! each key.

use shadewright_ir::abi::{Intrinsic, ShaderKind};
use shadewright_ir::{Const, Function, FunctionKind, Module, Op, Type};
use shadewright_lang::coshaders::PREFIX;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// The names by which cores call lights, before the linker adds the suffix; those of
/// [`LightMessages::types`] are the rest.
pub const LIGHT_FUNCTIONS: [Intrinsic; 4] =
    [Intrinsic::LightCount, Intrinsic::LightSample, Intrinsic::LightAmbient, Intrinsic::LightCategory];

/// The values that shaders read of lights beside their light: message passing (RISpec 3.2,
/// §15.8), and categories.
#[derive(Debug, Default)]
pub struct LightMessages {
    /// The functions that return a parameter of a light, by their names, with the type of the
    /// value.
    pub types: BTreeMap<Arc<str>, Type>,
    /// Strings that begin with a minus, without it: categories that an `illuminance` may exclude.
    pub excluded: BTreeSet<Arc<str>>,
}

impl LightMessages {
    /// The messages of a module, whose shaders have these string parameters.
    pub fn new<'a>(module: &Module, strings: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let mut messages = Self::default();
        let mut exclude = |string: &str| messages.excluded.extend(string.strip_prefix('-').map(Arc::from));
        strings.for_each(|string| exclude(string));
        for (f, inst) in
            module.functions.iter().flat_map(|f| f.blocks.iter().flat_map(|b| &b.insts).map(move |i| (f, i)))
        {
            match &inst.op {
                Op::Const(Const::String(string)) => exclude(string),
                Op::Call(name) if matches!(Intrinsic::parse(name), Some(Intrinsic::LightMessage(..))) => {
                    messages.types.insert(name.clone(), f.ty(inst.results[1]));
                }
                _ => {}
            }
        }
        messages
    }
}

/// The calls of co-shaders in a module's functions, by the names of the functions called.
pub fn coshader_calls(module: &Module) -> BTreeSet<Arc<str>> {
    let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    let called = insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(name) } else { None });
    called.filter(|name| name.starts_with(PREFIX)).cloned().collect()
}

/// The names of the functions of a module that are copied for each key, where keys differ in
/// everything that they may.
pub(crate) fn copied(module: &Module) -> HashSet<Arc<str>> {
    let asked = [Intrinsic::VolumePass, Intrinsic::VolumeAny, Intrinsic::RayDepth];
    let mut called: HashSet<Arc<str>> = LIGHT_FUNCTIONS.into_iter().chain(asked).map(Arc::from).collect();
    called.extend(LightMessages::new(module, std::iter::empty()).types.into_keys());
    called.extend(coshader_calls(module));
    let mut copied = callers_of(&module.functions, called);
    copied.extend(module.functions.iter().filter(|f| is_core_of_object(f)).map(|f| f.name.clone()));
    copied
}

/// True if it is a core that entries call under the name of its copy.
pub(crate) fn is_core_of_object(f: &Function) -> bool {
    matches!(f.kind, FunctionKind::Core(ShaderKind::Surface | ShaderKind::Displacement | ShaderKind::Volume))
}

/// These functions, and all functions that call one, directly or not.
pub(crate) fn callers_of(all: &[Function], mut callers: HashSet<Arc<str>>) -> HashSet<Arc<str>> {
    loop {
        let before = callers.len();
        for f in all {
            let insts = f.blocks.iter().flat_map(|b| &b.insts);
            if insts.into_iter().any(|i| matches!(&i.op, Op::Call(callee) if callers.contains(callee))) {
                callers.insert(f.name.clone());
            }
        }
        if callers.len() == before {
            return callers;
        }
    }
}
