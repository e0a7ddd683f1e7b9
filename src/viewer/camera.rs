//! Camera navigation: orbit, pan, dolly, fly, frame all, and reset to the scene's camera.
//!
//! A [`Navigation`] rotates and translates a [`Camera`] in world space, so handedness, roll and
//! scale stay those of the scene. It knows no windows and no renderers: amounts are fractions of
//! the image height, angles are in radians, lengths in scene units.

use glam::{Mat4, Quat, Vec2, Vec3};
use shadewright_scene::{Camera, Format, Projection};

/// The narrowest and widest field of view, in degrees.
pub const FOV_RANGE: std::ops::RangeInclusive<f32> = 1.0..=170.0;

/// Rotation while the pointer crosses the height of the image.
const RADIANS_PER_HEIGHT: f32 = std::f32::consts::PI;

/// Smallest angle between the view direction and the orbit axis, in radians.
const POLE_MARGIN: f32 = 0.01;

/// Margin around a framed scene, as a factor of its radius.
const FRAME_MARGIN: f32 = 1.05;

/// A camera under interactive control.
#[derive(Clone, Debug, PartialEq)]
pub struct Navigation {
    /// The scene's own camera.
    home: Camera,
    /// The camera now.
    camera: Camera,
    /// The point that orbits rotate about and dollies approach.
    pivot: Vec3,
    /// The up axis in world space.
    up: Vec3,
    /// The scene's bounding box, for speeds and framing.
    bounds: (Vec3, Vec3),
}

/// A direction to fly in, each component from -1 to 1: right, up, forward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flight(pub Vec3);

impl Navigation {
    /// Starts at the scene's camera. `bounds` are the scene's, if it has any.
    pub fn new(camera: &Camera, bounds: Option<(Vec3, Vec3)>) -> Self {
        let bounds =
            bounds.filter(|(low, high)| low.is_finite() && high.is_finite()).unwrap_or((-Vec3::ONE, Vec3::ONE));
        let mut navigation =
            Self { home: camera.clone(), camera: camera.clone(), pivot: Vec3::ZERO, up: Vec3::Y, bounds };
        navigation.settle();
        navigation
    }

    /// The camera now.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// True if the camera is where the scene has it.
    pub fn is_home(&self) -> bool {
        self.camera == self.home
    }

    /// Updates to a reloaded scene. A moved camera keeps its position; an unmoved one follows the
    /// scene's.
    pub fn rebase(&mut self, camera: &Camera, bounds: Option<(Vec3, Vec3)>) {
        let moved = !self.is_home();
        let kept = std::mem::replace(self, Self::new(camera, bounds));
        if moved {
            self.camera = kept.camera;
            self.pivot = kept.pivot;
            self.up = kept.up;
        }
    }

    /// Back to the scene's camera.
    pub fn reset(&mut self) {
        self.camera = self.home.clone();
        self.settle();
    }

    /// Orbits about the pivot. `by` is the pointer's motion as a fraction of the image height,
    /// right and down positive.
    pub fn orbit(&mut self, by: Vec2) {
        self.turn(by * RADIANS_PER_HEIGHT, self.pivot);
    }

    /// Rotates the camera in place; the image follows the pointer.
    pub fn look(&mut self, by: Vec2) {
        let (eye, distance) = (self.eye(), self.distance());
        self.turn(-0.5 * by * RADIANS_PER_HEIGHT, eye);
        self.pivot = eye + self.axes()[2] * distance;
    }

    /// Pans the camera and its pivot, so that points at the pivot's distance follow the pointer.
    pub fn pan(&mut self, by: Vec2, format: Format) {
        let frame = self.camera.frame(format);
        let reach = if frame.orthographic { 1.0 } else { self.distance() / self.axis_lengths()[2] };
        let across = 2.0 * frame.half_width * reach * format.height as f32 / format.width as f32;
        let down = 2.0 * frame.half_height * reach;
        self.shift(-by.x * across * frame.x + by.y * down * frame.y);
    }

