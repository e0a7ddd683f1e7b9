//! `IfBegin`, `ElseIf`, `Else`, `IfEnd`: conditional parts of a file, and the expression language
//! of conditions.
//!
//! The printed specification has none; this is PRMan's: numbers, strings in single quotes,
//! variables (`$Frame`, `$user:name`, with braces or without), `defined(name)`, and the operators
//! `! - * / + - < <= > >= == != =~ && ||`, the tightest first. `=~` asks whether the text on its
//! left holds the one on its right.

use super::super::ParamValue;
use super::args::Args;
use super::reader::Reader;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;

/// Deepest nest of parentheses and signs in a condition.
const MAX_DEPTH: u32 = 64;

/// Deepest nest of conditional parts.
const MAX_NESTING: usize = 1000;

/// An open `IfBegin`.
#[derive(Clone, Copy, Debug)]
pub struct Conditional {
    /// Where it begins.
    pub span: Span,
    /// True if the requests of its current part are read.
    pub active: bool,
    /// True if none of its parts is read any more: one was, or it stands in a part that is not
    /// read.
    settled: bool,
}

/// A value of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A string.
    String(String),
}

impl Value {
    /// Returns the value that a condition sees of a value of `Option "user"` or `Attribute "user"`:
    /// its first number or string.
    pub fn from_param(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Float(v) => v.first().map(|&n| Value::Number(n.into())),
            ParamValue::Integer(v) => v.first().map(|&n| Value::Number(n.into())),
            ParamValue::String(v) => v.first().map(|s| Value::String(s.clone())),
            _ => None,
        }
    }

    fn is_true(&self) -> bool {
        match self {
            Value::Number(n) => *n != 0.0,
            Value::String(s) => !s.is_empty(),
        }
    }
}

/// `IfBegin "condition"`
pub fn if_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let text = args.string("a condition")?;
    args.skip()?;
    if r.conditionals.len() >= MAX_NESTING {
        r.fatal(args.error(format!("conditional parts are nested more than {MAX_NESTING} deep")));
        return Ok(());
    }
    let outer = r.reads_conditional();
    let span = args.span;
    // Whatever is wrong with the condition, the block is there.
    r.conditionals.push(Conditional { span, active: false, settled: true });
    if outer {
        let active = holds(r, args, &text)?;
        if let Some(conditional) = r.conditionals.last_mut() {
            (conditional.active, conditional.settled) = (active, active);
        }
    }
    Ok(())
}

/// `ElseIf "condition"`
pub fn else_if(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let text = args.string("a condition")?;
    args.skip()?;
    let settled = current(r, args)?.settled;
    let active = !settled && holds(r, args, &text)?;
    let conditional = current(r, args)?;
    conditional.active = active;
    conditional.settled |= active;
    Ok(())
}

/// `Else`
pub fn otherwise(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let conditional = current(r, args)?;
    conditional.active = !conditional.settled;
    conditional.settled = true;
    Ok(())
}

/// `IfEnd`
pub fn if_end(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    current(r, args)?;
    r.conditionals.pop();
    Ok(())
}

fn current<'r>(r: &'r mut Reader<'_>, args: &Args<'_, '_>) -> Result<&'r mut Conditional, Diagnostic> {
    r.conditionals.last_mut().ok_or_else(|| args.error("no `IfBegin` is open here"))
}

fn holds(r: &Reader<'_>, args: &Args<'_, '_>, text: &str) -> Result<bool, Diagnostic> {
    let value = evaluate(text, &|name| r.variable(name));
    value.map(|v| v.is_true()).map_err(|problem| args.error(format!("{problem} in the condition `{text}`")))
}

/// The value of a condition; an error says what is wrong with it.
fn evaluate(text: &str, variable: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
    let mut parser = Parser { rest: text, variable, depth: 0 };
    let value = parser.binary(0)?;
    match parser.rest.trim_start() {
        "" => Ok(value),
        rest => Err(format!("`{rest}` is not expected")),
    }
}

