//! Materials and lights of RIS (RenderMan 19 and later): `Bxdf`, `Pattern` and `Light`.
//!
//! They are mapped to the nearest that there is, and a warning says so once for each: materials to
//! the metallic-roughness material of glTF scenes, lights to area lights of points, distant lights
//! and environment lights. A connection to a `PxrTexture`, also through other patterns, becomes the
//! material's texture; one to another pattern becomes the mean of that pattern's colors.

use super::super::{
    Integrator, Light, MAX_LIGHTS, ParamValue, ShaderId, ShaderInstance, ShaderRole, bytes_of_instance,
};
use super::args::Args;
use super::params::Values;
use super::primitives::dicing::{OF_NAME, keep};
use super::reader::Reader;
use super::shading::NO_ROOM;
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_lang::ShaderRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::f32::consts::PI;
use std::sync::Arc;

/// The surface shader of glTF materials, and the class where paths are traced.
const MATERIALS: [&str; 2] = ["gltf", "pbr.rtsl:GltfScene"];

/// The known facts about a pattern.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The image that it shows.
    file: Option<String>,
    /// The mean color, where there is no image.
    color: Option<Vec3>,
}

/// The surface that a material is shown as: a shader, and its parameters.
#[derive(Clone, Debug)]
pub struct Surface {
    shader: &'static str,
    params: Vec<(String, ParamValue)>,
}

/// How opaque the surface around a volume is shown.
const VOLUME_OPACITY: f32 = 0.3;

/// The parameters of a node: values, and connections as handles of patterns.
#[derive(Default)]
struct Parameters {
    values: HashMap<String, Values>,
    connections: BTreeMap<String, String>,
    /// The names of the colors among the values.
    colors: BTreeSet<String>,
}

impl Parameters {
    /// Reads a node's parameter list. Declarations are read by their last word, the name.
    fn read(args: &mut Args<'_, '_>) -> Result<Self, Diagnostic> {
        let mut all = Self::default();
        while let Some((token, _)) = args.parameter_name()? {
            let (values, _) = args.untyped_values()?;
            let mut words = token.split_whitespace();
            let name = words.next_back().unwrap_or_default().to_string();
            match (&values, token.trim_start().starts_with("reference")) {
                (Values::Strings(v), true) => {
                    let node = v.first().and_then(|text| text.split(':').next()).unwrap_or_default();
                    all.connections.insert(name, node.to_string());
                }
                _ => {
                    if words.any(|word| word.starts_with("color")) {
                        all.colors.insert(name.clone());
                    }
                    all.values.insert(name, values);
                }
            }
        }
        Ok(all)
    }

