//! Commands that the repository's pages, comments and messages cite, split into words as a shell
//! splits them.
//!
//! A command stands on a line of a block of code, or in a code span of a sentence. In a block with
//! lines that begin with `$`, these are the commands, and the others are what they print. Two spaces
//! end a command: what follows says what it does. `A|B` stands for either, brackets for what may be
//! left out, `…` for what is not shown.
#![allow(dead_code, reason = "each program that includes this module reads other commands")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files whose texts are read.
const PLACES: [&str; 11] =
    ["README.md", "docs", ".github", "src", "benches", "tests", "examples", "assets", "wgsl", "fuzz", "Cargo.toml"];

/// A command that a text cites.
#[derive(Debug)]
pub struct Cited {
    /// The file and the line.
    pub place: String,
    /// The words, the program first.
    pub words: Vec<String>,
    /// True if it is meant to be run as it is: a sentence may leave arguments out.
    pub is_whole: bool,
    /// True if the text shows the error that it ends with.
    pub fails: bool,
}

impl Cited {
    /// The arguments of `shadewright`, where that is the program.
    pub fn shadewright(&self) -> Option<&[String]> {
        match self.words.split_first()? {
            (program, arguments) if file_name(program) == "shadewright" => Some(arguments),
            (program, arguments) if program == "cargo" && arguments.first().is_some_and(|word| word == "run") => {
                let is_own = !arguments.iter().any(|word| word == "--example");
                let from = arguments.iter().position(|word| word == "--");
                is_own.then(|| from.map_or(&[][..], |from| &arguments[from + 1..]))
            }
            _ => None,
        }
    }

    /// The arguments of `cargo`, where that is the program.
    pub fn cargo(&self) -> Option<&[String]> {
        self.words.split_first().filter(|(program, _)| *program == "cargo").map(|(_, arguments)| arguments)
    }
}

/// All commands that the files of the repository cite.
///
/// # Panics
/// When a file cannot be read.
pub fn all() -> Vec<Cited> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    PLACES.iter().for_each(|place| find(&root.join(place), &mut files));
    files.sort();
    let of_file = |path: &PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(path).expect("a readable file")).into_owned();
        let name = path.strip_prefix(root).expect("it lies there").display().to_string();
        cited_in(&name, &text)
    };
    files.iter().flat_map(of_file).collect()
}

/// All files below a path that have texts.
fn find(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_symlink() {
        return;
    }
    if path.is_dir() {
        let is_built = ["target", "corpus", "current"].iter().any(|name| path.ends_with(name));
        let entries = fs::read_dir(path).expect("a readable folder");
        entries.filter(|_| !is_built).for_each(|entry| find(&entry.expect("a readable folder").path(), files));
    } else if !matches!(form(&path.to_string_lossy()), Form::Other) {
        files.push(path.to_path_buf());
    }
}

/// Where a file has sentences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Markdown,
    /// Comments that begin with `//`, and messages.
    Rust,
    /// Comments that begin with `#`, and strings of documentation.
    Script,
    /// Comments that begin with `#`, between commands.
    Shell,
    /// Comments of either kind that C has.
    Shader,
    Other,
}

fn form(name: &str) -> Form {
    match name.rsplit('.').next().unwrap_or_default() {
        "md" => Form::Markdown,
        "rs" => Form::Rust,
        "sh" => Form::Shell,
        "py" | "toml" | "yml" | "rib" => Form::Script,
        "sl" | "rtsl" | "pfman" | "wgsl" | "h" => Form::Shader,
        _ => Form::Other,
    }
}

/// The commands of a text, whose form its name tells.
pub fn cited_in(name: &str, text: &str) -> Vec<Cited> {
    let mut found = Vec::new();
    for (kind, part) in parts(form(name), text) {
        let mut reader = Reader { name, found: &mut found };
        if kind == LineKind::Code { reader.block(&part) } else { reader.read(&part) }
    }
    found
}

/// Lines with their numbers, from 1.
type Part<'a> = Vec<(usize, &'a str)>;

/// The part that a line has in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// Markdown, which goes on on the next line.
    Text,
    /// Markdown on one line: a message.
    Message,
    /// Commands.
    Code,
    /// Nothing.
    Other,
}

