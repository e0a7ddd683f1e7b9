//! Calling a single function on each implementation of the IR: what `shadewright run` does, and the
//! tests that hold the implementations together.
//!
//! A [`FunctionRunner`] runs a function of a module for many sets of arguments. [`runners`] is the
//! table of them: the reference evaluator, the RPU on each engine, its timed model, and the GPU by
//! each schedule. There is no scene: rays miss, and memory and program constants are zero.

use super::gpu::{self, Compute};
use super::rpu::{Calls, Loaded};
use super::{Backend, BackendOptions, RenderError, Schedule};
use rayon::prelude::*;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_codegen::rpu::RpuOptions;
use shadewright_ir::abi::frame::PROGRAM_CONSTANTS;
use shadewright_ir::eval::{EmptyWorld, EvalError, Limits, eval};
use shadewright_ir::{Const, Function, Module, Type};
use shadewright_rpu::engine::{self, EngineInfo};
use shadewright_rpu::simd::InstructionSet;
use shadewright_rpu::timed::{CHUNK, Config, Stats};
use shadewright_rpu::{BLOCK, Block, EmptyScene};
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// Back edges and calls that a single call may take.
pub const CALL_BUDGET: u32 = 1_000_000;

/// Results of one call, as words: those of one result after those of the one before,
/// [`Type::words`] each.
pub type Words = Vec<u32>;

/// Why a call gave no result.
#[derive(Debug, Error)]
pub enum CallError {
    /// The evaluator stopped.
    #[error("{error}")]
    Evaluator {
        /// Why.
        error: EvalError,
        /// The instruction, where known.
        span: Option<Span>,
    },
    /// A back end failed.
    #[error(transparent)]
    Backend(#[from] RenderError),
}

impl CallError {
    /// The message to the user, with the source line where there is one.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            CallError::Evaluator { error, span: Some(span) } => Diagnostic::error(error.to_string()).at(*span, "here"),
            CallError::Evaluator { error, span: None } => Diagnostic::error(error.to_string()),
            CallError::Backend(error) => error.diagnostic(),
        }
    }
}

/// Runs functions of modules.
pub trait FunctionRunner {
    /// Calls the function once for each set of arguments.
    ///
    /// # Errors
    /// When there is no such function, it cannot be compiled, the arguments do not fit, a call does
    /// not end within [`CALL_BUDGET`], or the device fails.
    fn run(&self, module: &Module, function: &str, calls: &[Vec<Const>]) -> Result<Vec<Words>, CallError>;
}

/// How closely the results of a runner agree with the evaluator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// To the bit.
    Bits,
    /// Integers to the bit, floats within what WGSL allows.
    Wgsl,
}

/// A row of the table of runners.
#[derive(Clone, Copy, Debug)]
pub struct RunnerInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub description: &'static str,
    /// How closely its results agree with the evaluator's.
    pub agreement: Agreement,
    /// True if it is one of those that are compared where none is named.
    pub is_default: bool,
    /// True if it runs on a GPU.
    pub uses_gpu: bool,
    /// True if a software driver takes seconds to compile a function for it.
    pub compiles_slowly: bool,
    kind: RunnerKind,
}

/// The kind of runner that a row opens.
#[derive(Clone, Copy, Debug)]
enum RunnerKind {
    Evaluator,
    Backend(Backend),
    TimedRpu,
    Megakernel,
}

/// All runners: the reference evaluator, the back ends that run functions, and other ways to run
/// them. Those that give the evaluator's bits come first.
pub fn runners() -> Vec<RunnerInfo> {
    let row = RunnerInfo {
        name: "eval",
        description: "The reference evaluator of the IR",
        agreement: Agreement::Bits,
        is_default: true,
        uses_gpu: false,
        compiles_slowly: false,
        kind: RunnerKind::Evaluator,
    };
    let mut rows = vec![row];
    rows.extend(Backend::all().filter_map(|backend| {
        let info = backend.info();
        let agreement = info.agreement?;
        let is_default = Backend::INTERACTIVE.contains(&backend);
        let (name, description) = (&*info.name, &*info.description);
        let kind = RunnerKind::Backend(backend);
        Some(RunnerInfo { name, description, agreement, is_default, uses_gpu: info.uses_gpu, kind, ..row })
    }));
    rows.push(RunnerInfo {
        name: "rpu-timed",
        description: "The RPU's timing model",
        is_default: false,
        kind: RunnerKind::TimedRpu,
        ..row
    });
    rows.push(RunnerInfo {
        name: "gpu-megakernel",
        description: "A GPU, all sections in one kernel",
        agreement: Agreement::Wgsl,
        is_default: false,
        uses_gpu: true,
        compiles_slowly: true,
        kind: RunnerKind::Megakernel,
    });
    rows.sort_by_key(|row| row.agreement != Agreement::Bits);
    rows
}