    /// The mean of the colors, but those that scale, or stand for what is missing.
    fn mean_color(&self) -> Option<Vec3> {
        let is_shown = |name: &&String| !["Scale", "Offset", "missing", "fill"].iter().any(|part| name.contains(part));
        let names = self.colors.iter().filter(is_shown);
        let all = names.filter_map(|name| match self.values.get(name)? {
            Values::Floats(v) => Some(v.chunks_exact(3).map(Vec3::from_slice)),
            _ => None,
        });
        mean(all.flatten())
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

    /// The first of these colors that is given.
    fn first_color(&self, names: &[&str]) -> Option<Vec3> {
        names.iter().find_map(|name| self.color(name))
    }
}

/// The mean of colors, if there are any.
fn mean(colors: impl Iterator<Item = Vec3>) -> Option<Vec3> {
    let (sum, count) = colors.fold((Vec3::ZERO, 0.0), |(sum, count), color| (sum + color, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// A material in the terms of glTF.
struct Material {
    color: Vec3,
    /// The parameter whose connection is the color's texture.
    textured: &'static str,
    metallic: f32,
    roughness: f32,
    emission: Vec3,
    opacity: f32,
}

impl Material {
    /// That of a node, by the name of its plug-in; `None` for one that is not known.
    fn from_node(node: &str, p: &Parameters) -> Option<Self> {
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
            "PxrMarschnerHair" | "LamaHairChiang" => Self {
                color: p
                    .first_color(&["diffuseReflectColor", "diffuseColor", "specularColorTRT", "color"])
                    .unwrap_or(Vec3::new(0.4, 0.3, 0.2)),
                roughness: 0.5,
                ..plain
            },
            "PxrSkin" | "PxrLMSubsurface" | "LamaSSS" => Self {
                color: p
                    .first_color(&["subsurfaceColor", "nearColor", "midColor", "sssColor", "color", "diffuseColor"])
                    .unwrap_or(plain.color),
                ..plain
            },
            "PxrVolume" | "PxrLMVolume" => Self {
                color: p.first_color(&["diffuseColor", "densityColor"]).unwrap_or(plain.color),
                opacity: VOLUME_OPACITY,
                ..plain
            },
            "LamaDiffuse" | "LamaSheen" | "LamaTranslucent" => Self {
                color: p.first_color(&["color", "diffuseColor"]).unwrap_or(plain.color),
                textured: "color",
                ..plain
            },
            "LamaConductor" | "LamaGeneralizedSchlick" => Self {
                color: p.first_color(&["reflectivity", "color", "reflectionTint"]).unwrap_or(Vec3::splat(0.8)),
                textured: "reflectivity",
                metallic: 1.0,
                roughness: p.float("roughness").unwrap_or(0.1),
                ..plain
            },
            "LamaEmission" | "PxrLightEmission" => Self {
                color: Vec3::ZERO,
                emission: p.first_color(&["emissionColor", "color"]).unwrap_or(Vec3::ONE),
                textured: "",
                ..plain
            },
            _ => return None,
        })
    }
}

/// The nodes that combine materials, with the parameters that name the one to show, in the order in
/// which they are looked at.
const COMBINATIONS: [(&str, &[&str]); 5] = [
    ("LamaSurface", &["materialFront", "materialBack"]),
    ("LamaLayer", &["materialBase", "materialTop"]),
    ("LamaMix", &["material1", "material2"]),
    ("LamaAdd", &["material1", "material2"]),
    ("PxrBlendBxdf", &["material1", "material2", "bxdf1", "bxdf2"]),
];

/// `Bxdf "plugin" "handle" parameters`
pub fn bxdf(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let node = args.string("the name of a material")?;
    let handle = args.handle("a handle")?;
    let p = Parameters::read(args)?;
    if let Some((_, parts)) = COMBINATIONS.iter().find(|(name, _)| *name == node) {
        let known = parts.iter().filter_map(|part| p.connections.get(*part));
        let Some(surface) = known.filter_map(|part| r.nodes.materials.get(part)).next().cloned() else {
            // What it combines stands before it: the last one stays.
            return Ok(());
        };
        approximated(r, args, &node, "one of the materials that it combines");
        return set_surface(r, args, handle, surface);
    }
    let refracts = p.float("refractionGain").is_some_and(|gain| gain >= 0.5)
        && p.float("diffuseGain").is_none_or(|gain| gain < 0.5);
    if matches!(node.as_str(), "PxrGlass" | "PxrLMGlass" | "LamaDielectric") || refracts {
        approximated(r, args, &node, "the class `Dielectric`");
        let ior = ["ior", "glassIor", "eta", "IOR"].iter().find_map(|name| p.float(name)).unwrap_or(1.5);
        let params = vec![("ior".to_string(), ParamValue::Float(vec![ior]))];
        return set_surface(r, args, handle, Surface { shader: "pbr.rtsl:Dielectric", params });
    }
    let material = match Material::from_node(&node, &p) {
        Some(material) => material,
        None => {
            let d = Diagnostic::warning(format!("there is no material `{node}`"));
            let d = d.at(args.whole_span(), "shown as a diffuse surface");
            r.warn_once(&format!("material {node}"), d);
            let color = p.first_color(&["diffuseColor", "baseColor", "color", "surfaceColor"]);
            let p = Parameters::default();
            let Some(plain) = Material::from_node("PxrDiffuse", &p) else { return Ok(()) };
            Material { color: color.unwrap_or(plain.color), ..plain }
        }
    };
    approximated(r, args, &node, "the metallic-roughness material of glTF");
    let traces_paths = r.overrides.integrator.unwrap_or(r.scene.integrator) == Integrator::Path;
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
    let gain = if node.ends_with("Surface") { p.float("diffuseGain").unwrap_or(1.0) } else { 1.0 };
    match p.connections.get(material.textured).and_then(|pattern| r.nodes.patterns.get(pattern)) {
        Some(Pattern { file: Some(file), .. }) => {
            let name = if traces_paths { "baseColorImage" } else { "baseColorTexture" };
            params.push((name.to_string(), ParamValue::String(vec![file.clone()])));
            params[0].1 = ParamValue::Color(vec![Vec3::splat(gain)]);
        }
        Some(Pattern { color: Some(mean), .. }) => params[0].1 = ParamValue::Color(vec![gain * *mean]),
        _ => {}
    }
    set_surface(r, args, handle, Surface { shader: MATERIALS[usize::from(traces_paths)], params })
}

fn set_surface(r: &mut Reader<'_>, args: &Args<'_, '_>, handle: String, surface: Surface) -> Result<(), Diagnostic> {
    // The handle keeps it, and the instance.
    if !keep(r, args, bytes_of_instance(&surface.params)) {
        return Err(args.error(NO_ROOM));
    }
    let Surface { shader, params } = surface.clone();
    let id = add(r, args, ShaderRole::Surface, shader, params)?;
    r.state.attributes.surface = Some(id);
    if r.nodes.materials.len() < MAX_NODES {
        r.nodes.materials.insert(handle, surface);
    }
    Ok(())
}

/// Most patterns, and most materials, whose handles are kept.
const MAX_NODES: usize = 1 << 16;

/// The first words of the names of patterns that have no color: where others are looked up, and how
/// the surface is bent.
const WITHOUT_COLOR: [&str; 8] = [
    "PxrManifold",
    "PxrProjector",
    "PxrRoundCube",
    "PxrBump",
    "PxrNormalMap",
    "PxrAdjustNormal",
    "PxrRandomTextureManifold",
    "PxrTileManifold",
];

/// The color of patterns whose colors are not known: halfway between black and white.
const UNKNOWN_COLOR: Vec3 = Vec3::splat(0.5);

/// `Pattern "plugin" "handle" parameters`
pub fn pattern(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let node = args.string("the name of a pattern")?;
    let handle = args.handle("a handle")?;
    let p = Parameters::read(args)?;
    if WITHOUT_COLOR.iter().any(|name| node.starts_with(name)) {
        let d = Diagnostic::warning(format!("the pattern `{node}` is not supported"));
        r.warn_once(&format!("pattern {node}"), d.at(args.whole_span(), "skipped, here and below"));
        return Ok(());
    }
    let file = ["filename", "filename0"].iter().find_map(|name| p.string(name));
    let pattern = match file.filter(|_| node.ends_with("Texture")) {
        // Of images for parts of a surface, the first.
        Some(file) => {
            let file = ["<UDIM>", "<udim>", "_MAPID_"].iter().fold(file.to_string(), |f, part| f.replace(part, "1001"));
            Pattern { file: Some(file), color: None }
        }
        None => {
            approximated(r, args, &node, "its mean color");
            let inputs: Vec<&Pattern> =
                p.connections.values().filter_map(|input| r.nodes.patterns.get(input)).collect();
            let colors = inputs.iter().filter_map(|input| input.color).chain(p.mean_color());
            Pattern {
                file: inputs.iter().find_map(|input| input.file.clone()),
                color: mean(colors).or(Some(UNKNOWN_COLOR)),
            }
        }
    };
    if r.nodes.patterns.len() < MAX_NODES && keep(r, args, OF_NAME + pattern.file.as_ref().map_or(0, String::len)) {
        r.nodes.patterns.insert(handle, pattern);
    }
    Ok(())
}

/// `Light "plugin" "handle" parameters`
///
/// Emitted radiance L is `intensity · 2^exposure · lightColor`. An area light is one of points with
/// the power of its surface A, so that irradiance at a distance d is L · A / d².
pub fn light(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let node = args.string("the name of a light")?;
    light_of(r, args, node)
}

/// A light of RIS, from its handle on.
pub fn light_of(r: &mut Reader<'_>, args: &mut Args<'_, '_>, node: String) -> Result<(), Diagnostic> {
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
        "PxrSphereLight" | "PxrCylinderLight" => ("pointlight", "a point light", 0.25 * PI * scale.x * scale.y),
        "PxrDistantLight" => ("distantlight", "a distant light", 1.0),
        "PxrMeshLight" => {
            approximated(r, args, &node, "a surface that glows");
            let traces_paths = r.overrides.integrator.unwrap_or(r.scene.integrator) == Integrator::Path;
            let black = ("baseColorFactor".to_string(), ParamValue::Color(vec![Vec3::ZERO]));
            let glow = ("emissiveFactor".to_string(), ParamValue::Color(vec![radiance * color]));
            let shader = MATERIALS[usize::from(traces_paths)];
            return set_surface(r, args, handle, Surface { shader, params: vec![black, glow] });
        }
        "PxrDomeLight" | "PxrEnvDayLight" | "PxrEnvMapLight" | "PxrStdEnvMapLight" => {
            ("envlight", "an environment light", 1.0)
        }
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
    let shader = add(r, args, ShaderRole::Light, shader, params)?;
    let index = r.scene.lights.len() as u32;
    if r.scene.lights.len() >= MAX_LIGHTS {
        r.fatal(args.error(format!("more than {MAX_LIGHTS} lights in one scene")));
        return Ok(());
    }
    let shadows = r.state.attributes.shadows;
    r.scene.lights.push(Light { shader, handle: handle.clone(), shadows, area: false });
    r.lights.handles.insert(handle, index);
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
    kind: ShaderRole,
    shader: &str,
    params: Vec<(String, ParamValue)>,
) -> Result<ShaderId, Diagnostic> {
    if !keep(r, args, bytes_of_instance(&params)) {
        return Err(args.error(NO_ROOM));
    }
    let (shader, to_world, span) = (ShaderRef::new(shader), r.state.transform, Some(args.whole_span()));
    Ok(r.add_shader(ShaderInstance { kind, shader, params, to_world, span, objects: Arc::default() }))
}
