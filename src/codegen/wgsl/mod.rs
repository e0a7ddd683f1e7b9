//! The GPU back end: cuts a linked module into sections and makes one compute kernel of each, or
//! one of all.
//!
//! It takes IR and gives [`GpuProgram`] or [`Megakernel`]: validated naga modules, their WGSL, and
//! what a scheduler must know to run them. Generated code is made of naga's own types, never of
//! text, and calls the functions that all kernels share (`wgsl/section/`). This module knows
//! nothing of wgpu, scenes or images. `docs/internals/gpu.md` says how the kernels work together.

mod coalesce;
mod code;
mod fill;
mod intersections;
mod kit;
pub mod lines;
mod lower;
mod megakernel;
mod native;
mod ops;
mod program;
mod section;
mod target;

pub use fill::{fill, traversal_kernel};
pub use megakernel::{MegakernelOptions, compile_megakernel};
pub use program::{
    DISPATCH_ROW, FINISHED, GpuProgram, Interface, MEGAKERNEL_RAY_WORDS, Megakernel, MegakernelWave, PARAMS_UNIFORMS,
    Params, RESULT_WORDS, SectionKernel, ShaderStart, Trap, TrapCode, WORKGROUP_SIZE, binding, megakernel_binding,
};
pub use target::TARGET;

use kit::Kit;
use lower::{Callee, Locations, Lowered};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use section::{ENTRY_POINT, Program};
use shadewright_ir::host::left_over;
use shadewright_ir::passes::sections::{self, Again, Sections, SectionsError};
use shadewright_ir::{Function, Module, Op};
use std::collections::{HashMap, HashSet};
use std::error::Error as _;
use std::sync::Arc;

/// Choices of the compilation.
#[derive(Clone, Debug, Default)]
pub struct WgslOptions {
    /// The function that shades a hit, for each shader index (component x of an object's record).
    /// Each must take what `call_shader` passes and give `(Ci, Oi)`.
    pub shaders: Vec<String>,
    /// True if the scene has instances: hits are looked up in their table then.
    pub instances: bool,
    /// The entries that intersect rays with primitives, for each kind of these, if the scene has
    /// any.
    pub intersections: Vec<String>,
}

/// Why a module cannot become GPU kernels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The program cannot be cut into sections.
    #[error(transparent)]
    Sections(#[from] SectionsError),
    /// The program uses what this back end does not have.
    #[error("the GPU back end has no {0}")]
    Unsupported(String),
    /// A mistake of this back end, not of the program.
    #[error("internal error in the GPU back end: {0}")]
    Internal(String),
}

/// Compiles the functions that `entries` and [`WgslOptions::shaders`] reach.
///
/// # Errors
/// A function is missing, returns more than the result area holds, or uses matrices.
pub fn compile(module: &Module, entries: &[&str], options: &WgslOptions) -> Result<GpuProgram, Error> {
    if let Some((name, _)) = left_over(module) {
        return Err(Error::Unsupported(format!("function `{name}`, which is the host's and takes known values")));
    }
    let mut program = cut(module, entries, options, Again::for_target(options.shaders.len(), &TARGET))?;
    let shaders: Vec<&str> = options.shaders.iter().map(String::as_str).collect();
    sections::share(&mut program.sections, &shaders, entries);
    let kit = Kit::sections(options)?;
    let mut locations = Locations::default();
    let sections = (0..program.sections.sections.len() as u32)
        .map(|n| kernel(&kit, module, &program, n, &mut locations))
        .collect::<Result<Vec<_>, _>>()?;
    let intersections = match options.intersections.as_slice() {
        [] => None,
        entries => Some(intersections::kernel_text(Kit::intersections()?, module, entries, &mut locations)?.into()),
    };
    let interface = interface(module, &program, entries, options, locations);
    Ok(GpuProgram { sections, intersections, interface })
}

