//! The syntax tree of an RSL file.
//!
//! Expressions live in one arena per file and refer to each other by index, so that a chain of a
//! hundred thousand operators is built, walked and dropped without a deep stack. Statements nest in
//! the ordinary way; the parser bounds their depth.

use crate::types::{SourceType, StorageClass};
use crate::unit::LightKind;
use shadewright_base::text::source::Span;
pub use shadewright_base::tokens::Ident;
pub use shadewright_ir::abi::ShaderKind;
use std::sync::Arc;

/// Index of an expression in [`Ast::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Operators on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// Operators on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `.`, the dot product
    Dot,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `^`, the cross product
    Cross,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl BinaryOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Dot => ".",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Cross => "^",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    /// How tightly it binds, from 1 (`||`) to 8 (`.`): the specification's table of operators.
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Dot => 8,
            BinaryOp::Mul | BinaryOp::Div => 7,
            BinaryOp::Cross => 6,
            BinaryOp::Add | BinaryOp::Sub => 5,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 4,
            BinaryOp::Eq | BinaryOp::Ne => 3,
            BinaryOp::And => 2,
            BinaryOp::Or => 1,
        }
    }

    /// True if it is `+`, `-`, `*` or `/`.
    pub fn is_arithmetic(self) -> bool {
        matches!(self, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Add | BinaryOp::Sub)
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// The place in the source.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `1.5`
    Number(f32),
    /// `"plastic"`
    String(Arc<str>),
    /// A variable.
    Name(Arc<str>),
    /// An operator on one value.
    Unary(UnaryOp, ExprId),
    /// An operator on two values.
    Binary(BinaryOp, ExprId, ExprId),
    /// `c ? a : b`
    Ternary(ExprId, ExprId, ExprId),
    /// `(r, g, b)`, or a matrix of 16.
    Tuple(Vec<ExprId>),
    /// `color "hsv" e`
    Cast(SourceType, Option<Ident>, ExprId),
    /// `x = e`, `x[i] += e`; the value is that of the place afterwards.
    Assign(Option<BinaryOp>, LValue, ExprId),
    /// `x[i]`
    Index(LValue),
    /// `"file"[c]`: the name of a texture with a channel. Of a variable it is an
    /// [`ExprKind::Index`].
    Channel(ExprId, ExprId),
    /// `{a, b, c}`, the values of an array.
    Array(Vec<ExprId>),
    /// `f(a, b)`
    Call(Ident, Vec<ExprId>),
    /// `s->f(a, b)`: a method of a shader that a variable holds.
    Method(LValue, Ident, Vec<ExprId>),
}

/// A variable, an element of an array, or a component of either; or such a part of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct LValue {
    /// The variable.
    pub name: Ident,
    /// The members that are chosen from it, one from another: none once structs are taken apart
    /// (`rsl::objects`).
    pub members: Vec<Member>,
    /// The indices after it, if any.
    pub indices: Vec<ExprId>,
}

/// `[i]->name` in a place: what is chosen from the struct before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The indices of the struct before it, where that is an element of an array.
    pub indices: Vec<ExprId>,
    /// The member's name.
    pub name: Ident,
}

impl LValue {
    /// A variable as a whole.
    pub fn variable(name: Ident) -> Self {
        Self { name, members: Vec::new(), indices: Vec::new() }
    }

    /// The member `name` of what lies here.
    pub fn choose(&mut self, name: Ident) {
        let indices = std::mem::take(&mut self.indices);
        self.members.push(Member { indices, name });
    }

    fn operands(&self) -> impl Iterator<Item = &ExprId> {
        self.members.iter().flat_map(|m| &m.indices).chain(&self.indices)
    }

    fn operands_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        self.members.iter_mut().flat_map(|m| &mut m.indices).chain(&mut self.indices)
    }
}

/// A variable as declared: a parameter or a local.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// The name.
    pub name: Ident,
    /// The type. Of a struct it says only whether there is an array of them, as an array of floats
    /// or a float.
    pub ty: SourceType,
    /// The struct whose value it is, until structs are taken apart (`rsl::objects`).
    pub structure: Option<Ident>,
    /// `uniform` or `varying`, when written.
    pub class: Option<StorageClass>,
    /// True if `output` is written.
    pub output: bool,
    /// True if `extern` is written: the variable is declared outside the function.
    pub external: bool,
    /// The default or first value.
    pub init: Option<ExprId>,
    /// True if it is a parameter that is an array declared without a length, which has one that
    /// others have decided on (`rsl::lengths`, [`crate::types::OPEN`]).
    pub open: bool,
}

