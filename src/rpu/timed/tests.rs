//! Cycles counted by hand, and bits compared with the functional machine.

use super::*;
use crate::lang::source::FileId;
use crate::rpu::asm::assemble;
use crate::rpu::decode::Executable;
use crate::rpu::isa::{Component, Program, Reg};
use crate::rpu::machine::Limits;
use crate::rpu::tracing::{HitBlock, RayBlock, Tracer};
use crate::rpu::{BLOCK, Block, EmptyScene};
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

/// A machine for a program, on a configuration.
struct Setup {
    executable: Executable,
    timing: Timing,
    stop: AtomicBool,
    tracer: Box<dyn Tracer>,
    limits: Limits,
}

impl Setup {
    fn new(text: &str, config: &Config) -> Setup {
        let program = program(text);
        Setup {
            executable: Executable::new(&program).expect("valid"),
            timing: Timing::new(&program, config),
            stop: AtomicBool::new(false),
            tracer: Box::new(EmptyScene),
            limits: Limits::default(),
        }
    }

    fn machine(&self) -> Machine<'_> {
        Machine {
            program: &self.executable,
            constants: &[[0; 4]; 32],
            memory: &[[7; 4]; 8],
            shaders: &[],
            tracer: self.tracer.as_ref(),
            limits: self.limits,
            stop: &self.stop,
        }
    }

    fn run(&self, threads: u32) -> (Stats, Numbered) {
        let mut source = Numbered::new(threads);
        let stats = run(&self.machine(), &self.timing, 0, &mut source).expect("runs");
        (stats, source)
    }
}

fn timed(text: &str, threads: u32) -> Stats {
    Setup::new(text, &Config::default()).run(threads).0
}

#[test]
fn a_dependent_instruction_waits_for_the_latency() {
    // mul at 0, add at 5, mov at 8, return at 9.
    assert_eq!(timed("mul R0, R1, R1\nadd R0, R0, R0\nmov R2, R0\nreturn", 4).cycles, 12);
}
