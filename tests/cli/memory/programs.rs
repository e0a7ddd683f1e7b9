//! Programs of the RPU, hardware descriptions and listings that ask for much memory.

use crate::memory::{Case, Files};

/// A program whose one function consists of a line.
fn program(bytes: usize, line: &str) -> Files {
    let text = format!("SUBROUTINE_ENTRY_main:\n{}return\n", line.repeat(bytes / line.len()));
    vec![("p.rpuasm", text.into_bytes())]
}

fn loads(bytes: usize) -> Files {
    program(bytes, "load4 A.x, 0\n")
}

fn arithmetic(bytes: usize) -> Files {
    program(bytes, "add R0, R1, R2\n")
}

/// A program that is all entry points.
fn entries(bytes: usize) -> Files {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &format!("SUBROUTINE_ENTRY_f{number}:\nreturn\n");
    }
    vec![("p.rpuasm", text.into_bytes())]
}

/// Words of 4096 bits that leave four ports without end.
fn words(_: usize) -> Files {
    let mut text = String::new();
    for port in ["a", "b", "c", "d"] {
        text += &format!("{port}:= asyncSerOut(4096, 65536);\n");
    }
    text += "DO a.put(0#4096); DO b.put(0#4096); DO c.put(0#4096); DO d.put(0#4096)\n";
    vec![("c.si", text.into_bytes())]
}

/// Sums of wide words, one after the other: a word waits for all sums before its own in registers of cells,
/// which grow with the square of the program up to their limit in bits.
fn sums(bytes: usize) -> Files {
    let text = format!("a:= asyncSerIn(4096, 0); o:= asyncSerOut(4096, 0); x:= a.get;\n{}o.put(x)\n", {
        "x:= x + a.get;\n".repeat(bytes / 16)
    });
    vec![("c.si", text.into_bytes())]
}

/// A macro that calls another twice, and so on.
fn expansion(bytes: usize) -> Files {
    let mut text = "MACRO m0(x)=>(x) x:= x + 1;\n".to_string();
    let mut last = 0;
    while text.len() + 80 < bytes && last < 60 {
        last += 1;
        text += &format!("MACRO m{last}(x)=>(x) {{ x:= m{0}(x); x:= m{0}(x) }};\n", last - 1);
    }
    text += &format!("a:= asyncSerIn(64, 0); o:= asyncSerOut(64, 0); o.put(m{last}(a.get))\n");
    vec![("c.si", text.into_bytes())]
}

const ASM: &[&str] = &["compile", "p.rpuasm", "--emit", "asm", "--out", "o"];
const RPU: &[&str] = &["compile", "p.rpuasm", "--emit", "rpu", "--out", "o"];
const BINARY: &[&str] = &["compile", "p.rpuasm", "--emit", "rpubin", "--out", "o"];
const GRAPH: &[&str] = &["silicon", "c.si", "--out", "o"];
const SIMULATE: &[&str] = &["silicon", "c.si", "--emit", "simulate", "--cycles", "400000", "--out", "o"];
const SERIAL: &[&str] = &["silicon", "c.si", "--emit", "serial", "--cycles", "1000", "--out", "o"];
const VERILOG: &[&str] = &["silicon", "c.si", "--emit", "verilog", "--out", "o"];

const fn case(stage: &'static str, what: &'static str, files: fn(usize) -> Files) -> Case {
    Case::checked(stage, what, files)
}

/// All cases.
pub const CASES: &[Case] = &[
    case("assembler and linker of the RPU", "loads", loads).with(RPU),
    case("assembler and linker of the RPU", "entry points", entries).with(RPU),
    case("assembler and linker of the RPU", "loads, as binary", loads).with(BINARY),
    case("listing of native code", "loads", loads).with(ASM),
    case("listing of native code", "arithmetic", arithmetic).with(ASM),
    case("listing of native code", "entry points", entries).with(ASM),
    case("Silicon", "words of 4096 bits that leave", words).with(SIMULATE),
    case("Silicon", "sums of wide words", sums).with(GRAPH),
    case("Silicon", "sums of wide words, simulated", sums).with(SIMULATE),
    case("Silicon", "sums of wide words, bit-serial", sums).with(SERIAL).limited(),
    case("Silicon", "sums of wide words, in Verilog", sums).with(VERILOG).limited(),
    case("Silicon", "macros that expand", expansion).with(GRAPH),
];
