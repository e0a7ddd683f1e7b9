//! Edits over the files of a scene: values of shader parameters, and options.
//!
//! Edits survive reloads: an instance is identified by its kind, its shader's name and how many of
//! those come before it.

use super::options::{OptionEdits, OptionValues};
use shadewright_scene::{ParamValue, Scene, ShaderInstance, ShaderRole};
use std::collections::HashMap;

/// By what an instance is known from one reading of the scene to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstanceKey {
    kind: ShaderRole,
    shader: String,
    /// How many like it come before.
    before: usize,
}

/// All edits.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// The edits of options.
    pub options: OptionEdits,
    values: HashMap<InstanceKey, Vec<(String, ParamValue)>>,
}

/// The keys of a scene's instances, in their order.
pub fn keys(scene: &Scene) -> Vec<InstanceKey> {
    let mut counts: HashMap<(ShaderRole, &str), usize> = HashMap::new();
    let instances = scene.shader_instances.iter().map(|instance| {
        let count = counts.entry((instance.kind, instance.shader.as_str())).or_default();
        *count += 1;
        InstanceKey { kind: instance.kind, shader: instance.shader.to_string(), before: *count - 1 }
    });
    instances.collect()
}

impl Edits {
    /// The value of an instance's parameter, if it was edited.
    pub fn get(&self, key: &InstanceKey, name: &str) -> Option<&ParamValue> {
        self.values.get(key)?.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Edits a parameter; `None` takes the edit back.
    pub fn set(&mut self, key: InstanceKey, name: &str, value: Option<ParamValue>) {
        let list = self.values.entry(key).or_default();
        list.retain(|(n, _)| n != name);
        list.extend(value.map(|value| (name.to_string(), value)));
    }

    /// Writes the edits into a scene as its files give it.
    pub fn apply(&self, scene: &mut Scene) {
        for (number, key) in keys(scene).iter().enumerate() {
            for (name, value) in self.values.get(key).into_iter().flatten() {
                set_param(&mut scene.shader_instances[number], name, value);
            }
        }
        self.options.over(OptionValues::new(scene)).set(scene);
    }

    /// Forgets the edits of parameters for which `keep` does not hold, and of instances that are
    /// not in `keys`. Says whether there were any.
    pub fn retain(&mut self, keys: &[InstanceKey], keep: impl Fn(usize, &str, &ParamValue) -> bool) -> bool {
        let count = |values: &HashMap<_, Vec<_>>| values.values().map(Vec::len).sum::<usize>();
        let before = count(&self.values);
        self.values.retain(|key, list| {
            let number = keys.iter().position(|k| k == key);
            list.retain(|(name, value)| number.is_some_and(|number| keep(number, name, value)));
            !list.is_empty()
        });
        count(&self.values) < before
    }
}

/// Gives a value to a parameter of an instance.
fn set_param(instance: &mut ShaderInstance, name: &str, value: &ParamValue) {
    match instance.params.iter_mut().find(|(n, _)| n == name) {
        Some((_, old)) => *old = value.clone(),
        None => instance.params.push((name.to_string(), value.clone())),
    }
}
