//! The camera and the image's format, after RISpec 3.2, §4.1.

use glam::{Mat3, Mat4, Vec3, Vec4};
use shadewright_geometry::dice::Metric;

/// Size of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Width of a pixel divided by its height.
    pub pixel_aspect: f32,
}

impl Default for Format {
    /// RIB's default, 640×480 square pixels.
    fn default() -> Self {
        Self { width: 640, height: 480, pixel_aspect: 1.0 }
    }
}

impl Format {
    /// The largest width and height of an image, in pixels.
    pub const MAX_SIDE: u32 = 16_384;

    /// True if the size can be rendered: neither side 0 nor above [`Format::MAX_SIDE`], the aspect
    /// positive and finite.
    pub fn is_valid(&self) -> bool {
        (1..=Self::MAX_SIDE).contains(&self.width)
            && (1..=Self::MAX_SIDE).contains(&self.height)
            && self.pixel_aspect.is_finite()
            && self.pixel_aspect > 0.0
    }

    /// Width of the image divided by its height, as it is shown.
    pub fn frame_aspect(&self) -> f32 {
        self.width as f32 * self.pixel_aspect / self.height as f32
    }
}

/// How camera space is projected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Rays leave the origin; `fov` is the full angle in degrees between screen coordinates -1 and
    /// +1.
    Perspective {
        /// Full angle in degrees, between 0 and 180 exclusive.
        fov: f32,
    },
    /// Rays are parallel to z; screen coordinates are camera units.
    Orthographic,
}

/// The camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// The projection.
    pub projection: Projection,
    /// World space to camera space.
    pub world_to_camera: Mat4,
    /// `ScreenWindow` as left, right, bottom, top; `None` for RIB's default, which fits ±1 into the
    /// shorter side.
    pub screen_window: Option<[f32; 4]>,
    /// Width over height of the image within the format, where `FrameAspectRatio` gives one.
    pub frame_aspect: Option<f32>,
    /// Distance of the near clipping plane along z (`Clipping`).
    pub near: f32,
    /// Distance of the far clipping plane; infinite unless set.
    pub far: f32,
    /// The lens (`DepthOfField`); `None` for a pinhole.
    pub lens: Option<Lens>,
}

/// A thin lens: the plane of focus is sharp, everything else is blurred by the aperture (Cook,
/// Porter & Carpenter 1984).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Radius of the aperture in camera units: the focal length over twice the f-stop. Above 0.
    pub radius: f32,
    /// Distance of the plane of focus along z, above 0.
    pub focus: f32,
}

impl Default for Camera {
    /// RIB's defaults: orthographic, world space is camera space.
    fn default() -> Self {
        Self {
            projection: Projection::Orthographic,
            world_to_camera: Mat4::IDENTITY,
            screen_window: None,
            frame_aspect: None,
            near: 0.0,
            far: f32::INFINITY,
            lens: None,
        }
    }
}

/// The camera in world space, as ray generation uses it.
///
/// With `(a, b)` the position on the screen, each from -1 to 1 (right and up positive), a
/// perspective ray starts at `origin` with direction `a·half_width·x + b·half_height·y + z`; an
/// orthographic ray starts at `origin + a·half_width·x + b·half_height·y` with direction `z`. A
/// screen window off the center is folded into `z` (perspective) or `origin` (orthographic).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraFrame {
    /// Image of camera x.
    pub x: Vec3,
    /// Image of camera y.
    pub y: Vec3,
    /// Direction of the ray through the middle of the screen (camera z, sheared).
    pub z: Vec3,
    /// The camera's position.
    pub origin: Vec3,
    /// Half the screen's width, at distance 1 for a perspective.
    pub half_width: f32,
    /// Half the screen's height, likewise.
    pub half_height: f32,
    /// True if the projection is orthographic.
    pub orthographic: bool,
}

impl CameraFrame {
    /// The matrix from world space to `(a·w, b·w, c·w, w)`, for a near and a far clipping plane
    /// (distances from the camera).
    ///
    /// `a` and `b` are the position on the screen, each from -1 to 1 (right and up). `c` is the
    /// depth, from 0 at the near plane to 1 at the far one; where the far plane is at infinity, it
    /// is the distance from the near plane over `w`.
    pub fn to_ndc(&self, [near, far]: [f32; 2]) -> Mat4 {
        let axes = Mat3::from_cols(self.half_width * self.x, self.half_height * self.y, self.z).inverse();
        let place = Mat4::from_mat3(axes) * Mat4::from_translation(-self.origin);
        let [x, y, depth] = [place.row(0), place.row(1), place.row(2)];
        let (w, at_far) = if self.orthographic { (Vec4::W, 1.0) } else { (depth, far) };
        let scale = if far.is_finite() { at_far / (far - near) } else { 1.0 };
        Mat4::from_cols(x, y, scale * (depth - near * Vec4::W), w).transpose()
    }
}

