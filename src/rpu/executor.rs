//! The executor: executes one instruction for a set of lanes. It knows nothing of time.
//!
//! It takes a decoded instruction, a [`Group`] of lanes and the [`Block`] that holds their
//! registers, and changes that block; a control operation returns the groups that result. A
//! scheduler decides which group runs next and how long it takes: the interpreter's
//! ([`super::interpreter`]) or the timing model's ([`super::timed`]). As both run this code, both
//! give the same bits.

use crate::arith::{self, Mode};
use crate::block::{Block, Frame};
use crate::column;
use crate::decode::{DecodedControl, DecodedInstr, DecodedProgram, Work};
use crate::format::Format;
use crate::isa::Component;
use crate::lanes::{BLOCK, Column, GROUP, Lanes, groups_of, lanes_of};
use crate::launch::Launch;
use crate::limits::{ExecutionError, SCRATCH_BASE};
use crate::step::Operand;
use crate::tracing::{HitBlock, RayBlock};
use shadewright_bvh::RayBatch;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Lanes of a block that run together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// Bit i: lane i.
    pub mask: u64,
    /// The code address of their next instruction.
    pub pc: u32,
    /// Calls that have not returned.
    pub depth: u32,
    /// Bottom of the stack window.
    pub window: u32,
}

impl Group {
    /// The same lanes inside a function that they call.
    fn inside(self, target: u32, push: u8) -> Group {
        Group { pc: target, depth: self.depth + 1, window: self.window + u32::from(push), ..self }
    }
}

/// Rays that are to be traced, and hits.
#[derive(Default)]
struct Tracing {
    rays: RayBlock,
    hits: HitBlock,
}

/// The executor of the instructions of a launch's program.
pub(super) struct Executor<'m> {
    launch: &'m Launch<'m>,
    program: &'m DecodedProgram,
    mode: Mode,
    /// The first address after the memory image.
    image_end: u32,
    /// Groups that diverged from the one that the last control operation returned; the scheduler
    /// takes them out.
    pub diverged: Vec<Group>,
    /// Rays traced so far.
    pub rays: u64,
    /// Rays and hits, once there are any.
    tracing: Option<Box<Tracing>>,
    /// Lanes that loaded from outside the image and their scratch memory so far; they got zeros.
    pub bad_loads: u64,
}

