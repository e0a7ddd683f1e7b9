//! The assembler: text to [`Program`].
//!
//! The syntax is that of the listings in Węgrzanowski 2006, chapter 12. A line is any number of
//! labels, then at most one instruction or declaration, then a comment that starts with `;`:
//!
//! ```text
//! SUBROUTINE_ENTRY_f:                    ; an entry point named f
//!     dp3_rsq R15.y, R2.xyz, R2.xyz      ; modifiers _sat, _rcp, _rsq; a write mask; swizzles
//!     mad R0.w, 0.6, -2*R1.w, C3.x       ; literals and the factors ±0.5, ±1, ±2, ±4
//!     iadd R1.w, R1.w, #-1               ; integer literals: decimal or 0x
//!     add R15.w, 1.0, -R1.w + jmp L28, w (>=0)
//!     mov R0, R0 + return or xyzw (>=0 or <1)
//! L28:
//!     call HIT.w push 3                  ; or a label
//!     add R1.xyz, R2, R3 | mul R4.w, R5, R6.x + jmp L28, and w (<0)    ; a 3/1 split; 2/2 where the second half writes z
//!     [1 3 *] mul R7, R1, R4.w           ; waits for what was issued 1 and 3 slots earlier, and for all beyond 15
//!     texload I0, 2, R1.xy               ; texture 2
//! .extern g                              ; `call g push 0` calls the entry point of another program
//! .const C0, 1.0, 0.0, #-1, 0.5          ; constant registers, from C0 on
//! .string 77, "a \"text\""               ; the string of an identifier
//! ```
//!
//! Dependency flags are written before all instructions or none.
//!
//! A condition is `always`, or `and`/`or`, components, and ranges in parentheses; a single
//! component needs neither `and` nor `or`. Ranges are `<0 >=0 =0 <1 >=1`, joined by `and` (which
//! binds tighter) and `or`. The comma before a condition may be left out.
//!
//! All errors of a text are found in one run (at most 100 are reported), with their place, and a
//! hint where one helps.

use crate::disasm::ENTRY_PREFIX;
use crate::isa::{
    Arith, Base, CONSTANT_REGISTERS, Component, Condition, Control, Dst, DstReg, EntryPoint, Import, Instr, IsaError,
    MAX_CODE, Mask, Multiplier, Op, Primary, Program, Ranges, Reg, SpecialOp, Split, Src, Swizzle, Waits,
    is_label_char,
};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, Span};
use std::collections::{BTreeMap, HashMap};

/// The most errors reported for one text.
const MAX_ERRORS: usize = 100;

/// An assembled text.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The program; valid.
    pub program: Program,
    /// The span of each instruction in the text.
    pub spans: Vec<Span>,
}

/// Assembles a text; `file` is only used for the positions in messages.
///
/// # Errors
/// All errors of the text, 100 at most, each with its position.
pub fn assemble(text: &str, file: FileId) -> Result<Assembly, Diagnostics> {
    let mut assembler = Assembler { file, ..Assembler::default() };
    let mut start = 0;
    for line in text.split('\n') {
        if let Err(error) = assembler.line(line, start) {
            assembler.report(*error);
        }
        if assembler.errors.error_count() >= MAX_ERRORS {
            break;
        }
        start += line.len() + 1;
    }
    assembler.finish(text.len())
}

type Result<T, E = Box<Diagnostic>> = std::result::Result<T, E>;

/// The program so far, as read from a text.
#[derive(Default)]
struct Assembler {
    file: FileId,
    code: Vec<Instr>,
    spans: Vec<Span>,
    /// Labels with code address and place.
    labels: HashMap<String, (u32, Span)>,
    /// The labels of entry points, in order.
    entries: Vec<String>,
    /// Instructions whose target is the label.
    references: Vec<(usize, String, Span)>,
    /// Names of entry points of other programs.
    externs: HashMap<String, Span>,
    waits: Vec<Option<Waits>>,
    constants: Vec<[u32; 4]>,
    strings: BTreeMap<u32, (String, Span)>,
    errors: Diagnostics,
}

