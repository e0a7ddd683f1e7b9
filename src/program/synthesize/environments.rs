//! The functions of environment lights: the radiance of rays that leave the scene, and light
//! sampling.
//!
//! An *environment light* is an ambient light of the category `environment`, as the library's
//! `envlight`: its color for a normal `Ns` is the radiance from that direction.
//! `lights.far(direction, pdf) -> vec3` adds up all of them and the background;
//! `lights.environment.N(u, v) -> (L, Cl, t_max, pdf)` importance-samples the environment map that
//! the light's parameter `map` names, by its [`crate::layout::environment_map`]. The
//! results are as [`super::area_lights`] describes.

use crate::layout::Layout;
use crate::layout::alias_table::{choose_uniformly, resolve_alias};
use crate::layout::blocks::LinkedLight;
use crate::layout::environments::Environment;
use crate::synthesize::lights::{DIRECT_RESULTS, environment_radiance};
use crate::synthesize::paths::mis_weight;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::{Function, FunctionBuilder, Type, Value};
use shadewright_scene::Estimator;

/// All functions. Where paths are traced, `estimator` weights the light that a ray finds; where
/// environment lights are not `visible`, rays find the background alone.
pub fn functions(layout: &Layout, estimator: Option<Estimator>, visible: bool) -> Vec<Function> {
    let tables = layout.environments.iter().zip(&layout.environment_tables);
    let environments: Vec<Placed<'_>> = tables
        .map(|(environment, &table)| Placed { environment, table, light: &layout.linked.lights[environment.light] })
        .collect();
    let mut functions: Vec<Function> = environments.iter().enumerate().map(|(n, own)| own.sample(n)).collect();
    let visible = if visible { &environments[..] } else { &[] };
    functions.push(far(visible, estimator));
    functions.push(coverage(visible));
    functions
}

/// An environment light, and where its table lies.
struct Placed<'a> {
    environment: &'a Environment,
    table: u32,
    light: &'a LinkedLight,
}

