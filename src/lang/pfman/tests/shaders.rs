//! Shaders: their parameters, predefined variables, and outputs.

use super::*;
use crate::types::{SourceType, StorageClass};
use shadewright_ir::abi::ShaderKind;

/// The light of figure 4.1, with the seed's names.
const LIGHT: &str = "light simple_light(
    uniform float px_light_diffuse[3] = {0.99, 0.99, 0.99},
    uniform float px_light_position[3] = {.408, -.408, .816},
    output varying Color px_rc_cl[3],
    output varying Short px_rc_l[3])
{
    px_rc_cl = px_light_diffuse;
    px_rc_l = px_light_position;
}";

#[test]
fn the_light_of_the_figure_shines_from_far_away() {
    let unit = unit(LIGHT);
    let light = &unit.shaders[0];
    assert_eq!((light.kind, light.light), (ShaderKind::Light, Some(LightKind::Directional)));
    let params: Vec<(&str, SourceType, StorageClass)> =
        light.params.iter().map(|p| (&*p.name, p.ty, p.class)).collect();
    let expected = [
        ("px_light_diffuse", SourceType::Color, StorageClass::Uniform),
        ("px_light_position", SourceType::Color, StorageClass::Uniform),
    ];
    assert_eq!(params, expected);
    let vectors = [[0.99; 3], [0.408, -0.408, 0.816]].map(Const::Vec3);
    let results = eval(&unit.module, "simple_light", &vectors, &mut EmptyWorld, Limits::default()).expect("it runs");
    let fixed = |x: f64, exponent: i32| (x * 2f64.powi(exponent)).trunc() / 2f64.powi(exponent);
    // The direction that light takes is the opposite of that towards it.
    let direction = [-0.408f32, 0.408, -0.816].map(|x| -fixed(f64::from(-x), 8));
    assert_eq!(numbers(&results[0]), direction);
    assert_eq!(numbers(&results[1]), [fixed(f64::from(0.99f32), 8); 3]);
}

#[test]
fn lights_that_read_the_place_that_is_lit_are_positional() {
    let unit = unit(
        "light near() { L = Ps - {0, 1, 0}; Cl = {1, 1, 1}; }
         light everywhere() { Cl = {1, 1, 1}; }
         light far() { px_rc_l = {0, 0, 1}; px_rc_cl = {1, 1, 1}; }",
    );
    let kinds: Vec<_> = unit.shaders.iter().map(|s| s.light).collect();
    assert_eq!(kinds, [Some(LightKind::Positional), Some(LightKind::Ambient), Some(LightKind::Directional)]);
}

#[test]
fn variables_of_the_renderer_are_declared_or_found() {
    let declared = "surface s(varying fixed<15,13> px_shader_texcoord[2], output varying Color px_rc_co[3]) {
        px_rc_co = {px_shader_texcoord[0], px_shader_texcoord[1], 0};
    }";
    let found = "surface s() { Ci = {s, t, 0}; Oi = {1, 1, 1}; }";
    for source in [declared, found] {
        let unit = unit(source);
        assert!(unit.shaders[0].params.is_empty());
        let core = unit.module.function("s").expect("the core");
        let names: Vec<&str> = core.params.iter().map(|p| &*p.name).collect();
        assert!(names.contains(&"s") && names.contains(&"t"), "{names:?}");
        let args: Vec<Const> = core
            .params
            .iter()
            .map(|p| match &*p.name {
                "s" => Const::F32(0.25),
                "t" => Const::F32(0.5),
                _ => Const::Vec3([1.0; 3]),
            })
            .collect();
        let results = eval(&unit.module, "s", &args, &mut EmptyWorld, Limits::default()).expect("it runs");
        assert_eq!(numbers(&results[0]), [0.25, 0.5, 0.0]);
        assert_eq!(numbers(&results[1]), [1.0; 3]);
    }
}

#[test]
fn parameters_are_transformed_and_normalized_before_the_shader_runs() {
    let unit = unit(
        "surface s(
            unit transform_as_vector float v[3] = {0, 0, 2},
            transform_as_point float p[3],
            unit float n[2] = {3, 4},
            transform_as_plane float q[4] = {0, 0, 1, 5},
            transform_as_vector unit float w[3] = {0, 0, 4},
            float map)
        {
            Ci = texture(map, n[0], n[1]) * (v * p) * q[3] * w[2];
        }",
    );
    let types: Vec<SourceType> = unit.shaders[0].params.iter().map(|p| p.ty).collect();
    let floats = |n| SourceType::Float.array(n).expect("an array");
    let expected = [SourceType::Vector, SourceType::Point, floats(2), floats(4), SourceType::Color, SourceType::String];
    assert_eq!(types, expected);
    let default = |name: &str| {
        let results = eval(&unit.module, &format!("s.default.{name}"), &[], &mut EmptyWorld, Limits::default());
        results.expect("it runs").iter().flat_map(numbers).collect::<Vec<f64>>()
    };
    assert_eq!(default("v"), [0.0, 0.0, 2.0]);
    assert_eq!(default("q"), [0.0, 0.0, 1.0, 5.0]);
    ir::verify(&unit.module).expect("the module is sound");
}

#[test]
fn homogeneous_points_and_planes_are_transformed_as_points_and_planes() {
    let source =
        "surface s(transform_as_point float p[4], transform_as_plane float q[4], transform_as_vector unit float w[3]) {
        Ci = {p * q, p[3], w[0]};
        Oi = {p[0], p[1], p[2]};
    }";
    let unit = unit(source);
    let core = unit.module.function("s").expect("the core");
    // A turn, a stretch and a move.
    let axes = [[0.0, 2.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.0, 0.5], [1.0, 2.0, 3.0]];
    let (point, plane) = ([1.0, 2.0, 4.0, 1.0], [0.5, -1.0, 2.0, 3.0]);
    let args: Vec<Const> = core
        .params
        .iter()
        .map(|p| match p.name.split_once('.') {
            Some(("p", i)) => Const::F32(point[i.parse::<usize>().expect("a number")]),
            Some(("q", i)) => Const::F32(plane[i.parse::<usize>().expect("a number")]),
            Some(("space", axis)) => Const::Vec3(
                axes[["shader.x", "shader.y", "shader.z", "shader.o"]
                    .iter()
                    .position(|a| *a == axis)
                    .expect("an axis")],
            ),
            _ if *p.name == *"w" => Const::Vec3([0.0, 5.0, 0.0]),
            _ => Const::Vec3([1.0; 3]),
        })
        .collect();
    let results = eval(&unit.module, "s", &args, &mut EmptyWorld, Limits::default()).expect("it runs");
    let before: f32 = point.iter().zip(&plane).map(|(a, b)| a * b).sum();
    let got = numbers(&results[0]);
    assert!((got[0] - f64::from(before)).abs() < 1e-5, "{got:?}");
    assert_eq!(got[1..], [1.0, -3.0]);
    // x axis + 2 y axes + 4 z axes + origin.
    assert_eq!(numbers(&results[1]), [1.0 - 6.0, 2.0 + 2.0, 3.0 + 2.0]);
}

#[test]
fn headers_come_with_the_language() {
    let source =
        "#include \"pfman.h\"\n#include <pfman_types.h>\nsurface s() { uInt1 n = 3; Point p = {1, 2, 3}; Ci = p * n; }";
    assert_eq!(unit(source).shaders.len(), 1);
}
