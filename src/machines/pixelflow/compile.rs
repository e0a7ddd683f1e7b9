//! Compiling a function for the pixel processors: what is uniform, what each value takes, in which
//! order instructions run, and where values lie.

use super::allocate::{Allocation, allocate};
use super::flow::Flow;
use super::homes::{Home, MemorySlot, homes};
use super::lifetimes::Lifetimes;
use super::prepare::is_phase;
use super::schedule::{self, Facts};
use super::widths::{Width, for_type, widths};
use shadewright_ir::{BlockId, Function, Inst, Module, Op, SlotId, Type, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A function as the hardware runs it, for one choice of parameters that vary.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The instructions.
    pub function: Function,
    /// Their order.
    pub flow: Flow,
    /// Which values vary from pixel to pixel.
    pub varying: Vec<bool>,
    /// Which results do.
    pub results: Vec<bool>,
    /// Where each value is kept.
    pub homes: Vec<Home>,
    /// The bytes of each value.
    pub widths: Vec<Width>,
    /// The frame.
    pub allocation: Allocation,
    /// When values are alive.
    pub lifetimes: Lifetimes,
    /// The first byte of each array.
    pub slots: Vec<u32>,
    /// The source variable that each value is, where it is one.
    pub names: Vec<Option<Arc<str>>>,
    /// The instructions that compute vectors, and values that are computed where they are used.
    pub definitions: HashMap<Value, Inst>,
    /// Bytes of the frame that are in use at each call: where the callee's frame begins.
    pub marks: HashMap<(BlockId, usize), u32>,
    /// The bytes of the frame and of those of the functions that it calls.
    pub depth: u32,
}

impl Compiled {
    /// The place of a value in the frame.
    pub fn place(&self, v: Value) -> Option<MemorySlot> {
        self.allocation.places[v.0 as usize]
    }

    /// The first byte of an array, its length, and the bytes of an element.
    pub fn slot(&self, slot: SlotId) -> (u32, u32, Width) {
        let s = &self.function.slots[slot.0 as usize];
        (self.slots[slot.0 as usize], s.len, for_type(s.ty))
    }
}

/// A function for parameters that vary as the list says.
type Key = (Arc<str>, Vec<bool>);

/// Functions are compiled when they are first asked for.
#[derive(Debug)]
pub struct Compiler<'a> {
    module: &'a Module,
    index: HashMap<Arc<str>, usize>,
    compiled: RwLock<HashMap<Key, Arc<Compiled>>>,
}

impl<'a> Compiler<'a> {
    /// A compiler of a prepared module's functions.
    pub fn new(module: &'a Module) -> Self {
        Self { module, index: module.index(), compiled: RwLock::default() }
    }

    /// The module.
    pub fn module(&self) -> &'a Module {
        self.module
    }

    /// A function for parameters that vary as `varying` says. With `is_shader`, it writes its
    /// results where its caller wants them.
    pub fn function(&self, name: &Arc<str>, varying: &[bool], is_shader: bool) -> Option<Arc<Compiled>> {
        Work { compiler: self, open: RefCell::default() }.function(name, varying, is_shader)
    }
}

/// One request to the compiler.
struct Work<'a> {
    compiler: &'a Compiler<'a>,
    /// Functions that are being compiled: if one of them is called, it is recursive.
    open: RefCell<Vec<Key>>,
}

