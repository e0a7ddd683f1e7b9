//! The functions of `functions.sl` in plain Rust, for `N` lanes: loops over arrays, which the
//! compiler makes into instructions on vectors. Operations and their order are those of the shading
//! language, so that bits agree; nothing is fused.

mod textured;

use super::super::common::arrays::{each, map, mask, select, square_root};

pub use textured::Textured;

/// Numbers, one a lane.
type F<const N: usize> = [f32; N];
/// Hashes, one a lane.
type H<const N: usize> = [u32; N];
/// Positions or colors: their components, one a lane.
type V<const N: usize> = [F<N>; 3];

/// The data that functions read besides their points.
pub struct Memory {
    /// The memory image, with a texture.
    pub image: Vec<[u32; 4]>,
    /// The address of its descriptor (`texture::layout`).
    pub texture: u32,
}

/// A function of `functions.sl`.
pub trait Shading {
    /// The name in `functions.sl`.
    const NAME: &'static str;

    /// The colors of `N` points.
    fn colors<const N: usize>(memory: &Memory, p: V<N>) -> V<N>;
}

/// Positions or colors, an array for each component.
pub struct Points([Vec<f32>; 3]);

impl Points {
    /// A grid over −2 to 1 and −1.5 to 1.5 with a slope.
    pub fn grid(side: usize) -> Self {
        let across = move |i: usize| i as f32 / side as f32;
        let of = |f: &dyn Fn(f32, f32) -> f32| {
            (0..side * side).map(|i| f(across(i % side), across(i / side))).collect::<Vec<f32>>()
        };
        Self([of(&|u, _| 3.0 * u - 2.0), of(&|_, v| 3.0 * v - 1.5), of(&|u, v| 0.01 * (u + v))])
    }

    /// As many blacks.
    pub fn black(count: usize) -> Self {
        Self([(); 3].map(|()| vec![0.0; count]))
    }

    /// Some of them, from `at` on.
    pub fn part(&self, at: usize, count: usize) -> Self {
        Self([0, 1, 2].map(|axis| self.0[axis][at..at + count].to_vec()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0[0].len()
    }

    /// The points from `at` on, one a lane.
    #[inline(always)]
    pub fn lanes<const N: usize>(&self, at: usize) -> V<N> {
        let mut lanes = [[0.0; N]; 3];
        for (lanes, axis) in lanes.iter_mut().zip(&self.0) {
            lanes.copy_from_slice(&axis[at..at + N]);
        }
        lanes
    }

    /// Replaces those from `at` on.
    #[inline(always)]
    pub fn set_lanes<const N: usize>(&mut self, at: usize, values: V<N>) {
        for (axis, values) in self.0.iter_mut().zip(values) {
            axis[at..at + N].copy_from_slice(&values);
        }
    }

    /// A component of `N` of them, from `at` on.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn block<const N: usize>(&self, axis: usize, at: usize) -> &[f32; N] {
        self.0[axis][at..].first_chunk().expect("as many points")
    }

    /// The same, to be written to.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn block_mut<const N: usize>(&mut self, axis: usize, at: usize) -> &mut [f32; N] {
        self.0[axis][at..].first_chunk_mut().expect("as many points")
    }

    /// The bits of all.
    pub fn bits(&self) -> Vec<[u32; 3]> {
        (0..self.len()).map(|i| [0, 1, 2].map(|axis| self.0[axis][i].to_bits())).collect()
    }
}

/// Shades all points, a multiple of `N`, with AVX2 where the processor has it.
pub fn shade<S: Shading, const N: usize>(memory: &Memory, points: &Points, colors: &mut Points) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which was looked up. Without these lines the eight lanes
        // of `noisy` take 1.6 to 2.2 times as long.
        return unsafe { shade_avx2::<S, N>(memory, points, colors) };
    }
    shade_here::<S, N>(memory, points, colors);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn shade_avx2<S: Shading, const N: usize>(memory: &Memory, points: &Points, colors: &mut Points) {
    shade_here::<S, N>(memory, points, colors);
}

#[inline(always)]
fn shade_here<S: Shading, const N: usize>(memory: &Memory, points: &Points, colors: &mut Points) {
    for at in (0..points.len()).step_by(N) {
        colors.set_lanes(at, S::colors(memory, points.lanes::<N>(at)));
    }
}

/// Four octaves of noise.
pub struct Noisy;

impl Shading for Noisy {
    const NAME: &'static str = "noisy";

