//! Runs a program on every engine, with every instruction set of this CPU, and compares what its
//! threads leave, to the bit: all registers, the stack, scratch memory, texels.

use crate::auto::AUTO;
use crate::block::Block;
use crate::engine::ENGINES;
use crate::executable::Executable;
use crate::execution::ExecutionContext;
use crate::isa::{Component, Program, Reg};
use crate::lanes::{BLOCK, lanes_of};
use crate::limits::{ExecutionError, Limits};
use crate::random::Choices;
use crate::simd::InstructionSet;
use crate::texture::Texture;
use crate::tracing::{HitBlock, RayBlock, Tracer};
use shadewright_base::random::hash;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

/// Threads of a batch that refills the lanes of a block.
const THREADS: usize = 150;

/// Hits every other ray, as its numbers say.
struct Sparse;

impl Tracer for Sparse {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        for lane in lanes_of(block.rays.active) {
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

/// The words that each thread leaves, and how many rays were traced; of threads in fixed lanes also
/// which loaded from outside of their memory.
#[derive(Debug, PartialEq)]
struct Left {
    threads: Vec<Vec<u32>>,
    rays: u64,
    bad_loads: u64,
}

/// Registers that threads start with.
fn registers() -> impl Iterator<Item = Reg> {
    let numbered = (0..5).map(Reg::R).chain((0..4).map(Reg::I)).chain((0..8).map(Reg::Stack));
    numbered.chain([Reg::A, Reg::Special, Reg::Hit, Reg::HitTri, Reg::HitObj])
}

/// A register's component of a thread at its start. Threads have some in common.
fn initial(seed: u32, reg: Reg, component: Component, thread: usize) -> u32 {
    let of_component =
        hash(seed ^ hash(registers().position(|r| r == reg).unwrap_or_default() as u32 * 4 + component.index() as u32));
    let is_common = of_component & 1 == 0;
    let mut choices = Choices::from_seed(if is_common { of_component } else { hash(of_component ^ thread as u32) });
    match reg {
        // Some vary within one of the memories.
        Reg::A | Reg::HitTri | Reg::HitObj => match of_component >> 1 & 3 {
            0 => choices.below(36),
            1 => (1 << 31) + choices.below(16),
            _ => choices.address(),
        },
        _ => choices.pattern(),
    }
}

/// The memory and the constants that a program reads.
struct MemoryAndConstants {
    memory: Vec<[u32; 4]>,
    constants: [[u32; 4]; 32],
}

impl MemoryAndConstants {
    fn new(program: &Program, seed: u32) -> MemoryAndConstants {
        let mut choices = Choices::from_seed(seed);
        let memory = (0..40).map(|_| [(); 4].map(|()| choices.pattern())).collect();
        let mut constants = std::array::from_fn(|_| [(); 4].map(|()| choices.pattern()));
        constants.iter_mut().zip(&program.constants).for_each(|(to, from)| *to = *from);
        MemoryAndConstants { memory, constants }
    }

