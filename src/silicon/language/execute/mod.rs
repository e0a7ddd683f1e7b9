//! Executes a program symbolically: where a program would compute, a node is added to the graph
//! (Ullner 1983, C.9).
//!
//! [`blocks`] are symbol tables: what variables name, at each point between two branches.
//! [`statements`] follow the flow of control, [`operations`] add nodes, [`ports`] create ports and
//! use them, [`macros`] expand macros, [`numbers`] are what is known while compiling.
//!
//! Conditions that are known choose their branch at once, so that macros can call themselves.

mod assigned;
mod blocks;
mod macros;
mod numbers;
mod operations;
mod ports;
mod statements;

use super::ast::{Ident, Program};
use crate::circuit::graph::{Circuit, DataKind, LoopId, MAX_NODES, NodeId, Op, ValueId};
use blocks::{Block, BlockId, BlockKind, Datum, Key, Poison, Symbol};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Parse, Stop};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// The limits of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Statements and expressions that are executed, macros and loops included.
    pub steps: usize,
    /// How deep statements, expressions and macros nest.
    pub depth: usize,
    /// Nodes of the graph, before any are removed.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1 << 22, depth: 10_000, nodes: MAX_NODES }
    }
}

/// The most bits of all memories and of all buffers inside a circuit, each word counted as
/// [`shadewright_base::bits::storage`] does.
const MAX_STORAGE: u64 = 1 << 30;

/// The most errors that are reported of an execution.
const MAX_ERRORS: usize = 100;

/// The variable that names the carry of the last sum or difference.
pub const CARRY: &str = "addSubCarryOut";

/// Executes a program into a graph, which may have parts that nothing depends on. Errors go to
/// `diags`.
pub fn execute(name: &str, program: &Program, limits: Limits, diags: &mut Diagnostics) -> Circuit {
    let mut circuit = Circuit::new(name);
    let reset = circuit.add_value(Op::Reset, &[], Span::default());
    let mut executor = Executor {
        macros: HashMap::new(),
        program,
        circuit,
        blocks: Vec::new(),
        here: BlockId(0),
        reachable: true,
        scope: 0,
        scopes: 1,
        temporaries: 0,
        symbols: HashMap::new(),
        journal: Vec::new(),
        exits: Vec::new(),
        loops: Vec::new(),
        around: None,
        calls: Vec::new(),
        reset,
        lookups: 0,
        depth: 0,
        steps: 0,
        storage: 0,
        limits,
        stopped: false,
        diags,
    };
    executor.run();
    executor.circuit
}

/// The nodes at the head of a loop, and where its body ends.
#[derive(Default)]
struct LoopState {
    /// Heads that wait for the end of the body.
    heads: Vec<(Key, NodeId)>,
    /// Variables that must name the same port in each iteration.
    ports: Vec<Key>,
    /// When the body has been executed: the block at its end, if it has one.
    end: Option<Option<BlockId>>,
}

/// The state of an execution.
struct Executor<'a> {
    program: &'a Program,
    /// Macros by name: indices into the program's.
    macros: HashMap<Arc<str>, usize>,
    circuit: Circuit,
    blocks: Vec<Block>,
    /// The block at whose end the execution is.
    here: BlockId,
    /// True if the program gets here.
    reachable: bool,
    /// The scope of names: the program is 0, each expansion of a macro has its own.
    scope: u32,
    scopes: u32,
    temporaries: u32,
    symbols: HashMap<Arc<str>, Symbol>,
    /// The keys that have been assigned, in order.
    journal: Vec<Key>,
    /// The loops of this macro around here: blocks at whose end they are left.
    exits: Vec<Vec<BlockId>>,
    /// All loops of the circuit.
    loops: Vec<LoopState>,
    /// The loop around here, in any macro.
    around: Option<LoopId>,
    /// The calls of the macros around here.
    calls: Vec<Span>,
    /// The token that starts the circuit.
    reset: ValueId,
    /// Look-ups inside each other.
    lookups: usize,
    depth: usize,
    steps: usize,
    /// Bits of memories and buffers.
    storage: u64,
    limits: Limits,
    /// True if a limit is reached: nothing more is executed, and no error reported.
    stopped: bool,
    diags: &'a mut Diagnostics,
}

impl<'a> Executor<'a> {
    fn run(&mut self) {
        self.blocks.push(Block::new(BlockKind::Entry));
        for key in [Key::Reset, Key::Print] {
            self.blocks[0].bindings.insert(key, Datum::Token(self.reset));
        }
        for (i, definition) in self.program.macros.iter().enumerate() {
            self.declare(i, &definition.name);
        }
        for statement in &self.program.statements {
            self.statement(statement);
        }
        self.name_ports();
    }

    fn declare(&mut self, i: usize, name: &Ident) {
        if ports::is_built_in(&name.name) {
            let message = format!("`{}` is built in", name.name);
            self.report(Diagnostic::error(message).at(name.span, "a macro needs another name"));
        } else if let Some(first) = self.macros.get(&name.name) {
            let d = Diagnostic::error(format!("the macro `{}` is defined twice", name.name));
            let d = d.at(name.span, "again").also(self.program.macros[*first].name.span, "first");
            self.report(d);
        } else {
            self.macros.insert(name.name.clone(), i);
        }
    }

