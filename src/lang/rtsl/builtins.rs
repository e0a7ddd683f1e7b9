//! The built-in functions of the language: GLSL's (GLSL 1.20, chapter 8) without those for
//! rasterization, and RTSL's (§3.2).
//!
//! A row has a name, what it takes and gives, and what a call becomes. In signatures, after which
//! a colon the result stands: `g` is `float`, `vec2` to `vec4` or `color`, `v` the same without
//! colors, `V` a vector of floats, each the same type all along a row; `f i b` are `float int
//! bool`, `c` is `color`, `3` is `vec3`, `I` an `int` or `ivec`, `B` a `bvec`, `M` a matrix; as a
//! result `B` has a truth value for each component.

use super::ast::BinaryOp;
use super::lower::{Body, Typed};
use super::matrices;
use super::types::{BasicType, Scalar, Type};
use shadewright_ir::abi::library;
use shadewright_ir::{self as ir, Op, Value};

/// Functions of the standard library's source that calls become.
pub const LIBRARY: [&str; 23] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "pow", "exp", "exp2", "log", "log2", "fastsin", "fastcos", "fasttan",
    "fastasin", "fastacos", "fastatan", "fastpow", "fastexp", "fastexp2", "fastlog", "fastlog2", "trace",
];

/// A function.
struct Row {
    name: &'static str,
    signature: &'static str,
    emit: Emit,
}

/// Emits a call: of the values of the arguments, the parts of the result.
type Emit = for<'b, 'a> fn(&'b mut Body<'a>, &[Typed]) -> Vec<Value>;

const fn row(name: &'static str, signature: &'static str, emit: Emit) -> Row {
    Row { name, signature, emit }
}

