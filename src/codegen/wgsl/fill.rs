//! Generated functions in hand-written kernels.
//!
//! A kernel is text that declares the function, with any body. The body is replaced by what an IR
//! function of the same name compiles to; calls of functions that the IR's module does not have go
//! to those of the text.

use super::code::Code;
use super::kit::Kit;
use super::lower::{Callee, Locations, Lowered, Plain, lower_body, prepare};
use super::{Error, text};
use naga::Expression;
use shadewright_bvh::gpu::kernel::PassKernel;
use shadewright_generators::{self as generators, Arguments};
use shadewright_ir::Module;

/// The text of a traversal kernel, with the walk that is generated for it where its variant has
/// one.
///
/// # Errors
/// The walk does not fit the text: a mistake of the generator.
pub fn traversal_kernel(source: &PassKernel) -> Result<String, Error> {
    let text = source.wgsl();
    match Arguments::for_variant(source.variant) {
        Some(arguments) => fill(&text, generators::WALK, &generators::surrounded(&arguments)),
        None => Ok(text),
    }
}

/// The text of a kernel in which the function `name` has the body of the function of that name in
/// `module`. The text's declaration must have the parameters' and results' types, several results
/// as a structure, and its body must call each function of the text that the new one calls: so
/// those are declared before it. The function's loops take from no budget.
///
/// # Errors
/// There is no such function, or it calls functions that the text does not have, or the
/// declarations differ.
pub fn fill(kernel: &str, name: &str, module: &Module) -> Result<String, Error> {
    let mut kit = Kit::parse(kernel)?;
    let handle = kit.shared(name)?;
    let func = module.function(name).ok_or_else(|| Error::Internal(format!("there is no function `{name}`")))?;
    let functions = kit.functions().filter(|(_, callee)| callee.index() < handle.index());
    let lowered: Lowered = functions.map(|(name, callee)| (name.into(), Callee::Surrounding(callee))).collect();
    let declared = &kit.module.functions[handle];
    let (arguments, result) = (declared.arguments.clone(), declared.result.clone());
    let types = func.params.iter().map(|p| kit.ty(p.ty)).collect::<Result<Vec<_>, _>>()?;
    if !arguments.iter().map(|a| a.ty).eq(types) {
        return Err(Error::Internal(format!("`{name}` is declared with other parameters")));
    }
    let mut code = Code::new(&mut kit, name.into());
    code.func.arguments = arguments;
    let ty = result.as_ref().map(|result| result.ty);
    code.func.result = result;
    let params: Vec<_> = (0..func.params.len()).map(|i| code.expr(Expression::FunctionArgument(i as u32))).collect();
    let ending = Plain { result: ty, count: func.results.len(), has_budget: false };
    let filled = lower_body(&prepare(func), code, &params, &lowered, &mut Locations::default(), &ending)?;
    kit.module.functions[handle] = filled;
    text(&kit.module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir as ir;

    const KERNEL: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        struct Pair { a: u32, b: u32 }
        fn table(i: u32) -> vec4<u32> { return vec4(data[i]); }
        fn pair(x: u32) -> Pair { return Pair(table(x).x, 0u); }
        @compute @workgroup_size(1) fn main() { data[0] = pair(7u).b; }
    ";

    fn module(text: &str) -> Module {
        ir::parse(text, FileId(0)).expect("the text form is right")
    }

    #[test]
    fn a_body_is_replaced_and_calls_the_texts_functions() {
        let generated = module(
            "fn pair(v0 x: u32) -> (a: u32, b: u32) {\nb0:\n v1: u32, v2: u32, v3: u32, v4: u32 = call table(v0)\n \
             v5: u32 = iadd v1, v4\n ret v2, v5\n}",
        );
        let text = fill(KERNEL, "pair", &generated).expect("it fits");
        assert!(text.contains(".x + ") && text.contains(".w"), "{text}");
    }

    #[test]
    fn other_parameters_and_unknown_functions_are_refused() {
        let other = module("fn pair(v0 x: f32) -> (a: f32, b: f32) {\nb0:\n ret v0, v0\n}");
        let message = fill(KERNEL, "pair", &other).unwrap_err().to_string();
        assert!(message.contains("other parameters"), "{message}");
        let unknown =
            module("fn pair(v0 x: u32) -> (a: u32, b: u32) {\nb0:\n v1: u32 = call other(v0)\n ret v1, v1\n}");
        assert!(fill(KERNEL, "pair", &unknown).is_err());
        assert!(fill(KERNEL, "nothing", &unknown).is_err());
    }
}
