//! Batches of rays traced by a generated program ([`shadewright_generators`]), which walks the BVH itself:
//! no `trace` instruction.

use super::loaded::{Data, Entry, Loaded};
use crate::RenderError;
use shadewright_bvh::{Bvh, HitBatch, RayBatch};
use shadewright_codegen::rpu::{RpuOptions, RpuProgram};
use shadewright_generators::{self as generators, Arguments, Layout, RayKind};
use shadewright_ir::Module;
use shadewright_ir::abi::frame::PROGRAM_CONSTANTS;
use shadewright_rpu::engine::EngineInfo;
use shadewright_rpu::{Block, EmptyScene};
use std::sync::atomic::AtomicBool;

/// Back edges that a ray may take.
const BUDGET: u32 = 100_000_000;

/// The memory image of a BVH in a layout.
#[derive(Clone, Debug)]
pub struct RayImage {
    layout: Layout,
    vectors: Vec<[u32; 4]>,
    addresses: [f32; 4],
}

impl RayImage {
    /// The tables of the BVH.
    pub fn new(bvh: &Bvh, layout: Layout) -> Self {
        let (vectors, addresses) = generators::image(bvh, layout);
        Self { layout, vectors, addresses }
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }
}

/// A program that traces rays through the BVH of an image.
#[derive(Debug)]
pub struct RayProgram<'i> {
    module: Module,
    loaded: Loaded,
    entry: Entry,
    data: Data<'i>,
}

impl<'i> RayProgram<'i> {
    /// Generates and compiles the program. The arguments' layout must be the image's.
    ///
    /// # Errors
    /// When the engine cannot run it.
    pub fn new(
        image: &'i RayImage,
        arguments: &Arguments,
        kind: RayKind,
        engine: &'static EngineInfo,
    ) -> Result<Self, RenderError> {
        let module = generators::program(arguments, kind);
        let mut uniforms = [[0.0; 4]; PROGRAM_CONSTANTS];
        uniforms[0] = image.addresses;
        let loaded = Loaded::with_options(&module, &uniforms, 0, &RpuOptions::default())?.on_engine(engine)?;
        let (entry, data) = (loaded.entry(generators::TRAVERSE)?, loaded.data(&image.vectors));
        Ok(Self { module, loaded, entry, data })
    }

    /// The compiled program.
    pub fn program(&self) -> &RpuProgram {
        self.loaded.program()
    }

    /// Traces the active rays of a batch; the hits of others are left alone. `block` is for this
    /// program alone, and holds nothing between calls.
    ///
    /// # Errors
    /// When a ray takes too many steps.
    pub fn trace(&self, block: &mut Block, rays: &RayBatch, hits: &mut HitBatch) -> Result<(), RenderError> {
        let stop = AtomicBool::new(false);
        let context = self.loaded.execution_context(&self.data, &EmptyScene, BUDGET, &stop);
        let Entry { address, params, results } = &self.entry;
        let RayBatch { ox, oy, oz, dx, dy, dz, t_min, t_max, active } = rays;
        block.start_lanes(u64::MAX);
        for (&(reg, component), values) in params.iter().zip([ox, oy, oz, dx, dy, dz, t_min, t_max]) {
            block.write_floats(reg, component, values);
        }
        context.run(block, *address, *active).map_err(|e| self.loaded.explain(e, &self.module))?;
        block.read_lanes(results, *active, |lane, [u, v, t, prim]: [u32; 4]| {
            [hits.u[lane], hits.v[lane], hits.t[lane]] = [u, v, t].map(f32::from_bits);
            hits.prim[lane] = prim;
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::SourceMap;
    use shadewright_bvh::raysets::{View, batches, ray_sets};
    use shadewright_bvh::{BATCH, BuildOptions};
    use shadewright_generators::Iteration;
    use shadewright_generators::testing::{rays, soup, variants};
    use shadewright_program::memory;
    use shadewright_rpu::engine;
    use shadewright_scene as scene;
    use std::path::{Path, PathBuf};

    /// Asserts that a program gives the hits of the CPU's kernels.
    fn same_hits(bvh: &Bvh, image: &RayImage, arguments: &Arguments, engine: &'static EngineInfo, rays: &[RayBatch]) {
        let [closest, any] = [RayKind::Closest, RayKind::Any]
            .map(|kind| RayProgram::new(image, arguments, kind, engine).expect("it runs"));
        let mut blocks = [Block::new(), Block::new()];
        for rays in rays {
            let mut expected = HitBatch::default();
            bvh.closest_hits(rays, &mut expected);
            let [mut found, mut met] = [HitBatch::default(), HitBatch::default()];
            closest.trace(&mut blocks[0], rays, &mut found).expect("it ends");
            any.trace(&mut blocks[1], rays, &mut met).expect("it ends");
            for i in 0..BATCH {
                let what = || format!("{} {arguments:?}: {:?}", engine.name, rays.ray(i));
                assert_eq!(found.hit(i), expected.hit(i), "{}", what());
                assert_eq!(met.hit(i).is_some(), expected.hit(i).is_some(), "{}", what());
            }
        }
    }

    #[test]
    fn every_engine_gives_the_cpu_kernels_hits() {
        let triangles = soup();
        let bvh = Bvh::build(&triangles, &BuildOptions::default()).expect("small");
        let images = Layout::ALL.map(|layout| RayImage::new(&bvh, layout));
        let batches = batches(&rays(&triangles));
        for engine in engine::available() {
            for arguments in variants() {
                let image = images.iter().find(|image| image.layout() == arguments.layout).expect("each layout");
                same_hits(&bvh, image, &arguments, engine, &batches);
            }
        }
    }

    /// Left out by `tests/all.sh` where the mesh is missing.
    #[test]
    fn every_layout_gives_the_cpu_kernels_hits_of_the_stanford_bunny() {
        let folder = std::env::var_os("SHADEWRIGHT_MESHES").map_or_else(
            || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared/meshes"),
            PathBuf::from,
        );
        let mut sources = SourceMap::new();
        let opened = scene::open(&folder.join("bunny.ply"), &scene::OpenOptions::default(), &mut sources);
        let opened = opened.map_err(|e| e.render(&sources)).expect("set SHADEWRIGHT_MESHES to the folder of bunny.ply");
        let bvh = Bvh::build(memory::bvh_triangles(&opened.scene), &BuildOptions::default()).expect("small enough");
        let sets = ray_sets(&bvh, View::Outside, 64);
        let [primary, _, diffuse] = sets.map(|set| batches(&set.rays));
        for layout in Layout::ALL {
            let image = RayImage::new(&bvh, layout);
            let arguments = Arguments::rpu(Iteration::WhileWhile, layout);
            for rays in [&primary, &diffuse] {
                same_hits(&bvh, &image, &arguments, engine::default_engine(), rays);
            }
        }
    }
}