/// All of them; of several with a name those that fit better stand first.
const ROWS: &[Row] = &[
    // 8.1: angles and trigonometry.
    row("radians", "g:g", |b, a| scaled(b, a, std::f32::consts::PI / 180.0)),
    row("degrees", "g:g", |b, a| scaled(b, a, 180.0 / std::f32::consts::PI)),
    row("sin", "g:g", |b, a| by_library(b, a, "sin")),
    row("cos", "g:g", |b, a| by_library(b, a, "cos")),
    row("tan", "g:g", |b, a| by_library(b, a, "tan")),
    row("asin", "g:g", |b, a| by_library(b, a, "asin")),
    row("acos", "g:g", |b, a| by_library(b, a, "acos")),
    row("atan", "gg:g", |b, a| by_library(b, a, "atan.ff.f")),
    row("atan", "g:g", |b, a| by_library(b, a, "atan.f.f")),
    // 8.2: powers.
    row("pow", "gi:g", power),
    row("pow", "gg:g", |b, a| by_library(b, a, "pow")),
    row("pow", "gf:g", |b, a| by_library(b, a, "pow")),
    row("exp", "g:g", |b, a| by_library(b, a, "exp")),
    row("log", "g:g", |b, a| by_library(b, a, "log.f.f")),
    row("exp2", "g:g", |b, a| by_library(b, a, "exp2")),
    row("log2", "g:g", |b, a| by_library(b, a, "log2")),
    row("sqrt", "g:g", |b, a| each(b, a, Op::Sqrt)),
    row("inversesqrt", "g:g", |b, a| each(b, a, Op::Rsq)),
    // Functions of the first two sections, as they look (docs/math.md).
    row("fastsin", "g:g", |b, a| by_library(b, a, "fastsin")),
    row("fastcos", "g:g", |b, a| by_library(b, a, "fastcos")),
    row("fasttan", "g:g", |b, a| by_library(b, a, "fasttan")),
    row("fastasin", "g:g", |b, a| by_library(b, a, "fastasin")),
    row("fastacos", "g:g", |b, a| by_library(b, a, "fastacos")),
    row("fastatan", "gg:g", |b, a| by_library(b, a, "fastatan.ff.f")),
    row("fastatan", "g:g", |b, a| by_library(b, a, "fastatan.f.f")),
    row("fastpow", "gg:g", |b, a| by_library(b, a, "fastpow")),
    row("fastpow", "gf:g", |b, a| by_library(b, a, "fastpow")),
    row("fastexp", "g:g", |b, a| by_library(b, a, "fastexp")),
    row("fastlog", "g:g", |b, a| by_library(b, a, "fastlog.f.f")),
    row("fastexp2", "g:g", |b, a| by_library(b, a, "fastexp2")),
    row("fastlog2", "g:g", |b, a| by_library(b, a, "fastlog2")),
    // 8.3: common functions.
    row("abs", "I:I", |b, a| {
        let zero = b.b.i32(0);
        let parts = a[0].parts.clone();
        parts
            .into_iter()
            .map(|x| {
                let (less, other) = (b.b.ilt(x, zero), b.b.isub(zero, x));
                b.b.select(less, other, x)
            })
            .collect()
    }),
    row("abs", "g:g", |b, a| each(b, a, Op::Abs)),
    row("sign", "g:g", |b, a| {
        by_component(b, a, |b, x| {
            let (zero, one, minus_one) = (b.b.f32(0.0), b.b.f32(1.0), b.b.f32(-1.0));
            let (less, more) = (b.b.lt(x[0], zero), b.b.lt(zero, x[0]));
            let positive = b.b.select(more, one, zero);
            b.b.select(less, minus_one, positive)
        })
    }),
    row("floor", "g:g", |b, a| each(b, a, Op::Floor)),
    row("ceil", "g:g", |b, a| {
        let turned = b.b.neg(a[0].parts[0]);
        let floor = b.b.floor(turned);
        vec![b.b.neg(floor)]
    }),
    row("round", "g:g", |b, a| {
        let half = spread(b, 0.5, a[0].parts[0]);
        let more = b.b.add(a[0].parts[0], half);
        vec![b.b.floor(more)]
    }),
    row("trunc", "g:g", |b, a| {
        by_component(b, a, |b, x| {
            let size = b.b.abs(x[0]);
            let whole = b.b.floor(size);
            let (zero, other) = (b.b.f32(0.0), b.b.neg(whole));
            let less = b.b.lt(x[0], zero);
            b.b.select(less, other, whole)
        })
    }),
    row("fract", "g:g", |b, a| each(b, a, Op::Frac)),
    row("mod", "gg:g", modulus),
    row("mod", "gf:g", modulus),
    row("min", "II:I", |b, a| smaller(b, a, false)),
    row("min", "gg:g", |b, a| vec![b.b.min(a[0].parts[0], a[1].parts[0])]),
    row("min", "gf:g", |b, a| with_number(b, a, Op::Min)),
    row("min", "V:f", |b, a| horizontal(b, &a[0], Op::Min)),
    row("max", "II:I", |b, a| smaller(b, a, true)),
    row("max", "gg:g", |b, a| vec![b.b.max(a[0].parts[0], a[1].parts[0])]),
    row("max", "gf:g", |b, a| with_number(b, a, Op::Max)),
    row("max", "V:f", |b, a| horizontal(b, &a[0], Op::Max)),
    row("clamp", "ggg:g", clamped),
    row("clamp", "gff:g", clamped),
    row("mix", "ggg:g", mixed),
    row("mix", "ggf:g", mixed),
    row("step", "gg:g", |b, a| by_component(b, a, stepped)),
    row("step", "fg:g", |b, a| by_component(b, a, stepped)),
    row("smoothstep", "ggg:g", |b, a| by_component(b, a, smooth)),
    row("smoothstep", "ffg:g", |b, a| by_component(b, a, smooth)),
    // 8.4: geometry.
    row("length", "v:f", |b, a| vec![b.b.length(a[0].parts[0])]),
    row("distance", "vv:f", |b, a| vec![b.b.distance(a[0].parts[0], a[1].parts[0])]),
    row("dot", "vv:f", |b, a| vec![b.b.dot(a[0].parts[0], a[1].parts[0])]),
    row("cross", "33:3", |b, a| vec![b.b.cross(a[0].parts[0], a[1].parts[0])]),
    row("normalize", "3:3", |b, a| vec![b.b.normalize(a[0].parts[0])]),
    row("normalize", "v:v", |b, a| vec![b.b.normalize(a[0].parts[0])]),
    row("faceforward", "vvv:v", |b, a| {
        let along = b.b.dot(a[2].parts[0], a[1].parts[0]);
        let zero = b.b.f32(0.0);
        let is_facing = b.b.lt(along, zero);
        let turned = b.b.neg(a[0].parts[0]);
        vec![b.b.select(is_facing, a[0].parts[0], turned)]
    }),
    row("reflect", "vv:v", |b, a| {
        let (i, n) = (a[0].parts[0], a[1].parts[0]);
        let along = b.b.dot(n, i);
        let twice = b.b.add(along, along);
        let by = wide(b, twice, n);
        let moved = b.b.mul(by, n);
        vec![b.b.sub(i, moved)]
    }),
    row("refract", "vvf:v", refracted),
    // 8.5: matrices.
    row("matrixCompMult", "MM:M", |b, a| {
        let pairs: Vec<_> = a[0].parts.iter().copied().zip(a[1].parts.iter().copied()).collect();
        pairs.into_iter().map(|(x, y)| b.b.mul(x, y)).collect()
    }),
    // 8.6: comparisons of vectors.
    row("lessThan", "VV:B", |b, a| compared(b, a, BinaryOp::Lt)),
    row("lessThan", "II:B", |b, a| compared(b, a, BinaryOp::Lt)),
    row("lessThanEqual", "VV:B", |b, a| compared(b, a, BinaryOp::Le)),
    row("lessThanEqual", "II:B", |b, a| compared(b, a, BinaryOp::Le)),
    row("greaterThan", "VV:B", |b, a| compared(b, a, BinaryOp::Gt)),
    row("greaterThan", "II:B", |b, a| compared(b, a, BinaryOp::Gt)),
    row("greaterThanEqual", "VV:B", |b, a| compared(b, a, BinaryOp::Ge)),
    row("greaterThanEqual", "II:B", |b, a| compared(b, a, BinaryOp::Ge)),
    row("equal", "VV:B", |b, a| equal(b, a, true)),
    row("equal", "II:B", |b, a| equal(b, a, true)),
    row("equal", "BB:B", |b, a| equal(b, a, true)),
    row("notEqual", "VV:B", |b, a| equal(b, a, false)),
    row("notEqual", "II:B", |b, a| equal(b, a, false)),
    row("notEqual", "BB:B", |b, a| equal(b, a, false)),
    row("any", "B:b", |b, a| joined(b, &a[0].parts, Op::Or)),
    row("all", "B:b", |b, a| joined(b, &a[0].parts, Op::And)),
    // `all(inside(x, 0.0, 1.0))` of one number.
    row("any", "b:b", |_, a| a[0].parts.clone()),
    row("all", "b:b", |_, a| a[0].parts.clone()),
    row("not", "B:B", |b, a| a[0].parts.clone().into_iter().map(|x| b.b.not(x)).collect()),
    // 8.9: noise.
    row("noise1", "v:f", |b, a| vec![noise(b, &a[0], 0)]),
    row("noise2", "v:2", |b, a| noises(b, &a[0], 2)),
    row("noise3", "v:3", |b, a| noises(b, &a[0], 3)),
    row("noise4", "v:4", |b, a| noises(b, &a[0], 4)),
    // RTSL §3.2.
    row("inside", "vvv:B", inside),
    row("inside", "vff:B", inside),
    row("perpendicularTo", "V:V", perpendicular),
    row("dominantAxis", "V:i", dominant),
    row("luminance", "c:f", |b, a| {
        // Rec. 709, for linear red, green and blue.
        let weights = b.b.vec3([0.2126, 0.7152, 0.0722]);
        vec![b.b.dot(a[0].parts[0], weights)]
    }),
];

