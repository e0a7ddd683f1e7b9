//! The methods that the parsers of statements and expressions add to the cursor that all parsers
//! share.

use shadewright_base::tokens::{Cursor, Parse, Tok};
use std::ops::{Deref, DerefMut};

/// The cursor of a file of this language.
pub(super) struct Parser<'a>(pub Cursor<'a>);

impl<'a> Deref for Parser<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.0
    }
}

impl<'a> DerefMut for Parser<'a> {
    fn deref_mut(&mut self) -> &mut Cursor<'a> {
        &mut self.0
    }
}

impl Parser<'_> {
    /// Reads something one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.enter()?;
        let result = read(self);
        self.leave();
        result
    }

    /// Continues after an error in a statement that began at token `start`: at the next `;` of this
    /// block, or at its end. Blocks in between are skipped whole.
    pub(super) fn skip_statement(&mut self, start: usize) {
        if self.at == start && !self.is("}") && !self.is("END") {
            self.bump();
        }
        let mut open = 0usize;
        while !self.at_end() {
            match self.tok() {
                Tok::Punct(";") if open == 0 => return,
                Tok::Punct("{") | Tok::Keyword("BEGIN") => open += 1,
                Tok::Punct("}") | Tok::Keyword("END") if open == 0 => return,
                Tok::Punct("}") | Tok::Keyword("END") => open -= 1,
                _ => {}
            }
            self.bump();
        }
    }
}
