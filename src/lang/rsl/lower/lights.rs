//! Light statements: `illuminance`, `illuminate`, `solar`.
//!
//! The loop of `illuminance` is [`crate::light_loop`]; its arguments and variables are here.
use super::super::queries::Source;
use super::queries::CurrentLight;
use super::*;
use crate::light_loop::{LightLoop, cosine_of_sight, in_cone};
use shadewright_ir::abi::{DataType, Intrinsic};

/// The arguments of `illuminance`, by what they are.
struct LightArgs<'e> {
    /// The category that is asked for.
    category: Option<Value>,
    /// Position, axis and angle.
    spatial: &'e [ExprId],
    /// The messages that are asked of each light: the option, what it names, and the variable.
    messages: Vec<(Ident, Arc<str>, Ident)>,
}

impl Body<'_, '_> {
    fn spatial_args(
        &mut self,
        word: &str,
        args: &[ExprId],
        types: &[SourceType],
        least: usize,
        span: Span,
    ) -> Lower<Vec<Value>> {
        if args.len() > types.len() || args.len() < least {
            let message = format!("`{word}` takes {least} to {} arguments", types.len());
            return self.error(Diagnostic::error(message).at(span, format!("{} given", args.len())));
        }
        args.iter().zip(types).map(|(e, ty)| Ok(self.value_as(*e, *ty)?.value)).collect()
    }

    /// The normal that lights and functions get for a point in a volume, which has none.
    pub(super) fn no_normal(&mut self) -> Value {
        self.b.vec3([0.0; 3])
    }

