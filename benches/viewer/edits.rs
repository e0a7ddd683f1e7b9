//! How long an edited parameter takes to become shading data, with uniform code on the host and
//! without.

use anyhow::{anyhow, bail};
use serde_json::{Value, json};
use shadewright::ir::passes::Pipeline;
use shadewright::project::{InstanceId, Outcome, Project, ProjectOptions, Source};
use shadewright::scene::ParamValue;
use std::path::Path;
use std::time::Instant;

/// Values that each parameter takes.
const VALUES: usize = 50;

/// The time and work of the edits of a scene's parameters.
struct Edits {
    /// Milliseconds of each edit, in order.
    times: Vec<f64>,
    /// Stages of uniform code that ran, and those whose results were known.
    runs: usize,
    reuses: usize,
}

/// Drags each number of each shader of a scene through values.
///
/// # Errors
/// When the scene has errors.
pub fn edits(scene: Option<&Path>, quiet: bool) -> anyhow::Result<Value> {
    let mut rows = Vec::new();
    for passes in ["all", "-uniform"] {
        let source = scene.map_or(Source::BuiltIn("showcase".into()), |path| Source::File(path.to_path_buf()));
        let pipeline = Pipeline::parse(passes).map_err(|e| anyhow!("{e}"))?;
        let Edits { times, runs, reuses } =
            dragged(Project::new(source, ProjectOptions { pipeline, ..ProjectOptions::default() }))?;
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let (median, worst) = (at(0.5), at(1.0));
        if !quiet {
            let count = times.len();
            println!(
                "{passes:>9}: {median:8.3} ms an edit, {worst:8.3} at most, of {count}; {runs} stages ran, {reuses} were known"
            );
        }
        rows.push(json!({ "passes": passes, "median_ms": median, "worst_ms": worst, "runs": runs, "reuses": reuses }));
    }
    Ok(json!(rows))
}

fn dragged(mut project: Project) -> anyhow::Result<Edits> {
    let Outcome::Ready(state) = project.refresh() else { bail!("the scene has errors") };
    let instances = state.parameters.instances.iter();
    let numbers: Vec<(InstanceId, String, f32)> = instances
        .flat_map(|i| i.params.iter().map(move |p| (i.id, p.name.clone(), p.value().clone())))
        .filter_map(|(id, name, value)| match value {
            ParamValue::Float(v) if v.len() == 1 => Some((id, name, v[0])),
            _ => None,
        })
        .collect();
    let mut edits = Edits { times: Vec::new(), runs: 0, reuses: 0 };
    for (id, name, value) in &numbers {
        for step in 1..=VALUES {
            let value = ParamValue::Float(vec![value + step as f32 / 128.0]);
            let start = Instant::now();
            let outcome = project.set_parameter(*id, name, Some(value)).map_err(|e| anyhow!("{e}"))?;
            edits.times.push(1e3 * start.elapsed().as_secs_f64());
            if let Outcome::Ready(state) = outcome {
                edits.runs += state.program.uniform.runs;
                edits.reuses += state.program.uniform.reuses;
            }
        }
        project.set_parameter(*id, name, None).map_err(|e| anyhow!("{e}"))?;
    }
    if edits.times.is_empty() {
        bail!("the scene's shaders have no numbers");
    }
    edits.times.sort_by(f64::total_cmp);
    Ok(edits)
}
