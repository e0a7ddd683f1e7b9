//! The buffer: vertices, indices and images, with the views and accessors that find them (glTF 2.0,
//! §3.6), and the binary container (§4.4).

use super::super::ExportError;
use super::numbers;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Of an accessor's elements: 32-bit floats.
const FLOAT: u32 = 5126;
/// Of an accessor's elements: 32-bit integers without a sign.
const UNSIGNED_INT: u32 = 5125;
/// Of a view: vertices.
const ARRAY_BUFFER: u32 = 34962;
/// Of a view: indices.
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The one buffer of a document.
#[derive(Debug, Default)]
pub struct Buffer {
    /// The bytes of the buffer.
    pub bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Adds vertices; gives the number of the accessor. Positions have bounds.
    pub fn floats<const N: usize>(&mut self, values: &[[f32; N]], has_bounds: bool) -> usize {
        let view = self.view(bytemuck::cast_slice(values.as_flattened()), Some(ARRAY_BUFFER));
        let shape = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        let mut accessor = json!({ "bufferView": view, "componentType": FLOAT, "count": values.len(), "type": shape });
        if has_bounds {
            let bound = |pick: fn(f32, f32) -> f32, start: f32| -> [f32; N] {
                std::array::from_fn(|axis| values.iter().map(|v| v[axis]).fold(start, pick))
            };
            accessor["min"] = numbers(&bound(f32::min, f32::INFINITY));
            accessor["max"] = numbers(&bound(f32::max, f32::NEG_INFINITY));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds the corners of triangles; gives the number of the accessor.
    pub fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let view = self.view(bytemuck::cast_slice(triangles), Some(ELEMENT_ARRAY_BUFFER));
        let count = 3 * triangles.len();
        self.accessors
            .push(json!({ "bufferView": view, "componentType": UNSIGNED_INT, "count": count, "type": "SCALAR" }));
        self.accessors.len() - 1
    }

    /// Adds bytes; gives the number of the view.
    pub fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds the buffer's views and accessors to a document; the buffer itself is the container's,
    /// unless it is given a URI.
    pub fn describe(&mut self, document: &mut Map<String, Value>) {
        if self.bytes.is_empty() {
            return;
        }
        document.insert("buffers".into(), json!([{ "byteLength": self.bytes.len() }]));
        document.insert("bufferViews".into(), std::mem::take(&mut self.views).into());
        if !self.accessors.is_empty() {
            document.insert("accessors".into(), std::mem::take(&mut self.accessors).into());
        }
    }
}

/// A binary file: the document, then the buffer.
///
/// # Errors
/// More bytes than the header can say.
pub fn container(path: &Path, document: Value, buffer: Buffer) -> Result<Vec<u8>, ExportError> {
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut binary = buffer.bytes;
    binary.resize(binary.len().next_multiple_of(4), 0);
    let chunks: [(&[u8; 4], &[u8]); 2] = [(b"JSON", &json), (b"BIN\0", &binary)];
    let chunks = chunks.iter().filter(|(_, data)| !data.is_empty());
    let length: u64 = 12 + chunks.clone().map(|(_, data)| 8 + data.len() as u64).sum::<u64>();
    let header = u32::try_from(length).map_err(|_| ExportError::TooLong { path: path.to_path_buf(), bytes: length })?;
    let mut out = Vec::with_capacity(length as usize);
    out.extend_from_slice(b"glTF");
    out.extend(2u32.to_le_bytes());
    out.extend(header.to_le_bytes());
    for (kind, data) in chunks {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend_from_slice(*kind);
        out.extend_from_slice(data);
    }
    Ok(out)
}
