//! Type checking and overload resolution.
//!
//! RSL functions may be overloaded on their arguments *and* on their result, so the type of an
//! expression depends on its context. Types are found for an expected type: that of a cast, else of
//! the assignment, parameter or return that takes the value, else of the other operand, else float.
//! Among the overloads of a call, the one that needs the fewest conversions of arguments and result
//! wins. Results are memoized, so the work is linear in the size of the expression.

use super::ast::*;
use super::coshader_calls::Call;
use super::program::{Callee, Program};
use super::queries;
use crate::coshaders;
use crate::types::SourceType;
use std::collections::HashMap;

/// The type of the 0 that stands for the call of a function that nothing defines, where `wanted` is
/// wanted.
pub fn missing_type(wanted: Option<SourceType>) -> SourceType {
    wanted.filter(|ty| ty.ir().is_some() && !ty.is_array()).unwrap_or(SourceType::Float)
}

/// The visible variables: given by the code that walks the statements.
pub trait Names {
    /// The type of the variable of that name, if there is one.
    fn type_of_name(&self, name: &str) -> Option<SourceType>;
}

/// The meaning of a call, or the reason why it has none.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// This function.
    Callee(Callee),
    /// No function has that name.
    Unknown,
    /// Functions of that name exist, none for these arguments.
    NoMatch(Vec<Callee>),
    /// Several are equally good.
    Tie(Vec<Callee>),
    /// An argument has an error of its own.
    BadArgument,
}

/// Remembers answers for the expressions of one function.
#[derive(Debug)]
pub struct Checker<'a> {
    program: &'a Program<'a>,
    in_library: bool,
    types: HashMap<(ExprId, Option<SourceType>), Option<SourceType>>,
    calls: HashMap<(ExprId, Option<SourceType>), Resolution>,
}

/// The type of `l op r`; `None` when the operator does not join them.
pub fn binary_type(op: BinaryOp, l: SourceType, r: SourceType) -> Option<SourceType> {
    use SourceType::*;
    let number = |t: SourceType| if t == Bool { Float } else { t };
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => match (number(l), number(r)) {
            (Float, Float) => Some(Float),
            (Color, Color) => Some(Color),
            (Float, t) | (t, Float) if t.is_triple() => Some(t),
            (Matrix, Matrix) => Some(Matrix),
            (Matrix, Float) | (Float, Matrix) if matches!(op, BinaryOp::Mul | BinaryOp::Div) => Some(Matrix),
            // An error as specified; lowering warns of it.
            (Color, t) | (t, Color) if t.is_spatial() => Some(Color),
            (Point, Point) if op == BinaryOp::Sub => Some(Vector),
            (a, b) if a.is_spatial() && b.is_spatial() => Some(match (a, b) {
                (Point, _) | (_, Point) => Point,
                (Normal, Normal) => Normal,
                _ => Vector,
            }),
            _ => None,
        },
        BinaryOp::Dot => (dots(l) && dots(r)).then_some(Float),
        BinaryOp::Cross => (dots(l) && dots(r)).then_some(Vector),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            let ordered = |t: SourceType| t == Float || t.is_triple();
            (ordered(l) && ordered(r) && joined(l, r).is_some()).then_some(Bool)
        }
        BinaryOp::Eq | BinaryOp::Ne => joined(l, r).map(|_| Bool),
        BinaryOp::And | BinaryOp::Or => (condition(l) && condition(r)).then_some(Bool),
    }
}

/// The calls of [`special_result`] that shaders may write: name and signature, as in the table of
/// built-in functions.
pub const SPECIAL: [(&str, &str); 21] = [
    ("concat", "s:ss*"),
    ("format", "s:ss*"),
    ("match", "f:ss"),
    ("arraylength", "f:F"),
    ("capacity", "f:F"),
    ("pop", "f:&F"),
    ("push", "x:&Ff"),
    ("reserve", "x:&Ff"),
    ("resize", "x:&Ff"),
    ("transform", "p:sp"),
    ("transform", "p:ssp"),
    ("transform", "p:mp"),
    ("transform", "p:smp"),
    ("vtransform", "v:sv"),
    ("vtransform", "v:ssv"),
    ("vtransform", "v:mv"),
    ("vtransform", "v:smv"),
    ("ntransform", "n:sn"),
    ("ntransform", "n:ssn"),
    ("ntransform", "n:mn"),
    ("ntransform", "n:smn"),
];

/// The calls among them that change an array.
pub const RESIZING: [&str; 4] = ["pop", "push", "reserve", "resize"];

