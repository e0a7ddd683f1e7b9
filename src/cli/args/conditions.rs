//! Options that have an effect only with some values of another option. clap has no such
//! conditions: they are checked here, right after it, with errors of its form.

use super::{Cli, renamed};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, Error, FromArgMatches};
use std::ffi::OsString;

/// A condition of some options.
struct Condition {
    /// The commands that have it; empty for that without a subcommand.
    commands: &'static [&'static str],
    /// The options, as clap knows them.
    options: &'static [&'static str],
    /// The other option.
    other: &'static str,
    /// The values of the other option with which these have an effect, in groups; an empty one
    /// where it is not given.
    values: &'static [&'static [&'static str]],
    /// The message of the error.
    message: &'static str,
}

const RENDER: &[&str] = &["", "render"];
const SAMPLED: &[&str] = &["", "render", "compare", "simulate"];
const SIMULATE: &[&str] = &["simulate"];
const ON_GPUS: &[&str] = &["", "render", "compare", "probe", "merge", "simulate"];

/// Ray-tracing hardware whose shaders run on a host.
const HOSTED: &[&str] = &["rtp", "rtp-grid", "rtp-boxes", "rtp-octree", "rtp-bvh", "pipeline"];
const ARRAY: &[&str] = &["array"];
/// Polygon hardware that makes images.
const POLYGONS: &[&str] = &["scan-line-tree", "fuchs", "parke", "hybrid", "pixel-planes", "demetrescu"];
const LINES: &[&str] = &["hidden-line"];
const RPU: &[&str] = &["rpu"];
const PIXELFLOW: &[&str] = &["pixelflow"];
const UNIFORM: &[&[&str]] = &[&["uniform"]];
const ADAPTIVE: &[&[&str]] = &[&["adaptive"]];

/// A condition of options of `simulate`.
const fn for_models(
    options: &'static [&'static str],
    values: &'static [&'static [&'static str]],
    message: &'static str,
) -> Condition {
    Condition { commands: SIMULATE, options, other: "model", values, message }
}

/// A condition of options that go with one of the samplers.
const fn for_sampler(
    commands: &'static [&'static str],
    option: &'static [&'static str],
    values: &'static [&'static [&'static str]],
    message: &'static str,
) -> Condition {
    Condition { commands, options: option, other: "sampler", values, message }
}

