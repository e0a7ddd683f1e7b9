//! `shadewright compile FILE`: what a shader becomes. Of a folder, [`folder`] reports how much
//! compiles.

pub mod folder;
mod packets;

use super::args::{Abi, CompileArgs, Emit};
use super::backend::{pipeline, rpu_passes};
use super::failure::Failure;
use super::kernels;
use super::run::program::{Form, read};
use shadewright::abi::{self, EntryPoint, library};
use shadewright::codegen::{self, rpu};
use shadewright::image::file as image_file;
use shadewright::ir::passes::{Observer, Pass, Report, sections};
use shadewright::ir::{FunctionKind, FunctionOrigin, Module};
use shadewright::lang::preprocess::{Options as PreprocessOptions, define};
use shadewright::lang::{Language, Options, Unit, registry, stdlib};
use shadewright::program::{IMAGER_ENTRY, LinkOptions, link, read_shader, surface_entry, textures};
use shadewright::rpu::isa::Program;
use shadewright::rpu::link::{self as linker, Input};
use shadewright::rpu::{binary, disasm};
use shadewright::scene::{self, ShaderKind};
use shadewright::text::source::{FileId, SourceMap};
use std::fmt::Write as _;
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
    let of_programs = matches!(args.emit, Emit::Rpu | Emit::Rpubin);
    if !of_programs && (!args.more.is_empty() || Form::of(&args.file).is_some()) {
        return Err(Failure::input("error: programs of the RPU are linked: add --emit rpu or --emit rpubin"));
    }
    let output = match args.emit {
        Emit::Ast => ast(args)?.into_bytes(),
        Emit::Ir => ir(args)?.into_bytes(),
        Emit::Report => report(args)?.into_bytes(),
        Emit::Sections => sections(args)?.into_bytes(),
        Emit::Rpu => disasm::disassemble(&joined(args)?).into_bytes(),
        Emit::Rpubin => binary::to_bytes(&joined(args)?).map_err(|e| Failure::input(format!("error: {e}")))?,
        Emit::Wgsl => kernels_of(args, kernels::as_wgsl)?.into_bytes(),
        Emit::Spirv => kernels_of(args, kernels::as_spirv)?,
    };
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

fn language_options(args: &CompileArgs) -> Options {
    let preprocess = PreprocessOptions {
        include_paths: args.preprocess.include.clone(),
        defines: args.preprocess.define.iter().map(|d| define(d)).collect(),
        ..Default::default()
    };
    Options { preprocess, ..Options::default() }
}

/// A compiled file.
struct Compiled {
    /// Its functions.
    module: Module,
    /// The shader that a back end is given, by its name and kind, and the entry that it has then;
    /// none of a file of lights or functions.
    entry: Option<(String, ShaderKind, String)>,
    /// Its sources, of which it is the first.
    sources: SourceMap,
}

/// The language of the file, by its name.
fn language(args: &CompileArgs) -> &'static dyn Language {
    registry::of_path(&args.file).unwrap_or(registry::DEFAULT)
}

