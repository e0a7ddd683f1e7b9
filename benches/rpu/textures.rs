//! Texture lookups on the RPU, trilinear and anisotropic: nanoseconds each, of one thread.

use crate::common::{RUNS, median, render_error, rounded, scene_job, single_thread};
use anyhow::Context;
use serde_json::{Map, Value, json};
use shadewright::image::file as image_file;
use shadewright::image::{Channels, Image};
use shadewright::render::rpu::{Loaded, draw};
use std::fs;
use std::time::Instant;

/// Width and height of the image.
pub const SIDE: u32 = 128;
/// Texels of the texture for each pixel of the image, on a side.
const TEXELS: u32 = 8;

/// Lookups per pixel.
const LOOKUPS: u32 = 64;

/// The kinds of lookups that are measured: a name, and what an iteration of the loop computes at
/// `(x, y)`; `e` is the side of a texel. The first is the loop without a lookup.
const KINDS: [(&str, &str); 4] = [
    ("loop_alone", "color(x, y, 0)"),
    ("trilinear", "texture(\"t.png\", x, y, x + 3 * e, y, x + 3 * e, y + 3 * e, x, y + 3 * e)"),
    ("anisotropic_4", "texture(\"t.png\", x, y, x + 12 * e, y, x + 12 * e, y + 3 * e, x, y + 3 * e)"),
    ("anisotropic_16", "texture(\"t.png\", x, y, x + 48 * e, y, x + 48 * e, y + 3 * e, x, y + 3 * e)"),
];

/// Nanoseconds per lookup.
///
/// # Errors
/// The errors of rendering.
pub fn lookups(side: u32) -> anyhow::Result<Value> {
    let texels = TEXELS * side;
    let folder = tempfile::tempdir().context("making a folder for the scene")?;
    let path = folder.path().join("scene.rib");
    fs::write(&path, "Projection \"look.sl:look\"\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n")
        .context("writing a scene")?;
    let texel = |i: u32| [(i % 251) as f32 / 250.0, (i % 13) as f32 / 12.0, (i / 7 % 17) as f32 / 16.0, 1.0];
    let rgba = (0..texels * texels).map(texel).collect();
    let texture = Image { width: texels, height: texels, rgba, channels: Channels::Rgb };
    image_file::write(&folder.path().join("t.png"), &texture)?;
    let single = single_thread()?;
    let mut kinds = Vec::new();
    for (name, value) in KINDS {
        let source = format!(
            "color look(point p) {{
                color sum = 0; float i = 0; float e = 1 / {texels};
                while (i < {LOOKUPS}) {{
                    float x = xcomp(p) + 0.618034 * i; float y = ycomp(p) + 0.381966 * i;
                    sum += {value}; i += 1;
                }}
                return sum / {LOOKUPS};
            }}"
        );
        fs::write(folder.path().join("look.sl"), source).context("writing a shader")?;
        let job = scene_job(&path, (side, side))?;
        let program = &job.program;
        let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries);
        let loaded = loaded.map_err(|e| render_error(&e, &program.sources))?;
        kinds.push((name, job, loaded, Vec::new()));
    }
    for run in 0..=RUNS {
        for (_, job, loaded, times) in &mut kinds {
            let start = Instant::now();
            let drawn = single.install(|| draw(job, loaded, &|_| {}));
            drawn.map_err(|e| render_error(&e, &job.program.sources))?;
            if run > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    let count = f64::from(side * side * LOOKUPS);
    let mut results = Map::new();
    results.insert("texture".to_string(), json!(format!("{texels} x {texels}")));
    let alone = kinds.first().map_or(0.0, |k| median(k.3.clone()));
    for (name, _, _, times) in kinds.into_iter().skip(1) {
        results.insert(format!("{name}_ns"), rounded((median(times) - alone) / count * 1e9));
    }
    Ok(Value::Object(results))
}
