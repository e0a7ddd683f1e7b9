//! Arguments of `pack`.

use super::*;
use clap::Args;
use shadewright::scene::Integrator;
use std::path::PathBuf;

/// `pack`.
#[derive(Debug, Args)]
pub struct PackArgs {
    /// The scene: .rib .gltf .glb .obj .ply
    pub scene: PathBuf,
    /// The folder to write, outside of the scene's folder: new, empty, or an earlier pack of the
    /// scene, in which unchanged files stay
    #[arg(short, long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub out: PathBuf,
    /// List the files that would be packed, and write nothing
    #[arg(long, help_heading = heading::OUTPUT)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long, help_heading = heading::OUTPUT)]
    pub json: bool,
    /// Refuse a scene with any error, and one of which something would be missing: print all
    /// messages, write nothing, exit with status 2
    #[arg(long, help_heading = heading::OUTPUT)]
    pub strict: bool,
    /// Frame, or inclusive range of frames, to read; all by default. Archives, textures and shaders
    /// that other frames name are packed too
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true, hide_short_help = true, help_heading = heading::CAMERA)]
    pub frames: Option<Frames>,
    /// Integrator of the renders that will use the pack; the scene's by default
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
}
