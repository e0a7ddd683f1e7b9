//! Running a stream of instructions on the pixels of a region.
//!
//! A [`Task`] is a call of a function for some of a region's pixels, its *lanes*. Each pixel has
//! bytes of its own; a value that varies is written to them and read from them, at the place and in
//! the bytes that the compiler gave it. What is uniform is computed once, as the microprocessor
//! does that generates the stream.
//!
//! A block runs for all lanes that wait for it, and takes its time however many these are: both
//! sides of a branch run, as SIMD arrays do. Only a loop that pixels leave at different times is
//! ended early: the enable-OR tells when no pixel is left in it.
//!
//! A task stops at calls that somebody else is to run ([`Step::Call`]): lights, texture lookups and
//! phases that shaders share.

use super::compile::{Compiled, Compiler};
use super::homes::{Home, MemorySlot};
use super::memory::{Address, Memory};
use super::prepare::is_lookup;
use super::rows::{apply, word};
use super::times::Times;
use super::widths::for_type;
use shadewright_ir::{BlockId, Hit, Inst, Loc, Op, Target, Terminator, Type, Value};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Calls within calls, at most.
const MAX_DEPTH: usize = 64;

/// The data that tasks read beside pixel memory.
pub struct World<'a> {
    /// The functions.
    pub compiler: &'a Compiler<'a>,
    /// The program constants.
    pub constants: &'a [[f32; 4]],
    /// The memory image.
    pub image: &'a [[u32; 4]],
    /// The hit that each lane sees; empty where nothing asks.
    pub hits: &'a [Hit],
    /// The times of the operations.
    pub times: &'a Times,
    /// Back edges and calls that a task may take.
    pub budget: u32,
}

/// Where a value is while a function runs.
#[derive(Clone, Copy, Debug)]
pub enum Holder {
    /// The same for all pixels.
    Uniform(u32),
    /// In pixel memory.
    Memory(Address),
}

/// A call that stops a task.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub name: Arc<str>,
    /// The places of the arguments.
    pub args: Vec<Holder>,
    /// Where its results are wanted: `None` where they are uniform.
    pub results: Vec<Option<Address>>,
    /// The pixels that call it.
    pub lanes: Rc<Vec<u32>>,
    /// The first byte that no value of the caller uses.
    pub mark: u32,
}

/// Why a task stopped.
#[derive(Debug)]
pub enum Step {
    /// It is done.
    Done,
    /// It waits for a call that somebody else runs, and then for [`Task::resume`].
    Call(Call),
}

/// Why a task failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A loop or recursion may not end.
    Budget(Loc),
    /// Calls are nested too deeply.
    Depth(Loc),
    /// Frames take more bytes than a simulated pixel can have.
    Memory(Loc),
}

/// A call in execution.
struct Activation {
    code: Arc<Compiled>,
    base: u32,
    uniforms: Vec<u32>,
    params: Vec<Holder>,
    results: Vec<Option<Address>>,
    /// Uniform results.
    returned: Vec<u32>,
    /// Blocks that are to run, by their position, and for which lanes.
    waiting: BTreeMap<usize, Vec<u32>>,
    block: BlockId,
    next: usize,
    lanes: Rc<Vec<u32>>,
}

/// A function in execution, with what it calls.
pub struct Task {
    stack: Vec<Activation>,
    left: u32,
    /// How many activations, from the bottom, the stack had when an operation was called that has a
    /// time of its own: what it calls takes no further time.
    in_operation: Option<usize>,
    /// Picoseconds that the SIMD array has worked for the task.
    pub time: u64,
    /// The highest byte that a frame reached.
    pub top: u32,
    /// The uniform results, when the task is done.
    pub returned: Vec<u32>,
}

impl Task {
    /// A call of a function with its frame at `base`.
    pub fn new(
        code: Arc<Compiled>,
        args: Vec<Holder>,
        results: Vec<Option<Address>>,
        lanes: Rc<Vec<u32>>,
        base: u32,
        budget: u32,
    ) -> Self {
        let first = Activation::new(code, args, results, lanes, base);
        let top = base + first.code.allocation.frame;
        Self { stack: vec![first], left: budget, in_operation: None, time: 0, top, returned: Vec::new() }
    }

    /// Gives the function a time of its own: what it does and calls takes no further time.
    pub fn take(&mut self, time: u64) {
        self.time += time;
        self.in_operation = Some(0);
    }

