//! Paths of files as URIs (RFC 8089), and back.

use lsp_types::Uri;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The file that a `file:` URI names; `None` for anything else, such as an editor's unnamed buffer.
pub fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file:")?;
    let rest = match rest.strip_prefix("//") {
        // The part before the first `/` is a host, which is this one.
        Some(authority) => &authority[authority.find('/')?..],
        None => rest,
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = String::from_utf8(unescape(rest)).ok()?;
    // `/C:/folder` is `C:/folder` where drives have letters.
    let drive = path.as_bytes().get(1..3).is_some_and(|b| b[0].is_ascii_alphabetic() && b[1] == b':');
    Some(PathBuf::from(if cfg!(windows) && drive { &path[1..] } else { &path }))
}

/// The URI of a file; a relative path is one of the working directory.
pub fn from_path(path: &Path) -> Option<Uri> {
    let path = std::path::absolute(path).ok()?;
    let text = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    Uri::from_str(&format!("file://{slash}{}", escape(&text))).ok()
}

fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = code.and_then(|hex| std::str::from_utf8(hex).ok()).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    out
}

fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for b in path.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(b as char),
            _ => out += &format!("%{b:02X}"),
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_to_a_uri_and_back() {
        for path in ["/a/b.sl", "/with space/ü#%20?.sl", "/a:b/c+d.sl"] {
            let uri = from_path(Path::new(path)).expect("a path is a URI");
            assert_eq!(to_path(&uri), Some(PathBuf::from(path)), "{}", uri.as_str());
        }
    }

    #[test]
    fn other_spellings_of_a_uri_name_the_file_too() {
        for text in ["file:///a%2Fb%c3%bc.sl", "file:/a/b%C3%BC.sl", "file://localhost/a/bü.sl?x#y"] {
            // Not every spelling passes the strict parser of the protocol's types.
            if let Ok(uri) = Uri::from_str(text) {
                assert_eq!(to_path(&uri), Some(PathBuf::from("/a/bü.sl")), "{text}");
            }
        }
        let unnamed = Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(to_path(&unnamed), None);
    }
}
