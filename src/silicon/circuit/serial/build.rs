//! From the dataflow graph to the netlist (Ullner 1983, §C.13).
//!
//! Nodes are built after those that they depend on. The heads of a loop become merges whose words
//! wait in stoppable registers until all are there: that is both the synchronization of the loop's
//! first values and that of its iterations (§C.14). `operations` builds the other nodes.

use super::align::{Aligner, Value};
use super::cells::{CellKind, Side};
use super::netlist::{MAX_CELLS, MAX_REGISTERS, Net, Netlist, Pads};
use super::operations;
use super::statistics::registers;
use super::timing::Time;
use crate::circuit::graph::{Circuit, Constant, LoopId, Node, NodeId, Op, PortId, ValueId};
use crate::circuit::ports::{Port, PortKind};
use shadewright_base::bits::Bits;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most bits of a port's buffer.
const MAX_BUFFER_BITS: u64 = 1 << 16;

/// The most bits of a memory.
const MAX_MEMORY_BITS: u64 = 1 << 22;

/// A port or a memory that is being built: its cell, and the nets at its inputs so far.
#[derive(Debug, Default)]
pub(super) struct PortCell {
    /// The index of the cell.
    pub cell: usize,
    /// The nets at its outputs.
    pub outputs: Vec<Net>,
    /// Words to put.
    pub puts: Vec<Net>,
    /// Requests.
    pub gets: Vec<Net>,
}

/// A memory port that is being built.
#[derive(Debug, Default)]
pub(super) struct Access {
    /// Addresses to fetch from.
    pub fetches: Vec<Net>,
    /// Addresses and words to store.
    pub stores: Vec<(Net, Net)>,
}

/// The state of the translation.
pub(super) struct Builder<'a> {
    /// The graph.
    pub circuit: &'a Circuit,
    /// The nodes that affect a port.
    pub live: Vec<bool>,
    /// The nodes that use each value, the live ones.
    pub users: Vec<Vec<NodeId>>,
    /// The netlist.
    pub aligner: Aligner,
    /// The nets of the values.
    pub values: Vec<Option<Value>>,
    /// Constants, by what triggers them.
    pub constants: HashMap<(Net, Bits, u32), Value>,
    /// The cells of ports; those of a channel by its input end.
    pub ports: BTreeMap<PortId, PortCell>,
    /// Memories: the index of the cell, and its ports.
    pub memories: BTreeMap<u32, (usize, Vec<Net>)>,
    /// The accesses to memories, by port.
    pub accesses: BTreeMap<PortId, Access>,
    /// Levels that are high while a node still is at work, though its result may be there already
    /// or never will be.
    pub busy: Vec<(NodeId, Net)>,
    /// The live heads of each loop.
    loops: BTreeMap<LoopId, Vec<NodeId>>,
    /// The live nodes in the order in which they are built.
    order: Vec<NodeId>,
    /// The last-of cells of loops.
    barriers: BTreeMap<LoopId, usize>,
    /// The merges of heads of loops.
    heads: Vec<(NodeId, usize)>,
}

/// The bit-serial implementation of a circuit whose sizes are known.
///
/// # Errors
/// A value without a size, an operation that never gives a value, a circuit that is too large.
pub fn build(circuit: &Circuit) -> Result<Netlist, Diagnostic> {
    bounded(circuit)?;
    let live = live(circuit);
    let users = circuit
        .users()
        .into_iter()
        .map(|users| users.into_iter().map(|(node, _)| node).filter(|node| live[node.0 as usize]).collect())
        .collect();
    let mut builder = Builder {
        circuit,
        live,
        users,
        aligner: Aligner::default(),
        values: vec![None; circuit.values().len()],
        constants: HashMap::new(),
        ports: BTreeMap::new(),
        memories: BTreeMap::new(),
        accesses: BTreeMap::new(),
        busy: Vec::new(),
        loops: BTreeMap::new(),
        order: Vec::new(),
        barriers: BTreeMap::new(),
        heads: Vec::new(),
    };
    builder.create_ports();
    builder.create_nodes()?;
    builder.close_loops()?;
    builder.connect_busy();
    builder.connect_ports();
    Ok(builder.aligner.netlist)
}