/// Functions whose result's type depends on those of their arguments in ways that signatures do not
/// say.
const SHAPED: [&str; 8] =
    ["transpose", "inverse", "determinant", "outerProduct", "trace", "hit", "rand", "textureImage"];

/// Functions of GLSL for rasterization only, and what replaces them.
const UNSUPPORTED: [(&str, &str); 10] = [
    ("texture1D", "textures are objects: `lookup()` of an `rt_Texture` sets `rt_TextureColor`"),
    (
        "texture2D",
        "`textureImage(name, place)` looks at an image in a file, and `lookup()` of an `rt_Texture` at any texture",
    ),
    ("texture2DProj", "textures are objects: `lookup()` of an `rt_Texture` sets `rt_TextureColor`"),
    (
        "texture2DLod",
        "`textureImage(name, place)` looks at an image in a file, and `lookup()` of an `rt_Texture` at any texture",
    ),
    ("texture3D", "textures are objects: `lookup()` of an `rt_Texture` sets `rt_TextureColor`"),
    ("textureCube", "textures are objects: `lookup()` of an `rt_Texture` sets `rt_TextureColor`"),
    ("ftransform", "no vertices are transformed: points are in the world"),
    ("dFdx", "rays have no neighbors on a screen: `rt_du` and `rt_dPdu` measure rates of change"),
    ("dFdy", "rays have no neighbors on a screen: `rt_dv` and `rt_dPdv` measure rates of change"),
    ("fwidth", "rays have no neighbors on a screen: `rt_du` and `rt_dv` measure rates of change"),
];

