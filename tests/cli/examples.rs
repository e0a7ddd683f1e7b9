//! The programs in `examples/`: Cargo builds them with the tests.

use crate::common::repository;
use std::path::Path;
use std::process::{Command, Output};

/// Runs an example with arguments in a folder.
fn example(name: &str, folder: &Path, args: &[&str]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_shadewright")).with_file_name("examples").join(name);
    let output = Command::new(program).args(args).current_dir(folder).output();
    output.expect(
        "`cargo test` builds the examples, unless it is given a test by name: then `cargo build --examples` does",
    )
}

/// Returns the output of an example that succeeds.
#[track_caller]
fn printed(name: &str, folder: &Path, args: &[&str]) -> String {
    let output = example(name, folder, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_scene_is_rendered_and_its_image_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene =
        "Format 12 8 1\nDisplay \"a\" \"file\" \"rgba\"\nWorldBegin\nTranslate 0 0 5\nSphere 1 -1 1 360\nWorldEnd\n";
    std::fs::write(folder.path().join("ball.rib"), scene).expect("the folder can be written");
    for image in ["a.png", "b.png"] {
        assert_eq!(printed("render_scene", folder.path(), &["ball.rib", image]), format!("{image}: 12 x 8 pixels\n"));
    }
    let report = printed("compare_images", folder.path(), &["a.png", "b.png"]);
    assert!(
        report.starts_with("FLIP (0 is equal)            0.000000\nSSIM (1 is equal)            1.000000\n"),
        "{report}"
    );
}

#[test]
#[cfg(feature = "gpu")]
fn a_shader_is_compiled_to_wgsl() {
    let folder = repository("assets/shaders");
    let kernels = printed("compile_shader", &folder, &["checker.sl"]);
    assert!(kernels.contains("@compute") && kernels.contains("fn "), "{kernels}");
}

#[test]
fn an_example_without_arguments_prints_how_it_is_used() {
    for name in ["render_scene", "compare_images"] {
        let output = example(name, Path::new("."), &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && message.contains(&format!("usage: {name} ")), "{message}");
    }
}
