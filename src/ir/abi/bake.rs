//! The data that a shader bakes: the description that front ends pass with each call to the linker.

use super::DataType;
use std::fmt;

/// The kind of data that a call writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BakeKind {
    /// `bake3d`: points of a cloud.
    Points,
    /// `bake`: samples of a texture.
    Samples,
}

impl BakeKind {
    const WORDS: [(Self, &str); 2] = [(Self::Points, "points"), (Self::Samples, "samples")];

    /// The numbers that stand before the channels: position, normal and radius; or s and t.
    pub fn numbers(self) -> usize {
        match self {
            Self::Points => 7,
            Self::Samples => 2,
        }
    }
}

/// A call of `bake3d` or `bake` in a shader.
///
/// The data that it writes reach the renderer in *parts*, one a run of the program: part 0 is the
/// file ([`super::Intrinsic::BakeFile`]), and zero where the call did not run; the others are the
/// numbers of [`BakeKind::numbers`] and of the channels, three a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BakeCall {
    /// The number among the calls of its file, so that no two calls of a shader are the same.
    pub number: u32,
    /// The kind of data that it writes.
    pub kind: BakeKind,
    /// The types and names of the values.
    pub channels: Vec<(DataType, String)>,
}

impl BakeCall {
    /// The numbers of one point or sample.
    pub fn numbers(&self) -> usize {
        let floats = |ty: DataType| if ty == DataType::Float { 1 } else { 3 };
        self.kind.numbers() + self.channels.iter().map(|c| floats(c.0)).sum::<usize>()
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        1 + self.numbers().div_ceil(3)
    }

    /// Reads what the `Display` of a call writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let kind = words.next()?;
        let kind = BakeKind::WORDS.iter().find(|w| w.1 == kind)?.0;
        let number = words.next()?.parse().ok()?;
        let channel = |word: &str| {
            let (letter, name) = word.split_once(':')?;
            Some((DataType::from_letter(letter)?, name.to_string()))
        };
        Some(Self { number, kind, channels: words.map(channel).collect::<Option<_>>()? })
    }
}

/// As the constant argument of [`super::Intrinsic::BakePart`] has it: `points 0 c:_radiosity`.
impl fmt::Display for BakeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = BakeKind::WORDS.iter().find(|w| w.0 == self.kind).map_or("", |w| w.1);
        write!(f, "{kind} {}", self.number)?;
        self.channels.iter().try_for_each(|(ty, name)| write!(f, " {}:{name}", ty.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_call_gives_the_call_back() {
        let channels = vec![(DataType::Color, "_a:b".to_string()), (DataType::Float, "_area".to_string())];
        for kind in [BakeKind::Points, BakeKind::Samples] {
            let call = BakeCall { number: 3, kind, channels: channels.clone() };
            assert_eq!(BakeCall::parse(&call.to_string()), Some(call.clone()));
            assert_eq!(call.parts(), 1 + (kind.numbers() + 4).div_ceil(3));
        }
        assert_eq!(BakeCall::parse("points x"), None);
    }
}
