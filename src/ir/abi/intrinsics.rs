//! The functions that the linker makes for each scene.
//!
//! Front ends and the standard library call them, and the linker defines them. What depends on the
//! object that is shaded (its lights, volumes, ray depths, co-shaders) is defined once for each
//! specialization, under a name with [`specialization_suffix`].

use std::fmt;
use std::sync::Arc;

/// The types of RSL, as names of functions and inputs carry them: one letter each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataType {
    /// `f32`
    Float,
    /// `vec3`
    Color,
    /// `vec3`
    Point,
    /// `vec3`
    Vector,
    /// `vec3`
    Normal,
    /// `string`
    String,
    /// `mat4`
    Matrix,
}

impl DataType {
    const LETTERS: [(DataType, &'static str); 7] = [
        (DataType::Float, "f"),
        (DataType::Color, "c"),
        (DataType::Point, "p"),
        (DataType::Vector, "v"),
        (DataType::Normal, "n"),
        (DataType::String, "s"),
        (DataType::Matrix, "m"),
    ];

    /// The letter that stands for the type in names.
    pub fn letter(self) -> &'static str {
        Self::LETTERS.iter().find(|l| l.0 == self).map_or("", |l| l.1)
    }

    /// The type with that letter.
    pub fn from_letter(letter: &str) -> Option<Self> {
        Self::LETTERS.iter().find(|l| l.1 == letter).map(|l| l.0)
    }
}

/// A function of the linker, with its signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Intrinsic {
    /// `() → u32`: the number of lights that are not ambient.
    LightCount,
    /// `(u32 i, vec3 Ps, vec3 Ns) → (vec3 L, vec3 Cl, f32 t_max)`: light `i` at a point. `L` points
    /// from the surface towards the light; `t_max` is the length of the shadow ray in units of
    /// normalized `L`, negative where the light casts no shadow.
    LightSample,
    /// `(vec3 Ps, vec3 Ns) → vec3`: the sum of the ambient lights.
    LightAmbient,
    /// `() → f32`: 1 where ambient lights stand for indirect light, 0 where that is traced.
    LightAmbientUsed,
    /// `(u32 i, string name) → bool`: whether light `i` is of a category that `illuminance` names
    /// (PRMan): `""` are all lights, `"-name"` those that are not of category `name`.
    LightCategory,
    /// `(u32 i, vec3 Ps, vec3 Ns) → (f32 found, T value)`: the parameter of that type and name of
    /// light `i`.
    LightMessage(DataType, Arc<str>),
    /// `(vec3 direction, f32 pdf) → vec3`: the radiance of environments along a ray that hits
    /// nothing; `pdf` is 0 where the direction was not sampled by a BSDF.
    LightFar,
    /// `() → f32`: the alpha of environments.
    LightFarCoverage,
    /// `(vec3 Ps, f32 u, f32 v) → (vec3 direction, vec3 color, f32 t_max, f32 pdf)`: samples a
    /// point of an emissive surface.
    LightArea,
    /// `(vec3 Ps, vec3 Ns, f32 u, f32 v) → (vec3 direction, vec3 color, f32 t_max, f32 pdf)`:
    /// samples one light, chosen at random.
    LightDirect,
    /// `() → f32`: the number of lights among which [`Intrinsic::LightDirect`] chooses.
    LightChoices,
    /// Emission at a point of an emissive surface, for [`Intrinsic::LightArea`].
    LightEmitted,
    /// Samples an emissive procedural primitive, for [`Intrinsic::LightArea`].
    LightProcedural,
    /// `(f32 u, f32 v) → (vec3 direction, vec3 color, f32 t_max, f32 pdf)`: samples environment
    /// `n`.
    LightEnvironment(u32),
    /// `(f32 inside, vec3 E, vec3 I, f32 depth, vec3 Ci, vec3 Oi) → (vec3 Ci, vec3 Oi)`: applies
    /// the volume inside or outside of the surface that is shaded.
    VolumePass,
    /// `() → f32`: 1 where there is such a volume, else 0.
    VolumeAny,
    /// `(string name) → ref`: the address of a texture's descriptor (`texture::layout`),
    /// or of one without channels.
    TextureFind,
    /// `(string file) → vec3`: the file that a shader bakes into, as its identifier in two parts of
    /// 16 bits, and 1.
    BakeFile,
    /// `(string call, f32 part, vec3 value, vec3 before) → vec3`: the value where the program is run
    /// for this part of what a call bakes ([`crate::abi::BakeCall`]), else what was before.
    BakePart,
    /// `(string name) → (vec3 x, vec3 y, vec3 z, vec3 origin)`: a coordinate system of the scene,
    /// in the current one.
    SpaceNamed,
    /// `() → f32`: 1 where some object is hidden from some rays or is transparent, so that shadow
    /// rays call surface shaders; else 0.
    RaySelective,
    /// `(f32 kind) → f32`: the depth limit of rays of that kind from the surface that is shaded.
    RayDepth,
    /// `() → f32`: the kind of the rays by which `gather` asks a surface for a value: of a
    /// predefined variable or a parameter after shading, or of a predefined variable before
    /// (`of_primitive`).
    GatherOutput {
        /// `Float`, or `Vector` for all triples.
        ty: DataType,
        /// True if the value before the shader runs is meant.
        of_primitive: bool,
        /// The name of the variable.
        name: Arc<str>,
    },
}

