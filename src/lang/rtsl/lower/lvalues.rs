//! Variables, and parts of them that can be read and assigned.

use super::super::ast::{ExprKind, TypeName};
use super::super::types::{BasicType, Scalar};
use super::values::Leaf;
use super::*;
use shadewright_ir::abi::library;

/// Letters of components: any of a row may be mixed (GLSL 1.20, §5.5).
const LETTERS: [&str; 3] = ["xyzw", "rgba", "stpq"];

/// Where a leaf of a variable is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Storage {
    /// A variable that SSA form replaces.
    One(Variable),
    /// Elements of an array.
    Many(SlotId),
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Local {
    /// The type.
    pub ty: Type,
    /// Where its leaves are.
    pub storage: Vec<(Leaf, Storage)>,
    /// The storage qualifier.
    pub qualifier: Qualifier,
    /// True if it is declared `unit`: what is read of it is a vector of length 1.
    pub is_unit: bool,
    /// The value of a constant `int`.
    pub known: Option<i32>,
    /// Where it was declared.
    pub declared: Span,
}

/// A leaf of a place: `count` of its values from `offset` on.
#[derive(Clone, Copy, Debug)]
struct Part {
    leaf: Leaf,
    storage: Storage,
    /// The number of the first, where it is not 0.
    offset: Option<Value>,
    count: u32,
}

/// The part of a vector or matrix that is meant.
#[derive(Clone, Debug)]
enum Tail {
    /// All.
    Whole,
    /// Components, as swizzles name them.
    Components(Vec<u8>),
    /// The component or column of that number.
    Element(Value),
    /// A component of a column.
    ElementOf(Value, Box<Tail>),
}

/// A part of a variable.
#[derive(Clone, Debug)]
pub(super) struct LValue {
    /// The type of what is read and written.
    pub ty: Type,
    /// The type of what the tail is a part of.
    whole: Type,
    parts: Vec<Part>,
    tail: Tail,
    /// True if it is a variable that is declared `unit`.
    is_unit: bool,
    /// The name of the renderer's variable that it is part of.
    pub state: Option<&'static str>,
}

impl<'a> Body<'a> {
    /// A variable that holds zero.
    pub(super) fn new_local(&mut self, ty: Type, declared: Span) -> Local {
        let mut storage = Vec::new();
        for leaf in self.leaves(&ty) {
            // Slots hold no truth values.
            let in_slot = if leaf.ty == ir::Type::Bool { ir::Type::U32 } else { leaf.ty };
            let place = match leaf.is_array {
                true => Storage::Many(self.b.slot("array", in_slot, leaf.count)),
                false => Storage::One(self.b.variable(leaf.ty)),
            };
            storage.push((leaf, place));
        }
        let local =
            Local { ty: ty.clone(), storage, qualifier: Qualifier::Local, is_unit: false, known: None, declared };
        let zero = self.zero(&ty);
        self.write_local(&local, zero);
        local
    }

    /// All of a variable.
    fn all(&self, local: &Local) -> LValue {
        let parts = local
            .storage
            .iter()
            .map(|&(leaf, storage)| Part { leaf, storage, offset: None, count: leaf.count })
            .collect();
        let (ty, tail, is_unit) = (local.ty.clone(), Tail::Whole, local.is_unit);
        LValue { ty: ty.clone(), whole: ty, parts, tail, is_unit, state: None }
    }

    pub(super) fn read_local(&mut self, local: &Local) -> Typed {
        let value = self.read(&self.all(local));
        Typed { known: local.known, ..value }
    }

    pub(super) fn write_local(&mut self, local: &Local, value: Typed) {
        let place = self.all(local);
        self.write(&place, value);
    }

    /// The number of element `k` of a part.
    fn number(&mut self, part: &Part, k: u32) -> Value {
        let k_value = self.b.u32(k);
        match part.offset {
            None => k_value,
            Some(offset) if k == 0 => offset,
            Some(offset) => self.b.iadd(offset, k_value),
        }
    }

    /// The parts of the whole that a place is a part of.
    fn read_whole(&mut self, place: &LValue) -> Vec<Value> {
        let mut values = Vec::new();
        for part in &place.parts {
            match part.storage {
                Storage::One(variable) => values.push(self.b.read(variable)),
                Storage::Many(slot) => {
                    for k in 0..part.count {
                        let number = self.number(part, k);
                        let value = match part.leaf.ty {
                            ir::Type::Bool => {
                                let word = self.b.slot_load(slot, number);
                                let one = self.b.u32(1);
                                self.b.ieq(word, one)
                            }
                            _ => self.b.slot_load(slot, number),
                        };
                        values.push(value);
                    }
                }
            }
        }
        values
    }