impl Decl {
    /// A variable to which nobody gives a value.
    pub fn variable(name: Ident, ty: SourceType) -> Self {
        Self { name, ty, structure: None, class: None, output: false, external: false, init: None, open: false }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The kind of statement.
    pub kind: StmtKind,
    /// The place in the source.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Variables.
    Declare(Vec<Decl>),
    /// An expression for its effect.
    Expr(ExprId),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `if … else if … else …`: conditions with their statements, and the last `else`.
    If(Vec<(ExprId, Stmt)>, Option<Box<Stmt>>),
    /// `while (c) s`
    While(ExprId, Box<Stmt>),
    /// `for (init; condition; step) s`
    For {
        /// Runs once, before.
        init: Option<Box<Stmt>>,
        /// Continues while this holds; absent means for ever.
        condition: Option<ExprId>,
        /// Runs after each iteration.
        step: Option<ExprId>,
        /// The statement that is repeated.
        body: Box<Stmt>,
    },
    /// `break n`
    Break(u32),
    /// `continue n`
    Continue(u32),
    /// `return e`
    Return(Option<ExprId>),
    /// `illuminance (position [, axis, angle]) s`
    Illuminance(Vec<ExprId>, Box<Stmt>),
    /// `illuminate (from [, axis, angle]) s`
    Illuminate(Vec<ExprId>, Box<Stmt>),
    /// `gather (category, position, direction, angle, samples, …) s else s`
    Gather(Vec<ExprId>, Box<Stmt>, Option<Box<Stmt>>),
    /// `solar ([axis, angle]) s`
    Solar(Vec<ExprId>, Box<Stmt>),
}

/// A shader or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The place of all of it, from the first word to the closing brace; without one, it extends to
    /// the end of the text.
    pub span: Span,
    /// The name.
    pub name: Ident,
    /// For a shader, which kind; a function has none.
    pub shader: Option<ShaderKind>,
    /// The kind of a light whose statements do not determine it.
    pub light: Option<LightKind>,
    /// The type of a function's value; `Void` for shaders.
    pub result: SourceType,
    /// The struct that a function gives, until structs are taken apart (`rsl::objects`).
    pub structure: Option<Ident>,
    /// Parameters; after those declared, the variables of the function around it that a function
    /// names `extern`.
    pub params: Vec<Decl>,
    /// How many of the parameters are such variables.
    pub captured: usize,
    /// The brace that opens the statements.
    pub open: Span,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The brace that ends them.
    pub end: Span,
}

impl Definition {
    /// The parameters that a caller gives.
    pub fn declared(&self) -> &[Decl] {
        &self.params[..self.params.len() - self.captured]
    }

    /// Variables of the function around this one, which a call changes.
    pub fn captured(&self) -> &[Decl] {
        &self.params[self.params.len() - self.captured..]
    }

    /// The place of the statements with their braces.
    pub fn block(&self) -> Span {
        self.open.to(self.end)
    }
}

/// A struct: `struct Name { float a = 1; color c; };`
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: Ident,
    /// The members, with what they hold at first.
    pub members: Vec<Decl>,
}

/// A class of shaders: `class name(parameters) { members and methods }`
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderClass {
    /// The place of all of it.
    pub span: Span,
    /// The name.
    pub name: Ident,
    /// The parameters of its shaders.
    pub params: Vec<Decl>,
    /// The variables that its methods share, with what they hold at first.
    pub members: Vec<Decl>,
    /// The methods, under their names among all definitions: `CLASS.METHOD`.
    pub methods: Vec<Definition>,
    /// Members and methods, by their own names, that other shaders may use.
    pub public: Vec<Arc<str>>,
    /// The brace that opens it.
    pub open: Span,
    /// The brace that ends it.
    pub end: Span,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// Shaders and functions, in order.
    pub definitions: Vec<Definition>,
    /// Structs, until they are taken apart (`rsl::objects`).
    pub structs: Vec<Struct>,
    /// Classes of shaders, until they are taken apart (`rsl::objects`).
    pub classes: Vec<ShaderClass>,
    /// The plugins that the file names: libraries of compiled functions, of which there are none
    /// here.
    pub plugins: Vec<Ident>,
    /// All expressions.
    pub exprs: Vec<Expr>,
}

