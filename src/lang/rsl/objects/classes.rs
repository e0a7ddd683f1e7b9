//! Classes of shaders.
//!
//! A class becomes a shader of each kind that its methods are for, and its methods become
//! functions. What they share, the parameters and the variables of the class, are variables of the
//! shader, which a method takes as those of a function around it: see [`Definition::captured`]. The
//! shader calls the methods in PRMan's order (PRMan's application note on shader objects and
//! co-shaders): `construct`, `begin`, `displacement`, `opacity`, then `surface`, or the methods of
//! lighting.

use super::super::builtins;
use super::super::check::RESIZING;
use super::super::coshader_calls::Call;
use super::super::effects;
use super::coshaders::IS_COSHADER;
use super::scene_queries;
use super::*;
use crate::globals;
use crate::unit::LightKind;
use shadewright_ir::abi::ShaderKind;
use shadewright_ir::abi::ShaderKind::*;
use shadewright_ir::abi::input;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The class whose method is taken apart.
pub(super) struct Around {
    name: Arc<str>,
    /// Names of its variables and parameters, without those of structs' members.
    variables: HashSet<Arc<str>>,
    /// The names of the methods with the numbers of their parameters.
    methods: BTreeSet<(Arc<str>, usize)>,
    /// The method; empty outside of methods.
    method: Arc<str>,
    /// The queries that methods ask.
    pub queries: Vec<scene_queries::Query>,
    /// True if a method asks if it is called as one of a co-shader.
    pub asks_whether_coshader: bool,
}

impl Around {
    /// The new name of a method's own variable of that name, where it hides one of the class.
    pub fn renamed(&self, name: &str) -> Option<Arc<str>> {
        self.variables.contains(name).then(|| format!("{}.{name}", self.method).into())
    }

    /// True if a variable of the class has that name.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// True if there is a method of that name with so many parameters.
    pub fn has_method(&self, name: &str, params: usize) -> bool {
        self.methods.iter().any(|m| *m.0 == *name && m.1 == params)
    }

    /// The class.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// True if a method is taken apart.
    pub fn is_in_method(&self) -> bool {
        !self.method.is_empty()
    }

    /// The names of all methods.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().map(|m| &*m.0)
    }

    /// A method's name among all definitions.
    pub fn method(&self, f: &Ident) -> Ident {
        Ident { name: format!("{}.{}", self.name, f.name).into(), span: f.span }
    }
}

/// The methods that a renderer calls, in order, with the predefined variables that it passes, and
/// the kinds of shaders that have them.
const STANDARD: [(&str, &[&str], &[ShaderKind]); 12] = [
    ("construct", &[], &ShaderKind::ALL),
    ("begin", &[], &ShaderKind::ALL),
    ("displacement", &["P", "N"], &[Surface, Displacement]),
    ("opacity", &["Oi"], &[Surface]),
    ("prelighting", &["Ci", "Oi"], &[Surface]),
    ("lighting", &["Ci", "Oi"], &[Surface]),
    ("diffuselighting", &["Ci", "Oi"], &[Surface]),
    ("specularlighting", &["Ci", "Oi"], &[Surface]),
    ("postlighting", &["Ci", "Oi"], &[Surface]),
    ("surface", &["Ci", "Oi"], &[Surface]),
    ("volume", &["Ci", "Oi"], &[Volume]),
    ("light", &["L", "Cl"], &[Light]),
];

/// The kinds of shaders that a class may become, and the methods of which it has one then.
const KINDS: [(ShaderKind, &[&str]); 4] = [
    (
        Surface,
        &["opacity", "prelighting", "lighting", "diffuselighting", "specularlighting", "postlighting", "surface"],
    ),
    (Displacement, &["displacement"]),
    (Volume, &["volume"]),
    (Light, &["light"]),
];

/// The methods of which one takes the place of `surface`.
const LIGHTING: [&str; 3] = ["lighting", "diffuselighting", "specularlighting"];

/// The variables that statements declare.
pub(super) fn declared(body: &[Stmt]) -> impl Iterator<Item = &Decl> {
    body.iter().flat_map(|s| if let StmtKind::Declare(list) = &s.kind { &list[..] } else { &[] })
}

/// Variables of a class that a method uses, itself or through others.
#[derive(Clone, Debug, Default, PartialEq)]
struct Uses {
    reads: BTreeSet<Arc<str>>,
    writes: BTreeSet<Arc<str>>,
    calls: BTreeSet<Arc<str>>,
}

