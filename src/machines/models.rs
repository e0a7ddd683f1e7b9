//! The hardware models, and how each is run.
//!
//! The only list of them: everything above asks [`MODELS`]. To add one, write a module with its
//! simulation and its `default.toml`, a variant of [`Simulator`], [`RaySimulator`] or
//! [`PolygonSimulator`], and a row here.

use crate::peripheral::Choice;
use crate::polygons::prior::PriorModel;
use crate::polygons::{hidden_lines, prior, tree};
use crate::{array, peripheral, pipeline, pixelflow};
use shadewright_base::text::settings::SettingsError;
use shadewright_rpu::timed;

/// A hardware model: a row of [`MODELS`].
#[derive(Clone, Copy, Debug)]
pub struct ModelInfo {
    /// The name in commands, in lower case with hyphens.
    pub name: &'static str,
    /// The name in reports.
    pub title: &'static str,
    /// The principle of the hardware, in a line without a period.
    pub description: &'static str,
    /// The text of the default configuration in TOML, with the source of each number.
    pub default_text: &'static str,
    /// Finds what is wrong with a configuration of the model.
    pub check: fn(&str) -> Result<(), SettingsError>,
    /// The code that simulates the hardware.
    pub simulator: Simulator,
}

impl Default for &'static ModelInfo {
    fn default() -> Self {
        &MODELS[0]
    }
}

/// The code that simulates a hardware model, by what the model does for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulator {
    /// It runs all of the program, as it traces rays and shades: [`shadewright_render::rpu::simulate`].
    Rpu,
    /// It shades what is visible: [`pixelflow::render`].
    PixelFlow,
    /// It traces rays; a host or its nodes shade.
    Rays(RaySimulator),
    /// It shows polygons whose colors a host has computed, and traces no rays.
    Polygons(PolygonSimulator),
}

/// A simulator of hardware that traces rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaySimulator {
    /// [`peripheral::simulate`], which chooses the polygons for a ray in this way.
    Peripheral(Choice),
    /// [`pipeline::simulate`].
    Pipeline,
    /// [`array::render::render`].
    Array,
}

/// A simulator of hardware that shows polygons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolygonSimulator {
    /// [`tree::simulate`](fn@tree::simulate).
    ScanLineTree,
    /// [`hidden_lines::simulate`].
    HiddenLines,
    /// [`prior::simulate`] of this design.
    Prior(PriorModel),
}

/// All models; the first is the default.
pub static MODELS: &[ModelInfo] = &[
    ModelInfo {
        name: "rpu",
        title: "RPU",
        description: "The ray processing unit, with latencies, chunks of four threads and several processors",
        default_text: timed::DEFAULT_TEXT,
        check: |text| timed::Config::parse(text).map(drop),
        simulator: Simulator::Rpu,
    },
    ModelInfo {
        name: "pixelflow",
        title: "PixelFlow",
        description: "PixelFlow: regions of SIMD pixels with 256 bytes each, lights interleaved with surfaces; no \
                      rays, so no shadows",
        default_text: pixelflow::DEFAULT_TEXT,
        check: |text| pixelflow::Times::parse(text).map(drop),
        simulator: Simulator::PixelFlow,
    },
    peripheral(
        "rtp",
        "peripheral",
        "The ray tracing peripheral: a pipelined intersector beside a host; every ray meets every polygon",
        Choice::All,
    ),
    peripheral(
        "rtp-grid",
        "peripheral, grid",
        "The peripheral with a processor that leads rays through a grid",
        Choice::Grid,
    ),
    peripheral("rtp-boxes", "peripheral, boxes", "The peripheral with oriented bounding boxes", Choice::Boxes),
    peripheral("rtp-octree", "peripheral, octree", "The peripheral with an octree", Choice::Octree),
    peripheral("rtp-bvh", "peripheral, our BVH", "The peripheral with our own bounding volume hierarchy", Choice::Bvh),
    ModelInfo {
        name: "pipeline",
        title: "pipeline",
        description: "The ray tracing pipeline: a processor for each polygon, past which rays are streamed",
        default_text: pipeline::DEFAULT_TEXT,
        check: |text| pipeline::Config::parse(text).map(drop),
        simulator: Simulator::Rays(RaySimulator::Pipeline),
    },
    ModelInfo {
        name: "array",
        title: "array",
        description: "The ray tracing array: a mesh of nodes, each with a part of space, that pass rays on",
        default_text: array::config::DEFAULT_TEXT,
        check: |text| array::config::Config::parse(text).map(drop),
        simulator: Simulator::Rays(RaySimulator::Array),
    },
    ModelInfo {
        name: "scan-line-tree",
        title: "scan-line tree",
        description: "The scan-line tree: a processor for each polygon, and a tree that merges their segments",
        default_text: tree::DEFAULT_TEXT,
        check: |text| tree::Config::parse(text).map(drop),
        simulator: Simulator::Polygons(PolygonSimulator::ScanLineTree),
    },
    ModelInfo {
        name: "hidden-line",
        title: "hidden-line pipeline",
        description: "The hidden-line pipeline: a processor for each edge of each polygon, past which lines are \
                      streamed; its output may be an .svg file",
        default_text: hidden_lines::DEFAULT_TEXT,
        check: |text| hidden_lines::Config::parse(text).map(drop),
        simulator: Simulator::Polygons(PolygonSimulator::HiddenLines),
    },
    prior_model(
        "fuchs",
        "Fuchs",
        "Fuchs: processors that share the pixels out among them, each with a depth buffer",
        PriorModel::Fuchs,
    ),
    prior_model(
        "parke",
        "Parke",
        "Parke: a tree that splits polygons down to depth buffers for blocks of the image",
        PriorModel::Parke,
    ),
    prior_model("hybrid", "hybrid", "Parke's tree to some level, and Fuchs's processors below it", PriorModel::Hybrid),
    prior_model(
        "pixel-planes",
        "Pixel-planes",
        "Pixel-planes: a linear function of every polygon at every pixel",
        PriorModel::PixelPlanes,
    ),
    prior_model(
        "demetrescu",
        "Demetrescu",
        "Demetrescu: a processor for each polygon, past which pixels are streamed",
        PriorModel::Demetrescu,
    ),
];

