//! The intermediate representation: a control-flow graph of basic blocks with block parameters,
//! values in SSA form.
//!
//! # What a program means
//!
//! A [`Module`] is a set of [`Function`]s that call each other by name. A function has an entry
//! block (block 0) whose parameters are the function's; a block has parameters, instructions in
//! order, and a [`Terminator`] that passes arguments to the parameters of the block it goes to.
//! Each [`Value`] is defined once, by an instruction or as a block parameter, and every use is
//! dominated by the definition. Instructions execute in order, each when control reaches it. [`Op`]
//! says what each one computes.
//!
//! # Arithmetic
//!
//! Each operation has one meaning on every back end: IEEE single precision, round to nearest even,
//! every operation rounded. There is no division: `a / b` is `a · rcp b`. There is no fused
//! multiply-add. A comparison tests a difference, so it is false when that is NaN. Reading a
//! variable that nobody wrote gives zero. No operation traps.
//!
//! # The world
//!
//! `uniform` and `load` read data that does not change during a frame. `trace` sets the thread's
//! current hit, which `hit`, `hit_tri` and `hit_obj` read; after any other ray operation or call
//! the current hit is unspecified. Ray operations suspend: a back end may run other threads there.
//! Array slots belong to one activation of a function and start at zero.
//!
//! # Places
//!
//! Each instruction carries a [`Loc`]: a source span and the chain of calls through which it was
//! inlined. A pass keeps or drops locations and `debug` instructions; it never invents them.

pub mod abi;
pub mod builder;
pub mod cycles;
pub mod dominators;
pub mod emitter;
pub mod eval;
pub mod fingerprint;
pub mod fold;
pub mod host;
mod op;
pub mod parse;
pub mod passes;
pub mod print;
pub mod random;
pub mod structurize;
pub mod target;
mod types;
pub mod verify;

pub use builder::{Condition, Control, CountedLoop, FunctionBuilder, LoopExits, Variable};
pub use eval::{EmptyWorld, EvalError, Hit, Limits, World, eval, eval_observed};
pub use host::{HostFunction, HostFunctions};
pub use op::{Op, ShaderCall, SlotId};
pub use parse::parse;
pub use print::{PrintOptions, print_function, print_module};
pub use shadewright_base::text::string_id::{colliding_strings, string_id};
pub use target::TargetInfo;
pub use types::{Const, Type};
pub use verify::{VerifyError, verify};

use crate::abi::{EntryPoint, ShaderKind};
use shadewright_base::text::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A value of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A block of one function; block 0 is the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// A place in the source with its chain of inlined calls: an index into [`Module::locs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Loc(pub u32);

impl Loc {
    /// No place is known. (Entry 0 of [`Module::locs`].)
    pub const NONE: Loc = Loc(0);
}

/// The place that a [`Loc`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct LocData {
    /// The source text of the instruction; `None` for code that has no source.
    pub span: Option<Span>,
    /// Where the function that holds this instruction was inlined.
    pub inlined_at: Option<Loc>,
}

/// The purpose of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// An ordinary function.
    Function,
    /// The core of a shader: the function that a front end makes of it. The linker copies the cores
    /// of objects' shaders for what surrounds the object.
    Core(ShaderKind),
    /// An entry point: it may be called from outside, so passes keep it with its parameters and
    /// results.
    Entry(EntryPoint),
}

impl FunctionKind {
    /// True if it is an entry point.
    pub fn is_entry(self) -> bool {
        matches!(self, FunctionKind::Entry(_))
    }
}

/// Who made a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FunctionOrigin {
    /// A file of the user's.
    #[default]
    User,
    /// The standard library.
    Library,
    /// The linker.
    Linker,
}

