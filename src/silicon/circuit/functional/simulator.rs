//! The state of a simulation: which arcs hold tokens, and which nodes may fire.

use super::channel::Channel;
use super::{Environment, Limits, Outcome, Run};
use crate::circuit::graph::{Circuit, NodeId, Op, ValueId};
use crate::circuit::ports::PortKind;
use crate::circuit::repetition::Repetition;
use shadewright_base::bits::Bits;
use std::collections::BTreeMap;

/// The number of something that fires as one: a node, or from the number of nodes on, a loop.
pub type Unit = u32;

/// An arc: one input of a node.
#[derive(Clone, Copy)]
pub struct Arc {
    /// The unit that fires when the arc is full.
    pub unit: Unit,
    /// The value that it carries.
    pub value: ValueId,
    /// True if it holds a token.
    pub full: bool,
    /// Which of the two inputs of a loop's head it is; 0 for other arcs.
    pub side: u8,
}

/// The state of a simulation.
pub struct FunctionalSimulator<'a> {
    pub circuit: &'a Circuit,
    /// All arcs; those of a node follow each other.
    pub arcs: Vec<Arc>,
    /// For each node, its first arc; and one more.
    pub first_arc: Vec<u32>,
    /// The arcs that each value feeds, and for each value the first of them; and one more.
    pub fan_out: Vec<u32>,
    pub first_fan: Vec<u32>,
    /// The last word of each value.
    pub words: Vec<Bits>,
    /// For each value, what gives it.
    pub sources: Vec<Unit>,
    /// For each value, the arcs that still hold it; without those from a loop to itself, which are
    /// free when it goes on.
    pub pending: Vec<u32>,
    /// For each unit: empty arcs by side, and outputs that are not taken yet.
    pub empty: Vec<[u32; 2]>,
    pub blocked: Vec<u32>,
    /// The heads of each loop.
    pub heads: Vec<Vec<NodeId>>,
    /// Sizes of each node for evaluation.
    pub sizes: Vec<crate::circuit::evaluate::Sizes>,
    /// By port, the channel that it is an end of.
    pub channel_of: Vec<Option<usize>>,
    pub channels: Vec<Channel>,
    pub memories: Vec<Vec<Bits>>,
    /// Units that may fire in the next cycle.
    pub queue: Vec<Unit>,
    pub queued: Vec<bool>,
    /// Units that are looked at in this cycle, and what they do; kept for their memory.
    pub looking: Vec<Unit>,
    pub actions: Vec<(Unit, super::step::Action)>,
    pub round_words: Vec<Bits>,
    /// Nodes that wait for the environment.
    pub polling: Vec<Unit>,
    /// For each value, the loops after whose beginning it comes; and for each loop, the arcs that
    /// hold such values, without those to its heads.
    pub inside: Vec<Vec<u32>>,
    pub flight: Vec<u32>,
    /// Delays that end, by cycle.
    pub timers: BTreeMap<u64, Vec<NodeId>>,
    pub cycle: u64,
    pub firings: u64,
    pub last_word: u64,
}

impl<'a> FunctionalSimulator<'a> {
    /// Before the first cycle.
    pub fn new(circuit: &'a Circuit) -> Self {
        let nodes = circuit.nodes().len();
        let units = nodes + circuit.loops.len();
        let mut simulator = FunctionalSimulator {
            circuit,
            arcs: Vec::new(),
            first_arc: vec![0],
            fan_out: Vec::new(),
            first_fan: vec![0],
            words: vec![Bits::zero(1); circuit.values().len()],
            sources: Vec::new(),
            pending: vec![0; circuit.values().len()],
            empty: vec![[0; 2]; units],
            blocked: vec![0; units],
            heads: vec![Vec::new(); circuit.loops.len()],
            sizes: Vec::new(),
            channel_of: vec![None; circuit.ports.len()],
            channels: Vec::new(),
            memories: circuit.memories.iter().map(|memory| memory.words.clone()).collect(),
            queue: Vec::new(),
            queued: vec![false; units],
            looking: Vec::new(),
            actions: Vec::new(),
            round_words: Vec::new(),
            polling: Vec::new(),
            inside: super::rounds::inside(circuit),
            flight: vec![0; circuit.loops.len()],
            timers: BTreeMap::new(),
            cycle: 0,
            firings: 0,
            last_word: 0,
        };
        simulator.connect();
        for (i, port) in circuit.ports.iter().enumerate() {
            if let PortKind::InternalIn { peer, buffer } = port.kind {
                let channel = Some(simulator.channels.len());
                simulator.channels.push(Channel::new(buffer));
                simulator.channel_of[i] = channel;
                simulator.channel_of[peer.0 as usize] = channel;
            }
        }
        simulator
    }

    fn connect(&mut self) {
        let circuit = self.circuit;
        for (id, node) in circuit.nodes() {
            let unit = self.unit(id);
            for (i, input) in node.inputs.iter().enumerate() {
                let side = if unit as usize >= circuit.nodes().len() { i as u8 } else { 0 };
                self.empty[unit as usize][side as usize] += 1;
                self.arcs.push(Arc { unit, value: *input, full: false, side });
            }
            self.first_arc.push(self.arcs.len() as u32);
            if let Op::LoopMerge(of) = node.op {
                self.heads[of.0 as usize].push(id);
            }
            let size = |values: &[ValueId], i: usize| values.get(i).and_then(|value| circuit.value(*value).size);
            let inputs = [0, 1].map(|i| size(&node.inputs, i).unwrap_or(0));
            let output = size(&node.outputs, 0).unwrap_or(0);
            self.sizes.push(crate::circuit::evaluate::Sizes { inputs, output });
            if node.op == Op::Reset {
                self.wake(unit);
            }
        }
        self.sources = circuit.values().map(|(_, value)| self.unit(value.node)).collect();
        let mut fans = vec![Vec::new(); self.words.len()];
        for (i, arc) in self.arcs.iter().enumerate() {
            fans[arc.value.0 as usize].push(i as u32);
        }
        for fan in fans {
            self.fan_out.extend(fan);
            self.first_fan.push(self.fan_out.len() as u32);
        }
    }

