//! Unit-vector propagation: replaces `normalize` of a vector that is known to be normalized by the
//! vector.
//!
//! `normalize` gives a vector of length 1 only up to rounding, so normalizing it once more would
//! change last bits. The language leaves that open, and this module defines it: *`normalize` of a
//! vector that is known to be a result of `normalize` is that vector*. Negation, `select`,
//! variables, parameters and results of functions preserve the property where all values that reach
//! them have it. So do vectors that the program declares to have length 1 ([`library::is_unit`]).
//! The square of a vector that is a declared one, or may be, is 1; that of other results of
//! `normalize` is computed, as these are zero where their arguments are. The analysis sees the
//! program as it is linked, before any pass. Every back end and the evaluator run the module after
//! this step, and no choice of passes leaves it out: so it may
//! change bits, and passes may not. (Parker et al., "RTSL: a Ray Tracing Shading Language", 2007,
//! §4.3.2, propagate the attribute in the same way.)

use crate::abi::library;
use crate::builder::normalized;
use crate::{Const, Function, Inst, Module, Op, Terminator, Type, Value};
use std::collections::{HashMap, HashSet};

/// Replaces each `normalize` of a vector of unit length by the vector, and each square of one that
/// is declared so by 1. Returns how many there were.
pub fn propagate(module: &mut Module) -> usize {
    let candidates: Vec<Vec<Normalization>> = module.functions.iter().map(normalizations).collect();
    let declares = |f: &Function| f.blocks.iter().flat_map(|b| &b.insts).any(is_declaration);
    if candidates.iter().all(Vec::is_empty) && !module.functions.iter().any(declares) {
        return 0;
    }
    let units = Units::new(module, &candidates);
    let mut replaced = 0;
    for (f, (func, found)) in module.functions.iter_mut().zip(candidates).enumerate() {
        replaced += replace_squares(func, &units, f);
        for n in found {
            if !units.is_normalized(func, (f, n.of)) {
                continue;
            }
            // A choice between equals: the other values may be needed elsewhere, and are dead code
            // if not.
            let inst = &mut func.blocks[n.block].insts[n.position];
            inst.args = vec![inst.args[0], n.of, n.of];
            replaced += 1;
        }
    }
    replaced
}

/// Where a vector is normalized, by what [`normalize`](crate::FunctionBuilder::normalize) emits.
struct Normalization {
    /// The vector.
    of: Value,
    /// The unit vector.
    result: Value,
    block: usize,
    position: usize,
}

/// The normalizations of a function that change something.
fn normalizations(func: &Function) -> Vec<Normalization> {
    let mut defs: Vec<Option<&Inst>> = vec![None; func.values.len()];
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        inst.results.iter().for_each(|r| defs[r.0 as usize] = Some(inst));
    }
    let mut found = Vec::new();
    for (b, block) in func.blocks.iter().enumerate() {
        for (position, inst) in block.insts.iter().enumerate() {
            if let &[result] = &inst.results[..]
                && let Some(of) = normalized(inst, |v| defs[v.0 as usize])
            {
                found.push(Normalization { of, result, block: b, position });
            }
        }
    }
    found
}

/// A value of a function of the module.
type FunctionValue = (usize, Value);

/// True if an instruction declares that a vector has length 1.
fn is_declaration(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Call(name) if library::is_unit(name))
}

fn is_vector_type(ty: Type) -> bool {
    matches!(ty, Type::Vec2 | Type::Vec3 | Type::Vec4)
}

/// The facts that are known of the vectors of a module, by function and value.
struct Units {
    /// True if it has length 1 or 0 up to rounding.
    is_unit: Vec<Vec<bool>>,
    /// True if a vector that is declared to have length 1 flows into it.
    is_declared: Vec<Vec<bool>>,
}

impl Units {
    fn new(module: &Module, candidates: &[Vec<Normalization>]) -> Self {
        let (is_unit, flows) = unit_vectors(module, candidates);
        let mut is_declared: Vec<Vec<bool>> = is_unit.iter().map(|f| vec![false; f.len()]).collect();
        let functions = module.functions.iter().enumerate();
        let insts =
            functions.flat_map(|(f, func)| func.blocks.iter().flat_map(move |b| b.insts.iter().map(move |i| (f, i))));
        let declarations = insts.filter(|(_, inst)| is_declaration(inst));
        let mut work: Vec<FunctionValue> =
            declarations.flat_map(|(f, inst)| inst.results.iter().map(move |&r| (f, r))).collect();
        while let Some(place) = work.pop() {
            if !std::mem::replace(&mut is_declared[place.0][place.1.0 as usize], true) {
                work.extend(flows.get(&place).into_iter().flatten().copied());
            }
        }
        Self { is_unit, is_declared }
    }

