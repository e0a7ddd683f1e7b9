//! The syntax tree of Silicon, before names are resolved.

use crate::circuit::graph::Comparison;
use shadewright_base::bits::Bits;
use shadewright_base::text::source::Span;
use std::sync::Arc;

pub use shadewright_base::tokens::Ident;

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The macros, known in the whole file.
    pub macros: Vec<Macro>,
    /// The statements, in order.
    pub statements: Vec<Statement>,
}

/// `MACRO name(parameters | globals) => (results | changed) body`
#[derive(Clone, Debug)]
pub struct Macro {
    /// The name in the source.
    pub name: Ident,
    /// Names of its arguments.
    pub parameters: Vec<Ident>,
    /// Variables of the caller that it reads.
    pub globals: Vec<Ident>,
    /// Names of what it returns.
    pub results: Vec<Ident>,
    /// Variables of the caller that it assigns.
    pub changed: Vec<Ident>,
    /// The statement that a call executes.
    pub body: Statement,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The kind of statement.
    pub kind: StatementKind,
    /// The place in the source.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Nothing.
    Empty,
    /// `a, b:= x, y`
    Assign(Vec<Ident>, Vec<Expr>),
    /// `{ … }`
    Block(Vec<Statement>),
    /// `IF … THEN … ELSE …`
    If(Box<Expr>, Box<Statement>, Option<Box<Statement>>),
    /// `CASE … OF …`
    Case(Box<Cases<Statement>>),
    /// A loop, of which the test is known.
    Loop(Test, Box<Statement>),
    /// `BREAK`
    Break,
    /// `"text" value`
    Print(Arc<str>, Box<Expr>),
    /// A call, or an operation on a port.
    Expr(Box<Expr>),
}

/// When a loop ends by itself.
#[derive(Clone, Debug)]
pub enum Test {
    /// Never.
    Endless,
    /// `WHILE`: before an iteration, if this is false.
    While(Box<Expr>),
    /// `UNTIL`: after an iteration, if this is true.
    Until(Box<Expr>),
}

/// `CASE selector OF label, label: body … ELSE body`
#[derive(Clone, Debug)]
pub struct Cases<T> {
    /// The expression that selects an arm.
    pub selector: Expr,
    /// The arms.
    pub arms: Vec<(Vec<Expr>, T)>,
    /// The `ELSE` body, for other values.
    pub otherwise: Option<T>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// The place in the source.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, and the bits it needs.
    Number(Bits, u32),
    /// A variable, or a macro without arguments.
    Name(Arc<str>),
    /// A macro or a built-in function.
    Call(Ident, Vec<Expr>),
    /// An operation on a port: `port.name(arguments)`.
    Attribute(Box<Expr>, Ident, Vec<Expr>),
    /// `value[high:low]`
    Slice(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// `value#size`
    Sized(Box<Expr>, Box<Expr>),
    /// An operator before a value.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between two values.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `IF … THEN … ELSE …`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `CASE … OF …`
    Case(Box<Cases<Expr>>),
}

/// An operator before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-x`
    Negate,
    /// `+x`
    Plus,
    /// `NOT x`
    Not,
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `AND`
    And,
    /// `OR`
    Or,
    /// `EQV`
    Eqv,
    /// `'`
    Concat,
    /// `=`, `~=`, `<`, `<=`, `>`, `>=`
    Compare(Comparison),
}
