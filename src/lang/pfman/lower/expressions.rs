//! Expressions.

use super::super::ast::BinaryOp;
use super::super::builtins::{Builtin, Emit};
use super::*;

/// An index, which counts from 0.
#[derive(Clone, Copy, Debug)]
enum Index {
    Known(usize),
    Value(Value),
}

impl Lowerer<'_> {
    /// The zeros of a type.
    pub(super) fn zeros(&mut self, ty: &Type) -> Vec<Value> {
        ty.values().into_iter().map(|ty| self.b.constant(Const::zero(ty))).collect()
    }

    /// Known numbers of a type.
    fn constants(&mut self, values: &[f64], ty: &Type) -> Vec<Value> {
        match ty.scalar() {
            Scalar::Bool => values.iter().map(|x| self.b.bool(*x != 0.0)).collect(),
            Scalar::Fixed(fixed) => values.iter().map(|x| self.fixed_constant(fixed, *x)).collect(),
            Scalar::Float if ty.values().first() == Some(&ir::Type::Vec3) => {
                values.chunks(3).map(|v| self.b.vec3([v[0] as f32, v[1] as f32, v[2] as f32])).collect()
            }
            Scalar::Float => values.iter().map(|x| self.b.f32(*x as f32)).collect(),
        }
    }

    /// The values of an expression, of its type.
    pub(super) fn value(&mut self, id: NodeId) -> Vec<Value> {
        let body = self.body;
        let node = body.node(id);
        match &node.kind {
            NodeKind::Constant(values) => self.constants(values, &node.ty),
            NodeKind::Variable(id) => self.read_variable(*id),
            NodeKind::Texture(id) => self.textures.get(id).copied().into_iter().collect(),
            NodeKind::Text(text) => vec![self.b.constant(Const::String(text.clone()))],
            NodeKind::Array(list) => {
                let numbers: Vec<Value> = list
                    .iter()
                    .flat_map(|&element| {
                        let values = self.value_as(element, node.ty.scalar());
                        self.numbers(&values)
                    })
                    .collect();
                self.packed(&numbers, &node.ty)
            }
            NodeKind::Index(array, indices) => {
                let ty = &body.node(*array).ty;
                let values = self.value(*array);
                let indices: Vec<Index> = indices.iter().map(|&i| self.index(i)).collect();
                self.element(&values, ty, &indices)
            }
            NodeKind::Convert(a) => self.value_as(*a, node.ty.scalar()),
            NodeKind::Negate(a) => match node.ty.scalar() {
                Scalar::Fixed(ty) => {
                    let from = body.scalar(*a).fixed().unwrap_or(ty);
                    let values = self.value(*a);
                    values.into_iter().map(|v| self.fixed_negative(v, from, ty)).collect()
                }
                _ => {
                    let values = self.value(*a);
                    self.each(&[values], Op::Neg)
                }
            },
            NodeKind::Not(a) => {
                let a = self.value(*a);
                self.each(&[a], Op::Not)
            }
            NodeKind::Binary(op, a, b) => self.binary(*op, *a, *b, &node.ty),
            NodeKind::Contract(a, b) => self.contraction(*a, *b, &node.ty),
            NodeKind::Inverse(a) => {
                let values = self.value(*a);
                self.inverse(&values, node.ty.dims()[0] as usize, &node.ty)
            }
            NodeKind::Wedge(a, b) => {
                let (a, b) = (self.value(*a), self.value(*b));
                self.wedge(&a, &b, &node.ty)
            }
            NodeKind::Logical(is_and, a, b) => {
                let first = self.value(*a)[0];
                let (wanted, decided) = if *is_and { ((Some(*b), None), false) } else { ((None, Some(*b)), true) };
                self.one_of(first, wanted, |l, e| match e {
                    Some(e) => l.value(e),
                    None => vec![l.b.bool(decided)],
                })
            }
            NodeKind::Choose(condition, a, b) => {
                let condition = self.value(*condition)[0];
                let scalar = node.ty.scalar();
                self.one_of(condition, (*a, *b), |l, e| l.value_as(e, scalar))
            }
            NodeKind::Assign(place, value) => {
                let values = self.value(*value);
                let indices = self.indices_of(place);
                self.write_place(place, &indices, &values);
                values
            }
            NodeKind::Step { place, new, gives_old } => {
                let indices = self.indices_of(place);
                let whole = self.read_variable(place.variable);
                let old = self.element(&whole, &body.variable(place.variable).ty, &indices);
                self.old.push(old.clone());
                let new = self.value(*new);
                self.old.pop();
                self.write_place(place, &indices, &new);
                if *gives_old { old } else { new }
            }
            NodeKind::Old => self.old.last().cloned().unwrap_or_default(),
            NodeKind::Sequence(a, b) => {
                self.value(*a);
                self.value(*b)
            }
            NodeKind::Call(number, args, places) => self.call(*number, args, places),
            NodeKind::Builtin(row, args) => self.builtin(row, args, &node.ty),
        }
    }

    /// One of two expressions is evaluated: where a condition holds the first.
    fn one_of<E>(
        &mut self,
        condition: Value,
        (yes, no): (E, E),
        value: impl Fn(&mut Self, E) -> Vec<Value>,
    ) -> Vec<Value> {
        self.if_else_values(condition, |l| value(l, yes), |l| value(l, no))
    }

    /// The values of an expression as numbers of another type.
    pub(super) fn value_as(&mut self, id: NodeId, to: Scalar) -> Vec<Value> {
        let node = self.body.node(id);
        if let NodeKind::Constant(values) = &node.kind {
            return self.constants(values, &node.ty.with_scalar(to));
        }
        let values = self.value(id);
        self.converted(values, &node.ty, to)
    }

    /// Numbers as those of another type.
    pub(super) fn converted(&mut self, values: Vec<Value>, ty: &Type, to: Scalar) -> Vec<Value> {
        let from = ty.scalar();
        if from == to {
            return values;
        }
        let numbers = self.numbers(&values);
        let made: Vec<Value> = numbers.into_iter().map(|v| self.number_as(v, from, to)).collect();
        self.packed(&made, &ty.with_scalar(to))
    }

    fn number_as(&mut self, v: Value, from: Scalar, to: Scalar) -> Value {
        match (from, to) {
            (Scalar::Fixed(from), Scalar::Fixed(to)) => self.rescaled(v, from, to),
            (Scalar::Float, Scalar::Fixed(to)) => self.fixed_of_float(v, to),
            (Scalar::Fixed(from), Scalar::Float) => self.float_of_fixed(v, from),
            (Scalar::Float, Scalar::Bool) => {
                let zero = self.b.f32(0.0);
                self.b.ne(v, zero)
            }
            (Scalar::Fixed(_), Scalar::Bool) => {
                let zero = self.b.ty(v);
                let zero = self.b.constant(Const::zero(zero));
                let is_zero = self.b.ieq(v, zero);
                self.b.not(is_zero)
            }
            (Scalar::Bool, Scalar::Float) => {
                let (one, zero) = (self.b.f32(1.0), self.b.f32(0.0));
                self.b.select(v, one, zero)
            }
            (Scalar::Bool, Scalar::Fixed(to)) => {
                let (one, zero) = (self.fixed_constant(to, 1.0), self.fixed_constant(to, 0.0));
                self.b.select(v, one, zero)
            }
            _ => v,
        }
    }

    /// The fixed-point type of an expression's numbers.
    fn fixed_type(&self, id: NodeId) -> Fixed {
        self.body.scalar(id).fixed().unwrap_or(Fixed::whole(1))
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId, ty: &Type) -> Vec<Value> {
        if matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne) {
            return self.comparison(op, a, b);
        }
        // A constant takes the digits of the result; one that is a factor keeps its own.
        let as_operand = |l: &mut Self, id: NodeId| match (&l.body.node(id).kind, ty.scalar()) {
            (NodeKind::Constant(_), Scalar::Fixed(fixed)) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                (l.value_as(id, Scalar::Fixed(fixed)), fixed)
            }
            _ => (l.value(id), l.fixed_type(id)),
        };
        let ((x, x_type), (y, y_type)) = (as_operand(self, a), as_operand(self, b));
        let count = x.len().max(y.len());
        let at = |list: &[Value], i: usize| list[i % list.len()];
        let Scalar::Fixed(fixed) = ty.scalar() else {
            // A number beside an array is spread over it.
            let like = if x.len() > y.len() || self.b.ty(x[0]) == ir::Type::Vec3 { x.clone() } else { y.clone() };
            let wide = |l: &mut Self, list: Vec<Value>| match list[..] {
                [one] if l.b.ty(one) == ir::Type::F32 => l.spread(one, &like),
                _ => list,
            };
            let (x, y) = (wide(self, x), wide(self, y));
            return self.floats(op, x, y);
        };
        (0..count).map(|i| self.fixed_binary(op, (at(&x, i), x_type), (at(&y, i), y_type), fixed)).collect()
    }

    fn floats(&mut self, op: BinaryOp, x: Vec<Value>, y: Vec<Value>) -> Vec<Value> {
        match op {
            BinaryOp::Add => self.each(&[x, y], Op::Add),
            BinaryOp::Sub => self.each(&[x, y], Op::Sub),
            BinaryOp::Mul => self.each(&[x, y], Op::Mul),
            BinaryOp::Div => {
                let inverse = self.each(&[y], Op::Rcp);
                self.each(&[x, inverse], Op::Mul)
            }
            _ => self.library("mod", vec![x[0], y[0]], &[ir::Type::F32]),
        }
    }

    fn comparison(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Vec<Value> {
        let is_float = self.body.scalar(a) == Scalar::Float;
        let (x, y) = (self.value(a), self.value(b));
        let (x, y) = (self.numbers(&x), self.numbers(&y));
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let mut all = None;
            for (&x, &y) in x.iter().zip(&y) {
                let same = self.b.op(if is_float { Op::Eq } else { Op::IEq }, &[x, y]);
                all = Some(all.map_or(same, |all| self.b.and(all, same)));
            }
            let all = all.unwrap_or_else(|| self.b.bool(true));
            return vec![if op == BinaryOp::Eq { all } else { self.b.not(all) }];
        }
        let (x, y) = if matches!(op, BinaryOp::Gt | BinaryOp::Ge) { (y[0], x[0]) } else { (x[0], y[0]) };
        let is_strict = matches!(op, BinaryOp::Lt | BinaryOp::Gt);
        vec![match (is_float, is_strict) {
            (true, true) => self.b.lt(x, y),
            (true, false) => self.b.le(x, y),
            (false, true) => self.less(x, y),
            (false, false) => {
                let more = self.less(y, x);
                self.b.not(more)
            }
        }]
    }

    /// True if one number in fixed point, or truth value, is less than another.
    fn less(&mut self, x: Value, y: Value) -> Value {
        if self.b.ty(x) == ir::Type::Bool {
            let not = self.b.not(x);
            return self.b.and(not, y);
        }
        self.b.ilt(x, y)
    }

    fn contraction(&mut self, a: NodeId, b: NodeId, ty: &Type) -> Vec<Value> {
        let body = self.body;
        let n = body.node(a).ty.dims().last().map_or(1, |&n| n as usize);
        let (x, y) = (self.value(a), self.value(b));
        let Scalar::Fixed(fixed) = ty.scalar() else { return self.contracted(&x, &y, n, ty) };
        let (left, right) = (self.fixed_type(a), self.fixed_type(b));
        let columns = y.len() / n;
        let mut result = Vec::new();
        for row in x.chunks(n) {
            for column in 0..columns {
                let mut sum: Option<Value> = None;
                for (k, &factor) in row.iter().enumerate() {
                    let other = (y[k * columns + column], right);
                    let part = self.fixed_binary(BinaryOp::Mul, (factor, left), other, fixed);
                    sum = Some(match sum {
                        None => part,
                        Some(sum) => self.fixed_binary(BinaryOp::Add, (sum, fixed), (part, fixed), fixed),
                    });
                }
                result.extend(sum);
            }
        }
        result
    }

    // --- places ---

    pub(super) fn read_variable(&mut self, id: VariableId) -> Vec<Value> {
        let storage = self.variables[id.0 as usize].clone();
        storage.into_iter().map(|s| self.b.read(s)).collect()
    }

    pub(super) fn write_variable(&mut self, id: VariableId, values: &[Value]) {
        let storage = self.variables[id.0 as usize].clone();
        storage.into_iter().zip(values).for_each(|(s, v)| self.b.write(s, *v));
        let variable = self.body.variable(id);
        // Debuggers show numbers and triples.
        if self.debug
            && let [value] = *values
        {
            let shown = match variable.ty.scalar() {
                Scalar::Fixed(fixed) => self.float_of_fixed(value, fixed),
                _ => value,
            };
            self.b.debug(variable.name.clone(), shown);
        }
    }

    fn indices_of(&mut self, place: &LValue) -> Vec<Index> {
        place.indices.iter().map(|&i| self.index(i)).collect()
    }

    /// An index, as far as it is known.
    fn index(&mut self, id: NodeId) -> Index {
        match &self.body.node(id).kind {
            NodeKind::Constant(values) => Index::Known(values[0] as usize),
            _ => Index::Value(self.value(id)[0]),
        }
    }

    /// The values that indices choose of an array.
    fn element(&mut self, values: &[Value], ty: &Type, indices: &[Index]) -> Vec<Value> {
        let (mut numbers, mut dims) = (values.to_vec(), ty.dims());
        for &index in indices {
            let Some((&n, inner)) = dims.split_first() else { break };
            if inner.is_empty() {
                numbers = self.numbers(&numbers);
            }
            let blocks: Vec<Vec<Value>> = numbers.chunks(numbers.len() / n as usize).map(<[Value]>::to_vec).collect();
            numbers = match index {
                Index::Known(k) => blocks[k.min(blocks.len() - 1)].clone(),
                Index::Value(index) => self.selected(&blocks, index),
            };
            dims = inner;
        }
        numbers
    }

    /// The block of a number that is not known; the nearest where there is none of it.
    fn selected(&mut self, blocks: &[Vec<Value>], index: Value) -> Vec<Value> {
        let mut chosen = blocks[blocks.len() - 1].clone();
        for (k, block) in blocks.iter().enumerate().rev().skip(1) {
            let limit = self.b.i32(k as i32 + 1);
            let below = self.b.ilt(index, limit);
            chosen = chosen.iter().zip(block).map(|(&c, &b)| self.b.select(below, b, c)).collect();
        }
        chosen
    }

    /// An array in which what indices choose is replaced.
    fn replaced(&mut self, values: &[Value], dims: &[u32], indices: &[Index], new: &[Value]) -> Vec<Value> {
        let (Some((&index, rest)), Some((&n, inner))) = (indices.split_first(), dims.split_first()) else {
            return new.to_vec();
        };
        let is_packed = inner.is_empty() && values.len() != n as usize;
        let numbers = if is_packed { self.numbers(values) } else { values.to_vec() };
        let size = numbers.len() / n as usize;
        let mut made = Vec::new();
        for (k, block) in numbers.chunks(size).enumerate() {
            match index {
                Index::Known(known) if known != k => made.extend_from_slice(block),
                Index::Known(_) => made.extend(self.replaced(block, inner, rest, new)),
                Index::Value(index) => {
                    let changed = self.replaced(block, inner, rest, new);
                    let number = self.b.i32(k as i32);
                    let is_it = self.b.ieq(index, number);
                    for (&changed, &own) in changed.iter().zip(block) {
                        made.push(self.b.select(is_it, changed, own));
                    }
                }
            }
        }
        match is_packed {
            true => made.chunks(3).map(|three| self.b.compose(three)).collect(),
            false => made,
        }
    }

    fn write_place(&mut self, place: &LValue, indices: &[Index], values: &[Value]) {
        if indices.is_empty() {
            return self.write_variable(place.variable, values);
        }
        let whole = self.read_variable(place.variable);
        let dims = self.body.variable(place.variable).ty.dims();
        let made = self.replaced(&whole, dims, indices, values);
        self.write_variable(place.variable, &made);
    }

    // --- calls ---

    fn call(&mut self, number: usize, args: &[NodeId], places: &[Option<LValue>]) -> Vec<Value> {
        let callee = &self.file.functions[number];
        let mut values: Vec<Value> = args.iter().flat_map(|&a| self.value(a)).collect();
        let reads: Vec<&'static str> = callee.body.iter().flat_map(|b| &b.reads).copied().collect();
        values.extend(reads.into_iter().map(|name| self.input(name)).collect::<Vec<_>>());
        let outputs = callee.declaration.params.iter().filter(|p| p.output).flat_map(|p| p.ty.values());
        let types: Vec<ir::Type> = callee.declaration.result.values().into_iter().chain(outputs).collect();
        let mut results = self.b.call(callee.ir_name.clone(), values, &types);
        let mut rest = results.split_off(callee.declaration.result.values().len());
        for place in places.iter().flatten() {
            let after = rest.split_off(place.ty.values().len());
            let indices = self.indices_of(place);
            self.write_place(place, &indices, &rest);
            rest = after;
        }
        results
    }

    fn builtin(&mut self, row: &'static Builtin, args: &[NodeId], ty: &Type) -> Vec<Value> {
        let types: Vec<Type> = args.iter().map(|&a| self.body.node(a).ty.clone()).collect();
        let values: Vec<Vec<Value>> = args.iter().map(|&a| self.value(a)).collect();
        match row.emit {
            Emit::Code(code) => code(self, &values),
            Emit::Fixed(function) => {
                let from = types[0].scalar().fixed().unwrap_or(Fixed::whole(1));
                let to = ty.scalar().fixed().unwrap_or(from);
                // Numbers in fixed point are values of their own in arrays, too.
                let args: Vec<Value> = values.concat();
                vec![self.fixed_function(function, &args, from, to)]
            }
            Emit::Library(name) => {
                let is_elementwise = row.signature.ends_with(":g") && !ty.is_number();
                if !is_elementwise {
                    let args: Vec<Value> = values.concat();
                    return self.library(name, args, &ty.values());
                }
                let numbers: Vec<Vec<Value>> = values.iter().map(|v| self.numbers(v)).collect();
                let made: Vec<Value> = (0..ty.count())
                    .map(|i| {
                        let args = numbers.iter().map(|n| n[i % n.len()]).collect();
                        self.library(name, args, &[ir::Type::F32])[0]
                    })
                    .collect();
                self.packed(&made, ty)
            }
        }
    }

    /// Calls a function of the standard library, by its name in the IR, with the inputs that it
    /// takes besides.
    pub fn library(&mut self, name: &str, mut args: Vec<Value>, results: &[ir::Type]) -> Vec<Value> {
        let name = library::name(name);
        let inputs: Vec<&'static str> = match self.library.function(&name) {
            Some(f) => f.params.iter().skip(args.len()).filter_map(|p| super::super::input_name(&p.name)).collect(),
            None => Vec::new(),
        };
        args.extend(inputs.into_iter().map(|name| self.input(name)).collect::<Vec<_>>());
        self.b.call(name, args, results)
    }

    /// A predefined variable that the function takes.
    pub fn input(&mut self, name: &'static str) -> Value {
        match self.inputs.get(name) {
            Some(&value) => value,
            None => {
                let ty = globals::find(name).and_then(|g| g.ty.ir()).unwrap_or(ir::Type::F32);
                self.b.constant(Const::zero(ty))
            }
        }
    }
}