/// Cuts what `entries` and the shaders reach into sections.
fn cut(module: &Module, entries: &[&str], options: &WgslOptions, again: Again) -> Result<Program, Error> {
    let mut roots: Vec<&str> = entries.to_vec();
    roots.extend(options.shaders.iter().map(String::as_str));
    let sections = sections::cut(module, &roots, again, &TARGET)?;
    let activation: HashMap<Arc<str>, u32> =
        sections.entries.keys().map(|name| (name.clone(), sections.activation_words(name))).collect();
    let of_shader = |s: &String| activation.get(s.as_str()).copied().unwrap_or(0);
    let shader_activation = options.shaders.iter().map(of_shader).max().unwrap_or(0);
    Ok(Program { sections, activation, shader_activation })
}

fn interface(
    module: &Module,
    program: &Program,
    entries: &[&str],
    options: &WgslOptions,
    mut locations: Locations,
) -> Interface {
    let entry = |name: &str| program.sections.entries.get(name).copied();
    let mut start = |name: &str| {
        let resumption = program.sections.resumes.get(name);
        let mut trap = |r: &sections::Resumption| locations.trap(TrapCode::Budget, r.loc);
        let (resume, trap) = resumption.map_or((0, 0), |r| (r.section, trap(r)));
        Some(ShaderStart { section: entry(name)?, resume, trap })
    };
    let shader_starts = options.shaders.iter().filter_map(|s| start(s)).collect();
    Interface {
        entry_section: entries.iter().filter_map(|&e| Some((e.to_string(), entry(e)?))).collect(),
        shader_starts,
        max_rays_per_path: max_rays(&program.sections),
        stack: stack(module, &program.sections, &program.activation, options),
        locations: locations.list,
    }
}

/// Rays that a path may shoot at once, at least 1.
fn max_rays(sections: &Sections) -> u32 {
    let rays = sections.sections.iter().map(|s| match s.resume {
        sections::Resume::Visible(n) => n.min(32),
        _ => 1,
    });
    rays.max().unwrap_or(1)
}

/// SPIR-V words of a kernel.
///
/// # Errors
/// naga refuses the module: a mistake of this back end.
pub fn spirv(module: &naga::Module) -> Result<Vec<u32>, Error> {
    let info = validate(module)?;
    let options = naga::back::spv::Options::default();
    naga::back::spv::write_vec(module, &info, &options, None).map_err(|e| Error::Internal(e.to_string()))
}

fn kernel(
    kit: &Kit,
    module: &Module,
    program: &Program,
    number: u32,
    locations: &mut Locations,
) -> Result<SectionKernel, Error> {
    let section = &program.sections.sections[number as usize];
    let mut kit = kit.clone();
    let mut lowered = Lowered::new();
    lower_callees(&mut kit, module, &section.body, &mut lowered, locations)?;
    let entry = section::lower_kernel(&mut kit, program, number, &lowered, locations)?;
    let (module, wgsl) = finish(kit, entry).map_err(|e| match e {
        Error::Internal(e) => Error::Internal(format!("section {number}, `{}`: {e}", section.name)),
        e => e,
    })?;
    Ok(SectionKernel {
        name: section.name.clone(),
        entry_point: ENTRY_POINT.into(),
        module,
        wgsl,
        frame_words: section.frame_words(),
    })
}

/// Adds the functions that a body calls as plain functions and that are not there yet.
fn lower_callees(
    kit: &mut Kit,
    module: &Module,
    body: &Function,
    lowered: &mut Lowered,
    locations: &mut Locations,
) -> Result<(), Error> {
    for func in plain_callees(module, body) {
        if let Some(own) = native::native_math(func) {
            lowered.insert(func.name.clone(), Callee::Native(own));
        } else if !lowered.contains_key(&func.name) {
            let naga_func = lower::lower_function(kit, func, lowered, locations)?;
            let handle = kit.module.functions.append(naga_func, naga::Span::UNDEFINED);
            let insts = func.blocks.iter().flat_map(|b| &b.insts);
            let inner = insts.filter_map(|i| if let Op::Call(name) = &i.op { lowered.get(name) } else { None });
            let calls = inner.fold(1u32, |calls, callee| calls.saturating_add(callee.calls()));
            lowered.insert(func.name.clone(), Callee::Lowered { function: handle, calls });
        }
    }
    Ok(())
}

