//! Runs this program again as a process of its own, so that its crash, or a time-out, is a result.

use shadewright::text::visible::visible;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most bytes of standard output that are kept: the list of a scene's files.
const MAX_OUTPUT: usize = 64 << 20;

/// Most bytes of standard error that are kept.
const MAX_MESSAGES: usize = 256 << 10;

/// Time between looks at a process.
const POLL: Duration = Duration::from_millis(5);

/// How long output is waited for after a process has ended: a program that it started may hold its
/// end.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a process ended.
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was stopped because it took too long.
    TimedOut,
    /// It was stopped because this process was interrupted.
    Interrupted,
    /// It never started.
    NotStarted(std::io::Error),
}

/// A process that has ended.
pub struct Ended {
    /// How.
    pub end: End,
    /// The bytes that it printed to standard output.
    pub output: Vec<u8>,
    /// The text that it printed to standard error, [`visible`].
    pub messages: String,
    /// How long it took.
    pub time: Duration,
}

/// Runs this program with arguments in a folder, for at most a time, and until `stop` is set.
pub fn run(folder: &Path, words: &[OsString], timeout: Duration, stop: &AtomicBool) -> Ended {
    let begin = Instant::now();
    let failed = |error| Ended {
        end: End::NotStarted(error),
        output: Vec::new(),
        messages: String::new(),
        time: begin.elapsed(),
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failed(error),
    };
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own can be stopped with all that it has started.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    let output = Pipe::read(child.stdout.take(), MAX_OUTPUT);
    let messages = Pipe::read(child.stderr.take(), MAX_MESSAGES);
    let end = loop {
        match child.try_wait() {
            Ok(Some(status)) => break End::Exited(status),
            Ok(None) => {}
            Err(error) => break End::NotStarted(error),
        }
        let end = match (stop.load(Ordering::Relaxed), begin.elapsed() >= timeout) {
            (true, _) => End::Interrupted,
            (_, true) => End::TimedOut,
            _ => {
                std::thread::sleep(POLL);
                continue;
            }
        };
        kill(&mut child);
        break end;
    };
    let time = begin.elapsed();
    let messages = String::from_utf8_lossy(&messages.take()).into_owned();
    Ended { end, output: output.take(), messages: visible(&messages).into_owned(), time }
}

/// Ends a process and those that it started, and waits for it.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        // SAFETY: the call has no memory to be wrong about. The child leads a group of its own, and is
        // not waited for yet, so that its number is no other process's.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The output of a process, read by a thread.
struct Pipe {
    kept: Arc<Mutex<Vec<u8>>>,
    done: Receiver<()>,
}

impl Pipe {
    /// Reads all of it, and keeps the first bytes.
    fn read<R: Read + Send + 'static>(from: Option<R>, most: usize) -> Self {
        let (sender, done) = channel();
        let kept = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut from) = from {
            let kept = kept.clone();
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 14];
                while let Ok(n @ 1..) = from.read(&mut buffer) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = most.saturating_sub(kept.len()).min(n);
                    kept.extend_from_slice(&buffer[..room]);
                }
                // Who waits may have lost its patience.
                let _ = sender.send(());
            });
        }
        Self { kept, done }
    }

    /// Returns the bytes that were read.
    fn take(self) -> Vec<u8> {
        let _ = self.done.recv_timeout(PATIENCE);
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
