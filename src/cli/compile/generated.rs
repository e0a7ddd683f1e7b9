//! `shadewright compile traversal:NAME` and `integrator:NAME`: what generated code is made of.
//!
//! The name of a traversal is the order of steps, the layout of nodes, and `any` where any hit will do:
//! `while-while`, `if-if-wide8`, `while-while-ordered-any`. Integrators are `paths` and `compositing`.

use crate::cli::args::Emit;
use crate::cli::failure::Failure;
use shadewright::codegen::rpu;
use shadewright::generators::transport::{Transport, TransportKind};
use shadewright::generators::{Arguments, Iteration, Layout, RayKind, program};
use shadewright::ir::passes::Pipeline;
use shadewright::ir::{Module, print_module};
use shadewright::rpu::disasm;
use std::path::Path;

/// A program that is generated, in place of a file.
pub enum Generated<'a> {
    /// A traversal of that name.
    Traversal(&'a str),
    /// An integrator of that name.
    Integrator(&'a str),
}

impl<'a> Generated<'a> {
    /// The generated program that a name in place of a file asks for, if it asks for one.
    pub fn from_path(path: &'a Path) -> Option<Self> {
        let (what, name) = path.to_str()?.split_once(':')?;
        match what {
            "traversal" => Some(Self::Traversal(name)),
            "integrator" => Some(Self::Integrator(name)),
            _ => None,
        }
    }

    /// A form of it.
    ///
    /// # Errors
    /// There is none of that name, or not in that form.
    pub fn emit(&self, form: Emit) -> Result<String, Failure> {
        match self {
            Self::Traversal(name) => traversal(name, form),
            Self::Integrator(name) => integrator(name, form),
        }
    }
}

fn traversal(name: &str, form: Emit) -> Result<String, Failure> {
    let (arguments, kind) = parse(name).ok_or_else(|| {
        Failure::input(format!(
            "error: there is no generated traversal `{name}`\n\
             hint: names are while-while or if-if, then a layout (-binary, -ordered, -wide4 or -wide8), then -any for any hit"
        ))
    })?;
    let module = program(&arguments, kind);
    match form {
        Emit::Ir => Ok(print_module(&module, Default::default())),
        Emit::Rpu => Ok(disasm::disassemble(&compiled(&module)?.program)),
        Emit::Asm => native(&compiled(&module)?.program),
        Emit::Wgsl => kernel(&arguments),
        _ => Err(Failure::input("error: generated traversal is printed with --emit ir, rpu, asm or wgsl")),
    }
}

/// An integrator calls functions that only a scene defines, so it has no other form than the IR.
fn integrator(name: &str, form: Emit) -> Result<String, Failure> {
    let kind = match name {
        "paths" => TransportKind::Paths,
        "compositing" => TransportKind::Compositing,
        _ => {
            return Err(Failure::input(format!(
                "error: there is no integrator `{name}`\nhint: integrators are paths and compositing"
            )));
        }
    };
    if form != Emit::Ir {
        return Err(Failure::input(
            "error: an integrator is printed with --emit ir\n\
             hint: it calls functions that a scene defines; `compile SCENE` takes the other forms",
        ));
    }
    let mut module = Module { functions: vec![Transport::new(kind).function()], ..Module::new() };
    let passes = Pipeline::default().run(&mut module, &mut ());
    passes.map_err(|e| Failure::input(format!("error: {e}")))?;
    Ok(print_module(&module, Default::default()))
}

fn parse(name: &str) -> Option<(Arguments, RayKind)> {
    let (rest, kind) = match name.strip_suffix("-any") {
        Some(rest) => (rest, RayKind::Any),
        None => (name, RayKind::Closest),
    };
    let layouts = Layout::ALL.into_iter();
    let mut named = layouts.filter_map(|layout| Some((rest.strip_suffix(&format!("-{}", layout.name()))?, layout)));
    let (order, layout) = named.next().unwrap_or((rest, Layout::Binary));
    let iteration = match order {
        "while-while" => Iteration::WhileWhile,
        "if-if" => Iteration::IfIf,
        _ => return None,
    };
    Some((Arguments::rpu(iteration, layout), kind))
}

fn compiled(module: &Module) -> Result<rpu::RpuProgram, Failure> {
    rpu::compile(module, &rpu::RpuOptions::default()).map_err(|e| Failure::input(format!("error: {e}")))
}

#[cfg(target_arch = "x86_64")]
fn native(program: &shadewright::rpu::isa::Program) -> Result<String, Failure> {
    let listing = shadewright::rpu::native::listing(program, |_| None);
    listing.map_err(|e| Failure::input(format!("error: {e}")))
}

#[cfg(not(target_arch = "x86_64"))]
fn native(_: &shadewright::rpu::isa::Program) -> Result<String, Failure> {
    Err(Failure::input("error: there is no translator to native code for this CPU"))
}

/// The kernel of the GPU, which traverses the binary BVH and looks for either kind of hit.
#[cfg(feature = "gpu")]
fn kernel(arguments: &Arguments) -> Result<String, Failure> {
    use shadewright::bvh::gpu::kernel::{Levels, PassKernel, Places, Stack, Store, TreeFacts, Variant};
    let variant = match (arguments.layout, arguments.style.iteration) {
        (Layout::Binary, Iteration::WhileWhile) => Variant::GeneratedWhileWhile,
        (Layout::Binary, Iteration::IfIf) => Variant::GeneratedIfIf,
        _ => return Err(Failure::input("error: the GPU's generated kernels have the layout `binary`")),
    };
    let places = Places { nodes: Store::Buffer, triangles: Store::Buffer, stack: Stack::Workgroup };
    let (levels, facts) = (Levels::One, TreeFacts::ANY);
    let source = PassKernel { variant, subgroups: false, places, levels, facts, intersections: None };
    let text = shadewright::codegen::wgsl::traversal_kernel(&source);
    text.map_err(|e| Failure::input(format!("error: {e}")))
}

#[cfg(not(feature = "gpu"))]
fn kernel(_: &Arguments) -> Result<String, Failure> {
    Err(Failure::device("error: this build has no GPU back end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrators_are_printed_as_ir() {
        for name in ["paths", "compositing"] {
            let path = format!("integrator:{name}");
            let text =
                Generated::from_path(Path::new(&path)).and_then(|g| g.emit(Emit::Ir).ok()).expect("there is one");
            assert!(text.contains("fn std.__radiance(") && text.contains("trace "), "{text}");
        }
        let emit = |path: &str, form| Generated::from_path(Path::new(path)).map(|g| g.emit(form).is_ok());
        assert_eq!(emit("integrator:bidirectional", Emit::Ir), Some(false));
        assert_eq!(emit("integrator:paths", Emit::Wgsl), Some(false));
        assert_eq!(emit("paths.sl", Emit::Ir), None);
    }

    #[test]
    fn a_name_says_order_layout_and_kind() {
        let wide = (Arguments::rpu(Iteration::IfIf, Layout::Wide8), RayKind::Any);
        assert_eq!(parse("if-if-wide8-any"), Some(wide));
        let plain = (Arguments::rpu(Iteration::WhileWhile, Layout::Binary), RayKind::Closest);
        assert_eq!(parse("while-while"), Some(plain));
        assert_eq!((parse("while-while-wide3"), parse("any"), parse("")), (None, None, None));
    }
}
