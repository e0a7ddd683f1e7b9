//! A function of the shading language, on one back end or on all: once, or once a pixel.

use super::{Output, registers};
use crate::cli::args::{RunArgs, RunOn, Size};
use crate::cli::backend::{available, open};
use crate::cli::failure::Failure;
use serde_json::{Map, Value, json};
use shadewright::abi::EntryPoint;
use shadewright::image::file as image_file;
use shadewright::image::{Image, check_size};
use shadewright::ir::passes::{Pipeline, matrices};
use shadewright::ir::{Const, FunctionKind, Module, Type, colliding_strings};
use shadewright::lang::types::SourceType;
use shadewright::lang::unit::FunctionInfo;
use shadewright::lang::{FrontEndOptions, Unit, registry};
use shadewright::program::read_shader;
use shadewright::render::call::{CallError, RunnerInfo, TimedRpu, Words, registers_on_rpu, values};
use shadewright::render::{Backend, BackendOptions};
use shadewright::text::diagnostics::Diagnostic;
use shadewright::text::source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// Calls the function and prints what it gives, or draws it.
pub fn run(args: &RunArgs, output: &mut Output) -> Result<(), Failure> {
    let for_programs = [args.memory.is_some(), args.scene.is_some(), args.before.is_some()];
    if !args.set.is_empty() || !args.texture.is_empty() || for_programs.contains(&true) {
        return Err(Failure::input(
            "error: --set, --memory, --scene, --texture and --before are for programs of the RPU (.rpuasm, .rpubin); a function takes arguments",
        ));
    }
    let mut sources = SourceMap::new();
    let text_given = args.file.contains(['{', ';']);
    let file = if text_given {
        sources.add("<command line>", None, args.file.as_str())
    } else {
        let path = Path::new(&args.file);
        let text = read_shader(path).map_err(|e| {
            Failure::input(format!(
                "error: {e}\nhint: the text of a function works too: 'float f(float x) {{ return x; }}'"
            ))
        })?;
        sources.add(args.file.as_str(), Some(path), text)
    };
    let language = registry::for_path(Path::new(&args.file)).filter(|_| !text_given).unwrap_or(registry::DEFAULT);
    let compiled = language.compile(&mut sources, file, &FrontEndOptions::default());
    let Unit::Shaders(unit) = compiled.map_err(|errors| Failure::diagnostics(&errors, &sources))? else {
        return Err(Failure::input(format!("error: `{}` defines classes, and no function to run", args.file)));
    };
    eprint!("{}", unit.warnings.render(&sources));
    // A pixel's position is the first argument.
    let position = args.image.map(|_| "0,0,0".to_string());
    let given: Vec<String> = position.into_iter().chain(args.args.iter().cloned()).collect();
    let (info, arguments) = choose(&unit.functions, &args.function, &given)?;
    let mut module = unit.module;
    let Some(function) = module.function_mut(&info.ir_name) else {
        return Err(Failure::input(format!("error: `{}` has no body", args.function)));
    };
    function.kind = FunctionKind::Entry(EntryPoint::Other);
    let params = function.params.clone();
    let given = arguments.iter().filter_map(|c| if let Const::String(string) = c { Some(&**string) } else { None });
    if let Some((first, second)) = colliding_strings(module.strings().map(|s| &**s).chain(given)) {
        return Err(Failure::diagnostics(&Diagnostic::colliding_strings(first, second).into(), &sources));
    }
    let hidden = params.iter().skip(arguments.len()).map(|p| Const::zero(p.ty));
    let arguments: Vec<Const> = arguments.into_iter().chain(hidden.collect::<Vec<_>>()).collect();
    // The passes leave no matrices, only their rows.
    let arguments = matrices::flatten(&arguments);
    Pipeline::default().run(&mut module, &mut ()).map_err(|e| Failure::input(format!("internal error: {e}")))?;

    match (args.image, &args.out) {
        (Some(size), Some(out)) => {
            if info.result.ir() != Some(Type::Vec3) {
                return Err(Failure::input(format!("error: `{}` gives no color", signature(&info))));
            }
            let calls = pixels(size, &arguments)?;
            let results = on_runners(args, &module, &info, &calls, &sources)?;
            time(args, &module, &info, &calls, &sources, output)?;
            draw(size, out, &results, output)
        }
        _ => {
            let calls = [arguments];
            let results = on_runners(args, &module, &info, &calls, &sources)?;
            print(&module, &info, &results, output);
            time(args, &module, &info, &calls, &sources, output)?;
            if args.registers || args.all_registers {
                let (blocks, constants) =
                    registers_on_rpu(&module, &info.ir_name, &calls[0]).map_err(|e| Failure::render(&e, &sources))?;
                registers::print(&blocks, &constants, args, output);
            }
            Ok(())
        }
    }
}

