//! Vectorization: a function that computes what another computes in several lanes.
//!
//! The result is ordinary IR, for every machine. Values that the [uniformity
//! analysis](super::uniformity) finds uniform are computed once, affine ones as the value of the
//! first lane, and varying ones in each lane. Branches that diverge become straight code under
//! masks; loops that lanes leave in different iterations run until no lane is active; uniform
//! branches stay branches. Functions are vectorized once for each signature, and whether some lanes
//! may be inactive. `docs/internals/vectorization.md` has the rules.
//!
//! Pérard-Gayot, "Generating Renderers", 2020, §1.2.3; Moll and Hack, "Partial Control-Flow
//! Linearization", 2018.

mod body;
mod control;
mod instructions;
mod intrinsics;
mod linear;
mod prepare;
mod signature;
#[cfg(test)]
mod tests;

use super::uniformity::{FunctionUniformity, ModuleUniformity};
use crate::{Const, Function, FunctionKind, Loc, Module, Type};
use body::Body;
use shadewright_base::uniformity::Uniformity;
use signature::{Layout, variant_name};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most lanes: as many as `lanes.ballot` has bits.
pub const MAX_WIDTH: u32 = 32;

/// Instructions of all functions that are made for one, at most.
const MAX_INSTS: usize = 1 << 20;

/// Why a function cannot be vectorized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorizeError {
    /// A function is not in the module.
    #[error("there is no function `{name}`")]
    NoFunction {
        /// The name of the missing function.
        name: Arc<str>,
    },
    /// There cannot be that many lanes.
    #[error("{width} lanes are not supported: a power of two up to {MAX_WIDTH} is")]
    Width {
        /// The number that was asked for.
        width: u32,
    },
    /// The uniformity of more or fewer parameters is given than there are.
    #[error("`{name}` has {params} parameters, but the uniformity of {given} is given")]
    Parameters {
        /// The function.
        name: Arc<str>,
        /// The number of its parameters.
        params: usize,
        /// The number of parameters whose uniformity is given.
        given: usize,
    },
    /// An instruction has no meaning for several lanes of one thread.
    #[error("`{function}` cannot be vectorized: `{what}` {reason}")]
    Instruction {
        /// The function.
        function: Arc<str>,
        /// The instruction.
        what: String,
        /// The reason, as the end of the message.
        reason: &'static str,
        /// Where it comes from.
        loc: Loc,
    },
    /// Some block never reaches a return, so that lanes which diverge there never reconverge.
    #[error("`{function}` cannot be vectorized: it has a loop that never ends")]
    NeverReturns {
        /// The function.
        function: Arc<str>,
    },
    /// The result would be too large.
    #[error("`{function}` is too large for {width} lanes")]
    TooLarge {
        /// The function.
        function: Arc<str>,
        /// The number of lanes.
        width: u32,
    },
}

impl VectorizeError {
    /// The place in the program, where there is one.
    pub fn loc(&self) -> Option<Loc> {
        if let VectorizeError::Instruction { loc, .. } = self { Some(*loc) } else { None }
    }
}

/// A vectorized function.
#[derive(Clone, Debug)]
pub struct Vectorized {
    /// The module, with the functions that were made.
    pub module: Module,
    /// The name of the function in it: an entry point.
    pub name: Arc<str>,
    /// The number of lanes.
    pub width: u32,
    /// The uniformity of the parameters.
    pub params: Vec<Uniformity>,
    /// The uniformity of the results.
    pub results: Vec<Uniformity>,
    layout: Layout,
}

impl Vectorized {
    /// The arguments of the function for those of each lane. Of a uniform or affine parameter the
    /// first lane's counts.
    pub fn arguments(&self, lanes: &[Vec<Const>]) -> Vec<Const> {
        let lanes: Vec<Vec<Const>> = lanes.iter().map(|args| super::matrices::flatten(args)).collect();
        self.layout.pack(&lanes, &self.params)
    }

