//! The documentation holds together: links and anchors resolve, lines stay within 120 columns,
//! every page has a title and opens with a sentence, and the command-line reference is what the
//! program prints.
//!
//! `SHADEWRIGHT_BLESS=1 cargo test --test meta docs::` writes `docs/command-line.md` again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Columns of a line outside of tables and code.
const WIDTH: usize = 120;

/// Pages that are written by the program or by a test: their lines are as long as a table's.
const GENERATED: [&str; 5] =
    ["docs/rsl.md", "docs/rtsl-state.md", "docs/gallery.md", "docs/rib.md", "docs/command-line.md"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md and the pages of docs/ and .github/, relative to the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs"), PathBuf::from(".github")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder of the repository") {
            let path = folder.join(entry.expect("a readable folder").file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(root().join(page)).expect("a readable page")
}

/// The lines of a page outside of fenced code, with their numbers from 1.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = vec![];
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((i + 1, line));
        }
    }
    lines
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// The anchor that GitHub gives a heading: lower case, spaces as hyphens, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let text = read(page);
    let headings = prose(&text).into_iter().filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

/// The targets of the links of a line, `[text](target)`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let rest = line.split("](").skip(1);
    rest.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part.as_os_str().to_str() {
            Some("..") => drop(normal.pop()),
            Some(".") => {}
            _ => normal.push(part),
        }
    }
    normal
}

#[test]
fn links_and_anchors_resolve() {
    let mut wrong = vec![];
    for page in pages() {
        let text = read(&page);
        for (number, line) in prose(&text) {
            for target in targets(line) {
                if target.contains("://") {
                    continue;
                }
                let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
                let folder = page.parent().expect("a page is in a folder");
                let path = if file.is_empty() { page.clone() } else { normal(&folder.join(file)) };
                let there = root().join(&path).exists();
                if !there || (!heading.is_empty() && !anchors(&path).contains(heading)) {
                    wrong.push(format!("{}:{number}: {target}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn lines_stay_within_their_width() {
    let written = pages().into_iter().filter(|page| !GENERATED.iter().any(|g| page == Path::new(g)));
    let mut long = vec![];
    for page in written {
        let text = read(&page);
        let lines = prose(&text).into_iter().filter(|(_, line)| !line.trim_start().starts_with('|'));
        // An image or a link on a line of its own cannot be broken.
        let lines = lines.filter(|(_, line)| line.contains(' ') && !line.starts_with("!["));
        long.extend(
            lines
                .filter(|(_, line)| line.chars().count() > WIDTH)
                .map(|(number, _)| format!("{}:{number}", page.display())),
        );
    }
    assert!(long.is_empty(), "lines of more than {WIDTH} columns:\n{}", long.join("\n"));
}

#[test]
fn every_page_has_a_title_and_opens_with_a_sentence() {
    for page in pages() {
        let text = read(&page);
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let title = lines.next().unwrap_or_default();
        if page.ends_with("PULL_REQUEST_TEMPLATE.md") {
            continue;
        }
        assert!(title.starts_with("# "), "{}: no title", page.display());
        let first = lines.next().unwrap_or_default();
        let sentence = first.chars().next().is_some_and(char::is_alphabetic) || first.starts_with(['`', '[']);
        assert!(sentence, "{}: opens with {first:?}, which is no sentence", page.display());
    }
}

/// The output of `--help` of a subcommand, without trailing spaces.
fn help(subcommand: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shadewright"));
    let output = command.args(subcommand).arg("--help").output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("help is UTF-8");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The names under `Commands:` in the program's help, without `help` itself.
fn subcommands() -> Vec<String> {
    let help = help(None);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// The text of `docs/command-line.md`.
fn command_line() -> String {
    let mut page = String::from(
        "# The command line\n\nEvery command and option, as `--help` prints them.\n\
        [Rendering](rendering.md) shows the usual ones at work.\n\
        `SHADEWRIGHT_BLESS=1 cargo test --test meta docs::` writes this page.\n",
    );
    page += &format!("\n## shadewright\n\n```text\n{}```\n", help(None));
    for name in subcommands() {
        page += &format!("\n## shadewright {name}\n\n```text\n{}```\n", help(Some(&name)));
    }
    page
}

#[test]
fn the_command_line_reference_is_what_the_program_prints() {
    let path = root().join("docs/command-line.md");
    let page = command_line();
    if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
        fs::write(&path, &page).expect("docs/command-line.md can be written");
    }
    let same = fs::read_to_string(&path).expect("docs/command-line.md") == page;
    assert!(
        same,
        "docs/command-line.md is out of date: `SHADEWRIGHT_BLESS=1 cargo test --test meta docs::` writes it again"
    );
}
