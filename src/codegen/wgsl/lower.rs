//! Lowers the body of one IR function to naga statements, through the structurizer.
//!
//! A value is a naga expression where it is defined, which nested blocks see. A value that is used
//! where its definition is not seen (after a loop that defines it) goes through a local variable,
//! as block parameters do. Constants are written where they are used, and what computes from
//! constants alone is folded, since WGSL refuses constant expressions that overflow.

use super::Error;
use super::coalesce::shared_variables;
use super::code::{Code, Expr};
use super::kit::Kit;
use super::native;
use super::ops;
use super::program::{Trap, TrapCode};
use naga::{BinaryOperator as Bin, Block, Expression, Handle, MathFunction, Statement, SwitchCase, SwitchValue};
use shadewright_ir::fold::eval_op;
use shadewright_ir::passes::reducible::make_reducible;
use shadewright_ir::structurize::{Stmt, structurize};
use shadewright_ir::{BlockId, Const, Function, Inst, Loc, Op, SlotId, Terminator, Type, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The locations that traps name.
#[derive(Default)]
pub(super) struct Locations {
    pub list: Vec<Loc>,
    index: HashMap<Loc, u32>,
}

impl Locations {
    /// The word that records a trap at a location.
    pub fn trap(&mut self, code: TrapCode, loc: Loc) -> u32 {
        let location = *self.index.entry(loc).or_insert_with(|| {
            self.list.push(loc);
            self.list.len() as u32 - 1
        });
        Trap { code, location }.word()
    }
}

/// The target of a call after lowering.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    /// A call of a function that was lowered already.
    Lowered {
        /// The function in the module.
        function: Handle<naga::Function>,
        /// Calls that a call of it makes, itself included, if no loop repeats one.
        calls: u32,
    },
    /// The GPU's own function of one float.
    Native(MathFunction),
    /// A function of the text around a generated one ([`super::fill`]).
    Surrounding(Handle<naga::Function>),
}

impl Callee {
    /// Calls that a call of it makes, itself included, if no loop repeats one.
    pub fn calls(self) -> u32 {
        match self {
            Callee::Lowered { calls, .. } => calls,
            Callee::Native(_) | Callee::Surrounding(_) => 0,
        }
    }
}

/// A call that makes no more calls than this does not look at the budget: it ends soon, as its
/// loops do look.
const QUIET_CALLS: u32 = 64;

/// Functions that were lowered already.
pub(super) type Lowered = HashMap<Arc<str>, Callee>;

/// How a function ends, and what it does when the path must stop.
pub(super) trait Ending {
    /// Emits the end of the function with the values that it returns. The statement after it is
    /// never reached.
    fn finish(&self, lower: &mut Lower, values: &[Value]) -> Result<(), Error>;
    /// Emits the end of the function on a path that was stopped.
    fn stop(&self, code: &mut Code) -> Result<(), Error>;
    /// True if back edges and calls take from a budget.
    fn has_budget(&self) -> bool {
        true
    }
}

/// The lowering of one function.
pub(super) struct Lower<'a, 'k> {
    pub code: Code<'k>,
    pub locations: &'a mut Locations,
    func: &'a Function,
    lowered: &'a Lowered,
    ending: &'a dyn Ending,
    scopes: Scopes,
    /// The scopes open now, innermost last.
    open: Vec<u32>,
    constants: HashMap<Value, Const>,
    values: Vec<Option<Expr>>,
    /// The variable of a block parameter or of a value that is used where its definition is not
    /// seen.
    variables: HashMap<Value, Expr>,
    slots: Vec<Expr>,
    selector: Option<Expr>,
}

/// Makes each loop of a function have one entry, for [`lower_body`].
pub(super) fn prepare(func: &Function) -> Function {
    let mut func = func.clone();
    make_reducible(&mut func);
    func
}

/// Lowers a prepared function. `params` are the values of its parameters in `code`.
pub(super) fn lower_body(
    func: &Function,
    code: Code,
    params: &[Expr],
    lowered: &Lowered,
    locations: &mut Locations,
    ending: &dyn Ending,
) -> Result<naga::Function, Error> {
    let stmts = structurize(func);
    let scopes = Scopes::new(func, &stmts);
    let mut lower = Lower {
        code,
        locations,
        func,
        lowered,
        ending,
        scopes,
        open: Vec::new(),
        constants: HashMap::new(),
        values: vec![None; func.values.len()],
        variables: HashMap::new(),
        slots: Vec::new(),
        selector: None,
    };
    lower.declare(params)?;
    lower.list(&stmts)?;
    Ok(lower.code.finish())
}

