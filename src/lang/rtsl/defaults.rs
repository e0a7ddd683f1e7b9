//! Default methods of materials: source text that is inserted into a class before parsing.
//!
//! - A class with a `BSDF` and without `sampleBSDF` and `evaluatePDF` gets both, with
//!   cosine-weighted directions ("to enable importance sampling, a class *can* implement" them,
//!   Parker et al. 2007, §3.3.3).
//! - A class with a `sampleBSDF` and without a `BSDF`, such as a mirror, is a delta distribution:
//!   it gets a black `BSDF` and an `evaluatePDF` of 0.
//! - A class with a `BSDF`, a `sampleBSDF` or an `emission` and without `shade` gets one, for
//!   integrators without paths: it sums the BSDF over the lights and traces a ray where
//!   `sampleBSDF` chooses a delta direction. A light's color is that of a white diffuse surface
//!   that faces it, so its irradiance is π times that. The renderer adds emission.

use super::lexer;
use super::state::{Interface, Method};
use crate::preprocess::{PreprocessOptions, preprocess};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;
use shadewright_base::tokens::{Tok, Token};

/// The name of the text in messages.
const NAME: &str = "<built-in material.rtsl>";

/// Directions around the normal (Malley's method), with two axes across it by Duff et al.,
/// "Building an Orthonormal Basis, Revisited", 2017.
const SAMPLING: &str = "
void sampleBSDF() {
    vec3 N = normalize(faceforward(rt_ShadingNormal, rt_RayDirection, rt_ShadingNormal));
    float side = N.z < 0. ? -1. : 1.;
    float k = -1. / (side + N.z);
    float m = N.x * N.y * k;
    float radius = sqrt(rt_BSDFSeed.x);
    float angle = 2. * PI * rt_BSDFSeed.y;
    rt_LightDirection = radius * cos(angle) * vec3(1. + side * N.x * N.x * k, side * m, -side * N.x)
        + radius * sin(angle) * vec3(m, side + N.y * N.y * k, -N.y) + sqrt(max(0., 1. - rt_BSDFSeed.x)) * N;
}
void evaluatePDF() {
    vec3 N = normalize(faceforward(rt_ShadingNormal, rt_RayDirection, rt_ShadingNormal));
    rt_PDF = max(0., dot(rt_LightDirection, N)) / PI;
}
";

/// The `BSDF` of a class that takes light from single directions only.
const DELTA: &str = "
void BSDF() { rt_BSDFValue = color(0.); }
";

/// And its `evaluatePDF`.
const ZERO_PDF: &str = "
void evaluatePDF() { rt_PDF = 0.; }
";

/// `shade` of a class that scatters light. Methods may bend the normals, each from where they were.
const SCATTERING: &str = "
void shade() {
    vec3 geometric = rt_GeometricNormal;
    vec3 shading = rt_ShadingNormal;
    color sent = color(0.);
    sampleBSDF();
    if (luminance(rt_BSDFValue) > 0.)
        sent += rt_BSDFValue * trace(rt_HitPoint, rt_LightDirection);
    rt_GeometricNormal = geometric;
    rt_ShadingNormal = shading;
    illuminance(rt_HitPoint, shading, shading, PI) {
        rt_BSDFValue = color(0.);
        BSDF();
        sent += rt_BSDFValue * rt_LightColor * (PI * abs(dot(rt_LightDirection, normalize(rt_ShadingNormal))));
        rt_GeometricNormal = geometric;
        rt_ShadingNormal = shading;
    }
    rt_SampleColor = sent;
}
";

/// `shade` of a class that only shines.
const EMISSIVE: &str = "
void shade() { rt_SampleColor = color(0.); }
";

/// A class in the text of a file.
struct Section {
    /// Where its tokens end.
    end: usize,
    name: String,
    /// The interfaces and base classes.
    bases: Vec<String>,
    /// The functions that it defines.
    functions: Vec<String>,
}