impl Ast {
    /// How many pairs of a text and a value the arguments of a call end with: options, if the
    /// function has any.
    pub fn named_pairs(&self, args: &[ExprId]) -> usize {
        args.rchunks_exact(2).take_while(|p| matches!(self.expr(p[0]).kind, ExprKind::String(_))).count()
    }

    /// The value of the first of some options among the pairs at the end of a call's arguments, and
    /// the arguments without all of these pairs; `None` where the first is not there.
    pub fn without_pairs(&self, args: &[ExprId], names: &[&str]) -> Option<(ExprId, Vec<ExprId>)> {
        let (first, pairs) = args.split_at(args.len() - 2 * self.named_pairs(args));
        let name = |pair: &[ExprId]| match &self.expr(pair[0]).kind {
            ExprKind::String(name) => names.iter().position(|n| **n == **name),
            _ => None,
        };
        let value = pairs.chunks_exact(2).find(|pair| name(pair) == Some(0))?[1];
        let rest = pairs.chunks_exact(2).filter(|pair| name(pair).is_none()).flatten();
        Some((value, first.iter().chain(rest).copied().collect()))
    }

    /// The expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// The place that an expression names, when it can stand left of `=`. A term that looks like a
    /// product of names may be the member of a struct: `s.a`.
    pub fn place(&self, e: ExprId) -> Option<LValue> {
        let mut links = Vec::new();
        let mut at = e;
        while let ExprKind::Binary(BinaryOp::Dot, l, r) = self.expr(at).kind {
            links.push(r);
            at = l;
        }
        let mut place = self.simple_place(at)?;
        for r in links.into_iter().rev() {
            let part = self.simple_place(r).filter(|p| p.members.is_empty())?;
            place.choose(part.name);
            place.indices = part.indices;
        }
        Some(place)
    }

    fn simple_place(&self, e: ExprId) -> Option<LValue> {
        let expr = self.expr(e);
        match &expr.kind {
            ExprKind::Name(name) => Some(LValue::variable(Ident { name: name.clone(), span: expr.span })),
            ExprKind::Index(place) => Some(place.clone()),
            _ => None,
        }
    }

    /// Appends the definitions of `other`. Both are flat already.
    pub fn append(&mut self, other: Ast) {
        let offset = self.exprs.len() as u32;
        let mut other = other;
        for e in &mut other.exprs {
            e.kind.for_each_child_mut(|c| c.0 += offset);
        }
        for d in &mut other.definitions {
            shift_decls(&mut d.params, offset);
            d.body.iter_mut().for_each(|s| shift_stmt(s, offset));
        }
        self.exprs.append(&mut other.exprs);
        self.definitions.append(&mut other.definitions);
    }
}

fn shift_decls(decls: &mut [Decl], offset: u32) {
    for e in decls.iter_mut().filter_map(|d| d.init.as_mut()) {
        e.0 += offset;
    }
}

fn shift_stmt(stmt: &mut Stmt, offset: u32) {
    stmt.for_each_expr_mut(&mut |e| e.0 += offset);
}

impl ExprKind {
    /// Calls `f` on each direct operand.
    pub fn for_each_child(&self, mut f: impl FnMut(ExprId)) {
        match self {
            ExprKind::Unary(_, a) | ExprKind::Cast(_, _, a) => f(*a),
            ExprKind::Assign(_, place, a) => place.operands().copied().chain([*a]).for_each(f),
            ExprKind::Binary(_, a, b) | ExprKind::Channel(a, b) => [*a, *b].into_iter().for_each(f),
            ExprKind::Ternary(a, b, c) => [*a, *b, *c].into_iter().for_each(f),
            ExprKind::Tuple(list) | ExprKind::Call(_, list) | ExprKind::Array(list) => list.iter().copied().for_each(f),
            ExprKind::Index(place) => place.operands().copied().for_each(f),
            ExprKind::Method(place, _, list) => place.operands().chain(list).copied().for_each(f),
            ExprKind::Number(_) | ExprKind::String(_) | ExprKind::Name(_) => {}
        }
    }

