//! Arguments of `convert`.

use super::*;
use clap::Args;
use shadewright::scene::Integrator;
use std::path::PathBuf;

/// `convert`.
#[derive(Debug, Args)]
#[command(need("check", &["metric"]))]
pub struct ConvertArgs {
    /// The scene: .rib .gltf .glb .obj .ply, or the name of a built-in scene
    #[arg(value_name = "IN")]
    pub scene: PathBuf,
    /// The file to write: .rib, .gltf (its buffer beside it) or .glb (one file). Textures go to
    /// OUT_textures, shaders of a RIB file to OUT_shaders, where OUT has no extension
    pub out: PathBuf,
    /// Make every loss an error: exit with status 2, and write no file
    #[arg(long, help_heading = heading::OUTPUT)]
    pub strict: bool,
    /// Frame of the scene to convert; the first by default
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = heading::CAMERA)]
    pub frame: Option<i32>,
    /// Time of a glTF animation, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = not_negative::<f32>, conflicts_with = "frame", hide_short_help = true, help_heading = heading::CAMERA)]
    pub time: Option<f32>,
    /// The glTF animation that --time and --frame mean, by its name or number; the first by default
    #[arg(long, value_name = "NAME|N", hide_short_help = true, help_heading = heading::CAMERA)]
    pub animation: Option<String>,
    /// Integrator to write; overrides the scene. Materials of glTF and OBJ files become BSDFs for
    /// `path`
    #[arg(long, value_parser = choice_of::<Integrator>(), hide_short_help = true, help_heading = heading::INTEGRATOR)]
    pub integrator: Option<Integrator>,
    /// Where the scene's shaders are.
    #[command(flatten)]
    pub shaders: ShaderPaths,
    /// The rights of the scene.
    #[command(flatten)]
    pub access: AccessArgs,
    /// The limit of triangles.
    #[command(flatten)]
    pub limit: TriangleLimit,
    /// Render both scenes and compare the images; exit status 1 if they differ
    #[arg(long, help_heading = heading::COMPARISON)]
    pub check: bool,
    /// With --check: width and height of the images; the scene's shape, 160 pixels on the longer
    /// side, by default
    #[arg(long, value_name = "WxH", requires = "check", help_heading = heading::COMPARISON)]
    pub size: Option<Size>,
    /// With --check: samples per pixel
    #[arg(long, value_name = "N", default_value_t = 4, requires = "check", value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = heading::COMPARISON)]
    pub spp: u32,
    /// With --check: where shaders run
    #[arg(long, value_parser = backends_or_auto(), default_value = "rpu", requires = "check", help_heading = heading::COMPARISON)]
    pub backend: BackendChoice,
    /// With --check: write a false-color image of the difference to FILE
    #[arg(long, value_name = "FILE", requires = "check", help_heading = heading::COMPARISON)]
    pub difference: Option<PathBuf>,
    /// How the difference is judged.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Print the results as JSON on standard output
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}
