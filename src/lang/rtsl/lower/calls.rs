//! Calls of functions, of methods through references, of built-in functions, and of constructors of
//! types.

use super::super::ast::{BaseType, Direction, ExprKind, TypeName};
use super::super::builtins;
use super::super::classes::CONSTRUCTOR;
use super::super::matrices;
use super::super::types::{BasicType, Scalar};
use super::*;
use shadewright_base::text::diagnostics::closest;

/// The keyword for the base class.
const SUPER: &str = "super";

impl<'a> Body<'a> {
    /// `f(a, b)`
    pub(super) fn call_expr(&mut self, name: &Ident, args: &[ExprId], span: Span) -> Lower<Typed> {
        let file = self.file();
        let frame = self.top();
        let (class, object, role) = (frame.class, frame.object, frame.role);
        if &*name.name == SUPER {
            let base = class.and_then(|c| file.classes[c].base);
            let Some(base) = base else {
                let d = Diagnostic::error("`super` in a class without a base class").at(name.span, "no base class");
                return self.error(d);
            };
            if role != Role::Constructor && role != Role::Any {
                let d = Diagnostic::error("the constructor of the base class can be called in a constructor only");
                return self.error(d.at(name.span, "`super.method()` calls a method"));
            }
            let found = file.constructors(base);
            return self.call_one_of(&found, object, role, args, CONSTRUCTOR, span);
        }
        let found = file.functions(class, &name.name);
        if !found.is_empty() {
            let role = self.role_of(&name.name, class);
            return self.call_one_of(&found, object, role, args, &name.name, span);
        }
        let as_type = TypeName { base: BaseType::Named(name.name.clone()), lengths: Vec::new(), span: name.span };
        if let Ok(Type::Struct(id)) = file.base_type(class, &as_type) {
            return self.make_struct(id, args, span);
        }
        if builtins::is_known(&name.name) {
            return self.builtin(name, args, span);
        }
        let d = Diagnostic::error(format!("unknown function `{}`", name.name)).at(name.span, "not defined");
        if let Some(why) = builtins::unsupported(&name.name) {
            return self.error(d.hint(why));
        }
        if matches!(file.base_type(class, &as_type), Ok(Type::Object(_))) {
            return self
                .error(d.hint("the scene makes objects: declare a parameter of the constructor that refers to one"));
        }
        let mut names: Vec<&str> = file.function_names(class).collect();
        builtins::names().for_each(|name| names.push(name));
        self.error(match closest(&name.name, names) {
            Some(guess) => d.hint(format!("did you mean `{guess}`?")),
            None => d,
        })
    }

    /// The role of the code of a function of that name, where the current code calls it.
    fn role_of(&self, name: &str, class: Option<usize>) -> Role {
        let file = self.file();
        let interfaces = class.map_or(&[][..], |c| &file.classes[c].interfaces);
        match (self.top().role, Method::named(name)) {
            (Role::Method(_), Some(method)) if interfaces.contains(&method.interface()) => Role::Method(method),
            (role, _) => role,
        }
    }

    /// Calls the best of some functions for these arguments.
    fn call_one_of(
        &mut self,
        found: &[FunctionId],
        object: Option<usize>,
        role: Role,
        args: &[ExprId],
        name: &str,
        span: Span,
    ) -> Lower<Typed> {
        let file = self.file();
        let mut values = Vec::new();
        for &e in args {
            values.push(self.value(e)?);
        }
        let id = self.chosen(file, found, &values, name, span)?;
        self.at(span);
        let f = file.function(id);
        // Where outputs go is found before the call, as the caller sees it.
        let mut places = Vec::new();
        for (p, &e) in f.params.iter().zip(args) {
            if p.direction != Direction::In {
                places.push(Some(self.place(e, true)?));
            } else {
                places.push(None);
            }
        }
        let object = if matches!(id, FunctionId::Free(_)) { None } else { object };
        let (result, outputs) = self.call_with_outputs(file, id, object, role, values, span)?;
        for (place, output) in places.into_iter().zip(outputs) {
            if let (Some(place), Some(output)) = (place, output) {
                let value = self.fitted(output, &place.ty.clone(), span)?;
                self.write(&place, value);
            }
        }
        Ok(result)
    }

