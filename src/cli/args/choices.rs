//! Choices among named values: one value parser. Names and descriptions come from the library's
//! tables; the tables here are of choices that only the command line has.

use super::renamed;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use shadewright::machines::polygons::scene_model::Colors;
use shadewright::named::{Named, Row};
use shadewright::render::Backend;
use shadewright::render::call::{RunnerInfo, runners};
use shadewright::rpu::{ENGINES, EngineInfo};
use shadewright::solid_volume::raster::Axis;
use std::ffi::OsStr;

/// Parses a value by its name in a table.
#[derive(Clone, Debug)]
pub struct NamedChoice<T>(Vec<(PossibleValue, T)>);

impl<T> NamedChoice<T> {
    /// The choice among the rows of a table, in the order of the help.
    pub fn new(rows: impl IntoIterator<Item = Row<T>>) -> Self {
        Self(rows.into_iter().map(|(name, help, value)| (PossibleValue::new(name).help(help), value)).collect())
    }

    fn possible(&self) -> impl Iterator<Item = PossibleValue> + '_ {
        self.0.iter().map(|(shown, _)| shown.clone())
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NamedChoice<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let name = PossibleValuesParser::new(self.possible()).parse_ref(command, arg, value)?;
        let row = self.0.iter().find(|(shown, _)| shown.matches(&name, arg.is_some_and(Arg::is_ignore_case_set)));
        row.map(|(_, value)| value.clone()).ok_or_else(|| Error::new(ErrorKind::InvalidValue).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.possible()))
    }
}

/// The sources of the colors of polygon hardware.
pub fn color_sources() -> NamedChoice<Colors> {
    let mut choice = choice_of::<Colors>();
    for (shown, source) in &mut choice.0 {
        if *source == Colors::Hardware {
            *shown = shown.clone().alias(renamed::MACHINE);
        }
    }
    choice
}

/// The choice among the values of an enumeration of the library.
pub fn choice_of<T: Named>() -> NamedChoice<T> {
    NamedChoice::new(T::TABLE.iter().copied())
}

/// The back ends.
pub fn backends() -> NamedChoice<Backend> {
    NamedChoice::new(rows_of_backends(|backend| backend))
}

/// The back ends as values of a choice.
fn rows_of_backends<T>(value: impl Fn(Backend) -> T) -> impl Iterator<Item = Row<T>> {
    Backend::all().map(move |backend| (backend.name(), &*backend.info().description, value(backend)))
}

/// Where shaders run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// A hardware GPU where there is one, else the RPU.
    #[default]
    Auto,
    /// One of the table.
    Named(Backend),
}

/// The back ends, and the choice of one by the program.
pub fn backends_or_auto() -> NamedChoice<BackendChoice> {
    let auto = ("auto", "A hardware GPU if there is one, else the RPU (CPU)", BackendChoice::Auto);
    NamedChoice::new([auto].into_iter().chain(rows_of_backends(BackendChoice::Named)))
}

/// The back ends whose parts of an image fit together on a render farm.
pub const FARM_BACKENDS: [Row<Backend>; 2] = [
    ("rpu", "The RPU: the same bits on all processors", Backend::RPU),
    ("gpu", "The GPU: the nodes need GPUs of one kind", Backend::GPU),
];

/// The engines of the RPU.
pub fn engines() -> NamedChoice<&'static EngineInfo> {
    NamedChoice::new(ENGINES.iter().rev().map(|engine| (engine.name, engine.description, *engine)))
}

/// Vector instructions of the CPU, each with the name that the library has for them.
pub const INSTRUCTION_SETS: [Row<&str>; 3] = [
    ("portable", "Those that every CPU of its kind has; there is no native engine then", "portable"),
    ("avx2", "AVX2", "AVX2"),
    ("avx512", "AVX-512", "AVX-512"),
];

/// Where single functions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunOn {
    /// The default runners, and whether they agree.
    #[default]
    All,
    /// The one of this name.
    Runner(&'static str),
}

impl RunOn {
    /// The runners that it stands for.
    pub fn runners(self) -> Vec<RunnerInfo> {
        let is_meant = |row: &RunnerInfo| match self {
            RunOn::All => row.is_default,
            RunOn::Runner(name) => row.name == name,
        };
        runners().into_iter().filter(is_meant).collect()
    }
}

/// The runners of single functions, and all that run by default.
pub fn runners_or_all() -> NamedChoice<RunOn> {
    let all = ("all", "The evaluator, the RPU and the GPU, with a comparison of their bits", RunOn::All);
    let named = runners().into_iter().map(|row| (row.name, row.description, RunOn::Runner(row.name)));
    NamedChoice::new([all].into_iter().chain(named))
}

/// Directions of the rays that measure a volume.
pub const RAY_DIRECTIONS: [Row<&[Axis]>; 4] = [
    ("x", "Along the x axis", &[Axis::X]),
    ("y", "Along the y axis", &[Axis::Y]),
    ("z", "Along the z axis", &[Axis::Z]),
    ("all", "Three rasters, one along each axis", &Axis::ALL),
];

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright::render::sampling::Pattern;

    #[test]
    fn a_choice_gives_the_value_of_its_row_and_refuses_other_names() {
        let parser = choice_of::<Pattern>();
        let command = Command::new("test");
        let parse = |name: &str| parser.parse_ref(&command, None, OsStr::new(name));
        assert_eq!(parse("sobol").ok(), Some(Pattern::Sobol));
        let error = parse("random").expect_err("no such pattern");
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert_eq!(parser.possible_values().map(Iterator::count), Some(2));
    }
}
