//! Commands, options and values under the names that they had before: these are accepted for one
//! release, with a note that has the new name. The aliases stand where these are defined.
//! Commands that the program no longer has are refused with a hint at what replaces them.

use std::ffi::OsString;

/// The measurement `bench backends` under the name that it had before.
pub const MACHINES: &str = "machines";

/// The option `model` of `render` and `simulate` under the name that it had before.
pub const MACHINE: &str = "machine";

/// The option `no-optimize` in the spelling that it had before.
pub const NO_OPTIMIZE: &str = "no-optimise";

/// The value `uniformity` of `compile --emit` as it was named before.
pub const SHAPES: &str = "shapes";

/// Commands, the words of each before and now.
const COMMANDS: [(&[&str], &str); 2] = [(&["volume"], "solid-volume"), (&["bench", "machines"], "bench backends")];

/// Commands that the program no longer has, and what replaces them.
const REMOVED: [(&[&str], &str); 2] = [
    (&["bench", "specialize"], "cargo bench --bench specialize"),
    (&["bench", "specialise"], "cargo bench --bench specialize"),
];

/// Options of a command, before and now.
const OPTIONS: [(&str, &str, &str); 9] = [
    ("golden", "--machine", "--backend"),
    ("farm", "--engine", "--scheduler"),
    ("silicon", "--no-optimise", "--no-optimize"),
    ("compare", "--frames", "--frame"),
    ("depth", "--frames", "--frame"),
    ("probe", "--frames", "--frame"),
    ("simulate", "--frames", "--frame"),
    ("solid-volume", "--frames", "--frame"),
    ("volume", "--frames", "--frame"),
];

/// Options of every command that has them, before and now; where a command has a row of its own for
/// one, that counts.
const OF_ALL: [(&str, &str); 2] = [("--strict-math", "--math exact"), ("--machine", "--model")];

/// Values of an option of a command, before and now.
const VALUES: [(&str, &str, &str, &str); 2] =
    [("compile", "emit", SHAPES, "uniformity"), ("simulate", "colors", MACHINE, "hardware")];

/// The name that the value of an option of a command has now.
pub fn current_value<'a>(command: &str, option: &str, value: &'a str) -> &'a str {
    let is_it = |(of, name, old, _): &&(&str, &str, &str, &str)| (*of, *name, *old) == (command, option, value);
    VALUES.iter().find(is_it).map_or(value, |(.., new)| *new)
}

/// The words of a command line after the program.
fn words(arguments: &[OsString]) -> Vec<&str> {
    arguments.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect()
}

/// The message about a command that the program no longer has.
pub fn removed(arguments: &[OsString]) -> Option<String> {
    let words = words(arguments);
    let (old, new) = REMOVED.iter().find(|(old, _)| words.starts_with(old))?;
    Some(format!("error: `{}` is no command of this program any more\nhint: `{new}` in the repository", old.join(" ")))
}

/// The notes on what an accepted command line names as it was named before.
pub fn notes(arguments: &[OsString]) -> Vec<String> {
    let words = words(arguments);
    let options = words.split(|word| *word == "--").next().unwrap_or_default();
    let is_given = |old: &str| options.iter().any(|word| word.split('=').next() == Some(old));
    let mut notes = Vec::new();
    for (old, new) in COMMANDS.iter().filter(|(old, _)| words.starts_with(old)) {
        notes.push(format!("the command `{}` is now `{new}`", old.join(" ")));
    }
    for (command, old, new) in
        OPTIONS.iter().filter(|(command, old, _)| words.first() == Some(command) && is_given(old))
    {
        notes.push(format!("`{old}` of `{command}` is now `{new}`"));
    }
    for (command, option, old, new) in VALUES.iter().filter(|(command, ..)| words.first() == Some(command)) {
        let option = format!("--{option}");
        let in_one_word = format!("{option}={old}");
        if options.contains(&in_one_word.as_str()) || options.windows(2).any(|pair| pair == [option.as_str(), *old]) {
            notes.push(format!("`{option} {old}` of `{command}` is now `{option} {new}`"));
        }
    }
    let has_row =
        |option: &str| OPTIONS.iter().any(|(command, old, _)| words.first() == Some(command) && *old == option);
    for (old, new) in OF_ALL.iter().filter(|(old, _)| is_given(old) && !has_row(old)) {
        notes.push(format!("`{old}` is now `{new}`"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_noted_with_the_new_ones() {
        let notes = |line: &str| notes(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(notes("shadewright golden . --machine=rpu"), ["`--machine` of `golden` is now `--backend`"]);
        assert_eq!(notes("shadewright volume a.rib"), ["the command `volume` is now `solid-volume`"]);
        assert_eq!(
            notes("shadewright bench machines --json"),
            ["the command `bench machines` is now `bench backends`"]
        );
        assert_eq!(notes("shadewright simulate a.rib --machine rtp"), ["`--machine` is now `--model`"]);
        assert_eq!(notes("shadewright a.rib --machine hidden-line"), ["`--machine` is now `--model`"]);
        assert_eq!(
            notes("shadewright simulate a.rib --model fuchs --colors machine"),
            ["`--colors machine` of `simulate` is now `--colors hardware`"]
        );
        assert_eq!(notes("shadewright a.rib --strict-math"), ["`--strict-math` is now `--math exact`"]);
        for line in ["compile a.sl --emit shapes", "compile a.sl --emit=shapes --lanes 4"] {
            let noted = notes(&format!("shadewright {line}"));
            assert_eq!(noted, ["`--emit shapes` of `compile` is now `--emit uniformity`"], "{line}");
        }
        assert_eq!(["shapes", "ir"].map(|value| current_value("compile", "emit", value)), ["uniformity", "ir"]);
        let current = ["render a.rib --model hidden-line", "farm a.rib --scheduler slurm -- --engine auto", "golden ."];
        for line in current {
            assert!(notes(&format!("shadewright {line}")).is_empty(), "{line}");
        }
    }

    #[test]
    fn removed_commands_have_a_hint_at_what_replaces_them() {
        let removed = |line: &str| removed(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for word in ["specialize", "specialise"] {
            let message = removed(&format!("shadewright bench {word} --json")).expect("it is removed");
            assert!(message.ends_with("`cargo bench --bench specialize` in the repository"), "{message}");
        }
        assert_eq!(removed("shadewright bench rays"), None);
    }
}
