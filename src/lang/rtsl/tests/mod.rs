//! The meaning of the language: expressions and statements by their values, errors by their
//! messages, and the listings of the paper as they are printed.

use super::state::Method;
use super::*;
use shadewright_ir::eval::{EmptyWorld, Limits, eval};
use shadewright_ir::{Const, Type};

mod errors;
mod listings;
mod objects;

/// Compiles a text.
fn compiled(text: &str) -> Result<Unit, (Diagnostics, SourceMap)> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.rtsl", None, text);
    compile(&mut sources, file, &PreprocessOptions::default()).map_err(|diags| (diags, sources))
}

/// Compiles a text that has no errors.
fn good(text: &str) -> Unit {
    compiled(text).unwrap_or_else(|(diags, sources)| panic!("{}", diags.render(&sources)))
}

/// The messages of a text that has errors.
fn messages(text: &str) -> Vec<String> {
    match compiled(text) {
        Ok(_) => Vec::new(),
        Err((diags, _)) => diags.iter().map(|d| d.message.clone()).collect(),
    }
}

/// An object of a class that refers to nothing.
fn alone(unit: &Unit, class: &str) -> Object {
    Object::alone(&unit.file, unit.file.class(class).expect("the class"))
}

/// The results of a method: those of the core, where inputs have the values that are given by name,
/// and are zero without.
fn run(unit: &Unit, object: &Object, method: Method, inputs: &[(&str, Const)]) -> Vec<Const> {
    let built = build(object, method, &unit.library, "core").unwrap_or_else(|d| panic!("{d:?}"));
    let core = built.module.function(&built.core).expect("the core");
    let given = |name: &str| inputs.iter().find(|i| i.0 == name).map(|i| i.1.clone());
    let args: Vec<Const> = core.params.iter().map(|p| given(&p.name).unwrap_or_else(|| Const::zero(p.ty))).collect();
    for (arg, p) in args.iter().zip(&core.params) {
        assert_eq!(arg.ty(), p.ty, "{}", p.name);
    }
    shadewright_ir::verify::verify(&built.module).unwrap_or_else(|e| panic!("{e:?}"));
    eval(&built.module, &built.core, &args, &mut EmptyWorld, Limits::default()).expect("it ends")
}

/// The value of `r` after statements.
fn after(statements: &str) -> f32 {
    let text = format!(
        "struct Pair {{ vec2 a; float b[2]; }};
         float twice(float x) {{ return 2. * x; }}
         vec2 twice(vec2 x) {{ return 2. * x; }}
         void swap(inout float a, inout float b) {{ float t = a; a = b; b = t; }}
         void divide(float x, out float half, out float third) {{ half = x / 2.; third = x / 3.; }}
         float early(float x) {{ for (int i = 0; i < 10; i++) {{ if (float(i) > x) return float(i); }} return -1.; }}
         class T : rt_Texture;
         void lookup() {{ float r = 0.; {statements} rt_FloatTextureValue = r; }}"
    );
    let unit = good(&text);
    let object = alone(&unit, "T");
    match run(&unit, &object, Method::Lookup, &[]).as_slice() {
        [_, Const::F32(x)] => *x,
        other => panic!("{other:?}"),
    }
}

/// The value of an expression.
fn value(e: &str) -> f32 {
    after(&format!("r = float({e});"))
}

