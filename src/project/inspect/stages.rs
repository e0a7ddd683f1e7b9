//! The IR of a shader, pass by pass.

use super::PassListing;
use super::extent::Extent;
use super::listing::{Interner, Line, Listing};
use shadewright_ir::passes::{Observer, Pass};
use shadewright_ir::print::function_lines;
use shadewright_ir::{Function, Module};
use std::sync::Arc;

/// Lines that are kept of all stages together, 16 bytes each; later stages but the last are left
/// out beyond that.
const MOST_LINES: usize = 1_000_000;

/// Records the changes of each pass.
pub(super) struct Stages<'a> {
    extent: &'a Extent,
    lines: &'a mut Interner,
    list: Vec<PassListing>,
    kept: usize,
}

impl<'a> Stages<'a> {
    /// Nothing taken down yet.
    pub fn new(extent: &'a Extent, lines: &'a mut Interner) -> Self {
        Self { extent, lines, list: Vec::new(), kept: 0 }
    }

    /// Records the final program.
    pub fn end(&mut self, module: &Module) {
        // Values have other numbers now, so that a comparison with the stage before is meaningless.
        let listing = Listing::new(listing(self.extent, module, self.lines));
        self.list.push(PassListing { name: "in the end".to_string(), listing });
    }

    /// The recorded stages.
    pub fn into_list(self) -> Vec<PassListing> {
        self.list
    }

    fn note(&mut self, name: &str, module: &Module) {
        if self.kept > MOST_LINES {
            return;
        }
        let lines = listing(self.extent, module, self.lines);
        let listing = match self.list.last() {
            Some(before) if before.listing.is_same(&lines) => return,
            Some(before) => Listing::after(&before.listing, lines),
            None => Listing::new(lines),
        };
        self.kept += listing.rows.len();
        self.list.push(PassListing { name: name.to_string(), listing });
    }
}

impl Observer for Stages<'_> {
    fn before(&mut self, _pass: &Pass, _round: usize, module: &Module) {
        if self.list.is_empty() {
            self.note("before the first pass", module);
        }
    }

    fn after(&mut self, pass: &Pass, round: usize, module: &Module, changes: usize) {
        if changes > 0 {
            self.note(&format!("{}. {}", round + 1, pass.name), module);
        }
    }
}

/// The functions of a shader in a program.
fn listing(extent: &Extent, module: &Module, lines: &mut Interner) -> Vec<Arc<Line>> {
    let [owned, called] = extent.functions(module);
    let mut listing = Vec::new();
    let mut add = |func: &Function| {
        function_lines(func, |text, loc, end| {
            listing.push(lines.line(text + end, extent.places(&module.locs, loc)));
        });
        listing.push(lines.line(String::new(), Vec::new()));
    };
    owned.into_iter().for_each(&mut add);
    called.into_iter().for_each(&mut add);
    listing
}
