//! Materials and lights of RIS (RenderMan 19 and later): `Bxdf`, `Pattern` and `Light`.
//!
//! They are mapped to the nearest that there is, and a warning says so once for each: materials to
//! the metallic-roughness material of glTF scenes, lights to area lights of points, distant lights
//! and environment lights. A connection to a `PxrTexture` becomes the material's texture; other
//! patterns are left out.

use super::super::{Integrator, Light, MAX_LIGHTS, ParamValue, ShaderId, ShaderInstance, ShaderKind};
use super::args::Args;
use super::params::Values;
use super::reader::Reader;
use crate::lang::ShaderRef;
use crate::text::diagnostics::Diagnostic;
use glam::Vec3;
use std::collections::HashMap;
use std::f32::consts::PI;
use std::sync::Arc;

/// The surface shader of glTF materials, and the class where paths are traced.
const MATERIALS: [&str; 2] = ["gltf", "pbr.rtsl:GltfScene"];

/// The parameters of a node: values, and connections as handles of patterns.
#[derive(Default)]
struct Parameters {
    values: HashMap<String, Values>,
    connections: HashMap<String, String>,
}

impl Parameters {
    /// Reads a node's parameter list. Declarations are read by their last word, the name.
    fn read(args: &mut Args<'_, '_>) -> Result<Self, Diagnostic> {
        let mut all = Self::default();
        while let Some((token, _)) = args.parameter_name()? {
            let (values, _) = args.untyped_values()?;
            let name = token.split_whitespace().next_back().unwrap_or_default().to_string();
            match (&values, token.trim_start().starts_with("reference")) {
                (Values::Strings(v), true) => {
                    let node = v.first().and_then(|text| text.split(':').next()).unwrap_or_default();
                    all.connections.insert(name, node.to_string());
                }
                _ => {
                    all.values.insert(name, values);
                }
            }
        }
        Ok(all)
    }

    fn float(&self, name: &str) -> Option<f32> {
        match self.values.get(name)? {
            Values::Floats(v) => v.first().copied(),
            Values::Integers(v) => v.first().map(|&x| x as f32),
            Values::Strings(_) => None,
        }
    }

    fn color(&self, name: &str) -> Option<Vec3> {
        match self.values.get(name)? {
            Values::Floats(v) if v.len() >= 3 => Some(Vec3::from_slice(v)),
            _ => None,
        }
    }

