//! Containers of a glTF document: binary files (`.glb`), and the URIs that name or hold its buffers
//! and images (glTF 2.0, §2.8 and §4).
//!
//! Bytes in, bytes out: nothing here knows what a document says, or reads a file.

use std::borrow::Cow;
use thiserror::Error;

/// The parts of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The document.
    pub json: &'a [u8],
    /// The data of the buffer that has no URI, which the container holds beside the document.
    pub binary: Option<&'a [u8]>,
}

/// Why a file is no usable container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContainerError {
    /// Another version.
    #[error("it is a binary glTF file of version {0}; there is only version 2 here")]
    Version(u32),
    /// The file ends too early.
    #[error("it is cut off: {0} bytes are missing")]
    Short(u64),
    /// The first chunk is something else.
    #[error("its first chunk is not the JSON document")]
    NoDocument,
}

/// The first bytes of binary files.
const MAGIC: &[u8] = b"glTF";
/// Bytes of the header: the magic, the version, the length of all.
const HEADER: usize = 12;
/// Bytes before each chunk: its length and type.
const CHUNK_HEADER: usize = 8;

/// Takes a file apart: a `.glb` by its first bytes, or else a document alone.
///
/// # Errors
/// When the container is damaged. Chunks of unknown types are passed over.
pub fn split(bytes: &[u8]) -> Result<Parts<'_>, ContainerError> {
    if !bytes.starts_with(MAGIC) {
        return Ok(Parts { json: bytes, binary: None });
    }
    let [version, length] = [4, 8].map(|at| word(bytes, at));
    match version {
        Some(2) => {}
        Some(other) => return Err(ContainerError::Version(other)),
        None => return Err(ContainerError::Short((HEADER - bytes.len()) as u64)),
    }
    let length = length.ok_or_else(|| ContainerError::Short((HEADER - bytes.len()) as u64))? as usize;
    let bytes = bytes.get(..length).ok_or_else(|| ContainerError::Short((length - bytes.len()) as u64))?;
    let mut rest = bytes.get(HEADER..).unwrap_or_default();
    let first = chunk(&mut rest)?.filter(|c| c.kind == b"JSON").ok_or(ContainerError::NoDocument)?;
    let mut binary = None;
    while let Some(chunk) = chunk(&mut rest)? {
        binary = binary.or((chunk.kind == b"BIN\0").then_some(chunk.data));
    }
    Ok(Parts { json: first.data, binary })
}

/// A part of a binary file.
struct Chunk<'a> {
    kind: &'a [u8],
    data: &'a [u8],
}

/// Takes the next chunk off; `None` at the end.
fn chunk<'a>(rest: &mut &'a [u8]) -> Result<Option<Chunk<'a>>, ContainerError> {
    let (Some(length), Some(kind)) = (word(rest, 0), rest.get(4..CHUNK_HEADER)) else { return Ok(None) };
    let end = CHUNK_HEADER + length as usize;
    let data = rest.get(CHUNK_HEADER..end).ok_or_else(|| ContainerError::Short((end - rest.len()) as u64))?;
    *rest = &rest[end..];
    Ok(Some(Chunk { kind, data }))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

/// The data or the file that a URI stands for.
#[derive(Debug, PartialEq, Eq)]
pub enum Uri<'a> {
    /// The data that the URI itself holds.
    Data(Vec<u8>),
    /// A file, by its path from the document.
    File(Cow<'a, str>),
}

/// Why a URI leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UriError {
    /// It names a place that is no file.
    #[error("it is no file's name: only relative paths and `data:` URIs are read")]
    Scheme,
    /// The text after `base64,` is something else.
    #[error("the data after `base64,` are damaged")]
    Base64,
    /// A `%` without two hexadecimal digits, or bytes that are no text.
    #[error("its `%` escapes are damaged")]
    Escape,
}

