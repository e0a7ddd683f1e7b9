//! Message passing and queries by name, see [`super::super::queries`].
use super::super::queries::{self, Source};
use super::*;
use shadewright_ir::abi::{Intrinsic, QuerySource, input};

/// The light of an `illuminance`, in its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentLight {
    /// The number among the lights that shine.
    pub number: Value,
    /// The point that is lit.
    pub position: Value,
    /// The normal there.
    pub normal: Value,
}

/// The words of `rayinfo("type", …)`, by the number of the kind of ray.
const RAY_KINDS: [&str; 5] = ["camera", "specular", "diffuse", "transmission", "light"];

impl Body<'_, '_> {
    /// A call of one of [`queries::QUERIES`]: whether there is a value, which then is in the
    /// variable.
    pub(super) fn query(&mut self, source: Source, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let ast = self.cx.program.ast;
        let &[name, target] = args else {
            let d = Diagnostic::error(format!("`{}` takes a name and a variable", f.name));
            return self.error(d.at(f.span, format!("{} arguments given", args.len())));
        };
        let (name, target) = (ast.expr(name), ast.expr(target));
        let ExprKind::String(text) = &name.kind else {
            let d = Diagnostic::error(format!("the name passed to `{}` must be a constant", f.name));
            return self
                .error(d.at(name.span, "not a string constant").hint("compare the variable with each possible name"));
        };
        let ExprKind::Name(variable) = &target.kind else {
            let d = Diagnostic::error(format!("an output argument of `{}` must be a variable", f.name));
            return self.error(d.at(target.span, "not a variable"));
        };
        let Some(var) = self.scopes.find(variable).cloned() else { return self.unknown_name(variable, target.span) };
        self.at(f.span);
        let missing = match source {
            Source::Light if self.light.is_none() => "is available inside `illuminance` only",
            Source::Input(_) if self.shader.is_none() => "is available in shaders, not in functions",
            _ => return self.ask(source, f, text, variable, &var),
        };
        let message = format!("`{}` {missing}: nothing is found here", f.name);
        if !self.is_inlined {
            self.cx.report(Diagnostic::warning(message).at(f.span, "called here"));
        }
        let value = self.b.f32(0.0);
        Ok(Typed { value, ty: SourceType::Float, class: StorageClass::Uniform })
    }

    /// Asks for `name` and puts the answer into a variable.
    pub(super) fn ask(&mut self, source: Source, f: &Ident, name: &str, variable: &str, var: &Var) -> Lower<Typed> {
        if var.ty.is_resizable() {
            let d = Diagnostic::error(format!("the array that `{}` sets must have a fixed length", f.name));
            return self.error(d.at(f.span, format!("`{variable}` is declared without a length")));
        }
        if let Some(slot) = var.slot {
            return self.ask_for_array(source, f, name, var.ty, slot);
        }
        let Some(ty) = var.ty.ir() else { return Err(Poison) };
        let [found, value] = match source {
            Source::Light => self.ask_light(f, name, var.ty, ty)?,
            Source::Ray => self.ask_ray(name, var.ty, ty),
            Source::Input(source) => [
                self.named_input(f, &queries::found_input(source, var.ty, name), Type::F32)?,
                self.named_input(f, &queries::value_input(source, var.ty, name, 0), ty)?,
            ],
        };
        let zero = self.b.f32(0.0);
        let is_found = self.b.ne(found, zero);
        let before = self.b.read(var.storage);
        let after = self.b.select(is_found, value, before);
        self.assign(variable, var.storage, after);
        Ok(Typed { value: found, ty: SourceType::Float, class: StorageClass::Uniform })
    }

    /// Asks for an array: lights and rays have none.
    fn ask_for_array(
        &mut self,
        source: Source,
        f: &Ident,
        name: &str,
        array: SourceType,
        slot: SlotId,
    ) -> Lower<Typed> {
        let (SourceType::Array(_, len), Some(ty), Source::Input(source)) = (array, array.element().ir(), source) else {
            let value = self.b.f32(0.0);
            return Ok(Typed { value, ty: SourceType::Float, class: StorageClass::Uniform });
        };
        let found = self.named_input(f, &queries::found_input(source, array, name), Type::F32)?;
        let zero = self.b.f32(0.0);
        let is_found = self.b.ne(found, zero);
        for i in 0..len {
            let value = self.named_input(f, &queries::value_input(source, array, name, i), ty)?;
            let index = self.b.u32(i);
            let before = self.b.slot_load(slot, index);
            let after = self.b.select(is_found, value, before);
            self.b.slot_store(slot, index, after);
        }
        Ok(Typed { value: found, ty: SourceType::Float, class: StorageClass::Uniform })
    }

