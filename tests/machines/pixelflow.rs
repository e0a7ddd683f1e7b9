//! The PixelFlow model as a user meets it: the pixel memory of shaders, and scenes on the model.

use crate::common::{largest_difference, repository, shadewright, stderr};
use serde_json::Value;
use shadewright::image::{Image, file as image_file};
use std::fs;
use std::path::Path;

/// The output of `compile FILE --emit memory`.
fn memory(folder: &Path, file: &str, more: &[&str]) -> String {
    let output = shadewright(folder, &[&["compile", file, "--emit", "memory"], more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number in the first line that begins with these words.
fn number(text: &str, line: &str) -> i64 {
    let found = text.lines().find_map(|l| l.trim_start().strip_prefix(line));
    let word = found.and_then(|rest| rest.split_whitespace().next());
    word.and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("no `{line}` in {text}"))
}

#[test]
fn shaders_take_no_more_pixel_memory_than_those_of_the_thesis() {
    // Figure 4.11, the last column.
    let folder = repository("assets/pfman");
    for (file, bytes) in [("brick", 16), ("fancybrick", 101), ("ripple", 137), ("planks", 97)] {
        let text = memory(&folder, &format!("{file}.pfman"), &[]);
        let allocated = number(&text, "allocated");
        assert!(0 < allocated && allocated <= bytes, "{file}: {allocated} bytes\n{text}");
        assert!(number(&text, "varying ") > allocated && number(&text, "uniform and varying") > allocated);
        assert!(number(&text, "free") > 0);
        assert_eq!(text, memory(&folder, &format!("{file}.pfman"), &[]), "it is the same each time");
    }
}

#[test]
fn the_memory_of_shaders_in_other_languages_is_shown_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("s.sl"),
        "surface s(float rough = 0.1; varying float w = 1;) { float f = noise(P * w); if (f > 0.5) f = sqrt(f) * 2; Ci = Cs * f + specular(normalize(N), -normalize(I), rough); }\n\
         light l(float a = 1;) { illuminate (point (0, 1, 0)) { Cl = a / (L . L); } }",
    )
    .expect("it can be written");
    let text = memory(folder.path(), "s.sl", &[]);
    assert!(text.contains("shader s\n") && text.contains("shader l\n"), "{text}");
    assert!(number(&text, "varying parameters") > 0);
    memory(folder.path(), "s.sl", &["--out", "s.svg"]);
    let drawing = fs::read_to_string(folder.path().join("s.svg")).expect("a drawing");
    assert!(drawing.starts_with("<svg") && drawing.matches("<rect").count() > 20 && drawing.contains("bytes</text>"));
}

#[test]
fn a_shader_that_needs_more_than_a_pixel_has_is_told_by_how_much() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = "surface large() { float sum = 0;".to_string();
    for i in 0..120 {
        text += &format!("float a{i} = noise(P * {i}.5 + N);");
    }
    // All are needed after the last has been computed.
    for i in 0..120 {
        text += &format!("sum += a{i} * a{};", (i * 7 + 3) % 120);
    }
    fs::write(folder.path().join("large.sl"), text + "Ci = sum; }").expect("it can be written");
    let text = memory(folder.path(), "large.sl", &[]);
    assert!(number(&text, "allocated") > 256, "{text}");
    assert!(text.contains("does not fit: "), "{text}");
}

#[test]
fn a_file_without_shaders_has_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f.sl"), "float f(float x) { return x; }").expect("it can be written");
    let output = shadewright(folder.path(), &["compile", "f.sl", "--emit", "memory"]);
    assert!(!output.status.success() && stderr(&output).contains("the file has none"));
}