/// Reads a URI.
///
/// # Errors
/// When it is neither a relative path nor holds its own data.
pub fn resolve(uri: &str) -> Result<Uri<'_>, UriError> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (kind, data) = data.split_once(',').ok_or(UriError::Base64)?;
        return match kind.ends_with(";base64") {
            true => decode_base64(data).map(Uri::Data).ok_or(UriError::Base64),
            false => unescape(data).map(Uri::Data),
        };
    }
    // A scheme begins with a letter (RFC 3986, §3.1); one letter alone is a drive.
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let letters = |s: &str| s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if scheme.len() > 1 && letters(scheme) {
        return Err(UriError::Scheme);
    }
    if !uri.contains('%') {
        return Ok(Uri::File(Cow::Borrowed(uri)));
    }
    String::from_utf8(unescape(uri)?).map(|name| Uri::File(Cow::Owned(name))).map_err(|_| UriError::Escape)
}

/// Replaces `%41` and its like (RFC 3986, §2.1).
fn unescape(text: &str) -> Result<Vec<u8>, UriError> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let mut digit = || bytes.next().and_then(|d| char::from(d).to_digit(16)).ok_or(UriError::Escape);
        out.push(if byte == b'%' { (digit()? * 16 + digit()?) as u8 } else { byte });
    }
    Ok(out)
}

/// Base64 (RFC 4648, §4), with or without padding.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0u32;
        for &c in group {
            let value = match c {
                b'A'..=b'Z' => c - b'A',
                b'a'..=b'z' => c - b'a' + 26,
                b'0'..=b'9' => c - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        // A group of n characters has 6 n bits, of which the whole bytes count; one character has
        // none.
        let (count, spare) = match group.len() {
            4 => (3, 0),
            3 => (2, 2),
            2 => (1, 4),
            _ => return None,
        };
        out.extend_from_slice(&(bits >> spare).to_be_bytes()[4 - count..]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glb(version: u32, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, data) in chunks {
            body.extend((data.len() as u32).to_le_bytes());
            body.extend(*kind);
            body.extend(*data);
        }
        let length = (HEADER + body.len()) as u32;
        [MAGIC, &version.to_le_bytes(), &length.to_le_bytes(), &body].concat()
    }

    #[test]
    fn chunks_are_told_apart_and_unknown_ones_passed_over() {
        let file = glb(2, &[(b"JSON", b"{}  "), (b"NEWS", b"1234"), (b"BIN\0", b"abcd")]);
        assert_eq!(split(&file), Ok(Parts { json: b"{}  ", binary: Some(b"abcd") }));
        assert_eq!(split(b"{}"), Ok(Parts { json: b"{}", binary: None }));
    }

    #[test]
    fn every_damaged_container_is_refused() {
        let whole = glb(2, &[(b"JSON", b"{}  "), (b"BIN\0", b"abcd")]);
        for length in MAGIC.len()..whole.len() {
            assert!(matches!(split(&whole[..length]), Err(ContainerError::Short(_))), "{length}");
        }
        assert_eq!(split(&glb(1, &[(b"JSON", b"{}")])), Err(ContainerError::Version(1)));
        assert_eq!(split(&glb(2, &[(b"BIN\0", b"{}")])), Err(ContainerError::NoDocument));
        assert_eq!(split(&glb(2, &[])), Err(ContainerError::NoDocument));
        let mut tiny = whole;
        tiny[8..12].copy_from_slice(&3u32.to_le_bytes());
        assert_eq!(split(&tiny), Err(ContainerError::NoDocument));
    }

    #[test]
    fn uris_hold_data_or_name_files_below_the_document() {
        let data = |uri: &str| match resolve(uri) {
            Ok(Uri::Data(bytes)) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        };
        // RFC 4648, §10.
        let vectors =
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob"), ("Zm9vYmFy", "foobar")];
        for (coded, plain) in vectors {
            assert_eq!(data(&format!("data:application/octet-stream;base64,{coded}")), plain);
        }
        assert_eq!(data("data:text/plain,a%20b"), "a b");
        assert_eq!(resolve("maps/wood%20grain.png"), Ok(Uri::File("maps/wood grain.png".into())));
        assert_eq!(resolve("https://example.org/a.bin"), Err(UriError::Scheme));
        assert_eq!(resolve("data:;base64,Zm9v*"), Err(UriError::Base64));
        assert_eq!(resolve("data:;base64,Z"), Err(UriError::Base64));
        assert_eq!(resolve("100%"), Err(UriError::Escape));
    }
}
