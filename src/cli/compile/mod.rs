//! `shadewright compile FILE`: what a shader becomes. Of a folder, [`folder`] reports how much
//! compiles.

pub mod folder;
mod generated;
mod lanes;
mod memory;
mod packets;
mod specialized;

use super::args::{CompileArgs, Emit};
use super::backend::{pipeline, rpu_passes};
use super::failure::Failure;
use super::kernels;
use super::run::program::{Form, read};
use generated::Generated;
use shadewright::abi::{self, EntryPoint, Intrinsic, library, specialization_suffix};
use shadewright::codegen::{self, rpu};
use shadewright::image::file as image_file;
use shadewright::ir::passes::{Observer, Pass, Pipeline, Report, sections};
use shadewright::ir::{Function, FunctionKind, FunctionOrigin, Module, Op};
use shadewright::lang::preprocess::{PreprocessOptions, define};
use shadewright::lang::unit::{CoreShader, LightKind};
use shadewright::lang::{FrontEndOptions, Language, Unit, registry, stdlib};
use shadewright::program::{IMAGER_ENTRY, LinkOptions, choose_math, link, read_shader, stand_alone, surface_entry};
use shadewright::project::{self, Outcome, Project};
use shadewright::rpu::isa::Program;
use shadewright::rpu::link::{self as linker, Input};
use shadewright::rpu::{binary, disasm};
use shadewright::scene;
use shadewright::text::source::{FileId, SourceMap};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compiles the file as far as asked and prints the outcome.
pub fn run(args: &CompileArgs) -> Result<(), Failure> {
    if args.file.is_dir() {
        return folder::run(args);
    }
    if args.json {
        return Err(Failure::input("error: --json is for folders; --emit says what is printed of a file"));
    }
    if let Some(generated) = Generated::from_path(&args.file) {
        return write(args, generated.emit(args.emit)?.into_bytes());
    }
    let of_programs = matches!(args.emit, Emit::Rpu | Emit::Rpubin | Emit::Asm);
    if !of_programs && (!args.more.is_empty() || Form::from_path(&args.file).is_some()) {
        return Err(Failure::input("error: programs of the RPU are linked: add --emit rpu or --emit rpubin"));
    }
    let output = match args.emit {
        Emit::Ast => ast(args)?.into_bytes(),
        Emit::Types => types(args)?.into_bytes(),
        Emit::Ir => ir(args)?.into_bytes(),
        Emit::Report => report(args)?.into_bytes(),
        Emit::Sections => sections(args)?.into_bytes(),
        Emit::Uniformity => lanes::uniformity(args)?.into_bytes(),
        Emit::Vector => lanes::vector(args)?.into_bytes(),
        Emit::Rpu => disasm::disassemble(&joined(args)?).into_bytes(),
        Emit::Asm => return native(args),
        Emit::Rpubin => binary::to_bytes(&joined(args)?).map_err(|e| Failure::input(format!("error: {e}")))?,
        Emit::Memory => memory::memory(args)?.into_bytes(),
        Emit::Wgsl => kernels_of(args, kernels::as_wgsl)?.into_bytes(),
        Emit::Spirv => kernels_of(args, kernels::as_spirv)?,
    };
    write(args, output)
}

/// Writes what was asked for to the file of `--out`, or prints it.
fn write(args: &CompileArgs, output: Vec<u8>) -> Result<(), Failure> {
    let is_text = !matches!(args.emit, Emit::Rpubin | Emit::Spirv);
    match &args.out {
        Some(path) => Ok(image_file::write_bytes(path, &output)?),
        None if is_text => {
            print!("{}", String::from_utf8_lossy(&output));
            Ok(())
        }
        None => Err(Failure::input("error: this form is binary: name a file with --out FILE")),
    }
}

