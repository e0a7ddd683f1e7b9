//! `--emit uniformity` and `--emit vector`: what the lanes of a vector have in common, and the code
//! for several lanes.

use super::super::args::CompileArgs;
use super::super::backend::pipeline;
use super::super::failure::Failure;
use super::{Compiled, compiled};
use shadewright::ir::passes::uniformity::{ModuleUniformity, listing};
use shadewright::ir::passes::vectorize::{VectorizeError, vectorize};
use shadewright::ir::{Function, FunctionOrigin, Module};
use shadewright::text::diagnostics::Diagnostic;
use shadewright::text::source::SourceMap;
use shadewright::uniformity::Uniformity;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// The functions of the file, optimized, each with the uniformity of its values for `--lanes`
/// lanes.
pub fn uniformity(args: &CompileArgs) -> Result<String, Failure> {
    let (module, _, roots) = optimized(args)?;
    let mut text = String::new();
    for Root { name, params } in roots {
        let uniformity = ModuleUniformity::new(&module, &name, &params, args.lanes.lanes);
        if let Some(uniformity) = uniformity {
            let _ = write!(text, "{}{}", if text.is_empty() { "" } else { "\n" }, listing(&module, &uniformity));
        }
    }
    Ok(text)
}

/// The functions that do the work of each function of the file for `--lanes` lanes.
pub fn vector(args: &CompileArgs) -> Result<String, Failure> {
    let (module, sources, roots) = optimized(args)?;
    let mut made = Module::new();
    for Root { name, params } in roots {
        let vectorized = vectorize(&module, &name, args.lanes.lanes, &params);
        let vectorized = vectorized.map_err(|error| refused(&error, &module, &sources))?;
        let functions = vectorized.module.functions.into_iter().skip(module.functions.len());
        for function in functions {
            if made.function(&function.name).is_none() {
                made.functions.push(function);
            }
        }
    }
    Ok(made.to_string())
}

fn refused(error: &VectorizeError, module: &Module, sources: &SourceMap) -> Failure {
    let diagnostic = Diagnostic::error(error.to_string());
    let diagnostic = match error.loc().and_then(|loc| module.span(loc)) {
        Some(span) => diagnostic.at(span, "here"),
        None => diagnostic,
    };
    Failure::diagnostics(&diagnostic.into(), sources)
}

/// A function that the file defines, with the uniformity of its parameters.
struct Root {
    name: Arc<str>,
    params: Vec<Uniformity>,
}

/// The optimized module, its sources, and the functions that the file defines.
fn optimized(args: &CompileArgs) -> Result<(Module, SourceMap, Vec<Root>), Failure> {
    let pipeline = pipeline(args.passes.as_deref())?;
    let Compiled { mut module, sources, .. } = compiled(args)?;
    let own = |f: &&Function| f.origin == FunctionOrigin::User;
    let names: BTreeSet<Arc<str>> = module.functions.iter().filter(own).map(|f| f.name.clone()).collect();
    pipeline.run(&mut module, &mut ()).map_err(|e| Failure::input(format!("internal error: {e}")))?;
    let roots: Vec<&Function> = module.functions.iter().filter(|f| names.contains(&f.name)).collect();
    for name in args.lanes.uniform.iter().chain(&args.lanes.affine) {
        let is_known = roots.iter().flat_map(|f| &f.params).any(|p| *p.name == **name);
        if !is_known {
            return Err(Failure::input(format!("error: no function of the file has a parameter `{name}`")));
        }
    }
    let is_in = |names: &[String], name: &str| names.iter().any(|n| n == name);
    let uniformity = |name: &str| match (is_in(&args.lanes.uniform, name), is_in(&args.lanes.affine, name)) {
        (true, _) => Uniformity::UNIFORM,
        (false, true) => Uniformity::affine(1),
        (false, false) => Uniformity::Varying,
    };
    let root = |f: &&Function| {
        let params = f.params.iter().map(|p| uniformity(&p.name)).collect();
        Root { name: f.name.clone(), params }
    };
    let roots = roots.iter().map(root).collect();
    Ok((module, sources, roots))
}
