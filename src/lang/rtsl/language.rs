//! RTSL for [`crate::registry`].

use super::editor::Analysis;
use super::{analyze, compile, parse};
use crate::editor::Document;
use crate::language::{Form, FrontEndOptions, Language, Naming};
use crate::stdlib;
use crate::unit::Unit;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use std::sync::Arc;

/// The Ray Tracing Shading Language.
#[derive(Clone, Copy, Debug)]
pub struct Rtsl;

impl Language for Rtsl {
    fn name(&self) -> &'static str {
        "RTSL"
    }

    fn id(&self) -> &'static str {
        "rtsl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rtsl"]
    }

    fn naming(&self) -> Naming {
        Naming::Qualified
    }

    fn form(&self) -> Form {
        Form::Classes
    }

    fn built_in(&self, file: &str) -> Option<&'static str> {
        stdlib::class_source(file)
    }

    fn dump(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<String, Diagnostics> {
        let (ast, diags) = parse(sources, file, &options.preprocess);
        if diags.has_errors() { Err(diags) } else { Ok(format!("{ast:#?}\n")) }
    }

    fn compile(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<Unit, Diagnostics> {
        compile(sources, file, &options.preprocess).map(Unit::Classes)
    }

    fn analyze(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Arc<dyn Document> {
        let (ast, diagnostics) = analyze(sources, file, &options.preprocess);
        Arc::new(Analysis { ast, diagnostics })
    }
}