/// The results of all calls on each runner that `--on` names, one call's words after the other's.
fn on_runners(
    args: &RunArgs,
    module: &Module,
    info: &FunctionInfo,
    calls: &[Vec<Const>],
    sources: &SourceMap,
) -> Result<Vec<(&'static str, Words)>, Failure> {
    let options = BackendOptions { adapter: args.adapter.adapter.clone(), ..BackendOptions::default() };
    let run = |row: RunnerInfo| {
        let runner = open(row.open(&options))?;
        let words = runner.run(module, &info.ir_name, calls).map_err(|error| match error {
            CallError::Backend(error) => Failure::render(&error, sources),
            CallError::Evaluator { .. } => Failure::diagnostics(&error.diagnostic().into(), sources),
        })?;
        Ok((row.name, words.concat()))
    };
    on(args)?.into_iter().map(run).collect()
}

/// The runners that `--on` and `--engine` name.
fn on(args: &RunArgs) -> Result<Vec<RunnerInfo>, Failure> {
    let mut rows = args.on.runners();
    let Some(engine) = available(args.engine)? else { return Ok(rows) };
    let Some(at) = rows.iter().position(|row| row.name == Backend::RPU.name()) else { return Ok(rows) };
    let backend = Backend::from_engine(engine).unwrap_or(Backend::RPU);
    rows.splice(at..=at, RunOn::Runner(backend.name()).runners());
    Ok(rows)
}

/// Runs the calls on the timed simulator and prints how long that takes, where it is asked for.
fn time(
    args: &RunArgs,
    module: &Module,
    info: &FunctionInfo,
    calls: &[Vec<Const>],
    sources: &SourceMap,
    output: &mut Output,
) -> Result<(), Failure> {
    if !args.timed {
        return Ok(());
    }
    let (_, stats) =
        TimedRpu::default().run_with_stats(module, &info.ir_name, calls).map_err(|e| Failure::render(&e, sources))?;
    output.times(&stats);
    Ok(())
}

