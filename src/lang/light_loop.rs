//! The loop of `illuminance` in every language. It samples all lights of a batch, traces their
//! shadow rays with one instruction, and then runs the body once per light as an ordinary loop that
//! does not wait for lights. A light that is blocked has the colour black.
//!
//! It emits IR and calls functions that the linker supplies ([`Intrinsic::LightSample`] and the
//! like). It knows no syntax.

use shadewright_ir::abi::Intrinsic;
use shadewright_ir::emitter::normalize;
use shadewright_ir::{BlockId, Const, FunctionBuilder, Op, Type, Value, Variable};

/// Lights whose shadow rays are shot together.
const BATCH: u32 = 16;

/// A loop whose index runs from 0 while below a count. The builder is in its body.
#[derive(Clone, Copy, Debug)]
pub struct CountedLoop {
    head: BlockId,
    /// After the loop: `break` leads there.
    pub end: BlockId,
    index: Variable,
    /// The index in this iteration, a `u32`.
    pub iteration: Value,
}

impl CountedLoop {
    /// Begins a loop of `count` iterations.
    pub fn begin(b: &mut FunctionBuilder, count: Value) -> Self {
        let index = b.variable(Type::U32);
        let zero = b.u32(0);
        b.write(index, zero);
        let (head, body, end) = (b.block(), b.block(), b.block());
        b.jump(head, Vec::new());
        b.switch_to(head);
        let iteration = b.read(index);
        let more = b.op(Op::ILt, &[iteration, count]);
        b.branch(more, body, end);
        b.seal(body);
        b.switch_to(body);
        Self { head, end, index, iteration }
    }

    /// Ends the body: raises the index by `step` and goes back. The builder is after the loop then.
    pub fn finish(self, b: &mut FunctionBuilder, step: u32) {
        let i = b.read(self.index);
        let step = b.u32(step);
        let next = b.op(Op::IAdd, &[i, step]);
        b.write(self.index, next);
        b.jump(self.head, Vec::new());
        b.seal(self.head);
        b.seal(self.end);
        b.switch_to(self.end);
    }
}

/// The body of the loop: one light.
#[derive(Clone, Copy, Debug)]
pub struct LightLoop {
    batches: CountedLoop,
    lights: CountedLoop,
    /// The number of the light.
    pub number: Value,
    /// Towards it, and as long as it is far.
    pub direction: Value,
    /// The color of the light.
    pub color: Value,
    category: Option<Value>,
    /// Where the next light's iteration begins: `continue` leads there.
    pub next: BlockId,
    /// After the loop: `break` leads there.
    pub over: BlockId,
}

