use super::*;

#[test]
fn a_class_gives_a_shader_of_each_kind_that_it_has_methods_for() {
    let unit = unit(
        "class c(float a = 1; string t = \"x\") {
            public void displacement(output point P; output normal N) { P += a * N; }
            public void surface(output color Ci, Oi) { Ci = a * Cs; }
            public void volume(output color Ci, Oi) { Ci = a; }
        }",
    );
    let shaders: Vec<(&str, &str, ShaderKind)> = unit.shaders.iter().map(|s| (&*s.name, &*s.core, s.kind)).collect();
    let expected = [
        ("c", "c", ShaderKind::Surface),
        ("c", "c.as.displacement", ShaderKind::Displacement),
        ("c", "c.as.volume", ShaderKind::Volume),
    ];
    assert_eq!(shaders, expected);
    for shader in &unit.shaders {
        assert_eq!(shader.params.len(), 2);
        assert!(unit.module.function(&shader.core).is_some());
        assert!(shader.params.iter().all(|p| unit.module.function(&p.default).is_some()));
    }
}

#[test]
fn a_class_is_no_shader_of_a_kind_that_lacks_what_its_methods_use() {
    let unit = unit(
        "class c() {
            color tint = 0;
            public void begin() { tint = Cs; }
            public void displacement(output point P; output normal N) { P += N; }
            public void surface(output color Ci, Oi) { Ci = tint; }
        }",
    );
    assert_eq!(unit.shaders.iter().map(|s| s.kind).collect::<Vec<_>>(), [ShaderKind::Surface]);
}

#[test]
fn a_light_method_that_leaves_its_direction_alone_shines_everywhere_alike() {
    let kind = |body: &str| {
        let text = format!("class c() {{ public void light(output vector L; output color Cl) {{ {body} }} }}");
        unit(&text).shaders[0].light
    };
    assert_eq!(kind("Cl = 1;"), Some(LightKind::Ambient));
    assert_eq!(kind("L = Ps; Cl = 1;"), Some(LightKind::Positional));
}

#[test]
fn a_method_takes_only_the_variables_of_its_class_that_it_uses() {
    let unit = unit(
        "class c(float a = 1, b = 2) {
            float x, y;
            float one() { return x + a; }
            void two() { y = one(); }
            public void surface(output color Ci, Oi) { two(); Ci = y * b; }
        }",
    );
    let params = |name: &str| {
        let function = unit.module.function(name).expect("the method");
        let results: Vec<&str> = function.results.iter().map(|r| &*r.name).collect();
        (function.params.iter().map(|p| p.name.to_string()).collect::<Vec<_>>(), results.join(" "))
    };
    assert_eq!(params("c.one"), (vec!["a".to_string(), "x".to_string()], "return".to_string()));
    assert_eq!(params("c.two").0, ["a", "x", "y"]);
    assert_eq!(params("c.two").1, "y");
}

