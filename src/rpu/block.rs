//! The state of a block of threads: registers, stacks, scratch memory.
//!
//! # Layout
//!
//! All engines share this state and may address it directly, so its layout is fixed;
//! `the_layout_is_as_documented` tests it. A word is 32 bits in the CPU's byte order. A set of
//! lanes is a `u64` *mask*: bit i is lane i.
//!
//! **Column.** One word for each of the 64 lanes: 256 bytes, aligned to 64; lane i at byte 4·i.
//!
//! **Register file** (`Block::file`). A contiguous array of columns. P is the number of values that
//! the loaded program has in common for all lanes: the components of `C` registers and the literals
//! that it reads, each once. Offsets are from the first register column, at byte 256·P.
//!
//! | columns | bytes from R0.x | holds |
//! |---|---|---|
//! | 0 to P − 1 | −256·P | constants and literals, the same word in all lanes; read-only during a run |
//! | P | 0 | `R0.x`, `R0.y`, `R0.z`, `R0.w`, `R1.x` … `R15.w` |
//! | P + 64 | 16384 | `I0.x` … `I3.w` |
//! | P + 80 | 20480 | `A.x` … `A.w` |
//! | P + 84 | 21504 | `S.x` … `S.w` |
//! | P + 88 | 22528 | `HIT.x` … `HIT.w` |
//! | P + 92 | 23552 | `HIT_TRI` |
//! | P + 93 | 23808 | `HIT_OBJ` |
//! | P + 94 | 24064 | a result whose components cannot be written in place: x, y, z, w |
//! | P + 98 | 25088 | a half of a split that is written after the other half has read: x, y, z, w |
//! | P + 102 | 26112 | the data stack: vector v at column P + 102 + 4·v, byte 26112 + 1024·v |
//!
//! `S0` to `S7` of lanes whose stack window is w are the stack's vectors w to w + 7. The file
//! reaches at least to the top of the window of every running lane; a call that moves the window
//! grows it, so pointers into it are valid up to the next call.
//!
//! **Control stack** (`Block::frames`). A row for each call depth, 528 bytes:
//!
//! | bytes | holds |
//! |---|---|
//! | 0 to 511 | for each lane 8 bytes: the return address (a word), the window shift (a byte), 3 bytes unused |
//! | 512 to 519 | the mask of lanes whose frame equals the last one |
//! | 520 to 527 | the frame that was pushed last |
//!
//! **Scratch memory** (`Block::scratch`). Vector v is four columns (x, y, z, w), 1024 bytes.
//! Vectors that no lane has written need not exist; they read as zeros.
//!
//! **Counters** (`Block::spent`). A word for each lane: its backward jumps and calls in this run.
//!
//! **Texel log** (`Block::texels`). Lane, address and value of each texel stored in this run, in
//! the order of the stores.

use crate::arith::{Mode, Registers};
use crate::column;
use crate::isa::{Component, Reg, STACK_WINDOW};
use crate::lanes::{BLOCK, Column, GROUP, Lanes, groups_of, lanes_of};
use crate::limits::SCRATCH_BASE;
use crate::simd::InstructionSet;
use crate::step::{Steps, Uniform};
use crate::texture::{TexelLog, TexelStore};
use std::ops::Range;
use std::sync::Arc;

/// Return address and window shift of one call of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(super) struct Frame {
    pub pc: u32,
    pub push: u8,
}

/// The frames of all lanes at one depth.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct FrameRow {
    lanes: [Frame; BLOCK],
    /// Lanes that have the frame that came last: nearly always all that return together.
    shared: u64,
    last: Frame,
}

impl FrameRow {
    const EMPTY: FrameRow =
        FrameRow { lanes: [Frame { pc: 0, push: 0 }; BLOCK], shared: u64::MAX, last: Frame { pc: 0, push: 0 } };
}

/// Backward jumps and calls of each lane, in vectors.
#[derive(Debug)]
#[repr(align(64))]
struct Spent([u32; BLOCK]);

/// The values that all lanes have in common: the program's list of them, and the constant
/// registers.
#[derive(Debug)]
struct Pool {
    list: Arc<[Uniform]>,
    constants: [[u32; 4]; 32],
}

