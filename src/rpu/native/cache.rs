//! Which values are in vector registers while a block of instructions runs.
//!
//! Columns of the register file are the home of all values. Within a block a value stays in a
//! register from its first use on; a result is stored when its register or the block ends, if it
//! is read later. A copy takes no instruction: two columns share a register.

use crate::step::ValueLocation;
use iced_x86::Register;
use std::collections::{BTreeMap, BTreeSet};

/// The registers and what they hold.
pub(super) struct Cache {
    registers: &'static [Register],
    /// The values in each register.
    held: Vec<Vec<ValueLocation>>,
    /// When each was last used.
    used: Vec<u32>,
    /// The registers that the current operation needs.
    pinned: Vec<bool>,
    values: BTreeMap<ValueLocation, usize>,
    /// Columns whose register is newer than their memory.
    dirty: BTreeSet<u16>,
    clock: u32,
}

impl Cache {
    pub fn new(registers: &'static [Register]) -> Cache {
        let n = registers.len();
        Cache {
            registers,
            held: vec![Vec::new(); n],
            used: vec![0; n],
            pinned: vec![false; n],
            values: BTreeMap::new(),
            dirty: BTreeSet::new(),
            clock: 0,
        }
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.held.iter_mut().for_each(Vec::clear);
        self.pinned.fill(false);
        self.values.clear();
        self.dirty.clear();
    }

    /// The register of a value, if it has one; it is pinned.
    pub fn find(&mut self, value: ValueLocation) -> Option<Register> {
        let register = *self.values.get(&value)?;
        self.touch(register);
        Some(self.registers[register])
    }

    fn touch(&mut self, register: usize) {
        self.clock += 1;
        self.used[register] = self.clock;
        self.pinned[register] = true;
    }

    /// A register for a new value, pinned. The values that it held are lost: those that are to be
    /// stored first are returned.
    ///
    /// # Panics
    /// When all registers are pinned: an operation needs 9 at most.
    pub fn take(&mut self) -> (Register, Vec<u16>) {
        let free = (0..self.registers.len()).filter(|&r| !self.pinned[r]);
        let oldest = free.min_by_key(|&r| (!self.held[r].is_empty(), self.used[r]));
        let register = oldest.expect("an operation needs few registers");
        let lost = std::mem::take(&mut self.held[register]);
        let mut stores = Vec::new();
        for value in lost {
            self.values.remove(&value);
            if let ValueLocation::Column(column) = value
                && self.dirty.remove(&column)
            {
                stores.push(column);
            }
        }
        self.touch(register);
        (self.registers[register], stores)
    }

    /// Ends an operation: no register is needed.
    pub fn unpin(&mut self) {
        self.pinned.fill(false);
    }

    /// Goes on within an operation that needs these registers alone.
    pub fn unpin_others(&mut self, needed: &[Register]) {
        self.pinned.iter_mut().zip(self.registers).for_each(|(pin, register)| *pin &= needed.contains(register));
    }

    /// Notes that a register has a value as it is in memory.
    pub fn loaded(&mut self, value: ValueLocation, register: Register) {
        self.hold(value, register);
    }

    /// Notes that a register has a column's new value.
    pub fn define(&mut self, column: u16, register: Register) {
        self.forget(column);
        self.hold(ValueLocation::Column(column), register);
        self.dirty.insert(column);
    }

    fn hold(&mut self, value: ValueLocation, register: Register) {
        let index = self.registers.iter().position(|r| *r == register).expect("a register that holds values");
        self.held[index].push(value);
        self.values.insert(value, index);
    }

    /// Forgets a column's value, without a store.
    pub fn forget(&mut self, column: u16) {
        let value = ValueLocation::Column(column);
        if let Some(register) = self.values.remove(&value) {
            self.held[register].retain(|held| *held != value);
        }
        self.dirty.remove(&column);
    }

    /// The columns to store, with their registers.
    pub fn dirty(&self) -> impl Iterator<Item = (u16, Register)> + '_ {
        self.dirty.iter().filter_map(|&c| Some((c, self.registers[*self.values.get(&ValueLocation::Column(c))?])))
    }

    /// One value of each register that has any: memory has it once all dirty columns are stored.
    pub fn in_memory_after_spills(&self) -> Vec<(ValueLocation, Register)> {
        let first = |(held, register): (&Vec<ValueLocation>, &Register)| held.first().map(|place| (*place, *register));
        self.held.iter().zip(self.registers).filter_map(first).collect()
    }

    /// Notes that a column has been stored.
    pub fn stored(&mut self, column: u16) {
        self.dirty.remove(&column);
    }

    /// Forgets all columns that do not pass.
    pub fn retain(&mut self, keep: impl Fn(u16) -> bool) {
        let dead: Vec<u16> = self
            .values
            .keys()
            .filter_map(|value| match value {
                ValueLocation::Column(c) if !keep(*c) => Some(*c),
                _ => None,
            })
            .collect();
        dead.into_iter().for_each(|c| self.forget(c));
    }
}
