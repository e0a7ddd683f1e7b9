//! The fuzz targets. The regression test (`tests/meta/fuzz_corpus.rs`) runs them on the inputs of
//! `corpus`.
//!
//! Each function takes untrusted bytes, and panics if a property does not hold.

#![allow(dead_code, reason = "every fuzz target uses one of these functions")]

use shadewright::image::{self, Reading};
use shadewright::ir::verify;
use shadewright::lang::{self, registry, rtsl};
use shadewright::lsp;
use shadewright::pointcloud::samples::Samples;
use shadewright::pointcloud::{PointCloud, tree};
use shadewright::render::checkpoint;
use shadewright::render::film::Film;
use shadewright::render::part::{Content, PartFile};
use shadewright::render::record::Subject;
use shadewright::rpu::agreement::{self, Agreement};
use shadewright::rpu::isa::{Component, Program, Reg};
use shadewright::rpu::random::{self, Choices};
use shadewright::rpu::timed::{self, CHUNK, Chunk, Config, Source, Timing};
use shadewright::rpu::{Block, EmptyScene, Executable, ExecutionContext, Limits, Texture, asm, binary, disasm};
use shadewright::scene::{OpenOptions, open_bytes};
use shadewright::text::source::{FileId, SourceMap};
use shadewright::texture::{DepthMap, Pyramid};
use std::io::Cursor;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

#[path = "../src/cli/args/values.rs"]
mod values;

/// Length of the longest input that the targets accept, in bytes.
const MAX_INPUT: usize = 1 << 14;

/// Limits of a run, low enough for thousands of runs per second.
const LIMITS: Limits = Limits { budget: 64, call_depth: 32, scratch: 64 };

/// A text assembles to a program that round-trips through the disassembler and the binary form, or
/// has errors with spans inside the text.
pub fn assembler(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if text.len() > MAX_INPUT {
        return;
    }
    match asm::assemble(text, FileId(0)) {
        Ok(assembly) => {
            let program = assembly.program;
            let printed = disasm::disassemble(&program);
            let again = asm::assemble(&printed, FileId(0)).unwrap_or_else(|errors| panic!("{printed}\n{errors:?}"));
            assert_eq!(again.program.code, program.code, "{printed}");
            let words = binary::encode(&program).expect("an assembled program is valid");
            assert_eq!(binary::decode(&words).expect("decodes"), program);
        }
        Err(errors) => {
            for label in errors.iter().flat_map(|error| &error.labels) {
                assert!(text.get(label.span.start as usize..label.span.end as usize).is_some(), "{label:?}");
            }
        }
    }
}

/// Words are refused, or round-trip through their program.
pub fn decoder(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    if let Ok(program) = binary::from_bytes(data) {
        assert_eq!(binary::to_bytes(&program).expect("a decoded program is valid"), data);
        disasm::disassemble(&program);
    }
}

/// A scene, as text or as binary RIB, is read strictly without errors, leniently at two times, or
/// has errors that can be rendered with their source.
pub fn rib(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    for (time, strict) in [(0.0, true), (0.0, false), (0.5, false)] {
        let mut sources = SourceMap::new();
        let options = OpenOptions { time, strict, ..OpenOptions::default() };
        match open_bytes("fuzz.rib", data.to_vec(), &options, &mut sources) {
            Ok(opened) => {
                assert!(!strict || !opened.diagnostics.has_errors());
                opened.diagnostics.render(&sources);
            }
            Err(errors) => {
                assert!(errors.has_errors());
                errors.render(&sources);
            }
        }
    }
}

/// A file of a language whose files define shaders, decoded as Latin-1, compiles to a module that
/// the verifier accepts, or has errors that can be rendered with their source.
fn front_end(data: &[u8], name: &str) {
    if data.len() > MAX_INPUT {
        return;
    }
    let text: String = data.iter().map(|byte| char::from(*byte)).collect();
    let mut sources = SourceMap::new();
    let file = sources.add(name, None, text);
    let language = registry::for_path(Path::new(name)).expect("a language");
    match language.compile(&mut sources, file, &lang::FrontEndOptions::default()) {
        Ok(unit) => {
            let lang::Unit::Shaders(shaders) = &unit else { panic!("a file of shaders") };
            verify(&shaders.module).expect("the verifier accepts the front end's output");
            unit.warnings().render(&sources);
        }
        Err(errors) => {
            assert!(errors.has_errors());
            errors.render(&sources);
        }
    }
}

