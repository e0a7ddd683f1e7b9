//! Uniform code of shaders: what depends on the parameters of an instance alone runs once an
//! instance, on the host, and its results follow the parameters in memory.
//!
//! [`split`] cuts a core in two. The [evaluator](shadewright_ir::eval()) runs the first part when
//! parameters are bound, and keeps the results for the next time that the same values are bound: a
//! change of one parameter runs only the stages that depend on it (Olano 1998, §4.5.5).

use crate::collect::instances::is_known;
use crate::collect::primvars::stored_for;
use crate::collect::shader_library::CompiledShader;
use crate::records::RecordLayout;
use shadewright_ir::abi::Input;
use shadewright_ir::passes::Pipeline;
use shadewright_ir::passes::uniform::{Piece, Split, split as split_function};
use shadewright_ir::{Const, EmptyWorld, Function, Limits, Module, Op, Param, Type, eval};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Results that a shader keeps, at most: a parameter that is dragged takes many values.
const MAX_KEPT: usize = 4096;

/// Results of stages.
type Kept = HashMap<(usize, Vec<u32>), Arc<[Const]>>;

/// The uniform code of a shader.
#[derive(Debug)]
pub struct UniformCode {
    /// The core without it, and what it calls that its unit lacks. Its parameters are the whole
    /// core's, then [`Input::Uniform`]s.
    rest: Module,
    /// The stages and all that they call.
    module: Module,
    stages: Vec<UniformSignature>,
    /// The pieces that each [`Input::Uniform`] holds.
    inputs: Vec<Vec<Piece>>,
    /// Results by the number of a stage and the words of its arguments.
    kept: Mutex<Kept>,
    /// True if a stage did not come to an end for some arguments.
    is_refused: AtomicBool,
    runs: AtomicUsize,
    reuses: AtomicUsize,
}

/// A function of uniform code.
#[derive(Debug)]
pub struct UniformSignature {
    /// The name of the function.
    pub name: Arc<str>,
    /// The numbers of the core's parameters that it takes.
    pub params: Vec<usize>,
    /// The types of its results.
    pub results: Vec<Type>,
}

impl UniformSignature {
    /// True if a parameter that it takes varies over primitives whose records lie so.
    pub fn varies(&self, layout: &RecordLayout, shader: &CompiledShader) -> bool {
        self.params.iter().any(|&p| stored_for(layout, shader, p).is_some())
    }
}

/// How much uniform code ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UniformCounts {
    /// Shaders that have some.
    pub shaders: usize,
    /// Stages of these shaders.
    pub stages: usize,
    /// Numbers that they compute.
    pub values: usize,
    /// How often a stage ran.
    pub runs: usize,
    /// How often its results were known, as its parameters had these values before.
    pub reuses: usize,
}

/// Splits a shader's core. `None` where nothing would be saved.
pub fn split(shader: &CompiledShader, pipeline: &Pipeline) -> Option<UniformCode> {
    let core = shader.unit().function(&shader.core)?;
    let names: HashSet<&str> = uniform_params(shader).map(|p| &*p.name).collect();
    let rest = format!("{}.uniform", shader.core).into();
    let input = |n| Input::Uniform(n).to_string().into();
    let is_uniform = |p: &Param| names.contains(&*p.name);
    let found = split_function(shader.unit(), &core.name, is_uniform, rest, input, &pipeline.target)?;
    let Split { rest, stages, inputs, callees, locs } = found;
    let mut rest = Module { functions: vec![Function { name: shader.core.clone(), ..rest }], locs };
    let made = Module { functions: callees, ..Module::new() };
    add_callees(&mut rest, &made);
    rest.drop_unused_locs();
    let mut module = Module { functions: stages.iter().map(|s| s.function.clone()).collect(), ..Module::new() };
    add_callees(&mut module, &made);
    add_callees(&mut module, shader.unit());
    // Nothing that the evaluator says of places is shown.
    module.functions.iter_mut().for_each(Function::forget_locs);
    let stages = stages.into_iter().map(|s| UniformSignature {
        name: s.function.name.clone(),
        params: s.params,
        results: s.function.results.iter().map(|r| r.ty).collect(),
    });
    Some(UniformCode {
        rest,
        module,
        stages: stages.collect(),
        inputs,
        kept: Mutex::default(),
        is_refused: AtomicBool::new(false),
        runs: AtomicUsize::new(0),
        reuses: AtomicUsize::new(0),
    })
}