impl Assembler {
    fn report(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// Reads one line that starts at byte `start` of the text.
    fn line(&mut self, line: &str, start: usize) -> Result<()> {
        let tokens = tokenize(line, start, self.file)?;
        let mut rest = tokens.as_slice();
        while let [Token { kind: TokenKind::Word(name), span }, Token { kind: TokenKind::Punct(":"), .. }, after @ ..] =
            rest
        {
            self.define(name, *span)?;
            rest = after;
        }
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return Ok(()) };
        let whole = first.span.to(last.span);
        let end = Span::new(self.file, last.span.end as usize, last.span.end as usize);
        let mut parser = Parser { tokens: rest, end, label: None };
        if let TokenKind::Word(name) = first.kind
            && name.starts_with('.')
        {
            self.declaration(&mut parser)?;
            return parser.finish("declaration");
        }
        let waits = parser.waits()?;
        let instr = parser.instruction()?;
        parser.finish("instruction")?;
        instr.validate().map_err(|e| Box::new(invalid(&e, whole)))?;
        if self.code.len() >= MAX_CODE {
            return Err(error(IsaError::TooLong(MAX_CODE + 1).to_string(), whole, "this one is too many"));
        }
        if let Some((name, span)) = parser.label {
            self.references.push((self.code.len(), name.to_string(), span));
        }
        self.code.push(instr);
        self.waits.push(waits);
        self.spans.push(whole);
        Ok(())
    }

    /// Reads a line that starts with a point.
    fn declaration(&mut self, parser: &mut Parser<'_, '_>) -> Result<()> {
        let (name, span) = parser.word("a declaration")?;
        match name {
            ".extern" => {
                let (name, span) = parser.word("the name of an entry point")?;
                self.externs.insert(name.to_string(), span);
            }
            ".const" => self.constant(parser)?,
            ".string" => {
                let id = parser.integer("the identifier of a string", 0, i64::from(u32::MAX))? as u32;
                parser.expect(",")?;
                let (text, span) = parser.text()?;
                if let Some((_, earlier)) = self.strings.get(&id).filter(|(other, _)| *other != text) {
                    let d = Diagnostic::error(format!("the identifier {id} has two texts")).at(span, "another one");
                    return Err(Box::new(d.also(*earlier, "the first one")));
                }
                self.strings.insert(id, (text, span));
            }
            _ => {
                let d = Diagnostic::error(format!("unknown declaration `{name}`")).at(span, "not a declaration");
                return Err(Box::new(d.hint("the declarations are .extern, .const and .string")));
            }
        }
        Ok(())
    }

    fn constant(&mut self, parser: &mut Parser<'_, '_>) -> Result<()> {
        let (name, span) = parser.word("a constant register")?;
        let next = self.constants.len();
        if next >= usize::from(CONSTANT_REGISTERS) {
            return Err(error(IsaError::TooManyConstants(next + 1).to_string(), span, "this one is too many"));
        }
        if parse_reg(name).is_none_or(|(reg, components)| reg != Reg::C(next as u8) || !components.is_empty()) {
            let message = format!("constant registers are set in their order: expected C{next}");
            return Err(error(message, span, "found this"));
        }
        let mut values = [0; 4];
        for value in &mut values {
            parser.expect(",")?;
            let at = parser.tokens.first().map_or(parser.end, |token| token.span);
            match parser.source()? {
                Src::Literal(bits) => *value = bits,
                Src::Reg { .. } => return Err(error("a constant's values are literals", at, "not a literal")),
            }
        }
        self.constants.push(values);
        Ok(())
    }

    fn define(&mut self, name: &str, span: Span) -> Result<()> {
        if let Some((_, earlier)) = self.labels.get(name) {
            let d = Diagnostic::error(format!("the label `{name}` is defined twice")).at(span, "again here");
            return Err(Box::new(d.also(*earlier, "first defined here")));
        }
        if parse_reg(name).is_some() {
            return Err(error(format!("`{name}` is a register, it cannot be a label"), span, "a register's name"));
        }
        if name == ENTRY_PREFIX {
            return Err(error("an entry point needs a name", span, "name missing after the prefix"));
        }
        self.labels.insert(name.to_string(), (self.code.len() as u32, span));
        if name.starts_with(ENTRY_PREFIX) {
            self.entries.push(name.to_string());
        }
        Ok(())
    }

