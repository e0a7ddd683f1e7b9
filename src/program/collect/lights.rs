//! The scene's lights with their shaders bound.

use crate::collect::instances::Instance;
use crate::records::ParamBlock;
use shadewright_lang::unit::LightKind;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How surfaces shadow a light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadows {
    /// Not at all.
    None,
    /// They block it: the caller traces a shadow ray.
    Opaque,
    /// They attenuate it: the light's color already includes the transmittance.
    Dimming,
}

/// A light with its shader bound.
#[derive(Clone, Debug)]
pub struct BoundLight {
    /// The shader with its parameters.
    pub instance: Arc<Instance>,
    /// How surfaces shadow it.
    pub shadows: Shadows,
    /// Of an area light, points on its surface ([`super::area_light_points`]), as vectors of
    /// memory.
    pub points: Vec<[u32; 4]>,
}

/// The parameter of a light that names its categories, separated by commas (PRMan).
const CATEGORY: &str = "__category";

/// The category of environment lights.
const ENVIRONMENT: &str = "environment";

impl BoundLight {
    /// Makes its shadow rays compute transmittance.
    pub fn dim(&mut self) {
        if self.shadows == Shadows::Opaque {
            self.shadows = Shadows::Dimming;
        }
    }

    /// True if its shader gives a direction: `solar` or `illuminate`.
    pub fn has_direction(&self) -> bool {
        self.instance.shader.light != LightKind::Ambient
    }

    /// True if it is an environment light: it gives the radiance that arrives from each direction.
    pub fn is_environment(&self) -> bool {
        !self.has_direction() && self.categories().contains(&ENVIRONMENT)
    }

    /// The categories of its shader.
    pub fn categories(&self) -> BTreeSet<&str> {
        let categories =
            self.instance.strings.iter().find(|(name, _)| name == CATEGORY).map_or("", |(_, string)| string);
        categories.split(',').map(str::trim).filter(|c| !c.is_empty()).collect()
    }

    /// The light's block: the parameters, then the points.
    pub fn block(&self) -> ParamBlock {
        [&self.instance.block[..], &self.points].concat()
    }
}
