//! The simulator of the bit-serial implementation: cycle by cycle, bit by bit.

use super::cells::{CellKind, Side};
use super::netlist::{Cell, Netlist};
use super::outside::{Outside, OutsideState};
use super::ports::{self, MemoryState, Pins, PortState, Size};
use super::step::{CellState, Fault, Wire, step};
use crate::circuit::functional::Environment;
use crate::circuit::repetition::Repetition;
use shadewright_base::bits::Bits;
use shadewright_base::text::diagnostics::Diagnostic;
use std::collections::BTreeMap;
use std::sync::Arc;

/// When a simulation ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most cycles.
    pub cycles: u64,
    /// Cycles without a word at any of the pads, after which the simulation looks whether the chip
    /// repeats itself: then it ends.
    pub idle: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cycles: 10_000_000, idle: 1_000 }
    }
}

/// The result of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Cycles until the last word passed the pads.
    pub cycles: u64,
    /// All cycles that were simulated.
    pub simulated: u64,
    /// The words that entered each port, in order; the first ones where there are very many.
    pub entered: BTreeMap<Arc<str>, Vec<Bits>>,
    /// The words that left each port, and in which cycle they had.
    pub left: BTreeMap<Arc<str>, Vec<(u64, Bits)>>,
    /// For each cell, the cycles in which its first output gave a bit.
    pub active: Vec<u64>,
    /// True if it ended because it repeats itself, and not at the most cycles.
    pub ended: bool,
}

/// The most bits of the words that a [`Run`] notes as entered, as [`shadewright_base::bits::storage`]
/// counts them.
const MAX_ENTERED: u64 = 1 << 29;

/// The registers of one cell.
#[derive(Clone, PartialEq)]
enum Registers {
    Cell(CellState),
    Port(Size, PortState, Option<usize>),
    Memory(MemoryState),
}

/// A state between two cycles.
struct Chip {
    registers: Vec<Registers>,
    now: Vec<Wire>,
    driven: Vec<Pins>,
    outside: Vec<OutsideState>,
}

/// The netlist in one cycle.
struct Simulator<'a> {
    netlist: &'a Netlist,
    registers: Vec<Registers>,
    now: Vec<Wire>,
    next: Vec<Wire>,
    outside: Vec<Outside>,
    driven: Vec<Pins>,
    inputs: Vec<Wire>,
    /// For each cell, the cycles since its inputs or outputs changed, and how many of those it takes
    /// until its registers do not change any more either; then it is skipped.
    stable: Vec<u32>,
    settled: Vec<u32>,
    readers: Vec<Vec<(u32, u32)>>,
    changed: Vec<u32>,
    run: Run,
}

/// Runs a netlist in the environment of its circuit. Its cycles are those of the chip.
///
/// # Errors
/// A rule of the timing discipline that does not hold: an error of the translation, not of the
/// program.
pub fn simulate(netlist: &Netlist, environment: &mut dyn Environment, limits: Limits) -> Result<Run, Diagnostic> {
    let mut simulator = Simulator::new(netlist, environment);
    let (mut last, mut repetition) = (None, Repetition::default());
    for cycle in 0..limits.cycles {
        simulator.run.simulated = cycle + 1;
        if simulator.cycle(environment, cycle)? {
            last = Some(cycle);
        }
        if cycle - last.unwrap_or(0) <= limits.idle || environment.next_event(cycle).is_some() {
            repetition.reset();
        } else if repetition.again(|kept: &Chip| simulator.is_as(kept), || simulator.chip()) {
            simulator.run.ended = true;
            break;
        }
    }
    simulator.run.cycles = last.map_or(0, |last| last + 1);
    for (outside, pads) in simulator.outside.into_iter().zip(&netlist.pads) {
        simulator.run.entered.insert(pads.name.clone(), outside.entered);
        simulator.run.left.insert(pads.name.clone(), outside.left_words);
    }
    Ok(simulator.run)
}

/// Cycles without a change at a cell's inputs and outputs after which its registers do not change.
fn settled(netlist: &Netlist, cell: &Cell) -> u32 {
    let longest = cell.inputs.iter().chain(&cell.outputs).map(|net| netlist.width(*net)).max().unwrap_or(0);
    match cell.kind {
        // What is outside of a port is no net.
        CellKind::Port { .. } => u32::MAX,
        CellKind::Shift { length } => length + 2,
        CellKind::Memory { address, .. } => longest + address + 4,
        _ => longest + 4,
    }
}

