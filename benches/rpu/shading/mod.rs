//! Shading on the RPU against the same functions in plain Rust: nanoseconds per point, of one
//! thread.
//!
//! The functions are in `functions.sl`, and in [`plain`] in Rust for any number of lanes: one lane
//! is a scalar program, eight are arrays that the compiler vectorizes with AVX2. Both compute the
//! same bits, which is checked. Points come from arrays of a million (*streaming*), or from one
//! block of them repeatedly (*cached*). A texture of 256 × 256 texels lies in the memory image.

pub mod plain;

use super::common::{RUNS, rounded};
use anyhow::anyhow;
use plain::{Branchy, Memory, Noisy, Points, Shading, Textured};
use serde_json::{Map, Value, json};
use shadewright::abi::EntryPoint;
use shadewright::abi::frame::PROGRAM_CONSTANTS;
use shadewright::image::{Channels, Image};
use shadewright::ir::FunctionKind;
use shadewright::ir::passes::Pipeline;
use shadewright::lang::FrontEndOptions;
use shadewright::lang::rsl::compile;
use shadewright::program::find_texture_function;
use shadewright::program::textures::{Texture, Textures};
use shadewright::render::call::CALL_BUDGET;
use shadewright::render::rpu::{Entry, Loaded};
use shadewright::rpu::{BLOCK, Block, EmptyScene, ExecutionContext};
use shadewright::text::source::SourceMap;
use shadewright::texture::{DEFAULT_WRAPS, Pyramid};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Width of the grid of points; there are as many rows.
pub const SIDE: usize = 1024;
/// Points of the cached case: positions and colors fit into the caches of the CPU.
const CACHED: usize = 4096;

/// Width and height of the texture in texels: 1.4 MB with all levels.
const TEXTURE_SIDE: u32 = 256;
/// The name of the texture in `functions.sl`.
const TEXTURE: &str = "image";

/// Nanoseconds per point of each function, and the ratios of the RPU to eight lanes of Rust.
///
/// # Errors
/// When a function does not compile or run.
pub fn points(side: usize) -> anyhow::Result<Value> {
    let memory = memory();
    Ok(json!({
        Noisy::NAME: measured::<Noisy>(&memory, side)?,
        Branchy::NAME: measured::<Branchy>(&memory, side)?,
        Textured::NAME: measured::<Textured>(&memory, side)?,
    }))
}

