//! Coordinate systems: values worked out by hand for one with axes (2,0,0), (0,0,3), (0,−1,0) and
//! the origin (1,1,1).

use super::*;
use shadewright_ir::Const;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::eval::{Limits, World, eval};

const O: [f32; 3] = [1.0, 1.0, 1.0];
const X: [f32; 3] = [2.0, 0.0, 0.0];
const Y: [f32; 3] = [0.0, 0.0, 3.0];
const Z: [f32; 3] = [0.0, -1.0, 0.0];

/// An image of 200 × 100 pixels through a camera at (0, 0, −10), whose half-width at distance 1 is
/// 1.
struct Image;

impl World for Image {
    fn uniform(&mut self, k: u32) -> [f32; 4] {
        match k {
            1 => [200.0, 100.0, 1.0 / 200.0, 1.0 / 100.0],
            2 => [1.0, 0.0, 0.0, 0.0],
            3 => [0.0, 1.0, 0.0, 0.0],
            4 => [0.0, 0.0, 1.0, 0.0],
            5 => [0.0, 0.0, -10.0, 1.0],
            6 => [1.0, 0.5, 0.0, 4.0],
            _ => [0.0; 4],
        }
    }
}

/// Evaluates `f` on its arguments and, after them, the inputs by their names: the system above is
/// "shader" and "object".
fn f(source: &str, args: &[Const]) -> [f32; 3] {
    let unit = unit(source);
    let function = unit.module.function("f").expect("`f`");
    let inputs = function.params.iter().skip(args.len()).map(|p| match p.name.rsplit('.').next() {
        Some("o") => Const::Vec3(O),
        Some("x") => Const::Vec3(X),
        Some("y") => Const::Vec3(Y),
        Some("z") => Const::Vec3(Z),
        _ => Const::zero(p.ty),
    });
    let args: Vec<Const> = args.iter().cloned().chain(inputs).collect();
    let results = eval(&unit.module, "f", &args, &mut Image, Limits::default()).expect("a value");
    let Const::Vec3(v) = results[0] else { panic!("{results:?}") };
    v.map(|x| (x * 1e4).round() / 1e4)
}

fn triple(x: f32, y: f32, z: f32) -> Const {
    Const::Vec3([x, y, z])
}

#[test]
fn a_cast_takes_from_a_system_and_transform_back_to_it() {
    let p = [triple(1.0, 2.0, 3.0)];
    assert_eq!(f("point f(point p) { return point \"shader\" p; }", &p), [3.0, -2.0, 7.0]);
    assert_eq!(f("vector f(vector p) { return vector \"object\" p; }", &p), [2.0, -3.0, 6.0]);
    let q = [triple(3.0, -2.0, 7.0)];
    assert_eq!(f("point f(point p) { return transform(\"shader\", p); }", &q), [1.0, 2.0, 3.0]);
    assert_eq!(f("point f(point p) { return transform(\"shader\", \"current\", p); }", &p), [3.0, -2.0, 7.0]);
    assert_eq!(f("point f(point p) { return transform(\"world\", \"object\", p); }", &q), [1.0, 2.0, 3.0]);
    assert_eq!(f("point f(point p) { return transform(\"shader\", \"camera\", p); }", &p), [3.0, -2.0, 17.0]);
    let v = [triple(2.0, -3.0, 6.0)];
    assert_eq!(f("vector f(vector p) { return vtransform(\"shader\", p); }", &v), [1.0, 2.0, 3.0]);
}

#[test]
fn normals_go_by_the_inverse_transpose() {
    // The plane x = 0 of the system is the plane x = 1 of the current one; along x lengths double,
    // so the normal halves.
    assert_eq!(f("normal f(normal n) { return normal \"shader\" n; }", &[triple(1.0, 0.0, 0.0)]), [0.5, 0.0, 0.0]);
    assert_eq!(
        f("normal f(normal n) { return ntransform(\"shader\", n); }", &[triple(0.5, 0.0, 0.0)]),
        [1.0, 0.0, 0.0]
    );
}

