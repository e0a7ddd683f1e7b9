//! The programs that are refused, and the messages about them.

use super::*;

#[test]
fn errors_name_the_interface_and_what_it_offers() {
    let of_method = |class: &str, body: &str| format!("class A : {class};\npublic float own;\n{body}");
    for (text, message) in [
        (of_method("rt_Camera", "void shade() { }"), "`shade` is a method of `rt_Material`"),
        (of_method("rt_Material", "void generateRay() { }"), "`generateRay` is a method of `rt_Camera`"),
        (
            of_method("rt_Camera", "void generateRay() { rt_RayOrigin = rt_TextureUVW; }"),
            "`generateRay` of `rt_Camera` cannot read `rt_TextureUVW`",
        ),
        (
            of_method("rt_Material", "void shade() { own = 1.; }"),
            "the variable `own` of the class can be assigned in constructors only",
        ),
        (
            of_method("rt_Material", "void f() { own = 1.; } void shade() { f(); }"),
            "the variable `own` of the class can be assigned in constructors only",
        ),
        (
            of_method("rt_Texture", "void lookup() { rt_HitPoint = vec3(0.); }"),
            "`lookup` of `rt_Texture` cannot set `rt_HitPoint`",
        ),
        (
            of_method("rt_Material", "void constructor() { rt_SampleColor = color(0.); }"),
            "`rt_SampleColor` is not available in a constructor",
        ),
        (of_method("rt_Material", "int shade() { return 1; }"), "`shade` must take no arguments and return `void`"),
        (
            of_method("rt_Light", "void illumination() { rt_LightColor = trace(rt_HitPoint); }"),
            "`trace` is available in `shade`",
        ),
        (
            of_method("rt_Texture", "color c; void constructor() { c = textureImage(\"a.png\", vec2(0.)); }"),
            "textures are not available in a constructor",
        ),
        (of_method("rt_Texture", "void lookup() { hit(1.); }"), "`hit` is available in `intersect` only"),
        (of_method("rt_Nothing", ""), "unknown class or interface `rt_Nothing`"),
        (of_method("rt_Material", "void Shade() { }"), "no interface has a method `Shade`"),
        (
            of_method("rt_Material", "void BSDF() { } void sampleBSDF() { }"),
            "`A` has `sampleBSDF` and no `evaluatePDF`",
        ),
        (
            of_method("rt_Material", "void BSDF() { } void evaluatePDF() { }"),
            "`A` has `evaluatePDF` and no `sampleBSDF`",
        ),
    ] {
        let found = messages(&text);
        assert!(found.len() == 1 && found[0].contains(message), "{text}: {found:?}");
    }
}

#[test]
fn a_brace_that_is_missing_is_missed_where_it_was_opened() {
    for (text, place) in [
        ("class A : rt_Material;\nvoid BSDF() { rt_BSDFValue = color(1.);\n", "test.rtsl:2:13"),
        ("class A : rt_Material;\nvoid BSDF() { rt_BSDFValue = color(1.);\nvoid emission() { }", "test.rtsl:2:13"),
        (
            "class A : rt_Material;\nvoid BSDF() { if (true) { }\nclass B : rt_Material; void shade() { }",
            "test.rtsl:2:13",
        ),
        ("class A : rt_Material;\nstruct S { float a;\nvoid BSDF() { }", "test.rtsl:2:8"),
    ] {
        let Err((diags, sources)) = compiled(text) else { panic!("{text}") };
        let said = diags.render(&sources);
        let first = said.lines().nth(1).unwrap_or_default();
        assert!(said.contains("no matching `}`") && first.ends_with(place), "{text}: {said}");
    }
}