impl Lower<'_, '_> {
    fn declare(&mut self, params: &[Expr]) -> Result<(), Error> {
        let func = self.func;
        for slot in &func.slots {
            let ty = self.code.kit.array_ty(slot.ty, slot.len)?;
            let local = self.code.local(format!("{}_slot", slot.name), ty);
            self.slots.push(local);
        }
        let by_jump = func.blocks.iter().skip(1).flat_map(|b| &b.params);
        let mut held: Vec<Value> = by_jump.copied().collect();
        held.extend(self.scopes.far.iter().copied());
        held.sort_unstable();
        held.dedup();
        held.retain(|v| self.scopes.block_of[v.0 as usize].is_some());
        let shared = shared_variables(func, &held);
        for v in held {
            let owner = shared[&v];
            let variable = match self.variables.get(&owner) {
                Some(&variable) => variable,
                None => {
                    let ty = self.code.kit.ty(func.ty(owner))?;
                    self.code.local(format!("v{}_held", owner.0), ty)
                }
            };
            self.variables.insert(owner, variable);
            self.variables.insert(v, variable);
        }
        for (&v, &expr) in func.param_values().iter().zip(params) {
            self.values[v.0 as usize] = Some(expr);
            if let Some(&variable) = self.variables.get(&v) {
                self.code.store(variable, expr);
            }
        }
        Ok(())
    }

