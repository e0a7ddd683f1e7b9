//! A program of the RPU, in assembly or binary: one run with its registers shown, or a run for each
//! pixel of an image.

use super::{Output, registers};
use crate::cli::args::{RunArgs, RunOn, Size, TextureSource};
use crate::cli::backend;
use crate::cli::failure::Failure;
use shadewright::image::file as image_file;
use shadewright::render::rpu::{StandaloneError, StandaloneProgram};
use shadewright::rpu::engine::INTERPRETER;
use shadewright::rpu::isa::Program;
use shadewright::rpu::timed::Config;
use shadewright::rpu::{asm, binary};
use shadewright::scene::{self, OpenOptions};
use shadewright::text::diagnostics::Diagnostic;
use shadewright::text::source::{SourceMap, Span};
use std::path::Path;

/// How a program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Assembly.
    Text,
    /// Words.
    Binary,
}

impl Form {
    /// The form that a file name determines, if it is that of a program.
    pub fn from_path(path: &Path) -> Option<Form> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("rpuasm") => Some(Form::Text),
            Some("rpubin") => Some(Form::Binary),
            _ => None,
        }
    }
}

/// Largest file of a program or a memory image: 256 MiB, all code addresses of the binary form.
const MAX_BYTES: u64 = 256 << 20;

/// Runs an entry point and prints what it leaves in the registers, or writes an image.
pub(super) fn run(args: &RunArgs, path: &Path, form: Form, output: &mut Output) -> Result<(), Failure> {
    if !args.args.is_empty() {
        return Err(Failure::input(
            "error: a program of the RPU takes its arguments in registers: --set R0=1,2,3 instead of `1,2,3`",
        ));
    }
    if !matches!(args.on, RunOn::All | RunOn::Runner("rpu")) {
        return Err(Failure::input("error: a program of the RPU runs on the RPU alone; leave out --on"));
    }
    let engine = backend::available(args.engine)?;
    if args.timed && engine.is_some() {
        return Err(Failure::input(
            "error: --timed runs on the timing model, which has no choice of engines; remove --engine",
        ));
    }
    if args.texture.len() > MAX_TEXTURES {
        return Err(Failure::input(format!("error: there can be at most {MAX_TEXTURES} textures")));
    }
    let mut sources = SourceMap::new();
    let (program, spans) = read(path, form, &mut sources)?;
    let mut bare = StandaloneProgram::new(&program).map_err(|e| failure(&e, &spans, &sources))?;
    // The interpreter counts the instructions of a single run.
    if let Some(engine) = engine.or(args.image.is_none().then_some(&INTERPRETER)) {
        bare = bare.on_engine(engine).map_err(|e| failure(&e, &spans, &sources))?;
    }
    if let Some(memory) = &args.memory {
        bare.set_memory(memory_image(memory)?);
    }
    if let Some(path) = &args.scene {
        set_scene(&mut bare, path, &spans, &mut sources)?;
    }
    for texture in &args.texture {
        add_texture(&mut bare, texture, &|e| failure(&e, &spans, &sources))?;
    }
    for value in &args.set {
        value.words.iter().for_each(|&(component, bits)| bare.set(value.reg, component, bits));
    }
    let fail = |e: StandaloneError| failure(&e, &spans, &sources);
    let entry = bare.entry(&args.function).map_err(fail)?;
    let config = Config::default();
    if let (Some(size), Some(before)) = (args.image, &args.before) {
        let before = bare.entry(before).map_err(fail)?;
        bare.store_texels(before, size.0, size.1).map_err(fail)?;
    }
    if let (Some(size), Some(out)) = (args.image, &args.out) {
        let image = if args.timed {
            let simulation = bare.simulate(entry, [size.0, size.1], &config, &|_| {}).map_err(fail)?;
            output.times(&simulation.stats);
            simulation.image
        } else {
            bare.image(entry, size.0, size.1).map_err(fail)?
        };
        return Ok(image_file::write(out, &image)?);
    }
    if args.timed {
        let (blocks, stats) = bare.call_timed(entry, &config).map_err(fail)?;
        registers::print(&blocks, bare.constants(), args, output);
        output.times(&stats);
        return Ok(());
    }
    let (blocks, report) = bare.call(entry).map_err(fail)?;
    registers::print(&blocks, bare.constants(), args, output);
    let (rays, outside) = (report.rays, report.bad_loads.count_ones());
    match report.executed {
        0 => eprintln!("{rays} rays"),
        executed => eprintln!("{executed} instructions, {rays} rays"),
    }
    if outside > 0 {
        eprintln!("warning: the program loaded from outside of its memory, and got zeros");
    }
    Ok(())
}

