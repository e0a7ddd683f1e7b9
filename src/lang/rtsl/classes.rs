//! The classes of a file with what they inherit: where names of types, variables and functions find
//! their meaning.

use super::ast::{self, Ast, BaseType, Function, Ident, Qualifier, TypeName, Variable};
use super::state::{Interface, Method};
use super::types::{Reference, Type};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use std::sync::Arc;

/// The name of constructors.
pub const CONSTRUCTOR: &str = "constructor";

/// A function by its place in the syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FunctionId {
    /// One before the first class.
    Free(usize),
    /// A method: its class, and its number there.
    Method(usize, usize),
}

/// A class with what it inherits.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// The name, with its place.
    pub name: Ident,
    /// The base class.
    pub base: Option<usize>,
    /// The interfaces, inherited ones first.
    pub interfaces: Vec<Interface>,
    /// The variables, inherited ones first: each with the number of the class that declares it and
    /// its number there.
    pub variables: Vec<(usize, usize)>,
}

/// A file whose names are resolved.
#[derive(Clone, Debug)]
pub struct File {
    /// The syntax tree.
    pub ast: Ast,
    /// The classes, in its order.
    pub classes: Vec<ClassInfo>,
    /// All structs: those before the first class, then those of each class.
    structs: Vec<(Option<usize>, usize)>,
}

/// Works out what classes inherit.
pub fn resolve(ast: Ast, diags: &mut Diagnostics) -> File {
    let mut structs: Vec<_> = (0..ast.structs.len()).map(|i| (None, i)).collect();
    for (c, class) in ast.classes.iter().enumerate() {
        structs.extend((0..class.structs.len()).map(|i| (Some(c), i)));
    }
    let mut classes: Vec<ClassInfo> = Vec::with_capacity(ast.classes.len());
    for (number, class) in ast.classes.iter().enumerate() {
        let mut own = ClassInfo { name: class.name.clone(), base: None, interfaces: Vec::new(), variables: Vec::new() };
        for base in &class.bases {
            if let Some(interface) = Interface::named(&base.name) {
                if !own.interfaces.contains(&interface) {
                    own.interfaces.push(interface);
                }
            } else if let Some(i) = classes.iter().position(|c| c.name.name == base.name) {
                if let Some(first) = own.base {
                    let d = Diagnostic::error(format!("`{}` has two base classes", class.name.name));
                    let d = d.at(base.span, format!("besides `{}`", classes[first].name.name));
                    diags.push(d.hint("a class has at most one base class, and any number of interfaces"));
                    continue;
                }
                own.base = Some(i);
                own.variables.extend_from_slice(&classes[i].variables);
                let inherited = classes[i].interfaces.clone();
                own.interfaces.retain(|i| !inherited.contains(i));
                own.interfaces.splice(0..0, inherited);
            } else {
                diags.push(unknown_base(&ast, base, number));
            }
        }
        for (i, v) in class.variables.iter().enumerate() {
            let named = |&(c, i): &(usize, usize)| ast.classes[c].variables[i].name.name == v.name.name;
            if let Some(&(c, i)) = own.variables.iter().find(|v| named(v)) {
                let d = Diagnostic::error(format!("the variable `{}` is declared twice", v.name.name));
                let first = ast.classes[c].variables[i].name.span;
                diags.push(d.at(v.name.span, "declared again").also(first, "declared first"));
                continue;
            }
            own.variables.push((number, i));
        }
        for method in &class.methods {
            report_method(method, &own, diags);
        }
        classes.push(own);
    }
    let file = File { ast, classes, structs };
    file.report_functions(diags);
    file.report_structs(diags);
    file.report_sampling(diags);
    file
}

