//! Reads tokens into a syntax tree, by recursive descent.
//!
//! After an error it continues after the next `;` or at the next `}`, so that one run finds all of
//! them. Depth is bounded by [`MAX_NESTING`], that of the tree of an expression as well.

use super::ast::*;
use super::types::{Fixed, MAX_BITS, MAX_ELEMENTS, MAX_EXPONENT, MAX_RANK, Scalar, Type};
use crate::types::StorageClass;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Cursor, MAX_NESTING, Parse, Stop, Tok, Token};
use std::collections::HashMap;
use std::sync::Arc;

mod expressions;
mod statements;

/// Parses a file's tokens, the last of which is [`Tok::End`]. Errors go to `diags`; what could be
/// read is returned.
pub fn parse(tokens: &[Token], diags: &mut Diagnostics) -> Ast {
    let cursor = Cursor::new(tokens, diags);
    let mut parser = Parser { cursor, unclosed: false, depths: Vec::new(), types: HashMap::new(), ast: Ast::default() };
    parser.file();
    parser.ast
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// True if the text ended within a block.
    unclosed: bool,
    /// How deep the tree below each expression is.
    depths: Vec<usize>,
    /// The types that the file names so far, with the places of their names.
    types: HashMap<Arc<str>, (Type, Span)>,
    ast: Ast,
}

/// The words before the name of a variable or a function.
#[derive(Clone, Debug, Default)]
struct Specification {
    /// The basic type; `None` where there are modifiers only.
    ty: Option<Type>,
    class: Option<StorageClass>,
    output: bool,
    modifiers: Vec<Modifier>,
}

