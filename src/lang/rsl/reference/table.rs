//! The table of the language's library: which functions the specification and its usual extensions
//! have, which of them there are here, and why others are not.
//!
//! The functions that there are come from the compiler itself ([`super::super::analysis`]); here
//! are only the names by section, what is known to be missing of a function, and reasons.
//! `docs/rsl.md` is [`markdown`], which a test makes sure of, and the errors about unsupported
//! functions say the same.

use super::super::analysis::{Signature, analyze, predefined};
use super::super::{FrontEndOptions, lexer};
use super::{function, keyword, shader, variable};
use shadewright_base::text::source::SourceMap;
use shadewright_ir::abi::ShaderKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// The functions of RenderMan Interface 3.2.1, chapter 15, and the extensions to it that shaders
/// use.
const SECTIONS: [(&str, &[&str]); 11] = [
    (
        "15.1 Mathematics",
        &[
            "radians",
            "degrees",
            "sin",
            "asin",
            "cos",
            "acos",
            "tan",
            "atan",
            "pow",
            "exp",
            "exp2",
            "sqrt",
            "inversesqrt",
            "log",
            "log2",
            "mod",
            "abs",
            "sign",
            "min",
            "max",
            "clamp",
            "mix",
            "floor",
            "ceil",
            "round",
            "step",
            "smoothstep",
            "filterstep",
            "spline",
            "Du",
            "Dv",
            "Deriv",
            "random",
            "noise",
            "pnoise",
            "cellnoise",
        ],
    ),
    (
        "Fast mathematics",
        &[
            "fastsin", "fastasin", "fastcos", "fastacos", "fasttan", "fastatan", "fastpow", "fastexp", "fastexp2",
            "fastlog", "fastlog2",
        ],
    ),
    (
        "15.2 Geometry",
        &[
            "xcomp",
            "ycomp",
            "zcomp",
            "setxcomp",
            "setycomp",
            "setzcomp",
            "length",
            "normalize",
            "distance",
            "ptlined",
            "rotate",
            "area",
            "faceforward",
            "reflect",
            "refract",
            "fresnel",
            "transform",
            "vtransform",
            "ntransform",
            "depth",
            "calculatenormal",
        ],
    ),
    ("15.3 Colors", &["comp", "setcomp", "mix", "ctransform"]),
    ("15.4 Matrices", &["comp", "setcomp", "mtransform", "determinant", "translate", "rotate", "scale"]),
    ("15.5 Strings", &["printf", "format", "concat", "match"]),
    ("15.6 Shading and lighting", &["ambient", "diffuse", "specular", "specularbrdf", "phong", "trace"]),
    ("15.7 Textures", &["texture", "environment", "shadow", "textureinfo"]),
    (
        "15.8 Messages and information",
        &[
            "atmosphere",
            "displacement",
            "lightsource",
            "surface",
            "incident",
            "opposite",
            "attribute",
            "option",
            "rendererinfo",
            "shadername",
        ],
    ),
    (
        "Extensions",
        &[
            "arraylength",
            "capacity",
            "push",
            "pop",
            "resize",
            "reserve",
            "bump",
            "transmission",
            "occlusion",
            "indirectdiffuse",
            "gather",
            "rayinfo",
            "bake",
            "caustic",
            "photonmap",
            "subsurface",
            "raylevel",
            "raydepth",
            "isindirectray",
            "isshadowray",
            "evalparam",
            "readbin",
            "texture3d",
            "bake3d",
            "areashadow",
            "rayhittest",
            "fulltrace",
            "visibility",
            "getshader",
            "getshaders",
            "getlights",
            "getvar",
            "hasmethod",
            "iscoshader",
        ],
    ),
    ("15.9 Functions from shared libraries", &["DSO shadeops"]),
];

