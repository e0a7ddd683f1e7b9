//! The syntax tree of pfman: the content of a file with spans, before names are resolved.
//!
//! Types are resolved while the file is read, since a name means a type from its `typedef` on.
//! Expressions lie in one list and name each other by number.

use super::types::Type;
use crate::types::StorageClass;
use shadewright_base::text::source::Span;
pub use shadewright_base::tokens::Ident;
pub use shadewright_ir::abi::ShaderKind;
use std::sync::Arc;

/// An expression, by its number in [`Ast::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(pub u32);

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `!x`
    Not,
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `^`: exclusive or, cross product, wedge product.
    Wedge,
    /// `*`: product, or contraction of arrays.
    Mul,
    /// `/`: quotient, or product with the inverse of a matrix.
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `>`
    Gt,
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
    /// All of them, with their signs and how tightly they bind (figure 4.2).
    pub const ALL: [(BinaryOp, &'static str, u8); 18] = [
        (BinaryOp::Wedge, "^", 10),
        (BinaryOp::Mul, "*", 9),
        (BinaryOp::Div, "/", 9),
        (BinaryOp::Rem, "%", 9),
        (BinaryOp::Add, "+", 8),
        (BinaryOp::Sub, "-", 8),
        (BinaryOp::BitAnd, "&", 7),
        (BinaryOp::BitOr, "|", 6),
        (BinaryOp::Shl, "<<", 5),
        (BinaryOp::Shr, ">>", 5),
        (BinaryOp::Lt, "<", 4),
        (BinaryOp::Le, "<=", 4),
        (BinaryOp::Ge, ">=", 4),
        (BinaryOp::Gt, ">", 4),
        (BinaryOp::Eq, "==", 3),
        (BinaryOp::Ne, "!=", 3),
        (BinaryOp::And, "&&", 2),
        (BinaryOp::Or, "||", 1),
    ];

    /// The sign of the operator.
    pub fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|o| o.0 == self).map_or("", |o| o.1)
    }
}

/// The signs of assignments, with the operators that they apply.
pub const ASSIGNMENTS: [(&str, Option<BinaryOp>); 6] = [
    ("=", None),
    ("+=", Some(BinaryOp::Add)),
    ("-=", Some(BinaryOp::Sub)),
    ("*=", Some(BinaryOp::Mul)),
    ("/=", Some(BinaryOp::Div)),
    ("^=", Some(BinaryOp::Wedge)),
];

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
    /// `1`
    Int(u32),
    /// `1.5`
    Float(f64),
    /// `"wood.tif"`
    String(Arc<str>),
    /// A variable.
    Name(Arc<str>),
    /// An operator on one value.
    Unary(UnaryOp, ExprId),
    /// `++x`, `x--`: the place, whether it is raised, and whether the value is that afterwards.
    Step {
        /// The place that is changed.
        place: ExprId,
        /// `++`
        up: bool,
        /// True if the operator is a prefix.
        before: bool,
    },
    /// An operator on two values.
    Binary(BinaryOp, ExprId, ExprId),
    /// `c ? a : b`
    Ternary(ExprId, ExprId, ExprId),
    /// `x = e`, `x += e`
    Assign(Option<BinaryOp>, ExprId, ExprId),
    /// `a, b`
    Sequence(ExprId, ExprId),
    /// `x[i]`
    Index(ExprId, ExprId),
    /// `{a, b}`
    Array(Vec<ExprId>),
    /// `(float) x`
    Cast(Type, ExprId),
    /// `f(a, b)`
    Call(Ident, Vec<ExprId>),
}

impl ExprKind {
    /// Calls `f` for each expression right below this one.
    pub fn for_each_child(&self, mut f: impl FnMut(ExprId)) {
        match self {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::String(_) | ExprKind::Name(_) => {}
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Step { place: a, .. } => f(*a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Sequence(a, b)
            | ExprKind::Index(a, b) => [*a, *b].into_iter().for_each(f),
            ExprKind::Ternary(a, b, c) => [*a, *b, *c].into_iter().for_each(f),
            ExprKind::Array(list) | ExprKind::Call(_, list) => list.iter().copied().for_each(f),
        }
    }
}

/// The change of a shader's parameter before the shader runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// `unit`: it is normalized.
    Unit,
    /// `transform_as_point`
    Point,
    /// `transform_as_plane`: by the inverse, as the coefficients of a plane are.
    Plane,
    /// `transform_as_vector`
    Vector,
    /// `transform_as_normal`
    Normal,
    /// `transform_as_texture`: by the transformation of texture coordinates.
    Texture,
}

