//! `shadewright compile` of a file of RTSL: the cores of all methods of its classes, made as objects that refer to nothing.

use super::{Compiled, rsl_options};
use crate::cli::args::CompileArgs;
use crate::cli::exit::Failure;
use shadewright::codegen::rpu::TARGET;
use shadewright::ir::Module;
use shadewright::ir::passes::packets::{Packet, operations, shared_numbers};
use shadewright::lang::rtsl::state::{Interface, Method};
use shadewright::lang::rtsl::{self, Object};
use shadewright::program::surface_entry;
use shadewright::scene::ShaderKind;
use shadewright::text::diagnostics::Diagnostics;
use shadewright::text::source::{FileId, SourceMap};
use std::fmt::Write as _;
use std::path::Path;

/// Whether a file is one of RTSL, by its name.
pub fn is_rtsl(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("rtsl"))
}

/// The syntax tree of a file, as a dump.
pub fn ast(args: &CompileArgs, mut sources: SourceMap, file: FileId) -> Result<String, Failure> {
    let (ast, errors) = rtsl::parse(&mut sources, file, &rsl_options(args).preprocess);
    match errors.has_errors() {
        true => Err(Failure::diagnostics(&errors, &sources)),
        false => Ok(format!("{ast:#?}\n")),
    }
}

/// What the primitives of a module cost each ray of a packet, as a table; empty where there are none.
pub fn packets(module: &Module) -> String {
    let method = format!(".{}", Method::Intersect.name());
    let mut text = String::new();
    for f in module.functions.iter().filter(|f| f.name.ends_with(&method)) {
        let _ = writeln!(text, "\n{:<40} {:>10} {:>9}", f.name, "operations", "expensive");
        for (name, packet) in Packet::ALL {
            let cost = operations(f, packet);
            let _ = writeln!(text, "  {name:<38} {:>10} {:>9}", cost.longest, cost.expensive);
        }
        // What the RPU does of that; it depends on no fact about directions.
        match shared_numbers(f, &TARGET) {
            0 => text += "  (the RPU works out nothing once a packet)\n",
            numbers => {
                let _ = writeln!(text, "  (the RPU works out {numbers} numbers once for rays with a common origin)");
            }
        }
    }
    text
}

/// The cores of a file's classes. What a back end is given is the first class that shades, on a bare mesh.
pub fn compile(args: &CompileArgs, mut sources: SourceMap, file: FileId) -> Result<Compiled, Failure> {
    let unit = match rtsl::compile(&mut sources, file, &rsl_options(args).preprocess) {
        Ok(unit) => unit,
        Err(errors) => return Err(Failure::diagnostics(&errors, &sources)),
    };
    eprint!("{}", unit.warnings.render(&sources));
    let name = args.file.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    let mut compiled = Compiled { module: Module::new(), entry: None, sources };
    let mut errors = Diagnostics::new();
    for (class, info) in unit.file.classes.iter().enumerate() {
        let object = Object::alone(&unit.file, class);
        for method in info.interfaces.iter().flat_map(|i: &Interface| i.methods()) {
            if unit.file.method(class, method).is_none() {
                continue;
            }
            match rtsl::build(&object, method, &unit.library, &format!("{}.{}", info.name.name, method.name())) {
                Ok(built) => {
                    compiled.module.absorb(built.module);
                }
                Err(diags) => errors.extend(diags),
            }
            if method == Method::Shade && compiled.entry.is_none() {
                let shader = format!("{name}:{}", info.name.name);
                compiled.entry = Some((shader, ShaderKind::Surface, surface_entry(0)));
            }
        }
    }
    match errors.has_errors() {
        true => Err(Failure::diagnostics(&errors, &compiled.sources)),
        false => Ok(compiled),
    }
}