impl RunnerInfo {
    /// The runner.
    ///
    /// # Errors
    /// When there is no such device, or it fails.
    pub fn open(&self, options: &BackendOptions) -> Result<Box<dyn FunctionRunner>, RenderError> {
        match self.kind {
            RunnerKind::Evaluator => Ok(Box::new(Evaluator)),
            RunnerKind::Backend(backend) => backend.runner(options),
            RunnerKind::TimedRpu => Ok(Box::new(TimedRpu::default())),
            RunnerKind::Megakernel => {
                let compute = Compute::new(options.adapter.as_deref());
                let compute = compute.map_err(|e| RenderError::Device(e.to_string()))?;
                Ok(Box::new(GpuRunner { compute, schedule: Schedule::Megakernel }))
            }
        }
    }
}

/// The reference evaluator.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator;

impl FunctionRunner for Evaluator {
    fn run(&self, module: &Module, function: &str, calls: &[Vec<Const>]) -> Result<Vec<Words>, CallError> {
        let limits = Limits { fuel: u64::from(CALL_BUDGET), ..Limits::default() };
        let call = |arguments: &Vec<Const>| {
            let results = eval(module, function, arguments, &mut EmptyWorld, limits);
            let results = results.map_err(|error| {
                let span = error.loc().and_then(|loc| module.span(loc));
                CallError::Evaluator { error, span }
            })?;
            Ok(words(&results))
        };
        calls.par_iter().map(call).collect()
    }
}

/// The RPU on an engine.
#[derive(Clone, Debug)]
pub struct Rpu {
    /// The engine.
    pub engine: &'static EngineInfo,
    /// How functions are compiled.
    pub options: RpuOptions,
    /// The vector instructions that the engine uses.
    pub instructions: InstructionSet,
}

impl Default for Rpu {
    fn default() -> Self {
        let (engine, instructions) = (engine::default_engine(), InstructionSet::detect());
        Rpu { engine, options: RpuOptions::default(), instructions }
    }
}

impl FunctionRunner for Rpu {
    fn run(&self, module: &Module, function: &str, calls: &[Vec<Const>]) -> Result<Vec<Words>, CallError> {
        let loaded = Loaded::with_options(module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0, &self.options)?;
        let loaded = loaded.with_instruction_set(self.instructions).on_engine(self.engine)?;
        let stop = AtomicBool::new(false);
        let data = loaded.data(&[[0; 4]]);
        let context = loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
        let mut block = Block::new();
        let mut results = Vec::with_capacity(calls.len());
        for batch in calls.chunks(BLOCK) {
            block.reset();
            let rows: Vec<Words> = batch.iter().map(|args| words(args)).collect();
            let count = rows.iter().map(Vec::len).max().unwrap_or(0);
            let word = |lane: usize, k: usize| rows.get(lane).and_then(|r| r.get(k)).copied().unwrap_or(0);
            let inputs: Vec<[u32; BLOCK]> = (0..count).map(|k| std::array::from_fn(|lane| word(lane, k))).collect();
            let active = if batch.len() == BLOCK { u64::MAX } else { (1 << batch.len()) - 1 };
            let outputs = loaded.run(&context, &mut block, function, &inputs, active, module)?;
            results.extend((0..batch.len()).map(|lane| outputs.iter().map(|row| row[lane]).collect::<Words>()));
        }
        Ok(results)
    }
}

/// One processor of the RPU's timing model, four calls to a chunk.
#[derive(Clone, Debug, Default)]
pub struct TimedRpu {
    /// How functions are compiled.
    pub options: RpuOptions,
    /// The modeled hardware.
    pub config: Config,
}

impl TimedRpu {
    /// The results of the calls, and how long they took.
    ///
    /// # Errors
    /// The errors of [`FunctionRunner::run`].
    pub fn run_with_stats(
        &self,
        module: &Module,
        function: &str,
        calls: &[Vec<Const>],
    ) -> Result<(Vec<Words>, Stats), RenderError> {
        let loaded = Loaded::with_options(module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0, &self.options)?;
        let stop = AtomicBool::new(false);
        let data = loaded.data(&[[0; 4]]);
        let context = loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
        let mut list = CallList { chunks: calls.chunks(CHUNK), results: vec![Vec::new(); calls.len()] };
        let stats = loaded.run_timed(&context, &loaded.timing(&self.config), function, &mut list, module)?;
        Ok((list.results, stats))
    }
}

impl FunctionRunner for TimedRpu {
    fn run(&self, module: &Module, function: &str, calls: &[Vec<Const>]) -> Result<Vec<Words>, CallError> {
        Ok(self.run_with_stats(module, function, calls)?.0)
    }
}

