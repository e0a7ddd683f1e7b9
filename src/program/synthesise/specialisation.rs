//! Specialising cores for what differs from object to object: lights, volumes, depth limits of rays
//! and co-shaders, which a core calls for by functions of the linker.
//!
//! Takes a module of cores that call `lights.…`, `volumes.…`, `rays.depth` and `coshader.…`, and
//! leaves one with a copy of every core and function that calls one of those, directly or not, for
//! each [`SpecialisationKey`]: the name of a copy ends with the key's suffix. It knows no records
//! and no entries.

use crate::collect::entries::SpecialisationKey;
use crate::collect::lights::Shadows;
use crate::layout::blocks::{Linked, LinkedLight};
use crate::synthesise::lights::{LIGHT_FUNCTIONS, LightMessages, light_functions};
use crate::synthesise::{coshaders, ray_depths, volumes};
use shadewright_ir::abi::{Intrinsic, ShaderKind, specialisation_suffix};
use shadewright_ir::{Function, FunctionKind, Module, Op, TargetInfo};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// What the functions that differ from key to key are made of.
pub struct Specialised<'a> {
    /// Lights, volumes and co-shaders.
    pub linked: &'a Linked,
    /// How surfaces shadow area lights, if there are any.
    pub area_shadows: Option<Shadows>,
    /// What shaders read of lights beside their light.
    pub messages: &'a LightMessages,
    /// The calls of co-shaders.
    pub calls: &'a BTreeSet<Arc<str>>,
    /// Address of the table of lights of each key, in their order; none where lights are in the
    /// code.
    pub light_tables: &'a [u32],
    /// The target.
    pub target: &'a TargetInfo,
}

impl Specialised<'_> {
    /// Adds the functions of all keys, and for each key a copy of every core that calls them.
    pub fn add(&self, module: &mut Module, keys: &BTreeMap<SpecialisationKey, usize>) {
        coshaders::add_methods(module, self.calls, &self.linked.coshaders, self.target);
        let cores: Vec<Function> = std::mem::take(&mut module.functions);
        let mut called: HashSet<Arc<str>> = LIGHT_FUNCTIONS.into_iter().map(Arc::from).collect();
        called.extend(self.messages.types.keys().cloned());
        called.extend(self.calls.iter().cloned());
        // Every core that calls for volumes traces rays: it is copied only where there are any.
        if keys.keys().any(|key| key.sides.iter().any(Option::is_some)) {
            called.extend([Intrinsic::VolumePass, Intrinsic::VolumeAny].map(Arc::from));
        }
        if keys.keys().any(|key| key.ray_depths.iter().any(Option::is_some)) {
            called.insert(Arc::from(Intrinsic::RayDepth));
        }
        let callers = callers_of(&cores, called.clone());
        let is_copied = |f: &&Function| is_core_of_object(f) || callers.contains(&f.name);
        for (i, (key, &number)) in keys.iter().enumerate() {
            let suffix = specialisation_suffix(number);
            let table = self.light_tables.get(i).copied();
            module.functions.extend(self.functions(key, &suffix, &called, table));
            module.functions.extend(cores.iter().filter(is_copied).map(|f| with_suffix(f, &suffix, &callers)));
        }
        module.functions.extend(cores.into_iter().filter(|f| !is_core_of_object(f)));
        module.functions.extend(light_functions("", &[], None, self.messages, None));
        module.functions.extend([volumes::pass("", &[None, None]), volumes::any("", &[None, None])]);
        module.functions.push(ray_depths::function("", [None, None]));
        module.functions.extend(coshaders::functions("", self.calls, &[], &self.linked.coshaders));
    }

    /// The functions of a key, as far as they are `called`.
    fn functions(
        &self,
        key: &SpecialisationKey,
        suffix: &str,
        called: &HashSet<Arc<str>>,
        light_table: Option<u32>,
    ) -> Vec<Function> {
        let Linked { lights, volumes, coshaders } = self.linked;
        let lights: Vec<&LinkedLight> = key.lights.iter().filter_map(|&i| lights.get(i as usize)).collect();
        let mut functions = light_functions(suffix, &lights, self.area_shadows, self.messages, light_table);
        if called.contains(&Intrinsic::VolumePass.name()) {
            let sides = key.sides.map(|id| {
                let volume = volumes.get(&id?)?;
                Some((volume, Arc::from(format!("{}{suffix}", volume.instance.shader.core))))
            });
            functions.extend([volumes::pass(suffix, &sides), volumes::any(suffix, &sides)]);
        }
        functions.extend(coshaders::functions(suffix, self.calls, &key.coshaders, coshaders));
        if called.contains(&Intrinsic::RayDepth.name()) {
            functions.push(ray_depths::function(suffix, key.ray_depths));
        }
        functions
    }
}

/// The names of the functions of a module that are copied for each key, where keys differ in
/// everything that they may.
pub(crate) fn copied(module: &Module) -> HashSet<Arc<str>> {
    let asked = [Intrinsic::VolumePass, Intrinsic::VolumeAny, Intrinsic::RayDepth];
    let mut called: HashSet<Arc<str>> = LIGHT_FUNCTIONS.into_iter().chain(asked).map(Arc::from).collect();
    called.extend(LightMessages::of(module, std::iter::empty()).types.into_keys());
    called.extend(coshaders::calls(module));
    let mut copied = callers_of(&module.functions, called);
    copied.extend(module.functions.iter().filter(|f| is_core_of_object(f)).map(|f| f.name.clone()));
    copied
}

/// Whether it is a core that entries call under the name of its copy.
fn is_core_of_object(f: &Function) -> bool {
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

/// A copy of `f` whose calls to the functions in `callers` go to their copies for one
/// specialisation key.
fn with_suffix(f: &Function, suffix: &str, callers: &HashSet<Arc<str>>) -> Function {
    let mut copy = f.clone();
    copy.name = Arc::from(format!("{}{suffix}", f.name));
    for inst in copy.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if let Op::Call(callee) = &mut inst.op
            && callers.contains(callee)
        {
            *callee = Arc::from(format!("{callee}{suffix}"));
        }
    }
    copy
}