fn unknown_base(ast: &Ast, base: &Ident, number: usize) -> Diagnostic {
    let d = Diagnostic::error(format!("unknown class or interface `{}`", base.name)).at(base.span, "not declared");
    if ast.classes[number..].iter().any(|c| c.name.name == base.name) {
        return d.hint("declare a class before those derived from it");
    }
    let names = Interface::ALL.iter().map(|i| i.name()).chain(ast.classes.iter().map(|c| &*c.name.name));
    match closest(&base.name, names) {
        Some(guess) => d.hint(format!("did you mean `{guess}`?")),
        None => d.hint(format!("the interfaces are: {}", Interface::ALL.map(Interface::name).join(", "))),
    }
}

/// Reports a method that the renderer should call and cannot.
fn report_method(method: &Function, class: &ClassInfo, diags: &mut Diagnostics) {
    let Some(known) = Method::named(&method.name.name) else {
        let own = class.interfaces.iter().flat_map(|i| i.methods());
        if let Some(meant) = own.map(Method::name).find(|m| m.eq_ignore_ascii_case(&method.name.name)) {
            let d = Diagnostic::error(format!("no interface has a method `{}`", method.name.name));
            diags.push(d.at(method.name.span, "never called by the renderer").hint(format!("did you mean `{meant}`?")));
        }
        return;
    };
    let interface = known.interface();
    if !class.interfaces.contains(&interface) && !class.interfaces.is_empty() {
        let own: Vec<&str> = class.interfaces.iter().flat_map(|i| i.methods()).map(Method::name).collect();
        let names: Vec<&str> = class.interfaces.iter().map(|i| i.name()).collect();
        let d = Diagnostic::error(format!("`{}` is a method of `{interface}`", known.name()));
        let d = d.at(method.name.span, format!("`{}` is a `{}`", class.name.name, names.join("`, `")));
        diags.push(d.hint(format!("`{}` has: {}", names.join("`, `"), own.join(", "))));
        return;
    }
    let is_void = method.result.base == BaseType::Basic(super::types::BasicType::Void);
    if !method.params.is_empty() || !is_void {
        let d = Diagnostic::error(format!("`{}` must take no arguments and return `void`", known.name()));
        let d = d.at(method.name.span, "called by the renderer");
        diags.push(d.hint(format!(
            "write `void {}()`; its inputs and outputs are the variables whose names begin with `rt_`",
            known.name()
        )));
    }
}