    /// Runs until a call at which `stops` says so, or the end: `stops` is given the function and
    /// whether an argument varies.
    ///
    /// # Errors
    /// See [`Fault`].
    pub fn run(
        &mut self,
        world: &World<'_>,
        memory: &mut Memory,
        stops: &dyn Fn(&str, bool) -> bool,
    ) -> Result<Step, Fault> {
        loop {
            let Some(top) = self.stack.last_mut() else { return Ok(Step::Done) };
            let end = top.base + top.code.allocation.frame;
            self.top = self.top.max(end);
            let code = top.code.clone();
            let block = code.function.block(top.block);
            let Some(inst) = block.insts.get(top.next) else {
                self.end_block(world, memory, &block.term, block.term_loc)?;
                continue;
            };
            top.next += 1;
            let Op::Call(name) = &inst.op else {
                let time = top.execute(world, memory, inst);
                if self.in_operation.is_none() {
                    self.time += time;
                }
                continue;
            };
            let at = (top.block, top.next - 1);
            let mark = top.base + code.marks.get(&at).copied().unwrap_or(code.allocation.frame);
            // Arguments that are computed where they are used get a place above the mark.
            let mut free = mark;
            let mut args = Vec::new();
            for &a in &inst.args {
                args.push(match top.holder(a) {
                    Some(holder) => holder,
                    None => {
                        let width = for_type(code.function.ty(a));
                        let address = Address { first: free, width };
                        memory.reserve(free + 4).map_err(|_| Fault::Memory(inst.loc))?;
                        let row = top.fetch(world, memory, a);
                        memory.store(address, &top.lanes, &row);
                        free += u32::from(width.bytes);
                        Holder::Memory(address)
                    }
                });
            }
            let wanted = |r: &Value| top.destination(*r);
            let results: Vec<Option<Address>> = inst.results.iter().map(wanted).collect();
            let lanes = top.lanes.clone();
            let varying: Vec<bool> = args.iter().map(|a| matches!(a, Holder::Memory(_))).collect();
            // The time of an operation has that of its lookups in it.
            let is_counted = self.in_operation.is_some() && is_lookup(name);
            if !is_counted && stops(name, varying.contains(&true)) {
                // A lookup is in the stream whichever pixels are enabled: it is in a phase, too.
                if lanes.is_empty() && !is_lookup(name) {
                    continue;
                }
                return Ok(Step::Call(Call { name: name.clone(), args, results, lanes, mark: free }));
            }
            let Some(callee) = world.compiler.function(name, &varying, false) else { continue };
            self.left = self.left.checked_sub(1).ok_or(Fault::Budget(inst.loc))?;
            if self.in_operation.is_none()
                && let Some(time) = world.times.function(name)
            {
                self.time += time;
                self.in_operation = Some(self.stack.len());
            }
            if self.stack.len() >= MAX_DEPTH {
                // Of a recursive function, no pixel may be left.
                if lanes.is_empty() {
                    continue;
                }
                return Err(Fault::Depth(inst.loc));
            }
            memory.reserve(free + callee.allocation.frame).map_err(|_| Fault::Memory(inst.loc))?;
            self.stack.push(Activation::new(callee, args, results, lanes, free));
        }
    }

    /// Continues after a call that somebody else ran: its results are where they were wanted.
    /// `uniform` has those that do not vary.
    pub fn resume(&mut self, uniform: &[u32]) {
        let Some(top) = self.stack.last_mut() else { return };
        let code = top.code.clone();
        if let Some(inst) = code.function.block(top.block).insts.get(top.next.wrapping_sub(1)) {
            for (&r, &word) in inst.results.iter().zip(uniform) {
                top.uniforms[r.0 as usize] = word;
            }
        }
    }

    /// Sends the lanes of a block on, and begins the next block that waits.
    fn end_block(&mut self, world: &World<'_>, memory: &mut Memory, term: &Terminator, loc: Loc) -> Result<(), Fault> {
        let Some(top) = self.stack.last_mut() else { return Ok(()) };
        let (code, lanes, from) = (top.code.clone(), top.lanes.clone(), top.block);
        match term {
            Terminator::Jump(target) => {
                let is_back = code.flow.is_back_edge(from, target.block);
                if is_back {
                    self.left = self.left.checked_sub(1).ok_or(Fault::Budget(loc))?;
                }
                top.go(world, memory, target, &lanes);
            }
            Terminator::Branch(condition, yes, no) => {
                let goes_back = [yes, no].iter().any(|t| code.flow.is_back_edge(from, t.block));
                if goes_back {
                    self.left = self.left.checked_sub(1).ok_or(Fault::Budget(loc))?;
                }
                if !code.varying[condition.0 as usize] {
                    let target = if top.uniforms[condition.0 as usize] != 0 { yes } else { no };
                    top.go(world, memory, target, &lanes);
                } else {
                    let row = top.fetch(world, memory, *condition);
                    let pick = |wanted: bool| -> Vec<u32> {
                        let both = lanes.iter().zip(&row);
                        both.filter(|(_, c)| (**c != 0) == wanted).map(|(lane, _)| *lane).collect()
                    };
                    for (target, wanted) in [(yes, true), (no, false)] {
                        let lanes = pick(wanted);
                        // Both ways of a conditional run, and the way out of a loop; one that stays in
                        // it only while pixels are left.
                        let other = if wanted { no } else { yes };
                        let stays = code.flow.ends_loop(from, target.block, other.block);
                        if lanes.is_empty() && (stays || code.flow.is_back_edge(from, target.block)) {
                            continue;
                        }
                        top.go(world, memory, target, &lanes);
                    }
                }
            }
            Terminator::Return(values) => top.give(world, memory, values, &lanes),
        }
        if let Some((position, lanes)) = top.waiting.pop_first() {
            top.block = code.flow.order[position];
            (top.next, top.lanes) = (0, Rc::new(lanes));
            return Ok(());
        }
        let done = self.stack.pop();
        if self.in_operation == Some(self.stack.len()) {
            self.in_operation = None;
        }
        let returned = done.map(|d| d.returned).unwrap_or_default();
        match self.stack.is_empty() {
            true => self.returned = returned,
            false => self.resume(&returned),
        }
        Ok(())
    }
}

