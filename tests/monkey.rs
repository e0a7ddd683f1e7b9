//! Random input: keys, clicks, drags, wheels, sizes of the window, dropped files and saves of all
//! kinds, for as long as is asked. The program must not panic or end, its window must answer, and
//! its memory must stay flat.
//!
//! `cargo test --test monkey -- [--seconds N] [--backend gpu|rpu] [--seed N]`; without a back end
//! both have their turn. The same seed gives the same events. Nothing that it does can write a file
//! outside its own folder: the menus and the dialog that saves are left alone, and nothing is
//! confirmed by keys.

mod desktop;

use desktop::{Button, LONG, Program, Region, keys};
use serde_json::json;
use shadewright::ir::random::Random;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "cargo test --test monkey -- [--seconds N] [--backend gpu|rpu] [--seed N]";

/// The name by which the test is listed and chosen.
const NAME: &str = "the_window_survives_random_input";

/// Memory may grow by a quarter and this many bytes after the first third of the time.
const GROWTH: u64 = 64 << 20;

/// Time between two looks at the program's health.
const CHECKUP: Duration = Duration::from_secs(5);

/// Events that a failure prints.
const REMEMBERED: usize = 40;

/// Height of the menu bar, in pixels; menus are left alone.
const MENU: i32 = 27;

const SCENE: &str = "\
Format 120 90 1
PixelSamples 1 1
Projection \"perspective\" \"fov\" [40]
Imager \"background\" \"color background\" [0.1 0.1 0.2]
WorldBegin
LightSource \"pointlight\" 1 \"from\" [-3 4 -4] \"intensity\" [30]
Translate 0 0 5
AttributeBegin
Surface \"random\"
Sphere 1 -1 1 360
AttributeEnd
Surface \"plastic\"
Color [0.8 0.4 0.2]
Polygon \"P\" [-3 -1 -3  3 -1 -3  3 -1 3  -3 -1 3]
WorldEnd
";

