//! Running one function on the GPU for many sets of arguments.

use super::executor::Setup;
use super::executor::trap_error;
use super::program::Program;
use super::wavefront::Compute;
use crate::{RenderError, Schedule};
use shadewright_bvh::gpu::kernel::Levels;
use shadewright_bvh::two_level::procedural::ProceduralBvh;
use shadewright_bvh::{BuildOptions, Bvh};
use shadewright_codegen::wgsl::{PARAMS_UNIFORMS, RESULT_WORDS, WgslOptions};
use shadewright_ir::Module;

/// The most nested calls of a recursive function.
const MAX_DEPTH: u32 = 256;

/// Runs function `name` of `module` once for each of `arguments`, without a scene: rays miss,
/// memory and program constants are zero. Arguments and results are words, those of one parameter
/// after those of the one before (`shadewright_ir::Type::words` each). Each run may take `budget` back
/// edges and calls.
///
/// # Errors
/// When there is no such function, it cannot be compiled, a run does not end, or the device fails.
pub fn run_function(
    compute: &Compute,
    module: &Module,
    name: &str,
    arguments: &[Vec<u32>],
    budget: u32,
    schedule: Schedule,
) -> Result<Vec<Vec<u32>>, RenderError> {
    let unsupported = |reason: String| RenderError::Unsupported { backend: "the GPU", reason };
    let function = module.function(name).ok_or_else(|| unsupported(format!("there is no function {name}")))?;
    let argument_words: u32 = function.params.iter().map(|p| p.ty.words()).sum();
    let result_words: u32 = function.results.iter().map(|r| r.ty.words()).sum();
    if result_words > RESULT_WORDS {
        return Err(unsupported(format!("{name} gives {result_words} words of results; {RESULT_WORDS} is the limit")));
    }
    if let Some(wrong) = arguments.iter().find(|a| a.len() != argument_words as usize) {
        return Err(unsupported(format!("{name} takes {argument_words} words of arguments, not {}", wrong.len())));
    }
    let budget = budget.min(compute.gpu().max_loop_iterations());
    let program =
        Program::compile(compute.gpu(), module, &[name], &WgslOptions::default(), Levels::One, MAX_DEPTH, schedule)?;
    let interface = program.interface();
    let tree = Bvh::build(&[], &BuildOptions::default()).map_err(|e| unsupported(e.to_string()))?;
    let setup = Setup {
        shader_starts: &interface.shader_starts,
        rays_per_path: interface.max_rays_per_path,
        frame_words: interface.stack_words(MAX_DEPTH),
        record_words: 0,
        memory: &[[0; 4]],
        triangles: 0,
        constants: &[[0.0; 4]; PARAMS_UNIFORMS],
        placed: &[],
        tree: &tree.into(),
        tree_is_known: false,
        procedural: &ProceduralBvh::default(),
        paths: arguments.len().min(1 << 18) as u32,
    };
    let mut executor = program.executor(compute, &setup)?;
    let section = program.entry(name)?;
    let mut results = Vec::with_capacity(arguments.len());
    for wave in arguments.chunks(executor.paths() as usize) {
        let rows: Vec<Vec<u32>> =
            (0..argument_words as usize).map(|k| wave.iter().map(|words| words[k]).collect()).collect();
        let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        if let Some(trap) = executor.run(section, &rows, wave.len() as u32, budget)? {
            return Err(trap_error(trap, interface, module, budget, setup.frame_words));
        }
        let rows = executor.results(result_words, wave.len() as u32)?;
        results.extend((0..wave.len()).map(|path| rows.iter().map(|row| row[path]).collect::<Vec<_>>()));
    }
    Ok(results)
}
