//! The RPU back end: lowers a linked IR module to a program of the RPU ([`shadewright_rpu`])
//! (Węgrzanowski 2006, ch. 7–10).
//!
//! A function goes through these steps, each in a file of its own: [`jump_threading`], [`legalize`]
//! and [`branches`] rewrite IR into IR that the RPU has instructions for; [`select`] makes
//! machine code on virtual registers ([`vcode`]), with constants where [`constant_pool`] lays them
//! out; [`forward`], [`merge`] and [`liveness`] improve it; [`regalloc`] finds registers;
//! [`schedule`] reorders and pairs; [`emit`] writes the code, to which [`depend`] adds the
//! dependency flags. It knows the IR and the instruction set, and neither languages nor scenes.

use rayon::prelude::*;
use shadewright_base::named::{Named, Row};
use shadewright_ir::host::left_over;
use shadewright_ir::{Const, Function, Loc, Module, Op, string_id};
use shadewright_rpu::depend;
use shadewright_rpu::isa::{EntryPoint, MAX_CODE, Program, Reg};
use shadewright_rpu::timed::Config;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error as ThisError;

mod branches;
pub mod calls;
mod compare;
mod constant_pool;
mod conventions;
mod dependence;
mod emit;
mod forward;
mod interference;
mod jump_threading;
mod legalize;
mod liveness;
mod loops;
mod lower;
mod merge;
mod pairing;
mod preserve;
mod redundant_copies;
mod regalloc;
mod rename;
mod rotation;
mod schedule;
mod select;
mod simplify;
mod specials;
mod spill;
mod stored;
mod target;
pub mod thesis_abi;
mod vcode;

#[cfg(test)]
mod tests;

pub use conventions::Convention;
pub use target::TARGET;

/// Which conventions a program follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Abi {
    /// The renderer's own: vector constants in `C` registers, program constants from `C31` down.
    #[default]
    Native,
    /// That of the thesis's listings (ch. 12): only `C31` is set.
    Thesis,
}

impl Named for Abi {
    const TABLE: &'static [Row<Self>] = &[
        ("native", "The renderer's", Self::Native),
        ("thesis", "That of Węgrzanowski 2006: E = 0, flat normals, no opacity", Self::Thesis),
    ];
}

/// The passes that can be switched off, all on by default. Switching one off changes the code, not
/// what it computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passes {
    /// Jumps lead around blocks that only test what they are given.
    pub thread: bool,
    /// Values that the expansion of operations computes twice are computed once.
    pub share: bool,
    /// Computations that one side of a selection needs move there.
    pub sink: bool,
    /// Instructions move next to their users before selection.
    pub order: bool,
    /// Copies are looked through.
    pub forward: bool,
    /// Products become part of sums.
    pub mad: bool,
    /// Reciprocals, conditions and components join the instructions that compute them.
    pub merge: bool,
    /// Copies' sides get one register.
    pub coalesce: bool,
    /// Instructions are reordered for latency.
    pub schedule: bool,
    /// Two operations share a slot.
    pub split: bool,
    /// Control rides on arithmetic.
    pub pair: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Passes {
            thread: true,
            share: true,
            sink: true,
            order: true,
            forward: true,
            mad: true,
            merge: true,
            coalesce: true,
            schedule: true,
            split: true,
            pair: true,
        }
    }
}

