//! String expressions over an instance's parameters: `concat`, `format` and `match` (RenderMan
//! Interface 3.2.1, §15.9).
//!
//! A string is a number while a program runs, so strings cannot be built then. The front end keeps
//! such an expression as a [`StringExpr`], and the linker evaluates it once the parameters are
//! known.

use regex_lite::RegexBuilder;
use shadewright_ir::{Const, Type};
use std::sync::Arc;

/// An expression over constants and parameters, whose value is a string or a number.
#[derive(Clone, Debug, PartialEq)]
pub enum StringExpr {
    /// A constant.
    Literal(Arc<str>),
    /// A number.
    Number(f32),
    /// A color, or another triple.
    Triple([f32; 3]),
    /// The instance's parameter of that name.
    Parameter(Arc<str>),
    /// `concat(a, b, …)`
    Concat(Vec<StringExpr>),
    /// `format(pattern, a, …)`
    Format(Vec<StringExpr>),
    /// `match(pattern, subject)`: 1 or 0.
    Match(Vec<StringExpr>),
}

/// Longest text that is made, in bytes; what is longer is cut.
const MAX_LENGTH: usize = 64 << 10;

/// Most parts of an expression: one that a variable holds is copied to each use of it.
const MAX_PARTS: usize = 4096;

impl StringExpr {
    /// The simplest form without parameters: a constant where its value is known. `None` where it
    /// has too many parts.
    pub fn simplified(self) -> Option<StringExpr> {
        match self.value(&|_| None) {
            Some(Const::String(text)) => Some(StringExpr::Literal(text)),
            Some(Const::F32(x)) => Some(StringExpr::Number(x)),
            _ => (self.parts() <= MAX_PARTS).then_some(self),
        }
    }