/// A shader file in RSL: see [`front_end`].
pub fn shaders(data: &[u8]) {
    front_end(data, "fuzz.sl");
}

/// A shader file in pfman: see [`front_end`].
pub fn pfman(data: &[u8]) {
    front_end(data, "fuzz.pfman");
}

/// A circuit in Silicon, decoded as Latin-1, compiles to a graph that the verifier accepts and that is
/// simulated for some cycles, or has errors that can be rendered with their source.
pub fn silicon(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    let text: String = data.iter().map(|byte| char::from(*byte)).collect();
    shadewright::silicon::language::fuzz(&text);
}

/// An RTSL file, decoded as Latin-1, compiles, as does each method of its classes, to modules that
/// the verifier accepts, or has errors that can be rendered with their source.
pub fn classes(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    let text: String = data.iter().map(|byte| char::from(*byte)).collect();
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.rtsl", None, text);
    let unit = match rtsl::compile(&mut sources, file, &lang::preprocess::PreprocessOptions::default()) {
        Ok(unit) => unit,
        Err(errors) => {
            assert!(errors.has_errors());
            errors.render(&sources);
            return;
        }
    };
    for (class, info) in unit.file.classes.iter().enumerate() {
        let object = rtsl::Object::alone(&unit.file, class);
        for method in info.interfaces.iter().flat_map(|interface| interface.methods()) {
            match rtsl::build(&object, method, &unit.library, "core") {
                Ok(built) => verify(&built.module).expect("the verifier accepts the front end's output"),
                Err(errors) => assert!(errors.has_errors()),
            }
        }
    }
}

/// A program, as words or as assembly, else one that the bytes choose, leaves the same bits on every engine with every
/// instruction set, or breaks a rule on all; and on the timing model, where all finish.
pub fn engines(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    let assembled = || Some(asm::assemble(std::str::from_utf8(data).ok()?, FileId(0)).ok()?.program);
    let given = binary::from_bytes(data).ok().or_else(assembled);
    let is_given = given.is_some();
    let program = given.unwrap_or_else(|| random::program(&mut Choices::from_bytes(data)));
    let Ok(executable) = Executable::new(&program) else { return };
    let seed = data.iter().fold(0, |seed: u32, byte| seed.rotate_left(5).wrapping_mul(0x9e37_79b9) ^ u32::from(*byte));
    if let Agreement::None(difference) = agreement::compare_engines(&program, u64::MAX, seed) {
        panic!("seed {seed}: {difference}\n{}", disasm::disassemble(&program));
    }
    if !is_given {
        return;
    }
    let functional = run_functional(&executable);
    let timed = run_timed(&program, &executable);
    if let (Some(functional), Some(timed)) = (functional, timed) {
        assert_eq!(functional, timed, "{}", disasm::disassemble(&program));
    }
}

/// An image is refused, or becomes a mip map; so does a shadow map.
pub fn images(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    if let Ok(image) = image::decode(data, Reading::Color) {
        let pixels = image.rgba.len();
        assert_eq!(pixels as u64, u64::from(image.width) * u64::from(image.height));
        // Larger images only take longer.
        if pixels <= 1 << 16 {
            let pyramid = Pyramid::new(image);
            assert!(pyramid.levels.iter().flat_map(|l| &l.texels).flatten().all(|x| x.is_finite()));
        }
    }
    if let Ok(part) = PartFile::decode(&mut Cursor::new(data)) {
        let window = part.record.window();
        if let Content::Means { rgba, .. } = part.content {
            assert_eq!(rgba.len(), window.width as usize * window.height as usize);
        }
    }
    if let Ok(map) = DepthMap::decode(data) {
        assert!(map.depths.iter().all(|z| *z >= 0.0));
    }
}

