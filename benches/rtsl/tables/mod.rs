//! Classes of RTSL on the RPU against the same by hand in Rust, as in tables 2 to 4 of Parker et
//! al. 2007, "RTSL: a Ray Tracing Shading Language".
//!
//! The classes are those of `assets/rtsl`: the paper's three primitives are asked where rays meet
//! them, its five materials how they scatter light. [`primitives`] and [`materials`] have the same
//! routines for any number of rays: with one they are what a scalar program does, with eight what
//! the compiler makes of arrays of eight. All compute the same bits, which is checked. Rays come
//! from arrays (*streaming*) or from one block of them again and again (*cached*). Of the RPU there
//! are two widths: one ray in each run of a program, and 64; primitives are measured once more with
//! what the origin, which all rays have in common, decides worked out before, as renders do it.

mod compiled;
mod lanes;
pub mod lines;
pub mod materials;
pub mod primitives;

use super::common::{RUNS, diagnostics, repository, rounded};
use anyhow::{Context, anyhow};
use compiled::Compiled;
use glam::Vec3;
use lanes::{Vector, Wide};
use serde_json::{Value, json};
use shadewright::abi::input;
use shadewright::ir::Type;
use shadewright::lang::preprocess::PreprocessOptions;
use shadewright::lang::rtsl::state::Method;
use shadewright::lang::rtsl::{self, Unit};
use shadewright::render::call::CALL_BUDGET;
use shadewright::rpu::{BLOCK, EmptyScene, ExecutionContext};
use shadewright::text::source::SourceMap;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Rays that are asked again and again: with what comes out they fit into the processor's caches.
const CACHED: usize = 4096;
/// Of so many rays one is taken where they run one by one.
const SPARSE: usize = 64;

/// Something that a core gets: its name there, and its type.
type Input = (&'static str, Type);
/// A parameter of a class, or its first component.
type Parameter = (&'static str, [f32; 3]);

/// A method of a class of `assets/rtsl`, and the same by hand.
pub trait Routine {
    /// The name in the paper's tables.
    const NAME: &'static str;
    /// The file and the class.
    const CLASS: (&'static str, &'static str);
    /// The method.
    const METHOD: Method;
    /// The inputs: a column for each component.
    const INPUTS: &'static [Input];
    /// How many numbers it gives, at most six.
    const OUTPUTS: usize;
    /// The parameters of the object.
    const PARAMETERS: &'static [Parameter];

    /// The same by hand.
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6];
}

/// Numbers of rays, an array for each.
type Columns = Vec<Vec<f32>>;

/// The inputs of `N` neighbors.
pub struct Row<'a, const N: usize> {
    columns: &'a [Vec<f32>],
    at: usize,
}

impl<const N: usize> Row<'_, N> {
    /// The numbers of a column.
    #[inline(always)]
    fn number(&self, column: usize) -> Wide<N> {
        let mut lanes = [0.0; N];
        lanes.copy_from_slice(&self.columns[column][self.at..self.at + N]);
        Wide(lanes)
    }

    /// The vectors of three columns.
    #[inline(always)]
    fn vector(&self, column: usize) -> Vector<N> {
        Vector([self.number(column), self.number(column + 1), self.number(column + 2)])
    }
}

/// The routine by hand, for all rays, a multiple of `N`, with AVX2 where the processor has it.
fn by_hand<R: Routine, const N: usize>(inputs: &Columns, outputs: &mut Columns) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which was looked up.
        return unsafe { by_hand_avx2::<R, N>(inputs, outputs) };
    }
    by_hand_here::<R, N>(inputs, outputs);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn by_hand_avx2<R: Routine, const N: usize>(inputs: &Columns, outputs: &mut Columns) {
    by_hand_here::<R, N>(inputs, outputs);
}

#[inline(always)]
fn by_hand_here<R: Routine, const N: usize>(inputs: &Columns, outputs: &mut Columns) {
    // The compiler must not know the parameters, as it does not where a scene gives them.
    let parameters = black_box(R::PARAMETERS);
    for at in (0..inputs[0].len()).step_by(N) {
        let results = R::compute(parameters, &Row::<N> { columns: inputs, at });
        for (column, result) in outputs.iter_mut().zip(results) {
            column[at..at + N].copy_from_slice(&result.0);
        }
    }
}

