//! The values that `gather` can give, and those that it cannot.

use super::*;

#[test]
fn what_gather_cannot_bring_is_told_with_what_to_ask_for_instead() {
    let with = |declared: &str, given: &str| {
        errors(&format!(
            "surface s() {{ {declared} gather (\"illuminance\", P, N, 1, 4, \"surface:made\", {given}) Ci += 1; }}"
        ))
    };
    for (declared, given, message, hint) in [
        ("string x;", "x", "not a string", "ask for a number"),
        ("matrix x;", "x", "not a matrix", "ask for the rows"),
        ("float x[3];", "x", "not a float[3]", "ask for the elements"),
        ("color x[];", "x", "not a color[]", "ask for the elements"),
        (
            "color x[2];",
            "x[1]",
            "the output \"surface:made\" of `gather` must be a variable",
            "assign it to the element",
        ),
    ] {
        let text = with(declared, given);
        assert!(text.contains(message) && text.contains(hint), "{declared} {given}: {text}");
        assert!(text.matches("error:").count() == 1 && text.contains("t.sl:1"), "{declared} {given}: {text}");
    }
}
