//! What rays of `gather` ask of the surface that they have found, beside its colour: `gather (…, "surface:N", n)`.
//!
//! Each question of a program is a kind of ray of its own, behind those of all programs ([`crate::program::synthesise::visibility`]). A surface entry gives such a ray its answer in the place of `Ci`, and 1 in the place
//! of `Oi`; both are 0 where it has none. Shaders learn the kind from the linker's functions [`RAYS_QUESTION`]. Programs whose shaders ask nothing have nothing of this.

use crate::ir::{Const, Function, FunctionBuilder, Module, Op, Type, Value};
use crate::lang::rsl::{RAYS_QUESTION, RslType};
use crate::program::collect::instances::{Instance, Outputs};
use crate::program::synthesise::outputs::triple;
use crate::program::synthesise::surface_state::{SurfaceInputs, SurfaceState};
use crate::program::synthesise::visibility::{OCCLUSION, for_rays_of_kinds, is_of_kind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The questions of a program, in the order of their kinds of rays.
#[derive(Clone, Debug, Default)]
pub struct Questions(Vec<Question>);

#[derive(Clone, Debug)]
struct Question {
    /// The linker's function that tells its kind of ray.
    function: Arc<str>,
    /// The type of the value: a float, or any triple.
    ty: Type,
    /// Whether the state before the shader runs is meant.
    of_primitive: bool,
    /// The name of a predefined variable or a parameter.
    name: Arc<str>,
}

/// The kind of rays of question `i`.
fn kind(i: usize) -> u16 {
    u16::from(OCCLUSION) + 1 + i as u16
}

impl Question {
    fn parse(function: &Arc<str>) -> Option<Self> {
        let (letter, rest) = function.strip_prefix(RAYS_QUESTION)?.split_once('.')?;
        let (word, name) = rest.split_once(':')?;
        let is_float = letter.chars().eq([RslType::Float.letter()]);
        let ty = if is_float { Type::F32 } else { Type::Vec3 };
        Some(Self { function: function.clone(), ty, of_primitive: word == "primitive", name: name.into() })
    }
}

impl Questions {
    /// Whether nobody asks anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that the functions of a module ask.
    pub fn of(module: &Module) -> Self {
        let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        let called: BTreeSet<&Arc<str>> =
            insts.filter_map(|i| if let Op::Call(name) = &i.op { Some(name) } else { None }).collect();
        Self(called.into_iter().filter_map(Question::parse).collect())
    }

    /// The functions that tell the kinds of rays.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.0.iter().enumerate().map(|(i, question)| {
            let mut b = FunctionBuilder::linker(question.function.clone());
            b.result("return", Type::F32);
            let kind = b.f32(kind(i).into());
            b.ret(vec![kind]);
            b.finish()
        })
    }

    /// Code that returns the answers which no shader is needed for; the builder goes on with other rays.
    pub fn answer_at_hit(&self, b: &mut FunctionBuilder, given: &SurfaceInputs) {
        for (i, question) in self.0.iter().enumerate().filter(|(_, q)| q.of_primitive) {
            for_rays_of_kinds(b, given.ray, &[kind(i)], |b| {
                let value = SurfaceState::new(b, given.clone()).global(b, &question.name);
                let is_known = if value.is_some() { 1.0 } else { 0.0 };
                let results = [value.unwrap_or_else(|| b.f32(0.0)), b.f32(is_known)].map(|v| triple(b, v));
                b.ret(results.to_vec());
            });
        }
    }

    /// The questions to a surface whose state is `state`, by rays that are `ray`.
    pub fn to(&self, b: &mut FunctionBuilder, state: &mut SurfaceState, ray: Value) -> Asked<'_> {
        let before = self.0.iter().map(|q| if q.of_primitive { None } else { state.global(b, &q.name) }).collect();
        Asked { questions: self, ray, before }
    }
}

/// The questions to a surface, which its shader answers.
#[derive(Debug)]
pub struct Asked<'a> {
    questions: &'a Questions,
    ray: Value,
    /// What the answer of each is that is a predefined variable, before the surface shader runs.
    before: Vec<Option<Value>>,
}

impl Asked<'_> {
    /// The displacement shader leaves predefined variables like this.
    pub fn displace(&mut self, moved: &Outputs<'_>) {
        for (question, before) in self.questions.0.iter().zip(&mut self.before).filter(|(q, _)| !q.of_primitive) {
            *before = moved.get(&question.name).or(*before);
        }
    }

    /// What rays get for `Ci` and `Oi`, where a surface shader with these parameters gave `outputs`, and `shaded` for those two: that, or an answer.
    pub fn answer(
        &self,
        b: &mut FunctionBuilder,
        instance: &Instance,
        params: &[Value],
        outputs: &Outputs<'_>,
        shaded: [Value; 2],
    ) -> [Value; 2] {
        if self.questions.0.iter().all(|q| q.of_primitive) {
            return shaded;
        }
        let (zero, one) = (b.constant(Const::zero(Type::Vec3)), b.constant(Const::Vec3([1.0; 3])));
        let (kind_of_ray, last) = (b.op(Op::Extract(3), &[self.ray]), b.f32(OCCLUSION.into()));
        let asks = b.op(Op::Lt, &[last, kind_of_ray]);
        let mut results = shaded.map(|value| b.op(Op::Select, &[asks, zero, value]));
        let shader = &instance.shader;
        let declared = || shader.core_params.iter().take(shader.declared()).zip(params);
        for (i, (question, before)) in self.questions.0.iter().zip(&self.before).enumerate() {
            let parameter = || declared().find(|(p, _)| p.name == question.name).map(|(_, &value)| value);
            let value = outputs.get(&question.name).or_else(parameter).or(*before);
            if let Some(value) = value.filter(|v| b.ty(*v) == question.ty && !question.of_primitive) {
                let is_this = is_of_kind(b, self.ray, kind(i));
                let answer = [triple(b, value), one];
                results = std::array::from_fn(|k| b.op(Op::Select, &[is_this, answer[k], results[k]]));
            }
        }
        results
    }
}
