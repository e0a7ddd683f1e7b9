//! Checks that a module keeps the rules of the IR: what every pass may rely on and must preserve.
//!
//! Checked are: operand and result counts and types of every instruction, single definition,
//! dominance of uses, arguments of jumps, results of returns, entry parameters, slots, and calls
//! against the callee when the module holds it. Unreachable blocks are checked too, except for
//! dominance.

use super::dominators::Dominators;
use super::{Block, BlockId, Function, Inst, Loc, Module, Op, SlotId, Target, Terminator, Type, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A broken rule, with its place in the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct VerifyError {
    /// The function.
    pub function: Arc<str>,
    /// The block, when the error lies in one.
    pub block: Option<BlockId>,
    /// The instruction as text, or what else is meant.
    pub what: String,
    /// Where it comes from.
    pub loc: Loc,
    /// The rule that is broken.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`", self.function)?;
        if let Some(b) = self.block {
            write!(f, ", {b}")?;
        }
        write!(f, ", `{}`: {}", self.what, self.message)
    }
}

/// Types of the parameters and results of a function.
type Signature = (Vec<Type>, Vec<Type>);

/// Checks a module.
///
/// # Errors
/// All broken rules, in order.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    let mut signatures: HashMap<&str, Signature> = HashMap::new();
    for f in &module.functions {
        let params = f.params.iter().map(|p| p.ty).collect();
        let results = f.results.iter().map(|r| r.ty).collect();
        if signatures.insert(&f.name, (params, results)).is_some() {
            Checker::new(f, &signatures, &mut errors).error(None, "function", f.loc, "its name is taken");
        }
    }
    for f in &module.functions {
        Checker::new(f, &signatures, &mut errors).function();
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

struct Checker<'a> {
    func: &'a Function,
    signatures: &'a HashMap<&'a str, Signature>,
    errors: &'a mut Vec<VerifyError>,
    /// Block and position of each value's definition: 0 for a block parameter, else 1 plus the
    /// instruction's index.
    defs: Vec<Option<(BlockId, u32)>>,
}

impl<'a> Checker<'a> {
    fn new(func: &'a Function, signatures: &'a HashMap<&str, Signature>, errors: &'a mut Vec<VerifyError>) -> Self {
        Self { func, signatures, errors, defs: vec![None; func.values.len()] }
    }

    fn error(&mut self, block: Option<BlockId>, what: impl Into<String>, loc: Loc, message: impl Into<String>) {
        let (what, message) = (what.into(), message.into());
        self.errors.push(VerifyError { function: self.func.name.clone(), block, what, loc, message });
    }

    fn function(&mut self) {
        let func = self.func;
        let whole = |c: &mut Self, message: String| c.error(None, "function", func.loc, message);
        let Some(entry) = func.blocks.first() else { return whole(self, "it has no blocks".into()) };
        let before = self.errors.len();
        if entry.params.len() != func.params.len() {
            whole(self, format!("{} parameters but {} values for them", func.params.len(), entry.params.len()));
        }
        for (p, v) in func.params.iter().zip(&entry.params) {
            if func.values.get(v.0 as usize).is_some_and(|&t| t != p.ty) {
                whole(self, format!("parameter `{}` is {} but its value {v} is not", p.name, p.ty));
            }
        }
        for (i, s) in func.slots.iter().enumerate().filter(|(_, s)| s.len == 0) {
            whole(self, format!("slot s{i} `{}` has no elements", s.name));
        }
        self.define_all();
        for id in func.block_ids() {
            let block = func.block(id);
            for inst in &block.insts {
                self.inst(id, inst);
            }
            self.terminator(id, block);
        }
        // Dominance means something only where blocks and values exist.
        if self.errors.len() == before {
            self.dominance();
        }
    }