/// The inputs of a routine for an image of so many rays a side.
fn inputs<R: Routine>(side: usize) -> Columns {
    let components = |ty: Type| ty.words() as usize;
    let count = R::INPUTS.iter().map(|(_, ty)| components(*ty)).sum();
    let mut columns = vec![Vec::with_capacity(side * side); count];
    for i in 0..side * side {
        let [u, v] = [i % side, i / side].map(|k| (k as f32 + 0.5) / side as f32);
        let mut place = 0;
        for (name, ty) in R::INPUTS {
            let value = input(R::METHOD, name, u, v).to_array();
            for x in &value[..components(*ty)] {
                columns[place].push(*x);
                place += 1;
            }
        }
    }
    columns
}

/// The value of a method's input at a place in the image: a camera before a primitive, or a ball of
/// which a part is seen from within, under a light.
fn input(method: Method, name: &str, u: f32, v: f32) -> Vec3 {
    let direction = Vec3::new(0.8 * u - 0.4, 0.8 * v - 0.4, 1.0);
    match (name, method) {
        (input::RAY_ORIGIN, _) => Vec3::new(0.2, -0.1, -3.5),
        (input::RAY_DIRECTION, Method::Intersect) => direction.normalize(),
        (input::RAY_DIRECTION, _) => direction,
        (input::RAY_T_MIN, _) => Vec3::splat(1e-3),
        (input::RAY_T, Method::Intersect) => Vec3::splat(f32::MAX),
        (input::RAY_T, _) => Vec3::splat(3.0 + u),
        ("N" | "Ng", _) => {
            let [x, y] = [1.3 * u - 0.65, 1.3 * v - 0.65];
            let out = Vec3::new(x, y, -(1.0 - x * x - y * y).sqrt());
            if u + v < 0.7 { -out } else { out }
        }
        ("dPdu", _) => Vec3::new(0.8, 0.1, u),
        (input::LIGHT_DIRECTION, _) => Vec3::new(0.6, 0.5, -0.2 - 0.3 * u).normalize(),
        (input::SEED_X | input::SEED_Y, _) => Vec3::splat((97.13 * u + 31.7 * v).fract()),
        _ => Vec3::ZERO,
    }
}

/// A file of `assets/rtsl`.
fn unit(file: &str) -> anyhow::Result<(Unit, String)> {
    let path = repository("assets/rtsl").join(file);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut sources = SourceMap::new();
    let id = sources.add(file, Some(&path), text.as_str());
    let unit = rtsl::compile(&mut sources, id, &PreprocessOptions::default());
    Ok((unit.map_err(|errors| diagnostics(&errors, &sources))?, text))
}

/// Seconds that a million rays take.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// On the RPU, one ray a run.
    rpu_1: f64,
    /// On the RPU, 64 rays a run.
    rpu_64: f64,
    /// The same for rays of one origin, of primitives whose programs it parts.
    rpu_64_from_one: Option<f64>,
    /// By hand, one ray at a time.
    rust_1: f64,
    /// By hand, eight rays at a time.
    rust_8: f64,
}

/// A routine that was measured.
struct Measured {
    name: &'static str,
    streaming: Times,
    cached: Times,
}

impl Measured {
    fn new<R: Routine>(side: usize) -> anyhow::Result<Self> {
        let compiled = Compiled::new::<R>()?;
        let (data, stop) = (compiled.loaded.data(&compiled.memory), AtomicBool::new(false));
        let context = compiled.loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
        let all = inputs::<R>(side);
        // The cached rays are a band through the middle of the image.
        let count = CACHED.min(all[0].len());
        let begin = (all[0].len() - count) / 2 / BLOCK * BLOCK;
        let band: Columns = all.iter().map(|column| column[begin..begin + count].to_vec()).collect();
        let turns = all[0].len() / count;
        let streaming = times::<R>(&compiled, &context, &all, 1)?;
        let cached = times::<R>(&compiled, &context, &band, turns)?;
        Ok(Self { name: R::NAME, streaming, cached })
    }

    fn json(&self) -> Value {
        let of = |t: &Times| {
            json!({
                "rpu_1_s": rounded_finely(t.rpu_1),
                "rpu_64_s": rounded_finely(t.rpu_64),
                "rpu_64_one_origin_s": t.rpu_64_from_one.map(rounded_finely),
                "rust_1_s": rounded_finely(t.rust_1),
                "rust_8_s": rounded_finely(t.rust_8),
                "rpu_64_over_rpu_1": rounded(t.rpu_1 / t.rpu_64),
                "rpu_64_over_rust_1": rounded(t.rust_1 / t.rpu_64),
                "rpu_64_to_rust_8": rounded(t.rpu_64 / t.rust_8),
            })
        };
        json!({ "name": self.name, "streaming": of(&self.streaming), "cached": of(&self.cached) })
    }
}