/// A type that the headers of pfman define: files that leave the header out mean it too.
pub fn predefined(name: &str) -> Option<Type> {
    let fixed = |signed, size, exponent| Type::number(Scalar::Fixed(Fixed { signed, size, exponent }));
    Some(match name {
        "Color" => fixed(false, 8, 8),
        "Short" => fixed(true, 11, 8),
        "uInt1" => fixed(false, 8, 0),
        "uInt2" => fixed(false, 16, 0),
        "Int1" => fixed(true, 7, 0),
        "Int2" => fixed(true, 15, 0),
        "Point" | "Vector" | "Normal" => Type::floats(3),
        "HPoint" | "Plane" => Type::floats(4),
        "Matrix" => Type::Numbers(Scalar::Float, vec![4, 4]),
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// Where what was just read ends: beyond everything if a block in it never does.
    fn end(&self) -> Span {
        match self.unclosed {
            true => Span { start: u32::MAX, end: u32::MAX, ..self.cursor.previous() },
            false => self.cursor.previous(),
        }
    }

    fn file(&mut self) {
        while !self.cursor.at_end() {
            if self.cursor.accept(";") {
                continue;
            }
            let start = self.cursor.mark();
            if self.definition().is_err() {
                self.cursor.resume(start);
            }
        }
    }

    // --- types ---

    /// The type that a name stands for here.
    fn named_type(&self, name: &str) -> Option<Type> {
        self.types.get(name).map(|t| t.0.clone()).or_else(|| predefined(name))
    }

    /// True if a specification of a type starts at a token: a name that means a type must be
    /// followed by what can follow a type.
    fn is_type_ahead(&self, n: usize) -> bool {
        match self.cursor.tok_ahead(n) {
            Tok::Keyword(word) => {
                matches!(*word, "void" | "float" | "fixed" | "signed" | "unsigned" | "uniform" | "varying" | "output")
                    || Modifier::ALL.iter().any(|m| m.0 == *word)
            }
            Tok::Name(name) => {
                let follows = matches!(
                    self.cursor.tok_ahead(n + 1),
                    Tok::Name(_) | Tok::Keyword(_) | Tok::Punct("[" | ")" | ",")
                );
                self.types.contains_key(name)
                    || (follows
                        && predefined(name).is_some()
                        && (matches!(self.cursor.tok_ahead(n + 1), Tok::Name(_) | Tok::Keyword(_))
                            || self.is_array_of_type(n)))
            }
            _ => false,
        }
    }

    /// True if what follows a predefined type's name is `[n] name`, as in `Color[3] x`, or a
    /// parenthesis that closes a cast.
    fn is_array_of_type(&self, n: usize) -> bool {
        let mut at = n + 1;
        while matches!(self.cursor.tok_ahead(at), Tok::Punct("[")) {
            while !matches!(self.cursor.tok_ahead(at), Tok::Punct("]" | ";" | "{" | "}") | Tok::End) {
                at += 1;
            }
            at += 1;
        }
        match self.cursor.tok_ahead(at) {
            Tok::Name(_) => at > n + 1,
            // `(Color) x` and `(Color[3]) x`, where no variable of the name can stand.
            Tok::Punct(")") => {
                matches!(
                    self.cursor.tok_ahead(at + 1),
                    Tok::Name(_) | Tok::Int(_) | Tok::Decimal(_) | Tok::Punct("(" | "{")
                )
            }
            _ => false,
        }
    }

    /// Reads modifiers and a basic type, in any order, and the lengths that follow.
    fn specification(&mut self) -> Parse<Specification> {
        let mut spec = Specification::default();
        let mut signed: Option<(bool, Span)> = None;
        loop {
            let span = self.cursor.span();
            let word = match self.cursor.tok() {
                Tok::Keyword(word) => *word,
                Tok::Name(name) if spec.ty.is_none() && self.is_type_ahead(0) => {
                    spec.ty = self.named_type(name);
                    self.cursor.bump();
                    continue;
                }
                _ => break,
            };
            match word {
                "uniform" | "varying" => {
                    let class = if word == "varying" { StorageClass::Varying } else { StorageClass::Uniform };
                    if spec.class.is_some_and(|c| c != class) {
                        let d = Diagnostic::error("conflicting storage classes `uniform` and `varying`");
                        return self.cursor.fail(d.at(span, "the second one"));
                    }
                    spec.class = Some(class);
                }
                "output" => spec.output = true,
                "signed" | "unsigned" => signed = Some((word == "signed", span)),
                "void" | "float" | "fixed" => {
                    if spec.ty.is_some() {
                        let d = Diagnostic::error("a type has one basic type");
                        return self.cursor.fail(d.at(span, "the second one"));
                    }
                    self.cursor.bump();
                    spec.ty = Some(match word {
                        "void" => Type::Void,
                        "float" => Type::FLOAT,
                        _ => Type::number(Scalar::Fixed(self.fixed()?)),
                    });
                    continue;
                }
                _ => match Modifier::ALL.iter().find(|m| m.0 == word) {
                    Some((_, modifier)) => spec.modifiers.push(*modifier),
                    None => break,
                },
            }
            self.cursor.bump();
        }
        match (&mut spec.ty, signed) {
            (Some(Type::Numbers(Scalar::Fixed(fixed), _)), sign) => {
                let (signed, span) = sign.unwrap_or((fixed.signed, self.cursor.previous()));
                fixed.signed = signed;
                if fixed.bits() > MAX_BITS {
                    let message = format!("`{fixed}` has {} bits with its sign: {MAX_BITS} is the limit", fixed.bits());
                    return self.cursor.fail(Diagnostic::error(message).at(span, "too large"));
                }
            }
            (_, Some((_, span))) => {
                let d = Diagnostic::error("`signed` and `unsigned` belong to `fixed` types");
                return self.cursor.fail(d.at(span, "not a `fixed` type").hint("write `unsigned fixed<8,0>`"));
            }
            _ => {}
        }
        if let Some(ty) = spec.ty.take() {
            spec.ty = Some(self.lengths(ty)?);
        }
        Ok(spec)
    }

    /// `<size, exponent>` after `fixed`.
    fn fixed(&mut self) -> Parse<Fixed> {
        self.cursor.expect("<", "after `fixed`")?;
        // `>` ends it: operators that bind less tightly need parentheses.
        let size = self.number_within("the size of a `fixed` type", 1..=i64::from(MAX_BITS))?;
        self.cursor.expect(",", "between size and exponent")?;
        let limit = i64::from(MAX_EXPONENT);
        let exponent = self.number_within("the exponent of a `fixed` type", -limit..=limit)?;
        self.cursor.expect(">", "after the exponent")?;
        Ok(Fixed { signed: true, size: size as u32, exponent: exponent as i32 })
    }

    /// A constant expression that is a whole number in a range.
    fn number_within(&mut self, what: &str, range: std::ops::RangeInclusive<i64>) -> Parse<i64> {
        let e = self.sum()?;
        let span = self.ast.expr(e).span;
        match self.ast.whole_number(e) {
            Some(n) if range.contains(&n) => Ok(n),
            Some(n) => {
                let d = Diagnostic::error(format!("{what} is {n}"));
                let limits = format!("it lies between {} and {}", range.start(), range.end());
                self.cursor.fail(d.at(span, "out of range").hint(limits))
            }
            None => {
                let d = Diagnostic::error(format!("{what} is not a constant whole number"));
                self.cursor.fail(d.at(span, "not a constant"))
            }
        }
    }

    /// Lengths in brackets after a type, or after the name of a variable of it: these come first.
    fn lengths(&mut self, ty: Type) -> Parse<Type> {
        let mut dims = Vec::new();
        let start = self.cursor.span();
        while self.cursor.accept("[") {
            let most = i64::from(MAX_ELEMENTS);
            dims.push(self.number_within("the length of an array", 1..=most)? as u32);
            self.cursor.expect("]", "after the length")?;
        }
        if dims.is_empty() {
            return Ok(ty);
        }
        let span = start.to(self.cursor.previous());
        let Type::Numbers(scalar, inner) = ty else {
            let d = Diagnostic::error("there are no arrays of `void`");
            return self.cursor.fail(d.at(span, "not a type of values"));
        };
        dims.extend(inner);
        let count = dims.iter().fold(1u64, |count, n| count.saturating_mul(u64::from(*n)));
        if count > u64::from(MAX_ELEMENTS) || dims.len() > MAX_RANK {
            let message = format!("an array of {count} elements in {} dimensions", dims.len());
            let d = Diagnostic::error(message).at(span, "too large");
            return self
                .cursor
                .fail(d.hint(format!("{MAX_ELEMENTS} elements and {MAX_RANK} dimensions are the limits")));
        }
        Ok(Type::Numbers(scalar, dims))
    }

    // --- definitions ---

    fn definition(&mut self) -> Parse<()> {
        let start = self.cursor.span();
        if self.cursor.accept("typedef") {
            return self.typedef();
        }
        let linkage = self.linkage()?;
        let shader = match self.cursor.tok() {
            Tok::Keyword("surface") => Some(ShaderKind::Surface),
            Tok::Keyword("light") => Some(ShaderKind::Light),
            Tok::Name(word)
                if matches!(&**word, "primitive" | "interpolator" | "displacement" | "volume" | "imager") =>
            {
                let message = format!("there are no {word} functions: pfman has surfaces and lights here");
                let d = Diagnostic::error(message).at(self.cursor.span(), "not a kind of shader");
                return self.cursor.fail(d);
            }
            _ => None,
        };
        let spec = match shader {
            Some(_) => {
                self.cursor.bump();
                Specification::default()
            }
            None => self.specification()?,
        };
        if shader.is_none() && spec.ty.is_none() {
            return self.not_a_definition();
        }
        let name = self.cursor.ident("the name of a function")?;
        self.refuse_type_name(&name, "function")?;
        if !self.cursor.is("(") {
            let d = Diagnostic::error("only functions, shaders and types are allowed at file scope");
            return self.cursor.fail(d.at(name.span, "expected `(` after this name"));
        }
        if let Some(modifier) = spec.modifiers.first() {
            let d = Diagnostic::error(format!("`{}` is for the parameters of shaders", modifier.word()));
            return self.cursor.fail(d.at(start, "not for functions"));
        }
        self.cursor.bump();
        let params = self.params(shader.is_some())?;
        let mut function = Function {
            span: start,
            name,
            shader,
            linkage,
            result: spec.ty.unwrap_or(Type::Void),
            class: spec.class,
            params,
            body: None,
            end: start,
        };
        if shader.is_none() && self.cursor.accept(";") {
            function.span = start.to(self.cursor.previous());
            function.end = self.cursor.previous();
            self.ast.functions.push(function);
            return Ok(());
        }
        self.cursor.expect("{", "before the statements")?;
        function.body = Some(self.block_rest()?);
        function.end = self.end();
        function.span = start.to(function.end);
        self.ast.functions.push(function);
        Ok(())
    }

    fn not_a_definition<T>(&mut self) -> Parse<T> {
        let found = self.cursor.tok().describe();
        let d = Diagnostic::error(format!("expected a shader, a function or a `typedef`, found {found}"));
        let mut d = d.at(self.cursor.span(), "expected a type, `surface` or `light`");
        if let Tok::Name(word) = self.cursor.tok() {
            let words = ["surface", "light", "typedef", "float", "fixed", "void"];
            let known = self.types.keys().map(|name| &**name);
            if let Some(guess) = closest(word, words.into_iter().chain(known)) {
                d = d.hint(format!("did you mean `{guess}`?"));
            }
        }
        self.cursor.fail(d)
    }

    /// `extern "[inline] [static] [C|C++]"`.
    fn linkage(&mut self) -> Parse<Option<(Linkage, Span)>> {
        let start = self.cursor.span();
        if !self.cursor.accept("extern") {
            return Ok(None);
        }
        let Tok::String(text) = self.cursor.tok() else {
            let d = Diagnostic::error("`extern` is followed by a text").at(self.cursor.span(), "expected a text");
            return self.cursor.fail(d.hint("it is `\"[inline] [static] [C|C++]\"`"));
        };
        let mut linkage = Linkage::default();
        for word in text.split_whitespace() {
            let given = match word {
                "inline" => &mut linkage.inline,
                "static" => &mut linkage.is_static,
                "C" | "C++" => &mut linkage.host,
                _ => {
                    let d = Diagnostic::error(format!("`extern` knows no `{word}`"));
                    let d = d.at(self.cursor.span(), "this text");
                    return self.cursor.fail(d.hint("it is `\"[inline] [static] [C|C++]\"`"));
                }
            };
            if std::mem::replace(given, true) {
                let d = Diagnostic::error("`extern` says the same twice, or both `C` and `C++`");
                return self.cursor.fail(d.at(self.cursor.span(), "this text"));
            }
        }
        let end = self.cursor.bump();
        Ok(Some((linkage, start.to(end))))
    }

    /// The rest of a `typedef`.
    fn typedef(&mut self) -> Parse<()> {
        let spec = self.specification()?;
        let base = match spec.ty {
            Some(Type::Void) | None => {
                let d = Diagnostic::error("`typedef` names a type of numbers");
                return self.cursor.fail(d.at(self.cursor.previous(), "expected a type"));
            }
            Some(ty) => ty,
        };
        if spec.class.is_some() || spec.output || !spec.modifiers.is_empty() {
            let d = Diagnostic::error("a named type has no modifiers")
                .at(self.cursor.previous(), "write them where it is used");
            return self.cursor.fail(d);
        }
        loop {
            let name = self.cursor.ident("the name of the type")?;
            let ty = self.lengths(base.clone())?;
            let known = self.types.get(&name.name).filter(|known| known.0 != ty).map(|known| known.1);
            if let Some(first) = known {
                let d = Diagnostic::error(format!("the type `{}` is defined twice", name.name));
                let d = d.at(name.span, "defined again").also(first, "defined first");
                self.cursor.report(d);
            } else {
                self.types.insert(name.name.clone(), (ty.clone(), name.span));
                self.ast.typedefs.push((name, ty));
            }
            if !self.cursor.accept(",") {
                break;
            }
        }
        self.cursor.expect(";", "after the name of the type").map(drop)
    }

    /// Refuses a name that a type has.
    fn refuse_type_name(&mut self, name: &Ident, what: &str) -> Parse<()> {
        let Some(place) = self.types.get(&name.name).map(|t| t.1) else { return Ok(()) };
        let d = Diagnostic::error(format!("the {what} `{}` has the name of a type", name.name));
        self.cursor.fail(
            d.at(name.span, "the same name").also(place, "the type").hint("names of types are names of nothing else"),
        )
    }

    /// Parameters up to and including `)`.
    fn params(&mut self, of_shader: bool) -> Parse<Vec<Variable>> {
        let mut params: Vec<Variable> = Vec::new();
        if matches!((self.cursor.tok(), self.cursor.tok_ahead(1)), (Tok::Keyword("void"), Tok::Punct(")"))) {
            self.cursor.bump();
        }
        while !self.cursor.accept(")") {
            let start = self.cursor.span();
            let spec = self.specification()?;
            let ty = match spec.ty.clone() {
                Some(Type::Void) | None => {
                    let found = self.cursor.tok().describe();
                    let d = Diagnostic::error(format!("expected the type of a parameter, found {found}"));
                    return self.cursor.fail(d.at(start, "expected a type"));
                }
                Some(ty) => ty,
            };
            if let Some(modifier) = spec.modifiers.first().filter(|_| !of_shader) {
                let d = Diagnostic::error(format!("`{}` is for the parameters of shaders", modifier.word()));
                return self.cursor.fail(d.at(start, "a parameter of a function"));
            }
            let name = match self.cursor.tok() {
                // A prototype may leave the name out.
                Tok::Punct("," | ")") if !of_shader => Ident { name: "".into(), span: self.cursor.previous() },
                _ => self.cursor.ident("the name of a parameter")?,
            };
            self.refuse_type_name(&name, "parameter")?;
            let ty = self.lengths(ty)?;
            let init = match self.cursor.accept("=") {
                true => Some(self.assignment()?),
                false => None,
            };
            let known = params.iter().find(|p| p.name.name == name.name && !name.name.is_empty());
            if let Some(first) = known.map(|p| p.name.span) {
                let d = Diagnostic::error(format!("the parameter `{}` is declared twice", name.name));
                return self.cursor.fail(d.at(name.span, "declared again").also(first, "declared first"));
            }
            let (class, modifiers, output) = (spec.class, spec.modifiers, spec.output);
            params.push(Variable { name, ty, class, modifiers, output, init });
            if !self.cursor.accept(",") && !self.cursor.accept(";") && !self.cursor.is(")") {
                self.cursor.expect(")", "after the parameters")?;
            }
        }
        Ok(params)
    }
}
