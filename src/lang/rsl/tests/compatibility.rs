//! Habits of shaders that were written for other compilers.

use super::super::{FrontEndOptions, compile};
use super::{compile_text, unit};
use shadewright_base::text::source::SourceMap;

/// The warnings of a file that compiles.
fn warnings(source: &str) -> String {
    let (result, sources) = compile_text(source);
    result.unwrap_or_else(|d| panic!("{}", d.render(&sources))).warnings.render(&sources)
}

#[test]
fn old_and_odd_spellings_compile() {
    for source in [
        "surface s(Kd, Ks, c, k) float Kd = 1; float Ks = 2, k[2]; color c = 1; { Ci = Kd * c * k[1] + Ks; }",
        "float square(x) float x; { return x * x; } surface s() { Ci = square(u); }",
        "float one(void) { return 1; } surface s(void) { Ci = one(); }",
        "surface s() { color c = (color) u; point p = (point) N; Ci = (color \"hsv\") (u, v, 1); P = (point \"shader\") p; }",
        ";surface s(float a = 1;;) {; float b;; b = 0x1F; if (a > 1); else b = 2;; while (b < 0); Ci = b; };",
        "#pragma nolint\n#line 3 \"x.sl\"\n# 4 \"y.sl\"\nsurface s() { Ci = 1 \\\n + 2; } // end",
        "surface s() { float a = 1, b, c[2] = {1, 2}, d = 3; color e[] = {1, (1, 0, 0)}; Ci = a + b + c[1] + d + e[1]; }",
        "float f(float x) { } color g(float x) { if (x > 1) return 1; } surface s() { Ci = f(1) * g(2); }",
        "surface s() { if (Cs < 0.5) Ci = 1; if (P >= point 0) Ci = 2; if (Cs == (1, 0, 0)) Ci = 3; }",
        "surface s() { color c = u > 0.5 ? 1 : color (1, 0, 0); point p = u > 0.5 ? P : 0; Ci = c + color p; }",
        "surface wood() { Ci = wood(u); } float wood(float x) { return x; }",
        "float f(float a, b) { return a; } color f(float a; color b) { return b; } surface s() { Ci = f(1, 2) + f(1, Cs); }",
        "surface s() { Ci = indirectdiffuse(\"map\", P, N, 4) * occlusion(\"map\", P, N, 4, \"maxdist\", 1); }",
        "surface s() { Ci = trace(P, N, \"bias\", 0.01); float d = trace(P, N, \"maxdist\", 4); Ci += d; }",
    ] {
        unit(source);
    }
}

#[test]
fn functions_of_floats_take_colors_and_vectors() {
    unit(
        "surface s() {
            color c = pow(Cs, 2) + pow(Cs, color (1, 2, 3)) + mod(Cs, 0.5) + abs(Cs) + floor(Cs) + ceil(Cs) + round(Cs);
            c += sqrt(Cs) + exp(Cs) + log(Cs) + sign(Cs) + sin(Cs) + step(0.5, Cs) + smoothstep(0, 1, Cs) + mix(Cs, Os, Os);
            point p = abs(P) + vector mod(P, 1); vector w = floor(I) + smoothstep(vector 0, vector 1, I) + mix(I, I, I);
            Ci = c + color (p + w);
        }",
    );
    // A function of floats is still the first choice.
    let text = unit("color f(point p) { return abs(noise(p)); }").module.to_string();
    assert!(text.contains("noise.3.1") && !text.contains("noise.3.3"), "{text}");
}

