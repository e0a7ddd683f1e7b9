//! Text for a shell.

/// A string as one word of a POSIX shell: as it is where no character has a meaning, else in quotes.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:,=+-@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Strings as the words of a command.
pub fn words<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> String {
    texts.into_iter().map(|text| word(text.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_something_else() {
        let texts = ["render", "a b.rib", "", "it's", "$(rm)"];
        assert_eq!(words(texts), r"render 'a b.rib' '' 'it'\''s' '$(rm)'");
    }
}