/// Where calls of a function are inlined, beside what [`passes::InlinePolicy`] says of all
/// functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Inlining {
    /// Where the policy's thresholds say so.
    #[default]
    Automatic,
    /// Everywhere, up to the policy's `max_size`.
    Always,
    /// When equal calls have been merged ([`passes::inline::InlinePhase::Late`]), also where an argument
    /// is a constant and the function is of medium size.
    Late,
    /// Nowhere: a back end may have a function of its own for it, which need not give the same bits.
    Native,
}

/// For which calls the partial evaluator makes variants of a function ([`passes::variants`]), in the
/// manner of the filters of Pérard-Gayot 2020, §1.2.3.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// Where an argument is constant and the policy makes variants.
    #[default]
    Automatic,
    /// Where an argument is constant, and in these variants again; calls are inlined.
    Always,
    /// Where the arguments of these parameters, by their numbers, are all constant; calls are
    /// inlined.
    Known(Arc<[u32]>),
    /// Nowhere but at forced calls.
    Never,
}

/// The origin of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ParamKind {
    /// The source has it: a shader's parameter, a function's argument, a predefined variable. It
    /// stays, as debuggers show it.
    #[default]
    Declared,
    /// The compiler added it: a named input that no text can name, an element of an array, a value
    /// that the linker hands on. It is dropped where nothing needs it.
    Implicit,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name in the source: of a shader parameter, a global (`P`, `N`, …) or a function's
    /// argument.
    pub name: Arc<str>,
    /// The type.
    pub ty: Type,
    /// The origin: the source, or the compiler.
    pub kind: ParamKind,
}

/// A result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultInfo {
    /// The name of the output (`Ci`, `Oi`, an output parameter); `return` for a function's value.
    pub name: Arc<str>,
    /// The type.
    pub ty: Type,
}

/// An array local to a function's activation, zero at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// A name for people.
    pub name: Arc<str>,
    /// Type of an element.
    pub ty: Type,
    /// Number of elements, at least 1.
    pub len: u32,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Operands.
    pub args: Vec<Value>,
    /// Values it defines.
    pub results: Vec<Value>,
    /// Where it comes from.
    pub loc: Loc,
}

/// A block with arguments for its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The block.
    pub block: BlockId,
    /// One argument a parameter.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Continues at a block.
    Jump(Target),
    /// Goes to the first target when the `bool` is true, else to the second.
    Branch(Value, Target, Target),
    /// Leaves the function with its results.
    Return(Vec<Value>),
}

impl Terminator {
    /// The targets, in order.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        let (a, b) = match self {
            Terminator::Jump(t) => (Some(t), None),
            Terminator::Branch(_, t, e) => (Some(t), Some(e)),
            Terminator::Return(_) => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The targets, in order, to be changed.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let (a, b) = match self {
            Terminator::Jump(t) => (Some(t), None),
            Terminator::Branch(_, t, e) => (Some(t), Some(e)),
            Terminator::Return(_) => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// Calls `f` on every operand: the condition, the arguments of the targets, the returned
    /// values.
    pub fn for_each_arg(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::Branch(c, ..) => f(*c),
            Terminator::Return(values) => values.iter().for_each(|&v| f(v)),
            Terminator::Jump(_) => {}
        }
        self.targets().flat_map(|t| &t.args).for_each(|&v| f(v));
    }

    /// Calls `f` on every operand, to change it.
    pub fn for_each_arg_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch(c, ..) => f(c),
            Terminator::Return(values) => values.iter_mut().for_each(&mut f),
            Terminator::Jump(_) => {}
        }
        self.targets_mut().flat_map(|t| &mut t.args).for_each(f);
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions, in order of execution.
    pub insts: Vec<Inst>,
    /// The end.
    pub term: Terminator,
    /// Where the terminator comes from.
    pub term_loc: Loc,
}