impl Activation {
    fn new(
        code: Arc<Compiled>,
        params: Vec<Holder>,
        results: Vec<Option<Address>>,
        lanes: Rc<Vec<u32>>,
        base: u32,
    ) -> Self {
        let mut uniforms = vec![0; code.function.values.len()];
        for (p, holder) in code.function.param_values().iter().zip(&params) {
            if let Holder::Uniform(word) = holder {
                uniforms[p.0 as usize] = *word;
            }
        }
        let returned = vec![0; code.function.results.len()];
        Self {
            code,
            base,
            uniforms,
            params,
            results,
            returned,
            waiting: BTreeMap::new(),
            block: BlockId(0),
            next: 0,
            lanes,
        }
    }

    fn address(&self, place: MemorySlot) -> Address {
        Address { first: self.base + place.offset, width: place.width }
    }

    /// Where a value is; `None` for one that is computed where it is used.
    fn holder(&self, v: Value) -> Option<Holder> {
        Some(match self.code.homes[v.0 as usize] {
            Home::Uniform => Holder::Uniform(self.uniforms[v.0 as usize]),
            Home::Param(i) => self.params[i],
            Home::Frame | Home::Result(_) => Holder::Memory(self.destination(v)?),
            Home::Virtual => return None,
        })
    }

    /// Where a value that varies is to be written.
    fn destination(&self, v: Value) -> Option<Address> {
        match self.code.homes[v.0 as usize] {
            Home::Frame => self.code.place(v).map(|place| self.address(place)),
            Home::Result(k) => self.results.get(k).copied().flatten(),
            _ => None,
        }
    }

    /// A word for each lane.
    fn fetch(&self, world: &World<'_>, memory: &Memory, v: Value) -> Vec<u32> {
        match self.holder(v) {
            Some(Holder::Uniform(word)) => vec![word; self.lanes.len()],
            Some(Holder::Memory(address)) => memory.load(address, &self.lanes),
            None => match self.code.definitions.get(&v) {
                Some(inst) => self.compute(world, memory, inst, &self.lanes).unwrap_or_default(),
                None => vec![0; self.lanes.len()],
            },
        }
    }

    /// The results of an operation for each lane; for the microprocessor, of one.
    fn compute(&self, world: &World<'_>, memory: &Memory, inst: &Inst, lanes: &[u32]) -> Option<Vec<u32>> {
        let f = &self.code.function;
        let fetch = |v: Value| match self.holder(v) {
            Some(Holder::Uniform(word)) => vec![word; lanes.len()],
            _ => self.fetch(world, memory, v),
        };
        let hit = |lane: &u32| world.hits.get(*lane as usize).copied().unwrap_or(Hit::MISS);
        Some(match &inst.op {
            Op::Const(c) => vec![word(c); lanes.len()],
            Op::HitTri => lanes.iter().map(|l| hit(l).triangle).collect(),
            Op::HitObj => lanes.iter().map(|l| hit(l).object).collect(),
            Op::Extract(k) => {
                let k = *k as usize;
                let vector = self.code.definitions.get(&inst.args[0])?;
                match &vector.op {
                    Op::Uniform(n) => {
                        let constant = world.constants.get(*n as usize).copied().unwrap_or_default();
                        vec![constant[k].to_bits(); lanes.len()]
                    }
                    Op::Load(offset) => {
                        let load = |address: u32| {
                            let at = address.wrapping_add(*offset) as usize;
                            world.image.get(at).copied().unwrap_or_default()[k]
                        };
                        fetch(vector.args[0]).into_iter().map(load).collect()
                    }
                    Op::Hit => lanes.iter().map(|l| hit(l).uvts[k].to_bits()).collect(),
                    _ => return None,
                }
            }
            op => {
                let args: Vec<Vec<u32>> = inst.args.iter().map(|&a| fetch(a)).collect();
                let operand = inst.args.iter().map(|&a| f.ty(a)).find(|ty| *ty != Type::Bool).unwrap_or(Type::Bool);
                apply(op, &args, operand, f.ty(*inst.results.first()?))?
            }
        })
    }

