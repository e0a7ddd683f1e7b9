//! Programs of the RPU alone, written in assembly (`assets/rpu`), through the binary: their
//! images, and the registers of single runs.
//!
//! `SHADEWRIGHT_BLESS=1 cargo test --test rpu programs::` draws the golden images in `tests/golden/rpu`
//! again. An image that fails is left in `tests/current`.

use crate::common::{repository, shadewright, stderr};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use std::fs;
use std::path::{Path, PathBuf};

/// The programs and the arguments that each needs besides its entry point.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("swizzles", &[]),
    ("conditions", &[]),
    ("mandelbrot", &[]),
    ("sierpinski", &[]),
    ("hash", &[]),
    ("memory", &[]),
    ("spills", &[]),
    ("trace", &["--scene", "trace.rib"]),
    ("split", &[]),
    ("textures", &["--texture", "64x64", "--before", "fill"]),
];

/// Draws a program's 64×64 image into a file.
fn draw(name: &str, extra: &[&str], out: &Path) {
    let file = format!("{name}.rpuasm");
    let mut args = vec!["run", &file, "main", "--image", "64x64", "--out", out.to_str().unwrap()];
    args.extend(extra);
    let output = shadewright(&repository("assets/rpu"), &args);
    assert!(output.status.success(), "{name}: {}", stderr(&output));
}

/// The golden image of a program; rendered again on request.
fn golden(name: &str, extra: &[&str]) -> (PathBuf, Image) {
    let path = repository(&format!("tests/golden/rpu/{name}.png"));
    if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        draw(name, extra, &path);
    }
    let image = image_file::read(&path).unwrap();
    (path, image)
}

#[test]
fn every_program_in_assembly_draws_its_golden_image_to_the_bit() {
    let current = repository("tests/current");
    fs::create_dir_all(&current).unwrap();
    let mut failed = Vec::new();
    for (name, extra) in PROGRAMS {
        let (path, golden) = golden(name, extra);
        let out = current.join(format!("rpu-{name}.png"));
        draw(name, extra, &out);
        if image_file::read(&out).unwrap().rgba != golden.rgba {
            failed.push(format!("{} differs from {}", out.display(), path.display()));
        } else {
            fs::remove_file(&out).unwrap();
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_timed_simulator_draws_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for (name, extra) in PROGRAMS {
        let [functional, timed] = ["functional", "timed"].map(|mode| folder.path().join(format!("{name}-{mode}.exr")));
        draw(name, extra, &functional);
        let mut extra = extra.to_vec();
        extra.push("--timed");
        draw(name, &extra, &timed);
        let bits = |path: &Path| -> Vec<_> {
            image_file::read(path).unwrap().rgba.iter().map(|p| p.map(f32::to_bits)).collect()
        };
        assert!(bits(&functional) == bits(&timed), "{name}");
    }
}

#[test]
fn every_program_in_the_folder_has_a_image() {
    let mut files: Vec<String> = fs::read_dir(repository("assets/rpu"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "rpuasm"))
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut listed: Vec<_> = PROGRAMS.iter().map(|(name, _)| (*name).to_string()).collect();
    listed.sort();
    assert_eq!(files, listed);
}

/// Runs with arguments; gives standard output, or standard error where the run fails.
fn run(args: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("f.rpuasm"),
        "SUBROUTINE_ENTRY_f:\n  mad R0.xyz, R1, C2.x, R0\n  store A.w, 5, R0\n  return\n",
    )
    .unwrap();
    fs::write(folder.path().join("bad.rpuasm"), "SUBROUTINE_ENTRY_f:\n  mov R0, R0\n  store I0.w, 0, R0\n").unwrap();
    fs::write(folder.path().join("lost.rpuasm"), "SUBROUTINE_ENTRY_f:\n  mov R0, R0\n  store A.x, 0, R0\n  return\n")
        .unwrap();
    let memory: Vec<u8> = (0..8u32).flat_map(u32::to_le_bytes).collect();
    fs::write(folder.path().join("memory"), memory).unwrap();
    fs::write(folder.path().join("texel.rpuasm"), "SUBROUTINE_ENTRY_f:\n  texload I0, 0, R0\n  return\n").unwrap();
    fs::write(folder.path().join("load.rpuasm"), "SUBROUTINE_ENTRY_f:\n  load I2, A.x, 0\n  return\n").unwrap();
    let mut all = vec!["run"];
    all.extend(args);
    let output = shadewright(folder.path(), &all);
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(stderr(&output)),
    }
}

