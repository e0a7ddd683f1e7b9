//! Reads tokens into a syntax tree, by recursive descent.
//!
//! After an error it continues after the next `;` or at the next `}`, so that one run finds all of
//! them. Depth is bounded by [`MAX_NESTING`]; chains of operators and of `else if` are read in
//! loops and cost no depth.

use super::ast::*;
use super::check::RESIZING;
use crate::types::{MAX_ARRAY, OPEN, RESIZABLE, SourceType, StorageClass};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Cursor, MAX_NESTING, Parse, Stop, Tok, Token};
use std::collections::HashSet;
use std::sync::Arc;

mod expressions;
mod objects;
mod statements;

/// A type as a declaration names it: one of the language, or a struct, for which
/// [`SourceType::Float`] stands in.
type TypeName = (SourceType, Option<Ident>);

/// Parses a file's tokens, the last of which is [`Tok::End`]. Errors go to `diags`; what could be
/// read is returned.
pub fn parse(tokens: &[Token], diags: &mut Diagnostics) -> Ast {
    let ast = Ast::default();
    let (around, resized, structs) = (Vec::new(), resized(tokens), Vec::new());
    let mut parser = Parser { cursor: Cursor::new(tokens, diags), unclosed: false, around, resized, structs, ast };
    parser.file();
    drop_repeated(&mut parser.ast);
    parser.ast
}

/// Keeps one of the functions that stand at one place: of a header that is included twice.
fn drop_repeated(ast: &mut Ast) {
    let mut seen: HashSet<(Arc<str>, Span, Vec<SourceType>, SourceType)> = HashSet::new();
    ast.definitions.retain(|d| {
        let types = d.params.iter().map(|p| p.ty).collect();
        d.shader.is_some() || seen.insert((d.name.name.clone(), d.name.span, types, d.result))
    });
}

/// The names of variables that calls change the length of.
fn resized(tokens: &[Token]) -> HashSet<Arc<str>> {
    let changes = |w: &[Token]| match (&w[0].tok, &w[1].tok, &w[2].tok) {
        (Tok::Name(f), Tok::Punct("("), Tok::Name(variable)) if RESIZING.contains(&&**f) => Some(variable.clone()),
        _ => None,
    };
    tokens.windows(3).filter_map(changes).collect()
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// True if the text ended within a block.
    unclosed: bool,
    /// The definitions that are being read, the innermost last.
    around: Vec<Around>,
    /// Names of variables that calls change the length of: those of them that are declared without
    /// a length may grow and shrink.
    resized: HashSet<Arc<str>>,
    /// The members of each struct as they stand in the text.
    structs: Vec<&'a [Token]>,
    ast: Ast,
}

/// A definition that is being read.
struct Around {
    name: Arc<str>,
    /// The functions within it so far.
    functions: Vec<Inner>,
    /// Variables of the definition around it that it names `extern`.
    captured: Vec<Decl>,
}

/// A nested function, of a function or a shader.
struct Inner {
    /// The name in the text.
    name: Arc<str>,
    /// The name among all definitions.
    full: Arc<str>,
    /// The variables around it that it uses.
    captured: Vec<Decl>,
}

/// Words that start a shader, with what they make.
pub const SHADER_WORDS: [(&str, Option<ShaderKind>); 8] = [
    ("surface", Some(ShaderKind::Surface)),
    ("light", Some(ShaderKind::Light)),
    ("lightsource", Some(ShaderKind::Light)),
    ("imager", Some(ShaderKind::Imager)),
    ("volume", Some(ShaderKind::Volume)),
    ("displacement", Some(ShaderKind::Displacement)),
    ("transformation", None),
    ("projection", None),
];

/// The kind of shader that a word starts: `lightsource` starts a light.
pub fn shader_kind(word: &str) -> Option<ShaderKind> {
    SHADER_WORDS.iter().find(|(w, _)| *w == word).and_then(|(_, kind)| *kind)
}

