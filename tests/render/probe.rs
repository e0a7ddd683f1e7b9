//! Following samples of images: on every scene of the repository, the color that the evaluator
//! finds is the image's, to the bit; and the command that does it.

use crate::common::repository;
use shadewright::bvh::TwoLevel;
use shadewright::image::Image;
use shadewright::probe::{self, Probe, Reach, Sample, Subject};
use shadewright::program::{LinkOptions, Program, link};
use shadewright::render::film::Film;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene::{self, OpenOptions, Scene};
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SAMPLING: Sampling = Sampling { strata: [2, 2], seed: 3 };
const SIZE: (u32, u32) = (24, 18);

/// A scene, its image without its imager, and its program for a debugger.
struct Opened {
    scene: Scene,
    image: Image,
    program: Program,
    bvh: Arc<TwoLevel>,
}

fn open(path: &Path) -> Opened {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some(SIZE), ..OpenOptions::default() };
    let mut scene = scene::open(path, &options, &mut sources).expect("the scene can be read").scene;
    scene.imager = None;
    let linked = link(&scene, sources.clone(), &LinkOptions::default()).expect("the shaders compile");
    let job = prepare(linked, &scene, Window::whole(SIZE.0, SIZE.1), SAMPLING, DEFAULT_BUDGET).expect("a job");
    let image = RpuRenderer::new().render(&job, &|_| {}).expect("it renders");
    let debug = probe::link(&scene, sources, &LinkOptions::default()).expect("it links for a debugger too");
    assert_eq!(debug.memory.vectors, job.program.memory.vectors, "{}: the data is the same", path.display());
    let program = probe::with_data_of(&debug, &job.program);
    Opened { scene, image, program, bvh: job.bvh }
}

impl Opened {
    fn probe(&self, pixel: [u32; 2], number: u32) -> Probe {
        let subject = Subject { scene: &self.scene, program: &self.program, bvh: &self.bvh };
        let sample = Sample { pixel, number, sampling: SAMPLING, budget: DEFAULT_BUDGET };
        probe::probe(&subject, &sample).expect("the sample exists")
    }
}

#[test]
fn the_imager_of_a_scene_acts_on_the_sample() {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some(SIZE), ..OpenOptions::default() };
    let path = repository("assets/scenes/sepia.rib");
    let scene = scene::open(&path, &options, &mut sources).expect("the scene can be read").scene;
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let linked = link(&scene, sources.clone(), &LinkOptions::default()).expect("the shaders compile");
    let job = prepare(linked, &scene, Window::whole(SIZE.0, SIZE.1), sampling, DEFAULT_BUDGET).expect("a job");
    let image = RpuRenderer::new().render(&job, &|_| {}).expect("it renders");
    let program = probe::link(&scene, sources, &LinkOptions::default()).expect("it links");
    let subject = Subject { scene: &scene, program: &program, bvh: &job.bvh };
    let sample = Sample { pixel: [12, 9], number: 0, sampling, budget: DEFAULT_BUDGET };
    let probe = probe::probe(&subject, &sample).expect("the sample exists");
    let ([r, g, b], alpha) = probe.imaged.expect("an imager");
    assert_eq!([r, g, b, alpha], image.rgba[(9 * SIZE.0 + 12) as usize]);
    assert_ne!(probe.color, [r, g, b]);
    let last = probe.recording.last(Reach::Own).and_then(|step| probe.recording.outline(step)).expect("a step");
    assert_eq!(last.title(), "imager sepia");
}

fn scenes() -> Vec<PathBuf> {
    let files = std::fs::read_dir(repository("assets/scenes")).expect("the scenes").map(|f| f.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "rib")).collect();
    files.sort();
    assert!(files.len() > 5);
    // Its light is found by paths.
    files.push(repository("assets/rtsl/cornell.rib"));
    files
}

#[test]
fn the_color_of_a_followed_pixel_is_the_images_to_the_bit() {
    for path in scenes() {
        let opened = open(&path);
        for pixel in [[12, 9], [5, 12], [17, 13], [0, 0]] {
            let mut film = Film::with_samples(1, 1, SAMPLING.count()).expect("a pixel");
            for number in 0..SAMPLING.count() {
                let probe = opened.probe(pixel, number);
                let [r, g, b] = probe.color;
                film.add_sample(0, 0, number, [r, g, b, probe.alpha]);
            }
            let drawn = opened.image.rgba[(pixel[1] * SIZE.0 + pixel[0]) as usize];
            assert_eq!(
                film.resolve().rgba[0].map(f32::to_bits),
                drawn.map(f32::to_bits),
                "{} {pixel:?}",
                path.display()
            );
        }
    }
}

fn run(args: &[&str]) -> (bool, String, String) {
    let output = crate::common::shadewright(&repository("assets/scenes"), &[&["probe"], args].concat());
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned(), crate::common::stderr(&output))
}

#[test]
fn the_command_prints_hit_rays_and_steps() {
    let (success, text, errors) = run(&["mirrors.rib", "280,120", "--size", "320x240", "--sample", "1", "--steps"]);
    assert!(success, "{errors}");
    let expected = [
        "pixel   280,120, sample 1 of 4, at (",
        "shader  mirror\n",
        "  float  Kr = 0.85\n",
        "  point  P = (",
        "\n  camera: hits ",
        "\n    reflected: hits ",
        "\nsteps\nsurface mirror\n",
        ":5  normal Nf = faceforward(normalize(N), I);\n        normal Nf = (",
    ];
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains("rays.sl"), "the library's own functions are asked for by --library\n{text}");
}

#[test]
fn the_command_prints_json() {
    let (success, text, errors) = run(&["mirrors.rib", "280,120", "--json", "--steps", "--library"]);
    assert!(success, "{errors}");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["pixel"], serde_json::json!([280, 120]));
    assert_eq!(json["rays"][0]["kind"], "camera");
    assert_eq!(json["rays"][0]["hit"]["shader"], "mirror");
    let steps = json["steps"].as_array().expect("steps");
    let first = &steps[0];
    assert_eq!((&first["function"], &first["line"], &first["depth"]), (&"mirror".into(), &5.into(), &0.into()));
    let kr = first["variables"].as_array().expect("variables").iter().find(|v| v["name"] == "Kr").expect("Kr");
    assert_eq!((&kr["type"], kr["value"].as_f64().map(|x| x as f32)), (&"float".into(), Some(0.85)));
    assert!(steps.iter().any(|s| s["file"].as_str().is_some_and(|f| f.contains("rays.sl"))));
}

#[test]
fn the_command_says_what_is_wrong_with_its_arguments() {
    let cases: [(&[&str], &str); 5] = [
        (&["mirrors.rib", "320,0"], "error: pixel 320,0 is outside the image of 320x240 pixels"),
        (&["mirrors.rib", "0,0", "--sample", "4"], "error: there is no sample 4: the image has 4 a pixel"),
        (&["mirrors.rib", "280;120"], "write it as column and row"),
        (&["mirrors.rib", "0,0", "--crop", "0,0,9,9"], "--diverge <A,B>"),
        (&["nowhere.rib", "0,0"], "nowhere.rib"),
    ];
    for (args, message) in cases {
        let (success, _, errors) = run(args);
        assert!(!success && errors.contains(message), "{args:?}: {errors}");
    }
}
