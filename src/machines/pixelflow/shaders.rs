//! The shaders of a program, as the shading nodes run them.

use super::compile::{Compiled, Compiler};
use super::prepare::{Prepared, prepare};
use super::widths::for_type;
use shadewright_ir::abi::{EntryPoint, ShaderKind};
use shadewright_ir::{FunctionKind, Inst, Module, Op};
use std::collections::HashMap;
use std::sync::Arc;

/// The functions of a program for PixelFlow.
#[derive(Clone, Debug)]
pub struct Shaders {
    /// The functions.
    pub prepared: Prepared,
    /// The cores of shaders among them.
    pub cores: HashMap<Arc<str>, ShaderKind>,
}

/// The name of a shader, of that of its core: without the number of its file and that of the
/// lights for which the core was copied.
pub fn shader_name(core: &str) -> &str {
    let name = core.split('@').next().filter(|name| !name.is_empty()).unwrap_or(core);
    match name.split_once('.') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => name,
    }
}

/// The compiled code of a shader, and the bytes of its parameters and results.
#[derive(Clone, Debug)]
pub struct ShaderCode {
    /// The name of the core.
    pub name: Arc<str>,
    /// The compiled core.
    pub code: Arc<Compiled>,
    /// The bytes of its varying parameters.
    pub params: u32,
    /// The bytes among them that the composition network sends: the position, and what follows from
    /// it and the camera, is computed again from the depth (§4.5.4).
    pub sent: u32,
    /// The bytes of its uniform parameters, which a shader instance binds.
    pub bound: u32,
    /// The bytes of its varying results.
    pub results: u32,
}

impl ShaderCode {
    /// A compiled core with the bytes of its parameters and results.
    pub fn new(name: &Arc<str>, code: Arc<Compiled>) -> Self {
        let f = &code.function;
        let bytes = |ty| u32::from(for_type(ty).bytes);
        let of_params = |varies: bool| {
            let values = f.params.iter().zip(f.param_values());
            values.filter(|(_, v)| code.varying[v.0 as usize] == varies).map(|(p, _)| bytes(p.ty)).sum()
        };
        let results = f.results.iter().zip(&code.results).filter(|(_, varies)| **varies);
        let results = results.map(|(r, _)| bytes(r.ty)).sum();
        let values = f.params.iter().zip(f.param_values()).filter(|(_, v)| code.varying[v.0 as usize]);
        let sent = values.filter(|(p, _)| !is_recomputed(&p.name)).map(|(p, _)| bytes(p.ty)).sum();
        Self { name: name.clone(), params: of_params(true), sent, bound: of_params(false), results, code }
    }

    /// The bytes of the pixel memory that are left while the shader runs: negative where it does
    /// not fit.
    pub fn free(&self, budget: &Budget) -> i64 {
        let fixed = budget.header + self.params + self.results + budget.light_area;
        i64::from(budget.memory) - i64::from(fixed) - i64::from(self.code.depth)
    }
}

/// True if a parameter follows from the depth and the position of a pixel: the surface's position,
/// and the vector to it from the camera.
fn is_recomputed(param: &str) -> bool {
    let name = param.split_once('.').map_or(param, |(name, _)| name);
    ["P", "I", "E"].contains(&name)
}

/// How the bytes of a pixel are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// All of them: 256 (§3.2 and §4.3).
    pub memory: u32,
    /// The identifier of the shader instance, which begins each transfer map: 2 bytes (§4.4.1).
    pub header: u32,
    /// Where a light leaves its color and direction for the shaders (§4.5.4): three floats each.
    pub light_area: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { memory: 256, header: 2, light_area: 24 }
    }
}

impl Shaders {
    /// The shaders of a module that was linked without passes; the functions in `keep` stay
    /// functions.
    ///
    /// # Errors
    /// A pass that leaves the module invalid, which is an internal error.
    pub fn new(module: Module, keep: &[&str]) -> Result<Self, String> {
        let kind = |kind: FunctionKind| match kind {
            FunctionKind::Core(kind) if kind != ShaderKind::Light => Some(kind),
            _ => None,
        };
        let cores = module.functions.iter().filter_map(|f| Some((f.name.clone(), kind(f.kind)?))).collect();
        Ok(Self { prepared: prepare(module, keep)?, cores })
    }

    /// The core that a call calls, if it is one.
    pub fn core_of(&self, inst: &Inst) -> Option<(&Arc<str>, ShaderKind)> {
        let Op::Call(name) = &inst.op else { return None };
        self.cores.get_key_value(name).map(|(name, kind)| (name, *kind))
    }

    /// The shaders that the entry of a surface calls, in order.
    pub fn for_entry(&self, compiler: &Compiler<'_>, entry: &str) -> Vec<(ShaderKind, ShaderCode)> {
        let Some(function) = self.prepared.module.function(entry) else { return Vec::new() };
        let varying = vec![true; function.params.len()];
        let Some(code) = compiler.function(&function.name, &varying, false) else { return Vec::new() };
        let insts = code.flow.order.iter().flat_map(|&id| &code.function.block(id).insts);
        let found = insts.filter_map(|inst| {
            let (name, kind) = self.core_of(inst)?;
            let args: Vec<bool> = inst.args.iter().map(|a| code.varying[a.0 as usize]).collect();
            Some((kind, ShaderCode::new(name, compiler.function(name, &args, true)?)))
        });
        found.collect()
    }

    /// The surface entries.
    pub fn entries(&self) -> Vec<Arc<str>> {
        let is_surface = |kind| matches!(kind, FunctionKind::Entry(EntryPoint::Surface(_)));
        let surfaces = self.prepared.module.functions.iter().filter(|f| is_surface(f.kind));
        surfaces.map(|f| f.name.clone()).collect()
    }
}
