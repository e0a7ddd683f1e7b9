//! The primitive variables of a geometry request, and how they come to lie over its faces.
//!
//! A primitive says for each class how many values there are and where they belong ([`Spread`]);
//! [`Variables`] are what the request gives. The standard ones become the faces' own channels, all
//! others go along for the shader's parameters.

use super::super::args::Args;
use super::super::params::{Param, PrimvarClass, Type, Values, read_params};
use super::super::reader::Reader;
use glam::{Vec2, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::primvar::{PrimvarKind, PrimvarType, PrimvarValues, Variable};
use shadewright_geometry::{Channel, Faces};
use std::sync::Arc;

/// Makes values from given ones: numbers of so many a value, one after the other.
pub type Blend<'a> = Box<dyn Fn(&[f32], usize) -> Vec<f32> + 'a>;

/// Where the values of a class belong.
pub struct ClassMap<'a> {
    /// How many there are.
    pub count: usize,
    /// The elements that have one value each, for messages: "one value a face".
    pub meaning: &'static str,
    /// The function that makes values which belong to places, where the given ones do not
    /// themselves.
    pub blend: Option<Blend<'a>>,
    /// The number of the value at each place.
    pub at: Channel<u32>,
}

/// Where the values of every class belong on a primitive; those of class constant belong
/// everywhere.
pub struct Spread<'a> {
    /// Of class uniform.
    pub uniform: ClassMap<'a>,
    /// Of class varying.
    pub varying: ClassMap<'a>,
    /// Of class vertex.
    pub vertex: ClassMap<'a>,
    /// Of class facevarying.
    pub face_varying: ClassMap<'a>,
    /// Of class facevertex.
    pub face_vertex: ClassMap<'a>,
}

/// The standard variables beside positions, with the types that they may have and their numbers a
/// value.
const STANDARD: [(&str, &[Type], usize); 9] = [
    ("N", &[Type::Normal, Type::Vector, Type::Point], 3),
    ("Np", &[Type::Normal, Type::Vector, Type::Point], 3),
    ("Cs", &[Type::Color], 3),
    ("Os", &[Type::Color], 3),
    ("s", &[Type::Float], 1),
    ("t", &[Type::Float], 1),
    ("st", &[Type::Float], 2),
    ("u", &[Type::Float], 1),
    ("v", &[Type::Float], 1),
];

/// The variables of a request.
#[derive(Default)]
pub struct Variables {
    /// `P`, `Pw` or `Pz`.
    pub positions: Option<Param>,
    others: Vec<Param>,
}

