//! The reference evaluator: runs any function of a module on one sample in plain `f32`. It is what
//! both back ends are compared with.
//!
//! The world around the program (constants, memory, rays) is a [`World`]. Running is bounded:
//! [`Limits`] counts back edges and calls, and the depth of calls. The evaluator recurses nowhere.

mod observer;

pub use observer::{Answer, Observer, Ray};

use super::dominators::Dominators;
use super::fold::eval_op;
use super::{BlockId, Const, Function, Inst, Loc, Module, Op, Target, Terminator, Type, Value, string_id};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// `(u, v, t, bits of the shader's entry)`; `t < 0` is a miss.
    pub uvts: [f32; 4],
    /// Address of the triangle record.
    pub triangle: u32,
    /// Address of the object record.
    pub object: u32,
}

impl Hit {
    /// Nothing was hit.
    pub const MISS: Hit = Hit { uvts: [0.0, 0.0, -1.0, 0.0], triangle: 0, object: 0 };
}

/// The outside world as a program sees it. Every method has a default: a world of zeros without
/// geometry.
pub trait World {
    /// Program constant `k`.
    fn uniform(&mut self, _k: u32) -> [f32; 4] {
        [0.0; 4]
    }

    /// The memory vector at `address`, as 32-bit patterns; zero beyond the image.
    fn load(&mut self, _address: u32) -> [u32; 4] {
        [0; 4]
    }

    /// The current hit when the outermost function starts.
    fn first_hit(&mut self) -> Hit {
        Hit::MISS
    }

    /// Shoots a ray; `arg` is `(t_min, t_max, any, time)`.
    fn trace(&mut self, _origin: [f32; 3], _direction: [f32; 3], _arg: [f32; 4]) -> Hit {
        Hit::MISS
    }

    /// True if anything lies on the ray.
    fn occluded(&mut self, origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> bool {
        self.trace(origin, direction, [arg[0], arg[1], 1.0, arg[3]]).uvts[2] >= 0.0
    }

    /// The name of the function that shades a hit; it takes what `call_shader` passes and gives
    /// `(Ci, Oi)`. `None` gives zeros.
    fn shader(&mut self, _hit: &Hit) -> Option<Arc<str>> {
        None
    }
}

/// The world of zeros without geometry.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyWorld;

impl World for EmptyWorld {}

/// Bounds on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Back edges and calls, together.
    pub fuel: u64,
    /// Calls within calls.
    pub depth: usize,
}

impl Default for Limits {
    /// The budget of a sample on every back end: 1,000,000 back edges and calls; 256 calls deep.
    fn default() -> Self {
        Self { fuel: 1_000_000, depth: 256 }
    }
}

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A function is not in the module.
    #[error("there is no function `{name}`")]
    NoFunction {
        /// The name of the missing function.
        name: Arc<str>,
        /// Where it was called.
        loc: Loc,
    },
    /// The arguments do not fit the parameters.
    #[error("`{name}` takes ({expected}) but was given ({given})")]
    Arguments {
        /// The function.
        name: Arc<str>,
        /// Types of its parameters.
        expected: String,
        /// Types of the arguments.
        given: String,
    },
    /// The budget of back edges and calls is used up: the program may never end.
    #[error("`{function}` ran out of its budget: a loop or recursion may never end")]
    Fuel {
        /// The function that was running.
        function: Arc<str>,
        /// The jump or call that was one too many.
        loc: Loc,
    },
    /// Calls are nested too deeply.
    #[error("`{function}` calls too deeply")]
    Depth {
        /// The function that was running.
        function: Arc<str>,
        /// The call that was one too many.
        loc: Loc,
    },
    /// The module breaks the IR's rules (the verifier reports those).
    #[error("`{function}` breaks the IR's rules at `{what}`")]
    Malformed {
        /// The function.
        function: Arc<str>,
        /// The instruction.
        what: String,
    },
}

