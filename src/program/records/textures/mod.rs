//! The textures of a scene: the images that its shaders may look up, as they are read and laid out.
//!
//! A texture is named by a string while a program runs, so the linker collects every string that
//! may reach a lookup ([`crate::collect::string_origins`]), reads those images, and generates the
//! function that finds one ([`crate::synthesize::texture_lookup`]): it reads a table at a fixed
//! address of the memory image. The table's shape depends on the names alone, so an image that
//! changes on disk changes data and no code.

mod read;

pub use read::{Images, Read};

use shadewright_base::text::source::Span;
use shadewright_ir::passes::known_data::KnownMemory;
use shadewright_ir::string_id;
use shadewright_texture::layout::{self, MISSING_VECTORS};
use shadewright_texture::pointcloud::PointCloud;
use shadewright_texture::{DepthMap, Pyramid, Wraps};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Address of the table.
pub(crate) const TABLE: u32 = 1;

/// Vectors that a scene's textures may take together: 96 MiB, so that the memory image stays below
/// the 128 MiB that some adapters bind at most.
pub const MAX_TEXTURE_VECTORS: u64 = 6 << 20;

/// A texture that was found.
#[derive(Clone, Debug)]
pub enum Texture {
    /// An image.
    Image {
        /// The levels of the image.
        pyramid: Arc<Pyramid>,
        /// How it wraps outside of the unit square.
        wraps: Wraps,
    },
    /// A cube map: six images of the directions +x, −x, +y, −y, +z, −z.
    Cube {
        /// Their levels.
        faces: [Arc<Pyramid>; 6],
        /// 1 over the extent of each to either side at a distance of 1.
        zoom: f32,
    },
    /// A shadow map.
    Depths(Arc<DepthMap>),
    /// A point cloud.
    Points(Arc<PointCloud>),
}

impl Texture {
    /// The images of the texture.
    pub fn pyramids(&self) -> &[Arc<Pyramid>] {
        match self {
            Texture::Image { pyramid, .. } => std::slice::from_ref(pyramid),
            Texture::Cube { faces, .. } => faces,
            Texture::Depths(_) | Texture::Points(_) => &[],
        }
    }

    fn pyramids_mut(&mut self) -> &mut [Arc<Pyramid>] {
        match self {
            Texture::Image { pyramid, .. } => std::slice::from_mut(pyramid),
            Texture::Cube { faces, .. } => faces,
            Texture::Depths(_) | Texture::Points(_) => &mut [],
        }
    }

    /// Vectors that it takes.
    fn vectors(&self) -> u64 {
        let images: u64 = self.pyramids().iter().map(|p| layout::vectors(p)).sum();
        match self {
            Texture::Image { .. } => images,
            Texture::Cube { .. } => layout::CUBE_VECTORS + images,
            Texture::Depths(map) => layout::depth_vectors(map),
            Texture::Points(cloud) => layout::points_vectors(cloud),
        }
    }

    /// Appends it to an image; returns the address of its descriptor.
    fn push(&self, image: &mut Vec<[u32; 4]>, images: &mut HashMap<(*const Pyramid, Wraps), u32>) -> u32 {
        match self {
            Texture::Image { pyramid, wraps } => {
                let key = (Arc::as_ptr(pyramid), *wraps);
                *images.entry(key).or_insert_with(|| layout::append(image, pyramid, *wraps))
            }
            Texture::Cube { faces, zoom } => layout::append_cube(image, faces, *zoom),
            Texture::Depths(map) => layout::append_depths(image, map),
            Texture::Points(cloud) => layout::append_points(image, cloud),
        }
    }
}

/// The textures of a program, as its memory image holds them.
#[derive(Clone, Debug, Default)]
pub struct Textures {
    /// By name; `None` where there is no such image.
    entries: Vec<(u32, Option<Texture>)>,
    pub(crate) table: Table,
}

impl Textures {
    /// The textures of the given names.
    pub fn new(list: impl IntoIterator<Item = (Arc<str>, Option<Texture>)>) -> Self {
        let mut entries: Vec<(u32, Option<Texture>)> =
            list.into_iter().map(|(name, texture)| (string_id(&name), texture)).collect();
        entries.sort_by_key(|e| e.0);
        entries.dedup_by_key(|e| e.0);
        let ids: Vec<u32> = entries.iter().map(|e| e.0).collect();
        Self { table: Table::from_ids(&ids), entries }
    }

