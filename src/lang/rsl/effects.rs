//! Effect analysis: which predefined variables each function reads and writes, directly or through
//! its calls.
//!
//! In the IR a function is pure: what it reads is a parameter, what it writes a result. This
//! analysis finds both before lowering. It does not choose among overloads with equally many
//! parameters, so it may find too many, never too few.

use super::ast::*;
use super::builtins::Builtin;
use super::coshader_calls;
use super::lower::FILE_PAIRS;
use super::queries;
use super::spaces;
use crate::coshaders;
use crate::globals;
use crate::types::SourceType;
use shadewright_ir::abi::input;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Predefined variables that a piece of a program touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Read; a variable that may be written only on some paths counts as read too.
    pub reads: BTreeSet<&'static str>,
    /// Written.
    pub writes: BTreeSet<&'static str>,
    /// True if co-shaders run, which see what there is of [`coshaders::inputs`].
    pub runs_coshaders: bool,
}

impl Effects {
    /// The variables that are inputs of a function: it passes on those that it does not write on
    /// every path.
    pub fn inputs(&self) -> BTreeSet<&'static str> {
        let mut inputs = self.needed();
        if self.runs_coshaders {
            inputs.extend(coshaders::inputs().map(|g| g.name));
        }
        inputs
    }

    /// The inputs that must be there, whatever the kind of shader.
    pub fn needed(&self) -> BTreeSet<&'static str> {
        self.reads.union(&self.writes).copied().collect()
    }

    fn absorb(&mut self, other: &Effects) -> bool {
        let size = |e: &Effects| (e.reads.len(), e.writes.len(), e.runs_coshaders);
        let before = size(self);
        self.reads.extend(other.reads.union(&other.writes));
        self.writes.extend(&other.writes);
        self.runs_coshaders |= other.runs_coshaders;
        before != size(self)
    }
}

/// The intrinsic by which the library reads a named input that no variable can be called, as
/// `__input("ray.width")`.
pub const INPUT: &str = "__input";

/// Arguments of `gather` that stand before pairs of a name and a value.
pub const GATHER_ARGUMENTS: usize = 5;

/// The functions of the library that `gather` is made of, with the number of their parameters.
const GATHER_CALLS: [(&str, usize); 6] = [
    ("__count", 1),
    ("__direction", 6),
    ("__gather", 7),
    ("__gather_answer", 5),
    ("__points_near", 8),
    ("__points_channel", 2),
];

/// The functions of point clouds, whose calls name channels.
pub const POINT_CLOUDS: [&str; 3] = ["bake", "bake3d", "texture3d"];

/// The functions of the library that `texture3d` is made of, with the number of their parameters.
const TEXTURE3D_CALLS: [(&str, usize); 3] = [("__points_reach", 4), ("__points_channel", 2), ("__points_value", 5)];

/// The one that `bake3d` needs.
const BAKE3D_CALL: (&str, usize) = ("__sample_radius", 1);

/// A call's name and number of arguments.
type Call = (Arc<str>, usize);

/// The effects of every definition, in order.
pub fn definition_effects(ast: &Ast) -> Vec<Effects> {
    let mut effects = Vec::new();
    let mut calls = Vec::new();
    for d in &ast.definitions {
        let mut walk = Walk { ast, scopes: vec![HashMap::new()], effects: Effects::default(), calls: HashSet::new() };
        // Defaults of parameters belong to functions of their own.
        walk.scopes[0].extend(d.params.iter().map(|p| (p.name.name.clone(), p.ty)));
        walk.statements(&d.body);
        effects.push(walk.effects);
        calls.push(walk.calls);
    }
    let mut by_call: HashMap<Call, Vec<usize>> = HashMap::new();
    for (i, d) in ast.definitions.iter().enumerate().filter(|(_, d)| d.shader.is_none()) {
        by_call.entry((d.name.name.clone(), d.declared().len())).or_default().push(i);
    }
    let callees: Vec<Vec<usize>> = calls
        .iter()
        .map(|calls| {
            let mut list: Vec<usize> = calls.iter().filter_map(|c| by_call.get(c)).flatten().copied().collect();
            list.sort_unstable();
            list
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (i, list) in callees.iter().enumerate() {
            for &callee in list.iter().filter(|c| **c != i) {
                let other = effects[callee].clone();
                changed |= effects[i].absorb(&other);
            }
        }
    }
    effects
}

/// The effects of one expression, without those of functions it calls: a default, with the
/// parameters before it.
pub fn default_effects(ast: &Ast, before: &[Decl], e: ExprId) -> Effects {
    let scope = before.iter().map(|p| (p.name.name.clone(), p.ty)).collect();
    let mut walk = Walk { ast, scopes: vec![scope], effects: Effects::default(), calls: HashSet::new() };
    walk.expr(e);
    walk.effects
}

struct Walk<'a> {
    ast: &'a Ast,
    /// Declared variables and their types, innermost scope last.
    scopes: Vec<HashMap<Arc<str>, SourceType>>,
    effects: Effects,
    calls: HashSet<Call>,
}