/// Why a function of GLSL is not here.
pub fn unsupported(name: &str) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|l| l.0 == name).map(|l| l.1)
}

/// True if the language has a function of that name.
pub fn is_known(name: &str) -> bool {
    SHAPED.contains(&name) || ROWS.iter().any(|r| r.name == name)
}

/// True if calls of it do nothing but compute a little.
pub fn is_simple(name: &str) -> bool {
    !SHAPED.contains(&name) && !name.starts_with("noise")
}

/// The names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHAPED.iter().copied().chain(ROWS.iter().map(|r| r.name))
}

/// How messages write the functions of a name.
pub fn described(name: &str) -> impl Iterator<Item = String> {
    let word = |letter: char| match letter {
        'g' => "float, vec or color",
        'v' => "float or vec",
        'V' => "vec",
        'f' => "float",
        'i' => "int",
        'b' => "bool",
        'c' => "color",
        '3' => "vec3",
        'I' => "int or ivec",
        'B' => "bvec",
        _ => "matrix",
    };
    let of_row = move |row: &Row| {
        let params = row.signature.split(':').next().unwrap_or("");
        let words: Vec<&str> = params.chars().map(word).collect();
        format!("{}({})", row.name, words.join(", "))
    };
    let shaped = SHAPED.iter().filter(move |s| **s == name).map(|s| match *s {
        "outerProduct" => "outerProduct(vec, vec)".to_string(),
        "inverse" => "inverse(matrix), of square matrices and mat3x2 and mat4x3".to_string(),
        "rand" => "rand()".to_string(),
        "textureImage" => {
            "textureImage(string, vec2), a color, and textureImage(string, vec2, int), a channel".to_string()
        }
        other => format!("{other}(matrix)"),
    });
    let rows: Vec<String> = ROWS.iter().filter(|r| r.name == name).map(of_row).collect();
    rows.into_iter().chain(shaped)
}

/// Calls a function; `None` when none of its name takes these values.
pub fn call(body: &mut Body<'_>, name: &str, args: &[Typed]) -> Option<Typed> {
    if let Some(result) = shaped(body, name, args) {
        return Some(result);
    }
    // The row that needs the fewest conversions, of those the first.
    let rows = ROWS.iter().filter(|r| r.name == name);
    let fits = rows.filter_map(|row| Some((row, Fit::new(body, row, args)?)));
    let (row, fit) = fits.min_by_key(|(_, fit)| fit.cost)?;
    let mut converted = Vec::new();
    for (arg, ty) in args.iter().zip(&fit.types) {
        converted.push(body.converted(arg.clone(), &Type::Basic(*ty))?);
    }
    let parts = (row.emit)(body, &converted);
    Some(Typed { ty: Type::Basic(fit.result), parts, known: None })
}

/// How a row takes some arguments.
struct Fit {
    types: Vec<BasicType>,
    result: BasicType,
    cost: u32,
}