fn measured<S: Shading>(memory: &Memory, side: usize) -> anyhow::Result<Value> {
    let function = Compiled::new(S::NAME)?;
    let (data, stop) = (function.loaded.data(&memory.image), AtomicBool::new(false));
    let context = function.loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
    let all = Points::grid(side);
    let mut results = Map::new();
    // The cached points are a band through the middle of the grid, where all branches are taken.
    let cached = all.part((all.len() - CACHED) / 2, CACHED);
    for (case, points, turns) in [("cached", &cached, all.len() / CACHED), ("streaming", &all, 1)] {
        let [mut rpu, mut scalar, mut wide] = [(); 3].map(|()| Points::black(points.len()));
        let mut best = [f64::INFINITY; 3];
        for run in 0..=RUNS {
            let times = [
                seconds(turns, || function.shade(&context, points, &mut rpu))?,
                seconds(turns, || {
                    plain::shade::<S, 1>(memory, points, &mut scalar);
                    Ok(())
                })?,
                seconds(turns, || {
                    plain::shade::<S, 8>(memory, points, &mut wide);
                    Ok(())
                })?,
            ];
            if run > 0 {
                best = std::array::from_fn(|i| best[i].min(times[i]));
            }
        }
        if rpu.bits() != scalar.bits() || rpu.bits() != wide.bits() {
            return Err(anyhow!("`{}` gives other colors in Rust than on the RPU", S::NAME));
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

/// Seconds of so many iterations.
fn seconds(turns: usize, mut run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let start = Instant::now();
    (0..turns).try_for_each(|_| run())?;
    Ok(start.elapsed().as_secs_f64())
}

/// The texture's name and content, which repeats.
fn texture() -> Textures {
    let texel = |i: u32| [(i % 251) as f32 / 250.0, (i % 13) as f32 / 12.0, (i / 7 % 17) as f32 / 16.0, 1.0];
    let rgba = (0..TEXTURE_SIDE * TEXTURE_SIDE).map(texel).collect();
    let image = Image { width: TEXTURE_SIDE, height: TEXTURE_SIDE, rgba, channels: Channels::Rgb };
    let image = Texture::Image { pyramid: Arc::new(Pyramid::new(image)), wraps: DEFAULT_WRAPS };
    Textures::new([(Arc::from(TEXTURE), Some(image))])
}

/// A memory image with the texture.
pub fn memory() -> Memory {
    let (textures, mut image) = (texture(), vec![[0; 4]]);
    textures.push_table(&mut image);
    let texture = image.len() as u32;
    textures.push_images(&mut image);
    Memory { image, texture }
}

/// A function on the RPU.
struct Compiled {
    loaded: Loaded,
    entry: Entry,
}

impl Compiled {
    fn new(name: &'static str) -> anyhow::Result<Self> {
        let mut sources = SourceMap::new();
        let file = sources.add("functions.sl", None, include_str!("functions.sl"));
        let unit =
            compile(&mut sources, file, &FrontEndOptions::default()).map_err(|d| anyhow!("{}", d.render(&sources)))?;
        let mut module = unit.module;
        module.functions.push(find_texture_function(&texture()));
        for function in &mut module.functions {
            if &*function.name == name {
                function.kind = FunctionKind::Entry(EntryPoint::Other);
            }
        }
        Pipeline::default().run(&mut module, &mut ()).map_err(|e| anyhow!("{e}"))?;
        let loaded = Loaded::new(&module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0).map_err(|e| anyhow!("{e}"))?;
        let entry = loaded.entry(name).map_err(|e| anyhow!("{e}"))?;
        Ok(Self { loaded, entry })
    }

    /// Shades points, a block of threads at a time.
    fn shade(&self, context: &ExecutionContext<'_>, points: &Points, colors: &mut Points) -> anyhow::Result<()> {
        let mut block = Block::new();
        for at in (0..points.len()).step_by(BLOCK) {
            block.start_lanes(u64::MAX);
            for (axis, &(reg, component)) in self.entry.params.iter().enumerate() {
                block.write_floats(reg, component, points.block(axis, at));
            }
            context.run(&mut block, self.entry.address, u64::MAX).map_err(|e| anyhow!("{e}"))?;
            for (axis, &(reg, component)) in self.entry.results.iter().enumerate() {
                *colors.block_mut(axis, at) = block.read_floats(reg, component);
            }
        }
        Ok(())
    }
}

/// Checks that a function in plain Rust computes the bits of the RPU.
///
/// # Panics
/// When it does not, or all points have the same color.
#[allow(dead_code, reason = "`tests/meta/benchmarks.rs` calls it")]
pub fn assert_agreement<S: Shading>(memory: &Memory) {
    let function = Compiled::new(S::NAME).expect("it compiles");
    let (data, stop) = (function.loaded.data(&memory.image), AtomicBool::new(false));
    let context = function.loaded.execution_context(&data, &EmptyScene, CALL_BUDGET, &stop);
    let points = Points::grid(16);
    let [mut rpu, mut scalar, mut wide] = [(); 3].map(|()| Points::black(points.len()));
    function.shade(&context, &points, &mut rpu).expect("it runs");
    plain::shade::<S, 1>(memory, &points, &mut scalar);
    plain::shade::<S, 8>(memory, &points, &mut wide);
    assert_eq!(rpu.bits(), scalar.bits(), "{}, one lane", S::NAME);
    assert_eq!(rpu.bits(), wide.bits(), "{}, eight lanes", S::NAME);
    let first = rpu.bits()[0];
    assert!(rpu.bits().iter().any(|c| *c != first), "all points of {} have the same color", S::NAME);
}