    fn write_whole(&mut self, place: &LValue, values: &[Value]) {
        let mut values = values.iter().copied();
        for part in &place.parts {
            match part.storage {
                Storage::One(variable) => {
                    if let Some(value) = values.next() {
                        self.b.write(variable, value);
                    }
                }
                Storage::Many(slot) => {
                    for k in 0..part.count {
                        let Some(mut value) = values.next() else { return };
                        let number = self.number(part, k);
                        if part.leaf.ty == ir::Type::Bool {
                            let (one, zero) = (self.b.u32(1), self.b.u32(0));
                            value = self.b.select(value, one, zero);
                        }
                        self.b.slot_store(slot, number, value);
                    }
                }
            }
        }
    }

    /// Reads a place.
    pub(super) fn read(&mut self, place: &LValue) -> Typed {
        let parts = self.read_whole(place);
        let whole = Typed { ty: place.whole.clone(), parts, known: None };
        match &place.tail {
            Tail::Whole if place.is_unit => self.declared_unit(whole),
            Tail::Whole => whole,
            tail => Typed { ty: place.ty.clone(), ..self.taken(&whole, tail) },
        }
    }

    /// Vectors that are declared to have length 1.
    fn declared_unit(&mut self, value: Typed) -> Typed {
        let declared = |&part: &Value| {
            let ty = self.b.ty(part);
            self.b.call(library::unit(ty), vec![part], &[ty])[0]
        };
        Typed { parts: value.parts.iter().map(declared).collect(), ..value }
    }

    /// Says of a variable that it is declared `unit`, as a vector or an array of them may be.
    pub(super) fn set_unit(&mut self, local: &mut Local, is_unit: bool) {
        let mut element = &local.ty;
        while let Type::Array(inner, _) = element {
            element = inner;
        }
        let is_vector = matches!(element, Type::Basic(BasicType::Vector(Scalar::Float, _)));
        if is_unit && !is_vector {
            let d = Diagnostic::error(format!("a `{}` cannot be `unit`", self.describe(&local.ty)));
            self.diags.push(d.at(local.declared, "declared here").hint("`unit` is for vectors of length 1"));
        }
        local.is_unit = is_unit && is_vector;
    }

    /// The part of a value that a tail means.
    fn taken(&mut self, whole: &Typed, tail: &Tail) -> Typed {
        match tail {
            Tail::Whole => whole.clone(),
            Tail::Components(list) => self.swizzled(whole, list),
            Tail::Element(i) => self.element(whole, *i),
            Tail::ElementOf(i, inner) => {
                let column = self.element(whole, *i);
                self.taken(&column, inner)
            }
        }
    }

    /// A value with another part.
    fn replaced(&mut self, whole: &Typed, tail: &Tail, new: Typed) -> Typed {
        match tail {
            Tail::Whole => new,
            Tail::Components(list) => {
                let given = self.components(&new);
                let mut components = self.components(whole);
                list.iter().zip(given).for_each(|(&i, x)| components[i as usize] = x);
                let Some(basic) = whole.ty.basic() else { return new };
                self.composed(basic, &components)
            }
            Tail::Element(i) => self.with_element(whole, *i, new),
            Tail::ElementOf(i, inner) => {
                let column = self.element(whole, *i);
                let changed = self.replaced(&column, inner, new);
                self.with_element(whole, *i, changed)
            }
        }
    }

    /// The elements of a vector or the columns of a matrix.
    fn elements(&mut self, whole: &Typed) -> (Vec<Value>, Type) {
        match whole.ty.basic() {
            Some(BasicType::Matrix(_, rows)) => (whole.parts.clone(), Type::floats(rows)),
            Some(basic) => {
                let scalar = basic.scalar().unwrap_or(Scalar::Float);
                (self.components(whole), Type::vector(scalar, 1))
            }
            None => (whole.parts.clone(), whole.ty.clone()),
        }
    }

