//! Proofs for the physically based materials: they keep energy, light may go either way, and
//! samples lie as their densities say.

mod material;
mod measured;

use material::{Material, Sample, View, object, with_layers, without_images};
use measured::{Measured, Random};
use shadewright::ir::Const;
use std::sync::LazyLock;

const WHITE: Const = Const::Vec3([1.0; 3]);
const BLACK: Const = Const::Vec3([0.0; 3]);

fn gray(x: f32) -> Const {
    Const::Vec3([x; 3])
}

/// A material with what is expected of it.
struct Case {
    material: Material,
    /// True if all light that arrives leaves again.
    is_lossless: bool,
    /// True if it has another side.
    is_glass: bool,
}

fn case(name: &'static str, class: &str, given: &[(&str, Const)]) -> Case {
    let material = Material::new(name, &object(class, Vec::new()), given);
    Case { material, is_lossless: false, is_glass: class.ends_with("Glass") }
}

/// A material of a glTF scene without images.
fn scene_of_gltf(name: &'static str, given: &[(&str, Const)]) -> Case {
    Case { material: gltf_material(name, given), is_lossless: false, is_glass: false }
}

fn gltf_material(name: &'static str, given: &[(&str, Const)]) -> Material {
    Material::new(name, &without_images("GltfScene"), given)
}

