//! The code of one section: loads the frame, runs the section's code, and leaves through one of its
//! exits. It is a kernel of its own, or a function of the megakernel.

use super::Error;
use super::code::{Code, Expr};
use super::kit::Kit;
use super::lower::{Ending, Locations, Lower, Lowered, lower_body, prepare};
use super::ops;
use super::program::{DISPATCH_ROW, TrapCode, WORKGROUP_SIZE};
use naga::{BinaryOperator as Bin, BuiltIn, Expression, Statement};
use shadewright_ir::passes::sections::{Callee, Exit, ExitKind, Rays, Resume, Section, Sections};
use shadewright_ir::{Const, Loc, Type, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Name of the entry point of a section's kernel.
pub(super) const ENTRY_POINT: &str = "run_section";

/// The data that exits must know of the rest of the program.
pub(super) struct Program {
    pub sections: Sections,
    /// Words that an activation of each function needs.
    pub activation: HashMap<Arc<str>, u32>,
    /// The most that a shader needs.
    pub shader_activation: u32,
}

/// Makes the entry point of section `number`.
pub(super) fn lower_kernel(
    kit: &mut Kit,
    program: &Program,
    number: u32,
    lowered: &Lowered,
    locations: &mut Locations,
) -> Result<naga::EntryPoint, Error> {
    let section = &program.sections.sections[number as usize];
    let mut code = Code::new(kit, ENTRY_POINT.into());
    let item = invocation_item(&mut code);
    let (n, pop) = (code.u32(number), code.u32(section.pop_words()));
    let begun = code.ask("begin", vec![item, n, pop])?;
    return_unless(&mut code, begun)?;
    let function = lower_section(code, program, section, lowered, locations)?;
    Ok(entry_point(ENTRY_POINT, function))
}

/// Makes a function without arguments of section `number`.
pub(super) fn lower_function(
    kit: &mut Kit,
    program: &Program,
    number: u32,
    lowered: &Lowered,
    locations: &mut Locations,
) -> Result<naga::Function, Error> {
    let section = &program.sections.sections[number as usize];
    let mut code = Code::new(kit, format!("section_{number}_"));
    if section.pop_words() > 0 {
        let pop = code.u32(section.pop_words());
        code.act("unwind", vec![pop])?;
    }
    lower_section(code, program, section, lowered, locations)
}

/// Adds the built-in argument that identifies an entry point's invocation; gives the invocation's
/// item of the dispatch.
pub(super) fn invocation_item(code: &mut Code) -> Expr {
    let ty = code.kit.invocation_ty();
    let binding = Some(naga::Binding::BuiltIn(BuiltIn::GlobalInvocationId));
    code.func.arguments.push(naga::FunctionArgument { name: Some("invocation".into()), ty, binding });
    let invocation = code.expr(Expression::FunctionArgument(0));
    let (x, y) = (code.component(invocation, 0), code.component(invocation, 1));
    let row = code.u32(DISPATCH_ROW);
    let rows = code.binary(Bin::Multiply, y, row);
    code.binary(Bin::Add, x, rows)
}

/// Ends a function that returns nothing where the condition is false.
pub(super) fn return_unless(code: &mut Code, condition: Expr) -> Result<(), Error> {
    let not = code.not(condition);
    code.when(not, |code| {
        code.stmt(Statement::Return { value: None });
        Ok(())
    })
}

/// The compute entry point that runs `function`.
pub(super) fn entry_point(name: &str, function: naga::Function) -> naga::EntryPoint {
    naga::EntryPoint {
        name: name.into(),
        stage: naga::ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: [WORKGROUP_SIZE, 1, 1],
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    }
}

/// Adds all but the beginning, which made `sp` the section's own.
fn lower_section(
    mut code: Code,
    program: &Program,
    section: &Section,
    lowered: &Lowered,
    locations: &mut Locations,
) -> Result<naga::Function, Error> {
    let params = load_params(&mut code, section)?;
    let ending = Exits { program, section };
    lower_body(&prepare(&section.body), code, &params, lowered, locations, &ending)
}

/// Reads values that lie word after word from word `at` on with a shared function.
fn read_values(code: &mut Code, read: &str, mut at: u32, types: &[Type]) -> Result<Vec<Expr>, Error> {
    let mut values = Vec::new();
    for &ty in types {
        let mut words = Vec::new();
        for _ in 0..ty.words() {
            let k = code.u32(at);
            words.push(code.ask(read, vec![k])?);
            at += 1;
        }
        values.push(ops::from_words(code, &words, ty)?);
    }
    Ok(values)
}

fn load_params(code: &mut Code, section: &Section) -> Result<Vec<Expr>, Error> {
    let mut params = read_values(code, "frame_word", 0, &section.frame)?;
    match &section.resume {
        Resume::Entry | Resume::Trace => {}
        Resume::Occluded => params.push(code.ask("is_occluded", vec![])?),
        Resume::Visible(rays) => {
            let rays = code.u32((*rays).min(32));
            params.push(code.ask("visible_bits", vec![rays])?);
        }
        Resume::Call(types) => params.extend(read_values(code, "result_word", 0, types)?),
    }
    Ok(params)
}

/// The ways out of a section.
struct Exits<'a> {
    program: &'a Program,
    section: &'a Section,
}