/// The arguments of the call for each pixel: the first is `((x + ½) / width, (y + ½) / height, 0)`,
/// rows from the top.
fn pixels(size: Size, arguments: &[Const]) -> Result<Vec<Vec<Const>>, Failure> {
    let Size(width, height) = size;
    check_size(width, height).map_err(|e| Failure::input(format!("error: {e}")))?;
    let call = |x: u32, y: u32| {
        let mut call = arguments.to_vec();
        call[0] = Const::Vec3([(x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32, 0.0]);
        call
    };
    Ok((0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| call(x, y)).collect())
}

/// Writes the first back end's image and says whether the others agree.
fn draw(size: Size, out: &Path, results: &[(&str, Words)], output: &mut Output) -> Result<(), Failure> {
    if let Some((_, words)) = results.first() {
        let stride = words.len() / (size.0 as usize * size.1 as usize);
        let color = |words: &[u32]| {
            let [r, g, b] = [0, 1, 2].map(|k| f32::from_bits(words[k]));
            [r, g, b, 1.0]
        };
        let rgba = words.chunks_exact(stride.max(3)).map(color).collect();
        let image = Image::new(size.0, size.1, rgba).map_err(|e| Failure::input(format!("error: {e}")))?;
        image_file::write(out, &image)?;
    }
    verdict(results, output);
    Ok(())
}

/// Says whether back ends agree, where there are several.
fn verdict(results: &[(&str, Words)], output: &mut Output) {
    if results.len() > 1 {
        let agree = results.windows(2).all(|w| w[0].1 == w[1].1);
        output.part("equal_bits", json!(agree), if agree { "all agree to the bit" } else { "the bits differ" });
    }
}

fn print(module: &Module, info: &FunctionInfo, results: &[(&str, Words)], output: &mut Output) {
    let Some(function) = module.function(&info.ir_name) else { return };
    for (runner, words) in results {
        let values = values(function, words);
        let named = || function.results.iter().zip(&values);
        let shown: Vec<_> = named().map(|(r, v)| format!("{} = {}", r.name, show(v))).collect();
        let record: Map<String, Value> = named().map(|(r, v)| (r.name.to_string(), json_value(v))).collect();
        output.part(runner, record.into(), &format!("{runner:<5} {}", shown.join(", ")));
    }
    verdict(results, output);
}

fn show(value: &Const) -> String {
    match (value, value.floats()) {
        (_, Some([x])) => format!("{x}"),
        (_, Some(list)) => format!("({})", list.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(", ")),
        (Const::Bool(b), _) => b.to_string(),
        _ => format!("{:#x}", value.bits().first().copied().unwrap_or(0)),
    }
}

fn json_value(value: &Const) -> Value {
    match value.floats() {
        Some([x]) => json!(x),
        Some(list) => json!(list),
        None => json!(value.bits()),
    }
}

/// The function of that name whose parameters the arguments fit.
fn choose(functions: &[FunctionInfo], name: &str, given: &[String]) -> Result<(FunctionInfo, Vec<Const>), Failure> {
    let named: Vec<_> = functions.iter().filter(|f| *f.name == *name).collect();
    if named.is_empty() {
        let known: Vec<_> = functions.iter().map(|f| f.name.to_string()).collect();
        let hint = if known.is_empty() {
            "the file defines no functions".into()
        } else {
            format!("there are: {}", known.join(", "))
        };
        return Err(Failure::input(format!("error: there is no function `{name}`\nhint: {hint}")));
    }
    let mut reasons = Vec::new();
    for f in named {
        match arguments(f, given) {
            Ok(values) => return Ok((f.clone(), values)),
            Err(reason) => reasons.push(format!("`{}` {reason}", signature(f))),
        }
    }
    Err(Failure::input(format!("error: the arguments do not fit: {}", reasons.join("; "))))
}

fn signature(f: &FunctionInfo) -> String {
    let params: Vec<_> = f.params.iter().map(|(name, ty, _)| format!("{ty} {name}")).collect();
    format!("{} {}({})", f.result, f.name, params.join("; "))
}

fn arguments(f: &FunctionInfo, given: &[String]) -> Result<Vec<Const>, String> {
    if given.len() != f.params.len() {
        return Err(format!("takes {} arguments, not {}", f.params.len(), given.len()));
    }
    f.params
        .iter()
        .zip(given)
        .map(|((name, ty, _), text)| argument(*ty, text).ok_or(format!("takes {ty} {name}, not `{text}`")))
        .collect()
}

fn argument(ty: SourceType, text: &str) -> Option<Const> {
    if ty == SourceType::String {
        return Some(Const::String(Arc::from(text.trim_matches('"'))));
    }
    let numbers: Vec<f32> =
        text.trim_matches(['(', ')']).split(',').map(|x| x.trim().parse().ok()).collect::<Option<_>>()?;
    if ty == SourceType::Matrix {
        // One number is that multiple of the identity.
        let numbers = match numbers[..] {
            [x] => (0..16).map(|i| if i % 5 == 0 { x } else { 0.0 }).collect(),
            _ => numbers,
        };
        return Some(Const::Mat4(Box::new(numbers.try_into().ok()?)));
    }
    match (ty.ir()?.lanes()?, numbers.as_slice()) {
        (1, [x]) => Some(Const::F32(*x)),
        (3, [x]) => Some(Const::Vec3([*x; 3])),
        (3, [x, y, z]) => Some(Const::Vec3([*x, *y, *z])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbers_triples_and_texts() {
        assert_eq!(argument(SourceType::Float, "-2.5"), Some(Const::F32(-2.5)));
        assert_eq!(argument(SourceType::Color, "(1, 2,3)"), Some(Const::Vec3([1.0, 2.0, 3.0])));
        assert_eq!(argument(SourceType::Point, "2"), Some(Const::Vec3([2.0; 3])));
        assert_eq!(argument(SourceType::String, "\"a\""), Some(Const::String("a".into())));
        assert_eq!(argument(SourceType::Float, "1,2"), None);
        assert_eq!(argument(SourceType::Matrix, "1,2,3"), None);
        let twice = argument(SourceType::Matrix, "2");
        assert_eq!(twice.as_ref().and_then(Const::floats).map(|m| [m[0], m[1], m[15]]), Some([2.0, 0.0, 2.0]));
    }
}