/// The type of a call that the compiler treats on its own: its arguments must be constants, or
/// choose what it means.
pub fn special_result(name: &str) -> Option<SourceType> {
    match name {
        "__uniform_float" | "arraylength" | "capacity" | "pop" | super::effects::INPUT => Some(SourceType::Float),
        "push" | "reserve" | "resize" => Some(SourceType::Void),
        "concat" | "format" => Some(SourceType::String),
        "match" => Some(SourceType::Float),
        "transform" => Some(SourceType::Point),
        "vtransform" => Some(SourceType::Vector),
        "ntransform" => Some(SourceType::Normal),
        _ => None,
    }
}

fn dots(t: SourceType) -> bool {
    t.is_spatial() || t == SourceType::Float
}

/// True if a value of this type may be tested.
pub fn condition(t: SourceType) -> bool {
    matches!(t, SourceType::Bool | SourceType::Float)
}

/// The type to which both become: of the branches of `?:`, of the operands of `==`.
pub fn joined(a: SourceType, b: SourceType) -> Option<SourceType> {
    match (a, b) {
        (a, b) if a.is_array() || b.is_array() => None,
        (a, b) if a == b => Some(a),
        (SourceType::Void, _) | (_, SourceType::Void) => None,
        (a, b) if a.is_spatial() && b.is_spatial() => Some(SourceType::Vector),
        (a, b) if a.conversion(b).is_some() => Some(b),
        (a, b) if b.conversion(a).is_some() => Some(a),
        _ => None,
    }
}

/// The operators of a left-leaning chain: `a + b − c` gives `a` and `[(…, +, b), (…, −, c)]`.
pub fn chain(ast: &Ast, e: ExprId) -> (ExprId, Vec<(ExprId, BinaryOp, ExprId)>) {
    let mut links = Vec::new();
    let mut at = e;
    while let ExprKind::Binary(op, l, r) = ast.expr(at).kind {
        links.push((at, op, r));
        at = l;
    }
    links.reverse();
    (at, links)
}

impl<'a> Checker<'a> {
    /// A checker for one function of the program.
    pub fn new(program: &'a Program<'a>, in_library: bool) -> Self {
        Self { program, in_library, types: HashMap::new(), calls: HashMap::new() }
    }

    /// The type of `e` where `wanted` is wanted; `None` when it has an error.
    pub fn type_of(&mut self, names: &impl Names, e: ExprId, wanted: Option<SourceType>) -> Option<SourceType> {
        if let Some(&known) = self.types.get(&(e, wanted)) {
            return known;
        }
        let ast = self.program.ast;
        let ty = match &ast.expr(e).kind {
            ExprKind::Number(_) => Some(SourceType::Float),
            ExprKind::String(_) | ExprKind::Channel(..) => Some(SourceType::String),
            ExprKind::Name(n) => names.type_of_name(n),
            ExprKind::Assign(_, place, _) | ExprKind::Index(place) => {
                names.type_of_name(&place.name.name).and_then(|ty| ty.indexed(place.indices.len()))
            }
            // What the values of an array are depends on the array that takes them.
            ExprKind::Array(list) => match wanted {
                Some(SourceType::Array(element, _)) => element.array(list.len() as u32),
                Some(SourceType::Rows(element, _, each)) => Some(SourceType::Rows(element, list.len() as u32, each)),
                _ => None,
            },
            ExprKind::Cast(ty, ..) => Some(*ty),
            ExprKind::Method(..) => None,
            ExprKind::Tuple(list) if list.len() == 16 => Some(SourceType::Matrix),
            ExprKind::Tuple(_) => Some(wanted.filter(|w| w.is_triple()).unwrap_or(SourceType::Vector)),
            ExprKind::Unary(UnaryOp::Not, _) => Some(SourceType::Bool),
            ExprKind::Unary(UnaryOp::Neg, a) => {
                self.type_of(names, *a, wanted).map(|ty| if ty == SourceType::Bool { SourceType::Float } else { ty })
            }
            ExprKind::Ternary(_, a, b) => {
                let (a, b) = self.branch_types(names, *a, *b, wanted);
                a.zip(b).and_then(|(a, b)| joined(a, b))
            }
            ExprKind::Binary(..) => self.chain_type(names, e, wanted),
            ExprKind::Call(f, args) => {
                if let Some((call, _)) = Call::parse(&f.name) {
                    return Some(call.result(wanted));
                }
                let special = || special_result(&f.name).or_else(|| self.query_result(&f.name));
                match special().filter(|_| self.in_library || !self.program.defines(&f.name)) {
                    Some(_) if *f.name == *"pop" => {
                        args.first().and_then(|&array| self.type_of(names, array, None)).map(SourceType::element)
                    }
                    Some(ty) => Some(ty),
                    None if self.is_printf(&f.name) => Some(SourceType::Void),
                    None => match self.resolve(names, e, wanted) {
                        Resolution::Callee(c) => Some(self.program.result(c)),
                        Resolution::Unknown if self.is_zero(f) => Some(missing_type(wanted)),
                        _ => None,
                    },
                }
            }
        };
        self.types.insert((e, wanted), ty);
        ty
    }

