//! Arrays and assignment targets.
//!
//! An array is a slot of its function. A resizable one ([`RESIZABLE`]) has room for
//! [`CAPACITY`](super::super::types::CAPACITY) elements and a variable for its length. Functions
//! take and return arrays element by element, so a function with a parameter of any length is
//! compiled once for each length that it is called with: a [`Version`]. An index is rounded towards
//! zero; out of range, a read gives the nearest element and a write does nothing.

use super::super::check::RESIZING;
use super::super::{builtins, matrices};
use super::*;
use crate::types::{OPEN, RESIZABLE};

/// Most elements of arrays that a file copies and passes, all together: each is an instruction or
/// two.
const MAX_COPIED: usize = 1 << 20;

/// Stands for the value of an expression that has none, or that is an array.
pub(super) const NO_VALUE: Value = Value(u32::MAX);

/// A place whose indices have been computed.
#[derive(Clone, Debug)]
pub(super) struct Located {
    /// The variable's name.
    pub name: Ident,
    /// The variable.
    pub var: Var,
    /// The row of an array of arrays: its number.
    row: Option<Value>,
    /// The element of the array or of the row: its number, or of an array whose length changes the
    /// index as it is given.
    pub element: Option<Value>,
    /// The component: one index of a triple, two of a matrix.
    component: Vec<Value>,
    /// The type of what lies there.
    pub ty: SourceType,
    /// The storage class.
    pub class: StorageClass,
}

/// The parameters with the lengths of those arrays that leave it open.
pub(super) fn sized(params: &[Decl], lengths: &[u32]) -> Vec<Decl> {
    let mut lengths = lengths.iter();
    let sized = params.iter().map(|p| match p.ty {
        SourceType::Array(element, OPEN) => {
            Decl { ty: SourceType::Array(element, lengths.next().copied().unwrap_or(0)), open: true, ..p.clone() }
        }
        SourceType::Rows(element, OPEN, each) => {
            Decl { ty: SourceType::Rows(element, lengths.next().copied().unwrap_or(0), each), open: true, ..p.clone() }
        }
        _ => p.clone(),
    });
    sized.collect()
}

/// The name of a function as it is made for these lengths.
pub(super) fn version_name(name: &Arc<str>, lengths: &[u32]) -> Arc<str> {
    match lengths {
        [] => name.clone(),
        _ => {
            let word = |len: &u32| if *len == RESIZABLE { "any".to_string() } else { len.to_string() };
            let lengths: Vec<String> = lengths.iter().map(word).collect();
            format!("{name}.of.{}", lengths.join(".")).into()
        }
    }
}

/// The lengths of arrays for which a function is looked at that nobody calls: one element, or any
/// number where it changes that itself.
pub fn lengths_without_caller(ast: &Ast, d: &Definition) -> Vec<u32> {
    let mut exprs = Vec::new();
    let mut statements: Vec<&Stmt> = d.body.iter().collect();
    while let Some(s) = statements.pop() {
        statements.extend(s.children());
        exprs.extend(s.exprs());
    }
    let mut resized: BTreeSet<&str> = BTreeSet::new();
    while let Some(e) = exprs.pop() {
        let kind = &ast.expr(e).kind;
        kind.for_each_child(|c| exprs.push(c));
        if let ExprKind::Call(f, args) = kind
            && RESIZING.contains(&&*f.name)
            && let Some(ExprKind::Name(name)) = args.first().map(|e| &ast.expr(*e).kind)
        {
            resized.insert(name);
        }
    }
    let open = d.params.iter().filter(|p| p.ty.is_unsized());
    open.map(|p| if resized.contains(&*p.name.name) { RESIZABLE } else { 1 }).collect()
}

impl Body<'_, '_> {
    /// Declares the results that stand for a variable.
    pub(super) fn results(&mut self, name: &str, ty: SourceType) {
        for (name, ty) in ty.value_names(name).zip(ty.values()) {
            self.b.result(name, ty);
        }
    }

    /// A variable of the text, in a slot if it is an array.
    pub(super) fn declared_var(&mut self, ty: SourceType, class: StorageClass, name: &Ident) -> Var {
        let element = ty.element().ir().unwrap_or(Type::F32);
        let held = if ty.is_resizable() { Type::F32 } else { element };
        let mut var = self.new_var(ty, class, Some(name.span), held);
        if ty.is_array() {
            var.slot = Some(self.b.slot(name.name.clone(), element, ty.capacity().max(1)));
        }
        var
    }

    /// The values of a variable that nobody wrote.
    pub(super) fn zeros(&mut self, ty: SourceType) -> Vec<Value> {
        ty.values().map(|ty| self.b.constant(Const::zero(ty))).collect()
    }

