//! Calling a single function on each machine: what `shadewright run` does, and the tests that hold the machines together.
//!
//! There is no scene: rays miss, and memory and program constants are zero.

use super::gpu::{self, Compute};
use super::rpu::{Calls, Loaded};
use super::{RenderError, Schedule};
use crate::codegen::rpu::Options;
use crate::ir::eval::{EmptyWorld, EvalError, Limits, eval};
use crate::ir::{Const, Function, Module, Type};
use crate::program::PROGRAM_CONSTANTS;
use crate::rpu::timed::{CHUNK, Config, Stats};
use crate::rpu::{BLOCK, Block, EmptyScene};
use std::sync::atomic::AtomicBool;

/// Back edges and calls that a single call may take.
pub const CALL_BUDGET: u32 = 1_000_000;

/// Results of one call, as words: those of one result after those of the one before, [`Type::words`] each.
pub type Words = Vec<u32>;

/// Calls the function on the reference evaluator.
///
/// # Errors
/// When there is no such function, the arguments do not fit, or it does not end.
pub fn on_evaluator(module: &Module, name: &str, args: &[Const]) -> Result<Words, EvalError> {
    let limits = Limits { fuel: u64::from(CALL_BUDGET), ..Limits::default() };
    let results = eval(module, name, args, &mut EmptyWorld, limits)?;
    Ok(results.iter().flat_map(Const::bits).collect())
}

/// Calls the function on the RPU once for each set of arguments.
///
/// # Errors
/// When it cannot be compiled or does not end.
pub fn on_rpu(module: &Module, name: &str, calls: &[Vec<Const>]) -> Result<Vec<Words>, RenderError> {
    let loaded = Loaded::new(module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0)?;
    let stop = AtomicBool::new(false);
    let data = loaded.data(&[[0; 4]]);
    let machine = loaded.machine(&data, &EmptyScene, CALL_BUDGET, &stop);
    let mut block = Block::new();
    let mut results = Vec::with_capacity(calls.len());
    for wave in calls.chunks(BLOCK) {
        block.reset();
        let rows: Vec<Words> = wave.iter().map(|args| words(args)).collect();
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let word = |lane: usize, k: usize| rows.get(lane).and_then(|r| r.get(k)).copied().unwrap_or(0);
        let inputs: Vec<[u32; BLOCK]> = (0..count).map(|k| std::array::from_fn(|lane| word(lane, k))).collect();
        let active = if wave.len() == BLOCK { u64::MAX } else { (1 << wave.len()) - 1 };
        let outputs = loaded.run(&machine, &mut block, name, &inputs, active, module)?;
        results.extend((0..wave.len()).map(|lane| outputs.iter().map(|row| row[lane]).collect::<Words>()));
    }
    Ok(results)
}

/// Calls the function on one processor of the timed machine once for each set of arguments, four calls to a chunk, and tells how long it took.
/// `options` say how it is compiled.
///
/// # Errors
/// When it cannot be compiled or does not end.
pub fn on_timed_rpu(
    module: &Module,
    name: &str,
    calls: &[Vec<Const>],
    options: &Options,
    config: &Config,
) -> Result<(Vec<Words>, Stats), RenderError> {
    let loaded = Loaded::with_options(module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0, options)?;
    let stop = AtomicBool::new(false);
    let data = loaded.data(&[[0; 4]]);
    let machine = loaded.machine(&data, &EmptyScene, CALL_BUDGET, &stop);
    let mut list = CallList { chunks: calls.chunks(CHUNK), results: vec![Vec::new(); calls.len()] };
    let stats = loaded.run_timed(&machine, &loaded.timing(config), name, &mut list, module)?;
    Ok((list.results, stats))
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

/// Calls the function on the RPU and keeps its registers: those before and after the call, in lane 0 of the blocks, and the constants.
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
    let machine = loaded.machine(&data, &EmptyScene, CALL_BUDGET, &stop);
    let inputs: Vec<[u32; BLOCK]> = words(args).into_iter().map(|word| [word; BLOCK]).collect();
    let [mut before, mut after] = [Block::new(), Block::new()];
    loaded.set_arguments(&mut before, name, &inputs)?;
    loaded.run(&machine, &mut after, name, &inputs, 1, module)?;
    Ok(([before, after], *loaded.constants()))
}

/// Calls the function on a GPU once for each set of arguments, with its sections in the order of a schedule.
///
/// # Errors
/// When it cannot be compiled or does not end, or the device fails.
pub fn on_gpu(
    compute: &Compute,
    module: &Module,
    name: &str,
    calls: &[Vec<Const>],
    schedule: Schedule,
) -> Result<Vec<Words>, RenderError> {
    let calls: Vec<Words> = calls.iter().map(|args| words(args)).collect();
    gpu::run_function(compute, module, name, &calls, CALL_BUDGET, schedule)
}

/// The words of a list of values.
pub fn words(values: &[Const]) -> Words {
    values.iter().flat_map(Const::bits).collect()
}

/// The results of `function` that words stand for. Strings stay identifiers (`u32`).
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
    use crate::abi::EntryPoint;
    use crate::ir::{FunctionBuilder, FunctionKind, Op};

    #[test]
    fn the_rpu_gives_the_evaluators_bits_for_more_calls_than_a_block_holds() {
        let mut b = FunctionBuilder::new("f", FunctionKind::Entry(EntryPoint::Other));
        b.result("a", Type::Vec3);
        b.result("b", Type::F32);
        let v = b.param("v", Type::Vec3);
        let x = b.param("x", Type::F32);
        let by = b.op_as(Op::Splat, &[x], Type::Vec3);
        let product = b.op(Op::Mul, &[v, by]);
        let root = b.op(Op::Rsq, &[x]);
        b.ret(vec![product, root]);
        let module = Module { functions: vec![b.finish()], ..Module::new() };
        let calls: Vec<_> =
            (1..100).map(|i| vec![Const::Vec3([i as f32, 0.5, -3.0]), Const::F32(i as f32 * 0.37)]).collect();
        let got = on_rpu(&module, "f", &calls).unwrap();
        for (args, words) in calls.iter().zip(&got) {
            assert_eq!(*words, on_evaluator(&module, "f", args).unwrap());
        }
        let results = values(&module.functions[0], &got[0]);
        assert_eq!(results[0], Const::Vec3([0.37, 0.185, -1.11]));
    }
}
