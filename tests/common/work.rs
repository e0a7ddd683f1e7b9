//! How far a process has come: by the processor time that it took, which other work on the machine
//! does not delay.

use std::process::Child;
use std::time::{Duration, Instant};

/// The longest time to wait for a process.
const PATIENCE: Duration = Duration::from_secs(300);

/// Time between two looks at a process.
const GLANCE: Duration = Duration::from_millis(1);

/// Ticks a second of the times in `/proc/PID/stat`, on every Linux that people have.
const TICKS: u64 = 100;

/// How far a process came.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Processor time of all its threads.
    pub time: Duration,
    /// True if it has ended.
    pub has_ended: bool,
}

/// Waits until a process has worked for so long, or has ended.
///
/// # Panics
/// When neither happens in five minutes.
pub fn until_worked(process: &mut Child, least: Duration) -> Work {
    let start = Instant::now();
    let mut time = Duration::ZERO;
    loop {
        // Elsewhere than on Linux the time that went by counts.
        time = time.max(processor_time(process.id()).unwrap_or_else(|| start.elapsed()));
        let has_ended = process.try_wait().expect("a process of ours").is_some();
        if has_ended || time >= least {
            return Work { time, has_ended };
        }
        assert!(start.elapsed() < PATIENCE, "the process neither works nor ends");
        std::thread::sleep(GLANCE);
    }
}

/// The processor time of a process so far, on Linux.
fn processor_time(process: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the name in brackets; user and system time are the fields 14 and 15.
    let fields = text.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(1000 / TICKS * ticks))
}
