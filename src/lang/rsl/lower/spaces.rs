//! Casts, and changes of coordinate system: `point "shader" (…)`, `transform` and its relatives.

use super::super::program::Callee;
use super::super::spaces::Space;
use super::super::spaces::{self, Axes};
use super::super::{check, matrices};
use super::expr::article;
use super::*;
use shadewright_ir::abi::frame::slots;

/// A coordinate system that an expression names.
enum System {
    /// That which shaders compute in.
    Current,
    /// One with axes and an origin.
    Axes(Axes),
    /// One of the image: its name as part of a library function's.
    Image(&'static str),
    /// One that is known when the shader runs, by its name then.
    Named(Value),
}

/// Which way a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the system to the current one.
    From,
    /// From the current one to the system.
    To,
}

impl Body<'_, '_> {
    pub(super) fn cast(&mut self, ty: SourceType, space: Option<&Ident>, inner: ExprId, span: Span) -> Lower<Typed> {
        let v = self.value(inner, Some(ty))?;
        if !v.ty.casts_to(ty) {
            let message = format!("cannot cast {} to {}", article(v.ty), article(ty));
            return self.error(Diagnostic::error(message).at(span, "in this cast"));
        }
        self.at(span);
        let v = if v.ty.is_triple() && ty.is_triple() { Typed { ty, ..v } } else { self.convert(v, ty) };
        let Some(space) = space else { return Ok(v) };
        match ty {
            SourceType::Color => self.red_green_blue(v, space),
            SourceType::Matrix => {
                let value = match self.system(space)? {
                    System::Axes(axes) => {
                        let to_current = spaces::matrix(&mut self.b, axes);
                        matrices::product(&mut self.b, v.value, to_current)
                    }
                    System::Current => v.value,
                    System::Image(_) | System::Named(_) => {
                        let message = format!("matrices in the space \"{}\" are not supported", space.name);
                        return self.error(Diagnostic::error(message).at(space.span, "this space"));
                    }
                };
                Ok(Typed { value, ty, class: v.class.max(StorageClass::Uniform) })
            }
            t if t.is_spatial() => {
                let system = self.system(space)?;
                self.change_system(v, system, Way::From, space)
            }
            _ => {
                let message = format!("a {ty} has no coordinate system");
                self.error(Diagnostic::error(message).at(space.span, "this name"))
            }
        }
    }

    /// A color given in another color system, as red, green and blue. The conversions are
    /// functions of the library.
    fn red_green_blue(&mut self, v: Typed, system: &Ident) -> Lower<Typed> {
        let lower = system.name.to_lowercase();
        let name = match &*lower {
            "rgb" => return Ok(v),
            "yiq" => "YIQ",
            "xyy" => "xyY",
            name => name,
        };
        let function = format!("__rgb_from_{name}");
        if self.cx.program.callees(&function, true).is_empty() {
            let message = format!("unknown color system \"{}\"", system.name);
            let d = Diagnostic::error(message).at(system.span, "unknown");
            return self.error(d.hint("known are \"rgb\", \"hsv\", \"hsl\", \"xyz\", \"xyY\" and \"YIQ\""));
        }
        let value = self.call_spatial(&function, &[v.value], system)?;
        Ok(Typed { value, ..v })
    }

    /// The system that a constant names.
    fn system(&mut self, space: &Ident) -> Lower<System> {
        let named = match spaces::space(&space.name) {
            Space::Current if self.cx.world_is_named && *space.name == *spaces::WORLD => Space::Named,
            known => known,
        };
        Ok(match named {
            Space::Current => System::Current,
            Space::Input(names) => {
                let mut axes = Vec::new();
                for name in names {
                    let Some(var) = self.scopes.globals.get(name).cloned() else {
                        let d = Diagnostic::error(format!("the space \"{}\" is not available here", space.name));
                        return self.error(d.at(space.span, "this space"));
                    };
                    axes.push(self.b.read(var.storage));
                }
                System::Axes([axes[0], axes[1], axes[2], axes[3]])
            }
            Space::Camera => System::Axes(
                [slots::CAMERA_X, slots::CAMERA_Y, slots::CAMERA_Z, slots::CAMERA_ORIGIN]
                    .map(|slot| self.b.frame_xyz(slot)),
            ),
            Space::Image(name) => System::Image(name),
            Space::Named => {
                self.at(space.span);
                let name = self.b.constant(Const::String(space.name.clone()));
                System::Axes(spaces::named(&mut self.b, name))
            }
        })
    }

