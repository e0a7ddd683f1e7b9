//! Curves through control values (RISpec 3.2, section 15.1): `spline([basis,] value, f1, …, fn)`,
//! and with the control values in an array.
//!
//! A span of the curve is a cubic of four control values; the value, 0 to 1, runs over all spans.
//! The name of the basis may be known only while the shader runs: then the coefficients of all
//! bases are chosen from, and of floats whether the curve or its inverse (`"solve…"`) is meant.

use super::{Row, row};
use shadewright_ir::{Const, Control, FunctionBuilder, Op, SlotId, Type, Value};
use std::sync::Arc;

/// The rows of the functions for curves.
pub(super) const ROWS: &[Row] = &[
    row("spline", "f:fffff*", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "c:fcccc*", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "p:fpppp*", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "v:fvvvv*", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "f:fF", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "c:fC", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "p:fP", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "v:fV", |b, a| curve(b, &Basis::Known(&CATMULL_ROM), a)),
    row("spline", "f:sfffff*", named_floats),
    row("spline", "c:sfcccc*", named),
    row("spline", "p:sfpppp*", named),
    row("spline", "v:sfvvvv*", named),
    row("spline", "f:sfF", named_floats),
    row("spline", "c:sfC", named),
    row("spline", "p:sfP", named),
    row("spline", "v:sfV", named),
];

/// How four control values make a cubic.
struct Cubic {
    name: &'static str,
    /// How many control values further the next span starts.
    step: usize,
    /// For each power of t from 0 to 3, the factors of the control values.
    powers: [[f32; 4]; 4],
}

/// Catmull & Rom 1974: through all control values but the first and last.
const CATMULL_ROM: Cubic = Cubic {
    name: "catmull-rom",
    step: 1,
    powers: [[0.0, 1.0, 0.0, 0.0], [-0.5, 0.0, 0.5, 0.0], [1.0, -2.5, 2.0, -0.5], [-0.5, 1.5, -1.5, 0.5]],
};

const SIXTH: f32 = 1.0 / 6.0;

const B_SPLINE: Cubic = Cubic {
    name: "bspline",
    step: 1,
    powers: [
        [SIXTH, 4.0 * SIXTH, SIXTH, 0.0],
        [-0.5, 0.0, 0.5, 0.0],
        [0.5, -1.0, 0.5, 0.0],
        [-SIXTH, 0.5, -0.5, SIXTH],
    ],
};

/// The bases of RISpec 3.2, section 5.2; `linear` runs, like Catmull–Rom's, from the second control
/// value to the last but one.
const CUBICS: [&Cubic; 6] = [
    &CATMULL_ROM,
    &Cubic { name: "b-spline", ..B_SPLINE },
    &B_SPLINE,
    &Cubic {
        name: "bezier",
        step: 3,
        powers: [[1.0, 0.0, 0.0, 0.0], [-3.0, 3.0, 0.0, 0.0], [3.0, -6.0, 3.0, 0.0], [-1.0, 3.0, -3.0, 1.0]],
    },
    &Cubic {
        name: "hermite",
        step: 2,
        powers: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-3.0, -2.0, 3.0, -1.0], [2.0, 1.0, -2.0, 1.0]],
    },
    &Cubic { name: "linear", step: 1, powers: [[0.0, 1.0, 0.0, 0.0], [0.0, -1.0, 1.0, 0.0], [0.0; 4], [0.0; 4]] },
];

impl Cubic {
    /// The basis of that name; Catmull–Rom's for names that there are not.
    fn named(name: &str) -> &'static Cubic {
        CUBICS.iter().find(|c| c.name == name).copied().unwrap_or(&CATMULL_ROM)
    }

    /// The number of spans of `count` control values.
    fn spans(&self, count: usize) -> usize {
        count.saturating_sub(4) / self.step + 1
    }
}

