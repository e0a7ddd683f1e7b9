//! Intersection shaders as functions that a traversal kernel calls.
//!
//! A traversal kernel is text. The shaders are added to a [`Kit`] and printed as text too; the parts
//! of the traversal kernel, which call `intersect_procedural`, follow.

use super::Error;
use super::code::Code;
use super::kit::Kit;
use super::lower::{self, Callee, Locations, Lowered};
use super::{lower_callees, text};
use naga::{Block, Expression, Span, Statement, SwitchCase, SwitchValue};
use shadewright_ir::{Module, Type};

/// Name of the function that intersects a ray with a primitive: `(origin, dir, t_min, t_max, data)
/// -> t`, below 0 for a miss.
const INTERSECT: &str = "intersect_procedural";

/// The parameters of the function, which each of the entries has too.
const PARAMETERS: [(&str, Type); 5] =
    [("origin", Type::Vec3), ("dir", Type::Vec3), ("t_min", Type::F32), ("t_max", Type::F32), ("data", Type::Ref)];

/// The text of the kit with `intersect_procedural`, which asks the kit's `procedural_kind(data) -> u32`
/// which of the entries to call.
///
/// # Errors
/// A missing entry, or an operation without GPU support.
pub(super) fn kernel_text(
    mut kit: Kit,
    module: &Module,
    entries: &[String],
    locations: &mut Locations,
) -> Result<String, Error> {
    let mut lowered = Lowered::new();
    let mut shaders = Vec::new();
    for name in entries {
        let missing = || Error::Internal(format!("there is no entry `{name}`"));
        let func = module.function(name).ok_or_else(missing)?;
        if func.params.iter().map(|p| p.ty).ne(PARAMETERS.map(|p| p.1)) {
            return Err(Error::Internal(format!("`{name}` intersects no rays")));
        }
        lower_callees(&mut kit, module, func, &mut lowered, locations)?;
        let made = lower::lower_function(&mut kit, func, &lowered, locations)?;
        let function = kit.module.functions.append(made, Span::UNDEFINED);
        lowered.insert(func.name.clone(), Callee::Lowered { function, calls: 1 });
        shaders.push(function);
    }
    let mut code = Code::new(&mut kit, INTERSECT.into());
    let mut args = Vec::new();
    for (i, (name, ty)) in (0..).zip(PARAMETERS) {
        let ty = code.kit.ty(ty)?;
        code.func.arguments.push(naga::FunctionArgument { name: Some(name.into()), ty, binding: None });
        args.push(code.expr(Expression::FunctionArgument(i)));
    }
    let ty = code.kit.ty(Type::F32)?;
    code.func.result = Some(naga::FunctionResult { ty, binding: None });
    let selector = code.ask("procedural_kind", vec![args[4]])?;
    let mut cases = Vec::new();
    for (n, shader) in (0..).zip(shaders) {
        code.open();
        let value = code.call(shader, args.clone());
        code.stmt(Statement::Return { value });
        cases.push(SwitchCase { value: SwitchValue::U32(n), body: code.close(), fall_through: false });
    }
    cases.push(SwitchCase { value: SwitchValue::Default, body: Block::new(), fall_through: false });
    code.stmt(Statement::Switch { selector, cases });
    let miss = code.expr(Expression::Literal(naga::Literal::F32(-1.0)));
    code.stmt(Statement::Return { value: Some(miss) });
    let function = code.finish();
    kit.module.functions.append(function, Span::UNDEFINED);
    text(&kit.module)
}