    #[inline(always)]
    fn colors<const N: usize>(_: &Memory, p: V<N>) -> V<N> {
        let mut sum = [0.0; N];
        let (mut scale, mut frequency) = (1.0, 1.0);
        for _ in 0..4 {
            let value = noise(map(p, |axis| map(axis, |x| x * frequency)));
            sum = each(|i| sum[i] + (value[i] - 0.5).abs() * scale);
            frequency *= 2.0;
            scale *= 0.5;
        }
        map([(0.1, 0.9), (0.2, 0.7), (0.3, 0.4)], |(base, factor)| map(sum, |s| base + s * factor))
    }
}

/// A loop of 1 to 48 turns, and four ways on behind it: all lanes go all ways that one of them
/// goes.
pub struct Branchy;

impl Shading for Branchy {
    const NAME: &'static str = "branchy";

    #[inline(always)]
    fn colors<const N: usize>(_: &Memory, p: V<N>) -> V<N> {
        let [cx, cy, z] = p;
        let [mut x, mut y, mut n] = [[0.0f32; N]; 3];
        loop {
            let going: H<N> = each(|i| mask((n[i] < 48.0) & (x[i] * x[i] + y[i] * y[i] < 4.0)));
            if going.iter().fold(0, |any, go| any | go) == 0 {
                break;
            }
            let t: F<N> = each(|i| x[i] * x[i] - y[i] * y[i] + cx[i]);
            y = each(|i| select(going[i], 2.0 * x[i] * y[i] + cy[i], y[i]));
            x = each(|i| select(going[i], t[i], x[i]));
            n = each(|i| select(going[i], n[i] + 1.0, n[i]));
        }
        let length: F<N> = each(|i| square_root(x[i] * x[i] + y[i] * y[i]));
        map([(0.02, 0.1, 0.3), (0.05, 0.2, 0.2), (0.1, 0.4, 0.1)], |(few, some, many)| {
            each(|i| {
                let last = select(mask(n[i] < 48.0), length[i] * many, 0.0);
                let later = select(mask(n[i] < 12.0), some + n[i] * z[i], last);
                select(mask(n[i] < 4.0), few * n[i], later)
            })
        })
    }
}

/// The language's noise of a point (`lang::stdlib::noise`), with its constants.
#[inline(always)]
fn noise<const N: usize>(p: V<N>) -> F<N> {
    const AXIS_KEYS: [u32; 3] = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35];
    let floor = map(p, |axis| map(axis, f32::floor));
    let t: V<N> = each(|axis| each(|i| p[axis][i] - floor[axis][i]));
    let fade = map(t, |t| map(t, |t| (t * t) * t * ((t * 6.0 - 15.0) * t + 10.0)));
    let mut hashes = [[0u32; N]; 8];
    for (axis, key) in AXIS_KEYS.into_iter().enumerate() {
        let low = map(floor[axis], |x| x as i32 as u32);
        let sides = [map(low, |c| c.wrapping_mul(key)), map(low, |c| c.wrapping_add(1).wrapping_mul(key))];
        let before = hashes;
        for (corner, hash) in hashes.iter_mut().enumerate().take(2 << axis) {
            let (side, from) = (sides[corner >> axis & 1], before[corner & ((1 << axis) - 1)]);
            *hash = each(|i| round(from[i] ^ side[i]));
        }
    }
    let mut values: [F<N>; 8] = each(|corner| {
        let offset: V<N> = each(|axis| map(t[axis], |t| t - (corner >> axis & 1) as f32));
        gradient_dot(hashes[corner], offset)
    });
    for axis in [2, 1, 0] {
        let half = 1 << axis;
        for k in 0..half {
            let (low, high) = (values[k], values[k + half]);
            values[k] = each(|i| low[i] + (high[i] - low[i]) * fade[axis][i]);
        }
    }
    map(values[0], |sum| (sum * 0.628 + 0.5).clamp(0.0, 1.0))
}

#[inline(always)]
fn round(x: u32) -> u32 {
    let x = x.wrapping_mul(0x7feb_352d);
    x ^ x >> 15
}

#[inline(always)]
fn gradient_dot<const N: usize>(hash: H<N>, offset: V<N>) -> F<N> {
    each(|i| {
        let hash = round(hash[i] ^ 0x27d4_eb2f);
        let part = |axis: usize| {
            let bits = (hash >> (2 + 10 * axis) & 1023) as i32;
            (bits as f32 * (2.0 / 1023.0) - 1.0) * offset[axis][i]
        };
        (part(0) + part(1)) + part(2)
    })
}
