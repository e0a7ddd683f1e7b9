//! Which surface entries a scene needs: one for each distinct combination of cores, specialization
//! key, record layout and visibility.

use crate::collect::BoundObject;
use crate::collect::instances::Instance;
use crate::collect::materials::MaterialMethods;
use crate::collect::procedural::PrimitiveCores;
use crate::records::{ParamBlock, RecordLayout};
use shadewright_scene::{CoShader, Object, ShaderId, Visibility};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The key that the cores of an object's shaders are specialized for: the functions that they call
/// by it differ from object to object, so a core that calls one is copied for each key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpecializationKey {
    /// The lights that illuminate the object, as indices into the scene's.
    pub lights: Arc<[u32]>,
    /// The volumes inside and outside of it.
    pub sides: [Option<ShaderId>; 2],
    /// The depth limits of its specular and its diffuse rays
    /// ([`crate::synthesize::ray_depths`]).
    pub ray_depths: [Option<u32>; 2],
    /// The co-shaders that its shaders may call.
    pub coshaders: Arc<[CoShader]>,
}

impl SpecializationKey {
    /// That of an object.
    pub fn new(object: &Object) -> Self {
        let attributes = &object.attributes;
        Self {
            lights: object.lights.clone(),
            sides: [attributes.interior, attributes.exterior],
            ray_depths: attributes.ray_depths,
            coshaders: attributes.coshaders.clone(),
        }
    }

    /// That of an object which no light illuminates.
    pub fn unlit(object: &Object) -> Self {
        Self { lights: Arc::new([]), ..Self::new(object) }
    }
}

/// The specialization keys of a scene, numbered in the order in which they are first used.
#[derive(Debug, Default)]
pub struct SpecializationKeys {
    /// The number of each.
    pub numbers: BTreeMap<SpecializationKey, usize>,
    /// The numbers of objects' keys, by the addresses of their lists: objects share them.
    of_lists: HashMap<ListsKey, usize>,
}

/// A key by the addresses of the object's lists.
type ListsKey = ([*const (); 2], [Option<ShaderId>; 2], [Option<u32>; 2]);

impl SpecializationKeys {
    /// The number of a key.
    pub fn number(&mut self, key: SpecializationKey) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(key).or_insert(next)
    }

    /// The number of the key of an object; the scene that it belongs to lives as long as this.
    pub fn intern(&mut self, object: &Object) -> usize {
        let lists = Self::lists(object);
        if let Some(known) = self.of_lists.get(&lists) {
            return *known;
        }
        let number = self.number(SpecializationKey::new(object));
        self.of_lists.insert(lists, number);
        number
    }

    /// True if [`SpecializationKeys::intern`] had an object with the same lists.
    pub fn has(&self, object: &Object) -> bool {
        self.of_lists.contains_key(&Self::lists(object))
    }

    fn lists(object: &Object) -> ListsKey {
        let attributes = &object.attributes;
        let addresses = [Arc::as_ptr(&object.lights).cast(), Arc::as_ptr(&attributes.coshaders).cast()];
        (addresses, [attributes.interior, attributes.exterior], attributes.ray_depths)
    }
}

/// A surface entry, shared by all objects that need the same code.
#[derive(Clone, Debug)]
pub struct SurfaceEntry {
    /// The surface shader; only its signature matters.
    pub instance: Arc<Instance>,
    /// The displacement shader.
    pub displacement: Option<BoundDisplacement>,
    /// The atmosphere.
    pub atmosphere: Option<ShaderId>,
    /// The number of its specialization key.
    pub specialization: usize,
    /// How the records of its objects lie.
    pub layout: RecordLayout,
    /// The cores of the primitive, if its objects are procedural.
    pub primitive: Option<Arc<PrimitiveCores>>,
    /// Which rays see its objects.
    pub visibility: Visibility,
    /// The methods of its material, if that is an RTSL class.
    pub methods: MaterialMethods,
    /// The number of the specialization key without lights, where shadow rays evaluate the surface
    /// shader for its opacity.
    pub unlit: Option<usize>,
    /// Which parameters of its objects are constants of its code, if any.
    pub constants: Option<Constants>,
}

/// A displacement shader of an object.
#[derive(Clone, Debug)]
pub struct BoundDisplacement {
    /// The shader; only its signature matters.
    pub instance: Arc<Instance>,
    /// True if it has moved the points of the mesh already.
    pub is_done: bool,
    /// True if it is the class that the surface shader is, too.
    pub is_surface: bool,
}

impl SurfaceEntry {
    /// The shaders whose cores it calls.
    pub fn shaders(&self) -> impl Iterator<Item = &Arc<Instance>> {
        std::iter::once(&self.instance).chain(self.displacement.iter().map(|d| &d.instance))
    }