    /// True if a vector is not normalized again. Those of two and four components are only where
    /// the program declares them.
    fn is_normalized(&self, func: &Function, (f, value): FunctionValue) -> bool {
        let i = value.0 as usize;
        self.is_unit[f][i] && (func.ty(value) == Type::Vec3 || self.is_declared[f][i])
    }

    /// True if the square of a vector is 1.
    fn has_square(&self, (f, value): FunctionValue) -> bool {
        let i = value.0 as usize;
        self.is_unit[f][i] && self.is_declared[f][i]
    }
}

/// Replaces dot products of declared unit vectors with themselves.
fn replace_squares(func: &mut Function, units: &Units, f: usize) -> usize {
    let mut sources: HashMap<Value, (Value, bool)> = HashMap::new();
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        match (&inst.op, &inst.args[..], &inst.results[..]) {
            (Op::Neg, &[of], &[r]) => sources.insert(r, (of, true)),
            (_, &[of], &[r]) if is_declaration(inst) => sources.insert(r, (of, false)),
            _ => None,
        };
    }
    let root = |mut value: Value| {
        let mut is_negative = false;
        while let Some(&(of, negated)) = sources.get(&value) {
            (value, is_negative) = (of, is_negative != negated);
        }
        (value, is_negative)
    };
    let mut replaced = 0;
    for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        let (Op::Dot, &[a, b]) = (&inst.op, &inst.args[..]) else { continue };
        let (first, second) = (root(a), root(b));
        if first.0 == second.0 && [a, b].into_iter().any(|v| units.has_square((f, v))) {
            let square = if first.1 == second.1 { 1.0 } else { -1.0 };
            (inst.op, inst.args) = (Op::Const(Const::F32(square)), Vec::new());
            replaced += 1;
        }
    }
    replaced
}

/// Where values flow.
type Flows = HashMap<FunctionValue, Vec<FunctionValue>>;

/// For each function and value, whether it is a vector of length 1 or 0 up to rounding. All vectors
/// that may be are believed to be, until one that is not flows into them: each value is taken back
/// once.
fn unit_vectors(module: &Module, candidates: &[Vec<Normalization>]) -> (Vec<Vec<bool>>, Flows) {
    let index = module.index();
    let has_entries = module.functions.iter().any(|f| f.kind.is_entry());
    let mut is_unit: Vec<Vec<bool>> =
        module.functions.iter().map(|f| f.values.iter().map(|&ty| is_vector_type(ty)).collect()).collect();
    let mut flows = Flows::new();
    let mut work: Vec<FunctionValue> = Vec::new();
    for (f, func) in module.functions.iter().enumerate() {
        let mut flow = |from: FunctionValue, to: FunctionValue| flows.entry(from).or_default().push(to);
        let is_vector = |v: Value| is_vector_type(func.ty(v));
        // Anyone may call an entry; without entries, any function.
        if func.kind.is_entry() || !has_entries {
            work.extend(func.param_values().iter().map(|&p| (f, p)));
        }
        let normalized: HashSet<Value> = candidates[f].iter().map(|n| n.result).collect();
        for block in &func.blocks {
            for target in block.term.targets() {
                let params = &func.block(target.block).params;
                params
                    .iter()
                    .zip(&target.args)
                    .filter(|(p, _)| is_vector(**p))
                    .for_each(|(&p, &a)| flow((f, a), (f, p)));
            }
            for inst in &block.insts {
                match (&inst.op, &inst.results[..]) {
                    (Op::Select, [r]) if normalized.contains(r) => {}
                    (Op::Select, &[r]) if is_vector(r) => inst.args[1..].iter().for_each(|&a| flow((f, a), (f, r))),
                    (Op::Neg, &[r]) if is_vector(r) => flow((f, inst.args[0]), (f, r)),
                    (Op::Call(name), _) if library::is_unit(name) => {}
                    (Op::Call(name), results) => match index.get(name) {
                        Some(&callee) => call(module, (f, &inst.args, results), callee, &mut flow),
                        None => work.extend(results.iter().map(|&r| (f, r))),
                    },
                    (_, results) => work.extend(results.iter().map(|&r| (f, r))),
                }
            }
        }
    }
    while let Some(place) = work.pop() {
        let (f, value) = place;
        if std::mem::replace(&mut is_unit[f][value.0 as usize], false) {
            work.extend(flows.get(&place).into_iter().flatten().copied());
        }
    }
    (is_unit, flows)
}