    /// The one of a name, if there is such an image.
    pub fn get(&self, name: &str) -> Option<&Texture> {
        let index = self.entries.binary_search_by_key(&string_id(name), |e| e.0).ok()?;
        self.entries[index].1.as_ref()
    }

    /// Vectors that all of it takes.
    pub fn vectors(&self) -> u64 {
        self.table.vectors() + self.entries.iter().filter_map(|e| e.1.as_ref()).map(Texture::vectors).sum::<u64>()
    }

    /// Appends the table, with nothing in it, and the descriptor of what is missing: the first that
    /// a memory image holds.
    pub fn push_table(&self, image: &mut Vec<[u32; 4]>) {
        debug_assert_eq!(image.len() as u32, TABLE);
        if self.table.size > 0 {
            image.extend(std::iter::repeat_n([0; 4], self.table.size as usize));
            image.extend(layout::missing(self.table.missing()));
            image.extend(self.table.displacements.iter().map(|&d| [d, 0, 0, 0]));
        }
    }

    /// Appends the images, the last that a memory image holds, and fills the table.
    pub fn push_images(&self, image: &mut Vec<[u32; 4]>) {
        let mut images = HashMap::new();
        for (id, texture) in &self.entries {
            let Some(texture) = texture else { continue };
            let address = texture.push(image, &mut images);
            image[(TABLE + self.table.slot(*id)) as usize] = [*id, address, 0, 0];
        }
    }

    /// The parts of the textures in a memory image that depend on no texel: the table, and the
    /// descriptors.
    pub fn descriptors(&self, image: &[[u32; 4]]) -> Vec<KnownMemory> {
        let piece = |address: u32, count: u32| {
            let vectors = image.get(address as usize..(address + count) as usize).unwrap_or_default();
            KnownMemory { address, vectors: vectors.into() }
        };
        let table = piece(TABLE, self.table.vectors() as u32);
        let there = self.entries.iter().filter(|(_, texture)| texture.is_some());
        let found = there.map(|(id, _)| image[(TABLE + self.table.slot(*id)) as usize][1]);
        let addresses: BTreeSet<u32> = found.flat_map(|address| layout::descriptors(image, address)).collect();
        let descriptors = addresses.into_iter().map(|a| piece(a, layout::descriptor_vectors(image, a)));
        std::iter::once(table).chain(descriptors).collect()
    }
}

/// A table without collisions: the slot of an identifier is the upper bits of its product with an
/// odd number.
///
/// Of few names, the number is found by trial, which takes slots by the square of their count: 16,000
/// would take 512 MiB. Many names are displaced (Pagh, "Hash and Displace", 1999): upper bits of
/// another product choose a displacement that is combined with the identifier before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// A power of two, at least 2; 0 where there are no textures.
    size: u32,
    pub(crate) factor: u32,
    pub(crate) shift: u32,
    /// A power of two of them, or none. They follow the descriptor of what is missing.
    displacements: Vec<u32>,
}

/// Factors that are tried for each size.
const TRIES: u32 = 256;

/// Most names without displacements.
const FEW: usize = 1024;

/// The golden ratio (Knuth, "Sorting and Searching", §6.4): the factor that chooses a displacement.
pub(crate) const FACTOR: u32 = 0x9e37_79b9;

/// The factor of identifiers that are displaced: that of the last step of MurmurHash3.
const DISPLACED_FACTOR: u32 = 0xc2b2_ae35;

/// Displacements that are tried for the identifiers that share one.
const MOST_DISPLACEMENTS: u32 = 1 << 16;