impl Walk<'_> {
    fn global(&self, name: &str) -> Option<&'static str> {
        let hidden = self.scopes.iter().any(|s| s.contains_key(name));
        globals::find(name).filter(|_| !hidden).map(|g| g.name)
    }

    /// The type of a declared variable.
    fn type_of(&self, name: &str) -> Option<SourceType> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    fn statements(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.statement(s));
    }

    fn scope(&mut self, names: &[(&str, SourceType)], body: impl FnOnce(&mut Self)) {
        self.scopes.push(names.iter().map(|(name, ty)| (Arc::from(*name), *ty)).collect());
        body(self);
        self.scopes.pop();
    }

    fn statement(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Declare(decls) => {
                for d in decls {
                    d.init.iter().for_each(|e| self.expr(*e));
                    if d.external {
                        self.effects.reads.extend(self.global(&d.name.name));
                    } else if let Some(scope) = self.scopes.last_mut() {
                        scope.insert(d.name.name.clone(), d.ty);
                    }
                }
            }
            StmtKind::Block(list) => self.scope(&[], |w| w.statements(list)),
            StmtKind::For { .. } => self.scope(&[], |w| {
                if let StmtKind::For { init: Some(init), .. } = &s.kind {
                    w.statement(init);
                }
                s.exprs().into_iter().for_each(|e| w.expr(e));
                if let StmtKind::For { body, .. } = &s.kind {
                    w.statement(body);
                }
            }),
            StmtKind::Illuminance(args, body) => {
                args.iter().for_each(|e| self.expr(*e));
                self.effects.reads.insert("N");
                let light = [("L", SourceType::Vector), ("Cl", SourceType::Color), ("Ol", SourceType::Color)];
                self.scope(&light, |w| w.statement(body));
            }
            StmtKind::Gather(args, ..) => {
                args.iter().for_each(|e| self.expr(*e));
                // Variables after names receive parts of the rays, or values of points.
                for pair in args.iter().skip(GATHER_ARGUMENTS).collect::<Vec<_>>().chunks(2) {
                    let [name, value] = pair else { continue };
                    match (&self.ast.expr(**name).kind, &self.ast.expr(**value).kind) {
                        (ExprKind::String(name), ExprKind::String(space)) if **name == *"coordsystem" => {
                            self.space(space);
                        }
                        (_, ExprKind::Name(n)) => {
                            let written = self.global(n);
                            self.effects.writes.extend(written);
                        }
                        _ => {}
                    }
                }
                self.calls.extend(GATHER_CALLS.map(|(name, count)| (name.into(), count)));
                s.children().into_iter().for_each(|c| self.scope(&[], |w| w.statement(c)));
            }
            StmtKind::Illuminate(..) | StmtKind::Solar(..) => {
                s.exprs().into_iter().for_each(|e| self.expr(e));
                self.effects.reads.extend(["Ps", "Ns"]);
                self.effects.writes.insert("L");
                s.children().into_iter().for_each(|c| self.scope(&[], |w| w.statement(c)));
            }
            _ => {
                s.exprs().into_iter().for_each(|e| self.expr(e));
                s.children().into_iter().for_each(|c| self.scope(&[], |w| w.statement(c)));
            }
        }
    }

    fn expr(&mut self, e: ExprId) {
        let mut list = vec![e];
        while let Some(e) = list.pop() {
            let kind = &self.ast.expr(e).kind;
            kind.for_each_child(|c| list.push(c));
            match kind {
                ExprKind::Name(n) => self.effects.reads.extend(self.global(n)),
                ExprKind::Assign(op, target, _) => {
                    let global = self.global(&target.name.name);
                    self.effects.writes.extend(global);
                    self.effects.reads.extend(global.filter(|_| op.is_some() || !target.indices.is_empty()));
                }
                ExprKind::Index(place) => self.effects.reads.extend(self.global(&place.name.name)),
                ExprKind::Cast(_, Some(space), _) => {
                    self.space(&space.name);
                }
                ExprKind::Call(f, args) => {
                    if let (INPUT, [name]) = (&*f.name, &args[..])
                        && let ExprKind::String(name) = &self.ast.expr(*name).kind
                    {
                        self.effects.reads.extend(globals::find(name).map(|g| g.name));
                    }
                    self.calls.insert((f.name.clone(), args.len()));
                    let pairs = self.ast.named_pairs(args);
                    let fits = |b: &&Builtin| b.positional(args.len(), pairs).is_some();
                    for b in super::builtins::by_name(&f.name).iter().filter(fits) {
                        self.calls.extend(b.library().map(|(name, count)| (name.into(), count)));
                    }
                    self.effects.runs_coshaders |=
                        coshader_calls::Call::parse(&f.name).is_some_and(|(call, _)| call.runs());
                    if matches!(&*f.name, "occlusion" | "indirectdiffuse") {
                        self.baked_light(args);
                    }
                    if POINT_CLOUDS.contains(&&*f.name) {
                        self.point_cloud(&f.name, args);
                    }
                    if &*f.name == "rayinfo" {
                        self.effects.reads.extend(queries::RAY_INPUTS);
                    }
                    if spaces::TRANSFORMS.contains(&&*f.name) {
                        self.transform(args);
                    }
                    // An argument may be an output parameter, which writes it.
                    for a in args {
                        let name = match &self.ast.expr(*a).kind {
                            ExprKind::Name(n) => Some(n),
                            ExprKind::Index(place) => Some(&place.name.name),
                            _ => None,
                        };
                        if let Some(n) = name {
                            let written = self.global(n).filter(|_| self.has_outputs(&f.name, args.len()));
                            self.effects.writes.extend(written);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the needs of a call of `occlusion` or `indirectdiffuse` that names a point cloud: the
    /// look-up, and the function that traces rays, with fewer arguments.
    fn baked_light(&mut self, args: &[ExprId]) {
        let Some((_, rest)) = self.ast.without_pairs(args, &FILE_PAIRS) else { return };
        self.calls.extend(TEXTURE3D_CALLS.map(|(name, count)| (name.into(), count)));
        let pairs = self.ast.named_pairs(&rest);
        for name in ["occlusion", "indirectdiffuse"] {
            let fits = |b: &&Builtin| b.positional(rest.len(), pairs).is_some();
            for b in super::builtins::by_name(name).iter().filter(fits) {
                self.calls.extend(b.library().map(|(name, count)| (name.into(), count)));
            }
        }
    }

    /// Adds the reads and writes of a call of one of [`POINT_CLOUDS`]: the library's functions of
    /// which it is made, variables that follow names, and what surfaces bake.
    fn point_cloud(&mut self, name: &str, args: &[ExprId]) {
        if name == "texture3d" {
            self.calls.extend(TEXTURE3D_CALLS.map(|(name, count)| (name.into(), count)));
        } else {
            self.calls.insert((BAKE3D_CALL.0.into(), BAKE3D_CALL.1));
            self.effects.writes.insert(input::BAKED);
        }
        for pair in args.rchunks_exact(2) {
            let ExprKind::String(option) = &self.ast.expr(pair[0]).kind else { break };
            let value = self.ast.expr(pair[1]);
            match (&**option, &value.kind) {
                ("coordsystem", ExprKind::String(space)) => self.space(space),
                (_, ExprKind::Name(variable)) if name == "texture3d" => {
                    let written = self.global(variable);
                    self.effects.writes.extend(written);
                }
                _ => {}
            }
        }
    }

    fn space(&mut self, name: &str) {
        if let spaces::Space::Input(names) = spaces::space(name) {
            self.effects.reads.extend(names);
        }
    }

    /// Adds the reads of `transform` with these arguments: where the name of a system is known only
    /// when the shader runs, it may be any.
    fn transform(&mut self, args: &[ExprId]) {
        for &e in args.iter().rev().skip(1) {
            match &self.ast.expr(e).kind {
                ExprKind::String(name) => self.space(name),
                _ if self.is_matrix(e) => {}
                _ => ["shader", "object"].into_iter().for_each(|name| self.space(name)),
            }
        }
    }

    /// True if an argument that is a matrix or the name of a system is a matrix for sure.
    fn is_matrix(&self, e: ExprId) -> bool {
        match &self.ast.expr(e).kind {
            ExprKind::Name(name) => self.type_of(name) == Some(SourceType::Matrix),
            ExprKind::Index(place) => {
                let element = self.type_of(&place.name.name).and_then(|ty| ty.indexed(place.indices.len()));
                element == Some(SourceType::Matrix)
            }
            ExprKind::Call(f, _) => {
                let own = self.ast.definitions.iter().filter(|d| d.shader.is_none() && d.name.name == f.name);
                let mut results: Vec<SourceType> = super::builtins::by_name(&f.name).iter().map(|b| b.result).collect();
                results.extend(own.map(|d| d.result).chain(super::check::special_result(&f.name)));
                !results.is_empty() && !results.contains(&SourceType::String)
            }
            ExprKind::Ternary(_, a, b) => self.is_matrix(*a) && self.is_matrix(*b),
            // No operator takes texts.
            ExprKind::Tuple(_) | ExprKind::Cast(..) | ExprKind::Binary(..) | ExprKind::Unary(..) => true,
            _ => false,
        }
    }

    /// True if some function of that name has output parameters.
    fn has_outputs(&self, name: &str, count: usize) -> bool {
        let mut functions = self.ast.definitions.iter().filter(|d| d.shader.is_none() && &*d.name.name == name);
        super::builtins::has_outputs(name)
            || coshader_calls::Call::parse(name).is_some_and(|(call, _)| call.writes())
            || queries::source(name).is_some()
            || functions.any(|d| d.declared().len() == count && d.declared().iter().any(|p| p.output))
    }
}
