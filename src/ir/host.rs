//! Functions of the host: code in Rust that a program calls with values that are known before it
//! runs on a back end.
//!
//! In a module such a function stands as one whose [`Function::host`] the evaluator runs in place of
//! its body. Passes evaluate calls with constant arguments, and the linker those with parameters of
//! shaders; no back end compiles one.

use super::{Const, Function, FunctionBuilder, FunctionOrigin, Loc, Module, Op, Type, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The code of a function: the numbers of all arguments, in order, to those of the result.
type Code = dyn Fn(&[f32]) -> Vec<f32> + Send + Sync;

/// A function of the host, of floats and arrays of floats.
#[derive(Clone)]
pub struct HostFunction {
    /// Floats in each parameter: 1, or the length of an array.
    pub params: Vec<u32>,
    /// Floats in the result.
    pub result: u32,
    code: Arc<Code>,
}

impl HostFunction {
    /// A function. It must give the same numbers each time that it is given the same ones: calls are
    /// merged, moved and left out.
    pub fn new(params: &[u32], result: u32, code: impl Fn(&[f32]) -> Vec<f32> + Send + Sync + 'static) -> Self {
        Self { params: params.to_vec(), result, code: Arc::new(code) }
    }

    /// The results, of these types. `None` where the code gives another number of floats.
    pub fn call(&self, args: &[Const], types: &[Type]) -> Option<Vec<Const>> {
        let numbers: Vec<f32> = args.iter().flat_map(Const::bits).map(f32::from_bits).collect();
        let results = (self.code)(&numbers);
        let count: u32 = types.iter().map(|ty| ty.words()).sum();
        if results.len() != count as usize {
            return None;
        }
        let mut rest: Vec<u32> = results.into_iter().map(f32::to_bits).collect();
        let value = |ty: &Type| {
            let next = rest.split_off(ty.words() as usize);
            Const::from_bits(*ty, &std::mem::replace(&mut rest, next))
        };
        Some(types.iter().map(value).collect())
    }

    /// The function in a module. Its body reads all parameters, so that no pass drops one.
    pub fn declaration(&self, name: Arc<str>, params: &[Type], results: &[Type]) -> Function {
        let mut b = FunctionBuilder::new(name, super::FunctionKind::Function).with_origin(FunctionOrigin::User);
        results.iter().for_each(|ty| b.result("return", *ty));
        let params: Vec<Value> = params.iter().map(|ty| b.param("argument", *ty)).collect();
        let zero = b.f32(0.0);
        let sum = params.into_iter().fold(zero, |sum, p| {
            let number = if b.ty(p) == Type::F32 { p } else { b.op(Op::Extract(0), &[p]) };
            b.op(Op::Add, &[sum, number])
        });
        let filled = |ty: &Type| if *ty == Type::F32 { sum } else { b.op_as(Op::Splat, &[sum], *ty) };
        let results = results.iter().map(filled).collect();
        b.ret(results);
        Function { host: Some(self.clone()), ..b.finish() }
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFunction").field("params", &self.params).field("result", &self.result).finish()
    }
}

impl PartialEq for HostFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.code, &other.code)
    }
}

/// Functions of the host by their names. The default is [`HostFunctions::standard`].
#[derive(Clone, Debug)]
pub struct HostFunctions(Arc<BTreeMap<Arc<str>, HostFunction>>);

