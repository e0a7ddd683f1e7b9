//! Definitions and statements, with the scopes of their variables.

use super::structs::Source;
use super::*;

/// The variable of a function that stands for the struct that it gives.
const RESULT: &str = "return";

/// The variable that a struct is made in before it replaces another, whose members it may be made
/// of.
const NEW: &str = "new";

impl Flattening<'_> {
    /// A definition without structs. What gives a struct gives its members by output parameters
    /// after the others.
    pub(super) fn definition(&mut self, mut d: Definition) -> Definition {
        self.scopes.push(HashMap::new());
        self.result = d.structure.take().and_then(|s| self.shape_named(&s.name));
        let captured = d.params.split_off(d.params.len() - d.captured);
        if d.shader.is_some() {
            self.refuse_structs(&d.params);
        }
        d.params = self.parameters(d.params);
        if let Some(shape) = self.result {
            d.result = SourceType::Void;
            let name = Ident { name: RESULT.into(), span: d.name.span };
            let all = Decl { output: true, ..Decl::variable(name, SourceType::Float) };
            d.params.extend(self.variables(&all, RESULT, shape).into_iter().map(without_value));
        }
        let captured = self.parameters(captured);
        d.captured = captured.len();
        d.params.extend(captured);
        d.body = self.statements(d.body);
        self.scopes.pop();
        d
    }

    /// Parameters of shaders come from scenes, which know no structs.
    pub(super) fn refuse_structs(&mut self, params: &[Decl]) {
        for p in params.iter().filter(|p| p.structure.is_some()) {
            let d = Diagnostic::error("a shader's parameter cannot be a struct").at(p.name.span, "this parameter");
            self.diags.push(d);
        }
    }

    /// Parameters, each in the innermost scope from then on.
    pub(super) fn parameters(&mut self, params: Vec<Decl>) -> Vec<Decl> {
        let mut flat = Vec::new();
        for p in params {
            p.init.iter().for_each(|&e| self.expr(e));
            let shape = self.shape_of(&p);
            let name = self.bind(&p, shape);
            match shape {
                Some(shape) => flat.extend(self.variables(&p, &name, shape).into_iter().map(without_value)),
                None => flat.push(Decl { name: Ident { name, ..p.name }, ..p }),
            }
        }
        flat
    }

    /// Statements of one scope.
    pub(super) fn statements(&mut self, list: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::new();
        list.into_iter().for_each(|s| self.statement(s, &mut out));
        out
    }

    /// Statements in a scope of their own.
    fn scoped(&mut self, list: Vec<Stmt>) -> Vec<Stmt> {
        self.scopes.push(HashMap::new());
        let list = self.statements(list);
        self.scopes.pop();
        list
    }

    /// A statement in a scope of its own.
    fn inner(&mut self, s: Stmt) -> Stmt {
        let span = s.span;
        let mut list = self.scoped(vec![s]);
        match list.len() {
            1 => list.remove(0),
            _ => Stmt { kind: StmtKind::Block(list), span },
        }
    }

    fn inner_box(&mut self, s: Stmt) -> Box<Stmt> {
        Box::new(self.inner(s))
    }

    /// A statement, which may become several, or none.
    fn statement(&mut self, s: Stmt, out: &mut Vec<Stmt>) {
        let span = s.span;
        let kind = match s.kind {
            StmtKind::Declare(decls) => return self.declare(decls, span, out),
            StmtKind::Expr(e) => {
                if let ExprKind::Assign(None, place, value) = self.ast.expr(e).kind.clone()
                    && self.holds_struct(&place)
                    && let Ok(Part { place, shape: Some(shape) }) = self.part(&place)
                {
                    return self.assign(&place, shape, value, span, out);
                }
                match self.shaders_at_work(e, span) {
                    Ok(Some(filled)) => return out.push(filled),
                    Ok(None) => {}
                    Err(Wrong) => return,
                }
                StmtKind::Expr(e)
            }
            StmtKind::Return(Some(e)) if let Some(shape) = self.result => {
                let place = LValue::variable(Ident { name: RESULT.into(), span });
                self.assign(&place, shape, e, span, out);
                StmtKind::Return(None)
            }
            StmtKind::Return(e) => {
                e.iter().for_each(|&e| self.expr(e));
                StmtKind::Return(e)
            }
            StmtKind::Block(list) => StmtKind::Block(self.scoped(list)),
            StmtKind::If(arms, last) => {
                let mut flat = Vec::new();
                for (condition, s) in arms {
                    self.expr(condition);
                    flat.push((condition, self.inner(s)));
                }
                StmtKind::If(flat, last.map(|s| self.inner_box(*s)))
            }
            StmtKind::While(condition, body) => {
                self.expr(condition);
                StmtKind::While(condition, self.inner_box(*body))
            }
            StmtKind::For { init, condition, step, body } => {
                return self.repeat(init, (condition, step), *body, span, out);
            }
            StmtKind::Illuminance(args, body) => {
                args.iter().for_each(|&e| self.expr(e));
                StmtKind::Illuminance(args, self.inner_box(*body))
            }
            StmtKind::Illuminate(args, body) => {
                args.iter().for_each(|&e| self.expr(e));
                StmtKind::Illuminate(args, self.inner_box(*body))
            }
            StmtKind::Solar(args, body) => {
                args.iter().for_each(|&e| self.expr(e));
                StmtKind::Solar(args, self.inner_box(*body))
            }
            StmtKind::Gather(args, hit, miss) => {
                args.iter().for_each(|&e| self.expr(e));
                let hit = self.inner_box(*hit);
                StmtKind::Gather(args, hit, miss.map(|s| self.inner_box(*s)))
            }
            kind @ (StmtKind::Break(_) | StmtKind::Continue(_)) => kind,
        };
        out.push(Stmt { kind, span });
    }

    /// An expression statement: gives the one that takes its place where it fills an array with
    /// co-shaders.
    fn shaders_at_work(&mut self, e: ExprId, span: Span) -> Flat<Option<Stmt>> {
        match self.ast.expr(e).kind.clone() {
            ExprKind::Assign(None, place, value) => {
                if let Some(ty) = self.lookup(&place.name.name).and_then(|b| b.ty)
                    && let Some(listed) = self.listed_shaders(value)?
                {
                    let part = self.part(&place)?;
                    return Ok(Some(self.fill(&part.place, ty, listed, span)));
                }
                self.expr(e);
            }
            ExprKind::Method(place, f, args) if !self.is_own(&place) => {
                self.ast.exprs[e.0 as usize].kind = self.method_of(CoShaderQuery::Run, &place, &f, &args)?;
            }
            _ => self.expr(e),
        }
        Ok(None)
    }

    /// `for`: a first statement that became several precedes it, in the same scope.
    fn repeat(
        &mut self,
        init: Option<Box<Stmt>>,
        (condition, step): (Option<ExprId>, Option<ExprId>),
        body: Stmt,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        self.scopes.push(HashMap::new());
        let mut first = Vec::new();
        if let Some(s) = init {
            self.statement(*s, &mut first);
        }
        condition.iter().chain(&step).for_each(|&e| self.expr(e));
        let body = self.inner_box(body);
        self.scopes.pop();
        let init = if first.len() == 1 { first.pop().map(Box::new) } else { None };
        let kind = StmtKind::For { init, condition, step, body };
        let repeat = Stmt { kind, span };
        if first.is_empty() {
            out.push(repeat);
        } else {
            first.push(repeat);
            out.push(Stmt { kind: StmtKind::Block(first), span });
        }
    }

    /// Variables.
    pub(super) fn declare(&mut self, decls: Vec<Decl>, span: Span, out: &mut Vec<Stmt>) {
        let mut flat = Vec::new();
        for d in decls {
            if d.external {
                // A method sees the variables of its class without it.
                let is_known = self.class.as_ref().is_some_and(|class| class.has_variable(&d.name.name));
                flat.extend((!is_known).then_some(d));
                continue;
            }
            let Some(shape) = self.shape_of(&d) else {
                let (listed, init) = match d.init.map(|e| self.listed_shaders(e)) {
                    Some(Ok(listed @ Some(_))) => (listed, None),
                    Some(Err(Wrong)) => (None, None),
                    _ => (None, d.init),
                };
                init.iter().for_each(|&e| self.expr(e));
                let name = Ident { name: self.bind(&d, None), ..d.name };
                let (array, ty, of_variable) = (LValue::variable(name.clone()), d.ty, d.name.span);
                flat.push(Decl { name, init, ..d });
                if let Some(listed) = listed {
                    out.push(Stmt { kind: StmtKind::Declare(std::mem::take(&mut flat)), span });
                    out.push(self.fill(&array, ty, listed, of_variable));
                }
                continue;
            };
            let source = d.init.map(|e| self.source(e, shape));
            let name = self.bind(&d, Some(shape));
            let mut variables = self.variables(&d, &name, shape);
            match source {
                Some(Ok(Source::Values(values))) => {
                    variables.iter_mut().zip(values).for_each(|(d, e)| d.init = Some(e));
                    flat.extend(variables);
                }
                Some(Ok(Source::Call(f, args))) => {
                    flat.extend(variables);
                    out.push(Stmt { kind: StmtKind::Declare(std::mem::take(&mut flat)), span });
                    self.receive(&LValue::variable(Ident { name, span: d.name.span }), shape, f, args, span, out);
                }
                Some(Err(Wrong)) | None => flat.extend(variables),
            }
        }
        if !flat.is_empty() {
            out.push(Stmt { kind: StmtKind::Declare(flat), span });
        }
    }

    /// A call that gives a struct to a place.
    fn receive(
        &mut self,
        place: &LValue,
        shape: usize,
        f: Ident,
        mut args: Vec<ExprId>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        args.extend(self.leaves(place, shape));
        let call = self.add(ExprKind::Call(f, args), span);
        out.push(Stmt { kind: StmtKind::Expr(call), span });
    }

    /// A struct is assigned to a place.
    fn assign(&mut self, place: &LValue, shape: usize, value: ExprId, span: Span, out: &mut Vec<Stmt>) {
        // What is made of the variable's own members is made whole before it replaces them.
        let is_made = matches!(self.ast.expr(value).kind, ExprKind::Call(..)) && *place.name.name != *RESULT;
        let mut list = Vec::new();
        match self.source(value, shape) {
            Ok(Source::Values(mut values)) => {
                let places = self.leaf_places(place, shape);
                if is_made {
                    let name = Ident { name: NEW.into(), span };
                    let all = Decl::variable(name, SourceType::Float);
                    let mut new = self.variables(&all, NEW, shape);
                    new.iter_mut().zip(&values).for_each(|(d, e)| d.init = Some(*e));
                    values = self.leaves(&LValue::variable(all.name), shape);
                    list.push(Stmt { kind: StmtKind::Declare(new), span });
                }
                for (place, value) in places.into_iter().zip(values) {
                    let e = self.add(ExprKind::Assign(None, place, value), span);
                    list.push(Stmt { kind: StmtKind::Expr(e), span });
                }
            }
            Ok(Source::Call(f, args)) => self.receive(place, shape, f, args, span, &mut list),
            Err(Wrong) => {}
        }
        out.push(Stmt { kind: StmtKind::Block(list), span });
    }
}

/// A parameter's value comes from its caller.
fn without_value(d: Decl) -> Decl {
    Decl { init: None, ..d }
}
