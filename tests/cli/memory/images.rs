//! Images and point clouds that ask for much memory.

use crate::memory::{Case, Files};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::{DynamicImage, ImageFormat};
use std::io::{Cursor, Write};

const IMAGE: &str = "image";
const CLOUD: &str = "point cloud";

/// A scene whose surface shows a texture of that name.
fn textured(name: &'static str, bytes: Vec<u8>) -> Files {
    let scene = format!(
        "Format 16 12 1 Projection \"perspective\" Translate 0 0 4 WorldBegin LightSource \"ambientlight\" 1\n\
         Surface \"paintedplastic\" \"texturename\" [\"{name}\"] Sphere 1 -1 1 360 WorldEnd"
    );
    vec![("s.rib", scene.into_bytes()), (name, bytes)]
}

/// A scene whose surface reads a point cloud.
fn with_cloud(bytes: Vec<u8>) -> Files {
    let shader = "surface cloud() { color c = 0; texture3d(\"c.ptc\", P, N, \"_c\", c); Ci = c; }";
    let scene = "Format 16 12 1 Projection \"perspective\" Translate 0 0 4 WorldBegin\n\
                 Surface \"cloud\" Sphere 1 -1 1 360 WorldEnd";
    vec![("s.rib", scene.as_bytes().to_vec()), ("cloud.sl", shader.as_bytes().to_vec()), ("c.ptc", bytes)]
}

/// A PNG of `side` by `side` pixels of `channels` times 16 bits, all 0.
fn png(side: u32, color_type: u8, channels: usize) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8], body: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(body);
        file.extend((body.len() as u32).to_be_bytes());
        file.extend(kind);
        file.extend(body);
        file.extend(crc.sum().to_be_bytes());
    };
    chunk(b"IHDR", &[&side.to_be_bytes()[..], &side.to_be_bytes(), &[16, color_type, 0, 0, 0]].concat());
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row = vec![0; 1 + side as usize * channels * 2];
    (0..side).for_each(|_| encoder.write_all(&row).expect("memory"));
    chunk(b"IDAT", &encoder.finish().expect("memory"));
    chunk(b"IEND", b"");
    file
}

/// A TIFF of `side` by `side` pixels of four times 16 bits, all 0, in one compressed strip (TIFF 6.0,
/// and Adobe's Technical Note 3 on deflate).
fn tiff(side: u32) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row = vec![0; side as usize * 8];
    (0..side).for_each(|_| encoder.write_all(&row).expect("memory"));
    let strip = encoder.finish().expect("memory");
    let (short, long) = (3u16, 4u16);
    // The strip follows the header and the bits of the samples.
    let entries = [
        (256, long, 1, side),
        (257, long, 1, side),
        (258, short, 4, 8),
        (259, short, 1, 8),
        (262, short, 1, 2),
        (273, long, 1, 16),
        (277, short, 1, 4),
        (278, long, 1, side),
        (279, long, 1, strip.len() as u32),
        (284, short, 1, 1),
        (338, short, 1, 2),
    ];
    let padding = strip.len() % 2;
    let directory = (16 + strip.len() + padding) as u32;
    let mut file = b"II*\0".to_vec();
    file.extend(directory.to_le_bytes());
    file.extend([16u16; 4].into_iter().flat_map(u16::to_le_bytes));
    file.extend(strip);
    file.extend(vec![0; padding]);
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, count, value) in entries {
        file.extend(u16::to_le_bytes(tag));
        file.extend(kind.to_le_bytes());
        file.extend(u32::to_le_bytes(count));
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file
}

/// A black image in a format.
fn encoded(image: DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    image.write_to(&mut file, format).expect("memory");
    file.into_inner()
}

/// The side of a square of 2²⁴ pixels for 10 MB, and of fewer for fewer bytes.
fn side(bytes: usize) -> u32 {
    ((bytes as f64 / 10e6 * f64::from(1 << 24)).sqrt() as u32).max(1)
}

/// All cases.
pub fn cases() -> Vec<Case> {
    vec![
        Case::checked(IMAGE, "a PNG of 16 bits with alpha", |n| textured("t.png", png(side(n), 6, 4))),
        Case::checked(IMAGE, "a gray PNG of 16 bits", |n| textured("t.png", png(side(n), 0, 1))),
        Case::checked(IMAGE, "a TIFF of 16 bits with alpha", |n| textured("t.tif", tiff(side(n)))),
        Case::checked(IMAGE, "a JPEG", |n| {
            textured("t.jpg", encoded(DynamicImage::new_rgb8(side(n), side(n)), ImageFormat::Jpeg))
        }),
        Case::checked(IMAGE, "an OpenEXR", |n| {
            textured("t.exr", encoded(DynamicImage::new_rgba32f(side(n), side(n)), ImageFormat::OpenExr))
        }),
        Case::checked(IMAGE, "samples of a texture", |n| {
            textured("t.bake", "0.5 0.5 1 1 1\n".repeat(n / 14).into_bytes())
        }),
        Case::checked(IMAGE, "a PPM", |n| {
            let side = ((n / 3) as f64).sqrt().max(1.0) as usize;
            let pixels = vec![0; 3 * side * side];
            textured("t.ppm", [format!("P6 {side} {side} 255\n").as_bytes(), &pixels].concat())
        }),
        Case::checked(IMAGE, "a PPM as text", |n| {
            let side = ((n / 6) as f64).sqrt().max(1.0) as usize;
            let pixels = "0 ".repeat(3 * side * side);
            textured("t.ppm", format!("P3 {side} {side} 255\n{pixels}").into_bytes())
        }),
        Case::checked(IMAGE, "a Radiance HDR of repeated bytes", |n| {
            let side = side(n).clamp(8, 4096) as usize;
            let runs: Vec<u8> = (0..4)
                .flat_map(|_| (0..side.div_ceil(127)).map(move |i| (i, side)))
                .flat_map(|(i, side)| {
                    let run = (side - 127 * i).min(127) as u8;
                    [128 + run, 0]
                })
                .collect();
            let line = [&[2, 2, (side >> 8) as u8, side as u8][..], &runs].concat();
            let head = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {side} +X {side}\n");
            textured("t.hdr", [head.as_bytes(), &line.repeat(side)].concat())
        }),
        Case::checked(CLOUD, "points in binary", |n| {
            let points = (n / 28).max(1);
            let head = format!(
                "ply\nformat binary_little_endian 1.0\nelement vertex {points}\nproperty float x\nproperty float y\n\
                 property float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty float radius\n\
                 end_header\n"
            );
            with_cloud([head.as_bytes(), &vec![0; 28 * points]].concat())
        }),
        Case::checked(CLOUD, "particles as text", |n| {
            let points = (n / 14).max(1);
            let head = "ATTRIBUTES\nposition radius\nTYPES\nV R\nNUMBER_OF_PARTICLES: ";
            with_cloud(format!("{head}{points}\nBEGIN DATA\n{}", "0 0 0 1\n".repeat(points)).into_bytes())
        }),
    ]
}
