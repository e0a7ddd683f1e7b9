//! Builds one naga function: expressions, the `Emit` statements that compute them, and nested
//! blocks of statements.

use super::Error;
use super::kit::Kit;
use naga::{
    BinaryOperator, Block, Expression, Handle, Literal, MathFunction, Range, ScalarKind, Span, Statement,
    SwizzleComponent, UnaryOperator, VectorSize,
};
use shadewright_ir::Loc;

/// An expression of the function being built.
pub(super) type Expr = Handle<Expression>;

/// Expressions nested more deeply than this get a name, which ends the nesting in the text.
const MAX_NESTING: u32 = 12;

/// A naga function under construction. Statements go to the innermost open block.
pub(super) struct Code<'k> {
    pub kit: &'k mut Kit,
    pub func: naga::Function,
    /// Where what is added comes from: it stays in the module as its span, which no form of the
    /// module prints. See [`super::lines`].
    pub loc: Loc,
    blocks: Vec<Block>,
    /// Expressions that wait for their `Emit`: the first and the last.
    pending: Option<(Expr, Expr)>,
    /// How deeply each expression nests until something with a name.
    nesting: Vec<u32>,
}

impl<'k> Code<'k> {
    pub fn new(kit: &'k mut Kit, name: String) -> Self {
        let func = naga::Function { name: Some(name), ..Default::default() };
        Self { kit, func, loc: Loc::NONE, blocks: vec![Block::new()], pending: None, nesting: Vec::new() }
    }

    /// Closes the function.
    pub fn finish(mut self) -> naga::Function {
        self.flush();
        self.func.body = self.blocks.pop().unwrap_or_default();
        self.func
    }

    // --- statements ---

    /// Starts a nested block.
    pub fn open(&mut self) {
        self.flush();
        self.blocks.push(Block::new());
    }

    /// Ends the nested block and returns it.
    pub fn close(&mut self) -> Block {
        self.flush();
        self.blocks.pop().unwrap_or_default()
    }

