//! Values as runners record them: in hexadecimal and in decimals, and how far two are apart.

use serde::Serialize;
use shadewright_ir::{Type, string_id};

/// A value of one runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The words of the value, in hexadecimal.
    pub hex: Vec<String>,
    /// The value.
    pub text: String,
}

impl Shown {
    /// The value of a type that these words are, or as many of them as there are.
    pub fn new(ty: Type, words: &[u32]) -> Self {
        let one = |word: u32| match ty {
            Type::Bool => (word != 0).to_string(),
            Type::I32 => (word as i32).to_string(),
            Type::U32 | Type::Ref => word.to_string(),
            Type::String if word == string_id("") => "\"\"".to_string(),
            Type::String => format!("string #{word:08x}"),
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 | Type::Mat4 => format!("{}", f32::from_bits(word)),
        };
        let parts: Vec<String> = words.iter().map(|&word| one(word)).collect();
        let text = if let [one] = &parts[..] { one.clone() } else { format!("({})", parts.join(", ")) };
        Self { hex: words.iter().map(|word| format!("{word:#010x}")).collect(), text }
    }
}

/// True if two words of a type mean different things: all NaN are one, and so are both zeros.
pub fn word_differs(ty: Type, a: u32, b: u32) -> bool {
    let is_float = ty.lanes().is_some();
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a != b && !(is_float && (x == y || x.is_nan() && y.is_nan()))
}

/// True if two values of a type mean different things.
pub fn differs(ty: Type, a: &[u32], b: &[u32]) -> bool {
    a.len() != b.len() || a.iter().zip(b).any(|(&a, &b)| word_differs(ty, a, b))
}

/// How many floats lie between two, counted in steps from one to the next; `None` where one of them
/// is NaN.
pub fn ulps(a: u32, b: u32) -> Option<u64> {
    // Floats in the order of integers.
    let place = |bits: u32| {
        let magnitude = i64::from(bits & 0x7fff_ffff);
        if bits >> 31 == 0 { magnitude } else { -magnitude }
    };
    let is_nan = [a, b].into_iter().any(|bits| f32::from_bits(bits).is_nan());
    (!is_nan).then(|| place(a).abs_diff(place(b)))
}

/// The greatest distance of the components of two values, if they are floats.
pub fn distance(ty: Type, a: &[u32], b: &[u32]) -> Option<u64> {
    ty.lanes()?;
    a.iter().zip(b).filter(|(a, b)| word_differs(ty, **a, **b)).map(|(&a, &b)| ulps(a, b)).max()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_across_zero() {
        let bits = f32::to_bits;
        assert_eq!(ulps(bits(1.0), bits(1.0) + 3), Some(3));
        assert_eq!(ulps(0, 0x8000_0000), Some(0));
        assert_eq!(ulps(1, 0x8000_0002), Some(3));
        assert_eq!(ulps(bits(f32::NAN), 0), None);
        assert_eq!(distance(Type::Vec2, &[bits(1.0), bits(2.0)], &[bits(1.0) + 1, bits(2.0) - 4]), Some(4));
        assert_eq!(distance(Type::U32, &[1], &[2]), None);
    }

    #[test]
    fn what_means_the_same_does_not_differ() {
        assert!(!word_differs(Type::F32, 0x7fc0_0000, 0xffc0_0001));
        assert!(!word_differs(Type::F32, 0, 0x8000_0000));
        assert!(word_differs(Type::U32, 0, 0x8000_0000));
        assert!(word_differs(Type::F32, 0x7fc0_0000, 0));
    }

    #[test]
    fn values_are_shown_in_both_forms() {
        let shown = Shown::new(Type::Vec3, &[1.0f32.to_bits(), 0.1f32.to_bits(), 0]);
        assert_eq!(shown.text, "(1, 0.1, 0)");
        assert_eq!(shown.hex, ["0x3f800000", "0x3dcccccd", "0x00000000"]);
        assert_eq!(Shown::new(Type::Bool, &[1]).text, "true");
        assert_eq!(Shown::new(Type::I32, &[u32::MAX]).text, "-1");
    }
}
