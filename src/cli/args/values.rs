//! Values that are written in a form of their own.

use shadewright::render::Backend;
use shadewright::rpu::asm;
use shadewright::rpu::isa::{Component, Reg};
use std::path::PathBuf;
use std::str::FromStr;

/// The two back ends of a comparison, written `gpu,rpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between(pub [Backend; 2]);

impl FromStr for Between {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (a, b) = s.split_once(',').ok_or("write two with a comma, for example rpu,rpu-f24")?;
        Ok(Between([named_backend(a.trim())?, named_backend(b.trim())?]))
    }
}

/// The seeds of two images, written `1,2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds(pub [u32; 2]);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (a, b) = s.split_once(',').ok_or("write two with a comma, for example 1,2")?;
        let number = |n: &str| n.trim().parse().map_err(|_| format!("`{n}` is not a whole number below 2^32"));
        let seeds = [number(a)?, number(b)?];
        if seeds[0] == seeds[1] { Err("the two seeds are equal".to_string()) } else { Ok(Seeds(seeds)) }
    }
}

/// A back end by its name.
pub fn named_backend(name: &str) -> Result<Backend, String> {
    Backend::named(name).ok_or_else(|| {
        let names: Vec<_> = Backend::all().map(Backend::name).collect();
        format!("`{name}` is none of {}", names.join(", "))
    })
}

/// Width and height in pixels, written `640x480`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u32, pub u32);

impl FromStr for Size {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (w, h) = s.split_once(['x', 'X']).ok_or("write it as WIDTHxHEIGHT, for example 640x480")?;
        let number = |n: &str| n.parse().map_err(|_| format!("`{n}` is not a whole number of pixels"));
        Ok(Size(number(w)?, number(h)?))
    }
}

/// A window of the image in pixels, written `X0,Y0,X1,Y1`; the second corner is outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop(pub [u32; 4]);

impl FromStr for Crop {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let parts: Result<Vec<u32>, _> = s.split(',').map(|p| p.trim().parse()).collect();
        let parts = parts.map_err(|_| "write it as four whole numbers of pixels: X0,Y0,X1,Y1")?;
        let [x0, y0, x1, y1] = parts[..] else { return Err("write it as four numbers: X0,Y0,X1,Y1".into()) };
        if x0 >= x1 || y0 >= y1 {
            return Err("it is empty: X1 must be greater than X0, and Y1 than Y0".into());
        }
        Ok(Crop([x0, y0, x1, y1]))
    }
}

/// Frames of a scene, written as a number or as a range `A..B` whose ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// The first.
    pub first: i32,
    /// The last.
    pub last: i32,
}

impl FromStr for Frames {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (first, last) = s.split_once("..").unwrap_or((s, s));
        let number = |n: &str| n.trim().parse().map_err(|_| format!("`{n}` is not the number of a frame"));
        let frames = Frames { first: number(first)?, last: number(last.trim_start_matches('='))? };
        if frames.first > frames.last {
            return Err("it is empty: write the first frame, then the last, as in 1..240".into());
        }
        Ok(frames)
    }
}

/// A pixel, written `X,Y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixel(pub [u32; 2]);

impl FromStr for Pixel {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let wrong = || "write it as column and row, counted from 0 at the upper left: X,Y".to_string();
        let (x, y) = s.split_once(',').ok_or_else(wrong)?;
        let number = |n: &str| n.trim().parse().map_err(|_| wrong());
        Ok(Pixel([number(x)?, number(y)?]))
    }
}

/// Where a texture comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextureSource {
    /// An empty one of that size.
    Empty(Size),
    /// An image.
    File(PathBuf),
}

impl FromStr for TextureSource {
    type Err = std::convert::Infallible;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(s.parse().map_or_else(|_| TextureSource::File(s.into()), TextureSource::Empty))
    }
}

/// The value of an RPU register at the start, written `REG=VALUES`: a register with or without
/// components, and a value for each or one for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    /// The register.
    pub reg: Reg,
    /// The register's components with their bit patterns.
    pub words: Vec<(Component, u32)>,
}

impl FromStr for RegisterValue {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (name, values) = s.split_once('=').ok_or("write it as REGISTER=VALUES, for example R0.xyz=1,2,3")?;
        let (reg, components) =
            asm::register(name.trim()).ok_or_else(|| format!("there is no register `{}`", name.trim()))?;
        let number = |text: &str| {
            let text = text.trim();
            asm::literal(text).ok_or_else(|| format!("`{text}` is not a number: write 1.5, #12 or #0xff"))
        };
        let values = values.split(',').map(number).collect::<Result<Vec<u32>, String>>()?;
        let named = if components.is_empty() { Component::ALL.to_vec() } else { components };
        let words = match values[..] {
            [one] => named.into_iter().map(|c| (c, one)).collect(),
            _ if values.len() == named.len() => named.into_iter().zip(values).collect(),
            _ => return Err(format!("{} components cannot take {} values", named.len(), values.len())),
        };
        Ok(RegisterValue { reg, words })
    }
}

/// A number from 0 on.
pub fn not_negative<N: FromStr + Copy + Into<f64>>(text: &str) -> Result<N, String> {
    let number: N = text.parse().map_err(|_| "not a number".to_string())?;
    let is_possible = (0.0..f64::INFINITY).contains(&number.into());
    if is_possible { Ok(number) } else { Err("must be finite, and not below 0".to_string()) }
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f32, String> {
    let number: f32 = text.parse().map_err(|_| "not a number".to_string())?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("must be finite, and above 0".to_string()) }
}

/// A number from 0 to 1.
pub fn share(text: &str) -> Result<f32, String> {
    let number: f32 = text.parse().map_err(|_| "not a number".to_string())?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err("must be from 0 to 1".to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_from_0_to_1() {
        assert_eq!(["0", "0.05", "1"].map(share), [Ok(0.0), Ok(0.05), Ok(1.0)]);
        for wrong in ["1.01", "-0.1", "NaN", "inf", "half"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_register_takes_a_value_for_each_component_or_one_for_all() {
        let words = |text: &str| text.parse::<RegisterValue>().map(|v| (v.reg, v.words));
        let bits = f32::to_bits;
        assert_eq!(words("R1.w=2.5"), Ok((Reg::R(1), vec![(Component::W, bits(2.5))])));
        assert_eq!(words("A.x=#64"), Ok((Reg::A, vec![(Component::X, 64)])));
        assert_eq!(words("C31=0"), Ok((Reg::C(31), Component::ALL.map(|c| (c, 0)).to_vec())));
        let two = vec![(Component::Y, bits(-1.0)), (Component::X, bits(2.0))];
        assert_eq!(words("S0.yx = -1, 2"), Ok((Reg::Stack(0), two)));
        for wrong in ["R1", "R16=0", "R1=1,2", "R1.q=1", "R1=x", "R1=", "R1=inf"] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_comparison_has_two_different_seeds() {
        assert_eq!("1, 2".parse(), Ok(Seeds([1, 2])));
        for wrong in ["1", "1,1", "1,-2", "1,2,3", ""] {
            assert!(wrong.parse::<Seeds>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_comparison_has_two_sides_that_exist() {
        assert_eq!("rpu,rpu-f24".parse(), Ok(Between([Backend::RPU, Backend::RPU_F24])));
        assert_eq!("gpu, rpu".parse(), Ok(Between([Backend::GPU, Backend::RPU])));
        for wrong in ["rpu", "", "rpu,cpu", "rpu,gpu,rpu"] {
            assert!(wrong.parse::<Between>().is_err(), "{wrong}");
        }
    }
}