    /// The key that distinguishes the entry.
    pub(in crate::collect) fn key(&self) -> EntryKey {
        let core = |instance: &Instance| instance.shader.core.clone();
        EntryKey {
            surface: core(&self.instance),
            displacement: self.displacement.as_ref().map(|d| (core(&d.instance), d.is_done)),
            atmosphere: self.atmosphere,
            specialization: self.specialization,
            layout: self.layout.clone(),
            visibility: self.visibility,
            has_emission: self.methods.emission.is_some(),
            has_opacity: self.methods.opacity.is_some(),
            constants: self.constants.clone(),
        }
    }
}

/// The key that distinguishes surface entries.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::collect) struct EntryKey {
    surface: Arc<str>,
    displacement: Option<(Arc<str>, bool)>,
    atmosphere: Option<ShaderId>,
    specialization: usize,
    layout: RecordLayout,
    visibility: Visibility,
    has_emission: bool,
    has_opacity: bool,
    constants: Option<Constants>,
}

/// The parameters of an entry's objects, as vectors of memory: those that are constants of its code.
pub type Constants = Arc<[Option<[u32; 4]>]>;

/// Which words of a block are zero. Zeros decide what code does: no texture, no highlight, a switch
/// that is off. Other numbers are as quick to load as to have in the code, and objects that run the
/// same code run together: with an entry for each set of parameters, frames of interiors with 32
/// and 50 materials took 1.13 and 1.15 times as long as with parameters in common alone
/// (`cargo bench --bench specialize`).
fn pattern(block: &ParamBlock) -> Vec<u8> {
    let bits = |vector: &[u32; 4]| vector.iter().fold(0, |bits, word| bits << 1 | u8::from(*word == 0));
    block.iter().map(bits).collect()
}

/// Makes parameters constants of their entries: those that all objects of an entry have in common.
/// With a limit, objects whose parameters differ in which are zero get entries of their own first, as
/// long as there are fewer entries than that: those of entries with many objects before others.
pub fn fix_parameters(objects: &mut [(SurfaceEntry, BoundObject)], limit: Option<usize>) {
    let split = limit.map_or_else(HashSet::new, |limit| split_entries(objects, limit));
    let group = |(entry, object): &(SurfaceEntry, BoundObject)| {
        let key = entry.key();
        let pattern = split.contains(&key).then(|| pattern(&object.params));
        (key, pattern)
    };
    let mut blocks: HashMap<(EntryKey, Option<Vec<u8>>), HashSet<&ParamBlock>> = HashMap::new();
    for object in objects.iter() {
        blocks.entry(group(object)).or_default().insert(&*object.1.params);
    }
    let common: HashMap<_, Constants> =
        blocks.into_iter().map(|(group, blocks)| (group, in_common(blocks.into_iter()))).collect();
    let constants: Vec<Option<Constants>> = objects.iter().map(|object| common.get(&group(object)).cloned()).collect();
    for ((entry, _), constants) in objects.iter_mut().zip(constants) {
        entry.constants = constants;
    }
}

/// The entries that are split by the patterns of their objects' zeros.
fn split_entries(objects: &[(SurfaceEntry, BoundObject)], limit: usize) -> HashSet<EntryKey> {
    /// An entry before it is split.
    #[derive(Default)]
    struct Whole {
        objects: usize,
        patterns: HashSet<Vec<u8>>,
    }
    let mut order = Vec::new();
    let mut wholes: HashMap<EntryKey, Whole> = HashMap::new();
    for (entry, object) in objects {
        let whole = wholes.entry(entry.key()).or_insert_with(|| {
            order.push(entry.key());
            Whole::default()
        });
        whole.objects += 1;
        whole.patterns.insert(pattern(&object.params));
    }
    order.sort_by_key(|key| std::cmp::Reverse(wholes[key].objects));
    let mut count = order.len();
    order.retain(|key| {
        let more = wholes[key].patterns.len() - 1;
        let fits = count + more < limit;
        count += if fits { more } else { 0 };
        fits
    });
    order.into_iter().collect()
}

/// The vectors that all blocks have in common.
fn in_common<'a>(mut blocks: impl Iterator<Item = &'a ParamBlock>) -> Constants {
    let mut common: Vec<_> = blocks.next().into_iter().flatten().copied().map(Some).collect();
    for block in blocks {
        for (i, vector) in common.iter_mut().enumerate() {
            *vector = vector.filter(|known| block.get(i) == Some(known));
        }
    }
    common.into()
}

/// The surface entries of a scene, numbered in the order in which they are first used.
#[derive(Debug, Default)]
pub struct SurfaceEntries {
    /// The entries.
    pub list: Vec<SurfaceEntry>,
    numbers: HashMap<EntryKey, u32>,
}

impl SurfaceEntries {
    /// The number of an entry, or of one that is the same.
    pub fn number(&mut self, entry: SurfaceEntry) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(entry.key()).or_insert(next);
        if number == next {
            self.list.push(entry);
        }
        number
    }
}