    /// Dollies `steps` notches towards the pivot (away if negative), a tenth of the distance each.
    /// An orthographic view is scaled instead.
    pub fn dolly(&mut self, steps: f32, format: Format) {
        let factor = 0.9_f32.powf(steps.clamp(-50.0, 50.0));
        if self.camera.projection == Projection::Orthographic {
            let window = self.camera.window(format);
            self.camera.screen_window = Some(window.map(|side| side * factor));
            return;
        }
        let nearest = 1.0e-4 * self.size();
        let distance = (self.distance() * factor).max(nearest);
        let forward = self.axes()[2];
        self.shift_eye(self.pivot - forward * distance);
    }

    /// Flies for `seconds`, at a speed that crosses the scene in five seconds.
    pub fn fly(&mut self, flight: Flight, seconds: f32) {
        let [right, up, forward] = self.axes();
        let Flight(way) = flight;
        let way = way.clamp(-Vec3::ONE, Vec3::ONE);
        self.shift((right * way.x + up * way.y + forward * way.z) * (0.2 * self.size() * seconds.clamp(0.0, 0.25)));
    }

    /// Moves along the view direction until the whole scene is visible, and sets the pivot to its
    /// center.
    pub fn frame_all(&mut self, format: Format) {
        let (low, high) = self.bounds;
        self.pivot = 0.5 * (low + high);
        let radius = FRAME_MARGIN * 0.5 * self.size();
        let forward = self.axes()[2];
        if let Projection::Perspective { .. } = self.camera.projection {
            let frame = self.camera.frame(format);
            let narrow = frame.half_width.min(frame.half_height).max(1.0e-6);
            // The distance at which a sphere touches the sides of the narrower angle: r /
            // sin(atan(half)).
            let distance = radius * (1.0 + narrow * narrow).sqrt() / narrow;
            self.shift_eye(self.pivot - forward * distance);
        } else {
            let frame = self.camera.frame(format);
            let aspect = frame.half_width / frame.half_height.max(f32::MIN_POSITIVE);
            let (wide, tall) = if aspect >= 1.0 { (aspect, 1.0) } else { (1.0, 1.0 / aspect) };
            let scale = self.axis_lengths()[0];
            self.camera.screen_window = Some([-wide, wide, -tall, tall].map(|side| side * radius / scale));
            self.shift_eye(self.pivot - forward * 2.0 * radius);
        }
    }

    /// The field of view in degrees; `None` of an orthographic camera.
    pub fn fov(&self) -> Option<f32> {
        match self.camera.projection {
            Projection::Perspective { fov } => Some(fov),
            Projection::Orthographic => None,
        }
    }

    /// Changes the field of view, in degrees, kept to [`FOV_RANGE`]. An orthographic camera has
    /// none.
    pub fn set_fov(&mut self, degrees: f32) {
        if let Projection::Perspective { fov } = &mut self.camera.projection
            && degrees.is_finite()
        {
            *fov = degrees.clamp(*FOV_RANGE.start(), *FOV_RANGE.end());
        }
    }

    /// Sets the pivot.
    pub fn set_pivot(&mut self, point: Vec3) {
        if point.is_finite() {
            self.pivot = point;
        }
    }

    /// Finds the pivot and the up axis of a camera that was not moved yet.
    fn settle(&mut self) {
        let frame = self.camera.camera_to_world();
        let y = frame.y_axis.truncate();
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let nearest = axes.into_iter().max_by(|a, b| a.dot(y).abs().total_cmp(&b.dot(y).abs()));
        let axis = nearest.unwrap_or(Vec3::Y);
        self.up = if axis.dot(y) < 0.0 { -axis } else { axis };
        let (low, high) = self.bounds;
        let middle = 0.5 * (low + high);
        let [_, _, forward] = self.axes();
        // The point on the view axis nearest to the scene's center, in front of the camera.
        let ahead = (middle - self.eye()).dot(forward).max(1.0e-3 * self.size());
        self.pivot = self.eye() + forward * ahead;
    }

    fn eye(&self) -> Vec3 {
        self.camera.camera_to_world().w_axis.truncate()
    }

    /// The camera's axes in the world, of length 1: right, up, forward.
    fn axes(&self) -> [Vec3; 3] {
        let m = self.camera.camera_to_world();
        [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate().normalize_or(Vec3::Z))
    }

    /// World-space lengths of the camera's axes.
    fn axis_lengths(&self) -> [f32; 3] {
        let m = self.camera.camera_to_world();
        [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate().length().max(f32::MIN_POSITIVE))
    }