    fn with_context<T>(&self, program: &Executable, work: impl FnOnce(&ExecutionContext<'_>) -> T) -> T {
        work(&ExecutionContext {
            program,
            constants: &self.constants,
            memory: &self.memory,
            textures: &[Texture { base: 4, width: 5, height: 3 }],
            shaders: &[0, 1, 2],
            tracer: &Sparse,
            limits: Limits { budget: 400, call_depth: 24, scratch: 20 },
            stop: &AtomicBool::new(false),
        })
    }
}

/// Runs the program once in each lane of `active`.
fn in_lanes(context: &ExecutionContext<'_>, active: u64, seed: u32) -> Result<Left, ExecutionError> {
    let mut block = Block::new();
    for reg in registers() {
        for c in Component::ALL {
            block.write(reg, c, &std::array::from_fn(|lane| initial(seed, reg, c, lane)));
        }
    }
    let report = context.run(&mut block, 0, active)?;
    let threads = (0..BLOCK).map(|lane| block.left_by(lane)).collect();
    Ok(Left { threads, rays: report.rays, bad_loads: report.bad_loads })
}

/// Runs the program in threads that share the lanes of a block. All start with the stack and scratch
/// memory at zero.
fn refilled(context: &ExecutionContext<'_>, seed: u32) -> Result<Left, ExecutionError> {
    let mut threads = vec![Vec::new(); THREADS];
    let (mut next, mut running) = (0, [None; BLOCK]);
    let mut supply = |block: &mut Block, free: u64| {
        let mut starting = 0;
        for lane in lanes_of(free) {
            if let Some(thread) = running[lane].take() {
                threads[thread] = block.left_by(lane);
            }
            if next < THREADS {
                running[lane] = Some(next);
                starting |= 1 << lane;
                next += 1;
            }
        }
        block.reset_lanes(starting);
        for lane in lanes_of(starting) {
            let thread = running[lane].unwrap_or_default();
            let registers = registers().filter(|reg| !matches!(reg, Reg::Stack(_)));
            for (reg, c) in registers.flat_map(|reg| Component::ALL.map(|c| (reg, c))) {
                block.set(reg, c, lane, initial(seed, reg, c, thread));
            }
        }
        starting
    };
    let report = context.run_refilled(&mut Block::new(), 0, &mut supply)?;
    Ok(Left { threads, rays: report.rays, bad_loads: 0 })
}

/// Describes the first difference of what two engines leave.
fn difference(one: &Left, other: &Left) -> String {
    let mut text = String::new();
    if let Some((thread, (a, b))) = one.threads.iter().zip(&other.threads).enumerate().find(|(_, (a, b))| a != b) {
        let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
        let word = |words: &[u32]| words.get(at).map_or("nothing".to_string(), |word| format!("{word:#010x}"));
        let _ = write!(text, "word {at} of thread {thread}: {} and {}; ", word(a), word(b));
    }
    let counts = |left: &Left| format!("{} rays, bad loads {:#x}", left.rays, left.bad_loads);
    let _ = write!(text, "{}; {}", counts(one), counts(other));
    text
}

/// True if a program came to its end, and on which engines not alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// All leave the same bits.
    Bits,
    /// All refuse the run, as it exceeds a limit or breaks a rule.
    Errors,
    /// Not all leave the same: what the first and another one leave.
    None(String),
}

/// Compares the engines on a valid program without imports, run from its first instruction in the
/// lanes of a mask and in threads that refill a block.
pub fn compare_engines(program: &Program, active: u64, seed: u32) -> Agreement {
    let executable = match Executable::new(program) {
        Ok(executable) => executable,
        Err(error) => return Agreement::None(error.to_string()),
    };
    let given = MemoryAndConstants::new(program, seed);
    let mut expected: Option<[Result<Left, ExecutionError>; 2]> = None;
    let mut agreement = Agreement::Errors;
    for set in InstructionSet::all() {
        for engine in ENGINES.iter().filter(|engine| engine.name != AUTO.name || set.name() == "portable") {
            let loaded = match engine.name == AUTO.name {
                // It runs on the best of the CPU.
                true => executable.clone(),
                false => executable.clone().interpreted().with_instruction_set(set),
            };
            let Ok(loaded) = loaded.on_engine(engine) else { continue };
            let found = given.with_context(&loaded, |context| in_lanes(context, active, seed));
            let batch = given.with_context(&loaded, |context| refilled(context, seed));
            let found = [found, batch];
            let Some(expected) = &expected else {
                if found.iter().any(Result::is_ok) {
                    agreement = Agreement::Bits;
                }
                expected = Some(found);
                continue;
            };
            for (how, (one, other)) in ["in lanes", "in a batch"].into_iter().zip(expected.iter().zip(&found)) {
                let differs = match (one, other) {
                    (Ok(one), Ok(other)) if one == other => None,
                    (Ok(one), Ok(other)) => Some(difference(one, other)),
                    // Another lane may be the first to break a rule.
                    (Err(_), Err(_)) => None,
                    (Ok(_), Err(error)) | (Err(error), Ok(_)) => Some(format!("one fails: {error}")),
                };
                if let Some(differs) = differs {
                    let name = format!("{} with {}", engine.name, set.name());
                    return Agreement::None(format!("the portable interpreter and {name}, {how}: {differs}"));
                }
            }
        }
    }
    agreement
}
