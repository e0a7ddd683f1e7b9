//! Lights, rays and random numbers: `illuminance`, `ambient`, `trace`, `hit`, `rand`.

use super::super::ast::Stmt;
use super::lvalues::Storage;
use super::*;
use crate::light_loop::{LightLoop, cosine_of_sight};
use shadewright_ir::abi::{Intrinsic, input, library};

impl<'a> Body<'a> {
    /// Refuses what materials ask for where no material is shaded.
    fn shading_only(&mut self, word: &str, span: Span) -> Lower<()> {
        let method = match self.top().role {
            Role::Any | Role::Method(Method::Shade) => return Ok(()),
            Role::Method(method) => method.name(),
            Role::Constructor => "constructor",
        };
        let d = Diagnostic::error(format!("`{word}` is available in `shade` and in functions that it calls only"));
        self.error(d.at(span, format!("not in `{method}`")))
    }

    fn state_value(&mut self, name: &str) -> Option<Typed> {
        let local = self.state.get(name).cloned()?;
        Some(self.read_local(&local))
    }

    fn set_state(&mut self, name: &str, value: Typed) {
        if let Some(local) = self.state.get(name).cloned() {
            self.write_local(&local, value);
        }
    }

    /// The arguments as vectors, and an angle where the last is a number.
    fn positions(
        &mut self,
        word: &str,
        args: &[ExprId],
        most: usize,
        span: Span,
    ) -> Lower<(Vec<Value>, Option<Value>)> {
        let mut vectors = Vec::new();
        let mut angle = None;
        for (k, &e) in args.iter().enumerate() {
            let value = self.value(e)?;
            let is_last = k + 1 == args.len();
            if is_last && k > 0 && self.conversion(&value.ty, &Type::FLOAT).is_some() {
                angle = self.converted(value, &Type::FLOAT).map(|v| v.parts[0]);
                continue;
            }
            let place = self.file().ast.expr(e).span;
            vectors.push(self.fitted(value, &Type::floats(3), place)?.parts[0]);
        }
        if vectors.is_empty() || vectors.len() > most {
            let d = Diagnostic::error(format!("`{word}` takes a point and up to {} normals", most - 1));
            return self.error(d.at(span, format!("{} vectors given", vectors.len())));
        }
        Ok((vectors, angle))
    }

    /// `illuminance (point [, geometric normal] [, shading normal] [, angle]) body`
    pub(super) fn illuminance(&mut self, args: &[ExprId], body: &'a Stmt, span: Span) -> Lower<()> {
        self.shading_only("illuminance", span)?;
        let (vectors, angle) = self.positions("illuminance", args, 3, span)?;
        self.at(span);
        let position = vectors[0];
        let axis = vectors.last().copied().filter(|_| vectors.len() > 1);
        let zero = self.zero(&Type::floats(3)).parts[0];
        let normal = axis.unwrap_or(zero);
        let lights = LightLoop::begin(&mut self.b, position, normal, None);
        let cone = match (axis, angle) {
            (Some(axis), Some(angle)) => {
                let cosine = self.library_call(&library::name("cos"), vec![angle]);
                Some((axis, cosine_of_sight(&mut self.b, angle, cosine)))
            }
            _ => None,
        };
        lights.choose(&mut self.b, cone);
        let direction = self.b.normalize(lights.direction);
        let distance = self.b.length(lights.direction);
        let typed = |ty: Type, value| Typed { ty, parts: vec![value], known: None };
        self.set_state("rt_LightDirection", typed(Type::floats(3), direction));
        self.set_state("rt_LightDistance", typed(Type::FLOAT, distance));
        self.set_state("rt_LightColor", typed(Type::COLOR, lights.color));
        self.looped(lights.exits(), body);
        self.at(span);
        lights.finish(&mut self.b);
        Ok(())
    }

    /// `ambient (point [, normal]) body [else other]`: runs the body where the integrator
    /// approximates indirect light as ambient, and the other part, if there is one, where it traces
    /// paths.
    pub(super) fn ambient(
        &mut self,
        args: &[ExprId],
        body: &'a Stmt,
        other: Option<&'a Stmt>,
        span: Span,
    ) -> Lower<()> {
        self.shading_only("ambient", span)?;
        let (vectors, _) = self.positions("ambient", args, 3, span)?;
        self.at(span);
        let zero = self.zero(&Type::floats(3)).parts[0];
        let normal = vectors.last().copied().filter(|_| vectors.len() > 1).unwrap_or(zero);
        let color = self.b.call(Intrinsic::LightAmbient, vec![vectors[0], normal], &[ir::Type::Vec3])[0];
        self.set_state("rt_LightColor", Typed { ty: Type::COLOR, parts: vec![color], known: None });
        let there = self.b.call(Intrinsic::LightAmbientUsed, Vec::new(), &[ir::Type::F32])[0];
        let zero = self.b.f32(0.0);
        let is_there = self.b.lt(zero, there);
        self.branches(
            is_there,
            |own| {
                own.inner(body);
                Ok(())
            },
            |own| {
                other.into_iter().for_each(|other| own.inner(other));
                Ok(())
            },
        )
    }