fn assert_values(cases: &[(&str, f32)]) {
    for (e, expected) in cases {
        let x = value(e);
        assert!((x - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{e} is {x}, not {expected}");
    }
}

#[test]
fn operators_join_numbers_vectors_and_matrices() {
    assert_values(&[
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("7 / 2", 3.0),
        ("-7 / 2", -3.0),
        ("-7 % 3", -1.0),
        ("7. / 2", 3.5),
        ("(vec3(1., 2., 3.) * 2.).z", 6.0),
        ("(2 * vec2(1., 2.) + vec2(1.)).y", 5.0),
        ("(vec3(8.) / vec3(1., 2., 4.)).y", 4.0),
        ("(mat2(1., 2., 3., 4.) * vec2(5., 6.)).x", 23.0),
        ("(vec2(5., 6.) * mat2(1., 2., 3., 4.)).x", 17.0),
        ("(mat2(1., 2., 3., 4.) * mat2(0., 1., 1., 0.))[0].x", 3.0),
        ("(mat2(1., 2., 3., 4.) + 1.)[1][0]", 4.0),
        ("mat2x3(1., 2., 3., 4., 5., 6.)[1].z", 6.0),
        ("(mat2x3(1., 2., 3., 4., 5., 6.) * vec2(1., 1.)).z", 9.0),
        ("mat3(2.)[1][1] + mat3(2.)[1][0]", 2.0),
        ("mat2(mat3(1., 2., 3., 4., 5., 6., 7., 8., 9.))[1][1]", 5.0),
        ("ivec3(1, 2, 3).z << 2", 12.0),
        ("(ivec2(6, 5) & 4).y", 4.0),
        ("~5 & 7", 2.0),
        ("-8 >> 1", -4.0),
        ("1 < 2 && 2 <= 2 ? 3 : 4", 3.0),
        ("true ^^ true ? 1 : 0", 0.0),
        ("vec2(1., 2.) == vec2(1., 2.) ? 1 : 0", 1.0),
        ("ivec2(1, 2) != ivec2(1, 3) ? 1 : 0", 1.0),
        ("int(-2.7)", -2.0),
        ("float(true) + float(3)", 4.0),
        ("vec4(vec2(1., 2.), 3, 4.).wzyx.x", 4.0),
        ("vec3(1., 2., 3.).bgr.r", 3.0),
        ("vec2(vec3(1., 2., 3.)).t", 2.0),
        ("vec3(color(1., 2., 3.)).g", 2.0),
        ("luminance(color(2.) * color(1., 0., 0.) + color(0.))", 0.4252),
    ]);
}

#[test]
fn integers_are_divided_towards_zero_whatever_their_size() {
    for (x, y) in [
        (7, 2),
        (-7, 2),
        (7, -2),
        (i32::MAX, 1),
        (i32::MAX, 3),
        (i32::MIN + 1, 7),
        (2_147_483_000, 65_537),
        (-1_999_999_999, 999),
        (5, 1_000_000_007),
        (16_777_217, 16_777_216),
    ] {
        let high = after(&format!("int x = {x}; int y = {y}; int q = x / y; r = float(q >> 16);"));
        let low = after(&format!("int x = {x}; int y = {y}; int q = x / y; r = float(q & 65535);"));
        let rest = after(&format!("int x = {x}; int y = {y}; r = float((x % y) >> 8);"));
        assert_eq!((high, low), (((x / y) >> 16) as f32, ((x / y) & 65535) as f32), "{x} / {y}");
        assert_eq!(rest, ((x % y) >> 8) as f32, "{x} % {y}");
    }
}

#[test]
fn functions_of_the_language_do_what_glsl_says() {
    assert_values(&[
        ("radians(180.)", std::f32::consts::PI),
        ("degrees(PI)", 180.0),
        ("sin(vec2(0., PI / 2.)).y", 1.0),
        ("atan(1., -1.)", 2.356_194_5),
        ("atan(1)", std::f32::consts::FRAC_PI_4),
        ("pow(2., 10.)", 1024.0),
        ("pow(-2., 3)", -8.0),
        ("pow(vec2(2., 3.), -2).y", 1.0 / 9.0),
        ("exp2(3.) + log2(8.)", 11.0),
        ("inversesqrt(4.)", 0.5),
        ("abs(-3)", 3.0),
        ("sign(vec3(-2., 0., 5.)).x + sign(5.)", 0.0),
        ("floor(-1.5) + ceil(-1.5) + round(1.4) + trunc(-1.5)", -3.0),
        ("fract(-0.25)", 0.75),
        ("mod(vec2(5., -5.), 3.).y", 1.0),
        ("min(vec2(1., 5.), 3.).y + max(2, 7)", 10.0),
        ("max(vec3(1., 5., 3.))", 5.0),
        ("min(vec2(4., -1.))", -1.0),
        ("clamp(5, 0., 1.) + clamp(vec2(-1.), 0., 1.).x", 1.0),
        ("mix(vec2(0., 10.), vec2(10., 20.), 0.5).y", 15.0),
        ("step(0.5, vec2(0.4, 0.6)).y", 1.0),
        ("smoothstep(0., 2., 1.)", 0.5),
        ("length(vec2(3., 4.)) + distance(vec3(1.), vec3(1., 1., 3.))", 7.0),
        ("dot(vec4(1., 2., 3., 4.), vec4(1.))", 10.0),
        ("cross(vec3(1., 0., 0.), vec3(0., 1., 0.)).z", 1.0),
        ("normalize(vec2(3., 4.)).y", 0.8),
        ("faceforward(vec3(0., 0., 1.), vec3(0., 0., 1.), vec3(0., 0., 1.)).z", -1.0),
        ("reflect(vec3(1., -1., 0.), vec3(0., 1., 0.)).y", 1.0),
        ("refract(vec3(0., -1., 0.), vec3(0., 1., 0.), 1.5).y", -1.0),
        ("refract(normalize(vec2(1., -0.1)), vec2(0., 1.), 1.5).x", 0.0),
        ("all(lessThan(vec2(1., 2.), vec2(2., 3.))) ? 1 : 0", 1.0),
        ("any(notEqual(ivec2(1, 2), ivec2(1, 2))) ? 1 : 0", 0.0),
        ("all(not(greaterThanEqual(vec2(1.), vec2(2.)))) ? 1 : 0", 1.0),
        ("transpose(mat2x3(1., 2., 3., 4., 5., 6.))[2].y", 6.0),
        ("determinant(mat3(2., 0., 0., 0., 3., 0., 1., 0., 4.))", 24.0),
        (
            "(inverse(mat3(2., 1., 0., 0., 3., 1., 1., 0., 4.)) * (mat3(2., 1., 0., 0., 3., 1., 1., 0., 4.) * vec3(1., 2., 3.))).z",
            3.0,
        ),
        ("inverse(mat4(2.))[3][3]", 0.5),
        ("inverse(mat4x3(2., 0., 0., 0., 2., 0., 0., 0., 2., 6., 4., 2.))[3].x", -3.0),
        ("outerProduct(vec2(1., 2.), vec3(3., 4., 5.))[2].y", 10.0),
        ("matrixCompMult(mat2(1., 2., 3., 4.), mat2(2.))[1][1]", 8.0),
        ("all(inside(vec2(0.5, 0.9), 0.f, 1.f)) ? 1 : 0", 1.0),
        ("all(inside(vec2(0.5, 1.), vec2(0.), vec2(1.))) ? 1 : 0", 0.0),
        ("inside(0.5, 0., 1.) ? 1 : 0", 1.0),
        ("dot(perpendicularTo(vec3(1., 2., 3.)), vec3(1., 2., 3.))", 0.0),
        ("dominantAxis(vec3(1., -5., 3.))", 1.0),
        ("dominantAxis(vec2(1., 1.))", 0.0),
        ("luminance(pow(color(4.), 0.5))", 2.0),
        ("abs(noise1(0.3) - noise1(0.3)) + (abs(noise1(vec4(0.3))) <= 1. ? 1. : 0.)", 1.0),
        ("noise3(vec2(0.3, 0.7)).x == noise3(vec2(0.3, 0.7)).y ? 1 : 0", 0.0),
        ("FLT_MAX > 1e38 && INT_MAX > 2000000000 && INT_MIN < 0 && FLT_MIN > 0. ? 1 : 0", 1.0),
    ]);
}

#[test]
fn statements_loops_and_functions_work_as_in_c() {
    for (statements, expected) in [
        ("for (int i = 0; i < 5; ++i) { if (i == 1) continue; if (i == 4) break; r += float(i); }", 5.0),
        ("int i = 3; while (i-- > 0) r = r * 10. + float(i);", 210.0),
        ("do { r++; } while (r < 3.);", 3.0),
        ("r = twice(3) + twice(vec2(1., 2.)).y;", 10.0),
        ("float a = 1.; float b = 2.; swap(a, b); r = a * 10. + b;", 21.0),
        ("float h; vec2 v; divide(6., h, v.y); r = h * 10. + v.y;", 32.0),
        ("r = early(3.5) + early(20.);", 3.0),
        ("vec3 v = vec3(0.); v.zx = vec2(1., 2.); v.y += 3.; r = v.x * 100. + v.y * 10. + v.z;", 231.0),
        ("float a[4]; for (int i = 0; i < 4; i++) a[i] = float(i * i); r = a[3] + a[1] + float(a.length());", 14.0),
        ("vec2 a[2]; int k = 1; a[k].y = 5.; a[0] = vec2(1.); r = a[1].y + a[0].x + a[1].x;", 6.0),
        ("mat3 m = mat3(1.); int k = 2; m[k][0] = 7.; m[1] = vec3(2.); r = m[2].x + m[1][2];", 9.0),
        ("vec3 v = vec3(1., 2., 3.); int k = 2; v[k] = 9.; r = v[k] + v[0];", 10.0),
        ("Pair p; p.a = vec2(1., 2.); p.b[1] = 4.; Pair q = p; p.b[1] = 0.; r = q.b[1] + q.a.y;", 6.0),
        ("Pair p[2]; int k = 1; p[k].b[k] = 3.; p[0].b[1] = 1.; r = p[1].b[1] * 10. + p[0].b[1];", 31.0),
        ("Pair p = Pair(vec2(1., 2.), float[2](3., 4.)); r = p.a.y + p.b[1];", 6.0),
        ("float a[3] = float[](1., 2., 3.); r = a[2];", 3.0),
        ("bool f[2]; f[1] = true; int k = 1; r = f[k] && !f[0] ? 1. : 0.;", 1.0),
        ("const int n = 2 * 2 - 1; float a[n]; r = float(a.length());", 3.0),
        ("float x = 1.; { float x = 2.; r = x; } r += x;", 3.0),
        ("int i = 0; bool no = false && ++i > 0; r = float(i) + (no ? 1. : 0.);", 0.0),
        ("int i = 5; i <<= 2; i |= 1; i ^= 3; i %= 10; r = float(i);", 2.0),
        ("r = (r = 2., r + 1.);", 3.0),
        ("if (r > 0.) r = 1.; else if (r < 0.) r = 2.; else r = 3.;", 3.0),
    ] {
        let x = after(statements);
        assert_eq!(x, expected, "{statements}");
    }
}

#[test]
fn random_numbers_differ_and_are_the_same_in_each_run() {
    let text = "r = rand() == rand() ? 1. : 0.; if (rand() < 0. || rand() >= 1.) r = 2.;";
    assert_eq!(after(text), 0.0);
    assert_eq!(after("r = rand();"), after("r = rand();"));
}

#[test]
fn points_are_chosen_by_the_numbers_that_are_given_and_behind_them_by_others() {
    let unit = good(
        "class P : rt_Primitive;
         void generateSample() {
             float numbers[4];
             for (int i = 0; i < 4; i++) numbers[i] = rand();
             rt_HitPoint = vec3(numbers[0] + 100. * rt_RayOrigin.x, numbers[1], numbers[2] == numbers[3] ? -1. : numbers[2]);
         }",
    );
    let chosen = |x: f32, y: f32| {
        let inputs = [("seed.x", x), ("seed.y", y)].map(|(name, x)| (name, Const::F32(x)));
        let place = ("ray.origin", Const::Vec3([1.0, 0.0, 0.0]));
        let given: Vec<_> = inputs.into_iter().chain([place]).collect();
        match &run(&unit, &alone(&unit, "P"), Method::GenerateSample, &given)[..] {
            [Const::Vec3(point)] => *point,
            other => panic!("{other:?}"),
        }
    };
    let [x, y, third] = chosen(0.25, 0.625);
    assert_eq!([x, y], [100.25, 0.625]);
    assert!((0.0..1.0).contains(&third) && third != chosen(0.25, 0.5)[2], "{third}");
}

#[test]
fn lights_say_where_they_are_and_how_bright() {
    let unit = good(
        "class Point : rt_Light;
         public vec3 from; public color light;
         void constructor(vec3 where, color brightness) { from = where; light = brightness; }
         void illumination() {
             vec3 way = from - rt_HitPoint;
             rt_LightDistance = length(way);
             rt_LightDirection = way / rt_LightDistance;
             rt_LightColor = light / (rt_LightDistance * rt_LightDistance);
         }",
    );
    let light = alone(&unit, "Point");
    let inputs = [("where", Const::Vec3([0.0, 2.0, 0.0])), ("brightness", Const::Vec3([8.0; 3]))];
    let results = run(&unit, &light, Method::Illumination, &inputs);
    // RSL's lights give the way from them.
    let [Const::Vec3(way), Const::Vec3(color), Const::F32(distance)] = results[..] else { panic!("{results:?}") };
    assert_eq!((way, color, distance), ([0.0, -2.0, 0.0], [2.0; 3], 2.0));
}

#[test]
fn the_way_from_a_light_afar_has_a_length_whose_square_floats_of_24_bits_hold() {
    let distant = "rt_LightDirection = vec3(0., 1., 0.); rt_LightDistance = FLT_MAX;";
    let unit = good(&format!("class Sun : rt_Light; void illumination() {{ {distant} }}"));
    let results = run(&unit, &alone(&unit, "Sun"), Method::Illumination, &[]);
    let [Const::Vec3([_, y, _]), _, Const::F32(distance)] = results[..] else { panic!("{results:?}") };
    // They end at 2⁶⁴.
    assert!(y < -1e9 && y * y < 1.8e19, "{y}");
    assert_eq!(distance, f32::MAX);
}

#[test]
fn setting_the_geometric_normal_sets_the_shading_normal() {
    let unit = good(
        "class Bent : rt_Material;
         void shade() { rt_GeometricNormal = vec3(0., 1., 0.); rt_SampleColor = color(rt_ShadingNormal); }",
    );
    let results = run(&unit, &alone(&unit, "Bent"), Method::Shade, &[("N", Const::Vec3([1.0, 0.0, 0.0]))]);
    assert_eq!(results, [Const::Vec3([0.0, 1.0, 0.0])]);
}

#[test]
fn public_variables_without_a_constructor_are_parameters_with_defaults() {
    let unit = good(
        "class Plain : rt_Texture; public color tint = color(0.5); public float scale = 2.; private float own = 1.; void lookup() { rt_TextureColor = tint * (scale * own); }",
    );
    let built = build(&alone(&unit, "Plain"), Method::Lookup, &unit.library, "core").expect("a core");
    let params: Vec<_> = built.params.iter().map(|p| (p.name.as_str(), p.ty, p.type_name)).collect();
    assert_eq!(params, [("tint", Type::Vec3, "color"), ("scale", Type::F32, "float")]);
    let default = eval(&built.module, &built.params[1].default, &[], &mut EmptyWorld, Limits::default());
    assert_eq!(default, Ok(vec![Const::F32(2.0)]));
}
