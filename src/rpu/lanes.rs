//! Columns of lanes: one component of one register for a block of threads.
//!
//! A block is [`BLOCK`] threads; a [`Column`] is one 32-bit pattern for each, in groups of 16 lanes
//! so that the compiler makes one vector instruction of each step (or two or four, on CPUs with
//! shorter vectors). Columns are cells: an instruction may name the same register as source and
//! destination, and reads all of a group before it writes any of it.

pub(super) use shadewright_bvh::ray::lanes as lanes_of;
use std::cell::Cell;

/// Threads in a block.
pub const BLOCK: usize = 64;
/// Lanes in a group.
pub(super) const GROUP: usize = 16;
/// Groups in a column.
pub(super) const GROUPS: usize = BLOCK / GROUP;

/// Bit patterns of 16 lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub [u32; GROUP]);

/// The lanes of an expression of the lane's number, written out without a loop.
macro_rules! each_lane {
    ($i:ident => $lane:expr) => {
        $crate::lanes::Lanes([
            {
                let $i = 0;
                $lane
            },
            {
                let $i = 1;
                $lane
            },
            {
                let $i = 2;
                $lane
            },
            {
                let $i = 3;
                $lane
            },
            {
                let $i = 4;
                $lane
            },
            {
                let $i = 5;
                $lane
            },
            {
                let $i = 6;
                $lane
            },
            {
                let $i = 7;
                $lane
            },
            {
                let $i = 8;
                $lane
            },
            {
                let $i = 9;
                $lane
            },
            {
                let $i = 10;
                $lane
            },
            {
                let $i = 11;
                $lane
            },
            {
                let $i = 12;
                $lane
            },
            {
                let $i = 13;
                $lane
            },
            {
                let $i = 14;
                $lane
            },
            {
                let $i = 15;
                $lane
            },
        ])
    };
}
pub(super) use each_lane;

impl Lanes {
    pub const ZERO: Lanes = Lanes([0; GROUP]);

    #[inline(always)]
    pub fn splat(bits: u32) -> Lanes {
        Lanes([bits; GROUP])
    }

    #[inline(always)]
    pub fn map(self, f: impl Fn(u32) -> u32) -> Lanes {
        each_lane!(i => f(self.0[i]))
    }

    /// `self` where the lane's bit in `mask` is set, `other` elsewhere.
    #[inline(always)]
    pub fn select(self, other: Lanes, mask: u16) -> Lanes {
        each_lane!(i => if mask & (1 << i) != 0 { self.0[i] } else { other.0[i] })
    }

    /// The lanes whose highest bit is set, as bits.
    #[inline(always)]
    pub fn highest(self) -> u16 {
        each_lane!(i => self.0[i] >> 31 << i).0.into_iter().fold(0, |all, bit| all | bit) as u16
    }
}

/// One 32-bit pattern for each thread of a block: 256 bytes, aligned to 64, lane i at byte 4·i.
#[derive(Debug, Clone)]
#[repr(transparent)]
pub(super) struct Column([Cell<Lanes>; GROUPS]);

impl Column {
    pub fn zero() -> Column {
        Column([const { Cell::new(Lanes::ZERO) }; GROUPS])
    }

    /// The lanes of a group.
    #[inline(always)]
    pub fn group(&self, k: usize) -> Lanes {
        self.0[k & (GROUPS - 1)].get()
    }

    #[inline(always)]
    pub fn set_group(&self, k: usize, lanes: Lanes) {
        self.0[k & (GROUPS - 1)].set(lanes);
    }

    /// Writes the lanes of a group whose bits are set.
    #[inline(always)]
    pub fn write_group(&self, k: usize, lanes: Lanes, mask: u16) {
        let cell = &self.0[k & (GROUPS - 1)];
        cell.set(if mask == u16::MAX { lanes } else { lanes.select(cell.get(), mask) });
    }

    pub fn get(&self, lane: usize) -> u32 {
        self.0[lane / GROUP].get().0[lane % GROUP]
    }

    pub fn set(&self, lane: usize, bits: u32) {
        let cell = &self.0[lane / GROUP];
        let mut lanes = cell.get();
        lanes.0[lane % GROUP] = bits;
        cell.set(lanes);
    }

    /// Sets the lanes in `mask` to what `f` gives for each lane.
    #[inline]
    pub fn write_masked(&self, f: impl Fn(usize) -> u32, mask: u64) {
        for (k, bits) in groups_of(mask) {
            self.write_group(k, each_lane!(i => f(GROUP * k + i)), bits);
        }
    }

    #[inline(always)]
    pub fn fill(&self, bits: u32) {
        let lanes = Lanes::splat(bits);
        self.0.iter().for_each(|cell| cell.set(lanes));
    }

    pub fn load(&self, values: &[u32; BLOCK]) {
        for (cell, group) in self.0.iter().zip(values.chunks_exact(GROUP)) {
            let mut lanes = Lanes::ZERO;
            lanes.0.copy_from_slice(group);
            cell.set(lanes);
        }
    }

    pub fn to_array(&self) -> [u32; BLOCK] {
        let mut all = [0; BLOCK];
        for (to, cell) in all.chunks_exact_mut(GROUP).zip(&self.0) {
            to.copy_from_slice(&cell.get().0);
        }
        all
    }
}

/// The groups with a lane in `mask`, with the group's lanes as bits.
#[inline(always)]
pub(super) fn groups_of(mask: u64) -> impl Iterator<Item = (usize, u16)> {
    (0..GROUPS).map(move |k| (k, (mask >> (GROUP * k)) as u16)).filter(|&(_, bits)| bits != 0)
}