#[test]
fn predefined_variables_of_other_shaders_are_zero_with_a_warning() {
    for (source, part) in [
        ("surface s() { Ci = Cl; }", "`Cl` is available inside `illuminance` only"),
        ("surface s() { illuminance (P, N, 1) { Ci += Cl; } Ci *= Cl; }", "surface shaders have no `Cl`: it is 0"),
        ("volume a() { Ci *= xcomp(N); }", "volume shaders have no `N`: it is 0"),
        ("imager i() { Ci *= u; }", "imager shaders have no `u`: it is 0"),
        ("color lit() { extern color Cl; return Cl; } surface s() { Ci = lit(); }", "call it inside `illuminance`"),
        ("surface s() { float x; Ci = lightsource(\"intensity\", x); }", "inside `illuminance` only: nothing is found"),
        (
            "float f(float a[]) { float x; return attribute(\"ShadingRate\", x); } surface s() { float a[1]; Ci = f(a); }",
            "in shaders, not in functions",
        ),
        (
            "surface s() { color c; Ci = texture3d(\"a\", P, N, \"_rad\", c) + subsurface(\"a\", P); }",
            "light below surfaces is not computed",
        ),
        ("surface s() { bake(\"a\", u, v, Cs); Ci = caustic(P, N); }", "there are no photon maps"),
    ] {
        let text = warnings(source);
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    for source in [
        "surface s() { illuminance (P, N, 1) Ci += Cl; } color unused() { return Cl * (L . N); }",
        "color lit(normal n) { return Cl * (L . n); } surface s() { illuminance (P, N, 1) Ci += lit(N); }",
        "light l() { illuminate (P) Cl = length(I) * s * xcomp(N); }",
        "imager i() { Ci = mix(Ci, color (s, t, 0), alpha); }",
    ] {
        assert_eq!(warnings(source), "", "{source}");
    }
}

#[test]
fn what_others_accept_is_compiled_with_a_warning() {
    for (source, part) in [
        ("surface s() { uniform float a = u; a = v; Ci = a; }", "`a`: it becomes varying"),
        ("surface s(uniform color c = 1) { c = Cs; Ci = c; }", "declare `c` as `varying`"),
        ("surface s() { uniform float a[]; push(a, u); }", "`a`: it becomes varying"),
        ("surface s() { float a = 1; float a; Ci = a; }", "`a` is declared twice: it is the same"),
        ("surface s() { float a = 1; color a = 2; Ci = a; }", "the later one hides the first"),
        ("surface s(float a = 1; color a = 2) { Ci = a; }", "parameter `a` is declared twice"),
        ("color f(float a; color a) { return a; } surface s() { Ci = f(1, Cs); }", "parameter `a` is declared twice"),
        ("float f(float a) { return 1; } float f(float b) { return 2; }", "`f` is defined twice: the later"),
        (
            "surface s() { float f(float a) { return 1; } float f(float a) { return 2; } Ci = f(1); }",
            "`f` is defined twice",
        ),
        ("surface s() { Ci = 1; } surface s() { Ci = 2; }", "`s` is defined twice"),
        ("surface s() { Ci = N; }", "a normal and a color are mixed without a cast"),
        ("surface s() { Ci = Cs * I; }", "a color and a vector are mixed without a cast"),
        ("surface s() { P += Cs; }", "a point and a color are mixed without a cast"),
        ("transformation t() { P += 1; }", "transformation shaders are never called"),
        ("#include \"nowhere.h\"\nsurface s() { Ci = 1; }", "cannot find the included file `nowhere.h`"),
    ] {
        let text = warnings(source);
        assert!(text.contains(part), "{part} is not in\n{text}");
        assert_eq!(text.matches("warning").count(), 1, "{source}: {text}");
    }
    // The later declaration counts.
    let text = unit("float f(float a) { return 1; } float f(float b) { return 2; }").module.to_string();
    assert!(text.contains("const 2.0") && !text.contains("const 1.0"), "{text}");
    // Kinds of shaders have names of their own.
    assert_eq!(unit("surface s() { Ci = 1; } displacement s() { P += 1; }").shaders.len(), 2);
}

#[test]
fn functions_of_others_have_their_arguments() {
    unit(
        "surface s(matrix a = 1) {
            matrix b = a + a - 2 * a; b = -b; Ci = xcomp(Cs) + ycomp(Cs) * zcomp(Cs); setycomp(Ci, 2);
            normal n = normalize(N); vector v = -normalize(I); point q; normal m; float d; color c; vector r;
            Ci += diffuse(P, n) + specular(n, v) + determinant(b) + raydepth();
            Ci += fulltrace(P, v) + fulltrace(P, v, c, d, q, m, q, r) + rayhittest(P, v, q, m);
        }",
    );
    unit("light l(vector axis = 1) { solar (axis) Cl = 1; } light m() { illuminate (P, vector 1) Cl = 1; }");
}

