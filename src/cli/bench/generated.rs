//! `bench rays`: generated traversal among the hand-written kernels. On the CPU it is a program that
//! the RPU's engines run.

use super::rounded;
use crate::cli::failure::Failure;
use serde_json::{Value, json};
use shadewright::bvh::{HitBatch, RayBatch};
use shadewright::generators::{Arguments, Iteration, RayKind};
use shadewright::render::rpu::{RayImage, RayProgram};
use shadewright::rpu::Block;
use shadewright::rpu::engine::{self, EngineInfo};

/// The start of the names of generated kernels.
pub const GENERATED: &str = "generated";

/// Generated traversal on an engine of the RPU.
#[derive(Debug)]
pub struct Programs<'i> {
    /// The name in tables.
    pub name: String,
    closest: RayProgram<'i>,
    any: RayProgram<'i>,
}

impl<'i> Programs<'i> {
    /// Each order of steps and each layout on each engine that runs on this CPU. An engine that
    /// becomes another one while it runs is left out.
    ///
    /// # Errors
    /// An engine does not take a program: a mistake of the compiler.
    pub fn all(images: &'i [RayImage]) -> Result<Vec<Self>, Failure> {
        let engines: Vec<&'static EngineInfo> = engine::available().filter(|engine| engine.name != "auto").collect();
        let mut all = Vec::new();
        for image in images {
            for (order, iteration) in [("while-while", Iteration::WhileWhile), ("if-if", Iteration::IfIf)] {
                for engine in &engines {
                    all.push(Self::new(image, order, &Arguments::rpu(iteration, image.layout()), engine)?);
                }
            }
        }
        Ok(all)
    }

    fn new(
        image: &'i RayImage,
        order: &str,
        arguments: &Arguments,
        engine: &'static EngineInfo,
    ) -> Result<Self, Failure> {
        let program =
            |kind| RayProgram::new(image, arguments, kind, engine).map_err(|e| Failure::device(format!("error: {e}")));
        let name = format!("{GENERATED}-{order}-{}-{}", image.layout().name(), engine.name);
        Ok(Self { name, closest: program(RayKind::Closest)?, any: program(RayKind::Any)? })
    }

    /// The closest hits of a batch.
    pub fn closest(&self, block: &mut Block, rays: &RayBatch, hits: &mut HitBatch) -> Result<(), Failure> {
        self.closest.trace(block, rays, hits).map_err(|e| Failure::device(format!("error: {e}")))
    }

    /// The mask of the rays of a batch that hit something.
    pub fn any(&self, block: &mut Block, rays: &RayBatch) -> Result<u64, Failure> {
        let mut hits = HitBatch::default();
        self.any.trace(block, rays, &mut hits).map_err(|e| Failure::device(format!("error: {e}")))?;
        Ok(rays.active_lanes().fold(0, |mask, i| mask | u64::from(hits.hit(i).is_some()) << i))
    }
}

/// The rates of a generated kernel in those of a hand-written one.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    generated: String,
    hand_written: String,
    /// The geometric mean over the sets of rays.
    mean: f64,
}

/// The ratios of each pair of kernels that was measured. `rates` has the kernels' for each set,
/// always in the same order.
pub fn ratios(rates: &[Vec<(String, f64)>], counterparts: impl Fn(&str) -> Vec<String>) -> Vec<Ratio> {
    let names: Vec<&String> = rates.iter().take(1).flatten().map(|(name, _)| name).collect();
    let place = |wanted: &str| names.iter().position(|name| *name == wanted);
    let mut ratios = Vec::new();
    for (at, generated) in names.iter().enumerate().filter(|(_, name)| name.starts_with(GENERATED)) {
        for hand_written in counterparts(generated) {
            let Some(other) = place(&hand_written) else { continue };
            let logs: f64 = rates.iter().map(|set| (set[at].1 / set[other].1).ln()).sum();
            let mean = (logs / rates.len() as f64).exp();
            ratios.push(Ratio { generated: (*generated).clone(), hand_written, mean });
        }
    }
    ratios
}

/// Prints ratios, if there are any.
pub fn print(ratios: &[Ratio]) {
    if !ratios.is_empty() {
        println!("\ngenerated against hand-written, geometric mean over the sets of rays");
    }
    for Ratio { generated, hand_written, mean } in ratios {
        println!("  {generated:<42} {mean:>6.2} of {hand_written}");
    }
}

/// Ratios as JSON.
pub fn json(ratios: &[Ratio]) -> Value {
    let ratio =
        |r: &Ratio| json!({ "generated": r.generated, "hand_written": r.hand_written, "ratio": rounded(r.mean) });
    ratios.iter().map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_geometric_mean_over_the_sets_and_needs_both_kernels() {
        let set = |a: f64, b: f64| vec![("scalar".to_string(), a), ("generated-x".to_string(), b)];
        let counterparts = |_: &str| vec!["scalar".to_string(), "chosen".to_string()];
        let ratios = ratios(&[set(1.0, 4.0), set(3.0, 3.0)], counterparts);
        let (generated, hand_written) = ("generated-x".to_string(), "scalar".to_string());
        assert_eq!(ratios, [Ratio { generated, hand_written, mean: 2.0 }]);
    }
}
