//! Replaces strings in the bytes of a text file, and leaves every other byte as it is.
//!
//! Readers decode files before they read tokens; places are those of the decoded text. This finds
//! the same places in the bytes.

use std::collections::BTreeMap;
use std::ops::Range;

/// New texts by the places that they take in the decoded text.
pub type Edits = BTreeMap<(usize, usize), String>;

/// How a reader decodes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoding {
    /// UTF-8, in which damaged bytes are replaced: RIB.
    Replaced,
    /// UTF-8, or Latin-1 where it is not that: shaders.
    OrLatin1,
    /// Not at all: places are those of the bytes.
    Bytes,
}

/// The byte order mark of UTF-8, which readers skip.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes with the new texts in them.
pub fn replaced(bytes: &[u8], decoding: Decoding, edits: &Edits) -> Vec<u8> {
    if decoding == Decoding::Bytes {
        return spliced(bytes, edits.keys().map(|&(start, end)| start..end), edits, |text| text.into());
    }
    let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let (head, body) = bytes.split_at(start);
    let is_latin1 = decoding == Decoding::OrLatin1 && std::str::from_utf8(body).is_err();
    let fits = |text: &String| text.chars().all(|c| c <= '\u{ff}');
    if is_latin1 && !edits.values().all(fits) {
        // A file is in one encoding.
        let text: String = body.iter().copied().map(char::from).collect();
        return [head, &replaced(text.as_bytes(), Decoding::Bytes, edits)].concat();
    }
    let boundaries: Vec<usize> = edits.keys().flat_map(|&(start, end)| [start, end]).collect();
    let found = match is_latin1 {
        true => in_latin1(body, &boundaries),
        false => in_utf8(body, &boundaries),
    };
    let ranges = found.chunks_exact(2).map(|pair| pair[0]..pair[1]);
    let encode = |text: &str| match is_latin1 {
        true => text.chars().map(|c| c as u8).collect(),
        false => text.as_bytes().to_vec(),
    };
    [head, &spliced(body, ranges, edits, encode)].concat()
}

fn spliced(
    body: &[u8],
    ranges: impl Iterator<Item = Range<usize>>,
    edits: &Edits,
    encode: impl Fn(&str) -> Vec<u8>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 64 * edits.len());
    let mut at = 0;
    for (range, text) in ranges.zip(edits.values()) {
        let range = range.start.clamp(at, body.len())..range.end.clamp(at, body.len());
        out.extend_from_slice(&body[at..range.start]);
        out.extend(encode(text));
        at = range.end.max(range.start);
    }
    out.extend_from_slice(&body[at..]);
    out
}

/// Where ascending offsets of the decoded text lie in bytes that are mostly UTF-8.
fn in_utf8(body: &[u8], boundaries: &[usize]) -> Vec<usize> {
    let mut found = Vec::with_capacity(boundaries.len());
    let (mut in_text, mut in_bytes) = (0, 0);
    for chunk in body.utf8_chunks() {
        let valid = chunk.valid().len();
        while let Some(&next) = boundaries.get(found.len()).filter(|&&next| next <= in_text + valid) {
            found.push(in_bytes + next.saturating_sub(in_text));
        }
        in_text += valid;
        in_bytes += valid + chunk.invalid().len();
        if !chunk.invalid().is_empty() {
            in_text += char::REPLACEMENT_CHARACTER.len_utf8();
        }
    }
    found.resize(boundaries.len(), body.len());
    found
}

/// The same in Latin-1.
fn in_latin1(body: &[u8], boundaries: &[usize]) -> Vec<usize> {
    let mut found = Vec::with_capacity(boundaries.len());
    let mut in_text = 0;
    for (at, byte) in body.iter().enumerate() {
        while boundaries.get(found.len()).is_some_and(|&next| next <= in_text) {
            found.push(at);
        }
        in_text += char::from(*byte).len_utf8();
    }
    found.resize(boundaries.len(), body.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source;

    /// Replaces `"old"`, wherever the decoded text has it.
    fn with_new(bytes: &[u8], decoding: Decoding, new: &str) -> Vec<u8> {
        let text = match decoding {
            Decoding::OrLatin1 => source::decode(bytes),
            Decoding::Replaced | Decoding::Bytes => {
                String::from_utf8_lossy(&source::tidied(bytes.to_vec())).into_owned()
            }
        };
        let found = text.match_indices("\"old\"").map(|(at, old)| ((at, at + old.len()), new.to_string()));
        replaced(bytes, decoding, &found.collect())
    }

    #[test]
    fn every_byte_outside_of_the_strings_stays() {
        for (before, after) in [
            (&b"a \"old\" b"[..], &b"a N b"[..]),
            (b"\"old\"\"old\"", b"NN"),
            (b"\xef\xbb\xbf\"old\"\r\n\"old\"\r\x1a", b"\xef\xbb\xbfN\r\nN\r\x1a"),
            ("é \"old\" é".as_bytes(), "é N é".as_bytes()),
            (b"\xe9\xe9 \"old\" \xff \xe9\"old\"\xc3", b"\xe9\xe9 N \xff \xe9N\xc3"),
        ] {
            for decoding in [Decoding::Replaced, Decoding::OrLatin1] {
                assert_eq!(with_new(before, decoding, "N"), after, "{before:?}");
            }
        }
    }

    #[test]
    fn a_file_stays_in_its_encoding_where_that_has_the_characters() {
        assert_eq!(with_new(b"\xe9 \"old\"", Decoding::OrLatin1, "\u{fc}"), b"\xe9 \xfc");
        assert_eq!(with_new(b"\xe9 \"old\" \xe9", Decoding::OrLatin1, "\u{142}"), "é ł é".as_bytes());
        assert_eq!(with_new("é \"old\"".as_bytes(), Decoding::OrLatin1, "ł"), "é ł".as_bytes());
    }
}
