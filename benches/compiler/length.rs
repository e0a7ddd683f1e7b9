//! How the time of the compiler grows with the length of a shader: for shaders of so many and of
//! twice as many lines, the quotient of the times. Linear is 2.

use super::common::rounded;
use anyhow::anyhow;
use serde_json::{Value, json};
use shadewright::abi::Intrinsic;
use shadewright::codegen::rpu;
use shadewright::ir::passes::Pipeline;
use shadewright::ir::{Function, FunctionBuilder, Module, Op, Type};
use shadewright::lang::{FrontEndOptions, rsl};
use shadewright::text::source::SourceMap;
use std::time::Instant;

/// The lines of the shorter shaders that are measured.
pub const LINES: usize = 2000;

/// A shader by what it consists of: declarations before the lines, and each line by its number.
type Lines = (&'static str, &'static str, fn(usize) -> String);

const SHADERS: [Lines; 5] = [
    ("calls", "", |i| format!("c += noise(P*{i})*texture(\"t{i}.tx\",s,t);\n")),
    ("branches", "", |i| format!("if (y > {i}) {{ c += color(s,t,{i}); y = y*0.5; }} else y += s*{i};\n")),
    ("loops", "float i;\n", |i| format!("for (i = 0; i < s*{i}; i += 1) c += noise(P*i)/(i+1);\n")),
    ("selections", "", |i| format!("c += (s > {i}*.1 ? t*{i} : s*s);\n")),
    ("reciprocals", "vector v = P;\n", |i| format!("v = normalize(v+vector({i},s,t)); c += 1/(v.v);\n")),
];

/// The linker's function that finds a texture by its name, for shaders that are compiled without a
/// scene: it takes the identifier for the address.
fn find_texture() -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::TextureFind);
    b.result("return", Type::Ref);
    let name = b.param("name", Type::String);
    let id = b.op_as(Op::Bitcast, &[name], Type::U32);
    let address = b.op_as(Op::Bitcast, &[id], Type::Ref);
    b.ret(vec![address]);
    b.finish()
}

/// Seconds of the front end, of the passes and of the RPU back end.
fn seconds(before: &str, line: fn(usize) -> String, lines: usize) -> anyhow::Result<[f64; 3]> {
    let body: String = (0..lines).map(line).collect();
    let text = format!("surface s() {{ color c = 0; float y = t;\n{before}{body}Ci = c; Oi = 1; }}");
    let mut sources = SourceMap::new();
    let file = sources.add("s.sl", None, text);
    let start = Instant::now();
    let unit = rsl::compile(&mut sources, file, &FrontEndOptions::default());
    let mut module: Module = unit.map_err(|d| anyhow!("{}", d.render(&sources)))?.module;
    let front = start.elapsed();
    module.functions.push(find_texture());
    let start = Instant::now();
    Pipeline::default().run(&mut module, &mut ()).map_err(|e| anyhow!("{e}"))?;
    let passes = start.elapsed();
    let start = Instant::now();
    rpu::compile(&module, &rpu::RpuOptions::default()).map_err(|e| anyhow!("{e}"))?;
    Ok([front, passes, start.elapsed()].map(|time| time.as_secs_f64()))
}

/// Measures the quotients for shaders of `lines` and of twice as many, and prints them unless `quiet`.
pub fn length(lines: usize, only: Option<&str>, quiet: bool) -> anyhow::Result<Value> {
    let mut rows = Vec::new();
    for (name, before, line) in SHADERS.into_iter().filter(|s| only.is_none_or(|part| s.0.contains(part))) {
        let [short, long] = [lines, 2 * lines].map(|lines| seconds(before, line, lines));
        let (short, long) = (short?, long?);
        let ratio = |stage: usize| rounded(long[stage] / short[stage]);
        rows.push(json!({
            "shader": name,
            "lines": lines,
            "seconds": short.map(rounded),
            "front_end": ratio(0),
            "passes": ratio(1),
            "rpu": ratio(2),
        }));
    }
    if !quiet {
        println!("{:<12} {:>9} {:>8} {:>8}", "shader", "front end", "passes", "RPU");
        for row in &rows {
            let name = row["shader"].as_str().unwrap_or_default();
            let [front, passes, rpu] = ["front_end", "passes", "rpu"].map(|stage| row[stage].as_f64().unwrap_or(0.0));
            println!("{name:<12} {front:>9.2} {passes:>8.2} {rpu:>8.2}");
        }
    }
    Ok(Value::Array(rows))
}
