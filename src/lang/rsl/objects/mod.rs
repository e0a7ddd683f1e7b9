//! Structs and classes of shaders (RSL 2.0), flattened before type checking.
//!
//! [`flatten`] replaces a variable of a struct by one variable per member, `s->a`, and a class by
//! shaders and functions, so that later passes know neither. It knows names, scopes and declared
//! types; it reports what it cannot flatten.

mod classes;
mod cores;
mod coshaders;
mod scene_queries;
mod statements;
mod structs;

use super::ast::*;
use super::queries;
use crate::coshaders::CoShaderQuery;
use crate::types::SourceType;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use structs::{Giver, Shape};

/// The name by which a method calls the shader that it belongs to.
const THIS: &str = "this";

/// Flattens all structs and classes of a file. Errors go to `diags`; definitions with errors are
/// dropped.
pub fn flatten(ast: &mut Ast, diags: &mut Diagnostics) {
    let is_choice = |e: &Expr| match &e.kind {
        ExprKind::Index(place) | ExprKind::Assign(_, place, _) => !place.members.is_empty(),
        ExprKind::Method(..) => true,
        kind => coshaders::is_about_coshaders(kind),
    };
    if ast.structs.is_empty() && ast.classes.is_empty() && !ast.exprs.iter().any(is_choice) {
        return;
    }
    let structs = std::mem::take(&mut ast.structs);
    let classes = std::mem::take(&mut ast.classes);
    let definitions = std::mem::take(&mut ast.definitions);
    let defined = definitions.iter().map(|d| d.name.name.clone()).collect();
    let mut flat = Flattening {
        ast,
        defined,
        diags,
        shapes: Vec::new(),
        givers: Vec::new(),
        scopes: Vec::new(),
        result: None,
        class: None,
    };
    flat.structs(structs, definitions.iter().chain(classes.iter().flat_map(|c| &c.methods)));
    let mut done: Vec<Definition> = definitions.into_iter().map(|d| flat.definition(d)).collect();
    for class in classes {
        flat.class(class, &mut done);
    }
    ast.definitions = done;
}

/// An error was reported.
struct Wrong;

type Flat<T> = Result<T, Wrong>;

/// The meaning of a name in the scopes around.
#[derive(Clone, Debug, Default)]
struct Binding {
    /// The struct that the variable holds, or that its elements are.
    shape: Option<usize>,
    /// The declared type.
    ty: Option<SourceType>,
    /// True if it is an array.
    is_array: bool,
    /// The name in the flat tree, where that is another one.
    renamed: Option<Arc<str>>,
}

/// A place whose members were looked up.
struct Part {
    /// The place in the flat tree; of a struct, the name that its members' names begin with.
    place: LValue,
    /// The struct that lies there, or whose array does.
    shape: Option<usize>,
}

struct Flattening<'a> {
    ast: &'a mut Ast,
    diags: &'a mut Diagnostics,
    /// The functions of the file.
    defined: HashSet<Arc<str>>,
    shapes: Vec<Shape>,
    givers: Vec<Giver>,
    /// Declared variables, innermost scope last.
    scopes: Vec<HashMap<Arc<str>, Binding>>,
    /// The struct that the function gives.
    result: Option<usize>,
    /// The class whose method it is.
    class: Option<classes::Around>,
}

