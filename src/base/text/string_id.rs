//! Strings as the 32-bit identifiers that programs compare.

use std::collections::HashMap;

/// The 32-bit identifier by which both back ends know a string: FNV-1a of its bytes, and 0 for the
/// empty string.
///
/// Equality of identifiers stands for equality of strings (Węgrzanowski 2006, §11.4); linking
/// rejects two different strings with one identifier ([`colliding_strings`]).
pub fn string_id(string: &str) -> u32 {
    if string.is_empty() {
        return 0;
    }
    string.bytes().fold(0x811c_9dc5, |h, b| (h ^ b as u32).wrapping_mul(0x0100_0193))
}

/// Two different strings with one identifier, which would compare equal; the first such pair.
pub fn colliding_strings<'a>(strings: impl IntoIterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut known: HashMap<u32, &str> = HashMap::new();
    strings.into_iter().find_map(|string| {
        let first = *known.entry(string_id(string)).or_insert(string);
        (first != string).then_some((first, string))
    })
}
