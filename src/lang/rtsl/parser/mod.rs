//! Parses tokens into a syntax tree, by recursive descent.
//!
//! After an error it continues after the next `;` or at the next `}`, so that one run finds all
//! errors. Depth is bounded by [`shadewright_base::tokens::MAX_NESTING`]; chains of operators and of
//! `else if` are parsed in loops and add no depth.

use super::ast::*;
use super::types::BasicType;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Cursor, Parse, Stop, Tok, Token};

mod expressions;
mod statements;

/// The words of GLSL for rasterization only, and the reasons why they have no place here.
const UNSUPPORTED: [(&str, &str); 9] = [
    ("attribute", "objects have no attributes of vertices: a class has `public` variables"),
    ("varying", "nothing is interpolated between programs: a class has `scratch` variables"),
    ("uniform", "what is the same for all rays is a `public` variable of a class"),
    ("discard", "rays cannot be discarded: a transparent material traces a ray with `trace`"),
    ("sampler1D", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("sampler2D", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("sampler3D", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("samplerCube", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("invariant", "all back ends give the same values anyway"),
];

/// Parses a file's tokens, the last of which is [`Tok::End`]. Errors go to `diags`; what could be
/// read is returned.
pub fn parse(tokens: &[Token], diags: &mut Diagnostics) -> Ast {
    let mut parser = Parser { cursor: Cursor::new(tokens, diags), ast: Ast::default() };
    parser.file();
    parser.ast
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    ast: Ast,
}

/// The words before a declaration.
#[derive(Clone, Copy, Debug)]
struct Words {
    qualifier: Option<Qualifier>,
    unit: bool,
}

impl Parser<'_> {
    // --- declarations ---

    fn file(&mut self) {
        while !self.cursor.at_end() {
            if self.cursor.accept(";") {
                continue;
            }
            let start = self.cursor.at;
            if self.declaration().is_err() {
                self.cursor.depth = 0;
                self.cursor.recover();
                // A brace that closes nothing.
                if self.cursor.is("}") {
                    self.cursor.bump();
                }
            }
            if self.cursor.at == start {
                self.cursor.bump();
            }
        }
    }

    fn declaration(&mut self) -> Parse<()> {
        let start = self.cursor.span();
        if self.cursor.accept("class") {
            return self.class();
        }
        if self.cursor.accept("struct") {
            return self.structure();
        }
        let words = self.words()?;
        let ty = self.type_name("a declaration")?;
        let name = match (self.cursor.tok(), &ty.base) {
            // A constructor of GLSL's kind has no result of its own: `void constructor(…)`, but
            // people leave that out.
            (Tok::Punct("("), BaseType::Named(name)) if **name == *"constructor" => {
                Ident { name: name.clone(), span: ty.span }
            }
            _ => self.cursor.ident("a name")?,
        };
        if self.cursor.is("(") {
            return self.function(start, ty, name);
        }
        let variables = self.variables(words, ty, name, words.qualifier.unwrap_or(Qualifier::Private))?;
        match self.ast.classes.last_mut() {
            Some(class) => class.variables.extend(variables),
            None => {
                for v in variables {
                    if v.qualifier != Qualifier::Const {
                        let d = Diagnostic::error("only constants can be declared before the first class");
                        let d = d.at(v.name.span, "a variable outside of a class");
                        self.cursor.report(
                            d.hint("declare it `const`, or declare a class before it: `class Name : rt_Material;`"),
                        );
                    }
                    self.ast.constants.push(v);
                }
            }
        }
        Ok(())
    }

    /// `class Name : Base, Interface;`
    fn class(&mut self) -> Parse<()> {
        let name = self.cursor.ident("the name of the class")?;
        let mut bases = Vec::new();
        if self.cursor.accept(":") {
            loop {
                bases.push(self.cursor.ident("a class or an interface")?);
                if !self.cursor.accept(",") {
                    break;
                }
            }
        }
        if let Some(first) = self.ast.classes.iter().find(|c| c.name.name == name.name) {
            let d = Diagnostic::error(format!("the class `{}` is declared twice", name.name));
            let d = d.at(name.span, "declared again").also(first.name.span, "declared first");
            self.cursor.report(d);
        }
        let (variables, methods, structs) = Default::default();
        self.ast.classes.push(ClassDecl { name, bases, variables, methods, structs });
        if self.cursor.is("{") {
            let d = Diagnostic::error("unexpected `{` after the head of a class");
            return self.cursor.fail(
                d.at(self.cursor.span(), "a class has no braces")
                    .hint("a class extends to the next one: `class Name : rt_Material;`"),
            );
        }
        self.cursor.expect(";", "after the declaration of a class").map(drop)
    }

    /// `struct Name { members };`
    fn structure(&mut self) -> Parse<()> {
        let name = self.cursor.ident("the struct's name")?;
        self.cursor.expect("{", "before the members")?;
        let mut members = Vec::new();
        while !self.cursor.accept("}") {
            if self.cursor.at_end() || self.beginning().is_some() {
                let d = Diagnostic::error("unclosed struct").at(name.span, "no matching `}`");
                return self.cursor.fail(d);
            }
            let words = self.words()?;
            let ty = self.type_name("a member")?;
            let first = self.cursor.ident("the name of a member")?;
            members.extend(self.variables(words, ty, first, Qualifier::Local)?);
        }
        self.cursor.expect(";", "after the struct")?;
        if members.is_empty() {
            self.cursor.report(Diagnostic::error("a struct needs at least one member").at(name.span, "no members"));
        }
        let list = self.ast.classes.last_mut().map_or(&mut self.ast.structs, |class| &mut class.structs);
        list.push(Struct { name, members });
        Ok(())
    }

    /// `const public private scratch unit`, in any order.
    fn words(&mut self) -> Parse<Words> {
        let mut words = Words { qualifier: None, unit: false };
        loop {
            let qualifier = match self.cursor.tok() {
                Tok::Keyword("const") => Some(Qualifier::Const),
                Tok::Keyword("public") => Some(Qualifier::Public),
                Tok::Keyword("private") => Some(Qualifier::Private),
                Tok::Keyword("scratch") => Some(Qualifier::Scratch),
                Tok::Keyword("unit") => None,
                _ => return Ok(words),
            };
            let span = self.cursor.bump();
            match qualifier {
                // `public const` is a constant.
                Some(new) => {
                    words.qualifier = match words.qualifier {
                        None | Some(Qualifier::Public | Qualifier::Private) if new == Qualifier::Const => Some(new),
                        None => Some(new),
                        Some(Qualifier::Const) if matches!(new, Qualifier::Public | Qualifier::Private) => {
                            Some(Qualifier::Const)
                        }
                        Some(_) => {
                            let d = Diagnostic::error("conflicting storage qualifiers");
                            return self.cursor.fail(d.at(span, "a variable has at most one"));
                        }
                    }
                }
                None => words.unit = true,
            }
        }
    }

    /// A type, with the lengths of an array after it: `float[2]`.
    fn type_name(&mut self, what: &str) -> Parse<TypeName> {
        let span = self.cursor.span();
        if let Tok::Name(name) | Tok::Stray(name) = self.cursor.tok().clone()
            && let Some(why) = unsupported(&name)
        {
            let d = Diagnostic::error(format!("`{name}` is not supported: {why}"));
            return self.cursor.fail(d.at(span, "a keyword of GLSL for rasterization"));
        }
        if let Tok::Keyword(word) = *self.cursor.tok()
            && let Some(why) = unsupported(word)
        {
            let d = Diagnostic::error(format!("`{word}` is not supported: {why}"));
            return self.cursor.fail(d.at(span, "a keyword of GLSL for rasterization"));
        }
        let Tok::Name(name) = self.cursor.tok().clone() else {
            let d = Diagnostic::error(format!("expected {what}, found {}", self.cursor.tok().describe()));
            return self.cursor.fail(d.at(span, "expected a type"));
        };
        self.cursor.bump();
        let base = BasicType::named(&name).map_or(BaseType::Named(name), BaseType::Basic);
        let mut ty = TypeName { base, lengths: Vec::new(), span };
        self.lengths(&mut ty)?;
        Ok(ty)
    }

    /// `[2]` after a type or a name.
    fn lengths(&mut self, ty: &mut TypeName) -> Parse<()> {
        while self.cursor.accept("[") {
            let length = if self.cursor.is("]") { None } else { Some(self.expr()?) };
            self.cursor.expect("]", "after the length of the array")?;
            ty.lengths.push(length);
        }
        ty.span = ty.span.to(self.cursor.previous());
        Ok(())
    }

    /// The variables of a declaration, up to and including `;`; the first's name has been read.
    fn variables(&mut self, words: Words, ty: TypeName, first: Ident, usual: Qualifier) -> Parse<Vec<Variable>> {
        let mut list = Vec::new();
        let mut name = first;
        loop {
            let mut own = ty.clone();
            self.lengths(&mut own)?;
            let init = if self.cursor.accept("=") { Some(self.assignment()?) } else { None };
            let qualifier = words.qualifier.unwrap_or(usual);
            list.push(Variable { name, ty: own, qualifier, unit: words.unit, init });
            if !self.cursor.accept(",") {
                break;
            }
            name = self.cursor.ident("the name of a variable")?;
        }
        self.cursor.expect(";", "after the declaration")?;
        Ok(list)
    }

    /// A function, from its parameters on.
    fn function(&mut self, start: Span, result: TypeName, name: Ident) -> Parse<()> {
        self.cursor.expect("(", "before the parameters")?;
        let mut params = Vec::new();
        if matches!((self.cursor.tok(), self.cursor.tok_ahead(1)), (Tok::Name(n), Tok::Punct(")")) if **n == *"void") {
            self.cursor.bump();
        }
        while !self.cursor.accept(")") {
            params.push(self.parameter()?);
            if !self.cursor.is(")") {
                self.cursor.expect(",", "between parameters")?;
            }
        }
        let body = if self.cursor.accept(";") {
            None
        } else {
            let open = self.cursor.expect("{", "before the statements of the function")?;
            Some(self.block(open))
        };
        let function = Function { span: start.to(self.cursor.previous()), name, result, params, body };
        let list = self.ast.classes.last_mut().map_or(&mut self.ast.functions, |class| &mut class.methods);
        list.push(function);
        Ok(())
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let (mut direction, mut constant, mut unit) = (Direction::In, false, false);
        loop {
            match self.cursor.tok() {
                Tok::Keyword("in") => direction = Direction::In,
                Tok::Keyword("out") => direction = Direction::Out,
                Tok::Keyword("inout") => direction = Direction::InOut,
                Tok::Keyword("const") => constant = true,
                Tok::Keyword("unit") => unit = true,
                _ => break,
            }
            self.cursor.bump();
        }
        let mut ty = self.type_name("the type of a parameter")?;
        let name = if let Tok::Name(_) = self.cursor.tok() { Some(self.cursor.ident("a name")?) } else { None };
        self.lengths(&mut ty)?;
        Ok(Parameter { name, ty, direction, constant, unit })
    }
}

/// Why a word of GLSL has no place here.
fn unsupported(word: &str) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|l| l.0 == word).map(|l| l.1)
}

#[cfg(test)]
mod tests;
