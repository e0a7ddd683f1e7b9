//! `shadewright reference`: the reference of the shading languages.

use super::args::ReferenceArgs;
use super::failure::Failure;
use super::output::print_json_text;
use anyhow::Context;
use serde_json::{Value, json};
use shadewright::lang::rsl::reference::table::{functions, markdown};

/// Prints a page of the documentation, or the functions of RSL as JSON.
pub fn run(args: &ReferenceArgs) -> Result<(), Failure> {
    if args.rtsl {
        print!("{}", shadewright::lang::rtsl::state::markdown());
        return Ok(());
    }
    if !args.json {
        print!("{}", markdown());
        return Ok(());
    }
    let entries = functions().into_iter().map(|e| {
        json!({
            "section": e.section,
            "name": e.name,
            "state": e.state.word(),
            "reason": e.state.reason(),
            "signatures": e.signatures,
            "text": e.text,
        })
    });
    let list: Vec<Value> = entries.collect();
    print_json_text(&serde_json::to_string_pretty(&list).context("writing JSON")?);
    Ok(())
}
