//! An evaluator of the IR in intervals: where can the results of a GPU lie?
//!
//! It takes a verified module without ray operations and gives, for each float, an interval that
//! holds the result of every back end that keeps to WGSL's accuracy (WGSL, §"Accuracy of concrete
//! floating point expressions"): sums and products rounded once, in the written order, products
//! perhaps fused with sums; quotients and roots within a few units in the last place; results below
//! the smallest normal number perhaps flushed to zero. Integers and truth values are exact. Where
//! the interval does not decide a comparison, a floor or a conversion, it gives up: such a draw is
//! at risk of flipping. It knows nothing of back ends.

use shadewright::ir::fold::eval_op;
use shadewright::ir::{BlockId, Const, Function, Inst, Module, Op, Target, Terminator, Type, Value};

/// Units in the last place that `1 / x`, `inverseSqrt(x)`, `1 / sqrt(x)` and `sqrt(x)` may be off:
/// WGSL allows 2.5 for a quotient and 2 for `inverseSqrt`; `sqrt` is a quotient of one by that, and
/// one by that again makes 7.
const QUOTIENT_ULPS: f64 = 7.0;

/// The smallest normal single.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// The result lies between these, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

/// Why a draw is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// A comparison, and so a branch, may go either way.
    Comparison,
    /// A floor may be either of two numbers.
    Floor,
    /// A conversion to an integer may give either of two numbers.
    Conversion,
    /// A number is denormal, infinite or not a number, or may become so.
    Range,
}

/// The known bounds of a value.
#[derive(Clone, Debug)]
pub enum Known {
    /// The components of a float or a vector.
    Floats(Vec<Interval>),
    /// Any other value.
    Exact(Const),
}

impl Interval {
    fn point(x: f32) -> Self {
        Self { low: f64::from(x), high: f64::from(x) }
    }

    fn is_point(self) -> bool {
        self.low == self.high
    }

    fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The difference of the ends.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// True if a result lies within it.
    pub fn contains(self, x: f32) -> bool {
        (self.low..=self.high).contains(&f64::from(x))
    }

    /// Widened by so many units in the last place, and by what flushing may do.
    fn widened(self, ulps: f64) -> Result<Self, Risk> {
        // The spacing of singles is at most 2⁻²³ of their magnitude.
        let by = ulps * self.magnitude() * f64::from(f32::EPSILON) + TINY;
        let wide = Self { low: self.low - by, high: self.high + by };
        // Far inside the range of singles; NaN fails too.
        if wide.magnitude() < 1e30 { Ok(wide) } else { Err(Risk::Range) }
    }

    /// The result of an operation that is rounded once; `is_exact` when no rounding took place in
    /// computing the interval itself.
    fn rounded(self, is_exact: bool) -> Result<Self, Risk> {
        let is_single = self.is_point() && f64::from(self.low as f32) == self.low;
        match is_exact && is_single {
            true if self.low != 0.0 && self.low.abs() < TINY => Err(Risk::Range),
            true => Ok(self),
            false => self.widened(1.0),
        }
    }

    fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn plus(self, other: Self) -> Result<Self, Risk> {
        let sum = Self { low: self.low + other.low, high: self.high + other.high };
        let is_exact = sum.low - self.low == other.low && sum.low - other.low == self.low;
        sum.rounded(is_exact)
    }

    fn times(self, other: Self) -> Result<Self, Risk> {
        let ends = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let product =
            Self { low: ends.into_iter().fold(f64::MAX, f64::min), high: ends.into_iter().fold(f64::MIN, f64::max) };
        // The product of two singles fits a double.
        product.rounded(self.is_point() && other.is_point())
    }

    /// A falling function of numbers above zero, computed within [`QUOTIENT_ULPS`].
    fn falling(self, f: impl Fn(f64) -> f64) -> Result<Self, Risk> {
        Self { low: f(self.high), high: f(self.low) }.widened(QUOTIENT_ULPS)
    }

    fn reciprocal(self) -> Result<Self, Risk> {
        if self.low > TINY {
            self.falling(|x| 1.0 / x)
        } else if self.high < -TINY {
            Ok(self.negated().falling(|x| 1.0 / x)?.negated())
        } else {
            Err(Risk::Range)
        }
    }

    fn reciprocal_root(self) -> Result<Self, Risk> {
        if self.low > TINY { self.falling(|x| 1.0 / x.sqrt()) } else { Err(Risk::Range) }
    }

    fn root(self) -> Result<Self, Risk> {
        if self.low == 0.0 && self.is_point() {
            return Ok(self);
        }
        if self.low <= TINY {
            return Err(Risk::Range);
        }
        Self { low: self.low.sqrt(), high: self.high.sqrt() }.widened(QUOTIENT_ULPS)
    }

    fn absolute(self) -> Self {
        match (self.low >= 0.0, self.high <= 0.0) {
            (true, _) => self,
            (_, true) => self.negated(),
            _ => Self { low: 0.0, high: self.magnitude() },
        }
    }

