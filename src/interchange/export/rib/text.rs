//! RIB text: requests, parameters, and numbers that are read back to the same bits.

use glam::{Mat4, Vec2, Vec3};
use shadewright_scene::ParamValue;
use std::fmt::Write;

/// Numbers of a list on one line.
const ON_A_LINE: usize = 24;

/// RIB text that grows by requests.
#[derive(Debug, Default)]
pub struct Text {
    out: String,
    /// Blocks that are open.
    depth: usize,
}

impl Text {
    /// The text so far.
    pub fn finish(self) -> String {
        self.out
    }

    /// Adds a line, indented by the blocks around it.
    pub fn line(&mut self, line: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
        self.out += line;
        self.out.push('\n');
    }

    /// Adds the request that opens a block.
    pub fn open(&mut self, request: &str) {
        self.line(request);
        self.depth += 1;
    }

    /// Adds the request that closes a block.
    pub fn close(&mut self, request: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(request);
    }

    /// Adds a request with a list of parameters.
    pub fn request(&mut self, request: &str, params: &[(String, ParamValue)]) {
        let mut line = request.to_string();
        // RIB has no values without elements.
        for (name, value) in params.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(line, " {}", parameter(name, value));
        }
        self.line(&line);
    }

    /// Adds a primitive variable on lines of its own.
    pub fn variable(&mut self, declaration: &str, values: impl IntoIterator<Item = impl AsRef<str>>) {
        self.list(&quoted(declaration), values);
    }

    /// Adds a list in brackets, after a word if that is not empty.
    pub fn list(&mut self, word: &str, values: impl IntoIterator<Item = impl AsRef<str>>) {
        self.out.extend(std::iter::repeat_n("  ", self.depth + 1));
        self.out += word;
        self.out += if word.is_empty() { "[" } else { " [" };
        for (number, value) in values.into_iter().enumerate() {
            if number > 0 {
                self.out.push(if number % ON_A_LINE == 0 { '\n' } else { ' ' });
            }
            self.out += value.as_ref();
        }
        self.out += "]\n";
    }
}

/// A parameter with its declaration and its values. Numbers that no scene declares are written as
/// they are: the shader gives them their type.
pub fn parameter(name: &str, value: &ParamValue) -> String {
    let length = if value.len() == 1 { String::new() } else { format!("[{}]", value.len()) };
    let declaration = match value {
        ParamValue::Numbers(_) => name.to_string(),
        _ => format!("{}{length} {name}", value.type_name()),
    };
    format!("{} [{}]", quoted(&declaration), values(value))
}

/// The values of a parameter, with blanks between them.
pub fn values(value: &ParamValue) -> String {
    let triples = |v: &[Vec3]| numbers(v.as_flattened_numbers());
    match value {
        ParamValue::Numbers(v) | ParamValue::Float(v) => numbers(v),
        ParamValue::Integer(v) => v.iter().map(i32::to_string).collect::<Vec<_>>().join(" "),
        ParamValue::String(v) => v.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" "),
        ParamValue::Color(v) | ParamValue::Point(v) | ParamValue::Vector(v) | ParamValue::Normal(v) => triples(v),
        ParamValue::Matrix(v) => numbers(&v.iter().flat_map(Mat4::to_cols_array).collect::<Vec<_>>()),
    }
}

/// Vectors as the numbers that they are made of.
pub trait Flattened {
    /// The numbers, vector after vector.
    fn as_flattened_numbers(&self) -> &[f32];
}

impl Flattened for [Vec3] {
    fn as_flattened_numbers(&self) -> &[f32] {
        bytemuck::cast_slice(self)
    }
}

impl Flattened for [Vec2] {
    fn as_flattened_numbers(&self) -> &[f32] {
        bytemuck::cast_slice(self)
    }
}

/// Numbers, with blanks between them.
pub fn numbers(values: &[f32]) -> String {
    values.iter().map(|&x| number(x)).collect::<Vec<_>>().join(" ")
}

/// A number in the fewest digits that are read back to the same bits. RIB has finite numbers only.
pub fn number(x: f32) -> String {
    let x = if x.is_nan() { 0.0 } else { x.clamp(f32::MIN, f32::MAX) };
    let shown = format!("{x:?}");
    let text = shown.strip_suffix(".0").unwrap_or(&shown);
    // Readers round twice, to double and then to single precision.
    match text.parse::<f64>() {
        Ok(read) if (read as f32).to_bits() == x.to_bits() => text.to_string(),
        _ => format!("{:e}", f64::from(x)),
    }
}

/// A string with its quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            _ => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_to_the_same_bits() {
        for (x, text) in
            [(1.0, "1"), (0.1, "0.1"), (-0.0, "-0"), (1e-7, "1e-7"), (3.5e20, "3.5e20"), (16_777_216.0, "16777216")]
        {
            assert_eq!(number(x), text);
        }
        // A walk through all exponents.
        let mut bits = 1u32;
        while bits < 0x7f80_0000 {
            let x = f32::from_bits(bits);
            for x in [x, -x] {
                let read = number(x).parse::<f64>().expect("a number") as f32;
                assert_eq!(read.to_bits(), x.to_bits(), "{}", number(x));
            }
            bits += 65_537;
        }
        assert_eq!((number(f32::NAN), number(f32::INFINITY)), ("0".to_string(), "3.4028235e38".to_string()));
    }

    #[test]
    fn parameters_have_their_type_and_length() {
        let written = |value| parameter("x", &value);
        assert_eq!(written(ParamValue::Float(vec![0.5])), "\"float x\" [0.5]");
        assert_eq!(written(ParamValue::Color(vec![Vec3::ONE, Vec3::X])), "\"color[2] x\" [1 1 1 1 0 0]");
        assert_eq!(written(ParamValue::Numbers(vec![1.0, 2.0])), "\"x\" [1 2]");
        assert_eq!(written(ParamValue::String(vec!["a \"b\"\n".to_string()])), "\"string x\" [\"a \\\"b\\\"\\n\"]");
    }
}