impl Modifier {
    /// All of them, by their words.
    pub const ALL: [(&'static str, Modifier); 6] = [
        ("unit", Modifier::Unit),
        ("transform_as_point", Modifier::Point),
        ("transform_as_plane", Modifier::Plane),
        ("transform_as_vector", Modifier::Vector),
        ("transform_as_normal", Modifier::Normal),
        ("transform_as_texture", Modifier::Texture),
    ];

    /// The word in the source.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|m| m.1 == self).map_or("", |m| m.0)
    }
}

/// A variable, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name; prototypes may leave it out.
    pub name: Ident,
    /// The type.
    pub ty: Type,
    /// The storage class, where a word says it.
    pub class: Option<StorageClass>,
    /// The changes of a parameter, as they are written.
    pub modifiers: Vec<Modifier>,
    /// True if it is an output.
    pub output: bool,
    /// The initial value, or the default.
    pub init: Option<ExprId>,
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
    Declare(Vec<Variable>),
    /// An expression for its effect.
    Expr(ExprId),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `if … else if … else …`: conditions with their statements, and the last `else`.
    If(Vec<(ExprId, Stmt)>, Option<Box<Stmt>>),
    /// `while (c) s`
    While(ExprId, Box<Stmt>),
    /// `do s until (c);`, or, as C has it, `do s while (c);`: whether the loop ends where the
    /// condition holds.
    Do {
        /// The statement that is repeated.
        body: Box<Stmt>,
        /// Tested after each turn.
        condition: ExprId,
        /// `until`
        until: bool,
    },
    /// `for (init; condition; step) s`
    For {
        /// Runs once, before.
        init: Option<Box<Stmt>>,
        /// Continues while this holds; absent means for ever.
        condition: Option<ExprId>,
        /// Runs after each turn.
        step: Option<ExprId>,
        /// The statement that is repeated.
        body: Box<Stmt>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<ExprId>),
    /// `illuminance ([position [, axis, angle]]) s`
    Illuminance(Vec<ExprId>, Box<Stmt>),
}

/// Where a function that has `extern` before it lies, and how it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    /// `inline`
    pub inline: bool,
    /// `static`
    pub is_static: bool,
    /// `C` or `C++`: an ordinary function of the host, of uniform values alone.
    pub host: bool,
}

/// A function, or a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The place, from the type to the last brace.
    pub span: Span,
    /// The name, with its place.
    pub name: Ident,
    /// The kind of shader, if it is one.
    pub shader: Option<ShaderKind>,
    /// Where it lies, where `extern` says that.
    pub linkage: Option<(Linkage, Span)>,
    /// The type of its value.
    pub result: Type,
    /// The storage class of its value, where a word says it.
    pub class: Option<StorageClass>,
    /// The parameters.
    pub params: Vec<Variable>,
    /// The statements; none of a prototype.
    pub body: Option<Vec<Stmt>>,
    /// The brace that ends it.
    pub end: Span,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// Functions, shaders and prototypes, in order.
    pub functions: Vec<Function>,
    /// The types that the file names.
    pub typedefs: Vec<(Ident, Type)>,
    /// All expressions.
    pub exprs: Vec<Expr>,
}

impl Stmt {
    /// The statements right below this one.
    pub fn children(&self) -> Vec<&Stmt> {
        match &self.kind {
            StmtKind::Block(list) => list.iter().collect(),
            StmtKind::If(arms, last) => arms.iter().map(|arm| &arm.1).chain(last.as_deref()).collect(),
            StmtKind::While(_, body) | StmtKind::Do { body, .. } | StmtKind::Illuminance(_, body) => vec![body],
            StmtKind::For { init, body, .. } => init.as_deref().into_iter().chain([&**body]).collect(),
            StmtKind::Declare(_) | StmtKind::Expr(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => {
                Vec::new()
            }
        }
    }
}

impl Ast {
    /// The expression of that number.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// The value of an expression of constants that is a whole number.
    pub fn whole_number(&self, id: ExprId) -> Option<i64> {
        match &self.expr(id).kind {
            ExprKind::Int(x) => Some(i64::from(*x)),
            ExprKind::Unary(UnaryOp::Neg, a) => self.whole_number(*a)?.checked_neg(),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.whole_number(*a)?, self.whole_number(*b)?);
                let shift = u32::try_from(b).ok();
                match op {
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::Div => a.checked_div(b),
                    BinaryOp::Rem => a.checked_rem(b),
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::BitAnd => Some(a & b),
                    BinaryOp::BitOr => Some(a | b),
                    BinaryOp::Wedge => Some(a ^ b),
                    BinaryOp::Shl => a.checked_shl(shift?),
                    BinaryOp::Shr => a.checked_shr(shift?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
