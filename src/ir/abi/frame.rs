//! The program constants of a frame, which [`Op::Uniform`](crate::Op::Uniform) reads.
//!
//! [`FrameConstants`] is the layout, and the only place that has numbers: code generators ask
//! [`slots`], and the sources of the standard library use the macros of [`macros`].

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Number of program constants, a vector of four floats each.
pub const PROGRAM_CONSTANTS: usize = 16;

/// A component of a program constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The number of the vector.
    pub vector: u32,
    /// The component, from 0 to 3; of a field of several components, the first one.
    pub lane: u8,
}

impl Slot {
    const fn at(offset: usize) -> Self {
        let float = offset / size_of::<f32>();
        Self { vector: (float / 4) as u32, lane: (float % 4) as u8 }
    }
}

macro_rules! frame_constants {
    ($($(#[$doc:meta])+ $field:ident: $ty:ty = $slot:ident,)+) => {
        /// The program constants of a frame.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        pub struct FrameConstants {
            $($(#[$doc])+ pub $field: $ty,)+
            /// Free for programs without a scene, and for code generators: the RPU's has its own
            /// constants there.
            pub free: [[f32; 4]; 5],
        }

        /// The fields of [`FrameConstants`] as code reads them.
        pub mod slots {
            use super::{FrameConstants, Slot, offset_of};

            $($(#[$doc])+ pub const $slot: Slot = Slot::at(offset_of!(FrameConstants, $field));)+
        }

        /// The names of the fields, where they lie, and how many components they have.
        const FIELDS: &[(&str, Slot, usize)] =
            &[$((stringify!($slot), slots::$slot, size_of::<$ty>() / size_of::<f32>()),)+];
    };
}

frame_constants! {
    /// The default start of rays, in scene units: the ray bias for the scene's size.
    ray_bias: f32 = RAY_BIAS,
    /// The default end of rays.
    ray_end: f32 = RAY_END,
    /// 0: by default rays find the closest hit.
    ray_any: f32 = RAY_ANY,
    /// The default time of rays as a fraction of the shutter interval.
    ray_time: f32 = RAY_TIME,
    /// The width of the format in pixels.
    width: f32 = WIDTH,
    /// The height of the format in pixels.
    height: f32 = HEIGHT,
    /// One over the width.
    inverse_width: f32 = INVERSE_WIDTH,
    /// One over the height.
    inverse_height: f32 = INVERSE_HEIGHT,
    /// The camera's x axis in world space, and 0.
    camera_x: [f32; 4] = CAMERA_X,
    /// The camera's y axis in world space, and 0.
    camera_y: [f32; 4] = CAMERA_Y,
    /// The camera's z axis in world space, and 0.
    camera_z: [f32; 4] = CAMERA_Z,
    /// The camera's origin in world space, and 1.
    camera_origin: [f32; 4] = CAMERA_ORIGIN,
    /// Half the width of the screen: at distance 1 of a perspective, in scene units of an
    /// orthographic camera.
    half_width: f32 = HALF_WIDTH,
    /// Half the height of the screen.
    half_height: f32 = HALF_HEIGHT,
    /// 1 of an orthographic camera, 0 of a perspective.
    orthographic: f32 = ORTHOGRAPHIC,
    /// The limit of the ray depth.
    max_depth: f32 = MAX_DEPTH,
    /// The background: linear red, green and blue, and alpha.
    background: [f32; 4] = BACKGROUND,
    /// The radius of the lens in scene units; 0 of a pinhole.
    lens_radius: f32 = LENS_RADIUS,
    /// The focal distance along the camera's z.
    focal_distance: f32 = FOCAL_DISTANCE,
    /// The near clipping plane along the camera's z.
    near: f32 = NEAR,
    /// The far clipping plane along the camera's z.
    far: f32 = FAR,
    /// The time at which the scene is read: the shaders' `time`.
    time: f32 = TIME,
    /// The time at which the shutter opens.
    shutter_open: f32 = SHUTTER_OPEN,
    /// The time at which it closes.
    shutter_close: f32 = SHUTTER_CLOSE,
    /// The time between: the shaders' `dtime`.
    shutter_time: f32 = SHUTTER_TIME,
    /// The limit of indirect contributions; 0 for none.
    clamp: f32 = CLAMP,
    /// The width of the image in pixels: smaller than the format with `FrameAspectRatio`.
    image_width: f32 = IMAGE_WIDTH,
    /// The height of the image in pixels.
    image_height: f32 = IMAGE_HEIGHT,
    /// The number of the part that is baked.
    baked_part: f32 = BAKED_PART,
}

impl FrameConstants {
    /// The program constants by their numbers.
    pub fn vectors(&self) -> &[[f32; 4]; PROGRAM_CONSTANTS] {
        bytemuck::cast_ref(self)
    }

    /// Width and height of the format in whole pixels.
    pub fn format(&self) -> [u32; 2] {
        [self.width, self.height].map(|side| side as u32)
    }
}

impl Default for FrameConstants {
    fn default() -> Self {
        Self::zeroed()
    }
}

/// The macros by which the sources of the standard library read the constants: `FRAME_NEAR` is a
/// float, `FRAME_CAMERA_X` the list of three of a triple.
pub fn macros() -> Vec<(String, String)> {
    let text = |&(name, slot, count): &(&str, Slot, usize)| {
        let lanes = usize::from(slot.lane)..usize::from(slot.lane) + count.min(3);
        let parts: Vec<String> = lanes.map(|lane| format!("__uniform_float({}, {lane})", slot.vector)).collect();
        (format!("FRAME_{name}"), parts.join(", "))
    };
    FIELDS.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_their_slots_say() {
        let constants = FrameConstants { max_depth: 5.0, baked_part: 7.0, ..FrameConstants::default() };
        let read = |slot: Slot| constants.vectors()[slot.vector as usize][usize::from(slot.lane)];
        assert_eq!([slots::MAX_DEPTH, slots::BAKED_PART, slots::NEAR].map(read), [5.0, 7.0, 0.0]);
        assert_eq!(slots::CAMERA_ORIGIN, Slot { vector: 5, lane: 0 });
    }

    #[test]
    fn sources_read_a_number_or_three() {
        let macros = macros();
        let text = |name: &str| macros.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str());
        assert_eq!(text("FRAME_HALF_HEIGHT"), Some("__uniform_float(6, 1)"));
        let camera = "__uniform_float(3, 0), __uniform_float(3, 1), __uniform_float(3, 2)";
        assert_eq!(text("FRAME_CAMERA_Y"), Some(camera));
    }
}
