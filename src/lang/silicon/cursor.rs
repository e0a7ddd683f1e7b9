//! What the parsers of statements and expressions add to the cursor that all parsers share.

use crate::lang::tokens::{Cursor, Parse, Tok};

impl Cursor<'_> {
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
