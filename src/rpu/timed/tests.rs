//! Cycles counted by hand, and bits compared with the functional model.

use super::*;
use crate::Executable;
use crate::arbitrary::any_program;
use crate::asm::assemble;
use crate::execution::Limits;
use crate::isa::{Component, Program, Reg};
use crate::texture::Texture;
use crate::{BLOCK, Block, EmptyScene};
use proptest::prelude::*;
use shadewright_base::text::source::FileId;
use std::sync::atomic::AtomicBool;

fn program(text: &str) -> Program {
    assemble(text, FileId(0)).unwrap_or_else(|errors| panic!("{errors:?}")).program
}

/// Chunks of four threads with R1.x = the thread's number over all chunks.
struct Numbered {
    threads: u32,
    next: u32,
    /// R0 of each thread.
    results: Vec<[u32; 4]>,
    cost: Vec<u64>,
}

impl Numbered {
    fn new(threads: u32) -> Numbered {
        Numbered { threads, next: 0, results: vec![[0; 4]; threads as usize], cost: vec![0; threads as usize] }
    }
}

impl Source for Numbered {
    fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8> {
        let here = (self.threads - self.next).min(CHUNK as u32);
        for thread in 0..here {
            chunk.set(Reg::R(1), Component::X, thread as usize, ((self.next + thread) as f32).to_bits());
        }
        self.next += here;
        (here > 0).then(|| (1 << here) - 1)
    }

    fn finish(&mut self, number: u64, chunk: &Chunk<'_>, cost: [u64; CHUNK]) {
        for (thread, cost) in cost.into_iter().enumerate() {
            let n = CHUNK * number as usize + thread;
            if n < self.results.len() {
                self.results[n] = Component::ALL.map(|c| chunk.get(Reg::R(0), c, thread));
                self.cost[n] = cost;
            }
        }
    }
}

/// An execution context for a program, on a configuration.
struct Setup {
    executable: Executable,
    timing: Timing,
    stop: AtomicBool,
    limits: Limits,
}

impl Setup {
    fn from_text(text: &str, config: &Config) -> Setup {
        Setup::new(&program(text), config)
    }

    fn new(program: &Program, config: &Config) -> Setup {
        Setup {
            executable: Executable::new(program).expect("valid").interpreted(),
            timing: Timing::new(program, config),
            stop: AtomicBool::new(false),
            limits: Limits::default(),
        }
    }

    /// Sets the dependency flags of the instructions.
    fn waits(mut self, flags: &[u16]) -> Setup {
        assert_eq!(flags.len(), self.timing.costs.len());
        self.timing.costs.iter_mut().zip(flags).for_each(|(cost, &flags)| cost.waits = flags);
        self
    }

    fn context(&self) -> ExecutionContext<'_> {
        ExecutionContext {
            program: &self.executable,
            constants: &[[0; 4]; 32],
            memory: &[[7; 4]; 8],
            textures: &[],
            shaders: &[],
            tracer: &EmptyScene,
            limits: self.limits,
            stop: &self.stop,
        }
    }

    fn run(&self, threads: u32) -> (Stats, Numbered) {
        let mut source = Numbered::new(threads);
        let stats = run(&self.context(), &self.timing, 0, &mut source).expect("runs");
        (stats, source)
    }
}

/// The default configuration with some of its keys.
fn config(text: &str) -> Config {
    Config::parse(text).expect("valid")
}

/// Flag for the instruction a number of slots earlier.
fn before(distance: u16) -> u16 {
    1 << (distance - 1)
}

#[test]
fn a_dependent_instruction_waits_for_the_latency() {
    // mul at 0, add at 5, mov at 8, return at 9.
    let setup = Setup::from_text("mul R0, R1, R1\nadd R0, R0, R0\nmov R2, R0\nreturn", &Config::default());
    let (stats, _) = setup.waits(&[0, before(1), before(1), 0]).run(4);
    assert_eq!((stats.cycles, stats.issued, stats.executed), (10, 4, 16));
    assert_eq!(stats.stalls.total(), 4 + 2);
}