    /// The type of a call that asks for something by its name, unless a function hides it.
    pub fn query_result(&self, name: &str) -> Option<SourceType> {
        let ty = match queries::source(name) {
            Some(_) => SourceType::Float,
            None if name == "shadername" => SourceType::String,
            None => return None,
        };
        self.program.callees(name, self.in_library).is_empty().then_some(ty)
    }

    /// True if a call of that name prints.
    pub fn is_printf(&self, name: &str) -> bool {
        name == "printf" && self.program.callees(name, self.in_library).is_empty()
    }

    /// True if a call of a function that nothing defines is 0.
    pub fn is_zero(&self, f: &Ident) -> bool {
        self.program.missing_are_zero && !self.in_library && !f.name.starts_with("__")
    }

    /// Types of the two values of `?:`.
    fn branch_types(
        &mut self,
        names: &impl Names,
        a: ExprId,
        b: ExprId,
        wanted: Option<SourceType>,
    ) -> (Option<SourceType>, Option<SourceType>) {
        let (a_wanted, b_wanted) = self.branch_wants(names, a, b, wanted);
        (self.type_of(names, a, a_wanted), self.type_of(names, b, b_wanted))
    }

    /// The types that the two values of `?:` are wanted to have.
    pub fn branch_wants(
        &mut self,
        names: &impl Names,
        a: ExprId,
        b: ExprId,
        wanted: Option<SourceType>,
    ) -> (Option<SourceType>, Option<SourceType>) {
        if wanted.is_some() {
            return (wanted, wanted);
        }
        let fixed = |c: &mut Self, e| if c.is_open(e) { None } else { c.type_of(names, e, None) };
        (fixed(self, b), fixed(self, a))
    }

    fn chain_type(&mut self, names: &impl Names, e: ExprId, wanted: Option<SourceType>) -> Option<SourceType> {
        let (first, links) = chain(self.program.ast, e);
        let wants = self.chain_wants(names, &links, wanted);
        let mut ty = self.type_of(names, first, wants.first)?;
        for (link, want) in links.iter().zip(&wants.links) {
            let r = self.type_of(names, link.2, right_want(link.1, *want, ty))?;
            ty = binary_type(link.1, ty, r)?;
        }
        Some(ty)
    }

    /// The types that the parts of a chain are wanted to have.
    pub fn chain_wants(
        &mut self,
        names: &impl Names,
        links: &[(ExprId, BinaryOp, ExprId)],
        wanted: Option<SourceType>,
    ) -> ChainWants {
        let mut want = wanted;
        let mut list = Vec::with_capacity(links.len());
        for &(_, op, right) in links.iter().rev() {
            list.push(want);
            let fixed = |c: &mut Self| if c.is_open(right) { None } else { c.type_of(names, right, None) };
            want = match op {
                BinaryOp::Dot | BinaryOp::Cross => Some(SourceType::Vector),
                BinaryOp::And | BinaryOp::Or => None,
                _ if op.is_arithmetic() => want.or_else(|| fixed(self).filter(|t| t.is_triple())),
                _ => fixed(self),
            };
        }
        list.reverse();
        ChainWants { first: want, links: list }
    }

    /// True if the type of `e` depends on its context.
    fn is_open(&mut self, e: ExprId) -> bool {
        let ast = self.program.ast;
        match &ast.expr(e).kind {
            ExprKind::Tuple(list) => list.len() == 3,
            ExprKind::Unary(UnaryOp::Neg, a) => self.is_open(*a),
            ExprKind::Ternary(_, a, b) => self.is_open(*a) && self.is_open(*b),
            ExprKind::Binary(..) => {
                let (first, links) = chain(ast, e);
                links.iter().all(|l| l.1.is_arithmetic() && self.is_open(l.2)) && self.is_open(first)
            }
            ExprKind::Call(f, _) if f.name.starts_with(coshaders::PREFIX) => {
                Call::parse(&f.name).is_some_and(|(call, _)| call.is_open())
            }
            ExprKind::Call(f, args) => {
                let callees = self.program.callees(&f.name, self.in_library);
                let fits = callees.into_iter().filter(|c| self.program.arguments(*c, args).is_some());
                let results: Vec<SourceType> = fits.map(|c| self.program.result(c)).collect();
                results.windows(2).any(|w| w[0] != w[1])
            }
            _ => false,
        }
    }

