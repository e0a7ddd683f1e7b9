//! Names of files that every system has.

use super::visible::is_hidden;
use std::borrow::Cow;

/// Most bytes of a name that is made here: file systems have 255 bytes or characters, and numbers are
/// appended.
const MAX_BYTES: usize = 200;

/// Most bytes of an extension that a shortened name keeps.
const MAX_EXTENSION: usize = 20;

/// Names that Windows has for devices, with any extension (Microsoft, "Naming Files, Paths, and
/// Namespaces"); `COM` and `LPT` are followed by a digit, which may be a superscript.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// A name of a file or a folder that every system has: the name itself, or one like it. Windows has no
/// names of devices, none that end in a dot or a space, and not all characters.
pub fn portable(name: &str) -> Cow<'_, str> {
    let mut new: String = name.chars().map(|c| if is_refused(c) { '_' } else { c }).collect();
    let kept = new.trim_end_matches(['.', ' ']).len();
    let ends = new.len() - kept;
    new.truncate(kept);
    new.extend(std::iter::repeat_n('_', ends));
    if is_device(&new) {
        let stem = new.find('.').unwrap_or(new.len());
        new.insert(new[..stem].trim_end().len(), '_');
    }
    if new.len() > MAX_BYTES {
        let (stem, extension) = new.rsplit_once('.').filter(|(_, e)| e.len() <= MAX_EXTENSION).unwrap_or((&new, ""));
        let dot = if extension.is_empty() { "" } else { "." };
        let room = MAX_BYTES - extension.len() - dot.len();
        new = format!("{}{dot}{extension}", &stem[..stem.floor_char_boundary(room)]);
    }
    if new.is_empty() {
        new.push('_');
    }
    if new == name { Cow::Borrowed(name) } else { Cow::Owned(new) }
}

fn is_refused(c: char) -> bool {
    matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*' | '\n' | '\t') || is_hidden(c)
}

/// True if Windows has a device of this name, whatever its extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let is_number = |text: &str| matches!(text.as_bytes(), [b'0'..=b'9']) || matches!(text, "¹" | "²" | "³");
    DEVICES.contains(&&*stem) || port.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_every_system_has_stay() {
        for name in ["a.rib", ".hidden", "Ein Bild.exr", "éclair", "console.sl", "com10.tx", "nul_.h", "文.png"] {
            assert!(matches!(portable(name), Cow::Borrowed(_)), "{name}");
        }
    }

    #[test]
    fn others_become_names_like_them() {
        for (name, new) in [
            ("con", "con_"),
            ("NUL.tar.gz", "NUL_.tar.gz"),
            ("Com1.rib", "Com1_.rib"),
            ("lpt².tx", "lpt²_.tx"),
            ("aux .h", "aux_ .h"),
            ("conin$", "conin$_"),
            ("a.", "a_"),
            ("a. .", "a___"),
            ("..", "__"),
            ("", "_"),
            ("a:b?c*d<e>f|g\"h\\i", "a_b_c_d_e_f_g_h_i"),
            ("a\u{1b}b\u{202e}c\nd", "a_b_c_d"),
        ] {
            assert_eq!(portable(name), new);
            assert_eq!(portable(new), new, "it is one that every system has");
        }
        let long = format!("{}.exr", "é".repeat(200));
        assert!(portable(&long).len() <= MAX_BYTES && portable(&long).ends_with("é.exr"));
    }
}
