//! Shaders that ask for much memory where they are compiled.

use crate::memory::{Case, Files};

/// A shader `s.sl` that has as many of these lines as fit; each is given its number.
fn shader(bytes: usize, before: &str, line: impl Fn(usize) -> String) -> Files {
    let mut text = format!("surface s() {{ color c = 0; float y = t;\n{before}\n");
    for number in 0.. {
        let line = line(number);
        if text.len() + line.len() > bytes {
            break;
        }
        text += &line;
    }
    vec![("s.sl", (text + "Ci = c; Oi = 1; }\n").into_bytes())]
}

fn calls(bytes: usize) -> Files {
    shader(bytes, "", |i| format!("c += noise(P*{i})*texture(\"t{i}.tx\",s,t);\n"))
}

fn branches(bytes: usize) -> Files {
    shader(bytes, "", |i| format!("if (y > {i}) {{ c += color(s,t,{i}); y = y*0.5; }} else y += s*{i};\n"))
}

fn loops(bytes: usize) -> Files {
    shader(bytes, "float i;", |i| format!("for (i = 0; i < s*{i}; i += 1) c += noise(P*i)/(i+1);\n"))
}

fn lights(bytes: usize) -> Files {
    shader(bytes, "", |i| format!("illuminance(P,N,1.{i}) {{ c += Cl*{i}; }}\n"))
}

fn selections(bytes: usize) -> Files {
    shader(bytes, "", |i| format!("c += (s > {i}*.1 ? t*{i} : s*s);\n"))
}

fn reciprocals(bytes: usize) -> Files {
    shader(bytes, "vector v = P;", |i| format!("v = normalize(v+vector({i},s,t)); c += 1/(v.v);\n"))
}

fn arrays(bytes: usize) -> Files {
    shader(bytes, "float a[64];", |i| format!("a[{}] = s*{i}; c += a[mod(s*{i},64)];\n", i % 64))
}

fn terms(bytes: usize) -> Files {
    shader(bytes, "c = s", |i| if i == 0 { "+s;".to_string() } else { format!("c = c{};\n", "+s*t".repeat(64)) })
}

/// Values that are all there before any is used.
fn live(bytes: usize) -> Files {
    let count = bytes / 60;
    shader(bytes, "", |i| match i {
        i if i < count => format!("float c{i} = sin(s*{i}+t);\n"),
        i if i < 2 * count => format!("c += c{}*y; y = sin(y);\n", i - count),
        _ => " ".repeat(bytes),
    })
}

/// Values that live through many branches.
fn live_through_branches(bytes: usize) -> Files {
    let count = bytes / 90;
    shader(bytes, "", |i| match i {
        i if i < count => format!("float c{i} = sin(s*{i}+t);\n"),
        i if i < 2 * count => format!("if (y > c{0}) y = sin(y+{0}); else y = y*2;\n", i - count),
        i if i < 3 * count => format!("c += c{}*y;\n", i - 2 * count),
        _ => " ".repeat(bytes),
    })
}

/// Functions that call each other twice.
fn doubled(bytes: usize) -> Files {
    let mut text = "float f0(float x) { return sin(x)*cos(x); }\n".to_string();
    let mut last = 0;
    while text.len() + 100 < bytes {
        last += 1;
        text += &format!("float f{last}(float x) {{ return f{0}(x*1.1)+f{0}(x*1.2); }}\n", last - 1);
    }
    text += &format!("surface s() {{ Ci = f{last}(s); Oi = 1; }}\n");
    vec![("s.sl", text.into_bytes())]
}

fn methods(bytes: usize) -> Files {
    let mut text = "class s : rt_Material {\n".to_string();
    let mut last = 0;
    while text.len() + 120 < bytes {
        text += &format!("float f{last}(float x) {{ return x*{last}.0 + sin(x); }}\n");
        last += 1;
    }
    text += "void shade() { rt_EmissionColor = color(f0(1.0)); }\n};\n";
    vec![("s.rtsl", text.into_bytes())]
}

fn macros(bytes: usize) -> Files {
    let mut text = "#define A(x) x+x\n#define B(x) A(A(A(x)))\nsurface s() { float y = 0;\n".to_string();
    while text.len() + 40 < bytes {
        text += "y += B(B(s));\n";
    }
    vec![("s.sl", (text + "Ci = y; Oi = 1; }\n").into_bytes())]
}

const RPU: &[&str] = &["compile", "s.sl", "--emit", "rpu", "--out", "o"];
const WGSL: &[&str] = &["compile", "s.sl", "--emit", "wgsl", "--out", "o"];
const IR: &[&str] = &["compile", "s.sl", "--emit", "ir", "--out", "o"];

/// A compiler that is not optimized takes seconds for 2 KB.
const fn case(stage: &'static str, what: &'static str, files: fn(usize) -> Files) -> Case {
    Case::checked(stage, what, files).from(2000)
}

/// All cases.
pub const CASES: &[Case] = &[
    case("RSL and passes", "calls", calls).with(IR),
    case("RSL and passes", "values through branches", live_through_branches).with(IR),
    case("RSL and passes", "functions that call others twice", doubled).with(IR),
    case("RSL and passes", "blocks of `illuminance`", lights).with(IR),
    case("preprocessor", "macros in macros", macros).with(IR),
    case("RTSL", "methods", methods).with(&["compile", "s.rtsl", "--emit", "ir", "--out", "o"]),
    case("registers of the RPU", "calls", calls).with(RPU),
    case("registers of the RPU", "branches", branches).with(RPU),
    case("registers of the RPU", "loops", loops).with(RPU),
    case("registers of the RPU", "selections", selections).with(RPU),
    case("registers of the RPU", "reciprocals", reciprocals).with(RPU),
    case("registers of the RPU", "arrays", arrays).with(RPU),
    case("registers of the RPU", "long sums", terms).with(RPU),
    case("registers of the RPU", "values that live at once", live).with(RPU),
    case("WGSL", "calls", calls).with(WGSL),
    case("WGSL", "branches", branches).with(WGSL),
    case("WGSL", "values that live at once", live).with(WGSL),
];
