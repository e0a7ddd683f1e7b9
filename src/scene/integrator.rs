//! What a sample of an image means: how the light along a ray of the camera is found.

/// An algorithm that gives a ray its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integrator {
    /// Recursive ray tracing (Whitted 1980): surfaces shade themselves, by lights and by the rays that they send.
    #[default]
    Whitted,
    /// Path tracing (Kajiya 1986): light is followed from surface to surface.
    Path,
    /// How open the sky is over each place.
    AmbientOcclusion,
    /// Shading normals as colours.
    Normals,
}

impl Integrator {
    /// All of them.
    pub const ALL: [Integrator; 4] = [Self::Whitted, Self::Path, Self::AmbientOcclusion, Self::Normals];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whitted => "whitted",
            Self::Path => "path",
            Self::AmbientOcclusion => "ao",
            Self::Normals => "normals",
        }
    }

    /// The integrator of that name, or of the one that RenderMan has for it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "PxrPathTracer" => Some(Self::Path),
            "PxrDirectLighting" => Some(Self::Whitted),
            "PxrOcclusion" => Some(Self::AmbientOcclusion),
            _ => Self::ALL.into_iter().find(|i| i.name() == name),
        }
    }
}

/// How a path's light is estimated where it can be found in two ways: by a point of a light, or by a direction of the material that meets it (Veach 1997, chapter 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Estimator {
    /// By both, weighted by the squares of their densities.
    #[default]
    Power,
    /// By both, weighted by their densities.
    Balance,
    /// By points of lights alone.
    Lights,
    /// By directions of materials alone. Lights that cannot be hit are looked at all the same.
    Scattering,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Estimator; 4] = [Self::Power, Self::Balance, Self::Lights, Self::Scattering];

    /// Its name.
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