/// The parameters of a core whose values an instance knows. Methods of one object share its
/// parameters, and nothing else.
fn uniform_params(shader: &CompiledShader) -> impl Iterator<Item = &Param> {
    let own = shader.declared();
    let is_of_call = |i: usize| {
        let mut first = 0;
        let mut params = shader.params.iter();
        params.any(|p| {
            first += p.values();
            i < first && i + p.values() >= first && p.is_of_call()
        })
    };
    let params = shader.core_params.iter().enumerate();
    let known =
        params.filter(move |(i, p)| if *i < own { !is_of_call(*i) } else { !shader.is_object && is_known(&p.name) });
    known.map(|(_, p)| p).filter(|p| p.ty != Type::String)
}

/// Adds the functions of a unit that a module calls, without their places.
fn add_callees(module: &mut Module, unit: &Module) {
    let mut next = 0;
    while let Some(func) = module.functions.get(next) {
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        let callees: Vec<Arc<str>> =
            insts.filter_map(|i| if let Op::Call(callee) = &i.op { Some(callee.clone()) } else { None }).collect();
        for callee in callees {
            if module.function(&callee).is_none() {
                module.functions.extend(unit.function(&callee).cloned());
            }
        }
        next += 1;
    }
}

impl UniformCode {
    /// The core without it, and what it calls beside functions of the unit: to be linked in place of
    /// the core.
    pub fn rest(&self) -> &Module {
        &self.rest
    }

    /// The parameters of the core without it.
    pub fn params(&self) -> &[Param] {
        &self.rest.functions[0].params
    }

    /// The stages with all that they call, for entries that run them at each hit.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The number of its [`Input::Uniform`]s.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The stages.
    pub fn stages(&self) -> &[UniformSignature] {
        &self.stages
    }

    /// The pieces that [`Input::Uniform`] `n` holds.
    pub fn pieces(&self, n: usize) -> &[Piece] {
        &self.inputs[n]
    }

    /// True if a stage did not come to an end for some arguments: then the shader has to run as a
    /// whole, and its budget ends it as any other code.
    pub fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// The results of each stage for an instance; `argument` gives the words of a parameter of the
    /// core. Zeros, and the code is refused, where a stage does not come to an end.
    pub fn results(&self, argument: impl Fn(usize) -> Vec<u32>) -> Vec<Arc<[Const]>> {
        (0..self.stages.len()).map(|stage| self.run(stage, &argument)).collect()
    }

    fn run(&self, number: usize, argument: &impl Fn(usize) -> Vec<u32>) -> Arc<[Const]> {
        let stage = &self.stages[number];
        let words: Vec<Vec<u32>> = stage.params.iter().map(|&p| argument(p)).collect();
        let key = (number, words.concat());
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            self.reuses.fetch_add(1, Ordering::Relaxed);
            return known;
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        let types = self.module.function(&stage.name).into_iter().flat_map(|f| &f.params).map(|p| p.ty);
        let args: Vec<Const> = types.zip(&words).map(|(ty, words)| Const::from_bits(ty, words)).collect();
        let results: Arc<[Const]> = match eval(&self.module, &stage.name, &args, &mut EmptyWorld, Limits::default()) {
            Ok(results) => results.into(),
            Err(_) => {
                self.is_refused.store(true, Ordering::Relaxed);
                stage.results.iter().map(|ty| Const::zero(*ty)).collect()
            }
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, results.clone());
        results
    }

    /// How much ran so far.
    pub fn counts(&self) -> UniformCounts {
        UniformCounts {
            shaders: 1,
            stages: self.stages.len(),
            values: self.inputs.iter().flatten().map(|p| p.ty.words() as usize).sum(),
            runs: self.runs.load(Ordering::Relaxed),
            reuses: self.reuses.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Display for UniformCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shaders, stages, values, runs, reuses } = self;
        write!(f, "{runs} runs, {reuses} reused ({values} numbers in {stages} stages of {shaders} shaders)")
    }
}

impl UniformCounts {
    /// These and others.
    pub fn and(self, other: Self) -> Self {
        Self {
            shaders: self.shaders + other.shaders,
            stages: self.stages + other.stages,
            values: self.values + other.values,
            runs: self.runs + other.runs,
            reuses: self.reuses + other.reuses,
        }
    }

    /// The counts with only the runs and reuses since `before`.
    pub fn since(self, before: Self) -> Self {
        Self { runs: self.runs - before.runs, reuses: self.reuses - before.reuses, ..self }
    }
}
