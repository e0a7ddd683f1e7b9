//! The graphics state: attributes and transform, and the blocks that save and restore them (RISpec
//! 3.2, §4).

use super::super::{ObjectAttributes, ShaderId};
use super::extensions::Extensions;
use super::primitives::detail::Detail;
use super::primitives::dicing::SurfaceAttributes;
use glam::{Mat4, Vec3};
use shadewright_base::text::source::Span;
use shadewright_geometry::normals::DEFAULT_CREASE_ANGLE;
use std::sync::Arc;

/// Which side of a surface its geometric normal points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// RI's normal.
    Outside,
    /// The opposite of RI's normal.
    Inside,
    /// As if object space were left-handed.
    LeftHanded,
    /// As if object space were right-handed.
    RightHanded,
}

impl Orientation {
    /// True if the normal is the opposite of the cross product in object space.
    pub fn is_inside(self, object_is_left_handed: bool) -> bool {
        match self {
            Orientation::Outside => false,
            Orientation::Inside => true,
            Orientation::LeftHanded => !object_is_left_handed,
            Orientation::RightHanded => object_is_left_handed,
        }
    }

    /// The opposite.
    pub fn reversed(self) -> Self {
        match self {
            Orientation::Outside => Orientation::Inside,
            Orientation::Inside => Orientation::Outside,
            Orientation::LeftHanded => Orientation::RightHanded,
            Orientation::RightHanded => Orientation::LeftHanded,
        }
    }
}

/// The attributes that a primitive is declared under.
#[derive(Clone, Debug)]
pub struct Attributes {
    pub color: Vec3,
    pub opacity: Vec3,
    pub surface: Option<ShaderId>,
    pub own: Arc<ObjectAttributes>,
    pub lights: Arc<[u32]>,
    pub sides: u8,
    pub orientation: Orientation,
    pub crease_angle: f32,
    pub shadows: Option<bool>,
    pub surfaces: SurfaceAttributes,
    pub detail: Detail,
    pub name: Option<Arc<str>>,
    pub extensions: Extensions,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            color: Vec3::ONE,
            opacity: Vec3::ONE,
            surface: None,
            own: Arc::default(),
            lights: Arc::new([]),
            sides: 2,
            orientation: Orientation::Outside,
            crease_angle: DEFAULT_CREASE_ANGLE,
            shadows: None,
            surfaces: SurfaceAttributes::default(),
            detail: Detail::default(),
            name: None,
            extensions: Extensions::default(),
        }
    }
}

impl Attributes {
    /// Switches a light on or off.
    pub fn illuminate(&mut self, light: u32, on: bool) {
        let (before, after) = match self.lights.binary_search(&light) {
            Ok(_) if on => return,
            Ok(at) => (&self.lights[..at], &self.lights[at + 1..]),
            Err(_) if !on => return,
            Err(at) => self.lights.split_at(at),
        };
        let new = on.then_some(light);
        self.lights = before.iter().copied().chain(new).chain(after.iter().copied()).collect();
    }
}

/// The graphics state.
#[derive(Clone, Debug, Default)]
pub struct GraphicsState {
    /// Object space to camera space before `WorldBegin`, to world space after it.
    pub transform: Mat4,
    /// The attributes.
    pub attributes: Attributes,
}

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Frame,
    World,
    Attribute,
    Transform,
    Solid,
    Object,
}

impl BlockKind {
    /// The request that opens it.
    pub fn begin(self) -> &'static str {
        match self {
            BlockKind::Frame => "FrameBegin",
            BlockKind::World => "WorldBegin",
            BlockKind::Attribute => "AttributeBegin",
            BlockKind::Transform => "TransformBegin",
            BlockKind::Solid => "SolidBegin",
            BlockKind::Object => "ObjectBegin",
        }
    }

    /// The request that closes it.
    pub fn end(self) -> &'static str {
        match self {
            BlockKind::Frame => "FrameEnd",
            BlockKind::World => "WorldEnd",
            BlockKind::Attribute => "AttributeEnd",
            BlockKind::Transform => "TransformEnd",
            BlockKind::Solid => "SolidEnd",
            BlockKind::Object => "ObjectEnd",
        }
    }
}

/// An open block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The kind of block.
    pub kind: BlockKind,
    /// Where it was opened.
    pub span: Span,
    /// The state to restore when it closes.
    pub saved: GraphicsState,
}

impl Block {
    /// Restores what the block saved: the transform, and all but in a transform block the
    /// attributes.
    pub fn restore(self, state: &mut GraphicsState) {
        match self.kind {
            BlockKind::Transform => state.transform = self.saved.transform,
            BlockKind::Solid => {}
            _ => *state = self.saved,
        }
    }
}
