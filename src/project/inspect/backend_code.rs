//! The machine code of a shader on each back end.

use super::extent::Extent;
use super::listing::{Interner, Listing};
use shadewright_codegen::rpu::{RpuProgram, entry_name};
use shadewright_ir::{Loc, Module};
use shadewright_program::Program;
use shadewright_rpu::disasm::code_lines;

/// Which functions of a program belong to a shader, and are called by those that do: asked in the
/// order of their addresses.
struct Shown<'a> {
    program: &'a RpuProgram,
    names: Vec<String>,
    is_shown: bool,
}

impl<'a> Shown<'a> {
    fn new(extent: &Extent, module: &Module, program: &'a RpuProgram) -> Self {
        let names = extent.functions(module).into_iter().flatten().map(|f| entry_name(&f.name)).collect();
        Self { program, names, is_shown: false }
    }

    /// True if what follows a label at an address is shown.
    fn at_label(&mut self, address: u32) {
        let starting = self.program.program.entries.iter().filter(|entry| entry.address == address);
        let here: Vec<_> = starting.map(|entry| &entry.name).collect();
        if !here.is_empty() {
            self.is_shown = here.iter().any(|name| self.names.contains(name));
        }
    }
}

/// The assembly of the functions that belong to a shader, and of those that they call.
pub(super) fn rpu(extent: &Extent, module: &Module, program: &RpuProgram, lines: &mut Interner) -> Listing {
    let mut shown = Shown::new(extent, module, program);
    let mut listing = Vec::new();
    for line in code_lines(&program.program) {
        if line.is_label {
            shown.at_label(line.address as u32);
        }
        if shown.is_shown {
            let loc = program.locs.get(line.address).copied().filter(|_| !line.is_label).unwrap_or(Loc::NONE);
            let text = if line.is_label { line.text } else { format!("{:5} {}", line.address, line.text.trim_start()) };
            listing.push(lines.line(text, extent.places(&module.locs, loc)));
        }
    }
    Listing::new(listing)
}

/// The listing of the native engine's code for the same functions.
#[cfg(target_arch = "x86_64")]
pub(super) fn native(
    extent: &Extent,
    module: &Module,
    program: &RpuProgram,
    lines: &mut Interner,
) -> Result<Listing, String> {
    use shadewright_rpu::native::{NativeLineKind, code};
    let mut shown = Shown::new(extent, module, program);
    let mut listing = Vec::new();
    for line in code(&program.program).map_err(|e| e.to_string())?.lines {
        let is_label = line.kind == NativeLineKind::Label;
        if is_label {
            line.address.into_iter().for_each(|address| shown.at_label(address));
        }
        if shown.is_shown {
            let loc = line.address.and_then(|address| program.locs.get(address as usize)).copied();
            let loc = loc.filter(|_| !is_label).unwrap_or(Loc::NONE);
            let text = match line.kind {
                NativeLineKind::Label => format!("{}:", line.text),
                NativeLineKind::Program => format!("; {}", line.text),
                NativeLineKind::Cpu => line.text,
            };
            listing.push(lines.line(text, extent.places(&module.locs, loc)));
        }
    }
    Ok(Listing::new(listing))
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn native(_: &Extent, _: &Module, _: &RpuProgram, _: &mut Interner) -> Result<Listing, String> {
    Err("there is no translator to native code for this CPU".to_string())
}

/// The kernels that have code of a shader's file: what was generated of them, each function once.
#[cfg(feature = "gpu")]
pub(super) fn wgsl(
    extent: &Extent,
    program: &Program,
    instances: bool,
    lines: &mut Interner,
) -> Result<Listing, String> {
    use shadewright_codegen::wgsl::lines::{KernelLine, functions};
    use shadewright_codegen::wgsl::{self, WgslOptions};
    use shadewright_program::{CAMERA_ENTRY, IMAGER_ENTRY, surface_entry};
    use std::collections::HashSet;

    let mut entries = vec![CAMERA_ENTRY];
    entries.extend(program.has_imager.then_some(IMAGER_ENTRY));
    let shaders = (0..program.surface_entries).map(surface_entry).collect();
    let compiled =
        wgsl::compile(&program.module, &entries, &WgslOptions { shaders, instances, ..WgslOptions::default() });
    let compiled = compiled.map_err(|e| e.to_string())?;
    let locs = &program.module.locs;
    let is_own = |line: &KernelLine| line.locs.iter().any(|&loc| extent.owns_loc(locs, loc));
    let mut listing = Vec::new();
    let mut seen = HashSet::new();
    for kernel in &compiled.sections {
        let functions = functions(kernel);
        if !functions.iter().flatten().any(is_own) {
            continue;
        }
        listing.push(lines.line(format!("// {}", kernel.name), Vec::new()));
        for function in functions {
            let text: String = function.iter().map(|line| line.text.as_str()).collect();
            if !seen.insert(text) {
                continue;
            }
            for line in function {
                let mut places = Vec::new();
                for place in line.locs.iter().flat_map(|&loc| extent.places(locs, loc)) {
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
                listing.push(lines.line(line.text, places));
            }
            listing.push(lines.line(String::new(), Vec::new()));
        }
    }
    Ok(Listing::new(listing))
}

/// There are no kernels in a program that was built without the GPU.
#[cfg(not(feature = "gpu"))]
pub(super) fn wgsl(_: &Extent, _: &Program, _: bool, _: &mut Interner) -> Result<Listing, String> {
    Err("this program was built without the GPU back end".to_string())
}
