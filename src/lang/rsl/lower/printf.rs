//! `printf (pattern, …)`: emits `debug` instructions with the values, which no back end runs; the
//! evaluator reports them.

use super::*;
use crate::unit::{PRINTF, PRINTF_VALUE};

impl Body<'_, '_> {
    pub(super) fn printf(&mut self, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let Some((&pattern, rest)) = args.split_first() else {
            let d = Diagnostic::error("`printf` takes a format string and values");
            return self.error(d.at(f.span, "there are no arguments"));
        };
        self.cx.prints = true;
        let pattern = self.value_as(pattern, SourceType::String)?;
        let mut values = Vec::new();
        for &e in rest {
            values.push(self.value(e, None)?);
        }
        self.at(f.span);
        if self.cx.debug {
            for v in values.iter().filter(|v| v.ty.ir().is_some()) {
                self.b.debug(format!("{PRINTF_VALUE}{}", v.ty.letter()), v.value);
            }
            self.b.debug(PRINTF, pattern.value);
        }
        Ok(Typed { value: arrays::NO_VALUE, ty: SourceType::Void, class: StorageClass::Uniform })
    }
}
