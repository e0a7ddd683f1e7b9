//! The parsed document with its buffers: every index is resolved here, to the item or to an error
//! that names the place.

use super::container::{self, Uri};
use super::meshopt;
use crate::files::{self, FileAccess, FileError, MAX_EXPANSION, MAX_FILE_BYTES};
use gltf::json::{Index, Path as Place, Root, buffer, root::Get};
use serde::Deserialize;
use serde_json::Value;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::SourceMap;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extension of compressed buffer views.
const COMPRESSION: &str = "EXT_meshopt_compression";

/// Extensions that are read.
const EXTENSIONS: [&str; 16] = [
    "EXT_mesh_gpu_instancing",
    COMPRESSION,
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// The compressed bytes that a buffer view describes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compressed {
    buffer: Index<buffer::Buffer>,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: usize,
    count: usize,
    mode: meshopt::Mode,
    #[serde(default)]
    filter: meshopt::Filter,
}

/// Members of objects whose values are indices, or hold them.
const INDICES: [&str; 20] = [
    "attributes",
    "buffer",
    "bufferView",
    "camera",
    "children",
    "indices",
    "index",
    "input",
    "inverseBindMatrices",
    "joints",
    "material",
    "mesh",
    "node",
    "nodes",
    "output",
    "sampler",
    "scene",
    "skeleton",
    "skin",
    "source",
];

/// The bytes of a buffer: the first of a file, which other buffers may share.
#[derive(Clone, Debug, Default)]
struct Buffer {
    file: Arc<Vec<u8>>,
    length: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file[..self.length]
    }
}

/// A document whose buffers are in memory.
pub struct Document<'a> {
    /// The file's name, for messages.
    pub name: &'a str,
    /// The root object of the document.
    pub root: Root,
    /// The bytes of each buffer; none of one that has no source.
    buffers: Vec<Buffer>,
    /// The files of buffers, each once.
    files: HashMap<PathBuf, Arc<Vec<u8>>>,
    /// The bytes of buffer views that are compressed, by their numbers.
    decoded: HashMap<usize, Vec<u8>>,
    /// Errors of buffers, which have no bytes then.
    pub problems: Vec<Diagnostic>,
}

impl<'a> Document<'a> {
    /// Reads a document and its buffers, from files beside it as `access` allows.
    ///
    /// A buffer that is missing or too short is one of the document's problems.
    ///
    /// # Errors
    /// When it is no glTF 2.0 document.
    pub fn read(
        name: &'a str,
        bytes: &[u8],
        access: &FileAccess,
        sources: &mut SourceMap,
    ) -> Result<Self, Vec<Diagnostic>> {
        let fail = |what: &dyn Display| vec![Diagnostic::error(format!("`{name}` is not a usable glTF file: {what}"))];
        let parts = container::split(bytes).map_err(|e| fail(&e))?;
        let json = parts.json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(parts.json);
        let mut value: Value = serde_json::from_slice(json).map_err(|e| fail(&e))?;
        clamp_indices(&mut value);
        let root = Root::deserialize(value).map_err(|e| fail(&e))?;
        let mut document = Self {
            name,
            root,
            buffers: Vec::new(),
            files: HashMap::new(),
            decoded: HashMap::new(),
            problems: Vec::new(),
        };
        document.check_version().map_err(|e| vec![e])?;
        let mut room = MAX_FILE_BYTES;
        for number in 0..document.root.buffers.len() {
            let read = document.read_buffer(number, parts.binary, &mut room, access, sources);
            let data = read.unwrap_or_else(|error| {
                document.problems.push(error);
                Buffer::default()
            });
            document.buffers.push(data);
        }
        // Compressed views are decoded to no more than a compressed file may expand to. Streams of
        // meshes shrink to a tenth of them at best.
        room = room.min(files::expanded(MAX_FILE_BYTES - room));
        for number in 0..document.root.buffer_views.len() {
            match document.decode(number, room) {
                Ok(None) => {}
                Ok(Some(data)) => {
                    room -= data.len() as u64;
                    document.decoded.insert(number, data);
                }
                Err(error) => document.problems.push(error),
            }
        }
        Ok(document)
    }

