//! The outcomes as workflow commands of GitHub's actions, which become annotations of a change.

use super::outcome::{Entry, Status};
use std::path::{Component, Path};

/// Most annotations of a run: GitHub shows ten of a step.
const MOST: usize = 10;

/// A line for each image that is not well. `folder` is that of the list relative to the repository.
pub fn github(folder: &Path, entries: &[Entry]) -> Vec<String> {
    let bad: Vec<&Entry> = entries.iter().filter(|entry| !entry.outcome.status.is_good()).collect();
    let shown = if bad.len() > MOST { MOST - 1 } else { bad.len() };
    let mut lines: Vec<String> = bad[..shown].iter().map(|entry| line(folder, entry)).collect();
    if bad.len() > shown {
        let more = format!("{} more images failed: the report has all", bad.len() - shown);
        lines.push(format!("::error title=golden images::{}", data(&more)));
    }
    lines
}

fn line(folder: &Path, entry: &Entry) -> String {
    let outcome = &entry.outcome;
    let title = format!("{} {} on {}", entry.case.name, outcome.status, entry.case.backend);
    let scene = normal(&folder.join(&entry.case.scene));
    // An error of a file is shown there.
    let place = (outcome.status == Status::Error).then(|| place(&outcome.messages)).flatten();
    let (file, at) = match place {
        Some((file, line, column)) => (normal(&folder.join(file)), format!(",line={line},col={column}")),
        None => (scene, String::new()),
    };
    let message = format!("{}\nrepeat: {}", outcome.reason, entry.command);
    format!("::error file={}{at},title={}::{}", property(&file), property(&title), data(&message))
}

/// File, line and column of the first source excerpt of diagnostics.
fn place(messages: &str) -> Option<(&str, u32, u32)> {
    let line = messages.lines().find_map(|line| line.trim_start().strip_prefix("--> "))?;
    let mut parts = line.trim().rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let file = parts.next()?;
    (!file.starts_with('<')).then_some((file, line, column))
}

/// A path with slashes, without `.` and `..` as far as they can be resolved.
fn normal(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if parts.last().is_some_and(|last| last != ".." && !last.is_empty()) => {
                drop(parts.pop())
            }
            Component::RootDir => parts.push(String::new()),
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

/// A message as the runner reads it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value of a property as the runner reads it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A text of others that the runner does not take for commands, whatever its lines begin with.
pub fn harmless(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim_start().starts_with("::") {
        true => format!("| {line}"),
        false => line.replace("##[", "## ["),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_and_messages_end_where_they_end() {
        assert_eq!(property("a:b,c%\nd"), "a%3Ab%2Cc%25%0Ad");
        assert_eq!(data("a::b, 50%\r\n"), "a::b, 50%25%0D%0A");
    }

    #[test]
    fn the_place_of_an_error_is_that_of_its_first_excerpt() {
        let messages = "error: unknown variable\n  --> shaders/a.sl:3:14\n  |\n3 | Ci = x;\n";
        assert_eq!(place(messages), Some(("shaders/a.sl", 3, 14)));
        assert_eq!(place("error: x\n --> <built-in a.sl>:3:4"), None);
        assert_eq!(place("error: no such file"), None);
    }

    #[test]
    fn paths_are_those_of_the_repository() {
        assert_eq!(normal(Path::new("tests/golden/../../assets/./a.rib")), "assets/a.rib");
        assert_eq!(normal(Path::new("../a.rib")), "../a.rib");
    }

    #[test]
    fn messages_of_scenes_are_no_commands() {
        assert_eq!(
            harmless("  ::set-env name=x::y\nplain ##[command]z"),
            "|   ::set-env name=x::y\nplain ## [command]z"
        );
    }
}
