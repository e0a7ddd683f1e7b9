//! Co-shaders (RSL 2.0): names of the functions that find co-shaders and call their methods, and of
//! the cores of their methods.
//!
//! A handle is a string, empty for no shader. A core calls a function of the linker whose name
//! states what is asked, with the types ([`CoShaderCall`]), because the callee and its types are
//! known only when a scene is linked. A method sees the predefined variables of its caller: all of
//! [`inputs`] are passed, and unused ones are removed later.

use crate::globals::{GLOBALS, Global};
use crate::types::SourceType;
use shadewright_ir::abi::{Input, ShaderKind, ShaderSpace, input};
use std::fmt;
use std::sync::Arc;

/// The prefix of all names.
pub const PREFIX: &str = "coshader.";

/// The end of the names of cores, after `CLASS.METHOD`: no source can name them.
const CORE: &str = "$call";

/// Stands before the names of parameters and results of cores that belong to the call: no source
/// can name them.
pub const ARROW: &str = "->";

/// The name of the core that runs a method of a class, or that gives the class's members, for an
/// empty name.
pub fn core_name(class: &str, method: &str) -> String {
    format!("{class}.{method}{CORE}")
}

/// True if a function has the name of such a core.
pub fn is_core(function: &str) -> bool {
    function.ends_with(CORE)
}

/// The class and the method of a core, by its name.
pub fn class_and_method(core: &str) -> Option<(&str, &str)> {
    core.strip_suffix(CORE)?.split_once('.')
}

/// The kind of question to other shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CoShaderQuery {
    /// `getshader(handle)`: the handle, if there is such a shader, or null.
    Find,
    /// How many shaders are of a category.
    Count,
    /// The handle of one of them, by its number.
    At,
    /// `hasmethod(s, "name")`
    Has,
    /// `s->name`
    Member,
    /// `s->name(…)`, for its value.
    Method,
    /// `s->name(…);`, for its effect.
    Run,
}

impl CoShaderQuery {
    const WORDS: [(CoShaderQuery, &str); 7] = [
        (CoShaderQuery::Find, "find"),
        (CoShaderQuery::Count, "count"),
        (CoShaderQuery::At, "at"),
        (CoShaderQuery::Has, "has"),
        (CoShaderQuery::Member, "member"),
        (CoShaderQuery::Method, "method"),
        (CoShaderQuery::Run, "run"),
    ];

    /// The word in the names of functions.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|w| w.0 == self).map_or("", |w| w.1)
    }

    /// The query of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(Self::WORDS.iter().find(|w| w.1 == word)?.0)
    }

    /// The type of the value, where `wanted` is wanted.
    pub fn result(self, wanted: Option<SourceType>) -> SourceType {
        match self {
            Self::Find | Self::At => SourceType::String,
            Self::Count | Self::Has => SourceType::Float,
            Self::Run => SourceType::Void,
            Self::Member | Self::Method => {
                wanted.filter(|w| SourceType::DECLARABLE.contains(w)).unwrap_or(SourceType::Float)
            }
        }
    }

    /// True if the shader that is asked runs, so that it is given [`inputs`].
    pub fn runs(self) -> bool {
        matches!(self, Self::Member | Self::Method | Self::Run)
    }
}

/// A question with the types of its arguments and its answer: the name of a function of the linker.
///
/// The function takes the handle (`Count` and `At` a category, after the number), the values of
/// the arguments, and [`inputs`] where the shader [runs](CoShaderQuery::runs). It gives the value;
/// of `Member` 1 or 0 before it, for whether there is such a member; of `Method` and `Run` behind
/// it the new values of those arguments that are variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoShaderCall {
    /// The kind of question.
    pub question: CoShaderQuery,
    /// The name that is asked for.
    pub name: Arc<str>,
    /// The type of the value.
    pub result: SourceType,
    /// Types of a method's arguments, and whether each is a variable, which the method may change.
    pub args: Vec<(SourceType, bool)>,
}

