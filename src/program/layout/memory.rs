//! The memory image: triangles, vertices, objects and lights as both back ends read them
//! (Węgrzanowski 2006, §12.2).
//!
//! `docs/internals/memory-image.md` has the layout as a table. After address 0 come the table of
//! textures, the blocks of lights and volumes, objects, triangle data, vertices, triangle records
//! and the textures themselves. Triangle records are contiguous, so that primitive `i` is at
//! [`MemoryImage::triangles`]` + i`. A mesh that instances share has its records once, after all
//! others; the primitives of instances are found through [`MemoryImage::placed`].

use crate::collect::primvars::value_vectors;
use crate::records::textures::Textures;
use crate::records::visibility;
use crate::records::{
    COLORED_VERTEX_VECTORS, INSTANCE_VECTORS, MAX_VECTORS, MemoryError, ParamBlock, RecordLayout, TRIANGLE_DATA_VECTORS,
};
use glam::Vec3;
use shadewright_bvh::{self as bvh, BuildOptions, Placement, TwoLevel, TwoLevelError};
use shadewright_geometry::{Mesh, NormalMap};
use shadewright_scene::{MeshSpace, Object, Scene, Visibility};
use std::collections::HashMap;
use std::sync::Arc;

/// An object as the linker knows it before the image is laid out.
#[derive(Clone, Debug)]
pub struct ObjectRecord {
    /// Index of its surface entry.
    pub entry: u32,
    /// The parameters of its surface instance.
    pub params: Arc<ParamBlock>,
    /// Which rays see it.
    pub visibility: Visibility,
    /// How its records lie. Objects that share a mesh share this.
    pub layout: RecordLayout,
}

/// The primitives of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedRecord {
    /// The first one's number.
    pub first: u32,
    /// Address of the mesh's first triangle record.
    pub triangles: u32,
    /// Address of the object record.
    pub object: u32,
}

/// The shading data of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryImage {
    /// The vectors; an address is an index.
    pub vectors: Vec<[u32; 4]>,
    /// Address of the first triangle record.
    pub triangles: u32,
    /// Number of the triangles in world space: later primitives belong to instances.
    pub triangle_count: u32,
    /// The instances, in the order of their primitives.
    pub placed: Vec<PlacedRecord>,
    /// Address of each parameter block of a light or volume.
    pub blocks: Vec<u32>,
    /// Address of each object's record, in the scene's order.
    pub objects: Vec<u32>,
}

/// The color and opacity of a mesh that has none: its object's. Instances that share a mesh read
/// those of their object record instead.
#[derive(Clone, Copy)]
struct Paint {
    color: Vec3,
    opacity: Vec3,
    /// Address of the object; 0 of a shared mesh.
    object: u32,
}

/// The meshes that a scene's instances share, each once, in the order of their first use.
struct SharedMeshes<'a> {
    meshes: Vec<(&'a Arc<Mesh>, &'a RecordLayout)>,
    known: HashMap<*const Mesh, usize>,
}

impl<'a> SharedMeshes<'a> {
    fn new(scene: &'a Scene, records: &'a [ObjectRecord]) -> Self {
        let mut shared = Self { meshes: Vec::new(), known: HashMap::new() };
        let instanced = scene.objects.iter().zip(records).filter(|(o, _)| o.mesh_space == MeshSpace::Object);
        for (object, record) in instanced {
            shared.known.entry(Arc::as_ptr(&object.mesh)).or_insert_with(|| {
                shared.meshes.push((&object.mesh, &record.layout));
                shared.meshes.len() - 1
            });
        }
        shared
    }

    fn index(&self, object: &Object) -> usize {
        self.known[&Arc::as_ptr(&object.mesh)]
    }
}

/// The objects whose meshes are placed by transforms.
fn instances(scene: &Scene) -> impl Iterator<Item = &Object> {
    scene.objects.iter().filter(|o| o.mesh_space == MeshSpace::Object && o.procedural.is_none())
}

/// The procedural primitives: they are numbered after all other primitives.
pub(crate) fn procedural_objects(scene: &Scene) -> impl Iterator<Item = &Object> {
    scene.objects.iter().filter(|o| o.procedural.is_some())
}