    fn element(&mut self, whole: &Typed, i: Value) -> Typed {
        let (elements, ty) = self.elements(whole);
        let Some((&last, others)) = elements.split_last() else { return whole.clone() };
        let mut value = last;
        for (k, &element) in others.iter().enumerate().rev() {
            let is_it = self.is_number(i, k as u32);
            value = self.b.select(is_it, element, value);
        }
        Typed { ty, parts: vec![value], known: None }
    }

    fn is_number(&mut self, i: Value, k: u32) -> Value {
        let k = self.b.u32(k);
        self.b.ieq(i, k)
    }

    fn with_element(&mut self, whole: &Typed, i: Value, new: Typed) -> Typed {
        let (elements, _) = self.elements(whole);
        let mut changed = Vec::new();
        for (k, &element) in elements.iter().enumerate() {
            let is_it = self.is_number(i, k as u32);
            changed.push(self.b.select(is_it, new.parts[0], element));
        }
        match whole.ty.basic() {
            Some(basic @ BasicType::Vector(..)) => self.composed(basic, &changed),
            _ => Typed { parts: changed, ..whole.clone() },
        }
    }

    /// Components of a vector, in any order.
    pub(super) fn swizzled(&mut self, whole: &Typed, list: &[u8]) -> Typed {
        let all = self.components(whole);
        let chosen: Vec<Value> = list.iter().map(|&i| all[i as usize]).collect();
        let scalar = whole.ty.basic().and_then(BasicType::scalar).unwrap_or(Scalar::Float);
        match Type::vector(scalar, chosen.len() as u8) {
            Type::Basic(basic) => self.composed(basic, &chosen),
            _ => whole.clone(),
        }
    }

    /// Writes a place.
    pub(super) fn write(&mut self, place: &LValue, value: Typed) {
        let values = match &place.tail {
            Tail::Whole => value.parts,
            tail => {
                let parts = self.read_whole(place);
                let whole = Typed { ty: place.whole.clone(), parts, known: None };
                self.replaced(&whole, tail, value).parts
            }
        };
        self.write_whole(place, &values);
        // Setting the geometric normal also sets the shading normal (RTSL §3.4).
        if place.state == Some("rt_GeometricNormal")
            && let Some(shading) = self.state.get("rt_ShadingNormal").cloned()
            && let Some(geometric) = self.state.get("rt_GeometricNormal").cloned()
        {
            let normal = self.read_local(&geometric);
            self.write_local(&shading, normal);
        }
        // A camera sets the direction, and its inverse follows.
        if place.state == Some("rt_RayDirection")
            && let Some(inverse) = self.state.get("rt_InverseRayDirection").cloned()
            && let Some(direction) = self.state.get("rt_RayDirection").cloned()
        {
            let direction = self.read_local(&direction);
            let parts = direction.parts.iter().map(|&part| self.b.rcp(part)).collect();
            self.write_local(&inverse, Typed { parts, ..direction });
        }
    }

    /// The components that a swizzle names.
    pub(super) fn swizzle(&mut self, ty: BasicType, name: &Ident, is_written: bool) -> Lower<Vec<u8>> {
        let n = match ty {
            BasicType::Vector(_, n) => n,
            BasicType::Color => {
                let d = Diagnostic::error("a color has no named components");
                let d = d.at(name.span, "the renderer decides how many there are");
                return self.error(d.hint("`luminance(c)` gives its brightness, `vec3(c)` red, green and blue"));
            }
            _ => {
                let d = Diagnostic::error(format!("the type `{ty}` has no components"));
                return self.error(d.at(name.span, "not here"));
            }
        };
        let row = LETTERS.iter().find(|row| name.name.chars().all(|c| row.contains(c)));
        let list: Option<Vec<u8>> =
            row.map(|row| name.name.chars().filter_map(|c| row.find(c)).map(|i| i as u8).collect());
        let Some(list) = list.filter(|l| (1..=4).contains(&l.len()) && l.iter().all(|&i| i < n)) else {
            let letters: Vec<&str> = LETTERS.iter().map(|row| &row[..n as usize]).collect();
            let d = Diagnostic::error(format!("a `{ty}` has no components `{}`", name.name));
            let d = d.at(name.span, "invalid swizzle");
            return self.error(d.hint(format!("its components are {}", letters.join(", or "))));
        };
        let repeats = list.iter().enumerate().any(|(k, i)| list[..k].contains(i));
        if is_written && repeats {
            let d = Diagnostic::error("duplicate component in an assignment")
                .at(name.span, "each component can be assigned once");
            return self.error(d);
        }
        Ok(list)
    }

