//! RIB as users write it, and what they read when it is wrong.

mod archives;
mod errors;
mod extensions;
mod flow;
mod lenient;
mod objects;
mod options;
mod primitives;
mod ris;
mod shapes;
mod solids;
mod state;
mod textures;
mod visibility;

use super::super::files::FileAccess;
use super::super::{DEFAULT_TRIANGLES, OpenOptions, Opened, Scene};
use super::Input;
use super::primitives::dicing::Budget;
use super::reader::Reader;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;

/// Options that refuse every error.
const STRICT: OpenOptions = OpenOptions {
    seconds: None,
    fps: None,
    animation: None,
    strict: true,
    size: None,
    allow_read: Vec::new(),
    time: 0.0,
    frame: None,
    allow_run: false,
    integrator: None,
    estimator: None,
    clamp: None,
    shadows: crate::Shadows::On,
    current: None,
    headlight: false,
    max_triangles: None,
    rendered: std::collections::BTreeMap::new(),
};

/// Reads a text as a built-in scene is read.
fn read(text: &str) -> (Result<Opened, Diagnostics>, SourceMap) {
    let mut sources = SourceMap::new();
    let input = Input { name: "scene.rib", path: None, bytes: text.as_bytes().to_vec() };
    (super::read(input, &STRICT, &mut sources), sources)
}

/// The scene of a text that must be right and give no warning.
fn scene(text: &str) -> Scene {
    match read(text) {
        (Ok(opened), sources) => {
            let warnings = opened.diagnostics.render(&sources);
            assert!(warnings.is_empty(), "{warnings}");
            opened.scene
        }
        (Err(errors), sources) => panic!("{}", errors.render(&sources)),
    }
}

/// The scene of requests inside a world that also holds a triangle.
fn world(requests: &str) -> Scene {
    scene(&format!("WorldBegin\n{requests}\nPolygon \"P\" [0 0 0 1 0 0 0 1 0]\nWorldEnd\n"))
}

/// The warnings of a text that can be read, and its scene.
fn warnings_and_scene(text: &str) -> (String, Scene) {
    match read(text) {
        (Ok(opened), sources) => (opened.diagnostics.render(&sources), opened.scene),
        (Err(errors), sources) => panic!("{}", errors.render(&sources)),
    }
}

/// The warnings of a text that can be read, as they are shown.
fn warnings(text: &str) -> String {
    match read(text) {
        (Ok(opened), sources) => opened.diagnostics.render(&sources),
        (Err(errors), sources) => panic!("{}", errors.render(&sources)),
    }
}

/// The errors of a text whose reader has read something before.
fn errors_after(before: impl FnOnce(&mut Reader<'_>), text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("scene.rib", None, text);
    let budget = Budget::new(DEFAULT_TRIANGLES);
    let mut reader = Reader::new("scene.rib", FileAccess::default(), &STRICT, budget, &mut sources);
    before(&mut reader);
    match reader.read(file, None) {
        Ok(Err(errors)) => errors.render(&sources),
        _ => panic!("no error in {text:.200}"),
    }
}

/// The errors of a text, as they are shown.
fn errors(text: &str) -> String {
    match read(text) {
        (Ok(_), _) => panic!("no error in {text:.200}"),
        (Err(errors), sources) => errors.render(&sources),
    }
}
