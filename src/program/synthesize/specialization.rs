//! Specializing cores for what differs from object to object: lights, volumes, depth limits of rays
//! and co-shaders, which a core calls for by functions of the linker.
//!
//! Takes a module of cores that call `lights.…`, `volumes.…`, `rays.depth` and `coshader.…`, and
//! leaves one with a copy of every core and function that calls one of those, directly or not, for
//! each [`SpecializationKey`]: the name of a copy ends with the key's suffix. It knows no records
//! and no entries.

use crate::collect::copied_functions::{LIGHT_FUNCTIONS, LightMessages};
use crate::collect::copied_functions::{callers_of, is_core_of_object};
use crate::collect::entries::SpecializationKey;
use crate::collect::lights::Shadows;
use crate::layout::blocks::{Linked, LinkedLight};
use crate::synthesize::lights::light_functions;
use crate::synthesize::{coshaders, ray_depths, volumes};
use shadewright_ir::abi::{Intrinsic, specialization_suffix};
use shadewright_ir::{Function, Module, Op, TargetInfo};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// The input of the functions that differ from key to key.
pub struct Specialized<'a> {
    /// Lights, volumes and co-shaders.
    pub linked: &'a Linked,
    /// How surfaces shadow area lights, if there are any.
    pub area_shadows: Option<Shadows>,
    /// The data that shaders read of lights beside their light.
    pub messages: &'a LightMessages,
    /// The calls of co-shaders.
    pub calls: &'a BTreeSet<Arc<str>>,
    /// Address of the table of lights of each key, in their order; none where lights are in the
    /// code.
    pub light_tables: &'a [u32],
    /// The target.
    pub target: &'a TargetInfo,
}

impl Specialized<'_> {
    /// Adds the functions of all keys, and for each key a copy of every core that calls them.
    pub fn add(&self, module: &mut Module, keys: &BTreeMap<SpecializationKey, usize>) {
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
            let suffix = specialization_suffix(number);
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
        key: &SpecializationKey,
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

/// A copy of `f` whose calls to the functions in `callers` go to their copies for one
/// specialization key.
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
