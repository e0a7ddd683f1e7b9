//! Expressions: each becomes a node with the type that loses nothing.

use super::*;

/// Most numbers that a contraction gives or sums up.
const MAX_PRODUCTS: usize = 4096;

impl Check<'_> {
    pub(super) fn add(&mut self, kind: NodeKind, ty: Type, class: StorageClass, span: Span) -> NodeId {
        self.body.nodes.push(Node { kind, exact: ty.clone(), ty, class, span });
        NodeId(self.body.nodes.len() as u32 - 1)
    }

    /// The class of what is made of expressions.
    fn class_of(&self, nodes: &[NodeId]) -> StorageClass {
        nodes.iter().map(|n| self.body.node(*n).class).max().unwrap_or(StorageClass::Constant)
    }

    pub(super) fn expr(&mut self, e: ExprId) -> Checked<NodeId> {
        let ast = self.ast;
        let span = ast.expr(e).span;
        match &ast.expr(e).kind {
            ExprKind::Int(x) => {
                let ty = Fixed::whole((u32::BITS - x.leading_zeros()).max(1));
                self.constant(&[f64::from(*x)], &Type::number(Scalar::Fixed(ty)), span)
            }
            ExprKind::Float(x) => self.constant(&[*x], &Type::FLOAT, span),
            ExprKind::String(_) => {
                let d = Diagnostic::error("a text names a texture, and nothing else").at(span, "not a number");
                self.error(d)
            }
            ExprKind::Name(name) => {
                let id = self.find(name, span)?;
                let variable = self.body.variable(id);
                let (ty, class) = (variable.ty.clone(), variable.class);
                Ok(self.add(NodeKind::Variable(id), ty, class, span))
            }
            ExprKind::Unary(op, a) => {
                let a = self.expr(*a)?;
                self.unary(*op, a, span)
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = self.condition(*a)?;
                let b = self.condition(*b)?;
                let class = self.class_of(&[a, b]);
                Ok(self.add(NodeKind::Logical(*op == BinaryOp::And, a, b), Type::BOOL, class, span))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(*a), self.expr(*b));
                self.binary(*op, a?, b?, span)
            }
            ExprKind::Ternary(condition, a, b) => self.choice(*condition, *a, *b, span),
            ExprKind::Assign(op, place, value) => self.assignment(*op, *place, *value, span),
            ExprKind::Step { place, up, before } => {
                let place = self.place(*place)?;
                let old = self.old_value(&place, span);
                let one = self.constant(&[1.0], &Type::number(Scalar::Fixed(Fixed::whole(1))), span)?;
                let new = self.binary(if *up { BinaryOp::Add } else { BinaryOp::Sub }, old, one, span)?;
                self.changed(place, new, !before, span)
            }
            ExprKind::Sequence(a, b) => {
                let a = self.whole(*a)?;
                let b = self.expr(*b)?;
                let node = self.body.node(b);
                let (ty, class) = (node.ty.clone(), node.class);
                Ok(self.add(NodeKind::Sequence(a, b), ty, class, span))
            }
            ExprKind::Index(..) => self.indexed(e),
            ExprKind::Array(list) => self.array(list, span),
            ExprKind::Cast(ty, a) => {
                let a = self.expr(*a)?;
                // A cast to a type of numbers takes arrays, too.
                let ty = match ty.is_number() {
                    true => self.body.node(a).ty.with_scalar(ty.scalar()),
                    false => ty.clone(),
                };
                let node = self.converted(a, &ty)?;
                let (kind, class) = (NodeKind::Convert(node), self.body.node(node).class);
                // What is cast is a value of that type from here on.
                Ok(match self.body.node(node).kind {
                    NodeKind::Constant(_) | NodeKind::Convert(_) | NodeKind::Variable(_) => node,
                    _ => self.add(kind, ty, class, span),
                })
            }
            ExprKind::Call(name, args) => self.call(name, args, span),
        }
    }

    /// A value as a condition.
    pub(super) fn truth(&mut self, id: NodeId) -> Checked<NodeId> {
        let node = self.body.node(id);
        if !node.ty.is_number() {
            let d = Diagnostic::error(format!("a condition is a number, and this is {}", node.ty));
            let span = node.span;
            return self.error(d.at(span, "not a number"));
        }
        self.as_scalar(id, Scalar::Bool)
    }

    fn unary(&mut self, op: UnaryOp, a: NodeId, span: Span) -> Checked<NodeId> {
        let node = self.body.node(a);
        let (ty, class) = (node.ty.clone(), node.class);
        if ty == Type::Void {
            return self.error(Diagnostic::error("this expression has no value").at(span, "a `void` function"));
        }
        match op {
            UnaryOp::Not => {
                let a = self.truth(a)?;
                Ok(self.add(NodeKind::Not(a), Type::BOOL, class, span))
            }
            UnaryOp::Neg => {
                let ty = match ty.scalar().fixed() {
                    Some(fixed) => ty.with_scalar(Scalar::Fixed(fixed.negated())),
                    None => ty,
                };
                if let NodeKind::Constant(values) = &self.body.node(a).kind {
                    let values: Vec<f64> = values.iter().map(|x| -x).collect();
                    return self.constant(&values, &ty, span);
                }
                Ok(self.add(NodeKind::Negate(a), ty, class, span))
            }
        }
    }

    /// Reports an operator that there is not for these operands.
    fn no_operator<T>(&mut self, op: BinaryOp, a: NodeId, b: NodeId, span: Span, hint: &str) -> Checked<T> {
        let (x, y) = (self.body.node(a), self.body.node(b));
        let message = format!("no operator `{}` for {} and {}", op.symbol(), x.ty, y.ty);
        let d = Diagnostic::error(message).at(span, "operands of these types");
        self.error(if hint.is_empty() { d } else { d.hint(hint) })
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let (x, y) = (self.body.node(a).ty.clone(), self.body.node(b).ty.clone());
        if x == Type::Void || y == Type::Void {
            return self.error(Diagnostic::error("this expression has no value").at(span, "a `void` function"));
        }
        use BinaryOp::*;
        let numbers = x.is_number() && y.is_number();
        let same = x.dims() == y.dims();
        match op {
            Add | Sub if same => self.elementwise(op, a, b, span),
            Mul if numbers || x.is_number() || y.is_number() => self.elementwise(op, a, b, span),
            Mul if x.dims().last() == y.dims().first() => self.contraction(a, b, span),
            Mul => {
                let hint = "the last length of the first is the first of the second: these are summed over";
                self.no_operator(op, a, b, span, hint)
            }
            Div if y.is_number() => self.elementwise(op, a, b, span),
            Div => self.matrix_quotient(a, b, span),
            Rem if numbers => self.elementwise(op, a, b, span),
            Wedge if numbers => self.bits(op, a, b, span),
            Wedge => self.wedge(a, b, span),
            BitAnd | BitOr | Shl | Shr if numbers => self.bits(op, a, b, span),
            Lt | Le | Gt | Ge if numbers => self.comparison(op, a, b, span),
            Eq | Ne if same => self.comparison(op, a, b, span),
            Add | Sub | Eq | Ne => self.no_operator(op, a, b, span, "both are of equal lengths"),
            _ => self.no_operator(op, a, b, span, "it is for numbers"),
        }
    }

    /// Sums, differences, products, quotients and remainders, element by element; one of the
    /// operands may be a number where the other is an array.
    fn elementwise(&mut self, op: BinaryOp, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let (x, y) = (self.body.node(a).ty.clone(), self.body.node(b).ty.clone());
        let shape = if x.is_number() { y.clone() } else { x.clone() };
        let scalar = match (x.scalar().fixed(), y.scalar().fixed()) {
            (Some(x), Some(y)) => Scalar::Fixed(match op {
                BinaryOp::Add => x.sum(y),
                BinaryOp::Sub => x.difference(y),
                BinaryOp::Mul => x.product(y),
                BinaryOp::Div => x.quotient(y),
                _ => x.remainder(y),
            }),
            _ => Scalar::Float,
        };
        let ty = shape.with_scalar(scalar);
        if let Some(values) = self.folded(op, a, b, scalar) {
            // A constant that no register holds is kept in as many digits as one does.
            return self.constant(&values, &ty, span);
        }
        let (a, b) = match scalar {
            Scalar::Float => (self.as_scalar(a, Scalar::Float)?, self.as_scalar(b, Scalar::Float)?),
            _ => (self.as_fixed(a)?, self.as_fixed(b)?),
        };
        if op == BinaryOp::Rem && scalar == Scalar::Float {
            self.body.library.insert("mod");
        }
        let class = self.class_of(&[a, b]);
        Ok(self.add(NodeKind::Binary(op, a, b), ty, class, span))
    }

    /// A truth value as a number.
    fn as_fixed(&mut self, a: NodeId) -> Checked<NodeId> {
        match self.body.scalar(a) {
            Scalar::Bool => self.as_scalar(a, Scalar::Fixed(Fixed::whole(1))),
            _ => Ok(a),
        }
    }

    /// The result of an operation on constants, where that is known now.
    fn folded(&self, op: BinaryOp, a: NodeId, b: NodeId, scalar: Scalar) -> Option<Vec<f64>> {
        let (NodeKind::Constant(x), NodeKind::Constant(y)) = (&self.body.node(a).kind, &self.body.node(b).kind) else {
            return None;
        };
        let single = |x: f64| if scalar == Scalar::Float { f64::from(x as f32) } else { x };
        let one = |x: f64, y: f64| {
            let value = match op {
                BinaryOp::Add => single(x) + single(y),
                BinaryOp::Sub => single(x) - single(y),
                BinaryOp::Mul => single(x) * single(y),
                BinaryOp::Div if y != 0.0 => single(x) / single(y),
                _ => return None,
            };
            Some(single(value))
        };
        let count = x.len().max(y.len());
        (0..count).map(|i| one(x[i % x.len()], y[i % y.len()])).collect()
    }

    /// Operators on bits: of what is stored, in a type that both are part of.
    fn bits(&mut self, op: BinaryOp, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let (x, y) = (self.body.scalar(a).fixed(), self.body.scalar(b).fixed());
        let (Some(x), Some(y)) = (x, y) else {
            return self.no_operator(op, a, b, span, "it is for numbers in fixed point");
        };
        let common = x.common(y).in_register();
        let (left, right) = match op {
            // Bits that are shifted out of a register are lost.
            BinaryOp::Shl => {
                let by = match &self.body.node(b).kind {
                    NodeKind::Constant(values) => values[0].clamp(0.0, 31.0) as u32,
                    _ => 31,
                };
                let size = (x.size + by).min(super::super::types::MAX_BITS - u32::from(x.signed));
                (Fixed { size, ..x }, Fixed::whole(5))
            }
            BinaryOp::Shr => (x.in_register(), Fixed::whole(5)),
            _ => (common, common),
        };
        let a = self.as_scalar(a, Scalar::Fixed(left))?;
        let b = self.as_scalar(b, Scalar::Fixed(right))?;
        let class = self.class_of(&[a, b]);
        Ok(self.add(NodeKind::Binary(op, a, b), Type::number(Scalar::Fixed(left)), class, span))
    }

    fn comparison(&mut self, op: BinaryOp, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let common = match self.body.scalar(a).common(self.body.scalar(b)) {
            Scalar::Fixed(fixed) => Scalar::Fixed(fixed.in_register()),
            other => other,
        };
        let (a, b) = (self.as_scalar(a, common)?, self.as_scalar(b, common)?);
        let class = self.class_of(&[a, b]);
        Ok(self.add(NodeKind::Binary(op, a, b), Type::BOOL, class, span))
    }

    /// `a * b` of two arrays.
    fn contraction(&mut self, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let (x, y) = (self.body.node(a).ty.clone(), self.body.node(b).ty.clone());
        let (outer, summed) = x.dims().split_at(x.dims().len() - 1);
        let dims: Vec<u32> = outer.iter().chain(&y.dims()[1..]).copied().collect();
        let scalar = match (x.scalar().fixed(), y.scalar().fixed()) {
            (Some(x), Some(y)) => Scalar::Fixed(x.product(y).sum_of(summed[0])),
            _ => Scalar::Float,
        };
        let ty = Type::Numbers(scalar, dims);
        if ty.count() * summed[0] as usize > MAX_PRODUCTS || ty.dims().len() > super::super::types::MAX_RANK {
            let d = Diagnostic::error(format!("this product of arrays is one of type {ty}"));
            return self.error(d.at(span, "too large").hint(format!("{MAX_PRODUCTS} products are the limit")));
        }
        if scalar == Scalar::Float {
            let (a, b) = (self.as_scalar(a, Scalar::Float)?, self.as_scalar(b, Scalar::Float)?);
            let class = self.class_of(&[a, b]);
            return Ok(self.add(NodeKind::Contract(a, b), ty, class, span));
        }
        let class = self.class_of(&[a, b]);
        Ok(self.add(NodeKind::Contract(a, b), ty, class, span))
    }

    /// `1 / m` and `a / m` with a square matrix.
    fn matrix_quotient(&mut self, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let (x, y) = (self.body.node(a).ty.clone(), self.body.node(b).ty.clone());
        let [n, m] = y.dims() else {
            return self.no_operator(BinaryOp::Div, a, b, span, "the divisor is a number or a square matrix");
        };
        if n != m || *n > 8 {
            return self.no_operator(BinaryOp::Div, a, b, span, "a matrix with an inverse has equal lengths, up to 8");
        }
        if !x.is_number() && x.dims().last() != Some(n) {
            let hint = "the last length of the first is that of the matrix";
            return self.no_operator(BinaryOp::Div, a, b, span, hint);
        }
        let b = self.as_scalar(b, Scalar::Float)?;
        let class = self.body.node(b).class;
        let inverse = self.add(NodeKind::Inverse(b), y.with_scalar(Scalar::Float), class, span);
        if let NodeKind::Constant(values) = &self.body.node(a).kind
            && values[..] == [1.0]
        {
            return Ok(inverse);
        }
        let a = self.as_scalar(a, Scalar::Float)?;
        match x.is_number() {
            true => self.elementwise(BinaryOp::Mul, a, inverse, span),
            false => self.contraction(a, inverse, span),
        }
    }

    /// `a ^ b` of two vectors.
    fn wedge(&mut self, a: NodeId, b: NodeId, span: Span) -> Checked<NodeId> {
        let (x, y) = (self.body.node(a).ty.clone(), self.body.node(b).ty.clone());
        let ([n], [m]) = (x.dims(), y.dims()) else {
            return self.no_operator(
                BinaryOp::Wedge,
                a,
                b,
                span,
                "it is for two vectors of one length, or two numbers",
            );
        };
        if n != m || *n < 2 || *n > 16 {
            return self.no_operator(BinaryOp::Wedge, a, b, span, "the vectors have one length, from 2 to 16");
        }
        let ty = match n {
            2 => Type::FLOAT,
            3 => Type::floats(3),
            n => Type::Numbers(Scalar::Float, vec![*n, *n]),
        };
        let (a, b) = (self.as_scalar(a, Scalar::Float)?, self.as_scalar(b, Scalar::Float)?);
        let class = self.class_of(&[a, b]);
        Ok(self.add(NodeKind::Wedge(a, b), ty, class, span))
    }

    fn choice(&mut self, condition: ExprId, a: ExprId, b: ExprId, span: Span) -> Checked<NodeId> {
        let condition = self.condition(condition)?;
        let outer = self.diverges;
        self.diverges |= self.body.node(condition).class == StorageClass::Varying;
        let branches = (self.expr(a), self.expr(b));
        self.diverges = outer;
        let (a, b) = (branches.0?, branches.1?);
        let (x, y) = (self.body.node(a).ty.clone(), self.body.node(b).ty.clone());
        if x.dims() != y.dims() || x == Type::Void || y == Type::Void {
            let d = Diagnostic::error(format!("`?:` has values of type {x} and of type {y}"));
            return self.error(d.at(span, "both are of equal lengths"));
        }
        let common = x.scalar().common(y.scalar());
        let common = if common == Scalar::Bool { Scalar::Fixed(Fixed::whole(1)) } else { common };
        let (a, b) = match common {
            Scalar::Float => (self.as_scalar(a, Scalar::Float)?, self.as_scalar(b, Scalar::Float)?),
            _ => (self.as_fixed(a)?, self.as_fixed(b)?),
        };
        let class = self.class_of(&[condition, a, b]);
        Ok(self.add(NodeKind::Choose(condition, a, b), x.with_scalar(common), class, span))
    }

    fn array(&mut self, list: &[ExprId], span: Span) -> Checked<NodeId> {
        let nodes: Vec<Checked<NodeId>> = list.iter().map(|e| self.expr(*e)).collect();
        let nodes = nodes.into_iter().collect::<Checked<Vec<NodeId>>>()?;
        let first = self.body.node(nodes[0]).ty.clone();
        let mut scalar = first.scalar();
        for node in &nodes {
            let node = self.body.node(*node);
            if node.ty.dims() != first.dims() || node.ty == Type::Void {
                let message = format!("an element of type {} beside one of type {first}", node.ty);
                let d = Diagnostic::error(message).at(node.span, "elements are of equal lengths");
                return self.error(d);
            }
            scalar = scalar.common(node.ty.scalar());
        }
        if scalar == Scalar::Bool {
            scalar = Scalar::Fixed(Fixed::whole(1));
        }
        let dims: Vec<u32> = std::iter::once(nodes.len() as u32).chain(first.dims().iter().copied()).collect();
        let ty = Type::Numbers(scalar, dims);
        if ty.count() > super::super::types::MAX_ELEMENTS as usize {
            let d = Diagnostic::error(format!("an array of {} numbers", ty.count())).at(span, "too large");
            return self.error(d);
        }
        let constants: Option<Vec<f64>> =
            nodes.iter().try_fold(Vec::new(), |mut all, n| match &self.body.node(*n).kind {
                NodeKind::Constant(values) => {
                    all.extend(values);
                    Some(all)
                }
                _ => None,
            });
        if let Some(values) = constants {
            return self.constant(&values, &ty, span);
        }
        let mut elements = Vec::new();
        for node in nodes {
            elements.push(match scalar {
                Scalar::Float => self.as_scalar(node, scalar)?,
                _ => self.as_fixed(node)?,
            });
        }
        let class = self.class_of(&elements);
        Ok(self.add(NodeKind::Array(elements), ty, class, span))
    }

    // --- places ---

    /// An array and the indices that follow it, outermost first.
    fn indices(&mut self, e: ExprId) -> Checked<(ExprId, Vec<NodeId>)> {
        let ast = self.ast;
        let (mut at, mut list) = (e, Vec::new());
        while let ExprKind::Index(array, index) = ast.expr(at).kind {
            list.push(index);
            at = array;
        }
        let mut nodes = Vec::new();
        for index in list.into_iter().rev() {
            let span = ast.expr(index).span;
            let node = self.expr(index)?;
            if !self.body.node(node).ty.is_number() {
                let d = Diagnostic::error("an index is a number").at(span, "not a number");
                return self.error(d);
            }
            let node = self.as_scalar(node, Scalar::Fixed(Fixed { signed: true, size: 31, exponent: 0 }))?;
            nodes.push(node);
        }
        Ok((at, nodes))
    }

    /// Refuses indices of what has no such dimensions, and known ones that are out of range.
    fn check_indices(&mut self, ty: &Type, indices: &[NodeId], span: Span) -> Checked<()> {
        if indices.len() > ty.dims().len() {
            let message = format!("{} indices of a value of type {ty}", indices.len());
            let d = Diagnostic::error(message).at(span, "it has fewer dimensions");
            return self.error(d);
        }
        for (index, n) in indices.iter().zip(ty.dims()) {
            let node = self.body.node(*index);
            if let NodeKind::Constant(values) = &node.kind
                && !(0.0..f64::from(*n)).contains(&values[0])
            {
                let d = Diagnostic::error(format!("the index {} of {n} elements", values[0]));
                let span = node.span;
                return self.error(d.at(span, "out of range").hint(format!("indices run from 0 to {}", n - 1)));
            }
        }
        Ok(())
    }

    fn indexed(&mut self, e: ExprId) -> Checked<NodeId> {
        let span = self.ast.expr(e).span;
        let (array, indices) = self.indices(e)?;
        let array = self.expr(array)?;
        let ty = self.body.node(array).ty.clone();
        self.check_indices(&ty, &indices, span)?;
        self.cap(array);
        let class = self.class_of(&indices).max(self.body.node(array).class);
        let ty = self.body.node(array).ty.element(indices.len());
        Ok(self.add(NodeKind::Index(array, indices), ty, class, span))
    }

    /// The place that an expression names, to be assigned to: a variable or an element of one.
    pub(super) fn place(&mut self, e: ExprId) -> Checked<LValue> {
        let span = self.ast.expr(e).span;
        let (array, indices) = self.indices(e)?;
        let ExprKind::Name(name) = &self.ast.expr(array).kind else {
            let d = Diagnostic::error("only a variable or an element of one can be changed");
            return self.error(d.at(span, "not a variable"));
        };
        let variable = self.find(name, span)?;
        let known = self.body.variable(variable);
        let (ty, origin) = (known.ty.clone(), known.origin.clone());
        if let Origin::Renderer(name) = origin
            && name.is_output
        {
            self.body.writes.extend(name.reads);
        }
        self.check_indices(&ty, &indices, span)?;
        let class = self.class_of(&indices);
        if class == StorageClass::Varying && self.body.variable(variable).class != StorageClass::Varying {
            let d = Diagnostic::error(format!("an element of the uniform array `{name}` is chosen by a varying index"));
            return self.error(d.at(span, "may differ from sample to sample"));
        }
        Ok(LValue { variable, ty: ty.element(indices.len()), indices })
    }

    /// The value of a place that is being changed.
    fn old_value(&mut self, place: &LValue, span: Span) -> NodeId {
        let class = self.body.variable(place.variable).class;
        self.add(NodeKind::Old, place.ty.clone(), class, span)
    }

    /// Gives a place a new value that is made of the old one.
    fn changed(&mut self, place: LValue, new: NodeId, gives_old: bool, span: Span) -> Checked<NodeId> {
        let new = self.converted(new, &place.ty)?;
        self.check_class(place.variable, new, span)?;
        let (ty, class) = (place.ty.clone(), self.body.variable(place.variable).class);
        Ok(self.add(NodeKind::Step { place, new, gives_old }, ty, class, span))
    }

    fn assignment(&mut self, op: Option<BinaryOp>, place: ExprId, value: ExprId, span: Span) -> Checked<NodeId> {
        // Errors on both sides are found in one run.
        let value = self.expr(value);
        let place = self.place(place)?;
        let value = value?;
        if let Some(op) = op {
            let old = self.old_value(&place, span);
            let new = self.binary(op, old, value, span)?;
            return self.changed(place, new, false, span);
        }
        let value = self.converted(value, &place.ty)?;
        self.check_class(place.variable, value, span)?;
        let (ty, class) = (place.ty.clone(), self.body.variable(place.variable).class);
        Ok(self.add(NodeKind::Assign(place, value), ty, class, span))
    }
}