    /// The constant that a value is known to be.
    pub fn constant(&self, value: Value) -> Option<&Const> {
        self.constants.get(&value)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// A value, as an expression that can be used here.
    pub fn get(&mut self, value: Value) -> Result<Expr, Error> {
        if let Some(c) = self.constants.get(&value) {
            let c = c.clone();
            return ops::constant(&mut self.code, &c);
        }
        let scope = self.scopes.index(value);
        if let (Some(expr), true) = (self.values[value.0 as usize], scope == 0 || self.open.contains(&scope)) {
            return Ok(expr);
        }
        let undefined = || Error::Internal(format!("`{}` uses v{} before it is defined", self.func.name, value.0));
        let variable = *self.variables.get(&value).ok_or_else(undefined)?;
        Ok(self.code.load(variable))
    }

    fn get_all(&mut self, values: &[Value]) -> Result<Vec<Expr>, Error> {
        values.iter().map(|&v| self.get(v)).collect()
    }

    // --- statements ---

    fn list(&mut self, stmts: &[Stmt]) -> Result<(), Error> {
        let scope = self.scopes.next();
        self.open.push(scope);
        for stmt in stmts {
            self.stmt(stmt)?;
        }
        self.open.pop();
        Ok(())
    }

    fn nested(&mut self, stmts: &[Stmt]) -> Result<Block, Error> {
        self.code.open();
        self.list(stmts)?;
        Ok(self.code.close())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Error> {
        match stmt {
            Stmt::Insts(block) => self.block(*block)?,
            Stmt::Pass { from, edge } => self.pass(*from, *edge)?,
            Stmt::Back(from) => {
                let loc = self.func.block(*from).term_loc;
                self.code.loc = loc;
                self.spend(if loc == Loc::NONE { self.func.loc } else { loc })?;
            }
            Stmt::If { block, then, otherwise } => {
                let Terminator::Branch(c, ..) = self.func.block(*block).term else {
                    return Err(Error::Internal("a condition without a branch".into()));
                };
                let loc = self.func.block(*block).term_loc;
                self.code.loc = loc;
                let mut condition = self.get(c)?;
                if then.is_empty() {
                    condition = self.code.not(condition);
                }
                let (mut accept, mut reject) = (self.nested(then)?, self.nested(otherwise)?);
                if then.is_empty() {
                    std::mem::swap(&mut accept, &mut reject);
                }
                self.code.loc = loc;
                self.code.stmt(Statement::If { condition, accept, reject });
            }
            Stmt::Once(body) => {
                // WGSL has no blocks that `break` leaves but a `switch`.
                let selector = self.code.u32(0);
                let body = self.nested(body)?;
                let cases = vec![SwitchCase { value: SwitchValue::Default, body, fall_through: false }];
                self.code.stmt(Statement::Switch { selector, cases });
            }
            Stmt::Loop(body) => {
                let body = self.nested(body)?;
                self.code.stmt(Statement::Loop { body, continuing: Block::new(), break_if: None });
            }
            Stmt::Break => self.code.stmt(Statement::Break),
            Stmt::Continue => self.code.stmt(Statement::Continue),
            Stmt::Return(block) => {
                let Terminator::Return(values) = &self.func.block(*block).term else {
                    return Err(Error::Internal("a return without values".into()));
                };
                self.code.loc = self.func.block(*block).term_loc;
                let ending = self.ending;
                ending.finish(self, values)?;
            }
            Stmt::Select(n) => {
                let selector = self.selector()?;
                let n = self.code.u32(*n);
                self.code.store(selector, n);
            }
            Stmt::Selected(n, then) => {
                let selector = self.selector()?;
                let (now, n) = (self.code.load(selector), self.code.u32(*n));
                let condition = self.code.binary(Bin::Equal, now, n);
                let accept = self.nested(then)?;
                self.code.stmt(Statement::If { condition, accept, reject: Block::new() });
            }
        }
        Ok(())
    }

    fn selector(&mut self) -> Result<Expr, Error> {
        if let Some(s) = self.selector {
            return Ok(s);
        }
        let ty = self.code.kit.ty(Type::U32)?;
        let local = self.code.local("selector".into(), ty);
        self.selector = Some(local);
        Ok(local)
    }

    /// Takes one from the budget and stops the path when nothing is left.
    pub fn spend(&mut self, loc: Loc) -> Result<(), Error> {
        if !self.ending.has_budget() {
            return Ok(());
        }
        let word = self.locations.trap(TrapCode::Budget, loc);
        let word = self.code.u32(word);
        let stop = self.code.ask("spend", vec![word])?;
        let ending = self.ending;
        self.code.when(stop, |code| ending.stop(code))
    }

    fn pass(&mut self, from: BlockId, edge: usize) -> Result<(), Error> {
        let func = self.func;
        let Some(target) = func.block(from).term.targets().nth(edge) else { return Ok(()) };
        self.code.loc = func.block(from).term_loc;
        let mut stores = Vec::new();
        for (p, &arg) in func.block(target.block).params.iter().zip(&target.args) {
            let Some(&variable) = self.variables.get(p) else { continue };
            // An argument that has the parameter's variable is there already; a constant is nowhere.
            if self.variables.get(&arg) != Some(&variable) || self.constants.contains_key(&arg) {
                stores.push((variable, arg));
            }
        }
        // All arguments are read before the first parameter changes.
        let args = stores.iter().map(|&(_, arg)| self.get(arg)).collect::<Result<Vec<_>, _>>()?;
        for ((variable, _), arg) in stores.into_iter().zip(args) {
            self.code.store(variable, arg);
        }
        Ok(())
    }

    fn block(&mut self, id: BlockId) -> Result<(), Error> {
        let block = self.func.block(id);
        if id.0 != 0 {
            self.code.loc = Loc::NONE;
            for &p in &block.params {
                if let Some(&variable) = self.variables.get(&p) {
                    self.values[p.0 as usize] = Some(self.code.load(variable));
                }
            }
        }
        for inst in &block.insts {
            self.code.loc = inst.loc;
            self.inst(inst)?;
        }
        Ok(())
    }

    fn define(&mut self, value: Value, expr: Expr) {
        self.values[value.0 as usize] = Some(expr);
        if let Some(&variable) = self.variables.get(&value) {
            self.code.store(variable, expr);
        }
    }

    fn fold(&self, inst: &Inst) -> Option<Const> {
        let ([result], true) = (inst.results.as_slice(), inst.op.is_pure()) else { return None };
        let args = inst.args.iter().map(|a| self.constants.get(a)).collect::<Option<Vec<_>>>()?;
        eval_op(&inst.op, &args, self.func.ty(*result))
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Error> {
        if let Some(c) = self.fold(inst) {
            self.constants.insert(inst.results[0], c);
            return Ok(());
        }
        match &inst.op {
            Op::Debug(_) => return Ok(()),
            Op::Record => return self.record(inst),
            Op::SlotStore(slot) => return self.slot_store(*slot, inst),
            Op::Call(name) => return self.call(name, inst),
            _ => {}
        }
        let [result] = inst.results[..] else {
            return Err(Error::Internal(format!("`{}` in code that does not wait", inst.op.name())));
        };
        let expr = match &inst.op {
            Op::Load(offset) if let Some(address) = self.known_address(inst.args[0], *offset) => {
                let address = self.code.u32(address);
                self.code.ask("load_known_vector", vec![address])?
            }
            Op::SlotLoad(slot) => self.slot_load(*slot, inst)?,
            Op::Uniform(k) => self.uniform(*k)?,
            Op::Hit => self.code.ask("hit", vec![])?,
            Op::HitTri => self.code.ask("hit_tri", vec![])?,
            Op::HitObj => self.code.ask("hit_obj", vec![])?,
            op => {
                let args = self.get_all(&inst.args)?;
                let types: Vec<Type> = inst.args.iter().map(|&a| self.func.ty(a)).collect();
                ops::pure(&mut self.code, op, &args, &types, self.func.ty(result))?
            }
        };
        self.define(result, expr);
        Ok(())
    }

    /// The address `offset` vectors after a base that is a constant.
    fn known_address(&self, base: Value, offset: u32) -> Option<u32> {
        match self.constant(base) {
            Some(Const::Ref(base)) => base.checked_add(offset),
            _ => None,
        }
    }

    fn uniform(&mut self, k: u32) -> Result<Expr, Error> {
        if k as usize >= super::program::PARAMS_UNIFORMS {
            return Err(Error::Unsupported(format!("program constant {k}")));
        }
        let k = self.code.u32(k);
        self.code.ask("program_constant", vec![k])
    }

    fn slot_load(&mut self, slot: SlotId, inst: &Inst) -> Result<Expr, Error> {
        let (base, last) = (self.slots[slot.0 as usize], self.func.slots[slot.0 as usize].len - 1);
        let pointer = match self.constant(inst.args[0]) {
            Some(Const::U32(i)) => {
                let index = (*i).min(last);
                self.code.expr(Expression::AccessIndex { base, index })
            }
            _ => {
                let (i, last) = (self.get(inst.args[0])?, self.code.u32(last));
                let inside = self.code.binary(Bin::Less, i, last);
                let index = self.code.select(inside, i, last);
                self.code.expr(Expression::Access { base, index })
            }
        };
        Ok(self.code.load(pointer))
    }

    fn slot_store(&mut self, slot: SlotId, inst: &Inst) -> Result<(), Error> {
        let (base, len) = (self.slots[slot.0 as usize], self.func.slots[slot.0 as usize].len);
        let value = self.get(inst.args[1])?;
        if let Some(&Const::U32(index)) = self.constant(inst.args[0]) {
            if index < len {
                let pointer = self.code.expr(Expression::AccessIndex { base, index });
                self.code.store(pointer, value);
            }
            return Ok(());
        }
        let (index, len) = (self.get(inst.args[0])?, self.code.u32(len));
        let inside = self.code.binary(Bin::Less, index, len);
        self.code.when(inside, |code| {
            let pointer = code.expr(Expression::Access { base, index });
            code.store(pointer, value);
            Ok(())
        })
    }

    fn record(&mut self, inst: &Inst) -> Result<(), Error> {
        let words = self.get_all(&inst.args)?;
        let count = self.code.u32(words.len() as u32);
        let at = self.code.ask("reserve_record", vec![count])?;
        for (k, word) in (0..).zip(words) {
            let k = self.code.u32(k);
            self.code.act("record_word", vec![at, k, word])?;
        }
        Ok(())
    }

    fn call(&mut self, name: &Arc<str>, inst: &Inst) -> Result<(), Error> {
        let missing = || Error::Internal(format!("`{name}` is called before it is made"));
        let (function, calls) = match *self.lowered.get(name).ok_or_else(missing)? {
            Callee::Lowered { function, calls } => (function, Some(calls)),
            Callee::Surrounding(function) => (function, None),
            Callee::Native(own) => {
                let x = self.get(inst.args[0])?;
                let result = native::call(&mut self.code, own, x);
                self.define(inst.results[0], result);
                return Ok(());
            }
        };
        match calls {
            Some(calls) if calls > QUIET_CALLS => self.spend(inst.loc)?,
            Some(_) => self.code.act("spend_quietly", vec![])?,
            None => {}
        }
        let args = self.get_all(&inst.args)?;
        let result = self.code.call(function, args);
        match (inst.results.as_slice(), result) {
            (&[one], Some(result)) => self.define(one, result),
            (many, Some(result)) => {
                for (i, &r) in many.iter().enumerate() {
                    let part = self.code.component(result, i as u32);
                    self.define(r, part);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Which nested list of statements defines each value, and which values are used where their
/// definition is not seen.
struct Scopes {
    block_of: Vec<Option<BlockId>>,
    scope_of: HashMap<BlockId, u32>,
    /// The list around each list; list 0 stands for the parameters.
    parents: Vec<u32>,
    far: Vec<Value>,
    next: u32,
}

impl Scopes {
    fn new(func: &Function, stmts: &[Stmt]) -> Self {
        let mut block_of = vec![None; func.values.len()];
        for id in func.block_ids().skip(1) {
            func.block(id).params.iter().for_each(|p| block_of[p.0 as usize] = Some(id));
        }
        for id in func.block_ids() {
            let results = func.block(id).insts.iter().flat_map(|i| &i.results);
            results.for_each(|r| block_of[r.0 as usize] = Some(id));
        }
        let mut scopes = Self { block_of, scope_of: HashMap::new(), parents: vec![0], far: Vec::new(), next: 0 };
        let mut uses = Vec::new();
        scopes.walk(func, stmts, 0, &mut uses);
        for (value, scope) in uses {
            if !scopes.sees(scope, scopes.index(value)) {
                scopes.far.push(value);
            }
        }
        scopes
    }

    fn walk(&mut self, func: &Function, stmts: &[Stmt], parent: u32, uses: &mut Vec<(Value, u32)>) {
        let scope = self.parents.len() as u32;
        self.parents.push(parent);
        for stmt in stmts {
            match stmt {
                Stmt::Insts(b) => {
                    self.scope_of.insert(*b, scope);
                    let insts = func.block(*b).insts.iter().filter(|i| !matches!(i.op, Op::Debug(_)));
                    uses.extend(insts.flat_map(|i| &i.args).map(|&a| (a, scope)));
                }
                Stmt::Pass { from, edge } => {
                    let target = func.block(*from).term.targets().nth(*edge);
                    uses.extend(target.iter().flat_map(|t| &t.args).map(|&a| (a, scope)));
                }
                Stmt::If { block, then, otherwise } => {
                    if let Terminator::Branch(c, ..) = func.block(*block).term {
                        uses.push((c, scope));
                    }
                    self.walk(func, then, scope, uses);
                    self.walk(func, otherwise, scope, uses);
                }
                Stmt::Return(b) => func.block(*b).term.for_each_arg(|v| uses.push((v, scope))),
                Stmt::Once(body) | Stmt::Loop(body) | Stmt::Selected(_, body) => self.walk(func, body, scope, uses),
                Stmt::Back(_) | Stmt::Break | Stmt::Continue | Stmt::Select(_) => {}
            }
        }
    }

    /// The list that defines a value; 0 for parameters of the function.
    fn index(&self, value: Value) -> u32 {
        let block = self.block_of[value.0 as usize];
        block.and_then(|b| self.scope_of.get(&b).copied()).unwrap_or(0)
    }

    fn sees(&self, mut from: u32, scope: u32) -> bool {
        while from != scope && from != 0 {
            from = self.parents[from as usize];
        }
        from == scope
    }

    /// Numbers of lists in the order of [`Scopes::walk`].
    fn next(&mut self) -> u32 {
        self.next += 1;
        self.next
    }
}

/// A function that does not wait: a plain WGSL function.
pub(super) fn lower_function(
    kit: &mut Kit,
    func: &Function,
    lowered: &Lowered,
    locations: &mut Locations,
) -> Result<naga::Function, Error> {
    let results: Vec<Type> = func.results.iter().map(|r| r.ty).collect();
    let result = kit.result_ty(&results)?;
    let mut code = Code::new(kit, identifier(&func.name));
    let mut params = Vec::new();
    for (i, p) in func.params.iter().enumerate() {
        let ty = code.kit.ty(p.ty)?;
        code.func.arguments.push(naga::FunctionArgument { name: Some(identifier(&p.name)), ty, binding: None });
        params.push(code.expr(Expression::FunctionArgument(i as u32)));
    }
    code.func.result = result.map(|ty| naga::FunctionResult { ty, binding: None });
    let ending = Plain { result, count: results.len(), has_budget: true };
    lower_body(&prepare(func), code, &params, lowered, locations, &ending)
}

/// A name that WGSL takes.
pub(super) fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{}_", plain.trim_matches('_'))
}

/// The end of a plain function.
pub(super) struct Plain {
    /// The type that the function returns.
    pub result: Option<Handle<naga::Type>>,
    /// The IR function's results.
    pub count: usize,
    /// See [`Ending::has_budget`].
    pub has_budget: bool,
}

impl Ending for Plain {
    fn finish(&self, lower: &mut Lower, values: &[Value]) -> Result<(), Error> {
        let mut exprs = lower.get_all(values)?;
        let value = match self.result {
            Some(ty) if self.count > 1 => Some(lower.code.expr(Expression::Compose { ty, components: exprs })),
            _ => exprs.pop(),
        };
        lower.code.stmt(Statement::Return { value });
        Ok(())
    }

    fn stop(&self, code: &mut Code) -> Result<(), Error> {
        let value = self.result.map(|ty| code.expr(Expression::ZeroValue(ty)));
        code.stmt(Statement::Return { value });
        Ok(())
    }

    fn has_budget(&self) -> bool {
        self.has_budget
    }
}