impl Fit {
    fn new(body: &Body<'_>, row: &Row, args: &[Typed]) -> Option<Fit> {
        let (params, result) = row.signature.split_once(':')?;
        if params.len() != args.len() {
            return None;
        }
        let given: Vec<BasicType> = args.iter().map(|a| a.ty.basic()).collect::<Option<_>>()?;
        // What the letter that is the same all along stands for: the widest of the arguments there.
        let as_floats = |ty: BasicType| match ty {
            BasicType::Scalar(Scalar::Int) => BasicType::Scalar(Scalar::Float),
            BasicType::Vector(Scalar::Int, n) => BasicType::Vector(Scalar::Float, n),
            other => other,
        };
        let common = |letter: char| {
            let own = params.chars().zip(&given).filter(|(p, _)| *p == letter).map(|(_, ty)| *ty);
            own.map(|ty| if letter == 'I' || letter == 'B' || letter == 'M' { ty } else { as_floats(ty) }).next()
        };
        let mut types = Vec::new();
        let mut cost = 0;
        for (letter, &ty) in params.chars().zip(&given) {
            let wanted = match letter {
                'f' => BasicType::Scalar(Scalar::Float),
                'i' => BasicType::Scalar(Scalar::Int),
                'b' => BasicType::Scalar(Scalar::Bool),
                'c' => BasicType::Color,
                '3' => BasicType::Vector(Scalar::Float, 3),
                _ => common(letter).filter(|ty| is_of(letter, *ty))?,
            };
            cost += body.conversion(&Type::Basic(ty), &Type::Basic(wanted))?;
            types.push(wanted);
        }
        let width = |ty: BasicType| match ty {
            BasicType::Vector(_, n) => n,
            _ => 1,
        };
        let result = match result.chars().next()? {
            'f' => BasicType::Scalar(Scalar::Float),
            'i' => BasicType::Scalar(Scalar::Int),
            'b' => BasicType::Scalar(Scalar::Bool),
            'c' => BasicType::Color,
            digit @ '2'..='4' => BasicType::Vector(Scalar::Float, digit as u8 - b'0'),
            'B' => Type::vector(Scalar::Bool, width(types[0])).basic()?,
            letter => common(letter)?,
        };
        Some(Fit { types, result, cost })
    }
}

/// True if a letter can stand for a type.
fn is_of(letter: char, ty: BasicType) -> bool {
    match letter {
        'g' => matches!(ty, BasicType::Scalar(Scalar::Float) | BasicType::Vector(Scalar::Float, _) | BasicType::Color),
        'v' => matches!(ty, BasicType::Scalar(Scalar::Float) | BasicType::Vector(Scalar::Float, _)),
        'V' => matches!(ty, BasicType::Vector(Scalar::Float, _)),
        'I' => matches!(ty, BasicType::Scalar(Scalar::Int) | BasicType::Vector(Scalar::Int, _)),
        'B' => matches!(ty, BasicType::Vector(Scalar::Bool, _)),
        'M' => matches!(ty, BasicType::Matrix(..)),
        _ => false,
    }
}

/// The functions of [`SHAPED`] that compute.
fn shaped(body: &mut Body<'_>, name: &str, args: &[Typed]) -> Option<Typed> {
    let basics: Vec<BasicType> = args.iter().filter_map(|a| a.ty.basic()).collect();
    let (ty, parts) = match (name, &basics[..]) {
        ("transpose", [BasicType::Matrix(columns, rows)]) => {
            (BasicType::Matrix(*rows, *columns), matrices::transpose(&mut body.b, &args[0].parts))
        }
        ("determinant", [BasicType::Matrix(columns, rows)]) if columns == rows => {
            (BasicType::Scalar(Scalar::Float), vec![matrices::determinant(&mut body.b, &args[0].parts)])
        }
        ("inverse", [ty @ BasicType::Matrix(columns, rows)]) if columns == rows => {
            (*ty, matrices::inverse(&mut body.b, &args[0].parts))
        }
        ("inverse", [ty @ BasicType::Matrix(columns, rows)]) if *columns == rows + 1 => {
            (*ty, matrices::affine_inverse(&mut body.b, &args[0].parts))
        }
        ("outerProduct", [BasicType::Vector(Scalar::Float, m), BasicType::Vector(Scalar::Float, n)]) => {
            let parts = matrices::outer_product(&mut body.b, args[0].parts[0], args[1].parts[0]);
            (BasicType::Matrix(*n, *m), parts)
        }
        _ => return None,
    };
    Some(Typed { ty: Type::Basic(ty), parts, known: None })
}

