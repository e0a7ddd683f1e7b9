//! Structs: the variables that represent one, and their values.

use super::*;
use crate::types::MAX_ARRAY;

/// Most variables that stand for a struct.
const MAX_LEAVES: usize = 256;

/// A struct with its members looked up.
pub(super) struct Shape {
    pub name: Arc<str>,
    pub members: Vec<ShapeMember>,
    /// The variables that stand for it, in order: its members and, named `outer->inner`, those of
    /// members that are structs.
    leaves: Vec<Decl>,
}

/// A member of a struct.
pub(super) struct ShapeMember {
    pub name: Arc<str>,
    pub binding: Binding,
    /// Which of the leaves stand for it.
    leaves: std::ops::Range<usize>,
}

impl Shape {
    /// The member of that name.
    pub fn member(&self, name: &str) -> Option<&ShapeMember> {
        self.members.iter().find(|m| *m.name == *name)
    }
}

/// A function that gives a struct.
pub(super) struct Giver {
    name: Arc<str>,
    params: usize,
    shape: usize,
}

/// Where the values of a struct come from.
pub(super) enum Source {
    /// An expression for each of its variables.
    Values(Vec<ExprId>),
    /// A call, whose last arguments are still to be the variables that receive the struct.
    Call(Ident, Vec<ExprId>),
}

