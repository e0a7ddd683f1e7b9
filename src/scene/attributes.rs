//! What an object is declared under besides its surface, its lights and its colour.

use super::{ParamValue, ShaderId};
use std::collections::BTreeMap;

/// The other shaders of an object, and the attributes that its shaders may ask for. Objects that are declared alike share one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectAttributes {
    /// Moves its points and turns its normals before the surface shader runs.
    pub displacement: Option<ShaderId>,
    /// Changes what the camera sees of it on the way from there (RISpec 3.2, §5.4).
    pub atmosphere: Option<ShaderId>,
    /// Changes what arrives by rays that its surface shader traces into it.
    pub interior: Option<ShaderId>,
    /// Changes what arrives by rays that its surface shader traces away from it.
    pub exterior: Option<ShaderId>,
    /// The area light that its surface shines for, as an index into [`super::Scene::lights`].
    pub emits: Option<u32>,
    /// `Attribute "user"`: values by their names, as they were declared.
    pub user: BTreeMap<String, ParamValue>,
}

impl ObjectAttributes {
    /// The shaders that it names.
    pub fn shaders(&self) -> impl Iterator<Item = ShaderId> {
        [self.displacement, self.atmosphere, self.interior, self.exterior].into_iter().flatten()
    }

    /// Replaces each shader that it names.
    pub fn renumber(&mut self, renumber: impl Fn(ShaderId) -> ShaderId) {
        let Self { displacement, atmosphere, interior, exterior, emits: _, user: _ } = self;
        for id in [displacement, atmosphere, interior, exterior].into_iter().flatten() {
            *id = renumber(*id);
        }
    }
}
