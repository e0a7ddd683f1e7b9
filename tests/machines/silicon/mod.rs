//! The back ends of Silicon: bit-serial chips compute what the functional simulator does, and so
//! does their Verilog in Icarus Verilog; Yosys synthesizes it. Both programs are part of what the
//! tests need: without them the tests fail.

use crate::common::{repository, shadewright, stderr};
use shadewright::circuit::functional::{self, Environment};
use shadewright::circuit::graph::{Circuit, PortId};
use shadewright::circuit::layout::{self, check::check};
use shadewright::circuit::serial::{self, Netlist};
use shadewright::circuit::stimuli::{Radix, Stimuli};
use shadewright::circuit::{Bits, passes, verilog};
use shadewright::silicon::language;
use shadewright::text::source::SourceMap;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

mod pdp8;
mod random;

/// The example programs, with words for their ports.
const PROGRAMS: [(&str, &str); 12] = [
    ("sum", "in: 3 10 20 30"),
    ("inner-product", "a: 1 2 3 4 500 -6 7 8\nb: 1 -1 1 100 2 3 4 5"),
    ("inner-product-synchronous", "a: 1 2 3 4 500 -6 7 8\nb: 1 -1 1 100 2 3 4 5"),
    ("inner-product-groups", "a: 1 2 3 4 500 -6 7 8\nb: 1 -1 1 100 2 3 4 5"),
    ("inner-product-unrolled", "a: 1 2 3 4 500 -6 7 8\nb: 1 -1 1 100 2 3 4 5"),
    ("inner-product-extended", "a: 1 2 3 4 500 -6 7 8\nb: 1 -1 1 100 2 3 4 5"),
    ("fir", "sIn: 1 0 0 0 5 -7 1000"),
    ("fir-loadable", "kIn: 1 2 3 4\nsIn: 1 0 0 0 5 -7 1000"),
    ("fir-cascade", "kIn: 1 2 3 4 5 6\nsIn: 1 0 0 0 5 7\ncIn: 100 -100 100 100 100 100 100"),
    ("sorting-memory", "topIn: 5 3 9 1 7 2 8 -4"),
    ("graphics2d", "xNext: 2 12\nyNext: 3 8\npNext: -5 -20 -30 0 0 2 0 -10 0 2"),
    ("graphics2d", "xNext: -50 300 7 7\nyNext: 10 -40 -9 60"),
];

/// Cycles of silence that end a simulation of a chip.
const IDLE: u64 = 1_500;