impl MemoryImage {
    /// Lays out `scene` with one record an object, the parameter blocks of lights and volumes, and
    /// textures.
    ///
    /// # Errors
    /// [`MemoryError`] when the image needs [`MAX_VECTORS`] vectors or more.
    pub fn build(
        scene: &Scene,
        objects: &[ObjectRecord],
        blocks: &[ParamBlock],
        textures: &Textures,
    ) -> Result<Self, MemoryError> {
        let shared = SharedMeshes::new(scene, objects);
        let plain = scene.objects.iter().zip(objects).filter(|(o, _)| o.mesh_space == MeshSpace::World);
        let plain = plain.map(|(o, record)| (&o.mesh, &record.layout));
        let vectors = 1
            + textures.vectors()
            + blocks.iter().map(|l| l.len() as u64).sum::<u64>()
            + objects.iter().map(|o| 1 + u64::from(INSTANCE_VECTORS) + o.params.len() as u64).sum::<u64>()
            + plain.chain(shared.meshes.iter().copied()).map(|(m, layout)| mesh_vectors(m, layout)).sum::<u64>();
        if vectors >= MAX_VECTORS {
            return Err(MemoryError { vectors });
        }
        let mut image = Self { vectors: Vec::with_capacity(vectors as usize), ..Self::default() };
        image.vectors.push([0; 4]);
        textures.push_table(&mut image.vectors);
        for block in blocks {
            image.blocks.push(image.next());
            image.vectors.extend_from_slice(block);
        }
        // What has records: the objects in world space, then the shared meshes.
        let (mut pieces, mut procedural) = (Vec::new(), Vec::new());
        for (object, record) in scene.objects.iter().zip(objects) {
            let address = image.next();
            image.objects.push(address);
            let [transmission, specular, diffuse] = visibility::words(record.visibility);
            image.vectors.push([record.entry, transmission, specular, diffuse]);
            match object.mesh_space {
                MeshSpace::World => {
                    let paint = Paint { color: object.color, opacity: object.opacity, object: address };
                    image.vectors.extend_from_slice(&record.params);
                    let layout = &record.layout;
                    let data = image.push_triangle_data(&object.mesh, layout, paint);
                    pieces.push(Pieces { mesh: &object.mesh, layout, paint, vertices: 0, data });
                }
                MeshSpace::Object => {
                    image.vectors.extend(instance_vectors(object));
                    image.vectors.extend_from_slice(&record.params);
                    let placed = if object.procedural.is_some() { &mut procedural } else { &mut image.placed };
                    placed.push(PlacedRecord { first: 0, triangles: 0, object: address });
                }
            }
        }
        let plain = pieces.len();
        let paint = Paint { color: Vec3::ONE, opacity: Vec3::ONE, object: 0 };
        for &(mesh, layout) in &shared.meshes {
            let data = image.push_triangle_data(mesh, layout, paint);
            pieces.push(Pieces { mesh, layout, paint, vertices: 0, data });
        }
        for piece in &mut pieces {
            piece.vertices = image.push_vertices(piece.mesh, piece.layout, piece.paint);
        }
        image.triangles = image.next();
        let mut starts = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            starts.push(image.next());
            let stride = piece.layout.vertex_vectors() + piece.layout.primvar_vectors(false);
            image.vectors.extend(piece.mesh.triangles.iter().enumerate().map(|(i, t)| {
                let [a, b, c] = t.map(|v| piece.vertices + v * stride);
                [a, b, c, piece.data.get(i).or(piece.data.first()).copied().unwrap_or(0)]
            }));
        }
        image.triangle_count = starts.get(plain).copied().unwrap_or(image.next()) - image.triangles;
        let mut first = image.triangle_count;
        for (object, placed) in instances(scene).zip(&mut image.placed) {
            (placed.first, placed.triangles) = (first, starts[plain + shared.index(object)]);
            // A scene with more primitives than numbers is refused when its BVH is built.
            first = first.wrapping_add(object.mesh.triangles.len() as u32);
        }
        for placed in &mut procedural {
            // Their entries read no triangle: any address but 0 will do.
            (placed.first, placed.triangles) = (first, image.triangles);
            first = first.wrapping_add(1);
        }
        image.placed.extend(procedural);
        textures.push_images(&mut image.vectors);
        Ok(image)
    }

    /// Writes other parameters into an object's record.
    pub fn set_object_params(&mut self, number: usize, object: &Object, params: &[[u32; 4]]) {
        let first = match object.mesh_space {
            MeshSpace::World => self.objects[number] + 1,
            MeshSpace::Object => self.objects[number] + 1 + INSTANCE_VECTORS,
        };
        self.write(first, params);
    }

    /// The image with other contents in a block of that number.
    pub fn with_block(mut self, number: usize, contents: &[[u32; 4]]) -> Self {
        self.set_block(number, contents);
        self
    }

    /// Writes other parameters into the block of a light or volume.
    pub fn set_block(&mut self, number: usize, params: &[[u32; 4]]) {
        self.write(self.blocks[number], params);
    }

    fn write(&mut self, address: u32, vectors: &[[u32; 4]]) {
        self.vectors[address as usize..][..vectors.len()].copy_from_slice(vectors);
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(self.vectors.as_slice())
    }

    /// Shader entry, triangle record and object record of a primitive.
    pub fn resolve(&self, primitive: u32) -> [u32; 3] {
        let at = |address: u32, word: usize| self.vectors.get(address as usize).map_or(0, |v| v[word]);
        let after = self.placed.partition_point(|p| p.first <= primitive);
        let (triangle, object) = match after.checked_sub(1) {
            Some(k) => (self.placed[k].triangles + (primitive - self.placed[k].first), self.placed[k].object),
            None => {
                let triangle = self.triangles + primitive;
                (triangle, at(at(triangle, 3), 3))
            }
        };
        [at(object, 0), triangle, object]
    }

    /// The primitive whose records these are: the inverse of [`MemoryImage::resolve`].
    pub fn primitive(&self, triangle: u32, object: u32) -> u32 {
        match self.placed.iter().find(|p| p.object == object) {
            Some(p) => p.first + (triangle - p.triangles),
            None => triangle - self.triangles,
        }
    }

    /// The first primitive of the instance or procedural primitive whose object record is there.
    pub fn first_primitive(&self, object: u32) -> u32 {
        self.placed.iter().find(|p| p.object == object).map_or(0, |p| p.first)
    }

    fn next(&self) -> u32 {
        self.vectors.len() as u32
    }

    /// Pushes the triangle data of a mesh and returns the address for each triangle; one for all
    /// when they agree.
    fn push_triangle_data(&mut self, mesh: &Mesh, layout: &RecordLayout, paint: Paint) -> Vec<u32> {
        let at = |values: &[Vec3], i: usize, otherwise: Vec3| values.get(i).copied().unwrap_or(otherwise);
        let per_triangle = data_per_triangle(mesh, layout);
        let count = if per_triangle { mesh.triangles.len() } else { 1 };
        let mut known = HashMap::new();
        (0..count)
            .map(|i| {
                let color = with_word(at(&mesh.triangle_colors, i, paint.color), paint.object);
                let opacity = with_word(at(&mesh.triangle_opacities, i, paint.opacity), 0);
                let mut data = vec![color, opacity];
                data.extend(stored_values(mesh, layout, true, i));
                let address = self.next();
                *known.entry(data).or_insert_with_key(|data| {
                    self.vectors.extend_from_slice(data);
                    address
                })
            })
            .collect()
    }

    fn push_vertices(&mut self, mesh: &Mesh, layout: &RecordLayout, paint: Paint) -> u32 {
        let first = self.next();
        let colored = layout.vertex_vectors() == COLORED_VERTEX_VECTORS;
        let interpolated = layout.primvars.iter().any(|v| !v.per_triangle);
        for (i, &p) in mesh.positions.iter().enumerate() {
            let (st, uv) = (mesh.st_at(i as u32), mesh.uv_at(i as u32));
            self.vectors.push(with_word(p, 0));
            self.vectors.push(with_word(mesh.normals.get(i).copied().unwrap_or(Vec3::ZERO), 0));
            self.vectors.push([st.x, st.y, uv.x, uv.y].map(f32::to_bits));
            if colored {
                self.vectors.push(with_word(mesh.vertex_colors.get(i).copied().unwrap_or(paint.color), 0));
                self.vectors.push(with_word(mesh.vertex_opacities.get(i).copied().unwrap_or(paint.opacity), 0));
            }
            if interpolated {
                self.vectors.extend(stored_values(mesh, layout, false, i));
            }
        }
        first
    }
}

