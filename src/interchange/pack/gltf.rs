//! The URIs of a glTF document, found in its text so that all else stays as it is.

use super::replace::{Decoding, Edits, replaced};

/// Deepest nest of values.
const MAX_DEPTH: usize = 256;

/// The magic bytes of a binary file; the document is its first chunk.
const MAGIC: &[u8] = b"glTF";
/// Bytes of the header of a binary file: magic, version, length of all.
const HEADER: usize = 12;
/// Bytes before a chunk: its length and type.
const CHUNK_HEADER: usize = 8;

/// A URI, and the place of its string with the quotes in the document's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    /// The URI.
    pub value: String,
    /// The first byte, and the one after the last.
    pub place: (usize, usize),
}

/// The URIs of a document's buffers and images, in the bytes of a `.gltf` or `.glb` file.
pub fn uris(bytes: &[u8]) -> Vec<Uri> {
    let mut scanner = Scanner { json: document(bytes), at: 0, path: Vec::new(), out: Vec::new() };
    // Damage ends the search; the reader of scenes reports it.
    let _ = scanner.value();
    scanner.out
}

/// The bytes with other strings in the document. The chunks of a binary file have the lengths that
/// this gives them.
pub fn with_uris(bytes: &[u8], edits: &Edits) -> Vec<u8> {
    let json = document(bytes);
    let mut changed = replaced(json, Decoding::Bytes, edits);
    if !bytes.starts_with(MAGIC) {
        return changed;
    }
    while !changed.len().is_multiple_of(4) {
        changed.push(b' ');
    }
    let rest = &bytes[HEADER + CHUNK_HEADER + json.len()..];
    let length = (HEADER + CHUNK_HEADER + changed.len() + rest.len()) as u32;
    let chunk = &bytes[HEADER + 4..HEADER + CHUNK_HEADER];
    [&bytes[..8], &length.to_le_bytes(), &(changed.len() as u32).to_le_bytes(), chunk, &changed, rest].concat()
}

/// The document of a file.
fn document(bytes: &[u8]) -> &[u8] {
    if !bytes.starts_with(MAGIC) {
        return bytes;
    }
    let length = bytes.get(HEADER..HEADER + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes);
    let start = (HEADER + CHUNK_HEADER).min(bytes.len());
    let end = start.saturating_add(length as usize).min(bytes.len());
    &bytes[start..end]
}

/// A file's path as a URI.
pub fn to_uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=@".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Reads JSON as far as strings of objects in lists of the document are concerned.
struct Scanner<'a> {
    json: &'a [u8],
    at: usize,
    /// The names that lead to a value; none for the elements of a list.
    path: Vec<Option<String>>,
    out: Vec<Uri>,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<u8> {
        while self.json.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        Some(self.json[self.at])
    }

    fn value(&mut self) -> Option<()> {
        match self.next()? {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => {
                let start = self.at;
                let value = self.string()?;
                if is_uri(&self.path) {
                    self.out.push(Uri { value, place: (start, self.at) });
                }
                Some(())
            }
            _ => {
                let rest = &self.json[self.at..];
                let end = rest.iter().position(|b| b",]}".contains(b) || b.is_ascii_whitespace());
                self.at += end.unwrap_or(rest.len()).max(1);
                Some(())
            }
        }
    }

    fn object(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.next()? {
                b'}' => break,
                b',' => self.at += 1,
                b'"' => {
                    let name = self.string()?;
                    (self.next()? == b':').then_some(())?;
                    self.at += 1;
                    self.inner(Some(name))?;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    fn list(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.next()? {
                b']' => break,
                b',' => self.at += 1,
                _ => self.inner(None)?,
            }
        }
        self.at += 1;
        Some(())
    }

    fn inner(&mut self, name: Option<String>) -> Option<()> {
        (self.path.len() < MAX_DEPTH).then_some(())?;
        self.path.push(name);
        self.value()?;
        self.path.pop();
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.json.get(self.at)? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_slice(self.json.get(start..self.at)?).ok()
    }
}

fn is_uri(path: &[Option<String>]) -> bool {
    let [Some(list), None, Some(name)] = path else { return false };
    matches!(list.as_str(), "buffers" | "images") && name == "uri"
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{ "asset": {"uri": "no.bin", "version": "2.0"},
        "images": [{"uri": "maps\/a%20b.png", "name": "x"}, {"bufferView": 1, "extras": {"uri": "no.png"}}],
        "buffers":[{"byteLength":-3.5e2,"uri":"caf\u00e9.bin"}], "nodes": [{"uri": "no"}], "n": null }"#;

    fn values(bytes: &[u8]) -> Vec<String> {
        uris(bytes).into_iter().map(|uri| uri.value).collect()
    }

    fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
        let mut out = [MAGIC, &2u32.to_le_bytes()[..], &0u32.to_le_bytes()].concat();
        for (kind, data) in [(b"JSON", json), (b"BIN\0", binary)] {
            out.extend((data.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(data);
        }
        let length = (out.len() as u32).to_le_bytes();
        out[8..12].copy_from_slice(&length);
        out
    }

    #[test]
    fn the_uris_of_buffers_and_images_are_found_and_no_others() {
        assert_eq!(values(DOCUMENT.as_bytes()), ["maps/a%20b.png", "café.bin"]);
    }

    #[test]
    fn other_uris_leave_every_byte_around_them() {
        let edits = uris(DOCUMENT.as_bytes()).into_iter().map(|uri| (uri.place, "\"new\"".to_string())).collect();
        let changed = with_uris(DOCUMENT.as_bytes(), &edits);
        let expected = DOCUMENT.replace(r#""maps\/a%20b.png""#, "\"new\"").replace(r#""caf\u00e9.bin""#, "\"new\"");
        assert_eq!(String::from_utf8_lossy(&changed), expected);
    }

    #[test]
    fn a_binary_file_has_chunks_of_the_new_lengths() {
        let json = br#"{"images":[{"uri":"a.png"}]}"#;
        let file = glb(json, b"12345678");
        assert_eq!(values(&file), ["a.png"]);
        let edits = uris(&file).into_iter().map(|uri| (uri.place, "\"b/longer.png\"".to_string())).collect();
        let padded = br#"{"images":[{"uri":"b/longer.png"}]} "#;
        assert_eq!(with_uris(&file, &edits), glb(padded, b"12345678"));
    }

    #[test]
    fn damaged_documents_have_the_uris_before_the_damage() {
        for end in 0..DOCUMENT.len() {
            let bytes = DOCUMENT.get(..end).unwrap_or_default().as_bytes();
            assert!(uris(bytes).len() <= 2);
        }
        let deep = "[".repeat(100_000);
        assert!(uris(deep.as_bytes()).is_empty());
        assert!(uris(b"glTF").is_empty());
    }

    #[test]
    fn paths_become_uris_that_lead_back() {
        assert_eq!(to_uri("maps/a b%é.png"), "maps/a%20b%25%C3%A9.png");
    }
}