    /// The value of `e` converted to `ty`, or the values of an array. Of an array whose length
    /// changes the length follows the elements; these may be fewer than there is room for.
    pub(super) fn values_as(&mut self, e: ExprId, ty: SourceType) -> Lower<(Vec<Value>, StorageClass)> {
        if !ty.is_array() {
            let v = self.value_as(e, ty)?;
            return Ok((vec![v.value], v.class));
        }
        let expr = self.cx.program.ast.expr(e);
        match &expr.kind {
            ExprKind::Array(list) if matches!(ty, SourceType::Rows(..)) => self.rows_as(list, ty, expr.span),
            ExprKind::Array(list) if list.is_empty() && !ty.is_resizable() => {
                let d = Diagnostic::error("an array needs at least one value").at(expr.span, "an empty list");
                self.error(d.hint("a resizable array, `float a[]`, can be empty"))
            }
            ExprKind::Array(list) if ty.is_unsized() || list.len() <= ty.capacity() as usize => {
                let mut class = StorageClass::Constant;
                let mut values = Vec::new();
                for &e in list {
                    let v = self.value_as(e, ty.element())?;
                    class = class.max(v.class);
                    values.push(v.value);
                }
                if ty.is_resizable() {
                    values.push(self.b.f32(list.len() as f32));
                    return Ok((values, class));
                }
                // As in C, elements without a value are zero.
                let len = ty.capacity() as usize;
                if let (Some(ty), true) = (ty.element().ir(), values.len() < len) {
                    values.resize(len, self.b.constant(Const::zero(ty)));
                }
                Ok((values, class))
            }
            ExprKind::Array(list) => {
                let message = match ty.is_resizable() {
                    true => {
                        format!("too many values: {}, and resizable arrays hold at most {}", list.len(), ty.capacity())
                    }
                    false => format!("{} values are too many for {ty}", list.len()),
                };
                self.error(Diagnostic::error(message).at(expr.span, "these values"))
            }
            ExprKind::Name(_) | ExprKind::Index(_) => {
                let place = match &expr.kind {
                    ExprKind::Index(place) => self.place(place)?,
                    ExprKind::Name(name) => {
                        self.place(&LValue::variable(Ident { name: name.clone(), span: expr.span }))?
                    }
                    _ => return Err(Poison),
                };
                if place.ty.conversion(ty).is_none() {
                    let d = Diagnostic::error(format!("expected {ty}, found {}", place.ty));
                    return self.error(d.at(expr.span, format!("this is of type {}", place.ty)));
                }
                self.at(expr.span);
                self.cx.copied = self.cx.copied.saturating_add(place.ty.values().count());
                if self.cx.copied > MAX_COPIED {
                    let d = Diagnostic::error(format!("this file copies more than {MAX_COPIED} elements of arrays"));
                    return self.error(d.at(expr.span, "one array too many"));
                }
                let mut values = self.read_all_of(&place);
                if ty.is_resizable() && !place.ty.is_resizable() {
                    values.push(self.b.f32(place.ty.capacity() as f32));
                }
                Ok((values, place.class))
            }
            _ => {
                let v = self.value(e, Some(ty))?;
                let d = Diagnostic::error(format!("expected {ty}, found {}", v.ty));
                self.error(d.at(expr.span, format!("this is of type {}", v.ty)))
            }
        }
    }

    /// All values of a variable here.
    pub(super) fn read_all(&mut self, var: &Var) -> Vec<Value> {
        let Some(slot) = var.slot else { return vec![self.b.read(var.storage)] };
        let load = |i| {
            let index = self.b.u32(i);
            self.b.slot_load(slot, index)
        };
        let mut values: Vec<Value> = (0..var.ty.capacity()).map(load).collect();
        if var.ty.is_resizable() {
            values.push(self.b.read(var.storage));
        }
        values
    }

    /// Gives a variable its values.
    pub(super) fn assign_all(&mut self, name: &str, var: &Var, values: &[Value]) {
        match var.slot {
            None => values.iter().for_each(|&v| self.assign(name, var.storage, v)),
            Some(slot) => {
                let mut elements = values;
                if let Some((&length, rest)) = values.split_last().filter(|_| var.ty.is_resizable()) {
                    self.b.write(var.storage, length);
                    elements = rest;
                }
                for (i, &v) in elements.iter().enumerate() {
                    let index = self.b.u32(i as u32);
                    self.b.slot_store(slot, index, v);
                }
            }
        }
    }