#[test]
fn a_matrix_in_a_space_goes_on_to_the_current_one() {
    let source = "point f(point p) { return transform(matrix \"shader\" 1, p); }";
    assert_eq!(f(source, &[triple(1.0, 2.0, 3.0)]), [3.0, -2.0, 7.0]);
    // Twice the coordinates of the system, then to the current one.
    let source =
        "point f(point p) { matrix m = scale(matrix 1, vector (2, 2, 2)); return transform(matrix \"shader\" m, p); }";
    assert_eq!(f(source, &[triple(1.0, 2.0, 3.0)]), [5.0, -5.0, 13.0]);
    let source = "point f(point p) { return transform(\"shader\", translate(matrix 1, vector (1, 0, 0)), p); }";
    assert_eq!(f(source, &[triple(1.0, 2.0, 3.0)]), [4.0, -2.0, 7.0]);
}

#[test]
fn a_space_may_be_named_when_the_shader_runs() {
    let source = "point f(string s; point p) { return transform(s, p); }";
    let args = |s: &str| [Const::String(s.into()), triple(3.0, -2.0, 7.0)];
    assert_eq!(f(source, &args("shader")), [1.0, 2.0, 3.0]);
    assert_eq!(f(source, &args("camera")), [3.0, -2.0, 17.0]);
    let source = "vector f(string s; vector v) { return vtransform(s, \"current\", v); }";
    assert_eq!(f(source, &[Const::String("object".into()), triple(1.0, 2.0, 3.0)]), [2.0, -3.0, 6.0]);
}

#[test]
fn points_go_to_the_image_and_back() {
    // Seen from (0, 0, −10): at depth 10, the image reaches from −10 to 10 and from −5 to 5.
    let p = [triple(5.0, 2.5, 0.0)];
    assert_eq!(f("point f(point p) { return transform(\"NDC\", p); }", &p), [0.75, 0.25, 10.0]);
    assert_eq!(f("point f(point p) { return transform(\"raster\", p); }", &p), [150.0, 25.0, 10.0]);
    assert_eq!(f("point f(point p) { return transform(\"screen\", p); }", &p), [1.0, 0.5, 10.0]);
    for space in ["NDC", "raster", "screen"] {
        let there_and_back =
            format!("point f(point p) {{ return transform(\"{space}\", \"current\", transform(\"{space}\", p)); }}");
        assert_eq!(f(&there_and_back, &p), [5.0, 2.5, 0.0], "{space}");
    }
}

#[test]
fn vectors_and_normals_go_to_the_image_by_its_linear_part() {
    // The image is 200 by 100 pixels; at depth 1, it reaches from −1 to 1 and from −1/2 to 1/2.
    let v = [triple(0.5, 0.25, 2.0)];
    let to = |call: &str, name: &str, ty: &str| f(&format!("{ty} f({ty} v) {{ return {call}(\"{name}\", v); }}"), &v);
    assert_eq!(to("vtransform", "NDC", "vector"), [0.25, -0.25, 2.0]);
    assert_eq!(to("vtransform", "raster", "vector"), [50.0, -25.0, 2.0]);
    assert_eq!(to("vtransform", "screen", "vector"), [1.0, 0.5, 2.0]);
    assert_eq!(to("ntransform", "NDC", "normal"), [1.0, -0.25, 2.0]);
    assert_eq!(to("ntransform", "screen", "normal"), [0.25, 0.125, 2.0]);
    for (call, ty) in [("vtransform", "vector"), ("ntransform", "normal")] {
        for space in ["NDC", "raster", "screen"] {
            let source =
                format!("{ty} f({ty} v) {{ return {call}(\"{space}\", \"current\", {call}(\"{space}\", v)); }}");
            assert_eq!(f(&source, &v), [0.5, 0.25, 2.0], "{source}");
            let named = format!("{ty} f({ty} v; string s) {{ return {call}(s, v); }}");
            let args = [v[0].clone(), Const::String(space.into())];
            assert_eq!(f(&named, &args), to(call, space, ty), "{named} {space}");
        }
    }
}

#[test]
fn a_system_of_the_scene_is_asked_of_the_linker() {
    let unit = unit("point f() { return point \"lamp\" (1, 2, 3); }");
    let asks = |i: &shadewright_ir::Inst| matches!(&i.op, Op::Call(name) if Intrinsic::SpaceNamed.is(name));
    let f = unit.module.function("f").expect("`f`");
    assert!(f.params.is_empty() && f.blocks[0].insts.iter().any(asks));
}

#[test]
fn functions_that_name_spaces_work_where_there_are_none() {
    unit("point g(string s; point p) { return transform(s, p); } imager i() { Ci = color g(\"camera\", P); }");
}
