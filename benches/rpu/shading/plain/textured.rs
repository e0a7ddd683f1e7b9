//! Texture lookups in plain Rust, for `N` lanes: the library's filter (`lang::stdlib::texture`)
//! operation by operation, for areas that are quadrilaterals. It takes a descriptor in a memory
//! image (`texture::layout`) and gives the bits that a shader gets; all lanes walk as far as one of
//! them does.

use super::super::super::common::arrays::{each, map, mask, select, square_root};
use super::{F, H, Memory, Shading, V};
use shadewright::lang::stdlib::texture::{MAX_MOMENT, MAX_PROBES};
use shadewright::texture::layout::LEVELS;

/// Three trilinear lookups.
pub struct Textured;

impl Shading for Textured {
    const NAME: &'static str = "textured";

    #[inline(always)]
    fn colors<const N: usize>(memory: &Memory, p: V<N>) -> V<N> {
        let [mut x, mut y, z] = p;
        let mut side: F<N> = map(z, |z| 0.002 + 0.3 * z);
        let mut sum: V<N> = [[0.0; N]; 3];
        for _ in 0..3 {
            let (right, below): (F<N>, F<N>) = (each(|i| x[i] + side[i]), each(|i| y[i] + side[i]));
            let color = texture(memory, [(x, y), (right, y), (right, below), (x, below)]);
            sum = each(|c| each(|i| sum[c][i] + color[c][i]));
            [x, y, side] = map([x, y, side], |number| map(number, |x| x * 1.7));
        }
        map(sum, |channel| map(channel, |x| x * (1.0 / 3.0)))
    }
}

/// The image's mean color in a quadrilateral.
#[inline(always)]
fn texture<const N: usize>(memory: &Memory, corners: [(F<N>, F<N>); 4]) -> V<N> {
    let [a, b, c, d] = corners;
    let (s, t): (F<N>, F<N>) =
        (each(|i| (a.0[i] + b.0[i] + c.0[i] + d.0[i]) * 0.25), each(|i| (a.1[i] + b.1[i] + c.1[i] + d.1[i]) * 0.25));
    let ways: [(F<N>, F<N>); 4] = map(corners, |(x, y)| (each(|i| x[i] - s[i]), each(|i| y[i] - t[i])));
    let area = each(|part| {
        each(|i| {
            let moment = |(x, y): (F<N>, F<N>)| match part {
                0 => x[i] * x[i],
                1 => x[i] * y[i],
                _ => y[i] * y[i],
            };
            moment(ways[0]) + moment(ways[1]) + moment(ways[2]) + moment(ways[3])
        })
    });
    let (color, channels) = filter(memory, s, t, area);
    each(|c| map(color[c], |x| if (c as f32) < channels { x } else { 0.0 }))
}

/// The mean of red, green and blue over an ellipse, and how many channels the image has.
#[inline(always)]
fn filter<const N: usize>(memory: &Memory, s: F<N>, t: F<N>, area: [F<N>; 3]) -> (V<N>, f32) {
    let [width, height, channels, _] = memory.image[memory.texture as usize].map(f32::from_bits);
    let [wrap_s, wrap_t, last, _] = memory.image[memory.texture as usize + 1];
    let periodic = [wrap_s, wrap_t].map(f32::from_bits);
    let walk = walk([width, height], area);

    let bits = map(walk.width, f32::to_bits);
    let exponent = map(bits, |b| (b >> 23).wrapping_sub(127));
    let level = map(exponent, |e| e.min(last));
    let share: F<N> = each(|i| {
        let mantissa = f32::from_bits(bits[i] & 0x007f_ffff | 0x3f80_0000);
        select(mask(exponent[i] < last), mantissa - 1.0, 0.0)
    });
    let record = map(level, |l| memory.texture.wrapping_add(l).wrapping_add(LEVELS));
    let levels = [vectors(memory, record), vectors(memory, map(record, |r| r.wrapping_add(1)))];

    let back = map(walk.probes, |n| (n - 1.0) * 0.5);
    let mut at: [F<N>; 2] = each(|axis| each(|i| [s, t][axis][i] - back[i] * walk.step[axis][i]));
    let mut left = walk.probes;
    let mut sum: V<N> = [[0.0; N]; 3];
    loop {
        let going: H<N> = map(left, |left| mask(left > 0.0));
        if going.iter().fold(0, |any, go| any | go) == 0 {
            break;
        }
        let inside: [F<N>; 2] = each(|axis| map(at[axis], |x| x - periodic[axis] * x.floor()));
        let [fine, coarse] = [tap(memory, levels[0], inside), tap(memory, levels[1], inside)];
        sum = each(|c| each(|i| select(going[i], sum[c][i] + mix(fine[c][i], coarse[c][i], share[i]), sum[c][i])));
        at = each(|axis| each(|i| at[axis][i] + walk.step[axis][i]));
        left = map(left, |left| left - 1.0);
    }
    (map(sum, |channel| each(|i| channel[i] * (1.0 / walk.probes[i]))), channels)
}

