//! Binary RIB (RISpec 3.2, appendix C.2): bytes in, the same requests as text out, so that one
//! lexer reads both and messages have something to quote.
//!
//! | first byte (octal) | meaning |
//! |---|---|
//! | below 200 | text, as it stands |
//! | 200 + 4·d + w | a number of w + 1 bytes, the last d of them after the point; of four bytes signed, of fewer not |
//! | 220 + n | a string of n bytes |
//! | 240 + l | a string; its length in l + 1 bytes, l at most 3 |
//! | 244, 245 | a number in IEEE single, double precision |
//! | 246 c | the request that is defined as c |
//! | 310 + l | an array of numbers in IEEE single precision; its length in l + 1 bytes, l at most 3 |
//! | 314 c s | defines the request c as the string s |
//! | 315 + w i s | defines the string i, which has w + 1 bytes, as s |
//! | 317 + w i | the string that is defined as i |
//! | 377 | the end |
//!
//! All other bytes are reserved. The most significant byte comes first.

use std::collections::HashMap;
use std::fmt::Write as _;
use thiserror::Error;

/// Bytes that are not binary RIB.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum BinaryError {
    /// A byte that means nothing.
    #[error("byte {at} is {byte:#04x}, which is reserved")]
    Reserved {
        /// Where it is.
        at: usize,
        /// The byte.
        byte: u8,
    },
    /// The end comes within a token.
    #[error("the file ends within the token that starts at byte {at}")]
    CutOff {
        /// Where the token starts.
        at: usize,
    },
    /// A code is used that was not defined.
    #[error("the {what} {code} at byte {at} is not defined before")]
    Undefined {
        /// `request` or `string`.
        what: &'static str,
        /// The code of the string or request.
        code: u32,
        /// Where it is used.
        at: usize,
    },
    /// A definition is not followed by a string.
    #[error("the definition at byte {at} has no string")]
    NoString {
        /// Where it is.
        at: usize,
    },
    /// A defined request's name is no word.
    #[error("the request that byte {at} defines has no name")]
    NoName {
        /// Where it is.
        at: usize,
    },
    /// The text would be too long.
    #[error("as text the file has more than {limit} bytes")]
    TooLarge {
        /// The most that it may have.
        limit: usize,
    },
}

/// True if bytes are to be read as binary RIB: outside strings and comments there is a byte above
/// those of text that starts a token, and the bytes are not UTF-8 or hold bytes that no text has.
pub fn is_binary(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err() && first_token(bytes).is_some()
}

/// The place of the first byte above 0177 outside strings and comments.
fn first_token(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at = line_end(bytes, at),
            b'"' => at = string_end(bytes, at),
            0x80.. => return Some(at),
            _ => at += 1,
        }
    }
    None
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n)
}

/// After the closing quote of the string whose opening one is at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b'"' => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// Writes binary RIB as text of at most `limit` bytes.
///
/// # Errors
///
/// When the bytes are no binary RIB, or the text would be longer.
pub fn to_text(bytes: &[u8], limit: usize) -> Result<String, BinaryError> {
    let mut decoder = Decoder {
        bytes,
        at: 0,
        start: 0,
        out: String::new(),
        limit,
        requests: HashMap::new(),
        strings: HashMap::new(),
    };
    while decoder.token()? {}
    Ok(decoder.out)
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the token starts.
    start: usize,
    out: String,
    limit: usize,
    requests: HashMap<u8, String>,
    strings: HashMap<u32, Vec<u8>>,
}

impl<'a> Decoder<'a> {
    /// Writes the next token; false at the end.
    fn token(&mut self) -> Result<bool, BinaryError> {
        self.start = self.at;
        let Some(&byte) = self.bytes.get(self.at) else { return Ok(false) };
        match byte {
            b'#' => self.copy(line_end(self.bytes, self.at))?,
            b'"' => self.copy(string_end(self.bytes, self.at))?,
            0..=0o177 => {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(|b| *b >= 0o200 || matches!(b, b'#' | b'"')).unwrap_or(rest.len());
                self.copy(self.at + length)?;
            }
            0o377 => return Ok(false),
            _ => {
                self.at += 1;
                self.encoded(byte)?;
            }
        }
        Ok(true)
    }

