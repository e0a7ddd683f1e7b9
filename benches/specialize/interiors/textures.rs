//! Images of the interiors, made from integer noise: the same texels every time.

use shadewright::image::color::decode_srgb;
use shadewright::image::{Channels, Image};
use shadewright_base::random::{hash, unit};

/// Width and height of the images, in texels.
pub const SIDE: u32 = 256;

/// A color in sRGB.
type Color = [f32; 3];

/// An image: its name, which is that of its file, and its colors by texture coordinates.
pub struct Texture {
    /// The name of the texture.
    pub name: &'static str,
    color: fn(f32, f32) -> Color,
}

/// All images.
pub static TEXTURES: &[Texture] = &[
    Texture { name: "oak", color: |u, v| boards(u, v, [0.72, 0.54, 0.34], [0.5, 0.33, 0.19]) },
    Texture { name: "walnut", color: |u, v| boards(u, v, [0.42, 0.28, 0.18], [0.24, 0.15, 0.1]) },
    Texture { name: "parquet", color: parquet },
    Texture { name: "plaster", color: |u, v| scaled([0.93, 0.9, 0.85], 0.9 + 0.12 * clouds(u, v, 8, 1)) },
    Texture { name: "wallpaper", color: wallpaper },
    Texture { name: "marble", color: marble },
    Texture { name: "terrazzo", color: terrazzo },
    Texture { name: "rug", color: rug },
    Texture { name: "linen", color: |u, v| weave(u, v, [0.82, 0.78, 0.7], [0.68, 0.64, 0.55]) },
    Texture { name: "tweed", color: |u, v| weave(u, v, [0.42, 0.46, 0.5], [0.25, 0.28, 0.33]) },
    Texture { name: "leather", color: |u, v| scaled([0.5, 0.27, 0.16], 0.7 + 0.5 * clouds(u, v, 24, 4)) },
    Texture { name: "azulejo", color: azulejo },
    Texture { name: "landscape", color: landscape },
    Texture { name: "abstract", color: |u, v| blocks(u, v, 11) },
    Texture { name: "abstract2", color: |u, v| blocks(u, v, 29) },
    Texture { name: "spines", color: spines },
    Texture { name: "scratches", color: |u, v| [0.6 + 0.4 * noise(4.0 * u, 90.0 * v, 97); 3] },
];

/// The image of a name, linear.
pub fn image(name: &str) -> Option<Image> {
    let texture = TEXTURES.iter().find(|t| t.name == name)?;
    let texel = |i: u32| {
        let [x, y] = [i % SIDE, i / SIDE].map(|k| (k as f32 + 0.5) / SIDE as f32);
        let [r, g, b] = (texture.color)(x, y).map(|c| decode_srgb(c.clamp(0.0, 1.0)));
        [r, g, b, 1.0]
    };
    Some(Image { width: SIDE, height: SIDE, rgba: (0..SIDE * SIDE).map(texel).collect(), channels: Channels::Rgb })
}

/// A random number of a cell of a lattice, from 0 to 1.
fn cell(x: i32, y: i32, seed: u32) -> f32 {
    unit(hash(hash(hash(seed) ^ x as u32) ^ y as u32))
}

/// Value noise on the integers, from 0 to 1.
fn noise(x: f32, y: f32, seed: u32) -> f32 {
    let (i, j) = (x.floor(), y.floor());
    let [s, t] = [x - i, y - j].map(|f| f * f * (3.0 - 2.0 * f));
    let (i, j) = (i as i32, j as i32);
    let row = |j| cell(i, j, seed) * (1.0 - s) + cell(i + 1, j, seed) * s;
    row(j) * (1.0 - t) + row(j + 1) * t
}

/// Noise at three sizes, from 0 to 1.
fn clouds(u: f32, v: f32, size: u32, seed: u32) -> f32 {
    let octave = |k: u32| noise((size << k) as f32 * u, (size << k) as f32 * v, seed + k) / (1 << k) as f32;
    (0..3).map(octave).sum::<f32>() / 1.75
}

