//! The part of a linked program that belongs to a shader.

use super::listing::{Interner, Listing, SourceLine};
use shadewright_base::text::source::{FileId, SourceMap};
use shadewright_ir::{Function, Loc, LocData, Module, Op};
use shadewright_program::Program;
use std::collections::HashSet;

/// A shader's files and functions.
#[derive(Debug)]
pub(super) struct Extent {
    /// The file of the shader.
    main: FileId,
    /// That file and those that it includes, in the order in which the code has them.
    files: Vec<FileId>,
    /// The prefix of the names of the file's functions.
    prefix: String,
    sources: SourceMap,
}

impl Extent {
    /// The extent of the shader of an instance; `None` where nothing uses that.
    pub fn new(program: &Program, instance: usize) -> Option<Self> {
        let shader = &program.instances.get(instance)?.as_ref()?.shader;
        let unit = shader.unit();
        let core = unit.function(&shader.core)?;
        let main = unit.span(core.loc).or_else(|| own_locs(core).find_map(|loc| unit.span(loc)))?.file;
        let prefix = shader.core.split_inclusive('.').next()?.to_string();
        let mut files = vec![main];
        for func in unit.functions.iter().filter(|f| f.name.starts_with(&prefix)) {
            for span in own_locs(func).filter_map(|loc| unit.span(loc)) {
                if !files.contains(&span.file) {
                    files.push(span.file);
                }
            }
        }
        Some(Self { main, files, prefix, sources: program.sources.clone() })
    }

    /// The text of the files.
    pub fn source(&self, lines: &mut Interner) -> Listing {
        let mut listing = Vec::new();
        for &id in &self.files {
            let Some(file) = self.sources.get(id) else { continue };
            listing.push(lines.line(format!("// {}", file.name), Vec::new()));
            for (number, text) in file.text.lines().enumerate() {
                let place = SourceLine { file: id, line: number as u32 + 1 };
                listing.push(lines.line(text.replace('\t', "    "), vec![place]));
            }
        }
        Listing::new(listing)
    }

    /// The lines of the shader's files that a place comes from, the innermost first.
    pub fn places(&self, locs: &[LocData], loc: Loc) -> Vec<SourceLine> {
        let mut places = Vec::new();
        for span in chain(locs, loc).filter(|span| self.files.contains(&span.file)) {
            if let Some(position) = self.sources.position(span) {
                let place = SourceLine { file: span.file, line: position.line };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// The innermost line of the shader's files that a place comes from.
    pub fn place(&self, locs: &[LocData], loc: Loc) -> Option<SourceLine> {
        let span = chain(locs, loc).find(|span| self.files.contains(&span.file))?;
        Some(SourceLine { file: span.file, line: self.sources.position(span)?.line })
    }

    /// True if a place comes from the shader's own file.
    pub fn owns_loc(&self, locs: &[LocData], loc: Loc) -> bool {
        chain(locs, loc).any(|span| span.file == self.main)
    }

    /// The functions of a program that belong to the shader, and then those of others that they
    /// call, in the program's order.
    pub fn functions<'m>(&self, module: &'m Module) -> [Vec<&'m Function>; 2] {
        let mut owned: HashSet<&str> = HashSet::new();
        for func in &module.functions {
            if func.name.starts_with(&self.prefix) || own_locs(func).any(|loc| self.owns_loc(&module.locs, loc)) {
                owned.insert(&func.name);
            }
        }
        // An entry into which the shader was not inlined yet.
        let entries = module.functions.iter().filter(|f| f.kind.is_entry());
        let callers: Vec<_> = entries.filter(|f| callees(f).any(|c| owned.contains(c))).map(|f| &*f.name).collect();
        owned.extend(callers);
        let mut called: HashSet<&str> = HashSet::new();
        let mut work: Vec<&str> = owned.iter().copied().collect();
        while let Some(func) = work.pop().and_then(|name| module.function(name)) {
            work.extend(callees(func).filter(|name| !owned.contains(name) && called.insert(name)));
        }
        let of = |names: HashSet<&str>| module.functions.iter().filter(|f| names.contains(&*f.name)).collect();
        [of(owned), of(called)]
    }
}

/// The source texts that a place comes from, the innermost first.
fn chain(locs: &[LocData], loc: Loc) -> impl Iterator<Item = shadewright_base::text::source::Span> + '_ {
    let data = move |loc: Loc| locs.get(loc.0 as usize).copied();
    std::iter::successors(data(loc), move |d| d.inlined_at.and_then(data)).filter_map(|d| d.span)
}

/// The places of a function's instructions.
fn own_locs(func: &Function) -> impl Iterator<Item = Loc> + '_ {
    func.blocks.iter().flat_map(|b| b.insts.iter().map(|i| i.loc).chain([b.term_loc]))
}

fn callees(func: &Function) -> impl Iterator<Item = &str> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(&**name) } else { None })
}
