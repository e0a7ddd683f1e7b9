//! Shading on the RPU beside the same functions in plain Rust: nanoseconds a point of one thread.
//!
//! The functions are in `functions.sl`, and once more in [`plain`], written for any number of lanes: one lane is what a scalar program does, eight are what the
//! compiler makes of arrays of eight with the processor's AVX2. Both compute the same bits, which is checked. Points come from arrays of a million
//! (*streaming*), or from one block of them again and again (*cached*).

mod plain;

use super::{RUNS, rounded};
use crate::cli::exit::Failure;
use crate::ir::passes::Pipeline;
use crate::ir::{FunctionKind, Module};
use crate::lang::rsl::{Options, compile};
use crate::lang::source::SourceMap;
use crate::program::PROGRAM_CONSTANTS;
use crate::render::call::CALL_BUDGET;
use crate::render::rpu::Loaded;
use crate::rpu::{BLOCK, Block, EmptyScene};
use anyhow::anyhow;
use plain::{Branchy, Noisy, Points, Shading};
use serde_json::{Map, Value, json};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Width of the grid of points; there are as many rows.
const SIDE: usize = 1024;
/// Points that are shaded again and again: positions and colours fit into the processor's caches.
const CACHED: usize = 4096;

/// Nanoseconds a point of each function, and the ratios of the RPU to eight lanes of Rust.
pub fn points() -> Result<Value, Failure> {
    Ok(json!({ Noisy::NAME: measured::<Noisy>()?, Branchy::NAME: measured::<Branchy>()? }))
}

fn measured<S: Shading>() -> Result<Value, Failure> {
    let module = module(S::NAME)?;
    let loaded = Loaded::new(&module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0).map_err(|e| anyhow!("{e}"))?;
    let all = Points::grid(SIDE);
    let mut results = Map::new();
    // The cached points are a band through the middle of the grid, where all branches are taken.
    let cached = all.part((all.len() - CACHED) / 2, CACHED);
    for (case, points, turns) in [("cached", &cached, all.len() / CACHED), ("streaming", &all, 1)] {
        let [mut rpu, mut scalar, mut wide] = [(); 3].map(|()| Points::black(points.len()));
        let mut best = [f64::INFINITY; 3];
        for run in 0..=RUNS {
            let times = [
                seconds(turns, || on_rpu(&loaded, &module, S::NAME, points, &mut rpu))?,
                seconds(turns, || {
                    plain::shade::<S, 1>(points, &mut scalar);
                    Ok(())
                })?,
                seconds(turns, || {
                    plain::shade::<S, 8>(points, &mut wide);
                    Ok(())
                })?,
            ];
            if run > 0 {
                best = std::array::from_fn(|i| best[i].min(times[i]));
            }
        }
        if rpu.bits() != scalar.bits() || rpu.bits() != wide.bits() {
            return Err(anyhow!("`{}` gives other colours in Rust than on the RPU", S::NAME).into());
        }
        let [rpu, scalar, wide] = best.map(|s| s * 1e9 / (points.len() * turns) as f64);
        let numbers = json!({
            "rpu_ns": rounded(rpu),
            "rust_1_ns": rounded(scalar),
            "rust_8_ns": rounded(wide),
            "rpu_to_rust_8": rounded(rpu / wide),
        });
        results.insert(case.to_string(), numbers);
    }
    Ok(Value::Object(results))
}

/// How long so many turns take.
fn seconds(turns: usize, mut run: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    (0..turns).try_for_each(|_| run())?;
    Ok(start.elapsed().as_secs_f64())
}

/// The function as the RPU's compiler takes it.
fn module(name: &str) -> Result<Module, Failure> {
    let mut sources = SourceMap::new();
    let file = sources.add("functions.sl", None, include_str!("functions.sl"));
    let unit = compile(&mut sources, file, &Options::default()).map_err(|d| anyhow!("{}", d.render(&sources)))?;
    let mut module = unit.module;
    for function in &mut module.functions {
        if &*function.name == name {
            function.kind = FunctionKind::Entry;
        }
    }
    Pipeline::default().run(&mut module, &mut ()).map_err(|e| anyhow!("{e}"))?;
    Ok(module)
}

/// Shades points on the RPU, a block of threads at a time.
fn on_rpu(loaded: &Loaded, module: &Module, name: &str, points: &Points, colors: &mut Points) -> Result<(), Failure> {
    let stop = AtomicBool::new(false);
    let data = loaded.data(&[[0; 4]]);
    let machine = loaded.machine(&data, &EmptyScene, CALL_BUDGET, &stop);
    let mut block = Block::new();
    for at in (0..points.len()).step_by(BLOCK) {
        block.reset();
        let inputs = points.lanes::<BLOCK>(at).map(|axis| axis.map(f32::to_bits));
        let outputs = loaded.run(&machine, &mut block, name, &inputs, u64::MAX, module).map_err(|e| anyhow!("{e}"))?;
        if let [r, g, b] = outputs[..] {
            colors.set_lanes(at, [r, g, b].map(|axis| axis.map(f32::from_bits)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree<S: Shading>() {
        let module = module(S::NAME).expect("it compiles");
        let loaded = Loaded::new(&module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0).expect("it loads");
        let points = Points::grid(16);
        let [mut rpu, mut scalar, mut wide] = [(); 3].map(|()| Points::black(points.len()));
        on_rpu(&loaded, &module, S::NAME, &points, &mut rpu).expect("it runs");
        plain::shade::<S, 1>(&points, &mut scalar);
        plain::shade::<S, 8>(&points, &mut wide);
        assert_eq!(rpu.bits(), scalar.bits(), "{}, one lane", S::NAME);
        assert_eq!(rpu.bits(), wide.bits(), "{}, eight lanes", S::NAME);
        let first = rpu.bits()[0];
        assert!(rpu.bits().iter().any(|c| *c != first), "{} is one colour", S::NAME);
    }

    #[test]
    fn plain_rust_computes_the_bits_of_the_rpu() {
        agree::<Noisy>();
        agree::<Branchy>();
    }
}