impl Flattening<'_> {
    /// Looks up what structs there are, and which functions give one.
    pub(super) fn structs<'d>(&mut self, structs: Vec<Struct>, functions: impl Iterator<Item = &'d Definition>) {
        for s in structs {
            let shape = self.shape(s);
            self.shapes.push(shape);
        }
        for d in functions {
            if let Some(shape) = d.structure.as_ref().and_then(|s| self.shape_named(&s.name)) {
                self.givers.push(Giver { name: d.name.name.clone(), params: d.declared().len(), shape });
            }
        }
    }

    fn shape(&mut self, s: Struct) -> Shape {
        let mut shape = Shape { name: s.name.name, members: Vec::new(), leaves: Vec::new() };
        for d in s.members {
            if let Some(old) = shape.member(&d.name.name) {
                let message = format!("the struct `{}` has two members `{}`", shape.name, old.name);
                self.diags.push(Diagnostic::error(message).at(d.name.span, "the second one"));
                continue;
            }
            let inner = self.shape_of(&d);
            let mut leaves = match inner {
                Some(inner) => self.variables(&d, &d.name.name, inner),
                None => vec![d.clone()],
            };
            match (d.init, inner) {
                (Some(e), Some(inner)) => self.initialize(&mut leaves, e, inner),
                (Some(e), None) => self.expr(e),
                (None, _) => {}
            }
            let start = shape.leaves.len();
            if start + leaves.len() > MAX_LEAVES {
                let message = format!("the struct `{}` has more than {MAX_LEAVES} members", shape.name);
                self.diags.push(Diagnostic::error(message).at(d.name.span, "one too many"));
                break;
            }
            shape.leaves.extend(leaves);
            let binding = Binding { shape: inner, ty: Some(d.ty), is_array: d.ty.is_array(), renamed: None };
            shape.members.push(ShapeMember { name: d.name.name, binding, leaves: start..shape.leaves.len() });
        }
        shape
    }

    /// Gives variables the values of `e` where these stand in the text; others keep what they have.
    fn initialize(&mut self, leaves: &mut [Decl], e: ExprId, shape: usize) {
        match self.source(e, shape) {
            Ok(Source::Values(values)) => leaves.iter_mut().zip(values).for_each(|(d, e)| d.init = Some(e)),
            Ok(Source::Call(f, _)) => {
                let d =
                    Diagnostic::error(format!("the struct that `{}` returns must be assigned to a variable", f.name));
                self.diags.push(d.at(f.span, "assigned to a member here"));
            }
            Err(Wrong) => {}
        }
    }

    /// The struct of that name.
    pub(super) fn shape_named(&self, name: &str) -> Option<usize> {
        self.shapes.iter().position(|s| *s.name == *name)
    }

    /// The struct that a variable is declared to hold.
    pub(super) fn shape_of(&self, d: &Decl) -> Option<usize> {
        self.shape_named(&d.structure.as_ref()?.name)
    }

    /// The struct that a call gives.
    pub(super) fn giver(&self, f: &Ident, args: &[ExprId]) -> Option<usize> {
        let name = self.callee(f, args).name;
        self.givers.iter().find(|g| g.name == name && g.params == args.len()).map(|g| g.shape)
    }

    /// The variables that stand for one that is declared to hold a struct, or an array of them:
    /// named after `base`, with what the struct's members hold at first.
    pub(super) fn variables(&mut self, d: &Decl, base: &str, shape: usize) -> Vec<Decl> {
        let mut variables = Vec::new();
        for leaf in self.shapes[shape].leaves.clone() {
            let name = Ident { name: format!("{base}->{}", leaf.name.name).into(), span: d.name.span };
            let (mut ty, mut init) = (leaf.ty, leaf.init);
            if let SourceType::Array(_, len) = d.ty {
                match leaf.ty.array(len).filter(|array| array.capacity() <= MAX_ARRAY) {
                    Some(array) => ty = array,
                    None => {
                        let message =
                            format!("no array of this struct: its member `{}` is of type {}", leaf.name.name, leaf.ty);
                        let hint = format!(
                            "members of structs in arrays are single values, or arrays of a fixed length that have at most {MAX_ARRAY} elements together"
                        );
                        self.diags.push(Diagnostic::error(message).at(d.name.span, "an array of them").hint(hint));
                        init = None;
                    }
                }
                let span = d.name.span;
                init =
                    init.filter(|_| !d.ty.is_unsized()).map(|e| self.add(ExprKind::Array(vec![e; len as usize]), span));
            }
            // Where a struct goes through a function, what varies in it and what does not come back
            // as one.
            variables.push(Decl { name, ty, structure: None, init, ..d.clone() });
        }
        variables
    }

    /// An expression for each of the variables that stand for the struct at a place.
    pub(super) fn leaves(&mut self, place: &LValue, shape: usize) -> Vec<ExprId> {
        let places = self.leaf_places(place, shape);
        let kind = |place: LValue| match place.indices.is_empty() {
            true => ExprKind::Name(place.name.name),
            false => ExprKind::Index(place),
        };
        places.into_iter().map(|leaf| self.add(kind(leaf), place.name.span)).collect()
    }

    /// The places that stand for the struct at a place.
    pub(super) fn leaf_places(&self, place: &LValue, shape: usize) -> Vec<LValue> {
        let named = |leaf: &Decl| {
            let name = format!("{}->{}", place.name.name, leaf.name.name).into();
            LValue { name: Ident { name, ..place.name }, ..place.clone() }
        };
        self.shapes[shape].leaves.iter().map(named).collect()
    }

    /// The values of an argument that is a struct; `None` when it is none.
    pub(super) fn struct_values(&mut self, e: ExprId) -> Flat<Option<Vec<ExprId>>> {
        if let Some(place) = self.struct_place(e) {
            let part = self.part(&place)?;
            return Ok(part.shape.map(|shape| self.leaves(&part.place, shape)));
        }
        match self.ast.expr(e).kind.clone() {
            ExprKind::Call(f, args) => match self.shape_named(&f.name) {
                Some(shape) => self.made(shape, &f, &args).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Where the values of `e`, which should be a struct, come from.
    pub(super) fn source(&mut self, e: ExprId, shape: usize) -> Flat<Source> {
        let Expr { kind, span } = self.ast.expr(e).clone();
        let found = match kind {
            ExprKind::Call(f, args) => match (self.shape_named(&f.name), self.giver(&f, &args)) {
                (Some(made), _) if made == shape => return self.made(shape, &f, &args).map(Source::Values),
                (None, Some(given)) if given == shape => return self.given(&f, &args),
                (made, given) => made.or(given),
            },
            ExprKind::Method(place, f, args) if self.is_own(&place) => {
                let f = self.own_method(&f, args.len())?;
                match self.giver(&f, &args) {
                    Some(given) if given == shape => return self.given(&f, &args),
                    given => given,
                }
            }
            ExprKind::Array(list) => return self.array(&list, shape, span).map(Source::Values),
            _ => match self.struct_place(e) {
                Some(place) => {
                    let part = self.part(&place)?;
                    if part.shape == Some(shape) {
                        return Ok(Source::Values(self.leaves(&part.place, shape)));
                    }
                    part.shape
                }
                None => None,
            },
        };
        let wanted = self.shapes[shape].name.clone();
        let found = found.map_or("something else".to_string(), |i| format!("a `{}`", self.shapes[i].name));
        let d = Diagnostic::error(format!("expected a struct `{wanted}`, found {found}"));
        self.error(d.at(span, format!("this should be a `{wanted}`")).hint(format!("`{wanted}(…)` constructs one")))
    }

    fn given(&mut self, f: &Ident, args: &[ExprId]) -> Flat<Source> {
        Ok(Source::Call(self.callee(f, args), self.arguments(f, args)?))
    }

    /// The values of an array of structs in braces: an array for each member.
    fn array(&mut self, list: &[ExprId], shape: usize, span: Span) -> Flat<Vec<ExprId>> {
        let mut members: Vec<Vec<ExprId>> = vec![Vec::new(); self.shapes[shape].leaves.len()];
        for &e in list {
            match self.source(e, shape)? {
                Source::Values(values) => members.iter_mut().zip(values).for_each(|(list, e)| list.push(e)),
                Source::Call(f, _) => {
                    let d = Diagnostic::error(format!(
                        "the struct that `{}` returns must be assigned to a variable",
                        f.name
                    ));
                    return self.error(d.at(f.span, "used directly here"));
                }
            }
        }
        Ok(members.into_iter().map(|list| self.add(ExprKind::Array(list), span)).collect())
    }

    /// The values of `Name(…)`: those of the members in their order, or pairs of a member's name
    /// and its value. Members that are not named hold what they hold at first.
    fn made(&mut self, shape: usize, f: &Ident, args: &[ExprId]) -> Flat<Vec<ExprId>> {
        let mut values = Vec::new();
        for leaf in self.shapes[shape].leaves.clone() {
            values.push(leaf.init.unwrap_or_else(|| self.zero(leaf.ty, f.span)));
        }
        for (member, e) in self.given_members(shape, f, args)? {
            let ShapeMember { binding, leaves, .. } = &self.shapes[shape].members[member];
            let leaves = leaves.clone();
            match binding.shape {
                Some(inner) => match self.source(e, inner)? {
                    Source::Values(list) => values.splice(leaves, list).for_each(drop),
                    Source::Call(f, _) => {
                        let d = Diagnostic::error(format!(
                            "the struct that `{}` returns must be assigned to a variable",
                            f.name
                        ));
                        return self.error(d.at(f.span, "used directly here"));
                    }
                },
                None => {
                    self.expr(e);
                    values[leaves.start] = e;
                }
            }
        }
        Ok(values)
    }

    /// The members that `Name(…)` gives values to.
    fn given_members(&mut self, shape: usize, f: &Ident, args: &[ExprId]) -> Flat<Vec<(usize, ExprId)>> {
        let position = |name: &str| self.shapes[shape].members.iter().position(|m| *m.name == *name);
        let named = |pair: &[ExprId]| match &self.ast.expr(pair[0]).kind {
            ExprKind::String(name) => Some((position(name)?, pair[1])),
            _ => None,
        };
        if args.len().is_multiple_of(2)
            && let Some(list) = args.chunks_exact(2).map(named).collect::<Option<Vec<_>>>()
        {
            return Ok(list);
        }
        let count = self.shapes[shape].members.len();
        if args.len() <= count {
            return Ok(args.iter().copied().enumerate().collect());
        }
        let d = Diagnostic::error(format!("the struct `{}` has {count} members, not {}", f.name, args.len()));
        self.error(d.at(f.span, "constructed here"))
    }

    /// The value of a variable that nobody wrote.
    fn zero(&mut self, ty: SourceType, span: Span) -> ExprId {
        let zero = match ty.element() {
            SourceType::String => ExprKind::String("".into()),
            _ => ExprKind::Number(0.0),
        };
        let zero = self.add(zero, span);
        let braces = match ty {
            SourceType::Rows(..) => 2,
            SourceType::Array(..) => 1,
            _ => 0,
        };
        (0..braces).fold(zero, |inner, _| self.add(ExprKind::Array(vec![inner]), span))
    }
}