    /// Runs an instruction for all lanes; returns the time that it takes.
    fn execute(&mut self, world: &World<'_>, memory: &mut Memory, inst: &Inst) -> u64 {
        let code = self.code.clone();
        match inst.op {
            Op::SlotLoad(slot) => {
                let index = self.fetch(world, memory, inst.args[0]);
                let (first, len, width) = code.slot(slot);
                let bytes = u32::from(width.bytes);
                let row: Vec<u32> = self
                    .lanes
                    .iter()
                    .zip(index)
                    .map(|(&lane, i)| {
                        let at = self.base + first + i.min(len - 1) * bytes;
                        memory.get(Address { first: at, width }, lane)
                    })
                    .collect();
                if let Some(to) = self.destination(inst.results[0]) {
                    memory.store(to, &self.lanes, &row);
                }
                return world.times.instruction(&code, inst);
            }
            Op::SlotStore(slot) => {
                let [index, row] = [0, 1].map(|i| self.fetch(world, memory, inst.args[i]));
                let (first, len, width) = code.slot(slot);
                let bytes = u32::from(width.bytes);
                for ((&lane, i), word) in self.lanes.iter().zip(index).zip(row) {
                    if i < len {
                        memory.set(Address { first: self.base + first + i * bytes, width }, lane, word);
                    }
                }
                return world.times.instruction(&code, inst);
            }
            _ => {}
        }
        let Some(&result) = inst.results.first() else { return 0 };
        if code.function.ty(result) == Type::Vec4 {
            return 0;
        }
        match code.homes[result.0 as usize] {
            Home::Uniform => {
                // Lane 0 stands for all.
                let lane = self.lanes.first().copied().unwrap_or(0);
                if let Some(row) = self.compute(world, memory, inst, &[lane]) {
                    self.uniforms[result.0 as usize] = row.first().copied().unwrap_or(0);
                }
                0
            }
            Home::Virtual => 0,
            _ => {
                if !self.lanes.is_empty()
                    && let Some(to) = self.destination(result)
                    && let Some(row) = self.compute(world, memory, inst, &self.lanes)
                {
                    memory.store(to, &self.lanes, &row);
                }
                world.times.instruction(&code, inst)
            }
        }
    }

    /// Lets lanes continue at a block.
    fn go(&mut self, world: &World<'_>, memory: &mut Memory, target: &Target, lanes: &[u32]) {
        let code = self.code.clone();
        let all = std::mem::replace(&mut self.lanes, Rc::new(lanes.to_vec()));
        let params = &code.function.block(target.block).params;
        // All arguments are read before a parameter is written.
        let mut writes = Vec::new();
        let mut uniforms = Vec::new();
        for (&p, &a) in params.iter().zip(&target.args) {
            match self.destination(p) {
                Some(to) => {
                    let stays = matches!(self.holder(a), Some(Holder::Memory(from)) if from == to);
                    if !stays && !lanes.is_empty() {
                        writes.push((to, self.fetch(world, memory, a)));
                    }
                }
                None => uniforms.push((p, self.uniforms[a.0 as usize])),
            }
        }
        writes.into_iter().for_each(|(to, row)| memory.store(to, lanes, &row));
        uniforms.into_iter().for_each(|(p, word)| self.uniforms[p.0 as usize] = word);
        let waiting = self.waiting.entry(code.flow.position[target.block.0 as usize]).or_default();
        waiting.extend(lanes);
        waiting.sort_unstable();
        self.lanes = all;
    }

    /// Returns from the function for lanes.
    fn give(&mut self, world: &World<'_>, memory: &mut Memory, values: &[Value], lanes: &[u32]) {
        let mut writes = Vec::new();
        for (k, &v) in values.iter().enumerate() {
            match self.results.get(k).copied().flatten() {
                Some(to) if self.code.homes[v.0 as usize] != Home::Result(k) => {
                    writes.push((to, self.fetch(world, memory, v)));
                }
                Some(_) => {}
                None => self.returned[k] = self.uniforms[v.0 as usize],
            }
        }
        if !lanes.is_empty() {
            writes.into_iter().for_each(|(to, row)| memory.store(to, lanes, &row));
        }
    }
}
