//! The viewer: `cargo bench --bench viewer -- NAME`.
//!
//! `view` measures the time from a new view to its image, without a window; `edits` that from an
//! edited parameter to the shading data. `window` measures the
//! processor time of the interface: it opens the built-in scene at 1280 × 800 on a display without
//! a screen (Xvfb), waits until the image is finished, measures while nothing happens, then turns
//! the scene and moves the pointer over all of the window; then it scrolls through the listings of
//! a shader of 2,500 statements. `screenshots` takes the images of the window in the README.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../tests/desktop/mod.rs"]
mod desktop;

mod edits;
mod orbit;

use clap::{Parser, ValueEnum};
use common::{Benchmark, Common};
use desktop::{Button, LONG, Program, Region, keys};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const WINDOW: [u32; 2] = [1280, 800];

/// The longest time for which one look watches what the program does.
const LOOK: Duration = Duration::from_secs(4);

/// Measures the viewer.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Scene or mesh for `view` and `edits`; the built-in scene by default
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// GPU adapter for `view`: the one whose name contains NAME
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Seconds of each part of `window`, and four at most of each look whether the image is finished
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,
    /// Back end for `window`: rpu or gpu
    #[arg(long, value_name = "NAME", default_value = "rpu")]
    backend: String,
    /// Samples a pixel of the image of `window` and `screenshots`; those of the built-in scene by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    spp: Option<u32>,
    /// Folder for `screenshots`
    #[arg(long, value_name = "DIR", default_value = "assets/images")]
    folder: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Name {
    /// Time from a new view to the first and to the full image, and between images while the camera
    /// is dragged
    #[default]
    View,
    /// Time from an edited parameter to its shading data, with uniform code on the host and without
    Edits,
    /// Processor time of the interface, idle and busy
    Window,
    /// Take the images of the README
    Screenshots,
}

impl Benchmark for Arguments {
    const TARGET: &str = "viewer";
    const SMALLEST: &[&str] = &[
        "view --mesh assets/scenes/orthographic.rib",
        "edits --mesh assets/scenes/orthographic.rib",
        "window --seconds 1 --spp 1",
        "screenshots --seconds 1 --spp 1 --folder FOLDER",
    ];

    fn common(&self) -> Common {
        self.common
    }

    fn measure(&self) -> anyhow::Result<Value> {
        let Arguments { name, mesh, adapter, folder, common, .. } = self;
        match name {
            Name::View => return orbit::orbit(mesh.as_deref(), adapter.as_deref(), common.json),
            Name::Edits => return edits::edits(mesh.as_deref(), common.json),
            Name::Window => {
                self.image();
                self.listings();
            }
            Name::Screenshots => self.take_screenshots(folder),
        }
        Ok(Value::Null)
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}

impl Arguments {
    /// The time of each part of `window`.
    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Starts the program with its window on a display of its own.
    fn start(&self, folder: &Path, arguments: &[&str], settings: &Value) -> Program {
        let samples = self.spp.map(|spp| spp.to_string());
        let samples = samples.iter().flat_map(|spp| ["--spp", spp]);
        Program::start(folder, &arguments.iter().copied().chain(samples).collect::<Vec<_>>(), settings)
    }

    /// Waits until the image is finished: nothing changes any more, and the program takes no more
    /// than a tenth of a processor.
    fn until_idle(&self, program: &mut Program) {
        let deadline = Instant::now() + 5 * LONG;
        loop {
            let before = program.look();
            let load = load(program, self.time().min(LOOK));
            if load < 0.1 && program.look().changed(&before, Region::WHOLE) == 0.0 {
                return;
            }
            assert!(Instant::now() < deadline, "the image is never finished");
        }
    }

    /// The window with an image and parameters.
    fn image(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = json!({ "theme": "Dark", "window": WINDOW, "panels": ["Parameters"] });
        let backend = self.backend.as_str();
        let mut program = self.start(folder.path(), &["--backend", backend, "--stats", "--json"], &settings);
        program.until("an image", |seen| seen.colors(Region { x: [0.5, 0.8], y: [0.3, 0.7] }) > 100);
        let start = program.window_time();
        self.until_idle(&mut program);
        let idle = load(&program, self.time());
        println!("nothing happening: {:.2} % of a processor", 100.0 * idle);
        play(&program, self.time());
        let busy = program.window_time() - start;
        let (status, output) = program.close();
        assert_eq!(status, Some(0), "the window closes");
        println!("from the first image on, the window's thread took {busy:.3} s of processor time for its frames:");
        println!("{}", output.trim());
        let times: Value = serde_json::from_str(&output).expect("times of frames as JSON");
        println!("{:.2} ms of processor time a frame, {backend}", 1e3 * busy / times["frames"].as_f64().unwrap_or(1.0));
    }

