//! `Integrator "name" "handle" parameters` (RIS of RenderMan 19): chooses the integrator.

use super::args::Args;
use super::groups::{one_float, one_string};
use super::params::{Param, ParamList, Undeclared, read_param_list};
use super::reader::Reader;
use crate::{Estimator, Integrator};
use shadewright_base::named::Named;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;

/// Maximum path depth (number of vertices after the camera).
const MAX_DEPTH: f32 = 1000.0;

/// `Integrator "name" "handle" parameters`
pub fn integrator(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the integrator's name")?;
    let _handle = args.string("a handle")?;
    let ParamList { declared, undeclared } = read_param_list(r, args)?;
    let params: Vec<Param> = declared.into_iter().chain(undeclared.into_iter().map(Undeclared::into_param)).collect();
    let integrator = match Integrator::named(&name) {
        Some(integrator) => integrator,
        // The others of RIS follow paths in ways of their own, or show what goes wrong.
        None if name.starts_with("Pxr") || name.starts_with("PRMan") => {
            let d = Diagnostic::warning(format!("the integrator `{name}` is not supported"));
            r.warn(d.at(args.whole_span(), "paths are traced in its place"));
            Integrator::Path
        }
        None => {
            let names = names_of::<Integrator>();
            return Err(args.error(format!("unknown integrator `{name}`")).hint(format!("there are: {names}")));
        }
    };
    r.scene.integrator = integrator;
    for p in &params {
        match p.name.as_str() {
            "maxPathLength" | "maxdepth" | "maxIndirectBounces" => {
                let depth = one_float(p)?;
                if !(0.0..=MAX_DEPTH).contains(&depth) {
                    let d = Diagnostic::error(format!("invalid path depth {depth}"));
                    return Err(d.at(p.value_span, "expected 0 to 1000"));
                }
                r.scene.max_depth = depth as u32;
            }
            "estimator" => r.scene.estimator = estimator(one_string(p)?, p.value_span)?,
            "clamp" => {
                let most = one_float(p)?;
                if !(most >= 0.0 && most.is_finite()) {
                    let d = Diagnostic::error(format!("invalid clamp {most}"));
                    return Err(d.at(p.value_span, "expected 0 for no limit, or more"));
                }
                r.scene.clamp = most;
            }
            // How RIS samples and what it saves.
            _ if name.starts_with("Pxr") => {}
            other => {
                let d = Diagnostic::warning(format!("the parameter `{other}` of the integrator has no effect"));
                let known = "it takes \"int maxPathLength\", \"string estimator\" and \"float clamp\"";
                r.warn(d.at(p.value_span, "this").hint(known));
            }
        }
    }
    Ok(())
}

/// The names of an enumeration, for messages.
fn names_of<T: Named>() -> String {
    T::TABLE.iter().map(|(name, ..)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn estimator(name: &str, span: Span) -> Result<Estimator, Diagnostic> {
    Estimator::named(name).ok_or_else(|| {
        let names = names_of::<Estimator>();
        let d = Diagnostic::error(format!("there is no estimator `{name}`"));
        d.at(span, "this").hint(format!("there are: {names}"))
    })
}