    fn encoded(&mut self, byte: u8) -> Result<(), BinaryError> {
        match byte {
            0o200..=0o217 => {
                let (length, behind) = (usize::from(byte & 3) + 1, i32::from(byte >> 2 & 3));
                let bits = self.integer(length)?;
                let whole = if length == 4 { f64::from(bits as i32) } else { f64::from(bits) };
                self.number(whole / 256f64.powi(behind))
            }
            0o220..=0o243 => {
                let text = self.string_after(byte)?;
                self.string(&text)
            }
            0o244 => {
                let value = f32::from_bits(self.integer(4)?);
                self.single(value)
            }
            0o245 => {
                let [high, low] = [self.integer(4)?, self.integer(4)?].map(u64::from);
                self.number(f64::from_bits(high << 32 | low))
            }
            0o246 => {
                let code = self.take(1)?[0];
                let name = self.requests.get(&code).cloned();
                let undefined = BinaryError::Undefined { what: "request", code: code.into(), at: self.start };
                self.push(&format!("\n{}", name.ok_or(undefined)?))
            }
            0o310..=0o313 => {
                let count = self.integer(usize::from(byte - 0o310) + 1)? as usize;
                let words = self.take(count.checked_mul(4).ok_or(BinaryError::CutOff { at: self.start })?)?;
                self.push("[")?;
                for word in words.chunks_exact(4) {
                    self.single(f32::from_be_bytes([word[0], word[1], word[2], word[3]]))?;
                }
                self.push("]")
            }
            0o314 => {
                let code = self.take(1)?[0];
                let name = self.definition()?;
                let name = String::from_utf8(name).ok().filter(|n| n.bytes().all(|b| b.is_ascii_alphanumeric()));
                let name = name.filter(|n| n.starts_with(|c: char| c.is_ascii_alphabetic()));
                self.requests.insert(code, name.ok_or(BinaryError::NoName { at: self.start })?);
                Ok(())
            }
            0o315 | 0o316 => {
                let code = self.integer(usize::from(byte - 0o315) + 1)?;
                let text = self.definition()?;
                self.strings.insert(code, text);
                Ok(())
            }
            0o317 | 0o320 => {
                let code = self.integer(usize::from(byte - 0o317) + 1)?;
                let undefined = BinaryError::Undefined { what: "string", code, at: self.start };
                let text = self.strings.get(&code).cloned().ok_or(undefined)?;
                self.string(&text)
            }
            _ => Err(BinaryError::Reserved { at: self.start, byte }),
        }
    }

    /// The string that a definition gives, in either form.
    fn definition(&mut self) -> Result<Vec<u8>, BinaryError> {
        let missing = BinaryError::NoString { at: self.start };
        match self.bytes.get(self.at) {
            Some(b'"') => {
                let end = string_end(self.bytes, self.at);
                let quoted = &self.bytes[self.at..end];
                self.at = end;
                let text = quoted.strip_prefix(b"\"").and_then(|q| q.strip_suffix(b"\"")).ok_or(missing)?;
                Ok(super::lexer::unescape(&String::from_utf8_lossy(text)).into_owned().into_bytes())
            }
            Some(&byte @ 0o220..=0o243) => {
                self.at += 1;
                self.string_after(byte)
            }
            _ => Err(missing),
        }
    }

    /// The string whose first byte was taken.
    fn string_after(&mut self, byte: u8) -> Result<Vec<u8>, BinaryError> {
        let length = match byte {
            0o220..=0o237 => usize::from(byte - 0o220),
            _ => self.integer(usize::from(byte - 0o240) + 1)? as usize,
        };
        Ok(self.take(length)?.to_vec())
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], BinaryError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(BinaryError::CutOff { at: self.start })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// An unsigned integer of up to four bytes.
    fn integer(&mut self, length: usize) -> Result<u32, BinaryError> {
        Ok(self.take(length)?.iter().fold(0, |value, &b| value << 8 | u32::from(b)))
    }

    /// Text up to `end`, as it stands.
    fn copy(&mut self, end: usize) -> Result<(), BinaryError> {
        let text = String::from_utf8_lossy(&self.bytes[self.at..end.min(self.bytes.len())]);
        self.at = end.min(self.bytes.len());
        self.append(&text)
    }

    fn push(&mut self, token: &str) -> Result<(), BinaryError> {
        self.append(token)?;
        self.append(" ")
    }

    fn append(&mut self, text: &str) -> Result<(), BinaryError> {
        if self.out.len() + text.len() > self.limit {
            return Err(BinaryError::TooLarge { limit: self.limit });
        }
        self.out.push_str(text);
        Ok(())
    }