impl EvalError {
    /// The place in the program, where there is one.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            EvalError::NoFunction { loc, .. } | EvalError::Fuel { loc, .. } | EvalError::Depth { loc, .. } => {
                Some(*loc)
            }
            EvalError::Arguments { .. } | EvalError::Malformed { .. } => None,
        }
    }
}

/// Runs `function` of a verified module on `args` and returns its results.
///
/// A result of type `string` is a `String` when its text stands in the module or in `args`, and
/// else a `U32` holding its identifier.
///
/// # Errors
/// See [`EvalError`].
pub fn eval(
    module: &Module,
    function: &str,
    args: &[Const],
    world: &mut dyn World,
    limits: Limits,
) -> Result<Vec<Const>, EvalError> {
    eval_observed(module, function, args, world, limits, &mut ())
}

/// [`eval`] under the eyes of an observer.
///
/// # Errors
/// See [`EvalError`].
pub fn eval_observed(
    module: &Module,
    function: &str,
    args: &[Const],
    world: &mut dyn World,
    limits: Limits,
    observer: &mut impl Observer,
) -> Result<Vec<Const>, EvalError> {
    let name: Arc<str> = function.into();
    let Some(start) = module.functions.iter().position(|f| f.name == name) else {
        return Err(EvalError::NoFunction { name, loc: Loc::NONE });
    };
    let func = &module.functions[start];
    let expected: Vec<Type> = func.params.iter().map(|p| p.ty).collect();
    let given: Vec<Type> = args.iter().map(Const::ty).collect();
    if expected != given {
        let list = |types: &[Type]| types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
        return Err(EvalError::Arguments { name, expected: list(&expected), given: list(&given) });
    }
    if let Some(host) = &func.host {
        let types: Vec<Type> = func.results.iter().map(|r| r.ty).collect();
        let what = || "its results are not as many as it declares".to_string();
        return host.call(args, &types).ok_or_else(|| EvalError::Malformed { function: name.clone(), what: what() });
    }
    let current_hit = world.first_hit();
    let (index, prepared) = Default::default();
    let mut interpreter =
        Interpreter { module, index, prepared, world, observer, limits, current_hit, frames: Vec::new(), registers: 0 };
    interpreter.enter(start, args.iter().map(in_register).collect(), Loc::NONE)?;
    let results = interpreter.run()?;
    Ok(with_texts(module, args, &func.results.iter().map(|r| r.ty).collect::<Vec<_>>(), results))
}

/// Strings live in registers as their identifiers, since a program may read one from memory.
fn in_register(c: &Const) -> Const {
    match c {
        Const::String(s) => Const::U32(string_id(s)),
        c => c.clone(),
    }
}

/// Gives string results their texts back.
fn with_texts(module: &Module, args: &[Const], types: &[Type], mut results: Vec<Const>) -> Vec<Const> {
    if !types.contains(&Type::String) {
        return results;
    }
    let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    let constants = insts.filter_map(|i| if let Op::Const(c) = &i.op { Some(c) } else { None });
    let mut texts = HashMap::from([(0, Arc::from(""))]);
    for c in constants.chain(args) {
        if let Const::String(s) = c {
            texts.insert(string_id(s), s.clone());
        }
    }
    for (result, _) in results.iter_mut().zip(types).filter(|(_, t)| **t == Type::String) {
        if let Const::U32(id) = result
            && let Some(text) = texts.get(id)
        {
            *result = Const::String(text.clone());
        }
    }
    results
}

/// The most values and array elements of all activations together: a call that needs more is one
/// level too deep.
const MAX_REGISTERS: usize = 1 << 22;

/// One activation of a function.
struct Frame {
    function: usize,
    order: Rc<Dominators>,
    values: Vec<Const>,
    slots: Vec<Vec<Const>>,
    block: BlockId,
    next: usize,
}

impl Frame {
    /// Values and array elements.
    fn registers(&self) -> usize {
        self.values.len() + self.slots.iter().map(Vec::len).sum::<usize>()
    }
}

