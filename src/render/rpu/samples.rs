//! Single samples on the RPU. Records are texels: a program with `record` instructions stores them
//! in a texture of one texel, and the block's log has them in their order.

use super::{RpuRenderer, SceneTracer, cause};
use crate::codegen::rpu::RECORD_TEXTURE;
use crate::program::CAMERA_ENTRY;
use crate::render::samples::{RecordWindow, Recorded, SampleRunner, arguments};
use crate::render::sampling::CameraSample;
use crate::render::{Job, RenderError};
use crate::rpu::machine::Machine;
use crate::rpu::{BLOCK, Block, Texture};
use std::sync::atomic::AtomicBool;

/// Where records are stored.
const RECORD: [Texture; RECORD_TEXTURE as usize + 1] = [Texture { base: 0, width: 1, height: 1 }];

/// Words of a stored texel.
const TEXEL_WORDS: u32 = 4;

/// Runs samples on the RPU as a renderer does.
#[derive(Clone, Debug)]
pub struct RpuSamples {
    renderer: RpuRenderer,
}

impl RpuSamples {
    /// With the renderer's engine, format and compiler.
    pub fn new(renderer: RpuRenderer) -> Self {
        Self { renderer }
    }
}

/// Runs up to [`BLOCK`] samples in the lanes of a block.
fn run(
    job: &Job,
    renderer: &RpuRenderer,
    samples: &[CameraSample],
    block: &mut Block,
) -> Result<Vec<[u32; 4]>, RenderError> {
    let loaded = renderer.load(job)?;
    let stop = AtomicBool::new(false);
    let data = loaded.data(&job.program.memory.vectors);
    let tracer = SceneTracer::of_job(job, &loaded, &data, &stop)?;
    let machine = Machine { textures: &RECORD, ..loaded.machine(&data, &tracer, job.budget, &stop) };
    let mut colors = Vec::with_capacity(samples.len());
    for samples in samples.chunks(BLOCK) {
        block.reset();
        let rows: Vec<Vec<u32>> = samples.iter().map(|sample| arguments(job, sample)).collect();
        let words = job.program.camera_arguments();
        let row = |k: usize| std::array::from_fn(|lane| rows.get(lane).and_then(|r| r.get(k)).copied().unwrap_or(0));
        let inputs: Vec<[u32; BLOCK]> = (0..words).map(row).collect();
        let active = if samples.len() == BLOCK { u64::MAX } else { (1 << samples.len()) - 1 };
        let outputs = loaded.run(&machine, block, CAMERA_ENTRY, &inputs, active, &job.program.module);
        let outputs = cause(outputs, &tracer, &loaded, job)?;
        let word = |k: usize, lane: usize| outputs.get(k).map_or(0, |row| row[lane]);
        colors.extend((0..samples.len()).map(|lane| std::array::from_fn(|k| word(k, lane))));
    }
    Ok(colors)
}

impl SampleRunner for RpuSamples {
    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        run(job, &self.renderer, samples, &mut Block::new())
    }

    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError> {
        // The program serves one sample: it is not worth a place in the cache.
        let renderer = self.renderer.clone().with_cache(None);
        let texels = u64::from(window.record_words.div_ceil(TEXEL_WORDS).max(1));
        let mut block = Block::new();
        block.keep_texel_stores(window.first * texels..(window.first + u64::from(window.count)) * texels);
        let colors = run(job, &renderer, std::slice::from_ref(sample), &mut block)?;
        let total = block.texel_stores_made() / texels;
        let stores = block.take_texel_stores();
        let records = stores.chunks(texels as usize);
        let words = records.flat_map(|record| {
            record.iter().flat_map(|store| store.value).take(window.record_words as usize)
        });
        Ok(Recorded { color: colors.first().copied().unwrap_or_default(), words: words.collect(), total })
    }
}