    /// The diagonal of the scene's bounding box.
    fn size(&self) -> f32 {
        let (low, high) = self.bounds;
        (high - low).length().max(1.0e-6)
    }

    fn distance(&self) -> f32 {
        (self.pivot - self.eye()).length().max(1.0e-6 * self.size())
    }

    /// Rotates the camera about a point: by `angles.x` about the up axis (positive to the right)
    /// and by `angles.y` down, never over a pole.
    fn turn(&mut self, angles: Vec2, about: Vec3) {
        // Rounding would move the camera a little.
        if angles == Vec2::ZERO {
            return;
        }
        let [right, up, forward] = self.axes();
        // Rotating a towards b is a rotation about a × b, for either handedness.
        let side = if self.up.dot(forward.cross(right)) < 0.0 { -1.0 } else { 1.0 };
        let yaw = Quat::from_axis_angle(side * self.up, angles.x);
        let elevation = forward.dot(self.up).clamp(-1.0, 1.0).asin();
        // A camera that starts beyond the margin may stay there.
        let limit = (std::f32::consts::FRAC_PI_2 - POLE_MARGIN).max(elevation.abs());
        let wanted = (elevation - angles.y).clamp(-limit, limit);
        let axis = forward.cross(-up).normalize_or(right);
        let pitch = Quat::from_axis_angle(axis, elevation - wanted);
        let around = Mat4::from_translation(about) * Mat4::from_quat(yaw * pitch) * Mat4::from_translation(-about);
        self.place(around * self.camera.camera_to_world());
    }

    fn shift(&mut self, by: Vec3) {
        if !by.is_finite() {
            return;
        }
        self.place(Mat4::from_translation(by) * self.camera.camera_to_world());
        self.pivot += by;
    }

    fn shift_eye(&mut self, eye: Vec3) {
        let mut m = self.camera.camera_to_world();
        m.w_axis = eye.extend(1.0);
        self.place(m);
    }

