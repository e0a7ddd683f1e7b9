//! How much of a fixed-point result is kept (Olano 1998, §4.3.3): the pass from the top down, once
//! the type that an expression's value is needed in is known, and conversions to that type.

use super::*;

impl Check<'_> {
    /// The node converted to a type with the same lengths; reports what cannot be.
    pub(super) fn converted(&mut self, id: NodeId, ty: &Type) -> Checked<NodeId> {
        let node = self.body.node(id);
        let span = node.span;
        if node.ty == Type::Void {
            return self.error(Diagnostic::error("this expression has no value").at(span, "a `void` function"));
        }
        if matches!(node.kind, NodeKind::Texture(_) | NodeKind::Text(_)) {
            let d = Diagnostic::error("the identifier of a texture is not a number").at(span, "used as a number");
            return self.error(d);
        }
        if node.ty.dims() != ty.dims() {
            let d = Diagnostic::error(format!("a value of type {} is not one of type {ty}", node.ty));
            let d = d.at(span, "arrays of different lengths");
            let is_known = matches!((node.ty.dims(), ty.dims()), ([], [n]) if *n <= 4);
            return self.error(match is_known {
                true => d.hint("an array is written with its elements: `{x, x, x}`"),
                false => d,
            });
        }
        self.as_scalar(id, ty.scalar())
    }

    /// The node with numbers of another type.
    pub(super) fn as_scalar(&mut self, id: NodeId, to: Scalar) -> Checked<NodeId> {
        let node = self.body.node(id);
        if let NodeKind::Constant(values) = &node.kind {
            let (values, span, dims) = (values.clone(), node.span, node.ty.clone());
            return self.constant(&values, &dims.with_scalar(to), span);
        }
        match to {
            Scalar::Fixed(fixed) => self.trim(id, fixed),
            Scalar::Float => self.divide_as_floats(id)?,
            Scalar::Bool => {}
        }
        self.cap(id);
        let node = self.body.node(id);
        if node.ty.scalar() == to {
            return Ok(id);
        }
        let (ty, class, span) = (node.ty.with_scalar(to), node.class, node.span);
        Ok(self.add(NodeKind::Convert(id), ty, class, span))
    }

    /// Known numbers as a type that holds them.
    pub(super) fn constant(&mut self, values: &[f64], ty: &Type, span: Span) -> Checked<NodeId> {
        if let Scalar::Fixed(fixed) = ty.scalar() {
            for &value in values {
                if fixed.stored(value).is_none() {
                    let d = Diagnostic::error(format!("{value} does not fit in `{fixed}`")).at(span, "this constant");
                    let limits = format!("its values lie between {} and {}", fixed.min(), fixed.max());
                    return self.error(d.hint(limits));
                }
            }
        }
        let values = match ty.scalar() {
            Scalar::Bool => values.iter().map(|x| f64::from(u8::from(*x != 0.0))).collect(),
            _ => values.to_vec(),
        };
        Ok(self.add(NodeKind::Constant(values), ty.clone(), StorageClass::Constant, span))
    }

    /// A quotient that is needed in single precision is one of floats: in fixed point it has as
    /// many digits as its operands.
    fn divide_as_floats(&mut self, id: NodeId) -> Checked<()> {
        let node = self.body.node(id);
        if node.ty.scalar() == Scalar::Float {
            return Ok(());
        }
        let NodeKind::Binary(op @ (BinaryOp::Div | BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) = node.kind
        else {
            return Ok(());
        };
        if op != BinaryOp::Div && !self.has_quotient(a) && !self.has_quotient(b) {
            return Ok(());
        }
        let (a, b) = (self.as_scalar(a, Scalar::Float)?, self.as_scalar(b, Scalar::Float)?);
        let node = &mut self.body.nodes[id.0 as usize];
        node.kind = NodeKind::Binary(op, a, b);
        node.ty = node.ty.with_scalar(Scalar::Float);
        node.exact = node.ty.clone();
        Ok(())
    }

    /// True if an expression of operators has a quotient in it.
    fn has_quotient(&self, id: NodeId) -> bool {
        match &self.body.node(id).kind {
            NodeKind::Binary(BinaryOp::Div, ..) => self.body.scalar(id) != Scalar::Float,
            NodeKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
                self.has_quotient(*a) || self.has_quotient(*b)
            }
            _ => false,
        }
    }

    /// Limits the results that an expression is made of to what a result of this type needs.
    pub(super) fn trim(&mut self, id: NodeId, result: Fixed) {
        let node = self.body.node(id);
        let Scalar::Fixed(own) = node.ty.scalar() else { return };
        let kind = node.kind.clone();
        let limited = match kind {
            // Digits of a quotient there are as many as are asked for.
            NodeKind::Binary(BinaryOp::Div, ..) => {
                let digits = result.exponent - own.exponent;
                let wide = Fixed { size: (own.size as i32 + digits).max(1) as u32, exponent: result.exponent, ..own };
                wide.limited(result)
            }
            NodeKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..)
            | NodeKind::Contract(..)
            | NodeKind::Negate(_)
            | NodeKind::Choose(..)
            | NodeKind::Array(_) => own.limited(result),
            _ => return,
        };
        self.set_scalar(id, Scalar::Fixed(limited));
        match kind {
            NodeKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                [a, b].into_iter().for_each(|n| self.trim(n, limited))
            }
            NodeKind::Choose(_, a, b) => [a, b].into_iter().for_each(|n| self.trim(n, limited)),
            NodeKind::Negate(a) => self.trim(a, limited),
            NodeKind::Array(list) => list.into_iter().for_each(|n| self.trim(n, limited)),
            _ => {}
        }
    }

    /// Limits the results that an expression is made of to what registers hold.
    pub(super) fn cap(&mut self, id: NodeId) {
        let node = self.body.node(id);
        if let Scalar::Fixed(own) = node.ty.scalar()
            && own.in_register() != own
        {
            self.set_scalar(id, Scalar::Fixed(own.in_register()));
        }
        match self.body.node(id).kind.clone() {
            NodeKind::Binary(_, a, b) | NodeKind::Contract(a, b) => [a, b].into_iter().for_each(|n| self.cap(n)),
            NodeKind::Choose(_, a, b) => [a, b].into_iter().for_each(|n| self.cap(n)),
            NodeKind::Negate(a) => self.cap(a),
            NodeKind::Array(list) => list.into_iter().for_each(|n| self.cap(n)),
            _ => {}
        }
    }

    fn set_scalar(&mut self, id: NodeId, scalar: Scalar) {
        let node = &mut self.body.nodes[id.0 as usize];
        node.ty = node.ty.with_scalar(scalar);
    }
}