    /// The shortest text that reads as the same number. What is not finite is written as text RIB
    /// has it, for the lexer to refuse.
    fn number(&mut self, value: f64) -> Result<(), BinaryError> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(text, "{value:e}");
        self.push(&text)
    }

    fn single(&mut self, value: f32) -> Result<(), BinaryError> {
        let mut text = String::new();
        let _ = write!(text, "{value:e}");
        self.push(&text)
    }

    fn string(&mut self, bytes: &[u8]) -> Result<(), BinaryError> {
        let text = String::from_utf8_lossy(bytes).replace('\\', "\\\\").replace('"', "\\\"");
        self.push(&format!("\"{text}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        let text = to_text(bytes, 1000).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_are_integers_fixed_point_or_ieee() {
        assert_eq!(text(&[0o200, 200]), "2e2");
        assert_eq!(text(&[0o201, 1, 0]), "2.56e2");
        assert_eq!(text(&[0o203, 0xff, 0xff, 0xff, 0xfe]), "-2e0");
        // One byte before the point and one after it.
        assert_eq!(text(&[0o205, 3, 0x80]), "3.5e0");
        assert_eq!(text(&[0o210, 0x40]), "9.765625e-4", "one byte, two places behind the point");
        assert_eq!(text(&[0o217, 1, 0, 0, 0]), "1e0");
        assert_eq!(text(&[0o244, 0x3f, 0x80, 0, 0]), "1e0");
        assert_eq!(text(&[0o245, 0xbf, 0xe0, 0, 0, 0, 0, 0, 0]), "-5e-1");
    }

    #[test]
    fn arrays_of_floats_have_brackets() {
        assert_eq!(text(&[0o310, 2, 0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]), "[ 1e0 2e0 ]");
        assert_eq!(text(&[0o311, 0, 0]), "[ ]");
    }

    #[test]
    fn strings_are_short_long_or_defined() {
        assert_eq!(text(b"\x92ab"), "\"ab\"");
        assert_eq!(text(b"\xa0\x03a\"b"), "\"a\\\"b\"");
        assert_eq!(text(b"\xcd\x05\x93red\xcf\x05 \xcf\x05"), "\"red\" \"red\"");
        assert_eq!(text(b"\xce\x01\x00\"blue\" \xd0\x01\x00"), "\"blue\"");
    }

    #[test]
    fn requests_are_defined_and_used() {
        assert_eq!(text(b"\xcc\x07\x96Sphere\xa6\x07\x80\x01 -1 1 360 Sides 2"), "Sphere 1e0 -1 1 360 Sides 2");
    }

    #[test]
    fn text_stays_as_it_is() {
        let bytes = b"# \xff comment\nDisplay \"caf\xe9\" \x80\x02";
        assert!(text(bytes).ends_with("2e0"));
        assert!(is_binary(bytes));
        assert!(!is_binary("Display \"café\" 2".as_bytes()));
        assert!(!is_binary(b"Display \"caf\xe9\" # \xe9\n2"), "Latin-1 text");
    }

    #[test]
    fn what_is_no_binary_rib_is_refused() {
        assert_eq!(to_text(&[0o250], 99), Err(BinaryError::Reserved { at: 0, byte: 0o250 }));
        assert_eq!(to_text(&[b' ', 0o244, 1], 99), Err(BinaryError::CutOff { at: 1 }));
        assert_eq!(to_text(&[0o313, 0xff, 0xff, 0xff, 0xff], 99), Err(BinaryError::CutOff { at: 0 }));
        assert_eq!(to_text(&[0o246, 3], 99), Err(BinaryError::Undefined { what: "request", code: 3, at: 0 }));
        assert_eq!(to_text(&[0o317, 3], 99), Err(BinaryError::Undefined { what: "string", code: 3, at: 0 }));
        assert_eq!(to_text(&[0o314, 3, b'x'], 99), Err(BinaryError::NoString { at: 0 }));
        assert_eq!(to_text(b"\xcc\x01\x91 ", 99), Err(BinaryError::NoName { at: 0 }));
        assert_eq!(to_text(&[0o200, 1], 3), Err(BinaryError::TooLarge { limit: 3 }));
        assert_eq!(to_text(b"Sides 2 \xff Sides 3", 99).as_deref(), Ok("Sides 2 "));
    }
}