#[test]
fn an_instruction_waits_for_those_that_its_flags_name_and_no_others() {
    let text = "mul R0, R1, R1\nadd R2, R1, R1\nmov R3, R2\nmov R4, R0\nreturn";
    let cycles = |flags: &[u16]| Setup::from_text(text, &Config::default()).waits(flags).run(4).0.cycles;
    assert_eq!(cycles(&[0, 0, 0, 0, 0]), 5);
    // add at 1, mov at 4, mov at 5, return at 6.
    assert_eq!(cycles(&[0, 0, before(1), before(3), 0]), 7);
    // Only the last waits: for the mul, until 5.
    assert_eq!(cycles(&[0, 0, 0, before(3), 0]), 7);
    assert_eq!(cycles(&[0, 0, 0, 0, u16::MAX]), 7);
}

#[test]
fn another_chunk_runs_while_one_waits_and_the_switch_is_free() {
    // A: mul 0; B: mul 1; A: add 5, return 6; B: add 7, return 8.
    let setup = Setup::from_text("mul R0, R1, R1\nadd R0, R0, R0\nreturn", &config("chunks.resident = 2"));
    let (stats, _) = setup.waits(&[0, before(1), 0]).run(8);
    assert_eq!((stats.cycles, stats.issued, stats.chunks), (9, 6, 2));
    assert_eq!(stats.switches, 3);
    assert_eq!(stats.stalls.ranked(), [(Cause::Arithmetic, 3)]);
    assert_eq!(stats.at[1].stalls.cycles(Cause::Arithmetic), 3);
}

#[test]
fn five_chunks_hide_a_latency_of_five() {
    let setup = Setup::from_text("mul R0, R1, R1\nadd R0, R0, R0\nreturn", &config("chunks.resident = 5"));
    let (stats, _) = setup.waits(&[0, before(1), 0]).run(20);
    assert_eq!((stats.cycles, stats.stalls.total()), (15, 0));
}

#[test]
fn a_chunk_divides_at_a_branch_and_is_reassembled_at_the_return_only() {
    let text = "call F push 0\nmov R0, R1\nreturn\n\
                F: add R15.x, R1.x, -2.0 + jmp L, x (<0)\nmov R2, 1.0\nL: mov R3, 1.0\nreturn";
    let (stats, source) = Setup::from_text(text, &Config::default()).run(4);
    assert_eq!((stats.divergences, stats.reconvergences), (1, 1));
    let counts: Vec<_> = stats.at.iter().map(|at| (at.issued, at.threads)).collect();
    // The paths join at L, but the parts stay apart until both have returned from F.
    assert_eq!(counts, [(1, 4), (1, 4), (1, 4), (1, 4), (1, 2), (2, 4), (2, 4)]);
    assert_eq!(source.cost.iter().sum::<u64>(), SLOT_PARTS * stats.issued);
    // Four slots shared by all, two or three by two.
    assert_eq!(source.cost, [24, 24, 30, 30]);
    assert_eq!(stats.active_threads(), 26.0 / 9.0);
}