/// The functions that are supported in part, with the limits of each.
const PARTLY: [(&str, &str); 10] = [
    ("rayhittest", "the normal is that of a surface that faces the ray"),
    ("fulltrace", "the normal is that of a surface that faces the ray"),
    ("caustic", "there are no photon maps: it is black, with a warning"),
    ("photonmap", "there are no photon maps: it is black, with a warning"),
    ("subsurface", "light below surfaces is not computed: it is black, with a warning"),
    ("texture3d", "it reads point clouds, and no brick maps"),
    (
        "gather",
        "it returns no strings, matrices and arrays, and `\"subset\"` and `\"hitsides\"` are ignored with a warning",
    ),
    ("incident", "there is never such a parameter: volumes belong to rays"),
    ("opposite", "there is never such a parameter: volumes belong to rays"),
    ("surface", "lights cannot query surfaces"),
];

/// The functions that are not supported, with the reasons.
const UNSUPPORTED: [(&str, &str); 5] = [
    ("DSO shadeops", "code of the machine that renders has no place in programs that run on the RPU and the GPU alike"),
    ("readbin", "shaders read no files but textures"),
    ("areashadow", "it mixes several shadow maps: rays make soft shadows, and `shadow` averages one map"),
    ("evalparam", "it is an extension of one other renderer"),
    ("getlights", "lights are called by `illuminance` alone: it gives an empty array, with a warning"),
];

/// The features of the language beside functions that are not supported, with what a file that has
/// one gets.
const UNSUPPORTED_OF_LANGUAGE: [(&str, &str); 5] = [
    (
        "co-shaders of lights, volumes and imagers",
        "nothing: `getshader` gives `null` in these; and members that a co-shader's method changes are back at the next call",
    ),
    (
        "arrays without a length as arguments of a co-shader's method",
        "an error with the line where one is called with such an array",
    ),
    (
        "`plugin \"name\";`",
        "nothing by itself; a call of a function of the plugin (DSO shadeops) is 0 with a warning, and an error with `--strict`",
    ),
    (
        "`transformation` and `projection` shaders",
        "a warning: they compile and are never called, as rays are straight and geometry is transformed by matrices",
    ),
    ("structs as parameters of shaders", "an error with the line: scenes know no structs"),
];

/// How much of a function there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupportLevel {
    /// All.
    Done,
    /// All but this.
    Partly(&'static str),
    /// Nothing, for this reason.
    Unsupported(&'static str),
    /// Nothing.
    Missing,
}

impl SupportLevel {
    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            SupportLevel::Done => "done",
            SupportLevel::Partly(_) => "partly",
            SupportLevel::Unsupported(_) => "left out",
            SupportLevel::Missing => "missing",
        }
    }

    /// The missing part, or the reason.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            SupportLevel::Partly(why) | SupportLevel::Unsupported(why) => Some(why),
            SupportLevel::Done | SupportLevel::Missing => None,
        }
    }
}

/// A function of the table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The section of the specification, with its title.
    pub section: &'static str,
    /// The name.
    pub name: String,
    /// How much of it there is.
    pub state: SupportLevel,
    /// How it is called; functions that differ in their results alone share a line.
    pub signatures: Vec<String>,
    /// The description of the function.
    pub text: &'static str,
}

/// Why there is no function of that name, where that was decided.
pub fn unsupported(name: &str) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|l| l.0 == name).map(|l| l.1)
}

/// All functions, by section.
pub fn functions() -> Vec<Entry> {
    let mut sources = SourceMap::new();
    let file = sources.add("", None, "");
    let known = analyze(&mut sources, file, &FrontEndOptions::default()).functions;
    let listed: BTreeSet<&str> = SECTIONS.iter().flat_map(|s| s.1).copied().collect();
    let others = known.keys().filter(|name| !listed.contains(&***name)).map(|name| ("More", name.to_string()));
    let sections = SECTIONS.iter().flat_map(|&(section, names)| names.iter().map(move |n| (section, n.to_string())));
    sections.chain(others).map(|(section, name)| entry(section, name, &known)).collect()
}