impl Passes {
    /// The names of the passes, in the order in which they run.
    pub const NAMES: [&'static str; 11] =
        ["thread", "share", "sink", "order", "mad", "forward", "merge", "coalesce", "schedule", "split", "pair"];

    /// Switches a pass on or off by name; `false` when there is none of that name.
    pub fn set(&mut self, name: &str, on: bool) -> bool {
        let pass = match name {
            "thread" => &mut self.thread,
            "share" => &mut self.share,
            "sink" => &mut self.sink,
            "order" => &mut self.order,
            "forward" => &mut self.forward,
            "mad" => &mut self.mad,
            "merge" => &mut self.merge,
            "coalesce" => &mut self.coalesce,
            "schedule" => &mut self.schedule,
            "split" => &mut self.split,
            "pair" => &mut self.pair,
            _ => return false,
        };
        *pass = on;
        true
    }
}

/// Where vectors of constants lie that find no `C` register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ConstantPlaces {
    /// In a table behind the memory image ([`RpuProgram::table`]).
    #[default]
    Table,
    /// In the code, as literals for one component each: for programs without a memory image.
    Code,
}

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RpuOptions {
    /// Where constants lie that find no register.
    pub constants: ConstantPlaces,
    /// The conventions for shaders and constants.
    pub abi: Abi,
    /// Who keeps registers across calls.
    pub convention: Convention,
    /// The passes.
    pub passes: Passes,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct RpuProgram {
    /// Code and entry points: one for each function, its name with `@` replaced by `$`.
    pub program: Program,
    /// Contents of `C0` upwards; program constant `k` belongs into `C[31-k]`.
    pub constants: Vec<[u32; 4]>,
    /// Constants that found no register: vectors that the loader puts after the memory image, at
    /// the address that it writes into [`TABLE_BASE`]. Most programs have none.
    pub table: Vec<[u32; 4]>,
    /// Where each instruction comes from.
    pub locs: Vec<Loc>,
    /// Vectors of scratch memory that one activation of each function takes, in the order of the
    /// module's functions.
    pub frames: Vec<u32>,
}

/// The component of a `C` register, by numbers, that gives a program the address of its
/// [`RpuProgram::table`] starts.
pub const TABLE_BASE: (usize, usize) = (constant_pool::BASE.0, 3);

impl RpuProgram {
    /// Gives the program its table: puts it after the image and writes its address into the
    /// constant registers. Without a table nothing changes.
    pub fn place_table<'a>(&self, constants: &mut [[u32; 4]; 32], image: &'a [[u32; 4]]) -> Cow<'a, [[u32; 4]]> {
        if self.table.is_empty() {
            return Cow::Borrowed(image);
        }
        constants[TABLE_BASE.0][TABLE_BASE.1] = image.len() as u32;
        Cow::Owned([image, &self.table].concat())
    }

    /// The code address of a function by its name in the module.
    pub fn entry(&self, function: &str) -> Option<u32> {
        self.program.entry(&entry_name(function))
    }

    /// The instructions of a function: from its entry to the next function's.
    pub fn code_of(&self, function: &str) -> Option<&[shadewright_rpu::isa::Instr]> {
        let start = self.entry(function)?;
        let next = self.program.entries.iter().map(|e| e.address).filter(|&a| a > start).min();
        self.program.code.get(start as usize..next.map_or(self.program.code.len(), |n| n as usize))
    }
}

/// The name of a function's entry point.
pub fn entry_name(function: &str) -> String {
    function.replace('@', "$")
}

/// Why a module cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// A function has too many parameters or results, or passes too many.
    #[error("`{function}` passes more values than there are registers (15 vectors and 15 scalars)")]
    TooManyArguments {
        /// The function.
        function: Arc<str>,
    },
    /// A function of the host is called with values that are not known before.
    #[error("the host's `{function}` is called with values that are not known yet")]
    Host {
        /// The function.
        function: Arc<str>,
    },
    /// A function calls one that the module does not have.
    #[error("`{function}` calls `{callee}`, which does not exist")]
    UnknownFunction {
        /// The caller.
        function: Arc<str>,
        /// The callee.
        callee: Arc<str>,
    },
    /// A function's arrays and spilled values do not fit the offsets of loads and stores.
    #[error(
        "the arrays of `{function}` and the values that find no register need more than 32767 vectors of memory: make them fewer"
    )]
    FrameTooLarge {
        /// The function.
        function: Arc<str>,
    },
    /// A program constant that has no register.
    #[error("there is no program constant {index}")]
    UniformOutOfRange {
        /// The number of the constant.
        index: u32,
    },
    /// Registers could not be allocated: an error of the compiler.
    #[error("no registers could be found for `{function}`")]
    Unallocated {
        /// The function.
        function: Arc<str>,
    },
    /// The code is longer than the RPU's code memory.
    #[error("the program has {0} instructions; at most {MAX_CODE} fit")]
    TooLong(usize),
}

/// The texture, of one texel, into which programs with `record` instructions store: up to four
/// words a store, in the order of the operands.
pub const RECORD_TEXTURE: u8 = 0;

/// Input registers of the RPU; the last is kept for spill code where that is needed.
const INPUTS: u8 = 4;

