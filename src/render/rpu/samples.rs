//! Single samples on the RPU. Records are texels: a program with `record` instructions stores them
//! in a texture of one texel, and the block's log has them in their order.

use super::{RpuRenderer, SceneTracer, cause};
use crate::samples::{RecordWindow, Recorded, SampleRunner, arguments};
use crate::sampling::CameraSample;
use crate::{Job, RenderError, Renderer};
use shadewright_codegen::rpu::RECORD_TEXTURE;
use shadewright_program::CAMERA_ENTRY;
use shadewright_rpu::execution::ExecutionContext;
use shadewright_rpu::{BLOCK, Block, Texture};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where records are stored.
const RECORD: [Texture; RECORD_TEXTURE as usize + 1] = [Texture { base: 0, width: 1, height: 1 }];

/// Words of a stored texel.
const TEXEL_WORDS: u32 = 4;

/// Runs samples on the RPU as a renderer does.
#[derive(Clone, Debug)]
pub struct RpuSamples {
    renderer: RpuRenderer,
    stop: Arc<AtomicBool>,
}

impl RpuSamples {
    /// With the renderer's engine, format and compiler.
    pub fn new(renderer: RpuRenderer) -> Self {
        Self { renderer, stop: Arc::default() }
    }
}

/// Runs up to [`BLOCK`] samples in the lanes of a block.
fn run(
    job: &Job,
    renderer: &RpuRenderer,
    samples: &[CameraSample],
    block: &mut Block,
    stop: &AtomicBool,
) -> Result<Vec<[u32; 4]>, RenderError> {
    let loaded = renderer.load(job)?;
    let data = loaded.data(&job.program.memory.vectors);
    let tracer = SceneTracer::for_job(job, &loaded, &data, stop)?;
    let context = ExecutionContext { textures: &RECORD, ..loaded.execution_context(&data, &tracer, job.budget, stop) };
    let mut colors = Vec::with_capacity(samples.len());
    for samples in samples.chunks(BLOCK) {
        block.reset();
        let rows: Vec<Vec<u32>> = samples.iter().map(|sample| arguments(job, sample)).collect();
        let words = job.program.camera_arguments();
        let row = |k: usize| std::array::from_fn(|lane| rows.get(lane).and_then(|r| r.get(k)).copied().unwrap_or(0));
        let inputs: Vec<[u32; BLOCK]> = (0..words).map(row).collect();
        let active = if samples.len() == BLOCK { u64::MAX } else { (1 << samples.len()) - 1 };
        let outputs = loaded.run(&context, block, CAMERA_ENTRY, &inputs, active, &job.program.module);
        let outputs = cause(outputs, &tracer, &loaded, job)?;
        let word = |k: usize, lane: usize| outputs.get(k).map_or(0, |row| row[lane]);
        colors.extend((0..samples.len()).map(|lane| std::array::from_fn(|k| word(k, lane))));
    }
    Ok(colors)
}

impl SampleRunner for RpuSamples {
    fn describe(&self) -> String {
        self.renderer.describe()
    }

    fn stop_by(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = stop.clone();
    }

    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        run(job, &self.renderer, samples, &mut Block::new(), &self.stop)
    }

    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError> {
        // The program serves one sample: it is not worth a place in the cache.
        let renderer = self.renderer.clone().with_cache(None);
        let texels = u64::from(window.record_words.div_ceil(TEXEL_WORDS).max(1));
        let mut block = Block::new();
        block.keep_texel_stores(window.first * texels..(window.first + u64::from(window.count)) * texels);
        let colors = run(job, &renderer, std::slice::from_ref(sample), &mut block, &self.stop)?;
        let total = block.texel_stores_made() / texels;
        let stores = block.take_texel_stores();
        let records = stores.chunks(texels as usize);
        let words =
            records.flat_map(|record| record.iter().flat_map(|store| store.value).take(window.record_words as usize));
        Ok(Recorded { color: colors.first().copied().unwrap_or_default(), words: words.collect(), total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::words;
    use crate::rpu::Loaded;
    use shadewright_ir::abi::frame::PROGRAM_CONSTANTS;
    use shadewright_ir::eval::{EmptyWorld, Limits, Observer, eval_observed};
    use shadewright_ir::passes::record::{Detail, Recording, Segments, instrument};
    use shadewright_ir::random::{self, Random, Shape};
    use shadewright_rpu::EmptyScene;
    use shadewright_rpu::engine;

    /// The words that the evaluator records.
    #[derive(Default)]
    struct Words(Vec<u32>);

    impl Observer for Words {
        fn record(&mut self, words: &[u32]) {
            self.0.extend(words);
        }
    }

    #[test]
    fn every_engine_records_what_the_evaluator_does_in_the_same_order() {
        let mut random = Random::new(5);
        for _ in 0..12 {
            let program = random::module(&mut random, Shape::default());
            let args = random::arguments(&mut random);
            let functions = (0..program.functions.len()).collect();
            let segments = Segments::new(&program, &functions, &[]);
            let of = (0..segments.list.len() as u32).collect();
            let recording = Recording::Hashes { of: &of, canonical: true, decisions: Detail::All };
            let module = instrument(&program, &segments, recording);
            let mut expected = Words::default();
            let results = eval_observed(&module, "f", &args, &mut EmptyWorld, Limits::default(), &mut expected);
            let results = words(&results.expect("it ends"));
            assert!(!expected.0.is_empty());
            for engine in engine::available() {
                let loaded = Loaded::new(&module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0).expect("it compiles");
                let loaded = loaded.on_engine(engine).expect("it runs");
                let (stop, data) = (AtomicBool::new(false), loaded.data(&[[0; 4]]));
                let context = loaded.execution_context(&data, &EmptyScene, 1_000_000, &stop);
                let context = ExecutionContext { textures: &RECORD, ..context };
                let inputs: Vec<[u32; BLOCK]> = words(&args).into_iter().map(|word| [word; BLOCK]).collect();
                let mut block = Block::new();
                let outputs = loaded.run(&context, &mut block, "f", &inputs, 1, &module).expect("it ends");
                assert_eq!(outputs.iter().map(|row| row[0]).collect::<Vec<_>>(), results, "{}", engine.name);
                let stores = block.take_texel_stores();
                let found: Vec<u32> = stores.iter().flat_map(|store| store.value[..3].to_vec()).collect();
                assert_eq!(found, expected.0, "{}: {module}", engine.name);
            }
        }
    }
}