// --- what calls become ---

fn each(b: &mut Body<'_>, args: &[Typed], op: Op) -> Vec<Value> {
    vec![b.b.op(op, &[args[0].parts[0]])]
}

/// A number as wide as a value.
fn wide(b: &mut Body<'_>, x: Value, like: Value) -> Value {
    let ty = b.b.ty(like);
    b.b.widen(x, ty)
}

/// A constant as wide as a value.
fn spread(b: &mut Body<'_>, x: f32, like: Value) -> Value {
    let x = b.b.f32(x);
    wide(b, x, like)
}

fn scaled(b: &mut Body<'_>, args: &[Typed], by: f32) -> Vec<Value> {
    let by = spread(b, by, args[0].parts[0]);
    vec![b.b.mul(args[0].parts[0], by)]
}

/// The second argument, a number, as wide as the first.
fn with_number(b: &mut Body<'_>, args: &[Typed], op: Op) -> Vec<Value> {
    let by = match b.b.ty(args[1].parts[0]) {
        ir::Type::F32 => wide(b, args[1].parts[0], args[0].parts[0]),
        _ => args[1].parts[0],
    };
    vec![b.b.op(op, &[args[0].parts[0], by])]
}

/// A function for each component; numbers stand beside all components of the others.
fn by_component(b: &mut Body<'_>, args: &[Typed], f: impl Fn(&mut Body<'_>, &[Value]) -> Value) -> Vec<Value> {
    let lists: Vec<Vec<Value>> = args.iter().map(|a| b.components(a)).collect();
    let n = lists.iter().map(Vec::len).max().unwrap_or(1);
    let results: Vec<Value> = (0..n)
        .map(|i| {
            let own: Vec<Value> = lists.iter().map(|l| l[i.min(l.len() - 1)]).collect();
            f(b, &own)
        })
        .collect();
    match results[..] {
        [one] => vec![one],
        _ => vec![b.b.compose(&results)],
    }
}

fn by_library(b: &mut Body<'_>, args: &[Typed], name: &str) -> Vec<Value> {
    let name = library::name(name);
    by_component(b, args, |b, x| b.library_call(&name, x.to_vec()))
}

/// `pow` with a whole exponent (RTSL §3.2): squarings where it is known.
fn power(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    /// Beyond this a logarithm is cheaper.
    const MOST: i32 = 64;
    let x = args[0].parts[0];
    if let Some(n) = args[1].known.filter(|n| n.abs() <= MOST) {
        let mut result = None;
        let (mut square, mut rest) = (x, n.unsigned_abs());
        while rest > 0 {
            if rest & 1 == 1 {
                result = Some(result.map_or(square, |r| b.b.mul(r, square)));
            }
            rest >>= 1;
            if rest > 0 {
                square = b.b.mul(square, square);
            }
        }
        let result = result.unwrap_or_else(|| spread(b, 1.0, x));
        return vec![if n < 0 { b.b.rcp(result) } else { result }];
    }
    // A negative number has powers too: those of its size, negative where the exponent is odd.
    let exponent = args[1].parts[0];
    let one = b.b.i32(1);
    let odd = b.b.iand(exponent, one);
    let odd = b.b.ieq(odd, one);
    let exponent = b.b.to_float(exponent);
    by_component(b, &args[..1], |b, x| {
        let size = b.b.abs(x[0]);
        let size = b.library_call(&library::name("pow"), vec![size, exponent]);
        let (zero, other) = (b.b.f32(0.0), b.b.neg(size));
        let less = b.b.lt(x[0], zero);
        let turns = b.b.and(less, odd);
        b.b.select(turns, other, size)
    })
}

/// `x − y·floor(x/y)`
fn modulus(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let x = args[0].parts[0];
    let y = match b.b.ty(args[1].parts[0]) {
        ir::Type::F32 => wide(b, args[1].parts[0], x),
        _ => args[1].parts[0],
    };
    let inverse = b.b.rcp(y);
    let ratio = b.b.mul(x, inverse);
    let floor = b.b.floor(ratio);
    let whole = b.b.mul(y, floor);
    vec![b.b.sub(x, whole)]
}

