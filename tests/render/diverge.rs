//! The first divergence of two back ends: on scenes of the repository the code that records values
//! gives the colors of the image, and the command that looks for it.

use crate::common::{adapter, repository, shadewright, stderr};
use serde_json::Value as Json;
use shadewright::image::Image;
use shadewright::ir::passes::Pipeline;
use shadewright::probe::diverge::{self, Divergence, NamedRunner, Subject};
use shadewright::program::{LinkOptions, Math, link};
use shadewright::render::rpu::{RpuRenderer, RpuSamples};
use shadewright::render::sampling::Sampling;
use shadewright::render::{Backend, BackendOptions, DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::scene::{self, OpenOptions, Scene};
use shadewright::text::source::SourceMap;
use std::fs;
use std::path::Path;

const SIZE: (u32, u32) = (16, 12);

fn open(path: &Path, math: Math) -> (Job, Scene) {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some(SIZE), ..OpenOptions::default() };
    let scene = scene::open(path, &options, &mut sources).expect("the scene can be read").scene;
    let options = LinkOptions { math, pipeline: Pipeline::default(), ..LinkOptions::default() };
    let linked = link(&scene, sources, &options).unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    let sampling = Sampling { strata: [2, 1], seed: 3 };
    let job = prepare(linked, &scene, Window::whole(SIZE.0, SIZE.1), sampling, DEFAULT_BUDGET).expect("a job");
    (job, scene)
}

