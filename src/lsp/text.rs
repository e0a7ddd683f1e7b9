//! Positions in a text as editors count them.
//!
//! Converts byte offsets to lines and columns and back. A line ends with LF, CR LF or CR; columns
//! count code units of the negotiated encoding. An input out of range gives the nearest position,
//! since editor and server may disagree for a moment.

use lsp_types::{Position, Range};

/// The unit that a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// 16-bit units: what the protocol assumes where nothing is agreed on.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of `text`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(i, b)| match b {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        });
        Self { starts: std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect() }
    }

    /// The position of a byte of the text.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&s| s <= offset) - 1;
        let column: usize = text[self.starts[line]..offset].chars().map(|c| encoding.width(c)).sum();
        Position::new(line as u32, column as u32)
    }

    /// The byte at a position; the end of the line where it is shorter, the end of the text where
    /// there is no such line.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return text.len() };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(text.len());
        let line = text[start..end].trim_end_matches(['\r', '\n']);
        let mut column = 0;
        for (i, c) in line.char_indices() {
            column += encoding.width(c);
            if column > position.character as usize {
                return start + i;
            }
        }
        start + line.len()
    }

    /// The positions of a range of bytes.
    pub fn range(&self, text: &str, bytes: std::ops::Range<usize>, encoding: Encoding) -> Range {
        Range::new(self.position(text, bytes.start, encoding), self.position(text, bytes.end, encoding))
    }
}

/// `text` with `range` replaced by `new`; without a range all of it is.
pub fn edited(text: &str, range: Option<Range>, new: &str, encoding: Encoding) -> String {
    let Some(range) = range else { return new.to_string() };
    let lines = Lines::new(text);
    let start = lines.offset(text, range.start, encoding);
    let end = lines.offset(text, range.end, encoding).max(start);
    [&text[..start], new, &text[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\r\né😀x\rz\n";

    #[test]
    fn columns_count_units_of_the_encoding() {
        let lines = Lines::new(TEXT);
        let x = TEXT.find('x').expect("it is there");
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)] {
            let position = lines.position(TEXT, x, encoding);
            assert_eq!(position, Position::new(1, column), "{encoding:?}");
            assert_eq!(lines.offset(TEXT, position, encoding), x, "{encoding:?}");
        }
    }

    #[test]
    fn lines_end_with_lf_cr_lf_or_cr() {
        let lines = Lines::new(TEXT);
        let at = |o| lines.position(TEXT, o, Encoding::Utf8);
        assert_eq!(at(TEXT.find('z').expect("it is there")), Position::new(2, 0));
        assert_eq!(at(TEXT.len()), Position::new(3, 0));
    }

    #[test]
    fn positions_outside_of_the_text_mean_the_nearest_place() {
        let lines = Lines::new(TEXT);
        let at = |line, column| lines.offset(TEXT, Position::new(line, column), Encoding::Utf16);
        assert_eq!(at(0, 99), 1, "before the line's end");
        assert_eq!(at(99, 0), TEXT.len());
        assert_eq!(at(1, 2), 5, "within a pair of surrogates: before it");
        assert_eq!(lines.position(TEXT, 6, Encoding::Utf16), Position::new(1, 1), "within a character: before it");
        assert_eq!(lines.position(TEXT, 999, Encoding::Utf16), Position::new(3, 0));
    }

    #[test]
    fn edits_replace_ranges_or_everything() {
        let range = |a, b, c, d| Some(Range::new(Position::new(a, b), Position::new(c, d)));
        assert_eq!(edited("ab\ncd\n", range(0, 1, 1, 1), "X", Encoding::Utf16), "aXd\n");
        assert_eq!(edited("ab", range(0, 2, 0, 2), "c", Encoding::Utf16), "abc");
        assert_eq!(
            edited("ab", range(0, 2, 0, 0), "c", Encoding::Utf16),
            "abc",
            "a range that runs backwards is empty"
        );
        assert_eq!(edited("ab", None, "c", Encoding::Utf16), "c");
    }
}