impl HostFunctions {
    /// The functions of C's `math.h` that shading languages have no function for: `sinh cosh tanh
    /// asinh acosh atanh expm1 log1p cbrt` of one number, `hypot fmod` of two.
    pub fn standard() -> Self {
        static STANDARD: LazyLock<HostFunctions> = LazyLock::new(|| {
            let one = |name: &str, f: fn(f32) -> f32| (name.into(), HostFunction::new(&[1], 1, move |x| vec![f(x[0])]));
            let two = |name: &str, f: fn(f32, f32) -> f32| {
                (name.into(), HostFunction::new(&[1, 1], 1, move |x| vec![f(x[0], x[1])]))
            };
            HostFunctions(Arc::new(BTreeMap::from([
                one("sinh", f32::sinh),
                one("cosh", f32::cosh),
                one("tanh", f32::tanh),
                one("asinh", f32::asinh),
                one("acosh", f32::acosh),
                one("atanh", f32::atanh),
                one("expm1", f32::exp_m1),
                one("log1p", f32::ln_1p),
                one("cbrt", f32::cbrt),
                two("hypot", f32::hypot),
                two("fmod", |a, b| a % b),
            ])))
        });
        STANDARD.clone()
    }

    /// These and another one, which takes the place of one of its name.
    pub fn with(self, name: &str, function: HostFunction) -> Self {
        let mut functions = (*self.0).clone();
        functions.insert(name.into(), function);
        Self(Arc::new(functions))
    }

    /// The function of a name.
    pub fn get(&self, name: &str) -> Option<&HostFunction> {
        self.0.get(name)
    }
}

impl Default for HostFunctions {
    fn default() -> Self {
        Self::standard()
    }
}

impl PartialEq for HostFunctions {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for HostFunctions {}

/// The first call of a function of the host that is left in a module: its name, and the place.
pub fn left_over(module: &Module) -> Option<(Arc<str>, Loc)> {
    let hosts: Vec<&Arc<str>> = module.functions.iter().filter(|f| f.host.is_some()).map(|f| &f.name).collect();
    if hosts.is_empty() {
        return None;
    }
    let mut insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    insts.find_map(|i| match &i.op {
        Op::Call(name) if hosts.contains(&name) => Some((name.clone(), i.loc)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::Pipeline;
    use crate::{EmptyWorld, EvalError, FunctionKind, Limits, eval};

    fn module(host: &HostFunction, argument: Option<f32>) -> Module {
        let mut b = FunctionBuilder::new("f", FunctionKind::Entry(crate::abi::EntryPoint::Other));
        b.result("return", Type::Vec3);
        let x = b.param("x", Type::F32);
        let x = argument.map_or(x, |c| b.f32(c));
        let called = b.call("g", vec![x], &[Type::Vec3]);
        b.ret(called);
        let declaration = host.declaration("g".into(), &[Type::F32], &[Type::Vec3]);
        Module { functions: vec![b.finish(), declaration], ..Module::new() }
    }

    fn powers() -> HostFunction {
        HostFunction::new(&[1], 3, |x| vec![x[0], x[0] * x[0], x[0] * x[0] * x[0]])
    }

    #[test]
    fn the_evaluator_calls_it() {
        let module = module(&powers(), None);
        crate::verify(&module).expect("it is valid");
        let result = eval(&module, "f", &[Const::F32(2.0)], &mut EmptyWorld, Limits::default());
        assert_eq!(result, Ok(vec![Const::Vec3([2.0, 4.0, 8.0])]));
    }

    #[test]
    fn constants_are_worked_out_and_other_calls_are_left() {
        let mut known = module(&powers(), Some(3.0));
        Pipeline::default().run(&mut known, &mut ()).expect("the passes run");
        assert_eq!(left_over(&known), None);
        assert!(known.to_string().contains("27"), "{known}");
        let mut unknown = module(&powers(), None);
        Pipeline::default().run(&mut unknown, &mut ()).expect("the passes run");
        assert_eq!(left_over(&unknown).expect("a call").0, "g".into());
    }

    #[test]
    fn a_wrong_number_of_results_is_an_error() {
        let module = module(&HostFunction::new(&[1], 3, |x| x.to_vec()), None);
        let result = eval(&module, "f", &[Const::F32(2.0)], &mut EmptyWorld, Limits::default());
        assert!(matches!(result, Err(EvalError::Malformed { .. })));
    }
}