#[test]
fn functions_ask_for_what_their_shader_knows() {
    let source = "
        string tile(string base; float number) { return concat(base, format(\".%d\", number), \".tx\"); }
        float rate() { float x = 2; attribute(\"ShadingRate\", x); return x; }
        float kind(string k) { if (match(\"^m\", k) != 0) return 1; return rate(); }
        void label(output string name) { name = shadername(); }
        surface s(string base = \"a\") { string n; label(n); Ci = color texture(tile(base, 3)) * kind(base) * (n == \"s\" ? 1 : 0); }";
    assert_eq!(warnings(source), "");
    let unit = unit(source);
    let parameter = |_: &str| Some(shadewright_ir::Const::String("wood".into()));
    let made: Vec<_> = unit.shaders[0].strings.iter().map(|s| s.value(&parameter)).collect();
    assert!(made.contains(&Some(shadewright_ir::Const::String("wood.3.tx".into()))), "{made:?}");
    // A call that comes back to itself finds nothing.
    let recursive = "float f(float n) { float x = 0; option(\"a\", x); if (n < 1) return x; return f(n - 1); } surface s() { Ci = f(2); }";
    assert!(warnings(recursive).contains("this call of `f` finds no strings"), "{}", warnings(recursive));
}

#[test]
fn components_in_an_open_current_space_are_reported_once() {
    let mut sources = SourceMap::new();
    let text = "surface s() { point q = transform(\"object\", P); Ci = ycomp(q) + ycomp(P) + P[0] + xcomp(N); }";
    let file = sources.add("s.sl", None, text);
    let options = FrontEndOptions { current_is_open: true, ..FrontEndOptions::default() };
    let text = compile(&mut sources, file, &options).expect("a unit").warnings.render(&sources);
    assert!(text.contains("a component of `P` is read in the current space"), "{text}");
    assert_eq!(text.matches("warning").count(), 1, "{text}");
}

#[test]
fn a_string_that_is_assigned_in_order_is_known() {
    let known = "surface s(string base = \"a\") { string n = base; n = concat(n, \".tx\"); { n = concat(\"x/\", n); } Ci = texture(n); }";
    assert_eq!(warnings(known), "");
    let strings = unit(known).shaders[0].strings.clone();
    let parameter = |_: &str| Some(shadewright_ir::Const::String("wood".into()));
    assert_eq!(
        strings.last().and_then(|s| s.value(&parameter)),
        Some(shadewright_ir::Const::String("x/wood.tx".into()))
    );
    for unknown in [
        "surface s(string base = \"a\") { string n = base; if (u > 0.5) n = \"b\"; n = concat(n, \".tx\"); Ci = texture(n); }",
        "surface s(string base = \"a\") { string n = base; float i; for (i = 0; i < 2; i += 1) n = concat(n, \".tx\"); }",
        "float f(string s) { return match(\"a\", s); } surface s() { string n = u > 0.5 ? \"b\" : \"a\"; Ci = f(n); }",
    ] {
        let text = warnings(unknown);
        assert!(text.contains("known at run time only"), "{unknown}: {text}");
    }
}

#[test]
fn a_string_that_doubles_is_bounded() {
    let doublings = "n = concat(n, n); ".repeat(40);
    let shader =
        |start: &str| format!("surface s(string base = \"a\") {{ string n = {start}; {doublings}Ci = texture(n); }}");
    assert_eq!(warnings(&shader("\"0123456789abcdef\"")), "", "a constant is cut");
    let text = warnings(&shader("base"));
    assert!(text.contains("known at run time only"), "{text}");
}

#[test]
fn a_header_that_is_included_twice_defines_its_functions_once() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("half.h"), "float half(float x) { return x / 2; }").expect("a file");
    let text = "#include \"half.h\"\n#include \"half.h\"\nsurface s() { Ci = half(u); }";
    let mut sources = SourceMap::new();
    let file = sources.add("s.sl", Some(&folder.path().join("s.sl")), text);
    let unit =
        compile(&mut sources, file, &FrontEndOptions::default()).unwrap_or_else(|d| panic!("{}", d.render(&sources)));
    assert_eq!(unit.functions.len(), 1);
}

#[test]
fn strings_with_one_identifier_are_an_error() {
    let (result, sources) = compile_text("surface s(string k = \"liquid\") { if (k == \"costarring\") Ci = 1; }");
    let text = result.err().map(|d| d.render(&sources)).expect("an error");
    assert!(
        text.contains("\"liquid\"") && text.contains("\"costarring\"") && text.contains("same identifier"),
        "{text}"
    );
}