/// Simulates a scene; gives the report.
fn simulated(folder: &Path, scene: &str, image: &Path, more: &[&str]) -> Value {
    let image = image.to_string_lossy();
    let fixed = ["simulate", scene, "--model", "pixelflow", "--json", "--spp", "1", "-o", &image];
    let output = shadewright(folder, &[&fixed, more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The largest difference of the model's image of a scene from the RPU's without shadows.
fn difference(scene: &Path, size: &str) -> (f32, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let name = scene.to_string_lossy();
    let [ours, theirs] = ["ours.exr", "theirs.exr"].map(|name| folder.path().join(name));
    let report = simulated(folder.path(), &name, &ours, &["--size", size]);
    let theirs_name = theirs.to_string_lossy();
    let args = [&*name, "--render", &theirs_name, "--backend", "rpu", "--spp", "1", "--shadows", "off", "--size", size];
    let output = shadewright(folder.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let [ours, theirs] = [ours, theirs].map(|path| image_file::read(&path).expect("an image"));
    (largest_difference(&ours, &theirs), report)
}

#[test]
fn images_are_those_of_the_rpu_without_shadows() {
    for scene in ["languages", "brick", "fancybrick", "planks", "ripple"] {
        let (difference, report) = difference(&repository(&format!("assets/pfman/{scene}.rib")), "64x48");
        assert!(difference == 0.0, "{scene}: {difference}");
        let highest = report["highest_byte"].as_u64().expect("a number");
        assert!(0 < highest && highest <= 256, "{scene}: {highest}");
        assert!(report["shaders"].as_array().expect("a list").iter().all(|s| s["free"].as_i64() > Some(0)), "{report}");
    }
}

#[test]
fn shaders_share_lights_and_the_report_does_not_depend_on_threads() {
    let scene = repository("assets/pfman/languages.rib");
    let folder = tempfile::tempdir().expect("a folder");
    let name = scene.to_string_lossy();
    let run = |threads: &str| {
        let image = folder.path().join(format!("{threads}.exr"));
        let report = simulated(folder.path(), &name, &image, &["--size", "160x90", "--threads", threads]);
        (report, image_file::read(&image).expect("an image").rgba)
    };
    let (report, image) = run("1");
    assert_eq!((&report, &image), (&run("3").0, &run("3").1));
    // Four shaders in four regions; two lights and an ambient one.
    assert_eq!(report["regions"].as_array().map(Vec::len), Some(4));
    let lights = ["shared", "separate"].map(|key| report["lights"][key].as_u64().expect("a number"));
    assert!(lights[0] > 0 && lights[0] < lights[1], "{lights:?}");
    let phong = ["shared", "separate"].map(|key| report["phong"][key].as_u64().expect("a number"));
    assert!(phong[0] > 0 && phong[0] < phong[1], "{phong:?}");
    // More nodes are not slower.
    let rates: Vec<f64> =
        report["nodes"].as_array().expect("a list").iter().filter_map(|n| n["frames_per_second"].as_f64()).collect();
    assert!(rates.len() == 5 && rates.is_sorted());
}

/// A scene of spheres in a row, each with a `Surface` request before it.
fn scene(surfaces: &[&str]) -> String {
    let mut text = "Format 32 24 1\nProjection \"perspective\"\nTranslate 0 0 4\nWorldBegin\n".to_string();
    text += "LightSource \"distantlight\" 1 \"from\" [0 0 -1] \"to\" [0 0 0]\n";
    for (i, surface) in surfaces.iter().enumerate() {
        let x = i as f32 * 1.5 - 0.75 * (surfaces.len() - 1) as f32;
        text += &format!("AttributeBegin\n{surface}\nTranslate {x} 0 0\nSphere 0.7 -0.7 0.7 360\nAttributeEnd\n");
    }
    text + "WorldEnd\n"
}

#[test]
fn one_light_runs_once_for_three_shaders_and_equal_instances_are_one_group() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, factor) in [("a", "1"), ("b", "0.5"), ("c", "0.25")] {
        let text = format!(
            "surface {name}(float k = 1;) {{ Ci = 0; illuminance (P) {{ Ci += {factor} * k * Cl * max(normalize(N) . normalize(L), 0); }} }}"
        );
        fs::write(folder.path().join(format!("{name}.sl")), text).expect("it can be written");
    }
    let put = |text: String| fs::write(folder.path().join("s.rib"), text).expect("it can be written");
    put(scene(&["Surface \"a\"", "Surface \"b\"", "Surface \"c\""]));
    let image = folder.path().join("s.exr");
    let report = simulated(folder.path(), "s.rib", &image, &[]);
    assert_eq!((&report["lights"]["shared"], &report["lights"]["separate"]), (&Value::from(1), &Value::from(3)));
    // Two objects with equal parameters, one with others.
    put(scene(&["Surface \"a\"", "Surface \"a\"", "Surface \"a\" \"k\" [0.5]"]));
    let report = simulated(folder.path(), "s.rib", &image, &[]);
    let shader = &report["shaders"][0];
    assert_eq!((&shader["instances"], &shader["groups"]), (&Value::from(3), &Value::from(2)));
    assert_eq!((&shader["executions"], &shader["separate_executions"]), (&Value::from(2), &Value::from(3)));
}

/// A folder with two images, `a.exr` and `b.exr`, and these shaders, which look them up.
fn textured(shaders: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, size, scale) in [("a.exr", 16, 1.0), ("b.exr", 9, 0.5)] {
        let texel = |i: u32| [0.37, 0.71, 0.13].map(|k| scale * (i as f32 * k).fract());
        let texels = (0..size * size).map(texel).map(|[r, g, b]| [r, g, b, 1.0]).collect();
        let image = Image::new(size, size, texels).expect("an image");
        image_file::write(&folder.path().join(name), &image).expect("it can be written");
    }
    for (name, body) in shaders {
        let text = format!("surface {name}() {{ color lit = 0; {body} }}");
        fs::write(folder.path().join(format!("{name}.sl")), text).expect("it can be written");
    }
    folder
}

/// The lookups that the report has for a scene of the folder: phases, and lookups of shaders by
/// themselves; the microseconds of both; those that may overlap.
fn lookups(folder: &Path, surfaces: &[&str], more: &[&str]) -> ([u64; 2], [f64; 3]) {
    let image = folder.join("s.exr");
    fs::write(folder.join("s.rib"), scene(surfaces)).expect("it can be written");
    let report = simulated(folder, "s.rib", &image, more);
    let textures = &report["textures"];
    let runs = ["shared", "separate"].map(|key| textures[key].as_u64().expect("a number"));
    let times = ["shared_us", "separate_us", "overlap_us"].map(|key| textures[key].as_f64().expect("a number"));
    // The phase is a stage, and a part of the region's time.
    assert_eq!(report["stages"]["texture"].as_f64(), (runs[0] > 0).then_some(times[0]), "{report}");
    assert!(report["regions"][0].as_f64() > Some(times[0]));
    (runs, times)
}

const ONE_LOOKUP: &str = "Ci = texture(\"a.exr\", s, t);";
/// The second lookup is where the first one says, of an area that is given: it asks for no derivative.
const TWO_LOOKUPS: &str = "float x = texture(\"b.exr\", 2 * s, t); float y = s + x; \
    Ci = x * color texture(\"a.exr\", t, y, t + 0.1, y, t, y + 0.1, t + 0.1, y + 0.1);";

#[test]
fn lookups_of_two_shaders_are_phases_that_the_region_pays_for_once() {
    let folder = textured(&[("one", ONE_LOOKUP), ("two", TWO_LOOKUPS)]);
    let run = |surfaces: &[&str]| lookups(folder.path(), surfaces, &[]);
    let (constant, one, two) = ("Surface \"constant\"", "Surface \"one\"", "Surface \"two\"");
    // The first lookups of both are one phase, though they are in other textures and of other types.
    let (runs, [shared, separate, overlap]) = run(&[one, two]);
    assert_eq!(runs, [2, 3]);
    assert!(0.0 < shared && shared < separate, "{shared} us, {separate} separate");
    assert_eq!(overlap, 0.0, "no shader calls for a light");
    // What each takes alone is what it takes where it is alone.
    let (runs, [first, first_separate, _]) = run(&[one, constant]);
    assert_eq!((runs, first), ([1, 1], first_separate));
    let (runs, [second, second_separate, _]) = run(&[constant, two]);
    assert_eq!((runs, second), ([2, 2], second_separate));
    assert!((first + second - separate).abs() < 1e-6 && shared >= second, "{first} {second} {separate} {shared}");
    // Without textures there is no phase.
    assert_eq!(run(&[constant, "Surface \"matte\""]), ([0, 0], [0.0; 3]));
}

#[test]
fn a_lookup_takes_the_time_that_a_configuration_gives_it() {
    let folder = textured(&[("one", ONE_LOOKUP), ("two", TWO_LOOKUPS)]);
    fs::write(folder.path().join("c.toml"), "[functions]\n\"texture.filter\" = 100.0\n").expect("it can be written");
    let found = lookups(folder.path(), &["Surface \"one\"", "Surface \"two\""], &["--config", "c.toml"]);
    assert_eq!(found, ([2, 3], [200.0, 300.0, 0.0]));
}

#[test]
fn lookups_share_phases_wherever_shaders_make_them_and_the_image_is_that_of_the_rpu() {
    let lit = "illuminance (P) { lit += Cl * color texture(\"a.exr\", s, t); } Ci = lit;";
    // Pixels leave the loop at different times.
    let looped = "float i = 0; Ci = 0; while (i < 4 * s) { Ci += texture(\"a.exr\", s, i * t); i += 1; }";
    let branches = "if (s > 0.5) Ci = texture(\"a.exr\", s, t); else Ci = texture(\"b.exr\", t, s);";
    let never = "Ci = s; if (s > 2) Ci = texture(\"a.exr\", s, t);";
    let uniform = "Ci = s + color texture(\"a.exr\", 0.3, 0.3, 0.4, 0.3, 0.3, 0.4, 0.4, 0.4);";
    let late = "Ci = diffuse(normalize(N)) * color texture(\"b.exr\", s, t);";
    let cases = [
        (vec![("lit", lit), ("one", ONE_LOOKUP)], [2, 2]),
        (vec![("looped", looped), ("two", TWO_LOOKUPS)], [4, 6]),
        // A stream has both sides of a branch, whichever pixels take them.
        (vec![("branches", branches), ("one", ONE_LOOKUP)], [2, 3]),
        (vec![("never", never)], [1, 1]),
        // The microprocessor looks up what is the same for all pixels.
        (vec![("uniform", uniform)], [0, 0]),
        (vec![("late", late), ("one", ONE_LOOKUP)], [1, 2]),
    ];
    for (shaders, expected) in cases {
        let folder = textured(&shaders);
        let surfaces: Vec<String> = shaders.iter().map(|(name, _)| format!("Surface \"{name}\"")).collect();
        let surfaces: Vec<&str> = surfaces.iter().map(String::as_str).collect();
        let (runs, [shared, separate, _]) = lookups(folder.path(), &surfaces, &[]);
        assert!(runs == expected && shared <= separate, "{surfaces:?}: {runs:?}, {shared} us, {separate} separate");
        let (difference, _) = difference(&folder.path().join("s.rib"), "32x24");
        assert!(difference == 0.0, "{surfaces:?}: {difference}");
    }
    // A floor, a ball and an environment.
    let (difference, report) = difference(&repository("assets/scenes/textures.rib"), "64x48");
    let textures = &report["textures"];
    assert!(difference == 0.0 && textures["shared"].as_u64() < textures["separate"].as_u64(), "{textures}");
}

#[test]
fn a_light_with_a_texture_makes_its_lookup_once_for_all_shaders() {
    let lit = "illuminance (P) { lit += Cl * max(normalize(N) . normalize(L), 0); } Ci = lit;";
    let folder = textured(&[("one", lit), ("two", &lit.replace("Ci = ", "Ci = 0.5 * "))]);
    let slide = "light slide() { solar(vector (0, 0, 1), 0) { point p = transform(\"world\", Ps);
        Cl = texture(\"a.exr\", xcomp(p), ycomp(p)); } }";
    fs::write(folder.path().join("slide.sl"), slide).expect("it can be written");
    let put = |text: String| fs::write(folder.path().join("s.rib"), text).expect("it can be written");
    put(scene(&["Surface \"one\"", "Surface \"two\""]).replace("\"distantlight\" 1", "\"slide\" 1 #"));
    let (difference, report) = difference(&folder.path().join("s.rib"), "32x24");
    let runs = |key: &str| ["shared", "separate"].map(|column| report[key][column].as_u64());
    assert_eq!((runs("lights"), runs("textures")), ([Some(1), Some(2)], [Some(1), Some(1)]), "{report}");
    assert!(difference == 0.0, "{difference}");
}

#[test]
fn sizes_from_one_pixel_on_and_scenes_without_surfaces_are_rendered() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = folder.path().join("s.exr");
    fs::write(folder.path().join("s.rib"), scene(&["Surface \"constant\" Color [0.5 0.25 1]"]))
        .expect("it can be written");
    let report = simulated(folder.path(), "s.rib", &image, &["--size", "1x1"]);
    assert_eq!(report["regions"].as_array().map(Vec::len), Some(1));
    assert_eq!(image_file::read(&image).expect("an image").rgba, [[0.5, 0.25, 1.0, 1.0]]);
    fs::write(folder.path().join("s.rib"), scene(&[])).expect("it can be written");
    let report = simulated(folder.path(), "s.rib", &image, &["--size", "131x66"]);
    assert_eq!(report["regions"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["shaders"].as_array().map(Vec::len), Some(0));
    assert!(image_file::read(&image).expect("an image").rgba.iter().all(|p| p[3] == 0.0));
}

#[test]
fn what_the_model_cannot_do_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = folder.path().join("s.exr");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
    write("mirror.sl", "surface mirror() { Ci = trace(P, reflect(I, N)) + 0.25; Oi = 1; }");
    write("endless.sl", "surface endless() { float x = s; while (x > -1) { x = x + 1; } Ci = x; }");
    write("s.rib", &scene(&["Surface \"mirror\""]));
    let report = simulated(folder.path(), "s.rib", &image, &[]);
    assert!(report["left_out"][0].as_str().is_some_and(|s| s.contains("rays") && s.contains("mirror")), "{report}");
    let middle = image_file::read(&image).expect("an image").rgba[12 * 32 + 16];
    assert_eq!(middle, [0.25, 0.25, 0.25, 1.0]);
    write("s.rib", &scene(&["Surface \"endless\""]));
    let output = shadewright(folder.path(), &["simulate", "s.rib", "--model", "pixelflow", "--budget", "1000"]);
    assert!(!output.status.success() && stderr(&output).contains("did not end"), "{}", stderr(&output));
    let output = shadewright(folder.path(), &["simulate", "s.rib", "--model", "pixelflow", "--heatmap", "h.png"]);
    assert!(!output.status.success() && stderr(&output).contains("--model rpu"));
    write("wrong.toml", "[float]\nadd = -1\n");
    let output = shadewright(folder.path(), &["simulate", "s.rib", "--model", "pixelflow", "--config", "wrong.toml"]);
    assert!(!output.status.success() && stderr(&output).contains("wrong.toml"));
}