#[test]
fn registers_are_set_on_the_command_line_and_shown_before_and_after() {
    let text = run(&["f.rpuasm", "f", "--set", "R0=1,2,3,0", "--set", "R1=2", "--set", "C2.x=10", "--registers"]);
    let text = text.unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["register", "before", "after"]);
    assert_eq!(lines[1], ["R0", "1.0,", "2.0,", "3.0,", "0.0", "21.0,", "22.0,", "23.0,", "0.0"]);
    assert_eq!(lines.len(), 2, "only R0 changed:\n{text}");
}

#[test]
fn a_timed_run_tells_how_long_it_took() {
    let text = run(&["f.rpuasm", "f", "--timed", "--json"]).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["timed"]["issued"], 3);
    let text =
        run(&["vector f(vector a, b) { return a ^ b; }", "f", "1,2,3", "4,5,6", "--on", "eval", "--timed"]).unwrap();
    assert!(text.contains("6 cycles for 2 instructions"), "{text}");
}

#[test]
fn all_registers_are_shown_when_asked_for_and_as_json_too() {
    let text = run(&["f.rpuasm", "f", "--set", "C2.x=10", "--all-registers", "--json"]).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["registers"]["C2"]["before"], serde_json::json!(["10.0", "0.0", "0.0", "0.0"]));
    assert_eq!(value["registers"]["A"]["after"][3], "#0x80000000");
    assert_eq!(value["registers"].as_object().unwrap().len(), 65);
}

#[test]
fn a_program_loads_from_the_memory_image_that_a_file_holds() {
    let text = run(&["load.rpuasm", "f", "--set", "A.x=#1", "--memory", "memory"]).unwrap();
    assert!(text.contains("#0x4, #0x5, #0x6, #0x7"), "{text}");
}

#[test]
fn a_image_is_a_texture() {
    let folder = tempfile::tempdir().unwrap();
    let white = folder.path().join("white.exr");
    let out = white.to_str().unwrap();
    run(&["color f(point p) { return color(1, 2, 3); }", "f", "--image", "2x2", "--on", "eval", "--out", out]).unwrap();
    let text = run(&["texel.rpuasm", "f", "--texture", out, "--set", "R0=1,1,0,0"]).unwrap();
    assert!(text.contains("1.0, 2.0, 3.0, 1.0"), "{text}");
}

#[test]
fn a_function_of_the_shading_language_shows_the_registers_of_its_call() {
    let text = run(&["vector f(vector x) { return 2 * x; }", "f", "-3,4,0", "--on", "rpu", "--registers"]).unwrap();
    assert!(text.contains("-3.0, 4.0, 0.0, 0.0"), "{text}");
    assert!(text.contains("-6.0, 8.0, 0.0, 0.0"), "{text}");
}

#[test]
fn a_function_draws_the_same_image_on_the_evaluator_and_the_rpu() {
    let folder = tempfile::tempdir().unwrap();
    let source = "color f(point p; float k) { return color(xcomp(p), k * ycomp(p), zcomp(p)); }";
    let mut images = Vec::new();
    for runner in ["eval", "rpu"] {
        let out = folder.path().join(format!("{runner}.exr"));
        run(&[source, "f", "0.5", "--image", "9x5", "--on", runner, "--out", out.to_str().unwrap()]).unwrap();
        images.push(image_file::read(&out).unwrap().rgba);
    }
    assert_eq!(images[0], images[1]);
    assert_eq!(images[0][9 * 2 + 4], [0.5, 0.25, 0.0, 1.0]);
}

#[test]
fn a_compiled_program_runs_from_its_binary_form() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.sl"), "vector f(vector a, b) { return 2 * a + 4 * b; }").unwrap();
    let compile = shadewright(folder.path(), &["compile", "f.sl", "--emit", "rpubin", "--out", "f.rpubin"]);
    assert!(compile.status.success(), "{}", stderr(&compile));
    let output = shadewright(folder.path(), &["run", "f.rpubin", "f", "--set", "R0=1,2,3,0", "--set", "R1=1,1,1,0"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("6.0, 8.0, 10.0, 0.0"), "{text}{}", stderr(&output));
}