    /// A point, vector or normal taken from a system to the current one, or back.
    fn change_system(&mut self, v: Typed, system: System, way: Way, at: &Ident) -> Lower<Typed> {
        let kind = v.ty.name();
        let value = match system {
            System::Current => return Ok(v),
            System::Axes(axes) if way == Way::From => spaces::out_of(&mut self.b, axes, v.value, v.ty),
            System::Axes(axes) => spaces::into(&mut self.b, axes, v.value, v.ty),
            System::Image(name) => {
                let way = if way == Way::From { "from" } else { "to" };
                self.call_spatial(&format!("__{kind}_{way}_{name}"), &[v.value], at)?
            }
            System::Named(name) => {
                let way = if way == Way::From { "from" } else { "to" };
                self.call_spatial(&format!("__{kind}_{way}_space"), &[name, v.value], at)?
            }
        };
        Ok(Typed { value, ty: v.ty, class: v.class.max(StorageClass::Uniform) })
    }

    /// Calls a function of the standard library that gives a triple.
    fn call_spatial(&mut self, name: &str, args: &[Value], at: &Ident) -> Lower<Value> {
        let program = self.cx.program;
        let emitted = match program.callees(name, true).first() {
            Some(Callee::Builtin(b)) => b.emit(&mut self.b, args),
            _ => None,
        };
        if let Some(results) = emitted {
            return Ok(results[0]);
        }
        match program.callees(name, true).first() {
            Some(&Callee::Function(i)) => {
                let info = &program.functions[i];
                let mut values = args.to_vec();
                for input in info.effects.inputs() {
                    values.push(self.hidden_input(input, at)?);
                }
                self.at(at.span);
                self.cx.needed.insert((i, Vec::new()));
                Ok(self.b.call(info.ir_name.clone(), values, &[Type::Vec3])[0])
            }
            _ => self.error(
                Diagnostic::error(format!("the standard library has no function `{name}`")).at(at.span, "needed here"),
            ),
        }
    }

    /// `transform("from", "to", p)`, `transform("to", p)`, `transform(matrix, p)`,
    /// `transform("from", matrix, p)` and their relatives for vectors and normals (RenderMan
    /// Interface 3.2.1, §15.6).
    pub(super) fn transform(&mut self, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let ty = check::special_result(&f.name).ok_or(Poison)?;
        let (&last, names) = args.split_last().ok_or(Poison)?;
        let &to = names.last().ok_or(Poison)?;
        let mut v = self.value_as(last, ty)?;
        if let [from, _] = *names {
            let (system, at) = self.system_of(from)?;
            v = self.change_system(v, system, Way::From, &at)?;
        }
        if self.checker.type_of(&self.scopes, to, None) == Some(SourceType::Matrix) {
            let m = self.value_as(to, SourceType::Matrix)?;
            self.at(f.span);
            let value = matrices::transform(&mut self.b, m.value, v.value, ty);
            return Ok(Typed { value, ty, class: m.class.max(v.class) });
        }
        let (system, at) = self.system_of(to)?;
        self.at(f.span);
        self.change_system(v, system, Way::To, &at)
    }

    /// A point, vector or normal of the current system in the system that an expression names; in
    /// world space where none is named.
    pub(super) fn in_named_space(&mut self, v: Typed, space: Option<ExprId>, span: Span) -> Lower<Value> {
        self.between_current_and(v, space, Way::To, span)
    }

    /// One of such a system in the current one.
    pub(super) fn out_of_named_space(&mut self, v: Typed, space: Option<ExprId>, span: Span) -> Lower<Value> {
        self.between_current_and(v, space, Way::From, span)
    }

    fn between_current_and(&mut self, v: Typed, space: Option<ExprId>, way: Way, span: Span) -> Lower<Value> {
        let (system, at) = match space {
            Some(e) => self.system_of(e)?,
            None => {
                let name = Ident { name: spaces::WORLD.into(), span };
                (self.system(&name)?, name)
            }
        };
        Ok(self.change_system(v, system, way, &at)?.value)
    }

    /// The system that an expression names, and the name's place.
    fn system_of(&mut self, e: ExprId) -> Lower<(System, Ident)> {
        let expr = self.cx.program.ast.expr(e);
        if let ExprKind::String(name) = &expr.kind {
            let name = Ident { name: name.clone(), span: expr.span };
            return Ok((self.system(&name)?, name));
        }
        let name = self.value_as(e, SourceType::String)?;
        Ok((System::Named(name.value), Ident { name: "transform".into(), span: expr.span }))
    }
}