fn limits() -> serial::Limits {
    serial::Limits { cycles: 200_000, idle: IDLE }
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/silicon/{name}.si"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The circuit of a program for a chip.
fn circuit(text: &str, optimize: bool) -> Circuit {
    let mut sources = SourceMap::default();
    let file = sources.add("program.si", None, text);
    let mut circuit = language::compile(&sources, file)
        .unwrap_or_else(|errors| panic!("{:?}\n{text}", errors.iter().map(|d| &d.message).collect::<Vec<_>>()));
    passes::run(&mut circuit, passes::PassOptions { prints: false, optimize });
    circuit
}

fn netlist(circuit: &Circuit) -> Netlist {
    serial::build(circuit).unwrap_or_else(|error| panic!("{}", error.message))
}

fn stimuli(circuit: &Circuit, text: &str) -> Stimuli {
    let mut sources = SourceMap::default();
    let file = sources.add("words", None, text);
    Stimuli::parse(circuit, file, text).unwrap_or_else(|_| panic!("{text}"))
}

/// The output words in the functional simulation, and in that of the chip.
fn both(circuit: &Circuit, words: &Stimuli) -> [String; 2] {
    let (mut ideal, mut chip) = (words.clone(), words.clone());
    functional::run(circuit, &mut ideal, functional::Limits::default());
    serial::simulate(&netlist(circuit), &mut chip, limits()).unwrap_or_else(|error| panic!("{}", error.message));
    [ideal, chip].map(|stimuli| stimuli.report(Radix::Unsigned))
}

#[test]
fn chips_of_the_example_programs_compute_what_the_programs_do() {
    for (name, text) in PROGRAMS {
        for optimize in [false, true] {
            let circuit = circuit(&source(name), optimize);
            let [ideal, chip] = both(&circuit, &stimuli(&circuit, text));
            assert_eq!(ideal, chip, "{name}");
            assert!(ideal.split_whitespace().any(|word| !word.ends_with(':')), "{name} has no output");
        }
    }
}

/// Programs with devices that the example programs do not use: memories, buffers, waits and delays,
/// words of any size.
const DEVICES: [(&str, &str); 6] = [
    (
        "a, o:= asyncSerIn(8, 0), asyncSerOut(8, 0); m:= RAM(5, 8, 7, 6);
         DO { x:= a.get; o.put(m.fetch(x[2:0])); m.store(x[5:3], x) }",
        "a: 0 1 33 4 12 5 63 47 3 31 7",
    ),
    (
        "a, o:= asyncSerIn(4, 0), asyncSerOut(9, 0); m:= ROM(16, 9, 1, 2, 4, 8, 16, 32, 64, 128, 256, 257);
         DO o.put(m.fetch(a.get))",
        "a: 0 9 8 7 -1 3",
    ),
    (
        "a, o:= asyncSerIn(8, 0), asyncSerOut(8, 0); p, q:= dualPortRAM(8, 8, 3, 4, 5);
         n:= 2#3; DO { o.put(q.fetch(n)); x:= a.get; n:= x[2:0]; p.store(n, x) }",
        "a: 1 2 11 17 34 64 9 0",
    ),
    (
        "a, o:= asyncSerIn(8, 0), asyncSerOut(8, 0); i, c:= asyncInt(8, 3);
         DO { c.put(a.get); c.put(a.get + 1); c.put(0) };
         DO { x:= i.get; o.put(x * 3); o.wait(i); o.delay(7) }",
        "a: 1 2 10 17 33 64 9 0",
    ),
    (
        "a, o:= asyncSerIn(150, 0), asyncSerOut(150, 0); s:= 1;
         DO { s:= s * a.get - 1; o.put(s); IF s[149] THEN s:= NOT s }",
        "a: 3 -5 0x123456789abcdef0123456789abcdef012345 7",
    ),
    (
        "a, o:= syncParIn(1), syncParOut(3); b:= asyncSerIn(1, 0); q:= asyncSerOut(1, 0);
         n:= 0; DO { IF a.get THEN n:= n + 1; o.put(n); q.put(b.get EQV n[0]) }",
        "a: 1 0 1 1 0 1\nb: 1 0 0 1 1 1",
    ),
];

#[test]
fn chips_have_memories_buffers_and_words_of_any_size() {
    for (text, words) in DEVICES {
        let circuit = circuit(text, true);
        let words = stimuli(&circuit, words);
        let [ideal, chip] = both(&circuit, &words);
        assert_eq!(ideal, chip, "{text}");
        let netlist = netlist(&circuit);
        let run = serial::simulate(&netlist, &mut words.clone(), limits()).expect("no fault");
        let left = icarus(&netlist, &verilog::feeds(&netlist, &words), run.cycles);
        assert_eq!(left, by_port(&ideal), "{text}");
        // A multiplier of 150 bits takes long.
        if !text.contains("150") {
            synthesize(&netlist, text);
        }
        let layout = layout::place_and_route(&netlist, layout::LayoutOptions::default()).expect("routed");
        assert_eq!(check(&layout, &netlist), Ok(()), "{text}");
    }
}

/// The next round of a loop does not begin while a value that a conditional drops is on its way.
#[test]
fn what_a_conditional_drops_may_come_late() {
    let text = "a, o:= asyncSerIn(8, 0), asyncSerOut(8, 0);
        DO {
          x:= a.get;
          n:= x[6:4];
          s:= x;
          WHILE n ~= 0 DO n, s:= n - 1, s + s;
          IF x[0] THEN x:= s;
          o.put(x)
        }";
    for optimize in [false, true] {
        let circuit = circuit(text, optimize);
        let words = stimuli(&circuit, "a: 112 17 50 33 114 49 2 65 112 113");
        let expected = "o: 112 34 50 132 114 136 2 16 112 128\n";
        assert_eq!(both(&circuit, &words), [expected, expected]);
    }
}

/// Runs a program of the tools in a folder; its output.
fn tool(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}. The tests need Icarus Verilog and Yosys"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}:\n{text}\n{errors}");
    text
}

/// The words that leave the chip in Icarus Verilog within some cycles, by port.
fn icarus(netlist: &Netlist, feeds: &[verilog::Feed], cycles: u64) -> BTreeMap<String, Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = serial::Limits { cycles, idle: cycles };
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("written");
    write("chip.v", verilog::module(netlist, "chip"));
    write("bench.v", verilog::testbench(netlist, "chip", feeds, limits));
    tool(folder.path(), "iverilog", &["-g2001", "-o", "bench", "chip.v", "bench.v"]);
    let mut left: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in tool(folder.path(), "vvp", &["-n", "bench"]).lines() {
        if let Some((port, word)) = line.split_once(' ') {
            left.entry(port.into()).or_default().push(word.into());
        }
    }
    left
}

