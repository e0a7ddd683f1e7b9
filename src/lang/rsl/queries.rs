//! The calls that ask the renderer for something by its name: message passing between shaders (RISpec 3.2, §15.8), attributes, options, the renderer, the ray.
//!
//! They take the name as a constant and a variable that gets the value if there is one of the variable's type; they give 1 then and 0 otherwise. What shaders of other kinds and the
//! scene know arrives as *named inputs* of a shader's core, see [`value_input`]; what a light knows is asked of the linker's function [`super::LIGHTS_MESSAGE`].

use super::types::RslType;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The light of the `illuminance` around the call.
    Light,
    /// The ray that is being shaded.
    Ray,
    /// Somebody whose answer is a named input.
    Input,
}

/// The words, each with who is asked.
pub const QUERIES: [(&str, Source); 10] = [
    ("lightsource", Source::Light),
    ("surface", Source::Input),
    ("displacement", Source::Input),
    ("atmosphere", Source::Input),
    ("incident", Source::Input),
    ("opposite", Source::Input),
    ("attribute", Source::Input),
    ("option", Source::Input),
    ("rendererinfo", Source::Input),
    ("rayinfo", Source::Ray),
];

/// Who is asked by a word.
pub fn source(word: &str) -> Option<Source> {
    QUERIES.iter().find(|q| q.0 == word).map(|q| q.1)
}

/// The predefined variables that `rayinfo` looks at.
pub const RAY_INPUTS: [&str; 4] = ["ray.direction", "ray.kind", "ray.origin", "raydepth"];

/// The name of the named input that holds what `word` asks for: the value, of type `ty`.
/// Of an array there is one for each element, with `#` and its index and their number behind the name.
pub fn value_input(word: &str, ty: RslType, name: &str, element: u32) -> String {
    match ty {
        RslType::Array(_, len) => format!("{word}.{}.{name}#{element}/{len}", ty.element().letter()),
        _ => format!("{word}.{}.{name}", ty.letter()),
    }
}

/// The name of the named input that is 1 where there is such a value, and 0 elsewhere.
pub fn found_input(word: &str, ty: RslType, name: &str) -> String {
    match ty {
        RslType::Array(_, len) => format!("{word}?{}.{name}#0/{len}", ty.element().letter()),
        _ => format!("{word}?{}.{name}", ty.letter()),
    }
}

/// A named input as it was made by [`value_input`] or [`found_input`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Who is asked.
    pub word: &'a str,
    /// The type of the value, or of an element.
    pub ty: RslType,
    /// What is asked for.
    pub name: &'a str,
    /// Of an array, the element's index and the number of elements.
    pub element: Option<(u32, u32)>,
    /// Whether it is only asked whether there is a value.
    pub whether: bool,
}

impl<'a> Asked<'a> {
    /// Reads an input's name; `None` when it asks for nothing by name.
    pub fn parse(input: &'a str) -> Option<Self> {
        let at = input.find(['.', '?'])?;
        let (word, rest) = input.split_at(at);
        let (letter, name) = rest[1..].split_once('.')?;
        let ty = RslType::DECLARABLE.into_iter().find(|t| letter.len() == 1 && letter.starts_with(t.letter()))?;
        let numbers = |text: &str| text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        let (name, element) = match name.rsplit_once('#').and_then(|(name, rest)| Some((name, numbers(rest)?))) {
            Some((name, element)) => (name, Some(element)),
            None => (name, None),
        };
        let is_known = source(word).is_some() || word == "shadername";
        is_known.then_some(Self { word, ty, name, element, whether: rest.starts_with('?') })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_say_what_was_asked() {
        let asked = Asked { word: "attribute", ty: RslType::Color, name: "user:a.b?", element: None, whether: false };
        assert_eq!(Asked::parse(&value_input("attribute", RslType::Color, "user:a.b?", 0)), Some(asked));
        assert_eq!(
            Asked::parse(&found_input("attribute", RslType::Color, "user:a.b?")),
            Some(Asked { whether: true, ..asked })
        );
        let array = RslType::Array(&RslType::Color, 3);
        let element = Some(Asked { element: Some((2, 3)), ..asked });
        assert_eq!(Asked::parse(&value_input("attribute", array, "user:a.b?", 2)), element);
        for other in ["P", "space.shader.x", "ray.origin", "attribute.user"] {
            assert_eq!(Asked::parse(other), None, "{other}");
        }
    }
}
