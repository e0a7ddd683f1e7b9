//! The named inputs of shader cores.
//!
//! A core is a function of its shader's parameters and of named inputs: predefined variables of the
//! language, and what the compiler adds. The linker fetches them from the hit, the scene, and the
//! program constants.

use super::DataType;
use std::fmt;

/// The names of inputs of which there is one each. All but predefined variables have a point in
/// their names, which no identifier has.
pub mod input {
    /// `vec3`: the ray's origin.
    pub const RAY_ORIGIN: &str = "ray.origin";
    /// `vec3`: the ray's direction.
    pub const RAY_DIRECTION: &str = "ray.direction";
    /// `f32`: the ray's parameter at the hit.
    pub const RAY_T: &str = "ray.t";
    /// `f32`: the smallest parameter of the ray that counts as a hit.
    pub const RAY_T_MIN: &str = "ray.t_min";
    /// `f32`: the time of the ray as a share of the shutter interval.
    pub const RAY_TIME: &str = "ray.time";
    /// `f32`: the diameter of the ray's cone at the hit.
    pub const RAY_FOOTPRINT: &str = "ray.footprint";
    /// `f32`: how much the diameter of the ray's cone grows in a unit of length.
    pub const RAY_SPREAD: &str = "ray.spread";
    /// `f32`: what the ray was traced for (`docs/internals.md`).
    pub const RAY_KIND: &str = "ray.kind";
    /// `f32`: horizontal position on the image, from 0 to 1.
    pub const SCREEN_X: &str = "screen.x";
    /// `f32`: vertical position on the image, from 0 at the bottom to 1.
    pub const SCREEN_Y: &str = "screen.y";
    /// `f32`: position on the lens, from 0 to 1.
    pub const LENS_X: &str = "lens.x";
    /// `f32`: position on the lens, from 0 to 1.
    pub const LENS_Y: &str = "lens.y";
    /// `f32`: a random number in `[0, 1)` that chooses a sample.
    pub const SEED_X: &str = "seed.x";
    /// `f32`: a second one.
    pub const SEED_Y: &str = "seed.y";
    /// `vec3`: the direction for which a BSDF is evaluated.
    pub const LIGHT_DIRECTION: &str = "light.direction";
    /// `f32`, an output of RTSL lights: their distance.
    pub const LIGHT_DISTANCE: &str = "light.distance";
    /// `f32`: 1 where the mesh's points have been moved by the displacement method of the class
    /// that shades it, else 0.
    pub const DISPLACED: &str = "displacement.done";
    /// `f32`: the state of a shader's sequence of random numbers, a whole number below 2²⁴.
    pub const RANDOM_STATE: &str = "__random_state";
    /// `vec3`, an output of surface shaders that bake: the part of what they bake for which the
    /// program runs ([`crate::abi::BakeCall`]).
    pub const BAKED: &str = "__baked";
    /// The variables of the compiler among predefined ones, which text cannot name.
    pub const INTERNAL: [&str; 2] = [RANDOM_STATE, BAKED];
}

/// A coordinate system that a core takes as inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderSpace {
    /// That in which the shader was declared.
    Shader,
    /// That of the object.
    Object,
}

/// A part of a coordinate system: an axis or the origin, in the current coordinate system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// The z axis.
    Z,
    /// The origin.
    Origin,
}

/// The meaning of the name of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// A predefined variable (RISpec 3.2, tables 11.1 to 11.4), or one of the inputs named in
    /// [`input`].
    Variable(&'a str),
    /// `vec3`: a part of a coordinate system.
    Space(ShaderSpace, Axis),
    /// The value of string expression `n` of the shader (`concat`, `format`, `match`), which is
    /// known for each instance.
    String(usize),
    /// `vec4`: vector `n` of what uniform code of the shader computes, which is known for each
    /// instance.
    Uniform(usize),
    /// The value of a `scratch` variable of an object that is primitive and material in one, as
    /// `intersect` leaves it at the hit. The name says which of the object's variables it is.
    Scratch(&'a str),
    /// The answer to a message-passing call.
    Query(Query<'a>),
}

impl ShaderSpace {
    /// The names of the inputs: x, y, z and the origin.
    pub const fn inputs(self) -> [&'static str; 4] {
        match self {
            ShaderSpace::Shader => ["space.shader.x", "space.shader.y", "space.shader.z", "space.shader.o"],
            ShaderSpace::Object => ["space.object.x", "space.object.y", "space.object.z", "space.object.o"],
        }
    }
}

/// The prefix of the names of [`Input::String`].
const STRING: &str = "string.";

/// The prefix of the names of [`Input::Uniform`].
const UNIFORM: &str = "uniform.";

/// The prefix of the names of [`Input::Scratch`].
const SCRATCH: &str = "scratch.";

impl<'a> Input<'a> {
    /// Reads the name of an input.
    pub fn parse(name: &'a str) -> Self {
        const AXES: [Axis; 4] = [Axis::X, Axis::Y, Axis::Z, Axis::Origin];
        for space in [ShaderSpace::Shader, ShaderSpace::Object] {
            if let Some(i) = space.inputs().iter().position(|n| *n == name) {
                return Input::Space(space, AXES[i]);
            }
        }
        let string = name.strip_prefix(STRING).and_then(|n| n.parse().ok()).map(Input::String);
        let uniform = || name.strip_prefix(UNIFORM).and_then(|n| n.parse().ok()).map(Input::Uniform);
        let scratch = || name.strip_prefix(SCRATCH).map(Input::Scratch);
        string
            .or_else(uniform)
            .or_else(scratch)
            .or_else(|| Query::parse(name).map(Input::Query))
            .unwrap_or(Input::Variable(name))
    }

    /// True if text in a shader can name it: it is a predefined variable of the language.
    pub fn is_predefined(self) -> bool {
        matches!(self, Input::Variable(name) if !name.contains('.'))
    }
}

impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Variable(name) => f.write_str(name),
            Input::Space(space, axis) => f.write_str(space.inputs()[*axis as usize]),
            Input::String(n) => write!(f, "{STRING}{n}"),
            Input::Uniform(n) => write!(f, "{UNIFORM}{n}"),
            Input::Scratch(variable) => write!(f, "{SCRATCH}{variable}"),
            Input::Query(query) => query.fmt(f),
        }
    }
}