    /// How many constants, parameters and functions it is made of.
    fn parts(&self) -> usize {
        match self {
            StringExpr::Concat(parts) | StringExpr::Format(parts) | StringExpr::Match(parts) => {
                1 + parts.iter().map(StringExpr::parts).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// The type of the value; of a parameter by itself, that of texts.
    pub fn ty(&self) -> Type {
        match self {
            StringExpr::Number(_) | StringExpr::Match(_) => Type::F32,
            StringExpr::Triple(_) => Type::Vec3,
            StringExpr::Literal(_) | StringExpr::Parameter(_) | StringExpr::Concat(_) | StringExpr::Format(_) => {
                Type::String
            }
        }
    }

    /// The value, where `parameter` gives those of parameters; `None` when one is not known, or a
    /// type does not fit.
    pub fn value(&self, parameter: &dyn Fn(&str) -> Option<Const>) -> Option<Const> {
        let values = |parts: &[StringExpr]| parts.iter().map(|p| p.value(parameter)).collect::<Option<Vec<Const>>>();
        match self {
            StringExpr::Literal(text) => Some(Const::String(text.clone())),
            StringExpr::Number(x) => Some(Const::F32(*x)),
            StringExpr::Triple(x) => Some(Const::Vec3(*x)),
            StringExpr::Parameter(name) => parameter(name),
            StringExpr::Concat(parts) => {
                let values = values(parts)?;
                let texts = values.iter().map(|v| if let Const::String(text) = v { Some(&**text) } else { None });
                Some(Const::String(cut(texts.collect::<Option<Vec<_>>>()?.concat()).into()))
            }
            StringExpr::Format(parts) => match values(parts)?.as_slice() {
                [Const::String(pattern), rest @ ..] => Some(Const::String(cut(format(pattern, rest)).into())),
                _ => None,
            },
            StringExpr::Match(parts) => match values(parts)?.as_slice() {
                [Const::String(pattern), Const::String(subject)] => {
                    let found = matches(pattern, subject).ok()?;
                    Some(Const::F32(f32::from(u8::from(found))))
                }
                _ => None,
            },
        }
    }

    /// The rest after a prefix, of a string that is known to begin with it.
    pub fn after(&self, prefix: &str) -> Option<StringExpr> {
        let first = |parts: &[StringExpr]| {
            let (first, rest) = parts.split_first()?;
            Some(std::iter::once(first.after(prefix)?).chain(rest.iter().cloned()).collect())
        };
        match self {
            StringExpr::Literal(text) => Some(StringExpr::Literal(text.strip_prefix(prefix)?.into())),
            StringExpr::Concat(parts) => Some(StringExpr::Concat(first(parts)?)),
            StringExpr::Format(parts) => Some(StringExpr::Format(first(parts)?)),
            _ => None,
        }
    }

    /// A known pattern of a `match` in it that is no regular expression, and what is wrong with it.
    pub fn invalid_pattern(&self, parameter: &dyn Fn(&str) -> Option<Const>) -> Option<(Arc<str>, String)> {
        match self {
            StringExpr::Match(parts) => {
                if let Some(Const::String(pattern)) = parts.first().and_then(|p| p.value(parameter))
                    && let Err(why) = matches(&pattern, "")
                {
                    return Some((pattern, why));
                }
                parts.iter().find_map(|p| p.invalid_pattern(parameter))
            }
            StringExpr::Concat(parts) | StringExpr::Format(parts) => {
                parts.iter().find_map(|p| p.invalid_pattern(parameter))
            }
            _ => None,
        }
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_LENGTH {
        let end = (0..=MAX_LENGTH).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// A `%` of a pattern, as in C.
#[derive(Clone, Copy, Debug, Default)]
struct Directive {
    left: bool,
    zeros: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
}

/// The pattern with its directives replaced by the values: `%f %e %g` numbers, `%d %i` whole
/// numbers, `%s` texts, `%p %v %n %c %m` the numbers of points, vectors, normals, colors and
/// matrices. A directive without a value gives nothing.
pub fn format(pattern: &str, values: &[Const]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut directive = Directive::default();
        while let Some(flag) = rest.next_if(|c| "-0+ #".contains(*c)) {
            directive.left |= flag == '-';
            directive.zeros |= flag == '0';
            directive.plus |= flag == '+';
        }
        directive.width = count(&mut rest).unwrap_or(0);
        if rest.next_if_eq(&'.').is_some() {
            directive.precision = Some(count(&mut rest).unwrap_or(0));
        }
        match rest.next() {
            Some('%') => out.push('%'),
            Some(letter) => {
                if let Some(value) = values.next() {
                    out += &directive.written(letter, value);
                }
            }
            None => out.push('%'),
        }
    }
    out
}

/// A number of digits, at most 999.
fn count(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<usize> {
    let mut number = None;
    while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
        rest.next();
        number = Some((number.unwrap_or(0) * 10 + digit as usize).min(999));
    }
    number
}

impl Directive {
    fn written(&self, letter: char, value: &Const) -> String {
        match value.floats() {
            Some(numbers) => {
                let words: Vec<String> = numbers.iter().map(|x| self.padded(self.number(letter, *x), true)).collect();
                words.join(" ")
            }
            None => match value {
                Const::String(text) => self.padded(text.to_string(), false),
                other => other.bits().first().copied().unwrap_or(0).to_string(),
            },
        }
    }

    fn number(&self, letter: char, x: f32) -> String {
        let precision = self.precision.unwrap_or(6);
        let text = match letter {
            'd' | 'i' => format!("{}", x as i64),
            'e' | 'E' => exponential(x, precision),
            'g' | 'G' => general(x, precision.max(1)),
            _ => format!("{x:.precision$}"),
        };
        if self.plus && x >= 0.0 { format!("+{text}") } else { text }
    }

    fn padded(&self, text: String, number: bool) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.left, self.zeros && number) {
            (true, _) => text + &" ".repeat(missing),
            (false, true) => {
                let signed = usize::from(text.starts_with(['-', '+']));
                format!("{}{}{}", &text[..signed], "0".repeat(missing), &text[signed..])
            }
            (false, false) => " ".repeat(missing) + &text,
        }
    }
}

/// C's `%e`: an exponent of a sign and at least two digits.
fn exponential(x: f32, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |size| ('-', size));
            format!("{digits}e{sign}{size:0>2}")
        }
        None => text,
    }
}