impl Camera {
    /// True if a clipping plane may hide something.
    pub fn is_clipped(&self) -> bool {
        self.near > 0.0 || self.far.is_finite()
    }

    /// Camera space to world space.
    pub fn camera_to_world(&self) -> Mat4 {
        self.world_to_camera.inverse()
    }

    /// The part of the format that the image takes, from its upper left corner, as shares of its
    /// width and height: the largest with the aspect ratio of the frame (RISpec 3.2, §4.1.1).
    pub fn image_share(&self, format: Format) -> [f32; 2] {
        let Some(aspect) = self.frame_aspect else { return [1.0; 2] };
        let narrower = aspect / format.frame_aspect();
        if narrower < 1.0 { [narrower, 1.0] } else { [1.0, 1.0 / narrower] }
    }

    /// The screen window as left, right, bottom, top, of the whole format (RISpec 3.2, §4.1.1).
    /// Where the image is smaller, the window is larger than the image's.
    pub fn window(&self, format: Format) -> [f32; 4] {
        let [left, right, bottom, top] = self.screen_window.unwrap_or_else(|| {
            let aspect = self.frame_aspect.unwrap_or_else(|| format.frame_aspect());
            if aspect >= 1.0 { [-aspect, aspect, -1.0, 1.0] } else { [-1.0, 1.0, -1.0 / aspect, 1.0 / aspect] }
        });
        match self.image_share(format) {
            [1.0, 1.0] => [left, right, bottom, top],
            [across, down] => [left, left + (right - left) / across, top - (top - bottom) / down, top],
        }
    }

    /// Half extents of the image: in camera units, for a perspective at distance 1.
    pub fn reach(&self, format: Format) -> f32 {
        let [left, right, bottom, top] = self.window(format);
        left.abs().max(right.abs()).hypot(bottom.abs().max(top.abs())) * self.screen_scale()
    }

    /// Camera units of a unit of the screen, for a perspective at distance 1.
    fn screen_scale(&self) -> f32 {
        match self.projection {
            Projection::Perspective { fov } => (0.5 * fov).to_radians().tan(),
            Projection::Orthographic => 1.0,
        }
    }

    /// The screen-space size of objects of a space on an image of this format, in pixels, for
    /// dicing.
    pub fn metric(&self, format: Format, to_world: Mat4, flatness: f64) -> Metric {
        let to_camera = self.world_to_camera.as_dmat4() * to_world.as_dmat4();
        let frame = self.frame(format);
        let pixels = 0.5 * f64::from(format.height) / f64::from(frame.half_height);
        Metric::for_camera(to_camera, pixels, !frame.orthographic, flatness)
    }

