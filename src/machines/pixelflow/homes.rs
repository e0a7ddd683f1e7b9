//! Where the values of a function are kept while it runs.

use super::flow::Flow;
use super::widths::Width;
use shadewright_ir::{Function, Op, Terminator, Type, Value};

/// A place in the pixel memory of each pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySlot {
    /// The first byte, from the start of the frame.
    pub offset: u32,
    /// How many bytes, and what they mean.
    pub width: Width,
}

/// Where a value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the microprocessor's memory: it is the same for all pixels.
    Uniform,
    /// Nowhere: it is computed again where it is used. The results of `load` and the like, which
    /// an `extract` reads from, and the first half of a sign extension.
    Virtual,
    /// Where the caller keeps the argument of that number.
    Param(usize),
    /// Where the caller wants the result of that number.
    Result(usize),
    /// In the frame, at a place that the allocator finds.
    Frame,
}

/// The homes of all values, by what varies. With `direct_results` a function may write its results
/// where its caller wants them before it returns.
pub fn homes(f: &Function, flow: &Flow, varying: &[bool], direct_results: bool) -> Vec<Home> {
    let mut homes: Vec<Home> = varying.iter().map(|&varies| if varies { Home::Frame } else { Home::Uniform }).collect();
    for (i, p) in f.param_values().iter().enumerate() {
        if varying[p.0 as usize] {
            homes[p.0 as usize] = Home::Param(i);
        }
    }
    let users = Users::new(f);
    for inst in flow.order.iter().flat_map(|&id| &f.block(id).insts) {
        let &[result] = &inst.results[..] else { continue };
        let is_vector = f.ty(result) == Type::Vec4;
        // Half of a sign extension, which is one operation of the hardware.
        let is_half = inst.op == Op::IShl && users.only_shifts_right(f, result);
        if homes[result.0 as usize] == Home::Frame && (is_vector || is_half) {
            homes[result.0 as usize] = Home::Virtual;
        }
    }
    if direct_results {
        let returns: Vec<&Vec<Value>> = flow
            .order
            .iter()
            .filter_map(|&id| if let Terminator::Return(values) = &f.block(id).term { Some(values) } else { None })
            .collect();
        if let &[values] = &returns[..] {
            for (k, v) in values.iter().enumerate().rev() {
                let is_only_returned = users.count[v.0 as usize] == values.iter().filter(|w| *w == v).count();
                if is_only_returned && matches!(homes[v.0 as usize], Home::Frame | Home::Result(_)) {
                    homes[v.0 as usize] = Home::Result(k);
                }
            }
        }
    }
    homes
}

/// Who uses what.
struct Users {
    count: Vec<usize>,
    shifts: Vec<usize>,
}

impl Users {
    fn new(f: &Function) -> Self {
        let mut users = Self { count: vec![0; f.values.len()], shifts: vec![0; f.values.len()] };
        for block in &f.blocks {
            for inst in &block.insts {
                inst.args.iter().for_each(|a| users.count[a.0 as usize] += 1);
                if inst.op == Op::IShr {
                    users.shifts[inst.args[0].0 as usize] += 1;
                }
            }
            block.term.for_each_arg(|v| users.count[v.0 as usize] += 1);
        }
        users
    }

    fn only_shifts_right(&self, f: &Function, v: Value) -> bool {
        self.count[v.0 as usize] == 1 && self.shifts[v.0 as usize] == 1 && f.ty(v).is_integer()
    }
}

/// The values that an operand reads: itself, or what a virtual value is computed from.
pub struct Sources {
    of: Vec<Vec<Value>>,
}

impl Sources {
    /// The sources of the values of a function.
    pub fn new(f: &Function, flow: &Flow, homes: &[Home]) -> Self {
        let mut of: Vec<Vec<Value>> = vec![Vec::new(); f.values.len()];
        for block in flow.order.iter().map(|&id| f.block(id)) {
            for inst in &block.insts {
                for &r in &inst.results {
                    if homes[r.0 as usize] == Home::Virtual {
                        of[r.0 as usize] = inst.args.iter().flat_map(|a| Self::stored(&of, homes, *a)).collect();
                    }
                }
            }
        }
        Self { of }
    }

    fn stored(of: &[Vec<Value>], homes: &[Home], v: Value) -> Vec<Value> {
        match homes[v.0 as usize] {
            Home::Virtual => of[v.0 as usize].clone(),
            Home::Frame => vec![v],
            _ => Vec::new(),
        }
    }

    /// The values in the frame that reading an operand reads.
    pub fn get(&self, homes: &[Home], v: Value) -> Vec<Value> {
        Self::stored(&self.of, homes, v)
    }
}