/// The row of a peripheral, by how it chooses polygons.
const fn peripheral(name: &'static str, title: &'static str, description: &'static str, choice: Choice) -> ModelInfo {
    ModelInfo {
        name,
        title,
        description,
        default_text: peripheral::DEFAULT_TEXT,
        check: |text| peripheral::Config::parse(text).map(drop),
        simulator: Simulator::Rays(RaySimulator::Peripheral(choice)),
    }
}

/// The row of one of the designs that share [`prior`].
const fn prior_model(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    kind: PriorModel,
) -> ModelInfo {
    ModelInfo {
        name,
        title,
        description,
        default_text: prior::DEFAULT_TEXT,
        check: |text| prior::Config::parse(text).map(drop),
        simulator: Simulator::Polygons(PolygonSimulator::Prior(kind)),
    }
}

/// The model of a name.
pub fn named(name: &str) -> Option<&'static ModelInfo> {
    MODELS.iter().find(|model| model.name == name)
}

/// The name of a hardware model in reports.
pub fn title(simulator: Simulator) -> &'static str {
    MODELS.iter().find(|model| model.simulator == simulator).map_or("", |model| model.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn models_have_distinct_names_titles_and_simulators() {
        let names: HashSet<_> = MODELS.iter().map(|model| model.name).collect();
        let titles: HashSet<_> = MODELS.iter().map(|model| model.title).collect();
        assert_eq!((names.len(), titles.len()), (MODELS.len(), MODELS.len()));
        for model in MODELS {
            assert!(named(model.name).is_some_and(|found| found.simulator == model.simulator), "{}", model.name);
            assert_eq!(title(model.simulator), model.title);
            assert!(!model.description.ends_with('.'), "{}", model.description);
        }
        assert!(named("none").is_none());
    }

    #[test]
    fn every_model_reads_its_default_configuration_and_refuses_unknown_keys() {
        for model in MODELS {
            assert!((model.check)(model.default_text).is_ok(), "{}", model.name);
            assert!((model.check)("no-such-key = 1").is_err(), "{}", model.name);
        }
    }

    #[test]
    fn every_kind_of_task_has_a_model() {
        let count = |is_it: fn(Simulator) -> bool| MODELS.iter().filter(|model| is_it(model.simulator)).count();
        let tasks: [fn(Simulator) -> bool; 4] = [
            |simulator| simulator == Simulator::Rpu,
            |simulator| simulator == Simulator::PixelFlow,
            |simulator| matches!(simulator, Simulator::Rays(_)),
            |simulator| matches!(simulator, Simulator::Polygons(_)),
        ];
        assert_eq!(tasks.map(count), [1, 1, 7, 7]);
    }
}