impl<'m> Executor<'m> {
    /// An executor for a launch. The blocks that it is given are prepared for the launch's program
    /// and constants.
    pub fn new(launch: &'m Launch<'m>) -> Executor<'m> {
        let image_end = launch.memory.len().min(SCRATCH_BASE as usize) as u32;
        let program = launch.program;
        Executor {
            launch,
            program,
            mode: program.mode,
            image_end,
            diverged: Vec::new(),
            rays: 0,
            tracing: None,
            bad_loads: 0,
        }
    }

    /// Executes the arithmetic of consecutive instructions that do nothing else: those from one
    /// code address up to another.
    #[inline]
    pub fn run(&self, block: &Block, from: u32, to: u32, group: Group) {
        let code = &self.program.code[from as usize..to as usize];
        if let [DecodedInstr { work: Work::Arith { steps: first, .. }, .. }, ..] = code
            && let [.., DecodedInstr { work: Work::Arith { steps: last, .. }, .. }] = code
        {
            self.execute(block, first.start..last.end, group);
        }
    }

    #[inline]
    fn execute(&self, block: &Block, steps: Range<u32>, group: Group) {
        let range = steps.start as usize..steps.end as usize;
        arith::execute(&block.registers(group.window), &self.program.steps, range, group.mask);
    }

    /// Executes an instruction but for its control operation; returns the lanes for which its
    /// condition holds.
    #[inline]
    pub fn work(&mut self, block: &mut Block, work: &Work, group: Group) -> Result<u64, ExecutionError> {
        match work {
            Work::Nothing => {}
            Work::Arith { steps, tests } => {
                self.execute(block, steps.clone(), group);
                let registers = block.registers(group.window);
                return Ok(tests.as_ref().map_or(0, |tests| self.mode.passes(&registers, tests, group.mask)));
            }
            Work::TexLoad { to, texture, coord } => self.load_texels(block, group, *to, *texture, coord),
            Work::TexStore { texture, coord, src } => self.store_texels(block, group, *texture, coord, src)?,
            Work::Trace(sources) => self.trace(block, group, sources),
            Work::Load { to, count, base, offset } => self.load(block, group, *to, *count, *base, *offset),
            Work::Store { base, offset, src } => self.store(block, group, *base, *offset, src)?,
        }
        Ok(0)
    }

    /// Executes a control operation of a group. Where its lanes diverge, the others are in
    /// [`Executor::diverged`]; `None` when all have ended.
    #[inline]
    pub fn control(
        &mut self,
        block: &mut Block,
        control: DecodedControl,
        group: Group,
    ) -> Result<Option<Group>, ExecutionError> {
        match control {
            DecodedControl::Jmp(target) => {
                if target <= group.pc {
                    self.spend(block, group)?;
                }
                Ok(Some(Group { pc: target, ..group }))
            }
            DecodedControl::Call { target, push } => {
                self.spend(block, group)?;
                self.enter(block, group, target, push)
            }
            DecodedControl::CallReg { address, push } => {
                self.spend(block, group)?;
                self.enter_register(block, group, &address, push)
            }
            DecodedControl::Return => Ok(self.leave(block, group)),
        }
    }

    /// Counts a backward jump or call of a group.
    pub fn spend(&mut self, block: &mut Block, group: Group) -> Result<(), ExecutionError> {
        let budget = self.launch.limits.budget;
        if self.launch.stop.load(Ordering::Relaxed) {
            return Err(ExecutionError::Stopped);
        }
        if block.spend(group.mask, budget) {
            self.launch.stop.store(true, Ordering::Relaxed);
            return Err(ExecutionError::Budget { pc: group.pc, budget });
        }
        Ok(())
    }

    /// Records the return address and shift of a call.
    fn push_frame(&self, block: &mut Block, group: Group, push: u8) -> Result<(), ExecutionError> {
        let Group { mask, pc, depth, window } = group;
        let limit = self.launch.limits.call_depth;
        if depth >= limit {
            return Err(ExecutionError::CallDepth { pc, limit });
        }
        block.push_frame(depth, mask, Frame { pc: pc + 1, push }, window + u32::from(push));
        Ok(())
    }

    /// Calls a function.
    fn enter(&self, block: &mut Block, group: Group, target: u32, push: u8) -> Result<Option<Group>, ExecutionError> {
        self.push_frame(block, group, push)?;
        Ok(Some(group.inside(target, push)))
    }

    /// Calls the function that each lane has in a register; lanes with different functions diverge.
    fn enter_register(
        &mut self,
        block: &mut Block,
        caller: Group,
        address: &Operand,
        push: u8,
    ) -> Result<Option<Group>, ExecutionError> {
        self.push_frame(block, caller, push)?;
        let targets = block.registers(caller.window).read(address, Component::X, self.mode).to_array();
        let mut last = None;
        let mut rest = caller.mask;
        while rest != 0 {
            let target = targets[rest.trailing_zeros() as usize];
            if target as usize >= self.program.code.len() {
                return Err(ExecutionError::BadCall { pc: caller.pc, target });
            }
            let same = lanes_of(rest).filter(|&lane| targets[lane] == target).fold(0, |m, lane| m | 1 << lane);
            rest &= !same;
            self.diverged.extend(last.replace(Group { mask: same, ..caller }.inside(target, push)));
        }
        Ok(last)
    }

    /// Returns a group to its callers; at depth 0 it ends.
    fn leave(&mut self, block: &Block, group: Group) -> Option<Group> {
        let Group { mask, depth, window, .. } = group;
        let depth = depth.checked_sub(1)?;
        let mut last = None;
        let mut rest = mask;
        while rest != 0 {
            let (frame, same) = block.frame(depth, rest);
            rest &= !same;
            let returned = Group { mask: same, pc: frame.pc, depth, window: window - u32::from(frame.push) };
            self.diverged.extend(last.replace(returned));
        }
        last
    }

    fn load(&mut self, block: &mut Block, group: Group, to: u16, count: u16, base: u16, offset: i16) {
        let mask = group.mask;
        let offset = i32::from(offset) as u32;
        let (image, columns) =
            (&self.launch.memory[..self.image_end as usize], block.columns(to, 4 * usize::from(count)));
        if let Some(base) = self.mode.uniform(block.column(base), mask) {
            let address = base.wrapping_add(offset);
            let first = address as usize;
            match image.get(first..first + usize::from(count)) {
                Some(vectors) => self.mode.broadcast(vectors, columns, mask),
                None => (0..count).for_each(|i| {
                    self.load_uniform(block, mask, to + 4 * i, address.wrapping_add(u32::from(i)));
                }),
            }
            return;
        }
        let left = self.mode.gather(image, block.column(base), offset, columns, mask);
        for (k, bits) in groups_of(left) {
            let first = block.column(base).group(k).map(|base| base.wrapping_add(offset));
            for i in 0..count {
                let mut vectors = [Lanes::ZERO; 4];
                for lane in (0..GROUP).filter(|lane| bits >> lane & 1 != 0) {
                    let address = first.0[lane].wrapping_add(u32::from(i));
                    let vector = match image.get(address as usize) {
                        Some(vector) => *vector,
                        None => self.load_scratch(block, address, GROUP * k + lane),
                    };
                    vectors.iter_mut().zip(vector).for_each(|(to, word)| to.0[lane] = word);
                }
                for (column, lanes) in block.columns(to + 4 * i, 4).iter().zip(vectors) {
                    column.write_group(k, lanes, bits);
                }
            }
        }
    }

    /// Loads one vector from the same address for all lanes in `mask`.
    fn load_uniform(&mut self, block: &Block, mask: u64, to: u16, address: u32) {
        let to = block.columns(to, 4);
        let vector = match self.launch.memory[..self.image_end as usize].get(address as usize) {
            Some(vector) => *vector,
            None => match self.scratch_index(address).map(|index| block.scratch(index)) {
                Some(Some(vector)) => return self.mode.copy(vector, to, mask),
                Some(None) => [0; 4],
                None => {
                    self.bad_loads |= mask;
                    [0; 4]
                }
            },
        };
        self.mode.broadcast(&[vector], to, mask);
    }

    /// A vector of a lane's scratch memory; zeros outside it.
    fn load_scratch(&mut self, block: &Block, address: u32, lane: usize) -> [u32; 4] {
        match self.scratch_index(address) {
            Some(index) => block.scratch(index).map_or([0; 4], |v| [0, 1, 2, 3].map(|c| v[c].get(lane))),
            None => {
                self.bad_loads |= 1 << lane;
                [0; 4]
            }
        }
    }

    /// The index in scratch memory of an address there.
    fn scratch_index(&self, address: u32) -> Option<usize> {
        let index = address.checked_sub(SCRATCH_BASE)?;
        (index < self.launch.limits.scratch).then_some(index as usize)
    }

    fn store(
        &mut self,
        block: &mut Block,
        group: Group,
        base: u16,
        offset: i16,
        src: &Operand,
    ) -> Result<(), ExecutionError> {
        let Group { mask, pc, window, .. } = group;
        let offset = i32::from(offset) as u32;
        let index = |base: u32| {
            let address = base.wrapping_add(offset);
            self.scratch_index(address).ok_or(ExecutionError::BadStore { pc, address })
        };
        if let Some(base) = self.mode.uniform(block.column(base), mask) {
            let index = index(base)?;
            block.grow_scratch(index);
            let registers = block.registers(window);
            for (to, c) in block.scratch(index).into_iter().flatten().zip(Component::ALL) {
                registers.copy(src, c, self.mode, to, mask);
            }
            return Ok(());
        }
        let bases = block.column(base).to_array();
        let mut indices = [0; BLOCK];
        for lane in lanes_of(mask) {
            indices[lane] = index(bases[lane])?;
            block.grow_scratch(indices[lane]);
        }
        let registers = block.registers(window);
        for (i, c) in Component::ALL.into_iter().enumerate() {
            let value = registers.read(src, c, self.mode);
            for lane in lanes_of(mask) {
                if let Some(to) = block.scratch(indices[lane]) {
                    to[i].set(lane, value.get(lane));
                }
            }
        }
        Ok(())
    }

    /// The address of each lane's texel; none outside the texture.
    fn texels(
        &self,
        block: &Block,
        group: Group,
        texture: u8,
        coord: &Operand,
    ) -> impl Fn(usize) -> Option<usize> + use<> {
        let registers = block.registers(group.window);
        let mut at = [[0.0; BLOCK]; 2];
        let format = self.mode.format();
        for (c, to) in Component::ALL.into_iter().zip(&mut at) {
            registers.read_floats(coord, c, format, 0..BLOCK, to);
        }
        let texture = self.launch.textures.get(usize::from(texture)).copied();
        move |lane| texture?.address(at[0][lane], at[1][lane])
    }

    fn load_texels(&mut self, block: &Block, group: Group, to: u16, texture: u8, coord: &Operand) {
        let address = self.texels(block, group, texture, coord);
        for lane in lanes_of(group.mask) {
            let texel = address(lane).and_then(|address| self.launch.memory.get(address)).copied().unwrap_or_default();
            for (c, bits) in texel.into_iter().enumerate() {
                block.column(to + c as u16).set(lane, bits);
            }
        }
    }

    fn store_texels(
        &mut self,
        block: &mut Block,
        group: Group,
        texture: u8,
        coord: &Operand,
        src: &Operand,
    ) -> Result<(), ExecutionError> {
        let address = self.texels(block, group, texture, coord);
        let registers = block.registers(group.window);
        let values: [Column; 4] = Component::ALL.map(|c| registers.read(src, c, self.mode));
        for lane in lanes_of(group.mask) {
            if let Some(address) = address(lane)
                && !block.store_texel(lane, address, [0, 1, 2, 3].map(|c| values[c].get(lane)))
            {
                return Err(ExecutionError::TooManyTexels { pc: group.pc });
            }
        }
        Ok(())
    }

    fn trace(&mut self, block: &mut Block, group: Group, sources: &[Operand; 3]) {
        self.add_rays(block, group, 0..BLOCK, sources);
        self.trace_rays(block);
    }

    /// Adds the rays of a group's `trace` to those that [`Executor::trace_rays`] traces: those of
    /// `lanes`, which are all or some of one [`GROUP`] and have the group's.
    pub fn add_rays(&mut self, block: &Block, group: Group, lanes: Range<usize>, [orig, dir, arg]: &[Operand; 3]) {
        let Group { mask, window, .. } = group;
        let registers = block.registers(window);
        let format = self.mode.format();
        let any = self.mode.not_zero(&registers.read(arg, Component::Z, self.mode), mask);
        let RayBlock { rays, any: all, time } = &mut self.tracing.get_or_insert_default().rays;
        let RayBatch { ox, oy, oz, dx, dy, dz, t_min, t_max, active } = rays;
        let [x, y, z, w] = Component::ALL;
        let places = [(orig, x), (orig, y), (orig, z), (dir, x), (dir, y), (dir, z), (arg, x), (arg, y), (arg, w)];
        let mut to = [ox, oy, oz, dx, dy, dz, t_min, t_max, time];
        match places.map(|(operand, c)| registers.plain(operand, c).filter(|_| format == Format::F32)) {
            [Some(ox), Some(oy), Some(oz), Some(dx), Some(dy), Some(dz), Some(t_min), Some(t_max), Some(time)] => {
                let from = [ox, oy, oz, dx, dy, dz, t_min, t_max, time];
                self.mode.read(&from, &mut to.map(bytemuck::cast_mut), &lanes);
            }
            _ => {
                for ((operand, c), to) in places.into_iter().zip(&mut to) {
                    registers.read_floats(operand, c, format, lanes.clone(), to);
                }
            }
        }
        *active |= mask;
        *all = (*all & !mask) | any;
    }

    /// Traces the rays that were added, and writes their hits to the registers of their lanes.
    /// True if there were any.
    pub fn trace_rays(&mut self, block: &Block) -> bool {
        let Some(Tracing { rays, hits }) = self.tracing.as_deref_mut() else { return false };
        let mask = rays.rays.active;
        if mask == 0 {
            return false;
        }
        *hits = HitBlock::default();
        self.launch.tracer.trace(rays, hits);
        (rays.rays.active, rays.any) = (0, 0);
        self.rays += u64::from(mask.count_ones());
        let HitBlock { found, shader, tri, obj } = hits;
        for lane in lanes_of(mask) {
            shader[lane] = match found.t[lane] >= 0.0 {
                true => self.launch.shaders.get(shader[lane] as usize).copied().unwrap_or(u32::MAX),
                false => 0,
            };
        }
        let format = self.mode.format();
        let floats = [&mut found.u, &mut found.v, &mut found.t].map(|values| {
            if format != Format::F32 {
                values.iter_mut().for_each(|value| *value = f32::from_bits(format.round(value.to_bits())));
            }
            let nans = values.iter_mut().filter(|value| value.is_nan());
            nans.for_each(|value| *value = format.nan());
            bytemuck::cast_ref(values)
        });
        let [u, v, t] = floats;
        self.mode.write(&[u, v, t, shader, tri, obj], block.columns(column::HIT, 6), mask);
        true
    }

    /// Enters the call at a group's code address, whose backward jump has been counted: the groups
    /// that result.
    pub fn enter_call(&mut self, block: &mut Block, group: Group) -> Result<Vec<Group>, ExecutionError> {
        let control = self.program.code.get(group.pc as usize).and_then(|instr| instr.flow.control());
        let first = match control {
            Some(DecodedControl::Call { target, push }) => self.enter(block, group, target, push)?,
            Some(DecodedControl::CallReg { address, push }) => self.enter_register(block, group, &address, push)?,
            Some(DecodedControl::Jmp(_) | DecodedControl::Return) | None => Some(group),
        };
        Ok(first.into_iter().chain(std::mem::take(&mut self.diverged)).collect())
    }
}