/// The smaller or the larger of integers.
fn smaller(b: &mut Body<'_>, args: &[Typed], larger: bool) -> Vec<Value> {
    let pairs: Vec<_> = args[0].parts.iter().copied().zip(args[1].parts.iter().copied()).collect();
    let choose = |(x, y): (Value, Value)| {
        let less = b.b.ilt(x, y);
        let (first, second) = if larger { (y, x) } else { (x, y) };
        b.b.select(less, first, second)
    };
    pairs.into_iter().map(choose).collect()
}

/// One operation over all components.
fn horizontal(b: &mut Body<'_>, v: &Typed, op: Op) -> Vec<Value> {
    let components = b.components(v);
    joined(b, &components, op)
}

fn joined(b: &mut Body<'_>, list: &[Value], op: Op) -> Vec<Value> {
    let mut all = list[0];
    for &x in &list[1..] {
        all = b.b.op(op.clone(), &[all, x]);
    }
    vec![all]
}

fn clamped(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let raised = with_number(b, &args[..2], Op::Max);
    let raised = Typed { parts: raised, ..args[0].clone() };
    with_number(b, &[raised, args[2].clone()], Op::Min)
}

/// `x·(1 − a) + y·a`
fn mixed(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let (x, y) = (args[0].parts[0], args[1].parts[0]);
    let a = match b.b.ty(args[2].parts[0]) {
        ir::Type::F32 => wide(b, args[2].parts[0], x),
        _ => args[2].parts[0],
    };
    let one = spread(b, 1.0, x);
    let rest = b.b.sub(one, a);
    let first = b.b.mul(x, rest);
    let second = b.b.mul(y, a);
    vec![b.b.add(first, second)]
}

fn stepped(b: &mut Body<'_>, x: &[Value]) -> Value {
    let (zero, one) = (b.b.f32(0.0), b.b.f32(1.0));
    let below = b.b.lt(x[1], x[0]);
    b.b.select(below, zero, one)
}

/// Hermite's curve between two edges.
fn smooth(b: &mut Body<'_>, x: &[Value]) -> Value {
    let width = b.b.sub(x[1], x[0]);
    let inverse = b.b.rcp(width);
    let way = b.b.sub(x[2], x[0]);
    let t = b.b.mul(way, inverse);
    let t = b.b.sat(t);
    let (three, two) = (b.b.f32(3.0), b.b.f32(2.0));
    let twice = b.b.mul(two, t);
    let rest = b.b.sub(three, twice);
    let square = b.b.mul(t, t);
    b.b.mul(square, rest)
}

/// GLSL 1.20, §8.4: zero where there is total reflection.
fn refracted(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let (i, n, eta) = (args[0].parts[0], args[1].parts[0], args[2].parts[0]);
    let along = b.b.dot(n, i);
    let (zero, one) = (b.b.f32(0.0), b.b.f32(1.0));
    let square = b.b.mul(along, along);
    let rest = b.b.sub(one, square);
    let eta_squared = b.b.mul(eta, eta);
    let lost = b.b.mul(eta_squared, rest);
    let k = b.b.sub(one, lost);
    let none = b.b.lt(k, zero);
    let positive = b.b.max(k, zero);
    let root = b.b.sqrt(positive);
    let part = b.b.mul(eta, along);
    let by = b.b.add(part, root);
    let (by, eta) = (wide(b, by, n), wide(b, eta, i));
    let moved = b.b.mul(by, n);
    let bent = b.b.mul(eta, i);
    let t = b.b.sub(bent, moved);
    let nothing = spread(b, 0.0, i);
    vec![b.b.select(none, nothing, t)]
}

/// The components of two arguments, side by side, with what they are.
fn pairs(b: &mut Body<'_>, args: &[Typed]) -> (Vec<(Value, Value)>, Scalar) {
    let (x, y) = (b.components(&args[0]), b.components(&args[1]));
    (x.into_iter().zip(y).collect(), args[0].ty.basic().and_then(BasicType::scalar).unwrap_or(Scalar::Float))
}

