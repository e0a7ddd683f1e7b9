//! Blobby implicit surfaces (RISpec 3.2, §5.8): fields of ellipsoids and segments, put together by
//! operators, and where their value is [`THRESHOLD`].
//!
//! The surface is found on a grid, by marching tetrahedra (Doi & Koide 1991): six in each cell,
//! whose edges neighbors share, so that it is closed. Each point is moved along its edge to where
//! the field itself has the value; normals are those of the field.

use super::tensor::Diced;
use glam::{DMat4, DVec3};
use rayon::prelude::*;
use std::collections::HashMap;
use thiserror::Error;

/// The field's value on the surface: that of a blob at half its radius, `(1 - ¼)³`.
pub const THRESHOLD: f64 = 27.0 / 64.0;

/// Most cells of the grid along one side.
pub const MAX_CELLS: u32 = 128;

/// Most evaluations of instructions on the grid.
const MAX_WORK: usize = 1 << 28;

/// One instruction; operands are the numbers of earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// The same everywhere.
    Constant(f64),
    /// A blob around the segment between two points (which may be one), of this radius in its own
    /// space, to which the matrix leads.
    Blob {
        /// From object space to the blob's.
        to_blob: DMat4,
        /// The segment.
        ends: [DVec3; 2],
        /// Where its field ends.
        radius: f64,
    },
    /// Sum of all.
    Add(Vec<u32>),
    /// Product of all.
    Multiply(Vec<u32>),
    /// The largest.
    Max(Vec<u32>),
    /// The smallest.
    Min(Vec<u32>),
    /// The first without the second.
    Subtract(u32, u32),
    /// The first by the second; 0 where that is 0.
    Divide(u32, u32),
    /// The opposite.
    Negate(u32),
    /// The same.
    Identity(u32),
}

/// An error in a blobby surface.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BlobbyError {
    /// The code ends within an instruction.
    #[error("instruction {0} has too few operands")]
    Short(usize),
    /// An operation that is not known.
    #[error("instruction {at} has the operation {code}, which is not supported: 1000, 1001, 1002 and 0 to 7 are")]
    Operation {
        /// The instruction.
        at: usize,
        /// The code of the operation.
        code: i32,
    },
    /// An operand that is no earlier instruction, or a number beyond the list.
    #[error("instruction {at} refers to {index}, which is not there")]
    Reference {
        /// The instruction.
        at: usize,
        /// The index that it refers to.
        index: i32,
    },
    /// A matrix without inverse.
    #[error("the matrix of instruction {0} cannot be inverted")]
    Matrix(usize),
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    instructions: Vec<Instruction>,
    /// The instructions that are leaves, in order.
    leaves: Vec<usize>,
    /// The corners of a box beyond which no blob reaches.
    bounds: Option<(DVec3, DVec3)>,
    /// Operations of leaves that are not known.
    unknown: Vec<i32>,
}