    fn for_each_child_mut(&mut self, mut f: impl FnMut(&mut ExprId)) {
        match self {
            ExprKind::Unary(_, a) | ExprKind::Cast(_, _, a) => f(a),
            ExprKind::Assign(_, place, a) => place.operands_mut().chain([a]).for_each(f),
            ExprKind::Binary(_, a, b) | ExprKind::Channel(a, b) => [a, b].into_iter().for_each(f),
            ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(f),
            ExprKind::Tuple(list) | ExprKind::Call(_, list) | ExprKind::Array(list) => list.iter_mut().for_each(f),
            ExprKind::Index(place) => place.operands_mut().for_each(f),
            ExprKind::Method(place, _, list) => place.operands_mut().chain(list).for_each(f),
            ExprKind::Number(_) | ExprKind::String(_) | ExprKind::Name(_) => {}
        }
    }
}

impl Stmt {
    /// The statements directly inside.
    pub fn children(&self) -> Vec<&Stmt> {
        match &self.kind {
            StmtKind::Block(list) => list.iter().collect(),
            StmtKind::If(arms, last) => arms.iter().map(|(_, s)| s).chain(last.as_deref()).collect(),
            StmtKind::For { init, body, .. } => init.as_deref().into_iter().chain([&**body]).collect(),
            StmtKind::While(_, s)
            | StmtKind::Illuminance(_, s)
            | StmtKind::Illuminate(_, s)
            | StmtKind::Solar(_, s) => vec![s],
            StmtKind::Gather(_, hit, miss) => [&**hit].into_iter().chain(miss.as_deref()).collect(),
            _ => Vec::new(),
        }
    }

    /// The expressions that belong to this statement itself, not to those inside.
    pub fn exprs(&self) -> Vec<ExprId> {
        match &self.kind {
            StmtKind::Declare(decls) => decls.iter().filter_map(|d| d.init).collect(),
            StmtKind::Expr(e) | StmtKind::While(e, _) | StmtKind::Return(Some(e)) => vec![*e],
            StmtKind::If(arms, _) => arms.iter().map(|(e, _)| *e).collect(),
            StmtKind::For { condition, step, .. } => condition.iter().chain(step).copied().collect(),
            StmtKind::Illuminance(list, _)
            | StmtKind::Illuminate(list, _)
            | StmtKind::Solar(list, _)
            | StmtKind::Gather(list, ..) => list.clone(),
            StmtKind::Block(_) | StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(None) => Vec::new(),
        }
    }

    fn for_each_expr_mut(&mut self, f: &mut impl FnMut(&mut ExprId)) {
        match &mut self.kind {
            StmtKind::Declare(decls) => decls.iter_mut().filter_map(|d| d.init.as_mut()).for_each(f),
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => f(e),
            StmtKind::Block(list) => list.iter_mut().for_each(|s| s.for_each_expr_mut(f)),
            StmtKind::If(arms, last) => {
                for (e, s) in arms {
                    f(e);
                    s.for_each_expr_mut(f);
                }
                last.iter_mut().for_each(|s| s.for_each_expr_mut(f));
            }
            StmtKind::While(e, s) => {
                f(e);
                s.for_each_expr_mut(f);
            }
            StmtKind::For { init, condition, step, body } => {
                init.iter_mut().for_each(|s| s.for_each_expr_mut(f));
                condition.iter_mut().chain(step).for_each(&mut *f);
                body.for_each_expr_mut(f);
            }
            StmtKind::Gather(list, hit, miss) => {
                list.iter_mut().for_each(&mut *f);
                hit.for_each_expr_mut(f);
                miss.iter_mut().for_each(|s| s.for_each_expr_mut(f));
            }
            StmtKind::Illuminance(list, s) | StmtKind::Illuminate(list, s) | StmtKind::Solar(list, s) => {
                list.iter_mut().for_each(&mut *f);
                s.for_each_expr_mut(f);
            }
            StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(None) => {}
        }
    }
}
