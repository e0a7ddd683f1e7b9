//! Classes that come from others, and objects that refer to others.

use super::*;
use std::sync::Arc;

const TREE: &str = "
class Base : rt_Texture;
public float scale;
float value() { return 1.; }
void lookup() { rt_FloatTextureValue = scale * value(); }
void constructor(float s) { scale = s; }

class Derived : Base;
public float more;
float value() { return 10. + more; }
void constructor(float s, float m) { super(s); more = m; }

class Same : Base;

class Mix : rt_Texture;
rt_Texture first;
Base second;
rt_Texture several[2];
int chosen;
void constructor(rt_Texture a, Base b, rt_Texture list[2], int c) { first = a; second = b; several = list; chosen = c; }
void lookup() {
    first.lookup();
    float x = rt_FloatTextureValue;
    second.lookup();
    x += 100. * rt_FloatTextureValue;
    several[chosen].lookup();
    x += 10000. * rt_FloatTextureValue;
    rt_Texture one = chosen == 0 ? first : several[1];
    one.lookup();
    rt_FloatTextureValue = x + 1000000. * rt_FloatTextureValue + (first == null ? 0.5 : 0.) + second.scale * 0.25;
}
";

fn object(unit: &Unit, class: &str, references: Vec<(Arc<str>, Vec<Object>)>) -> Object {
    let all = |objects: Vec<Object>| objects.into_iter().map(Some).collect();
    let references = references.into_iter().map(|(name, objects)| (name, all(objects))).collect();
    Object { references, ..alone(unit, class) }
}

