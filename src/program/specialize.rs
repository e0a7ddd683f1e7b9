//! Which facts of a scene are constants of its program, so that the compiler folds what depends on
//! them (the first Futamura projection; Pérard-Gayot 2020, chapter 3). The others are data.
//!
//! [`FACTS`] is the table: a name, what it says, and the first of the modes `types`, `constants`
//! and `all` that has it. The code that makes a fact constant asks [`Specialize::has`].

use thiserror::Error;

/// A kind of fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// How many lights of which kinds there are. Otherwise a table in memory has the kind of each.
    Lights,
    /// Where the records of each mesh hold its colors. Otherwise all vertices have some.
    Layouts,
    /// Parameters of surface and displacement shaders that all objects of the same code share.
    Parameters,
    /// Which parameters of surface and displacement shaders are zero: objects that differ in that
    /// get code of their own.
    Zeros,
    /// Parameters of lights, volumes and co-shaders.
    LightParameters,
    /// Which textures there are, their sizes, channels, wrap modes, levels and places.
    Textures,
    /// The camera model: the projection, and whether there is a lens.
    Camera,
    /// Width and height of the image.
    Image,
    /// The limits of the ray depth and of indirect contributions.
    Limits,
    /// The depth of the BVH, and whether all its triangles are two-sided: both choose a traversal
    /// kernel.
    Bvh,
}

/// A row of the table of facts.
#[derive(Clone, Copy, Debug)]
pub struct FactInfo {
    /// The fact.
    pub fact: Fact,
    /// The name on the command line.
    pub name: &'static str,
    /// The data that become constants.
    pub description: &'static str,
}

/// The facts, those of the mode `types` first, then those of `constants`, then those of `all`.
pub const FACTS: [FactInfo; 10] = [
    FactInfo { fact: Fact::Lights, name: "lights", description: "kinds and number of lights" },
    FactInfo { fact: Fact::Layouts, name: "layouts", description: "where the records of each mesh hold its colors" },
    FactInfo {
        fact: Fact::Parameters,
        name: "parameters",
        description: "parameters that all objects of the same code share",
    },
    FactInfo {
        fact: Fact::LightParameters,
        name: "light-parameters",
        description: "parameters of lights, volumes and co-shaders",
    },
    FactInfo {
        fact: Fact::Textures,
        name: "textures",
        description: "presence, size, channels, wrap mode and place of textures",
    },
    FactInfo { fact: Fact::Camera, name: "camera", description: "projection and lens of the camera" },
    FactInfo { fact: Fact::Image, name: "image", description: "size of the image" },
    FactInfo { fact: Fact::Limits, name: "limits", description: "limits of ray depth and of indirect light" },
    FactInfo { fact: Fact::Bvh, name: "bvh", description: "depth of the BVH and sides of triangles" },
    FactInfo {
        fact: Fact::Zeros,
        name: "zeros",
        description: "which parameters are zero: objects that differ in that get code of their own",
    },
];

/// How many of [`FACTS`] the mode `types` has.
const OF_TYPES: u32 = 2;
/// How many of them the mode `constants` has.
const OF_CONSTANTS: u32 = 9;

/// A set of facts. The default is the mode `types`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Specialize(u16);

/// The modes by their names.
pub const MODES: [(&str, Specialize); 4] = [
    ("none", Specialize::NONE),
    ("types", Specialize::TYPES),
    ("constants", Specialize::CONSTANTS),
    ("all", Specialize::ALL),
];

/// A word that names no fact and no mode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no fact `{0}`; modes are none, types, constants and all, facts are {list}", list = fact_names())]
pub struct UnknownFact(String);

fn fact_names() -> String {
    FACTS.map(|f| f.name).join(", ")
}

impl Specialize {
    /// One program for every scene with these shaders: all facts are data.
    pub const NONE: Self = Self(0);
    /// Which shaders, lights and layouts there are.
    pub const TYPES: Self = Self((1 << OF_TYPES) - 1);
    /// Whatever makes no more code.
    pub const CONSTANTS: Self = Self((1 << OF_CONSTANTS) - 1);
    /// Everything: objects that differ in which of their parameters are zero get code of their own.
    pub const ALL: Self = Self((1 << FACTS.len()) - 1);

    fn bit(fact: Fact) -> u16 {
        FACTS.iter().position(|f| f.fact == fact).map_or(0, |i| 1 << i)
    }