impl Flattening<'_> {
    /// The shaders and functions of a class.
    pub(super) fn class(&mut self, class: ShaderClass, done: &mut Vec<Definition>) {
        let short = |d: &Definition| Arc::from(d.name.name.rsplit('.').next().unwrap_or_default());
        let methods = class.methods.iter().map(|d| (short(d), d.declared().len())).collect();
        let (name, variables) = (class.name.name.clone(), HashSet::new());
        let (queries, asks_whether_coshader) = (Vec::new(), false);
        self.class = Some(Around { name, variables, methods, method: "".into(), queries, asks_whether_coshader });
        self.scopes.push(HashMap::new());
        self.refuse_structs(&class.params);
        let params = self.parameters(class.params);
        let mut body = Vec::new();
        self.declare(class.members, class.name.span, &mut body);
        let names: HashSet<Arc<str>> = self.scopes.last().into_iter().flat_map(|s| s.keys()).cloned().collect();
        let mut functions = Vec::new();
        for d in class.methods {
            if let Some(around) = &mut self.class {
                around.variables.clone_from(&names);
                around.method = short(&d);
            }
            functions.push(self.definition(d));
        }
        self.scopes.pop();
        if let Some(around) = self.class.take() {
            for q in &around.queries {
                let answers = self.answer_variables(q);
                body.push(Stmt { kind: StmtKind::Declare(answers), span: class.name.span });
                functions.push(self.answer(&class.name.name, q));
            }
            if around.asks_whether_coshader {
                let name = Ident { name: IS_COSHADER.into(), span: class.name.span };
                body.push(Stmt {
                    kind: StmtKind::Declare(vec![Decl::variable(name, SourceType::Float)]),
                    span: class.name.span,
                });
            }
        }
        let variables: Vec<Decl> = params.iter().chain(declared(&body)).cloned().collect();
        self.capture(&mut functions, &variables, done);
        let shader = Definition {
            span: class.span,
            name: class.name,
            shader: None,
            light: None,
            result: SourceType::Void,
            structure: None,
            params,
            captured: 0,
            open: class.open,
            body,
            end: class.end,
        };
        let shaders = self.shaders(&shader, &functions);
        let cores = self.cores(&shader, &functions, &class.public);
        // The errors of a class's first shader are reported.
        let sure = done.len() + functions.len() + shaders.len().min(1);
        done.extend(functions);
        done.extend(shaders);
        done.extend(cores);
        self.drop_impossible(done, sure);
    }

    /// Gives methods the variables of their class that they use.
    fn capture(&self, methods: &mut [Definition], variables: &[Decl], others: &[Definition]) {
        let names: BTreeSet<Arc<str>> = variables.iter().map(|d| d.name.name.clone()).collect();
        let with_outputs: HashSet<Arc<str>> = methods
            .iter()
            .chain(others)
            .filter(|d| d.declared().iter().any(|p| p.output))
            .map(|d| d.name.name.clone())
            .collect();
        let mut uses: BTreeMap<Arc<str>, Uses> = BTreeMap::new();
        for d in methods.iter() {
            self.uses(d, &names, &with_outputs, uses.entry(d.name.name.clone()).or_default());
        }
        loop {
            let before = uses.clone();
            for of_one in uses.values_mut() {
                for called in of_one.calls.clone().iter().filter_map(|f| before.get(f)) {
                    of_one.reads.extend(called.reads.iter().cloned());
                    of_one.writes.extend(called.writes.iter().cloned());
                }
            }
            if uses == before {
                break;
            }
        }
        for d in methods {
            let Some(used) = uses.get(&d.name.name) else { continue };
            for v in variables {
                let output = used.writes.contains(&v.name.name);
                if output || used.reads.contains(&v.name.name) {
                    d.params.push(Decl { output, init: None, ..v.clone() });
                    d.captured += 1;
                }
            }
        }
    }

    /// Adds the uses of a method itself: its own variables have other names.
    fn uses(&self, d: &Definition, names: &BTreeSet<Arc<str>>, with_outputs: &HashSet<Arc<str>>, uses: &mut Uses) {
        let writes = |f: &str| {
            let is_coshader = Call::parse(f).is_some_and(|(call, _)| call.writes());
            let is_built_in =
                builtins::has_outputs(f) || queries::source(f).is_some() || RESIZING.contains(&f) || is_coshader;
            is_built_in || with_outputs.contains(f)
        };
        let variable = |e: ExprId| self.ast.place(e).map(|p| p.name.name).filter(|n| names.contains(n));
        let mut statements: Vec<&Stmt> = d.body.iter().collect();
        let mut exprs = Vec::new();
        while let Some(s) = statements.pop() {
            statements.extend(s.children());
            exprs.extend(s.exprs());
            // Variables after names receive messages, or parts of rays.
            if let StmtKind::Gather(args, ..) | StmtKind::Illuminance(args, _) = &s.kind {
                uses.writes.extend(args.iter().filter_map(|&e| variable(e)));
            }
        }
        while let Some(e) = exprs.pop() {
            let kind = &self.ast.expr(e).kind;
            match kind {
                ExprKind::Name(_) | ExprKind::Index(_) => uses.reads.extend(variable(e)),
                ExprKind::Assign(_, place, _) if names.contains(&place.name.name) => {
                    uses.writes.insert(place.name.name.clone());
                }
                ExprKind::Call(f, args) => {
                    uses.calls.insert(f.name.clone());
                    if writes(&f.name) {
                        uses.writes.extend(args.iter().filter_map(|&e| variable(e)));
                    }
                }
                _ => {}
            }
            kind.for_each_child(|c| exprs.push(c));
        }
    }

    /// The shaders of a class: `shader` with the calls of its methods after its variables.
    fn shaders(&mut self, shader: &Definition, methods: &[Definition]) -> Vec<Definition> {
        let find = |name: &str| {
            let full = format!("{}.{name}", shader.name.name);
            methods.iter().find(|d| *d.name.name == *full)
        };
        let has_lighting = LIGHTING.iter().any(|name| find(name).is_some());
        let mut shaders = Vec::new();
        for (kind, of_kind) in KINDS {
            if !of_kind.iter().any(|name| find(name).is_some()) {
                continue;
            }
            let mut d = Definition { shader: Some(kind), ..shader.clone() };
            for (name, args, kinds) in STANDARD {
                let is_replaced = match name {
                    "surface" => has_lighting,
                    "diffuselighting" | "specularlighting" => find("lighting").is_some(),
                    _ => false,
                };
                let Some(method) = find(name).filter(|_| kinds.contains(&kind) && !is_replaced) else { continue };
                let span = method.name.span;
                let args = args.iter().map(|arg| self.add(ExprKind::Name((*arg).into()), span)).collect();
                let call = self.add(ExprKind::Call(method.name.clone(), args), span);
                let call = Stmt { kind: StmtKind::Expr(call), span };
                match (name, kind) {
                    ("displacement", Surface) => d.body.extend(self.once(call)),
                    _ => d.body.push(call),
                }
            }
            if let Some(light) = find("light").filter(|_| kind == Light) {
                d.light = Some(self.shines(light));
            }
            shaders.push(d);
        }
        shaders
    }

    /// The call of a surface's displacement method: where that has moved the points of the mesh
    /// already, it runs for what it leaves in variables of the class alone.
    fn once(&mut self, call: Stmt) -> Vec<Stmt> {
        let span = call.span;
        let of_mesh = [("P", SourceType::Point), ("N", SourceType::Normal)];
        let kept = |name: &str| Ident { name: format!("displacement.{name}").into(), span };
        let declared = of_mesh.map(|(name, ty)| {
            let init = Some(self.add(ExprKind::Name(name.into()), span));
            Decl { init, ..Decl::variable(kept(name), ty) }
        });
        let restored = of_mesh.map(|(name, _)| {
            let value = self.add(ExprKind::Name(kept(name).name), span);
            let place = LValue::variable(Ident { name: name.into(), span });
            let assign = self.add(ExprKind::Assign(None, place, value), span);
            Stmt { kind: StmtKind::Expr(assign), span }
        });
        let done = self.add(ExprKind::String(input::DISPLACED.into()), span);
        let done = self.add(ExprKind::Call(Ident { name: effects::INPUT.into(), span }, vec![done]), span);
        let restore = Stmt { kind: StmtKind::Block(restored.to_vec()), span };
        let declare = Stmt { kind: StmtKind::Declare(declared.to_vec()), span };
        vec![declare, call, Stmt { kind: StmtKind::If(vec![(done, restore)], None), span }]
    }

    /// How a light of a class shines, whose method is given `L`: everywhere alike where it leaves
    /// that alone, else from a point.
    fn shines(&self, method: &Definition) -> LightKind {
        let Some(direction) = method.params.first() else { return LightKind::Ambient };
        let names = BTreeSet::from([direction.name.name.clone()]);
        let mut uses = Uses::default();
        self.uses(method, &names, &HashSet::new(), &mut uses);
        if uses.writes.is_empty() { LightKind::Ambient } else { LightKind::Positional }
    }

    /// Drops shaders of a class, after the first `sure` definitions, whose methods use variables
    /// that shaders of that kind do not have.
    fn drop_impossible(&mut self, done: &mut Vec<Definition>, sure: usize) {
        std::mem::swap(&mut self.ast.definitions, done);
        let effects = effects::definition_effects(self.ast);
        std::mem::swap(&mut self.ast.definitions, done);
        let mut place = 0;
        done.retain(|d| {
            place += 1;
            let has = |name: &&str| d.shader.is_none_or(|kind| globals::find(name).is_none_or(|g| g.in_kind(kind)));
            place <= sure || effects[place - 1].needed().iter().all(has)
        });
    }
}