/// Lookups along the major axis of an ellipse: how many, from one to the next, and how wide they
/// are in texels.
struct Walk<const N: usize> {
    probes: F<N>,
    step: [F<N>; 2],
    width: F<N>,
}

#[inline(always)]
fn walk<const N: usize>([w, h]: [f32; 2], [ss, st, tt]: [F<N>; 3]) -> Walk<N> {
    let mut walk = Walk { probes: [0.0; N], step: [[0.0; N]; 2], width: [0.0; N] };
    for i in 0..N {
        let p = clamp(ss[i], 0.0, MAX_MOMENT) * w * w;
        let q = clamp(st[i], -MAX_MOMENT, MAX_MOMENT) * w * h;
        let r = clamp(tt[i], 0.0, MAX_MOMENT) * h * h;
        let mean = (p + r) * 0.5;
        let spread = (p - r) * 0.5;
        let root = square_root(spread * spread + q * q);
        let major = greater(1.0, mean + root);
        let minor = greater(1.0, (p * r - q * q) * (1.0 / major));
        let (long, short) = (square_root(major), square_root(minor));
        let probes = clamp((long * (1.0 / short) + 0.99).floor(), 1.0, MAX_PROBES);
        let length = long * (1.0 / probes);
        let wide = mask(spread >= 0.0);
        let (x, y) = (select(wide, root + spread, q), select(wide, q, root - spread));
        let scale = 1.0 / (x * x + y * y).sqrt() * length;
        let several = mask(probes > 1.0);
        walk.probes[i] = probes;
        walk.step[0][i] = select(several, x * scale, 0.0) * (1.0 / w);
        walk.step[1][i] = select(several, y * scale, 0.0) * (1.0 / h);
        walk.width[i] = greater(short, length);
    }
    walk
}

/// The bilinear value of a level, given by its record, at a place.
#[inline(always)]
fn tap<const N: usize>(memory: &Memory, [width, height, row, origin]: [H<N>; 4], place: [F<N>; 2]) -> V<N> {
    let size = map([width, height], |side| map(side, f32::from_bits));
    let texels: [F<N>; 2] = each(|axis| {
        each(|i| {
            let size = size[axis][i];
            clamp(place[axis][i] * size - 0.5, -1.0, size)
        })
    });
    let low: [F<N>; 2] = each(|axis| each(|i| lesser(size[axis][i] - 1.0, texels[axis][i].floor())));
    let [across, down]: [F<N>; 2] = each(|axis| each(|i| texels[axis][i] - low[axis][i]));
    let upper: H<N> = each(|i| {
        let number = low[1][i] * row[i] as f32 + low[0][i];
        origin[i].wrapping_add(number as i32 as u32)
    });
    let lower: H<N> = each(|i| upper[i].wrapping_add(row[i]));
    let pair = |at: H<N>| [vectors(memory, at), vectors(memory, map(at, |a| a.wrapping_add(1)))];
    let ([a, b], [c, d]) = (pair(upper), pair(lower));
    each(|channel| {
        each(|i| {
            let value = |texel: &[H<N>; 4]| f32::from_bits(texel[channel][i]);
            let (top, bottom) = (mix(value(&a), value(&b), across[i]), mix(value(&c), value(&d), across[i]));
            mix(top, bottom, down[i])
        })
    })
}

/// The vectors at addresses of the memory image.
#[inline(always)]
fn vectors<const N: usize>(memory: &Memory, addresses: H<N>) -> [H<N>; 4] {
    let mut components = [[0; N]; 4];
    for i in 0..N {
        let vector = memory.image[addresses[i] as usize];
        (0..4).for_each(|c| components[c][i] = vector[c]);
    }
    components
}

#[inline(always)]
fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

#[inline(always)]
fn lesser(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

#[inline(always)]
fn clamp(x: f32, low: f32, high: f32) -> f32 {
    lesser(high, greater(low, x))
}
