//! The calling convention (Węgrzanowski 2006, §7.2): which parts of which general registers hold
//! arguments and results.
//!
//! Vectors of two or three components take `R0.xyz`, `R1.xyz` and so on, scalars `R0.w`, `R1.w` and
//! so on, each counted apart; a vector of four takes the next register free in both. Results
//! likewise. The caller saves what it needs: a called function may change every general, input and
//! special register and all of `A` but `w`, the base of the thread's scratch memory.

use super::Error;
use super::vcode::ALLOCATABLE;
use shadewright_ir::Type;
use shadewright_rpu::isa::Mask;

/// Where values of the given types are passed.
///
/// # Errors
/// [`Error::TooManyArguments`] when `R0` to `R14` do not suffice.
pub fn assign(types: impl Iterator<Item = Type>, function: &str) -> Result<Vec<(u8, Mask)>, Error> {
    let (mut vectors, mut scalars) = (0u8, 0u8);
    types
        .map(|ty| {
            let place = match ty {
                Type::Vec2 | Type::Vec3 => {
                    vectors += 1;
                    (vectors - 1, lanes(ty))
                }
                Type::Vec4 => {
                    let n = vectors.max(scalars);
                    (vectors, scalars) = (n + 1, n + 1);
                    (n, Mask::XYZW)
                }
                _ => {
                    scalars += 1;
                    (scalars - 1, Mask::W)
                }
            };
            if place.0 < ALLOCATABLE { Ok(place) } else { Err(Error::TooManyArguments { function: function.into() }) }
        })
        .collect()
}

/// The components that a value of a type takes in a register of its own.
pub fn lanes(ty: Type) -> Mask {
    match ty {
        Type::Vec2 => Mask::from_bits(0b0011),
        Type::Vec3 => Mask::XYZ,
        Type::Vec4 => Mask::XYZW,
        _ => Mask::W,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_scalars_are_counted_apart_and_quads_take_both() {
        let types = [Type::Vec3, Type::F32, Type::Vec2, Type::Vec4, Type::I32, Type::Vec3];
        let places = assign(types.into_iter(), "f").unwrap();
        let xy = Mask::from_bits(3);
        assert_eq!(places, [(0, Mask::XYZ), (0, Mask::W), (1, xy), (2, Mask::XYZW), (3, Mask::W), (3, Mask::XYZ)]);
    }

    #[test]
    fn a_sixteenth_scalar_is_refused() {
        assert!(assign([Type::F32; 15].into_iter(), "f").is_ok());
        assert!(matches!(assign([Type::F32; 16].into_iter(), "f"), Err(Error::TooManyArguments { .. })));
    }
}