/// Writes the code that the RPU's native engine makes of the program on this CPU: with the lines of
/// the source, where it is compiled from one file.
#[cfg(target_arch = "x86_64")]
fn native(args: &CompileArgs) -> Result<(), Failure> {
    use shadewright::rpu::native::{ListingError, write_listing};
    let compiled =
        if args.more.is_empty() && Form::from_path(&args.file).is_none() { Some(rpu_program(args)?) } else { None };
    let program = compiled.as_ref().map_or_else(|| joined(args), |compiled| Ok(compiled.object()))?;
    let source = |address| compiled.as_ref()?.source_line(address);
    // Line by line: there may be more than memory holds.
    let listing = |write: &mut dyn FnMut(&str)| write_listing(&program, source, write);
    let refused = |e: ListingError| Failure::input(format!("error: {e}"));
    let Some(path) = &args.out else {
        let mut text = String::new();
        listing(&mut |line| {
            let _ = writeln!(text, "{line}");
            if text.len() >= PRINTED_AT_ONCE {
                print!("{text}");
                text.clear();
            }
        })
        .map_err(refused)?;
        print!("{text}");
        return Ok(());
    };
    let mut result = Ok(());
    let written = image_file::write_with(path, |out| {
        let mut written = Ok(());
        result = listing(&mut |line| {
            if written.is_ok() {
                written = writeln!(out, "{line}");
            }
        });
        // Without a listing nothing is left behind.
        result.clone().map_err(io::Error::other).and(written)
    });
    result.map_err(refused)?;
    Ok(written?)
}

/// Bytes of text that are printed at once.
#[cfg(target_arch = "x86_64")]
const PRINTED_AT_ONCE: usize = 1 << 16;

#[cfg(not(target_arch = "x86_64"))]
fn native(_: &CompileArgs) -> Result<(), Failure> {
    Err(Failure::input("error: there is no translator to native code for this CPU"))
}

/// Reads the file, or the built-in shader of that name.
fn open(path: &Path, sources: &mut SourceMap) -> Result<FileId, Failure> {
    let name = path.to_string_lossy();
    let file = registry::DEFAULT.file_name(&name);
    let built_in = || registry::DEFAULT.built_in(&file).or_else(|| scene::builtin::shader(&name));
    if !path.exists()
        && let Some(text) = built_in()
    {
        return Ok(sources.add(format!("<built-in {file}>"), None, text));
    }
    match read_shader(path) {
        Ok(text) => Ok(sources.add(name, Some(path), text)),
        Err(error) => {
            let known: Vec<_> = stdlib::shader_names().collect();
            let hint = format!("\nhint: built-in shaders are: {}", known.join(", "));
            let hint = if path.exists() { String::new() } else { hint };
            Err(Failure::input(format!("error: {error}{hint}")))
        }
    }
}

fn language_options(args: &CompileArgs) -> FrontEndOptions {
    let preprocess = PreprocessOptions {
        include_paths: args.preprocess.include.clone(),
        defines: args.preprocess.define.iter().map(|d| define(d)).collect(),
        ..Default::default()
    };
    FrontEndOptions { preprocess, ..FrontEndOptions::default() }
}

/// A compiled file.
struct Compiled {
    /// The functions of the file.
    module: Module,
    /// The shaders of the file, each of which a back end is given as an entry; none of a file of
    /// functions.
    shaders: Vec<CoreShader>,
    /// The sources, of which the file is the first.
    sources: SourceMap,
}

/// The language of the file, by its name.
fn language(args: &CompileArgs) -> &'static dyn Language {
    registry::for_path(&args.file).unwrap_or(registry::DEFAULT)
}

/// Compiles a file of any language to its cores.
fn compiled(args: &CompileArgs) -> Result<Compiled, Failure> {
    let (unit, mut sources) = compile(args)?;
    let name = args.file.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    let cores = match unit.into_cores(&name) {
        Ok(cores) => cores,
        Err(errors) => return Err(Failure::diagnostics(&errors, &sources)),
    };
    let mut module = cores.module;
    match choose_math(&mut module, args.math.math, &mut sources) {
        Ok(()) => Ok(Compiled { module, shaders: cores.shaders, sources }),
        Err(errors) => Err(Failure::diagnostics(&errors, &sources)),
    }
}

