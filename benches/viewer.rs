//! What the window itself costs, beside the picture: processor time of a frame of the interface, and of a window in which nothing happens.
//!
//! `cargo bench --bench viewer [-- --backend gpu|rpu] [--seconds N]` opens the built-in scene at 1280 × 800 on a display without a screen, leaves it alone for as long as it takes
//! to finish and N seconds more (10 by default), then turns the scene and moves the pointer over everything for N seconds.
//!
//! `cargo bench --bench viewer -- --screenshots DIR` takes the README's pictures of the window instead.

#[path = "../tests/desktop/mod.rs"]
mod desktop;

use desktop::{Button, LONG, Program, Region, keys};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const WINDOW: [u32; 2] = [1280, 800];

fn main() {
    let mut seconds = 10;
    let mut backend = "rpu".to_string();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--seconds" => seconds = given.next().and_then(|text| text.parse().ok()).expect("--seconds wants a number"),
            "--backend" => backend = given.next().expect("--backend wants gpu or rpu"),
            "--screenshots" => {
                let folder = given.next().expect("--screenshots wants a folder");
                return take_screenshots(Path::new(&folder));
            }
            // What cargo adds.
            _ => {}
        }
    }
    let time = Duration::from_secs(seconds);
    let folder = tempfile::tempdir().expect("a folder");
    let settings = json!({ "theme": "Dark", "window": WINDOW, "panels": ["Parameters"] });
    let arguments = ["--backend", backend.as_str(), "--stats", "--json"];
    let mut program = Program::start(folder.path(), &arguments, &settings);
    program.until("a picture", |seen| seen.colors(Region { x: [0.5, 0.8], y: [0.3, 0.7] }) > 100);
    until_idle(&program);
    let idle = load(&program, time);
    play(&program, time);
    let (status, output) = program.close();
    assert_eq!(status, Some(0), "the window closes");
    let times: Value = serde_json::from_str(&output).unwrap_or_else(|e| panic!("{e}: {output}"));
    println!("{} frames of the interface, {backend}", times["frames"]);
    println!("half of them took less than {:.2} ms of the window's thread", times["median_ms"].as_f64().unwrap_or(0.0));
    println!("99 of 100 took less than {:.2} ms", times["p99_ms"].as_f64().unwrap_or(0.0));
    println!("nothing happening: {:.2} % of a processor", 100.0 * idle);
}

/// Takes two pictures: of the parameters, and the inspector with a picked pixel; and of the two machines side by side over their times.
fn take_screenshots(folder: &Path) {
    let home = tempfile::tempdir().expect("a folder");
    let settings = json!({
        "theme": "Dark",
        "window": [1000, 640],
        "panels": ["Parameters", "Inspector"],
        "sizes": { "Parameters": 230, "Inspector": 280 },
    });
    let mut program = Program::start(home.path(), &["--backend", "rpu"], &settings);
    program.until("a picture", |seen| seen.colors(Region { x: [0.4, 0.7], y: [0.3, 0.7] }) > 100);
    until_idle(&program);
    let before = program.look();
    let sphere = program.at(0.5, 0.52);
    program.display.click(Button::Left, sphere);
    program.until("what the pixel is made of", |seen| {
        seen.changed(&before, Region { x: [0.8, 1.0], y: [0.1, 0.9] }) > 0.02
    });
    until_idle(&program);
    program.look().write(&folder.join("window.png"));
    for key in [keys::ESCAPE, keys::function(5), keys::function(6), keys::function(8), u32::from(b'3')] {
        program.display.key(key);
        std::thread::sleep(Duration::from_millis(300));
    }
    until_idle(&program);
    program.look().write(&folder.join("window-split.png"));
    program.close();
}

/// Processors that the program keeps busy for a while.
fn load(program: &Program, time: Duration) -> f64 {
    let (start, before) = (Instant::now(), program.processor_time());
    std::thread::sleep(time);
    (program.processor_time() - before) / start.elapsed().as_secs_f64()
}

/// Waits until the picture is finished: the program takes no more than a tenth of a processor.
fn until_idle(program: &Program) {
    let deadline = Instant::now() + 5 * LONG;
    while load(program, Duration::from_secs(2)) > 0.1 {
        assert!(Instant::now() < deadline, "the picture is never finished");
    }
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