impl Field {
    /// Reads a field as RIB writes it. A leaf of an unknown operation, such as the repelling plane
    /// 1003, is 0 everywhere ([`Field::unknown`]).
    ///
    /// # Errors
    /// Operations that do not exist, and operands that are not there.
    pub fn parse(code: &[i32], floats: &[f32]) -> Result<Self, BlobbyError> {
        let mut out = Self { instructions: Vec::new(), leaves: Vec::new(), bounds: None, unknown: Vec::new() };
        let mut rest = code;
        while let Some((&operation, operands)) = rest.split_first() {
            let at = out.instructions.len();
            let short = BlobbyError::Short(at);
            let earlier = |i: &i32| match u32::try_from(*i) {
                Ok(k) if (k as usize) < at => Ok(k),
                _ => Err(BlobbyError::Reference { at, index: *i }),
            };
            let numbers = |index: i32, count: usize| -> Result<&[f32], BlobbyError> {
                let start = usize::try_from(index).ok();
                let found = start.and_then(|s| floats.get(s..)?.get(..count));
                found.ok_or(BlobbyError::Reference { at, index })
            };
            let one = || operands.first().copied().ok_or(short.clone());
            let taken;
            let instruction = match operation {
                1000 => {
                    taken = 1;
                    Instruction::Constant(f64::from(numbers(one()?, 1)?[0]))
                }
                1001 => {
                    taken = 1;
                    out.blob(at, [DVec3::ZERO; 2], 1.0, numbers(one()?, 16)?)?
                }
                1002 => {
                    taken = 1;
                    let n = numbers(one()?, 23)?;
                    let end = |k: usize| DVec3::new(n[k].into(), n[k + 1].into(), n[k + 2].into());
                    out.blob(at, [end(0), end(3)], f64::from(n[6]).abs(), &n[7..])?
                }
                0..=3 => {
                    let count = usize::try_from(one()?).map_err(|_| short.clone())?;
                    let list = operands.get(1..).and_then(|o| o.get(..count)).ok_or(short.clone())?;
                    taken = 1 + count;
                    let list = list.iter().map(earlier).collect::<Result<Vec<u32>, _>>()?;
                    match operation {
                        0 => Instruction::Add(list),
                        1 => Instruction::Multiply(list),
                        2 => Instruction::Max(list),
                        _ => Instruction::Min(list),
                    }
                }
                4 | 5 => {
                    taken = 2;
                    let [a, b, ..] = operands else { return Err(short) };
                    let (a, b) = (earlier(a)?, earlier(b)?);
                    if operation == 4 { Instruction::Subtract(a, b) } else { Instruction::Divide(a, b) }
                }
                6 | 7 => {
                    taken = 1;
                    let a = earlier(&one()?)?;
                    if operation == 6 { Instruction::Negate(a) } else { Instruction::Identity(a) }
                }
                // The plane has a height field and numbers; leaves of other renderers have numbers.
                leaf if leaf > 1000 => {
                    taken = if leaf == 1003 { 2 } else { 1 };
                    if operands.len() < taken {
                        return Err(short);
                    }
                    out.unknown.push(leaf);
                    Instruction::Constant(0.0)
                }
                code => return Err(BlobbyError::Operation { at, code }),
            };
            if matches!(instruction, Instruction::Constant(_) | Instruction::Blob { .. }) {
                out.leaves.push(at);
            }
            out.instructions.push(instruction);
            rest = &operands[taken..];
        }
        Ok(out)
    }

    /// A blob placed by sixteen numbers, which widens the bounds.
    fn blob(&mut self, at: usize, ends: [DVec3; 2], radius: f64, matrix: &[f32]) -> Result<Instruction, BlobbyError> {
        let to_object = DMat4::from_cols_array(&std::array::from_fn(|k| f64::from(matrix[k])));
        let to_blob = to_object.inverse();
        if !to_blob.is_finite() || radius == 0.0 {
            return Err(BlobbyError::Matrix(at));
        }
        let axes = [to_object.x_axis, to_object.y_axis, to_object.z_axis].map(|a| a.truncate());
        let reach =
            DVec3::from_array([0, 1, 2].map(|k| radius * DVec3::new(axes[0][k], axes[1][k], axes[2][k]).length()));
        for end in ends {
            let center = to_object.transform_point3(end);
            let own = (center - reach, center + reach);
            self.bounds = Some(self.bounds.map_or(own, |b| (b.0.min(own.0), b.1.max(own.1))));
        }
        Ok(Instruction::Blob { to_blob, ends, radius })
    }

    /// The operations of leaves that are not known, in their order.
    pub fn unknown(&self) -> &[i32] {
        &self.unknown
    }

    /// Number of leaves: values of classes vertex and varying are one a leaf.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// The length of the longest side of the box around all blobs, and its middle.
    pub fn extent(&self) -> Option<(DVec3, f64)> {
        self.bounds.map(|(low, high)| ((low + high) / 2.0, (high - low).max_element()))
    }