impl Work<'_> {
    fn function(&self, name: &Arc<str>, varying: &[bool], is_shader: bool) -> Option<Arc<Compiled>> {
        let key = (name.clone(), varying.to_vec());
        let compiled = &self.compiler.compiled;
        let known = compiled.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if known.is_some() {
            return known;
        }
        let function = &self.compiler.module.functions[*self.compiler.index.get(name)?];
        self.open.borrow_mut().push(key.clone());
        let made = Arc::new(self.compile(function.clone(), varying, is_shader));
        self.open.borrow_mut().pop();
        // Two threads may have compiled it: to the same code.
        let mut compiled = compiled.write().unwrap_or_else(PoisonError::into_inner);
        Some(compiled.entry(key).or_insert(made).clone())
    }

    /// The callee of an instruction; `None` for a recursive one.
    fn callee(&self, inst: &Inst, varying: &[bool]) -> Option<Arc<Compiled>> {
        let Op::Call(name) = &inst.op else { return None };
        let args: Vec<bool> = inst.args.iter().map(|a| varying[a.0 as usize]).collect();
        if self.open.borrow().contains(&(name.clone(), args.clone())) {
            return None;
        }
        self.function(name, &args, false)
    }

    /// The bytes that a call takes above those that its caller uses.
    fn depth_of_call(&self, inst: &Inst, varying: &[bool]) -> u32 {
        self.callee(inst, varying).map_or(0, |callee| callee.depth)
    }

    /// Which results of a call vary.
    fn results(&self, name: &Arc<str>, args: &[bool]) -> Vec<bool> {
        let count = self.compiler.index.get(name).map_or(0, |&i| self.compiler.module.functions[i].results.len());
        let key = (name.clone(), args.to_vec());
        // What is asked of all pixels of a region at once is stored for each; so is what a recursive
        // function gives.
        if is_phase(name, args.contains(&true)) || self.open.borrow().contains(&key) {
            return vec![true; count];
        }
        self.function(name, args, false).map_or(vec![true; count], |f| f.results.clone())
    }

    fn compile(&self, mut function: Function, params: &[bool], is_shader: bool) -> Compiled {
        let names = take_names(&mut function);
        let flow = Flow::new(&function);
        let varying = flow.varying(&function, params, &mut |name, args| self.results(name, args));
        let mut widths = widths(&function, &flow);
        // What a call takes and gives has the full width of its type.
        for inst in function.blocks.iter().flat_map(|b| &b.insts) {
            if matches!(inst.op, Op::Call(_)) {
                for r in &inst.results {
                    widths[r.0 as usize] = for_type(function.ty(*r));
                }
            }
        }
        let homes = homes(&function, &flow, &varying, is_shader);
        let facts = Facts { flow: &flow, homes: &homes, widths: &widths };
        schedule::sink(&mut function, &facts);
        schedule::order(&mut function, &facts, &|inst| self.depth_of_call(inst, &varying));
        let mut reserved = 0u32;
        let slots: Vec<u32> = function
            .slots
            .iter()
            .map(|slot| {
                let at = reserved;
                let bytes = u32::from(for_type(slot.ty).bytes);
                reserved = at.saturating_add(slot.len.saturating_mul(bytes));
                at
            })
            .collect();
        let lifetimes = Lifetimes::new(&function, &flow, &homes);
        let allocation = allocate(&function, &flow, &homes, &widths, &lifetimes, reserved);
        let results = function
            .blocks
            .iter()
            .find_map(|b| if let shadewright_ir::Terminator::Return(v) = &b.term { Some(v.len()) } else { None })
            .map_or(Vec::new(), |count| returned(&function, &flow, &varying, count));
        let mut made = Compiled {
            function,
            flow,
            varying,
            results,
            homes,
            widths,
            allocation,
            lifetimes,
            slots,
            names,
            definitions: HashMap::new(),
            marks: HashMap::new(),
            depth: 0,
        };
        for inst in made.function.blocks.iter().flat_map(|b| &b.insts) {
            for &r in &inst.results {
                if made.homes[r.0 as usize] == Home::Virtual || made.function.ty(r) == Type::Vec4 {
                    made.definitions.insert(r, inst.clone());
                }
            }
        }
        made.marks = marks(&made, reserved);
        made.depth = made.allocation.frame;
        for (&(block, i), &mark) in &made.marks {
            let inst = &made.function.block(block).insts[i];
            made.depth = made.depth.max(mark + self.depth_of_call(inst, &made.varying));
        }
        made
    }
}

/// Which results vary: those that do on some return, and all where which return is taken varies.
fn returned(f: &Function, flow: &Flow, varying: &[bool], count: usize) -> Vec<bool> {
    let returns: Vec<&Vec<Value>> = flow
        .order
        .iter()
        .filter_map(|&id| if let shadewright_ir::Terminator::Return(v) = &f.block(id).term { Some(v) } else { None })
        .collect();
    let diverges = flow
        .order
        .iter()
        .any(|&id| matches!(&f.block(id).term, shadewright_ir::Terminator::Branch(c, ..) if varying[c.0 as usize]));
    (0..count).map(|k| returns.len() > 1 && diverges || returns.iter().any(|v| varying[v[k].0 as usize])).collect()
}

/// Takes the `debug` instructions out of a function: the names of its values.
fn take_names(f: &mut Function) -> Vec<Option<Arc<str>>> {
    let mut names: Vec<Option<Arc<str>>> = vec![None; f.values.len()];
    for p in f.params.iter().zip(&f.blocks[0].params) {
        names[p.1.0 as usize] = Some(p.0.name.clone());
    }
    for block in &mut f.blocks {
        for inst in &block.insts {
            if let Op::Debug(name) = &inst.op {
                names[inst.args[0].0 as usize].get_or_insert_with(|| name.clone());
            }
        }
        block.insts.retain(|i| !matches!(i.op, Op::Debug(_)));
    }
    names
}

/// The end of what is in use of the frame at each call, arguments included.
fn marks(c: &Compiled, reserved: u32) -> HashMap<(BlockId, usize), u32> {
    let mut marks = HashMap::new();
    for &id in &c.flow.order {
        for (i, inst) in c.function.block(id).insts.iter().enumerate() {
            if !matches!(inst.op, Op::Call(_)) {
                continue;
            }
            let at = c.lifetimes.reads_at(id, i);
            let is_alive = |v: &usize| c.lifetimes.of[*v].iter().any(|(from, to)| *from <= at && at < *to);
            let places = (0..c.function.values.len()).filter(is_alive).filter_map(|v| c.allocation.places[v]);
            let mark = places.map(|p| p.offset + u32::from(p.width.bytes)).max().unwrap_or(0).max(reserved);
            marks.insert((id, i), mark);
        }
    }
    marks
}
