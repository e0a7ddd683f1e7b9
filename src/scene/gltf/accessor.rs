//! Accessors: vertex and index data of any type and layout in a buffer (glTF 2.0, §3.6.2).
//!
//! All sizes are checked when an accessor is opened; reading an element afterwards cannot fail.

use super::document::Document;
use gltf::json::accessor::{Accessor, ComponentType, Type};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place, buffer};
use shadewright_base::text::diagnostics::Diagnostic;

/// Most elements of an accessor that has no data of its own but zeros: nothing in the file pays for
/// them.
const MAX_ZEROS: u64 = 1 << 22;

/// Elements that lie in a buffer, a fixed number of bytes apart.
#[derive(Clone, Copy, Debug)]
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

/// An accessor's elements.
#[derive(Debug)]
pub struct Elements<'a> {
    /// `None`: zeros.
    plain: Option<Strided<'a>>,
    /// The elements that are something else than `plain` says: their numbers, ascending, and their
    /// values.
    sparse: Option<(Vec<u64>, Strided<'a>)>,
    count: usize,
    components: usize,
    ty: ComponentType,
    normalized: bool,
}

impl<'a> Elements<'a> {
    /// Opens the accessor that `place` names; its elements must be of one of the `wanted` types.
    ///
    /// # Errors
    /// When it does not exist, is of another type, or reaches beyond its data.
    pub fn open(
        document: &'a Document<'_>,
        index: Index<Accessor>,
        place: &Place,
        wanted: &[Type],
    ) -> Result<Self, Diagnostic> {
        let accessor = document.get(index, place)?;
        let own = Place::new().field("accessors").index(index.value());
        let (Checked::Valid(component), Checked::Valid(shape)) = (accessor.component_type, accessor.type_) else {
            return Err(document.error(&own, "unknown type"));
        };
        if !wanted.contains(&shape) {
            return Err(
                document.error(place, format_args!("accessors[{}] is of a type that it cannot have", index.value()))
            );
        }
        let (ty, components) = (component.0, shape.multiplicity());
        let size = components * ty.size();
        let count = accessor.count.0;
        let plain = match accessor.buffer_view {
            Some(view) => {
                let at = own.field("bufferView");
                let bytes = document.view(view, &at)?;
                let stride = document.get(view, &at)?.byte_stride.map_or(size, |s| if s.0 == 0 { size } else { s.0 });
                let offset = accessor.byte_offset.unwrap_or_default().0;
                Some(strided(document, &own, view, bytes, [offset, stride as u64, size as u64, count])?)
            }
            None if count > MAX_ZEROS => {
                return Err(
                    document.error(&own, format_args!("it has {count} elements and no data; {MAX_ZEROS} are the most"))
                );
            }
            None => None,
        };
        let mut elements =
            Self { plain, sparse: None, count: count as usize, components, ty, normalized: accessor.normalized };
        if let Some(sparse) = &accessor.sparse {
            let own = own.field("sparse");
            let Checked::Valid(indices_type) = sparse.indices.component_type else {
                return Err(document.error(&own.field("indices"), "its type is none that indices may have"));
            };
            let part = |view: Index<buffer::View>, offset: u64, size: usize, field: &str| {
                let place = own.field(field);
                let bytes = document.view(view, &place)?;
                strided(document, &place, view, bytes, [offset, size as u64, size as u64, sparse.count.0])
            };
            let index_size = indices_type.0.size();
            let indices = part(sparse.indices.buffer_view, sparse.indices.byte_offset.0, index_size, "indices")?;
            let values = part(sparse.values.buffer_view, sparse.values.byte_offset.0, size, "values")?;
            let numbers = (0..sparse.count.0 as usize).map(|i| whole(indices.component(i, 0, indices_type.0)));
            let numbers: Vec<u64> = numbers.collect();
            if !numbers.is_sorted_by(|a, b| a < b) || numbers.last().is_some_and(|&last| last >= count) {
                return Err(document.error(&own.field("indices"), "they do not rise, or leave the accessor"));
            }
            elements.sparse = Some((numbers, values));
        }
        Ok(elements)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Numbers of an element.
    pub fn components(&self) -> usize {
        self.components
    }

    /// The first `N` numbers of element `i`, which there is; those that it has not are 1, as alpha
    /// is in colors without it.
    pub fn floats<const N: usize>(&self, i: usize) -> [f32; N] {
        std::array::from_fn(|c| {
            if c >= self.components {
                return 1.0;
            }
            let Some((from, i)) = self.source(i) else { return 0.0 };
            let bits = from.component(i, c, self.ty);
            if self.normalized { normalized(bits, self.ty) } else { number(bits, self.ty) }
        })
    }

    /// True if the numbers are whole and have no sign, as those of indices.
    pub fn are_whole(&self) -> bool {
        matches!(self.ty, ComponentType::U8 | ComponentType::U16 | ComponentType::U32)
    }

    /// Number `c` of element `i`, which there are, as an index of something.
    pub fn whole(&self, i: usize, c: usize) -> u64 {
        self.source(i).map_or(0, |(from, i)| whole(from.component(i, c, self.ty)))
    }

    /// Element `i`, which there is, as a vertex index.
    pub fn index(&self, i: usize) -> u32 {
        // No component has more than 32 bits.
        self.whole(i, 0) as u32
    }

    /// Where element `i` lies; `None` for zeros.
    fn source(&self, i: usize) -> Option<(Strided<'a>, usize)> {
        let replaced = self
            .sparse
            .as_ref()
            .and_then(|(numbers, values)| numbers.binary_search(&(i as u64)).ok().map(|place| (*values, place)));
        replaced.or(self.plain.map(|plain| (plain, i)))
    }
}

/// A row of `count` elements of `size` bytes in a buffer view, `stride` apart, from `offset` on.
fn strided<'a>(
    document: &Document<'_>,
    place: &Place,
    view: Index<buffer::View>,
    bytes: &'a [u8],
    [offset, stride, size, count]: [u64; 4],
) -> Result<Strided<'a>, Diagnostic> {
    let end = match count.checked_sub(1) {
        None => Some(offset),
        Some(last) => last.checked_mul(stride).and_then(|l| l.checked_add(size)).and_then(|l| l.checked_add(offset)),
    };
    match end {
        Some(end) if end <= bytes.len() as u64 && stride >= size => {
            Ok(Strided { bytes: &bytes[offset as usize..], stride: stride as usize })
        }
        Some(end) if stride >= size => {
            let (number, length) = (view.value(), bytes.len());
            Err(document.error(place, format_args!("it needs {end} bytes, and bufferViews[{number}] has {length}")))
        }
        _ => Err(document.error(place, "its elements overlap, or there are too many")),
    }
}

