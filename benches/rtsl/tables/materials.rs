//! How the materials of `assets/rtsl/pbr.rtsl` scatter light, by hand.

use super::lanes::{Mask, Vector, Wide};
use super::{Input, Parameter, Routine, Row};
use shadewright::abi::input;
use shadewright::ir::Type;
use shadewright::lang::rtsl::state::Method;
use std::f32::consts::PI;

/// The file of the classes.
const FILE: &str = "pbr.rtsl";
/// The inputs of `BSDF`.
const SCATTERED: &[Input] =
    &[(input::RAY_DIRECTION, Type::Vec3), ("N", Type::Vec3), ("Ng", Type::Vec3), (input::LIGHT_DIRECTION, Type::Vec3)];
/// The same, and the tangent along which a surface is brushed.
const BRUSHED: &[Input] = &[SCATTERED[0], SCATTERED[1], SCATTERED[2], SCATTERED[3], ("dPdu", Type::Vec3)];

/// A place that is lit.
#[derive(Clone, Copy)]
struct ShadingPoint<const N: usize> {
    ray: Vector<N>,
    /// The shading normal, on the side of the ray, of length 1.
    facing: Vector<N>,
    light: Vector<N>,
    /// Where the light arrives on the side of the ray.
    is_lit: Mask<N>,
}

impl<const N: usize> ShadingPoint<N> {
    #[inline(always)]
    fn from_row(row: &Row<'_, N>) -> Self {
        let [ray, normal, geometric, light] = [0, 3, 6, 9].map(|at| row.vector(at));
        let is_lit = (light.dot(geometric) * ray.dot(geometric)).less(Wide::splat(0.0));
        Self { ray, facing: facing(ray, normal), light, is_lit }
    }
}

/// A normal on the side of the ray, of length 1.
#[inline(always)]
fn facing<const N: usize>(ray: Vector<N>, normal: Vector<N>) -> Vector<N> {
    normal.dot(ray).less(Wide::splat(0.0)).choose(normal, -normal).normalize()
}

/// A color where a condition holds, black elsewhere.
#[inline(always)]
fn colors<const N: usize>(is_lit: Mask<N>, color: Vector<N>) -> [Wide<N>; 6] {
    let [r, g, b] = is_lit.choose(color, Vector::uniform([0.0; 3])).0;
    [r, g, b, r, g, b]
}

/// Nothing.
#[inline(always)]
fn black<const N: usize>() -> [Wide<N>; 6] {
    [Wide::splat(0.0); 6]
}

/// By how much two colors are dimmed that would send back more than they get.
#[inline(always)]
fn fair<const N: usize>(diffuse: Vector<N>, specular: Vector<N>) -> Wide<N> {
    let one = Wide::splat(1.0);
    one / one.max((diffuse + specular).greatest())
}

/// Diffuse.
pub struct Lambert;

impl Routine for Lambert {
    const NAME: &'static str = "Lambertian";
    const CLASS: (&'static str, &'static str) = (FILE, "Lambert");
    const METHOD: Method = Method::Bsdf;
    const INPUTS: &'static [Input] = SCATTERED;
    const OUTPUTS: usize = 3;
    const PARAMETERS: &'static [Parameter] = &[("diffuse", [0.7, 0.4, 0.2])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let place = ShadingPoint::from_row(row);
        let is_lit = place.is_lit & Wide::splat(0.0).less(place.facing.dot(place.light));
        colors(is_lit, Vector::uniform(parameters[0].1) / Wide::splat(PI))
    }
}

/// A highlight around the direction of a mirror.
pub struct Phong;

impl Routine for Phong {
    const NAME: &'static str = "Phong";
    const CLASS: (&'static str, &'static str) = (FILE, "Phong");
    const METHOD: Method = Method::Bsdf;
    const INPUTS: &'static [Input] = SCATTERED;
    const OUTPUTS: usize = 3;
    const PARAMETERS: &'static [Parameter] =
        &[("diffuse", [0.7, 0.4, 0.2]), ("specular", [0.4, 0.5, 0.6]), ("power", [30.0; 3])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let place = ShadingPoint::from_row(row);
        let zero = Wide::splat(0.0);
        let is_lit = place.is_lit & zero.less(place.facing.dot(place.light));
        if !is_lit.any() {
            return black();
        }
        let [diffuse, specular] = [0, 1].map(|i| Vector::uniform(parameters[i].1));
        let power = Wide::splat(parameters[2].1[0]);
        let mirrored = place.ray.normalize().reflect(place.facing);
        let bell = mirrored.dot(place.light).max(zero).power(power);
        let lobe = (power + Wide::splat(2.0)) / Wide::splat(2.0) * bell;
        colors(is_lit, (diffuse + specular * lobe) * (fair(diffuse, specular) / Wide::splat(PI)))
    }
}

/// An elliptical highlight (Ward 1992).
pub struct Ward;

/// The axes of a surface that is brushed along a tangent.
#[inline(always)]
fn brushed<const N: usize>(n: Vector<N>, tangent: Vector<N>) -> [Vector<N>; 3] {
    let x = tangent - n * tangent.dot(n);
    let is_across = x.dot(x).at_most(Wide::splat(1e-6) * tangent.dot(tangent));
    let along = x.normalize();
    if !is_across.any() {
        return [along, n.cross(along), n];
    }
    let x = is_across.choose(n.perpendicular().normalize(), along);
    [x, n.cross(x), n]
}

