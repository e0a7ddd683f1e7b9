//! `shadewright bench NAME`: measurements that compare computers. Those of the project's own design
//! choices are in `benches/`.

mod backends;
mod compile;
mod generated;
#[cfg(feature = "gpu")]
mod gpu_rays;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu_rays.rs"]
mod gpu_rays;
mod meshes;
mod ray_machines;
mod rays;
mod reload;
mod startup;

use super::args::Benchmark;
use super::backend::{set_thread_count, set_up_process};
use super::failure::Failure;
use super::output::print_json;
use serde_json::{Value, json};

/// Measured runs of each thing, alternately, after one that is not counted.
const RUNS: usize = 5;

/// Runs a measurement and prints its results.
///
/// # Errors
/// The errors of the measurement.
pub fn run(benchmark: &Benchmark) -> Result<(), Failure> {
    match benchmark {
        Benchmark::Rays(args) => {
            set_thread_count(args.threads)?;
            let results = rays::kernels(args)?;
            if args.json { print_json(&results) } else { Ok(()) }
        }
        Benchmark::Backends(args) => {
            set_up_process(&args.cpu)?;
            let results = backends::frames(args)?;
            if args.json { print_json(&results) } else { Ok(()) }
        }
        Benchmark::RayMachines(args) => {
            set_up_process(&args.cpu)?;
            ray_machines::run(args)
        }
        Benchmark::Startup(args) => {
            set_thread_count(args.threads)?;
            print(&startup::image(args)?, args.json)
        }
        Benchmark::Reload(args) => {
            set_thread_count(args.threads)?;
            print(&reload::shader_edits(args)?, args.json)
        }
        Benchmark::Compile(args) => print(&compile::times()?, args.json),
    }
}

/// Prints results as JSON, or name by name.
fn print(results: &Value, as_json: bool) -> Result<(), Failure> {
    match results {
        Value::Object(map) if !as_json => map.iter().for_each(|(name, value)| println!("{name:<28} {value}")),
        _ => print_json(results)?,
    }
    Ok(())
}

fn rounded(x: f64) -> Value {
    json!((x * 1000.0).round() / 1000.0)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_five_is_the_third() {
        assert_eq!(median(vec![5.0, 1.0, 4.0, 2.0, 3.0]), 3.0);
    }
}
