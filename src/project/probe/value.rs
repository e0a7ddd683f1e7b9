//! Values with the types that they have in the source.

use serde::Serialize;
use shadewright_ir::Const;
use shadewright_lang::types::SourceType;
use std::fmt;

/// A value of the shading language.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f32),
    /// A color, point, vector or normal.
    Triple([f32; 3]),
    /// A matrix, row by row.
    Matrix(Vec<f32>),
    /// A string.
    String(String),
    /// The elements of an array.
    List(Vec<Value>),
}

impl Value {
    /// The value that a constant of the IR stands for; `text` gives the strings of identifiers.
    pub fn new(value: &Const, ty: SourceType, text: impl FnOnce(u32) -> Option<String>) -> Self {
        match (value, ty) {
            (Const::U32(id), SourceType::String) => {
                Value::String(text(*id).unwrap_or_else(|| format!("string #{id:08x}")))
            }
            (Const::String(s), _) => Value::String(s.to_string()),
            (Const::Bool(b), _) => Value::Bool(*b),
            (Const::I32(i), _) => Value::Number(*i as f32),
            (Const::U32(u) | Const::Ref(u), _) => Value::Number(*u as f32),
            (Const::F32(x), _) => Value::Number(*x),
            (Const::Vec3(v), _) => Value::Triple(*v),
            _ => Value::Matrix(value.floats().unwrap_or_default().to_vec()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, numbers: &[f32]| {
            let words: Vec<String> = numbers.iter().map(|x| number(*x)).collect();
            write!(f, "({})", words.join(", "))
        };
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(x) => f.write_str(&number(*x)),
            Value::Triple(v) => list(f, v),
            Value::Matrix(m) => list(f, m),
            Value::String(s) => write!(f, "{s:?}"),
            Value::List(values) => {
                let words: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "{{{}}}", words.join(", "))
            }
        }
    }
}

/// A number with six significant digits, without zeros at its end.
pub fn number(x: f32) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let size = x.abs().log10().floor();
    if !(-4.0..9.0).contains(&size) {
        return format!("{x:.5e}");
    }
    let text = format!("{x:.*}", (5.0 - size).max(0.0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// A variable or parameter with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// The name in the source.
    pub name: String,
    /// The type, as the language writes it.
    #[serde(rename = "type", serialize_with = "as_word")]
    pub ty: SourceType,
    /// The value of the variable.
    pub value: Value,
}

/// Writes a type as its keyword.
///
/// # Errors
/// The errors of the serializer.
pub fn as_word<S: serde::Serializer>(ty: &SourceType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits_and_no_zeros_at_their_end() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.25, "-0.25"),
            (1.0 / 3.0, "0.333333"),
            (1234.5678, "1234.57"),
            (100.0, "100"),
            (16_777_216.0, "16777216"),
            (1e-7, "1.00000e-7"),
            (f32::MAX, "3.40282e38"),
            (f32::NAN, "NaN"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
    }
}