    pub fn stmt(&mut self, stmt: Statement) {
        self.flush();
        let span = span_of(self.loc);
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt, span);
        }
    }

    fn flush(&mut self) {
        if let (Some((first, last)), Some(block)) = (self.pending.take(), self.blocks.last_mut()) {
            block.push(Statement::Emit(Range::new_from_bounds(first, last)), Span::UNDEFINED);
        }
    }

    pub fn store(&mut self, pointer: Expr, value: Expr) {
        self.stmt(Statement::Store { pointer, value });
    }

    /// `if condition { then }`
    pub fn when(&mut self, condition: Expr, then: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.open();
        then(self)?;
        let accept = self.close();
        self.stmt(Statement::If { condition, accept, reject: Block::new() });
        Ok(())
    }

    /// Calls a function; the result if it has one.
    pub fn call(&mut self, function: Handle<naga::Function>, arguments: Vec<Expr>) -> Option<Expr> {
        let has_result = self.kit.module.functions[function].result.is_some();
        let result = has_result.then(|| self.append(Expression::CallResult(function)));
        self.stmt(Statement::Call { function, arguments, result });
        result
    }

    /// Calls a shared function that returns nothing.
    pub fn act(&mut self, name: &str, arguments: Vec<Expr>) -> Result<(), Error> {
        let function = self.kit.shared(name)?;
        self.call(function, arguments);
        Ok(())
    }

    /// Calls a shared function for its result.
    pub fn ask(&mut self, name: &str, arguments: Vec<Expr>) -> Result<Expr, Error> {
        let function = self.kit.shared(name)?;
        self.call(function, arguments).ok_or_else(|| Error::Internal(format!("`{name}` has no result")))
    }

    // --- expressions ---

    fn append(&mut self, expr: Expression) -> Expr {
        let depth = match operands(&expr).into_iter().map(|e| self.nesting[e.index()]).max() {
            Some(depth) if !matches!(expr, Expression::Load { .. }) => depth + 1,
            _ => 0,
        };
        let handle = self.func.expressions.append(expr, span_of(self.loc));
        let name = depth > MAX_NESTING;
        if name {
            self.func.named_expressions.insert(handle, "v".into());
        }
        self.nesting.push(if name { 0 } else { depth });
        handle
    }

    /// Appends an expression and sees to its evaluation here.
    pub fn expr(&mut self, expr: Expression) -> Expr {
        let ready = matches!(
            expr,
            Expression::Literal(_)
                | Expression::ZeroValue(_)
                | Expression::FunctionArgument(_)
                | Expression::GlobalVariable(_)
                | Expression::LocalVariable(_)
        );
        if ready {
            return self.append(expr);
        }
        if self.pending.is_some_and(|(_, last)| last.index() + 1 != self.func.expressions.len()) {
            self.flush();
        }
        let handle = self.append(expr);
        self.pending = Some((self.pending.map_or(handle, |(first, _)| first), handle));
        handle
    }

    pub fn u32(&mut self, x: u32) -> Expr {
        self.expr(Expression::Literal(Literal::U32(x)))
    }

    pub fn f32(&mut self, x: f32) -> Expr {
        self.expr(Expression::Literal(Literal::F32(x)))
    }

    pub fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.expr(Expression::Binary { op, left, right })
    }

    pub fn not(&mut self, expr: Expr) -> Expr {
        self.expr(Expression::Unary { op: UnaryOperator::LogicalNot, expr })
    }

    pub fn negate(&mut self, expr: Expr) -> Expr {
        self.expr(Expression::Unary { op: UnaryOperator::Negate, expr })
    }

    pub fn select(&mut self, condition: Expr, accept: Expr, reject: Expr) -> Expr {
        self.expr(Expression::Select { condition, accept, reject })
    }

    pub fn math(&mut self, fun: MathFunction, arg: Expr) -> Expr {
        self.expr(Expression::Math { fun, arg, arg1: None, arg2: None, arg3: None })
    }

    pub fn component(&mut self, base: Expr, index: u32) -> Expr {
        self.expr(Expression::AccessIndex { base, index })
    }

    pub fn swizzle3(&mut self, vector: Expr, [a, b, c]: [SwizzleComponent; 3]) -> Expr {
        self.expr(Expression::Swizzle { size: VectorSize::Tri, vector, pattern: [a, b, c, a] })
    }

    pub fn bitcast(&mut self, expr: Expr, kind: ScalarKind) -> Expr {
        self.expr(Expression::As { expr, kind, convert: None })
    }

    pub fn convert(&mut self, expr: Expr, kind: ScalarKind) -> Expr {
        self.expr(Expression::As { expr, kind, convert: Some(4) })
    }

    pub fn load(&mut self, pointer: Expr) -> Expr {
        self.expr(Expression::Load { pointer })
    }

    /// A pointer to a new local variable, zero at the start of the function.
    pub fn local(&mut self, name: String, ty: Handle<naga::Type>) -> Expr {
        let variable = naga::LocalVariable { name: Some(name), ty, init: None };
        let handle = self.func.local_variables.append(variable, Span::UNDEFINED);
        self.expr(Expression::LocalVariable(handle))
    }
}

/// The span that encodes a source location.
fn span_of(loc: Loc) -> Span {
    Span::new(loc.0, loc.0)
}

/// The source location that a span encodes; none for the spans of functions that were parsed.
pub(super) fn loc_of(span: Span) -> Loc {
    let range = span.to_range().unwrap_or_default();
    if range.is_empty() { Loc(range.start as u32) } else { Loc::NONE }
}

/// The operands that an expression computes with.
pub(super) fn operands(expr: &Expression) -> Vec<Expr> {
    match *expr {
        Expression::Compose { ref components, .. } => components.clone(),
        Expression::AccessIndex { base: a, .. }
        | Expression::Splat { value: a, .. }
        | Expression::Swizzle { vector: a, .. }
        | Expression::Unary { expr: a, .. }
        | Expression::As { expr: a, .. }
        | Expression::Load { pointer: a }
        | Expression::Relational { argument: a, .. } => vec![a],
        Expression::Access { base: a, index: b } | Expression::Binary { left: a, right: b, .. } => vec![a, b],
        Expression::Select { condition, accept, reject } => vec![condition, accept, reject],
        Expression::Math { arg, arg1, arg2, .. } => [Some(arg), arg1, arg2].into_iter().flatten().collect(),
        _ => vec![],
    }
}