impl LightLoop {
    /// Begins the loop at a position with a normal, for lights of a category where one is given.
    /// The builder is in the body then.
    pub fn begin(b: &mut FunctionBuilder, position: Value, normal: Value, category: Option<Value>) -> Self {
        let rays = b.slot("light_rays", Type::Vec4, BATCH);
        let directions = b.slot("light_directions", Type::Vec3, BATCH);
        let colors = b.slot("light_colors", Type::Vec3, BATCH);
        let count = b.call(Intrinsic::LightCount, Vec::new(), &[Type::U32])[0];
        let batches = CountedLoop::begin(b, count);
        let first = batches.iteration;
        let left = b.op(Op::ISub, &[count, first]);
        let most = b.u32(BATCH);
        let few = b.op(Op::ILt, &[left, most]);
        let iterations = b.op(Op::Select, &[few, left, most]);

        // Ask the lights of the batch.
        let asked = CountedLoop::begin(b, iterations);
        let i = asked.iteration;
        let number = b.op(Op::IAdd, &[first, i]);
        let types = [Type::Vec3, Type::Vec3, Type::F32];
        let sample = b.call(Intrinsic::LightSample, vec![number, position, normal], &types);
        let direction = normalize(b, sample[0]);
        let [x, y, z] = [0, 1, 2].map(|lane| b.op(Op::Extract(lane), &[direction]));
        let mut reach = sample[2];
        if let Some(category) = category {
            // A light of another category is not asked for: no ray to it.
            let is_meant = b.call(Intrinsic::LightCategory, vec![number, category], &[Type::Bool])[0];
            let none = b.f32(-1.0);
            reach = b.op(Op::Select, &[is_meant, reach, none]);
        }
        let ray = b.op(Op::Compose, &[x, y, z, reach]);
        b.effect(Op::SlotStore(rays), &[i, ray]);
        b.effect(Op::SlotStore(directions), &[i, sample[0]]);
        b.effect(Op::SlotStore(colors), &[i, sample[1]]);
        asked.finish(b, 1);
        let visible = b.op(Op::Visible(rays), &[position, iterations]);

        // Run the body for each.
        let lights = CountedLoop::begin(b, iterations);
        let i = lights.iteration;
        let direction = b.op_as(Op::SlotLoad(directions), &[i], Type::Vec3);
        let color = b.op_as(Op::SlotLoad(colors), &[i], Type::Vec3);
        let one = b.u32(1);
        let bit = b.op(Op::IShr, &[visible, i]);
        let bit = b.op(Op::IAnd, &[bit, one]);
        let lit = b.op(Op::IEq, &[bit, one]);
        let black = b.constant(Const::Vec3([0.0; 3]));
        let color = b.op(Op::Select, &[lit, color, black]);
        let (next, over) = (b.block(), b.block());
        let number = b.op(Op::IAdd, &[first, i]);
        Self { batches, lights, number, direction, color, category, next, over }
    }

    /// Leaves out lights of other categories, and those beyond an angle around an axis, whose
    /// cosine this is.
    pub fn choose(&self, b: &mut FunctionBuilder, cone: Option<(Value, Value)>) {
        let mut inside = cone.map(|(axis, cosine)| in_cone(b, self.direction, axis, cosine));
        if let Some(category) = self.category {
            let is_meant = b.call(Intrinsic::LightCategory, vec![self.number, category], &[Type::Bool])[0];
            inside = Some(inside.map_or(is_meant, |inside| b.op(Op::And, &[inside, is_meant])));
        }
        if let Some(inside) = inside {
            let run = b.block();
            b.branch(inside, run, self.next);
            b.seal(run);
            b.switch_to(run);
        }
    }

    /// Ends the body, and continues after the loop.
    pub fn finish(self, b: &mut FunctionBuilder) {
        if !b.is_terminated() {
            b.jump(self.next, Vec::new());
        }
        b.seal(self.next);
        b.switch_to(self.next);
        self.lights.finish(b, 1);
        self.batches.finish(b, BATCH);
        b.jump(self.over, Vec::new());
        b.seal(self.over);
        b.switch_to(self.over);
    }
}

/// The cosine of half of what a surface sees, from the cosine of the angle. A right angle means the
/// hemisphere: its cosine is 0, not that of the nearest float, so that lengths do not matter where
/// the angle is known, as it mostly is.
pub fn cosine_of_sight(b: &mut FunctionBuilder, angle: Value, cosine: Value) -> Value {
    let [right, zero] = [std::f32::consts::FRAC_PI_2, 0.0].map(|x| b.f32(x));
    let is_right = b.op(Op::Eq, &[angle, right]);
    b.op(Op::Select, &[is_right, zero, cosine])
}

/// True if the angle between `l` and `axis` has at least this cosine, without a division: `l·axis ≥
/// cosine·√(l²·axis²)`.
pub fn in_cone(b: &mut FunctionBuilder, l: Value, axis: Value, cosine: Value) -> Value {
    let dot = b.op(Op::Dot, &[l, axis]);
    let l2 = b.op(Op::Dot, &[l, l]);
    let axis2 = b.op(Op::Dot, &[axis, axis]);
    let both = b.op(Op::Mul, &[l2, axis2]);
    let lengths = b.op(Op::Sqrt, &[both]);
    let limit = b.op(Op::Mul, &[cosine, lengths]);
    b.op(Op::Le, &[limit, dot])
}