    /// The place that an expression names; `is_written` asks whether it may be changed here.
    pub(super) fn place(&mut self, e: ExprId, is_written: bool) -> Lower<LValue> {
        let file = self.file();
        let expr = file.ast.expr(e);
        match &expr.kind {
            ExprKind::Name(name) => self.named(name, expr.span, is_written),
            ExprKind::Member(of, name) => {
                if matches!(file.ast.expr(*of).kind, ExprKind::This) {
                    return self.own_field(name, is_written);
                }
                let place = self.place(*of, is_written)?;
                self.member(place, name, is_written)
            }
            ExprKind::Index(of, index) => {
                let place = self.place(*of, is_written)?;
                let number = self.value(*index)?;
                self.indexed(place, number, file.ast.expr(*index).span)
            }
            _ => {
                let d = Diagnostic::error("expected a variable or a part of one").at(expr.span, "not assignable");
                self.error(d)
            }
        }
    }

    fn own_field(&mut self, name: &Ident, is_written: bool) -> Lower<LValue> {
        let field = self.top().object.and_then(|number| self.field(number, &name.name));
        match field {
            Some(local) => {
                self.may_write(&local, name.span, &name.name, is_written)?;
                Ok(self.all(&local))
            }
            None => {
                let d = Diagnostic::error(format!("the class has no variable `{}`", name.name));
                self.error(d.at(name.span, "not declared"))
            }
        }
    }

    /// The variable of an object of that name.
    pub(super) fn field(&self, number: usize, name: &str) -> Option<Local> {
        let object = self.objects.get(number)?;
        let variables = &object.file.classes[object.class].variables;
        let i = (0..variables.len()).find(|&i| &*object.file.variable(object.class, i).name.name == name)?;
        object.fields.get(i).cloned()
    }

