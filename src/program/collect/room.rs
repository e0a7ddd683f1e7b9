//! Room for the code and the parameters of a scene's objects: in a few bytes a scene may ask for
//! code of its own for an object, or for a copy of all parameters of a large shader.

use crate::collect::copied_functions::copied;
use crate::collect::entries::{EntryKey, SpecializationKey, SurfaceEntry};
use crate::collect::instances::Instance;
use crate::collect::lights::BoundLight;
use crate::records::ParamBlock;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_ir::{Function, Module};
use shadewright_scene::{Object, ShaderId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Most instructions of the code that objects ask for: functions and cores for each different set of
/// lights, volumes, co-shaders and ray depths, and an entry for each combination of shaders. They
/// take some 120 bytes each before they are optimized.
const MAX_INSTRUCTIONS: usize = 1 << 22;

/// Most vectors of parameters: of all objects, and of all shader instances. A vector takes 16 bytes
/// where it is bound, and where it lies in memory.
const MAX_PARAMETERS: usize = 1 << 24;

/// Most triangles that emit light, of instances each time counted: light sampling has a table of
/// them.
const MAX_EMITTERS: usize = 1 << 21;

/// Instructions of an entry beside those of the cores that it calls.
const OF_ENTRY: usize = 600;
/// Instructions of the functions for a specialization key beside those for its lights.
const OF_KEY: usize = 60;
/// Instructions that call a light, beside those that load a vector of its parameters.
const OF_LIGHT: usize = 50;
/// Instructions that load a vector of parameters.
const OF_VECTOR: usize = 2;

/// The room that is left, and the objects for which there was none.
#[derive(Debug)]
pub struct Room {
    instructions: usize,
    parameters: Parameters,
    emitters: usize,
    /// Instructions of all functions that are copied for each key.
    copied: usize,
    /// Instructions of each function.
    functions: HashMap<Arc<str>, usize>,
    keys: BTreeSet<SpecializationKey>,
    entries: HashSet<EntryKey>,
    blocks: HashSet<Arc<ParamBlock>>,
    left_out: BTreeSet<usize>,
    first: Option<Span>,
}

/// The room that is left for parameters.
#[derive(Debug)]
pub struct Parameters {
    vectors: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { vectors: MAX_PARAMETERS }
    }
}

impl Parameters {
    /// Takes room for so many vectors; false where there is too little.
    pub fn take(&mut self, vectors: usize) -> bool {
        take(&mut self.vectors, vectors)
    }

    /// The error where there is too little, of what is left out.
    pub fn error(what: &str) -> Diagnostic {
        Diagnostic::error(format!("{what} would have more than {MAX_PARAMETERS} vectors of parameters"))
    }
}

fn take(left: &mut usize, taken: usize) -> bool {
    let fits = taken <= *left;
    *left -= if fits { taken } else { 0 };
    fits
}

impl Room {
    /// All of it. The module has the cores of all shaders of the scene.
    pub fn new(module: &Module) -> Self {
        let size = |f: &Function| f.blocks.iter().map(|block| block.insts.len() + 1).sum::<usize>();
        let functions: HashMap<Arc<str>, usize> = module.functions.iter().map(|f| (f.name.clone(), size(f))).collect();
        let copied = copied(module).iter().filter_map(|name| functions.get(name)).sum();
        Self {
            instructions: MAX_INSTRUCTIONS,
            parameters: Parameters::default(),
            emitters: MAX_EMITTERS,
            copied,
            functions,
            keys: BTreeSet::new(),
            entries: HashSet::new(),
            blocks: HashSet::new(),
            left_out: BTreeSet::new(),
            first: None,
        }
    }

    /// Takes room for the functions of a specialization key, unless an object before had it; false
    /// where there is too little.
    pub fn take_key(&mut self, key: SpecializationKey, lights: &[BoundLight]) -> bool {
        if self.keys.contains(&key) {
            return true;
        }
        let of_light = |&i: &u32| lights.get(i as usize).map_or(0, |l| OF_LIGHT + OF_VECTOR * l.instance.block.len());
        let functions = OF_KEY + key.lights.iter().map(of_light).sum::<usize>();
        let fits = take(&mut self.instructions, functions + self.copied);
        if fits {
            self.keys.insert(key);
        }
        fits
    }

    /// Takes room for a surface entry, unless an object before had it; false where there is too
    /// little.
    pub fn take_entry(&mut self, entry: &SurfaceEntry, volumes: &BTreeMap<ShaderId, Arc<Instance>>) -> bool {
        let key = entry.key();
        if self.entries.contains(&key) {
            return true;
        }
        let of_core = |i: &Arc<Instance>| self.functions.get(&i.shader.core).unwrap_or(&0) + OF_VECTOR * i.block.len();
        let atmosphere = entry.atmosphere.and_then(|id| volumes.get(&id));
        let cores = entry.shaders().chain(entry.methods.all()).chain(atmosphere).map(of_core);
        let size = OF_ENTRY + cores.sum::<usize>();
        let fits = take(&mut self.instructions, size);
        if fits {
            self.entries.insert(key);
        }
        fits
    }

