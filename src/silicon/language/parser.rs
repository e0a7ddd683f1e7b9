//! Reads statements and macros; [`super::expressions`] reads expressions.
//!
//! ```text
//! program    = item { ";" item }
//! item       = macro | statement
//! macro      = MACRO name [ "(" [names] [ "|" names ] ")" ] [ "=>" "(" [names] [ "|" names ] ")" ] statement
//! statement  = [ names ":=" expressions | block | if | case | loop | BREAK | string expression | expression ]
//! block      = ( "{" | BEGIN ) statement { ";" statement } ( "}" | END )
//! if         = IF expression THEN statement { EF expression THEN statement } [ ELSE statement ]
//! case       = CASE expression OF { expressions ":" statement [ ";" ] } [ ELSE statement ]
//! loop       = DO statement [ UNTIL expression ]
//!            | WHILE expression DO statement
//!            | REPEAT statement { ";" statement } UNTIL expression
//! ```

use super::ast::{Cases, Expr, Ident, Macro, Program, Statement, StatementKind, Test};
use super::cursor::Parser;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Cursor, Parse, Stop, Tok, Token};

/// Reads a file, as far as it can be read. Errors go to `diags`.
pub fn parse(tokens: &[Token], diags: &mut Diagnostics) -> Program {
    let mut cursor = Parser(Cursor::new(tokens, diags));
    let mut program = Program::default();
    while !cursor.at_end() {
        let start = cursor.at;
        let read = if cursor.is("MACRO") {
            cursor.definition().map(|read| program.macros.push(read))
        } else {
            cursor.statement().map(|read| program.statements.push(read))
        };
        if read.is_err() || cursor.separator(&[]).is_err() {
            cursor.skip_statement(start);
            if !cursor.accept(";") {
                cursor.bump();
            }
        }
    }
    program
}