/// The compiled file, with its sources, of which it is the first.
fn compile(args: &CompileArgs) -> Result<(Unit, SourceMap), Failure> {
    let mut sources = SourceMap::new();
    let file = open(&args.file, &mut sources)?;
    match language(args).compile(&mut sources, file, &language_options(args)) {
        Ok(unit) => {
            eprint!("{}", unit.warnings().render(&sources));
            Ok((unit, sources))
        }
        Err(errors) => Err(Failure::diagnostics(&errors, &sources)),
    }
}

fn ast(args: &CompileArgs) -> Result<String, Failure> {
    let mut sources = SourceMap::new();
    let file = open(&args.file, &mut sources)?;
    let dump = language(args).dump(&mut sources, file, &language_options(args));
    dump.map_err(|errors| Failure::diagnostics(&errors, &sources))
}

/// The types of intermediate results.
fn types(args: &CompileArgs) -> Result<String, Failure> {
    let mut sources = SourceMap::new();
    let file = open(&args.file, &mut sources)?;
    let language = language(args);
    match language.types(&mut sources, file, &language_options(args)) {
        Some(listing) => listing.map_err(|errors| Failure::diagnostics(&errors, &sources)),
        None => {
            let name = language.name();
            Err(Failure::input(format!(
                "error: --emit types is for languages with fixed-point numbers; {name} has none"
            )))
        }
    }
}

/// Prints the module around one pass, or all.
struct Show<'a> {
    pass: Option<&'a str>,
    text: String,
}

impl Show<'_> {
    fn note(&mut self, when: &str, pass: &Pass, round: usize, module: &Module) {
        if self.pass.is_some_and(|p| p == "all" || p == pass.name) {
            let _ = write!(self.text, "; {when} {} (round {})\n{module}\n", pass.name, round + 1);
        }
    }
}

impl Observer for Show<'_> {
    fn before(&mut self, pass: &Pass, round: usize, module: &Module) {
        self.note("before", pass, round, module);
    }

    fn after(&mut self, pass: &Pass, round: usize, module: &Module, changes: usize) {
        if changes > 0 {
            self.note("after", pass, round, module);
        }
    }
}

/// The module after the passes; `before` looks at it as it was compiled.
fn optimized(args: &CompileArgs, before: impl FnOnce(&Module)) -> Result<(Module, Report, String), Failure> {
    let pipeline = pipeline(args.passes.as_deref())?;
    if let Some(pass) = args.show.as_deref().filter(|p| *p != "all") {
        super::backend::pipeline(Some(pass))?;
    }
    let mut module = compiled(args)?.module;
    before(&module);
    let mut show = Show { pass: args.show.as_deref(), text: String::new() };
    let report = pipeline.run(&mut module, &mut show).map_err(|e| Failure::input(format!("internal error: {e}")))?;
    Ok((module, report, show.text))
}

fn ir(args: &CompileArgs) -> Result<String, Failure> {
    if args.show.is_none() && (args.specialize.is_some() || is_scene(&args.file)) {
        return specialized::ir(args);
    }
    let (module, _, shown) = optimized(args, |_| {})?;
    Ok(if args.show.is_some() { shown } else { module.to_string() })
}

fn report(args: &CompileArgs) -> Result<String, Failure> {
    if args.specialize.is_some() || is_scene(&args.file) {
        return specialized::report(args);
    }
    let mut packets = String::new();
    let (module, report, _) = optimized(args, |module| packets = packets::table(module))?;
    let mut text = format!("{:<10} {:>6} {:>9} {:>10}\n", "pass", "runs", "changes", "time (us)");
    for p in &report.passes {
        let _ = writeln!(text, "{:<10} {:>6} {:>9} {:>10}", p.name, p.runs, p.changes, p.time.as_micros());
    }
    for f in &module.functions {
        let _ = writeln!(text, "{:<40} {:>6} instructions, {} blocks", f.name, f.inst_count(), f.blocks.len());
    }
    Ok(text + &packets)
}