/// The prefix of the names of [`Intrinsic::LightMessage`].
const MESSAGE: &str = "lights.message.";
/// The prefix of the names of [`Intrinsic::LightEnvironment`].
const ENVIRONMENT: &str = "lights.environment.";
/// The prefix of the names of [`Intrinsic::GatherOutput`].
const GATHER: &str = "rays.question.";

impl Intrinsic {
    /// The names of those without parameters.
    const FIXED: [(Intrinsic, &'static str); 20] = [
        (Intrinsic::LightCount, "lights.count"),
        (Intrinsic::LightSample, "lights.sample"),
        (Intrinsic::LightAmbient, "lights.ambient"),
        (Intrinsic::LightAmbientUsed, "lights.ambient.there"),
        (Intrinsic::LightCategory, "lights.category"),
        (Intrinsic::LightFar, "lights.far"),
        (Intrinsic::LightFarCoverage, "lights.far.coverage"),
        (Intrinsic::LightArea, "lights.area"),
        (Intrinsic::LightDirect, "lights.direct"),
        (Intrinsic::LightChoices, "lights.choices"),
        (Intrinsic::LightEmitted, "lights.emitted"),
        (Intrinsic::LightProcedural, "lights.program"),
        (Intrinsic::VolumePass, "volumes.pass"),
        (Intrinsic::VolumeAny, "volumes.any"),
        (Intrinsic::TextureFind, "textures.find"),
        (Intrinsic::BakeFile, "bake.file"),
        (Intrinsic::BakePart, "bake.part"),
        (Intrinsic::SpaceNamed, "spaces.named"),
        (Intrinsic::RaySelective, "rays.selective"),
        (Intrinsic::RayDepth, "rays.depth"),
    ];

    /// The name of the function in the IR.
    pub fn name(&self) -> Arc<str> {
        self.to_string().into()
    }

    /// Reads the name of a function, specialized or not.
    pub fn parse(function: &str) -> Option<Self> {
        let function = generic_name(function);
        if let Some((intrinsic, _)) = Self::FIXED.iter().find(|f| f.1 == function) {
            return Some(intrinsic.clone());
        }
        if let Some((letter, name)) = function.strip_prefix(MESSAGE).and_then(|rest| rest.split_once('.')) {
            return Some(Intrinsic::LightMessage(DataType::from_letter(letter)?, name.into()));
        }
        if let Some(number) = function.strip_prefix(ENVIRONMENT) {
            return number.parse().ok().map(Intrinsic::LightEnvironment);
        }
        let (letter, rest) = function.strip_prefix(GATHER)?.split_once('.')?;
        let (word, name) = rest.split_once(':')?;
        let ty = DataType::from_letter(letter)?;
        Some(Intrinsic::GatherOutput { ty, of_primitive: word == "primitive", name: name.into() })
    }

    /// True if a function is this one, specialized or not.
    pub fn is(&self, function: &str) -> bool {
        Self::parse(function).as_ref() == Some(self)
    }
}

impl fmt::Display for Intrinsic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Intrinsic::LightMessage(ty, name) => write!(f, "{MESSAGE}{}.{name}", ty.letter()),
            Intrinsic::LightEnvironment(n) => write!(f, "{ENVIRONMENT}{n}"),
            Intrinsic::GatherOutput { ty, of_primitive, name } => {
                let word = if *of_primitive { "primitive" } else { "surface" };
                write!(f, "{GATHER}{}.{word}:{name}", ty.letter())
            }
            fixed => f.write_str(Self::FIXED.iter().find(|i| i.0 == *fixed).map_or("", |i| i.1)),
        }
    }
}

impl From<Intrinsic> for Arc<str> {
    fn from(intrinsic: Intrinsic) -> Self {
        intrinsic.name()
    }
}

/// The suffix of the names of functions' copies for specialization `n`.
pub fn specialization_suffix(n: usize) -> String {
    format!("@{n}")
}

/// The part of the names of functions' copies that compute derivatives, too, before their number.
pub const DERIVED: &str = ".derived";

/// The name of the function of which one is a copy that computes derivatives, too; the name itself
/// of any other function.
pub fn underived_name(function: &str) -> &str {
    match function.rsplit_once(DERIVED) {
        Some((name, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => function,
    }
}

/// The name of a function without that of its specialization.
pub fn generic_name(function: &str) -> &str {
    match function.rsplit_once('@') {
        Some((name, n)) if !name.is_empty() && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => function,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_intrinsic_gives_the_intrinsic_back() {
        let fixed = Intrinsic::FIXED.map(|f| f.0);
        let others = [
            Intrinsic::LightMessage(DataType::Color, "own.color@2x".into()),
            Intrinsic::LightEnvironment(3),
            Intrinsic::GatherOutput { ty: DataType::Float, of_primitive: true, name: "u".into() },
            Intrinsic::GatherOutput { ty: DataType::Vector, of_primitive: false, name: "N".into() },
        ];
        for intrinsic in fixed.into_iter().chain(others) {
            assert_eq!(Intrinsic::parse(&intrinsic.name()), Some(intrinsic.clone()));
            assert!(intrinsic.is(&format!("{intrinsic}{}", specialization_suffix(12))));
        }
        assert_eq!(Intrinsic::parse("lights.message.q.x"), None);
        assert_eq!(generic_name("@camera"), "@camera");
    }
}
