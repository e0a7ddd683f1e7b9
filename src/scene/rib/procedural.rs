//! `Procedural`: geometry that something else than the scene's own text makes (RISpec 3.2, §5.7).

use super::archive::read_named;
use super::args::Args;
use super::decode;
use super::params::Values;
use super::reader::Reader;
use crate::text::diagnostics::Diagnostic;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
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
    if !r.allow_run {
        return Err(args.error(format!("the scene may not run `{program}`")).hint("to allow it: --allow-run"));
    }
    r.admit_geometry(args.span);
    let error = |problem: String| args.error(format!("`{program}`: {problem}"));
    let (output, failure) = output_of(program, data).map_err(error)?;
    let shown = format!("<output of {program}>");
    let text = decode(output, &shown).map_err(|d| d.at(args.whole_span(), "run from here"))?;
    r.budget.read(text.len());
    let file = r.sources.add(shown, None, text);
    r.closed(|r| r.run(file, None));
    failure.map_or(Ok(()), |problem| Err(error(problem)))
}

/// What a program writes, and how it fails after that.
fn output_of(program: &str, data: &str) -> Result<(Vec<u8>, Option<String>), String> {
    let mut words = program.split_whitespace();
    let name = words.next().ok_or("no program is named")?;
    let mut command = Command::new(name);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(|e| format!("cannot be run: {e}"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let line = format!("0 {data}\n");
    let (sender, receiver) = mpsc::channel();
    // Written and read beside the clock: a program may neither read nor write.
    std::thread::spawn(move || {
        // A program that wants no line may close its end.
        let _ = stdin.map(|mut pipe| pipe.write_all(line.as_bytes()));
        let mut output = Vec::new();
        let read = stdout.map_or(Ok(0), |pipe| pipe.take(MAX_OUTPUT + 1).read_to_end(&mut output));
        let _ = sender.send(read.map(|_| output));
    });
    let result = match receiver.recv_timeout(TIME_LIMIT) {
        Ok(Ok(output)) if output.len() as u64 > MAX_OUTPUT => Err(format!("writes more than {MAX_OUTPUT} bytes")),
        Ok(output) => output.map_err(|e| format!("cannot be read from: {e}")),
        Err(_) => Err(format!("takes longer than {} seconds", TIME_LIMIT.as_secs())),
    };
    // A program that has closed its output ends soon, or is not waited for.
    let status = result.as_ref().ok().and_then(|_| {
        let end = Instant::now() + END_LIMIT;
        loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                ended => return ended.ok().flatten(),
            }
        }
    });
    let _ = child.kill();
    let _ = child.wait();
    let mut output = result?;
    output.truncate(output.iter().position(|b| *b == 0o377).unwrap_or(output.len()));
    let failure = status.filter(|status| !status.success()).map(|status| format!("fails ({status})"));
    Ok((output, failure))
}