    /// The one number below, and what is above it.
    fn split(self) -> Result<(f64, Self), Risk> {
        let below = self.low.floor();
        if self.high.floor() != below {
            return Err(Risk::Floor);
        }
        let above = Self { low: self.low - below, high: self.high - below };
        Ok((below, above.rounded(above.low + below == self.low)?))
    }

    fn floor(self) -> Result<Self, Risk> {
        let (below, above) = self.split()?;
        let floor = Self { low: below, high: below };
        // Computed as x − frac x: a fraction that was rounded may move it.
        if above.is_point() { Ok(floor) } else { floor.widened(1.0) }
    }

    fn clamped(self) -> Self {
        Self { low: self.low.clamp(0.0, 1.0), high: self.high.clamp(0.0, 1.0) }
    }

    fn least(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    fn greatest(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// True if `self − other` is below zero.
    fn is_below(self, other: Self) -> Result<bool, Risk> {
        if self.high - other.low < -TINY {
            Ok(true)
        } else if self.low >= other.high {
            Ok(false)
        } else {
            Err(Risk::Comparison)
        }
    }

    fn equals(self, other: Self) -> Result<bool, Risk> {
        if self.is_point() && self == other {
            return Ok(true);
        }
        let is_apart = self.high - other.low < -TINY || other.high - self.low < -TINY;
        if is_apart { Ok(false) } else { Err(Risk::Comparison) }
    }
}

impl Known {
    /// The bounds of a constant, of which everything is known.
    fn from_constant(c: &Const) -> Self {
        match c.floats() {
            Some(floats) => Known::Floats(floats.iter().map(|&x| Interval::point(x)).collect()),
            None => Known::Exact(c.clone()),
        }
    }

    fn floats(&self) -> &[Interval] {
        match self {
            Known::Floats(list) => list,
            Known::Exact(c) => panic!("{c:?} is not a float"),
        }
    }

    fn exact(&self) -> &Const {
        match self {
            Known::Exact(c) => c,
            Known::Floats(list) => panic!("{list:?} is not an integer"),
        }
    }

    fn index(&self) -> usize {
        self.exact().bits()[0] as usize
    }
}

/// Computes the known bounds of the results of a function.
///
/// # Errors
/// When back ends may decide something differently.
///
/// # Panics
/// On ray operations, memory and modules that break the rules.
pub fn run(module: &Module, function: &str, args: &[Const]) -> Result<Vec<Known>, Risk> {
    call(module, function, args.iter().map(Known::from_constant).collect())
}

fn call(module: &Module, function: &str, args: Vec<Known>) -> Result<Vec<Known>, Risk> {
    let func = module.function(function).expect("the module has the function");
    let mut frame = Frame {
        module,
        func,
        values: vec![None; func.values.len()],
        slots: func.slots.iter().map(|s| vec![Known::from_constant(&Const::zero(s.ty)); s.len as usize]).collect(),
    };
    for (&p, a) in func.param_values().iter().zip(args) {
        frame.set(p, a);
    }
    let mut block = BlockId(0);
    loop {
        for inst in &func.block(block).insts {
            frame.step(inst)?;
        }
        let target = match &func.block(block).term {
            Terminator::Return(values) => return Ok(values.iter().map(|&v| frame.get(v).clone()).collect()),
            Terminator::Jump(target) => target,
            Terminator::Branch(c, then, otherwise) => {
                if frame.truth(*c) {
                    then
                } else {
                    otherwise
                }
            }
        };
        block = frame.jump(target);
    }
}

/// An activation of a function.
struct Frame<'a> {
    module: &'a Module,
    func: &'a Function,
    values: Vec<Option<Known>>,
    slots: Vec<Vec<Known>>,
}

impl Frame<'_> {
    fn set(&mut self, value: Value, known: Known) {
        self.values[value.0 as usize] = Some(known);
    }

    fn get(&self, value: Value) -> &Known {
        self.values[value.0 as usize].as_ref().expect("values are defined before they are used")
    }

    fn truth(&self, value: Value) -> bool {
        matches!(self.get(value).exact(), Const::Bool(true))
    }

    fn jump(&mut self, target: &Target) -> BlockId {
        let args: Vec<Known> = target.args.iter().map(|&a| self.get(a).clone()).collect();
        for (&p, a) in self.func.block(target.block).params.iter().zip(args) {
            self.set(p, a);
        }
        target.block
    }

    fn step(&mut self, inst: &Inst) -> Result<(), Risk> {
        match &inst.op {
            Op::Call(name) => {
                let args = inst.args.iter().map(|&a| self.get(a).clone()).collect();
                let results = call(self.module, name, args)?;
                for (&r, known) in inst.results.iter().zip(results) {
                    self.set(r, known);
                }
            }
            Op::SlotStore(slot) => {
                let (i, value) = (self.get(inst.args[0]).index(), self.get(inst.args[1]).clone());
                if let Some(element) = self.slots[slot.0 as usize].get_mut(i) {
                    *element = value;
                }
            }
            Op::SlotLoad(slot) => {
                let elements = &self.slots[slot.0 as usize];
                let i = self.get(inst.args[0]).index().min(elements.len() - 1);
                let value = elements[i].clone();
                self.set(inst.results[0], value);
            }
            op => {
                let args: Vec<&Known> = inst.args.iter().map(|&a| self.get(a)).collect();
                let value = pure(op, &args, self.func.ty(inst.results[0]))?;
                self.set(inst.results[0], value);
            }
        }
        Ok(())
    }
}

