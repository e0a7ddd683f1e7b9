//! Which surfaces are opaque to shadow rays where their objects name no hit mode: those whose
//! shaders leave `Oi` at one.
//!
//! Takes the bound surface shader of each object, and gives the object's [`Visibility`] with a hit
//! mode. It only finds constants: a surface that is opaque for other reasons is evaluated by shadow
//! rays, with the same result.

use crate::collect::instances::Instance;
use crate::collect::materials::{MaterialMethods, returns_always};
use glam::Vec3;
use shadewright_geometry::Mesh;
use shadewright_ir::passes::{dce, fold, sccp};
use shadewright_ir::{Const, Function, Inst, Loc, Op, Terminator, Value};
use shadewright_scene::{HitMode, Object, Visibility};
use std::collections::HashMap;
use std::sync::Arc;

/// The way in which a surface shader sets its opacity.
#[derive(Debug)]
enum Opacity {
    /// The shader never sets it: the surface is opaque.
    Opaque,
    /// It is the attribute.
    Attribute,
    /// It is computed. The function returns it, for an opaque attribute.
    Computed(Box<Function>),
}

/// The opacities of surface shaders, each analyzed once.
#[derive(Debug, Default)]
pub struct Opacities {
    shaders: HashMap<Arc<str>, Opacity>,
    /// True if instances are opaque whose parameters of these names differ over their objects.
    instances: HashMap<(*const Instance, Vec<Arc<str>>), bool>,
}

impl Opacities {
    /// The visibility of an object, with the hit mode that its surface shader implies where the
    /// object names none.
    pub fn visibility(&mut self, object: &Object, surface: &Arc<Instance>, methods: &MaterialMethods) -> Visibility {
        let own = object.attributes.visibility;
        let mode = own.hit_mode.unwrap_or_else(|| match methods.opacity {
            Some(_) => HitMode::Shader,
            None => self.hit_mode(object, surface),
        });
        Visibility { hit_mode: Some(mode), ..own }
    }

    fn hit_mode(&mut self, object: &Object, surface: &Arc<Instance>) -> HitMode {
        let is_opaque = object.opacity == Vec3::ONE && !has_primvar(&object.mesh, "Os");
        let core = &surface.shader.core;
        let opacity = self.shaders.entry(core.clone()).or_insert_with(|| opacity_of(surface));
        match (opacity, is_opaque) {
            (Opacity::Opaque, _) | (Opacity::Attribute, true) => HitMode::Opaque,
            (Opacity::Attribute, false) => HitMode::Color,
            (Opacity::Computed(_), false) => HitMode::Shader,
            (Opacity::Computed(function), true) => {
                let varying: Vec<Arc<str>> = object.mesh.primvars.iter().map(|p| p.kind.name.clone()).collect();
                let key = (Arc::as_ptr(surface), varying);
                let is_one = match self.instances.get(&key) {
                    Some(&known) => known,
                    None => {
                        let is_one = is_one(function, surface, &key.1);
                        self.instances.insert(key, is_one);
                        is_one
                    }
                };
                if is_one { HitMode::Opaque } else { HitMode::Shader }
            }
        }
    }
}

fn has_primvar(mesh: &Mesh, name: &str) -> bool {
    mesh.primvars.iter().any(|p| *p.kind.name == *name)
}

/// Finds the way in which an instance's shader sets its opacity.
fn opacity_of(surface: &Instance) -> Opacity {
    let shader = &surface.shader;
    let Some(result) = shader.core_results.iter().position(|r| &*r.name == "Oi") else { return Opacity::Opaque };
    let Some(core) = shader.unit().function(&shader.core) else { return Opacity::Opaque };
    let attribute = core.params.iter().position(|p| &*p.name == "Os");
    let found = attribute.map(|i| core.param_values()[i]);
    let mut function = core.clone();
    function.results = vec![core.results[result].clone()];
    let mut is_attribute = true;
    for block in &mut function.blocks {
        if let Terminator::Return(values) = &mut block.term {
            is_attribute &= Some(values[result]) == found;
            *values = vec![values[result]];
        }
    }
    if is_attribute {
        return Opacity::Attribute;
    }
    if let Some(i) = attribute {
        set_param(&mut function, i, Const::Vec3([1.0; 3]));
    }
    dce::run(&mut function);
    Opacity::Computed(Box::new(function))
}

/// True if the opacity is one for the parameters of an instance, but those of some names.
fn is_one(opacity: &Function, surface: &Instance, varying: &[Arc<str>]) -> bool {
    let mut function = opacity.clone();
    let mut values = surface.values.iter().enumerate();
    for param in &surface.shader.params {
        let own = values.by_ref().take(param.values());
        if varying.iter().any(|name| **name == *param.name) {
            own.for_each(drop);
        } else {
            own.for_each(|(i, value)| set_param(&mut function, i, value.clone()));
        }
    }
    // Folding finds products by one, which are no constants to begin with.
    while sccp::run(&mut function) + fold::run(&mut function) > 0 {}
    returns_always(&function, &Const::Vec3([1.0; 3]))
}

/// Makes a parameter a constant.
pub fn set_param(function: &mut Function, i: usize, value: Const) {
    let entry = &mut function.blocks[0];
    let Some(param) = entry.params.get_mut(i) else { return };
    let unused = Value(function.values.len() as u32);
    let own = std::mem::replace(param, unused);
    entry.insts.insert(0, Inst { op: Op::Const(value), args: Vec::new(), results: vec![own], loc: Loc::NONE });
    function.values.push(function.values[own.0 as usize]);
}
