//! Pixel-planes (Fuchs & Poulton 1981; Ullner 1983, §3.2): a processor for each pixel, and trees of
//! adders that give each the value of `F(x, y) = A·x + B·y + C`, bit by bit.
//!
//! Each polygon is a few such functions: one for each edge, whose sign says on which side a pixel
//! is; one for the depth; and one for each component of the color. Coefficients are integers with a
//! number of bits after the point. Colors that are not linear across a polygon need it cut into
//! triangles, which the host does.

use super::super::screen::{ScreenPolygon, Vertex};
use super::config::{Config, PixelPlanes};
use glam::{DVec2, DVec3, DVec4, Vec3};
use rayon::prelude::*;
use shadewright_image::{Image, SizeError};

/// The difference of a color from a linear one that counts as none: half of a step of 8 bits.
const LINEAR: f64 = 1.0 / 512.0;

/// Rows that a thread renders at a time.
const ROWS: usize = 16;

/// `F` with whole coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    a: i64,
    b: i64,
    c: i64,
}

impl Form {
    /// Of a function that has these slopes and this value in the middle of the first pixel.
    fn new([a, b, c]: [f64; 3], fraction: u32) -> Self {
        let scale = (1u64 << fraction) as f64;
        let [a, b, c] = [a, b, c].map(|x| (x * scale).round() as i64);
        Self { a, b, c }
    }

    fn at(self, x: i64, y: i64) -> i64 {
        self.a.saturating_mul(x).saturating_add(self.b.saturating_mul(y)).saturating_add(self.c)
    }
}

/// A polygon as functions.
#[derive(Clone, Debug)]
struct Polygon {
    edges: Vec<Form>,
    depth: Form,
    colors: [Form; 3],
    /// Columns and rows beyond which all pixels are outside, coefficients' rounding included.
    columns: [i64; 2],
    rows: [i64; 2],
}

/// The cost of an image on Pixel-planes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Polygons after cutting.
    pub polygons: u64,
    /// Edges.
    pub edges: u64,
    /// Cycles.
    pub cycles: u64,
    /// Pixels within polygons, for which the processors did something that shows.
    pub pixels: u64,
    /// Bits of coefficients that the host sends.
    pub bits: u64,
}

impl Costs {
    /// Until the last polygon is in, in microseconds.
    pub fn time(&self, planes: &PixelPlanes) -> f64 {
        self.cycles as f64 * planes.cycle
    }
}

/// Cycles for a polygon with so many edges. The bits of one function follow those of the one before;
/// those of the depth come twice, for the comparison is known with its last bit, and only then is a
/// depth stored.
pub fn cycles(edges: usize, planes: &PixelPlanes) -> u64 {
    bits(edges, planes) + u64::from(planes.latency)
}

/// Bits of the functions of a polygon with so many edges, each of one of three coefficients.
fn bits(edges: usize, planes: &PixelPlanes) -> u64 {
    let of_form = |bits: u32| u64::from(bits + planes.fraction);
    edges as u64 * of_form(planes.edge) + 2 * of_form(planes.depth) + 3 * of_form(planes.color)
}

/// Chips for an image.
pub fn chips([width, height]: [u32; 2], planes: &PixelPlanes) -> u64 {
    u64::from(width.div_ceil(planes.chip[0])) * u64::from(height.div_ceil(planes.chip[1]))
}

/// Runs the design on polygons.
///
/// # Errors
/// When the image's size is out of range.
pub fn run(
    polygons: &[ScreenPolygon],
    size: [u32; 2],
    background: Vec3,
    config: &Config,
) -> Result<(Image, Costs), SizeError> {
    let planes = &config.pixel_planes;
    let mut costs = Costs::default();
    let mut all = Vec::with_capacity(polygons.len());
    for polygon in polygons {
        for part in parts(polygon, size) {
            let Some(forms) = Polygon::new(&part, size, planes) else { continue };
            costs.polygons += 1;
            costs.edges += forms.edges.len() as u64;
            costs.cycles += cycles(forms.edges.len(), planes);
            costs.bits += 3 * bits(forms.edges.len(), planes);
            all.push(forms);
        }
    }
    let [width, height] = size.map(|size| size as usize);
    let background = background.extend(1.0).to_array();
    let mut rgba = vec![background; width * height];
    let bands = rgba.par_chunks_mut((width * ROWS).max(1)).enumerate();
    let pixels = bands.map(|(band, rgba)| {
        let first = (band * ROWS) as i64;
        let mut pixels = Pixels { rgba, width: width as i64, first, depths: vec![i64::MAX; width * ROWS], count: 0 };
        all.iter().for_each(|polygon| pixels.take(polygon, planes));
        pixels.count
    });
    costs.pixels = pixels.sum();
    Ok((Image::new(size[0], size[1], rgba)?, costs))
}

/// The processors of some rows of pixels.
struct Pixels<'a> {
    rgba: &'a mut [[f32; 4]],
    width: i64,
    /// The first row.
    first: i64,
    depths: Vec<i64>,
    /// Pixels that were within polygons.
    count: u64,
}

