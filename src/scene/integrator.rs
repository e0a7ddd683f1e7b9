//! Integrators: how the radiance along a camera ray is computed.

use shadewright_base::named::{Named, Row};

/// An algorithm that computes the radiance along a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integrator {
    /// Recursive ray tracing (Whitted 1980): surface shaders gather lights and trace rays.
    #[default]
    Whitted,
    /// Path tracing (Kajiya 1986).
    Path,
    /// Ambient occlusion.
    AmbientOcclusion,
    /// Shading normals as colors.
    Normals,
}

impl Named for Integrator {
    const TABLE: &'static [Row<Self>] = &[
        ("whitted", "Recursive ray tracing: surface shaders loop over lights and trace rays", Self::Whitted),
        ("path", "Path tracing with multiple importance sampling", Self::Path),
        ("ao", "Ambient occlusion", Self::AmbientOcclusion),
        ("normals", "Shading normals as colors", Self::Normals),
    ];
}

impl Integrator {
    /// The integrator of that name, or of RenderMan's name for it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "PxrPathTracer" => Some(Self::Path),
            "PxrDirectLighting" => Some(Self::Whitted),
            "PxrOcclusion" => Some(Self::AmbientOcclusion),
            _ => <Self as Named>::named(name),
        }
    }
}

/// How direct lighting is estimated: by light sampling, BSDF sampling, or both with multiple
/// importance sampling (Veach 1997, chapter 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Estimator {
    /// Multiple importance sampling with the power heuristic (exponent 2).
    #[default]
    Power,
    /// Multiple importance sampling with the balance heuristic.
    Balance,
    /// Light sampling only.
    Lights,
    /// BSDF sampling only. Delta lights are sampled all the same.
    Scattering,
}

impl Named for Estimator {
    const TABLE: &'static [Row<Self>] = &[
        ("power", "Multiple importance sampling with the power heuristic", Self::Power),
        ("balance", "Multiple importance sampling with the balance heuristic", Self::Balance),
        ("lights", "Light sampling only", Self::Lights),
        ("scattering", "BSDF sampling only", Self::Scattering),
    ];
}