/// A pure operation.
fn pure(op: &Op, args: &[&Known], ty: Type) -> Result<Known, Risk> {
    let each = |f: &dyn Fn(Interval) -> Result<Interval, Risk>| {
        args[0].floats().iter().map(|&x| f(x)).collect::<Result<_, _>>().map(Known::Floats)
    };
    let both = |f: &dyn Fn(Interval, Interval) -> Result<Interval, Risk>| {
        let pairs = args[0].floats().iter().zip(args[1].floats());
        pairs.map(|(&x, &y)| f(x, y)).collect::<Result<_, _>>().map(Known::Floats)
    };
    let first = |k: usize| args[k].floats()[0];
    let truth = |b: Result<bool, Risk>| b.map(|b| Known::Exact(Const::Bool(b)));
    match op {
        Op::Const(c) => Ok(Known::from_constant(c)),
        Op::Neg => each(&|x| Ok(x.negated())),
        Op::Abs => each(&|x| Ok(x.absolute())),
        Op::Rcp => each(&Interval::reciprocal),
        Op::Rsq => each(&Interval::reciprocal_root),
        Op::Sqrt => each(&Interval::root),
        Op::Frac => each(&|x| x.split().map(|(_, above)| above)),
        Op::Floor => each(&Interval::floor),
        Op::Sat => each(&|x| Ok(x.clamped())),
        Op::Add => both(&Interval::plus),
        Op::Sub => both(&|x, y| x.plus(y.negated())),
        Op::Mul => both(&Interval::times),
        Op::Min => both(&|x, y| Ok(x.least(y))),
        Op::Max => both(&|x, y| Ok(x.greatest(y))),
        Op::Dot => dot(args[0].floats(), args[1].floats()).map(|d| Known::Floats(vec![d])),
        Op::Cross => cross(args[0].floats(), args[1].floats()).map(Known::Floats),
        Op::Compose => Ok(Known::Floats((0..args.len()).map(first).collect())),
        Op::Splat => Ok(Known::Floats(vec![first(0); ty.words() as usize])),
        Op::Extract(k) => Ok(Known::Floats(vec![args[0].floats()[*k as usize]])),
        Op::Insert(k) => {
            let mut parts = args[0].floats().to_vec();
            parts[*k as usize] = first(1);
            Ok(Known::Floats(parts))
        }
        Op::Lt => truth(first(0).is_below(first(1))),
        Op::Le => truth(first(1).is_below(first(0)).map(|below| !below)),
        Op::Eq => truth(first(0).equals(first(1))),
        Op::Ne => truth(first(0).equals(first(1)).map(|equal| !equal)),
        Op::Select => Ok(args[if *args[0].exact() == Const::Bool(true) { 1 } else { 2 }].clone()),
        Op::ToInt => to_int(first(0), ty).map(Known::Exact),
        Op::ToFloat => {
            let x = match args[0].exact() {
                Const::I32(i) => f64::from(*i),
                other => f64::from(other.bits()[0]),
            };
            Interval { low: x, high: x }.rounded(true).map(|x| Known::Floats(vec![x]))
        }
        _ => {
            let args: Vec<&Const> = args.iter().map(|a| a.exact()).collect();
            Ok(Known::Exact(eval_op(op, &args, ty).unwrap_or_else(|| panic!("{op:?} is not pure"))))
        }
    }
}

/// A sum of products in any order.
fn dot(a: &[Interval], b: &[Interval]) -> Result<Interval, Risk> {
    let products = a.iter().zip(b).map(|(x, y)| x.times(*y)).collect::<Result<Vec<_>, _>>()?;
    let total =
        products.iter().fold(Interval::point(0.0), |sum, p| Interval { low: sum.low + p.low, high: sum.high + p.high });
    let size: f64 = products.iter().map(|p| p.magnitude()).sum();
    let is_whole = products.iter().all(|p| p.is_point() && p.low.fract() == 0.0);
    // Singles hold all whole numbers up to 2²⁴.
    if is_whole && size < f64::from(1 << 24) {
        return Ok(total);
    }
    let by = products.len() as f64 * size * f64::from(f32::EPSILON);
    Interval { low: total.low - by, high: total.high + by }.widened(1.0)
}

fn cross(a: &[Interval], b: &[Interval]) -> Result<Vec<Interval>, Risk> {
    let part = |i: usize, j: usize| a[i].times(b[j])?.plus(a[j].times(b[i])?.negated());
    Ok(vec![part(1, 2)?, part(2, 0)?, part(0, 1)?])
}

fn to_int(x: Interval, ty: Type) -> Result<Const, Risk> {
    let convert = |x: f64| match ty {
        Type::U32 => Const::U32(x as u32),
        _ => Const::I32(x as i32),
    };
    let low = convert(x.low);
    if low == convert(x.high) { Ok(low) } else { Err(Risk::Conversion) }
}