/// Calls in their order, and their results.
struct CallList<'a> {
    chunks: std::slice::Chunks<'a, Vec<Const>>,
    results: Vec<Words>,
}

impl Calls for CallList<'_> {
    fn next(&mut self) -> Option<Vec<Words>> {
        self.chunks.next().map(|calls| calls.iter().map(|args| words(args)).collect())
    }

    fn done(&mut self, number: u64, results: Vec<Words>, _cost: [u64; CHUNK]) {
        self.results.iter_mut().skip(number as usize * CHUNK).zip(results).for_each(|(to, words)| *to = words);
    }
}

/// A GPU that runs sections in the order of a schedule.
#[derive(Debug)]
pub struct GpuRunner {
    /// The device.
    pub compute: Compute,
    /// The order of sections.
    pub schedule: Schedule,
}

impl FunctionRunner for GpuRunner {
    fn run(&self, module: &Module, function: &str, calls: &[Vec<Const>]) -> Result<Vec<Words>, CallError> {
        let calls: Vec<Words> = calls.iter().map(|args| words(args)).collect();
        Ok(gpu::run_function(&self.compute, module, function, &calls, CALL_BUDGET, self.schedule)?)
    }
}

/// Calls the function on the RPU and keeps its registers: those before and after the call, in lane
/// 0 of the blocks, and the constants.
///
/// # Errors
/// When it cannot be compiled or does not end.
pub fn registers_on_rpu(
    module: &Module,
    name: &str,
    args: &[Const],
) -> Result<([Block; 2], [[u32; 4]; 32]), RenderError> {
    let loaded = Loaded::new(module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0)?;
    let stop = AtomicBool::new(false);
    let data = loaded.data(&[[0; 4]]);
    let context = loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
    let inputs: Vec<[u32; BLOCK]> = words(args).into_iter().map(|word| [word; BLOCK]).collect();
    let [mut before, mut after] = [Block::new(), Block::new()];
    loaded.set_arguments(&mut before, name, &inputs)?;
    loaded.run(&context, &mut after, name, &inputs, 1, module)?;
    Ok(([before, after], *loaded.constants()))
}

/// The words of a list of values.
pub fn words(values: &[Const]) -> Words {
    values.iter().flat_map(Const::bits).collect()
}

/// The results of `function` from their words. Strings stay identifiers (`u32`).
pub fn values(function: &Function, words: &[u32]) -> Vec<Const> {
    let mut rest = words;
    function
        .results
        .iter()
        .map(|r| {
            let (here, next) = rest.split_at((r.ty.words() as usize).min(rest.len()));
            rest = next;
            value(r.ty, here)
        })
        .collect()
}

fn value(ty: Type, words: &[u32]) -> Const {
    let first = words.first().copied().unwrap_or(0);
    match ty {
        Type::Bool => Const::Bool(first != 0),
        Type::I32 => Const::I32(first as i32),
        Type::U32 | Type::String => Const::U32(first),
        Type::Ref => Const::Ref(first),
        _ => {
            let floats: Vec<f32> = words.iter().map(|w| f32::from_bits(*w)).collect();
            Const::from_floats(&floats).unwrap_or_else(|| Const::zero(ty))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::abi::EntryPoint;
    use shadewright_ir::{FunctionBuilder, FunctionKind};

    #[test]
    fn runners_give_the_evaluators_bits_for_more_calls_than_a_block_holds() {
        let mut b = FunctionBuilder::new("f", FunctionKind::Entry(EntryPoint::Other));
        b.result("a", Type::Vec3);
        b.result("b", Type::F32);
        let v = b.param("v", Type::Vec3);
        let x = b.param("x", Type::F32);
        let by = b.splat(x, Type::Vec3);
        let product = b.mul(v, by);
        let root = b.rsq(x);
        b.ret(vec![product, root]);
        let module = Module { functions: vec![b.finish()], ..Module::new() };
        let calls: Vec<_> =
            (1..100).map(|i| vec![Const::Vec3([i as f32, 0.5, -3.0]), Const::F32(i as f32 * 0.37)]).collect();
        let expected = Evaluator.run(&module, "f", &calls).unwrap();
        for row in runners().into_iter().filter(|row| row.agreement == Agreement::Bits) {
            let results = row.open(&BackendOptions::default()).unwrap().run(&module, "f", &calls).unwrap();
            assert_eq!(results, expected, "{}", row.name);
        }
        let results = values(&module.functions[0], &expected[0]);
        assert_eq!(results[0], Const::Vec3([0.37, 0.185, -1.11]));
    }

    #[test]
    fn runners_have_distinct_names_and_those_of_equal_bits_come_first() {
        let rows = runners();
        let names: std::collections::HashSet<_> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
        assert_eq!(rows[0].name, "eval");
        assert!(rows.iter().map(|row| row.agreement != Agreement::Bits).is_sorted());
    }
}