#[test]
fn native_code_names_the_instructions_and_source_lines_that_it_is_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let text = "float f(float a) {\n    float root = sqrt(a + 3);\n    return root / (1 + a * a);\n}\n";
    fs::write(folder.path().join("f.sl"), text).unwrap();
    let output = shadewright(folder.path(), &["compile", "f.sl", "--emit", "asm"]);
    let listing = String::from_utf8(output.stdout.clone()).unwrap();
    if !output.status.success() {
        // The CPU has no vectors that code is generated for, or the reason is another defect.
        assert!(stderr(&output).contains("native"), "{}", stderr(&output));
        return;
    }
    let at = |part: &str| listing.find(part).unwrap_or_else(|| panic!("{part} in {listing}"));
    assert!(listing.starts_with("; native code, AVX"), "{listing}");
    let places = [at("f.sl:2: float root = sqrt(a + 3);"), at("rsq"), at("vsqrtps")];
    assert!(places.is_sorted(), "{listing}");
    assert!(at("f.sl:3: return root / (1 + a * a);") < at("rcp") && at("rcp") < listing.len(), "{listing}");
}

#[test]
fn a_perf_map_names_the_functions_of_native_code_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.rib"), "WorldBegin\nTranslate 0 0 3\nSphere 1 -1 1 360\nWorldEnd\n").unwrap();
    let render = ["render", "ball.rib", "-o", "ball.png", "--backend", "rpu", "--engine", "native", "--perf-map"];
    let output = shadewright(folder.path(), &render);
    let messages = stderr(&output);
    if !output.status.success() {
        // The CPU has no vectors that code is generated for, or the reason is another defect.
        assert!(messages.contains("--engine native"), "{messages}");
        return;
    }
    let path = messages.lines().find_map(|line| line.split_once("written to ")).expect("a line names the map").1;
    let map = fs::read_to_string(path).unwrap();
    fs::remove_file(path).unwrap();
    let mut functions = Vec::new();
    for line in map.lines() {
        let mut words = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(words.next().unwrap(), 16).unwrap();
        let (start, bytes) = (number(), number());
        assert!(bytes > 0, "{line}");
        functions.push((start, start + bytes, words.next().unwrap()));
    }
    assert!(functions.iter().any(|&(.., name)| name == "rpu:$camera"), "{map}");
    // Each program begins with what enters and leaves its code.
    let programs = functions.chunk_by(|_, &(.., name)| name != "rpu:enter_and_leave");
    assert!(programs.flat_map(|program| program.windows(2)).all(|pair| pair[0].1 == pair[1].0), "{map}");
}

