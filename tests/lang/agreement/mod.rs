//! Random programs give the same results on every function runner.
//!
//! Integers and truth values agree to the bit on all; floats agree to the bit on the evaluator and
//! every engine of the RPU; for arguments that are NaN, results are NaN on all of them or on none.
//! On a GPU floats may be off by what WGSL allows ([`interval`] computes it for each draw), and by
//! no more than [`BOUND`]. Draws that may flip a decision within that are redrawn.
//!
//! `SHADEWRIGHT_SEED` runs other seeds: one (`7`), or a range (`100..600`). The GPU part needs an
//! adapter (Mesa's software driver will do) and fails without one.

mod interval;

use interval::{Interval, Known, Risk};
use rayon::prelude::*;
use shadewright::codegen::rpu::{Convention, RpuOptions};
use shadewright::ir::passes::Pipeline;
use shadewright::ir::random::{Random, Shape, arguments, module};
use shadewright::ir::{Const, Module, Type};
use shadewright::render::BackendOptions;
use shadewright::render::call::{Agreement, Evaluator, FunctionRunner, Rpu, RunnerInfo, TimedRpu, Words, runners};
use shadewright::rpu::ENGINES;
use shadewright::rpu::simd::InstructionSet;
use shadewright::rpu::timed::Config;
use std::ops::AddAssign;

/// The largest error of a float on a GPU: relative for values above 1, else absolute. Where WGSL
/// allows more, the draw is redrawn.
const BOUND: f64 = 1e-4;

/// The largest share of draws that may be redrawn.
const MAX_REDRAWN: f64 = 0.1;

/// Programs whose floats run on the GPU, programs of integers there, and programs on the RPU.
const GPU_FLOAT_SEEDS: u64 = 60;
const GPU_INTEGER_SEEDS: u64 = 40;
const RPU_SEEDS: u64 = 160;

/// Sets of arguments for each program.
const DRAWS: usize = 16;

/// Draws that may fail at the start before a program is given up.
const HOPELESS: usize = 4;

/// Devices that the programs are shared out to: a software driver compiles each device's kernels
/// one after the other.
const DEVICES: u64 = 2;

/// The seeds to run: the first `count`, or those that the environment asks for.
fn seeds(count: u64) -> Vec<u64> {
    let Ok(wanted) = std::env::var("SHADEWRIGHT_SEED") else { return (0..count).collect() };
    let number = |text: &str| text.parse().expect("SHADEWRIGHT_SEED is a whole number or a range `A..B` of them");
    let seeds: Vec<u64> = match wanted.split_once("..") {
        Some((first, end)) => (number(first)..number(end)).collect(),
        None => vec![number(&wanted)],
    };
    assert!(!seeds.is_empty(), "SHADEWRIGHT_SEED={wanted} is an empty range");
    seeds
}

/// The runners that are compared with the evaluator, opened: those whose results are its bits, or
/// those of a GPU.
fn opened(agreement: Agreement) -> Vec<(RunnerInfo, Box<dyn FunctionRunner>)> {
    let rows = runners().into_iter().filter(|row| row.agreement == agreement && !row.compiles_slowly);
    let open = |row: RunnerInfo| {
        if row.uses_gpu {
            crate::common::adapter();
        }
        let runner = row.open(&BackendOptions::default());
        (row, runner.expect("this test needs a GPU adapter; the software driver of Mesa (lavapipe) will do"))
    };
    rows.map(open).collect()
}

/// Results of each share of the seeds, each share with its own devices.
fn on_devices<T: Send>(count: u64, work: impl Fn(&[(RunnerInfo, Box<dyn FunctionRunner>)], u64) -> T + Sync) -> Vec<T> {
    let seeds = seeds(count);
    let shares = seeds.par_chunks(seeds.len().div_ceil(DEVICES as usize));
    let results = shares.flat_map_iter(|share| {
        let runners = [opened(Agreement::Bits), opened(Agreement::Wgsl)].into_iter().flatten().collect::<Vec<_>>();
        share.iter().map(|&seed| work(&runners, seed)).collect::<Vec<_>>()
    });
    results.collect()
}

/// A random program and what follows from its seed.
struct Draw {
    seed: u64,
    random: Random,
    /// The program that the runners run: of even seeds the optimized one, of odd seeds the
    /// original.
    compiled: Module,
}

impl Draw {
    fn new(seed: u64, shape: Shape) -> Self {
        let mut random = Random::new(seed);
        let mut compiled = module(&mut random, shape);
        if seed.is_multiple_of(2) {
            Pipeline::default().run(&mut compiled, &mut ()).expect("the passes keep the rules");
        }
        Self { seed, random, compiled }
    }

    fn fail(&self, what: &str, args: &[Const]) -> ! {
        panic!(
            "seed {}: {what}\non {args:?}\nrun it alone with SHADEWRIGHT_SEED={} cargo test --test lang agreement::\n{}",
            self.seed, self.seed, self.compiled
        )
    }