#[test]
fn threads_that_call_different_functions_come_back_together() {
    let text = "ftoi R2.w, R1.x\niand R2.w, R2.w, #1\niadd R2.w, R2.w, #5\ncall R2.w push 0\nreturn\n\
                return\nreturn";
    let (stats, _) = Setup::from_text(text, &Config::default()).run(4);
    assert_eq!((stats.divergences, stats.reconvergences), (1, 1));
    let issued: Vec<_> = stats.at.iter().map(|at| at.issued).collect();
    assert_eq!(issued, [1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(stats.at[4].threads, 4);
}

#[test]
fn after_a_branch_the_thread_waits_for_its_condition() {
    let setup = |text: &str| Setup::from_text(text, &Config::default()).waits(&[0, 0]);
    let (stats, _) = setup("add R0, R1, R1 + return and x (<0)\nreturn").run(4);
    assert_eq!(stats.cycles, 3 + 1);
    let (stats, _) = setup("add R0, R1, R1 + jmp L always\nL: return").run(4);
    assert_eq!(stats.cycles, 1 + 1);
}

#[test]
fn a_full_stack_goes_to_memory_and_comes_back() {
    let text = "call F push 3\nreturn\nF: call G push 5\nreturn\nG: mov S7, R1\nreturn";
    let small = Setup::from_text(text, &config("stack.vectors = 8")).run(4).0;
    assert_eq!((small.call_depth, small.stack_depth), (2, 16));
    assert_eq!((small.spilled, small.restored), (4 * 8, 4 * 8));
    let large = Setup::from_text(text, &Config::default()).run(4).0;
    assert_eq!((large.spilled, large.restored), (0, 0));
    // 3 and 5 vectors out, 5 and 3 back after the latency of a load each.
    assert_eq!(small.cycles - large.cycles, 2 + 4 + (5 + 20 - 1) + (3 + 20 - 1));
    // With room for 12, the second call alone moves 4; one of the three that the first return
    // uncovers is among them.
    let middle = Setup::from_text(text, &config("stack.vectors = 12")).run(4).0;
    assert_eq!((middle.spilled, middle.restored), (4 * 4, 4 * 4));
}

#[test]
fn a_busy_unit_takes_the_next_instruction_when_it_is_free() {
    let text = "load I0, A.x, 0\nload I1, A.x, 1\nreturn";
    let run = |keys: &str| Setup::from_text(text, &config(keys)).waits(&[0, 0, 0]).run(4).0;
    assert_eq!(run("").cycles, 3);
    let slow = run("intervals.memory = 10");
    assert_eq!((slow.cycles, slow.stalls.total()), (12, 9));
    let rays = Setup::from_text("trace R0, R1, R2\ntrace R0, R1, R2\nreturn", &config("intervals.ray = 3"));
    let (rays, _) = rays.waits(&[0, 0, 0]).run(3);
    assert_eq!((rays.cycles, rays.traces, rays.rays), (9 + 2, 2, 6));
}

#[test]
fn a_slot_starts_with_clean_registers_for_every_chunk() {
    let (stats, source) =
        Setup::from_text("add R0, R5, S0\nmov R5, 3.0\nmov S0, 2.0\nreturn", &Config::default()).run(150);
    assert_eq!((stats.chunks, stats.threads), (38, 150));
    assert_eq!(source.results, vec![[0; 4]; 150]);
}

/// Lanes loop a different number of times, call, recurse, and load and store.
const MIXED: &str = "mov R2.x, R1.x\nmov R0, 0.0\n\
    LOOP: mad R0.x, R0.x, 1.25, R1.x\nadd R2.x, R2.x, -3.0 + jmp LOOP, x (>=0)\n\
    mov R3.x, R2.x\ncall F push 2\nload I0, A.w, 1\nadd R0.y, R0.y, I0.x\nreturn\n\
    F: mov S0, R3\nstore A.w, 1, R3\nadd R3.x, R3.x, 1.0 + return and x (>=0)\nmov R0.z, 0.5\n\
    call F push 1\nadd R0.w, R0.w, S0.x\nreturn";

#[test]
fn both_modes_give_the_same_bits_and_every_cycle_is_accounted_for() {
    for resident in [1, 3, 16, 40] {
        let setup = Setup::from_text(MIXED, &config(&format!("chunks.resident = {resident}\nstack.vectors = 9")));
        let (stats, source) = setup.run(150);
        assert!(stats.divergences > 30 && stats.spilled > 0);
        assert_eq!(stats.cycles, stats.issued + stats.stalls.total());
        assert_eq!(stats.cycles, stats.at.iter().map(AtPc::cycles).sum::<u64>());
        assert_eq!(stats.issued, stats.at.iter().map(|at| at.issued).sum::<u64>());
        assert_eq!(SLOT_PARTS * stats.issued, source.cost.iter().sum::<u64>());
        for (n, expected) in source.results.iter().enumerate() {
            let mut block = Block::new();
            let x = (n as f32).to_bits();
            block.write(Reg::R(1), Component::X, &[x; BLOCK]);
            let report = setup.context().run(&mut block, 0, 1).expect("runs");
            assert!(report.issued > 0);
            assert_eq!(Component::ALL.map(|c| block.get(Reg::R(0), c, 0)), *expected, "thread {n}");
        }
    }
}

#[test]
fn more_chunks_never_cost_more_issue_slots() {
    let run = |resident: u32| Setup::from_text(MIXED, &config(&format!("chunks.resident = {resident}"))).run(150).0;
    let (one, many) = (run(1), run(16));
    assert_eq!((one.issued, one.executed, one.divergences), (many.issued, many.executed, many.divergences));
    assert!(one.utilization() < 0.5 && many.utilization() > 0.9, "{} {}", one.utilization(), many.utilization());
}

#[test]
fn errors_are_those_of_the_functional_model() {
    let error = |text: &str, limits: Limits| {
        let setup = Setup { limits, ..Setup::from_text(text, &Config::default()) };
        run(&setup.context(), &setup.timing, 0, &mut Numbered::new(70)).expect_err(text)
    };
    let limits = Limits { budget: 50, call_depth: 9, ..Limits::default() };
    assert_eq!(error("mov R0, R1", limits), ExecutionError::PastEnd { pc: 1 });
    assert_eq!(error("L: jmp L", limits), ExecutionError::Budget { pc: 0, budget: 50 });
    assert_eq!(error("L: call L push 1", limits), ExecutionError::CallDepth { pc: 0, limit: 9 });
    assert_eq!(error("store A.x, 3, R0\nreturn", limits), ExecutionError::BadStore { pc: 0, address: 3 });
}

#[test]
fn a_slot_that_is_used_again_has_a_new_budget() {
    let setup = Setup::from_text("mov R2, 20.0\nL: add R2, R2, -1.0 + jmp L, x (>=0)\nreturn", &Config::default());
    let setup = Setup { limits: Limits { budget: 20, ..Limits::default() }, ..setup };
    assert_eq!(setup.run(400).0.threads, 400);
}

#[test]
fn a_chunk_has_the_texels_that_its_own_threads_stored() {
    /// Collects the columns of the texels of each chunk.
    struct Texels(Numbered, Vec<Vec<usize>>);
    impl Source for Texels {
        fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8> {
            self.0.start(chunk)
        }
        fn finish(&mut self, number: u64, chunk: &Chunk<'_>, _cost: [u64; CHUNK]) {
            let mut places: Vec<usize> = chunk.texel_stores().map(|store| store.address).collect();
            places.sort_unstable();
            self.1[number as usize] = places;
        }
    }
    let setup = Setup::from_text("texstore 0, R1, R1\nreturn", &config("chunks.resident = 3"));
    let textures = [Texture { base: 1, width: 100, height: 1 }];
    let context = ExecutionContext { textures: &textures, ..setup.context() };
    let mut source = Texels(Numbered::new(22), vec![Vec::new(); 6]);
    run(&context, &setup.timing, 0, &mut source).expect("runs");
    let expected: Vec<Vec<usize>> = (0..6).map(|n| (4 * n + 1..(4 * n + 5).min(23)).collect()).collect();
    assert_eq!(source.1, expected);
}

proptest! {
    #[test]
    fn any_program_leaves_the_same_registers_in_both_modes(program in any_program()) {
        let mut setup = Setup::new(&program, &config("chunks.resident = 2\nstack.vectors = 10"));
        setup.limits = Limits { budget: 50, call_depth: 20, scratch: 16 };
        let mut source = Numbered::new(13);
        let timed = run(&setup.context(), &setup.timing, 0, &mut source);
        let alone = |n: usize| {
            let mut block = Block::new();
            block.set(Reg::R(1), Component::X, 0, (n as f32).to_bits());
            setup.stop.store(false, std::sync::atomic::Ordering::Relaxed);
            let ended = setup.context().run(&mut block, 0, 1).is_ok();
            ended.then(|| Component::ALL.map(|c| block.get(Reg::R(0), c, 0)))
        };
        let functional: Option<Vec<_>> = (0..13).map(alone).collect();
        prop_assert_eq!(timed.is_ok(), functional.is_some());
        if let (Ok(stats), Some(functional)) = (timed, functional) {
            prop_assert_eq!(stats.cycles, stats.issued + stats.stalls.total());
            prop_assert_eq!(source.results, functional);
        }
    }
}