    /// Reports an error, with the calls around it.
    fn report(&mut self, mut d: Diagnostic) {
        for call in self.calls.iter().rev().take(3) {
            d = d.also(*call, "in this call");
        }
        if !self.stopped {
            self.diags.push(d);
            self.stopped = self.diags.error_count() >= MAX_ERRORS;
        }
    }

    fn fail<T>(&mut self, d: Diagnostic) -> Parse<T> {
        self.report(d);
        Err(Stop)
    }

    fn error<T>(&mut self, span: Span, message: impl Into<String>, label: impl Into<String>) -> Parse<T> {
        self.fail(Diagnostic::error(message).at(span, label))
    }

    /// Executes something one level deeper, if no limit is reached.
    fn nested<T>(&mut self, span: Span, execute: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.steps += 1;
        let problem = if self.depth >= self.limits.depth {
            Some("macros nest too deep: one calls itself without end")
        } else if self.steps > self.limits.steps || self.circuit.nodes().len() > self.limits.nodes {
            Some("the program is too large when its macros are expanded")
        } else {
            None
        };
        if let Some(message) = problem {
            let hint = "a macro that calls itself needs a condition that is known while compiling";
            self.report(Diagnostic::error(message).at(span, "stopped here").hint(hint));
            self.stopped = true;
        }
        if self.stopped {
            return Err(Stop);
        }
        self.depth += 1;
        let result = execute(self);
        self.depth -= 1;
        result
    }

    fn open(&mut self, id: LoopId) -> &mut LoopState {
        &mut self.loops[id.0 as usize]
    }

    fn symbol(&mut self, name: &Arc<str>) -> Symbol {
        let next = Symbol(self.symbols.len() as u32);
        *self.symbols.entry(name.clone()).or_insert(next)
    }

    /// The key of a variable in the current scope.
    fn key(&mut self, name: &Arc<str>) -> Key {
        Key::Name(self.scope, self.symbol(name))
    }

    /// Makes a variable name something.
    fn assign(&mut self, name: &Arc<str>, datum: Datum) {
        match &datum {
            Datum::Word(value) => self.circuit.set_name(*value, name),
            Datum::Port(port) => self.name_port(*port, name),
            _ => {}
        }
        let key = self.key(name);
        self.define(key, datum);
    }

    fn define(&mut self, key: Key, datum: Datum) {
        self.blocks[self.here.0 as usize].bindings.insert(key, datum);
        self.journal.push(key);
    }

    /// The meaning of a variable here, which must be something of use.
    fn variable(&mut self, name: &Arc<str>, span: Span) -> Parse<Datum> {
        let key = self.key(name);
        match self.lookup(key, self.here) {
            Some(Datum::Poison(poison)) => self.poisoned(name, span, &poison),
            Some(datum) => Ok(datum),
            None => self.unknown(name, span),
        }
    }

    fn unknown<T>(&mut self, name: &Arc<str>, span: Span) -> Parse<T> {
        let d = Diagnostic::error(format!("`{name}` has no value here")).at(span, "not assigned before");
        let known = self.symbols.keys().chain(self.macros.keys()).map(|known| &**known);
        let others: BTreeSet<&str> = known.chain(ports::BUILT_IN).filter(|known| *known != &**name).collect();
        let d = match (closest(name, others), self.scope) {
            (Some(other), _) => d.hint(format!("did you mean `{other}`?")),
            (None, 1..) => d.hint("a macro sees its parameters, and variables of its caller that are listed after `|`"),
            (None, 0) => d,
        };
        self.fail(d)
    }

    fn poisoned<T>(&mut self, name: &str, span: Span, poison: &Rc<Poison>) -> Parse<T> {
        let error = |message: String| Diagnostic::error(message);
        let d = match &**poison {
            Poison::Reported => return Err(Stop),
            Poison::Unassigned(place) => error(format!("`{name}` has no value here on some path"))
                .at(span, "used here")
                .also(*place, "not assigned in each branch"),
            Poison::Trapped(place) => error(format!("`{name}` changes in a loop without end"))
                .at(span, "never gets here")
                .also(*place, "the loop"),
            Poison::Ports(place, names) => error(format!("`{name}` may be the port `{}` or `{}`", names[0], names[1]))
                .at(span, "which port is not known while compiling")
                .also(*place, "from here on"),
            Poison::Mixed(place) => error(format!("`{name}` may be a port or a number"))
                .at(span, "which is not known while compiling")
                .also(*place, "from here on"),
            Poison::NoCarry => error(format!("`{name}` has no value here"))
                .at(span, "the last sum was computed while compiling, without a size"),
        };
        self.fail(d)
    }

    /// Adds a node for an operation on words; its first output has the size of the inputs, as far as
    /// one is known.
    fn node(&mut self, op: Op, inputs: &[ValueId], span: Span) -> ValueId {
        let size = inputs.iter().find_map(|input| self.circuit.value(*input).size);
        let output = self.circuit.add_value(op, inputs, span);
        let value = self.circuit.value(output);
        if let (Some(size), None, DataKind::Word) = (size, value.size, value.kind) {
            self.circuit.set_size(output, size);
        }
        output
    }
}