    /// Asserts that results are the evaluator's bits.
    fn assert_equal(&self, runner: &str, calls: &[Vec<Const>], results: &[Words]) {
        let references = self.results("eval", &Evaluator, calls);
        for ((args, words), reference) in calls.iter().zip(results).zip(references) {
            if *words != reference {
                self.fail(&format!("the evaluator gives {reference:08x?}, {runner} {words:08x?}"), args);
            }
        }
    }

    fn results(&self, name: &str, runner: &dyn FunctionRunner, calls: &[Vec<Const>]) -> Vec<Words> {
        let results = runner.run(&self.compiled, "f", calls);
        let results = results.unwrap_or_else(|e| self.fail(&format!("{name}: {e}"), &[]));
        assert_eq!(results.len(), calls.len(), "{name} runs every call");
        results
    }

    fn draws(&mut self, count: usize) -> Vec<Vec<Const>> {
        (0..count).map(|_| arguments(&mut self.random)).collect()
    }
}

#[test]
fn random_programs_give_the_evaluators_bits_on_every_engine_and_under_every_convention() {
    seeds(RPU_SEEDS).into_par_iter().for_each(|seed| {
        let statements = 10 + (seed % 8) as usize * 10;
        let mut draw = Draw::new(seed, Shape { statements, ..Shape::default() });
        let calls = draw.draws(DRAWS);
        for (row, runner) in opened(Agreement::Bits) {
            draw.assert_equal(row.name, &calls, &draw.results(row.name, &*runner, &calls));
        }
        // What CPUs without the widest vectors run.
        let sets = InstructionSet::all().into_iter().filter(|set| set.name() != InstructionSet::detect().name());
        for instructions in sets {
            for engine in ENGINES.iter().filter(|engine| engine.name != "auto") {
                let runner = Rpu { engine, instructions, ..Rpu::default() };
                // There is no native code for the portable ones.
                if engine.name == "native" && instructions.name() == "portable" {
                    continue;
                }
                let name = format!("{} with {}", engine.name, instructions.name());
                draw.assert_equal(&name, &calls, &draw.results(&name, &runner, &calls));
            }
        }
        // Optimized programs and original ones under each.
        let convention = if seed % 4 < 2 { Convention::Mixed } else { Convention::Interprocedural };
        let timed = TimedRpu { options: RpuOptions { convention, ..RpuOptions::default() }, config: Config::default() };
        let name = format!("the timed RPU, {convention:?}");
        draw.assert_equal(&name, &calls, &draw.results(&name, &timed, &calls));
    });
}

/// The arguments, of whose floats about a third are a NaN, quiet or signaling, with any payload, or an infinity.
fn not_finite(random: &mut Random, args: Vec<Const>) -> Vec<Const> {
    let mut one = |x: f32| match random.below(12) {
        0 | 1 => f32::from_bits(0x7f80_0001 | (random.bits() as u32 & 0x807f_ffff)),
        2 => f32::INFINITY.copysign(random.float()),
        _ => x,
    };
    let changed = args.into_iter().map(|c| {
        let floats: Option<Vec<f32>> = c.floats().map(|list| list.iter().map(|&x| one(x)).collect());
        floats.and_then(|list| Const::from_floats(&list)).unwrap_or(c)
    });
    changed.collect()
}

/// Results with one pattern of bits for all NaNs among the floats: the IR says which results are NaN,
/// not which NaN they are.
fn with_one_nan(module: &Module, mut words: Words) -> Words {
    let results = &module.function("f").expect("the program has it").results;
    let types = results.iter().flat_map(|r| std::iter::repeat_n(r.ty, r.ty.words() as usize));
    for (word, ty) in words.iter_mut().zip(types) {
        let is_float = !matches!(ty, Type::Bool | Type::I32 | Type::U32);
        if is_float && f32::from_bits(*word).is_nan() {
            *word = f32::NAN.to_bits();
        }
    }
    words
}

#[test]
fn results_are_nan_where_the_evaluators_are_on_every_engine() {
    let nans: Vec<usize> = seeds(RPU_SEEDS)
        .into_par_iter()
        .map(|seed| {
            let mut draw = Draw::new(seed, Shape { statements: 30, ..Shape::default() });
            let calls = draw.draws(4 * DRAWS);
            let calls: Vec<_> = calls.into_iter().map(|args| not_finite(&mut draw.random, args)).collect();
            let one_nan = |name: &str, runner: &dyn FunctionRunner| -> Vec<Words> {
                let results = draw.results(name, runner, &calls).into_iter();
                results.map(|words| with_one_nan(&draw.compiled, words)).collect()
            };
            let references = one_nan("eval", &Evaluator);
            for (row, runner) in opened(Agreement::Bits) {
                let results = one_nan(row.name, &*runner);
                for ((args, words), reference) in calls.iter().zip(results).zip(&references) {
                    if words != *reference {
                        draw.fail(&format!("the evaluator gives {reference:08x?}, {} {words:08x?}", row.name), args);
                    }
                }
            }
            let nan = f32::NAN.to_bits();
            references.iter().filter(|words| words.contains(&nan)).count()
        })
        .collect();
    let some = nans.iter().filter(|&&count| count > 0).count();
    // Selections, clamps and conversions to integers swallow most.
    assert!(8 * some > nans.len(), "only {some} of {} programs give NaN", nans.len());
}