impl Ending for Exits<'_> {
    fn finish(&self, lower: &mut Lower, values: &[Value]) -> Result<(), Error> {
        let wrong = || Error::Internal(format!("`{}` returns without an exit number", self.section.name));
        let (number, values) = values.split_first().ok_or_else(wrong)?;
        let Some(&Const::U32(number)) = lower.constant(*number) else { return Err(wrong()) };
        let exit = self.section.exits.get(number as usize).ok_or_else(wrong)?;
        if exit.loc != Loc::NONE {
            lower.code.loc = exit.loc;
        }
        match &exit.kind {
            ExitKind::Return => {
                write_values(lower, "set_result_word", 0, values)?;
                lower.code.act("leave_function", vec![])?;
            }
            ExitKind::Wait { rays, resume } => {
                let (kept, operands) = self.split(*resume, values)?;
                let (resume, trap) = self.resumption(lower, *resume, exit)?;
                lower.code.act("spend_at_exit", vec![trap])?;
                write_values(lower, "set_frame_word", 0, kept)?;
                self.shoot(lower, *rays, operands)?;
                lower.code.act("leave", vec![resume])?;
            }
            ExitKind::Call { callee, resume } => self.call(lower, exit, *callee, *resume, values)?,
        }
        lower.code.stmt(Statement::Return { value: None });
        Ok(())
    }

    fn stop(&self, code: &mut Code) -> Result<(), Error> {
        code.act("abandon", vec![])?;
        code.stmt(Statement::Return { value: None });
        Ok(())
    }
}

impl Exits<'_> {
    /// Where the path continues after an exit, and the trap when its budget ends there.
    fn resumption(&self, lower: &mut Lower, resume: u32, exit: &Exit) -> Result<(Expr, Expr), Error> {
        if self.section.shared {
            let start = lower.code.ask("shader_start", vec![])?;
            return Ok((lower.code.component(start, 1), lower.code.component(start, 2)));
        }
        let trap = lower.locations.trap(TrapCode::Budget, exit.loc);
        Ok((lower.code.u32(resume), lower.code.u32(trap)))
    }

    /// Splits an exit's values into those kept in the frame of the section that resumes, and the
    /// operands.
    fn split<'v>(&self, resume: u32, values: &'v [Value]) -> Result<(&'v [Value], &'v [Value]), Error> {
        let kept = self.program.sections.sections[resume as usize].frame.len();
        let wrong = || Error::Internal(format!("an exit of `{}` has too few values", self.section.name));
        values.split_at_checked(kept).ok_or_else(wrong)
    }

    fn call(&self, lower: &mut Lower, exit: &Exit, callee: Callee, resume: u32, values: &[Value]) -> Result<(), Error> {
        let (kept, args) = self.split(resume, values)?;
        let sections = &self.program.sections.sections;
        let words = sections[resume as usize].pop_words();
        let needed = match callee {
            Callee::Section(n) => self.program.activation.get(&sections[n as usize].function).copied().unwrap_or(0),
            Callee::Shader => self.program.shader_activation,
        };
        let [budget, trap] = [TrapCode::Budget, TrapCode::Stack].map(|code| lower.locations.trap(code, exit.loc));
        let code = &mut lower.code;
        let budget = code.u32(budget);
        code.act("spend_at_exit", vec![budget])?;
        let limits = [words, needed, trap].map(|x| code.u32(x)).to_vec();
        let fits = code.ask("fits", limits)?;
        let full = code.not(fits);
        code.when(full, |code| self.stop(code))?;
        write_values(lower, "set_frame_word", 0, kept)?;
        write_values(lower, "set_frame_word", words, args)?;
        let code = &mut lower.code;
        let (address, resume) = (code.u32(words - 1), code.u32(resume));
        code.act("set_frame_word", vec![address, resume])?;
        let words = code.u32(words);
        code.act("raise", vec![words])?;
        let target = match callee {
            Callee::Section(n) => code.u32(n),
            Callee::Shader => code.ask("shader_section", vec![resume])?,
        };
        code.act("leave", vec![target])
    }

    fn shoot(&self, lower: &mut Lower, rays: Rays, operands: &[Value]) -> Result<(), Error> {
        let operands = operands.iter().map(|&v| lower.get(v)).collect::<Result<Vec<_>, _>>()?;
        let code = &mut lower.code;
        match rays {
            Rays::Trace => code.act("trace", operands),
            Rays::Occluded => code.act("occluded", operands),
            Rays::Visible(_) => {
                let [origin, count, ref rays @ ..] = operands[..] else {
                    return Err(Error::Internal("`visible` without operands".into()));
                };
                for (j, &ray) in rays.iter().take(32).enumerate() {
                    let j = code.u32(j as u32);
                    code.act("visible_ray", vec![j, count, origin, ray])?;
                }
                Ok(())
            }
        }
    }
}

/// Writes values word after word from word `at` on with a shared function.
fn write_values(lower: &mut Lower, write: &str, mut at: u32, values: &[Value]) -> Result<(), Error> {
    for &v in values {
        let value = lower.get(v)?;
        let ty = lower.ty(v);
        for word in ops::words(&mut lower.code, value, ty) {
            let k = lower.code.u32(at);
            lower.code.act(write, vec![k, word])?;
            at += 1;
        }
    }
    Ok(())
}