/// The parts of a text that have sentences or commands.
fn parts(form: Form, text: &str) -> Vec<(LineKind, Part<'_>)> {
    let mut parts: Vec<(LineKind, Part<'_>)> = Vec::new();
    let mut is_inside = false;
    for (i, line) in text.lines().enumerate() {
        let (kind, line) = read(form, line, &mut is_inside);
        match parts.last_mut() {
            Some((last, part)) if *last == kind && kind != LineKind::Message => part.push((i + 1, line)),
            _ => parts.push((kind, vec![(i + 1, line)])),
        }
    }
    parts.retain(|(kind, _)| *kind != LineKind::Other);
    parts
}

/// The part that a line has, and its text without the signs of a comment. `is_inside` tells whether it stands
/// in a comment of several lines, and whether the next one does.
fn read<'a>(form: Form, line: &'a str, is_inside: &mut bool) -> (LineKind, &'a str) {
    let trimmed = line.trim_start();
    let was_inside = *is_inside;
    match form {
        Form::Markdown => (LineKind::Text, line),
        Form::Rust | Form::Shader if trimmed.starts_with("//") => (LineKind::Text, comment(trimmed)),
        Form::Script | Form::Shell if trimmed.starts_with('#') => (LineKind::Text, comment(trimmed)),
        Form::Rust => (LineKind::Message, trimmed),
        Form::Shell => (LineKind::Code, trimmed),
        Form::Shader => {
            *is_inside = (was_inside || line.contains("/*")) && !line.contains("*/");
            if was_inside || line.contains("/*") { (LineKind::Text, trimmed) } else { (LineKind::Other, line) }
        }
        Form::Script => {
            *is_inside ^= line.matches("\"\"\"").count() % 2 == 1;
            if was_inside || *is_inside { (LineKind::Text, line) } else { (LineKind::Other, line) }
        }
        Form::Other => (LineKind::Other, line),
    }
}

/// The text of a comment of one line.
fn comment(line: &str) -> &str {
    let rest = line.trim_start_matches(['/', '#']);
    let rest = rest.strip_prefix('!').unwrap_or(rest);
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// A reader of Markdown.
struct Reader<'a> {
    name: &'a str,
    found: &'a mut Vec<Cited>,
}

impl Reader<'_> {
    fn read(&mut self, part: &[(usize, &str)]) {
        let (mut block, mut paragraph): (Part<'_>, Part<'_>) = Default::default();
        let mut is_fenced = false;
        for &(number, line) in part {
            let trimmed = line.trim_start();
            let is_fence = trimmed.starts_with("```");
            let is_indented = line.starts_with("    ") && paragraph.is_empty();
            if is_fence || !(is_fenced || is_indented || line.is_empty()) {
                self.block(&std::mem::take(&mut block));
            }
            is_fenced ^= is_fence;
            if is_fence {
                self.paragraph(&std::mem::take(&mut paragraph));
            } else if is_fenced || is_indented {
                block.push((number, trimmed));
            } else {
                if trimmed.is_empty() || trimmed.starts_with(['|', '-', '#']) {
                    self.paragraph(&std::mem::take(&mut paragraph));
                }
                paragraph.push((number, trimmed));
                paragraph.retain(|(_, line)| !line.is_empty());
            }
        }
        self.block(&block);
        self.paragraph(&paragraph);
    }

    /// Reads a block of code.
    fn block(&mut self, lines: &[(usize, &str)]) {
        let is_session = lines.iter().any(|(_, line)| line.starts_with("$ "));
        let mut lines = lines.iter().peekable();
        while let Some((number, line)) = lines.next() {
            let Some(line) = (if is_session { line.strip_prefix("$ ") } else { Some(*line) }) else { continue };
            let mut whole = line.to_string();
            while let Some(begin) = whole.strip_suffix('\\') {
                whole = format!("{begin}{}", lines.next().map_or("", |(_, line)| *line));
            }
            let fails = lines.peek().is_some_and(|(_, next)| next.starts_with("error"));
            for words in split(&whole).into_iter().filter_map(command) {
                self.found.push(Cited { place: format!("{}:{number}", self.name), words, is_whole: true, fails });
            }
        }
    }

    /// Reads the code spans of a paragraph.
    fn paragraph(&mut self, lines: &[(usize, &str)]) {
        let is_row = lines.first().is_some_and(|(_, line)| line.starts_with('|'));
        let text = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        let text = if is_row { text.replace("\\|", "|") } else { text };
        let mut line = 0;
        for (i, span) in text.split('`').enumerate() {
            let number = lines.get(line).map_or(0, |(number, _)| *number);
            line += span.matches('\n').count();
            if i % 2 == 0 {
                continue;
            }
            let commands = split(&span.replace('\n', " "));
            for words in commands.into_iter().filter_map(|words| command(program_command(words))) {
                let place = format!("{}:{number}", self.name);
                self.found.push(Cited { place, words, is_whole: false, fails: false });
            }
        }
    }
}

/// The subcommands that a sentence names without their program, with options.
const SUBCOMMANDS: [&str; 9] =
    ["bench", "compare", "convert", "diff", "golden", "probe", "render", "silicon", "simulate"];