/// All conditions.
const CONDITIONS: &[Condition] = &[
    for_models(
        &["check"],
        &[HOSTED, ARRAY, POLYGONS],
        "--check compares images: it is for ray-tracing hardware, and for polygon hardware that makes no line drawing",
    ),
    for_models(
        &["sweep"],
        &[&["rtp-grid"], ARRAY, POLYGONS],
        "--sweep is for hardware of several sizes: rtp-grid, array, and polygon hardware that makes no line drawing",
    ),
    for_models(&["cells"], &[&["rtp-grid"]], "--cells is for --model rtp-grid"),
    for_models(&["nodes", "mapping"], &[ARRAY], "--nodes and --mapping are for --model array"),
    for_models(
        &["measure_host"],
        &[HOSTED],
        "--measure-host is for hardware with a host: the ray tracing peripheral and pipeline",
    ),
    for_models(
        &["charts"],
        &[HOSTED, ARRAY, POLYGONS],
        "--charts is for ray-tracing hardware and polygon hardware; the hidden-line pipeline has no charts",
    ),
    for_models(
        &["heatmap"],
        &[RPU, HOSTED, ARRAY],
        "--heatmap is for --model rpu and for ray-tracing hardware: on other models all pixels take the same time",
    ),
    for_models(&["format"], &[RPU, HOSTED], "--format is for models whose shaders run on the RPU"),
    for_models(
        &["entry", "world", "set"],
        &[RPU],
        "--entry, --in and --set are for programs of the RPU, on --model rpu",
    ),
    for_models(&["lines"], &[RPU], "--lines is for the tables of --model rpu"),
    for_models(
        &["sampler"],
        &[HOSTED],
        "--sampler is for ray-tracing hardware with a host: other models sample every pixel alike, by --spp N",
    ),
    for_models(
        &["colors", "interpolation"],
        &[POLYGONS],
        "--colors and --interpolation are for polygon hardware that makes no line drawing",
    ),
    for_models(
        &["edges", "hidden_lines", "stroke_width"],
        &[LINES],
        "--edges, --hidden-lines and --stroke-width are for line drawings: --model hidden-line",
    ),
    for_models(
        &["crop"],
        &[RPU, PIXELFLOW, HOSTED, ARRAY],
        "--crop is for models that sample pixels: polygon hardware shows the whole image",
    ),
    for_models(&["spp"], &[RPU, PIXELFLOW, HOSTED, ARRAY, POLYGONS], "--spp is for images: lines have smooth edges"),
    Condition {
        commands: RENDER,
        options: &["spp"],
        other: "model",
        values: &[&[""], POLYGONS],
        message: "--spp is for images: lines have smooth edges",
    },
    for_models(
        &["pattern", "seed"],
        &[RPU, PIXELFLOW, HOSTED, ARRAY],
        "--pattern and --seed are for models with random samples: polygon hardware has a lattice of them",
    ),
    for_models(
        &["passes", "shadows"],
        &[RPU, HOSTED, ARRAY, POLYGONS, LINES],
        "--passes and --shadows are not for PixelFlow, which compiles shaders by itself and has no shadows",
    ),
    Condition {
        commands: SIMULATE,
        options: &["adapter", "schedule", "traversal"],
        other: "check",
        values: &[&["gpu"]],
        message: "--adapter, --schedule and --traversal are options of the GPU: add --check gpu",
    },
    Condition {
        commands: RENDER,
        options: &["engine"],
        other: "backend",
        values: &[RPU],
        message: "--engine is an option of the RPU: add --backend rpu",
    },
    Condition {
        commands: &["run"],
        options: &["engine"],
        other: "on",
        values: &[&["all"], RPU],
        message: "--engine chooses what runs on the RPU: name it with --on rpu, or remove --on",
    },
    Condition {
        commands: ON_GPUS,
        options: &["traversal"],
        other: "schedule",
        values: &[&["", "auto", "wavefront"]],
        message: "--traversal chooses a traversal kernel, and the megakernel has none; remove one of them",
    },
    for_sampler(
        SAMPLED,
        &["sampler_threshold", "sampler_depth"],
        ADAPTIVE,
        "--sampler-threshold and --sampler-depth are options of --sampler adaptive: add it",
    ),
    for_sampler(
        SAMPLED,
        &["spp"],
        UNIFORM,
        "--sampler adaptive does not support --spp: the number of samples follows from --sampler-threshold and \
         --sampler-depth",
    ),
    for_sampler(
        SAMPLED,
        &["pattern"],
        UNIFORM,
        "--sampler adaptive does not support --pattern: samples are on a lattice",
    ),
    for_sampler(
        SAMPLED,
        &["seed", "seeds"],
        UNIFORM,
        "--sampler adaptive does not support --seed and --seeds: samples are on a lattice",
    ),
    for_sampler(
        RENDER,
        &["target_error"],
        UNIFORM,
        "--sampler adaptive does not support --target-error: there is no error estimate; use --sampler-threshold",
    ),
    for_sampler(
        RENDER,
        &["resume"],
        UNIFORM,
        "--sampler adaptive does not support --resume: samples depend on those before them",
    ),
    for_sampler(RENDER, &["watch"], UNIFORM, "--sampler adaptive does not support --watch"),
    for_sampler(
        RENDER,
        &["layers"],
        UNIFORM,
        "--sampler adaptive does not support --layers: render them by themselves, with --sampler uniform",
    ),
    for_sampler(RENDER, &["part"], UNIFORM, "--sampler adaptive does not support --part: pixels share samples"),
    Condition {
        commands: RENDER,
        options: &["target_error"],
        other: "pattern",
        values: &[&["sobol"]],
        message: "--target-error needs --pattern sobol: the first samples of the stratified pattern cover only a \
                  part of each pixel",
    },
    Condition {
        commands: &["farm"],
        options: &["slurm_options", "at_once"],
        other: "scheduler",
        values: &[&["slurm"]],
        message: "--slurm-option and --at-once are for --scheduler slurm",
    },
    Condition {
        commands: &["silicon"],
        options: &["words", "cycles"],
        other: "emit",
        values: &[&["simulate", "serial", "testbench"]],
        message: "--words and --cycles are for --emit simulate, serial and testbench",
    },
    Condition {
        commands: &["silicon"],
        options: &["radix"],
        other: "emit",
        values: &[&["simulate", "serial"]],
        message: "--radix is for --emit simulate and serial",
    },
    Condition {
        commands: &["compile"],
        options: &["abi", "convention"],
        other: "emit",
        values: &[&["rpu", "rpubin", "asm"]],
        message: "--abi and --convention are for --emit rpu, rpubin and asm",
    },
    Condition {
        commands: &["compile"],
        options: &["lanes", "uniform", "affine"],
        other: "emit",
        values: &[&["uniformity", "vector"]],
        message: "--lanes, --uniform and --affine are for --emit uniformity and vector",
    },
    Condition {
        commands: &["compile"],
        options: &["show"],
        other: "emit",
        values: &[&["ir"]],
        message: "--show is for --emit ir",
    },
];