#[test]
fn types_must_fit() {
    for (statements, message) in [
        ("float x = vec2(1.);", "expected `float`, found `vec2`"),
        ("int i = 1.5;", "expected `int`, found `float`"),
        ("vec3 v = color(1.);", "expected `vec3`, found `color`"),
        ("color c = color(1.); float x = c.r;", "a color has no named components"),
        ("float x = vec2(1.).z;", "a `vec2` has no components `z`"),
        ("vec2 v; v.xx = vec2(1.);", "duplicate component in an assignment"),
        ("vec2 v = vec2(1., 2., 3.);", "a `vec2` needs 2 components, found 3"),
        ("vec3 v = vec3(1.) + vec2(1.);", "no operator `+` for `vec3` and `vec2`"),
        ("color c = color(1.) * vec3(1.);", "no operator `*` for `color` and `vec3`"),
        ("bool b = vec2(1.) < vec2(2.);", "no operator `<` for `vec2` and `vec2`"),
        ("if (1) ;", "a condition must be a `bool`, not a `int`"),
        ("float x = sin(true);", "no overload of `sin` takes (bool)"),
        ("float x = nothing(1.);", "unknown function `nothing`"),
        ("float x = texture2D(1.);", "unknown function `texture2D`"),
        ("string s = 1.;", "expected `string`, found `float`"),
        ("string s = string(1.);", "a `float` cannot be a component of a `string`"),
        ("float x = float(\"1\");", "a `string` cannot be a component of a `float`"),
        ("bool b = \"a\" < \"b\";", "no operator `<` for `string` and `string`"),
        ("color c = textureImage(vec2(0.));", "no overload of `textureImage` takes (vec2)"),
        ("float x = y;", "unknown variable `y`"),
        ("Nothing n;", "unknown type `Nothing`"),
        ("const float x = 1.; x = 2.;", "`x` is a constant"),
        ("const float x;", "the constant `x` has no initial value"),
        ("float a[3]; a[3] = 1.;", "index 3 is out of range"),
        ("float a[3]; a[1.] = 1.;", "an index must be an `int`, not a `float`"),
        ("int n = 2; float a[n];", "the length of an array must be a constant `int`"),
        ("float a[0];", "invalid array length 0"),
        ("float a[]; ", "the array has no length"),
        ("float x; float x;", "`x` is declared twice"),
        ("break;", "`break` outside of a loop"),
        ("f(1.);", "no overload of `f` takes (float)"),
        ("f(1, 2);", "several overloads of `f` take (int, int)"),
        ("g();", "recursive call of `g`"),
        ("float x = h(1.);", "the function gives a `float`"),
        ("bool b = !1.;", "no operator `!` for `float`"),
        ("rt_Texture t = rt_TextureUV;", "expected `rt_Texture`, found `vec2`"),
        ("rt_Texture t; t.shade();", "`rt_Texture` has no method `shade`"),
    ] {
        let text = format!(
            "void f(vec2 a) {{ }} void f(int a, float b) {{ }} void f(float a, int b) {{ }} 
             void g() {{ g(); }} float h(float x) {{ if (x > 0.) return; return x; }}
             class A : rt_Texture; void lookup() {{ {statements} }}"
        );
        let text = if statements.contains("g();") { text } else { text.replace("void g() { g(); }", "") };
        let text = if statements.contains("h(") {
            text
        } else {
            text.replace("float h(float x) { if (x > 0.) return; return x; }", "")
        };
        let found = messages(&text);
        assert!(found.iter().any(|m| m.contains(message)), "{statements}: {found:?}");
    }
}

#[test]
fn one_run_finds_the_errors_of_all_classes() {
    let found = messages(
        "class A : rt_Texture; void lookup() { float x = y; int i = 1.; }
         class B : rt_Light; void illumination() { z = 1.; }",
    );
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn nesting_across_calls_has_an_end() {
    let mut text = String::from("float f0(float x) { return x + 1.; }");
    for i in 1..60 {
        text += &format!("float f{i}(float x) {{ return {}f{}(x){}; }}", "-(".repeat(80), i - 1, ")".repeat(80));
    }
    text += "class A : rt_Texture; void lookup() { rt_FloatTextureValue = f59(1.); }";
    let found = messages(&text);
    assert!(found.iter().any(|m| m.contains("nested more than 160 levels deep")), "{found:?}");
}

#[test]
fn damaged_files_give_errors_or_code_and_nothing_else() {
    let text =
        [include_str!("../../../../assets/rtsl/textures.rtsl"), include_str!("../../../../assets/rtsl/lights.rtsl")]
            .concat();
    let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut state = 1u32;
    let mut next = |n: usize| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) as usize % n
    };
    for _ in 0..60 {
        let mut damaged = words.clone();
        for _ in 0..3 {
            let (at, other) = (next(damaged.len()), next(words.len()));
            match next(3) {
                0 => drop(damaged.remove(at)),
                1 => damaged[at] = words[other],
                _ => damaged.insert(at, words[other]),
            }
        }
        let text = damaged.concat();
        if let Err((diags, sources)) = compiled(&text) {
            assert!(diags.has_errors());
            diags.render(&sources);
        }
    }
}

#[test]
fn what_is_too_large_is_an_error_and_takes_no_time() {
    let mut text = String::from("float f0(float x) { return x + 1.; }");
    for i in 1..40 {
        text += &format!("float f{i}(float x) {{ return f{0}(x) + f{0}(x * 2.); }}", i - 1);
    }
    text += "class A : rt_Texture; void lookup() { rt_FloatTextureValue = f39(1.); }";
    let found = messages(&text);
    assert!(found.iter().any(|m| m.contains("this method is too large after inlining")), "{found:?}");
}
