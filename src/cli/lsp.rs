//! `shadewright lsp`: the language server on standard input and output.

use super::args::LspArgs;
use super::failure::Failure;
use shadewright::lsp::{Ended, Settings, connect, serve};
use std::io::{BufReader, stdin, stdout};

/// Serves the editor that started this process until it exits. Standard output carries the protocol
/// alone.
pub fn run(args: &LspArgs) -> Result<(), Failure> {
    let settings = Settings { include_paths: args.preprocess.include.clone(), defines: args.preprocess.define.clone() };
    let (connection, threads) = connect(BufReader::new(stdin()), stdout());
    let ended = serve(connection, settings).map_err(|e| Failure::input(format!("error: {e}")))?;
    threads.join().map_err(|e| Failure::input(format!("error: cannot read the editor's messages: {e}")))?;
    match ended {
        Ended::Orderly => Ok(()),
        Ended::Abrupt => Err(Failure::no_shutdown()),
    }
}
