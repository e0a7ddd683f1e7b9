//! The most memory that a file of 10 MB costs, by reader and by stage: the table of
//! `docs/security.md`.
//!
//! Each case makes files of about so many bytes and runs the program on them as a process of its
//! own, whose peak is measured. Usually files are small, and twice as large ones may take at most
//! twice as much beyond what the program takes for next to nothing; cases that grow faster up to a
//! limit are left out. With `SHADEWRIGHT_MEMORY=whole`
//! they have 10 MB, or fewer where that takes hours, and each run prints its row of the table:
//!
//! ```text
//! SHADEWRIGHT_MEMORY=whole cargo test --release --test cli memory:: -- --nocapture --test-threads 1
//! ```

mod images;
mod meshes;
mod programs;
mod scenes;
mod shaders;

use crate::common::peak::{MAX_MEMORY, Run, measured};
use std::fs;

/// Bytes of the files of the table.
const WHOLE: usize = 10_000_000;
/// Bytes of the smaller files of a usual run, unless the case has other ones.
const SMALL: usize = 50_000;
/// The memory that the larger of two small files may take beyond twice that of the smaller one:
/// allocators and threads differ from run to run.
const SLACK: u64 = 64 << 20;

/// Files by their names.
pub type Files = Vec<(&'static str, Vec<u8>)>;

/// A kind of file that asks for much memory.
#[derive(Clone, Copy)]
pub struct Case {
    /// The stage that reads it, as in the table: a reader, or a stage of the compiler.
    pub stage: &'static str,
    /// The thing that it holds much of.
    pub what: &'static str,
    /// Makes files of about so many bytes together.
    pub files: fn(usize) -> Files,
    /// The arguments of the program.
    pub args: &'static [&'static str],
    /// Bytes of the smaller file of a usual run.
    pub small: usize,
    /// Bytes of the file of the table.
    pub whole: usize,
    /// True if a limit bounds it. Code that is copied for each of a scene's objects grows with their
    /// number and its own size until then, and takes long to compile: usual runs leave it out.
    pub is_limited: bool,
}

impl Case {
    /// A scene `s.rib`, made of these bytes, that is checked.
    pub const fn checked(stage: &'static str, what: &'static str, files: fn(usize) -> Files) -> Self {
        let args = &["check", "s.rib"];
        Self { stage, what, files, args, small: SMALL, whole: WHOLE, is_limited: false }
    }

    /// The same for other arguments.
    pub const fn with(self, args: &'static [&'static str]) -> Self {
        Self { args, ..self }
    }

    /// The same with a smaller file of so many bytes in a usual run.
    pub const fn from(self, small: usize) -> Self {
        Self { small, ..self }
    }

    /// The same with a file of so many bytes in the table.
    pub const fn reduced_to(self, whole: usize) -> Self {
        Self { whole, ..self }
    }

    /// The same for a case that a limit bounds.
    pub const fn limited(self) -> Self {
        Self { is_limited: true, ..self }
    }

    /// Runs the program on files of about so many bytes, which must not panic or be killed. Gives
    /// the bytes that they have.
    #[track_caller]
    fn run(&self, bytes: usize) -> (usize, Run) {
        let dir = tempfile::tempdir().expect("a folder");
        let files = (self.files)(bytes);
        files.iter().for_each(|(name, content)| fs::write(dir.path().join(name), content).expect("a file"));
        let run = measured(dir.path(), self.args);
        let Self { stage, what, .. } = self;
        let said = &run.said[..run.said.floor_char_boundary(4000)];
        assert!(run.status.is_some_and(|status| status <= 2), "{stage}, {what}: {:?}: {said}", run.status);
        assert!(!run.said.contains("panicked"), "{stage}, {what}: {said}");
        (files.iter().map(|(_, content)| content.len()).sum(), run)
    }
}

/// Holds the cases to the bound, or to growth that is near linear.
#[track_caller]
fn hold(cases: &[Case]) {
    let whole = std::env::var("SHADEWRIGHT_MEMORY").is_ok_and(|size| size == "whole");
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|case| whole || !case.is_limited) {
        let Case { stage, what, .. } = case;
        if whole {
            let (bytes, run) = case.run(case.whole);
            let (mebibytes, seconds) = (run.peak >> 20, run.time.as_secs_f64());
            println!("| {stage} | {what} | {:.1} | {mebibytes} | {seconds:.0} |", bytes as f64 / 1e6);
            if run.peak > MAX_MEMORY {
                wrong.push(format!("{stage}, {what}: {mebibytes} MiB"));
            }
            continue;
        }
        let [(_, none), (_, one), (_, two)] = [0, case.small, 2 * case.small].map(|bytes| case.run(bytes));
        let more = |run: &Run| run.peak.saturating_sub(none.peak);
        println!("{stage}, {what}: {}, {}, {} MiB", none.peak >> 20, one.peak >> 20, two.peak >> 20);
        if two.peak > MAX_MEMORY || more(&two) > 2 * more(&one) + SLACK {
            wrong.push(format!("{stage}, {what}: {} MiB, then {}", one.peak >> 20, two.peak >> 20));
        }
    }
    assert!(wrong.is_empty(), "more memory than promised: {wrong:#?}");
}

#[test]
fn scenes_take_memory_in_proportion_to_their_files() {
    hold(scenes::CASES);
}

#[test]
fn meshes_take_memory_in_proportion_to_their_files() {
    hold(&meshes::cases());
}

#[test]
fn images_and_point_clouds_take_memory_in_proportion_to_their_files() {
    hold(&images::cases());
}

#[test]
fn shaders_take_memory_in_proportion_to_their_files() {
    hold(shaders::CASES);
}

#[test]
fn programs_take_memory_in_proportion_to_their_files() {
    hold(programs::CASES);
}