/// A report as words by port.
fn by_port(report: &str) -> BTreeMap<String, Vec<String>> {
    let ports = report.lines().filter_map(|line| line.split_once(':'));
    let words = ports.map(|(port, words)| (port.into(), words.split_whitespace().map(Into::into).collect()));
    words.filter(|(_, words): &(String, Vec<String>)| !words.is_empty()).collect()
}

#[test]
fn the_verilog_of_chips_computes_the_same_in_icarus() {
    // One run of the last program is enough: it is the largest.
    for (name, text) in &PROGRAMS[..PROGRAMS.len() - 1] {
        let circuit = circuit(&source(name), true);
        let words = stimuli(&circuit, text);
        let netlist = netlist(&circuit);
        let (mut ideal, mut chip) = (words.clone(), words.clone());
        functional::run(&circuit, &mut ideal, functional::Limits::default());
        let run = serial::simulate(&netlist, &mut chip, limits()).expect("no fault");
        // All words leave in the same cycles as in the simulator.
        let left = icarus(&netlist, &verilog::feeds(&netlist, &words), run.cycles);
        assert_eq!(left, by_port(&ideal.report(Radix::Unsigned)), "{name}");
    }
}

/// Synthesizes the Verilog of a chip.
fn synthesize(netlist: &Netlist, name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("chip.v"), verilog::module(netlist, "chip")).expect("written");
    let script = "read_verilog chip.v; synth -top chip; check -assert; select -assert-none t:$_DLATCH_*; stat";
    let log = tool(folder.path(), "yosys", &["-p", script]);
    assert!(log.contains("Number of cells:") && log.contains("_DFF"), "{name}");
    assert!(!log.contains("Warning: "), "{name}: {log}");
}

#[test]
fn yosys_synthesizes_chips_without_latches() {
    for name in ["sum", "inner-product-groups", "inner-product-extended", "fir-cascade", "graphics2d", "pdp8"] {
        synthesize(&netlist(&circuit(&source(name), true)), name);
    }
}

#[test]
fn layouts_connect_what_the_netlists_do() {
    for (name, _) in PROGRAMS.into_iter().chain([("pdp8", "")]) {
        let netlist = netlist(&circuit(&source(name), true));
        let layout = layout::place_and_route(&netlist, layout::LayoutOptions::default()).expect("routed");
        assert_eq!(check(&layout, &netlist), Ok(()), "{name}");
    }
}

#[test]
fn the_command_line_makes_all_of_a_circuit() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = folder.path().join("words.txt");
    std::fs::write(&words, "a: 1 2 3\nb: 10 20 30\nc: 10 50 140\n").expect("it can be written");
    let program = repository("assets/silicon/inner-product.si").to_string_lossy().into_owned();
    let silicon = |emit: &str, more: &[&str]| {
        let fixed = ["silicon", &program, "--emit", emit];
        shadewright(folder.path(), &[&fixed, more].concat())
    };
    let words = words.to_string_lossy().into_owned();
    for (emit, sign) in [
        ("graph", "-- "),
        ("dot", "digraph"),
        ("simulate", "c: 10 50 140\n"),
        ("serial", "c: 10 50 140\n"),
        ("cif", "DS "),
        ("svg", "<svg"),
        ("verilog", "module inner_product"),
        ("testbench", "module testbench"),
    ] {
        let needs_words = matches!(emit, "simulate" | "serial" | "testbench");
        let more: &[&str] = if needs_words { &["--words", &words] } else { &[] };
        let output = silicon(emit, more);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(sign), "{emit}: {text}{}", stderr(&output));
        let out = folder.path().join("out");
        let again = silicon(emit, &[more, &["--out", &out.to_string_lossy()]].concat());
        assert!(again.status.success() && again.stdout.is_empty(), "{emit}");
        assert_eq!(std::fs::read(&out).expect("it is written"), output.stdout, "{emit}");
    }
    let other = folder.path().join("other.txt");
    std::fs::write(&other, "a: 1\nb: 10\nc: 11\n").expect("it can be written");
    for emit in ["simulate", "serial"] {
        let output = silicon(emit, &["--words", &other.to_string_lossy()]);
        assert_eq!(output.status.code(), Some(1), "{emit}: {}", stderr(&output));
    }
    let wrong = folder.path().join("wrong.si");
    std::fs::write(&wrong, "a:= asyncSerIn(16, 0);\nb:= asyncSerOut(16, 0);\nb.put(c)\n").expect("it can be written");
    let output = shadewright(folder.path(), &["silicon", &wrong.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("wrong.si:3:7"), "{}", stderr(&output));
    let missing = shadewright(folder.path(), &["silicon", "none.si"]);
    assert_eq!(missing.status.code(), Some(2));
}