    fn ask_light(&mut self, f: &Ident, name: &str, rsl: SourceType, ty: Type) -> Lower<[Value; 2]> {
        let Some(data_type) = rsl.data_type() else {
            let nothing = self.b.constant(Const::zero(ty));
            return Ok([self.b.f32(0.0), nothing]);
        };
        let Some(light) = self.light else {
            let d = Diagnostic::error(format!("`{}` is available inside `illuminance` only", f.name));
            return self.error(d.at(f.span, "not inside `illuminance`"));
        };
        let function = Intrinsic::LightMessage(data_type, name.into());
        let args = vec![light.number, light.position, light.normal];
        let answer = self.b.call(function, args, &[Type::F32, ty]);
        Ok([answer[0], answer[1]])
    }

    fn ask_ray(&mut self, name: &str, rsl: SourceType, ty: Type) -> [Value; 2] {
        let has = |v: &&Var| !v.absent;
        let mut read = |name: &str| self.scopes.globals.get(name).filter(has).map(|v| self.b.read(v.storage));
        let value = match (name, rsl) {
            ("depth", SourceType::Float) => read("raydepth"),
            ("origin", SourceType::Point) => read(input::RAY_ORIGIN),
            ("direction", SourceType::Vector) => read(input::RAY_DIRECTION),
            ("type", SourceType::String) => read(input::RAY_KIND).map(|kind| self.ray_kind(kind)),
            _ => None,
        };
        let found = self.b.f32(if value.is_some() { 1.0 } else { 0.0 });
        [found, value.unwrap_or_else(|| self.b.constant(Const::zero(ty)))]
    }

    fn ray_kind(&mut self, kind: Value) -> Value {
        let word = |b: &mut FunctionBuilder, i: usize| b.constant(Const::String(RAY_KINDS[i].into()));
        let mut value = word(&mut self.b, 0);
        for i in 1..RAY_KINDS.len() {
            let number = self.b.f32(i as f32);
            let is_this = self.b.eq(kind, number);
            let this = word(&mut self.b, i);
            value = self.b.select(is_this, this, value);
        }
        value
    }

    /// `shadername()` and `shadername("surface")`.
    pub(super) fn shader_name(&mut self, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let ast = self.cx.program.ast;
        let value = match args {
            [] if self.shader.is_some() => {
                let name = self.b.function().name.clone();
                self.b.constant(Const::String(name))
            }
            [] => self.outside_of_shader(f, Type::String),
            [kind] => {
                let ExprKind::String(kind) = &ast.expr(*kind).kind else {
                    let d = Diagnostic::error("the kind of shader passed to `shadername` must be a constant");
                    return self.error(d.at(f.span, "called here"));
                };
                self.named_input(
                    f,
                    &queries::value_input(QuerySource::ShaderName, SourceType::String, kind, 0),
                    Type::String,
                )?
            }
            _ => {
                let d = Diagnostic::error("`shadername` takes at most one argument, a kind of shader");
                return self.error(d.at(f.span, format!("{} arguments given", args.len())));
            }
        };
        Ok(Typed { value, ty: SourceType::String, class: StorageClass::Uniform })
    }

    /// The value of an input of the core that has no name in the language.
    fn named_input(&mut self, f: &Ident, name: &str, ty: Type) -> Lower<Value> {
        if self.shader.is_none() {
            return Ok(self.outside_of_shader(f, ty));
        }
        if let Some(&known) = self.named.get(name) {
            return Ok(known);
        }
        let value = self.b.param(name, ty);
        self.named.insert(name.into(), value);
        Ok(value)
    }

    /// The result of a query in a function that belongs to no shader: zero, or the empty string.
    fn outside_of_shader(&mut self, f: &Ident, ty: Type) -> Value {
        if !self.is_inlined {
            let message = format!("`{}` is available in shaders, not in functions: nothing is found here", f.name);
            let d = Diagnostic::warning(message).at(f.span, "called in a function");
            self.cx.report(d.hint("call it in the shader and pass the value as an argument"));
        }
        self.b.constant(Const::zero(ty))
    }
}
