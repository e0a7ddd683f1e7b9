//! The constant pool: constants of a program that instructions cannot carry (Węgrzanowski 2006,
//! §13.5).
//!
//! In the native conventions an instruction carries at most **one literal**, which fills all four
//! components: the thesis doubts that its hardware takes two (ch. 12, the `mad` of its second
//! listing). Vectors with different components, and second literals, lie in `C` registers, the most
//! used first, where uses in loops count more. Values share registers component by component, since
//! a swizzle picks what a use needs: `(1, 2, 3)` and `(3, 1, 0)` fit one. Vectors that find no room
//! lie in memory, in a table that the program's loader puts after the image ([`Layout::table`]);
//! where it starts stands in [`BASE`]. With fewer than three different components a vector is not
//! worth a load, and is written as literals, component by component.

use super::ConstantPlaces;
use super::legalize::definitions;
use super::vcode::{MArith, MFunc, MInst, MOp, MSrc, RegisterClass, RegisterOperand};
use shadewright_ir::emitter::Emitter;
use shadewright_ir::{Function, Inst, Loc, Op, Terminator, Type, Value};
use shadewright_rpu::isa::{self, Component, Mask, Multiplier, Reg, Swizzle};
use std::collections::HashMap;

/// Registers for constants: `C0` upwards. Program constants take the rest.
pub const REGISTERS: usize = 16;

/// The component of a `C` register that holds the address of the table, where there is one.
pub const BASE: (usize, Component) = (REGISTERS - 1, Component::W);

/// The sign bit of a float.
const SIGN: u32 = 1 << 31;

/// How much more a use in a loop counts.
const LOOP_WEIGHT: u64 = 8;

/// Deeper loops count no more.
const MAX_DEPTH: u32 = 6;

/// Vectors with fewer different components are not loaded from memory.
const WORTH_A_LOAD: usize = 3;

/// How often the functions of a program use each constant that wants a register.
#[derive(Clone, Debug, Default)]
pub struct Usage(HashMap<Vec<u32>, u64>);

impl Usage {
    /// Counts the uses in a function that is ready for selection.
    pub fn count(&mut self, f: &Function) {
        let defs = definitions(f);
        let constant = |v: &Value| match &defs.get(v)?.op {
            Op::Const(c) => Some(c.bits()),
            _ => None,
        };
        let is_literal = |v: &Value| constant(v).is_some_and(|bits| is_uniform(&bits));
        let depths =
            super::loops::depths(f.blocks.len(), |b| f.blocks[b].term.targets().map(|t| t.block.0 as usize).collect());
        for (block, depth) in f.blocks.iter().zip(depths) {
            let weight = LOOP_WEIGHT.pow(depth.min(MAX_DEPTH));
            let mut vector = |v: Value| {
                if let Some(bits) = constant(&v).filter(|bits| !is_uniform(bits)) {
                    *self.0.entry(bits).or_default() += weight;
                }
            };
            block.insts.iter().flat_map(|i| &i.args).for_each(|&a| vector(a));
            block.term.for_each_arg(&mut vector);
            // A product with a literal takes part in a sum with one.
            for inst in block.insts.iter().filter(|i| matches!(i.op, Op::Add | Op::Sub)) {
                let (a, b) = (inst.args[0], inst.args[1]);
                for (product, addend) in [(a, b), (b, a)] {
                    let product = defs.get(&product).filter(|i| i.op == Op::Mul);
                    if product.is_some_and(|p| p.args.iter().any(is_literal))
                        && let Some(bits) = constant(&addend).filter(|bits| is_uniform(bits))
                    {
                        // Sources can change the sign.
                        *self.0.entry(vec![bits[0] & !SIGN]).or_default() += weight;
                    }
                }
            }
        }
    }
}

/// True if one literal is the whole constant.
fn is_uniform(bits: &[u32]) -> bool {
    bits.iter().all(|b| *b == bits[0])
}

/// The different words of a constant.
fn distinct(bits: &[u32]) -> Vec<u32> {
    let mut words: Vec<u32> = Vec::with_capacity(4);
    bits.iter().for_each(|b| {
        if !words.contains(b) {
            words.push(*b);
        }
    });
    words
}

/// The places of a program's constants.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    registers: Vec<Vec<u32>>,
    /// Vectors in memory, and where in the table each constant is.
    table: Vec<[u32; 4]>,
    in_table: HashMap<Vec<u32>, u32>,
}