/// Addresses of a block's state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pointers {
    /// `R0.x`.
    pub file: *mut u8,
    /// The highest window for which the stack exists, in vectors above its bottom.
    pub window_end: u32,
    /// Backward jumps and calls of each lane.
    pub spent: *mut u32,
}

/// The state of [`BLOCK`] threads. One CPU thread uses it at a time, for one run after the other;
/// it keeps its memory.
#[derive(Debug)]
pub struct Block {
    /// Constants and literals, the registers, then the data stack: see the layout above.
    file: Vec<Column>,
    /// The constants and literals in the first columns, if any.
    pool: Option<Pool>,
    /// The control stack: a row for each depth.
    frames: Vec<FrameRow>,
    scratch: Vec<[Column; 4]>,
    /// Backward jumps and calls of each lane in this run, without those in `latest`.
    spent: Spent,
    /// The group that spent last, and how often in succession.
    latest: (u64, u32),
    /// Backward jumps and calls of all groups.
    spent_by_groups: u64,
    /// Texels stored in this run.
    texels: TexelLog,
    /// Lanes by code address, when profiling.
    profile: Option<Vec<u64>>,
}

impl Default for Block {
    fn default() -> Block {
        Block::new()
    }
}

impl Block {
    /// A block whose registers are as [`Block::reset`] leaves them.
    pub fn new() -> Block {
        let block = Block {
            file: vec![Column::zero(); usize::from(column::STACK) + 4 * usize::from(STACK_WINDOW)],
            pool: None,
            frames: Vec::new(),
            scratch: Vec::new(),
            spent: Spent([0; BLOCK]),
            latest: (0, 0),
            spent_by_groups: 0,
            texels: TexelLog::default(),
            profile: None,
        };
        block.column(column::ADDRESS + 3).fill(SCRATCH_BASE);
        block
    }

    /// Sets all registers, the stack and scratch memory to zero, and `A.w` to the address of the
    /// scratch memory.
    pub fn reset(&mut self) {
        self.file.truncate(self.columns_up_to(0));
        self.file[self.pool_len()..].iter().for_each(|column| column.fill(0));
        self.scratch.clear();
        self.column(column::ADDRESS + 3).fill(SCRATCH_BASE);
    }

    /// Sets the registers, stack and scratch memory of the lanes in `mask` as [`Block::reset`]
    /// does, and clears their counters and texel stores.
    pub fn reset_lanes(&mut self, mask: u64) {
        let mode = Mode::F32(InstructionSet::detect());
        mode.fill(&self.file[self.pool_len()..], 0, mask);
        self.start_lanes(mask);
    }

    /// As [`Block::reset_lanes`], for threads that read no register besides `A.w` before they or
    /// their caller write it, as those of compiled programs: the registers stay as they are. In a
    /// scene with one ray a sample, to reset them took a thirtieth of the time.
    pub fn start_lanes(&mut self, mask: u64) {
        self.settle();
        let mode = Mode::F32(InstructionSet::detect());
        mode.fill(self.scratch.as_flattened(), 0, mask);
        mode.fill(std::slice::from_ref(self.column(column::ADDRESS + 3)), SCRATCH_BASE, mask);
        lanes_of(mask).for_each(|lane| self.spent.0[lane] = 0);
        self.texels.remove(mask);
    }

    /// The texels that the lanes in `mask` have stored, in the order in which they did.
    pub(super) fn texel_stores(&self, mask: u64) -> impl Iterator<Item = TexelStore> {
        self.texels.stores(mask)
    }

    /// Takes the texels that the last run stored, lane by lane, for
    /// [`apply`](super::texture::apply).
    pub fn take_texel_stores(&mut self) -> Vec<TexelStore> {
        self.texels.take()
    }

    /// Of the texels that the next runs store, keeps those whose numbers within the run are in a
    /// range, at most [`super::texture::MAX_TEXEL_STORES`]. More stores than that are no error then.
    pub fn keep_texel_stores(&mut self, kept: Range<u64>) {
        self.texels.kept = Some(kept);
    }

    /// How many texels the last run stored.
    pub fn texel_stores_made(&self) -> u64 {
        self.texels.made
    }

    /// Logs a texel that a lane stores; `false` when there are too many.
    pub(super) fn store_texel(&mut self, lane: usize, address: usize, value: [u32; 4]) -> bool {
        self.texels.push(lane, address, value)
    }