impl Variables {
    /// Reads a request's parameter list. Names in `own` are parameters of the request itself, see
    /// [`Variables::take`].
    ///
    /// # Errors
    /// Undeclared names, and standard variables of the wrong type.
    pub fn read(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<Self, Diagnostic> {
        let mut out = Self::default();
        for p in read_params(r, args)? {
            let position = match p.name.as_str() {
                "P" => Some((Type::Point, 3)),
                "Pw" => Some((Type::HPoint, 4)),
                "Pz" => Some((Type::Float, 1)),
                _ => None,
            };
            if let Some((ty, size)) = position {
                check_type(&p, &[ty], size)?;
                out.positions = Some(p);
                continue;
            }
            if let Some((_, types, size)) = STANDARD.iter().find(|(name, ..)| *name == p.name) {
                check_type(&p, types, *size)?;
            }
            out.others.push(p);
        }
        Ok(out)
    }

    /// Takes a variable out of the list.
    pub fn take(&mut self, name: &str) -> Option<Param> {
        let at = self.others.iter().position(|p| p.name == name)?;
        Some(self.others.remove(at))
    }

    /// How many vectors of three numbers a vertex has of all variables together, at most.
    pub fn vectors(&self) -> usize {
        self.others.iter().map(|p| p.declaration.size().div_ceil(3)).sum()
    }

    /// True if normals are given.
    pub fn has_normals(&self) -> bool {
        self.others.iter().any(|p| matches!(p.name.as_str(), "N" | "Np"))
    }

    /// Lays the variables over the faces, whose `uv` stand in for texture coordinates that are
    /// given by halves. A variable with more or fewer values than its class has, or of strings that
    /// would have to be blended, is reported and left out.
    pub fn lay(self, r: &mut Reader<'_>, spread: &Spread<'_>, faces: &mut Faces) {
        let (mut s, mut t, mut u, mut v) = Default::default();
        for param in self.others {
            let variable = match variable(param, spread) {
                Ok(variable) => variable,
                Err(d) => {
                    r.error(d);
                    continue;
                }
            };
            match &*variable.kind.name {
                "N" | "Np" => faces.normals = channel(&variable, Vec3::from_slice),
                "Cs" => faces.colors = channel(&variable, Vec3::from_slice),
                "Os" => faces.opacities = channel(&variable, Vec3::from_slice),
                "st" => faces.st = channel(&variable, Vec2::from_slice),
                "s" => s = channel(&variable, |x| x[0]),
                "t" => t = channel(&variable, |x| x[0]),
                "u" => u = channel(&variable, |x| x[0]),
                "v" => v = channel(&variable, |x| x[0]),
                _ => faces.variables.push(variable),
            }
        }
        let given = std::mem::take(&mut faces.uv);
        faces.uv = pairs(&u, &v, given, &faces.triangles);
        let otherwise = if faces.st == Channel::Absent { faces.uv.clone() } else { faces.st.clone() };
        if s != Channel::Absent || t != Channel::Absent {
            faces.st = pairs(&s, &t, otherwise, &faces.triangles);
        }
    }
}

fn check_type(p: &Param, types: &[Type], size: usize) -> Result<(), Diagnostic> {
    if types.contains(&p.declaration.ty) && p.declaration.size() == size {
        return Ok(());
    }
    let array = if size == 2 { "[2]" } else { "" };
    let described = p.declaration.describe();
    let text = format!("`{}` must be a {}{array}, not `{described}`", p.name, types[0].name());
    Err(Diagnostic::error(text).at(p.name_span, "of the wrong type"))
}

/// Two numbers at each place, each from what is given for it, or else from `otherwise`.
fn pairs(x: &Channel<f32>, y: &Channel<f32>, otherwise: Channel<Vec2>, triangles: &[[u32; 3]]) -> Channel<Vec2> {
    match (x, y, &otherwise) {
        (Channel::Absent, Channel::Absent, _) => return otherwise,
        (Channel::PerPoint(x), Channel::PerPoint(y), _) => {
            return Channel::PerPoint(x.iter().zip(y).map(|(&x, &y)| Vec2::new(x, y)).collect());
        }
        _ => {}
    }
    let mut values = Vec::with_capacity(3 * triangles.len());
    for (triangle, points) in triangles.iter().enumerate() {
        for (corner, &point) in points.iter().enumerate() {
            let default = otherwise.at(triangle, corner, point).unwrap_or_default();
            let x = x.at(triangle, corner, point).unwrap_or(default.x);
            let y = y.at(triangle, corner, point).unwrap_or(default.y);
            values.push(Vec2::new(x, y));
        }
    }
    let indices = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Channel::PerCorner { indices, values }
}

/// A parameter as a variable over faces.
fn variable(param: Param, spread: &Spread<'_>) -> Result<Variable, Diagnostic> {
    let declaration = param.declaration;
    let map = match declaration.class {
        PrimvarClass::Constant => None,
        PrimvarClass::Uniform => Some(&spread.uniform),
        PrimvarClass::Varying => Some(&spread.varying),
        PrimvarClass::Vertex => Some(&spread.vertex),
        PrimvarClass::FaceVarying => Some(&spread.face_varying),
        PrimvarClass::FaceVertex => Some(&spread.face_vertex),
    };
    param.expect(map.map_or(1, |m| m.count), map.map_or("one value for the primitive", |m| m.meaning))?;
    let ty = match declaration.ty {
        Type::Float | Type::Integer => PrimvarType::Float,
        Type::String => PrimvarType::String,
        Type::Color => PrimvarType::Color,
        Type::Point | Type::HPoint => PrimvarType::Point,
        Type::Vector => PrimvarType::Vector,
        Type::Normal => PrimvarType::Normal,
        Type::Matrix => PrimvarType::Matrix,
    };
    let array = declaration.is_array.then_some(declaration.array as u32);
    let at = map.map_or(Channel::Constant(0), |m| m.at.clone());
    let varies = !matches!(at, Channel::Constant(_) | Channel::PerTriangle(_));
    if ty == PrimvarType::String && (varies || map.is_some_and(|m| m.blend.is_some())) {
        let text = format!("`{}` is `{}`: a string cannot vary over a face", param.name, declaration.describe());
        return Err(Diagnostic::error(text)
            .at(param.name_span, "of this class")
            .hint("strings are `constant` or `uniform`"));
    }
    let values = match &param.values {
        Values::Strings(v) => PrimvarValues::Strings(v.iter().map(|s| Arc::from(s.as_str())).collect()),
        Values::Floats(_) | Values::Integers(_) => {
            let numbers = if declaration.ty == Type::HPoint { projected(&param.floats()) } else { param.floats() };
            let width = ty.components() * declaration.array;
            let blend = map.and_then(|m| m.blend.as_ref());
            PrimvarValues::Numbers(blend.map_or_else(|| numbers.clone(), |blend| blend(&numbers, width)))
        }
    };
    let kind = PrimvarKind { name: param.name.into(), ty, array };
    Ok(Variable { kind, values, at })
}

/// Homogeneous points as points.
pub fn projected(homogeneous: &[f32]) -> Vec<f32> {
    homogeneous.chunks_exact(4).flat_map(|p| [p[0] / p[3], p[1] / p[3], p[2] / p[3]]).collect()
}

/// A variable of numbers as values of a type that is made from them.
fn channel<T: Copy>(variable: &Variable, convert: fn(&[f32]) -> T) -> Channel<T> {
    let PrimvarValues::Numbers(numbers) = &variable.values else { return Channel::Absent };
    let width = variable.kind.width();
    let at = |i: &u32| convert(&numbers[*i as usize * width..][..width]);
    match &variable.at {
        Channel::Absent => Channel::Absent,
        Channel::Constant(i) => Channel::Constant(at(i)),
        Channel::PerTriangle(places) => Channel::PerTriangle(places.iter().map(at).collect()),
        Channel::PerPoint(places) => Channel::PerPoint(places.iter().map(at).collect()),
        Channel::PerCorner { indices, values } => {
            Channel::PerCorner { indices: indices.clone(), values: values.iter().map(at).collect() }
        }
    }
}
