//! The commands that pages, comments and messages cite, beside those of the program itself, which
//! its own tests read: of `cargo`, the targets, modules and examples exist; scripts exist and have
//! the options. Each benchmark reads its own commands (`cargo bench --bench NAME -- --check`).

use crate::cited::{self, Cited, alternatives, is_placeholder};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files of Rust below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("a readable folder").path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The path of a module, from its file below the folder of its crate.
fn module(file: &Path, folder: &Path) -> String {
    let path = file.strip_prefix(folder).expect("it lies there").with_extension("");
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| !["mod", "lib", "main"].contains(&name.as_str())).collect::<Vec<_>>().join("::")
}

/// True if the path of a test in a file of a crate can have `filter` in it.
fn selects(filter: &str, module: &str, text: &str) -> bool {
    let path = format!("{module}::");
    if path.contains(filter) {
        return true;
    }
    // The module's last names, and then names in its text.
    let names: Vec<&str> = filter.split("::").collect();
    let least = usize::from(names.len() > 1);
    (least..names.len()).any(|from| {
        let (modules, inside) = names.split_at(from);
        let modules = modules.join("::");
        let is_end = module == modules || modules.is_empty() || module.ends_with(&format!("::{modules}"));
        is_end && inside.iter().all(|name| declares(text, name))
    })
}

/// True if a text declares a module or a function whose name has `part` in it.
fn declares(text: &str, part: &str) -> bool {
    let names = text.lines().flat_map(|line| ["fn ", "mod "].map(|word| line.split_once(word)));
    names.flatten().any(|(_, rest)| rest.split(['(', '<', ';', ' ']).next().is_some_and(|name| name.contains(part)))
}

/// The folders whose tests a command of `cargo test` runs.
fn folders(arguments: &[String]) -> Vec<PathBuf> {
    let after = |option: &str| arguments.iter().position(|word| word == option).and_then(|at| arguments.get(at + 1));
    if let Some(test) = after("--test") {
        return vec![root().join("tests").join(test)];
    }
    let crates = fs::read_dir(root().join("src")).expect("the sources").map(|entry| entry.expect("a folder").path());
    let crates = crates.filter(|path| path.join("Cargo.toml").exists());
    match after("-p").and_then(|package| package.strip_prefix("shadewright-")) {
        Some(package) => vec![root().join("src").join(package.replace('-', "_"))],
        None => crates.collect(),
    }
}

/// The parts of names of tests that a command of `cargo test` names.
fn filters(arguments: &[String]) -> Vec<&str> {
    let mut words = arguments.iter().map(String::as_str).skip(1);
    let mut filters = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--test" | "--bench" | "-p" | "--skip" | "--test-threads" | "--features" => drop(words.next()),
            // What follows are arguments of a program of its own.
            "--" if arguments.iter().any(|word| word == "monkey") => return filters,
            word if word.starts_with('-') || is_placeholder(word) => {}
            word => filters.push(word),
        }
    }
    filters
}

/// The files of which an option of `cargo` needs one.
fn needed(option: &str, name: &str) -> Vec<String> {
    let of_folder = |folder: &str| vec![format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")];
    match option {
        "--test" => of_folder("tests"),
        "--bench" => of_folder("benches"),
        "--example" => of_folder("examples"),
        "-p" => vec![name.replace("shadewright-", "src/").replace('-', "_") + "/Cargo.toml"],
        _ => Vec::new(),
    }
}

/// The error of a command of `cargo`.
fn wrong_with_cargo(arguments: &[String]) -> Option<String> {
    for [option, name] in arguments.array_windows() {
        let files = needed(option, name);
        let is_there = files.is_empty() || is_placeholder(name) || files.iter().any(|file| root().join(file).exists());
        if !is_there {
            return Some(format!("there is no {}", files.join(" and no ")));
        }
    }
    match arguments.first()?.as_str() {
        "test" => wrong_filter(arguments),
        "+nightly" if arguments.iter().any(|word| word == "run") => {
            let target =
                arguments.iter().take_while(|word| *word != "--").filter(|word| !word.starts_with('-')).last()?;
            let file = format!("fuzz/fuzz_targets/{target}.rs");
            (!is_placeholder(target) && !root().join(&file).exists()).then(|| format!("there is no {file}"))
        }
        _ => None,
    }
}

/// A message about a part of names that no test has.
fn wrong_filter(arguments: &[String]) -> Option<String> {
    let folders = folders(arguments);
    let has = |filter: &str| {
        folders
            .iter()
            .any(|folder| sources(folder).iter().any(|file| selects(filter, &module(file, folder), &text(file))))
    };
    filters(arguments)
        .into_iter()
        .find(|filter| !has(filter))
        .map(|filter| format!("no test has `{filter}` in its name"))
}

/// The error of a command that runs a script.
fn wrong_with_script(words: &[String]) -> Option<String> {
    let (path, arguments) = words.split_first()?;
    let file = root().join(path);
    if !file.is_file() {
        return Some("there is no such script".to_string());
    }
    let text = text(&file);
    // What follows `--` are arguments of another program.
    let options = arguments.iter().take_while(|word| *word != "--").filter(|word| word.starts_with("--"));
    let mut names = options.map(|option| option.split('=').next().unwrap_or_default());
    names.find(|name| !text.contains(*name)).map(|name| format!("the script has no option {name}"))
}

/// The error of a command that is none of the program's.
fn wrong_with(command: &Cited) -> Option<String> {
    if command.shadewright().is_some() {
        return None;
    }
    let wrong = |words: Vec<String>| match words.split_first() {
        Some((program, arguments)) if program == "cargo" => wrong_with_cargo(arguments),
        _ => wrong_with_script(&words),
    };
    alternatives(&command.words).into_iter().find_map(wrong)
}

#[test]
fn targets_modules_and_scripts_that_are_cited_exist() {
    let all = cited::all();
    let mut wrong = Vec::new();
    for command in &all {
        wrong.extend(wrong_with(command).map(|why| format!("{}: {}: {why}", command.place, command.words.join(" "))));
    }
    assert!(all.iter().filter(|command| command.cargo().is_some()).count() > 80, "few commands were found");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_does_not_exist_is_found() {
    for command in [
        "cargo test --test no_such_program",
        "cargo test --test meta no_such_module::",
        "cargo test --lib bvh::no_such_module",
        "cargo test -p shadewright-nothing",
        "cargo bench --bench nothing -- a",
        "cargo run --example nothing",
        "cargo +nightly fuzz run nothing",
        "benches/nothing.py",
        "benches/startup.py --no-such-option",
    ] {
        let words: Vec<String> = command.split(' ').map(String::from).collect();
        let cited = Cited { place: String::new(), words, is_whole: true, fails: false };
        assert!(wrong_with(&cited).is_some(), "{command}");
    }
}
