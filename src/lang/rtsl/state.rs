//! The interfaces of RTSL, their methods, and the variables of the renderer that each method may
//! read and write: one table for checker, linker, editors and documentation.
//!
//! Source: Parker et al. 2007, "RTSL: a Ray Tracing Shading Language", table 1 and §3.3–3.4. The
//! table there leaves out some that the text and the listings use (`rt_HitDistance` and the normals
//! in materials, the hit point in primitives and textures, the color of lights,
//! `rt_FloatTextureValue` outside of textures), and gives `dsdu` and its relatives two types: here
//! they are four floats. What an object that a method calls leaves in a variable is read by the
//! caller: a material reads `rt_TextureColor` after `texture.lookup()`. It also says nothing of
//! textures in lights, or looked up elsewhere than at the surface's coordinates: here the methods
//! that call textures, and textures themselves, may set the coordinates.

use super::types::{BasicType, Scalar};
use std::fmt;

/// The purpose of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interface {
    /// Makes rays.
    Camera,
    /// Is hit by rays.
    Primitive,
    /// Gives a color or a number for a place.
    Texture,
    /// Gives the light that leaves a place.
    Material,
    /// Gives the light that arrives at a place.
    Light,
}

impl Interface {
    /// All of them.
    pub const ALL: [Interface; 5] =
        [Interface::Camera, Interface::Primitive, Interface::Texture, Interface::Material, Interface::Light];

    /// The name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Interface::Camera => "rt_Camera",
            Interface::Primitive => "rt_Primitive",
            Interface::Texture => "rt_Texture",
            Interface::Material => "rt_Material",
            Interface::Light => "rt_Light",
        }
    }

    /// The interface of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|i| i.name() == name)
    }

    /// The methods.
    pub fn methods(self) -> impl Iterator<Item = Method> {
        Method::ALL.into_iter().filter(move |m| m.interface() == self)
    }

    /// The variables that some method of it may read or write.
    pub fn variables(self) -> impl Iterator<Item = &'static StateVariable> {
        VARIABLES.iter().filter(move |v| self.methods().any(|m| v.is_read_in(m) || v.is_written_in(m)))
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A method that a renderer calls: without arguments and without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// `rt_Camera`: makes the ray of a place on the image.
    GenerateRay,
    /// `rt_Primitive`: says by `hit(t)` where the ray meets it.
    Intersect,
    /// `rt_Primitive`: its box.
    ComputeBounds,
    /// `rt_Primitive`: the normal where it was hit.
    ComputeNormal,
    /// `rt_Primitive`: the texture coordinates where it was hit.
    ComputeTextureCoordinates,
    /// `rt_Primitive`: the tangents where it was hit.
    ComputeDerivatives,
    /// `rt_Primitive`: a point of it at random.
    GenerateSample,
    /// `rt_Primitive`: the pdf of such a point, by area.
    SamplePdf,
    /// `rt_Texture`: its value.
    Lookup,
    /// `rt_Material`: the color of the light that leaves the place.
    Shade,
    /// `rt_Material`: how much light of a direction leaves in another.
    Bsdf,
    /// `rt_Material`: a direction at random.
    SampleBsdf,
    /// `rt_Material`: the pdf of such a direction, by solid angle.
    EvaluatePdf,
    /// `rt_Material`: the light that it sends itself.
    Emission,
    /// `rt_Material`: its opacity.
    Opacity,
    /// `rt_Light`: the light that arrives.
    Illumination,
}

use Method::*;

impl Method {
    /// All of them.
    pub const ALL: [Method; 16] = [
        GenerateRay,
        Intersect,
        ComputeBounds,
        ComputeNormal,
        ComputeTextureCoordinates,
        ComputeDerivatives,
        GenerateSample,
        SamplePdf,
        Lookup,
        Shade,
        Bsdf,
        SampleBsdf,
        EvaluatePdf,
        Emission,
        Opacity,
        Illumination,
    ];

    /// The name in the language.
    pub fn name(self) -> &'static str {
        match self {
            GenerateRay => "generateRay",
            Intersect => "intersect",
            ComputeBounds => "computeBounds",
            ComputeNormal => "computeNormal",
            ComputeTextureCoordinates => "computeTextureCoordinates",
            ComputeDerivatives => "computeDerivatives",
            GenerateSample => "generateSample",
            SamplePdf => "samplePDF",
            Lookup => "lookup",
            Shade => "shade",
            Bsdf => "BSDF",
            SampleBsdf => "sampleBSDF",
            EvaluatePdf => "evaluatePDF",
            Emission => "emission",
            Opacity => "opacity",
            Illumination => "illumination",
        }
    }

    /// The interface that has it.
    pub fn interface(self) -> Interface {
        match self {
            GenerateRay => Interface::Camera,
            Intersect
            | ComputeBounds
            | ComputeNormal
            | ComputeTextureCoordinates
            | ComputeDerivatives
            | GenerateSample
            | SamplePdf => Interface::Primitive,
            Lookup => Interface::Texture,
            Shade | Bsdf | SampleBsdf | EvaluatePdf | Emission | Opacity => Interface::Material,
            Illumination => Interface::Light,
        }
    }

    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// A variable of the renderer's state.