/// The bits of a number, lowest first.
type Bits = [u8; 4];

impl Strided<'_> {
    /// Component `c` of element `i`.
    fn component(&self, i: usize, c: usize, ty: ComponentType) -> Bits {
        let size = ty.size();
        let mut bits = [0; 4];
        bits[..size].copy_from_slice(&self.bytes[i * self.stride + c * size..][..size]);
        bits
    }
}

/// An integer without a sign.
fn whole(bits: Bits) -> u64 {
    u64::from(u32::from_le_bytes(bits))
}

/// A number as it stands there.
fn number(bits: Bits, ty: ComponentType) -> f32 {
    match ty {
        ComponentType::I8 => f32::from(i8::from_le_bytes([bits[0]])),
        ComponentType::I16 => f32::from(i16::from_le_bytes([bits[0], bits[1]])),
        ComponentType::U8 | ComponentType::U16 | ComponentType::U32 => u32::from_le_bytes(bits) as f32,
        ComponentType::F32 => f32::from_le_bytes(bits),
    }
}

/// A whole number that stands for one from 0 or −1 to 1 (glTF 2.0, §3.11).
fn normalized(bits: Bits, ty: ComponentType) -> f32 {
    let value = number(bits, ty);
    match ty {
        ComponentType::I8 => (value / f32::from(i8::MAX)).max(-1.0),
        ComponentType::I16 => (value / f32::from(i16::MAX)).max(-1.0),
        ComponentType::U8 => value / f32::from(u8::MAX),
        ComponentType::U16 => value / f32::from(u16::MAX),
        ComponentType::U32 => value / u32::MAX as f32,
        ComponentType::F32 => value,
    }
}
