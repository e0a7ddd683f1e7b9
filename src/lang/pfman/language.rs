//! pfman for [`crate::registry`].

use super::editor::Analysis;
use super::{HEADERS, compile, parse, sizes};
use crate::editor::Document;
use crate::language::{Form, FrontEndOptions, Language, Naming};
use crate::unit::Unit;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use std::sync::Arc;

/// The shading language of PixelFlow.
#[derive(Clone, Copy, Debug)]
pub struct Pfman;

impl Language for Pfman {
    fn name(&self) -> &'static str {
        "pfman"
    }

    fn id(&self) -> &'static str {
        "pfman"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pfman"]
    }

    fn naming(&self) -> Naming {
        Naming::Qualified
    }

    fn form(&self) -> Form {
        Form::Shaders
    }

    fn built_in(&self, file: &str) -> Option<&'static str> {
        HEADERS.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
    }

    fn dump(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<String, Diagnostics> {
        let (ast, diags) = parse(sources, file, options);
        if diags.has_errors() { Err(diags) } else { Ok(format!("{ast:#?}\n")) }
    }

    fn compile(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<Unit, Diagnostics> {
        compile(sources, file, options).map(Unit::Shaders)
    }

    fn types(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        options: &FrontEndOptions,
    ) -> Option<Result<String, Diagnostics>> {
        Some(sizes::listing(sources, file, options))
    }

    fn analyze(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Arc<dyn Document> {
        Arc::new(Analysis::new(sources, file, options))
    }
}