    /// True if a name is a variable here.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        let frame = self.top();
        frame.scopes.iter().any(|s| s.contains_key(name))
            || frame.object.is_some_and(|o| self.field(o, name).is_some())
            || state::find(name).is_some()
    }

    /// The place of a variable.
    pub(super) fn named(&mut self, name: &Arc<str>, span: Span, is_written: bool) -> Lower<LValue> {
        let frame = self.top();
        if let Some(local) = frame.scopes.iter().rev().find_map(|s| s.get(name)).cloned() {
            self.may_write(&local, span, name, is_written)?;
            return Ok(self.all(&local));
        }
        if let Some(local) = frame.object.and_then(|number| self.field(number, name)) {
            self.may_write(&local, span, name, is_written)?;
            return Ok(self.all(&local));
        }
        if let Some(variable) = state::find(name) {
            self.may_use(variable, span, is_written)?;
            let Some(local) = self.state.get(variable.name).cloned() else {
                let d = Diagnostic::error(format!("`{name}` is not available here"))
                    .at(span, "not part of the state of this method");
                return self.error(d);
            };
            return Ok(LValue { state: Some(variable.name), ..self.all(&local) });
        }
        self.unknown_name(name, span)
    }

    /// True if a variable may be changed where it is.
    fn may_write(&mut self, local: &Local, span: Span, name: &str, is_written: bool) -> Lower<()> {
        if !is_written {
            return Ok(());
        }
        let role = self.top().role;
        let (message, hint) = match local.qualifier {
            Qualifier::Const => (format!("`{name}` is a constant"), "remove `const`, or use a local variable"),
            Qualifier::Public | Qualifier::Private if !matches!(role, Role::Constructor | Role::Any) => (
                format!("the variable `{name}` of the class can be assigned in constructors only"),
                "an object is shared by all rays: use a local variable, or a `scratch` variable in a primitive",
            ),
            _ => return Ok(()),
        };
        let d = Diagnostic::error(message).at(span, "assigned here").also(local.declared, "declared here");
        self.error(d.hint(hint))
    }

    /// True if the method that is lowered may read or write a variable of the renderer.
    fn may_use(&mut self, variable: &'static state::StateVariable, span: Span, is_written: bool) -> Lower<()> {
        let method = match self.top().role {
            Role::Any => return Ok(()),
            Role::Constructor => {
                let d = Diagnostic::error(format!("`{}` is not available in a constructor", variable.name));
                return self.error(d.at(span, "objects are constructed before rendering"));
            }
            Role::Method(method) => method,
        };
        let allowed = if is_written { variable.is_written_in(method) } else { variable.is_read_in(method) };
        if allowed {
            return Ok(());
        }
        let interface = method.interface();
        let (verb, list) = match is_written {
            true => {
                ("set", super::super::state::VARIABLES.iter().filter(|v| v.is_written_in(method)).collect::<Vec<_>>())
            }
            false => ("read", super::super::state::VARIABLES.iter().filter(|v| v.is_read_in(method)).collect()),
        };
        let names: Vec<&str> = list.iter().map(|v| v.name).collect();
        let d = Diagnostic::error(format!("`{}` of `{interface}` cannot {verb} `{}`", method.name(), variable.name));
        let d = d.at(span, format!("not available in `{}`", method.name()));
        self.error(d.hint(format!("it can {verb}: {}", names.join(", "))))
    }

    /// A member of a struct, or components of a vector.
    fn member(&mut self, place: LValue, name: &Ident, is_written: bool) -> Lower<LValue> {
        match (&place.ty, &place.tail) {
            (Type::Struct(id), Tail::Whole) => {
                let mut first = 0;
                for (member, ty) in self.members(*id) {
                    let n = self.leaves(&ty).len();
                    if member == name.name {
                        let parts = place.parts[first..first + n].to_vec();
                        return Ok(LValue { ty: ty.clone(), whole: ty, parts, ..place });
                    }
                    first += n;
                }
                let names: Vec<Arc<str>> = self.members(*id).into_iter().map(|m| m.0).collect();
                let d = Diagnostic::error(format!("`{}` has no member `{}`", self.describe(&place.ty), name.name));
                self.error(d.at(name.span, "not declared").hint(format!("it has: {}", names.join(", "))))
            }
            (Type::Object(_), _) => {
                let d = Diagnostic::error("the variables of another object cannot be assigned")
                    .at(name.span, "assigned here");
                self.error(d)
            }
            (Type::Basic(basic), tail) => {
                let list = self.swizzle(*basic, name, is_written)?;
                let scalar = basic.scalar().unwrap_or(Scalar::Float);
                let ty = Type::vector(scalar, list.len() as u8);
                let tail = match tail {
                    Tail::Whole => Tail::Components(list),
                    // `v.xyz.x`
                    Tail::Components(outer) => Tail::Components(list.iter().map(|&i| outer[i as usize]).collect()),
                    Tail::Element(i) => Tail::ElementOf(*i, Box::new(Tail::Components(list))),
                    Tail::ElementOf(i, inner) => match &**inner {
                        Tail::Components(outer) => {
                            let list = list.iter().map(|&i| outer[i as usize]).collect();
                            Tail::ElementOf(*i, Box::new(Tail::Components(list)))
                        }
                        _ => return self.error(Diagnostic::error("a scalar has no components").at(name.span, "here")),
                    },
                };
                Ok(LValue { ty, tail, ..place })
            }
            _ => {
                let d = Diagnostic::error(format!("the type `{}` has no members", self.describe(&place.ty)));
                self.error(d.at(name.span, "not here"))
            }
        }
    }

    /// An element of an array, a column of a matrix, a component of a vector.
    fn indexed(&mut self, place: LValue, index: Typed, span: Span) -> Lower<LValue> {
        let index = self.index(index, span)?;
        let check = |body: &mut Self, n: u32| match index.1 {
            Some(k) if k < 0 || k as u32 >= n => {
                let d = Diagnostic::error(format!("index {k} is out of range"));
                body.error(d.at(span, format!("the indices are 0 to {}", n - 1)))
            }
            _ => Ok(()),
        };
        match place.ty.clone() {
            Type::Array(element, n) => {
                check(self, n)?;
                let mut parts = place.parts.clone();
                for part in &mut parts {
                    part.count /= n;
                    let stride = self.b.u32(part.count);
                    let step = if part.count == 1 { index.0 } else { self.b.imul(index.0, stride) };
                    part.offset = Some(match part.offset {
                        Some(offset) => self.b.iadd(offset, step),
                        None => step,
                    });
                }
                Ok(LValue { ty: (*element).clone(), whole: *element, parts, ..place })
            }
            Type::Basic(BasicType::Matrix(columns, rows)) => {
                check(self, columns.into())?;
                Ok(LValue { ty: Type::floats(rows), tail: Tail::Element(index.0), ..place })
            }
            Type::Basic(basic @ BasicType::Vector(scalar, n)) => {
                check(self, n.into())?;
                let own = match (&place.tail, index.1) {
                    (Tail::Components(outer), Some(k)) => Tail::Components(vec![outer[k as usize]]),
                    (_, Some(k)) => Tail::Components(vec![k as u8]),
                    (_, None) => Tail::Element(index.0),
                };
                let tail = match &place.tail {
                    Tail::Whole => own,
                    Tail::Components(_) if index.1.is_some() => own,
                    Tail::Element(i) => Tail::ElementOf(*i, Box::new(own)),
                    Tail::Components(_) | Tail::ElementOf(..) => {
                        let d =
                            Diagnostic::error(format!("the index of a component of this `{basic}` must be a constant"));
                        return self.error(d.at(span, "not a constant"));
                    }
                };
                Ok(LValue { ty: Type::vector(scalar, 1), tail, ..place })
            }
            ty => {
                let d = Diagnostic::error(format!("the type `{}` cannot be indexed", self.describe(&ty)));
                self.error(d.at(span, "an index"))
            }
        }
    }

    /// An index as the IR has it, and its value where that is known.
    pub(super) fn index(&mut self, index: Typed, span: Span) -> Lower<(Value, Option<i32>)> {
        if index.ty != Type::INT {
            let d = Diagnostic::error(format!("an index must be an `int`, not a `{}`", self.describe(&index.ty)));
            return self.error(d.at(span, "an index").hint("`int(x)` converts a number"));
        }
        let value = self.b.bitcast(index.parts[0], ir::Type::U32);
        let value = match index.known {
            Some(k) => self.b.u32(k as u32),
            None => value,
        };
        Ok((value, index.known))
    }

    /// A part of a value that is no variable: `f(x).y`, `a(x)[2]`.
    pub(super) fn part_of(
        &mut self,
        value: Typed,
        span: Span,
        part: impl FnOnce(&mut Self, LValue) -> Lower<LValue>,
    ) -> Lower<Typed> {
        let local = self.new_local(value.ty.clone(), span);
        self.write_local(&local, value);
        let place = self.all(&local);
        let place = part(self, place)?;
        Ok(self.read(&place))
    }

    /// A member of a value.
    pub(super) fn member_of(&mut self, value: Typed, name: &Ident) -> Lower<Typed> {
        if let Type::Basic(basic) = value.ty {
            let list = self.swizzle(basic, name, false)?;
            return Ok(self.swizzled(&value, &list));
        }
        self.part_of(value, name.span, |body, place| body.member(place, name, false))
    }

    /// An element of a value.
    pub(super) fn element_of(&mut self, value: Typed, index: Typed, span: Span) -> Lower<Typed> {
        self.part_of(value, span, |body, place| body.indexed(place, index, span))
    }

    /// The type that a declaration names.
    pub(super) fn type_of_name(&mut self, name: &'a TypeName) -> Lower<Type> {
        let frame = self.top();
        let base = match frame.file.base_type(frame.class, name) {
            Ok(base) => base,
            Err(d) => return self.error(d),
        };
        let mut ty = base;
        for length in name.lengths.iter().rev() {
            let Some(e) = length else {
                let d = Diagnostic::error("the array has no length").at(name.span, "declared here");
                return self.error(d.hint("`float a[3]`"));
            };
            let n = self.length(*e)?;
            ty = Type::Array(Box::new(ty), n);
        }
        let total: u64 = self.leaves(&ty).iter().map(|l| u64::from(l.count)).sum();
        if total > u64::from(MAX_ELEMENTS) {
            let d = Diagnostic::error(format!("the array has {total} elements, more than the limit of {MAX_ELEMENTS}"));
            return self.error(d.at(name.span, "too many"));
        }
        Ok(ty)
    }

    /// The length of an array.
    fn length(&mut self, e: ExprId) -> Lower<u32> {
        let span = self.file().ast.expr(e).span;
        let value = self.value(e)?;
        match value.known.filter(|_| value.ty == Type::INT) {
            Some(n) if n > 0 && n as u32 <= MAX_ELEMENTS => Ok(n as u32),
            Some(n) => {
                let d = Diagnostic::error(format!("invalid array length {n}"));
                self.error(d.at(span, format!("expected 1 to {MAX_ELEMENTS}")))
            }
            None => {
                let d = Diagnostic::error("the length of an array must be a constant `int`").at(span, "not a constant");
                self.error(d.hint("`const int n = 3;`"))
            }
        }
    }
}
