//! Errors of the library's functions, and what they cost on the RPU.

use super::functions::Function;
use anyhow::{Context, anyhow};
use rayon::prelude::*;
use shadewright::abi::EntryPoint;
use shadewright::ir::passes::Pipeline;
use shadewright::ir::{Const, FunctionKind, Module};
use shadewright::lang::unit::ShaderUnit;
use shadewright::lang::{FrontEndOptions, Unit, registry};
use shadewright::render::call::{FunctionRunner, Rpu, TimedRpu};
use shadewright::text::source::SourceMap;
use std::path::Path;

/// Arguments that are computed at once.
const BATCH: usize = 1 << 16;
/// Arguments whose cost is measured, a multiple of four: threads of a chunk diverge where theirs
/// differ.
const COSTED: usize = 4096;

/// The errors of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The largest relative error.
    pub relative: f64,
    /// The same where values nearer to 0 than 2⁻¹⁶ count as 2⁻¹⁶, and inverses of values beyond
    /// 2¹⁶ likewise. A fast function rounds its folded argument, so that next to a zero or a pole
    /// only the distance from it is small.
    pub visible: f64,
    /// The largest error in units of the last place of the exact value.
    pub ulps: f64,
    /// The argument of that.
    pub at: f32,
    /// Arguments that were measured.
    pub count: u64,
}

impl Errors {
    fn new(x: f32, got: f32, exact: f64) -> Self {
        let error = (f64::from(got) - exact).abs();
        // The last place of numbers from 2ᵏ to 2ᵏ⁺¹ is 2ᵏ⁻²³.
        let place = (exact.abs().log2().floor() - 23.0).exp2();
        let least = (-16f64).exp2();
        let visible = match exact.abs() * least > 1.0 {
            true => (1.0 / f64::from(got) - 1.0 / exact).abs() / least,
            false => error / exact.abs().max(least),
        };
        let [relative, visible, ulps] =
            [error / exact.abs(), visible, error / place].map(|e| if e.is_nan() { f64::INFINITY } else { e });
        if exact == 0.0 && error == 0.0 {
            return Self { count: 1, ..Self::default() };
        }
        Self { relative, visible, ulps, at: x, count: 1 }
    }

    fn worse(self, other: Self) -> Self {
        let most = if other.ulps > self.ulps { other } else { self };
        let (relative, visible) = (self.relative.max(other.relative), self.visible.max(other.visible));
        Self { relative, visible, count: self.count + other.count, ..most }
    }
}

/// The cost of a call on the RPU, one function compiled alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Instructions a thread, the call of the function among them.
    pub instructions: f64,
    /// Instructions issued for four threads with arguments that differ: all of the sides of a
    /// branch that some of them take.
    pub issued: f64,
    /// Cycles of a processor for these four threads, with others to run while they wait.
    pub cycles: f64,
}

/// The module of a file with a function `f`, after the passes.
///
/// # Errors
/// When the file does not compile.
pub fn module(file: &str, source: &str) -> anyhow::Result<Module> {
    let mut sources = SourceMap::new();
    let id = sources.add(file, None, source);
    let language = registry::for_path(Path::new(file)).context("no language has this extension")?;
    let unit =
        language.compile(&mut sources, id, &FrontEndOptions::default()).map_err(|d| anyhow!(d.render(&sources)))?;
    let Unit::Shaders(ShaderUnit { mut module, .. }) = unit else { anyhow::bail!("the file defines classes") };
    module.function_mut("f").context("there is no `f`")?.kind = FunctionKind::Entry(EntryPoint::Other);
    Pipeline::default().run(&mut module, &mut ()).map_err(|e| anyhow!("{e}"))?;
    Ok(module)
}

/// The call of the fast function: `fastsin(x)`.
pub fn fast(call: &str) -> String {
    format!("fast{call}")
}

fn compiled(call: &str) -> anyhow::Result<Module> {
    module("f.sl", &format!("float f(float x) {{ return {call}; }}"))
}

/// The errors of a call for every `stride`th float of the function's ranges.
///
/// # Errors
/// When it does not compile, or does not run.
pub fn errors(function: &Function, call: &str, stride: usize) -> anyhow::Result<Errors> {
    let module = compiled(call)?;
    let run = |arguments: &[f32]| -> anyhow::Result<Errors> {
        let calls: Vec<Vec<Const>> = arguments.iter().map(|&x| vec![Const::F32(x)]).collect();
        let results = Rpu::default().run(&module, "f", &calls)?;
        let each = arguments.iter().zip(&results);
        let each = each.map(|(&x, words)| Errors::new(x, f32::from_bits(words[0]), (function.exact)(f64::from(x))));
        Ok(each.fold(Errors::default(), Errors::worse))
    };
    let batches: Vec<(u32, u32)> = function.ranges.iter().flat_map(|range| batches(*range, stride)).collect();
    let step = stride as u32;
    let of_batch = |&(from, to): &(u32, u32)| {
        let arguments: Vec<f32> = (from..=to).step_by(step as usize).map(f32::from_bits).collect();
        run(&arguments)
    };
    let all: Vec<Errors> = batches.par_iter().map(of_batch).collect::<anyhow::Result<_>>()?;
    Ok(all.into_iter().fold(Errors::default(), Errors::worse))
}

/// The bits of the first and the last float of each batch of a range that has one sign.
fn batches([low, high]: [f32; 2], stride: usize) -> Vec<(u32, u32)> {
    let (a, b) = (low.to_bits(), high.to_bits());
    let (first, last) = (a.min(b), a.max(b));
    let width = (BATCH * stride) as u64;
    let starts = (u64::from(first)..=u64::from(last)).step_by(width as usize);
    starts.map(|start| (start as u32, (start + width - 1).min(last.into()) as u32)).collect()
}

/// The cost of a call, for arguments spread evenly over the function's ranges.
///
/// # Errors
/// When it does not compile, or does not run.
pub fn cost(function: &Function, call: &str) -> anyhow::Result<Cost> {
    let count = COSTED / function.ranges.len();
    let spread = |[low, high]: [f32; 2]| {
        // A step of the golden ratio: neighbors are far from each other.
        (0..count).map(move |i| low + (high - low) * (i as f32 * 0.618_034).fract())
    };
    let arguments: Vec<Vec<Const>> =
        function.ranges.iter().copied().flat_map(spread).map(|x| vec![Const::F32(x)]).collect();
    cost_of(&compiled(call)?, &arguments)
}

/// The cost of a call of `f`.
///
/// # Errors
/// When it does not run.
pub fn cost_of(module: &Module, arguments: &[Vec<Const>]) -> anyhow::Result<Cost> {
    let (_, stats) = TimedRpu::default().run_with_stats(module, "f", arguments)?;
    let per = |n: u64, of: u64| n as f64 / of as f64;
    Ok(Cost {
        instructions: per(stats.executed, stats.threads),
        issued: per(stats.issued, stats.chunks),
        cycles: per(stats.processor_cycles, stats.chunks),
    })
}