impl Flattening<'_> {
    fn error<T>(&mut self, d: Diagnostic) -> Flat<T> {
        self.diags.push(d);
        Err(Wrong)
    }

    fn add(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.ast.exprs.push(Expr { kind, span });
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    /// Declares a variable in the innermost scope. Gives its name in the flat tree: a method's
    /// variable that hides one of its class is distinguished from that, so that what the method
    /// calls still finds the other.
    fn bind(&mut self, d: &Decl, shape: Option<usize>) -> Arc<str> {
        let name = d.name.name.clone();
        let renamed = self.class.as_ref().and_then(|class| class.renamed(&name));
        let flat = renamed.clone().unwrap_or_else(|| name.clone());
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Binding { shape, ty: Some(d.ty), is_array: d.ty.is_array(), renamed });
        }
        flat
    }

    /// Looks the members of a place up, quietly: the struct whose member the last of them is.
    fn owner(&self, place: &LValue) -> Option<usize> {
        let (_, before) = place.members.split_last()?;
        let binding = match self.class_binding(place) {
            Some(binding) => return if before.is_empty() { None } else { self.follow(binding, &before[1..]) },
            None => self.lookup(&place.name.name)?,
        };
        self.follow(binding, before)
    }

    fn follow(&self, binding: &Binding, members: &[Member]) -> Option<usize> {
        members.iter().try_fold(binding.shape?, |shape, m| self.shapes[shape].member(&m.name.name)?.binding.shape)
    }

    /// The variable of the class that `this->x` names.
    fn class_binding(&self, place: &LValue) -> Option<&Binding> {
        let member = place.members.first().filter(|_| self.class.is_some() && *place.name.name == *THIS)?;
        self.scopes.first()?.get(&member.name.name)
    }

    /// True if a struct, or an array of them, lies at a place.
    fn holds_struct(&self, place: &LValue) -> bool {
        let binding = match (place.members.last(), self.owner(place)) {
            (Some(member), Some(owner)) => self.shapes[owner].member(&member.name.name).map(|m| &m.binding),
            (Some(_), None) => self.class_binding(place).filter(|_| place.members.len() == 1),
            (None, _) => self.lookup(&place.name.name),
        };
        binding.is_some_and(|b| b.shape.is_some())
    }

    /// The place that an expression names, if a struct, or an array of them, lies there.
    fn struct_place(&self, e: ExprId) -> Option<LValue> {
        self.ast.place(e).filter(|place| self.holds_struct(place))
    }

    /// Looks the members of a place up.
    fn part(&mut self, place: &LValue) -> Flat<Part> {
        let (binding, name, members) = match self.class_binding(place) {
            Some(binding) => (Some(binding), place.members[0].name.clone(), &place.members[1..]),
            None => (self.lookup(&place.name.name), place.name.clone(), &place.members[..]),
        };
        let Binding { mut shape, mut is_array, renamed, .. } = binding.cloned().unwrap_or_default();
        let span = members.last().map_or(name.span, |m| name.span.to(m.name.span));
        let mut text = renamed.unwrap_or(name.name).to_string();
        let mut indices = Vec::new();
        for member in members {
            let Some(owner) = shape else {
                let d = Diagnostic::error(format!("`{text}` is not a struct and has no members"));
                return self.error(d.at(member.name.span, "this member"));
            };
            self.element(&text, is_array, &member.indices, span)?;
            indices.extend_from_slice(&member.indices);
            let Some(found) = self.shapes[owner].member(&member.name.name) else {
                return self.no_member(owner, &member.name);
            };
            text += &format!("->{}", member.name.name);
            (shape, is_array) = (found.binding.shape, found.binding.is_array);
        }
        if shape.is_some() && !(is_array && place.indices.is_empty()) {
            self.element(&text, is_array, &place.indices, span)?;
        }
        indices.extend_from_slice(&place.indices);
        indices.iter().for_each(|&e| self.expr(e));
        let name = Ident { name: text.into(), span };
        Ok(Part { place: LValue { name, members: Vec::new(), indices }, shape })
    }

    /// Checks that indices choose one struct.
    fn element(&mut self, text: &str, is_array: bool, indices: &[ExprId], span: Span) -> Flat<()> {
        let message = match (is_array, indices.len()) {
            (false, 0) | (true, 1) => return Ok(()),
            (true, 0) => format!("`{text}` is an array of structs: use `{text}[i]`"),
            (true, _) => format!("`{text}` is an array of structs and takes one index"),
            (false, _) => format!("`{text}` is a struct and cannot be indexed"),
        };
        self.error(Diagnostic::error(message).at(span, "used here"))
    }

    fn no_member<T>(&mut self, shape: usize, name: &Ident) -> Flat<T> {
        let shape = &self.shapes[shape];
        let guess = closest(&name.name, shape.members.iter().map(|m| &*m.name));
        let d = Diagnostic::error(format!("the struct `{}` has no member `{}`", shape.name, name.name));
        let d = d.at(name.span, "not a member");
        let hint = match guess {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => {
                let names: Vec<String> = shape.members.iter().map(|m| format!("`{}`", m.name)).collect();
                format!("it has {}", names.join(", "))
            }
        };
        self.error(d.hint(hint))
    }

    /// Takes an expression apart that is no struct.
    fn expr(&mut self, root: ExprId) {
        let mut list = vec![root];
        while let Some(e) = list.pop() {
            if let Err(Wrong) = self.one(e, &mut list) {
                // A name that nothing has: where there are errors nobody complains of it.
                self.ast.exprs[e.0 as usize].kind = ExprKind::Name("".into());
            }
        }
    }

    /// Takes one node of an expression apart; what is below it joins the list.
    fn one(&mut self, e: ExprId, list: &mut Vec<ExprId>) -> Flat<()> {
        let Expr { kind, span } = self.ast.expr(e).clone();
        if let Some(kind) = self.flatten_coshaders(&kind, span, list)? {
            self.ast.exprs[e.0 as usize].kind = kind;
            return Ok(());
        }
        let kind = match kind {
            ExprKind::Name(_) | ExprKind::Index(_) => match self.ast.place(e) {
                Some(place) => self.value_of_part(&place, span)?,
                None => kind,
            },
            ExprKind::Binary(BinaryOp::Dot, l, r) => match self.ast.place(e).filter(|p| self.owner(p).is_some()) {
                Some(place) => self.value_of_part(&place, span)?,
                None => {
                    list.extend([l, r]);
                    return Ok(());
                }
            },
            ExprKind::Assign(op, place, value) => {
                let part = self.part(&place)?;
                if part.shape.is_some() {
                    return self.stands_alone(span);
                }
                list.push(value);
                ExprKind::Assign(op, part.place, value)
            }
            ExprKind::Call(f, args) if *f.name == *"shadername" && args.is_empty() && self.is_in_method() => {
                self.class.as_ref().map_or(ExprKind::Call(f, args), |class| ExprKind::String(class.name().clone()))
            }
            ExprKind::Call(f, args) => match self.query(&f, &args) {
                Some(function) => {
                    list.push(args[1]);
                    ExprKind::Call(function, vec![args[1]])
                }
                None => self.call(&f, &args, span)?,
            },
            ExprKind::Method(place, f, args) if self.is_own(&place) => {
                let f = self.own_method(&f, args.len())?;
                self.call(&f, &args, span)?
            }
            ExprKind::Method(place, f, args) => self.method_of(CoShaderQuery::Method, &place, &f, &args)?,
            other => {
                other.for_each_child(|c| list.push(c));
                return Ok(());
            }
        };
        self.ast.exprs[e.0 as usize].kind = kind;
        Ok(())
    }

    fn is_in_method(&self) -> bool {
        self.class.as_ref().is_some_and(classes::Around::is_in_method)
    }

    fn value_of_part(&mut self, place: &LValue, span: Span) -> Flat<ExprKind> {
        if let Some(member) = self.member_of(place)? {
            return Ok(member);
        }
        let Part { place, shape } = self.part(place)?;
        match shape {
            Some(_) => self.stands_alone(span),
            None if place.indices.is_empty() => Ok(ExprKind::Name(place.name.name)),
            None => Ok(ExprKind::Index(place)),
        }
    }

    fn stands_alone<T>(&mut self, span: Span) -> Flat<T> {
        let d = Diagnostic::error("a struct can only be assigned, passed to a function or returned");
        self.error(d.at(span, "this is a struct").hint("`->` selects a member"))
    }

    /// A call whose value is no struct, with structs among its arguments taken apart.
    fn call(&mut self, f: &Ident, args: &[ExprId], span: Span) -> Flat<ExprKind> {
        if self.shape_named(&f.name).is_some() {
            return self.stands_alone(span);
        }
        if self.giver(f, args).is_some() {
            let d = Diagnostic::error(format!("the struct that `{}` returns must be assigned to a variable", f.name));
            return self.error(d.at(span, "used directly here").hint("assign it to a variable first"));
        }
        let callee = self.callee(f, args);
        let args = self.arguments(f, args)?;
        Ok(ExprKind::Call(callee, args))
    }

    /// Arguments with structs taken apart.
    fn arguments(&mut self, f: &Ident, args: &[ExprId]) -> Flat<Vec<ExprId>> {
        let mut flat = Vec::new();
        for &e in args {
            match self.struct_values(e)? {
                // All members of an array of structs have its length.
                Some(values) if *f.name == *"arraylength" => flat.extend(values.first()),
                Some(values) => flat.extend(values),
                None => {
                    self.expr(e);
                    flat.push(e);
                }
            }
        }
        Ok(flat)
    }

    /// The function that a call names in the flat tree: a method hides functions that take as many
    /// arguments, but not the queries that shaders put to each other by a name.
    fn callee(&self, f: &Ident, args: &[ExprId]) -> Ident {
        let is_string = |e: &ExprId| matches!(self.ast.expr(*e).kind, ExprKind::String(_));
        let is_question = queries::source(&f.name).is_some() && args.first().is_some_and(is_string);
        match &self.class {
            Some(class) if class.has_method(&f.name, args.len()) && !is_question => class.method(f),
            _ => f.clone(),
        }
    }

    /// The method of this class that `this->f()` names.
    fn own_method(&mut self, f: &Ident, args: usize) -> Flat<Ident> {
        let Some(class) = &self.class else { return Err(Wrong) };
        if class.has_method(&f.name, args) {
            return Ok(f.clone());
        }
        let d = Diagnostic::error(format!("this class has no method `{}` with {args} parameters", f.name));
        let guess = closest(&f.name, class.methods().filter(|m| *m != &*f.name));
        let d = d.at(f.span, "not one of its methods");
        let d = match guess {
            Some(guess) => d.hint(format!("did you mean `{guess}`?")),
            None => d,
        };
        self.error(d)
    }
}
