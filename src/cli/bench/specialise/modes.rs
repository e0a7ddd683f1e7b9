//! Which facts of a scene a program is specialised for: names as `--specialize` of a render takes
//! them.

use crate::cli::args::{self, SpecialiseArgs};
use crate::cli::failure::Failure;
use clap::ValueEnum;
use shadewright::program::Specialize;

/// A mode.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name in tables.
    pub name: String,
    /// The facts.
    pub facts: Specialize,
}

/// The modes of whole scenes; the first is the baseline, the last is what specialised means.
const OF_SCENES: [&str; 4] = ["none", "types", "constants", "all"];

/// The facts of one of the microbenchmarks of interfaces, by their names in tables: of textures and
/// of the layout of vertex attributes.
const OF_INTERFACES: [(&str, &str); 4] =
    [("none", "none"), ("T", "textures"), ("A", "layouts"), ("T+A", "textures,layouts")];

/// The facts of a text; `None` where this build has no such fact.
fn parse(text: &str) -> Option<Specialize> {
    args::Specialize::from_str(text, true).ok().map(Into::into)
}

fn mode((name, facts): (&str, &str)) -> Option<Mode> {
    Some(Mode { name: name.to_string(), facts: parse(facts)? })
}

/// The modes of `--specialize`, or all.
pub fn of_scenes(args: &SpecialiseArgs) -> Result<Vec<Mode>, Failure> {
    if args.specialize.is_empty() {
        return Ok(OF_SCENES.iter().filter_map(|name| mode((name, name))).collect());
    }
    let asked = |name: &String| {
        mode((name, name)).ok_or_else(|| {
            Failure::input(format!(
                "error: --specialize {name}: there is no such fact\nhint: {} are modes, as those of `shadewright render --specialize`",
                OF_SCENES.iter().filter(|name| parse(name).is_some()).copied().collect::<Vec<_>>().join(", ")
            ))
        })
    };
    args.specialize.iter().map(asked).collect()
}

/// The facts of the microbenchmark of interfaces.
pub fn of_interfaces() -> Vec<Mode> {
    OF_INTERFACES.into_iter().filter_map(mode).collect()
}