/// Links the module for a back end: the shaders of the file as a scene's entries, each lit by the
/// lights that a bare mesh gets, and lights as functions of the point that they light; a file of
/// functions as it is.
fn linked(args: &CompileArgs) -> Result<(Module, SourceMap), Failure> {
    if is_scene(&args.file) {
        return linked_scene(args);
    }
    let Compiled { module, shaders, sources } = compiled(args)?;
    let pipeline = pipeline(args.passes.as_deref())?;
    let run = |module: &mut Module| {
        pipeline.run(module, &mut ()).map_err(|e| Failure::input(format!("internal error: {e}"))).map(drop)
    };
    let Some((first, others)) = shaders.split_first() else {
        let mut module = module;
        stand_alone(&mut module);
        set_entries(&mut module, |f| f.origin != FunctionOrigin::Library);
        run(&mut module)?;
        return Ok((module, sources));
    };
    let part = |shader: &CoreShader| -> Result<(Module, String), Failure> {
        let (mut part, entry) = linked_shader(args, shader, sources.clone(), &pipeline, false)?;
        set_entries(&mut part, |f| *f.name == *entry);
        run(&mut part)?;
        Ok((part, entry))
    };
    let mut module = part(first)?.0;
    for (number, shader) in others.iter().enumerate() {
        let (next, entry) = part(shader)?;
        join(&mut module, next, &entry, number + 1);
    }
    Ok((module, sources))
}

/// True if the file is a scene, by its name.
fn is_scene(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    extension.is_some_and(|e| ["rib", "gltf", "glb"].contains(&e.as_str()))
}