    /// Resolves the labels.
    fn finish(mut self, text_len: usize) -> Result<Assembly, Diagnostics> {
        let references = std::mem::take(&mut self.references);
        let mut imports = Vec::new();
        for (at, name, span) in references {
            if let Some(entry) = self.import(&name) {
                match self.code[at].control() {
                    Some(Control::Call { .. }) => imports.push(Import { address: at as u32, name: entry }),
                    _ => self.report(*error("only a call can lead to another program", span, "declared with .extern")),
                }
                continue;
            }
            let Some(&(address, _)) = self.labels.get(&name) else {
                let mut d = Diagnostic::error(format!("there is no label `{name}`")).at(span, "not defined");
                if matches!(self.code[at].control(), Some(Control::Call { .. })) {
                    d = d.hint(format!("if it is in another program, declare it: `.extern {name}`"));
                }
                if self.labels.contains_key(&format!("{ENTRY_PREFIX}{name}")) {
                    d = d.hint(format!("the function's label is `{ENTRY_PREFIX}{name}`"));
                }
                self.report(d);
                continue;
            };
            self.code[at] = self.code[at].with_target(address);
            self.check_address(&name, address, span);
        }
        let mut entries = Vec::new();
        for label in std::mem::take(&mut self.entries) {
            let (address, span) = self.labels[&label];
            self.check_address(&label, address, span);
            entries.push(EntryPoint { name: label[ENTRY_PREFIX.len()..].to_string(), address });
        }
        if self.code.is_empty() && !self.errors.has_errors() {
            let end = Span::new(self.file, text_len, text_len);
            self.report(Diagnostic::error("the program has no instructions").at(end, "the text ends here"));
        }
        let waits = self.all_waits();
        if self.errors.has_errors() {
            return Err(self.errors);
        }
        let strings = self.strings.into_iter().map(|(id, (text, _))| (id, text)).collect();
        let program = Program { code: self.code, waits, entries, imports, constants: self.constants, strings };
        Ok(Assembly { program, spans: self.spans })
    }

    /// The entry point of another program that a reference means: what this text defines goes
    /// first.
    fn import(&self, name: &str) -> Option<String> {
        let entry = name.strip_prefix(ENTRY_PREFIX).unwrap_or(name);
        let own = self.labels.contains_key(name) || self.labels.contains_key(&format!("{ENTRY_PREFIX}{entry}"));
        (!own && self.externs.contains_key(entry)).then(|| entry.to_string())
    }

    /// The dependency flags, which all instructions have, or none.
    fn all_waits(&mut self) -> Vec<Waits> {
        let waits = std::mem::take(&mut self.waits);
        if let Some(missing) = waits.iter().position(Option::is_none)
            && waits.iter().any(Option::is_some)
        {
            let d = Diagnostic::error("this instruction has no dependency flags, but others have");
            let d = d.at(self.spans[missing], "its flags are missing");
            self.report(d.hint("write `[]` before an instruction that waits for nothing, or leave all flags out"));
        }
        waits.into_iter().flatten().collect()
    }

    /// Reports a label at the end of the text, which has no instruction.
    fn check_address(&mut self, name: &str, address: u32, span: Span) {
        if address as usize >= self.code.len() && !self.code.is_empty() {
            let d = Diagnostic::error(format!("no instruction follows the label `{name}`"));
            self.report(d.at(span, "nothing to run here").hint("end the function with `return`"));
        }
    }
}

fn error(message: impl Into<String>, span: Span, label: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(message).at(span, label))
}