/// `lights.far(direction, pdf) -> vec3`: the radiance from outside of the scene, where
/// `pdf` is that of the direction (as [`crate::synthesize::paths`] has it).
fn far(visible: &[Placed<'_>], estimator: Option<Estimator>) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::LightFar);
    b.result("return", Type::Vec3);
    let direction = b.param("direction", Type::Vec3);
    let pdf = b.param("pdf", Type::F32);
    let mut sum = b.frame_xyz(slots::BACKGROUND);
    if !visible.is_empty() {
        let direction = b.normalize(direction);
        for own in visible {
            let mut light = environment_radiance(&mut b, own.light, direction);
            if let Some(estimator) = estimator {
                let weight = own.weight(&mut b, estimator, direction, pdf);
                light = b.scale(light, weight);
            }
            sum = b.add(sum, light);
        }
    }
    b.ret(vec![sum]);
    b.finish()
}

/// `lights.far.coverage() -> f32`: the alpha of rays that leave the scene.
fn coverage(visible: &[Placed<'_>]) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::LightFarCoverage);
    b.result("return", Type::F32);
    let background = b.frame_vector(slots::BACKGROUND);
    let alpha = match visible.is_empty() {
        true => b.extract(background, 3),
        false => b.f32(1.0),
    };
    b.ret(vec![alpha]);
    b.finish()
}

impl Placed<'_> {
    /// `lights.environment.N(u, v) -> (L, Cl, t_max, pdf)`.
    fn sample(&self, number: usize) -> Function {
        let mut b = FunctionBuilder::linker(Intrinsic::LightEnvironment(number as u32));
        ["L", "Cl", "t_max", "pdf"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let [u, v] = ["u", "v"].map(|name| b.param(name, Type::F32));
        let side = self.environment.grid.side;
        let (row, rest) = choose_uniformly(&mut b, v, side);
        let record = record(&mut b, self.table, row);
        let (row, down) = resolve_alias(&mut b, record, row, rest);
        let (cell, rest) = choose_uniformly(&mut b, u, side);
        let record = self.cell(&mut b, row, cell);
        let (own, other) = (b.extract(record, 2), b.extract(record, 3));
        let (column, across) = resolve_alias(&mut b, record, cell, rest);
        let is_own = b.ieq(column, cell);
        let by_area = b.select(is_own, own, other);

        let step = b.f32(2.0 / side as f32);
        let one = b.f32(1.0);
        let [x, y] = [(column, across), (row, down)].map(|(cell, rest)| {
            let whole = b.to_float(cell);
            let at = b.add(whole, rest);
            let at = b.mul(at, step);
            b.sub(at, one)
        });
        let [ax, ay] = [x, y].map(|x| b.abs(x));
        let z = b.sub(one, ax);
        let z = b.sub(z, ay);
        let [x, y] = fold(&mut b, [x, y], z);
        let point = b.compose(&[x, y, z]);
        let square = b.dot(point, point);
        let root = b.sqrt(square);
        let cube = b.mul(square, root);
        let pdf = b.mul(by_area, cube);
        let inverse = b.rcp(root);
        let own = b.scale(point, inverse);
        let parts = [0, 1, 2].map(|i| {
            let axis = b.vec3(self.environment.axes.col(i).to_array());
            let along = b.extract(own, i as u8);
            b.scale(axis, along)
        });
        let direction = b.add(parts[0], parts[1]);
        let direction = b.add(direction, parts[2]);
        let light = environment_radiance(&mut b, self.light, direction);
        let reciprocal = b.rcp(pdf);
        let light = b.scale(light, reciprocal);
        let far = b.f32(f32::MAX);
        b.ret(vec![direction, light, far, pdf]);
        b.finish()
    }

    /// The record of a cell.
    fn cell(&self, b: &mut FunctionBuilder, row: Value, column: Value) -> Value {
        let side = b.u32(self.environment.grid.side);
        let before = b.imul(row, side);
        let number = b.iadd(before, column);
        record(b, self.table + self.environment.grid.side, number)
    }

    /// The multiple importance sampling weight of a ray whose direction was sampled with a pdf.
    fn weight(&self, b: &mut FunctionBuilder, estimator: Estimator, direction: Value, pdf: Value) -> Value {
        let (zero, one) = (b.f32(0.0), b.f32(1.0));
        let weight = match estimator {
            Estimator::Scattering => return one,
            Estimator::Lights => zero,
            Estimator::Power | Estimator::Balance => {
                let other = self.pdf(b, direction);
                mis_weight(b, estimator, pdf, other)
            }
        };
        let is_specular = b.le(pdf, zero);
        b.select(is_specular, one, weight)
    }

    /// The pdf of [`Placed::sample`] for a direction, by solid angle.
    fn pdf(&self, b: &mut FunctionBuilder, direction: Value) -> Value {
        let along = [0, 1, 2].map(|i| {
            let axis = b.vec3(self.environment.axes.col(i).to_array());
            b.dot(axis, direction)
        });
        let sizes = along.map(|x| b.abs(x));
        let sum = b.add(sizes[0], sizes[1]);
        let sum = b.add(sum, sizes[2]);
        let distance = b.rcp(sum);
        let [x, y, z] = along.map(|x| b.mul(x, distance));
        let point = fold(b, [x, y], z);
        let (one, half) = (b.f32(1.0), b.f32(0.5 * self.environment.grid.side as f32));
        let (zero, last) = (b.f32(0.0), b.f32(self.environment.grid.side as f32 - 1.0));
        let [column, row] = point.map(|x| {
            let cell = b.add(x, one);
            let cell = b.mul(cell, half);
            let cell = b.floor(cell);
            let cell = b.max(zero, cell);
            let cell = b.min(cell, last);
            b.to_int(cell, Type::U32)
        });
        let record = self.cell(b, row, column);
        let by_area = b.extract(record, 2);
        let square = b.mul(distance, distance);
        let cube = b.mul(square, distance);
        b.mul(by_area, cube)
    }
}

/// The record of that number in a table at an address.
fn record(b: &mut FunctionBuilder, address: u32, number: Value) -> Value {
    let first = b.u32(address);
    let address = b.iadd(first, number);
    let address = b.bitcast(address, Type::Ref);
    b.load(address, 0)
}

/// Unfolds the lower half of the octahedron into the square, or folds it back: the same function.
fn fold(b: &mut FunctionBuilder, [x, y]: [Value; 2], z: Value) -> [Value; 2] {
    let (zero, one) = (b.f32(0.0), b.f32(1.0));
    let is_below = b.lt(z, zero);
    [(x, y), (y, x)].map(|(own, other)| {
        let size = b.abs(other);
        let size = b.sub(one, size);
        let opposite = b.neg(size);
        let is_negative = b.lt(own, zero);
        let folded = b.select(is_negative, opposite, size);
        b.select(is_below, folded, own)
    })
}
