//! Creates ports and memories, and uses them.

use super::blocks::{Datum, Key};
use super::{Executor, MAX_STORAGE};
use crate::circuit::graph::{Memory, Op, PortId, ValueId};
use crate::circuit::ports::{MAX_BUFFER, Port, PortKind};
use crate::language::ast::{Expr, Ident};
use shadewright_base::bits::{Bits, MAX_WIDTH, storage};
use shadewright_base::text::diagnostics::{Diagnostic, closest};
use shadewright_base::text::source::Span;
use shadewright_base::tokens::Parse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The functions that create ports and memories.
pub const BUILT_IN: [&str; 11] = [
    "asyncSerIn",
    "asyncSerOut",
    "syncSerIn",
    "syncSerOut",
    "syncParIn",
    "syncParOut",
    "syncParIO",
    "asyncInt",
    "RAM",
    "dualPortRAM",
    "ROM",
];

/// Operations of ports.
const ATTRIBUTES: [&str; 8] = ["get", "put", "ready", "waiting", "wait", "delay", "fetch", "store"];

/// The most words of a memory.
const MAX_WORDS: u32 = 1 << 20;

/// The most cycles of a delay.
const MAX_DELAY: u32 = 1 << 20;

/// True if a name is that of a built-in function.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name)
}

impl<'a> Executor<'a> {
    /// Calls a built-in function; the ports that it creates.
    pub(super) fn create(&mut self, name: &Ident, arguments: &'a [Expr], span: Span) -> Parse<Vec<Datum>> {
        let once = matches!(self.lookup(Key::Reset, self.here), Some(Datum::Token(token)) if token == self.reset);
        if !once && !self.stopped {
            let d = Diagnostic::error("a port is created where the program may pass never or often");
            let d = d.at(span, "a chip has a fixed number of ports");
            return self
                .fail(d.hint("create ports outside of loops, and of conditions that are not known while compiling"));
        }
        match &*name.name {
            "RAM" | "dualPortRAM" | "ROM" => return self.create_memory(name, arguments, span),
            _ => {}
        }
        let optional = matches!(&*name.name, "asyncSerIn" | "asyncSerOut" | "asyncInt");
        let most = if optional || &*name.name == "syncSerIn" { 2 } else { 1 };
        let least = if optional { 1 } else { most };
        self.count(name, arguments.len(), least, most, span)?;
        let width = self.size(&arguments[0])?;
        let second = match arguments.get(1) {
            Some(argument) => self.known(argument, 0, MAX_BUFFER)?,
            None => 0,
        };
        let kind = match &*name.name {
            "asyncSerIn" => PortKind::AsyncSerIn { buffer: second },
            "asyncSerOut" => PortKind::AsyncSerOut { buffer: second },
            "syncSerIn" => PortKind::SyncSerIn { gap: second },
            "syncSerOut" => PortKind::SyncSerOut,
            "syncParIn" => PortKind::SyncParIn,
            "syncParOut" => PortKind::SyncParOut,
            "syncParIO" => PortKind::SyncParIo,
            _ => {
                self.store(second, width, span)?;
                let next = self.circuit.ports.len() as u32;
                let input = PortKind::InternalIn { peer: PortId(next + 1), buffer: second };
                let output = PortKind::InternalOut { peer: PortId(next), buffer: second };
                return Ok([input, output].map(|kind| self.new_port(kind, width, span)).to_vec());
            }
        };
        Ok(vec![self.new_port(kind, width, span)])
    }

    /// `RAM(words, bits, contents…)`, `dualPortRAM`, `ROM`.
    fn create_memory(&mut self, name: &Ident, arguments: &'a [Expr], span: Span) -> Parse<Vec<Datum>> {
        self.count(name, arguments.len(), 2, usize::MAX, span)?;
        let words = self.known(&arguments[0], 1, MAX_WORDS)?;
        let width = self.size(&arguments[1])?;
        self.store(words, width, span)?;
        let contents = self.expressions(&arguments[2..])?;
        if contents.len() > words as usize {
            let message = format!("{} words for a memory of {words}", contents.len());
            return self.error(span, message, "too many");
        }
        let mut contents: Vec<Bits> = contents
            .iter()
            .map(|datum| match datum {
                Datum::Number(number) => {
                    number.sized(width).or_else(|problem| self.error(span, problem, "this memory"))
                }
                _ => self.error(span, "the contents of a memory are numbers that are known while compiling", ""),
            })
            .collect::<Parse<_>>()?;
        contents.resize(words as usize, Bits::zero(width));
        let writable = &*name.name != "ROM";
        let memory = self.circuit.add_memory(Memory { name: "".into(), width, words: contents, writable });
        let ports = if &*name.name == "dualPortRAM" { 2 } else { 1 };
        Ok((0..ports).map(|_| self.new_port(PortKind::Memory(memory), width, span)).collect())
    }

