//! The functions that pfman has built in: those of RenderMan's headers for floats and arrays of
//! them, and those with versions for fixed point (Olano 1998, §4.1.2 and figure 4.14).
//!
//! In signatures, after which a colon the result stands, `f` is `float`, `3` is `float[3]`, `v` an
//! array of floats in one dimension, `g` a float or such an array, each the same type all along a
//! row, and `t` the identifier of a texture. A number of any other type becomes a float.

use super::lower::Lowerer;
use super::types::{Fixed, Scalar, Type};
use shadewright_ir::abi::library;
use shadewright_ir::{self as ir, Const, Op, Value};

/// A function.
#[derive(Debug)]
pub struct Builtin {
    /// The name in the language.
    pub name: &'static str,
    /// The types of the parameters, a colon, and the type of the result.
    pub signature: &'static str,
    /// The code that a call becomes.
    pub emit: Emit,
    /// A line for editors.
    pub about: &'static str,
}

/// Emits a call: of the values of the arguments, those of the result.
pub type Code = fn(&mut Lowerer<'_>, &[Vec<Value>]) -> Vec<Value>;

/// The code that a call of a built-in function becomes.
#[derive(Clone, Copy, Debug)]
pub enum Emit {
    /// A call of a function of the standard library, by its name in the IR; element by element of
    /// arrays.
    Library(&'static str),
    /// Instructions.
    Code(Code),
    /// A function of fixed-point numbers.
    Fixed(FixedFunction),
}

/// A function that has a version for fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedFunction {
    /// The magnitude.
    Abs,
    /// −1, 0 or 1.
    Sign,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// The first, within the bounds that follow.
    Clamp,
    /// The next whole number below.
    Floor,
    /// The next whole number above.
    Ceil,
    /// The square root; 0 of negative numbers.
    Sqrt,
    /// Noise of one to four numbers, or of an array of them.
    Noise,
}

const fn row(name: &'static str, signature: &'static str, emit: Emit, about: &'static str) -> Builtin {
    Builtin { name, signature, emit, about }
}

use Emit::{Fixed as InFixed, Library};

/// All of them; of several with a name those that fit better stand first.
pub static ROWS: [Builtin; 89] = [
    row("radians", "g:g", Library("radians"), "degrees as radians"),
    row("degrees", "g:g", Library("degrees"), "radians as degrees"),
    row("sin", "g:g", Library("sin"), "the sine"),
    row("cos", "g:g", Library("cos"), "the cosine"),
    row("tan", "g:g", Library("tan"), "the tangent"),
    row("asin", "g:g", Library("asin"), "the arc sine"),
    row("acos", "g:g", Library("acos"), "the arc cosine"),
    row("atan", "gg:g", Library("atan.ff.f"), "the angle of y and x"),
    row("atan", "g:g", Library("atan.f.f"), "the arc tangent"),
    row("atan2", "gg:g", Library("atan.ff.f"), "the angle of y and x"),
    row("pow", "gg:g", Library("pow"), "x to the power y"),
    row("pow", "gf:g", Library("pow"), "x to the power y"),
    row("exp", "g:g", Library("exp"), "e to the power x"),
    row("exp2", "g:g", Library("exp2"), "2 to the power x"),
    row("log", "g:g", Library("log.f.f"), "the natural logarithm"),
    row("log", "gg:g", Library("log.ff.f"), "the logarithm of x to a base"),
    row("log2", "g:g", Library("log2"), "the logarithm to the base 2"),
    row("fastsin", "g:g", Library("fastsin"), "the sine, as it looks"),
    row("fastcos", "g:g", Library("fastcos"), "the cosine, as it looks"),
    row("fasttan", "g:g", Library("fasttan"), "the tangent, as it looks"),
    row("fastasin", "g:g", Library("fastasin"), "the arc sine, as it looks"),
    row("fastacos", "g:g", Library("fastacos"), "the arc cosine, as it looks"),
    row("fastatan", "gg:g", Library("fastatan.ff.f"), "the angle of y and x, as it looks"),
    row("fastatan", "g:g", Library("fastatan.f.f"), "the arc tangent, as it looks"),
    row("fastatan2", "gg:g", Library("fastatan.ff.f"), "the angle of y and x, as it looks"),
    row("fastpow", "gg:g", Library("fastpow"), "x to the power y, as it looks"),
    row("fastpow", "gf:g", Library("fastpow"), "x to the power y, as it looks"),
    row("fastexp", "g:g", Library("fastexp"), "e to the power x, as it looks"),
    row("fastexp2", "g:g", Library("fastexp2"), "2 to the power x, as it looks"),
    row("fastlog", "g:g", Library("fastlog.f.f"), "the natural logarithm, as it looks"),
    row("fastlog2", "g:g", Library("fastlog2"), "the logarithm to the base 2, as it looks"),
    row("sqrt", "x:x", InFixed(FixedFunction::Sqrt), "the square root"),
    row("sqrt", "g:g", Emit::Code(|l, a| l.each(a, Op::Sqrt)), "the square root"),
    row("inversesqrt", "g:g", Emit::Code(|l, a| l.each(a, Op::Rsq)), "1 divided by the square root"),
    row("abs", "x:x", InFixed(FixedFunction::Abs), "the magnitude"),
    row("abs", "g:g", Emit::Code(|l, a| l.each(a, Op::Abs)), "the magnitude"),
    row("sign", "x:x", InFixed(FixedFunction::Sign), "-1, 0 or 1"),
    row("sign", "g:g", Library("sign"), "-1, 0 or 1"),
    row("floor", "x:x", InFixed(FixedFunction::Floor), "the next whole number below"),
    row("floor", "g:g", Emit::Code(|l, a| l.each(a, Op::Floor)), "the next whole number below"),
    row("ceil", "x:x", InFixed(FixedFunction::Ceil), "the next whole number above"),
    row("ceil", "g:g", Library("ceil"), "the next whole number above"),
    row("round", "g:g", Library("round"), "the nearest whole number"),
    row("min", "xx:x", InFixed(FixedFunction::Min), "the smaller"),
    row("min", "gg:g", Emit::Code(|l, a| l.each(a, Op::Min)), "the smaller"),
    row("max", "xx:x", InFixed(FixedFunction::Max), "the larger"),
    row("max", "gg:g", Emit::Code(|l, a| l.each(a, Op::Max)), "the larger"),
    row("clamp", "xxx:x", InFixed(FixedFunction::Clamp), "the first, within the bounds that follow"),
    row("clamp", "ggg:g", Library("clamp.fff.f"), "the first, within the bounds that follow"),
    row("clamp", "gff:g", Library("clamp.fff.f"), "the first, within the bounds that follow"),
    row("mod", "gg:g", Library("mod"), "the remainder, with the sign of the divisor"),
    row("mod", "gf:g", Library("mod"), "the remainder, with the sign of the divisor"),
    row("mix", "ggf:g", Library("mix.fff.f"), "a blend of two values"),
    row("mix", "ggg:g", Library("mix.fff.f"), "a blend of two values"),
    row("step", "gg:g", Library("step.ff.f"), "0 below the first, else 1"),
    row("step", "fg:g", Library("step.ff.f"), "0 below the first, else 1"),
    row("smoothstep", "ggg:g", Library("smoothstep.fff.f"), "a smooth step from 0 to 1 between two values"),
    row("smoothstep", "ffg:g", Library("smoothstep.fff.f"), "a smooth step from 0 to 1 between two values"),
    row("filterstep", "fff:f", Emit::Code(filterstep_of_width), "the step at an edge, averaged over a width around x"),
    row("filterstep", "ff:f", Emit::Code(filterstep), "the step at an edge, averaged over the pixel"),
    row("filterwidth", "f:f", Emit::Code(filterwidth), "the change of x over the pixel"),
    row("length", "v:f", Emit::Code(|l, a| vec![l.length(&a[0])]), "the length of a vector"),
    row("distance", "vv:f", Emit::Code(distance), "the distance of two points"),
    row("dot", "vv:f", Emit::Code(|l, a| vec![l.dot(&a[0], &a[1])]), "the dot product"),
    row("cross", "33:3", Emit::Code(|l, a| vec![l.b.cross(a[0][0], a[1][0])]), "the cross product"),
    row("normalize", "3:3", Emit::Code(|l, a| vec![l.b.normalize(a[0][0])]), "the vector of length 1"),
    row("normalize", "v:v", Emit::Code(normalized), "the vector of length 1"),
    row("faceforward", "33:3", Emit::Code(faceforward), "the vector, turned against a direction"),
    row("reflect", "33:3", Emit::Code(reflected), "the direction of a mirror"),
    row("noise", "x:x", InFixed(FixedFunction::Noise), "noise between 0 and 1 of one dimension"),
    row("noise", "xx:x", InFixed(FixedFunction::Noise), "noise of two dimensions"),
    row("noise", "w:x", InFixed(FixedFunction::Noise), "noise of as many dimensions, up to four"),
    row("noise", "f:f", Library("noise.1.1"), "noise between 0 and 1 of one dimension"),
    row("noise", "ff:f", Library("noise.2.1"), "noise of two dimensions"),
    row("noise", "3:f", Library("noise.3.1"), "noise of three dimensions"),
    row("noise", "v:f", Emit::Code(noise_of_array), "noise of as many dimensions, up to four"),
    row("noise3", "f:3", Library("noise.1.3"), "three noises of one dimension"),
    row("noise3", "ff:3", Library("noise.2.3"), "three noises of two dimensions"),
    row("noise3", "3:3", Library("noise.3.3"), "three noises of three dimensions"),
    row("cellnoise", "f:f", Library("cellnoise.1.1"), "a random number for each whole number"),
    row("cellnoise", "ff:f", Library("cellnoise.2.1"), "a random number for each pair of whole numbers"),
    row("cellnoise", "3:f", Library("cellnoise.3.1"), "a random number for each cell of space"),
    row("area", "3:f", Library("area.p.f"), "the area of the surface over a pixel"),
    row("ambient", ":3", Library("ambient"), "the ambient light"),
    row("diffuse", "3:3", Library("diffuse.n.c"), "the diffuse light that reaches a surface with a normal"),
    row("specular", "33f:3", Library("specular.nvf.c"), "the highlights that a viewer sees"),
    row("phong", "33f:3", Library("phong"), "Phong's highlights that a viewer sees"),
    row("texture", "tff:3", Emit::Code(texture), "the color of an image at texture coordinates"),
    row("texture", "tv:3", Emit::Code(texture), "the color of an image at texture coordinates"),
];

/// The functions of a name.
pub fn by_name(name: &str) -> impl Iterator<Item = &'static Builtin> {
    ROWS.iter().filter(move |row| row.name == name)
}

