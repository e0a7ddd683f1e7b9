//! A cycle of a simulation: nodes compute, then publish.

use super::Environment;
use super::simulator::{FunctionalSimulator, Unit};
use crate::circuit::evaluate::evaluate;
use crate::circuit::graph::{Constant, NodeId, Op, PortId};
use crate::circuit::ports::PortKind;
use shadewright_base::bits::Bits;

/// The action of a unit in the second phase of a cycle.
pub enum Action {
    /// Publishes these words, one an output; empty tokens for those that are missing.
    Publish(Option<Bits>, Option<Bits>),
    /// Passes on an input.
    Pass(usize),
    /// Takes its inputs and publishes nothing.
    Drop,
    /// Selects an output of a `Case`.
    Select(usize),
    /// Publishes so many cycles later.
    Delay(u32),
    /// All heads of a loop pass on this input.
    Round(usize),
    /// Takes this word from a channel inside the circuit.
    Receive(Bits),
    /// Gives a word to a channel inside the circuit.
    Send,
    /// Waits at a channel inside the circuit.
    Register,
    /// Writes a memory.
    Store,
}

impl FunctionalSimulator<'_> {
    /// Simulates a cycle; whether anything fired.
    pub fn step(&mut self, environment: &mut dyn Environment) -> bool {
        for node in self.timers.remove(&self.cycle).unwrap_or_default() {
            self.blocked[node.0 as usize] -= 1;
            let output = self.circuit.node(node).outputs[0];
            self.publish(output, None);
            self.leave(output, None);
            self.wake(node.0);
        }
        for unit in std::mem::take(&mut self.polling) {
            self.wake(unit);
        }
        std::mem::swap(&mut self.queue, &mut self.looking);
        let mut actions = std::mem::take(&mut self.actions);
        for i in 0..self.looking.len() {
            let unit = self.looking[i];
            self.queued[unit as usize] = false;
            if self.blocked[unit as usize] == 0
                && let Some(action) = self.compute(unit, environment)
            {
                actions.push((unit, action));
            }
        }
        self.looking.clear();
        let fired = !actions.is_empty();
        for (unit, action) in actions.drain(..) {
            self.commit(unit, action);
        }
        self.actions = actions;
        fired
    }

    /// The first phase: what a unit does, if it has its inputs.
    fn compute(&mut self, unit: Unit, environment: &mut dyn Environment) -> Option<Action> {
        let nodes = self.circuit.nodes().len();
        let [empty, next_empty] = self.empty[unit as usize];
        if unit as usize >= nodes {
            if self.flight[unit as usize - nodes] > 0 {
                return None;
            }
            return match (empty, next_empty) {
                (_, 0) => Some(Action::Round(1)),
                (0, _) => Some(Action::Round(0)),
                _ => None,
            };
        }
        let id = NodeId(unit);
        let circuit = self.circuit;
        let node = circuit.node(id);
        if matches!(node.op, Op::Merge) {
            return self.arcs_of(id).position(|arc| self.arcs[arc].full).map(Action::Pass);
        }
        if empty > 0 {
            return None;
        }
        let token = || Some(Action::Publish(None, None));
        let word = |word| Some(Action::Publish(Some(word), None));
        match &node.op {
            // It has no inputs, and is woken once.
            Op::Reset if self.cycle == 0 => token(),
            Op::Reset => None,
            Op::Undefined(_) | Op::Merge | Op::LoopMerge(_) => None,
            Op::Constant(Constant::Word(bits)) => word(bits.clone()),
            Op::Constant(Constant::Number(_)) => None,
            Op::IfYes | Op::IfNo => {
                let passes = self.input(id, 0).any() == matches!(node.op, Op::IfYes);
                Some(if passes { Action::Pass(1) } else { Action::Drop })
            }
            Op::Case(labels) => {
                let selector = self.input(id, 0);
                let is = |label: &Constant| matches!(label, Constant::Word(bits) if bits == selector);
                Some(Action::Select(labels.iter().position(is).unwrap_or(labels.len())))
            }
            Op::Open(_) | Op::Wait(..) => token(),
            Op::Delay(_, cycles) => Some(Action::Delay(*cycles)),
            Op::Get(port) => self.get(unit, *port, environment),
            Op::Put(port) => self.put(unit, *port, environment),
            Op::Ready(port) => {
                let ready = match self.channel_of[port.0 as usize] {
                    Some(channel) => self.channels[channel].has_word(),
                    None => environment.ready(*port, self.cycle),
                };
                word(Bits::bit(ready))
            }
            Op::Waiting(port) => {
                let waiting = match self.channel_of[port.0 as usize] {
                    Some(channel) => self.channels[channel].getter.is_some(),
                    None => environment.waiting(*port, self.cycle),
                };
                word(Bits::bit(waiting))
            }
            Op::Fetch(port) => {
                let address = self.input(id, 1).to_u128().and_then(|address| usize::try_from(address).ok());
                let memory = self.memory(*port)?;
                let zero = || Bits::zero(self.circuit.port(*port).width);
                let fetched = address.and_then(|address| self.memories[memory].get(address)).cloned();
                self.last_word = self.cycle;
                word(fetched.unwrap_or_else(zero))
            }
            Op::Store(_) => Some(Action::Store),
            Op::Print(text) => {
                environment.print(text, self.input(id, 1), self.sizes[unit as usize].inputs[1]);
                self.last_word = self.cycle;
                token()
            }
            op => {
                let b = (node.inputs.len() > 1).then(|| self.input(id, 1));
                evaluate(op, self.input(id, 0), b, self.sizes[unit as usize])
                    .map(|(first, second)| Action::Publish(Some(first), second))
            }
        }
    }

    fn memory(&self, port: PortId) -> Option<usize> {
        match self.circuit.port(port).kind {
            PortKind::Memory(memory) => Some(memory.0 as usize),
            _ => None,
        }
    }

    fn get(&mut self, unit: Unit, port: PortId, environment: &mut dyn Environment) -> Option<Action> {
        let Some(channel) = self.channel_of[port.0 as usize] else {
            let Some(word) = environment.get(port, self.cycle) else {
                self.polling.push(unit);
                return None;
            };
            self.last_word = self.cycle;
            return Some(Action::Publish(Some(word), None));
        };
        let channel = &self.channels[channel];
        // Without a buffer both ends are registered for a cycle before the word passes.
        match (channel.words.front(), channel.getter, channel.putter) {
            (Some(word), ..) => return Some(Action::Receive(word.clone())),
            (None, Some(_), Some(putter)) if channel.capacity == 0 => {
                return Some(Action::Receive(self.input(NodeId(putter), 1).clone()));
            }
            _ => {}
        }
        channel.getter.is_none().then_some(Action::Register)
    }

    fn put(&mut self, unit: Unit, port: PortId, environment: &mut dyn Environment) -> Option<Action> {
        let Some(channel) = self.channel_of[port.0 as usize] else {
            if !environment.put(port, self.input(NodeId(unit), 1), self.cycle) {
                self.polling.push(unit);
                return None;
            }
            self.last_word = self.cycle;
            return Some(Action::Publish(None, None));
        };
        let channel = &self.channels[channel];
        if channel.has_room() && (channel.capacity > 0 || channel.putter.is_some()) {
            return Some(Action::Send);
        }
        channel.putter.is_none().then_some(Action::Register)
    }

    /// The second phase: takes the inputs of a unit and publishes its outputs.
    fn commit(&mut self, unit: Unit, action: Action) {
        let nodes = self.circuit.nodes().len();
        if let Action::Register = action {
            return self.register(unit);
        }
        if let Action::Round(side) = action {
            return self.round(unit as usize - nodes, side);
        }
        let id = NodeId(unit);
        let circuit = self.circuit;
        let node = circuit.node(id);
        if let Action::Pass(side) = action {
            // A merge takes the one input, a condition all.
            if !matches!(node.op, Op::Merge) {
                self.arcs_of(id).for_each(|arc| self.take_unless(arc, side, id));
            }
            return self.pass(id, side);
        }
        self.firings += 1;
        let words = match action {
            Action::Publish(first, second) => [first, second],
            Action::Receive(word) => {
                self.receive(id);
                [Some(word), None]
            }
            Action::Send => {
                self.send(id);
                [None, None]
            }
            Action::Store => {
                self.store(id);
                [None, None]
            }
            Action::Delay(cycles) => {
                self.arrive(node.outputs[0], None);
                self.arcs_of(id).for_each(|arc| self.take(arc));
                self.blocked[unit as usize] += 1;
                let end = self.cycle + u64::from(cycles.max(1));
                self.timers.entry(end).or_default().push(id);
                return;
            }
            Action::Select(taken) => {
                self.arcs_of(id).for_each(|arc| self.take(arc));
                for (i, output) in node.outputs.iter().enumerate() {
                    self.publish(*output, Some(Bits::bit(i == taken)));
                }
                return;
            }
            Action::Drop => return self.arcs_of(id).for_each(|arc| self.take(arc)),
            Action::Pass(_) | Action::Round(_) | Action::Register => return,
        };
        self.arcs_of(id).for_each(|arc| self.take(arc));
        for (output, word) in node.outputs.iter().zip(words) {
            self.publish(*output, word);
        }
    }

    fn take_unless(&mut self, arc: usize, side: usize, id: NodeId) {
        if arc != self.first_arc[id.0 as usize] as usize + side {
            self.take(arc);
        }
    }

    /// Lets all heads of a loop go on. A head can be the input of another: all are read before any
    /// publishes.
    fn round(&mut self, index: usize, side: usize) {
        let heads = std::mem::take(&mut self.heads[index]);
        let mut words = std::mem::take(&mut self.round_words);
        words.extend(heads.iter().map(|head| self.input(*head, side).clone()));
        for head in &heads {
            self.take(self.first_arc[head.0 as usize] as usize + side);
        }
        for (head, word) in heads.iter().zip(words.drain(..)) {
            self.firings += 1;
            self.publish(self.circuit.node(*head).outputs[0], Some(word));
        }
        self.heads[index] = heads;
        self.round_words = words;
    }

    /// Passes an input of a node on to its output.
    fn pass(&mut self, id: NodeId, side: usize) {
        self.firings += 1;
        let word = self.input(id, side).clone();
        self.take(self.first_arc[id.0 as usize] as usize + side);
        self.publish(self.circuit.node(id).outputs[0], Some(word));
    }

    /// Lets a node wait at its channel; wakes both ends if they are there.
    fn register(&mut self, unit: Unit) {
        let (Op::Get(port) | Op::Put(port)) = self.circuit.node(NodeId(unit)).op else { return };
        let Some(channel) = self.channel_of[port.0 as usize] else { return };
        let is_get = matches!(self.circuit.node(NodeId(unit)).op, Op::Get(_));
        let channel = &mut self.channels[channel];
        let end = if is_get { &mut channel.getter } else { &mut channel.putter };
        *end = Some(unit);
        if let (Some(getter), Some(putter)) = (channel.getter, channel.putter) {
            self.wake(getter);
            self.wake(putter);
        }
        // With a buffer the other end may have come in this cycle.
        self.wake(unit);
    }

    fn receive(&mut self, id: NodeId) {
        self.last_word = self.cycle;
        let Op::Get(port) = self.circuit.node(id).op else { return };
        let Some(index) = self.channel_of[port.0 as usize] else { return };
        let channel = &mut self.channels[index];
        channel.getter = None;
        if channel.words.pop_front().is_some()
            && let Some(putter) = channel.putter
        {
            self.wake(putter);
        }
    }

    fn send(&mut self, id: NodeId) {
        self.last_word = self.cycle;
        let Op::Put(port) = self.circuit.node(id).op else { return };
        let Some(index) = self.channel_of[port.0 as usize] else { return };
        let word = self.input(id, 1).clone();
        let channel = &mut self.channels[index];
        channel.putter = None;
        if channel.capacity > 0 {
            channel.words.push_back(word);
            channel.getter.into_iter().for_each(|getter| self.wake(getter));
        }
    }

    fn store(&mut self, id: NodeId) {
        self.last_word = self.cycle;
        let Op::Store(port) = self.circuit.node(id).op else { return };
        let Some(memory) = self.memory(port) else { return };
        let address = self.input(id, 1).to_u128().and_then(|address| usize::try_from(address).ok());
        let word = self.input(id, 2).clone();
        if let Some(place) = address.and_then(|address| self.memories[memory].get_mut(address)) {
            *place = word;
        }
    }
}