impl Parser<'_> {
    /// Where what was just read ends: beyond everything if a block in it never does.
    fn end(&self) -> Span {
        match self.unclosed {
            true => Span { start: u32::MAX, end: u32::MAX, ..self.cursor.previous() },
            false => self.cursor.previous(),
        }
    }

    /// Skips to the end of the definition in which an error was found.
    fn recover_definition(&mut self) {
        let mut open = 0usize;
        while !self.cursor.at_end() {
            if self.cursor.is("{") {
                open += 1;
            } else if self.cursor.is("}") {
                open = open.saturating_sub(1);
                if open == 0 {
                    self.cursor.bump();
                    return;
                }
            }
            self.cursor.bump();
        }
    }

    // --- definitions ---

    fn file(&mut self) {
        while !self.cursor.at_end() {
            if self.cursor.accept(";") {
                continue;
            }
            let start = self.cursor.at;
            if self.definition().is_err() {
                self.cursor.depth = 0;
                self.recover_definition();
            }
            if self.cursor.at == start {
                self.cursor.bump();
            }
        }
    }

    fn shader_word(&self) -> Option<(&'static str, Option<ShaderKind>)> {
        match (self.cursor.tok(), self.cursor.tok_ahead(1)) {
            (Tok::Name(n), Tok::Name(_)) => SHADER_WORDS.iter().find(|(w, _)| *w == &**n).copied(),
            _ => None,
        }
    }

    fn definition(&mut self) -> Parse<()> {
        let start = self.cursor.span();
        if let Some((word, kind)) = self.shader_word() {
            let span = self.cursor.bump();
            // It moves points, as a displacement shader does, and compiles like one.
            let kind = kind.unwrap_or_else(|| {
                let d = Diagnostic::warning(format!("{word} shaders are never called"))
                    .at(span, "rays are straight and geometry is transformed by matrices");
                self.cursor.report(d);
                ShaderKind::Displacement
            });
            let name = self.cursor.ident("the shader's name")?;
            return self.rest_of_definition(start, name, Some(kind), (SourceType::Void, None));
        }
        match (self.cursor.tok(), self.cursor.tok_ahead(1)) {
            (Tok::Name(word), Tok::Name(_)) if &**word == "class" => return self.class(start),
            (Tok::Name(word), Tok::Name(_)) if &**word == "struct" => return self.structure(),
            _ => {}
        }
        if let (Tok::Name(word), Tok::String(name)) = (self.cursor.tok(), self.cursor.tok_ahead(1))
            && &**word == "plugin"
        {
            let name = name.clone();
            self.cursor.bump();
            let span = self.cursor.bump();
            self.ast.plugins.push(Ident { name, span });
            return self.cursor.expect(";", "after the name of the plugin").map(drop);
        }
        self.qualifiers(false)?;
        let result = self.type_here();
        if result.is_some() {
            self.cursor.bump();
        } else if let (Tok::Name(word), Tok::Name(_)) = (self.cursor.tok(), self.cursor.tok_ahead(1)) {
            let message = format!("expected a shader or a function, found `{word}`");
            let words = SHADER_WORDS.iter().map(|(w, _)| *w).chain(["class", "struct"]);
            let structs = self.ast.structs.iter().map(|s| &*s.name.name);
            let hint = closest(word, words.chain(structs).chain(SourceType::DECLARABLE.iter().map(|t| t.name())));
            let mut d = Diagnostic::error(message).at(self.cursor.span(), "expected a kind of shader or a type");
            if let Some(h) = hint {
                d = d.hint(format!("did you mean `{h}`?"));
            }
            return self.cursor.fail(d);
        }
        let name = self.cursor.ident("a shader or a function")?;
        if !self.cursor.is("(") {
            let d = Diagnostic::error("only shaders and functions are allowed at file scope");
            return self.cursor.fail(d.at(name.span, "expected `(` after this name"));
        }
        self.rest_of_definition(start, name, None, result.unwrap_or((SourceType::Float, None)))
    }

    /// A definition from its parameters on.
    fn rest_of_definition(
        &mut self,
        start: Span,
        name: Ident,
        shader: Option<ShaderKind>,
        (result, structure): TypeName,
    ) -> Parse<()> {
        self.cursor.expect("(", "before the parameters")?;
        let mut params = match (self.cursor.tok(), self.cursor.tok_ahead(1)) {
            (Tok::Name(_), Tok::Punct("," | ")")) => self.formals_after_names()?,
            (Tok::Keyword("void"), Tok::Punct(")")) => {
                self.cursor.bump();
                self.cursor.bump();
                Vec::new()
            }
            _ => {
                let params = self.formals()?;
                self.cursor.expect(")", "after the parameters")?;
                params
            }
        };
        if shader.is_none() && self.cursor.accept(";") {
            // Functions may be called before they are defined: a declaration says nothing new.
            return Ok(());
        }
        let open = self.cursor.expect("{", "before the statements")?;
        self.around.push(Around { name: name.name.clone(), functions: Vec::new(), captured: Vec::new() });
        let body = self.block_rest();
        let captured = self.around.pop().map_or_else(Vec::new, |around| around.captured);
        let body = body?;
        let end = self.end();
        let span = start.to(end);
        if let Some(known) = self.around.last_mut().and_then(|around| around.functions.last_mut()) {
            known.captured.clone_from(&captured);
        }
        let count = captured.len();
        params.extend(captured);
        let (captured, light) = (count, None);
        let d = Definition { span, name, shader, light, result, structure, params, captured, open, body, end };
        self.ast.definitions.push(d);
        Ok(())
    }

    /// A function within a definition, from its name on: it becomes a definition of its own, which
    /// only this one can call.
    fn inner_function(&mut self, start: Span, result: TypeName) -> Parse<()> {
        let Ident { name, span } = self.cursor.ident("the function's name")?;
        let Some(around) = self.around.last_mut() else { return Err(Stop) };
        let full: Arc<str> = format!("{}.{name}", around.name).into();
        around.functions.push(Inner { name, full: full.clone(), captured: Vec::new() });
        self.rest_of_definition(start, Ident { name: full, span }, None, result)
    }

    /// The definition that a call of `name` means: a function within one of those around, or one of
    /// the file.
    fn callee(&mut self, name: Arc<str>) -> Arc<str> {
        let found = self.around.iter().enumerate().rev().find_map(|(level, around)| {
            around.functions.iter().rev().find(|f| f.name == name).map(|f| (level, f.full.clone(), f.captured.clone()))
        });
        let Some((level, full, captured)) = found else { return name };
        // What a function beside this one needs comes through this one.
        for around in &mut self.around[level + 1..] {
            let new = captured.iter().filter(|d| !around.captured.iter().any(|c| c.name.name == d.name.name));
            let new: Vec<Decl> = new.cloned().collect();
            around.captured.extend(new);
        }
        full
    }

    /// The type that the next word names: one of the language, or a struct.
    fn type_here(&self) -> Option<TypeName> {
        match self.cursor.tok() {
            Tok::Keyword(word) => SourceType::from_keyword(word).map(|ty| (ty, None)),
            // A variable that holds a shader is the text of its handle: of null, which is all there
            // is, the empty one.
            Tok::Name(word) if &**word == "shader" && matches!(self.cursor.tok_ahead(1), Tok::Name(_)) => {
                Some((SourceType::String, None))
            }
            Tok::Name(name) if matches!(self.cursor.tok_ahead(1), Tok::Name(_)) && self.is_struct(name) => {
                Some((SourceType::Float, Some(Ident { name: name.clone(), span: self.cursor.span() })))
            }
            _ => None,
        }
    }

    fn is_struct(&self, name: &str) -> bool {
        self.ast.structs.iter().any(|s| *s.name.name == *name)
    }

    /// True if the next word is `constant` and starts a declaration: it is no keyword.
    fn is_constant(&self) -> bool {
        matches!((self.cursor.tok(), self.cursor.tok_ahead(1)), (Tok::Name(word), Tok::Keyword(_)) if &**word == "constant")
    }

    /// Reads `output`, `extern`, `uniform`, `varying`, `constant` in any order. What is constant is
    /// uniform.
    fn qualifiers(&mut self, outputs: bool) -> Parse<(bool, bool, Option<StorageClass>)> {
        let (mut output, mut external, mut class) = (false, false, None);
        loop {
            let span = self.cursor.span();
            if self.cursor.is("output") && outputs {
                output = true;
            } else if self.cursor.is("extern") {
                external = true;
            } else if self.cursor.is("uniform") || self.cursor.is("varying") || self.is_constant() {
                let new = if self.cursor.is("varying") { StorageClass::Varying } else { StorageClass::Uniform };
                if class.is_some_and(|c| c != new) {
                    let d = Diagnostic::error("conflicting storage classes `uniform` and `varying`");
                    return self.cursor.fail(d.at(span, "the second one"));
                }
                class = Some(new);
            } else {
                return Ok((output, external, class));
            }
            self.cursor.bump();
        }
    }

    fn formals(&mut self) -> Parse<Vec<Decl>> {
        let mut params: Vec<Decl> = Vec::new();
        let mut current: Option<(bool, Option<StorageClass>, TypeName)> = None;
        loop {
            while self.cursor.accept(";") || self.cursor.accept(",") {}
            if self.cursor.is(")") || self.cursor.is("{") || self.cursor.at_end() {
                return Ok(params);
            }
            let (output, _, class) = self.qualifiers(true)?;
            if let Some(ty) = self.type_here() {
                if ty.0 == SourceType::Void {
                    let d = Diagnostic::error("a parameter cannot be `void`")
                        .at(self.cursor.span(), "not a type of values");
                    return self.cursor.fail(d);
                }
                self.cursor.bump();
                // `float uniform x` is seen in old files.
                let (late_output, _, late_class) = self.qualifiers(true)?;
                current = Some((output || late_output, class.or(late_class), ty));
            }
            let Some((output, class, (ty, structure))) = current.clone() else {
                let found = self.cursor.tok().describe();
                let d = Diagnostic::error(format!("expected the type of a parameter, found {found}"));
                return self.cursor.fail(d.at(self.cursor.span(), "expected a type"));
            };
            let name = self.cursor.ident("the parameter's name")?;
            let (ty, init) = self.rest_of_variable(ty)?;
            params.push(Decl { structure, class, output, init, ..Decl::variable(name, ty) });
            if !(self.cursor.is(";") || self.cursor.is(",") || self.cursor.is(")")) {
                let found = self.cursor.tok().describe();
                let d = Diagnostic::error(format!("expected `;`, `,` or `)` after a parameter, found {found}"));
                return self.cursor.fail(d.at(self.cursor.span(), "the parameter ends before this"));
            }
        }
    }

    /// Parameters as the oldest shaders have them: their names in parentheses, then declarations up
    /// to the brace. One without a declaration is a float.
    fn formals_after_names(&mut self) -> Parse<Vec<Decl>> {
        let mut names = Vec::new();
        while !self.cursor.accept(")") {
            names.push(self.cursor.ident("the parameter's name")?);
            if !self.cursor.is(")") {
                self.cursor.expect(",", "between the names of parameters")?;
            }
        }
        let mut declared = self.formals()?;
        let mut params = Vec::new();
        for name in names {
            let found = declared.iter().position(|d| d.name.name == name.name);
            params.push(found.map_or_else(|| Decl::variable(name, SourceType::Float), |i| declared.remove(i)));
        }
        match declared.into_iter().next() {
            Some(Decl { name, .. }) => {
                let d = Diagnostic::error(format!("`{}` is not a parameter", name.name));
                self.cursor.fail(d.at(name.span, "not in the list of names"))
            }
            None => Ok(params),
        }
    }

    /// Parses what follows the name of a variable: `[length]`, and `=` with a value, or values in
    /// braces.
    fn rest_of_variable(&mut self, ty: SourceType) -> Parse<(SourceType, Option<ExprId>)> {
        let start = self.cursor.span();
        let len = if self.cursor.accept("[") { Some(self.length(start)?) } else { None };
        let start = start.to(self.cursor.previous());
        let init = match self.cursor.accept("=") {
            true if len.is_some() => Some(self.values()?),
            true => Some(self.expr()?),
            false => None,
        };
        let Some(len) = len else { return Ok((ty, init)) };
        match ty.array(len) {
            Some(array) => Ok((array, init)),
            None => {
                self.cursor.fail(Diagnostic::error(format!("arrays of {ty} are not supported")).at(start, "an array"))
            }
        }
    }

    /// The length of an array, up to and including `]`: [`OPEN`] where there is none.
    fn length(&mut self, start: Span) -> Parse<u32> {
        if self.cursor.accept("]") {
            return Ok(OPEN);
        }
        let e = self.expr()?;
        self.cursor.expect("]", "after the length")?;
        let place = start.to(self.cursor.previous());
        match self.constant(e) {
            Some(n) if n.fract() == 0.0 && (1.0..=MAX_ARRAY as f32).contains(&n) => Ok(n as u32),
            Some(n) => {
                let d = Diagnostic::error(format!("the length of an array must be from 1 to {MAX_ARRAY}"));
                self.cursor.fail(d.at(place, format!("this is {n}")))
            }
            None => {
                let d = Diagnostic::error("the length of an array must be a constant");
                self.cursor.fail(d.at(place, "known at run time only"))
            }
        }
    }

    /// The values of an array in braces, or another array.
    fn values(&mut self) -> Parse<ExprId> {
        if !self.cursor.is("{") {
            return self.expr();
        }
        let start = self.cursor.bump();
        let mut list = Vec::new();
        while !self.cursor.accept("}") {
            list.push(self.expr()?);
            if !self.cursor.is("}") {
                self.cursor.expect(",", "between the values of an array")?;
            }
        }
        let span = start.to(self.cursor.previous());
        Ok(self.add(ExprKind::Array(list), span))
    }

    /// The value of an expression of numbers; `None` when it is not constant.
    fn constant(&self, e: ExprId) -> Option<f32> {
        match self.ast.expr(e).kind {
            ExprKind::Number(x) => Some(x),
            ExprKind::Unary(UnaryOp::Neg, a) => Some(-self.constant(a)?),
            ExprKind::Cast(SourceType::Float, _, a) => self.constant(a),
            ExprKind::Binary(..) => {
                // Chains of operators lean to the left and may be long.
                let (mut at, mut right) = (e, Vec::new());
                while let ExprKind::Binary(op, l, r) = self.ast.expr(at).kind {
                    right.push((op, r));
                    at = l;
                }
                let first = self.constant(at)?;
                right.into_iter().rev().try_fold(first, |a, (op, r)| {
                    let b = self.constant(r)?;
                    match op {
                        BinaryOp::Add => Some(a + b),
                        BinaryOp::Sub => Some(a - b),
                        BinaryOp::Mul => Some(a * b),
                        BinaryOp::Div => Some(a / b),
                        _ => None,
                    }
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
