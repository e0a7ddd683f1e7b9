//! Functions that the tests through the binary share; each test uses part of them.
#![allow(dead_code, reason = "every test file compiles this module for itself and uses part of it")]

#[cfg(unix)]
pub mod peak;
pub mod work;

use shadewright::abi::EntryPoint;

use shadewright::codegen::rpu;
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::ir::passes::Pipeline;
use shadewright::ir::{Const, FunctionKind};
use shadewright::lang::{self, rsl};
use shadewright::render::AdapterInfo;
use shadewright::render::call::{Evaluator, FunctionRunner, Rpu, TimedRpu, Words};
use shadewright::render::gpu;
use shadewright::rpu::timed::Config;
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Runs the program with arguments in a folder.
pub fn shadewright(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args(args)
        // Programs are compiled each time.
        .env("SHADEWRIGHT_CACHE", "")
        .current_dir(folder)
        .output()
        .expect("the program was built with the tests")
}

/// The text that a run wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The GPU adapter that the tests run on, which is the first one that wgpu finds.
///
/// # Panics
/// When there is none, or `SHADEWRIGHT_TEST_ADAPTER` is set and its name does not contain that
/// text.
pub fn adapter() -> &'static AdapterInfo {
    static FIRST: LazyLock<Option<AdapterInfo>> = LazyLock::new(|| gpu::adapters().into_iter().next());
    let adapter =
        FIRST.as_ref().expect("this test needs a GPU adapter; the software driver of Mesa (lavapipe) will do");
    if let Ok(wanted) = std::env::var("SHADEWRIGHT_TEST_ADAPTER") {
        assert!(adapter.name.contains(&wanted), "the adapter is {}, not {wanted}", adapter.name);
    }
    adapter
}

/// An image's pixels, as bits: what a record in a file names (its scene, its shaders) is left out.
#[track_caller]
pub fn pixels(path: &Path) -> Vec<[u32; 4]> {
    let image = shadewright::image::file::read(path).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    image.rgba.iter().map(|rgba| rgba.map(f32::to_bits)).collect()
}

/// The largest difference of any channel of any pixel, relative to the value of `expected` where
/// that is above 1. Channels with the same bits do not differ; NaN differs from everything else by
/// infinity.
///
/// # Panics
/// When the images have different sizes.
pub fn largest_difference(image: &Image, expected: &Image) -> f32 {
    assert_eq!((image.width, image.height), (expected.width, expected.height));
    let pairs = image.rgba.iter().flatten().zip(expected.rgba.iter().flatten());
    let difference = |(a, b): (&f32, &f32)| match a.to_bits() == b.to_bits() {
        true => 0.0,
        false => (a - b).abs() / b.abs().max(1.0),
    };
    pairs.map(difference).fold(0.0, |most, d| if d.is_nan() { f32::INFINITY } else { most.max(d) })
}