    /// The function that takes these values with the fewest conversions.
    fn chosen(
        &mut self,
        file: &'a File,
        found: &[FunctionId],
        values: &[Typed],
        name: &str,
        span: Span,
    ) -> Lower<FunctionId> {
        let mut best: Vec<FunctionId> = Vec::new();
        let mut least = u32::MAX;
        for &id in found {
            let f = file.function(id);
            if f.params.len() != values.len() {
                continue;
            }
            let mut cost = Some(0);
            for (p, value) in f.params.iter().zip(values) {
                let ty = self.type_of_name(&p.ty)?;
                let needed = match p.direction {
                    Direction::In => self.conversion(&value.ty, &ty),
                    Direction::Out => self.conversion(&ty, &value.ty),
                    Direction::InOut => (value.ty == ty).then_some(0),
                };
                cost = cost.zip(needed).map(|(a, b)| a + b);
            }
            match cost {
                Some(cost) if cost < least => (least, best) = (cost, vec![id]),
                Some(cost) if cost == least => best.push(id),
                _ => {}
            }
        }
        if let [one] = best[..] {
            return Ok(one);
        }
        let given: Vec<String> = values.iter().map(|v| self.describe(&v.ty)).collect();
        let list = if best.is_empty() { found } else { &best };
        let there: Vec<String> = list.iter().map(|&id| self.declared(file, id)).collect();
        let d = match best.is_empty() {
            true => Diagnostic::error(format!("no overload of `{name}` takes ({})", given.join(", "))),
            false => {
                Diagnostic::error(format!("ambiguous call: several overloads of `{name}` take ({})", given.join(", ")))
            }
        };
        let d = d.at(span, "this call");
        self.error(there.into_iter().fold(d, |d, text| d.hint(format!("candidate: {text}"))))
    }

    /// How a function is declared.
    fn declared(&self, file: &File, id: FunctionId) -> String {
        let f = file.function(id);
        let name = |ty: &TypeName| match &ty.base {
            BaseType::Basic(basic) => basic.to_string(),
            BaseType::Named(name) => name.to_string(),
        };
        let params: Vec<String> = f.params.iter().map(|p| name(&p.ty)).collect();
        format!("{}({})", f.name.name, params.join(", "))
    }

    /// Makes a function's code part of the current one; gives its value.
    pub(super) fn call(
        &mut self,
        file: &'a File,
        id: FunctionId,
        object: Option<usize>,
        role: Role,
        args: Vec<Typed>,
        span: Span,
    ) -> Lower<Typed> {
        self.call_with_outputs(file, id, object, role, args, span).map(|r| r.0)
    }

    /// The same; gives what `out` parameters hold in the end too.
    fn call_with_outputs(
        &mut self,
        file: &'a File,
        id: FunctionId,
        object: Option<usize>,
        role: Role,
        args: Vec<Typed>,
        span: Span,
    ) -> Lower<(Typed, Vec<Option<Typed>>)> {
        let f = file.function(id);
        let is_it =
            |frame: &Frame<'_>| std::ptr::eq(frame.file, file) && frame.function == Some(id) && frame.object == object;
        if self.frames.iter().any(is_it) {
            let d = Diagnostic::error(format!("recursive call of `{}`", f.name.name)).at(span, "this call");
            return self.error(d.also(f.name.span, "declared here").hint("GLSL has no recursion: use a loop"));
        }
        if self.frames.len() > MAX_CALLS {
            let d = Diagnostic::error(format!("calls are nested more than {MAX_CALLS} levels deep"))
                .at(span, "one level too many");
            return self.error(d);
        }
        let class = match (id, object) {
            (_, Some(object)) => Some(self.objects[object].class),
            (FunctionId::Method(class, _), None) => Some(class),
            (FunctionId::Free(_), None) => None,
        };
        let frame = self.frame(file, class, object, Some(id), role);
        self.frames.push(frame);
        let made = self.inlined(f, args);
        self.frames.pop();
        made
    }

