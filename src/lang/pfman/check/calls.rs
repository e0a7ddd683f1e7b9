//! Calls: of the file's functions, of which the one that fits best is chosen, and of built-in ones.

use super::super::builtins::{self, Builtin};
use super::*;

impl Check<'_> {
    pub(super) fn call(&mut self, name: &Ident, args: &[ExprId], span: Span) -> Checked<NodeId> {
        let file = self.file;
        let own: Vec<usize> = (0..file.functions.len())
            .filter(|&n| {
                let d = &file.functions[n].declaration;
                // A prototype of a function that is built in says nothing new.
                let is_there = d.body.is_some() || builtins::by_name(&name.name).next().is_none();
                d.name.name == name.name && d.shader.is_none() && is_there
            })
            .collect();
        if own.is_empty() && builtins::by_name(&name.name).next().is_some() {
            return self.builtin(name, args, span);
        }
        if own.is_empty() {
            return self.unknown_function(name, args);
        }
        let mut nodes = Vec::new();
        for e in args {
            nodes.push(self.expr(*e));
        }
        let nodes = nodes.into_iter().collect::<Checked<Vec<NodeId>>>()?;
        let number = self.chosen(name, &own, &nodes, span)?;
        let declaration = &file.functions[number].declaration;
        if declaration.body.is_none() && file.functions[number].host.is_none() {
            return self.not_defined(name, declaration);
        }
        let (mut converted, mut places) = (Vec::new(), Vec::new());
        for ((p, &node), &e) in declaration.params.iter().zip(&nodes).zip(args) {
            places.push(match p.output {
                true => {
                    let place = self.place(e)?;
                    if place.ty != p.ty {
                        let message = format!(
                            "the output `{}` of type {} is given to one of type {}",
                            p.name.name, p.ty, place.ty
                        );
                        let d = Diagnostic::error(message).at(self.ast.expr(e).span, "a variable of another type");
                        return self.error(d);
                    }
                    Some(place)
                }
                false => None,
            });
            converted.push(self.converted(node, &p.ty)?);
        }
        self.body.calls.insert(number);
        let class = declaration.class.unwrap_or_else(|| {
            converted.iter().map(|n| self.body.node(*n).class).max().unwrap_or(StorageClass::Uniform)
        });
        let kind = NodeKind::Call(number, converted, places);
        Ok(self.add(kind, declaration.result.clone(), class, span))
    }

    fn unknown_function<T>(&mut self, name: &Ident, args: &[ExprId]) -> Checked<T> {
        for e in args {
            let _: Checked<NodeId> = self.expr(*e);
        }
        if self.broken {
            return Err(Poison);
        }
        let mut d = Diagnostic::error(format!("unknown function `{}`", name.name)).at(name.span, "not defined");
        let own = self.file.functions.iter().filter(|f| f.declaration.shader.is_none());
        let names = own.map(|f| &*f.declaration.name.name).chain(builtins::ROWS.iter().map(|row| row.name));
        if self.file.functions.iter().any(|f| f.declaration.name.name == name.name) {
            d = d.hint("shaders are not called: the renderer runs them");
        } else if let Some(guess) = closest(&name.name, names) {
            d = d.hint(format!("did you mean `{guess}`?"));
        }
        self.error(d)
    }

    fn not_defined<T>(&mut self, name: &Ident, declaration: &ast::Function) -> Checked<T> {
        let is_host = declaration.linkage.is_some_and(|(l, _)| l.host);
        let message = match is_host {
            true => format!("the host has no function `{}`", name.name),
            false => format!("`{}` is declared, and not defined", name.name),
        };
        let d = Diagnostic::error(message).at(name.span, "called here").also(declaration.name.span, "declared here");
        self.error(match is_host {
            true => d.hint("define it in the file, or register it with the host"),
            false => d.hint("include the file that defines it"),
        })
    }

    /// The cost of giving a value of one type to a parameter of another: the cheapest function is
    /// called. `None` where it cannot be given.
    fn cost(&self, node: NodeId, p: &ast::Variable) -> Option<u32> {
        let node = self.body.node(node);
        if node.ty.dims() != p.ty.dims() || node.ty == Type::Void {
            return None;
        }
        let conversion = match (node.ty.scalar(), p.ty.scalar()) {
            (a, b) if a == b => 0,
            (Scalar::Float, Scalar::Float) => 0,
            (Scalar::Float, _) => 40,
            (_, Scalar::Float) => 20,
            (a, b) => {
                let (a, b) = (a.fixed()?, b.fixed()?);
                // Of types that hold all numbers the smallest is best.
                if a.common(b) == b { 2 + (b.bits() - a.bits().min(b.bits())).min(15) } else { 30 }
            }
        };
        let class = match (p.class, node.class) {
            (Some(StorageClass::Uniform), StorageClass::Varying) => return None,
            (Some(StorageClass::Uniform), _) => 0,
            (_, StorageClass::Varying) => 0,
            _ => 1,
        };
        Some(conversion + class)
    }

    fn chosen(&mut self, name: &Ident, own: &[usize], nodes: &[NodeId], span: Span) -> Checked<usize> {
        let file = self.file;
        let mut best: Vec<usize> = Vec::new();
        let mut least = u32::MAX;
        for &number in own {
            let params = &file.functions[number].declaration.params;
            if params.len() != nodes.len() {
                continue;
            }
            let cost = params.iter().zip(nodes).try_fold(0, |sum, (p, node)| Some(sum + self.cost(*node, p)?));
            match cost {
                Some(cost) if cost < least => (least, best) = (cost, vec![number]),
                Some(cost) if cost == least => best.push(number),
                _ => {}
            }
        }
        if let [one] = best[..] {
            return Ok(one);
        }
        let given: Vec<String> = nodes
            .iter()
            .map(|n| {
                let node = self.body.node(*n);
                let class = if node.class == StorageClass::Varying { "varying " } else { "" };
                format!("{class}{}", node.ty)
            })
            .collect();
        let (message, list) = match best.is_empty() {
            true => (format!("no function `{}` takes ({})", name.name, given.join(", ")), own),
            false => (format!("several functions `{}` take ({})", name.name, given.join(", ")), &best[..]),
        };
        let mut d = Diagnostic::error(message).at(span, "this call");
        for &number in list.iter().take(8) {
            d = d.hint(format!("candidate: {}", described(&file.functions[number].declaration)));
        }
        self.error(d)
    }

    /// The identifier of a texture: a parameter of the shader, or the name of a file.
    fn texture(&mut self, e: ExprId) -> Checked<NodeId> {
        let span = self.ast.expr(e).span;
        if let ExprKind::String(text) = &self.ast.expr(e).kind {
            return Ok(self.add(NodeKind::Text(text.clone()), Type::FLOAT, StorageClass::Constant, span));
        }
        if let ExprKind::Name(name) = &self.ast.expr(e).kind {
            let id = self.find(name, span)?;
            let variable = self.body.variable(id);
            let is_parameter = matches!(variable.origin, Origin::Parameter(_)) && self.shader().is_some();
            if is_parameter && variable.ty.is_number() && variable.class != StorageClass::Varying {
                self.body.textures.insert(id);
                return Ok(self.add(NodeKind::Texture(id), Type::FLOAT, StorageClass::Uniform, span));
            }
        }
        let d = Diagnostic::error("a texture is named by a uniform parameter of the shader, or by its file");
        self.error(d.at(span, "neither"))
    }

    fn builtin(&mut self, name: &Ident, args: &[ExprId], span: Span) -> Checked<NodeId> {
        let takes_texture = builtins::by_name(&name.name).any(|row| row.signature.starts_with('t'));
        let mut nodes = Vec::new();
        for (i, e) in args.iter().enumerate() {
            nodes.push(if i == 0 && takes_texture { self.texture(*e) } else { self.expr(*e) });
        }
        let nodes = nodes.into_iter().collect::<Checked<Vec<NodeId>>>()?;
        let types: Vec<Type> = nodes.iter().map(|n| self.body.node(*n).ty.clone()).collect();
        let found = builtins::by_name(&name.name).find_map(|row| Some((row, row.fit(&types)?)));
        let Some((row, fit)) = found else {
            let given: Vec<String> = types.iter().map(Type::to_string).collect();
            let message = format!("`{}` does not take ({})", name.name, given.join(", "));
            let d = Diagnostic::error(message).at(span, "this call");
            let rows: Vec<&Builtin> = builtins::by_name(&name.name).collect();
            return self.error(rows.iter().fold(d, |d, row| d.hint(format!("it is {}", row.describe()))));
        };
        let mut converted = Vec::new();
        for (&node, ty) in nodes.iter().zip(&fit.params) {
            let is_texture = matches!(self.body.node(node).kind, NodeKind::Texture(_) | NodeKind::Text(_));
            converted.push(if is_texture { node } else { self.converted(node, ty)? });
        }
        self.body.reads.extend(row.reads());
        self.body.library.extend(row.library_source());
        let depends =
            !row.reads().is_empty() || matches!(row.name, "ambient" | "diffuse" | "specular" | "phong" | "area");
        let of_args = converted.iter().map(|n| self.body.node(*n).class).max().unwrap_or(StorageClass::Uniform);
        let class = if depends { StorageClass::Varying } else { of_args };
        Ok(self.add(NodeKind::Builtin(row, converted), fit.result, class, span))
    }
}

/// How a message writes a function.
fn described(f: &ast::Function) -> String {
    let params: Vec<String> = f
        .params
        .iter()
        .map(|p| {
            let class = if p.class == Some(StorageClass::Uniform) { "uniform " } else { "" };
            format!("{class}{}", p.ty)
        })
        .collect();
    format!("{} {}({})", f.result, f.name.name, params.join(", "))
}
