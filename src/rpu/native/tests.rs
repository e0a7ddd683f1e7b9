//! Generated code against the interpreter, on random programs.

use super::NATIVE;
use crate::rpu::arbitrary::any_program;
use crate::rpu::isa::{Component, Program, Reg};
use crate::rpu::simd::InstructionSet;
use crate::rpu::tracing::{HitBlock, RayBlock, Tracer};
use crate::rpu::{BLOCK, Block, Executable, Limits, Machine, MachineError, Texture};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// Hits every other ray, where its origin says.
struct Sparse;

impl Tracer for Sparse {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        for lane in (0..BLOCK).filter(|lane| block.rays.active >> lane & 1 != 0) {
            let bits = block.rays.ox[lane].to_bits() ^ block.rays.dy[lane].to_bits() ^ block.rays.t_max[lane].to_bits();
            if bits.count_ones().is_multiple_of(2) {
                let any = block.any >> lane & 1 != 0;
                hits.found.t[lane] = if any { 0.0 } else { 1.5 };
                (hits.found.u[lane], hits.found.v[lane]) = (block.time[lane], 0.25);
                (hits.shader[lane], hits.tri[lane], hits.obj[lane]) = (bits % 3, bits % 40, 7);
            }
        }
    }
}

/// All registers of all lanes, and the texels that were stored.
type State = (Vec<[u32; BLOCK]>, Vec<(u8, usize, [u32; 4])>);

fn registers() -> impl Iterator<Item = Reg> {
    let numbered = (0..16).map(Reg::R).chain((0..4).map(Reg::I)).chain((0..8).map(Reg::Stack));
    numbered.chain([Reg::A, Reg::Special, Reg::Hit, Reg::HitTri, Reg::HitObj])
}

fn state(block: &mut Block) -> State {
    let registers = registers().flat_map(|reg| Component::ALL.map(|c| block.read(reg, c))).collect();
    let stores = block.take_texel_stores().into_iter().map(|store| (store.lane, store.address, store.value));
    (registers, stores.collect())
}

/// What a program leaves, or its error.
fn run(program: &Executable, active: u64, seed: u32) -> Result<State, MachineError> {
    let (stop, memory) =
        (AtomicBool::new(false), (0..40u32).map(|i| [i; 4].map(|x| x.wrapping_mul(seed)).map(|x| x ^ i)));
    let memory: Vec<[u32; 4]> = memory.collect();
    let machine = Machine {
        program,
        constants: &std::array::from_fn(|i| [0, 1, 2, 3].map(|c| (i as f32 * 0.5 - c as f32).to_bits())),
        memory: &memory,
        textures: &[Texture { base: 4, width: 5, height: 3 }],
        shaders: &[0, 1, 2],
        tracer: &Sparse,
        limits: Limits { budget: 60, call_depth: 12, scratch: 20 },
        stop: &stop,
    };
    let mut block = Block::new();
    let mut word = seed;
    for reg in registers().take(20) {
        for c in Component::ALL {
            let values = std::array::from_fn(|lane| {
                word = word.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                // Small integers, addresses, and floats.
                match word >> 29 {
                    0 => lane as u32 % 8,
                    1 => (1 << 31) + (word >> 8) % 24,
                    _ => ((word >> 8) as f32 / 4e6 - 2.0).to_bits(),
                }
            });
            block.write(reg, c, &values);
        }
    }
    machine.run(&mut block, 0, active)?;
    Ok(state(&mut block))
}

fn on_both(program: &Program, active: u64, seed: u32) -> Result<(), TestCaseError> {
    let executable = Executable::new(program).expect("valid");
    let expected = run(&executable.interpreted(), active, seed);
    for set in InstructionSet::all() {
        let executable = executable.clone().with_instruction_set(set);
        let Ok(executable) = executable.on_engine(&NATIVE) else { continue };
        let found = run(&executable, active, seed);
        match &expected {
            Ok(expected) => prop_assert_eq!(found.as_ref(), Ok(expected), "{}", set.name()),
            // Another lane may be the first to break a rule.
            Err(_) => prop_assert!(found.is_err(), "{}", set.name()),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn random_programs_leave_the_interpreters_bits(
        program in any_program(),
        active in prop_oneof![Just(u64::MAX), any::<u64>(), Just(1u64 << 37)],
        seed in 1u32..1000,
    ) {
        on_both(&program, active, seed)?;
    }
}

#[test]
fn a_listing_has_a_comment_for_each_instruction_and_the_names_of_functions() {
    let text = "SUBROUTINE_ENTRY_twice:\nadd R0.w, R0.w, R0.w\nmul R1.w, R0.w, 3.0 + return always";
    let assembly = crate::rpu::asm::assemble(text, crate::text::source::FileId(0)).expect("assembles");
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
    let assembly = crate::rpu::asm::assemble(text, crate::text::source::FileId(0)).expect("assembles");
    on_both(&assembly.program, u64::MAX, 7).unwrap_or_else(|error| panic!("{error}"));
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
        let assembly = crate::rpu::asm::assemble(text, crate::text::source::FileId(0));
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