/// Renders a scene on the RPU and on the GPU, with more arguments for `shadewright compare`. Gives
/// the largest difference of the two images, which may be `bound` at most on a software driver. On
/// hardware, whose functions are less exact, the verdict of the program counts alone.
///
/// # Panics
/// When there is no adapter.
///
/// # Errors
/// The message of the program, when it fails or finds that the images differ, or by how much they
/// do.
pub fn compare_backends(folder: &Path, args: &[&str], bound: f32) -> Result<f32, String> {
    let adapter = adapter();
    let output = shadewright(folder, &[&["compare", "--images", "compared.exr"], args].concat());
    let said = stderr(&output);
    if !output.status.success() {
        return Err(format!("{}{said}", String::from_utf8_lossy(&output.stdout)));
    }
    assert!(said.contains(&adapter.name), "the program does not render on {}: {said}", adapter.name);
    let read = |backend: &str| image_file::read(&folder.join(format!("compared-{backend}.exr"))).expect("an image");
    let found = largest_difference(&read("gpu"), &read("rpu"));
    println!("{} on {}: {found:e}", args[0], adapter.name);
    match adapter.kind != "software" || found <= bound {
        true => Ok(found),
        false => Err(format!("{} on {} differs by {found:e}, more than {bound:e}", args[0], adapter.name)),
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The Stanford bunny, which stays outside the repository: `bunny.ply` in the folder that
/// `SHADEWRIGHT_MESHES` names, or in `../shared/meshes`.
///
/// # Panics
/// When it is not there, with a message that says where it was looked for.
pub fn bunny() -> PathBuf {
    let folder = std::env::var_os("SHADEWRIGHT_MESHES").map_or_else(|| repository("../shared/meshes"), PathBuf::from);
    let mesh = folder.join("bunny.ply");
    assert!(
        mesh.exists(),
        "this test needs the Stanford bunny as {} (34,834 vertices, 69,451 triangles); set SHADEWRIGHT_MESHES to its folder",
        mesh.display()
    );
    mesh.canonicalize().unwrap_or(mesh)
}

/// The cost of a function of the shading language on the RPU, and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Instructions of the function itself, without those that it calls.
    pub instructions: usize,
    /// Issue slots that the calls took together.
    pub issued: u64,
    /// Cycles until the last call was done, on one processor.
    pub cycles: u64,
    /// Issue slots of instructions that only copy to or from the stack.
    pub stack_moves: u64,
    /// Greatest part of the stack that a chunk pushed, in registers.
    pub stack_depth: u32,
    /// The words of each call's result: those of the evaluator, to the bit.
    pub results: Vec<Words>,
}

/// Compiles a text with a function `f` and calls it on the timed simulator, four calls to a chunk.
/// `without` names passes of the compiler, of the IR or of the back end, that are left out.
///
/// # Panics
/// When it does not compile or run, or a back end's results are not those that the evaluator gives
/// before any pass.
#[track_caller]
pub fn cost(source: &str, calls: &[Vec<Const>], without: &[&str]) -> Cost {
    cost_under(source, calls, without, rpu::Convention::Simple)
}

/// The same under a calling convention.
///
/// # Panics
/// As [`cost`].
#[track_caller]
pub fn cost_under(source: &str, calls: &[Vec<Const>], without: &[&str], convention: rpu::Convention) -> Cost {
    let mut sources = SourceMap::new();
    let file = sources.add("f.sl", None, source);
    let unit = rsl::compile(&mut sources, file, &lang::FrontEndOptions::default());
    let mut module = unit.unwrap_or_else(|d| panic!("{}", d.render(&sources))).module;
    module.function_mut("f").expect("a function `f`").kind = FunctionKind::Entry(EntryPoint::Other);
    let mut plain = module.clone();
    Pipeline::none().run(&mut plain, &mut ()).expect("the rules of the IR are kept");
    let expected = Evaluator.run(&plain, "f", calls).unwrap();
    let mut options = rpu::RpuOptions { convention, ..rpu::RpuOptions::default() };
    let of_the_ir: Vec<String> =
        without.iter().filter(|name| !options.passes.set(name, false)).map(|name| format!("-{name}")).collect();
    let pipeline = Pipeline::parse(&of_the_ir.join(",")).expect("the passes exist");
    pipeline.run(&mut module, &mut ()).expect("the passes keep the rules of the IR");
    let timed = TimedRpu { options: options.clone(), config: Config::default() };
    let (results, stats) = timed.run_with_stats(&module, "f", calls).unwrap();
    assert_eq!(results, expected, "{source}");
    assert_eq!(Rpu::default().run(&module, "f", calls).unwrap(), expected, "{source}");
    let program = rpu::compile(&module, &options).unwrap();
    let instructions = program.code_of("f").map_or(0, <[_]>::len);
    let slots = program.program.code.iter().zip(&stats.at);
    let stack_moves = slots.filter(|(i, _)| moves_the_stack(&i.to_string())).map(|(_, at)| at.issued).sum();
    Cost {
        instructions,
        issued: stats.issued,
        cycles: stats.cycles,
        stack_moves,
        stack_depth: stats.stack_depth,
        results,
    }
}

/// True if an instruction, as text, copies to or from the stack window `S0`–`S7`. Reciprocals
/// arrive in `S`, without a number.
fn moves_the_stack(instruction: &str) -> bool {
    let is_stack =
        |word: &str| word.strip_prefix('S').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    instruction.starts_with("mov ") && instruction.split([' ', ',', '-', '*']).any(is_stack)
}