impl fmt::Display for CoShaderCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}.{}.{}", self.question.word(), self.name, self.result.letter())?;
        for (ty, variable) in &self.args {
            let mark = if *variable { VARIABLE } else { "" };
            let length = if ty.is_array() { ty.capacity().to_string() } else { String::new() };
            write!(f, ".{mark}{}{length}", ty.element().letter())?;
        }
        Ok(())
    }
}

impl CoShaderCall {
    /// The name of the core that answers, where one does: that of the method, or none for members.
    pub fn core(&self) -> Option<&str> {
        match self.question {
            CoShaderQuery::Member => Some(""),
            CoShaderQuery::Method | CoShaderQuery::Run => Some(&self.name),
            CoShaderQuery::Find | CoShaderQuery::Count | CoShaderQuery::At | CoShaderQuery::Has => None,
        }
    }

    /// Reads the name of a function; `None` where it is no question.
    pub fn parse(function: &str) -> Option<Self> {
        let (word, rest) = function.strip_prefix(PREFIX)?.split_once('.')?;
        let question = CoShaderQuery::from_word(word)?;
        let mut types = rest.split('.');
        let name = types.next()?;
        let result = letter_type(types.next()?)?;
        let arg = |text: &str| {
            let (variable, text) = text.strip_prefix(VARIABLE).map_or((false, text), |rest| (true, rest));
            let element = letter_type(text.get(..1)?)?;
            let ty = match &text[1..] {
                "" => element,
                length => element.array(length.parse().ok()?)?,
            };
            Some((ty, variable))
        };
        Some(Self { question, name: name.into(), result, args: types.map(arg).collect::<Option<_>>()? })
    }
}

/// Stands before the type of an argument that is a variable: no type's letter.
const VARIABLE: &str = "w";

fn letter_type(letter: &str) -> Option<SourceType> {
    let types = SourceType::DECLARABLE.into_iter().chain([SourceType::Void]);
    types.into_iter().find(|t| letter.chars().eq([t.letter()]))
}

/// The predefined variables of a caller that a method sees, in the order in which they are passed.
pub fn inputs() -> impl Iterator<Item = &'static Global> {
    let is_own = |name: &str| {
        matches!(name, "Ci" | "Oi")
            || input::INTERNAL.contains(&name)
            || matches!(Input::parse(name), Input::Space(ShaderSpace::Shader, _))
    };
    GLOBALS.iter().filter(move |g| g.in_kind(ShaderKind::Surface) && !is_own(g.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_function_says_what_is_asked() {
        let args = vec![
            (SourceType::Float, false),
            (SourceType::Color, true),
            (SourceType::Array(&SourceType::Point, 4), true),
        ];
        let asked =
            CoShaderCall { question: CoShaderQuery::Method, name: "eval".into(), result: SourceType::Color, args };
        assert_eq!(asked.to_string(), "coshader.method.eval.c.f.wc.wp4");
        assert_eq!(CoShaderCall::parse(&asked.to_string()), Some(asked));
        let find = CoShaderCall {
            question: CoShaderQuery::Find,
            name: "".into(),
            result: SourceType::String,
            args: Vec::new(),
        };
        assert_eq!(CoShaderCall::parse(&find.to_string()), Some(find));
        for other in [
            "lights.sample",
            "coshader.method.eval",
            "coshader.dance.eval.f",
            "coshader.method.eval.q",
            "coshader.variable.eval.f",
        ] {
            assert_eq!(CoShaderCall::parse(other), None, "{other}");
        }
    }

    #[test]
    fn cores_tell_their_class_and_method() {
        assert_eq!(class_and_method(&core_name("layer", "eval")), Some(("layer", "eval")));
        assert_eq!(class_and_method(&core_name("layer", "")), Some(("layer", "")));
        assert_eq!(class_and_method("layer.eval"), None, "the method itself");
    }

    #[test]
    fn methods_see_where_the_caller_is_but_not_its_color() {
        let names: Vec<&str> = inputs().map(|g| g.name).collect();
        for seen in ["P", "N", "I", "Cs", "u", "space.object.x", "ray.kind"] {
            assert!(names.contains(&seen), "{seen}");
        }
        for own in ["Ci", "Oi", "space.shader.x", "L", "Ps"] {
            assert!(!names.contains(&own), "{own}");
        }
    }
}
