//! `--emit memory`: the pixel memory that shaders take on PixelFlow.

use super::super::args::CompileArgs;
use super::super::failure::Failure;
use super::{Compiled, compiled, linked_shader};
use shadewright::abi::ShaderKind;
use shadewright::ir::passes::Pipeline;
use shadewright::machines::pixelflow::{Budget, Compiler, ShaderCode, Shaders, memory_map};
use std::path::Path;
use std::sync::Arc;

/// The tables and maps of the file's shaders; a drawing of the maps where the output is named
/// `.svg`.
pub fn memory(args: &CompileArgs) -> Result<String, Failure> {
    let Compiled { shaders, sources, .. } = compiled(args)?;
    if shaders.is_empty() {
        return Err(Failure::input("error: --emit memory is for shaders, and the file has none"));
    }
    let mut found = Vec::new();
    for shader in &shaders {
        if shader.kind == ShaderKind::Imager {
            continue;
        }
        let (module, entry) = linked_shader(args, shader, sources.clone(), &Pipeline::none(), true)?;
        let mut codes = codes(module, shader.kind, &entry)?;
        let name = shader.name.to_string();
        let name: Arc<str> = name.rsplit(':').next().unwrap_or(&name).into();
        codes.iter_mut().for_each(|code| code.name = name.clone());
        found.extend(codes);
    }
    let is_drawing = args.out.as_deref().and_then(Path::extension).is_some_and(|e| e.eq_ignore_ascii_case("svg"));
    if is_drawing {
        return Ok(memory_map::drawing(&found));
    }
    let texts: Vec<String> = found.iter().map(|shader| memory_map::text(shader, &Budget::default())).collect();
    Ok(texts.join("\n"))
}

/// The code of a linked shader of a kind.
fn codes(module: shadewright::ir::Module, kind: ShaderKind, entry: &str) -> Result<Vec<ShaderCode>, Failure> {
    let internal = |e: String| Failure::input(format!("internal error: {e}"));
    let shaders = Shaders::new(module, &[entry]).map_err(internal)?;
    let compiler = Compiler::new(&shaders.prepared.module);
    if kind != ShaderKind::Light {
        let all = shaders.for_entry(&compiler, entry).into_iter();
        return Ok(all.filter(|(k, _)| *k == kind).map(|(_, code)| code).collect());
    }
    let name: Arc<str> = entry.into();
    let Some(function) = shaders.prepared.module.function(entry) else { return Ok(Vec::new()) };
    // The number of the light is uniform, the point that it lights is not.
    let varying: Vec<bool> = function.params.iter().map(|p| p.ty.lanes().is_some()).collect();
    let code = compiler.function(&name, &varying, true);
    Ok(code.map(|code| ShaderCode::new(&name, code)).into_iter().collect())
}
