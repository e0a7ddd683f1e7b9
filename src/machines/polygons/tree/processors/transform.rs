//! The program that transforms vertices to homogeneous screen coordinates (figure 3-10).

use super::instructions::{Condition, Instruction as I, at};
use super::layout::{CORNERS, OBJECT, W, WORK, X, Y, Z};
use glam::Mat4;

/// The matrix, in columns that follow each other.
const MATRIX: u8 = WORK;
/// The value of a sum so far.
const SUM: u8 = WORK + 16;

/// Loads a matrix, and others for the polygons of `moving` objects, then transforms four vertices.
pub fn program(matrix: &Mat4, moving: &[(u32, Mat4)]) -> Vec<I> {
    let mut body = load(matrix);
    for (object, matrix) in moving {
        body.extend([I::Literal(*object as f32), I::Subtract(at(OBJECT)), I::Shutdown(Condition::NotZero)]);
        body.extend(load(matrix));
        body.push(I::Reset);
    }
    for vertex in 0..4 {
        for (component, array) in [X, Y, Z, W].into_iter().enumerate() {
            let element = |column: u8| at(MATRIX + 4 * column + component as u8);
            let corner = |axis: u8| at(CORNERS + 3 * vertex + axis);
            body.extend([I::Load(corner(0)), I::Multiply(element(0)), I::Store(at(SUM))]);
            body.extend([I::Load(corner(1)), I::Multiply(element(1)), I::Add(at(SUM)), I::Store(at(SUM))]);
            body.extend([I::Load(corner(2)), I::Multiply(element(2)), I::Add(at(SUM)), I::Add(element(3))]);
            body.push(I::Store(at(array + vertex)));
        }
    }
    body
}

/// Instructions that load a matrix for the polygons of one object.
pub const PER_OBJECT: u32 = 36;

/// Each element of the matrix is broadcast once.
fn load(matrix: &Mat4) -> Vec<I> {
    let elements = matrix.to_cols_array();
    (0u8..).zip(elements).flat_map(|(k, element)| [I::Literal(element), I::Store(at(MATRIX + k))]).collect()
}
