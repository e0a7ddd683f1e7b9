//! RIB: a scene as text that the reader makes the same scene of, bit for bit.
//!
//! The scene's coordinates are those of its current space, and are written so: the world block begins
//! in that space, and a transform stands only around what has a space of its own. What RIB has no
//! words for is said by attributes of the group [`GROUP`], which other renderers pass over:
//!
//! | attribute | meaning |
//! |---|---|
//! | `"int unitnormals" [1]` | normals have length 1, and are taken as they are |
//! | `"int ribbons" [1]` | a mesh is made of tubes around flat ribbons (`Curves`) |
//! | `"string emits" ["handle"]` | the area light that objects are emitters of |
//! | `"matrix space" [16 numbers]` | the coordinate system of objects and shaders, where the transform is another |
//!
//! [`options`] writes the requests before the world, [`lights`] lights, [`objects`] objects with
//! their attributes, [`shaders`] the requests that name shaders, [`meshes`] geometry.

mod lights;
mod meshes;
mod objects;
mod options;
mod shaders;
mod text;

pub use shadewright_scene::RIB_EXTENSIONS as GROUP;
pub use text::{number, numbers, quoted, values};

use super::OutputFile;
use super::assets::{Assets, Copied};
use super::losses::Losses;
use glam::Mat4;
use shadewright_scene::{CoShader, Scene, ShaderId};
use std::collections::BTreeMap;
use std::path::Path;
use text::Text;

/// The files of a scene in RIB: images, shaders, then the scene.
pub(super) fn files(scene: &Scene, assets: &Assets, out: &Path, losses: &mut Losses) -> Vec<OutputFile> {
    let copies: Vec<&Copied> = assets.images.values().chain(&assets.shaders).collect();
    let mut files: Vec<OutputFile> = assets.files(out, copies).collect();
    let mut writer = Writer { scene, assets, losses, text: Text::default(), coshaders: BTreeMap::new() };
    writer.scene();
    files.push(OutputFile { path: out.to_path_buf(), bytes: writer.text.finish().into_bytes() });
    files
}

/// A scene on its way to text.
struct Writer<'a> {
    scene: &'a Scene,
    assets: &'a Assets,
    losses: &'a mut Losses,
    text: Text,
    /// The co-shaders that are declared where the text stands, by their handles.
    coshaders: BTreeMap<String, ShaderId>,
}

impl Writer<'_> {
    fn scene(&mut self) {
        self.text.line("##RenderMan RIB-Structure 1.1");
        self.text.line("version 3.04");
        self.options();
        self.textures();
        self.camera();
        self.text.open("WorldBegin");
        // The world's transform is not that of the space of all coordinates.
        if self.scene.world_to_current() != Mat4::IDENTITY {
            self.text.line("CoordSysTransform \"camera\"");
        }
        self.text.line(&format!("Attribute {} \"int unitnormals\" [1]", quoted(GROUP)));
        self.coordinate_systems();
        self.imager_in_world();
        self.objects();
        self.text.close("WorldEnd");
    }

    /// Writes something in an attribute block.
    fn block(&mut self, write: impl FnOnce(&mut Self)) {
        let outer = self.coshaders.clone();
        self.text.open("AttributeBegin");
        write(self);
        self.text.close("AttributeEnd");
        self.coshaders = outer;
    }

    /// Writes something under a transform.
    fn under(&mut self, transform: Mat4, write: impl FnOnce(&mut Self)) {
        if transform == Mat4::IDENTITY {
            return write(self);
        }
        self.text.open("TransformBegin");
        self.concat(transform);
        write(self);
        self.text.close("TransformEnd");
    }

    fn concat(&mut self, transform: Mat4) {
        self.text.line(&format!("ConcatTransform [{}]", numbers(&transform.to_cols_array())));
    }

    /// Names the coordinate systems that the reader does not know by itself.
    fn coordinate_systems(&mut self) {
        let camera_to_world = self.scene.camera.camera_to_world();
        for (name, matrix) in &self.scene.coordinate_systems {
            let is_known = match name.as_str() {
                "world" => true,
                "camera" => *matrix == camera_to_world,
                _ => false,
            };
            if !is_known {
                let request = format!("CoordinateSystem {}", quoted(name));
                self.under(*matrix, |w| w.text.line(&request));
            }
        }
    }

    /// Declares co-shaders, those that they refer to before them, where others have their handles.
    fn declare(&mut self, list: &[CoShader]) {
        for CoShader { handle, shader } in list {
            if self.coshaders.get(&**handle) == Some(shader) {
                continue;
            }
            let scene = self.scene;
            let instance = &scene.shader_instances[shader.0 as usize];
            self.declare(&instance.objects);
            self.shader("Shader", Some(handle), *shader);
            self.coshaders.insert(handle.to_string(), *shader);
        }
    }
}