#[test]
fn random_programs_of_integers_give_equal_bits_on_all_runners() {
    on_devices(GPU_INTEGER_SEEDS, |runners, seed| {
        let mut draw = Draw::new(seed, Shape { floats: false, ..Shape::default() });
        let calls = draw.draws(DRAWS);
        for (row, runner) in runners {
            draw.assert_equal(row.name, &calls, &draw.results(row.name, &**runner, &calls));
        }
    });
}

/// How many draws were compared, and why others were not.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    kept: usize,
    comparison: usize,
    floor: usize,
    conversion: usize,
    range: usize,
    wide: usize,
}

impl Tally {
    fn redrawn(&self) -> usize {
        self.comparison + self.floor + self.conversion + self.range + self.wide
    }

    fn count(&mut self, risk: Risk) {
        *match risk {
            Risk::Comparison => &mut self.comparison,
            Risk::Floor => &mut self.floor,
            Risk::Conversion => &mut self.conversion,
            Risk::Range => &mut self.range,
        } += 1;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.kept += other.kept;
        self.comparison += other.comparison;
        self.floor += other.floor;
        self.conversion += other.conversion;
        self.range += other.range;
        self.wide += other.wide;
    }
}

/// True if an interval is so narrow that any two numbers in it are within [`BOUND`].
fn is_narrow(interval: Interval) -> bool {
    interval.width() <= BOUND * interval.low.abs().min(interval.high.abs()).max(1.0)
}

/// Draws arguments on which no decision is at risk, and what is known of the results. A program
/// that fails from the start decides something at risk whatever its arguments are: it is given up.
fn safe_draws(draw: &mut Draw, tally: &mut Tally) -> Vec<(Vec<Const>, Vec<Known>)> {
    let mut safe = Vec::new();
    for attempt in 0..2 * DRAWS {
        if safe.len() == DRAWS || (attempt == HOPELESS && safe.is_empty()) {
            break;
        }
        let args = arguments(&mut draw.random);
        match interval::run(&draw.compiled, "f", &args) {
            Err(risk) => tally.count(risk),
            Ok(results) => {
                let is_float = |k: &&Known| matches!(k, Known::Floats(list) if !list.iter().all(|&i| is_narrow(i)));
                match results.iter().find(is_float) {
                    Some(_) => tally.wide += 1,
                    None => {
                        tally.kept += 1;
                        safe.push((args, results));
                    }
                }
            }
        }
    }
    safe
}

/// Describes what is wrong with the words of a runner's results, given what is known of them.
fn complaint(known: &[Known], words: &[u32]) -> Option<String> {
    let mut rest = words.iter();
    for (n, known) in known.iter().enumerate() {
        match known {
            Known::Exact(c) => {
                let (expected, got) = (c.bits(), rest.by_ref().take(c.bits().len()).copied().collect::<Vec<_>>());
                if got != expected {
                    return Some(format!("result {n} is {got:08x?}, not {expected:08x?}"));
                }
            }
            Known::Floats(intervals) => {
                for interval in intervals {
                    let got = rest.next().map_or(f32::NAN, |&w| f32::from_bits(w));
                    if !interval.contains(got) {
                        return Some(format!("result {n} is {got:e}, outside {interval:?}"));
                    }
                }
            }
        }
    }
    None
}

#[test]
fn random_programs_agree_on_all_runners_within_what_wgsl_allows() {
    let tallies = on_devices(GPU_FLOAT_SEEDS, |runners, seed| {
        let mut draw = Draw::new(seed, Shape::default());
        let mut tally = Tally::default();
        let safe = safe_draws(&mut draw, &mut tally);
        let calls: Vec<Vec<Const>> = safe.iter().map(|(args, _)| args.clone()).collect();
        for (row, runner) in runners {
            let results = draw.results(row.name, &**runner, &calls);
            if row.agreement == Agreement::Bits {
                draw.assert_equal(row.name, &calls, &results);
            }
            for ((args, known), words) in safe.iter().zip(&results) {
                if let Some(what) = complaint(known, words) {
                    draw.fail(&format!("on {} {what}", row.name), args);
                }
            }
        }
        tally
    });
    let mut total = Tally::default();
    tallies.into_iter().for_each(|t| total += t);
    let share = total.redrawn() as f64 / (total.redrawn() + total.kept) as f64;
    println!("{:.1} % of draws are redrawn: {total:?}", share * 100.0);
    assert!(share < MAX_REDRAWN, "{:.1} % of draws are redrawn: {total:?}", share * 100.0);
}