impl Routine for Ward {
    const NAME: &'static str = "Ward";
    const CLASS: (&'static str, &'static str) = (FILE, "Ward");
    const METHOD: Method = Method::Bsdf;
    const INPUTS: &'static [Input] = BRUSHED;
    const OUTPUTS: usize = 3;
    const PARAMETERS: &'static [Parameter] = &[
        ("diffuse", [0.7, 0.4, 0.2]),
        ("specular", [0.4, 0.5, 0.6]),
        ("roughness_x", [0.1; 3]),
        ("roughness_y", [0.3; 3]),
    ];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let place = ShadingPoint::from_row(row);
        let zero = Wide::splat(0.0);
        let axes = brushed(place.facing, row.vector(12));
        let in_frame = |v: Vector<N>| Vector([0, 1, 2].map(|i| v.dot(axes[i])));
        let (v, l) = (in_frame(-place.ray.normalize()), in_frame(place.light));
        let is_lit = place.is_lit & zero.less(l[2]) & zero.less(v[2]);
        if !is_lit.any() {
            return black();
        }
        let [diffuse, specular] = [0, 1].map(|i| Vector::uniform(parameters[i].1));
        let [rough_x, rough_y] = [2, 3].map(|i| Wide::splat(parameters[i].1[0]));
        let h = v + l;
        let (x, y) = (h[0] / (h[2] * rough_x), h[1] / (h[2] * rough_y));
        let bell = (-(x * x + y * y)).exp() / (Wide::splat(PI) * rough_x * rough_y);
        let square = h[2] * h[2];
        let lobe = bell * h.dot(h) / (square * square);
        colors(is_lit, (diffuse / Wide::splat(PI) + specular * lobe) * fair(diffuse, specular))
    }
}

/// Cloth.
pub struct Velvet;

impl Routine for Velvet {
    const NAME: &'static str = "Velvet";
    const CLASS: (&'static str, &'static str) = (FILE, "Velvet");
    const METHOD: Method = Method::Bsdf;
    const INPUTS: &'static [Input] = SCATTERED;
    const OUTPUTS: usize = 3;
    const PARAMETERS: &'static [Parameter] =
        &[("diffuse", [0.7, 0.4, 0.2]), ("sheen", [0.4, 0.5, 0.6]), ("falloff", [6.0; 3])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let place = ShadingPoint::from_row(row);
        let (zero, one) = (Wide::splat(0.0), Wide::splat(1.0));
        let from = place.facing.dot(place.light);
        let to = -place.facing.dot(place.ray.normalize());
        let is_lit = place.is_lit & zero.less(from) & zero.less(to);
        if !is_lit.any() {
            return black();
        }
        let (diffuse, falloff) = (Vector::uniform(parameters[0].1), Wide::splat(parameters[2].1[0]));
        let fibers = Vector::<N>::uniform(parameters[1].1).each(|x| x.clamp(0.0, 1.0));
        let white = Vector::splat(one);
        let caught = |cosine: Wide<N>| fibers * (one - cosine * cosine).clamp(0.0, 1.0).root().power(falloff);
        let along = ((one - from * from) * (one - to * to)).max(zero).root().power(falloff);
        let through = white - fibers * (Wide::splat(2.0) / (falloff + Wide::splat(2.0)));
        let ground = (white - caught(from)) * (white - caught(to)) * through.inverse();
        let lobe = fibers * ((Wide::splat(0.5) * falloff + one) * along);
        colors(is_lit, (diffuse * ground + lobe) / Wide::splat(PI))
    }
}

/// Smooth glass: where light comes from, and how much of it counts.
pub struct Glass;

impl Routine for Glass {
    const NAME: &'static str = "Dielectric";
    const CLASS: (&'static str, &'static str) = (FILE, "Glass");
    const METHOD: Method = Method::SampleBsdf;
    const INPUTS: &'static [Input] = &[
        (input::RAY_DIRECTION, Type::Vec3),
        ("N", Type::Vec3),
        ("Ng", Type::Vec3),
        (input::RAY_T, Type::F32),
        (input::SEED_X, Type::F32),
        (input::SEED_Y, Type::F32),
    ];
    const OUTPUTS: usize = 6;
    const PARAMETERS: &'static [Parameter] = &[("ior", [1.5; 3]), ("absorption", [0.1, 0.2, 0.3])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let (ior, absorption) = (Wide::splat(parameters[0].1[0]), Vector::uniform(parameters[1].1));
        let [ray, normal, geometric] = [0, 3, 6].map(|at| row.vector(at));
        let (distance, seed) = (row.number(9), row.number(10));
        let (zero, one) = (Wide::splat(0.0), Wide::splat(1.0));
        let (v, n) = (-ray.normalize(), facing(ray, normal));
        let is_inside = zero.less(ray.dot(geometric));
        let index = is_inside.select(one / ior, ior);
        let cosine = v.dot(n);
        // Fresnel's reflection.
        let square = (one - cosine * cosine) / (index * index);
        let beyond = (one - square).root();
        let across = (cosine - index * beyond) / (cosine + index * beyond);
        let along = (index * cosine - beyond) / (index * cosine + beyond);
        let some = Wide::splat(0.5) * (across * across + along * along);
        let share = one.at_most(square).select(one, some);
        let is_reflected = seed.less(share);
        // The ways on.
        let mirrored = (-v).reflect(n);
        let k = one - (one - cosine * cosine) / (index * index);
        let bent = (n * (cosine / index - k.root()) - v / index).normalize();
        let bent = k.less(zero).choose(Vector::splat(zero), bent);
        let mut left = Vector::splat(one);
        if is_inside.any() {
            let way = distance * ray.dot(ray).root();
            left = is_inside.choose((absorption * -way).each(Wide::exp), left);
        }
        let [x, y, z] = is_reflected.choose(mirrored, bent).0;
        let [r, g, b] = is_reflected.choose(left, left / (index * index)).0;
        [x, y, z, r, g, b]
    }
}
