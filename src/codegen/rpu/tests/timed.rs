//! The same calls on the timed simulator, which must leave the same bits.

use shadewright_ir::Const;
use shadewright_rpu::execution::ExecutionContext;
use shadewright_rpu::isa::{Component, Mask, Program, Reg};
use shadewright_rpu::timed::{self, CHUNK, Chunk, Config, Source, Timing};

/// Rows of arguments, four to a chunk.
struct Rows<'a> {
    chunks: std::slice::Chunks<'a, Vec<Const>>,
    params: &'a [(u8, Mask)],
    results: &'a [(u8, Mask)],
    got: Vec<Vec<u32>>,
}

impl Source for Rows<'_> {
    fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8> {
        let rows = self.chunks.next()?;
        for (thread, row) in rows.iter().enumerate() {
            for (arg, (r, mask)) in row.iter().zip(self.params) {
                for (c, bits) in mask.components().zip(arg.bits()) {
                    chunk.set(Reg::R(*r), c, thread, bits);
                }
            }
        }
        Some((1 << rows.len()) - 1)
    }

    fn finish(&mut self, number: u64, chunk: &Chunk<'_>, _cost: [u64; CHUNK]) {
        for (thread, row) in self.got.iter_mut().skip(number as usize * CHUNK).take(CHUNK).enumerate() {
            assert!(chunk.get(Reg::A, Component::W, thread) >= shadewright_rpu::execution::SCRATCH_BASE);
            let value = |(r, mask): &(u8, Mask)| -> Vec<u32> {
                mask.components().map(|c| chunk.get(Reg::R(*r), c, thread)).collect()
            };
            *row = self.results.iter().flat_map(value).collect();
        }
    }
}

/// Runs a function on a row of arguments a thread; a row of result bits a thread.
pub fn run(
    context: &ExecutionContext<'_>,
    program: &Program,
    entry: u32,
    rows: &[Vec<Const>],
    params: &[(u8, Mask)],
    results: &[(u8, Mask)],
) -> Vec<Vec<u32>> {
    let mut source = Rows { chunks: rows.chunks(CHUNK), params, results, got: vec![Vec::new(); rows.len()] };
    let timing = Timing::new(program, &Config::default());
    timed::run(context, &timing, entry, &mut source).expect("what the functional simulator runs, the timed one runs");
    source.got
}