/// How many arguments a function of the library's source takes that has no overloads.
pub fn argument_count(source: &str) -> usize {
    match source {
        "__filterstep" => 5,
        _ => {
            let row = ROWS.iter().find(|row| row.library_source() == Some(source));
            row.and_then(|row| row.signature.split(':').next()).map_or(0, str::len)
        }
    }
}

/// How a function takes some arguments: the types that they are converted to, and that of the
/// result.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The types of the arguments.
    pub params: Vec<Type>,
    /// The type of the result.
    pub result: Type,
}

impl Builtin {
    /// How a message writes it.
    pub fn describe(&self) -> String {
        let word = |letter: char| match letter {
            'f' => "float",
            '3' => "float[3]",
            'v' => "float[n]",
            'g' => "float or float[n]",
            't' => "texture",
            'w' => "fixed[n]",
            _ => "fixed",
        };
        let (params, result) = self.signature.split_once(':').unwrap_or((self.signature, ""));
        let params: Vec<&str> = params.chars().map(word).collect();
        let result = result.chars().next().map_or("void", word);
        format!("{result} {}({})", self.name, params.join(", "))
    }

    /// How it takes arguments of these types; `None` where it does not.
    pub fn fit(&self, args: &[Type]) -> Option<Fit> {
        let (params, result) = self.signature.split_once(':')?;
        if params.len() != args.len() {
            return None;
        }
        if let Emit::Fixed(function) = self.emit {
            return match params {
                "w" => FixedFunction::fit_array(args),
                _ => function.fit(args),
            };
        }
        // What the letters that are the same all along stand for.
        let of = |letter: char| {
            params.chars().zip(args).find(|(p, _)| *p == letter).map(|(_, ty)| ty.with_scalar(Scalar::Float))
        };
        let mut types = Vec::new();
        for (letter, given) in params.chars().zip(args) {
            let wanted = match letter {
                'f' => Type::FLOAT,
                '3' => Type::floats(3),
                'v' => of('v').filter(|ty| ty.dims().len() == 1)?,
                'g' => of('g').filter(|ty| ty.dims().len() <= 1)?,
                _ => given.clone(),
            };
            if wanted.dims() != given.dims() || *given == Type::Void {
                return None;
            }
            types.push(wanted);
        }
        let most = match self.name {
            "noise" => 4,
            "texture" => 2,
            _ => u32::MAX,
        };
        if of('v').is_some_and(|ty| ty.dims()[0] > most) {
            return None;
        }
        let result = match result.chars().next()? {
            'f' => Type::FLOAT,
            '3' => Type::floats(3),
            letter => of(letter)?,
        };
        Some(Fit { params: types, result })
    }