fn mix(a: Color, b: Color, share: f32) -> Color {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * share)
}

fn scaled(a: Color, factor: f32) -> Color {
    a.map(|x| x * factor)
}

/// Any color, by a number.
fn hue(x: f32) -> Color {
    [0.0, 0.33, 0.67].map(|shift| 0.5 + 0.4 * (std::f32::consts::TAU * (x + shift)).cos())
}

/// The grain of a board, from 0 to 1.
fn grain(u: f32, v: f32, seed: u32) -> f32 {
    0.6 * noise(4.0 * u, 48.0 * v, seed) + 0.4 * noise(12.0 * u, 160.0 * v, seed + 1)
}

fn boards(u: f32, v: f32, light: Color, dark: Color) -> Color {
    let row = (4.0 * v).floor();
    let (across, along) = (4.0 * v - row, (u + 0.37 * row).fract());
    if across < 0.015 || along < 0.005 {
        return scaled(dark, 0.5);
    }
    let tone = 0.85 + 0.3 * cell(row as i32, 0, 7);
    scaled(mix(light, dark, grain(u + row, v, 13)), tone)
}

fn parquet(u: f32, v: f32) -> Color {
    let (x, y) = (4.0 * u, 4.0 * v);
    let (i, j) = (x.floor(), y.floor());
    let (mut s, mut t) = (x - i, y - j);
    if (i + j) % 2.0 == 0.0 {
        (s, t) = (t, s);
    }
    let board = (4.0 * t).floor();
    if 4.0 * t - board < 0.05 || s < 0.012 {
        return [0.2, 0.13, 0.08];
    }
    let tone = 0.75 + 0.4 * cell(i as i32 * 4 + board as i32, j as i32, 3);
    scaled(mix([0.72, 0.5, 0.3], [0.5, 0.32, 0.18], grain(s, t, 5 + board as u32)), tone)
}

fn wallpaper(u: f32, v: f32) -> Color {
    let (ground, figure) = ([0.84, 0.8, 0.68], [0.58, 0.64, 0.52]);
    let row = (6.0 * v).floor();
    let (x, y) = ((6.0 * u + 0.5 * (row % 2.0)).fract() - 0.5, 6.0 * v - row - 0.5);
    let (radius, angle) = (x.hypot(y), y.atan2(x));
    let petal = 0.3 + 0.1 * (5.0 * angle).cos();
    if radius < 0.07 || (radius < petal && radius > 0.12) { figure } else { ground }
}

fn marble(u: f32, v: f32) -> Color {
    let bend = clouds(u, v, 4, 21);
    let vein = (std::f32::consts::TAU * (2.0 * u + v + 2.2 * bend)).sin().abs();
    mix([0.42, 0.44, 0.48], [0.92, 0.91, 0.89], vein.powf(0.35))
}

fn terrazzo(u: f32, v: f32) -> Color {
    let mut color = [0.8, 0.78, 0.74];
    for (size, seed) in [(14.0, 41), (26.0, 42)] {
        let (i, j) = ((size * u).floor(), (size * v).floor());
        let center = [1, 2].map(|k| 0.25 + 0.5 * cell(i as i32, j as i32, seed + 10 * k));
        let (x, y) = (size * u - i - center[0], size * v - j - center[1]);
        if x.abs() + 0.6 * y.abs() < 0.1 + 0.2 * cell(i as i32, j as i32, seed) {
            color = mix(hue(cell(i as i32, j as i32, seed + 5)), [0.5; 3], 0.45);
        }
    }
    color
}

