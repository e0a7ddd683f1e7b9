//! The transformation and clipping processors (§3.3.1): one for each polygon, on a bus from which
//! all execute the same program. What they send are the edge lists of the scan converters.
//!
//! The thesis counts the instructions of programs that it does not print in full. Here the programs
//! are data for a small processor, and the counts those of what is broadcast.
//!
//! | file | holds |
//! |---|---|
//! | [`instructions`] | the instruction set, and programs by phase |
//! | [`layout`] | where a processor's memory holds what |
//! | [`array`](mod@array) | executing a program on many processors |
//! | [`transform`], [`color`], [`clip`], [`divide`], [`preprocess`] | the programs of the five phases |

pub mod array;
pub mod clip;
pub mod color;
pub mod divide;
pub mod instructions;
pub mod layout;
pub mod preprocess;
pub mod transform;

#[cfg(test)]
mod tests;

use crate::polygons::model::Polygon;
use color::Fields;
use glam::{Mat4, Vec3, Vec4};
use instructions::{Phase, Program};

/// The data that a frame's program depends on.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// World space to homogeneous screen coordinates, y up.
    pub to_clip: Mat4,
    /// Objects with a matrix of their own.
    pub moving: &'a [(u32, Mat4)],
    /// Where the fields of vertices come from.
    pub fields: Fields<'a>,
    /// True if vertices have texture coordinates.
    pub texture: bool,
}

impl Frame<'_> {
    /// Fields of a vertex beside its position.
    pub fn field_count(&self) -> usize {
        if self.texture { 5 } else { 3 }
    }

    /// The program of the frame.
    pub fn program(&self) -> Program {
        // Scan lines are numbered from the top.
        let downwards = Mat4::from_diagonal(Vec4::new(1.0, -1.0, 1.0, 1.0));
        let moving: Vec<(u32, Mat4)> =
            self.moving.iter().map(|&(object, matrix)| (object, downwards * matrix)).collect();
        let fields = self.field_count();
        let mut program = Program::default();
        program.push(Phase::Transform, transform::program(&(downwards * self.to_clip), &moving));
        program.push(Phase::Color, color::program(self.fields, self.texture));
        program.push(Phase::Clip, clip::program(fields));
        program.push(Phase::Divide, divide::program());
        program.push(Phase::Preprocess, preprocess::program(fields));
        program
    }
}

/// The memory of a processor that holds a polygon, whose corners have these vectors: normals, or
/// colors from 0 to 1.
pub fn memory(polygon: &Polygon, vectors: &[Vec3; 4]) -> [f32; layout::WORDS] {
    let mut memory = [0.0; layout::WORDS];
    for (base, triples) in [(layout::CORNERS, &polygon.corners), (layout::NORMALS, vectors)] {
        for (words, triple) in memory[usize::from(base)..].chunks_exact_mut(3).zip(triples) {
            words.copy_from_slice(&triple.to_array());
        }
    }
    let reflectance = usize::from(layout::REFLECTANCE);
    memory[reflectance..reflectance + 3].copy_from_slice(&polygon.reflectance.to_array());
    memory[usize::from(layout::COUNT)] = polygon.corners().len() as f32;
    memory[usize::from(layout::OBJECT)] = polygon.object as f32;
    memory
}
