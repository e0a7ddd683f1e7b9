//! `Procedural`: geometry that something else than the scene's own text makes (RISpec 3.2, §5.7).

use super::archive::read_named;
use super::args::Args;
use super::decode;
use super::params::Values;
use super::reader::Reader;
use shadewright_base::text::diagnostics::Diagnostic;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a program may take.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// How long a program may take to end once it has closed its output.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Most bytes that a program may write.
const MAX_OUTPUT: u64 = 256 << 20;

/// `Procedural "type" [strings] [bound]`
pub fn procedural(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let kind = args.string("the kind of procedural")?;
    let (strings, _) = args.string_values()?;
    args.numbers::<6>("a box of six numbers")?;
    args.skip()?;
    match (kind.as_str(), strings.as_slice()) {
        ("DelayedReadArchive", [file]) => r.closed(|r| read_named(r, args, file.clone())),
        ("DelayedReadArchive", _) => Err(args.error("one file name is needed")),
        ("RunProgram", [program, data]) => run_program(r, args, program, data),
        ("RunProgram", _) => Err(args.error("a program and its data are needed, two strings")),
        ("DynamicLoad", _) => {
            Err(args.error("\"DynamicLoad\" is left out").hint("it would run code of the scene within this process"))
        }
        (other, _) => Err(args
            .error(format!("there is no procedural of kind `{other}`"))
            .hint("use \"DelayedReadArchive\" or \"RunProgram\"")),
    }
}

/// `Procedural2 "type" "bound" parameters`
pub fn procedural2(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let kind = args.string("the kind of procedural")?;
    let _bound = args.string("how its box is found")?;
    let mut file = None;
    while let Some((token, _)) = args.parameter_name()? {
        let (values, _) = args.untyped_values()?;
        if let (Some("filename"), Values::Strings(names)) = (token.split_whitespace().next_back(), values) {
            file = names.into_iter().next();
        }
    }
    match (kind.as_str(), file) {
        ("DelayedReadArchive2", Some(file)) => r.closed(|r| read_named(r, args, file)),
        ("DelayedReadArchive2", None) => {
            Err(args.error("no file is named").hint("give \"string filename\" [\"file\"]"))
        }
        (other, _) => Err(args.error(format!("the procedural `{other}` is left out"))),
    }
}

/// Runs a program, gives it one line, `detail data`, and reads RIB from what it writes, up to its
/// end or a byte 377 (octal).
fn run_program(r: &mut Reader<'_>, args: &Args<'_, '_>, program: &str, data: &str) -> Result<(), Diagnostic> {
    if !r.overrides.allow_run {
        return Err(args.error(format!("the scene may not run `{program}`")).hint("to allow it: --allow-run"));
    }
    r.admit_geometry(args.span);
    let error = |problem: String| args.error(format!("`{program}`: {problem}"));
    let (output, failure) = output_of(program, data, TIME_LIMIT).map_err(error)?;
    let shown = format!("<output of {program}>");
    let text = decode(output, &shown).map_err(|d| d.at(args.whole_span(), "run from here"))?;
    r.budget.read(text.len());
    let file = r.sources.add(shown, None, text);
    r.closed(|r| r.run(file, None));
    failure.map_or(Ok(()), |problem| Err(error(problem)))
}

