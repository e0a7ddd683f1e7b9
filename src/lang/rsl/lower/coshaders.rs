//! Calls of the linker's functions that ask co-shaders: see [`crate::coshaders`].

use super::arrays::{Located, NO_VALUE};
use super::*;
use crate::coshaders::{self, CoShaderCall, CoShaderQuery};

impl Body<'_, '_> {
    /// Asks for `name`; the value has the type that is wanted, where the question leaves that open.
    pub(super) fn ask_coshader(
        &mut self,
        question: CoShaderQuery,
        name: &str,
        f: &Ident,
        args: &[ExprId],
        wanted: Option<SourceType>,
    ) -> Lower<Typed> {
        let result = question.result(wanted);
        let (own, rest) = args.split_at(if question == CoShaderQuery::At { 2 } else { 1 }.min(args.len()));
        let mut asked = CoShaderCall { question, name: name.into(), result, args: Vec::new() };
        let mut values = Vec::new();
        for (i, &e) in own.iter().enumerate() {
            let ty = if question == CoShaderQuery::At && i == 0 { SourceType::Float } else { SourceType::String };
            values.push(self.value_as(e, ty)?.value);
        }
        let mut written = Vec::new();
        for &e in rest {
            let (ty, place) = self.argument_of_method(e, &mut values, f)?;
            asked.args.push((ty, place.is_some()));
            written.extend(place);
        }
        self.at(f.span);
        if question.runs() {
            values.extend(self.seen_by_methods());
        }
        let found = (question == CoShaderQuery::Member).then_some(Type::F32);
        let types: Vec<Type> =
            found.into_iter().chain(result.ir()).chain(written.iter().flat_map(|p| p.ty.values())).collect();
        let mut results = self.b.call(asked.to_string(), values, &types);
        results.drain(..usize::from(found.is_some()));
        let value = if result == SourceType::Void { NO_VALUE } else { results.remove(0) };
        for place in written {
            let rest = results.split_off(place.ty.values().count());
            self.write_all(&place, &results);
            results = rest;
        }
        let class = if question.runs() { StorageClass::Varying } else { StorageClass::Uniform };
        Ok(Typed { value, ty: result, class })
    }

    /// An argument of a method, whose parameters are not known: its type, and its place where the
    /// method may change it.
    fn argument_of_method(
        &mut self,
        e: ExprId,
        values: &mut Vec<Value>,
        f: &Ident,
    ) -> Lower<(SourceType, Option<Located>)> {
        let is_constant = |name: &str| self.scopes.find(name).is_none();
        let place = match &self.ast().expr(e).kind {
            ExprKind::Name(name) if !is_constant(name) => {
                Some(LValue::variable(Ident { name: name.clone(), span: self.span(e) }))
            }
            ExprKind::Index(place) => Some(place.clone()),
            _ => None,
        };
        let Some(place) = place else {
            let v = self.value(e, None)?;
            let v = if v.ty == SourceType::Bool { self.convert(v, SourceType::Float) } else { v };
            if v.ty.ir().is_none() {
                let d = Diagnostic::error(format!("an argument of `{}` has no value", f.name));
                return self.error(d.at(self.span(e), "this argument"));
            }
            values.push(v.value);
            return Ok((v.ty, None));
        };
        let place = self.place(&place)?;
        if place.ty.is_resizable() {
            let d = Diagnostic::error("an array passed to a method of another shader must have a fixed length");
            return self.error(d.at(self.span(e), "this argument"));
        }
        values.extend(self.read_all_of(&place));
        // What was declared uniform stays as it is.
        let may_change = !place.var.strict;
        Ok((place.ty, may_change.then_some(place)))
    }

    /// `getvar(s, "name", variable)`, or without the variable.
    pub(super) fn member_to_variable(&mut self, name: &str, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let (&shader, rest) = args.split_first().ok_or(Poison)?;
        let mut values = vec![self.value_as(shader, SourceType::String)?.value];
        let place = match rest {
            [] => None,
            [e, ..] => match &self.ast().expr(*e).kind {
                ExprKind::Name(name) => {
                    let name = Ident { name: name.clone(), span: self.span(*e) };
                    Some(self.place(&LValue::variable(name))?)
                }
                ExprKind::Index(place) => Some(self.place(&place.clone())?),
                _ => {
                    let d = Diagnostic::error("the output argument of `getvar` must be a variable");
                    return self.error(d.at(self.span(*e), "not a variable"));
                }
            },
        };
        let result = place.as_ref().map_or(SourceType::Void, |p| p.ty);
        if result.is_array() {
            let d = Diagnostic::error("`getvar` returns no arrays");
            return self.error(d.at(f.span, "the variable is an array"));
        }
        self.at(f.span);
        values.extend(self.seen_by_methods());
        let types: Vec<Type> = std::iter::once(Type::F32).chain(result.ir()).collect();
        let asked = CoShaderCall { question: CoShaderQuery::Member, name: name.into(), result, args: Vec::new() };
        let results = self.b.call(asked.to_string(), values, &types);
        if let Some(place) = place {
            let zero = self.b.f32(0.0);
            let is_found = self.b.ne(results[0], zero);
            let before = self.read_place(&place).value;
            let after = self.b.select(is_found, results[1], before);
            self.write_place(&place, after);
        }
        Ok(Typed { value: results[0], ty: SourceType::Float, class: StorageClass::Varying })
    }

    /// The values here of the predefined variables that methods see.
    fn seen_by_methods(&mut self) -> Vec<Value> {
        coshaders::inputs().map(|g| self.global_or_zero(g.name)).collect()
    }

    /// The value here of a predefined variable; zero where there is no such variable.
    pub(super) fn global_or_zero(&mut self, name: &str) -> Value {
        match (self.scopes.globals.get(name).map(|v| v.storage), globals::find(name).and_then(|g| g.ty.ir())) {
            (Some(storage), _) => self.b.read(storage),
            (None, ty) => self.b.constant(Const::zero(ty.unwrap_or(Type::F32))),
        }
    }
}
