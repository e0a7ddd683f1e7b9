//! Arguments of `solid-volume`.

use super::*;
use clap::Args;
use shadewright::solid_volume::raster::Axis;

/// `solid-volume`.
#[derive(Debug, Args)]
#[command(mut_arg("frames", one_frame))]
pub struct SolidVolumeArgs {
    /// The scene.
    #[command(flatten)]
    pub file: SceneFile,
    /// The size of the image, on which the dicing of curved surfaces depends.
    #[command(flatten)]
    pub size: SizeArgs,
    /// The time.
    #[command(flatten)]
    pub moment: MomentArgs,
    /// Rays of the first raster: one for each of about so many cells of an object's bounds
    #[arg(long, value_name = "N", default_value_t = 65536, value_parser = clap::value_parser!(u32).range(1..=1 << 24), help_heading = heading::RAYS)]
    pub rays: u32,
    /// Direction of the rays, in the world. With all three, the error is four times the
    /// largest difference between one of them and their mean
    #[arg(long, value_parser = NamedChoice::new(RAY_DIRECTIONS), default_value = "all", help_heading = heading::RAYS)]
    pub axis: &'static [Axis],
    /// Print the volumes as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
    /// The CPU.
    #[command(flatten)]
    pub threads: ThreadArgs,
}

impl SolidVolumeArgs {
    /// The scene as it is read.
    pub fn scene(&self) -> SceneArgs {
        SceneArgs {
            file: self.file.clone(),
            camera: CameraArgs { size: self.size, crop: None },
            moment: self.moment.clone(),
            ..SceneArgs::default()
        }
    }
}
