//! Shader instances as a scene names them: kind, name, parameter values, transform. Nothing here is
//! compiled.

use super::CoShader;
use glam::{Mat4, Vec3};
use shadewright_base::text::source::Span;
use shadewright_ir::abi;
use shadewright_lang::{Naming, ShaderRef, registry};
use std::borrow::Cow;
use std::sync::Arc;

/// Index into [`super::Scene::shader_instances`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShaderId(pub u32);

/// The kind of shader: its purpose in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderRole {
    /// Colors a surface.
    Surface,
    /// Emits light.
    Light,
    /// Attenuates and scatters light on its way.
    Volume,
    /// Displaces surface points and normals.
    Displacement,
    /// Runs once per pixel.
    Imager,
    /// Is called by other shaders.
    CoShader,
    /// Generates camera rays.
    Camera,
    /// Intersects rays (a procedural primitive).
    Primitive,
}

impl ShaderRole {
    /// All of them.
    pub const ALL: [ShaderRole; 8] = [
        ShaderRole::Surface,
        ShaderRole::Displacement,
        ShaderRole::Volume,
        ShaderRole::Light,
        ShaderRole::Imager,
        ShaderRole::CoShader,
        ShaderRole::Camera,
        ShaderRole::Primitive,
    ];

    /// The word that declares such a shader in RSL; of cameras and primitives, which only RTSL has,
    /// what they are.
    pub fn keyword(self) -> &'static str {
        match self {
            ShaderRole::Surface => "surface",
            ShaderRole::Light => "light",
            ShaderRole::Volume => "volume",
            ShaderRole::Displacement => "displacement",
            ShaderRole::Imager => "imager",
            ShaderRole::CoShader => "class",
            ShaderRole::Camera => "camera",
            ShaderRole::Primitive => "primitive",
        }
    }
}

impl From<abi::ShaderKind> for ShaderRole {
    fn from(kind: abi::ShaderKind) -> Self {
        match kind {
            abi::ShaderKind::Surface => ShaderRole::Surface,
            abi::ShaderKind::Light => ShaderRole::Light,
            abi::ShaderKind::Volume => ShaderRole::Volume,
            abi::ShaderKind::Displacement => ShaderRole::Displacement,
            abi::ShaderKind::Imager => ShaderRole::Imager,
        }
    }
}

/// A use of a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderInstance {
    /// The kind of shader that it is used as.
    pub kind: ShaderRole,
    /// The shader that the scene names, searched for on the shader search path.
    pub shader: ShaderRef,
    /// The parameters that the scene gives, in its order; the rest keep the shader's defaults. No
    /// name occurs twice.
    pub params: Vec<(String, ParamValue)>,
    /// The *shader* coordinate system: its space to world space.
    pub to_world: Mat4,
    /// The request in the scene file; `None` where the scene was made by the program.
    pub span: Option<Span>,
    /// The co-shaders declared before it, which an object of a class may refer to by handles. Empty
    /// for shaders, which look up those of the shaded object at run time.
    pub objects: Arc<[CoShader]>,
}

/// The memory that an instance with these parameters takes, in bytes. The list of instances takes up to
/// three times what is in it while it grows.
pub(super) fn bytes_of_instance(params: &[(String, ParamValue)]) -> usize {
    let of_param =
        |(name, value): &(String, ParamValue)| size_of::<(String, ParamValue)>() + name.len() + value.bytes();
    3 * size_of::<ShaderInstance>() + params.iter().map(of_param).sum::<usize>()
}

/// True if a parameter's name begins with two underscores: exporters and shaders use such
/// parameters among themselves, to group lights for example.
pub fn is_private(name: &str) -> bool {
    name.starts_with("__")
}

/// A parameter's value with the type it was declared with: one element, or several for an array.
///
/// Points, vectors and normals are in world space.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// Numbers that nothing in the scene declares: the shader's parameter gives them its type.
    /// Points, vectors and normals among them are in shader space.
    Numbers(Vec<f32>),
    /// `float`
    Float(Vec<f32>),
    /// `integer`
    Integer(Vec<i32>),
    /// `string`
    String(Vec<String>),
    /// `color`, linear RGB.
    Color(Vec<Vec3>),
    /// `point`
    Point(Vec<Vec3>),
    /// `vector`
    Vector(Vec<Vec3>),
    /// `normal`
    Normal(Vec<Vec3>),
    /// `matrix`; as written, not transformed.
    Matrix(Vec<Mat4>),
}

impl ParamValue {
    /// The value of an array cut into those of its `count` elements; `None` where it does not have
    /// as many. Numbers may stand for elements of several components.
    pub fn elements(&self, count: usize) -> Option<Vec<ParamValue>> {
        fn pieces<T: Clone>(values: &[T], count: usize, make: fn(Vec<T>) -> ParamValue) -> Option<Vec<ParamValue>> {
            let size = values.len().checked_div(count).filter(|size| size * count == values.len() && *size > 0)?;
            Some(values.chunks(size).map(|piece| make(piece.to_vec())).collect())
        }
        match self {
            ParamValue::Numbers(v) => pieces(v, count, ParamValue::Numbers),
            ParamValue::Float(v) => pieces(v, count, ParamValue::Float),
            ParamValue::Integer(v) => pieces(v, count, ParamValue::Integer),
            _ if self.len() != count => None,
            ParamValue::String(v) => pieces(v, count, ParamValue::String),
            ParamValue::Color(v) => pieces(v, count, ParamValue::Color),
            ParamValue::Point(v) => pieces(v, count, ParamValue::Point),
            ParamValue::Vector(v) => pieces(v, count, ParamValue::Vector),
            ParamValue::Normal(v) => pieces(v, count, ParamValue::Normal),
            ParamValue::Matrix(v) => pieces(v, count, ParamValue::Matrix),
        }
    }