/// Buffers and memories are registers of one cell each. All of them are checked before any is made.
fn bounded(circuit: &Circuit) -> Result<(), Diagnostic> {
    let words = circuit.memories.iter().map(|memory| memory.words.len() as u64 * u64::from(memory.width));
    if words.sum::<u64>() > MAX_REGISTERS {
        let place = circuit.ports.iter().find(|port| matches!(port.kind, PortKind::Memory(_)));
        let message = format!("the memories of the circuit have more than {MAX_REGISTERS} bits");
        return Err(Diagnostic::error(message).at(place.map_or(Span::default(), |port| port.span), "with this one"));
    }
    for port in &circuit.ports {
        let (PortKind::InternalIn { buffer, .. } | PortKind::AsyncSerOut { buffer }) = port.kind else { continue };
        let bits = u64::from(buffer) * u64::from(port.width);
        if bits > MAX_BUFFER_BITS {
            let message = format!("a buffer of {bits} bits is larger than {MAX_BUFFER_BITS}");
            return Err(Diagnostic::error(message).at(port.span, "of this port"));
        }
    }
    for (index, memory) in circuit.memories.iter().enumerate() {
        let bits = memory.words.len() as u64 * u64::from(memory.width);
        if bits > MAX_MEMORY_BITS {
            let message = format!("the memory `{}` of {bits} bits is larger than {MAX_MEMORY_BITS}", memory.name);
            let of = |port: &&Port| matches!(port.kind, PortKind::Memory(id) if id.0 as usize == index);
            let place = circuit.ports.iter().find(of).map_or(Span::default(), |port| port.span);
            return Err(Diagnostic::error(message).at(place, "here"));
        }
    }
    Ok(())
}

/// The nodes that affect a port (§C.9: others are not part of the diagram).
fn live(circuit: &Circuit) -> Vec<bool> {
    let mut live = vec![false; circuit.nodes().len()];
    let acts = |node: &Node| matches!(node.op, Op::Get(_) | Op::Put(_) | Op::Store(_) | Op::Wait(..) | Op::Delay(..));
    let mut queue: Vec<NodeId> = circuit.nodes().filter(|(_, node)| acts(node)).map(|(id, _)| id).collect();
    while let Some(id) = queue.pop() {
        if std::mem::replace(&mut live[id.0 as usize], true) {
            continue;
        }
        let node = circuit.node(id);
        queue.extend(needed(circuit, node).into_iter().map(|input| circuit.value(input).node));
    }
    live
}

/// The inputs that a node's cell needs: a constant among several operands is triggered by the other
/// ones (§C.13, "constant optimization").
pub(super) fn needed(circuit: &Circuit, node: &Node) -> Vec<ValueId> {
    if matches!(node.op, Op::Merge | Op::LoopMerge(_)) || node.inputs.len() < 2 {
        return node.inputs.clone();
    }
    let variable: Vec<ValueId> = node.inputs.iter().copied().filter(|input| !is_constant(circuit, *input)).collect();
    if variable.is_empty() { node.inputs[..1].to_vec() } else { variable }
}

/// True if a value is a constant.
pub(super) fn is_constant(circuit: &Circuit, value: ValueId) -> bool {
    matches!(circuit.source(value).op, Op::Constant(_))
}