fn compared(b: &mut Body<'_>, args: &[Typed], op: BinaryOp) -> Vec<Value> {
    let (pairs, scalar) = pairs(b, args);
    pairs.into_iter().map(|(x, y)| b.compared(op, x, y, scalar)).collect()
}

fn equal(b: &mut Body<'_>, args: &[Typed], wanted: bool) -> Vec<Value> {
    let (pairs, _) = pairs(b, args);
    let one = |(x, y): (Value, Value)| {
        let same = b.equal(x, y);
        if wanted { same } else { b.b.not(same) }
    };
    pairs.into_iter().map(one).collect()
}

/// `low < x && x < high` for each component: as the paper's own code has it (listing 6).
fn inside(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let lists: Vec<Vec<Value>> = args.iter().map(|a| b.components(a)).collect();
    let at = |l: &[Value], i: usize| l[i.min(l.len() - 1)];
    (0..lists[0].len())
        .map(|i| {
            let above = b.b.lt(at(&lists[1], i), lists[0][i]);
            let below = b.b.lt(lists[0][i], at(&lists[2], i));
            b.b.and(above, below)
        })
        .collect()
}

/// A vector at a right angle: two components change places, one with the other sign. In three
/// dimensions the smallest becomes 0, so that the result is long enough.
fn perpendicular(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let c = b.components(&args[0]);
    let zero = b.b.f32(0.0);
    if c.len() != 3 {
        let turned = b.b.neg(c[1]);
        let mut list = vec![turned, c[0]];
        // Of four, the other two likewise: the sum of two vectors at right angles.
        if c.len() == 4 {
            let turned = b.b.neg(c[3]);
            list.extend([turned, c[2]]);
        }
        return vec![b.b.compose(&list)];
    }
    let sizes: Vec<Value> = c.iter().map(|&x| b.b.abs(x)).collect();
    let x_is_small = b.b.lt(sizes[0], sizes[1]);
    let turned: Vec<Value> = c.iter().map(|&x| b.b.neg(x)).collect();
    let without_x = b.b.compose(&[zero, turned[2], c[1]]);
    let without_y = b.b.compose(&[c[2], zero, turned[0]]);
    vec![b.b.select(x_is_small, without_x, without_y)]
}

/// The number of the largest component by size, the first of equal ones.
fn dominant(b: &mut Body<'_>, args: &[Typed]) -> Vec<Value> {
    let c = b.components(&args[0]);
    let mut largest = b.b.abs(c[0]);
    let mut axis = b.b.i32(0);
    for (i, &x) in c.iter().enumerate().skip(1) {
        let size = b.b.abs(x);
        let more = b.b.lt(largest, size);
        largest = b.b.select(more, size, largest);
        let own = b.b.i32(i as i32);
        axis = b.b.select(more, own, axis);
    }
    vec![axis]
}

/// Noise from −1 to 1 (GLSL 1.20, §8.9): the standard library's, which is from 0 to 1; `turn`
/// distinguishes several.
fn noise(b: &mut Body<'_>, x: &Typed, turn: u32) -> Value {
    let c = b.components(x);
    let moved: Vec<Value> = c
        .iter()
        .map(|&x| {
            let by = b.b.f32(turn as f32 * 37.25);
            b.b.add(x, by)
        })
        .collect();
    let args = match moved.len() {
        1 | 2 => moved.clone(),
        _ => {
            let mut args = vec![b.b.compose(&moved[..3])];
            args.extend(moved.get(3));
            args
        }
    };
    let name = library::name(&format!("noise.{}.1", c.len()));
    let value = b.b.call(name, args, &[ir::Type::F32])[0];
    let (two, one) = (b.b.f32(2.0), b.b.f32(1.0));
    let twice = b.b.mul(two, value);
    b.b.sub(twice, one)
}

fn noises(b: &mut Body<'_>, x: &Typed, n: u32) -> Vec<Value> {
    let values: Vec<Value> = (0..n).map(|turn| noise(b, x, turn)).collect();
    vec![b.b.compose(&values)]
}