struct Interpreter<'a, O> {
    module: &'a Module,
    /// The functions by their names, once one is called: most that are evaluated one by one, such as
    /// the defaults of 20,000 parameters, call none.
    index: OnceCell<HashMap<Arc<str>, usize>>,
    /// For each function that has run: its blocks' order, which identifies back edges.
    prepared: HashMap<usize, Rc<Dominators>>,
    world: &'a mut dyn World,
    observer: &'a mut O,
    limits: Limits,
    current_hit: Hit,
    frames: Vec<Frame>,
    /// Values and array elements of all frames.
    registers: usize,
}

/// The step after an instruction.
enum Next {
    /// The instruction's results.
    Results(Vec<Const>),
    /// A call of the function with these arguments.
    Enter(usize, Vec<Const>),
}

impl<O: Observer> Interpreter<'_, O> {
    /// The number of a function.
    fn function(&self, name: &str) -> Option<usize> {
        self.index.get_or_init(|| self.module.index()).get(name).copied()
    }

    fn enter(&mut self, function: usize, args: Vec<Const>, loc: Loc) -> Result<(), EvalError> {
        if self.frames.len() >= self.limits.depth {
            return Err(EvalError::Depth { function: self.running(), loc });
        }
        self.observer.enter(function, &args);
        let func = &self.module.functions[function];
        let order = self.prepared.entry(function).or_insert_with(|| Rc::new(Dominators::new(func))).clone();
        let slots = func.slots.iter().map(|s| s.len as usize).sum::<usize>();
        self.registers += func.values.len() + slots;
        if self.registers > MAX_REGISTERS {
            return Err(EvalError::Depth { function: self.running(), loc });
        }
        let mut values = vec![Const::Bool(false); func.values.len()];
        for (&p, a) in func.param_values().iter().zip(args) {
            values[p.0 as usize] = a;
        }
        let zero = |s: &super::Slot| vec![in_register(&Const::zero(s.ty)); s.len as usize];
        let slots = func.slots.iter().map(zero).collect();
        self.frames.push(Frame { function, order, values, slots, block: BlockId(0), next: 0 });
        Ok(())
    }

    fn running(&self) -> Arc<str> {
        let function = self.frames.last().map(|f| f.function);
        function.map_or("".into(), |f| self.module.functions[f].name.clone())
    }

    fn burn(&mut self, loc: Loc) -> Result<(), EvalError> {
        if self.limits.fuel == 0 {
            return Err(EvalError::Fuel { function: self.running(), loc });
        }
        self.limits.fuel -= 1;
        Ok(())
    }

    fn run(&mut self) -> Result<Vec<Const>, EvalError> {
        let module = self.module;
        while let Some(frame) = self.frames.last_mut() {
            let func = &module.functions[frame.function];
            let block = func.block(frame.block);
            if let Some(inst) = block.insts.get(frame.next) {
                self.observer.instruction(inst);
                match self.step(func, inst)? {
                    Next::Results(results) => self.give(inst, results),
                    Next::Enter(function, args) => {
                        self.burn(inst.loc)?;
                        self.enter(function, args, inst.loc)?;
                    }
                }
                continue;
            }
            match &block.term {
                Terminator::Jump(t) => self.jump(func, t, block.term_loc)?,
                Terminator::Branch(c, t, e) => {
                    let holds = frame.values[c.0 as usize] == Const::Bool(true);
                    self.observer.branch(holds, block.term_loc);
                    self.jump(func, if holds { t } else { e }, block.term_loc)?;
                }
                Terminator::Return(values) => {
                    let results: Vec<Const> = values.iter().map(|v| frame.values[v.0 as usize].clone()).collect();
                    self.observer.leave(&results, block.term_loc);
                    if let Some(left) = self.frames.pop() {
                        self.registers -= left.registers();
                    }
                    let Some(caller) = self.frames.last() else { return Ok(results) };
                    let caller_func = &module.functions[caller.function];
                    self.current_hit = Hit::MISS;
                    self.give(&caller_func.block(caller.block).insts[caller.next], results);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Stores the results of the instruction at which the innermost frame stands, and continues.
    fn give(&mut self, inst: &Inst, results: Vec<Const>) {
        if let Some(frame) = self.frames.last_mut() {
            for (r, value) in inst.results.iter().zip(results) {
                frame.values[r.0 as usize] = value;
            }
            frame.next += 1;
        }
    }

    fn jump(&mut self, func: &Function, target: &Target, loc: Loc) -> Result<(), EvalError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let args: Vec<Const> = target.args.iter().map(|a| frame.values[a.0 as usize].clone()).collect();
        for (&p, a) in func.block(target.block).params.iter().zip(args) {
            frame.values[p.0 as usize] = a;
        }
        let is_back = frame.order.is_back_edge(frame.block, target.block);
        (frame.block, frame.next) = (target.block, 0);
        if is_back { self.burn(loc) } else { Ok(()) }
    }

    fn step(&mut self, func: &Function, inst: &Inst) -> Result<Next, EvalError> {
        let malformed =
            || EvalError::Malformed { function: func.name.clone(), what: super::print::inst_text(func, inst) };
        if let Op::Call(name) | Op::ForcedCall(name) = &inst.op {
            let missing = || EvalError::NoFunction { name: name.clone(), loc: inst.loc };
            let callee = self.function(name).ok_or_else(missing)?;
            if let Some(host) = &self.module.functions[callee].host {
                let types: Vec<Type> = inst.results.iter().map(|&r| func.ty(r)).collect();
                return host.call(&self.args(inst), &types).map(Next::Results).ok_or_else(malformed);
            }
            return Ok(Next::Enter(callee, self.args(inst)));
        }
        if let Op::CallShader(_) = inst.op {
            let wanted: Vec<Type> = inst.results.iter().map(|&r| func.ty(r)).collect();
            let Some(name) = self.world.shader(&self.current_hit) else {
                return Ok(Next::Results(wanted.into_iter().map(Const::zero).collect()));
            };
            let missing = || EvalError::NoFunction { name: name.clone(), loc: inst.loc };
            let callee = self.function(&name).ok_or_else(missing)?;
            let types = |list: &mut dyn Iterator<Item = Type>| list.collect::<Vec<_>>();
            let callee_func = &self.module.functions[callee];
            let takes = types(&mut callee_func.params.iter().map(|p| p.ty));
            let gives = types(&mut callee_func.results.iter().map(|r| r.ty));
            let args = self.args(inst);
            if takes != types(&mut args.iter().map(Const::ty)) || gives != wanted {
                return Err(malformed());
            }
            return Ok(Next::Enter(callee, args));
        }
        let result = match inst.results.as_slice() {
            [] => self.effect(inst).map(|()| vec![]),
            [r] => self.value(inst, func.ty(*r)).map(|c| vec![c]),
            _ => None,
        };
        result.map(Next::Results).ok_or_else(malformed)
    }

    fn args(&self, inst: &Inst) -> Vec<Const> {
        inst.args.iter().map(|&a| self.get(a).clone()).collect()
    }

    fn get(&self, value: Value) -> &Const {
        const NOTHING: &Const = &Const::Bool(false);
        self.frames.last().map_or(NOTHING, |f| &f.values[value.0 as usize])
    }

    fn vec3(&self, value: Value) -> Option<[f32; 3]> {
        if let Const::Vec3(v) = self.get(value) { Some(*v) } else { None }
    }

    fn vec4(&self, value: Value) -> Option<[f32; 4]> {
        if let Const::Vec4(v) = self.get(value) { Some(*v) } else { None }
    }

    fn u32(&self, value: Value) -> Option<u32> {
        if let Const::U32(u) = self.get(value) { Some(*u) } else { None }
    }

    /// An instruction without results; `None` when it is malformed.
    fn effect(&mut self, inst: &Inst) -> Option<()> {
        match (&inst.op, inst.args.as_slice()) {
            (Op::Trace, &[o, d, arg]) => {
                let (o, d, arg) = (self.vec3(o)?, self.vec3(d)?, self.vec4(arg)?);
                self.current_hit = self.world.trace(o, d, arg);
                self.observer.ray(&Ray::new(o, d, arg), &Answer::Hit(self.current_hit));
            }
            (Op::SlotStore(slot), &[i, value]) => {
                let (i, value) = (self.u32(i)?, self.get(value).clone());
                let elements = self.frames.last_mut()?.slots.get_mut(slot.0 as usize)?;
                if let Some(element) = elements.get_mut(i as usize) {
                    *element = value;
                }
            }
            (Op::Debug(name), &[value]) => {
                let value = self.get(value).clone();
                self.observer.variable(name, &value, inst.loc);
            }
            (Op::Record, args) => {
                let words: Option<Vec<u32>> = args.iter().map(|&a| self.u32(a)).collect();
                self.observer.record(&words?);
            }
            _ => return None,
        }
        Some(())
    }

    /// An instruction with one result; `None` when it is malformed.
    fn value(&mut self, inst: &Inst, ty: Type) -> Option<Const> {
        Some(match (&inst.op, inst.args.as_slice()) {
            (Op::Const(c), []) => in_register(c),
            (Op::Bitcast, &[a]) if ty == Type::String => eval_op(&Op::Bitcast, &[self.get(a)], Type::U32)?,
            (Op::Uniform(k), []) => Const::Vec4(self.world.uniform(*k)),
            (Op::Load(offset), &[address]) => {
                let Const::Ref(address) = *self.get(address) else { return None };
                // An address past 32 bits lies beyond any image.
                let words = address.checked_add(*offset).map_or([0; 4], |a| self.world.load(a));
                Const::Vec4(words.map(f32::from_bits))
            }
            (Op::Hit, []) => Const::Vec4(self.current_hit.uvts),
            (Op::HitTri, []) => Const::Ref(self.current_hit.triangle),
            (Op::HitObj, []) => Const::Ref(self.current_hit.object),
            (Op::SlotLoad(slot), &[i]) => {
                let i = self.u32(i)?;
                let elements = self.frames.last()?.slots.get(slot.0 as usize)?;
                elements.get(i as usize).or(elements.last())?.clone()
            }
            (Op::Occluded, &[o, d, arg]) => {
                let (o, d, arg) = (self.vec3(o)?, self.vec3(d)?, self.vec4(arg)?);
                self.current_hit = Hit::MISS;
                let blocked = self.world.occluded(o, d, arg);
                self.observer.ray(&Ray::new(o, d, arg), &Answer::Shadow { blocked, number: 0 });
                Const::Bool(blocked)
            }
            (Op::Visible(slot), &[o, count]) => {
                let (o, count) = (self.vec3(o)?, self.u32(count)?);
                let rays = self.frames.last()?.slots.get(slot.0 as usize)?.clone();
                self.current_hit = Hit::MISS;
                let t_min = self.world.uniform(0)[0];
                let mut bits = 0;
                for (i, ray) in rays.iter().enumerate().take(count.min(32) as usize) {
                    let Const::Vec4([x, y, z, t_max]) = *ray else { return None };
                    if t_max < 0.0 {
                        bits |= 1 << i;
                        continue;
                    }
                    let arg = [t_min, t_max, 1.0, 0.0];
                    let blocked = self.world.occluded(o, [x, y, z], arg);
                    self.observer.ray(&Ray::new(o, [x, y, z], arg), &Answer::Shadow { blocked, number: i as u32 });
                    bits |= u32::from(!blocked) << i;
                }
                Const::U32(bits)
            }
            (op, args) => {
                // Most operations take at most four operands.
                let args: Vec<&Const> = args.iter().map(|&a| self.get(a)).collect();
                eval_op(op, &args, ty)?
            }
        })
    }
}

#[cfg(test)]
mod tests;
