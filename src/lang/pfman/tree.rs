//! A checked file: names are resolved, every expression has its type, conversions are explicit.
//!
//! [`super::check`] makes it from the syntax tree, `check::sizing` decides how much of each
//! fixed-point result is kept, [`super::lower`] emits IR.

use super::ast::{BinaryOp, Function as Declaration, Modifier};
use super::builtins::Builtin;
use super::types::{Scalar, Type};
use crate::types::StorageClass;
use shadewright_base::text::source::Span;
use shadewright_ir::HostFunction;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An expression of a function, by its number in [`Body::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

/// A variable of a function, by its number in [`Body::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// An expression.
#[derive(Clone, Debug)]
pub struct Node {
    /// The kind of expression.
    pub kind: NodeKind,
    /// The type. Of fixed-point results, that of the part that is kept.
    pub ty: Type,
    /// The type that loses nothing.
    pub exact: Type,
    /// How often it may differ.
    pub class: StorageClass,
    /// The place in the source.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Known numbers, in order.
    Constant(Vec<f64>),
    /// A variable.
    Variable(VariableId),
    /// The identifier of a texture: a parameter of the shader.
    Texture(VariableId),
    /// The identifier of a texture by its file.
    Text(Arc<str>),
    /// The elements of an array, which may be arrays.
    Array(Vec<NodeId>),
    /// An array with indices, as many as it has dimensions or fewer.
    Index(NodeId, Vec<NodeId>),
    /// The same numbers as another type.
    Convert(NodeId),
    /// `-x`, element by element.
    Negate(NodeId),
    /// `!x`
    Not(NodeId),
    /// An operation on two numbers, or element by element on arrays of equal lengths. `+` and `-`
    /// of any, `*`, `/` and `%` of numbers; a number and an array for `*`, an array and a number
    /// for `/`; `&`, `|`, `^`, `<<`, `>>` of fixed-point numbers; comparisons of operands of one
    /// type.
    Binary(BinaryOp, NodeId, NodeId),
    /// The contraction of the last index of one array with the first of another.
    Contract(NodeId, NodeId),
    /// The inverse of a square matrix of floats.
    Inverse(NodeId),
    /// `^` of two vectors of floats: the cross product of three components, the area of two, else
    /// the antisymmetric matrix.
    Wedge(NodeId, NodeId),
    /// `a && b`, `a || b`: whether it is `&&`. The second is not evaluated where the first decides.
    Logical(bool, NodeId, NodeId),
    /// `c ? a : b`: one of the two is evaluated.
    Choose(NodeId, NodeId, NodeId),
    /// Gives a variable, or an element, a value of its type, which is the value of the expression.
    Assign(LValue, NodeId),
    /// `x++`: the place, its new value, in which [`NodeKind::Old`] stands for the one before, and
    /// whether the old one is that of the expression.
    Step {
        /// The place that is changed.
        place: LValue,
        /// The new value.
        new: NodeId,
        /// True if the value of the expression is the one before.
        gives_old: bool,
    },
    /// The value of the place that is changed, before.
    Old,
    /// `a, b`
    Sequence(NodeId, NodeId),
    /// A call of a function of the file: its number in [`File::functions`], and the places of its
    /// outputs, by parameter.
    Call(usize, Vec<NodeId>, Vec<Option<LValue>>),
    /// A call of a built-in function with converted arguments.
    Builtin(&'static Builtin, Vec<NodeId>),
}

/// A variable or an element of one.
#[derive(Clone, Debug)]
pub struct LValue {
    /// The variable.
    pub variable: VariableId,
    /// Indices, outermost first.
    pub indices: Vec<NodeId>,
    /// The type of what lies there.
    pub ty: Type,
}

/// Where a variable's value comes from at first.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A declaration in the function.
    Local,
    /// A parameter, by its number.
    Parameter(usize),
    /// The renderer, under this name of the language.
    Renderer(&'static super::globals::Name),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: Arc<str>,
    /// The type.
    pub ty: Type,
    /// The storage class.
    pub class: StorageClass,
    /// Where its value comes from.
    pub origin: Origin,
    /// Where it was declared; the renderer's have no place unless a shader declares them.
    pub declared: Option<Span>,
    /// The changes of a parameter before the shader runs.
    pub modifiers: Vec<Modifier>,
    /// Where it can be named.
    pub scope: Span,
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
    /// A variable begins, with its value at first.
    Declare(VariableId, Option<NodeId>),
    /// An expression for its effect.
    Expr(NodeId),
    /// Statements in a scope of their own.
    Block(Vec<Statement>),
    /// Conditions, each with what runs where it is the first to hold, and what runs elsewhere.
    If(Vec<(NodeId, Statement)>, Option<Box<Statement>>),
    /// A loop that continues while a condition holds, tested before each turn, or after it.
    Loop {
        /// Absent means for ever.
        condition: Option<NodeId>,
        /// True if the loop ends where the condition holds.
        until: bool,
        /// True if the first turn runs untested.
        runs_once: bool,
        /// Runs after each turn.
        step: Option<NodeId>,
        /// The statement that is repeated.
        body: Box<Statement>,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<NodeId>),
    /// A loop over the lights.
    Illuminance {
        /// The place that is lit; the surface's where there is none.
        position: Option<NodeId>,
        /// An axis and the largest angle to it.
        cone: Option<(NodeId, NodeId)>,
        /// The body.
        body: Box<Statement>,
    },
}

/// The checked statements of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The expressions.
    pub nodes: Vec<Node>,
    /// The variables: the parameters first.
    pub variables: Vec<Variable>,
    /// The statements.
    pub statements: Vec<Statement>,
    /// The predefined variables that it needs, those of functions that it calls among them, by the
    /// names that cores have for them.
    pub reads: BTreeSet<&'static str>,
    /// The functions of the file that it calls.
    pub calls: BTreeSet<usize>,
    /// Defaults of the parameters, converted to their types.
    pub defaults: Vec<Option<Vec<f64>>>,
    /// Outputs of the renderer's that it writes, by the names that cores have for them.
    pub writes: BTreeSet<&'static str>,
    /// Parameters that are identifiers of textures.
    pub textures: BTreeSet<VariableId>,
    /// Functions of the standard library's source that it calls.
    pub library: BTreeSet<&'static str>,
}

impl Body {
    /// The expression of that number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The variable of that number.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    /// The type of an expression's numbers.
    pub fn scalar(&self, id: NodeId) -> Scalar {
        self.node(id).ty.scalar()
    }
}

/// A function with its statements.
#[derive(Clone, Debug)]
pub struct Function {
    /// The declaration in the file.
    pub declaration: Declaration,
    /// The name in the IR.
    pub ir_name: Arc<str>,
    /// The host's function of the name, of one that is declared alone.
    pub host: Option<HostFunction>,
    /// The statements; none of a function of the host.
    pub body: Option<Body>,
}

/// A checked file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The functions and shaders that are defined, and the host's that are declared.
    pub functions: Vec<Function>,
}
