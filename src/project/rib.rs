//! Edits as RIB: requests that put the edited values into a scene file.

use super::{Instance, OptionEdits, Parameter, View};
use shadewright_interchange::export::rib::{numbers, quoted, values};
use shadewright_scene::{Projection, ShaderRole};
use std::fmt::Write;

/// The request that makes an instance as it is now, with the parameters that the scene or the user
/// gives: to stand where the scene has its request, as its points and directions are in that
/// place's space.
pub fn instance_rib(instance: &Instance) -> String {
    let name = quoted(instance.shader.as_str());
    let mut text = format!("{} {name}", instance.request);
    text += &match (instance.kind, &instance.handle) {
        (ShaderRole::Light, None) => " 1".to_string(),
        (ShaderRole::CoShader, Some(handle)) => format!(" {}", quoted(handle)),
        (ShaderRole::Light, Some(handle)) => match handle.parse::<i32>() {
            Ok(number) => format!(" {number}"),
            Err(_) => format!(" {}", quoted(handle)),
        },
        _ => String::new(),
    };
    for (name, handles) in &instance.references {
        let length = if handles.len() == 1 { String::new() } else { format!("[{}]", handles.len()) };
        let handles: Vec<String> = handles.iter().map(|handle| quoted(handle)).collect();
        let _ = write!(text, " {} [{}]", quoted(&format!("string{length} {name}")), handles.join(" "));
    }
    let to_shader = instance.to_world.inverse();
    let given = |p: &&Parameter| p.scene.is_some() || p.edited.as_ref().is_some_and(|value| *value != p.default);
    for parameter in instance.params.iter().filter(given) {
        let value = parameter.value().clone().transformed(to_shader);
        // RIB has no vectors of two or four numbers.
        let is_array = parameter.array.is_some() || value.len() > 1;
        let length = if is_array { format!("[{}]", value.len()) } else { String::new() };
        let declaration = quoted(&format!("{}{length} {}", value.type_name(), parameter.name));
        let _ = write!(text, " {declaration} [{}]", values(&value));
    }
    text + "\n"
}

/// The requests that make a camera: to stand before `WorldBegin`, in place of the scene's.
pub fn camera_rib(view: &View) -> String {
    let View { camera, format } = view;
    let mut text = format!("Format {} {} {}\n", format.width, format.height, format.pixel_aspect);
    if let Some(aspect) = camera.frame_aspect {
        text += &format!("FrameAspectRatio {aspect}\n");
    }
    if let Some(window) = camera.screen_window {
        text += &format!("ScreenWindow {}\n", numbers(&window));
    }
    text += &match camera.projection {
        Projection::Perspective { fov } => format!("Projection \"perspective\" \"fov\" [{fov}]\n"),
        Projection::Orthographic => "Projection \"orthographic\"\n".to_string(),
    };
    text + &format!("Transform [{}]\n", numbers(&camera.world_to_camera.to_cols_array()))
}

/// The requests that set the options that the user has edited: to stand before `WorldBegin`. A size
/// has square pixels (RISpec 3.2, §4.1.2: −1).
pub fn options_rib(edits: &OptionEdits) -> String {
    let mut text = String::new();
    if let Some([width, height]) = edits.size {
        text += &format!("Format {width} {height} -1\n");
    }
    if let Some([x, y]) = edits.pixel_samples {
        text += &format!("PixelSamples {x} {y}\n");
    }
    if let Some(depth) = edits.max_depth {
        text += &format!("Option \"trace\" \"integer maxdepth\" [{depth}]\n");
    }
    if let Some(color) = edits.background {
        text += &format!("Option \"trace\" \"color background\" [{}]\n", numbers(&color[..3]));
    }
    text
}
