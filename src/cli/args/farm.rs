//! Arguments of `farm`.

use super::*;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use shadewright::render::Backend;
use shadewright::render::batches::MAX_BATCHES;
use shadewright::render::part::Grid;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// `farm`.
#[derive(Debug, Args)]
pub struct FarmArgs {
    /// The scene: .rib .gltf .glb .obj .ply
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// Write the job to this folder: the scene with all its files, and what the scheduler runs. Parts and
    /// images go there, too
    #[arg(short, long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub out: PathBuf,
    /// Name of the images, with an extension; the scene's, as .exr, by default. The number of a frame
    /// stands before the extension
    #[arg(long, value_name = "NAME.EXT", help_heading = heading::OUTPUT)]
    pub image: Option<String>,
    /// Scheduler that runs the job
    #[arg(long, alias = "engine", value_enum, help_heading = heading::FARM)]
    pub scheduler: Scheduler,
    /// Frame to render, or an inclusive range such as 1..240; all frames of a RIB file by default
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true, help_heading = heading::FARM)]
    pub frames: Option<Frames>,
    /// Divide each image into tiles: columns and rows, or how many
    #[arg(long, value_name = "CxR|N", default_value_t = Grid::WHOLE, help_heading = heading::FARM)]
    pub tiles: Grid,
    /// Divide the samples of each pixel into N shares, 16 at most
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BATCHES)), help_heading = heading::FARM)]
    pub samples: u32,
    /// Frames of a task, one after the other; of a still, tiles of a row
    #[arg(long, value_name = "N", default_value = "1", help_heading = heading::FARM)]
    pub chunk: NonZeroU32,
    /// The program on the nodes: a path, or a name in PATH
    #[arg(long, value_name = "PROGRAM", default_value = "shadewright", value_parser = NonEmptyStringValueParser::new(), help_heading = heading::FARM)]
    pub program: String,
    /// Compiled programs that the nodes share: a folder, the same on all of them
    #[arg(long, value_name = "DIR", help_heading = heading::FARM)]
    pub cache: Option<String>,
    /// With slurm: an option of sbatch for all tasks, as in --slurm-option=--time=1:00:00; may be
    /// repeated
    #[arg(long = "slurm-option", value_name = "OPTION", allow_hyphen_values = true, help_heading = heading::FARM)]
    pub slurm_options: Vec<String>,
    /// With slurm: tasks of an array that run at once at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::FARM)]
    pub at_once: Option<u32>,
    /// The size of the images.
    #[command(flatten)]
    pub size: SizeArgs,
    /// Samples per pixel; overrides the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = heading::SAMPLING)]
    pub spp: Option<u32>,
    /// Where shaders run: parts from different backends make no image
    #[arg(long, value_parser = NamedChoice::new(FARM_BACKENDS), default_value = "rpu", help_heading = heading::BACKEND)]
    pub backend: Backend,
    /// Where the scene's shaders are.
    #[command(flatten)]
    pub shaders: ShaderPaths,
    /// Allow the scene to read files in this folder; may be repeated
    #[arg(long, value_name = "DIR", help_heading = heading::FILES)]
    pub allow_read: Vec<PathBuf>,
    /// More options of `render` for all tasks, after `--`
    #[arg(last = true, value_name = "OPTIONS OF RENDER")]
    pub options: Vec<String>,
}

/// Schedulers of render farms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// Open Job Description 2023-09, for example AWS Deadline Cloud: a bundle, template.yaml
    Openjd,
    /// Slurm: submit.sh submits arrays of tasks
    Slurm,
}