/// The value of an option, by default or not; empty where there is none.
fn value(matches: &ArgMatches, option: &str) -> String {
    let raw = matches.try_get_raw(option).ok().flatten();
    raw.and_then(|mut values| values.next()).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
}

/// True if the user gave an option.
fn is_given(matches: &ArgMatches, option: &str) -> bool {
    matches.try_contains_id(option).is_ok_and(|is_set| is_set)
        && matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// The message of the first condition that a command line violates.
fn violated(name: &str, matches: &ArgMatches) -> Option<&'static str> {
    let holds = |condition: &Condition| {
        let other = value(matches, condition.other);
        let other = renamed::current_value(name, condition.other, &other);
        condition.values.iter().any(|group| group.contains(&other))
    };
    let applies = |condition: &&Condition| {
        condition.commands.contains(&name) && condition.options.iter().any(|option| is_given(matches, option))
    };
    CONDITIONS.iter().filter(applies).find(|condition| !holds(condition)).map(|condition| condition.message)
}

/// Parses a command line.
///
/// # Errors
/// The errors of clap, and options without an effect beside the others.
pub fn parse<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<Cli, Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(words)?;
    let (name, own) = matches.subcommand().unwrap_or(("", &matches));
    if let Some(message) = violated(name, own) {
        let refused = command.find_subcommand_mut(name).map(|sub| sub.error(ErrorKind::ArgumentConflict, message));
        return Err(refused.unwrap_or_else(|| command.error(ErrorKind::ArgumentConflict, message)));
    }
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    /// The command of a condition.
    fn command(name: &str) -> Command {
        let mut command = Cli::command();
        command.build();
        if name.is_empty() { command } else { command.find_subcommand(name).expect("a subcommand").clone() }
    }

    #[test]
    fn conditions_name_options_and_values_that_exist() {
        for condition in CONDITIONS {
            let find =
                |command: &Command, option: &str| command.get_arguments().find(|arg| arg.get_id() == option).cloned();
            let commands: Vec<Command> = condition.commands.iter().map(|name| command(name)).collect();
            for option in condition.options {
                assert!(commands.iter().any(|command| find(command, option).is_some()), "{option}");
            }
            for command in &commands {
                let other = find(command, condition.other).expect(condition.other);
                let known: Vec<String> =
                    other.get_possible_values().iter().map(|value| value.get_name().to_string()).collect();
                let mut values = condition.values.iter().copied().flatten();
                assert!(
                    values.all(|value| value.is_empty() || known.iter().any(|name| name == value)),
                    "{}",
                    condition.message
                );
            }
        }
    }

    #[test]
    fn options_without_effect_beside_a_value_are_refused() {
        let refused = |words: &str| parse(words.split(' ')).err().map(|error| error.to_string());
        let message = refused("shadewright simulate a.rib --model fuchs --cells 4").unwrap_or_default();
        assert!(message.starts_with("error: --cells is for --model rtp-grid\n"), "{message}");
        assert!(refused("shadewright a.rib -o a.png --sampler-depth 1").is_some());
        assert!(refused("shadewright silicon a.si --radix signed").is_some());
        assert!(refused("shadewright a.rib -o a.png --engine interpreter").is_some());
        assert!(refused("shadewright run a.sl f --on gpu --engine interpreter").is_some());
        assert!(refused("shadewright compare a.rib --schedule megakernel --traversal if-if").is_some());
        for words in [
            "simulate a.rib --model rtp-grid --cells 4",
            "simulate a.rib --model rtp --check gpu --adapter a",
            "simulate a.rib",
            "render a.rib -o a.png --spp 4",
            "render a.rib -o a.png --sampler adaptive --sampler-depth 1",
            "a.rib -o a.png --pattern sobol --target-error 0.1",
            "a.rib -o a.png --backend rpu --engine interpreter",
            "run a.sl f --engine interpreter",
            "compare a.rib --traversal if-if",
            "volume a.rib",
            "compile a.sl --emit uniformity --lanes 4",
            "compile a.sl --emit shapes --lanes 4",
        ] {
            assert_eq!(refused(&format!("shadewright {words}")), None);
        }
    }
}