/// C's `%g`: significant digits, without zeros at the end, and an exponent for very large and very
/// small numbers.
fn general(x: f32, digits: usize) -> String {
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    let text = exponential(x, digits - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let size: i32 = exponent.parse().unwrap_or(0);
    match size >= -4 && size < digits as i32 {
        true => trimmed(&format!("{x:.*}", (digits as i32 - 1 - size).max(0) as usize)),
        false => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

/// True if a pattern, a POSIX extended regular expression, occurs in the subject.
///
/// # Errors
/// The fault of the pattern.
pub fn matches(pattern: &str, subject: &str) -> Result<bool, String> {
    let regex = RegexBuilder::new(pattern).dot_matches_new_line(true).build().map_err(|e| e.to_string())?;
    Ok(regex.is_match(subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_those_of_c() {
        let x = |pattern: &str, x: f32| format(pattern, &[Const::F32(x)]);
        assert_eq!(x("%f", 1.5), "1.500000");
        assert_eq!(x("a%.2fb", -0.125), "a-0.12b");
        assert_eq!(x("%04d", 17.0), "0017");
        assert_eq!(x("%-4d|", 17.9), "17  |");
        assert_eq!(x("%6.1f", 3.25), "   3.2");
        assert_eq!(x("%g", 0.5), "0.5");
        assert_eq!(x("%g", 1e10), "1e+10");
        assert_eq!(x("%e", 250.0), "2.500000e+02");
        assert_eq!(x("100%%", 0.0), "100%");
        assert_eq!(x("%f %f", 1.0), "1.000000 ");
        let color = Const::Vec3([1.0, 0.5, 0.0]);
        assert_eq!(format("%s is %.1c", &[Const::String("red".into()), color]), "red is 1.0 0.5 0.0");
        assert_eq!(format("%", &[]), "%");
    }

    #[test]
    fn patterns_occur_anywhere_unless_they_are_tied_to_an_end() {
        for (pattern, subject, expected) in [
            ("bc", "abcd", true),
            ("^bc", "abcd", false),
            ("^ab", "abcd", true),
            ("cd$", "abcd", true),
            ("bc$", "abcd", false),
            ("a.c", "xabcx", true),
            ("a*b", "b", true),
            ("xa*b", "xaaab", true),
            ("xa+b", "xb", false),
            ("xa?b", "xaab", false),
            ("[0-9]+\\.tif$", "tile12.tif", true),
            ("[^a-z]", "abc", false),
            ("[]x]", "]", true),
            ("[a-]", "-", true),
            ("\\*", "a*b", true),
            ("", "anything", true),
            ("^$", "", true),
            ("^$", "a", false),
            ("^(wood|oak)[0-9]{2,3}$", "oak012", true),
            ("^(wood|oak)[0-9]{2,3}$", "oak1", false),
            ("[[:upper:]][[:digit:]]", "x A7", true),
            ("a|b", "xbx", true),
            ("(ab)+c", "ababc", true),
        ] {
            assert_eq!(matches(pattern, subject), Ok(expected), "{pattern} in {subject}");
        }
        for pattern in ["(", "[a", "a{3,1}", "*a", "\\"] {
            assert!(matches(pattern, "a").is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_text_is_worked_out_of_parameters() {
        let parameter = |name: &str| match name {
            "base" => Some(Const::String("wood".into())),
            "frame" => Some(Const::F32(7.0)),
            _ => None,
        };
        let [base, frame] = ["base", "frame"].map(|name| StringExpr::Parameter(name.into()));
        let literal = |text: &str| StringExpr::Literal(text.into());
        let name = StringExpr::Concat(vec![base, StringExpr::Format(vec![literal(".%03d.tex"), frame])]);
        assert_eq!(name.value(&parameter), Some(Const::String("wood.007.tex".into())));
        let tested = StringExpr::Match(vec![literal("^wood"), name.clone()]);
        assert_eq!(tested.value(&parameter), Some(Const::F32(1.0)));
        assert_eq!(StringExpr::Concat(vec![name, StringExpr::Parameter("missing".into())]).value(&parameter), None);
        assert_eq!(StringExpr::Concat(vec![StringExpr::Number(1.0)]).value(&parameter), None);
    }

    #[test]
    fn a_text_that_is_made_is_cut_at_64_kibibytes() {
        let literal = |text: &str| StringExpr::Literal(text.into());
        let half = literal(&"é".repeat(16 << 10));
        for (made, length) in [
            (StringExpr::Concat(vec![half.clone(), half.clone(), literal("x")]), 64 << 10),
            (StringExpr::Format(vec![literal("%s%sx"), half.clone(), half.clone()]), 64 << 10),
            (StringExpr::Concat(vec![literal("x"), half.clone(), half]), (64 << 10) - 1),
        ] {
            let Some(Const::String(text)) = made.value(&|_| None) else { panic!("it is known") };
            assert_eq!(text.len(), length);
        }
    }
}