    /// Counts from now on how many lanes execute each instruction.
    pub fn start_profile(&mut self) {
        self.profile = Some(Vec::new());
    }

    /// How many lanes have executed the instruction at each code address since
    /// [`Block::start_profile`], as far as any did; ends the profile.
    pub fn take_profile(&mut self) -> Vec<u64> {
        self.profile.take().unwrap_or_default()
    }

    /// A component of a register in one lane, as a bit pattern. Constant registers are not the
    /// block's: they read 0. Stack registers are those of the bottom window.
    pub fn get(&self, reg: Reg, component: Component, lane: usize) -> u32 {
        column::for_register(reg, component).map_or(0, |c| self.column(c).get(lane % BLOCK))
    }

    /// Sets a component of a register in one lane; constant registers are ignored.
    pub fn set(&mut self, reg: Reg, component: Component, lane: usize, bits: u32) {
        if let Some(c) = column::for_register(reg, component) {
            self.column(c).set(lane % BLOCK, bits);
        }
    }

    /// A component of a register in all lanes.
    pub fn read(&self, reg: Reg, component: Component) -> [u32; BLOCK] {
        column::for_register(reg, component).map_or([0; BLOCK], |c| self.column(c).to_array())
    }

    /// Calls a function with the words that registers have in each lane of `mask`: as many as there
    /// are places, zeros for others and for constant registers.
    pub fn read_lanes<const N: usize>(
        &self,
        places: &[(Reg, Component)],
        mask: u64,
        mut each: impl FnMut(usize, [u32; N]),
    ) {
        for (k, _) in groups_of(mask) {
            let mut words = [Lanes::ZERO; N];
            for (to, &(reg, c)) in words.iter_mut().zip(places) {
                *to = column::for_register(reg, c).map_or(Lanes::ZERO, |c| self.column(c).group(k));
            }
            for lane in lanes_of(mask & 0xffff << (GROUP * k)) {
                each(lane, std::array::from_fn(|n| words[n].0[lane % GROUP]));
            }
        }
    }

    /// A component of a register in all lanes, as floats.
    pub fn read_floats(&self, reg: Reg, component: Component) -> [f32; BLOCK] {
        let (bits, mut floats) = (self.read(reg, component), [0.0; BLOCK]);
        floats.iter_mut().zip(bits).for_each(|(to, from)| *to = f32::from_bits(from));
        floats
    }

    /// Sets a component of a register in all lanes; constant registers are ignored.
    pub fn write(&mut self, reg: Reg, component: Component, values: &[u32; BLOCK]) {
        if let Some(c) = column::for_register(reg, component) {
            self.column(c).load(values);
        }
    }

    /// Sets registers in the lanes of `mask` to words, as many as there are; constant registers are
    /// ignored.
    pub fn write_lanes(&mut self, places: &[(Reg, Component)], words: &[[u32; BLOCK]], mask: u64) {
        let mode = Mode::F32(InstructionSet::detect());
        for (&(reg, c), words) in places.iter().zip(words) {
            if let Some(c) = column::for_register(reg, c) {
                mode.write(&[words], std::slice::from_ref(self.column(c)), mask);
            }
        }
    }

    /// Sets a component of a register in all lanes to floats; constant registers are ignored.
    pub fn write_floats(&mut self, reg: Reg, component: Component, values: &[f32; BLOCK]) {
        let mut bits = [0; BLOCK];
        bits.iter_mut().zip(values).for_each(|(to, from)| *to = from.to_bits());
        self.write(reg, component, &bits);
    }

    /// Prepares the block for a program. Constants and literals are broadcast only where the last
    /// run had another program or other constants.
    pub(super) fn prepare(&mut self, steps: &Steps, constants: &[[u32; 4]; 32]) {
        if self.pool.as_ref().is_some_and(|pool| Arc::ptr_eq(&pool.list, &steps.pool) && pool.constants == *constants) {
            return;
        }
        let columns = steps.pool.iter().map(|uniform| {
            let column = Column::zero();
            column.fill(match *uniform {
                Uniform::Constant(number) => constants[usize::from(number / 4)][usize::from(number % 4)],
                Uniform::Literal(bits) => bits,
            });
            column
        });
        self.file.splice(..self.pool_len(), columns);
        self.pool = Some(Pool { list: steps.pool.clone(), constants: *constants });
    }

