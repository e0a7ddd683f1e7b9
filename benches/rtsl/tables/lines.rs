//! Lines of a class, and of its code for each back end.

use super::unit;
use anyhow::anyhow;
use serde_json::{Value, json};
use shadewright::abi::EntryPoint;
use shadewright::codegen::{rpu, wgsl};
use shadewright::ir::passes::Pipeline;
use shadewright::ir::{FunctionBuilder, FunctionKind, Module};
use shadewright::lang::rtsl::state::Method;
use shadewright::lang::rtsl::{self, Object, Unit};
use shadewright::rpu::disasm;
use std::collections::BTreeSet;

/// The classes that the paper's table 4 lists, by the names there: the file and the class here. Its
/// film light is a light of the same kind.
pub const CLASSES: [(&str, &str, &str); 11] = [
    ("Sphere", "primitives.rtsl", "Sphere"),
    ("Bilinear", "primitives.rtsl", "BilinearPatch"),
    ("SuperEllipsoid", "primitives.rtsl", "SuperEllipsoid"),
    ("Brick", "textures.rtsl", "Brick"),
    ("ParquetPlank", "textures.rtsl", "Parquet"),
    ("UberLight", "lights.rtsl", "FilmLight"),
    ("Dielectric", "pbr.rtsl", "Glass"),
    ("Lambertian", "pbr.rtsl", "Lambert"),
    ("Phong", "pbr.rtsl", "Phong"),
    ("Velvet", "pbr.rtsl", "Velvet"),
    ("Ward", "pbr.rtsl", "Ward"),
];

/// Lines of a class: not those that are empty or comments.
pub struct Lines {
    name: &'static str,
    /// Of RTSL: with the classes that it comes from, and the functions before these that they call.
    rtsl: usize,
    /// Of WGSL: all methods but `shade`, which takes a scene with lights, as kernels, less what
    /// every kernel has.
    wgsl: usize,
    /// Of the RPU's assembly: the same methods.
    rpu: usize,
}

impl Lines {
    pub fn json(&self) -> Value {
        json!({ "name": self.name, "rtsl": self.rtsl, "wgsl": self.wgsl, "rpu": self.rpu })
    }
}

/// The lines of each class that is wanted.
pub fn count_classes(is_wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<Vec<Lines>> {
    let wanted = CLASSES.iter().filter(|(name, ..)| is_wanted(name));
    wanted.map(|&(name, file, class)| count_class(name, file, class)).collect()
}

fn count_class(name: &'static str, file: &str, class: &str) -> anyhow::Result<Lines> {
    let (unit, text) = unit(file)?;
    let index = unit.file.class(class).ok_or_else(|| anyhow!("`{file}` has no class `{class}`"))?;
    let object = Object::alone(&unit.file, index);
    let mut module = Module::new();
    let interfaces = &unit.file.classes[index].interfaces;
    let methods = interfaces.iter().flat_map(|i| i.methods()).filter(|m| unit.file.method(index, *m).is_some());
    for method in methods.filter(|m| *m != Method::Shade) {
        let built = rtsl::build(&object, method, &unit.library, method.name());
        module.absorb(built.map_err(|_| anyhow!("`{class}` has errors"))?.module);
    }
    for function in &mut module.functions {
        if interfaces.iter().flat_map(|i| i.methods()).any(|m| *m.name() == *function.name) {
            function.kind = FunctionKind::Entry(EntryPoint::Other);
        }
    }
    Pipeline::default().run(&mut module, &mut ()).map_err(|e| anyhow!("{e}"))?;
    let program = rpu::compile(&module, &rpu::RpuOptions::default()).map_err(|e| anyhow!("{e}"))?;
    let rpu = counted(&disasm::disassemble(&program.program));
    Ok(Lines { name, rtsl: source_lines(&unit, index, &text), wgsl: kernel_lines(&module)?, rpu })
}

/// Lines that are neither empty nor a comment.
fn counted(text: &str) -> usize {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//") && !line.starts_with(';');
    text.lines().map(str::trim).filter(is_code).count()
}

/// Lines of the kernels of a module's entries, less those that kernels have which do nothing.
fn kernel_lines(module: &Module) -> anyhow::Result<usize> {
    let lines = |module: &Module| {
        let entries = module.functions.iter().filter(|f| f.kind.is_entry()).map(|f| &*f.name);
        let entries: Vec<&str> = entries.collect();
        let program = wgsl::compile(module, &entries, &wgsl::WgslOptions::default()).map_err(|e| anyhow!("{e}"))?;
        let lines = program.sections.iter().map(|kernel| counted(&kernel.wgsl)).sum::<usize>();
        Ok::<_, anyhow::Error>((lines, entries.len()))
    };
    let mut b = FunctionBuilder::new("nothing", FunctionKind::Entry(EntryPoint::Other));
    b.ret(Vec::new());
    let (nothing, _) = lines(&Module { functions: vec![b.finish()], ..Module::new() })?;
    let (all, kernels) = lines(module)?;
    Ok(all.saturating_sub(kernels * nothing))
}

/// Lines of a class, of those that it comes from, and of the functions before the first class that
/// they call.
fn source_lines(unit: &Unit, class: usize, text: &str) -> usize {
    let ast = &unit.file.ast;
    let starts: Vec<usize> = ast.classes.iter().map(|c| line_start(text, c.name.span.start as usize)).collect();
    let classes = unit.file.lineage(class).map(|c| {
        let end = starts.get(c + 1).copied().unwrap_or(text.len());
        &text[starts[c]..end]
    });
    let mut parts: Vec<&str> = classes.collect();
    let mut known = BTreeSet::new();
    let mut next = 0;
    while let Some(part) = parts.get(next).copied() {
        next += 1;
        for (i, function) in ast.functions.iter().enumerate() {
            let is_called = words(part).any(|word| *word == *function.name.name);
            if is_called && known.insert(i) {
                parts.push(&text[function.span.start as usize..function.span.end as usize]);
            }
        }
    }
    parts.into_iter().map(counted).sum()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The table.
pub fn print(lines: &[Lines]) {
    if lines.is_empty() {
        return;
    }
    println!("{:<22} {:>6} {:>6} {:>6}", "Lines (table 4)", "RTSL", "WGSL", "RPU");
    for l in lines {
        println!("{:<22} {:>6} {:>6} {:>6}", l.name, l.rtsl, l.wgsl, l.rpu);
    }
}