fn rug(u: f32, v: f32) -> Color {
    let border = u.min(1.0 - u).min(v).min(1.0 - v);
    let fiber = 0.85 + 0.3 * noise(128.0 * u, 128.0 * v, 31);
    let color = match border {
        b if b < 0.03 => [0.2, 0.12, 0.12],
        b if b < 0.1 => {
            if ((u + v) * 16.0).fract() < 0.5 {
                [0.62, 0.16, 0.14]
            } else {
                [0.85, 0.72, 0.5]
            }
        }
        b if b < 0.13 => [0.18, 0.2, 0.34],
        _ => {
            let (x, y) = ((5.0 * u).fract() - 0.5, (5.0 * v).fract() - 0.5);
            match x.abs() + y.abs() {
                d if d < 0.15 => [0.85, 0.72, 0.5],
                d if d < 0.35 => [0.18, 0.2, 0.34],
                _ => [0.55, 0.14, 0.13],
            }
        }
    };
    scaled(color, fiber)
}

fn weave(u: f32, v: f32, warp: Color, weft: Color) -> Color {
    let (x, y) = (40.0 * u, 40.0 * v);
    let over = (x.floor() + y.floor()) % 2.0 == 0.0;
    let across = if over { y.fract() } else { x.fract() };
    let tone = 0.6 + 0.4 * (std::f32::consts::PI * across).sin();
    scaled(if over { warp } else { weft }, tone * (0.9 + 0.2 * noise(90.0 * u, 90.0 * v, 51)))
}

fn azulejo(u: f32, v: f32) -> Color {
    let (white, blue, joint) = ([0.92, 0.93, 0.94], [0.16, 0.33, 0.62], [0.72, 0.71, 0.68]);
    let (s, t) = ((4.0 * u).fract(), (4.0 * v).fract());
    if s.min(t) < 0.03 {
        return joint;
    }
    let (x, y) = ((s - 0.5).abs(), (t - 0.5).abs());
    let rings = [(x.hypot(y), 0.42, 0.36), (x.hypot(y), 0.16, 0.0), ((x - 0.5).hypot(y - 0.5), 0.22, 0.14)];
    if rings.iter().any(|&(d, outer, inner)| d < outer && d >= inner) { blue } else { white }
}

fn landscape(u: f32, v: f32) -> Color {
    let ridge = |height: f32, size: f32, seed: u32| height + 0.22 * noise(size * u, 0.5, seed);
    if v > ridge(0.68, 6.0, 63) {
        return scaled([0.3, 0.42, 0.18], 0.7 + 0.6 * noise(60.0 * u, 90.0 * v, 64));
    }
    if v > ridge(0.42, 3.0, 61) {
        return mix([0.32, 0.4, 0.46], [0.46, 0.52, 0.5], v);
    }
    let sun = (u - 0.7).hypot(v - 0.2);
    if sun < 0.07 { [0.98, 0.9, 0.62] } else { mix([0.4, 0.58, 0.8], [0.95, 0.82, 0.66], 1.8 * v) }
}

/// Blocks of color with black bars between them.
fn blocks(u: f32, v: f32, seed: u32) -> Color {
    let cut = |k: i32| 0.2 + 0.6 * cell(k, 0, seed);
    let mut bars = [cut(0), cut(1)].into_iter().map(|c| (u - c).abs()).chain([(v - cut(2)).abs(), (v - cut(3)).abs()]);
    if bars.any(|d| d < 0.012) {
        return [0.08; 3];
    }
    let column = i32::from(u > cut(0)) + i32::from(u > cut(1));
    let row = i32::from(v > cut(2)) + i32::from(v > cut(3));
    let pick = cell(column, row, seed + 1);
    if pick < 0.45 { [0.93, 0.91, 0.85] } else { mix(hue(2.7 * pick), [0.6, 0.4, 0.2], 0.2) }
}

/// The backs of a row of books.
fn spines(u: f32, v: f32) -> Color {
    let book = (16.0 * u).floor();
    let across = 16.0 * u - book;
    let tone = mix(hue(cell(book as i32, 1, 81)), [0.35, 0.3, 0.25], 0.5);
    if !(0.06..=0.94).contains(&across) {
        return scaled(tone, 0.3);
    }
    let title = 0.2 + 0.3 * cell(book as i32, 2, 82);
    if (v - title).abs() < 0.08 || (v - 0.85).abs() < 0.015 { [0.85, 0.76, 0.5] } else { tone }
}
