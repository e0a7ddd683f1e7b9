//! Light from far away in all directions: what rays see that leave the scene, and how what is lit looks for the brightest of it.
//!
//! An *environment* is an ambient light of the category `environment`, as the library's `envlight`: its colour for a normal `Ns` is what comes from that direction. `lights.far(direction, density) -> vec3` adds up all of them and
//! the background; `lights.environment.N(u, v) -> (L, Cl, t_max, density)` looks in a direction that two random numbers choose by a [`crate::program::layout::environment_map`] of how bright the image is which the light's parameter `map` names. What these give is as
//! [`crate::program::synthesise::area_lights`] has it.

use crate::ir::{Const, Function, FunctionBuilder, Op, Type, Value};
use crate::lang::rsl::{LIGHTS_FAR, LIGHTS_FAR_COVERAGE};
use crate::program::layout::alias_table::{chosen, stands_for};
use crate::program::layout::environment_map::Table;
use crate::program::layout::textures::Textures;
use crate::program::synthesise::lights::{DIRECT_RESULTS, LinkedLight, comes_from};
use crate::program::synthesise::paths::weight;
use crate::program::synthesise::surface_state::{normalize, scale, xyz};
use crate::scene::{Estimator, Scene};
use glam::{Mat3, Vec3};

/// The parameter of a light that names the image.
const MAP: &str = "map";

/// An environment.
#[derive(Debug)]
struct Environment {
    /// Its number among the scene's lights.
    light: usize,
    /// The axes of its space in the world, of length 1 and square to each other.
    axes: Mat3,
    table: Table,
}

/// The environments of a scene.
#[derive(Debug, Default)]
pub struct Environments {
    list: Vec<Environment>,
    /// Where the table of each lies.
    pub addresses: Vec<u32>,
}

/// The name of the function that looks at an environment.
pub fn function_name(number: usize) -> String {
    format!("lights.environment.{number}")
}