    /// The window with the listings of a long shader.
    fn listings(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("long.sl"), long_shader()).expect("a shader");
        let scene = "Format 64 48 1\nPixelSamples 1 1\nWorldBegin\nTranslate 0 0 5\nSurface \"long\"\nSphere 1 -1 1 360\nWorldEnd\n";
        std::fs::write(folder.path().join("scene.rib"), scene).expect("a scene");
        let settings = json!({ "theme": "Dark", "window": WINDOW, "panels": ["Program"], "sizes": { "Program": 440 } });
        let arguments = ["scene.rib", "--backend", &self.backend, "--stats", "--json"];
        let mut program = self.start(folder.path(), &arguments, &settings);
        let lines = Region { x: [0.3, 0.9], y: [0.6, 0.9] };
        program.until("the listings", |seen| seen.colors(lines) > 20);
        self.until_idle(&mut program);
        let start = program.window_time();
        let end = Instant::now() + self.time();
        let mut turn = 0;
        while Instant::now() < end {
            let way = if turn % 200 < 150 { Button::WheelDown } else { Button::WheelUp };
            program.display.click(way, program.at(0.1 + 0.2 * (turn % 4) as f32, 0.8));
            std::thread::sleep(Duration::from_millis(16));
            turn += 1;
        }
        let busy = program.window_time() - start;
        println!(
            "scrolling the listings of a long shader: {:.1} % of a processor, {turn} notches",
            100.0 * busy / self.time().as_secs_f64()
        );
        let (status, output) = program.close();
        assert_eq!(status, Some(0), "the window closes");
        println!("{}", output.trim());
    }

    /// Takes two images: of the parameters, and the inspector with a picked pixel; and of the two
    /// back ends side by side.
    fn take_screenshots(&self, folder: &Path) {
        let home = tempfile::tempdir().expect("a folder");
        let settings = json!({
            "theme": "Dark",
            "window": [1200, 700],
            "panels": ["Parameters", "Inspector"],
            "sizes": { "Parameters": 270, "Inspector": 320 },
        });
        let mut program = self.start(home.path(), &["--backend", "rpu"], &settings);
        program.until("an image", |seen| seen.colors(Region { x: [0.4, 0.7], y: [0.3, 0.7] }) > 100);
        self.until_idle(&mut program);
        let before = program.look();
        let sphere = program.at(0.5, 0.52);
        program.display.click(Button::Left, sphere);
        program.until("what the pixel is made of", |seen| {
            seen.changed(&before, Region { x: [0.8, 1.0], y: [0.1, 0.9] }) > 0.02
        });
        self.until_idle(&mut program);
        program.look().write(&folder.join("window.png"));
        for key in [keys::ESCAPE, keys::function(5), keys::function(6), u32::from(b'3')] {
            program.display.key(key);
            self.until_idle(&mut program);
        }
        program.look().write(&folder.join("window-split.png"));
        program.close();
    }
}

/// A shader of 2,500 statements.
fn long_shader() -> String {
    let statement = |i: usize| format!("    x = x * {}.5 + sin(y + {i}); y = y * 0.25 + cos(x * {i}.125);\n", i % 7);
    let body: String = (0..1250).map(statement).collect();
    format!("surface long() {{\n    float x = u, y = v;\n{body}    Ci = color(x, y, 0); Oi = 1;\n}}\n")
}

/// Processors that the program keeps busy for a while.
fn load(program: &Program, time: Duration) -> f64 {
    let (start, before) = (Instant::now(), program.processor_time());
    std::thread::sleep(time);
    (program.processor_time() - before) / start.elapsed().as_secs_f64()
}

/// Turns the scene, and moves the pointer over everything.
fn play(program: &Program, time: Duration) {
    let end = Instant::now() + time;
    let mut turn = 0.0_f32;
    while Instant::now() < end {
        turn += 0.7;
        let around = |turn: f32| program.at(0.65 + 0.2 * turn.cos(), 0.5 + 0.2 * turn.sin());
        program.display.drag(Button::Left, around(turn), around(turn + 0.7), 60);
        for step in 0..30 {
            program.display.point(program.at(step as f32 / 30.0, 0.05 + step as f32 / 40.0));
            std::thread::sleep(Duration::from_millis(8));
        }
    }
}
