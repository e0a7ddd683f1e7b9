//! Retained geometry: `ObjectBegin`, `ObjectEnd` and `ObjectInstance` (RISpec 3.2, §5.10).
//!
//! Between `ObjectBegin` and `ObjectEnd` primitives are kept instead of shown, under the transforms
//! since `ObjectBegin`. `ObjectInstance` shows them under the current transform and, as the
//! specification says, with the attributes that are current there.
//!
//! | taken from the definition | taken from the instance |
//! |---|---|
//! | transforms since `ObjectBegin`; primitive variables, `Cs` and `Os` among them; the crease angle; `Orientation` where it is set there; procedural primitives with their parameters | the transform; surface and other shaders, color, opacity, lights, sides, orientation, name |
//!
//! Other attributes in a definition are ignored with a warning. An instance in a definition adds
//! the other object's meshes to it, each at its place, so that instances are of one level whatever
//! the nesting; they take their attributes from the outermost. Orientations add up: an object
//! defined inside out and placed inside out is right again; for `lh` and `rh` each of the two looks
//! at the handedness of its own transform.

use super::super::instancing::PlacementError;
use super::super::{MAX_INSTANCES, MeshSpace, Object, ShaderId};
use super::args::{Args, there_are};
use super::light_sets;
use super::primitives::dicing::{OF_NAME, keep};
use super::primitives::geometry;
use super::reader::Reader;
use super::state::{Attributes, BlockKind, GraphicsState, Orientation};
use glam::Mat4;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_geometry::Mesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The retained objects of a scene, and the one that is being defined.
#[derive(Default)]
pub struct Retained {
    /// The meshes of all objects.
    shapes: Vec<Shape>,
    by_handle: BTreeMap<String, Vec<Piece>>,
    open: Option<Definition>,
    placed: usize,
}

/// The object that is being defined.
struct Definition {
    handle: String,
    /// The first of the shapes that are its own.
    first_shape: usize,
    pieces: Vec<Piece>,
}

/// A part of an object, at its place there.
#[derive(Clone, Copy)]
struct Piece {
    content: Content,
    to_object: Mat4,
}

#[derive(Clone, Copy)]
enum Content {
    /// A mesh. An object has as few of its own as their colors and variables allow.
    Mesh {
        /// Which of all shapes.
        shape: usize,
        /// True if it is inside out there.
        inside: bool,
    },
    /// A procedural primitive, both sides of which are visible.
    Procedural(ShaderId),
}

impl Content {
    /// The same, inside out.
    fn turned(self, inside_out: bool) -> Self {
        match self {
            Content::Mesh { shape, inside } => Content::Mesh { shape, inside: inside != inside_out },
            Content::Procedural(shader) => Content::Procedural(shader),
        }
    }
}

/// Primitives whose colors and variables are of the same kinds, in one mesh.
struct Shape {
    /// The mesh, in the space of the object that it was defined in.
    mesh: Arc<Mesh>,
    /// True if its normals are the surface's own, which follow the orientation.
    computed_normals: bool,
    /// The mesh inside out, once an instance has asked for it.
    inside_out: Option<Arc<Mesh>>,
}

/// How a request between `ObjectBegin` and `ObjectEnd` is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    /// It does what it always does.
    Admitted,
    /// It sets something that an instance has of its own.
    Ignored,
    /// It has no place there.
    Refused,
}

/// How a request of that name is handled in an object's definition.
fn admission(request: &str) -> Admission {
    match request {
        "Atmosphere" | "Clipping" | "Color" | "CoordSysTransform" | "CoordinateSystem" | "CropWindow"
        | "DepthOfField" | "Displacement" | "Display" | "Exposure" | "Exterior" | "Format" | "FrameAspectRatio"
        | "Illuminate" | "Imager" | "Interior" | "Opacity" | "Option" | "PixelFilter" | "PixelSamples"
        | "Projection" | "ScreenWindow" | "Shutter" | "Sides" | "Surface" => Admission::Ignored,
        "AreaLightSource" | "LightSource" | "ObjectBegin" => Admission::Refused,
        _ => Admission::Admitted,
    }
}

impl Retained {
    /// True if an object is being defined.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Adds a primitive to the object that is being defined. False when there is none.
    pub fn add(&mut self, mesh: Mesh, computed_normals: bool) -> bool {
        let Some(definition) = &mut self.open else { return false };
        let alike = |s: &&mut Shape| s.computed_normals == computed_normals && s.mesh.is_alike(&mesh);
        match self.shapes[definition.first_shape..].iter_mut().find(alike) {
            Some(shape) => Arc::make_mut(&mut shape.mesh).append(mesh),
            None => {
                let shape = self.shapes.len();
                self.shapes.push(Shape { mesh: Arc::new(mesh), computed_normals, inside_out: None });
                let content = Content::Mesh { shape, inside: false };
                definition.pieces.push(Piece { content, to_object: Mat4::IDENTITY });
            }
        }
        true
    }