const SHADER: &str = "\
#include \"share.h\"
surface random(float Kd = 0.7; color tint = color(1, 0.5, 0.2); string kind = \"plain\";) {
    normal n = faceforward(normalize(N), I);
    Ci = tint * (Kd * diffuse(n) + SHARE);
    if (kind == \"striped\") Ci *= 0.5 + 0.5 * sin(20 * xcomp(P));
    Oi = 1;
}
";

/// The arguments of the command line.
#[derive(Clone, Debug)]
struct Arguments {
    seconds: u64,
    backends: Vec<String>,
    seed: u64,
}

fn main() -> ExitCode {
    match arguments() {
        Ok(Some(arguments)) => {
            for backend in &arguments.backends {
                run(backend, &arguments);
            }
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}\n{HELP}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the command line, which is also that of `cargo test`: names of tests to run or skip, and a
/// request to list them. `None` when there is nothing to run.
fn arguments() -> Result<Option<Arguments>, String> {
    let mut is = Arguments { seconds: 15, backends: vec!["rpu".to_string(), "gpu".to_string()], seed: 1 };
    let mut names = Vec::new();
    let mut skipped = Vec::new();
    let mut given = std::env::args().skip(1);
    let number = |name: &str, text: String| text.parse::<u64>().map_err(|e| format!("{name} {text}: {e}"));
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or(format!("{argument} wants a value"));
        match argument.as_str() {
            "--seconds" => is.seconds = number("--seconds", value()?)?,
            "--seed" => is.seed = number("--seed", value()?)?,
            "--backend" => is.backends = vec![value()?],
            "--skip" => skipped.push(value()?),
            "--list" => {
                println!("{NAME}: test");
                return Ok(None);
            }
            "--test-threads" | "--format" | "--color" => drop(value()?),
            flag if flag.starts_with("--") => {}
            name => names.push(name.to_string()),
        }
    }
    let is_meant = |name: &String| NAME.contains(name.as_str());
    let runs = (names.is_empty() || names.iter().any(is_meant)) && !skipped.iter().any(is_meant);
    Ok(runs.then_some(is))
}

/// Plays with the program for the time that is asked for.
fn run(backend: &str, arguments: &Arguments) {
    println!("{NAME}: {backend}, seed {}, {} s", arguments.seed, arguments.seconds);
    let folder = tempfile::tempdir().expect("a folder");
    let files = Files { folder: folder.path().to_path_buf() };
    files.restore();
    let settings = json!({ "theme": "Dark", "window": [800, 600], "panels": ["Parameters"] });
    let mut player = Player {
        program: Program::start(folder.path(), &["scene.rib", "--backend", backend], &settings),
        files,
        random: Random::new(arguments.seed),
        events: VecDeque::new(),
        count: 0,
    };
    let start = Instant::now();
    let end = start + Duration::from_secs(arguments.seconds);
    let mut memory: Vec<(Duration, u64)> = Vec::new();
    while Instant::now() < end {
        let next = (Instant::now() + CHECKUP).min(end);
        while Instant::now() < next {
            player.play();
        }
        player.check();
        memory.push((start.elapsed(), player.program.memory()));
    }
    let curve: Vec<String> = memory.iter().map(|(at, bytes)| format!("{}s {}", at.as_secs(), bytes >> 20)).collect();
    println!("{} events; memory in MiB: {}", player.count, curve.join(", "));
    let (early, late) = memory.split_at(memory.len().div_ceil(3));
    let most = |of: &[(Duration, u64)]| of.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    // What is there at the end counts, not what was there for a moment.
    let last = late.iter().rev().take(3).map(|(_, bytes)| *bytes).min().unwrap_or(0);
    let allowed = most(early) + most(early) / 4 + GROWTH;
    assert!(last <= allowed, "memory grows: {} MiB at the end, {} MiB at first", last >> 20, most(early) >> 20);
    let (status, _) = player.program.close();
    assert_eq!(status, Some(0), "the program ends as it should");
}

/// The scene's files, and all that can happen to them.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// All files as they should be.
    fn restore(&self) {
        for (name, text) in [("share.h", "#define SHARE 0.1\n"), ("random.sl", SHADER), ("scene.rib", SCENE)] {
            put(&self.path(name), text);
        }
    }

    /// Does something to a file; says what.
    fn change(&self, random: &mut Random) -> String {
        let names = ["random.sl", "random.sl", "share.h", "scene.rib"];
        let name = names[random.below(names.len())];
        let path = self.path(name);
        let good = match name {
            "share.h" => format!("#define SHARE 0.{}\n", random.below(1000)),
            "random.sl" => SHADER.replace("0.5 + 0.5", &format!("0.{} + 0.5", random.below(1000))),
            _ => SCENE.replace("Sphere 1 -1 1", &format!("Sphere 1 -1 0.{}", random.below(1000))),
        };
        let half = &good[..good.len() / 2];
        let what = match random.below(9) {
            0..=2 => {
                put(&path, &good);
                "saved"
            }
            3 => {
                let new = path.with_extension("tmp");
                put(&new, &good);
                // The file may have become a folder's.
                let _ = fs::rename(new, path);
                "renamed over"
            }
            4 => {
                put(&path, half);
                "cut"
            }
            5 => {
                put(&path, "");
                put(&path, half);
                put(&path, &good);
                "saved in pieces"
            }
            6 => {
                put(&path, "");
                "emptied"
            }
            7 => {
                // It may be gone already.
                let _ = fs::remove_file(path);
                "deleted"
            }
            _ => {
                let bytes: Vec<u8> = (0..200).map(|_| random.below(256) as u8).collect();
                fs::write(path, bytes).expect("a file");
                "filled with rubbish"
            }
        };
        format!("{name} {what}")
    }
}

fn put(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
}

/// Whoever plays with the program.
struct Player {
    program: Program,
    files: Files,
    random: Random,
    /// The latest events.
    events: VecDeque<String>,
    count: u64,
}

impl Player {
    fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.random.below((high - low).max(0) as usize + 1) as i32
    }

    /// A place of the window below the menus.
    fn place(&mut self) -> [i32; 2] {
        let [width, height] = self.program.size().map(|side| side as i32);
        [self.between(0, width - 1), self.between(MENU, height - 1)]
    }

    fn button(&mut self) -> Button {
        [Button::Left, Button::Left, Button::Left, Button::Middle, Button::Right][self.random.below(5)]
    }

    /// Does one thing.
    fn play(&mut self) {
        let what = match self.random.below(100) {
            0..=34 => self.press_a_key(),
            35..=54 => {
                let (button, at) = (self.button(), self.place());
                self.program.display.click(button, at);
                format!("{button:?} click {at:?}")
            }
            55..=74 => {
                let (button, from, to) = (self.button(), self.place(), self.place());
                self.program.display.drag(button, from, to, 6);
                format!("{button:?} drag {from:?} {to:?}")
            }
            75..=84 => {
                let wheel = if self.random.below(2) == 0 { Button::WheelUp } else { Button::WheelDown };
                let (at, control) = (self.place(), self.random.below(3) == 0);
                self.hold(control, |program| program.display.click(wheel, at));
                format!("{wheel:?} {at:?}, control {control}")
            }
            85..=91 => {
                let at = self.place();
                self.program.display.point(at);
                format!("pointer {at:?}")
            }
            92..=93 => {
                let size = match self.random.below(12) {
                    0 => [1, 1],
                    1 => [2560, 1440],
                    _ => [self.between(120, 1300) as u32, self.between(80, 900) as u32],
                };
                self.program.resize(size);
                format!("size {size:?}")
            }
            94 => {
                let scene = self.files.path("scene.rib");
                let taken = self.program.drop_file(&scene, Duration::from_secs(5));
                format!("dropped, taken {taken}")
            }
            _ => self.files.change(&mut self.random),
        };
        self.count += 1;
        self.events.push_back(what);
        if self.events.len() > REMEMBERED {
            self.events.pop_front();
        }
        std::thread::sleep(Duration::from_millis(self.random.below(30) as u64));
        let messages = self.program.messages();
        if messages.contains("panicked") || !self.program.runs() {
            self.send();
            panic!("{messages}");
        }
    }

    fn hold(&self, control: bool, act: impl FnOnce(&Program)) {
        if control {
            self.program.display.key_down(keys::CONTROL);
        }
        act(&self.program);
        if control {
            self.program.display.key_up(keys::CONTROL);
        }
    }

    /// A key that means something, or a letter for a field; some with Control. Leaving, saving and
    /// confirming are not among them.
    fn press_a_key(&mut self) -> String {
        let plain: Vec<u32> = "12345fwasdeq0.-/x".chars().map(u32::from).collect();
        let special = [
            keys::HOME,
            keys::ESCAPE,
            keys::ESCAPE,
            keys::TAB,
            keys::BACKSPACE,
            keys::function(5),
            keys::function(6),
            keys::function(7),
            keys::function(8),
        ];
        let (keysym, control) = match self.random.below(20) {
            0 => (u32::from(if self.random.below(2) == 0 { b'r' } else { b'o' }), true),
            1..=10 => (plain[self.random.below(plain.len())], false),
            11 => (keys::ARROWS[self.random.below(4)], false),
            _ => (special[self.random.below(special.len())], false),
        };
        let time = Duration::from_millis(self.random.below(120) as u64);
        self.hold(control, |program| {
            program.display.key_down(keysym);
            std::thread::sleep(time);
            program.display.key_up(keysym);
        });
        format!("key {keysym:#x}, control {control}")
    }

    /// Puts the window and the files into order, and looks whether a key that shows a panel still
    /// does.
    fn check(&mut self) {
        self.files.restore();
        self.program.resize([800, 600]);
        (0..3).for_each(|_| self.program.display.key(keys::ESCAPE));
        let sized = self.program.within(LONG, |seen| (seen.width, seen.height) == (800, 600));
        let answers = sized.is_ok() && (0..20).any(|_| self.toggles_a_panel());
        if !answers {
            self.send();
            let seen = self.program.look();
            let file = desktop::kept_screenshots().join("window-that-does-not-answer.png");
            seen.write(&file);
            panic!("the window does not answer; what was seen is {}\n{}", file.display(), self.program.messages());
        }
    }

    /// Shows and hides the times below the image.
    fn toggles_a_panel(&mut self) -> bool {
        let below = Region { x: [0.0, 1.0], y: [0.8, 0.93] };
        let patience = Duration::from_secs(6);
        let before = self.program.look();
        self.program.display.key(keys::function(8));
        let changed = self.program.within(patience, |seen| seen.changed(&before, below) > 0.02).is_ok();
        self.program.display.key(keys::function(8));
        self.program.display.key(keys::ESCAPE);
        changed
    }

    fn send(&self) {
        for event in &self.events {
            eprintln!("{event}");
        }
    }
}