    /// The predefined variables that the instructions of a call read.
    pub fn reads(&self) -> &'static [&'static str] {
        match (self.name, self.signature) {
            ("filterwidth" | "texture", _) | ("filterstep", "ff:f") => &["du", "dv"],
            _ => &[],
        }
    }

    /// The function of the library's source that a call needs.
    pub fn library_source(&self) -> Option<&'static str> {
        let name = match self.emit {
            Library(name) => name,
            _ => match self.name {
                "filterstep" => "__filterstep",
                _ => return None,
            },
        };
        name.split('.').next()
    }
}

impl FixedFunction {
    /// The type of noise.
    const NOISE: Fixed = Fixed { signed: false, size: 16, exponent: 16 };

    /// How noise takes an array.
    fn fit_array(args: &[Type]) -> Option<Fit> {
        let [array] = args else { return None };
        let element = array.scalar().fixed()?;
        let [1..=4] = array.dims() else { return None };
        let array = array.with_scalar(Scalar::Fixed(element));
        Some(Fit { params: vec![array], result: Type::number(Scalar::Fixed(Self::NOISE)) })
    }

    fn fit(self, args: &[Type]) -> Option<Fit> {
        let given: Option<Vec<Fixed>> = args.iter().map(|ty| ty.scalar().fixed().filter(|_| ty.is_number())).collect();
        let given = given?;
        let first = *given.first()?;
        let common = given.iter().skip(1).fold(first, |all, ty| all.common(*ty)).in_register();
        let whole = |signed: bool, bits: i32| Fixed { signed, size: bits.clamp(1, 31) as u32, exponent: 0 };
        let result = match self {
            FixedFunction::Abs => Fixed { signed: false, size: first.size + u32::from(first.signed), ..first },
            FixedFunction::Sign => Fixed { signed: true, size: 1, exponent: 0 },
            FixedFunction::Min | FixedFunction::Max | FixedFunction::Clamp => common,
            FixedFunction::Noise => Self::NOISE,
            FixedFunction::Floor => whole(first.signed, first.whole_bits()),
            FixedFunction::Ceil => whole(first.signed, first.whole_bits() + 1),
            FixedFunction::Sqrt => {
                let places = Self::places_before_root(first);
                Fixed {
                    signed: false,
                    size: (first.size + places).div_ceil(2),
                    exponent: (first.exponent + places as i32) / 2,
                }
            }
        };
        let wanted = match self {
            FixedFunction::Min | FixedFunction::Max | FixedFunction::Clamp | FixedFunction::Noise => common,
            _ => first,
        };
        let number = |ty| Type::number(Scalar::Fixed(ty));
        Some(Fit { params: vec![number(wanted); args.len()], result: number(result) })
    }

