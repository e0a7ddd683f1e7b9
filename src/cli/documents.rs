//! `shadewright completions` and `shadewright man`: documents that are generated from the command
//! line's definition.

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::failure::Failure;
use anyhow::Context;
use clap::CommandFactory;

/// Prints the completion script of a shell.
pub fn completions(args: CompletionsArgs) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "shadewright", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
}

/// Prints the manual page, or writes a page for each subcommand into a folder.
///
/// # Errors
/// When the folder cannot be written.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).context("writing the manual page")?;
        print!("{}", String::from_utf8_lossy(&page));
        return Ok(());
    };
    let write = || {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(Cli::command(), folder)
    };
    write().with_context(|| format!("writing manual pages into `{}`", folder.display()))?;
    Ok(())
}