fn entry(section: &'static str, name: String, known: &BTreeMap<Arc<str>, Vec<Signature>>) -> Entry {
    let overloads = known.get(&*name);
    // Some are statements, with keywords of their own.
    let text = function(&name).or_else(|| keyword(&name));
    let there = overloads.is_some() || text.is_some();
    let state = match (there, unsupported(&name), PARTLY.iter().find(|p| p.0 == name)) {
        (true, _, Some(partly)) => SupportLevel::Partly(partly.1),
        (true, _, None) => SupportLevel::Done,
        (false, Some(why), _) => SupportLevel::Unsupported(why),
        (false, None, _) => SupportLevel::Missing,
    };
    let signatures = overloads.map_or(Vec::new(), |list| joined(list));
    let text = text.unwrap_or_default();
    Entry { section, name, state, signatures, text }
}

/// Signatures as text: those with the same parameters in one line, with all their results.
fn joined(overloads: &[Signature]) -> Vec<String> {
    let mut lines: Vec<(Vec<&'static str>, String)> = Vec::new();
    for s in overloads {
        let call = call(s);
        match lines.iter_mut().find(|l| l.1 == call) {
            Some(line) => line.0.push(s.result.name()),
            None => lines.push((vec![s.result.name()], call)),
        }
    }
    lines.into_iter().map(|(results, call)| format!("{} {call}", results.join("/"))).collect()
}

/// The name and parameters of a signature.
fn call(s: &Signature) -> String {
    let mut parts: Vec<String> = Vec::new();
    for p in &s.params {
        let output = if p.output { "output " } else { "" };
        let name = p.name.as_ref().map_or(String::new(), |n| format!(" {n}"));
        parts.push(format!("{output}{}{name}", p.ty));
    }
    parts.extend(s.variadic.then(|| "…".to_string()));
    parts.extend(s.options.iter().map(|o| o.to_string()));
    format!("{}({})", s.name, parts.join(", "))
}

/// The table as a page of documentation.
pub fn markdown() -> String {
    let mut page = HEAD.to_string();
    let all = functions();
    let mut section = "";
    for entry in &all {
        if entry.section != section {
            section = entry.section;
            let _ = write!(page, "\n### {section}\n\n| function | state | what it is |\n|---|---|---|\n");
        }
        let reason = entry.state.reason().map_or(String::new(), |r| format!(": {r}"));
        let code: Vec<String> = entry.signatures.iter().map(|s| format!("`{}`", s.replace('|', "\\|"))).collect();
        let separator = if code.is_empty() || entry.text.is_empty() { "" } else { "<br>" };
        let what = format!("{}{separator}{}", entry.text, code.join("<br>"));
        let _ = writeln!(page, "| `{}` | {}{reason} | {what} |", entry.name, entry.state.word());
    }
    page += "\n## What is left out\n\n| of the language | message |\n|---|---|\n";
    for (what, reason) in UNSUPPORTED_OF_LANGUAGE {
        let _ = writeln!(page, "| {what} | {reason} |");
    }
    page += "\n| function | why |\n|---|---|\n";
    for (name, why) in UNSUPPORTED {
        let _ = writeln!(page, "| `{name}` | {why} |");
    }
    page += "\n## Predefined variables\n";
    for kind in ShaderKind::ALL {
        let _ = write!(
            page,
            "\n### {} shaders\n\n{}\n\n| variable | meaning |\n|---|---|\n",
            capital(kind.name()),
            shader(kind)
        );
        for v in predefined(Some(kind)) {
            let _ = writeln!(page, "| `{} {}` | {} |", v.ty, v.name, variable(v.name, Some(kind)).unwrap_or_default());
        }
    }
    page += "\n## Keywords\n\n| word | meaning |\n|---|---|\n";
    for word in lexer::KEYWORDS {
        let _ = writeln!(page, "| `{word}` | {} |", keyword(word).unwrap_or_default());
    }
    page + ACCURACY
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

const HEAD: &str = "\
# The shading language

What there is of the RenderMan Shading Language (RenderMan Interface 3.2.1, part II). This page is printed by `shadewright reference`, from the tables
that the compiler uses.

## Functions

After the positional arguments of a call, options are given by name: `filterstep(edge, a, b, \"filter\", \"box\")`. The name is a string literal. An option that is
not given has the value shown; one that a function does not know is ignored, with a warning. `…` stands for more arguments like the last; `a/b f(…)` is a
function for each of these results, and what the call is used for decides.
Functions of floats (`pow`, `mod`, `abs`, `sqrt` and their like) take colors, points, vectors and normals too, component by component, where no function of
the table fits.
";

/// The errors are those that the tests in [`crate::stdlib`] hold.
const ACCURACY: &str = "
## Accuracy

All mathematics is single precision and polynomial, the same operations on every back end.
[math.md](math.md) has the polynomials, and more about errors.

| function | largest error | where |
|---|---|---|
| `sin` `cos` | 2e-7 | within ±12,868 (4096 π); beyond, they lose precision |
| `tan` | 5e-7, relative above 1 | within ±1.5 |
| `asin` `acos` `atan` | 4e-7 | everywhere |
| `exp` | 3e-7 relative | −87.3 to 88.7; 0 below, the greatest value above |
| `exp2` | 1e-7 relative | −126 to 128; 0 below, the greatest value above |
| `log` `log2` | 2e-7, relative above 1 | from 1.18e-38 on; below, −3.4e38 |
| `pow` | 5e-6 relative | results from 1e-10 to 1e10 |
| `/` | 1 unit in the last place | `a / b` is `a` times the reciprocal of `b` |

`pow(0, 0)` is 1; a negative base takes whole exponents and gives 0 for others. `atan(0, 0)` is 0. `mod(a, b)` has the sign of `b` and is exact for whole numbers below
2²². `round` takes halves up. `inversesqrt(0)` is infinite, `normalize` of the zero vector is the zero vector.
";

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn every_function_that_there_is_has_a_test_of_its_values() {
        let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests");
        let read = |path: PathBuf| fs::read_to_string(path).expect("a file of tests");
        let folders = ["lang/snippets", "render/shading", "baking"]
            .map(|name| fs::read_dir(tests.join(name)).expect("a folder of tests"));
        let mut text: String = folders.into_iter().flatten().map(|e| read(e.expect("a file").path())).collect();
        ["render/textures.rs", "render/derivatives.rs"].into_iter().for_each(|name| text += &read(tests.join(name)));
        let is_called = |name: &str| {
            let before = |at: usize| text[..at].chars().next_back();
            let behind = |at: usize| text[at + name.len()..].trim_start().starts_with('(');
            text.match_indices(name)
                .any(|(at, _)| behind(at) && before(at).is_none_or(|c| !c.is_alphanumeric() && c != '_'))
        };
        let there = functions().into_iter().filter(|e| matches!(e.state, SupportLevel::Done | SupportLevel::Partly(_)));
        let untested: Vec<String> = there.map(|e| e.name).filter(|name| !is_called(name)).collect();
        assert!(untested.is_empty(), "{untested:?}");
    }

    #[test]
    fn the_page_in_the_documentation_is_what_the_tables_say() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/rsl.md");
        if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
            std::fs::write(&path, markdown()).expect("the page can be written");
        }
        let page = std::fs::read_to_string(&path).expect("there is a page");
        let first = page.lines().zip(markdown().lines().map(str::to_string)).find(|(old, new)| old != new);
        assert!(
            page == markdown(),
            "docs/rsl.md is out of date: `shadewright reference > docs/rsl.md` rewrites it; the first difference: {first:?}"
        );
    }

    #[test]
    fn no_function_is_left_out_that_there_is() {
        let all = functions();
        for (name, why) in UNSUPPORTED {
            assert!(all.iter().any(|e| e.name == name && e.state == SupportLevel::Unsupported(why)), "{name}");
        }
        for (name, what) in PARTLY {
            assert!(all.iter().any(|e| e.name == name && e.state == SupportLevel::Partly(what)), "{name}");
        }
    }

    #[test]
    fn functions_that_differ_in_their_result_share_a_line() {
        let all = functions();
        let noise = all.iter().find(|e| e.name == "noise").expect("noise");
        assert_eq!(noise.signatures[0], "float/color/point/vector noise(float)");
        assert_eq!(noise.signatures.len(), 4);
    }
}