    /// How many zeros are appended to a number before the root of what is stored is taken: as many
    /// as a register holds, so that the exponent is even.
    pub fn places_before_root(ty: Fixed) -> u32 {
        let places = 32u32.saturating_sub(ty.size);
        if (ty.exponent + places as i32) % 2 == 0 { places } else { places.saturating_sub(1) }
    }
}

/// The change of `x` to the next sample, along the surface's two parameters together.
fn change(l: &mut Lowerer<'_>, x: Value) -> Value {
    let parts = [(Op::Du, "du"), (Op::Dv, "dv")].map(|(op, step)| {
        let change = l.b.op(op, &[x]);
        let step = l.input(step);
        let part = l.b.mul(change, step);
        l.b.abs(part)
    });
    l.b.add(parts[0], parts[1])
}

fn filterwidth(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    vec![change(l, a[0][0])]
}

/// The step at `edge`, averaged by the Catmull-Rom filter over a width around `x`.
fn averaged(l: &mut Lowerer<'_>, edge: Value, x: Value, width: Value) -> Vec<Value> {
    let half = l.b.f32(0.5);
    let half = l.b.mul(half, width);
    let (from, to) = (l.b.sub(x, half), l.b.add(x, half));
    let filter = l.b.constant(Const::String("catmull-rom".into()));
    let one = l.b.f32(1.0);
    l.library("__filterstep", vec![edge, from, to, filter, one], &[ir::Type::F32])
}

