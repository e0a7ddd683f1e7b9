//! Lowers matrices to vectors: every `mat4` value of a module is replaced by its four rows, `vec4`
//! values.
//!
//! It takes a verified module and leaves one without the type `mat4`, signatures included: a
//! parameter `m` becomes `m.0` to `m.3`, and so do results, block parameters, array slots and
//! arguments. `compose` and `extract` of matrices disappear. This is no optimization and cannot be
//! switched off: the pipeline runs it first, and neither the passes nor the back ends know
//! matrices.

use super::replace::Replacements;
use super::unreachable::remove_unreachable;
use crate::{Const, Function, Inst, Module, Op, Param, ResultInfo, Slot, SlotId, Type, Value};
use std::sync::Arc;

/// Rows of a matrix.
const ROWS: usize = 4;

/// Replaces every matrix of the module by its rows. Returns the number of matrix values replaced.
pub fn lower(module: &mut Module) -> usize {
    module.functions.iter_mut().map(lower_function).sum()
}

/// Arguments for a function of a lowered module: matrices as their rows, all else as it is.
pub fn flatten(args: &[Const]) -> Vec<Const> {
    args.iter().flat_map(|c| rows_of(c).map_or_else(|| vec![c.clone()], Vec::from)).collect()
}

/// The rows of a matrix constant; `None` for other constants.
fn rows_of(c: &Const) -> Option<[Const; ROWS]> {
    let Const::Mat4(m) = c else { return None };
    Some(std::array::from_fn(|row| Const::Vec4(std::array::from_fn(|column| m[ROWS * row + column]))))
}

/// The names of a matrix's rows.
fn row_names(name: &str) -> [Arc<str>; ROWS] {
    std::array::from_fn(|row| format!("{name}.{row}").into())
}

fn lower_function(func: &mut Function) -> usize {
    // Parameters, results and the elements of slots can do without a value of the type in the
    // function.
    let declared = func.params.iter().map(|p| p.ty).chain(func.results.iter().map(|r| r.ty));
    if !declared.chain(func.slots.iter().map(|s| s.ty)).chain(func.values.iter().copied()).any(|t| t == Type::Mat4) {
        return 0;
    }
    // Definitions in unreachable blocks may depend on each other in a ring.
    remove_unreachable(func);
    let matrices: Vec<Value> = (0..func.values.len() as u32).map(Value).filter(|&v| func.ty(v) == Type::Mat4).collect();
    let mut rows = vec![None; func.values.len()];
    for &m in &matrices {
        rows[m.0 as usize] = Some(std::array::from_fn(|_| func.new_value(Type::Vec4)));
        // Nothing defines or uses it any more; a value needs some type.
        func.values[m.0 as usize] = Type::Vec4;
    }
    let rows = Rows(rows);
    func.params = std::mem::take(&mut func.params)
        .into_iter()
        .flat_map(|p| match p.ty {
            Type::Mat4 => row_names(&p.name).map(|name| Param { name, ty: Type::Vec4, kind: p.kind }).to_vec(),
            _ => vec![p],
        })
        .collect();
    func.results = std::mem::take(&mut func.results)
        .into_iter()
        .flat_map(|r| match r.ty {
            Type::Mat4 => row_names(&r.name).map(|name| ResultInfo { name, ty: Type::Vec4 }).to_vec(),
            _ => vec![r],
        })
        .collect();
    let slots = lower_slots(func);
    let mut same = Replacements::new(func);
    for block in &mut func.blocks {
        block.params = rows.expand(&block.params);
        block.insts = std::mem::take(&mut block.insts)
            .into_iter()
            .flat_map(|i| lower_inst(i, &rows, &slots, &mut same))
            .collect();
        match &mut block.term {
            crate::Terminator::Return(values) => *values = rows.expand(values),
            term => term.targets_mut().for_each(|t| t.args = rows.expand(&t.args)),
        }
    }
    same.apply(func);
    matrices.len()
}

/// The rows of each matrix value; `None` for values of other types.
struct Rows(Vec<Option<[Value; ROWS]>>);

impl Rows {
    fn get(&self, value: Value) -> Option<[Value; ROWS]> {
        self.0.get(value.0 as usize).copied().flatten()
    }

    /// The list with rows in place of matrices.
    fn expand(&self, values: &[Value]) -> Vec<Value> {
        values.iter().flat_map(|&v| self.get(v).map_or_else(|| vec![v], Vec::from)).collect()
    }
}

/// Replaces slots of matrices by four slots, one a row. Returns the new number of each slot, or of
/// its first row.
fn lower_slots(func: &mut Function) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(func.slots.len());
    let mut slots = Vec::new();
    for slot in std::mem::take(&mut func.slots) {
        numbers.push(slots.len() as u32);
        match slot.ty {
            Type::Mat4 => slots.extend(row_names(&slot.name).map(|name| Slot { name, ty: Type::Vec4, len: slot.len })),
            _ => slots.push(slot),
        }
    }
    func.slots = slots;
    numbers
}

