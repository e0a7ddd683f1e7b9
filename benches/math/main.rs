//! The transcendental functions of the standard library (docs/math.md): their fit, errors and cost,
//! and what fixed point saves. `cargo bench --bench math -- NAME`.

#[path = "../common/mod.rs"]
mod common;

mod fit;
mod fixed;
mod functions;
mod measure;

use clap::{Parser, ValueEnum};
use common::{Benchmark, Common, rounded};
use functions::{EXACT, Exact, FAST, FUNCTIONS, Function};
use measure::{Cost, Errors};
use serde_json::{Value, json};

/// Fits the polynomials of the standard library, and measures its transcendental functions.
#[derive(Debug, Parser)]
struct Arguments {
    /// Table to print
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Measure errors of every Nth float; 1 measures all
    #[arg(long, value_name = "N", default_value_t = 1021, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    every: u32,
    /// Measure only functions and operations with PART in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Name {
    /// The coefficients of exact.sl and fast.sl
    Fit,
    /// Order, errors and instructions of every function
    #[default]
    Table,
    /// Fixed point against single precision, in pfman
    Fixed,
}

/// Places at which a polynomial is compared with its function.
const SAMPLES: u32 = 1 << 20;

impl Benchmark for Arguments {
    const TARGET: &str = "math";
    const SMALLEST: &[&str] = &["fit", "table --only sin --every 1048576", "fixed --only +"];

    fn common(&self) -> Common {
        self.common
    }

    fn measure(&self) -> anyhow::Result<Value> {
        let Arguments { name, every, only, common } = self;
        let is_wanted = |name: &str| only.as_ref().is_none_or(|part| name.contains(part));
        match name {
            Name::Fit => Ok(fit_all(common.json)),
            Name::Table => table(&is_wanted, *every as usize, common.json),
            Name::Fixed => fixed::table(&is_wanted, common.json),
        }
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}

fn fit_all(quiet: bool) -> Value {
    let mut rows = Vec::new();
    for exact in &EXACT {
        let coefficients = exact.form.fit();
        let error = exact.form.largest_error(&coefficients, SAMPLES);
        let shown: Vec<String> = coefficients.iter().rev().map(|c| format!("{c:?}")).collect();
        if !quiet {
            println!("{}: {}, order {}, off by {error:.2e}", exact.holder, exact.what, exact.form.order());
            println!("    {}", shown.join("  "));
        }
        rows.push(
            json!({ "function": exact.holder, "order": exact.form.order(), "error": error, "coefficients": shown }),
        );
    }
    for fast in &FAST {
        let shown: Vec<String> = fast.coefficients().iter().rev().map(|c| format!("{c:?}")).collect();
        if !quiet {
            println!("{}: {}\n    {}", fast.holder, fast.what, shown.join("  "));
        }
        rows.push(json!({ "function": fast.holder, "order": 3, "coefficients": shown }));
    }
    Value::Array(rows)
}

/// The measurements of a function.
struct Row {
    function: &'static Function,
    /// Errors and costs of the exact function, then of the fast one.
    errors: [Errors; 2],
    costs: [Cost; 2],
}

impl Row {
    fn new(function: &'static Function, every: usize) -> anyhow::Result<Self> {
        let [exact, fast] = [function.call.to_string(), measure::fast(function.call)];
        let errors = [measure::errors(function, &exact, every)?, measure::errors(function, &fast, every)?];
        let costs = [measure::cost(function, &exact)?, measure::cost(function, &fast)?];
        Ok(Self { function, errors, costs })
    }

    /// The error of the polynomial before it is computed in single precision.
    fn fit(&self) -> Option<(u32, f64)> {
        let Exact { form, .. } = self.function.polynomial()?;
        Some((form.order(), form.largest_error(&form.fit(), SAMPLES)))
    }

    fn ratio(&self) -> f64 {
        self.costs[0].instructions / self.costs[1].instructions
    }

    fn print_exact(&self) {
        let (Errors { relative, ulps, .. }, Cost { instructions, issued, .. }) = (self.errors[0], self.costs[0]);
        let (order, fit) = self.fit().map_or_else(Default::default, |(o, e)| (o.to_string(), format!("{e:.1e}")));
        let name = self.function.name;
        println!("| `{name}` | {order} | {fit} | {relative:.1e} | {ulps:.2} | {instructions:.1} | {issued:.1} |");
    }

    fn print_fast(&self) {
        let (Errors { visible, .. }, Cost { instructions, issued, .. }) = (self.errors[1], self.costs[1]);
        let [times, of_times] = match self.function.times {
            Some([exact, fast]) => [format!("{exact:.2} µs, {fast:.2} µs"), format!("{:.2}", exact / fast)],
            None => Default::default(),
        };
        let (name, ratio) = (self.function.name, self.ratio());
        println!("| `{name}` | {visible:.1e} | {instructions:.1} | {issued:.1} | {ratio:.2} | {of_times} | {times} |");
    }

    fn json(&self) -> Value {
        let of = |n: usize| {
            let (errors, cost) = (self.errors[n], self.costs[n]);
            json!({
                "relative": errors.relative, "visible": errors.visible, "ulps": rounded(errors.ulps), "at": errors.at,
                "arguments": errors.count,
                "instructions": rounded(cost.instructions), "issued": rounded(cost.issued),
            })
        };
        json!({
            "function": self.function.name, "stated_ulps": self.function.ulps, "exact": of(0), "fast": of(1),
            "ratio": rounded(self.ratio()),
        })
    }
}

fn table(is_wanted: &dyn Fn(&str) -> bool, every: usize, quiet: bool) -> anyhow::Result<Value> {
    let functions = FUNCTIONS.iter().filter(|f| is_wanted(f.name));
    let rows = functions.map(|f| Row::new(f, every)).collect::<anyhow::Result<Vec<_>>>()?;
    if !quiet {
        println!("| function | order | polynomial | relative | ulp | instructions | diverging |");
        println!("|---|---|---|---|---|---|---|");
        rows.iter().for_each(Row::print_exact);
        println!("\n| function | relative | instructions | diverging | exact : fast | PixelFlow | exact, fast |");
        println!("|---|---|---|---|---|---|---|");
        rows.iter().for_each(Row::print_fast);
    }
    Ok(Value::Array(rows.iter().map(Row::json).collect()))
}