#[derive(Debug, PartialEq, Eq)]
pub struct StateVariable {
    /// The name, with `rt_`.
    pub name: &'static str,
    /// The type.
    pub ty: BasicType,
    /// The methods that may read it, beside those that may write it.
    reads: &'static [Method],
    /// The methods that may write it.
    writes: &'static [Method],
    /// The meaning, in words.
    pub meaning: &'static str,
}

impl StateVariable {
    /// True if a method, or what it calls, may read it.
    pub fn is_read_in(&self, method: Method) -> bool {
        self.reads.contains(&method) || self.is_written_in(method)
    }

    /// True if a method, or what it calls, may write it.
    pub fn is_written_in(&self, method: Method) -> bool {
        self.writes.contains(&method)
    }
}

/// The variable of that name.
pub fn find(name: &str) -> Option<&'static StateVariable> {
    VARIABLES.iter().find(|v| v.name == name)
}

const FLOAT: BasicType = BasicType::Scalar(Scalar::Float);
const VEC2: BasicType = BasicType::Vector(Scalar::Float, 2);
const VEC3: BasicType = BasicType::Vector(Scalar::Float, 3);
const COLOR: BasicType = BasicType::Color;

const fn row(
    name: &'static str,
    ty: BasicType,
    reads: &'static [Method],
    writes: &'static [Method],
    meaning: &'static str,
) -> StateVariable {
    StateVariable { name, ty, reads, writes, meaning }
}

/// Where a place has been found: the methods that look at it.
const AT_HIT: &[Method] = &[
    ComputeNormal,
    ComputeTextureCoordinates,
    ComputeDerivatives,
    SamplePdf,
    Lookup,
    Shade,
    Bsdf,
    SampleBsdf,
    EvaluatePdf,
    Emission,
    Opacity,
    Illumination,
];

/// All that knows the ray.
const OF_RAY: &[Method] = &[
    Intersect,
    ComputeNormal,
    ComputeTextureCoordinates,
    ComputeDerivatives,
    GenerateSample,
    SamplePdf,
    Lookup,
    Shade,
    Bsdf,
    SampleBsdf,
    EvaluatePdf,
    Emission,
    Opacity,
];

/// The same, and what makes the ray.
const GENERATED_OR_OF_RAY: &[Method] = &[
    GenerateRay,
    Intersect,
    ComputeNormal,
    ComputeTextureCoordinates,
    ComputeDerivatives,
    GenerateSample,
    SamplePdf,
    Lookup,
    Shade,
    Bsdf,
    SampleBsdf,
    EvaluatePdf,
    Emission,
    Opacity,
];

/// The methods that look at a place that is shaded.
const SHADING: &[Method] = &[Lookup, Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission, Opacity];

/// The same, and what makes the ray.
const GENERATED_OR_SHADING: &[Method] = &[GenerateRay, Lookup, Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission, Opacity];

/// The methods that call textures: those of materials, and of lights.
const CALLS_TEXTURES: &[Method] = &[Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission, Opacity, Illumination];

const ANYWHERE: &[Method] = &Method::ALL;

