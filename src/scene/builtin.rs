//! Built-in scenes and shaders, so that the program renders without any file.

/// The default scene.
pub const DEFAULT_SCENE: &str = "showcase";

macro_rules! embedded {
    ($folder:literal, $extension:literal, $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("assets/", $folder, "/", $name, ".", $extension)))),+]
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
    "shapes",
    "solids",
    "glass",
    "mirrors",
    "noise",
    "sepia",
    "displaced"
);

/// Name and RSL text of the shaders that the example scenes use, beside the standard ones.
pub const SHADERS: &[(&str, &str)] = embedded!(
    "shaders",
    "sl",
    "checker",
    "marble",
    "wood",
    "mirror",
    "stripes",
    "glow",
    "sepia",
    "tinted",
    "lumps",
    "ripples",
    "illumination"
);

/// The text of a built-in scene.
pub fn scene(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|s| s.0 == name).map(|s| s.1)
}

/// The text of a built-in shader.
pub fn shader(name: &str) -> Option<&'static str> {
    SHADERS.iter().find(|s| s.0 == name).map(|s| s.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenOptions, Opened, open_builtin};
    use shadewright_base::text::source::SourceMap;
    use shadewright_lang::stdlib;
    use shadewright_lang::unit::ShaderInfo;
    use shadewright_lang::{FrontEndOptions, rsl};

    fn compile(name: &str, text: &str) -> ShaderInfo {
        let mut sources = SourceMap::new();
        let file = sources.add(format!("{name}.sl"), None, text);
        let unit = rsl::compile(&mut sources, file, &FrontEndOptions::default())
            .unwrap_or_else(|e| panic!("{}", e.render(&sources)));
        assert!(unit.warnings.is_empty(), "{}", unit.warnings.render(&sources));
        unit.shaders.into_iter().find(|s| &*s.name == name).unwrap_or_else(|| panic!("no shader `{name}` in its file"))
    }

    fn opened(name: &str) -> Opened {
        let mut sources = SourceMap::new();
        let opened = open_builtin(name, &OpenOptions::default(), &mut sources)
            .unwrap_or_else(|e| panic!("{name}: {}", e.render(&sources)));
        assert!(opened.diagnostics.is_empty(), "{name}: {}", opened.diagnostics.render(&sources));
        opened
    }

    #[test]
    fn every_built_in_shader_compiles_without_a_remark() {
        for (name, text) in SHADERS {
            compile(name, text);
        }
    }

    #[test]
    fn every_built_in_scene_reads_without_a_remark_and_is_small() {
        for (name, _) in SCENES {
            let scene = opened(name).scene;
            assert!((1..50_000).contains(&scene.triangle_count()), "{name}: {}", scene.triangle_count());
        }
    }

    #[test]
    fn built_in_scenes_use_shaders_that_exist_with_parameters_that_they_have() {
        for (name, _) in SCENES {
            for instance in opened(name).scene.shader_instances {
                let text = shader(instance.shader.name()).or_else(|| stdlib::shader_source(instance.shader.name()));
                let text = text.unwrap_or_else(|| panic!("{name}: there is no shader `{}`", instance.shader));
                let info = compile(instance.shader.name(), text);
                assert_eq!(format!("{:?}", info.kind), format!("{:?}", instance.kind), "{name}: {}", instance.shader);
                for (param, value) in &instance.params {
                    let declared = info.params.iter().find(|p| &*p.name == param);
                    let declared = declared.unwrap_or_else(|| panic!("{name}: {} has no {param}", instance.shader));
                    assert_eq!(format!("{:?}", declared.ty).to_lowercase(), value.type_name(), "{name}: {param}");
                }
            }
        }
    }
}