/// The basis of a curve.
enum Basis {
    Known(&'static Cubic),
    /// The value is its name, with these letters before it.
    Asked(&'static str, Value),
}

/// The prefix of a basis that selects the inverse of the curve.
const SOLVE: &str = "solve";

impl Basis {
    /// A vector that depends on the basis.
    fn choose(&self, b: &mut FunctionBuilder, of: impl Fn(&Cubic) -> Const) -> Value {
        match *self {
            Basis::Known(cubic) => b.constant(of(cubic)),
            Basis::Asked(before, name) => {
                let first = b.constant(of(CUBICS[0]));
                CUBICS[1..].iter().fold(first, |so_far, cubic| {
                    let text = format!("{before}{}", cubic.name);
                    let [own, text] = [of(cubic), Const::String(text.into())].map(|c| b.constant(c));
                    let is_it = b.ieq(name, text);
                    b.select(is_it, own, so_far)
                })
            }
        }
    }
}

/// The text of a value that is a constant.
fn constant_text(b: &FunctionBuilder, value: Value) -> Option<Arc<str>> {
    let blocks = b.function().blocks.iter().rev();
    let made = blocks.flat_map(|block| block.insts.iter().rev()).find(|i| i.results.contains(&value))?;
    match &made.op {
        Op::Const(Const::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// A curve whose basis is named by the first argument.
fn named(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let basis = match constant_text(b, args[0]) {
        Some(name) => Basis::Known(Cubic::named(&name)),
        None => Basis::Asked("", args[0]),
    };
    curve(b, &basis, &args[1..])
}

/// The same for floats, which may ask for the curve's inverse.
fn named_floats(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    match constant_text(b, args[0]) {
        Some(name) => match name.strip_prefix(SOLVE) {
            Some(name) => solve(b, &Basis::Known(Cubic::named(name)), &args[1..]),
            None => named(b, args),
        },
        None => either(b, args),
    }
}

/// The curve or its inverse, as a name says that is known only while the shader runs.
fn either(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let is_inverse = CUBICS.iter().fold(None, |so_far, cubic| {
        let text = b.constant(Const::String(format!("{SOLVE}{}", cubic.name).into()));
        let is_it = b.ieq(args[0], text);
        Some(so_far.map_or(is_it, |other| b.or(other, is_it)))
    });
    let Some(is_inverse) = is_inverse else { return named(b, args) };
    b.if_else_values(
        is_inverse,
        |b| solve(b, &Basis::Asked(SOLVE, args[0]), &args[1..]),
        |b| curve(b, &Basis::Asked("", args[0]), &args[1..]),
    )
}

/// A curve ready to be evaluated: its control values in a slot.
struct Curve<'a> {
    basis: &'a Basis,
    slot: SlotId,
    ty: Type,
    /// How many spans there are.
    spans: Value,
    /// How many control values lie between the starts of spans.
    step: Value,
}

fn curve(b: &mut FunctionBuilder, basis: &Basis, args: &[Value]) -> Vec<Value> {
    let curve = Curve::new(b, basis, &args[1..]);
    vec![curve.at(b, args[0])]
}

impl<'a> Curve<'a> {
    fn new(b: &mut FunctionBuilder, basis: &'a Basis, control: &[Value]) -> Self {
        let ty = b.ty(control[0]);
        let slot = b.slot("spline", ty, control.len() as u32);
        for (i, &c) in control.iter().enumerate() {
            let index = b.u32(i as u32);
            b.slot_store(slot, index, c);
        }
        let spans = basis.choose(b, |cubic| Const::F32(cubic.spans(control.len()) as f32));
        let step = basis.choose(b, |cubic| Const::F32(cubic.step as f32));
        Self { basis, slot, ty, spans, step }
    }

    /// The curve's value at 0 to 1; its ends beyond.
    fn at(&self, b: &mut FunctionBuilder, value: Value) -> Value {
        let one = b.f32(1.0);
        let last = b.sub(self.spans, one);
        let inside = b.sat(value);
        let x = b.mul(inside, self.spans);
        let floor = b.floor(x);
        let span = b.min(floor, last);
        let t = b.sub(x, span);
        let first = b.mul(span, self.step);
        let first = b.to_int(first, Type::U32);
        let weights = self.weights(b, t);
        let part = |b: &mut FunctionBuilder, i: u8| {
            let offset = b.u32(i.into());
            let index = b.iadd(first, offset);
            let control = b.slot_load(self.slot, index);
            let weight = b.extract(weights, i);
            let weight = b.widen(weight, self.ty);
            b.mul(control, weight)
        };
        let first_part = part(b, 0);
        (1..4).fold(first_part, |sum, i| {
            let next = part(b, i);
            b.add(sum, next)
        })
    }

    /// The weights of the four control values of a span at `t`, by Horner's rule.
    fn weights(&self, b: &mut FunctionBuilder, t: Value) -> Value {
        let t = b.splat(t, Type::Vec4);
        let highest = self.basis.choose(b, |cubic| Const::Vec4(cubic.powers[3]));
        (0..3).rev().fold(highest, |sum, power| {
            let next = self.basis.choose(b, |cubic| Const::Vec4(cubic.powers[power]));
            let scaled = b.mul(sum, t);
            b.add(scaled, next)
        })
    }
}

/// Halvings of the range 0 to 1: the bits of a float's mantissa.
const HALVINGS: u32 = 24;

/// Where a curve that rises or falls all the way has the value `args[0]`: by halving the range.
fn solve(b: &mut FunctionBuilder, basis: &Basis, args: &[Value]) -> Vec<Value> {
    let curve = Curve::new(b, basis, &args[1..]);
    let [zero, one, half] = [0.0, 1.0, 0.5].map(|x| b.f32(x));
    let (start, end) = (curve.at(b, zero), curve.at(b, one));
    let falls = b.lt(end, start);
    let none = b.u32(0);
    let [low, width, count] = [zero, one, none].map(|start| b.variable_with(start));
    let is_wide = |b: &mut FunctionBuilder| {
        let (done, all) = (b.read(count), b.u32(HALVINGS));
        b.ilt(done, all)
    };
    let halve = |b: &mut FunctionBuilder| {
        let before = b.read(width);
        let smaller = b.mul(before, half);
        let from = b.read(low);
        let middle = b.add(from, smaller);
        let there = curve.at(b, middle);
        let below = b.lt(there, args[0]);
        let above = b.lt(args[0], there);
        let beyond = b.select(falls, above, below);
        let next = b.select(beyond, middle, from);
        let (done, one_more) = (b.read(count), b.u32(1));
        let counted = b.iadd(done, one_more);
        b.write(low, next);
        b.write(width, smaller);
        b.write(count, counted);
    };
    b.loop_while(is_wide, halve);
    vec![b.read(low)]
}