    /// Columns of constants and literals.
    fn pool_len(&self) -> usize {
        self.pool.as_ref().map_or(0, |pool| pool.list.len())
    }

    /// Columns up to the top of the window.
    fn columns_up_to(&self, window: u32) -> usize {
        self.pool_len() + usize::from(column::STACK) + 4 * (window as usize + usize::from(STACK_WINDOW))
    }

    /// Clears what the last run left besides registers.
    pub(super) fn begin(&mut self) {
        self.spent = Spent([0; BLOCK]);
        self.latest = (0, 0);
        self.spent_by_groups = 0;
        self.texels.clear();
    }

    pub(super) fn column(&self, index: u16) -> &Column {
        &self.file[self.pool_len() + usize::from(index)]
    }

    /// `count` columns from `first` on.
    pub(super) fn columns(&self, first: u16, count: usize) -> &[Column] {
        let first = self.pool_len() + usize::from(first);
        &self.file[first..first + count]
    }

    pub(super) fn registers(&self, window: u32) -> Registers<'_> {
        Registers { file: &self.file, pool: self.pool_len(), window: 4 * window as usize }
    }

    /// True if instructions are counted.
    pub(super) fn is_profiled(&self) -> bool {
        self.profile.is_some()
    }

    /// Counts an instruction, when profiling.
    pub(super) fn count(&mut self, pc: u32, mask: u64) {
        if let Some(profile) = &mut self.profile {
            let pc = pc as usize;
            if profile.len() <= pc {
                profile.resize(pc + 1, 0);
            }
            profile[pc] += u64::from(mask.count_ones());
        }
    }

    /// Counts a backward jump or call; whether a lane has now more than `budget`.
    pub(super) fn spend(&mut self, mask: u64, budget: u32) -> bool {
        // Loops are mostly run by the same lanes in every iteration: counts are added to each
        // lane's when the lanes change.
        if mask == self.latest.0 && self.latest.1 < u32::MAX {
            self.latest.1 += 1;
        } else {
            self.settle();
            self.latest = (mask, 1);
        }
        // No lane has spent more than all groups together.
        self.spent_by_groups += 1;
        if self.spent_by_groups <= u64::from(budget) {
            return false;
        }
        self.settle();
        lanes_of(mask).any(|lane| self.spent.0[lane] > budget)
    }

    /// Adds what the latest group spent to the counts of its lanes.
    fn settle(&mut self) {
        let (mask, count) = std::mem::take(&mut self.latest);
        for lane in lanes_of(mask) {
            self.spent.0[lane] = self.spent.0[lane].saturating_add(count);
        }
    }

    /// Makes sure that the stack reaches to the top of the window at `window`.
    pub(super) fn reach(&mut self, window: u32) {
        let columns = self.columns_up_to(window);
        if self.file.len() < columns {
            self.file.resize(columns, Column::zero());
        }
    }

    /// Where generated code finds the block's state. The pointers are valid until the stack grows.
    pub(super) fn pointers(&mut self) -> Pointers {
        let pool = self.pool_len();
        let windows = (self.file.len() - pool - usize::from(column::STACK)) / 4 - usize::from(STACK_WINDOW);
        // SAFETY: the file has more columns than the pool.
        let file = unsafe { self.file.as_mut_ptr().add(pool) }.cast();
        Pointers { file, window_end: windows as u32, spent: self.spent.0.as_mut_ptr() }
    }

    /// Where scratch memory is, until it grows, and how many vectors it has.
    pub(super) fn scratch_pointer(&mut self) -> (*mut u8, usize) {
        (self.scratch.as_mut_ptr().cast(), self.scratch.len())
    }

    /// Takes the counts of each lane as they are: generated code has added to them.
    pub(super) fn counted_outside(&mut self) {
        // From now on, each count of a group tests its lanes.
        self.spent_by_groups = u64::from(u32::MAX);
    }

    /// Puts a call's frame at a depth, and makes sure that the stack reaches to the top of the
    /// window at `window`.
    pub(super) fn push_frame(&mut self, depth: u32, mask: u64, frame: Frame, window: u32) {
        let depth = depth as usize;
        if self.frames.len() <= depth {
            self.frames.resize(depth + 1, FrameRow::EMPTY);
        }
        let row = &mut self.frames[depth];
        if mask == u64::MAX {
            row.lanes = [frame; BLOCK];
        } else {
            lanes_of(mask).for_each(|lane| row.lanes[lane] = frame);
        }
        row.shared = if frame == row.last { row.shared | mask } else { mask };
        row.last = frame;
        self.reach(window);
    }

    /// The frame at a depth of the first lane in `mask`, which is not empty, and the lanes in
    /// `mask` with an equal frame.
    pub(super) fn frame(&self, depth: u32, mask: u64) -> (Frame, u64) {
        let row = &self.frames[depth as usize];
        if mask & !row.shared == 0 {
            return (row.last, mask);
        }
        let frame = row.lanes[mask.trailing_zeros() as usize % BLOCK];
        (frame, lanes_of(mask).filter(|&lane| row.lanes[lane] == frame).fold(0, |same, lane| same | 1 << lane))
    }

    /// A vector of scratch memory that has been written to.
    pub(super) fn scratch(&self, index: usize) -> Option<&[Column; 4]> {
        self.scratch.get(index)
    }

    /// Makes scratch memory reach to a vector.
    pub(super) fn grow_scratch(&mut self, index: usize) {
        if self.scratch.len() <= index {
            self.scratch.resize_with(index + 1, || std::array::from_fn(|_| Column::zero()));
        }
    }
}