impl File {
    /// The class of that name.
    pub fn class(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|c| &*c.name.name == name)
    }

    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        match id {
            FunctionId::Free(i) => &self.ast.functions[i],
            FunctionId::Method(c, i) => &self.ast.classes[c].methods[i],
        }
    }

    /// A struct.
    pub fn structure(&self, id: usize) -> &ast::Struct {
        match self.structs[id] {
            (None, i) => &self.ast.structs[i],
            (Some(c), i) => &self.ast.classes[c].structs[i],
        }
    }

    /// A variable of a class, by its place in [`ClassInfo::variables`].
    pub fn variable(&self, class: usize, number: usize) -> &Variable {
        let (c, i) = self.classes[class].variables[number];
        &self.ast.classes[c].variables[i]
    }

    /// The class and its base classes, itself first.
    pub fn lineage(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(class), |c| self.classes[*c].base)
    }

    /// True if a class is another one, or is derived from it.
    pub fn comes_from(&self, class: usize, base: usize) -> bool {
        self.lineage(class).any(|c| c == base)
    }

    /// The functions that a name means in a class: methods of the class, those of its bases that it
    /// does not override, then functions before the first class.
    pub fn functions(&self, class: Option<usize>, name: &str) -> Vec<FunctionId> {
        let mut found: Vec<FunctionId> = Vec::new();
        for c in class.into_iter().flat_map(|c| self.lineage(c)) {
            let methods = self.ast.classes[c].methods.iter().enumerate();
            // Constructors are not inherited beside others.
            if name == CONSTRUCTOR && !found.is_empty() {
                break;
            }
            for (i, m) in methods.filter(|(_, m)| &*m.name.name == name && m.body.is_some()) {
                let is_overridden = found.iter().any(|f| same_types(self.function(*f), m));
                if !is_overridden {
                    found.push(FunctionId::Method(c, i));
                }
            }
        }
        let free = self.ast.functions.iter().enumerate().filter(|(_, f)| &*f.name.name == name && f.body.is_some());
        found.extend(free.map(|(i, _)| FunctionId::Free(i)));
        found
    }

    /// The method that the renderer calls.
    pub fn method(&self, class: usize, method: Method) -> Option<FunctionId> {
        self.functions(Some(class), method.name()).into_iter().find(|f| matches!(f, FunctionId::Method(..)))
    }

    /// The constructors of a class.
    pub fn constructors(&self, class: usize) -> Vec<FunctionId> {
        self.functions(Some(class), CONSTRUCTOR).into_iter().filter(|f| matches!(f, FunctionId::Method(..))).collect()
    }

    /// The values that a scene gives an object: the parameters of its constructor, or without one
    /// its public variables.
    pub fn parameters(&self, class: usize, constructor: Option<FunctionId>) -> Vec<(Arc<str>, &TypeName)> {
        match constructor {
            Some(id) => {
                let params = &self.function(id).params;
                params.iter().filter_map(|p| Some((p.name.as_ref()?.name.clone(), &p.ty))).collect()
            }
            None => {
                let all = (0..self.classes[class].variables.len()).map(|i| self.variable(class, i));
                all.filter(|v| v.qualifier == Qualifier::Public).map(|v| (v.name.name.clone(), &v.ty)).collect()
            }
        }
    }

    /// Names of all functions that are visible in a class.
    pub fn function_names(&self, class: Option<usize>) -> impl Iterator<Item = &str> {
        let methods = class.into_iter().flat_map(|c| self.lineage(c)).flat_map(|c| &self.ast.classes[c].methods);
        methods.chain(&self.ast.functions).map(|f| &*f.name.name)
    }

    /// The type that a name means in a class, but for the lengths of arrays.
    ///
    /// # Errors
    /// A diagnostic that names the type, when no interface, structure or class of this name is
    /// visible.
    pub fn base_type(&self, class: Option<usize>, ty: &TypeName) -> Result<Type, Diagnostic> {
        let name = match &ty.base {
            BaseType::Basic(basic) => return Ok(Type::Basic(*basic)),
            BaseType::Named(name) => name,
        };
        if let Some(interface) = Interface::named(name) {
            return Ok(Type::Object(Reference::Interface(interface)));
        }
        let visible = |owner: Option<usize>| match (owner, class) {
            (None, _) => true,
            (Some(owner), Some(class)) => self.comes_from(class, owner),
            (Some(_), None) => false,
        };
        let named = |id: &usize| self.structure(*id).name.name == *name && visible(self.structs[*id].0);
        if let Some(id) = (0..self.structs.len()).find(named) {
            return Ok(Type::Struct(id));
        }
        if let Some(class) = self.class(name) {
            return Ok(Type::Object(Reference::Class(class)));
        }
        let d = Diagnostic::error(format!("unknown type `{name}`")).at(ty.span, "not declared");
        let structs = (0..self.structs.len()).filter(|id| visible(self.structs[*id].0));
        let names = structs.map(|id| &*self.structure(id).name.name);
        let names = names.chain(self.classes.iter().map(|c| &*c.name.name));
        let names = names.chain(super::types::NAMES.iter().map(|n| n.0)).chain(Interface::ALL.iter().map(|i| i.name()));
        Err(match closest(name, names) {
            Some(guess) => d.hint(format!("did you mean `{guess}`?")),
            None => d,
        })
    }

    /// How a message writes a type.
    pub fn describe(&self, ty: &Type) -> String {
        match ty {
            Type::Basic(basic) => basic.to_string(),
            Type::Array(element, n) => format!("{}[{n}]", self.describe(element)),
            Type::Struct(id) => self.structure(*id).name.name.to_string(),
            Type::Object(Reference::Null) => "null".to_string(),
            Type::Object(Reference::Interface(interface)) => interface.name().to_string(),
            Type::Object(Reference::Class(class)) => self.classes[*class].name.name.to_string(),
        }
    }

    /// True if a reference of one type may refer to an object that another one refers to.
    pub fn refers(&self, to: Reference, from: Reference) -> bool {
        match (to, from) {
            (_, Reference::Null) => true,
            (Reference::Interface(a), Reference::Interface(b)) => a == b,
            (Reference::Interface(interface), Reference::Class(c)) => self.classes[c].interfaces.contains(&interface),
            (Reference::Class(base), Reference::Class(c)) => self.comes_from(c, base),
            (Reference::Class(_), Reference::Interface(_)) | (Reference::Null, _) => false,
        }
    }

    fn report_functions(&self, diags: &mut Diagnostics) {
        let of_classes = self.ast.classes.iter().map(|c| &c.methods);
        for list in of_classes.chain([&self.ast.functions]) {
            let defined: Vec<&Function> = list.iter().filter(|f| f.body.is_some()).collect();
            for (i, f) in defined.iter().enumerate() {
                let same = |o: &&&Function| o.name.name == f.name.name && same_types(o, f);
                if let Some(first) = defined[..i].iter().find(same) {
                    let d = Diagnostic::error(format!("`{}` is defined twice", f.name.name));
                    diags.push(d.at(f.name.span, "defined again").also(first.name.span, "defined first"));
                }
            }
        }
    }

    /// Reports structs that contain themselves: a struct may contain those before it.
    fn report_structs(&self, diags: &mut Diagnostics) {
        for (number, &(class, _)) in self.structs.iter().enumerate() {
            for member in &self.structure(number).members {
                match self.base_type(class, &member.ty) {
                    Ok(Type::Struct(inner)) if inner >= number => {
                        let d = Diagnostic::error("a struct can contain only structs declared before it");
                        diags.push(d.at(member.ty.span, "not declared before"));
                    }
                    Ok(_) => {}
                    Err(d) => diags.push(d),
                }
                if member.qualifier != Qualifier::Local || member.init.is_some() {
                    let d = Diagnostic::error("a member of a struct has no qualifier and no initial value");
                    diags.push(d.at(member.name.span, "declared here"));
                }
            }
        }
    }

    /// Reports materials with `sampleBSDF` and without `evaluatePDF`, or the reverse.
    fn report_sampling(&self, diags: &mut Diagnostics) {
        for (number, class) in self.classes.iter().enumerate() {
            let has = |method| self.method(number, method).is_some();
            let own = &self.ast.classes[number].methods;
            let [bsdf, sample, density] = [Method::Bsdf, Method::SampleBsdf, Method::EvaluatePdf];
            let is_its_own = own.iter().any(|m| [bsdf, sample, density].iter().any(|o| o.name() == &*m.name.name));
            if !is_its_own || !has(bsdf) || has(sample) == has(density) {
                continue;
            }
            let (given, lacking) = if has(sample) { (sample, density) } else { (density, sample) };
            let (name, given, lacking) = (&class.name.name, given.name(), lacking.name());
            let d = Diagnostic::error(format!("`{name}` has `{given}` and no `{lacking}`"));
            let d = d.at(class.name.span, "this class");
            diags.push(d.hint("`evaluatePDF` gives the pdf of the directions that `sampleBSDF` chooses; a class with neither gets cosine-weighted sampling"));
        }
    }

    /// The name of the file's class, for messages.
    pub fn class_name(&self, class: usize) -> &Arc<str> {
        &self.classes[class].name.name
    }
}

/// True if two functions take the same.
fn same_types(a: &Function, b: &Function) -> bool {
    let same =
        |(x, y): (&ast::Parameter, &ast::Parameter)| x.ty.base == y.ty.base && x.ty.lengths.len() == y.ty.lengths.len();
    a.params.len() == b.params.len() && a.params.iter().zip(&b.params).all(same)
}
