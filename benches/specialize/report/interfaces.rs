//! Interfaces that are specialized one at a time: a diffuse surface with an image, where the facts
//! of the texture (T) and the layout of the vertex attributes (A) are constants or data
//! (Pérard-Gayot 2020, figure 3.5).

use super::frames::{Opened, alternate, job};
use super::{Plan, modes, rounded, shading, speed};
use anyhow::Context;
use serde_json::{Value, json};
use shadewright::render::Job;
use shadewright::scene::Shadows;
use std::fs;

/// Pixels a side.
const SIDE: u32 = 256;

/// Samples of a pixel.
const SPP: u32 = 4;

/// The shader.
const SHADER: &str = "\
surface pasted(uniform string map = \"\")
{
    Ci = Cs * texture(map, s, t) * diffuse(faceforward(normalize(N), I));
    Oi = 1;
}
";

/// A quad with all vertex attributes that a mesh may have.
const SCENE: &str = "\
Format 256 256 1
PixelSamples 2 2
Projection \"orthographic\"
ScreenWindow 0 1 0 1
WorldBegin
LightSource \"distantlight\" 1 \"point from\" [0 0 0] \"point to\" [0.3 -0.4 1]
Surface \"pasted\" \"string map\" [\"checks.png\"]
PointsPolygons [4] [0 1 2 3] \"P\" [0 0 5 0 1 5 1 1 5 1 0 5] \"st\" [0 0 0 1 1 1 1 0] \"N\" [0 0 -1 0 0.2 -1 0.2 0.2 -1 0.2 0 -1] \
\"Cs\" [1 1 1 1 0.8 0.8 0.8 1 0.8 0.8 0.8 1]
WorldEnd
";

/// A frame with each set of facts, on each device: a list with an entry for each device.
pub fn facts(plan: &Plan<'_>) -> anyhow::Result<Value> {
    let folder = plan.folder.join("interfaces");
    fs::create_dir_all(&folder).context("making a folder for a scene")?;
    fs::write(folder.join("pasted.sl"), SHADER).context("writing a shader")?;
    let path = folder.join("pasted.rib");
    fs::write(&path, SCENE).context("writing a scene")?;
    shading::write_checks(&folder)?;
    let modes = modes::interface_modes();
    let load = |mode: &modes::Mode| job(&path, (SIDE, SIDE), SPP, mode.facts, Shadows::Off);
    let jobs = modes.iter().map(load).collect::<anyhow::Result<Vec<Job>>>()?;
    let mut rows = Vec::new();
    for device in &plan.devices {
        let opened = Opened::new(device);
        let open = |job| opened.runner(device.orders()[0], job);
        let mut runners = jobs.iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
        let times = alternate(plan, &mut runners, 1)?;
        let baseline = times.first().map(|times| times.median);
        let row = |(mode, times): (&modes::Mode, &super::frames::Times)| {
            json!({
                "facts": mode.name,
                "frame_ms": rounded(1e3 * times.median),
                "specialized": speed(baseline, Some(times.median)),
            })
        };
        let facts: Vec<Value> = modes.iter().zip(&times).map(row).collect();
        rows.push(json!({ "device": device.name(), "rays": SIDE * SIDE * SPP, "facts": facts }));
        plan.step();
    }
    Ok(rows.into())
}