/// Compiles a file of any language to its cores.
fn compiled(args: &CompileArgs) -> Result<Compiled, Failure> {
    let (unit, sources) = compile(args)?;
    let name = args.file.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    let cores = match unit.into_cores(&name) {
        Ok(cores) => cores,
        Err(errors) => return Err(Failure::diagnostics(&errors, &sources)),
    };
    let entry = cores.shader.and_then(|(shader, kind)| {
        let entry = match kind {
            abi::ShaderKind::Surface | abi::ShaderKind::Volume | abi::ShaderKind::Displacement => surface_entry(0),
            abi::ShaderKind::Imager => IMAGER_ENTRY.to_string(),
            abi::ShaderKind::Light => return None,
        };
        Some((shader.to_string(), kind.into(), entry))
    });
    Ok(Compiled { module: cores.module, entry, sources })
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
fn optimised(args: &CompileArgs, before: impl FnOnce(&Module)) -> Result<(Module, Report, String), Failure> {
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
    let (module, _, shown) = optimised(args, |_| {})?;
    Ok(if args.show.is_some() { shown } else { module.to_string() })
}

fn report(args: &CompileArgs) -> Result<String, Failure> {
    let mut packets = String::new();
    let (module, report, _) = optimised(args, |module| packets = packets::table(module))?;
    let mut text = format!("{:<10} {:>6} {:>9} {:>10}\n", "pass", "runs", "changes", "time (us)");
    for p in &report.passes {
        let _ = writeln!(text, "{:<10} {:>6} {:>9} {:>10}", p.name, p.runs, p.changes, p.time.as_micros());
    }
    for f in &module.functions {
        let _ = writeln!(text, "{:<40} {:>6} instructions, {} blocks", f.name, f.inst_count(), f.blocks.len());
    }
    Ok(text + &packets)
}

/// What a back end is given: the shaders of the file as a scene's entries, each lit by the lights
/// that a bare mesh gets; a file of lights or functions as it is.
fn linked(args: &CompileArgs) -> Result<Module, Failure> {
    let Compiled { module, entry, sources } = compiled(args)?;
    let pipeline = pipeline(args.passes.as_deref())?;
    let mut module = match &entry {
        Some((name, kind, _)) => {
            let scene = scene::of_shader(name, *kind);
            let folder = args.file.parent().filter(|_| args.file.exists());
            // A file that is named alone lies in the current folder.
            let folder = folder.map(|f| if f.as_os_str().is_empty() { PathBuf::from(".") } else { f.to_path_buf() });
            let shader_paths: Vec<PathBuf> =
                folder.into_iter().chain(args.preprocess.include.iter().cloned()).collect();
            let given = vec![(name.to_string(), FileId(0))];
            let defines = language_options(args).preprocess.defines;
            let options =
                LinkOptions { shader_paths, pipeline: pipeline.clone(), given, defines, ..LinkOptions::default() };
            Arc::unwrap_or_clone(link(&scene, sources, &options)?.module)
        }
        None => {
            let mut module = module;
            textures::supply_none(&mut module);
            module
        }
    };
    for f in &mut module.functions {
        let wanted = entry.as_ref().map_or(f.origin != FunctionOrigin::Library, |(.., entry)| *f.name == **entry);
        f.kind = match f.kind {
            FunctionKind::Entry(role) if wanted => FunctionKind::Entry(role),
            _ if wanted => FunctionKind::Entry(EntryPoint::Other),
            _ => FunctionKind::Function,
        };
    }
    pipeline.run(&mut module, &mut ()).map_err(|e| Failure::input(format!("internal error: {e}")))?;
    Ok(module)
}

fn rpu_program(args: &CompileArgs) -> Result<rpu::RpuProgram, Failure> {
    let (convention, passes) = (args.convention.into(), rpu_passes(args.passes.as_deref()));
    let compiled = match args.abi {
        Abi::Native => rpu::compile(&linked(args)?, &rpu::Options { abi: rpu::Abi::Native, convention, passes }),
        Abi::Thesis => {
            let (Unit::Shaders(unit), _) = compile(args)? else {
                return Err(Failure::input("error: --abi thesis is for functions, and the file defines classes"));
            };
            let functions: Vec<&str> = unit.functions.iter().map(|f| &*f.ir_name).collect();
            let mut module =
                rpu::thesis_abi::bind(&unit.module, &functions).map_err(|e| Failure::input(format!("error: {e}")))?;
            let pipeline = pipeline(args.passes.as_deref())?;
            pipeline.run(&mut module, &mut ()).map_err(|e| Failure::input(format!("internal error: {e}")))?;
            rpu::compile(&module, &rpu::Options { abi: rpu::Abi::Thesis, convention, passes })
        }
    };
    compiled.map_err(|e| Failure::input(format!("error: {e}")))
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
    if let Some(form) = Form::of(path) {
        return Ok(read(path, form, &mut SourceMap::new())?.0);
    }
    let compiled = rpu_program(&CompileArgs { file: path.to_path_buf(), more: Vec::new(), ..args.clone() })?;
    if !compiled.table.is_empty() {
        return Err(Failure::input(format!(
            "error: {}: its constants need a table in memory, which a program by itself has no place for: use fewer different vectors",
            path.display()
        )));
    }
    Ok(Program { constants: compiled.constants, ..compiled.program })
}

fn sections(args: &CompileArgs) -> Result<String, Failure> {
    let module = linked(args)?;
    let sections = sections::cut(&module, &entries(&module), sections::Again::Constants, &codegen::SHARED_TARGET)
        .map_err(|e| Failure::input(format!("error: {e}")))?;
    Ok(sections.dump(&module))
}

fn entries(module: &Module) -> Vec<&str> {
    module.functions.iter().filter(|f| f.kind.is_entry()).map(|f| &*f.name).collect()
}

fn kernels_of<T>(args: &CompileArgs, form: impl Fn(&Module, &[&str]) -> Result<T, Failure>) -> Result<T, Failure> {
    let module = linked(args)?;
    form(&module, &entries(&module))
}