fn invalid(reason: &IsaError, span: Span) -> Diagnostic {
    Diagnostic::error(reason.to_string()).at(span, "this instruction is not valid")
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TokenKind<'a> {
    /// A name: mnemonic, register with components, or label.
    Word(&'a str),
    /// Something that starts with a digit.
    Number(&'a str),
    /// The text between quotes, as written.
    String(&'a str),
    /// One of the marks in [`PUNCTUATION`].
    Punct(&'static str),
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    kind: TokenKind<'a>,
    span: Span,
}

/// Longer marks first.
const PUNCTUATION: [&str; 14] = [">=", "<", ">", "=", ",", "+", "-", "*", "(", ")", ":", "|", "[", "]"];

/// Splits a line; its comment is left out.
fn tokenize(line: &str, start: usize, file: FileId) -> Result<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        if c == ';' {
            break;
        }
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (kind, len) = if c == '#' {
            let sign = usize::from(rest[1..].starts_with('-'));
            let digits = rest[1 + sign..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len() - 1 - sign);
            let len = 1 + sign + digits;
            (TokenKind::Number(&rest[..len]), len)
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let len = number_len(rest);
            (TokenKind::Number(&rest[..len]), len)
        } else if c == '"' {
            let Some(len) = text_len(&rest[1..]) else {
                let span = Span::new(file, start + at, start + line.trim_end().len().max(at + 1));
                return Err(error("the text does not end on its line", span, "starts here"));
            };
            (TokenKind::String(&rest[1..=len]), len + 2)
        } else if is_label_char(c) {
            let len = rest.find(|c: char| !is_label_char(c)).unwrap_or(rest.len());
            (TokenKind::Word(&rest[..len]), len)
        } else if let Some(punct) = PUNCTUATION.into_iter().find(|p| rest.starts_with(p)) {
            (TokenKind::Punct(punct), punct.len())
        } else {
            let span = Span::new(file, start + at, start + at + c.len_utf8());
            return Err(error(format!("unexpected character `{}`", c.escape_debug()), span, "not part of assembly"));
        };
        tokens.push(Token { kind, span: Span::new(file, start + at, start + at + len) });
        at += len;
    }
    Ok(tokens)
}

/// Length of the number at the start of `text`: digits, point and exponent.
fn number_len(text: &str) -> usize {
    let mut previous = ' ';
    text.find(|c: char| {
        let exponent_sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        previous = c;
        !(c.is_ascii_alphanumeric() || c == '.' || exponent_sign)
    })
    .unwrap_or(text.len())
}

/// Length of a text up to the quote that ends it.
fn text_len(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
}

/// The text that is written with `\"`, `\\` and `\u{…}`; `None` for other escapes.
fn unescape(written: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = written;
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let after = escape.get(1..).unwrap_or("");
        let (c, after) = match escape.chars().next()? {
            c @ ('"' | '\\') => (c, after),
            'u' => {
                let (code, after) = after.strip_prefix('{')?.split_once('}')?;
                (char::from_u32(u32::from_str_radix(code, 16).ok()?)?, after)
            }
            _ => return None,
        };
        text.push(c);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

/// Reads one instruction from its tokens.
struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// The end of the line, for messages about what is missing.
    end: Span,
    /// The label that the instruction refers to.
    label: Option<(&'a str, Span)>,
}

impl<'a> Parser<'_, 'a> {
    fn next(&mut self, wanted: &str) -> Result<Token<'a>> {
        match self.tokens.split_first() {
            Some((first, rest)) => {
                self.tokens = rest;
                Ok(*first)
            }
            None => Err(error(format!("expected {wanted}"), self.end, "the line ends here")),
        }
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token { kind: TokenKind::Punct(p), .. }) if *p == punct);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token { kind: TokenKind::Word(w), .. }) if *w == word);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn expect(&mut self, punct: &'static str) -> Result<()> {
        if self.eat(punct) {
            return Ok(());
        }
        let wanted = format!("`{punct}`");
        let found = self.next(&wanted)?;
        Err(error(format!("expected {wanted}"), found.span, "found this"))
    }

    fn word(&mut self, wanted: &str) -> Result<(&'a str, Span)> {
        let token = self.next(wanted)?;
        match token.kind {
            TokenKind::Word(word) => Ok((word, token.span)),
            TokenKind::Number(_) | TokenKind::Punct(_) | TokenKind::String(_) => {
                Err(error(format!("expected {wanted}"), token.span, "found this"))
            }
        }
    }

    /// Reports an error for the rest of the line.
    fn finish(&self, what: &str) -> Result<()> {
        match self.tokens.first() {
            Some(extra) => Err(error(format!("unexpected text after the {what}"), extra.span, "not part of it")),
            None => Ok(()),
        }
    }

    /// A text in quotes.
    fn text(&mut self) -> Result<(String, Span)> {
        let token = self.next("a text in quotes")?;
        let TokenKind::String(written) = token.kind else {
            return Err(error("expected a text in quotes", token.span, "found this"));
        };
        match unescape(written) {
            Some(text) => Ok((text, token.span)),
            None => {
                let d = Diagnostic::error("this text has an unknown escape").at(token.span, "in here");
                Err(Box::new(d.hint(r#"the escapes are \" \\ and \u{…}"#)))
            }
        }
    }

    /// Dependency flags such as `[1 3 *]`, if there are any.
    fn waits(&mut self) -> Result<Option<Waits>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let mut waits = Waits::NONE;
        while !self.eat("]") {
            let distance = if self.eat("*") {
                Waits::MAX_DISTANCE + 1
            } else {
                self.integer("a distance", 1, i64::from(Waits::MAX_DISTANCE))? as u32
            };
            waits = waits.union(Waits::at(distance));
        }
        Ok(Some(waits))
    }

    fn instruction(&mut self) -> Result<Instr> {
        let (mnemonic, span) = self.word("an instruction")?;
        if let Some(control) = self.control(mnemonic)? {
            if let Some(extra) = self.tokens.first() {
                let d = Diagnostic::error(format!("`{mnemonic}` alone takes no condition"));
                let d = d.at(extra.span, "not part of it");
                return Err(Box::new(d.hint(format!("pair it: `mov R15.w, R0.w + {mnemonic} … w (>=0)`"))));
            }
            return Ok(Instr::Control(control));
        }
        let primary = self.primary(mnemonic, span)?;
        if self.eat("|") {
            return self.split(primary, span);
        }
        let plus = self.tokens.first().map(|t| t.span);
        if !self.eat("+") {
            return Ok(Instr::Primary(primary));
        }
        let Primary::Arith(arith) = primary else {
            let d = Diagnostic::error("only arithmetic can be paired with a control operation");
            let d = d.at(plus.unwrap_or(span), "paired here").also(span, "not arithmetic");
            return Err(Box::new(d.hint("put the control operation on a line of its own")));
        };
        let (control, condition) = self.paired()?;
        Ok(Instr::Pair(arith, control, condition))
    }

    /// The control operation and its condition after `+`.
    fn paired(&mut self) -> Result<(Control, Condition)> {
        let (mnemonic, span) = self.word("`jmp`, `call` or `return`")?;
        let Some(control) = self.control(mnemonic)? else {
            let d = Diagnostic::error("only `jmp`, `call` and `return` can follow `+`");
            return Err(Box::new(d.at(span, "not a control operation")));
        };
        self.eat(",");
        Ok((control, self.condition()?))
    }

    /// The rest of a split after `|`.
    fn split(&mut self, first: Primary, first_span: Span) -> Result<Instr> {
        let (mnemonic, span) = self.word("the second half of the split")?;
        let halves = match (first, self.primary(mnemonic, span)?) {
            (Primary::Arith(first), Primary::Arith(second)) => Split::new(first, second),
            (Primary::Arith(_), _) => return Err(error("a half of a split is arithmetic", span, "not arithmetic")),
            _ => return Err(error("a half of a split is arithmetic", first_span, "not arithmetic")),
        };
        let paired = if self.eat("+") { Some(self.paired()?) } else { None };
        Ok(Instr::Split(halves, paired))
    }

    /// The control operation of that name, with its operands; `None` if it is none.
    fn control(&mut self, mnemonic: &str) -> Result<Option<Control>> {
        Ok(Some(match mnemonic {
            "jmp" => {
                self.label = Some(self.word("a label")?);
                Control::Jmp(0)
            }
            "call" => {
                let (name, span) = self.word("a label or a register's component")?;
                let callee = parse_reg(name);
                if !self.eat_word("push") {
                    let at = self.tokens.first().map_or(self.end, |t| t.span);
                    return Err(error(
                        "expected `push` and the shift of the stack window",
                        at,
                        "`push 0` shifts nothing",
                    ));
                }
                let push = self.integer("the shift of the stack window", 0, i64::from(u8::MAX))? as u8;
                match callee {
                    Some((reg, components)) => match components[..] {
                        [component] => Control::CallReg { reg, component, push },
                        _ => return Err(error("a call needs one component of the register", span, "such as R3.w")),
                    },
                    None => {
                        self.label = Some((name, span));
                        Control::Call { target: 0, push }
                    }
                }
            }
            "return" => Control::Return,
            _ => return Ok(None),
        }))
    }

    fn primary(&mut self, mnemonic: &str, span: Span) -> Result<Primary> {
        Ok(match mnemonic {
            "trace" => {
                let orig = self.source()?;
                self.expect(",")?;
                let dir = self.source()?;
                self.expect(",")?;
                Primary::Trace { orig, dir, arg: self.source()? }
            }
            "load" => {
                let to = self.input_register()?;
                let base = self.base()?;
                self.expect(",")?;
                Primary::Load { to, base, offset: self.offset()? }
            }
            "load4" => {
                let base = self.base()?;
                self.expect(",")?;
                Primary::Load4 { base, offset: self.offset()? }
            }
            "store" => {
                let base = self.base()?;
                self.expect(",")?;
                let offset = self.offset()?;
                self.expect(",")?;
                Primary::Store { base, offset, src: self.source()? }
            }
            "texload" => {
                let to = self.input_register()?;
                Primary::TexLoad { to, texture: self.texture()?, coord: self.source()? }
            }
            "texstore" => {
                let (texture, coord) = (self.texture()?, self.source()?);
                self.expect(",")?;
                Primary::TexStore { texture, coord, src: self.source()? }
            }
            _ => Primary::Arith(self.arith(mnemonic, span)?),
        })
    }

    /// The number of an input register, and the comma after it.
    fn input_register(&mut self) -> Result<u8> {
        let (name, span) = self.word("a register I0 to I3")?;
        let Some((Reg::I(to), [])) = parse_reg(name).as_ref().map(|(r, c)| (*r, &c[..])) else {
            return Err(error("a load needs a register I0 to I3", span, "cannot be loaded"));
        };
        self.expect(",")?;
        Ok(to)
    }

    /// The number of a texture, and the comma after it.
    fn texture(&mut self) -> Result<u8> {
        let texture = self.integer("the number of a texture", 0, i64::from(u8::MAX))? as u8;
        self.expect(",")?;
        Ok(texture)
    }

    fn arith(&mut self, mnemonic: &str, span: Span) -> Result<Arith> {
        let mut parts = mnemonic.split('_');
        let name = parts.next().unwrap_or("");
        let Some(op) = Op::ALL.iter().copied().find(|op| op.name() == name) else {
            let d = Diagnostic::error(format!("unknown instruction `{mnemonic}`")).at(span, "not an instruction");
            let close = Op::ALL.iter().find(|op| op.name().eq_ignore_ascii_case(name));
            return Err(Box::new(match close {
                Some(op) => d.hint(format!("instructions are written in lower case: `{}`", op.name())),
                None => d,
            }));
        };
        let (mut sat, mut special) = (false, None);
        for modifier in parts {
            let repeated = match modifier {
                "sat" => std::mem::replace(&mut sat, true),
                "rcp" => special.replace(SpecialOp::Rcp).is_some(),
                "rsq" => special.replace(SpecialOp::Rsq).is_some(),
                _ => {
                    let d =
                        Diagnostic::error(format!("unknown modifier `_{modifier}`")).at(span, "on this instruction");
                    return Err(Box::new(d.hint("the modifiers are _sat, _rcp and _rsq")));
                }
            };
            if repeated {
                return Err(error("_sat may be given once, and one of _rcp and _rsq", span, "given again"));
            }
        }
        let dst = self.destination()?;
        let mut sources = Vec::new();
        for _ in 0..op.arity() {
            self.expect(",")?;
            sources.push(self.source()?);
        }
        Ok(Arith { sat, special, ..Arith::new(op, dst, &sources) })
    }

    fn destination(&mut self) -> Result<Dst> {
        let (name, span) = self.word("a destination register")?;
        let (reg, components) = self.register(name, span)?;
        let reg = match reg {
            Reg::R(n) => DstReg::R(n),
            Reg::Stack(n) => DstReg::Stack(n),
            Reg::A => DstReg::A,
            Reg::C(_) | Reg::Special | Reg::I(_) | Reg::Hit | Reg::HitTri | Reg::HitObj => {
                let d = Diagnostic::error(format!("`{reg}` cannot be written")).at(span, "read only");
                return Err(Box::new(d.hint("results go to R0-R15, S0-S7 or A; `_rcp` and `_rsq` write S")));
            }
        };
        if components.is_empty() {
            return Ok(Dst { reg, mask: Mask::XYZW });
        }
        Ok(Dst { reg, mask: mask_of(&components, span)? })
    }

    /// A register that exists, with the components after the point.
    fn register(&self, name: &str, span: Span) -> Result<(Reg, Vec<Component>)> {
        let Some((reg, components)) = parse_reg(name) else {
            return Err(error(format!("`{name}` is not a register"), span, "unknown"));
        };
        if reg.exists() {
            return Ok((reg, components));
        }
        let hint = "the registers are R0-R15, C0-C31, S0-S7, S, I0-I3, A, HIT, HIT_TRI and HIT_OBJ";
        Err(Box::new(
            Diagnostic::error(IsaError::NoSuchRegister(reg.to_string()).to_string()).at(span, "unknown").hint(hint),
        ))
    }

    fn source(&mut self) -> Result<Src> {
        let negate = self.eat("-");
        let token = self.next("a register or a literal")?;
        match token.kind {
            TokenKind::Number(text) if text.starts_with('#') => {
                if negate {
                    return Err(error("write the sign of an integer literal after the `#`", token.span, "such as #-1"));
                }
                Ok(Src::Literal(integer_bits(text, token.span)?))
            }
            TokenKind::Number(text) => {
                let value = float(text, token.span)?;
                let value = if negate { -value } else { value };
                if !self.eat("*") {
                    return Ok(Src::float(value));
                }
                let Some(multiplier) = Multiplier::from_factor(value) else {
                    let d = Diagnostic::error("a source can be multiplied by ±0.5, ±1, ±2 or ±4 only");
                    return Err(Box::new(d.at(token.span, "not one of these").hint("use `mul` for other factors")));
                };
                let (name, span) = self.word("a register")?;
                self.register_source(name, span, multiplier)
            }
            TokenKind::Word(name) => {
                let multiplier = if negate { Multiplier::MINUS_ONE } else { Multiplier::ONE };
                self.register_source(name, token.span, multiplier)
            }
            TokenKind::Punct(_) | TokenKind::String(_) => {
                Err(error("expected a register or a literal", token.span, "found this"))
            }
        }
    }

    fn register_source(&self, name: &str, span: Span, multiplier: Multiplier) -> Result<Src> {
        let (reg, components) = self.register(name, span)?;
        let swizzle = Swizzle::from_components(&components).unwrap_or(Swizzle::IDENTITY);
        Ok(Src::Reg { reg, swizzle, multiplier })
    }

    fn base(&mut self) -> Result<Base> {
        let (name, span) = self.word("an address: A.x to A.w, HIT_TRI or HIT_OBJ")?;
        let numbered = name.strip_prefix('A').and_then(|digit| match digit {
            "0" => Some(Component::X),
            "1" => Some(Component::Y),
            "2" => Some(Component::Z),
            "3" => Some(Component::W),
            _ => None,
        });
        if let Some(component) = numbered {
            return Ok(Base::A(component));
        }
        match parse_reg(name).as_ref().map(|(r, c)| (*r, &c[..])) {
            Some((Reg::A, [component])) => Ok(Base::A(*component)),
            Some((Reg::HitTri, [])) => Ok(Base::HitTri),
            Some((Reg::HitObj, [])) => Ok(Base::HitObj),
            _ => Err(Box::new(
                Diagnostic::error("an address is A.x to A.w, HIT_TRI or HIT_OBJ").at(span, "cannot be an address"),
            )),
        }
    }

    fn offset(&mut self) -> Result<i16> {
        Ok(self.integer("an offset", i64::from(i16::MIN), i64::from(i16::MAX))? as i16)
    }

    /// A plain decimal integer in a range.
    fn integer(&mut self, what: &str, min: i64, max: i64) -> Result<i64> {
        let negate = self.eat("-");
        let token = self.next(what)?;
        let value = match token.kind {
            TokenKind::Number(text) => text.parse::<i64>().ok(),
            TokenKind::Word(_) | TokenKind::Punct(_) | TokenKind::String(_) => None,
        };
        let value = value.map(|v| if negate { -v } else { v }).filter(|v| (min..=max).contains(v));
        value.ok_or_else(|| error(format!("{what} must be an integer from {min} to {max}"), token.span, "found this"))
    }

    fn condition(&mut self) -> Result<Condition> {
        let (word, span) = self.word("a condition: `always`, or components and ranges such as `w (>=0)`")?;
        let (quantifier, (word, span)) = match word {
            "always" => return Ok(Condition::Always),
            "and" | "or" => (Some(word), self.word("components")?),
            _ => (None, (word, span)),
        };
        let components: Option<Vec<Component>> = word.chars().map(Component::from_letter).collect();
        let Some(components) = components else {
            let d = Diagnostic::error("expected the components that the condition tests").at(span, "found this");
            return Err(Box::new(d.hint("a condition reads like `w (>=0)`, `or xyzw (>=0 or <1)` or `always`")));
        };
        let mask = mask_of(&components, span)?;
        if quantifier.is_none() && mask.len() > 1 {
            let d = Diagnostic::error("several components need `and` or `or`").at(span, "these");
            return Err(Box::new(d.hint(format!("`or {mask} …` if any may do, `and {mask} …` if all must"))));
        }
        self.expect("(")?;
        let mut ranges = self.range_product()?;
        while self.eat_word("or") {
            ranges = ranges.or(self.range_product()?);
        }
        self.expect(")")?;
        Ok(if quantifier == Some("and") { Condition::All(mask, ranges) } else { Condition::Any(mask, ranges) })
    }

    /// Ranges joined by `and`.
    fn range_product(&mut self) -> Result<Ranges> {
        let mut ranges = self.range()?.0;
        while self.eat_word("and") {
            let (other, span) = self.range()?;
            ranges = ranges
                .and(other)
                .ok_or_else(|| error("no number is in all of these ranges", span, "excludes the rest"))?;
        }
        Ok(ranges)
    }

    fn range(&mut self) -> Result<(Ranges, Span)> {
        const WANTED: &str = "a range: <0, >=0, =0, <1 or >=1";
        let sign = self.next(WANTED)?;
        let bound = self.next(WANTED)?;
        let span = sign.span.to(bound.span);
        let ranges = match (sign.kind, bound.kind) {
            (TokenKind::Punct("<"), TokenKind::Number("0")) => Ranges::NEGATIVE,
            (TokenKind::Punct(">="), TokenKind::Number("0")) => Ranges::NOT_NEGATIVE,
            (TokenKind::Punct("="), TokenKind::Number("0")) => Ranges::ZERO,
            (TokenKind::Punct("<"), TokenKind::Number("1")) => Ranges::BELOW_ONE,
            (TokenKind::Punct(">="), TokenKind::Number("1")) => Ranges::NOT_BELOW_ONE,
            _ => return Err(error(format!("expected {WANTED}"), span, "the RPU cannot test this")),
        };
        Ok((ranges, span))
    }
}

/// A set of components; each may be named once.
fn mask_of(components: &[Component], span: Span) -> Result<Mask> {
    let mask = components.iter().fold(Mask::NONE, |mask, &c| mask.union(c.into()));
    if mask.is_empty() || mask.len() != components.len() {
        return Err(error("each component may be named once here", span, "named again"));
    }
    Ok(mask)
}

/// The register that a text names, with its components in order (none for the register alone):
/// `R3.xy`, `HIT`.
pub fn register(text: &str) -> Option<(Reg, Vec<Component>)> {
    parse_reg(text).filter(|(reg, _)| reg.exists())
}

/// The bit pattern of a number as literals are written, with a sign: `1.5`, `-2`, `#12`, `#-1`,
/// `#0xff`.
pub fn literal(text: &str) -> Option<u32> {
    let nowhere = Span::new(FileId::default(), 0, 0);
    if text.starts_with('#') {
        return integer_bits(text, nowhere).ok();
    }
    float(text, nowhere).ok().map(f32::to_bits)
}

/// Splits `R3.xyz` into register and components; the register's number may not exist.
fn parse_reg(text: &str) -> Option<(Reg, Vec<Component>)> {
    let (name, letters) = text.split_once('.').unwrap_or((text, ""));
    if text.contains('.') && (letters.is_empty() || letters.len() > 4) {
        return None;
    }
    let components = letters.chars().map(Component::from_letter).collect::<Option<Vec<_>>>()?;
    let number = |digits: &str| -> Option<u8> {
        let canonical = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
        if canonical { digits.parse().ok() } else { None }
    };
    let reg = match name {
        "S" => Reg::Special,
        "A" => Reg::A,
        "HIT" => Reg::Hit,
        "HIT_TRI" => Reg::HitTri,
        "HIT_OBJ" => Reg::HitObj,
        _ => match (name.chars().next()?, name.get(1..).and_then(number)?) {
            ('R', n) => Reg::R(n),
            ('C', n) => Reg::C(n),
            ('S', n) => Reg::Stack(n),
            ('I', n) => Reg::I(n),
            _ => return None,
        },
    };
    Some((reg, components))
}

/// A finite float.
fn float(text: &str, span: Span) -> Result<f32> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(error("the number is too large for a 32-bit float", span, "infinite")),
        Err(_) => Err(error(format!("`{text}` is not a number"), span, "malformed")),
    }
}

/// The pattern of `#123`, `#-1` or `#0xff`.
fn integer_bits(text: &str, span: Span) -> Result<u32> {
    let body = &text[1..];
    let (negative, digits) = body.strip_prefix('-').map_or((false, body), |rest| (true, rest));
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+')),
        None => digits.parse::<u32>().ok(),
    };
    let value = magnitude.map(|m| if negative { -i64::from(m) } else { i64::from(m) });
    match value.filter(|v| *v >= i64::from(i32::MIN)) {
        Some(value) => Ok(value as u32),
        None => {
            let d = Diagnostic::error(format!("`{text}` is not a 32-bit integer")).at(span, "malformed or too large");
            Err(Box::new(d.hint("write #123, #-123 or #0x7b")))
        }
    }
}

#[cfg(test)]
mod tests;
