//! Structs, and classes of shaders with their methods (RSL 2.0).

use super::*;

impl Parser<'_> {
    /// `struct Name { members }`
    pub(super) fn structure(&mut self) -> Parse<()> {
        self.cursor.bump();
        let name = self.cursor.ident("the struct's name")?;
        let first_token = self.cursor.at;
        let open = self.cursor.expect("{", "before the members")?;
        let mut members = Vec::new();
        self.members(open, |parser| {
            let start = parser.cursor.span();
            let (_, _, class) = parser.qualifiers(false)?;
            let ty = parser.type_here();
            if let (Some(ty), Tok::Name(_), Tok::Punct("(")) =
                (&ty, parser.cursor.tok_ahead(1), parser.cursor.tok_ahead(2))
            {
                return parser.method_of_struct(start, ty.clone());
            }
            let ty = parser.type_of_variable(ty)?;
            members.extend(parser.variables(&ty, class)?);
            Ok(())
        });
        if members.is_empty() {
            self.cursor.report(Diagnostic::error("a struct needs at least one member").at(name.span, "no members"));
        }
        let tokens = &self.cursor.tokens[first_token..self.cursor.at];
        self.cursor.accept(";");
        let Some(i) = self.ast.structs.iter().position(|s| s.name.name == name.name) else {
            self.structs.push(tokens);
            self.ast.structs.push(Struct { name, members });
            return Ok(());
        };
        // A file that is included twice defines its structs twice.
        if !self.structs[i].iter().map(|t| &t.tok).eq(tokens.iter().map(|t| &t.tok)) {
            let first = self.ast.structs[i].name.span;
            let d = Diagnostic::error(format!("the struct `{}` is defined twice", name.name));
            self.cursor.report(d.at(name.span, "defined again").also(first, "defined first, with other members"));
        }
        Ok(())
    }

    /// A function among the members of a struct, which is parsed and dropped.
    fn method_of_struct(&mut self, start: Span, ty: TypeName) -> Parse<()> {
        self.cursor.bump();
        let name = self.cursor.ident("the name of the method")?;
        let d = Diagnostic::error(format!("structs have no methods: `{}`", name.name));
        self.cursor.report(d.at(name.span, "a method").hint(
            "write a function after the struct that takes one, as `output` if it is modified; classes have methods",
        ));
        let before = self.ast.definitions.len();
        self.rest_of_definition(start, name, None, ty)?;
        self.ast.definitions.truncate(before);
        Ok(())
    }

    /// `class name(parameters) { members and methods }`
    pub(super) fn class(&mut self, start: Span) -> Parse<()> {
        self.cursor.bump();
        let name = self.cursor.ident("the name of the class")?;
        self.cursor.expect("(", "before the parameters")?;
        let params = self.formals()?;
        self.cursor.expect(")", "after the parameters")?;
        let open = self.cursor.expect("{", "before the members")?;
        let mut class = ShaderClass {
            span: start,
            name,
            params,
            members: Vec::new(),
            methods: Vec::new(),
            public: Vec::new(),
            open,
            end: open,
        };
        self.members(open, |parser| parser.member_of_class(&mut class));
        class.end = self.end();
        class.span = start.to(class.end);
        self.ast.classes.push(class);
        Ok(())
    }

    /// Members up to and including `}`, each read by `member`.
    fn members(&mut self, open: Span, mut member: impl FnMut(&mut Self) -> Parse<()>) {
        loop {
            if self.cursor.accept("}") {
                return;
            }
            if self.cursor.at_end() {
                self.cursor.report(Diagnostic::error("unclosed block").at(open, "no matching `}`"));
                self.unclosed = true;
                return;
            }
            if self.cursor.accept(";") {
                continue;
            }
            let start = self.cursor.mark();
            if member(self).is_err() {
                self.cursor.resume(start);
            }
        }
    }

    /// A struct, variables, or a method. `public` and `private` say who else may use a member: its
    /// own methods always may.
    fn member_of_class(&mut self, class: &mut ShaderClass) -> Parse<()> {
        let start = self.cursor.span();
        if matches!((self.cursor.tok(), self.cursor.tok_ahead(1)), (Tok::Name(word), Tok::Name(_)) if &**word == "struct")
        {
            return self.structure();
        }
        let is_public = matches!(self.cursor.tok(), Tok::Name(word) if &**word == "public");
        if is_public || matches!(self.cursor.tok(), Tok::Name(word) if &**word == "private") {
            self.cursor.bump();
        }
        let (_, _, class_of_values) = self.qualifiers(false)?;
        let ty = self.type_here();
        if let (Some(ty), Tok::Name(_), Tok::Punct("(")) = (&ty, self.cursor.tok_ahead(1), self.cursor.tok_ahead(2)) {
            let ty = ty.clone();
            self.cursor.bump();
            let Ident { name, span } = self.cursor.ident("the name of the method")?;
            let full = Ident { name: format!("{}.{name}", class.name.name).into(), span };
            class.public.extend(is_public.then_some(name));
            let before = self.ast.definitions.len();
            self.rest_of_definition(start, full, None, ty)?;
            // The method itself follows the functions within it; a declaration adds none.
            if self.ast.definitions.len() > before {
                class.methods.extend(self.ast.definitions.pop());
            }
            return Ok(());
        }
        let ty = self.type_of_variable(ty)?;
        let variables = self.variables(&ty, class_of_values)?;
        if is_public {
            class.public.extend(variables.iter().map(|d| d.name.name.clone()));
        }
        class.members.extend(variables);
        Ok(())
    }
}