impl Builder<'_> {
    /// The cells of the ports that the circuit has, in their order.
    fn create_ports(&mut self) {
        for (index, port) in self.circuit.ports.iter().enumerate() {
            let id = PortId(index as u32);
            let (side, buffer) = match port.kind {
                PortKind::AsyncSerIn { .. } => (Side::SerialIn, 0),
                PortKind::SyncSerIn { .. } => (Side::SyncIn, 0),
                PortKind::AsyncSerOut { buffer } => (Side::SerialOut, buffer),
                PortKind::SyncSerOut => (Side::SyncOut, 0),
                PortKind::SyncParIn | PortKind::SyncParOut | PortKind::SyncParIo => (Side::Parallel, 0),
                PortKind::InternalIn { buffer, .. } => (Side::Internal, buffer),
                PortKind::InternalOut { .. } | PortKind::Memory(_) => continue,
            };
            let kind = CellKind::Port { side, width: port.width, buffer, puts: 0, gets: 0 };
            let netlist = &mut self.aligner.netlist;
            let cell = netlist.cells.len();
            let outputs = netlist.add(kind, Vec::new(), &[port.width, 0, 0, 0], port.span, 0);
            netlist.cells[cell].name = Some(port.name.clone());
            if side != Side::Internal {
                let pads = Pads { name: port.name.clone(), port: id, cell: cell as u32, width: port.width, side };
                netlist.pads.push(pads);
            }
            self.ports.insert(id, PortCell { cell, outputs, ..PortCell::default() });
        }
        for (index, memory) in self.circuit.memories.iter().enumerate() {
            let ports = self.memory_ports(index as u32).len();
            let kind = CellKind::Memory {
                width: memory.width,
                words: memory.words.clone(),
                address: memory.address_width(),
                ports: Vec::new(),
            };
            let netlist = &mut self.aligner.netlist;
            let cell = netlist.cells.len();
            let outputs = netlist.add(kind, Vec::new(), &vec![memory.width; ports], Span::default(), 0);
            netlist.cells[cell].name = Some(memory.name.clone());
            self.memories.insert(index as u32, (cell, outputs));
        }
    }

    /// The ports of a memory, in their order.
    pub fn memory_ports(&self, memory: u32) -> Vec<PortId> {
        let ports = self.circuit.ports.iter().enumerate();
        ports
            .filter(|(_, port)| matches!(port.kind, PortKind::Memory(id) if id.0 == memory))
            .map(|(index, _)| PortId(index as u32))
            .collect()
    }

    /// All live nodes, each after those that it needs; heads of a loop after all first values of
    /// the loop.
    fn create_nodes(&mut self) -> Result<(), Diagnostic> {
        self.loops = self.loop_heads();
        let (mut waits, mut next) = self.dependences();
        // The lowest node first: cells of one expression are near one another.
        let mut ready: BTreeSet<NodeId> = waits.iter().filter(|(_, waits)| **waits == 0).map(|(id, _)| *id).collect();
        let (mut counted, mut storage) = (0, 0);
        while let Some(id) = ready.pop_first() {
            let node = self.circuit.node(id);
            match node.op {
                Op::LoopMerge(of) => self.enter_loop(of)?,
                _ => {
                    self.order.push(id);
                    operations::build(self, id)?;
                }
            }
            if self.aligner.netlist.cells.len() > MAX_CELLS {
                let message = format!("the circuit has more than {MAX_CELLS} bit-serial cells");
                return Err(Diagnostic::error(message).at(node.span, "with this operation"));
            }
            let added = &self.aligner.netlist.cells[counted..];
            storage += added.iter().map(|cell| registers(&cell.kind)).sum::<u64>();
            counted += added.len();
            if storage > MAX_REGISTERS {
                let message = format!("the bit-serial cells of the circuit store more than {MAX_REGISTERS} bits");
                return Err(Diagnostic::error(message).at(node.span, "with this operation"));
            }
            waits.remove(&id);
            for user in next.remove(&id).unwrap_or_default() {
                if let Some(wait) = waits.get_mut(&user) {
                    *wait -= 1;
                    if *wait == 0 {
                        ready.insert(user);
                    }
                }
            }
        }
        match waits.keys().next() {
            Some(id) => Err(Diagnostic::error("this value depends on itself without a loop")
                .at(self.circuit.node(*id).span, "here")),
            None => Ok(()),
        }
    }

    /// The live heads of each loop.
    fn loop_heads(&self) -> BTreeMap<LoopId, Vec<NodeId>> {
        let mut heads: BTreeMap<LoopId, Vec<NodeId>> = BTreeMap::new();
        for (id, node) in self.circuit.nodes().filter(|(id, _)| self.live[id.0 as usize]) {
            if let Op::LoopMerge(of) = node.op {
                heads.entry(of).or_default().push(id);
            }
        }
        heads
    }

    /// For each live node, how many inputs it waits for, and which nodes wait for it. A loop's heads
    /// are its first head.
    fn dependences(&self) -> (BTreeMap<NodeId, usize>, BTreeMap<NodeId, Vec<NodeId>>) {
        let representative = |id: NodeId| match self.circuit.node(id).op {
            Op::LoopMerge(of) => self.loops.get(&of).map_or(id, |heads| heads[0]),
            _ => id,
        };
        let mut waits: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut next: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for (id, node) in self.circuit.nodes().filter(|(id, _)| self.live[id.0 as usize]) {
            let to = representative(id);
            waits.entry(to).or_insert(0);
            let mut inputs = needed(self.circuit, node);
            if matches!(node.op, Op::LoopMerge(_)) {
                inputs.truncate(1);
            }
            for input in inputs {
                *waits.entry(to).or_insert(0) += 1;
                next.entry(representative(self.circuit.value(input).node)).or_default().push(to);
            }
        }
        (waits, next)
    }

    /// The heads of a loop: merges, and registers that are released together.
    fn enter_loop(&mut self, of: LoopId) -> Result<(), Diagnostic> {
        let heads = self.loops.get(&of).cloned().unwrap_or_default();
        self.order.extend(&heads);
        let place = self.circuit.loops.get(of.0 as usize).map_or(Span::default(), |of| of.span);
        let mut merged = Vec::new();
        for &head in &heads {
            let node = self.circuit.node(head);
            let first = self.value(node.inputs[0])?;
            let width = self.aligner.netlist.width(first.net);
            self.heads.push((head, self.aligner.netlist.cells.len()));
            let outputs = [(width, 1)];
            merged.push(self.cell(CellKind::Merge, &[first.net, first.net], first.time, &outputs, node)[0]);
        }
        let (nets, anchor, last_of) = self.aligner.release_together(&merged, false, place);
        if let Some(last_of) = last_of {
            self.barriers.insert(of, last_of);
        }
        for (&head, net) in heads.iter().zip(nets) {
            let output = self.circuit.node(head).outputs[0];
            self.values[output.0 as usize] = Some(Value { net, time: Time { anchor, offset: 0 } });
        }
        Ok(())
    }

    /// The values of the next iterations, at the merges of the loops.
    fn close_loops(&mut self) -> Result<(), Diagnostic> {
        for (head, cell) in std::mem::take(&mut self.heads) {
            let next = self.circuit.node(head).inputs[1];
            // A loop that never goes round is left in its first iteration.
            if matches!(self.circuit.source(next).op, Op::Undefined(_)) {
                self.aligner.netlist.cells[cell].inputs.truncate(1);
                continue;
            }
            let value = self.value(next)?;
            self.aligner.netlist.cells[cell].inputs[1] = value.net;
        }
        Ok(())
    }

    /// A loop goes round only when nothing in it is at work any more: what is dropped may arrive
    /// after all that is kept.
    fn connect_busy(&mut self) {
        for (&of, &last_of) in &self.barriers {
            let inside = self.reached(of);
            for (node, level) in &self.busy {
                let inputs = needed(self.circuit, self.circuit.node(*node));
                if inputs.iter().all(|input| inside[input.0 as usize]) {
                    self.aligner.netlist.cells[last_of].inputs.push(*level);
                }
            }
        }
    }

    /// The values that come after a loop has begun, whichever way conditionals go. (A level that may
    /// be high before would keep the loop from beginning.)
    fn reached(&self, of: LoopId) -> Vec<bool> {
        let mut inside = vec![false; self.values.len()];
        for &id in &self.order {
            let node = self.circuit.node(id);
            let reached = match node.op {
                Op::LoopMerge(other) if other == of => true,
                // All heads of a loop go on together.
                Op::LoopMerge(other) => {
                    self.loops[&other].iter().any(|head| inside[self.circuit.node(*head).inputs[0].0 as usize])
                }
                Op::Merge => node.inputs.iter().all(|input| inside[input.0 as usize]),
                _ => needed(self.circuit, node).iter().any(|input| inside[input.0 as usize]),
            };
            for output in &node.outputs {
                inside[output.0 as usize] = reached;
            }
        }
        inside
    }

    /// The inputs of the ports' and memories' cells.
    fn connect_ports(&mut self) {
        let netlist = &mut self.aligner.netlist;
        for port in self.ports.values() {
            let cell = &mut netlist.cells[port.cell];
            if let CellKind::Port { puts, gets, .. } = &mut cell.kind {
                (*puts, *gets) = (port.puts.len() as u32, port.gets.len() as u32);
            }
            cell.inputs = [port.puts.as_slice(), &port.gets].concat();
        }
        for (index, (cell, _)) in &self.memories {
            let mut counts = Vec::new();
            let mut inputs = Vec::new();
            for (id, port) in self.circuit.ports.iter().enumerate() {
                if !matches!(port.kind, PortKind::Memory(memory) if memory.0 == *index) {
                    continue;
                }
                let access = self.accesses.remove(&PortId(id as u32)).unwrap_or_default();
                counts.push((access.fetches.len() as u32, access.stores.len() as u32));
                inputs.extend(access.fetches);
                inputs.extend(access.stores.into_iter().flat_map(|(address, word)| [address, word]));
            }
            let cell = &mut netlist.cells[*cell];
            if let CellKind::Memory { ports, .. } = &mut cell.kind {
                *ports = counts;
            }
            cell.inputs = inputs;
        }
    }

    /// Adds a cell for a node.
    pub fn cell(
        &mut self,
        kind: CellKind,
        inputs: &[Net],
        time: Time,
        outputs: &[(u32, u32)],
        node: &Node,
    ) -> Vec<Value> {
        let index = self.aligner.netlist.cells.len();
        let values = self.aligner.cell(kind, inputs, time, outputs, node.span);
        let name = node.outputs.first().and_then(|output| self.circuit.value(*output).name.clone());
        self.aligner.netlist.cells[index].name = name;
        values
    }

    /// The net of a value; a constant's cell is added when it is used.
    pub fn value(&mut self, id: ValueId) -> Result<Value, Diagnostic> {
        if let Some(value) = self.values[id.0 as usize] {
            return Ok(value);
        }
        let node = self.circuit.source(id);
        let unknown = || Diagnostic::error("this value is never computed").at(node.span, "here");
        let (Op::Constant(_), Some(&trigger)) = (&node.op, node.inputs.first()) else { return Err(unknown()) };
        let trigger = self.value(trigger)?;
        let value = self.constant(id, trigger)?;
        self.values[id.0 as usize] = Some(value);
        Ok(value)
    }

    /// The net of a value, or none if `unless`.
    pub fn value_unless(&mut self, unless: bool, id: ValueId) -> Result<Option<Value>, Diagnostic> {
        if unless { Ok(None) } else { self.value(id).map(Some) }
    }

    /// Bits of a value.
    pub fn size(&self, id: ValueId) -> Result<u32, Diagnostic> {
        let value = self.circuit.value(id);
        let place = self.circuit.node(value.node).span;
        value.size.ok_or_else(|| {
            Diagnostic::error("the size of this value is not known")
                .at(place, "here")
                .hint("write the number of bits of a constant, as in `0#16`")
        })
    }

    /// A constant's word, begun by each word of `trigger`.
    pub fn constant(&mut self, id: ValueId, trigger: Value) -> Result<Value, Diagnostic> {
        let width = self.size(id)?;
        let node = self.circuit.source(id);
        let Op::Constant(Constant::Word(value)) = &node.op else {
            return Err(Diagnostic::error("the size of this constant is not known").at(node.span, "here"));
        };
        let key = (trigger.net, value.clone(), width);
        if let Some(&value) = self.constants.get(&key) {
            return Ok(value);
        }
        let along = self.aligner.length(trigger.net) == width;
        let kind = operations::pattern(value, width)
            .filter(|_| along)
            .map_or_else(|| CellKind::Constant { value: value.clone(), width }, CellKind::Along);
        let value = self.cell(kind, &[trigger.net], trigger.time, &[(width, 1)], node)[0];
        self.constants.insert(key, value);
        Ok(value)
    }
}