    /// Finds a place and computes its indices.
    pub(super) fn place(&mut self, place: &LValue) -> Lower<Located> {
        let Ident { name, span } = &place.name;
        let Some(var) = self.scopes.find(name).cloned() else { return self.unknown_name(name, *span) };
        if var.absent {
            self.warn_of_absent(name, *span);
        }
        let Some(ty) = var.ty.indexed(place.indices.len()) else {
            let message = match (var.ty, place.indices.len()) {
                (SourceType::Matrix, _) => "an element of a matrix takes two indices: `m[row][column]`".to_string(),
                (ty, 1) => format!("`{name}` is a {ty} and cannot be indexed"),
                (ty, n) => format!("`{name}` is of type {ty} and does not take {n} indices"),
            };
            return self.error(Diagnostic::error(message).at(*span, "indexed here"));
        };
        let is_name = |indices: &[ExprId]| var.ty.indexed(indices.len()) == Some(SourceType::String);
        if ty == SourceType::String && place.indices.split_last().is_some_and(|(_, before)| is_name(before)) {
            return self.no_channel(*span);
        }
        let mut class = var.class;
        let (mut row, mut element, mut component) = (None, None, Vec::new());
        // Where others decide on the length, the shader may have asked for it before it uses a
        // constant as index.
        let own = |len: u32| (!var.open).then_some(len);
        for (i, &e) in place.indices.iter().enumerate() {
            let index = self.value_as(e, SourceType::Float)?;
            class = class.max(index.class);
            match var.ty {
                SourceType::Array(_, RESIZABLE) if i == 0 => element = Some(index.value),
                SourceType::Array(_, len) if i == 0 => {
                    element = Some(self.element_index(e, index.value, name, own(len)));
                }
                SourceType::Rows(_, rows, _) if i == 0 => {
                    row = Some(self.element_index(e, index.value, name, own(rows)));
                }
                SourceType::Rows(_, _, each) if i == 1 => {
                    element = Some(self.element_index(e, index.value, name, Some(each)));
                }
                _ => component.push(index.value),
            }
        }
        Ok(Located { name: place.name.clone(), var, row, element, component, ty, class })
    }

    /// The index of an array's element; an integer where it is a constant. `len` is the number of
    /// elements, where that is the array's own.
    fn element_index(&mut self, e: ExprId, index: Value, name: &str, len: Option<u32>) -> Value {
        let expr = self.cx.program.ast.expr(e);
        let ExprKind::Number(x) = expr.kind else {
            self.at(expr.span);
            return self.b.to_int(index, Type::U32);
        };
        if let Some(len) = len.filter(|&len| x >= len as f32) {
            let message = format!("index out of range: `{name}` has {len} elements, 0 to {}", len.saturating_sub(1));
            self.cx.report(Diagnostic::warning(message).at(expr.span, "no such element"));
        }
        self.b.u32(x as u32)
    }

    /// The value, or the values of an array, at a place.
    pub(super) fn read_all_of(&mut self, place: &Located) -> Vec<Value> {
        match (place.ty.is_array(), place.row) {
            (true, Some(row)) => self.read_row(place, row),
            (true, None) => self.read_all(&place.var),
            (false, _) => vec![self.read_place(place).value],
        }
    }

    /// Writes the value, or the values of an array, to a place.
    pub(super) fn write_all(&mut self, place: &Located, values: &[Value]) {
        match (place.ty.is_array(), place.row) {
            (true, Some(row)) => self.write_row(place, row, values),
            (true, None) => self.assign_all(&place.name.name, &place.var, values),
            (false, _) => values.iter().for_each(|&v| self.write_place(place, v)),
        }
    }

    /// The whole element, or variable, that a place lies in.
    fn read_element(&mut self, place: &Located) -> Value {
        match (place.var.slot, place.element) {
            (Some(slot), Some(index)) => {
                let index = match place.row {
                    Some(row) => self.cell_to_read(place, row),
                    None if place.var.ty.is_resizable() => self.index_to_read(&place.var, index),
                    None => index,
                };
                self.b.slot_load(slot, index)
            }
            _ => self.b.read(place.var.storage),
        }
    }

    /// The value at a place that is no array.
    pub(super) fn read_place(&mut self, place: &Located) -> Typed {
        let (ty, class) = (place.ty, place.class);
        if ty.is_array() {
            return Typed { value: NO_VALUE, ty, class };
        }
        let whole = self.read_element(place);
        let value = match place.component[..] {
            [i] => builtins::comp(&mut self.b, &[whole, i])[0],
            [row, column] => matrices::component(&mut self.b, &[whole, row, column])[0],
            _ => whole,
        };
        Typed { value, ty, class }
    }

    /// Writes a value to a place that is no array.
    pub(super) fn write_place(&mut self, place: &Located, value: Value) {
        if place.element.is_some() && place.var.ty.capacity() == 0 {
            return;
        }
        let whole = match place.component[..] {
            [] => value,
            [i] => {
                let old = self.read_element(place);
                builtins::setcomp(&mut self.b, &[old, i, value])[0]
            }
            [row, column, ..] => {
                let old = self.read_element(place);
                matrices::set_component(&mut self.b, &[old, row, column, value])[0]
            }
        };
        match (place.var.slot, place.element) {
            (Some(slot), Some(index)) => {
                let index = match place.row {
                    Some(row) => self.cell_to_write(place, row),
                    None if place.var.ty.is_resizable() => self.index_to_write(&place.var, index),
                    None => index,
                };
                self.b.slot_store(slot, index, whole);
            }
            _ => self.assign(&place.name.name, place.var.storage, whole),
        }
    }
}
