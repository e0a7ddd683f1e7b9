//! Reads tokens into a syntax tree, by recursive descent.
//!
//! After an error it goes on behind the next `;` or at the next `}`, so that one run finds all of them. Depth is bounded by [`MAX_NESTING`]; chains of operators and of `else if` are read in loops and
//! cost no depth.

use super::ast::*;
use super::lexer::{Tok, Token};
use super::types::BasicType;
use crate::lang::diag::{Diagnostic, Diagnostics};
use crate::lang::source::Span;

mod expressions;
mod statements;

/// How deep expressions and statements may nest.
pub const MAX_NESTING: usize = 256;

/// Most errors that are told.
const MAX_ERRORS: usize = 100;

/// An error was reported; the caller looks for a place to go on.
struct Stop;

type Parse<T> = Result<T, Stop>;

/// What GLSL has for rasterisation only, and why it has no place here.
const LEFT_OUT: [(&str, &str); 9] = [
    ("attribute", "objects have no attributes of vertices: a class has `public` variables"),
    ("varying", "nothing is interpolated between programs: a class has `scratch` variables"),
    ("uniform", "what is the same for all rays is a `public` variable of a class"),
    ("discard", "a ray cannot be taken back: a material gives what lies behind it by `trace`"),
    ("sampler1D", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("sampler2D", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("sampler3D", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("samplerCube", "textures are objects: a variable of the type `rt_Texture` refers to one"),
    ("invariant", "all machines give the same values anyway"),
];

/// Parses a file's tokens, the last of which is [`Tok::End`]. Errors go to `diags`; what could be read is returned.
pub fn parse(tokens: &[Token], diags: &mut Diagnostics) -> Ast {
    let mut parser = Parser { tokens, at: 0, depth: 0, fatal: false, ast: Ast::default(), diags };
    parser.file();
    parser.ast
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// Whether nesting was too deep: going on would only repeat that.
    fatal: bool,
    ast: Ast,
    diags: &'a mut Diagnostics,
}

/// The words before a declaration.
#[derive(Clone, Copy, Debug)]
struct Words {
    keeping: Option<Keeping>,
    unit: bool,
}

impl Parser<'_> {
    // --- tokens ---

    fn tok(&self) -> &Tok {
        self.tok_ahead(0)
    }

    fn tok_ahead(&self, n: usize) -> &Tok {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].tok
    }

    fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    fn is(&self, text: &str) -> bool {
        matches!(self.tok(), Tok::Punct(p) | Tok::Keyword(p) if *p == text)
    }

    fn accept(&mut self, text: &str) -> bool {
        let yes = self.is(text);
        if yes {
            self.bump();
        }
        yes
    }

    fn expect(&mut self, text: &str, after: &str) -> Parse<Span> {
        if self.is(text) {
            return Ok(self.bump());
        }
        let d = Diagnostic::error(format!("expected `{text}` {after}, found {}", self.tok().describe()));
        // A forgotten `;` belongs to the end of the line before.
        let previous = self.previous();
        let d = match text {
            ";" => d.at(Span { start: previous.end, ..previous }, "`;` is missing here"),
            _ => d.at(self.span(), format!("expected `{text}`")),
        };
        self.fail(d)
    }

    fn ident(&mut self, what: &str) -> Parse<Ident> {
        if let Tok::Name(name) = self.tok() {
            let name = name.clone();
            return Ok(Ident { name, span: self.bump() });
        }
        let d = Diagnostic::error(format!("expected {what}, found {}", self.tok().describe()));
        let d = d.at(self.span(), format!("expected {what}"));
        let d = match self.tok() {
            Tok::Keyword(k) => d.hint(format!("`{k}` is a word of the language and names nothing else")),
            _ => d,
        };
        self.fail(d)
    }

    fn report(&mut self, d: Diagnostic) {
        if !self.fatal && self.diags.error_count() < MAX_ERRORS {
            self.diags.push(d);
        }
    }

    fn fail<T>(&mut self, d: Diagnostic) -> Parse<T> {
        self.report(d);
        Err(Stop)
    }

    fn enter(&mut self) -> Parse<()> {
        self.depth += 1;
        if self.depth <= MAX_NESTING {
            return Ok(());
        }
        let d = Diagnostic::error(format!("this nests more than {MAX_NESTING} levels deep"))
            .at(self.span(), "one level too many")
            .hint("move inner parts to variables or functions");
        self.report(d);
        self.fatal = true;
        self.at = self.tokens.len() - 1;
        Err(Stop)
    }

    fn at_end(&self) -> bool {
        matches!(self.tok(), Tok::End)
    }

    /// Skips to behind the next `;` or to the next `}` of this block; blocks in between are skipped whole.
    fn recover(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                if open == 0 {
                    return;
                }
                open -= 1;
                if open == 0 {
                    self.bump();
                    return;
                }
            } else if self.is(";") && open == 0 {
                self.bump();
                return;
            }
            self.bump();
        }
    }

    // --- declarations ---

    fn file(&mut self) {
        while !self.at_end() {
            if self.accept(";") {
                continue;
            }
            let start = self.at;
            if self.declaration().is_err() {
                self.depth = 0;
                self.recover();
                // A brace that closes nothing.
                if self.is("}") {
                    self.bump();
                }
            }
            if self.at == start {
                self.bump();
            }
        }
    }

    fn declaration(&mut self) -> Parse<()> {
        let start = self.span();
        if self.accept("class") {
            return self.class();
        }
        if self.accept("struct") {
            return self.structure();
        }
        let words = self.words()?;
        let ty = self.type_name("a declaration")?;
        let name = match (self.tok(), &ty.base) {
            // A constructor of GLSL's kind has no result of its own: `void constructor(…)`, but people leave that out.
            (Tok::Punct("("), BaseType::Named(name)) if **name == *"constructor" => {
                Ident { name: name.clone(), span: ty.span }
            }
            _ => self.ident("a name")?,
        };
        if self.is("(") {
            return self.function(start, ty, name);
        }
        let variables = self.variables(words, ty, name, words.keeping.unwrap_or(Keeping::Private))?;
        match self.ast.classes.last_mut() {
            Some(class) => class.variables.extend(variables),
            None => {
                for v in variables {
                    if v.keeping != Keeping::Const {
                        let d = Diagnostic::error("only constants stand before the first class");
                        let d = d.at(v.name.span, "a variable of no class");
                        self.report(d.hint("`const` makes it one, or a class before it: `class Name : rt_Material;`"));
                    }
                    self.ast.constants.push(v);
                }
            }
        }
        Ok(())
    }

    /// `class Name : Base, Interface;`
    fn class(&mut self) -> Parse<()> {
        let name = self.ident("the name of the class")?;
        let mut bases = Vec::new();
        if self.accept(":") {
            loop {
                bases.push(self.ident("a class or an interface")?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        if let Some(first) = self.ast.classes.iter().find(|c| c.name.name == name.name) {
            let d = Diagnostic::error(format!("the class `{}` is declared twice", name.name));
            let d = d.at(name.span, "declared again").also(first.name.span, "declared first");
            self.report(d);
        }
        let (variables, methods, structs) = Default::default();
        self.ast.classes.push(Class { name, bases, variables, methods, structs });
        if self.is("{") {
            let d = Diagnostic::error("a class has no braces: all up to the next class belongs to it");
            return self.fail(d.at(self.span(), "not here").hint("`class Name : rt_Material;`"));
        }
        self.expect(";", "behind the declaration of a class").map(drop)
    }

    /// `struct Name { members };`
    fn structure(&mut self) -> Parse<()> {
        let name = self.ident("the struct's name")?;
        self.expect("{", "before the members")?;
        let mut members = Vec::new();
        while !self.accept("}") {
            if self.at_end() {
                let d = Diagnostic::error("this struct never ends").at(name.span, "`}` is missing");
                return self.fail(d);
            }
            let words = self.words()?;
            let ty = self.type_name("a member")?;
            let first = self.ident("the name of a member")?;
            members.extend(self.variables(words, ty, first, Keeping::Local)?);
        }
        self.expect(";", "behind the struct")?;
        if members.is_empty() {
            self.report(Diagnostic::error("a struct has at least one member").at(name.span, "this one has none"));
        }
        let list = self.ast.classes.last_mut().map_or(&mut self.ast.structs, |class| &mut class.structs);
        list.push(Struct { name, members });
        Ok(())
    }

    /// `const public private scratch unit`, in any order.
    fn words(&mut self) -> Parse<Words> {
        let mut words = Words { keeping: None, unit: false };
        loop {
            let keeping = match self.tok() {
                Tok::Keyword("const") => Some(Keeping::Const),
                Tok::Keyword("public") => Some(Keeping::Public),
                Tok::Keyword("private") => Some(Keeping::Private),
                Tok::Keyword("scratch") => Some(Keeping::Scratch),
                Tok::Keyword("unit") => None,
                _ => return Ok(words),
            };
            let span = self.bump();
            match keeping {
                // `public const` is a constant.
                Some(new) => {
                    words.keeping = match words.keeping {
                        None | Some(Keeping::Public | Keeping::Private) if new == Keeping::Const => Some(new),
                        None => Some(new),
                        Some(Keeping::Const) if matches!(new, Keeping::Public | Keeping::Private) => {
                            Some(Keeping::Const)
                        }
                        Some(_) => {
                            let d = Diagnostic::error("these words contradict each other");
                            return self.fail(d.at(span, "a variable is kept in one way"));
                        }
                    }
                }
                None => words.unit = true,
            }
        }
    }

    /// A type, with the lengths of an array behind it: `float[2]`.
    fn type_name(&mut self, what: &str) -> Parse<TypeName> {
        let span = self.span();
        if let Tok::Name(name) | Tok::Stray(name) = self.tok().clone()
            && let Some(why) = left_out(&name)
        {
            let d = Diagnostic::error(format!("`{name}` is left out: {why}"));
            return self.fail(d.at(span, "a word of GLSL for rasterisation"));
        }
        if let Tok::Keyword(word) = *self.tok()
            && let Some(why) = left_out(word)
        {
            let d = Diagnostic::error(format!("`{word}` is left out: {why}"));
            return self.fail(d.at(span, "a word of GLSL for rasterisation"));
        }
        let Tok::Name(name) = self.tok().clone() else {
            let d = Diagnostic::error(format!("expected {what}, found {}", self.tok().describe()));
            return self.fail(d.at(span, "a type should stand here"));
        };
        self.bump();
        let base = BasicType::named(&name).map_or(BaseType::Named(name), BaseType::Basic);
        let mut ty = TypeName { base, lengths: Vec::new(), span };
        self.lengths(&mut ty)?;
        Ok(ty)
    }

    /// `[2]` behind a type or a name.
    fn lengths(&mut self, ty: &mut TypeName) -> Parse<()> {
        while self.accept("[") {
            let length = if self.is("]") { None } else { Some(self.expr()?) };
            self.expect("]", "behind the length of the array")?;
            ty.lengths.push(length);
        }
        ty.span = ty.span.to(self.previous());
        Ok(())
    }

    /// The variables of a declaration, up to and including `;`; the first's name has been read.
    fn variables(&mut self, words: Words, ty: TypeName, first: Ident, usual: Keeping) -> Parse<Vec<Variable>> {
        let mut list = Vec::new();
        let mut name = first;
        loop {
            let mut own = ty.clone();
            self.lengths(&mut own)?;
            let init = if self.accept("=") { Some(self.assignment()?) } else { None };
            let keeping = words.keeping.unwrap_or(usual);
            list.push(Variable { name, ty: own, keeping, unit: words.unit, init });
            if !self.accept(",") {
                break;
            }
            name = self.ident("the name of a variable")?;
        }
        self.expect(";", "behind the declaration")?;
        Ok(list)
    }

    /// A function, from its parameters on.
    fn function(&mut self, start: Span, result: TypeName, name: Ident) -> Parse<()> {
        self.expect("(", "before the parameters")?;
        let mut params = Vec::new();
        if matches!((self.tok(), self.tok_ahead(1)), (Tok::Name(n), Tok::Punct(")")) if **n == *"void") {
            self.bump();
        }
        while !self.accept(")") {
            params.push(self.parameter()?);
            if !self.is(")") {
                self.expect(",", "between parameters")?;
            }
        }
        let body = if self.accept(";") {
            None
        } else {
            let open = self.expect("{", "before the statements of the function")?;
            Some(self.block(open))
        };
        let function = Function { span: start.to(self.previous()), name, result, params, body };
        let list = self.ast.classes.last_mut().map_or(&mut self.ast.functions, |class| &mut class.methods);
        list.push(function);
        Ok(())
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let (mut direction, mut constant, mut unit) = (Direction::In, false, false);
        loop {
            match self.tok() {
                Tok::Keyword("in") => direction = Direction::In,
                Tok::Keyword("out") => direction = Direction::Out,
                Tok::Keyword("inout") => direction = Direction::InOut,
                Tok::Keyword("const") => constant = true,
                Tok::Keyword("unit") => unit = true,
                _ => break,
            }
            self.bump();
        }
        let mut ty = self.type_name("the type of a parameter")?;
        let name = if let Tok::Name(_) = self.tok() { Some(self.ident("a name")?) } else { None };
        self.lengths(&mut ty)?;
        Ok(Parameter { name, ty, direction, constant, unit })
    }
}

/// Why a word of GLSL has no place here.
fn left_out(word: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|l| l.0 == word).map(|l| l.1)
}

#[cfg(test)]
mod tests;