    /// The values of all instructions at a point.
    fn values(&self, p: DVec3, values: &mut Vec<f64>) {
        values.clear();
        for instruction in &self.instructions {
            let at = |i: &u32| values[*i as usize];
            let value = match instruction {
                Instruction::Constant(c) => *c,
                Instruction::Blob { to_blob, ends, radius } => {
                    let p = to_blob.transform_point3(p);
                    let along = ends[1] - ends[0];
                    let t = ((p - ends[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                    let nearest = ends[0] + along * if t.is_nan() { 0.0 } else { t };
                    let square = p.distance_squared(nearest) / (radius * radius);
                    if square < 1.0 { (1.0 - square).powi(3) } else { 0.0 }
                }
                Instruction::Add(list) => list.iter().map(at).sum(),
                Instruction::Multiply(list) => list.iter().map(at).product(),
                Instruction::Max(list) => list.iter().map(at).fold(f64::NEG_INFINITY, f64::max),
                Instruction::Min(list) => list.iter().map(at).fold(f64::INFINITY, f64::min),
                Instruction::Subtract(a, b) => at(a) - at(b),
                Instruction::Divide(a, b) => {
                    if at(b) == 0.0 {
                        0.0
                    } else {
                        at(a) / at(b)
                    }
                }
                Instruction::Negate(a) => -at(a),
                Instruction::Identity(a) => at(a),
            };
            values.push(value);
        }
    }

    /// How much higher than on the surface the field is: that of the last instruction.
    fn above(&self, p: DVec3, values: &mut Vec<f64>) -> f64 {
        self.values(p, values);
        values.last().copied().unwrap_or(0.0) - THRESHOLD
    }

    /// The surface as triangles, on a grid of so many cells along the longest side of the bounds
    /// (fewer where the field has very many instructions). There are no sites and no `u, v`.
    pub fn polygonize(&self, cells: u32) -> Diced {
        let (Some((low, high)), false) = (self.bounds, self.instructions.is_empty()) else { return Diced::default() };
        let room = ((MAX_WORK / self.instructions.len()) as f64).cbrt() as u32;
        let cells = cells.min(room).clamp(4, MAX_CELLS);
        let step = (high - low).max_element() / f64::from(cells);
        if !(step > 0.0 && step.is_finite()) {
            return Diced::default();
        }
        // A cell of nothing all around closes what reaches the bounds.
        let counts = ((high - low) / step).ceil().to_array().map(|n| n as usize + 3);
        let origin = low - DVec3::splat(step);
        let grid = Grid { field: self, origin, step, counts };
        grid.march()
    }

    /// Values of the leaves, `width` numbers each, at points: weighted by the leaves' fields there.
    pub fn blend(&self, points: &[glam::Vec3], values: &[f32], width: usize) -> Vec<f32> {
        let at = |p: &glam::Vec3| {
            let mut fields = Vec::new();
            self.values(p.as_dvec3(), &mut fields);
            let weights: Vec<f64> = self.leaves.iter().map(|&leaf| fields[leaf].max(0.0)).collect();
            let total: f64 = weights.iter().sum();
            let even = 1.0 / weights.len().max(1) as f64;
            let weight = move |i: usize| if total > 0.0 { weights[i] / total } else { even };
            let weights: Vec<f64> = (0..self.leaves.len()).map(weight).collect();
            let sum = move |k: usize| {
                weights.iter().enumerate().map(|(i, w)| w * f64::from(values[i * width + k])).sum::<f64>() as f32
            };
            (0..width).map(sum).collect::<Vec<f32>>()
        };
        points.par_iter().flat_map_iter(at).collect()
    }
}

/// The tetrahedra of a cell (Kuhn 1960): one for each way from corner 0 to corner 7 along the axes.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

struct Grid<'a> {
    field: &'a Field,
    origin: DVec3,
    step: f64,
    /// Points along each axis.
    counts: [usize; 3],
}

impl Grid<'_> {
    fn place(&self, point: usize) -> DVec3 {
        let [nx, ny, _] = self.counts;
        let index = [point % nx, point / nx % ny, point / (nx * ny)].map(|i| i as f64);
        self.origin + DVec3::from_array(index) * self.step
    }

    fn march(&self) -> Diced {
        let [nx, ny, nz] = self.counts;
        let layer = |z: usize| {
            let mut values = Vec::new();
            let rim = |i: usize, n: usize| i == 0 || i == n - 1;
            (0..nx * ny)
                .map(|k| {
                    if rim(z, nz) || rim(k % nx, nx) || rim(k / nx, ny) {
                        -THRESHOLD
                    } else {
                        self.field.above(self.place(z * nx * ny + k), &mut values)
                    }
                })
                .collect::<Vec<f64>>()
        };
        let above: Vec<f64> = (0..nz).into_par_iter().flat_map_iter(layer).collect();
        let mut out = Diced::default();
        let mut known: HashMap<(usize, usize), u32> = HashMap::new();
        let mut places: Vec<DVec3> = Vec::new();
        let mut values = Vec::new();
        for cell in 0..above.len() {
            if cell % nx + 1 == nx || cell / nx % ny + 1 == ny || cell / (nx * ny) + 1 == nz {
                continue;
            }
            let corner = |c: usize| cell + (c & 1) + (c >> 1 & 1) * nx + (c >> 2) * nx * ny;
            let inside = (0..8).filter(|&c| above[corner(c)] > 0.0).count();
            if inside == 0 || inside == 8 {
                continue;
            }
            for tetrahedron in &TETRAHEDRA {
                let corners = tetrahedron.map(corner);
                let mut point = |a: usize, b: usize| {
                    let (a, b) = (corners[a].min(corners[b]), corners[a].max(corners[b]));
                    *known.entry((a, b)).or_insert_with(|| {
                        let ends = [(self.place(a), above[a]), (self.place(b), above[b])];
                        places.push(self.crossing(ends, &mut values));
                        places.len() as u32 - 1
                    })
                };
                cut(corners.map(|c| above[c] > 0.0), &mut point, &mut out.triangles);
            }
        }
        let normals = places.par_iter().map(|&p| self.normal(p).as_vec3()).collect();
        out.points = places.iter().map(|p| p.as_vec3()).collect();
        out.normals = normals;
        out.patches = vec![0; out.triangles.len()];
        out.drop_lines();
        out
    }

    /// Where the field crosses the surface's value between two points on either side of it.
    fn crossing(&self, [mut a, mut b]: [(DVec3, f64); 2], values: &mut Vec<f64>) -> DVec3 {
        for _ in 0..6 {
            // Kept away from the ends, so that both sides close in.
            let t = (a.1 / (a.1 - b.1)).clamp(0.1, 0.9);
            let middle = a.0.lerp(b.0, t);
            let above = self.field.above(middle, values);
            if (above > 0.0) == (a.1 > 0.0) {
                a = (middle, above);
            } else {
                b = (middle, above);
            }
        }
        a.0.lerp(b.0, (a.1 / (a.1 - b.1)).clamp(0.0, 1.0))
    }

    /// Away from where the field is higher.
    fn normal(&self, p: DVec3) -> DVec3 {
        let mut values = Vec::new();
        let h = self.step * 1e-3;
        let slope = DVec3::AXES
            .map(|axis| self.field.above(p - axis * h, &mut values) - self.field.above(p + axis * h, &mut values));
        DVec3::from_array(slope).normalize_or_zero()
    }
}

/// The triangles in a tetrahedron whose corners are inside or not, seen from outside; `point` gives
/// the point on the edge between two corners. The corners 1, 2 and 3 go around clockwise seen from
/// 0.
fn cut(inside: [bool; 4], point: &mut impl FnMut(usize, usize) -> u32, out: &mut Vec<[u32; 3]>) {
    // For each corner the others, so that the four are an even permutation.
    const OTHERS: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [3, 0, 1], [2, 1, 0]];
    let count = inside.iter().filter(|i| **i).count();
    match count {
        1 | 3 => {
            let lone = inside.iter().position(|i| *i == (count == 1)).unwrap_or(0);
            let [a, b, c] = OTHERS[lone].map(|other| point(lone, other));
            out.push(if count == 1 { [a, b, c] } else { [a, c, b] });
        }
        2 => {
            let first = inside.iter().position(|i| *i).unwrap_or(0);
            let [x, y, z] = OTHERS[first];
            // Turned until the other inner corner comes first; the order around stays.
            let [second, y, z] = if inside[x] {
                [x, y, z]
            } else if inside[y] {
                [y, z, x]
            } else {
                [z, x, y]
            };
            let quad = [point(first, y), point(second, y), point(second, z), point(first, z)];
            out.extend([[quad[0], quad[2], quad[1]], [quad[0], quad[3], quad[2]]]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const IDENTITY: [f32; 16] = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];

    fn at(x: f32) -> [f32; 16] {
        let mut m = IDENTITY;
        m[12] = x;
        m
    }

    fn volume(mesh: &Diced) -> f64 {
        let six = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.points[i as usize].as_dvec3());
            a.dot(b.cross(c))
        };
        mesh.triangles.iter().map(six).sum::<f64>() / 6.0
    }

