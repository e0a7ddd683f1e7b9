//! How vectorized functions are called: their names, and how lanes are passed.
//!
//! A uniform parameter or result is one value, an affine one the value of the first lane. The words
//! of a varying one are packed: four lanes to a `vec4`, or two to a `vec2`, integers and truth
//! values by their bits. That is what registers of the RPU hold. Vectors and strings are passed
//! lane by lane.

use crate::{Const, Type};
use shadewright_base::uniformity::Uniformity;
use std::fmt::Write as _;

/// The name of a function for a signature: `f.x4.uva1` has four lanes, and parameters that are
/// uniform, varying and affine; `.m` says that it takes a mask.
pub(super) fn variant_name(name: &str, width: u32, params: &[Uniformity], masked: bool) -> String {
    let mut text = format!("{name}.x{width}.");
    for uniformity in params {
        let _ = match *uniformity {
            Uniformity::Varying => write!(text, "v"),
            Uniformity::Affine { stride: 0, .. } => write!(text, "u"),
            Uniformity::Affine { stride, align } => {
                let sign = if (stride as i32) < 0 { "n" } else { "" };
                let known = if align > 0 { format!("k{align}") } else { String::new() };
                write!(text, "a{sign}{}{known}", (stride as i32).unsigned_abs())
            }
        };
    }
    if masked { text + ".m" } else { text }
}

/// True if lanes of a type are packed.
pub(super) fn is_packed(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::I32 | Type::U32 | Type::Ref | Type::Bool)
}

/// The types of the values that stand for one of a type and uniformity.
pub(super) fn passed_types(ty: Type, uniformity: Uniformity, width: u32) -> Vec<Type> {
    match uniformity {
        Uniformity::Affine { .. } => vec![ty],
        Uniformity::Varying if !is_packed(ty) || width == 1 => vec![ty; width as usize],
        Uniformity::Varying if width == 2 => vec![Type::Vec2],
        Uniformity::Varying => vec![Type::Vec4; width as usize / 4],
    }
}

/// The types of a function's parameters and results, and its lanes.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) width: u32,
    pub(super) params: Vec<Type>,
    pub(super) results: Vec<Type>,
}

impl Layout {
    /// The arguments for those of each lane.
    pub(super) fn pack(&self, lanes: &[Vec<Const>], uniformities: &[Uniformity]) -> Vec<Const> {
        let mut packed = Vec::new();
        for (n, (&ty, &uniformity)) in self.params.iter().zip(uniformities).enumerate() {
            let each: Vec<Const> = lanes.iter().filter_map(|args| args.get(n).cloned()).collect();
            match uniformity {
                Uniformity::Varying if is_packed(ty) && self.width > 1 => {
                    let words: Vec<f32> = each.iter().flat_map(Const::bits).map(f32::from_bits).collect();
                    packed.extend(words.chunks(4).filter_map(Const::from_floats));
                }
                Uniformity::Varying => packed.extend(each),
                Uniformity::Affine { .. } => packed.extend(each.into_iter().next()),
            }
        }
        packed
    }

    /// The results of each lane.
    pub(super) fn unpack(&self, results: &[Const], uniformities: &[Uniformity]) -> Vec<Vec<Const>> {
        let mut lanes = vec![Vec::new(); self.width as usize];
        let mut rest = results.iter();
        for (&ty, &uniformity) in self.results.iter().zip(uniformities) {
            let count = passed_types(ty, uniformity, self.width).len();
            let own: Vec<&Const> = rest.by_ref().take(count).collect();
            let words: Vec<u32> = own.iter().flat_map(|c| c.bits()).collect();
            for (lane, list) in lanes.iter_mut().enumerate() {
                list.extend(match uniformity {
                    Uniformity::Varying if is_packed(ty) && self.width > 1 => {
                        words.get(lane).map(|w| Const::from_bits(ty, &[*w]))
                    }
                    Uniformity::Varying => own.get(lane).map(|c| (*c).clone()),
                    Uniformity::Affine { stride: 0, .. } => own.first().map(|c| (*c).clone()),
                    Uniformity::Affine { stride, .. } => {
                        words.first().map(|w| Const::from_bits(ty, &[w.wrapping_add(stride.wrapping_mul(lane as u32))]))
                    }
                });
            }
        }
        lanes
    }
}
