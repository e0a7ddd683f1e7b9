//! Uniformity analysis: which values of a function have the same bits in all lanes, which grow
//! evenly from lane to lane, and which differ ([`shadewright_base::uniformity`]).
//!
//! Functions are analyzed once for each signature, the uniformity of their arguments, so that a
//! caller with uniform arguments does not suffer from another. Recursion is a fixed point: a call
//! gives what is known of its results so far, and callers are analyzed again when that grows.

mod flow;
mod listing;
#[cfg(test)]
mod tests;

pub(super) use flow::is_opaque;
pub use listing::listing;

use crate::{BlockId, Function, Module, SlotId, Value};
use flow::{Described, describe};
use shadewright_base::uniformity::{Solution, Uniformity, solve};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Signatures of one function that keep all that is known; further ones know uniform arguments from
/// varying ones alone.
const MAX_EXACT: usize = 16;
/// Signatures of one function; arguments of further ones are varying.
const MAX_SIGNATURES: usize = 64;

/// The uniformity of the values of the functions that one calls, for each signature.
#[derive(Debug)]
pub struct ModuleUniformity {
    variants: Vec<FunctionUniformity>,
    numbers: HashMap<(usize, Vec<Uniformity>), usize>,
}

/// The uniformity of a function's values for one signature.
#[derive(Clone, Debug)]
pub struct FunctionUniformity {
    /// The number of the function in the module.
    pub function: usize,
    /// The uniformity of its parameters.
    pub params: Vec<Uniformity>,
    results: Vec<Option<Uniformity>>,
    solution: Solution,
    slots: usize,
    callers: BTreeSet<usize>,
}

impl FunctionUniformity {
    fn new(function: usize, params: Vec<Uniformity>, func: &Function) -> FunctionUniformity {
        FunctionUniformity {
            function,
            params,
            results: vec![None; func.results.len()],
            solution: solve(&shadewright_base::uniformity::Flow::default(), |_, _| Vec::new()),
            slots: func.values.len(),
            callers: BTreeSet::new(),
        }
    }

    /// The uniformity of a value where a block uses it.
    pub fn at(&self, value: Value, block: BlockId) -> Uniformity {
        self.solution.at(value.0, block.0).unwrap_or(Uniformity::UNIFORM)
    }

    /// The uniformity of a value where it is defined.
    pub fn get(&self, value: Value) -> Uniformity {
        self.solution.values[value.0 as usize].unwrap_or(Uniformity::UNIFORM)
    }

    /// True if lanes that left a loop in different iterations took different values with them.
    pub fn is_left_apart(&self, value: Value, block: BlockId) -> bool {
        self.solution.is_left_apart(value.0, block.0)
    }

    /// The uniformity of the elements of an array.
    pub fn slot(&self, slot: SlotId) -> Uniformity {
        self.solution.values[self.slots + slot.0 as usize].unwrap_or(Uniformity::UNIFORM)
    }

    /// The uniformity of the results.
    pub fn results(&self) -> Vec<Uniformity> {
        self.results.iter().map(|r| r.unwrap_or(Uniformity::UNIFORM)).collect()
    }

    /// True if lanes diverge at the end of a block.
    pub fn diverges(&self, block: BlockId) -> bool {
        self.solution.diverges[block.0 as usize]
    }

    /// True if a branch that diverges decides which lanes run a block.
    pub fn is_masked(&self, block: BlockId) -> bool {
        self.solution.is_masked[block.0 as usize]
    }

    /// The result of the analysis, in terms of the graph: a node is a block, and the one after the
    /// last is the end of the function.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }
}

impl ModuleUniformity {
    /// Analyzes a function of a module, and those that it calls, for `lanes` lanes and parameters
    /// of this uniformity. `None` where there is no such function.
    pub fn new(module: &Module, name: &str, params: &[Uniformity], lanes: u32) -> Option<ModuleUniformity> {
        let index = module.index();
        let root = *index.get(name)?;
        let mut described: HashMap<usize, Described> = HashMap::new();
        let mut uniformity = ModuleUniformity { variants: Vec::new(), numbers: HashMap::new() };
        let mut work = VecDeque::new();
        uniformity.add(module, root, params.to_vec(), &mut work);
        while let Some(number) = work.pop_front() {
            let FunctionUniformity { function, params, .. } = &uniformity.variants[number];
            let (function, params) = (*function, params.clone());
            let known = described.entry(function);
            let known = known.or_insert_with(|| describe(&module.functions[function], module, &index, lanes));
            let flow = known.with_params(&params);
            let solution = solve(&flow, |call, args| {
                let callee = known.callees[call];
                let callee = uniformity.number(module, callee, args, &mut work);
                uniformity.variants[callee].callers.insert(number);
                uniformity.variants[callee].results.clone()
            });
            let results: Vec<Option<Uniformity>> = known.results.iter().map(|r| solution.values[*r as usize]).collect();
            let variant = &mut uniformity.variants[number];
            let has_changed = std::mem::replace(&mut variant.results, results) != variant.results;
            variant.solution = solution;
            if has_changed {
                let callers = variant.callers.iter().copied();
                let waiting: Vec<usize> = callers.filter(|c| !work.contains(c)).collect();
                work.extend(waiting);
            }
        }
        Some(uniformity)
    }

    /// The function that was asked for.
    pub fn root(&self) -> &FunctionUniformity {
        &self.variants[0]
    }

    /// All functions and signatures, the one that was asked for first.
    pub fn all(&self) -> &[FunctionUniformity] {
        &self.variants
    }

    /// A function that is called with arguments of this uniformity.
    pub fn called(&self, function: usize, args: &[Uniformity]) -> Option<&FunctionUniformity> {
        self.numbers.get(&(function, simplified(args))).map(|n| &self.variants[*n])
    }

    /// The number of a function that is called with arguments of this uniformity.
    fn number(&mut self, module: &Module, function: usize, args: &[Uniformity], work: &mut VecDeque<usize>) -> usize {
        let args = simplified(args);
        if let Some(known) = self.numbers.get(&(function, args.clone())) {
            return *known;
        }
        let count = self.variants.iter().filter(|v| v.function == function).count();
        let widened: Vec<Uniformity> = match count {
            0..MAX_EXACT => args.clone(),
            MAX_EXACT..MAX_SIGNATURES => {
                args.iter().map(|s| if s.is_uniform() { Uniformity::UNIFORM } else { Uniformity::Varying }).collect()
            }
            _ => vec![Uniformity::Varying; args.len()],
        };
        let number = match self.numbers.get(&(function, widened.clone())) {
            Some(known) => *known,
            None => self.add(module, function, widened, work),
        };
        self.numbers.insert((function, args), number);
        number
    }

    fn add(&mut self, module: &Module, function: usize, params: Vec<Uniformity>, work: &mut VecDeque<usize>) -> usize {
        let number = self.variants.len();
        self.numbers.insert((function, params.clone()), number);
        self.variants.push(FunctionUniformity::new(function, params, &module.functions[function]));
        work.push_back(number);
        number
    }
}

/// The uniformity of arguments as signatures have it: of a uniform one nothing else is known.
fn simplified(args: &[Uniformity]) -> Vec<Uniformity> {
    args.iter().map(|s| if s.is_uniform() { Uniformity::UNIFORM } else { *s }).collect()
}