impl Table {
    fn from_ids(ids: &[u32]) -> Self {
        if ids.is_empty() {
            return Self::default();
        }
        if ids.len() > FEW {
            return Self::displacing(ids);
        }
        let mut bits = usize::BITS - ids.len().leading_zeros();
        loop {
            let shift = 32 - bits;
            let mut taken = vec![0; 1 << bits];
            for attempt in 1..=TRIES {
                // Multiples of the golden ratio, made odd.
                let factor = attempt.wrapping_mul(FACTOR) | 1;
                let fits = |&id: &u32| {
                    let slot = (id.wrapping_mul(factor) >> shift) as usize;
                    std::mem::replace(&mut taken[slot], attempt) != attempt
                };
                if ids.iter().all(fits) {
                    return Self { size: 1 << bits, factor, shift, displacements: Vec::new() };
                }
            }
            bits += 1;
        }
    }

    /// The table of many different identifiers.
    fn displacing(ids: &[u32]) -> Self {
        let bits = usize::BITS - ids.len().leading_zeros();
        let mut table = Self { displacements: vec![0; 1 << (bits - 1)], factor: DISPLACED_FACTOR, ..Self::default() };
        let mut buckets = vec![Vec::new(); table.displacements.len()];
        ids.iter().for_each(|&id| buckets[table.bucket(id)].push(id));
        // Those with many members first, while there are many free slots.
        let mut order: Vec<usize> = (0..buckets.len()).collect();
        order.sort_by_key(|&bucket| std::cmp::Reverse(buckets[bucket].len()));
        // At most half of the slots are taken; more are free where a bucket finds none.
        for bits in bits + 1..32 {
            (table.size, table.shift) = (1 << bits, 32 - bits);
            let mut taken = vec![false; 1 << bits];
            let finds_place = |&bucket: &usize| {
                let found = (0..MOST_DISPLACEMENTS).find_map(|attempt| {
                    let displacement = attempt.wrapping_mul(FACTOR);
                    let slots = buckets[bucket].iter().map(|&id| table.slot_of(id ^ displacement));
                    let slots: BTreeSet<usize> = slots.filter(|&slot| !taken[slot]).collect();
                    (slots.len() == buckets[bucket].len()).then_some((displacement, slots))
                });
                let Some((displacement, slots)) = found else { return false };
                slots.into_iter().for_each(|slot| taken[slot] = true);
                table.displacements[bucket] = displacement;
                true
            };
            if order.iter().all(finds_place) {
                break;
            }
        }
        table
    }

    pub(crate) fn slot(&self, id: u32) -> u32 {
        let displacement = self.displacements.get(self.bucket(id)).copied().unwrap_or(0);
        self.slot_of(id ^ displacement) as u32
    }

    fn slot_of(&self, displaced: u32) -> usize {
        (displaced.wrapping_mul(self.factor) >> self.shift) as usize
    }

    /// How far the product that chooses a displacement is shifted, where there are any.
    pub(crate) fn bucket_shift(&self) -> Option<u32> {
        self.displacements.len().checked_ilog2().map(|bits| 32 - bits)
    }

    fn bucket(&self, id: u32) -> usize {
        self.bucket_shift().map_or(0, |shift| id.wrapping_mul(FACTOR) >> shift) as usize
    }

    /// The address of the displacements.
    pub(crate) fn displaced(&self) -> u32 {
        self.missing() + MISSING_VECTORS
    }

    pub(crate) fn missing(&self) -> u32 {
        TABLE + self.size
    }

    fn vectors(&self) -> u64 {
        if self.size == 0 { 0 } else { u64::from(self.size + MISSING_VECTORS) + self.displacements.len() as u64 }
    }
}

/// Names of textures, each with a source span.
pub type Names = BTreeMap<Arc<str>, Option<Span>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_slot_for_each_of_a_thousand_names() {
        for count in [1, 2, 3, 7, 100, 1000, 1025, 50_000] {
            let ids: Vec<u32> = (0..count).map(|i| string_id(&format!("maps/{i}.tex"))).collect();
            let table = Table::from_ids(&ids);
            let slots: std::collections::HashSet<u32> = ids.iter().map(|&id| table.slot(id)).collect();
            assert_eq!(slots.len(), ids.len());
            assert!(slots.iter().all(|&s| s < table.size), "{table:?}");
            assert!(count <= FEW || table.vectors() <= 8 * count as u64, "{count} names, {} vectors", table.vectors());
        }
    }
}