/// All of them.
pub const VARIABLES: [StateVariable; 36] = [
    row(
        "rt_RayOrigin",
        VEC3,
        OF_RAY,
        &[GenerateRay],
        "Where the ray starts. `generateSample` and `samplePDF` find the place that is lit.",
    ),
    row(
        "rt_RayDirection",
        VEC3,
        OF_RAY,
        &[GenerateRay],
        "The direction of the ray; not of length 1. `generateSample` finds 0, as there is none yet.",
    ),
    row(
        "rt_InverseRayDirection",
        VEC3,
        GENERATED_OR_OF_RAY,
        &[],
        "One over each component of the direction of the ray; in a camera, of the direction that it has set.",
    ),
    row("rt_Epsilon", FLOAT, ANYWHERE, &[], "A small length that hides rounding."),
    row("rt_TimeSeed", FLOAT, ANYWHERE, &[], "The time of the ray within the shutter, from 0 to 1."),
    row(
        "rt_HitDistance",
        FLOAT,
        OF_RAY,
        &[GenerateRay],
        "How far the nearest hit so far lies along the ray, in lengths of its direction. A camera may set where its rays end; they end nowhere otherwise.",
    ),
    row("rt_ScreenCoord", VEC2, &[GenerateRay], &[], "The place on the image, from 0 to 1."),
    row("rt_LensCoord", VEC2, &[GenerateRay], &[], "A place on the lens at random, from 0 to 1."),
    row("rt_BoundMin", VEC3, &[], &[ComputeBounds], "The least corner of the box around the primitive."),
    row("rt_BoundMax", VEC3, &[], &[ComputeBounds], "The greatest corner of the box around the primitive."),
    row(
        "rt_HitPoint",
        VEC3,
        AT_HIT,
        &[GenerateSample],
        "The point that was hit, or that is lit; of a primitive, one that is chosen at random.",
    ),
    row(
        "rt_GeometricNormal",
        VEC3,
        AT_HIT,
        &[Intersect, ComputeNormal, Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission],
        "The normal of the surface. Setting it sets the shading normal too.",
    ),
    row(
        "rt_ShadingNormal",
        VEC3,
        AT_HIT,
        &[Intersect, ComputeNormal, Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission],
        "The normal that light is computed with.",
    ),
    row(
        "rt_TextureUV",
        VEC2,
        SHADING,
        &[ComputeTextureCoordinates, Lookup, Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission, Opacity, Illumination],
        "Texture coordinates. Of a primitive that gives none, the point in the world. A light sets them for a texture that it looks up; a material or a texture that does so sets them back.",
    ),
    row(
        "rt_TextureUVW",
        VEC3,
        SHADING,
        &[ComputeTextureCoordinates, Lookup, Shade, Bsdf, SampleBsdf, EvaluatePdf, Emission, Opacity, Illumination],
        "Texture coordinates in three dimensions. Of a primitive that gives none, the point in the world.",
    ),
    row("rt_dPdu", VEC3, SHADING, &[ComputeDerivatives], "How the point changes with the first surface parameter."),
    row("rt_dPdv", VEC3, SHADING, &[ComputeDerivatives], "How the point changes with the second surface parameter."),
    row(
        "rt_dsdu",
        FLOAT,
        SHADING,
        &[ComputeTextureCoordinates, ComputeDerivatives],
        "How the first texture coordinate changes with the first surface parameter.",
    ),
    row(
        "rt_dsdv",
        FLOAT,
        SHADING,
        &[ComputeTextureCoordinates, ComputeDerivatives],
        "How the first texture coordinate changes with the second surface parameter.",
    ),
    row(
        "rt_dtdu",
        FLOAT,
        SHADING,
        &[ComputeTextureCoordinates, ComputeDerivatives],
        "How the second texture coordinate changes with the first surface parameter.",
    ),
    row(
        "rt_dtdv",
        FLOAT,
        SHADING,
        &[ComputeTextureCoordinates, ComputeDerivatives],
        "How the second texture coordinate changes with the second surface parameter.",
    ),
    row(
        "rt_du",
        FLOAT,
        GENERATED_OR_SHADING,
        &[],
        "How much the first surface parameter changes to the next sample; in a camera, how much `rt_ScreenCoord.x` changes to the next pixel.",
    ),
    row(
        "rt_dv",
        FLOAT,
        GENERATED_OR_SHADING,
        &[],
        "How much the second surface parameter changes to the next sample; in a camera, how much `rt_ScreenCoord.y` changes to the next pixel.",
    ),
    row(
        "rt_PDF",
        FLOAT,
        &[GenerateSample, SampleBsdf],
        &[SamplePdf, EvaluatePdf],
        "The pdf of a sample: by area for a primitive, by solid angle for a material.",
    ),
    row("rt_TextureColor", COLOR, CALLS_TEXTURES, &[Lookup], "The color that a texture gives."),
    row("rt_FloatTextureValue", FLOAT, CALLS_TEXTURES, &[Lookup], "The number that a texture gives."),
    row(
        "rt_LightDirection",
        VEC3,
        &[Shade, Bsdf, EvaluatePdf],
        &[Illumination, SampleBsdf],
        "The direction towards the light, or of the light that is sampled.",
    ),
    row("rt_LightDistance", FLOAT, &[Shade], &[Illumination], "How far the light is away."),
    row("rt_LightColor", COLOR, &[Shade], &[Illumination], "The light that arrives if nothing stands in the way."),
    row("rt_SampleColor", COLOR, &[], &[Shade], "The light that leaves the place towards the start of the ray."),
    row("rt_EmissionColor", COLOR, &[], &[Emission], "The light that the material sends itself."),
    row(
        "rt_SampleOpacity",
        COLOR,
        &[Bsdf, SampleBsdf, EvaluatePdf, Emission],
        &[Opacity],
        "How much the material covers of what lies behind it.",
    ),
    row(
        "rt_SurfaceColor",
        COLOR,
        SHADING,
        &[],
        "The color that the scene gives the surface there: by `Color`, or by the primitive variable `Cs`.",
    ),
    row(
        "rt_SurfaceOpacity",
        COLOR,
        SHADING,
        &[],
        "The opacity that the scene gives the surface there: by `Opacity`, or by the primitive variable `Os`.",
    ),
    row(
        "rt_BSDFValue",
        COLOR,
        &[EvaluatePdf],
        &[Shade, Bsdf, SampleBsdf],
        "How much of the light from one direction leaves in the other, per unit of projected solid angle. `sampleBSDF` sets it where light takes the direction exactly, as by a mirror: then it is what the light counts, and neither `BSDF` nor `evaluatePDF` is asked for it.",
    ),
    row(
        "rt_BSDFSeed",
        VEC2,
        &[Shade],
        &[SampleBsdf],
        "Two random numbers from 0 to below 1. A material that chooses among others gives them numbers of their own.",
    ),
];