/// Lets the program trace rays in the scene of a file.
pub fn set_scene(
    bare: &mut StandaloneProgram,
    path: &Path,
    spans: &[Span],
    sources: &mut SourceMap,
) -> Result<(), Failure> {
    let opened = scene::open(path, &OpenOptions::default(), sources);
    let opened = opened.map_err(|errors| Failure::diagnostics(&errors, sources))?;
    eprint!("{}", opened.diagnostics.render(sources));
    bare.set_scene(&opened.scene).map_err(|e| failure(&e, spans, sources))
}

/// Textures that an instruction can name.
const MAX_TEXTURES: usize = 256;

/// Adds a texture; its texels are linear colors with coverage in w.
fn add_texture(
    bare: &mut StandaloneProgram,
    source: &TextureSource,
    fail: &dyn Fn(StandaloneError) -> Failure,
) -> Result<(), Failure> {
    match source {
        TextureSource::Empty(Size(width, height)) => bare.add_texture(*width, *height, &[]).map_err(fail),
        TextureSource::File(path) => {
            let image = image_file::read(path)?;
            let texels: Vec<_> = image.rgba.iter().map(|texel| texel.map(f32::to_bits)).collect();
            bare.add_texture(image.width, image.height, &texels).map_err(fail)
        }
    }
}

/// The program of a file and where in the text each instruction stands, if there is a text.
pub fn read(path: &Path, form: Form, sources: &mut SourceMap) -> Result<(Program, Vec<Span>), Failure> {
    let bytes = scene::read_file(path, MAX_BYTES).map_err(|e| Failure::input(format!("error: {e}")))?;
    let name = path.display();
    match form {
        Form::Binary => {
            let program = binary::from_bytes(&bytes).map_err(|e| Failure::input(format!("error: {name}: {e}")))?;
            Ok((program, Vec::new()))
        }
        Form::Text => {
            let text = String::from_utf8(bytes)
                .map_err(|e| Failure::input(format!("error: {name} is not a text (UTF-8): {e}")))?;
            let file = sources.add(name.to_string(), Some(path), text.as_str());
            let assembly = asm::assemble(&text, file).map_err(|errors| Failure::diagnostics(&errors, sources))?;
            Ok((assembly.program, assembly.spans))
        }
    }
}

/// The vectors of a file of little-endian words.
fn memory_image(path: &Path) -> Result<Vec<[u32; 4]>, Failure> {
    let bytes = scene::read_file(path, MAX_BYTES).map_err(|e| Failure::input(format!("error: {e}")))?;
    let (vectors, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(Failure::input(format!(
            "error: {} has {} bytes, which is no whole number of vectors of 16 bytes",
            path.display(),
            bytes.len()
        )));
    }
    let word = |vector: &[u8; 16], i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| vector[4 * i + k]));
    Ok(vectors.iter().map(|v| [0, 1, 2, 3].map(|i| word(v, i))).collect())
}

/// The error, with the line of the instruction where there is one.
pub fn failure(error: &StandaloneError, spans: &[Span], sources: &SourceMap) -> Failure {
    match error.address().and_then(|pc| spans.get(pc as usize)) {
        Some(&span) => Failure::diagnostics(&Diagnostic::error(error.to_string()).at(span, "here").into(), sources),
        None => Failure::input(format!("error: {error}")),
    }
}
