//! Integrators: how the radiance along a camera ray is computed.

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

impl Integrator {
    /// All of them.
    pub const ALL: [Integrator; 4] = [Self::Whitted, Self::Path, Self::AmbientOcclusion, Self::Normals];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whitted => "whitted",
            Self::Path => "path",
            Self::AmbientOcclusion => "ao",
            Self::Normals => "normals",
        }
    }

    /// The integrator of that name, or of RenderMan's name for it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "PxrPathTracer" => Some(Self::Path),
            "PxrDirectLighting" => Some(Self::Whitted),
            "PxrOcclusion" => Some(Self::AmbientOcclusion),
            _ => Self::ALL.into_iter().find(|i| i.name() == name),
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

impl Estimator {
    /// All of them.
    pub const ALL: [Estimator; 4] = [Self::Power, Self::Balance, Self::Lights, Self::Scattering];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Balance => "balance",
            Self::Lights => "lights",
            Self::Scattering => "scattering",
        }
    }

    /// The estimator of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }
}