/// A mesh, and where its records lie.
struct Pieces<'a> {
    mesh: &'a Mesh,
    layout: &'a RecordLayout,
    paint: Paint,
    vertices: u32,
    data: Vec<u32>,
}

fn with_word(v: Vec3, word: u32) -> [u32; 4] {
    [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), word]
}

/// The values of a triangle's, or a vertex's, stored primitive variables.
fn stored_values<'a>(
    mesh: &'a Mesh,
    layout: &'a RecordLayout,
    per_triangle: bool,
    i: usize,
) -> impl Iterator<Item = [u32; 4]> + 'a {
    let stored = layout.primvars.iter().filter(move |v| v.per_triangle == per_triangle);
    stored.flat_map(move |v| value_vectors(&mesh.primvars[v.number], i))
}

/// True if the triangles of a mesh may differ in their data.
fn data_per_triangle(mesh: &Mesh, layout: &RecordLayout) -> bool {
    let colored = !mesh.triangle_colors.is_empty() || !mesh.triangle_opacities.is_empty();
    colored || layout.primvars.iter().any(|v| v.per_triangle)
}

/// The vectors of an instance's object record between its first and its parameters: its axes in the
/// world, with the coordinates of its origin in their fourth components; the axes of normals up to
/// a positive factor, which is the fourth component of the first; its color and its opacity.
fn instance_vectors(object: &Object) -> [[u32; 4]; INSTANCE_VECTORS as usize] {
    let m = object.object_to_world;
    let normals = NormalMap::new(m);
    let [x, y, z] = [(m.x_axis, m.w_axis.x), (m.y_axis, m.w_axis.y), (m.z_axis, m.w_axis.z)]
        .map(|(axis, origin)| with_word(axis.truncate(), origin.to_bits()));
    let [nx, ny, nz] = normals.axes();
    let nx = with_word(nx, normals.axes_scale().to_bits());
    let [ny, nz, color, opacity] = [ny, nz, object.color, object.opacity].map(|v| with_word(v, 0));
    [x, y, z, nx, ny, nz, color, opacity]
}