    /// Takes room for the triangles of an object that emits light; false where there is too little.
    pub fn take_emitters(&mut self, object: &Object) -> bool {
        take(&mut self.emitters, object.mesh.triangles.len().max(1))
    }

    /// Takes room for the parameters of an object, whose memory those of equal objects share;
    /// `None` where there is too little.
    pub fn take_parameters(&mut self, block: ParamBlock) -> Option<Arc<ParamBlock>> {
        if !self.parameters.take(block.len()) {
            return None;
        }
        if let Some(known) = self.blocks.get(&block) {
            return Some(known.clone());
        }
        let block = Arc::new(block);
        self.blocks.insert(block.clone());
        Some(block)
    }

    /// Leaves out an object, for which there is too little room.
    pub fn leave_out(&mut self, number: usize, object: &Object) {
        self.left_out.insert(number);
        self.first = self.first.or(object.span);
    }

    /// The objects that are left out, and the error that says so.
    pub fn left_out(self) -> Option<(BTreeSet<usize>, Diagnostic)> {
        let count = self.left_out.len();
        if count == 0 {
            return None;
        }
        let objects = if count == 1 { "1 object is".to_string() } else { format!("{count} objects are") };
        let text = format!("there is no room for the code or the parameters of all objects: {objects} left out");
        let d = Diagnostic::error(text)
            .hint(format!(
                "objects with their own sets of lights, volumes, co-shaders or ray depths have code of their own, of \
                 which a scene has {MAX_INSTRUCTIONS} instructions at most"
            ))
            .hint(format!("the parameters of objects take {MAX_PARAMETERS} vectors at most"))
            .hint(format!("surfaces whose materials emit light have {MAX_EMITTERS} triangles at most"));
        let d = self.first.into_iter().fold(d, |d, span| d.at(span, "the first"));
        Some((self.left_out, d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat4, Vec3};
    use shadewright_geometry::Mesh;
    use shadewright_scene::MeshSpace;

    fn key(depth: u32) -> SpecializationKey {
        SpecializationKey {
            lights: Arc::new([]),
            sides: [None; 2],
            ray_depths: [Some(depth), None],
            coshaders: Arc::new([]),
        }
    }

    #[test]
    fn keys_have_room_until_their_functions_have_too_many_instructions() {
        let mut room = Room::new(&Module::new());
        let fitting = (0..u32::MAX).take_while(|&depth| room.take_key(key(depth), &[])).count();
        assert_eq!(fitting, MAX_INSTRUCTIONS / OF_KEY);
        assert!(room.take_key(key(0), &[]), "one that is known takes no room");
    }

    #[test]
    fn equal_parameters_share_their_memory_and_are_bounded() {
        let mut room = Room::new(&Module::new());
        let block = |x| vec![[x; 4]; 1 << 20];
        let first = room.take_parameters(block(1)).expect("room");
        assert!(room.take_parameters(block(1)).is_some_and(|second| Arc::ptr_eq(&first, &second)));
        let more = (0..100).take_while(|_| room.take_parameters(block(2)).is_some()).count();
        assert_eq!(more, (MAX_PARAMETERS >> 20) - 2);
    }

    #[test]
    fn parameters_of_shaders_have_at_most_16777216_vectors() {
        let mut parameters = Parameters::default();
        assert!(parameters.take(16_777_215) && !parameters.take(2) && parameters.take(1) && !parameters.take(1));
    }

    #[test]
    fn surfaces_that_emit_light_have_at_most_2097152_triangles() {
        let mesh = Mesh { triangles: vec![[0, 1, 2]; 1 << 19], ..Mesh::default() };
        let object = Object {
            name: "".into(),
            surface: None,
            attributes: Arc::default(),
            lights: Arc::new([]),
            sides: 2,
            color: Vec3::ONE,
            opacity: Vec3::ONE,
            mesh: Arc::new(mesh),
            mesh_space: MeshSpace::Object,
            procedural: None,
            solid: None,
            object_to_world: Mat4::IDENTITY,
            span: None,
        };
        let mut room = Room::new(&Module::new());
        assert_eq!((0..100).take_while(|_| room.take_emitters(&object)).count(), 4);
    }

    #[test]
    fn objects_without_room_are_counted_in_one_error() {
        let mut room = Room::new(&Module::new());
        assert!(room.left_out.is_empty());
        room.left_out.extend([3, 5]);
        let (objects, error) = room.left_out().expect("some");
        assert!(error.is_error() && error.message.contains("2 objects are left out"), "{}", error.message);
        assert_eq!(objects.len(), 2);
        assert!(Room::new(&Module::new()).left_out().is_none());
    }
}
