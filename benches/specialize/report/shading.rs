//! Shading alone: Phong with no texture, one of the diffuse color, one of the highlight, and both
//! (Pérard-Gayot 2020, figure 3.4).
//!
//! One shader has all four as cases of its parameters. An image has 64×64 pixels, each on a quad of
//! its own, and no shadows; the quads have one case, or the four: *sorted*, a quarter of the image
//! each, or *unsorted*, so that of four neighbors each has another. The time of the same image with a
//! constant color is subtracted: what remains is shading.

use super::frames::{Device, Opened, alternate, job};
use super::modes::Mode;
use super::{Plan, rounded, speed};
use anyhow::Context;
use serde_json::{Map, Value, json};
use shadewright::image::file as image_file;
use shadewright::image::{Channels, Image};
use shadewright::render::Job;
use shadewright::scene::Shadows;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Pixels a side, and quads.
pub const SIDE: u32 = 64;
/// How many batches there are: one ray a pixel, 4096 in all, and `--batch`.
pub const BATCHES: usize = 2;
/// Texels a side of the checkerboard.
const TEXELS: u32 = 1024;
/// Frames in one measurement, so that it takes milliseconds, for the small batch.
const FRAMES: usize = 8;

/// The shader: an empty name is no texture.
const SHADER: &str = "\
surface cases(color kd = 0.5, ks = 0.3; float ns = 96; uniform string kdmap = \"\", ksmap = \"\")
{
    normal n = faceforward(normalize(N), I);
    color d = kd;
    color h = ks;
    if (kdmap != \"\")
        d *= texture(kdmap, s, t);
    if (ksmap != \"\")
        h *= texture(ksmap, s, t);
    Ci = d * diffuse(n) + h * phong(n, -normalize(I), ns);
    Oi = 1;
}
";

/// The layouts of the cases over the quads, by their names in tables.
const LAYOUTS: [&str; 7] = ["constant", "S0", "S1", "S2", "S3", "sorted", "unsorted"];

/// The case of a quad; `None` is a constant color.
pub fn case(layout: usize, i: u32, j: u32) -> Option<u32> {
    match layout {
        0 => None,
        5 => Some(2 * (2 * j / SIDE) + 2 * i / SIDE),
        6 => Some((i + 2 * j) % 4),
        one => Some(one as u32 - 1),
    }
}

/// The scene of a layout.
fn rib(layout: usize) -> String {
    let mut rib = format!(
        "Format {SIDE} {SIDE} 1\nPixelSamples 1 1\nProjection \"orthographic\"\nScreenWindow 0 {SIDE} 0 {SIDE}\nWorldBegin\n\
         LightSource \"distantlight\" 1 \"point from\" [0 0 0] \"point to\" [0.3 -0.4 1]\n"
    );
    for which in [None, Some(0), Some(1), Some(2), Some(3)] {
        let quads: Vec<(u32, u32)> = (0..SIDE * SIDE).map(|k| (k % SIDE, k / SIDE)).collect();
        let quads: Vec<_> = quads.into_iter().filter(|&(i, j)| case(layout, i, j) == which).collect();
        if quads.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = match which {
            None => writeln!(rib, "Surface \"constant\""),
            Some(case) => {
                let map = |bit: u32| if case & bit != 0 { "checks.png" } else { "" };
                writeln!(
                    rib,
                    "Surface \"cases\" \"color kd\" [0.6 0.5 0.4] \"color ks\" [0.3 0.3 0.3] \"float ns\" [96] \
                     \"string kdmap\" [\"{}\"] \"string ksmap\" [\"{}\"]",
                    map(1),
                    map(2)
                )
            }
        };
        rib.push_str(&polygons(&quads));
    }
    rib.push_str("WorldEnd\n");
    rib
}

/// Squares of one unit, with texture coordinates from 0 to 1 over the whole image.
fn polygons(quads: &[(u32, u32)]) -> String {
    let corners = || quads.iter().flat_map(|&(i, j)| [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]);
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(" ");
    let counts = list(&mut quads.iter().map(|_| "4".to_string()));
    let indices = list(&mut (0..4 * quads.len()).map(|i| i.to_string()));
    let points = list(&mut corners().map(|(i, j)| format!("{i} {j} 5")));
    let places = list(&mut corners().map(|(i, j)| format!("{} {}", i as f32 / SIDE as f32, j as f32 / SIDE as f32)));
    format!("PointsPolygons [{counts}] [{indices}] \"P\" [{points}] \"st\" [{places}]\n")
}

/// A board of 8×8 fields.
pub fn write_checks(folder: &Path) -> anyhow::Result<()> {
    let texel = |i: u32| {
        let field = (i % TEXELS) * 8 / TEXELS + (i / TEXELS) * 8 / TEXELS;
        [[0.8, 0.7, 0.5, 1.0], [0.2, 0.3, 0.4, 1.0]][(field % 2) as usize]
    };
    let rgba = (0..TEXELS * TEXELS).map(texel).collect();
    let image = Image { width: TEXELS, height: TEXELS, rgba, channels: Channels::Rgb };
    Ok(image_file::write(&folder.join("checks.png"), &image)?)
}

/// Writes the scenes of all layouts.
fn write(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = folder.join("shading");
    fs::create_dir_all(&folder).context("making a folder for the scenes")?;
    fs::write(folder.join("cases.sl"), SHADER).context("writing a shader")?;
    write_checks(&folder)?;
    let scene = |(layout, name): (usize, &&str)| {
        let path = folder.join(format!("{name}.rib"));
        fs::write(&path, rib(layout)).context("writing a scene")?;
        Ok(path)
    };
    LAYOUTS.iter().enumerate().map(scene).collect()
}

/// Both batches on each device: a list with an entry for each of both.
pub(super) fn batches(plan: &Plan<'_>) -> anyhow::Result<Value> {
    let scenes = write(&plan.folder)?;
    // The baseline, and what specialized means.
    let modes = [&plan.modes[0], &plan.modes[plan.modes.len() - 1]];
    let large = plan.options.batch.div_ceil(SIDE * SIDE);
    let mut rows = Vec::new();
    for (spp, frames) in [(1, FRAMES), (large, 1)] {
        let jobs = modes.map(|mode| {
            let load = |path: &PathBuf| job(path, (SIDE, SIDE), spp, mode.facts, Shadows::Off);
            scenes.iter().map(load).collect::<anyhow::Result<Vec<Job>>>()
        });
        let [baseline, specialized] = jobs;
        let jobs = [baseline?, specialized?];
        for device in &plan.devices {
            rows.push(batch(plan, device, modes, &jobs, (spp, frames))?);
            plan.step();
        }
    }
    Ok(rows.into())
}

fn batch(
    plan: &Plan<'_>,
    device: &Device,
    modes: [&Mode; 2],
    jobs: &[Vec<Job>; 2],
    (spp, frames): (u32, usize),
) -> anyhow::Result<Value> {
    let (opened, order) = (Opened::new(device), device.orders()[0]);
    let all = jobs.iter().flatten();
    let mut runners = all.map(|job| opened.runner(order, job)).collect::<anyhow::Result<Vec<_>>>()?;
    let times = alternate(plan, &mut runners, frames)?;
    let rays = f64::from(SIDE * SIDE * spp);
    let of = |mode: usize, layout: usize| times[mode * LAYOUTS.len() + layout].median;
    // Both are noisy: what is not longer than the constant color has no time of its own.
    let shading = |mode: usize, layout: usize| Some(of(mode, layout) - of(mode, 0)).filter(|time| *time > 0.0);
    let rows: Vec<Value> = (1..LAYOUTS.len())
        .map(|layout| {
            let ns = |mode: usize| shading(mode, layout).map(|time| rounded(1e9 * time / rays));
            let frame = |mode: usize| rounded(1e3 * of(mode, layout));
            let by_mode = |value: &dyn Fn(usize) -> Value| -> Value {
                modes.iter().enumerate().map(|(i, mode)| (mode.name.clone(), value(i))).collect::<Map<_, _>>().into()
            };
            json!({
                "case": LAYOUTS[layout],
                "ns_a_ray": by_mode(&|mode| json!(ns(mode))),
                "frame_ms": by_mode(&frame),
                "specialized": speed(shading(0, layout), shading(1, layout)),
                "specialized_frame": speed(Some(of(0, layout)), Some(of(1, layout))),
            })
        })
        .collect();
    Ok(json!({
        "device": device.name(),
        "rays": SIDE * SIDE * spp,
        "constant_ms": rounded(1e3 * of(0, 0)),
        "cases": rows,
        "sorted": { modes[0].name.clone(): speed(shading(0, 6), shading(0, 5)), modes[1].name.clone(): speed(shading(1, 6), shading(1, 5)) },
    }))
}
