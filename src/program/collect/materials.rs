//! The methods of an RTSL material beside the one that shades: how it scatters light, its emission
//! and its opacity.

use crate::abi::EntryPoint;
use crate::ir::passes::Pipeline;
use crate::ir::{Const, Function, FunctionBuilder, FunctionKind, Inst, Op, Terminator, Type, Value};
use crate::program::collect::instances::Instance;
use std::sync::Arc;

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
        self.of_scattering().chain(&self.emission).chain(&self.opacity)
    }

    /// Those that are evaluated several times at one shading point.
    pub fn evaluated_repeatedly(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.of_scattering().chain(self.opacity.iter().filter(|_| self.scattering.is_some()))
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

    fn of_scattering(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.scattering.iter().flat_map(|s| [&s.bsdf, &s.sample, &s.pdf])
    }
}

/// Whether an `emission` is black everywhere, as that of a base class may be: the values of its
/// parameters are known.
pub fn is_black(emission: &Instance) -> bool {
    is_always(emission, "emission", Const::zero(Type::Vec3))
}

/// Whether an `opacity` is 1 everywhere.
pub fn is_opaque(opacity: &Instance) -> bool {
    is_always(opacity, "opacity", Const::Vec3([1.0; 3]))
}

/// Whether a method returns one colour everywhere.
fn is_always(method: &Instance, output: &str, color: Const) -> bool {
    let shader = &method.shader;
    let mut b = FunctionBuilder::new("method", FunctionKind::Entry(EntryPoint::Other));
    b.result("color", Type::Vec3);
    let outputs = method.call(&mut b, &shader.core, |b, slot, param| match slot {
        Some(slot) => method.constant_parameter(b, slot, param.ty),
        None => b.param(param.name.clone(), param.ty),
    });
    let Some(found) = outputs.get(output) else { return true };
    b.ret(vec![found]);
    let mut module = shader.split_unit();
    module.functions.push(b.finish());
    if Pipeline::default().run(&mut module, &mut ()).is_err() {
        return false;
    }
    module.function("method").is_some_and(|entry| returns_always(entry, &color))
}

/// Whether all results of a function are one constant.
pub fn returns_always(function: &Function, constant: &Const) -> bool {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let is_constant = |i: &&Inst| matches!(&i.op, Op::Const(c) if c == constant);
    let same: Vec<Value> = insts.filter(is_constant).filter_map(|i| i.results.first().copied()).collect();
    function.blocks.iter().all(|block| match &block.term {
        Terminator::Return(values) => values.iter().all(|v| same.contains(v)),
        _ => true,
    })
}