    /// Counts words of a memory or a buffer.
    fn store(&mut self, words: u32, width: u32, span: Span) -> Parse<()> {
        self.storage += u64::from(words) * storage(width);
        if self.storage > MAX_STORAGE {
            return self.error(span, format!("memories and buffers have more than {MAX_STORAGE} bits"), "too much");
        }
        Ok(())
    }

    fn count(&mut self, name: &Ident, given: usize, least: usize, most: usize, span: Span) -> Parse<()> {
        if (least..=most).contains(&given) {
            return Ok(());
        }
        let expected = match (least, most) {
            (_, usize::MAX) => format!("at least {least}"),
            _ if least == most => least.to_string(),
            _ => format!("{least} or {most}"),
        };
        self.error(span, format!("`{}` is called with {given} arguments; it has {expected}", name.name), "")
    }

    fn new_port(&mut self, kind: PortKind, width: u32, span: Span) -> Datum {
        let port = self.circuit.add_port(Port { name: "".into(), kind, width, span });
        let token = self.circuit.add_value(Op::Open(port), &[self.reset], span);
        self.define(Key::Token(port), Datum::Token(token));
        Datum::Port(port)
    }

    /// Names a port after a variable, if none has named it before.
    pub(super) fn name_port(&mut self, port: PortId, name: &Arc<str>) {
        let own = &mut self.circuit.ports[port.0 as usize].name;
        if own.is_empty() {
            *own = name.clone();
        }
    }

    /// Makes the names of ports unique with numbers after them: ports with pads come first. Ports that
    /// no variable names get one.
    pub(super) fn name_ports(&mut self) {
        let mut taken = BTreeSet::new();
        let ports = &mut self.circuit.ports;
        let external = |port: &Port| port.kind.is_external();
        let order = (0..ports.len()).filter(|i| external(&ports[*i]));
        let order: Vec<usize> = order.chain((0..ports.len()).filter(|i| !external(&ports[*i]))).collect();
        let mut next: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        for i in order {
            let name: Arc<str> = if ports[i].name.is_empty() { "port".into() } else { ports[i].name.clone() };
            let mut unique = name.clone();
            let number = next.entry(name.clone()).or_insert(1);
            while !taken.insert(unique.clone()) {
                *number += 1;
                unique = format!("{name}{number}").into();
            }
            if let PortKind::Memory(memory) = ports[i].kind {
                let memory = &mut self.circuit.memories[memory.0 as usize];
                if memory.name.is_empty() {
                    memory.name = unique.clone();
                }
            }
            ports[i].name = unique;
        }
    }

    /// `port.name(arguments)`
    pub(super) fn attribute(
        &mut self,
        port: &'a Expr,
        name: &Ident,
        arguments: &'a [Expr],
        span: Span,
    ) -> Parse<Vec<Datum>> {
        let datum = self.expression(port)?;
        let Datum::Port(id) = datum else {
            let message = format!("`.{}` needs a port, and this is a number", name.name);
            return self.error(port.span, message, "not a port");
        };
        let expected = match &*name.name {
            "put" | "wait" | "delay" | "fetch" => 1,
            "store" => 2,
            "get" | "ready" | "waiting" => 0,
            other => {
                let d = Diagnostic::error(format!("ports have no operation `{other}`")).at(name.span, "unknown");
                let d = match closest(other, ATTRIBUTES) {
                    Some(near) => d.hint(format!("did you mean `{near}`?")),
                    None => d.hint(format!("there are {}", ATTRIBUTES.join(", "))),
                };
                return self.fail(d);
            }
        };
        self.count(name, arguments.len(), expected, expected, span)?;
        let kind = self.circuit.port(id).kind;
        let memory = match kind {
            PortKind::Memory(memory) => self.circuit.memories.get(memory.0 as usize).map(|memory| memory.writable),
            _ => None,
        };
        let has = match &*name.name {
            "get" => kind.has_get(),
            "put" => kind.has_put(),
            "ready" => kind.has_ready(),
            "waiting" => kind.has_waiting(),
            "fetch" => memory.is_some(),
            "store" => memory == Some(true),
            _ => memory.is_none(),
        };
        if !has {
            let kind = if memory == Some(false) { "ROM" } else { kind.constructor() };
            let d = Diagnostic::error(format!("a port of `{kind}` has no operation `{}`", name.name));
            return self.fail(d.at(name.span, "not for this port").also(self.circuit.port(id).span, "created here"));
        }
        self.operate(id, &name.name, arguments, span)
    }