    fn define_all(&mut self) {
        let func = self.func;
        for id in func.block_ids() {
            let block = func.block(id);
            for &p in &block.params {
                self.define(p, (id, 0), Loc::NONE);
            }
            for (i, inst) in block.insts.iter().enumerate() {
                for &r in &inst.results {
                    self.define(r, (id, i as u32 + 1), inst.loc);
                }
            }
        }
    }

    fn define(&mut self, value: Value, at: (BlockId, u32), loc: Loc) {
        match self.defs.get_mut(value.0 as usize) {
            None => self.error(Some(at.0), value.to_string(), loc, "the function has no such value"),
            Some(def) => {
                if def.replace(at).is_some() {
                    self.error(Some(at.0), value.to_string(), loc, "it is defined twice");
                }
            }
        }
    }

    /// Types of the operands; `None` after reporting one that does not exist.
    fn types_of(&mut self, block: BlockId, what: &dyn Fn() -> String, loc: Loc, args: &[Value]) -> Option<Vec<Type>> {
        let mut types = Vec::with_capacity(args.len());
        for &a in args {
            match self.defs.get(a.0 as usize) {
                Some(Some(_)) => types.push(self.func.ty(a)),
                _ => {
                    self.error(Some(block), what(), loc, format!("{a} is used but not defined"));
                    return None;
                }
            }
        }
        Some(types)
    }

    fn inst(&mut self, block: BlockId, inst: &Inst) {
        let (func, loc) = (self.func, inst.loc);
        let text: &dyn Fn() -> String = &|| super::print::inst_text(func, inst);
        let Some(args) = self.types_of(block, text, loc, &inst.args) else { return };
        if inst.results.iter().any(|r| r.0 as usize >= func.values.len()) {
            return;
        }
        let results: Vec<Type> = inst.results.iter().map(|&r| func.ty(r)).collect();
        if let Err(message) = self.check_op(&inst.op, &args, &results) {
            self.error(Some(block), text(), loc, message);
        }
    }

    fn check_op(&self, op: &Op, args: &[Type], results: &[Type]) -> Result<(), String> {
        self.check_operands(op, args, results)?;
        match op.result_types(args) {
            Some(expected) if expected != results => {
                Err(format!("its results are ({}) but should be ({})", list(results), list(&expected)))
            }
            _ => Ok(()),
        }
    }

