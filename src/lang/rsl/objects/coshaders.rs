//! Co-shaders (RSL 2.0): lookups of other shaders and calls of their methods become calls named by
//! [`super::super::coshader_calls`].

use super::super::coshader_calls::Call;
use super::*;
use crate::coshaders::CoShaderQuery;

/// The calls that ask for co-shaders, or something of one.
const CALLS: [&str; 6] = ["getshader", "getshaders", "getlights", "getvar", "hasmethod", "iscoshader"];

/// The word for a handle of no shader.
const NULL: &str = "null";

/// The argument of `getshaders` before that which names the category.
const CATEGORY: &str = "category";

/// The variable of a class that holds whether it is called as a co-shader.
pub(super) const IS_COSHADER: &str = "iscoshader?";

/// The variable that counts shaders where an array of them is filled.
const COUNTER: &str = "shader#";

/// True if an expression is about co-shaders, unless the file gives its name another meaning.
pub(super) fn is_about_coshaders(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Name(name) => **name == *NULL,
        ExprKind::Call(f, _) => CALLS.contains(&&*f.name),
        _ => false,
    }
}

impl Flattening<'_> {
    /// Rewrites an expression about co-shaders; `None` when it is not about them. The expressions
    /// below it join the list.
    pub(super) fn flatten_coshaders(
        &mut self,
        kind: &ExprKind,
        span: Span,
        list: &mut Vec<ExprId>,
    ) -> Flat<Option<ExprKind>> {
        let (f, args) = match kind {
            ExprKind::Name(name) if **name == *NULL && self.lookup(name).is_none() => {
                return Ok(Some(ExprKind::String("".into())));
            }
            ExprKind::Call(f, args) if CALLS.contains(&&*f.name) && !self.defined.contains(&f.name) => (f, args),
            _ => return Ok(None),
        };
        let text = |e: ExprId| match &self.ast.expr(e).kind {
            ExprKind::String(text) => Some(text.clone()),
            _ => None,
        };
        let call = |asks: Call, name: &str, args: &[ExprId]| {
            Ok(Some(ExprKind::Call(Ident { name: asks.named(name), span: f.span }, args.to_vec())))
        };
        let (form, example) = match (&*f.name, &args[..]) {
            ("getshader", &[handle]) => {
                list.push(handle);
                return call(Call::For(CoShaderQuery::Find), "", args);
            }
            ("hasmethod", &[shader, name]) if text(name).is_some() => {
                list.push(shader);
                return call(Call::For(CoShaderQuery::Has), &text(name).unwrap_or_default(), &[shader]);
            }
            ("getvar", &[shader, name, ..]) if text(name).is_some() && args.len() <= 3 => {
                let given: Vec<ExprId> = std::iter::once(shader).chain(args.get(2).copied()).collect();
                list.extend(&given);
                return call(Call::Variable, &text(name).unwrap_or_default(), &given);
            }
            ("iscoshader", []) => {
                return Ok(Some(match self.class.as_mut().filter(|class| class.is_in_method()) {
                    Some(class) => {
                        class.asks_whether_coshader = true;
                        ExprKind::Name(IS_COSHADER.into())
                    }
                    None => ExprKind::Number(0.0),
                }));
            }
            ("getshaders" | "getlights", _) => {
                let d =
                    Diagnostic::error(format!("the array that `{}` returns must be assigned to a variable", f.name));
                return self.error(d.at(span, "used directly here").hint(format!("`shader list[] = {}(…);`", f.name)));
            }
            ("getshader", _) => ("the handle of a shader", "getshader(\"handle\")"),
            ("hasmethod", _) => ("a shader and the name of a method as a constant", "hasmethod(s, \"name\")"),
            ("getvar", _) => {
                ("a shader, the name of a member as a constant, and a variable", "getvar(s, \"name\", variable)")
            }
            _ => ("nothing", "iscoshader()"),
        };
        let d = Diagnostic::error(format!("`{}` takes {form}", f.name)).at(f.span, "called here");
        self.error(d.hint(format!("as in `{example}`")))
    }

    /// The call of a method of another shader.
    pub(super) fn method_of(
        &mut self,
        question: CoShaderQuery,
        place: &LValue,
        f: &Ident,
        args: &[ExprId],
    ) -> Flat<ExprKind> {
        let kind = self.value_of_part(place, place.name.span)?;
        let shader = self.add(kind, place.name.span);
        let name = Ident { name: Call::For(question).named(&f.name), span: f.span };
        let mut given = vec![shader];
        given.extend(self.arguments(f, args)?);
        Ok(ExprKind::Call(name, given))
    }

    /// True if a method is called that is not of the class itself.
    pub(super) fn is_own(&self, place: &LValue) -> bool {
        *place.name.name == *THIS && place.members.is_empty() && place.indices.is_empty() && self.class.is_some()
    }

    /// The member of another shader that a place names: a variable that holds a handle, and one
    /// name after it.
    pub(super) fn member_of(&mut self, place: &LValue) -> Flat<Option<ExprKind>> {
        let [member] = &place.members[..] else { return Ok(None) };
        let is_handle = |b: &Binding| b.shape.is_none() && b.ty.is_some_and(|ty| ty.element() == SourceType::String);
        if self.class_binding(place).is_some() || !self.lookup(&place.name.name).is_some_and(is_handle) {
            return Ok(None);
        }
        if !place.indices.is_empty() {
            let d = Diagnostic::error("elements of a member of another shader are not available");
            return self.error(d.at(member.name.span, "an element of it").hint("assign it to a variable first"));
        }
        let holder = LValue { name: place.name.clone(), members: Vec::new(), indices: member.indices.clone() };
        let kind = self.value_of_part(&holder, place.name.span)?;
        let shader = self.add(kind, place.name.span);
        let name = Ident { name: Call::For(CoShaderQuery::Member).named(&member.name.name), span: member.name.span };
        Ok(Some(ExprKind::Call(name, vec![shader])))
    }

    /// The category of `getshaders("category", c)`, or the empty one of `getshaders()`, where an
    /// expression is that; `None` for any other expression.
    pub(super) fn listed_shaders(&mut self, e: ExprId) -> Flat<Option<Listed>> {
        let Expr { kind: ExprKind::Call(f, args), span } = self.ast.expr(e).clone() else { return Ok(None) };
        if self.defined.contains(&f.name) || !matches!(&*f.name, "getshaders" | "getlights") {
            return Ok(None);
        }
        if *f.name == *"getlights" {
            let d = Diagnostic::warning(
                "`getlights` returns an empty array: lights are available through `illuminance` only",
            );
            self.diags.push(d.at(span, "called here"));
            return Ok(Some(Listed::Nobody));
        }
        match args[..] {
            [] => Ok(Some(Listed::OfCategory(self.add(ExprKind::String("".into()), span)))),
            [word, category] if self.ast.expr(word).kind == ExprKind::String(CATEGORY.into()) => {
                self.expr(category);
                Ok(Some(Listed::OfCategory(category)))
            }
            _ => {
                let d = Diagnostic::error("`getshaders` takes no arguments, or \"category\" and a category");
                self.error(d.at(f.span, "called here").hint("as in `getshaders(\"category\", \"layer\")`"))
            }
        }
    }

    /// The statement that fills an array with shaders.
    pub(super) fn fill(&mut self, array: &LValue, ty: SourceType, listed: Listed, span: Span) -> Stmt {
        let stmt = |kind| Stmt { kind, span };
        let ident = |name: &str| Ident { name: name.into(), span };
        let mut list = Vec::new();
        if ty.is_resizable() {
            let (name, none) = (self.add(ExprKind::Name(array.name.name.clone()), span), self.number(0.0, span));
            list.push(stmt(StmtKind::Expr(self.add(ExprKind::Call(ident("resize"), vec![name, none]), span))));
        }
        if let Listed::OfCategory(category) = listed {
            let counter = |this: &mut Self| this.add(ExprKind::Name(COUNTER.into()), span);
            let zero = self.number(0.0, span);
            let counted = Decl { init: Some(zero), ..Decl::variable(ident(COUNTER), SourceType::Float) };
            list.push(stmt(StmtKind::Declare(vec![counted])));
            let count =
                self.add(ExprKind::Call(ident(&Call::For(CoShaderQuery::Count).named("")), vec![category]), span);
            let now = counter(self);
            let goes_on = self.add(ExprKind::Binary(BinaryOp::Lt, now, count), span);
            let now = counter(self);
            let shader =
                self.add(ExprKind::Call(ident(&Call::For(CoShaderQuery::At).named("")), vec![now, category]), span);
            let take = if ty.is_resizable() {
                let name = self.add(ExprKind::Name(array.name.name.clone()), span);
                self.add(ExprKind::Call(ident("push"), vec![name, shader]), span)
            } else {
                let element = LValue { indices: vec![counter(self)], ..array.clone() };
                self.add(ExprKind::Assign(None, element, shader), span)
            };
            let one = self.number(1.0, span);
            let step = self.add(ExprKind::Assign(Some(BinaryOp::Add), LValue::variable(ident(COUNTER)), one), span);
            let body = stmt(StmtKind::Block(vec![stmt(StmtKind::Expr(take)), stmt(StmtKind::Expr(step))]));
            list.push(stmt(StmtKind::While(goes_on, Box::new(body))));
        }
        stmt(StmtKind::Block(list))
    }

    fn number(&mut self, x: f32, span: Span) -> ExprId {
        self.add(ExprKind::Number(x), span)
    }
}

/// The shaders that fill an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Listed {
    /// None.
    Nobody,
    /// The co-shaders of a category, or all.
    OfCategory(ExprId),
}