/// A material of a glTF scene with these layers, without images. Its base is white plastic.
fn layered(name: &'static str, layers: &[&'static str], given: &[(&'static str, Const)]) -> Case {
    let is_glass = layers.contains(&"transmission");
    Case { material: layered_material(name, layers, given), is_lossless: false, is_glass }
}

fn layered_material(name: &'static str, layers: &[&'static str], given: &[(&'static str, Const)]) -> Material {
    let metallic = ("metallicFactor", Const::F32(0.0));
    let mut all: Vec<(&str, Const)> = layers.iter().map(|layer| (*layer, Const::String("on".into()))).collect();
    all.extend(given.iter().cloned());
    all.extend((!given.iter().any(|g| g.0 == metallic.0)).then_some(metallic));
    Material::new(name, &with_layers("GltfLayered", layers), &all)
}

fn lossless(case: Case) -> Case {
    Case { is_lossless: true, ..case }
}

/// Each class, white where it can be, and as it may be used.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let f = Const::F32;
    let flat = || object("Flat", Vec::new());
    let lambert = || object("Lambert", Vec::new());
    let of = |name, object, given: &[(&str, Const)]| Case {
        material: Material::new(name, &object, given),
        is_lossless: false,
        is_glass: false,
    };
    let mix = |first, second| object("Mix", vec![("first", first), ("second", second)]);
    vec![
        case("black", "Surface", &[]),
        lossless(case("white", "Lambert", &[("diffuse", WHITE)])),
        of(
            "texture",
            object("Lambert", vec![("texture", flat())]),
            &[("diffuse", gray(0.5)), ("texture.tint", gray(0.5))],
        ),
        lossless(case("chalk", "OrenNayar", &[("diffuse", WHITE), ("roughness", f(0.9))])),
        case("clay", "OrenNayar", &[("diffuse", gray(0.6)), ("roughness", f(0.4))]),
        case("Phong's highlight", "Phong", &[("diffuse", BLACK), ("specular", WHITE), ("power", f(20.0))]),
        case("too bright Phong", "Phong", &[("diffuse", gray(0.9)), ("specular", gray(0.9)), ("power", f(8.0))]),
        case("brushed", "Ward", &[("diffuse", BLACK), ("specular", WHITE)]),
        case("Ward over paint", "Ward", &[("diffuse", gray(0.5)), ("specular", gray(0.5)), ("roughness_x", f(0.6))]),
        lossless(case("white velvet", "Velvet", &[("diffuse", WHITE), ("sheen", WHITE)])),
        case("velvet", "Velvet", &[("diffuse", gray(0.1)), ("sheen", gray(0.8)), ("falloff", f(12.0))]),
        lossless(case("mirror", "Mirror", &[("reflectance", WHITE)])),
        case("polished gold", "Conductor", &[("roughness", f(0.0))]),
        case("gold", "Conductor", &[]),
        case("white metal", "Metal", &[("reflectance", WHITE), ("roughness", f(0.4))]),
        case("rough metal", "Metal", &[("reflectance", WHITE), ("roughness", f(1.0))]),
        lossless(case("polished metal", "Metal", &[("reflectance", WHITE), ("roughness", f(0.0))])),
        lossless(case("glass", "Glass", &[])),
        lossless(case("diamond", "Glass", &[("ior", f(2.4))])),
        case("green glass", "Glass", &[("absorption", gray(0.5))]),
        lossless(case("polished glass", "RoughGlass", &[("roughness", f(0.0))])),
        case("rough glass", "RoughGlass", &[("roughness", f(0.5))]),
        case("frosted glass", "RoughGlass", &[("roughness", f(0.8)), ("ior", f(1.33))]),
        case("white plastic", "Gltf", &[("metallicFactor", f(0.0)), ("roughnessFactor", f(0.4))]),
        case("rough plastic", "Gltf", &[("metallicFactor", f(0.0)), ("roughnessFactor", f(1.0))]),
        case("half metal", "Gltf", &[("metallicFactor", f(0.5)), ("roughnessFactor", f(0.5)), ("alpha", f(0.7))]),
        scene_of_gltf("white plastic of glTF", &[("metallicFactor", f(0.0)), ("roughnessFactor", f(0.4))]),
        scene_of_gltf("smooth plastic of glTF", &[("metallicFactor", f(0.0)), ("roughnessFactor", f(0.2))]),
        scene_of_gltf("chalk of glTF", &[("metallicFactor", f(0.0)), ("roughnessFactor", f(1.0))]),
        layered("dense plastic", &[], &[("ior", f(1.8)), ("roughnessFactor", f(0.4))]),
        layered("matt plastic", &[], &[("specularFactor", f(0.5)), ("roughnessFactor", f(0.5))]),
        layered("white gloss", &[], &[("ior", f(0.0)), ("roughnessFactor", f(0.3))]),
        layered(
            "gloss over paint",
            &["specularGlossiness"],
            &[
                ("ior", f(0.0)),
                ("specularColorFactor", gray(0.3)),
                ("baseColorFactor", gray(0.9)),
                ("glossinessFactor", f(0.6)),
            ],
        ),
        layered("clear coat", &["clearcoat"], &[("clearcoatRoughnessFactor", f(0.3))]),
        layered(
            "coated metal",
            &["clearcoat"],
            &[("metallicFactor", f(1.0)), ("roughnessFactor", f(0.5)), ("clearcoatRoughnessFactor", f(0.2))],
        ),
        layered("white sheen", &["sheen"], &[("sheenRoughnessFactor", f(0.5))]),
        layered(
            "fine sheen",
            &["sheen"],
            &[("sheenRoughnessFactor", f(0.3)), ("sheenColorFactor", gray(0.6)), ("roughnessFactor", f(0.6))],
        ),
        layered(
            "brushed glTF",
            &["anisotropy"],
            &[
                ("metallicFactor", f(1.0)),
                ("roughnessFactor", f(0.4)),
                ("anisotropyStrength", f(0.7)),
                ("anisotropyRotation", f(0.5)),
                ("tangent", Const::Vec3([1.0, 0.0, 0.0])),
                ("bitangent", Const::Vec3([0.0, 0.0, 1.0])),
            ],
        ),
        layered("film on plastic", &["iridescence"], &[("roughnessFactor", f(0.4)), ("iridescenceIor", f(1.8))]),
        layered(
            "film on metal",
            &["iridescence"],
            &[
                ("roughnessFactor", f(0.4)),
                ("metallicFactor", f(0.8)),
                ("baseColorFactor", gray(0.7)),
                ("iridescenceThicknessMaximum", f(550.0)),
            ],
        ),
        layered("frosted pane", &["transmission"], &[("roughnessFactor", f(0.5))]),
        layered("milky pane", &["transmission"], &[("roughnessFactor", f(0.6)), ("transmissionFactor", f(0.5))]),
        layered("frosted volume", &["transmission", "volume"], &[("roughnessFactor", f(0.5))]),
        layered(
            "milky volume",
            &["transmission", "volume"],
            &[("roughnessFactor", f(0.4)), ("transmissionFactor", f(0.6)), ("ior", f(1.33))],
        ),
        layered("volume of air", &["transmission", "volume"], &[("roughnessFactor", f(0.4)), ("ior", f(1.0))]),
        layered(
            "everything",
            &["clearcoat", "sheen", "anisotropy", "iridescence", "transmission", "volume"],
            &[
                ("metallicFactor", f(0.2)),
                ("roughnessFactor", f(0.4)),
                ("clearcoatFactor", f(0.8)),
                ("clearcoatRoughnessFactor", f(0.3)),
                ("sheenColorFactor", gray(0.3)),
                ("sheenRoughnessFactor", f(0.6)),
                ("anisotropyStrength", f(0.5)),
                ("tangent", Const::Vec3([1.0, 0.0, 0.0])),
                ("bitangent", Const::Vec3([0.0, 0.0, 1.0])),
                ("iridescenceFactor", f(0.7)),
                ("transmissionFactor", f(0.5)),
            ],
        ),
        of(
            "textured glTF",
            object("Gltf", vec![("baseColorTexture", flat()), ("metallicRoughnessTexture", flat())]),
            &[("baseColorTexture.tint", gray(0.6)), ("metallicRoughnessTexture.tint", gray(0.7))],
        ),
        of(
            "a mirror over white",
            mix(lambert(), object("Mirror", Vec::new())),
            &[("first.diffuse", WHITE), ("second.reflectance", WHITE), ("weight", f(0.3))],
        ),
        of(
            BENT,
            object(
                "Mix",
                vec![("first", object("Metal", vec![])), ("second", object("Bent", vec![])), ("texture", flat())],
            ),
            &[("weight", f(1.0)), ("texture.value", f(0.4)), ("first.roughness", f(0.5))],
        ),
        case("lamp", "Emitter", &[]),
    ]
});