fn found(job: &Job, scene: &Scene, backends: [Backend; 2], pixel: [u32; 2]) -> Divergence {
    let options = BackendOptions::default();
    let [mut first, mut second] = backends.map(|backend| backend.samples(&options).expect("a device"));
    let machines = [
        NamedRunner { name: backends[0].name().to_string(), runner: &mut *first },
        NamedRunner { name: backends[1].name().to_string(), runner: &mut *second },
    ];
    let subject = Subject { job, scene, debug: None, is_wanted: &|| true, progress: &|_| {} };
    diverge::diverge(subject, machines, pixel, None).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn recording_values_changes_no_bit_of_a_sample_on_any_machine() {
    let adapter = adapter();
    let scenes = [("scenes/glass.rib", [8, 7], Math::Exact), ("scenes/noise.rib", [8, 6], Math::Native)];
    let scenes = scenes.into_iter().chain([("rtsl/cornell.rib", [8, 6], Math::Exact)]);
    for (path, pixel, math) in scenes {
        let (job, scene) = open(&repository("assets").join(path), math);
        let found = found(&job, &scene, [Backend::RPU, Backend::GPU], pixel);
        assert_eq!(found.evaluator[0], "equal to the evaluator", "{path}: {}", found.text());
        assert_eq!(found.colors[0], found.colors[2], "{path}");
        assert_eq!(found.records[0], found.records[2], "{path}");
        // A remark says that the code that records gives another color than the image has.
        if adapter.kind == "software" {
            assert_eq!(found.notes, [""; 0], "{path} on {}", adapter.name);
        }
    }
}

#[test]
fn engines_and_number_formats_of_the_rpu_are_compared() {
    let (job, scene) = open(&repository("assets/rtsl/cornell.rib"), Math::Exact);
    let interpreter = Backend::named("rpu-interpreter").expect("an engine");
    let equal = found(&job, &scene, [Backend::RPU, interpreter], [8, 6]);
    assert!(equal.is_equal() && equal.records[0] > 20, "{}", equal.text());
    let other = found(&job, &scene, [Backend::RPU, Backend::RPU_F24], [8, 6]);
    let difference = other.difference.as_ref().expect("24 bits are fewer");
    let value = difference.value.as_ref().expect("a value");
    assert!(value.operands.iter().all(|operand| !operand.differs), "{}", other.text());
    assert!(value.results[0].hex[0].starts_with("0x") && value.ulps > Some(0), "{}", other.text());
}

/// A power whose last bit decides, on 36 squares with other bases.
const SHADER: &str = "surface parity(varying float w = 0; float n = 5;)
{
    float x = pow(w * step(-1000, s), n);
    color c = (0.1, 0.2, 0.3);
    if (mod(x * 16777216, 2) < 1)
        c = color noise(P * 4);
    Ci = c;
    Oi = 1;
}
";

fn squares() -> String {
    let n = 6;
    let points: Vec<String> = (0..=n).flat_map(|y| (0..=n).map(move |x| format!("{} {} 3", x - 3, y - 3))).collect();
    let corner = |x: i32, y: i32| y * (n + 1) + x;
    let faces = (0..n)
        .flat_map(|y| (0..n).map(move |x| [corner(x, y), corner(x, y + 1), corner(x + 1, y + 1), corner(x + 1, y)]));
    let faces: Vec<String> = faces.flatten().map(|i| i.to_string()).collect();
    let bases: Vec<String> = (0..n * n).map(|i| format!("{}", 0.9 + 0.0023 * i as f32)).collect();
    format!(
        "Format 12 12 1\nPixelSamples 1 1\nProjection \"perspective\" \"fov\" [90]\nWorldBegin\nSurface \"parity\"\n\
         PointsPolygons [{}] [{}] \"P\" [{}] \"uniform float w\" [{}]\nWorldEnd\n",
        vec!["4"; (n * n) as usize].join(" "),
        faces.join(" "),
        points.join("  "),
        bases.join(" ")
    )
}

/// The first pixel whose colors differ.
fn differing(a: &Image, b: &Image) -> Option<usize> {
    a.rgba.iter().zip(&b.rgba).position(|(a, b)| a != b)
}

#[test]
fn the_command_names_line_variable_operation_and_branch_of_the_gpus_own_functions() {
    let adapter = adapter();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("parity.sl"), SHADER).unwrap();
    fs::write(folder.path().join("squares.rib"), squares()).unwrap();
    let render = |backend: &str, file: &str| {
        let args = ["squares.rib", "--backend", backend, "--math", "native", "--render", file];
        let output = shadewright(folder.path(), &args);
        assert!(output.status.success(), "{}", stderr(&output));
        shadewright::image::file::read(&folder.path().join(file)).expect("an image")
    };
    let (gpu, rpu) = (render("gpu", "gpu.exr"), render("rpu", "rpu.exr"));
    let pixel = differing(&gpu, &rpu).unwrap_or_else(|| panic!("{} has the RPU's powers to the bit", adapter.name));
    let at = format!("{},{}", pixel % 12, pixel / 12);
    let args = ["probe", "squares.rib", &at, "--math", "native", "--diverge", "gpu,rpu"];
    let output = shadewright(folder.path(), &[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["verdict"], "gpu and rpu differ");
    assert_eq!(json["equal"], false);
    let value = &json["difference"]["value"];
    assert_eq!(value["place"]["position"], "parity.sl:3:15");
    assert_eq!(value["place"]["shader"], "surface parity");
    assert_eq!((&value["name"], &value["variable"]), (&"call".into(), &"x".into()));
    assert_eq!(value["meaning"], "the value of std.pow");
    assert!(value["operands"].as_array().is_some_and(|o| o.iter().all(|o| o["differs"] == false)), "{value}");
    let results = &value["results"];
    assert_ne!(results[0]["hex"], results[1]["hex"]);
    assert_eq!(results[1]["hex"], results[2]["hex"], "the RPU is the evaluator");
    let decision = &json["difference"]["decision"];
    assert_eq!(decision["operation"]["place"]["position"], "parity.sl:5:9");
    assert_eq!(decision["effect"]["kind"], "branch");
    assert_ne!(decision["operation"]["results"][0]["text"], decision["operation"]["results"][1]["text"]);
    assert!(json["difference"]["parted"]["to"].is_array());
    let rgba = |machine: usize| -> Vec<f32> {
        let channels = json["colors"][machine]["rgba"].as_array().expect("four numbers");
        channels.iter().map(|c| c.as_f64().expect("a number") as f32).collect()
    };
    assert_eq!(rgba(0), gpu.rgba[pixel], "the sample is the image's");
    assert_eq!(rgba(1), rpu.rgba[pixel]);
    let text = String::from_utf8(shadewright(folder.path(), &args).stdout).expect("text");
    for line in
        ["  variable   x\n", "float x = pow(w * step(-1000, s), n);", "why it matters: ", "goes on at parity.sl:6:"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn what_cannot_be_followed_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let moving = "Format 4 4 1\nShutter 0 1\nWorldBegin\nMotionBegin [0 1]\nTranslate 0 0 5\nTranslate 1 0 5\nMotionEnd\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.path().join("moving.rib"), moving).unwrap();
    fs::write(
        folder.path().join("still.rib"),
        "Format 4 4 1\nWorldBegin\nTranslate 0 0 5\nSphere 1 -1 1 360\nWorldEnd\n",
    )
    .unwrap();
    let broken = "Format 4 4 1\nWorldBegin\nTranslate 0 0 5\nSurface \"bad\"\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.path().join("broken.rib"), broken).unwrap();
    fs::write(folder.path().join("bad.sl"), "surface bad() { Ci = foo(3); }\n").unwrap();
    let both = "rpu,rpu-f24";
    let cases: [(&[&str], i32, &str); 10] = [
        // As where images are compared: what has errors is not left out.
        (&["broken.rib", "1,1", "--diverge", "rpu,rpu-interpreter"], 2, "unknown function `foo`"),
        (&["moving.rib", "1,1", "--diverge", both], 2, "changes while the shutter is open"),
        (&["still.rib", "9,1", "--diverge", both], 2, "outside the image of 4x4 pixels"),
        (&["still.rib", "1,1", "--sample", "4", "--diverge", both], 2, "there is no sample 4"),
        (&["still.rib", "1,1", "--diverge", "rpu"], 2, "write two with a comma"),
        (&["still.rib", "1,1", "--diverge", "rpu,abacus"], 2, "`abacus` is none of"),
        (&["still.rib", "1,1", "--sampler", "adaptive", "--diverge", both], 2, "unexpected argument '--sampler'"),
        (&["still.rib", "1,1", "--engine", "interpreter", "--diverge", both], 2, "unexpected argument '--engine'"),
        (&["still.rib", "1,1", "--adapter", "none of this name", "--diverge", "rpu,gpu"], 3, "none of this name"),
        (&["still.rib", "1,1", "--schedule", "wavefront"], 2, "--diverge <A,B>"),
    ];
    for (args, status, text) in cases {
        let output = shadewright(folder.path(), &[&["probe"], args].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{args:?}: {}", stderr(&output));
    }
    let lenient = ["probe", "broken.rib", "1,1", "--lenient", "--diverge", "rpu,rpu-interpreter"];
    assert_eq!(shadewright(folder.path(), &lenient).status.code(), Some(0));
    let args = ["probe", "still.rib", "1,1", "--crop", "1,1,3,3", "--sample", "1", "--diverge", "rpu,rpu-interpreter"];
    let output = shadewright(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.starts_with("pixel 1,1, sample 1 of 4: rpu, rpu-interpreter and the evaluator compute the same"),
        "{said}"
    );
}

/// A function of the GPU's own whose value comes to the result by nothing but copies.
#[test]
fn the_command_names_the_line_of_a_value_that_is_only_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let shader = "surface inner() {\n    Oi = 1;\n    Ci = color(exp(3 * u + 2), exp(2 * v + 1), 0.2);\n}\n";
    fs::write(folder.path().join("inner.sl"), shader).unwrap();
    let scene = "Format 8 8 1\nPixelSamples 1 1\nProjection \"perspective\" \"fov\" 40\nTranslate 0 0 4\nWorldBegin\n\
                 Surface \"inner\"\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.path().join("inner.rib"), scene).unwrap();
    let probe = |pixel: &str| {
        let args = ["probe", "inner.rib", pixel, "--math", "native", "--diverge", "gpu,rpu", "--json"];
        let output = shadewright(folder.path(), &args);
        serde_json::from_slice::<Json>(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let differing = ["4,4", "3,3", "4,3", "3,4", "5,4"].map(probe).into_iter().find(|json| json["equal"] == false);
    let json = differing.unwrap_or_else(|| panic!("{} has the RPU's exponentials to the bit", adapter().name));
    let value = &json["difference"]["value"];
    assert_eq!(value["meaning"], "the value of std.exp", "{value}");
    assert_eq!((&value["place"]["shader"], &value["leads_to"]), (&"surface inner".into(), &"Ci".into()));
    assert!(value["place"]["position"].as_str().is_some_and(|p| p.starts_with("inner.sl:3:")), "{value}");
    assert!(value["operands"].as_array().is_some_and(|o| o.iter().all(|o| o["differs"] == false)), "{value}");
}

/// The pixel of a window is that of the whole image.
#[test]
fn pixels_of_a_window_count_from_its_corner() {
    let (mut job, scene) = open(&repository("assets/scenes/glass.rib"), Math::Exact);
    let whole = found(&job, &scene, [Backend::RPU, Backend::RPU_F24], [8, 7]);
    job.window = Window { x: 5, y: 4, width: 6, height: 6 };
    let part = found(&job, &scene, [Backend::RPU, Backend::RPU_F24], [3, 3]);
    assert_eq!((whole.colors, whole.records), (part.colors, part.records));
    let mut renderer = RpuRenderer::new();
    let image = renderer.render(&job, &|_| {}).expect("it renders");
    assert_eq!(part.means[0].rgba, image.rgba[3 * 6 + 3]);
    // The same machine, opened by itself.
    let mut alone = RpuSamples::new(renderer);
    let machines = [
        NamedRunner { name: "a".into(), runner: &mut alone.clone() },
        NamedRunner { name: "b".into(), runner: &mut alone },
    ];
    let subject = Subject { job: &job, scene: &scene, debug: None, is_wanted: &|| true, progress: &|_| {} };
    assert!(diverge::diverge(subject, machines, [3, 3], Some(1)).is_ok_and(|found| found.is_equal()));
}