/// The table as a page of the documentation: who may read and write what.
pub fn markdown() -> String {
    let mut text = String::from(
        "# The renderer's state in RTSL\n\nPrinted by `shadewright reference --rtsl` from the table that the compiler uses: what each method, and what it calls, may read and set.\n\n\
         | variable | type | what it is | read in | set in |\n|---|---|---|---|---|\n",
    );
    for v in &VARIABLES {
        let list = |may: &dyn Fn(Method) -> bool| {
            let methods: Vec<&str> = Method::ALL.into_iter().filter(|m| may(*m)).map(Method::name).collect();
            if methods.len() == Method::ALL.len() { "all methods".to_string() } else { methods.join(", ") }
        };
        let reads = list(&|m| v.is_read_in(m) && !v.is_written_in(m));
        let writes = list(&|m| v.is_written_in(m));
        text += &format!("| `{}` | `{}` | {} | {reads} | {writes} |\n", v.name, v.ty, v.meaning);
    }
    text += "\n| interface | methods |\n|---|---|\n";
    for interface in Interface::ALL {
        let methods: Vec<String> = interface.methods().map(|m| format!("`{}`", m.name())).collect();
        text += &format!("| `{interface}` | {} |\n", methods.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `SHADEWRIGHT_BLESS=1 cargo test --lib rtsl::state` writes the page again.
    #[test]
    fn the_page_of_the_documentation_is_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rtsl-state.md");
        if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
            std::fs::write(path, markdown()).expect("the page can be written");
        }
        let page = std::fs::read_to_string(path).expect("the page is part of the repository");
        assert!(page == markdown(), "docs/rtsl-state.md is not what the table says: write it again");
    }

    #[test]
    fn every_interface_has_methods_and_every_method_something_to_leave_but_intersect() {
        for interface in Interface::ALL {
            assert_eq!(Interface::named(interface.name()), Some(interface));
            assert!(interface.methods().count() > 0);
        }
        for method in Method::ALL {
            assert_eq!(Method::named(method.name()), Some(method));
            assert!(VARIABLES.iter().any(|v| v.is_written_in(method)), "{}", method.name());
        }
    }

    #[test]
    fn methods_see_what_the_paper_says_and_no_more() {
        let reads = |name: &str, method| find(name).expect(name).is_read_in(method);
        assert!(!reads("rt_RayOrigin", ComputeBounds), "bounds belong to no ray");
        assert!(!reads("rt_TextureUVW", GenerateRay), "a camera has no texture coordinates");
        let of_camera = [
            "rt_RayOrigin",
            "rt_RayDirection",
            "rt_InverseRayDirection",
            "rt_Epsilon",
            "rt_HitDistance",
            "rt_ScreenCoord",
            "rt_LensCoord",
            "rt_du",
            "rt_dv",
            "rt_TimeSeed",
        ];
        for variable in &VARIABLES {
            let expected = of_camera.contains(&variable.name);
            assert_eq!(variable.is_read_in(GenerateRay), expected, "{}: table 1", variable.name);
        }
        assert!(reads("rt_HitDistance", Shade), "Listing 5 dims by it");
        assert!(reads("rt_GeometricNormal", Illumination));
        assert!(find("rt_GeometricNormal").is_some_and(|v| v.is_written_in(Shade)), "bump mapping bends it");
        assert!(!find("rt_GeometricNormal").is_some_and(|v| v.is_written_in(Illumination)));
        for method in Method::ALL {
            assert!(reads("rt_Epsilon", method), "it is available for all methods");
        }
    }
}
