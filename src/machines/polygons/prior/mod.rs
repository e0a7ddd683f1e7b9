//! Designs before the scan-line tree (Ullner 1983, §3.2). Their host transforms and clips polygons;
//! they sample them at the middles of pixels, by one rule ([`raster`](super::raster)), and keep the
//! nearest in depth buffers. So their images are the same, and their costs are not.
//!
//! | file | design |
//! |---|---|
//! | [`blocks`] | Fuchs: processors that share the pixels out; Parke: a tree that cuts polygons for blocks; both |
//! | [`pixel_planes`] | Pixel-planes: linear functions at every pixel |
//! | [`stream`] | Demetrescu: a processor for each polygon, past which pixels are streamed |
//! | [`report`](mod@report) | reports, sweeps and the comparison |

pub mod blocks;
mod config;
pub mod pixel_planes;
pub mod report;
pub mod stream;

pub use config::{Config, DEFAULT_TEXT, Pattern};
pub use report::{comparison, report, sweep};

#[cfg(test)]
mod tests;

use super::model::Model;
use super::raster::RasterPolygon;
use super::screen::screen_polygons;
use crate::models::{self, MODELS, PolygonSimulator, Simulator};
use blocks::Arrangement;
use shadewright_image::{Image, SizeError};

/// The designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorModel {
    /// Fuchs (1977).
    Fuchs,
    /// Parke (1980).
    Parke,
    /// Parke's tree, and below it Fuchs's processors.
    Hybrid,
    /// Fuchs and Poulton (1981).
    PixelPlanes,
    /// Demetrescu (1980).
    Demetrescu,
}

impl PriorModel {
    /// All of them, in the order of the table of hardware models.
    pub fn all() -> impl Iterator<Item = PriorModel> {
        MODELS.iter().filter_map(|model| match model.simulator {
            Simulator::Polygons(PolygonSimulator::Prior(kind)) => Some(kind),
            _ => None,
        })
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        models::title(Simulator::Polygons(PolygonSimulator::Prior(self)))
    }

    /// How the processors of a design with blocks are arranged.
    fn arrangement(self, config: &Config) -> Option<Arrangement> {
        let (fuchs, parke) = (config.fuchs, config.parke);
        let pattern = fuchs.pattern;
        match self {
            PriorModel::Fuchs => Some(Arrangement { levels: 0, processors: fuchs.processors, pattern }),
            PriorModel::Parke => Some(Arrangement { levels: parke.processors.ilog2(), processors: 1, pattern }),
            PriorModel::Hybrid => {
                let levels = parke.levels.min(fuchs.processors.ilog2());
                Some(Arrangement { levels, processors: fuchs.processors >> levels, pattern })
            }
            _ => None,
        }
    }
}

/// The work of a hardware model, and its cost.
#[derive(Clone, Debug)]
pub enum Costs {
    /// Of a design with blocks.
    Blocks(Arrangement, blocks::Costs),
    /// Of Pixel-planes.
    PixelPlanes(pixel_planes::Costs),
    /// Of Demetrescu's design.
    Stream(stream::Costs),
}

/// A design's image and costs.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The design.
    pub kind: PriorModel,
    /// The image, opaque and linear.
    pub image: Image,
    /// Polygons that the host sent, of those of the model.
    pub polygons: u64,
    /// The work of the hardware model, and its cost.
    pub costs: Costs,
}

/// Shows a model's polygons on a design.
///
/// # Errors
/// When the image's size is out of range.
pub fn simulate(model: &Model, kind: PriorModel, config: &Config) -> Result<Simulation, SizeError> {
    let (size, background) = (model.view.size, model.background);
    let screen = screen_polygons(model, |polygon, corner| polygon.colors[corner]);
    let polygons = screen.len() as u64;
    let raster = || screen.iter().map(|polygon| RasterPolygon::new(polygon, size)).collect::<Vec<_>>();
    let (image, costs) = match (kind, kind.arrangement(config)) {
        (_, Some(arrangement)) => {
            let (image, costs) = blocks::run(&raster(), size, background, &arrangement, config)?;
            (image, Costs::Blocks(arrangement, costs))
        }
        (PriorModel::Demetrescu, None) => {
            let (image, costs) = stream::run(&raster(), size, background, config)?;
            (image, Costs::Stream(costs))
        }
        _ => {
            let (image, costs) = pixel_planes::run(&screen, size, background, config)?;
            (image, Costs::PixelPlanes(costs))
        }
    };
    Ok(Simulation { kind, image, polygons, costs })
}