    /// An error about a place of the document.
    pub fn error(&self, place: &Place, what: impl Display) -> Diagnostic {
        Diagnostic::error(format!("`{}`: {place}: {what}", self.name))
    }

    /// A warning about a place of the document.
    pub fn warning(&self, place: &Place, what: impl Display) -> Diagnostic {
        Diagnostic::warning(format!("`{}`: {place}: {what}", self.name))
    }

    /// Returns the object that the number at a place stands for.
    ///
    /// # Errors
    /// When there is no such thing.
    pub fn get<T>(&self, index: Index<T>, place: &Place) -> Result<&T, Diagnostic>
    where
        Root: Get<T>,
    {
        self.root.get(index).ok_or_else(|| self.error(place, format_args!("there is no number {index}")))
    }

    /// The bytes of a buffer view that a place names.
    ///
    /// # Errors
    /// When it does not exist, or reaches beyond its buffer.
    pub fn view(&self, index: Index<buffer::View>, place: &Place) -> Result<&[u8], Diagnostic> {
        let view = self.get(index, place)?;
        if let Some(data) = self.decoded.get(&index.value()) {
            return Ok(data);
        }
        let own = Place::new().field("bufferViews").index(index.value());
        self.get(view.buffer, &own.field("buffer"))?;
        let data = &self.buffers[view.buffer.value()];
        let start = view.byte_offset.unwrap_or_default().0;
        self.part(data, view.buffer, [start, view.byte_length.0], &own)
    }