/// Calls `flow` for the values that flow into a callee and back.
fn call(
    module: &Module,
    (f, args, results): (usize, &[Value], &[Value]),
    callee: usize,
    flow: &mut impl FnMut(FunctionValue, FunctionValue),
) {
    let func = &module.functions[callee];
    for (&arg, &param) in args.iter().zip(func.param_values()) {
        flow((f, arg), (callee, param));
    }
    for block in &func.blocks {
        if let Terminator::Return(values) = &block.term {
            values.iter().zip(results).for_each(|(&v, &r)| flow((callee, v), (f, r)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::module;
    use super::propagate;
    use crate::passes::Pipeline;

    /// `normalize` of a value, as [`crate::FunctionBuilder::normalize`] emits it; the result is
    /// `v{base+5}`.
    fn normalize(base: u32, of: &str) -> String {
        let v = |i: u32| format!("v{}", base + i);
        format!(
            "  {sq}: f32 = dot {of}, {of}
  {test}: bool = eq {sq}, v1
  {root}: f32 = rsq {sq}
  {inverse}: vec3 = splat {root}
  {unit}: vec3 = mul {of}, {inverse}
  {result}: vec3 = select {test}, {of}, {unit}\n",
            sq = v(0),
            test = v(1),
            root = v(2),
            inverse = v(3),
            unit = v(4),
            result = v(5),
        )
    }

    /// How many roots the program takes when all is done.
    fn roots(text: &str) -> usize {
        let mut m = module(text);
        Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
        m.to_string().matches("rsq").count()
    }

    #[test]
    fn normalizing_twice_is_normalizing_once() {
        let text = format!(
            "entry f(v0 a: vec3) -> (return: vec3) {{\nb0:\n  v1: f32 = const 0.0\n{}{}  ret v15\n}}",
            normalize(2, "v0"),
            normalize(10, "v7")
        );
        let mut m = module(&text);
        assert_eq!(propagate(&mut m), 1);
        assert_eq!(propagate(&mut m), 0, "a second run finds nothing\n{m}");
        assert_eq!(roots(&text), 1);
    }

    #[test]
    fn unit_length_goes_through_variables_signs_and_functions() {
        // `faceforward(normalize(n), i)`, normalized in a function that gets nothing else.
        let text = |argument: &str| {
            format!(
                "fn turn(v0 n: vec3, v2 c: bool) -> (return: vec3) {{
b0:
  br v2, b1, b2(v0)
b1:
  v3: vec3 = neg v0
  jump b2(v3)
b2(v4: vec3):
  ret v4
}}
fn use(v0 n: vec3) -> (return: vec3) {{
b0:
  v1: f32 = const 0.0
{}  ret v7
}}
entry f(v0 a: vec3, v9 c: bool) -> (return: vec3) {{
b0:
  v1: f32 = const 0.0
{}  v20: vec3 = call turn({argument}, v9)
  v21: vec3 = call use(v20)
  ret v21
}}",
                normalize(2, "v0"),
                normalize(10, "v0"),
            )
        };
        assert_eq!(propagate(&mut module(&text("v15"))), 1);
        assert_eq!(propagate(&mut module(&text("v0"))), 0);
        assert_eq!(roots(&text("v15")), 1);
    }

    #[test]
    fn parameters_of_functions_that_anyone_may_call_may_be_anything() {
        let text = |kind: &str| {
            format!(
                "{kind} f(v0 a: vec3) -> (return: vec3) {{\nb0:\n  v1: f32 = const 0.0\n{}  ret v7\n}}",
                normalize(2, "v0")
            )
        };
        assert_eq!(propagate(&mut module(&text("fn"))), 0);
        assert_eq!(propagate(&mut module(&text("entry"))), 0);
    }

    #[test]
    fn a_loop_that_turns_a_unit_vector_keeps_its_length_and_one_that_changes_it_does_not() {
        let text = |change: &str| {
            format!(
                "entry f(v0 a: vec3, v9 c: bool) -> (return: vec3) {{
b0:
  v1: f32 = const 0.0
{}  jump b1(v15)
b1(v20: vec3):
{}  v30: vec3 = {change}
  br v9, b1(v30), b2
b2:
  ret v26
}}",
                normalize(10, "v0"),
                normalize(21, "v20"),
            )
        };
        assert_eq!(propagate(&mut module(&text("neg v20"))), 1);
        assert_eq!(propagate(&mut module(&text("add v20, v0"))), 0);
    }
}
