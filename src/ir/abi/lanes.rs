//! Operations between the lanes of a vector, as calls that the vectorizer replaces.
//!
//! In code that runs for one sample there is one lane: its number is 0, and every operation gives
//! its operand. Operations whose operand may have several types end with its name, as in
//! `lanes.extract.f32`.

use std::fmt;

/// An operation between lanes. Only lanes that are active count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneIntrinsic {
    /// `() → u32`: the number of the lane.
    Index,
    /// `() → u32`: the number of lanes, of which some may be inactive.
    Count,
    /// `(bool) → bool`: whether it holds in an active lane.
    Any,
    /// `(bool) → bool`: whether it holds in all active lanes.
    All,
    /// `(bool) → u32`: bit `l` is set when lane `l` is active and it holds there.
    Ballot,
    /// `(T, u32 by) → T`: the value of the lane that is `by` further, modulo the number of lanes.
    /// From an inactive lane it is unspecified. `by` is uniform.
    Shuffle,
    /// `(T, u32 lane) → T`: the value of a lane, modulo the number of lanes. `lane` is uniform.
    Extract,
    /// `(T) → T`: active lanes combined from the first to the last; integers and floats.
    Reduce(Reduction),
}

/// How lanes are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// `a + b`
    Add,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

/// The prefix of the names.
const LANES: &str = "lanes.";

impl LaneIntrinsic {
    /// All of them.
    pub const ALL: [LaneIntrinsic; 10] = [
        LaneIntrinsic::Index,
        LaneIntrinsic::Count,
        LaneIntrinsic::Any,
        LaneIntrinsic::All,
        LaneIntrinsic::Ballot,
        LaneIntrinsic::Shuffle,
        LaneIntrinsic::Extract,
        LaneIntrinsic::Reduce(Reduction::Add),
        LaneIntrinsic::Reduce(Reduction::Min),
        LaneIntrinsic::Reduce(Reduction::Max),
    ];

    /// True if its name ends with the type of its first operand.
    pub fn is_typed(self) -> bool {
        matches!(self, LaneIntrinsic::Shuffle | LaneIntrinsic::Extract | LaneIntrinsic::Reduce(_))
    }

    /// The operands beside the first.
    pub fn has_second(self) -> bool {
        matches!(self, LaneIntrinsic::Shuffle | LaneIntrinsic::Extract)
    }

    fn word(self) -> &'static str {
        match self {
            LaneIntrinsic::Index => "index",
            LaneIntrinsic::Count => "count",
            LaneIntrinsic::Any => "any",
            LaneIntrinsic::All => "all",
            LaneIntrinsic::Ballot => "ballot",
            LaneIntrinsic::Shuffle => "shuffle",
            LaneIntrinsic::Extract => "extract",
            LaneIntrinsic::Reduce(Reduction::Add) => "add",
            LaneIntrinsic::Reduce(Reduction::Min) => "min",
            LaneIntrinsic::Reduce(Reduction::Max) => "max",
        }
    }

    /// The name of the function in the IR for a type of its first operand.
    pub fn name(self, ty: impl fmt::Display) -> String {
        if self.is_typed() { format!("{LANES}{}.{ty}", self.word()) } else { format!("{LANES}{}", self.word()) }
    }

    /// Reads the name of a function, and that of the type that it ends with.
    pub fn parse(function: &str) -> Option<(Self, &str)> {
        let rest = function.strip_prefix(LANES)?;
        let (word, ty) = rest.split_once('.').unwrap_or((rest, ""));
        let found = Self::ALL.into_iter().find(|i| i.word() == word)?;
        (found.is_typed() != ty.is_empty()).then_some((found, ty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_operation_between_lanes_gives_it_back() {
        for intrinsic in LaneIntrinsic::ALL {
            let ty = if intrinsic.is_typed() { "vec3" } else { "" };
            assert_eq!(LaneIntrinsic::parse(&intrinsic.name("vec3")), Some((intrinsic, ty)));
        }
        assert_eq!(LaneIntrinsic::name(LaneIntrinsic::Shuffle, "f32"), "lanes.shuffle.f32");
        assert_eq!([LaneIntrinsic::parse("lanes.extract"), LaneIntrinsic::parse("lanes.any.f32")], [None, None]);
        assert_eq!(LaneIntrinsic::parse("lights.count"), None);
    }
}
