//! What the tests through the binary share.

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