/// Compiles a module, which must be verified and free of matrices (see
/// [`shadewright_ir::passes::matrices`]).
///
/// # Errors
/// See [`Error`].
pub fn compile(module: &Module, options: &RpuOptions) -> Result<RpuProgram, Error> {
    if let Some((function, _)) = left_over(module) {
        return Err(Error::Host { function });
    }
    let index = module.index();
    let mut functions: Vec<Function> = module.functions.par_iter().map(|f| lower(f, &options.passes)).collect();
    let mut layout = constant_pool::Layout::default();
    if options.abi == Abi::Native {
        let mut usage = constant_pool::Usage::default();
        functions.iter().for_each(|f| usage.count(f));
        layout = constant_pool::Layout::new(usage, options.constants);
        functions.iter_mut().for_each(|f| layout.load_from_table(f));
    }
    let mut plan = conventions::Plan::new(module, options.convention, options.abi)?;
    let mut codes = vec![emit::Code::default(); module.functions.len()];
    let mut frames = vec![0; module.functions.len()];
    let compiled = |n: usize, plan: &conventions::Plan| {
        let code = compile_function(&functions[n], n, &index, options, plan, &layout)?;
        let frame = code.frame;
        let clobbers = conventions::Clobbers::new(&code);
        Ok((emit::emit(code, options.passes.pair, &module.functions[n].name)?, frame, clobbers))
    };
    let order = plan.order();
    if options.convention == Convention::Interprocedural {
        // A caller depends on what its callees change.
        for n in order {
            let clobbers;
            (codes[n], frames[n], clobbers) = compiled(n, &plan)?;
            plan.compiled(n, clobbers);
        }
    } else {
        let all: Vec<_> = order.par_iter().map(|&n| compiled(n, &plan)).collect();
        for (n, result) in order.into_iter().zip(all) {
            (codes[n], frames[n], _) = result?;
        }
    }
    let mut starts = Vec::new();
    let mut at = 0u32;
    for code in &codes {
        starts.push(at);
        at += code.instrs.len() as u32;
    }
    if at as usize > MAX_CODE {
        return Err(Error::TooLong(at as usize));
    }
    let mut program = Program::default();
    let mut locs = Vec::new();
    for (n, code) in codes.iter().enumerate() {
        let name = entry_name(&module.functions[n].name);
        program.entries.push(EntryPoint { name, address: starts[n] });
        for i in &code.instrs {
            let target = match i.label {
                Some(emit::Label::Block(b)) => starts[n] + code.blocks.get(&b).copied().unwrap_or(0) as u32,
                Some(emit::Label::Function(g)) => starts[g],
                None => 0,
            };
            program.code.push(i.instr.with_target(target));
            locs.push(i.loc);
        }
    }
    program.waits = depend::flags(&program, &[Reg::R(15)], &Config::default().latencies);
    program.strings = strings(module);
    Ok(RpuProgram { program, constants: layout.registers(), table: layout.table().to_vec(), locs, frames })
}

/// The strings of a module by their identifiers, without the empty one.
fn strings(module: &Module) -> Vec<(u32, String)> {
    let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    let texts = insts.filter_map(|i| if let Op::Const(Const::String(s)) = &i.op { Some(s) } else { None });
    let named: BTreeMap<u32, String> = texts.map(|s| (string_id(s), s.to_string())).collect();
    named.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Rewrites a function into one that selection can take.
fn lower(function: &Function, passes: &Passes) -> Function {
    let mut f = function.clone();
    if passes.thread {
        jump_threading::thread_tests(&mut f);
    }
    branches::cut_long_blocks(&mut f);
    legalize::legalize(&mut f, passes.share);
    branches::cut_long_blocks(&mut f);
    if passes.order {
        branches::order_by_use(&mut f);
    }
    branches::lower_selections(&mut f, passes.sink);
    legalize::drop_unused(&mut f);
    if passes.order {
        branches::order_by_use(&mut f);
    }
    f
}

fn compile_function(
    function: &Function,
    number: usize,
    index: &std::collections::HashMap<Arc<str>, usize>,
    options: &RpuOptions,
    plan: &conventions::Plan,
    layout: &constant_pool::Layout,
) -> Result<vcode::MFunc, Error> {
    let passes = &options.passes;
    // Spilling needs an input register to itself, which selection reserves only once spilling turns
    // out necessary.
    for spill in [None, Some(INPUTS - 1)] {
        let inputs = spill.unwrap_or(INPUTS);
        let context = select::Context { index, abi: options.abi, plan, passes, inputs, layout };
        let mut code = select::select(function, context)?;
        if options.abi == Abi::Native {
            constant_pool::keep_one_literal(&mut code, layout);
        }
        liveness::eliminate_dead_code(&mut code);
        if passes.forward {
            forward::forward(&mut code);
            liveness::eliminate_dead_code(&mut code);
        }
        if passes.merge {
            merge::merge(&mut code);
            liveness::eliminate_dead_code(&mut code);
        }
        let rules = regalloc::Rules {
            coalesce: passes.coalesce,
            spill_register: spill,
            preserved: plan.preserved(number),
            frugal: plan.is_frugal(number),
        };
        let Some(mut code) = regalloc::allocate(code, &rules) else { continue };
        if passes.coalesce {
            redundant_copies::drop_needless_copies(&mut code);
        }
        if passes.merge {
            // What is in components of one register now is computed together.
            code.blocks.iter_mut().for_each(merge::widen);
        }
        if passes.schedule {
            let rules = schedule::Rules {
                split: passes.split,
                latencies: &Config::default().latencies,
                preserved: &plan.preserved(number),
                frugal: plan.is_frugal(number),
            };
            schedule::schedule(&mut code, &rules);
        }
        return Ok(code);
    }
    Err(Error::Unallocated { function: function.name.clone() })
}