impl Pixels<'_> {
    /// Takes a polygon.
    fn take(&mut self, polygon: &Polygon, planes: &PixelPlanes) {
        let rows = (self.rgba.len() as i64) / self.width.max(1);
        let most = (1i64 << planes.color) - 1;
        for y in polygon.rows[0].max(self.first)..polygon.rows[1].min(self.first + rows) {
            for x in polygon.columns[0].max(0)..polygon.columns[1].min(self.width) {
                if polygon.edges.iter().any(|edge| edge.at(x, y) < 0) {
                    continue;
                }
                self.count += 1;
                let place = ((y - self.first) * self.width + x) as usize;
                let depth = (polygon.depth.at(x, y) >> planes.fraction).clamp(0, (1 << planes.depth) - 1);
                if depth < self.depths[place] {
                    self.depths[place] = depth;
                    let of = |form: Form| (form.at(x, y) >> planes.fraction).clamp(0, most) as f32 / most as f32;
                    let [red, green, blue] = polygon.colors.map(of);
                    self.rgba[place] = [red, green, blue, 1.0];
                }
            }
        }
    }
}

/// A vertex in pixels, from the middle of the upper left one, with color and depth.
fn place(vertex: &Vertex, size: [u32; 2]) -> (DVec2, DVec4) {
    let [width, height] = size.map(f64::from);
    let at = vertex.position;
    let pixels = DVec2::new(0.5 * (at.x + 1.0) * width - 0.5, 0.5 * (1.0 - at.y) * height - 0.5);
    (pixels, vertex.color.extend(at.z))
}

/// The polygon, or triangles of it where its colors are not linear.
fn parts(polygon: &ScreenPolygon, size: [u32; 2]) -> Vec<Vec<(DVec2, DVec4)>> {
    let vertices: Vec<(DVec2, DVec4)> = polygon.vertices.iter().map(|vertex| place(vertex, size)).collect();
    let is_linear = linear(&vertices).is_some_and(|[slope_x, slope_y, value]| {
        let rest = |(at, expected): &(DVec2, DVec4)| (slope_x * at.x + slope_y * at.y + value - *expected).truncate();
        vertices.iter().all(|vertex| rest(vertex).abs().max_element() < LINEAR)
    });
    if is_linear || vertices.len() < 4 {
        return vec![vertices];
    }
    (2..vertices.len()).map(|k| vec![vertices[0], vertices[k - 1], vertices[k]]).collect()
}

/// The slopes along x and y, and the values at the origin, of the linear functions through the
/// corners of a polygon's largest triangle; `None` where it has no area.
fn linear(vertices: &[(DVec2, DVec4)]) -> Option<[DVec4; 3]> {
    let (origin, first) = *vertices.first()?;
    let area = |k: usize| (vertices[k - 1].0 - origin).perp_dot(vertices[k].0 - origin);
    let largest = (2..vertices.len()).max_by(|&a, &b| area(a).abs().total_cmp(&area(b).abs()))?;
    let [(p, at_p), (q, at_q)] = [vertices[largest - 1], vertices[largest]];
    let (p, q, along_p, along_q) = (p - origin, q - origin, at_p - first, at_q - first);
    let determinant = p.perp_dot(q);
    if determinant == 0.0 {
        return None;
    }
    let slope_x = (along_p * q.y - along_q * p.y) / determinant;
    let slope_y = (along_q * p.x - along_p * q.x) / determinant;
    Some([slope_x, slope_y, first - slope_x * origin.x - slope_y * origin.y])
}

impl Polygon {
    fn new(vertices: &[(DVec2, DVec4)], size: [u32; 2], planes: &PixelPlanes) -> Option<Self> {
        let [slope_x, slope_y, value] = linear(vertices)?;
        let around = || vertices.iter().zip(vertices.iter().cycle().skip(1)).map(|(from, to)| (from.0, to.0));
        let area: f64 = around().map(|(from, to)| from.perp_dot(to)).sum();
        let edge = |(from, to): (DVec2, DVec2)| {
            let along = (to - from) * area.signum();
            // Distances in pixels: coefficients are at most 1.
            let inwards = DVec2::new(-along.y, along.x) / along.length();
            let form = Form::new([inwards.x, inwards.y, -inwards.dot(from)], planes.fraction);
            // A pixel on an edge belongs to the polygon on the right or below.
            let owns = inwards.x > 0.0 || (inwards.x == 0.0 && inwards.y > 0.0);
            Form { c: form.c - i64::from(!owns), ..form }
        };
        let forms = |scale: f64, component: usize| {
            // Half a step, since the bits after the point are cut off.
            let c = value[component] * scale + if component < 3 { 0.5 } else { 0.0 };
            Form::new([slope_x[component] * scale, slope_y[component] * scale, c], planes.fraction)
        };
        let (low, high) =
            vertices.iter().fold((DVec2::MAX, DVec2::MIN), |(low, high), v| (low.min(v.0), high.max(v.0)));
        let reach = |low: f64, high: f64, size: u32| {
            [(low - 2.0).clamp(0.0, f64::from(size)) as i64, (high + 3.0).clamp(0.0, f64::from(size)) as i64]
        };
        let depth = ((1u64 << planes.depth) - 1) as f64;
        let color = ((1u32 << planes.color) - 1).into();
        Some(Self {
            edges: around().filter(|(from, to)| from != to).map(edge).collect(),
            depth: forms(depth, 3),
            colors: [0, 1, 2].map(|component| forms(color, component)),
            columns: reach(low.x, high.x, size[0]),
            rows: reach(low.y, high.y, size[1]),
        })
    }
}

/// The color that the hardware gives a linear one: rounded to its bits.
pub fn rounded(color: DVec3, planes: &PixelPlanes) -> DVec3 {
    let most = f64::from((1u32 << planes.color) - 1);
    (color.clamp(DVec3::ZERO, DVec3::ONE) * most).round() / most
}