    /// Sets the camera, unless the matrix is not invertible after rounding.
    fn place(&mut self, camera_to_world: Mat4) {
        let inverse = camera_to_world.inverse();
        if inverse.is_finite() && camera_to_world.is_finite() {
            self.camera.world_to_camera = inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { width: 200, height: 100, pixel_aspect: 1.0 };

    /// A camera at `eye` that looks along z, of either hand.
    fn looking_along_z(eye: Vec3, mirrored: bool) -> Camera {
        let x = if mirrored { -Vec3::X } else { Vec3::X };
        let to_world = Mat4::from_cols(x.extend(0.0), Vec3::Y.extend(0.0), Vec3::Z.extend(0.0), eye.extend(1.0));
        Camera {
            projection: Projection::Perspective { fov: 90.0 },
            world_to_camera: to_world.inverse(),
            ..Camera::default()
        }
    }

    fn navigation(mirrored: bool) -> Navigation {
        Navigation::new(&looking_along_z(Vec3::new(0.0, 0.0, -5.0), mirrored), Some((-Vec3::ONE, Vec3::ONE)))
    }

    /// Where on the screen a point of the world is, right and up positive.
    fn on_screen(navigation: &Navigation, point: Vec3) -> Vec2 {
        let p = navigation.camera().world_to_camera.transform_point3(point);
        Vec2::new(p.x, p.y) / p.z
    }

    #[test]
    fn an_orbit_makes_the_front_of_the_scene_follow_the_pointer() {
        for mirrored in [false, true] {
            let front = Vec3::new(0.0, 0.0, -1.0);
            let mut n = navigation(mirrored);
            n.orbit(Vec2::new(0.1, 0.0));
            assert!(on_screen(&n, front).x > 0.01, "mirrored: {mirrored}");
            let mut n = navigation(mirrored);
            n.orbit(Vec2::new(0.0, 0.1));
            assert!(on_screen(&n, front).y < -0.01, "mirrored: {mirrored}");
            assert!(on_screen(&n, Vec3::ZERO).length() < 1e-5, "the pivot stays in the middle");
        }
    }

    #[test]
    fn an_orbit_stops_before_the_pole_and_up_stays_up() {
        let mut n = navigation(false);
        for _ in 0..100 {
            n.orbit(Vec2::new(0.03, 0.2));
        }
        let [_, up, forward] = n.axes();
        assert!(up.y > 0.0 && forward.y > -1.0 && forward.y < -0.99, "{up} {forward}");
        assert!((n.distance() - 5.0).abs() < 1e-2);
    }

    #[test]
    fn looking_around_moves_the_image_and_not_the_eye() {
        let mut n = navigation(true);
        let eye = n.eye();
        n.look(Vec2::new(0.1, 0.1));
        assert!(n.eye().distance(eye) < 1e-5);
        let moved = on_screen(&n, Vec3::ZERO);
        assert!(moved.x > 0.01 && moved.y < -0.01, "{moved}");
    }

    #[test]
    fn a_pan_carries_the_pivot_along_with_the_pointer() {
        for mirrored in [false, true] {
            let mut n = navigation(mirrored);
            n.pan(Vec2::new(0.25, 0.125), FORMAT);
            let moved = on_screen(&n, Vec3::ZERO);
            // The image is 2 high on the screen at distance 1.
            assert!((moved - Vec2::new(0.5, -0.25)).length() < 1e-4, "{moved}");
        }
    }

    #[test]
    fn a_dolly_never_reaches_the_pivot() {
        let mut n = navigation(false);
        n.dolly(1.0, FORMAT);
        assert!((n.distance() - 4.5).abs() < 1e-4);
        for _ in 0..100 {
            n.dolly(50.0, FORMAT);
        }
        assert!(n.distance() > 0.0 && n.camera().world_to_camera.is_finite());
    }

    #[test]
    fn a_dolly_magnifies_an_orthographic_view() {
        let camera = Camera { projection: Projection::Orthographic, ..looking_along_z(-5.0 * Vec3::Z, false) };
        let mut n = Navigation::new(&camera, Some((-Vec3::ONE, Vec3::ONE)));
        let before = n.camera().frame(FORMAT).half_height;
        n.dolly(1.0, FORMAT);
        assert!((n.camera().frame(FORMAT).half_height / before - 0.9).abs() < 1e-5);
    }

    #[test]
    fn framing_shows_the_whole_box_whatever_the_projection_and_scale() {
        for (projection, size) in [(Projection::Perspective { fov: 40.0 }, 1.0), (Projection::Orthographic, 1000.0)] {
            let camera = Camera { projection, ..looking_along_z(Vec3::new(1.0, 2.0, 3.0), false) };
            let (low, high) = (Vec3::new(-size, 0.0, -size), Vec3::splat(size));
            let mut n = Navigation::new(&camera, Some((low, high)));
            n.orbit(Vec2::new(0.2, 0.1));
            n.frame_all(FORMAT);
            let frame = n.camera().frame(FORMAT);
            for i in 0..8 {
                let corner = Vec3::from_array([0, 1, 2].map(|k| if i >> k & 1 == 0 { low[k] } else { high[k] }));
                let p = n.camera().world_to_camera.transform_point3(corner);
                let depth = if frame.orthographic { 1.0 } else { p.z };
                assert!(p.z > 0.0 && p.x.abs() <= frame.half_width * depth && p.y.abs() <= frame.half_height * depth);
            }
        }
    }

    #[test]
    fn a_camera_that_nobody_moved_follows_its_scene_and_a_moved_one_stays() {
        let other = looking_along_z(Vec3::new(0.0, 0.0, -9.0), false);
        let mut n = navigation(false);
        n.rebase(&other, None);
        assert_eq!(n.camera(), &other);
        n.fly(Flight(Vec3::Z), 0.1);
        let moved = n.camera().clone();
        n.rebase(&looking_along_z(Vec3::ZERO, false), None);
        assert_eq!(n.camera(), &moved);
        n.reset();
        assert!(n.is_home());
    }

    #[test]
    fn nothing_that_is_not_a_number_gets_into_the_camera() {
        let mut n = navigation(false);
        n.set_fov(f32::NAN);
        n.orbit(Vec2::NAN);
        n.pan(Vec2::splat(f32::INFINITY), FORMAT);
        n.set_pivot(Vec3::NAN);
        assert!(n.is_home() && n.pivot.is_finite());
    }
}