impl Environments {
    /// Those among the lights that shine on some object, which are told their numbers.
    pub fn of(scene: &Scene, lights: &mut [LinkedLight], textures: &Textures) -> Self {
        let mut list = Vec::new();
        for (number, light) in lights.iter_mut().enumerate() {
            let shines = scene.objects.iter().any(|object| object.lights.contains(&(number as u32)));
            if !shines || !light.is_environment() {
                continue;
            }
            light.environment = Some(list.len());
            let map = light.instance.texts.iter().find(|(name, _)| name == MAP);
            let table = Table::of(map.and_then(|(_, name)| textures.get(name)));
            list.push(Environment { light: number, axes: square(Mat3::from_mat4(light.instance.to_world)), table });
        }
        Self { list, addresses: Vec::new() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The records of each one's table.
    pub fn tables(&self) -> impl Iterator<Item = Vec<[u32; 4]>> {
        self.list.iter().map(|environment| environment.table.records.clone())
    }

    /// All functions. Where paths are traced, `estimator` tells how light counts that a ray finds; where environments are not `seen`, rays find the background alone.
    pub fn functions(&self, lights: &[LinkedLight], estimator: Option<Estimator>, seen: bool) -> Vec<Function> {
        let numbered = self.list.iter().zip(&self.addresses).enumerate();
        let looks = numbered.map(|(n, (own, &address))| own.look(n, &lights[own.light], address));
        let mut functions: Vec<Function> = looks.collect();
        let seen = if seen { &self.list[..] } else { &[] };
        functions.push(self.far(seen, lights, estimator));
        functions.push(coverage(seen));
        functions
    }

    /// `lights.far(direction, density) -> vec3`: what arrives from far away, where directions like this one are chosen with that density (as [`crate::program::synthesise::paths`] has it).
    fn far(&self, seen: &[Environment], lights: &[LinkedLight], estimator: Option<Estimator>) -> Function {
        let mut b = FunctionBuilder::linker(LIGHTS_FAR);
        b.result("return", Type::Vec3);
        let direction = b.param("direction", Type::Vec3);
        let density = b.param("density", Type::F32);
        let background = b.op(Op::Uniform(7), &[]);
        let mut sum = xyz(&mut b, background);
        if !seen.is_empty() {
            let direction = normalize(&mut b, direction);
            for (own, &address) in seen.iter().zip(&self.addresses) {
                let mut light = comes_from(&mut b, &lights[own.light], direction);
                if let Some(estimator) = estimator {
                    let share = own.share(&mut b, address, estimator, direction, density);
                    light = scale(&mut b, light, share);
                }
                sum = b.op(Op::Add, &[sum, light]);
            }
        }
        b.ret(vec![sum]);
        b.finish()
    }
}

/// `lights.far.coverage() -> f32`: how much of what lies behind the scene is covered by what arrives from there.
fn coverage(seen: &[Environment]) -> Function {
    let mut b = FunctionBuilder::linker(LIGHTS_FAR_COVERAGE);
    b.result("return", Type::F32);
    let background = b.op(Op::Uniform(7), &[]);
    let covered = match seen.is_empty() {
        true => b.op(Op::Extract(3), &[background]),
        false => b.f32(1.0),
    };
    b.ret(vec![covered]);
    b.finish()
}

impl Environment {
    /// `lights.environment.N(u, v) -> (L, Cl, t_max, density)`.
    fn look(&self, number: usize, light: &LinkedLight, address: u32) -> Function {
        let mut b = FunctionBuilder::linker(function_name(number));
        ["L", "Cl", "t_max", "density"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let [u, v] = ["u", "v"].map(|name| b.param(name, Type::F32));
        let side = self.table.side;
        let (row, rest) = chosen(&mut b, v, side);
        let record = record(&mut b, address, row);
        let (row, down) = stands_for(&mut b, record, row, rest);
        let (cell, rest) = chosen(&mut b, u, side);
        let record = self.cell(&mut b, address, row, cell);
        let (own, other) = (b.op(Op::Extract(2), &[record]), b.op(Op::Extract(3), &[record]));
        let (column, across) = stands_for(&mut b, record, cell, rest);
        let is_own = b.op(Op::IEq, &[column, cell]);
        let by_area = b.op(Op::Select, &[is_own, own, other]);

        let step = b.f32(2.0 / side as f32);
        let one = b.f32(1.0);
        let [x, y] = [(column, across), (row, down)].map(|(cell, rest)| {
            let whole = b.op_as(Op::ToFloat, &[cell], Type::F32);
            let place = b.op(Op::Add, &[whole, rest]);
            let place = b.op(Op::Mul, &[place, step]);
            b.op(Op::Sub, &[place, one])
        });
        let [ax, ay] = [x, y].map(|x| b.op(Op::Abs, &[x]));
        let z = b.op(Op::Sub, &[one, ax]);
        let z = b.op(Op::Sub, &[z, ay]);
        let [x, y] = fold(&mut b, [x, y], z);
        let place = b.op(Op::Compose, &[x, y, z]);
        let square = b.op(Op::Dot, &[place, place]);
        let root = b.op(Op::Sqrt, &[square]);
        let cube = b.op(Op::Mul, &[square, root]);
        let density = b.op(Op::Mul, &[by_area, cube]);
        let away = b.op(Op::Rcp, &[root]);
        let own = scale(&mut b, place, away);
        let parts = [0, 1, 2].map(|i| {
            let axis = b.constant(Const::Vec3(self.axes.col(i).to_array()));
            let along = b.op(Op::Extract(i as u8), &[own]);
            scale(&mut b, axis, along)
        });
        let direction = b.op(Op::Add, &[parts[0], parts[1]]);
        let direction = b.op(Op::Add, &[direction, parts[2]]);
        let light = comes_from(&mut b, light, direction);
        let reciprocal = b.op(Op::Rcp, &[density]);
        let light = scale(&mut b, light, reciprocal);
        let far = b.f32(f32::MAX);
        b.ret(vec![direction, light, far, density]);
        b.finish()
    }

    /// The record of a cell.
    fn cell(&self, b: &mut FunctionBuilder, address: u32, row: Value, column: Value) -> Value {
        let side = b.u32(self.table.side);
        let before = b.op(Op::IMul, &[row, side]);
        let number = b.op(Op::IAdd, &[before, column]);
        record(b, address + self.table.side, number)
    }

    /// How much light counts that a ray finds whose directions are chosen with a density.
    fn share(
        &self,
        b: &mut FunctionBuilder,
        address: u32,
        estimator: Estimator,
        direction: Value,
        density: Value,
    ) -> Value {
        let (zero, one) = (b.f32(0.0), b.f32(1.0));
        let share = match estimator {
            Estimator::Scattering => return one,
            Estimator::Lights => zero,
            Estimator::Power | Estimator::Balance => {
                let other = self.density(b, address, direction);
                weight(b, estimator, density, other)
            }
        };
        let exact = b.op(Op::Le, &[density, zero]);
        b.op(Op::Select, &[exact, one, share])
    }

    /// How densely [`Environment::look`] chooses directions like this one, by solid angle.
    fn density(&self, b: &mut FunctionBuilder, address: u32, direction: Value) -> Value {
        let along = [0, 1, 2].map(|i| {
            let axis = b.constant(Const::Vec3(self.axes.col(i).to_array()));
            b.op(Op::Dot, &[axis, direction])
        });
        let sizes = along.map(|x| b.op(Op::Abs, &[x]));
        let sum = b.op(Op::Add, &[sizes[0], sizes[1]]);
        let sum = b.op(Op::Add, &[sum, sizes[2]]);
        let distance = b.op(Op::Rcp, &[sum]);
        let [x, y, z] = along.map(|x| b.op(Op::Mul, &[x, distance]));
        let place = fold(b, [x, y], z);
        let (one, half) = (b.f32(1.0), b.f32(0.5 * self.table.side as f32));
        let (zero, last) = (b.f32(0.0), b.f32(self.table.side as f32 - 1.0));
        let [column, row] = place.map(|x| {
            let cell = b.op(Op::Add, &[x, one]);
            let cell = b.op(Op::Mul, &[cell, half]);
            let cell = b.op(Op::Floor, &[cell]);
            let cell = b.op(Op::Max, &[zero, cell]);
            let cell = b.op(Op::Min, &[cell, last]);
            b.op_as(Op::ToInt, &[cell], Type::U32)
        });
        let record = self.cell(b, address, row, column);
        let by_area = b.op(Op::Extract(2), &[record]);
        let square = b.op(Op::Mul, &[distance, distance]);
        let cube = b.op(Op::Mul, &[square, distance]);
        b.op(Op::Mul, &[by_area, cube])
    }
}

/// The record of that number in a table at an address.
fn record(b: &mut FunctionBuilder, address: u32, number: Value) -> Value {
    let first = b.u32(address);
    let place = b.op(Op::IAdd, &[first, number]);
    let place = b.op_as(Op::Bitcast, &[place], Type::Ref);
    b.op(Op::Load(0), &[place])
}

/// Folds the lower half of the octahedron out, or back: the same either way.
fn fold(b: &mut FunctionBuilder, [x, y]: [Value; 2], z: Value) -> [Value; 2] {
    let (zero, one) = (b.f32(0.0), b.f32(1.0));
    let is_below = b.op(Op::Lt, &[z, zero]);
    [(x, y), (y, x)].map(|(own, other)| {
        let size = b.op(Op::Abs, &[other]);
        let size = b.op(Op::Sub, &[one, size]);
        let opposite = b.op(Op::Neg, &[size]);
        let is_negative = b.op(Op::Lt, &[own, zero]);
        let folded = b.op(Op::Select, &[is_negative, opposite, size]);
        b.op(Op::Select, &[is_below, folded, own])
    })
}

/// Axes of length 1 that are square to each other, as near to these as one after the other can be.
fn square(axes: Mat3) -> Mat3 {
    let z = axes.z_axis.try_normalize().unwrap_or(Vec3::Z);
    let x = axes.x_axis.reject_from_normalized(z).try_normalize().unwrap_or_else(|| z.any_orthonormal_vector());
    let y = z.cross(x);
    Mat3::from_cols(x, if y.dot(axes.y_axis) < 0.0 { -y } else { y }, z)
}
