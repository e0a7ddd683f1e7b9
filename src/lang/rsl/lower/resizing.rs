//! Resizable arrays (RSL 2.0): access within the current length, and the calls that change or
//! return it.

use super::arrays::NO_VALUE;
use super::*;
use crate::types::CAPACITY;

impl Body<'_, '_> {
    /// Which element of the slot is read at an index: the nearest that the array has.
    pub(super) fn index_to_read(&mut self, array: &Var, index: Value) -> Value {
        let (length, one) = (self.b.read(array.storage), self.b.f32(1.0));
        let last = self.b.sub(length, one);
        let index = self.b.min(index, last);
        self.b.to_int(index, Type::U32)
    }

    /// Which element of the slot is written at an index: none where the array has no such element.
    pub(super) fn index_to_write(&mut self, array: &Var, index: Value) -> Value {
        let length = self.b.read(array.storage);
        let is_there = self.b.lt(index, length);
        let (index, none) = (self.b.to_int(index, Type::U32), self.b.u32(CAPACITY));
        self.b.select(is_there, index, none)
    }

    /// `arraylength capacity push pop resize reserve`; `None` for other calls, and where the first
    /// argument is no array.
    pub(super) fn array_call(&mut self, f: &Ident, args: &[ExprId]) -> Option<Lower<Typed>> {
        let (&first, rest) = args.split_first()?;
        let expected = match &*f.name {
            "arraylength" | "capacity" | "pop" => 0,
            "push" | "resize" | "reserve" => 1,
            _ => return None,
        };
        let name = match &self.ast().expr(first).kind {
            ExprKind::Name(name) => name,
            ExprKind::Index(place) if matches!(&*f.name, "arraylength" | "capacity") => {
                let row = self.scopes.find(&place.name.name)?.ty.indexed(place.indices.len())?;
                return row.is_array().then(|| Ok(self.constant(Const::F32(row.length() as f32), SourceType::Float)));
            }
            _ => return None,
        };
        let array = self.scopes.find(name).filter(|v| v.ty.is_array() && rest.len() == expected).cloned()?;
        let slot = array.slot?;
        self.at(f.span);
        match &*f.name {
            "capacity" => return Some(Ok(self.constant(Const::F32(array.ty.length() as f32), SourceType::Float))),
            "arraylength" if array.ty.is_resizable() => {
                let value = self.b.read(array.storage);
                return Some(Ok(Typed { value, ty: SourceType::Float, class: StorageClass::Uniform }));
            }
            "arraylength" => {
                return Some(Ok(self.constant(Const::F32(array.ty.length() as f32), SourceType::Float)));
            }
            _ => {}
        }
        if !array.ty.is_resizable() {
            let message = format!("the array `{name}` has the fixed length {}", array.ty.length());
            let d = Diagnostic::error(message).at(f.span, "resized here");
            let hint = format!("declare it as `{} {name}[]`, without a length", array.ty.element());
            return Some(self.error(d.hint(hint)));
        }
        Some(self.resize(f, name, &array, slot, rest))
    }

    /// A call that changes the length of an array. It never has more than [`CAPACITY`] elements:
    /// what is pushed beyond them is dropped.
    fn resize(&mut self, f: &Ident, name: &str, array: &Var, slot: SlotId, rest: &[ExprId]) -> Lower<Typed> {
        let (zero, one, most) = (self.b.f32(0.0), self.b.f32(1.0), self.b.f32(CAPACITY as f32));
        let nothing = Typed { value: NO_VALUE, ty: SourceType::Void, class: StorageClass::Constant };
        match (&*f.name, rest) {
            ("push", [e]) => {
                let v = self.value_as(*e, array.ty.element())?;
                self.widen_class(name, array, v.class, self.span(*e));
                let length = self.b.read(array.storage);
                let index = self.b.to_int(length, Type::U32);
                self.b.slot_store(slot, index, v.value);
                let longer = self.b.add(length, one);
                let longer = self.b.min(longer, most);
                self.b.write(array.storage, longer);
                Ok(nothing)
            }
            ("resize", [e]) => {
                let v = self.value_as(*e, SourceType::Float)?;
                let length = self.b.max(v.value, zero);
                let length = self.b.min(length, most);
                let length = self.b.to_int(length, Type::U32);
                let length = self.b.to_float(length);
                self.b.write(array.storage, length);
                Ok(nothing)
            }
            ("pop", []) => {
                let length = self.b.read(array.storage);
                let shorter = self.b.sub(length, one);
                let shorter = self.b.max(shorter, zero);
                self.b.write(array.storage, shorter);
                let index = self.b.to_int(shorter, Type::U32);
                let element = array.ty.element();
                let value = self.b.slot_load(slot, index);
                Ok(Typed { value, ty: element, class: array.class })
            }
            // There is room for as many as there can be.
            _ => {
                rest.iter().try_for_each(|&e| self.effect(e))?;
                Ok(nothing)
            }
        }
    }
}
