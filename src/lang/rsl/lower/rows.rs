//! Arrays of arrays ([`SourceType::Rows`]): rows stored contiguously in one slot, read and written
//! as a whole or by element.
//!
//! Each index is clamped to its own range, so that no index reaches another row: out of range, a
//! read gives the nearest element and a write does nothing.

use super::arrays::Located;
use super::*;

impl Body<'_, '_> {
    /// Values in braces, each of them those of a row. Rows without values are zero.
    pub(super) fn rows_as(&mut self, list: &[ExprId], ty: SourceType, span: Span) -> Lower<(Vec<Value>, StorageClass)> {
        let SourceType::Rows(element, rows, columns) = ty else { return Ok((Vec::new(), StorageClass::Constant)) };
        if list.len() > rows as usize {
            let d = Diagnostic::error(format!("{} values are too many for {ty}", list.len()));
            return self.error(d.at(span, "these values"));
        }
        let (mut values, mut class) = (Vec::new(), StorageClass::Constant);
        for &e in list {
            let (row, of_row) = self.values_as(e, SourceType::Array(element, columns))?;
            values.extend(row);
            class = class.max(of_row);
        }
        if let Some(ty) = element.ir() {
            let zero = self.b.constant(Const::zero(ty));
            values.resize((rows * columns) as usize, zero);
        }
        Ok((values, class))
    }

    /// The element of the slot that is read at a place with two indices, or with one the first of
    /// the row.
    pub(super) fn cell_to_read(&mut self, place: &Located, row: Value) -> Value {
        let SourceType::Rows(_, rows, columns) = place.var.ty else { return row };
        let row = self.at_most(row, rows.saturating_sub(1));
        let column = place.element.map(|column| self.at_most(column, columns.saturating_sub(1)));
        self.cell(row, columns, column)
    }

    /// The element of the slot that is written there: none where there is no such element.
    pub(super) fn cell_to_write(&mut self, place: &Located, row: Value) -> Value {
        let SourceType::Rows(_, rows, columns) = place.var.ty else { return row };
        let cell = self.cell(row, columns, place.element);
        let [rows, columns, none] = [rows, columns, place.var.ty.capacity()].map(|n| self.b.u32(n));
        let mut is_there = self.b.ilt(row, rows);
        if let Some(column) = place.element {
            let is_in_row = self.b.ilt(column, columns);
            is_there = self.b.and(is_there, is_in_row);
        }
        self.b.select(is_there, cell, none)
    }

    /// The values of the row at a place with one index.
    pub(super) fn read_row(&mut self, place: &Located, row: Value) -> Vec<Value> {
        let Some(slot) = place.var.slot else { return Vec::new() };
        let first = self.cell_to_read(place, row);
        let element = |this: &mut Self, i| {
            let index = this.behind(first, i);
            this.b.slot_load(slot, index)
        };
        (0..place.ty.capacity()).map(|i| element(self, i)).collect()
    }

    /// Writes the values of a row.
    pub(super) fn write_row(&mut self, place: &Located, row: Value, values: &[Value]) {
        let Some(slot) = place.var.slot.filter(|_| place.var.ty.capacity() > 0) else { return };
        let first = self.cell_to_write(place, row);
        for (i, &value) in values.iter().enumerate() {
            let index = self.behind(first, i as u32);
            self.b.slot_store(slot, index, value);
        }
    }

    fn behind(&mut self, first: Value, i: u32) -> Value {
        let i = self.b.u32(i);
        self.b.iadd(first, i)
    }

    fn cell(&mut self, row: Value, columns: u32, column: Option<Value>) -> Value {
        let columns = self.b.u32(columns);
        let first = self.b.imul(row, columns);
        column.map_or(first, |column| self.b.iadd(first, column))
    }

    fn at_most(&mut self, index: Value, last: u32) -> Value {
        let last = self.b.u32(last);
        let is_before = self.b.ilt(index, last);
        self.b.select(is_before, index, last)
    }
}