/// A function in SSA form. Unreachable blocks may exist between passes; a back end never sees one.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name, unique in the module.
    pub name: Arc<str>,
    /// The purpose.
    pub kind: FunctionKind,
    /// Who made it.
    pub origin: FunctionOrigin,
    /// Where calls of it are inlined.
    pub inlining: Inlining,
    /// Which calls of it are specialized.
    pub filter: Filter,
    /// Parameters; their values are the entry block's parameters.
    pub params: Vec<Param>,
    /// Results.
    pub results: Vec<ResultInfo>,
    /// Array slots.
    pub slots: Vec<Slot>,
    /// Blocks; the first is the entry. No jump leads to the entry.
    pub blocks: Vec<Block>,
    /// The type of each value.
    pub values: Vec<Type>,
    /// Where the function was declared.
    pub loc: Loc,
    /// The code that the evaluator runs in place of the blocks, of a function of the host.
    pub host: Option<HostFunction>,
}

impl Function {
    /// A function without parameters, results and blocks.
    pub fn new(name: impl Into<Arc<str>>, kind: FunctionKind) -> Self {
        Self {
            name: name.into(),
            kind,
            origin: FunctionOrigin::default(),
            inlining: Inlining::default(),
            filter: Filter::default(),
            params: Vec::new(),
            results: Vec::new(),
            slots: Vec::new(),
            blocks: Vec::new(),
            values: Vec::new(),
            loc: Loc::NONE,
            host: None,
        }
    }

    /// Removes parameters after the first `keep` that nothing uses but `debug` instructions that
    /// do not print.
    pub fn drop_unused_params(&mut self, keep: usize) {
        let mut used = vec![false; self.values.len()];
        for block in &self.blocks {
            let insts = block.insts.iter().filter(|i| i.op.is_printed() || !matches!(i.op, Op::Debug(_)));
            insts.flat_map(|i| &i.args).for_each(|v| used[v.0 as usize] = true);
            block.term.for_each_arg(|v| used[v.0 as usize] = true);
        }
        let values = std::mem::take(&mut self.blocks[0].params);
        let params = std::mem::take(&mut self.params);
        let kept: Vec<_> = values.into_iter().zip(params).enumerate().collect();
        for (i, (value, param)) in kept {
            if i < keep || used[value.0 as usize] {
                self.blocks[0].params.push(value);
                self.params.push(param);
            } else {
                for block in &mut self.blocks {
                    block.insts.retain(|inst| !inst.args.contains(&value));
                }
            }
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.0 as usize]
    }

    /// The block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }

    /// The block, to be changed.
    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }

    /// Ids of all blocks.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// The parameters' values.
    pub fn param_values(&self) -> &[Value] {
        &self.blocks[0].params
    }

    /// Makes a value of a type.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.values.push(ty);
        Value(self.values.len() as u32 - 1)
    }

    /// Makes an empty block that returns nothing yet; its terminator must be set.
    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(Block {
            params: Vec::new(),
            insts: Vec::new(),
            term: Terminator::Return(Vec::new()),
            term_loc: Loc::NONE,
        });
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// For each block, the blocks that jump to it, once for each edge.
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut preds = vec![Vec::new(); self.blocks.len()];
        for id in self.block_ids() {
            for t in self.block(id).term.targets() {
                preds[t.block.0 as usize].push(id);
            }
        }
        preds
    }

    /// Reachable blocks in reverse postorder, the entry first.
    pub fn reverse_postorder(&self) -> Vec<BlockId> {
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::new();
        let mut stack = vec![(BlockId(0), 0usize)];
        seen[0] = true;
        while let Some((block, next)) = stack.last_mut() {
            let target = self.block(*block).term.targets().nth(*next).map(|t| t.block);
            *next += 1;
            match target {
                Some(t) if !seen[t.0 as usize] => {
                    seen[t.0 as usize] = true;
                    stack.push((t, 0));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Calls `f` on every location, to change it.
    fn for_each_loc_mut(&mut self, mut f: impl FnMut(&mut Loc)) {
        f(&mut self.loc);
        for block in &mut self.blocks {
            f(&mut block.term_loc);
            block.insts.iter_mut().for_each(|i| f(&mut i.loc));
        }
    }

    /// Forgets where its instructions come from.
    pub fn forget_locs(&mut self) {
        self.for_each_loc_mut(|loc| *loc = Loc::NONE);
    }

    /// Number of instructions in all blocks.
    pub fn inst_count(&self) -> usize {
        self.blocks.iter().map(|b| b.insts.len()).sum()
    }
}

/// A set of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The functions, in order of definition.
    pub functions: Vec<Function>,
    /// The place that each [`Loc`] stands for; entry 0 is [`Loc::NONE`].
    pub locs: Vec<LocData>,
}

impl Default for Module {
    fn default() -> Self {
        Self { functions: Vec::new(), locs: vec![LocData::default()] }
    }
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| &*f.name == name)
    }

    /// The function of that name, to be changed.
    pub fn function_mut(&mut self, name: &str) -> Option<&mut Function> {
        self.functions.iter_mut().find(|f| &*f.name == name)
    }

    /// Function indices by name.
    pub fn index(&self) -> HashMap<Arc<str>, usize> {
        self.functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)).collect()
    }

    /// Drops the locations that no instruction has.
    pub fn drop_unused_locs(&mut self) {
        let mut used = vec![false; self.locs.len()];
        used[0] = true;
        for func in &mut self.functions {
            func.for_each_loc_mut(|loc| {
                let mut at = Some(*loc);
                while let Some(here) = at.filter(|l| !std::mem::replace(&mut used[l.0 as usize], true)) {
                    at = self.locs[here.0 as usize].inlined_at;
                }
            });
        }
        let mut number = vec![Loc::NONE; self.locs.len()];
        let kept = used.iter().enumerate().filter(|(_, used)| **used).map(|(old, _)| old);
        let kept: Vec<usize> = kept.collect();
        kept.iter().zip(0..).for_each(|(old, new)| number[*old] = Loc(new));
        let renumbered = |old: &usize| {
            let data = self.locs[*old];
            LocData { inlined_at: data.inlined_at.map(|l| number[l.0 as usize]), ..data }
        };
        self.locs = kept.iter().map(renumbered).collect();
        self.functions.iter_mut().for_each(|f| f.for_each_loc_mut(|loc| *loc = number[loc.0 as usize]));
    }

    /// Makes a location.
    pub fn add_loc(&mut self, data: LocData) -> Loc {
        self.locs.push(data);
        Loc(self.locs.len() as u32 - 1)
    }

    /// The source span of a location: its own, else that of the call it was inlined at.
    pub fn span(&self, mut loc: Loc) -> Option<Span> {
        loop {
            let data = self.locs.get(loc.0 as usize)?;
            if data.span.is_some() {
                return data.span;
            }
            loc = data.inlined_at?;
        }
    }

    /// All string constants, in the order of the instructions.
    pub fn strings(&self) -> impl Iterator<Item = &Arc<str>> {
        let insts = self.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        insts.filter_map(|inst| if let Op::Const(Const::String(string)) = &inst.op { Some(string) } else { None })
    }

    /// Moves all functions of `other`, made over the same sources, here. Functions whose name
    /// exists here are returned, not added.
    pub fn absorb(&mut self, other: Module) -> Vec<Function> {
        let loc_offset = self.locs.len() as u32 - 1;
        let shift = |l: Loc| if l == Loc::NONE { l } else { Loc(l.0 + loc_offset) };
        for mut data in other.locs.into_iter().skip(1) {
            data.inlined_at = data.inlined_at.map(shift);
            self.locs.push(data);
        }
        let mut refused = Vec::new();
        for mut f in other.functions {
            f.for_each_loc_mut(|loc| *loc = shift(*loc));
            match self.function(&f.name) {
                Some(_) => refused.push(f),
                None => self.functions.push(f),
            }
        }
        refused
    }
}
