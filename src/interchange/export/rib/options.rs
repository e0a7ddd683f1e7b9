//! The requests before the world: the film, the camera, the renderer's options, textures.

use super::Writer;
use super::text::{number, numbers, parameter, quoted};
use glam::Mat4;
use shadewright_base::named::Named;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_image::Reading;
use shadewright_lang::registry;
use shadewright_scene::{
    DEFAULT_MAX_DEPTH, Estimator, Exposure, FilterKind, Format, Integrator, PixelFilter, Projection, Scene,
    TextureSource,
};
use shadewright_texture::Wrap;

/// The far clipping plane of a scene without one, as RISpec 3.2 has it (`RI_INFINITY`).
const FAR: &str = "1e38";

impl Writer<'_> {
    /// Writes the film's and the renderer's options.
    pub(super) fn options(&mut self) {
        let scene = self.scene;
        self.film(scene);
        for (group, line) in [("trace", trace(scene)), ("shading", shading(scene))] {
            if !line.is_empty() {
                self.text.line(&format!("Option \"{group}\"{line}"));
            }
        }
        let user: Vec<_> = scene.user_options.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        if !user.is_empty() {
            self.text.request("Option \"user\"", &user);
        }
        if !self.assets.shader_folders.is_empty() {
            let folders = quoted(&self.assets.shader_folders.join(":"));
            self.text.line(&format!("Option \"searchpath\" \"string shader\" [{folders}]"));
        }
        if let Some(bias) = scene.ray_bias {
            self.text.line(&format!("Attribute \"trace\" \"float bias\" [{}]", number(bias)));
        }
        let (integrator, estimator, clamp) = (scene.integrator, scene.estimator, scene.clamp);
        if (integrator, estimator, clamp) != (Integrator::default(), Estimator::default(), 0.0) {
            let name = quoted(integrator.name());
            let (estimator, clamp) = (quoted(estimator.name()), number(clamp));
            self.text.line(&format!(
                "Integrator {name} \"integrator\" \"string estimator\" [{estimator}] \"float clamp\" [{clamp}]"
            ));
        }
    }

    fn film(&mut self, scene: &Scene) {
        let (film, text) = (&scene.film, &mut self.text);
        let Format { width, height, pixel_aspect } = scene.format;
        text.line(&format!("Format {width} {height} {}", number(pixel_aspect)));
        let [x, y] = scene.pixel_samples;
        text.line(&format!("PixelSamples {x} {y}"));
        if film.filter != PixelFilter::default() {
            let name =
                FilterKind::ALL.iter().find(|(_, kind)| *kind == film.filter.kind).map_or("box", |(name, _)| name);
            text.line(&format!("PixelFilter {} {}", quoted(name), numbers(&film.filter.width)));
        }
        if film.exposure != Exposure::default() {
            text.line(&format!("Exposure {} {}", number(film.exposure.gain), number(film.exposure.gamma)));
        }
        if let Some(q) = film.quantize {
            text.line(&format!("Quantize \"rgba\" {}", numbers(&[q.one, q.min, q.max, q.dither])));
        }
        if let Some(crop) = film.crop {
            text.line(&format!("CropWindow {}", numbers(&crop)));
        }
        if film.shutter != [0.0; 2] {
            text.line(&format!("Shutter {}", numbers(&film.shutter)));
        }
        for (index, display) in film.displays.iter().enumerate() {
            let name = if index == 0 { display.name.clone() } else { format!("+{}", display.name) };
            text.line(&format!("Display {} {} {}", quoted(&name), quoted(&display.driver), quoted(&display.mode)));
        }
        if film.moves {
            let warning = Diagnostic::warning("motion is not kept: the scene stands still at one time of the shutter");
            self.losses.lose(warning.hint("the exported scene has no motion blur"));
        }
    }

    /// Writes the requests by which the names of textures stand for the images that are copied.
    pub(super) fn textures(&mut self) {
        for (name, source) in &self.assets.textures {
            let texture = quoted(name);
            let line = match source {
                TextureSource::Image { file, wraps, reading } => {
                    let [s, t] = wraps.map(|wrap| match wrap {
                        Wrap::Black => "black",
                        Wrap::Clamp => "clamp",
                        Wrap::Periodic => "periodic",
                    });
                    let reading = match reading {
                        Reading::Color => String::new(),
                        other => format!(" \"string reading\" [{}]", quoted(other.name())),
                    };
                    format!("MakeTexture {} {texture} \"{s}\" \"{t}\" \"box\" 1 1{reading}", quoted(file))
                }
                TextureSource::Cube { faces, fov } => {
                    let faces = faces.each_ref().map(|face| quoted(face)).join(" ");
                    format!("MakeCubeFaceEnvironment {faces} {texture} {} \"box\" 1 1", number(*fov))
                }
                TextureSource::Depth { file } => format!("MakeShadow {} {texture}", quoted(file)),
            };
            self.text.line(&line);
        }
    }

    /// Writes the camera, and the imager where that may stand before the world.
    pub(super) fn camera(&mut self) {
        let scene = self.scene;
        let camera = &scene.camera;
        if let Some(aspect) = camera.frame_aspect {
            self.text.line(&format!("FrameAspectRatio {}", number(aspect)));
        }
        if let Some(window) = camera.screen_window {
            self.text.line(&format!("ScreenWindow {}", numbers(&window)));
        }
        if camera.is_clipped() {
            let far = if camera.far.is_finite() { number(camera.far) } else { FAR.to_string() };
            self.text.line(&format!("Clipping {} {far}", number(camera.near)));
        }
        if let Some(lens) = camera.lens {
            // The radius is half the focal length over the f-stop: exact at an f-stop of one half.
            self.text.line(&format!("DepthOfField 0.5 {} {}", number(lens.radius), number(lens.focus)));
        }
        self.text.line(&match camera.projection {
            Projection::Perspective { fov } => format!("Projection \"perspective\" \"fov\" [{}]", number(fov)),
            Projection::Orthographic => "Projection \"orthographic\"".to_string(),
        });
        if let Some(id) = scene.camera_shader {
            let instance = &scene.shader_instances[id.0 as usize];
            self.declare(&instance.objects);
            let name = quoted(self.assets.name_of(&instance.shader));
            // Points are written in camera space.
            let params = instance.params.iter();
            let params: Vec<_> =
                params.map(|(name, value)| (name.clone(), value.clone().transformed(camera.world_to_camera))).collect();
            self.text.request(&format!("Projection {name}"), &params);
        }
        if let Some(function) = &scene.ray_function {
            let name = format!("{}:{}", registry::DEFAULT.file_name(&function.file), function.function);
            self.text.line(&format!("Projection {}", quoted(&name)));
        }
        self.imager_before_world();
        if self.place_of_camera() != Mat4::IDENTITY {
            self.concat(self.place_of_camera());
        }
    }

    /// World space to camera space.
    fn place_of_camera(&self) -> Mat4 {
        // Where the current space is the camera's, that is the place of the world.
        let world = self.scene.world_to_current();
        if world == Mat4::IDENTITY { self.scene.camera.world_to_camera } else { world }
    }
}

/// Parameters of `Option "trace"`.
fn trace(scene: &Scene) -> String {
    let mut line = String::new();
    if scene.max_depth != DEFAULT_MAX_DEPTH {
        line += &format!(" \"integer maxdepth\" [{}]", scene.max_depth);
    }
    if scene.background != [0.0; 4] {
        line += &format!(" \"color background\" [{}]", numbers(&scene.background[..3]));
    }
    line
}

/// Parameters of `Option "shading"`.
fn shading(scene: &Scene) -> String {
    let mut line = String::new();
    let current = if scene.world_to_current() == Mat4::IDENTITY { "world" } else { "camera" };
    if current == "camera" || !scene.current_is_open {
        line += &format!(" \"string current\" [\"{current}\"]");
    }
    if scene.specular_sharpness != 1.0 {
        let sharpness = shadewright_scene::ParamValue::Float(vec![scene.specular_sharpness]);
        line += &format!(" {}", parameter("specularsharpness", &sharpness));
    }
    line
}
