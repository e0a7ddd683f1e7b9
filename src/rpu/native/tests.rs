//! Generated code against the interpreter, on random programs.

use super::NATIVE;
use crate::agreement::{self, Agreement};
use crate::arbitrary::any_program;
use crate::disasm::disassemble;
use crate::isa::{Arith, Dst, DstReg, Instr, Mask, Op, Primary, Program, Reg, Src};
use crate::random::{self, Choices};
use proptest::prelude::*;
use rayon::prelude::*;

fn on_all(program: &Program, active: u64, seed: u32) -> Result<(), TestCaseError> {
    match agreement::compare_engines(program, active, seed) {
        Agreement::Bits | Agreement::Errors => Ok(()),
        Agreement::None(difference) => Err(TestCaseError::fail(difference)),
    }
}

/// Seeds whose programs differed, or did not end, and must not again: lanes that had returned or had
/// entered a loop in its middle, or crossed it, were lost, and groups at one address with different windows waited
/// for each other.
const FOUND: [u32; 4] = [219, 375, 977, 8685];

/// Random programs that are compared, unless the environment asks for other seeds.
const SEEDS: u32 = 300;

/// The seeds to run: the first few, or those of `SHADEWRIGHT_SEED`, such as `0..10000`.
fn seeds() -> std::ops::Range<u32> {
    let Ok(wanted) = std::env::var("SHADEWRIGHT_SEED") else { return 0..SEEDS };
    let number = |text: &str| text.parse().expect("SHADEWRIGHT_SEED is a whole number or a range `A..B` of them");
    match wanted.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => number(&wanted)..number(&wanted) + 1,
    }
}

/// The lanes that a seed's program runs in.
fn active(seed: u32) -> u64 {
    match seed % 4 {
        0 => 1 << (seed % 64),
        1 => u64::from(shadewright_base::random::hash(seed)) << 20 | 1,
        _ => u64::MAX,
    }
}

/// A program that differs, with what does not matter taken out.
fn reduced(mut program: Program, active: u64, seed: u32) -> Program {
    let nothing = Arith::new(Op::Mov, Dst { reg: DstReg::R(14), mask: Mask::W }, &[Src::reg(Reg::R(14))]);
    let nothing = Instr::Primary(Primary::Arith(nothing));
    for at in (0..program.code.len()).rev() {
        let kept = std::mem::replace(&mut program.code[at], nothing);
        if !matches!(agreement::compare_engines(&program, active, seed), Agreement::None(_)) {
            program.code[at] = kept;
        }
    }
    program
}

#[test]
fn dense_random_programs_leave_the_same_bits_on_every_engine_with_every_instruction_set() {
    let agreements: Vec<Agreement> = seeds()
        .into_par_iter()
        .chain(FOUND.to_vec())
        .map(|seed| {
            let program = random::program(&mut Choices::from_seed(seed));
            match agreement::compare_engines(&program, active(seed), seed) {
                Agreement::None(difference) => {
                    let program = disassemble(&reduced(program, active(seed), seed));
                    Agreement::None(format!("seed {seed}: {difference}\n{program}"))
                }
                found => found,
            }
        })
        .collect();
    let wrong: Vec<&str> =
        agreements.iter().filter_map(|a| if let Agreement::None(text) = a { Some(&**text) } else { None }).collect();
    let ended = agreements.iter().filter(|&a| *a == Agreement::Bits).count();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), agreements.len(), wrong.join("\n"));
    assert!(2 * ended >= agreements.len(), "only {ended} of {} run to their end", agreements.len());
}

proptest! {
    #[test]
    fn random_programs_leave_the_interpreters_bits(
        program in any_program(),
        active in prop_oneof![Just(u64::MAX), any::<u64>(), Just(1u64 << 37)],
        seed in 1u32..1000,
    ) {
        on_all(&program, active, seed)?;
    }
}

#[test]
fn a_listing_has_a_comment_for_each_instruction_and_the_names_of_functions() {
    let text = "SUBROUTINE_ENTRY_twice:\nadd R0.w, R0.w, R0.w\nmul R1.w, R0.w, 3.0 + return always";
    let assembly = crate::asm::assemble(text, shadewright_base::text::source::FileId(0)).expect("assembles");
    let source = |address: u32| Some(format!("line {}", address / 2));
    let Ok(listing) = super::listing(&assembly.program, source) else {
        return assert!((NATIVE.available)().is_err(), "there is a translator");
    };
    let at = |part: &str| listing.find(part).unwrap_or_else(|| panic!("{part} in {listing}"));
    assert!(at("\ntwice:") < at("add R0.w") && at("add R0.w") < at("vaddps"), "{listing}");
    assert!(at("vaddps") < at("mul R1.w") && at("mul R1.w") < at("vmulps"), "{listing}");
}

/// Lanes leave a loop while others turn back in it and return.
#[test]
fn lanes_behind_a_loop_are_not_forgotten() {
    let text = "
        jmp test
        back: add R2.w, R2.w, 1.0
        return
        test: iand R15.w, R1.w, #1 + jmp back, w (=0)
        add R3.w, R3.w, 2.0
        return";
    let assembly = crate::asm::assemble(text, shadewright_base::text::source::FileId(0)).expect("assembles");
    on_all(&assembly.program, u64::MAX, 7).unwrap_or_else(|error| panic!("{error}"));
}

/// A called function with a loop over the elements of an array: the counter and its end are
/// constants, and so are addresses; what a lane brings is not. Where threads start, others may be in
/// the loop already.
#[test]
fn a_listing_marks_what_lanes_have_in_common() {
    let sum = "mov A.w, #16
        mov R0.w, #0
        next: load I0, A.w, 0
        mov A.y, R5.x
        load I1, A.y, 0
        iadd A.w, A.w, #1
        iadd R0.w, R0.w, #1
        icmp R1.w, R0.w, #4 + jmp next, w (<0)
        icmp R1.w, R2.w, #4 + jmp last, w (<0)
        iadd R3.w, R3.w, #1
        last: load I2, A.w, 1
        return";
    let marked = |text: &str| {
        let assembly = crate::asm::assemble(text, shadewright_base::text::source::FileId(0));
        let program = assembly.unwrap_or_else(|d| panic!("{d:?}")).program;
        let listing = super::listing(&program, |_| None).ok()?;
        let lines = |note: &str| -> Vec<u32> {
            let lines = listing.lines().filter(|l| l.starts_with("; ") && l.contains(note));
            lines.filter_map(|l| l.split_whitespace().nth(1)?.parse().ok()).collect()
        };
        Some((lines("; uniform address"), lines("; uniform branch")))
    };
    let Some(called) = marked(&format!("call sum push 0\nreturn\nsum: {sum}")) else {
        return assert!((NATIVE.available)().is_err(), "there is a translator");
    };
    assert_eq!(called, (vec![4, 12], vec![9]));
    assert_eq!(marked(sum), Some((vec![], vec![])));
}