/// The case with a bent normal.
const BENT: &str = "mixed by a texture with a bent one";

/// A case, a view, and what was measured.
struct Measurement {
    case: &'static Case,
    view: View,
    measured: Measured,
}

impl Measurement {
    fn place(&self) -> String {
        format!("{} at {:?}", self.case.material.name, self.view)
    }
}

/// All of them, made once for all tests.
static ALL: LazyLock<Vec<Measurement>> = LazyLock::new(|| {
    let views = [(0.95, false), (0.6, true), (0.2, false)];
    let of_glass = [(0.9, true), (0.5, false)];
    let mut all = Vec::new();
    for case in CASES.iter() {
        let views = views.iter().chain(if case.is_glass { &of_glass[..] } else { &[] });
        for &(cosine, from_inside) in views {
            let view = View { cosine, from_inside };
            all.push(Measurement { case, view, measured: Measured::new(&case.material, &case.material, view) });
        }
    }
    all
});

/// Asks something of all measurements: what it says of those that it does not like.
fn assert_of_all(wrong: impl Fn(&Measurement) -> Option<String>) {
    let found: Vec<String> = ALL.iter().filter_map(|m| Some(format!("{}: {}", m.place(), wrong(m)?))).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn no_material_sends_back_more_light_than_it_gets() {
    assert_of_all(|m| {
        let Measured { albedo, estimate: [estimate, deviation], .. } = m.measured;
        let most = 1.01;
        let is_kept = albedo <= most && estimate <= most + 4.0 * deviation;
        (!is_kept).then(|| format!("{albedo}, {estimate} ± {deviation}"))
    });
}

#[test]
fn lossless_materials_send_back_all_light() {
    assert_of_all(|m| {
        let [estimate, deviation] = m.measured.estimate;
        let is_all = (estimate - 1.0).abs() < 0.002 + 4.0 * deviation && deviation < 0.02;
        (m.case.is_lossless && !is_all).then(|| format!("{estimate} ± {deviation}"))
    });
}

#[test]
fn samples_find_the_light_that_integration_finds() {
    assert_of_all(|m| {
        let Measured { drawn, albedo, scattered: [scattered, deviation], .. } = m.measured;
        let is_same = (scattered - albedo).abs() < 0.003 + 4.0 * deviation;
        // Integration takes the edge of a step for up to a hundredth.
        let is_one = drawn <= 1.01;
        (!is_same || !is_one).then(|| format!("{scattered} ± {deviation}, not {albedo}; {drawn} drawn"))
    });
}

#[test]
fn samples_lie_as_their_densities_say() {
    assert_of_all(|m| {
        let [found, freedom] = m.measured.chi_square;
        let bound = m.measured.bound(ALL.len());
        let fits = found <= bound;
        (!fits).then(|| format!("χ² is {found} with {freedom} degrees of freedom, more than {bound}"))
    });
}

#[test]
fn samples_count_about_alike() {
    assert_of_all(|m| {
        let is_small = m.measured.largest <= 4.5;
        (!is_small).then(|| m.measured.largest.to_string())
    });
}

#[test]
fn densities_of_something_else_are_found_out() {
    let view = View { cosine: 0.6, from_inside: false };
    let find = |name: &str| &CASES.iter().find(|c| c.material.name == name).expect("a case").material;
    let other = |class: &str, given: &[(&str, Const)]| Material::new("wrong", &object(class, Vec::new()), given);
    let wrong = [
        ("white metal", other("Metal", &[("roughness", Const::F32(0.45))])),
        ("white", other("Phong", &[("power", Const::F32(1.0))])),
        ("brushed", other("Ward", &[("diffuse", BLACK), ("roughness_x", Const::F32(0.12))])),
        ("rough glass", other("RoughGlass", &[("roughness", Const::F32(0.5)), ("ior", Const::F32(1.6))])),
        ("velvet", other("Lambert", &[])),
    ];
    for (name, density) in &wrong {
        let measured = Measured::new(find(name), density, view);
        let [found, _] = measured.chi_square;
        assert!(found > measured.bound(ALL.len()), "{name}: χ² is {found}");
    }
}

#[test]
fn light_may_go_either_way() {
    let mut random = Random(1);
    let mut direction = |side: f32| loop {
        let v = [0; 3].map(|_| 2.0 * random.next() - 1.0);
        let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length < 1.0 && v[2].abs() > 0.1 * length {
            let v = v.map(|x| x / length);
            return [v[0], v[1], side * v[2].abs()];
        }
    };
    // Bent normals are no part of what light does (Veach 1997, §5.3).
    for case in CASES.iter().filter(|c| c.material.name != BENT) {
        for i in 0..40 {
            let side = if case.is_glass && i % 2 == 1 { -1.0 } else { 1.0 };
            let (to, from) = (direction(1.0), direction(side));
            let view = View { cosine: to[2], from_inside: i % 4 > 1 };
            // What is straight on passes before the rest is scattered.
            let there = case.material.opacity(view, to) * case.material.value_between(view, to, from);
            let back = case.material.opacity(view, from) * case.material.value_between(view, from, to);
            // Radiance is bundled by refraction (Walter et al. 2007; Veach 1997, §5.2).
            let bundled = if side < 0.0 { case.material.beyond(view).powi(2) } else { 1.0 };
            let (there, back) = (there * bundled, back);
            let error = (there - back).abs();
            assert!(
                error <= 1e-6 + 2e-3 * back.abs(),
                "{}: {there} and {back} for {to:?}, {from:?}",
                case.material.name
            );
        }
    }
}

#[test]
fn glass_reflects_by_fresnel_and_absorbs_along_the_way() {
    let view = |cosine, from_inside| View { cosine, from_inside };
    let sample = |material: &Material, view, u| {
        let Sample { direction, exactly } = material.sample(view, [u, 0.5]);
        (direction[2], exactly)
    };
    let glass = Material::new("glass", &object("Glass", Vec::new()), &[]);
    let (up, counts) = sample(&glass, view(1.0, false), 0.039);
    assert!(up > 0.999 && counts == 1.0, "{up}, {counts}");
    let (down, counts) = sample(&glass, view(1.0, false), 0.041);
    assert!(down < -0.999 && (counts - 1.0 / 2.25).abs() < 1e-5, "{down}, {counts}");
    // Snell: the sine inside is that outside by the index.
    let (down, _) = sample(&glass, view(0.6, false), 0.999);
    assert!((down + (1.0 - (0.8f32 / 1.5).powi(2)).sqrt()).abs() < 1e-5, "{down}");
    // Beyond the critical angle all light stays inside.
    assert!(sample(&glass, view(0.5, true), 0.999).0 > 0.0);
    let dark = Material::new("dark", &object("Glass", Vec::new()), &[("absorption", gray(0.4))]);
    let (_, counts) = sample(&dark, view(0.5, true), 0.999);
    assert!((counts - (-0.4f32 * 1.5).exp()).abs() < 1e-5, "{counts}");
    assert_eq!(sample(&dark, view(0.5, false), 0.0).1, 1.0);
}

#[test]
fn metal_that_is_polished_is_a_mirror_of_its_color() {
    let view = View { cosine: 0.999_999_9, from_inside: false };
    let [eta, k] = [0.2f32, 3.0];
    let given = [("eta", gray(eta)), ("k", gray(k)), ("roughness", Const::F32(0.0))];
    let silver = Material::new("silver", &object("Conductor", Vec::new()), &given);
    let expected = ((eta - 1.0).powi(2) + k * k) / ((eta + 1.0).powi(2) + k * k);
    let Sample { direction, exactly } = silver.sample(view, [0.3, 0.8]);
    assert!((exactly - expected).abs() < 1e-4 && direction[2] > 0.999, "{exactly}, not {expected}");
}

/// glTF 2.0, appendix B, at normal incidence and at 45°.
#[test]
fn materials_of_gltf_have_the_value_of_its_specification() {
    let (metallic, roughness, base) = (0.25f64, 0.6f64, 0.5f64);
    let given = [
        ("metallicFactor", Const::F32(metallic as f32)),
        ("roughnessFactor", Const::F32(roughness as f32)),
        ("baseColorFactor", gray(base as f32)),
    ];
    let material = gltf_material("half metal of glTF", &given);
    for cosine in [1.0f64, 0.5f64.sqrt()] {
        // Light and view lie on both sides of the normal, which is the half vector.
        let view = View { cosine: cosine as f32, from_inside: false };
        let [x, y, z] = view.direction();
        let a2 = roughness.powi(4);
        let d = 1.0 / (std::f64::consts::PI * a2);
        let v = 0.5 / (2.0 * cosine * (a2 + (1.0 - a2) * cosine * cosine).sqrt());
        let fresnel = |f0: f64| f0 + (1.0 - f0) * (1.0 - cosine).powi(5);
        let dielectric = (1.0 - fresnel(0.04)) * base / std::f64::consts::PI + fresnel(0.04) * v * d;
        let expected = (1.0 - metallic) * dielectric + metallic * fresnel(base) * v * d;
        let value = material.value(view, [-x, -y, z]);
        assert!((value / expected - 1.0).abs() < 1e-4, "{value}, not {expected}, at {cosine}");
    }
}

#[test]
fn what_is_transparent_lets_light_straight_on() {
    let given = [("alpha", Const::F32(0.25))];
    let leaf = Material::new("leaf", &object("Gltf", Vec::new()), &given);
    let view = View { cosine: 0.6, from_inside: false };
    let Sample { direction, exactly } = leaf.sample(view, [0.3, 0.5]);
    let straight = view.direction().map(|x| -x);
    assert!(direction.iter().zip(straight).all(|(x, y)| (x - y).abs() < 1e-5), "{direction:?}");
    assert_eq!(exactly, 1.0);
    assert_eq!(leaf.sample(view, [0.2, 0.5]).exactly, 0.0);
}

#[test]
fn lamps_shine_on_the_side_of_their_normal_or_on_both() {
    let front = View { cosine: 0.5, from_inside: false };
    let back = View { cosine: 0.5, from_inside: true };
    let light = Const::Vec3([3.0, 2.0, 1.0]);
    let one = Material::new("one", &object("Emitter", Vec::new()), &[("radiance", light.clone())]);
    assert_eq!((one.emitted(front), one.emitted(back)), ([3.0, 2.0, 1.0], [0.0; 3]));
    let given = [("radiance", light.clone()), ("one_sided", Const::F32(0.0))];
    let both = Material::new("both", &object("Emitter", Vec::new()), &given);
    assert_eq!(both.emitted(back), [3.0, 2.0, 1.0]);
    let glowing = Material::new("glTF", &object("Gltf", Vec::new()), &[("emissiveFactor", light.clone())]);
    assert_eq!(glowing.emitted(front), [3.0, 2.0, 1.0]);
    let children = vec![("first", object("Emitter", Vec::new())), ("second", object("Lambert", Vec::new()))];
    let mixed =
        Material::new("mixed", &object("Mix", children), &[("first.radiance", light), ("weight", Const::F32(0.75))]);
    assert_eq!(mixed.emitted(front), [0.75, 0.5, 0.25]);
}

#[test]
fn the_opacity_of_a_mix_is_that_of_its_parts_and_each_part_counts_by_its_own() {
    let veil = ("first.dissolve", Const::F32(0.2));
    let weight = ("weight", Const::F32(0.75));
    let children = || vec![("first", without_images("Mtl")), ("second", object("Lambert", Vec::new()))];
    let mixed = Material::new("mixed", &object("Mix", children()), &[veil, weight.clone()]);
    let opaque = Material::new("opaque", &object("Mix", children()), &[weight]);
    let first = Material::new("first", &without_images("Mtl"), &[]);
    let second = Material::new("second", &object("Lambert", Vec::new()), &[]);
    let view = View { cosine: 0.7, from_inside: false };
    let opacity = |material: &Material| material.opacity(view, view.direction());
    assert!((opacity(&mixed) - (0.25 * 0.2 + 0.75)).abs() < 1e-6, "{}", opacity(&mixed));
    assert_eq!(opacity(&opaque), 1.0);
    for direction in [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [-0.48, 0.8, 0.36]] {
        let [one, other] = [&first, &second].map(|material| material.value(view, direction));
        let passed = f64::from(opacity(&mixed)) * mixed.value(view, direction);
        assert!((passed - (0.25 * 0.2 * one + 0.75 * other)).abs() < 1e-6, "{passed}: {one} and {other}");
        let passed = opaque.value(view, direction);
        assert!((passed - (0.25 * one + 0.75 * other)).abs() < 1e-6, "{passed}: {one} and {other}");
    }
    let veil = ("material.dissolve", Const::F32(0.2));
    let bumps = object("Relief", vec![("material", without_images("Mtl"))]);
    assert!((opacity(&Material::new("bumps", &bumps, &[veil])) - 0.2).abs() < 1e-6);
}

#[test]
fn specular_glossiness_has_the_values_of_its_formulas() {
    let (diffuse, f0, glossiness) = (0.6, 0.3, 0.4);
    let material = |diffuse: f32| {
        let given = [
            ("ior", Const::F32(0.0)),
            ("baseColorFactor", gray(diffuse)),
            ("specularColorFactor", gray(f0)),
            ("glossinessFactor", Const::F32(glossiness)),
        ];
        layered_material("specular-glossiness", &["specularGlossiness"], &given)
    };
    let alpha = f64::from((1.0 - glossiness) * (1.0 - glossiness));
    // The microfacets of glTF 2.0, appendix B.
    let specular = |v: [f64; 3], l: [f64; 3]| {
        let sum: [f64; 3] = std::array::from_fn(|i| v[i] + l[i]);
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let h = sum.map(|x| x / dot(sum, sum).sqrt());
        let a2 = alpha * alpha;
        let d = a2 / (std::f64::consts::PI * (h[2] * h[2] * (a2 - 1.0) + 1.0).powi(2));
        let root = |z: f64| (a2 + (1.0 - a2) * z * z).sqrt();
        let visible = 0.5 / (l[2] * root(v[2]) + v[2] * root(l[2]));
        (f64::from(f0) + (1.0 - f64::from(f0)) * (1.0 - dot(v, h)).powi(5)) * d * visible
    };
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4 * expected, "{value}, {expected}");
    for cosine in [1.0, 0.7, 0.3] {
        let view = View { cosine, from_inside: false };
        for direction in [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [-0.48, 0.8, 0.36]] {
            let expected = specular(view.direction().map(f64::from), direction.map(f64::from));
            near(material(0.0).value(view, direction), expected);
        }
    }
    // At normal incidence what is not reflected enters, and the diffuse reflectance is less by it.
    let (view, up) = (View { cosine: 1.0, from_inside: false }, [0.0, 0.0, 1.0]);
    let paint = f64::from(diffuse * (1.0 - f0)) * (1.0 - f64::from(f0)) / std::f64::consts::PI;
    near(material(diffuse).value(view, up), paint + specular([0.0, 0.0, 1.0], [0.0, 0.0, 1.0]));
}