    /// The memory that it takes beside itself, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let element = match self {
            ParamValue::Numbers(_) | ParamValue::Float(_) | ParamValue::Integer(_) => 4,
            ParamValue::Color(_) | ParamValue::Point(_) | ParamValue::Vector(_) | ParamValue::Normal(_) => 12,
            ParamValue::Matrix(_) => 64,
            ParamValue::String(v) => return v.iter().map(|s| size_of::<String>() + s.len()).sum(),
        };
        self.len() * element
    }

    /// The type's name in RIB and RSL.
    pub fn type_name(&self) -> &'static str {
        match self {
            ParamValue::Numbers(_) | ParamValue::Float(_) => "float",
            ParamValue::Integer(_) => "integer",
            ParamValue::String(_) => "string",
            ParamValue::Color(_) => "color",
            ParamValue::Point(_) => "point",
            ParamValue::Vector(_) => "vector",
            ParamValue::Normal(_) => "normal",
            ParamValue::Matrix(_) => "matrix",
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            ParamValue::Numbers(v) | ParamValue::Float(v) => v.len(),
            ParamValue::Integer(v) => v.len(),
            ParamValue::String(v) => v.len(),
            ParamValue::Color(v) | ParamValue::Point(v) | ParamValue::Vector(v) | ParamValue::Normal(v) => v.len(),
            ParamValue::Matrix(v) => v.len(),
        }
    }

    /// Number of elements of `components` numbers each; `None` where numbers do not make whole
    /// ones.
    pub fn count(&self, components: usize) -> Option<usize> {
        match self {
            ParamValue::Numbers(_) | ParamValue::Float(_) | ParamValue::Integer(_) => {
                (self.len().is_multiple_of(components)).then_some(self.len() / components)
            }
            _ => Some(self.len()),
        }
    }

    /// True if there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value with the type of a shader's parameter, where it has none of its own: `type_name` is
    /// one of RSL's. Takes points, vectors and normals from shader space to the world's.
    pub fn declared_as(&self, type_name: &str, to_world: Mat4) -> Cow<'_, Self> {
        let ParamValue::Numbers(numbers) = self else { return Cow::Borrowed(self) };
        let triples = || numbers.chunks_exact(3).map(Vec3::from_slice).collect();
        Cow::Owned(match type_name {
            "color" if numbers.len().is_multiple_of(3) => ParamValue::Color(triples()),
            "point" if numbers.len().is_multiple_of(3) => ParamValue::Point(triples()).transformed(to_world),
            "vector" if numbers.len().is_multiple_of(3) => ParamValue::Vector(triples()).transformed(to_world),
            "normal" if numbers.len().is_multiple_of(3) => ParamValue::Normal(triples()).transformed(to_world),
            "matrix" if numbers.len().is_multiple_of(16) => {
                ParamValue::Matrix(numbers.chunks_exact(16).map(Mat4::from_cols_slice).collect())
            }
            _ => ParamValue::Float(numbers.clone()),
        })
    }

    /// The value with its points, vectors and normals taken through `m`: points with its
    /// translation, vectors without, normals by the inverse transpose.
    pub fn transformed(self, m: Mat4) -> Self {
        match self {
            ParamValue::Point(v) => ParamValue::Point(v.into_iter().map(|p| m.project_point3(p)).collect()),
            ParamValue::Vector(v) => ParamValue::Vector(v.into_iter().map(|p| m.transform_vector3(p)).collect()),
            ParamValue::Normal(v) => {
                let inverse = m.inverse().transpose();
                ParamValue::Normal(v.into_iter().map(|n| inverse.transform_vector3(n)).collect())
            }
            other => other,
        }
    }
}

/// A shader function that takes the place of the camera (`Projection "FILE.sl:FUNCTION"`): from a
/// position on the image, `(0, 0)` at the upper left and `(1, 1)` at the lower right, to the color
/// seen there.
#[derive(Clone, Debug, PartialEq)]
pub struct RayFunction {
    /// The file without its extension, searched as shaders are.
    pub file: String,
    /// The function: `color f(point)`.
    pub function: String,
    /// The request in the scene file.
    pub span: Option<Span>,
}

impl RayFunction {
    /// The function that `FILE.sl:FUNCTION` names.
    pub(super) fn named(text: &str, span: Span) -> Option<Self> {
        let (language, file, function) = registry::qualified(text)?;
        let file = file.strip_suffix(&language.file_name("")).filter(|_| language.naming() == Naming::Bare)?;
        Some(Self { file: file.to_string(), function: function?.to_string(), span: Some(span) })
    }
}

/// A light source of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// The shader, of kind [`ShaderRole::Light`].
    pub shader: ShaderId,
    /// The handle in the scene: a number or a name.
    pub handle: String,
    /// True if surfaces shadow it (`Attribute "light" "string shadows" ["on"|"off"]` before
    /// `LightSource`); they do where the scene does not say.
    pub shadows: Option<bool>,
    /// True if it is an area light (`AreaLightSource`), with objects as emitters.
    pub area: bool,
}