    /// The results of each lane, from those of the function; matrices are four rows.
    pub fn lane_results(&self, results: &[Const]) -> Vec<Vec<Const>> {
        self.layout.unpack(results, &self.results)
    }
}

/// Vectorizes a function of a module for `width` lanes and parameters of this uniformity.
///
/// A thread of the result does the work of `width` threads. Its budget counts each back edge and
/// call once for all lanes that take it together, so it spends no more than they do in all, and no
/// less than any one of them.
///
/// # Errors
/// See [`VectorizeError`].
pub fn vectorize(module: &Module, name: &str, width: u32, params: &[Uniformity]) -> Result<Vectorized, VectorizeError> {
    if !width.is_power_of_two() || width > MAX_WIDTH {
        return Err(VectorizeError::Width { width });
    }
    let no_function = || VectorizeError::NoFunction { name: name.into() };
    let func = module.function(name).ok_or_else(no_function)?;
    if func.params.len() != params.len() {
        let (name, params, given) = (func.name.clone(), func.params.len(), params.len());
        return Err(VectorizeError::Parameters { name, params, given });
    }
    let rows = |ty: Type| if ty == Type::Mat4 { 4 } else { 1 };
    let params: Vec<Uniformity> =
        func.params.iter().zip(params).flat_map(|(p, s)| std::iter::repeat_n(*s, rows(p.ty))).collect();
    let prepared = prepare::prepare(module, name)?;
    let uniformity = ModuleUniformity::new(&prepared, name, &params, width).ok_or_else(no_function)?;
    let mut variants =
        Variants { module: &prepared, uniformity: &uniformity, width, names: HashMap::new(), work: VecDeque::new() };
    let root = uniformity.root();
    let entry = variants.name(root, false);
    let mut made = Vec::new();
    let mut left = MAX_INSTS;
    while let Some((uniformity, masked)) = variants.work.pop_front() {
        let mut func = Body::new(&mut variants, uniformity, masked, left)?.build()?;
        left -= func.inst_count().min(left);
        if func.name == entry {
            func.kind = FunctionKind::Entry(crate::abi::EntryPoint::Other);
        }
        made.push(simplified(func));
    }
    let results = root.results();
    let types = |list: &mut dyn Iterator<Item = Type>| list.collect::<Vec<_>>();
    let func = &prepared.functions[root.function];
    let layout = Layout {
        width,
        params: types(&mut func.params.iter().map(|p| p.ty)),
        results: types(&mut func.results.iter().map(|r| r.ty)),
    };
    let mut module = module.clone();
    module.functions.extend(made);
    Ok(Vectorized { module, name: entry, width, params, results, layout })
}

/// The function without what building it left over. Nothing that it computes changes.
fn simplified(mut func: Function) -> Function {
    for _ in 0..4 {
        let changes = super::copy::run(&mut func) + super::simplify_cfg::run(&mut func) + super::dce::run(&mut func);
        if changes == 0 {
            break;
        }
    }
    super::unreachable::remove_unreachable(&mut func);
    super::renumber::renumber(&mut func);
    func
}

/// The functions to make, and their names.
struct Variants<'m> {
    module: &'m Module,
    uniformity: &'m ModuleUniformity,
    width: u32,
    names: HashMap<String, Arc<str>>,
    work: VecDeque<(&'m FunctionUniformity, bool)>,
}

impl<'m> Variants<'m> {
    /// The name of a function for a signature, which is made some time. `masked` says whether some
    /// lanes may be inactive.
    fn name(&mut self, uniformity: &'m FunctionUniformity, masked: bool) -> Arc<str> {
        let func = &self.module.functions[uniformity.function];
        let wanted = variant_name(&func.name, self.width, &uniformity.params, masked);
        if let Some(name) = self.names.get(&wanted) {
            return name.clone();
        }
        let mut name = wanted.clone();
        while self.module.function(&name).is_some() {
            name.push('_');
        }
        let name: Arc<str> = name.into();
        self.names.insert(wanted, name.clone());
        self.work.push_back((uniformity, masked));
        name
    }
}