/// The program of a scene.
fn linked_scene(args: &CompileArgs) -> Result<(Module, SourceMap), Failure> {
    let options = project::ProjectOptions {
        shader_paths: args.preprocess.include.clone(),
        pipeline: pipeline(args.passes.as_deref())?,
        math: args.math.math,
        specialize: args.specialize.unwrap_or_default(),
        ..project::ProjectOptions::default()
    };
    match Project::new(project::Source::File(args.file.clone()), options).refresh() {
        Outcome::Ready(state) => {
            eprint!("{}", state.diagnostics.render(&state.program.sources));
            Ok((Module::clone(&state.program.module), state.program.sources.clone()))
        }
        Outcome::Broken(failure) => Err(Failure::diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => Err(Failure::input("error: nothing was read")),
    }
}

/// Makes the functions that are wanted, and no others, entries.
fn set_entries(module: &mut Module, wanted: impl Fn(&Function) -> bool) {
    for f in &mut module.functions {
        f.kind = match f.kind {
            FunctionKind::Entry(role) if wanted(f) => FunctionKind::Entry(role),
            _ if wanted(f) => FunctionKind::Entry(EntryPoint::Other),
            _ => FunctionKind::Function,
        };
    }
}

/// A scene with the shader, linked, and the name of the function that runs it there. With `debug`,
/// the names of variables are kept.
fn linked_shader(
    args: &CompileArgs,
    CoreShader { name, kind, light }: &CoreShader,
    mut sources: SourceMap,
    pipeline: &Pipeline,
    debug: bool,
) -> Result<(Module, String), Failure> {
    let name = name.to_string();
    let mut scene = scene::shader_scene(&name, (*kind).into());
    let (entry, pipeline) = match kind {
        abi::ShaderKind::Surface | abi::ShaderKind::Volume | abi::ShaderKind::Displacement => {
            (surface_entry(0), pipeline.clone())
        }
        abi::ShaderKind::Imager => (IMAGER_ENTRY.to_string(), pipeline.clone()),
        abi::ShaderKind::Light => {
            // It is the only one, and no pass makes it a part of a surface.
            scene.lights.drain(..scene.lights.len() - 1);
            let function = match light {
                Some(LightKind::Ambient) | None => Intrinsic::LightAmbient,
                Some(LightKind::Positional | LightKind::Directional) => Intrinsic::LightSample,
            };
            let none = Pipeline::none().for_target(pipeline.target);
            (format!("{function}{}", specialization_suffix(0)), none)
        }
    };
    let folder = args.file.parent().filter(|_| args.file.exists());
    // A file that is named alone lies in the current folder.
    let folder = folder.map(|f| if f.as_os_str().is_empty() { PathBuf::from(".") } else { f.to_path_buf() });
    let shader_paths: Vec<PathBuf> = folder.into_iter().chain(args.preprocess.include.iter().cloned()).collect();
    // What stands beside the shader is built in, whatever files of these names there are.
    let built_in = |shader: &str| {
        let file = registry::DEFAULT.file_name(shader);
        let text = registry::DEFAULT.built_in(&file).or_else(|| scene::builtin::shader(shader))?;
        Some((shader.to_string(), sources.add(format!("<built-in {file}>"), None, text)))
    };
    let beside: BTreeSet<&str> = scene.shader_instances.iter().map(|i| i.shader.name()).collect();
    let mut given: Vec<(String, FileId)> =
        beside.into_iter().filter(|other| *other != name).filter_map(built_in).collect();
    given.push((name, FileId(0)));
    let defines = language_options(args).preprocess.defines;
    let math = args.math.math;
    let specialize = args.specialize.unwrap_or_default();
    let options =
        LinkOptions { shader_paths, pipeline, given, defines, debug, math, specialize, ..LinkOptions::default() };
    let program = link(&scene, sources, &options)?;
    if specialize.makes_variants() {
        eprint!("{}", program.diagnostics.render(&program.sources));
    }
    let mut module = Arc::unwrap_or_clone(program.module);
    if *kind != abi::ShaderKind::Light {
        return Ok((module, entry));
    }
    let own_name: Arc<str> = light_entry(0).into();
    for f in module.functions.iter_mut().filter(|f| *f.name == *entry) {
        f.name = own_name.clone();
    }
    rename_calls(&mut module, &HashMap::from([(Arc::from(entry), own_name)]));
    Ok((module, light_entry(0)))
}

/// The function by which a light that is compiled alone is called.
fn light_entry(number: usize) -> String {
    format!("@light.{number}")
}

/// Adds a linked shader, the one of that number in its file, to those before it.
fn join(module: &mut Module, mut next: Module, entry: &str, number: usize) {
    let new_name = |name: &str| match name.rsplit_once('.') {
        Some((kind, _)) if name == entry => format!("{kind}.{number}"),
        None if name == entry => format!("{name}.{number}"),
        _ => format!("{name}.of.{number}"),
    };
    let taken = next.functions.iter().filter(|f| *f.name == *entry || module.function(&f.name).is_some());
    let renamed: HashMap<Arc<str>, Arc<str>> = taken.map(|f| (f.name.clone(), new_name(&f.name).into())).collect();
    for f in &mut next.functions {
        f.name = renamed.get(&f.name).unwrap_or(&f.name).clone();
    }
    rename_calls(&mut next, &renamed);
    module.absorb(next);
}

fn rename_calls(module: &mut Module, renamed: &HashMap<Arc<str>, Arc<str>>) {
    for inst in module.functions.iter_mut().flat_map(|f| &mut f.blocks).flat_map(|b| &mut b.insts) {
        if let Op::Call(callee) = &mut inst.op
            && let Some(new) = renamed.get(callee)
        {
            *callee = new.clone();
        }
    }
}

/// A file compiled for the RPU.
struct ForRpu {
    program: rpu::RpuProgram,
    module: Module,
    sources: SourceMap,
}

impl ForRpu {
    /// The program with its constants.
    fn object(&self) -> Program {
        Program { constants: self.program.constants.clone(), ..self.program.program.clone() }
    }

    /// The source line of an instruction, with its place.
    #[cfg(target_arch = "x86_64")]
    fn source_line(&self, address: u32) -> Option<String> {
        let span = self.module.span(*self.program.locs.get(address as usize)?)?;
        let (file, place) = (self.sources.get(span.file)?, self.sources.position(span)?);
        let (mut text, most) = (file.line_text((place.line as usize).checked_sub(1)?)?.trim(), 160);
        // A shader may be one line of some hundred kilobytes.
        if let Some((end, _)) = text.char_indices().nth(most) {
            text = &text[..end];
        }
        Some(format!("{}:{}: {text}", file.name, place.line))
    }
}

fn rpu_program(args: &CompileArgs) -> Result<ForRpu, Failure> {
    let (abi, convention, passes) = (args.abi, args.convention, rpu_passes(args.passes.as_deref()));
    let (module, sources, options) = match abi {
        rpu::Abi::Native => {
            let (module, sources) = linked(args)?;
            let constants = rpu::ConstantPlaces::Code;
            (module, sources, rpu::RpuOptions { abi, convention, passes, constants })
        }
        rpu::Abi::Thesis => {
            let (Unit::Shaders(unit), sources) = compile(args)? else {
                return Err(Failure::input("error: --abi thesis is for functions, and the file defines classes"));
            };
            let functions: Vec<&str> = unit.functions.iter().map(|f| &*f.ir_name).collect();
            let mut module =
                rpu::thesis_abi::bind(&unit.module, &functions).map_err(|e| Failure::input(format!("error: {e}")))?;
            let pipeline = pipeline(args.passes.as_deref())?;
            pipeline.run(&mut module, &mut ()).map_err(|e| Failure::input(format!("internal error: {e}")))?;
            let options = rpu::RpuOptions { abi, convention, passes, ..rpu::RpuOptions::default() };
            (module, sources, options)
        }
    };
    let program = rpu::compile(&module, &options).map_err(|e| Failure::input(format!("error: {e}")))?;
    Ok(ForRpu { program, module, sources })
}

/// The program of one file or, of several, all of them linked.
fn joined(args: &CompileArgs) -> Result<Program, Failure> {
    if args.more.is_empty() {
        return object(args, &args.file);
    }
    let paths = || std::iter::once(&args.file).chain(&args.more);
    let mut programs = Vec::new();
    for path in paths() {
        let mut program = object(args, path)?;
        // Every file brings the functions of the library that it uses; nobody calls them by name.
        program.entries.retain(|entry| !library::is_library(&entry.name));
        programs.push((path.display().to_string(), program));
    }
    let inputs: Vec<Input<'_>> = programs.iter().map(|(name, program)| Input { name, program }).collect();
    linker::link(&inputs).map_err(|e| Failure::input(format!("error: {e}")))
}

/// The program of one file: assembled, decoded or compiled, as its name says.
fn object(args: &CompileArgs, path: &Path) -> Result<Program, Failure> {
    if let Some(form) = Form::from_path(path) {
        return Ok(read(path, form, &mut SourceMap::new())?.0);
    }
    Ok(rpu_program(&CompileArgs { file: path.to_path_buf(), more: Vec::new(), ..args.clone() })?.object())
}

fn sections(args: &CompileArgs) -> Result<String, Failure> {
    let (module, _) = linked(args)?;
    let sections = sections::cut(&module, &entries(&module), sections::Again::Constants, &codegen::SHARED_TARGET)
        .map_err(|e| Failure::input(format!("error: {e}")))?;
    Ok(sections.dump(&module))
}

fn entries(module: &Module) -> Vec<&str> {
    module.functions.iter().filter(|f| f.kind.is_entry()).map(|f| &*f.name).collect()
}

fn kernels_of<T>(args: &CompileArgs, form: impl Fn(&Module, &[&str]) -> Result<T, Failure>) -> Result<T, Failure> {
    let (module, _) = linked(args)?;
    form(&module, &entries(&module))
}
