//! Copies of cores for what is around objects: lights, volumes, limits of rays and co-shaders, which a core asks for by functions that differ from object to object.
//!
//! Takes a module of cores that call `lights.…`, `volumes.…`, `rays.depth` and `coshader.…`, and leaves one in which every core and function that calls one of those, directly or not, is there once for each different surroundings, under its name with
//! the surroundings' suffix. It knows no records and no entries.

use crate::abi::ShaderKind;
use crate::ir::{Function, FunctionKind, Module, Op, TargetInfo};
use crate::lang::rsl::{RAYS_DEPTH, VOLUMES_ANY, VOLUMES_PASS};
use crate::program::synthesise::coshaders::{self, CoShaders};
use crate::program::synthesise::lights::{LIGHT_FUNCTIONS, LightQuestions, LinkedLight, Shadows, light_functions};
use crate::program::synthesise::ray_depths;
use crate::program::synthesise::volumes::{self, LinkedVolume};
use crate::scene::{CoShader, Object, ShaderId};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What is around an object: the lights that shine on it, the volumes inside and outside of it, how deep its rays may go, and the shaders that its own may call. Cores that ask for them are copied for each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Surroundings {
    /// Indices into the scene's lights.
    pub lights: Arc<[u32]>,
    /// The volumes inside and outside.
    pub sides: [Option<ShaderId>; 2],
    /// How deep its rays may go ([`ray_depths`]).
    pub depths: [Option<u32>; 2],
    /// The shaders that its shaders may call.
    pub coshaders: Arc<[CoShader]>,
}

impl Surroundings {
    /// Those of an object.
    pub fn of(object: &Object) -> Self {
        let own = &object.attributes;
        Self {
            lights: object.lights.clone(),
            sides: [own.interior, own.exterior],
            depths: own.ray_depths,
            coshaders: own.coshaders.clone(),
        }
    }
}

/// Adds the functions of all surroundings, and for each a copy of every core that calls them.
pub fn add_surroundings(
    module: &mut Module,
    lights: &[LinkedLight],
    area: Option<Shadows>,
    questions: &LightQuestions,
    volumes: &BTreeMap<ShaderId, LinkedVolume>,
    coshaders: &CoShaders,
    surroundings: &BTreeMap<Surroundings, usize>,
    target: &TargetInfo,
) {
    let questions_to_shaders = coshaders::asked(module);
    coshaders::add_methods(module, &questions_to_shaders, coshaders, target);
    let cores: Vec<Function> = std::mem::take(&mut module.functions);
    let mut asked: HashSet<Arc<str>> = LIGHT_FUNCTIONS.into_iter().map(Arc::from).collect();
    asked.extend(questions.messages.keys().cloned());
    asked.extend(questions_to_shaders.iter().cloned());
    // Tracing is a part of every core that asks for volumes: it is copied only where there are any.
    if surroundings.keys().any(|s| s.sides.iter().any(Option::is_some)) {
        asked.extend([VOLUMES_PASS, VOLUMES_ANY].map(Arc::from));
    }
    if surroundings.keys().any(|s| s.depths.iter().any(Option::is_some)) {
        asked.insert(Arc::from(RAYS_DEPTH));
    }
    let users = users_of(&cores, asked.clone());
    let is_copied = |f: &&Function| is_core_of_object(f) || users.contains(&f.name);
    for (around, &number) in surroundings {
        let suffix = set_suffix(number);
        let members: Vec<&LinkedLight> = around.lights.iter().filter_map(|&i| lights.get(i as usize)).collect();
        module.functions.extend(light_functions(&suffix, &members, area, questions));
        if asked.contains(VOLUMES_PASS) {
            let sides = around.sides.map(|id| {
                let volume = volumes.get(&id?)?;
                Some((volume, Arc::from(format!("{}{suffix}", volume.instance.shader.core))))
            });
            module.functions.extend([volumes::pass(&suffix, &sides), volumes::any(&suffix, &sides)]);
        }
        let answers = coshaders::functions(&suffix, &questions_to_shaders, &around.coshaders, coshaders);
        module.functions.extend(answers);
        if asked.contains(RAYS_DEPTH) {
            module.functions.push(ray_depths::function(&suffix, around.depths));
        }
        module.functions.extend(cores.iter().filter(is_copied).map(|f| with_suffix(f, &suffix, &users)));
    }
    module.functions.extend(cores.into_iter().filter(|f| !is_core_of_object(f)));
    module.functions.extend(light_functions("", &[], None, questions));
    module.functions.extend([volumes::pass("", &[None, None]), volumes::any("", &[None, None])]);
    module.functions.push(ray_depths::function("", [None, None]));
    module.functions.extend(coshaders::functions("", &questions_to_shaders, &[], coshaders));
}

/// Whether it is a core that entries call under the name of its copy.
fn is_core_of_object(f: &Function) -> bool {
    matches!(f.kind, FunctionKind::Core(ShaderKind::Surface | ShaderKind::Displacement | ShaderKind::Volume))
}

/// What the names of copies for surroundings end with.
pub fn set_suffix(set: usize) -> String {
    format!("@{set}")
}

/// These functions, and all functions that call one, directly or not.
pub(in crate::program) fn users_of(all: &[Function], mut users: HashSet<Arc<str>>) -> HashSet<Arc<str>> {
    loop {
        let before = users.len();
        for f in all {
            let insts = f.blocks.iter().flat_map(|b| &b.insts);
            if insts.into_iter().any(|i| matches!(&i.op, Op::Call(callee) if users.contains(callee))) {
                users.insert(f.name.clone());
            }
        }
        if users.len() == before {
            return users;
        }
    }
}

/// A copy of `f` whose calls to the functions in `users` go to their copies for one object's surroundings.
fn with_suffix(f: &Function, suffix: &str, users: &HashSet<Arc<str>>) -> Function {
    let mut copy = f.clone();
    copy.name = Arc::from(format!("{}{suffix}", f.name));
    for inst in copy.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if let Op::Call(callee) = &mut inst.op
            && users.contains(callee)
        {
            *callee = Arc::from(format!("{callee}{suffix}"));
        }
    }
    copy
}
