//! The syntax tree of RTSL: the content of a file with spans, before names are resolved.
//!
//! Expressions lie in one list and name each other by number, so that long chains of operators take
//! no depth.

use super::types::BasicType;
use shadewright_base::text::source::Span;
pub use shadewright_base::tokens::Ident;
use std::sync::Arc;

/// An expression, by its number in [`Ast::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(pub u32);

/// A type as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    /// The type, or that of an array's elements.
    pub base: BaseType,
    /// The numbers of elements of an array: outermost first; `None` where it is left open.
    pub lengths: Vec<Option<ExprId>>,
    /// The place in the source.
    pub span: Span,
}

/// The meaning of a type's name.
#[derive(Clone, Debug, PartialEq)]
pub enum BaseType {
    /// A type of the language.
    Basic(BasicType),
    /// A struct, or a class or an interface: a reference to an object then.
    Named(Arc<str>),
}

/// A prefix or postfix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `!x`
    Not,
    /// `~x`
    Complement,
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `^^`
    Xor,
    /// `||`
    Or,
}

impl BinaryOp {
    /// All of them, with their signs and how tightly they bind (GLSL 1.20, §5.1), those that bind
    /// most tightly first.
    pub const ALL: [(BinaryOp, &'static str, u8); 19] = [
        (BinaryOp::Mul, "*", 11),
        (BinaryOp::Div, "/", 11),
        (BinaryOp::Rem, "%", 11),
        (BinaryOp::Add, "+", 10),
        (BinaryOp::Sub, "-", 10),
        (BinaryOp::Shl, "<<", 9),
        (BinaryOp::Shr, ">>", 9),
        (BinaryOp::Lt, "<", 8),
        (BinaryOp::Gt, ">", 8),
        (BinaryOp::Le, "<=", 8),
        (BinaryOp::Ge, ">=", 8),
        (BinaryOp::Eq, "==", 7),
        (BinaryOp::Ne, "!=", 7),
        (BinaryOp::BitAnd, "&", 6),
        (BinaryOp::BitXor, "^", 5),
        (BinaryOp::BitOr, "|", 4),
        (BinaryOp::And, "&&", 3),
        (BinaryOp::Xor, "^^", 2),
        (BinaryOp::Or, "||", 1),
    ];

    /// The sign of the operator.
    pub fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|o| o.0 == self).map_or("", |o| o.1)
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
    /// `1`
    Int(u32),
    /// `1.5`
    Float(f32),
    /// `true`
    Bool(bool),
    /// `"wood.png"`
    String(Arc<str>),
    /// `null`: a reference to no object.
    Null,
    /// `this`: the object whose method runs.
    This,
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
    /// `x.y`: a member, or components (`pos.xy`).
    Member(ExprId, Ident),
    /// `f(a, b)`
    Call(Ident, Vec<ExprId>),
    /// `vec3(a, b)`, `float[2](a, b)`
    Construct(TypeName, Vec<ExprId>),
    /// `x.f(a)`: a method of an object; `a.length()` of an array too.
    Method(ExprId, Ident, Vec<ExprId>),
}

impl ExprKind {
    /// Calls `f` for each expression right below this one.
    pub fn for_each_child(&self, mut f: impl FnMut(ExprId)) {
        match self {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::String(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::Name(_) => {}
            ExprKind::Unary(_, a) | ExprKind::Member(a, _) | ExprKind::Step { place: a, .. } => f(*a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Sequence(a, b)
            | ExprKind::Index(a, b) => [*a, *b].into_iter().for_each(f),
            ExprKind::Ternary(a, b, c) => [*a, *b, *c].into_iter().for_each(f),
            ExprKind::Call(_, args) => args.iter().copied().for_each(f),
            ExprKind::Construct(ty, args) => ty.lengths.iter().flatten().chain(args).copied().for_each(f),
            ExprKind::Method(object, _, args) => std::iter::once(object).chain(args).copied().for_each(f),
        }
    }
}

/// How a variable of a class is kept (RTSL §3.2, *Variable qualifiers*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// `const`: known when the file is compiled.
    Const,
    /// `public`: of an object; the scene and others may see it.
    Public,
    /// `private`: of an object.
    Private,
    /// `scratch`: of an object and a ray, from one method to the next.
    Scratch,
    /// Without a word: of a function.
    Local,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name, with its place.
    pub name: Ident,
    /// The type, as it is written.
    pub ty: TypeName,
    /// The storage qualifier.
    pub qualifier: Qualifier,
    /// True if `unit` says that it is a vector of length 1.
    pub unit: bool,
    /// The initial value.
    pub init: Option<ExprId>,
}

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `in`, or no word.
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name; declarations may leave it out.
    pub name: Option<Ident>,
    /// The type, as it is written.
    pub ty: TypeName,
    /// Which way it goes.
    pub direction: Direction,
    /// True if `const` says that the function does not change it.
    pub constant: bool,
    /// True if `unit` says that it is a vector of length 1.
    pub unit: bool,
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
    /// `do s while (c);`
    DoWhile(Box<Stmt>, ExprId),
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
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<ExprId>),
    /// `illuminance (position, normal [, angle]) s` (RTSL §3.2, *Lighting constructs*)
    Illuminance(Vec<ExprId>, Box<Stmt>),
    /// `ambient (position, normal) s else s`
    Ambient(Vec<ExprId>, Box<Stmt>, Option<Box<Stmt>>),
}

/// A function, or a method of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The place, from the type to the last brace.
    pub span: Span,
    /// The name, with its place.
    pub name: Ident,
    /// The type of its value.
    pub result: TypeName,
    /// The parameters.
    pub params: Vec<Parameter>,
    /// The statements; none of a declaration.
    pub body: Option<Vec<Stmt>>,
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name, with its place.
    pub name: Ident,
    /// The members.
    pub members: Vec<Variable>,
}

/// A class: everything after its head, up to the next class or the end of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassDecl {
    /// The name, with its place.
    pub name: Ident,
    /// The base class and the interfaces, as they are written.
    pub bases: Vec<Ident>,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The methods, the constructors among them.
    pub methods: Vec<Function>,
    /// The structs that are declared in it.
    pub structs: Vec<Struct>,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// The classes, in order.
    pub classes: Vec<ClassDecl>,
    /// Structs, constants and functions that stand before the first class: all classes see them.
    pub structs: Vec<Struct>,
    /// Constants before the first class.
    pub constants: Vec<Variable>,
    /// Functions before the first class.
    pub functions: Vec<Function>,
    /// All expressions.
    pub exprs: Vec<Expr>,
}

impl Ast {
    /// The expression of that number.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }
}
