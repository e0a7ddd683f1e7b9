//! `shadewright compile traversal:NAME`: what generated traversal is made of.
//!
//! A name is the order of steps, the layout of nodes, and `any` where any hit will do: `while-while`,
//! `if-if-wide8`, `while-while-ordered-any`.

use crate::cli::args::Emit;
use crate::cli::failure::Failure;
use shadewright::codegen::rpu;
use shadewright::ir::{Module, print_module};
use shadewright::rpu::disasm;
use shadewright::staged::{Arguments, Iteration, Layout, RayKind, program};
use std::path::Path;

/// The name, if traversal is asked for in place of a file.
pub fn name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("traversal:")
}

/// A form of the traversal of that name.
///
/// # Errors
/// There is none of that name, or not in that form.
pub fn emit(name: &str, form: Emit) -> Result<String, Failure> {
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
    rpu::compile(module, &rpu::Options::default()).map_err(|e| Failure::input(format!("error: {e}")))
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
    fn a_name_says_order_layout_and_kind() {
        let wide = (Arguments::rpu(Iteration::IfIf, Layout::Wide8), RayKind::Any);
        assert_eq!(parse("if-if-wide8-any"), Some(wide));
        let plain = (Arguments::rpu(Iteration::WhileWhile, Layout::Binary), RayKind::Closest);
        assert_eq!(parse("while-while"), Some(plain));
        assert_eq!((parse("while-while-wide3"), parse("any"), parse("")), (None, None, None));
    }
}
