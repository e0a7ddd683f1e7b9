//! The loop of `illuminance` in every language. It samples all lights of a batch, traces their
//! shadow rays with one instruction, and then runs the body once per light as an ordinary loop that
//! does not wait for lights. A light that is blocked has the color black.
//!
//! It emits IR and calls functions that the linker supplies ([`Intrinsic::LightSample`] and the
//! like). It knows no syntax.

use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{BlockId, CountedLoop, FunctionBuilder, LoopExits, Type, Value};

/// Lights whose shadow rays are shot together.
const BATCH: u32 = 16;

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
        let left = b.isub(count, first);
        let most = b.u32(BATCH);
        let few = b.ilt(left, most);
        let iterations = b.select(few, left, most);

        // Ask the lights of the batch.
        let asked = CountedLoop::begin(b, iterations);
        let i = asked.iteration;
        let number = b.iadd(first, i);
        let types = [Type::Vec3, Type::Vec3, Type::F32];
        let sample = b.call(Intrinsic::LightSample, vec![number, position, normal], &types);
        let direction = b.normalize(sample[0]);
        let [x, y, z] = [0, 1, 2].map(|lane| b.extract(direction, lane));
        let mut reach = sample[2];
        if let Some(category) = category {
            // A light of another category is not asked for: no ray to it.
            let is_meant = b.call(Intrinsic::LightCategory, vec![number, category], &[Type::Bool])[0];
            let none = b.f32(-1.0);
            reach = b.select(is_meant, reach, none);
        }
        let ray = b.compose(&[x, y, z, reach]);
        b.slot_store(rays, i, ray);
        b.slot_store(directions, i, sample[0]);
        b.slot_store(colors, i, sample[1]);
        asked.finish(b, 1);
        let visible = b.visible(rays, position, iterations);

        // Run the body for each.
        let lights = CountedLoop::begin(b, iterations);
        let i = lights.iteration;
        let direction = b.slot_load(directions, i);
        let color = b.slot_load(colors, i);
        let one = b.u32(1);
        let bit = b.ishr(visible, i);
        let bit = b.iand(bit, one);
        let lit = b.ieq(bit, one);
        let black = b.vec3([0.0; 3]);
        let color = b.select(lit, color, black);
        let (next, over) = (b.block(), b.block());
        let number = b.iadd(first, i);
        Self { batches, lights, number, direction, color, category, next, over }
    }

    /// The blocks to which the body may jump.
    pub fn exits(&self) -> LoopExits {
        LoopExits { break_to: self.over, continue_to: self.next }
    }

    /// Leaves out lights of other categories, and those beyond an angle around an axis, whose
    /// cosine this is.
    pub fn choose(&self, b: &mut FunctionBuilder, cone: Option<(Value, Value)>) {
        let mut inside = cone.map(|(axis, cosine)| in_cone(b, self.direction, axis, cosine));
        if let Some(category) = self.category {
            let is_meant = b.call(Intrinsic::LightCategory, vec![self.number, category], &[Type::Bool])[0];
            inside = Some(inside.map_or(is_meant, |inside| b.and(inside, is_meant)));
        }
        if let Some(inside) = inside {
            b.jump_unless(inside, self.next);
        }
    }

    /// Ends the body, and continues after the loop.
    pub fn finish(self, b: &mut FunctionBuilder) {
        b.join(self.next);
        self.lights.finish(b, 1);
        self.batches.finish(b, BATCH);
        b.join(self.over);
    }
}

/// The cosine of half of what a surface sees, from the cosine of the angle. A right angle means the
/// hemisphere: its cosine is 0, not that of the nearest float, so that lengths do not matter where
/// the angle is known, as it mostly is.
pub fn cosine_of_sight(b: &mut FunctionBuilder, angle: Value, cosine: Value) -> Value {
    let [right, zero] = [std::f32::consts::FRAC_PI_2, 0.0].map(|x| b.f32(x));
    let is_right = b.eq(angle, right);
    b.select(is_right, zero, cosine)
}

/// True if the angle between `l` and `axis` has at least this cosine, without a division: `l·axis ≥
/// cosine·√(l²·axis²)`.
pub fn in_cone(b: &mut FunctionBuilder, l: Value, axis: Value, cosine: Value) -> Value {
    let dot = b.dot(l, axis);
    let l2 = b.dot(l, l);
    let axis2 = b.dot(axis, axis);
    let both = b.mul(l2, axis2);
    let lengths = b.sqrt(both);
    let limit = b.mul(cosine, lengths);
    b.le(limit, dot)
}
