//! The options of a scene that can be edited.

use super::EditError;
use shadewright_scene::{Format, Scene};

/// The options of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionValues {
    /// Samples a pixel in x and y.
    pub pixel_samples: [u32; 2],
    /// How many times a ray may spawn another.
    pub max_depth: u32,
    /// The background, which rays see that hit nothing: linear red, green, blue, and alpha.
    pub background: [f32; 4],
    /// Width and height in pixels.
    pub size: [u32; 2],
}

/// Options that the user gives instead of the scene's; `None` leaves the scene's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OptionEdits {
    /// Samples a pixel in x and y.
    pub pixel_samples: Option<[u32; 2]>,
    /// How many times a ray may spawn another.
    pub max_depth: Option<u32>,
    /// The background, which rays see that hit nothing: linear red, green, blue, and alpha.
    pub background: Option<[f32; 4]>,
    /// Width and height in pixels.
    pub size: Option<[u32; 2]>,
}

/// Most samples a pixel in x and in y.
const MAX_STRATA: u32 = 256;
/// The deepest that rays may go, as in RIB.
const MAX_DEPTH: u32 = 1000;

impl OptionValues {
    /// The options of a scene.
    pub fn new(scene: &Scene) -> Self {
        let Scene { pixel_samples, max_depth, background, format, .. } = *scene;
        Self { pixel_samples, max_depth, background, size: [format.width, format.height] }
    }

    /// Gives them to a scene.
    pub(super) fn set(&self, scene: &mut Scene) {
        (scene.pixel_samples, scene.max_depth, scene.background) =
            (self.pixel_samples, self.max_depth, self.background);
        [scene.format.width, scene.format.height] = self.size;
    }
}

impl OptionEdits {
    /// The edits that make of the scene's own values those that are wanted.
    pub fn between(own: OptionValues, wanted: OptionValues) -> Self {
        fn changed<T: PartialEq>(own: T, wanted: T) -> Option<T> {
            (own != wanted).then_some(wanted)
        }
        Self {
            pixel_samples: changed(own.pixel_samples, wanted.pixel_samples),
            max_depth: changed(own.max_depth, wanted.max_depth),
            background: changed(own.background, wanted.background),
            size: changed(own.size, wanted.size),
        }
    }

    /// The options with the edits over them.
    pub fn over(&self, values: OptionValues) -> OptionValues {
        OptionValues {
            pixel_samples: self.pixel_samples.unwrap_or(values.pixel_samples),
            max_depth: self.max_depth.unwrap_or(values.max_depth),
            background: self.background.unwrap_or(values.background),
            size: self.size.unwrap_or(values.size),
        }
    }

    /// True if all values are possible.
    pub(super) fn check(&self) -> Result<(), EditError> {
        let strata = self.pixel_samples.is_none_or(|s| s.iter().all(|n| (1..=MAX_STRATA).contains(n)));
        let size = |[width, height]: [u32; 2]| Format { width, height, ..Format::default() }.is_valid();
        if !strata {
            return Err(EditError::Option("a pixel takes 1 to 256 samples in x and in y"));
        }
        if self.max_depth.is_some_and(|depth| depth > MAX_DEPTH) {
            return Err(EditError::Option("rays go at most 1000 deep"));
        }
        if self.background.is_some_and(|c| !c.iter().all(|x| x.is_finite())) {
            return Err(EditError::Option("a background color is made of finite numbers"));
        }
        if !self.size.is_none_or(size) {
            return Err(EditError::Option("each side of an image is 1 to 16384 pixels"));
        }
        Ok(())
    }
}
