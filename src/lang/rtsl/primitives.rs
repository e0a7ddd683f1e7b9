//! Attributes of a hit on a primitive: the methods that compute each, in order, and the state
//! variables that the renderer reads afterwards.
//!
//! A method may read `scratch` variables that `intersect` has set. They are not stored with a hit:
//! `intersect` runs again for the primitive that was hit, before the other methods.

use super::classes::FunctionId;
use super::lower::{Built, Object, Results, build_of_several};
use super::state::{Interface, Method};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_ir::Module;

/// The kind of question to a primitive about the point where it was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtHit {
    /// `Ng` and `N`; of a class without `computeNormal` also `dPdu` and `dPdv`, whose cross product
    /// is the normal where `intersect` has set none.
    Normal,
    /// `uv` and `uvw`, and how they follow the surface parameters: `dsdu dsdv dtdu dtdv`.
    Texture,
    /// `dPdu` and `dPdv`.
    Derivatives,
    /// `pdf`: the pdf of `generateSample` there, by area.
    Pdf,
    /// `scratch.…`: what `intersect` leaves in `scratch` variables for the methods of the material
    /// that the class is, too.
    Scratch,
}

use Method::{ComputeDerivatives, ComputeNormal, ComputeTextureCoordinates, GenerateSample, Intersect, SamplePdf};

const NORMAL: &[(&str, &str)] = &[("Ng", "rt_GeometricNormal"), ("N", "rt_ShadingNormal")];
const TANGENTS: &[(&str, &str)] = &[("dPdu", "rt_dPdu"), ("dPdv", "rt_dPdv")];
const NORMAL_OR_TANGENTS: &[(&str, &str)] = &[NORMAL[0], NORMAL[1], TANGENTS[0], TANGENTS[1]];
const TEXTURE: &[(&str, &str)] = &[
    ("uv", "rt_TextureUV"),
    ("uvw", "rt_TextureUVW"),
    ("dsdu", "rt_dsdu"),
    ("dsdv", "rt_dsdv"),
    ("dtdu", "rt_dtdu"),
    ("dtdv", "rt_dtdv"),
];

const PDF: &[(&str, &str)] = &[("pdf", "rt_PDF")];

/// The message about a class that has one of the two methods by which its light is found, and lacks
/// the other.
fn missing_sampling_method(object: &Object, own: FunctionId, other: Method) -> Diagnostics {
    let (class, name) = (&object.file.classes[object.class].name, &object.file.function(own).name);
    let message = format!("the class `{}` has `{}` and no `{}`", class.name, name.name, other.name());
    let d = Diagnostic::error(message).at(name.span, "both are needed");
    let d = d.hint(match other {
        GenerateSample => "`void generateSample()` sets rt_HitPoint to a point of the surface",
        _ => "`void samplePDF()` sets rt_PDF to the pdf of choosing rt_HitPoint, by area",
    });
    d.hint("without both, the light of the primitive is not sampled: rays find it").into()
}

impl AtHit {
    /// All of them.
    pub const ALL: [AtHit; 5] = [AtHit::Normal, AtHit::Texture, AtHit::Derivatives, AtHit::Pdf, AtHit::Scratch];

    /// The name as a part of the names of cores.
    pub fn name(self) -> &'static str {
        match self {
            AtHit::Normal => "normal",
            AtHit::Texture => "texture",
            AtHit::Derivatives => "derivatives",
            AtHit::Pdf => "pdf",
            AtHit::Scratch => "scratch",
        }
    }

    /// The core that answers for an object; `None` where its class leaves it to the renderer. Its
    /// named inputs are those of `intersect`, `P`, and the point in the world as `uvw`; `ray.t` is
    /// the hit's distance, and `intersect` finds it again from `ray.t_min` on.
    ///
    /// # Errors
    /// The errors that only the scene shows, a class that sets no normal, and one that has
    /// `generateSample` without `samplePDF`, or the reverse.
    pub fn build(self, object: &Object, library: &Module, name: &str) -> Result<Option<Built>, Diagnostics> {
        if self == AtHit::Scratch {
            let is_material = object.file.classes[object.class].interfaces.contains(&Interface::Material);
            let is_read = is_material && object.has_scratch();
            let build = || build_of_several(object, &[Intersect], Results::Scratch, library, name);
            return is_read.then(build).transpose();
        }
        let has = |method: Method| object.file.method(object.class, method).is_some();
        let mut methods = Vec::new();
        let mut run = |method: Method, is_needed: bool| methods.extend((is_needed && has(method)).then_some(method));
        let asks_normal = matches!(self, AtHit::Normal | AtHit::Pdf);
        run(Intersect, object.has_scratch() || asks_normal && !has(ComputeNormal));
        let results = match self {
            AtHit::Normal if has(ComputeNormal) => {
                run(ComputeNormal, true);
                NORMAL
            }
            AtHit::Normal => {
                if !has(ComputeDerivatives) && !object.mentions("rt_GeometricNormal") {
                    let class = &object.file.classes[object.class].name;
                    let d = Diagnostic::error(format!("the class `{}` sets no normal", class.name));
                    let d = d.at(class.span, "this class");
                    return Err(d
                        .hint("`void computeNormal()` sets rt_GeometricNormal; so may `intersect`, where `hit` is true, and `computeDerivatives` gives tangents")
                        .into());
                }
                run(ComputeDerivatives, true);
                NORMAL_OR_TANGENTS
            }
            AtHit::Texture if has(ComputeTextureCoordinates) => {
                run(ComputeNormal, true);
                run(ComputeDerivatives, true);
                run(ComputeTextureCoordinates, true);
                TEXTURE
            }
            AtHit::Derivatives if has(ComputeDerivatives) => {
                run(ComputeNormal, true);
                run(ComputeDerivatives, true);
                TANGENTS
            }
            AtHit::Pdf => match [GenerateSample, SamplePdf].map(|m| object.file.method(object.class, m)) {
                [Some(_), Some(_)] => {
                    run(ComputeNormal, true);
                    run(ComputeDerivatives, true);
                    run(SamplePdf, true);
                    PDF
                }
                [Some(own), None] => return Err(missing_sampling_method(object, own, SamplePdf)),
                [None, Some(own)] => return Err(missing_sampling_method(object, own, GenerateSample)),
                [None, None] => return Ok(None),
            },
            AtHit::Texture | AtHit::Derivatives | AtHit::Scratch => return Ok(None),
        };
        build_of_several(object, &methods, Results::State(results), library, name).map(Some)
    }
}