impl<'a> Simulator<'a> {
    fn new(netlist: &'a Netlist, environment: &mut dyn Environment) -> Self {
        let registers = netlist.cells.iter().enumerate().map(|(index, cell)| match &cell.kind {
            CellKind::Port { side, width, buffer, .. } => {
                let size = Size { side: *side, buffer: *buffer };
                let pads = netlist.pads.iter().position(|pads| pads.cell as usize == index);
                Registers::Port(size, PortState::new(*width), pads)
            }
            CellKind::Memory { width, words, address, ports } => {
                Registers::Memory(MemoryState::new(words, *width, *address, ports.len()))
            }
            kind => Registers::Cell(CellState::new(kind)),
        });
        let room = MAX_ENTERED / netlist.pads.len().max(1) as u64;
        let outside = netlist.pads.iter().map(|pads| Outside::new(pads, room, environment)).collect();
        Self {
            netlist,
            registers: registers.collect(),
            now: vec![Wire::default(); netlist.nets.len()],
            next: vec![Wire::default(); netlist.nets.len()],
            outside,
            driven: vec![Pins::default(); netlist.pads.len()],
            inputs: Vec::new(),
            stable: vec![0; netlist.cells.len()],
            settled: netlist.cells.iter().map(|cell| settled(netlist, cell)).collect(),
            readers: netlist.readers(),
            changed: Vec::new(),
            run: Run { active: vec![0; netlist.cells.len()], ..Run::default() },
        }
    }

    /// One cycle; whether a word passes the pads.
    fn cycle(&mut self, environment: &mut dyn Environment, cycle: u64) -> Result<bool, Diagnostic> {
        let idle = Pins::default();
        let mut driven = vec![Pins::default(); self.driven.len()];
        for (index, cell) in self.netlist.cells.iter().enumerate() {
            if self.stable[index] > self.settled[index] {
                continue;
            }
            self.inputs.clear();
            self.inputs.extend(cell.inputs.iter().map(|net| self.now[net.index()]));
            let Some(first) = cell.outputs.first() else { continue };
            let outputs = &mut self.next[first.index()..first.index() + cell.outputs.len()];
            let result = match &mut self.registers[index] {
                Registers::Cell(state) => step(&cell.kind, state, &self.inputs, outputs),
                Registers::Port(size, state, pads) => {
                    let CellKind::Port { puts, .. } = cell.kind else { continue };
                    let (puts, gets) = self.inputs.split_at(puts as usize);
                    if let Some(pads) = *pads
                        && size.side == Side::Parallel
                        && state.samples()
                    {
                        self.outside[pads].sample(environment, cycle);
                    }
                    let pins = pads.map_or(&idle, |pads| &self.outside[pads].pins);
                    ports::step(*size, state, puts, gets, pins, outputs).map(|pins| {
                        if let Some(pads) = *pads {
                            driven[pads] = pins;
                        }
                    })
                }
                Registers::Memory(state) => {
                    let CellKind::Memory { ports, .. } = &cell.kind else { continue };
                    ports::memory(state, ports, &self.inputs, outputs)
                }
            };
            self.run.active[index] += u64::from(outputs[0].control);
            let range = first.index()..first.index() + cell.outputs.len();
            self.stable[index] = self.stable[index].saturating_add(1);
            for net in range.filter(|&net| self.next[net] != self.now[net]) {
                self.stable[index] = 0;
                self.changed.push(net as u32);
            }
            // A chip whose synchronous ports have no words is not fed as it expects.
            if let Err(fault) = result
                && !self.outside.iter().any(|outside| outside.starved)
            {
                return Err(self.fault(index, fault, cycle));
            }
        }
        let mut active = false;
        for (outside, seen) in self.outside.iter_mut().zip(&self.driven) {
            active |= outside.step(seen, environment, cycle);
        }
        for net in self.changed.drain(..) {
            for &(reader, _) in &self.readers[net as usize] {
                self.stable[reader as usize] = 0;
            }
        }
        self.driven = driven;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(active)
    }

    /// The state that decides how the simulation goes on, without what comes from outside.
    fn chip(&self) -> Chip {
        Chip {
            registers: self.registers.clone(),
            now: self.now.clone(),
            driven: self.driven.clone(),
            outside: self.outside.iter().map(Outside::state).collect(),
        }
    }

    /// True if this is the state.
    fn is_as(&self, kept: &Chip) -> bool {
        self.now == kept.now
            && self.driven == kept.driven
            && self.registers == kept.registers
            && self.outside.iter().map(Outside::state).eq(kept.outside.iter().cloned())
    }

    fn fault(&self, index: usize, fault: Fault, cycle: u64) -> Diagnostic {
        let cell = &self.netlist.cells[index];
        let what = match fault {
            Fault::Collision => "has a word before the last one is gone",
            Fault::Misaligned => "has words that do not begin together",
        };
        let name = cell.kind.name();
        Diagnostic::error(format!("bit-serial cell {index} ({name}) {what} in cycle {cycle}")).at(cell.place, "here")
    }
}