    /// The rules of each operation (see [`Op`]); results of operations that do not determine them
    /// are checked here too.
    fn check_operands(&self, op: &Op, args: &[Type], results: &[Type]) -> Result<(), String> {
        let wanted = |what: &str| Err(format!("its operands are ({}) but should be {what}", list(args)));
        let one_result = |ok: &dyn Fn(Type) -> bool, what: &str| match results {
            [r] if ok(*r) => Ok(()),
            _ => Err(format!("its results are ({}) but should be {what}", list(results))),
        };
        let is_float = |t: Type| t.lanes().is_some();
        use Type::*;
        match op {
            Op::Const(_) | Op::Uniform(_) | Op::Hit | Op::HitTri | Op::HitObj => match args {
                [] => Ok(()),
                _ => wanted("none"),
            },
            Op::Neg | Op::Abs | Op::Rcp | Op::Rsq | Op::Sqrt | Op::Frac | Op::Floor | Op::Sat | Op::Du | Op::Dv => {
                match args {
                    [a] if is_float(*a) => Ok(()),
                    _ => wanted("one f32 or vector"),
                }
            }
            Op::Add | Op::Sub | Op::Mul | Op::Min | Op::Max => match args {
                [a, b] if is_float(*a) && a == b => Ok(()),
                _ => wanted("two f32 or vectors of one type"),
            },
            Op::Seed => match args {
                [a, b, c] if is_float(*a) && a == b && a == c => Ok(()),
                _ => wanted("three f32 or vectors of one type"),
            },
            Op::Dot => match args {
                [a, b] if is_float(*a) && *a != F32 && a == b => Ok(()),
                _ => wanted("two vectors of one type"),
            },
            Op::Cross => match args {
                [Vec3, Vec3] => Ok(()),
                _ => wanted("two vec3"),
            },
            Op::Compose => match args {
                [_, _, ..] if args.len() <= 4 && args.iter().all(|&a| a == F32) => Ok(()),
                [Vec4, Vec4, Vec4, Vec4] => Ok(()),
                _ => wanted("two to four f32, or four vec4"),
            },
            Op::Splat => match args {
                [F32] => one_result(&|r| is_float(r) && r != F32, "one vector"),
                _ => wanted("one f32"),
            },
            Op::Extract(c) => match args {
                [a] if *a != F32 && a.lanes().is_some_and(|n| (*c as u32) < n) => Ok(()),
                [Mat4] if *c < 4 => Ok(()),
                _ => wanted("one vector with that component"),
            },
            Op::Insert(c) => match args {
                [a, F32] if *a != F32 && a.lanes().is_some_and(|n| (*c as u32) < n) => Ok(()),
                _ => wanted("a vector with that component and an f32"),
            },
            Op::Lt | Op::Le | Op::Eq | Op::Ne => match args {
                [F32, F32] => Ok(()),
                _ => wanted("two f32"),
            },
            Op::IAdd | Op::ISub | Op::IMul | Op::IAnd | Op::IOr | Op::IXor | Op::IShl | Op::IShr | Op::ILt => {
                match args {
                    [a, b] if a.is_integer() && a == b => Ok(()),
                    _ => wanted("two i32 or two u32"),
                }
            }
            Op::IReverse => match args {
                [a] if a.is_integer() => Ok(()),
                _ => wanted("one i32 or u32"),
            },
            Op::IEq => match args {
                [a, b] if a == b && (a.is_integer() || matches!(a, String | Ref | Bool)) => Ok(()),
                _ => wanted("two integers, strings, addresses or bools of one type"),
            },
            Op::Not => match args {
                [Bool] => Ok(()),
                _ => wanted("one bool"),
            },
            Op::And | Op::Or => match args {
                [Bool, Bool] => Ok(()),
                _ => wanted("two bools"),
            },
            Op::Select => match args {
                [Bool, a, b] if a == b => Ok(()),
                _ => wanted("a bool and two values of one type"),
            },
            Op::ToInt => match args {
                [F32] => one_result(&Type::is_integer, "one integer"),
                _ => wanted("one f32"),
            },
            Op::ToFloat => match args {
                [a] if a.is_integer() => Ok(()),
                _ => wanted("one integer"),
            },
            Op::Bitcast => match args {
                [a] if a.words() == 1 => {
                    one_result(&|r| r.words() == 1 && r != Bool, "one value of one word, not bool")
                }
                _ => wanted("one value of one word"),
            },
            Op::SlotLoad(s) => match (self.slot(*s)?, args) {
                (ty, [U32]) => one_result(&|r| r == ty, "one element of the slot"),
                _ => wanted("one u32"),
            },
            Op::SlotStore(s) => match (self.slot(*s)?, args) {
                (ty, [U32, a]) if *a == ty => Ok(()),
                _ => wanted("a u32 and an element of the slot"),
            },
            Op::Visible(s) => match (self.slot(*s)?, args) {
                (Vec4, [Vec3, U32]) => Ok(()),
                (Vec4, _) => wanted("a vec3 and a u32"),
                _ => Err("its slot is not of vec4".into()),
            },
            Op::Load(_) => match args {
                [Ref] => Ok(()),
                _ => wanted("one address"),
            },
            Op::Trace | Op::Occluded => match args {
                [Vec3, Vec3, Vec4] => Ok(()),
                _ => wanted("vec3, vec3, vec4"),
            },
            Op::CallShader(call) if args == call.params() => Ok(()),
            Op::CallShader(call) => wanted(&list(call.params())),
            Op::Debug(_) => match args {
                [_] => Ok(()),
                _ => wanted("one value"),
            },
            Op::Record => match args {
                [_, ..] if args.iter().all(|&a| a == U32) => Ok(()),
                _ => wanted("u32, one at least"),
            },
            Op::Call(name) | Op::ForcedCall(name) => match self.signatures.get(&**name) {
                Some((params, _)) if params != args => wanted(&format!("({}) for `{name}`", list(params))),
                Some((_, r)) if r != results => {
                    Err(format!("its results are ({}) but `{name}` gives ({})", list(results), list(r)))
                }
                _ => Ok(()),
            },
        }
    }