    /// The code of a function whose frame is the last.
    fn inlined(&mut self, f: &'a super::super::ast::Function, args: Vec<Typed>) -> Lower<(Typed, Vec<Option<Typed>>)> {
        let result = self.type_of_name(&f.result)?;
        let mut locals = Vec::new();
        let mut args = args.into_iter();
        for p in &f.params {
            let ty = self.type_of_name(&p.ty)?;
            let mut local = self.new_local(ty.clone(), p.ty.span);
            self.set_unit(&mut local, p.unit);
            if let Some(given) = args.next().filter(|_| p.direction != Direction::Out)
                && let Some(value) = self.converted(given, &ty)
            {
                self.write_local(&local, value);
            }
            if p.constant {
                local.qualifier = Qualifier::Const;
            }
            if let Some(name) = &p.name {
                let scope = self.frames.last_mut().and_then(|f| f.scopes.last_mut());
                let old = scope.and_then(|s| s.insert(name.name.clone(), local.clone()));
                if old.is_some() {
                    let d = Diagnostic::error(format!("the parameter `{}` is declared twice", name.name));
                    self.diags.push(d.at(name.span, "declared again"));
                }
            }
            locals.push((p.direction, local));
        }
        let returned = self.new_local(result.clone(), f.name.span);
        let end = self.b.block();
        if let Some(frame) = self.frames.last_mut() {
            frame.result = result;
            frame.returned = Some((returned.clone(), end));
        }
        if let Some(body) = &f.body {
            self.statements(body);
        }
        self.b.join(end);
        let value = self.read_local(&returned);
        let outputs = locals
            .iter()
            .map(|(direction, local)| (*direction != Direction::In).then(|| self.read_local(local)))
            .collect();
        Ok((value, outputs))
    }

