//! What the tests through the binary share; each uses part of it.
#![allow(dead_code, reason = "every test file compiles this module for itself and uses part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program with arguments in a folder.
pub fn shadewright(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program was built with the tests")
}

/// What a run said on standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The Stanford bunny, which stays outside the repository: `bunny.ply` in the folder that `SHADEWRIGHT_MESHES` names, or in `../shared/meshes`.
///
/// # Panics
/// When it is not there, with a message that says where it was looked for.
pub fn bunny() -> PathBuf {
    let folder = std::env::var_os("SHADEWRIGHT_MESHES").map_or_else(|| repository("../shared/meshes"), PathBuf::from);
    let mesh = folder.join("bunny.ply");
    assert!(
        mesh.exists(),
        "this test needs the Stanford bunny as {} (34,834 vertices, 69,451 triangles); set SHADEWRIGHT_MESHES to its folder",
        mesh.display()
    );
    mesh.canonicalize().unwrap_or(mesh)
}