    fn slot(&self, slot: SlotId) -> Result<Type, String> {
        let slot = self.func.slots.get(slot.0 as usize);
        slot.map(|s| s.ty).ok_or_else(|| "the function has no such slot".to_string())
    }

    fn terminator(&mut self, id: BlockId, block: &Block) {
        let loc = block.term_loc;
        let func = self.func;
        match &block.term {
            Terminator::Jump(t) => self.target(id, "jump", loc, t),
            Terminator::Branch(c, t, e) => {
                let condition = self.types_of(id, &|| "br".into(), loc, &[*c]);
                if condition.is_some_and(|t| t != [Type::Bool]) {
                    self.error(Some(id), "br", loc, format!("{c} is not a bool"));
                }
                self.target(id, "br", loc, t);
                self.target(id, "br", loc, e);
            }
            Terminator::Return(values) => {
                let expected: Vec<Type> = func.results.iter().map(|r| r.ty).collect();
                let types = self.types_of(id, &|| "ret".into(), loc, values);
                if let Some(types) = types.filter(|t| *t != expected) {
                    let message = format!("it returns ({}) but should return ({})", list(&types), list(&expected));
                    self.error(Some(id), "ret", loc, message);
                }
            }
        }
    }

    fn target(&mut self, id: BlockId, what: &str, loc: Loc, target: &Target) {
        let func = self.func;
        let to = target.block;
        if to == BlockId(0) {
            return self.error(Some(id), what, loc, "nothing may jump to the entry");
        }
        let Some(block) = func.blocks.get(to.0 as usize) else {
            return self.error(Some(id), what, loc, format!("there is no block {to}"));
        };
        let Some(types) = self.types_of(id, &|| what.to_string(), loc, &target.args) else { return };
        let expected = block.params.iter().map(|p| func.values.get(p.0 as usize).copied());
        if !expected.clone().eq(types.iter().map(|&t| Some(t))) {
            let expected: Vec<Type> = expected.flatten().collect();
            let message = format!("it passes ({}) to {to}, whose parameters are ({})", list(&types), list(&expected));
            self.error(Some(id), what, loc, message);
        }
    }

    fn dominance(&mut self) {
        let func = self.func;
        let tree = Dominators::new(func);
        for &id in tree.order() {
            let block = func.block(id);
            for (i, inst) in block.insts.iter().enumerate() {
                for &a in &inst.args {
                    if !self.is_defined_before(&tree, a, (id, i as u32 + 1)) {
                        let text = super::print::inst_text(func, inst);
                        self.error(
                            Some(id),
                            text,
                            inst.loc,
                            format!("the definition of {a} does not dominate this use"),
                        );
                    }
                }
            }
            let mut late = Vec::new();
            block.term.for_each_arg(|a| {
                if !self.is_defined_before(&tree, a, (id, u32::MAX)) {
                    late.push(a);
                }
            });
            for a in late {
                let message = format!("the definition of {a} does not dominate this use");
                self.error(Some(id), "terminator", block.term_loc, message);
            }
        }
    }

    fn is_defined_before(&self, tree: &Dominators, value: Value, (block, position): (BlockId, u32)) -> bool {
        match self.defs[value.0 as usize] {
            Some((b, p)) if b == block => p < position,
            Some((b, _)) => tree.dominates(b, block),
            None => false,
        }
    }
}