    /// Adds the node of an operation that the port has.
    fn operate(&mut self, port: PortId, name: &str, arguments: &'a [Expr], span: Span) -> Parse<Vec<Datum>> {
        match name {
            "get" | "ready" | "waiting" => {
                let op = match name {
                    "get" => Op::Get(port),
                    "ready" => Op::Ready(port),
                    _ => Op::Waiting(port),
                };
                let token = self.state(port, span)?;
                return Ok(vec![self.use_port(port, op, &[token], span)]);
            }
            "wait" => return self.wait(port, &arguments[0], span),
            "delay" => {
                let cycles = self.known(&arguments[0], 0, MAX_DELAY)?;
                let token = self.state(port, span)?;
                self.use_port(port, Op::Delay(port, cycles), &[token], span);
            }
            "fetch" => {
                let address = self.word(&arguments[0])?;
                let token = self.state(port, span)?;
                return Ok(vec![self.use_port(port, Op::Fetch(port), &[token, address], span)]);
            }
            "store" => {
                let (address, word) = (self.word(&arguments[0])?, self.word(&arguments[1])?);
                let token = self.state(port, span)?;
                self.use_port(port, Op::Store(port), &[token, address, word], span);
            }
            _ => {
                let word = self.word(&arguments[0])?;
                let token = self.state(port, span)?;
                self.use_port(port, Op::Put(port), &[token, word], span);
            }
        }
        Ok(vec![Datum::Port(port)])
    }

    fn wait(&mut self, port: PortId, other: &'a Expr, span: Span) -> Parse<Vec<Datum>> {
        let Datum::Port(id) = self.expression(other)? else {
            return self.error(other.span, "`.wait` waits for a port, and this is a number", "not a port");
        };
        if id == port {
            return self.error(span, "a port waits for itself", "this would never go on");
        }
        if matches!(self.circuit.port(id).kind, PortKind::Memory(_)) {
            return self.error(other.span, "`.wait` does not wait for memories", "a memory");
        }
        let tokens = [self.state(port, span)?, self.state(id, span)?];
        let node = self.circuit.add(Op::Wait(port, id), &tokens, span);
        for (index, port) in [port, id].into_iter().enumerate() {
            let token = self.circuit.node(node).outputs[index];
            self.define(Key::Token(port), Datum::Token(token));
        }
        Ok(vec![Datum::Port(port)])
    }

    /// The token of a port.
    fn state(&mut self, port: PortId, span: Span) -> Parse<ValueId> {
        match self.lookup(Key::Token(port), self.here) {
            Some(Datum::Token(token)) => Ok(token),
            Some(Datum::Poison(poison)) => {
                let name = self.circuit.port(port).name.clone();
                self.poisoned(&name, span, &poison)
            }
            _ => self.error(span, "this port is not created on this path", "used here"),
        }
    }

    /// Adds a node that uses a port: its last output is the port's token. The word it gives, or the
    /// port.
    fn use_port(&mut self, port: PortId, op: Op, inputs: &[ValueId], span: Span) -> Datum {
        let node = self.circuit.add(op, inputs, span);
        let outputs = self.circuit.node(node).outputs.clone();
        if let Some(token) = outputs.last() {
            self.define(Key::Token(port), Datum::Token(*token));
        }
        match outputs[..] {
            [word, _] => Datum::Word(word),
            _ => Datum::Port(port),
        }
    }

    /// A size in bits.
    pub(super) fn size(&mut self, value: &'a Expr) -> Parse<u32> {
        self.known(value, 1, MAX_WIDTH)
    }
}