/// The tokens of a file with what its materials lack; as they are where a brace stays open, since
/// nobody knows where its class ends.
pub fn complete(tokens: Vec<Token>, sources: &mut SourceMap) -> Vec<Token> {
    let Some(sections) = sections(&tokens) else { return tokens };
    let lacking: Vec<(usize, &str)> = sections
        .iter()
        .flat_map(|section| missing(&sections, section).into_iter().map(|text| (section.end, text)))
        .collect();
    let mut out = Vec::with_capacity(tokens.len());
    let mut from = 0;
    for (end, text) in lacking {
        out.extend_from_slice(&tokens[from..end]);
        out.extend(lexed(text, sources));
        from = end;
    }
    out.extend_from_slice(&tokens[from..]);
    out
}

/// The tokens of a text that comes with the program.
fn lexed(text: &str, sources: &mut SourceMap) -> Vec<Token> {
    let file = sources.add(NAME.to_string(), None, text);
    let raw = preprocess(sources, file, &PreprocessOptions::default(), &mut Diagnostics::new());
    let mut tokens = lexer::lex(file, &raw.tokens);
    tokens.pop();
    tokens
}

/// The classes of a file, each up to where the next begins; none where a brace stays open.
fn sections(tokens: &[Token]) -> Option<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    let mut depth = 0usize;
    let mut in_head = false;
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1).map(|t| &t.tok);
        match (&token.tok, sections.last_mut()) {
            (Tok::Keyword("class"), _) if depth == 0 => {
                let name = if let Some(Tok::Name(name)) = next { name.to_string() } else { String::new() };
                let before = sections.last_mut();
                before.into_iter().for_each(|section| section.end = i);
                sections.push(Section { end: tokens.len() - 1, name, bases: Vec::new(), functions: Vec::new() });
                in_head = true;
            }
            (Tok::Punct(";"), _) => in_head = false,
            (Tok::Punct("{"), _) => depth += 1,
            (Tok::Punct("}"), _) => depth = depth.saturating_sub(1),
            (Tok::Name(name), Some(section)) if in_head => section.bases.push(name.to_string()),
            (Tok::Name(name), Some(section)) if depth == 0 && next == Some(&Tok::Punct("(")) => {
                section.functions.push(name.to_string());
            }
            _ => {}
        }
    }
    (depth == 0).then_some(sections)
}

/// The texts that a class lacks.
fn missing(sections: &[Section], section: &Section) -> Vec<&'static str> {
    let lineage = lineage(sections, section);
    let is_material = lineage.iter().any(|s| s.bases.iter().any(|b| b == Interface::Material.name()));
    let own = |method: Method| section.functions.iter().any(|f| f == method.name());
    let has = |method: Method| lineage.iter().any(|s| s.functions.iter().any(|f| f == method.name()));
    let mut texts = Vec::new();
    if !is_material {
        return texts;
    }
    let scatters = has(Method::Bsdf) || has(Method::SampleBsdf);
    let samples = has(Method::SampleBsdf) || has(Method::EvaluatePdf);
    if own(Method::Bsdf) && !samples {
        texts.push(SAMPLING);
    }
    if own(Method::SampleBsdf) && !has(Method::Bsdf) {
        texts.push(DELTA);
        if !has(Method::EvaluatePdf) {
            texts.push(ZERO_PDF);
        }
    }
    // What is inherited may call methods that are this class's own.
    if !has(Method::Shade) && [Method::Bsdf, Method::SampleBsdf, Method::Emission].into_iter().any(own) {
        texts.push(if scatters { SCATTERING } else { EMISSIVE });
    }
    texts
}

/// A class and its base classes in the file.
fn lineage<'s>(sections: &'s [Section], section: &'s Section) -> Vec<&'s Section> {
    let mut all = vec![section];
    let mut i = 0;
    while let Some(current) = all.get(i) {
        let bases = sections.iter().filter(|s| current.bases.contains(&s.name));
        let new: Vec<&Section> = bases.filter(|s| !all.iter().any(|known| std::ptr::eq(*known, *s))).collect();
        all.extend(new);
        i += 1;
    }
    all
}
