//! Every command that a page, a comment or a message cites is one that the program accepts.

#[path = "../../../tests/common/accepted.rs"]
mod accepted;
#[path = "../../../tests/common/cited.rs"]
mod cited;

use super::{Cli, is_negative};
use accepted::parsed;
use cited::{Cited, alternatives, cited_in, is_placeholder};
use std::path::Path;

/// The reason why the program refuses arguments; `None` where it accepts them.
fn refusal(arguments: &[String], is_whole: bool) -> Option<String> {
    match parsed::<Cli>(&words(arguments), is_whole) {
        Ok(cli) => cli.and_then(|cli| no_scene(&cli)),
        Err(message) => Some(message),
    }
}

/// A command line as `main` gives it to the parser.
fn words(arguments: &[String]) -> Vec<String> {
    let is_run = arguments.first().is_some_and(|first| first == "run");
    let word = |word: &String| if is_run && is_negative(word) { format!("({word})") } else { word.clone() };
    std::iter::once("shadewright".to_string()).chain(arguments.iter().map(word)).collect()
}

/// A message where the scene cannot be the name of a file: it was a subcommand once.
fn no_scene(cli: &Cli) -> Option<String> {
    let scene = cli.render.scene.file.scene.as_deref().filter(|_| cli.command.is_none())?.to_string_lossy();
    let is_file = scene.contains(['.', '/']) || is_placeholder(&scene);
    (!is_file).then(|| format!("error: no subcommand `{scene}`"))
}

/// A line for each command that is refused, but for those whose errors the text shows.
fn wrong(commands: &[Cited]) -> Vec<String> {
    let mut wrong = Vec::new();
    for command in commands.iter().filter(|command| !command.fails) {
        for arguments in command.shadewright().iter().flat_map(|arguments| alternatives(arguments)) {
            let refused = refusal(&arguments, command.is_whole);
            wrong.extend(refused.map(|why| format!("{}: shadewright {}: {why}", command.place, arguments.join(" "))));
        }
    }
    wrong
}

#[test]
fn every_command_that_is_cited_is_accepted() {
    let all = cited::all();
    let ours = all.iter().filter(|command| command.shadewright().is_some()).count();
    assert!(ours > 300, "only {ours} commands were found");
    let wrong = wrong(&all);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every file that a command of a page reads from the repository's assets exists.
#[test]
fn assets_that_commands_name_exist() {
    let is_there = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists();
    let mut wrong = Vec::new();
    for command in cited::all() {
        let named = command.words.iter().filter(|word| word.starts_with("assets/") && !is_placeholder(word));
        wrong.extend(named.filter(|path| !is_there(path)).map(|path| format!("{}: {path}", command.place)));
    }
    assert!(wrong.is_empty(), "these files do not exist:\n{}", wrong.join("\n"));
}

/// The commands of a text that are refused. Its code spans are between apostrophes, so that these
/// examples are no citations themselves.
fn wrong_in(name: &str, text: &str) -> Vec<String> {
    wrong(&cited_in(name, &text.replace('\'', "`")))
}

#[test]
fn stale_commands_are_found_where_they_stand() {
    let page = "# A page\n\nText with 'shadewright rays --mesh FILE', 'shadewright bench rays' and 'bench\ntraversal'.\n\n\
        \'\'\'\nshadewright compare a.rib --between rpu,gpu --no-such    what it does\n\
        SHADEWRIGHT_CACHE= shadewright render a.rib -o \\\n    b.png --size WxH   # an image\n\
        shadewright render a.rib\n\'\'\'\n\n\'\'\'\n$ shadewright a.rib --wrong\nerror: no such option\n\'\'\'\n\n\
        | 'shadewright compile FILE --emit ir\\|nothing' | 'shadewright compile' |\n";
    let found = wrong_in("page.md", page);
    let places: Vec<&str> = found.iter().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(places, ["page.md:3", "page.md:3", "page.md:7", "page.md:10", "page.md:18"], "{found:#?}");
}

#[test]
fn comments_and_messages_are_read() {
    let code = "//! Measured with ('bench\n//! no-such-name').\nfn f() {\n    // See 'shadewright render --nothing'.\n    \
        println!(\"hint: 'shadewright bench {name}' or 'shadewright pack --no-such'\");\n}\n";
    assert_eq!(wrong_in("code.rs", code).len(), 3);
    let script = "\"\"\"Compares.\n\n    shadewright a.rib --no-such\n\"\"\"\nx = \"'shadewright compare --no-such'\"\n# See 'bench none'.\n";
    assert_eq!(wrong_in("script.py", script).len(), 2);
    let shader = "/* Made by 'bench\n   none'. */\nfloat f; // 'shadewright bench rays'\n";
    assert_eq!(wrong_in("shader.sl", shader).len(), 1);
}