/// A subcommand with options, or the name of a measurement, as a command of the program.
fn program_command(words: Vec<String>) -> Vec<String> {
    let is_command = words.split_first().is_some_and(|(first, rest)| {
        let is_given = rest.iter().any(|word| word.starts_with("--")) || first == "bench" && !rest.is_empty();
        is_given && SUBCOMMANDS.contains(&first.as_str())
    });
    if is_command { [vec!["shadewright".to_string()], words].concat() } else { words }
}

/// The words of a command from its program on; `None` where the program is none of the repository's.
fn command(mut words: Vec<String>) -> Option<Vec<String>> {
    const BEFORE: [&str; 12] =
        ["-", "run:", "time", "env", "nice", "sudo", "do", "then", "python3", "bash", "sh", "step"];
    let is_before = |word: &String| {
        let variable = word.split_once('=').map(|(name, _)| name);
        let is_variable = variable.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        is_variable || word.starts_with('$') || BEFORE.contains(&word.as_str())
    };
    let from = words.iter().position(|word| !is_before(word))?;
    let words = words.split_off(from);
    let is_script = ["sh", "py"].iter().any(|end| words[0].rsplit_once('.').is_some_and(|(_, e)| e == *end));
    let is_ours = ["benches/", "tests/", "assets/"].iter().any(|folder| words[0].starts_with(folder));
    let is_program = file_name(&words[0]) == "shadewright" && !is_ours;
    (is_program || words[0] == "cargo" || is_script && is_ours).then_some(words)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The commands of a line, each as its words.
pub fn split(line: &str) -> Vec<Vec<String>> {
    let mut splitter = Splitter::default();
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            ' ' | '\t' => {
                splitter.end_word();
                let is_explained = next == Some(' ');
                while chars.next_if_eq(&' ').is_some() {}
                if is_explained && chars.peek().is_some_and(|c| !"-[|&>;".contains(*c)) {
                    break;
                }
            }
            '#' if splitter.word.is_none() => break,
            '\'' => splitter.add(&chars.by_ref().take_while(|c| *c != '\'').collect::<String>()),
            '"' => splitter.add(&chars.by_ref().take_while(|c| *c != '"').collect::<String>()),
            '\\' => splitter.add(&chars.next().map(String::from).unwrap_or_default()),
            '[' if splitter.word.is_none() => splitter.brackets += 1,
            ']' if splitter.brackets > 0 => splitter.brackets -= 1,
            ';' | '&' => splitter.end_command(),
            '|' if splitter.word.is_none() || next.is_none_or(|c| c == ' ') => splitter.end_command(),
            '>' if splitter.is_number() => splitter.skips = true,
            _ => splitter.add(&c.to_string()),
        }
    }
    splitter.end_command();
    splitter.commands
}

/// The words that [`split`] has read so far.
#[derive(Default)]
struct Splitter {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// Open brackets around what may be left out.
    brackets: usize,
    /// True if the next word is the file that output goes to.
    skips: bool,
}

impl Splitter {
    fn add(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    /// True if there is no word so far, or one that numbers a stream of output.
    fn is_number(&mut self) -> bool {
        let is_number = self.word.as_ref().is_none_or(|word| word.chars().all(|c| c.is_ascii_digit()));
        if is_number {
            self.word = None;
        }
        is_number
    }

    fn end_word(&mut self) {
        let word = self.word.take();
        let is_file = word.is_some() && std::mem::take(&mut self.skips);
        self.words.extend(word.filter(|word| !is_file && word != "…" && word != "..."));
    }

    fn end_command(&mut self) {
        self.end_word();
        self.skips = false;
        self.commands.extend(Some(std::mem::take(&mut self.words)).filter(|words| !words.is_empty()));
    }
}

/// The commands that a command with alternatives, `A|B`, stands for: each alternative occurs in one.
pub fn alternatives(words: &[String]) -> Vec<Vec<String>> {
    let choices: Vec<Vec<&str>> = words.iter().map(|word| choices(word)).collect();
    let count = choices.iter().map(Vec::len).max().unwrap_or(1);
    let one = |n: usize| choices.iter().map(|c| c[n.min(c.len() - 1)].to_string()).collect();
    (0..count).map(one).collect()
}

fn choices(word: &str) -> Vec<&str> {
    if word.contains([' ', '\'', '"']) { vec![word] } else { word.split('|').collect() }
}

/// True if a word stands for others: a part of it has capitals and no small letters, or it has what a
/// shell or a format replaces.
pub fn is_placeholder(word: &str) -> bool {
    let is_named =
        |part: &str| part.contains(char::is_uppercase) && !part.replace('x', "").contains(char::is_lowercase);
    word.split(['/', '.']).any(is_named) || word.contains(['$', '…', '{', '*', '<'])
}