#[test]
fn a_compiled_function_links_with_assembly_and_binaries() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("f.sl", "vector f(vector a, b) { return 2 * a + 4 * b; }");
    write("g.rpuasm", ".extern f\n.extern h\nSUBROUTINE_ENTRY_g: mov R1, R0\ncall f push 0\ncall h push 0\nreturn");
    write("h.rpuasm", ".const C0, 1.0, 2.0, 3.0, 4.0\nSUBROUTINE_ENTRY_h: add R0.xyz, R0, C0 | mov R0.w, 0.0\nreturn");
    let compile = |args: &[&str]| {
        let output = shadewright(folder.path(), &[&["compile"], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    compile(&["h.rpuasm", "--emit", "rpubin", "--out", "h.rpubin"]);
    compile(&["f.sl", "g.rpuasm", "h.rpubin", "--emit", "rpubin", "--out", "all.rpubin"]);
    compile(&["all.rpubin", "--emit", "rpu", "--out", "all.rpuasm"]);
    for program in ["all.rpubin", "all.rpuasm"] {
        let output = shadewright(folder.path(), &["run", program, "g", "--set", "R0=1,2,3,0"]);
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(text.contains("7.0, 14.0, 21.0, 0.0"), "{text}{}", stderr(&output));
    }
    let alone = shadewright(folder.path(), &["run", "g.rpuasm", "g"]);
    assert!(stderr(&alone).contains("is in another program: link the two"), "{}", stderr(&alone));
    let twice = shadewright(folder.path(), &["compile", "h.rpuasm", "h.rpubin", "--emit", "rpu"]);
    assert!(stderr(&twice).contains("`h` is defined in both h.rpuasm and h.rpubin"), "{}", stderr(&twice));
    let ir = shadewright(folder.path(), &["compile", "h.rpuasm"]);
    assert!(stderr(&ir).contains("add --emit rpu"), "{}", stderr(&ir));
}

#[test]
fn every_shader_of_a_file_compiles_alone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let params: String = (0..25).map(|i| format!("float f{i} = {i}; color c{i} = {i};")).collect();
    let sum: Vec<String> = (0..25).map(|i| format!("f{i} * c{i}")).collect();
    let sum = sum.join(" + ");
    let many: String = (0..40).map(|i| format!("Ci += color ({i}.1, {i}.2, {i}.3) * noise({i} * P);")).collect();
    write(
        "all.sl",
        &format!(
            "surface a(string lamp = \"lamp\") {{ Ci = trace(P, N) + color transform(lamp, P); {many} }}
             light b({params}) {{ illuminate (P) Cl = ({sum}) * transmission(P, Ps); }}
             light c(float k = 1) {{ Cl = k * noise(Ps); }}
             displacement d({params}) {{ P += comp({sum}, 0) * N; }}
             volume e() {{ Ci *= 0.5; }}
             imager f({params}) {{ Ci += {sum}; }}"
        ),
    );
    // A shader with the name of a standard one, which is no standard one.
    write("plastic.sl", "surface plastic() { nonsense }");
    write("f.sl", "point f(string s; point p) { return transform(s, p) + vector (ambient() * color trace(p, p)); }");
    for form in ["rpu", "wgsl"] {
        let output = shadewright(folder.path(), &["compile", "all.sl", "--emit", form]);
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let mark = if form == "rpu" { "$" } else { "@" };
        for entry in ["surface.0", "light.1", "light.2", "surface.3", "surface.4", "imager.5"] {
            assert!(text.contains(&format!("{mark}{entry}")), "{entry} is not in the {form}");
        }
        let output = shadewright(folder.path(), &["compile", "f.sl", "--emit", form]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn a_string_that_would_equal_another_is_refused() {
    let source = "float f(string s) { return s == \"costarring\"; }";
    assert!(run(&[source, "f", "liquids", "--on", "rpu"]).unwrap().contains("return = 0"));
    let message = run(&[source, "f", "liquid", "--on", "rpu"]).unwrap_err();
    assert!(message.contains("\"costarring\" and \"liquid\" have the same identifier"), "{message}");
}

#[test]
fn matrices_are_arguments_and_results() {
    let source = "matrix f(matrix m; float k) { return m * k; }";
    let text = run(&[source, "f", "2", "-1.5", "--on", "rpu"]).unwrap();
    assert!(text.contains("(-3, -0, -0, -0)"), "{text}");
}

#[test]
fn a_program_that_cannot_go_on_is_reported_with_its_line() {
    let message = run(&["lost.rpuasm", "f", "--set", "A.x=#7"]).unwrap_err();
    assert!(message.contains("store to 0x7") && message.contains("lost.rpuasm:3"), "{message}");
    let message = run(&["bad.rpuasm", "f"]).unwrap_err();
    assert!(message.contains("bad.rpuasm:3"), "{message}");
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_a_reason() {
    for (args, expected) in [
        (&["f.rpuasm", "g"][..], "there are: f"),
        (&["f.rpuasm", "f", "1"], "--set"),
        (&["f.rpuasm", "f", "--on", "gpu"], "on the RPU alone"),
        (&["f.rpuasm", "f", "--memory", "f.rpuasm"], "vectors of 16 bytes"),
        (&["f.rpuasm", "f", "--set", "R77=1"], "no register `R77`"),
        (&["f.rpubin", "f"], "f.rpubin"),
        (&["float f(float x) { return x; }", "f", "1", "--set", "R0=1"], "takes arguments"),
        (&["float f(point x) { return 1; }", "f", "--image", "4x4", "--out", "x.png"], "gives no color"),
        (&["color f(point x) { return 1; }", "f", "--image", "0x4", "--out", "x.png"], "empty"),
    ] {
        let message = run(args).unwrap_err();
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

/// Shading is one instruction of two NaNs: the image shows which of them is left, in every lane.
#[test]
fn every_engine_draws_the_same_nans_with_every_instruction_set_at_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("nans.rpuasm"),
        "SUBROUTINE_ENTRY_main:\nmov R4.x, #0x7fffffff\nmov R5.x, #0x7f8ffffe\ndp2h R7, R4.x, 0.5*R5.x\n\
         mul R8, -R5.x, R4.x\niand R14.w, R7.x, #255\nutof R1.w, R14.w\nmov R0.x, R1.w\n\
         iand R14.w, R8.x, #255\nutof R1.w, R14.w\nmov R0.y, R1.w\nreturn\n",
    )
    .unwrap();
    let draw = |options: &[&str]| {
        let mut args = vec!["run", "nans.rpuasm", "main", "--image", "70x9", "--out", "nans.exr"];
        args.extend(options);
        let output = shadewright(dir.path(), &args);
        assert!(output.status.success(), "{options:?}: {}", stderr(&output));
        image_file::read(&dir.path().join("nans.exr")).unwrap().rgba
    };
    let first = draw(&["--engine", "interpreter", "--instructions", "portable"]);
    assert!(first.iter().all(|texel| texel[..2] == [255.0, 254.0]), "{:?}", first[0]);
    for options in ["--engine interpreter", "--engine auto", "--threads 1", "--threads 2"] {
        assert_eq!(draw(&options.split(' ').collect::<Vec<_>>()), first, "{options}");
    }
    let has = |set: &str| shadewright::rpu::simd::InstructionSet::all().iter().any(|s| s.name() == set);
    for (set, name) in [("AVX2", "avx2"), ("AVX-512", "avx512")] {
        for engine in ["interpreter", "native"].into_iter().filter(|_| has(set)) {
            assert_eq!(draw(&["--engine", engine, "--instructions", name]), first, "{engine} with {set}");
        }
    }
}

/// The function reads a place of the stack that nobody has written, and leaves more than it found.
#[test]
fn each_thread_finds_zeros_on_the_stack_whatever_ran_in_its_lane_before() {
    let dir = tempfile::tempdir().unwrap();
    let text = "SUBROUTINE_ENTRY_main:\ncall f push 8\nmov R0, R1\nreturn\n\
                f: add R1, S1, 0.25\nadd R1, R1, S7\nmov S1, R1\nmov S7, R1\nreturn\n";
    fs::write(dir.path().join("leaves.rpuasm"), text).unwrap();
    for how in [["--engine", "interpreter"], ["--engine", "auto"], ["--engine", "native"], ["--threads", "1"]] {
        let args = ["run", "leaves.rpuasm", "main", "--image", "100x100", "--out", "stack.exr"];
        let output = shadewright(dir.path(), &[&args[..], &how[..]].concat());
        if how[1] != "native" {
            assert!(output.status.success(), "{how:?}: {}", stderr(&output));
        }
        let image = image_file::read(&dir.path().join("stack.exr")).unwrap();
        assert!(image.rgba.iter().all(|texel| *texel == [0.25, 0.25, 0.25, 1.0]), "{how:?}");
    }
    let timed = ["run", "leaves.rpuasm", "main", "--image", "100x100", "--out", "stack.exr", "--timed"];
    assert!(shadewright(dir.path(), &timed).status.success());
    let image = image_file::read(&dir.path().join("stack.exr")).unwrap();
    assert!(image.rgba.iter().all(|texel| *texel == [0.25, 0.25, 0.25, 1.0]));
}

#[test]
fn engines_are_obeyed_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| shadewright(&repository("assets/rpu"), args);
    let refused = |args: &[&str], why: &str| {
        let output = run(args);
        assert!(!output.status.success() && stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    };
    let counted = run(&["run", "mandelbrot.rpuasm", "main", "--engine", "interpreter"]);
    assert!(stderr(&counted).contains("instructions,"), "{}", stderr(&counted));
    let without = ["run", "mandelbrot.rpuasm", "main", "--engine", "native"];
    let native = run(&without);
    if native.status.success() {
        assert!(!stderr(&native).contains("instructions"), "native code counts none: {}", stderr(&native));
        assert_eq!(native.stdout, counted.stdout);
    }
    refused(&[&without[..], &["--instructions", "portable"]].concat(), "neither AVX2 nor AVX-512");
    refused(&["run", "mandelbrot.rpuasm", "main", "--timed", "--engine", "auto"], "has no choice of engines");
    let out = dir.path().join("a.png");
    let scene =
        ["compare", "trace.rib", "--between", "rpu,rpu-f24", "--engine", "native", "--out", out.to_str().unwrap()];
    refused(&scene, "unexpected argument '--engine'");
    refused(&["simulate", "trace.rib", "--engine", "native"], "unexpected argument '--engine'");
    let function = "float f(float x) { return x * x; }";
    let called = run(&["run", function, "f", "3", "--on", "rpu", "--engine", "interpreter"]);
    assert!(String::from_utf8_lossy(&called.stdout).contains("rpu-interpreter"), "{}", stderr(&called));
    refused(&["run", function, "f", "3", "--on", "eval", "--engine", "interpreter"], "name it with --on rpu");
}