    /// The camera for an image of this format.
    pub fn frame(&self, format: Format) -> CameraFrame {
        let [left, right, bottom, top] = self.window(format);
        let m = self.camera_to_world();
        let (x, y, z) = (m.x_axis.truncate(), m.y_axis.truncate(), m.z_axis.truncate());
        let origin = m.w_axis.truncate();
        let scale = self.screen_scale();
        let offset = (0.5 * scale * (left + right)) * x + (0.5 * scale * (bottom + top)) * y;
        let orthographic = self.projection == Projection::Orthographic;
        CameraFrame {
            x,
            y,
            z: if orthographic { z } else { z + offset },
            origin: if orthographic { origin + offset } else { origin },
            half_width: 0.5 * scale * (right - left),
            half_height: 0.5 * scale * (top - bottom),
            orthographic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec4;
    use shadewright_texture::depth::DepthMap;

    fn format(width: u32, height: u32) -> Format {
        Format { width, height, pixel_aspect: 1.0 }
    }

    #[test]
    fn the_field_of_view_spans_the_shorter_side() {
        let camera = Camera { projection: Projection::Perspective { fov: 90.0 }, ..Camera::default() };
        let wide = camera.frame(format(200, 100));
        assert!((wide.half_height - 1.0).abs() < 1e-6 && (wide.half_width - 2.0).abs() < 1e-6);
        let tall = camera.frame(format(100, 200));
        assert!((tall.half_height - 2.0).abs() < 1e-6 && (tall.half_width - 1.0).abs() < 1e-6);
    }

    #[test]
    fn an_image_of_another_aspect_ratio_lies_in_the_upper_left_of_the_format() {
        let camera = |aspect| Camera { frame_aspect: Some(aspect), ..Camera::default() };
        assert_eq!(camera(1.0).image_share(format(200, 100)), [0.5, 1.0]);
        assert_eq!(camera(1.0).window(format(200, 100)), [-1.0, 3.0, -1.0, 1.0]);
        assert_eq!(camera(2.0).image_share(format(100, 100)), [1.0, 0.5]);
        assert_eq!(camera(2.0).window(format(100, 100)), [-2.0, 2.0, -3.0, 1.0]);
        assert_eq!(camera(2.0).window(format(200, 100)), [-2.0, 2.0, -1.0, 1.0]);
    }

    #[test]
    fn a_window_off_the_center_shears_a_perspective_and_moves_an_orthographic_camera() {
        let window = Some([0.0, 2.0, -1.0, 1.0]);
        let ortho = Camera { screen_window: window, ..Camera::default() }.frame(format(100, 100));
        assert_eq!((ortho.origin, ortho.half_width), (Vec3::X, 1.0));
        let projection = Projection::Perspective { fov: 90.0 };
        let persp = Camera { screen_window: window, projection, ..Camera::default() }.frame(format(100, 100));
        assert!(persp.z.distance(Vec3::new(1.0, 0.0, 1.0)) < 1e-6);
        assert_eq!(persp.origin, Vec3::ZERO);
    }

    #[test]
    fn sizes_of_zero_and_of_a_hundred_thousand_are_not_valid() {
        assert!(format(640, 480).is_valid());
        assert!(!format(0, 480).is_valid());
        assert!(!format(100_000, 100_000).is_valid());
    }

    #[test]
    fn depths_are_zero_and_one_at_the_clipping_planes() {
        let (x, y, z) = (Vec3::Z, Vec3::Y, -Vec3::X);
        let at = |orthographic, clipping: [f32; 2], depth: f32| {
            let origin = Vec3::new(5.0, 1.0, 2.0);
            let frame = CameraFrame { x, y, z, origin, half_width: 0.5, half_height: 0.25, orthographic };
            frame.to_ndc(clipping).project_point3(origin + depth * z).z
        };
        let close = |a: f32, b: f32| (a - b).abs() < 1e-6;
        for orthographic in [false, true] {
            assert!(close(at(orthographic, [2.0, 10.0], 2.0), 0.0) && close(at(orthographic, [2.0, 10.0], 10.0), 1.0));
        }
        assert!(close(at(true, [2.0, 10.0], 4.0), 0.25) && close(at(false, [2.0, 10.0], 4.0), 0.625));
        assert!(close(at(false, [2.0, f32::INFINITY], 8.0), 0.75));
    }

    fn frame(orthographic: bool) -> CameraFrame {
        let (x, y, z) = (Vec3::Z, Vec3::Y, -Vec3::X);
        CameraFrame { x, y, z, origin: Vec3::new(5.0, 1.0, 2.0), half_width: 0.5, half_height: 0.25, orthographic }
    }

    /// The matrix to the camera of such a frame.
    fn to_camera(frame: &CameraFrame) -> Mat4 {
        Mat4::from_cols(frame.x.extend(0.0), frame.y.extend(0.0), frame.z.extend(0.0), frame.origin.extend(1.0))
            .inverse()
    }

    #[test]
    fn a_depth_map_of_a_frame_finds_a_points_place_and_depth() {
        for orthographic in [false, true] {
            let frame = frame(orthographic);
            let (to_camera, to_ndc) = (to_camera(&frame), frame.to_ndc([0.0, f32::INFINITY]));
            let map = DepthMap { width: 1, height: 1, depths: vec![0.0], to_camera, to_ndc };
            // To the right by half of the half width, up by a quarter of the half height, at depth
            // 2.
            let away = if orthographic { 1.0 } else { 2.0 };
            let p = frame.origin + 2.0 * frame.z + away * (0.25 * frame.x + 0.0625 * frame.y);
            let [s, t, w, depth] = map.rows().map(|row| Vec4::from_array(row).dot(p.extend(1.0)));
            let close = |a: f32, b: f32| (a - b).abs() < 1e-5;
            assert!(close(s / w, 0.75) && close(t / w, 0.375) && close(depth, 2.0), "{s} {t} {w} {depth}");
        }
    }
}