/// Returns the output of a program up to its end or a byte 377 (octal), and how it fails after
/// that. At the end, and at the limits, it is killed with all that it has started.
fn output_of(program: &str, data: &str, time: Duration) -> Result<(Vec<u8>, Option<String>), String> {
    let mut words = program.split_whitespace();
    let name = words.next().ok_or("no program is named")?;
    let mut command = Command::new(name);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    #[cfg(unix)]
    lead_a_group(&mut command);
    let mut child = command.spawn().map_err(|e| format!("cannot be run: {e}"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let line = format!("0 {data}\n");
    let (sender, receiver) = mpsc::sync_channel(16);
    // Written and read beside the clock: a program may neither read nor write.
    std::thread::spawn(move || {
        // A program that wants no line may close its end.
        let _ = stdin.map(|mut pipe| pipe.write_all(line.as_bytes()));
        let Some(mut pipe) = stdout else { return };
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = pipe.read(&mut buffer).map(|count| buffer[..count].to_vec());
            let is_last = read.as_ref().map_or(true, Vec::is_empty);
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    let mut ended = None;
    let result = collect(&receiver, time, || {
        ended = ended.take().or_else(|| child.try_wait().ok().flatten());
        ended.is_some()
    });
    // A program that has closed its output ends soon, or is not waited for.
    let end = Instant::now() + END_LIMIT;
    while ended.is_none() && result.is_ok() && Instant::now() < end {
        ended = child.try_wait().ok().flatten();
        std::thread::sleep(POLL);
    }
    kill(&mut child);
    let mut output = result?;
    output.truncate(output.iter().position(|b| *b == END).unwrap_or(output.len()));
    let failure = ended.filter(|status| !status.success()).map(|status| format!("fails ({status})"));
    Ok((output, failure))
}

/// The byte that ends the output of a program that runs on.
const END: u8 = 0o377;

/// Time between looks at a program.
const POLL: Duration = Duration::from_millis(5);

/// The output of a program as far as it goes. Once the program itself has ended, another that it has
/// started may hold its output open: that one is not waited for.
fn collect(
    receiver: &mpsc::Receiver<std::io::Result<Vec<u8>>>,
    time: Duration,
    mut has_ended: impl FnMut() -> bool,
) -> Result<Vec<u8>, String> {
    let mut output: Vec<u8> = Vec::new();
    let mut limit = Instant::now() + time;
    let mut is_ended = false;
    loop {
        if !is_ended && has_ended() {
            is_ended = true;
            limit = limit.min(Instant::now() + END_LIMIT);
        }
        match receiver.recv_timeout(POLL) {
            Ok(Ok(piece)) if piece.is_empty() => return Ok(output),
            Ok(Ok(piece)) => {
                let is_last = piece.contains(&END);
                output.extend(piece);
                if output.len() as u64 > MAX_OUTPUT {
                    return Err(format!("writes more than {MAX_OUTPUT} bytes"));
                }
                if is_last {
                    return Ok(output);
                }
            }
            Ok(Err(e)) => return Err(format!("cannot be read from: {e}")),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(output),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() >= limit {
            return match is_ended {
                true => Ok(output),
                false => Err(format!("takes longer than {} seconds", time.as_secs())),
            };
        }
    }
}

/// Makes a program the leader of a group of processes, which is killed as a whole. An interruption at
/// the terminal does not reach it then: where the system can, it ends with this process.
#[cfg(unix)]
fn lead_a_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    #[cfg(target_os = "linux")]
    // SAFETY: the closure runs between `fork` and `exec` and makes one system call, which is
    // async-signal-safe and has no memory to be wrong about. The standard library has no call for it.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// Kills a program and those of its group, and waits for it.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        // SAFETY: the call has no memory to be wrong about. The child leads the group; where it was
        // waited for already, the system gives its number to no other as long as the group has
        // members, and one that has none has lost the number a second ago at most.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    type Written = Result<(Vec<u8>, Option<String>), String>;

    /// Runs a script. Gives what it writes, and true if the process whose number it left in `pid` runs on.
    fn run(script: &str, time: Duration) -> (Written, bool) {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, pid) = (dir.path().join("a.sh"), dir.path().join("pid"));
        std::fs::write(&file, script.replace("PID", &pid.display().to_string())).expect("a file");
        let result = output_of(&format!("sh {}", file.display()), "data", time);
        let number: i32 = std::fs::read_to_string(&pid).expect("a number").trim().parse().expect("a number");
        // The system ends a killed process some time later.
        let until = Instant::now() + Duration::from_secs(20);
        while is_running(number) && Instant::now() < until {
            std::thread::sleep(POLL);
        }
        (result, is_running(number))
    }

    /// A killed process is there until somebody waits for it: in a container nobody may.
    fn is_running(process: i32) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn what_a_program_starts_does_not_outlive_it_nor_hold_its_output_open() {
        let (result, runs) = run("sleep 1000 & echo $! >PID; echo Sphere", TIME_LIMIT);
        assert_eq!(result, Ok((b"Sphere\n".to_vec(), None)));
        assert!(!runs);
    }

    #[test]
    fn a_program_that_waits_for_more_after_its_end_is_killed() {
        let (result, runs) = run("echo $$ >PID; printf 'Sides 1\\377'; exec sleep 1000", TIME_LIMIT);
        assert_eq!(result, Ok((b"Sides 1".to_vec(), None)));
        assert!(!runs);
    }

    #[test]
    fn a_program_that_writes_too_long_or_too_much_is_killed() {
        let (result, runs) = run("echo $$ >PID; echo Sphere; exec sleep 1000", Duration::from_secs(1));
        assert_eq!((result, runs), (Err("takes longer than 1 seconds".into()), false));
        let (result, runs) = run("echo $$ >PID; exec cat /dev/zero", TIME_LIMIT);
        assert_eq!((result, runs), (Err(format!("writes more than {MAX_OUTPUT} bytes")), false));
    }
}