    /// True if each edge has a triangle on either side, by the bits of its ends.
    fn is_closed(mesh: &Diced) -> bool {
        let mut edges: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
        for t in &mesh.triangles {
            let c = t.map(|i| (mesh.points[i as usize] + glam::Vec3::ZERO).to_array().map(f32::to_bits));
            for k in 0..3 {
                *edges.entry([c[k], c[(k + 1) % 3]]).or_default() += 1;
                *edges.entry([c[(k + 1) % 3], c[k]]).or_default() -= 1;
            }
        }
        edges.values().all(|n| *n == 0)
    }

    #[test]
    fn a_lone_ellipsoid_is_half_as_large_as_its_field() {
        let mut matrix = IDENTITY;
        matrix[0] = 2.0;
        let mesh = Field::parse(&[1001, 0], &matrix).unwrap().polygonize(48);
        assert!(is_closed(&mesh));
        assert!((volume(&mesh) / (4.0 / 3.0 * PI * 0.25) - 1.0).abs() < 0.01, "{}", volume(&mesh));
        for (p, n) in mesh.points.iter().zip(&mesh.normals) {
            let unit = (*p / glam::Vec3::new(2.0, 1.0, 1.0)).length();
            assert!((unit - 0.5).abs() < 1e-3);
            let exact = (*p / glam::Vec3::new(4.0, 1.0, 1.0)).normalize();
            assert!(n.distance(exact) < 1e-2, "{n} {exact}");
        }
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|i| mesh.points[i as usize]);
            assert!((b - a).cross(c - a).dot(mesh.normals[t[0] as usize]) > -1e-9);
        }
    }

    #[test]
    fn a_segment_is_a_capsule() {
        let mut numbers = vec![-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        numbers.extend(IDENTITY);
        let mesh = Field::parse(&[1002, 0], &numbers).unwrap().polygonize(64);
        let exact = PI * 0.25 * 2.0 + 4.0 / 3.0 * PI * 0.125;
        assert!((volume(&mesh) / exact - 1.0).abs() < 0.01, "{}", volume(&mesh));
    }

    #[test]
    fn operators_add_cut_and_choose() {
        let matrices = [at(-0.2), at(0.2)].concat();
        let two = |operator: &[i32]| {
            let code = [&[1001, 0, 1001, 16][..], operator].concat();
            let mesh = Field::parse(&code, &matrices).unwrap().polygonize(48);
            assert!(is_closed(&mesh), "{operator:?}");
            volume(&mesh)
        };
        let ball = PI / 6.0;
        let (sum, union, common) = (two(&[0, 2, 0, 1]), two(&[2, 2, 0, 1]), two(&[3, 2, 0, 1]));
        // Two balls of radius ½ whose middles are 0.4 apart share two caps of height 0.3.
        let shared = 2.0 * PI * 0.09 / 3.0 * (1.5 - 0.3);
        assert!((common / shared - 1.0).abs() < 0.02, "{common} {shared}");
        assert!((union / (2.0 * ball - shared) - 1.0).abs() < 0.02, "{union}");
        assert!(sum > union);
        assert!(two(&[4, 0, 1]) < ball);
        assert_eq!(two(&[6, 0]), 0.0);
        assert!((two(&[7, 0]) / ball - 1.0).abs() < 0.02);
    }

    #[test]
    fn values_follow_the_leaf_that_is_nearer() {
        let field = Field::parse(&[1001, 0, 1001, 16, 0, 2, 0, 1], &[at(-0.4), at(0.4)].concat()).unwrap();
        let points = [glam::Vec3::new(-0.9, 0.0, 0.0), glam::Vec3::ZERO];
        assert_eq!(field.blend(&points, &[1.0, 10.0, 3.0, 20.0], 2), [1.0, 10.0, 2.0, 15.0]);
    }

    #[test]
    fn code_that_is_wrong_is_refused() {
        let parse = |code: &[i32]| Field::parse(code, &IDENTITY).unwrap_err();
        assert_eq!(parse(&[1001]), BlobbyError::Short(0));
        assert_eq!(parse(&[1001, 1]), BlobbyError::Reference { at: 0, index: 1 });
        assert_eq!(parse(&[1001, -1]), BlobbyError::Reference { at: 0, index: -1 });
        assert_eq!(parse(&[1001, 0, 0, 2, 0, 1]), BlobbyError::Reference { at: 1, index: 1 });
        assert_eq!(parse(&[1001, 0, 0, 5, 0]), BlobbyError::Short(1));
        assert_eq!(parse(&[1001, 0, 4, 0]), BlobbyError::Short(1));
        assert_eq!(parse(&[42]), BlobbyError::Operation { at: 0, code: 42 });
        assert_eq!(Field::parse(&[1001, 0], &[0.0; 16]), Err(BlobbyError::Matrix(0)));
        assert!(Field::parse(&[], &[]).unwrap().polygonize(10).triangles.is_empty());
    }
}
