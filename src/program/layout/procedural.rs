//! The records of procedural primitives, and the acceleration structure over their bounds.
//!
//! A procedural primitive is an object without a mesh; as a primitive it is numbered after all
//! triangles. Its record is that of an instance, whose parameters its own block follows
//! ([`BLOCK_VECTORS`]).

use crate::collect::Collected;
use crate::collect::procedural::BoundPrimitive;
use crate::layout::memory::{MemoryImage, procedural_objects};
use crate::records::ProceduralRecord;
use crate::records::{INSTANCE_VECTORS, ParamBlock};
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_bvh::two_level::instance::world_to_object;
use shadewright_bvh::two_level::procedural::{ProceduralBounds, ProceduralBvh, ProceduralError};
use shadewright_scene::{Object, Scene};

/// Vectors of a primitive's block before its parameters: the number of its kind with [`PDF_SCALE`],
/// and the three rows of the matrix from the world to its own space.
pub const BLOCK_VECTORS: u32 = 4;

/// The word of a block's first vector that scales the pdf of points sampled on the primitive: the
/// probability with which light sampling chooses the primitive, divided by the determinant of its
/// transform to the world.
pub const PDF_SCALE: u8 = 1;

/// The procedural primitives of a linked program, as ray traversal needs them.
#[derive(Debug, Default)]
pub struct Primitives {
    /// The acceleration structure over their bounds, whose data are the addresses of their blocks.
    pub tree: ProceduralBvh,
    /// The bounds that the tree is built over, in the order of the scene's objects.
    pub placed: Vec<ProceduralBounds>,
    /// How many kinds there are, each with an intersection entry.
    pub kinds: usize,
}

impl Primitives {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Returns the primitives whose numbers, which count them in the order of the scene's objects,
    /// are wanted.
    pub fn only(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let numbered = self.placed.iter().enumerate();
        let placed: Vec<_> = numbered.filter(|(number, _)| is_wanted(*number)).map(|(_, p)| *p).collect();
        // All of them could be built into one.
        let tree = ProceduralBvh::build(&placed).unwrap_or_default();
        Self { tree, placed, kinds: self.kinds }
    }
}

/// A procedural primitive of a scene.
#[derive(Clone, Copy, Debug)]
pub struct PlacedPrimitive {
    /// The number of its object.
    pub object: usize,
    /// Where the object's record holds it.
    pub record: ProceduralRecord,
    /// The corners of its bounding box in its own space.
    pub bounds: (Vec3, Vec3),
}

/// The procedural primitives of a scene, in the order of its objects.
pub fn placed(collected: &Collected) -> Vec<PlacedPrimitive> {
    let numbered = collected.objects.iter().enumerate();
    let placed = numbered.filter_map(|(object, bound)| {
        let (record, primitive) = (bound.layout.procedural?, bound.primitive.as_ref()?);
        Some(PlacedPrimitive { object, record, bounds: primitive.bounds })
    });
    placed.collect()
}

/// The block of a primitive, whose points light sampling chooses with `pdf_scale` ([`PDF_SCALE`]).
pub fn block(primitive: &BoundPrimitive, kind: u32, object: &Object, pdf_scale: f32) -> ParamBlock {
    let mut head = [kind, 0, 0, 0];
    head[usize::from(PDF_SCALE)] = pdf_scale.to_bits();
    let mut block = vec![head];
    block.extend(world_to_object(object.object_to_world).map(|row| row.map(f32::to_bits)));
    block.extend(&primitive.cores.intersect.block);
    block
}

/// The procedural primitives of a scene of so many kinds, and the acceleration structure over them.
///
/// # Errors
///
/// A primitive whose bounds in the world are non-finite.
pub fn primitives(
    scene: &Scene,
    memory: &MemoryImage,
    placed: &[PlacedPrimitive],
    kinds: usize,
) -> Result<Primitives, Diagnostic> {
    let boxes = placed.iter().map(|&PlacedPrimitive { object, record, bounds }| ProceduralBounds {
        bounds,
        object_to_world: scene.objects[object].object_to_world,
        number: memory.first_primitive(memory.objects[object]),
        data: memory.objects[object] + 1 + INSTANCE_VECTORS + record.offset,
    });
    debug_assert_eq!(procedural_objects(scene).count(), placed.len());
    let boxes: Vec<_> = boxes.collect();
    let tree = ProceduralBvh::build(&boxes).map_err(|error| {
        let ProceduralError::NonFinite { index } = error else { return Diagnostic::error(error.to_string()) };
        let object = &scene.objects[placed[index].object];
        let d = Diagnostic::error("a primitive has non-finite bounds in the world");
        let d = object.span.into_iter().fold(d, |d, span| d.at(span, "this primitive"));
        d.hint("its box, or the transform around it, is too large")
    })?;
    Ok(Primitives { tree, placed: boxes, kinds })
}
