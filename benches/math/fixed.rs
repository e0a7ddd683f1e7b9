//! Fixed point against single precision: the operations of figure 4.14 of Olano 1998 in pfman, on the
//! RPU and on a GPU.

use crate::measure::{Cost, cost_of, module};
use serde_json::{Value, json};
use shadewright::ir::{Const, Module};
use shadewright::render::BackendOptions;
use shadewright::render::call::{FunctionRunner, runners};
use std::time::Instant;

/// The types: their names in the figure and in pfman.
const TYPES: [(&str, &str); 3] =
    [("16-bit fixed", "fixed<15,8>"), ("32-bit fixed", "fixed<31,16>"), ("float", "float")];

/// An operation.
struct Operation {
    name: &'static str,
    /// A statement that changes `a`, and may read `b`.
    statement: &'static str,
    /// Figure 4.14, in µs, for each of [`TYPES`].
    times: [Option<f64>; 3],
    /// Most iterations of a call's loop: a GPU allows 32,768 back edges, and a division in fixed
    /// point takes up to 63 of them.
    iterations: u32,
}

const OPERATIONS: [Operation; 6] = [
    Operation { name: "+", statement: "a = a + b;", times: [Some(0.07), Some(0.13), Some(3.08)], iterations: 1 << 14 },
    Operation { name: "*", statement: "a = a * b;", times: [Some(0.50), Some(2.00), Some(2.04)], iterations: 1 << 14 },
    Operation { name: "/", statement: "a = a / b;", times: [Some(1.60), Some(6.40), Some(7.07)], iterations: 64 },
    Operation {
        name: "sqrt",
        statement: "a = sqrt(a);",
        times: [Some(1.22), Some(3.33), Some(6.99)],
        iterations: 1 << 14,
    },
    Operation {
        name: "noise",
        statement: "a = noise(a);",
        times: [Some(5.71), None, Some(21.64)],
        iterations: 1 << 14,
    },
    Operation {
        name: "noise, 3 dimensions",
        statement: "a = noise({a, b, a});",
        times: [None; 3],
        iterations: 1 << 14,
    },
];

/// Times that a statement follows itself.
const REPEATED: usize = 8;
/// Calls of a function whose time is measured.
const CALLS: usize = 1 << 14;
/// Seconds that a measurement takes at least.
const LEAST: f64 = 0.1;
/// Runs of which the fastest counts.
const RUNS: usize = 3;

fn straight(ty: &str, statement: &str, times: usize) -> String {
    format!("float f(float x, float y) {{ {ty} a = x, b = y; {} return a; }}", statement.repeat(times))
}

fn looped(ty: &str, statement: &str) -> String {
    let body = statement.repeat(REPEATED);
    format!(
        "float f(float x, float y, float n) {{
            {ty} a = x, b = y; float i;
            for (i = 0; i < n; i += 1) {{ {body} }}
            return a;
        }}"
    )
}

/// Different numbers near 1.
fn place(i: usize) -> [Const; 2] {
    [1.0 + (i % 61) as f32 / 64.0, 1.0 + (i % 7) as f32 / 32.0].map(Const::F32)
}

/// The cost of one operation on the RPU, by what many in a row cost more than none.
fn on_rpu(ty: &str, statement: &str) -> anyhow::Result<Cost> {
    let arguments: Vec<Vec<Const>> = (0..256).map(|i| place(i).to_vec()).collect();
    let cost = |times: usize| cost_of(&module("f.pfman", &straight(ty, statement, times))?, &arguments);
    let (many, none) = (cost(REPEATED)?, cost(0)?);
    let one = |of: fn(&Cost) -> f64| (of(&many) - of(&none)) / REPEATED as f64;
    Ok(Cost { instructions: one(|c| c.instructions), issued: one(|c| c.issued), cycles: one(|c| c.cycles) })
}

/// The seconds that calls with so many iterations take.
fn seconds(runner: &dyn FunctionRunner, module: &Module, iterations: u32) -> anyhow::Result<f64> {
    let call = |i| place(i).into_iter().chain([Const::F32(iterations as f32)]).collect::<Vec<_>>();
    let calls: Vec<Vec<Const>> = (0..CALLS).map(call).collect();
    let mut fastest = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        runner.run(module, "f", &calls)?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// Nanoseconds of one operation: what more iterations of the same program take longer.
fn nanoseconds(runner: &dyn FunctionRunner, ty: &str, operation: &Operation) -> anyhow::Result<f64> {
    let module = module("f.pfman", &looped(ty, operation.statement))?;
    seconds(runner, &module, 1)?;
    let none = seconds(runner, &module, 0)?;
    let mut iterations = 16;
    loop {
        let taken = seconds(runner, &module, iterations)? - none;
        if taken >= LEAST || iterations >= operation.iterations {
            return Ok(taken * 1e9 / (iterations as usize * REPEATED * CALLS) as f64);
        }
        iterations *= 4;
    }
}

/// Prints the table of the operations whose names are wanted, and gives it as JSON.
///
/// # Errors
/// When a program does not compile, or a back end fails.
pub fn table(is_wanted: &dyn Fn(&str) -> bool, quiet: bool) -> anyhow::Result<Value> {
    let gpu = runners().into_iter().find(|row| row.uses_gpu);
    let gpu = gpu.map(|row| row.open(&BackendOptions::default())).transpose()?;
    if !quiet {
        println!("| operation | | {} | float : 16 | float : 32 |", TYPES.map(|(name, _)| name).join(" | "));
        println!("|---|---|---|---|---|---|---|");
    }
    let mut rows = Vec::new();
    for operation in OPERATIONS.iter().filter(|operation| is_wanted(operation.name)) {
        let each = |measure: &dyn Fn(&str) -> anyhow::Result<f64>| -> anyhow::Result<[Option<f64>; 3]> {
            let [narrow, wide, float] = TYPES.map(|(_, ty)| measure(ty));
            Ok([Some(narrow?), Some(wide?), Some(float?)])
        };
        let mut measured = vec![
            ("PixelFlow, µs", operation.times),
            ("RPU, instructions", each(&|ty| Ok(on_rpu(ty, operation.statement)?.instructions))?),
            ("RPU, cycles of four threads", each(&|ty| Ok(on_rpu(ty, operation.statement)?.cycles))?),
        ];
        if let Some(gpu) = &gpu {
            measured.push(("GPU, ns", each(&|ty| nanoseconds(gpu.as_ref(), ty, operation))?));
        }
        for (what, values) in measured.into_iter().filter(|(_, values)| values.iter().any(Option::is_some)) {
            let ratio = |n: usize| Some(values[2]? / values[n]?);
            let shown = |x: Option<f64>| x.map_or("—".to_string(), |x| format!("{x:.2}"));
            let cells = [values[0], values[1], values[2], ratio(0), ratio(1)].map(shown);
            if !quiet {
                println!("| `{}` | {what} | {} |", operation.name, cells.join(" | "));
            }
            rows.push(json!({ "operation": operation.name, "measured": what, "values": values }));
        }
    }
    Ok(Value::Array(rows))
}
