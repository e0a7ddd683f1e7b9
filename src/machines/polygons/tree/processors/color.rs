//! The program that gives each vertex its color (figure 3-11), for any number of lights.

use super::instructions::{Instruction as I, at};
use super::layout::{NORMALS, ONE, REFLECTANCE, WORK, field};
use crate::polygons::model::Light;
use glam::Vec3;

/// Where the fields of vertices come from.
#[derive(Clone, Copy, Debug)]
pub enum Fields<'a> {
    /// The host computed the colors.
    Host,
    /// The processors light the normals: `I = (I_a + Σ I_p max(0, n·p)) R`.
    Lit {
        /// `I_a`, as a share of the largest color.
        ambient: Vec3,
        /// The lights, with `I_p` as such a share.
        lights: &'a [Light],
    },
    /// The normals themselves, from −1 to 1 as 0 to 1; pixel converters light them (§3.3.6).
    Normals,
}

/// The ambient light, the light, and the cosine.
const AMBIENT: u8 = WORK;
const LIGHT: u8 = WORK + 3;
const DIRECTION: u8 = WORK + 6;
const COSINE: u8 = WORK + 9;
const HALF: u8 = WORK + 10;

/// Texture coordinates of the corners: those of the unit square.
const UNIT_SQUARE: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// Computes the fields of four vertices: three, and with `texture` two more.
pub fn program(fields: Fields<'_>, texture: bool) -> Vec<I> {
    let mut body = vec![I::Literal(1.0), I::Store(at(ONE))];
    match fields {
        Fields::Host => body.extend(corners().flat_map(|(from, to)| [I::Load(at(from)), I::Store(at(to))])),
        Fields::Normals => {
            body.extend([I::Literal(0.5), I::Store(at(HALF))]);
            let shift = |(from, to)| [I::Load(at(from)), I::Add(at(ONE)), I::Multiply(at(HALF)), I::Store(at(to))];
            body.extend(corners().flat_map(shift));
        }
        Fields::Lit { ambient, lights } => lit(ambient, lights, &mut body),
    }
    if texture {
        for (vertex, corner) in (0u8..).zip(UNIT_SQUARE) {
            for (axis, value) in corner.into_iter().enumerate() {
                body.extend([I::Literal(value), I::Store(at(field(3 + axis) + vertex))]);
            }
        }
    }
    body
}

/// Instructions of the program with the one light of figure 3-11.
pub fn with_one_light() -> usize {
    let light = Light { direction: Vec3::ZERO, color: Vec3::ZERO };
    program(Fields::Lit { ambient: Vec3::ZERO, lights: &[light] }, false).len()
}

/// The three words of each corner, and the fields that they become.
fn corners() -> impl Iterator<Item = (u8, u8)> {
    (0..4).flat_map(|vertex| (0..3).map(move |c| (NORMALS + 3 * vertex + c, field(usize::from(c)) + vertex)))
}

fn lit(ambient: Vec3, lights: &[Light], body: &mut Vec<I>) {
    literals(AMBIENT, ambient, body);
    if lights.is_empty() {
        for (from, to) in corners() {
            let component = (from - NORMALS) % 3;
            body.extend([I::Load(at(AMBIENT + component)), I::Multiply(at(REFLECTANCE + component)), I::Store(at(to))]);
        }
    }
    for (number, light) in lights.iter().enumerate() {
        literals(LIGHT, light.color, body);
        literals(DIRECTION, light.direction, body);
        for vertex in 0..4 {
            let normal = |axis: u8| at(NORMALS + 3 * vertex + axis);
            body.extend([I::Load(normal(0)), I::Multiply(at(DIRECTION)), I::Store(at(COSINE))]);
            for axis in 1..3 {
                body.extend([I::Load(normal(axis)), I::Multiply(at(DIRECTION + axis)), I::Add(at(COSINE))]);
                body.push(if axis == 1 { I::Store(at(COSINE)) } else { I::Positive });
            }
            body.push(I::Store(at(COSINE)));
            for component in 0..3 {
                let to = at(field(usize::from(component)) + vertex);
                let so_far = if number == 0 { at(AMBIENT + component) } else { to };
                body.extend([I::Load(at(LIGHT + component)), I::Multiply(at(COSINE)), I::Add(so_far)]);
                if number + 1 == lights.len() {
                    body.push(I::Multiply(at(REFLECTANCE + component)));
                }
                body.push(I::Store(to));
            }
        }
    }
}

fn literals(base: u8, vector: Vec3, body: &mut Vec<I>) {
    body.extend((0u8..).zip(vector.to_array()).flat_map(|(k, value)| [I::Literal(value), I::Store(at(base + k))]));
}