fn rounded_finely(x: f64) -> Value {
    json!((x * 1e6).round() / 1e6)
}

/// The best of some runs of each, alternately.
fn times<R: Routine>(
    compiled: &Compiled,
    context: &ExecutionContext<'_>,
    rays: &Columns,
    turns: usize,
) -> anyhow::Result<Times> {
    let count = rays[0].len();
    let [mut sparse, mut rpu, mut parted, mut scalar, mut wide] = [(); 5].map(|()| vec![vec![0.0; count]; R::OUTPUTS]);
    let mut best = [f64::INFINITY; 5];
    for run in 0..=RUNS {
        let start = Instant::now();
        let mut single = 0;
        for _ in 0..turns {
            single += compiled.single(context, rays, &mut sparse)?;
        }
        let one = start.elapsed().as_secs_f64() / single as f64;
        let start = Instant::now();
        for _ in 0..turns {
            compiled.blocks(context, rays, &mut rpu)?;
        }
        let many = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..turns {
            if let Some(parts) = &compiled.parts {
                compiled.blocks_from_one(context, parts, rays, &mut parted)?;
            }
        }
        let from_one = start.elapsed().as_secs_f64();
        let start = Instant::now();
        (0..turns).for_each(|_| by_hand::<R, 1>(rays, &mut scalar));
        let hand_1 = start.elapsed().as_secs_f64();
        let start = Instant::now();
        (0..turns).for_each(|_| by_hand::<R, 8>(rays, &mut wide));
        let hand_8 = start.elapsed().as_secs_f64();
        if run > 0 {
            let all = (count * turns) as f64;
            let now = [one, many / all, from_one / all, hand_1 / all, hand_8 / all];
            best = std::array::from_fn(|i| best[i].min(now[i]));
        }
    }
    let from_one = compiled.parts.as_ref().and_then(|_| difference(&parted, &rpu, 1));
    if let Some(difference) = difference(&sparse, &rpu, SPARSE)
        .or(from_one)
        .or_else(|| difference(&scalar, &rpu, 1))
        .or_else(|| difference(&wide, &rpu, 1))
    {
        return Err(anyhow!("{}: {difference}", R::NAME));
    }
    let [rpu_1, rpu_64, from_one, rust_1, rust_8] = best.map(|s| s * 1e6);
    let rpu_64_from_one = compiled.parts.as_ref().map(|_| from_one);
    Ok(Times { rpu_1, rpu_64, rpu_64_from_one, rust_1, rust_8 })
}

/// The first of each `step`-th rays for which two ways give different bits.
fn difference(ours: &Columns, rpu: &Columns, step: usize) -> Option<String> {
    for (ours, rpu) in ours.iter().zip(rpu) {
        for (i, (a, b)) in ours.iter().zip(rpu).enumerate().step_by(step) {
            if a.to_bits() != b.to_bits() {
                return Some(format!("ray {i} gives {a} and on the RPU {b}"));
            }
        }
    }
    None
}