    /// Sorts the arguments of `illuminance`: a category may stand first, pairs of a name and a
    /// value last (PRMan).
    fn light_args<'e>(&mut self, args: &'e [ExprId]) -> Lower<LightArgs<'e>> {
        let ast = self.cx.program.ast;
        let mut given = LightArgs { category: None, spatial: args, messages: Vec::new() };
        if let Some((&first, rest)) = args.split_first()
            && self.checker.type_of(&self.scopes, first, None) == Some(SourceType::String)
        {
            given.spatial = rest;
            let is_any = matches!(&ast.expr(first).kind, ExprKind::String(text) if text.is_empty());
            if !is_any {
                given.category = Some(self.value_as(first, SourceType::String)?.value);
            }
        }
        let is_string = |e: &ExprId| matches!(ast.expr(*e).kind, ExprKind::String(_));
        let count = given.spatial.iter().position(is_string).unwrap_or(given.spatial.len());
        let (spatial, options) = given.spatial.split_at(count);
        given.spatial = spatial;
        for pair in options.chunks(2) {
            let (option, value) = (ast.expr(pair[0]), pair.get(1).map(|e| ast.expr(*e)));
            let ExprKind::String(text) = &option.kind else { continue };
            match (text.strip_prefix("light:"), value.map(|v| (&v.kind, v.span))) {
                (Some(name), Some((ExprKind::Name(variable), span))) => {
                    let f = Ident { name: "illuminance".into(), span: option.span };
                    given.messages.push((f, name.into(), Ident { name: variable.clone(), span }));
                }
                // Samples of lights are used again wherever they can be.
                _ if &**text == "lightcache" => {}
                _ => self.cx.report(
                    Diagnostic::warning(format!("`illuminance` has no option \"{text}\"; it is ignored"))
                        .at(option.span, "this option"),
                ),
            }
        }
        Ok(given)
    }

    /// True if a statement names a variable.
    fn mentions(&self, s: &Stmt, name: &str) -> bool {
        let ast = self.cx.program.ast;
        let mut statements = vec![s];
        while let Some(s) = statements.pop() {
            statements.extend(s.children());
            let mut exprs = s.exprs();
            while let Some(e) = exprs.pop() {
                let kind = &ast.expr(e).kind;
                if matches!(kind, ExprKind::Name(n) if &**n == name) {
                    return true;
                }
                kind.for_each_child(|c| exprs.push(c));
            }
        }
        false
    }

    pub(super) fn illuminance(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Lower<()> {
        if matches!(self.shader, Some(ShaderKind::Light | ShaderKind::Imager)) {
            let d = Diagnostic::error(
                "`illuminance` is available in surface and volume shaders and in functions that they call only",
            );
            return self.error(d.at(span, "not in this shader"));
        }
        let LightArgs { category, spatial, messages } = self.light_args(args)?;
        let types = [SourceType::Point, SourceType::Vector, SourceType::Float];
        let values = self.spatial_args("illuminance", spatial, &types, 1, span)?;
        self.at(span);
        let position = values[0];
        let normal = match self.scopes.globals.get("N").map(|v| v.storage) {
            Some(normal) => self.b.read(normal),
            None if self.shader == Some(ShaderKind::Volume) => self.no_normal(),
            None => return self.unknown_name("N", span),
        };
        let axis = match values[..] {
            [_, axis, angle] => Some((axis, angle)),
            _ => None,
        };
        let lights = LightLoop::begin(&mut self.b, position, normal, category);
        let (number, l, color) = (lights.number, lights.direction, lights.color);
        let cone = match axis {
            Some((axis, angle)) => {
                let cosine = self.call_library("cos", &[angle], span)?;
                Some((axis, cosine_of_sight(&mut self.b, angle, cosine)))
            }
            None => None,
        };
        lights.choose(&mut self.b, cone);
        let outer = self.scopes.globals.clone();
        let outer_light = self.light.replace(CurrentLight { number, position, normal });
        let mut given = vec![("L", SourceType::Vector, l), ("Cl", SourceType::Color, color)];
        if self.mentions(body, "Ol") {
            let function = Intrinsic::LightMessage(DataType::Color, "Ol".into());
            let answer = self.b.call(function, vec![number, position, normal], &[Type::F32, Type::Vec3]);
            given.push(("Ol", SourceType::Color, answer[1]));
        }
        for (name, ty, value) in given {
            let var = self.new_var(ty, StorageClass::Varying, None, Type::Vec3);
            self.assign(name, var.storage, value);
            self.scopes.globals.insert(name, var);
            self.cx.note(|notes| notes.light(name, ty, body.span));
        }
        for (f, name, variable) in messages {
            if let Some(var) = self.scopes.find(&variable.name).cloned() {
                self.ask(Source::Light, &f, &name, &variable.name, &var)?;
            } else {
                let _: Lower<()> = self.unknown_name(&variable.name, variable.span);
            }
        }
        self.looped(lights.exits(), body);
        self.scopes.globals = outer;
        self.light = outer_light;
        self.at(span);
        lights.finish(&mut self.b);
        Ok(())
    }

    fn light_only(&mut self, word: &str, span: Span) -> Lower<()> {
        if self.shader == Some(ShaderKind::Light) {
            return Ok(());
        }
        let d =
            Diagnostic::error(format!("`{word}` is available in light shaders only")).at(span, "not in a light shader");
        self.error(d.hint("surfaces gather light with `illuminance`"))
    }

    /// Gives the predefined variable `L` a value and runs `body` where `inside` holds.
    fn shine(&mut self, l: Value, inside: Option<Value>, body: &Stmt) -> Lower<()> {
        let Some(storage) = self.scopes.globals.get("L").map(|v| v.storage) else { return Err(Poison) };
        self.assign("L", storage, l);
        let end = self.b.block();
        if let Some(inside) = inside {
            self.b.jump_unless(inside, end);
        }
        self.looped(LoopExits { break_to: end, continue_to: end }, body);
        self.b.join(end);
        Ok(())
    }

    fn global(&mut self, name: &str, span: Span) -> Lower<Value> {
        match self.scopes.globals.get(name).map(|v| v.storage) {
            Some(storage) => Ok(self.b.read(storage)),
            None => self.unknown_name(name, span),
        }
    }

    /// `illuminate (from [, axis, angle])`: light from a point, in a cone where an angle is given.
    pub(super) fn illuminate(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Lower<()> {
        self.light_only("illuminate", span)?;
        let types = [SourceType::Point, SourceType::Vector, SourceType::Float];
        let values = self.spatial_args("illuminate", args, &types, 1, span)?;
        self.at(span);
        let lit = self.global("Ps", span)?;
        let l = self.b.sub(lit, values[0]);
        let inside = match values[..] {
            [_, axis, angle] => {
                let cosine = self.call_library("cos", &[angle], span)?;
                Some(in_cone(&mut self.b, l, axis, cosine))
            }
            _ => None,
        };
        self.shine(l, inside, body)
    }

    /// `solar ([axis, angle])`: distant light that travels along `axis`; without one it comes from
    /// the side of the surface's normal.
    pub(super) fn solar(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Lower<()> {
        self.light_only("solar", span)?;
        let values = self.spatial_args("solar", args, &[SourceType::Vector, SourceType::Float], 0, span)?;
        self.at(span);
        let l = match values.first() {
            Some(&axis) => axis,
            None => {
                let normal = self.global("Ns", span)?;
                self.b.neg(normal)
            }
        };
        self.shine(l, None, body)
    }
}