#[test]
fn errors_about_structs_and_classes_say_what_is_meant() {
    let pair = "struct Pair { float a; float b; } ";
    for (source, message) in [
        ("float f() { Pair p; return p->c; }", "the struct `Pair` has no member `c`"),
        ("float f() { Pair p; return p; }", "a struct can only be assigned, passed to a function or returned"),
        ("float f() { Pair p = 1; return 2; }", "expected a struct `Pair`, found something else"),
        (
            "struct Other { float a; } float f() { Other o; Pair p = o; return 2; }",
            "expected a struct `Pair`, found a `Other`",
        ),
        ("float f() { Pair p = Pair(1, 2, 3); return 2; }", "the struct `Pair` has 2 members, not 3"),
        ("float f() { float x; return x->a; }", "`x` is not a struct and has no members"),
        ("float f() { Pair p[2]; return p->a; }", "`p` is an array of structs: use `p[i]`"),
        ("float f() { Pair p; return p[0]->a; }", "`p` is a struct and cannot be indexed"),
        ("Pair g() { Pair p; return p; } float f() { return g()->a; }", "`->` after a call"),
        (
            "Pair g() { Pair p; return p; } float f() { return h(g()); }",
            "the struct that `g` returns must be assigned to a variable",
        ),
        ("struct Pair { float c; } float f() { return 1; }", "the struct `Pair` is defined twice"),
        ("struct Twice { float c; color c; } float f() { return 1; }", "the struct `Twice` has two members `c`"),
        (
            "struct Long { float c[]; } float f() { Long l[2]; return 1; }",
            "no array of this struct: its member `c` is of type float[]",
        ),
        (
            "struct Two { float a; float sum(float b) { float c = a; return c + b; } float d; } float f() { Two t; return t->d; }",
            "structs have no methods: `sum`",
        ),
        ("struct Long { float c[100]; } float f() { Long l[20]; return 1; }", "at most 1024 elements together"),
        (
            "struct In { float a[2]; } struct Out { In b[2]; } float f() { Out o[2]; return 1; }",
            "member `b->a` is of type float[2][2]",
        ),
        (
            "struct Row { float m[3]; } float f() { Row r[2]; float b[2] = r[0]->m; return 1; }",
            "expected float[2], found float[3]",
        ),
        ("struct Row { float m[3]; } float f() { Row r[2]; return r[0]->m; }", "expected a float, found a float[3]"),
        ("surface s(Pair p;) { Ci = 1; }", "a shader's parameter cannot be a struct"),
        (
            "class c() { float x; public void surface(output color Ci, Oi) { Ci = this->y(); } }",
            "this class has no method `y`",
        ),
        ("class c() { float x; public void surface(output color Ci, Oi) { Ci = y; } }", "unknown variable `y`"),
        (
            "class c() { public void surface(output color Ci) { Ci = 1; } }",
            "no function `c.surface` takes (color, color)",
        ),
        ("class c() { public void surface(output color Ci, Oi) { Ci = 1; }", "unclosed block"),
        ("float f() { Pair p; Pair q; if (p == q) return 1; return 2; }", "this is a struct"),
    ] {
        let text = errors(&format!("{pair}{source}"));
        assert!(text.contains(message), "{source}: {text}");
        assert_eq!(text.matches("error:").count(), if source.contains("p == q") { 2 } else { 1 }, "{source}: {text}");
    }
}

#[test]
fn an_error_in_a_member_leaves_the_others_known() {
    let text = errors("class c() { float x = ; float y; public void surface(output color Ci, Oi) { Ci = y + z; } }");
    assert!(text.contains("expected an expression, found `;`"), "{text}");
    assert!(!text.contains("`y`"), "{text}");
}

#[test]
fn methods_and_structs_nest_as_deep_as_anything() {
    let nested = |inner: &str| format!("{}{inner}{}", "if (a > 0) { ".repeat(100), " }".repeat(100));
    let method =
        format!("public void surface(output color Ci, Oi) {{ Pair p; {} Ci = p->b; }}", nested("p = Pair(a, 2);"));
    unit(&format!("struct Pair {{ float a; float b; }} class c(float a = 1) {{ {method} }}"));
    let deep = format!("{}p->b{}", "(1 + ".repeat(200), ")".repeat(200));
    unit(&format!("struct Pair {{ float a; float b; }} float f() {{ Pair p; return {deep}; }}"));
}

#[test]
fn errors_about_arrays_that_grow_say_what_is_meant() {
    for (source, message) in [
        ("float f() { float a[3]; push(a, 1); return 1; }", "the array `a` has the fixed length 3"),
        ("float f() { float a[]; push(a, color (1, 1, 1)); return 1; }", "expected a float, found a color"),
        ("float f() { float a[]; push(a); return 1; }", "unknown function `push`"),
        ("float f() { float a[]; push(a, 1); float b[2] = a; return 1; }", "expected float[2], found float[]"),
        ("float f() { float a[] = {}; float b[2] = {}; return 1; }", "an array needs at least one value"),
        (
            "float f(float x) { float a[]; push(a, 1); return spline(x, a); }",
            "an array passed to `spline` must have a fixed length",
        ),
        ("struct P { float b; } float f() { P a[]; return 1; }", "arrays of structs cannot be resized"),
        (
            "surface s() { float a[]; if (surface(\"x\", a) == 1) Ci = 1; }",
            "the array that `surface` sets must have a fixed length",
        ),
        (
            "surface s(float b[2]; float a[] = b) { Ci = 1; }",
            "the default of `a`, an array without a length, must be a list",
        ),
    ] {
        let text = errors(source);
        assert!(text.contains(message) && text.matches("error:").count() == 1, "{source}: {text}");
    }
}