/// An upper bound of the vectors that a mesh takes.
fn mesh_vectors(mesh: &Mesh, layout: &RecordLayout) -> u64 {
    let stride = layout.vertex_vectors() + layout.primvar_vectors(false);
    let data = if data_per_triangle(mesh, layout) { mesh.triangles.len() } else { 1 };
    mesh.positions.len() as u64 * u64::from(stride)
        + mesh.triangles.len() as u64
        + u64::from(TRIANGLE_DATA_VECTORS + layout.primvar_vectors(true)) * data as u64
}

/// The triangles of a scene's objects in world space as the acceleration structure takes them, in
/// the order of the image's triangle records.
pub fn bvh_triangles(scene: &Scene) -> Vec<bvh::Triangle> {
    let plain = || scene.objects.iter().filter(|o| o.mesh_space == MeshSpace::World);
    let mut triangles = Vec::with_capacity(plain().map(|o| o.mesh.triangles.len()).sum());
    triangles.extend(plain().flat_map(mesh_triangles));
    triangles
}

fn mesh_triangles(object: &Object) -> impl Iterator<Item = bvh::Triangle> {
    // The far side of the tube that represents a ribbon is no surface.
    let is_one_sided = object.sides == 1 || object.mesh.ribbons;
    let flags = if is_one_sided { bvh::CULL_BACK } else { 0 };
    (0..object.mesh.triangles.len()).map(move |i| {
        let [a, b, c] = object.mesh.corners(i);
        bvh::Triangle { a, b, c, flags }
    })
}

/// The object that a primitive belongs to, as its index in the scene, and the triangle's number in
/// the object's mesh, 0 of a procedural primitive; `None` after the last.
pub fn object_of(scene: &Scene, primitive: u32) -> Option<(usize, u32)> {
    let in_space = |space| scene.objects.iter().enumerate().filter(move |(_, o)| o.mesh_space == space);
    let mut rest = primitive as usize;
    for (index, object) in in_space(MeshSpace::World).chain(in_space(MeshSpace::Object)) {
        let count = object.mesh.triangles.len();
        if rest < count {
            return Some((index, rest as u32));
        }
        rest -= count;
    }
    let (index, _) = scene.objects.iter().enumerate().filter(|(_, o)| o.procedural.is_some()).nth(rest)?;
    Some((index, 0))
}