    /// So many bytes of a buffer's data from a start on, which a place asks for.
    fn part<'b>(
        &self,
        data: &'b [u8],
        buffer: Index<buffer::Buffer>,
        [start, length]: [u64; 2],
        place: &Place,
    ) -> Result<&'b [u8], Diagnostic> {
        let end = start.checked_add(length).filter(|&end| end <= data.len() as u64);
        let Some(end) = end else {
            let what = format!(
                "it takes {length} bytes from number {start} on, and buffers[{}] has {}",
                buffer.value(),
                data.len()
            );
            return Err(self.error(place, what));
        };
        Ok(&data[start as usize..end as usize])
    }

    /// The bytes of a buffer view that is compressed, at most `room` of them.
    fn decode(&self, number: usize, room: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let view = &self.root.buffer_views[number];
        let Some(json) = view.extensions.as_ref().and_then(|e| e.others.get(COMPRESSION)) else { return Ok(None) };
        let place = Place::new().field("bufferViews").index(number).field("extensions").field(COMPRESSION);
        let stream = Compressed::deserialize(json).map_err(|e| self.error(&place, e))?;
        self.get(stream.buffer, &place.field("buffer"))?;
        let data = &self.buffers[stream.buffer.value()];
        let data = self.part(data, stream.buffer, [stream.byte_offset, stream.byte_length], &place)?;
        let size = stream.count.checked_mul(stream.byte_stride);
        if size.is_none_or(|size| size as u64 != view.byte_length.0) {
            return Err(self.error(&place, "its elements have another size than the buffer view"));
        }
        if view.byte_length.0 > room {
            let what = format!("with it the buffers are decoded to more than {MAX_EXPANSION} times their bytes");
            return Err(self.error(&place, what));
        }
        let decoded = meshopt::decode(stream.mode, stream.filter, stream.count, stream.byte_stride, data);
        decoded.map(Some).map_err(|what| self.error(&place, format_args!("the stream cannot be decoded: {what}")))
    }

    /// The bytes of the files that it was read from, the document's own at this path: each once.
    pub fn bytes(&self, path: &Path) -> u64 {
        let mut known = HashSet::new();
        let buffers = self.root.buffers.iter().zip(&self.buffers).filter(|(b, _)| known.insert(&b.uri));
        let of_buffers: usize = buffers.map(|(_, data)| data.len()).sum();
        of_buffers as u64 + std::fs::metadata(path).map_or(0, |meta| meta.len())
    }

    /// Errors about extensions that the document needs and that are not known, and warnings about
    /// those that it only uses.
    pub fn unknown_extensions(&self) -> impl Iterator<Item = Diagnostic> {
        let (used, needed) = (&self.root.extensions_used, &self.root.extensions_required);
        let is_unknown = |extension: &&String| !EXTENSIONS.contains(&extension.as_str());
        let needed_ones = needed.iter().filter(is_unknown).map(|extension| {
            Diagnostic::error(format!("`{}` needs the extension {extension}, which is not supported", self.name))
                .hint("what it says is passed over, and what cannot be read without it is left out")
                .hint("programs that write glTF can mostly leave such extensions out (compression, for example)")
        });
        let used_ones = used.iter().filter(is_unknown).filter(|extension| !needed.contains(extension));
        let used_ones = used_ones.map(|extension| {
            Diagnostic::warning(format!("`{}` uses the extension {extension}, which is not supported", self.name))
                .hint("what it says is passed over")
        });
        needed_ones.chain(used_ones)
    }

    fn check_version(&self) -> Result<(), Diagnostic> {
        let asset = &self.root.asset;
        let needed = asset.min_version.as_deref().unwrap_or("2.0");
        if !asset.version.starts_with("2.") || needed != "2.0" {
            let version = if needed == "2.0" { &asset.version } else { needed };
            return Err(self
                .error(&Place::new().field("asset"), format_args!("it asks for version {version} of glTF"))
                .hint("version 2.0 is read"));
        }
        Ok(())
    }

    /// The bytes of a buffer, at most `room` of them, which is less by those that are new.
    fn read_buffer(
        &mut self,
        number: usize,
        binary: Option<&[u8]>,
        room: &mut u64,
        access: &FileAccess,
        sources: &mut SourceMap,
    ) -> Result<Buffer, Diagnostic> {
        let buffer = &self.root.buffers[number];
        let place = Place::new().field("buffers").index(number);
        // Only views that are compressed refer to it, and these are read from elsewhere.
        let compression = buffer.extensions.as_ref().and_then(|e| e.others.get(COMPRESSION));
        if compression.is_some_and(|json| json["fallback"] == true) {
            return Ok(Buffer::default());
        }
        if buffer.byte_length.0 > *room {
            let what = format!("with it the buffers hold more than {MAX_FILE_BYTES} bytes, the most that a scene may");
            return Err(self.error(&place, what));
        }
        let length = buffer.byte_length.0;
        let new = |data: Vec<u8>| (Arc::new(data), true);
        let (file, is_new) = match buffer.uri.as_deref() {
            None if number == 0 => new(binary.unwrap_or_default().to_vec()),
            None => new(Vec::new()),
            Some(uri) => match container::resolve(uri).map_err(|e| self.error(&place.field("uri"), e))? {
                Uri::Data(data) => new(data),
                Uri::File(name) => {
                    let fail = |e: FileError| {
                        let hints = e.hints();
                        hints.into_iter().fold(self.error(&place.field("uri"), &e), Diagnostic::hint)
                    };
                    let path = access.find(&name, None, &[], sources.log()).map_err(fail)?;
                    match self.files.get(&path) {
                        Some(known) => (known.clone(), false),
                        None => {
                            let data = Arc::new(access.read(&path, *room, sources.log()).map_err(fail)?);
                            self.files.insert(path, data.clone());
                            (data, true)
                        }
                    }
                }
            },
        };
        *room -= if is_new { (*room).min(file.len() as u64) } else { 0 };
        if (file.len() as u64) < length {
            let what = format!("it says that it has {length} bytes, and has {}", file.len());
            return Err(self.error(&place, what));
        }
        Ok(Buffer { file, length: length as usize })
    }
}

/// Makes indices beyond 32 bits the largest that there is, which nothing has: the reader of
/// documents would take their last 32 bits.
fn clamp_indices(value: &mut Value) {
    const MAX: u64 = u32::MAX as u64;
    fn clamp(value: &mut Value) {
        match value {
            Value::Number(n) if n.as_u64().is_some_and(|n| n > MAX) => *value = MAX.into(),
            Value::Array(list) => list.iter_mut().for_each(clamp),
            Value::Object(map) => map.values_mut().for_each(clamp),
            _ => {}
        }
    }
    match value {
        Value::Array(list) => list.iter_mut().for_each(clamp_indices),
        Value::Object(map) => {
            for (name, value) in map {
                match INDICES.contains(&name.as_str()) && !value.is_object() || name == "attributes" {
                    true => clamp(value),
                    false => clamp_indices(value),
                }
            }
        }
        _ => {}
    }
}
