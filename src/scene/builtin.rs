//! Scenes and shaders that come with the program, so that it draws something without any file.

/// The scene that is drawn when none is named.
pub const DEFAULT_SCENE: &str = "showcase";

macro_rules! embedded {
    ($folder:literal, $extension:literal, $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../assets/", $folder, "/", $name, ".", $extension)))),+]
    };
}

/// Name and RIB text of every built-in scene.
pub const SCENES: &[(&str, &str)] = embedded!(
    "scenes",
    "rib",
    "showcase",
    "primvars",
    "orthographic",
    "quadrics",
    "glass",
    "mirrors",
    "noise",
    "sepia"
);

/// Name and RSL text of the shaders that the built-in scenes use, beside the standard ones.
pub const SHADERS: &[(&str, &str)] =
    embedded!("shaders", "sl", "checker", "marble", "wood", "mirror", "stripes", "glow", "sepia");

/// The text of a built-in scene.
pub fn scene(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|s| s.0 == name).map(|s| s.1)
}

/// The text of a built-in shader.
pub fn shader(name: &str) -> Option<&'static str> {
    SHADERS.iter().find(|s| s.0 == name).map(|s| s.1)
}