    /// The objects that a reference can mean.
    pub(super) fn candidates(&self, value: &Typed) -> Vec<usize> {
        let Type::Object(reference) = value.ty else { return Vec::new() };
        if let Some(&handle) = self.handles.get(&value.parts[0]) {
            return (handle as usize).checked_sub(1).into_iter().collect();
        }
        let file = self.file();
        let fits = |object: &Live<'_>| match reference {
            Reference::Null => false,
            Reference::Interface(i) => object.file.classes[object.class].interfaces.contains(&i),
            Reference::Class(c) => std::ptr::eq(object.file, file) && file.comes_from(object.class, c),
        };
        (0..self.objects.len()).filter(|&i| fits(&self.objects[i])).collect()
    }

    /// `x.f(a)`: a method of an object; `a.length()` of an array.
    pub(super) fn method_call(&mut self, of: ExprId, name: &Ident, args: &[ExprId], span: Span) -> Lower<Typed> {
        let file = self.file();
        if let ExprKind::Name(word) = &file.ast.expr(of).kind
            && &**word == SUPER
        {
            let base = self.top().class.and_then(|c| file.classes[c].base);
            let found = base.map(|base| file.functions(Some(base), &name.name)).unwrap_or_default();
            if found.is_empty() {
                let d = Diagnostic::error(format!("the base class has no method `{}`", name.name));
                return self.error(d.at(name.span, "not defined"));
            }
            let (object, role) = (self.top().object, self.role_of(&name.name, base));
            return self.call_one_of(&found, object, role, args, &name.name, span);
        }
        let value = self.value(of)?;
        match (&value.ty, &*name.name) {
            (Type::Array(_, n), "length") if args.is_empty() => return Ok(self.int(*n as i32)),
            (Type::Object(Reference::Null), _) => {
                return self.error(Diagnostic::error("`null` has no methods").at(span, "a null reference"));
            }
            (Type::Object(_), _) => {}
            _ => {
                let d = Diagnostic::error(format!("the type `{}` has no methods", self.describe(&value.ty)));
                return self.error(d.at(name.span, "not an object"));
            }
        }
        self.call_through(value, name, args, span)
    }

    /// A call through a reference: of the one object that it means, or of one of several.
    fn call_through(&mut self, value: Typed, name: &Ident, args: &[ExprId], span: Span) -> Lower<Typed> {
        let file = self.file();
        let Type::Object(reference) = value.ty else { return Err(Poison) };
        // What the reference's own type says of the method.
        let declared = match reference {
            Reference::Interface(interface) => {
                let known = Method::named(&name.name).filter(|m| m.interface() == interface);
                if known.is_none() {
                    let names: Vec<&str> = interface.methods().map(Method::name).collect();
                    let d = Diagnostic::error(format!("`{interface}` has no method `{}`", name.name));
                    let d = d.at(name.span, "not a method of the interface");
                    return self.error(d.hint(format!("it has: {}", names.join(", "))));
                }
                Vec::new()
            }
            Reference::Class(class) => {
                let found: Vec<FunctionId> = file
                    .functions(Some(class), &name.name)
                    .into_iter()
                    .filter(|id| matches!(id, FunctionId::Method(..)))
                    .collect();
                let known =
                    Method::named(&name.name).is_some_and(|m| file.classes[class].interfaces.contains(&m.interface()));
                if found.is_empty() && !known {
                    let d = Diagnostic::error(format!("`{}` has no method `{}`", file.class_name(class), name.name));
                    return self.error(d.at(name.span, "not defined"));
                }
                found
            }
            Reference::Null => return Err(Poison),
        };
        let mut values = Vec::new();
        for &e in args {
            values.push(self.value(e)?);
        }
        let result = match declared.first() {
            Some(_) => {
                let id = self.chosen(file, &declared, &values, &name.name, span)?;
                self.type_of_name(&file.function(id).result)?
            }
            None => Type::VOID,
        };
        let role = match (self.top().role, Method::named(&name.name)) {
            (Role::Method(_), Some(method)) => Role::Method(method),
            (Role::Constructor, Some(_)) => {
                let d = Diagnostic::error(format!("a constructor cannot call `{}`", name.name));
                return self.error(d.at(span, "objects are constructed before rendering"));
            }
            (role, _) => role,
        };
        self.at(span);
        let is_decided = self.handles.contains_key(&value.parts[0]);
        let mut candidates = self.candidates(&value);
        if !is_decided {
            // Objects refer to those that were made before them: not to one that waits for this
            // call.
            let waits = |number: &usize| {
                self.frames.iter().any(|frame| {
                    let function = frame.function.map(|id| &frame.file.function(id).name.name);
                    frame.object == Some(*number) && function == Some(&name.name)
                })
            };
            candidates.retain(|number| !waits(number));
        }
        let local = self.new_local(result.clone(), span);
        let end = self.b.block();
        for (k, &number) in candidates.iter().enumerate() {
            let (target, class) = (self.objects[number].file, self.objects[number].class);
            let found: Vec<FunctionId> = target
                .functions(Some(class), &name.name)
                .into_iter()
                .filter(|id| matches!(id, FunctionId::Method(..)))
                .collect();
            let next = self.b.block();
            let is_last = k + 1 == candidates.len();
            if is_decided || is_last && !self.is_open {
                self.b.join(next);
                self.call_object(number, target, &found, role, values.clone(), &local, &name.name, span)?;
                self.b.jump_unless_terminated(end);
                break;
            }
            let this = self.b.u32(number as u32 + 1);
            let is_it = self.b.ieq(value.parts[0], this);
            self.b.jump_unless(is_it, next);
            self.call_object(number, target, &found, role, values.clone(), &local, &name.name, span)?;
            self.b.jump_unless_terminated(end);
            self.b.enter(next);
        }
        self.b.join(end);
        Ok(self.read_local(&local))
    }

    /// Calls a method of one object.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call, which nothing else needs together")]
    fn call_object(
        &mut self,
        number: usize,
        target: &'a File,
        found: &[FunctionId],
        role: Role,
        values: Vec<Typed>,
        result: &Local,
        name: &str,
        span: Span,
    ) -> Lower<()> {
        if found.is_empty()
            && let Some((variable, default)) = Method::named(name).and_then(state_inputs::without)
        {
            if let Some(local) = self.state.get(variable).cloned() {
                let value = Typed { ty: local.ty.clone(), parts: vec![self.b.constant(default)], known: None };
                self.write_local(&local, value);
            }
            return Ok(());
        }
        let Ok(id) = self.chosen(target, found, &values, name, span) else {
            let class = target.class_name(self.objects[number].class);
            let d = Diagnostic::error(format!("the class `{class}` has no method `{name}` for these arguments"));
            return self.error(d.at(span, "the object may be of that class"));
        };
        let value = self.call(target, id, Some(number), role, values, span)?;
        if result.ty != Type::VOID {
            let value = self.fitted(value, &result.ty.clone(), span)?;
            self.write_local(result, value);
        }
        Ok(())
    }

    fn make_struct(&mut self, id: usize, args: &[ExprId], span: Span) -> Lower<Typed> {
        let members = self.members(id);
        if members.len() != args.len() {
            let name = self.describe(&Type::Struct(id));
            let d = Diagnostic::error(format!("`{name}` has {} members, found {} values", members.len(), args.len()));
            return self.error(d.at(span, "expected a value for each member"));
        }
        let mut parts = Vec::new();
        for ((_, ty), &e) in members.iter().zip(args) {
            parts.extend(self.value_as(e, ty)?.parts);
        }
        Ok(Typed { ty: Type::Struct(id), parts, known: None })
    }

    /// `vec3(a, b)`, `float[2](a, b)`
    pub(super) fn construct(&mut self, name: &'a TypeName, args: &[ExprId], span: Span) -> Lower<Typed> {
        if name.lengths.is_empty() {
            let BaseType::Basic(basic) = name.base else {
                return self.error(Diagnostic::error("this type has no constructor").at(span, "not a type of values"));
            };
            let mut values = Vec::new();
            for &e in args {
                values.push((self.value(e)?, self.file().ast.expr(e).span));
            }
            self.at(span);
            return self.construct_basic(basic, &values, span);
        }
        let ty = match (&name.lengths[..], self.file().base_type(self.top().class, name)) {
            ([None], Ok(element)) => Type::Array(Box::new(element), args.len().max(1) as u32),
            _ => self.type_of_name(name)?,
        };
        let Type::Array(element, n) = &ty else { return Err(Poison) };
        if args.len() != *n as usize {
            let d = Diagnostic::error(format!("the array has {n} elements, found {} values", args.len()));
            return self.error(d.at(span, "expected a value for each element"));
        }
        let mut values = Vec::new();
        for &e in args {
            values.push(self.value_as(e, element)?);
        }
        // All of a leaf together.
        let counts: Vec<usize> = self.leaves(element).iter().map(|l| l.count as usize).collect();
        let mut parts = Vec::new();
        let mut first = 0;
        for count in counts {
            values.iter().for_each(|v| parts.extend_from_slice(&v.parts[first..first + count]));
            first += count;
        }
        Ok(Typed { ty, parts, known: None })
    }

    /// A value of a basic type from others (GLSL 1.20, §5.4).
    fn construct_basic(&mut self, ty: BasicType, values: &[(Typed, Span)], span: Span) -> Lower<Typed> {
        for (value, place) in values {
            if ty == BasicType::String
                || !matches!(value.ty, Type::Basic(b) if ![BasicType::Void, BasicType::String].contains(&b))
            {
                let d =
                    Diagnostic::error(format!("a `{}` cannot be a component of a `{ty}`", self.describe(&value.ty)));
                return self.error(d.at(*place, "not a number or a vector"));
            }
        }
        let basics: Vec<BasicType> = values.iter().filter_map(|v| v.0.ty.basic()).collect();
        let to = ty.scalar().unwrap_or(Scalar::Float);
        if let ([BasicType::Matrix(..)], BasicType::Matrix(columns, rows)) = (&basics[..], ty) {
            let parts = matrices::resized(&mut self.b, &values[0].0.parts, columns, rows);
            return Ok(Typed { ty: Type::Basic(ty), parts, known: None });
        }
        if ty == BasicType::Color && basics == [BasicType::Color] {
            return Ok(values[0].0.clone());
        }
        if let ([_], BasicType::Scalar(Scalar::Int), Some(known)) =
            (&basics[..], ty, values.first().and_then(|v| v.0.known))
        {
            return Ok(self.int(known));
        }
        let mut components = Vec::new();
        for (value, _) in values {
            let own = self.components(value);
            components.extend(own.into_iter().map(|x| self.scalar_as(x, to)));
        }
        let needed: usize = super::super::types::values(ty).iter().map(|t| t.lanes().unwrap_or(1) as usize).sum();
        let is_single = matches!(basics[..], [BasicType::Scalar(_)]);
        match ty {
            BasicType::Scalar(_) if values.len() == 1 => components.truncate(1),
            BasicType::Matrix(columns, rows) if is_single => {
                let parts = matrices::diagonal(&mut self.b, components[0], columns, rows);
                return Ok(Typed { ty: Type::Basic(ty), parts, known: None });
            }
            BasicType::Vector(..) | BasicType::Color if is_single => components = vec![components[0]; needed],
            // A longer vector gives its first components.
            BasicType::Vector(..) if values.len() == 1 && components.len() > needed => components.truncate(needed),
            _ => {}
        }
        if components.len() == needed && ty != BasicType::Void {
            return Ok(self.composed(ty, &components));
        }
        let d = Diagnostic::error(format!("a `{ty}` needs {needed} components, found {}", components.len()));
        self.error(d.at(span, "wrong number of components"))
    }

    /// A function that the language has.
    fn builtin(&mut self, name: &Ident, args: &[ExprId], span: Span) -> Lower<Typed> {
        let mut values = Vec::new();
        for &e in args {
            values.push(self.value(e)?);
        }
        self.at(span);
        match (&*name.name, &values[..]) {
            ("trace", _) => return self.trace(&values, span),
            ("hit", _) => return self.hit(values, span),
            ("rand", []) => return self.rand(span),
            ("textureImage", _) => {
                if let Some(value) = self.image(&values, span)? {
                    return Ok(value);
                }
            }
            _ => {}
        }
        if let Some(result) = builtins::call(self, &name.name, &values) {
            return Ok(result);
        }
        let given: Vec<String> = values.iter().map(|v| self.describe(&v.ty)).collect();
        let d = Diagnostic::error(format!("no overload of `{}` takes ({})", name.name, given.join(", ")))
            .at(span, "this call");
        self.error(builtins::described(&name.name).fold(d, |d, text| d.hint(format!("candidate: {text}"))))
    }

    /// Calls a function of the standard library by its name in the IR; what it takes after the
    /// arguments are inputs of the core.
    pub(in super::super) fn library_call(&mut self, name: &str, mut args: Vec<Value>) -> Value {
        let library = self.library;
        let Some(f) = library.function(name) else {
            let zero = self.b.f32(0.0);
            return args.first().copied().unwrap_or(zero);
        };
        for p in f.params.iter().skip(args.len()) {
            args.push(self.input(&p.name, p.ty));
        }
        let types: Vec<ir::Type> = f.results.iter().map(|r| r.ty).collect();
        self.b.call(f.name.clone(), args, &types)[0]
    }
}