/// For comparisons.
impl Block {
    /// The words that a lane's thread has left: its registers, the stack and scratch memory,
    /// without zeros at the ends of those, and the texels that it stored.
    pub(super) fn left_by(&self, lane: usize) -> Vec<u32> {
        fn written<'a>(columns: impl DoubleEndedIterator<Item = &'a Column>, lane: usize) -> Vec<u32> {
            let words: Vec<u32> = columns.map(|column| column.get(lane)).collect();
            let end = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
            words[..end].to_vec()
        }
        let registers = self.columns(0, column::RESULT.into());
        let stack = &self.file[self.pool_len() + usize::from(column::STACK)..];
        let (stack, scratch) = (written(stack.iter(), lane), written(self.scratch.as_flattened().iter(), lane));
        let texels = self.texels.stores(1 << lane);
        let texels = texels.flat_map(|store| [store.address as u32].into_iter().chain(store.value));
        let lengths = [stack.len() as u32, scratch.len() as u32];
        let registers = registers.iter().map(|column| column.get(lane));
        registers.chain(lengths).chain(stack).chain(scratch).chain(texels).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{align_of, offset_of, size_of};

    #[test]
    fn the_layout_is_as_documented() {
        assert_eq!((size_of::<Column>(), align_of::<Column>()), (256, 64));
        let block = Block::new();
        let first = block.column(0);
        let bytes_from_r0 = |reg, component| {
            let index = column::for_register(reg, component).expect("a register of the block");
            std::ptr::from_ref(block.column(index)).addr() - std::ptr::from_ref(first).addr()
        };
        let x = Component::X;
        let registers = [Reg::R(0), Reg::R(1), Reg::I(0), Reg::A, Reg::Special, Reg::Hit, Reg::HitTri, Reg::HitObj];
        let bytes = registers.map(|reg| bytes_from_r0(reg, x));
        assert_eq!(bytes, [0, 1024, 16384, 20480, 21504, 22528, 23552, 23808]);
        assert_eq!([column::RESULT, column::HALF].map(|c| 256 * usize::from(c)), [24064, 25088]);
        assert_eq!([0, 1].map(|n| bytes_from_r0(Reg::Stack(n), x)), [26112, 27136]);
        assert_eq!(bytes_from_r0(Reg::R(0), Component::W), 768);
        first.set(5, 7);
        // SAFETY: a column is 64 words.
        assert_eq!(unsafe { *std::ptr::from_ref(first).cast::<u32>().add(5) }, 7);
        assert_eq!((size_of::<Frame>(), offset_of!(Frame, pc), offset_of!(Frame, push)), (8, 0, 4));
        assert_eq!((size_of::<FrameRow>(), offset_of!(FrameRow, lanes)), (528, 0));
        assert_eq!((offset_of!(FrameRow, shared), offset_of!(FrameRow, last)), (512, 520));
        assert_eq!(size_of::<[Column; 4]>(), 1024);
    }
}