/// The three tables, of `side`² rays, for classes with `only` in their names; printed unless
/// `quiet`.
///
/// # Errors
/// When a class does not compile or run, or none has that name.
pub fn tables(only: Option<&str>, side: usize, quiet: bool) -> anyhow::Result<Value> {
    let side = side.next_multiple_of(8);
    let is_wanted = |name: &str| only.is_none_or(|part| name.contains(part));
    let mut tables: [Vec<Measured>; 2] = [Vec::new(), Vec::new()];
    macro_rules! measure {
        ($table:literal: $($routine:ty),*) => {$(
            if is_wanted(<$routine>::NAME) {
                tables[$table].push(Measured::new::<$routine>(side)?);
            }
        )*};
    }
    measure!(0: primitives::Sphere, primitives::BilinearPatch, primitives::SuperEllipsoid);
    measure!(1: materials::Glass, materials::Lambert, materials::Phong, materials::Velvet, materials::Ward);
    let lines = lines::count_classes(&is_wanted)?;
    if tables.iter().all(Vec::is_empty) && lines.is_empty() {
        return Err(anyhow!("no class has that in its name"));
    }
    let all = || tables.iter().flatten();
    let mean = |ratio: &dyn Fn(&Measured) -> f64| {
        let logs: Vec<f64> = all().map(|m| ratio(m).ln()).collect();
        (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
    };
    let means = [
        mean(&|m| m.streaming.rust_1 / m.streaming.rpu_64),
        mean(&|m| m.streaming.rpu_64 / m.streaming.rust_8),
        mean(&|m| m.cached.rpu_64 / m.cached.rust_8),
    ];
    if !quiet {
        for (title, table) in ["Primitives (table 2)", "Materials (table 3)"].iter().zip(&tables) {
            print_times(title, table);
        }
        let [lead, streaming, cached] = means;
        println!(
            "geometric means: {lead:.2} times as fast as one ray at a time in Rust; {streaming:.2} times the time of eight streaming, {cached:.2} from caches\n"
        );
        lines::print(&lines);
    }
    let [lead, streaming, cached] = means.map(rounded);
    Ok(json!({
        "rays": side * side,
        "primitives": tables[0].iter().map(Measured::json).collect::<Vec<_>>(),
        "materials": tables[1].iter().map(Measured::json).collect::<Vec<_>>(),
        "rpu_64_over_rust_1_mean": lead,
        "rpu_64_to_rust_8_mean": { "streaming": streaming, "cached": cached },
        "lines": lines.iter().map(lines::Lines::json).collect::<Vec<_>>(),
    }))
}

fn print_times(title: &str, table: &[Measured]) {
    if table.is_empty() {
        return;
    }
    println!(
        "{title:<22} {:>9} {:>9} {:>9} {:>9} {:>9} | {:>8} {:>8} {:>9} {:>9}",
        "RPU 1", "RPU 64", "1 origin", "Rust 1", "Rust 8", "to RPU 1", "Rust 1", "Rust 8", "cached"
    );
    for m in table {
        let Times { rpu_1, rpu_64, rpu_64_from_one, rust_1, rust_8 } = m.streaming;
        let from_one = rpu_64_from_one.map_or("-".to_string(), |s| format!("{s:.4}"));
        println!(
            "{:<22} {rpu_1:>9.4} {rpu_64:>9.4} {from_one:>9} {rust_1:>9.4} {rust_8:>9.4} | {:>7.1}x {:>7.2}x {:>8.2}x {:>8.2}x",
            m.name,
            rpu_1 / rpu_64,
            rust_1 / rpu_64,
            rust_8 / rpu_64,
            m.cached.rust_8 / m.cached.rpu_64,
        );
    }
    println!("(seconds per million rays, one thread; then the speed of 64 rays per run on the RPU, as a multiple)\n");
}

/// Checks that all ways to compute a routine give the same bits.
///
/// # Panics
/// When they do not, or the rays do not all take some branch.
#[allow(dead_code, reason = "`tests/meta/benchmarks.rs` calls it")]
pub fn assert_agreement<R: Routine>() {
    let compiled = Compiled::new::<R>().expect(R::NAME);
    let (data, stop) = (compiled.loaded.data(&compiled.memory), AtomicBool::new(false));
    let context = compiled.loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
    let rays = inputs::<R>(24);
    let [mut rpu, mut single, mut scalar, mut wide] = [(); 4].map(|()| vec![vec![0.0; 24 * 24]; R::OUTPUTS]);
    compiled.blocks(&context, &rays, &mut rpu).expect("it runs");
    assert_eq!(compiled.single(&context, &rays, &mut single).expect("it runs"), 24 * 24 / SPARSE);
    assert_eq!(compiled.parts.is_some(), R::METHOD == Method::Intersect, "{}", R::NAME);
    if let Some(parts) = &compiled.parts {
        let mut parted = vec![vec![0.0; 24 * 24]; R::OUTPUTS];
        compiled.blocks_from_one(&context, parts, &rays, &mut parted).expect("it runs");
        assert_eq!(difference(&parted, &rpu, 1), None, "{} from one origin", R::NAME);
    }
    by_hand::<R, 1>(&rays, &mut scalar);
    by_hand::<R, 8>(&rays, &mut wide);
    for (other, step) in [(&single, SPARSE), (&scalar, 1), (&wide, 1)] {
        assert_eq!(difference(other, &rpu, step), None, "{}", R::NAME);
    }
    // Hits and misses, lit and unlit points.
    let first = &rpu[R::OUTPUTS - 1];
    let nothing = first.iter().filter(|x| **x <= 0.0).count();
    let something = first.iter().filter(|x| **x > 0.0).count();
    assert!(something > 100 && (nothing > 10 || R::OUTPUTS == 6), "{}: {something}, {nothing}", R::NAME);
}