fn number(results: &[Const]) -> f32 {
    match results {
        [_, Const::F32(x)] => *x,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_class_inherits_variables_methods_and_constructors() {
    let unit = good(TREE);
    let base = run(&unit, &alone(&unit, "Base"), Method::Lookup, &[("s", Const::F32(3.0))]);
    assert_eq!(number(&base), 3.0);
    // The inherited method calls the overriding one.
    let given = [("s", Const::F32(3.0)), ("m", Const::F32(2.0))];
    assert_eq!(number(&run(&unit, &alone(&unit, "Derived"), Method::Lookup, &given)), 36.0);
    assert_eq!(number(&run(&unit, &alone(&unit, "Same"), Method::Lookup, &[("s", Const::F32(3.0))])), 3.0);
}

#[test]
fn calls_through_references_are_those_of_the_objects_that_they_mean() {
    let unit = good(TREE);
    let references = vec![
        ("a".into(), vec![alone(&unit, "Base")]),
        ("b".into(), vec![alone(&unit, "Derived")]),
        ("list".into(), vec![alone(&unit, "Same"), alone(&unit, "Derived")]),
    ];
    let mix = object(&unit, "Mix", references);
    let built = build(&mix, Method::Lookup, &unit.library, "core").expect("a core");
    let names: Vec<&str> = built.params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["a.s", "b.s", "b.m", "list.0.s", "list.1.s", "list.1.m", "c"]);
    let f = |x| Const::F32(x);
    let given = |c| {
        [
            ("a.s", f(1.0)),
            ("b.s", f(1.0)),
            ("b.m", f(2.0)),
            ("list.0.s", f(3.0)),
            ("list.1.s", f(1.0)),
            ("list.1.m", f(4.0)),
            ("c", f(c)),
        ]
    };
    // first 1, second 12, several[0] 3, several[1] 14; `one` is first, or several[1].
    assert_eq!(number(&run(&unit, &mix, Method::Lookup, &given(0.0))), 1.0 + 1200.0 + 30000.0 + 1_000_000.0 + 0.25);
    assert_eq!(number(&run(&unit, &mix, Method::Lookup, &given(1.0))), 1.0 + 1200.0 + 140_000.0 + 14_000_000.0 + 0.25);
}

#[test]
fn a_call_through_a_reference_that_is_known_is_no_choice() {
    let unit = good(
        "class Red : rt_Texture; void lookup() { rt_TextureColor = color(1., 0., 0.); }
         class Painted : rt_Material; rt_Texture paint; void constructor(rt_Texture p) { paint = p; }
         void shade() { paint.lookup(); rt_SampleColor = rt_TextureColor; }",
    );
    let painted = object(&unit, "Painted", vec![("p".into(), vec![alone(&unit, "Red")])]);
    assert_eq!(run(&unit, &painted, Method::Shade, &[]), [Const::Vec3([1.0, 0.0, 0.0])]);
    let built = build(&painted, Method::Shade, &unit.library, "core").expect("a core");
    let core = built.module.function("core").expect("the core");
    let branches = core.blocks.iter().filter(|b| matches!(b.term, shadewright_ir::Terminator::Branch { .. })).count();
    assert_eq!(branches, 0);
}

#[test]
fn a_reference_to_nothing_does_nothing() {
    let unit = good(
        "class Painted : rt_Material; rt_Texture paint; void constructor(rt_Texture p) { paint = p; }
         void shade() { rt_SampleColor = color(0.25); if (paint != null) { paint.lookup(); rt_SampleColor = rt_TextureColor; } }",
    );
    assert_eq!(run(&unit, &alone(&unit, "Painted"), Method::Shade, &[]), [Const::Vec3([0.25; 3])]);
}

#[test]
fn a_material_bends_the_normal_and_calls_its_child() {
    let unit = good(
        "class Facing : rt_Material; void shade() { rt_SampleColor = color(dot(rt_ShadingNormal, vec3(0., 1., 0.))); }
         class Bump : rt_Material; rt_Material child; void constructor(rt_Material c) { child = c; }
         void shade() { rt_GeometricNormal = normalize(rt_GeometricNormal + vec3(0., 1., 0.)); child.shade(); rt_SampleColor *= 2.; }",
    );
    let bump = object(&unit, "Bump", vec![("c".into(), vec![alone(&unit, "Facing")])]);
    let results = run(&unit, &bump, Method::Shade, &[("Ng", Const::Vec3([1.0, 0.0, 0.0]))]);
    let [Const::Vec3([x, ..])] = results.as_slice() else { panic!("{results:?}") };
    assert!((x - 2f32.sqrt()).abs() < 1e-5, "{x}");
}

#[test]
fn a_light_looks_up_a_texture_where_it_says_and_a_texture_another_at_places_of_its_own() {
    let unit = good(
        "class Ramp : rt_Texture; void lookup() { rt_TextureColor = color(rt_TextureUV.x, rt_TextureUV.y, rt_TextureUVW.z); }
         class Twice : rt_Texture; rt_Texture of; void constructor(rt_Texture t) { of = t; }
         void lookup() { vec2 place = rt_TextureUV; rt_TextureUV = 2. * place; of.lookup(); rt_TextureUV = place; }
         class Slide : rt_Light; rt_Texture slide; void constructor(rt_Texture s) { slide = s; }
         void illumination() {
             rt_TextureUV = rt_HitPoint.xy;
             rt_TextureUVW = rt_HitPoint;
             slide.lookup();
             rt_LightDirection = vec3(0., 0., 1.);
             rt_LightColor = rt_TextureColor + 10. * color(rt_TextureUV.x, 0., 0.);
         }",
    );
    let twice = object(&unit, "Twice", vec![("t".into(), vec![alone(&unit, "Ramp")])]);
    let slide = object(&unit, "Slide", vec![("s".into(), vec![twice])]);
    let results = run(&unit, &slide, Method::Illumination, &[("Ps", Const::Vec3([1.0, 2.0, 3.0]))]);
    assert_eq!(results[1], Const::Vec3([12.0, 4.0, 3.0]));
}

#[test]
fn a_mirror_is_a_material_by_its_directions_alone() {
    let unit = good(
        "class Mirror : rt_Material;
         void sampleBSDF() { rt_LightDirection = reflect(rt_RayDirection, rt_ShadingNormal); rt_BSDFValue = color(0.5); }",
    );
    let mirror = alone(&unit, "Mirror");
    assert_eq!(run(&unit, &mirror, Method::Bsdf, &[])[0], Const::Vec3([0.0; 3]));
    assert_eq!(run(&unit, &mirror, Method::EvaluatePdf, &[]), [Const::F32(0.0)]);
    assert!(unit.file.method(mirror.class, Method::Shade).is_some(), "other integrators draw it too");
}

#[test]
fn materials_find_what_intersect_left_where_they_are_primitives_too() {
    let unit = good(
        "class Shape : rt_Primitive;
         scratch float depth = 0.5;
         void intersect() { if (hit(2.)) depth = 7.; }
         class Both : rt_Primitive, rt_Material;
         public rt_Primitive inner;
         scratch vec2 at[2];
         scratch int count;
         void intersect() { at[1] = vec2(3., 4.); count = 5; inner.intersect(); }
         void shade() { rt_SampleColor = color(at[0].x, at[1].y, float(count)); }",
    );
    let both = object(&unit, "Both", vec![("inner".into(), vec![alone(&unit, "Shape")])]);
    let left = AtHit::Scratch.build(&both, &unit.library, "left").expect("a core").expect("it is a material");
    let core = left.module.function("left").expect("the core");
    let names: Vec<&str> = core.results.iter().map(|r| &*r.name).collect();
    assert_eq!(names, ["scratch.at.0", "scratch.at.1", "scratch.count.0", "scratch.inner.depth.0"]);
    let args: Vec<Const> = core.params.iter().map(|p| Const::zero(p.ty)).collect();
    let values = eval(&left.module, "left", &args, &mut EmptyWorld, Limits::default()).expect("it ends");
    assert_eq!(values, [Const::Vec2([0.0; 2]), Const::Vec2([3.0, 4.0]), Const::I32(5), Const::F32(7.0)]);
    let given = [("scratch.at.1", Const::Vec2([0.0, 2.0])), ("scratch.count.0", Const::I32(3))];
    let at_hit = Object { scratch: Scratch::OfHit, ..both.clone() };
    assert_eq!(run(&unit, &at_hit, Method::Shade, &given), [Const::Vec3([0.0, 2.0, 3.0])]);
    assert_eq!(run(&unit, &both, Method::Shade, &[]), [Const::Vec3([0.0; 3])], "of another primitive");
    let alone = AtHit::Scratch.build(&alone(&unit, "Shape"), &unit.library, "core").expect("no errors");
    assert!(alone.is_none(), "nothing reads them");
}

#[test]
fn materials_without_emission_and_opacity_emit_nothing_and_are_opaque() {
    let unit = good(
        "class Plain : rt_Material; void BSDF() { rt_BSDFValue = color(0.5); }
         class Twice : rt_Material; public rt_Material of;
         void emission() { rt_EmissionColor = color(3.); of.emission(); rt_EmissionColor += color(1.); }
         void opacity() { rt_SampleOpacity = color(0.); of.opacity(); }",
    );
    let twice = object(&unit, "Twice", vec![("of".into(), vec![alone(&unit, "Plain")])]);
    assert_eq!(run(&unit, &twice, Method::Emission, &[]), [Const::Vec3([1.0; 3])]);
    assert_eq!(run(&unit, &twice, Method::Opacity, &[]), [Const::Vec3([1.0; 3])]);
}