    /// True if a fact is constant.
    pub fn has(self, fact: Fact) -> bool {
        self.0 & Self::bit(fact) != 0
    }

    /// The set with a fact.
    #[must_use]
    pub fn with(self, fact: Fact) -> Self {
        Self(self.0 | Self::bit(fact))
    }

    /// The set without a fact.
    #[must_use]
    pub fn without(self, fact: Fact) -> Self {
        Self(self.0 & !Self::bit(fact))
    }

    /// The set without what a view decides: camera and size of the image stay data, so that one
    /// program serves all views.
    #[must_use]
    pub fn for_any_view(self) -> Self {
        self.without(Fact::Camera).without(Fact::Image)
    }

    /// The set without what the user edits: parameters, and the scene's options.
    #[must_use]
    pub fn for_edits(self) -> Self {
        let kept = self.for_any_view().without(Fact::Parameters).without(Fact::Zeros);
        kept.without(Fact::LightParameters).without(Fact::Limits)
    }

    /// True if functions get variants for constant arguments. Facts of types alone are in the code
    /// that the linker writes.
    pub fn makes_variants(self) -> bool {
        self.0 & !Self::TYPES.0 != 0
    }

    /// True if some parameter may be a constant.
    pub fn fixes_parameters(self) -> bool {
        self.has(Fact::Parameters) || self.has(Fact::Zeros)
    }

    /// Reads a mode, or a list of modes and facts between commas, of which those after a minus are
    /// left out: `all`, `types,textures`, `constants,-image`.
    ///
    /// # Errors
    /// [`UnknownFact`] for another word.
    pub fn parse(text: &str) -> Result<Self, UnknownFact> {
        let mut facts = Self::NONE;
        for word in text.split(',').map(str::trim) {
            let (name, is_left_out) = word.strip_prefix('-').map_or((word, false), |name| (name, true));
            let mode = MODES.iter().find(|(mode, _)| *mode == name).map(|(_, facts)| *facts);
            let fact = || FACTS.iter().find(|f| f.name == name).map(|f| Self(Self::bit(f.fact)));
            let named = mode.or_else(fact).ok_or_else(|| UnknownFact(word.to_string()))?;
            facts.0 = if is_left_out { facts.0 & !named.0 } else { facts.0 | named.0 };
        }
        Ok(facts)
    }
}

impl Default for Specialize {
    fn default() -> Self {
        Self::TYPES
    }
}

impl std::fmt::Display for Specialize {
    /// The name of the mode, or the facts between commas.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match MODES.iter().find(|(_, facts)| facts == self) {
            Some((name, _)) => f.write_str(name),
            None => {
                let names: Vec<&str> = FACTS.iter().filter(|info| self.has(info.fact)).map(|info| info.name).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

impl std::fmt::Debug for Specialize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Specialize({self})")
    }
}

impl std::str::FromStr for Specialize {
    type Err = UnknownFact;

    fn from_str(text: &str) -> Result<Self, UnknownFact> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_facts_are_read_and_written_by_their_names() {
        for (name, facts) in MODES {
            assert_eq!(Specialize::parse(name), Ok(facts));
            assert_eq!(facts.to_string(), name);
        }
        let some = Specialize::parse("types, textures").expect("facts");
        assert!(some.has(Fact::Textures) && some.has(Fact::Lights) && !some.has(Fact::Camera));
        assert_eq!(some.to_string(), "lights,layouts,textures");
        assert_eq!(Specialize::parse("all,-zeros"), Ok(Specialize::CONSTANTS));
        let error = Specialize::parse("all,lamps").expect_err("no fact").to_string();
        assert!(error.starts_with("there is no fact `lamps`; modes are none, types, constants and all"), "{error}");
        assert!(Specialize::parse("").is_err());
    }

    #[test]
    fn each_mode_has_the_facts_of_the_one_before() {
        for pair in MODES.windows(2) {
            assert!(pair[0].1.0 & !pair[1].1.0 == 0 && pair[0] != pair[1]);
        }
        assert!(!Specialize::TYPES.makes_variants() && Specialize::CONSTANTS.makes_variants());
        assert!(Specialize::ALL.has(Fact::Zeros) && !Specialize::CONSTANTS.has(Fact::Zeros));
        assert_eq!(Specialize::ALL.for_edits(), Specialize::parse("types,textures,bvh").expect("facts"));
    }
}
