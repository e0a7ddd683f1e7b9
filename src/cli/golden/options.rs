//! The words of the command line that a list gives a render: which are allowed, and what they say.

use crate::cli::args::{Cli, Command, parse};
use clap::error::{ContextKind, ContextValue};
use shadewright::golden::list::{Facts, OptionError};

/// Options that are the runner's own, each with what to use instead.
const OWN: &[(&str, &str)] = &[
    ("-o", "the render goes to the folder of the report"),
    ("--out", "the render goes to the folder of the report"),
    ("--render", "the render goes to the folder of the report"),
    ("--backend", "write `backends`"),
    ("--machine", "write `backends`"),
    ("--frames", "write `frames`"),
    ("--compare", "write `reference`"),
    ("--metric", "write `tolerance`"),
    ("--threshold", "write `tolerance`"),
    ("--strict", "scenes of a list are read strictly; `--lenient` accepts their errors"),
    ("--json", "`shadewright golden --json` prints the results"),
    ("--watch", "images are rendered once"),
    ("--resume", "images are rendered whole"),
    ("--preview", "images are rendered once"),
    ("--part", "images are rendered whole"),
    ("--stats", "`shadewright render --stats` prints them"),
];

/// Checks the options of a render, as the command line does.
///
/// # Errors
/// The first that is wrong.
pub fn check(options: &[String]) -> Result<Facts, OptionError> {
    for word in options {
        let name = word.split('=').next().unwrap_or_default();
        if let Some((own, instead)) = OWN.iter().find(|(own, _)| *own == name) {
            return Err(OptionError {
                message: format!("`{own}` is no option of a list"),
                word: Some(word.clone()),
                hints: vec![(*instead).to_string()],
            });
        }
    }
    let words = ["shadewright", "render", "scene.rib", "-o", "image.exr", "--backend", "rpu"];
    let words = words.into_iter().chain(options.iter().map(String::as_str));
    let error = match parse(words) {
        Ok(Cli { command: Some(Command::Render(args)), .. }) => {
            let scene = &args.scene;
            let (seed, runs_programs) = (scene.sampling.seed, scene.file.access.allow_run);
            return Ok(Facts { seed, runs_programs, is_lenient: args.lenient });
        }
        // `--help` and its like are no renders.
        Ok(_) => {
            return Err(OptionError { message: "these are no options of a render".into(), word: None, hints: vec![] });
        }
        Err(error) => error,
    };
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string();
    let tips = text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).map(str::to_string);
    let word = match error.get(ContextKind::InvalidArg) {
        // With the names of its values: `--size <WxH>`.
        Some(ContextValue::String(word)) => word.split(' ').next().map(str::to_string),
        _ => None,
    };
    let is_answer = !error.use_stderr();
    let message = if is_answer { "these are no options of a render".to_string() } else { message };
    let mut hints: Vec<String> = tips.collect();
    hints.push("`shadewright render --help` lists the options".to_string());
    Err(OptionError { message, word, hints })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(options: &[&str]) -> OptionError {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        check(&options).expect_err("wrong options")
    }

    #[test]
    fn options_are_those_of_a_render() {
        let options = ["--size", "32x24", "--seed", "7", "--allow-run", "-I", "shaders", "--lenient"].map(String::from);
        let facts = Facts { seed: 7, runs_programs: true, is_lenient: true };
        assert_eq!(check(&options), Ok(facts));
        assert_eq!(check(&[]), Ok(Facts::default()));
    }

    #[test]
    fn mistakes_name_the_word_and_what_it_could_be() {
        let error = wrong(&["--spp", "4", "--sise", "32x24"]);
        assert_eq!(
            (error.message.as_str(), error.word.as_deref()),
            ("unexpected argument '--sise' found", Some("--sise"))
        );
        assert!(error.hints[0].contains("--size"), "{:?}", error.hints);
        let error = wrong(&["--size", "huge"]);
        assert!(error.message.contains("huge") && error.word.as_deref() == Some("--size"), "{error:?}");
        assert!(wrong(&["other.rib"]).message.contains("other.rib"));
        assert!(wrong(&["--help"]).message.contains("no options of a render"));
    }

    #[test]
    fn what_the_runner_decides_is_no_option() {
        for word in ["-o", "--backend=gpu", "--json", "--frames"] {
            let error = wrong(&["--spp", "4", word]);
            assert!(
                error.message.ends_with("is no option of a list") && error.word.as_deref() == Some(word),
                "{error:?}"
            );
        }
    }
}