/// The BVH of a scene, whose primitives are those of the memory image.
///
/// # Errors
/// When there are too many triangles.
pub fn build_tree(scene: &Scene, options: &BuildOptions<'_>) -> Result<TwoLevel, TwoLevelError> {
    // A BVH stores which of its triangles are one-sided: instances that differ in that do not share
    // one.
    let mut known = HashMap::new();
    let mut meshes: Vec<Vec<bvh::Triangle>> = Vec::new();
    let placements: Vec<Placement> = instances(scene)
        .map(|object| {
            let mesh = *known.entry((Arc::as_ptr(&object.mesh), object.sides)).or_insert_with(|| {
                meshes.push(mesh_triangles(object).collect());
                meshes.len() - 1
            });
            Placement { mesh, object_to_world: object.object_to_world }
        })
        .collect();
    TwoLevel::build(bvh_triangles(scene), &meshes, &placements, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat4;

    /// An object of a strip of triangles; those of object space are moved by their number.
    fn object(mesh: &Arc<Mesh>, mesh_space: MeshSpace, number: f32) -> Object {
        Object {
            name: "".into(),
            surface: None,
            attributes: Arc::default(),
            lights: Arc::new([]),
            sides: 2,
            color: Vec3::splat(number),
            opacity: Vec3::ONE,
            mesh: mesh.clone(),
            mesh_space,
            procedural: None,
            solid: None,
            object_to_world: Mat4::from_translation(Vec3::Z * number),
            span: None,
        }
    }

    fn strip(triangles: u32) -> Arc<Mesh> {
        let positions: Vec<Vec3> = (0..triangles + 2).map(|i| Vec3::new(i as f32, (i % 2) as f32, 0.0)).collect();
        let normals = vec![Vec3::Z; positions.len()];
        Arc::new(Mesh {
            positions,
            normals,
            triangles: (0..triangles).map(|i| [i, i + 1, i + 2]).collect(),
            ..Mesh::default()
        })
    }

    #[test]
    fn primitives_of_instances_follow_the_plain_ones_and_find_their_object() {
        let (plain, shared) = (strip(3), strip(5));
        let mut scene = Scene::empty("two instances among two plain objects");
        let (world, instance) = (MeshSpace::World, MeshSpace::Object);
        scene.objects = vec![
            object(&shared, instance, 1.0),
            object(&plain, world, 2.0),
            object(&shared, instance, 3.0),
            object(&plain, world, 4.0),
        ];
        let records: Vec<_> = (0..4)
            .map(|entry| {
                let layout = RecordLayout::new(&scene.objects[entry as usize], Arc::default());
                ObjectRecord { entry, params: vec![[entry; 4]; 2].into(), visibility: Visibility::default(), layout }
            })
            .collect();
        let image = MemoryImage::build(&scene, &records, &[], &Textures::default()).expect("a small image");
        assert_eq!((image.triangle_count, image.placed.len()), (6, 2));
        let bvh = build_tree(&scene, &BuildOptions::default()).expect("a small BVH");
        assert_eq!(bvh.primitive_count(), 16);
        let entries: Vec<u32> = (0..16).map(|primitive| image.resolve(primitive)[0]).collect();
        assert_eq!(entries, [[1; 3].as_slice(), &[3; 3], &[0; 5], &[2; 5]].concat());
        // The instances share their triangles' records, and nothing else.
        let [_, first, one] = image.resolve(6);
        let [_, again, other] = image.resolve(11);
        assert_eq!((first, image.resolve(10)[1]), (again, first + 4));
        assert_ne!(one, other);
        let at = |address: u32| image.vectors[address as usize];
        assert_eq!(at(other + 7)[0], 3.0f32.to_bits());
        assert_eq!(at(other + 1 + INSTANCE_VECTORS), [2; 4]);
        let [a, ..] = at(first + 2);
        assert_eq!(at(a)[0], 2.0f32.to_bits());
    }
}
