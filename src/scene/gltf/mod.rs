//! The glTF reader: a `.gltf` or `.glb` file in, a scene out (Khronos, "glTF 2.0 Specification").
//!
//! [`container`] takes files apart, [`document`] has what was parsed with its buffers, which
//! [`meshopt`] decodes where they are compressed, [`accessor`]
//! reads numbers out of these. [`nodes`] walks through the scene and calls [`mesh`], [`material`]
//! with [`layers`] and [`texture`], [`camera`] and [`light`] for what it meets; [`exposure`] is for lights in real
//! units, [`extras`] for what an export of this program adds. Parsing is the crate's `gltf`, of which only the plain structures of the JSON are used:
//! nothing there is validated yet, so every number of another thing goes through
//! [`document::Document::get`].
//!
//! It knows shaders by their names only: materials are instances of `gltf`, or of a class of RTSL
//! where paths are traced, points and spots of `gltflight`. `docs/gltf.md` says what is read and
//! what is not.

mod accessor;
mod animation;
mod camera;
mod container;
mod deform;
mod document;
mod exposure;
mod extras;
mod layers;
mod light;
mod material;
mod mesh;
mod meshopt;
mod nodes;
#[cfg(test)]
mod tests;
mod texture;

pub use extras::KEY as EXTRAS;

use super::framing::{self, Handedness, Lit};
use super::{Integrator, OpenOptions, Opened, Scene, in_folder, listed_triangles};
use document::Document;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of warnings per file.
const MAX_REMARKS: usize = 100;

/// The state of a scene that is being made of a document.
struct Making {
    scene: Scene,
    /// Warnings.
    remarks: Diagnostics,
    /// Errors of parts that are left out.
    problems: Vec<Diagnostic>,
    /// Files that were looked for.
    log: FileLog,
    /// Triangles of all meshes, each counted once, and how many there may be.
    triangles: usize,
    most_triangles: usize,
    /// Bytes of all images that lie within the file.
    embedded: u64,
    /// True if the path integrator renders: materials become BSDF classes then.
    traces_paths: bool,
    /// True if the scene has a camera of its own.
    has_camera: bool,
    /// The lights of the scene, for the exposure.
    lamps: Vec<exposure::Lamp>,
}

impl Making {
    /// Adds an error of a part that is left out, unless there were many.
    fn problem(&mut self, error: Diagnostic) {
        if self.problems.len() < MAX_REMARKS {
            self.problems.push(error);
        }
    }

    /// Adds a warning, unless there were many.
    fn warn(&mut self, warning: Diagnostic) {
        if self.remarks.iter().count() < MAX_REMARKS {
            self.remarks.push(warning);
        }
    }
}

/// True if a file is read here, by the extension of its name (under `.gz` too).
pub fn is_gltf(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.ends_with(".gltf") || name.ends_with(".glb")
}

/// The path of the file that a URI of a document names, from the document; `None` where it holds its
/// own data, or names no file.
pub fn file_of_uri(uri: &str) -> Option<String> {
    match container::resolve(uri) {
        Ok(container::Uri::File(file)) => Some(file.into_owned()),
        _ => None,
    }
}

/// Reads a scene; the files that it names are read from its folder, and those that `options` allow.
///
/// A problem with a part of it is a warning, and the part is left out.
///
/// # Errors
/// The problem with the document as a whole; all problems, where nothing can be shown or the
/// options ask for it.
pub(super) fn read(
    bytes: &[u8],
    name: &str,
    path: &Path,
    options: &OpenOptions,
    sources: &mut SourceMap,
) -> Result<Opened, Diagnostics> {
    let scene = in_folder(Scene::empty(name), path, options);
    let all = |errors: Vec<Diagnostic>| {
        let mut list = Diagnostics::new();
        errors.into_iter().for_each(|e| list.push(e));
        list
    };
    let document = Document::read(name, bytes, &scene.access, sources).map_err(all)?;
    let remarks = Diagnostics::new();
    let traces_paths = options.integrator == Some(Integrator::Path);
    let mut making = Making {
        scene,
        remarks,
        problems: Vec::new(),
        log: FileLog::default(),
        triangles: 0,
        most_triangles: options.most_triangles().saturating_add(listed_triangles(document.bytes(path))),
        embedded: 0,
        traces_paths,
        has_camera: false,
        lamps: Vec::new(),
    };
    document.problems.iter().for_each(|error| making.problem(error.clone()));
    document.unknown_extensions().for_each(|unknown| match unknown.is_error() {
        true => making.problem(unknown),
        false => making.warn(unknown),
    });
    let mut of_animation = Vec::new();
    let (pose, frames) = animation::pose(&document, options, &mut of_animation);
    of_animation.into_iter().for_each(|problem| making.problem(problem));
    let extras = extras::scene_extras(&document, &mut making);
    let size = options.size.or(extras.as_ref().and_then(|e| e.format).map(|[width, height]| (width, height)));
    nodes::add_all(&document, &pose, size, &mut making)?;
    let Making { mut scene, mut remarks, problems, log, has_camera, lamps, .. } = making;
    sources.log().extend(&log);
    if (scene.objects.is_empty() || options.strict) && problems.iter().any(Diagnostic::is_error) {
        problems.into_iter().for_each(|error| remarks.push(error));
        return Err(remarks);
    }
    problems.into_iter().for_each(|error| remarks.push(error.into_warning()));
    let Some((low, high)) = scene.bounds() else {
        let error = Diagnostic::error(format!("`{name}` shows no triangles"));
        remarks.push(error.hint("its default scene holds no mesh with a surface"));
        return Err(remarks);
    };
    let view = if has_camera {
        camera::directions(&scene.camera)
    } else {
        framing::look_at(&mut scene, low, high, Handedness::Right)
    };
    if scene.lights.is_empty() && extras.is_none() {
        let lit = if traces_paths { Lit::TRACED } else { Lit::LUX };
        framing::light(&mut scene, 0.5 * (low + high), view, lit);
    }
    if let Some((exposure, lux)) = exposure::choose(&lamps, low, high) {
        let warning =
            Diagnostic::warning(format!("`{name}`: the lights give about {lux:.0} lux; the exposure is set for that"));
        remarks
            .push(warning.hint(format!("1 in the image stands for {:.0} candela a square meter", 1.0 / exposure.gain)));
        scene.film.exposure = exposure;
    }
    if let Some(extras) = extras {
        extras.apply(&mut scene);
    }
    let lights: Arc<[u32]> = (0..scene.lights.len() as u32).collect();
    scene.objects.iter_mut().for_each(|o| o.lights = lights.clone());
    scene.flatten_small();
    Ok(Opened { scene, diagnostics: remarks, frames, depth_frames: Vec::new() })
}
