//! Extensions of glTF materials, held to their formulas in f64 (glTF 2.0, appendix B; Khronos,
//! `KHR_materials_*`), under both integrators.

use super::{compared_on, drawn_as, mean};
use serde_json::{Value, json};
use shadewright::scene::{Integrator, OpenOptions};
use std::f64::consts::PI;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Of the directional light, in lux.
const LUX: f64 = 2.0;

type Color = [f64; 3];
type Vector = [f64; 3];

/// A scene in its folder.
struct Scene {
    folder: TempDir,
    document: Value,
    data: Vec<u8>,
}

impl Scene {
    /// A light along a direction turned by `tilt` from the view, about y, and a camera that looks
    /// along -z at what is added.
    fn new(tilt: f64) -> Self {
        let (sin, cos) = (0.5 * tilt).sin_cos();
        let document = json!({
            "asset": { "version": "2.0" },
            "extensions": { "KHR_lights_punctual": { "lights": [{ "type": "directional", "intensity": LUX }] } },
            "cameras": [{ "type": "orthographic", "orthographic": { "xmag": 0.3, "ymag": 0.3, "znear": 0.1, "zfar": 20 } }],
            "nodes": [
                { "camera": 0, "translation": [0, 0, 5] },
                { "rotation": [0, sin, 0, cos], "extensions": { "KHR_lights_punctual": { "light": 0 } } }
            ],
            "materials": [], "meshes": [], "accessors": [], "bufferViews": []
        });
        Scene { folder: tempfile::tempdir().expect("a folder"), document, data: Vec::new() }
    }

    fn list(&mut self, name: &str) -> &mut Vec<Value> {
        self.document[name].as_array_mut().expect("a list")
    }

    fn accessor(&mut self, values: &[f32], ty: &str, count: usize) -> usize {
        let view = json!({ "buffer": 0, "byteOffset": self.data.len(), "byteLength": 4 * values.len() });
        self.data.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        self.list("bufferViews").push(view);
        let number = self.list("accessors").len();
        let accessor = json!({ "bufferView": number, "componentType": 5126, "type": ty, "count": count });
        self.list("accessors").push(accessor);
        number
    }

    /// Adds a square of half this size at z that faces the camera, or away from it.
    fn square(mut self, half: f32, z: f32, faces_camera: bool, material: Value) -> Self {
        let mut corners = [[-half, -half], [half, -half], [half, half], [-half, -half], [half, half], [-half, half]];
        if !faces_camera {
            corners.reverse();
        }
        let points: Vec<f32> = corners.iter().flat_map(|[x, y]| [*x, *y, z]).collect();
        let uv: Vec<f32> = corners.iter().flat_map(|[x, y]| [0.5 + 0.5 * x / half, 0.5 - 0.5 * y / half]).collect();
        let (points, uv) = (self.accessor(&points, "VEC3", 6), self.accessor(&uv, "VEC2", 6));
        let number = self.list("meshes").len();
        self.list("materials").push(material);
        self.list("meshes").push(
            json!({ "primitives": [{ "attributes": { "POSITION": points, "TEXCOORD_0": uv }, "material": number }] }),
        );
        self.list("nodes").push(json!({ "mesh": number }));
        self
    }

    /// Adds a texture of one texel of sRGB or data.
    fn texel(mut self, rgba: [u8; 4]) -> Self {
        let number = self.document["images"].as_array().map_or(0, Vec::len);
        let name = format!("texel{number}.png");
        let path = self.folder.path().join(&name);
        image::RgbaImage::from_pixel(2, 2, image::Rgba(rgba)).save(path).expect("the folder can be written");
        for (list, item) in [("images", json!({ "uri": name })), ("textures", json!({ "source": number }))] {
            match self.document[list].as_array_mut() {
                Some(list) => list.push(item),
                None => self.document[list] = json!([item]),
            }
        }
        self
    }

    fn write(&mut self) -> PathBuf {
        fs::write(self.folder.path().join("data.bin"), &self.data).expect("the folder can be written");
        self.document["buffers"] = json!([{ "uri": "data.bin", "byteLength": self.data.len() }]);
        let path = self.folder.path().join("scene.gltf");
        fs::write(&path, self.document.to_string()).expect("the folder can be written");
        path
    }

