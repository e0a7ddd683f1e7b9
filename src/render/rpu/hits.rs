//! Runs entries of a program at given hits, at points of meshes, without tracing rays.
//!
//! The hit's records are written to the registers from which an entry reads them. Rays that it
//! traces miss.

use super::in_parallel;
use super::loaded::Loaded;
use crate::RenderError;
use glam::Vec3;
use shadewright_program::Program;
use shadewright_rpu::isa::{Component, Reg};
use shadewright_rpu::{BLOCK, Block, EmptyScene};
use std::sync::atomic::AtomicBool;

/// A hit at distance 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The point.
    pub point: Vec3,
    /// The direction of view.
    pub direction: Vec3,
    /// The diameter of the footprint.
    pub width: f32,
    /// The barycentric coordinates: the weights of the second and the third corner.
    pub barycentric: [f32; 2],
    /// Address of the triangle record.
    pub triangle: u32,
    /// Address of the object record.
    pub object: u32,
}

/// Hits at which one entry runs.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The entry, which takes `orig`, `dir`, `depth` and, where it asks for that, `ray`.
    pub entry: &'a str,
    /// The number of hits.
    pub count: usize,
    /// Each of them.
    pub hit: &'a (dyn Fn(usize) -> Hit + Sync),
}

impl Hit {
    /// The words of an entry's arguments.
    fn arguments(&self) -> [u32; 11] {
        let ([ox, oy, oz], [dx, dy, dz]) = (self.point.to_array(), self.direction.to_array());
        [ox, oy, oz, dx, dy, dz, 0.0, self.width, 0.0, 0.0, 0.0].map(f32::to_bits)
    }
}

/// Runs the entries on all threads: for each batch the words of the results, a row for each hit in
/// order. The bits do not depend on the number of threads.
///
/// # Errors
/// When the program cannot be compiled for the RPU, or a run does not end within `budget` back
/// edges and calls.
pub fn run_at_hits(program: &Program, batches: &[Batch<'_>], budget: u32) -> Result<Vec<Vec<u32>>, RenderError> {
    let loaded = Loaded::new(&program.module, program.constants.vectors(), 0)?;
    let data = loaded.data(&program.memory.vectors);
    let stop = AtomicBool::new(false);
    let context = loaded.execution_context(&data, &EmptyScene, budget, &stop);
    let mut all = Vec::with_capacity(batches.len());
    for batch in batches {
        let run = |block: &mut Block, &first: &usize| -> Result<Vec<u32>, RenderError> {
            let lanes = (batch.count - first).min(BLOCK);
            block.reset();
            let mut inputs = [[0u32; BLOCK]; 11];
            for lane in 0..lanes {
                let hit = (batch.hit)(first + lane);
                inputs.iter_mut().zip(hit.arguments()).for_each(|(row, word)| row[lane] = word);
                let [u, v] = hit.barycentric.map(f32::to_bits);
                block.set(Reg::Hit, Component::X, lane, u);
                block.set(Reg::Hit, Component::Y, lane, v);
                block.set(Reg::HitTri, Component::X, lane, hit.triangle);
                block.set(Reg::HitObj, Component::X, lane, hit.object);
            }
            let active = if lanes == BLOCK { u64::MAX } else { (1 << lanes) - 1 };
            let rows = loaded.run(&context, block, batch.entry, &inputs, active, &program.module)?;
            Ok((0..lanes).flat_map(|lane| rows.iter().map(move |row| row[lane])).collect())
        };
        let starts: Vec<usize> = (0..batch.count).step_by(BLOCK).collect();
        all.push(in_parallel(&starts, &stop, Block::new, run)?.concat());
    }
    Ok(all)
}