fn list(types: &[Type]) -> String {
    types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;

    fn messages(text: &str) -> Vec<String> {
        let module = crate::parse(text, FileId(0)).expect("the text form is right");
        verify(&module).err().unwrap_or_default().iter().map(VerifyError::to_string).collect()
    }

    #[test]
    fn a_right_program_passes() {
        let text = "fn f(v0 x: f32) -> (return: f32) {\n slot s0 a: vec4[2]\nb0:\n v1: u32 = const 1\n v2: vec4 = slot_load s0, v1
            v3: f32 = extract.w v2\n v4: bool = lt v0, v3\n br v4, b1(v0), b1(v3)\nb1(v5: f32):\n v6: f32 = call f(v5)\n ret v6\n}";
        assert_eq!(messages(text), [""; 0]);
    }

    #[test]
    fn every_kind_of_wrong_operand_or_result_is_named() {
        let cases = [
            ("v9: f32 = add v0, v1", "its operands are (f32, vec3) but should be two f32 or vectors of one type"),
            ("v9: f32 = neg v1", "its results are (f32) but should be (vec3)"),
            ("v9: f32 = dot v0, v0", "its operands are (f32, f32) but should be two vectors of one type"),
            ("v9: vec2 = compose v0", "its operands are (f32) but should be two to four f32, or four vec4"),
            ("v9: f32 = extract.w v1", "its operands are (vec3) but should be one vector with that component"),
            ("v9: i32 = iadd v0, v0", "its operands are (f32, f32) but should be two i32 or two u32"),
            ("v9: bool = bitcast v0", "its results are (bool) but should be one value of one word, not bool"),
            ("v9: f32 = slot_load s4, v2", "the function has no such slot"),
            ("slot_store s0, v2, v1", "its operands are (u32, vec3) but should be a u32 and an element of the slot"),
            ("v9: u32 = visible s0, v1, v2", "its slot is not of vec4"),
            ("v9: vec4 = load v2, 1", "its operands are (u32) but should be one address"),
            ("v9: vec3 = call_shader v1, v1, v0", "its results are (vec3) but should be (vec3, vec3)"),
            ("v9: f32 = call f(v0)", "its operands are (f32) but should be (f32, vec3, u32) for `f`"),
            ("v9: vec3 = call f(v0, v1, v2)", "its results are (vec3) but `f` gives (f32)"),
        ];
        for (line, message) in cases {
            let text = format!(
                "fn f(v0 x: f32, v1 y: vec3, v2 i: u32) -> (return: f32) {{\n slot s0 a: f32[2]\nb0:\n {line}\n ret v0\n}}"
            );
            assert_eq!(messages(&text), [format!("in `f`, b0, `{line}`: {message}")]);
        }
    }

    #[test]
    fn a_use_that_its_definition_does_not_dominate_is_an_error() {
        let text = "fn f(v0 c: bool) -> (return: f32) {\nb0:\n br v0, b1, b2\nb1:\n v1: f32 = const 1.0\n jump b2\nb2:\n ret v1\n}";
        assert_eq!(messages(text), ["in `f`, b2, `terminator`: the definition of v1 does not dominate this use"]);
        let text = "fn f() -> (return: f32) {\nb0:\n v1: f32 = neg v0\n v0: f32 = const 1.0\n ret v1\n}";
        assert_eq!(messages(text), ["in `f`, b0, `v1: f32 = neg v0`: the definition of v0 does not dominate this use"]);
    }

    #[test]
    fn jumps_and_returns_pass_what_is_expected() {
        let text = "fn f(v0 x: f32) -> (return: vec3) {\nb0:\n br v0, b1(v0), b0\nb1:\n ret v0\n}";
        assert_eq!(
            messages(text),
            [
                "in `f`, b0, `br`: v0 is not a bool",
                "in `f`, b0, `br`: it passes (f32) to b1, whose parameters are ()",
                "in `f`, b0, `br`: nothing may jump to the entry",
                "in `f`, b1, `ret`: it returns (f32) but should return (vec3)",
            ]
        );
    }
}