impl Layout {
    /// Finds places for constants.
    pub fn new(usage: Usage, places: ConstantPlaces) -> Layout {
        let mut wanted: Vec<(Vec<u32>, u64)> = usage.0.into_iter().collect();
        wanted.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| b.len().cmp(&a.len())).then_with(|| a.cmp(b)));
        let (layout, left) = Layout::in_registers(&wanted, false);
        if places == ConstantPlaces::Code || left.iter().all(|bits| distinct(bits).len() < WORTH_A_LOAD) {
            return layout;
        }
        let (mut layout, left) = Layout::in_registers(&wanted, true);
        for bits in left.into_iter().filter(|bits| distinct(bits).len() >= WORTH_A_LOAD) {
            layout.in_table.insert(bits.clone(), layout.table.len() as u32);
            layout.table.push(std::array::from_fn(|i| bits.get(i).copied().unwrap_or(0)));
        }
        layout
    }

    /// Fills the registers, with room for the table's address or without, and gives the constants
    /// that are left.
    fn in_registers(wanted: &[(Vec<u32>, u64)], with_base: bool) -> (Layout, Vec<Vec<u32>>) {
        let mut layout = Layout::default();
        let mut left = Vec::new();
        for (bits, _) in wanted {
            if !layout.place(bits, with_base) {
                left.push(bits.clone());
            }
        }
        (layout, left)
    }

    /// Puts a constant where most of it stands already; `false` when there is no room.
    fn place(&mut self, bits: &[u32], with_base: bool) -> bool {
        let room = |n: usize| if with_base && n == BASE.0 { 3 } else { 4 };
        let words = distinct(bits);
        let missing = |register: &[u32]| words.iter().filter(|b| !register.contains(b)).count();
        let known = self.registers.iter().enumerate().map(|(n, r)| (missing(r), r.len(), n));
        let best = known.filter(|&(new, len, n)| len + new <= room(n)).min_by_key(|&(new, _, n)| (new, n));
        let n = match best {
            Some((.., n)) => n,
            None if self.registers.len() < REGISTERS && words.len() <= room(self.registers.len()) => {
                self.registers.push(Vec::new());
                self.registers.len() - 1
            }
            None => return false,
        };
        let register = &mut self.registers[n];
        words.iter().for_each(|b| {
            if !register.contains(b) {
                register.push(*b);
            }
        });
        true
    }

    /// A source whose components are the given bit patterns, the last repeated; `None` when no
    /// register holds them.
    pub fn source(&self, bits: &[u32]) -> Option<MSrc> {
        let holds = |r: &&(usize, &Vec<u32>)| bits.iter().all(|b| r.1.contains(b));
        let (n, register) = self.registers.iter().enumerate().find(|r| holds(&r))?;
        let position = |b: &u32| register.iter().position(|r| r == b).map(|i| Component::from_index(i as u8));
        let components: Vec<Component> = bits.iter().filter_map(position).collect();
        let swizzle = Swizzle::from_components(&components)?;
        Some(MSrc::Reg { place: RegisterOperand::P(Reg::C(n as u8)), swizzle, mult: Multiplier::ONE })
    }

    /// A source for a literal of an instruction that works on floats, or on integers: those cannot
    /// take it with another sign.
    fn scalar(&self, bits: u32, integer: bool) -> Option<MSrc> {
        let negated = || self.source(&[bits ^ SIGN]).map(MSrc::negated).filter(|_| !integer);
        self.source(&[bits]).or_else(negated)
    }

    /// The contents of `C0` upwards.
    pub fn registers(&self) -> Vec<[u32; 4]> {
        self.registers.iter().map(|r| std::array::from_fn(|i| r.get(i).copied().unwrap_or(0))).collect()
    }

    /// The vectors that lie in memory.
    pub fn table(&self) -> &[[u32; 4]] {
        &self.table
    }

    /// Makes a function load the constants that lie in memory, each once in every block that needs
    /// it.
    pub fn load_from_table(&self, f: &mut Function) {
        let mut places: HashMap<Value, u32> = HashMap::new();
        for inst in f.blocks.iter().flat_map(|b| &b.insts) {
            if let (Op::Const(c), [v]) = (&inst.op, &inst.results[..])
                && let Some(&n) = self.in_table.get(&c.bits())
            {
                places.insert(*v, n);
            }
        }
        if places.is_empty() {
            return;
        }
        for b in f.block_ids() {
            let mut loaded: HashMap<Value, Value> = HashMap::new();
            let insts = std::mem::take(&mut f.block_mut(b).insts);
            let mut out = Vec::with_capacity(insts.len());
            for mut inst in insts {
                for a in &mut inst.args {
                    *a = loaded_value(f, *a, &places, &mut loaded, &mut out, inst.loc);
                }
                out.push(inst);
            }
            let mut block_end = std::mem::replace(&mut f.block_mut(b).term, Terminator::Return(vec![]));
            let loc = f.block(b).term_loc;
            block_end.for_each_arg_mut(|a| *a = loaded_value(f, *a, &places, &mut loaded, &mut out, loc));
            let block = f.block_mut(b);
            (block.insts, block.term) = (out, block_end);
        }
    }
}