/// A point cloud is refused, or has finite points that look-ups can order and that joining and
/// thinning keep whole; so do the samples of a texture, whose text gives them back.
pub fn pointcloud(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    if let Ok(mut cloud) = PointCloud::decode(data) {
        let count = cloud.points.len();
        assert_eq!(cloud.values.len(), count * cloud.stride());
        let places: Vec<[f32; 3]> = cloud.points.iter().map(|p| p.position).collect();
        assert!(places.iter().flatten().chain(&cloud.values).all(|x| x.is_finite()));
        let mut ordered: Vec<u32> = tree::order(&places).iter().map(|node| node.0).collect();
        ordered.sort_unstable();
        assert!(ordered.into_iter().eq(0..count as u32));
        assert_eq!(cloud.thinned(3).points.len(), count.div_ceil(3));
        cloud.append(&cloud.clone());
        assert_eq!((cloud.points.len(), cloud.values.len()), (2 * count, 2 * count * cloud.stride()));
    }
    if let Ok(samples) = Samples::decode(data) {
        assert_eq!(Samples::decode(samples.encode().as_bytes()).as_ref(), Ok(&samples));
        let side = samples.side();
        assert_eq!(samples.image(side).rgba.len(), side as usize * side as usize);
    }
}

/// A stream gives messages and refusals to its end, whatever is in it.
pub fn transport(data: &[u8]) {
    if data.len() > MAX_INPUT {
        return;
    }
    let (connection, threads) = lsp::connect(Cursor::new(data.to_vec()), std::io::sink());
    drop(connection.sender);
    // No message is longer than what it was read from.
    assert!(connection.receiver.iter().count() <= data.len());
    threads.join().expect("memory can be read and written");
}

/// Bytes are refused as a checkpoint of an image, or fill its film.
pub fn checkpoints(data: &[u8]) {
    let mut film = Film::new(3, 2).expect("a small film");
    if checkpoint::from_bytes(data, Subject::default(), &mut film).is_ok() {
        assert_eq!(data.len() as u64, checkpoint::bytes_of(&film));
    }
}

/// A text is refused as a value of an option, or is one.
pub fn values(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    fn parse<T: FromStr>(text: &str) {
        let _ = T::from_str(text);
    }
    parse::<values::Between>(text);
    parse::<values::Size>(text);
    parse::<values::Crop>(text);
    parse::<values::Frames>(text);
    parse::<values::Pixel>(text);
    parse::<values::TextureSource>(text);
    parse::<values::RegisterValue>(text);
    let _ = values::not_negative::<f32>(text);
    let _ = values::positive(text);
}

/// The bit patterns of `R0` to `R15` of four threads.
type Registers = Vec<u32>;

fn with_context<T>(executable: &Executable, work: impl FnOnce(&ExecutionContext<'_>) -> T) -> T {
    let stop = AtomicBool::new(false);
    work(&ExecutionContext {
        program: executable,
        constants: &[[0x3f00_0000; 4]; 32],
        memory: &[[1, 0x4000_0000, 0xbf80_0000, 5]; 16],
        textures: &[Texture { base: 4, width: 3, height: 3 }],
        shaders: &[0],
        tracer: &EmptyScene,
        limits: LIMITS,
        stop: &stop,
    })
}

fn general(get: impl Fn(Reg, Component, usize) -> u32) -> Registers {
    let components = |n| Component::ALL.map(move |c| (Reg::R(n), c));
    (0..CHUNK)
        .flat_map(|thread| (0..16).flat_map(components).map(move |at| (at, thread)))
        .map(|((r, c), t)| get(r, c, t))
        .collect()
}

fn run_functional(executable: &Executable) -> Option<Registers> {
    with_context(executable, |context| {
        let mut block = Block::new();
        for thread in 0..CHUNK {
            block.set(Reg::R(1), Component::X, thread, (thread as f32).to_bits());
        }
        context.run(&mut block, 0, (1 << CHUNK) - 1).ok()?;
        Some(general(|reg, component, thread| block.get(reg, component, thread)))
    })
}

fn run_timed(program: &Program, executable: &Executable) -> Option<Registers> {
    with_context(executable, |context| {
        let timing = Timing::new(program, &Config::default());
        let mut source = OneChunk::default();
        timed::run(context, &timing, 0, &mut source).ok()?;
        source.registers
    })
}

/// One chunk of threads, and its final registers.
#[derive(Default)]
struct OneChunk {
    started: bool,
    registers: Option<Registers>,
}

impl Source for OneChunk {
    fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8> {
        if std::mem::replace(&mut self.started, true) {
            return None;
        }
        for thread in 0..CHUNK {
            chunk.set(Reg::R(1), Component::X, thread, (thread as f32).to_bits());
        }
        Some((1 << CHUNK) - 1)
    }

    fn finish(&mut self, _: u64, chunk: &Chunk<'_>, _: [u64; CHUNK]) {
        self.registers = Some(general(|reg, component, thread| chunk.get(reg, component, thread)));
    }
}
