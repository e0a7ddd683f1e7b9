//! Film options of a scene: filter, exposure, crop window, shutter and displays, after RISpec 3.2,
//! §4.1.
//!
//! Plain data, as the scene gives it; `render` makes images of it.

use shadewright_base::text::source::Span;

/// A filter of `PixelFilter`, by its shape over the support of the filter (see
/// `render::filter` for the formulas).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// The mean over the support.
    Box,
    /// Falls to zero linearly.
    Triangle,
    /// The cubic of Catmull and Rom, by the distance from the middle; has negative lobes.
    CatmullRom,
    /// `sin x / x` under a window; has negative lobes.
    Sinc,
    /// A bell.
    Gaussian,
    /// The cubic of Mitchell and Netravali with B = C = 1/3; has negative lobes.
    Mitchell,
    /// The window of Blackman and Harris.
    BlackmanHarris,
    /// `J1(x) / x`, by the distance from the middle; has negative lobes.
    Bessel,
}

impl FilterKind {
    /// Every filter with its name in RIB.
    pub const ALL: [(&'static str, FilterKind); 8] = [
        ("box", FilterKind::Box),
        ("triangle", FilterKind::Triangle),
        ("catmull-rom", FilterKind::CatmullRom),
        ("sinc", FilterKind::Sinc),
        ("gaussian", FilterKind::Gaussian),
        ("mitchell", FilterKind::Mitchell),
        ("blackman-harris", FilterKind::BlackmanHarris),
        ("bessel", FilterKind::Bessel),
    ];

    /// True if it has negative lobes.
    pub fn has_negative_lobes(self) -> bool {
        matches!(self, FilterKind::CatmullRom | FilterKind::Sinc | FilterKind::Mitchell | FilterKind::Bessel)
    }
}

/// `PixelFilter`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PixelFilter {
    /// The shape of the filter.
    pub kind: FilterKind,
    /// The full width and height in pixels, above 0.
    pub width: [f32; 2],
}

impl Default for PixelFilter {
    /// The mean over a pixel: what a scene gets that names no filter.
    fn default() -> Self {
        Self { kind: FilterKind::Box, width: [1.0, 1.0] }
    }
}

impl PixelFilter {
    /// The widest filter, in pixels.
    pub const MAX_WIDTH: f32 = 64.0;
}

/// `Exposure`: a value `x` becomes `(gain · x)^(1/gamma)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// The factor, not negative.
    pub gain: f32,
    /// The root, above 0.
    pub gamma: f32,
}

impl Default for Exposure {
    /// Values as they are.
    fn default() -> Self {
        Self { gain: 1.0, gamma: 1.0 }
    }
}

/// An image that a scene asks for (`Display`).
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    /// The name of the image, without the `+` of those after the first. It never chooses an output
    /// path.
    pub name: String,
    /// The channels that it shows: `rgb`, `rgba`, `rgbaz`, `z`, a predefined variable such as `N`,
    /// or an output parameter of the surface shaders.
    pub mode: String,
    /// The type of its driver: `zfile`, `shadow` and `z` ask for depths, others for an image.
    pub driver: String,
    /// The request in the scene file.
    pub span: Option<Span>,
}

impl Display {
    /// True if it is a shadow map: depths in place of colors.
    pub fn is_depth(&self) -> bool {
        matches!(self.driver.as_str(), "zfile" | "shadow" | "z") || self.mode == "z"
    }
}

/// Film options of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilmOptions {
    /// How samples make a pixel.
    pub filter: PixelFilter,
    /// How values are exposed, before the imager.
    pub exposure: Exposure,
    /// Quantization of integer files; `None` for 8 bits without dither.
    pub quantize: Option<shadewright_image::Quantize>,
    /// The part of the image to render as left, right, top and bottom, each a share of the whole
    /// from 0 to 1.
    pub crop: Option<[f32; 4]>,
    /// The times at which the shutter opens and closes, in the scene's own unit of time.
    pub shutter: [f32; 2],
    /// True if anything moves while the shutter is open.
    pub moves: bool,
    /// The time sample of the scene, in its own unit.
    pub time: f32,
    /// The images that the scene asks for, the main one first.
    pub displays: Vec<Display>,
}

impl FilmOptions {
    /// The crop window in pixels, as the first column and row and those after the last, of an
    /// image of this size (RISpec 3.2, §4.1.1): a pixel belongs to it when `left · width ≤ column <
    /// right · width`, so windows that share a border share no pixel. At least one pixel is left.
    pub fn crop_pixels(&self, width: u32, height: u32) -> Option<[u32; 4]> {
        let [left, right, top, bottom] = self.crop?;
        let span = |from: f32, to: f32, size: u32| {
            let edge = |share: f32| ((f64::from(share) * f64::from(size)).ceil() as u32).min(size);
            let first = edge(from).min(size - 1);
            (first, edge(to).max(first + 1))
        };
        let ((x0, x1), (y0, y1)) = (span(left, right, width), span(top, bottom, height));
        Some([x0, y0, x1, y1])
    }

    /// The time sample of the scene as a fraction of the shutter interval, 0 to 1; 0 if the shutter
    /// does not open.
    pub fn shutter_share(&self) -> f32 {
        let [open, close] = self.shutter;
        if open < close { (self.time - open) / (close - open) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crop_windows_that_share_a_border_share_no_pixel() {
        let at = |crop| FilmOptions { crop: Some(crop), ..FilmOptions::default() }.crop_pixels(101, 50);
        assert_eq!(at([0.0, 0.5, 0.0, 1.0]), Some([0, 0, 51, 50]));
        assert_eq!(at([0.5, 1.0, 0.0, 0.5]), Some([51, 0, 101, 25]));
        assert_eq!(at([0.999, 1.0, 0.0, 0.001]), Some([100, 0, 101, 1]), "one pixel is left");
        assert_eq!(FilmOptions::default().crop_pixels(10, 10), None);
    }
}