/// The value to use for `v`: a load of it, made at the end of `out` where the block has none yet,
/// or `v` itself.
fn loaded_value(
    f: &mut Function,
    v: Value,
    places: &HashMap<Value, u32>,
    loaded: &mut HashMap<Value, Value>,
    out: &mut Vec<Inst>,
    loc: Loc,
) -> Value {
    let Some(&n) = places.get(&v) else { return v };
    *loaded.entry(v).or_insert_with(|| {
        let ty = f.ty(v);
        let mut e = Emitter::new(f, loc);
        // Program constant k is register C[31 − k].
        let base = e.op(Op::Uniform(31 - BASE.0 as u32), &[], Type::Vec4);
        let base = e.op(Op::Extract(BASE.1.index() as u8), &[base], Type::F32);
        let base = e.op(Op::Bitcast, &[base], Type::Ref);
        let vector = e.op(Op::Load(n), &[base], Type::Vec4);
        let lanes = ty.lanes().unwrap_or(4) as u8;
        let value = match ty {
            Type::Vec4 => vector,
            _ => {
                let parts: Vec<Value> = (0..lanes).map(|k| e.op(Op::Extract(k), &[vector], Type::F32)).collect();
                e.op(Op::Compose, &parts, ty)
            }
        };
        out.append(&mut e.out);
        value
    })
}

/// Leaves every instruction at most one literal: the others are read from `C` registers, or from a
/// register that a copy fills.
pub fn keep_one_literal(f: &mut MFunc, layout: &Layout) {
    for b in 0..f.blocks.len() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut out: Vec<MInst> = Vec::with_capacity(insts.len());
        for mut inst in insts {
            let loc = inst.loc;
            let integer = inst.arith().is_some_and(|a| a.op.reads_integers());
            let sources: &mut [MSrc] = match &mut inst.op {
                MOp::Arith(a) => &mut a.src,
                MOp::Trace { src } => src,
                _ => &mut [],
            };
            let mut literals = Vec::new();
            sources.iter().for_each(|s| {
                if let MSrc::Lit(bits) = s
                    && !literals.contains(bits)
                {
                    literals.push(*bits);
                }
            });
            // Those with a register leave first.
            literals.sort_by_key(|&bits| layout.scalar(bits, integer).is_none());
            for bits in literals.iter().take(literals.len().saturating_sub(1)) {
                let source = layout.scalar(*bits, integer).unwrap_or_else(|| {
                    let t = RegisterOperand::V(f.new_vreg(RegisterClass::Scalar));
                    let copy = MArith::new(isa::Op::Mov, t, Mask::W, &[MSrc::Lit(*bits)]);
                    out.push(MInst { op: MOp::Arith(copy), loc });
                    MSrc::component(t, Component::W)
                });
                sources.iter_mut().filter(|s| **s == MSrc::Lit(*bits)).for_each(|s| *s = source);
            }
            out.push(inst);
        }
        f.blocks[b].insts = out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(constants: &[(&[u32], u64)]) -> Layout {
        let usage = Usage(constants.iter().map(|(bits, n)| (bits.to_vec(), *n)).collect());
        Layout::new(usage, ConstantPlaces::Table)
    }

    #[test]
    fn constants_share_registers_by_component() {
        let layout = layout(&[(&[1, 2, 3], 2), (&[3, 3, 9], 1)]);
        assert_eq!(layout.registers(), vec![[1, 2, 3, 9]]);
        let again = layout.source(&[3, 3, 9]).expect("it has a place");
        let c = Component::from_index;
        assert_eq!(again.read_mask(Mask::XYZ).bits(), 0b1100);
        let MSrc::Reg { swizzle, .. } = again else { panic!("a register") };
        assert_eq!(swizzle, Swizzle([c(2), c(2), c(3), c(3)]));
        assert!(layout.source(&[10, 11]).is_none());
    }

    #[test]
    fn the_most_used_constants_get_the_registers_and_the_rest_a_table() {
        let all: Vec<[u32; 4]> = (0..40).map(|n| std::array::from_fn(|i| 4 * n + i as u32)).collect();
        let usage: Vec<(&[u32], u64)> = all.iter().enumerate().map(|(n, bits)| (&bits[..], n as u64)).collect();
        let layout = layout(&usage);
        // Nothing of four words fits beside the address.
        assert_eq!(layout.registers().len(), REGISTERS - 1);
        assert_eq!(layout.registers()[0], all[39]);
        assert_eq!(layout.table().len(), 40 - (REGISTERS - 1));
        assert!(layout.source(&all[0]).is_none() && layout.source(&all[39]).is_some());
    }

    #[test]
    fn a_program_without_memory_has_no_table() {
        let usage: HashMap<Vec<u32>, u64> = (0..40).map(|n| ((4 * n..4 * n + 4).collect(), 1)).collect();
        let layout = Layout::new(Usage(usage), ConstantPlaces::Code);
        assert!(layout.table().is_empty());
        assert_eq!(layout.registers().len(), REGISTERS);
    }

    #[test]
    fn pairs_without_a_register_need_no_table() {
        let all: Vec<[u32; 2]> = (0..40).map(|n| [2 * n, 2 * n + 1]).collect();
        let usage: Vec<(&[u32], u64)> = all.iter().map(|bits| (&bits[..], 1)).collect();
        assert!(layout(&usage).table().is_empty());
    }
}
