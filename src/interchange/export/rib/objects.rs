//! Objects with their attributes. Objects that follow one another and have the same share a block.

use super::lights::Lights;
use super::text::{number, numbers, quoted};
use super::{GROUP, Writer};
use glam::Mat4;
use shadewright_geometry::Mesh;
use shadewright_scene::{HitMode, MeshSpace, Object, ObjectAttributes, Visibility};
use std::collections::HashMap;
use std::sync::Arc;

/// Meshes of instances, by their addresses, with the handles that retain them.
type Retained = HashMap<*const Mesh, usize>;

impl Writer<'_> {
    /// Writes lights and objects.
    pub(super) fn objects(&mut self) {
        let scene = self.scene;
        let retained = self.retain();
        let mut lights = Lights::new(self);
        let mut rest = scene.objects.as_slice();
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|object| are_alike(first, object)).count();
            let (alike, others) = rest.split_at(count);
            let (emits, list) = (first.attributes.emits, &first.lights);
            let end = lights.before_object(emits, list);
            lights.declare_before(self, end);
            self.block(|w| {
                lights.write_object(w, emits, list);
                w.attributes(first);
                alike.iter().for_each(|object| w.object(object, &retained));
            });
            rest = others;
        }
        lights.declare_before(self, scene.lights.len());
    }

    /// Defines the meshes that instances place.
    fn retain(&mut self) -> Retained {
        let mut retained = Retained::new();
        let scene = self.scene;
        let placed = scene.objects.iter().filter(|o| o.mesh_space == MeshSpace::Object && o.procedural.is_none());
        for object in placed {
            let handle = retained.len() + 1;
            if retained.contains_key(&Arc::as_ptr(&object.mesh)) {
                continue;
            }
            retained.insert(Arc::as_ptr(&object.mesh), handle);
            self.text.open(&format!("ObjectBegin {handle}"));
            self.ribbons(&object.mesh);
            self.mesh(&object.mesh);
            self.text.close("ObjectEnd");
        }
        retained
    }

    fn ribbons(&mut self, mesh: &Mesh) {
        if mesh.ribbons {
            self.text.line(&format!("Attribute {} \"int ribbons\" [1]", quoted(GROUP)));
        }
    }

    fn object(&mut self, object: &Object, retained: &Retained) {
        if let Some(id) = object.procedural {
            let scene = self.scene;
            let instance = &scene.shader_instances[id.0 as usize];
            self.declare(&instance.objects);
            let request = format!("Geometry {}", quoted(self.assets.name_of(&instance.shader)));
            self.under(object.object_to_world, |w| w.text.request(&request, &instance.params));
        } else if let Some(handle) = retained.get(&Arc::as_ptr(&object.mesh)) {
            self.under(object.object_to_world, |w| w.text.line(&format!("ObjectInstance {handle}")));
        } else {
            self.mesh(&object.mesh);
        }
    }

    /// Writes what differs from RIB's defaults, within a block.
    fn attributes(&mut self, object: &Object) {
        let own = &object.attributes;
        self.text.line(&format!("Attribute \"identifier\" \"string name\" [{}]", quoted(&object.name)));
        if object.sides != 2 {
            self.text.line(&format!("Sides {}", object.sides));
        }
        for (request, color) in [("Color", object.color), ("Opacity", object.opacity)] {
            if color != glam::Vec3::ONE {
                self.text.line(&format!("{request} [{}]", numbers(&color.to_array())));
            }
        }
        let default = ObjectAttributes::default();
        if own.shading_rate != default.shading_rate {
            self.text.line(&format!("ShadingRate {}", number(own.shading_rate)));
        }
        if own.displacement_bound != default.displacement_bound {
            let bound = number(own.displacement_bound);
            self.text.line(&format!("Attribute \"displacementbound\" \"float sphere\" [{bound}]"));
        }
        self.visibility(&own.visibility);
        for (name, depth) in ["maxspeculardepth", "maxdiffusedepth"].into_iter().zip(own.ray_depths) {
            if let Some(depth) = depth {
                self.text.line(&format!("Attribute \"trace\" \"int {name}\" [{depth}]"));
            }
        }
        let user: Vec<_> = own.user.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        if !user.is_empty() {
            self.text.request("Attribute \"user\"", &user);
        }
        let shaders = [
            ("Surface", object.surface),
            ("Displacement", own.displacement),
            ("Atmosphere", own.atmosphere),
            ("Interior", own.interior),
            ("Exterior", own.exterior),
        ];
        for (request, shader) in shaders {
            if let Some(id) = shader {
                self.shader(request, None, id);
            }
        }
        self.declare(&own.coshaders);
        self.ribbons(&object.mesh);
        if object.mesh_space == MeshSpace::World && object.object_to_world != Mat4::IDENTITY {
            self.space(object.object_to_world);
        }
    }

    fn visibility(&mut self, visibility: &Visibility) {
        let Visibility { camera, specular, diffuse, transmission, hit_mode, diffuse_hit_mode, matte } = *visibility;
        match hit_mode {
            // The only word for it makes the object visible, too.
            Some(HitMode::Opaque) => self.text.line("Attribute \"visibility\" \"string transmission\" [\"opaque\"]"),
            Some(mode) => self.hit_mode("transmissionhitmode", mode),
            None => {}
        }
        if let Some(mode) = diffuse_hit_mode {
            self.hit_mode("diffusehitmode", mode);
        }
        let rays = [("camera", camera), ("specular", specular), ("diffuse", diffuse), ("transmission", transmission)];
        for (name, _) in rays.into_iter().filter(|(_, sees)| !sees) {
            self.text.line(&format!("Attribute \"visibility\" \"int {name}\" [0]"));
        }
        if matte {
            self.text.line("Matte 1");
        }
    }

    fn hit_mode(&mut self, name: &str, mode: HitMode) {
        let word = if mode == HitMode::Shader { "shader" } else { "primitive" };
        self.text.line(&format!("Attribute \"shade\" \"string {name}\" [\"{word}\"]"));
    }
}

/// True if two objects have the same attributes.
fn are_alike(a: &Object, b: &Object) -> bool {
    let same_space = match (a.mesh_space, b.mesh_space) {
        (MeshSpace::World, MeshSpace::World) => a.object_to_world == b.object_to_world,
        (a, b) => a == b,
    };
    let same_attributes = Arc::ptr_eq(&a.attributes, &b.attributes) || a.attributes == b.attributes;
    let looks = |o: &Object| (o.surface, o.sides, o.color, o.opacity, o.mesh.ribbons, o.procedural.is_some());
    same_space && same_attributes && looks(a) == looks(b) && a.name == b.name && a.lights == b.lights
}
