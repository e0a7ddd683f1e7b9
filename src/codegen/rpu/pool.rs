//! The constant registers that hold vector constants, shared by all functions of a program.
//!
//! Values are packed component by component: a swizzle picks what a use needs, so `(1, 2, 3)` and `(3, 1, 0)` share a register.

use super::vcode::{MSrc, Place};
use crate::rpu::isa::{Component, Multiplier, Reg, Swizzle};

/// Constants in `C0` upwards.
#[derive(Clone, Debug, Default)]
pub struct ConstantPool {
    registers: Vec<Vec<u32>>,
    limit: usize,
}

impl ConstantPool {
    /// An empty pool of that many registers.
    pub fn new(limit: usize) -> ConstantPool {
        ConstantPool { registers: Vec::new(), limit }
    }

    /// A source whose components are the given bit patterns, the last repeated; `None` when the pool is full.
    pub fn source(&mut self, bits: &[u32]) -> Option<MSrc> {
        let missing = |register: &[u32]| {
            let mut new: Vec<u32> = Vec::new();
            for b in bits {
                if !register.contains(b) && !new.contains(b) {
                    new.push(*b);
                }
            }
            new
        };
        let best = self
            .registers
            .iter()
            .enumerate()
            .map(|(n, r)| (missing(r), n))
            .filter(|(new, n)| self.registers[*n].len() + new.len() <= 4)
            .min_by_key(|(new, n)| (new.len(), *n));
        let n = match best {
            Some((new, n)) => {
                self.registers[n].extend(new);
                n
            }
            None if self.registers.len() < self.limit => {
                self.registers.push(missing(&[]));
                self.registers.len() - 1
            }
            None => return None,
        };
        let register = &self.registers[n];
        let components: Vec<Component> = bits
            .iter()
            .filter_map(|b| register.iter().position(|r| r == b))
            .map(|i| Component::from_index(i as u8))
            .collect();
        let swizzle = Swizzle::from_components(&components)?;
        Some(MSrc::Reg { place: Place::P(Reg::C(n as u8)), swizzle, mult: Multiplier::ONE })
    }

    /// The contents of `C0` upwards.
    pub fn contents(&self) -> Vec<[u32; 4]> {
        self.registers.iter().map(|r| std::array::from_fn(|i| r.get(i).copied().unwrap_or(0))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_share_registers_by_component() {
        let mut pool = ConstantPool::new(1);
        assert!(pool.source(&[1, 2, 3]).is_some());
        let again = pool.source(&[3, 3, 9]).unwrap();
        assert_eq!(pool.contents(), vec![[1, 2, 3, 9]]);
        let c = Component::from_index;
        assert_eq!(again.read_mask(crate::rpu::isa::Mask::XYZ).bits(), 0b1100);
        let MSrc::Reg { swizzle, .. } = again else { panic!("a register") };
        assert_eq!(swizzle, Swizzle([c(2), c(2), c(3), c(3)]));
        assert!(pool.source(&[10, 11]).is_none());
    }
}