fn filterstep_of_width(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    averaged(l, a[0][0], a[1][0], a[2][0])
}

fn filterstep(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    let width = change(l, a[1][0]);
    averaged(l, a[0][0], a[1][0], width)
}

fn distance(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    let way: Vec<Value> = a[0].iter().zip(&a[1]).map(|(x, y)| l.b.sub(*x, *y)).collect();
    vec![l.length(&way)]
}

fn normalized(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    l.unit(&a[0])
}

fn faceforward(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    let along = l.b.dot(a[1][0], a[0][0]);
    let zero = l.b.f32(0.0);
    let is_facing = l.b.lt(along, zero);
    let turned = l.b.neg(a[0][0]);
    vec![l.b.select(is_facing, a[0][0], turned)]
}

fn reflected(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    let (incident, normal) = (a[0][0], a[1][0]);
    let along = l.b.dot(normal, incident);
    let twice = l.b.add(along, along);
    let twice = l.b.splat(twice, ir::Type::Vec3);
    let moved = l.b.mul(twice, normal);
    vec![l.b.sub(incident, moved)]
}

fn noise_of_array(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    match a[0][..] {
        [x] => l.library("noise.1.1", vec![x], &[ir::Type::F32]),
        [x, y] => l.library("noise.2.1", vec![x, y], &[ir::Type::F32]),
        [x, y, z, w, ..] => {
            let place = l.b.compose(&[x, y, z]);
            l.library("noise.4.1", vec![place, w], &[ir::Type::F32])
        }
        _ => vec![l.b.f32(0.0)],
    }
}

/// The color of an image, averaged over the pixel.
fn texture(l: &mut Lowerer<'_>, a: &[Vec<Value>]) -> Vec<Value> {
    let place: Vec<Value> = a[1..].iter().flatten().copied().collect();
    let (s, t) = (place[0], place[1]);
    let steps = ["du", "dv"].map(|name| l.input(name));
    let [by_s, by_t] = [s, t].map(|x| {
        let changes = [l.b.du(x), l.b.dv(x)];
        [0, 1].map(|i| l.b.mul(changes[i], steps[i]))
    });
    let moments = [(by_s, by_s), (by_s, by_t), (by_t, by_t)].map(|(x, y)| {
        let [first, second] = [0, 1].map(|i| l.b.mul(x[i], y[i]));
        l.b.add(first, second)
    });
    let moments = l.b.compose(&moments);
    let zero = l.b.f32(0.0);
    let place = l.b.compose(&[s, t, zero]);
    l.b.call(library::name("texture.color"), vec![a[0][0], place, moments, zero], &[ir::Type::Vec3])
}