    /// The meaning of the call `e` where the type `wanted` is wanted.
    pub fn resolve(&mut self, names: &impl Names, e: ExprId, wanted: Option<SourceType>) -> Resolution {
        if let Some(known) = self.calls.get(&(e, wanted)) {
            return known.clone();
        }
        let resolution = match &self.program.ast.expr(e).kind {
            ExprKind::Call(f, args) => self.resolve_call(names, f, args, wanted),
            _ => Resolution::Unknown,
        };
        self.calls.insert((e, wanted), resolution.clone());
        resolution
    }

    fn resolve_call(
        &mut self,
        names: &impl Names,
        f: &Ident,
        args: &[ExprId],
        wanted: Option<SourceType>,
    ) -> Resolution {
        let callees = self.program.callees(&f.name, self.in_library);
        let resolution = self.choose(names, callees, args, wanted);
        if !matches!(resolution, Resolution::NoMatch(_)) || self.in_library || f.name.starts_with("__") {
            return resolution;
        }
        // A user's functions hide those of the library that take the same: the others are still
        // there.
        let mut library = self.program.callees(&f.name, true);
        library.retain(|c| self.is_library(*c));
        // Functions of floats take colors and vectors component by component.
        let of_components = self.program.callees(&format!("__tuple_{}", f.name), true);
        for callees in [library, of_components] {
            if let Resolution::Callee(callee) = self.choose(names, callees, args, wanted) {
                return Resolution::Callee(callee);
            }
        }
        resolution
    }

    /// The best of some functions for these arguments.
    fn choose(
        &mut self,
        names: &impl Names,
        callees: Vec<Callee>,
        args: &[ExprId],
        wanted: Option<SourceType>,
    ) -> Resolution {
        let program = self.program;
        if callees.is_empty() {
            return Resolution::Unknown;
        }
        // Fewest conversions first; then, where nothing is wanted, float; then arguments that fit, then
        // options where the call has some.
        let mut best: Vec<Callee> = Vec::new();
        let mut best_cost = (u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX);
        let mut bad_argument = false;
        for &callee in &callees {
            let Some(arguments) = program.arguments(callee, args) else { continue };
            let mut conversions = Some(0);
            // Options are not considered: they never select the overload.
            for (&arg, &(ty, output)) in args.iter().zip(&arguments.positional) {
                let given = self.type_of(names, arg, Some(ty));
                bad_argument |= given.is_none();
                let cost = given.and_then(|g| {
                    if output && g != ty && !(g.is_array() || g.is_spatial() && ty.is_spatial()) {
                        None
                    } else {
                        g.conversion(ty)
                    }
                });
                conversions = conversions.zip(cost).map(|(a, b)| a + b);
            }
            let Some(conversions) = conversions else { continue };
            let result = program.result(callee);
            let (misfit, of_result) = match wanted {
                Some(w) => result.conversion(w).map_or((1, 0), |c| (0, c)),
                None => (0, 0),
            };
            let not_float = (wanted.is_none() && result != SourceType::Float) as u32;
            let options_unused = u32::from(!arguments.options.is_empty() && arguments.positional.len() == args.len());
            let cost = (misfit, conversions + of_result, not_float, conversions, options_unused);
            if cost < best_cost {
                best_cost = cost;
                best.clear();
            }
            if cost == best_cost {
                best.push(callee);
            }
        }
        match best.as_slice() {
            [] if bad_argument => Resolution::BadArgument,
            [] => Resolution::NoMatch(callees),
            [one] => Resolution::Callee(*one),
            // The library lists its functions in order of preference.
            [first, ..] if best.iter().all(|c| self.is_library(*c)) => Resolution::Callee(*first),
            _ => Resolution::Tie(best),
        }
    }

    fn is_library(&self, callee: Callee) -> bool {
        match callee {
            Callee::Function(i) => self.program.functions[i].library,
            Callee::Builtin(_) => true,
        }
    }
}

/// The types that the parts of a chain of operators are wanted to have.
#[derive(Debug)]
pub struct ChainWants {
    /// The first operand.
    pub first: Option<SourceType>,
    /// The result of each operator.
    pub links: Vec<Option<SourceType>>,
}

/// The type that the right operand is wanted to have, given the wanted type of the operator's
/// result and the left operand's type.
pub fn right_want(op: BinaryOp, wanted: Option<SourceType>, left: SourceType) -> Option<SourceType> {
    match op {
        BinaryOp::Dot | BinaryOp::Cross => Some(SourceType::Vector),
        BinaryOp::And | BinaryOp::Or => None,
        _ if op.is_arithmetic() => Some(wanted.unwrap_or(left)),
        _ => Some(left),
    }
}