/// The output of a command for a program with words, and its status.
fn emitted(emit: &str, program: &str, words: &str) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        path.to_string_lossy().into_owned()
    };
    let (program, words) = (write("program.si", program), write("words.txt", words));
    let output = shadewright(folder.path(), &["silicon", &program, "--emit", emit, "--words", &words]);
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// A silence is no end: computations, delays and words that come late take longer than any that a
/// simulation waits without looking whether the circuit repeats itself.
#[test]
fn long_silences_do_not_end_a_simulation() {
    const LOOP: &str = "a:= asyncSerIn(16, 0);\no:= asyncSerOut(16, 0);\nDO { n:= a.get; i:= 0#16; WHILE i ~= n DO i:= i + 1; o.put(i) }";
    const DELAY: &str = "c:= syncParOut(4);\nc.put(1).delay(30000).put(2).delay(30000).put(3)";
    const POLL: &str = "a:= asyncSerIn(16, 0);\nc:= asyncSerOut(16, 0);\nDO IF a.ready THEN c.put(a.get)";
    for (program, words, expected) in [
        (LOOP, "a: 3 4000 5", "o: 3 4000 5\n"),
        (DELAY, "-- none", "c: 1 2 3\n"),
        (POLL, "a: @20000 1 2 @50000 3", "c: 1 2 3\n"),
    ] {
        for emit in ["simulate", "serial"] {
            let (text, status) = emitted(emit, program, words);
            assert!(text.starts_with(expected) && status == Some(0), "{emit}: {text}");
        }
    }
    // As long as it computes, it is not done: what is missing is said.
    let endless = "o:= asyncSerOut(32, 0);\ni:= 0#32;\nWHILE i ~= 4000000000 DO i:= i + 1;\no.put(i)";
    let mut sources = SourceMap::default();
    let file = sources.add("endless.si", None, endless);
    let circuit = language::compile(&sources, file).expect("it compiles");
    let limits = functional::Limits { cycles: 50_000, ..functional::Limits::default() };
    let run = functional::run(&circuit, &mut Stimuli::new(&circuit), limits);
    assert_eq!(run.outcome, functional::Outcome::Limit);
}

/// The testbench that the command writes runs as long as the chip has something to do.
#[test]
fn a_testbench_of_the_command_line_waits_for_long_computations() {
    const LOOP: &str = "a:= asyncSerIn(12, 0);\no:= asyncSerOut(12, 0);\nDO { n:= a.get; i:= 0#12; WHILE i ~= n DO i:= i + 1; o.put(i) }";
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    // A name that Verilog has for itself.
    std::fs::write(path("reg.si"), LOOP).expect("it can be written");
    std::fs::write(path("words"), "a: 2 300 1").expect("it can be written");
    let (program, words) = (path("reg.si"), path("words"));
    let words = ["--words", &words];
    for (emit, out, more) in [("verilog", path("chip.v"), &words[..0]), ("testbench", path("bench.v"), &words)] {
        let arguments = [&["silicon", &program, "--emit", emit, "--out", &out], more].concat();
        assert!(shadewright(folder.path(), &arguments).status.success(), "{emit}");
    }
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run("iverilog", &["-g2001", "-o", &path("bench"), &path("chip.v"), &path("bench.v")]);
    let lines: Vec<String> =
        run("vvp", &["-n", &path("bench")]).lines().filter(|l| l.starts_with("o ")).map(String::from).collect();
    assert_eq!(lines, ["o 2", "o 300", "o 1"]);
}

/// The output of a port of both directions has its own name, by which it is expected.
#[test]
fn words_of_a_port_of_both_directions_are_those_that_can_be_expected() {
    let program = "io:= syncParIO(8);\nDO io.put(io.get + 1)";
    let (text, _) = emitted("simulate", program, "io: 1 2 3\nio.put: 2 3 4");
    assert!(text.starts_with("io.put: 2 3 4\n"), "{text}");
}