/// Operators by how tightly they bind, the loosest first; of those that begin alike the longer
/// first.
const LEVELS: [&[&str]; 6] = [&["||"], &["&&"], &["==", "!=", "=~"], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/"]];

struct Parser<'a> {
    rest: &'a str,
    variable: &'a dyn Fn(&str) -> Option<Value>,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn accept(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.strip_prefix(word).map(|rest| self.rest = rest).is_some()
    }

    fn binary(&mut self, level: usize) -> Result<Value, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|o| self.accept(o)) {
            let right = self.binary(level + 1)?;
            left = apply(operator, &left, &right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("parentheses are nested more than {MAX_DEPTH} deep"));
        }
        let value = if self.accept("!") {
            Value::Number(f64::from(!self.unary()?.is_true()))
        } else if self.accept("-") {
            Value::Number(-number(&self.unary()?)?)
        } else if self.accept("(") {
            let value = self.binary(0)?;
            self.close()?;
            value
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn close(&mut self) -> Result<(), String> {
        if self.accept(")") { Ok(()) } else { Err("a `)` is missing".to_string()) }
    }

    fn primary(&mut self) -> Result<Value, String> {
        if self.accept("defined") {
            if !self.accept("(") {
                return Err("a `(` is missing after `defined`".to_string());
            }
            let _ = self.accept("$");
            let name = self.name()?;
            self.close()?;
            return Ok(Value::Number(f64::from((self.variable)(name).is_some())));
        }
        if self.accept("$") {
            let name = self.name()?;
            return (self.variable)(name).ok_or_else(|| format!("there is no variable `{name}`"));
        }
        if self.accept("'") {
            let (text, rest) = self.rest.split_once('\'').ok_or("a string is never closed")?;
            self.rest = rest;
            return Ok(Value::String(text.to_string()));
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || "._:".contains(c))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word.parse::<f64>() {
            _ if word.is_empty() => Err("a value is missing".to_string()),
            Ok(n) if n.is_finite() => Ok(Value::Number(n)),
            _ => Ok(Value::String(word.to_string())),
        }
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let braced = self.accept("{");
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if name.is_empty() {
            return Err("a variable's name is missing".to_string());
        }
        if braced && !self.accept("}") {
            return Err("a `}` is missing".to_string());
        }
        Ok(name)
    }
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(n) => Ok(*n),
        Value::String(s) => Err(format!("'{s}' is not a number")),
    }
}

fn apply(operator: &str, left: &Value, right: &Value) -> Result<Value, String> {
    let truth = |b: bool| Ok(Value::Number(f64::from(b)));
    let text = |value: &Value| match value {
        Value::Number(n) => n.to_string(),
        Value::String(s) => s.clone(),
    };
    match operator {
        "||" => return truth(left.is_true() || right.is_true()),
        "&&" => return truth(left.is_true() && right.is_true()),
        "==" => return truth(left == right),
        "!=" => return truth(left != right),
        "=~" => return truth(text(left).contains(&text(right))),
        _ => {}
    }
    let (a, b) = (number(left)?, number(right)?);
    match operator {
        "<" => truth(a < b),
        "<=" => truth(a <= b),
        ">" => truth(a > b),
        ">=" => truth(a >= b),
        "+" => Ok(Value::Number(a + b)),
        "-" => Ok(Value::Number(a - b)),
        "*" => Ok(Value::Number(a * b)),
        _ => Ok(Value::Number(a / b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        evaluate(text, &|name| match name {
            "Frame" => Some(Value::Number(7.0)),
            "user:look" => Some(Value::String("wet".to_string())),
            _ => None,
        })
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("-2 * -3", 6.0),
            ("1 < 2 == 1", 1.0),
            ("1 || 0 && 0", 1.0),
            ("!0 + 1", 2.0),
            ("$Frame >= 7 && ${Frame} < 8", 1.0),
            ("$user:look == 'wet'", 1.0),
            ("$user:look == wet", 1.0),
            ("$user:look =~ 'we'", 1.0),
            ("defined($user:look) && !defined(user:other)", 1.0),
        ] {
            assert_eq!(value(text), Ok(Value::Number(expected)), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, problem) in [
            ("1 +", "a value is missing"),
            ("(1", "a `)` is missing"),
            ("$x", "there is no variable `x`"),
            ("'a' < 1", "'a' is not a number"),
            ("1 2", "`2` is not expected"),
            ("'a", "a string is never closed"),
            ("$", "a variable's name is missing"),
        ] {
            assert_eq!(value(text), Err(problem.to_string()), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err_and(|e| e.contains("nested")));
        assert!(value(&"!".repeat(100_000)).is_err_and(|e| e.contains("nested")));
    }
}
