//! Cores of classes that are used as co-shaders: one for each public method, and one that gives the
//! public variables.
//!
//! A core is a surface shader with the class's parameters that constructs the class and then calls
//! the method. The method's own parameters follow those of the class, under names that begin with
//! [`ARROW`]; its value is an output of that name alone.

use super::classes::declared;
use super::coshaders::IS_COSHADER;
use super::*;
use crate::coshaders::{ARROW, core_name};
use crate::types::StorageClass;
use shadewright_ir::abi::ShaderKind;

/// The methods that make a class what it is when others are called.
const MAKING: [&str; 2] = ["construct", "begin"];

/// The name of something that belongs to the call.
fn call_ident(name: &str, span: Span) -> Ident {
    Ident { name: format!("{ARROW}{name}").into(), span }
}

/// A parameter that belongs to the call.
fn param(name: Ident, ty: SourceType, output: bool) -> Decl {
    Decl { output, class: Some(StorageClass::Varying), ..Decl::variable(name, ty) }
}

impl Flattening<'_> {
    /// The cores of a class: `shader` has its name, parameters and variables.
    pub(super) fn cores(
        &mut self,
        shader: &Definition,
        methods: &[Definition],
        public: &[Arc<str>],
    ) -> Vec<Definition> {
        let before = format!("{}.", shader.name.name);
        let named = methods.iter().filter_map(|d| Some((d.name.name.strip_prefix(&*before)?, d)));
        let making: Vec<&Definition> =
            MAKING.iter().filter_map(|name| named.clone().find(|m| m.0 == *name).map(|m| m.1)).collect();
        let made = Definition { shader: Some(ShaderKind::Surface), ..self.made_anew(shader, &making) };
        let mut cores = vec![self.core_of_members(&made, shader, public)];
        for (name, method) in named {
            // What grows has no place in registers.
            let is_passed = method.declared().iter().all(|p| !p.ty.is_unsized() && !p.ty.is_resizable());
            if is_passed && !MAKING.contains(&name) && public.iter().any(|p| **p == *name) {
                cores.push(self.core_of_method(&made, shader, method, name));
            }
        }
        cores
    }

    /// The class with the calls that make it, as a co-shader.
    fn made_anew(&mut self, shader: &Definition, making: &[&Definition]) -> Definition {
        let span = shader.name.span;
        let mut exprs = Vec::new();
        if declared(&shader.body).any(|d| *d.name.name == *IS_COSHADER) {
            let is = LValue::variable(Ident { name: IS_COSHADER.into(), span });
            let yes = self.add(ExprKind::Number(1.0), span);
            exprs.push(self.add(ExprKind::Assign(None, is, yes), span));
        }
        for method in making {
            exprs.push(self.add(ExprKind::Call(method.name.clone(), Vec::new()), span));
        }
        let mut made = shader.clone();
        made.body.extend(exprs.into_iter().map(|e| Stmt { kind: StmtKind::Expr(e), span }));
        made
    }

    fn core_of_members(&mut self, made: &Definition, shader: &Definition, public: &[Arc<str>]) -> Definition {
        let mut core = made.clone();
        core.name.name = core_name(&shader.name.name, "").into();
        for d in declared(&shader.body).filter(|d| public.contains(&d.name.name) && !d.ty.is_array()) {
            let span = d.name.span;
            let output = call_ident(&d.name.name, span);
            let value = self.add(ExprKind::Name(d.name.name.clone()), span);
            let give = self.add(ExprKind::Assign(None, LValue::variable(output.clone()), value), span);
            core.params.push(param(output, d.ty, true));
            core.body.push(Stmt { kind: StmtKind::Expr(give), span });
        }
        core
    }

    fn core_of_method(
        &mut self,
        made: &Definition,
        shader: &Definition,
        method: &Definition,
        name: &str,
    ) -> Definition {
        let span = method.name.span;
        let mut core = made.clone();
        core.name = Ident { name: core_name(&shader.name.name, name).into(), span };
        let mut args = Vec::new();
        for p in method.declared() {
            let name = call_ident(&p.name.name, p.name.span);
            args.push(self.add(ExprKind::Name(name.name.clone()), span));
            core.params.push(param(name, p.ty, p.output));
        }
        let mut call = self.add(ExprKind::Call(method.name.clone(), args), span);
        if method.result != SourceType::Void {
            let value = call_ident("", span);
            core.params.push(param(value.clone(), method.result, true));
            call = self.add(ExprKind::Assign(None, LValue::variable(value), call), span);
        }
        core.body.push(Stmt { kind: StmtKind::Expr(call), span });
        core
    }
}
