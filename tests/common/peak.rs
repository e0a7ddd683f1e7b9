//! Runs of the program whose memory is measured.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The most memory that a hostile file of 10 MB may cost, in bytes (`docs/security.md`).
pub const MAX_MEMORY: u64 = 2 << 30;

/// A run of the program.
pub struct Run {
    /// The status it ended with; `None` where a signal ended it.
    pub status: Option<i32>,
    /// The text that it wrote to both streams.
    pub said: String,
    /// The most memory that it took, in bytes.
    pub peak: u64,
    /// How long it took.
    pub time: Duration,
}

/// Runs the program with arguments in a folder, without its cache.
#[expect(clippy::zombie_processes, reason = "it is waited for by `wait`, which asks for its memory too")]
pub fn measured(folder: &Path, args: &[&str]) -> Run {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args(args)
        .env("SHADEWRIGHT_CACHE", "")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built with the tests");
    let mut printed = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        printed.read_to_end(&mut text).expect("a pipe");
        text
    });
    let number = child.id();
    let sampler = cfg!(target_os = "linux").then(|| std::thread::spawn(move || sampled_peak(number)));
    let mut said = Vec::new();
    child.stderr.take().expect("a pipe").read_to_end(&mut said).expect("a pipe");
    said.extend(reader.join().expect("no panic"));
    let sampled = sampler.and_then(|sampler| sampler.join().expect("no panic"));
    let (status, most) = wait(&child);
    let peak = sampled.unwrap_or(most);
    Run { status: status.code(), said: String::from_utf8_lossy(&said).into_owned(), peak, time: start.elapsed() }
}

/// The peak of a process's own memory, in bytes, as often as it can be read before it ends. What the
/// system says at the end counts the memory of the process that started it, too: here files of cases.
fn sampled_peak(process: u32) -> Option<u64> {
    let mut peak = None;
    // The entry of a process that ended and was not waited for has no memory any more.
    while let Some(kibibytes) = high_water_mark(process) {
        peak = peak.max(Some(kibibytes << 10));
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

fn high_water_mark(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
}

/// Waits for a process. Gives its status, and the most memory in bytes that it took or began with.
fn wait(child: &Child) -> (ExitStatus, u64) {
    let mut status = 0;
    // SAFETY: the structure is plain numbers; the call writes it and the status, and nobody else
    // waits for this process.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(child.id() as i32, &mut status, 0, &mut usage), child.id() as i32);
        usage
    };
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    (ExitStatus::from_raw(status), usage.ru_maxrss as u64 * unit)
}