/// The kernel's module without what it does not use, validated, and its text.
fn finish(kit: Kit, entry: naga::EntryPoint) -> Result<(naga::Module, String), Error> {
    let mut module = kit.module;
    module.entry_points.push(entry);
    naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
    let wgsl = text(&module)?;
    Ok((module, wgsl))
}

/// The WGSL of a kernel, as naga checks and writes it.
///
/// # Errors
/// naga refuses the module: a mistake of this back end.
pub fn text(module: &naga::Module) -> Result<String, Error> {
    let info = validate(module)?;
    naga::back::wgsl::write_string(module, &info, naga::back::wgsl::WriterFlags::empty())
        .map_err(|e| Error::Internal(e.to_string()))
}

fn validate(module: &naga::Module) -> Result<ModuleInfo, Error> {
    Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(module).map_err(|e| {
        // naga's message names handles; the chain of causes says what is wrong with them.
        let mut text = e.as_inner().to_string();
        let mut cause = e.as_inner().source();
        while let Some(c) = cause {
            text.push_str(": ");
            text.push_str(&c.to_string());
            cause = c.source();
        }
        Error::Internal(text)
    })
}

/// The functions that a body calls as plain functions, callees first.
fn plain_callees<'m>(module: &'m Module, body: &'m Function) -> Vec<&'m Function> {
    let callees = |f: &'m Function| -> Vec<&'m Function> {
        let insts = f.blocks.iter().flat_map(|b| &b.insts);
        insts.filter_map(|i| if let Op::Call(name) = &i.op { module.function(name) } else { None }).collect()
    };
    let (mut done, mut seen) = (Vec::new(), HashSet::new());
    let mut stack = vec![(None, callees(body))];
    while let Some((func, left)) = stack.last_mut() {
        match left.pop() {
            Some(next) => {
                if seen.insert(next.name.clone()) {
                    stack.push((Some(next), callees(next)));
                }
            }
            None => {
                done.extend(*func);
                stack.pop();
            }
        }
    }
    done
}

/// The frame words of all functions, by how often each may be active at once.
fn stack(
    module: &Module,
    sections: &Sections,
    activation: &HashMap<Arc<str>, u32>,
    options: &WgslOptions,
) -> program::StackWords {
    let callees = |name: &str, through_rays: bool| -> Vec<&str> {
        let own = sections.sections.iter().filter(|s| &*s.function == name).flat_map(|s| &s.exits);
        own.flat_map(|exit| match exit.kind {
            sections::ExitKind::Call { callee: sections::Callee::Section(n), .. } => {
                vec![&*sections.sections[n as usize].function]
            }
            sections::ExitKind::Call { callee: sections::Callee::Shader, .. } if through_rays => {
                options.shaders.iter().map(String::as_str).collect()
            }
            _ => vec![],
        })
        .collect()
    };
    let graph = |through_rays| -> HashMap<&str, Vec<&str>> {
        sections.entries.keys().map(|n| (&**n, callees(n, through_rays))).collect()
    };
    let (with_rays, calls) = (graph(true), graph(false));
    let mut sums = program::StackWords::default();
    for func in &module.functions {
        let Some(words) = activation.get(&func.name) else { continue };
        let sum = if reaches_itself(&calls, &func.name) {
            &mut sums.recursive
        } else if reaches_itself(&with_rays, &func.name) {
            &mut sums.ray
        } else {
            &mut sums.once
        };
        *sum = sum.saturating_add(*words);
    }
    sums
}

/// True if the function `name` is on a cycle of the call graph.
fn reaches_itself(graph: &HashMap<&str, Vec<&str>>, name: &str) -> bool {
    let (mut seen, mut work) = (HashSet::new(), graph[name].clone());
    while let Some(next) = work.pop() {
        if seen.insert(next) {
            work.extend(graph.get(next).into_iter().flatten());
        }
    }
    seen.contains(name)
}

#[cfg(test)]
mod tests;
