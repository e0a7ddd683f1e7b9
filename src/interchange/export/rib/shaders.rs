//! Requests that name shaders.

use super::text::{numbers, quoted};
use super::{GROUP, Writer};
use glam::Mat4;
use shadewright_scene::{ParamValue, ShaderId, ShaderInstance};

impl Writer<'_> {
    /// Writes a request that names a shader with its parameters, in the shader's space.
    pub(super) fn shader(&mut self, request: &str, handle: Option<&str>, id: ShaderId) {
        let scene = self.scene;
        let instance = &scene.shader_instances[id.0 as usize];
        self.declare(&instance.objects);
        let handle = handle.map_or_else(String::new, |handle| format!(" {}", quoted(handle)));
        let line = format!("{request} {}{handle}", quoted(self.assets.name_of(&instance.shader)));
        // Points are in the current space already: a transform would take them out of it.
        if instance.to_world != Mat4::IDENTITY && has_points(instance) {
            self.space(instance.to_world);
            self.text.request(&line, &instance.params);
            self.space(Mat4::IDENTITY);
        } else {
            self.under(instance.to_world, |w| w.text.request(&line, &instance.params));
        }
    }

    /// Gives the objects and shaders that follow a coordinate system of their own.
    pub(super) fn space(&mut self, to_world: Mat4) {
        let matrix = numbers(&to_world.to_cols_array());
        self.text.line(&format!("Attribute {} \"matrix space\" [{matrix}]", quoted(GROUP)));
    }

    /// Writes the imager before the world, where that is its place in any renderer.
    pub(super) fn imager_before_world(&mut self) {
        if let Some(id) = self.imager(true) {
            let scene = self.scene;
            let instance = &scene.shader_instances[id.0 as usize];
            self.text.request(&format!("Imager {}", quoted(self.assets.name_of(&instance.shader))), &instance.params);
        }
    }

    /// Writes the imager within the world, where its space or its points ask for it.
    pub(super) fn imager_in_world(&mut self) {
        if let Some(id) = self.imager(false) {
            self.block(|w| w.shader("Imager", None, id));
        }
    }

    /// The imager, if it stands before the world or not. There it has the camera's space.
    fn imager(&self, before_world: bool) -> Option<ShaderId> {
        let id = self.scene.imager?;
        let instance = &self.scene.shader_instances[id.0 as usize];
        let is_of_camera = instance.to_world == self.scene.camera.camera_to_world();
        let stands_before = is_of_camera && !has_points(instance) && instance.objects.is_empty();
        (stands_before == before_world).then_some(id)
    }
}

/// True if a parameter is a place or a direction.
fn has_points(instance: &ShaderInstance) -> bool {
    let is_spatial =
        |value: &ParamValue| matches!(value, ParamValue::Point(_) | ParamValue::Vector(_) | ParamValue::Normal(_));
    instance.params.iter().any(|(_, value)| is_spatial(value))
}
