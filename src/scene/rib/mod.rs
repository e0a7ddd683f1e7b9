//! The RIB reader: RenderMan Interface Bytestream text in, a [`Scene`] out (RISpec 3.2).
//!
//! [`lexer`] makes tokens, [`args`] reads a request's arguments and [`params`] its parameter list;
//! [`reader`] keeps the graphics state ([`state`]) and calls the request's function: [`requests`]
//! has them all), [`options`], [`attributes`] and [`transforms`], [`shading`] for shaders and
//! lights, [`primitives`] for geometry, [`objects`] for retained geometry and its instances,
//! [`archive`] and [`procedural`] for other files, [`motion`] for what changes over time,
//! [`condition`] for parts under a condition, [`solids`] for constructive solid geometry,
//! [`visibility`] for ray visibility. [`binary`] takes binary RIB to text. The text is read in one
//! pass; nothing of it is kept but what the scene holds and what messages quote.
//!
//! Beyond the specification's own options and attributes, these are understood:
//!
//! | statement | meaning | default |
//! |---|---|---|
//! | `Option "trace" "integer maxdepth" [8]` | how many times a ray may spawn another | 8 |
//! | `Option "trace" "color background" [r g b]` | what rays that hit nothing see | transparent black |
//! | `Option "shading" "string current" ["camera"]` | shaders compute in camera space | `"world"` |
//! | `Option "shading" "float specularsharpness" [8]` | what `specular` divides by the roughness | 1 |
//! | `Option "searchpath" "string shader"`, `"texture"`, `"archive"` | folders, `:` between them, `&` for the list so far | the scene's folder |
//! | `Attribute "light" "string shadows" ["off"]` | later lights cast no shadows | on |
//! | `Attribute "shade" "float creaseangle" [40]` | where computed normals break, in degrees | 40 |
//! | `Attribute "visibility" "int camera" [0]`, `"specular"`, `"diffuse"`, `"trace"` (the last two), `"transmission"` | rays of that kind do not see later objects; the last are shadow rays | 1 |
//! | `Attribute "shade" "string transmissionhitmode" ["primitive"]`, `["shader"]` | shadows of later objects are as dense as `Os`, or as the opacity that their shader gives | whichever the shader sets `Oi` to |
//! | `Attribute "trace" "float bias" [0.01]` | how far from a surface its rays begin; one for the scene | a share of its size |
//! | `Attribute "trace" "int maxspeculardepth" [2]`, `"maxdiffusedepth"` | how many rays may lead to one that later objects send | `maxdepth` |
//! | `Attribute "trimcurve" "string sense" ["outside"]` | trims keep what is outside of their loops | inside |
//! | `Attribute "displacementbound" "float sphere" [r] "string coordinatesystem" ["…"]` | displacement shaders move points by r at most | a hint, for other renderers |
//! | `Attribute "identifier" "string name" ["…"]` | the name of later objects | the request's |
//! | `Attribute "shadewright" "matrix space" [16 numbers]` | the coordinate system of later objects and shaders, whatever the transform; the identity takes that back | the transform |
//! | `Attribute "shadewright" "int unitnormals" [1]` | normals of later meshes are taken as they are | they are normalized |
//! | `Attribute "shadewright" "int ribbons" [1]` | later meshes are tubes around flat ribbons | 0 |
//! | `Attribute "shadewright" "string emits" ["handle"]` | later objects are emitters of an area light that is declared | none |
//! | `MakeTexture … "string reading" ["data"]`, `"dataalpha"`, `"opaquecolor"`, `"coloralpha"` | what the numbers of the image are | `"color"` |

mod archive;
mod args;
mod attributes;
mod binary;
mod condition;
mod extensions;
mod groups;
mod integrator;
mod lexer;
mod light_sets;
mod motion;
mod objects;
mod options;
mod params;
mod primitives;
mod procedural;
mod reader;
mod requests;
mod ris;
mod shading;
mod solids;
mod state;
mod textures;
mod transforms;
mod visibility;

#[cfg(test)]
mod tests;

pub use binary::{is_binary, to_text};
pub use extensions::GROUP;
pub use lexer::{Lexer, Token, unescape};
pub use options::search_path;
pub use shading::folder_and_name;

use super::files::{FileAccess, MAX_FILE_BYTES, bytes_on_disk};
use super::{OpenOptions, Opened};
use primitives::dicing::Budget;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{SourceMap, tidied};
use std::path::{Path, PathBuf};

/// A RIB text and where it comes from.
pub(super) struct Input<'a> {
    /// The name shown to the user, and the scene's.
    pub name: &'a str,
    /// Where it lies; `None` for built-in text.
    pub path: Option<&'a Path>,
    /// The bytes of the text, decompressed.
    pub bytes: Vec<u8>,
}

/// Reads a scene from RIB text, which is added to `sources`.
///
/// # Errors
///
/// All that is wrong with it, as far as one pass can find.
pub(super) fn read(input: Input<'_>, options: &OpenOptions, sources: &mut SourceMap) -> Result<Opened, Diagnostics> {
    let Input { name, path, bytes } = input;
    let base = path.map(|p| p.parent().map(PathBuf::from).unwrap_or_default());
    let size = path.map_or(bytes.len(), |path| bytes_on_disk(path, bytes.len()));
    let text = decode(bytes, name)?;
    let file = sources.add(name, path, text);
    let access = FileAccess { base, allowed: options.allow_read.clone() };
    let mut budget = Budget::new(options.most_triangles());
    loop {
        budget.read(size);
        match reader::Reader::new(name, access.clone(), options, budget, sources).read(file, path) {
            Ok(read) => return read,
            Err(next) => budget = next,
        }
    }
}

/// RIB as text in UTF-8: binary RIB is written as text, and what is not UTF-8 (comments in other
/// encodings) is replaced.
///
/// # Errors
///
/// Bytes that are no text at all.
pub fn decode(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostic> {
    if binary::is_binary(&bytes) {
        return binary::to_text(&bytes, MAX_FILE_BYTES as usize).map_err(|e| {
            Diagnostic::error(format!("`{name}` is neither text RIB nor binary RIB: {e}"))
                .hint("the file may be damaged, or of another kind")
        });
    }
    let bytes = tidied(bytes);
    let head = &bytes[..bytes.len().min(4096)];
    // Text in UTF-8 is text, however much of it is not ASCII; the head may end within a character.
    let is_utf8 = std::str::from_utf8(head).map_or_else(|e| e.error_len().is_none(), |_| true);
    let is_noise = |b: &u8| (*b >= 0x80 && !is_utf8) || (*b < 0x20 && !b"\t\n\r\x0c".contains(b));
    let noise = head.iter().filter(|b| is_noise(b)).count();
    if head.contains(&0) || noise * 10 > head.len() {
        return Err(Diagnostic::error(format!("`{name}` is not a RIB file: it holds other data"))
            .hint("a scene is a RIB file, text or binary, a .gltf or .glb file, or a .obj or .ply mesh"));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}