impl Parser<'_> {
    /// Goes past the `;` between statements; none stands before a word that ends a block.
    fn separator(&mut self, ends: &[&str]) -> Parse<()> {
        if self.accept(";") || self.at_end() || ends.iter().any(|end| self.is(end)) {
            return Ok(());
        }
        let previous = self.previous();
        let message = format!("expected `;` after this statement, found {}", self.tok().describe());
        let place = Span { start: previous.end, ..previous };
        self.fail(Diagnostic::error(message).at(place, "`;` is missing here"))
    }

    fn names(&mut self, ends: &[&str]) -> Parse<Vec<Ident>> {
        let mut names = Vec::new();
        while !ends.iter().any(|end| self.is(end)) {
            if !names.is_empty() {
                self.expect(",", "between names")?;
            }
            names.push(self.ident("a name")?);
        }
        Ok(names)
    }

    /// `(names | names)`, which may be left out.
    fn header(&mut self) -> Parse<(Vec<Ident>, Vec<Ident>)> {
        if !self.accept("(") {
            return Ok((Vec::new(), Vec::new()));
        }
        let names = self.names(&["|", ")"])?;
        let globals = if self.accept("|") { self.names(&[")"])? } else { Vec::new() };
        self.expect(")", "after the names")?;
        Ok((names, globals))
    }

    fn definition(&mut self) -> Parse<Macro> {
        self.bump();
        let name = self.ident("the name of a macro")?;
        let (parameters, globals) = self.header()?;
        let (results, changed) = match self.accept("=>") {
            true if !self.is("(") => {
                self.expect("(", "after `=>`")?;
                return Err(Stop);
            }
            true => self.header()?,
            false => (Vec::new(), Vec::new()),
        };
        let body = self.statement()?;
        Ok(Macro { name, parameters, globals, results, changed, body })
    }

    /// Statements up to a word that ends them, which stays.
    fn statements(&mut self, ends: &[&str]) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.at_end() && !ends.iter().any(|end| self.is(end)) {
            let start = self.at;
            let read = self.statement().map(|read| statements.push(read));
            if read.is_err() || self.separator(ends).is_err() {
                self.skip_statement(start);
                if !self.accept(";") && !ends.iter().any(|end| self.is(end)) {
                    break;
                }
            }
        }
        statements
    }

    /// Reads a statement; an empty one where none begins.
    pub(super) fn statement(&mut self) -> Parse<Statement> {
        self.nested(|cursor| {
            let start = cursor.span();
            let kind = cursor.statement_kind()?;
            let span = match kind {
                StatementKind::Empty => Span { end: start.start, ..start },
                _ => start.to(cursor.previous()),
            };
            Ok(Statement { kind, span })
        })
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        match self.tok() {
            Tok::Punct("{") => self.block("}"),
            Tok::Keyword("BEGIN") => self.block("END"),
            Tok::Keyword("IF") => self.if_statement(),
            Tok::Keyword("CASE") => Ok(StatementKind::Case(Box::new(self.cases(Self::statement)?))),
            Tok::Keyword("DO" | "WHILE" | "REPEAT") => self.loop_statement(),
            Tok::Keyword("BREAK") => {
                self.bump();
                Ok(StatementKind::Break)
            }
            Tok::String(text) => {
                self.bump();
                Ok(StatementKind::Print(text.clone(), Box::new(self.expression()?)))
            }
            Tok::Name(_) if self.begins_assignment() => self.assignment(),
            Tok::Keyword("MACRO") => {
                let d = Diagnostic::error("a macro is defined inside a statement").at(self.span(), "not here");
                self.fail(d.hint("define macros outside of all statements"))
            }
            Tok::End | Tok::Punct(";" | "}") | Tok::Keyword("END" | "EF" | "ELSE" | "UNTIL") => {
                Ok(StatementKind::Empty)
            }
            _ => Ok(StatementKind::Expr(Box::new(self.expression()?))),
        }
    }

    fn block(&mut self, end: &'static str) -> Parse<StatementKind> {
        let start = self.bump();
        let statements = self.statements(&["}", "END"]);
        if self.accept(end) {
            return Ok(StatementKind::Block(statements));
        }
        let begin = if end == "}" { "{" } else { "BEGIN" };
        let message = format!("expected `{end}` for this `{begin}`, found {}", self.tok().describe());
        let d = Diagnostic::error(message).at(self.span(), format!("expected `{end}`"));
        self.fail(d.also(start, "begins here"))
    }

    fn if_statement(&mut self) -> Parse<StatementKind> {
        self.bump();
        let condition = Box::new(self.expression()?);
        self.expect("THEN", "after the condition")?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.is("EF") {
            let start = self.span();
            let kind = self.nested(Self::if_statement)?;
            Some(Box::new(Statement { kind, span: start.to(self.previous()) }))
        } else if self.accept("ELSE") {
            Some(Box::new(self.statement()?))
        } else {
            None
        };
        Ok(StatementKind::If(condition, then, otherwise))
    }

    fn loop_statement(&mut self) -> Parse<StatementKind> {
        let start = self.span();
        if self.accept("WHILE") {
            let condition = Box::new(self.expression()?);
            self.expect("DO", "after the condition")?;
            return Ok(StatementKind::Loop(Test::While(condition), Box::new(self.statement()?)));
        }
        if self.accept("DO") {
            let body = Box::new(self.statement()?);
            let test = if self.accept("UNTIL") { Test::Until(Box::new(self.expression()?)) } else { Test::Endless };
            return Ok(StatementKind::Loop(test, body));
        }
        self.bump();
        let statements = self.statements(&["UNTIL", "}", "END"]);
        let body = Statement { kind: StatementKind::Block(statements), span: start.to(self.previous()) };
        self.expect("UNTIL", "at the end of `REPEAT`")?;
        Ok(StatementKind::Loop(Test::Until(Box::new(self.expression()?)), Box::new(body)))
    }

    /// True if names and then `:=` follow.
    fn begins_assignment(&self) -> bool {
        let mut n = 0;
        while let (Tok::Name(_), Tok::Punct(",")) = (self.tok_ahead(n), self.tok_ahead(n + 1)) {
            n += 2;
        }
        matches!((self.tok_ahead(n), self.tok_ahead(n + 1)), (Tok::Name(_), Tok::Punct(":=")))
    }

    fn assignment(&mut self) -> Parse<StatementKind> {
        let names = self.names(&[":="])?;
        self.bump();
        Ok(StatementKind::Assign(names, self.expressions()?))
    }

    /// Expressions with `,` between them.
    pub(super) fn expressions(&mut self) -> Parse<Vec<Expr>> {
        let mut all = vec![self.expression()?];
        while self.accept(",") {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    /// True if the label of an arm begins `n` tokens further on.
    fn is_label(&self, n: usize) -> bool {
        match self.tok_ahead(n) {
            Tok::Bits(..) | Tok::Punct("-" | "+") => true,
            Tok::Name(_) => matches!(self.tok_ahead(n + 1), Tok::Punct(":")),
            _ => false,
        }
    }

    /// Reads `CASE selector OF arms`, with bodies that `body` reads.
    pub(super) fn cases<T>(&mut self, body: impl Fn(&mut Self) -> Parse<T>) -> Parse<Cases<T>> {
        self.bump();
        let selector = self.expression()?;
        self.expect("OF", "after the value of `CASE`")?;
        if !self.is_label(0) {
            let d = Diagnostic::error(format!("expected a number and `:`, found {}", self.tok().describe()));
            let d = d.at(self.span(), "expected the first case");
            return self.fail(d);
        }
        let (mut arms, mut otherwise) = (Vec::new(), None);
        loop {
            let labels = self.expressions()?;
            self.expect(":", "after the number of a case")?;
            arms.push((labels, body(self)?));
            let skipped = usize::from(self.is(";"));
            let more = self.is_label(skipped);
            let last = matches!(self.tok_ahead(skipped), Tok::Keyword("ELSE"));
            if (more || last) && skipped == 1 {
                self.bump();
            }
            if last {
                self.bump();
                otherwise = Some(body(self)?);
            }
            if !more {
                return Ok(Cases { selector, arms, otherwise });
            }
        }
    }
}