/// The instructions that an instruction becomes. Rows that another value holds already are noted in
/// `same`.
fn lower_inst(mut inst: Inst, rows: &Rows, slots: &[u32], same: &mut Replacements) -> Vec<Inst> {
    if let Op::SlotLoad(s) | Op::SlotStore(s) | Op::Visible(s) = &mut inst.op {
        *s = SlotId(slots[s.0 as usize]);
    }
    let result = inst.results.first().and_then(|&r| rows.get(r));
    let operands: Vec<Option<[Value; ROWS]>> = inst.args.iter().map(|&a| rows.get(a)).collect();
    let loc = inst.loc;
    let make = |op: Op, args: Vec<Value>, results: Vec<Value>| Inst { op, args, results, loc };
    match (&inst.op, result, &operands[..]) {
        (Op::Const(c), Some(result), _) => {
            let parts = rows_of(c).into_iter().flatten().zip(result);
            parts.map(|(c, r)| make(Op::Const(c), vec![], vec![r])).collect()
        }
        (Op::Compose, Some(result), _) => {
            result.into_iter().zip(&inst.args).for_each(|(row, &arg)| same.set(row, arg));
            vec![]
        }
        (Op::Extract(row), None, [Some(matrix)]) => {
            same.set(inst.results[0], matrix[usize::from(*row) % ROWS]);
            vec![]
        }
        (Op::Select, Some(result), [_, Some(a), Some(b)]) => {
            let condition = inst.args[0];
            let row = |k: usize| make(Op::Select, vec![condition, a[k], b[k]], vec![result[k]]);
            (0..ROWS).map(row).collect()
        }
        (Op::SlotLoad(first), Some(result), _) => {
            let load = |(k, row)| make(Op::SlotLoad(SlotId(first.0 + k)), vec![inst.args[0]], vec![row]);
            (0..).zip(result).map(load).collect()
        }
        (Op::SlotStore(first), _, [_, Some(matrix)]) => {
            let store = |(k, &row)| make(Op::SlotStore(SlotId(first.0 + k)), vec![inst.args[0], row], vec![]);
            (0..).zip(matrix).map(store).collect()
        }
        (Op::Debug(name), _, [Some(matrix)]) => {
            let parts = row_names(name).into_iter().zip(matrix);
            parts.map(|(name, &row)| make(Op::Debug(name), vec![row], vec![])).collect()
        }
        _ => {
            inst.args = rows.expand(&inst.args);
            inst.results = rows.expand(&inst.results);
            vec![inst]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_module, module};
    use super::*;
    use crate::{EmptyWorld, Limits, eval};

    #[test]
    fn signatures_calls_and_block_parameters_take_rows() {
        check_module(
            lower,
            "fn f(v0 m: mat4, v1 c: bool) -> (return: mat4) {
b0:
  v2: mat4 = call f(v0, v1)
  br v1, b1(v0), b1(v2)
b1(v3: mat4):
  ret v3
}",
            "fn f(v4 m.0: vec4, v5 m.1: vec4, v6 m.2: vec4, v7 m.3: vec4, v1 c: bool) -> (return.0: vec4, return.1: vec4, return.2: vec4, return.3: vec4) {
b0:
  v8: vec4, v9: vec4, v10: vec4, v11: vec4 = call f(v4, v5, v6, v7, v1)
  br v1, b1(v4, v5, v6, v7), b1(v8, v9, v10, v11)
b1(v12: vec4, v13: vec4, v14: vec4, v15: vec4):
  ret v12, v13, v14, v15
}",
        );
    }

    #[test]
    fn matrices_that_are_made_and_taken_apart_leave_nothing() {
        check_module(
            lower,
            "fn f(v0 a: vec4, v1 b: vec4) -> (return: vec4) {
b0:
  v2: mat4 = compose v0, v1, v1, v0
  v3: vec4 = extract.x v2
  v4: mat4 = compose v3, v3, v3, v1
  v5: vec4 = extract.z v4
  v6: vec4 = extract.w v4
  v7: vec4 = add v5, v6
  ret v7
}",
            "fn f(v0 a: vec4, v1 b: vec4) -> (return: vec4) {
b0:
  v7: vec4 = add v0, v1
  ret v7
}",
        );
    }

    /// Makes, chooses, stores and loads matrices; gives a row of each kind.
    const EVERYTHING: &str = "fn f(v0 m: mat4, v1 c: bool, v2 i: u32) -> (p: vec4, q: mat4) {
  slot s0 pad: f32[2]
  slot s1 a: mat4[3]
  slot s2 b: f32[1]
b0:
  v3: mat4 = const (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0)
  v4: mat4 = select v1, v0, v3
  debug m, v4
  slot_store s1, v2, v4
  v5: u32 = const 1
  v6: mat4 = slot_load s1, v5
  v7: vec4 = extract.y v6
  v8: f32 = extract.x v7
  slot_store s2, v5, v8
  v9: vec4 = extract.w v4
  v10: vec4 = add v7, v9
  ret v10, v6
}
fn unused(v0 m: mat4) {
b0:
  ret
b1:
  v1: mat4 = compose v2, v2, v2, v2
  v2: vec4 = extract.x v1
  jump b1
}";

    #[test]
    fn a_lowered_module_gives_what_the_matrices_gave() {
        let original = module(EVERYTHING);
        let mut lowered = original.clone();
        assert!(lower(&mut lowered) > 0);
        crate::verify(&lowered).expect("it keeps the rules");
        assert!(!lowered.to_string().contains("mat4"));
        assert_eq!(lower(&mut lowered), 0);
        let matrix = Const::Mat4(Box::new(std::array::from_fn(|i| 0.5 * i as f32)));
        for (c, i) in [(false, 0), (true, 1), (false, 1), (true, 7)] {
            let args = [matrix.clone(), Const::Bool(c), Const::U32(i)];
            let run = |m: &Module, args: &[Const]| eval(m, "f", args, &mut EmptyWorld, Limits::default());
            let expected = run(&original, &args).expect("it runs");
            assert_eq!(run(&lowered, &flatten(&args)).expect("it runs"), flatten(&expected));
        }
    }
}