    /// The mean color of the image, by an integrator.
    fn color(&mut self, integrator: Integrator, samples: u32) -> Color {
        let path = self.write();
        let options = OpenOptions { integrator: Some(integrator), size: Some((8, 8)), ..OpenOptions::default() };
        mean(&drawn_as(&path, &options, samples, [0]).remove(0))
    }

    /// Both integrators draw this color, without noise as a delta light is all that there is.
    fn shows(&mut self, what: &str, expected: Color) {
        for integrator in [Integrator::Whitted, Integrator::Path] {
            let found = self.color(integrator, 4);
            for (found, expected) in found.iter().zip(expected) {
                let error = (found - expected).abs();
                assert!(error < 2e-4 + 3e-3 * expected, "{what}, {integrator:?}: {found}, not {expected}");
            }
        }
    }
}

/// A material with one extension or more; the base has this color, metallic and roughness.
fn material(base: Color, metallic: f64, roughness: f64, extensions: Value) -> Value {
    let [r, g, b] = base;
    json!({
        "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1], "metallicFactor": metallic, "roughnessFactor": roughness },
        "extensions": extensions
    })
}

fn dot(a: Vector, b: Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The direction to the light, and the half vector; the view is along z.
fn directions(tilt: f64) -> [Vector; 2] {
    let light = [tilt.sin(), 0.0, tilt.cos()];
    let sum = [light[0], 0.0, light[2] + 1.0];
    let length = dot(sum, sum).sqrt();
    [light, sum.map(|x| x / length)]
}

/// Microfacets: distribution and visibility, with a roughness for each of x and y.
fn microfacets(tilt: f64, alpha: [f64; 2]) -> f64 {
    let [l, h] = directions(tilt);
    let k = (h[0] / alpha[0]).powi(2) + (h[1] / alpha[1]).powi(2) + h[2] * h[2];
    let d = 1.0 / (PI * alpha[0] * alpha[1] * k * k);
    let side = |v: Vector| ((alpha[0] * v[0]).powi(2) + (alpha[1] * v[1]).powi(2) + v[2] * v[2]).sqrt();
    d * 0.5 / (l[2] * side([0.0, 0.0, 1.0]) + side(l))
}

fn schlick(f0: f64, cosine: f64) -> f64 {
    f0 + (1.0 - f0) * (1.0 - cosine).powi(5)
}

fn largest(c: Color) -> f64 {
    c.into_iter().fold(0.0, f64::max)
}

#[test]
fn index_of_refraction_and_specular_color_set_the_reflectance() {
    let (ior, weight, tint, base) = (1.8f64, 0.6, [1.0, 0.5, 0.25], [0.5, 0.4, 0.3]);
    let extensions = json!({
        "KHR_materials_ior": { "ior": ior },
        "KHR_materials_specular": { "specularFactor": weight, "specularColorFactor": tint }
    });
    let f0 = ((ior - 1.0) / (ior + 1.0)).powi(2);
    let lobe = microfacets(0.0, [0.16; 2]);
    let f = tint.map(|t| weight * f0 * t);
    let expected = [0, 1, 2].map(|i| LUX * ((1.0 - largest(f)) * base[i] / PI + f[i] * lobe));
    let plate = Scene::new(0.0).square(1.0, 0.0, true, material(base, 0.0, 0.4, extensions));
    { plate }.shows("specular", expected);
}

#[test]
fn textures_of_the_extensions_multiply_their_factors() {
    // A texel of 188 is 0.503 of light.
    let srgb = |x: u8| ((f64::from(x) / 255.0 + 0.055) / 1.055).powf(2.4);
    let extensions = json!({
        "KHR_materials_specular": { "specularTexture": { "index": 0 }, "specularColorTexture": { "index": 1 } },
        "KHR_materials_clearcoat": {
            "clearcoatFactor": 1.0, "clearcoatTexture": { "index": 2 },
            "clearcoatRoughnessFactor": 0.8, "clearcoatRoughnessTexture": { "index": 2 }
        }
    });
    let mut scene = Scene::new(0.0)
        .texel([10, 20, 30, 128])
        .texel([255, 188, 100, 255])
        .texel([102, 204, 7, 255])
        .square(1.0, 0.0, true, material([0.5; 3], 0.0, 0.5, extensions));
    let weight = 128.0 / 255.0;
    let tint = [255, 188, 100].map(srgb);
    let f = tint.map(|t| weight * 0.04 * t);
    let (coat, rough) = (102.0 / 255.0, 0.8 * 204.0 / 255.0);
    let (lobe, coat_lobe) = (microfacets(0.0, [0.25; 2]), microfacets(0.0, [rough * rough; 2]));
    let expected = [0, 1, 2].map(|i| {
        let base = (1.0 - largest(f)) * 0.5 / PI + f[i] * lobe;
        LUX * (base * (1.0 - coat * 0.04) + coat * 0.04 * coat_lobe)
    });
    scene.shows("textures", expected);
}

#[test]
fn a_clear_coat_adds_a_lobe_and_takes_its_light_from_the_base_and_emission() {
    let (coat, rough) = (0.8, 0.3);
    let coated = |name: &str| json!({ "KHR_materials_clearcoat": { name: coat, "clearcoatRoughnessFactor": rough } });
    let base = [0.6, 0.3, 0.2];
    let mut own = material(base, 0.0, 0.6, coated("clearcoatFactor"));
    own["emissiveFactor"] = json!([0.5, 0.0, 0.0]);
    let (lobe, coat_lobe) = (microfacets(0.0, [0.36; 2]), microfacets(0.0, [rough * rough; 2]));
    let expected = [0, 1, 2].map(|i| {
        let inner = LUX * (0.96 * base[i] / PI + 0.04 * lobe) + if i == 0 { 0.5 } else { 0.0 };
        inner * (1.0 - coat * 0.04) + LUX * coat * 0.04 * coat_lobe
    });
    Scene::new(0.0).square(1.0, 0.0, true, own).shows("clear coat", expected);
    // Without a factor there is no coat, and the material keeps its shader.
    let plain = [0, 1, 2].map(|i| LUX * (0.96 * base[i] / PI + 0.04 * lobe));
    let own = material(base, 0.0, 0.6, coated("unknownFactor"));
    Scene::new(0.0).square(1.0, 0.0, true, own).shows("no coat", plain);
}

/// The sheen of Estevez and Kulla 2017, for two directions.
fn sheen(v: Vector, l: Vector, alpha: f64) -> f64 {
    let fit = |x: f64| {
        let k = (1.0 - alpha).powi(2);
        let mix = |a: f64, b: f64| a + (b - a) * k;
        let [a, b, c] = [mix(21.5473, 25.3245), mix(3.82987, 3.32435), mix(0.19823, 0.16801)];
        a / (1.0 + b * x.powf(c)) + mix(-1.9776, -1.27393) * x + mix(-4.32054, -4.85967)
    };
    let lambda = |x: f64| if x < 0.5 { fit(x).exp() } else { (2.0 * fit(0.5) - fit(1.0 - x)).exp() };
    let h = [0, 1, 2].map(|i| v[i] + l[i]);
    let cosine = h[2] / dot(h, h).sqrt();
    let d = (2.0 + 1.0 / alpha) * (1.0 - cosine * cosine).max(0.0).powf(0.5 / alpha) / (2.0 * PI);
    d / ((1.0 + lambda(v[2]) + lambda(l[2])) * 4.0 * v[2] * l[2])
}

/// The directional albedo of the sheen along the normal.
fn albedo_of_sheen(alpha: f64) -> f64 {
    let steps = 2000;
    let term = |i: u32| {
        let z = (f64::from(i) + 0.5) / f64::from(steps);
        sheen([0.0, 0.0, 1.0], [(1.0 - z * z).sqrt(), 0.0, z], alpha) * z
    };
    (0..steps).map(term).sum::<f64>() * 2.0 * PI / f64::from(steps)
}

#[test]
fn sheen_scales_the_base_by_its_albedo_and_adds_its_lobe() {
    let (color, roughness) = ([0.9, 0.5, 0.2], 0.8f64);
    let extension = json!({ "KHR_materials_sheen": { "sheenColorFactor": color, "sheenRoughnessFactor": roughness } });
    let alpha = roughness * roughness;
    // Along the normal the lobe is black.
    let lobe = microfacets(0.0, [0.25; 2]);
    let left = 1.0 - largest(color) * albedo_of_sheen(alpha);
    let expected = [0.96 * 0.7 / PI + 0.04 * lobe; 3].map(|x| LUX * left * x);
    let plate = |base: f64, tilt: f64, more: Value| {
        let mut extensions = extension.clone();
        extensions.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        Scene::new(tilt).square(1.0, 0.0, true, material([base; 3], 0.0, 0.5, extensions))
    };
    // The fit to the albedo is 0.012 beside it at most.
    let found = plate(0.7, 0.0, json!({})).color(Integrator::Path, 4);
    let most = 0.012 * largest(color) * expected[0] / left;
    assert!((found[0] - expected[0]).abs() < most, "{}, not {}", found[0], expected[0]);
    let same = plate(0.7, 0.0, json!({})).color(Integrator::Whitted, 4);
    assert!((found[0] - same[0]).abs() < 1e-5, "{same:?} and {found:?}");
    let tilt = 0.9f64;
    let [l, _] = directions(tilt);
    let expected = color.map(|c| LUX * tilt.cos() * c * sheen([0.0, 0.0, 1.0], l, alpha));
    plate(0.0, tilt, json!({ "KHR_materials_specular": { "specularFactor": 0 } })).shows("sheen", expected);
}

#[test]
fn anisotropy_is_rougher_along_its_direction() {
    let (strength, roughness, tilt) = (0.7f64, 0.4f64, 0.6f64);
    let rough = roughness * roughness;
    let along = rough + (1.0 - rough) * strength * strength;
    let [_, h] = directions(tilt);
    for (rotation, alpha) in [(0.0, [along, rough]), (PI / 2.0, [rough, along])] {
        let extension =
            json!({ "KHR_materials_anisotropy": { "anisotropyStrength": strength, "anisotropyRotation": rotation } });
        let expected = LUX * tilt.cos() * schlick(0.8, h[2]) * microfacets(tilt, alpha);
        let plate = Scene::new(tilt).square(1.0, 0.0, true, material([0.8; 3], 1.0, roughness, extension));
        { plate }.shows("anisotropy", [expected; 3]);
    }
    // The direction of a texel is turned further, and its blue is a factor of the strength.
    let half = 0.7 * 128.0 / 255.0;
    let along = rough + (1.0 - rough) * half * half;
    let expected = LUX * tilt.cos() * schlick(0.8, h[2]) * microfacets(tilt, [along, rough]);
    let extension = json!({ "KHR_materials_anisotropy": {
        "anisotropyStrength": strength, "anisotropyRotation": PI / 2.0, "anisotropyTexture": { "index": 0 }
    } });
    let plate = Scene::new(tilt).texel([128, 0, 128, 255]).square(
        1.0,
        0.0,
        true,
        material([0.8; 3], 1.0, roughness, extension),
    );
    { plate }.shows("anisotropy of a texture", [expected; 3]);
}

/// The Fresnel reflectance of a thin film (KHR_materials_iridescence, "Iridescence Fresnel").
fn film(index: f64, thickness: f64, f0: f64, cosine: f64, channel: usize) -> f64 {
    let matrix =
        [[3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560], [0.0556434, -0.2040259, 1.0572252]];
    let sensitivity = |opd: f64, shift: f64| {
        let phase = 2.0 * PI * opd * 1e-9;
        let wave = |value: f64, position: f64, variance: f64| {
            let size = value * (2.0 * PI * variance).sqrt();
            size * (position * phase + shift).cos() * (-phase * phase * variance).exp()
        };
        let x = wave(5.4856e-13, 1.6810e6, 4.3278e9) + wave(9.7470e-14, 2.2399e6, 4.5282e9);
        let xyz = [x, wave(4.4201e-13, 1.7953e6, 9.3046e9), wave(5.2481e-13, 2.2084e6, 6.6121e9)];
        dot(matrix[channel], xyz) / 1.0685e-7
    };
    let reflectance = |a: f64, b: f64| ((a - b) / (a + b)).powi(2);
    let inner = (1.0 - (1.0 - cosine * cosine) / (index * index)).sqrt();
    let r12 = schlick(reflectance(index, 1.0), cosine);
    let t121 = 1.0 - r12;
    let root = (f0 + 0.0001).sqrt();
    let base = (1.0 + root) / (1.0 - root);
    let r23 = schlick(reflectance(base, index), inner);
    let shift = PI + if base < index { PI } else { 0.0 };
    let opd = 2.0 * index * thickness * inner;
    let r123 = (r12 * r23).clamp(1e-5, 0.9999);
    let rs = t121 * t121 * r23 / (1.0 - r123);
    let mut sum = r12 + rs;
    let mut amplitude = rs - t121;
    for m in 1..=2 {
        amplitude *= r123.sqrt();
        sum += amplitude * 2.0 * sensitivity(f64::from(m) * opd, f64::from(m) * shift);
    }
    sum.max(0.0)
}

#[test]
fn iridescence_has_the_colors_of_a_thin_film() {
    // The sensitivity mixes channels of base reflectances, which are therefore gray here.
    let (factor, index, thickness, tilt) = (0.8, 1.4, 420.0, 0.5f64);
    let extension = json!({ "KHR_materials_iridescence": {
        "iridescenceFactor": factor, "iridescenceIor": index, "iridescenceThicknessMaximum": thickness
    } });
    let [_, h] = directions(tilt);
    let lobe = microfacets(tilt, [0.25; 2]);
    let f = |f0: f64, i: usize| (1.0 - factor) * schlick(f0, h[2]) + factor * film(index, thickness, f0, h[2], i);
    let metal = [0, 1, 2].map(|i| LUX * tilt.cos() * lobe * f(0.6, i));
    let plate = |metallic: f64, base: f64, tilt: f64| {
        Scene::new(tilt).square(1.0, 0.0, true, material([base; 3], metallic, 0.5, extension.clone()))
    };
    plate(1.0, 0.6, tilt).shows("film on metal", metal);
    let f = |i: usize| (1.0 - factor) * 0.04 + factor * film(index, thickness, 0.04, 1.0, i);
    let all = [0, 1, 2].map(f);
    let lobe = microfacets(0.0, [0.25; 2]);
    let plastic = all.map(|f| LUX * ((1.0 - largest(all)) * 0.7 / PI + f * lobe));
    plate(0.0, 0.7, 0.0).shows("film on plastic", plastic);
}

/// A lamp behind what is looked at.
fn lamp(scene: Scene, light: Color) -> Scene {
    let lamp = json!({ "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, 1] }, "emissiveFactor": light });
    scene.square(2.0, -3.0, true, lamp)
}

#[test]
fn light_passes_straight_through_a_thin_wall_with_its_tint() {
    let (factor, base, light) = (0.75, [0.9, 0.6, 0.0], [0.8, 1.0, 0.5]);
    let extension = json!({ "KHR_materials_transmission": { "transmissionFactor": factor } });
    // A mirror direction of the light is far from the view, and the pane lets three quarters on.
    let pane = material(base, 0.0, 0.0, extension);
    let mut scene = lamp(Scene::new(1.0).square(1.0, 0.0, true, pane), light);
    let diffuse = |i: usize| LUX * 1.0f64.cos() * (1.0 - factor) * base[i] / PI;
    let [_, h] = directions(1.0);
    let passed = |i: usize| light[i] * factor * base[i] * 0.96;
    for (integrator, samples) in [(Integrator::Whitted, 4), (Integrator::Path, 900)] {
        let found = scene.color(integrator, samples);
        for i in 0..3 {
            // The diffuse part is what energy conservation leaves of glTF's.
            let most = diffuse(i) * (1.0 - schlick(0.04, h[2])) + passed(i);
            let least = diffuse(i) * (1.0 - schlick(0.04, 1.0f64.cos())) + passed(i);
            let noise = if integrator == Integrator::Path { 0.01 } else { 1e-4 };
            assert!(
                (least - noise..=most + noise).contains(&found[i]),
                "{integrator:?}: {found:?}, {i}: {least}..{most}"
            );
        }
    }
}

#[test]
fn light_through_a_thin_wall_lights_what_is_behind_it() {
    let extension = json!({ "KHR_materials_transmission": { "transmissionFactor": 1 } });
    let base = [0.9, 0.5, 0.0];
    // The camera is beside the pane, which is above the floor in the way of the light.
    let mut pane = material(base, 0.0, 0.0, extension);
    pane["doubleSided"] = json!(true);
    let floor = material([1.0; 3], 0.0, 1.0, json!({ "KHR_materials_specular": { "specularFactor": 0 } }));
    let mut scene = Scene::new(0.0).square(9.0, -3.0, true, floor).square(1.0, 7.0, true, pane);
    scene.shows("the floor", base.map(|b| LUX / PI * 0.96 * b));
}

#[test]
fn a_rough_thin_wall_scatters_light_around_its_direction() {
    let (base, roughness) = ([0.8, 0.4, 0.2], 0.5f64);
    let extension = json!({ "KHR_materials_transmission": { "transmissionFactor": 1 } });
    // Lit from behind, along the view: the light comes from -z.
    let scene = Scene::new(PI).square(1.0, 0.0, true, material(base, 0.0, roughness, extension));
    let lobe = microfacets(0.0, [roughness * roughness; 2]);
    { scene }.shows("a rough pane", base.map(|b| LUX * 0.96 * b * lobe));
}

#[test]
fn light_through_a_slab_is_absorbed_by_the_way() {
    let (ior, thickness, distance) = (1.5f64, 0.75, 0.5);
    let (color, light, base) = ([0.9, 0.5, 0.2f64], [1.0, 0.8, 0.6], [1.0, 0.9, 0.8]);
    let extensions = json!({
        "KHR_materials_ior": { "ior": ior },
        "KHR_materials_transmission": { "transmissionFactor": 1 },
        "KHR_materials_volume": { "thicknessFactor": 0.1, "attenuationColor": color, "attenuationDistance": distance }
    });
    let glass = material(base, 0.0, 0.0, extensions);
    let slab = Scene::new(1.0).square(2.0, 0.0, true, glass.clone()).square(2.0, -thickness as f32, false, glass);
    let mut scene = lamp(slab, light);
    let f = 0.04;
    let passed = [0, 1, 2].map(|i| color[i].powf(thickness / distance));
    let once = [0, 1, 2].map(|i| light[i] * ((1.0 - f) * base[i]).powi(2) * passed[i]);
    // Paths find light that is reflected within the slab as well.
    let all = [0, 1, 2].map(|i| once[i] / (1.0 - (f * passed[i]).powi(2)));
    let shaded = scene.color(Integrator::Whitted, 4);
    let followed = scene.color(Integrator::Path, 900);
    for i in 0..3 {
        assert!((shaded[i] / once[i] - 1.0).abs() < 1e-3, "{shaded:?}, not {once:?}");
        assert!((followed[i] / all[i] - 1.0).abs() < 0.01, "{followed:?}, not {all:?}");
    }
}

/// One pane of every layer.
fn all_layers(transmission: Value, volume: Value) -> Scene {
    let mut extensions = json!({
        "KHR_materials_ior": { "ior": 1.4 },
        "KHR_materials_specular": { "specularColorFactor": [1, 0.8, 0.6] },
        "KHR_materials_clearcoat": { "clearcoatFactor": 0.5, "clearcoatRoughnessFactor": 0.2, "clearcoatNormalTexture": { "index": 0 } },
        "KHR_materials_sheen": { "sheenColorFactor": [0.2, 0.3, 0.1], "sheenRoughnessFactor": 0.5 },
        "KHR_materials_anisotropy": { "anisotropyStrength": 0.4, "anisotropyRotation": 0.3 },
        "KHR_materials_iridescence": { "iridescenceFactor": 0.5 }
    });
    for (name, value) in [("KHR_materials_transmission", transmission), ("KHR_materials_volume", volume)] {
        if !value.is_null() {
            extensions[name] = value;
        }
    }
    let pane = material([0.8, 0.7, 0.6], 0.2, 0.4, extensions);
    lamp(Scene::new(0.4).texel([140, 120, 240, 255]).square(0.25, 0.0, true, pane), [0.5, 0.6, 0.7])
}

#[test]
fn both_back_ends_see_the_same_layers() {
    let mut opaque = all_layers(Value::Null, Value::Null);
    let path = opaque.write();
    compared_on("wavefront", &path, &["--integrator", "path"]);
    compared_on("wavefront", &path, &["--integrator", "whitted"]);
}

#[test]
fn both_back_ends_see_the_same_through_volumes() {
    let volume = json!({ "thicknessFactor": 1, "attenuationColor": [0.5, 0.7, 0.9], "attenuationDistance": 1 });
    let glass = json!({
        "KHR_materials_transmission": { "transmissionFactor": 0.9 },
        "KHR_materials_volume": volume
    });
    let glass = material([1.0, 0.9, 0.8], 0.0, 0.0, glass);
    let slab = Scene::new(0.4).square(0.25, 0.0, true, glass.clone()).square(0.25, -0.5, false, glass);
    let mut scene = lamp(slab, [0.5, 0.6, 0.7]);
    let path = scene.write();
    compared_on("wavefront", &path, &["--integrator", "path"]);
}