/// Who answers a [`Query`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuerySource {
    /// The surface shader of the object.
    Surface,
    /// The displacement shader of the object.
    Displacement,
    /// The atmosphere of the object.
    Atmosphere,
    /// The volume on the side of the object where the ray comes from.
    Incident,
    /// The volume on the other side.
    Opposite,
    /// The object's attributes.
    Attribute,
    /// The scene's options.
    Option,
    /// The renderer.
    RendererInfo,
    /// The names of the object's shaders.
    ShaderName,
}

impl QuerySource {
    const WORDS: [(QuerySource, &'static str); 9] = [
        (QuerySource::Surface, "surface"),
        (QuerySource::Displacement, "displacement"),
        (QuerySource::Atmosphere, "atmosphere"),
        (QuerySource::Incident, "incident"),
        (QuerySource::Opposite, "opposite"),
        (QuerySource::Attribute, "attribute"),
        (QuerySource::Option, "option"),
        (QuerySource::RendererInfo, "rendererinfo"),
        (QuerySource::ShaderName, "shadername"),
    ];

    /// The source that the RSL function of this name asks.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|w| w.1 == word).map(|w| w.0)
    }

    /// The name of the RSL function.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|w| w.0 == self).map_or("", |w| w.1)
    }
}

/// A message-passing call (RISpec 3.2, §15.8) whose answer is an input: the value of type `ty`, or
/// whether there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// Who answers.
    pub source: QuerySource,
    /// The type of the value, or of an element of an array.
    pub ty: DataType,
    /// The name of what is asked for.
    pub name: &'a str,
    /// Of an array, the element's index and the number of elements.
    pub element: Option<(u32, u32)>,
    /// True if the input is the presence of a value (`f32`, 1 or 0), instead of the value.
    pub found: bool,
}

impl<'a> Query<'a> {
    /// Reads the name of an input; `None` where that is no query.
    pub fn parse(input: &'a str) -> Option<Self> {
        let at = input.find(['.', '?'])?;
        let (word, rest) = input.split_at(at);
        let (letter, name) = rest[1..].split_once('.')?;
        let ty = DataType::from_letter(letter)?;
        let numbers = |text: &str| text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        let (name, element) = match name.rsplit_once('#').and_then(|(name, rest)| Some((name, numbers(rest)?))) {
            Some((name, element)) => (name, Some(element)),
            None => (name, None),
        };
        Some(Self { source: QuerySource::from_word(word)?, ty, name, element, found: rest.starts_with('?') })
    }
}

impl fmt::Display for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.found { '?' } else { '.' };
        write!(f, "{}{mark}{}.{}", self.source.word(), self.ty.letter(), self.name)?;
        self.element.map_or(Ok(()), |(i, len)| write!(f, "#{i}/{len}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_input_gives_the_input_back() {
        let query = |element, found| {
            Input::Query(Query {
                source: QuerySource::Attribute,
                ty: DataType::Color,
                name: "user:a.b?",
                element,
                found,
            })
        };
        let inputs = [
            Input::Variable("P"),
            Input::Variable(input::RAY_ORIGIN),
            Input::Space(ShaderSpace::Object, Axis::Origin),
            Input::String(12),
            Input::Scratch("shape.at.0"),
            query(None, false),
            query(None, true),
            query(Some((2, 3)), false),
            Input::Variable("attribute.user"),
        ];
        for input in inputs {
            assert_eq!(Input::parse(&input.to_string()), input);
        }
    }

    #[test]
    fn only_predefined_variables_of_the_language_can_be_named() {
        assert!(Input::parse("P").is_predefined());
        for hidden in [input::RAY_KIND, "space.shader.x", "string.0", "scratch.at.0", "attribute.c.user:a"] {
            assert!(!Input::parse(hidden).is_predefined(), "{hidden}");
        }
    }
}