    /// `trace(direction)`, `trace(origin, direction)`
    pub(super) fn trace(&mut self, args: &[Typed], span: Span) -> Lower<Typed> {
        self.shading_only("trace", span)?;
        let is_vector = |v: &Typed| v.ty == Type::floats(3);
        let (origin, direction) = match args {
            [direction] if is_vector(direction) => {
                let place = self.state_value("rt_HitPoint").map(|v| v.parts[0]);
                (place.unwrap_or(direction.parts[0]), direction.parts[0])
            }
            [origin, direction] if is_vector(origin) && is_vector(direction) => (origin.parts[0], direction.parts[0]),
            _ => {
                let given: Vec<String> = args.iter().map(|v| self.describe(&v.ty)).collect();
                let d = Diagnostic::error(format!("no overload of `trace` takes ({})", given.join(", ")))
                    .at(span, "this call");
                return self.error(
                    d.hint("candidate: trace(vec3 direction)").hint("candidate: trace(vec3 origin, vec3 direction)"),
                );
            }
        };
        self.note_variables();
        let color = self.library_call(library::TRACE, vec![origin, direction]);
        Ok(Typed { ty: Type::COLOR, parts: vec![color], known: None })
    }

    /// Notes what the variables around a place hold where a ray waits, so that whoever shows what
    /// crosses that place can name it.
    fn note_variables(&mut self) {
        let scopes = self.frames.iter().flat_map(|frame| &frame.scopes);
        let mut named: Vec<(Arc<str>, Variable)> = Vec::new();
        for (name, local) in scopes.flatten() {
            if let [(_, Storage::One(variable))] = local.storage[..] {
                named.push((name.clone(), variable));
            }
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, variable) in named {
            let value = self.b.read(variable);
            self.b.debug(name, value);
        }
    }

    /// `hit(t)`: whether that is the nearest so far, which it is then.
    pub(super) fn hit(&mut self, mut args: Vec<Typed>, span: Span) -> Lower<Typed> {
        if !matches!(self.top().role, Role::Any | Role::Method(Method::Intersect)) {
            let d = Diagnostic::error("`hit` is available in `intersect` only");
            return self.error(d.at(span, "not here"));
        }
        let t = match args.pop().filter(|_| args.is_empty()) {
            Some(t) => self.fitted(t, &Type::FLOAT, span)?.parts[0],
            None => return self.error(Diagnostic::error("`hit` takes one distance").at(span, "this call")),
        };
        let Some(nearest) = self.state.get("rt_HitDistance").cloned() else { return Err(Poison) };
        let before = self.read_local(&nearest).parts[0];
        let least = self.input(input::RAY_T_MIN, ir::Type::F32);
        let is_ahead = self.b.lt(least, t);
        let is_nearer = self.b.lt(t, before);
        let is_hit = self.b.and(is_ahead, is_nearer);
        let now = self.b.select(is_hit, t, before);
        let now = self.float_value(now);
        self.write_local(&nearest, now);
        Ok(Typed { ty: Type::BOOL, parts: vec![is_hit], known: None })
    }

    /// `rand()`: the next of the given numbers, then of the sequence that the shading point seeds.
    pub(super) fn rand(&mut self, span: Span) -> Lower<Typed> {
        if self.top().role == Role::Constructor {
            let d = Diagnostic::error("random numbers are not available in a constructor");
            return self.error(d.at(span, "not here"));
        }
        let Some(random) = self.random else { return Ok(self.float(0.0)) };
        let state = self.b.read(random);
        let next = self.b.call(library::NEXT_RANDOM, vec![state], &[ir::Type::F32])[0];
        self.b.write(random, next);
        let mut drawn = self.b.call(library::SCRAMBLED, vec![next], &[ir::Type::F32])[0];
        for &place in self.ahead.iter().rev() {
            let moves_up = self.b.read(place);
            self.b.write(place, drawn);
            drawn = moves_up;
        }
        Ok(self.float_value(drawn))
    }
}
