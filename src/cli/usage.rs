//! Errors of the command line for which clap has no message of its own: a scene or a subcommand
//! that does not exist or no longer does, and several scenes.

use super::args::{Cli, Command, removed};
use super::convert;
use super::failure::Failure;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use shadewright::text::diagnostics::closest;
use std::ffi::OsString;
use std::path::Path;

/// The subcommands whose first argument is a scene.
const WITH_SCENE: [&str; 7] = ["render", "compare", "farm", "depth", "probe", "simulate", "solid-volume"];

/// Checks that the scene that the command line names is a file.
///
/// # Errors
/// When it is not, with the place where it was looked for.
pub fn check_scene(cli: &Cli) -> Result<(), Failure> {
    let scene = match &cli.command {
        None => &cli.render.scene.file,
        Some(Command::Render(args)) => &args.scene.file,
        Some(Command::Compare(args)) => &args.scene.file,
        Some(Command::Depth(args)) => &args.file,
        Some(Command::Probe(args)) => &args.scene.file,
        Some(Command::Convert(args)) => {
            let is_there = args.scene.exists() || convert::built_in(&args.scene).is_some();
            return if is_there { Ok(()) } else { Err(no_file(&args.scene)) };
        }
        Some(Command::Farm(args)) => return exists(&args.scene),
        Some(Command::Pack(args)) => return exists(&args.scene),
        Some(Command::Simulate(args)) => &args.scene.file,
        Some(Command::SolidVolume(args)) => &args.file,
        Some(_) => return Ok(()),
    };
    match &scene.scene {
        Some(path) if !path.exists() && cli.command.is_none() => Err(no_file_or_command(path)),
        Some(path) if !path.exists() => Err(no_file(path)),
        _ => Ok(()),
    }
}

/// Checks that a scene is a file.
fn exists(path: &Path) -> Result<(), Failure> {
    if path.exists() { Ok(()) } else { Err(no_file(path)) }
}

/// The message for a command line that clap refuses, where ours is better.
pub fn refusal(error: &clap::Error, args: &[OsString]) -> Option<Failure> {
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(message) = removed(args)
    {
        return Some(Failure::input(message));
    }
    // With one scene given, clap takes a second one for a subcommand.
    let refused = match error.kind() {
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        ErrorKind::ArgumentConflict => error.get(ContextKind::InvalidSubcommand),
        _ => None,
    };
    let Some(ContextValue::String(refused)) = refused else { return None };
    let commands = commands();
    let is_command = |name: &str| commands.iter().any(|command| command == name);
    let first = args.get(1)?.to_str().filter(|first| !first.starts_with('-'));
    if let Some(first) = first.filter(|first| !is_command(first) && !Path::new(first).exists()) {
        return Some(no_file_or_command(Path::new(first)));
    }
    let takes_no_scene = first.is_some_and(|first| is_command(first) && !WITH_SCENE.contains(&first));
    if refused.starts_with('-') || is_command(refused) || takes_no_scene {
        return None;
    }
    Some(Failure::input(format!(
        "error: one scene is rendered at a time: remove `{refused}`, or run the command once for each scene\n\
         hint: a RIB scene includes another one with `ReadArchive \"{refused}\"`"
    )))
}

/// The names of the subcommands, old ones too.
fn commands() -> Vec<String> {
    let mut command = Cli::command();
    command.build();
    let names = command.get_subcommands().flat_map(|sub| std::iter::once(sub.get_name()).chain(sub.get_all_aliases()));
    names.map(str::to_string).collect()
}

fn no_file_or_command(path: &Path) -> Failure {
    let (shown, commands) = (path.display(), commands());
    match closest(&shown.to_string(), commands.iter().map(String::as_str)) {
        Some(name) => Failure::input(format!("error: no file or subcommand `{shown}`; did you mean `{name}`?")),
        None => Failure::input(format!(
            "error: no file or subcommand `{shown}`\nhint: {}; `shadewright --help` lists the subcommands",
            looked_for(path)
        )),
    }
}

/// The message for a folder of scenes that does not exist.
pub fn no_folder(path: &Path) -> Failure {
    Failure::input(format!("error: no folder or list `{}`\nhint: {}", path.display(), looked_for(path)))
}

fn no_file(path: &Path) -> Failure {
    Failure::input(format!("error: no file `{}`\nhint: {}", path.display(), looked_for(path)))
}

/// Where a file was looked for, and a file there whose name is nearly the same.
fn looked_for(path: &Path) -> String {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let looked = format!("looked for {}", full.display());
    let Some((folder, name)) = full.parent().zip(full.file_name().and_then(|name| name.to_str())) else {
        return looked;
    };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return format!("{looked}, and there is no folder {}", folder.display());
    };
    let names: Vec<String> = entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    match closest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("{looked}; there is `{near}`"),
        None => looked,
    }
}
