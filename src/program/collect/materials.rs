//! The methods of an RTSL material beside the one that shades: how it scatters light, its emission
//! and its opacity.

use crate::collect::instances::{Instance, UniformPlaces, unpack};
use crate::collect::opacity::set_param;
use shadewright_ir::abi::EntryPoint;
use shadewright_ir::passes::Pipeline;
use shadewright_ir::{
    Const, Function, FunctionBuilder, FunctionKind, Inst, Module, Op, Param, Terminator, Type, Value,
};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The methods of a material.
#[derive(Clone, Debug, Default)]
pub struct MaterialMethods {
    /// How it scatters light, where paths are traced.
    pub scattering: Option<Scattering>,
    /// `emission`, unless that is black everywhere.
    pub emission: Option<Arc<Instance>>,
    /// `opacity`, unless that is 1 everywhere.
    pub opacity: Option<Arc<Instance>>,
}

/// The methods by which a path tracer scatters light.
#[derive(Clone, Debug)]
pub struct Scattering {
    /// `BSDF`.
    pub bsdf: Arc<Instance>,
    /// `sampleBSDF`.
    pub sample: Arc<Instance>,
    /// `evaluatePDF`.
    pub pdf: Arc<Instance>,
}

impl MaterialMethods {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.scattering().chain(&self.emission).chain(&self.opacity)
    }

    /// The methods that are evaluated several times at one shading point.
    pub fn evaluated_repeatedly(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.scattering().chain(self.opacity.iter().filter(|_| self.scattering.is_some()))
    }

    /// An instance of the method that shades, and these, with one block.
    pub fn sharing_the_block_of(&self, surface: &Instance) -> (Instance, Self) {
        let (surface, methods) = surface.clone().with_methods(self.all().map(|m| (**m).clone()).collect());
        let mut methods = methods.into_iter().map(Arc::new);
        // In the order of `all`.
        let scattering = self.scattering.as_ref().and_then(|_| {
            let (bsdf, sample, pdf) = (methods.next()?, methods.next()?, methods.next()?);
            Some(Scattering { bsdf, sample, pdf })
        });
        let emission = self.emission.as_ref().and_then(|_| methods.next());
        let opacity = self.opacity.as_ref().and_then(|_| methods.next());
        (surface, Self { scattering, emission, opacity })
    }

    fn scattering(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.scattering.iter().flat_map(|s| [&s.bsdf, &s.sample, &s.pdf])
    }
}

/// True if an `emission` is black everywhere, as that of a base class may be: the values of its
/// parameters are known.
pub fn is_black(emission: &Instance) -> bool {
    is_always(emission, "emission", Const::zero(Type::Vec3))
}

/// True if an `opacity` is 1 everywhere.
pub fn is_opaque(opacity: &Instance) -> bool {
    is_always(opacity, "opacity", Const::Vec3([1.0; 3]))
}

/// True if a method returns one color everywhere.
fn is_always(method: &Instance, output: &str, color: Const) -> bool {
    let shader = &method.shader;
    let reduced = shader.reduced.get_or_init(|| Arc::new(Reduced::new(method, output)));
    match reduced.is_of(method) {
        true => reduced.returns_always(method, &color),
        false => Reduced::new(method, output).returns_always(method, &color),
    }
}

/// A method of which nothing is known but its code, optimized once for all its instances: a scene may
/// have thousands, which differ in what this method does not read.
#[derive(Debug)]
pub struct Reduced {
    core_params: Vec<Param>,
    uniform: UniformPlaces,
    /// The function [`METHOD`] and what it calls; `None` where the method has no such output, or the
    /// passes fail.
    module: Option<Module>,
    /// The answer where there is no module.
    otherwise: bool,
    /// The vectors of the block that the function reads, with the numbers of its parameters.
    read: Vec<(usize, usize)>,
    /// The answers for instances, by these vectors.
    known: Mutex<HashMap<Vec<[u32; 4]>, bool>>,
}

/// The name of the function that calls a method.
const METHOD: &str = "method";

/// The start of the names of parameters that are vectors of a block.
const VECTOR: &str = "block.";

impl Reduced {
    fn new(method: &Instance, output: &str) -> Self {
        let shader = &method.shader;
        let mut reduced = Self {
            core_params: shader.core_params.clone(),
            uniform: method.uniform.clone(),
            module: None,
            otherwise: true,
            read: Vec::new(),
            known: Mutex::default(),
        };
        let mut b = FunctionBuilder::new(METHOD, FunctionKind::Entry(EntryPoint::Other));
        b.result("color", Type::Vec3);
        let mut vectors: HashMap<u32, Value> = HashMap::new();
        let outputs = method.call(&mut b, &shader.core, |b, slot, param| match slot {
            Some(slot) => unpack(b, param.ty, |b, k| {
                let vector = slot + k;
                *vectors.entry(vector).or_insert_with(|| b.param(format!("{VECTOR}{vector}"), Type::Vec4))
            }),
            None => b.param(param.name.clone(), param.ty),
        });
        let Some(found) = outputs.get(output) else { return reduced };
        b.ret(vec![found]);
        let mut module = shader.split_unit();
        module.functions.push(b.finish());
        if Pipeline::default().run(&mut module, &mut ()).is_err() {
            reduced.otherwise = false;
            return reduced;
        }
        let Some(entry) = module.function(METHOD) else { return Self { otherwise: false, ..reduced } };
        let insts = || entry.blocks.iter().flat_map(|block| &block.insts);
        let mut used: HashSet<Value> = insts().flat_map(|inst| inst.args.iter().copied()).collect();
        for term in entry.blocks.iter().map(|block| &block.term) {
            term.for_each_arg(|value| {
                used.insert(value);
            });
        }
        let params = entry.params.iter().zip(entry.param_values()).enumerate();
        reduced.read = params
            .filter(|(_, (_, value))| used.contains(value))
            .filter_map(|(i, (param, _))| Some((i, param.name.strip_prefix(VECTOR)?.parse().ok()?)))
            .collect();
        let is_alone = !insts().any(|inst| matches!(inst.op, Op::Call(_)));
        module.functions.retain(|function| !is_alone || &*function.name == METHOD);
        reduced.module = Some(module);
        reduced
    }

    /// True if this is of an instance's method, and its block is laid out so.
    fn is_of(&self, method: &Instance) -> bool {
        self.core_params == method.shader.core_params && self.uniform == method.uniform
    }

    fn returns_always(&self, method: &Instance, color: &Const) -> bool {
        let Some(module) = &self.module else { return self.otherwise };
        let key: Vec<[u32; 4]> = self.read.iter().map(|&(_, vector)| method.block[vector]).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = known.get(&key) {
            return known;
        }
        let mut module = module.clone();
        if let Some(function) = module.function_mut(METHOD) {
            for (&(i, _), words) in self.read.iter().zip(&key) {
                set_param(function, i, Const::Vec4(words.map(f32::from_bits)));
            }
        }
        let is_always = Pipeline::default().run(&mut module, &mut ()).is_ok()
            && module.function(METHOD).is_some_and(|entry| returns_always(entry, color));
        known.insert(key, is_always);
        is_always
    }
}

/// True if all results of a function are one constant.
pub fn returns_always(function: &Function, constant: &Const) -> bool {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let is_constant = |i: &&Inst| matches!(&i.op, Op::Const(c) if c == constant);
    let same: Vec<Value> = insts.filter(is_constant).filter_map(|i| i.results.first().copied()).collect();
    function.blocks.iter().all(|block| match &block.term {
        Terminator::Return(values) => values.iter().all(|v| same.contains(v)),
        _ => true,
    })
}