#[test]
fn a_function_that_nobody_calls_may_resize_its_parameter() {
    let unit = unit("void f(output float a[]) { push(a, 1); } float g(float a[]) { return a[0]; }");
    let names: Vec<&str> = unit.module.functions.iter().map(|f| &*f.name).collect();
    assert!(names.contains(&"f.of.any") && names.contains(&"g.of.1"), "{names:?}");
}

#[test]
fn a_class_has_a_core_for_each_method_that_other_shaders_may_call() {
    let unit = unit(
        "class c(float k = 1) {
            public float seen = 0;
            float own = 0;
            public void begin() { seen = k; }
            public color tint(float x; output float y) { y = x * k; return helper(x); }
            color helper(float x) { return x; }
            public void grow(output float a[]) { push(a, 1); }
            public void light(output vector L; output color Cl) { L = P - Ps; }
        }",
    );
    let cores: Vec<(&str, &str)> = unit.methods.iter().map(|m| (&*m.class, &*m.name)).collect();
    assert_eq!(cores, [("c", ""), ("c", "tint")], "no array of any length, and no light");
    let names = |i: usize| unit.methods[i].core.params.iter().map(|p| p.name.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (names(0), names(1)),
        (vec!["k".into(), "->seen".into()], vec!["k".into(), "->x".into(), "->y".into(), "->".into()])
    );
    assert_eq!(unit.shaders.iter().map(|s| s.kind).collect::<Vec<_>>(), [ShaderKind::Light]);
}

#[test]
fn errors_about_co_shaders_say_what_is_meant() {
    for (source, message) in [
        ("surface s() { shader a = getshader(); }", "`getshader` takes the handle of a shader"),
        (
            "surface s(string n = \"\") { shader a = null; if (hasmethod(a, n) == 1) Ci = 1; }",
            "the name of a method as a constant",
        ),
        ("surface s() { shader a = null; getvar(a, \"k\", 3); }", "the output argument of `getvar` must be a variable"),
        ("surface s() { shader a = null; float k[2]; getvar(a, \"k\", k); }", "`getvar` returns no arrays"),
        (
            "surface s() { if (arraylength(getshaders()) > 0) Ci = 1; }",
            "the array that `getshaders` returns must be assigned to a variable",
        ),
        ("surface s() { shader a[] = getshaders(\"kind\", \"x\"); }", "or \"category\" and a category"),
        ("surface s() { float a = 1; a->run(); }", "expected a string, found a float"),
        ("surface s() { shader a = null; float k[]; a->run(k); }", "must have a fixed length"),
        ("surface s() { shader a = null; a->run(printf(\"x\")); }", "has no value"),
        ("surface s() { shader a = null; a->run(x); }", "unknown variable `x`"),
        (
            "class c() { float a = b; public void f() {} public void g() {} public void surface(output color Ci, Oi) {} }",
            "unknown variable `b`",
        ),
    ] {
        let text = errors(source);
        assert!(text.contains(message) && text.matches("error:").count() == 1, "{source}: {text}");
    }
}

#[test]
fn lights_are_no_co_shaders() {
    let unit = unit("surface s() { shader a[] = getlights(\"category\", \"key\"); Ci = arraylength(a); }");
    let messages: Vec<&str> = unit.warnings.iter().map(|d| &*d.message).collect();
    assert_eq!(messages, ["`getlights` returns an empty array: lights are available through `illuminance` only"]);
}

#[test]
fn a_file_may_name_a_plugin_that_it_does_not_use() {
    unit("plugin \"noises\"; float f(float null) { return null; } float getvar(float x) { return x; }");
}