    /// Adds a procedural primitive to the object that is being defined. False when there is none.
    pub fn add_procedural(&mut self, shader: ShaderId, to_object: Mat4) -> bool {
        let Some(definition) = &mut self.open else { return false };
        definition.pieces.push(Piece { content: Content::Procedural(shader), to_object });
        true
    }
}

impl Shape {
    fn oriented(&mut self, inside: bool) -> Arc<Mesh> {
        if !inside {
            return self.mesh.clone();
        }
        let (mesh, turn_normals) = (&self.mesh, self.computed_normals);
        self.inside_out.get_or_insert_with(|| Arc::new(mesh.inside_out(turn_normals))).clone()
    }
}

/// `ObjectBegin handle`
pub fn object_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let handle = args.handle("the object's handle, a number or a string")?;
    r.open(BlockKind::Object, args.span);
    r.retained.open = Some(Definition { handle, first_shape: r.retained.shapes.len(), pieces: Vec::new() });
    let attributes = Attributes { orientation: Orientation::Outside, ..r.state.attributes.clone() };
    r.state = GraphicsState { transform: Mat4::IDENTITY, attributes };
    Ok(())
}

/// `ObjectEnd`
pub fn object_end(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let defined = r.retained.open.take();
    r.close(BlockKind::Object, args.span)?;
    let Some(Definition { handle, pieces, .. }) = defined else { return Ok(()) };
    if pieces.is_empty() {
        r.warn(Diagnostic::warning(format!("the object {handle} is empty")).at(args.span, "it ends here"));
    }
    if keep(r, args, OF_NAME + handle.len() + pieces.len() * size_of::<Piece>()) {
        r.retained.by_handle.insert(handle, pieces);
    }
    Ok(())
}

/// `ObjectInstance handle`
pub fn object_instance(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let handle = args.handle("an object's handle, a number or a string")?;
    r.admit_geometry(args.span);
    let Some(pieces) = r.retained.by_handle.get(&handle) else {
        let hint = there_are(r.retained.by_handle.keys(), "define it before, with ObjectBegin");
        return Err(args.error(format!("no object has the handle {handle}")).hint(hint));
    };
    r.retained.placed += pieces.len();
    if r.retained.placed > MAX_INSTANCES {
        r.fatal(args.error(format!("the scene has more than {MAX_INSTANCES} instances")));
        return Ok(());
    }
    let object_to_world = r.state.transform;
    let attributes = &r.state.attributes;
    let left_handed = r.is_left_handed(object_to_world);
    let inside = attributes.orientation.is_inside(left_handed);
    if let Some(definition) = &mut r.retained.open {
        definition.pieces.extend(pieces.iter().map(|piece| Piece {
            content: piece.content.turned(inside),
            to_object: object_to_world * piece.to_object,
        }));
        return Ok(());
    }
    let pieces = pieces.clone();
    let Some(lights) = light_sets::object_lights(r, args) else { return Ok(()) };
    for Piece { content, to_object } in pieces {
        let object_to_world = object_to_world * to_object;
        let (shape, inside) = match content.turned(inside) {
            Content::Mesh { shape, inside } => (shape, inside),
            Content::Procedural(shader) => {
                geometry::place(r, args, shader, object_to_world)?;
                continue;
            }
        };
        let attributes = &r.state.attributes;
        let object = Object {
            name: attributes.name.clone().unwrap_or_else(|| args.request.into()),
            surface: attributes.surface,
            attributes: attributes.own.clone(),
            lights: lights.clone(),
            sides: attributes.sides,
            color: attributes.color,
            opacity: attributes.opacity,
            mesh: r.retained.shapes[shape].oriented(inside),
            mesh_space: MeshSpace::Object,
            procedural: None,
            solid: None,
            object_to_world,
            span: Some(args.whole_span()),
        };
        check_placement(args, &object)?;
        r.scene.objects.push(object);
    }
    Ok(())
}

/// Checks that the transform of what a request declares places it somewhere.
pub fn check_placement(args: &Args<'_, '_>, object: &Object) -> Result<(), Diagnostic> {
    object.check_placement().map_err(|error| {
        let hint = match error {
            PlacementError::NotFinite => "the transform around it overflows",
            PlacementError::Singular => "a Scale by 0 or a degenerate Transform stands before it",
        };
        args.error(error.to_string()).hint(hint)
    })
}

/// Reports a request that does not do in an object's definition what it does elsewhere. True when
/// it is to be passed over.
pub fn passed_over(r: &mut Reader<'_>, request: &str, span: Span) -> bool {
    if !r.retained.is_open() {
        return false;
    }
    match admission(request) {
        Admission::Admitted => return false,
        Admission::Ignored => r.warn_once(
            &format!("object {request}"),
            Diagnostic::warning(format!("`{request}` in an object's definition is ignored"))
                .at(span, "skipped, here and below")
                .hint("an instance takes it from where its ObjectInstance stands"),
        ),
        Admission::Refused => {
            r.error(
                Diagnostic::error(format!("`{request}` cannot stand in an object's definition"))
                    .at(span, "between `ObjectBegin` and `ObjectEnd`")
                    .hint("an object holds geometry and transforms only"),
            );
        }
    }
    true
}