    /// The unit that fires when a node does.
    pub fn unit(&self, id: NodeId) -> Unit {
        match self.circuit.node(id).op {
            Op::LoopMerge(of) => self.circuit.nodes().len() as u32 + of.0,
            _ => id.0,
        }
    }

    /// Lets a unit be looked at in the next cycle.
    pub fn wake(&mut self, unit: Unit) {
        if !std::mem::replace(&mut self.queued[unit as usize], true) {
            self.queue.push(unit);
        }
    }

    /// The arcs of a node.
    pub fn arcs_of(&self, id: NodeId) -> std::ops::Range<usize> {
        self.first_arc[id.0 as usize] as usize..self.first_arc[id.0 as usize + 1] as usize
    }

    /// The word on input `i` of a node.
    pub fn input(&self, id: NodeId, i: usize) -> &Bits {
        &self.words[self.circuit.node(id).inputs[i].0 as usize]
    }

    /// Takes the token off an arc.
    pub fn take(&mut self, arc: usize) {
        let Arc { unit, value, full, side } = self.arcs[arc];
        if !full {
            return;
        }
        self.arcs[arc].full = false;
        self.leave(value, self.next_of(arc));
        self.empty[unit as usize][side as usize] += 1;
        let source = self.sources[value.0 as usize];
        if source == unit {
            return;
        }
        let pending = &mut self.pending[value.0 as usize];
        *pending -= 1;
        if *pending == 0 {
            self.blocked[source as usize] -= 1;
            self.wake(source);
        }
    }

    /// Puts a token on all arcs of a value; the word stays as it is if none is given.
    pub fn publish(&mut self, value: ValueId, word: Option<Bits>) {
        let i = value.0 as usize;
        if let Some(word) = word {
            self.words[i] = word;
        }
        let source = self.sources[i];
        let mut pending = 0;
        for at in self.first_fan[i]..self.first_fan[i + 1] {
            let at = self.fan_out[at as usize] as usize;
            self.arcs[at].full = true;
            self.arrive(value, self.next_of(at));
            let Arc { unit, side, .. } = self.arcs[at];
            self.empty[unit as usize][side as usize] -= 1;
            pending += u32::from(unit != source);
            self.wake(unit);
        }
        if pending > 0 {
            self.pending[i] = pending;
            self.blocked[source as usize] += 1;
        }
    }

    /// Runs to the end.
    pub fn run(mut self, environment: &mut dyn Environment, limits: Limits) -> Run {
        let mut repetition = Repetition::default();
        let outcome = loop {
            if self.cycle >= limits.cycles {
                break Outcome::Limit;
            }
            if self.step(environment) {
                let is_silent = self.cycle - self.last_word >= limits.idle && self.timers.is_empty();
                if !is_silent || environment.next_event(self.cycle).is_some() {
                    repetition.reset();
                } else if repetition.again(|kept: &CircuitState| self.is_as(kept), || self.state()) {
                    break Outcome::Idle;
                }
                self.cycle += 1;
                continue;
            }
            repetition.reset();
            let event = environment.next_event(self.cycle);
            let timer = self.timers.keys().next().copied();
            match event.filter(|_| !self.polling.is_empty()).into_iter().chain(timer).min() {
                Some(next) => self.cycle = next.max(self.cycle + 1),
                None if !self.queue.is_empty() => self.cycle += 1,
                None => break Outcome::Complete,
            }
        };
        let waits = self.waits();
        let outcome = match outcome {
            Outcome::Complete if waits.iter().any(|wait| wait.is_external_input) => Outcome::Starved,
            Outcome::Complete if !waits.is_empty() => Outcome::Deadlock,
            other => other,
        };
        Run { outcome, cycles: self.cycle, firings: self.firings, last_word: self.last_word, waits }
    }

    /// The state that decides how the simulation goes on, without what comes from outside.
    fn state(&self) -> CircuitState {
        CircuitState {
            words: self.words.clone(),
            full: self.arcs.iter().map(|arc| arc.full).collect(),
            queue: self.queue.clone(),
            polling: self.polling.clone(),
            channels: self.channels.clone(),
            memories: self.memories.clone(),
        }
    }

    /// True if this is the state.
    fn is_as(&self, kept: &CircuitState) -> bool {
        self.words == kept.words
            && self.arcs.iter().map(|arc| arc.full).eq(kept.full.iter().copied())
            && (&self.queue, &self.polling) == (&kept.queue, &kept.polling)
            && self.channels == kept.channels
            && self.memories == kept.memories
    }
}

/// A state between two cycles.
struct CircuitState {
    words: Vec<Bits>,
    full: Vec<bool>,
    queue: Vec<Unit>,
    polling: Vec<Unit>,
    channels: Vec<Channel>,
    memories: Vec<Vec<Bits>>,
}
