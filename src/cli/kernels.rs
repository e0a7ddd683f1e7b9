//! The GPU's kernels in the forms that `shadewright compile` prints.

use super::failure::Failure;
use shadewright::codegen::wgsl;
use shadewright::ir::Module;
use std::time::{Duration, Instant};

/// The kernels as WGSL, one after the other.
pub fn as_wgsl(module: &Module, entries: &[&str]) -> Result<String, Failure> {
    let program = compile(module, entries)?;
    Ok(program.sections.iter().map(|k| format!("// {}\n{}\n", k.name, k.wgsl)).collect())
}

/// The kernels as SPIR-V modules, one after the other.
pub fn as_spirv(module: &Module, entries: &[&str]) -> Result<Vec<u8>, Failure> {
    let program = compile(module, entries)?;
    let words = program.sections.iter().map(|k| wgsl::spirv(&k.module));
    let words: Vec<Vec<u32>> = words.collect::<Result<_, _>>().map_err(|e| Failure::input(format!("error: {e}")))?;
    Ok(bytemuck::cast_slice(&words.concat()).to_vec())
}

/// How long compiling to kernels takes, and how much of that naga's part is: to check them and to
/// write their text.
pub fn times(module: &Module, entries: &[&str]) -> Result<[Duration; 2], Failure> {
    let start = Instant::now();
    let program = compile(module, entries)?;
    let all = start.elapsed();
    let start = Instant::now();
    for kernel in &program.sections {
        wgsl::text(&kernel.module).map_err(|e| Failure::input(format!("error: {e}")))?;
    }
    Ok([all, start.elapsed()])
}

fn compile(module: &Module, entries: &[&str]) -> Result<wgsl::GpuProgram, Failure> {
    wgsl::compile(module, entries, &wgsl::WgslOptions::default()).map_err(|e| Failure::input(format!("error: {e}")))
}