    fn string(&self, name: &str) -> Option<&str> {
        match self.values.get(name)? {
            Values::Strings(v) => v.first().map(String::as_str).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// The first of these colours that is given.
    fn first_color(&self, names: &[&str]) -> Option<Vec3> {
        names.iter().find_map(|name| self.color(name))
    }
}

/// What a material is, in the terms of glTF.
struct Material {
    color: Vec3,
    /// The parameter whose connection is the colour's texture.
    textured: &'static str,
    metallic: f32,
    roughness: f32,
    emission: Vec3,
    opacity: f32,
}

impl Material {
    /// That of a node, by the name of its plug-in; `None` for one that is not known.
    fn of(node: &str, p: &Parameters) -> Option<Self> {
        let plain = Self {
            color: Vec3::splat(0.5),
            textured: "diffuseColor",
            metallic: 0.0,
            roughness: 1.0,
            emission: Vec3::ZERO,
            opacity: p.float("presence").unwrap_or(1.0),
        };
        Some(match node {
            "PxrDisney" | "PxrDisneyBsdf" => Self {
                color: p.color("baseColor").unwrap_or(plain.color),
                textured: "baseColor",
                metallic: p.float("metallic").unwrap_or(0.0),
                roughness: p.float("roughness").unwrap_or(0.25),
                emission: p.color("emitColor").unwrap_or(Vec3::ZERO),
                ..plain
            },
            "PxrSurface" | "PxrLayerSurface" => {
                let diffuse =
                    p.float("diffuseGain").unwrap_or(1.0) * p.color("diffuseColor").unwrap_or(Vec3::splat(0.18));
                let specular = p.first_color(&["specularFaceColor", "specularEdgeColor"]).unwrap_or(Vec3::ZERO);
                // Without a diffuse lobe the specular one is a metal's.
                let is_metal = diffuse.max_element() <= 0.0 && specular.max_element() > 0.0;
                Self {
                    color: if is_metal { specular } else { diffuse },
                    metallic: f32::from(u8::from(is_metal)),
                    roughness: match specular == Vec3::ZERO {
                        true => 1.0,
                        false => p.float("specularRoughness").unwrap_or(0.2),
                    },
                    emission: p.float("glowGain").unwrap_or(0.0) * p.color("glowColor").unwrap_or(Vec3::ONE),
                    ..plain
                }
            }
            "PxrDiffuse" | "PxrLMDiffuse" => Self {
                color: p.first_color(&["diffuseColor", "frontColor"]).unwrap_or(plain.color),
                emission: p.color("emissionColor").unwrap_or(Vec3::ZERO),
                ..plain
            },
            "PxrConstant" => {
                Self { color: Vec3::ZERO, emission: p.color("emitColor").unwrap_or(Vec3::ONE), textured: "", ..plain }
            }
            "PxrBlack" => Self { color: Vec3::ZERO, textured: "", ..plain },
            "PxrLMMetal" => Self {
                color: p.first_color(&["specularColor", "eta"]).unwrap_or(Vec3::splat(0.8)),
                metallic: 1.0,
                roughness: p.float("roughness").unwrap_or(0.2),
                ..plain
            },
            "PxrLMPlastic" => Self {
                color: p.color("diffuseColor").unwrap_or(plain.color),
                roughness: p.float("roughness").unwrap_or(0.3),
                ..plain
            },
            _ => return None,
        })
    }
}

/// `Bxdf "plugin" "handle" parameters`
pub fn bxdf(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let node = args.string("the name of a material")?;
    let _handle = args.handle("a handle")?;
    let p = Parameters::read(args)?;
    if matches!(node.as_str(), "PxrGlass" | "PxrLMGlass") {
        approximated(r, args, &node, "the class `Dielectric`");
        let ior = ParamValue::Float(vec![p.float("ior").or_else(|| p.float("eta")).unwrap_or(1.5)]);
        set_surface(r, args, "pbr.rtsl:Dielectric", vec![("ior".to_string(), ior)]);
        return Ok(());
    }
    let material = match Material::of(&node, &p) {
        Some(material) => material,
        None => {
            let d = Diagnostic::warning(format!("there is no material `{node}`"));
            let d = d.at(args.whole_span(), "shown as a diffuse surface");
            r.warn_once(&format!("material {node}"), d);
            let color = p.first_color(&["diffuseColor", "baseColor", "color", "surfaceColor"]);
            let p = Parameters::default();
            let Some(plain) = Material::of("PxrDiffuse", &p) else { return Ok(()) };
            Material { color: color.unwrap_or(plain.color), ..plain }
        }
    };
    approximated(r, args, &node, "the metallic-roughness material of glTF");
    let traces_paths = r.integrator.unwrap_or(r.scene.integrator) == Integrator::Path;
    let float = |name: &str, x: f32| (name.to_string(), ParamValue::Float(vec![x]));
    let color = |name: &str, x: Vec3| (name.to_string(), ParamValue::Color(vec![x]));
    let mut params = vec![
        color("baseColorFactor", material.color),
        float("metallicFactor", material.metallic),
        float("roughnessFactor", material.roughness),
        color("emissiveFactor", material.emission),
    ];
    if material.opacity < 1.0 {
        params.push(float("baseColorAlpha", material.opacity));
        params.push(("alphaMode".to_string(), ParamValue::String(vec!["BLEND".to_string()])));
    }
    if let Some(file) = p.connections.get(material.textured).and_then(|pattern| r.texture_patterns.get(pattern)) {
        let name = if traces_paths { "baseColorImage" } else { "baseColorTexture" };
        params.push((name.to_string(), ParamValue::String(vec![file.clone()])));
        params[0].1 = ParamValue::Color(vec![Vec3::ONE]);
    }
    set_surface(r, args, MATERIALS[usize::from(traces_paths)], params);
    Ok(())
}

fn set_surface(r: &mut Reader<'_>, args: &Args<'_, '_>, shader: &str, params: Vec<(String, ParamValue)>) {
    let id = add(r, args, ShaderKind::Surface, shader, params);
    r.state.attributes.surface = Some(id);
}

/// `Pattern "plugin" "handle" parameters`
pub fn pattern(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let node = args.string("the name of a pattern")?;
    let handle = args.handle("a handle")?;
    let p = Parameters::read(args)?;
    match p.string("filename").filter(|_| node == "PxrTexture") {
        Some(file) => {
            r.texture_patterns.insert(handle, file.to_string());
        }
        None => {
            let d = Diagnostic::warning(format!("the pattern `{node}` is not supported"));
            r.warn_once(&format!("pattern {node}"), d.at(args.whole_span(), "skipped, here and below"));
        }
    }
    Ok(())
}

/// `Light "plugin" "handle" parameters`
///
/// Emitted radiance L is `intensity · 2^exposure · lightColor`. An area light is one of points with
/// the power of its surface A, so that irradiance at a distance d is L · A / d².
pub fn light(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let node = args.string("the name of a light")?;
    let handle = args.handle("a handle")?;
    let p = Parameters::read(args)?;
    let given = |name: &str, default: f32| p.float(name).unwrap_or(default);
    let radiance = given("intensity", 1.0) * given("exposure", 0.0).exp2();
    let color = p.color("lightColor").unwrap_or(Vec3::ONE);
    let float = |name: &str, x: f32| (name.to_string(), ParamValue::Float(vec![x]));
    let mut params = vec![("lightcolor".to_string(), ParamValue::Color(vec![color]))];
    let m = r.state.transform;
    let scale = Vec3::new(m.x_axis.length(), m.y_axis.length(), m.z_axis.length());
    let (shader, what, area) = match node.as_str() {
        "PxrRectLight" | "PxrStdAreaLight" => ("pointlight", "a point light", scale.x * scale.y),
        "PxrDiskLight" => ("pointlight", "a point light", 0.25 * PI * scale.x * scale.y),
        // Half of a sphere faces a point.
        "PxrSphereLight" => ("pointlight", "a point light", 0.25 * PI * scale.x * scale.y),
        "PxrDistantLight" => ("distantlight", "a distant light", 1.0),
        "PxrDomeLight" | "PxrEnvDayLight" => ("envlight", "an environment light", 1.0),
        _ => {
            let d = Diagnostic::warning(format!("there is no light `{node}`"));
            r.warn_once(&format!("light {node}"), d.at(args.whole_span(), "left out"));
            return Ok(());
        }
    };
    params.push(float("intensity", radiance * area));
    match shader {
        "pointlight" => params.push(("from".to_string(), ParamValue::Point(vec![m.transform_point3(Vec3::ZERO)]))),
        // Lights of RIS shine along −z.
        "distantlight" => {
            let [from, to] = [Vec3::ZERO, Vec3::NEG_Z].map(|p| ParamValue::Point(vec![m.transform_point3(p)]));
            params.extend([("from".to_string(), from), ("to".to_string(), to)]);
        }
        _ => {
            let map = p.string("lightColorMap").map(|file| ParamValue::String(vec![file.to_string()]));
            params.extend(map.map(|map| ("map".to_string(), map)));
        }
    }
    approximated(r, args, &node, what);
    let shader = add(r, args, ShaderKind::Light, shader, params);
    let index = r.scene.lights.len() as u32;
    if r.scene.lights.len() >= MAX_LIGHTS {
        r.fatal(args.error(format!("more than {MAX_LIGHTS} lights in one scene")));
        return Ok(());
    }
    let shadows = r.state.attributes.shadows;
    r.scene.lights.push(Light { shader, handle: handle.clone(), shadows, area: false });
    r.light_handles.insert(handle, index);
    r.illuminate_everywhere(index);
    Ok(())
}

/// Reports once by which model a node is approximated.
fn approximated(r: &mut Reader<'_>, args: &Args<'_, '_>, node: &str, what: &str) {
    let d = Diagnostic::warning(format!("`{node}` is approximated by {what}"));
    r.warn_once(&format!("approximated {node}"), d.at(args.span, "here and below"));
}

/// Adds a shader whose parameters are in world space.
fn add(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    kind: ShaderKind,
    shader: &str,
    params: Vec<(String, ParamValue)>,
) -> ShaderId {
    let (shader, to_world, span) = (ShaderRef::new(shader), r.state.transform, Some(args.whole_span()));
    r.add_shader(ShaderInstance { kind, shader, params, to_world, span, objects: Arc::default() })
}
